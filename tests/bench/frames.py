"""Bench of frames: pages of contacts to a DataFrame, beside other roads, as the rows grow."""

from __future__ import annotations

import json
import random
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import QUICK, at_least, at_most, child, medians, rounds, show

SIZES = (10_000, 100_000) if QUICK else (10_000, 100_000, 1_000_000)
PAGES = (100, 1000)
NAMES = {
    "chatkit": "chatkit, `Columns`",
    "json": "`json.loads` + `pd.DataFrame`",
    "concat": "`pd.DataFrame` a page + `pd.concat`",
    "pydantic": "pydantic models + `model_dump`",
    "polars": "`pl.read_json` a page + `pl.concat`",
}


def main() -> None:
    """Print one table for each size of page."""
    with TemporaryDirectory() as folder:
        for page in PAGES:
            show_table(page, {rows: measured(Path(folder), rows, page) for rows in SIZES})


def measured(folder: Path, rows: int, page: int) -> dict[str, dict[str, float]]:
    """Medians for each road, each walked in a process of its own, by turns."""
    file = folder / "pages"
    with file.open("wb") as lines:
        for first in range(0, rows, page):
            contacts = [contact(number) for number in range(first, first + page)]
            text = json.dumps(contacts, ensure_ascii=False, separators=(",", ":"))
            lines.write(text.encode() + b"\n")
    runs: dict[str, Any] = {name: partial(child, "roads.py", name, file) for name in NAMES}
    count = 2 if QUICK else 3 if rows > 100_000 else 5
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


def show_table(page: int, found: dict[int, dict[str, dict[str, float]]]) -> None:
    """Print the figures of all roads over pages of one size."""
    header = ["road"]
    for rows in SIZES:
        header += [f"µs a row at {rows:,}", "json = 1", "memory / JSON"]
    lines = []
    for name in NAMES:
        line: list[object] = [NAMES[name]]
        for rows, roads in found.items():
            times, memory = roads["json"]["us"] / roads[name]["us"], roads[name]["memory"]
            goal = name == "chatkit" and rows >= 100_000  # fewer are a matter of milliseconds
            line += [
                roads[name]["us"],
                at_least(times, 5) if goal else times,
                at_most(memory, 1.5) if goal else memory,
            ]
        lines.append(line)
    show(f"Pages of {page} contacts to a frame: CPU, and memory at its highest", header, lines)
    ours = [roads["chatkit"]["us"] for roads in found.values()]
    growth = [
        [f"{few:,} to {many:,}", at_most(ours[at + 1] / ours[at], 1.3)]
        for at, (few, many) in enumerate(pairwise(SIZES))
    ]
    show(f"Pages of {page}: how chatkit's CPU per row grows", ["rows", "times"], growth)


if __name__ == "__main__":
    main()
