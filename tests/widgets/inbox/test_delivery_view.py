"""A delivery is opened as it came: nothing is rounded, lost or markup."""

import json

import pytest
from inbox.bodies import delivery, message
from widgets.inbox.stored import written

from chatkit.profile import ServiceProfile
from chatkit.widgets.tail import describe_delivery_details


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"id":12345678901234567890123,"a":["\\u00e9"]}',
         '{\n  "id": 12345678901234567890123,\n  "a": [\n    "é"\n  ]\n}'),
        (b'[1.10, -0.0, 1e3, "1.50"]', '[\n  1.10,\n  -0.0,\n  1e3,\n  "1.50"\n]'),
        (b'{"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        (b"\xff{", "\ufffd{"),
        (b"[" * 3000, "[" * 3000),
        ('"\u202e"'.encode(), '"⟨U+202E⟩"'),
        (b"1" * 200_000, "1" * 100_000),
    ],
)  # fmt: skip
def test_a_body_is_shown_whole_and_visible(body: bytes, text: str) -> None:
    assert describe_delivery_details(delivery(body, 7), ServiceProfile())["body"] == text


def test_the_verdict_is_there_with_its_reason() -> None:
    headers = (("webhook-id", "msg_1"), ("x-<b>", "\u202e"))
    reason = "the signature is of another body"
    one = delivery(written(message(1)), 7, verified=False, reason=reason, headers=headers)
    result = describe_delivery_details(one, ServiceProfile())
    assert result["verdict"] == "not verified: the signature is of another body"
    assert result["headers"] == [["webhook-id", "msg_1"], ["x-<b>", "⟨U+202E⟩"]]
    assert result["title"] == "Delivery 7 · no kind"
    assert json.loads(json.dumps(result)) == result
