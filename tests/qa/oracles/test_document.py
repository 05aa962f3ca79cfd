"""Whole documents: the samples, arbitrary JSON, and rule after rule broken in a sound flow."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.flows.components import COMPONENTS, PARTS, VERSIONS
from oracles.flows.document import check_flow
from volume import volume

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
# Words of the format in any place: close enough to a flow to reach every check.
WORDS = sorted({*COMPONENTS, *VERSIONS, "${data.a}", "${form.a}", "`${data.a}`", "navigate", "A"})
KEYS = sorted({key for part in PARTS.values() for key in part} | {"type", "payload", "name"})
NEAR_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(WORDS),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=20,
)
CHILDREN = "screens/0/layout/children"


def test_a_sound_flow_has_no_findings(sound: dict[str, Any]) -> None:
    assert check_flow(sound) == []


def test_no_valid_sample_has_an_error(shared: Path) -> None:
    for file in sorted((shared / "samples/flows/valid").glob("*.json")):
        findings = check_flow(json.loads(file.read_text()))
        assert [one for one in findings if one.severity == "error"] == [], file.name


def test_every_broken_sample_has_the_error_it_was_built_for(shared: Path) -> None:
    folder = shared / "samples/flows"
    listed = json.loads((folder / "MANIFEST.json").read_text())["files"]
    broken = [one for one in listed if "expected_code" in one]
    missed = [
        one["file"]
        for one in broken
        if one["expected_code"].split()[0]
        not in {
            result.code
            for result in check_flow(json.loads((folder / one["file"]).read_text()))
            if result.severity == "error"
        }
    ]
    assert broken
    assert missed == []


@given(JSON)
def test_any_json_is_judged_without_an_exception(document: object) -> None:
    check_flow(document)


@settings(max_examples=volume(80))
@given(
    st.sampled_from(VERSIONS),
    st.lists(NEAR_JSON, max_size=4),
    st.lists(st.sampled_from(sorted(COMPONENTS)), max_size=4),
    NEAR_JSON,
)
def test_anything_that_looks_like_a_flow_is_judged_without_an_exception(
    version: str, parts: list[Any], kinds: list[str], more: Any
) -> None:
    children = [
        {**(part if isinstance(part, dict) else {}), "type": kind}
        for part, kind in zip(parts, kinds, strict=False)
    ]
    screen = {"id": "A", "data": more, "layout": {"children": [*children, *parts]}}
    document: dict[str, Any] = {"version": version, "screens": [screen, more], "meta": more}
    for key in ("routing_model", "data_api_version"):
        if isinstance(more, dict) and key in more:
            document[key] = more[key]
    check_flow(document)


def test_the_deepest_nesting_is_judged_without_an_exception(sound: dict[str, Any]) -> None:
    deep: Any = "${form.bike}"
    for _ in range(100_000):
        deep = [deep]
    sound["screens"][1]["layout"]["children"][1]["on-click-action"]["payload"] = {"bike": deep}
    sound["screens"][1]["data"]["bike"] = {"type": "object", "properties": {"a": deep}}
    assert check_flow(sound)


@pytest.mark.parametrize("what", ["screens", "components", "options", "fields", "routes"])
def test_twice_the_document_is_at_most_twice_the_work(what: str, sound: dict[str, Any]) -> None:
    def work(size: int) -> int:
        document = json.loads(json.dumps(sound))
        ask, done = document["screens"]
        if what == "screens":
            letters = [f"{chr(65 + n // 26)}{chr(65 + n % 26)}" for n in range(size)]
            document["screens"] = [{**done, "id": name} for name in letters]
        elif what == "components":
            ask["layout"]["children"] += [{"type": "TextBody", "text": "${data.greeting}"}] * size
        elif what == "options":
            source = [{"id": str(n), "title": "One"} for n in range(size)]
            choice = {"type": "Dropdown", "name": "d", "label": "D", "data-source": source}
            ask["layout"]["children"].insert(0, choice)
        elif what == "fields":
            done["data"] = {f"f{n}": {"type": "string", "__example__": "x"} for n in range(size)}
            payload = {f"f{n}": "${data.greeting}" for n in range(size)}
            ask["layout"]["children"][-1]["on-click-action"]["payload"] = payload
            text = [f"${{data.f{n}}}" for n in range(size)]
            done["layout"]["children"][0]["text"] = text
        else:
            document |= {"data_api_version": "3.0"}
            document["routing_model"] = {f"A{n}": ["ASK", f"A{n}"] for n in range(size)}
        return calls(lambda: check_flow(document))

    assert work(600) <= 2.2 * work(300)


def calls(run: Callable[[], object]) -> int:
    """How many function calls something makes."""
    count = 0

    def seen(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(seen)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def test_versions(errors: Any) -> None:
    assert errors(("version", "DROP")) == [("MISSING_FLOW_JSON_VERSION", "/version")]
    assert errors(("version", "9.9")) == [("INVALID_FLOW_JSON_VERSION", "/version")]
    assert errors(("version", "7.4")) == [("UNAVAILABLE_FLOW_JSON_VERSION", "/version")]
    assert errors(("version", 7.3)) == [("INVALID_PROPERTY_TYPE", "/version")]


def test_a_frozen_version_is_only_a_warning(sound: dict[str, Any]) -> None:
    sound["version"] = "5.0"
    assert [(one.code, one.severity) for one in check_flow(sound)] == [
        ("UNSUPPORTED_FLOW_JSON_VERSION", "warning")
    ]


@pytest.mark.parametrize(
    ("path", "value", "code", "pointer"),
    [
        ("color", "red", "INVALID_PROPERTY_KEY", "/color"),
        ("data_channel_uri", "https://a.example", "INVALID_PROPERTY_KEY", "/data_channel_uri"),
        ("screens", {}, "INVALID_PROPERTY_TYPE", "/screens"),
        ("screens", [], "MIN_ITEMS_REQUIRED", "/screens"),
        ("screens/0", 5, "INVALID_PROPERTY_TYPE", "/screens/0"),
        ("screens/0/id", "", "MIN_CHARS_REQUIRED", "/screens/0/id"),
        ("screens/0/id", "ASK 1", "PATTERN_MISMATCH", "/screens/0/id"),
        ("screens/0/id", "SUCCESS", "SCREEN_ID_IS_RESERVED_KEYWORD", "/screens/0/id"),
        ("screens/0/id", "success", "SCREEN_ID_IS_RESERVED_KEYWORD", "/screens/0/id"),
        ("screens/0/id", 5, "INVALID_PROPERTY_TYPE", "/screens/0/id"),
        ("screens/0/title", " ", "PATTERN_MISMATCH", "/screens/0/title"),
        ("screens/0/title", "DROP", "MISSING_REQUIRED_PROPERTY", "/screens/0/title"),
        ("screens/0/layout", "DROP", "MISSING_REQUIRED_PROPERTY", "/screens/0/layout"),
        ("screens/0/layout/type", "Grid", "INVALID_PROPERTY_VALUE", "/screens/0/layout/type"),
        ("screens/0/layout/gap", 1, "INVALID_PROPERTY_KEY", "/screens/0/layout/gap"),
        ("screens/0/success", True, "NOT_KEYWORD_SCHEMA_VALIDATION_FAILED", "/screens/0/success"),
        ("screens/0/refresh_on_back", True, "INVALID_PROPERTY_VALUE", "/screens/0/refresh_on_back"),
        ("screens/0/terminal", "yes", "INVALID_PROPERTY_TYPE", "/screens/0/terminal"),
        ("screens/0/sensitive", ["pin"], "INVALID_SENSITIVE_FIELD", "/screens/0/sensitive/0"),
        ("screens/1/terminal", False, "MISSING_TERMINAL_SCREEN", "/screens"),
        ("screens/1/success", False, "INVALID_PROPERTY_VALUE", "/screens/1/success"),
        ("screens/1/layout/children", [], "MISSING_FOOTER_ON_TERMINAL_SCREEN", "/screens/1"),
        ("screens/0/data/a", {}, "INVALID_SCREEN_DATA", "/screens/0/data/a"),
        ("screens/0/data/a", {"type": "string"}, "INVALID_SCREEN_DATA", "/screens/0/data/a"),
        (
            "screens/0/data/a",
            {"type": "array", "items": "string", "__example__": []},
            "INVALID_SCREEN_DATA",
            "/screens/0/data/a",
        ),
        (
            "screens/0/data/a",
            {"type": "object", "properties": {"b": {"__example__": 1}}, "__example__": {}},
            "INVALID_SCREEN_DATA",
            "/screens/0/data/a",
        ),
        (
            "screens/0/data/a",
            {"type": "number", "__example__": True},
            "INVALID_SCREEN_DATA",
            "/screens/0/data/a",
        ),
    ],
)
def test_a_broken_rule_of_the_document(
    errors: Any, path: str, value: object, code: str, pointer: str
) -> None:
    assert (code, pointer) in errors((path, value))


def test_a_data_model_may_list_its_required_fields(errors: Any) -> None:
    assert errors(("screens/0/data/required", ["greeting"])) == []


def test_a_flow_with_an_endpoint_names_a_known_data_api(errors: Any) -> None:
    model = ("routing_model", {"ASK": ["DONE"]})
    assert errors(("data_api_version", "4.0"), model) == []
    assert errors(("data_api_version", "1.0"), model) == [
        ("INVALID_DATA_API_VERSION", "/data_api_version")
    ]
    assert errors(("data_api_version", "4.0"), model, ("version", "7.2")) == [
        ("NO_SUPPORTED_DATA_API_VERSION", "/data_api_version")
    ]


@pytest.mark.parametrize(
    ("kind", "most"),
    [("Image", 3), ("EmbeddedLink", 2), ("OptIn", 5), ("ImageCarousel", 2), ("PhotoPicker", 1)],
)
def test_a_screen_takes_only_so_many_of_a_type(errors: Any, kind: str, most: int) -> None:
    parts: dict[str, dict[str, Any]] = {
        "Image": {"src": "AAAA"},
        "EmbeddedLink": {
            "text": "More",
            "on-click-action": {"name": "open_url", "url": "https://shop.example"},
        },
        "OptIn": {"label": "Yes"},
        "ImageCarousel": {"images": [{"src": "AAAA", "alt-text": "A wheel"}]},
        "PhotoPicker": {"label": "Photo"},
    }
    named = {"OptIn", "PhotoPicker"}

    def some(count: int) -> list[tuple[str, object]]:
        return [
            (
                f"{CHILDREN}/-",
                {"type": kind, **parts[kind], **({"name": f"n{n}"} if kind in named else {})},
            )
            for n in range(count)
        ]

    assert errors(*some(most)) == []
    assert errors(*some(most + 1)) == [("COMPONENT_TYPE_MAX_NUMBER_PER_SCREEN", "/screens/0")]


def test_many_components_warn_at_the_documented_and_refuse_at_the_observed_limit(
    sound: dict[str, Any],
) -> None:
    children = sound["screens"][0]["layout"]["children"]
    children[:0] = [{"type": "TextBody", "text": "More"}] * 48
    assert [(one.code, one.severity) for one in check_flow(sound)] == [
        ("DOCUMENTED_LIMIT", "warning")
    ]
    children[:0] = [{"type": "TextBody", "text": "More"}] * 50
    assert [(one.code, one.severity) for one in check_flow(sound)] == [
        ("MAX_ALLOWED_COMPONENTS_PER_SCREEN", "error")
    ]


def test_more_than_a_hundred_screens(sound: dict[str, Any]) -> None:
    names = [f"{chr(65 + n // 26)}{chr(65 + n % 26)}" for n in range(101)]
    sound["screens"] = [{**sound["screens"][1], "id": name} for name in names]
    sound |= {"data_api_version": "3.0", "routing_model": {}}
    assert {one.code for one in check_flow(sound)} == {"MAX_SCREENS_NUMBER"}


def test_what_forms_ask_of_their_inputs(errors: Any) -> None:
    pin = {"type": "TextInput", "name": "pin", "label": "PIN"}
    photo = {"type": "PhotoPicker", "name": "photo", "label": "Photo"}
    form = {"type": "Form", "name": "f", "children": [pin]}
    outside = ("screens/0/layout/children/1", "DROP")
    payload = ("screens/0/layout/children/2/on-click-action/payload/bike", "x")

    def in_form(**more: object) -> list[tuple[str, str]]:
        return list(errors(payload, outside, (f"{CHILDREN}/-", {**form, **more})))

    assert in_form() == []
    assert in_form(**{"init-values": {"pin": "1"}}) == []
    at = "/screens/0/layout/children/0"
    assert in_form(**{"init-values": {"pin": [1]}}) == [
        ("INVALID_PROPERTY_TYPE", f"{at}/init-values/pin")
    ]
    assert in_form(children=[photo], **{"init-values": {"photo": "x"}}) == [
        ("NATIVE_COMPONENT_IN_FORM_INIT_VALUES", f"{at}/init-values/photo")
    ]
    assert in_form(children=[{**pin, "init-value": "1"}]) == [
        ("INVALID_PROPERTY_KEY", f"{at}/children/0/init-value")
    ]
    assert errors((f"{CHILDREN}/-", form)) == [
        ("COMPONENTS_OUTSIDE_FORM", "/screens/0/layout/children/2")
    ]
    two = [(f"{CHILDREN}/-", {**form, "name": "g", "children": [{**pin, "name": "q"}]})]
    assert errors(payload, outside, (f"{CHILDREN}/-", form), *two) == [
        ("COMPONENT_TYPE_MAX_NUMBER_PER_SCREEN", "/screens/0")
    ]


def test_before_4_every_input_stands_in_a_form(errors: Any) -> None:
    assert ("KEYWORD_ONE_OF", "/screens/0/layout/children/1") in errors(("version", "3.1"))
    form = {
        "type": "Form",
        "name": "f",
        "children": [{"type": "TextInput", "name": "bike", "label": "Bike"}],
    }
    assert errors(("version", "3.1"), ("screens/0/layout/children/1", form)) == [
        (
            "INVALID_FOOTER_PAYLOAD_OUTSIDE_FORM",
            "/screens/0/layout/children/2/on-click-action/payload/bike",
        )
    ]


def test_rich_text_and_navigation_lists_want_a_screen_for_themselves(errors: Any) -> None:
    rich = {"type": "RichText", "text": ["# Terms"]}
    text = ("screens/1/layout/children/0", rich)
    assert errors(text) == []
    crowded = ("screens/1/layout/children/-", {"type": "TextBody", "text": "And"})
    assert errors(text, crowded) == [("INVALID_COMPONENT_PLACEMENT", "/screens/1")]
    assert ("INVALID_RICHTEXT_PLACEMENT", "/screens/1") in errors(text, ("version", "5.1"))
    item = {"id": "a", "main-content": {"title": "Road bike"}}
    listed = {
        "type": "NavigationList",
        "name": "bikes",
        "list-items": [item],
        "on-click-action": {
            "name": "navigate",
            "next": {"type": "screen", "name": "DONE"},
            "payload": {"bike": "x"},
        },
    }
    assert errors((CHILDREN, [listed])) == []
    assert errors((CHILDREN, [listed]), (f"{CHILDREN}/-", {"type": "TextBody", "text": "Or"})) == [
        ("INVALID_COMPONENT_PLACEMENT", "/screens/0")
    ]
    at = "/screens/0/layout/children/0"
    both = {**item, "on-click-action": listed["on-click-action"]}
    assert ("DUPLICATE_PROPETY_FOR_CONDITION", at) in errors(
        (CHILDREN, [{**listed, "list-items": [both]}])
    )
    ended = {**item, "end": {"title": "12 €"}}
    assert errors((CHILDREN, [{**listed, "list-items": [ended], "media-size": "large"}])) == [
        ("INVALID_PROPERTY_VALUE_FOR_CONDITION", f"{at}/media-size")
    ]
    badges = [{**item, "badge": "New"}, {**item, "id": "b", "badge": "New"}]
    assert errors((CHILDREN, [{**listed, "list-items": badges}])) == [
        ("MAX_ITEMS_REQUIRED", f"{at}/list-items")
    ]
    assert ("INVALID_PROPERTY_KEY", "/screens/0/terminal") in errors(
        (CHILDREN, [listed]), ("screens/0/terminal", True)
    )
