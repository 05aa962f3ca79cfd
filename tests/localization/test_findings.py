"""The findings in contents, word for word: findings.txt.

A line that begins with # names cases. Each of them is a line of JSON: the fields in which a
content differs from one without fault (`contents.GOOD`), or a list of such contents; "bare" has all
fields of one. Its findings follow, a line each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localization.contents import audit, button, codes, content, website

from chatkit.imports.characters import check_text
from chatkit.localization.audit import check_contents
from chatkit.localization.checks import count_utf16_units, measure_lengths
from chatkit.localization.content import (
    Slot,
    count_words,
    find_slots,
    read_entries,
    remove_slots,
)
from chatkit.localization.language import SUPPORTED


def printable(text: str) -> str:
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def findings(case: str) -> Iterator[str]:
    """The lines of one case: itself, and what is found in its contents."""
    yield case
    fields = json.loads(case)
    contents = fields if isinstance(fields, list) else [fields]
    for one in check_contents([each.get("bare") or content(**each) for each in contents]):
        lang = f"{one.lang_code} " if len(contents) > 1 else ""
        severity = "refused" if one.refused and one.severity != "error" else one.severity
        place = one.field if one.position is None else f"{one.field}:{one.position}"
        hint = f" -> {one.hint}" if one.hint else ""
        yield printable(f"  {lang}{severity} {one.code}, {place}: {one.message}{hint}")


CASES: dict[str, list[str]] = {}
for _line in Path(__file__).with_name("findings.txt").read_text("utf-8").splitlines():
    if _line.startswith("# "):
        CASES[_line[2:]] = []
    else:
        CASES[next(reversed(CASES))].append(_line)


@pytest.mark.parametrize("name", CASES)
def test_what_is_found(name: str) -> None:
    cases = [line for line in CASES[name] if not line.startswith("  ")]
    assert [line for case in cases for line in findings(case)] == CASES[name]


# --- lengths ----------------------------------------------------------------------------------

URL = "https://a.example/"
CALL = button("call_phone", value="", country_code="+44")


def text_of(count: int) -> str:
    return "word " * (count // 5) + "x" * (count % 5)


@pytest.mark.parametrize(
    ("field", "limit", "fields"),
    [
        ("text", 1024, lambda n: {"text": text_of(n), "variables": {}}),
        ("footer", 60, lambda n: {"footer": text_of(n)}),
        ("headers.0.text", 60, lambda n: {"headers": [{"type": "text", "text": text_of(n)}]}),
        ("buttons.0.label", 25, lambda n: {"buttons": [button("custom", text_of(n))]}),
        ("buttons.0.value", 2000, lambda n: {"buttons": [website(URL + "x" * (n - len(URL)))]}),
        ("buttons.0.value", 20, lambda n: {"buttons": [CALL | {"value": "2" * n}]}),
        ("buttons.0.value", 15, lambda n: {"buttons": [button("copy_offer_code", value="A" * n)]}),
    ],
)
def test_each_text_may_be_as_long_as_its_limit_and_no_longer(
    field: str, limit: int, fields: Callable[[int], dict[str, Any]]
) -> None:
    assert not audit(**fields(limit)).of(code="length")
    [result] = audit(**fields(limit + 1)).of(code="length")
    assert (result.field, result.position) == (field, limit)
    assert f"{limit + 1:,} characters" in result.message
    assert (result.refused, result.severity) == (True, "warning")


def test_a_text_that_grows_too_long_with_its_samples_is_warned_of() -> None:
    text = "Hello {{1}}, " + text_of(1000)
    assert "length with samples" not in codes(text=text, variables={"1": "Ana"})
    [result] = audit(text=text, variables={"1": "A" * 99}).of(code="length with samples")
    assert not result.refused


def test_lengths_are_measured_as_a_share_of_their_limit() -> None:
    [entry] = read_entries(content(footer="👍" * 30))
    result = {each.field: each for each in measure_lengths(entry)}
    assert result["footer"] == ("footer", 30, 60) and result["footer"].share == 0.5
    assert result["text"].limit == 1024


# --- any text ---------------------------------------------------------------------------------


def test_placeholders_have_their_places_and_words_are_counted_without_them() -> None:
    assert find_slots("Hi {{1}}, {{02}}.") == [Slot("1", 3, 8, 1), Slot("02", 10, 16, None)]
    assert find_slots("no { } here") == []
    assert remove_slots("a {{1}} b") == "a   b"
    assert count_words("नमस्ते {{1}}, ठीक - हो गई।") == 4


def test_a_long_text_without_an_end_mark_is_read_once() -> None:
    """Before, each of its characters began a sentence: a million took hours."""
    assert "punctuation" not in codes(lang_code="es", text="a " * 500_000, variables={})


@given(st.text(st.characters(), max_size=20))
def test_utf16_units_are_those_of_the_encoding(text: str) -> None:
    assert count_utf16_units(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


@given(st.text(alphabet="{}1 a\u0661｛\0", max_size=40))
def test_any_braces_can_be_read(text: str) -> None:
    assert all(text[slot.start : slot.end] == str(slot) for slot in find_slots(text))
    for result in audit(text=text).of(code="placeholder braces"):
        assert result.position is not None
        assert text[result.position] in "{}｛｝"


@given(
    st.text(st.characters(), max_size=25)
    | st.text(alphabet="éÃ©â€™ÂŸ аaеe\u0301\u200d\ufe0f👍क्\u0301ᄀ가\u064e", max_size=12)
)
def test_the_short_way_finds_what_the_checks_of_any_text_find(text: str) -> None:
    """Plain texts are told by their characters alone: never less is found than by looking."""
    result = {each.code for each in audit(footer=text) if each.field == "footer"}
    assert {unusual.code for unusual in check_text(text)} <= result


@given(st.sampled_from(SUPPORTED), st.text(max_size=60), st.text(max_size=60))
def test_any_text_in_any_language_is_looked_at(lang: str, text: str, source: str) -> None:
    english = content(text=source, variables={}, footer="")
    mine = content(text=text, variables={}, lang_code=lang, footer="")
    for each in check_contents([english, mine]).of(lang_code=lang):
        assert each.message
        assert each.position is None or 0 <= each.position <= max(len(text), len(source))
