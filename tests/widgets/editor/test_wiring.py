"""New components are wired to the flow, and removed ones leave nothing dangling."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume
from widgets.screen import enter, part

from chatkit.errors import InputError
from chatkit.flowjson import lint
from chatkit.util.json import get_value
from chatkit.widgets.editor import Editor
from chatkit.widgets.editor.edits import make_flow, with_addition, without_part
from chatkit.widgets.editor.inspector import Inspector
from chatkit.widgets.editor.tree import make_tree_rows

FIRST = "/screens/0/layout/children"


@pytest.fixture
def editor() -> Editor:
    return Editor(make_flow())


def foot(editor: Editor, screen: int) -> dict[str, Any]:
    """Return the action of the Footer of a screen."""
    result = editor.document["screens"][screen]["layout"]["children"][-1]["on-click-action"]
    assert isinstance(result, dict)
    return result


def added(editor: Editor, screen: int, what: str) -> None:
    editor.select(f"/screens/{screen}")
    editor.add(what)


def test_the_answer_to_a_new_input_is_sent(editor: Editor) -> None:
    editor.add("TextInput")
    editor.add("Dropdown")
    sent = {"text_input": "${form.text_input}", "dropdown": "${form.dropdown}"}
    assert foot(editor, 0) == {"name": "complete", "payload": sent}
    assert not editor.lint()
    editor.undo()  # one click of Add is one step
    assert foot(editor, 0)["payload"] == {"text_input": "${form.text_input}"}


def test_a_new_screen_follows_and_goes_on_as_the_one_before_did(editor: Editor) -> None:
    editor.add("TextInput")
    added(editor, 0, "Screen")
    first, second = editor.document["screens"]
    assert foot(editor, 0)["next"] == {"type": "screen", "name": "SCREEN"}
    assert foot(editor, 1) == {
        "name": "complete",
        "payload": {"text_input": "${screen.WELCOME.form.text_input}"},
    }
    assert "terminal" not in first
    assert second["terminal"]
    assert not editor.lint()


def test_an_input_of_an_earlier_screen_is_sent_at_the_end(editor: Editor) -> None:
    added(editor, 0, "Screen")
    added(editor, 0, "DatePicker")
    assert foot(editor, 0)["payload"] == {}
    assert foot(editor, 1)["payload"] == {"date_picker": "${screen.WELCOME.form.date_picker}"}
    assert not editor.lint()


def test_a_screen_between_two_others_is_on_the_way(editor: Editor) -> None:
    added(editor, 0, "Screen")
    added(editor, 0, "Screen")
    ids = [each["id"] for each in editor.document["screens"]]
    assert ids == ["WELCOME", "SCREEN_B", "SCREEN"]
    assert foot(editor, 0)["next"]["name"] == "SCREEN_B"
    assert foot(editor, 1)["next"]["name"] == "SCREEN"
    assert not editor.lint()


def test_with_an_endpoint_the_routes_follow(editor: Editor) -> None:
    editor.set("/data_api_version", "3.0")
    editor.set("/routing_model", {"WELCOME": []})
    added(editor, 0, "Screen")
    assert editor.document["routing_model"] == {"WELCOME": ["SCREEN"], "SCREEN": []}
    assert not editor.lint()


def test_what_is_taken_out_is_not_sent_any_more(editor: Editor) -> None:
    editor.add("TextInput")
    added(editor, 0, "Screen")
    editor.remove(f"{FIRST}/1")
    assert foot(editor, 1)["payload"] == {}
    assert not editor.lint()


def test_that_a_screen_is_terminal_follows_the_action_of_its_footer(editor: Editor) -> None:
    added(editor, 0, "Screen")
    editor.select("/screens/0")
    editor.add("TextInput")
    editor.act(f"{FIRST}/2/on-click-action", "complete")
    assert editor.document["screens"][0]["terminal"]
    assert foot(editor, 0)["payload"] == {}  # it is sent at the other end already
    editor.act(f"{FIRST}/2/on-click-action", "navigate")
    assert "terminal" not in editor.document["screens"][0]


def test_one_click_mends_and_one_takes_that_back(editor: Editor) -> None:
    heading, footer = editor.document["screens"][0]["layout"]["children"]
    town = {"type": "TextInput", "name": "town", "label": "Town"}
    editor.set(FIRST, [heading, town, footer])
    before = editor.document
    (result,) = editor.lint()
    assert result.code == "UNUSED_INPUT"
    editor.fix(0)
    assert foot(editor, 0)["payload"] == {"town": "${form.town}"}
    assert not editor.lint()
    editor.undo()
    assert editor.document == before
    editor.fix()
    assert not editor.lint()


def test_what_is_for_a_person_to_decide_is_not_mended(editor: Editor) -> None:
    editor.set("/screens/0/title", "")
    n = next(n for n, each in enumerate(editor.lint()) if not each.patch)
    with pytest.raises(InputError, match="is yours to decide"):
        editor.fix(n)


def test_the_payload_of_a_footer_is_json(editor: Editor) -> None:
    editor.add("TextInput")
    foot = f"{FIRST}/2"
    editor.select(foot)
    place = f"{foot}/on-click-action/payload"
    field = part(editor, Inspector).fields[place]
    assert field.rows > 1
    enter(editor, field, '{"from": "chat"}')
    assert editor.state.find(place) == {"from": "chat"}
    enter(editor, field, "{")
    assert "is not JSON" in field.problem
    assert editor.state.find(place) == {"from": "chat"}


def names(editor: Editor, pointer: str = FIRST) -> list[str]:
    return [one.get("name", one["type"]) for one in editor.state.find(pointer)]


@pytest.mark.parametrize(
    ("moved", "target", "after", "order"),
    [
        (1, 2, True, ["TextHeading", "dropdown", "text_input", "Footer"]),
        (1, 2, False, ["TextHeading", "text_input", "dropdown", "Footer"]),
        (2, 0, False, ["dropdown", "TextHeading", "text_input", "Footer"]),
        (2, 0, True, ["TextHeading", "dropdown", "text_input", "Footer"]),
        (0, 3, False, ["text_input", "dropdown", "TextHeading", "Footer"]),
    ],
)
def test_a_row_that_is_dropped_stands_before_or_after_the_other(
    editor: Editor, moved: int, target: int, after: bool, order: list[str]
) -> None:
    editor.add("TextInput")
    editor.add("Dropdown")
    kept = editor.state.find(f"{FIRST}/{moved}")
    editor.drop(f"{FIRST}/{moved}", f"{FIRST}/{target}", after=after)
    assert names(editor) == order
    assert editor.state.find(editor.selected) == kept


def test_a_component_can_be_dropped_into_a_branch_of_its_screen_and_out_again(
    editor: Editor,
) -> None:
    editor.add("TextInput")
    editor.add("If")
    branch = f"{FIRST}/2/then"
    editor.drop(f"{FIRST}/0", branch)
    assert names(editor) == ["text_input", "If", "Footer"]
    assert names(editor, f"{FIRST}/1/then") == ["TextBody", "TextHeading"]
    assert editor.selected == f"{FIRST}/1/then/1"
    editor.drop(f"{FIRST}/1/then/1", f"{FIRST}/0", after=False)
    assert names(editor) == ["TextHeading", "text_input", "If", "Footer"]
    with pytest.raises(InputError, match="in its own list, or on its own screen"):
        editor.drop(f"{FIRST}/2", f"{FIRST}/2/then/0")


def test_nothing_is_dropped_on_another_screen(editor: Editor) -> None:
    added(editor, 0, "Screen")
    before = editor.document
    for target in ("/screens/1/layout/children/0", "/screens/1"):
        with pytest.raises(InputError, match="on its own screen"):
            editor.drop(f"{FIRST}/0", target)
    with pytest.raises(InputError, match="There is nothing"):
        editor.drop(f"{FIRST}/0", f"{FIRST}/9")
    assert editor.document == before


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["TextInput", "Dropdown", "TextBody", "Screen", "Screen", "-"]),
        st.integers(0, 5),
        st.integers(0, 5),
    ),
    max_size=8,
)


@settings(max_examples=volume(25, 200))
@given(STEPS)
def test_whatever_is_added_and_removed_the_screen_stays_good(expected: Any) -> None:
    document = make_flow()
    for what, screen, place in expected:
        pointer = f"/screens/{screen % len(document['screens'])}"
        inside = f"{pointer}/layout/children"
        count = len(get_value(document, inside)) - 1
        if what != "-":
            rows = make_tree_rows(document)
            row = next(each for each in rows if each.pointer == pointer)
            document, _ = with_addition(document, row, what)
        elif place < count:
            document = without_part(document, f"{inside}/{place}")
        assert not lint(document), lint(document)
