from __future__ import annotations

from typing import Any

import pytest
from screens import body, doubts, errors, flow, foot, good, last, screen, to

from chatkit.flowjson.lint import lint
from chatkit.flowjson.nodes import read_nodes
from chatkit.flowjson.rules.routing import routes, stated

CODE = "INVALID_ROUTING_MODEL"


def served(model: Any, *screens: Any, version: str = "7.3") -> dict[str, Any]:
    """Make a flow with an endpoint and a routing model."""
    return flow(*screens, version=version, data_api_version="3.0", routing_model=model)


def three(model: Any, version: str = "7.3") -> dict[str, Any]:
    asking = [screen(name, foot("data_exchange")) for name in ("ONE", "TWO")]
    return served(model, *asking, last(name="END"), version=version)


GOOD = {"ONE": ["TWO"], "TWO": ["END"], "END": []}


def test_good_ways_have_no_finding() -> None:
    assert errors("routing", good()) == []
    assert errors("routing", three(GOOD)) == []
    assert errors("routing", flow(last())) == []


def test_a_flow_without_a_routing_model_states_no_ways() -> None:
    assert stated(read_nodes(flow(last()))) == {}


def test_a_terminal_screen_may_be_left_out_of_the_model() -> None:
    assert errors("routing", three({"ONE": ["TWO"], "TWO": []})) == []


@pytest.mark.parametrize(
    ("model", "at"),
    [
        ({"ONE": ["TWO"], "TWO": ["END"], "NO": [], "END": []}, "/routing_model/NO"),
        ({"ONE": ["TWO", "NO"], "TWO": ["END"]}, "/routing_model/ONE/1"),
        ({"ONE": ["TWO", "ONE"], "TWO": ["END"]}, "/routing_model/ONE"),
        ({"ONE": ["TWO"], "TWO": ["ONE", "END"]}, "/routing_model/TWO/0"),
        ({"ONE": ["END"], "END": []}, "/screens/1/id"),
        ({"ONE": ["TWO"], "TWO": ["END"], "END": ["ONE"]}, "/routing_model"),
        ({"ONE": ["END"], "TWO": [], "END": []}, "/screens/1/id"),
    ],
    ids=["key", "target", "itself", "backward", "missing", "no entry", "not connected"],
)
def test_a_broken_model_is_told_at_its_place(model: Any, at: str) -> None:
    assert (CODE, at) in errors("routing", three(model))


def test_an_endpoint_needs_a_model() -> None:
    document = good(data_api_version="3.0")
    assert errors("routing", document) == [("MISSING_REQUIRED_PROPERTY", "/routing_model")]


@pytest.mark.parametrize(
    ("model", "at"),
    [({"ONE": "TWO"}, "/routing_model/ONE"), ({"ONE": [1]}, "/routing_model/ONE/0")],
)
def test_a_model_of_the_wrong_shape_is_told(model: Any, at: str) -> None:
    assert ("INVALID_PROPERTY_TYPE", at) in errors("routing", three(model))


def test_a_navigate_action_needs_its_route() -> None:
    screens = good()["screens"]
    assert (CODE, "/screens/0/id") in errors("routing", served({"ASK": [], "DONE": []}, *screens))
    assert errors("routing", served({"ASK": ["DONE"], "DONE": []}, *screens)) == []


def test_of_a_screen_that_navigates_to_itself_no_missing_route_is_told() -> None:
    """It is refused at its action; a route to itself would be wrong, too."""
    again = {
        "type": "EmbeddedLink",
        "text": "Again",
        "on-click-action": to("ASK")["on-click-action"],
    }
    first = screen("ASK", foot("data_exchange"), again)
    model = {"ASK": ["DONE"], "DONE": []}
    assert errors("routing", served(model, first, last(), version="7.2")) == []


def test_going_back_needs_no_route_of_its_own() -> None:
    first = screen("ASK", foot("data_exchange"))
    back = {"type": "EmbeddedLink", "text": "Back", "on-click-action": to("ASK")["on-click-action"]}
    document = served({"ASK": ["DONE"]}, first, last(back), version="7.2")
    assert errors("routing", document) == []


def test_from_7_3_navigate_counts_when_the_entry_is_sought() -> None:
    first = screen("ASK", foot("data_exchange"))
    back = {"type": "EmbeddedLink", "text": "Back", "on-click-action": to("ASK")["on-click-action"]}
    document = served({"ASK": ["DONE"]}, first, last(back))
    assert errors("routing", document) == [(CODE, "/routing_model")]


def test_a_longer_ring_is_a_doubt_and_named_by_one_of_its_screens() -> None:
    ring = {"ONE": ["TWO"], "TWO": ["MID"], "MID": ["END", "LOW"], "LOW": ["TWO"], "END": []}
    screens = [screen(name, foot("data_exchange")) for name in ("ONE", "TWO", "MID", "LOW")]
    told = doubts("routing", served(ring, *screens, last(name="END")))
    assert len(told) == 1
    assert told[0][1] in ("/routing_model/TWO", "/routing_model/MID", "/routing_model/LOW")


def test_a_terminal_screen_only_the_endpoint_knows_is_a_doubt() -> None:
    document = served(GOOD | {"LOST": []}, *three(GOOD)["screens"], last(name="LOST"))
    assert errors("routing", document) == []
    assert doubts("routing", document) == [(CODE, "/screens/3/id")]


def test_without_endpoint_no_entry_is_told_at_the_screens() -> None:
    back = {"type": "EmbeddedLink", "text": "Back", "on-click-action": to("ASK")["on-click-action"]}
    document = flow(screen("ASK", to("DONE")), last(back))
    assert errors("routing", document) == [(CODE, "/screens")]


def test_without_endpoint_a_screen_nobody_navigates_to_is_told() -> None:
    document = flow(screen("ASK", to("DONE")), last(), screen("LOST", body()))
    assert errors("routing", document) == [(CODE, "/screens/2/id")]


def test_screens_may_stand_in_any_order() -> None:
    """What is connected is so whichever screen comes first in the document."""
    screens = [last(name="END"), screen("TWO", foot("data_exchange"))]
    screens.append(screen("ONE", foot("data_exchange")))
    assert errors("routing", served(GOOD, *screens)) == []
    assert (
        errors("routing", flow(last(), screen("MID", to("DONE")), screen("ASK", to("MID")))) == []
    )


def test_a_screen_apart_is_told_wherever_the_entry_stands() -> None:
    document = flow(last(), screen("LOST", body()), screen("ASK", to("DONE")))
    assert errors("routing", document) == [(CODE, "/screens/1/id")]


@pytest.mark.parametrize("count", [10, 11])
def test_at_most_ten_branches(count: int) -> None:
    names = [f"S_{chr(65 + each)}" for each in range(count)]
    links = [to(name) for name in names]
    document = flow(screen("ASK", *links), *(last(name=name) for name in names))
    stated = served({"ASK": names}, screen("ASK", body()), *(last(name=name) for name in names))
    assert errors("routing", document) == ([(CODE, "/screens/0")] if count > 10 else [])
    assert errors("routing", stated) == ([(CODE, "/routing_model/ASK")] if count > 10 else [])


def test_a_navigation_list_leads_everywhere() -> None:
    listing = {"type": "NavigationList", "name": "l", "list-items": "${data.items}"}
    assert errors("routing", flow(screen("ASK", listing), last(), last(name="OTHER"))) == []


def test_a_screen_with_a_navigation_list_states_no_routes() -> None:
    action = to("END")["on-click-action"]
    listing = {"type": "NavigationList", "name": "l", "list-items": [], "on-click-action": action}
    screens = (screen("ONE", listing), screen("TWO", foot("data_exchange")), last(name="END"))
    assert errors("routing", served({"ONE": ["TWO"], "TWO": ["END"]}, *screens)) == []


def test_routes_are_the_model_or_what_navigate_makes_of_it() -> None:
    assert routes(read_nodes(good())) == {"ASK": ["DONE"], "DONE": []}
    assert routes(read_nodes(three(GOOD))) == GOOD


def test_what_only_follows_a_ring_is_not_said_to_lead_back_to_itself() -> None:
    """AFTER comes first in the routing model, and is left when all that leads to it is a ring."""
    ring = {"AFTER": [], "ONE": ["TWO"], "TWO": ["MID"], "MID": ["LOW"], "LOW": ["TWO", "AFTER"]}
    screens = [screen(name, foot("data_exchange")) for name in ("ONE", "TWO", "MID", "LOW")]
    told = [at for _, at in doubts("routing", served(ring, *screens, last(name="AFTER")))]
    assert set(told) <= {"/routing_model/TWO", "/routing_model/MID", "/routing_model/LOW"} and told


def test_a_fix_adds_a_missing_line_with_all_its_routes() -> None:
    tap = [to("TWO"), to("END") | {"type": "EmbeddedLink", "text": "End"}]
    document = served(
        {"TWO": ["END"]}, screen("ONE", *tap), screen("TWO", foot()), last(name="END")
    )
    assert lint(document).fix()["routing_model"]["ONE"] == ["TWO", "END"]
