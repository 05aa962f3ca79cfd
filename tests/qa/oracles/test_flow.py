"""Nesting, types and names of components, as they are found while a document is read."""

from typing import Any

import pytest

CHILDREN = "screens/0/layout/children"
FIRST = "/screens/0/layout/children/0"
TEXT = {"type": "TextBody", "text": "More"}
FOOTER = {"type": "Footer", "label": "Send", "on-click-action": {"name": "complete"}}


def when(*then: object, **more: object) -> dict[str, Any]:
    return {"type": "If", "condition": "${form.bike} == 'x'", "then": list(then), **more}


@pytest.mark.parametrize(
    ("child", "code", "pointer"),
    [
        ("text", "INVALID_PROPERTY_TYPE", FIRST),
        ({"text": "More"}, "MISSING_REQUIRED_TYPE_PROPERTY", f"{FIRST}/type"),
        ({"type": "Carousel"}, "INVALID_PROPERTY_VALUE", f"{FIRST}/type"),
        ({"type": ["TextBody"]}, "INVALID_PROPERTY_VALUE", f"{FIRST}/type"),
        (when(), "INVALID_PROPERTY_VALUE", f"{FIRST}/then"),
        (when(FOOTER), "MISSING_FOOTER_IN_IF_ELSE_BRANCHES", FIRST),
        (
            when({"type": "RichText", "text": "x"}),
            "INVALID_PROPERTY_VALUE",
            f"{FIRST}/then/0/type",
        ),
        (when(TEXT, **{"else": [FOOTER]}), "MISSING_FOOTER_IN_IF_ELSE_BRANCHES", FIRST),
        (when(FOOTER, **{"else": [FOOTER]}), "MORE_THAN_ONE_FOOTER", "/screens/0"),
        (when(when(when(when(TEXT)))), "MAXIMUM_IF_NESTING", f"{FIRST}/then/0/then/0/then/0"),
        (
            {"type": "Switch", "value": "${form.bike}", "cases": {}},
            "INVALID_PROPERTY_VALUE",
            f"{FIRST}/cases",
        ),
        (
            {"type": "Switch", "value": "${form.bike}", "cases": {"1a": []}},
            "PROPERTY_NAME_MISMATCH",
            f"{FIRST}/cases/1a",
        ),
        (
            {"type": "Switch", "value": "${form.bike}", "cases": {"a": [FOOTER], "b": []}},
            "MISSING_FOOTER_IN_SWITCH_BRANCHES",
            FIRST,
        ),
        (
            {"type": "Switch", "value": "bike", "cases": {"a": []}},
            "PATTERN_MISMATCH",
            f"{FIRST}/value",
        ),
        (
            {"type": "TextInput", "name": "bike", "label": "Again"},
            "DUPLICATE_FORM_COMPONENT_NAMES",
            "/screens/0/layout/children/2/name",
        ),
        (
            {"type": "Form", "name": "f", "children": [{"type": "RichText", "text": "x"}]},
            "INVALID_PROPERTY_VALUE",
            f"{FIRST}/children/0/type",
        ),
    ],
)
def test_a_broken_rule_of_nesting(errors: Any, child: object, code: str, pointer: str) -> None:
    assert (code, pointer) in errors((f"{CHILDREN}/-", child))


def test_three_levels_of_if_are_fine(errors: Any) -> None:
    assert errors((f"{CHILDREN}/-", when(when(when(TEXT))))) == []


def test_a_footer_in_every_branch_is_one_footer(errors: Any) -> None:
    branches = when(FOOTER, **{"else": [FOOTER]})
    assert errors(("screens/1/layout/children/1", branches)) == [
        ("INVALID_SCREEN_DYNAMIC_DATA", "/screens/1/layout/children/1/condition")
    ]
    branches["condition"] = "${data.bike} == 'x'"
    assert errors(("screens/1/layout/children/1", branches)) == []


def test_of_the_branches_the_fullest_counts(errors: Any) -> None:
    image = {"type": "Image", "src": "AAAA"}
    assert errors((f"{CHILDREN}/-", when(image, image, **{"else": [image, image, image]}))) == []
    assert errors((f"{CHILDREN}/-", when(image, image, image, image))) == [
        ("COMPONENT_TYPE_MAX_NUMBER_PER_SCREEN", "/screens/0")
    ]


@pytest.mark.parametrize(
    ("version", "kind"),
    [("6.0", "CalendarPicker"), ("6.2", "ChipsSelector"), ("7.0", "ImageCarousel")],
)
def test_a_component_is_refused_before_its_version(errors: Any, version: str, kind: str) -> None:
    result = errors(("version", version), (f"{CHILDREN}/-", {"type": kind}))
    assert ("INVALID_PROPERTY_VALUE", f"{FIRST}/type") in result


def test_chips_stand_in_branches_since_7_1(errors: Any) -> None:
    options = [{"id": "a", "title": "A"}, {"id": "b", "title": "B"}]
    chips = {"type": "ChipsSelector", "name": "c", "label": "C", "data-source": options}
    child = (f"{CHILDREN}/-", when(chips))
    assert errors(child, ("version", "7.1")) == []
    assert ("INVALID_PROPERTY_VALUE", f"{FIRST}/then/0/type") in errors(child, ("version", "7.0"))


def test_a_second_screen_of_one_id_points_to_the_first(errors: Any) -> None:
    assert ("DUPLICATE_SCREEN_IDS", "/screens/0/id") in errors(("screens/1/id", "ASK"))
