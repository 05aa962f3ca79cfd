"""Two flow documents compared by what they mean, not line by line.

Both are read into outlines. Then it is found which item of the one is which of the other, though
both were edited: screens by their ids, components by name, by equality, and by likeness in their
place (`Pairing`). What was paired is compared, a difference is told in words with its place in
both documents, and `Diff` shows them all.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, overload

from chatkit.display import MISSING, cut, escaped, json_pair, many
from chatkit.flowjson.document import read_document
from chatkit.flowjson.outline import (
    ACTION_KEYS,
    ComponentNode,
    Outline,
    ScreenNode,
    by_slot,
    outline,
)
from chatkit.flowjson.texts import OPTIONS, WORDING
from chatkit.json_pointer import escape, steps, unescape
from chatkit.report import Report, frame_of_objects, html_heading

if TYPE_CHECKING:
    import pandas as pd

_Pair = tuple[int, int]
_Bag = Counter[tuple[str, str]]

_ELSEWHERE = 0.6  # what two share at least, to be one that was moved and edited
_MANY = 10_000  # pairs to look at: where there are more, everything was written anew


def same(a: Any, b: Any) -> bool:
    """Whether two JSON values mean the same: 1 is 1.0, but not true."""
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


def word_counts(value: Any) -> _Bag:
    """Put all words of a value, each with the key it stands under, into a bag."""
    return Counter(_words("", value))


def _words(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _words(name, item)
    elif isinstance(value, list):
        for item in value:
            yield from _words(key, item)
    elif isinstance(value, str):
        for word in re.findall(r"\w+", value[:2000]) or [value[:20]]:
            yield key, word
    else:
        yield key, repr(value)


def similarity(a: _Bag, b: _Bag) -> float:
    """Tell how much two bags share, from 0 to 1."""
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 1.0


def in_order(a: Sequence[Hashable], b: Sequence[Hashable]) -> Iterator[tuple[range, range, bool]]:
    """Split two lists into stretches that are equal and gaps that are not, in order."""
    for kind, a0, a1, b0, b1 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        yield range(a0, a1), range(b0, b1), kind == "equal"


def pair_most_alike(
    a: Sequence[int], b: Sequence[int], score: Callable[[int, int], float], least: float
) -> list[_Pair]:
    """Pair what is most alike first; among equals, what keeps its order."""
    scored = [
        (-value, abs(m - n), x, y)
        for m, x in enumerate(a)
        for n, y in enumerate(b)
        if (value := score(x, y)) >= least
    ]
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for *_, x, y in sorted(scored):
        if x not in pairs and y not in taken:
            pairs[x] = y
            taken.add(y)
    return sorted(pairs.items())


def pair_items(
    a: Sequence[Any],
    b: Sequence[Any],
    identity: Callable[[Any], Hashable | None],
    least: float = 0.0,
) -> list[_Pair]:
    """Pair the items of two lists: by identity, by equality, or by likeness in the same place.

    Args:
        a: The items before.
        b: The items after.
        identity: What names an item, if anything does.
        least: How much two must have in common to be the same one edited; above 1: all.
    """
    pairs: dict[int, int] = {}
    names = [identity(item) for item in a], [identity(item) for item in b]
    texts = [None if m is None else (m, canonical(x)) for m, x in zip(names[0], a, strict=True)]
    twins = [None if m is None else (m, canonical(x)) for m, x in zip(names[1], b, strict=True)]
    _pair_equal_elsewhere(texts, twins, pairs)  # of two with one name, the one that is the same
    _pair_equal_elsewhere(*names, pairs)
    known = set(pairs.values())
    left: list[Hashable] = [pairs.get(n, canonical(item)) for n, item in enumerate(a)]
    right: list[Hashable] = [n if n in known else canonical(item) for n, item in enumerate(b)]
    gaps = []
    for x, y, equal in in_order(left, right):
        if equal:
            pairs.update(zip(x, y, strict=True))
        else:
            gaps.append((x, y))
    _pair_equal_elsewhere(left, right, pairs)
    if least <= 1:
        everywhere = range(len(a)), range(len(b))
        for x, y in gaps:
            _pair_alike(a, b, (x, y), pairs, least)
        _pair_alike(a, b, everywhere, pairs, max(least, _ELSEWHERE))
    return sorted(pairs.items())


def _pair_alike(
    a: Sequence[Any],
    b: Sequence[Any],
    where: tuple[range, range],
    pairs: dict[int, int],
    least: float,
) -> None:
    """Pair what is alike, the most alike first."""
    taken = set(pairs.values())
    lost, new = [n for n in where[0] if n not in pairs], [n for n in where[1] if n not in taken]
    if len(lost) * len(new) > _MANY:
        return
    bags = {n: word_counts(a[n]) for n in lost}, {n: word_counts(b[n]) for n in new}
    pairs.update(pair_most_alike(lost, new, lambda m, n: similarity(bags[0][m], bags[1][n]), least))


def _pair_equal_elsewhere(
    a: Sequence[Hashable | None], b: Sequence[Hashable | None], pairs: dict[int, int]
) -> None:
    """Pair what is equal, wherever it stands now; None equals nothing."""
    taken = set(pairs.values())
    places: dict[Hashable, list[int]] = {}
    for n in reversed(range(len(b))):
        if n not in taken:
            places.setdefault(b[n], []).append(n)
    for n, item in enumerate(a):
        if item is not None and n not in pairs and (found := places.get(item)):
            pairs[n] = found.pop()


def moved(pairs: Iterable[_Pair]) -> set[int]:
    """Return the first places of the fewest pairs that must have moved."""
    ends: list[int] = []  # the least end of a rising row, by its length
    rows: list[tuple[int, ...]] = []
    ordered = sorted(pairs)
    for x, y in ordered:
        n = bisect_left(ends, y)
        row = (*(rows[n - 1] if n else ()), x)
        ends[n : n + 1], rows[n : n + 1] = [y], [row]
    return {x for x, _ in ordered} - set(rows[-1] if rows else ())


_LISTS = ("children", "then", "else")


def slots(value: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the lists of components that a container holds, by pointers from it."""
    found = {f"/{key}": value[key] for key in _LISTS if isinstance(value.get(key), list)}
    cases = value.get("cases")
    for case, children in cases.items() if isinstance(cases, dict) else ():
        if isinstance(children, list):
            found[f"/cases/{escape(case)}"] = children
    return found


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
    """Say where a component stands."""
    number = int(component.pointer.rpartition("/")[2]) + 1
    slot = component.slot.removeprefix("/").replace("cases/", "case ")
    parent = component.parent
    inside = f" in {cut(f'{parent.type} {parent.name or slot}', 40)}" if parent else ""
    return f"place {number}{inside} on screen {cut(component.screen.id or '(without id)', 40)}"


class Pairing:
    """Pairs of components, found by name, by equality, and by likeness in their place."""

    def __init__(
        self, screens: Sequence[tuple[ScreenNode, ScreenNode]], first: Outline, second: Outline
    ) -> None:
        self.after: dict[ComponentNode, ComponentNode] = {}
        self.before: dict[ComponentNode, ComponentNode] = {}
        self.cases: dict[ComponentNode, dict[str, str]] = {}
        self._bags: dict[ComponentNode, _Bag] = {}
        self._mates = dict(screens) | {y: x for x, y in screens}
        for x, y in screens:
            self._by_name_and_equality(x, y)
            self._in_place(x, y)
            while self._elsewhere(x, y):
                self._in_place(x, y)
        self._on_other_screens(first, second)
        self.movers = self._moved(first, second)

    def tops(self, component: ComponentNode) -> bool:
        """Whether nothing around a component that was added or removed says so already."""
        mates: dict[ComponentNode, ComponentNode] = self.after | self.before
        parent = component.parent
        if parent is None:
            mate = self._mates.get(component.screen)
            layout = mate.value.get("layout") if mate else None
            return isinstance(layout, dict) and component.slot in slots(layout)
        if parent not in mates:
            return False
        cases = self.cases.get(parent, {})
        if parent in self.before:
            cases = {new: old for old, new in self.cases.get(self.before[parent], {}).items()}
        slot = component.slot
        return cases.get(slot, slot) in slots(mates[parent].value)

    def _pair(self, x: ComponentNode, y: ComponentNode) -> None:
        self.after[x], self.before[y] = y, x

    def _by_name_and_equality(self, x: ScreenNode, y: ScreenNode) -> None:
        pairs = pair_items(
            [component.value for component in x.components],
            [component.value for component in y.components],
            lambda value: value["name"] if isinstance(value.get("name"), str) else None,
            least=2.0,
        )
        for m, n in pairs:
            self._pair(x.components[m], y.components[n])

    def _in_place(self, x: ScreenNode, y: ScreenNode) -> None:
        """Pair what is left where it stands between the same neighbours."""
        self._align(by_slot(x.top), by_slot(y.top), {})
        for one in x.components:  # parents come before their children
            if other := self.after.get(one):
                mine, theirs = by_slot(one.children), by_slot(other.children)
                cases = self._renamed_cases(one, other)
                self.cases[one] = cases
                self._align(mine, theirs, cases)

    def _align(
        self,
        a: dict[str, list[ComponentNode]],
        b: dict[str, list[ComponentNode]],
        cases: dict[str, str],
    ) -> None:
        for slot, left in a.items():
            right = b.get(cases.get(slot, slot), [])
            first = [id(self.after[c]) if c in self.after else canonical(c.value) for c in left]
            second = [id(c) if c in self.before else canonical(c.value) for c in right]
            for x, y, _ in in_order(first, second):
                lost = [n for n in x if left[n] not in self.after]
                new = [n for n in y if right[n] not in self.before]
                for m, n in pair_most_alike(
                    lost,
                    new,
                    lambda m, n, left=left, right=right: self._alike(left[m], right[n], 0.0),  # type: ignore[misc]
                    0.0,
                ):
                    self._pair(left[m], right[n])

    def _elsewhere(self, x: ScreenNode, y: ScreenNode) -> bool:
        """Pair what was moved and edited."""
        lost = [n for n, c in enumerate(x.components) if c not in self.after]
        new = [n for n, c in enumerate(y.components) if c not in self.before]
        pairs = pair_most_alike(
            lost,
            new,
            lambda m, n: self._alike(x.components[m], y.components[n], _ELSEWHERE),
            _ELSEWHERE,
        )
        for m, n in pairs:
            self._pair(x.components[m], y.components[n])
        return bool(pairs)

    def _on_other_screens(self, first: Outline, second: Outline) -> None:
        """Pair what was moved to another screen and is the same there."""
        waiting: dict[str, list[ComponentNode]] = {}
        for other in second.components:
            if other not in self.before:
                waiting.setdefault(canonical(other.value), []).append(other)
        for one in first.components:
            if one in self.after or one.type == "Footer":  # many of these are alike
                continue
            for other in waiting.get(canonical(one.value), []):
                either = one.screen in self._mates or other.screen in self._mates
                if either and other not in self.before:
                    self._pair_whole(one, other)
                    break

    def _pair_whole(self, x: ComponentNode, y: ComponentNode) -> None:
        """Pair two that are the same, and what is in them."""
        if x in self.after or y in self.before:
            return
        self._pair(x, y)
        theirs = by_slot(y.children)
        for slot, inner in by_slot(x.children).items():
            for one, other in zip(inner, theirs[slot], strict=True):
                self._pair_whole(one, other)

    def _alike(self, x: ComponentNode, y: ComponentNode, least: float) -> float:
        """Score how alike two are: of different types only if they say much the same."""
        if x.type != y.type and (slots(x.value) or slots(y.value)):
            return -1.0  # what is in a container does not make it another kind of container
        for component in (x, y):
            if component not in self._bags:
                self._bags[component] = word_counts(component.value)
        score = similarity(self._bags[x], self._bags[y])
        return score if x.type == y.type or score >= max(least, 0.5) else -1.0

    def _renamed_cases(self, x: ComponentNode, y: ComponentNode) -> dict[str, str]:
        """Find the cases of a Switch that go by another name now."""
        before, after = slots(x.value), slots(y.value)
        lost = [slot for slot in before if slot.startswith("/cases/") and slot not in after]
        new = [slot for slot in after if slot.startswith("/cases/") and slot not in before]
        pairs = pair_most_alike(
            range(len(lost)),
            range(len(new)),
            lambda m, n: similarity(word_counts(before[lost[m]]), word_counts(after[new[n]])),
            0.5,
        )
        return {lost[m]: new[n] for m, n in pairs}

    def _moved(self, first: Outline, second: Outline) -> set[ComponentNode]:
        """Find what stands in another list, or in another order, than before.

        A container that was put around a component, or taken away, does not move it.
        """
        movers: set[ComponentNode] = set()
        lists: dict[tuple[int, str], list[tuple[int, int]]] = {}
        firsts = list(first.components)
        order = {c: n for both in (firsts, second.components) for n, c in enumerate(both)}
        for one, other in self.after.items():
            parent, slot = self._home(one, self.after)
            now, new_slot = self._home(other, self.before)
            if parent is not None:
                slot = self.cases.get(parent, {}).get(slot, slot)
                stays = self.after.get(parent) is now
            else:
                stays = now is None and self._mates.get(one.screen) is other.screen
            if stays and slot == new_slot:
                home = id(now) if now else id(other.screen)
                lists.setdefault((home, slot), []).append((order[one], order[other]))
            else:
                movers.add(one)
        for pairs in lists.values():
            movers |= {firsts[n] for n in moved(pairs)}
        return movers

    @staticmethod
    def _home(
        component: ComponentNode, known: dict[ComponentNode, ComponentNode]
    ) -> tuple[ComponentNode | None, str]:
        """Return the nearest container that is in both documents, and the list in it."""
        while component.parent is not None and component.parent not in known:
            component = component.parent
        return component.parent, component.slot


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
class _Spot:
    """One place in both documents, and what stands there."""

    thing: str
    words: tuple[str, ...]
    a: str
    b: str

    def step(self, key: str, word: str | None = None, thing: str | None = None) -> _Spot:
        """Go one step down, to the same key of both."""
        way = f"/{escape(key)}"
        words = (*self.words, cut(key if word is None else word, 40))
        return _Spot(thing or self.thing, words, self.a + way, self.b + way)

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
        yield _Spot("document", ("document",), "", "").differ("changed", a, b)


class _Comparison:
    """Both documents, and which screen and component of the one is which of the other."""

    def __init__(self, a: dict[str, Any], b: dict[str, Any]) -> None:
        self.a, self.b = a, b
        self.outlines: tuple[Outline, Outline] = outline(a), outline(b)
        self.screens = pair_items(_screens(a), _screens(b), _id, least=0.5)
        by_index = [{screen.index: screen for screen in o.screens} for o in self.outlines]
        known = [(by_index[0].get(m), by_index[1].get(n)) for m, n in self.screens]
        self.known = [(x, y) for x, y in known if x is not None and y is not None]
        self.renamed = {
            x.id: y.id
            for x, y in self.known
            if x.id is not None and y.id is not None and x.id != y.id
            if x.id not in self.outlines[1].by_id and y.id not in self.outlines[0].by_id
        }
        names = "|".join(map(re.escape, sorted(self.renamed, key=len, reverse=True)))
        self.reference = re.compile(rf"(?<=\$\{{screen\.)({names})(?=\.)") if names else None
        self.pairing = Pairing(self.known, *self.outlines)

    def document(self) -> Iterator[Difference]:
        """Compare everything."""
        root = _Spot("document", (), "", "")
        for key in {**self.a, **self.b}:
            x, y = self.a.get(key, MISSING), self.b.get(key, MISSING)
            spot = root.step(key)
            if key == "screens" and isinstance(x, list) and isinstance(y, list):
                continue  # last, however the keys are ordered
            if key == "routing_model" and isinstance(x, dict) and isinstance(y, dict):
                yield from self._routes(replace(spot, thing="route", words=()), x, y)
            else:
                yield from self._values(spot, x, y)
        if all(isinstance(document.get("screens"), list) for document in (self.a, self.b)):
            yield from self._all_screens(_screens(self.a), _screens(self.b))

    def _routes(self, spot: _Spot, x: dict[str, Any], y: dict[str, Any]) -> Iterator[Difference]:
        was = {source if source in y else self.renamed.get(source, source): source for source in x}
        for source in {**was, **y}:
            old = was.get(source, source)
            here = replace(spot.step(old, f"routes from {source}"), b=spot.step(source).b)
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

    def _all_screens(self, x: list[Any], y: list[Any]) -> Iterator[Difference]:
        ahead = moved(self.screens)
        yield from self._lost_and_new("screen", "/screens", x, y, self.screens)
        for m, n in self.screens:
            spot = _Spot("screen", (_screen_word(y[n]),), f"/screens/{m}", f"/screens/{n}")
            if m in ahead:
                yield spot.differ("moved", f"place {m + 1}", f"place {n + 1}")
            if not isinstance(x[m], dict) or not isinstance(y[n], dict):
                yield from self._values(spot, x[m], y[n])
        for one, other in self.known:
            yield from self._screen(one, other)

    def _lost_and_new(
        self, thing: str, pointer: str, x: list[Any], y: list[Any], pairs: Sequence[tuple[int, int]]
    ) -> Iterator[Difference]:
        there, here = {m for m, _ in pairs}, {n for _, n in pairs}
        for m, value in enumerate(x):
            if m not in there:
                spot = _Spot(thing, (_screen_word(value),), f"{pointer}/{m}", "")
                yield spot.differ("removed", value, MISSING)
        for n, value in enumerate(y):
            if n not in here:
                spot = _Spot(thing, (_screen_word(value),), "", f"{pointer}/{n}")
                yield spot.differ("added", MISSING, value)

    def _screen(self, x: ScreenNode, y: ScreenNode) -> Iterator[Difference]:
        spot = _Spot("screen", (_screen_word(y.value),), x.pointer, y.pointer)
        for key in {**x.value, **y.value}:
            before, after = x.value.get(key, MISSING), y.value.get(key, MISSING)
            here = spot.step(key, thing=_thing("screen", key))
            if key == "id" and x.id in self.renamed:
                yield replace(here, thing="screen").differ("renamed", x.id, y.id)
            elif key == "data" and isinstance(before, dict) and isinstance(after, dict):
                for name in {**before, **after}:
                    two = before.get(name, MISSING), after.get(name, MISSING)
                    yield from self._values(here.step(name, thing="data"), *two)
            elif key == "layout" and isinstance(before, dict) and isinstance(after, dict):
                yield from self._values(here, own(before, after), own(after, before))
                yield from self._slots(replace(here, thing="component"), before, after, {})
            else:
                yield from self._values(here, before, after)
        yield from self._components(spot, x, y)

    def _components(
        self, spot: _Spot, one_screen: ScreenNode, other_screen: ScreenNode
    ) -> Iterator[Difference]:
        """Compare the components of two screens, in the order of the second."""
        pairing = self.pairing
        for one in one_screen.components:
            if one not in pairing.after and pairing.tops(one):
                yield _component_spot(spot, one, None).differ("removed", one.value, MISSING)
        for other in other_screen.components:
            if (mate := pairing.before.get(other)) is None:
                if pairing.tops(other):
                    yield _component_spot(spot, None, other).differ("added", MISSING, other.value)
                continue
            here = _component_spot(spot, mate, other)
            if mate in pairing.movers:
                yield here.differ("moved", place_of(mate), place_of(other))
            x, y = mate.value, other.value
            yield from self._values(here, own(x, y), own(y, x))
            yield from self._slots(here, x, y, pairing.cases.get(mate, {}))

    def _slots(
        self, spot: _Spot, x: dict[str, Any], y: dict[str, Any], cases: dict[str, str]
    ) -> Iterator[Difference]:
        """Compare which lists of components there are, and what in them is no component."""
        old = {new: name for name, new in cases.items()}
        both = all(isinstance(value.get("cases"), dict) for value in (x, y))
        names = dict.fromkeys([*(cases.get(name, name) for name in slots(x)), *slots(y)])
        for name in names:
            if name.startswith("/cases/") and not both:
                continue  # what `cases` is was compared as a whole
            was = old.get(name, name)
            words = (*spot.words, _slot_word(name))
            here = _Spot(spot.thing, words, spot.a + was, spot.b + name)
            before, after = _inside(x, was), _inside(y, name)
            if isinstance(before, list) and isinstance(after, list):
                if was != name:
                    yield here.differ("renamed", _slot_word(was), _slot_word(name))
                yield from self._lists(here, _strays(before), _strays(after))
            else:
                yield from self._values(here, before, after)

    def _equal(self, x: Any, y: Any, next_screen: bool = False) -> bool:
        """Whether two values mean the same, when a renamed screen is still the same one."""
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

    def _new_name(self, found: re.Match[str]) -> str:
        return self.renamed[found[0]] or found[0]

    def _values(self, spot: _Spot, x: Any, y: Any) -> Iterator[Difference]:
        """Compare two values of any shape; one that is MISSING was added or removed."""
        if x is MISSING or y is MISSING:
            if x is not y:
                yield spot.differ("removed" if y is MISSING else "added", x, y)
        elif self._equal(x, y, "next" in spot.words[-2:]):
            return
        elif isinstance(x, dict) and isinstance(y, dict):
            for key in {**x, **y}:
                below = spot.step(key, thing=_thing(spot.thing, key))
                yield from self._values(below, x.get(key, MISSING), y.get(key, MISSING))
        elif isinstance(x, list) and isinstance(y, list):
            if spot.thing == "component" and spot.words[-1] in OPTIONS:
                spot = replace(spot, thing="option")
            yield from self._lists(spot, dict(enumerate(x)), dict(enumerate(y)))
        else:
            yield spot.differ("changed", x, y)

    def _lists(self, spot: _Spot, a: dict[int, Any], b: dict[int, Any]) -> Iterator[Difference]:
        """Compare two lists: what was put in or taken out in one place does not move the rest."""
        x, y = list(a), list(b)
        pairs = pair_items([a[n] for n in x], [b[n] for n in y], _id)
        pairs = [(x[m], y[n]) for m, n in pairs]
        ahead = moved(pairs)
        there, here = dict(pairs), {n for _, n in pairs}
        for m in x:
            if m not in there:
                yield spot.step(str(m), _item_word(m, a[m])).differ("removed", a[m], MISSING)
        for n in y:
            if n not in here:
                yield spot.step(str(n), _item_word(n, b[n])).differ("added", MISSING, b[n])
        for m, n in pairs:
            at = replace(spot.step(str(n), _item_word(n, b[n])), a=f"{spot.a}/{m}")
            if m in ahead:
                yield at.differ("moved", f"place {m + 1}", f"place {n + 1}")
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
    """Tell what a property belongs to: an action, a text, or what it is a property of."""
    if key in ACTION_KEYS:
        return "action"
    return "text" if thing in ("component", "option", "screen") and key in WORDING else thing


def _screen_word(value: Any) -> str:
    return f"screen {cut(_id(value) or '(without id)', 40)}"


def _component_spot(spot: _Spot, x: ComponentNode | None, y: ComponentNode | None) -> _Spot:
    a, b = x.pointer if x else "", y.pointer if y else ""
    one = y or x
    word = _name_of(one) if one else ""
    return _Spot("component", (*spot.words, word), a, b)


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


def _slot_word(slot: str) -> str:
    return unescape(slot.removeprefix("/").replace("cases/", "case "))


def _inside(value: dict[str, Any], slot: str) -> Any:
    """Return what stands where a container may hold a list of components."""
    for step in steps(slot):
        value = value.get(step, MISSING)
    return value


def _strays(children: list[Any]) -> dict[int, Any]:
    """Return what stands among components and is none, by its places."""
    return {n: child for n, child in enumerate(children) if not isinstance(child, dict)}


_SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": "↕", "renamed": "→"}
SHOWN = 200  #: differences that are written out; `.frame()` has them all

_STYLE = """
.chatkit-diff { max-width: 72em; }
.chatkit-diff.chatkit-diff table { border-collapse: collapse; margin: 0.4em 0; width: 100%; }
.chatkit-diff.chatkit-diff tr:nth-child(n) { background: none; }
.chatkit-diff.chatkit-diff :is(td, th) { border: none; max-width: 26em; overflow-wrap: anywhere;
  padding: 0.25em 1em 0.25em 0; text-align: left; vertical-align: top; white-space: pre-wrap; }
.chatkit-diff.chatkit-diff tbody tr { border-top: 1px solid var(--jp-border-color2, #8886); }
.chatkit-diff.chatkit-diff td:first-child { white-space: nowrap; }
.chatkit-diff thead th, .chatkit-diff i { color: var(--jp-ui-font-color2, #767676);
  font-weight: normal; }
.chatkit-diff b { display: inline-block; width: 1.2em; }
.chatkit-diff :is(del, ins) { border-radius: 2px; padding: 0 2px; text-decoration: none; }
.chatkit-diff del { background: rgba(229, 57, 53, 0.18); }
.chatkit-diff ins { background: rgba(67, 160, 71, 0.22); }
.chatkit-diff .added { color: var(--jp-success-color1, #388e3c); }
.chatkit-diff .removed { color: var(--jp-error-color1, #d32f2f); }
.chatkit-diff :is(.changed, .moved, .renamed) { color: var(--jp-info-color1, #0288d1); }
"""


class Diff(Report, Sequence[Difference]):
    """The differences of two flow documents; false when there are none."""

    _name, _style = "chatkit-diff", _STYLE

    def __init__(self, differences: Sequence[Difference]) -> None:
        self._differences = tuple(differences)

    def __len__(self) -> int:
        return len(self._differences)

    @overload
    def __getitem__(self, index: int) -> Difference: ...

    @overload
    def __getitem__(self, index: slice) -> Diff: ...

    def __getitem__(self, index: int | slice) -> Difference | Diff:
        if isinstance(index, slice):
            return Diff(self._differences[index])
        return self._differences[index]

    def frame(self) -> pd.DataFrame:
        """Return a row for each difference; a value that is not there is None."""
        columns = ("kind", "where", "pointer_a", "pointer_b", "before", "after")
        return frame_of_objects(self, columns, texts=columns[:4])

    def _text(self) -> list[list[str]]:
        lines = [_heading(self)]
        for one in self[:SHOWN]:
            lines.append(f"  {_sign(one)} {one.kind}: {one.where}")
            if said := " → ".join(filter(None, _sides(one))):
                lines.append(f"      {said}")
        if (more := len(self) - SHOWN) > 0:
            lines.append(f"  … and {more:,} more: .frame() has them all")
        return [lines]

    def _html(self) -> list[str]:
        parts = [html_heading(_heading(self))]
        if self:
            names = "".join(
                f'<th scope="col">{name}</th>'
                for name in ("difference", "where", "before", "after")
            )
            rows = "".join(map(_row, self[:SHOWN]))
            parts.append(f"<table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>")
        if (more := len(self) - SHOWN) > 0:
            parts.append(f"<p>… and {more:,} more: <code>.frame()</code> has them all.</p>")
        return parts


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
    return Diff(list(compare(read_document(a), read_document(b))))


def _heading(found: Diff) -> str:
    if not found:
        return "No difference: both documents mean the same."
    count = Counter(one.kind for one in found)
    return f"{many(len(found), 'difference')}: " + ", ".join(
        f"{number:,} {kind}" for kind, number in count.items()
    )


def _sign(one: Difference) -> str:
    return _SIGNS[one.kind.rpartition(" ")[2]]


def _sides(one: Difference) -> list[str]:
    """Write what was there and what is; nothing for a side that is not."""
    if one.kind.endswith(" moved"):
        return [one.before, one.after]  # words of ours, and no texts
    sides = zip((one.before, one.after), json_pair(one.before, one.after), strict=True)
    return ["" if value is MISSING else said for value, said in sides]


def _row(one: Difference) -> str:
    how = one.kind.rpartition(" ")[2]
    sides = "".join(
        f'<td dir="auto"><{tag}>{escaped(said)}</{tag}></td>' if said else "<td></td>"
        for said, tag in zip(_sides(one), ("del", "ins"), strict=True)
    )
    head = f'<td><b class="{how}">{_sign(one)}</b>{escaped(one.kind)}</td>'
    return f'<tr>{head}<td dir="auto">{escaped(one.where)}</td>{sides}</tr>'
