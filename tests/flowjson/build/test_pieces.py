"""Pieces of a flow: read without loss, written in order, checked at every change.

What each class writes and refuses is in `cases/lines/built.txt`.
"""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from flowjson.build.made import components, maps
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.errors import InputError
from chatkit.flowjson import (
    CalendarPicker,
    Complete,
    DataExchange,
    Dropdown,
    Flow,
    Footer,
    Form,
    If,
    Image,
    Navigate,
    Option,
    RadioButtonsGroup,
    Range,
    Screen,
    Switch,
    TextBody,
    TextInput,
    UpdateData,
    example,
)
from chatkit.flowjson.build.piece import (
    Action,
    Block,
    Piece,
    all_blocks,
    data_schema,
    suggest_name,
)
from chatkit.flowjson.components import ACTIONS
from chatkit.flowjson.lint import lint

BODY = {"type": "TextBody", "text": "Hi"}


def read(raw: dict[str, Any], made: type[Piece] = Block) -> Any:
    """Read a piece, which is written as it was read."""
    piece = made.read(raw)
    assert isinstance(piece, Piece)
    assert str(piece.to_json()) == str(raw)  # the order of the keys counts
    return piece


# --- read and changed -----------------------------------------------------------------------


def test_a_read_piece_keeps_its_order_and_what_nobody_knows() -> None:
    piece = read({"label": "Name", "x": 1, "name": "n", "type": "TextInput"})
    assert isinstance(piece, TextInput)
    piece.label = "Surname"
    piece.required = True  # what is new comes last
    assert list(piece.to_json()) == ["label", "x", "name", "type", "required"]
    piece.required = None  # takes it out again
    assert "required" not in piece.to_json()
    wrong = {"name": None, "label": 5, "x": [1.0, {}], "required": "yes"}
    piece = read({"type": "TextInput", **wrong})
    assert piece.more == wrong and piece.name is None and piece.required is None
    piece.label = "Name"  # a right value replaces the wrong one
    assert piece.to_json()["label"] == "Name"
    dropdown = read({"type": "Dropdown", "data-source": [{"title": "A", "id": "a", "icon": 1}]})
    assert isinstance(dropdown.data_source[0], Option)
    assert dropdown.data_source[0].more == {"icon": 1}
    picker = read({"type": "CalendarPicker", "label": {"end-date": "To", "x": 1}}, CalendarPicker)
    assert isinstance(picker.label, Range)
    assert (picker.label.start_date, picker.label.end_date) == (None, "To")


@pytest.mark.parametrize(
    "raw", [{"type": "TextBdy"}, {"text": "Hi"}, {"type": ["TextBody"]}, {}, {"name": "jump"}]
)
def test_what_is_unknown_stays_the_dict_it_is(raw: dict[str, Any]) -> None:
    assert Block.read(raw) is raw
    assert Action.read(raw) is raw
    assert read({"type": "Footer", "on-click-action": raw}).on_click_action == raw


def test_the_object_around_a_target_is_kept_as_it_was() -> None:
    raw: Any = {"next": {"name": "B", "type": "plugin", "x": 1}, "name": "navigate"}
    action = read(raw, Action)
    assert isinstance(action, Navigate)
    action.next = "C"
    raw["next"]["name"] = "C"
    assert str(action.to_json()) == str(raw)


@pytest.mark.parametrize(
    "layout",
    [
        *({"children": [], "type": "SingleColumnLayout"}, {"children": []}, [], None),
        *({"type": "TwoColumnLayout", "children": [], "gap": 3}, {"type": "SingleColumnLayout"}),
        *({"children": ["text"]}, {"children": None}),
    ],
)
def test_every_layout_is_kept_and_takes_components(layout: object) -> None:
    screen = read({"id": "A", "layout": layout}, Screen)
    screen.children.append(TextBody("Hi"))
    assert screen.to_json()["layout"]["children"] == [BODY]


def test_a_screen_without_layout_gets_one_with_its_first_component() -> None:
    screen = read({"id": "A"}, Screen)
    assert screen.blocks() == []
    screen.children, screen.data = [TextBody("Hi")], {}
    assert screen.to_json()["layout"] == {"type": "SingleColumnLayout", "children": [BODY]}
    assert screen.to_json()["data"] == {}  # empty data is data


def test_a_change_is_checked_as_well() -> None:
    piece = TextInput("n", "Name")
    with pytest.raises(InputError, match="label = 5: must be text"):
        piece.label = 5  # type: ignore[assignment]
    with pytest.raises(AttributeError, match="did you mean label"):
        piece.lable = "x"  # type: ignore[attr-defined]
    assert piece.label == "Name"


def test_equal_pieces_are_equal_however_they_came_to_be(tmp_path: Path) -> None:
    built = TextInput("n", "Name")
    assert Block.read(dict(reversed(built.to_json().items()))) == built
    assert copy.deepcopy(built) == built == pickle.loads(pickle.dumps(built))
    assert built != TextInput("n", "Other")
    path = tmp_path / "a.png"
    path.write_bytes(b"123")
    assert Image(path) == Image(b"123")


# --- one among others -----------------------------------------------------------------------


def test_components_are_visited_in_order_and_by_name() -> None:
    a, b, c, d = (TextBody(text) for text in "abcd")
    name = TextInput("n", "Name")
    inner = If("${data.x}", [a], else_=[b])
    outer = Switch("${data.y}", {"one": [inner], "two": [c]})
    assert list(all_blocks([outer, d])) == [outer, inner, a, b, c, d]
    assert [name for name, _ in outer.branches()] == ["one", "two"]
    assert [name for name, _ in inner.branches()] == ["then", "else"]
    assert (name.entered, a.entered) == ("n", None)
    screen = Screen("A", "A", [a, Form("form", [name])])
    assert screen["n"] is name
    with pytest.raises(KeyError, match="The screen A has no component 'x'"):
        screen["x"]


def test_actions_are_those_of_the_component_and_of_its_options() -> None:
    assert {name: made.constants for name, made in Action.kinds.items()} == {
        name: {"name": name} for name in ACTIONS
    }
    click, choose = Navigate("B"), UpdateData({"x": 1})
    option = Option("a", "A", on_select_action=choose)
    group = RadioButtonsGroup("g", "G", [option], on_select_action=DataExchange())
    assert list(Footer("Go", click).actions()) == [("on-click-action", click)]
    assert [action for _, action in group.actions()] == [choose, DataExchange()]


def test_an_input_in_a_payload_is_what_a_person_enters_wherever_it_stands() -> None:
    here, other = TextInput("here", "Here"), TextInput("there", "There")
    footer = Footer("Go", Complete({"a": here, "b": other, "c": "text"}))
    written = Flow([Screen("A", "A", [other]), Screen("B", "B", [here, footer])]).to_json()
    payload = written["screens"][1]["layout"]["children"][1]["on-click-action"]["payload"]
    assert payload == {"a": "${form.here}", "b": "${screen.A.form.there}", "c": "text"}
    assert footer.to_json()["on-click-action"]["payload"]["b"] == "${form.there}"  # on its own


def test_a_component_that_stands_on_two_screens_is_refused() -> None:
    name = TextInput("n", "Name")
    screens = [Screen("A", "A", [name]), Screen("B", "B", [If("${data.x}", [name])])]
    with pytest.raises(InputError, match="One TextInput object stands on two screens, A and B"):
        Flow(screens)
    flow = Flow(screens[:1])
    flow.screens.append(screens[1])
    with pytest.raises(InputError, match="two screens"):
        flow.to_json()


# --- help -----------------------------------------------------------------------------------


def test_signature_help_and_completion_are_written_for_the_reader() -> None:
    assert str(inspect.signature(Dropdown)).startswith(
        "(name, label, data_source, *, required=None, on_select_action=None"
    )
    for part in (
        "    pattern: A regular expression that the value must match. Since 6.2.",
        "One of text, number, email, password, passcode, phone.",
    ):
        assert part in (TextInput.__doc__ or "")
    assert "    label: What it says. At most 35 characters." in (Footer.__doc__ or "")
    assert {name for name in dir(Footer("Go", Navigate("B"))) if not name.startswith("_")} == {
        *("label", "on_click_action", "left_caption", "center_caption", "right_caption"),
        *("enabled", "more", "to_json", "actions", "branches", "entered"),
    }
    assert suggest_name("lable", ["label"]) == "; did you mean label?"
    assert suggest_name("zzz", ["label"]) == ""


# --- anything -------------------------------------------------------------------------------


@given(components())
@settings(max_examples=volume(24, 600))
def test_every_component_is_read_as_it_is_written(piece: Piece) -> None:
    assert repr(read(json.loads(json.dumps(piece.to_json()))))


@given(maps)
@settings(max_examples=volume(24, 600))
def test_reading_never_fails(raw: dict[str, object]) -> None:
    for made in (*Block.kinds.values(), Screen):
        piece = made.read(raw)
        assert isinstance(piece, Piece)
        assert json.dumps(piece.to_json()) == json.dumps(raw | made.constants)


VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.builds(lambda value, n: [value] * n, inner, st.integers(1, 3))
        | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(VALUES)
def test_each_part_of_an_example_is_described_and_the_lint_takes_it(value: object) -> None:
    field = example(value)
    assert field == {**data_schema(value), "__example__": value}
    document = Flow([Screen("A", "A", [], data={"x": field})]).to_json()
    if isinstance(value, str | bool | int) or value == [{}]:
        assert not [one for one in lint(document).errors if "/data" in one.pointer]
