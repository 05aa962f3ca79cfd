"""ASGI server: serves an application in a thread; the only import of uvicorn.

Uvicorn has no limit for the time that the head of a request may take: it gets one here. How long
a body may take is up to the application, and so is the `Date` of an answer.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

_HEAD_SECONDS = 10.0


def _is_logged(record: logging.LogRecord) -> bool:
    """Filter out uvicorn errors of calls cut off at shutdown."""
    raised = record.exc_info[1] if record.exc_info else None
    return not (isinstance(raised, asyncio.CancelledError) or "Cancel %s" in str(record.msg))


logging.getLogger("uvicorn.error").addFilter(_is_logged)


class _Protocol(H11Protocol):
    """Uvicorn's protocol, with a limit for heads and answers for half-closed clients.

    `scope["state"]["close"]` closes the connection, also without or within an answer.
    """

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.app_state = {"close": transport.close}
        late = self.timeout_keep_alive_handler
        self.timeout_keep_alive_task = self.loop.call_later(_HEAD_SECONDS, late)

    def data_received(self, data: bytes) -> None:
        """Keep the timer until a head is complete: uvicorn stops it at the first byte."""
        self.conn.receive_data(data)
        self.handle_events()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection until all whole requests are answered."""
        self.timeout_keep_alive = 0
        return bool(self.cycle) and not (self.cycle.response_complete or self.cycle.more_body)


#: The settings of uvicorn that differ from its own.
SETTINGS: dict[str, Any] = {
    "interface": "asgi3",
    "loop": "asyncio",
    "http": _Protocol,
    "h11_max_incomplete_event_size": 128 * 1024,
    "limit_concurrency": 1000,
    "timeout_graceful_shutdown": 5,
    "ws": "none",
    "lifespan": "off",
    "log_config": None,
    "access_log": False,
    "proxy_headers": False,
    "server_header": False,
    "date_header": False,
}


class Server(uvicorn.Server):
    """A thread that serves an application at a bound socket, from its making until `stop`.

    Args:
        app: The application.
        sock: As `open_socket` makes one; it is closed by `stop`.
        settings: Those of `uvicorn.Config` that differ from `SETTINGS`.
    """

    def __init__(self, app: Any, sock: socket.socket, **settings: Any) -> None:
        super().__init__(uvicorn.Config(app, **SETTINGS | settings))
        self._socket, self.port = sock, int(sock.getsockname()[1])
        self._thread = threading.Thread(target=self.run, args=([sock],), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish calls under way, close all connections and end the thread."""
        self.should_exit = True
        self._thread.join()
        self._socket.close()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the server has stopped, or for so many seconds."""
        self._thread.join(seconds)


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens, bound here so that a taken port is an error of the caller.

    Raises:
        OSError: The port is taken, or the host is not an address of this machine.
    """
    if not 0 <= port <= 65535:  # getaddrinfo takes what is left after division by 65536
        raise OSError(f"port= must be from 0 to 65535, not {port}")
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    sock = socket.create_server(address, family=family)
    # Connections inherit it: asyncio leaves Nagle's algorithm on for a socket that does not name
    # its protocol, and every answer would take 44 ms.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)  # a page leaves in one piece
    return sock
