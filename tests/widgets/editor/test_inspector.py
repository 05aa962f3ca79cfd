"""The form of what is selected has a field for each property that the version knows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ipywidgets.widgets.widget import _instances
from widgets.screen import enter, find, html, type_into
from widgets.showcase import DOCUMENT

import chatkit
from chatkit.errors import InputError
from chatkit.flowjson import Finding
from chatkit.flowjson.components import COMPONENTS
from chatkit.widgets.editor.edits import make_component, make_flow
from chatkit.widgets.editor.inspector import Inspector
from chatkit.widgets.editor.state import DocumentState
from chatkit.widgets.editor.tree import make_tree_rows

FORM = "/screens/0/layout/children/4"
KEYS = st.sampled_from(["type", "name", "label", "text", "on-click-action", "next", "children"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["Footer", "If", "navigate"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


class Notes(DocumentState):
    """A document that records the edits of the form, and the refreshes for which it asks."""

    def __init__(self, document: Any) -> None:
        super().__init__(document)
        self.done: list[tuple[Any, ...]] = []
        self.refreshes: list[tuple[bool, str]] = []

    def refresh(self, *, typed: bool = False, focus: str = "") -> None:
        self.refreshes.append((typed, focus))

    def set(self, pointer: str, value: Any) -> None:
        self.done.append(("set", pointer, value))
        super().set(pointer, value)

    def unset(self, pointer: str) -> None:
        self.done.append(("unset", pointer))
        super().unset(pointer)

    def rename(self, pointer: str, name: str) -> str:
        if name == "taken":
            raise InputError("There is a taken already.")
        self.done.append(("rename", pointer, name))
        return super().rename(pointer, name)

    def act(self, pointer: str, name: str) -> None:
        self.done.append(("act", pointer, name))
        super().act(pointer, name)


def opened(document: Any, pointer: str) -> tuple[Inspector, Notes]:
    notes = Notes(document)
    inspector = Inspector(notes, notes.refresh)
    (row,) = [row for row in make_tree_rows(document) if row.pointer == pointer]
    inspector.show(row)
    return inspector, notes


def alone(one: dict[str, Any], version: str = "7.3") -> dict[str, Any]:
    made = make_flow() | {"version": version}
    made["screens"][0]["layout"]["children"] = [one]
    return made


FIRST = "/screens/0/layout/children/0"


@pytest.mark.parametrize("kind", COMPONENTS)
def test_every_component_has_a_field_for_each_of_its_properties(kind: str) -> None:
    shape = COMPONENTS[kind]
    inspector, notes = opened(alone(make_component(kind)), FIRST)
    names = {pointer.removeprefix(f"{FIRST}/").split("/")[0] for pointer in inspector.fields}
    elsewhere = {prop.name for prop in shape.properties if prop.kind in ("components", "cases")}
    ranged = {prop.name for prop in shape.properties if prop.place == "range mode"}
    assert names == {*shape.by_name} - elsewhere - ranged - {"type"}
    assert notes.done == []  # to look at it changes nothing
    assert shape.about in html(inspector)


def test_fields_follow_version_and_place() -> None:
    box = {"type": "TextBody", "text": "x"}
    assert f"{FIRST}/markdown" in opened(alone(box), FIRST)[0].fields
    assert f"{FIRST}/markdown" not in opened(alone(box, "5.0"), FIRST)[0].fields
    inside, _ = opened(DOCUMENT, f"{FORM}/children/0")
    assert f"{FORM}/children/0/init-value" not in inside.fields
    assert f"{FIRST}/init-value" in opened(alone(make_component("TextInput")), FIRST)[0].fields
    range_ = opened(DOCUMENT, "/screens/2/layout/children/1")[0]
    assert "/screens/2/layout/children/1/min-days" in range_.fields


def test_what_is_typed_is_set_at_its_place() -> None:
    inspector, notes = opened(alone(make_component("TextInput")), FIRST)
    fields: Any = inspector.fields
    enter(inspector, fields[f"{FIRST}/label"], "Name")
    enter(inspector, fields[f"{FIRST}/name"], "given")
    enter(inspector, fields[f"{FIRST}/max-chars"], "20")
    enter(inspector, fields[f"{FIRST}/max-chars"], "")
    assert notes.done == [
        ("set", f"{FIRST}/label", "Name"),
        ("rename", FIRST, "given"),
        ("set", f"{FIRST}/max-chars", 20),
        ("unset", f"{FIRST}/max-chars"),
    ]


def test_what_is_no_value_is_told_at_its_field_and_changes_nothing() -> None:
    inspector, notes = opened(alone(make_component("CheckboxGroup")), FIRST)
    field: Any = inspector.fields[f"{FIRST}/min-selected-items"]
    enter(inspector, field, "many")
    assert "must be a whole number" in field.problem
    name: Any = inspector.fields[f"{FIRST}/name"]
    enter(inspector, name, "taken")
    assert name.problem == "There is a taken already."
    assert notes.done == []


def test_an_action_has_the_fields_that_it_takes() -> None:
    foot = f"{FORM}/children/8/on-click-action"
    inspector, notes = opened(DOCUMENT, f"{FORM}/children/8")
    inside = [one.removeprefix(foot) for one in inspector.fields if one.startswith(foot)]
    assert inside == ["", "/next", "/payload"]
    payload: Any = inspector.fields[f"{foot}/payload"]
    enter(inspector, payload, '{"a": "${form.name}"}')
    type_into(inspector, "Action", "complete")
    assert notes.done == [
        ("set", f"{foot}/payload", {"a": "${form.name}"}),
        ("act", foot, "complete"),
    ]
    enter(inspector, find(inspector, "Action"), 0)
    assert notes.done[-1] == ("unset", foot)


def test_the_form_is_made_anew_only_when_it_has_other_fields() -> None:
    document = alone(make_component("Switch"))
    document["screens"][0]["layout"]["children"].append(make_component("Footer"))
    foot, cases = "/screens/0/layout/children/1", f"{FIRST}/cases"
    for pointer, field, value, refresh in (
        ("/screens/0", "/screens/0/title", "Hello", (True, "")),
        ("/screens/0", "/screens/0/title", "", (True, "")),
        ("", "/version", 0, (False, "/version")),
        (foot, f"{foot}/on-click-action", 1, (False, f"{foot}/on-click-action")),
        (foot, f"{foot}/on-click-action", 0, (False, f"{foot}/on-click-action")),
        (f"{cases}/yes", f"{cases}/yes", "no", (False, f"{cases}/no")),
        ("/screens/0", "/screens/0/id", "HELLO", (True, "")),
    ):
        inspector, notes = opened(document, pointer)
        enter(inspector, inspector.fields[field], value)
        assert notes.refreshes == [refresh]


def test_options_targets_screens_and_cases_have_forms_too() -> None:
    item = "/screens/1/layout/children/0/list-items/0"
    inspector, notes = opened(DOCUMENT, item)
    title: Any = inspector.fields[f"{item}/main-content/title"]
    enter(inspector, title, "Porto")
    own: Any = inspector.fields[f"{item}/id"]
    enter(inspector, own, "porto")
    assert notes.done == [
        ("set", f"{item}/main-content/title", "Porto"),
        ("set", f"{item}/id", "porto"),
    ]
    inspector, notes = opened(DOCUMENT, "/screens/0")
    fields: Any = inspector.fields
    enter(inspector, fields["/screens/0/id"], "HELLO")
    case = "/screens/2/layout/children/3/cases/sea"
    inspector, more = opened(DOCUMENT, case)
    fields = inspector.fields
    enter(inspector, fields[case], "lake")
    assert notes.done + more.done == [("rename", "/screens/0", "HELLO"), ("rename", case, "lake")]


def test_unknown_keys_can_be_seen_and_mended() -> None:
    unusual = {"type": "TextBody", "text": "x", "colour": "red", "more": [1]}
    inspector, notes = opened(alone(unusual), FIRST)
    fields: Any = inspector.fields
    enter(inspector, fields[f"{FIRST}/colour"], "")
    enter(inspector, fields[f"{FIRST}/more"], "[1, 2]")
    assert notes.done == [("unset", f"{FIRST}/colour"), ("set", f"{FIRST}/more", [1, 2])]


def test_findings_are_told_at_their_fields() -> None:
    inspector, _ = opened(DOCUMENT, f"{FORM}/children/8")
    foot = f"{FORM}/children/8/on-click-action"
    result = [
        Finding("A", "error", f"{foot}/payload/name", "wrong"),
        Finding("B", "error", "/x", ""),
    ]
    inspector.mark(result)
    assert inspector.fields[f"{foot}/payload"].problem == "wrong"
    inspector.mark([])
    assert inspector.fields[f"{foot}/payload"].problem == ""


def test_problems_of_typing_and_of_the_lint_stand_together() -> None:
    inspector, _ = opened(alone(make_component("CheckboxGroup")), FIRST)
    field = inspector.fields[f"{FIRST}/min-selected-items"]
    inspector.mark([Finding("A", "warning", f"{FIRST}/min-selected-items", "too <b>many</b>")])
    enter(inspector, field, "many")
    typed, result = field.drawn()["problems"]
    assert typed[0] == "error" and result == ("warning", "too <b>many</b>")
    assert "&lt;b&gt;" in html(inspector) and "<b>" not in html(inspector)
    enter(inspector, field, "2")
    assert field.drawn()["problems"] == [result]


def test_what_a_version_demands_is_marked() -> None:
    component = make_component("TextInput")
    assert opened(alone(component), FIRST)[0].fields[f"{FIRST}/label"].required
    assert not opened(alone(component), FIRST)[0].fields[f"{FIRST}/helper-text"].required


def test_nothing_can_be_typed_while_the_source_is_broken() -> None:
    inspector, notes = opened(alone(make_component("TextInput")), FIRST)
    notes.write("{")
    inspector.show(next(row for row in make_tree_rows(notes.value) if row.pointer == FIRST))
    assert inspector.fields[f"{FIRST}/label"].disabled


def test_what_is_not_shown_any_more_is_forgotten() -> None:
    inspector, _ = opened(DOCUMENT, "/screens/0")

    def looked() -> int:
        for row in make_tree_rows(DOCUMENT):
            inspector.show(row)
        return len(_instances)

    assert looked() == looked()


@settings(max_examples=12)
@given(JSON)
def test_any_component_opens(value: Any) -> None:
    document = {"version": "7.3", "screens": [{"layout": {"children": [value]}}, value]}
    for row in make_tree_rows(document):
        notes = Notes(document)
        inspector = Inspector(notes, notes.refresh)
        inspector.show(row)
        assert notes.done == []
        assert inspector.root.children
        inspector.close()


def test_what_is_typed_and_not_taken_stays_while_others_are_corrected() -> None:
    document = {
        "version": "7.3",
        "screens": [
            {
                "id": "A",
                "layout": {
                    "type": "SingleColumnLayout",
                    "children": [
                        {"type": "TextInput", "name": "a", "label": "A"},
                        {"type": "TextInput", "name": "b", "label": "B"},
                    ],
                },
            }
        ],
    }
    editor = chatkit.Editor(document)
    first, second = (f"/screens/0/layout/children/{n}" for n in range(2))
    editor.select(first)
    inspector = editor._inspector
    field = inspector.fields[f"{first}/min-chars"]
    enter(editor, field, "many")
    editor.select(second)
    editor.set(f"{second}/label", "Bee")
    editor.select(first)
    again = inspector.fields[f"{first}/min-chars"]
    assert again.value == "many" and "must be" in again.problem
    enter(editor, again, "3")
    assert editor.state.find(f"{first}/min-chars") == 3 and not again.problem
    enter(editor, field, "many")
    editor.set(f"{first}/min-chars", 5)
    editor.select(first)
    assert inspector.fields[f"{first}/min-chars"].value == "5"
