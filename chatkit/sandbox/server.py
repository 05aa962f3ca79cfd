"""Serving a sandbox over HTTP: its address, starting and stopping."""

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from chatkit.asgi_server import Server, listen
from chatkit.sandbox.asgi import SandboxApp

if TYPE_CHECKING:
    import socket

    from chatkit.sandbox import Sandbox

logger = logging.getLogger("chatkit.sandbox")

GRACE = 2
KEEP_ALIVE = 75
SEND_BUFFER = 1024 * 1024  # a page of a list leaves in one piece


@contextmanager
def serve(sandbox: "Sandbox", host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve a sandbox over HTTP from a thread of its own; yields the base address.

    Only this machine can reach it unless another host is named, and then only under
    that very name. Leaving waits two seconds for the calls that are out, and for events
    that are being delivered, closes all connections and ends the thread.

    Raises:
        OSError: The port is taken or the host is not an address of this machine.
    """
    base_url, server = _serve(sandbox, host, port)
    try:
        yield base_url
    finally:
        server.stop()


def run(
    sandbox: "Sandbox",
    host: str = "127.0.0.1",
    port: int = 0,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT; `on_ready` is told the base address once calls are taken.

    Must be called in the main thread.

    Raises:
        OSError: The port is taken or the host is not an address of this machine.
    """
    stop = threading.Event()
    handled = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in handled}
    try:
        base_url, server = _serve(sandbox, host, port, stop.set)
        try:
            if on_ready:
                on_ready(base_url)
            stop.wait()
        finally:
            server.stop()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _serve(
    sandbox: "Sandbox", host: str, port: int, on_end: Callable[[], None] = lambda: None
) -> tuple[str, Server]:
    """Bind the port, keep the address where the sandbox has a file, and begin."""
    again = _listen_again(host, sandbox.port_before()) if port == 0 else None
    sock = again or _listen(host, port)
    port = sock.getsockname()[1]
    name = f"[{host}]" if ":" in host else host
    base_url = f"http://{name}:{port}"
    if sandbox.access_file is not None:
        try:
            sandbox.keep_access(base_url, sandbox.access_file)
        except OSError:
            sock.close()
            raise
    names = {"127.0.0.1", "localhost", "[::1]", name.lower()}
    hosts = {f"{name}:{port}" for name in names} | (names if port == 80 else set())
    app = SandboxApp(sandbox.middleware, frozenset(hosts))
    server = Server(
        app,
        sock,
        name="chatkit-sandbox",
        grace=GRACE,
        keep_alive=KEEP_ALIVE,
        date_header=False,  # the sandbox has a clock of its own
        on_end=on_end,
    )
    return base_url, server


def _listen_again(host: str, port: int) -> "socket.socket | None":
    """Bind the port of the last time; None when there was none, or it is taken."""
    if port == 0:
        return None
    try:
        return _listen(host, port)
    except OSError:
        logger.warning(
            "Port %d, which this sandbox had before, is taken: it has another address now.", port
        )
        return None


def _listen(host: str, port: int) -> "socket.socket":
    return listen(host, port, loopback=True, send_buffer=SEND_BUFFER)
