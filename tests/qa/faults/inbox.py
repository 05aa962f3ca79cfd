"""Kill a receiver again and again while it is under load; nothing acknowledged may be lost.

`python -m faults.inbox --kills 200` prints the table, for SQLite and for PostgreSQL, and
fails when one acknowledged delivery is missing. Senders do as a service does: what was not
acknowledged is sent again, under the same id.
"""

import argparse
import http.client
import json
import multiprocessing
import random
import sys
import tempfile
import threading
import time
from contextlib import closing
from multiprocessing.connection import Connection
from typing import NamedTuple
from urllib.parse import urlsplit

from inbox.senders import SECRET, signed
from postgres import postgresql

from chatkit.inbox import Inbox

_FORK = multiprocessing.get_context("forkserver")
_FORK.set_forkserver_preload(
    [
        *("chatkit.inbox", "chatkit.inbox.receiver", "psycopg"),
        *("sqlalchemy.dialects.sqlite", "sqlalchemy.dialects.postgresql"),
    ]
)


class Outcome(NamedTuple):
    """The outcome of one run."""

    kills: int
    acknowledged: int
    lost: int
    damaged: int
    repeats: int
    doubled: int

    def __str__(self) -> str:
        return " ".join(f"{value:>12,}" for value in self)


def serve(url: str, pipe: Connection) -> None:
    """Serve a receiver until it is killed; send its URL through the pipe."""
    receiver = Inbox(url).serve(SECRET)
    pipe.send(receiver.url)
    receiver.wait()


class Load:
    """Senders that send on, whatever happens to the receiver."""

    def __init__(self, senders: int) -> None:
        self.url = "http://127.0.0.1:9"
        self.acknowledged: set[str] = set()
        self._came = threading.Condition()
        self._end = threading.Event()
        self._threads = [threading.Thread(target=self._send, args=[n]) for n in range(senders)]
        for thread in self._threads:
            thread.start()

    def until(self, count: int) -> None:
        """Wait until so many deliveries are acknowledged."""
        with self._came:
            self._came.wait_for(lambda: len(self.acknowledged) >= count)

    def stop(self) -> None:
        """Finish what is under way, and end."""
        self._end.set()
        for thread in self._threads:
            thread.join()

    def _send(self, sender: int) -> None:
        number = 0
        while not self._end.is_set():
            with closing(http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=5)) as to:
                try:
                    while not self._end.is_set():
                        self._deliver(to, f"{sender}-{number}")
                        number += 1
                except (OSError, http.client.HTTPException):
                    time.sleep(0.005)  # the same one again, to the next receiver

    def _deliver(self, to: http.client.HTTPConnection, name: str) -> None:
        body = content(name)
        to.request("POST", "/", body, signed(body, f"msg_{name}"))
        answer = to.getresponse()
        answer.read()
        if answer.status != 200:
            raise OSError(f"answered {answer.status}")
        with self._came:
            self.acknowledged.add(name)
            self._came.notify_all()


def content(name: str) -> bytes:
    """The body of one delivery: a few hundred bytes that only it has."""
    return json.dumps(
        {"event": "chat.message.status", "data": {"name": name, "of": name * 40}}
    ).encode()


def run(url: str, kills: int, seed: int = 0, senders: int = 4) -> Outcome:
    """Kill a receiver so many times, at any moment, and compare what is there at the end."""
    rng = random.Random(seed)
    load = Load(senders)
    for last in [False] * kills + [True]:
        parent, child = _FORK.Pipe(duplex=False)
        process = _FORK.Process(target=serve, args=[url, child], daemon=True)
        process.start()
        child.close()
        load.url = parent.recv()
        if last:
            load.stop()
        else:
            load.until(len(load.acknowledged) + rng.randint(5, 100))
            time.sleep(rng.uniform(0, 0.01))  # at any moment of what is under way
        process.kill()
        process.join()
        parent.close()
    with Inbox(url) as inbox:
        kept = [delivery.body for delivery in inbox._select()]
        every = sum(1 for _ in inbox._select(repeats=True, verified=None))
    names = [json.loads(body)["data"]["name"] for body in kept]
    return Outcome(
        kills,
        len(load.acknowledged),
        lost=len(load.acknowledged - {*names}),
        damaged=sum(content(name) != body for name, body in zip(names, kept, strict=True)),
        repeats=every - len(kept),
        doubled=len(names) - len({*names}),
    )


def main() -> int:
    """Print the table; 1 when anything was lost."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(" ".join(["database".ljust(12), *(f"{name:>12}" for name in Outcome._fields)]))
    outcomes = []
    with tempfile.TemporaryDirectory() as folder, postgresql() as server:
        urls = {"sqlite": f"sqlite:///{folder}/inbox.sqlite", "postgresql": server.new()}
        for name, url in urls.items():
            outcomes.append(run(url, arguments.kills, arguments.seed))
            print(name.ljust(12), outcomes[-1], flush=True)
    return int(any(o.lost or o.damaged or o.doubled or not o.acknowledged for o in outcomes))


if __name__ == "__main__":
    sys.exit(main())
