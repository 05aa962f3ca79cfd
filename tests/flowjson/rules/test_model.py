"""A value and the schema that a data model declares of it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chatkit.flowjson.rules.reference import find_json_types, find_schema_mismatches
from chatkit.flowjson.rules.shape import suggest_word

LIST = {"type": "array", "items": {"type": "string"}}


def test_a_reference_stands_for_any_value_where_bindings_are_let() -> None:
    assert (
        list(
            find_schema_mismatches(
                ["${data.a}"], LIST | {"items": {"type": "number"}}, bindings=True
            )
        )
        == []
    )
    assert list(find_schema_mismatches("`1 + 2`", {"type": "number"}, bindings=True)) == []
    assert list(find_schema_mismatches("a", {"type": "number"}, bindings=True)) == [
        ("", "expected number, found string")
    ]


@given(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text()))
def test_every_value_fits_a_schema_of_its_own_type(value: Any) -> None:
    assert all(
        list(find_schema_mismatches(value, {"type": kind})) == [] for kind in find_json_types(value)
    )


def test_up_to_24_words_are_listed_and_more_are_not() -> None:
    words = tuple(f"word{n}" for n in range(25))
    assert suggest_word("zzz", words[:24]) == f"Use one of {', '.join(words[:24])}."
    assert suggest_word("zzz", words) == ""
