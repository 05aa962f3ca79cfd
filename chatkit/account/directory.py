"""Directory: the files of one folder, opened relative to it without following links.

A folder that came by git or in an archive may hold links, pipes and devices under any name.
Everything here opens each step of a path from the folder above it and refuses what is not a
folder or a regular file, so that nothing outside the folder is ever read, written or removed.
Windows cannot open relative to a folder: there each step is resolved and compared instead,
which does not protect from somebody who swaps a step between the two.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import file_digest
from io import BufferedReader
from pathlib import Path
from typing import IO, Self

_RELATIVE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = _FLAGS | getattr(os, "O_NOFOLLOW", 0)
#: A pipe is opened at once instead of waiting for somebody who writes into it.
_READ = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_MAX_SINGLE_SYNCS = 50  #: so many files are made durable one by one, more of them all at once
_REASONS = {
    "link": "is a link, which may lead out of the folder: put the file or folder itself there",
    "folder": "is a folder, where a file is expected",
    "file": "is a file, where a folder is expected",
    "other": "is a pipe, a socket or a device: remove it",
    "shared": "has a second name (a hard link), maybe outside the folder: put a copy in its place",
}


class Directory:
    """An open folder, whose files are named by paths relative to it, with "/" between the steps.

    Its methods raise `OSError` with a reason that reads on after the path: "is a link, …".

    Args:
        path: The folder; it alone may be a link, which is resolved once.
        make: Make it if it is missing.
    """

    def __init__(self, path: str | os.PathLike[str], *, make: bool = False) -> None:
        if make:
            Path(path).mkdir(parents=True, exist_ok=True)
        self.path = Path(os.path.realpath(path))
        self._root = os.open(self.path, _FOLDER | _FLAGS) if _RELATIVE else None
        if self._root is None and not self.path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._root is not None:
            os.close(self._root)

    @property
    def inode(self) -> int:
        """The inode number of the folder."""
        return os.stat(self.path if self._root is None else self._root).st_ino

    def list_entries(self, path: str) -> dict[str, str]:
        """Return the names in a folder, each with its kind: file, folder, link or other."""
        with (
            self._open_folder(path.split("/"), make=False) as (prefix, parent),
            os.scandir(prefix if parent is None else parent) as scanned,
        ):
            return {each.name: _find_kind(each.stat(follow_symlinks=False)) for each in scanned}

    def read_file(self, path: str, max_size: int) -> bytes:
        """Read a file of at most `max_size` bytes."""
        with self._open_parent(path) as (name, parent), _open_file(name, parent, _READ) as file:
            data = file.read(max_size + 1)
        if len(data) > max_size:
            raise OSError(errno.EFBIG, f"is larger than {max_size >> 20} MB, the most that is read")
        return data

    def hash_file(self, path: str) -> str | None:
        """Return the SHA-256 digest of a file; None if it does not exist."""
        try:
            with self._open_parent(path) as (name, parent):
                return _compute_file_digest(name, parent)
        except FileNotFoundError:
            return None

    def replace_file(self, path: str, source: IO[bytes], expected: str | None, mode: int) -> bool:
        """Replace a file atomically if it has not changed; make its folder if it is missing.

        Args:
            path: The file.
            source: The new content.
            expected: The digest of the expected content; None for no file.
            mode: The mode of the file, as for `os.open`.

        Returns:
            Whether it was written.
        """
        with self._open_parent(path, make=True) as (name, parent):
            folder, file_name = os.path.split(name)
            # one name, which a killed process may have left
            temporary = os.path.join(folder, f".{file_name}.chatkit")
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=parent)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
            try:
                with open(os.open(temporary, flags, mode, dir_fd=parent), "wb") as file:
                    shutil.copyfileobj(source, file, 2**20)
                if _compute_file_digest(name, parent) != expected:
                    return False
                os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=parent)
        return True

    def remove_file(self, path: str, expected: str | None) -> bool:
        """Remove a file if it has not changed, and its folder if that is empty then."""
        with self._open_parent(path) as (name, parent):
            if _compute_file_digest(name, parent) != expected:
                return False
            os.unlink(name, dir_fd=parent)
        with suppress(OSError), self._open_parent(path.rpartition("/")[0]) as (name, parent):
            os.rmdir(name, dir_fd=parent)  # fails where other files are in it
        return True

    def restrict_file(self, path: str) -> None:
        """Make a file readable for its owner alone, if it exists."""
        with (
            suppress(FileNotFoundError),
            self._open_parent(path) as (name, parent),
            _open_file(name, parent, _READ) as file,
        ):
            if hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), 0o600)

    def sync_files(self, paths: Sequence[str]) -> None:
        """Make files and their names durable."""
        if len(paths) > _MAX_SINGLE_SYNCS and hasattr(os, "sync"):
            os.sync()
            return
        for path in paths:
            with self._open_parent(path) as (name, parent):
                with _open_file(name, parent, os.O_RDWR | _NO_LINK) as file:
                    os.fsync(file.fileno())
                if parent is not None:
                    os.fsync(parent)

    @contextmanager
    def _open_parent(self, path: str, *, make: bool = False) -> Iterator[tuple[str, int | None]]:
        """Open the folder of a file; yield the name to open, and the descriptor that it is below.

        Where the system has no descriptors of folders, that is the whole path, and None.
        """
        *folders, name = path.split("/")
        try:
            _check_steps([name])
            with self._open_folder(folders, make=make) as (prefix, parent):
                yield os.path.join(prefix, name), parent
        except OSError as error:
            error.filename = path
            raise

    @contextmanager
    def _open_folder(self, steps: Sequence[str], *, make: bool) -> Iterator[tuple[str, int | None]]:
        """Open a folder for as long as the block lasts.

        Yields:
            What stands before a name in it, and its descriptor: nothing and a number; the path
            and None where the system cannot open relative to a folder.
        """
        _check_steps(steps)
        prefix, parent = "" if _RELATIVE else str(self.path), self._root
        try:
            for step in steps:
                step = os.path.join(prefix, step)
                if make:
                    with suppress(FileExistsError):  # hidden folders are for their owner alone
                        hidden = os.path.basename(step).startswith(".")
                        os.mkdir(step, 0o700 if hidden else 0o777, dir_fd=parent)
                if parent is None:
                    _check_kind(step, None, "folder")
                    prefix = step
                    continue
                try:
                    inner = os.open(step, _FOLDER | _NO_LINK, dir_fd=parent)
                except OSError:
                    _check_kind(step, parent, "folder")
                    raise
                if parent != self._root:
                    os.close(parent)
                parent = inner
            yield prefix, parent
        finally:
            if parent is not None and parent != self._root:
                os.close(parent)


def _check_steps(steps: Sequence[str]) -> None:
    """Refuse steps of a path that are empty, lead upwards or hold a separator."""
    forbidden = "\0" if os.name == "posix" else "\0\\:"
    if any(step in ("", ".", "..") or not {*step}.isdisjoint(forbidden) for step in steps):
        raise OSError(errno.EINVAL, "does not name a place in the folder")


def _find_kind(info: os.stat_result) -> str:
    """Return the kind of a file by its status: link, folder, file or other."""
    if stat.S_ISLNK(info.st_mode):
        return "link"
    if stat.S_ISDIR(info.st_mode):
        return "folder"
    return "file" if stat.S_ISREG(info.st_mode) else "other"


def _check_kind(name: str, parent: int | None, expected: str) -> None:
    """Check the kind of a name, without following links.

    Raises:
        OSError: It is of another kind, or is missing.
    """
    kind = _find_kind(os.stat(name, dir_fd=parent, follow_symlinks=False))
    if parent is None and os.path.normcase(os.path.realpath(name)) != os.path.normcase(name):
        kind = "link"  # also the junctions and the names of devices of Windows
    if kind != expected:
        raise OSError(errno.ELOOP if kind == "link" else errno.EINVAL, _REASONS[kind])


def _open_file(name: str, parent: int | None, flags: int) -> BufferedReader:
    """Open a regular file without hard links."""
    if parent is None:
        _check_kind(name, None, "file")
    try:
        descriptor = os.open(name, flags, dir_fd=parent)
    except OSError:
        _check_kind(name, parent, "file")
        raise
    try:
        info = os.fstat(descriptor)
        kind = "shared" if info.st_nlink > 1 and _find_kind(info) == "file" else _find_kind(info)
        if kind != "file":
            raise OSError(errno.EINVAL, _REASONS[kind])
    except OSError:
        os.close(descriptor)
        raise
    return open(descriptor, "rb")


def _compute_file_digest(name: str, parent: int | None) -> str | None:
    """Return the SHA-256 digest of a file; None if it is missing."""
    try:
        with _open_file(name, parent, _READ) as file:
            return file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
