"""Disks that really fail: for a child process, or for the files that one left.

`fail_fsync`, `refuse_writes` and `fill_disk` change the process that calls them, for good:
call them in a child. The kernel does it, so whatever the process is made of is hit: Python,
SQLite, all its threads. Linux only.

`cut_power_at` and `power_cut` stand for a power cut: what was synced is there, and of what was
written after that any part.
"""

from __future__ import annotations

import ctypes
import errno
import itertools
import os
import platform
import random
import resource
import signal
import struct
from pathlib import Path
from typing import cast

from chatkit.bulk.journal import FolderStore, Journal

#: How the files of journals end. SQLite's index (-shm) is made anew, so it is left out.
ENDS = (".db", ".db-wal", ".count")
_SECTOR = 512
#: The length of the head of SQLite's log.
_HEAD = 32

# --- failing system calls -------------------------------------------------------------------

#: How the kernel calls a machine, and the numbers of its system calls.
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_NUMBERS = {
    "x86_64": {"seccomp": 317, "fsync": 74, "fdatasync": 75, "pwrite64": 18, "pwritev": 296},
    "aarch64": {"seccomp": 277, "fsync": 82, "fdatasync": 83, "pwrite64": 68, "pwritev": 70},
}
_PR_SET_NO_NEW_PRIVS = 38
_SET_MODE_FILTER, _ALL_THREADS = 1, 1
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def fail_fsync() -> None:
    """From now on, nothing is synced: fsync and fdatasync fail with EIO."""
    _fail(("fsync", "fdatasync"), errno.EIO)


def refuse_writes() -> None:
    """From now on, the disk is full: writes at a place in a file fail with ENOSPC."""
    _fail(("pwrite64", "pwritev"), errno.ENOSPC)


def fill_disk(size: int) -> None:
    """From now on, no file of this process grows past `size` bytes: a write ends in its middle."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def _fail(calls: tuple[str, ...], error: int) -> None:
    machine = platform.machine()
    numbers = _NUMBERS[machine]
    checks = [(_JUMP_IF_EQUAL, numbers[call]) for call in calls]
    code = [
        (_LOAD, 0, 0, 4),
        (_JUMP_IF_EQUAL, 0, len(checks) + 1, _AUDIT[machine]),
        (_LOAD, 0, 0, 0),
    ]
    code += [(kind, len(checks) - at, 0, n) for at, (kind, n) in enumerate(checks)]
    code += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ERRNO | error)]
    program = _Program(len(code), b"".join(struct.pack("HBBI", *line) for line in code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.syscall(
        numbers["seccomp"], _SET_MODE_FILTER, _ALL_THREADS, ctypes.byref(program)
    ):
        raise OSError(ctypes.get_errno(), "this kernel takes no seccomp filter")


# --- a power cut ----------------------------------------------------------------------------

Files = dict[str, bytes]


def store_of(journal: Journal) -> FolderStore:
    """Return the store of a journal."""
    return cast("FolderStore", journal._store)


def log_of(journal: Journal) -> Path:
    """Return SQLite's log."""
    path = store_of(journal).path
    return path.with_name(f"{path.name}-wal")


def _place(folder: Path, end: str, run: str) -> Path:
    """Return the path of one of the files of a folder in which one run is at work."""
    return folder / (f"{run}{end}" if end == ".count" else f"chatkit-journal{end}")


def taken(folder: Path, run: str) -> Files:
    """Read the files of the journal of a run, by their ends.

    In a process that has the journal open, closing a file ends the locks that SQLite holds on
    it: do it there only if no other process uses that journal.
    """
    files = {end: _place(folder, end, run) for end in ENDS}
    return {end: file.read_bytes() for end, file in files.items() if file.exists()}


def put(files: Files, folder: Path, run: str) -> None:
    """Make the files of a journal these; the index is gone, as it is after a power cut."""
    for end in (*ENDS, ".db-shm"):
        file = _place(folder, end, run)
        if end in files:
            file.write_bytes(files[end])
        else:
            file.unlink(missing_ok=True)


def cut(path: Path, size: int, tail: bytes = b"") -> None:
    """Cut a file to what was synced of it, and put a torn tail behind."""
    with path.open("r+b") as file:
        file.truncate(size)
        file.seek(size)
        file.write(tail)


def power_cut(before: Files, after: Files, rng: random.Random) -> Files:
    """Make what a power cut may leave that came while a group was being committed.

    SQLite writes the log and syncs it; when the log is long, it copies it into the database
    and syncs that. When it begins the log anew, it syncs the new head of it first. What was
    written since the last sync is there or not, sector by sector.

    Args:
        before: What was there before the commit, all synced but the count.
        after: What is there when it has returned.
        rng: Where chance comes from.
    """
    old, new = before.get(".db-wal", b""), after[".db-wal"]
    log = _torn(old, new, rng)
    if old[:_HEAD] != new[:_HEAD]:  # it was begun anew
        begun = new[:_HEAD] + old[_HEAD:]
        log = rng.choice([_torn(old, begun, rng), _torn(begun, new, rng), _torn(begun, new, rng)])
    files = before | {".db-wal": log}
    if before[".db"] != after[".db"] and rng.random() < 0.5:  # the log was already being copied
        files |= {".db-wal": new, ".db": _torn(before[".db"], after[".db"], rng)}
    # Never synced: of any earlier moment, empty, zeros, or gone.
    count = rng.choice([before.get(".count", b""), b"", b"\0" * 20, None])
    files.pop(".count", None)
    return files if count is None else files | {".count": count}


def _torn(old: bytes, new: bytes, rng: random.Random) -> bytes:
    """Mix two states of a file, sector by sector."""
    size = rng.choice([len(old), len(new), rng.randint(*sorted((len(old), len(new))))])
    share = rng.choice([0.0, 0.1, 0.5, 0.9, 1.0])
    sectors = []
    for at in range(0, size, _SECTOR):
        source = new if rng.random() < share else old
        sectors.append(source[at : at + _SECTOR].ljust(_SECTOR, b"\0"))
    return b"".join(sectors)[:size]


def cut_power_at(commit: int, seed: int = 0) -> None:
    """Cut the power while this process makes its nth commit.

    The files of the journal are then as a power cut leaves them, and the process is gone.
    """
    real, commits, rng = Journal.commit, itertools.count(1), random.Random(seed)

    def dying(self: Journal) -> None:
        if next(commits) < commit:
            real(self)
            return
        folder, run = store_of(self).folder, self.header.run
        before = taken(folder, run)
        real(self)
        put(power_cut(before, taken(folder, run), rng), folder, run)
        os.kill(os.getpid(), signal.SIGKILL)

    Journal.commit = dying
