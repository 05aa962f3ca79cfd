"""Layers: where the nodes of a graph stand, so that most ways go down and few cross."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_SWEEPS = 6  # more change little

Way = tuple[str, str]


@dataclass(frozen=True)
class Layers:
    """The rows of a picture, each from left to right, and the bends of ways over many rows.

    A bend is a place that a long way takes in a row between, so that no node stands in it:
    (source, target, row).
    """

    rows: list[list[str | tuple[str, str, int]]]
    row: dict[str, int]


def layers(nodes: Sequence[str], ways: Iterable[Way]) -> Layers:
    """Put nodes into rows: each below all from which a way leads to it, cycles apart."""
    forward = _without_cycles(nodes, dict.fromkeys(way for way in ways if way[0] != way[1]))
    row = dict.fromkeys(nodes, 0)
    for _ in nodes:  # a longest path has fewer steps than there are nodes
        moved = False
        for source, target in forward:
            if row[target] <= row[source]:
                row[target], moved = row[source] + 1, True
        if not moved:
            break
    rows: list[list[str | tuple[str, str, int]]] = [
        [] for _ in range(max(row.values(), default=-1) + 1)
    ]
    for node in nodes:
        rows[row[node]].append(node)
    above: dict[object, list[object]] = {}
    below: dict[object, list[object]] = {}
    for source, target in forward:
        path: list[object] = [source]
        for n in range(row[source] + 1, row[target]):
            rows[n].append((source, target, n))
            path.append((source, target, n))
        path.append(target)
        for upper, lower in pairwise(path):
            below.setdefault(upper, []).append(lower)
            above.setdefault(lower, []).append(upper)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        order = range(1, len(rows)) if down else range(len(rows) - 2, -1, -1)
        for n in order:
            beside = rows[n - 1] if down else rows[n + 1]
            place = {one: i for i, one in enumerate(beside)}
            near = above if down else below
            now = {one: i for i, one in enumerate(rows[n])}

            def middle(one: object, near=near, place=place, now=now) -> float:  # type: ignore[no-untyped-def]
                known = [place[other] for other in near.get(one, ()) if other in place]
                return sum(known) / len(known) if known else float(now[one])

            rows[n].sort(key=middle)
    return Layers(rows, row)


def _without_cycles(nodes: Sequence[str], ways: dict[Way, None]) -> list[Way]:
    """Leave out the ways that lead back, seen from the first nodes."""
    after: dict[str, list[str]] = {}
    for source, target in ways:
        after.setdefault(source, []).append(target)
    back: set[Way] = set()
    state: dict[str, str] = {}
    for start in nodes:
        if start in state:
            continue
        state[start] = "open"
        stack = [(start, iter(after.get(start, ())))]
        while stack:
            node, targets = stack[-1]
            for target in targets:
                if state.get(target) == "open":
                    back.add((node, target))
                elif target not in state:
                    state[target] = "open"
                    stack.append((target, iter(after.get(target, ()))))
                    break
            else:
                state[node] = "done"
                stack.pop()
    return [way for way in ways if way not in back]
