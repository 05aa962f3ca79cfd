"""A delivery is opened as it came: nothing is rounded, lost or markup."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from inbox.bodies import delivery, message
from volume import volume
from widgets.inbox.stored import written

from chatkit.profile import ServiceProfile
from chatkit.widgets.tail import body_tree, delivery_view

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("abc é<", max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab"), inner, max_size=4),
    max_leaves=20,
)


def back(node):
    """What a tree was made of."""
    match node:
        case ["object", pairs, _]:
            return {name: back(one) for name, one in pairs}
        case ["list", nodes, _]:
            return [back(one) for one in nodes]
        case ["text", text]:
            return text
    return json.loads(node[1])


@settings(max_examples=volume(24, 600))
@given(VALUES)
def test_a_tree_holds_the_whole_body(value) -> None:
    assert back(body_tree(json.dumps(value).encode())) == value


def test_a_long_number_is_not_rounded_and_a_name_that_comes_twice_is_there_twice() -> None:
    body = b'{"id": 12345678901234567890123, "a": 1.10, "a": NaN}'
    assert body_tree(body)[1] == [
        ["id", ["value", "12345678901234567890123"]],
        ["a", ["value", "1.10"]],
        ["a", ["value", "NaN"]],
    ]


def test_what_is_no_json_or_too_deep_is_shown_as_text() -> None:
    assert body_tree(b"\xff{") == ["text", "�{"]
    assert body_tree(b"[" * 100_000)[0] == "text"
    deep = json.dumps(body_tree(b"[" * 90 + b"1" + b"]" * 90))
    assert "too deep to be shown" in deep


def test_a_large_body_is_cut_and_says_so() -> None:
    body = json.dumps([*range(100_000)]).encode()
    sort, nodes, size = body_tree(body)
    assert (sort, size, len(nodes)) == ("list", 100_000, 3000)
    assert nodes[-1] == ["rest", "97,001 more values, not shown"]


def test_the_verdict_is_there_with_its_reason() -> None:
    headers = (("webhook-id", "msg_1"), ("x-<b>", "\u202e"))
    reason = "the signature is of another body"
    one = delivery(written(message(1)), 7, verified=False, reason=reason, headers=headers)
    found = delivery_view(one, ServiceProfile())
    assert found["verdict"] == "not verified: the signature is of another body"
    assert found["headers"] == [["webhook-id", "msg_1"], ["x-<b>", "⟨U+202E⟩"]]
    assert found["title"] == "Delivery 7 · no kind"
    assert json.loads(json.dumps(found)) == found
