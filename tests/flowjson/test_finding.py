"""Findings: in order, counted, shown, and never run as HTML."""

from __future__ import annotations

from displayed import html_of
from flowjson.base import DONE, footer, screen

from chatkit.flowjson.lint import Findings, lint
from chatkit.report import Finding

BAD = Finding("BAD", "error", "/screens/10/id", "It is bad.", "Mend it.")
LONG = Finding("LONG", "warning", "/screens/2/title", "It is long.")
SEEN = Finding("SEEN", "note", "", "It was seen.")


def test_findings_are_in_the_order_of_the_document() -> None:
    assert list(Findings([BAD, LONG, SEEN])) == [SEEN, LONG, BAD]
    lines = [
        Finding("A", "error", "/z", "", line=3, column=1),
        Finding("B", "warning", "/b", "", line=1, column=9),
        Finding("C", "error", "/a", "", line=1, column=9),
        Finding("D", "error", "/a", "", line=1, column=2),
    ]
    assert [each.code for each in Findings(lines)] == ["D", "C", "B", "A"]


def test_findings_are_chosen_by_severity() -> None:
    result = Findings([BAD, LONG, SEEN])
    assert [list(result.errors), list(result.warnings), list(result.notes)] == [
        [BAD],
        [LONG],
        [SEEN],
    ]
    assert not result.ok
    assert result.warnings.ok
    assert Findings().ok


def test_findings_are_a_sequence() -> None:
    result = Findings([BAD, LONG])
    assert (len(result), result[0], result[-1]) == (2, LONG, BAD)
    assert result[1:] == Findings([BAD])
    assert BAD in result
    assert hash(result) == hash(Findings([LONG, BAD]))
    assert result != [LONG, BAD]


def test_findings_show_themselves_in_a_stable_text() -> None:
    assert repr(Findings()) == "No findings"
    assert repr(Findings([BAD, LONG])) == (
        "1 error, 1 warning\n"
        "  warning LONG at /screens/2/title\n"
        "    It is long.\n"
        "  error BAD at /screens/10/id\n"
        "    It is bad. Mend it."
    )
    assert str(SEEN) == "note SEEN at (document): It was seen."
    at = Finding("X", "error", "/a", "No.", line=7, column=3)
    assert str(at) == "error X at 7:3 /a: No."


def test_what_a_stranger_wrote_is_not_run_nor_hidden() -> None:
    sly = Finding("X", "error", "/<b>", "<script>alert(1)</script>\u202e\x1b[2J", "<i>")
    output = html_of(Findings([sly]))
    assert "<script" not in output
    assert "<i>" not in output
    assert "/<b>" not in output
    for text in (output, repr(Findings([sly])), str(sly)):
        assert "\u202e" not in text
        assert "\x1b" not in text


def test_no_findings_are_said_in_html_too() -> None:
    assert "<p>No findings</p>" in html_of(Findings())


def test_findings_become_a_frame() -> None:
    assert list(Findings([BAD, LONG]).frame()["code"]) == ["LONG", "BAD"]


def test_findings_of_a_value_are_shown_in_it() -> None:
    result = Findings([Finding("X", "error", "/a/1", "No.")], {"a": [1, 2]})
    assert repr(result.annotated(around=0)) == "  | …\n4 |     2\n  |     ^ error X: No."


def test_findings_count_what_fix_corrects() -> None:
    name = {"type": "TextInput", "name": "name", "label": "Your name"}

    def reported(*components: dict[str, str]) -> Findings:
        only = screen("ONLY", *components, footer(DONE), terminal=True)
        return lint({"version": "7.3", "screens": [only]})

    assert repr(reported(name)).startswith("1 warning; .fix() corrects it")
    both = reported(name, name | {"name": "a b"})
    assert repr(both).startswith("2 warnings; .fix() corrects 1 of them")
    assert ".fix() corrects 1 of them" in html_of(both)
