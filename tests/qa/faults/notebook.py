"""A kernel as JupyterLab has one, and a sandbox that another process serves over HTTP."""

from __future__ import annotations

import ast
import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import processes
from faults.account import environment
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager


class Wrong(AssertionError):
    """The kernel broke, or hangs."""


# --- the service ------------------------------------------------------------------------------


class Served:
    """A sandbox served over HTTP by another process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.about: dict[str, Any] = json.loads(process.stdout.readline())
        self._line = http.client.HTTPConnection(self.about["base_url"].removeprefix("http://"))

    def close(self) -> None:
        self._line.close()

    def admin(self, method: str, what: str, **body: Any) -> Any:
        """Ask for something at the admin API."""
        return self._ask(method, f"/_sandbox/{what}", body, self.about["admin_token"])

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Make one call of the API; its data."""
        account = f"/api/business/public/channels/chat/accounts/{self.about['account_id']}"
        return self._ask(method, f"{account}/{path}", body, self.about["token"])["data"]

    def _ask(self, method: str, path: str, body: Any, token: str) -> Any:
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        content = json.dumps(body) if method == "POST" else None
        self._line.request(method, path, content, headers)
        answer = self._line.getresponse()
        report = json.loads(answer.read())
        assert answer.status < 300, report
        return report

    def records(self, resource: str) -> list[dict[str, Any]]:
        """All records of a resource, with all that an edit of ours changes."""
        result: list[dict[str, Any]] = []
        page = 1
        while more := self.call("GET", f"{resource}?page={page}&pageSize=100"):
            result += more
            page += 1
        if resource == "contacts":
            return result
        return [self.call("GET", f"{resource}/{record['id']}") for record in result]

    def writes(self) -> list[float]:
        """Return the time of each write."""
        log = self.admin("GET", "requests")["requests"]
        return [
            datetime.fromisoformat(entry["time"]).timestamp() - entry["ms"] / 1000
            for entry in log
            if entry["method"] != "GET"
        ]


@contextmanager
def served() -> Iterator[Served]:
    """An empty sandbox, ended with the block."""
    with processes.Popen(
        [sys.executable, "-m", "chatkit", "sandbox", "--json"],
        env=environment(), stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        service = Served(process)
        try:
            yield service
        finally:
            service.close()
            process.kill()


# --- the kernel -------------------------------------------------------------------------------


class Kernel:
    """A kernel, as JupyterLab has one."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self._manager, self._client = manager, client

    def start(self, code: str) -> str:
        """Start a cell; its name once the kernel is at it, for before it does not hear."""
        cell = str(self._client.execute(code))
        self._until(cell, "execute_input")
        return cell

    def interrupt(self) -> None:
        """Press the stop button."""
        self._manager.interrupt_kernel()

    def end(self, cell: str) -> float:
        """Wait for the end of a cell; when it was, in seconds of the clock.

        The kernel says that it is idle. A reply it may owe: an interrupt that meets its own
        code, just before or after that of the cell, makes ipykernel forget it.
        """
        message = self._until(cell, "status", execution_state="idle")
        return float(message["header"]["date"].timestamp())

    def _until(self, cell: str, kind: str, **content: str) -> dict[str, Any]:
        """Wait until the kernel says this of a cell."""
        while True:
            message: dict[str, Any] = self._client.get_iopub_msg(timeout=60)
            about = message["parent_header"].get("msg_id") == cell
            if (
                about
                and message["msg_type"] == kind
                and content.items() <= message["content"].items()
            ):
                return message

    def run(self, code: str, **how: Any) -> dict[str, Any]:
        """Run a cell that must not fail; the content of the reply."""
        cell, reply = self._client.execute(code, **how), None
        while reply is None or reply["parent_header"].get("msg_id") != cell:
            reply = self._client.get_shell_msg(timeout=60)
        content: dict[str, Any] = reply["content"]
        if content["status"] != "ok":
            raise Wrong("\n".join(content["traceback"]))
        return content

    def value(self, expression: str) -> Any:
        """Evaluate what gives a text of JSON."""
        content = self.run("", silent=True, user_expressions={"value": expression})
        report = content["user_expressions"]["value"]
        if report["status"] != "ok":
            raise Wrong("\n".join(report["traceback"]))
        return json.loads(ast.literal_eval(report["data"]["text/plain"]))


@contextmanager
def kernel(folder: Path) -> Iterator[Kernel]:
    """A kernel whose files are in a folder, ended with the block."""
    manager = KernelManager(kernel_name="python3", connection_file=str(folder / "kernel.json"))
    places = {"CHATKIT_DATA": folder / "data", "IPYTHONDIR": folder / "ipython"}
    manager.start_kernel(
        env=environment(**{name: str(place) for name, place in places.items()}),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    client = manager.blocking_client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=60)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
