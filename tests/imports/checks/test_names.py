"""What is odd about a name; and that ordinary names, of any script, are never told."""

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from imports.checks.ordinary import NAMES

from chatkit.imports.characters import (
    NAME,
    capitals,
    letterless,
    of_name,
    of_text,
    questionable,
    run_checks,
)

CASES = tomllib.loads((Path(__file__).parent / "cases/names.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_an_ordinary_name_is_not_told(name: str) -> None:
    assert of_name(name) == ()
    assert of_text(name) == []


@pytest.mark.parametrize(("text", "code", "suggestion", "safe"), CASES["names"])
def test_a_name_is_checked(text: str, code: str, suggestion: str, safe: bool) -> None:
    first = of_name(text)[0]
    assert (first.code, first.suggestion or "", first.safe) == (code, suggestion, safe)
    assert first.severity == "warning"
    assert not safe or of_name(suggestion) == () or of_name(suggestion)[0].code != code


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("JosÃ©  \u202e", ["garbled", "direction marks", "spaces"]),
        ("JosÃ©  ", ["garbled"]),  # the rest is checked when it can be read
        ("ANA\tMARIA", ["control characters", "capitals"]),
        ("", []),
    ],
)
def test_each_kind_is_found(text: str, codes: list[str]) -> None:
    assert [odd.code for odd in of_name(text)] == codes


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("+49 151", "digits"),
        ("❤️", "emoji"),
        ("-", "punctuation"),
        ("…!", "punctuation"),
        ("\u3164", "what is not seen"),
        ("  ", "what is not seen"),
    ],
)
def test_a_name_without_letters_is_told(text: str, what: str) -> None:
    odd = letterless(text)
    assert odd is not None
    assert odd.message.endswith(f"only {what}")
    assert (odd.suggestion, odd.safe) == (None, False)


def test_a_lost_letter_is_told_and_a_question_is_not() -> None:
    for text in ("M?ller", "Bj??rn", "Тест?ов"):
        assert questionable(text) is not None
    for text in ("Ana?", "Who? Me", "? Ana", "http://x/?a"):
        assert questionable(text) is None


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("MARIA CRUZ", "Maria Cruz"),
        ("JEAN-LUC O'NEIL", "Jean-Luc O'Neil"),
        ("ИВАН ПЕТРОВ", "Иван Петров"),
        ("ÖMER ÇELİK", "Ömer Çeli̇k"),
    ],
)
def test_capitals_are_a_note_and_never_changed_alone(text: str, plain: str) -> None:
    odd = capitals(text)
    assert odd is not None
    assert (odd.severity, odd.suggestion, odd.safe) == ("note", plain, False)


@pytest.mark.parametrize("text", ["BMW AG", "IKEA", "BO", "Maria CRUZ", "山田 太郎", "محمد علي"])
def test_short_names_and_scripts_without_capitals_are_not_in_capitals(text: str) -> None:
    assert capitals(text) is None


@given(st.text())
def test_any_text_is_looked_at(text: str) -> None:
    for odd in (*of_name(text), *of_text(text)):
        assert odd.message and odd.code
        assert odd.suggestion != text
        assert odd.suggestion or not odd.safe


def test_naughty_strings_are_looked_at(shared: Path) -> None:
    strings = json.loads((shared / "corpora/blns/blns.json").read_text("utf-8"))
    found = {odd.code for text in strings for odd in of_name(text)}
    assert {"no letters", "invisible", "direction marks", "spaces", "styled letters"} <= found
    for text in strings:
        of_text(text)


@given(
    st.lists(
        st.text(
            st.characters(max_codepoint=0xFF, categories=["L"])
            | st.characters(min_codepoint=0x400, max_codepoint=0x45F)
            | st.characters(min_codepoint=0x3040, max_codepoint=0x30FF)
            | st.sampled_from("愛한가龥"),
            min_size=1,
            max_size=8,
        ).map(str.capitalize),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(" '-"),
)
def test_a_usual_name_is_judged_as_all_checks_would(words: list[str], between: str) -> None:
    for name in (between.join(words), between.join([*words, "12"]), between.join(["7", *words])):
        assert [*of_name(name)] == run_checks(name, NAME)


def test_a_name_of_many_words_is_judged_at_once():
    for end in ("!", " ", "?", "-"):
        assert [*of_name("Aaaa " * 38 + "Aaaa" + end)] == run_checks(
            "Aaaa " * 38 + "Aaaa" + end, NAME
        )
