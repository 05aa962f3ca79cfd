"""What is typed in a form reaches the document, and the form is made anew only when it must."""

from __future__ import annotations

from typing import Any

import pytest

from chatkit.widgets.editor.edits import new_component, new_flow
from chatkit.widgets.editor.inspector import FormEdits
from chatkit.widgets.editor.state import DocumentState

FOOT = "/screens/0/layout/children/1/on-click-action"


class Page:
    """Notes how the form was asked to show itself."""

    def __init__(self) -> None:
        self.shown: list[tuple[bool, str]] = []

    def __call__(self, *, typed: bool = False, focus: str = "") -> None:
        self.shown.append((typed, focus))


@pytest.fixture
def page() -> Page:
    return Page()


@pytest.fixture
def draft() -> DocumentState:
    return DocumentState(new_flow())


@pytest.fixture
def edits(draft: DocumentState, page: Page) -> FormEdits:
    return FormEdits(draft, page)


def test_a_value_is_set_and_taken_away_while_the_form_stays(
    edits: FormEdits, draft: DocumentState, page: Page
) -> None:
    edits.set("/screens/0/title", "Hello")
    edits.unset("/screens/0/title")
    edits.unset("/screens/0/title")  # it is not there: nothing happens
    assert "title" not in draft.value["screens"][0]
    assert page.shown == [(True, ""), (True, "")]


def test_another_version_has_other_fields(edits: FormEdits, page: Page) -> None:
    edits.set("/version", "6.0")
    assert page.shown == [(False, "/version")]


def test_another_action_has_other_fields(
    edits: FormEdits, draft: DocumentState, page: Page
) -> None:
    edits.act(FOOT, "navigate")
    assert draft.find(FOOT)["next"] == {"type": "screen", "name": ""}
    edits.unset(FOOT)
    edits.act(FOOT, "complete")
    assert draft.find(FOOT) == {"name": "complete", "payload": {}}
    assert page.shown == [(False, FOOT)] * 3


def test_a_case_has_another_place_under_another_name(
    edits: FormEdits, draft: DocumentState, page: Page
) -> None:
    draft.insert("/screens/0/layout/children", 0, new_component("Switch"))
    cases: Any = "/screens/0/layout/children/0/cases"
    edits.rename(f"{cases}/yes", "no")
    edits.rename("/screens/0", "HELLO")
    assert list(draft.find(cases)) == ["no"]
    assert page.shown == [(False, f"{cases}/no"), (True, "")]
