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
from chatkit.localization.content import Contents, entries
from chatkit.localization.rules import RULES, STRUCTURE, ContentFinding


def test_the_faults_of_the_demo_account_are_found_and_no_others(demo):
    found = check_contents(demo)
    assert found.ok
    assert {(each.template_code, each.lang_code, each.code) for each in found.warnings} == {
        ("appointment_confirmed", "de", "length"),
        ("spring_offer", "es", "placeholder edge"),
        ("spring_offer", "fr", "buttons differ"),
        ("login_code", "pt_BR", "code expiry"),
        ("review_request", "ja", "sample missing"),
        ("rental_reminder", "fr", "placeholders differ"),
        ("rental_reminder", "fr", "sample surplus"),
        *(("spring_offer", lang, "untranslated") for lang in ("es", "fr", "pt_BR")),
    }
    assert len(found.checked) == len(demo)


def test_a_good_content_has_no_findings():
    found = check_contents(content())
    assert not len(found)
    assert found.ok
    assert found.checked == (("", "en"),)


def test_findings_are_chosen_by_what_they_are():
    found = check_contents(
        frame(content(text="{{1}}"), content(lang_code="de", headers=[{"type": "x"}]))
    )
    assert {each.severity for each in found.errors} == {"error"}
    assert {each.severity for each in found.warnings} == {"warning"}
    assert len(found.errors) + len(found.warnings) + len(found.notes) == len(found)
    assert all(each.refused for each in found.refused)
    assert not found.ok
    assert [each.code for each in found.of("order_ready", "DE", "header type")] == ["header type"]
    assert not len(found.of("another"))
    assert isinstance(found[:1], Audit)
    assert found[0] == found[:1][0]
    assert found == check_contents(
        frame(content(text="{{1}}"), content(lang_code="de", headers=[{"type": "x"}]))
    )
    assert sum(found.counts().values()) == len(found)
    assert found != list(found)
    assert found != found[:1]


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
    (found,) = check_contents([content(lang_code="en_US"), content(lang_code="en-us")]).of(
        code="language twice"
    )
    assert found.message == "en_US is there already, and is the same language as en-us"
    (found,) = check_contents([content(), content()]).of(code="language twice")
    assert found.message == "en is there already"


def test_a_template_without_the_source_language_is_noted_and_not_compared():
    german = content(
        lang_code="de", text="Hallo {{1}} und {{2}}, ihr seid herzlich willkommen", footer=""
    )
    french = content(lang_code="fr", text="Bonjour à vous tous, bienvenue chez nous", variables={})
    found = check_contents([german, french])
    assert [each.code for each in found] == ["no source"]
    assert "placeholders differ" in check_contents([german, french], source="de").counts()


def test_the_same_words_in_two_templates_are_found():
    both = pd.concat([frame(content(), template="a"), frame(content(), template="b")])
    (found,) = check_contents(both)
    assert (found.code, found.template_code, found.message) == (
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
def deciding(found: Iterable[ContentFinding]) -> list[ContentFinding]:
    """What decides on the states of contents."""
    return [each for each in found if each.refused or each.code in STRUCTURE]


def for_states(contents: Contents) -> Iterator[ContentFinding]:
    """What is found for a board."""
    for _, _, found in review_contents(entries(contents), "en", ("content", "state")):
        yield from found


def test_what_decides_on_states_is_found_as_among_all_the_rest(demo, shared):
    texts = ["a \ud800", "Ã¤ \ud800", *naughty(shared)]
    given = [content(text=text, footer=text[:30], variables={"1": text}) for text in texts]
    for contents in (demo, given):
        found = deciding(for_states(contents))
        assert found
        assert found == deciding(check_contents(contents))


@given(st.lists(CONTENT, max_size=4))
def test_what_decides_on_states_is_found_in_whatever_stands_there(contents):
    assert deciding(for_states(contents)) == deciding(check_contents(contents))


@given(st.lists(CONTENT, max_size=4))
def test_no_contents_make_it_fail_and_everything_found_can_be_shown(contents):
    found = check_contents(contents)
    assert repr(found) == repr(check_contents(contents))
    assert "<script" not in html_of(found)
    assert len(found.frame()) == len(found)
    assert all(each.source and str(each) for each in found)
    if contents:
        table = pd.DataFrame(contents, dtype=object)
        again = check_contents(table)
        assert len(again.checked) == len(contents)
        repr(again)


def test_naughty_strings_in_every_place_are_judged_and_shown(shared: Path):
    texts = naughty(shared)
    given = [
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
    found = check_contents(given)
    shown = html_of(found) + "".join(html_of(check_contents(one)) for one in given[:60])
    for mark in ("<script", "<img", "<svg", "javascript:alert(1)>", "\u202e", "\x07"):
        assert mark not in shown
    assert "\u202e" not in repr(found)
    assert {each.code for each in found} & RULES.keys()


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
def test_long_texts_are_judged_in_no_time_that_grows_beyond_them(text):
    """A rule that is quadratic would take minutes here, and the run would be stopped."""
    both = [content(text=text, footer=text), content(lang_code="de", text=text, footer=text)]
    assert "length" in check_contents(both).counts()
