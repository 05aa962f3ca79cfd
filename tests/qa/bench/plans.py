"""Bench of long plans: what it takes to save one, to read it, to begin its run and to apply it.

`python plans.py keep ROWS` does all but the last with a plan of so many updates, and
`python plans.py apply ROWS BASE_URL TOKEN` applies creates to a sandbox. Both print their CPU and
their memory as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import at_most, child, medians, memory, rounds, run, server, show, sized
from roads import forget_highest, highest

FEW, MANY = sized(100_000, 200), sized(300_000, 600)
SENT = sized(20_000, 40)
COUNT = 1
#: Three times the rows take at most so many times the CPU.
TIMES = 3.6
#: MB that 100,000 changes take, saved, read again and begun.
PEAK = 300.0
STEPS = {
    "hash": "`plan.hash`",
    "save": "`plan.save()`",
    "load": "`client.load_plan()`",
    "journal": "the journal is written, and verified as it is opened",
    "rows": "the state of all rows is read from it",
}


def update(n: int) -> Any:
    """One change of a name."""
    from chatkit.bulk.changes import Change

    before, after = {"name": f"Ana Cruz {n}"}, {"name": f"Ana Díaz {n}"}
    return Change(n, "update", n, f"+1 2025{n:07}", before, after, seen="2026-11-20T10:15:02Z")


def create(n: int) -> Any:
    """One new contact."""
    from chatkit.bulk.changes import Change

    number = f"2025{n:06}"
    after = {"number": number, "country_code": "+1", "name": f"Ana Cruz {n}"}
    return Change(n, "create", None, f"+1 {number}", {}, after)


def plan_of(client: Any, changes: Iterator[Any]) -> Any:
    """Make a plan of changes."""
    from chatkit.bulk.plan import Plan, get_setting, get_target

    empty = client.contacts.plan([])
    return Plan(get_target(empty), get_setting(empty), [*changes])


def keep(rows: int) -> None:
    """Save a plan, read it again, and begin its run."""
    from contextlib import redirect_stdout

    from chatkit import Sandbox, connect
    from chatkit.bulk.journal import FolderStore
    from chatkit.bulk.outcomes import read_rows

    with redirect_stdout(sys.stderr):
        client = connect(Sandbox(seed="empty"))
    plan = plan_of(client, map(update, range(rows)))
    outcome: dict[str, float] = {}
    before = memory()

    def step(name: str, work: Callable[[], Any]) -> Any:
        forget_highest()
        began = time.process_time()
        done = work()
        outcome[name] = time.process_time() - began
        outcome["memory"] = max(outcome.get("memory", 0.0), highest() - before)
        return done

    with TemporaryDirectory() as folder:
        path = Path(folder)
        step("hash", lambda: plan.hash)
        step("save", lambda: plan.save(path / "plan.json"))
        again = step("load", lambda: client.load_plan(path / "plan.json"))
        header = again._header()
        with FolderStore(path).hold([], again.id) as held:
            journal = step("journal", lambda: held.create(header, again.changes))
            step("rows", lambda: read_rows(journal))
    print(json.dumps(outcome))


def apply(rows: int, base_url: str, token: str) -> None:
    """Apply creates to a sandbox."""
    import os

    from chatkit import Client

    with TemporaryDirectory() as folder, Client(base_url, 1001, token) as client:
        os.environ["CHATKIT_DATA"] = folder
        plan_of(client, map(create, range(900_000, 900_100))).apply(many=True)
        plan = plan_of(client, map(create, range(rows)))
        forget_highest()
        before, began = memory(), time.process_time()
        result = plan.apply(many=True, concurrency=32)
        assert set(result["state"]) == {"applied"}, result["state"].value_counts()
        spent = time.process_time() - began
    print(json.dumps({"cpu": spent, "memory": highest() - before}))


# --- the tables -------------------------------------------------------------------------


def main() -> None:
    """Print two tables."""
    runs: dict[int, Any] = {
        rows: partial(child, "plans.py", "keep", rows, timeout=900) for rows in (FEW, MANY)
    }
    outcome = {rows: medians(each) for rows, each in rounds(runs, COUNT).items()}
    few, many = outcome[FEW], outcome[MANY]
    lines = []
    for name, text in STEPS.items():
        times = many[name] / max(few[name], 1e-6)
        at_most(f"CPU of {MANY:,} rows, {FEW:,} = 1: {text}", times, TIMES)
        lines.append([text, few[name], many[name], times])
    at_most(f"MB more at the highest with {FEW:,} rows", few["memory"], PEAK)
    memory_ratio = many["memory"] / max(few["memory"], 1.0)
    lines.append(["MB more at the highest", few["memory"], many["memory"], memory_ratio])
    show("A plan, saved, read and begun", ["what", f"{FEW:,}", f"{MANY:,}", f"{FEW:,} = 1"], lines)
    applied()


def applied() -> None:
    """Measure the memory of the kernel that applies many creates."""
    with server(sys.executable, "-m", "chatkit", "sandbox", "--json") as up:
        place = json.loads(up.line)
        one = child("plans.py", "apply", SENT, place["base_url"], place["token"], timeout=1800)
    at_most(f"MB more at the highest, {SENT:,} creates applied", one["memory"], PEAK)
    show(
        f"{SENT:,} creates applied to a sandbox",
        ["CPU s", "MB more at the highest"],
        [[one["cpu"], one["memory"]]],
    )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["keep", count]:
            keep(int(count))
        case ["apply", count, address, secret]:
            apply(int(count), address, secret)
        case _:
            run(main)
