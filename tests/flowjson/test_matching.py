from __future__ import annotations

import json
from typing import Any

from flowjson.strangers import anything
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.flowjson.diff import (
    canonical,
    in_order,
    moved,
    pair_items,
    pair_most_alike,
    same,
    similarity,
    word_counts,
)

LISTS = st.lists(st.sampled_from("abcdef"), max_size=12)


def nameless(value: Any) -> None:
    return None


@given(anything)
def test_a_value_is_the_same_as_its_copy_in_another_order_of_keys(value: Any) -> None:
    def turned(inner: Any) -> Any:
        if isinstance(inner, dict):
            return {key: turned(inner[key]) for key in reversed(inner)}
        return list(map(turned, inner)) if isinstance(inner, list) else inner

    assert same(value, turned(value))
    assert canonical(value) == canonical(turned(value))
    assert similarity(word_counts(value), word_counts(turned(value))) == 1


def test_numbers_are_the_same_by_value_and_no_booleans() -> None:
    assert same(1, 1.0) and same([float("nan")], [float("nan")])
    assert not same(1, True) and not same([0], [False]) and not same("1", 1) and not same([], {})


@given(LISTS, LISTS)
def test_stretches_and_gaps_make_up_both_lists(a: list[str], b: list[str]) -> None:
    parts = list(in_order(a, b))
    assert [n for x, _, _ in parts for n in x] == list(range(len(a)))
    assert [n for _, y, _ in parts for n in y] == list(range(len(b)))
    assert all([a[n] for n in x] == [b[n] for n in y] for x, y, equal in parts if equal)


@given(LISTS, LISTS, st.sampled_from([0.0, 0.5, 2.0]))
def test_each_item_has_one_partner_at_most_and_what_is_in_both_has_one(
    a: list[str], b: list[str], least: float
) -> None:
    pairs = pair_items(a, b, nameless, least)
    assert len({m for m, _ in pairs}) == len({n for _, n in pairs}) == len(pairs)
    for letter in set(a) & set(b):
        count = sum(a[m] == b[n] == letter for m, n in pairs)
        assert count == min(a.count(letter), b.count(letter))


@given(st.permutations(range(8)))
def test_what_has_a_name_is_found_wherever_it_went_and_whatever_it_says(order: list[int]) -> None:
    a = [{"id": str(n), "title": f"old {n}"} for n in range(8)]
    b = [{"id": str(n), "title": f"new {n * n}"} for n in order]
    pairs = pair_items(a, b, lambda value: value["id"])
    assert {a[m]["id"]: b[n]["id"] for m, n in pairs} == {str(n): str(n) for n in range(8)}


def test_a_second_of_the_same_name_is_the_second() -> None:
    a = [{"id": "x", "n": 1}, {"id": "x", "n": 2}]
    assert pair_items(a, a, lambda value: value["id"]) == [(0, 0), (1, 1)]
    assert pair_items(a[:1], a[::-1], lambda value: value["id"]) == [(0, 1)]  # the same one, if any


def test_the_most_alike_go_together_first() -> None:
    scores = {(0, 0): 0.5, (0, 1): 0.9, (1, 0): 0.1, (1, 1): 0.95}
    assert pair_most_alike([0, 1], [0, 1], lambda m, n: scores[m, n], 0.2) == [(0, 0), (1, 1)]
    assert pair_most_alike([0, 1], [0, 1], lambda m, n: scores[m, n], 0.6) == [(1, 1)]


def test_what_was_edited_and_moved_is_found_and_what_was_written_anew_is_not() -> None:
    a = ["the quick brown fox jumps over the dog", "one", "two"]
    b = ["one", "two", "the quick brown fox jumps over the cat"]
    assert (0, 2) in pair_items(a, b, nameless, least=0.5)
    assert pair_items(["alpha beta"], ["gamma delta"], nameless, least=0.5) == []


@settings(max_examples=volume(20, 500))
@given(st.permutations(range(9)), st.integers(0, 8), st.integers(0, 8))
def test_the_fewest_moved(order: list[int], source: int, target: int) -> None:
    pairs = list(enumerate(order))
    ahead = moved(pairs)
    stay = [n for m, n in pairs if m not in ahead]
    assert stay == sorted(stay)
    one = list(range(9))
    one.insert(target, one.pop(source))
    assert len(moved([(one.index(n), n) for n in range(9)])) == (source != target)


def test_a_list_written_anew_is_no_long_search() -> None:
    a, b = ([f"{side} {n}" for n in range(400)] for side in ("alpha", "beta"))
    assert pair_items(a, b, nameless) == []
    assert json.loads(canonical(a)) == a
