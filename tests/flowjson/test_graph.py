"""A flow as a graph: its screens and the ways between them, in rows, as text and as a picture."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from flowjson.strangers import EVIL, anything, booking, crooked, documents, screen
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.errors import InputError
from chatkit.flowjson.graph import HEIGHT, WIDTH, Graph, assign_rows, draw_svg, graph


def ways(made: Graph) -> list[tuple[str, str, str, str]]:
    return [(edge.source, edge.target, edge.kind, edge.label) for edge in made.edges]


def test_screens_are_nodes_and_taps_and_routes_are_ways() -> None:
    made = graph(booking())
    assert [(n.id, n.title, n.entry, n.terminal, n.known) for n in made.nodes] == [
        ("START", "Welcome", True, False, True),
        ("PAY", "Payment", False, True, True),
        ("HELP", "Help", False, True, True),
    ]
    assert ways(made) == [
        ("START", "PAY", "navigate", "Go on"),
        ("START", "HELP", "routing_model", ""),
    ]
    assert made.edges[0].pointer == "/screens/0/layout/children/2/children/3/on-click-action"
    assert made.edges[1].pointer == "/routing_model/START/1"


def test_what_the_endpoint_may_answer_is_a_way_of_its_own() -> None:
    document = booking()
    foot = document["screens"][0]["layout"]["children"][2]["children"][3]
    foot["on-click-action"] = {"name": "data_exchange"}
    assert ways(graph(document)) == [
        ("START", "PAY", "data_exchange", "Go on"),
        ("START", "HELP", "data_exchange", "Go on"),
    ]


def test_a_screen_that_is_not_there_is_marked() -> None:
    made = graph(booking(routing_model={"START": ["NOWHERE"]}))
    missing = made.nodes[-1]
    assert (missing.id, missing.known, missing.pointer) == ("NOWHERE", False, None)
    assert "NOWHERE (missing)" in repr(made)


@pytest.mark.parametrize(
    ("routes", "first", "entries"),
    [
        ({"START": ["PAY"]}, 0, ["START"]),  # nothing leads to HELP, which is a last screen
        ({}, 2, ["HELP"]),  # unless it is the only one
        ({"PAY": ["START"], "HELP": ["START"], "START": ["HELP"]}, 0, ["START"]),  # a cycle
    ],
)
def test_a_flow_begins_where_nothing_leads_to(routes: Any, first: int, entries: list[str]) -> None:
    made = graph(booking(routing_model=routes, screens=booking()["screens"][first:]))
    assert [node.id for node in made.nodes if node.entry] == entries


def test_the_text_is_stable() -> None:
    assert repr(graph(booking())) == (
        "3 screens, 2 edges.\n"
        '  START "Welcome" (entry)\n'
        '    → PAY, navigate "Go on"\n'
        "    → HELP, routing_model\n"
        '  PAY "Payment" (terminal)\n'
        '  HELP "Help" (terminal)'
    )


@settings(max_examples=volume(20, 500))
@given(crooked | anything)
def test_any_document_is_drawn_and_has_a_text_of_one_line_each(document: Any) -> None:
    try:
        made = graph(document)
    except InputError:
        assert not isinstance(document, dict)
        return
    assert repr(made).count("\n") == len(made.nodes) + len(made.edges)
    assert len(boxes(ElementTree.fromstring(made.svg()))) == len(made.nodes)


def test_a_notebook_gets_a_drawing_a_picture_and_a_text() -> None:
    document = booking()
    document["screens"][0]["title"] = EVIL
    bundle = graph(document)._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/svg+xml"}
    assert all("<img" not in bundle[kind] for kind in ("text/html", "image/svg+xml"))
    assert bundle == graph(document)._repr_mimebundle_()


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(InputError, match="not valid JSON"):
        graph("{")


# --- the picture ----------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"


def boxes(root: ElementTree.Element) -> list[tuple[float, float]]:
    result = [rect for rect in root.iter(f"{SVG}rect") if rect.get("class") == "box"]
    return [(float(rect.get("x", "")), float(rect.get("y", ""))) for rect in result]


def test_each_screen_is_a_box_of_its_own_within_the_picture_and_each_way_a_line(
    shared: Path,
) -> None:
    for name, document in documents(shared).items():
        made = graph(document)
        root = ElementTree.fromstring(made.svg())
        width, height = (float(root.get(name, "")) for name in ("width", "height"))
        places = boxes(root)
        assert len(places) == len(made.nodes), name
        for n, (x, y) in enumerate(places):
            assert x >= 0 and y >= 0 and x + WIDTH <= width and y + HEIGHT <= height
            assert all(abs(x - u) >= WIDTH or abs(y - v) >= HEIGHT for u, v in places[n + 1 :])
        lines = [p for p in root.iter(f"{SVG}path") if p.get("marker-end")]
        assert len(lines) == len({(edge.source, edge.target) for edge in made.edges}), name
    for name, document in documents(shared, "valid").items():
        made = graph(document)
        assert [n.id for n in made.nodes] == [one["id"] for one in document["screens"]], name
        assert any(node.entry for node in made.nodes), name


def test_titles_ids_and_taps_are_read_and_marks_are_set() -> None:
    root = ElementTree.fromstring(graph(booking()).svg())
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"Welcome", "START", "Payment", "PAY", "entry", "terminal", "Go on"} <= set(texts)
    assert "a tap leads there" in texts and "permitted only" in texts
    groups = [group.get("class") for group in root.iter(f"{SVG}g")]
    assert groups.count("entry") == 1 and groups.count("terminal") == 2
    assert boxes(ElementTree.fromstring(draw_svg(Graph((), ())))) == []


def test_names_from_strangers_are_text_and_do_not_break_it() -> None:
    document = booking()
    document["screens"][0].update(id=EVIL, title=f"{EVIL}</text><script>x</script>")
    svg = graph(document).svg()
    tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(svg).iter()}
    assert tags <= {"svg", "title", "style", "defs", "marker", "path", "g", "rect", "text"}
    assert "\u202e" not in svg and not re.search("<img|<script", svg)
    names = ["\x00\x1f\ufffe", "\ud800", "x" * 500, "", "予約" * 40]
    svg = graph({"screens": [screen(name, name, []) for name in names]}).svg()
    texts = [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert max(map(len, texts)) <= 30
    assert any(text.startswith("予約予約") and text.endswith("…") for text in texts)


# --- rows -----------------------------------------------------------------------------------

NODES = [f"n{n}" for n in range(8)]
WAYS = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=16)


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
    chain = [f"n{n}" for n in range(100)]
    assert assign_rows(chain, list(pairwise(chain))) == [[node] for node in chain]
