"""Single properties of components, broken one at a time."""

from typing import Any

import pytest
from oracles.flows.document import check_flow

CHILDREN = "screens/0/layout/children"
FIRST = "/screens/0/layout/children/0"
INPUT: dict[str, Any] = {"type": "TextInput", "name": "pin", "label": "PIN"}
CHOICE: dict[str, Any] = {
    "type": "Dropdown",
    "name": "size",
    "label": "Size",
    "data-source": [{"id": "s", "title": "Small"}],
}
CALENDAR: dict[str, Any] = {"type": "CalendarPicker", "name": "day", "label": "Day"}
RANGE: dict[str, Any] = {**CALENDAR, "mode": "range"}


@pytest.mark.parametrize(
    ("child", "code", "where"),
    [
        ({**INPUT, "label": ""}, "PATTERN_MISMATCH", "label"),
        ({**INPUT, "label": 5}, "INVALID_PROPERTY_TYPE", "label"),
        ({**INPUT, "name": "${data.greeting}"}, "PATTERN_MISMATCH", "name"),
        ({**INPUT, "colour": "red"}, "INVALID_PROPERTY_KEY", "colour"),
        ({**INPUT, "input-type": "date"}, "INVALID_ENUM_VALUE", "input-type"),
        ({**INPUT, "enabled": "yes"}, "INVALID_PROPERTY_TYPE", "enabled"),
        ({**INPUT, "max-chars": "ten"}, "PATTERN_MISMATCH", "max-chars"),
        ({**INPUT, "min-chars": 5, "max-chars": 2}, "MIN_VALUE_GREATER_THAN_MAX", ""),
        ({**INPUT, "pattern": "[0-9]+"}, "INVALID_DEPENDENCIES", ""),
        (
            {**INPUT, "pattern": "(", "helper-text": "x"},
            "INVALID_PROPERTY_VALUE_FORMAT",
            "pattern",
        ),
        (
            {**INPUT, "pattern": "a", "helper-text": "x", "input-type": "email"},
            "INVALID_PROPERTY_NAME_FOR_CONDITION",
            "pattern",
        ),
        ({**INPUT, "init-value": []}, "INVALID_PROPERTY_TYPE", "init-value"),
        (
            {**INPUT, "init-value": "x", "input-type": "number"},
            "INVALID_PROPERTY_TYPE",
            "init-value",
        ),
        ({**INPUT, "visible": "${data.greeting}"}, "INVALID_SCREEN_DYNAMIC_DATA", "visible"),
        ({**INPUT, "label": "${data.none}"}, "INVALID_SCREEN_DYNAMIC_DATA", "label"),
        ({**INPUT, "label": "Hi ${data.a + 1}"}, "PATTERN_MISMATCH", "label"),
        ({"type": "TextBody", "text": "${screen.DONE.data.no}"}, "INVALID_SCREEN_DATA", "text"),
        ({"type": "TextHeading", "text": ["a"]}, "INVALID_PROPERTY_TYPE", "text"),
        (
            {"type": "TextBody", "text": "a", "font-weight": "thin"},
            "INVALID_ENUM_VALUE",
            "font-weight",
        ),
        (
            {"type": "Image", "src": "https://shop.example/a"},
            "INVALID_PROPERTY_VALUE_FORMAT",
            "src",
        ),
        (
            {"type": "OptIn", "name": "o", "label": "O", "enabled": True},
            "INVALID_PROPERTY_KEY",
            "enabled",
        ),
        ({**CHOICE, "data-source": []}, "MIN_ITEMS_REQUIRED", "data-source"),
        ({**CHOICE, "data-source": [5]}, "INVALID_PROPERTY_TYPE", "data-source/0"),
        (
            {**CHOICE, "data-source": [{"id": "s"}]},
            "MISSING_REQUIRED_PROPERTY",
            "data-source/0/title",
        ),
        (
            {**CHOICE, "data-source": [{"id": str(n), "title": "x"} for n in range(201)]},
            "MAX_ITEMS_REQUIRED",
            "data-source",
        ),
        (
            {
                **CHOICE,
                "data-source": [
                    {"id": "a", "title": "A", "image": "AAAA"},
                    {"id": "b", "title": "B", "color": "#00ff00"},
                ],
            },
            "DATA_SOURCE_ITEMS_HAVE_BOTH_IMAGE_AND_COLOR",
            "data-source",
        ),
        (
            {**CHOICE, "data-source": "${data.greeting}"},
            "INVALID_SCREEN_DYNAMIC_DATA",
            "data-source",
        ),
        (
            {"type": "PhotoPicker", "name": "p", "label": "P", "min-uploaded-photos": -1},
            "MINIMUM_VALUE_REQUIRED",
            "min-uploaded-photos",
        ),
        (
            {"type": "PhotoPicker", "name": "p", "label": "P", "max-uploaded-photos": 31},
            "MAXIMUM_VALUE_REQUIRED",
            "max-uploaded-photos",
        ),
        (
            {"type": "DocumentPicker", "name": "p", "label": "P", "allowed-mime-types": ["a/b"]},
            "INVALID_ENUM_VALUE",
            "allowed-mime-types/0",
        ),
        ({**CALENDAR, "title": "When"}, "INVALID_PROPERTY_NAME_FOR_CONDITION", "title"),
        ({**CALENDAR, "label": {"start-date": "From"}}, "INVALID_TYPE", "label"),
        (
            {**RANGE, "label": {"start-date": "From"}},
            "MISSING_CALENDAR_PICKER_RANGE_MODE_PROP",
            "label/end-date",
        ),
        (
            {**RANGE, "label": {"start-date": "From", "end-date": "To", "x": "y"}},
            "UNEXPECTED_CALENDAR_PICKER_RANGE_MODE_PROP",
            "label/x",
        ),
        ({**RANGE, "min-days": 5, "max-days": 2}, "INVALID_MIN_MAX_DAYS", ""),
        ({**CALENDAR, "include-days": ["Monday"]}, "INVALID_ENUM_VALUE", "include-days/0"),
        ({**CALENDAR, "min-date": "2026-02-30"}, "INVALID_PROPERTY_VALUE_FORMAT", "min-date"),
        (
            {**CALENDAR, "init-value": "tomorrow"},
            "INVALID_DATE_SINGLE_INIT_VALUE_FORMAT",
            "init-value",
        ),
        (
            {**CALENDAR, "max-date": "2026-01-01", "init-value": "2026-01-02"},
            "INVALID_DATE_RANGE",
            "",
        ),
        (
            {"type": "EmbeddedLink", "text": "x", "on-click-action": {"name": "complete"}},
            "INVALID_ENUM_VALUE",
            "on-click-action/name",
        ),
        (
            {
                "type": "EmbeddedLink",
                "text": "x",
                "on-click-action": {"name": "open_url", "url": "x"},
            },
            "INVALID_PROPERTY_VALUE_FORMAT",
            "on-click-action/url",
        ),
        (
            {
                "type": "EmbeddedLink",
                "text": "x",
                "on-click-action": {"name": "open_url", "url": "https://a.example", "payload": {}},
            },
            "INVALID_PROPERTY_KEY",
            "on-click-action/payload",
        ),
        (
            {"type": "If", "condition": "${data.greeting} > ", "then": [INPUT]},
            "INVALID_PROPERTY_VALUE",
            "condition",
        ),
    ],
)
def test_a_broken_rule_of_a_component(
    errors: Any, child: dict[str, Any], code: str, where: str
) -> None:
    pointer = f"{FIRST}/{where}" if where else FIRST
    assert (code, pointer) in errors((f"{CHILDREN}/-", child))


@pytest.mark.parametrize(
    "child",
    [
        {**INPUT, "pattern": r"^\d{3}[(\]]$", "helper-text": "x", "input-type": "passcode"},
        {**INPUT, "input-type": "number", "init-value": "12.5"},
        {**INPUT, "visible": "`${form.bike} != ''`", "label": "`'Your ' ${data.greeting}`"},
        {**INPUT, "label": "${data.greeting}, ${screen.DONE.data.bike}"},
        {**CHOICE, "data-source": [{"id": "s", "title": "S", "color": "#00ff00"}]},
        {
            **RANGE,
            "label": {"start-date": "From", "end-date": "To"},
            "title": "When",
            "min-days": 1,
        },
        {**CALENDAR, "min-date": "2026-01-01", "unavailable-dates": ["2026-05-01"]},
        {"type": "Image", "src": "data:image/png;base64,AAAA", "aspect-ratio": 1.5},
        {"type": "TextBody", "text": ["One", "${data.greeting}"], "markdown": True},
    ],
)
def test_what_is_allowed_has_no_error(errors: Any, child: dict[str, Any]) -> None:
    assert errors((f"{CHILDREN}/-", child)) == []


def test_footers_have_two_captions_or_one(errors: Any) -> None:
    footer, at = "screens/0/layout/children/2", "/screens/0/layout/children/2"
    assert errors((f"{footer}/center-caption", "c")) == []
    assert errors((f"{footer}/right-caption", "r")) == [("INVALID_DEPENDENCIES", at)]
    three = [(f"{footer}/{edge}-caption", "x") for edge in ("left", "center", "right")]
    assert errors(*three) == [("NOT_KEYWORD_SCHEMA_VALIDATION_FAILED", at)]


def test_properties_have_their_versions(errors: Any) -> None:
    old = ("version", "6.3")
    assert errors(old, (f"{CHILDREN}/1/label-variant", "large")) == [
        ("INVALID_PROPERTY_KEY", "/screens/0/layout/children/1/label-variant")
    ]
    assert errors(("version", "5.1"), (f"{CHILDREN}/1/helper-text", "")) == []
    assert errors(old, (f"{CHILDREN}/1/helper-text", "")) == [
        ("PATTERN_MISMATCH", "/screens/0/layout/children/1/helper-text")
    ]


def test_a_path_into_another_screen_can_go_wrong_further_down(errors: Any) -> None:
    schema = {"type": "array", "items": {"type": "object"}, "__example__": []}
    sizes = ("screens/0/data/sizes", schema)
    text = ("screens/1/layout/children/0/text", "${screen.ASK.data.sizes.items}")
    at = "/screens/1/layout/children/0/text"
    assert errors(sizes, text) == [("INVALID_SCREEN_DYNAMIC_DATA", at)]
    assert errors(text) == [("INVALID_SCREEN_DATA", at)]


def test_lengths_only_warn(sound: dict[str, Any]) -> None:
    child = sound["screens"][0]["layout"]["children"][1]
    child |= {"label": "A label that is longer than twenty", "error-message": "x" * 31}
    findings = check_flow(sound)
    assert {one.severity for one in findings} == {"warning"}
    assert [one.pointer.rpartition("/")[2] for one in findings] == ["label", "error-message"]


def test_an_array_that_declares_its_items_declares_what_a_list_needs(errors: Any) -> None:
    choice = (f"{CHILDREN}/-", {**CHOICE, "data-source": "${data.sizes}"})

    def sizes(items: object) -> tuple[str, object]:
        schema = {"type": "array", "items": items, "__example__": []}
        return "screens/0/data/sizes", schema

    text = {"type": "string"}
    assert errors(choice, sizes({"type": "object"})) == []
    assert (
        errors(choice, sizes({"type": "object", "properties": {"id": text, "title": text}})) == []
    )
    assert errors(choice, sizes({"type": "object", "properties": {"id": text}})) == [
        ("INVALID_SCREEN_DYNAMIC_DATA", f"{FIRST}/data-source")
    ]


@pytest.mark.parametrize(
    ("mark", "size"), [("[", 200_000), ("(", 200_000), (" ", 200_000), ("A ", 100_000)]
)
def test_long_texts_of_one_mark_are_judged_at_once(errors: Any, mark: str, size: int) -> None:
    pattern = {**INPUT, "pattern": mark * size, "helper-text": "x"}
    errors((f"{CHILDREN}/-", pattern))
    errors((f"{CHILDREN}/-", {"type": "Image", "src": mark * size + "!"}))
    errors((f"{CHILDREN}/-", {"type": "If", "condition": mark * size, "then": [INPUT]}))
    errors((f"{CHILDREN}/-", {"type": "TextBody", "text": f"${{{mark * size}"}))
