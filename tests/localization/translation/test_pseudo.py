"""Pseudo texts are longer and stranger, and what a program reads in them stays."""

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localization.contents import DEMO, demo  # noqa: F401
from localization.translation.translator import ANY, ENGLISH, both, english, full

from chatkit.errors import InputError
from chatkit.localization.audit import check_contents
from chatkit.localization.content import slots
from chatkit.localization.translation.pseudo import _LETTERS, pseudo, stretched

SENTENCES = st.lists(
    st.sampled_from(
        ["Hello", "{{1}}", "{{2}}", "*bold*", "_it_", "~no~", "```x = 1```", "12 €", "\n"]
    )
    | st.text("abcXYZ ,.!", min_size=1, max_size=12),
    min_size=1,
    max_size=12,
).map(" ".join)
TABLES = [stretched.__defaults__[0], *_LETTERS.values()]


@pytest.mark.parametrize("letters", TABLES, ids=["Latin", "Hebrew", "Arabic"])
@settings(max_examples=25)
@given(text=SENTENCES | ANY)
def test_placeholders_and_marks_stay_and_the_text_grows(letters, text):
    done = stretched(text, letters)
    assert done[0] == "⟦" and done[-1] == "⟧"
    assert [str(s) for s in slots(done)] == [str(s) for s in slots(text)]
    marks = re.compile(r"[^\w\s]|[_\s\d]")
    kept = [c for c in text if not c.isalpha() and marks.match(c)]
    assert [c for c in done[1:-1] if not c.isalpha() and marks.match(c)] == kept
    words = re.sub(r"\{\{[^{}]*\}\}", "", text)
    if any(c.isalpha() for c in words) and "@" not in text and "www" not in text:
        assert len(done) - 2 >= len(text) + 0.4 * len(words) - 1e-9


def test_words_grow_evenly():
    done = stretched("aaaaaaaaaa bbbbbbbbbb")
    assert abs(done.count("á") - done.count("ƀ")) <= 1


def test_addresses_stay():
    text = "See https://shop.example/en?a=b or www.x.example, or write to me@x.example"
    done = stretched(text)
    for kept in ("https://shop.example/en?a=b", "www.x.example,", "me@x.example"):
        assert kept in done
    assert "See" not in done


def test_right_to_left_is_really_so():
    for letters in _LETTERS.values():
        done = stretched("Hello {{1}}", letters)
        letters_only = [c for c in done if c.isalpha()]
        assert {unicodedata.bidirectional(c) for c in letters_only} <= {"R", "AL"}
        assert "{{1}}" in done


def test_each_content_gets_a_draft_that_can_be_planned_and_read(demo):
    result = pseudo(demo, lang_code="af")
    assert len(result) == len(demo) + len(DEMO)
    made = result.xs("af", level="lang_code")
    source = demo.xs("en", level="lang_code")
    assert made.index.tolist() == source.index.tolist()
    assert made.is_draft.all()
    assert made.id.isna().all()
    assert (made.text.str.len() > 1.3 * source.text.str.len()).all()
    assert made.variables.tolist() == source.variables.tolist()
    for one, other in zip(made.buttons, source.buttons, strict=True):
        assert [b.get("value") for b in one] == [b.get("value") for b in other]
        assert not any(
            b["label"] == o["label"] for b, o in zip(one, other, strict=True) if o["label"]
        )
    assert result.dtypes.equals(demo.dtypes)
    codes = {each.code for each in check_contents(result) if each.lang_code == "af"}
    assert not codes & {"placeholders differ", "buttons differ", "header differs", "untranslated"}


def test_the_direction_is_that_of_the_language_or_as_asked():
    def text(**options):
        return pseudo(english(), **options).text.iloc[-1]

    assert "é" in text(lang_code="af")
    assert "א" in text(lang_code="he") + text(lang_code="en_XB", right_to_left=True)
    assert "ا" in text(lang_code="ar")
    assert "é" in text(lang_code="ar", right_to_left=False)


def test_a_language_that_is_in_use_is_left_alone():
    with pytest.raises(InputError, match="already"):
        pseudo(both(), lang_code="de")
    with pytest.raises(InputError, match="No template has a content in 'fr'"):
        pseudo(full(ENGLISH), "fr", "af")
