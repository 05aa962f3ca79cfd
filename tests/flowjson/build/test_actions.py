"""Actions as objects, and what a payload refers to."""

from __future__ import annotations

import pytest

from chatkit.errors import InputError
from chatkit.flowjson import (
    Complete,
    DataExchange,
    Flow,
    Footer,
    If,
    Navigate,
    OpenUrl,
    Screen,
    TextBody,
    TextInput,
    UpdateData,
)
from chatkit.flowjson.build.piece import Action
from chatkit.flowjson.components import ACTIONS


def test_each_action_of_the_table_has_its_class() -> None:
    assert Action.kinds.keys() == ACTIONS.keys()
    for name, made in Action.kinds.items():
        assert made.constants == {"name": name}


def test_actions_are_written_as_the_platform_wants_them() -> None:
    assert Navigate("B", {"x": 1}).to_json() == {
        "name": "navigate",
        "next": {"type": "screen", "name": "B"},
        "payload": {"x": 1},
    }
    assert Complete().to_json() == {"name": "complete"}
    assert DataExchange({}).to_json() == {"name": "data_exchange", "payload": {}}
    assert UpdateData({"x": True}).to_json() == {"name": "update_data", "payload": {"x": True}}
    assert OpenUrl("https://x.example").to_json() == {
        "name": "open_url",
        "url": "https://x.example",
    }


def test_a_screen_is_named_by_itself() -> None:
    assert Navigate(Screen("B", "B", [])).next == "B"


def test_the_object_around_a_target_is_kept_as_it_was() -> None:
    raw = {"next": {"name": "B", "type": "plugin", "x": 1}, "name": "navigate"}
    action = Action.read(raw)
    assert isinstance(action, Navigate)
    action.next = "C"
    raw["next"]["name"] = "C"  # type: ignore[index]
    assert str(action.to_json()) == str(raw)


def test_an_unknown_action_stays_the_dict_it_is() -> None:
    for raw in ({"name": "jump"}, {"name": []}, {}):
        assert Action.read(raw) is raw
        assert Footer.read({"on-click-action": raw}).on_click_action is raw  # type: ignore[union-attr]


def test_an_input_in_a_payload_is_what_a_person_enters_wherever_it_stands() -> None:
    here, present = TextInput("here", "Here"), TextInput("there", "There")
    footer = Footer("Go", Complete({"a": here, "b": present, "c": "text"}))
    first, last = Screen("A", "A", [present]), Screen("B", "B", [here, footer])
    written = Flow([first, last]).to_json()["screens"][1]["layout"]["children"][1]
    assert written["on-click-action"]["payload"] == {
        "a": "${form.here}",
        "b": "${screen.A.form.there}",
        "c": "text",
    }
    assert footer.to_json()["on-click-action"]["payload"]["b"] == "${form.there}"  # on its own


def test_a_component_that_stands_on_two_screens_is_refused() -> None:
    name = TextInput("n", "Name")
    screens = [Screen("A", "A", [name]), Screen("B", "B", [If("${data.x}", [name])])]
    with pytest.raises(InputError, match="One TextInput object stands on two screens, A and B"):
        Flow(screens)
    flow = Flow(screens[:1])
    flow.screens.append(screens[1])
    with pytest.raises(InputError, match="two screens"):
        flow.to_json()


def test_an_input_in_a_text_is_the_reference_to_it() -> None:
    name = TextInput("n", "Name")
    assert f"Hello {name}" == "Hello " + str(name) == "Hello ${form.n}"
    assert repr(name) == 'TextInput("n", "Name")'


def test_what_is_no_input_has_no_place_in_a_text() -> None:
    body = TextBody("x")
    with pytest.raises(InputError, match="A TextBody is not an input"):
        f"Hello {body}"
    assert str(body) == repr(body)


@pytest.mark.parametrize("value", [object(), TextBody("x"), {1: 2}, [object()], {"x": {2}}])
def test_a_payload_holds_json_and_inputs_only(value: object) -> None:
    with pytest.raises(InputError, match="payload"):
        Complete({"x": value})


@pytest.mark.parametrize("target", [None, 5, object()])
def test_navigate_needs_a_screen(target: object) -> None:
    with pytest.raises(InputError, match="must be a screen or its id"):
        Navigate(target)  # type: ignore[arg-type]
