"""A campaign: loads applied one after the other in one account, under faults and kills."""

from __future__ import annotations

import gc
import importlib
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from faults.account import account
from faults.child import Job
from faults.killer import Killer, Run
from faults.kinds import rates
from faults.load import load
from faults.points import BEGINNINGS, ENDS, POINTS, Home, points_in

#: The resource, and how many creates, updates and deletes.
Part = Sequence[Any]
#: More loads at most, for points that were not reached in those that were asked for.
_MORE = 8
#: Kills in such a load, beside one for each of these points.
_SPARE = 3


def work(
    parts: Sequence[Part],
    *,
    seed: int = 0,
    kills: int = 0,
    faults: float = 0.14,
    engine: str = "chatkit",
    points: Literal["each", "once", "none"] = "none",
    options: dict[str, Any] | None = None,
    killer: dict[str, Any] | None = None,
    service: dict[str, Any] | None = None,
    profile: dict[str, Any] | None = None,
    home: Home = "folder",
    show: Callable[[Part, Run], object] = lambda part, run: None,
) -> list[Run]:
    """Do a campaign, and return the outcome of each load.

    Args:
        parts: The loads.
        seed: Of the loads, the faults and the kills.
        kills: How many in all.
        faults: How many of the writes meet a fault; reads do seven times less often.
        engine: "chatkit" or "naive".
        points: "each": at each named point in each load; "once": at its first call in one of
            them, and in more loads if need be.
        options: For `Job`.
        killer: For `Killer`.
        service: For `Service.faults`.
        profile: What the service is like.
        home: Where the journals lie. In PostgreSQL, some of the kills are of all its sessions.
        show: Called with each load and its outcome.

    Raises:
        Broken: The engine raised, hung, or sent something again.
    """
    rng = random.Random(seed)
    runs: list[Run] = []
    todo, rows = list(parts), sum(sum(counts) for _, *counts in parts)
    where = named(rng, points, home)
    left = 0.0
    with (
        account(profile) as served,
        tempfile.TemporaryDirectory() as folder,
        addresses(home) as address,
    ):
        for n, (resource, *counts) in enumerate(todo):
            if points == "each" and n:
                where = named(rng, points, home)
            if n < len(parts):
                left += kills * sum(counts) / rows
            else:
                left = sum(map(len, where)) + _SPARE
            expected = load(served, resource, seed + n, *counts)
            met = rates(faults)
            if not (killer or {}).get("undoes"):
                del met["twice"]  # a doubled flow whose answer is lost too stays unknown
            how = {"rates": met, "seed": seed + n, "reads": faults / 7}
            served.faults(**how | (service or {}))
            place = Path(folder, str(n))
            place.mkdir()
            job = Job(served, expected, place, engine, at=address(), **(options or {}))
            run = Killer(rng, round(left), *where, **(killer or {})).apply(job)
            left -= sum(run.kills.values())
            runs.append(run)
            show((resource, *counts), run)
            if points == "once" and any(where) and n + 1 == len(todo) < len(parts) + _MORE:
                todo.append(("contacts", 20, 10, 10))
    return runs


@contextmanager
def addresses(home: Home) -> Iterator[Callable[[], str]]:
    """Yield what makes homes for jobs, for CHATKIT_RUNS: empty for a folder, else a database."""
    if home == "folder":
        yield str
        return
    from postgres import postgresql

    with postgresql(durable=False) as server:
        yield server.new


def named(
    rng: random.Random, points: str, home: Home = "folder"
) -> tuple[list[str], list[str], list[str]]:
    """Name the points of the beginning, the middle and the end, each with the call it is met at."""
    if points == "none":
        return [], [], []
    begin, middle, end = (points_in(home, some) for some in (BEGINNINGS, POINTS, ENDS))
    begin, often = list(begin), [f"{point}:1" for point in middle]
    if points == "each":
        rng.shuffle(begin)  # a child that has made the journal leaves none to make for the others
        rng.shuffle(often := [f"{point}:{rng.choice((1, 1, 2, 3, 5, 10))}" for point in middle])
    return [f"{point}:1" for point in begin], often, [f"{point}:1" for point in end]


def preload() -> None:
    """Import everything once, here, so that a child has nothing to import."""
    for name in ("pandas", "pyarrow.compute", "phonenumbers", "tqdm.auto", "tqdm.notebook"):
        importlib.import_module(name)
    for name in (
        "account.planning",
        "account.folder",
        "bulk.planner",
        "bulk.plan",
        "bulk.rendering",
        "imports.quality",
        "client",
        "frames.frame",
        "account.history",
        "api.wire",
    ):
        importlib.import_module(f"chatkit.{name}")
    gc.collect()
    gc.freeze()  # otherwise each child copies most of it, at its first collection
