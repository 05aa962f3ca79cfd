"""The source of a document: what was given, and where everything stands in its text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.errors import InputError
from chatkit.flowjson.document import LineColumn, read_source
from chatkit.flowjson.lint import lint

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


def test_without_a_key_twice_none_is_looked_for() -> None:
    source = read_source('{"a": [{"b": 1}, {"b": 2}]}')
    assert not source.has_duplicates
    assert list(source.find_duplicate_keys()) == []


def test_a_byte_that_is_no_text_is_a_fault_with_its_place() -> None:
    source = read_source(b'{"a":\n "\xff"}')
    assert source.fault == "a byte that is not utf-8"
    assert source.at == LineColumn(2, 3)


def test_a_number_without_end_is_a_fault() -> None:
    assert read_source('{"a": ' + "1" * 5000 + "}").fault


def test_a_file_is_read_by_path_or_name(tmp_path: Path) -> None:
    path = tmp_path / "a flow.json"
    path.write_bytes(b'{"version": "7.3"}')
    assert read_source(path).value == read_source(str(path)).value == {"version": "7.3"}
    assert read_source(path).size == 18


def test_a_file_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_source(tmp_path / "flow.json")


def test_a_built_flow_and_a_record_give_their_document() -> None:
    class Built:
        def to_json(self) -> dict[str, Any]:
            return {"version": "7.3"}

    class Record:
        flow_json = {"version": "7.2"}  # noqa: RUF012

    assert read_source(Built()).value == {"version": "7.3"}
    assert read_source(Record()).value == {"version": "7.2"}
    assert read_source({"id": 1, "flow_json": {"version": "7.1"}}).value == {"version": "7.1"}


def test_a_record_may_hold_its_document_as_text() -> None:
    source = read_source({"id": 1, "flow_json": '{"version":\n"7.1"}'})
    assert source.find("/version") == LineColumn(1, 2)


def test_a_record_of_a_list_shows_no_document() -> None:
    with pytest.raises(InputError, match="read it again by its id"):
        read_source({"id": 1, "flow_json": None})


def test_a_document_without_text_has_no_places_and_stays_as_it_is() -> None:
    document = {"version": "7.3", "screens": []}
    source = read_source(document)
    assert (source.text, source.value) == (None, document)


@pytest.mark.parametrize("document", [5, None, object(), 1.5, {1, 2}])
def test_anything_else_is_an_input_error(document: object) -> None:
    with pytest.raises(InputError, match="A flow document is a dict, text or a file"):
        read_source(document)


def test_a_text_nested_without_end_is_shown_with_its_fault() -> None:
    assert "INVALID_FLOW_JSON" in repr(lint("[" * 100_000).annotated())
