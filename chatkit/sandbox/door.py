"""The HTTP door: who may come in, and when an answer may go out.

Safe on localhost: any page in a browser and any process of the machine can reach a
loopback port. So the Host must be exactly ours, a foreign Origin is refused, nothing is
ever said about CORS.

All calls read in one turn of the event loop share one commit, made before any of their
answers is released: durability costs one commit a turn, not one a call.
"""

import asyncio
import sys
import time
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from chatkit.sandbox.faults import Fault
from chatkit.sandbox.middleware import API, Batch, Middleware
from chatkit.sandbox.replies import Answer
from chatkit.sandbox.request import Request

if TYPE_CHECKING:
    from chatkit.sandbox.connection import Connection

_STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus
}


class Refused(Exception):
    """A call that does not reach the service."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Call(NamedTuple):
    """One call as it was read; one that is refused does not reach the service."""

    request: Request
    refused: Refused | None
    last: bool  # of its connection
    started: float


class Door:
    """What the connections of one server share: the middleware, its names, and who waits."""

    def __init__(self, middleware: Middleware, hosts: frozenset[str]) -> None:
        self.middleware = middleware
        self.connections: set[Connection] = set()
        self._hosts = hosts
        self._origins = frozenset(f"http://{host}" for host in hosts)
        self._waiting: list[tuple[Connection, Call, Answer, Batch, Fault | None]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def check(self, headers: dict[str, str]) -> None:
        """Let in, by their headers, the calls of this machine's own programs.

        Raises:
            Refused: The host is not ours, a page of another origin asks, or the body is too large.
        """
        if headers.get("host", "").lower() not in self._hosts:
            raise Refused(421, "The sandbox does not answer under that host name")
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            raise Refused(403, "Pages of another origin may not call the sandbox")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise Refused(403, "Pages of another site may not call the sandbox")
        length = headers.get("content-length", "0")
        # Python reads no number of thousands of digits, and none is needed.
        self.check_size(int(length) if len(length) < 20 else sys.maxsize)

    def check_size(self, size: int) -> None:
        """Let in a body of this size.

        Raises:
            Refused: It is too large.
        """
        if size > self.middleware.max_body:
            raise Refused(413, f"A body may have at most {self.middleware.max_body} bytes")

    def take(self, connection: "Connection", call: Call) -> None:
        """Have a call answered: at once, at the end of this turn, or when it is done."""
        if call.refused:
            answer = self.middleware.error(call.refused.status, str(call.refused))
            connection.reply(call, answer)
        elif self.middleware.faults.active or not call.request.path.startswith(API):
            task = asyncio.get_running_loop().create_task(self._take_slowly(connection, call))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._take(connection, call, None)

    async def _take_slowly(self, connection: "Connection", call: Call) -> None:
        if not call.request.path.startswith(API):
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(None, self.middleware.aside, call.request)
            connection.reply(call, answer)
            return
        fault = self.middleware.faults.draw()
        await asyncio.sleep(self.middleware.faults.latency)
        if fault and not fault.after:
            connection.reply(call, None, fault)
        else:
            self._take(connection, call, fault)

    def _take(self, connection: "Connection", call: Call, fault: Fault | None) -> None:
        answer, batch = self.middleware.take(call.request)
        if batch is None:
            connection.reply(call, answer, fault)
            return
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._save)
        self._waiting.append((connection, call, answer, batch, fault))

    def _save(self) -> None:
        """Commit for all who wait, and release their answers."""
        waiting, self._waiting = self._waiting, []
        self.middleware.save()
        for connection, call, answer, batch, fault in waiting:
            connection.reply(call, answer if batch.saved else self.middleware.unsaved(), fault)

    def head(self, answer: Answer, *, last: bool) -> bytes:
        """The status line and headers of an answer."""
        lines = [_STATUS_LINES[answer.status], f"date: {self.middleware.date()}\r\n"]
        lines += [f"{name}: {value}\r\n" for name, value in answer.headers.items()]
        if answer.status != 204:
            lines.append(f"content-length: {len(answer.body)}\r\n")
        lines.append("connection: close\r\n\r\n" if last else "\r\n")
        return "".join(lines).encode("latin-1")

    def sweep(self) -> None:
        """Close the connections that wait for nothing, or take too long."""
        now = time.monotonic()
        for connection in list(self.connections):
            connection.sweep(now)

    async def finish(self, grace: float) -> None:
        """Answer the calls that are out, for so many seconds, and close all connections."""
        for connection in list(self.connections):
            connection.finish()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                while self.connections:
                    await asyncio.sleep(0.01)
        for connection in list(self.connections):
            connection.abort()
