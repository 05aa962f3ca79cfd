"""Bench of apply: what the journal costs, and how quick a plan is on slow lines."""

from __future__ import annotations

import json
import sys
from functools import partial
from tempfile import NamedTemporaryFile
from typing import Any

from measure import HERE, QUICK, at_least, at_most, child, medians, rounds, server, show

FAST = HERE / "servers" / "fast.py"
ROUNDS, CALLS, CONNECTIONS = 3 if QUICK else 5, 2000 if QUICK else 10_000, 32
LIMIT = 200
NAMES = {
    "plan": "`plan.apply`, journal and all",
    "chatkit": "the same calls, bare: `Transport.send_all`",
    "httpx": "`httpx.AsyncClient` with tasks",
    "requests": "`requests.Session` in a loop",
}


def main() -> None:
    """Print four tables."""
    journal()
    for latency in (0.02, 0.1):
        with server(sys.executable, FAST, latency) as slow:
            slow_line(slow.line, latency)
    limited()


def sandbox(*options: object) -> Any:
    """Serve an empty sandbox in a process of its own."""
    return server(sys.executable, "-m", "chatkit", "sandbox", "--json", *options)


def journal() -> None:
    """Creates against the sandbox, with the journal and without."""
    with sandbox() as up:
        told = json.loads(up.line)
        runs: dict[str, Any] = {
            name: partial(
                child, "loops.py", name, told["base_url"], CONNECTIONS, CALLS, told["token"]
            )
            for name in ("plan", "chatkit")
        }
        found = {name: medians(results) for name, results in rounds(runs, ROUNDS).items()}
    bare = found["chatkit"]
    rows = [
        [NAMES[name], one["rate"], one["us"], one["us"] / bare["us"], bare["rate"] / one["rate"]]
        for name, one in found.items()
    ]
    rows[0][-1] = at_most(bare["rate"] / found["plan"]["rate"], 1.5)
    show(
        f"{CALLS:,} creates against the sandbox, {CONNECTIONS} at once (bare: 1)",
        ["what", "calls a second", "CPU µs a call", "CPU, bare = 1", "time, bare = 1"],
        rows,
    )


def slow_line(base_url: str, latency: float) -> None:
    """Creates that take a while each, against what most people would write."""
    ideal = CONNECTIONS / latency
    calls = {"plan": CALLS, "chatkit": CALLS, "httpx": CALLS // 4, "requests": int(4 / latency)}
    runs: dict[str, Any] = {
        name: partial(
            child, "loops.py", name, base_url, 1 if name == "requests" else CONNECTIONS, count
        )
        for name, count in calls.items()
    }
    found = {name: medians(results) for name, results in rounds(runs, 3).items()}
    ours = found["plan"]["rate"]
    goals = {"requests": 15.0, "httpx": 2.0} if latency < 0.1 else {}
    rows = []
    for name, one in sorted(found.items(), key=lambda item: -item[1]["rate"]):
        share: object = one["rate"] / ideal
        if name == "plan" and latency == 0.1:
            share = at_least(one["rate"] / ideal, 0.9)
        ratio: object = ours / one["rate"]
        if name in goals:
            ratio = at_least(ours / one["rate"], goals[name])
        rows.append([NAMES[name], one["rate"], share, ratio])
    show(
        f"{latency * 1000:.0f} ms latency, {CONNECTIONS} at once: ideal are {ideal:,.0f} a second",
        ["what", "calls a second", "share of the ideal", "plan / this one"],
        rows,
    )


def limited() -> None:
    """Creates under a rate limit: left to the 429s of the service, and told beforehand."""
    rows = []
    with NamedTemporaryFile("w", suffix=".json") as profile:
        profile.write(json.dumps({"rate_limit": LIMIT}))
        profile.flush()
        for rate in (None, LIMIT):
            with sandbox("--profile", profile.name) as up:
                told = json.loads(up.line)
                calls = LIMIT * (5 if QUICK else 20)
                more = () if rate is None else (rate,)
                one = child("loops.py", "plan", told["base_url"], 8, calls, told["token"], *more)
            what = "`apply(rate=R)`" if rate else "`apply()`, which heeds the 429s"
            rows.append([what, calls, one["rate"], at_most(LIMIT / one["rate"], 1.05)])
    show(
        f"A service that takes R = {LIMIT} calls a second",
        ["what", "calls", "calls a second", "time, N / R = 1"],
        rows,
    )


if __name__ == "__main__":
    main()
