"""Texts are found where they stand, and put where they belong."""

import copy

import pytest
from hypothesis import given, settings
from localization.contents import CONTENT, button, content, website
from localization.translator import ENGLISH, GERMAN

from chatkit.localization.content import read_entries
from chatkit.localization.units import (
    find_text_group,
    list_group_fields,
    make_draft,
    make_translator_note,
    put_texts,
)


def entry(**fields):
    return read_entries(content(**fields))[0]


SOURCE = read_entries(ENGLISH)[0]


def test_every_text_that_a_customer_reads_is_found():
    assert SOURCE.texts == {
        "headers.0.text": "Your bike is ready",
        "text": ENGLISH["text"],
        "footer": "Larkspur",
        "buttons.0.label": "On my way",
        "buttons.1.label": "Track",
    }


def test_what_is_blank_or_no_text_is_left_out():
    blank = entry(text=" \n", footer=None, headers=[{"type": "image"}], buttons=["x"])
    assert blank.texts == {}


def test_a_note_says_what_it_is_how_long_and_what_must_stay():
    assert make_translator_note("text", SOURCE) == (
        "The text of the message. At most 1,024 characters. "
        "Keep {{1}} (like Ana), {{2}} (like A-17), in this order."
    )
    assert make_translator_note("buttons.1.label", SOURCE) == (
        "The label of button 2 (visit website). At most 25 characters."
    )
    assert make_translator_note("footer", SOURCE) == "The footer. At most 60 characters."
    assert make_translator_note("headers.0.text", SOURCE) == "The header. At most 60 characters."


def test_each_text_is_put_into_its_place_and_nothing_else_changes():
    new = {
        "headers.0.text": "H",
        "text": "T",
        "footer": "F",
        "buttons.0.label": "A",
        "buttons.1.label": "B",
    }
    before = copy.deepcopy(GERMAN)
    fields = put_texts(GERMAN, SOURCE, new)
    assert before == GERMAN
    after = {**GERMAN, **fields}
    assert {k: read_entries(after)[0].texts[k] for k in new} == new
    assert [b["type"] for b in after["buttons"]] == ["custom", "visit_website"]
    assert {k: v for k, v in after.items() if k not in fields} == {
        k: v for k, v in GERMAN.items() if k not in fields
    }


@settings(max_examples=60)
@given(raw=CONTENT)
def test_whatever_stands_in_a_content_its_own_texts_put_back_change_nothing(raw):
    result = read_entries(raw)[0]
    new = {f: t for f, t in result.texts.items() if find_text_group(result, result, f) == f}
    for name, value in put_texts(result.raw, result, new).items():
        assert value == result.raw[name]


def test_a_new_content_is_a_draft_like_its_source():
    begun = make_draft(read_entries({**ENGLISH, "id": 7, "updated_at": "x"})[0], "de_AT")
    assert begun == {**ENGLISH, "lang_code": "de_AT", "is_draft": True}
    begun["buttons"][0]["label"] = "changed"
    assert ENGLISH["buttons"][0]["label"] == "On my way"


def test_texts_come_together_where_half_of_them_would_be_worse_than_none():
    bare = entry(headers=[], buttons=[button("custom", "Da")])
    assert find_text_group(None, SOURCE, "footer") == ""
    assert find_text_group(bare, SOURCE, "footer") == "footer"
    assert find_text_group(bare, SOURCE, "buttons.0.label") == "buttons.0.label"
    assert find_text_group(bare, SOURCE, "buttons.1.label") == "buttons"
    assert find_text_group(bare, SOURCE, "headers.0.text") == "headers"
    assert list(list_group_fields(SOURCE, bare, "buttons")) == ["buttons.1.label"]
    assert set(list_group_fields(SOURCE, None, "")) == set(SOURCE.texts)


@pytest.mark.parametrize(
    "other",
    [
        entry(buttons=[website("https://a.example"), button("custom")]),
        entry(buttons="none"),
        entry(buttons=["no", "objects"]),
    ],
)
def test_what_has_something_else_in_a_place_takes_no_text_there(other):
    assert find_text_group(other, SOURCE, "buttons.1.label") is None


def test_a_button_that_is_missing_is_a_copy_of_the_source():
    fields = put_texts({"buttons": []}, SOURCE, {"buttons.0.label": "A", "buttons.1.label": "B"})
    assert fields["buttons"] == [
        button("custom", "A"),
        website("https://shop.example/en", label="B"),
    ]
