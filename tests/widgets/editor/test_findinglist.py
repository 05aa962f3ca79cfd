"""The list of findings tells them in one line each, and leads to the one that was clicked."""

from __future__ import annotations

from widgets.screen import send

from chatkit.flowjson import Finding
from chatkit.flowjson.lint import Findings
from chatkit.util.json import make_removal_patch
from chatkit.widgets.editor import FindingList


def test_findings_are_listed_and_a_click_leads_to_one() -> None:
    gone: list[int] = []
    one = FindingList(gone.append, lambda _: None)
    one.show(Findings([Finding("A", "error", "/x", "wrong\u202e", "Mend it.", 3, 7)]))
    assert one.listed == [
        {
            "severity": "error",
            "where": "line 3",
            "message": "wrong⟨U+202E⟩ Mend it.",
            "code": "A",
            "fixable": False,
        }
    ]
    for message in ({"go": 0}, {"go": 1}, {"go": -1}, {"go": "0"}, None):
        send(one, message)
    assert gone == [0]


def test_the_worst_are_listed_first_and_lead_to_their_own_place() -> None:
    gone: list[int] = []
    one = FindingList(gone.append, lambda _: None)
    severities = ("note", "warning", "error", "warning", "error")
    one.show(
        Findings([Finding("A", each, f"/{n}", "", line=n + 1) for n, each in enumerate(severities)])
    )
    listed = [each["severity"] for each in one.listed]
    assert listed == ["error", "error", "warning", "warning", "note"]
    for n in range(5):
        send(one, {"go": n})
    assert gone == [2, 4, 1, 3, 0]


def test_of_very_many_the_first_are_listed() -> None:
    one = FindingList(lambda _: None, lambda _: None)
    one.show(Findings([Finding("A", "warning", f"/{n}", "long") for n in range(120)]))
    assert len(one.listed) == 100
    assert one.summary == "120 warnings, the first 100 here"


def test_a_finding_that_can_be_mended_says_so_and_its_button_mends_it() -> None:
    mended: list[int] = []
    one = FindingList(lambda _: None, mended.append)
    one.show(Findings([Finding("A", "error", "/x", "wrong", patch=make_removal_patch("/x"))]))
    assert one.listed[0]["fixable"]
    for message in ({"fix": 0}, {"fix": 1}, {"fix": -1}, {"fix": None}):
        send(one, message)
    assert mended == [0]
