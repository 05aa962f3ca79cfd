from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flowjson.strangers import EVIL, anything, booking, crooked, documents
from hypothesis import given, settings
from volume import volume

from chatkit.errors import InputError
from chatkit.flowjson.graph import Graph, graph


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
    document = booking(routing_model={"START": ["NOWHERE"]})
    missing = graph(document).nodes[-1]
    assert (missing.id, missing.known, missing.pointer) == ("NOWHERE", False, None)
    assert "NOWHERE (missing)" in repr(graph(document))


def test_a_last_screen_to_which_nothing_leads_is_no_beginning() -> None:
    document = booking(routing_model={"START": ["PAY"]})
    assert [node.id for node in graph(document).nodes if node.entry] == ["START"]
    alone = booking(routing_model={}, screens=document["screens"][2:])
    assert [node.id for node in graph(alone).nodes if node.entry] == ["HELP"]


def test_a_cycle_begins_with_its_first_screen() -> None:
    document = booking(routing_model={"PAY": ["START"], "HELP": ["START"], "START": ["HELP"]})
    assert [node.id for node in graph(document).nodes if node.entry] == ["START"]


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
def test_any_document_has_a_text_of_one_line_each(document: Any) -> None:
    try:
        made = graph(document)
    except InputError:
        assert not isinstance(document, dict)
        return
    assert repr(made).count("\n") == len(made.nodes) + len(made.edges)


def test_a_notebook_gets_a_drawing_a_picture_and_a_text() -> None:
    document = booking()
    document["screens"][0]["title"] = EVIL
    bundle = graph(document)._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/svg+xml"}
    assert all("<img" not in bundle[kind] for kind in ("text/html", "image/svg+xml"))
    assert bundle == graph(document)._repr_mimebundle_()


def test_samples_have_each_screen_once_and_ways_between_them(shared: Path) -> None:
    for name, document in documents(shared, "valid").items():
        made = graph(document)
        assert [n.id for n in made.nodes] == [one["id"] for one in document["screens"]], name
        assert any(node.entry for node in made.nodes), name


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(InputError, match="not valid JSON"):
        graph("{")
