"""The large run: `make faults`. Thousands of rows in every room, faults, and a thousand kills.

`python -m faults --rows 10000 --kills 1000 --seed 0` prints a Markdown table and ends with 1
if a row was lost, duplicated or falsely reported. `--job FILE` runs what a test asks for and
prints JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from faults.account import account
from faults.child import Job
from faults.killer import Killer, Run, summary
from faults.kinds import rates
from faults.load import load
from faults.points import BEGINNINGS, ENDS, POINTS

#: Room, and how many creates, updates and deletes of 10,000 rows.
PARTS = (
    ("contacts", 3000, 1200, 600),
    ("flows", 800, 700, 300),
    ("templates", 800, 700, 300),
    ("contacts", 1000, 400, 180),
    ("webhooks", 4, 3, 3),
    ("webhooks", 3, 4, 3),
)


def named(rng: random.Random, which: str, n: int) -> tuple[list[str], list[str]]:
    """The points of load number `n` (those that end it apart), with the call that is the last.

    Args:
        which: "each": every point in every load, at some call. "once": every point in one of
            two loads, at its first call. "none".
    """
    if which == "none":
        return [], []
    each = which == "each"
    begin, often, end = (points if each else points[n::2] for points in (BEGINNINGS, POINTS, ENDS))
    numbered = [f"{point}:{rng.choice((1, 1, 2, 3, 5, 10)) if each else 1}" for point in often]
    first = [f"{point}:1" for point in begin]
    return first + rng.sample(numbered, len(numbered)), [f"{point}:1" for point in end]


def work(
    parts: list[list[Any]],
    *,
    seed: int = 0,
    kills: int = 0,
    faults: float = 0.14,
    engine: str = "chatkit",
    points: str = "each",
    options: dict[str, Any] | None = None,
    killer: dict[str, Any] | None = None,
    service: dict[str, Any] | None = None,
    profile: dict[str, Any] | None = None,
    show: bool = False,
) -> list[Run]:
    """Apply one load after the other in one account; what became of each.

    Raises:
        Broken: The engine raised, hung, or sent something again.
    """
    rng = random.Random(seed)
    runs = []
    rows = sum(sum(part[1:]) for part in parts)
    with account(profile) as served, tempfile.TemporaryDirectory() as folder:
        left = 0.0
        for n, (room, *counts) in enumerate(parts):
            left += kills * sum(counts) / rows
            wanted = load(served, room, seed + n, *counts)
            common = {"seed": seed + n, "reads": faults / 7} | (service or {})
            served.faults(common.pop("rates", None) or rates(faults), **common)
            place = Path(folder, str(n))
            place.mkdir()
            hunter = Killer(rng, round(left), *named(rng, points, n), **(killer or {}))
            job = Job(served, wanted, place, engine, **(options or {}))
            hunter.alone = not job.writer
            run = hunter.apply(job)
            left -= sum(run.kills.values())
            runs.append(run)
            if show:
                print(line([*part_name(room, counts), *summary(run).values()]), flush=True)
                for wrong in run.verdict.wrong[:20]:
                    print(f"    {wrong}")
    return runs


def part_name(room: str, counts: list[int]) -> list[str]:
    return [f"{room} +{counts[0]} ~{counts[1]} -{counts[2]}"]


def line(cells: list[Any]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--job", help="JSON: the arguments of `work`")
    given = parser.parse_args()
    preload()
    if given.job:
        runs = work(**json.loads(given.job))
        print(json.dumps(whole(runs)))
        return 0
    parts = [[room, *(max(1, round(n * given.rows / 10_000)) for n in c)] for room, *c in PARTS]
    for part in parts[-2:]:  # ten webhooks at most
        part[1:] = list(PARTS[-1][1:])
    begun = time.monotonic()
    titles = ["load", *summary(Run())]
    print(line(titles) + "\n" + line(["---"] * len(titles)))
    runs = work(parts, seed=given.seed, kills=given.kills, service={"latency": 0.003}, show=True)
    run = sum(runs, Run())
    run.seconds = time.monotonic() - begun
    print(line(["all", *summary(run).values()]) + "\n")
    for title, counted in (("faults", run.faults), ("kills", run.kills)):
        print(f"{title}: " + ", ".join(f"{k} {v}" for k, v in sorted(counted.items())))
    return 1 if run.verdict.wrong else 0


def whole(runs: list[Run]) -> dict[str, Any]:
    """Everything about some runs as JSON."""
    run = sum(runs, Run())
    return {
        **summary(run),
        "wrong": run.verdict.wrong,
        "states": run.verdict.states,
        "met": run.faults,
        "killed": run.kills,
        "events": run.events,
        "gaps": run.verdict.gaps,
    }


def preload() -> None:
    """Import everything once, here, so that a child has nothing to import."""
    import importlib

    import pandas  # noqa: F401

    import chatkit

    for name in ("frame", "wire", "client", "contacts", "flows", "templates", "webhooks"):
        importlib.import_module(f"{chatkit.__name__}.{name}")


if __name__ == "__main__":
    sys.exit(main())
