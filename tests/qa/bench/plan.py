"""Bench of a plan: finding what was edited in a frame of contacts, beside `pandas.merge`.

`python plan.py ROAD FRAME FILE` measures one road with one edited frame, and prints its CPU and
its memory as JSON. The file has pages of contacts, one a line; they are read, edited and
warmed up before anything is counted.
"""

from __future__ import annotations

import gc
import json
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from frames import contact
from measure import at_most, child, medians, memory, rounds, run, show, sized
from roads import forget_highest, highest

from chatkit.resource import get_endpoints

ROWS, PAGE = sized(500_000, 1000), 1000
EDITED = 10  # one row of so many has another name
COUNT = 1

#: Takes what was read and what it has become.
Road = Callable[[Any, Any], object]


# --- edited frames ----------------------------------------------------------------------


def in_place(base: Any) -> Any:
    """Assign names; pandas copies nothing else."""
    import pandas

    frame = base.copy()
    names = frame["name"].to_numpy(object)
    names[::EDITED] = [f"{name} Díaz" for name in names[::EDITED]]
    frame["name"] = pandas.array(names, dtype="str")
    return frame


def copied(base: Any) -> Any:
    """Turn it upside down twice: every column is a copy."""
    return in_place(base)[::-1][::-1]


def filtered(base: Any) -> Any:
    """Leave out one row of a hundred."""
    chance = random.Random(1)
    return in_place(base)[[chance.random() > 0.01 for _ in range(len(base))]]


def shuffled(base: Any) -> Any:
    """Leave out one row of a hundred, and put the others in another order."""
    return filtered(base).sample(frac=1, random_state=1)


#: What each is called, how it is made, and beside which road its time has a goal.
FRAMES = {
    "in_place": ("edited in place, sharing all else with what was read", in_place, "compared"),
    "copied": ("a copy of all, in the same order", copied, "compared"),
    "filtered": ("1 % of the rows are gone", filtered, "merge"),
    "shuffled": ("1 % of the rows are gone, the others shuffled", shuffled, "merge"),
}


# --- roads ------------------------------------------------------------------------------


def merge() -> Road:
    """The join alone: it puts both frames into one, and finds no edits yet."""
    import pandas

    return lambda base, frame: pandas.merge(base, frame, on="id")


def compared() -> Road:
    """Compare by a join and column by column, the usual code."""
    import pandas

    def changes(base: Any, frame: Any) -> dict[str, Any]:
        both = pandas.merge(base, frame, on="id", suffixes=("", "_edited"))
        changed = {}
        for name in frame.columns:
            before, edited = both[name], both[f"{name}_edited"]
            if before.dtype == object:
                differs = pandas.Series([b != e for b, e in zip(before, edited, strict=True)])
            else:
                differs = (before != edited).reset_index(drop=True)
            changed[name] = differs[differs & edited.notna().reset_index(drop=True)].index
        return changed

    return changes


def contacts() -> Any:
    """The contacts of an empty sandbox."""
    from contextlib import redirect_stdout

    from chatkit import Sandbox, connect

    with redirect_stdout(sys.stderr):
        return connect(Sandbox(seed="empty")).contacts


def chatkit() -> Road:
    """Our edits: rows matched by id and checked for doubles, then columns one by one."""
    from chatkit.bulk.matching import Edits

    endpoints = get_endpoints(contacts())
    return lambda base, frame: Edits(frame, base, endpoints).changed()


def planned() -> Road:
    """All of a plan: the comparison, what was there before, checks, and how each is undone."""
    resource = contacts()

    def plan(base: Any, frame: Any) -> object:
        get_endpoints(resource).with_snapshot(base, whole=True)
        frame.attrs = base.attrs
        return resource.plan(frame)

    return plan


ROADS = {
    "merge": ("`pandas.merge` alone", merge),
    "compared": ("`pandas.merge`, then each column compared", compared),
    "chatkit": ("chatkit, `compare`", chatkit),
    "planned": ("chatkit, the whole plan", planned),
}
#: At most so many times the time, and this share of the frame's memory.
GOALS = {"chatkit": (3.0, 0.7), "planned": (10.0, None)}


def measure_road(road: str, frame: str, file: Path) -> None:
    """Measure one road."""
    from chatkit.contacts import Contact
    from chatkit.frames.frame import Columns, choose_column_kinds, join_name_columns

    columns = Columns(choose_column_kinds(Contact, Contact.listed))
    with file.open("rb") as lines:
        for line in lines:
            columns.add(line)
    base = columns.frame("id")
    base.insert(0, "name", join_name_columns(base, ("first_name", "middle_name", "last_name")))
    edited = FRAMES[frame][1](base)
    go = ROADS[road][1]()
    go(base.head(10), edited.head(10))
    size = base.memory_usage(deep=True).sum() / 2**20
    gc.collect()
    forget_highest()
    before, began = memory(), time.process_time()
    go(base, edited)
    spent = time.process_time() - began
    print(json.dumps({"ms": spent * 1e3, "memory": (highest() - before) / size}))


# --- the tables -------------------------------------------------------------------------


def main() -> None:
    """Print one table for each edited frame."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "pages"
        with file.open("wb") as lines:
            for first in range(0, ROWS, PAGE):
                page = [contact(number) for number in range(first, first + PAGE)]
                lines.write(json.dumps(page, ensure_ascii=False).encode() + b"\n")
        for name in sized(tuple(FRAMES), ("shuffled",)):
            runs: dict[str, Any] = {
                road: partial(child, "plan.py", road, name, file) for road in ROADS
            }
            show_table(name, {road: medians(r) for road, r in rounds(runs, COUNT).items()})


def show_table(name: str, figures: dict[str, dict[str, float]]) -> None:
    """Print the figures of all roads for one edited frame.

    Where all rows are as they were, pandas joins two frames without looking at a cell; what
    is asked of us is then compared with the join that finds the same edits.
    """
    text, _, sibling = FRAMES[name]
    lines = []
    for road, one in figures.items():
        line: dict[str, object] = {"road": ROADS[road][0], "ms": one["ms"]}
        line |= {other: one["ms"] / figures[other]["ms"] for other in ("merge", "compared")}
        line["memory"] = one["memory"]
        if road in GOALS:
            time_goal, memory_goal = GOALS[road]
            ours = ROADS[road][0].replace("chatkit, ", "")
            what = f"time of {ours}, {ROADS[sibling][0]} = 1"
            at_most(what, one["ms"] / figures[sibling]["ms"], time_goal)
            if memory_goal is not None:
                at_most(f"highest memory of {ours} / frame", one["memory"], memory_goal)
        lines.append(list(line.values()))
    show(
        f"What was edited in {ROWS:,} contacts, a tenth of the names: {text}",
        ["road", "ms of CPU", "merge = 1", "compared = 1", "memory at its highest / frame"],
        lines,
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure_road(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
    else:
        run(main)
