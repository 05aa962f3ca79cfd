"""A draft keeps the last good document, the text as it was typed, and every step back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.errors import InputError
from chatkit.flowjson import lint
from chatkit.widgets.editor.edits import make_flow
from chatkit.widgets.editor.state import DocumentState, is_identical, write_document

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["screens", "id", "layout", "a/b"]), inner, max_size=3)
    ),
    max_leaves=12,
)


def test_edits_change_the_document_and_can_be_taken_back() -> None:
    first = make_flow()
    before = json.dumps(first)
    draft = DocumentState(first)
    draft.set("/screens/0/title", "Hello")
    assert draft.value["screens"][0]["title"] == "Hello"
    assert draft.undoable == "title"
    assert draft.undo()
    assert draft.value == json.loads(before)
    assert not draft.undo()
    assert draft.redo()
    assert draft.value["screens"][0]["title"] == "Hello"
    assert not draft.redo()
    assert json.dumps(first) == before  # the caller's own document is left alone


def test_typing_in_one_field_is_one_step_until_something_else_is_done() -> None:
    draft = DocumentState(make_flow())
    for text in ("H", "Ho", "Hol", "Hola"):
        draft.set("/screens/0/title", text)
    draft.settle()
    draft.set("/screens/0/title", "Hola!")
    draft.undo()
    assert draft.value["screens"][0]["title"] == "Hola"
    draft.undo()
    assert draft.value["screens"][0]["title"] == "Welcome"


def test_what_changes_nothing_is_no_step() -> None:
    draft = DocumentState(make_flow())
    draft.set("/version", "7.3")
    draft.write(draft.text)
    assert not draft.undoable


@pytest.mark.parametrize(
    "act",
    [
        lambda d: d.unset(""),
        lambda d: d.unset("/nothing"),
        lambda d: d.move("/screens/7", 1),
        lambda d: d.move("/screens", 1),
        lambda d: d.duplicate("/version"),
        lambda d: d.rename("/nothing", "x"),
        lambda d: d.set("/screens/9/title", "x"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_changes(act: Any) -> None:
    draft = DocumentState(make_flow())
    with pytest.raises(InputError):
        act(draft)
    assert draft.value == make_flow()
    assert not draft.undoable


def test_a_text_that_is_no_json_waits_and_keeps_the_last_good_document() -> None:
    draft = DocumentState(make_flow())
    text = draft.text.replace('"Welcome",', '"Welcome"')
    draft.write(text)
    assert draft.broken
    assert draft.text == text
    assert draft.value == make_flow()
    (result,) = draft.findings
    assert (result.code, result.line) == ("INVALID_FLOW_JSON", lint(text + "\n")[0].line)
    with pytest.raises(InputError, match="not valid JSON now"):
        draft.set("/version", "7.2")
    draft.undo()
    assert not draft.broken
    assert draft.text == write_document(make_flow())


def test_a_mended_text_becomes_the_document_as_it_was_typed() -> None:
    draft = DocumentState(make_flow())
    draft.write("{")
    draft.write('{"version":   "7.2"}')
    assert draft.value == {"version": "7.2"}
    assert draft.text == '{"version":   "7.2"}'
    draft.undo()
    assert draft.value == make_flow()


def test_a_broken_text_opens(tmp_path: Path) -> None:
    file = tmp_path / "flow.json"
    file.write_text('{"version": "7.3",\r\n "screens": [}')
    draft = DocumentState(file)
    assert draft.broken
    assert draft.text == '{"version": "7.3",\n "screens": [}'
    assert draft.findings[0].line == 2
    assert not draft.undoable  # there is nothing before it
    draft.write("{}")
    assert not draft.broken


def test_a_document_on_one_line_is_opened_on_many() -> None:
    assert DocumentState(json.dumps(make_flow())).text == write_document(make_flow())
    twice = '{"version": "7.3", "version": "7.2"}'
    assert DocumentState(twice).text == twice  # so that it can be seen
    assert DocumentState('{\n"a":   1}').text == '{\n"a":   1}'


def test_a_text_is_never_taken_for_the_name_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "secret.json"
    file.write_text('{"secret": 1}')
    draft = DocumentState(make_flow())
    draft.write(str(file))
    assert draft.broken
    assert draft.value == make_flow()
    draft.write(f'"{file}"')
    assert draft.value == str(file)
    assert not draft.findings.ok


def test_too_deep_is_refused() -> None:
    deep: Any = {}
    for _ in range(100):
        deep = {"a": deep}
    assert "nested more than 60" in DocumentState(deep).findings[0].message
    draft = DocumentState(make_flow())
    with pytest.raises(InputError, match="nested"):
        draft.set("/screens", deep)
    draft.write(json.dumps(deep))
    assert draft.broken
    assert "nested more than 60" in draft.findings[0].message
    draft.write("{")
    assert "nested" not in draft.findings[0].message


def test_steps_are_kept_up_to_a_bound() -> None:
    draft = DocumentState(make_flow())
    for n in range(250):
        draft.set(f"/screens/0/x{n}", n)
    while draft.undo():
        pass
    assert len(draft.value["screens"][0]) == 5 + 51


def test_half_a_character_is_written_as_an_escape() -> None:
    assert write_document({"a": "\ud800é"}) == '{\n  "a": "\\ud800\\u00e9"\n}'
    assert write_document({"a": "é"}) == '{\n  "a": "é"\n}'


@settings(max_examples=volume(24, 600), deadline=None)
@given(VALUES, VALUES, st.sampled_from(["/screens", "/screens/0", "", "/a~1b/id", "/id"]))
def test_any_json_can_be_opened_edited_and_taken_back(a: Any, b: Any, pointer: str) -> None:
    draft = DocumentState(json.dumps(a) + "\n")
    assert draft.value == a
    try:
        draft.set(pointer, b)
    except InputError:
        assert draft.value == a
    else:
        assert draft.find(pointer) == b
        assert json.loads(draft.text) == draft.value
        draft.undo()
        assert draft.value == a
    len(draft.findings)


def test_values_are_the_same_when_they_are_written_alike() -> None:
    assert is_identical({"a": [1]}, {"a": [1]})
    assert not is_identical({"a": 1}, {"a": True})
    assert not is_identical({"a": 1, "b": 2}, {"b": 2, "a": 1})
