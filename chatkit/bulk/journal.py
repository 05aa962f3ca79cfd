"""Journal: the planned changes and outcomes of one run, written before anything is sent.

One journal on SQLAlchemy Core for every home: a SQLite file for each run in a folder of the user
(`FolderStore`), or a PostgreSQL database that a team or a cluster shares (`DatabaseStore`).
Journals hold names and numbers of people, so the files are for their owner alone (0600 in 0700),
and never beside a notebook. They hold no secret: callers pass none.

SQLite runs with a write-ahead log and `synchronous=FULL`. What a database cannot see by itself is
checked here, so that no journal is ever shorter or other than it was without an error:

- the SHA-256 of header and changes is kept with them;
- events are numbered without a gap, and each has a checksum over all before it;
- while a file is written, a small file beside it has the number of its events: SQLite takes the
  beginning of a log that was damaged in its middle, or lost, for the whole.

In PostgreSQL the lock of an account and the journal that is written under it are on one
connection: a session that is dead holds no lock any more, and its run has no journal any more and
stops. A second writer of a journal is refused by its primary key. A journal of another version is
refused.
"""

from __future__ import annotations

import json
import os
import platform
import re
import secrets
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, cast
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

_VERSION = 4  #: of the tables and the header
_UNSENT = " Nothing was sent."
_READ = 2000  #: So many changes or events are read at once.
_WAIT = 10.0  #: seconds for another process that has a file just now
_DISCONNECT_SECONDS = 0.5  #: seconds in which a server notices that a process has died

#: The errors of a database and its disk; after one a connection may refuse to go on.
_FAILURES = (DBAPIError, PendingRollbackError, sqlite3.Error, OSError)

_metadata = sa.MetaData()
_journals = sa.Table("chatkit_journals", _metadata, sa.Column("version", sa.Integer))
_run = sa.Table(
    "chatkit_run",
    _metadata,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("account", sa.Text, nullable=False, index=True),
    sa.Column("header", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
)
_change = sa.Table(
    "chatkit_change",
    _metadata,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("n", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("body", sa.Text, nullable=False),
    sqlite_with_rowid=False,
)
_event = sa.Table(
    "chatkit_event",
    _metadata,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("n", sa.BigInteger),
    sa.Column("what", sa.Text, nullable=False),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("chain", sa.BigInteger, nullable=False),
    sqlite_with_rowid=False,
)


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


class Journal:
    """The journal of one run, opened to be read. One thread at a time may use it.

    Once it is continued, what is noted waits in memory until it is committed as a group; after a
    commit that failed nothing more is written.

    Args:
        store: Where it is kept.
        run: The name of the run.
        connection: To the database that holds it.
        opened: What is to be closed with it.

    Raises:
        JournalError: It is no journal, cannot be read, or is not what was written.
    """

    def __init__(
        self, store: _Store, run: str, connection: sa.Connection, opened: ExitStack
    ) -> None:
        self._store, self._run, self._connection = store, run, connection
        self._pending: list[dict[str, Any]] = []
        self._count = self._chain = 0
        self._stopped = "it was opened to be read"
        with store.failing(f"The journal {run} cannot be used", run):
            self._verify()
        self._opened = opened.pop_all()

    def continue_on(self, connection: sa.Connection, opened: ExitStack) -> Self:
        """Reopen the journal for writing, and return it."""
        self._connection, self._opened, self._stopped = connection, opened.pop_all(), ""
        return self

    def changes(self) -> Iterator[Change]:
        """Read the changes of the run one by one, in the order of the plan."""
        for n, body in self._pages(sa.select(_change.c.n, _change.c.body), 0):
            try:
                change = Change.from_json(msgspec.json.decode(body))
            except (ValueError, LookupError, TypeError, RecursionError) as error:
                raise _make_damage_error(self._run, f"change {n + 1} cannot be read") from error
            yield change

    def events(self) -> Iterator[JournalEvent]:
        """Read the events that are committed, in order."""
        for _, n, what, at, text, _ in self._events():
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
            with _transaction(self._connection):
                self._connection.execute(sa.insert(_event), self._pending)
            self._store.committed(self._run, self._count)
        except BaseException as error:
            self._stopped = self._store.why(error, self._run)
            if isinstance(error, _FAILURES):
                self._check(error)
            raise
        self._pending.clear()

    def close(self) -> None:
        """Commit pending events unless a commit failed, and close the journal."""
        try:
            if not self._stopped:
                self.commit()
                self._stopped = "it is closed"
        finally:
            self._opened.close()

    def __enter__(self) -> Self:
        return self

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

    def _verify(self) -> None:
        """Read all of the journal and make sure that it is what was written."""
        least = self._store.check(self._connection, self._run)
        query = sa.select(_run.c.header, _run.c.digest).where(_run.c.run == self._run)
        row = self._connection.execute(query).first()
        if row is None:
            raise _make_damage_error(self._run, "it has no header, or has been deleted")
        self.header = _header_from_json(row.header, self._run)
        hashed, digest = sha256(row.header.encode()), row.digest
        columns = _change.c
        for _, body in self._pages(sa.select(columns.n, columns.body), 0):
            hashed.update(b"\n" + body.encode())
        if hashed.hexdigest() != digest:
            raise _make_damage_error(self._run, "its changes are not those that were written")
        # The first event is tied to the changes, so that no event belongs to another run.
        self._chain = int(digest[:8], 16)
        for seq, n, what, at, detail, chain in self._events():
            self._count += 1
            self._chain = _compute_checksum(self._chain, n, what, at, detail)
            if (seq, chain) != (self._count, self._chain):
                raise _make_damage_error(self._run, f"event {self._count} is not as it was written")
        if self._count < least:
            finding = f"it holds {self._count} events, and {least} were committed"
            raise _make_damage_error(self._run, finding)

    def _events(self) -> Iterator[Any]:
        """Read the rows of the committed events, in order."""
        c = _event.c
        return self._pages(sa.select(c.seq, c.n, c.what, c.at, c.detail, c.chain), 1)

    def _pages(self, query: sa.Select[Any], first: int) -> Iterator[Any]:
        """Read rows of the run by their numbers, the first column, some at a time."""
        number = query.selected_columns[0]
        of_run = query.where(cast(Any, number.table).c.run == self._run)
        of_run = of_run.order_by(number).limit(_READ)
        while rows := self._connection.execute(of_run.where(number >= first)).all():
            yield from rows
            first = rows[-1][0] + 1


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
        raise InputError(f"{header.run!r} cannot be the name of a run: run_id() makes names.")
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


@contextmanager
def _transaction(connection: sa.Connection) -> Iterator[None]:
    """Commit all that happens inside, or none of it. Connections are in autocommit mode."""
    sqlite = connection.dialect.name == "sqlite"
    connection.exec_driver_sql("BEGIN IMMEDIATE" if sqlite else "BEGIN")
    try:
        yield
        connection.exec_driver_sql("COMMIT")
    except BaseException:
        with suppress(*_FAILURES):  # the failure may have ended the transaction
            connection.exec_driver_sql("ROLLBACK")
        raise


# --- where journals are kept --------------------------------------------------------------


class _Store(ABC):
    """One home of journals, and of the locks of the accounts that they are about."""

    location: str  #: its path or address, without a password

    @safe_repr
    def __repr__(self) -> str:
        return f"<journals in {self.location}>"

    @abstractmethod
    def _connect(self, run: str, opened: ExitStack) -> sa.Connection:
        """Connect to the database that holds the journal of a run, to read it."""

    @abstractmethod
    def why(self, error: BaseException, run: str) -> str:
        """Return in one line why a database failed, with the journal of a run or empty."""

    def committed(self, run: str, events: int) -> None:  # noqa: B027  (servers count themselves)
        """Note how many events of a run are durable."""

    def sweep(self) -> None:  # noqa: B027  (only files can be left over)
        """Delete what killed processes left."""

    def check(self, connection: sa.Connection, run: str) -> int:
        """Check the database before reading; return the least number of events.

        Raises:
            JournalError: It is damaged.
        """
        return 0

    def summary(self, run: str) -> KeptRun:
        """Return header and last event of one run; without them where it cannot be read."""
        reading = self.failing(f"The journal {run} cannot be read", run)
        with suppress(JournalError), ExitStack() as opened, reading:
            connection = self._connect(run, opened)
            for summary in self._summaries(connection, _run.c.run == run):
                return summary
        return KeptRun(run, cast("JournalStore", self), None, None)

    def _summaries(
        self, connection: sa.Connection, *conditions: Any, newest: int = 0
    ) -> list[KeptRun]:
        """Read header and last event of runs, the oldest first; of many only the newest."""
        own = _event.alias()
        of_run = sa.select(own.c.seq).where(own.c.run == _run.c.run, own.c.n.is_(None))
        seq = of_run.order_by(own.c.seq.desc()).limit(1).scalar_subquery()
        its_last = (_event.c.run == _run.c.run) & (_event.c.seq == seq)
        order = "BINARY" if connection.dialect.name == "sqlite" else "C"
        query = (
            sa.select(_run.c.run, _run.c.header, _event.c.what, _event.c.at, _event.c.detail)
            .select_from(_run.outerjoin(_event, its_last))
            .where(*conditions)
            .order_by(_run.c.run.collate(order).desc())
            .limit(newest or None)
        )
        summaries = []
        for run, text, what, at, detail in connection.execute(query):
            header = event = None
            with suppress(JournalError, ValueError, TypeError, RecursionError):
                if what is not None:
                    datetime.fromisoformat(at)
                    event = JournalEvent(None, what, at, json.loads(detail))
                header = _header_from_json(text, run)
            last = None if header is None else event
            summaries.append(KeptRun(run, cast("JournalStore", self), header, last))
        return summaries[::-1]

    def read(self, run: str) -> Journal:
        """Open the journal of a run to be read. Its run may be at work.

        Raises:
            JournalError: It is not there, cannot be read, or is not what was written.
        """
        with ExitStack() as opened:
            with self.failing(f"The journal {run} cannot be used", run):
                connection = self._connect(run, opened)
            return Journal(self, run, connection, opened)

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
            why, damaged = self.why(error, run), bool(run) and self._is_damage(error)
        except (ValueError, TypeError, AttributeError) as error:
            if not run:
                raise
            why, damaged = str(error), True
        else:
            return
        raise (
            _make_damage_error(run, why) if damaged else JournalError(f"{what}: {why}.{end}")
        ) from None

    def _is_damage(self, error: BaseException) -> bool:
        """Return whether an error is one of the content, not of the database."""
        return False


def _write_changes(
    connection: sa.Connection, header: RunHeader, about: str, changes: Iterable[Change]
) -> None:
    """Write header and changes in one transaction, with a digest of both."""
    hashed, batch = sha256(about.encode()), list[dict[str, Any]]()
    with _transaction(connection):
        for n, (_, body) in enumerate(serialize_changes(changes)):
            hashed.update(b"\n" + body.encode())
            batch.append({"run": header.run, "n": n, "body": body})
            if len(batch) == _READ:
                connection.execute(sa.insert(_change), batch)
                batch.clear()
        if batch:
            connection.execute(sa.insert(_change), batch)
        row = {"run": header.run, "account": header.account, "header": about}
        connection.execute(sa.insert(_run), row | {"digest": hashed.hexdigest()})


def _check_version(connection: sa.Connection, what: str) -> bool:
    """Return whether there are tables of ours, and refuse those of another version."""
    if not sa.inspect(connection).has_table("chatkit_journals"):
        return False
    versions = connection.execute(sa.select(_journals.c.version)).scalars().all()
    if versions != [_VERSION]:
        raise JournalError(
            f"{what} has version {versions[0] if versions else 0} of the journal, and this "
            f"chatkit reads version {_VERSION}: use the chatkit that wrote it."
        )
    return True


# --- SQLite: a folder of this machine, a file for each run --------------------------------

#: How the files next to a journal end: SQLite's log and its index, and the number of events.
_ENDS = ("-wal", "-shm", "-count")
#: Errors that are no fault of the file: somebody else has it, or the disk does not answer.
_OUTSIDE = (*BUSY, "SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_PERM", "SQLITE_FULL")


class FolderStore(_Store):
    """A folder of this machine: each journal is a SQLite file in it, each lock a file.

    Args:
        folder: It is made when the first run begins.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.location = str(folder)

    def path(self, run: str) -> Path:
        """Return the file of a run's journal."""
        return self.folder / f"{run}.db"

    def runs(self) -> list[str]:
        """Return the names of the runs, the oldest first."""
        return sorted(path.stem for path in self.folder.glob("*.db"))

    def has(self, run: str) -> bool:
        """Return whether the run has a journal."""
        return self.path(run).exists()

    def summaries(self, newest: int = 0, account: str = "") -> list[KeptRun]:
        """Return header and last event of the runs, the oldest first.

        Args:
            newest: Look at so many runs, the newest, and no others; 0: at all.
            account: Of this account only.
        """
        summaries = map(self.summary, self.runs()[-newest:])
        # Another process may have deleted one in the meantime.
        kept = [each for each in summaries if each.header is not None or self.has(each.run)]
        return [
            each
            for each in kept
            if not account or (each.header is not None and each.header.account == account)
        ]

    @contextmanager
    def hold(self, accounts: Collection[str], run: str = "") -> Iterator[JournalStore]:
        """Hold the locks of accounts: the kernel frees them when this process dies.

        Args:
            accounts: In the words of a journal's header.
            run: The run that is going to work, which others are shown.

        Raises:
            AccountBusy: Another apply holds one; the text names it. It is not waited for.
            JournalError: Nothing can be locked there.
        """
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
            yield self

    def busy(self, account: str) -> bool:
        """Return whether an apply is at work on an account."""
        return is_account_busy(self.folder, account)

    def delete(self, run: str) -> None:
        """Delete a journal and what belongs to it: the file itself first."""
        _delete_files(self.path(run))

    def sweep(self) -> None:
        """Delete incomplete journals older than a day, left by killed processes."""
        for new in self.folder.glob("*.new*"):
            with suppress(FileNotFoundError):  # another process sweeps at the same time
                if new.stat().st_mtime < time.time() - 86_400:
                    new.unlink()

    def open(self, run: str) -> Journal:
        """Open the journal of a run to continue it, while its account is locked."""
        journal = self.read(run)
        journal.close()  # the log of a dead process is folded in only now that all is whole
        with ExitStack() as opened, self.failing(f"The journal {run} cannot be used", run):
            opened.callback(self._folded, run)
            os.close(os.open(self._count(run), os.O_CREAT | os.O_RDWR, 0o600))
            connection = opened.enter_context(
                _make_sqlite_engine(self.path(run), "rw", "WAL").connect()
            )
            # Parts of the log may be in memory alone; what is appended later would be lost with
            # them.
            if connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar():
                raise OSError("another process is reading it; try again")
            return journal.continue_on(connection, opened)

    def committed(self, run: str, events: int) -> None:
        """Keep the number of events in a file beside the journal, while that is written.

        It is written after each commit and never synced, so it costs next to nothing: after a
        power cut it may be behind, empty or gone, but it is never ahead of the journal.
        """
        self._count(run).write_bytes(b"%020d" % events)

    def _count(self, run: str) -> Path:
        """Return the path of the file that has the number of events."""
        return self.folder / f"{run}.db-count"

    def _folded(self, run: str) -> None:
        """Delete the event count, which is no longer needed once the log is merged."""
        if not (self.folder / f"{run}.db-wal").exists():
            self._count(run).unlink(missing_ok=True)

    def create(self, header: RunHeader, changes: Iterable[Change]) -> Journal:
        """Write header and changes to a new journal, while its account is locked.

        It is durable when this returns, and appears under its name as a whole or not at all.

        Args:
            header: What the run is; it has the number of changes.
            changes: They are taken one by one.

        Raises:
            InputError: JSON cannot hold one of the labels or values. Nothing is left of it.
            JournalError: It cannot be written. Nothing is left of it.
        """
        about, path = _header_to_json(header), self.path(header.run)
        new = path.with_suffix(".new")
        with self.failing(f"The journal of run {header.run} cannot be written", end=_UNSENT):
            make_folder(self.folder)
            if path.exists():
                raise FileExistsError(f"{path.name} is there already")
            _delete_files(new)  # of a process that died here: the account's lock is ours
            try:
                os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
                with ExitStack() as opened:
                    connection = opened.enter_context(
                        _make_sqlite_engine(new, "rw", "MEMORY").connect()
                    )
                    _metadata.create_all(connection)
                    connection.execute(sa.insert(_journals).values(version=_VERSION))
                    _write_changes(connection, header, about, changes)
                    set_durable_mode(connection.connection.driver_connection, wait=_WAIT)
                new = new.rename(path)
                sync_folder(self.folder)
            except BaseException:
                _delete_files(new)
                raise
        return self.open(header.run)

    def _connect(self, run: str, opened: ExitStack) -> sa.Connection:
        path = self.path(run)
        log = path.with_name(path.name + "-wal")
        for again in (True, True, False):
            # The log that a dead process left is not folded in before all is known to be whole.
            mode = "ro" if log.exists() else "rw"
            with ExitStack() as tried:
                try:
                    connection = tried.enter_context(_make_sqlite_engine(path, mode).connect())
                    known = _check_version(connection, f"The journal {path.name}")
                except DBAPIError as error:
                    moved = log.exists() != (mode == "ro")
                    outside = not self._is_damage(error) and not is_busy(error.orig)
                    if not again or not path.exists() or not (moved or outside):
                        raise
                    sleep_briefly()  # its writer opens or closes it in this moment
                    continue
                opened.push(tried.pop_all())
            break
        if not known:
            raise JournalError(
                f"{path.name} is not a chatkit journal. chatkit.runs() lists the runs."
            )
        return connection

    def check(self, connection: sa.Connection, run: str) -> int:
        """Check all pages of the file; return how many events were counted beside it."""
        least = 0
        with suppress(OSError, ValueError):  # before the journal is read, which may be growing
            least = int(self._count(run).read_bytes())
        if (finding := connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()) != "ok":
            raise _make_damage_error(run, str(finding).splitlines()[-1])
        return least

    def _is_damage(self, error: BaseException) -> bool:
        name = getattr(getattr(error, "orig", error), "sqlite_errorname", "")
        return not isinstance(error, OSError) and not name.startswith(_OUTSIDE)

    def why(self, error: BaseException, run: str) -> str:
        """Return in one line why the file could not be used."""
        error = getattr(error, "orig", None) or error
        if is_busy(error):
            return (
                f"another process is using it and did not let go of it for {_WAIT:g} seconds; "
                "try again when that process has ended"
            )
        gone = bool(run) and not self.has(run)  # SQLite may have opened it before
        if gone or getattr(error, "sqlite_errorname", "") == "SQLITE_CANTOPEN":
            return "it has been deleted in the meantime, or the folder cannot be read"
        return str(error) or type(error).__name__


def _make_sqlite_engine(path: Path, mode: str, journal_mode: str = "") -> sa.Engine:
    """Return an engine for a file that is there, to read ("ro") or to read and write ("rw")."""

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True, isolation_level=None, check_same_thread=False, timeout=_WAIT,
        )  # fmt: skip
        if journal_mode:
            set_durable_mode(connection, journal_mode, wait=_WAIT)
        return connection

    return sa.create_engine(
        "sqlite://", creator=connect, poolclass=sa.NullPool,
        isolation_level="AUTOCOMMIT", hide_parameters=True,
    )  # fmt: skip


def _delete_files(path: Path) -> None:
    """Delete a journal file with the files beside it."""
    for end in ("", *_ENDS):
        path.with_name(path.name + end).unlink(missing_ok=True)


# --- PostgreSQL: a database that a team or a cluster shares -------------------------------

_MAKING = 0x63686A6C  # any number: one process at a time makes the tables of a database
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


class DatabaseStore(_Store):
    """A PostgreSQL database of journals. libpq's own means work: PGPASSFILE, PGPASSWORD and so on.

    Args:
        address: `postgresql://user@host:port/name`. It never shows its password.

    Raises:
        InputError: It is no such address, or the driver is missing.
    """

    #: Passwords that addresses of this process had, by the address without it.
    _passwords: ClassVar[dict[str, Secret]] = {}
    _session: sa.Connection  #: that holds the locks of accounts; what is written goes over it

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

    def runs(self) -> list[str]:
        """Return the names of the runs, the oldest first."""
        return [summary.run for summary in self.summaries()]

    def has(self, run: str) -> bool:
        """Return whether the run has a journal."""
        with self._reading() as connection:
            known = _check_version(connection, self.location)
            return known and bool(self._summaries(connection, _run.c.run == run))

    def summaries(self, newest: int = 0, account: str = "") -> list[KeptRun]:
        """Return header and last event of the runs, as `FolderStore.summaries` does."""
        conditions = [_run.c.account == account] if account else []
        with self._reading() as connection:
            known = _check_version(connection, self.location)
            return self._summaries(connection, *conditions, newest=newest) if known else []

    @contextmanager
    def hold(self, accounts: Collection[str], run: str = "") -> Iterator[JournalStore]:
        """Hold the locks of accounts: the server frees them when this session ends."""
        with ExitStack() as opened:
            with self.failing(f"The journals in {self.location} cannot be reached"):
                connection = opened.enter_context(self._engine.connect())
                process = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
                driver: Any = connection.connection.driver_connection
                if driver.info.backend_pid != process:
                    raise JournalError(
                        f"{self.location} is a proxy that shares its connections between sessions, "
                        "where no lock of an account can be held. Use the address of the server "
                        "itself. Nothing was sent."
                    )
                self._make_tables(connection)
                name = f"{run or 'no run'} on {platform.node()}"[:63]
                connection.execute(sa.select(sa.func.set_config("application_name", name, False)))
                for account in sorted(accounts):
                    self._lock(connection, account)
            held = copy(self)
            held._session = connection
            yield held

    def _make_tables(self, connection: sa.Connection) -> None:
        """Create the tables of journals where there are none."""
        if _check_version(connection, self.location):
            return
        with _transaction(connection):
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MAKING)))
            if not sa.inspect(connection).has_table("chatkit_journals"):
                _metadata.create_all(connection)
                connection.execute(sa.insert(_journals).values(version=_VERSION))

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
        with self._reading() as connection:
            return bool(self._holders(connection, account))

    def delete(self, run: str) -> None:
        """Delete the journal of a run."""
        with self._reading() as connection, _transaction(connection):
            for table in (_run, _change, _event):
                connection.execute(sa.delete(table).where(table.c.run == run))

    def open(self, run: str) -> Journal:
        """Open the journal of a run to continue it."""
        closes = ExitStack()  # nothing: `hold` closes the session
        return Journal(self, run, self._session, closes).continue_on(self._session, closes)

    def create(self, header: RunHeader, changes: Iterable[Change]) -> Journal:
        """Write header and changes to a new journal, as `FolderStore.create` does."""
        about = _header_to_json(header)
        with self.failing(f"The journal of run {header.run} cannot be written", end=_UNSENT):
            _write_changes(self._session, header, about, changes)
        return self.open(header.run)

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        """Connect to the database for a block; its errors become journal errors."""
        with (
            self.failing(f"The journals in {self.location} cannot be reached"),
            self._engine.connect() as connection,
        ):
            yield connection

    def _connect(self, run: str, opened: ExitStack) -> sa.Connection:
        connection = opened.enter_context(self._engine.connect())
        connection.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if not _check_version(connection, self.location):
            raise JournalError(f"There is no journal in {self.location}.")
        return connection

    def why(self, error: BaseException, run: str) -> str:
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


#: A home of journals.
JournalStore = FolderStore | DatabaseStore
#: What `at=` takes: an address of PostgreSQL, the path of a folder, or a store.
At = str | Path | Secret | JournalStore
