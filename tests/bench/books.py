"""Bench of books: what a list costs that is read into parts, and that the memory stays flat.

`python books.py spool|frame BASE_URL ROWS` reads one account over HTTP in a process of its own
and prints seconds, CPU and the most memory that it ever held, as JSON.
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

from measure import HERE, at_most, child, cpu, medians, rounds, run, server, show, sized
from roads import highest

SMALL, LARGE = sized((100_000, 1_000_000), (50_000, 200_000), (400, 900))
COUNT = sized(3, 2, 1)


def read(road: str, base_url: str, rows: int) -> dict[str, float]:
    """Read an account of so many contacts."""
    from chatkit import Client

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


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(read(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
    else:
        run(main)
