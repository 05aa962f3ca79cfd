"""Serving a sandbox over HTTP: its socket, its thread, starting and stopping."""

import asyncio
import ipaddress
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from chatkit.sandbox.connection import Connection
from chatkit.sandbox.door import Door

if TYPE_CHECKING:
    from chatkit.sandbox import Sandbox

logger = logging.getLogger("chatkit.sandbox")

SWEEP = 0.1
GRACE = 2.0
BACKLOG = 512
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
    with _Server(sandbox, host, port) as server:
        yield server.base_url


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
        with _Server(sandbox, host, port, on_end=stop.set) as server:
            if on_ready:
                on_ready(server.base_url)
            stop.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Server:
    """A socket, a thread and an event loop, for as long as the block lasts."""

    def __init__(
        self,
        sandbox: "Sandbox",
        host: str,
        port: int,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        again = _listen_again(host, sandbox.port_before()) if port == 0 else None
        self._socket = again or _listen(host, port)
        port = self._socket.getsockname()[1]
        name = f"[{host}]" if ":" in host else host
        self.base_url = f"http://{name}:{port}"
        if sandbox.access_file is not None:
            try:
                sandbox.keep_access(self.base_url, sandbox.access_file)
            except OSError:
                self._socket.close()
                raise
        names = {"127.0.0.1", "localhost", "[::1]", name.lower()}
        hosts = {f"{name}:{port}" for name in names} | (names if port == 80 else set())
        self._door = Door(sandbox.middleware, frozenset(hosts))
        self._on_end = on_end
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="chatkit-sandbox", daemon=True)

    def __enter__(self) -> "_Server":
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(RuntimeError):  # it has ended already
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=_loop_factory()) as runner:
                runner.run(self._serve())
        finally:
            self._ready.set()
            self._on_end()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await self._loop.create_server(
            lambda: Connection(self._door), sock=self._socket, backlog=BACKLOG
        )
        self._sweep()
        self._ready.set()
        await self._stop.wait()
        server.close()
        await self._door.finish(GRACE)

    def _sweep(self) -> None:
        self._door.sweep()
        self._loop.call_later(SWEEP, self._sweep)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        return None
    return uvloop.new_event_loop


def _listen_again(host: str, port: int) -> socket.socket | None:
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


def _listen(host: str, port: int) -> socket.socket:
    """Bind here, so that a taken port is an error of the caller and not of the thread."""
    family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    if not ipaddress.ip_address(place[0]).is_loopback:
        raise OSError(f"the sandbox is for this machine only: {host} is not a loopback address")
    # Named TCP: asyncio leaves Nagle's algorithm on for a socket without a protocol, and
    # every call would take 44 ms.
    sock = socket.socket(family, kind, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        sock.bind(place)
        sock.listen(BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock
