"""A new name is written wherever the document names the thing, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from chatkit.errors import InputError
from chatkit.flowjson import lint
from chatkit.widgets.editor.edits import (
    copy_with_new_names,
    list_names,
    make_unused_name,
    with_name,
)
from chatkit.widgets.editor.state import DocumentState


def document() -> dict[str, Any]:
    """Two screens: the second shows what was entered on the first."""
    children: list[dict[str, Any]] = [
        {"type": "TextInput", "name": "first", "label": "First"},
        {"type": "TextInput", "name": "first_2", "label": "Second"},
        {
            "type": "If",
            "condition": "${form.first} != ''",
            "then": [{"type": "TextBody", "text": "Hello ${form.first}, ${form.first_2}"}],
        },
        {
            "type": "Footer",
            "label": "Next",
            "on-click-action": {
                "name": "navigate",
                "next": {"type": "screen", "name": "END"},
                "payload": {"a": "${form.first}"},
            },
        },
    ]
    form = {
        "type": "Form",
        "name": "form",
        "init-values": {"first": "Ana"},
        "children": children,
    }
    last = [
        {"type": "TextBody", "text": "${screen.START.form.first}"},
        {
            "type": "Switch",
            "value": "${data.a}",
            "cases": {"x": [{"type": "TextBody", "text": "X"}]},
        },
        {
            "type": "Footer",
            "label": "Done",
            "on-click-action": {"name": "complete", "payload": {}},
        },
    ]
    return {
        "version": "7.3",
        "routing_model": {"START": ["END"], "END": []},
        "screens": [
            {
                "id": "START",
                "title": "Start",
                "data": {},
                "sensitive": ["first"],
                "layout": {"type": "SingleColumnLayout", "children": [form]},
            },
            {
                "id": "END",
                "title": "End",
                "data": {"a": {"type": "string", "__example__": "x"}},
                "terminal": True,
                "success": True,
                "layout": {"type": "SingleColumnLayout", "children": last},
            },
        ],
    }


INPUT = "/screens/0/layout/children/0/children/0"


def test_the_document_of_these_tests_is_a_good_one() -> None:
    assert lint(document()).ok, lint(document())


def test_a_screen_is_renamed_in_routes_targets_and_references() -> None:
    made = with_name(document(), "/screens/0", "HELLO")
    text = repr(made)
    assert "START" not in text
    assert made["routing_model"] == {"HELLO": ["END"], "END": []}
    assert "${screen.HELLO.form.first}" in text
    other = with_name(document(), "/screens/1", "BYE")
    foot = other["screens"][0]["layout"]["children"][0]["children"][-1]
    assert foot["on-click-action"]["next"]["name"] == "BYE"
    assert lint(made).ok
    assert lint(other).ok


def test_an_input_is_renamed_in_all_references_and_not_in_those_to_others() -> None:
    made = with_name(document(), INPUT, "given")
    text = repr(made)
    assert "${form.given}, ${form.first_2}" in text
    assert "${screen.START.form.given}" in text
    assert made["screens"][0]["sensitive"] == ["given"]
    assert made["screens"][0]["layout"]["children"][0]["init-values"] == {"given": "Ana"}
    assert "${form.first}" not in text
    assert lint(made).ok


def test_a_screen_or_input_whose_name_stands_twice_is_renamed_alone() -> None:
    twice = document()
    twice["screens"][1]["id"] = "START"
    made = with_name(twice, "/screens/0", "HELLO")
    assert "${screen.START.form.first}" in repr(made)
    twice = document()
    twice["screens"][0]["layout"]["children"][0]["children"][1]["name"] = "first"
    assert "${form.first} != ''" in repr(with_name(twice, INPUT, "given"))


@pytest.mark.parametrize(
    ("pointer", "taken", "free"),
    [
        (INPUT, "first_2", "given"),
        (INPUT, "form", "given"),  # the Form itself
        (INPUT, "", "given"),
        (INPUT, "  ", "given"),
        (f"{INPUT[:-1]}1", "first", "given"),
        ("/screens/0", "END", "HELLO"),
        ("/screens/1", "START", "BYE"),
        ("/screens/1", "", "BYE"),
        ("/screens/1/layout/children/1/cases/x", "", "y"),
    ],
)
def test_a_name_that_is_taken_or_empty_binds_nothing_else(
    pointer: str, taken: str, free: str
) -> None:
    state = DocumentState(document())
    with pytest.raises(InputError):
        state.rename(pointer, taken)
    assert state.value == document()
    state.rename(pointer, free)
    assert state.value == with_name(document(), pointer, free)
    assert lint(state.value).ok


def test_a_map_of_a_form_keeps_what_it_says_of_the_renamed_input() -> None:
    one = document()
    form = one["screens"][0]["layout"]["children"][0]
    form["init-values"] = {"first": "Ana", "given": "left from before"}
    made = with_name(one, INPUT, "given")
    assert made["screens"][0]["layout"]["children"][0]["init-values"] == {"given": "Ana"}


def test_a_case_is_renamed_in_its_place() -> None:
    made = with_name(document(), "/screens/1/layout/children/1/cases/x", "y")
    assert list(made["screens"][1]["layout"]["children"][1]["cases"]) == ["y"]
    more = document()
    more["screens"][1]["layout"]["children"][1]["cases"]["z"] = []
    with pytest.raises(InputError, match="There is a z already"):
        with_name(more, "/screens/1/layout/children/1/cases/x", "z")


@pytest.mark.parametrize("pointer", ["", "/version", "/screens/0/layout", "/routing_model"])
def test_what_has_no_name_is_refused(pointer: str) -> None:
    with pytest.raises(InputError, match="no name"):
        with_name(document(), pointer, "x")


def test_names_are_made_that_nothing_else_has() -> None:
    assert make_unused_name("name", {"other"}) == "name"
    assert make_unused_name("name", {"name", "name_2"}) == "name_3"
    assert make_unused_name("name_2", {"name_2"}) == "name_3"
    taken = {"A"}
    made = [make_unused_name("A", taken, letters=True) for _ in range(28)]
    assert made[:2] == ["A_B", "A_C"]
    assert len(set(made)) == 28
    assert not any(c.isdigit() for name in made for c in name)


def test_a_copy_has_names_of_its_own() -> None:
    whole = document()
    form = whole["screens"][0]["layout"]["children"][0]
    made = copy_with_new_names(form, whole)
    assert made["name"] == "form_2"
    names = [one["name"] for one in made["children"] if "name" in one]
    assert names == ["first_3", "first_4"]
    screen = copy_with_new_names(whole["screens"][0], whole)
    assert screen["id"] == "START_B"
    assert screen["layout"] == whole["screens"][0]["layout"]
    assert copy_with_new_names(3, whole) == 3


def test_names_are_found_in_any_shape() -> None:
    assert sorted(list_names([{"id": "a", "x": {"name": "b"}}, {"id": 3}, "c"])) == ["a", "b"]
