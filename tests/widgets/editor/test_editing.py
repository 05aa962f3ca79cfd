"""The steps of an editor by a program: each is one edit, and selects what it made."""

from __future__ import annotations

import pytest

from chatkit.widgets.editor import Editor
from chatkit.widgets.editor.edits import make_flow

PLACE = "/screens/0/layout/children"


@pytest.fixture
def editing() -> Editor:
    return Editor(make_flow())


def types(editing: Editor) -> list[str]:
    return [one["type"] for one in editing.state.find(PLACE)]


def test_what_is_added_is_selected(editing: Editor) -> None:
    editing.add("TextInput")
    assert editing.selected == f"{PLACE}/1"  # before the footer
    editing.add("Dropdown")
    assert editing.selected == f"{PLACE}/2"
    editing.add("Option")
    assert editing.selected == f"{PLACE}/2/data-source/1"
    editing.select("/screens/0/title")
    assert editing.selected == "/screens/0"
    editing.add("Screen")
    assert editing.selected == "/screens/1"
    assert types(editing) == ["TextHeading", "TextInput", "Dropdown", "Footer"]
    assert not editing.lint()  # the answers are sent, and the new screen is led to


def test_items_are_moved_copied_and_removed_and_selection_follows(editing: Editor) -> None:
    editing.add("TextInput")
    editing.move(f"{PLACE}/1", -1)
    assert editing.selected == f"{PLACE}/0"
    for place, by, moved in ((0, -1, 0), (0, 9, 2), (2, -9, 0)):  # not beyond the ends
        editing.move(f"{PLACE}/{place}", by)
        assert editing.selected == f"{PLACE}/{moved}"
    editing.duplicate(f"{PLACE}/0")
    assert editing.selected == f"{PLACE}/1"
    editing.remove(f"{PLACE}/1")
    assert editing.selected == f"{PLACE}/1"  # the one that came in its place
    editing.remove(f"{PLACE}/2")
    assert editing.selected == f"{PLACE}/1"  # the one before it
    assert types(editing) == ["TextInput", "TextHeading"]
    for _ in range(7):
        editing.undo()
    assert editing.document == make_flow()
    editing.redo()
    assert types(editing) == ["TextHeading", "TextInput", "Footer"]


def test_typing_after_a_selection_is_a_step_of_its_own(editing: Editor) -> None:
    editing.set("/screens/0/title", "A")
    editing.select("")
    editing.set("/screens/0/title", "B")
    editing.undo()
    assert editing.document["screens"][0]["title"] == "A"
