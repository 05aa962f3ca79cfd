"""Suggestions from what the account has translated before."""

from __future__ import annotations

from typing import Any

import pytest
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


NEAR = ("Dein Rad ist fertig. Hol es morgen ab.", "b", "text", False)


@pytest.mark.parametrize(
    ("text", "besides", "result", "alike"),
    [
        (READY, None, [(BEREIT, "a", "text", True), NEAR], 1.0),
        (READY, ("a", "text"), [NEAR], 0.91),
        ("I am on my way", None, [("Ich komme", "a", "buttons.0.label", True)], 1.0),
        ("i am on my WAY", None, [("Ich komme", "a", "buttons.0.label", True)], 0.99),
        *((text, None, [], None) for text in ("We are closed.", "Larkspur", "  ")),
    ],
)
def test_translations_of_texts_like_one_are_suggested_the_most_alike_first(
    text: str, besides: tuple[str, str] | None, result: list[Any], alike: float | None
) -> None:
    suggestions = TranslationMemory(CONTENTS, "de").suggest(text, besides=besides)
    assert [(o.translation, o.template_code, o.field, o.live) for o in suggestions] == result
    assert [one.alike for one in suggestions[:1]] == [alike] * bool(result)
    assert len(TranslationMemory(CONTENTS, "it")) == 0


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
