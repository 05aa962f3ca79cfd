"""Signs count as a phone counts them: after the values have taken the place of placeholders."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.localization.bubble import split_runs
from chatkit.localization.typography import SIGNS


def output(text, samples=None, **more):
    """Runs as short strings: their elements, their mark, their text."""
    return [
        f"{'>'.join(run.tags)}|{run.mark}|{run.text}"
        for run in split_runs(text, samples or {}, **more)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", ["||plain"]),
        ("*b* _i_ ~s~", ["strong||b", "|| ", "em||i", "|| ", "s||s"]),
        ("```a\nb``` `c`", ["code||a\nb", "|| ", "code||c"]),
        ("*_x_*", ["strong>em||x"]),
        ("(*b*), *b*.", ["||(", "strong||b", "||), ", "strong||b", "||."]),
        ("*two words* here", ["strong||two words", "|| here"]),
        ("*नमस्ते* *مرحبا* *重要*", ["strong||नमस्ते", "|| ", "strong||مرحبا", "|| ", "strong||重要"]),
    ],
)
def test_signs_at_the_ends_of_words_count(text, expected):
    assert output(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "2*3*4",
        "snake_case_name",
        "* a*",
        "*a *",
        "*a\nb*",
        "**",
        "a*b",
        "~",
        "``````",
        "*",
        "5 * 3 * 2",
    ],
)
def test_signs_within_words_beside_blanks_or_across_lines_are_only_signs(text):
    assert output(text) == [f"||{text}"]


def test_nothing_counts_between_fences():
    assert output("```*a* _b_```") == ["code||*a* _b_"]


def test_values_take_the_place_of_placeholders_and_their_signs_count_too():
    assert output("Hi *{{1}}*", {"1": "Ana"}) == ["||Hi ", "strong|sample|Ana"]
    assert output("{{1}}!", {"1": "_Ana_"}) == ["em|sample|Ana", "||!"]
    assert output("*{{1}} x", {"1": "a*"}) == ["strong|sample|a", "|| x"]


@pytest.mark.parametrize("sample", [None, "", "  ", 7, ["a"]])
def test_a_placeholder_without_a_text_is_marked_as_missing(sample):
    assert output("a {{1}} b", {"1": sample}) == ["||a ", "|missing|{{1}}", "|| b"]


def test_a_header_shows_its_signs():
    assert output("*{{1}}*", {"1": "Ana"}, marked=False) == ["||*", "|sample|Ana", "||*"]


def test_what_would_not_be_seen_is_spelled_out():
    assert output("a\u202eb\u200b", {}) == ["||a", "|odd|U+202E", "||b", "|odd|U+200B"]
    assert output("a\nb") == ["||a\nb"]


@given(st.text(alphabet="*_~`{}12 aא\n\u202e", max_size=60), st.text("*_~` a", max_size=5))
@settings(max_examples=volume(40, 1000), deadline=None)
def test_no_letter_is_lost_but_signs(text, sample):
    result = split_runs(text, {"1": sample})
    plain = "".join(run.text for run in result if not run.mark)
    letters = [c for c in plain if c not in SIGNS]
    kept = iter(c for c in text if c not in SIGNS)
    assert all(any(c == other for other in kept) for c in letters)
    assert all(run.text for run in result)


@pytest.mark.timeout(60)
def test_a_text_of_signs_is_read_to_its_end():
    """Signs without partners must not make the search start over at each of them."""
    for text in ("*a " * 1700, "_*~`" * 1300, "*_~`x" * 1000, "{{" * 2500):
        letters = [c for c in "".join(run.text for run in split_runs(text, {})) if c not in SIGNS]
        assert letters == [c for c in text[:5000] if c not in SIGNS]


def test_a_text_of_many_pages_is_cut():
    assert (
        sum(len(run.text) for run in split_runs("x" * 99_999 + "{{1}}", {"1": "y" * 9999})) <= 5000
    )
