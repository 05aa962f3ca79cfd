from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.localization.checks import gaps, meant, stray
from chatkit.localization.content import Slot, slots, without_slots, words


def test_placeholders_are_found_with_their_places():
    assert slots("Hi {{1}}, {{2}}.") == [Slot("1", 3, 8, 1), Slot("2", 10, 15, 2)]
    assert slots("no { } here") == []


@pytest.mark.parametrize(("name", "number"), [("1", 1), ("9999", 9999), ("10", 10)])
def test_numbers_are_those_the_api_writes(name, number):
    assert slots("{{" + name + "}}")[0].number == number


@pytest.mark.parametrize(
    "name", ["", "0", "01", " 1", "name", "\u0661", "１", "1.0", "-1", "99999"]
)
def test_anything_else_has_no_number(name):
    assert slots("{{" + name + "}}")[0].number is None


@pytest.mark.parametrize(
    ("name", "tidy"),
    [
        (" 1 ", "{{1}}"),
        ("\u0661", "{{1}}"),
        ("２", "{{2}}"),
        ("03", "{{3}}"),
        ("name", None),
        ("0", None),
    ],
)
def test_what_was_meant_is_told(name, tidy):
    assert meant(Slot(name, 0, 0)) == tidy


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("Hi {{1}}", None),
        ("a { b } c", None),
        ("Hi {{1}", 3),
        ("Hi {1}", 3),
        ("Hi { 1 }", 3),
        ("Hi 1}}", 4),
        ("Hi ｛｛1｝｝", 3),
        ("Hi {{{1}}}", 3),
        ("Hi {{{1}}", 3),
        ("Hi {{1}}}", 8),
        ("plain", None),
    ],
)
def test_a_brace_that_stands_alone_is_found(text, at):
    assert stray(text) == at


def test_gaps_are_named():
    assert gaps([1, 4]) == ["{{2}}", "{{3}}"]
    assert gaps([2, 1, 2, None]) == []
    assert gaps([9999]) == ["{{1}}", "{{2}}", "{{3}}", "{{4}}", "{{5}}"]


def test_words_are_counted_without_placeholders():
    assert without_slots("a {{1}} b") == "a   b"
    assert words("Hello {{1}}, it is {{2}}.") == 3
    assert words("नमस्ते {{1}}, ठीक - हो गई।") == 4


@given(st.text(alphabet="{}1 a\u0661｛\0", max_size=40))
def test_any_braces_can_be_read(text):
    found = slots(text)
    assert all(text[slot.start : slot.end] == str(slot) for slot in found)
    at = stray(text)
    assert at is None or text[at] in "{}｛｝"
    assert stray(without_slots(text).replace("{", "").replace("}", "").replace("｛", "")) is None
