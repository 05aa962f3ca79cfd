"""Bench of the inbox: deliveries verified, durably stored and then acknowledged, a second.

All receivers run side by side, each in a process of its own and behind the same server,
without TLS as behind a proxy. Beside ours stand a bare Starlette route that only reads the
body, and answer-then-queue: the same verification and the same writer, but it answers before
the disk has anything. That one is unsafe, and the last column shows what it would lose.

A second table holds reads of a large inbox against those of a small one: the last hour, which has
the same deliveries in both, must cost the same.

`python inbox.py serve KIND [DATABASE]` is one receiver, and `python inbox.py load URL CALLS RATE
[DATABASE]` one sender (RATE 0: as fast as the answers come), which prints JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import psutil
from measure import (
    TESTS,
    Server,
    at_least,
    at_most,
    child,
    figure,
    find_postgres,
    rounds,
    server,
    show,
    sized,
)
from measure import run as run_bench
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

# In this folder `inbox` is this file; meant is the folder of the tests.
sys.path.pop(0)
sys.path.append(TESTS)
from inbox.bodies import change, enveloped, status, value
from inbox.senders import SECRET, signed

from chatkit.api.secret import Secret
from chatkit.inbox import Inbox
from chatkit.inbox.delivery import DeliveryInspector, Selection
from chatkit.inbox.receiver import Batches, ReceivedRequest
from chatkit.inbox.store import InboxStore
from chatkit.profile import ServiceProfile
from chatkit.util.asgi_server import Server as Serving
from chatkit.util.asgi_server import open_socket

ROUNDS, CALLS, SECONDS = sized((3, 4000, 3), (1, 60, 1))
SENDERS, RATE = 32, sized(100, 20)
#: Deliveries of an inbox, and how often each is read.
SIZES, READS = sized(((50_000, 500_000), 15), ((2_000, 4_000), 1))
HOUR = 1000  # deliveries
GROWTH = 2  # times that the last hour may cost in the larger inbox
GOAL = 0.3  # of what a route acknowledges that stores nothing
SERVE = (sys.executable, __file__, "serve")
BARE = "bare Starlette route, stores nothing"
KINDS = {"chatkit": "chatkit, {}: stored, then 200", "queue": "answer-then-queue, {} (unsafe)"}


class Receiver(NamedTuple):
    """A receiver that runs, and the database it stores in."""

    process: Server
    kind: str
    database: str = ""


def main() -> None:
    """Print one table."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        databases = {"SQLite": [f"sqlite:///{folder / kind}.sqlite" for kind in KINDS]}
        if postgres := find_postgres(stack):
            databases["PostgreSQL"] = [postgres.new() for _ in KINDS]
        up = {BARE: Receiver(stack.enter_context(server(*SERVE, "bare")), "bare")}
        for called, urls in databases.items():
            for (kind, name), url in zip(KINDS.items(), urls, strict=True):
                process = stack.enter_context(server(*SERVE, kind, url))
                up[name.format(called)] = Receiver(process, kind, url)
        for one in up.values():
            send(one, CALLS // 10, 0)  # warm
        results = rounds({name: partial(run, one) for name, one in up.items()}, ROUNDS)
        for one in filter(lambda one: one.database, up.values()):
            check(one)
        table(results)
        print(f"\nOne write of 4 kB that waits for this disk: {figure(disk(folder))} ms.")
        grown({"SQLite": lambda: f"sqlite:///{folder / 'size'}{random.random()}.sqlite"})
        if postgres:
            grown({"PostgreSQL": postgres.new})


def run(to: Receiver) -> dict[str, Any]:
    """One round of a receiver: as fast as it answers, and then at leisure."""
    paced = send(to, RATE * SECONDS, RATE)
    return send(to, CALLS, 0) | {"waits": paced["waits"]}


def send(to: Receiver, calls: int, rate: int) -> dict[str, Any]:
    """Send deliveries: what the sender saw, and the CPU until all of them were stored."""
    before = to.process.cpu(), cpu_of_postgres()
    seen: dict[str, Any] = child(
        "inbox.py", "load", to.process.line, calls, rate, *filter(None, [to.database])
    )
    seen["us"] = (to.process.cpu() - before[0]) / calls * 1e6
    seen["postgres"] = (cpu_of_postgres() - before[1]) / calls * 1e6
    if to.kind == "chatkit" and seen["behind"]:
        sys.exit(f"chatkit acknowledged {seen['behind']} deliveries that were not stored")
    return seen


def cpu_of_postgres() -> float:
    """Seconds of CPU that the processes of the database have used."""
    used = 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # one of its helpers has just ended
            if process.name() == "postgres":
                used += sum(process.cpu_times()[:2])  # user and system
    return used


def check(one: Receiver) -> None:
    """End with an error if one delivery was stored as not verified, or taken for a repeat."""
    store, sent = InboxStore(one.database), CALLS // 10 + ROUNDS * (CALLS + RATE * SECONDS)
    stored = sum(1 for _ in store.select(Selection(verified=True)))
    store.close()
    if stored != sent:
        sys.exit(f"{one.kind}: {sent:,} were acknowledged and {stored:,} are stored, verified")


def table(results: dict[str, list[dict[str, Any]]]) -> None:
    """Print what each receiver did, and its ratios to the bare route."""
    figures = {}
    for name, runs in results.items():
        cuts = quantiles([wait * 1e3 for one in runs for wait in one["waits"]], n=100)
        middle = [median(one[key] for one in runs) for key in ("rate", "us", "postgres")]
        figures[name] = (*middle, cuts[49], cuts[98])
    bare, rows = figures[BARE], []
    for name, (rate, us, postgres, p50, p99) in sorted(figures.items(), key=lambda i: -i[1][0]):
        times = [
            f"{x / y:.2f} ×" for x, y in ((rate, bare[0]), (us, bare[1] or 1.0), (p99, bare[4]))
        ]
        in_database = postgres if "PostgreSQL" in name else "—"
        lost = max(one["behind"] for one in results[name])
        if name == KINDS["chatkit"].format("SQLite"):
            at_least("deliveries stored and acknowledged a second, bare = 1", rate / bare[0], GOAL)
        if name in {KINDS["chatkit"].format(database) for database in ("SQLite", "PostgreSQL")}:
            at_most(f"acknowledged but not stored, {name}", lost, 0)
        behind = "all" if name == BARE else f"{lost:,}"
        rows.append([name, rate, times[0], us, times[1], in_database, p50, p99, times[2], behind])
    header = ["receiver", f"a second, {SENDERS} at once", "bare = 1", "CPU µs each", "bare = 1"]
    header += ["and in PostgreSQL, µs", f"p50 ms at {RATE}/s", f"p99 ms at {RATE}/s", "bare = 1"]
    header += ["acknowledged but not stored at the last answer"]
    show(f"Signed deliveries acknowledged, {ROUNDS} shuffled rounds of {CALLS:,}", header, rows)


SECOND = 1_790_000_000  # when the last delivery of a filled inbox came
LATE = datetime.fromtimestamp(SECOND, UTC) - timedelta(hours=1)
FILL = """
INSERT INTO delivery
  (received, identity, kind, verified, reason, is_json, path, headers, body, contact)
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {size})
SELECT {begin} + i * CAST({step} AS BIGINT), 'id:' || i, 'a', true, '', true, '/', '[]', {body},
  '+' || (100000 + i - i / {contacts} * {contacts}) FROM n
"""


def grown(databases: dict[str, Callable[[], str]]) -> None:
    """Fill inboxes of each size inside the database, and read the same of both."""
    for called, new in databases.items():
        inboxes = {size: Inbox(new()) for size in SIZES}
        for size, inbox in inboxes.items():
            fill(inbox, size)
        reads: dict[str, Callable[[Inbox], object]] = {
            "since=, the last hour": lambda inbox: list(inbox._select(since=LATE)),
            "repr()": repr,
            "contact=, of 20 deliveries": lambda inbox: list(inbox._select(contact="+100007")),
        }
        rows = []
        for name, read in reads.items():
            times = rounds(
                {str(size): partial(timed, read, inbox) for size, inbox in inboxes.items()}, READS
            )
            small, large = (median(times[str(size)]) for size in SIZES)
            if name.startswith("since"):
                what = f"{name}, {called}: at {SIZES[1]:,} / at {SIZES[0]:,}"
                at_most(what, large / small, GROWTH, " ×")
            rows.append([name, small, large, f"{large / small:.2f} ×"])
        for inbox in inboxes.values():
            inbox.close()
        header = [called, *(f"ms at {size:,}" for size in SIZES), "last / first"]
        show(f"Reads of an inbox, {called}", header, rows)


def fill(inbox: Inbox, size: int) -> None:
    """Fill an inbox with deliveries that came at the same pace until the same second."""
    step = 3_600_000_000 // HOUR
    store = inbox._store
    sqlite = store.engine.dialect.name == "sqlite"
    text = "'{\"n\":' || i || '}'"
    statement = FILL.format(
        size=size, step=step, begin=SECOND * 1_000_000 - size * step, contacts=size // 20,
        body=f"CAST({text} AS BLOB)" if sqlite else f"convert_to({text}, 'UTF8')",
    )  # fmt: skip
    with store.engine.begin() as connection:
        if not sqlite:
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        connection.exec_driver_sql(statement)
        if not sqlite:
            connection.exec_driver_sql("ANALYZE delivery")


def timed(read: Callable[[Inbox], object], inbox: Inbox) -> float:
    """Milliseconds of a read."""
    began = time.perf_counter()
    read(inbox)
    return (time.perf_counter() - began) * 1e3


def disk(folder: Path) -> float:
    """Milliseconds until a small write is durable: what no commit can be quicker than."""
    with (folder / "probe").open("wb", buffering=0) as probe:
        began = time.perf_counter()
        for _ in range(50):
            probe.write(bytes(4096))
            os.fsync(probe.fileno())
        return (time.perf_counter() - began) / 50 * 1e3


def serve(kind: str, database: str = "") -> None:
    """Be one receiver until killed."""
    if kind == "chatkit":
        receiver = Inbox(database).serve(SECRET)
        print(receiver.url, flush=True)
        return receiver.wait()
    inspector = DeliveryInspector(ServiceProfile(), [Secret(SECRET)])
    store = InboxStore(database) if kind == "queue" else None
    tasks: set[asyncio.Task[Any]] = set()

    def write(arrivals: Sequence[ReceivedRequest]) -> list[tuple[int, str]]:
        store.write_deliveries([inspector.inspect(*one) for one in arrivals])
        return [(200, "stored")] * len(arrivals)

    batches = Batches(write)

    async def take(request: Request) -> PlainTextResponse:
        body = await request.body()
        if store:
            pairs = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in request.headers.raw]
            task = asyncio.create_task(
                batches.store(ReceivedRequest(request.url.path, pairs, body, time.time()))
            )
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        return PlainTextResponse("taken\n")

    app = Starlette(routes=[Route("/{path:path}", take, methods=["POST"])])
    serving = Serving(app, open_socket("127.0.0.1", 0))
    print(f"http://127.0.0.1:{serving.port}/", flush=True)
    return serving.wait()


def requests(calls: int) -> Iterator[bytes]:
    """Signed deliveries of message statuses, each its own."""
    run = random.getrandbits(48)
    for number in range(calls):
        name = f"{run:x}-{number}"
        body = enveloped(change("messages", value(statuses=[status(name, "delivered")])))
        head = {"content-type": "application/json", "content-length": str(len(body))}
        head |= {"host": "127.0.0.1"} | signed(body, f"msg_{name}")
        lines = "".join(f"{key}: {each}\r\n" for key, each in head.items())
        yield f"POST / HTTP/1.1\r\n{lines}\r\n".encode() + body


async def load(url: str, calls: int, rate: int, database: str = "") -> dict[str, Any]:
    """Send so many deliveries, all signed beforehand, and wait until they are stored."""
    store = InboxStore(database) if database else None
    first = store.read_last_id() if store else 0
    made, waits = iter(list(requests(calls))), []
    host, port = url.removeprefix("http://").strip("/").split(":")
    free: asyncio.Queue[Any] = asyncio.Queue()
    for _ in range(SENDERS):
        free.put_nowait(await asyncio.open_connection(host, int(port)))

    async def one(request: bytes, began: float) -> None:
        reader, writer = await free.get()  # its wait counts: else a slow receiver would look quick
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readuntil(b"\n")  # all these receivers answer with one line
        waits.append(time.perf_counter() - began)
        if not head.startswith(b"HTTP/1.1 200 "):
            raise OSError(head.decode())
        free.put_nowait((reader, writer))

    async def one_by_one() -> None:
        for request in made:
            await one(request, time.perf_counter())

    chance, began = random.Random(7), time.perf_counter()
    due = began
    async with asyncio.TaskGroup() as tasks:
        for _ in range(0 if rate else SENDERS):
            tasks.create_task(one_by_one())
        for request in made if rate else ():
            due += chance.expovariate(rate)
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.create_task(one(request, time.perf_counter()))
    took = time.perf_counter() - began
    behind = calls - (store.read_last_id() - first) if store else calls
    while store and store.read_last_id() - first < calls:
        await asyncio.sleep(0.02)
    return {"rate": calls / took, "waits": waits, "behind": behind}


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(*sys.argv[2:])
    elif sys.argv[1:2] == ["load"]:
        url, calls, rate, *database = sys.argv[2:]
        print(json.dumps(asyncio.run(load(url, int(calls), int(rate), *database))))
    else:
        run_bench(main)
