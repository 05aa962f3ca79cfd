"""The client of a fault service: start it, send it commands, read the true state."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import processes

TESTS = Path(__file__).resolve().parents[2]


def environment(**more: str) -> dict[str, str]:
    """The environment of a process that can import these files, and uses one thread."""
    path = os.pathsep.join(map(str, (TESTS, TESTS / "qa", TESTS.parent)))
    quiet = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return os.environ | quiet | {"PYTHONPATH": path} | more


class Account:
    """One account of a fault service in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self.about: dict[str, Any] = json.loads(process.stdout.readline())
        self.base_url: str = self.about["base_url"]

    def command(self, what: str, **values: Any) -> Any:
        """Send a command to the service, past all its faults."""
        line = http.client.HTTPConnection(self.base_url.removeprefix("http://"), timeout=60)
        try:
            line.request("POST", f"/_control/{what}", json.dumps(values))
            answer = line.getresponse()
            return json.loads(answer.read())
        finally:
            line.close()

    def faults(self, rates: Mapping[str, float], **more: Any) -> None:
        """Set how often a write meets each kind of fault, and the rest of `Service.faults`."""
        self.command("faults", rates=dict(rates), **more)

    def call(self, method: str, path: str, body: Any = None, *, other: bool = False) -> Any:
        """Make one call past all faults, as the client or as somebody else; its data."""
        return self.calls([(method, path, body)], other=other)[0]

    def calls(self, calls: Sequence[tuple[str, str, Any]], *, other: bool = False) -> list[Any]:
        """Make calls past all faults; the data of each."""
        token = self.about["writer_token"] if other else self.about["token"]
        done = self.command("call", calls=[list(call) for call in calls], token=token)
        wrong = [d for d in done if d["status"] >= 300]
        assert not wrong, wrong
        return [d["data"] for d in done]

    def truth(self) -> dict[str, Any]:
        """Return everything since `forget`, and the records; nothing is in progress."""
        truth: dict[str, Any] = self.command("truth")
        return truth


@contextmanager
def account(profile: Mapping[str, Any] | None = None) -> Iterator[Account]:
    """A fault service with an empty account, ended with the block."""
    with processes.Popen(
        [sys.executable, "-m", "faults.service", json.dumps(dict(profile or {}))],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Account(process)
        finally:
            process.kill()
