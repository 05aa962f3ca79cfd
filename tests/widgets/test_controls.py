"""Code is Python for the same, messages are escaped, and what is saved can be read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.widgets.controls import write_call, write_literal
from chatkit.widgets.fields import Panel, Status

texts = st.text(st.characters())
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=10,
)


@given(values)
def test_what_is_written_is_python_for_the_same_value(value: Any) -> None:
    assert eval(write_literal(value)) == value


@given(texts)
def test_nothing_invisible_is_written(text: str) -> None:
    assert write_literal(text).isprintable()


@given(st.lists(values, max_size=2), st.dictionaries(st.sampled_from(["a", "b", "c"]), values))
def test_a_call_that_is_run_passes_what_was_written(
    arguments: list[Any], fields: dict[str, Any]
) -> None:
    passed = eval(
        write_call("heard", *arguments, **fields), {"heard": lambda *a, **f: (list(a), f)}
    )
    assert passed == (arguments, fields)


def test_texts_stand_between_double_quotes_as_people_write_them() -> None:
    assert write_literal("Ana's") == '"Ana\'s"'
    assert write_literal('6"') == "'6\"'"
    assert write_literal({"1": ["a", None]}) == '{"1": ["a", None]}'


def test_a_long_call_has_an_argument_on_each_line() -> None:
    line = write_call("client.contacts.create", number="2025550142", name="x" * 60)
    assert line.splitlines() == [
        "client.contacts.create(",
        '    number="2025550142",',
        f'    name="{"x" * 60}",',
        ")",
    ]
    assert write_call("f", a=1) == "f(a=1)"


def test_an_error_is_read_aloud_at_once_and_the_rest_when_there_is_time() -> None:
    message = Status()
    message.write("It is done.")
    assert 'role="status"' in message.value
    message.write("It failed.\nTry again.", wrong=True)
    assert 'role="alert"' in message.value and "It failed.<br>Try again." in message.value
    message.write("a\u202eb")
    assert "a⟨U+202E⟩b" in message.value
    message.write("")
    assert message.value == message.text == ""


@given(st.text(st.characters(), min_size=1))
def test_nothing_in_a_message_is_markup(text: str) -> None:
    message = Status()
    message.write(text)
    assert message.value.replace("<br>", "").count("<") == 2  # the box itself
    assert message.text == text


def test_a_panel_that_cannot_be_read_where_it_is_not_live_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="abstract method _make_saved_page"):
        Panel([], "")
