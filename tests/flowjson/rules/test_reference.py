"""References, the types of what they lead to, and values of a data model; see `cases/reference`."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from screens import alone, entry, field

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
from chatkit.flowjson.rules.reference import find_json_types, find_schema_mismatches
from chatkit.flowjson.rules.shape import suggest_word

LIST = {"type": "array", "items": {"type": "string"}}


def test_only_the_list_named_required_is_no_field() -> None:
    place = read_nodes(alone(data={"required": field(), "odd": []}))
    for text, types in (("${data.required}", {"string"}), ("${data.odd}", set())):
        reference = parse_reference(text)
        assert reference is not None
        assert resolve_reference(place, place.screens[0], reference)[0::3] == (types, "")


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
    assert all(is_compatible(*pair) for pair in ((text, text), (unknown, text), (text, unknown)))
    assert not is_compatible(text, number)


def test_an_input_has_the_types_of_what_is_entered() -> None:
    components = (
        ({"string", "number"}, entry("age", **{"input-type": "number"})),
        (set(), {"type": "Odd", "name": "o"}),
        ({"string"}, {"type": "Dropdown", "name": "d", "input-type": "number", "mode": "range"}),
        (set(), {"type": "TextBody", "text": "Hello"}),
    )
    nodes = read_nodes(alone(*(component for _, component in components))).screens[0].components
    assert [get_input_types(node) for node in nodes[:4]] == [types for types, _ in components]


def test_what_only_looks_like_a_reference_is_told_apart() -> None:
    assert [
        is_misspelled_reference(text)
        for text in ("${data.list[0]}", "${form.my name}", "${data.a}", "${data.a} ${data.b}",
                     "${nope}")
    ] == [True, True, False, False, False]  # fmt: skip


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


def test_a_reference_stands_for_any_value_where_bindings_are_let() -> None:
    numbers = LIST | {"items": {"type": "number"}}
    assert list(find_schema_mismatches(["${data.a}"], numbers, bindings=True)) == []
    assert list(find_schema_mismatches("`1 + 2`", {"type": "number"}, bindings=True)) == []
    assert list(find_schema_mismatches("a", {"type": "number"}, bindings=True)) == [
        ("", "expected number, found string")
    ]


@given(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text()))
def test_every_value_fits_a_schema_of_its_own_type(value: Any) -> None:
    for kind in find_json_types(value):
        assert list(find_schema_mismatches(value, {"type": kind})) == []


def test_up_to_24_words_are_listed_and_more_are_not() -> None:
    words = tuple(f"word{n}" for n in range(25))
    assert suggest_word("zzz", words[:24]) == f"Use one of {', '.join(words[:24])}."
    assert suggest_word("zzz", words) == ""
