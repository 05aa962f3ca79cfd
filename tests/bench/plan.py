"""Bench of a plan: finding what was edited in a frame of contacts, beside `pandas.merge`.

`python plan.py ROAD FRAME FILE` walks one road with one edited frame, and prints its CPU and
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
from measure import QUICK, at_most, child, medians, memory, rounds, show
from roads import forget_highest, highest

ROWS, PAGE = (100_000 if QUICK else 1_000_000), 1000
EDITED = 10  # one row of so many has another name
COUNT = 3 if QUICK else 5

#: Takes what was read and what it has become.
Road = Callable[[Any, Any], object]


# --- edited frames ----------------------------------------------------------------------


def in_place(base: Any) -> Any:
    """Names are assigned, all else is as it was read: pandas has not copied it."""
    frame = base.copy()
    names = frame["name"].to_numpy(object)
    names[::EDITED] = [f"{name} Díaz" for name in names[::EDITED]]
    frame["name"] = names
    frame["name"] = frame["name"].astype("str")
    return frame


def copied(base: Any) -> Any:
    """The same rows in the same order, but every column is a copy."""
    return in_place(base).take(range(len(base)))


def filtered(base: Any) -> Any:
    """One row of a hundred is not there any more."""
    chance = random.Random(1)
    return in_place(base)[[chance.random() > 0.01 for _ in range(len(base))]]


def shuffled(base: Any) -> Any:
    """Sorted by something else, and one row of a hundred is not there any more."""
    return filtered(base).sample(frac=1, random_state=1)


FRAMES = {
    "in_place": ("edited in place", in_place),
    "copied": ("copied, in the same order", copied),
    "filtered": ("filtered: 1 % of the rows are gone", filtered),
    "shuffled": ("filtered and shuffled", shuffled),
}


# --- roads ------------------------------------------------------------------------------


def merge() -> Road:
    """The join alone: it puts both sides beside each other, and finds nothing yet."""
    import pandas

    return lambda base, frame: pandas.merge(base, frame, on="id")


def compared() -> Road:
    """What most people write: a join, and each column compared with its other."""
    import pandas

    def changes(base: Any, frame: Any) -> dict[str, Any]:
        both = pandas.merge(base, frame, on="id", suffixes=("", "_edited"))
        found = {}
        for name in frame.columns:
            before, edited = both[name], both[f"{name}_edited"]
            if before.dtype == object:
                differs = pandas.Series([b != e for b, e in zip(before, edited, strict=True)])
            else:
                differs = (before != edited).reset_index(drop=True)
            found[name] = differs[differs & edited.notna().reset_index(drop=True)].index
        return found

    return changes


def chatkit() -> Road:
    """Our Edits: rows matched by id and checked for doubles, then columns one by one."""
    from chatkit.bulk.edits import compare
    from chatkit.bulk.keys import Identity, Natural

    number = Natural(("number", "country_code"), lambda rows: rows.country_code + rows.number)
    who = Identity("contact", ("id",), number)
    return lambda base, frame: compare(frame, base, who).changed()


ROADS = {
    "merge": ("`pandas.merge`", merge),
    "compared": ("`pandas.merge`, each column compared", compared),
    "chatkit": ("chatkit, `compare`", chatkit),
}


def walk(road: str, frame: str, file: Path) -> None:
    """Walk one road."""
    from chatkit.contacts import Contact
    from chatkit.frame import Columns, join_words, kinds

    columns = Columns(kinds(Contact, Contact.listed))
    with file.open("rb") as lines:
        for line in lines:
            columns.add(line)
    base = columns.frame("id")
    base.insert(0, "name", join_words(base, ("first_name", "middle_name", "last_name")))
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


# --- the table --------------------------------------------------------------------------


def main() -> None:
    """Print one table for each edited frame."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "pages"
        with file.open("wb") as lines:
            for first in range(0, ROWS, PAGE):
                page = [contact(number) for number in range(first, first + PAGE)]
                lines.write(json.dumps(page, ensure_ascii=False).encode() + b"\n")
        runs: dict[str, Any] = {
            f"{road} {frame}": partial(child, "plan.py", road, frame, file)
            for frame in FRAMES
            for road in ROADS
        }
        found = {name: medians(results) for name, results in rounds(runs, COUNT).items()}
    for frame, (title, _) in FRAMES.items():
        show_table(title, {road: found[f"{road} {frame}"] for road in ROADS})


def show_table(title: str, found: dict[str, dict[str, float]]) -> None:
    """Print the figures of all roads for one edited frame."""
    joined, compared = found["merge"]["ms"], found["compared"]["ms"]
    lines = [
        [NAME, one["ms"], one["ms"] / joined, one["ms"] / compared, one["memory"]]
        for (NAME, _), one in zip(ROADS.values(), found.values(), strict=True)
    ]
    show(title, ["road", "ms", "merge = 1", "compared = 1", "memory / frame"], lines)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        walk(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
    else:
        main()
