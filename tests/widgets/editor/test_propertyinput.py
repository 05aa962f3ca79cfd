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


@pytest.mark.parametrize(
    ("component", "name", "shown", "typed", "value"),
    [
        ("TextInput", "helper-text", "Help", "", ABSENT),
        ("TextInput", "label", "Name", "", ""),
        ("TextInput", "label", "x\ny", "z", "z"),
        ("TextBody", "text", ["a", "b"], "a\nb\nc", ["a", "b", "c"]),
        ("TextBody", "text", "a\nb", "a", "a"),
        ("TextInput", "max-chars", 1, "12", 12),
        ("TextInput", "max-chars", 1, "-3", -3),
        ("TextInput", "max-chars", 1, " 7 ", 7),
        ("TextInput", "max-chars", 1, "${data.n}", "${data.n}"),
        ("TextInput", "max-chars", 1, "", ABSENT),
        ("CheckboxGroup", "min-selected-items", 1, "x", "whole number"),
        ("CheckboxGroup", "min-selected-items", 1, "1.5", "whole number"),
        ("CheckboxGroup", "min-selected-items", 1, "1e3", "whole number"),
        ("CheckboxGroup", "min-selected-items", 1, "१", "whole number"),
        ("CheckboxGroup", "min-selected-items", 1, "9" * 40, "whole number"),
        ("Image", "aspect-ratio", 1.5, "2.5", 2.5),
        ("TextInput", "required", True, "", "needs a reference"),
        ("TextInput", "required", True, "${data.must}", "${data.must}"),
        ("TextInput", "required", "`${data.a} == 1`", 2, False),
        ("TextInput", "input-type", "email", 0, ABSENT),
        ("TextInput", "input-type", "smoke", '"mist"', "mist"),
        ("DatePicker", "unavailable-dates", ["2030-01-01"], "2030\n\n 2031 ", ["2030", "2031"]),
        ("DatePicker", "unavailable-dates", ["2030-01-01"], "${data.days}", "${data.days}"),
        ("DatePicker", "unavailable-dates", ["2030-01-01"], "", ABSENT),
        # lines would read these otherwise
        ("DatePicker", "unavailable-dates", [""], "[]", []),
        ("DatePicker", "unavailable-dates", ["a\nb"], "[]", []),
        ("DatePicker", "unavailable-dates", ["${data.x}"], "[]", []),
    ],
)
def test_a_property_is_read_as_it_was_shown_and_as_it_is_typed(
    component: str, name: str, shown: Any, typed: Any, value: Any
) -> None:
    one = made(component, name, shown)
    assert one.read() == shown and one.label == name.capitalize().replace("-", " ")
    one.enter(typed)
    try:
        assert one.read() == value
    except ValueError as error:
        assert value in str(error)


def test_inputs_are_as_high_as_their_texts_and_names_count_when_they_are_typed_whole() -> None:
    assert made("TextInput", "label", "x").rows == 0 < made("TextInput", "label", "x\ny").rows
    assert made("TextInput", "name", "x").drawn()["late"]
    assert "late" not in made("TextInput", "label", "x").drawn()
    assert made("TextInput", "visible").options[0] == "not set: yes"


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
