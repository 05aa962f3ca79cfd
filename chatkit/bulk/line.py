"""Line: one field of a change, before and after, as it is shown."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from chatkit.bulk.change import Change
from chatkit.display import Shown, differences, many, pair, shown, small, squeezed, words
from chatkit.secret import MASK, SECRET

FIELDS, DEPTH = 8, 3  #: lines of one change, and of one nested value in it
LABEL = 48  #: characters of the name of a record, a field or a row


class Line(NamedTuple):
    """One field of a change. A side that there is not is None."""

    field: str
    before: Shown | None
    after: Shown | None


def lines(change: Change) -> list[Line]:
    """Show the fields of a change; what its label says already is not said again."""
    if change.kind in ("update", "skip"):
        found = [line for name in change.after for line in _updated(change, name)]
    else:
        new = change.kind == "create"
        seen = change.label if len(change.label) <= LABEL else ""
        told = (seen, *re.split("[ /]", seen), change.code)
        fields = {n: v for n, v in (change.after or change.before).items() if v not in told}
        sides = [(n, _one(n, v)) for n, v in fields.items() if new or v not in (None, "", [], {})]
        found = [Line(n, None, side) if new else Line(n, side, None) for n, side in sides]
    return found[:FIELDS] + _rest("", len(found) - FIELDS, "more field")


def _updated(change: Change, name: str) -> list[Line]:
    """Show what becomes of one field: whole if it is small, else the places that differ."""
    before, after = change.before.get(name), change.after[name]
    if name not in change.before or _secret(name, before) or _secret(name, after):
        return [Line(name, words(MASK), _one(name, after))]
    places = [] if small(before) and small(after) else list(differences(name, before, after))
    first = places[:DEPTH] or [(name, before, after)]
    found = [Line(place, *pair(a, b)) for place, a, b in first]
    return found + _rest(name, len(places) - DEPTH, "more difference")


def _rest(field: str, count: int, noun: str) -> list[Line]:
    return [Line(field, None, words(f"… and {many(count, noun)}"))] if count > 0 else []


def _one(name: str, value: Any) -> Shown:
    return words(MASK) if _secret(name, value) else shown(value)


def _secret(name: str, value: Any) -> bool:
    return isinstance(value, str) and SECRET.search(name) is not None


def label(change: Change) -> str:
    """Name the record of a change, with its template code if there is one."""
    said = change.label if (change.code or "") in change.label else f"{change.code} {change.label}"
    return squeezed(said, LABEL)
