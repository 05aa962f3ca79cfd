"""A fleet on a cluster outlives what is killed of it, and shows its tokens to nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults.fleet import work
from postgres import Server


def test_a_fleet_outlives_the_scheduler_of_its_cluster_and_no_secret_is_found_in_it(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path))
    verdict = work(postgres, "scheduler", count=12, accounts=2)
    assert verdict.leaks == []
    assert (verdict.lost, verdict.doubled, verdict.false) == (0, 0, 0)
