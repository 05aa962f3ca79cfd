from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from screens import alone, errors, field, findings

from chatkit.flowjson.rules.reference import json_types, mismatches

AT = "/screens/0/data/x"
LIST = {"type": "array", "items": {"type": "string"}}


def declared(schema: Any) -> list[tuple[str, str]]:
    return errors("reference", alone(data={"x": schema}))


@pytest.mark.parametrize("stated", [[], -1, None, {}, "text", ["string", "text"]])
@pytest.mark.parametrize(
    "deeper", ["properties/a", "properties/enum", "properties/a/items", "items/properties/a"]
)
def test_a_type_deeper_in_a_field_is_one_of_json(stated: Any, deeper: str) -> None:
    schema: Any = {"type": stated}
    for key in reversed(deeper.split("/")):
        schema = {key: schema}
        if key in ("properties", "items"):
            schema["type"] = "object" if key == "properties" else "array"
    schema["__example__"] = {} if "properties" in schema else []
    assert declared(schema) == [("INVALID_SCREEN_DATA", f"{AT}/{deeper}/type")]


@pytest.mark.parametrize(
    "schema",
    [
        field(),
        field("number", 1.5),
        field("number", 1),
        field("integer", 2.0),
        field("boolean", False),
        field("array", [], items={"type": "string"}),
        field("array", [1, "a"], items=True),
        field("array", [["a"]], items=LIST),
        field("object", {"a": "b", "c": 1}, properties={"a": {"type": "string"}}),
        field("array", [{"id": "1"}], items={"type": "object"}),
        field("object", {}, properties={"type": {"type": "string"}}),
        field("object", {}, properties={"a": {"type": ["string", "null"]}}),
        field("string", "a", enum=["a", "b"]),
        field("array", ["a"], items={"type": "string"}, enum=[["a"]]),
        field("object", {"a": 1}, required=["a", 5]),
    ],
)
def test_a_good_declaration_has_no_finding(schema: Any) -> None:
    assert declared(schema) == []


@pytest.mark.parametrize(
    ("schema", "code", "below"),
    [
        ({"type": "string"}, "MISSING_REQUIRED_PROPERTY", "/__example__"),
        ({"__example__": "a"}, "INVALID_SCREEN_DATA", ""),
        ({"type": 5, "__example__": 5}, "INVALID_SCREEN_DATA", "/type"),
        (field("text"), "INVALID_SCREEN_DATA", "/type"),
        (field("array", []), "INVALID_SCREEN_DATA", ""),
        (field("array", [], items="string"), "INVALID_SCREEN_DATA", "/items"),
        (field("array", [[]], items={"type": "array"}), "INVALID_SCREEN_DATA", "/items"),
        (field("array", [], items={}), "INVALID_SCREEN_DATA", "/items"),
        (field("string", 5), "INVALID_SCREEN_DATA", ""),
        (field("number", "123"), "INVALID_SCREEN_DATA", ""),
        (field("integer", 1.5), "INVALID_SCREEN_DATA", ""),
        (field("boolean", "true"), "INVALID_SCREEN_DATA", ""),
        (field("number", True), "INVALID_SCREEN_DATA", ""),
        (field("string", None), "INVALID_SCREEN_DATA", ""),
        (
            field("array", ["a", 5], items={"type": "string"}),
            "INVALID_SCREEN_DATA",
            "/__example__/1",
        ),
        (
            field("object", {"a": 5}, properties={"a": {"type": "string"}}),
            "INVALID_SCREEN_DATA",
            "/__example__/a",
        ),
        (field("object", {}, required=["a"]), "INVALID_SCREEN_DATA", ""),
        (field("string", "c", enum=["a", "b"]), "INVALID_SCREEN_DATA", ""),
        (
            field("object", {}, properties={"a": {"type": "text"}}),
            "INVALID_SCREEN_DATA",
            "/properties/a/type",
        ),
        (
            field("object", {}, properties={"a": {"type": "string", "__example__": "b"}}),
            "INVALID_SCREEN_DATA",
            "/properties/a/__example__",
        ),
        ("string", "INVALID_PROPERTY_TYPE", ""),
    ],
)
def test_a_broken_declaration_is_told_at_its_place(schema: Any, code: str, below: str) -> None:
    assert declared(schema) == [(code, AT + below)]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (field("array", ["a", 5], items={"type": "string"}), " at /1: expected string"),
        (field("string", 5), ": expected string"),
    ],
)
def test_an_example_that_does_not_fit_names_the_place_inside_it(schema: Any, said: str) -> None:
    [told] = findings("reference", alone(data={"x": schema}))
    assert told.message == f"The __example__ of x does not fit{said}, found an integer."


@pytest.mark.parametrize(("levels", "told"), [(63, True), (64, False)])
def test_arrays_in_arrays_are_read_as_deep_as_a_flow_may_be(levels: int, told: bool) -> None:
    schema: Any = {"type": "text"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    wrong = [("INVALID_SCREEN_DATA", f"{AT}{'/items' * levels}/type")]
    assert declared(schema | {"__example__": []}) == (wrong if told else [])


@pytest.mark.parametrize(("levels", "told"), [(31, True), (32, False)])
def test_a_field_is_read_as_deep_as_a_flow_may_be(levels: int, told: bool) -> None:
    schema: Any = {"type": "text"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    at = f"{AT}{'/properties/a' * levels}/type"
    assert declared(schema | {"__example__": {}}) == ([("INVALID_SCREEN_DATA", at)] if told else [])


def test_the_list_of_required_fields_is_no_field() -> None:
    assert errors("reference", alone(data={"x": field(), "required": ["x"]})) == []


def test_an_object_may_have_a_property_named_type() -> None:
    schema = field("object", {"type": "a"}, properties={"type": {"type": "string"}})
    assert declared(schema) == []


def test_a_reference_stands_for_any_value_where_bindings_are_let() -> None:
    assert (
        list(mismatches(["${data.a}"], LIST | {"items": {"type": "number"}}, bindings=True)) == []
    )
    assert list(mismatches("`1 + 2`", {"type": "number"}, bindings=True)) == []
    assert list(mismatches("a", {"type": "number"}, bindings=True)) == [
        ("", "expected number, found string")
    ]


@given(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text()))
def test_every_value_fits_a_schema_of_its_own_type(value: Any) -> None:
    assert all(list(mismatches(value, {"type": kind})) == [] for kind in json_types(value))
