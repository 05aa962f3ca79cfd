from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from screens import alone, entry, field, flow, last, screen, to

from chatkit.flowjson.nodes import (
    Reference,
    find_references,
    get_input_types,
    is_compatible,
    is_misspelled_reference,
    parse_reference,
    read_nodes,
    read_schema_types,
    resolve_reference,
)

PLACE = read_nodes(
    flow(
        screen(
            "ASK",
            entry(),
            {"type": "CheckboxGroup", "name": "ticks"},
            {"type": "CalendarPicker", "name": "days", "mode": "range"},
            {"type": "CalendarPicker", "name": "day"},
            to("DONE"),
            data={
                "count": field("integer", 1),
                "person": field("object", {}, properties={"name": {"type": "string"}}),
                "list": field("array", [], items={"type": "string"}),
                "required": ["count"],
            },
        ),
        last(),
    )
)


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("${data.count}", {"number"}),
        ("${data.person.name}", {"string"}),
        ("${screen.ASK.data.list}", {"array"}),
        ("${form.first_name}", {"string"}),
        ("${form.ticks}", {"array"}),
        ("${form.days}", {"object"}),
        ("${form.days.start-date}", {"string"}),
        ("${form.day}", {"string"}),
    ],
)
def test_a_reference_leads_to_a_type(text: str, types: set[str]) -> None:
    result = parse_reference(text)
    assert result is not None
    assert resolve_reference(PLACE, PLACE.screens[0], result)[0::3] == (types, "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("${data.nope}", "screen ASK declares no data field nope"),
        ("${data.required}", "screen ASK declares no data field required"),
        ("${data.person.age}", "person declares no property age"),
        ("${data.list.first}", "list is an array"),
        ("${data.count.more}", "count is not an object"),
        ("${form.nope}", "screen ASK has no input named nope"),
        ("${form.first_name.more}", "first_name is one value"),
        ("${screen.NO.form.x}", "there is no screen NO"),
        ("${screen.DONE.data.count}", "screen DONE declares no data field count"),
    ],
)
def test_a_reference_that_leads_nowhere_says_why(text: str, message: str) -> None:
    result = parse_reference(text)
    assert result is not None
    assert message in resolve_reference(PLACE, PLACE.screens[0], result).problem


def test_only_the_list_named_required_is_no_field() -> None:
    place = read_nodes(alone(data={"required": field(), "odd": []}))
    for text, types in (("${data.required}", {"string"}), ("${data.odd}", set())):
        result = parse_reference(text)
        assert result is not None
        assert resolve_reference(place, place.screens[0], result)[0::3] == (types, "")


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "integer"}, {"number"}),
        ({"type": ["string", "null"]}, {"string", "null"}),
        ({}, set()),
        (None, set()),
        ({"type": {"a": 1}}, set()),
        ({"type": [[]]}, set()),
    ],
)
def test_a_schema_says_its_types(schema: Any, types: set[str]) -> None:
    assert read_schema_types(schema) == types


def test_what_is_not_known_fits() -> None:
    text, number, unknown = frozenset(("string",)), frozenset(("number",)), frozenset[str]()
    assert is_compatible(text, text)
    assert is_compatible(unknown, text)
    assert is_compatible(text, unknown)
    assert not is_compatible(text, number)


def test_a_number_input_is_text_or_number() -> None:
    inputs = read_nodes(
        alone(
            entry("age", **{"input-type": "number"}),
            {"type": "Odd", "name": "o"},
            {"type": "Dropdown", "name": "d", "input-type": "number", "mode": "range"},
        )
    )
    age, unusual, chosen = inputs.screens[0].components[:3]
    assert get_input_types(age) == {"string", "number"}
    assert get_input_types(unusual) == set()
    assert get_input_types(chosen) == {"string"}


def test_a_component_that_is_no_input_has_no_value() -> None:
    texts = read_nodes(alone({"type": "TextBody", "text": "Hello"}))
    assert get_input_types(texts.screens[0].components[0]) == set()


def test_what_only_looks_like_a_reference_is_told_apart() -> None:
    assert is_misspelled_reference("${data.list[0]}")
    assert is_misspelled_reference("${form.my name}")
    assert not is_misspelled_reference("${data.a}")
    assert not is_misspelled_reference("${data.a} ${data.b}")
    assert not is_misspelled_reference("${nope}")


def test_a_form_is_no_input() -> None:
    document = alone({"type": "Form", "name": "f", "children": [entry()]})
    place = read_nodes(document)
    result = resolve_reference(
        place, place.screens[0], Reference("${form.f}", None, "form", ("f",), 0, 9)
    )
    assert "Form" in result.problem


NAME = st.from_regex(re.compile(r"[A-Za-z_][\w-]{0,8}", re.ASCII), fullmatch=True)


@given(st.none() | NAME, st.sampled_from(["data", "form"]), st.lists(NAME, min_size=1, max_size=4))
def test_every_reference_is_read_back_as_it_was_written(
    other: str | None, store: str, path: list[str]
) -> None:
    text = "${" + ".".join([*([] if other is None else ["screen", other]), store, *path]) + "}"
    result = parse_reference(text)
    assert result == Reference(text, other, store, tuple(path), 0, len(text))
    assert [each.text for each in find_references(f"a {text} b {text}")] == [text, text]
    assert parse_reference(f"{text} ") is None
