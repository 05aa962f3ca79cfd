"""The receiver: an address that takes deliveries. The only import of Starlette and of trustme.

It answers 200 when a delivery is durably stored and never before, so that what was
acknowledged is never lost. Whatever else it answers means "send it again":

401 not signed rightly, and such are refused here · 405 not a POST · 408 the body came too
slowly · 413 it is too large · 503 it could not be stored
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Literal, Self

import trustme
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from chatkit import temporary
from chatkit.asgi_server import Server, listen
from chatkit.display import many
from chatkit.errors import StoreError, steady
from chatkit.inbox.delivery import Intake, ReceivedDelivery, Which
from chatkit.inbox.store import InboxStore
from chatkit.secret import Secret

#: The upstream platform sends up to 3 MB.
MAX_BODY = 4 * 1024 * 1024
BODY_SECONDS = 10.0
STORE_SECONDS = 10.0

Unverified = Literal["keep", "refuse"]


class Receiver:
    """Takes deliveries at `url` until `stop()`, or until its `with` block ends.

    Made by `Inbox.serve`.
    """

    def __init__(
        self,
        store: InboxStore,
        intake: Intake,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: bool = True,
        unverified: Unverified = "keep",
    ) -> None:
        self.intake = intake
        self._store = store
        self._begin = store.last()  # what came before this receiver is left to `Inbox.verify`
        self._judging = threading.Lock()
        self._unverified = unverified
        self._writer = DeliveryWriter(store)
        self._authority = Authority() if tls else None
        serving = self._authority.serving(host) if self._authority else None
        app = Starlette(routes=[Route("/{path:path}", self._take, methods=["POST"])])
        try:
            self._server = Server(app, listen(host, port), name="chatkit-receiver", tls=serving)
        except BaseException:
            self._writer.close()
            raise
        shown = "localhost" if host in ("127.0.0.1", "::1") else host
        name = f"[{shown}]" if ":" in shown else shown
        self.url = f"{'https' if tls else 'http'}://{name}:{self._server.port}/"

    @steady
    def __repr__(self) -> str:
        secrets = many(self.intake.secrets, "signing secret")
        what = {"keep": "kept, marked as such", "refuse": "refused"}[self._unverified]
        return f"<receiver at {self.url}, {secrets}; what is not verified is {what}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def authority(self) -> bytes | None:
        """The certificate (PEM) to trust for `url`; None without TLS."""
        return self._authority.pem if self._authority else None

    def trusting(self) -> ssl.SSLContext | None:
        """A TLS context of a client that trusts this receiver and nobody else."""
        return self._authority.trusting() if self._authority else None

    def accept(self, *secrets: str | Secret) -> None:
        """Accept these signing secrets from now on: the old one and the new one in a change.

        What came to this receiver before, and was not verified, is verified again: a
        registration is delivered to as soon as it is made, and its secret is told after that.
        The secrets are kept in memory only, and those that are not named are forgotten.

        Raises:
            BadSignature: One of them cannot be used.
            StoreError: The inbox cannot be read or written; the secrets are accepted.
        """
        covered = [Secret(secret) for secret in secrets]
        del secrets  # a traceback that prints variables must not find their text
        with self._judging:  # what is being taken was judged by the old ones, or will be by these
            self.intake.accept(covered)
        self._writer.flush()
        unverified = Which(since=self._begin, verified=False, repeats=True)
        self._store.judge(self.intake.again(self._store.read(unverified)))

    def stop(self) -> None:
        """Finish what is under way, and take no more. A second call does nothing."""
        self._server.stop()
        self._writer.close()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the receiver has ended, or so many seconds."""
        self._server.wait(seconds)

    # --- one delivery ---

    async def _take(self, request: Request) -> Response:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _body(request)
        except TimeoutError:
            return _answer(408, "the body came too slowly")
        except ClientDisconnect:
            return _answer(400, "the body is not whole")
        if body is None:
            return _answer(413, f"a body may have {MAX_BODY:,} bytes")
        try:
            with self._judging:
                entry = self.intake.take(request.url.path, _pairs(request), body)
                if not entry.verified and self._unverified == "refuse":
                    return _answer(401, entry.reason)
                stored = self._writer.put(entry)
            async with asyncio.timeout(STORE_SECONDS):
                await asyncio.wrap_future(stored)
        except (StoreError, TimeoutError):
            return _answer(503, "not stored: send it again")
        return _answer(200, "stored")


async def _body(request: Request) -> bytes | None:
    """The body as it came; None when it is too large."""
    declared = request.headers.get("content-length", "0")
    if len(declared) > 12 or not declared.isdigit() or int(declared) > MAX_BODY:
        return None
    parts, size = [], 0
    async for part in request.stream():
        parts.append(part)
        size += len(part)
        if size > MAX_BODY:
            return None
    return b"".join(parts)


def _pairs(request: Request) -> Sequence[tuple[str, str]]:
    return [
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw
    ]


def _answer(status: int, said: str) -> Response:
    # Who was refused a body goes on sending it: the connection cannot be used again.
    headers = {"connection": "close"} if status in (400, 408, 413) else {}
    return PlainTextResponse(said + "\n", status, headers)


# --- storing ------------------------------------------------------------------------------
#
# Many deliveries that arrive together become durable in one commit. A commit waits for the disk,
# and costs the same for one delivery as for a hundred: while one is under way the next ones
# gather. Who is told that a delivery was stored is told so after the commit, never before.

_GROUP = 500
_GROUP_BYTES = 16 * 1024 * 1024


class DeliveryWriter:
    """A thread that stores deliveries, in groups.

    Args:
        store: Where to.
        most_bytes: How much may wait; what comes then is refused, and will be sent again.
    """

    def __init__(self, store: InboxStore, most_bytes: int = 256 * 1024 * 1024) -> None:
        self._store = store
        self._most = most_bytes
        self._waiting: deque[tuple[ReceivedDelivery, Future[None]]] = deque()
        self._bytes = 0
        self._put = self._done = 0  # deliveries: how many were given, and are finished with
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="chatkit-inbox", daemon=True)
        self._thread.start()

    def put(self, entry: ReceivedDelivery) -> Future[None]:
        """Store a delivery: the future is done when it is durable, or fails when it is not.

        Raises:
            StoreError: Too many wait already, or the writer is closed.
        """
        done: Future[None] = Future()
        with self._changed:
            if self._closed:
                raise StoreError("the inbox is being closed")
            if self._bytes + len(entry.body) > self._most:
                raise StoreError("too many deliveries wait to be stored")
            self._waiting.append((entry, done))
            self._bytes += len(entry.body)
            self._put += 1
            self._changed.notify_all()
        return done

    def flush(self) -> None:
        """Wait until everything that was put is stored, or could not be."""
        with self._changed:
            given = self._put
            self._changed.wait_for(lambda: self._done >= given)

    def close(self) -> None:
        """Store what waits, and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while group := self._next():
            self._store_all(group)
            with self._changed:
                self._done += len(group)
                self._changed.notify_all()

    def _next(self) -> list[tuple[ReceivedDelivery, Future[None]]]:
        """Wait for deliveries; an empty list is the end."""
        group: list[tuple[ReceivedDelivery, Future[None]]] = []
        size = 0
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            while self._waiting and len(group) < _GROUP and size < _GROUP_BYTES:
                entry, done = self._waiting.popleft()
                size += len(entry.body)
                group.append((entry, done))
            self._bytes -= size
        return group

    def _store_all(self, group: Sequence[tuple[ReceivedDelivery, Future[None]]]) -> None:
        try:
            self._store.write([entry for entry, _ in group])
        except Exception as error:  # noqa: BLE001  whoever waits is told
            if len(group) > 1 and getattr(error, "of_one", False):
                for one in group:  # one that no database takes must not refuse the others
                    self._store_all([one])
                return
            for _, done in group:
                _tell(done, error)
        else:
            for _, done in group:
                _tell(done, None)


def _tell(done: Future[None], error: Exception | None) -> None:
    """Finish a future, unless who waited for it has gone: then it will be sent again."""
    if done.set_running_or_notify_cancel():
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)


# --- certificates -------------------------------------------------------------------------


class Authority:
    """A certificate authority of this process, so that deliveries on one machine use real TLS.

    It signs certificates for this machine, and tells a client whom to trust. Its key never
    leaves the memory, so nothing that trusts it is in danger when the process has ended.
    """

    def __init__(self) -> None:
        self._authority = trustme.CA()

    @property
    def pem(self) -> bytes:
        """The certificate of the authority, to be trusted by who delivers to us."""
        return self._authority.cert_pem.bytes()

    def trusting(self) -> ssl.SSLContext:
        """A context of a client that trusts this authority and nobody else."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._authority.configure_trust(context)
        return context

    def serving(self, host: str) -> ssl.SSLContext:
        """A context of a server with a certificate for a host, and for loopback."""
        names = dict.fromkeys((host, "localhost", "127.0.0.1", "::1"))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        certificate = self._authority.issue_cert(*names).private_key_and_cert_chain_pem
        # Python reads a key from a file alone: one that no killed process leaves for ever.
        with certificate.tempfile(dir=str(temporary.folder())) as path:
            context.load_cert_chain(path)
        return context
