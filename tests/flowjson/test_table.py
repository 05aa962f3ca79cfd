"""The table of components agrees with the facts about them, and with itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.flowjson.components import (
    ACTIONS,
    ADVISED_COMPONENTS,
    COMPONENTS,
    DOCUMENT,
    FIRST,
    FROZEN,
    MOST_COMPONENTS,
    RECOMMENDED,
    RELEASED,
    SCREEN,
    SHAPES,
    ComponentShape,
    Property,
    Version,
    data_api_versions,
)

EARLY, LATE = Version(5, 0), Version(7, 0)
CHOICES = [
    COMPONENTS[name] for name in ("CheckboxGroup", "RadioButtonsGroup", "Dropdown", "ChipsSelector")
]


class Fact(NamedTuple):
    """One property as the facts name it: "label(>=4.0)", "title (range mode)"."""

    name: str
    since: Version
    where: str


def fact(text: str) -> Fact:
    """Parse the name of a property in the facts."""
    result = re.fullmatch(r"([\w.\-]+)\s*(?:\((.*)\))?", text)
    assert result, text
    inside = result[2] or ""
    version = re.search(r">=(\d+\.\d+)", inside)
    where = next((w for w in ("outside Form", "range mode") if w in inside), "anywhere")
    since = Version.parse(version[1]) if version else None
    return Fact(result[1], since or FIRST, where)


def facts(shared: Path) -> dict[str, dict[str, Any]]:
    """Read the facts of all components by name."""
    result: dict[str, dict[str, Any]] = json.loads((shared / "facts/flow_rules.json").read_text())[
        "components"
    ]
    return result


def test_a_property_depends_on_the_version() -> None:
    result = Property("x", "text", "", since=Version(4, 0), until=Version(6, 0))
    known = [result.is_known(Version(*v)) for v in ((3, 1), (4, 0), (5, 1), (6, 0))]
    assert known == [False, True, True, False]
    result = Property("x", "text", "", required=FIRST, since=Version(6, 0))
    assert not result.is_required(EARLY)  # needed only where it is known
    assert result.is_required(LATE)
    result = Property("x", "text", "", other_kinds=(("strings", Version(6, 0)), ("map", FIRST)))
    assert result.kinds(EARLY) == ("text", "map")
    assert result.json_types(EARLY) == ("string", "object")
    assert result.json_types(LATE) == ("string", "array", "object")

    result = Property("x", "action", "", actions=(("navigate", FIRST), ("open_url", Version(6, 0))))
    assert result.allowed_actions(EARLY) == ("navigate",)
    assert result.allowed_actions(LATE) == ("navigate", "open_url")


def test_there_are_24_components_each_under_its_name_and_each_begins_with_its_type() -> None:
    assert len(COMPONENTS) == 24
    for name, each in COMPONENTS.items():
        assert isinstance(each, ComponentShape)
        assert each.name == name
        assert each.properties[0].name == "type"
        assert len(each.by_name) == len(each.properties), f"{name} names a property twice"
        assert each.about.endswith(".")
        for prop in each.properties:
            assert prop.about.endswith(".") and len(prop.about) < 100, (name, prop.name)
            for action, since in prop.actions:
                assert since >= ACTIONS[action].since, (name, prop.name, action)
        # every input but pickers has a first value, and none of the texts has
        assert (each.property("init-value") is not None) == (each.group == "input"), name


def test_the_table_has_exactly_the_properties_of_the_facts(shared: Path) -> None:
    for name, message in facts(shared).items():
        ours = COMPONENTS[name]
        required = {fact(each).name: fact(each) for each in message["required"]}
        optional = {fact(each).name: fact(each) for each in message["optional"]}
        certain = {prop.name for prop in ours.properties if not prop.doubtful}
        if name == "ImageCarousel":  # not seen when the facts were written, seen since
            certain.remove("visible")
        assert certain == required.keys() | optional.keys(), name
        for prop in ours.properties:
            if prop.name in required:
                assert prop.required == required[prop.name].since, (name, prop.name)
            elif prop.name in optional:
                report = optional[prop.name]
                assert prop.required is None, (name, prop.name)
                assert prop.place == report.where, (name, prop.name)
                # what stands outside a Form came with the version that made it optional
                outside = report.where == "outside Form"
                assert prop.since == (Version(4, 0) if outside else report.since), (name, prop.name)


def test_the_table_has_the_values_bounds_counts_and_lengths_of_the_facts(shared: Path) -> None:
    for name, message in facts(shared).items():
        ours = COMPONENTS[name]
        since = Version.parse(message.get("web_schema_since", message["since"]))
        assert ours.since == since, name
        for key, values in message.get("enums", {}).items():
            assert sorted(ours.by_name[key].enum) == sorted(values), (name, key)
        for key, bounds in message.get("bounds", {}).items():
            prop = ours.by_name[key]
            if isinstance(bounds, list):
                assert [prop.low, prop.high] == bounds, (name, key)
            else:
                assert f">={prop.low}" == bounds.split()[0], (name, key)
        for key, value in message.get("defaults", {}).items():
            assert ours.by_name[key].default == value, (name, key)
        most = message.get("max_per_screen")
        if isinstance(most, dict):
            [(text, most)] = most.items()
            assert f">={ours.per_screen_since}" == text
        assert ours.per_screen == most, name
        assert ours.per_flow == message.get("max_per_flow"), name
        for key, length in message.get("limits_doc", {}).items():
            if (prop := ours.property(key)) is not None:
                assert prop.length == length, (name, key)


@pytest.mark.parametrize("name", ["Form", "If", "Switch"])
def test_the_table_lets_containers_hold_what_the_facts_say(shared: Path, name: str) -> None:
    message = facts(shared)[name]
    report = {
        fact(each).name: fact(each).since
        for each in message.get("children") or message["children_web"]
    }
    ours = COMPONENTS[name].children
    assert ours.keys() == report.keys()
    for child, since in report.items():
        if since != FIRST and (name, child) != ("Form", "ChipsSelector"):  # as the schema has it
            assert ours[child] == since, child


def test_actions_have_the_keys_of_the_facts(shared: Path) -> None:
    text = json.loads((shared / "facts/flow_rules.json").read_text())["actions"]
    for name, action in ACTIONS.items():
        report = text[name]
        assert action.since == (Version.parse(report.get("since")) or FIRST)
        required = {each.split("{")[0] for each in report["required"]}
        assert {p.name for p in action.properties if p.required} == required
        rest = {p.name for p in action.properties if not p.required}
        assert rest == set(report.get("optional", []))


def test_document_and_screen_have_the_keys_of_the_facts(shared: Path) -> None:
    text = json.loads((shared / "facts/flow_rules.json").read_text())
    for shape, report in ((DOCUMENT, text["document"]), (SCREEN, text["screen"])):
        required = {each.split()[0] for each in report["required"]}
        optional = {each.split()[0] for each in report["optional"]}
        assert {p.name for p in shape.properties if p.required} == required
        assert {p.name for p in shape.properties if not p.required} == optional
    assert DOCUMENT.by_name["screens"].most == text["document"]["screens_max"]
    counts = text["screen"]["max_components"]
    assert [counts["doc"], counts["web"]] == [ADVISED_COMPONENTS, MOST_COMPONENTS]


def test_options_have_the_keys_of_the_facts(shared: Path) -> None:
    for each in CHOICES:
        text = facts(shared)[each.name]["data_source"]
        item = each.by_name["data-source"].item
        assert item is SHAPES["chip" if each.name == "ChipsSelector" else "option"]
        required = {fact(one).name for one in text["required"]}
        optional = {one.split()[0]: one for one in text["optional"]}
        assert {p.name for p in item.properties if p.required} == required
        assert {p.name for p in item.properties if not p.required} == optional.keys()
        for name, words in optional.items():
            if ">=" in words:
                assert f">={item.by_name[name].since}" in words
        for name, length in text.get("limits", {}).items():
            if name != "image_kb":
                assert item.by_name[name].length == length
        limits, source = facts(shared)[each.name]["limits_doc"], each.by_name["data-source"]
        assert [source.advised_least, source.advised] == [
            limits["options_min"], limits["options_max"],
        ]  # fmt: skip
        assert source.least == 1


def test_lists_and_carousels_hold_what_the_facts_say(shared: Path) -> None:
    text = facts(shared)["NavigationList"]["limits_doc"]
    for key in ("title", "description", "metadata"):
        assert SHAPES["main content"].by_name[key].length == text[f"main-content.{key}"]
        assert SHAPES["end"].by_name[key].length == text["end.*"]
    assert SHAPES["list item"].by_name["badge"].length == text["badge"]
    assert SHAPES["list item"].by_name["tags"].length == text["tag"]
    assert SHAPES["start"].by_name["image"].kilobytes[0][1] == text["start.image_kb"]
    items = COMPONENTS["NavigationList"].by_name["list-items"]
    assert [items.least, items.advised] == [text["items_min"], text["items_max"]]

    text = facts(shared)["ImageCarousel"]
    images = COMPONENTS["ImageCarousel"].by_name["images"]
    limits = text["limits_web"]
    assert [images.least, images.most] == [limits["images_min"], limits["images_max"]]
    assert [p.name for p in SHAPES["picture"].properties if p.required] == text["item_required"]


# --- versions -------------------------------------------------------------------------------


@given(st.integers(0, 9999), st.integers(0, 9999))
def test_a_version_is_read_as_it_is_written(major: int, minor: int) -> None:
    assert Version.parse(str(Version(major, minor))) == (major, minor)


@pytest.mark.parametrize(
    "text", ["", "7", "7.", "7.3.1", " 7.3", "7.3\n", "v7.3", 7.3, None, "٧.٣"]
)
def test_anything_else_is_no_version(text: object) -> None:
    assert Version.parse(text) is None


def test_versions_are_those_of_the_facts_and_ordered_as_numbers(shared: Path) -> None:
    assert Version(6, 3) < Version(7, 0) < Version(10, 0) and Version(7, 0) >= (7, 0)
    message = json.loads((shared / "facts/flow_rules.json").read_text())["versions"]
    assert sorted(map(str, {*RELEASED} - {*FROZEN})) == sorted(message["publishable_as_of_2026_03"])
    assert sorted(map(str, RELEASED)) == sorted(message["sendable_as_of_2026_03"])
    assert str(RECOMMENDED) == message["recommended"]
    assert {str(v): day.isoformat() for v, day in FROZEN.items()} == message["frozen"]
    assert data_api_versions(Version(7, 2)) == ("3.0",)
    assert data_api_versions(Version(7, 3)) == ("3.0", "4.0")
