from __future__ import annotations

from typing import Any

import pytest
from screens import alone, body, doubts, entry, errors, field, flow, good, last, screen, to

LOCAL, GLOBAL = "INVALID_SCREEN_DYNAMIC_DATA", "INVALID_SCREEN_DATA"
AT = "/screens/0/layout/children/0"
DATA = {
    "text": field(),
    "flag": field("boolean", True),
    "count": field("integer", 3),
    "person": field("object", {}, properties={"name": {"type": "string"}}),
    "free": field("object", {}),
    "items": field(
        "array",
        [],
        items={
            "type": "object",
            "properties": {"id": {"type": "string"}, "title": {"type": "string"}},
        },
    ),
    "ids": field("array", [], items={"type": "object", "properties": {"id": {"type": "string"}}}),
    "odd": field(
        "array",
        [],
        items={
            "type": "object",
            "properties": {"id": {"type": "number"}, "title": {"type": "string"}},
        },
    ),
    "words": field("array", [], items={"type": "string"}),
    "loose": field("array", [], items={"type": "object"}),
}


def drop(source: str) -> dict[str, Any]:
    return {"type": "Dropdown", "name": "d", "label": "D", "data-source": source}


def told(component: dict[str, Any], version: str = "7.3") -> list[tuple[str, str]]:
    return errors("reference", alone(component, entry("who"), data=DATA, version=version))


@pytest.mark.parametrize(
    "component",
    [
        body("${data.text}"),
        body("${form.who}"),
        body("${data.person.name}"),
        body("${data.free.anything}"),
        body("${data.words}"),
        body("Hello ${data.text}, ${form.who}"),
        body("costs 5 $ {x}"),
        body("a", visible="${data.flag}"),
        entry("n", **{"max-chars": "${data.count}"}),
        drop("${data.items}"),
        entry("n", pattern="${form.x}", **{"helper-text": "A pattern stands as it is"}),
        drop("${data.loose}"),
        {"type": "Switch", "value": "${data.text}", "cases": {"a": [body()]}},
        {"type": "Unknown", "text": "${data.text}"},
        {"type": "Unknown", "name": "${data.nope}"},
    ],
)
def test_a_good_reference_has_no_finding(component: dict[str, Any]) -> None:
    assert told(component) == []


@pytest.mark.parametrize(
    ("component", "code", "key"),
    [
        (body("${data.nope}"), LOCAL, "text"),
        (body("${form.nope}"), LOCAL, "text"),
        ({"type": "Unknown", "text": "${data.nope}"}, LOCAL, "text"),
        (body("${data.person.age}"), LOCAL, "text"),
        (body("${data.text.more}"), LOCAL, "text"),
        (body("${data.items.title}"), LOCAL, "text"),
        (body("${form.who.more}"), LOCAL, "text"),
        (body("${data.flag}"), LOCAL, "text"),
        (body("${data.words[0]}"), LOCAL, "text"),
        (body("${screen.DONE.form.my name}"), LOCAL, "text"),
        ({"type": "TextHeading", "text": "${data.words}"}, LOCAL, "text"),
        (body("a", visible="${data.text}"), LOCAL, "visible"),
        (entry("n", **{"max-chars": "${data.text}"}), LOCAL, "max-chars"),
        (drop("${data.text}"), LOCAL, "data-source"),
        (drop("${data.ids}"), LOCAL, "data-source"),
        (drop("${data.odd}"), LOCAL, "data-source"),
        (drop("${data.words}"), LOCAL, "data-source"),
        (body("${screen.NO.data.x}"), GLOBAL, "text"),
        (body("a", visible="${data.flag} yes"), "PATTERN_MISMATCH", "visible"),
        (body("a", visible="${flag}"), "PATTERN_MISMATCH", "visible"),
        ({"type": "Switch", "value": "${data.items}", "cases": {}}, LOCAL, "value"),
        ({"type": "Switch", "value": "text", "cases": {}}, "PATTERN_MISMATCH", "value"),
        ({"type": "Switch", "value": "a ${data.text}", "cases": {}}, "PATTERN_MISMATCH", "value"),
        (
            {"type": "RichText", "text": ["# A", "${data.text}"]},
            "INVALID_TEXT_DYNAMIC_DATA",
            "text",
        ),
        ({"type": "RichText", "text": "# ${data.text}"}, "INVALID_PROPERTY_VALUE", "text"),
        ({"type": "RichText", "text": "${data.flag}"}, LOCAL, "text"),
    ],
)
def test_a_broken_reference_is_told_at_its_place(
    component: dict[str, Any], code: str, key: str
) -> None:
    assert told(component) == [(code, f"{AT}/{key}")]


def test_another_screen_is_reached_from_version_4() -> None:
    text = body("${screen.ASK.form.first_name}")
    document = flow(screen("ASK", entry(), to("DONE")), last(text), version="4.0")
    assert errors("reference", document) == []
    at = "/screens/1/layout/children/0/text"
    assert errors("reference", document | {"version": "3.1"}) == [(GLOBAL, at)]


def test_a_field_another_screen_does_not_have_is_told() -> None:
    text = body("${screen.ASK.data.nope}")
    document = flow(screen("ASK", entry(), to("DONE")), last(text))
    assert errors("reference", document) == [(GLOBAL, "/screens/1/layout/children/0/text")]


def test_naming_the_own_screen_is_a_doubt() -> None:
    document = alone(body("${screen.DONE.data.text}"), data=DATA)
    assert errors("reference", document) == []
    assert doubts("reference", document) == [(LOCAL, f"{AT}/text")]


@pytest.mark.parametrize("text", ["Hello ${data.nope}", "Hello ${name}", ["${data.nope}"]])
def test_what_the_platform_does_not_look_at_is_a_doubt(text: Any) -> None:
    document = alone(body(text), data=DATA)
    assert errors("reference", document) == []
    assert [at.startswith(f"{AT}/text") for _, at in doubts("reference", document)] == [True]


@pytest.mark.parametrize(("version", "wrong"), [("7.0", True), ("6.3", False)])
def test_first_values_of_a_form_are_looked_at_from_version_7(version: str, wrong: bool) -> None:
    form = {"type": "Form", "name": "f", "init-values": {"who": "${data.nope}"}, "children": []}
    assert bool(told(form, version)) is wrong


def test_a_number_input_may_be_read_as_text_or_number() -> None:
    age = entry("age", **{"input-type": "number"})
    assert told(age) == []
    document = alone(age, body("${form.age}"), entry("n", **{"max-chars": "${form.age}"}))
    assert errors("reference", document) == []


@pytest.mark.parametrize(("value", "wrong"), [("${data.text}", False), ("${data.flag}", True)])
def test_a_first_value_has_the_type_of_its_input(value: str, wrong: bool) -> None:
    form = {"type": "Form", "name": "f", "init-values": {"who": value}, "children": []}
    assert told(form) == ([(LOCAL, f"{AT}/init-values/who")] if wrong else [])


def test_the_address_of_a_link_is_followed() -> None:
    act = {"name": "open_url", "url": "${data.nope}"}
    link = {"type": "EmbeddedLink", "text": "More", "on-click-action": act}
    assert told(link) == [(LOCAL, f"{AT}/on-click-action/url")]


def test_an_address_in_backticks_is_an_expression_from_version_6() -> None:
    act = {"name": "open_url", "url": "`${data.nope}`"}
    link = {"type": "EmbeddedLink", "text": "More", "on-click-action": act}
    for version, told_here in (("6.0", 0), ("5.1", 1)):
        assert len(doubts("reference", alone(link, data=DATA, version=version))) == told_here


def test_backticks_before_version_6_are_no_reference() -> None:
    assert told(body("a", visible="`${data.flag}`"), "5.1") == [
        ("PATTERN_MISMATCH", f"{AT}/visible")
    ]
    assert told(body("a", visible="`${data.nope}`")) == []  # `expression` looks at it


def test_before_version_6_only_the_start_of_a_value_is_read() -> None:
    document = alone(body("a", visible="${data.flag} yes"), data=DATA, version="5.1")
    assert errors("reference", document) == []
    assert doubts("reference", document) == [("PATTERN_MISMATCH", f"{AT}/visible")]
    asked = {"type": "Switch", "value": "${data.text} yes", "cases": {}}
    assert told(asked, "5.1") == [("PATTERN_MISMATCH", f"{AT}/value")]
    newer = alone(body("a", visible="${data.flag} yes"), data=DATA, version="6.0")
    assert errors("reference", newer) == [("PATTERN_MISMATCH", f"{AT}/visible")]


def test_a_title_that_leads_nowhere_is_a_doubt() -> None:
    document = flow(last(data=DATA) | {"title": "${data.text} ${data.nope}"})
    assert doubts("reference", document) == [(LOCAL, "/screens/0/title")]


def test_the_good_document_has_no_finding() -> None:
    assert errors("reference", good()) == doubts("reference", good()) == []
