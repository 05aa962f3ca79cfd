"""Two flow documents compared by what they mean, not line by line.

The nodes of both are read. Their items are paired by id or name, then by equality, then by
position between the same neighbours. What was paired is compared; each difference has its place
in both documents, and `Diff` shows them all.
"""

from __future__ import annotations

import json
import re
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
    child_lists,
    group_by_slot,
    read_nodes,
)
from chatkit.flowjson.texts import OPTIONS, WORDING
from chatkit.report import Report, ReportPart, frame_of_objects, html_heading
from chatkit.util.display import MISSING, cut, escaped, json_pair, many
from chatkit.util.json import escape, steps, unescape

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
Key: TypeAlias = Callable[[T], Hashable | None]


def same(a: Any, b: Any) -> bool:
    """Return whether two JSON values mean the same: 1 is 1.0, but not true."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return bool(a == b) or (a != a and b != b)


def canonical(value: Any) -> str:
    """Write a value so that two that are alike are written alike."""
    return json.dumps(value, sort_keys=True)


class Matching(Generic[T]):
    """Pairs of items of two documents; what is paired first stays paired."""

    def __init__(self) -> None:
        self.after: dict[T, T] = {}
        self.before: dict[T, T] = {}

    def pair(self, x: T, y: T) -> None:
        """Pair two items."""
        self.after[x], self.before[y] = y, x

    def equal(self, a: Iterable[T], b: Sequence[T], key: Key[T]) -> None:
        """Pair items of equal keys, wherever they stand; None equals nothing."""
        free: dict[Hashable, list[T]] = {}
        for y in reversed(b):
            if y not in self.before:
                free.setdefault(key(y), []).append(y)
        for x in a:
            if x not in self.after and key(x) is not None and free.get(key(x)):
                self.pair(x, free[key(x)].pop())

    def in_order(
        self, a: Sequence[T], b: Sequence[T], key: Key[T], kind: Key[T] | None = None
    ) -> None:
        """Pair items of equal keys in the same order; then those of a kind between neighbours."""
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
    """An item of a list, which is itself and equal to no other."""

    index: int
    id: str | None
    text: str


def align(a: Mapping[int, Any], b: Mapping[int, Any]) -> dict[int, int]:
    """Pair the items of two lists: by id, by equality, then by position.

    Args:
        a: The items before, by their positions.
        b: The items after.

    Returns:
        Positions before with those after, in the order of the first list.
    """
    x, y = (
        [_Item(n, _id(value), canonical(value)) for n, value in items.items()] for items in (a, b)
    )
    pairs: Matching[_Item] = Matching()
    # of two items with one id the one that is the same, then the first
    pairs.equal(x, y, lambda item: item.id and (item.id, item.text))
    pairs.equal(x, y, lambda item: item.id)
    pairs.in_order(x, y, lambda item: item.text)
    pairs.equal(x, y, lambda item: item.text)
    pairs.in_order(x, y, lambda item: item.text, lambda _: None)
    return {item.index: pairs.after[item].index for item in x if item in pairs.after}


def moved(pairs: Iterable[tuple[int, int]]) -> set[int]:
    """Return the first positions of the fewest pairs that must have moved."""
    ends: list[int] = []  # the lowest end of a rising row, by its length
    rows: list[tuple[int, ...]] = []
    ordered = sorted(pairs)
    for x, y in ordered:
        n = bisect_left(ends, y)
        row = (*(rows[n - 1] if n else ()), x)
        ends[n : n + 1], rows[n : n + 1] = [y], [row]
    return {x for x, _ in ordered} - set(rows[-1] if rows else ())


_LISTS = ("children", "then", "else")


def own(value: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return what a container holds beside the lists of components in it or in the other."""
    lists = {key for key in _LISTS if any(isinstance(v.get(key), list) for v in (value, other))}
    kept = {key: inner for key, inner in value.items() if key not in lists}
    cases, others = value.get("cases"), other.get("cases")
    if isinstance(cases, dict) and isinstance(others, dict):
        both = (cases, others)
        lists = {case for case in cases if any(isinstance(v.get(case), list) for v in both)}
        kept["cases"] = {case: inner for case, inner in cases.items() if case not in lists}
    return kept


def place_of(component: ComponentNode) -> str:
    """Return the place of a component in words."""
    number = int(component.pointer.rpartition("/")[2]) + 1
    slot = component.slot.removeprefix("/").replace("cases/", "case ")
    parent = component.parent
    inside = f" in {cut(f'{parent.type} {parent.name or slot}', 40)}" if parent else ""
    return f"place {number}{inside} on screen {cut(component.screen.id or '(without id)', 40)}"


class Pairing(Matching[ComponentNode]):
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
            self.equal(x.components, y.components, lambda component: component.name)
            self._by_position(x, y)
        for x, y in screens:
            self.equal(x.components, y.components, _text_of)
        # Many footers are alike, and stay where they are.
        others = [each for each in first.components if each.type != "Footer"]
        self.equal(others, second.components, _text_of)
        for x, y in screens:
            self._by_position(x, y, lambda component: component.type)
        self.movers = self._moved(first, second)

    def _by_position(
        self, x: ScreenNode, y: ScreenNode, kind: Key[ComponentNode] | None = None
    ) -> None:
        """Pair what is equal and in order, or else of one kind between the same neighbours."""
        inside = (
            (each.children, self.after[each].children)
            for each in x.components
            if each in self.after
        )
        # parents before their children
        for before, after in chain([(x.top_components, y.top_components)], inside):
            others = group_by_slot(after)
            for slot, components in group_by_slot(before).items():
                self.in_order(components, others.get(slot, []), _text_of, kind)

    def is_outermost(self, component: ComponentNode, mates: Mapping[Any, Any]) -> bool:
        """Return whether the list is in both documents in which a component is in one."""
        parent = component.parent
        if parent is not None:
            return parent in mates and component.slot in dict(child_lists(mates[parent].value))
        mate = self._screens.get(component.screen)
        layout = mate.value.get("layout") if mate else None
        return isinstance(layout, dict) and component.slot in dict(child_lists(layout))

    def _moved(self, first: FlowNode, second: FlowNode) -> set[ComponentNode]:
        """Return what stands in another list, or in another order, than before."""
        movers: set[ComponentNode] = set()
        lists: dict[Hashable, list[tuple[int, int]]] = {}
        components = list(first.components)
        order = {each: n for both in (components, second.components) for n, each in enumerate(both)}
        for one, other in self.after.items():
            home = self.after.get(one.parent) if one.parent else self._screens.get(one.screen)
            if home is (other.parent or other.screen) and one.slot == other.slot:
                lists.setdefault((id(home), one.slot), []).append((order[one], order[other]))
            else:
                movers.add(one)
        for pairs in lists.values():
            movers |= {components[n] for n in moved(pairs)}
        return movers


def _text_of(component: ComponentNode) -> str:
    return canonical(component.value)


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same in both documents."""

    kind: str  #: what and how: "screen added", "text changed", "component moved" …
    where: str  #: its place in words
    pointer_a: str | None  #: its place in the first document, if it is there
    pointer_b: str | None  #: its place in the second document, if it is there
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class _Place:
    """One place in both documents, and what stands there."""

    thing: str
    words: tuple[str, ...]
    a: str
    b: str

    def step(self, key: str, word: str | None = None, thing: str | None = None) -> _Place:
        """Go one step down, to the same key of both."""
        way = f"/{escape(key)}"
        words = (*self.words, cut(key if word is None else word, 40))
        return _Place(thing or self.thing, words, self.a + way, self.b + way)

    def differ(self, how: str, before: Any, after: Any) -> Difference:
        """State a difference here; what is missing on a side has no pointer there."""
        a = None if before is MISSING else self.a
        b = None if after is MISSING else self.b
        return Difference(f"{self.thing} {how}", " › ".join(self.words), a, b, before, after)


def compare(a: Any, b: Any) -> Iterator[Difference]:
    """Find all differences, those of the document first and then screen by screen."""
    if same(a, b):
        return
    if isinstance(a, dict) and isinstance(b, dict):
        yield from _Comparison(a, b).document()
    else:
        yield _Place("document", ("document",), "", "").differ("changed", a, b)


class _Comparison:
    """Both documents, and which screen and component of the one is which of the other."""

    def __init__(self, a: dict[str, Any], b: dict[str, Any]) -> None:
        self.a, self.b = a, b
        self.roots: tuple[FlowNode, FlowNode] = read_nodes(a), read_nodes(b)
        self.screens = align(*(dict(enumerate(_screens(each))) for each in (a, b)))
        first, second = ({screen.index: screen for screen in o.screens} for o in self.roots)
        pairs = [(first.get(m), second.get(n)) for m, n in self.screens.items()]
        self.known = [(x, y) for x, y in pairs if x is not None and y is not None]
        self.renamed = {
            x.id: y.id
            for x, y in self.known
            if x.id is not None and y.id is not None and x.id != y.id
            if x.id not in self.roots[1].by_id and y.id not in self.roots[0].by_id
        }
        names = "|".join(map(re.escape, sorted(self.renamed, key=len, reverse=True)))
        self.reference = re.compile(rf"(?<=\$\{{screen\.)({names})(?=\.)") if names else None
        self.pairing = Pairing(self.known, *self.roots)

    def document(self) -> Iterator[Difference]:
        """Compare everything."""
        root = _Place("document", (), "", "")
        for key in {**self.a, **self.b}:
            x, y = self.a.get(key, MISSING), self.b.get(key, MISSING)
            place = root.step(key)
            if key == "screens" and isinstance(x, list) and isinstance(y, list):
                continue  # last, however the keys are ordered
            if key == "routing_model" and isinstance(x, dict) and isinstance(y, dict):
                yield from self._routes(replace(place, thing="route", words=()), x, y)
            else:
                yield from self._values(place, x, y)
        if all(isinstance(document.get("screens"), list) for document in (self.a, self.b)):
            screens = _Place("screen", (), "/screens", "/screens")
            x, y = (dict(enumerate(_screens(each))) for each in (self.a, self.b))
            yield from self._lists(screens, x, y, self.screens, _screen_word)
            for one, other in self.known:
                yield from self._screen(one, other)

    def _routes(self, place: _Place, x: dict[str, Any], y: dict[str, Any]) -> Iterator[Difference]:
        was = {source if source in y else self.renamed.get(source, source): source for source in x}
        for source in {**was, **y}:
            old = was.get(source, source)
            here = replace(place.step(old, f"routes from {source}"), b=place.step(source).b)
            before, after = x.get(old, MISSING), y.get(source, MISSING)
            if not _texts(before) or not _texts(after):
                yield from self._values(here, before, after)
                continue
            now = [t if t in after else self.renamed.get(t, t) for t in before]
            gone, new = Counter(now) - Counter(after), Counter(after) - Counter(now)
            for target in gone.elements():
                at = here.step(str(now.index(target)), f"to {target}")
                yield replace(at, thing="route").differ("removed", target, MISSING)
            for target in new.elements():
                at = here.step(str(after.index(target)), f"to {target}")
                yield replace(at, thing="route").differ("added", MISSING, target)

    def _screen(self, x: ScreenNode, y: ScreenNode) -> Iterator[Difference]:
        place = _Place("screen", (_screen_word(0, y.value),), x.pointer, y.pointer)
        for key in {**x.value, **y.value}:
            before, after = x.value.get(key, MISSING), y.value.get(key, MISSING)
            here = place.step(key, thing=_thing("screen", key))
            if key == "id" and x.id in self.renamed:
                yield replace(here, thing="screen").differ("renamed", x.id, y.id)
            elif key == "data" and isinstance(before, dict) and isinstance(after, dict):
                for name in {**before, **after}:
                    two = before.get(name, MISSING), after.get(name, MISSING)
                    yield from self._values(here.step(name, thing="data"), *two)
            elif key == "layout" and isinstance(before, dict) and isinstance(after, dict):
                yield from self._values(here, own(before, after), own(after, before))
                yield from self._slots(replace(here, thing="component"), before, after)
            else:
                yield from self._values(here, before, after)
        yield from self._components(place, x, y)

    def _components(
        self, place: _Place, one_screen: ScreenNode, other_screen: ScreenNode
    ) -> Iterator[Difference]:
        """Compare the components of two screens, in the order of the second."""
        pairing = self.pairing
        for one in one_screen.components:
            if one not in pairing.after and pairing.is_outermost(one, pairing.after):
                yield _component_place(place, one, None).differ("removed", one.value, MISSING)
        for other in other_screen.components:
            if (mate := pairing.before.get(other)) is None:
                if pairing.is_outermost(other, pairing.before):
                    yield _component_place(place, None, other).differ("added", MISSING, other.value)
                continue
            here = _component_place(place, mate, other)
            if mate in pairing.movers:
                yield here.differ("moved", place_of(mate), place_of(other))
            x, y = mate.value, other.value
            yield from self._values(here, own(x, y), own(y, x))
            yield from self._slots(here, x, y)

    def _slots(self, place: _Place, x: dict[str, Any], y: dict[str, Any]) -> Iterator[Difference]:
        """Compare which lists of components there are, and what in them is no component."""
        both = all(isinstance(value.get("cases"), dict) for value in (x, y))
        for name in dict(child_lists(x)) | dict(child_lists(y)):
            if name.startswith("/cases/") and not both:
                continue  # what `cases` is was compared as a whole
            word = unescape(name.removeprefix("/").replace("cases/", "case "))
            here = _Place(place.thing, (*place.words, word), place.a + name, place.b + name)
            before, after = _inside(x, name), _inside(y, name)
            if isinstance(before, list) and isinstance(after, list):
                yield from self._lists(here, _strays(before), _strays(after))
            else:
                yield from self._values(here, before, after)

    def _equal(self, x: Any, y: Any, next_screen: bool = False) -> bool:
        """Return whether two values mean the same, a renamed screen being the same one."""
        if isinstance(x, str) and isinstance(y, str) and x != y:
            if next_screen and self.renamed.get(x) == y:
                return True
            return self.reference is not None and y == self.reference.sub(self._new_name, x)
        if isinstance(x, dict) and isinstance(y, dict):
            return x.keys() == y.keys() and all(
                self._equal(x[key], y[key], key == "next" or next_screen) for key in x
            )
        if isinstance(x, list) and isinstance(y, list):
            return len(x) == len(y) and all(map(self._equal, x, y))
        return same(x, y)

    def _new_name(self, match: re.Match[str]) -> str:
        return self.renamed[match[0]] or match[0]

    def _values(self, place: _Place, x: Any, y: Any) -> Iterator[Difference]:
        """Compare two values of any shape; one that is MISSING was added or removed."""
        if x is MISSING or y is MISSING:
            if x is not y:
                yield place.differ("removed" if y is MISSING else "added", x, y)
        elif self._equal(x, y, "next" in place.words[-2:]):
            return
        elif isinstance(x, dict) and isinstance(y, dict):
            for key in {**x, **y}:
                below = place.step(key, thing=_thing(place.thing, key))
                yield from self._values(below, x.get(key, MISSING), y.get(key, MISSING))
        elif isinstance(x, list) and isinstance(y, list):
            if place.thing == "component" and place.words[-1] in OPTIONS:
                place = replace(place, thing="option")
            yield from self._lists(place, dict(enumerate(x)), dict(enumerate(y)))
        else:
            yield place.differ("changed", x, y)

    def _lists(
        self,
        place: _Place,
        a: dict[int, Any],
        b: dict[int, Any],
        pairs: dict[int, int] | None = None,
        word: Callable[[int, Any], str] | None = None,
    ) -> Iterator[Difference]:
        """Compare two lists: what was put in or taken out in one place does not move the rest.

        Screens are paired before, and only those that are no object are compared here.
        """
        is_inner, word = pairs is None, word or _item_word
        after = align(a, b) if pairs is None else pairs
        ahead, old = moved(after.items()), set(after.values())
        for m in a:
            if m not in after:
                yield place.step(str(m), word(m, a[m])).differ("removed", a[m], MISSING)
        for n in b:
            if n not in old:
                yield place.step(str(n), word(n, b[n])).differ("added", MISSING, b[n])
        for m, n in after.items():
            at = replace(place.step(str(n), word(n, b[n])), a=f"{place.a}/{m}")
            if m in ahead:
                yield at.differ("moved", f"place {m + 1}", f"place {n + 1}")
            if is_inner or not (isinstance(a[m], dict) and isinstance(b[n], dict)):
                yield from self._values(at, a[m], b[n])


def _screens(document: dict[str, Any]) -> list[Any]:
    value = document.get("screens")
    return value if isinstance(value, list) else []


def _id(value: Any) -> str | None:
    name = value.get("id") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _thing(thing: str, key: str) -> str:
    """Return the kind of thing a property is: an action, a text, or a part of its owner."""
    if key in ACTION_KEYS:
        return "action"
    return "text" if thing in ("component", "option", "screen") and key in WORDING else thing


def _screen_word(_: int, value: Any) -> str:
    return f"screen {cut(_id(value) or '(without id)', 40)}"


def _component_place(place: _Place, x: ComponentNode | None, y: ComponentNode | None) -> _Place:
    a, b = x.pointer if x else "", y.pointer if y else ""
    one = y or x
    word = _name_of(one) if one else ""
    return _Place("component", (*place.words, word), a, b)


def _name_of(component: ComponentNode) -> str:
    """Name a component by its type, and its name or else what is read on it."""
    kind = cut(component.type or "component", 40)
    if component.name:
        return f"{kind} {cut(component.name, 40)}"
    for key in ("text", "label", "condition", "value"):
        text = component.value.get(key)
        text = text[0] if isinstance(text, list) and text else text
        if isinstance(text, str) and text.strip():
            return f'{kind} "{cut(text, 30)}"'
    return kind


def _item_word(n: int, value: Any) -> str:
    return _id(value) or f"item {n + 1}"


def _inside(value: dict[str, Any], slot: str) -> Any:
    """Return what stands where a container may hold a list of components."""
    for step in steps(slot):
        value = value.get(step, MISSING)
    return value


def _strays(children: list[Any]) -> dict[int, Any]:
    """Return what stands among components and is none, by its places."""
    return {n: child for n, child in enumerate(children) if not isinstance(child, dict)}


_SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": "↕", "renamed": "→"}
LISTED = 200  #: differences that are written out; `.frame()` has them all

STYLE = """
.chatkit-diff { max-width: 72em; }
.chatkit-diff.chatkit-diff table { border-collapse: collapse; margin: 0.4em 0; width: 100%; }
.chatkit-diff.chatkit-diff tr:nth-child(n) { background: none; }
.chatkit-diff.chatkit-diff :is(td, th) { border: none; max-width: 26em; overflow-wrap: anywhere;
  padding: 0.25em 1em 0.25em 0; text-align: left; vertical-align: top; white-space: pre-wrap; }
.chatkit-diff.chatkit-diff tbody tr { border-top: 1px solid var(--jp-border-color2, #8886); }
.chatkit-diff.chatkit-diff td:first-child:has(b) { white-space: nowrap; }
.chatkit-diff thead th, .chatkit-diff i { color: var(--jp-ui-font-color2, #767676);
  font-weight: normal; }
.chatkit-diff b { display: inline-block; width: 1.2em; }
.chatkit-diff :is(del, ins) { border-radius: 2px; padding: 0 2px; text-decoration: none; }
.chatkit-diff del { background: rgba(229, 57, 53, 0.18); }
.chatkit-diff ins { background: rgba(67, 160, 71, 0.22); }
.chatkit-diff .added { color: var(--jp-success-color1, #388e3c); }
.chatkit-diff .removed { color: var(--jp-error-color1, #d32f2f); }
.chatkit-diff :is(.changed, .moved, .renamed) { color: var(--jp-info-color1, #0288d1); }
.chatkit-diff .todo { border-left: 3px solid var(--jp-warn-color1, #f57c00); padding-left: 1em; }
.chatkit-diff.chatkit-diff ul { list-style: none; margin: 0.4em 0; padding: 0; }
"""


def change_table(names: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return the HTML of a table of changes; the cells are HTML."""
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def cell(text: str, tag: str) -> str:
    """Return the HTML of a cell with a text in a tag; without a text an empty one."""
    return f'<td dir="auto"><{tag}>{escaped(text)}</{tag}></td>' if text else "<td></td>"


class Diff(Report, tuple[Difference, ...]):
    """The differences of two flow documents; false when there are none."""

    __slots__ = ()
    _name, _style = "chatkit-diff", STYLE

    def frame(self) -> pd.DataFrame:
        """Return a row for each difference; a value that is not there is None."""
        columns = ("kind", "where", "pointer_a", "pointer_b", "before", "after")
        return frame_of_objects(self, columns, texts=columns[:4])

    def _parts(self) -> list[ReportPart]:
        lines = [_heading(self)]
        for one in self[:LISTED]:
            lines.append(f"  {_sign(one)} {one.kind}: {one.where}")
            if values := " → ".join(filter(None, _values_of(one))):
                lines.append(f"      {values}")
        if (more := len(self) - LISTED) > 0:
            lines.append(f"  … and {more:,} more: .frame() has them all")
        return [ReportPart(lines, self._html)]

    def _html(self) -> str:
        parts = [html_heading(_heading(self))]
        if self:
            names = ("difference", "where", "before", "after")
            parts.append(change_table(names, map(_cells, self[:LISTED])))
        if (more := len(self) - LISTED) > 0:
            parts.append(f"<p>… and {more:,} more: <code>.frame()</code> has them all.</p>")
        return "".join(parts)


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
    return Diff(compare(read_document(a), read_document(b)))


def _heading(differences: Diff) -> str:
    if not differences:
        return "No difference: both documents mean the same."
    count = Counter(one.kind for one in differences)
    return f"{many(len(differences), 'difference')}: " + ", ".join(
        f"{number:,} {kind}" for kind, number in count.items()
    )


def _sign(one: Difference) -> str:
    return _SIGNS[one.kind.rpartition(" ")[2]]


def _values_of(one: Difference) -> list[str]:
    """Write what was there and what is; nothing for a side that is not."""
    if one.kind.endswith(" moved"):
        return [one.before, one.after]  # words of ours, and no texts
    pairs = zip((one.before, one.after), json_pair(one.before, one.after), strict=True)
    return ["" if value is MISSING else text for value, text in pairs]


def _cells(one: Difference) -> Iterator[str]:
    how = one.kind.rpartition(" ")[2]
    yield f'<td><b class="{how}">{_sign(one)}</b>{escaped(one.kind)}</td>'
    for text, tag in zip((one.where, *_values_of(one)), ("span", "del", "ins"), strict=True):
        yield cell(text, tag)
