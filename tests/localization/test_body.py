from __future__ import annotations

import pytest
from localization.contents import audit, codes, content

from chatkit.localization.audit import check_contents

LONG = "which is long enough for any number of words that may be asked for here"


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_content_needs_a_text(text):
    (found,) = audit(text=text, variables={}).of(code="text empty")
    assert found.refused
    assert "text empty" not in codes(text=text, variables={}, auth_delivery_method="copy_code")


@pytest.mark.parametrize(
    ("slot", "hint"),
    [
        ("{{ 1 }}", "Write {{1}}."),
        ("{{\u0661}}", "Write {{1}}."),
        ("{{01}}", "Write {{1}}."),
        ("{{name}}", "numbered"),
        ("{{0}}", "numbered"),
        ("{{}}", "numbered"),
    ],
)
def test_a_placeholder_without_a_number_is_an_error_and_what_was_meant_is_told(slot, hint):
    (found,) = audit(text=f"Hello {slot}, {LONG}").errors
    assert (found.code, found.position) == ("placeholder name", 6)
    assert hint in found.hint


def test_named_placeholders_are_left_to_another_format():
    text = f"Hello {{{{first_name}}}}, {LONG}"
    variables = {"first_name": "Ana"}
    assert codes(text=text, variables=variables, parameter_format="NAMED") == set()
    assert "placeholder name" in codes(text=text, variables=variables)


def test_numbers_go_from_one_without_a_gap_in_any_order():
    assert "placeholder gap" in codes(text=f"Hi {{{{2}}}}, {LONG}")
    (found,) = audit(text=f"Hi {{{{1}}}} and {{{{4}}}}, {LONG}").of(code="placeholder gap")
    assert found.message == "{{4}} is there, but not {{2}}, {{3}}"
    assert found.position == 13
    assert "placeholder gap" not in codes(text=f"Hi {{{{2}}}} and {{{{1}}}}, {LONG}")


def test_braces_that_belong_to_nothing_are_found():
    (found,) = audit(text=f"Hello {{{{1}}, {LONG}").of(code="placeholder braces")
    assert found.position == 6
    assert found.refused


def test_placeholders_side_by_side_are_found():
    (found,) = audit(text=f"Hello {{{{1}}}} {{{{2}}}}, {LONG}").of(code="placeholder adjacent")
    assert found.refused
    assert "placeholder adjacent" not in codes(text=f"Hello {{{{1}}}}, {{{{2}}}}, {LONG}")


@pytest.mark.parametrize(
    ("text", "where", "at"),
    [
        (f"{{{{1}}}}, {LONG}", "first", 0),
        (f" {{{{1}}}} {LONG}", "first", 1),
        (f"{LONG} {{{{1}}}}\n", "last", 72),
    ],
)
def test_a_placeholder_at_an_edge_is_found(text, where, at):
    (found,) = audit(text=text, variables={"1": "Ana"}).of(code="placeholder edge")
    assert found.message == f"{{{{1}}}} stands {where}"
    assert found.position == at
    assert found.refused


@pytest.mark.parametrize(
    "text", [f"{LONG} {{{{1}}}}.", f"¡{{{{1}}}}, {LONG}", f"{LONG}: *{{{{1}}}}* 👍"]
)
def test_punctuation_at_an_edge_is_warned_of_and_not_called_refused(text):
    (found,) = audit(text=text, variables={"1": "Ana"}).warnings
    assert found.code == "placeholder beside punctuation"
    assert not found.refused


def test_too_few_words_for_the_placeholders_are_warned_of():
    (found,) = audit(text="Your {{1}} code", variables={"1": "5"}).of(code="placeholder ratio")
    assert found.message == "2 words for 1 placeholder"
    assert not found.refused
    assert "placeholder ratio" not in codes(text="Your {{1}} is ready", variables={"1": "5"})


def test_words_are_not_counted_where_nobody_puts_spaces():
    text = "こんにちは{{1}}様"
    assert "placeholder ratio" not in codes(lang_code="ja", text=text, variables={"1": "アマラ"})


def test_each_placeholder_needs_a_sample_and_each_sample_a_placeholder():
    found = audit(variables={"1": " ", "3": "x"})
    assert [(each.code, each.field) for each in found] == [
        ("sample missing", "variables.1"),
        ("sample missing", "variables.2"),
        ("sample surplus", "variables.3"),
    ]
    assert found[0].refused
    assert not found[2].refused


def test_a_sample_is_text():
    (found,) = audit(variables={"1": 5, "2": "x"}).errors
    assert (found.code, found.field) == ("wrong type", "variables.1")


def test_samples_that_were_not_read_are_not_missed():
    from chatkit.localization.audit import check_contents

    listed = {"lang_code": "en", "text": f"Hello {{{{1}}}}, {LONG}", "is_draft": False}
    found = check_contents(listed)
    assert not len(found)
    assert found.unseen == ("variables", "footer", "headers", "buttons")


def test_a_long_text_of_an_offer_is_noted():
    offer = [{"type": "copy_offer_code", "label": "Copy", "value": "A1"}]
    text = "word " * 125
    assert "length of an offer" in codes(text=text, variables={}, buttons=offer)
    assert "length of an offer" not in codes(text=text, variables={})


# --- how much of a name is shown ------------------------------------------------------------


def _line(text):
    return [{"type": "text", "text": text}]


@pytest.mark.parametrize(
    ("code", "fields", "before", "after"),
    [
        ("sample surplus", lambda it: {"variables": {"1": "A", "2": "B", it: "C"}}, "", ""),
        ("sample missing", lambda it: {"text": f"Hi {{{{{it}}}}}, {LONG}"}, "", ""),
        ("placeholder adjacent", lambda it: {"text": f"Hi {{{{1}}}}{it}, {LONG}"}, "{{", "}}"),
        ("placeholder adjacent", lambda it: {"text": f"Hi {it}{{{{1}}}}, {LONG}"}, "{{", "}}"),
        ("placeholder edge", lambda it: {"text": f"{LONG} {it}"}, "{{", "}}"),
        ("footer placeholder", lambda it: {"footer": f"Bye {it}"}, "{{", "}}"),
        ("sample missing", lambda it: {"headers": _line(f"Hi {it} you")}, "{{", "}}"),
        ("header format", lambda it: {"headers": _line(f"Hi {it} you")}, "*", "*"),
        (
            "button label placeholder",
            lambda it: {"buttons": [{"type": "custom", "label": f"Go {it}"}]},
            "{{",
            "}}",
        ),
    ],
)
def test_what_is_named_is_cut_when_it_has_more_than_twenty_characters(code, fields, before, after):
    for length in (20, 21):
        it = f"{before}{'n' * (length - len(before + after))}{after}"
        [said] = [
            each.message for each in audit(**fields(it)).of(code=code) if "nn" in each.message
        ]
        assert (it in said) is (length == 20)
        assert length == 20 or f"{it[:19]}…" in said


def test_placeholders_that_differ_are_named_by_their_numbers_and_then_by_their_names():
    given = [
        content(lang_code="en", text=f"{{{{10}}}} {{{{ana}}}} {{{{2}}}} {LONG}"),
        content(lang_code="de", text=LONG),
    ]
    [found] = check_contents(given).of(code="placeholders differ")
    assert found.message.startswith("{{2}}, {{10}}, {{ana}} of en are missing")
