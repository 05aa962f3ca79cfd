"""Nothing is lost, doubled or falsely reported, whatever the network, the service or a kill does.

The small campaign; `make faults` runs the large one.
"""

from __future__ import annotations

import pytest
from faults.points import BEGINNINGS, ENDS, POINTS
from faults.small import FEW, work


@pytest.mark.timeout(300)  # only what hangs ends there, however busy the machine
def test_kills_and_faults_leave_no_row_lost_doubled_or_falsely_reported() -> None:
    """14 % faults, and SIGKILL at every named point, at any request and at any time."""
    report = work(FEW, kills=50, points="once", killer={"share": 1.0, "patience": 1000})
    assert report["wrong"] == []
    assert set(report["states"]) == {"applied"}
    named = {f"{point}:1" for point in (*BEGINNINGS, *POINTS, *ENDS)}
    assert not named - set(report["killed"])
    assert report["killed"]["request"]  # how many the clock kills depends on the machine
    assert report["adopted"] > 0
