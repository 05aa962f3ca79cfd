"""Bench of a fleet: what many accounts at once hold of their limits, against one of them alone."""

from __future__ import annotations

import io
import json
import sys
import time
from contextlib import ExitStack, redirect_stdout
from typing import Any

import pandas as pd
from measure import SMOKE, at_least, cpu, rounds, run, server, show, sized

from chatkit import Client
from chatkit.account.fleet import Fleet, connect_all

ACCOUNTS, ROUNDS, UPDATES = sized((4, 1, 400), (2, 1, 6))
#: Calls a second of each account: as many as many services take.
LIMIT = sized(20, 1000)


def main() -> None:
    """Print one table."""
    with ExitStack() as opened:
        clients = {}
        for n in range(ACCOUNTS):
            served = server(sys.executable, "-m", "chatkit", "sandbox", "--json")
            report = json.loads(opened.enter_context(served).line)
            names = ("base_url", "account_id", "token")
            clients[f"account {n}"] = opened.enter_context(Client(*map(report.get, names)))
        with redirect_stdout(io.StringIO()):
            fleet = opened.enter_context(connect_all(clients))
            filled = fleet.contacts.plan(dict.fromkeys(fleet, newcomers())).apply(watch=unseen)
        assert filled["state"].eq("applied").all()
        alone = {label: clients[label] for label in list(clients)[:1]}
        ways = {
            "one account": lambda: updated(Fleet(alone)),
            f"a fleet of {ACCOUNTS}": lambda: updated(fleet),
        }
        outcome = rounds(ways, ROUNDS)
    rows = []
    for name, measured in outcome.items():
        calls, seconds, used = min(measured, key=lambda each: each[1])
        accounts = 1 if name == "one account" else ACCOUNTS
        held = calls / seconds
        rows.append(
            [name, calls, seconds, held, held / LIMIT / accounts, 1000 * used / UPDATES / accounts]
        )
    single, whole = (row[3] for row in rows)
    share = whole / ACCOUNTS / single
    if not SMOKE:
        at_least(f"calls a second of a fleet of {ACCOUNTS}, as many single ones = 1", share, 0.95)
    show(
        f"{UPDATES} updates of each account, {LIMIT} calls a second each; one process, threads",
        ["", "calls", "s", "calls a second", "share of the limits", "ms of CPU a row"],
        rows,
    )


def unseen(done: int, total: int | None) -> None:
    """Show no bars."""


def newcomers() -> pd.DataFrame:
    """Contacts that no account has."""
    numbers = [f"2025{n:06}" for n in range(UPDATES)]
    return pd.DataFrame({"number": numbers, "country_code": "+1", "name": "Ana"})


def updated(fleet: Fleet) -> tuple[int, float, float]:
    """Give every contact another name: calls, seconds, and CPU of this process."""
    with redirect_stdout(io.StringIO()):
        frame = fleet.contacts.frame()
        frame["name"] = f"Ana {time.monotonic_ns()}"
        plan = fleet.contacts.plan(frame)
        began, used = time.perf_counter(), cpu()
        result: Any = plan.apply(rate=LIMIT, many=True, watch=unseen)
        seconds, used = time.perf_counter() - began, cpu() - used
    assert result["state"].eq("applied").all()
    return sum(part.calls() for part in plan.plans.values()), seconds, used


if __name__ == "__main__":
    run(main)
