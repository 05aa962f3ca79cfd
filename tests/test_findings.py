"""Tests of findings in the words of plans and errors."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.report import (
    FEW,
    Finding,
    FindingCounts,
    format_finding,
    make_cell_problem,
    make_document_problem,
    select_errors,
    select_errors_and_warnings,
    summary,
)
from chatkit.util.display import MISSING
from chatkit.util.json import find_value

WRONG = Finding("MISSING", "error", "/screens/0/title", "It needs a title.", "Write one.")
LONG = Finding("LONG", "warning", "/screens/0/id", "It is long.")
NOTE = Finding("OLD", "note", "", "It is old.")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


def places(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    """Every place in a value, with what stands there."""
    result = [(pointer, value)]
    entries: Any = value.items() if isinstance(value, dict) else ()
    for key, inner in enumerate(value) if isinstance(value, list) else entries:
        step = str(key).replace("~", "~0").replace("/", "~1")
        result += places(inner, f"{pointer}/{step}")
    return result


@given(JSON)
def test_a_pointer_leads_to_what_stands_at_its_place(value: Any) -> None:
    for pointer, present in places(value):
        assert find_value(value, pointer) is present or find_value(value, pointer) == present


@given(JSON, st.lists(st.sampled_from(["", "0", "1", "01", "-", "a"]), min_size=1, max_size=4))
def test_a_pointer_to_nothing_leads_to_nothing(value: Any, steps: list[str]) -> None:
    pointer = "".join(f"/{step}" for step in steps)
    assert (find_value(value, pointer) is MISSING) == (pointer not in dict(places(value)))


@pytest.mark.parametrize("pointer", ["/a/-", "/a/9", "/a/²", "/a/1/x", "/b", "/a/99999999999999"])
def test_a_place_that_is_not_there_is_missing(pointer: str) -> None:
    assert find_value({"a": [1, "x"]}, pointer) is MISSING


def test_errors_and_doubts_are_told_apart() -> None:
    assert select_errors([NOTE, WRONG, LONG]) == [WRONG]
    assert select_errors_and_warnings([NOTE, WRONG, LONG]) == [WRONG, LONG]


def test_a_finding_is_said_in_a_line_with_its_place() -> None:
    assert format_finding(WRONG) == "MISSING at /screens/0/title: It needs a title."
    assert format_finding(NOTE) == "OLD: It is old."


def test_a_finding_whose_message_begins_with_its_code_does_not_say_it_twice() -> None:
    assert format_finding(replace(NOTE, message="OLD it is.")) == "OLD it is."
    assert format_finding(replace(LONG, message="LONG it is.")) == (
        "LONG at /screens/0/id: LONG it is."
    )


@pytest.mark.parametrize(
    ("finding", "output"),
    [
        (WRONG, "error MISSING at /screens/0/title: It needs a title. Write one."),
        (NOTE, "note OLD at (document): It is old."),
        (
            replace(LONG, line=3, column=5, message="It is\u202e long."),
            "warning LONG at 3:5 /screens/0/id: It is⟨U+202E⟩ long.",
        ),
        (replace(NOTE, line=1, column=1), "note OLD at 1:1 (document): It is old."),
    ],
)
def test_a_finding_reads_as_its_severity_place_and_what_is_wrong(
    finding: Finding, output: str
) -> None:
    assert str(finding) == output


def test_a_finding_in_a_cell_names_the_field_and_the_place_in_it() -> None:
    fields = {"name": "Ana", "tags": ["a", "b"]}
    of = {each: replace(LONG, pointer=each, hint="Cut.") for each in ("/name", "/tags/1", "/age")}
    assert make_cell_problem(fields, of["/name"]) == ("name", '"Ana"', "LONG: It is long.", "Cut.")
    assert make_cell_problem(fields, of["/tags/1"]) == (
        *("tags", '"b"', "LONG at /1: It is long.", "Cut."),
    )
    assert make_cell_problem(fields, of["/age"]) == ("age", "", "LONG: It is long.", "Cut.")


def test_a_problem_shows_what_stands_at_the_place() -> None:
    document = {"screens": [{"id": "A"}]}
    assert make_document_problem("flow_json", document, LONG).value == '"A"'
    assert make_document_problem("flow_json", document, WRONG).value == "(absent)"


def test_a_summary_counts_and_begins_with_the_worst() -> None:
    assert summary([LONG, WRONG]) == (
        "1 error and 1 warning, first MISSING at /screens/0/title: It needs a title. Write one."
    )
    assert summary([LONG, LONG]).startswith("2 warnings, first LONG")
    assert summary([]) == ""
    assert summary([WRONG]) == "1 error: MISSING at /screens/0/title: It needs a title. Write one."
    hinted = replace(LONG, message="It is long", hint="Cut.")
    assert summary([hinted]) == "1 warning: LONG at /screens/0/id: It is long. Cut."


def notes(noun: str, result: list[tuple[str, list[Finding]]]) -> list[str]:
    """Return the messages about records that have this finding."""
    counts = FindingCounts(noun)
    for label, each in result:
        counts.add(label, each)
    return counts.notes()


def test_records_of_one_name_are_each_told() -> None:
    assert notes("flow", [("A", [LONG]), ("A", [WRONG])]) == [
        "A has 1 warning: LONG at /screens/0/id: It is long.",
        "A has 1 error: MISSING at /screens/0/title: It needs a title. Write one.",
    ]
    assert notes("flow", []) == []


def test_many_records_are_counted() -> None:
    unusual = [replace(LONG, message=f"It is {n} too long.") for n in range(FEW + 1)]
    output = notes("flow", [("A", [each]) for each in unusual])
    assert output[FEW:] == ["… and 1 more flow with errors or warnings."]
    output = notes(
        "flow", [*(("A", [each]) for each in [*unusual, unusual[-1]]), ("B", [unusual[0]])]
    )
    assert output[0].startswith("A and B have each 1 warning: ")
    assert output[FEW:] == ["… and 2 more flows with errors or warnings."]


def test_records_with_the_same_findings_are_told_together() -> None:
    step = replace(LONG, hint="Make it shorter.")
    assert notes("flow", [(name, [step]) for name in "ABCDEF"]) == [
        "A, B, C and 3 more flows have each 1 warning: LONG at /screens/0/id: It is long. "
        "Make it shorter."
    ]
    for names, reported in (
        ("AB", "A and B"),
        ("ABCD", "A, B, C and D"),
        ("ABCDE", "A, B, C and 2 more flows"),
    ):
        [output] = notes("flow", [(name, [LONG]) for name in names])
        assert output.startswith(f"{reported} have each 1 warning: LONG")
