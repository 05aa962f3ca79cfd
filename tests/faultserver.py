"""A raw HTTP server whose answers go wrong on purpose, byte by byte.

>>> with FaultServer(json_answer(), reset) as server:
...     transport = server.transport()

Each request that arrives takes the next script; the last one serves all that follow. A script
gets the `Line` to the client and the request, and does with the line what it likes.
"""

from __future__ import annotations

import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from chatkit.api.connection import Connection
from chatkit.api.transport import Transport

TOKEN = "tok-5ecret-Marker-9f3"
PREFIX = "/api/business/public/channels/chat/accounts/1001/"


@dataclass
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    fields: list[tuple[str, str]]
    body: bytes
    line: Line
    at: float = field(default_factory=time.monotonic)

    @property
    def target(self) -> str:
        assert self.path.startswith(PREFIX), self.path
        return self.path.removeprefix(PREFIX)


class Line:
    """The server's end of one connection."""

    def __init__(self, sock: socket.socket, over: threading.Event) -> None:
        self.sock, self.over = sock, over

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def close(self) -> None:
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()

    def reset(self) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def wait(self, seconds: float = 60.0) -> None:
        """Send nothing for a while, or until the server ends."""
        self.over.wait(seconds)

    def ask(self) -> Asked | None:
        """Read one request; None at the end of the connection."""
        head = b""
        while b"\r\n\r\n" not in head:
            more = self.sock.recv(65536)
            if not more:
                return None
            head += more
        head, _, body = head.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        fields = [(k.lower(), v.strip()) for k, _, v in (r.partition(":") for r in rest)]
        length = int(dict(fields).get("content-length", 0))
        while len(body) < length:
            more = self.sock.recv(65536)
            if not more:
                return None
            body += more
        method, path, _ = first.split(" ")
        return Asked(method, path, fields, body, self)


Script = Callable[[Line, Asked], None]


class FaultServer:
    """Serves scripts on a port of loopback; `asked` is every request that arrived whole."""

    def __init__(
        self,
        *scripts: Script,
        greet: Callable[[Line], None] | None = None,
        tls: ssl.SSLContext | None = None,
        port: int = 0,
    ) -> None:
        self.scripts, self.greet, self.tls = list(scripts), greet, tls
        self.asked: list[Asked] = []
        self.connections = 0
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._lines: list[Line] = []
        self._threads: list[threading.Thread] = []
        self._transports: list[Transport] = []
        self._socket = socket.create_server(("127.0.0.1", port), backlog=256)
        self.port: int = self._socket.getsockname()[1]
        self.base_url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"

    def transport(self, *, deadline: float = 5.0, **kwargs: Any) -> Transport:
        """A transport to this server, which is closed before it."""
        self._transports.append(Transport(connection(self.base_url), deadline=deadline, **kwargs))
        return self._transports[-1]

    def __enter__(self) -> FaultServer:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        for transport in self._transports:
            transport.close()
        self._over.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for line in self._lines:
            line.close()
        for thread in self._threads:
            thread.join(5)

    def _start(self, work: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=work, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                sock, _ = self._socket.accept()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._start(self._serve, sock)

    def _serve(self, sock: socket.socket) -> None:
        with self._lock:
            self.connections += 1
        with suppress(OSError):  # the client went away
            if self.tls:
                sock = self.tls.wrap_socket(sock, server_side=True)
        line = Line(sock, self._over)
        self._lines.append(line)
        with suppress(OSError):
            if self.greet:
                self.greet(line)
            while asked := line.ask():
                with self._lock:
                    self.asked.append(asked)
                    script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
                script(line, asked)
        line.close()


def connection(base_url: str) -> Connection:
    return Connection(base_url=base_url, account_id="1001", token=TOKEN)


def http(
    status: int = 200, body: bytes = b"", *fields: str, kind: str | None = "application/json"
) -> bytes:
    """One whole answer, as bytes."""
    head = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}", *fields]
    if kind:
        head.append(f"content-type: {kind}")
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


OK = b'{"success":true,"statusCode":200,"message":"ok","data":{"id":17}}'


def sends(data: bytes, *, end: bool = False) -> Script:
    """Send these bytes as the answer; `end` closes the connection after them."""

    def script(line: Line, asked: Asked) -> None:
        line.send(data)
        if end:
            line.close()

    return script


def answers(status: int = 200, body: bytes = OK, *fields: str, **kwargs: Any) -> Script:
    """Answer with a status, a body and header fields."""
    return sends(http(status, body, *fields, **kwargs))


def ok(line: Line, asked: Asked) -> None:
    line.send(http(200, OK))


def drop(line: Line, asked: Asked) -> None:
    """Close the connection in place of an answer."""
    line.close()


def reset(line: Line, asked: Asked) -> None:
    line.reset()


def reset_in_the_middle(line: Line, asked: Asked) -> None:
    line.send(http(200, OK)[:-10])
    time.sleep(0.02)
    line.reset()


def silence(line: Line, asked: Asked) -> None:
    line.wait()


def half_of_the_head(line: Line, asked: Asked) -> None:
    line.send(b"HTTP/1.1 200 OK\r\ncontent-le")
    line.wait()


def drip(line: Line, asked: Asked) -> None:
    """One byte every 0.2 s: no time-out between bytes ever fires."""
    for byte in http(200, OK):
        line.send(bytes([byte]))
        line.wait(0.2)
        if line.over.is_set():
            return


def after(seconds: float, script: Script) -> Script:
    def late(line: Line, asked: Asked) -> None:
        line.wait(seconds)
        script(line, asked)

    return late
