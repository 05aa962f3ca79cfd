"""A conversation has each message once, in order, with how far it came."""

from inbox.bodies import ANA, message, status
from widgets.inbox.stored import echoed, inbox, moved, put, written

from chatkit.inbox import Inbox
from chatkit.widgets.conversation import ThreadMessage, combine_events

__all__ = ["inbox"]


def output(inbox: Inbox) -> list[ThreadMessage]:
    return combine_events([*inbox._read_events()])


def ours(number: int, **parts) -> dict:
    return {**message(number, **parts), "from": "15550100", "to": ANA}


def test_both_sides_in_the_order_in_which_they_were_said(inbox: Inbox) -> None:
    put(inbox, written(message(3)), echoed(ours(2)), written(message(1)))
    assert [(one.id, one.outbound, one.text) for one in output(inbox)] == [
        ("m1", False, "words 1"),
        ("m2", True, "words 2"),
        ("m3", False, "words 3"),
    ]


def test_what_was_said_in_one_second_stays_in_the_order_in_which_it_came(inbox: Inbox) -> None:
    put(inbox, *(written({**message(n), "timestamp": "1750000000"}) for n in (3, 1, 2)))
    assert [one.id for one in output(inbox)] == ["m3", "m1", "m2"]


def test_a_message_of_ours_has_the_highest_status_and_when_it_came(inbox: Inbox) -> None:
    put(inbox, echoed(ours(1)), moved(status("m1", "read", 9)), moved(status("m1", "sent", 2)))
    (one,) = output(inbox)
    assert one.status == "read" and f"{one.reached_at:%S}" == "49" and one.delivered


def test_a_failed_one_says_why(inbox: Inbox) -> None:
    errors = [{"code": 131026, "title": "Not on the platform"}]
    put(inbox, echoed(ours(1)), moved(status("m1", "failed", errors=errors)))
    assert output(inbox)[0].error == "131026: Not on the platform"


def test_what_is_known_by_its_status_alone_is_there(inbox: Inbox) -> None:
    put(inbox, moved(status("m7", "delivered", 7)))
    (one,) = output(inbox)
    assert (one.id, one.outbound, one.delivered, one.text) == ("m7", True, False, None)
    assert one.at is not None


def test_a_reaction_stands_at_its_message_until_it_is_taken_back(inbox: Inbox) -> None:
    def reaction(number: int, emoji: str) -> dict:
        return message(number, "reaction", reaction={"message_id": "m1", "emoji": emoji})

    put(inbox, echoed(ours(1)), written(reaction(2, "👍")))
    assert [(one.id, one.reactions) for one in output(inbox)] == [("m1", ("👍",))]
    put(inbox, written(reaction(3, "")))
    assert output(inbox)[0].reactions == ()


def test_an_answer_names_what_it_answers(inbox: Inbox) -> None:
    put(inbox, written(message(1)), written({**message(2), "context": {"id": "m1"}}))
    assert [one.reply_to for one in output(inbox)] == [None, "m1"]
