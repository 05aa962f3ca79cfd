"""A flow as HTML: its screens and components, and nothing of a stranger's HTML."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from displayed import html_of
from flowjson.build.made import flows
from hypothesis import given, settings
from volume import volume

from chatkit.flowjson import (
    Complete,
    Flow,
    Footer,
    If,
    Navigate,
    Screen,
    TextBody,
    TextInput,
    parse,
)

EVIL = "<img src=x onerror=alert(1)>"


class Tags(HTMLParser):
    """The tags of a text, and whether all were closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_screens_and_components_are_shown_with_where_they_lead() -> None:
    ask = If("${form.n} == 'x'", [TextBody("yes")], else_=[TextBody(["no", "never"])])
    first = Screen("A", "First", [TextInput("n", "Name"), ask, Footer("Go", Navigate("B"))])
    last = Screen("B", "Last", [Footer("Done", Complete())], terminal=True)
    text = Flow([first, last])._repr_html_()
    for part in (
        *("<b>Flow</b> 7.3, 2 screens", "<b>A</b> First<ul>", "<b>B</b> Last <i>(terminal)</i>"),
        *("TextInput <code>n</code> “Name”", "Footer “Go” → B", "Footer “Done” → complete"),
        *("If “${form.n} == &#x27;x&#x27;”", "<i>then</i><ul><li>TextBody “yes”", "“no never”"),
    ):
        assert part in text


def test_what_strangers_wrote_is_escaped() -> None:
    document: Any = {
        "version": EVIL,
        "screens": [
            {
                "id": EVIL,
                "title": EVIL,
                "layout": {
                    "children": [
                        {"type": "TextInput", "name": EVIL, "label": EVIL},
                        {"type": EVIL},
                        {"type": "Switch", "value": "${" + EVIL, "cases": {EVIL: []}},
                        Footer(EVIL, Navigate(EVIL)).to_json(),
                    ]
                },
            }
        ],
    }
    text = html_of(parse(document))
    assert Tags(text).seen <= {"b", "code", "div", "i", "li", "ul"}
    assert text.count("&lt;img") >= 8


@given(flows)
@settings(max_examples=volume(20, 500))
def test_every_flow_is_shown_in_sound_html(flow: Flow) -> None:
    tags = Tags(flow._repr_html_())
    assert not tags.open and tags.seen <= {"b", "code", "div", "i", "li", "ul"}
