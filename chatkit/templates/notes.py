"""Check contents that are about to be sent, as they would then be, in the words of plans."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from chatkit.bulk.findings import at
from chatkit.finding import Finding
from chatkit.frame import records

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.endpoints import Planned
    from chatkit.localization.rules import ContentFinding

#: What tells a finding from another one in the same content.
Told: TypeAlias = tuple[str, str, str]
#: What is found in a draft that holds the words of its source, which was the wish.
COPIED = frozenset(("untranslated", "same as source", "wrong script", "other script"))


def judged(fields: Mapping[str, Any], live: Mapping[str, Any] | None) -> list[Finding]:
    """Check one content as it would be once these fields are sent, for what is refused.

    Args:
        fields: What is sent.
        live: The content as it is; empty for a new one, None if that is not known.
    """
    from chatkit.localization.audit import check

    before = live or {}
    there = {_told(each) for each in check([{"lang_code": "en", **before}])} if before else set()
    content = {"lang_code": "en", **before, **fields}
    edit = _Edit(before, content, fields, there, new=live == {})
    return [edit.placed(each) for each in check([content]).refused]


def examined(
    changes: Sequence[Planned],
    base: pd.DataFrame,
    *,
    source: str = "en",
    wanted: Collection[str] = (),
) -> dict[int, list[Finding]]:
    """Check all contents of a plan as they would be once it is applied.

    Args:
        changes: Creates, updates and deletes of contents.
        base: The contents as they were read. What a list does not show is not judged.
        source: The language that the others are translated from.
        wanted: Codes of findings that are no news to who plans this.

    Returns:
        What was found, by the place of the change.
    """
    from chatkit.localization.audit import check

    before = dict(_known(base, {change.code for change in changes}))
    after = dict(before)
    places: dict[tuple[str, str], int] = {}
    for n, change in enumerate(changes):
        place = change.code or "", str(change.key)
        if change.kind == "skip":
            continue
        if change.kind == "delete":
            after.pop(place, None)
            continue
        places[place] = n
        said = {"template_code": place[0], "lang_code": place[1], **change.after}
        after[place] = before.get(place, {}) | said
    there: dict[tuple[str, str], set[Told]] = {}
    for each in check(before.values(), source) if places.keys() & before.keys() else ():
        there.setdefault((each.template_code, each.lang_code), set()).add(_told(each))
    found: dict[int, list[Finding]] = {}
    for each in check(after.values(), source):
        place = each.template_code, each.lang_code
        if place in places and each.severity != "note" and each.code not in wanted:
            n = places[place]
            held, new = before.get(place, {}), changes[n].kind == "create"
            edit = _Edit(held, after[place], changes[n].after, there.get(place, set()), new=new)
            found.setdefault(n, []).append(edit.placed(each))
    return found


class _Edit(NamedTuple):
    """A content before and after it is sent, and what was found in it before."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    sent: Mapping[str, Any]
    there: Collection[Told]
    new: bool

    def placed(self, found: ContentFinding) -> Finding:
        """Call it an error if it stops the change, and else a warning."""
        return replace(found, severity="error" if self._stops(found) else "warning")

    def _stops(self, found: ContentFinding) -> bool:
        """Whether the service refuses it, or the platform a content that is live with it.

        An edit of something else does not stop at what is live with it already.
        """
        if found.severity == "error":
            return self.new or found.field.partition(".")[0] in self.sent
        live = self.after.get("is_draft") is not True
        if not found.refused or not live:
            return False
        begins = self.new or self.before.get("is_draft") is True or "is_draft" in self.sent
        return begins or _told(found) not in self.there or self._touches(found)

    def _touches(self, found: ContentFinding) -> bool:
        return repr(at(self.before, found.pointer)) != repr(at(self.after, found.pointer))


def _told(found: ContentFinding) -> Told:
    return found.code, found.field, found.message


def _known(
    base: pd.DataFrame, codes: Collection[str | None]
) -> list[tuple[tuple[str, str], dict[str, Any]]]:
    """Take the contents of some templates out of a frame; of one template it has no codes."""
    keys = base.index.tolist()
    many = base.index.nlevels > 1
    one = next(iter(codes), "") or ""
    places = [(key[0], key[1]) if many else (one, str(key)) for key in keys]
    rows = [row for row, place in enumerate(places) if place[0] in codes]
    return [
        (places[row], {**fields, "template_code": places[row][0], "lang_code": places[row][1]})
        for row, fields in zip(rows, records(base, rows), strict=True)
    ]
