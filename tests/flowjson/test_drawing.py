from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from flowjson.strangers import EVIL, booking, crooked, documents, screen
from hypothesis import given, settings
from volume import volume

from chatkit.flowjson.graph import HEIGHT, WIDTH, Graph, draw_svg, graph

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def boxes(root: ElementTree.Element) -> list[tuple[float, float]]:
    result = [rect for rect in root.iter(f"{SVG}rect") if rect.get("class") == "box"]
    return [(float(rect.get("x", "")), float(rect.get("y", ""))) for rect in result]


def test_each_screen_is_a_box_of_its_own_and_each_way_a_line(shared: Path) -> None:
    for name, document in documents(shared).items():
        made = graph(document)
        root = parsed(made.svg())
        places = boxes(root)
        assert len(places) == len(made.nodes), name
        apart = [
            abs(a[0] - b[0]) >= WIDTH or abs(a[1] - b[1]) >= HEIGHT
            for n, a in enumerate(places)
            for b in places[n + 1 :]
        ]
        assert all(apart), name
        lines = [p for p in root.iter(f"{SVG}path") if p.get("marker-end")]
        assert len(lines) == len({(edge.source, edge.target) for edge in made.edges}), name


def test_everything_lies_within_the_picture(shared: Path) -> None:
    for document in documents(shared).values():
        root = parsed(graph(document).svg())
        width, height = (float(root.get(name, "")) for name in ("width", "height"))
        for x, y in boxes(root):
            assert x >= 0 and y >= 0 and x + WIDTH <= width and y + HEIGHT <= height


def test_titles_ids_and_taps_are_read_and_marks_are_set() -> None:
    root = parsed(graph(booking()).svg())
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"Welcome", "START", "Payment", "PAY", "entry", "terminal", "Go on"} <= set(texts)
    assert "a tap leads there" in texts and "permitted only" in texts
    groups = [group.get("class") for group in root.iter(f"{SVG}g")]
    assert groups.count("entry") == 1 and groups.count("terminal") == 2


def test_names_from_strangers_are_text() -> None:
    document = booking()
    document["screens"][0].update(id=EVIL, title=f"{EVIL}</text><script>x</script>")
    svg = graph(document).svg()
    tags = {element.tag.removeprefix(SVG) for element in parsed(svg).iter()}
    assert tags <= {"svg", "title", "style", "defs", "marker", "path", "g", "rect", "text"}
    assert "\u202e" not in svg and not re.search("<img|<script", svg)


def test_characters_that_xml_cannot_hold_and_long_names_do_not_break_it() -> None:
    names = ["\x00\x1f\ufffe", "\ud800", "x" * 500, "", "予約" * 40]
    document: dict[str, Any] = {"screens": [screen(name, name, []) for name in names]}
    texts = [text.text or "" for text in parsed(graph(document).svg()).iter(f"{SVG}text")]
    assert max(map(len, texts)) <= 30
    assert any(text.startswith("予約予約") and text.endswith("…") for text in texts)


def test_no_screens_are_an_empty_picture() -> None:
    assert boxes(parsed(draw_svg(Graph((), ())))) == []


@settings(max_examples=volume(16, 400))
@given(crooked)
def test_any_document_is_drawn(document: Any) -> None:
    made = graph(document)
    assert len(boxes(parsed(made.svg()))) == len(made.nodes)
