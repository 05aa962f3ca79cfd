"""A conversation is read like on a phone, live and in an exported notebook."""

import pytest
from inbox.bodies import ANA, BEN, message, status
from inbox.senders import SECRET, post, signed
from widgets.inbox.stored import EVIL, echoed, inbox, moved, put, written
from widgets.inbox.test_tail import no_thread_is_left, threads, until
from widgets.inbox.test_thread import ours
from widgets.screen import html, page_of, press, send, static

from chatkit.errors import InputError
from chatkit.inbox import Inbox
from chatkit.widgets.conversation import Conversation

__all__ = ["inbox", "no_thread_is_left"]


def rendered(conversation: Conversation) -> str:
    return conversation._output_data()["text/html"]


def test_it_is_with_one_contact_and_says_who_and_how_far(inbox: Inbox) -> None:
    put(inbox, written(message(1)), written(message(2, who=BEN)), echoed(ours(3)))
    put(inbox, moved(status("m3", "delivered", 4)))
    conversation = Conversation(inbox, f" +{ANA} ")
    page = rendered(conversation)
    assert repr(conversation) == f"Conversation with +{ANA}: 2 messages, 1 of them ours."
    assert "words 1" in page and "words 2" not in page
    assert "They: " in page and "We: " in page and "✓✓</i> delivered 15:06" in page
    assert f"Ana · +{ANA}" in page and "2025-06-15, UTC" in page


def test_words_of_strangers_are_no_markup(inbox: Inbox) -> None:
    contact = {"wa_id": ANA, "profile": {"name": EVIL}}
    body = written(message(1, text={"body": EVIL})).decode().replace('"Ana"', '"<b>A"')
    put(inbox, body.encode(), moved(status("m2", EVIL)), written(message(3, EVIL)))
    page = rendered(Conversation(inbox, f"+{ANA}"))
    assert contact and "<img" not in page and "<b>" not in page and "\u202e" not in page
    assert "&lt;img" in page


def test_it_is_read_again_when_asked(inbox: Inbox) -> None:
    conversation = Conversation(inbox, f"+{ANA}")
    assert "No message of this contact" in rendered(conversation)
    put(inbox, written(message(1, "image", image={"id": "9", "caption": "a cat\nor two"})))
    conversation.look()
    assert "[image]" in rendered(conversation) and "a cat<br>or two" in rendered(conversation)


def test_shown_it_goes_on_by_itself_and_draws_what_has_changed(inbox: Inbox) -> None:
    conversation = Conversation(inbox, f"+{ANA}")
    drawn: list[object] = []
    conversation.observe(drawn.append, names="tree")
    assert "Conversation with" in static(conversation)["text/plain"] and conversation.running
    put(inbox, written(message(1)), written(message(2, who=BEN)))
    until(lambda: "words 1" in html(conversation))
    put(inbox, echoed(ours(3)), moved(status("m3", "read", 4)))
    until(lambda: "read 15:06" in html(conversation))
    assert [one.id for one in conversation.thread] == ["m1", "m3"]
    count = len(drawn)
    put(inbox, written(message(4, who=BEN)))
    assert conversation.look() == 0 and len(drawn) == count  # of somebody else
    assert ">live</span>" in html(conversation) and ">live<" not in page_of(conversation)
    conversation.stop()
    assert not threads() and conversation.stopped and ">stopped</span>" in html(conversation)
    send(conversation, {"here": "a"})
    assert not conversation.running


def test_what_is_verified_later_is_there_then(inbox: Inbox) -> None:
    receiver = inbox.serve()
    body = written(message(1))
    post(receiver.url, body, signed(body))
    conversation = Conversation(inbox, f"+{ANA}")
    assert conversation.thread == []
    receiver.accept(SECRET)
    conversation.look()
    assert [one.text for one in conversation.thread] == ["words 1"]


def test_older_messages_are_counted_and_quoted(inbox: Inbox) -> None:
    put(inbox, *(written(message(n)) for n in range(1, 5)))
    put(inbox, written({**message(5), "context": {"id": "m1"}}))
    put(inbox, written({**message(6), "context": {"id": "gone"}}))
    page = rendered(Conversation(inbox, f"+{ANA}", last=2))
    assert "4 older messages not shown: last=2" in page
    assert "words 1</blockquote>" in page and "a message that is not here" in page
    assert "words 4" not in page


def test_of_a_long_conversation_the_end_is_shown_and_older_ones_when_asked_for(
    inbox: Inbox,
) -> None:
    output = [written(message(n), kind="message") for n in range(180)]
    put(inbox, *output[:170], moved(status("sent elsewhere", "sent", 170)), *output[170:])
    conversation = Conversation(inbox, f"+{ANA}", last=50)
    assert "181 messages, 1 of them ours" in repr(conversation)
    page = rendered(conversation)
    assert "131 older messages not shown: last=50" in page
    assert "words 131" in page and "words 130<" not in page and "words were not" in page
    press(conversation, "Show 100 older")
    assert html(conversation).count('<div class="cv-text"') == 149
    press(conversation, "Show 31 older")
    assert rendered(conversation).count('<div class="cv-text"') == 180
    assert "not shown" not in html(conversation)
    assert conversation.older() == 181


def test_it_goes_on_over_what_was_deleted(inbox: Inbox) -> None:
    put(inbox, *(written(message(n, who=BEN if n % 3 else ANA)) for n in range(12)))
    conversation = Conversation(inbox, f"+{ANA}")
    assert len(conversation.thread) == 4
    inbox.forget(f"+{BEN}").apply(mixed=True)
    inbox.prune(before="now").apply()
    assert inbox.last == conversation.look() == 0
    put(inbox, written(message(20)))
    assert conversation.look() == 1 and len(conversation.thread) == 1


def test_what_is_not_verified_is_left_out_unless_it_is_asked_for(inbox: Inbox) -> None:
    put(inbox, written(message(1)), verified=False, reason="no header")
    assert not Conversation(inbox, f"+{ANA}").thread
    assert len(Conversation(inbox, f"+{ANA}", verified=None).thread) == 1


def test_a_failure_says_why_and_what_has_no_words_says_so(inbox: Inbox) -> None:
    put(inbox, moved(status("m1", "failed", errors=[{"code": 131026, "title": "Undeliverable"}])))
    page = rendered(Conversation(inbox, f"+{ANA}"))
    assert "failed 15:06 · 131026: Undeliverable" in page
    assert "whose words were not delivered here" in page


@pytest.mark.parametrize(("contact", "last"), [(" ", 5), ("+1", 0)])
def test_what_cannot_be_a_conversation_is_refused(inbox: Inbox, contact: str, last: int) -> None:
    with pytest.raises(InputError):
        Conversation(inbox, contact, last=last)
