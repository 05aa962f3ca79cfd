"""Languages: the forms, names, scripts, directions and tags of their codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localization.contents import cases

from chatkit.localization import language

#: The languages in which the tests look for a code.
AMONG = language.SUPPORTED
_XML_LANGUAGE = re.compile("[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*")  # of XML Schema, xs:language


@cases("code", "form", "name")
def test_a_code_has_one_form_one_name_and_one_tag(code, form, name):
    assert (language.normalize(code), language.name(code)) == (form, name)
    assert language.bcp47_tag(code) == form.replace("_", "-")
    assert language.is_same(code, form)
    if form == code == name:  # it is no code
        assert (language.letters(code), language.direction(code)) == (frozenset(), "ltr")
        assert not language.is_tag(code)


@pytest.mark.parametrize("unusual", ["en US", "en_", "e\nn"])
def test_what_is_no_tag_does_not_fit(unusual):
    assert not language.is_tag(unusual)


@given(st.text(max_size=12))
def test_any_text_can_be_asked_for(code):
    assert language.normalize(language.normalize(code)) == language.normalize(code)
    assert language.is_same(code, code)


def test_the_supported_codes_are_those_of_the_facts_and_known_to_cldr(shared: Path):
    facts = json.loads((shared / "facts/languages.json").read_text())
    assert list(language.SUPPORTED) == [each["code"] for each in facts["languages"]]
    for each in facts["languages"]:
        code = each["code"]
        assert (language.direction(code) == "rtl") == each["rtl"], code
        assert language.base(code) == each["language"]
        assert language.normalize(code) == code and language.is_tag(code)
        assert language.name(code) != code and language.letters(code), code
        assert _XML_LANGUAGE.fullmatch(language.bcp47_tag(code))


@pytest.mark.parametrize(
    ("code", "script", "letters", "spaces"),
    [
        ("ja", "Jpan", {"CJK", "HIRAGANA", "KATAKANA"}, False),
        ("zh_HK", "Hant", {"CJK", "BOPOMOFO"}, False),
        ("sr", "Cyrl", {"CYRILLIC", "LATIN"}, True),
        ("prs_AF", "Arab", {"ARABIC"}, True),
        ("sr_Latn", "Latn", {"LATIN"}, True),
    ],
)
def test_scripts_are_those_of_cldr(code, script, letters, spaces):
    assert language.script(code) == script
    assert language.letters(code) == letters
    assert language.has_spaces(code) == spaces


@cases("code", "written")
def test_numbers_and_dates_are_written_as_cldr_has_them(code, written):
    assert language.conventions(code) == (written and tuple(written))


@cases("code", "among", "result")
def test_a_code_is_that_among_others_else_alone_among_its_relatives(code, among, result):
    assert language.find_code(code, among) == result


@cases("table", "code", "result")
def test_a_table_has_a_row_for_a_region_a_language_or_all(table, code, result):
    assert language.choose(table, code) == result


@cases("code", "expected")
def test_a_code_that_is_meant_is_of_the_same_language_before_it_is_spelled_alike(code, expected):
    assert language.suggest_codes(code, AMONG) == expected
    *first, last = expected or [""]
    question = f"did you mean {', '.join(first)}{' or ' * bool(first)}{last or ''}?"
    quoted = question.replace(" it?", ' "it"?')  # a word, too
    assert language.did_you_mean(code, AMONG) == (quoted if expected else "")
    assert language.did_you_mean(code, ()) == ""


def test_the_source_comes_first_then_its_relatives_then_the_others_by_their_code():
    codes = ["fr", "pt-BR", "de", "pt", "ar", "pt_PT"]
    assert language.sort_codes(codes, "pt_PT") == ["pt_PT", "pt", "pt-BR", "ar", "de", "fr"]
    assert language.sort_codes(codes) == ["ar", "de", "fr", "pt", "pt-BR", "pt_PT"]
    assert language.as_list("pt") == ["pt"] and language.as_list(codes) == codes
