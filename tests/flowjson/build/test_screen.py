"""Screens as objects."""

from __future__ import annotations

import pytest

from chatkit.flowjson import Form, Screen, TextBody, TextInput, example


def test_a_screen_is_written_with_its_layout_last() -> None:
    screen = Screen(
        "A", "Title", [TextBody("Hi")], data={"who": example("Ann")}, terminal=True, success=False
    )
    assert screen.to_json() == {
        "id": "A",
        "title": "Title",
        "terminal": True,
        "success": False,
        "data": {"who": {"type": "string", "__example__": "Ann"}},
        "layout": {
            "type": "SingleColumnLayout",
            "children": [{"type": "TextBody", "text": "Hi"}],
        },
    }
    assert list(screen.to_json()) == ["id", "title", "terminal", "success", "data", "layout"]


@pytest.mark.parametrize(
    "layout",
    [
        {"children": [], "type": "SingleColumnLayout"},
        {"type": "TwoColumnLayout", "children": [], "gap": 3},
        {"children": []},
        {"type": "SingleColumnLayout"},
        {"children": ["text"]},
        {"children": None},
        [],
        None,
    ],
)
def test_every_layout_is_kept_as_it_was(layout: object) -> None:
    raw = {"id": "A", "layout": layout}
    screen = Screen.read(raw)
    assert isinstance(screen, Screen)
    assert str(screen.to_json()) == str(raw)
    screen.children.append(TextBody("Hi"))
    assert screen.to_json()["layout"]["children"] == [{"type": "TextBody", "text": "Hi"}]


def test_a_screen_without_layout_has_no_components_and_gets_them() -> None:
    screen = Screen.read({"id": "A"})
    assert isinstance(screen, Screen)
    assert screen.blocks() == [] and screen.to_json() == {"id": "A"}
    screen.children = [TextBody("Hi")]
    assert screen.to_json()["layout"]["type"] == "SingleColumnLayout"


def test_empty_data_is_data() -> None:
    screen = Screen.read({"id": "A"})
    assert isinstance(screen, Screen)
    screen.data = {}
    assert screen.to_json() == {"id": "A", "data": {}}


def test_a_component_is_found_by_name_also_in_a_form() -> None:
    name = TextInput("n", "Name")
    screen = Screen("A", "A", [TextBody("Hi"), Form("form", [name])])
    assert screen["n"] is name
    with pytest.raises(KeyError, match="The screen A has no component 'x'"):
        screen["x"]


def test_it_shows_itself_in_a_few_words() -> None:
    assert repr(Screen("A", "A", [TextBody("Hi")])) == "<Screen A: 1 component>"
