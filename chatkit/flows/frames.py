"""All flows of an account, checked, compared, kept and brought back, as frames."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from chatkit.bulk.findings import errors, finding_line
from chatkit.errors import InputError
from chatkit.flows.files import INDEX, Kept, Written
from chatkit.frame import Columns, Kind, records

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.connection import Connection
    from chatkit.finding import Finding
    from chatkit.resource import Resource

HIDDEN = "the service does not show its document"
FEW = 3  #: differences that a summary names

_CHECKED: dict[str, Kind] = {
    "id": "number", "name": "text", "wa_status": "text", "readable": "flag",
    "errors": "number", "warnings": "number", "finding": "text",
}  # fmt: skip
_COMPARED: dict[str, Kind] = {
    "name": "text", "state": "text", "changes": "number", "summary": "text",
    "id_here": "number", "id_there": "number", "wa_status_here": "text", "wa_status_there": "text",
}  # fmt: skip
_WRITTEN: dict[str, Kind] = {"id": "number", "name": "text", "file": "text", "change": "text"}
_RESTORED: dict[str, Kind] = {
    "file": "text", "id": "number", "name": "text", "template_name": "text",
    "categories": "json", "flow_json": "json", "flow_json_raw": "text",
}  # fmt: skip


class HasFlows(Protocol):
    """Whatever has flows: a client."""

    @property
    def flows(self) -> Resource[Any]:
        """Its flows."""


def folder_owner(connection: Connection) -> str:
    """Say whose flows a folder holds; a sandbox in memory has no name that lasts."""
    lasting = f"sandbox account {connection.account_id}"
    return lasting if connection.passing else connection.account


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


def checks_frame(flows: Sequence[Kept], lint: Callable[[Any], Sequence[Finding]]) -> pd.DataFrame:
    """Check each document, a row for each flow."""
    rows = []
    for flow in flows:
        row: dict[str, Any] = {"id": flow.id, "name": flow.name, "wa_status": flow.wa_status}
        row |= {"readable": False, "errors": None, "warnings": None, "finding": HIDDEN}
        if flow.document is not None:
            found = lint(flow.document)
            wrong = errors(found)
            row |= {"readable": True, "errors": len(wrong)}
            row["warnings"] = sum(finding.severity == "warning" for finding in found)
            row["finding"] = finding_line((wrong or found)[0]) if found else None
        rows.append(row)
    return _frame(rows, _CHECKED, "id")


def backup_frame(flows: Sequence[Written]) -> pd.DataFrame:
    """Tell what a backup did, a row for each flow."""
    return _frame([flow._asdict() for flow in flows], _WRITTEN, "id")


# --- side by side ---------------------------------------------------------------------


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
        return row | {"state": "unreadable", "summary": HIDDEN}
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
    said = [f"{one.kind}: {one.where}" for one in found[:FEW]]
    if (rest := len(found) - FEW) > 0:
        said.append(f"… and {rest} more")
    return len(found), "; ".join(said) or "written in another way, but they mean the same"


def _sorted(document: Mapping[str, Any]) -> str:
    return json.dumps(document, sort_keys=True)


# --- brought back ---------------------------------------------------------------------


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


# --- helpers --------------------------------------------------------------------------


def _frame(rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, Kind], key: str) -> pd.DataFrame:
    columns = Columns(kinds)
    columns.add(json.dumps(rows).encode())
    return columns.frame(key)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: Any) -> list[str] | None:
    texts = isinstance(value, list) and all(isinstance(part, str) for part in value)
    return value if texts and value else None
