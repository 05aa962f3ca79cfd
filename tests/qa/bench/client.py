"""Bench of the client: what a call costs beside other clients, on slow lines, and in memory."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from measure import (
    HERE,
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

FAST = HERE / "servers" / "fast.py"
NAMES = {
    "chatkit": "chatkit, `Transport.send_all`",
    "requests": "`requests.Session` in a loop",
    "requests_pool": "`requests`, a pool of so many threads",
    "pyreqwest": "pyreqwest, in Rust",
    "httpx": "`httpx.AsyncClient`",
    "httpx_wide": "`httpx.AsyncClient`, keeping all connections",
    "httpx_aiohttp": "`httpx.AsyncClient` over httpx-aiohttp",
    "aiohttp": "aiohttp (the floor)",
}
CONNECTIONS, ROUNDS, CALLS = sized(32, 4), sized(3, 1), sized(4000, 8)
WIDE, LATENCY = sized(128, 4), 0.05
IDEAL = WIDE / LATENCY
#: The share of it to be reached, and what aiohttp alone reaches where nothing else runs.
SHARE, QUIET = 0.85, 0.9
SLOW_ROUNDS, SLOW_CALLS = sized(3, 1), WIDE * sized(60, 2)
MANY = sized((5_000, 20_000), (20,))


def main() -> None:
    """Print three tables."""
    if not installed("pyreqwest", "pyreqwest"):
        del NAMES["pyreqwest"]
    with server(sys.executable, FAST) as fast:
        cost(fast.line)
        memory(fast.line)
    with server(sys.executable, FAST, LATENCY) as slow:
        slow_line(slow.line)


def measured(
    base_url: str, connections: int, calls: int, clients: list[str], count: int
) -> dict[str, dict[str, float]]:
    """Medians for each client, each run in a process of its own."""
    runs: dict[str, Any] = {}
    for name in clients:
        wide = 1 if name == "requests" else connections
        slow = name in ("requests", "requests_pool", "httpx", "httpx_wide")
        fewer = max(connections, calls // 4) if slow else calls
        runs[name] = partial(child, "loops.py", name, base_url, wide, fewer)
    return {name: medians(results) for name, results in rounds(runs, count).items()}


def cost(base_url: str) -> None:
    """CPU per call at 32 connections."""
    result = measured(base_url, CONNECTIONS, CALLS, list(NAMES), ROUNDS)
    ours = result["chatkit"]["us"]
    at_most("CPU of a call, a requests loop = 1", ours / result["requests"]["us"], 0.4)
    at_most("CPU of a call, httpx as it comes = 1", ours / result["httpx"]["us"], 0.2)
    rows = [
        [
            NAMES[name],
            one["us"],
            one["us"] / result["requests"]["us"],
            one["rate"],
            ours / one["us"],
        ]
        for name, one in sorted(result.items(), key=lambda item: item[1]["us"])
    ]
    show(
        f"CPU of a contact create, {CONNECTIONS} connections (a requests loop: 1)",
        ["client", "µs", "requests = 1", "calls a second", "chatkit / this one"],
        rows,
    )


def slow_line(base_url: str) -> None:
    """Measure the share of the ideal rate that remains when each answer takes 50 ms."""
    clients = [name for name in NAMES if name not in ("requests", "httpx", "httpx_wide")]
    result = measured(base_url, WIDE, SLOW_CALLS, sized(clients, clients[:2]), SLOW_ROUNDS)
    # The ideal leaves 0.4 ms for a call and all that happens to it: on a machine with other work
    # aiohttp alone does not come near it either.
    floor = result["aiohttp"]["rate"] / IDEAL if "aiohttp" in result else 1.0
    at_least(
        f"calls a second at {LATENCY * 1000:.0f} ms over {WIDE} connections, share of the ideal",
        result["chatkit"]["rate"] / IDEAL,
        SHARE,
        explained=f"aiohttp alone: {floor:.2f}, this machine is busy" if floor < QUIET else "",
    )
    rows = [
        [NAMES[name], one["rate"], one["us"], one["rate"] / IDEAL]
        for name, one in sorted(result.items(), key=lambda item: -item[1]["rate"])
    ]
    show(
        f"{LATENCY * 1000:.0f} ms latency, {WIDE} connections: ideal are {IDEAL:,.0f} a second",
        ["client", "calls a second", "CPU µs a call", "share of the ideal"],
        rows,
    )


def memory(base_url: str) -> None:
    """Measure the memory that many calls need."""
    rows = []
    for calls in MANY:
        result = medians([child("loops.py", "chatkit", base_url, CONNECTIONS, calls)])
        rows.append([f"{calls:,}", result["mb"]])
    show(
        f"Memory of chatkit over many calls, {CONNECTIONS} connections",
        ["calls", "MB more at its highest than after the first 128"],
        rows,
    )


if __name__ == "__main__":
    run(main)
