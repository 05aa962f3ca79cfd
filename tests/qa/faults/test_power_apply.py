"""A power cut, a failing disk, a full one under a whole apply: nothing is lost, doubled or false.

A journal by itself is in test_power.py; here the whole engine applies a plan to a service in
another process. `python -m faults.cuts` does the large run.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import processes
import pytest
from faults.account import environment
from faults.cuts import CASES

linux = pytest.mark.skipif(sys.platform != "linux", reason="forks, and the kernel's own means")
pytestmark = linux


def report(*arguments: str) -> Any:
    """Have a process of its own do it: it forks, and this one may have threads."""
    done = processes.run(
        [sys.executable, "-m", "faults.cuts", *arguments],
        env=environment(), capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_a_power_cut_leaves_is_taken_up_and_nothing_is_lost_doubled_or_false() -> None:
    """The power goes during a commit; what was being written is torn; a fresh process goes on."""
    run = report("--json", "cuts", "--cuts", "15")
    assert run["wrong"] == []
    assert set(run["states"]) == {"applied"}
    assert run["killed"] == {"power cut": 15}
    assert run["resumed"] > 5
    assert run["adopted"] > 0


def test_a_disk_that_loses_what_it_has_synced_would_be_noticed() -> None:
    """Proof that the test above can fail: intents that are lost with the power are sent twice."""
    run = report("--json", "cuts", "--cuts", "5", "--seed", "2", "--lazy", "5")
    assert run["duplicated"] + run["false"] > 5


def test_on_a_disk_that_fails_apply_tells_what_is_true_and_a_resume_does_the_rest() -> None:
    """Nothing is sent after the failure, and the journal is named; then the disk works again."""
    disks: list[dict[str, Any]] = report("--json", "disks")
    assert len(disks) == len(CASES)
    for case in disks:
        assert case["wrong"] == [], case
        assert set(case["states"]) <= {"applied", "unknown", "not sent"}, case
        if not case["silent"]:
            assert case["later"] == 0, case
            assert "It stopped: The journal of run" in case["output"], case
            assert set(case["resumed"]) == {"applied"}, case
    first = [case for case in disks if case["commit"] == 1]
    assert all(set(case["states"]) == {"not sent"} for case in first)
    assert {"applied", "unknown"} <= set().union(*(case["states"] for case in disks))
    # So that this test can fail: a journal that keeps quiet about a failure would be noticed.
    [silent] = [case for case in disks if case["silent"]]
    assert silent["later"] > 10
