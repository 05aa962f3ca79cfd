from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.flowjson.graph import layers

NODES = [f"n{n}" for n in range(8)]
WAYS = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=16)


def crossings(rows: list[list[object]], ways: list[tuple[str, str]]) -> int:
    place = {one: (n, i) for n, row in enumerate(rows) for i, one in enumerate(row)}
    lines = [(place[a][1], place[b][1]) for a, b in ways]
    return sum(a < c and b > d for a, b in lines for c, d in lines)


@settings(max_examples=volume(32, 800))
@given(WAYS)
def test_every_node_has_a_place_and_ways_without_a_cycle_go_down(
    ways: list[tuple[str, str]],
) -> None:
    result = layers(NODES, ways)
    stand = [one for row in result.rows for one in row if isinstance(one, str)]
    assert sorted(stand) == NODES
    forward = [(a, b) for a, b in ways if a < b]  # these alone make no cycle
    down = layers(NODES, forward).row
    assert all(down[a] < down[b] for a, b in forward)


@settings(max_examples=volume(32, 800))
@given(WAYS)
def test_a_long_way_has_a_bend_in_each_row_it_passes(ways: list[tuple[str, str]]) -> None:
    result = layers(NODES, ways)
    bends = {one for row in result.rows for one in row if not isinstance(one, str)}
    expected = {(a, b, n) for a, b in ways for n in range(result.row[a] + 1, result.row[b])}
    assert bends == expected


def test_a_ring_is_laid_out_from_its_first_node() -> None:
    assert layers(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a"), ("b", "b")]).row == {
        "a": 0,
        "b": 1,
        "c": 2,
    }


def test_crossed_ways_are_uncrossed() -> None:
    ways = [("a", "d"), ("b", "c")]
    result = layers(["a", "b", "c", "d"], ways)
    assert crossings(result.rows, ways) == 0  # type: ignore[arg-type]


def test_nothing_is_laid_out_as_nothing_and_much_in_no_time() -> None:
    assert layers([], []).rows == []
    many = [f"n{n}" for n in range(100)]
    chain = list(pairwise(many))
    assert layers(many, chain).row["n99"] == 99
