"""Small campaigns, each in a process of its own: a few rows of each resource."""

from __future__ import annotations

import json
import sys
from typing import Any

import processes
from faults.account import environment

FEW = [
    ["contacts", 30, 15, 10],
    ["flows", 20, 10, 5],
    ["templates", 10, 10, 5],
    ["webhooks", 3, 4, 3],
]
#: Quicker than a person would want it, and still slower than what lands late.
QUICK = {"deadline": 1.0, "settle": 0.35}
ROWS = sum(sum(counts) for _, *counts in FEW)


def work(parts: list[list[Any]], **job: Any) -> dict[str, Any]:
    """Have a process of its own do a job: the killer forks, and this one may have threads."""
    asked = {"parts": parts, "options": QUICK} | job
    asked["service"] = {"late": 0.15} | job.get("service", {})
    done = processes.run(
        [sys.executable, "-m", "faults", "--job", json.dumps(asked)],
        env=environment(), capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report
