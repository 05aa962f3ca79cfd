"""Middleware: the lock, the faults and the log around the service, and its HTTP server.

Safe on localhost: any page in a browser and any process of the machine can reach a
loopback port. So the Host must be exactly ours, a foreign Origin is refused, nothing is
ever said about CORS.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sqlite3
import threading
import time
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import formatdate
from functools import cached_property, lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from chatkit.errors import StoreError
from chatkit.sandbox.admin import ROOT, Admin, DrawnFault, Dropped, Faults
from chatkit.sandbox.delivery import DeliveryOutcome, DeliveryWorker, PublishedEvent
from chatkit.sandbox.interface import MAX_BODY, Request, ServiceAnswer, dumps
from chatkit.util.webhook_sender import is_loopback

if TYPE_CHECKING:
    from chatkit.sandbox import Sandbox
    from chatkit.sandbox.service import Service

API = "/api/"
LOG_LENGTH = 1000
_LONGEST = 500

logger = logging.getLogger("chatkit.sandbox")


@lru_cache(maxsize=1)
def _format_http_date(second: int) -> str:
    """Format a time in seconds as an HTTP date."""
    return formatdate(second, usegmt=True)


class LoggedCall(NamedTuple):
    """One call in the log; status None: the connection was closed without an answer."""

    method: str
    path: str
    status: int | None
    ms: float
    time: str


class Middleware:
    """One service behind a lock, with its faults and its log."""

    def __init__(self, service: Service, admin_token: str, reset: Callable[[], None]) -> None:
        self.service, self.store = service, service.store
        self.delivery_worker = DeliveryWorker(self)
        self.lock = threading.RLock()
        self.faults = Faults()
        self.admin = Admin(self, admin_token, reset)
        self.log: deque[LoggedCall] = deque(maxlen=LOG_LENGTH)

    def format_date(self) -> str:
        """Format the time of the service as the `Date` of an answer."""
        return _format_http_date(int(self.service.clock.now()))

    def answer(self, request: Request, started: float) -> ServiceAnswer:
        """Answer a call and log it; what it changed is saved when this returns.

        Args:
            request: The call.
            started: When it came, by `time.perf_counter`.

        Raises:
            Dropped: A fault closed the connection.
        """
        status = None
        try:
            answer = self._dispatch(request)
            status = answer.status
            return answer
        finally:
            self.log_call(request.method, request.path, status, started)

    def _dispatch(self, request: Request) -> ServiceAnswer:
        """Answer a call of the API, of the admin API, or for the OpenAPI document."""
        try:
            if request.path.startswith(API):
                return self._call_service(request)
            if request.path.startswith(ROOT):
                return self.admin.answer(request)
        except Dropped:
            raise
        except Exception as error:  # noqa: BLE001  a bug of ours must not end the sandbox
            self.log_bug(error)
            return self.build_error(500, "The sandbox has a bug")
        if request.path != "/openapi.json":
            return self.build_error(404, "There is no such path")
        if request.method not in ("GET", "HEAD"):
            refused = self.build_error(405, "This path allows GET, HEAD")
            refused.headers["allow"] = "GET, HEAD"
            return refused
        return ServiceAnswer(200, self._openapi_json, {"content-type": "application/json"})

    def _call_service(self, request: Request) -> ServiceAnswer:
        """Answer a call of the API, unless a fault is drawn for it."""
        fault = self.faults.draw_fault()
        if fault and not fault.after:
            return self._apply_fault(fault)
        try:
            with self.transaction() as service:
                answer = service.answer(request)
        except (StoreError, sqlite3.Error) as error:
            logger.error("nothing was saved: %s", error)
            answer = self.build_error(503, "The sandbox could not save this; nothing was changed")
        return self._apply_fault(fault, answer) if fault else answer

    def _apply_fault(self, fault: DrawnFault, answer: ServiceAnswer | None = None) -> ServiceAnswer:
        """Return the answer of a fault.

        Raises:
            Dropped: The fault closes the connection.
        """
        if fault.kind in ("dropped", "truncated"):
            raise Dropped(answer if fault.kind == "truncated" else None)
        error = self.build_error(fault.status, "A fault of the sandbox, set on purpose")
        if fault.kind == "429":
            error.headers["retry-after"] = str(ceil(self.faults.retry_after))
        return error

    @contextmanager
    def transaction(self) -> Iterator[Service]:
        """Lock the service for a block; save what the block wrote, or undo it.

        Raises:
            StoreError: What the block wrote could not be saved.
        """
        with self.lock:
            try:
                yield self.service
            except BaseException:
                self.store.rollback()
                raise
            self.store.commit()
            if self.service.queue.fresh:
                self.delivery_worker.start_threads()

    def allow(self, url: str, to: str | None = None) -> None:
        """Add an address to the receivers, and deliver what is queued for it.

        Raises:
            BadReceiver: It cannot be one.
        """
        self.service.receivers.add(url, to)
        with self.transaction():
            self.delivery_worker.start_threads()

    def deliver(
        self, events: Sequence[PublishedEvent], wait: float | None = None
    ) -> list[DeliveryOutcome]:
        """Deliver events to the webhooks that subscribe to them; return the first outcomes.

        Waits so many seconds at most, by default longer than any receiver may take; never
        holds up the API meanwhile.

        Raises:
            QueueFull: Too many deliveries wait already; none of these was added.
            StoreError: They could not be saved.
        """
        deliveries: dict[int, int] = {}
        with self.transaction() as service:
            for event in events:
                deliveries |= service.publisher.publish(service.account_id, *event)
            self.delivery_worker.expect(deliveries)
        seconds = self.delivery_worker.timeout + 5 if wait is None else wait
        return self.delivery_worker.collect(deliveries, seconds)

    @cached_property
    def _openapi_json(self) -> bytes:
        """The OpenAPI document as JSON."""
        from chatkit.sandbox.openapi import build_openapi_document

        document = build_openapi_document(
            self.service.resources, self.service.profile, self.service.replies
        )
        return dumps(document).encode()

    def build_error(self, status: int, message: str) -> ServiceAnswer:
        """Build an error of the sandbox in the form of the service."""
        return self.service.replies.build_error(status, message)

    def log_bug(self, error: BaseException) -> None:
        """Log where a bug of ours is, but not its message, which may quote a token."""
        where = "".join(traceback.format_tb(error.__traceback__))
        logger.error("unexpected %s\n%s", type(error).__name__, where)

    def log_call(self, method: str, path: str, status: int | None, started: float) -> None:
        """Log a call without its headers, query and body, which hold secrets."""
        if path.startswith(API):
            ms = round((time.perf_counter() - started) * 1000, 3)
            now = datetime.now(UTC).isoformat()
            self.log.append(LoggedCall(method, path[:_LONGEST], status, ms, now))


# --- serving over HTTP ----------------------------------------------------------------

GRACE = 2
KEEP_ALIVE_SECONDS = 75


@contextmanager
def serve(sandbox: Sandbox, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve a sandbox over HTTP in a thread; yield the base address.

    Only this machine can reach it unless another host is named, and then only under
    that very name. Leaving waits two seconds for the calls that are out, and for events
    that are being delivered, closes all connections and ends the thread.

    Raises:
        OSError: The port is taken or the host is not an address of this machine.
    """
    from chatkit.util.asgi_server import (  # late: uvicorn is needed for this alone
        Server,
        open_socket,
    )

    address = str(socket.getaddrinfo(host, None)[0][4][0])
    if not is_loopback(address):
        raise OSError(f"it serves this machine only: {host} is not a loopback address")
    last = 0 if port else sandbox._read_last_port()
    try:
        sock = open_socket(address, port or last)
    except OSError:
        if port or not last:
            raise
        taken = "Port %d, which this sandbox had before, is taken: it has another address now."
        logger.warning(taken, last)
        sock = open_socket(address, 0)
    port = sock.getsockname()[1]
    name = f"[{host}]" if ":" in host else host
    base_url = f"http://{name}:{port}"
    if sandbox._access_file is not None:
        try:
            sandbox._write_access_file(base_url, sandbox._access_file)
        except OSError:
            sock.close()
            raise
    names = {"127.0.0.1", "localhost", "[::1]", name.lower()}
    hosts = {f"{name}:{port}" for name in names} | (names if port == 80 else set())
    app = SandboxApp(sandbox._middleware, frozenset(hosts))
    server = Server(
        app, sock, timeout_graceful_shutdown=GRACE, timeout_keep_alive=KEEP_ALIVE_SECONDS
    )
    try:
        yield base_url
    finally:
        server.stop()


# --- the application: who may come in, and when an answer may go out ---------------------------

MAX_HEAD = 64 * 1024
BODY_SECONDS = 10.0
# Sent twice, one of these could mean one thing to a browser and another to us.
_SINGLE_HEADERS = (b"host", b"origin", b"authorization", b"content-type", b"content-length")

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class CallRefused(Exception):
    """A refusal before a call reaches the service."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


#: The refusal of a call with a body over the limit.
_TOO_LARGE = 413, f"A body may have at most {MAX_BODY} bytes"


class Disconnected(Exception):
    """The connection is to be closed: the caller left or is too slow, or a fault closes it."""


class SandboxApp:
    """ASGI application of the sandbox, for calls to these hosts only."""

    def __init__(self, middleware: Middleware, hosts: frozenset[str]) -> None:
        self._middleware = middleware
        self._hosts = hosts
        self._origins = frozenset(f"http://{host}" for host in hosts)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one call."""
        started, middleware = time.perf_counter(), self._middleware
        method, path = scope["method"], scope["raw_path"].decode("latin-1")
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        try:
            try:
                self._check_head(scope, headers)
                body = await _read_body(receive, MAX_BODY) if has_body else b""
                has_body = False
                query = scope["query_string"].decode("latin-1")
                request = Request(method, path, query, headers, body)
                if path.startswith(API):
                    if middleware.faults.latency:
                        await asyncio.sleep(middleware.faults.latency)
                    answer = middleware.answer(request, started)
                else:
                    answer = await asyncio.to_thread(middleware.answer, request, started)
            except CallRefused as refused:
                answer = middleware.build_error(refused.status, str(refused))
                middleware.log_call(method, path, answer.status, started)
            except Dropped as dropped:
                await self._send_half(dropped.answer, method, send)
                raise Disconnected from None
            if has_body and "expect" in headers:
                answer.headers["connection"] = "close"  # so nobody knows whether the body comes
                has_body = False
            await send(self._response_start(answer))
            await send({"type": "http.response.body", "body": answer.body, "more_body": has_body})
            if has_body:
                # To close on bytes that were not read would lose the answer.
                await _read_body(receive, None)
                await send({"type": "http.response.body"})
        except Disconnected:
            scope["state"]["close"]()
            while (await receive())["type"] != "http.disconnect":
                pass

    # --- what comes in ----------------------------------------------------------------

    def _check_head(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        """Refuse a call by its head if it is not of a program of this machine.

        Raises:
            CallRefused: The head is too large or in doubt, the host is not ours, a page of
                another origin asks, or the body will be too large.
        """
        names = [name for name, _ in scope["headers"]]
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEAD:
            raise CallRefused(431, f"The head has more than {MAX_HEAD} bytes")
        if len(names) != len(headers) and any(names.count(name) > 1 for name in _SINGLE_HEADERS):
            raise CallRefused(400, "A header that may be sent once was sent twice")
        if not scope["raw_path"].startswith(b"/"):
            raise CallRefused(400, "Only a path can be asked for")
        if headers.get("host", "").lower() not in self._hosts:
            raise CallRefused(421, "The sandbox does not answer under that host name")
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            raise CallRefused(403, "Pages of another origin may not call the sandbox")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise CallRefused(403, "Pages of another site may not call the sandbox")
        length = headers.get("content-length", "0")
        # Python reads no number of thousands of digits, and none is needed.
        if len(length) >= 20 or int(length) > MAX_BODY:
            raise CallRefused(*_TOO_LARGE)

    # --- what goes out ----------------------------------------------------------------

    def _response_start(self, answer: ServiceAnswer) -> MutableMapping[str, Any]:
        """Make the ASGI message with the status and headers of an answer."""
        headers = {"date": self._middleware.format_date(), **answer.headers}
        if answer.status != 204:
            headers["content-length"] = str(len(answer.body))
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        return {"type": "http.response.start", "status": answer.status, "headers": encoded}

    async def _send_half(self, answer: ServiceAnswer | None, method: str, send: Send) -> None:
        """Send the first half of a truncated answer."""
        body = answer.body if answer and method != "HEAD" else b""
        if answer and body:
            await send(self._response_start(answer))
            half = body[: len(body) // 2]
            await send({"type": "http.response.body", "body": half, "more_body": True})


async def _read_body(receive: Receive, limit: int | None) -> bytes:
    """Read a body within ten seconds; drop its bytes if there is no limit.

    Raises:
        CallRefused: It is too large.
        Disconnected: It does not come, or the caller left before its end.
    """
    body, more = bytearray(), True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Disconnected
                more = message["more_body"]
                if limit is not None:
                    body += message["body"]
                    if len(body) > limit:
                        raise CallRefused(*_TOO_LARGE)
    except TimeoutError:
        raise Disconnected from None
    return bytes(body)
