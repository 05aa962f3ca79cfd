"""A flow document as HTML to be read where no player is live."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume
from widgets.showcase import DOCUMENT, screen

from chatkit.widgets.player import screens_html

EVIL = "<img src=x onerror=alert(1)>"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["type", "text", "label", "children", "cases", "data-source", "title"])
            | st.text(),
            inner,
        )
    ),
    max_leaves=15,
)


def test_every_screen_says_what_it_asks_and_sends():
    html = screens_html(DOCUMENT)
    assert "<strong>About you</strong> <small>ABOUT</small>" in html
    assert "<strong>Papers</strong> <small>PAPERS · last screen</small>" in html
    assert "Full name <small>(TextInput, required)</small>" in html
    assert "What do you like? <small>(RadioButtonsGroup, required)</small>: By the sea" in html
    assert "Pick a place <small>(NavigationList)</small>: Lisbon, Faro" in html
    assert "Arrival – Departure" in html
    assert "<strong>[ Send ]</strong>" in html


def test_branches_stand_with_what_they_depend_on():
    html = screens_html(DOCUMENT)
    assert "<em>if (${form.age} &gt; 0) &amp;&amp; (${form.age} &lt; 18)</em>" in html
    assert "<em>if ${form.topic} is hills</em> Bring good shoes." in html


def test_a_text_is_never_markup():
    text = json.dumps(DOCUMENT).replace("Full name", EVIL).replace("About you", EVIL)
    html = screens_html(json.loads(text.replace("Terms", EVIL)))
    assert "<img" not in html
    assert html.count("&lt;img") >= 3


def test_long_flows_are_cut_and_say_so():
    many = [screen(f"S{n}", "Title", *[{"type": "TextBody", "text": "x"}] * 70) for n in range(22)]
    html = screens_html({"screens": many})
    assert "… and 10 more</li>" in html
    assert "… and 2 more screens." in html


@pytest.mark.parametrize("document", [None, 7, [], {}, {"screens": 3}, {"screens": [None, "x"]}])
def test_what_has_no_screens_shows_none(document):
    assert screens_html(document) == ""


def test_components_nested_without_end_are_left_out():
    node: dict[str, object] = {"type": "TextBody", "text": "deep"}
    for _ in range(500):
        node = {"type": "Form", "children": [node]}
    assert "deep" not in screens_html({"screens": [screen("A", "A", node)]})


@settings(max_examples=volume(24, 600))
@given(JSON)
def test_any_json_makes_html_that_is_well_formed(value):
    open_tags: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, _):
            open_tags.append(tag)

        def handle_endtag(self, tag):
            assert open_tags.pop() == tag

    node = value if isinstance(value, dict) else {"type": "TextBody", "text": value}
    Reader().feed(screens_html({"screens": [screen("A", "A", node)]}))
    assert open_tags == []
