"""Characters that are not seen or not what they seem, found and taken out."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.imports import characters as c
from chatkit.imports.characters import NAME_CHECKS, TEXT_CHECKS
from chatkit.imports.quality import FIXABLE


@pytest.mark.parametrize("text", ["क़", "\u0958", "\ufa19", "\ufb2a", "\u212b", "שׂ"])
def test_letters_that_unicode_only_exchanges_for_others_stay(text: str) -> None:
    assert c.find_decomposed(text) is None


def test_half_a_character_is_found() -> None:
    unusual = c.find_half_chars("Ana \ud83d")
    assert unusual is not None and unusual.suggestion is None


def test_a_character_is_named_by_its_code() -> None:
    unusual = c.find_invisible("A\u200b\u200b\u2060\ufeff\u00adna")
    assert unusual is not None
    assert unusual.message == "5 characters in it cannot be seen (U+200B, U+2060, U+FEFF, …)"


def test_a_long_text_may_have_lines_and_marks_of_direction() -> None:
    text = "Hello {{1}},\n\nشكرا \u2068{{2}}\u2069\u200f"
    assert c.find_controls(text, lines=True) is None
    assert c.run_checks(text, TEXT_CHECKS) == []
    unusual = c.find_controls("one\r\ntwo\tthree\x07", lines=True)
    assert unusual is not None
    assert unusual.suggestion == "one\ntwo three"


def test_letters_turned_around_in_a_text_are_found_but_not_mended() -> None:
    unusual = c.find_overrides("pay \u202e00001")
    assert unusual is not None
    assert (unusual.suggestion, unusual.safe) == ("pay 00001", False)


defective_texts = st.text(
    st.one_of(
        st.sampled_from("aeé Ã©\u00a0â€™\u0301\u200b\u200d\u202e\t\n\x00аеоΑΒ𝓐Ａ\u3000\u094dकعлی‌"),
        st.characters(),
    ),
    max_size=12,
)


@given(defective_texts, st.sets(st.sampled_from(FIXABLE)))
def test_what_is_mended_is_not_found_again(text: str, codes: set[str]) -> None:
    tidy = c.apply_suggestions(text, NAME_CHECKS, codes)
    assert not [o for o in c.run_checks(tidy, NAME_CHECKS) if o.safe and o.code in codes]
    assert c.apply_suggestions(tidy, NAME_CHECKS, codes) == tidy
    assert bool(tidy) == bool(text)


@given(defective_texts)
def test_mending_keeps_every_letter_that_is_seen(text: str) -> None:
    """All but the checks that say another letter was meant leave the letters as they are."""
    codes = {*FIXABLE} - {"garbled", "look-alike", "styled letters"}
    tidy = c.apply_suggestions(text, NAME_CHECKS, codes)

    def letters(whole: str) -> str:
        apart = unicodedata.normalize("NFD", whole)
        return "".join(one for one in apart if one.isalnum() and not c.find_invisible(one))

    assert letters(tidy) == letters(text)
