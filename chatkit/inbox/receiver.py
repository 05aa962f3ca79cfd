"""Receiver: an HTTP server that stores deliveries.

It answers 200 when a delivery is durably stored and never before, so that what was
acknowledged is never lost. Whatever else it answers means "send it again":

401 not signed rightly, and such are refused here · 405 not a POST · 408 the body came too
slowly, or not whole · 413 it is too large · 503 it could not be stored
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self, TypeAlias

from chatkit.api.secret import Secret
from chatkit.errors import HelpPage, safe_repr
from chatkit.inbox.delivery import DeliveryInspector, Selection
from chatkit.inbox.store import InboxStore
from chatkit.util.asgi_server import Server, open_socket
from chatkit.util.display import many, visible

#: The upstream platform sends up to 3 MB.
MAX_BODY = 4 * 1024 * 1024
BODY_SECONDS = 10.0
STORE_SECONDS = 10.0

Unverified = Literal["keep", "refuse"]
Answer: TypeAlias = tuple[int, str]  # status and text
_NOT_STORED: Answer = (503, "not stored: send it again")

_Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
_Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]


class ReceivedRequest(NamedTuple):
    """A delivery as it came, at a time in seconds since 1970."""

    path: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    time: float


class Receiver(metaclass=HelpPage):
    """Receiver of deliveries at `url` until `stop()`, or until its `with` block ends.

    Made by `Inbox.serve`.

    >>> with inbox.serve("a secret") as receiver:
    ...     receiver.url
    'http://...'
    """

    def __init__(
        self,
        store: InboxStore,
        inspector: DeliveryInspector,
        *,
        host: str,
        port: int,
        unverified: Unverified,
    ) -> None:
        self.inspector = inspector
        self._store = store
        # what came before this receiver is left to `Inbox.verify`
        self._begin = store.read_last_id()
        self._verifying = threading.Lock()
        self._unverified = unverified
        self._refused, self._last_reason = 0, ""
        self._batches = Batches(self._store_arrivals)
        self._server = Server(self._respond, open_socket(host, port))
        name = "localhost" if host in ("127.0.0.1", "::1") else host
        name = f"[{name}]" if ":" in name else name
        self.url = f"http://{name}:{self._server.port}/"

    @safe_repr
    def __repr__(self) -> str:
        secrets = many(self.inspector.secrets, "signing secret")
        treatment = {"keep": "kept, marked as such", "refuse": "refused"}[self._unverified]
        if self._refused:
            treatment += f" ({many(self._refused, 'time')}, the last: {visible(self._last_reason)})"
        return f"<receiver at {self.url}, {secrets}; what is not verified is {treatment}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def accept(self, *secrets: str | Secret) -> None:
        """Replace the accepted signing secrets; pass the old and the new one during a rotation.

        What came to this receiver before, and was not verified, is verified again: a
        registration is delivered to as soon as it is made, and its secret is told after that.
        The secrets are kept in memory only, and those that are not named are forgotten.

        Raises:
            BadSignature: One of them cannot be used.
            StoreError: The inbox cannot be read or written; the secrets are accepted.
        """
        known = [Secret(secret) for secret in secrets]
        del secrets  # a traceback that prints variables must not find their text
        with self._verifying:  # what is not stored by now will be verified with these
            self.inspector.set_secrets(known)
        unverified = Selection(since=self._begin, verified=False, repeats=True)
        self._store.mark_verified(self.inspector.verify_again(self._store.select(unverified)))

    def stop(self) -> None:
        """Finish the requests under way, and stop; a second call does nothing."""
        self._server.stop()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the receiver has stopped, or for so many seconds."""
        self._server.wait(seconds)

    # --- one delivery ---

    async def _respond(self, scope: Mapping[str, Any], receive: _Receive, send: _Send) -> None:
        """Answer one request of the ASGI server."""
        status, message = await self._handle_request(scope, receive)
        body = f"{message}\n".encode()
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", b"%d" % len(body)),
        ]
        if status == 405:
            headers.append((b"allow", b"POST"))
        if status in (408, 413):
            # Who was refused a body goes on sending it: the connection cannot be used again.
            headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _handle_request(self, scope: Mapping[str, Any], receive: _Receive) -> Answer:
        """Read the delivery in a request and store it; return the status and the text."""
        if scope["method"] != "POST":
            return 405, "a delivery is a POST"
        headers = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"]]
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _read_body(headers, receive)
        except (TimeoutError, EOFError):
            return 408, "the body came too slowly, or not whole"
        if body is None:
            return 413, f"a body may have {MAX_BODY:,} bytes"
        return await self._batches.store(ReceivedRequest(scope["path"], headers, body, time.time()))

    def _store_arrivals(self, arrivals: Sequence[ReceivedRequest]) -> list[Answer]:
        """Verify deliveries, store them in one transaction, and return the answer to each."""
        answers: list[Answer] = [(200, "stored")] * len(arrivals)
        with self._verifying:
            entries = [self.inspector.inspect(*arrival) for arrival in arrivals]
            if self._unverified == "refuse":
                answers = [(200, "stored") if e.verified else (401, e.reason) for e in entries]
                for entry in entries:
                    if not entry.verified:
                        self._refused, self._last_reason = self._refused + 1, entry.reason
                entries = [entry for entry in entries if entry.verified]
            if entries:
                self._store.write_deliveries(entries)
        return answers


async def _read_body(headers: Sequence[tuple[str, str]], receive: _Receive) -> bytes | None:
    """Read the body of a request; None if it is too large.

    Raises:
        EOFError: The connection ended in the middle of it.
    """
    declared = next((value for name, value in headers if name == "content-length"), "0")
    if int(declared) > MAX_BODY:  # the server takes no length that is not a number
        return None
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise EOFError
        body += message["body"]
        if len(body) > MAX_BODY:
            return None
        more = message["more_body"]
    return bytes(body)


# --- storing ------------------------------------------------------------------------------
#
# Many deliveries that arrive together become durable in one commit. A commit waits for the disk,
# and costs the same for one delivery as for a hundred: while one is under way the next ones
# gather. Nobody is answered before the commit.

_BATCH_SIZE = 500
_BATCH_BYTES = 16_000_000
_MAX_WAITING_BYTES = 256_000_000  #: that may wait


class Batches:
    """Collector of the deliveries of an event loop, which a thread writes in batches.

    Args:
        write: Stores deliveries, all or none, and returns the answer to each.
    """

    def __init__(self, write: Callable[[Sequence[ReceivedRequest]], list[Answer]]) -> None:
        self._write = write
        self._waiting: deque[tuple[ReceivedRequest, asyncio.Future[Answer]]] = deque()
        self._bytes = 0
        self._writing: asyncio.Task[None] | None = None

    async def store(self, arrival: ReceivedRequest) -> Answer:
        """Store a delivery; return its answer when it is durable, or could not be stored."""
        if self._bytes + len(arrival.body) > _MAX_WAITING_BYTES:
            return _NOT_STORED
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((arrival, answer))
        self._bytes += len(arrival.body)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_waiting())
        try:
            return await asyncio.wait_for(answer, STORE_SECONDS)
        except TimeoutError:
            return _NOT_STORED

    async def _write_waiting(self) -> None:
        """Write the waiting deliveries in batches."""
        while self._waiting:
            batch: list[tuple[ReceivedRequest, asyncio.Future[Answer]]] = []
            size = 0
            while self._waiting and len(batch) < _BATCH_SIZE and size < _BATCH_BYTES:
                batch.append(self._waiting.popleft())
                size += len(batch[-1][0].body)
            self._bytes -= size
            arrivals = [arrival for arrival, _ in batch]
            answers = await asyncio.to_thread(self._write_batch, arrivals)
            for (_, future), answer in zip(batch, answers, strict=True):
                if not future.done():
                    future.set_result(answer)

    def _write_batch(self, arrivals: Sequence[ReceivedRequest]) -> list[Answer]:
        """Write a batch; if that fails, each delivery alone. Return the answers."""
        try:
            return self._write(arrivals)
        except Exception as error:  # noqa: BLE001  whoever waits gets an answer
            if len(arrivals) > 1 and getattr(error, "of_one", True):
                # One that no database takes, or that we cannot read, must not refuse the others.
                return [answer for one in arrivals for answer in self._write_batch([one])]
            return [_NOT_STORED] * len(arrivals)
