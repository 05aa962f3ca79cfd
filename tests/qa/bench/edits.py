"""One client that changes contacts of the sandbox: its calls, its CPU and its time.

`python edits.py CLIENT WORK BASE_URL TOKEN CONNECTIONS ROWS [RATE]` prints seconds and CPU as
JSON, and `python edits.py calls WORK ROWS` the calls a row. WORK is create, update, undo (of the
updates) or delete; CLIENT is `chatkit`, or `httpx`, which only writes: it reads
nothing, keeps no journal and believes each answer. Planning is not counted in seconds.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from tempfile import TemporaryDirectory
from typing import Any

from measure import SMOKE, cpu

ACCOUNT = "1001"
CONTACTS = f"/api/business/public/channels/chat/accounts/{ACCOUNT}/contacts"


def contacts(rows: int) -> Iterator[dict[str, str]]:
    """Contacts that all have a number of their own, and that no account has yet."""
    first = time.time_ns() // 1000 % 10**12
    for number in range(first, first + rows):
        yield {"number": f"{number:012}", "country_code": "+1", "name": f"Contact No {number}"}


# --- plans ------------------------------------------------------------------------------


def planned(client: Any, work: str, rows: int, rate: float | None = None) -> Callable[[], Any]:
    """Prepare an account for some work, no faster than it may be; what makes the plan of it."""
    import pandas

    import chatkit

    source = client.contacts
    new = pandas.DataFrame(list(contacts(rows)))
    if work == "create":
        return lambda: source.plan(new)
    assert (source.plan(new).apply(concurrency=64, rate=rate).state == "applied").all()
    frame = source.frame()
    frame = frame[frame["number"].isin(new["number"])]
    if work == "delete":
        return lambda: source.plan(frame.iloc[:0], delete=list(frame.index))
    frame["name"] = [f"Edited No {at}" for at in range(rows)]
    if work == "update":
        return lambda: source.plan(frame)
    done = source.plan(frame).apply(concurrency=64, rate=rate, many=True)
    return lambda: chatkit.undo(done)


def applied(
    work: str, base_url: str, token: str, connections: int, rows: int, rate: float | None
) -> dict[str, float]:
    """Seconds and CPU of a plan that is applied with its journal."""
    from chatkit import Client

    with Client(base_url, ACCOUNT, token) as client:
        plan = planned(client, work, rows, rate)()
        time.sleep(
            1.1 if rate and not SMOKE else 0
        )  # the service counts no call of ours from before
        held = held_back()
        began, used = time.perf_counter(), cpu()
        result = plan.apply(concurrency=connections, rate=rate, many=True)
        outcome = {"s": time.perf_counter() - began, "cpu": cpu() - used, "held": held[0]}
        assert (result.state == "applied").all(), result.state.value_counts()
        assert len(result) == rows
    return outcome


def held_back() -> list[float]:
    """Sum, from now on, the seconds for which 429s hold back all calls."""
    from chatkit.api.throttle import AdaptiveThrottle

    hold, held, until = AdaptiveThrottle.hold, [0.0], [0.0]

    def noted(self: AdaptiveThrottle, seconds: float) -> None:
        now = time.monotonic()
        held[0] += max(0.0, now + seconds - max(now, until[0]))
        until[0] = max(until[0], now + seconds)
        hold(self, seconds)

    AdaptiveThrottle.hold = noted  # type: ignore[method-assign]
    return held


def counted(work: str, rows: int) -> dict[str, float]:
    """The calls a row that a plan makes, its planning with it, and which they are."""
    from chatkit import Sandbox, connect

    sandbox, calls = Sandbox(seed="empty"), {"GET": 0, "POST": 0, "PUT": 0, "DELETE": 0}
    answer = sandbox.answer

    def answered(method: str, *rest: Any, **more: Any) -> Any:
        calls[method] += 1
        return answer(method, *rest, **more)

    sandbox.answer = answered  # type: ignore[method-assign]
    with connect(sandbox) as client:
        plan = planned(client, work, rows)
        calls.update(dict.fromkeys(calls, 0))
        result = plan().apply(many=True)
        assert (result.state == "applied").all(), result.state.value_counts()
    return {method: count / rows for method, count in calls.items()}


# --- the peer ---------------------------------------------------------------------------


def bare(work: str, base_url: str, token: str, connections: int, rows: int) -> dict[str, float]:
    """`httpx.AsyncClient` over the connections of aiohttp, with a task for each row."""
    import httpx
    from httpx_aiohttp import AiohttpTransport

    url = base_url + CONTACTS
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    headers = {"Authorization": f"Bearer {token}"}

    async def main() -> dict[str, float]:
        turns = asyncio.Semaphore(connections)
        carrier = AiohttpTransport(limits=limits)
        async with httpx.AsyncClient(headers=headers, transport=carrier) as client:

            async def one(method: str, url: str, body: Any) -> int:
                async with turns:
                    content = None if body is None else json.dumps(body)
                    kind = {"content-type": "application/json"} if content else None
                    answer = await client.request(method, url, content=content, headers=kind)
                answer.raise_for_status()
                return (answer.json().get("data") or {}).get("id", 0) if method == "POST" else 0

            async def all_of(calls: list[tuple[str, str, Any]]) -> list[int]:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(one(*call)) for call in calls]
                return [task.result() for task in tasks]

            made = list(contacts(rows))
            creates = [("POST", url, body) for body in made]
            calls = creates
            if work == "create":
                await all_of([(m, u, {**b, "number": f"9{b['number']}"}) for m, u, b in creates])
            else:
                ids = await all_of(creates)
                named = [{**body, "name": "Edited"} for body in made]
                calls = [("PUT", f"{url}/{i}", b) for i, b in zip(ids, named, strict=True)]
                if work == "delete":
                    calls = [("DELETE", f"{url}/{i}", None) for i in ids]
            began, used = time.perf_counter(), cpu()
            await all_of(calls)
            return {"s": time.perf_counter() - began, "cpu": cpu() - used}

    return asyncio.run(main())


def main(client: str, work: str, *rest: str) -> dict[str, float]:
    """Run one client."""
    if client == "calls":
        return counted(work, int(*rest))
    base_url, token, connections, rows, *rate = rest
    if client == "httpx":
        return bare(work, base_url, token, int(connections), int(rows))
    report = float(rate[0]) if rate else None
    return applied(work, base_url, token, int(connections), int(rows), report)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        os.environ["CHATKIT_DATA"] = folder
        with redirect_stdout(sys.stderr):  # what is said to a person
            outcome = main(*sys.argv[1:])
    print(json.dumps(outcome))
