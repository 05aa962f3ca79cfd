"""The flows of an account as a folder of files that is at home in git.

Each document is a file of its own, written so that a small edit is a small difference;
`index.json` tells which flow each file is of. A file that says the same is not written
again, no file but these is ever touched, and none is deleted.
"""

from __future__ import annotations

import codecs
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import msgspec
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chatkit.errors import InputError, Problem
from chatkit.json_reader import JsonFault, read_json
from chatkit.lock import replacing

INDEX = "index.json"

#: A name that stays in the folder, on every system.
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}\.json")
#: Names that Windows keeps for itself, whatever follows the dot; and ours.
_KEPT = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]|index")


class Kept(BaseModel):
    """One flow: what the index says of it, and its document if the service shows it."""

    model_config = ConfigDict(frozen=True, strict=True, hide_input_in_errors=True)

    file: str | None = None
    id: int = Field(ge=0, lt=2**63)
    name: str | None = None
    wa_status: str | None = None
    template_name: str | None = None
    updated_at: str | None = None
    categories: list[str] | None = None
    flow_json_raw: str | None = None
    gone: bool = False
    document: dict[str, Any] | None = Field(None, exclude=True)


class Written(NamedTuple):
    """What a backup did with one flow: new, changed, same, unreadable, or gone."""

    id: int
    name: str | None
    file: str | None
    change: str


class _FolderIndex(BaseModel):
    model_config = ConfigDict(strict=True, hide_input_in_errors=True)

    account: str
    flows: list[Kept]


class BackupFolder:
    """A folder of flow documents.

    Args:
        path: Where it is. `write` makes it if it is not there.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def account(self) -> str | None:
        """Return the account that was backed up here; None if none was.

        Raises:
            InputError: The index cannot be read.
        """
        return self._index().account if (self.path / INDEX).exists() else None

    def refuse_other(self, mine: str) -> None:
        """Refuse the flows of another account.

        Raises:
            InputError: They are, or the index cannot be read.
        """
        if (theirs := self.account()) not in (None, mine):
            raise InputError(
                f"{self.path} holds the flows of {theirs}, and this is {mine}: take another "
                "folder, or say other_account=True."
            )

    def read(self) -> list[Kept]:
        """Read the flows with their documents; one without a file has none.

        Raises:
            InputError: What cannot be read, all of it.
        """
        flows, problems, found = self._index().flows, [], []
        for flow in flows:
            document = None
            if flow.file is not None and (self.path / flow.file).exists():
                try:
                    document = _document(self.path / flow.file)
                except (OSError, ValueError) as error:
                    problems.append(Problem(flow.file, "", _why(error)))
            found.append(flow.model_copy(update={"document": document}))
        if problems:
            raise InputError(f"Some files of {self.path} cannot be read:", problems)
        return found

    def strangers(self) -> list[str]:
        """Name the JSON files here that the index does not know."""
        known = {INDEX, *(flow.file for flow in self._index().flows)}
        return sorted(path.name for path in self.path.glob("*.json") if path.name not in known)

    def write(self, account: str, flows: Sequence[Kept]) -> list[Written]:
        """Write flows and the index; a flow that is here, and not among them, stays as it is.

        Raises:
            InputError: The folder cannot be written, or its index cannot be read.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            before = (
                self._index()
                if (self.path / INDEX).exists()
                else _FolderIndex(account="", flows=[])
            )
            flows = sorted(flows, key=lambda flow: flow.id)
            files = _Files(before, account, flows, self._names())
            written, kept = [], []
            for flow in flows:
                change, file = "unreadable", files.of(flow)
                if flow.document is not None:
                    file = file or files.new(flow)
                    change = self._save(file, flow.document)
                kept.append(flow.model_copy(update={"file": file}))
                written.append(Written(flow.id, flow.name, file, change))
            for flow in files.left:
                if flow.file is not None and (self.path / flow.file).exists():
                    kept.append(flow.model_copy(update={"gone": True}))
                    written.append(Written(flow.id, flow.name, flow.file, "gone"))
            kept.sort(key=lambda flow: (flow.file is None, flow.file or "", flow.id))
            listed = [flow.model_dump(exclude_defaults=True) for flow in kept]
            self._save(INDEX, {"account": account, "flows": listed})
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {_why(error)}.") from None
        return written

    # --- files ----------------------------------------------------------------------

    def _index(self) -> _FolderIndex:
        path = self.path / INDEX
        try:
            index = _FolderIndex.model_validate(_document(path))
        except FileNotFoundError:
            raise InputError(
                f"{self.path} holds no backup of flows: there is no {INDEX} in it. "
                f"client.flows.backup(folder) writes one."
            ) from None
        except ValidationError as error:
            self._broken(
                Problem(".".join(map(str, found["loc"])), "", found["msg"])
                for found in error.errors(include_url=False, include_input=False)
            )
        except (OSError, ValueError) as error:
            self._broken([Problem(INDEX, "", _why(error))])
        names = [flow.file for flow in index.flows if flow.file is not None]
        if wrong := list(_wrong(names)):
            self._broken(wrong)
        return index

    def _broken(self, problems: Iterable[Problem]) -> NoReturn:
        raise InputError(
            f"The index of {self.path} cannot be used; correct it, or take another folder:",
            list(problems),
        )

    def _names(self) -> set[str]:
        """Name all that is here, in small letters: some systems do not tell them apart."""
        return {path.name.casefold() for path in self.path.iterdir()}

    def _save(self, name: str, value: dict[str, Any]) -> str:
        """Write a file, whole or not at all; leave one alone that says the same."""
        path, text = self.path / name, json_text(value)
        there = path.is_file() and not path.is_symlink()
        if there and path.read_bytes().replace(b"\r\n", b"\n") == text:
            return "same"
        with replacing(path, 0o666) as file:
            file.write(text)
        return "changed" if there else "new"


def _wrong(names: Sequence[str]) -> Iterator[Problem]:
    count = Counter(name.casefold() for name in names)
    for name in dict.fromkeys(names):
        if not _FILE.fullmatch(name) or name.casefold() == INDEX:
            yield Problem("file", repr(name), "cannot be the name of a document in this folder")
        elif count[name.casefold()] > 1:
            yield Problem("file", repr(name), f"is the file of {count[name.casefold()]} flows")


def _document(path: Path) -> dict[str, Any]:
    """Read an object from a file."""
    if path.is_symlink():
        raise ValueError("is a link, which may lead out of the folder: put the file in its place")
    value = read_json(path.read_bytes().removeprefix(codecs.BOM_UTF8))
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")
    return value


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return (
        f"is not valid JSON: {error}{error.where}" if isinstance(error, JsonFault) else str(error)
    )


def json_text(value: Mapping[str, Any], *, ordered: bool = False) -> bytes:
    """Write JSON so that each entry stands on a line of its own.

    Args:
        value: The object.
        ordered: Put keys in their order by name, at any depth; without it they stay as they are.
    """
    if ordered:
        with suppress(msgspec.MsgspecError, UnicodeEncodeError, OverflowError, RecursionError):
            plain = msgspec.json.encode(value, order="sorted")
            return bytes(msgspec.json.format(plain, indent=2)) + b"\n"
    for ascii_only in (False, True):  # half a character can only be written as an escape
        text = json.dumps(value, ensure_ascii=ascii_only, indent=2, sort_keys=ordered) + "\n"
        try:
            return text.encode()
        except UnicodeEncodeError:
            continue
    raise AssertionError("ASCII can be encoded")


# --- names ----------------------------------------------------------------------------


class _Files:
    """Gives each flow its file: the one it had, or a new one that nothing else has."""

    def __init__(
        self, before: _FolderIndex, account: str, flows: Sequence[Kept], taken: set[str]
    ) -> None:
        #: The flows of the index that are not there any more.
        self.left = sorted(before.flows, key=lambda flow: (flow.gone, flow.id))
        self._taken = taken | {INDEX} | {(flow.file or "").casefold() for flow in before.flows}
        self._of: dict[int, str | None] = {}
        for by_id in (True, False) if before.account == account else (False,):
            for flow in flows:
                if flow.id not in self._of:
                    self._claim(flow, by_id=by_id)

    def _claim(self, flow: Kept, *, by_id: bool) -> None:
        for old in self.left:
            if old.name == flow.name and (old.id == flow.id or not by_id):
                self._of[flow.id] = old.file
                self.left.remove(old)
                return

    def of(self, flow: Kept) -> str | None:
        """Return the file that a flow has had: the same flow, or another one of its name."""
        return self._of.get(flow.id)

    def new(self, flow: Kept) -> str:
        """Make a name for the file of a flow."""
        stem = safe(flow.name or "")
        stems = [stem] if stem else []
        stems.append(f"{stem or 'flow'}-{flow.id}")
        more = 2
        while (name := f"{stems.pop(0)}.json") in self._taken:
            if not stems:
                stems.append(f"{stem or 'flow'}-{flow.id}-{more}")
                more += 1
        self._taken.add(name)
        return name


def safe(name: str, noun: str = "flow") -> str:
    """Make of a name what every system takes for the name of a file; nothing of what has none.

    Args:
        name: Any text.
        noun: What is put behind a name that a system keeps for itself.

    >>> safe("Größe wählen / ändern?"), safe("../../etc/passwd"), safe("CON"), safe("予約")
    ('grosse-wahlen-andern', 'etc-passwd', 'con-flow', '')
    """
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    stem = re.sub("[^a-z0-9]+", "-", plain)[:60].strip("-")
    return f"{stem}-{noun}" if is_kept(stem) else stem


def is_kept(stem: str) -> bool:
    """Whether a system keeps a name for itself, whatever follows the dot."""
    return _KEPT.fullmatch(stem.casefold()) is not None
