"""A row says how long its field is, and what the rules find in it."""

from __future__ import annotations

import pytest
from localization.contents import button, content

from chatkit.localization.audit import check_contents
from chatkit.localization.content import Entry
from chatkit.widgets.contentform import describe_field, draw_findings, draw_lengths

EVIL = "<img src=x onerror=alert(1)>"


def notes(name, lang="en", **fields):
    values = content(lang_code=lang, **fields)
    result = [one for one in check_contents(values) if one.field.split(".")[0] == name]
    return draw_lengths(name, Entry(values, "", lang)) + draw_findings(result)


@pytest.mark.parametrize(
    ("count", "message", "kind"),
    [
        (0, "0 of 60 characters, 0%", ""),
        (30, "30 of 60 characters, 50%", ""),
        (58, "58 of 60 characters, 97%", "near"),
        (61, "61 of 60 characters, 102%", "over"),
    ],
)
def test_a_length_is_a_share_of_its_limit(count, message, kind):
    text = notes("footer", footer="x" * count)
    assert message in text
    assert f'class="cf-length {kind}"' in text


def test_each_button_has_a_length_of_its_own():
    text = notes("buttons", buttons=[button("custom", "Yes"), button("custom", "No")])
    assert "label of button 1: 3 of 25 characters, 12%" in text
    assert "label of button 2: 2 of 25" in text


def test_what_has_no_limit_has_no_length():
    assert "cf-length" not in notes("variables")


def test_findings_stand_at_their_field_with_what_to_do():
    text = notes("footer", footer="x" * 61)
    assert "<em>refused:</em> the footer has 61 characters" in text
    assert "Take away 1." in text
    assert "chatkit-findings" not in notes("footer")


def test_many_findings_are_cut():
    result = list(check_contents(content(text="{{a}} " * 20)))
    assert f"and {len(result) - 8} more" in draw_findings(result)


def test_everything_of_a_stranger_is_escaped():
    result = check_contents(content(text=f"{{{{{EVIL}}}}}", variables={EVIL: EVIL}))
    assert result
    assert "<img" not in draw_findings(result, places=True)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("text", ""),
        ("buttons", ""),
        ("buttons.1.label", "label of button 2"),
        ("headers.0", "header 1"),
        ("headers.0.text", "text of header 1"),
        ("variables.1", "{{1}}"),
        ("variables.a.b", "{{a.b}}"),
    ],
)
def test_places_are_named_as_a_person_counts(field, message):
    assert describe_field(field) == message
