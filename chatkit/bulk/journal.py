"""Journal: the planned changes and outcomes of runs, written before anything is sent.

One store on SQLAlchemy Core for every home: a SQLite file in a folder of the user (`FolderStore`),
or a PostgreSQL database that a team or a cluster shares (`DatabaseStore`). Each holds all runs, in
the same tables. Journals hold names and numbers of people, so the file is for its owner alone (0600
in 0700), never beside a notebook, and what is deleted is overwritten. They hold no secret: callers
pass none.

SQLite runs with a write-ahead log and `synchronous=FULL`. What a database cannot see by itself is
checked here, so that no journal is ever shorter or other than it was without an error:

- the SHA-256 of header and changes is kept with them;
- events are numbered without a gap, and each has a checksum over all before it;
- while a run is at work, a small file has the number of its events: SQLite takes the beginning of
  a log that was damaged in its middle, or lost, for the whole.

A journal is written over the session that `hold` opens once the accounts are locked. In PostgreSQL
the locks are of that session, too: one that is dead holds no lock any more, and its run has no
journal any more and stops. A second writer of a journal is refused by its primary key. A database
of another version is refused.
"""

from __future__ import annotations

import json
import os
import platform
import re
import secrets
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self
from zlib import crc32

import msgspec
import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, PendingRollbackError

from chatkit.api.secret import Secret
from chatkit.bulk.changes import Change, serialize_changes
from chatkit.errors import InputError, JournalError, safe_repr
from chatkit.util.files import (
    BUSY,
    find_network_file_system,
    hold_account_lock,
    is_account_busy,
    is_busy,
    make_account_busy_error,
    make_folder,
    set_durable_mode,
    sleep_briefly,
    sync_folder,
)

_VERSION = 5  #: of the tables and the header
_UNSENT = " Nothing was sent."
_READ = 2000  #: So many changes or events are read at once.
_WAIT = 30.0  #: seconds for another process that writes the file just now
_DISCONNECT_SECONDS = 0.5  #: seconds in which a server notices that a process has died

#: The errors of a database and its disk; after one a connection may refuse to go on.
_FAILURES = (DBAPIError, PendingRollbackError, sqlite3.Error, OSError)

#: Each kind of database sorts names by their bytes, and keeps rows in order, in a way of its own.
_TABLES = """
CREATE TABLE chatkit_journals (version INTEGER);
CREATE TABLE chatkit_run (run {name} PRIMARY KEY, header TEXT NOT NULL, digest TEXT NOT NULL);
CREATE TABLE chatkit_change (run {name}, n BIGINT, body TEXT NOT NULL, PRIMARY KEY (run, n)) {kept};
CREATE TABLE chatkit_event (
    run {name}, seq BIGINT, n BIGINT, what TEXT NOT NULL, at TEXT NOT NULL, detail TEXT NOT NULL,
    chain BIGINT NOT NULL, PRIMARY KEY (run, seq)
) {kept};
CREATE INDEX chatkit_event_of_run ON chatkit_event (run, seq) WHERE n IS NULL;
"""
_ADD_RUN = sa.text("INSERT INTO chatkit_run VALUES (:run, :header, :digest)")
_ADD_CHANGES = sa.text("INSERT INTO chatkit_change VALUES (:run, :n, :body)")
_ADD_EVENTS = sa.text(
    "INSERT INTO chatkit_event VALUES (:run, :seq, :n, :what, :at, :detail, :chain)"
)
_RUNS = sa.text("SELECT run FROM chatkit_run ORDER BY run")
_RUN = sa.text("SELECT header, digest FROM chatkit_run WHERE run = :run")
_CHANGES = sa.text(
    "SELECT n, body FROM chatkit_change WHERE run = :run AND n >= :first ORDER BY n LIMIT :size"
)
_EVENTS = sa.text(
    "SELECT seq, n, what, at, detail, chain FROM chatkit_event"
    " WHERE run = :run AND seq >= :first ORDER BY seq LIMIT :size"
)
_SUMMARIES = """
SELECT r.run, r.header, e.what, e.at, e.detail FROM chatkit_run r LEFT JOIN chatkit_event e
ON e.run = r.run AND e.seq = (SELECT max(seq) FROM chatkit_event WHERE run = r.run AND n IS NULL)
"""


def _format_now() -> str:
    """Return the time of now in ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class PlanPart(NamedTuple):
    """The part of a plan that is about one resource."""

    total: int  #: how many records there were
    known: tuple[int, ...] = ()  #: their ids, where a create in doubt has no other mark
    matched: int = 0  #: how many rows without a key match a record that exists


@dataclass(frozen=True)
class RunHeader:
    """The header of a run: all that is needed to go on without a frame in memory."""

    run: str  #: its name, which is the plan's too; see `make_run_id`
    hash: str  #: the plan's SHA-256
    account: str  #: which account, in the caller's words: address, id, instance
    connection: str | None  #: the name of the connection, if it has one
    noun: str  #: contact, flow, content or webhook; account: each change says its own
    names: tuple[str | None, ...]  #: the names of the levels of the frame's index
    parts: dict[str, PlanPart]  #: the records when it was planned, by noun
    changes: int  #: how many there are
    undoes: str | None = None  #: the run that this one undoes
    rate: float | None = None  #: calls a second at most, until it is applied with another rate
    folder: str = ""  #: the account folder that its plan was made of, if it was
    started: str = field(default_factory=_format_now)  #: ISO 8601, UTC
    version: str = field(default_factory=lambda: metadata.version("chatkit"))
    fleet: tuple[str, str] | None = None
    """The run of a fleet that it is a part of, and what its account is called there."""
    fleet_of: tuple[str, ...] = ()
    """The names of all accounts of that run, in the order of their runs."""
    by: str = ""
    """The person who began it, as `util.files.get_user_name` names them."""


class JournalEvent(NamedTuple):
    """One thing that happened: to change number `n`, or to the run itself (None)."""

    n: int | None
    what: str
    at: str  #: ISO 8601, UTC
    detail: dict[str, Any]


def is_finished(last: JournalEvent | None) -> bool:
    """Return whether a run has come to its end, by the last event of the run as a whole."""
    return last is not None and last.what == "finished"


class KeptRun(NamedTuple):
    """A run with a journal: its header and last event are known without reading all of that."""

    run: str
    store: JournalStore
    header: RunHeader | None  #: None: it cannot be read
    last: JournalEvent | None  #: the last event of the run as a whole

    def read(self) -> Journal:
        """Open its journal to be read.

        Raises:
            JournalError: It is gone, or damaged.
        """
        return self.store.read(self.run)


def make_run_id() -> str:
    """Name a new run. Names sort by time, to a quarter of a millisecond."""
    now = datetime.now(UTC)
    fraction = now.microsecond * 4096 // 1_000_000
    return f"{now:%Y%m%d-%H%M%S}-{fraction:03x}{secrets.randbelow(4096):03x}"


def get_planned_time(header: RunHeader) -> datetime:
    """Return when the plan of a run was made, which its name tells; else when the run began."""
    try:
        return datetime.strptime(header.run[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:  # a name that a person has written into a plan file
        return datetime.fromisoformat(header.started)


# --- the journal of one run ------------------------------------------------------------


class Journal(AbstractContextManager["Journal"]):
    """The journal of one run, opened to be read. One thread at a time may use it.

    Once it is continued, what is noted waits in memory until it is committed as a group; after a
    commit that failed nothing more is written.

    Args:
        store: Where it is kept.
        run: The name of the run.
        connection: To the database that holds it. Over the session of the store it is continued;
            any other is closed with it.

    Raises:
        JournalError: It is no journal, or is not what was written.
    """

    def __init__(self, store: JournalStore, run: str, connection: sa.Connection) -> None:
        self._store, self._run, self._connection = store, run, connection
        self._pending: list[dict[str, Any]] = []
        self._count = self._chain = 0
        self._stopped = ""
        least = store.read_count(run)  # before the snapshot: its run may be at work
        if connection is not store.session:
            self._stopped = "it was opened to be read"
            connection.exec_driver_sql(store.begin_reading)
        self._verify(least)

    def changes(self) -> Iterator[Change]:
        """Read the changes of the run one by one, in the order of the plan."""
        for n, body in self._pages(_CHANGES, 0):
            try:
                change = Change.from_json(msgspec.json.decode(body))
            except (ValueError, LookupError, TypeError, RecursionError) as error:
                raise _make_damage_error(self._run, f"change {n + 1} cannot be read") from error
            yield change

    def events(self) -> Iterator[JournalEvent]:
        """Read the events that are committed, in order."""
        for _, n, what, at, text, _ in self._pages(_EVENTS, 1):
            yield JournalEvent(n, what, at, json.loads(text))

    def read_last_rate(self) -> float | None:
        """Return the calls a second that the run was last applied with; None: any number."""
        rates = [event.detail.get("rate") for event in self.events() if event.n is None]
        return next((rate for rate in reversed(rates) if rate is not None), self.header.rate)

    def write(self, n: int | None, what: str, /, **detail: object) -> None:
        """Note an event. It waits in memory until `commit`.

        Args:
            n: The number of the change, the first is 0; None for the run itself.
            what: What happened.
            detail: More of it. What JSON cannot hold is noted as text: what happened has
                happened, and is not refused here.

        Raises:
            JournalError: An earlier commit failed, or the journal is closed.
        """
        self._check()
        event = {"n": n, "what": what, "at": _format_now(), "detail": _detail_as_json(detail)}
        self._count += 1
        self._chain = _compute_checksum(self._chain, *event.values())
        seq = {"run": self._run, "seq": self._count, "chain": self._chain}
        self._pending.append(seq | event)

    def commit(self) -> None:
        """Make all that was noted durable, as one group.

        Raises:
            JournalError: It failed, now or earlier. Nothing more may be recorded or sent.
                Trying again proves nothing: a disk that failed to keep something may say
                that all is well when it is asked a second time.
        """
        self._check()
        if not self._pending:
            return
        try:
            with self._store.transaction(self._connection):
                self._connection.execute(_ADD_EVENTS, self._pending)
            self._store.write_count(self._run, self._count)
        except BaseException as error:
            self._stopped = self._store.why(error)
            if isinstance(error, _FAILURES):
                self._check(error)
            raise
        self._pending.clear()

    def close(self) -> None:
        """Commit pending events unless a commit failed, and close the journal."""
        if self._connection is not self._store.session:
            self._connection.close()
        elif not self._stopped:
            self.commit()
            self._stopped = "it is closed"

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self, cause: BaseException | None = None) -> None:
        """Raise an error if the journal cannot be written any more."""
        if self._stopped:
            raise JournalError(
                f"The journal of run {self._run} cannot be written: {self._stopped}. Nothing more "
                f"is recorded or sent. When the cause is gone, chatkit.resume({self._run!r}) finds "
                "out what took effect and goes on."
            ) from cause

    def _verify(self, least: int) -> None:
        """Read all of the journal and make sure that it is what was written."""
        row = self._connection.execute(_RUN, {"run": self._run}).first()
        if row is None:
            raise _make_damage_error(self._run, "it has no header, or has been deleted")
        self.header = _header_from_json(row.header, self._run)
        hashed, digest = sha256(row.header.encode()), row.digest
        for _, body in self._pages(_CHANGES, 0):
            hashed.update(b"\n" + body.encode())
        if hashed.hexdigest() != digest:
            raise _make_damage_error(self._run, "its changes are not those that were written")
        # The first event is tied to the changes, so that no event belongs to another run.
        self._chain = int(digest[:8], 16)
        for seq, n, what, at, detail, chain in self._pages(_EVENTS, 1):
            self._count += 1
            self._chain = _compute_checksum(self._chain, n, what, at, detail)
            if (seq, chain) != (self._count, self._chain):
                raise _make_damage_error(self._run, f"event {self._count} is not as it was written")
        if self._count < least:
            finding = f"it holds {self._count} events, and {least} were committed"
            raise _make_damage_error(self._run, finding)

    def _pages(self, query: sa.TextClause, first: int) -> Iterator[Any]:
        """Read rows of the run by their numbers, the first column, some at a time."""
        at = {"run": self._run, "first": first, "size": _READ}
        while True:
            with self._store.failing(f"The journal {self._run} cannot be read", self._run):
                rows = self._connection.execute(query, at).all()
            if not rows:
                return
            yield from rows
            at["first"] = rows[-1][0] + 1


def _compute_checksum(chain: int, n: Any, what: Any, at: Any, detail: Any) -> int:
    """Compute the checksum of an event from that of the one before."""
    return crc32(f"{n} {what} {at} {detail}".encode(), chain)


def _make_damage_error(run: str, finding: str) -> JournalError:
    """Return the error for a damaged journal."""
    return JournalError(
        f"The journal {run} is damaged: {finding}. The run cannot go on. "
        "Plan again from a fresh frame: rows that were applied will show no change."
    )


def _header_to_json(header: RunHeader) -> str:
    """Return a header as JSON."""
    if not re.fullmatch("[0-9a-z-]+", header.run):  # it names a file
        raise InputError(f"{header.run!r} cannot be the name of a run: it may hold a-z, 0-9 and -.")
    try:
        return msgspec.json.encode(header).decode()
    except (TypeError, ValueError) as error:
        raise InputError(f"The run cannot be written as JSON, nothing was sent: {error}") from None


def _header_from_json(text: str, run: str) -> RunHeader:
    """Read a header from JSON; a damaged one is an error."""
    try:
        header = msgspec.json.decode(text, type=RunHeader)
        datetime.fromisoformat(header.started)
        return header
    except (ValueError, RecursionError) as error:
        raise _make_damage_error(run, f"its header cannot be read ({error})") from error


#: What JSON cannot hold becomes text.
_detail_as_json = json.JSONEncoder(default=str).encode


# --- where journals are kept --------------------------------------------------------------


class JournalStore(ABC):
    """A database of journals, and the locks of the accounts that they are about."""

    location: str  #: its path or address, without a password
    _engine: sa.Engine  #: Its connections are in autocommit mode.
    session: Any = None  #: of `hold`: what is written goes over it
    begin = "BEGIN"
    begin_reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    @safe_repr
    def __repr__(self) -> str:
        return f"<journals in {self.location}>"

    # --- which runs there are ---

    def runs(self) -> list[str]:
        """Return the names of the runs, the oldest first."""
        with self._connected() as connection:
            return [] if connection is None else [*connection.scalars(_RUNS)]

    def has(self, run: str) -> bool:
        """Return whether the run has a journal."""
        return run in self.runs()

    def summaries(self, *, unfinished: bool = False) -> list[KeptRun]:
        """Return header and last event of the runs, the oldest first.

        Args:
            unfinished: Of those alone that have not come to their end.
        """
        condition = "WHERE e.what IS NULL OR e.what <> 'finished'" if unfinished else ""
        with self._connected() as connection:
            if connection is None:
                return []
            try:
                return self._summarize(connection, f"{condition} ORDER BY r.run")
            except DBAPIError as error:
                if not self._is_damage(error):
                    raise
            summaries = []  # a part of the file is damaged: each run that is elsewhere is listed
            for run in connection.scalars(_RUNS):
                try:
                    summaries += self._summarize(connection, "WHERE r.run = :run", run=run)
                except DBAPIError:
                    summaries.append(KeptRun(run, self, None, None))
            return summaries

    def _summarize(self, connection: sa.Connection, condition: str, **names: str) -> list[KeptRun]:
        """Read header and last event of some runs."""
        summaries = []
        query = sa.text(_SUMMARIES + condition)
        for run, text, what, at, detail in connection.execute(query, names):
            header = event = None
            with suppress(JournalError, ValueError, TypeError, RecursionError):
                if what is not None:
                    datetime.fromisoformat(at)
                    event = JournalEvent(None, what, at, json.loads(detail))
                header = _header_from_json(text, run)
            summaries.append(KeptRun(run, self, header, event if header else None))
        return summaries

    # --- one run ---

    def read(self, run: str) -> Journal:
        """Open the journal of a run to be read. Its run may be at work.

        Raises:
            JournalError: It is not there, cannot be read, or is not what was written.
        """
        with ExitStack() as opened, self.failing(f"The journal {run} cannot be used", run):
            connection = self._connect(opened)
            if connection is None:
                raise JournalError(f"There is no journal in {self.location}.")
            journal = Journal(self, run, connection)
            opened.pop_all()  # it is closed with the journal
            return journal

    def open(self, run: str) -> Journal:
        """Open the journal of a run to continue it, while its account is held."""
        with self.failing(f"The journal {run} cannot be used", run):
            return Journal(self, run, self.session)

    def create(self, header: RunHeader, changes: Iterable[Change]) -> Journal:
        """Write header and changes to a new journal, while its account is held.

        It is durable when this returns, and appears as a whole or not at all.

        Args:
            header: What the run is; it has the number of changes.
            changes: They are taken one by one.

        Raises:
            InputError: JSON cannot hold one of the labels or values. Nothing is left of it.
            JournalError: It cannot be written. Nothing is left of it.
        """
        about = _header_to_json(header)
        what = f"The journal of run {header.run} cannot be written"
        with self.failing(what, end=_UNSENT), self.transaction(self.session):
            _write_changes(self.session, header.run, about, changes)
        return self.open(header.run)

    def delete(self, run: str) -> None:
        """Delete the journal of a run."""
        with self._connected() as connection:
            if connection is not None:
                with self.transaction(connection):
                    for table in ("run", "change", "event"):
                        delete = sa.text(f"DELETE FROM chatkit_{table} WHERE run = :run")  # noqa: S608
                        connection.execute(delete, {"run": run})

    def erase_deleted(self) -> bool:
        """Erase what was deleted from all files; False where that must wait."""
        return True

    def write_count(self, run: str, events: int) -> None:  # noqa: B027  (servers lose no log)
        """Note how many events of a run are durable."""

    def read_count(self, run: str) -> int:
        """Return how many events of a run are durable, at least."""
        return 0

    # --- accounts ---

    @contextmanager
    def hold(self, accounts: Collection[str], run: str = "") -> Iterator[Self]:
        """Hold the locks of accounts, and open the session that writes journals.

        Args:
            accounts: In the words of a journal's header.
            run: The run that is going to work, which others are shown.

        Raises:
            AccountBusy: Another apply holds one; the text names it. It is not waited for.
            JournalError: Nothing can be locked or written there.
        """
        with ExitStack() as opened:
            held = copy(self)
            what = f"The journals in {self.location} cannot be reached"
            with self.failing(what, end=_UNSENT):
                held.session = self._open_session(opened, sorted(accounts), run)
            yield held

    @abstractmethod
    def _open_session(self, opened: ExitStack, accounts: Sequence[str], run: str) -> sa.Connection:
        """Lock accounts, and connect to the database, which is made where there is none."""

    @abstractmethod
    def busy(self, account: str) -> bool:
        """Return whether an apply is at work on an account."""

    # --- the database ---

    def _connect(self, opened: ExitStack) -> sa.Connection | None:
        """Connect to the database; None where no journal was ever written."""
        connection = opened.enter_context(self._engine.connect())
        return connection if self._check_version(connection) else None

    @contextmanager
    def _connected(self) -> Iterator[sa.Connection | None]:
        """Connect to the database for a block; its errors become journal errors."""
        what = f"The journals in {self.location} cannot be reached"
        with self.failing(what), ExitStack() as opened:
            yield self._connect(opened)

    def _check_version(self, connection: sa.Connection) -> bool:
        """Return whether there are tables of ours, and refuse those of another version."""
        if not sa.inspect(connection).has_table("chatkit_journals"):
            return False
        versions = connection.scalars(sa.text("SELECT version FROM chatkit_journals")).all()
        if versions != [_VERSION]:
            raise JournalError(
                f"{self.location} has version {versions[0] if versions else 0} of the journal, and "
                f"this chatkit reads version {_VERSION}: use the chatkit that wrote it."
            )
        return True

    def _make_tables(self, connection: sa.Connection, lock: str, name: str, kept: str) -> None:
        """Create the tables where there are none, one process at a time."""
        if self._check_version(connection):
            return
        with self.transaction(connection):
            connection.exec_driver_sql(lock)
            if not self._check_version(connection):
                for statement in _TABLES.format(name=name, kept=kept).split(";")[:-1]:
                    connection.exec_driver_sql(statement)
                add = sa.text("INSERT INTO chatkit_journals VALUES (:version)")
                connection.execute(add, {"version": _VERSION})

    @contextmanager
    def transaction(self, connection: sa.Connection) -> Iterator[None]:
        """Commit all that happens inside, or none of it."""
        with self._queue_writers():
            connection.exec_driver_sql(self.begin)
            try:
                yield
                connection.exec_driver_sql("COMMIT")
            except BaseException:
                with suppress(*_FAILURES):  # the failure may have ended the transaction
                    connection.exec_driver_sql("ROLLBACK")
                raise

    def _queue_writers(self) -> AbstractContextManager[object]:
        """Return what the threads of this process hold to write one after the other."""
        return nullcontext()

    @contextmanager
    def failing(self, what: str, run: str = "", *, end: str = "") -> Iterator[None]:
        """Raise the errors of the database as a JournalError: what cannot be done, and why.

        Args:
            what: What cannot be done.
            run: Whose journal is damaged, if what was read of it is no journal.
            end: What else to know.
        """
        try:
            yield
        except _FAILURES as error:
            if run and self._is_damage(error):
                raise _make_damage_error(run, str(getattr(error, "orig", error))) from None
            raise JournalError(f"{what}: {self.why(error)}.{end}") from None
        except (ValueError, TypeError, AttributeError) as error:
            if not run:
                raise
            raise _make_damage_error(run, str(error)) from None

    @abstractmethod
    def why(self, error: BaseException) -> str:
        """Return in one line why the database failed."""

    def _is_damage(self, error: BaseException) -> bool:
        """Return whether an error is one of some rows, not of the whole database."""
        return False


def _write_changes(
    connection: sa.Connection, run: str, header: str, changes: Iterable[Change]
) -> None:
    """Write header and changes, with a digest of both."""
    hashed = sha256(header.encode())
    rows = enumerate(serialize_changes(changes))
    while batch := [(n, body) for n, (_, body) in islice(rows, _READ)]:
        hashed.update("".join(f"\n{body}" for _, body in batch).encode())
        connection.execute(_ADD_CHANGES, [{"run": run, "n": n, "body": body} for n, body in batch])
    connection.execute(_ADD_RUN, {"run": run, "header": header, "digest": hashed.hexdigest()})


# --- SQLite: a file in a folder of this machine -------------------------------------------

#: Errors that are no fault of some rows: somebody else has the file, the disk does not answer, or
#: it is no database at all.
_OUTSIDE = (*BUSY, *(f"SQLITE_{name}" for name in ("CANTOPEN", "IOERR", "PERM", "FULL", "NOTADB")))


class FolderStore(JournalStore):
    """A folder of this machine: the journals are in a SQLite file, each lock is a file.

    Args:
        folder: It is made when the first run begins.
    """

    begin = "BEGIN IMMEDIATE"
    begin_reading = "BEGIN"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.location = str(folder)
        self.path = folder / "chatkit-journal.db"
        self._engine = _make_sqlite_engine(self.path)

    @contextmanager
    def lock(self, accounts: Iterable[str], run: str) -> Iterator[None]:
        """Hold the locks of accounts alone: the kernel frees them when this process dies."""
        if kind := find_network_file_system(self.folder):
            raise JournalError(
                f"{self.folder} is on a file system that other machines, or the host of this one, "
                f"write, too ({kind}): neither a lock nor what was written to SQLite can be relied "
                "on there. Set CHATKIT_DATA to a folder on a disk of this machine, in WSL one that "
                "is not below /mnt, or keep the journals in PostgreSQL with "
                "CHATKIT_RUNS='postgresql://user@host/name'. Nothing was sent."
            )
        with ExitStack() as locks:
            for account in sorted(accounts):
                locks.enter_context(hold_account_lock(self.folder, account, run))
            yield

    def _open_session(self, opened: ExitStack, accounts: Sequence[str], run: str) -> sa.Connection:
        opened.enter_context(self.lock(accounts, run))
        make_folder(self.folder)
        # A file that is there is not opened here: to close it would end the locks that SQLite holds
        # on it for other threads.
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        sync_folder(self.folder)
        connection = opened.enter_context(self._engine.connect())
        self._make_tables(connection, "SELECT 1", "TEXT NOT NULL", "WITHOUT ROWID")
        # Parts of a log that a dead process left may be in memory alone; what is appended later
        # would be lost with them. SQLite waits for readers, not for others that do the same.
        deadline = time.monotonic() + _WAIT
        while connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar():
            if time.monotonic() >= deadline:
                raise OSError("another process is using them; try again when it has ended")
            sleep_briefly()
        opened.callback(self._remove_count, connection, run)
        return connection

    def busy(self, account: str) -> bool:
        """Return whether an apply is at work on an account."""
        return is_account_busy(self.folder, account)

    def delete(self, run: str) -> None:
        """Delete the journal of a run."""
        super().delete(run)
        self._count(run).unlink(missing_ok=True)

    def erase_deleted(self) -> bool:
        """Erase what was deleted from SQLite's log, too; False while another process reads it."""
        with self._connected() as connection:
            if connection is None:
                return True
            connection.exec_driver_sql("PRAGMA busy_timeout = 1000")
            return not connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar()

    def write_count(self, run: str, events: int) -> None:
        """Keep the number of events of a run in a file, while it is at work.

        It is written after each commit and never synced, so it costs next to nothing: after a
        power cut it may be behind, empty or gone, but it is never ahead of the journal.
        """
        with open(os.open(self._count(run), os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
            file.write(b"%020d" % events)

    def read_count(self, run: str) -> int:
        """Return how many events of a run are durable, at least; 0 where that is not known."""
        try:
            return int(self._count(run).read_bytes())
        except (OSError, ValueError):
            return 0

    def _count(self, run: str) -> Path:
        """Return the path of the file that has the number of events of a run."""
        return self.folder / f"{run}.count"

    def _remove_count(self, connection: sa.Connection, run: str) -> None:
        """Remove the number of events of a run if nothing is in the log alone any more."""
        with suppress(*_FAILURES):  # of a disk that is gone: the number is needed
            connection.exec_driver_sql("PRAGMA busy_timeout = 1000")
            if not connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar():
                self._count(run).unlink(missing_ok=True)

    def _connect(self, opened: ExitStack) -> sa.Connection | None:
        return super()._connect(opened) if self.path.exists() else None

    def _queue_writers(self) -> AbstractContextManager[object]:
        return _get_writer_lock(self.path, os.getpid())

    def why(self, error: BaseException) -> str:
        """Return in one line why the file could not be used."""
        error = getattr(error, "orig", None) or error
        if is_busy(error):
            return (
                f"another process is using it and did not let go of it for {_WAIT:g} seconds; "
                "try again when that process has ended"
            )
        if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            return (
                f"{self.path} is damaged ({error}). Move it away with its -wal and -shm files, and "
                "plan again from a fresh frame: rows that were applied will show no change"
            )
        return str(error) or type(error).__name__

    def _is_damage(self, error: BaseException) -> bool:
        name = getattr(getattr(error, "orig", error), "sqlite_errorname", "")
        return not isinstance(error, OSError) and not name.startswith(_OUTSIDE)


@cache
def _get_writer_lock(path: Path, process: int) -> threading.Lock:
    """Return the lock by which threads take turns at writing a file: SQLite has no queue.

    Args:
        path: The file.
        process: This process: a forked one does not wait for threads that it does not have.
    """
    return threading.Lock()


@cache
def _make_sqlite_engine(path: Path) -> sa.Engine:
    """Return an engine for a file that is there."""

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True, isolation_level=None, check_same_thread=False, timeout=_WAIT,
        )  # fmt: skip
        try:
            if not path.stat().st_size:  # it is new, and will shrink when runs are deleted
                connection.execute("PRAGMA auto_vacuum = FULL")
            connection.execute("PRAGMA secure_delete = ON")
            set_durable_mode(connection, wait=_WAIT)
        except BaseException:
            connection.close()
            raise
        return connection

    return sa.create_engine(
        "sqlite://", creator=connect, poolclass=sa.NullPool,
        isolation_level="AUTOCOMMIT", hide_parameters=True,
    )  # fmt: skip


# --- PostgreSQL: a database that a team or a cluster shares -------------------------------

_LOCK_TABLES = f"SELECT pg_advisory_xact_lock({0x63686A6C})"  #: any number
#: A dead network is noticed in a minute; a run may wait for minutes until it writes again.
_CONNECTING = {
    "connect_timeout": 10,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "target_session_attrs": "any",
    "options": "-c lock_timeout=10s -c idle_session_timeout=0 -c synchronous_commit=on",
}
_HOLDERS = sa.text(
    "SELECT a.application_name FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)"
    " WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted"
    " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND l.classid = CAST(:high AS bigint)::oid AND l.objid = CAST(:low AS bigint)::oid"
)


class DatabaseStore(JournalStore):
    """A PostgreSQL database of journals. libpq's own means work: PGPASSFILE, PGPASSWORD and so on.

    Args:
        address: `postgresql://user@host:port/name`. It never shows its password.

    Raises:
        InputError: It is no such address, or the driver is missing.
    """

    #: Passwords that addresses of this process had, by the address without it.
    _passwords: ClassVar[dict[str, Secret]] = {}

    def __init__(self, address: Secret) -> None:
        url = _parse_address(address)
        if url is None:
            raise InputError(
                "The address of the journals cannot be read. It is like "
                "'postgresql://user@host:5432/name'; write @, /, :, # and % of a password as %40, "
                "%2F, %3A, %23 and %25, or leave it out and keep it in PGPASSFILE or PGPASSWORD."
            )
        plain = url._replace(drivername="postgresql", password=None)
        self.location = plain.render_as_string()
        if url.password:
            self._passwords[self.location] = Secret(str(url.password))
        self._password = self._passwords.get(self.location)
        try:
            self._engine = sa.create_engine(
                plain.set(drivername="postgresql+psycopg"), poolclass=sa.NullPool,
                isolation_level="AUTOCOMMIT", hide_parameters=True, connect_args=_CONNECTING,
            )  # fmt: skip
        except ImportError:
            raise InputError("PostgreSQL needs its driver: pip install 'psycopg[binary]'") from None
        sa.event.listen(self._engine, "do_connect", self._add_password)

    def _add_password(self, dialect: Any, record: Any, args: Any, parameters: Any) -> None:
        """Add the password to the parameters of a new connection."""
        if self._password is not None:
            parameters["password"] = self._password.reveal()

    def _open_session(self, opened: ExitStack, accounts: Sequence[str], run: str) -> sa.Connection:
        connection = opened.enter_context(self._engine.connect())
        process = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        driver: Any = connection.connection.driver_connection
        if driver.info.backend_pid != process:
            raise JournalError(
                f"{self.location} is a proxy that shares its connections between sessions, where "
                "no lock of an account can be held. Use the address of the server itself. Nothing "
                "was sent."
            )
        self._make_tables(connection, _LOCK_TABLES, 'TEXT COLLATE "C"', "")
        name = f"{run or 'no run'} on {platform.node()}"[:63]
        connection.execute(sa.select(sa.func.set_config("application_name", name, False)))
        for account in accounts:
            self._lock(connection, account)
        return connection

    def _lock(self, connection: sa.Connection, account: str) -> None:
        """Take the lock of an account, or raise an error that names who holds it."""
        deadline = time.monotonic() + _DISCONNECT_SECONDS
        attempt = sa.select(sa.func.pg_try_advisory_lock(_compute_lock_key(account)))
        while not connection.execute(attempt).scalar():
            if time.monotonic() >= deadline:
                raise make_account_busy_error(", ".join(self._holders(connection, account)))
            time.sleep(0.05)

    def _holders(self, connection: sa.Connection, account: str) -> Sequence[str]:
        """Return the names of the sessions that hold the lock of an account."""
        high, low = divmod(_compute_lock_key(account) % 2**64, 2**32)
        return connection.execute(_HOLDERS, {"high": high, "low": low}).scalars().all()

    def busy(self, account: str) -> bool:
        """Return whether an apply is at work on an account."""
        with self._connected() as connection:
            return connection is not None and bool(self._holders(connection, account))

    def why(self, error: BaseException) -> str:
        """Return in one line why the database failed, without a password."""
        error = getattr(error, "orig", None) or error
        lines = str(error).strip().splitlines() or [type(error).__name__]
        text = lines[0].removeprefix("connection failed: ").rstrip(".")
        if self._password is not None and len(self._password.reveal()) > 3:
            text = text.replace(self._password.reveal(), "***")
        return text[:300]


def _parse_address(address: Secret) -> sa.URL | None:
    """Return an address of PostgreSQL, or None: an error might show a part of the password."""
    try:
        url = sa.make_url(address.reveal())
    except (ArgumentError, ValueError):
        return None
    ambiguous = re.search("[@%]", f"{url.host or ''}{url.database or ''}")
    return None if ambiguous or url.get_backend_name() not in ("postgresql", "postgres") else url


def _compute_lock_key(account: str) -> int:
    """Return the number of the lock of an account."""
    return int.from_bytes(sha256(f"chatkit {account}".encode()).digest()[:8], signed=True)


#: What `at=` takes: an address of PostgreSQL, the path of a folder, or a store.
At = str | Path | Secret | JournalStore
