"""Matching: which items of one list are which items of another, though both were edited."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

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


def written(value: Any) -> str:
    """Write a value so that two that are alike are written alike."""
    return json.dumps(value, sort_keys=True)


def bag(value: Any) -> Bag:
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


def alike(a: Bag, b: Bag) -> float:
    """Tell how much two bags share, from 0 to 1."""
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 1.0


def in_order(a: Sequence[Hashable], b: Sequence[Hashable]) -> Iterator[tuple[range, range, bool]]:
    """Split two lists into stretches that are equal and gaps that are not, in order."""
    for kind, a0, a1, b0, b1 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        yield range(a0, a1), range(b0, b1), kind == "equal"


def best(
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


def items(
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
    texts = [None if m is None else (m, written(x)) for m, x in zip(names[0], a, strict=True)]
    twins = [None if m is None else (m, written(x)) for m, x in zip(names[1], b, strict=True)]
    _pair_equal_elsewhere(texts, twins, pairs)  # of two with one name, the one that is the same
    _pair_equal_elsewhere(*names, pairs)
    known = set(pairs.values())
    left: list[Hashable] = [pairs.get(n, written(item)) for n, item in enumerate(a)]
    right: list[Hashable] = [n if n in known else written(item) for n, item in enumerate(b)]
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
    bags = {n: bag(a[n]) for n in lost}, {n: bag(b[n]) for n in new}
    pairs.update(best(lost, new, lambda m, n: alike(bags[0][m], bags[1][n]), least))


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
