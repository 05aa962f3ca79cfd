"""A flow document as HTML to be read where no player is live."""

from __future__ import annotations

import json
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume
from widgets.showcase import DOCUMENT, screen

from chatkit.widgets.player import draw_screens

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


def test_a_text_is_never_markup():
    text = json.dumps(DOCUMENT).replace("Full name", EVIL).replace("About you", EVIL)
    html = draw_screens(json.loads(text.replace("Terms", EVIL)))
    assert "<img" not in html
    assert html.count("&lt;img") >= 3


def test_what_has_no_screens_or_is_nested_without_end_shows_none(tmp_path):
    file = tmp_path / "flow.json"
    file.write_text(json.dumps(DOCUMENT))
    node: dict[str, object] = {"type": "TextBody", "text": "deep"}
    for _ in range(500):
        node = {"type": "Form", "children": [node]}
    assert [draw_screens(each) for each in (None, 7, [], str(file), file)] == [""] * 5
    assert "0 screens" in draw_screens({"screens": 3})
    assert "deep" not in draw_screens({"screens": [screen("A", "A", node)]})


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
    Reader().feed(draw_screens({"screens": [screen("A", "A", node)]}))
    assert open_tags == []
