"""Changes: what each row of a plan does to one record, as JSON; and what cannot be planned."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import isfinite, isnan
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from chatkit.errors import InputError, Problem
from chatkit.util.display import shorten

Kind = Literal["create", "update", "delete", "skip"]
Undo = Literal["exactly", "not exactly", "never"]
#: An id, as large as a column of Int64 can hold.
Id = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Change(msgspec.Struct, frozen=True):
    """One row of a plan: the change of one record by one row of a frame.

    `before` holds what the plan knows of the record: for an update the fields that change,
    for a delete all that could be sent. A field that the service does not show is not in it.
    `after` holds the fields to send; it is empty for a delete. A skip sends nothing: its
    row met an existing record, `before` is what that keeps, `after` what the row has instead.
    """

    row: Any  #: the label of the row in the frame's index
    kind: Kind
    key: Id | str | None  #: id or language code; None: the service gives it
    label: str  #: which record, in words people know: a number, a name, a code, an address
    before: Mapping[str, Any] = msgspec.field(default_factory=dict)
    after: Mapping[str, Any] = msgspec.field(default_factory=dict)
    code: str | None = None  #: the template code, for contents
    undo: Undo = "exactly"
    loss: str = ""  #: why it cannot be undone exactly
    seen: str | None = None  #: its updated_at when the plan was made
    noun: str | None = None  #: contact, flow, content or webhook; None: the plan's, which has one
    #: What is to be known of it: how severe it is, and in words.
    findings: Sequence[tuple[str, str]] = ()

    def as_json(self) -> dict[str, Any]:
        """Return its fields as JSON values, for a journal or a file."""
        fields = msgspec.structs.asdict(self) | {
            "row": label_to_json(self.row),
            "before": dict(self.before),
            "after": dict(self.after),
        }
        if not self.findings:
            del fields["findings"]
        return fields

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Change:
        """Make a change of the fields that `as_json` returned.

        Raises:
            ValueError, LookupError: It is no change.
        """
        return msgspec.convert({**fields, "row": label_from_json(fields["row"])}, cls)


class RefusedCell(NamedTuple):
    """A cell that cannot be planned: where, what, why, and what to do instead."""

    row: Any
    column: str
    value: str
    reason: str
    next_step: str


class LeftOutRow(NamedTuple):
    """A row of a run that an undo leaves out, because it changed nothing."""

    row: Any
    change: str
    label: str
    state: str
    reason: str


def count_kinds(changes: Iterable[Change]) -> dict[str, int]:
    """Count the creates, updates and deletes."""
    count = Counter[str](change.kind for change in changes)
    return {kind: count[kind] for kind in ("create", "update", "delete")}


def group_by_resource(changes: Iterable[Change], noun: str) -> dict[str, list[Change]]:
    """Group changes by resource; `noun` is the resource of changes that name none."""
    parts: dict[str, list[Change]] = {}
    for change in changes:
        parts.setdefault(change.noun or noun, []).append(change)
    return parts


def label_to_json(row: Any) -> Any:
    """Return a row's label as JSON: labels of several levels as lists, other types as text."""
    if isinstance(row, tuple):
        return [label_to_json(part) for part in row]
    if hasattr(row, "item"):  # a number of numpy
        row = row.item()
    if isinstance(row, str | int | None):
        return row
    if isinstance(row, float):
        return row if isfinite(row) else None if isnan(row) else str(row)
    return str(row)


def label_from_json(row: Any) -> Any:
    """Return the label that `label_to_json` was given."""
    return tuple(map(label_from_json, row)) if isinstance(row, list) else row


#: What writers of JSON raise where it cannot hold something; half a character is a ValueError.
NOT_JSON = (TypeError, ValueError, RecursionError)
#: As for a call: the standard library's writer refuses what JSON has not, others write null.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
#: More problems than this are only counted.
_MAX_PROBLEMS = 20


def serialize_changes(changes: Iterable[Change]) -> Iterator[tuple[Change, str]]:
    """Serialize changes as JSON one by one; refuse those that cannot be after the last.

    Raises:
        InputError: JSON cannot hold one of their labels or values.
    """
    problems, count = [], 0
    for change in changes:
        try:
            text = _encode(change.as_json())
            text.encode()
        except NOT_JSON as error:
            count += 1
            if count <= _MAX_PROBLEMS:
                problems.append(_describe_unwritable(change, error))
        else:
            yield change, text
    if problems:
        these = f"the first {_MAX_PROBLEMS} of {count}" if count > _MAX_PROBLEMS else "these"
        heading = f"JSON cannot hold some of the rows, so nothing was sent; {these}:"
        raise InputError(heading, problems)


def _describe_unwritable(change: Change, error: Exception) -> Problem:
    """Return the part of a change that JSON cannot hold as a problem."""
    fields = change.as_json()
    label, before, after = (fields.pop(name) for name in ("row", "before", "after"))
    location, value = "", None
    for name, part in chain([("its label", label)], *(d.items() for d in (before, after, fields))):
        try:
            _encode({name: part}).encode()
        except NOT_JSON as cause:
            location, value, error = f", {name}", part, cause
            break
    reason = "holds half a character" if isinstance(error, UnicodeEncodeError) else str(error)
    return Problem(f"row {change.row!r}{location}", shorten(repr(value)), reason)


#: A plan of more changes than this names the memory that it needs. So many bytes were measured
#: for each change of a plan that was made, journalled and applied, with its result.
MANY, BYTES = 100_000, 3_000


def describe_memory(count: int) -> str:
    """Estimate the memory that a plan of so many changes needs; empty where that is little."""
    return f"some {count * BYTES / 1e9:,.1f} GB of memory" if count > MANY else ""
