"""Property, Shape and Component: what the table is written in, and the table as a whole."""

from pathlib import Path

import pytest
from flowjson.components.facts import fact, facts

from chatkit.flowjson.components import COMPONENTS, FIRST, ComponentShape, Property, Shape, Version

EARLY, LATE = Version(5, 0), Version(7, 0)


def test_a_property_is_known_from_its_first_version_to_its_last() -> None:
    result = Property("x", "text", "", since=Version(4, 0), until=Version(6, 0))
    known = [result.is_known(Version(*v)) for v in ((3, 1), (4, 0), (5, 1), (6, 0))]
    assert known == [False, True, True, False]


def test_a_property_is_needed_only_where_it_is_known() -> None:
    result = Property("x", "text", "", required=FIRST, since=Version(6, 0))
    assert not result.is_required(EARLY)
    assert result.is_required(LATE)


def test_further_kinds_come_with_their_version_and_tell_what_a_binding_may_be() -> None:
    result = Property("x", "text", "", other_kinds=(("strings", Version(6, 0)), ("map", FIRST)))
    assert result.kinds(EARLY) == ("text", "map")
    assert result.json_types(EARLY) == ("string", "object")
    assert result.json_types(LATE) == ("string", "array", "object")


def test_actions_come_with_their_version() -> None:
    result = Property("x", "action", "", actions=(("navigate", FIRST), ("open_url", Version(6, 0))))
    assert result.allowed_actions(EARLY) == ("navigate",)
    assert result.allowed_actions(LATE) == ("navigate", "open_url")


def test_a_shape_finds_its_properties_by_key() -> None:
    shape = Shape("x", "", (Property("a", "text", ""),))
    assert shape.property("a") is shape.properties[0]
    assert shape.property("b") is None


def test_an_input_is_what_has_a_value() -> None:
    names = [name for name, each in COMPONENTS.items() if each.is_input]
    assert len(names) == 11
    assert "NavigationList" not in names


def test_there_are_24_components_each_under_its_name_and_each_begins_with_its_type() -> None:
    assert len(COMPONENTS) == 24
    for name, each in COMPONENTS.items():
        assert isinstance(each, ComponentShape)
        assert each.name == name
        assert each.properties[0].name == "type"
        assert len(each.by_name) == len(each.properties), f"{name} names a property twice"


def test_everything_is_described_in_a_short_line() -> None:
    for each in COMPONENTS.values():
        assert each.about.endswith(".")
        for prop in each.properties:
            assert prop.about.endswith("."), (each.name, prop.name)
            assert len(prop.about) < 100


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


def test_the_table_has_the_values_bounds_and_counts_of_the_facts(shared: Path) -> None:
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


def test_the_table_has_the_lengths_of_the_facts(shared: Path) -> None:
    for name, message in facts(shared).items():
        ours = COMPONENTS[name]
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
