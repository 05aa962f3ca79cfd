"""Reports: the same text every time, counted in words, and safe to show."""

import pytest
from displayed import html_of

from chatkit.conformance import ConformanceReport, Outcome
from chatkit.conformance.fact import Fact

ODD = "<img src=x onerror=alert(1)>\x1b[31m"


def outcome(number, state, seen=""):
    fact = Fact(number, f"fact_{number}", "Flow", f"Fact {number} is so.", lambda trial: None)
    return Outcome(fact, state, seen)


REPORT = ConformanceReport(
    "account 1001 at https://api.example",
    (outcome(1, "holds"), outcome(2, "differs", "data is null"), outcome(3, "not told", "dark")),
    left=("flows/7: DELETE flows was answered with 403",),
    notes=("2 contacts stay.",),
)


def test_it_shows_itself_as_text():
    assert (
        repr(REPORT)
        == """\
Conformance of account 1001 at https://api.example
    1  holds     Flow  Fact 1 is so.
    2  differs   Flow  Fact 2 is so.
                       -> data is null
    3  not told  Flow  Fact 3 is so.
                       -> dark

1 fact holds, 1 differs, 1 could not be told.
2 contacts stay.
Left behind, remove it yourself: flows/7: DELETE flows was answered with 403"""
    )


def test_it_is_a_table():
    frame = REPORT.frame()
    assert list(frame.index) == [1, 2, 3]
    assert frame.index.name == "number"
    assert list(frame.columns) == ["fact", "section", "outcome", "statement", "seen"]
    assert list(frame.outcome) == ["holds", "differs", "not told"]
    assert frame.seen[2] == "data is null"


@pytest.mark.parametrize(
    ("states", "counts"),
    [
        ((), "0 facts hold, none differs, none could not be told."),
        (("holds", "holds"), "2 facts hold, none differs, none could not be told."),
        (("differs", "differs"), "0 facts hold, 2 differ, none could not be told."),
        (("holds", "not told"), "1 fact holds, none differs, 1 could not be told."),
    ],
)
def test_it_counts_in_words(states, counts):
    report = ConformanceReport("x", tuple(outcome(n, state) for n, state in enumerate(states, 1)))
    assert report.counts == counts
    assert repr(report).endswith(counts)


@pytest.mark.parametrize(
    ("report", "status"),
    [
        (ConformanceReport("x", (outcome(1, "holds"), outcome(2, "not told"))), 0),
        (ConformanceReport("x", (outcome(1, "differs"),)), 1),
        (ConformanceReport("x", (outcome(1, "holds"),), left=("flows/7",)), 1),
        (ConformanceReport("x", (outcome(1, "holds"),), interrupted=True), 130),
    ],
)
def test_the_exit_status_is_that_of_the_worst(report, status):
    assert report.status == status


def test_nothing_in_it_is_obeyed():
    report = ConformanceReport(ODD, (outcome(1, "differs", ODD),), left=(ODD,), notes=(ODD,))
    assert "\x1b" not in repr(report)
    assert "<img" not in html_of(report)
    assert html_of(report).count("&lt;img") == 4


def test_an_interrupt_is_said():
    assert "It was interrupted" in repr(ConformanceReport("x", (), interrupted=True))
    assert "It was interrupted" not in repr(REPORT)
