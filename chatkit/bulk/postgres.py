"""Journals in PostgreSQL: a run can outlive its machine there, and go on from any other.

The only import of psycopg. Any database will do, that of an inbox too; the tables are made when
the first run begins. The lock of an account and the journal that is written under it are on one
connection: a session that is dead, or was ended by the server, holds no lock any more, and what
sends has no journal any more and stops. A second writer of one journal is refused by its
primary key. Sessions behind a proxy that lends connections for one transaction are refused: a
lock there is held by nobody in particular.

What makes a journal whole is as in `chatkit.bulk.journal`: the SHA-256 of header and changes,
and a checksum of each event over all before it.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict

from chatkit.bulk.changes import Change, change_texts
from chatkit.bulk.journal import (
    Glance,
    Journal,
    JournalEvent,
    RunHeader,
    Seal,
    content_of,
    detail_from_json,
    header_as_json,
    header_from_json,
)
from chatkit.errors import InputError, JournalError, steady
from chatkit.lock import account_busy, holder_text
from chatkit.secret import SECRET, Secret

_Connection = psycopg.Connection[tuple[Any, ...]]

_TABLES = (
    "CREATE TABLE chatkit_run (run text PRIMARY KEY, account text NOT NULL,"
    " header text NOT NULL, seal text NOT NULL)",
    "CREATE INDEX chatkit_run_of_account ON chatkit_run (account, run)",
    "CREATE TABLE chatkit_change (run text, n bigint, body text NOT NULL, PRIMARY KEY (run, n))",
    "CREATE TABLE chatkit_event (run text, seq bigint, n bigint, what text NOT NULL,"
    " at text NOT NULL, detail text NOT NULL, chain bigint NOT NULL, PRIMARY KEY (run, seq))",
    "CREATE INDEX chatkit_event_of_run ON chatkit_event (run, seq) WHERE n IS NULL",
    "CREATE TABLE chatkit_lock (key bigint PRIMARY KEY, holder text NOT NULL)",
)
_SCHEMA = 1
_MAKING = 0x63686A6C  # any number: one process at a time makes the tables of a database
_PAGE = 5000  # rows that are in memory together
_LETTING_GO = 0.5  #: seconds in which a server takes note that a process has died
#: What libpq is told, unless the address says otherwise: a dead network is noticed in a minute.
_CONNECTING = {
    "connect_timeout": "10",
    "application_name": "chatkit",
    "keepalives_idle": "15",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
#: What the session is told; not every version and system has each of them.
_SESSION = {
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "5min",
    "idle_session_timeout": "0",  # a run may wait for minutes until it writes again
    "tcp_keepalives_idle": "15",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "30s",
}
#: A character that should have been written as %40, %2F or so stands in one of these then.
_SOUND = {"host": r"[\w.:,/%@\[\]-]*", "hostaddr": r"[\w.:,%-]*", "port": "[0-9,]*"}
#: Connections that are left for those who look at runs meanwhile.
_SPARED = 5
#: How many sessions the server, the database and the role allow at once beside those there are.
_FREE = """
SELECT least(
  current_setting('max_connections')::int
    - current_setting('superuser_reserved_connections')::int
    - (SELECT sum(numbackends) FROM pg_stat_database),
  (SELECT CASE WHEN datconnlimit < 0 THEN NULL ELSE datconnlimit - (SELECT count(*)
    FROM pg_stat_activity AS a WHERE a.datid = d.oid) END
    FROM pg_database AS d WHERE datname = current_database()),
  (SELECT CASE WHEN rolconnlimit < 0 THEN NULL ELSE rolconnlimit - (SELECT count(*)
    FROM pg_stat_activity AS a WHERE a.usesysid = r.oid) END
    FROM pg_roles AS r WHERE rolname = session_user))
"""
#: Passwords that addresses of this process had, by the address without it.
_PASSWORDS: dict[str, Secret] = {}


class PostgresStore:
    """A PostgreSQL database of journals.

    libpq's own means work: PGPASSFILE, PGPASSWORD, PGSSLMODE, service files and so on.

    Args:
        address: `postgresql://user@host:port/name`. It never shows its password.

    Raises:
        InputError: It is no such address.
    """

    def __init__(self, address: Secret) -> None:
        self._given = _parameters(address)
        hidden = [name for name in self._given if SECRET.search(name)]
        secret = {name: self._given.pop(name) for name in hidden}
        self.shown = _shown(self._given)  #: its address, without a password
        self._secret = {name: Secret(text) for name, text in secret.items() if text}
        del secret
        if "password" in self._secret:
            _PASSWORDS[self.shown] = self._secret["password"]
        elif self.shown in _PASSWORDS:
            self._secret["password"] = _PASSWORDS[self.shown]

    @steady
    def __repr__(self) -> str:
        return f"<journals in {self.shown}>"

    @property
    def address(self) -> Secret:
        """The whole address, with a password if it had one."""
        texts = {name: secret.reveal() for name, secret in self._secret.items()}
        return Secret(_shown(self._given, **texts))

    # --- what is kept ---

    def runs(self) -> list[str]:
        """List the names of the runs, the oldest first."""
        with self._reading() as connection:
            rows = _rows(connection, 'SELECT run FROM chatkit_run ORDER BY run COLLATE "C"')
            return [run for (run,) in rows]

    def has(self, run: str) -> bool:
        """Whether the run has a journal."""
        with self._reading() as connection:
            return bool(_rows(connection, "SELECT 1 FROM chatkit_run WHERE run = %s", run))

    def glances(self, newest: int | None = None, account: str | None = None) -> Iterator[Glance]:
        """Look at the runs, the oldest first, without reading their journals."""
        yield from self._glances(account, None, newest)

    def glance(self, run: str) -> Glance:
        """Look at one run without reading its journal."""
        return next(self._glances(None, run, 1), Glance(run, None, None))

    def _glances(
        self, account: str | None, run: str | None, newest: int | None
    ) -> Iterator[Glance]:
        """Look at the runs of one account, or of all; or at one run. The oldest come first."""
        with self._reading() as connection:
            rows = _rows(
                connection,
                "SELECT r.run, r.header, e.n, e.what, e.at, e.detail FROM"
                " (SELECT * FROM chatkit_run"
                " WHERE account = coalesce(%s, account) AND run = coalesce(%s, run)"
                ' ORDER BY run COLLATE "C" DESC LIMIT %s) AS r'
                " LEFT JOIN LATERAL (SELECT * FROM chatkit_event AS e WHERE e.run = r.run"
                " AND e.n IS NULL ORDER BY seq DESC LIMIT 1) AS e ON true"
                ' ORDER BY r.run COLLATE "C"',
                account,
                run,
                newest,
            )
        for run, text, n, what, at, detail in rows:
            try:
                header = header_from_json(text, Path(run))
            except JournalError:
                yield Glance(run, None, None)
                continue
            last = None if what is None else JournalEvent(n, what, at, detail_from_json(detail))
            yield Glance(run, header, last)

    def read(self, run: str) -> Journal:
        """Open the journal of a run to be read."""
        connection = self._connected()
        try:
            with self._failing_as("read"):
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                return PostgresJournal(connection, run, self, reading=True)
        except BaseException:
            connection.close()
            raise

    def delete(self, run: str) -> None:
        """Delete the journal of a run."""
        with self._failing_as("written"), closing(self._connected()) as connection:
            _prepare(connection, self.shown)
            with connection.transaction():
                connection.execute("SET LOCAL statement_timeout = 0")  # there may be many rows
                for table in ("chatkit_run", "chatkit_change", "chatkit_event"):
                    connection.execute(f"DELETE FROM {table} WHERE run = %s", (run,))  # noqa: S608

    def sweep(self) -> None:
        """Delete what killed processes left: a transaction leaves nothing."""

    # --- locks ---

    @contextmanager
    def hold(self, accounts: Collection[str], run: str = "") -> Iterator[HeldSession]:
        """Hold the locks of accounts: the server frees them when this session ends."""
        connection = self._connected(writing=True)
        try:
            with self._failing_as("written"):
                _check_session(connection, self.shown)
                _prepare(connection, self.shown)
                for account in sorted(accounts):
                    _lock(connection, account, run)
            yield HeldSession(self, connection)
        finally:
            with suppress(psycopg.Error):  # it may be gone, and its locks with it
                connection.execute("SELECT pg_advisory_unlock_all()")
            connection.close()

    def most(self) -> int:
        """How many accounts can be held at once: each takes one of the server's connections."""
        with self._reading() as connection:
            ((most,),) = _rows(connection, _FREE)
        return max(1, int(most) - _SPARED)

    def busy(self, account: str) -> bool:
        """Tell whether an apply is at work on an account."""
        key = _key(account) % 2**64
        with self._reading() as connection:
            found = _rows(
                connection,
                "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted"
                " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
                " AND classid = %s::bigint::oid AND objid = %s::bigint::oid",
                *divmod(key, 2**32),
            )
        return bool(found)

    # --- connections ---

    def _connected(self, *, writing: bool = False) -> _Connection:
        """Connect.

        Raises:
            JournalError: It cannot be reached, or does not let us in.
        """
        given = _CONNECTING | ({"target_session_attrs": "read-write"} if writing else {})
        given |= self._given
        with self._failing_as("reached"):
            connection: _Connection = psycopg.connect(
                autocommit=True,
                **given,  # type: ignore[arg-type]  # the names are libpq's
                **{name: secret.reveal() for name, secret in self._secret.items()},  # type: ignore[arg-type]
            )
        try:
            with self._failing_as("reached"):
                if (encoding := connection.info.parameter_status("server_encoding")) != "UTF8":
                    raise JournalError(
                        f"The database {self.shown} has the encoding {encoding}, which cannot hold "
                        "every name: make one with CREATE DATABASE … ENCODING 'UTF8'."
                    )
                connection.execute("SET client_encoding = 'UTF8'")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _reading(self) -> Iterator[_Connection]:
        with self._failing_as("read"), closing(self._connected()) as connection:
            yield connection

    @contextmanager
    def _failing_as(self, what: str) -> Iterator[None]:
        """Raise the errors of the database in our words: what could not be done, and why."""
        try:
            yield
        except psycopg.Error as error:
            why = self.why(error)
        else:
            return
        raise JournalError(f"The journals in {self.shown} cannot be {what}: {why}.") from None

    def why(self, error: BaseException) -> str:
        """Say in one line why the database failed, without a password."""
        lines = str(error).strip().splitlines() or [type(error).__name__]
        said = lines[0].removeprefix("connection failed: ").rstrip(".")
        for secret in self._secret.values():
            if len(secret.reveal()) > 3:
                said = said.replace(secret.reveal(), "***")
        return said[:300]


class HeldSession:
    """The session that holds the locks of accounts: what it writes goes over its connection."""

    def __init__(self, store: PostgresStore, connection: _Connection) -> None:
        self._store, self._connection = store, connection

    def has(self, run: str) -> bool:
        """Whether the run has a journal."""
        with self._store._failing_as("read"):
            return bool(_rows(self._connection, "SELECT 1 FROM chatkit_run WHERE run = %s", run))

    def open(self, run: str) -> Journal:
        """Open the journal of a run to continue it."""
        with self._store._failing_as("read"):
            return PostgresJournal(self._connection, run, self._store)

    def create(self, header: RunHeader, changes: Iterable[Change]) -> Journal:
        """Write header and changes to a new journal. It is durable when this returns.

        Raises:
            InputError: JSON cannot hold one of the labels or values. Nothing is left of it.
            JournalError: It cannot be written. Nothing is left of it.
        """
        about, run = header_as_json(header), header.run
        seal = Seal(about)
        try:
            with self._connection.transaction():
                self._connection.execute("SET LOCAL statement_timeout = 0")
                with (
                    self._connection.cursor() as cursor,
                    cursor.copy("COPY chatkit_change (run, n, body) FROM STDIN") as copy,
                ):
                    texts = (text for _, text in change_texts(changes))
                    for n, body in enumerate(seal.over(texts)):
                        copy.write_row((run, n, body))
                self._connection.execute(
                    "INSERT INTO chatkit_run (run, account, header, seal) VALUES (%s, %s, %s, %s)",
                    (run, header.account, about, seal.hash),
                )
        except psycopg.Error as error:
            raise JournalError(
                f"The journal of run {run} cannot be written in {self._store.shown}: "
                f"{self._store.why(error)}. Nothing was sent."
            ) from None
        return self.open(run)


class PostgresJournal(Journal):
    """The journal of one run, in PostgreSQL.

    Args:
        connection: Holds the lock of the account, or a transaction that only reads.
        run: The name of the run.
        store: Where it is.
        reading: Only read it; the connection is closed with it.
    """

    def __init__(
        self, connection: _Connection, run: str, store: PostgresStore, *, reading: bool = False
    ) -> None:
        super().__init__(reading=reading)
        self._run, self._store, self._reading = run, store, reading
        self._connection = connection
        ((self._backend,),) = _rows(connection, "SELECT pg_backend_pid()")
        query = "SELECT header, seal FROM chatkit_run WHERE run = %s"
        if not (found := _rows(connection, query, run)):
            raise JournalError(
                f"The journal {run} cannot be used: it has been deleted in the meantime."
            )
        ((header, seal),) = found
        place = Path(run)
        self.header = header_from_json(header, place)
        bodies = (body for _, body in self._bodies())
        content = content_of(place, header, seal, bodies, self._kept_events())
        self._events, self._chain = content.events, content.chain

    def _bodies(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, str]]:
        query = (
            "SELECT n, body FROM chatkit_change WHERE run = %s AND n > %s"
            " AND n < %s ORDER BY n LIMIT %s"
        )
        yield from self._pages(query, start - 1, sys.maxsize if stop is None else stop)

    def _bodies_of(self, numbers: Sequence[int]) -> list[tuple[int, str]]:
        query = "SELECT n, body FROM chatkit_change WHERE run = %s AND n = ANY(%s) ORDER BY n"
        with self._store._failing_as("read"):
            return _rows(self._connection, query, self._run, list(numbers))

    def _kept_events(self) -> Iterator[tuple[Any, ...]]:
        return self._pages(
            "SELECT seq, n, what, at, detail, chain FROM chatkit_event"
            " WHERE run = %s AND seq > %s ORDER BY seq LIMIT %s",
            0,
        )

    def _pages(self, query: str, last: int, *more: int) -> Iterator[Any]:
        """Read rows of the run by their numbers, some at a time."""
        while True:
            with self._store._failing_as("read"):
                rows = _rows(self._connection, query, self._run, last, *more, _PAGE)
            yield from rows
            if len(rows) < _PAGE:
                return
            last = rows[-1][0]

    def _append(self, events: Sequence[tuple[Any, ...]]) -> None:
        """Make events durable, if this session is the one that holds the lock."""
        columns = [list(column) for column in zip(*events, strict=True)]
        cursor = self._connection.execute(
            "INSERT INTO chatkit_event (run, seq, n, what, at, detail, chain)"
            " SELECT %s, * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[],"
            " %s::text[], %s::bigint[]) WHERE pg_backend_pid() = %s",
            (self._run, *columns, self._backend),
        )
        if cursor.rowcount != len(columns[0]):
            raise psycopg.OperationalError(
                "another session answers, which does not hold the lock of the account"
            )

    def _why(self, error: BaseException) -> str:
        if not isinstance(error, psycopg.Error):
            return ""
        return f"{self._store.shown} has failed: {self._store.why(error)}"

    def _release(self) -> None:
        if self._reading:
            self._connection.close()


# --- the session -------------------------------------------------------------------------


def _rows(connection: _Connection, query: str, *values: object) -> list[Any]:
    """Ask a question; where the tables were never made, nothing is there."""
    try:
        return connection.execute(query.encode(), values).fetchall()
    except psycopg.errors.UndefinedTable:
        return []


def _check_session(connection: _Connection, shown: str) -> None:
    """Make sure that the session is ours alone: a lock of it means nothing otherwise.

    A server tells the number of its process at the start of a session. A proxy tells one of its
    own, and may then give the session another process of the server for each transaction.
    """

    def process(of: _Connection) -> int:
        ((number,),) = of.execute("SELECT pg_backend_pid()").fetchall()
        return int(number)

    if process(connection) == connection.info.backend_pid:
        return
    own = process(connection)
    info = connection.info
    with psycopg.connect(info.dsn, password=info.password, connect_timeout=10) as other:
        theirs = process(other)  # its transaction keeps the process that it was given
        seen = {process(connection) for _ in range(3)}
    if theirs == own or seen != {own}:
        raise JournalError(
            f"{shown} is a proxy that shares its connections between sessions (transaction "
            "pooling), where no lock of an account can be held. Use the address of the server "
            "itself, or a pool whose mode is session. Nothing was sent."
        )


def _set_up(connection: _Connection) -> None:
    """Set limits and durability of a session that is ours."""
    connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false)"
        " WHERE current_setting('synchronous_commit') IN ('off', 'local')"
    )
    for name, value in _SESSION.items():
        with suppress(psycopg.Error):  # an older server, or a system without it
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))


def _prepare(connection: _Connection, shown: str) -> None:
    """Set the session up, and make the tables, as a whole or not at all."""
    _set_up(connection)
    if _schema(connection) == _SCHEMA:
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
        if (schema := _schema(connection)) not in (0, _SCHEMA):
            raise JournalError(
                f"The journals in {shown} have schema {schema}, and this version of chatkit reads "
                f"schema {_SCHEMA}: use the version that wrote them."
            )
        if schema == 0:
            connection.execute("CREATE TABLE IF NOT EXISTS chatkit_journals (version integer)")
            connection.execute("INSERT INTO chatkit_journals VALUES (%s)", (_SCHEMA,))
            for statement in _TABLES:
                connection.execute(statement.encode())


def _schema(connection: _Connection) -> int:
    """Tell the version of the schema; 0 without one."""
    ((there,),) = connection.execute("SELECT to_regclass('chatkit_journals') IS NOT NULL")
    if not there:
        return 0
    versions = connection.execute("SELECT version FROM chatkit_journals").fetchall()
    return int(versions[0][0]) if versions else 0


def _lock(connection: _Connection, account: str, run: str) -> None:
    """Take the lock of an account for this session, and say who has it.

    Raises:
        AccountBusy: Another session has it.
    """
    key, deadline = _key(account), time.monotonic() + _LETTING_GO
    while True:
        ((taken,),) = connection.execute("SELECT pg_try_advisory_lock(%s)", (key,)).fetchall()
        if taken:
            break
        if time.monotonic() >= deadline:
            rows = _rows(connection, "SELECT holder FROM chatkit_lock WHERE key = %s", key)
            raise account_busy(rows[0][0] if rows else "")
        time.sleep(0.05)
    connection.execute(
        "INSERT INTO chatkit_lock VALUES (%s, %s)"
        " ON CONFLICT (key) DO UPDATE SET holder = excluded.holder",
        (key, holder_text(run)),
    )


def _key(account: str) -> int:
    """Number the lock of an account."""
    return int.from_bytes(sha256(f"chatkit {account}".encode()).digest()[:8], signed=True)


# --- the address -------------------------------------------------------------------------


def _parameters(address: Secret) -> dict[str, str]:
    """Read an address as libpq does.

    Raises:
        InputError: It is none. The text never has a part of it: that may be of a password.
    """
    wrong = InputError(
        "The address of the journals cannot be read. It is like "
        "'postgresql://user@host:5432/name'; write @, /, :, # and % of a password as %40, %2F, "
        "%3A, %23 and %25, or leave it out and keep it in PGPASSFILE or PGPASSWORD."
    )
    try:
        if not re.match("postgres(ql)?://", address.reveal()):
            raise wrong from None
        found = {k: str(v) for k, v in conninfo_to_dict(address.reveal()).items() if v is not None}
    except (psycopg.Error, UnicodeError):
        raise wrong from None
    odd = [name for name, form in _SOUND.items() if not re.fullmatch(form, found.get(name, ""))]
    at = "@" in found.get("host", "").lstrip("@") or "@" in found.get("dbname", "")
    if odd or at:
        del found
        raise wrong
    return found


def _shown(parameters: dict[str, str], **more: str) -> str:
    """Write an address."""
    left = parameters | more
    place = ""
    if re.fullmatch(r"[\w.-]+", left.get("host", "")) and "," not in left.get("port", ""):
        user, password = left.pop("user", ""), left.pop("password", "")
        who = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
        place = (f"{who}@" if who else "") + left.pop("host")
        place += f":{left.pop('port')}" if "port" in left else ""
    name = quote(left.pop("dbname", ""), safe="")
    return f"postgresql://{place}/{name}" + (f"?{urlencode(left)}" if left else "")
