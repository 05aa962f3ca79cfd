"""Findings and values as they are shown: in order, counted, short, and never run as HTML."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pandas as pd
from displayed import html_of
from flowjson.base import DONE, footer, screen
from flowjson.strangers import anything
from hypothesis import given
from hypothesis import strategies as st

from chatkit.flowjson.lint import WIDE, AnnotatedSource, Findings, lint
from chatkit.report import Finding, make_object_frame
from chatkit.util.display import LONG, MISSING
from chatkit.util.display import format_json_pair as render_change
from chatkit.util.display import format_short_json as short

BAD = Finding("BAD", "error", "/screens/10/id", "It is bad.", "Mend it.")
LONE = Finding("LONG", "warning", "/screens/2/title", "It is long.")
SEEN = Finding("SEEN", "note", "", "It was seen.")


def test_findings_are_a_sequence_in_the_order_of_the_document() -> None:
    result = Findings([BAD, LONE, SEEN])
    assert list(result) == [SEEN, LONE, BAD]
    assert [list(result.errors), list(result.warnings), list(result.notes)] == [
        [BAD], [LONE], [SEEN],
    ]  # fmt: skip
    assert not result.ok and result.warnings.ok and Findings().ok
    assert (len(result), result[0], result[-1]) == (3, SEEN, BAD)
    assert result[2:] == Findings([BAD])
    assert BAD in result
    assert hash(result) == hash(Findings([LONE, SEEN, BAD]))
    assert result != [SEEN, LONE, BAD]
    assert list(result.frame()["code"]) == ["SEEN", "LONG", "BAD"]
    lines = [
        Finding("A", "error", "/z", "", line=3, column=1),
        Finding("B", "warning", "/b", "", line=1, column=9),
        Finding("C", "error", "/a", "", line=1, column=9),
        Finding("D", "error", "/a", "", line=1, column=2),
    ]
    assert [each.code for each in Findings(lines)] == ["D", "C", "B", "A"]


def test_findings_show_themselves_in_a_stable_text() -> None:
    assert repr(Findings()) == "No findings"
    assert "<p>No findings</p>" in html_of(Findings())
    assert repr(Findings([BAD, LONE])) == (
        "1 error, 1 warning\n"
        "  warning LONG at /screens/2/title\n"
        "    It is long.\n"
        "  error BAD at /screens/10/id\n"
        "    It is bad. Mend it."
    )
    assert str(SEEN) == "note SEEN at (document): It was seen."
    at = Finding("X", "error", "/a", "No.", line=7, column=3)
    assert str(at) == "error X at 7:3 /a: No."
    result = Findings([Finding("X", "error", "/a/1", "No.")], {"a": [1, 2]})
    assert repr(result.annotated(around=0)) == "  | …\n4 |     2\n  |     ^ error X: No."
    assert "INVALID_FLOW_JSON" in repr(lint("[" * 100_000).annotated())


def test_what_a_stranger_wrote_is_not_run_nor_hidden() -> None:
    sly = Finding("X", "error", "/<b>", "<script>alert(1)</script>\u202e\x1b[2J", "<i>")
    output = html_of(Findings([sly]))
    assert not [tag for tag in ("<script", "<i>", "/<b>") if tag in output]
    for text in (output, repr(Findings([sly])), str(sly)):
        assert "\u202e" not in text and "\x1b" not in text


def test_findings_count_what_fix_corrects() -> None:
    name = {"type": "TextInput", "name": "name", "label": "Your name"}

    def reported(*components: dict[str, str]) -> Findings:
        only = screen("ONLY", *components, footer(DONE), terminal=True)
        return lint({"version": "7.3", "screens": [only]})

    assert repr(reported(name)).startswith("1 warning; .fix() corrects it")
    both = reported(name, name | {"name": "a b"})
    assert repr(both).startswith("2 warnings; .fix() corrects 1 of them")
    assert ".fix() corrects 1 of them" in html_of(both)


# --- the source with findings under its lines -----------------------------------------------


def at(line: int, column: int, severity: str = "error") -> Finding:
    return Finding("X", severity, "/x", "No.", "Mend it.", line, column)  # type: ignore[arg-type]


def test_a_finding_stands_under_its_line_and_points_at_its_column() -> None:
    output = repr(AnnotatedSource('{\n  "a": 1,\n  "b": 2\n}', [at(2, 3)]))
    assert output.splitlines() == [
        "1 | {",
        '2 |   "a": 1,',
        "  |   ^ error X: No. Mend it.",
        '3 |   "b": 2',
        "4 | }",
    ]
    listing = AnnotatedSource('{\n  "a": 1\n}', [Finding("X", "note", "/a/b", "No.")])
    assert repr(listing).splitlines()[2] == "  |   ^ note X: No."  # by its pointer
    line, mark = repr(AnnotatedSource('\t"a": 1', [at(1, 2)])).splitlines()
    assert line[mark.index("^")] == '"'
    assert repr(AnnotatedSource("{}", [])) == "No findings"
    assert html_of(AnnotatedSource("{}", [])).endswith(">No findings</pre>")


def test_lines_far_from_a_finding_and_the_rest_of_long_ones_are_left_out() -> None:
    text = "\n".join(str(number) for number in range(1, 101))
    output = repr(AnnotatedSource(text, [at(50, 1), at(90, 1)], around=1)).splitlines()
    assert [line for line in output if "…" in line] == ["   | …", "   | …"]
    assert [line[:2] for line in output if line[:2].strip()] == ["49", "50", "51", "89", "90", "91"]
    text = '{"picture": "' + "A" * 5000 + '", "b": 1}'
    line, mark = repr(AnnotatedSource(text, [at(1, text.index('"b"') + 1)])).splitlines()
    assert len(line) < WIDE + 8
    assert line[mark.index("^") :].startswith('"b": 1}')
    assert line.startswith("1 | …AAA")


def test_html_is_escaped_and_coloured_by_severity() -> None:
    output = html_of(AnnotatedSource('{"<script>": 1}', [at(1, 2), at(1, 2, "warning")]))
    assert "<script" not in output and "&lt;script&gt;" in output
    assert output.count("<b style=") == 2


@given(st.text(), st.integers(1, 9), st.integers(1, 300))
def test_any_text_and_place_can_be_shown(text: str, line: int, column: int) -> None:
    listing = AnnotatedSource(text, [at(line, column)])
    assert "error X: No." in repr(listing)
    assert "error X: No." in html_of(listing)


# --- values, and frames of them -------------------------------------------------------------


@given(anything)
def test_any_value_is_short(value: Any) -> None:
    assert len(short(value)) < 12 * LONG
    assert "\n" not in short(value)


def test_values_are_told_apart_and_long_ones_named_by_what_they_are() -> None:
    assert short("5") != short(5)
    assert short("") == '""'
    assert short(MISSING) == "(absent)" != short(None)
    form = {"type": "Form", "name": "booking", "label": "x" * 80}
    assert short(form).startswith('Form booking "xxx')
    assert short([form, form]) == "2 items"
    assert len(short({"a": "x" * 500})) <= LONG
    before, after = ("a" * 200 + end for end in ("noon", "midnight"))
    output = render_change(before, after)  # where they differ is seen
    assert all(edge.startswith("…") and "aaaa" in edge for edge in output)
    assert "noon" in output[0] and "midnight" in output[1]
    assert render_change("noon", "midnight") == [json.dumps("noon"), json.dumps("midnight")]
    assert render_change(MISSING, 1) == ["(absent)", "1"]


def test_in_a_frame_texts_are_texts_and_values_stay_what_they_are() -> None:
    rows = [
        SimpleNamespace(kind="x", place=None, value=MISSING),
        SimpleNamespace(kind="y", place="/a", value={"a": 1}),
        SimpleNamespace(kind="z", place="/b", value=0),
    ]
    made = make_object_frame(rows, ("kind", "place", "value"), texts=("kind", "place"))
    assert [str(dtype) for dtype in made.dtypes] == ["str", "str", "object"]
    assert made.place.isna().tolist() == [True, False, False]
    assert made.value.tolist() == [None, {"a": 1}, 0]
    assert list(make_object_frame([], ("a", "b"), texts=("a",)).columns) == ["a", "b"]
    half = make_object_frame([SimpleNamespace(a="\ud800")], ("a",), texts=("a",))
    pd.testing.assert_series_equal(half.a, pd.Series(["\ud800"], dtype=object, name="a"))
