"""Bench of apply: what the journal costs, how quick a plan is on slow lines, its calls a row.

Beside it stands what people write by hand, which only writes: it reads nothing before or after,
keeps no journal and cannot be taken back.
"""

from __future__ import annotations

import json
import math
import os
import sys
from contextlib import ExitStack
from functools import partial
from tempfile import NamedTemporaryFile
from typing import Any
from urllib.request import Request, urlopen

from measure import (
    HERE,
    SMOKE,
    Server,
    at_least,
    at_most,
    child,
    find_postgres,
    medians,
    rounds,
    run,
    server,
    show,
    sized,
)

FAST = HERE / "servers" / "fast.py"
# A plan begins with five rows alone: of a thousand, that is a thirtieth of the time at any latency.
ROUNDS, CALLS, CONNECTIONS = sized(3, 1), sized(4000, 8), sized(32, 4)
SLOW_ROUNDS, EDITED = sized(2, 1), sized(500, 6)
LATENCIES = sized((0.02, 0.1), (0.01,))
LIMIT, LIMITED = sized(200, 1000), sized(3000, 6)
COUNTED = sized(500, 12)
#: Calls a second, and rows, of the runs that differ in where their journal lies.
PACE, KEPT = sized(50, 1000), sized(300, 6)
NAMES = {
    "plan": "`plan.apply`, journal and all",
    "chatkit": "the same calls, bare: `Transport.send_all`",
    "httpx_tasks": "`httpx.AsyncClient` over httpx-aiohttp, a task a call",
    "httpx": "`httpx.AsyncClient` as it comes",
    "requests_pool": f"`requests`, a pool of {CONNECTIONS} threads",
    "requests": "`requests.Session` in a loop",
}
WORKS = {
    "create": "creates",
    "update": "updates",
    "undo": "undo of the updates",
    "delete": "deletes",
}
#: Calls a row, at most. An update or a delete reads its row just before it writes, so that nobody
#: else's change is overwritten; what was written is read back by pages.
CALLS_A_ROW = 2.05
CALLS_A_CREATE = 1.02
#: Microseconds of CPU that a plan may add to a call: its intent, its answer, and what they prove.
ADDED = 200
#: The share of the ideal that bare calls reach where nothing else runs.
FLOOR = 0.9


def main() -> None:
    """Print seven tables."""
    journal()
    for latency in LATENCIES:
        with server(sys.executable, FAST, latency) as slow:
            slow_line(slow.line, latency)
    edited()
    calls()
    limited()
    homes()


def sandbox(*options: object) -> Any:
    """Serve an empty sandbox in a process of its own."""
    return server(sys.executable, "-m", "chatkit", "sandbox", "--json", *options)


def emptied(up: Server, latency: float) -> tuple[str, str]:
    """Empty a sandbox, and have it answer after so many seconds; its address and a token."""
    report = json.loads(up.line)
    headers = {
        "Authorization": f"Bearer {report['admin_token']}",
        "Content-Type": "application/json",
    }
    for action, body in (("reset", {}), ("faults", {"latency": latency})):
        url = f"{report['base_url']}/_sandbox/{action}"
        urlopen(Request(url, json.dumps(body).encode(), headers), timeout=30).close()
    return report["base_url"], report["token"]


def journal() -> None:
    """Creates against the sandbox, with the journal and without."""
    with sandbox() as up:
        report = json.loads(up.line)
        runs: dict[str, Any] = {
            name: partial(
                child, "loops.py", name, report["base_url"], CONNECTIONS, CALLS, report["token"]
            )
            for name in ("plan", "chatkit")
        }
        figures = {name: medians(results) for name, results in rounds(runs, ROUNDS).items()}
    bare = figures["chatkit"]
    rows = [
        [NAMES[name], one["rate"], one["us"], one["us"] / bare["us"], bare["rate"] / one["rate"]]
        for name, one in figures.items()
    ]
    added = figures["plan"]["us"] - bare["us"]
    at_most("CPU that a plan adds to a create", added, ADDED, " µs")
    show(
        f"{CALLS:,} creates against the sandbox, {CONNECTIONS} at once (bare: 1)",
        ["what", "calls a second", "CPU µs a call", "CPU, bare = 1", "time, bare = 1"],
        rows,
    )


def of_the_disk(figures: dict[str, float], goal: float) -> str:
    """Explain a goal, in seconds, that a plan misses by no more than its disk has taken."""
    if figures["s"] - figures["committing"] > goal:
        return ""
    each = figures["committing"] / figures["commits"] * 1000
    return (
        f"the rest took {figures['s'] - figures['committing']:.2f} of {figures['s']:.2f} s: the "
        f"disk was waited for in {figures['commits']:.0f} commits of {each:.1f} ms"
    )


def of_the_machine(figures: dict[str, dict[str, float]], ideal: float) -> str:
    """Explain a goal that a plan misses where its bare calls do not come near the ideal either."""
    share = figures["chatkit"]["rate"] / ideal
    return f"the bare calls reach {share:.2f} of the ideal, this machine is busy" * (share < FLOOR)


def slow_line(base_url: str, latency: float) -> None:
    """Creates that take a while each, against what most people would write."""
    ideal = CONNECTIONS / latency
    # The others are slow: one short look at 20 ms is enough.
    calls = dict.fromkeys(NAMES if latency < 0.1 else ("plan", "chatkit"), CALLS)
    few = {"httpx": max(CONNECTIONS, CALLS // 4), "requests": sized(int(4 / latency), 2)}
    calls |= {name: few[name] for name in few if name in calls}
    runs: dict[str, Any] = {
        name: partial(
            child, "loops.py", name, base_url, 1 if name == "requests" else CONNECTIONS, count
        )
        for name, count in calls.items()
    }
    figures = {name: medians(results) for name, results in rounds(runs, SLOW_ROUNDS).items()}
    ours = figures["plan"]["rate"]
    text = f"a plan of creates at {latency * 1000:.0f} ms"
    busy = of_the_machine(figures, ideal)
    if latency < 0.1:
        loop = ours / figures["requests"]["rate"]
        at_least(f"{text}, a requests loop = 1", loop, 15, explained=busy)
        at_least(f"{text}, httpx as it comes = 1", ours / figures["httpx"]["rate"], 2)
    else:
        busy = busy or of_the_disk(figures["plan"], CALLS / ideal / 0.9)
        at_least(f"{text}, share of the ideal", ours / ideal, 0.9, explained=busy)
    rows = [
        [NAMES[name], one["rate"], one["rate"] / ideal, ours / one["rate"], one["us"]]
        for name, one in sorted(figures.items(), key=lambda item: -item[1]["rate"])
    ]
    show(
        f"{latency * 1000:.0f} ms latency, {CONNECTIONS} at once: ideal are {ideal:,.0f} a second",
        ["what", "calls a second", "share of the ideal", "plan / this one", "CPU µs a call"],
        rows,
    )


def edited() -> None:
    """Updates, their undo and deletes at 20 ms, beside the same writes and nothing else."""
    latency, rows = LATENCIES[0], []
    with sandbox() as up:
        works = list(WORKS.items())
        for work, text in sized(works[1:], works[3:]):
            runs: dict[str, Any] = {
                client: partial(one_edited, up, client, work) for client in ("chatkit", "httpx")
            }
            figures = {name: medians(each) for name, each in rounds(runs, SLOW_ROUNDS).items()}
            bare = figures["httpx"]["s"]
            for client, one in figures.items():
                name = "the writes alone, httpx over httpx-aiohttp, a task a row"
                name = name if client == "httpx" else "`apply()`"
                us = one["cpu"] / EDITED * 1e6
                rows.append([text, name, EDITED / one["s"], one["s"] / bare, us])
    show(
        f"{EDITED:,} contacts of the sandbox at {latency * 1000:.0f} ms, {CONNECTIONS} at once",
        ["what", "by", "rows a second", "time, the writes alone = 1", "CPU µs a row"],
        rows,
    )


def one_edited(up: Server, client: str, work: str) -> dict[str, float]:
    """One round of a client, in an account that has nothing else."""
    base_url, token = emptied(up, LATENCIES[0])
    figures: dict[str, float] = child(
        "edits.py", client, work, base_url, token, CONNECTIONS, EDITED, timeout=600
    )
    return figures


def evaluate(work: str, value: float, what: str, without: float = math.inf) -> None:
    """Compare a figure of a row with the goal for its kind; `without` leaves out waits of 429s."""
    goal = CALLS_A_CREATE if work == "create" else CALLS_A_ROW
    waits = f"{without:.2f} without the waits that the service asked for" * (without <= goal)
    at_most(f"{what}, {WORKS[work]}", value, goal, explained=waits)


def calls() -> None:
    """Count what planning and applying send, where nothing goes wrong."""
    rows: list[list[object]] = []
    for work in [*WORKS][2 if SMOKE else 0 :]:
        sent = child("edits.py", "calls", work, COUNTED)
        total = sum(sent.values())
        evaluate(work, total, "calls a row")
        rows.append([WORKS[work], *sent.values(), total])
    show(
        f"Calls a row, in a plan of {COUNTED:,}",
        ["what", "GET", "POST", "PUT", "DELETE", "all"],
        rows,
    )


def limited() -> None:
    """Measure the time under a rate limit: passed as `rate=`; creates also by the 429s alone."""
    rows: list[list[object]] = []
    with_rate = sized([*WORKS], ["create", "update"])
    with NamedTemporaryFile("w", suffix=".json") as profile:
        profile.write(json.dumps({"rate_limit": LIMIT}))
        profile.flush()
        heeding: tuple[str, tuple[int, ...]] = ("create", ())
        for work, rate in [heeding, *((work, (LIMIT,)) for work in with_rate)]:
            few = LIMITED if work == "create" else LIMITED // 2
            with sandbox("--profile", profile.name) as up:
                report = json.loads(up.line)
                where = report["base_url"], report["token"]
                one = child("edits.py", "chatkit", work, *where, 8, few, *rate, timeout=600)
            times = one["s"] / (few / LIMIT)
            how = "`rate=R`" if rate else "heeding the 429s"
            what = f"time under a limit, N/R = 1{'' if rate else ', 429s heeded'}"
            without = math.inf if rate else times - one["held"] / (few / LIMIT)
            evaluate(work, times, what, without)
            rows.append([WORKS[work], how, few, few / one["s"], times])
    show(
        f"A service that takes R = {LIMIT} calls a second",
        ["what", "by", "rows", "rows a second", "time, N / R = 1"],
        rows,
    )


def homes() -> None:
    """Time under a rate limit with the journal in a file, and in PostgreSQL."""
    with ExitStack() as stack:
        postgres = find_postgres(stack)
        places = {"SQLite": ""} | ({"PostgreSQL": postgres.new()} if postgres else {})
        runs: dict[str, Any] = {name: partial(one_kept, at) for name, at in places.items()}
        figures = {name: medians(each) for name, each in rounds(runs, SLOW_ROUNDS).items()}
    ours = {name: KEPT / one["s"] for name, one in figures.items()}
    if postgres:
        share = ours["PostgreSQL"] / ours["SQLite"]
        at_least("a plan under a limit, journal in PostgreSQL, in SQLite = 1", share, 0.9)
    rows = [[name, rate, figures[name]["s"], figures[name]["cpu"]] for name, rate in ours.items()]
    show(
        f"{KEPT:,} creates at R = {PACE} calls a second, by where the journal lies",
        ["journal in", "rows a second", "seconds", "CPU seconds"],
        rows,
    )


def one_kept(at: str) -> dict[str, float]:
    """Measure one round of creates under a rate, with the journal in one home."""
    with sandbox() as up:
        report = json.loads(up.line)
        where = report["base_url"], report["token"]
        os.environ["CHATKIT_RUNS"] = at
        try:
            figures: dict[str, float] = child(
                "edits.py", "default", "create", *where, 8, KEPT, PACE, timeout=600
            )
        finally:
            del os.environ["CHATKIT_RUNS"]
    return figures


if __name__ == "__main__":
    run(main)
