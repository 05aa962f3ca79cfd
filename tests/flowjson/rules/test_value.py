"""Checks of one written value: what is refused, and what is let through on purpose."""

from __future__ import annotations

from typing import Any

import pytest
from flowjson.base import PICTURE

from chatkit.flowjson.components import FIRST, Kind, Property, Version
from chatkit.flowjson.rules.shape import (
    CHECKS,
    close,
    day,
    fits,
    has_binding,
    is_binding,
    wrong_type,
)

LATEST, OLD = Version(7, 3), Version(4, 0)


def found(kind: Kind, value: Any, version: Version = LATEST, **more: Any) -> list[tuple[str, str]]:
    prop = Property("x", kind, "", **more)
    return [(f.severity, f.code) for f in CHECKS[kind](prop, value, "/x", version)]


@pytest.mark.parametrize("text", ["${data.x}", " ${form.a} ", "`1 + 2`", "${screen.A.data.x}"])
def test_one_reference_or_expression_is_a_binding(text: str) -> None:
    assert is_binding(text)
    assert has_binding(text)


@pytest.mark.parametrize("text", ["", "x", "a ${data.x}", "${data.x", "`", 5, None, ["${data.x}"]])
def test_anything_else_is_no_binding(text: object) -> None:
    assert not is_binding(text)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("boolean", True, 1),
        ("integer", 3, True),
        ("integer", 3.0, 3.5),
        ("number", 3.5, False),
        ("text", "", 3),
        ("items", [], {}),
        ("map", {}, []),
        ("action", {}, "x"),
        ("cases", {}, []),
        ("integer", 0, float("nan")),
    ],
)
def test_a_value_fits_its_kind(kind: Kind, good: Any, bad: Any) -> None:
    assert fits(kind, good)
    assert not fits(kind, bad)


def test_a_text_in_place_of_a_number_is_told_as_the_platform_does() -> None:
    prop = Property("x", "number", "")
    codes = [each.code for each in wrong_type(prop, "number", "ten", "/x")]
    assert codes == ["INVALID_PROPERTY_TYPE", "PATTERN_MISMATCH"]
    assert [each.code for each in wrong_type(prop, "number", [], "/x")] == ["INVALID_PROPERTY_TYPE"]


def test_a_text_may_be_blank_before_6_0_and_long_with_a_warning() -> None:
    assert found("text", "", OLD) == []
    assert found("text", " ") == [("error", "PATTERN_MISMATCH")]
    assert found("text", "", OLD, not_blank=FIRST) == [("error", "PATTERN_MISMATCH")]
    assert found("text", "x" * 21, length=20) == [("warning", "TEXT_LONGER_THAN_DOCUMENTED")]
    assert found("text", "${data.a_very_long_name}", length=20) == []


def test_a_name_may_be_anything_that_stands() -> None:
    assert found("name", "T&Cs, or so") == []
    assert found("name", "${data.x}", OLD) == []
    assert found("name", "`x`") == [("error", "PATTERN_MISMATCH")]


def test_numbers_stay_within_their_bounds() -> None:
    assert found("integer", 5, low=5, high=5) == []
    assert found("integer", 4, low=5) == [("error", "MINIMUM_VALUE_REQUIRED")]
    assert found("integer", 6, high=5) == [("error", "MAXIMUM_VALUE_REQUIRED")]


def test_days_are_read_and_nothing_else_is() -> None:
    assert str(day("2026-02-28")) == "2026-02-28"
    assert [day(each) for each in ("2026-2-8", "20260208", "2026-02-30", 5)] == [None] * 4


def test_dates_are_days_from_5_0_and_milliseconds_before() -> None:
    assert found("date", "1694779200000", OLD) == []
    assert found("date", "2026-01-01", OLD) == [("warning", "INVALID_DATE_RANGE")]
    assert found("date", "2026-01-01") == found("date", "${data.day}") == []
    assert found("date", "1694779200000") == [("error", "INVALID_DATE_RANGE")]
    assert found("date", "soon", part="date") == [("error", "INVALID_DATE_RANGE")]  # no init-value
    assert found("date", "2026-02-30") == [("warning", "INVALID_DATE_RANGE")]
    assert found("dates", ["2026-01-01", "x", 5]) == [
        ("error", "INVALID_DATE_RANGE"),
        ("error", "INVALID_PROPERTY_TYPE"),
    ]


def test_an_image_is_base64_and_what_looks_like_it_is_only_doubted() -> None:
    assert found("base64", PICTURE) == found("base64", "${data.image}") == []
    for doubtful in ("BASE64_IMAGE", "iVBORw0KGgo...", "data:image/png;base64,iVBO"):
        assert found("base64", doubtful) == [("warning", "INVALID_PROPERTY_VALUE_FORMAT")]
    for wrong in ("https://example.com/a.png", "my picture!", "<svg>"):
        assert found("base64", wrong) == [("error", "INVALID_PROPERTY_VALUE_FORMAT")]


@pytest.mark.parametrize("blank", ["", "  "])
def test_an_image_is_not_blank_and_before_6_0_that_is_only_doubted(blank: str) -> None:
    assert found("base64", blank) == [("error", "PATTERN_MISMATCH")]
    assert found("base64", blank, OLD) == [("warning", "INVALID_PROPERTY_VALUE_FORMAT")]


def test_backticks_are_no_choice_before_6_0() -> None:
    assert found("choice", "`1`", enum=("a",)) == []
    assert found("choice", "`1`", OLD, enum=("a",)) == [("error", "INVALID_ENUM_VALUE")]


def test_a_large_image_is_warned_of_by_the_size_of_its_version() -> None:
    sizes = ((Version(5, 0), 300), (Version(6, 0), 100))
    picture = "A" * (200 * 1024 * 4 // 3)
    assert found("base64", picture, Version(5, 1), kilobytes=sizes) == []
    assert found("base64", picture, kilobytes=sizes) == [("warning", "IMAGE_TOO_LARGE")]
    assert found("base64", picture, OLD, kilobytes=sizes) == []
    for size, large in ((100, False), (101, True)):
        some = "A" * -(-size * 1024 * 4 // 3)
        assert bool(found("base64", some, kilobytes=sizes)) is large


def test_a_pattern_is_refused_only_where_all_dialects_agree() -> None:
    for good in (r"^\d{4}$", "007", r"^(19|20)\d\d-(0[1-9])$", "[a-z[]"):
        assert found("regex", good) == []
    for only_elsewhere in (r"\p{L}+", r"(?<year>\d+)"):
        assert found("regex", only_elsewhere) == [("warning", "INVALID_PROPERTY_VALUE_FORMAT")]
    for wrong in ("(a", "[a", "*a", "a)"):
        assert found("regex", wrong) == [("error", "INVALID_PROPERTY_VALUE_FORMAT")]


def test_addresses_colours_and_choices() -> None:
    assert found("url", "https://example.com/x") == []
    assert found("url", "example.com") == [("error", "INVALID_PROPERTY_VALUE_FORMAT")]
    assert found("color", "#1a2B3c") == found("color", "${data.color}") == []
    assert found("color", "#123") == [("error", "PATTERN_MISMATCH")]
    assert found("choice", "a", enum=("a",)) == found("choice", "${data.x}", enum=("a",)) == []
    assert found("choice", "b", enum=("a",)) == [("error", "INVALID_ENUM_VALUE")]
    fixed = found("choice", "${data.x}", enum=("a",), binding=False)
    assert fixed == [("error", "INVALID_ENUM_VALUE")]


def test_lists_have_their_lengths() -> None:
    assert found("strings", ["a"], least=1, most=1) == []
    assert found("strings", [], least=1) == [("error", "MIN_ITEMS_REQUIRED")]
    assert found("strings", ["a", "b"], most=1) == [("error", "MAX_ITEMS_REQUIRED")]
    assert found("strings", ["a", "b"], advised=1) == [("warning", "MAX_ITEMS_REQUIRED")]
    assert found("strings", ["a"], advised_least=2) == [("warning", "MIN_ITEMS_REQUIRED")]
    assert found("strings", ["a", 5]) == [("error", "INVALID_PROPERTY_TYPE")]
    assert found("components", [], least=1) == [("error", "INVALID_PROPERTY_VALUE")]


def test_a_case_has_a_name_that_begins_with_a_letter() -> None:
    assert found("cases", {"a-1_b": []}) == []
    assert found("cases", {"1": []}) == [("error", "PROPERTY_NAME_MISMATCH")]
    assert found("cases", {}) == [("error", "INVALID_PROPERTY_VALUE")]


def test_a_word_that_is_close_is_proposed() -> None:
    assert close("lable", ("label", "name")) == "Did you mean label?"
    assert close("zzz", ("label", "name")) == "Use one of label, name."


def test_up_to_24_words_are_listed_and_more_are_not() -> None:
    words = tuple(f"word{n}" for n in range(25))
    assert close("zzz", words[:24]) == f"Use one of {', '.join(words[:24])}."
    assert close("zzz", words) == ""
