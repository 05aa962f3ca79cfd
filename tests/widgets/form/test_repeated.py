from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from widgets.screen import controls, find, press

from chatkit.templates import ContentBody
from chatkit.widgets.fields import Bodies, Pairs, input_for


def buttons() -> Bodies:
    made = input_for("buttons", ContentBody.model_fields["buttons"])
    assert isinstance(made, Bodies)
    return made


@settings(max_examples=20)
@given(st.dictionaries(st.text(min_size=1), st.text(), max_size=4))
def test_texts_by_names_come_back_as_they_were(value: dict[str, str]) -> None:
    pairs = Pairs("variables")
    pairs.show(value)
    assert pairs.read() == value


def test_a_name_that_is_there_twice_is_refused_and_an_empty_row_is_nothing() -> None:
    pairs = Pairs("variables")
    pairs.show({"1": "Ana"})
    pairs.add({})
    assert pairs.read() == {"1": "Ana"}
    pairs.add({"name": "1", "text": "Bo"})
    with pytest.raises(ValueError, match="has '1' twice"):
        pairs.read()


def test_rows_are_added_and_removed_by_their_buttons() -> None:
    heard: list[int] = []
    pairs = Pairs("variables")
    pairs.entered = lambda: heard.append(1)
    pairs.show({"1": "Ana", "2": "Bo"})
    press(pairs, "Remove variable 1")
    assert pairs.read() == {"2": "Bo"}
    assert controls(pairs, "Remove variable 1")
    assert not controls(pairs, "Remove variable 2")
    press(pairs, "Add variable")
    assert controls(pairs, "Remove variable 2") and len(heard) == 2


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
    apps = input_for("auth_apps", ContentBody.model_fields["auth_apps"])
    assert apps.read() is None


def test_locked_rows_can_neither_be_typed_into_nor_added_nor_removed() -> None:
    pairs = Pairs("variables")
    pairs.show({"1": "Ana"})
    pairs.lock(locked=True)
    find(pairs, "Add variable").click()
    find(pairs, "Remove variable 1").click()
    assert pairs.read() == {"1": "Ana"}
    assert find(pairs, "name").disabled


@pytest.mark.parametrize("value", [[1], "x", [{"type": 1}]])
def test_values_of_another_kind_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match="must be"):
        buttons().show(value)
