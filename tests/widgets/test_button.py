from __future__ import annotations

import threading
import time

import pytest
from widgets.screen import tell

from chatkit.widgets.controls import ActionButton


def click(button: ActionButton, token: str) -> None:
    """A click as it arrives from the page: it carries the token that was there."""
    tell(button, {"token": token})


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
    assert repr(ActionButton("Send", lambda: None)) == "<button 'Send'>"
