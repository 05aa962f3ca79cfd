"""The list of findings has one line for each, the worst first, and leads to the clicked one."""

from __future__ import annotations

import re

from widgets.screen import click_row, html

from chatkit.flowjson import Finding
from chatkit.flowjson.lint import Findings
from chatkit.util.json import make_removal_patch
from chatkit.widgets.editor import FindingList


def test_the_worst_are_listed_first_and_lead_to_their_own_place() -> None:
    gone: list[int] = []
    fixed: list[int] = []
    one = FindingList(gone.append, fixed.append)
    severities = ("note", "warning", "error", "warning", "error")
    findings = [
        Finding("A", each, f"/{n}", "<b>\u202e", "Mend it.", n + 1, 7, make_removal_patch("/x"))
        for n, each in enumerate(severities)
    ]
    one.show(Findings(findings))
    listed = re.findall('<li class="([a-z]+)"', html(one))
    assert listed == ["error", "error", "warning", "warning", "note"]
    assert "&lt;b&gt;⟨U+202E⟩ Mend it." in html(one) and "A · line 3" in html(one)
    for n in ("0", "1", "2", "3", "4", "5", "-1", "x", None):
        click_row(one, "go", n)
        click_row(one, "fix", n)
    assert gone == fixed == [2, 4, 1, 3, 0]


def test_of_very_many_the_first_are_listed_and_what_a_person_decides_has_no_button() -> None:
    one = FindingList(lambda _: None, lambda _: None)
    one.show(Findings([Finding("A", "warning", f"/{n}", "long") for n in range(120)]))
    assert html(one).count("<li") == 100 and ">Fix<" not in html(one)
    assert "120 warnings, the first 100 here" in html(one)
