"""Pending pull: the files of a pull, saved outside the folder until all of them are written."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
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
        can_lock = os.access(self._folder, os.W_OK)
        with lock_file(self._folder / "folder") if can_lock else nullcontext():
            yield

    def save(self, texts: Mapping[str, bytes | None], digests: Mapping[str, str | None]) -> None:
        """Save the files to write, None for those to remove, with the digest of each before."""
        files = {path: [digests[path], compute_digest(text)] for path, text in texts.items()}
        with (
            replace_file(self._path, first=self._path.with_name("new.zip")) as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as pending,
        ):
            pending.writestr(_MANIFEST, json.dumps({"inode": self._inode, "files": files}))
            for path, text in texts.items():
                if text is not None:
                    pending.writestr(path, text)

    def finish_pull(self, directory: Directory) -> list[str]:
        """Write and remove the saved files of an interrupted pull.

        Returns:
            The files that have changed since they were merged: they are left, and the base too,
            so that the next merge sees what was edited.
        """
        with self._open_archive() as pending:
            if pending is None:
                return []
            archive, files = pending
            written: list[str] = []
            unwritten: list[str] = []
            # removed files go first: a new name may differ from an old one in case alone
            order = sorted(
                files.items(), key=lambda each: (each[1][1] is not None, each[0] in BASES)
            )
            for path, (old, new) in order:
                if directory.hash_file(path) == new or (unwritten and path in BASES):
                    continue
                if new is None:
                    done = directory.remove_file(path, old)
                else:
                    with archive.open(path) as entry:
                        mode = 0o600 if path in PRIVATE else 0o666
                        done = directory.replace_file(path, entry, old, mode)
                    written += [path] * done
                unwritten += [path] * (not done)
            directory.sync_files(written)
        self._path.unlink()
        return unwritten

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
                files = manifest["files"]
                for path, (_, new) in files.items():
                    ours = new is not None and path in (IGNORE, *GIT_FILES)
                    if not ours and not is_folder_file(path):
                        raise ValueError("a file in it has no place in a folder")
                yield None if manifest["inode"] != self._inode else (archive, files)
        except (zipfile.BadZipFile, ValueError, LookupError, TypeError, EOFError) as error:
            raise InputError(
                f"{self._path} is damaged ({error}), so that the interrupted pull into "
                f"{self._name} cannot be ended. Delete it, and pull again."
            ) from None


def compute_digest(data: bytes | None) -> str | None:
    """Return the SHA-256 digest of the bytes of a file; None if there is none."""
    return None if data is None else sha256(data).hexdigest()
