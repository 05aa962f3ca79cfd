from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from screens import (
    alone,
    body,
    doubts,
    entry,
    errors,
    field,
    findings,
    flow,
    foot,
    good,
    last,
    screen,
    to,
)

AT = "/screens/0/layout/children/0"
CLICK = f"{AT}/on-click-action"
KEY, MISSING, TYPE = "INVALID_PROPERTY_KEY", "MISSING_REQUIRED_PROPERTY", "INVALID_PROPERTY_TYPE"
ENUM, NOT = "INVALID_ENUM_VALUE", "NOT_KEYWORD_SCHEMA_VALIDATION_FAILED"
NEXT = "INVALID_NAVIGATE_ACTION_NEXT_SCREEN_NAME"
OPTIONS = [{"id": "a", "title": "A"}]
UPDATE = {"name": "update_data", "payload": {"x": "new"}}


def link(action: Any, kind: str = "EmbeddedLink") -> dict[str, Any]:
    return {"type": kind, "text": "More", "label": "More", "name": "l", "on-click-action": action}


def choice(kind: str = "Dropdown", options: Any = None, **actions: Any) -> dict[str, Any]:
    keyed = {key.replace("_", "-"): value for key, value in actions.items()}
    return {"type": kind, "name": "c", "label": "C", "data-source": options or OPTIONS, **keyed}


def served(*children: Any, version: str = "7.3") -> dict[str, Any]:
    """Put components on the first of two screens of a flow with an endpoint."""
    first = screen("ASK", *children, data={"x": field()})
    model = {"ASK": ["DONE"], "DONE": []}
    return flow(first, last(), version=version, data_api_version="3.0", routing_model=model)


MOVE = {"name": "navigate", "next": {"type": "screen", "name": "DONE"}, "payload": {}}


@pytest.mark.parametrize(
    "component",
    [
        link(MOVE),
        link({"name": "data_exchange"}),
        link({"name": "open_url", "url": "https://example.com/a?b=c"}),
        link({"name": "open_url", "url": "${data.x}"}),
        link({"name": "open_url", "url": "https://example.com"}, "OptIn"),
        choice(on_select_action={"name": "data_exchange", "payload": {}}),
        choice(on_select_action=UPDATE, on_unselect_action=UPDATE),
        choice(options=[OPTIONS[0] | {"on-select-action": UPDATE}]),
        {
            "type": "DatePicker",
            "name": "d",
            "label": "D",
            "on-select-action": {"name": "data_exchange"},
        },
        link({"name": "navigate", "next": {"type": "screen", "name": "${data.x}"}}),
        link({"name": "navigate", "next": {"type": "screen", "name": "`${data.x}`"}}),
        link({"name": "open_url", "url": "`'https://' ${data.x}`"}),
        {"type": "Odd", "on-click-action": MOVE},
        choice("Odd", options=[OPTIONS[0] | {"on-select-action": UPDATE}]),
        {"type": "OptIn", "name": "o", "label": "O", "on-unselect-action": UPDATE},
    ],
)
def test_a_good_action_has_no_finding(component: dict[str, Any]) -> None:
    assert errors("action", served(component)) == doubts("action", served(component)) == []


def test_a_value_that_json_does_not_have_is_of_no_known_type() -> None:
    [finding] = findings("action", alone(link(MOVE | {"name": date(2026, 1, 1)})))
    assert (finding.code, finding.pointer) == (TYPE, f"{CLICK}/name")
    assert finding.message == "The name of an action must be of type string, not unknown."


@pytest.mark.parametrize(
    ("component", "code", "below"),
    [
        (link({"name": "complete"}), ENUM, "on-click-action/name"),
        (link({"name": "update_data", "payload": {}}), ENUM, "on-click-action/name"),
        (link({"name": "jump"}), ENUM, "on-click-action/name"),
        (foot("open_url", url="https://example.com"), ENUM, "on-click-action/name"),
        (link({"name": "complete"}, "NavigationList"), ENUM, "on-click-action/name"),
        (choice(on_select_action=MOVE), ENUM, "on-select-action/name"),
        (
            choice("CalendarPicker", on_select_action=UPDATE),
            ENUM,
            "on-select-action/name",
        ),
        (choice(on_unselect_action={"name": "data_exchange"}), ENUM, "on-unselect-action/name"),
        (
            choice(options=[OPTIONS[0] | {"on-select-action": {"name": "data_exchange"}}]),
            ENUM,
            "data-source/0/on-select-action/name",
        ),
        (link({"payload": {}}), MISSING, "on-click-action/name"),
        (link({"name": 5}), TYPE, "on-click-action/name"),
        (link({"name": "navigate", "payload": {}}), MISSING, "on-click-action/next"),
        (link(MOVE | {"next": "DONE"}), TYPE, "on-click-action/next"),
        (link(MOVE | {"next": None}), TYPE, "on-click-action/next"),
        (link(MOVE | {"next": {"type": "screen"}}), MISSING, "on-click-action/next/name"),
        (link(MOVE | {"next": {"name": "DONE"}}), MISSING, "on-click-action/next/type"),
        (link(MOVE | {"next": MOVE["next"] | {"a": 1}}), KEY, "on-click-action/next/a"),
        (link(MOVE | {"next": {"type": 1, "name": "DONE"}}), TYPE, "on-click-action/next/type"),
        (
            link(MOVE | {"next": {"type": "screen", "name": "NO"}}),
            NEXT,
            "on-click-action/next/name",
        ),
        (
            link(MOVE | {"next": {"type": "screen", "name": "ASK"}}),
            NEXT,
            "on-click-action/next/name",
        ),
        (link(MOVE | {"payload": "x"}), TYPE, "on-click-action/payload"),
        (link(MOVE | {"extra": 1}), KEY, "on-click-action/extra"),
        (link(MOVE | {"url": "https://example.com"}), NOT, "on-click-action/url"),
        (link({"name": "data_exchange", "next": MOVE["next"]}), NOT, "on-click-action/next"),
        (
            link({"name": "open_url", "url": "https://example.com", "payload": {}}),
            NOT,
            "on-click-action/payload",
        ),
        (link({"name": "open_url"}), MISSING, "on-click-action/url"),
        (link({"name": "open_url", "url": 5}), TYPE, "on-click-action/url"),
        (
            link({"name": "open_url", "url": "my page"}),
            "INVALID_PROPERTY_VALUE_FORMAT",
            "on-click-action/url",
        ),
        (choice(on_select_action={"name": "update_data"}), MISSING, "on-select-action/payload"),
        (
            choice(on_select_action={"name": "data_exchange", "next": MOVE["next"]}),
            KEY,
            "on-select-action/next",
        ),
        (
            choice(
                options=[OPTIONS[0] | {"on-select-action": UPDATE}],
                on_select_action={"name": "data_exchange"},
            ),
            "INVALID_UPDATE_DATA_ACTION_PAYLOAD",
            "data-source/0/on-select-action",
        ),
    ],
)
def test_a_broken_action_is_told_at_its_place(
    component: dict[str, Any], code: str, below: str
) -> None:
    assert errors("action", served(component)) == [(code, f"{AT}/{below}")]
    assert doubts("action", served(component)) == []


@pytest.mark.parametrize(
    ("component", "below"),
    [
        (choice(on_select_action=UPDATE), "on-select-action"),
        (link({"name": "open_url", "url": "https://example.com"}), "on-click-action"),
        (link({"name": "open_url", "url": "https://example.com"}, "Odd"), "on-click-action"),
    ],
)
def test_an_action_newer_than_the_version_is_refused(component: dict[str, Any], below: str) -> None:
    assert (ENUM, f"{AT}/{below}/name") in errors("action", served(component, version="5.1"))
    assert errors("action", served(component, version="6.0")) == []


@pytest.mark.parametrize(
    ("action", "version", "said"),
    [
        (
            UPDATE,
            "5.1",
            "update_data cannot stand in on-select-action here: it is known from version 6.0.",
        ),
        (UPDATE, "6.0", ""),
        (MOVE, "6.0", "navigate cannot stand in on-select-action here."),
        (
            {"name": "open_url", "url": "https://a.example"},
            "6.0",
            "open_url cannot stand in on-select-action here.",
        ),
        ({"name": "jump"}, "5.1", "jump cannot stand in on-select-action here."),
    ],
)
def test_why_an_action_is_refused_is_its_version_only_if_a_later_one_knows_it(
    action: dict[str, Any], version: str, said: str
) -> None:
    document = served(choice(on_select_action=action), version=version)
    found = [each for each in findings("action", document) if each.code == ENUM]
    assert [each.message for each in found] == [said] * bool(said)
    allowed = "data_exchange, update_data" if version == "6.0" else "data_exchange"
    assert {each.hint for each in found} <= {f"Use one of: {allowed}."}


def test_of_an_action_in_a_property_that_a_later_version_brings_nothing_more_is_told() -> None:
    early = choice(on_unselect_action={"name": "data_exchange"})
    assert errors("action", served(early, version="5.1")) == []
    assert errors("action", served(early, version="6.0")) == [
        (ENUM, f"{AT}/on-unselect-action/name")
    ]


def test_url_is_unknown_before_version_6() -> None:
    act = {"name": "data_exchange", "url": "https://example.com"}
    assert (KEY, f"{CLICK}/url") in errors("action", served(link(act), version="5.1"))


@pytest.mark.parametrize("version", ["5.1", "6.0", "7.3"])
def test_complete_stands_on_a_terminal_screen_only(version: str) -> None:
    document = flow(screen("ASK", foot("complete")), last(), version=version)
    assert errors("action", document) == [("INVALID_COMPLETE_ACTION", f"{CLICK}/name")]
    assert errors("action", alone(version=version)) == []
    odd = flow(screen("ASK", foot("complete") | {"type": "Odd"}), last(), version=version)
    assert errors("action", odd) == [("INVALID_COMPLETE_ACTION", f"{CLICK}/name")]


def test_data_exchange_needs_an_endpoint_and_this_is_told_once() -> None:
    document = flow(screen("ASK", link({"name": "data_exchange"}), foot("data_exchange")), last())
    [told] = findings("action", document)
    assert (told.severity, told.code, told.pointer) == ("error", MISSING, "/data_api_version")
    assert told.message.startswith(f"data_exchange ({CLICK}) asks an endpoint")


@pytest.mark.parametrize(("version", "wrong"), [("7.3", True), ("7.2", False)])
def test_the_footer_of_a_terminal_screen_ends_the_flow(version: str, wrong: bool) -> None:
    first = screen("ASK", to("DONE"))
    document = flow(first, screen("DONE", to("ASK"), terminal=True), version=version)
    told = [("INVALID_PROPERTY_VALUE", "/screens/1/layout/children/0/on-click-action/name")]
    assert errors("action", document) == (told if wrong else [])
    assert doubts("action", document) == ([] if wrong else told)


def test_each_terminal_screen_is_told_of_its_footer() -> None:
    bare = screen("BARE", terminal=True)
    ends = [last(name="GOOD"), bare, screen("BAD", to("GOOD"), terminal=True)]
    at = "/screens/3/layout/children/0/on-click-action/name"
    found = errors("action", flow(screen("ASK", to("GOOD")), *ends))
    assert found == [("INVALID_PROPERTY_VALUE", at)]


def test_a_footer_whose_action_has_no_name_is_told_of_that_alone() -> None:
    nameless = foot() | {"on-click-action": {"payload": {}}}
    at = "/screens/1/layout/children/0/on-click-action/name"
    document = flow(screen("ASK", to("DONE")), screen("DONE", nameless, terminal=True))
    assert errors("action", document) == [(MISSING, at)]


def test_a_terminal_footer_may_ask_the_endpoint() -> None:
    model = {"ASK": ["DONE"], "DONE": []}
    first = screen("ASK", foot("data_exchange"))
    ending = screen("DONE", foot("data_exchange"), terminal=True)
    document = flow(first, ending, data_api_version="3.0", routing_model=model)
    assert errors("action", document) == []


def test_the_first_footer_of_branches_counts() -> None:
    ending = foot("complete")
    branch = {"type": "If", "condition": "${data.a}", "then": [ending], "else": [to("ASK")]}
    document = flow(screen("ASK", to("DONE")), screen("DONE", branch, terminal=True))
    assert errors("action", document) == []


def test_an_action_on_a_list_and_on_its_options_is_told_once() -> None:
    options = [{"id": each, "title": each, "on-select-action": UPDATE} for each in "ab"]
    told = errors("action", served(choice(options=options, on_select_action=UPDATE)))
    at = f"{AT}/data-source/0/on-select-action"
    assert told == [("INVALID_UPDATE_DATA_ACTION_PAYLOAD", at)]
    single = choice(options=options)
    both = choice(options=options, on_select_action=UPDATE) | {"name": "d"}
    told = errors("action", served(link(MOVE), single, both))
    assert told == [("INVALID_UPDATE_DATA_ACTION_PAYLOAD", at.replace("children/0", "children/2"))]


@pytest.mark.parametrize(
    "action",
    [
        {"name": "open_url", "url": "http://example.com"},
        MOVE | {"next": {"type": "page", "name": "DONE"}},
    ],
)
def test_what_is_not_documented_is_a_doubt(action: dict[str, Any]) -> None:
    document = served(link(action))
    assert errors("action", document) == []
    assert len(doubts("action", document)) == 1


def test_the_good_document_has_no_finding() -> None:
    for version in ("2.1", "4.0", "5.1", "6.3", "7.3"):
        assert errors("action", good(version)) == doubts("action", good(version)) == []
    assert errors("action", alone(entry(), body())) == []
