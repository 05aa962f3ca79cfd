"""Contentnotes: what the rules say of contents that are about to be sent, in the words of plans."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from chatkit.bulk.findings import notes as told
from chatkit.bulk.table import records
from chatkit.flowjson.finding import Finding

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.change import Change
    from chatkit.localization.finding import Finding as Found

#: What is found in a draft that holds the words of its source, which was the wish.
COPIED = frozenset(("untranslated", "same as source", "wrong script", "other script"))


def wrong(name: str, value: Any) -> Sequence[Finding]:
    """Find what in one field breaks the API document."""
    from chatkit.localization.audit import check

    found = check({"lang_code": "en", name: value}).errors
    return [_placed(each, name) for each in found if each.field.partition(".")[0] == name]


def notes(
    changes: Sequence[Change],
    base: pd.DataFrame | None,
    *,
    source: str = "en",
    wanted: Collection[str] = (),
) -> list[str]:
    """Say what is to be known of contents once these changes are made.

    Args:
        changes: Creates, updates and deletes of contents.
        base: The contents as they were read, None if that is not known any more: then only
            what is sent is looked at.
        source: The language that the others are translated from.
        wanted: Codes of findings that are no news to who plans this.
    """
    from chatkit.localization.audit import check

    codes = {change.code for change in changes}
    contents: dict[tuple[str, str], dict[str, Any]] = {}
    labels: dict[tuple[str, str], str] = {}
    for place, fields in _known(base, codes):
        contents[place] = fields
    for change in changes:
        place = change.code or "", str(change.key)
        if change.kind == "skip":
            continue
        if change.kind == "delete":
            contents.pop(place, None)
            continue
        labels[place] = change.label
        said = {"template_code": place[0], "lang_code": place[1], **change.after}
        contents[place] = contents.get(place, {}) | said
    found: dict[tuple[str, str], list[Finding]] = {place: [] for place in labels}
    for each in check(contents.values(), source):
        place = each.template_code, each.lang_code
        if place in found and each.severity != "note" and each.code not in wanted:
            found[place].append(_placed(each))
    return told("content", [(labels[place], each) for place, each in found.items() if each])


def _known(
    base: pd.DataFrame | None, codes: Collection[str | None]
) -> list[tuple[tuple[str, str], dict[str, Any]]]:
    """Take the contents of some templates out of a frame; of one template it has no codes."""
    if base is None:
        return []
    keys = base.index.tolist()
    many = base.index.nlevels > 1
    one = next(iter(codes), "") or ""
    places = [(key[0], key[1]) if many else (one, str(key)) for key in keys]
    rows = [row for row, place in enumerate(places) if place[0] in codes]
    return [
        (places[row], {**fields, "template_code": places[row][0], "lang_code": places[row][1]})
        for row, fields in zip(rows, records(base, rows), strict=True)
    ]


def _placed(found: Found, within: str = "") -> Finding:
    """Write a finding as plans have them: its place is a pointer into the field, or the content."""
    path = found.field.removeprefix(within) if within else f".{found.field}"
    return Finding(found.code, found.severity, path.replace(".", "/"), found.message, found.hint)
