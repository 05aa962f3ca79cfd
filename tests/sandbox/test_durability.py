"""A sandbox in a file: each write that was answered survives the end of the process."""

import http.client
import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import processes
import pytest
from caller import ROOT, Caller

from chatkit import Sandbox

KILLS = 10


class Served(NamedTuple):
    """`python -m chatkit sandbox --db FILE --json`, as a process of its own."""

    process: subprocess.Popen[bytes]
    access: dict[str, str]

    def connect(self) -> http.client.HTTPConnection:
        host = self.access["base_url"].removeprefix("http://")
        return http.client.HTTPConnection(host, timeout=20)

    def send(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: object = None
    ) -> tuple[int, Any]:
        bearer = {"Authorization": f"Bearer {self.access['token']}"}
        headers = {"Content-Type": "application/json", **bearer}
        text = None if body is None else json.dumps(body)
        connection.request(method, f"{ROOT}{self.access['account_id']}{path}", text, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


@contextmanager
def serving(path: Path) -> Iterator[Served]:
    command = [sys.executable, "-m", "chatkit", "sandbox", "--db", str(path), "--json"]
    with processes.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield Served(process, json.loads(process.stdout.readline()))
        finally:
            process.kill()


class Writer:
    """Creates and deletes contacts until the process is gone, and remembers every answer."""

    def __init__(self) -> None:
        self.created: dict[int, str] = {}
        self.deleting: set[int] = set()  # sent, so perhaps done
        self.deleted: set[int] = set()  # answered, so done

    def write(self, served: Served, numbers: Iterator[int], enough: threading.Barrier) -> None:
        with suppress(OSError, http.client.HTTPException), closing(served.connect()) as connection:
            for count in range(1, 1_000_000):
                number = str(next(numbers))
                body = {"number": number, "country_code": "+1", "name": number}
                status, answer = served.send(connection, "POST", "/contacts", body)
                assert status == 201
                record = answer["data"]["id"]
                self.created[record] = number
                if count % 7 == 0:
                    self.deleting.add(record)
                    status, _ = served.send(connection, "DELETE", f"/contacts/{record}")
                    assert status == 200
                    self.deleted.add(record)
                if count == 20:
                    enough.wait(60)


def contacts(path: Path) -> dict[int, str]:
    """Return the numbers of all contacts in a file, by id."""
    outcome: dict[int, str] = {}
    with Sandbox(path) as sandbox:
        for page in itertools.count(1):
            records = Caller(sandbox)("GET", f"/contacts?page={page}&pageSize=100").data
            outcome.update({record["id"]: record["number"] for record in records})
            if not records:
                break
    return outcome


def test_every_answered_write_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "sandbox.db"
    writers = [Writer() for _ in range(4)]
    numbers = iter(range(5_000_000, 9_000_000))
    for kill in range(KILLS):
        enough = threading.Barrier(len(writers) + 1)
        with serving(path) as served, ThreadPoolExecutor(len(writers)) as pool:
            running = [pool.submit(one.write, served, numbers, enough) for one in writers]
            enough.wait(60)
            time.sleep(0.01 * kill)
            os.kill(served.process.pid, signal.SIGKILL)
            for one in running:
                one.result(60)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    outcome = contacts(path)
    for writer in writers:
        assert len(writer.created) >= 20 * KILLS
        kept = {id: n for id, n in writer.created.items() if id not in writer.deleting}
        assert kept.items() <= outcome.items()
        assert not writer.deleted & outcome.keys()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_well(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path / "sandbox.db") as served:
        with closing(served.connect()) as connection:
            assert served.send(connection, "GET", "/contacts")[0] == 200
            served.process.send_signal(number)
            assert served.process.wait(20) == 0
        assert served.process.stdout is not None
        assert served.process.stdout.read() == b""
