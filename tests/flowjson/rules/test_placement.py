"""Where components stand: what is let through. What is refused stands in faults.py."""

from __future__ import annotations

from typing import Any

import pytest
from flowjson.base import CHILDREN, GO, PICTURE, errors, flow, footer, told
from flowjson.faults import (
    ALONE,
    CALENDAR,
    CAROUSEL,
    CHIPS,
    FORM,
    IF,
    IMAGE,
    INPUT,
    LINK,
    LIST,
    OPT_IN,
    PHOTO,
    RICH,
    SWITCH,
    TEXT,
)

from chatkit.flowjson.components import COMPONENTS
from chatkit.flowjson.lint import lint

GOOD: list[tuple[str, dict[str, Any]]] = [
    ("a Form and a text beside it", flow(TEXT, FORM)),
    ("a Form and its Footer inside", flow(FORM | {"children": [INPUT, footer(GO)]}, foot=False)),
    ("five ticks", flow(*[OPT_IN | {"name": f"t{n}"} for n in range(5)])),
    ("two links and three images", flow(*[LINK] * 2, *[IMAGE] * 3)),
    (
        "six images of which three are seen",
        flow(INPUT, IF | {"then": [IMAGE] * 3, "else": [IMAGE] * 3}),
    ),
    (
        "a Footer in both branches",
        flow(INPUT, IF | {"then": [footer(GO)], "else": [footer(GO)]}, foot=False),
    ),
    (
        "a Footer in every case",
        flow(INPUT, SWITCH | {"cases": {"a": [footer(GO)], "b": [footer(GO)]}}, foot=False),
    ),
    ("three If", flow(INPUT, IF | {"then": [IF | {"then": [IF]}]})),
    ("a Switch in an If", flow(INPUT, IF | {"then": [SWITCH]})),
    ("chips in an If", flow(INPUT, IF | {"then": [CHIPS | {"name": "b"}]})),
    ("RichText and a Footer", flow(RICH)),
    ("RichText alone in 5.1", flow(RICH, version="5.1", foot=False)),
    ("a NavigationList alone", flow(LIST, **ALONE)),
    ("two lists in a Form", flow(FORM | {"children": [LIST, LIST | {"name": "m"}]}, **ALONE)),
    ("two carousels", flow(CAROUSEL, CAROUSEL)),
    ("photos in a Form", flow(FORM | {"children": [PHOTO]})),
    ("a Form with the name of its input", flow(FORM | {"name": "a"})),
    ("two Forms before 7.0", flow(FORM, FORM | {"name": "b", "children": []}, version="6.3")),
]


@pytest.mark.parametrize(("name", "document"), GOOD, ids=[name for name, _ in GOOD])
def test_what_may_stand_together(name: str, document: dict[str, Any]) -> None:
    found = [each for each in errors(document) if each[0] != "INVALID_ROUTING_MODEL"]
    assert found == []  # a screen without Footer leads nowhere, which is another rule


def test_every_component_may_stand_on_a_screen() -> None:
    filled: dict[str, Any] = {
        "text": "x", "name": "a", "label": "A", "src": PICTURE, "images": CAROUSEL["images"],
        "data-source": CHIPS["data-source"], "on-click-action": GO, "children": [],
        "list-items": LIST["list-items"], "condition": "${form.q} == 'x'", "then": [TEXT],
        "value": "${form.q}", "cases": {"x": [TEXT]},
    }  # fmt: skip
    question = INPUT | {"name": "q"}
    for name, shape in COMPONENTS.items():
        needed = {
            p.name: filled[p.name] for p in shape.properties if p.required and p.name in filled
        }
        others = [] if name in ("NavigationList", "RichText", "Form") else [question]
        if name == "NavigationList":
            needed["on-click-action"] = GO
        document = flow(
            *others, {"type": name} | needed, foot=name not in ("NavigationList", "Footer")
        )
        found = [each for each in errors(document) if each[0] != "INVALID_ROUTING_MODEL"]
        assert found == [], name


def test_more_components_than_documented_are_a_warning_until_they_are_too_many() -> None:
    code = "MAX_ALLOWED_COMPONENTS_PER_SCREEN"
    assert told(lint(flow(*[TEXT] * 49))) == []
    assert told(lint(flow(*[TEXT] * 50))) == [("warning", code, "/screens/0")]
    assert told(lint(flow(*[TEXT] * 99))) == [("warning", code, "/screens/0")]


def test_an_input_outside_the_form_that_the_platform_does_not_look_at_is_only_doubted() -> None:
    for component in (CHIPS, CALENDAR):
        found = told(lint(flow(FORM, component | {"name": "b"})))
        assert found == [("warning", "COMPONENTS_OUTSIDE_FORM", f"{CHILDREN}/1")]


def test_all_components_of_one_name_are_told() -> None:
    document = flow(INPUT, OPT_IN, PHOTO)
    assert errors(document) == [
        ("DUPLICATE_FORM_COMPONENT_NAMES", f"{CHILDREN}/{n}/name") for n in range(3)
    ]


def test_what_has_no_name_takes_none_from_others() -> None:
    text = {"type": "TextBody", "text": "Hi", "name": INPUT["name"]}
    assert {code for code, _ in errors(flow(INPUT, text, text))} == {"INVALID_PROPERTY_KEY"}


def test_too_many_if_are_told_at_the_outermost() -> None:
    deep: dict[str, Any] = IF
    for _ in range(4):
        deep = IF | {"then": [deep]}
    places = [at for code, at in errors(flow(INPUT, deep)) if code == "MAXIMUM_IF_NESTING"]
    assert places == [f"{CHILDREN}/1", f"{CHILDREN}/1/then/0"]
