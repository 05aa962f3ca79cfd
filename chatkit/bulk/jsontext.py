"""JSON text: what a journal keeps of changes and of events."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec

from chatkit.bulk.change import Change
from chatkit.errors import InputError, Problem

#: As for a call: the standard library's writer refuses what JSON has not, others write null.
_written = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
#: What it raises then; half a character is a ValueError.
_REFUSED = (TypeError, ValueError, RecursionError)
#: More problems than this are only counted.
_SHOWN = 20


def of_changes(changes: Sequence[Change]) -> list[str]:
    """Write each change as JSON, or refuse all that cannot be written at once.

    Raises:
        InputError: JSON cannot hold one of their labels or values.
    """
    texts, problems = [], []
    for change in changes:
        try:
            text = _written(change.as_json())
            text.encode()
            texts.append(text)
        except _REFUSED as error:
            problems.append(_problem(change, error))
    if problems:
        these = f"the first {_SHOWN} of {len(problems)}" if len(problems) > _SHOWN else "these"
        heading = f"JSON cannot hold some of the rows, so nothing was sent; {these}:"
        raise InputError(heading, problems[:_SHOWN])
    return texts


def _problem(change: Change, error: Exception) -> Problem:
    """Say which part of a change JSON cannot hold, and why."""
    fields = change.as_json()
    label, before, after = (fields.pop(name) for name in ("row", "before", "after"))
    place, value = "", None
    for name, part in chain([("its label", label)], *(d.items() for d in (before, after, fields))):
        try:
            _written({name: part}).encode()
        except _REFUSED as found:
            place, value, error = f", {name}", part, found
            break
    reason = "holds half a character" if isinstance(error, UnicodeEncodeError) else str(error)
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:59] + "…"
    return Problem(f"row {change.row!r}{place}", shown, reason)


def of_detail(detail: Mapping[str, object]) -> str:
    """Write what is said of an event. What JSON cannot hold becomes text: it has happened."""
    try:
        return msgspec.json.encode(detail).decode()
    except _REFUSED:
        return json.dumps(detail, default=str)


def detail(text: str) -> dict[str, Any]:
    """Read what `of_detail` wrote."""
    try:
        read: dict[str, Any] = msgspec.json.decode(text)
    except msgspec.DecodeError:  # it has half characters, which only the other reader takes
        read = json.loads(text)
    return read
