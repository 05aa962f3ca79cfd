from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from displayed import html_of
from hypothesis import given, settings
from hypothesis import strategies as st
from localization.contents import CONTENT, button, content, demo, frame, naughty  # noqa: F401

from chatkit.errors import InputError
from chatkit.localization.audit import Audit, check_contents, review_contents
from chatkit.localization.content import Contents, read_entries
from chatkit.localization.rules import RULES, STRUCTURE, ContentFinding


def test_the_faults_of_the_demo_account_are_found_and_no_others(demo):
    result = check_contents(demo)
    assert result.ok
    assert {(each.template_code, each.lang_code, each.code) for each in result.warnings} == {
        ("appointment_confirmed", "de", "length"),
        ("spring_offer", "es", "placeholder edge"),
        ("spring_offer", "fr", "buttons differ"),
        ("login_code", "pt_BR", "code expiry"),
        ("review_request", "ja", "sample missing"),
        ("rental_reminder", "fr", "placeholders differ"),
        ("rental_reminder", "fr", "sample surplus"),
        *(("spring_offer", lang, "untranslated") for lang in ("es", "fr", "pt_BR")),
    }
    assert len(result.checked) == len(demo)


def test_a_good_content_has_no_findings():
    result = check_contents(content())
    assert not len(result)
    assert result.ok
    assert result.checked == (("", "en"),)


def test_findings_are_chosen_by_what_they_are():
    result = check_contents(
        frame(content(text="{{1}}"), content(lang_code="de", headers=[{"type": "x"}]))
    )
    assert {each.severity for each in result.errors} == {"error"}
    assert {each.severity for each in result.warnings} == {"warning"}
    assert len(result.errors) + len(result.warnings) + len(result.notes) == len(result)
    assert all(each.refused for each in result.refused)
    assert not result.ok
    assert [each.code for each in result.of("order_ready", "DE", "header type")] == ["header type"]
    assert not len(result.of("another"))
    assert isinstance(result[:1], Audit)
    assert result[0] == result[:1][0]
    assert result == check_contents(
        frame(content(text="{{1}}"), content(lang_code="de", headers=[{"type": "x"}]))
    )
    assert sum(result.counts().values()) == len(result)
    assert result != list(result)
    assert result != result[:1]


def test_the_frame_has_a_row_for_each_finding_with_its_source():
    table = check_contents(frame(content(footer="{{1}}"))).frame()
    assert list(table.code) == ["footer placeholder"]
    assert (table.position.dtype, table.refused.dtype) == ("Int64", bool)
    assert table.source.str.contains("2388073").all()
    assert check_contents(content()).frame().empty


def test_languages_are_held_against_the_platform_and_the_form_of_the_api():
    codes = [
        [each.code for each in check_contents(content(lang_code=c))]
        for c in ("en_US", "en-US", "xx", "")
    ]
    assert codes[:3] == [[], ["language form"], ["language"]]
    assert codes[3] == ["wrong type"]


def test_a_language_that_is_there_twice_is_found():
    (result,) = check_contents([content(lang_code="en_US"), content(lang_code="en-us")]).of(
        code="language twice"
    )
    assert result.message == "en_US is there already, and is the same language as en-us"
    (result,) = check_contents([content(), content()]).of(code="language twice")
    assert result.message == "en is there already"


def test_a_template_without_the_source_language_is_noted_and_not_compared():
    german = content(
        lang_code="de", text="Hallo {{1}} und {{2}}, ihr seid herzlich willkommen", footer=""
    )
    french = content(lang_code="fr", text="Bonjour à vous tous, bienvenue chez nous", variables={})
    result = check_contents([german, french])
    assert [each.code for each in result] == ["no source"]
    assert "placeholders differ" in check_contents([german, french], source="de").counts()


def test_the_same_words_in_two_templates_are_found():
    both = pd.concat([frame(content(), template="a"), frame(content(), template="b")])
    (result,) = check_contents(both)
    assert (result.code, result.template_code, result.message) == (
        "duplicate",
        "b",
        "text and footer are those of a",
    )


def test_what_is_no_content_is_refused():
    with pytest.raises(InputError, match="cannot be read as contents"):
        check_contents(5)


def test_the_contents_are_not_changed(demo):
    before = json.dumps(demo.reset_index().to_dict("records"), default=str)
    check_contents(demo)
    assert json.dumps(demo.reset_index().to_dict("records"), default=str) == before


# --- whatever stands in the cells ---------------------------------------------------------


@settings(max_examples=100)
def deciding(result: Iterable[ContentFinding]) -> list[ContentFinding]:
    """The rules that decide on the states of contents."""
    return [each for each in result if each.refused or each.code in STRUCTURE]


def for_states(contents: Contents) -> Iterator[ContentFinding]:
    """Return the findings of a board."""
    for _, _, result in review_contents(read_entries(contents), "en", ("content", "state")):
        yield from result


def test_what_decides_on_states_is_found_as_among_all_the_rest(demo, shared):
    texts = ["a \ud800", "Ã¤ \ud800", *naughty(shared)]
    naughty_contents = [content(text=t, footer=t[:30], variables={"1": t}) for t in texts]
    for contents in (demo, naughty_contents):
        result = deciding(for_states(contents))
        assert result
        assert result == deciding(check_contents(contents))


@given(st.lists(CONTENT, max_size=4))
def test_what_decides_on_states_is_found_in_whatever_stands_there(contents):
    assert deciding(for_states(contents)) == deciding(check_contents(contents))


@given(st.lists(CONTENT, max_size=4))
def test_no_contents_make_it_fail_and_everything_found_can_be_shown(contents):
    result = check_contents(contents)
    assert repr(result) == repr(check_contents(contents))
    assert "<script" not in html_of(result)
    assert len(result.frame()) == len(result)
    assert all(each.source and str(each) for each in result)
    if contents:
        table = pd.DataFrame(contents, dtype=object)
        again = check_contents(table)
        assert len(again.checked) == len(contents)
        repr(again)


def test_naughty_strings_in_every_place_are_checked_and_shown(shared: Path):
    texts = naughty(shared)
    contents = [
        content(
            template_code=text,
            text=text,
            footer=text,
            lang_code=("en", "de", "ar", text)[n % 4],
            variables={"1": text, text: text},
            headers=[{"type": "text", "text": text}, {"type": text, "link": text}],
            buttons=[
                button("custom", text),
                button("visit_website", text, value=text),
                {"type": text},
            ],
            auth_apps=[{"package_name": text, "signature_hash": text}],
            auth_delivery_method=text,
        )
        for n, text in enumerate(texts)
    ]
    result = check_contents(contents)
    output = html_of(result) + "".join(html_of(check_contents(one)) for one in contents[:60])
    for mark in ("<script", "<img", "<svg", "javascript:alert(1)>", "\u202e", "\x07"):
        assert mark not in output
    assert "\u202e" not in repr(result)
    assert {each.code for each in result} & RULES.keys()


@pytest.mark.parametrize(
    "text",
    [
        "{" * 50_000,
        "[" * 50_000,
        "[b]" * 16_000,
        " **1" * 12_000,
        " *1" * 16_000,
        "{{1}} " * 8_000,
        "a" * 50_000,
        "*a" * 25_000,
        "x@" * 25_000,
        " " * 50_000,
        "👍\u200d" * 9_000,
        "é’" * 20_000,
        "a. " * 20_000,
    ],
)
def test_long_texts_are_checked_in_a_time_that_grows_no_faster_than_they(text):
    """A rule that is quadratic would take minutes here, and the run would be stopped."""
    both = [content(text=text, footer=text), content(lang_code="de", text=text, footer=text)]
    assert "length" in check_contents(both).counts()
