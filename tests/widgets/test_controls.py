"""Buttons act once, code is Python for the same, and messages are escaped."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from widgets.screen import send

from chatkit.widgets.controls import (
    ActionButton,
    Message,
    Panel,
    write_call,
    write_literal,
)


def click(button: ActionButton, token: str) -> None:
    """A click as it arrives from the page: it carries the token that was there."""
    send(button, {"token": token})


def test_a_click_that_arrives_twice_acts_once() -> None:
    acted: list[int] = []
    button = ActionButton("Send", lambda: acted.append(1))
    seen = button.token
    click(button, seen)
    click(button, seen)
    assert acted == [1]
    click(button, button.token)
    assert acted == [1, 1]


def test_two_clicks_at_the_same_moment_act_once() -> None:
    acted: list[int] = []

    def slowly() -> None:
        acted.append(1)
        time.sleep(0.05)

    button = ActionButton("Send", slowly)
    seen = button.token
    threads = [threading.Thread(target=click, args=(button, seen)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert acted == [1]


def test_while_it_acts_no_token_is_good_not_even_an_empty_one() -> None:
    acted: list[str] = []

    def act() -> None:
        acted.append(button.token)
        click(button, "")
        click(button, button.token)

    button = ActionButton("Send", act)
    button.click()
    assert acted == [""]


def test_a_disabled_button_hears_nothing() -> None:
    acted: list[int] = []
    button = ActionButton("Send", lambda: acted.append(1), disabled=True)
    click(button, button.token)
    button.click()
    assert acted == []


def test_an_action_that_fails_leaves_a_button_that_works() -> None:
    def fail() -> None:
        raise ValueError("no")

    button = ActionButton("Send", fail)
    before = button.token
    with pytest.raises(ValueError, match="no"):
        button.click()
    assert button.token not in ("", before)


def test_its_text_form_is_one_line_without_an_address() -> None:
    assert repr(ActionButton("Send", lambda: None)) == "<ActionButton>"


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


def test_an_error_is_said_at_once_and_the_rest_when_there_is_time() -> None:
    message = Message()
    message.show("It is done.")
    assert 'role="status"' in message.value
    message.show("It failed.\nTry again.", wrong=True)
    assert 'role="alert"' in message.value
    assert "It failed.<br>Try again." in message.value
    message.show("")
    assert message.value == message.text == ""


@given(st.text(st.characters(), min_size=1))
def test_nothing_in_it_is_markup(text: str) -> None:
    message = Message()
    message.show(text)
    assert message.value.replace("<br>", "").count("<") == 2  # the box itself
    assert message.text == text


def test_what_would_not_be_seen_is_spelled_out() -> None:
    message = Message()
    message.show("a\u202eb")
    assert "a⟨U+202E⟩b" in message.value


def test_a_panel_that_cannot_be_read_where_it_is_not_live_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="abstract method _make_saved_page"):
        Panel([])
