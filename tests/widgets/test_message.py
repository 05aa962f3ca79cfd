from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.widgets.controls import Message, Panel


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
    with pytest.raises(TypeError, match="abstract method _page"):
        Panel([])
