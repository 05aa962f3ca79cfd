from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.flowjson.graph import assign_rows

NODES = [f"n{n}" for n in range(8)]
WAYS = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=16)


@settings(max_examples=volume(32, 800))
@given(WAYS)
def test_every_node_has_a_place_and_ways_without_a_cycle_go_down(
    ways: list[tuple[str, str]],
) -> None:
    rows, _ = assign_rows(NODES, ways)
    stand = [one for row in rows for one in row if isinstance(one, str)]
    assert sorted(stand) == NODES
    forward = [(a, b) for a, b in ways if a < b]  # these alone make no cycle
    _, down = assign_rows(NODES, forward)
    assert all(down[a] < down[b] for a, b in forward)


@settings(max_examples=volume(32, 800))
@given(WAYS)
def test_a_long_way_has_a_bend_in_each_row_it_passes(ways: list[tuple[str, str]]) -> None:
    rows, placed = assign_rows(NODES, ways)
    bends = {one for row in rows for one in row if not isinstance(one, str)}
    expected = {(a, b, n) for a, b in ways for n in range(placed[a] + 1, placed[b])}
    assert bends == expected


def test_a_cycle_is_laid_out_from_its_first_node() -> None:
    assert assign_rows(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a"), ("b", "b")])[1] == {
        "a": 0,
        "b": 1,
        "c": 2,
    }


def test_nothing_is_laid_out_as_nothing_and_much_in_no_time() -> None:
    assert assign_rows([], []) == ([], {})
    many = [f"n{n}" for n in range(100)]
    chain = list(pairwise(many))
    assert assign_rows(many, chain)[1]["n99"] == 99
