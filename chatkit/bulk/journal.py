"""Journal: what one run means to do and what came of it, on disk before anything is sent.

Journals hold names and numbers of people, so they are for their owner alone (0600 in 0700),
and never beside a notebook. They hold no secret: whoever writes passes none.

A journal is one SQLite file with a write-ahead log and `synchronous=FULL`. What SQLite cannot
see by itself is watched here, so that no journal is ever shorter or other than it was without
an error:

- the SHA-256 of header and changes stands beside them;
- events are numbered without a gap, and each carries a checksum over all before it;
- while it is written, a small file beside it says how many events it holds at least: SQLite
  takes the beginning of a log that was damaged in its middle, or lost, for the whole.

The last group of a log that was damaged before that small file reached the disk cannot be
told from a group that a power cut tore: it is taken as never committed.

The file has a schema version (`PRAGMA user_version`). A journal of another schema is refused.
"""

from __future__ import annotations

import getpass
import json
import os
import random
import re
import secrets
import shutil
import sqlite3
import sys
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, Self
from zlib import crc32

import msgspec

from chatkit.bulk.changes import NOT_JSON, Change, change_texts
from chatkit.errors import InputError, JournalError
from chatkit.lock import make_folder, sync_folder


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class RunHeader:
    """What a run is: all that is needed to go on without a frame in memory."""

    run: str  #: its name, which is the plan's too; see `run_id`
    hash: str  #: the plan's SHA-256
    account: str  #: which account, in the caller's words: address, id, instance
    connection: str | None  #: the name of the connection, if it has one
    noun: str  #: contact, flow, content or webhook; account: each change says its own
    names: tuple[str | None, ...]  #: the names of the levels of the frame's index
    known: tuple[int, ...]  #: the ids that were there when it was planned
    changes: int  #: how many there are
    undoes: str | None = None  #: the run that this one undoes
    started: str = field(default_factory=_now)  #: ISO 8601, UTC
    version: str = field(default_factory=lambda: metadata.version("chatkit"))
    known_by: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Of a run for the account: the ids that were there, by noun."""
    totals: dict[str, int] = field(default_factory=dict)
    """How many records there were when it was planned, by noun; empty in old ones."""
    fleet: tuple[str, str] | None = None
    """The run of a fleet that it is a part of, and what its account is called there."""
    fleet_of: tuple[str, ...] = ()
    """What all accounts of that run are called, in the order of their runs; empty in old ones."""
    by: str = ""
    """Who began it, as `person` names them; empty in old ones."""


class JournalEvent(NamedTuple):
    """One thing that happened: to change number `n`, or to the run itself (None)."""

    n: int | None
    what: str
    at: str  #: ISO 8601, UTC
    detail: dict[str, Any]


def is_finished(last: JournalEvent | None) -> bool:
    """Whether a run has come to its end, by the last event of the run as a whole."""
    return last is not None and last.what == "finished"


class Glance(NamedTuple):
    """What a glance at a journal tells."""

    run: str
    header: RunHeader | None  #: None: it cannot be read
    last: JournalEvent | None  #: the last event of the run as a whole


def run_id() -> str:
    """Name a new run. Names sort by time, to a quarter of a millisecond."""
    now = datetime.now(UTC)
    fraction = now.microsecond * 4096 // 1_000_000
    return f"{now:%Y%m%d-%H%M%S}-{fraction:03x}{secrets.randbelow(4096):03x}"


#: Characters of a person's name; a token is longer.
_LONGEST_NAME = 40


def person() -> str:
    """Name who is at work: CHATKIT_USER if it is set, else the user of the operating system.

    It is a short name, never an address: of one the part before the @ counts. It is empty where
    nobody can be named.
    """
    name = os.environ.get("CHATKIT_USER", "").strip()
    if not name:
        try:
            name = getpass.getuser()
        except (OSError, KeyError, ImportError):  # a user without a name, as in some containers
            return ""
    name = " ".join(name.partition("@")[0].split())
    return name if len(name) <= _LONGEST_NAME else ""


# --- the journal of one run ------------------------------------------------------------

#: So many changes or events are read at once.
_READ = 2000


class Journal(ABC):
    """The journal of one run, wherever it is kept. One thread at a time may use it.

    What is noted waits in memory until it is committed as a group; after a commit that failed
    nothing more is written. A home of journals says how its own are read and how a group is made
    durable there: `FileJournal` below, `chatkit.bulk.postgres.PostgresJournal`.

    Args:
        reading: Only read it. Its run may be at work; nothing is written.
    """

    header: RunHeader
    _events: int  #: how many it holds, with those that wait
    _chain: int  #: the checksum of the last

    def __init__(self, *, reading: bool = False) -> None:
        self._pending: list[tuple[int, int | None, str, str, str, int]] = []
        self._stopped = "it was opened to be read" if reading else ""

    # --- what each home does ---

    @abstractmethod
    def _bodies(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, str]]:
        """Read changes as JSON, each with its number."""

    @abstractmethod
    def _bodies_of(self, numbers: Sequence[int]) -> list[tuple[int, str]]:
        """Read the changes of some numbers, not more than `_READ`, as JSON."""

    @abstractmethod
    def _kept_events(self) -> Iterator[tuple[Any, ...]]:
        """Read the events that are committed, in order: number, change, what, at and detail."""

    @abstractmethod
    def _append(self, events: Sequence[tuple[Any, ...]]) -> None:
        """Make events durable, as one group."""

    @abstractmethod
    def _why(self, error: BaseException) -> str:
        """Say why it cannot be written, if its home failed; empty if something else did."""

    @abstractmethod
    def _release(self) -> None:
        """Let go of what it holds."""

    # --- what holds for all of them ---

    def changes(self, start: int = 0, stop: int | None = None) -> Iterator[Change]:
        """Read changes of the run one by one, in the order of the plan.

        Args:
            start: The number of the first.
            stop: The number of the one after the last; None for all.
        """
        for n, body in self._bodies(start, stop):
            yield self._change(n, body)

    def changes_of(self, numbers: Sequence[int]) -> Iterator[tuple[int, Change]]:
        """Read the changes of some numbers, each with its own, the lowest first."""
        for first in range(0, len(numbers), _READ):
            for n, body in self._bodies_of(numbers[first : first + _READ]):
                yield n, self._change(n, body)

    def _change(self, n: int, body: str) -> Change:
        try:
            return Change.from_json(msgspec.json.decode(body))
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise JournalError(
                f"The journal of run {self.header.run} is damaged: change {n + 1} cannot be read. "
                "Plan again from a fresh frame: a plan is compared with what is live."
            ) from error

    def events(self) -> Iterator[JournalEvent]:
        """Read the events that are committed, in order."""
        for _, n, what, at, text, *_ in self._kept_events():
            yield JournalEvent(n, what, at, detail_from_json(text))

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
        at = _now()
        text = detail_as_json(detail)
        self._events += 1
        self._chain = link(self._chain, n, what, at, text)
        self._pending.append((self._events, n, what, at, text, self._chain))

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
            self._append(self._pending)
        except BaseException as error:
            why = self._why(error)
            self._stopped = why or str(error) or type(error).__name__
            if why:
                self._check(error)
            raise
        self._pending.clear()

    def _check(self, cause: BaseException | None = None) -> None:
        if self._stopped:
            run = self.header.run
            raise JournalError(
                f"The journal of run {run} cannot be written: {self._stopped}. Nothing more is "
                f"recorded or sent. When the cause is gone, chatkit.resume({run!r}) finds out "
                "what landed and goes on."
            ) from cause

    def close(self) -> None:
        """Commit what is pending, unless a commit failed before, and let go of it."""
        try:
            if not self._stopped:
                self.commit()
                self._stopped = "it is closed"
        finally:
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class FileJournal(Journal):
    """The journal of one run in a SQLite file. When it is closed it is one single file.

    Args:
        path: The file.
        reading: Only read it. Its run may be at work; nothing is written or folded in.

    Raises:
        JournalError: It is no journal, cannot be read, or is not what was written.
    """

    _db: sqlite3.Connection

    def __init__(self, path: Path, *, reading: bool = False) -> None:
        super().__init__(reading=reading)
        self.path = path
        self._files = ExitStack()
        weakref.finalize(self, self._files.close)
        try:
            self._open(reading)
        except BaseException as error:
            self._files.close()
            if isinstance(error, sqlite3.Error | OSError):
                why = _why_unusable(error, path)
                raise JournalError(f"The journal {path.name} cannot be used: {why}.") from error
            raise

    @classmethod
    def open(cls, path: Path, *, reading: bool = False) -> Self:
        """Open a journal to continue it, or only to read it."""
        return cls(path, reading=reading)

    @classmethod
    def create(cls, folder: Path, header: RunHeader, changes: Iterable[Change]) -> Self:
        """Write header and changes to a new journal. It is durable when this returns.

        Args:
            folder: Where it will lie.
            header: What the run is; it tells how many changes there are.
            changes: They are taken one by one.

        Raises:
            InputError: JSON cannot hold one of the labels or values. Nothing is left of it.
            JournalError: The disk is full or fails. Nothing is left of it.
        """
        about = header_as_json(header)
        path = folder / f"{header.run}.db"
        try:
            _check_space(folder, 0, header.changes)
            make_folder(folder)
            write_file(path, about, (text for _, text in change_texts(changes)))
        except (OSError, sqlite3.Error) as error:
            raise JournalError(
                f"The journal of run {header.run} cannot be written: "
                f"{_why_unusable(error, path)}. Nothing was sent."
            ) from error
        return cls(path)

    def _open(self, reading: bool) -> None:
        least = counted_events(self.path)  # before the journal, which may be growing
        # The log that a dead process left is folded in only when all is known to be whole.
        left = beside(self.path, "-wal").exists()
        self._connect("ro" if left else "rw")
        content = verified(self._db, self.path)
        self.header = header_from_json(content.header, self.path)
        self._events, self._chain = content.events, content.chain
        if content.events < least:
            found = f"it holds {content.events} events, and {least} were committed"
            raise damaged(self.path, found)
        if not reading:
            self._files.close()
            self._note = self._files.enter_context(counting(self.path))
            self._connect("rw")
            prepare(self._db)
            _fold_log(self._db)

    def _connect(self, mode: str) -> None:
        self._db = self._files.enter_context(closing(connected(self.path, mode)))

    def _bodies(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, str]]:
        query = "SELECT n, body FROM change WHERE n >= ? AND n < ? ORDER BY n LIMIT ?"
        last = sys.maxsize if stop is None else stop
        while rows := self._db.execute(query, (start, last, _READ)).fetchall():
            yield from rows
            start = rows[-1][0] + 1

    def _bodies_of(self, numbers: Sequence[int]) -> list[tuple[int, str]]:
        marks = ", ".join("?" * len(numbers))
        query = f"SELECT n, body FROM change WHERE n IN ({marks}) ORDER BY n"  # noqa: S608
        return self._db.execute(query, list(numbers)).fetchall()

    def _kept_events(self) -> Iterator[tuple[Any, ...]]:
        last = 0
        query = "SELECT seq, n, what, at, detail FROM event WHERE seq > ? ORDER BY seq LIMIT ?"
        while rows := self._db.execute(query, (last, _READ)).fetchall():
            yield from rows
            last = rows[-1][0]

    def _append(self, events: Sequence[tuple[Any, ...]]) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)", events)
            self._db.execute("COMMIT")
            self._note(self._events)
        except BaseException:
            with suppress(sqlite3.Error):  # the failure may have ended the transaction
                self._db.execute("ROLLBACK")
            raise

    def _why(self, error: BaseException) -> str:
        return _why_unusable(error, self.path) if isinstance(error, sqlite3.Error | OSError) else ""

    def _release(self) -> None:
        self._files.close()


def header_as_json(header: RunHeader) -> str:
    """Write a header as JSON. It must be as it was when it is read again."""
    if not re.fullmatch("[0-9a-z-]+", header.run):
        raise InputError(f"A run cannot be called {header.run!r}: run_id() makes names.")
    try:
        text = msgspec.json.encode(header).decode()
        msgspec.json.decode(text, type=RunHeader)  # of the types that it declares
    except (TypeError, ValueError, msgspec.MsgspecError) as error:  # not each is a ValueError
        raise InputError(f"The run cannot be written as JSON, nothing was sent: {error}") from None
    return text


def header_from_json(text: str, path: Path) -> RunHeader:
    """Read what `header_as_json` wrote; `path` names the journal if it is damaged."""
    try:
        header = msgspec.json.decode(text, type=RunHeader)
        datetime.fromisoformat(header.started)
        return header
    except (ValueError, RecursionError) as error:
        raise damaged(path, f"its header cannot be read ({error})") from error


def glance(path: Path) -> tuple[RunHeader, JournalEvent | None]:
    """Read a header and the last event of the run as a whole, for a list; the rest unseen.

    Raises:
        JournalError: It is no journal, or cannot be read.
    """
    query = "SELECT n, what, at, detail FROM event WHERE n IS NULL ORDER BY seq DESC LIMIT 1"
    left = beside(path, "-wal").exists()
    try:
        with closing(connected(path, "ro" if left else "rw")) as connection:
            header = header_from_json(_header_of(connection, path), path)
            last = connection.execute(query).fetchone()
    except sqlite3.Error as error:
        why = _why_unusable(error, path)
        raise JournalError(f"The journal {path.name} cannot be read: {why}.") from error
    if last is None:
        return header, None
    n, what, at, text = last
    try:
        datetime.fromisoformat(at)
        return header, JournalEvent(n, what, at, detail_from_json(text))
    except (ValueError, TypeError, RecursionError) as error:
        raise damaged(path, f"its last event cannot be read ({error})") from error


# --- its file, and whether that is still what was written ------------------------------

_APPLICATION = 0x63686A6C  # marks a file as ours: the letters "chjl"
_SCHEMA = 2
_TABLES = (
    "CREATE TABLE run (header TEXT NOT NULL, seal TEXT NOT NULL)",
    "CREATE TABLE change (n INTEGER PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE event (seq INTEGER PRIMARY KEY, n INTEGER, what TEXT NOT NULL,"
    " at TEXT NOT NULL, detail TEXT NOT NULL, chain INTEGER NOT NULL)",
    # The last event of a run itself is looked up whenever runs are listed.
    "CREATE INDEX event_of_run ON event (seq) WHERE n IS NULL",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_SCHEMA}",
)

#: How the files beside a journal end: SQLite's log and its index, and the count of events.
ENDS = ("-wal", "-shm", "-count")
#: Errors that say nothing about the file: somebody else has it, or the disk does not answer.
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")
_OUTSIDE = (*_BUSY, "SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_PERM")
_WAIT = 10.0  #: seconds for another process that has a file just now


class JournalContent(NamedTuple):
    """What a whole journal holds: its header, and how much of the rest."""

    header: str
    changes: int
    events: int
    chain: int


def beside(path: Path, end: str) -> Path:
    """Name a file beside a journal by how it ends."""
    return path.with_name(path.name + end)


def connected(path: Path, mode: str = "rw") -> sqlite3.Connection:
    """Open a file that is there, to read ("ro") or to read and write."""
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,  # BEGIN and COMMIT are ours
        check_same_thread=False,
        timeout=_WAIT,
    )


def _check_space(folder: Path, size: int, changes: int) -> None:
    """Refuse to begin a run whose journal would fill the disk.

    Args:
        folder: Where it will lie.
        size: The bytes of header and changes that are written already.
        changes: How many there are; each is followed by a few events, one of which may
            repeat it.
    """
    place = next(place for place in (folder, *folder.parents) if place.exists())
    free, needed = shutil.disk_usage(place).free, size + 1000 * changes + 16_000_000
    if free < needed:
        raise JournalError(
            f"The disk of {folder} has {free / 1e6:,.0f} MB free, and the journal of this run "
            f"may take {needed / 1e6:,.0f} MB. Free some there, or set CHATKIT_DATA to a folder "
            "on another disk. Nothing was sent."
        )


def write_file(path: Path, header: str, bodies: Iterable[str]) -> None:
    """Write a new journal. It appears under its name as a whole or not at all.

    It is durable when this returns; when it raises, nothing is left of it.
    """
    new = path.with_suffix(".new")
    delete_files(new)  # of a process that died here: the account's lock is ours
    os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        if path.exists():
            raise FileExistsError(f"{path.name} is there already")
        with closing(connected(new, "rw")) as connection:
            changes = _write_tables(connection, header, bodies)
        _check_space(path.parent, new.stat().st_size, changes)
        new.rename(path)
    except BaseException:
        delete_files(new)
        raise
    try:
        sync_folder(path.parent)
    except BaseException:
        delete_files(path)
        raise


def _write_tables(connection: sqlite3.Connection, header: str, bodies: Iterable[str]) -> int:
    """Write header and changes, sealed; return how many changes there are."""
    run = connection.execute
    prepare(connection, "MEMORY")  # half of it would never get the name of a journal
    run("BEGIN")
    for statement in _TABLES:
        run(statement)
    seal = Seal(header)
    connection.executemany("INSERT INTO change VALUES (?, ?)", enumerate(seal.over(bodies)))
    run("INSERT INTO run VALUES (?, ?)", (header, seal.hash))
    run("COMMIT")
    prepare(connection)
    return seal.count


def delete_files(path: Path) -> None:
    """Delete a journal and what belongs to it: the file itself first, so that no part stays."""
    for end in ("", *ENDS):
        beside(path, end).unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Delete what a killed process left: half a new journal, or files beside a deleted one."""
    yesterday = time.time() - 86_400
    for end in (".new", *ENDS):
        for file in folder.glob(f"*{end}"):
            whole = file.with_name(file.name.removesuffix(end))
            with suppress(FileNotFoundError):  # another process sweeps at the same time
                if not whole.exists() and file.stat().st_mtime < yesterday:
                    file.unlink(missing_ok=True)


def prepare(connection: sqlite3.Connection, mode: str = "WAL", wait: float = _WAIT) -> None:
    """Set what makes a commit durable.

    SQLite's own timeout does not hold for the switch to a write-ahead log: while another
    process has the file, the answer is "locked" at once. It is asked again.

    Args:
        connection: To any SQLite file; no transaction is open.
        mode: The journal mode of SQLite.
        wait: Seconds until "locked" is final.
    """
    deadline = time.monotonic() + wait
    while True:
        try:
            connection.execute(f"PRAGMA journal_mode = {mode}").fetchone()
            break
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() >= deadline:
                raise
            pause()
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: into the disk, not only to its cache


def pause() -> None:
    """Wait a moment, never as long as another process that waits for the same."""
    time.sleep(random.uniform(0.002, 0.02))  # noqa: S311  (no secret)


def is_busy(error: object) -> bool:
    """Tell whether SQLite failed only because another process has the file."""
    return getattr(error, "sqlite_errorname", "").startswith(_BUSY)


def _why_unusable(error: Exception, path: Path) -> str:
    """Say why a journal could not be used, in words for the person who needs it."""
    if is_busy(error):
        return (
            f"another process is using it and did not let go of it for {_WAIT:g} seconds; "
            "try again when that process has ended"
        )
    if isinstance(error, sqlite3.Error) and not path.exists():
        return "it has been deleted in the meantime"
    return str(error)


def _fold_log(connection: sqlite3.Connection) -> None:
    """Copy the log that a dead process left into the database, and sync that.

    Parts of the log may be in memory alone, of a group that was not synced or could not be.
    What is appended later would be lost with them.
    """
    (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise sqlite3.OperationalError("another process is reading it; try again")


def _header_of(connection: sqlite3.Connection, path: Path) -> str:
    """Read the header, unverified, once the file is known to be a journal of ours."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != _APPLICATION:
        raise JournalError(
            f"{path.name} is not a chatkit journal. chatkit.runs() lists the runs there are."
        )
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    if schema != _SCHEMA:
        raise JournalError(
            f"The journal {path.name} has schema {schema}, and this version of chatkit reads "
            f"schema {_SCHEMA}: use the version that wrote it."
        )
    for (header,) in connection.execute("SELECT header FROM run"):
        return str(header)
    raise damaged(path, "it has no header")


def verified(connection: sqlite3.Connection, path: Path) -> JournalContent:
    """Read all of a journal and make sure that it is what was written.

    Raises:
        JournalError: It is not, or its schema is another one.
    """
    run = connection.execute
    try:
        header = _header_of(connection, path)
        for (finding,) in run("PRAGMA quick_check(1)"):
            if finding != "ok":
                raise damaged(path, finding.splitlines()[-1])
        (seal,) = run("SELECT seal FROM run").fetchone()
        bodies = (body for (body,) in run("SELECT body FROM change ORDER BY n"))
        return content_of(path, header, seal, bodies, run("SELECT * FROM event ORDER BY seq"))
    except (sqlite3.Error, ValueError, TypeError, AttributeError) as error:
        if getattr(error, "sqlite_errorname", "").startswith(_OUTSIDE):
            raise
        raise damaged(path, str(error)) from error


def content_of(
    path: Path, header: str, seal: str, bodies: Iterable[str], events: Iterable[tuple[Any, ...]]
) -> JournalContent:
    """Read what a journal holds, and make sure that it is what was written.

    Args:
        path: Names it if it is damaged.
        header: As JSON.
        seal: The hash that stands beside it.
        bodies: The changes as JSON, in their order.
        events: In their order: number, change, what, at, detail and checksum.

    Raises:
        JournalError: It is not.
    """
    found = Seal(header)
    for _ in found.over(bodies):
        pass
    if found.hash != seal:
        raise damaged(path, "its changes are not those that were written")
    count, chain = 0, _first_link(seal)
    for seq, n, what, at, detail, kept in events:
        count += 1
        chain = link(chain, n, what, at, detail)
        if (seq, chain) != (count, kept):
            raise damaged(path, f"event {count} is not as it was written")
    return JournalContent(header, found.count, count, chain)


def damaged(path: Path, finding: str) -> JournalError:
    """Say that a journal cannot be trusted, and what to do without it."""
    return JournalError(
        f"The journal {path.name} is damaged: {finding}. It is not continued, and it is left as "
        "it is. Plan again from a fresh frame: a plan is compared with what is live."
    )


class Seal:
    """The SHA-256 of a header and the changes after it, as they go by.

    Args:
        header: As JSON.
    """

    def __init__(self, header: str) -> None:
        self._digest = sha256(header.encode())
        self.count = 0  #: how many changes went by

    def over(self, bodies: Iterable[str]) -> Iterator[str]:
        """Yield changes as JSON, and take each in."""
        for body in bodies:
            self._digest.update(b"\n" + body.encode())
            self.count += 1
            yield body

    @property
    def hash(self) -> str:
        """The hash of what went by so far."""
        return self._digest.hexdigest()


def _first_link(seal: str) -> int:
    """Tie the first event to the changes, so that no event belongs to another run."""
    return int(seal[:8], 16)


def link(chain: int, n: int | None, what: str, at: str, detail: str) -> int:
    """Compute the checksum of an event from that of the one before."""
    return crc32(f"{n} {what} {at} {detail}".encode(), chain)


@contextmanager
def counting(path: Path) -> Iterator[Callable[[int], None]]:
    """Keep the file that says how many events a journal holds at least, while it is written.

    It is written after each commit and never synced, so it costs next to nothing: after a
    power cut it may be behind, empty or gone, but it is never ahead of the journal. Once the
    log is folded into the journal, it has done its work.
    """
    count = beside(path, "-count")
    with open(os.open(count, os.O_CREAT | os.O_RDWR, 0o600), "r+b", buffering=0) as file:

        def note(events: int) -> None:
            file.seek(0)
            file.write(b"%020d" % events)

        yield note
    if not beside(path, "-wal").exists():
        count.unlink(missing_ok=True)


def counted_events(path: Path) -> int:
    """Tell how many events a journal holds at least, as the file beside it says."""
    try:
        return int(beside(path, "-count").read_bytes())
    except (OSError, ValueError):
        return 0


def detail_as_json(detail: Mapping[str, object]) -> str:
    """Write what is said of an event. What JSON cannot hold becomes text: it has happened."""
    try:
        return msgspec.json.encode(detail).decode()
    except NOT_JSON:
        return json.dumps(detail, default=str)


def detail_from_json(text: str) -> dict[str, Any]:
    """Read what `detail_as_json` wrote."""
    try:
        read: dict[str, Any] = msgspec.json.decode(text)
    except msgspec.DecodeError:  # it has half characters, which only the other reader takes
        read = json.loads(text)
    return read
