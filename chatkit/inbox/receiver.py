"""The receiver: an address that takes deliveries. The only import of Starlette.

It answers 200 when a delivery is durably stored and never before, so that what was
acknowledged is never lost. Whatever else it answers means "send it again":

401 not signed rightly, and such are refused here · 405 not a POST · 408 the body came too
slowly · 413 it is too large · 503 it could not be stored
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Sequence
from typing import Literal, Self

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from chatkit.asgi_server import Server, listen
from chatkit.display import many
from chatkit.errors import StoreError, steady
from chatkit.inbox.authority import Authority
from chatkit.inbox.delivery import Which
from chatkit.inbox.intake import Intake
from chatkit.inbox.store import Store
from chatkit.inbox.writer import Writer
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
        store: Store,
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
        self._writer = Writer(store)
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
