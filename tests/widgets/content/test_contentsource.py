"""The text of the source language stands beside its translation, and begins a new one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from localization.contents import CONTENT, button, content
from volume import volume

from chatkit.widgets.contentform import (
    draw_content,
    draw_language_heading,
    draw_source_field,
    list_items,
    make_first_translation,
)

EVIL = "<img src=x onerror=alert(1)>"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("text", "Hello {{1}}, your order"),
        ("footer", "Larkspur"),
        ("variables", "{{2}} A-17"),
        ("headers", "Ready (text)"),
        ("buttons", "Call (call_phone: 2025550142)"),
    ],
)
def test_each_field_is_written_to_be_read(name, message):
    output = content(
        headers=[{"type": "text", "text": "Ready"}],
        buttons=[button("call_phone", "Call", value="2025550142")],
    )
    assert message in draw_source_field(name, output)
    assert 'dir="ltr" lang="en"' in draw_source_field(name, output)


def test_what_is_empty_says_so():
    assert "nothing" in draw_source_field("footer", content(footer=""))
    assert "nothing" in draw_source_field("buttons", content())


def test_a_source_written_from_the_right_is_so_too():
    assert 'dir="rtl" lang="ar"' in draw_source_field("text", content(lang_code="ar"))


def test_a_new_language_takes_over_all_but_the_words():
    original = content(
        headers=[{"type": "text", "text": "Hi", "text_variable": "Ana"}],
        buttons=[button("call_phone", "Call", value="2025550142", country_code="+1")],
        validity_period_seconds=60,
    )
    new = make_first_translation(original)
    assert new["headers"] == [{"type": "text"}]
    assert new["buttons"] == [{"type": "call_phone", "value": "2025550142", "country_code": "+1"}]
    assert (new["is_draft"], new["validity_period_seconds"]) == (True, 60)
    assert not {"text", "footer", "variables", "lang_code", "id"} & new.keys()
    assert make_first_translation({}) == {}


def test_a_language_is_named_with_its_code():
    assert (
        draw_language_heading("pt_BR")
        == "<p><strong>Portuguese (Brazil)</strong> <small>pt_BR</small></p>"
    )
    assert draw_language_heading("zz") == "<p><strong>zz</strong></p>"
    assert "<img" not in draw_language_heading(EVIL)


@given(CONTENT)
@settings(max_examples=volume(24, 600), deadline=None)
def test_whatever_the_source_holds_can_be_read_and_is_escaped(fields):
    original = {**fields, "lang_code": str(fields["lang_code"])}
    original["footer"] = EVIL
    output = "".join(
        draw_source_field(name, original)
        for name in ("headers", "text", "variables", "footer", "buttons")
    )
    assert "<img" not in output + draw_content(original)
    assert all(isinstance(one, dict) for one in list_items(original, "buttons"))
    make_first_translation(original)
