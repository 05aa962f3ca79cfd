"""Each property has the input of its kind; references can stand for every value that binds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume
from widgets.screen import find, press, type_into

import chatkit
from chatkit.flowjson.components import COMPONENTS, NEXT, RECOMMENDED, SCREEN, Property, Version
from chatkit.widgets.editor.inspector import (
    make_help_text,
    make_property_input,
)
from chatkit.widgets.fields import ABSENT, Choice, Json, is_reference

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
PROPERTIES = [prop for shape in COMPONENTS.values() for prop in shape.properties]


def prop(component: str, name: str) -> Property:
    result = COMPONENTS[component].property(name)
    assert result is not None
    return result


def made(component: str, name: str, value: Any = ABSENT) -> Any:
    return make_property_input(prop(component, name), RECOMMENDED, value)


def test_a_text_that_is_emptied_is_taken_away_unless_it_is_needed() -> None:
    one = made("TextInput", "helper-text", "Help")
    assert one.read() == "Help"
    one.enter("")
    assert one.read() is ABSENT
    needed = made("TextInput", "label", "Name")
    needed.enter("")
    assert needed.read() == ""


def test_texts_are_written_on_as_many_lines_as_they_need() -> None:
    assert made("TextInput", "label", "x").rows == 0
    assert made("TextInput", "label", "x\ny").rows > 1
    lines = made("TextBody", "text", ["a", "b"])
    assert lines.read() == ["a", "b"]
    lines.enter("a\nb\nc")
    assert lines.read() == ["a", "b", "c"]
    assert made("TextBody", "text", "a\nb").read() == "a\nb"


def test_names_count_when_they_are_typed_whole() -> None:
    assert made("TextInput", "name", "x").drawn()["late"]
    assert "late" not in made("TextInput", "label", "x").drawn()


@pytest.mark.parametrize(
    ("typed", "value"),
    [("12", 12), ("-3", -3), (" 7 ", 7), ("${data.n}", "${data.n}"), ("", ABSENT)],
)
def test_numbers_are_read(typed: str, value: Any) -> None:
    one = made("TextInput", "max-chars", 1)
    one.enter(typed)
    assert one.read() == value


@pytest.mark.parametrize("typed", ["x", "1.5", "1e3", "१", "9" * 40])
def test_what_is_no_whole_number_is_told(typed: str) -> None:
    one = made("CheckboxGroup", "min-selected-items", 1)
    one.enter(typed)
    with pytest.raises(ValueError, match="whole number"):
        one.read()
    assert made("Image", "aspect-ratio", 1.5).read() == 1.5


def test_yes_and_no_can_be_a_reference() -> None:
    one = made("TextInput", "required", True)
    assert (one.read(), one.refers) == (True, False)
    one.enter("")
    assert one.refers
    with pytest.raises(ValueError, match="needs a reference"):
        one.read()
    one.enter("${data.must}")
    assert one.read() == "${data.must}"
    assert made("TextInput", "required", "`${data.a} == 1`").read() == "`${data.a} == 1`"
    assert made("TextInput", "visible").options[0] == "not set: yes"


def test_a_choice_is_one_of_the_table() -> None:
    one = made("TextInput", "input-type", "email")
    assert one.read() == "email"
    unusual = made("TextInput", "input-type", "smoke")
    assert isinstance(unusual, Json)
    assert unusual.read() == "smoke"


def test_lists_are_lines_or_a_reference() -> None:
    one = made("DatePicker", "unavailable-dates", ["2030-01-01"])
    one.enter("2030-01-01\n\n 2030-01-02 ")
    assert one.read() == ["2030-01-01", "2030-01-02"]
    one.enter("${data.days}")
    assert one.read() == "${data.days}"
    one.enter("")
    assert one.read() is ABSENT
    for unusual in ([""], ["a\nb"], ["${data.x}"]):  # lines would read otherwise
        assert made("DatePicker", "unavailable-dates", unusual).read() == unusual


def test_options_are_written_in_the_form_or_come_from_a_reference() -> None:
    options = [{"id": "a", "title": "A", "description": "kept"}]
    one = made("Dropdown", "data-source", options)
    assert one.read() == options
    type_into(one, "Title", "Alpha")
    press(one, "Add option")
    assert one.read() == [
        {"id": "a", "title": "Alpha", "description": "kept"},
        {"id": "option", "title": "New"},
    ]
    press(one, "Remove option 1")
    assert [item["id"] for item in one.read()] == ["option"]
    type_into(one, "Or a reference in their place", "${data.options}")
    assert one.read() == "${data.options}"
    assert find(one, "Add option").hidden
    type_into(one, "Or a reference in their place", "words")
    with pytest.raises(ValueError, match="reference"):
        one.read()
    for unusual in ([1], [{"id": 1}], 5):  # shown as JSON
        assert made("Dropdown", "data-source", unusual).read() == unusual


def test_the_options_of_a_component_are_edited_from_its_form() -> None:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        editor = chatkit.Editor(resource=client.flows, flow=301)
        place = next(f"{row.pointer}" for row in editor._rows.values() if row.name == "Dropdown")
        editor.select(place)
        type_into(editor, "Title", "First", 0)
        press(editor, "Add option")
        options = editor.state.find(f"{place}/data-source")
        assert options[0]["title"] == "First" and options[-1]["title"] == "New"
        assert len({one["id"] for one in options}) == len(options)


def test_the_next_screen_is_one_of_the_flow_or_kept() -> None:
    next_ = Property("next", "object", "", item=NEXT)
    value = {"type": "screen", "name": "B"}
    one = make_property_input(next_, RECOMMENDED, value, ["A", "B", "B"])
    assert one.read() == value
    gone = make_property_input(next_, RECOMMENDED, {"type": "screen", "name": "GONE"}, ["A"])
    assert gone.read() == {"type": "screen", "name": "GONE"}
    unusual = make_property_input(next_, RECOMMENDED, {"type": "plugin", "name": "x"}, ["A"])
    assert isinstance(unusual, Json)


def test_anything_else_is_json() -> None:
    data = SCREEN.property("data")
    assert data is not None
    one = make_property_input(data, RECOMMENDED, {"a": {"type": "string"}})
    assert isinstance(one, Json)
    assert one.read() == {"a": {"type": "string"}}
    one.enter("{")
    with pytest.raises(ValueError, match="is not JSON"):
        one.read()
    one.enter(" ")
    assert one.read() is ABSENT


LABEL = Property("label", "text", "What it says.", required=Version(4, 0), length=20)


def test_help_tells_what_the_table_knows() -> None:
    assert make_help_text(LABEL) == "What it says. At most 20 characters."
    days = COMPONENTS["CalendarPicker"].by_name
    assert "Of Mon, Tue" in make_help_text(days["include-days"])
    assert "YYYY-MM-DD" in make_help_text(days["min-date"])
    photos = COMPONENTS["PhotoPicker"].by_name
    assert "1 to 30" in make_help_text(photos["max-uploaded-photos"])
    assert "Not set, it is 30." in make_help_text(photos["max-uploaded-photos"])
    assert "At most 300 KB" in make_help_text(COMPONENTS["Image"].by_name["src"])


def test_references_are_known() -> None:
    assert is_reference("${data.x}")
    assert is_reference("`1 + 1`")
    assert not is_reference("$ {data}")
    assert not is_reference(3)


@settings(max_examples=volume(40, 1000))
@given(st.sampled_from(PROPERTIES), JSON)
def test_what_a_property_holds_is_never_changed_by_showing_it(each: Property, value: Any) -> None:
    one = make_property_input(each, RECOMMENDED, value, ["A"])
    try:
        read = one.read()
    except ValueError:  # it is told at the field, and the document stays as it is
        return
    if read is ABSENT:
        assert value in ("", [], None)
    elif isinstance(value, str) and isinstance(one, Choice):
        assert read == value.strip()
    else:
        assert read == value
