"""The receiver: an address that takes deliveries. The only import of trustme.

It answers 200 when a delivery is durably stored and never before, so that what was
acknowledged is never lost. Whatever else it answers means "send it again":

401 not signed rightly, and such are refused here · 405 not a POST · 408 the body came too
slowly, or not whole · 413 it is too large · 503 it could not be stored
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias

import trustme

from chatkit.api.secret import Secret
from chatkit.errors import HelpPage, StoreError, steady
from chatkit.inbox.delivery import Intake, ReceivedDelivery, Which
from chatkit.inbox.store import InboxStore
from chatkit.util import temporary
from chatkit.util.asgi_server import Server, listen
from chatkit.util.display import many

#: The upstream platform sends up to 3 MB.
MAX_BODY = 4 * 1024 * 1024
BODY_SECONDS = 10.0
STORE_SECONDS = 10.0

Unverified = Literal["keep", "refuse"]

_Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
_Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]


class Receiver(metaclass=HelpPage):
    """Takes deliveries at `url` until `stop()`, or until its `with` block ends.

    Made by `Inbox.serve`.

    >>> with inbox.serve("a secret", tls=False) as receiver:
    ...     receiver.url
    'http://...'
    """

    def __init__(
        self,
        store: InboxStore,
        intake: Intake,
        *,
        host: str,
        port: int,
        tls: bool,
        unverified: Unverified,
    ) -> None:
        self.intake = intake
        self._store = store
        self._begin = store.last()  # what came before this receiver is left to `Inbox.verify`
        self._judging = threading.Lock()
        self._unverified = unverified
        self._writer = DeliveryWriter(store)
        self._authority = Authority() if tls else None
        serving = self._authority.serving(host) if self._authority else None
        try:
            sock = listen(host, port)
            self._server = Server(self._asgi, sock, name="chatkit-receiver", tls=serving)
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

    async def _asgi(self, scope: Mapping[str, Any], receive: _Receive, send: _Send) -> None:
        status, said = await self._take(scope, receive)
        body = f"{said}\n".encode()
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

    async def _take(self, scope: Mapping[str, Any], receive: _Receive) -> tuple[int, str]:
        if scope["method"] != "POST":
            return 405, "a delivery is a POST"
        headers = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"]]
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _body(headers, receive)
        except (TimeoutError, EOFError):
            return 408, "the body came too slowly, or not whole"
        if body is None:
            return 413, f"a body may have {MAX_BODY:,} bytes"
        try:
            with self._judging:
                entry = self.intake.take(scope["path"], headers, body)
                if not entry.verified and self._unverified == "refuse":
                    return 401, entry.reason
                stored = self._writer.put(entry)
            await stored
        except (StoreError, TimeoutError):
            return 503, "not stored: send it again"
        return 200, "stored"


async def _body(headers: Sequence[tuple[str, str]], receive: _Receive) -> bytes | None:
    """The body as it came; None when it is too large.

    Raises:
        EOFError: The connection ended in the middle of it.
    """
    declared = next((value for name, value in headers if name == "content-length"), "0")
    if int(declared) > MAX_BODY:  # the server takes no length that is not a number
        return None
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise EOFError
        part = message.get("body", b"")
        parts.append(part)
        size += len(part)
        if size > MAX_BODY:
            return None
        more = message.get("more_body", False)
    return b"".join(parts)


# --- storing ------------------------------------------------------------------------------
#
# Many deliveries that arrive together become durable in one commit. A commit waits for the disk,
# and costs the same for one delivery as for a hundred: while one is under way the next ones
# gather. Who is told that a delivery was stored is told so after the commit, never before; the
# event loop is woken once for all of a commit.

_GROUP = 500
_GROUP_BYTES = 16_000_000

#: A delivery, and what its handler waits for.
_Waiting: TypeAlias = tuple[ReceivedDelivery, asyncio.Future[None]]


class DeliveryWriter:
    """A thread that stores the deliveries of an event loop, in groups.

    Args:
        store: Where to.
        most_bytes: How much may wait; what comes then is refused, and will be sent again.
    """

    def __init__(self, store: InboxStore, most_bytes: int = 256_000_000) -> None:
        self._store = store
        self._most = most_bytes
        self._waiting: deque[_Waiting] = deque()
        self._bytes = 0
        self._put = self._done = 0  # deliveries: how many were given, and are finished with
        self._deadlines: deque[tuple[float, asyncio.Future[None]]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._changed = threading.Condition()
        self._waking = False  # whether the loop is about to wake the thread
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="chatkit-inbox", daemon=True)
        self._thread.start()

    def put(self, entry: ReceivedDelivery) -> asyncio.Future[None]:
        """Store a delivery: the future is done when it is durable, or fails when it is not.

        It fails with TimeoutError after `STORE_SECONDS`. Call it in the event loop's thread.

        Raises:
            StoreError: Too many wait already, or the writer is closed.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        with self._changed:
            if self._closed:
                raise StoreError("the inbox is being closed")
            if self._bytes + len(entry.body) > self._most:
                raise StoreError("too many deliveries wait to be stored")
            self._waiting.append((entry, done))
            self._bytes += len(entry.body)
            self._put += 1
        if not self._waking:
            # What else has come is put in the same turn of the loop: it joins the group.
            self._waking = True
            loop.call_soon(self._wake)
        while self._deadlines and self._deadlines[0][1].done():
            self._deadlines.popleft()
        self._deadlines.append((loop.time() + STORE_SECONDS, done))
        if self._timer is None:  # one for all: nearly none is ever needed
            self._timer = loop.call_later(STORE_SECONDS, self._expire, loop)
        return done

    def _wake(self) -> None:
        """Have the thread store what waits."""
        self._waking = False
        with self._changed:
            self._changed.notify_all()

    def _expire(self, loop: asyncio.AbstractEventLoop) -> None:
        """Fail what has waited too long, and come again for the next that may."""
        now, self._timer = loop.time(), None
        while self._deadlines:
            due, done = self._deadlines[0]
            if not done.done():
                if due > now:
                    self._timer = loop.call_at(due, self._expire, loop)
                    return
                done.set_exception(TimeoutError())
            self._deadlines.popleft()

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

    def _next(self) -> list[_Waiting]:
        """Wait for deliveries; an empty list is the end."""
        group: list[_Waiting] = []
        size = 0
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            while self._waiting and len(group) < _GROUP and size < _GROUP_BYTES:
                entry, done = self._waiting.popleft()
                size += len(entry.body)
                group.append((entry, done))
            self._bytes -= size
        return group

    def _store_all(self, group: Sequence[_Waiting]) -> None:
        failed: Exception | None = None
        try:
            self._store.write([entry for entry, _ in group])
        except Exception as error:  # noqa: BLE001  whoever waits is told
            if len(group) > 1 and isinstance(error, StoreError) and error.of_one:
                for one in group:  # one that no database takes must not refuse the others
                    self._store_all([one])
                return
            failed = error
        waiting = [done for _, done in group]
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits
            waiting[0].get_loop().call_soon_threadsafe(_tell, waiting, failed)


def _tell(waiting: Sequence[asyncio.Future[None]], error: Exception | None) -> None:
    """Finish futures, unless who waited for one has gone: then it will be sent again."""
    for done in waiting:
        if done.done():
            continue
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
