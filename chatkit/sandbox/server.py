"""Serving a sandbox over HTTP: an ASGI application, its address, starting and stopping.

Safe on localhost: any page in a browser and any process of the machine can reach a
loopback port. So the Host must be exactly ours, a foreign Origin is refused, nothing is
ever said about CORS.
"""

import asyncio
import logging
import socket
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from chatkit.sandbox.faults import Dropped
from chatkit.sandbox.middleware import API, Middleware
from chatkit.sandbox.replies import ServiceAnswer
from chatkit.sandbox.request import MAX_BODY, Request
from chatkit.util.asgi_server import Server, listen
from chatkit.util.webhook_sender import is_loopback

if TYPE_CHECKING:
    from chatkit.sandbox import Sandbox

logger = logging.getLogger("chatkit.sandbox")

# --- serving ------------------------------------------------------------------------------

GRACE = 2
KEEP_ALIVE_SECONDS = 75


@contextmanager
def serve(sandbox: "Sandbox", host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve a sandbox over HTTP from a thread of its own; yields the base address.

    Only this machine can reach it unless another host is named, and then only under
    that very name. Leaving waits two seconds for the calls that are out, and for events
    that are being delivered, closes all connections and ends the thread.

    Raises:
        OSError: The port is taken or the host is not an address of this machine.
    """
    address = str(socket.getaddrinfo(host, None)[0][4][0])
    if not is_loopback(address):
        raise OSError(f"it serves this machine only: {host} is not a loopback address")
    again = _listen_again(address, sandbox._port_before()) if port == 0 else None
    sock = again or listen(address, port)
    port = sock.getsockname()[1]
    name = f"[{host}]" if ":" in host else host
    base_url = f"http://{name}:{port}"
    if sandbox._access_file is not None:
        try:
            sandbox._keep_access(base_url, sandbox._access_file)
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


def _listen_again(host: str, port: int) -> socket.socket | None:
    """Bind the port of the last time; None when there was none, or it is taken."""
    if port == 0:
        return None
    try:
        return listen(host, port)
    except OSError:
        logger.warning(
            "Port %d, which this sandbox had before, is taken: it has another address now.", port
        )
        return None


# --- the application: who may come in, and when an answer may go out ---------------------------

MAX_HEAD = 64 * 1024
BODY_SECONDS = 10.0
# Sent twice, one of these could mean one thing to a browser and another to us.
_ONCE = (b"host", b"origin", b"authorization", b"content-type", b"content-length")

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class CallRefused(Exception):
    """A call that does not reach the service."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class TooLarge(CallRefused):
    """A call with a body over the limit."""

    def __init__(self) -> None:
        super().__init__(413, f"A body may have at most {MAX_BODY} bytes")


class Disconnected(Exception):
    """The connection is to be closed: the caller left, is too slow, or met a fault."""


class SandboxApp:
    """Answers the calls of one server; it is served under these hosts only."""

    def __init__(self, middleware: Middleware, hosts: frozenset[str]) -> None:
        self._middleware = middleware
        self._hosts = hosts
        self._origins = frozenset(f"http://{host}" for host in hosts)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one call; never with a bug."""
        started, middleware = time.perf_counter(), self._middleware
        method, path = scope["method"], scope["raw_path"].decode("latin-1")
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        try:
            try:
                self._check_head(scope, headers)
                body = await _read(receive, MAX_BODY) if has_body else b""
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
                answer = middleware.error(refused.status, str(refused))
                middleware.note(method, path, answer.status, started)
            except Dropped as dropped:
                await self._send_half(dropped.answer, method, send)
                raise Disconnected from None
            if has_body and "expect" in headers:
                answer.headers["connection"] = "close"  # so nobody knows whether the body comes
                has_body = False
            await send(self._start(answer))
            await send({"type": "http.response.body", "body": answer.body, "more_body": has_body})
            if has_body:
                # To close on bytes that were not read would lose the answer.
                await _read(receive, None)
                await send({"type": "http.response.body"})
        except Disconnected:
            scope["state"]["close"]()
            while (await receive())["type"] != "http.disconnect":
                pass

    # --- what comes in ----------------------------------------------------------------

    def _check_head(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        """Refuse, by its head, a call that is not of this machine's own programs.

        Raises:
            CallRefused: The head is too large or in doubt, the host is not ours, a page of
                another origin asks, or the body will be too large.
        """
        names = [name for name, _ in scope["headers"]]
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEAD:
            raise CallRefused(431, f"The head has more than {MAX_HEAD} bytes")
        if len(names) != len(headers) and any(names.count(name) > 1 for name in _ONCE):
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
            raise TooLarge

    # --- what goes out ----------------------------------------------------------------

    def _start(self, answer: ServiceAnswer) -> MutableMapping[str, Any]:
        headers = {"date": self._middleware.date(), **answer.headers}
        if answer.status != 204:
            headers["content-length"] = str(len(answer.body))
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        return {"type": "http.response.start", "status": answer.status, "headers": encoded}

    async def _send_half(self, answer: ServiceAnswer | None, method: str, send: Send) -> None:
        """Send the half of an answer that goes out before its connection is closed."""
        body = answer.body if answer and method != "HEAD" else b""
        if answer and body:
            await send(self._start(answer))
            half = body[: len(body) // 2]
            await send({"type": "http.response.body", "body": half, "more_body": True})


async def _read(receive: Receive, limit: int | None) -> bytes:
    """Read a body within ten seconds; without a limit its bytes are dropped.

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
                        raise TooLarge
    except TimeoutError:
        raise Disconnected from None
    return bytes(body)
