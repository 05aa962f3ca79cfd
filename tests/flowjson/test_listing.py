"""A listing: source lines with the findings under them."""

from __future__ import annotations

from displayed import html_of
from hypothesis import given
from hypothesis import strategies as st

from chatkit.flowjson.lint import WIDE, AnnotatedSource
from chatkit.report import Finding


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


def test_lines_far_from_a_finding_are_left_out() -> None:
    text = "\n".join(str(number) for number in range(1, 101))
    output = repr(AnnotatedSource(text, [at(50, 1), at(90, 1)], around=1)).splitlines()
    assert [line for line in output if "…" in line] == ["   | …", "   | …"]
    assert [line[:2] for line in output if line[:2].strip()] == ["49", "50", "51", "89", "90", "91"]


def test_a_long_line_is_cut_around_the_finding() -> None:
    text = '{"picture": "' + "A" * 5000 + '", "b": 1}'
    column = text.index('"b"') + 1
    line, mark = repr(AnnotatedSource(text, [at(1, column)])).splitlines()
    assert len(line) < WIDE + 8
    assert line[mark.index("^") :].startswith('"b": 1}')
    assert line.startswith("1 | …AAA")


def test_a_tab_keeps_the_mark_at_its_column() -> None:
    line, mark = repr(AnnotatedSource('\t"a": 1', [at(1, 2)])).splitlines()
    assert line[mark.index("^")] == '"'


def test_html_is_escaped_and_coloured_by_severity() -> None:
    output = html_of(AnnotatedSource('{"<script>": 1}', [at(1, 2), at(1, 2, "warning")]))
    assert "<script" not in output
    assert "&lt;script&gt;" in output
    assert output.count("<b style=") == 2


def test_without_findings_there_is_nothing_to_list() -> None:
    assert repr(AnnotatedSource("{}", [])) == "No findings"
    assert html_of(AnnotatedSource("{}", [])).endswith(">No findings</pre>")


def test_a_finding_without_line_is_found_by_its_pointer() -> None:
    listing = AnnotatedSource('{\n  "a": 1\n}', [Finding("X", "note", "/a/b", "No.")])
    assert repr(listing).splitlines()[2] == "  |   ^ note X: No."


@given(st.text(), st.integers(1, 9), st.integers(1, 300))
def test_any_text_and_place_can_be_shown(text: str, line: int, column: int) -> None:
    listing = AnnotatedSource(text, [at(line, column)])
    assert "error X: No." in repr(listing)
    assert "error X: No." in html_of(listing)
