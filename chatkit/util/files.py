"""Files: locks, whole and durable files, SQLite, a temporary folder for each process.

The lock of an account allows one apply at a time, and the kernel frees it when a process dies.
A process removes its temporary folder when it ends. One that is killed cannot, so the next process
of the same user that needs a folder removes that too: a lock shows whether its owner lives, since
the number of a process may be used again.
"""

from __future__ import annotations

import atexit
import getpass
import os
import platform
import random
import re
import secrets
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from filelock import FileLock, Timeout

from chatkit.errors import AccountBusy, ChatkitError, JournalError

_PATIENCE = 30  #: seconds for which a file may be written by others


@contextmanager
def hold_account_lock(folder: Path, account: str, run: str = "") -> Iterator[None]:
    """Hold the lock of an account, so that one apply at a time is at work on it.

    Args:
        folder: Where the journals lie; the locks lie there too.
        account: The account, in the words of a journal's header.
        run: The run that is going to work, to name it to whoever is refused.

    Raises:
        AccountBusy: Another apply holds it; the text says which. It is not waited for.
        JournalError: Nothing can be locked in that folder.
    """
    held = _make_lock(folder / f"{_hash_lock_name(account)}.lock")
    # Apart from the lock: Windows lets nobody read a locked file.
    holder = folder / f"{_hash_lock_name(account)}.holder"
    try:
        make_folder(folder)
        held.acquire(blocking=False)
    except Timeout:
        text = ""  # where it took the lock a moment ago, or lets go of it just now
        with suppress(OSError):
            text = holder.read_text()
        raise make_account_busy_error(text) from None
    except OSError as error:
        raise JournalError(
            f"Nothing can be locked in {folder} ({error.strerror or error}). Set CHATKIT_DATA to "
            "a folder on another disk. Nothing was sent."
        ) from error
    try:
        with open(os.open(holder, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            file.write(
                f"process {os.getpid()} on {platform.node()}, "
                f"since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC{run and f', run {run}'}"
            )
        yield
    finally:
        holder.unlink(missing_ok=True)
        held.release()


def is_account_busy(folder: Path, account: str) -> bool:
    """Return whether an apply is at work on an account.

    Its file with the name of the process may be left by one that died: then the lock is free.
    """
    if (folder / f"{_hash_lock_name(account)}.holder").exists():
        try:
            with suppress(JournalError), hold_account_lock(folder, account):
                return False  # also where the lock cannot be kept, so that nothing is applied
        except AccountBusy:
            return True
    return False


@contextmanager
def lock_file(path: Path, patience: float = _PATIENCE) -> Iterator[None]:
    """Hold the lock of a file that several processes write, as long as the block runs.

    Args:
        path: The file; its lock lies beside it.
        patience: Seconds to wait for another process.

    Raises:
        OSError: Another process has not let go of it in time, or nothing can be locked there.
    """
    try:
        held = _make_lock(path.with_name(f"{path.name}.lock")).acquire(timeout=patience)
    except Timeout:
        raise OSError(f"another process has been writing {path} for {patience:g} s") from None
    with held:
        yield


def _make_lock(path: Path) -> FileLock:
    """Make the lock of a file, for its owner alone."""
    # A lock that the kernel does not keep would outlive its process: it is never fallen back on.
    return FileLock(path, mode=0o600, thread_local=False, fallback_to_soft=False)


def _hash_lock_name(account: str) -> str:
    """Return the name of the lock of an account, whose own name is no file name."""
    return sha256(account.encode()).hexdigest()[:32]


def make_account_busy_error(holder: str) -> AccountBusy:
    """Return the error for an account that another apply has locked.

    Args:
        holder: Its process, since when and for which run; empty if that is not known yet.
    """
    return AccountBusy(
        f"Another apply is at work on this account: {holder or 'a process that has just begun'}. "
        "Wait until it has ended, or stop it there. Nothing was sent."
    )


# --- folders and files that survive a power cut -------------------------------------------


def make_folder(folder: Path) -> None:
    """Make a folder for its owner alone, durably.

    The folders above it that are missing are made likewise; one that is there keeps its rights.
    """
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)
        sync_folder(place.parent)
    folder.mkdir(exist_ok=True)  # refuses a file of that name


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable; Windows does so by itself."""
    if os.name == "posix":
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)


@contextmanager
def replace_file(
    path: Path, mode: int | None = 0o600, first: Path | None = None
) -> Iterator[BinaryIO]:
    """Replace a file atomically and durably.

    Args:
        path: The file; its folder is there.
        mode: Its rights, without what the mask of the process forbids; None for those that it
            has, or 0600 where it is new.
        first: Where it is written first, in the same folder, if only one process writes there:
            it takes what a killed one has left. Without it a new name.

    Raises:
        OSError: It cannot be written; the old one is as it was.
    """
    new = os.O_TRUNC if first else os.O_EXCL
    first = first or path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    flags = os.O_WRONLY | os.O_CREAT | new | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(first, flags, 0o600 if mode is None else mode), "wb") as file:
            if mode is None:
                with suppress(FileNotFoundError):
                    first.chmod(stat.S_IMODE(path.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        first.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        if str(error.filename) == str(first):  # a name that nobody knows
            error.filename = str(path)
        raise
    finally:
        with suppress(OSError):  # where it could not be made, it cannot be removed either
            first.unlink(missing_ok=True)


def rewrite_file(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change the content of a file that several processes write.

    It is read, changed and replaced under its lock, which lies beside it. It is for its owner
    alone afterwards, and so is its folder where that is new.

    Args:
        path: The file; of a link, where that leads.
        change: Takes what the file holds, nothing where there is none yet, and returns what it
            is to hold. It is called once. Where it raises, the file stays as it is.

    Raises:
        OSError: The file cannot be read, locked or written; it is as it was.
    """
    path = path.resolve()
    if not path.parent.exists():
        make_folder(path.parent)
    with lock_file(path):
        before = path.read_bytes() if path.exists() else b""
        after = change(before)
        if after != before:
            with replace_file(path) as file:
                file.write(after)


# --- SQLite, and where it can be relied on ------------------------------------------------

#: How the errors begin that say that somebody else has the file.
BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")


def set_durable_mode(connection: Any, mode: str = "WAL", *, wait: float) -> None:
    """Set what makes a commit durable.

    SQLite's own timeout does not hold for the switch to a write-ahead log: while another
    process has the file, the answer is "locked" at once. It is asked again.

    Args:
        connection: Of the sqlite3 module, to any file; no transaction is open.
        mode: The journal mode of SQLite.
        wait: Seconds until "locked" is final.
    """
    deadline = time.monotonic() + wait
    while True:
        try:
            connection.execute(f"PRAGMA journal_mode = {mode}").fetchone()
            break
        except Exception as error:
            if not is_busy(error) or time.monotonic() >= deadline:
                raise
            sleep_briefly()
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: into the disk, not only to its cache


def sleep_briefly() -> None:
    """Sleep for a short random time between attempts."""
    time.sleep(random.uniform(0.002, 0.02))  # noqa: S311  (no secret)


def is_busy(error: object) -> bool:
    """Return whether SQLite failed only because another process has the file."""
    return getattr(error, "sqlite_errorname", "").startswith(BUSY)


#: File systems of other machines. Locks and syncs of files there do not hold what SQLite needs.
#: A program behind FUSE is taken for one of them, as new ones come (Google Drive, S3), unless it
#: only encrypts, joins or reads folders and disks of this machine; `fuseblk` is a disk of it.
_NETWORK = re.compile(
    "nfs[34]?|cifs|smb(fs|[23])|ncpfs|afs|ceph|lustre|gpfs|beegfs|glusterfs|davfs|wekafs|"
    r"fuse(\.(?!(encfs|gocryptfs|cryfs|securefs|bindfs|mergerfs|unionfs|unionfs-fuse|"
    r"fuse-overlayfs|ntfs|ntfs-3g|exfat|exfat-fuse|fuse2fs|zfs-fuse|lxcfs|portal)$).*)?"
)
#: Folders of the host of a virtual machine, like C: of Windows as /mnt/c in WSL. Its programs and
#: those of this machine do not see each other's locks.
_HOST = re.compile("9p|drvfs|virtiofs|vboxsf|vmhgfs|prl_fs|fakeowner")


def find_network_file_system(folder: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str:
    r"""Return the name of the network file system of a folder; empty if it is local.

    A folder of the host of a virtual machine counts, too, unless it is the root of this one: then
    nobody else writes there. Linux lists what is mounted where; elsewhere only a path like
    \\server\share shows it.

    Args:
        folder: It need not be there yet.
        mounts: The list of Linux.
    """
    place = folder.expanduser().resolve()
    if str(place).startswith("\\\\"):
        return "a share of another machine"
    kind, longest = "", -1
    with suppress(OSError):
        for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines():
            if mount := re.match(r"(?:\S+ ){4}(\S+) .*?- (\S+)", line):
                point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), mount[1]))
                if place.is_relative_to(point) and len(point.parts) >= longest:
                    kind, longest = mount[2], len(point.parts)  # the last is on top
    of_host = longest > 1 and _HOST.fullmatch(kind)
    return kind if of_host or _NETWORK.fullmatch(kind) else ""


# --- whose files they are -----------------------------------------------------------------

#: Characters of a person's name; a token is longer.
_LONGEST_NAME = 40


def get_user_name() -> str:
    """Return the user: CHATKIT_USER, else the user of the operating system.

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


# --- a temporary folder for each process --------------------------------------------------

TEMPORARY_PREFIX = "chatkit-process-"


class _TemporaryFolder(NamedTuple):
    folder: Path
    lock: FileLock


_temporary: _TemporaryFolder | None = None
_guard = threading.Lock()


def get_temporary_folder() -> Path:
    """Return the temporary folder of this process, which the first call makes.

    Raises:
        ChatkitError: It cannot be made.
    """
    global _temporary
    with _guard:
        if _temporary is None or not _temporary.folder.is_dir():  # machines clean what is weeks old
            try:
                sweep_temporary_folders()
                _temporary = _make_temporary_folder()
            except OSError as error:
                raise ChatkitError(
                    f"No temporary folder can be made ({error}). Set TMPDIR to a folder where "
                    "you may write, on a disk that can lock files."
                ) from error
        return _temporary.folder


def find_temporary_folder() -> Path | None:
    """Return the temporary folder of this process if it was made."""
    return None if _temporary is None else _temporary.folder


@atexit.register
def remove_temporary_folder() -> None:
    """Remove the temporary folder of this process, as its end does."""
    global _temporary
    with _guard:
        if _temporary is not None:
            _remove_temporary_folder(_temporary)
            _temporary = None


def sweep_temporary_folders() -> None:
    """Remove the temporary folders of processes of this user that were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{TEMPORARY_PREFIX}*"):
        if _is_own_folder(path):
            made = _TemporaryFolder(path, _make_lock(path / "owner.lock"))
            try:
                made.lock.acquire(blocking=False)
            except (Timeout, OSError):  # its owner lives, or another process removes it
                continue
            _remove_temporary_folder(made)


def _make_temporary_folder() -> _TemporaryFolder:
    """Make the temporary folder of this process, and hold its lock so that no sweep removes it."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=TEMPORARY_PREFIX))  # 0700
        made = _TemporaryFolder(path, _make_lock(path / "owner.lock"))
        try:
            descriptor = os.open(made.lock.lock_file, os.O_CREAT | os.O_RDWR, 0o600)
        except FileNotFoundError:  # another process found it without a lock, and removed it
            continue
        try:
            made.lock.acquire()
            if os.fstat(descriptor).st_nlink:
                return made
        finally:
            os.close(descriptor)
        # The folder was removed in between, and the lock made it again, for everybody to read.
        _remove_temporary_folder(made)


def _remove_temporary_folder(made: _TemporaryFolder) -> None:
    """Remove a folder whose lock this process holds, and free the lock."""
    shutil.rmtree(made.folder, ignore_errors=True)
    made.lock.release()
    if os.name == "nt":  # where a file that is open cannot be removed
        shutil.rmtree(made.folder, ignore_errors=True)


def _is_own_folder(path: Path) -> bool:
    """Return whether a path is a folder of this user, and no link."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(status.st_mode) and (os.name == "nt" or status.st_uid == os.geteuid())


def _reset_after_fork() -> None:
    """Reset a forked child: the folder is of its parent, and the guard may be held for ever."""
    global _temporary, _guard
    _temporary, _guard = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
