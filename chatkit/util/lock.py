"""Locks, and files that are never half written.

The account's lock: one apply at a time, and the kernel frees it when a process dies.
"""

from __future__ import annotations

import os
import platform
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from filelock import BaseFileLock, FileLock, Timeout

from chatkit.errors import AccountBusy, JournalError

_PATIENCE = 30  #: seconds for which a file may be written by others


@contextmanager
def lock(folder: Path, account: str, run: str = "") -> Iterator[None]:
    """Hold the lock of an account: at most one apply each, for this user on this machine.

    Args:
        folder: Where the journals lie; the locks lie there too.
        account: The account, in the words of a journal's header.
        run: The run that is going to work, to name it to whoever is refused.

    Raises:
        AccountBusy: Another apply holds it; the text says which. It is not waited for.
        JournalError: Nothing can be locked in that folder.
    """
    held = _file_lock(folder / f"{_name(account)}.lock")
    holder = folder / f"{_name(account)}.holder"  # apart: Windows lets nobody read a locked file
    try:
        make_folder(folder)
        held.acquire(blocking=False)
    except Timeout:
        text = ""  # where it took the lock a moment ago, or lets go of it just now
        with suppress(OSError):
            text = holder.read_text()
        raise account_busy(text) from None
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


def busy(folder: Path, account: str) -> bool:
    """Check if an apply is at work on an account, without keeping one from its lock.

    A process that died leaves the file with its name behind, and only then the lock itself is
    tried.
    """
    if (folder / f"{_name(account)}.holder").exists():
        try:
            with suppress(JournalError), lock(folder, account):  # as nothing can be applied there
                return False
        except AccountBusy:
            return True
    return False


@contextmanager
def writing(path: Path, patience: float = _PATIENCE) -> Iterator[None]:
    """Hold the lock of a file that several processes write, each for some milliseconds.

    Args:
        path: The file; its lock lies beside it.
        patience: Seconds to wait for another process.

    Raises:
        OSError: Another process has not let go of it in time, or nothing can be locked there.
    """
    try:
        held = _file_lock(path.with_name(f"{path.name}.lock")).acquire(timeout=patience)
    except Timeout:
        raise OSError(f"another process has been writing {path} for {patience:g} s") from None
    with held:
        yield


def _file_lock(path: Path) -> BaseFileLock:
    # A lock that the kernel does not keep would outlive its process: it is never fallen back on.
    return FileLock(path, mode=0o600, thread_local=False, fallback_to_soft=False)


def _name(account: str) -> str:
    """Name the files of an account's lock: its address is no file name."""
    return sha256(account.encode()).hexdigest()[:32]


def account_busy(holder: str) -> AccountBusy:
    """Return the refusal of an account whose lock another apply holds.

    Args:
        holder: Its process, since when and for which run; empty if that is not known yet.
    """
    return AccountBusy(
        f"Another apply is at work on this account: {holder or 'a process that has just begun'}. "
        "Wait until it has ended, or stop it there. Nothing was sent."
    )


# --- folders and files that survive a power cut -------------------------------------------


def make_folder(folder: Path) -> None:
    """Make a folder for its owner alone, so that a power cut does not take it away again.

    The folders above it that are missing are made likewise; one that is there keeps its rights.
    """
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)
        sync_folder(place.parent)
    folder.mkdir(exist_ok=True)  # refuses a file of that name


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable. Windows has no such call: it does so by itself."""
    if os.name == "posix":
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)


@contextmanager
def replacing(
    path: Path, mode: int | None = 0o600, beside: Path | None = None
) -> Iterator[BinaryIO]:
    """Write a file so that it is the old one or the new one, whenever the machine stops.

    Args:
        path: The file; its folder is there.
        mode: Its rights, without what the mask of the process forbids; None for those that it
            has, or 0600 where it is new.
        beside: Where it is written first, in the same folder, if only one process writes there:
            it takes what a killed one has left. Without it a new name.

    Raises:
        OSError: It cannot be written; the old one is as it was.
    """
    first = beside or path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    new = os.O_TRUNC if beside else os.O_EXCL
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


def rewrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change a file that several processes write, so that none loses what another wrote.

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
    with writing(path):
        before = path.read_bytes() if path.exists() else b""
        after = change(before)
        if after != before:
            with replacing(path) as file:
                file.write(after)
