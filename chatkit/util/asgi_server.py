"""An ASGI application served from a thread of its own. The only import of uvicorn.

Uvicorn has no limit for the time that the head of a request may take: it gets one here. How long
a body may take is up to the application.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import signal
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

_MOST_CONNECTIONS = 1000
_HEAD_SECONDS = 10.0
_HEAD_BYTES = 128 * 1024
_SEND_BUFFER = 1024 * 1024  # a page of a list leaves in one piece


def _is_logged(record: logging.LogRecord) -> bool:
    """Leave out what uvicorn logs as errors of calls that ended with the server."""
    raised = record.exc_info[1] if record.exc_info else None
    cancelled = isinstance(raised, asyncio.CancelledError)
    return not (cancelled or str(record.msg).startswith("Cancel %s running task"))


logging.getLogger("uvicorn.error").addFilter(_is_logged)


class _Protocol(H11Protocol):
    """Uvicorn's protocol, with a limit for heads and answers for half-closed clients.

    `scope["state"]["close"]` closes the connection, also without or within an answer.
    """

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.app_state = {"close": transport.close}
        self.timeout_keep_alive_task = self.loop.call_later(
            _HEAD_SECONDS, self.timeout_keep_alive_handler
        )

    def data_received(self, data: bytes) -> None:
        """Keep the timer until a head is complete: uvicorn stops it at the first byte."""
        self.conn.receive_data(data)
        self.handle_events()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection until all whole requests are answered."""
        self.timeout_keep_alive = 0
        return bool(self.cycle) and not (self.cycle.response_complete or self.cycle.more_body)


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
    ) -> None:
        """Begin to serve.

        Args:
            app: The application; its answers have a `Date` if it gives them one.
            sock: As `listen` makes one; it is closed by `stop`.
            name: Of the thread.
            tls: Serve over TLS.
            grace: Seconds for what is under way when the server is stopped.
            keep_alive: Seconds that a connection without a request is kept.
        """
        self._socket = sock
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
            date_header=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_keep_alive=keep_alive,
            timeout_graceful_shutdown=grace,
            ssl_context_factory=None if tls is None else lambda config, default: tls,
        )
        self._server = uvicorn.Server(config)
        serve = self._server.run
        self._thread = threading.Thread(target=serve, args=([sock],), name=name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish what is under way, close all connections and end the thread."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the server has ended, or so many seconds."""
        self._thread.join(seconds)


def listen(host: str, port: int, *, loopback: bool = False) -> socket.socket:
    """Bind here, so that a taken port is an error of the caller and not of the thread.

    Raises:
        OSError: The port is taken, or the host is not an address of this machine, or not the
            loopback address that it must be.
    """
    if not 0 <= port <= 65535:  # getaddrinfo takes what is left after division by 65536
        raise OSError(f"port= must be from 0 to 65535, not {port}")
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    if loopback and not ipaddress.ip_address(address[0]).is_loopback:
        raise OSError(f"it serves this machine only: {host} is not a loopback address")
    sock = socket.create_server(address, family=family)
    # Connections inherit it: asyncio leaves Nagle's algorithm on for a socket that does not name
    # its protocol, and every answer would take 44 ms.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
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
