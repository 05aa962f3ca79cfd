"""The source stands beside its translation, which says how long it is and what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from localization.contents import CONTENT, button, content
from volume import volume

from chatkit.localization.audit import check_contents
from chatkit.localization.content import Entry
from chatkit.templates.contents import ContentEndpoints
from chatkit.widgets.contentform import (
    draw_content,
    draw_findings,
    draw_language_heading,
    draw_lengths,
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
    assert message in draw_source_field(name, "A label", output)
    assert 'dir="ltr" lang="en"' in draw_source_field(name, "A label", output)


def test_a_source_shows_its_label_its_direction_and_that_it_is_empty():
    text = draw_source_field("text", "A label", content(lang_code="ar"))
    assert 'dir="rtl" lang="ar"' in text and ">A label</span>" in text
    assert "nothing" in draw_source_field("footer", "A label", content(footer=""))
    assert "nothing" in draw_source_field("buttons", "A label", content())


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
        draw_source_field(name, "A label", original)
        for name in ("headers", "text", "variables", "footer", "buttons")
    )
    assert "<img" not in output + draw_content(original)
    assert all(isinstance(one, dict) for one in list_items(original, "buttons"))
    make_first_translation(original)


# --- lengths and findings ----------------------------------------------------------------------


def notes(name, lang="en", **fields):
    values, label = content(lang_code=lang, **fields), ContentEndpoints.format_label
    result = [one for one in check_contents(values) if one.field.split(".")[0] == name]
    return draw_lengths(name, Entry(values, "", lang), label) + draw_findings(result, label)


@pytest.mark.parametrize(
    ("name", "fields", "messages"),
    [
        ("footer", {"footer": ""}, ["0 of 60 characters, 0%", 'class="cf-length "']),
        ("footer", {"footer": "x" * 30}, ["30 of 60 characters, 50%", 'class="cf-length "']),
        ("footer", {"footer": "x" * 58}, ["58 of 60 characters, 97%", 'class="cf-length near"']),
        (
            "footer",
            {"footer": "x" * 61},
            [
                *("61 of 60 characters, 102%", 'class="cf-length over"', "Take away 1."),
                "<em>refused:</em> the footer has 61 characters",
            ],
        ),
        (
            "buttons",
            {"buttons": [button("custom", "Yes"), button("custom", "No")]},
            ["Button 1, label: 3 of 25 characters, 12%", "Button 2, label: 2 of 25"],
        ),
    ],
)
def test_a_field_shows_its_length_and_its_findings(name, fields, messages):
    text = notes(name, **fields)
    assert [one for one in messages if one not in text] == []
    assert ("refused" in text) is ("over" in text)


def test_findings_are_cut_and_escaped():
    label, result = str, list(check_contents(content(text="{{a}} " * 20)))
    assert f"and {len(result) - 8} more" in draw_findings(result, label)
    result = check_contents(content(text=f"{{{{{EVIL}}}}}", variables={EVIL: EVIL}))
    assert result and "<img" not in draw_findings(result, label, places=True)
    assert "cf-length" not in notes("variables")
