"""An ASGI application served from a thread of its own. The only import of uvicorn."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import threading
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_BACKLOG = 512
_MOST_CONNECTIONS = 1000
_HEAD_SECONDS = 10.0
_HEAD_BYTES = 64 * 1024
_GRACE = 5  # seconds for what is under way when the server is stopped


class _Protocol(HttpToolsProtocol):
    """HTTP/1.1 that waits for the head of a request only so long, and takes only so much."""

    _watch: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._await_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        super().data_received(data)
        if self._watch is not None and self._head > _HEAD_BYTES:
            self.transport.close()

    def on_headers_complete(self) -> None:
        self._head_came()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_came()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        if self._watch is None:
            self._head = 0
            self._watch = self.loop.call_later(_HEAD_SECONDS, self._give_up)

    def _head_came(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def _give_up(self) -> None:
        self._watch = None
        self.transport.close()


class Server:
    """A socket and a thread, from its making until `stop`.

    Raises:
        OSError: The port is taken, or the host is not an address of this machine.
    """

    def __init__(self, app: Any, host: str, port: int, tls: ssl.SSLContext | None) -> None:
        self._socket = _listen(host, port)
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app,
            http=_Protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=_BACKLOG,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=_GRACE,
            ssl_context_factory=None if tls is None else lambda config, default: tls,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="chatkit-receiver", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Finish what is under way, close all connections and end the thread."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the server has ended, or so many seconds."""
        self._thread.join(seconds)


def _listen(host: str, port: int) -> socket.socket:
    """Bind here, so that a taken port is an error of the caller and not of the thread."""
    family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    # Named TCP: asyncio leaves Nagle's algorithm on for a socket without a protocol, and
    # every answer would take 44 ms.
    sock = socket.socket(family, kind, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(place)
        sock.listen(_BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock
