"""Tests of all pieces: reading without loss, writing in order, reporting faults."""

from __future__ import annotations

import copy
import inspect
import json
import pickle

import pytest
from flowjson.build.made import components, maps
from hypothesis import given, settings
from volume import volume

from chatkit.errors import InputError
from chatkit.flowjson import Dropdown, Footer, Navigate, Screen, TextInput
from chatkit.flowjson.build.piece import Block, Piece, attribute_name


def test_a_built_piece_is_written_in_the_order_of_the_table() -> None:
    piece = TextInput("n", "Name", visible=True, helper_text="As in your passport")
    assert list(piece.to_json()) == ["type", "name", "label", "helper-text", "visible"]


def test_a_read_piece_is_written_in_its_own_order_and_what_is_new_comes_last() -> None:
    raw = {"label": "Name", "x": 1, "name": "n", "type": "TextInput"}
    piece = Block.read(raw)
    assert isinstance(piece, TextInput)
    piece.required = True
    assert list(piece.to_json()) == ["label", "x", "name", "type", "required"]


def test_none_is_not_in_the_document_and_takes_a_property_out_of_it() -> None:
    piece = TextInput("n", "Name", required=True)
    piece.required = None
    assert piece.to_json() == {"type": "TextInput", "name": "n", "label": "Name"}


def test_null_and_wrong_types_and_unknown_properties_are_kept_apart() -> None:
    raw = {"type": "TextInput", "name": None, "label": 5, "x": [1.0, {}], "required": "yes"}
    piece = Block.read(raw)
    assert isinstance(piece, TextInput)
    assert piece.more == {"name": None, "label": 5, "x": [1.0, {}], "required": "yes"}
    assert piece.name is None and piece.required is None
    assert piece.to_json() == raw


def test_a_right_value_replaces_the_wrong_one() -> None:
    piece = Block.read({"type": "TextInput", "label": 5})
    assert isinstance(piece, TextInput)
    piece.label = "Name"
    assert piece.to_json() == {"type": "TextInput", "label": "Name"}


def test_more_is_written_as_it_is() -> None:
    piece = TextInput("n", "Name", more={"new-thing": {"a": 1}})
    assert piece.to_json()["new-thing"] == {"a": 1}


def test_what_is_wrong_is_told_all_at_once() -> None:
    with pytest.raises(InputError) as caught:
        TextInput("n", lable="Name", required="yes", input_type="mail")  # type: ignore[call-arg]
    assert {problem.field: problem.reason for problem in caught.value.problems} == {
        "label": "is required",
        "lable": "is not a property of TextInput; did you mean label?",
        "required": "must be True or False or a reference like ${data.x}",
        "input_type": "must be 'text', 'number', 'email', 'password', 'passcode' or 'phone'"
        " or a reference like ${data.x}",
    }


def test_a_change_is_checked_as_well() -> None:
    piece = TextInput("n", "Name")
    with pytest.raises(InputError, match="label = 5: must be text"):
        piece.label = 5  # type: ignore[assignment]
    with pytest.raises(AttributeError, match="did you mean label"):
        piece.lable = "x"  # type: ignore[attr-defined]
    assert piece.label == "Name"


def test_a_change_does_not_make_a_read_piece_a_built_one() -> None:
    raw = {"label": "Name", "type": "TextInput"}
    piece = Block.read(raw)
    assert isinstance(piece, TextInput)
    piece.label = "Surname"
    assert list(piece.to_json()) == ["label", "type"]


def test_equal_pieces_are_equal_however_they_came_to_be() -> None:
    built = TextInput("n", "Name")
    assert Block.read(dict(reversed(built.to_json().items()))) == built
    assert copy.deepcopy(built) == built == pickle.loads(pickle.dumps(built))
    assert built != TextInput("n", "Other")


def test_the_signature_is_written_for_the_reader() -> None:
    assert str(inspect.signature(Dropdown)).startswith(
        "(name, label, data_source, *, required=None, on_select_action=None"
    )


def test_the_help_says_since_when_and_how_long() -> None:
    assert "    pattern: A regular expression that the value must match. Since 6.2." in (
        TextInput.__doc__ or ""
    )
    assert "    label: What it says. At most 35 characters." in (Footer.__doc__ or "")
    assert "One of text, number, email, password, passcode, phone." in (TextInput.__doc__ or "")


def test_completion_shows_what_a_person_works_with() -> None:
    output = {name for name in dir(Footer("Go", Navigate("B"))) if not name.startswith("_")}
    assert output == {
        *("label", "on_click_action", "left_caption", "center_caption", "right_caption"),
        *("enabled", "more", "to_json", "actions", "branches", "entered"),
    }


def test_keys_become_names_of_python() -> None:
    assert attribute_name("on-click-action") == "on_click_action"
    assert attribute_name("else") == "else_"


@given(components())
@settings(max_examples=volume(24, 600))
def test_every_component_is_read_as_it_is_written(piece: Piece) -> None:
    raw = piece.to_json()
    read = Block.read(raw)
    assert isinstance(read, Piece)
    assert json.dumps(read.to_json()) == json.dumps(raw)
    assert repr(read)


@given(maps)
@settings(max_examples=volume(24, 600))
def test_reading_never_fails(raw: dict[str, object]) -> None:
    for made in (*Block.kinds.values(), Screen):
        read = made.read(raw)
        assert isinstance(read, Piece)
        assert json.dumps(read.to_json()) == json.dumps(raw | made.constants)
