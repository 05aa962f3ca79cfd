"""Components as objects: search by type, order, actions."""

from __future__ import annotations

from chatkit.flowjson import (
    DataExchange,
    Footer,
    If,
    Navigate,
    Option,
    RadioButtonsGroup,
    Switch,
    TextBody,
    TextInput,
    UpdateData,
)
from chatkit.flowjson.build.piece import Block, all_blocks


def test_the_type_decides_the_class() -> None:
    assert isinstance(Block.read({"type": "TextBody", "text": "Hi"}), TextBody)


def test_an_unknown_component_stays_the_dict_it_is() -> None:
    for raw in ({"type": "TextBdy"}, {"text": "Hi"}, {"type": ["TextBody"]}, {}):
        assert Block.read(raw) is raw


def test_a_dict_among_components_is_read() -> None:
    block = If("${data.x}", [{"type": "TextBody", "text": "Hi"}, {"type": "New"}])  # type: ignore[list-item]
    assert block.then == [TextBody("Hi"), {"type": "New"}]
    assert block.to_json()["then"] == [{"type": "TextBody", "text": "Hi"}, {"type": "New"}]


def test_all_components_are_visited_in_order() -> None:
    a, b, c, d = (TextBody(text) for text in "abcd")
    inner = If("${data.x}", [a], else_=[b])
    outer = Switch("${data.y}", {"one": [inner], "two": [c]})
    assert list(all_blocks([outer, d])) == [outer, inner, a, b, c, d]
    assert [name for name, _ in outer.branches()] == ["one", "two"]
    assert [name for name, _ in inner.branches()] == ["then", "else"]


def test_actions_are_those_of_the_component_and_of_its_options() -> None:
    click, choose = Navigate("B"), UpdateData({"x": 1})
    option = Option("a", "A", on_select_action=choose)
    group = RadioButtonsGroup("g", "G", [option], on_select_action=DataExchange())
    assert list(Footer("Go", click).actions()) == [("on-click-action", click)]
    assert [action for _, action in group.actions()] == [choose, DataExchange()]


def test_an_input_is_entered_under_its_name() -> None:
    assert TextInput("n", "Name").entered == "n"
    assert TextBody("Hi").entered is None
