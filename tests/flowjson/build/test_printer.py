"""Python is laid out as a formatter lays it out."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.flowjson.build.piece import (
    CodeWriter,
    call_node,
    format_flat,
    format_node,
    list_node,
    quote_text,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.text() | st.text(alphabet="'\"\\a"))
def test_a_text_is_what_it_was(text: str) -> None:
    assert ast.literal_eval(quote_text(text)) == text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("plain", '"plain"'),
        ("it's", '"it\'s"'),
        ('say "hi"', "'say \"hi\"'"),
        ('it\'s "it"', "'it\\'s \"it\"'"),
        ("'it' \"s", '"\'it\' \\"s"'),
        ("a\nb\\", '"a\\nb\\\\"'),
        ("grün \x00", '"grün \\x00"'),
    ],
)
def test_double_quotes_stand_unless_others_need_fewer_backslashes(text: str, code: str) -> None:
    assert quote_text(text) == code


@given(json_values)
def test_a_json_value_is_what_it_was(value: object) -> None:
    node = CodeWriter().value_node(value)
    code = format_node(node)
    read = eval(code, {"inf": float("inf"), "float": float})
    assert read == value and repr(read) == repr(value)
    assert eval(format_flat(node)) == value


def test_what_fits_stands_on_one_line_and_what_does_not_on_one_line_each() -> None:
    assert format_node(call_node("F", ['"a"'], [("b", "1")])) == 'F("a", b=1)'
    long = quote_text("x" * 80)
    assert format_node(call_node("F", [long], [("b", list_node(["1"]))])) == (
        f"F(\n    {long},\n    b=[1],\n)"
    )


def test_what_is_empty_is_never_broken() -> None:
    assert format_node(list_node([]), before=200) == "[]"


def test_the_characters_before_and_after_count() -> None:
    node = list_node([quote_text("x" * 82)])  # 86 characters
    assert "\n" not in format_node(node, before=2)
    assert "\n" in format_node(node, before=3)
    assert "\n" in format_node(node, before=2, after=1)
