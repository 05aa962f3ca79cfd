"""The stop button: a real kernel, interrupted at random moments while its cell applies a plan.

`python -m faults.interrupts 100` prints one Markdown table and ends with 1 if a row was lost,
doubled or falsely reported, if a cell did not end in time, or wrote after it had ended.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from documents import DOCUMENT
from faults.notebook import Kernel, Served, kernel, served

#: Seconds for a call; a cell ends in a second more after the stop button.
DEADLINE = 1.0
RESOURCES = ("contacts", "flows")
#: What the updates of a resource set.
EDIT: dict[str, dict[str, Any]] = {
    "contacts": {"name": "Zoë"},
    "flows": {"flow_json": DOCUMENT | {"version": "7.2"}},
}

BEGIN = """
import json
import chatkit
import pandas as pd
client = chatkit.Client({base_url!r}, {account_id!r}, {token!r}, deadline={deadline})
"""
PLAN = """
resource, load, result = client.{resource}, json.loads({load!r}), None
frame = resource.frame()
edited = frame.loc[load["updates"]]
for name, value in load["edit"].items():
    edited[name] = pd.Series([value] * len(edited), index=edited.index)
new = pd.DataFrame(load["creates"])
frame = pd.concat([edited.reset_index(), new], ignore_index=True)
plan = resource.plan(frame, delete=load["deletes"])
"""
APPLY = "result = plan.apply(many=True, irreversible=True)"
#: A cell that was interrupted before it began has left no run: it is run again.
RESUME = """
result = chatkit.resume(result) if result is not None else plan.apply(
    many=True, irreversible=True
)
"""
RESULT = 'result[["change", "key", "label", "state"]].to_json(orient="values")'

# --- one interrupt ----------------------------------------------------------------------------


@dataclass
class Tally:
    """The outcome of some interrupts."""

    interrupts: int = 0
    pressed_twice: int = 0
    too_early: int = 0  #: before apply listened: nothing was sent, and there is no frame
    too_late: int = 0  #: the cell had ended by itself
    rows: int = 0
    applied: int = 0
    not_sent: int = 0
    unknown: int = 0
    longest: float = 0.0  #: seconds from the first press to the end of the cell
    writes_after: int = 0
    false: int = 0
    no_frame: int = 0  #: something was sent, and there is no frame
    lost: int = 0
    duplicated: int = 0
    wrong: list[str] = field(default_factory=list, metadata={"hidden": True})

    def __add__(self, other: Tally) -> Tally:
        sums = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(Tally)}
        return Tally(**sums | {"longest": max(self.longest, other.longest)})

    def figures(self) -> dict[str, Any]:
        """Return the figures, in the order of a table."""
        output = [f.name for f in fields(Tally) if not f.metadata]
        return {name.replace("_", " "): getattr(self, name) for name in output} | {
            "longest": f"{self.longest:.2f} s"
        }


class Load:
    """Some creates, updates and deletes in one resource of an empty account."""

    def __init__(self, service: Served, rng: random.Random) -> None:
        self.service, self.resource = service, rng.choice(RESOURCES)
        creates, updates, deletes = rng.randint(15, 50), rng.randint(3, 8), rng.randint(2, 5)
        old = [service.call("POST", self.resource, body(self.resource, n))["id"] for n in range(13)]
        self.updates, self.deletes = old[:updates], old[-deletes:]
        self.creates = [body(self.resource, n) for n in range(100, 100 + creates)]
        self.rounds = 4 + creates / 8  #: of calls, eight at once; what is there is read before

    def as_json(self) -> str:
        return json.dumps(
            {"creates": self.creates, "updates": self.updates, "deletes": self.deletes}
            | {"edit": EDIT[self.resource]}
        )

    def effects(self) -> Mapping[tuple[str, str | int], int]:
        """Count how often each row took effect: creates by natural key, others by id."""
        records = self.service.records(self.resource)
        outcome: Counter[tuple[str, str | int]] = Counter()
        for record in records:
            outcome["create", called(self.resource, record)] += 1
            outcome["update", record["id"]] += edited(self.resource, record)
        present = {record["id"] for record in records}
        outcome.update({("delete", key): 1 for key in self.deletes if key not in present})
        return outcome

    def rows(self) -> list[tuple[str, str | int]]:
        """Return the name of each row, as `effects` has it."""
        return [
            *(("create", called(self.resource, fields)) for fields in self.creates),
            *(("update", key) for key in self.updates),
            *(("delete", key) for key in self.deletes),
        ]


def body(resource: str, n: int) -> dict[str, Any]:
    if resource == "contacts":
        return {"number": f"2025{n:06d}", "country_code": "+1", "name": "Ana"}
    return {"name": f"Flow {n}", "template_name": "default", "flow_json": DOCUMENT}


def called(resource: str, record: Mapping[str, Any]) -> str:
    return f"+1 {record['number']}" if resource == "contacts" else str(record["name"])


def edited(resource: str, record: Mapping[str, Any]) -> bool:
    if resource == "contacts":
        return bool(record["first_name"] == EDIT[resource]["name"])
    return bool(record["flow_json"] == EDIT[resource]["flow_json"])


def interrupted(service: Served, kernel: Kernel, rng: random.Random, twice: float = 0.3) -> Tally:
    """Have a cell apply a load, press the stop button, and compare its frame with the truth.

    `twice` is the chance that the button is pressed a second time.
    """
    service.admin("POST", "reset")
    load = Load(service, rng)
    kernel.run(PLAN.format(resource=load.resource, load=load.as_json()))
    before = len(service.writes())
    latency = rng.choice([0.02, 0.05, 0.05, 0.1, 0.1, 0.5 * DEADLINE])
    service.admin("POST", "faults", latency=latency, dropped=rng.choice([0, 0, 0.1]))
    tally = Tally(interrupts=1)

    cell = kernel.start(APPLY)
    time.sleep(rng.uniform(0, 0.05 + 1.3 * load.rounds * latency))
    pressed = time.time()
    kernel.interrupt()
    if rng.random() < twice:
        time.sleep(rng.uniform(0, latency))
        kernel.interrupt()
        tally.pressed_twice = 1
    ended = kernel.end(cell)
    time.sleep(latency + 0.3)  # what is sent now would arrive
    arrived = service.writes()[before:]
    service.admin("POST", "faults")

    tally.longest = max(0.0, ended - pressed)
    tally.writes_after = sum(instant > ended for instant in arrived)
    rows = kernel.value(f"{RESULT} if result is not None else '[]'")
    if rows:
        _compare(load, rows, tally)
        tally.too_late = int(ended < pressed)
    elif arrived:
        tally.no_frame = 1
        tally.wrong.append(f"{len(arrived)} writes were sent, and there is no frame")
    else:
        tally.too_early = 1
    _complete(load, kernel, tally)
    if tally.longest > DEADLINE + 1 or tally.writes_after:
        tally.wrong.append(f"it ended {tally.longest:.2f} s after the button; {latency=:.2f}")
    return tally


def _compare(load: Load, rows: list[list[Any]], tally: Tally) -> None:
    """Compare a frame with the account: each row that is not unknown must be true."""
    effects = load.effects()
    states = Counter(state for *_, state in rows)
    tally.rows, tally.applied = len(rows), states["applied"]
    tally.not_sent, tally.unknown = states["not sent"], states["unknown"]
    names = [(change, label if change == "create" else key) for change, key, label, _ in rows]
    if sorted(map(str, names)) != sorted(map(str, load.rows())):
        tally.wrong.append("the frame has other rows than the plan")
    for name, (*_, state) in zip(names, rows, strict=True):
        true = {"applied": effects[name] == 1, "not sent": not effects[name], "unknown": True}
        if not true.get(state, False):
            tally.false += 1
            tally.wrong.append(f"{name} is {state} and took effect {effects[name]} times")


def _complete(load: Load, kernel: Kernel, tally: Tally) -> None:
    """Resume the run, and check that each row took effect once."""
    kernel.run(RESUME)
    rows = kernel.value(RESULT)
    effects = load.effects()
    unusual = [row for row in rows if row[-1] != "applied"]
    tally.wrong += [f"after the resume {row} is not applied" for row in unusual]
    tally.lost = sum(not effects[row] for row in load.rows())
    tally.duplicated = sum(effects[row] > 1 for row in load.rows())
    if tally.lost or tally.duplicated:
        tally.wrong.append(f"{tally.lost} rows are lost, {tally.duplicated} are doubled")


# --- many of them -----------------------------------------------------------------------------


@contextmanager
def notebook() -> Iterator[tuple[Served, Kernel]]:
    """Start a sandbox, and a kernel that has a client of it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        served() as service,
        kernel(Path(folder)) as running,
    ):
        running.run(BEGIN.format(**service.about, deadline=DEADLINE))
        yield service, running


def work(service: Served, kernel: Kernel, count: int, seed: int = 0, twice: float = 0.3) -> Tally:
    """Interrupt a kernel so many times."""
    rng = random.Random(seed)
    return sum((interrupted(service, kernel, rng, twice) for _ in range(count)), Tally())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=100)
    parser.add_argument("--seed", type=int, default=0)
    passed = parser.parse_args()
    begun = time.monotonic()
    with notebook() as (service, kernel):
        tally = work(service, kernel, passed.count, passed.seed)
    figures = tally.figures() | {"seconds": round(time.monotonic() - begun)}
    for cells in (figures, ["---:"] * len(figures), figures.values()):
        print(f"| {' | '.join(map(str, cells))} |")
    for wrong in tally.wrong[:20]:
        print(f"    {wrong}", file=sys.stderr)
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
