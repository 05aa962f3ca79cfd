"""Suggestions from what the account has translated before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from localization.contents import button, content

from chatkit.localization.queue import MAX_SUGGESTIONS, TranslationMemory

READY = "Your bike is ready. Come and collect it today."
BEREIT = "Dein Rad ist fertig. Hol es heute ab."


def member(template: str, lang: str, text: str, **fields: object) -> dict[str, object]:
    return content(template_code=template, lang_code=lang, text=text, variables={}, **fields)


CONTENTS = [
    member("a", "en", READY, buttons=[button("custom", "I am on my way")]),
    member("a", "de", BEREIT, buttons=[button("custom", "Ich komme")]),
    member("b", "en", "Your bike is ready. Come and collect it tomorrow."),
    member("b", "de", "Dein Rad ist fertig. Hol es morgen ab.", is_draft=True),
    member("c", "en", "We are closed."),
    member("c", "fr", "Nous sommes fermés."),
    member("d", "en", "Larkspur"),
    member("d", "de", "Larkspur"),
]


def test_the_same_text_comes_first_then_what_is_much_like_it() -> None:
    result = TranslationMemory(CONTENTS, "de").suggest(READY)
    assert [(one.translation, one.template_code, one.field, one.live) for one in result] == [
        (BEREIT, "a", "text", True),
        ("Dein Rad ist fertig. Hol es morgen ab.", "b", "text", False),
    ]
    assert result[0].alike == 1.0 and 0.7 <= result[1].alike < 1.0
    assert result[1].source == "Your bike is ready. Come and collect it tomorrow."


def test_labels_headers_and_footers_are_remembered_too() -> None:
    (one,) = TranslationMemory(CONTENTS, "de").suggest("I am on my way")
    assert (one.translation, one.field) == ("Ich komme", "buttons.0.label")


def test_what_is_being_translated_is_not_suggested_to_itself() -> None:
    memory = TranslationMemory(CONTENTS, "de")
    assert [o.template_code for o in memory.suggest(READY, besides=("a", "text"))] == ["b"]


def test_other_languages_and_untranslated_texts_are_not_suggested() -> None:
    memory = TranslationMemory(CONTENTS, "de")
    assert memory.suggest("We are closed.") == memory.suggest("Larkspur") == []
    assert memory.suggest("  ") == []
    assert len(TranslationMemory(CONTENTS, "it")) == 0


def test_capitals_do_not_count_but_the_same_text_is_told_from_it() -> None:
    (one,) = TranslationMemory(CONTENTS, "de").suggest("i am on my WAY")
    assert one.alike == 0.99


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=8), st.text())
def test_suggestions_are_translations_that_are_there(
    pairs: list[tuple[str, str]], text: str
) -> None:
    contents = [
        member(f"t{n}", lang, words)
        for n, pair in enumerate(pairs)
        for lang, words in zip(("en", "de"), pair, strict=True)
    ]
    result = TranslationMemory(contents, "de").suggest(text)
    assert {(one.source, one.translation) for one in result} <= {*pairs}
    assert len(result) <= MAX_SUGGESTIONS
    assert [one.alike for one in result] == sorted((one.alike for one in result), reverse=True)
