"""A line says what a delivery is about; nothing in it is markup."""

import pytest
from inbox.bodies import ANA, BEN, delivery, message, status
from widgets.inbox.stored import EVIL, moved, written

from chatkit.inbox.events import parse_contact, parse_events
from chatkit.profile import ServiceProfile
from chatkit.widgets.tail import (
    describe_delivery,
    describe_signature,
    draw_deliveries,
    has_words,
)


def lined(body: bytes, contact: str | None = None, **changed):
    one = delivery(body, **changed)
    return describe_delivery(one, parse_events(one, ServiceProfile()), contact)


def test_a_line_is_about_the_first_event_and_counts_the_others() -> None:
    row = lined(written(message(1), message(2), message(3)), kind="message")
    assert (row["what"], row["text"], row["more"]) == ("message text", "words 1", 2)
    assert (row["contact"], row["kind"], row["at"]) == (f"+{ANA}", "message", "15:06:40.000")


def test_with_a_contact_it_is_about_theirs() -> None:
    body = written(message(1), message(2, who=BEN))
    assert lined(body, f"+{BEN}")["text"] == "words 2"


def test_it_is_about_what_has_failed_with_the_reason() -> None:
    why = [{"code": 131026, "title": "Message undeliverable"}]
    row = lined(moved(status("m1", "read"), status("m2", "failed", errors=why)))
    assert (row["what"], row["failed"]) == ("status failed", "131026: Message undeliverable")
    assert row["name"] == "Ana" and row["more"] == 1
    page = draw_deliveries([row], "About")
    assert "131026: Message undeliverable" in page and "error-color" in page
    assert lined(moved(status("m2", "failed")))["failed"] == "the platform gives no reason"


@pytest.mark.parametrize(
    ("body", "words", "holds"),
    [
        (b'{"a": "Is my BIKE ready?"}', "my bike", True),
        ('{"a": "Straße"}'.encode(), "STRASSE", True),
        (b'{"a": "Ol\\u00e1 \\ud83d\\ude00"}', "olá 😀", True),
        (b'{"a": "b"}', "c", False),
        (b"\xff\\ no json", "yes", False),
        (b"", "", True),
    ],
)
def test_words_are_found_however_the_body_writes_them(body: bytes, words: str, holds: bool) -> None:
    assert has_words(body, words) is holds


def test_a_status_and_what_is_no_json_have_a_line_too() -> None:
    assert lined(moved(status("m1", "read")))["what"] == "status read"
    broken = lined(b"\xff{", verified=False, reason="no header")
    assert (broken["what"], describe_signature(broken)) == ("other", "not verified: no header")


def test_what_a_stranger_wrote_is_text_and_seen_whole() -> None:
    row = lined(written(message(1, text={"body": EVIL})))
    assert "\u202e" not in row["text"] and "⟨U+202E⟩" in row["text"]
    page = draw_deliveries([row], "About <b>")
    assert "<img" not in page and "&lt;img" in page and "<b>" not in page


def test_the_static_form_is_the_same_at_each_run() -> None:
    row = lined(written(message(1)))
    later = {**row, "at": "23:59:59.999", "when": "2030-01-01 23:59:59.999+00:00"}
    assert draw_deliveries([row], "x") == draw_deliveries([later], "x")


@pytest.mark.parametrize(
    ("written_so", "meant"),
    [
        ("+1 (650) 555-0101", "+16505550101"),
        (" 16505550101", "+16505550101"),
        ("US.13-a ", "US.13-a"),
        (" ", ""),
        ("١٢٣٤٥٦", "١٢٣٤٥٦"),
    ],
)
def test_a_number_is_meant_however_it_is_written(written_so: str, meant: str) -> None:
    assert parse_contact(written_so) == meant
