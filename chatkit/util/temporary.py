"""Temporary folder: one for each process, and gone with it, however it ends.

A process that ends removes its own. One that is killed cannot, so the next process of the
same user that needs a folder removes that too. Whether its owner lives is told by a lock
that the kernel frees at its death; the number of a process is given to another one later.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from chatkit.errors import ChatkitError

PREFIX = "chatkit-process-"


class _Held(NamedTuple):
    folder: Path
    lock: FileLock


_held: _Held | None = None
_guard = threading.Lock()


def folder() -> Path:
    """Return the folder of this process, for its owner alone; made when first asked for.

    Raises:
        ChatkitError: It cannot be made.
    """
    global _held
    with _guard:
        if _held is None or not _held.folder.is_dir():  # machines clean what is weeks old
            try:
                sweep()
                _held = _make()
            except OSError as error:
                raise ChatkitError(
                    f"No temporary folder can be made ({error}). Set TMPDIR to a folder where "
                    "you may write, on a disk that can lock files."
                ) from error
        return _held.folder


def existing() -> Path | None:
    """Return the folder of this process if it was made."""
    return None if _held is None else _held.folder


@atexit.register
def remove() -> None:
    """Remove the folder of this process with all that is in it, as its end does."""
    global _held
    with _guard:
        if _held is not None:
            _remove(_held)
            _held = None


def sweep() -> None:
    """Remove the folders of this user's processes that were killed."""
    for place in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if _is_ours(place):
            held = _Held(place, _lock(place))
            try:
                held.lock.acquire(blocking=False)
            except (Timeout, OSError):  # its owner lives, or another process removes it
                continue
            _remove(held)


def _make() -> _Held:
    while True:
        place = Path(tempfile.mkdtemp(prefix=PREFIX))  # 0700
        held = _Held(place, _lock(place))
        try:
            seen = os.open(held.lock.lock_file, os.O_CREAT | os.O_RDWR, 0o600)
        except FileNotFoundError:  # another process found it without a lock, and removed it
            continue
        try:
            held.lock.acquire()
            if os.fstat(seen).st_nlink:
                return held
        finally:
            os.close(seen)
        _remove(held)  # it was removed until now, and made again by the lock for everybody


def _lock(place: Path) -> FileLock:
    return FileLock(place / "owner.lock", mode=0o600, thread_local=False, fallback_to_soft=False)


def _remove(held: _Held) -> None:
    """Remove a folder whose lock we hold: who waits for the lock finds it gone, and goes on."""
    shutil.rmtree(held.folder, ignore_errors=True)
    held.lock.release()
    if os.name == "nt":  # where a file that is open cannot be removed
        shutil.rmtree(held.folder, ignore_errors=True)


def _is_ours(place: Path) -> bool:
    """Return whether it is a real folder of this user: others may put links into a shared place."""
    try:
        status = place.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(status.st_mode) and (os.name == "nt" or status.st_uid == os.geteuid())


def _start_anew() -> None:
    """In a forked child: the folder is its parent's, and the guard may be held for ever."""
    global _held, _guard
    _held, _guard = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
