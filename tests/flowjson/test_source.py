"""A document is read however it is passed, and every value has its place in its text."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flowjson.strangers import booking
from hypothesis import given
from hypothesis import strategies as st

from chatkit.errors import InputError
from chatkit.flowjson.document import DEEPEST, LineColumn, read_document, read_source

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=20,
)


def pointers(value: Any, pointer: str = "") -> list[str]:
    """List the pointers of everything in a value, in its order."""
    result = [pointer]
    items = list(value.items()) if isinstance(value, dict) else []
    if isinstance(value, list):
        items = list(enumerate(value))
    for key, inner in items:
        step = str(key).replace("~", "~0").replace("/", "~1")
        result += pointers(inner, f"{pointer}/{step}")
    return result


@given(JSON, st.sampled_from([None, 0, 1, 4]), st.booleans())
def test_every_value_has_its_place_in_the_text(value: Any, indent: int | None, plain: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=plain)
    source = read_source(text)
    assert source.value == value
    places = {pointer: source.find(pointer) for pointer in pointers(value)}
    assert sorted(places.values()) == list(places.values())
    assert len(set(places.values())) == len(places)
    lines = text.split("\n")
    for pointer, (line, column) in places.items():
        step = pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        rest = lines[line - 1][column - 1 :]
        if rest.startswith(json.dumps(step, ensure_ascii=plain) + ":"):
            continue  # its key stands there; else it is an item of an array, or all of it
        assert pointer == "" or step.isdecimal()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_they_do_on_any_system(end: str) -> None:
    source = read_source(end.join(["{", '  "a": [', "    1", "  ]", "}"]))
    assert [source.find(each) for each in ("", "/a", "/a/0")] == [(1, 1), (2, 3), (3, 5)]


def test_a_byte_order_mark_is_no_column() -> None:
    for document in ("\ufeff[1]", b"\xef\xbb\xbf[1]", "[1]".encode("utf-16")):
        assert read_source(document).find("/0") == LineColumn(1, 2)


def test_what_is_missing_is_found_where_it_should_stand() -> None:
    source = read_source('{"a":\n {"b": 1}}')
    assert source.find("/a/b/c") == source.find("/a/b") == LineColumn(2, 3)
    assert source.find("/a/z") == LineColumn(1, 2)
    assert source.find("/z") == LineColumn(1, 1)


def test_a_key_twice_is_found_at_the_second_place() -> None:
    source = read_source('{"a": {"b": 1, "c": 2,\n"b": 3}}')
    assert source.value == {"a": {"b": 3, "c": 2}}
    assert list(source.find_duplicate_keys()) == [("/a/b", LineColumn(2, 1))]
    source = read_source('{"a": [{"b": 1}, {"b": 2}]}')
    assert not source.has_duplicates
    assert list(source.find_duplicate_keys()) == []


def test_a_byte_that_is_no_text_and_a_number_without_end_are_faults() -> None:
    source = read_source(b'{"a":\n "\xff"}')
    assert source.fault == "a byte that is not utf-8"
    assert source.at == LineColumn(2, 3)
    assert read_source('{"a": ' + "1" * 5000 + "}").fault


def test_a_document_is_read_however_it_is_passed_and_copied(tmp_path: Path) -> None:
    document, text = booking(), json.dumps(booking(), indent=2)
    path = tmp_path / "a flow.json"
    path.write_text(text, encoding="utf-8")
    built = SimpleNamespace(to_json=booking)
    record = SimpleNamespace(flow_json=document)
    for source in (document, text, text.encode(), path, str(path), built, record,
                   {"id": 1, "flow_json": document}, {"id": 1, "flow_json": text}):  # fmt: skip
        assert read_source(source).value == document
        assert read_document(source) == document
    assert read_source(path).size == len(text)
    assert read_source(document).text is None
    assert read_source({"id": 1, "flow_json": text}).find("/version") == LineColumn(2, 3)
    read_document(document)["screens"].clear()
    assert document == booking()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (Path("flow.json"), "No such file"),
        ({"id": 1, "flow_json": None}, "read it again by its id"),
        *((value, "A flow document is a dict, text or a file") for value in (5, None, 1.5, {1, 2})),
    ],
)
def test_what_is_no_document_is_an_input_error(source: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_source(source)


def test_what_is_no_json_or_nested_in_itself_is_refused() -> None:
    knot: dict[str, Any] = {}
    knot["a"] = knot
    deep: Any = []
    for _ in range(DEEPEST):
        deep = [deep]
    assert read_document(deep[0]) == deep[0]
    for value in ("{", "nothing.json", b"\xff{", {"a": {1, 2}}, {"a": object()}, None, knot, deep,
                  "[" * 100_000 + "]" * 100_000):  # fmt: skip
        with pytest.raises(InputError, match=r"flow document|cannot be read|nested|itself"):
            read_document(value)
