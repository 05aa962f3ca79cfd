"""One client that creates contacts: its CPU, time and memory.

`python loops.py CLIENT BASE_URL CONNECTIONS CALLS [TOKEN]` prints them as JSON. What is
measured begins after 4 calls a connection, when everything is imported, open and warm.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryDirectory
from typing import Any

from measure import cpu, memory

PATH = "/api/business/public/channels/chat/accounts/1001/contacts"
TOKEN = sys.argv[5] if len(sys.argv) > 5 else "bench-token"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
#: Seconds and CPU that went into making a plan, which no other client does.
planning = (0.0, 0.0)
#: How often a journal was made durable, and the seconds that this took: the disk's more than ours.
commits = [0.0, 0.0]
#: Takes bodies, sends all of them, and has read the id from each answer when it returns.
Send = Callable[[Iterator[dict[str, str]]], None]


def bodies(first: int, calls: int) -> Iterator[dict[str, str]]:
    """Bodies of contacts that all have their own number."""
    for number in range(first, first + calls):
        yield {"number": f"{number:010}", "country_code": "+1", "name": f"Contact No {number}"}


def chatkit(base_url: str, connections: int) -> Send:
    """Our Transport: Calls in, envelopes out."""
    import msgspec

    from chatkit.api.call import Call
    from chatkit.api.connection import Connection
    from chatkit.api.transport import Transport
    from chatkit.errors import Fault

    transport = Transport(Connection(base_url=base_url, account_id="1001", token=TOKEN))

    def send(all_bodies: Iterator[dict[str, str]]) -> None:
        calls = (Call("POST", ("contacts",), body=body) for body in all_bodies)
        for outcome in transport.send_all(calls, concurrency=connections):
            if isinstance(outcome, Fault):
                raise outcome.error
            assert msgspec.json.decode(outcome[1].data)["id"]

    return send


def plan(base_url: str, connections: int) -> Send:
    """A plan of these creates, applied with its journal."""
    import pandas as pd
    import tqdm.notebook  # noqa: F401  (the bar of a run that takes more than a second)

    from chatkit import Client
    from chatkit.bulk.journal import Journal

    client, commit = Client(base_url, "1001", TOKEN), Journal.commit

    def timed(journal: Journal) -> None:
        began = time.perf_counter()
        commit(journal)
        commits[0] += 1
        commits[1] += time.perf_counter() - began

    Journal.commit = timed  # type: ignore[method-assign]

    def send(all_bodies: Iterator[dict[str, str]]) -> None:
        global planning
        began = time.perf_counter(), cpu()
        made = client.contacts.plan(pd.DataFrame(list(all_bodies)))
        planning = time.perf_counter() - began[0], cpu() - began[1]
        commits[:] = 0.0, 0.0
        assert (made.apply(concurrency=connections).state == "applied").all()

    return send


def requests(base_url: str, connections: int) -> Send:
    """Send with a loop over a requests.Session, the usual code."""
    import requests

    session = requests.Session()
    session.headers.update(HEADERS)

    def send(all_bodies: Iterator[dict[str, str]]) -> None:
        for body in all_bodies:
            answer = session.post(base_url + PATH, json=body)
            answer.raise_for_status()
            assert answer.json()["data"]["id"]

    return send


def requests_pool(base_url: str, connections: int) -> Send:
    """The usual way to make that quick: a pool of threads, each with a session of its own."""
    import requests

    kept, pool = threading.local(), ThreadPoolExecutor(connections)

    def one(body: dict[str, str]) -> None:
        if not hasattr(kept, "session"):
            kept.session = requests.Session()
            kept.session.headers.update(HEADERS)
        answer = kept.session.post(base_url + PATH, json=body)
        answer.raise_for_status()
        assert answer.json()["data"]["id"]

    def send(all_bodies: Iterator[dict[str, str]]) -> None:
        for _ in pool.map(one, all_bodies):
            pass

    return send


def httpx(base_url: str, connections: int) -> Send:
    """httpx.AsyncClient as it comes."""
    import httpx

    return _of_httpx(httpx.AsyncClient(headers=HEADERS), base_url, connections)


def httpx_wide(base_url: str, connections: int) -> Send:
    """httpx.AsyncClient that may keep as many connections as it needs."""
    import httpx

    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    return _of_httpx(httpx.AsyncClient(headers=HEADERS, limits=limits), base_url, connections)


def httpx_aiohttp(base_url: str, connections: int) -> Send:
    """httpx.AsyncClient over the connections of aiohttp."""
    import httpx
    from httpx_aiohttp import AiohttpTransport

    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    client = httpx.AsyncClient(headers=HEADERS, transport=AiohttpTransport(limits=limits))
    return _of_httpx(client, base_url, connections)


def httpx_tasks(base_url: str, connections: int) -> Send:
    """The same, with a task for each call: what most people write who know asyncio."""
    import httpx
    from httpx_aiohttp import AiohttpTransport

    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    client = httpx.AsyncClient(headers=HEADERS, transport=AiohttpTransport(limits=limits))
    return _of_httpx(client, base_url, connections, _tasks)


Schedule = Callable[[Callable[[Any], Coroutine[Any, Any, None]], int], Callable[[Any], None]]


def _of_httpx(
    client: Any, base_url: str, connections: int, schedule: Schedule | None = None
) -> Send:
    async def one(body: dict[str, str]) -> None:
        answer = await client.post(base_url + PATH, json=body)
        answer.raise_for_status()
        assert answer.json()["data"]["id"]

    return (schedule or _workers)(one, connections)


def pyreqwest(base_url: str, connections: int) -> Send:
    """pyreqwest: HTTP and JSON in Rust."""
    from pyreqwest.client import Client, ClientBuilder

    clients: list[Client] = []

    async def one(body: dict[str, str]) -> None:
        if not clients:
            builder = ClientBuilder().max_connections(connections).default_headers(HEADERS)
            clients.append(builder.http1_only().error_for_status(True).no_proxy().build())
        answer = await clients[0].post(base_url + PATH).body_json(body).build().send()
        assert (await answer.json())["data"]["id"]

    return _workers(one, connections)


def aiohttp(base_url: str, connections: int) -> Send:
    """aiohttp as it comes: the floor under us."""
    import aiohttp

    sessions: list[aiohttp.ClientSession] = []

    async def one(body: dict[str, str]) -> None:
        if not sessions:
            connector = aiohttp.TCPConnector(limit=connections)
            sessions.append(aiohttp.ClientSession(connector=connector, headers=HEADERS))
        async with sessions[0].post(base_url + PATH, json=body) as answer:
            answer.raise_for_status()
            assert (await answer.json())["data"]["id"]

    return _workers(one, connections)


def _workers(one: Callable[[dict[str, str]], Coroutine[Any, Any, None]], connections: int) -> Send:
    """Run N workers over one iterator, the cheapest way."""
    loop = asyncio.new_event_loop()

    async def work(all_bodies: Iterator[dict[str, str]]) -> None:
        for body in all_bodies:
            await one(body)

    async def work_all(all_bodies: Iterator[dict[str, str]]) -> None:
        await asyncio.gather(*(work(all_bodies) for _ in range(connections)))

    return lambda all_bodies: loop.run_until_complete(work_all(all_bodies))


def _tasks(one: Callable[[dict[str, str]], Coroutine[Any, Any, None]], connections: int) -> Send:
    """A task for each call, and a semaphore."""
    loop = asyncio.new_event_loop()

    async def work_all(all_bodies: Iterator[dict[str, str]]) -> None:
        turns = asyncio.Semaphore(connections)

        async def work(body: dict[str, str]) -> None:
            async with turns:
                await one(body)

        async with asyncio.TaskGroup() as tasks:
            for body in all_bodies:
                tasks.create_task(work(body))

    return lambda all_bodies: loop.run_until_complete(work_all(all_bodies))


CLIENTS = {
    "chatkit": chatkit,
    "plan": plan,
    "requests": requests,
    "requests_pool": requests_pool,
    "httpx": httpx,
    "httpx_wide": httpx_wide,
    "httpx_aiohttp": httpx_aiohttp,
    "httpx_tasks": httpx_tasks,
    "pyreqwest": pyreqwest,
    "aiohttp": aiohttp,
}


def main(client: str, base_url: str, connections: int, calls: int) -> None:
    """Run one client; memory is looked at every thousand calls."""
    highest = 0.0

    def watched(source: Iterator[dict[str, str]]) -> Iterator[dict[str, str]]:
        nonlocal highest
        for at, body in enumerate(source):
            if at % 1000 == 0:
                highest = max(highest, memory())
            yield body

    send = CLIENTS[client](base_url, connections)
    first = time.time_ns() // 1000 % 10**12  # a service refuses numbers that it has
    send(bodies(first, 4 * connections))
    before, used, began = memory(), cpu(), time.perf_counter()
    send(watched(bodies(first + 10**5, calls)))
    seconds, used = time.perf_counter() - began - planning[0], cpu() - used - planning[1]
    result = {"us": used / calls * 1e6, "rate": calls / seconds, "mb": highest - before}
    result |= {"s": seconds, "commits": commits[0], "committing": commits[1]}
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        os.environ["CHATKIT_DATA"] = folder
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    os._exit(0)  # nobody wants to know which connections are still open
