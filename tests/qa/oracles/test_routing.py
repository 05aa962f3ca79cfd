"""How the screens lead to each other, with an endpoint and without."""

import copy
from typing import Any

import pytest
from oracles.flows.document import check_flow

CODE = "INVALID_ROUTING_MODEL"


def test_without_an_endpoint_the_navigate_actions_are_the_routes(errors: Any) -> None:
    back = {
        "type": "EmbeddedLink",
        "text": "Back",
        "on-click-action": {
            "name": "navigate",
            "next": {"type": "screen", "name": "ASK"},
            "payload": {"greeting": "Hello"},
        },
    }
    assert errors(("screens/1/layout/children/-", back)) == [(CODE, "/screens"), (CODE, "/screens")]


def test_a_screen_nobody_leads_to(sound: dict[str, Any]) -> None:
    lost = copy.deepcopy(sound["screens"][0]) | {"id": "LOST"}
    del lost["layout"]["children"][2]
    sound["screens"].append(lost)
    assert [(one.code, one.pointer) for one in check_flow(sound)] == [(CODE, "/screens/2/id")]
    lost["terminal"] = True
    assert CODE in {one.code for one in check_flow(sound)}
    # an endpoint could send anyone there
    sound |= {"data_api_version": "3.0", "routing_model": {"ASK": ["DONE"]}}
    assert CODE not in {one.code for one in check_flow(sound)}


@pytest.mark.parametrize(
    ("model", "code", "pointer"),
    [
        ({"ASK": ["DONE"], "DONE": []}, None, ""),
        ({"ASK": ["DONE"]}, None, ""),
        ([], "INVALID_PROPERTY_TYPE", "/routing_model"),
        ({"ASK": "DONE"}, "INVALID_PROPERTY_TYPE", "/routing_model/ASK"),
        ({"ASK": [5]}, "INVALID_PROPERTY_TYPE", "/routing_model/ASK"),
        ({"ASK": ["DONE"], "NOWHERE": []}, CODE, "/routing_model/NOWHERE"),
        ({"ASK": ["DONE", "NOWHERE"]}, CODE, "/routing_model/ASK"),
        ({"ASK": []}, CODE, "/screens/0/id"),
        ({"ASK": ["ASK", "DONE"]}, CODE, "/routing_model/ASK"),
        ({"ASK": ["DONE"], "DONE": ["ASK"]}, CODE, "/routing_model/ASK"),
        ({"ASK": ["DONE"], "DONE": ["ASK"]}, CODE, "/screens"),
    ],
)
def test_the_routing_model_of_an_endpoint(
    errors: Any, model: object, code: str | None, pointer: str
) -> None:
    result = errors(("data_api_version", "3.0"), ("routing_model", model))
    assert result == [] if code is None else (code, pointer) in result


def test_a_screen_that_refreshes_may_lead_to_itself(errors: Any) -> None:
    model = ("routing_model", {"ASK": ["ASK", "DONE"]})
    assert errors(("data_api_version", "3.0"), model, ("screens/0/refresh_on_back", True)) == []


def test_a_screen_leads_to_ten_others_at_most(sound: dict[str, Any]) -> None:
    names = [f"DONE_{letter}" for letter in "ABCDEFGHIJK"]
    sound["screens"] += [copy.deepcopy(sound["screens"][1]) | {"id": name} for name in names]
    sound |= {"data_api_version": "3.0", "routing_model": {"ASK": ["DONE", *names[:9]]}}
    assert check_flow(sound) == []
    sound["routing_model"]["ASK"] = ["DONE", *names]
    assert [(one.code, one.pointer) for one in check_flow(sound)] == [(CODE, "/routing_model/ASK")]
