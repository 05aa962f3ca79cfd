"""New components are filled in until the lint passes."""

from __future__ import annotations

from typing import Any

import pytest

from chatkit.flowjson import lint
from chatkit.flowjson.components import ACTIONS, COMPONENTS, FROZEN, RELEASED, Version
from chatkit.widgets.editor.edits import (
    make_action,
    make_component,
    make_flow,
    make_item,
    make_screen,
)

PUBLISHABLE = sorted({*RELEASED} - FROZEN.keys())
ALONE = ("Footer", "RichText", "NavigationList")


def test_a_new_flow_is_good() -> None:
    assert not lint(make_flow())


@pytest.mark.parametrize("version", [PUBLISHABLE[0], PUBLISHABLE[-1]], ids=str)
@pytest.mark.parametrize("kind", COMPONENTS)
def test_every_new_component_is_good_where_it_may_stand(kind: str, version: Version) -> None:
    if not COMPONENTS[kind].is_known(version):
        assert kind in ("CalendarPicker", "NavigationList", "ChipsSelector", "ImageCarousel")
        return
    made = make_component(kind, ["name"], version, field="${data.name}", target="BYE")
    foot = make_component("Footer")
    sibling = [] if kind in ALONE else [foot]
    data = {"name": {"type": "string", "__example__": "x"}}
    first = make_screen() | {"id": "WELCOME", "data": data}
    first["layout"] = {"type": "SingleColumnLayout", "children": [made, *sibling]}
    whole = {"version": str(version), "screens": [first]}
    if kind == "NavigationList":
        del first["terminal"], first["success"]
    if "BYE" in repr(made):
        whole["screens"] = [first, make_screen() | {"id": "BYE"}]
    result = lint(lint(whole).fix())  # the editor lets its answer be sent
    result = [each for each in result if each.code != "UNUSED_DATA"]
    if kind == "RichText":  # a terminal screen needs a Footer, which may not stand beside it yet
        result = [each for each in result if version >= (6, 3) or each.severity == "error"]
        assert {one.code for one in result} <= {"MISSING_FOOTER_ON_TERMINAL_SCREEN"}
    else:
        assert not result, result


def test_a_name_is_one_that_nothing_else_has() -> None:
    made = make_component("TextInput", ["text_input", "text_input_2"])
    assert made["name"] == "text_input_3"
    assert make_screen(["SCREEN"])["id"] == "SCREEN_B"


def test_options_have_ids_of_their_own() -> None:
    made = make_component("ChipsSelector")["data-source"]
    assert len({one["id"] for one in made}) == 2
    shape = COMPONENTS["Dropdown"].property("data-source")
    assert shape is not None
    assert shape.item is not None
    assert make_item(shape.item, ["option"])["id"] == "option_2"


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_keeps_what_it_takes_of_the_one_before(name: str) -> None:
    before: dict[str, Any] = {"name": "navigate", "next": {"type": "screen", "name": "A"}}
    made = make_action(name, before | {"payload": {"x": 1}})
    assert made["name"] == name
    assert {*made} <= {*ACTIONS[name].by_name}
    assert ("payload" in made) == (name != "open_url")
    assert make_action(name, 3)["name"] == name
