"""Nothing is lost, doubled or falsely reported, whatever the network, the service or a kill does.

More small campaigns than tests/bulk has; `make faults` runs the large one.
"""

from __future__ import annotations

import pytest
from faults.small import FEW, ROWS, work
from volume import volume

pytestmark = pytest.mark.timeout(300)  # only what hangs ends there, however busy the machine


def test_the_harness_finds_what_a_naive_applier_does_wrong() -> None:
    """The naive client retries everything and fails refused calls; without faults it is right."""
    right = work(FEW, engine="naive", faults=0.0)
    assert (right["wrong"], right["states"]) == ([], {"applied": ROWS})
    wrong = work(FEW[:2], engine="naive", kills=5)
    assert wrong["duplicated"] > 0
    assert wrong["false"] > 0


def test_kills_of_the_process_and_of_all_sessions_are_survived_by_a_journal_in_postgresql() -> None:
    """At named points and from outside, where journal and lock are on one connection."""
    report = work(
        [["contacts", 12, 6, 4], ["flows", 8, 4, 2]],
        kills=volume(14), points="each", home="postgresql", killer={"share": 0.3, "sessions": 0.8},
    )  # fmt: skip
    assert report["wrong"] == []
    assert set(report["states"]) == {"applied"}
    assert report["killed"]["sessions"]


def test_a_run_under_faults_is_taken_back_and_each_row_accounted_for() -> None:
    service = {"html": 0.03, "extras": True}
    report = work(FEW[1:3], kills=4, killer={"undoes": True}, service=service)
    assert report["wrong"] == []
    assert report["undo"]["rows"] > 30 and report["undo"]["unknown"] == 0


@pytest.mark.parametrize("verb", ["POST", "PUT", "PATCH", "DELETE"])
def test_when_every_answer_is_lost_every_row_is_adopted_and_nothing_is_done_twice(
    verb: str,
) -> None:
    sent = {"POST": 1, "PUT": 2, "PATCH": 2, "DELETE": 3}[verb]
    parts = [part for part in FEW if (part[0] == "webhooks") >= (verb == "PATCH")]
    if verb != "PATCH":
        parts = [[resource, *(n // 2 for n in counts)] for resource, *counts in parts[:3]]
    report = work(
        parts, service={"rates": {"dropped after": 1.0}, "verbs": [verb], "reads": 0},
    )  # fmt: skip
    assert report["wrong"] == []
    assert report["states"] == {"applied": sum(sum(counts) for _, *counts in parts)}
    assert report["adopted"] == sum(part[sent] for part in parts)
    assert report["repeated"] == 0


def test_one_plan_for_all_resources_survives_kills_and_faults_and_is_taken_back() -> None:
    """The state of an account is restored in one run: none lost, none doubled, none false."""
    parts = [["account", 15, 0, 0], ["account", 15, 24, 12]]  # the first finds next to nothing
    report = work(parts, kills=volume(12), killer={"undoes": True})
    assert report["wrong"] == []
    assert set(report["states"]) == {"applied"}
    assert report["undo"]["unknown"] == 0


def test_what_lands_late_is_waited_for() -> None:
    report = work(
        FEW,
        service={"rates": {"late, dropped": 0.2, "late, 504": 0.2}, "late": 0.25, "reads": 0},
    )
    assert report["wrong"] == []
    assert report["states"] == {"applied": ROWS}
    assert report["repeated"] == 0


def test_a_storm_of_429_fails_no_row() -> None:
    storm = {"rates": {"429": 0.9}, "reads": 0.9, "seconds": 2.0}
    report = work([["contacts", 60, 20, 20]], service=storm)
    assert report["wrong"] == []
    assert report["states"] == {"applied": 100}
    assert report["met"]["429"] > 4
