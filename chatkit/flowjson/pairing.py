"""Pairing: which component of one flow document is which of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from chatkit.flowjson.matching import Bag, alike, bag, best, in_order, items, moved, written
from chatkit.flowjson.outline import Component, Outline, Screen
from chatkit.flowjson.pointer import escape
from chatkit.flowjson.show import cut

_LISTS = ("children", "then", "else")
_ELSEWHERE = 0.6  # what two components share at least, to be one that was moved and edited


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


def slot_of(component: Component) -> str:
    """Return in which list of its parent a component stands, as a pointer from the parent."""
    base = component.parent.pointer if component.parent else f"{component.screen.pointer}/layout"
    return component.pointer[len(base) :].rpartition("/")[0]


def kids(components: Iterable[Component]) -> dict[str, list[Component]]:
    """Sort components by the list that they stand in."""
    found: dict[str, list[Component]] = {}
    for component in components:
        found.setdefault(slot_of(component), []).append(component)
    return found


def place_of(component: Component) -> str:
    """Say where a component stands."""
    number = int(component.pointer.rpartition("/")[2]) + 1
    slot = slot_of(component).removeprefix("/").replace("cases/", "case ")
    parent = component.parent
    inside = f" in {cut(f'{parent.type} {parent.name or slot}', 40)}" if parent else ""
    return f"place {number}{inside} on screen {cut(component.screen.id or '(without id)', 40)}"


class Pairing:
    """Pairs of components, found by name, by equality, and by likeness in their place."""

    def __init__(
        self, screens: Sequence[tuple[Screen, Screen]], first: Outline, second: Outline
    ) -> None:
        self.after: dict[Component, Component] = {}
        self.before: dict[Component, Component] = {}
        self.cases: dict[Component, dict[str, str]] = {}
        self._bags: dict[Component, Bag] = {}
        self._mates = dict(screens) | {y: x for x, y in screens}
        for x, y in screens:
            self._by_name_and_equality(x, y)
            self._in_place(x, y)
            while self._elsewhere(x, y):
                self._in_place(x, y)
        self._on_other_screens(first, second)
        self.movers = self._moved(first, second)

    def tops(self, component: Component) -> bool:
        """Whether nothing around a component that was added or removed says so already."""
        mates: dict[Component, Component] = self.after | self.before
        parent = component.parent
        if parent is None:
            mate = self._mates.get(component.screen)
            layout = mate.value.get("layout") if mate else None
            return isinstance(layout, dict) and slot_of(component) in slots(layout)
        if parent not in mates:
            return False
        cases = self.cases.get(parent, {})
        if parent in self.before:
            cases = {new: old for old, new in self.cases.get(self.before[parent], {}).items()}
        slot = slot_of(component)
        return cases.get(slot, slot) in slots(mates[parent].value)

    # --- finding pairs --------------------------------------------------------------

    def _pair(self, x: Component, y: Component) -> None:
        self.after[x], self.before[y] = y, x

    def _by_name_and_equality(self, x: Screen, y: Screen) -> None:
        pairs = items(
            [component.value for component in x.components],
            [component.value for component in y.components],
            lambda value: value["name"] if isinstance(value.get("name"), str) else None,
            least=2.0,
        )
        for m, n in pairs:
            self._pair(x.components[m], y.components[n])

    def _in_place(self, x: Screen, y: Screen) -> None:
        """Pair what is left where it stands between the same neighbours."""
        self._align(kids(x.top), kids(y.top), {})
        for one in x.components:  # parents come before their children
            if other := self.after.get(one):
                mine, theirs = kids(one.children), kids(other.children)
                cases = self._renamed_cases(one, other)
                self.cases[one] = cases
                self._align(mine, theirs, cases)

    def _align(
        self,
        a: dict[str, list[Component]],
        b: dict[str, list[Component]],
        cases: dict[str, str],
    ) -> None:
        for slot, left in a.items():
            right = b.get(cases.get(slot, slot), [])
            first = [id(self.after[c]) if c in self.after else written(c.value) for c in left]
            second = [id(c) if c in self.before else written(c.value) for c in right]
            for x, y, _ in in_order(first, second):
                lost = [n for n in x if left[n] not in self.after]
                new = [n for n in y if right[n] not in self.before]
                for m, n in best(
                    lost,
                    new,
                    lambda m, n, left=left, right=right: self._alike(left[m], right[n], 0.0),  # type: ignore[misc]
                    0.0,
                ):
                    self._pair(left[m], right[n])

    def _elsewhere(self, x: Screen, y: Screen) -> bool:
        """Pair what was moved and edited."""
        lost = [n for n, c in enumerate(x.components) if c not in self.after]
        new = [n for n, c in enumerate(y.components) if c not in self.before]
        pairs = best(
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
        waiting: dict[str, list[Component]] = {}
        for other in second.components:
            if other not in self.before:
                waiting.setdefault(written(other.value), []).append(other)
        for one in first.components:
            if one in self.after or one.type == "Footer":  # many of these are alike
                continue
            for other in waiting.get(written(one.value), []):
                either = one.screen in self._mates or other.screen in self._mates
                if either and other not in self.before:
                    self._pair_whole(one, other)
                    break

    def _pair_whole(self, x: Component, y: Component) -> None:
        """Pair two that are the same, and what is in them."""
        if x in self.after or y in self.before:
            return
        self._pair(x, y)
        theirs = kids(y.children)
        for slot, inner in kids(x.children).items():
            for one, other in zip(inner, theirs[slot], strict=True):
                self._pair_whole(one, other)

    def _alike(self, x: Component, y: Component, least: float) -> float:
        """Score how alike two are: of different types only if they say much the same."""
        if x.type != y.type and (slots(x.value) or slots(y.value)):
            return -1.0  # what is in a container does not make it another kind of container
        for component in (x, y):
            if component not in self._bags:
                self._bags[component] = bag(component.value)
        score = alike(self._bags[x], self._bags[y])
        return score if x.type == y.type or score >= max(least, 0.5) else -1.0

    def _renamed_cases(self, x: Component, y: Component) -> dict[str, str]:
        """Find the cases of a Switch that go by another name now."""
        before, after = slots(x.value), slots(y.value)
        lost = [slot for slot in before if slot.startswith("/cases/") and slot not in after]
        new = [slot for slot in after if slot.startswith("/cases/") and slot not in before]
        pairs = best(
            range(len(lost)),
            range(len(new)),
            lambda m, n: alike(bag(before[lost[m]]), bag(after[new[n]])),
            0.5,
        )
        return {lost[m]: new[n] for m, n in pairs}

    # --- moves ----------------------------------------------------------------------

    def _moved(self, first: Outline, second: Outline) -> set[Component]:
        """Find what stands in another list, or in another order, than before.

        A container that was put around a component, or taken away, does not move it.
        """
        movers: set[Component] = set()
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
        component: Component, known: dict[Component, Component]
    ) -> tuple[Component | None, str]:
        """Return the nearest container that is in both documents, and the list in it."""
        while component.parent is not None and component.parent not in known:
            component = component.parent
        return component.parent, slot_of(component)
