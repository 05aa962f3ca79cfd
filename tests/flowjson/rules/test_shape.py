"""An object against its shape."""

from __future__ import annotations

from typing import Any

import pytest

from chatkit.flowjson.components import FIRST, Property, Shape, Version
from chatkit.flowjson.rules.shape import Around, check_shape

NOW = Around(Version(7, 3), in_form=False, range_mode=False)
INNER = Shape("part", "", (Property("id", "name", "Its id.", required=FIRST),))


def found(value: dict[str, Any], *properties: Property, around: Around = NOW) -> list[Any]:
    shape = Shape("thing", "", properties)
    return [(f.severity, f.code, f.pointer) for f in check_shape(shape, value, "/at", around)]


def test_what_is_needed_is_missed_and_what_is_strange_is_refused() -> None:
    name = Property("name", "name", "Its name.", required=FIRST)
    assert found({"name": "a"}, name) == []
    assert found({"a/b": 1}, name) == [
        ("error", "MISSING_REQUIRED_PROPERTY", "/at/name"),
        ("error", "INVALID_PROPERTY_KEY", "/at/a~1b"),
    ]


@pytest.mark.parametrize(
    ("value", "operations"),
    [
        ({"nmae": "a"}, [("move", "/at/name")]),
        ({"nmae": "a", "name": "b"}, []),  # which of the two is meant?
        ({"zzz": "a"}, []),
    ],
)
def test_a_strange_key_is_renamed_where_it_is_plain_what_is_meant(
    value: dict[str, Any], operations: list[tuple[str, str]]
) -> None:
    name = Shape("thing", "", (Property("name", "name", "Its name."),))
    [told] = check_shape(name, value, "/at", NOW)
    assert [(each.op, each.path) for each in told.patch] == operations


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("", "name is blank: it takes text as it stands."),
        (" ", "name is blank: it takes text as it stands."),
        ("${data.a}", "name is not fixed: it takes text as it stands."),
    ],
)
def test_a_name_is_fixed_and_not_blank_from_version_6(value: str, said: str) -> None:
    name = Shape("thing", "", (Property("name", "name", "Its name.", binding=False),))
    [told] = check_shape(name, {"name": value}, "/at", Around(Version(6, 0)))
    assert (told.code, told.message) == ("PATTERN_MISMATCH", said)
    assert not list(check_shape(name, {"name": value}, "/at", Around(Version(5, 1))))


def test_a_version_knows_what_was_there_and_still_is() -> None:
    new = Property("new", "text", "", since=Version(8, 0))
    gone = Property("gone", "text", "", until=Version(3, 0))
    for prop in (new, gone):
        [(_, code, pointer)] = found({prop.name: "x"}, prop)
        assert (code, pointer) == ("INVALID_PROPERTY_KEY", f"/at/{prop.name}")
    assert found({"new": "x"}, new, around=Around(Version(8, 0))) == []


def test_a_binding_stands_for_any_value_unless_it_may_not() -> None:
    assert found({"n": "${data.n}"}, Property("n", "number", "")) == []
    assert found({"n": "`1 + 2`"}, Property("n", "items", "", item=INNER)) == []
    fixed = Property("n", "number", "", binding=False)
    assert found({"n": "${data.n}"}, fixed) == [("error", "INVALID_PROPERTY_TYPE", "/at/n")]


def test_any_of_its_kinds_will_do() -> None:
    both = Property("x", "text", "", other_kinds=(("strings", Version(5, 1)),))
    assert found({"x": "a"}, both) == found({"x": ["a"]}, both) == []
    old = found({"x": ["a"]}, both, around=Around(Version(5, 0)))
    assert old == [("error", "INVALID_PROPERTY_TYPE", "/at/x")]


def test_a_later_version_is_named_where_it_would_take_the_value() -> None:
    both = Shape(
        "thing", "", (Property("x", "text", "", other_kinds=(("strings", Version(5, 1)),)),)
    )
    for value, hint in ((["a"], 'From version 5.1 it does: write "version": "5.1".'), (5, "")):
        [told] = check_shape(both, {"x": value}, "/at", Around(Version(5, 0)))
        assert told.hint == hint


def test_items_and_objects_are_looked_into() -> None:
    many = Property("many", "items", "", item=INNER)
    one = Property("one", "object", "", item=INNER)
    value = {"many": [{"id": "a"}, {}, 5], "one": {"id": 1}}
    assert found(value, many, one) == [
        ("error", "MISSING_REQUIRED_PROPERTY", "/at/many/1/id"),
        ("error", "INVALID_PROPERTY_TYPE", "/at/many/2"),
        ("error", "INVALID_PROPERTY_TYPE", "/at/one/id"),
    ]


def test_what_the_sources_disagree_on_is_a_warning_and_checked_all_the_same() -> None:
    doubtful = Property("visible", "boolean", "", doubtful=True)
    assert found({"visible": 1}, doubtful) == [
        ("warning", "INVALID_PROPERTY_KEY", "/at/visible"),
        ("error", "INVALID_PROPERTY_TYPE", "/at/visible"),
    ]


def test_some_properties_stand_outside_a_form_only() -> None:
    own = Property("init-value", "text", "", place="outside Form")
    assert found({"init-value": "x"}, own) == []
    inside = found({"init-value": "x"}, own, around=NOW._replace(in_form=True))
    assert inside == [("error", "INVALID_PROPERTY_KEY", "/at/init-value")]


@pytest.mark.parametrize(("mode", "count"), [(True, 0), (None, 0), (False, 1)])
def test_some_properties_belong_to_range_mode(mode: bool | None, count: int) -> None:
    title = Property("title", "text", "", place="range mode")
    assert len(found({"title": "x"}, title, around=NOW._replace(range_mode=mode))) == count


def test_a_range_has_two_ends_of_its_kind() -> None:
    days = Property("init-value", "date", "", other_kinds=(("range", FIRST),), part="date")
    ranged = NOW._replace(range_mode=True)
    good = {"start-date": "2026-01-01", "end-date": "${data.last}"}
    assert found({"init-value": good}, days, around=ranged) == []
    bad = {"start-date": "soon", "middle": "x"}
    assert found({"init-value": bad}, days, around=ranged) == [
        ("error", "MISSING_CALENDAR_PICKER_RANGE_MODE_PROP", "/at/init-value"),
        ("error", "INVALID_DATE_SINGLE_INIT_VALUE_FORMAT", "/at/init-value/start-date"),
        ("error", "UNEXPECTED_CALENDAR_PICKER_RANGE_MODE_PROP", "/at/init-value/middle"),
    ]
    single = found({"init-value": good}, days)
    assert single == [("error", "INVALID_TYPE", "/at/init-value")]


def test_one_label_for_both_days_is_only_doubted() -> None:
    label = Property("label", "text", "", other_kinds=(("range", FIRST),))
    ranged = NOW._replace(range_mode=True)
    assert found({"label": "Stay"}, label, around=ranged) == [
        ("warning", "INVALID_TYPE", "/at/label")
    ]
