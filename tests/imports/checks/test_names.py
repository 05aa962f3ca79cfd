"""Tests of unusual names, and of ordinary names of any script, which have no finding."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.imports.characters import (
    NAME_CHECKS,
    TEXT_CHECKS,
    check_name,
    check_text,
    find_garbled,
    find_question_marks,
    run_checks,
)

CASES = tomllib.loads((Path(__file__).parent / "cases/names.toml").read_text("utf-8"))


NAMES = (Path(__file__).parent / "cases/ordinary.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_in_an_ordinary_name(name: str) -> None:
    assert check_name(name) == ()
    assert run_checks(name, (*NAME_CHECKS, *TEXT_CHECKS)) == []


@pytest.mark.parametrize("name", CASES["accented"])
def test_letters_with_accents_are_left_alone(name: str) -> None:
    assert find_garbled(name) is None


@pytest.mark.parametrize("severity", ["warning", "note"])
def test_a_name_is_checked(severity: str) -> None:
    for text, code, suggestion, safe in CASES["names" if severity == "warning" else "notes"]:
        first = check_name(text)[0]
        result = (first.code, first.suggestion or "", first.safe, first.severity)
        assert result == (code, suggestion, safe, severity), text
        assert not safe or check_name(suggestion) == () or check_name(suggestion)[0].code != code


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("JosÃ©  \u202e", ["garbled", "direction marks", "spaces"]),
        ("JosÃ©  ", ["garbled"]),  # the rest is checked when it can be read
        ("ANA\tMARIA", ["control characters"]),
        ("", []),
    ],
)
def test_each_kind_is_found(text: str, codes: list[str]) -> None:
    assert [unusual.code for unusual in check_name(text)] == codes


def test_a_lost_letter_is_told_and_a_question_is_not() -> None:
    for text in ("M?ller", "Bj??rn", "Тест?ов"):
        assert find_question_marks(text) is not None
    for text in ("Ana?", "Who? Me", "? Ana", "http://x/?a"):
        assert find_question_marks(text) is None


@given(st.text())
def test_any_text_is_looked_at(text: str) -> None:
    for unusual in (*check_name(text), *check_text(text)):
        assert unusual.message and unusual.code
        assert unusual.suggestion != text
        assert unusual.suggestion or not unusual.safe


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
def test_a_usual_name_has_the_findings_of_all_checks(words: list[str], between: str) -> None:
    for name in (between.join(words), between.join([*words, "12"]), between.join(["7", *words])):
        assert [*check_name(name)] == run_checks(name, NAME_CHECKS)


def test_a_name_of_many_words_is_checked_at_once():
    for end in ("!", " ", "?", "-"):
        assert [*check_name("Aaaa " * 38 + "Aaaa" + end)] == run_checks(
            "Aaaa " * 38 + "Aaaa" + end, NAME_CHECKS
        )
