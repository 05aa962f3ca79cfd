from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.localization import language


@pytest.mark.parametrize("code", ["en_US", "en-US", "en_us", "EN-us", " en_US "])
def test_a_code_is_the_same_however_it_is_written(code):
    assert language.normalize(code) == "en_US"
    assert language.is_same(code, "en-US")


@pytest.mark.parametrize(
    ("code", "form"),
    [("zh-hant-tw", "zh_Hant_TW"), ("FIL", "fil"), ("es-419", "es_419"), ("sr_latn", "sr_Latn")],
)
def test_scripts_and_regions_have_their_usual_capitals(code, form):
    assert language.normalize(code) == form


def test_en_is_not_en_us():
    assert not language.is_same("en", "en_US")
    assert language.base("en_US") == language.base("en") == "en"


@pytest.mark.parametrize("unusual", ["", "x", "english", "en_USA_x", "<b>", "en__US", "../en"])
def test_what_is_no_code_stays_as_it_is_and_names_itself(unusual):
    assert language.normalize(unusual) == unusual
    assert language.name(unusual) == unusual
    assert language.letters(unusual) == frozenset()
    assert language.direction(unusual) == "ltr"
    assert not language.is_supported(unusual)


def test_the_supported_codes_and_directions_are_those_of_the_facts(shared: Path):
    facts = json.loads((shared / "facts/languages.json").read_text())
    assert list(language.SUPPORTED) == [each["code"] for each in facts["languages"]]
    for each in facts["languages"]:
        assert (language.direction(each["code"]) == "rtl") == each["rtl"], each["code"]
        assert language.base(each["code"]) == each["language"]


@pytest.mark.parametrize("code", language.SUPPORTED)
def test_every_supported_code_has_a_name_letters_and_its_own_form(code):
    assert language.normalize(code) == code
    assert language.is_supported(code.replace("_", "-").lower())
    assert language.name(code) != code
    assert language.letters(code)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("de", "German"),
        ("pt_BR", "Portuguese (Brazil)"),
        ("ar_AE", "Arabic (United Arab Emirates)"),
        ("prs_AF", "Dari (Afghanistan)"),
        ("en-us", "English (United States)"),
    ],
)
def test_names_are_those_of_cldr(code, name):
    assert language.name(code) == name


@pytest.mark.parametrize(
    ("code", "script", "letters"),
    [
        ("ja", "Jpan", {"CJK", "HIRAGANA", "KATAKANA"}),
        ("zh_HK", "Hant", {"CJK", "BOPOMOFO"}),
        ("sr", "Cyrl", {"CYRILLIC", "LATIN"}),
        ("prs_AF", "Arab", {"ARABIC"}),
        ("sr_Latn", "Latn", {"LATIN"}),
    ],
)
def test_scripts_are_those_of_cldr(code, script, letters):
    assert language.script(code) == script
    assert language.letters(code) == letters


def test_the_source_is_found_as_it_is_else_alone_among_its_relatives():
    assert language.find_code("en", ["de", "en_US", "en"]) == "en"
    assert language.find_code("en-us", ["en", "en_US"]) == "en_US"
    assert language.find_code("en", ["de", "en_GB"]) == "en_GB"
    assert language.find_code("en", ["en_US", "en_GB"]) is None
    assert language.find_code("en", ["de"]) is None


@given(st.text(max_size=12))
def test_any_text_can_be_asked_for(code):
    assert language.normalize(language.normalize(code)) == language.normalize(code)
    assert language.is_same(code, code)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("pt-br", ["pt_BR"]),
        ("de_DE", ["de"]),
        ("fr_FR", ["fr"]),
        ("en_UK", ["en_GB"]),
        ("iw", ["he"]),
        ("no", ["nb"]),
        ("es-419", ["es"]),
        ("pt", ["pt_BR", "pt_PT"]),
        ("zh-Hant", ["zh_HK", "zh_TW", "zh_CN"]),
        ("deu", ["de"]),
        ("Italian", ["it"]),
        ("portugese", ["pt_BR"]),
        ("xx", []),
        ("", []),
    ],
)
def test_a_code_that_is_meant_is_of_the_same_language_before_it_is_spelled_alike(code, expected):
    assert language.suggest_codes(code, language.SUPPORTED) == expected


def test_codes_that_may_be_meant_are_asked_about():
    asked = language.did_you_mean
    assert asked("zh", language.SUPPORTED) == "did you mean zh_CN, zh_HK or zh_TW?"
    assert asked("de_DE", language.SUPPORTED) == "did you mean de?"
    assert asked("xx", language.SUPPORTED) == asked("de", ()) == ""


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("en", (".", ",", "mdy/")),
        ("en-gb", (".", ",", "dmy/")),
        ("de", (",", ".", "dmy.")),
        ("sv", (",", "\u00a0", "ymd-")),
        ("ja", (".", ",", "ymd/")),
        ("hi", (".", ",", "dmy/")),
        ("xx", None),
        ("", None),
    ],
)
def test_numbers_and_dates_are_written_as_cldr_has_them(code, written):
    assert language.conventions(code) == written


def test_of_two_forms_of_a_code_that_are_there_the_one_asked_for_is_found():
    for code in ("en_US", "en-us"):
        assert language.find_code(code, ["en-us", "en_US"]) == code
    assert language.find_code("EN_US", ["de", "en-us", "en_US"]) == "en-us"


def test_the_source_comes_first_then_its_relatives_then_the_others_by_their_code():
    codes = ["fr", "pt-BR", "de", "pt", "ar", "pt_PT"]
    assert language.sort_codes(codes, "pt_PT") == ["pt_PT", "pt", "pt-BR", "ar", "de", "fr"]
    assert language.sort_codes(codes) == ["ar", "de", "fr", "pt", "pt-BR", "pt_PT"]
    assert language.as_list("pt") == ["pt"] and language.as_list(codes) == codes
