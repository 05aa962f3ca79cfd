"""Which items of one list are which items of another, though both were edited."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from chatkit.display import cut
from chatkit.flowjson.outline import ComponentNode, Outline, ScreenNode, by_slot
from chatkit.flowjson.pointer import escape

Pair = tuple[int, int]
Bag = Counter[tuple[str, str]]

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


def word_counts(value: Any) -> Bag:
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


def similarity(a: Bag, b: Bag) -> float:
    """Tell how much two bags share, from 0 to 1."""
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 1.0


def in_order(a: Sequence[Hashable], b: Sequence[Hashable]) -> Iterator[tuple[range, range, bool]]:
    """Split two lists into stretches that are equal and gaps that are not, in order."""
    for kind, a0, a1, b0, b1 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        yield range(a0, a1), range(b0, b1), kind == "equal"


def pair_most_alike(
    a: Sequence[int], b: Sequence[int], score: Callable[[int, int], float], least: float
) -> list[Pair]:
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
) -> list[Pair]:
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


def moved(pairs: Iterable[Pair]) -> set[int]:
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
        self._bags: dict[ComponentNode, Bag] = {}
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

    # --- finding pairs --------------------------------------------------------------

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

    # --- moves ----------------------------------------------------------------------

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
