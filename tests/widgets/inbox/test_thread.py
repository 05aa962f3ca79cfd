"""A conversation has each message once, in order, with how far it came."""

import pytest
from inbox.bodies import ANA, message, status
from widgets.inbox.stored import echoed, inbox, moved, put, written

from chatkit.inbox import Inbox
from chatkit.widgets.conversation import ThreadMessage, combine_events

__all__ = ["inbox"]


def output(inbox: Inbox) -> list[ThreadMessage]:
    return combine_events([*inbox._read_events()])


def ours(number: int, **parts) -> dict:
    return {**message(number, **parts), "from": "15550100", "to": ANA}


WHY = [{"code": 131026, "title": "Not on the platform"}]


def reaction(number: int, emoji: str) -> dict:
    return message(number, "reaction", reaction={"message_id": "m1", "emoji": emoji})


@pytest.mark.parametrize(
    ("bodies", "names", "messages"),
    [
        (
            [written(message(3)), echoed(ours(2)), written(message(1))],
            ("id", "outbound", "text"),
            [("m1", False, "words 1"), ("m2", True, "words 2"), ("m3", False, "words 3")],
        ),
        (  # of one second: in the order in which they came
            [written({**message(n), "timestamp": "1750000000"}) for n in (3, 1, 2)],
            ("id",),
            [("m3",), ("m1",), ("m2",)],
        ),
        (  # the highest status counts
            [echoed(ours(1)), moved(status("m1", "read", 9)), moved(status("m1", "sent", 2))],
            ("status", "delivered", "error"),
            [("read", True, None)],
        ),
        (
            [echoed(ours(1)), moved(status("m1", "failed", errors=WHY))],
            ("status", "error"),
            [("failed", "131026: Not on the platform")],
        ),
        (  # known by its status alone
            [moved(status("m7", "delivered", 7))],
            ("id", "outbound", "delivered", "text"),
            [("m7", True, False, None)],
        ),
        ([echoed(ours(1)), written(reaction(2, "👍"))], ("id", "reactions"), [("m1", ("👍",))]),
        (
            [echoed(ours(1)), written(reaction(2, "👍")), written(reaction(3, ""))],
            ("id", "reactions"),
            [("m1", ())],
        ),
        (
            [written(message(1)), written({**message(2), "context": {"id": "m1"}})],
            ("reply_to",),
            [(None,), ("m1",)],
        ),
    ],
)
def test_messages_are_in_order_with_what_became_of_them(
    inbox: Inbox, bodies: list[bytes], names: tuple[str, ...], messages: list[tuple]
) -> None:
    put(inbox, *bodies)
    result = output(inbox)
    assert [tuple(getattr(one, name) for name in names) for one in result] == messages
    assert all(one.at is not None for one in result)
