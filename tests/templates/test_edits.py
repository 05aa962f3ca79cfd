"""Frames of contents edited as one: found and replaced, drafted where missing."""

import copy
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localization.contents import button, cases, content, demo, frame, website
from volume import volume

from chatkit.errors import InputError
from chatkit.localization.content import find_slots
from chatkit.templates.edits import Replacement

__all__ = ["demo"]

CALL = button("call_phone", "Call us", value="2025550143", country_code="+1")
SHOP = website(
    "https://old.example/t/{{1}}", label="Old shop", dynamic_url="https://old.example/t/7"
)
IMAGE = {"type": "image", "link": "https://old.example/a.png", "text": None}
FULL = content(
    text="old: {{1}} is old",
    footer="so old",
    headers=[{"type": "text", "text": "An old header"}],
    buttons=[SHOP, CALL, button("copy_offer_code", None, value="old")],
)


def replaced(old, new, *contents):
    replacement = Replacement(old, new)
    return replacement, replacement.edit_frame(frame(*contents))


def text(old, new, before):
    """Return the outcome of one text."""
    return replaced(old, new, {"lang_code": "en", "text": before})[1].text.iloc[0]


# --- replace --------------------------------------------------------------------------------


def test_a_text_is_replaced_everywhere_it_stands():
    replacement, edited = replaced("old", "new", FULL, content(lang_code="de", headers=[IMAGE]))
    en, de = edited.loc["order_ready", "en"], edited.loc["order_ready", "de"]
    assert en.text == "new: {{1}} is new"
    assert en.footer == "so new"
    assert en.headers == [{"type": "text", "text": "An new header"}]
    assert en.buttons[0] == SHOP | {
        "value": "https://new.example/t/{{1}}",
        "dynamic_url": "https://new.example/t/7",
    }
    assert en.buttons[1:] == FULL["buttons"][1:]  # a code to copy is no text
    assert de.headers == [IMAGE | {"link": "https://new.example/a.png"}]
    assert replacement.count == 7
    [note] = replacement.make_notes()
    assert note == '"old" becomes "new": 7 times in 2 contents of 1 template.'


def test_the_frame_that_was_given_and_what_does_not_change_stay_as_they_are():
    before = frame(FULL)
    kept = copy.deepcopy(before.to_dict())
    edited = Replacement("An old", "A new").edit_frame(before)
    assert before.to_dict() == kept
    assert edited.buttons.iloc[0] is before.buttons.iloc[0]


@cases("old", "new", "before", "after")
def test_placeholders_are_never_touched(old, new, before, after):
    assert text(old, new, before) == after


def test_what_is_left_alone_is_told():
    replacement, _ = replaced("1", "2", content(text="1: {{1}}"), FULL | {"lang_code": "de"})
    message = replacement.make_notes()
    assert message[0].startswith('"1" becomes "2": 2 times in 2 contents')  # the text, the number
    assert message[1] == (
        "Left as they are, because a placeholder would change: order_ready/en text, "
        "order_ready/de text, order_ready/de buttons.0.value."
    )


@cases("old", "new", "message")
def test_what_cannot_be_done_is_refused(old, new, message):
    with pytest.raises(InputError, match=message):
        Replacement(old, new).edit_frame(frame(content(text="a")))


WORDS = st.text("{}12 a\u0661.", max_size=12) | st.sampled_from(["Hi {{1}}", "{{1}}{{2}}", ""])


@settings(max_examples=volume(32, 800))
@given(WORDS, WORDS, st.sampled_from(["1", "{", "}", "{{1}}", "a", " ", "2}", "a{"]), WORDS)
def test_whatever_is_replaced_every_text_keeps_its_placeholders(one, two, old, new):
    fields = {"text": one, "headers": [{"text": two}], "buttons": [website(one, label=two)]}
    after = replaced(old, new, content(**fields))[1].iloc[0]
    texts = [after.text, after.headers[0]["text"], after.buttons[0]["value"]]
    for was, now in zip((one, two, one), texts, strict=True):
        assert Counter(s.name for s in find_slots(was)) == Counter(s.name for s in find_slots(now))
