from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from widgets.screen import controls, find, press

from chatkit.templates import ContentBody
from chatkit.widgets.fieldset import Bodies, Samples, make_input


def buttons() -> Bodies:
    made = make_input("buttons", ContentBody.model_fields["buttons"])
    assert isinstance(made, Bodies)
    return made


@settings(max_examples=20)
@given(st.dictionaries(st.text(min_size=1), st.text(), max_size=4))
def test_texts_by_names_come_back_as_they_were(value: dict[str, str]) -> None:
    samples = Samples("variables")
    samples.show(value)
    assert samples.read() == {name: text for name, text in value.items() if text}


def test_rows_are_added_and_removed_by_their_buttons() -> None:
    heard: list[int] = []
    rows = buttons()
    rows.entered = lambda: heard.append(1)
    rows.show([{"type": "custom", "label": "Yes"}, {"type": "custom", "label": "No"}])
    press(rows, "Remove button 1")
    assert rows.read() == [{"type": "custom", "label": "No"}]
    assert controls(rows, "Remove button 1")
    assert not controls(rows, "Remove button 2")
    press(rows, "Add button")
    assert controls(rows, "Remove button 2") and len(heard) == 2


def test_bodies_hold_what_is_filled_in_and_what_was_there_before() -> None:
    rows = buttons()
    was = [{"type": "custom", "label": "Yes", "value": None}, {"type": "call_phone"}]
    rows.show(was)
    assert rows.read() == was
    press(rows, "Add button")
    assert rows.read() == [*was, {"type": "custom"}]
    rows.show([])
    assert rows.read() == []


def test_what_the_service_adds_to_a_body_cannot_be_sent_and_is_left_out() -> None:
    rows = buttons()
    rows.show([{"type": "custom", "label": "Yes", "id": 7}])
    assert rows.read() == [{"type": "custom", "label": "Yes"}]


def test_a_list_that_may_be_none_is_none_without_rows() -> None:
    apps = make_input("auth_apps", ContentBody.model_fields["auth_apps"])
    assert apps.read() is None


def test_locked_rows_can_neither_be_typed_into_nor_added_nor_removed() -> None:
    rows = buttons()
    rows.show([{"type": "custom", "label": "Yes"}])
    rows.lock(locked=True)
    find(rows, "Add button").click()
    find(rows, "Remove button 1").click()
    assert rows.read() == [{"type": "custom", "label": "Yes"}]
    assert find(rows, "label").disabled


@pytest.mark.parametrize("value", [[1], "x", [{"type": 1}]])
def test_values_of_another_kind_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match="must be"):
        buttons().show(value)
