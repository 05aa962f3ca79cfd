"""Controls that a form draws itself: what they send to the page, and what they take from it."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest
from widgets.screen import send, wire

from chatkit.widgets.fields import (
    Checkbox,
    Choice,
    FormButton,
    FormGroup,
    FormModel,
    Html,
    Text,
)


def trees(form: FormModel) -> list[Any]:
    """The trees that a form sends from now on."""
    sent: list[Any] = []
    form.observe(lambda change: sent.append(wire(change["new"])), names="tree")
    return sent


def enter(form: FormModel, one: Any, value: Any) -> None:
    """Enter something in the page."""
    send(form, {"id": one.id, "entered": value})


def test_what_a_page_gets_is_a_tree_of_all_controls() -> None:
    text = Text("name", "Ana")
    text.css, text.help = "wide", "The first name."
    text.mark([("error", "is\u202e empty")])
    form = FormModel(FormGroup([Html("<b>1</b>"), FormGroup([text], css="row", row=True)]))
    first, row = wire(form.get_state("tree")["tree"])["children"]
    assert first == {"id": first["id"], "kind": "html", "value": "<b>1</b>"}
    assert (row["row"], row["css"]) == (True, "row")
    assert row["children"] == [
        {
            **{"id": text.id, "kind": "text", "label": "name", "placeholder": "Ana", "css": "wide"},
            **{"help": "The first name.", "problems": [["error", "is⟨U+202E⟩ empty"]]},
        }
    ]


@pytest.mark.parametrize(
    ("one", "values", "value"),
    [
        (Text("name"), "Ana", "Ana"),
        (Checkbox("yes"), True, True),
        (Choice("kind", {"first": 10}), 1, 1),
    ],
)
def test_what_is_entered_is_its_value_and_is_not_written_over_in_the_page(
    one: Any, values: Any, value: Any
) -> None:
    form, seen = FormModel(FormGroup([one])), []
    one.entered = lambda: seen.append(one.value)
    written = one.drawn().get("written", 0)
    enter(form, one, values)
    enter(form, one, values)
    assert seen == [value]
    assert one.drawn().get("written", 0) == written
    for unusual in (None, [], {}, -1, 99, "x" if value != "Ana" else 7):
        enter(form, one, unusual)
    assert one.value == value


@pytest.mark.parametrize("one", [Text("name"), Checkbox("yes")])
def test_what_is_disabled_takes_nothing(one: Any) -> None:
    form = FormModel(FormGroup([one]))
    one.disabled = True
    enter(form, one, "Ana" if one.kind == "text" else True)
    assert not one.value


def test_what_python_sets_is_written_over_what_the_page_shows() -> None:
    text = Text("name")
    form = FormModel(FormGroup([text]))
    text.entered = lambda: setattr(text, "value", text.value.strip())
    enter(form, text, "Ana ")
    assert (text.value, text.drawn()["written"]) == ("Ana", 1)


def test_a_click_acts_once_even_when_it_arrives_again_or_while_it_acts() -> None:
    clicked: list[str] = []

    def act() -> None:
        clicked.append(button.token)
        for token in ("", button.token):
            enter(form, button, token)
        time.sleep(0.02)

    button = FormButton("Add", act)
    form = FormModel(FormGroup([button]))
    arguments = (form, button, button.token)
    threads = [threading.Thread(target=enter, args=arguments) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert clicked == [""]
    enter(form, button, button.token)
    assert clicked == ["", ""]
    button.disabled = True
    enter(form, button, button.token)
    button.click()
    assert clicked == ["", ""]


def test_an_action_that_fails_leaves_a_button_that_works() -> None:
    button = FormButton("Send", lambda: [][0])
    before = button.token
    with pytest.raises(IndexError):
        button.click()
    assert button.token not in ("", before)


def test_a_form_in_another_form_is_drawn_by_that() -> None:
    text, below = Text("name"), FormGroup()
    inner, outer = FormModel(FormGroup([text])), FormModel(FormGroup([below]))
    outer.show_in(below, inner)
    enter(outer, text, "Ana")
    assert text.value == "Ana" and '"value": "Ana"' in json.dumps(wire(outer.tree))
    inner.report("Saved.")
    inner.focus_on(text)
    assert (outer.focused, inner.focused) == (text.id, 0)


def test_a_message_about_something_else_is_ignored() -> None:
    text = Text("name")
    form = FormModel(FormGroup([text]))
    sent = trees(form)
    for message in (7, {}, {"id": "x"}, {"id": 0, "entered": "x"}, {"id": text.id}):
        send(form, message)
    assert (text.value, sent) == ("", [])


def test_the_cursor_is_put_into_a_control() -> None:
    box = FormGroup([Text("name")])
    form = FormModel(FormGroup([box]))
    form.focus_on(box)
    assert form.focused == box.id
