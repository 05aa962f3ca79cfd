"""Controls that a form draws itself: what they send to the page, and what they take from it."""

from __future__ import annotations

from typing import Any

import ipywidgets as w
import pytest
from widgets.screen import tell, wire

from chatkit.widgets.light import (
    LightBox,
    LightButton,
    LightCheckbox,
    LightDropdown,
    LightFold,
    LightForm,
    LightHTML,
    LightText,
)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The trees that forms have sent since they were made."""
    trees: list[Any] = []

    def send(form: LightForm, key: str) -> None:
        if key == "tree":
            trees.append(wire(form.root.drawn()))

    monkeypatch.setattr(LightForm, "send_state", send)
    return trees


def enter(form: LightForm, one: Any, value: Any) -> None:
    """Enter something in the page."""
    tell(form, {"id": one.id, "entered": value})


def test_what_a_page_gets_is_a_tree_of_all_controls() -> None:
    text, inner = LightText("name", "Ana"), w.HTML("x")
    form = LightForm(LightBox([LightHTML("<b>1</b>"), LightBox([text, inner], "row", row=True)]))
    text.add_class("wide")
    tree = wire(form.get_state("tree")["tree"])
    first, row = tree["children"]
    assert first == {"id": first["id"], "kind": "html", "value": "<b>1</b>"}
    assert (row["row"], row["classes"]) == (True, ["row"])
    shown, widget = row["children"]
    assert (shown["description"], shown["placeholder"], shown["classes"]) == (
        *("name", "Ana"),
        ["wide"],
    )
    assert widget == {"id": 0, "model": inner.model_id}


def test_a_change_is_sent_at_once_and_several_can_be_sent_together(sent: list[Any]) -> None:
    text, box = LightText("name"), LightCheckbox("yes")
    form = LightForm(LightBox([text, box]))
    text.value = "Ana"
    text.value = "Ana"
    assert [tree["children"][0]["value"] for tree in sent] == ["Ana"]
    with form.held():
        text.value = "Ben"
        with text.held():
            box.value = box.hidden = True
        assert len(sent) == 1
    assert len(sent) == 2
    assert sent[-1]["children"][1]["hidden"] is True
    assert sent[-1]["children"][0]["value"] == "Ben"


def test_what_stands_in_no_form_any_more_is_not_sent(sent: list[Any]) -> None:
    text = LightText("name")
    root = LightBox([LightBox([text])])
    LightForm(root)
    root.children = []
    text.value = "Ana"
    assert len(sent) == 1
    root.children = [text]
    text.value = "Ben"
    assert len(sent) == 3


@pytest.mark.parametrize(
    ("one", "given", "value"),
    [
        (LightText("name"), "Ana", "Ana"),
        (LightCheckbox("yes"), True, True),
        (LightDropdown("kind", [("first", 10), ("second", 20)]), 1, 20),
        (LightFold("more", []), True, True),
    ],
)
def test_what_is_entered_is_its_value_and_is_not_written_over_in_the_page(
    one: Any, given: Any, value: Any
) -> None:
    form, seen = LightForm(LightBox([one])), []
    one.observe(lambda _: seen.append(one.value))
    written = one.drawn().get("written", 0)
    enter(form, one, given)
    enter(form, one, given)
    assert seen == [value]
    assert one.drawn().get("written", 0) == written
    for odd in (None, [], {}, -1, 99, "x" if value != "Ana" else 7):
        enter(form, one, odd)
    assert one.value == value


@pytest.mark.parametrize("one", [LightText("name"), LightCheckbox("yes")])
def test_what_is_disabled_takes_nothing(one: Any) -> None:
    form = LightForm(LightBox([one]))
    one.disabled = True
    enter(form, one, "Ana" if one.kind == "text" else True)
    assert not one.value


def test_what_python_sets_is_written_over_what_the_page_shows() -> None:
    text = LightText("name")
    form = LightForm(LightBox([text]))
    text.observe(lambda _: setattr(text, "value", text.value.strip()))
    enter(form, text, "Ana ")
    assert (text.value, text.drawn()["written"]) == ("Ana", 1)


def test_a_click_acts_once() -> None:
    clicked: list[int] = []
    button = LightButton("Add", lambda: clicked.append(1))
    form = LightForm(LightBox([button]))
    token = button.token
    enter(form, button, token)
    enter(form, button, token)
    assert clicked == [1]
    button.disabled = True
    enter(form, button, button.token)
    assert clicked == [1]


def test_a_message_about_something_else_is_ignored(sent: list[Any]) -> None:
    text = LightText("name")
    form = LightForm(LightBox([text]))
    for message in (7, {}, {"id": "x"}, {"id": 0, "entered": "x"}, {"id": text.id}):
        tell(form, message)
    assert (text.value, sent) == ("", [])


def test_the_cursor_is_put_into_a_control(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(LightForm, "send", lambda form, message: told.append(message))
    box = LightBox([LightText("name")])
    box.focus()
    LightForm(LightBox([box]))
    box.focus()
    assert told == [{"focus": box.id}]
