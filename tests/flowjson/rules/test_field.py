"""Rules between the properties of a component: what is let through, and what is only doubted."""

from __future__ import annotations

from typing import Any

import pytest
from flowjson.base import CHILDREN, GO, OPTIONS, PICTURE, errors, flow, footer, told
from flowjson.faults import (
    ALONE,
    BOXES,
    CALENDAR,
    CHIPS,
    DAY,
    DROPDOWN,
    FORM,
    INPUT,
    ITEM,
    LIST,
    RADIO,
    RANGE,
)

from chatkit.flowjson.lint import lint

STAY = {"start-date": "2026-05-01", "end-date": "2026-05-04"}
GOOD: list[tuple[str, dict[str, Any]]] = [
    ("bounds that meet", INPUT | {"min-chars": 3, "max-chars": 3}),
    ("bounds of which one is bound", INPUT | {"min-chars": 3, "max-chars": "${data.n}"}),
    ("a pattern", INPUT | {"pattern": "^a+$", "helper-text": "Only a", "input-type": "passcode"}),
    ("a pattern of plain text", INPUT | {"pattern": "007", "helper-text": "Has 007"}),
    ("captions on both sides", footer(GO) | {"left-caption": "a", "right-caption": "b"}),
    ("a caption in the middle", footer(GO) | {"center-caption": "a"}),
    ("options with pictures", RADIO | {"data-source": [o | {"image": PICTURE} for o in OPTIONS]}),
    ("options with colours", RADIO | {"data-source": [o | {"color": "#abcdef"} for o in OPTIONS]}),
    ("bound options", DROPDOWN | {"data-source": "${data.options}"}),
    ("first choices", BOXES | {"init-value": ["a"]}),
    ("a day in its range", DAY | {"min-date": "2026-05-01", "init-value": "2026-05-01"}),
    ("bound days", DAY | {"min-date": "${data.from}", "max-date": "${data.to}"}),
    ("a stay", RANGE | {"init-value": STAY, "title": "Stay", "min-days": 1, "max-days": 9}),
    ("help for one day of two", RANGE | {"helper-text": {"start-date": "First"}}),
    ("weekdays", CALENDAR | {"include-days": ["Mon", "Fri"]}),
    ("first values", FORM | {"init-values": {"a": "x"}, "error-messages": {"a": "No."}}),
    ("bound first values", FORM | {"init-values": "${data.first}"}),
    ("a bound first value", FORM | {"init-values": {"a": "${data.to}"}}),
    (
        "a number first",
        FORM | {"children": [INPUT | {"input-type": "number"}], "init-values": {"a": 5}},
    ),
]


@pytest.mark.parametrize(("name", "component"), GOOD, ids=[name for name, _ in GOOD])
def test_what_may_be_said_of_a_component(name: str, component: dict[str, Any]) -> None:
    text = {"type": "string", "__example__": "x"}
    option = {"type": "object", "properties": {key: {"type": "string"} for key in ("id", "title")}}
    data = {
        "n": {"type": "number", "__example__": 1},
        "from": text | {"__example__": "2026-01-01"},
        "to": text | {"__example__": "2026-12-31"},
        "first": {"type": "object", "properties": {}, "__example__": {}},
        "options": {"type": "array", "items": option, "__example__": OPTIONS},
    }
    document = flow(component, foot=component["type"] != "Footer", data=data)
    assert errors(document) == []


@pytest.mark.parametrize(
    ("component", "code", "at"),
    [
        (INPUT | {"pattern": "a"}, "INVALID_DEPENDENCIES", ""),
        (CHIPS | {"data-source": OPTIONS[:1]}, "MIN_ITEMS_REQUIRED", "/data-source"),
        (RADIO | {"data-source": [{"id": str(n), "title": "x"} for n in range(21)]},
         "MAX_ITEMS_REQUIRED", "/data-source"),
        (DROPDOWN | {"data-source": [{"id": str(n), "title": "x", "image": PICTURE}
                                     for n in range(101)]}, "MAX_ITEMS_REQUIRED", "/data-source"),
        (RADIO | {"data-source": [OPTIONS[0], OPTIONS[0]]}, "DUPLICATE_OPTION_IDS",
         "/data-source/1/id"),
        (RANGE | {"label": "Stay"}, "INVALID_TYPE", "/label"),
        (INPUT | {"label": "x" * 21}, "TEXT_LONGER_THAN_DOCUMENTED", "/label"),
    ],
)  # fmt: skip
def test_what_is_only_documented_is_a_warning(component: Any, code: str, at: str) -> None:
    assert told(lint(flow(component))) == [("warning", code, f"{CHILDREN}/0{at}")]


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_caption_in_the_middle_stands_alone(side: str) -> None:
    foot = footer(GO) | {"center-caption": "a", f"{side}-caption": "b"}
    at = f"{CHILDREN}/0"
    assert errors(flow(foot, foot=False)) == [
        ("INVALID_DEPENDENCIES", at),
        ("NOT_KEYWORD_SCHEMA_VALIDATION_FAILED", at),
    ]


def test_first_values_are_checked_by_type_from_7_0() -> None:
    form = FORM | {"init-values": {"a": True}}
    at = f"{CHILDREN}/0/init-values"
    assert told(lint(flow(form, version="6.3"))) == [("warning", "INVALID_PROPERTY_VALUE", at)]
    assert told(lint(flow(form))) == [("error", "INVALID_PROPERTY_VALUE", at)]


def test_a_list_has_its_action_on_every_item_or_on_itself() -> None:
    bare = {key: value for key, value in LIST.items() if key != "on-click-action"}
    every = bare | {"list-items": [ITEM | {"on-click-action": GO}]}
    assert errors(flow(every, **ALONE)) == []
    some = bare | {"list-items": [ITEM | {"on-click-action": GO}, ITEM | {"id": "2"}]}
    at = f"{CHILDREN}/0/list-items/1/on-click-action"
    assert errors(flow(some, **ALONE)) == [("MISSING_REQUIRED_PROPERTY", at)]


def test_both_ends_of_a_range_that_is_upside_down_are_told() -> None:
    days = DAY | {"min-date": "2026-05-02", "max-date": "2026-05-01"}
    at = [f"{CHILDREN}/0/{key}" for key in ("max-date", "min-date")]
    assert sorted(errors(flow(days))) == [("INVALID_DATE_RANGE", each) for each in at]


def test_a_range_of_which_one_end_is_not_known_is_not_upside_down() -> None:
    for end in ({}, {"end-date": "${data.day}"}):
        some = RANGE | {"init-value": {"start-date": "2026-05-04"} | end}
        assert "INVALID_DATE_RANGE" not in [code for code, _ in errors(flow(some))]
