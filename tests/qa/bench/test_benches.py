"""Every bench of `make bench` runs, as small as it can be, and says what it has to say.

What it measures here means nothing: speed is for `make bench`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
FOLDER = Path(__file__).parent
result = re.search(r"^BENCHES \?= (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.M)
BENCHES = result[1].split() if result else []


@pytest.fixture(scope="module")
def printed() -> dict[str, dict[str, Any]]:
    """Return the output and exit code of each bench, run in one process."""
    command = [sys.executable, str(FOLDER / "smoke.py"), *BENCHES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return {line["bench"]: line for line in map(json.loads, done.stdout.splitlines())}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("bench", BENCHES)
def test_it_runs_and_prints_its_tables(bench: str, printed: dict[str, dict[str, Any]]) -> None:
    one = printed[bench]
    assert one["code"] == 0, one["printed"]
    assert re.search(r"^### .+\n\n\|.+\|\n\|---", one["printed"], re.M), one["printed"]
    assert "Traceback" not in one["printed"]


def test_make_bench_runs_every_bench_there_is() -> None:
    runs = {path.stem for path in FOLDER.glob("*.py") if "(main)\n" in path.read_text("utf-8")}
    assert runs == set(BENCHES)


def held(value: float, explained: str = "") -> subprocess.CompletedProcess[str]:
    """Run a bench with one figure, which should be at most 1."""
    program = (
        "from measure import *\n"
        "def main():\n"
        f"    at_most('time of a thing', {value}, 1, ' s', {explained!r})\n"
        "    show('A table', ['what'], [])\n"
        "run(main)"
    )
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=60)


def test_a_goal_that_is_met_is_printed_beside_its_figure() -> None:
    done = held(0.5)
    assert "| time of a thing | ≤ 1 s | 0.50 s | met |  |" in done.stdout
    assert done.returncode == 0


def test_a_goal_that_is_missed_fails_the_bench() -> None:
    done = held(1.5)
    assert "| time of a thing | ≤ 1 s | 1.50 s | **MISSED** |  |" in done.stdout
    assert "not explained**: time of a thing" in done.stdout
    assert done.returncode == 3


def test_a_goal_that_is_missed_and_explained_fails_nothing() -> None:
    done = held(1.5, "the peer skips what the law demands")
    assert "**MISSED** | the peer skips what the law demands |" in done.stdout
    assert done.returncode == 0
