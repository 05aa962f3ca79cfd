"""All flows of an account at once: checked, compared, kept in a folder and brought back.

`flows_of_frame` takes the flows out of a frame as `Kept`, which is all that the rest needs: each
document is checked, flows are compared by name, and `BackupFolder` writes and reads them as files
that are at home in git. There each document is a file of its own, written so that a small edit is
a small difference; `index.json` tells which flow each file is of. A file that says the same is
not written again, no file but these is ever touched, and none is deleted.
"""

from __future__ import annotations

import codecs
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

import msgspec
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chatkit.errors import InputError, Problem
from chatkit.finding import errors, finding_line
from chatkit.frame import Columns, Kind, records
from chatkit.json_reader import JsonFault, read_json
from chatkit.lock import replacing

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.connection import Connection
    from chatkit.finding import Finding
    from chatkit.resource import Resource

INDEX = "index.json"

#: A name that stays in the folder, on every system.
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}\.json")
#: Names that Windows keeps for itself, whatever follows the dot; and ours.
_RESERVED = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]|index")


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


class HasFlows(Protocol):
    """Whatever has flows: a client."""

    @property
    def flows(self) -> Resource[Any]:
        """Its flows."""


def flows_of_frame(frame: pd.DataFrame) -> list[Kept]:
    """Take the flows out of a full frame, as a backup keeps them."""
    found = []
    for key, fields in zip(frame.index, records(frame, range(len(frame))), strict=True):
        document, updated = fields.get("flow_json"), fields["updated_at"]
        found.append(
            Kept(
                id=int(key),
                name=fields["name"],
                wa_status=fields["wa_status"],
                template_name=fields["template_name"],
                updated_at=updated and updated.isoformat().replace("+00:00", "Z"),
                categories=_texts(fields.get("categories")),
                flow_json_raw=_text(fields.get("flow_json_raw")),
                document=document if isinstance(document, dict) else None,
            )
        )
    return found


_HIDDEN = "the service does not show its document"
_CHECKED: dict[str, Kind] = {
    "id": "number", "name": "text", "wa_status": "text", "readable": "flag",
    "errors": "number", "warnings": "number", "finding": "text",
}  # fmt: skip


def checks_frame(flows: Sequence[Kept], lint: Callable[[Any], Sequence[Finding]]) -> pd.DataFrame:
    """Check each document, a row for each flow."""
    rows = []
    for flow in flows:
        row: dict[str, Any] = {"id": flow.id, "name": flow.name, "wa_status": flow.wa_status}
        row |= {"readable": False, "errors": None, "warnings": None, "finding": _HIDDEN}
        if flow.document is not None:
            found = lint(flow.document)
            wrong = errors(found)
            row |= {"readable": True, "errors": len(wrong)}
            row["warnings"] = sum(finding.severity == "warning" for finding in found)
            row["finding"] = finding_line((wrong or found)[0]) if found else None
        rows.append(row)
    return _frame(rows, _CHECKED, "id")


_COMPARED: dict[str, Kind] = {
    "name": "text", "state": "text", "changes": "number", "summary": "text",
    "id_here": "number", "id_there": "number", "wa_status_here": "text", "wa_status_there": "text",
}  # fmt: skip
_FEW = 3  #: differences that a summary names


def comparison_frame(here: Sequence[Kept], there: Sequence[Kept]) -> pd.DataFrame:
    """Compare flows by name: a row for each name, those of here first."""
    sides: dict[str, tuple[list[Kept], list[Kept]]] = {}
    for side, flows in enumerate((here, there)):
        for flow in flows:
            sides.setdefault(flow.name or "", ([], []))[side].append(flow)
    rows = [{"name": name} | _compared(*both) for name, both in sides.items()]
    return _frame(rows, _COMPARED, "name")


def _compared(here: Sequence[Kept], there: Sequence[Kept]) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys([*_COMPARED][1:])
    if max(len(here), len(there)) > 1:
        summary = f"{len(here)} here and {len(there)} there have this name"
        return row | {"state": "several", "summary": summary}
    for where, side in (("here", here), ("there", there)):
        if side:
            row |= {f"id_{where}": side[0].id, f"wa_status_{where}": side[0].wa_status}
    if not (here and there):
        return row | {"state": "only here" if here else "only there"}
    a, b = here[0].document, there[0].document
    if a is None or b is None:
        return row | {"state": "unreadable", "summary": _HIDDEN}
    if _sorted(a) == _sorted(b):
        return row | {"state": "same", "changes": 0}
    changes, summary = _differences(a, b)
    return row | {"state": "differs", "changes": changes, "summary": summary}


def _differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[int | None, str]:
    """Count the differences by meaning, and name the first of them."""
    from chatkit.flowjson.diff import diff

    try:
        found = diff(a, b)
    except InputError as error:
        return None, str(error)
    said = [f"{one.kind}: {one.where}" for one in found[:_FEW]]
    if (rest := len(found) - _FEW) > 0:
        said.append(f"… and {rest} more")
    return len(found), "; ".join(said) or "written in another way, but they mean the same"


def _sorted(document: Mapping[str, Any]) -> str:
    return json.dumps(document, sort_keys=True)


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


def folder_owner(connection: Connection) -> str:
    """Say whose flows a folder holds; a sandbox in memory has no name that lasts."""
    lasting = f"sandbox account {connection.account_id}"
    return lasting if connection.passing else connection.account


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
    return f"{stem}-{noun}" if is_reserved(stem) else stem


def is_reserved(stem: str) -> bool:
    """Whether a system keeps a name for itself, whatever follows the dot."""
    return _RESERVED.fullmatch(stem.casefold()) is not None


_WRITTEN: dict[str, Kind] = {"id": "number", "name": "text", "file": "text", "change": "text"}


def backup_frame(flows: Sequence[Written]) -> pd.DataFrame:
    """Tell what a backup did, a row for each flow."""
    return _frame([flow._asdict() for flow in flows], _WRITTEN, "id")


_RESTORED: dict[str, Kind] = {
    "file": "text", "id": "number", "name": "text", "template_name": "text",
    "categories": "json", "flow_json": "json", "flow_json_raw": "text",
}  # fmt: skip


def restore_frame(
    flows: Sequence[Kept], live: pd.DataFrame, strangers: Sequence[str], *, by_id: bool
) -> tuple[pd.DataFrame, list[str]]:
    """Make the frame that brings back what a folder holds, and say what is to be known of it.

    Args:
        flows: What the folder holds.
        live: The flows that are there.
        strangers: Files that are ignored.
        by_id: Whether the ids are of this account.
    """
    rows: list[dict[str, Any]] = []
    new = []
    there = dict(zip(live.index.tolist(), live["name"].tolist(), strict=True))
    mine = {flow.id for flow in flows if by_id and there.get(flow.id) == flow.name}
    names = Counter(
        name for key, name in there.items() if key not in mine and isinstance(name, str)
    )
    for flow in sorted(flows, key=lambda flow: flow.id):
        if flow.document is None:
            continue
        row = dict.fromkeys(_RESTORED) | {"file": flow.file, "name": flow.name}
        row |= {"flow_json": flow.document, "flow_json_raw": flow.flow_json_raw}
        if flow.id in mine:
            row["id"] = flow.id
        elif names[flow.name or ""]:
            names[flow.name or ""] -= 1
        else:  # what can only be said of a new one
            row |= {"template_name": flow.template_name, "categories": flow.categories}
            new.append(flow)
        rows.append(row)
    return _frame(rows, _RESTORED, "file"), list(_notes(flows, new, strangers))


def _notes(flows: Sequence[Kept], new: Sequence[Kept], strangers: Sequence[str]) -> Iterator[str]:
    for flow in flows:
        if flow.document is None:
            why = f"{flow.file} is not there" if flow.file else "the service did not show it"
            yield f"The folder has no document of {flow.name}: {why}. It is left alone."
    if gone := [str(flow.file) for flow in new if flow.gone]:
        yield (
            f"The last backup found these gone already: {', '.join(gone)}. To leave them so, "
            "delete the files."
        )
    if strangers:
        yield f"Files that {INDEX} does not know are ignored: {', '.join(strangers)}."


def _frame(rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, Kind], key: str) -> pd.DataFrame:
    columns = Columns(kinds)
    columns.add(json.dumps(rows).encode())
    return columns.frame(key)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: Any) -> list[str] | None:
    texts = isinstance(value, list) and all(isinstance(part, str) for part in value)
    return value if texts and value else None
