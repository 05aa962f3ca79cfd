"""The lint: documents of others pass, each broken one is told with its code at its place."""

from __future__ import annotations

import copy
import json
import random
import tracemalloc
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from displayed import html_of
from flowjson.base import CHILDREN, GO, errors, flow, footer, put, screen, summary, text
from flowjson.corpus import CASES
from flowjson.good import TEXT, good
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.errors import InputError
from chatkit.flowjson.components import COMPONENTS, RELEASED
from chatkit.flowjson.lint import MOST_BYTES, Findings, lint

KNOWN = {"DUPLICATE_KEY", "DUPLICATE_OPTION_IDS", "FLOW_JSON_TOO_LARGE", "IMAGE_TOO_LARGE",
         "NESTED_TOO_DEEPLY", "TEXT_LONGER_THAN_DOCUMENTED", "UNREACHED_SCREEN",
         "UNUSED_DATA", "UNUSED_INPUT"}  # fmt: skip


def samples(shared: Path, kind: str) -> list[Path]:
    result = sorted((shared / "samples/flows" / kind).glob("*.json"))
    assert len(result) == {"valid": 32, "invalid": 40}[kind]
    return result


def manifest(shared: Path) -> dict[str, dict[str, str]]:
    listed = json.loads((shared / "samples/flows/MANIFEST.json").read_text())
    rows = [row for value in listed.values() if isinstance(value, list) for row in value]
    return {row["file"]: row for row in rows if "expected_code" in row}


def stands_at(pointer: str, expected: str) -> bool:
    """Compare with a place of the manifest, in which "..." stands for any steps."""
    before, dots, after = expected.partition("...")
    return pointer.startswith(before) and pointer.endswith(after) if dots else pointer == expected


# --- good documents ---------------------------------------------------------------------


def test_no_document_that_others_wrote_is_refused(shared: Path) -> None:
    refused = {path.name: lint(path).errors for path in samples(shared, "valid")}
    assert {name: result for name, result in refused.items() if result} == {}


def test_a_good_value_is_never_refused_written_or_bound_in_any_version() -> None:
    field = {"type": "TextInput", "name": "a", "label": "A"}
    for version in map(str, RELEASED):
        assert errors(flow(field, version=version)) == []
        assert errors(flow(field, version=version, endpoint=True)) == []
    count = 0
    for name, document in good():
        assert errors(document) == [], name
        count += 1
    assert count > 3500


# --- broken documents -------------------------------------------------------------------


def test_every_broken_sample_is_told_with_its_code_at_its_place(shared: Path) -> None:
    expected = manifest(shared)
    missed = []
    for path in samples(shared, "invalid"):
        row = expected[f"invalid/{path.name}"]
        code = row["expected_code"].split()[0]
        result = lint(path).errors
        if not any(f.code == code and stands_at(f.pointer, row["expected_at"]) for f in result):
            missed.append((path.name, row, result))
    assert missed == []


def test_the_cases_cover_the_codes_of_the_platform(shared: Path) -> None:
    rules = json.loads((shared / "facts/flow_rules.json").read_text())["validation_errors"]
    codes = {rule["code"] for rule in rules}
    lines = [line.split(", ")[0].split() for case in CASES for line in case.expected]
    covered = {code for severity, code, *_ in lines if severity in ("error", "warning")}
    # Variants of catalogues; codes that the platform has, and gives another for what they say.
    assert codes - covered == {
        *("EMPTY_SWITCH_CASES", "INVALID_ONE_OF_SCHEMA", "INVALID_SCHEMA", "NO_SCHEMA_FOUND"),
        *("INVALID_TYPE_PROPERTY_VALUE", "MISSING_CART_LAYOUT", "NO_SUPPORTED_DATA_API_VERSION"),
        *("MAX_SCREENS_NUMBER", "ONE_OF_SCHEMA_VALIDATION_FAILED"),
    }
    assert covered - codes <= KNOWN


def test_a_crowd_of_screens_and_of_bytes_is_refused() -> None:
    crowd = [screen(f"S{'x' * n}", footer(), terminal=True) for n in range(101)]
    findings = lint(put(flow(), "/screens", crowd))
    [many] = [each for each in findings if each.code == "MAX_SCREENS_NUMBER"]
    assert (many.pointer, many.message) == (
        "/screens",
        "screens has 101 items; it takes at most 100.",
    )
    pictures = [{"type": "Image", "src": "A" * size} for size in (409_600, 413_700)]
    [large] = lint(flow(*pictures))
    assert (large.severity, large.pointer) == ("warning", f"{CHILDREN}/1/src")
    assert large.message == "src holds about 303 KB; 300 KB are documented."


# --- mutations of documents of others, from the table ---------------------------------------


def places(document: Any) -> list[tuple[str, dict[str, Any]]]:
    """List the components of a document with their pointers."""
    result, waiting = [], [("", document)]
    while waiting:
        pointer, value = waiting.pop()
        if isinstance(value, dict):
            if value.get("type") in COMPONENTS and pointer:
                result.append((pointer, value))
            items = list(value.items())
        else:
            items = list(enumerate(value)) if isinstance(value, list) else []
        waiting += [(f"{pointer}/{key}", inner) for key, inner in items if key != "data"]
    return result


def test_what_is_taken_from_or_added_to_a_component_of_others_is_told(shared: Path) -> None:
    count = 0
    for path in samples(shared, "valid"):
        document = json.loads(path.read_text())
        for pointer, component in places(document):
            shape = COMPONENTS[component["type"]]
            unknown = ("INVALID_PROPERTY_VALUE", f"{pointer}/type")
            strange = put(document, f"{pointer}/strange", 1)
            assert ("INVALID_PROPERTY_KEY", f"{pointer}/strange") in errors(strange), path
            assert unknown in errors(put(document, f"{pointer}/type", "Strange")), path
            if older := [version for version in RELEASED if version < shape.since]:
                assert unknown in errors(put(document, "/version", str(older[0]))), path
            for prop in shape.properties:
                if prop.name in component and prop.name != "type":
                    wrong = put(document, f"{pointer}/{prop.name}", None)
                    expected = ("INVALID_PROPERTY_TYPE", f"{pointer}/{prop.name}")
                    assert expected in errors(wrong), path
                    count += 1
    assert count > 500


# --- anything ---------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["${data.x}", "${form.a.b}", "${screen.S.form.x}", "`1 + `", "`'a'`", "7.3"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["type", "name", "children", "cases", "then", "screens", "layout", "data",
                         "payload", "next", "on-click-action", "data-source", "list-items", "id",
                         "routing_model", "version", "terminal", "sensitive", "mode", "a/b~"])
        | st.text(max_size=4),
        inner,
        max_size=5,
    ),
    max_leaves=30,
)  # fmt: skip


@settings(max_examples=volume(40, 1000))
@given(JSON)
def test_arbitrary_json_never_crashes(value: Any) -> None:
    result = lint(json.dumps(value))
    assert isinstance(result, Findings)
    assert not result.ok
    assert repr(result) and html_of(result) and repr(result.annotated())
    if isinstance(value, dict | list):
        assert not lint(value).ok


@settings(max_examples=volume(40, 1000))
@given(st.data())
def test_arbitrary_json_anywhere_in_a_good_document_never_crashes(data: st.DataObject) -> None:
    document: Any = copy.deepcopy(data.draw(st.sampled_from(CASES)).document)
    value = data.draw(JSON)
    random_ = random.Random(data.draw(st.integers(0, 2**32)))
    inner = document
    while isinstance(inner, dict | list) and inner:
        key = random_.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
        if random_.random() < 0.2 or not isinstance(inner[key], dict | list) or not inner[key]:
            inner[key] = value
            break
        inner = inner[key]
    for each in lint(document):
        assert each.message.endswith((".", "?")), each
        assert each.line is None


@settings(max_examples=volume(40, 1000))
@given(st.text() | st.binary())
def test_arbitrary_text_never_crashes(source: str | bytes) -> None:
    try:
        result = lint(source)
    except InputError as error:  # the name of a file
        assert isinstance(source, str) and "cannot be read" in str(error)
    else:
        assert not result.ok


def test_a_pit_of_brackets_is_told() -> None:
    for source in ("[" * 100_000, '{"a":' * 100_000, "[" * 2_000 + "]" * 2_000):
        assert [result.code for result in lint(source)] == ["INVALID_FLOW_JSON"]


def test_a_name_of_20_000_letters_takes_no_square_of_memory() -> None:
    document = put(flow(), "/screens/0/" + "ab" * 10_000, 1)
    tracemalloc.start()
    try:
        assert not lint(document).ok
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_components_nested_without_end_are_told() -> None:
    inner: Any = []
    for _ in range(400):
        inner = [{"type": "If", "condition": "${form.a}", "then": inner}]
    result = lint(put(flow(), CHILDREN, inner))
    assert "NESTED_TOO_DEEPLY" in {each.code for each in result}


# --- what may be given, and what comes back -------------------------------------------------


def test_value_text_bytes_and_file_are_told_the_same(tmp_path: Path) -> None:
    document = put(flow(), "/screens/0/title", " ")
    path = tmp_path / "flow.json"
    path.write_text(text(document), encoding="utf-8-sig")
    ways = (document, text(document), text(document).encode(), path, str(path))
    every = [summary(lint(each)) for each in ways]
    assert every == [[("error", "PATTERN_MISMATCH", "/screens/0/title")]] * 5


def test_a_record_of_the_account_is_told_of_its_document() -> None:
    record = {"id": 1, "name": "A flow", "flow_json": flow()}
    assert lint(record).ok
    record["flow_json"] = {"version": "7.3"}
    assert summary(lint(record)) == [("error", "MISSING_REQUIRED_PROPERTY", "/screens")]


def test_lines_and_columns_are_those_of_the_users_own_text() -> None:
    source = '{"version": "7.3",\n\t"screens": [\n  ],\r\n  "x": 1}'
    assert [(each.line, each.column, each.pointer) for each in lint("\ufeff" + source)] == [
        (2, 2, "/screens"),
        (4, 3, "/x"),
    ]


def test_what_is_missing_is_told_where_it_should_stand() -> None:
    [result] = lint('{\n "screens": [],\n "version":\n "7.3"}').errors
    assert (result.pointer, result.line, result.column) == ("/screens", 2, 2)
    [result] = lint('\n  {"version": "7.3"}')
    assert (result.pointer, result.line, result.column) == ("/screens", 2, 3)


@pytest.mark.parametrize(
    ("source", "line", "column", "output"),
    [
        ('{"version": "7.3",\n}', 1, 18, "a comma too many"),
        ('{\n"a": 1\n"b": 2}', 3, 1, "a comma is missing"),
        ('{"a": [1, 2', 1, 12, "it ends too early"),
        ("", 1, 1, "it is empty"),
        ("{'a': 1}", 1, 2, "a key must stand in double quotes"),
        ('{"a":\n  NaN}', 2, 3, "NaN is not a JSON"),
        ('{"a": undefined}', 1, 7, "a value is missing or not written as JSON"),
    ],
)
def test_a_syntax_error_has_its_place(source: str, line: int, column: int, output: str) -> None:
    [result] = lint(source)
    assert (result.code, result.severity, result.pointer) == ("INVALID_FLOW_JSON", "error", "")
    assert output in result.message
    assert (result.line, result.column) == (line, column)


def test_a_key_that_stands_twice_is_noted_at_the_second() -> None:
    source = text(flow()).replace('"title": "A title"', '"title": "A",\n"title": "B"', 1)
    [result] = lint(source)
    assert (result.code, result.severity) == ("DUPLICATE_KEY", "warning")
    assert result.pointer == "/screens/0/title"
    assert source.splitlines()[(result.line or 0) - 1] == '"title": "B",'


def test_a_document_may_be_checked_as_if_it_were_of_another_version() -> None:
    document = flow({"type": "TextInput", "name": "a", "label": "A", "label-variant": "large"})
    assert lint(document).ok
    assert summary(lint(document, "6.3")) == [
        ("error", "INVALID_PROPERTY_KEY", f"{CHILDREN}/0/label-variant")
    ]


def test_a_version_that_can_no_longer_be_published_is_a_warning() -> None:
    result = lint(flow(version="5.0"))
    assert summary(result) == [("warning", "INVALID_FLOW_JSON_VERSION_STATE", "/version")]
    assert result.ok


def test_a_document_larger_than_the_platform_takes_is_refused() -> None:
    source = text(flow()) + " " * MOST_BYTES
    assert summary(lint(source)) == [("error", "FLOW_JSON_TOO_LARGE", "")]


def test_every_finding_of_one_place_stays_and_the_worst_decides() -> None:
    picker = {"type": "PhotoPicker", "name": "p", "label": "P", "max-uploaded-photos": 30}
    done = footer({"name": "complete", "payload": {"p": "${form.p}"}})
    document = {"version": "7.3", "screens": [screen("A", picker, done, terminal=True)]}
    result = [each for each in lint(document) if each.pointer.endswith("/payload")]
    assert [each.severity for each in result] == ["error", "warning"]
    assert not lint(document).ok
    body = lint(flow({"type": "TextBody", "text": "${data.a}, ${data.b} and ${form.c}"}))
    assert len(body) == 3


def test_the_same_finding_stands_once() -> None:
    for case in CASES:
        lines = [line for line in case.expected if not line.startswith("fixed: ")]
        assert len(lines) == len(set(lines)), case.id


def test_what_is_no_document_at_all_is_refused() -> None:
    with pytest.raises(InputError, match="dict, text or a file, not int"):
        lint(5)


def listed(screens: int, field: dict[str, Any], first: dict[str, Any] | None) -> dict[str, Any]:
    """Make screens with a list of 20 items each, all of which hand the field k on to the next."""
    ids = [f"S_{letter}" for letter in "ABCDEFGHIJ"[:screens]]
    asked = {"type": "If", "condition": "${data.k} == 'z'", "then": [TEXT]}
    made = []
    for n, id_ in enumerate(ids):
        entered = [first] if n == 0 and first else []
        payload = {"k": "${form.k}" if entered else "${data.k}"}
        if n == screens - 1:
            end = footer({"name": "complete", "payload": payload})
        else:
            go = GO | {"next": {"type": "screen", "name": ids[n + 1]}, "payload": payload}
            items = [
                {"id": str(m), "main-content": {"title": str(m)}, "on-click-action": go}
                for m in range(20)
            ]
            end = {"type": "NavigationList", "name": "go", "list-items": items}
        children = [*entered, *([asked] if first and n else []), end]
        data = {} if entered else {"k": field}
        made.append(screen(id_, *children, terminal=n == screens - 1, data=data))
    return {"version": "7.3", "screens": made}


def test_a_field_that_long_lists_hand_on_is_traced_once_a_screen() -> None:
    """Tracing each way from screen to screen anew would take hours for 8 screens of 20 items."""
    number = {"type": "number", "__example__": 1}
    assert not lint(listed(9, number, None))
    choice: dict[str, Any] = {"type": "Dropdown", "name": "k", "label": "K"}
    choice |= {"data-source": [{"id": "a", "title": "A"}]}
    findings = lint(listed(8, {"type": "string", "__example__": "a"}, choice))
    assert len([each for each in findings if "is never 'z'" in each.message]) == 7


def test_a_value_that_json_does_not_have_is_of_no_known_type() -> None:
    link = {"type": "EmbeddedLink", "text": "More", "on-click-action": {"name": date(2026, 1, 1)}}
    [finding] = [each for each in lint(flow(link)) if each.pointer.endswith("/name")]
    assert finding.message == "The name of an action must be of type string, not unknown."


def test_fix_prints_what_it_changes(capsys: pytest.CaptureFixture[str]) -> None:
    body = {"type": "TextBody", "txt": "Hi"}
    layout = {"type": "SingleColumnLayout", "children": [body]}
    findings = lint({"screens": [{"id": "A", "title": "A", "terminal": True, "layout": layout}]})
    document = findings.fix()
    assert capsys.readouterr().out == (
        "Fixed 2 of 3 findings:\n"
        "  /screens/0/layout/children/0/txt: renamed to text\n"
        '  /version: added "7.3"\n'
        "  /screens/0: left to you: A terminal screen needs a Footer: nothing else ends the flow.\n"
    )
    assert document == findings.fix(show=False)
    assert capsys.readouterr().out == ""


def test_no_data_of_a_later_screen_is_proposed() -> None:
    go = {"name": "navigate", "next": {"type": "screen", "name": "END"}}
    mail = {"type": "TextInput", "name": "mail", "label": "Mail"}
    start = screen("START", mail, footer(go | {"payload": {"email": "${form.email}"}}))
    done = footer({"name": "complete", "payload": {"email": "${data.email}"}})
    data = {"email": {"type": "string", "__example__": "a"}}
    end = screen("END", done, terminal=True, data=data)
    [finding] = lint({"version": "7.1", "screens": [start, end]})
    assert finding.hint == "Did you mean ${form.mail}?"
