"""Compare two flow documents by what they mean, not line by line.

Both are gone through together. The items of a list are paired by id or name, then by equality,
then by position between the same neighbours; each difference has its place in both documents.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from chatkit.flowjson.document import read_document
from chatkit.flowjson.nodes import ACTION_KEYS, CHILD_KEYS
from chatkit.flowjson.texts import OPTIONS, WORDING
from chatkit.report import (
    MANY,
    Report,
    ReportPart,
    html_heading,
    html_tables,
    make_object_frame,
    marked,
)
from chatkit.util.display import MISSING, cut, format_json_pair, many
from chatkit.util.json import escape_key

if TYPE_CHECKING:
    import pandas as pd


def is_same_json(a: Any, b: Any) -> bool:
    """Return whether two JSON values are equal: 1 is 1.0, but not true."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(is_same_json(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(is_same_json, a, b))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return bool(a == b) or (a != a and b != b)


# --- pairs of items ---------------------------------------------------------------------------


def read_id(value: Any, subject: str) -> str | None:
    """Return what distinguishes an item of a list: the name of a component, or its id."""
    name = value.get("name" if subject == "component" else "id") if isinstance(value, dict) else ""
    return name if name and isinstance(name, str) else None


def pair_items(a: Sequence[Any], b: Sequence[Any], subject: str) -> dict[int, int]:
    """Pair the items of two lists: by id or name, by equality, then by position.

    Returns:
        Positions before with those after, in the order of the first list.
    """
    pairs: dict[int, int] = {}
    texts = [[json.dumps(item, sort_keys=True) for item in items] for items in (a, b)]
    ids = [[read_id(item, subject) for item in items] for items in (a, b)]
    # of two items with one id the one that is the same, then the first
    both = [
        [n and (n, text) for n, text in zip(*each, strict=True)]
        for each in zip(ids, texts, strict=True)
    ]
    for before, after in (both, ids, texts):
        free: dict[Any, list[int]] = {}
        for n in set(range(len(b))).difference(pairs.values()):
            free.setdefault(after[n], []).append(n)
        for m, key in enumerate(before):
            if m not in pairs and key is not None and free.get(key):
                pairs[m] = min(free[key])
                free[key].remove(pairs[m])
    back = {n: m for m, n in pairs.items()}
    steps = SequenceMatcher(
        None,
        [(m if m in pairs else -1) for m in range(len(a))],
        [back.get(n, -2) for n in range(len(b))],
        autojunk=False,
    )
    for _, first, last, start, end in steps.get_opcodes():  # what stands between the same pairs
        unpaired = [n for n in range(start, end) if n not in back]
        for m in (m for m in range(first, last) if m not in pairs):
            for place, n in enumerate(unpaired):
                if _read_type(a[m], subject) == _read_type(b[n], subject):
                    pairs[m] = n
                    unpaired = unpaired[place + 1 :]
                    break
    return dict(sorted(pairs.items()))


def _read_type(item: Any, subject: str) -> Any:
    """Return the type of a component: one of another type is not the same one, changed."""
    return item.get("type") if subject == "component" and isinstance(item, dict) else None


def find_moved_positions(pairs: Iterable[tuple[int, int]]) -> set[int]:
    """Return the first positions of the pairs that moved: the fewest that explain the order."""
    ends: list[int] = []  # the lowest end of a rising row, by its length
    rows: list[tuple[int, ...]] = []
    ordered = sorted(pairs)
    for x, y in ordered:
        n = bisect_left(ends, y)
        row = (*(rows[n - 1] if n else ()), x)
        ends[n : n + 1], rows[n : n + 1] = [y], [row]
    return {x for x, _ in ordered} - set(rows[-1] if rows else ())


# --- differences ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of two documents."""

    #: What and how: "screen added", "text changed", "component moved", "property renamed" …
    kind: str
    where: str  #: its place in words
    pointer_a: str | None  #: its place in the first document, if it is there
    pointer_b: str | None  #: its place in the second document, if it is there
    before: Any
    after: Any


Differences = Iterator[Difference]
#: What has keys of the platform, whatever the names are that stand in its data and payloads.
_OWNERS = ("component", "option", "screen")
#: The subject of what stands under a key of a subject.
_SUBJECTS: dict[tuple[str, str], str] = {
    **{(owner, key): "action" for owner in _OWNERS for key in ACTION_KEYS},
    **{(owner, key): "component" for owner in _OWNERS for key in CHILD_KEYS},
    ("document", "routing_model"): "route",
    ("document", "screens"): "screen",
    ("screen", "data"): "data",
    **{(owner, key): "text" for owner in _OWNERS for key in WORDING},
    **{("component", key): "option" for key in OPTIONS},
}
_UNNAMED = ("screens", "layout", "children")  # keys that say nothing of a place
#: What has properties whose names mean something, so that one may be renamed.
_RENAMED = ("action", "component", "option")


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in both documents: its subject, its path in words, and its pointers."""

    subject: str
    path: tuple[str, ...]
    a: str
    b: str

    def select(self, key: str, other: str | None = None) -> _Place:
        """Return the place of a key below this one, `other` in the second document."""
        subject = _SUBJECTS.get((self.subject, key), self.subject)
        unnamed = key in _UNNAMED and self.subject in ("document", *_OWNERS)
        path = self.path if unnamed else (*self.path, cut(key, 40))
        b = f"{self.b}/{escape_key(key if other is None else other)}"
        return _Place(subject, path, f"{self.a}/{escape_key(key)}", b)

    def select_item(self, m: int, n: int, item: Any) -> _Place:
        """Return the place of an item of the list here, which is at `m` and at `n`."""
        path = (*self.path, _format_label(n, item, self.subject))
        return _Place(self.subject, path, f"{self.a}/{m}", f"{self.b}/{n}")

    def difference(self, how: str, before: Any, after: Any) -> Difference:
        """Make a difference at this place; a document without the value gets no pointer."""
        a = None if before is MISSING else self.a
        b = None if after is MISSING else self.b
        where = " › ".join(self.path) or "document"
        return Difference(f"{self.subject} {how}", where, a, b, before, after)


def find_differences(a: Any, b: Any) -> Differences:
    """Yield all differences, those of the document first and then screen by screen.

    A component that is removed here and added there, as it was, has moved.
    """
    differences = list(_compare_values(_Place("document", (), "", ""), a, b))
    origins: dict[int, Difference] = {}  # of what was added, by its place among the differences
    removed = [(n, one) for n, one in enumerate(differences) if one.kind == "component removed"]
    for n, one in enumerate(differences):
        if one.kind == "component added":
            same = next((each for each in removed if is_same_json(each[1].before, one.after)), None)
            if same:
                removed.remove(same)
                origins |= {n: same[1], same[0]: same[1]}
    for n, one in enumerate(differences):
        if (origin := origins.get(n, one)) is not one:
            two = (origin.pointer_a, one.pointer_b, origin.where, one.where)
            yield Difference("component moved", one.where, *two)
        elif n not in origins:
            yield one


def _compare_values(place: _Place, x: Any, y: Any) -> Differences:
    """Yield what differs between two JSON values."""
    if x is MISSING or y is MISSING:
        yield place.difference("removed" if y is MISSING else "added", x, y)
    elif is_same_json(x, y):
        return
    elif isinstance(x, dict) and isinstance(y, dict):
        renamed = _find_renamed_keys(x, y) if place.subject in _RENAMED else {}
        for old, new in renamed.items():
            below = place.select(old, new)
            yield Difference("property renamed", " › ".join(below.path), below.a, below.b, old, new)
        keys = [key for key in {**x, **y} if key not in renamed and key not in renamed.values()]
        for key in sorted(keys, key=lambda key: place.subject == "document" and key == "screens"):
            yield from _compare_values(place.select(key), x.get(key, MISSING), y.get(key, MISSING))
    elif isinstance(x, list) and isinstance(y, list):
        yield from _compare_lists(place, x, y)
    else:
        yield place.difference("changed", x, y)


def _compare_lists(place: _Place, x: list[Any], y: list[Any]) -> Differences:
    """Compare two lists by their items; an insertion does not move those after it."""
    after = pair_items(x, y, place.subject)
    ahead, old = find_moved_positions(after.items()), set(after.values())
    for m, item in enumerate(x):
        if m not in after:
            yield place.select_item(m, m, item).difference("removed", item, MISSING)
    for n, item in enumerate(y):
        if n not in old:
            yield place.select_item(n, n, item).difference("added", MISSING, item)
    for m, n in after.items():
        inner = place.select_item(m, n, y[n])
        if m in ahead and place.subject != "route":  # whose order means nothing
            yield inner.difference("moved", f"place {m + 1}", f"place {n + 1}")
        yield from _compare_values(inner, x[m], y[n])


def _find_renamed_keys(x: dict[str, Any], y: dict[str, Any]) -> dict[str, str]:
    """Find the keys of an object whose value has one other key in the second one."""
    removed = [key for key, value in x.items() if key not in y and value not in _COMMON_VALUES]
    added = [key for key in y if key not in x]
    renamed = {}
    for key in removed:
        keys = [other for other in added if is_same_json(x[key], y[other])]
        equal = [other for other in removed if is_same_json(x[key], x[other])]
        if len(keys) == len(equal) == 1:
            renamed[key] = keys[0]
    return renamed


#: Values that two properties may well share: a new one need not be the old one.
_COMMON_VALUES: Sequence[Any] = (None, True, False, "", [], {})


def _format_label(n: int, item: Any, subject: str) -> str:
    """Return the words for an item of a list: its type and name, its id, or a text on it."""
    id = read_id(item, subject)
    if subject == "screen":
        return f"screen {cut(id or '(without id)', 40)}"
    if subject != "component" or not isinstance(item, dict):
        return cut(item if isinstance(item, str) else id or f"item {n + 1}", 40)
    kind = cut(item["type"] if isinstance(item.get("type"), str) else "component", 40)
    if id:
        return f"{kind} {cut(id, 40)}"
    for key in ("text", "label", "condition", "value"):
        text = item.get(key)
        text = text[0] if isinstance(text, list) and text else text
        if isinstance(text, str) and text.strip():
            return f'{kind} "{cut(text, 30)}"'
    return kind


#: The sign of each kind of difference, and the class that colours it.
_SIGNS = {
    **{"added": ("+", "create"), "removed": ("-", "delete"), "changed": ("~", "update")},
    **{"moved": ("↕", "update"), "renamed": ("~", "update")},
}
_WIDTHS = {"difference": 18, "where": 32, "before": 25, "after": 25}
_UNFOLDED = 25  #: differences of the HTML that are not folded


def draw_text_cell(text: str, tag: str) -> str:
    """Return the HTML of a cell with a text in a tag; without a text an empty one."""
    return f'<td dir="auto"><{tag}>{marked(text)}</{tag}></td>' if text else "<td></td>"


class Diff(Report, tuple[Difference, ...]):
    """The differences of two flow documents; false when there are none."""

    __slots__ = ()

    def frame(self) -> pd.DataFrame:
        """Return a row for each difference; a value that is not there is None."""
        columns = ("kind", "where", "pointer_a", "pointer_b", "before", "after")
        return make_object_frame(self, columns, texts=columns[:4])

    def _parts(self) -> list[ReportPart]:
        lines = [_summarize(self)]
        for one in self[:MANY]:
            lines.append(f"  {_choose_sign(one)[0]} {one.kind}: {one.where}")
            if values := " → ".join(filter(None, _format_values(one))):
                lines.append(f"      {values}")
        if (more := len(self) - MANY) > 0:
            lines.append(f"  … and {more:,} more: .frame() has them all")
        return [ReportPart(lines, self._html)]

    def _html(self) -> str:
        rows = [_draw_difference(one) for one in self[:MANY]]
        table = html_tables(_WIDTHS, rows[:_UNFOLDED], rows[_UNFOLDED:], len(self), ".frame()")
        return html_heading(_summarize(self)) + table


def diff(a: object, b: object) -> Diff:
    """Compare two flow documents by what they mean.

    The order of keys and the layout of the text are no difference. A component is found again
    by its name, or else by what it says and where it stands, so that one that was inserted
    does not change those after it.

    Args:
        a: The first document: a dict, JSON text, a file, or a built Flow.
        b: The second one.

    Returns:
        The differences, those of the document first and then screen by screen.

    Raises:
        InputError: One of them is no JSON.
    """
    return Diff(find_differences(read_document(a), read_document(b)))


def _summarize(differences: Diff) -> str:
    if not differences:
        return "No difference: both documents mean the same."
    count = Counter(one.kind for one in differences)
    return f"{many(len(differences), 'difference')}: " + ", ".join(
        f"{number:,} {kind}" for kind, number in count.items()
    )


def _choose_sign(one: Difference) -> tuple[str, str]:
    return _SIGNS[one.kind.rpartition(" ")[2]]


def _format_values(one: Difference) -> list[str]:
    """Return the texts of the values before and after; empty for one that is missing."""
    if one.kind.endswith(" moved"):
        return [one.before, one.after]  # places in words
    pairs = zip((one.before, one.after), format_json_pair(one.before, one.after), strict=True)
    return ["" if value is MISSING else text for value, text in pairs]


def _draw_difference(one: Difference) -> str:
    sign, style = _choose_sign(one)
    texts = zip((one.where, *_format_values(one)), ("span", "del", "ins"), strict=True)
    cells = "".join(draw_text_cell(*each) for each in texts)
    return (
        f'<tbody><tr><td><b class="{style}">{sign}</b>{marked(one.kind)}</td>{cells}</tr></tbody>'
    )
