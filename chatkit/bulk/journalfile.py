"""The file of a journal: how it lies on disk, and whether it is still what was written.

One SQLite file with a write-ahead log and `synchronous=FULL`. What SQLite cannot see by itself
is watched here, so that no journal is ever shorter or other than it was without a word:

- the SHA-256 of header and changes stands beside them;
- events are numbered without a gap, and each carries a checksum over all before it;
- while it is written, a small file beside it says how many events it holds at least: SQLite
  takes the beginning of a log that was damaged in its middle, or lost, for the whole.

The last group of a log that was damaged before that small file reached the disk cannot be
told from a group that a power cut tore: it is taken as never committed.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from chatkit.errors import JournalError

_APPLICATION = 0x63686A6C  # marks a file as ours: the letters "chjl"
_SCHEMA = 1
_TABLES = (
    "CREATE TABLE run (header TEXT NOT NULL, seal TEXT NOT NULL)",
    "CREATE TABLE change (n INTEGER PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE event (seq INTEGER PRIMARY KEY, n INTEGER, what TEXT NOT NULL,"
    " at TEXT NOT NULL, detail TEXT NOT NULL, chain INTEGER NOT NULL)",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_SCHEMA}",
)


#: How the files beside a journal end: SQLite's log and its index, and the count of events.
ENDS = ("-wal", "-shm", "-count")
#: Errors that say nothing about the file: somebody else has it, or the disk does not answer.
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")
_OUTSIDE = (*_BUSY, "SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_PERM")
WAIT = 10.0  #: seconds for another process that has a file just now


class Content(NamedTuple):
    """What a whole journal holds: its header, and how much of the rest."""

    header: str
    changes: int
    events: int
    chain: int


def beside(path: Path, end: str) -> Path:
    """Name a file beside a journal by how it ends."""
    return path.with_name(path.name + end)


def connected(path: Path, mode: str) -> sqlite3.Connection:
    """Open a file that is there: to read ("ro") or to read and write ("rw")."""
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,  # BEGIN and COMMIT are ours
        check_same_thread=False,
        timeout=WAIT,
    )


def make_folder(folder: Path) -> None:
    """Make a folder for its owner alone, so that a power cut does not take it away again."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    for place in missing:
        sync_folder(place.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable. Windows has no such call: it does so by itself."""
    if os.name == "posix":
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)


def check_space(folder: Path, size: int, changes: int) -> None:
    """Refuse to begin a run whose journal would fill the disk.

    Args:
        folder: Where it will lie.
        size: The characters of header and changes.
        changes: How many there are; each is followed by a few events, one of which may
            repeat it.
    """
    place = next(place for place in (folder, *folder.parents) if place.exists())
    free, needed = shutil.disk_usage(place).free, 2 * size + 1000 * changes + 16_000_000
    if free < needed:
        raise JournalError(
            f"The disk of {folder} has {free / 1e6:,.0f} MB free, and the journal of this run "
            f"may take {needed / 1e6:,.0f} MB. Make room there, or set CHATKIT_DATA to a folder "
            "on another disk. Nothing was sent."
        )


def fill(path: Path, header: str, bodies: Sequence[str]) -> None:
    """Write a new journal. It appears under its name as a whole or not at all.

    It is durable when this returns; when it raises, nothing is left of it.
    """
    new = path.with_suffix(".new")
    delete(new)  # of a process that died here: the account's lock is ours
    os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        if path.exists():
            raise FileExistsError(f"{path.name} is there already")
        with closing(connected(new, "rw")) as connection:
            _fill(connection, header, bodies)
        new.rename(path)
    except BaseException:
        delete(new)
        raise
    try:
        sync_folder(path.parent)
    except BaseException:
        delete(path)
        raise


def _fill(connection: sqlite3.Connection, header: str, bodies: Sequence[str]) -> None:
    run = connection.execute
    prepare(connection, "MEMORY")  # half of it would never get the name of a journal
    run("BEGIN")
    for statement in _TABLES:
        run(statement)
    run("INSERT INTO run VALUES (?, ?)", (header, _seal(header, bodies)))
    connection.executemany("INSERT INTO change VALUES (?, ?)", enumerate(bodies))
    run("COMMIT")
    prepare(connection)


def delete(path: Path) -> None:
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


def prepare(connection: sqlite3.Connection, mode: str = "WAL", wait: float = WAIT) -> None:
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


def reason(error: Exception, path: Path) -> str:
    """Say why a journal could not be used, in words for the person who needs it."""
    if is_busy(error):
        return (
            f"another process is using it and did not let go of it for {WAIT:g} seconds; "
            "try again when that process has ended"
        )
    if isinstance(error, sqlite3.Error) and not path.exists():
        return "it has been deleted in the meantime"
    return str(error)


def fold(connection: sqlite3.Connection) -> None:
    """Copy the log that a dead process left into the database, and sync that.

    Parts of the log may be in memory alone, of a group that was not synced or could not be.
    What is appended later would be lost with them.
    """
    (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise sqlite3.OperationalError("another process is reading it; try again")


def header_of(connection: sqlite3.Connection, path: Path) -> str:
    """Read the header, unverified, once the file is known to be a journal of ours."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != _APPLICATION:
        raise JournalError(f"{path.name} is no journal of chatkit.")
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    if schema != _SCHEMA:
        raise JournalError(
            f"The journal {path.name} has schema {schema}, and this version of chatkit reads "
            f"schema {_SCHEMA}: use the version that wrote it."
        )
    for (header,) in connection.execute("SELECT header FROM run"):
        return str(header)
    raise damaged(path, "it has no header")


def verified(connection: sqlite3.Connection, path: Path) -> Content:
    """Read all of a journal and make sure that it is what was written.

    Raises:
        JournalError: It is not.
    """
    try:
        header = header_of(connection, path)
        return _verified(connection, path, header)
    except (sqlite3.Error, ValueError, TypeError, AttributeError) as error:
        if getattr(error, "sqlite_errorname", "").startswith(_OUTSIDE):
            raise
        raise damaged(path, str(error)) from error


def _verified(connection: sqlite3.Connection, path: Path, header: str) -> Content:
    run = connection.execute
    for (finding,) in run("PRAGMA quick_check(1)"):
        if finding != "ok":
            raise damaged(path, finding.splitlines()[-1])
    bodies = [body for (body,) in run("SELECT body FROM change ORDER BY n")]
    (seal,) = run("SELECT seal FROM run").fetchone()
    if _seal(header, bodies) != seal:
        raise damaged(path, "its changes are not those that were written")
    events, chain = 0, first_link(seal)
    for seq, n, what, at, detail, kept in run("SELECT * FROM event ORDER BY seq"):
        events += 1
        chain = link(chain, n, what, at, detail)
        if (seq, chain) != (events, kept):
            raise damaged(path, f"event {events} is not as it was written")
    return Content(header, len(bodies), events, chain)


def damaged(path: Path, finding: str) -> JournalError:
    """Say that a journal cannot be trusted, and what to do without it."""
    return JournalError(
        f"The journal {path.name} is damaged: {finding}. It is not continued, and it is left as "
        "it is. Plan again from a fresh frame: a plan is compared with what is live."
    )


def _seal(header: str, bodies: Sequence[str]) -> str:
    digest = sha256(header.encode())
    for body in bodies:
        digest.update(b"\n" + body.encode())
    return digest.hexdigest()


def first_link(seal: str) -> int:
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


def counted(path: Path) -> int:
    """Tell how many events a journal holds at least, as the file beside it says."""
    try:
        return int(beside(path, "-count").read_bytes())
    except (OSError, ValueError):
        return 0
