"""A delivery is opened as it came: nothing is rounded, lost or markup."""

import json
from collections.abc import Iterator
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st
from inbox.bodies import delivery, message
from volume import volume
from widgets.inbox.stored import written

from chatkit.profile import ServiceProfile
from chatkit.widgets.tail import describe_delivery_details, draw_body

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("abc é<", max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab"), inner, max_size=4),
    max_leaves=20,
)


class Tree(HTMLParser):
    """Return the texts in the page of a tree: the values, and the names of each."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.html, self.kind, self.tags = draw_body(body), "", set[str]()
        self.texts: dict[str, list[str]] = {"name": [], "value": [], "text": [], "rest": []}
        self.feed(self.html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.kind = dict(attributes).get("class", "").removeprefix("tl-")

    def handle_data(self, data: str) -> None:
        if self.kind in self.texts:
            self.texts[self.kind].append(data)


def leaves(value: object) -> Iterator[tuple[str, str]]:
    inside = value.values() if isinstance(value, dict) else value
    if isinstance(value, str):
        yield "text", f'"{value}"'
    elif isinstance(value, dict | list):
        for one in inside:
            yield from leaves(one)
    else:
        yield "value", json.dumps(value)


@settings(max_examples=volume(24, 600))
@given(VALUES)
def test_a_tree_holds_the_whole_body(value) -> None:
    tree = Tree(json.dumps(value).encode())
    for kind in ("text", "value"):
        assert tree.texts[kind] == [text for one, text in leaves(value) if one == kind]
    assert tree.tags <= {"details", "summary", "span", "div", "bdi"}


def test_a_long_number_is_not_rounded_and_a_name_that_comes_twice_is_there_twice() -> None:
    tree = Tree(b'{"id": 12345678901234567890123, "a": 1.10, "a": NaN}')
    assert tree.texts["value"] == ["12345678901234567890123", "1.10", "NaN"]
    assert tree.texts["name"] == ["id: ", "a: ", "a: "]


def test_what_is_no_json_or_too_deep_is_shown_as_text() -> None:
    assert Tree(b"\xff{").texts["text"] == ['"\ufffd{"']
    assert "details" not in Tree(b"[" * 100_000).tags
    assert Tree(b"[" * 90 + b"1" + b"]" * 90).texts["rest"] == ["too deep to be shown"]


def test_a_large_body_is_cut_and_says_so() -> None:
    tree = Tree(json.dumps([*range(100_000)]).encode())
    assert len(tree.texts["value"]) == 2999 and "[100000]" in tree.html
    assert tree.texts["rest"] == ["97,001 more values, not shown"]


def test_the_verdict_is_there_with_its_reason() -> None:
    headers = (("webhook-id", "msg_1"), ("x-<b>", "\u202e"))
    reason = "the signature is of another body"
    one = delivery(written(message(1)), 7, verified=False, reason=reason, headers=headers)
    result = describe_delivery_details(one, ServiceProfile())
    assert result["verdict"] == "not verified: the signature is of another body"
    assert result["headers"] == [["webhook-id", "msg_1"], ["x-<b>", "⟨U+202E⟩"]]
    assert result["title"] == "Delivery 7 · no kind"
    assert json.loads(json.dumps(result)) == result
