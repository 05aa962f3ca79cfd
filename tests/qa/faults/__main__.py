"""The large run: `make faults`. Thousands of rows in every resource, faults, and a thousand kills.

`python -m faults --rows 10000 --kills 1000 --seed 0` prints a Markdown table and ends with 1
if a row was lost, doubled or falsely reported. `--job JSON` does the campaign that a test asks
for, and prints JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from faults.campaign import Part, preload, work
from faults.killer import Run
from faults.points import BEGINNINGS, ENDS, POINTS, points_in

#: The loads of 10,000 rows, each a plan and a run of its own; "account" is one for all resources.
PARTS = (
    *[("contacts", 800, 320, 156)] * 3,
    *[("flows", 400, 350, 150), ("templates", 400, 350, 150), ("contacts", 800, 320, 156)] * 2,
    *[("account", 450, 330, 120)] * 2,
)
#: Those of a service that lists deleted contacts too.
LISTED = (("contacts", 800, 320, 156),)
#: Those whose journals lie in PostgreSQL, where some kills end all sessions instead.
POSTGRES = (("contacts", 800, 320, 156), ("flows", 400, 350, 150))
#: An account has ten webhooks at most.
WEBHOOKS = (("webhooks", 4, 3, 3), ("webhooks", 3, 4, 3))


def summary(run: Run) -> dict[str, Any]:
    """The figures of a run, in the order of a table."""
    verdict = run.verdict
    return {
        "rows": verdict.rows,
        "faults": sum(run.faults.values()),
        "kills": sum(run.kills.values()),
        "resumed": run.events["resumed"],
        "adopted": run.events["adopted"],
        "lost": len(verdict.lost),
        "duplicated": len(verdict.duplicated),
        "false": len(verdict.false),
        "stray": len(verdict.stray),
        "overwritten": len(verdict.overwritten),
        "repeated": verdict.repeated,
        "unknown": verdict.states["unknown"],
        "seconds": round(run.seconds, 1),
    }


def whole(runs: list[Run]) -> dict[str, Any]:
    """Everything about some runs, as JSON."""
    run = sum(runs, Run())
    more = {"states": run.verdict.states, "gaps": run.verdict.gaps, "wrong": run.verdict.wrong}
    more |= {"undo": None if run.back is None else summary(run.back)}
    more["wrong"] = [*run.verdict.wrong, *(run.back.verdict.wrong if run.back else ())]
    return summary(run) | more | {"met": run.faults, "killed": run.kills, "events": run.events}


def large(rows: int, kills: int, seed: int) -> Run:
    """Do the large run and print its table, a line as soon as it is known."""
    share = (rows - size(WEBHOOKS)) / size([*PARTS, *LISTED, *POSTGRES])
    parts, listed, kept = (
        [[resource, *(round(n * share) for n in counts)] for resource, *counts in some]
        for some in (PARTS, LISTED, POSTGRES)
    )
    parts += WEBHOOKS
    print(line("load", *summary(Run())))
    print(line("---", *["---:"] * len(summary(Run()))))

    def show(part: Part, run: Run) -> None:
        resource, creates, updates, deletes = part
        name = f"{resource} +{creates} ~{updates} -{deletes}"
        for what, report in ((name, run), ("its undo", run.back)):
            if report is not None:
                print(line(what, *summary(report).values()), flush=True)
                for wrong in report.verdict.wrong[:20]:
                    print(f"    {wrong}", file=sys.stderr)

    begun = time.monotonic()
    how = {"service": {"html": 0.03, "extras": True}, "killer": {"undoes": True}, "show": show}
    few, some = (round(kills * size(part) / rows) for part in (listed, kept))
    runs = work(parts, seed=seed, kills=kills - few - some, points="each", **how)
    points = {"profile": {"inactive_in_lists": True}, "points": "each"}
    runs += work(listed, seed=seed + len(parts), kills=few, **points, **how)
    runs += work(kept, seed=seed + 99, kills=some, points="each", home="postgresql", **how)
    run = sum(runs, Run())
    run.seconds = time.monotonic() - begun
    print(line("all", *summary(run).values()))
    if run.back:
        print(line("all undos", *summary(run.back).values()))
    return run


def size(parts: Sequence[Part]) -> int:
    """Return the number of rows of some loads."""
    return sum(sum(counts) for _, *counts in parts)


def line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def counted(what: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(what.items()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--job", help="JSON: the arguments of `work`")
    passed = parser.parse_args()
    preload()
    if passed.job:
        print(json.dumps(whole(work(**json.loads(passed.job)))))
        return 0
    run = large(passed.rows, passed.kills, passed.seed)
    print(f"\nFaults: {counted(run.faults)}\n\nKills: {counted(run.kills)}")
    print(f"\nStates: {counted(run.verdict.states)}")
    named = {point.rpartition(":")[0] for point in run.kills}
    every = {*BEGINNINGS, *POINTS, *ENDS}
    if missed := {*every, *points_in("postgresql", tuple(every))} - named:
        print(f"\nPoints that no child reached: {', '.join(sorted(missed))}")
    return 1 if run.verdict.wrong or (run.back and run.back.verdict.wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
