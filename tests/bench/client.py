"""Bench of the client: what a call costs beside other clients, on slow lines, and in memory."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from measure import HERE, QUICK, at_least, at_most, child, medians, rounds, server, show

FAST = HERE / "servers" / "fast.py"
NAMES = {
    "chatkit": "chatkit, `Transport.send_all`",
    "requests": "`requests.Session` in a loop",
    "httpx": "`httpx.AsyncClient`",
    "httpx_wide": "`httpx.AsyncClient`, keeping all connections",
    "httpx_aiohttp": "`httpx.AsyncClient` over httpx-aiohttp",
    "aiohttp": "aiohttp (the floor)",
}
CONNECTIONS, ROUNDS, CALLS = 32, 3 if QUICK else 7, 3000 if QUICK else 8000
WIDE, LATENCY = 128, 0.05
IDEAL = WIDE / LATENCY


def main() -> None:
    """Print three tables."""
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
        fewer = calls // 4 if name in ("requests", "httpx", "httpx_wide") else calls
        runs[name] = partial(child, "loops.py", name, base_url, wide, fewer)
    return {name: medians(results) for name, results in rounds(runs, count).items()}


def cost(base_url: str) -> None:
    """CPU per call at 32 connections."""
    found = measured(base_url, CONNECTIONS, CALLS, list(NAMES), ROUNDS)
    ours = found["chatkit"]["us"]
    goals = {
        "requests": at_most(ours / found["requests"]["us"], 0.45),
        "httpx": at_most(ours / found["httpx"]["us"], 0.2),
    }
    rows = [
        [
            NAMES[name],
            one["us"],
            one["us"] / found["requests"]["us"],
            one["rate"],
            goals.get(name, ours / one["us"]),
        ]
        for name, one in sorted(found.items(), key=lambda item: item[1]["us"])
    ]
    show(
        f"CPU of a contact create, {CONNECTIONS} connections (requests: 1)",
        ["client", "µs", "requests = 1", "calls a second", "chatkit / this one"],
        rows,
    )


def slow_line(base_url: str) -> None:
    """How much of the ideal rate remains when each answer takes 50 ms."""
    calls = WIDE * (30 if QUICK else 80)
    clients = ["chatkit", "aiohttp", "httpx_aiohttp"]
    found = measured(base_url, WIDE, calls, clients, ROUNDS)
    # Slow as it is, one short look at it says enough.
    found |= measured(base_url, WIDE, 2 * calls // 5, ["httpx_wide"], 1)
    rows = []
    for name, one in sorted(found.items(), key=lambda item: -item[1]["rate"]):
        share = one["rate"] / IDEAL
        shown = at_least(share, 0.85) if name == "chatkit" else share
        rows.append([NAMES[name], one["rate"], one["us"], shown])
    show(
        f"{LATENCY * 1000:.0f} ms latency, {WIDE} connections: ideal are {IDEAL:,.0f} a second",
        ["client", "calls a second", "CPU µs a call", "share of the ideal"],
        rows,
    )


def memory(base_url: str) -> None:
    """How much memory many calls need."""
    rows = []
    for calls in (10_000, 50_000):
        found = medians([child("loops.py", "chatkit", base_url, CONNECTIONS, calls)])
        rows.append([f"{calls:,}", found["mb"]])
    show(
        f"Memory of chatkit over many calls, {CONNECTIONS} connections",
        ["calls", "MB more at its highest than after the first 128"],
        rows,
    )


if __name__ == "__main__":
    main()
