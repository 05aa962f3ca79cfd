from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.widgets.fields import (
    Checkbox,
    Choice,
    Json,
    Lines,
    LooseText,
    NumberText,
    Text,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.text())
def test_a_text_comes_back_as_it_was(text: str) -> None:
    line = Text("name")
    line.show(text)
    assert line.read() == text


def test_nothing_typed_is_none_where_the_field_is_none_at_first_and_else_empty() -> None:
    assert Text("a", nothing=None).read() is None
    assert Text("a").read() == ""


def test_digits_stay_text_unless_they_were_a_number_before() -> None:
    line = LooseText("connected_catalog_id", nothing=None)
    line.show("007")
    assert line.read() == "007"
    line.show(7)
    assert line.read() == 7
    line.enter("abc")
    assert line.read() == "abc"


@given(st.integers(-(10**15) + 1, 10**15 - 1) | st.none())
def test_a_number_or_none_comes_back_as_it_was(value: int | None) -> None:
    number = NumberText("seconds", nothing=None)
    number.show(value)
    assert number.read() == value


@pytest.mark.parametrize("typed", ["x", "1.5", "1e3", "--1"])
def test_what_is_no_whole_number_is_said_to_be_none(typed: str) -> None:
    number = NumberText("seconds", nothing=None)
    number.enter(typed)
    with pytest.raises(ValueError, match="must be a whole number"):
        number.read()


def test_a_tick_is_true_or_false() -> None:
    tick = Checkbox("is_active")
    tick.show(True)
    assert tick.read() is True
    tick.show(None)
    assert tick.read() is False
    with pytest.raises(TypeError, match="True or False"):
        tick.show("yes")


def test_a_choice_keeps_a_text_that_the_service_has_sent_and_nobody_offers() -> None:
    choice = Choice("type", {"text": "text", "image": "image"})
    assert choice.read() is None
    choice.show("hologram")
    assert choice.read() == "hologram"
    choice.show("text")
    assert choice.read() == "text"


def test_lines_are_texts_without_the_empty_ones() -> None:
    lines = Lines("events")
    lines.show(["a", "b c"])
    assert lines.read() == ["a", "b c"]
    lines.enter(" a \n\n*\n")
    assert lines.read() == ["a", "*"]
    with pytest.raises(TypeError, match="must be a list"):
        lines.show("a")


@given(json_values)
def test_json_comes_back_as_it_was(value: Any) -> None:
    field = Json("flow_json", 10)
    field.show(value)
    assert field.read() == value


def test_what_is_no_json_is_said_with_line_and_column() -> None:
    field = Json("flow_json", 10)
    field.enter('{"a": 1,\n  "b" 2}')
    with pytest.raises(ValueError, match="at line 2, column 7"):
        field.read()


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ('{"a": 1, "a": 2}', "has 'a' twice"),
        ("[NaN]", "NaN is not a JSON number at line 1, column 2"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_json_that_would_be_read_otherwise_than_meant_is_refused(typed: str, message: str) -> None:
    field = Json("flow_json", 10)
    field.enter(typed)
    with pytest.raises(ValueError, match=message):
        field.read()


@pytest.mark.parametrize("value", [None, "", "a", 7, {"a": 1}, ["b"]])
def test_a_loose_text_keeps_what_nobody_touches(value: Any) -> None:
    line = LooseText("dynamic_url", nothing=None)
    line.show(value)
    assert line.read() == value
    line.enter("x")
    assert line.read() == "x"
    line.enter("")
    assert line.read() == (value if value in (None, "") else None)


def test_what_was_shown_is_sent_whatever_becomes_of_the_value() -> None:
    value = [{"a": 1}]
    field = Json("flow_json", 10)
    field.show(value)
    value[0]["a"] = 2
    field.read()[0]["a"] = 3
    assert field.read() == [{"a": 1}]
