"""Pending pull: the files of a pull, saved outside the folder until all of them are written."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from chatkit.account.directory import Directory
from chatkit.account.layout import BASE, BASE_CONTACTS, CONTACTS, PRIVATE_FOLDER, is_folder_file
from chatkit.bulk.stores import get_journal_folder
from chatkit.errors import InputError
from chatkit.util.files import lock_file, make_folder, replace_file
from chatkit.util.json import read_json

_MANIFEST = "manifest.json"
IGNORE, _OURS_IGNORE, _OURS_ATTRIBUTES = (
    *(".gitignore", f"{PRIVATE_FOLDER}/.gitignore", f"{PRIVATE_FOLDER}/.gitattributes"),
)
#: Git leaves out what is personal, and shows no differences of our copy.
GIT_FILES = {
    _OURS_IGNORE: b"contacts.csv\n",
    _OURS_ATTRIBUTES: b"base.json -diff linguist-generated=true\n",
}
#: The account as it was pulled, which is written after all else; and files for the owner alone.
BASES = (BASE, BASE_CONTACTS)
PRIVATE = (*BASES, CONTACTS)


class PendingPull:
    """The files that a pull has to write, saved in the data directory until all are written.

    They are not saved in the folder, which may come from a stranger and is not trusted.

    Args:
        directory: The folder, which is known by its path and its inode.
    """

    def __init__(self, directory: Directory) -> None:
        digest = sha256(os.fsencode(directory.path)).hexdigest()[:32]
        self._folder = get_journal_folder(passing=False) / "folders" / digest
        self._path, self._inode = self._folder / "pull.zip", directory.inode
        self._name = str(directory.path)

    @contextmanager
    def lock(self, *, make: bool) -> Iterator[None]:
        """Lock the folder in a block; without `make` only if something was ever pulled."""
        if make:
            make_folder(self._folder)
        if not os.access(self._folder, os.W_OK):
            yield
            return
        with lock_file(self._folder / "folder"):
            yield

    def save(
        self, texts: Mapping[str, bytes], gone: Iterable[str], before: Mapping[str, str | None]
    ) -> None:
        """Save the files to write and to remove, with the digest of each file before."""
        manifest = {
            "inode": self._inode,
            "write": {path: [before[path], digest_of(text)] for path, text in texts.items()},
            "remove": {path: before[path] for path in gone},
        }
        with (
            replace_file(self._path, first=self._path.with_name("new.zip")) as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as pending,
        ):
            pending.writestr(_MANIFEST, json.dumps(manifest))
            for path, text in texts.items():
                pending.writestr(path, text)

    def finish(self, directory: Directory) -> list[str]:
        """Write and remove the saved files.

        Returns:
            The files that have changed since they were merged: they are left, and the base too,
            so that the next merge sees what was edited.
        """
        with self._open_archive() as pending:
            if pending is None:
                return []
            archive, manifest = pending
            written: list[str] = []
            left: list[str] = []
            for path, before in manifest["remove"].items():
                if directory.digest(path) is not None and not directory.remove(path, before):
                    left.append(path)
            base_last = sorted(manifest["write"].items(), key=lambda each: each[0] in BASES)
            for path, (before, after) in base_last:
                if directory.digest(path) == after or (left and path in BASES):
                    continue
                mode = 0o600 if path in PRIVATE else 0o666
                with archive.open(path) as entry:
                    done = directory.replace(path, entry, before, mode)
                (written if done else left).append(path)
            directory.sync(written)
        self._path.unlink()
        return left

    def exists(self) -> bool:
        """Return whether a pull into this folder is unfinished."""
        with self._open_archive() as pending:
            return pending is not None

    @contextmanager
    def _open_archive(self) -> Iterator[tuple[zipfile.ZipFile, dict[str, Any]] | None]:
        """Open the saved files of this folder; yield them with their manifest, or None."""
        if not self._path.exists():
            yield None
            return
        try:
            with zipfile.ZipFile(self._path) as archive:
                manifest = read_json(archive.read(_MANIFEST), deepest=4)
                known = (
                    is_folder_file(path) or path in (IGNORE, *GIT_FILES)
                    for path in manifest["write"]
                )
                if not all((*known, *map(is_folder_file, manifest["remove"]))):
                    raise ValueError("a file in it has no place in a folder")
                yield None if manifest["inode"] != self._inode else (archive, manifest)
        except (zipfile.BadZipFile, ValueError, LookupError, TypeError, EOFError) as error:
            raise InputError(
                f"{self._path} is damaged ({error}), so that the interrupted pull into "
                f"{self._name} cannot be ended. Delete it, and pull again."
            ) from None


def digest_of(data: bytes | None) -> str | None:
    """Return the digest of the bytes of a file; None if there is none."""
    return None if data is None else sha256(data).hexdigest()
