"""Journal: what one run means to do and what came of it, on disk before anything is sent.

Journals hold names and numbers of people, so they are for their owner alone (0600 in 0700),
and never beside a notebook. They hold no secret: whoever writes passes none.
"""

from __future__ import annotations

import os
import re
import secrets
import sqlite3
import weakref
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec

from chatkit import temporary
from chatkit.bulk import journalfile, jsontext
from chatkit.bulk.change import Change
from chatkit.bulk.lock import busy, lock
from chatkit.errors import InputError, JournalError

#: So many journals, the latest, are looked at for a run that was interrupted.
_GLANCES = 50


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class Header:
    """What a run is: all that is needed to go on without a frame in memory."""

    run: str  #: its name, which is the plan's too; see `run_id`
    hash: str  #: the plan's SHA-256
    account: str  #: which account, in the caller's words: address, id, instance
    connection: str | None  #: the name of the connection, if it has one
    noun: str  #: contact, flow, content or webhook
    names: tuple[str | None, ...]  #: the names of the levels of the frame's index
    known: tuple[int, ...]  #: the ids that were there when it was planned
    changes: int  #: how many there are
    undoes: str | None = None  #: the run that this one undoes
    started: str = field(default_factory=_now)  #: ISO 8601, UTC
    version: str = field(default_factory=lambda: metadata.version("chatkit"))


class Event(NamedTuple):
    """One thing that happened: to change number `n`, or to the run itself (None)."""

    n: int | None
    what: str
    at: str  #: ISO 8601, UTC
    detail: dict[str, Any]


def run_id() -> str:
    """Name a new run. Names sort by time, to a quarter of a millisecond."""
    now = datetime.now(UTC)
    fraction = now.microsecond * 4096 // 1_000_000
    return f"{now:%Y%m%d-%H%M%S}-{fraction:03x}{secrets.randbelow(4096):03x}"


class Journal:
    """The journal of one run. One thread at a time may use it.

    Args:
        path: The file.
        reading: Only read it. Its run may be at work; nothing is written or folded in.

    Raises:
        JournalError: It is no journal, cannot be read, or is not what was written.
    """

    def __init__(self, path: Path, *, reading: bool = False) -> None:
        self.path = path
        self._pending: list[tuple[int, int | None, str, str, str, int]] = []
        self._stopped = "it was opened to be read" if reading else ""
        self._files = ExitStack()
        weakref.finalize(self, self._files.close)
        try:
            self._open(reading)
        except BaseException as error:
            self._files.close()
            if isinstance(error, sqlite3.Error | OSError):
                why = journalfile.reason(error, path)
                raise JournalError(f"The journal {path.name} cannot be used: {why}.") from error
            raise

    @classmethod
    def open(cls, path: Path, *, reading: bool = False) -> Self:
        """Open a journal to continue it, or only to read it."""
        return cls(path, reading=reading)

    @classmethod
    def create(cls, folder: Path, header: Header, changes: Sequence[Change]) -> Self:
        """Write header and changes to a new journal. It is durable when this returns.

        Raises:
            InputError: JSON cannot hold one of the labels or values. Nothing was written.
            JournalError: The disk is full or fails. Nothing is left of it.
        """
        about, bodies = _text(header), jsontext.of_changes(changes)
        path = folder / f"{header.run}.db"
        try:
            journalfile.check_space(folder, len(about) + sum(map(len, bodies)), len(bodies))
            journalfile.make_folder(folder)
            journalfile.fill(path, about, bodies)
        except (OSError, sqlite3.Error) as error:
            raise JournalError(
                f"The journal of run {header.run} cannot be written: "
                f"{journalfile.reason(error, path)}. Nothing was sent."
            ) from error
        return cls(path)

    def _open(self, reading: bool) -> None:
        least = journalfile.counted(self.path)  # before the journal, which may be growing
        # The log that a dead process left is folded in only when all is known to be whole.
        left = journalfile.beside(self.path, "-wal").exists()
        self._connect("ro" if left else "rw")
        content = journalfile.verified(self._db, self.path)
        self.header = _header(content.header, self.path)
        self._events, self._chain = content.events, content.chain
        if content.events < least:
            found = f"it holds {content.events} events, and {least} were committed"
            raise journalfile.damaged(self.path, found)
        if not reading:
            self._files.close()
            self._note = self._files.enter_context(journalfile.counting(self.path))
            self._connect("rw")
            journalfile.prepare(self._db)
            journalfile.fold(self._db)

    def _connect(self, mode: str) -> None:
        self._db = self._files.enter_context(closing(journalfile.connected(self.path, mode)))

    def changes(self) -> list[Change]:
        """Read the changes of the run, in the order of the plan."""
        rows = self._db.execute("SELECT body FROM change ORDER BY n")
        return [Change.from_json(msgspec.json.decode(body)) for (body,) in rows]

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
        text = jsontext.of_detail(detail)
        self._events += 1
        self._chain = journalfile.link(self._chain, n, what, at, text)
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
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)", self._pending)
            self._db.execute("COMMIT")
            self._note(self._events)
        except BaseException as error:
            self._stopped = str(error) or type(error).__name__
            with suppress(sqlite3.Error):  # the failure may have ended the transaction
                self._db.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error | OSError):
                self._stopped = journalfile.reason(error, self.path)
                self._check(error)
            raise
        self._pending.clear()

    def _check(self, cause: Exception | None = None) -> None:
        if self._stopped:
            run = self.header.run
            raise JournalError(
                f"The journal of run {run} cannot be written: {self._stopped}. Nothing more is "
                f"recorded or sent. When the cause is gone, chatkit.resume({run!r}) finds out "
                "what landed and goes on."
            ) from cause

    def events(self) -> Iterator[Event]:
        """Read the events that are committed, in order."""
        last = 0
        query = "SELECT seq, n, what, at, detail FROM event WHERE seq > ? ORDER BY seq LIMIT 5000"
        while rows := self._db.execute(query, (last,)).fetchall():
            for _, n, what, at, text in rows:
                yield Event(n, what, at, jsontext.detail(text))
            last = rows[-1][0]

    def close(self) -> None:
        """Commit what is pending, unless a commit failed before, and leave one single file."""
        try:
            if not self._stopped:
                self.commit()
                self._stopped = "it is closed"
        finally:
            self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _text(header: Header) -> str:
    """Write a header as JSON. It must be as it was when it is read again."""
    if not re.fullmatch("[0-9a-z-]+", header.run):
        raise InputError(f"A run cannot be called {header.run!r}: run_id() makes names.")
    try:
        text = msgspec.json.encode(header).decode()
        msgspec.json.decode(text, type=Header)  # of the types that it declares
    except (TypeError, ValueError) as error:
        raise InputError(f"The run cannot be written as JSON, nothing was sent: {error}") from None
    return text


def _header(text: str, path: Path) -> Header:
    try:
        return msgspec.json.decode(text, type=Header)
    except msgspec.DecodeError as error:
        raise journalfile.damaged(path, f"its header cannot be read ({error})") from error


# --- the journals of this user --------------------------------------------------------------


def home(passing: bool) -> Path:
    """Name the folder of the journals: CHATKIT_DATA, or the user's own data folder.

    Args:
        passing: For an account that ends with this process, like a sandbox in memory: a
            folder that goes with it.
    """
    if passing:
        folder = temporary.folder() / "runs"
        journalfile.make_folder(folder)
        return folder
    from platformdirs import user_data_path

    data = os.environ.get("CHATKIT_DATA")
    return (
        Path(data).expanduser() if data else user_data_path("chatkit", appauthor=False)
    ) / "runs"


def homes() -> list[Path]:
    """List the folders where journals of this user may lie, as this process sees them."""
    made = temporary.existing()
    return [home(False)] if made is None else [made / "runs", home(False)]


def journals(folder: Path) -> list[Path]:
    """List the journals in a folder, the newest last."""
    return sorted(folder.glob("*.db"))


def find(run: str) -> Path:
    """Find the journal of a run by its name, or by as much of it as no other run has.

    Raises:
        JournalError: There is none, or there are several.
    """
    paths = {p.stem: p for folder in homes() for p in journals(folder)}
    if run in paths:
        return paths[run]
    found = [name for name in paths if run and name.startswith(run)]
    if len(found) == 1:
        return paths[found[0]]
    if found:
        names = ", ".join(found[-5:])
        raise JournalError(f"{len(found)} runs begin with {run!r} ({names}): write more of it.")
    raise JournalError(f"No run is called {run!r}. chatkit.runs() lists them.")


def glance(path: Path) -> tuple[Header, Event | None]:
    """Read a header and the last event of the run as a whole, for a list; the rest unseen.

    Raises:
        JournalError: It is no journal, or cannot be read.
    """
    query = "SELECT n, what, at, detail FROM event WHERE n IS NULL ORDER BY seq DESC LIMIT 1"
    left = journalfile.beside(path, "-wal").exists()
    try:
        with closing(journalfile.connected(path, "ro" if left else "rw")) as connection:
            header = _header(journalfile.header_of(connection, path), path)
            last = connection.execute(query).fetchone()
    except sqlite3.Error as error:
        why = journalfile.reason(error, path)
        raise JournalError(f"The journal {path.name} cannot be read: {why}.") from error
    if last is None:
        return header, None
    n, what, at, text = last
    return header, Event(n, what, at, jsontext.detail(text))


def interrupted(account: str) -> str:
    """Say in one line that a run of an account has not come to its end; empty if none has.

    A run that is at work at this moment is not meant. Only the latest journals that outlast
    this process are looked at, so that it takes some milliseconds.
    """
    folder, found = home(False), []
    for path in journals(folder)[-_GLANCES:]:
        try:
            header, last = glance(path)
        except JournalError:
            continue  # runs() lists it as damaged
        if header.account == account and (last is None or last.what != "finished"):
            found.append(header)
    if not found or busy(folder, account):
        return ""
    latest, before = found[-1], len(found) - 1
    were = "were" if before > 1 else "was"
    more = f", as {were} {before} before it (chatkit.runs() shows which)" if before else ""
    return (
        f"A run of {latest.changes:,} changes, begun on {latest.started:.10}, was interrupted"
        f"{more}: chatkit.resume({latest.run!r}) goes on with it."
    )


def prune(folder: Path, *, days: float = 90, runs: Collection[str] = ()) -> list[str]:
    """Delete whole journals: of runs that finished long ago, and of runs that are named.

    What is not finished, and what cannot be read, goes only by name.

    Args:
        folder: Where they are.
        days: How long a finished one is kept.
        runs: The whole names of others to delete.

    Returns:
        The names of the runs whose journals are gone.

    Raises:
        AccountBusy: A run that is named may be at work.
    """
    before = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="milliseconds")
    gone = []
    for path in journals(folder):
        try:
            header, last = glance(path)
        except JournalError:
            header, last = None, None
        over = last is not None and last.what == "finished" and last.at < before
        if over or path.stem in runs:
            with nullcontext() if over or header is None else lock(folder, header.account):
                journalfile.delete(path)
            gone.append(path.stem)
    journalfile.sweep(folder)
    return gone
