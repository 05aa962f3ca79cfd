"""Bench of frames: pages of contacts to a DataFrame, beside other roads, as the rows grow.

All roads end with times as times. The last table reads them from a service as well:
`contacts.frame()`, whole, beside what people write by hand.
"""

from __future__ import annotations

import json
import random
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import (
    at_least,
    at_most,
    child,
    installed,
    medians,
    rounds,
    run,
    server,
    show,
    sized,
)

SIZES = sized((10_000, 100_000, 1_000_000), (1_000, 2_000))
GOAL_SIZE = 100_000  # rows; fewer take milliseconds
WHOLE, WHOLE_ROUNDS = sized((10_000, 100_000), (200,)), sized(3, 1)
WHOLES = {
    "frame": "`contacts.frame()`",
    "tasks": "`httpx` over httpx-aiohttp, 8 at once, `json` + `pd.DataFrame`",
    "requests": "a `requests` loop over the pages, `json` + `pd.DataFrame`",
}
PAGES = sized((100, 1000), (100,))
NAMES = {
    "chatkit": "chatkit, `Columns`",
    "json": "`json.loads` + `pd.DataFrame`",
    "concat": "`pd.DataFrame` a page + `pd.concat`",
    "pydantic": "pydantic models + `model_dump`",
    "polars": "`pl.read_json` a page + `pl.concat`",
}


def main() -> None:
    """Print one table for each size of page, and one of `contacts.frame()` whole."""
    if not installed("polars", "polars"):
        del NAMES["polars"]
    with TemporaryDirectory() as folder:
        for page in PAGES:
            show_table(page, {rows: measured(Path(folder), rows, page) for rows in SIZES})
        for rows in WHOLE:
            whole(Path(folder) / f"{rows}.db", rows)


def measured(folder: Path, rows: int, page: int) -> dict[str, dict[str, float]]:
    """Return medians for each road, each measured in a process of its own, by turns."""
    file = folder / "pages"
    with file.open("wb") as lines:
        for first in range(0, rows, page):
            contacts = [contact(number) for number in range(first, first + page)]
            text = json.dumps(contacts, ensure_ascii=False, separators=(",", ":"))
            lines.write(text.encode() + b"\n")
    runs: dict[str, Any] = {name: partial(child, "roads.py", name, file) for name in NAMES}
    count = sized(1 if rows > 100_000 else 3, 1)
    return {name: medians(results) for name, results in rounds(runs, count).items()}


def contact(number: int) -> dict[str, Any]:
    """A contact as the service lists it; most have no tags and no middle name."""
    chance = random.Random(number)
    stamp = f"2026-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}T"
    stamp += f"{chance.randint(0, 23):02}:{chance.randint(0, 59):02}:07.{number % 1000:03}Z"
    return {
        "id": 100_000 + number,
        "first_name": chance.choice(("Ana", "José", "Мария", "愛", "Mary Ann")),
        "middle_name": chance.choice((None, None, None, "de la")),
        "last_name": f"Cruz {number % 997}",
        "meta_name": chance.choice((None, "Ana C.")),
        "number": f"{2025550000 + number}",
        "country_code": "+1",
        "wa_phone_id": f"{10**14 + number}",
        "created_at": stamp,
        "updated_at": stamp,
        "created_by": "API token",
        "updated_by": "Ana (owner)",
        "ai_mode": "ai_paused",
        "tags": chance.choice(([],) * 9 + (["vip", "new"],)),
    }


def show_table(page: int, figures: dict[int, dict[str, dict[str, float]]]) -> None:
    """Print the figures of all roads over pages of one size."""
    header = ["road"]
    for rows in SIZES:
        header += [f"µs a row at {rows:,}", "json = 1", "memory / JSON"]
    lines = []
    for name in NAMES:
        line: list[object] = [NAMES[name]]
        for rows, roads in figures.items():
            times, memory = roads["json"]["us"] / roads[name]["us"], roads[name]["memory"]
            if name == "chatkit" and rows >= GOAL_SIZE:
                message = f"{rows:,} rows in pages of {page}"
                at_least(f"speed, json + DataFrame = 1, {message}", times, 5)
                at_most(f"highest memory / JSON, {message}", memory, 1.2)
            line += [roads[name]["us"], times, memory]
        lines.append(line)
    ours = [roads["chatkit"]["us"] for roads in figures.values()]
    for at, (few, many) in enumerate(pairwise(SIZES)):
        growth = ours[at + 1] / ours[at]
        at_most(f"CPU a row, {few:,} to {many:,} rows in pages of {page}", growth, 1.3, " ×")
    show(f"Pages of {page} contacts to a frame: CPU, and memory at its highest", header, lines)


def whole(file: Path, rows: int) -> None:
    """Read all contacts of a sandbox: over HTTP, and ours in its process too."""
    child("whole.py", "fill", file, rows)
    with server(sys.executable, "-m", "chatkit", "sandbox", "--json", "--db", file) as up:
        report = json.loads(up.line)
        runs: dict[str, Any] = {
            WHOLES[name]: partial(
                child, "whole.py", name, report["base_url"], report["token"], rows
            )
            for name in WHOLES
        }
        figures = {name: medians(each) for name, each in rounds(runs, WHOLE_ROUNDS).items()}
    inside = "`contacts.frame()`, the sandbox in its own process"
    alone = "of that, its columns alone"
    for name, road in ((inside, "inside"), (alone, "columns")):
        figures |= {name: medians(child("whole.py", road, file, rows) for _ in range(WHOLE_ROUNDS))}
    ours = figures[WHOLES["frame"]]
    show(
        f"All of {rows:,} contacts of the sandbox as a frame, over HTTP",
        ["by", "seconds", "CPU µs a row", "CPU, `frame()` / this one"],
        [
            [name, one["s"], one["cpu"] / rows * 1e6, ours["cpu"] / one["cpu"]]
            for name, one in figures.items()
        ],
    )


if __name__ == "__main__":
    run(main)
