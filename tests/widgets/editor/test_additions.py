"""Additions at a row are those that are allowed there, and land where a person expects them."""

from __future__ import annotations

from typing import Any

import pytest
from widgets.showcase import DOCUMENT

from chatkit.errors import InputError
from chatkit.flowjson.components import COMPONENTS
from chatkit.widgets.editor.edits import Addition, list_additions, make_flow, with_addition
from chatkit.widgets.editor.tree import TreeRow, make_tree_rows

ROWS = make_tree_rows(DOCUMENT)


def row(name: str, text: str = "") -> TreeRow:
    return next(one for one in ROWS if one.name == name and text in one.text)


def names(document: Any, at: TreeRow) -> set[str]:
    return {one.name for one in list_additions(document, at)}


def place(document: Any, at: TreeRow, what: str) -> Addition:
    return next(one for one in list_additions(document, at) if one.name == what)


def test_a_flow_takes_screens_and_a_screen_every_component() -> None:
    assert names(DOCUMENT, ROWS[0]) == {"Screen"}
    assert names(DOCUMENT, row("ABOUT")) == {*COMPONENTS, "Screen"}


def test_a_container_takes_what_may_stand_in_it() -> None:
    inside = names(DOCUMENT, row("TextInput", "Full name"))
    assert "Form" not in inside
    assert "If" in inside
    assert "If" not in names(DOCUMENT, row("sea", "1 component"))
    assert "RichText" not in names(DOCUMENT, row("Form"))


def test_an_older_version_offers_what_it_knows() -> None:
    old = make_flow() | {"version": "5.1"}
    offered = names(old, make_tree_rows(old)[1])
    assert "ChipsSelector" not in offered
    assert "RichText" in offered


def test_what_is_odd_takes_nothing() -> None:
    unusual = {"screens": [3]}
    assert list_additions(unusual, make_tree_rows(unusual)[1]) == []
    with pytest.raises(InputError, match="cannot be added here"):
        with_addition(DOCUMENT, ROWS[0], "TextBody")


@pytest.mark.parametrize(
    ("at", "what", "pointer", "index"),
    [
        ("ABOUT", "TextBody", "/screens/0/layout/children", 5),
        ("PHOTO", "TextBody", "/screens/3/layout/children", 1),  # before the footer
        ("PHOTO", "Screen", "/screens", 4),
        ("Form", "TextBody", "/screens/0/layout/children/4/children", 8),
        ("then", "TextBody", "/screens/0/layout/children/4/children/4/then", 1),
        ("Image", "TextBody", "/screens/0/layout/children", 4),
        ("Flow", "Screen", "/screens", 6),
        ("RadioButtonsGroup", "Option", "/screens/2/layout/children/2/data-source", 3),
        ("hills", "TextBody", "/screens/2/layout/children/3/cases/hills", 1),
        ("lisbon", "List item", "/screens/1/layout/children/0/list-items", 1),
    ],
)
def test_additions_land_after_the_row_or_inside_it(
    at: str, what: str, pointer: str, index: int
) -> None:
    result = row(at, "1 component") if at == "hills" else row(at)
    assert place(DOCUMENT, result, what)[3:5] == (pointer, index)


def test_branches_are_added_to_if_and_switch() -> None:
    switch = row("Switch")
    case = place(DOCUMENT, switch, "Case")
    assert case[3:5] == (f"{switch.pointer}/cases/value", None)
    assert isinstance(case.make(), list)
    assert "Else" not in names(DOCUMENT, row("If"))  # it has one
    bare = make_flow()
    bare["screens"][0]["layout"]["children"][0] = {"type": "If", "condition": "x", "then": []}
    at = make_tree_rows(bare)[2]
    assert place(bare, at, "Else").pointer == f"{at.pointer}/else"


def test_an_if_asks_for_an_input_of_its_screen() -> None:
    value = place(DOCUMENT, row("TextInput", "Email"), "If").make()
    assert value["condition"] == "${form.name} != ''"


@pytest.mark.parametrize("screens", [None, 3, [{}], [{"layout": 3}], [{"layout": {"children": 3}}]])
def test_additions_to_odd_documents_do_not_fail(screens: Any) -> None:
    unusual = {"version": 7, "screens": screens}
    rows = make_tree_rows(unusual)
    for at in rows:
        for one in list_additions(unusual, at):
            assert one.pointer.startswith("/") and one.make()
