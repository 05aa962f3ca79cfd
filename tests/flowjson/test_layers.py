from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.flowjson.graph import assign_rows

NODES = [f"n{n}" for n in range(8)]
WAYS = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=16)
CHAIN = [f"n{n}" for n in range(100)]


@settings(max_examples=volume(32, 800))
@given(WAYS)
def test_every_node_has_one_place(ways: list[tuple[str, str]]) -> None:
    assert sorted(node for row in assign_rows(NODES, ways) for node in row) == NODES


@pytest.mark.parametrize(
    ("nodes", "ways", "rows"),
    [
        ("", "", []),
        ("abc", "ab bc ca bb", ["a", "b", "c"]),
        ("abcd", "ab ac bd cd ad", ["a", "bcd"]),
        ("abcd", "ab cd dc", ["a", "b", "c", "d"]),
    ],
)
def test_a_node_stands_below_the_nearest_that_leads_to_it(
    nodes: str, ways: str, rows: list[str]
) -> None:
    assert assign_rows([*nodes], [(a, b) for a, b in ways.split()]) == [[*row] for row in rows]


def test_a_long_chain_is_laid_out_in_no_time() -> None:
    assert assign_rows(CHAIN, list(pairwise(CHAIN))) == [[node] for node in CHAIN]
