"""An ASGI application served from a thread of its own. The only import of uvicorn.

Uvicorn has no limit for the time that the head of a request may take: it gets one here. How long
a body may take is up to the application.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

_BACKLOG = 512
_MOST_CONNECTIONS = 1000
_HEAD_SECONDS = 10.0
_HEAD_BYTES = 128 * 1024


class _Ended(logging.Filter):
    """Leaves out what uvicorn logs as errors of calls that were ended with the server."""

    def filter(self, record: logging.LogRecord) -> bool:
        raised = record.exc_info[1] if record.exc_info else None
        cancelled = isinstance(raised, asyncio.CancelledError)
        return not (cancelled or str(record.msg).startswith("Cancel %s running task"))


logging.getLogger("uvicorn.error").addFilter(_Ended())


class _Protocol(H11Protocol):
    """HTTP/1.1 that waits for the head of a request only so long.

    `scope["state"]["close"]` closes the connection, also without or within an answer.
    """

    _timer: asyncio.TimerHandle | None = None
    _half_closed = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.app_state = {"close": transport.close}
        self._limit_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._limit_head()

    def _limit_head(self) -> None:
        """Start the timer when a head is incomplete, and stop it when it is complete."""
        incomplete = self.conn.their_state is h11.IDLE and not self.transport.is_closing()
        if incomplete and self._timer is None:
            self._timer = self.loop.call_later(_HEAD_SECONDS, self.transport.close)
        elif not incomplete and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, unless an answer has begun."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Answer whole requests of a client that has closed its side, and close then."""
        self._half_closed = self.cycle is not None and not self.cycle.response_complete
        return self._half_closed and not self.cycle.more_body

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._half_closed and self.cycle.response_complete:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._limit_head()


class Server:
    """A bound socket and a thread that serves it, from its making until `stop`."""

    def __init__(
        self,
        app: Any,
        sock: socket.socket,
        *,
        name: str,
        tls: ssl.SSLContext | None = None,
        grace: int = 5,
        keep_alive: int = 5,
        date_header: bool = True,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin to serve.

        Args:
            app: The application.
            sock: As `listen` makes one; it is closed by `stop`.
            name: Of the thread.
            tls: Serve over TLS.
            grace: Seconds for what is under way when the server is stopped.
            keep_alive: Seconds that a connection without a request is kept.
            date_header: Whether answers get a `Date`.
            on_end: Called in the thread when it ends.
        """
        self._socket, self._on_end = sock, on_end
        self.port: int = sock.getsockname()[1]
        config = uvicorn.Config(
            app,
            interface="asgi3",
            loop="asyncio",
            http=_Protocol,
            h11_max_incomplete_event_size=_HEAD_BYTES,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=date_header,
            backlog=_BACKLOG,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_keep_alive=keep_alive,
            timeout_graceful_shutdown=grace,
            ssl_context_factory=None if tls is None else lambda config, default: tls,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._on_end()

    def stop(self) -> None:
        """Finish what is under way, close all connections and end the thread."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the server has ended, or so many seconds."""
        self._thread.join(seconds)


def listen(
    host: str, port: int, *, loopback: bool = False, send_buffer: int | None = None
) -> socket.socket:
    """Bind here, so that a taken port is an error of the caller and not of the thread.

    Raises:
        OSError: The port is taken, or the host is not an address of this machine, or not the
            loopback address that it must be.
    """
    if not 0 <= port <= 65535:  # getaddrinfo takes what is left after division by 65536
        raise OSError(f"port= must be from 0 to 65535, not {port}")
    family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    if loopback and not ipaddress.ip_address(place[0]).is_loopback:
        raise OSError(f"it serves this machine only: {host} is not a loopback address")
    # Named TCP: asyncio leaves Nagle's algorithm on for a socket without a protocol, and
    # every answer would take 44 ms.
    sock = socket.socket(family, kind, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if send_buffer is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        sock.bind(place)
        sock.listen(_BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock


@contextmanager
def until_signal() -> Iterator[threading.Event]:
    """Set an event at SIGTERM and SIGINT while the block lasts; only for the main thread."""
    stop = threading.Event()
    handled = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in handled}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
