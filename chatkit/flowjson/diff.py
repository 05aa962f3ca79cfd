"""Compare two flow documents by what they mean, not line by line.

Screens and components are paired by id or name, then by equality, then by position between the
same neighbours. Pairs are compared; each difference has its place in both documents.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from chatkit.flowjson.document import read_document
from chatkit.flowjson.nodes import (
    ACTION_KEYS,
    ComponentNode,
    FlowNode,
    ScreenNode,
    find_child_lists,
    group_by_slot,
    read_nodes,
)
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
from chatkit.util.json import escape_key, split_pointer, unescape_key

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
Key: TypeAlias = Callable[[T], Hashable | None]


def is_same_json(a: Any, b: Any) -> bool:
    """Return whether two JSON values are equal: 1 is 1.0, but not true."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(is_same_json(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(is_same_json, a, b))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return bool(a == b) or (a != a and b != b)


def write_canonical_json(value: Any) -> str:
    """Write a value as JSON; equal values are written alike."""
    return json.dumps(value, sort_keys=True)


class Matching(Generic[T]):
    """Pairs of items of two documents; an item is paired once."""

    def __init__(self) -> None:
        self.after: dict[T, T] = {}
        self.before: dict[T, T] = {}

    def pair(self, x: T, y: T) -> None:
        """Pair two items."""
        self.after[x], self.before[y] = y, x

    def pair_equal(self, a: Iterable[T], b: Sequence[T], key: Key[T]) -> None:
        """Pair items of equal keys, in any order; a key of None equals nothing."""
        free: dict[Hashable, list[T]] = {}
        for y in reversed(b):
            if y not in self.before:
                free.setdefault(key(y), []).append(y)
        for x in a:
            if x not in self.after and key(x) is not None and free.get(key(x)):
                self.pair(x, free[key(x)].pop())

    def pair_in_order(
        self, a: Sequence[T], b: Sequence[T], key: Key[T], kind: Key[T] | None = None
    ) -> None:
        """Pair items of equal keys in the same order, and of equal kinds between such pairs."""
        before = [id(self.after[x]) if x in self.after else key(x) for x in a]
        after = [id(y) if y in self.before else key(y) for y in b]
        for code, a0, a1, b0, b1 in SequenceMatcher(None, before, after, False).get_opcodes():
            free = [y for y in b[b0:b1] if y not in self.before]
            for x, y in zip(a[a0:a1], b[b0:b1], strict=True) if code == "equal" else ():
                self.pair(x, y)
            for x in a[a0:a1] if kind and code != "equal" else ():
                match = next((n for n, y in enumerate(free) if kind and kind(x) == kind(y)), None)
                if match is not None and x not in self.after:
                    self.pair(x, free[match])
                    free = free[match + 1 :]


@dataclass(eq=False, slots=True)
class _Item:
    """An item of a list, equal only to itself."""

    index: int
    id: str | None
    text: str


_Pairs = dict[int, int]


def pair_items(a: Mapping[int, Any], b: Mapping[int, Any]) -> _Pairs:
    """Pair the items of two lists: by id, by equality, then by position.

    Args:
        a: The items before, by their positions.
        b: The items after.

    Returns:
        Positions before with those after, in the order of the first list.
    """
    x, y = (
        [_Item(n, _read_id(v), write_canonical_json(v)) for n, v in items.items()]
        for items in (a, b)
    )
    pairs: Matching[_Item] = Matching()
    # of two items with one id the one that is the same, then the first
    pairs.pair_equal(x, y, lambda item: item.id and (item.id, item.text))
    pairs.pair_equal(x, y, lambda item: item.id)
    pairs.pair_in_order(x, y, lambda item: item.text)
    pairs.pair_equal(x, y, lambda item: item.text)
    pairs.pair_in_order(x, y, lambda item: item.text, lambda _: None)
    return {item.index: pairs.after[item].index for item in x if item in pairs.after}


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


_LISTS = ("children", "then", "else")


def select_own_properties(value: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the properties of a container that hold no list of components in either."""
    lists = {key for key in _LISTS if any(isinstance(v.get(key), list) for v in (value, other))}
    kept = {key: inner for key, inner in value.items() if key not in lists}
    cases, others = value.get("cases"), other.get("cases")
    if isinstance(cases, dict) and isinstance(others, dict):
        both = (cases, others)
        lists = {case for case in cases if any(isinstance(v.get(case), list) for v in both)}
        kept["cases"] = {case: inner for case, inner in cases.items() if case not in lists}
    return kept


def describe_position(component: ComponentNode) -> str:
    """Describe the place of a component in words."""
    number = int(component.pointer.rpartition("/")[2]) + 1
    slot = component.slot.removeprefix("/").replace("cases/", "case ")
    parent = component.parent
    inside = f" in {cut(f'{parent.type} {parent.name or slot}', 40)}" if parent else ""
    return f"place {number}{inside} on screen {cut(component.screen.id or '(without id)', 40)}"


class ComponentMatching(Matching[ComponentNode]):
    """Pairs of components: by name, by equality, then by position.

    Args:
        screens: The pairs of screens.
        first: The document before.
        second: The document after.
    """

    def __init__(
        self,
        screens: Sequence[tuple[ScreenNode, ScreenNode]],
        first: FlowNode,
        second: FlowNode,
    ) -> None:
        super().__init__()
        self._screens = dict(screens) | {y: x for x, y in screens}
        for x, y in screens:
            self.pair_equal(x.components, y.components, lambda component: component.name)
            self._pair_by_position(x, y)
        for x, y in screens:
            self.pair_equal(x.components, y.components, _write_component_json)
        # Many footers are alike, and stay where they are.
        others = [each for each in first.components if each.type != "Footer"]
        self.pair_equal(others, second.components, _write_component_json)
        for x, y in screens:
            self._pair_by_position(x, y, lambda component: component.type)
        self.moved = self._find_moved(first, second)

    def _pair_by_position(
        self, x: ScreenNode, y: ScreenNode, kind: Key[ComponentNode] | None = None
    ) -> None:
        """Pair equal components in the same order of their lists, and those of a kind between."""
        inside = (
            (each.children, self.after[each].children)
            for each in x.components
            if each in self.after
        )
        # parents before their children
        for before, after in chain([(x.top_components, y.top_components)], inside):
            others = group_by_slot(after)
            for slot, components in group_by_slot(before).items():
                self.pair_in_order(components, others.get(slot, []), _write_component_json, kind)

    def has_list_in_both(self, component: ComponentNode, mates: Mapping[Any, Any]) -> bool:
        """Return whether the list of an unpaired component exists in both documents."""
        parent = component.parent
        if parent is not None:
            return parent in mates and component.slot in dict(find_child_lists(mates[parent].value))
        mate = self._screens.get(component.screen)
        layout = mate.value.get("layout") if mate else None
        return isinstance(layout, dict) and component.slot in dict(find_child_lists(layout))

    def _find_moved(self, first: FlowNode, second: FlowNode) -> set[ComponentNode]:
        """Return the components that stand in another list, or in another order, than before."""
        moved: set[ComponentNode] = set()
        lists: dict[Hashable, list[tuple[int, int]]] = {}
        components = list(first.components)
        order = {each: n for both in (components, second.components) for n, each in enumerate(both)}
        for one, other in self.after.items():
            home = self.after.get(one.parent) if one.parent else self._screens.get(one.screen)
            if home is (other.parent or other.screen) and one.slot == other.slot:
                lists.setdefault((id(home), one.slot), []).append((order[one], order[other]))
            else:
                moved.add(one)
        for pairs in lists.values():
            moved |= {components[n] for n in find_moved_positions(pairs)}
        return moved


def _write_component_json(component: ComponentNode) -> str:
    return write_canonical_json(component.value)


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


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in both documents: its path in words, its pointers, and its subject."""

    subject: str
    path: tuple[str, ...]
    a: str
    b: str

    def child(self, key: str, label: str | None = None, subject: str | None = None) -> _Place:
        """Return the place of a key below this one."""
        step = f"/{escape_key(key)}"
        path = (*self.path, cut(key if label is None else label, 40))
        return _Place(subject or self.subject, path, self.a + step, self.b + step)

    def difference(self, how: str, before: Any, after: Any) -> Difference:
        """Make a difference at this place; a document without the value gets no pointer."""
        a = None if before is MISSING else self.a
        b = None if after is MISSING else self.b
        return Difference(f"{self.subject} {how}", " › ".join(self.path), a, b, before, after)


def find_differences(a: Any, b: Any) -> Differences:
    """Yield all differences, those of the document first and then screen by screen."""
    if is_same_json(a, b):
        return
    if isinstance(a, dict) and isinstance(b, dict):
        yield from _Comparison(a, b).compare_documents()
    else:
        yield _Place("document", ("document",), "", "").difference("changed", a, b)


class _Comparison:
    """Compares two documents, with their screens and components paired."""

    def __init__(self, a: dict[str, Any], b: dict[str, Any]) -> None:
        self.a, self.b = a, b
        self.roots: tuple[FlowNode, FlowNode] = read_nodes(a), read_nodes(b)
        self.screens = pair_items(*(dict(enumerate(_list_screens(each))) for each in (a, b)))
        first, second = ({screen.index: screen for screen in o.screens} for o in self.roots)
        pairs = [(first.get(m), second.get(n)) for m, n in self.screens.items()]
        self.screen_pairs = [(x, y) for x, y in pairs if x is not None and y is not None]
        self.pairing = ComponentMatching(self.screen_pairs, *self.roots)

    def compare_documents(self) -> Differences:
        """Yield all differences."""
        root = _Place("document", (), "", "")
        for key in {**self.a, **self.b}:
            x, y = self.a.get(key, MISSING), self.b.get(key, MISSING)
            if key == "screens" and isinstance(x, list) and isinstance(y, list):
                continue  # last, however the keys are ordered
            location = root.child(key, subject="route" if key == "routing_model" else None)
            yield from self._compare_values(location, x, y)
        if all(isinstance(document.get("screens"), list) for document in (self.a, self.b)):
            screens = _Place("screen", (), "/screens", "/screens")
            x, y = (dict(enumerate(_list_screens(each))) for each in (self.a, self.b))
            yield from self._compare_lists(screens, x, y, self.screens)
            for one, other in self.screen_pairs:
                yield from self._compare_screens(one, other)

    def _compare_screens(self, x: ScreenNode, y: ScreenNode) -> Differences:
        location = _Place("screen", (_format_screen_label(0, y.value),), x.pointer, y.pointer)
        for key in {**x.value, **y.value}:
            before, after = x.value.get(key, MISSING), y.value.get(key, MISSING)
            inner = location.child(key, subject=_choose_subject("screen", key))
            if key == "data" and isinstance(before, dict) and isinstance(after, dict):
                for name in {**before, **after}:
                    two = before.get(name, MISSING), after.get(name, MISSING)
                    yield from self._compare_values(inner.child(name, subject="data"), *two)
            elif key == "layout" and isinstance(before, dict) and isinstance(after, dict):
                yield from self._compare_containers(inner, before, after)
            else:
                yield from self._compare_values(inner, before, after)
        yield from self._compare_components(location, x, y)

    def _compare_components(
        self, location: _Place, one_screen: ScreenNode, other_screen: ScreenNode
    ) -> Differences:
        """Yield what differs in the components of two screens, removed ones first."""
        pairing = self.pairing
        for one in one_screen.components:
            if one not in pairing.after and pairing.has_list_in_both(one, pairing.after):
                yield _locate_component(location, one, None).difference(
                    "removed", one.value, MISSING
                )
        for other in other_screen.components:
            mate = pairing.before.get(other)
            inner = _locate_component(location, mate, other)
            if mate is not None:
                if mate in pairing.moved:
                    yield inner.difference(
                        "moved", describe_position(mate), describe_position(other)
                    )
                yield from self._compare_containers(inner, mate.value, other.value)
            elif pairing.has_list_in_both(other, pairing.before):
                yield inner.difference("added", MISSING, other.value)

    def _compare_containers(
        self, location: _Place, x: dict[str, Any], y: dict[str, Any]
    ) -> Differences:
        """Compare two components or layouts, except for the components in them."""
        yield from self._compare_values(
            location, select_own_properties(x, y), select_own_properties(y, x)
        )
        both = all(isinstance(value.get("cases"), dict) for value in (x, y))
        for name in dict(find_child_lists(x)) | dict(find_child_lists(y)):
            if name.startswith("/cases/") and not both:
                continue  # what `cases` is was compared as a whole
            label = unescape_key(name.removeprefix("/").replace("cases/", "case "))
            inner = _Place(
                "component", (*location.path, label), location.a + name, location.b + name
            )
            before, after = _read_slot(x, name), _read_slot(y, name)
            if isinstance(before, list) and isinstance(after, list):
                yield from self._compare_lists(inner, _find_strays(before), _find_strays(after))
            else:
                yield from self._compare_values(inner, before, after)

    def _compare_values(self, location: _Place, x: Any, y: Any) -> Differences:
        """Yield what differs between two JSON values."""
        if x is MISSING or y is MISSING:
            if x is not y:
                yield location.difference("removed" if y is MISSING else "added", x, y)
        elif is_same_json(x, y):
            return
        elif isinstance(x, dict) and isinstance(y, dict):
            renamed = _find_renamed_keys(x, y) if location.subject in _RENAMED else {}
            for old, new in renamed.items():
                renamed_b = f"{location.b}/{escape_key(new)}"
                here = replace(location.child(old), subject="property", b=renamed_b)
                yield here.difference("renamed", old, new)
            for key in {**x, **y}:
                if key in renamed or key in renamed.values():
                    continue
                below = location.child(key, subject=_choose_subject(location.subject, key))
                yield from self._compare_values(below, x.get(key, MISSING), y.get(key, MISSING))
        elif isinstance(x, list) and isinstance(y, list):
            if location.subject == "component" and location.path[-1] in OPTIONS:
                location = replace(location, subject="option")
            yield from self._compare_lists(location, dict(enumerate(x)), dict(enumerate(y)))
        else:
            yield location.difference("changed", x, y)

    def _compare_lists(
        self, location: _Place, a: dict[int, Any], b: dict[int, Any], pairs: _Pairs | None = None
    ) -> Differences:
        """Compare two lists by their items; an insertion does not move those after it.

        With `pairs`, those of screens, only items that are no object are compared further.
        """
        label = _format_item_label if pairs is None else _format_screen_label
        after = pair_items(a, b) if pairs is None else pairs
        ahead, old = find_moved_positions(after.items()), set(after.values())
        for m in a:
            if m not in after:
                yield location.child(str(m), label(m, a[m])).difference("removed", a[m], MISSING)
        for n in b:
            if n not in old:
                yield location.child(str(n), label(n, b[n])).difference("added", MISSING, b[n])
        for m, n in after.items():
            inner = replace(location.child(str(n), label(n, b[n])), a=f"{location.a}/{m}")
            if m in ahead and location.subject != "route":  # whose order means nothing
                yield inner.difference("moved", f"place {m + 1}", f"place {n + 1}")
            if pairs is None or not (isinstance(a[m], dict) and isinstance(b[n], dict)):
                yield from self._compare_values(inner, a[m], b[n])


#: What has properties whose names mean something, so that one may be renamed.
_RENAMED = ("action", "component", "option")


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


def _list_screens(document: dict[str, Any]) -> list[Any]:
    value = document.get("screens")
    return value if isinstance(value, list) else []


def _read_id(value: Any) -> str | None:
    name = value.get("id") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None


def _choose_subject(subject: str, key: str) -> str:
    """Return the subject of a property: action, text, or that of its owner."""
    if key in ACTION_KEYS:
        return "action"
    return "text" if subject in ("component", "option", "screen") and key in WORDING else subject


def _format_screen_label(_: int, value: Any) -> str:
    return f"screen {cut(_read_id(value) or '(without id)', 40)}"


def _locate_component(location: _Place, x: ComponentNode | None, y: ComponentNode | None) -> _Place:
    a, b = x.pointer if x else "", y.pointer if y else ""
    one = y or x
    label = _format_component_label(one) if one else ""
    return _Place("component", (*location.path, label), a, b)


def _format_component_label(component: ComponentNode) -> str:
    """Return the type of a component with its name, or else with a text on it."""
    kind = cut(component.type or "component", 40)
    if component.name:
        return f"{kind} {cut(component.name, 40)}"
    for key in ("text", "label", "condition", "value"):
        text = component.value.get(key)
        text = text[0] if isinstance(text, list) and text else text
        if isinstance(text, str) and text.strip():
            return f'{kind} "{cut(text, 30)}"'
    return kind


def _format_item_label(n: int, value: Any) -> str:
    return value if isinstance(value, str) else _read_id(value) or f"item {n + 1}"


def _read_slot(value: dict[str, Any], slot: str) -> Any:
    """Return the value at a JSON pointer in a container; MISSING without one."""
    for step in split_pointer(slot):
        value = value.get(step, MISSING)
    return value


def _find_strays(children: list[Any]) -> dict[int, Any]:
    """Return the values in a list of components that are no object, by their positions."""
    return {n: child for n, child in enumerate(children) if not isinstance(child, dict)}


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
