"""Change: one row of a plan, as a value: what it does to which record, and what undoes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite, isnan
from typing import Any, Literal

Kind = Literal["create", "update", "delete", "skip"]
Undo = Literal["exactly", "with loss", "never"]


@dataclass(frozen=True, slots=True)
class Change:
    """What one row of a frame does to one record.

    `before` holds what the plan knows of the record: for an update the fields that change,
    for a delete all that could be sent. A field that the service does not show is not in it.
    `after` holds the fields to send; it is empty for a delete. A skip sends nothing: it tells
    of a row that met an existing record what that keeps, and what the row says instead.
    """

    row: Any  #: the label of the row in the frame's index
    kind: Kind
    key: int | str | None  #: id or language code; None: the service gives it
    label: str  #: which record, in words people know: a number, a name, a code, an address
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    code: str | None = None  #: the template code, for contents
    undo: Undo = "exactly"
    loss: str = ""  #: why it cannot be undone exactly
    seen: str | None = None  #: its updated_at when the plan was made

    def as_json(self) -> dict[str, Any]:
        """Return what can be written as JSON, for a journal or a file."""
        return {name: getattr(self, name) for name in self.__slots__} | {
            "row": plain(self.row),
            "before": dict(self.before),
            "after": dict(self.after),
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Change:
        """Read what `as_json` returned."""
        return cls(**{**fields, "row": label(fields["row"])})


def plain(row: Any) -> Any:
    """Make a row's label fit for JSON: labels of several levels are lists, odd ones are text."""
    if isinstance(row, tuple):
        return [plain(part) for part in row]
    if hasattr(row, "item"):  # a number of numpy
        row = row.item()
    if isinstance(row, str | int | None):
        return row
    if isinstance(row, float):
        return row if isfinite(row) else None if isnan(row) else str(row)
    return str(row)


def label(row: Any) -> Any:
    """Read what `plain` returned."""
    return tuple(map(label, row)) if isinstance(row, list) else row
