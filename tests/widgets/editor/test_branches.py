"""Any document becomes rows; each finding is at the row that is nearest to it."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume
from widgets.showcase import DOCUMENT

from chatkit.flowjson import Finding
from chatkit.util.json import get_value
from chatkit.widgets.editor.edits import new_flow
from chatkit.widgets.editor.tree import nearest_pointer, tree_rows

KEYS = ["screens", "layout", "children", "type", "then", "cases", "data-source", "id", "title"]
TYPES = st.sampled_from(["If", "Switch", "Form", "Dropdown", "Nope"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | TYPES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=20,
)


def test_rows_are_what_stands_in_the_document_from_top_to_bottom() -> None:
    rows = tree_rows(DOCUMENT)
    assert [(r.level, r.name, r.text) for r in rows[:4]] == [
        (0, "Flow", "version 7.3"),
        (1, "ABOUT", "About you"),
        (2, "TextHeading", "`'Hello ' ${data.guest} '!'`"),
        (2, "TextSubheading", "A few things first"),
    ]
    assert [r.name for r in rows if r.kind == "screen"] == [s["id"] for s in DOCUMENT["screens"]]
    slots = [r.name for r in rows if r.kind == "slot"]
    assert slots == ["then", "else", "sea", "hills"]
    items = [r.text for r in rows if r.kind == "item"]
    assert "Lisbon" in items
    assert "By the sea" in items
    (form,) = [r for r in rows if r.name == "Form"]
    inside = [r for r in rows if r.in_form]
    assert all(r.pointer.startswith(form.pointer) for r in inside)
    assert len(inside) > 8


def test_findings_are_at_their_row_and_told_above_it() -> None:
    place = "/screens/0/layout/children/0"
    result = (
        Finding("A", "warning", f"{place}/text", "long"),
        Finding("B", "error", f"{place}/x/y", "wrong"),
        Finding("C", "note", "/screens/0/title", "well"),
        Finding("D", "warning", "/version", "old"),
    )
    rows = {row.pointer: row for row in tree_rows(new_flow(), result)}
    assert (rows[place].wrong, rows[place].below) == ("error", "")
    assert (rows["/screens/0"].wrong, rows["/screens/0"].below) == ("", "error")
    assert (rows[""].wrong, rows[""].below) == ("warning", "error")


def test_a_place_belongs_to_the_nearest_row() -> None:
    assert nearest_pointer("/a/b/c", {"/a": 1}) == "/a"
    assert nearest_pointer("/a/b", {"/a/b": 1}) == "/a/b"
    assert nearest_pointer("/x", {}) == ""


def test_names_of_strangers_are_cut_and_made_visible() -> None:
    made = new_flow()
    made["screens"][0]["id"] = "A\u202e" * 80
    row = tree_rows(made)[1]
    assert "\u202e" not in row.name
    assert len(row.name) < 80


def test_a_document_without_end_has_an_end() -> None:
    many: dict[str, Any] = {"screens": [{"id": "A"}] * 9000}
    assert len(tree_rows(many)) == 3000


@settings(max_examples=volume(40, 1000))
@given(JSON)
def test_any_json_has_rows_that_are_there(document: Any) -> None:
    rows = tree_rows(document)
    assert rows[0].pointer == ""
    assert len({row.pointer for row in rows}) == len(rows)
    for row in rows:
        value = get_value(document, row.pointer)
        if row.shape is not None:
            assert isinstance(value, dict)
        assert row.to_dict()["name"]
