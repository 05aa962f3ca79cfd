"""Bench of books: what a list costs that is read into parts, and that the memory stays flat.

`python books.py spool|frame BASE_URL ROWS` reads one account over HTTP in a process of its own
and prints seconds, CPU and the most memory that it ever held, as JSON.
`python books.py walk|plan|merge FOLDER ROWS` compares two books in FOLDER and prints the same:
what `walk` finds, the whole plan of it, and what people write by hand, a merge of two DataFrames.
"""

from __future__ import annotations

import io
import json
import sys
import time
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from measure import HERE, at_most, child, cpu, medians, rounds, run, server, show, sized
from roads import highest

from chatkit import Book, Client
from chatkit.books.manifest import BaseBook, Began, Ended, Manifest
from chatkit.books.walk import walk

SMALL, LARGE = sized((100_000, 1_000_000), (40_000, 160_000), (400, 900))
COUNT = sized(3, 1, 1)
WALKED = sized((1_000_000, 10_000_000), (100_000, 500_000), (400, 900))
WALK_COUNT = sized(2, 1, 1)
FEW, PART = 300, 10_000
WHEN = "2026-01-01T00:00:00Z"
ACCOUNT = "http://localhost:1 account bench"
WALKS = {"walk": "`walk`", "plan": "`contacts.plan(book)`", "merge": "`DataFrame.merge`"}


def read(road: str, base_url: str, rows: int) -> dict[str, float]:
    """Read an account of so many contacts."""
    with TemporaryDirectory() as place, redirect_stdout(io.StringIO()):
        for count in (200, rows):  # the first time everything is loaded
            began, used = time.perf_counter(), cpu()
            with Client(base_url, str(count), "token-of-the-bench") as client:
                if road == "spool":
                    found = client.contacts.spool(Path(place) / str(count)).rows
                else:
                    found = len(client.contacts.frame())
            assert found == count
    return {"s": time.perf_counter() - began, "cpu": cpu() - used, "mb": highest()}


def two_books(folder: Path, rows: int) -> None:
    """Write a book of so many contacts, and one in which 5 % have another name and 1 % are gone."""
    chance = np.random.default_rng(rows)
    places = {"base": None, "edited": BaseBook("../base", "base")}
    began = {
        name: Began(
            account=ACCOUNT, noun="contact", key="id", page_size=100, started=WHEN, base=base,
            book=name,
        )
        for name, base in places.items()
    }  # fmt: skip
    made = {n: Manifest.begin(folder / n / "account=bench", each) for n, each in began.items()}
    for start in range(0, rows, PART):
        ids = pa.array(range(start + 1, min(start + PART, rows) + 1), pa.int64())
        table = contacts_of(ids)
        draws = chance.random(len(ids))
        names = pc.if_else(pa.array(draws < 0.05), said(table["name"], " X"), table["name"])
        edited = table.set_column(1, table.schema.field(1), names)
        for name, part in ("base", table), ("edited", edited.filter(pa.array(draws < 0.99))):
            made[name].write(part, (1, 1), WHEN)
    for manifest in made.values():
        manifest.add(Ended(when=WHEN, rows=manifest.rows))


def contacts_of(ids: pa.Array) -> pa.Table:
    """Contacts as a list shows them."""
    number = ids.cast(pa.large_string())
    empty = pa.nulls(len(ids), pa.large_string())
    first = said("First ", pc.subtract(ids, pc.multiply(pc.divide(ids, 977), 977)))
    last = said("Last", pc.subtract(ids, pc.multiply(pc.divide(ids, 7919), 7919)))
    when = pc.add(ids, 1_700_000_000_000_000).cast(pa.timestamp("us", "UTC"))
    same = pa.array(["api"] * len(ids), pa.large_string())
    return pa.table(
        {
            "id": ids, "name": said(said(first, " "), last), "first_name": first,
            "middle_name": empty, "last_name": last, "meta_name": empty,
            "number": said("20", pc.utf8_lpad(number, 8, "0")),
            "country_code": pa.array(["+1"] * len(ids), pa.large_string()), "wa_phone_id": empty,
            "created_at": when, "updated_at": when, "created_by": same, "updated_by": same,
            "ai_mode": empty, "tags": empty,
        }
    )  # fmt: skip


def said(one: Any, other: Any) -> Any:
    """Join texts, or numbers as texts."""
    texts = [pa.scalar(each) if isinstance(each, str) else each for each in (one, other)]
    texts = [each.cast(pa.large_string()) for each in texts]
    return pc.binary_join_element_wise(*texts, pa.scalar("", pa.large_string()))


def compared(road: str, folder: Path, rows: int) -> dict[str, float]:
    """Compare the two books of a folder."""
    with redirect_stdout(io.StringIO()):
        compare(road, folder.parent / str(FEW))  # the first time everything is loaded
        began, used = time.perf_counter(), cpu()
        compare(road, folder)
        return {"s": time.perf_counter() - began, "cpu": cpu() - used, "mb": highest()}


def compare(road: str, folder: Path) -> None:
    """Find what differs between two books."""
    base, edited = Book(folder / "base"), Book(folder / "edited")
    if road == "walk":
        differs = sum(len(each.edited) for each in walk(base.tables(), edited.tables()))
    elif road == "plan":
        with Client("http://localhost:1", "bench", "token-of-the-bench") as client:
            differs = client.contacts.plan(edited).counts["update"]
    else:
        differs = merged(folder)
    assert 0.02 < differs / base.rows < 0.09


def merged(folder: Path) -> int:
    """Do it as people do: both as DataFrames, merged by id, column by column."""
    one, two = (
        pd.read_parquet(folder / name / "account=bench").reset_index()
        for name in ("base", "edited")
    )
    both = one.merge(two, on="id", how="outer", indicator=True, suffixes=("", "_new"))
    there = both[both["_merge"] == "both"]
    differs = pd.Series(False, index=there.index)
    for name in one.columns.drop("id"):
        was, now = there[name], there[f"{name}_new"]
        differs |= now.notna() & (was.isna() | (was != now))
    return int(differs.sum())


def walks() -> None:
    """Print the table of two books compared, and hold it against its goals."""
    with TemporaryDirectory() as place:
        for rows in (FEW, *WALKED):
            two_books(Path(place) / str(rows), rows)
        runs: dict[str, Any] = {
            f"{road} {rows}": partial(
                child, "books.py", road, Path(place) / str(rows), rows, timeout=900
            )
            for road in WALKS
            for rows in WALKED
            if road != "merge" or rows == WALKED[0]  # the other takes some 11 GB of memory
        }
        one = {name: medians(each) for name, each in rounds(runs, WALK_COUNT).items()}
    small, large = WALKED
    for road, most in ("walk", 1.1), ("plan", 1.5):
        grows = one[f"{road} {large}"]["mb"] / one[f"{road} {small}"]["mb"]
        at_most(f"memory of a {road} of {large:,} contacts, {small:,} = 1", grows, most)
    share = one[f"walk {small}"]["cpu"] / one[f"merge {small}"]["cpu"]
    at_most(f"CPU of a walk of {small:,} contacts, a merge in pandas = 1", share, 0.6)
    show(
        "Two books compared: 5 % of the contacts have another name, 1 % are gone",
        ["", "rows", "seconds", "CPU µs a row", "MB at most"],
        [
            [WALKS[road], rows, each["s"], each["cpu"] / int(rows) * 1e6, each["mb"]]
            for name, each in one.items()
            for road, rows in [name.split()]
        ],
    )


def spools() -> None:
    """Print the table of spools beside frames, and hold it against its goals."""
    with server(sys.executable, HERE / "servers" / "pages.py") as up:
        runs: dict[str, Any] = {
            f"{road} {rows}": partial(child, "books.py", road, up.line, rows, timeout=600)
            for road in ("spool", "frame")
            for rows in (SMALL, LARGE)
        }
        one = {name: medians(each) for name, each in rounds(runs, COUNT).items()}
    few, many, frame = one[f"spool {SMALL}"], one[f"spool {LARGE}"], one[f"frame {LARGE}"]
    said = f"at {LARGE:,} contacts"
    at_most(f"memory of a spool {said}, {SMALL:,} = 1", many["mb"] / few["mb"], 1.1)
    at_most(f"CPU of a spool {said}, its frame = 1", many["cpu"] / frame["cpu"], 1.3)
    show(
        "All contacts of an account over HTTP, into the parts of a book and into a frame",
        ["", "rows", "seconds", "CPU µs a row", "MB at most"],
        [
            [f"`contacts.{road}()`", rows, each["s"], each["cpu"] / int(rows) * 1e6, each["mb"]]
            for name, each in one.items()
            for road, rows in [name.split()]
        ],
    )


def main() -> None:
    """Print the tables."""
    spools()
    walks()


if __name__ == "__main__":
    if sys.argv[1:]:
        road, where, count = sys.argv[1:]
        if road in WALKS:
            print(json.dumps(compared(road, Path(where), int(count))))
        else:
            print(json.dumps(read(road, where, int(count))))
    else:
        run(main)
