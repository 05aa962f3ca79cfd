"""Receivers for tests: real sockets on loopback that keep what they were sent."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
#: The same from a receiver that takes more on the connection.
GO_ON = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Listener:
    """A raw receiver: keeps the bytes of each request, answers what it is told.

    One request a connection; with `more` as many as come, until a reply closes the socket.
    """

    def __init__(self, reply: bytes | Callable[[socket.socket], None]) -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        self.more = False
        self.reply = reply
        self._sock = socket.create_server(("127.0.0.1", 0))
        self.port = self._sock.getsockname()[1]
        self.context: ssl.SSLContext | None = None
        self._thread = threading.Thread(target=self._listen)

    def start(self) -> None:
        """Take connections from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Take no more, and end the thread."""
        self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()
        self._thread.join(10)

    def _listen(self) -> None:
        while True:
            try:
                sock, _ = self._sock.accept()
            except OSError:
                return
            self.connections += 1
            with sock:
                try:
                    self._serve(sock)
                except OSError:
                    continue

    def _serve(self, plain: socket.socket) -> None:
        sock = self.context.wrap_socket(plain, server_side=True) if self.context else plain
        with sock:
            self._answer(sock)
            while self.more:
                self._answer(sock)

    def _answer(self, sock: socket.socket) -> None:
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._more(sock)
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        while len(body) < length:
            body += self._more(sock)
        self.requests.append(head + b"\r\n\r\n" + body)
        reply = self.reply
        if callable(reply):
            reply(sock)
        else:
            sock.sendall(reply)

    @staticmethod
    def _more(sock: socket.socket) -> bytes:
        part = sock.recv(65536)
        if not part:
            raise ConnectionError("the sender ended in the middle of a request")
        return part

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    @property
    def messages(self) -> list[tuple[dict[str, str], bytes]]:
        """The headers, their names in lower case, and the body of each request."""
        split = (request.partition(b"\r\n\r\n") for request in self.requests)
        lines = ((head.decode().split("\r\n")[1:], body) for head, _, body in split)
        return [
            ({name.lower(): value for name, value in (line.split(": ", 1) for line in head)}, body)
            for head, body in lines
        ]

    @property
    def bodies(self) -> list[bytes]:
        return [request.partition(b"\r\n\r\n")[2] for request in self.requests]


@contextmanager
def listening(
    reply: bytes | Callable[[socket.socket], None] = OK,
    context: ssl.SSLContext | None = None,
    *,
    more: bool = False,
) -> Iterator[Listener]:
    listener = Listener(reply)
    listener.more = more
    listener.context = context
    listener.start()
    try:
        yield listener
    finally:
        listener.stop()


def answering(status: int, *headers: str) -> bytes:
    """An empty answer of this status."""
    lines = "".join(f"{header}\r\n" for header in headers)
    return f"HTTP/1.1 {status} X\r\n{lines}Content-Length: 0\r\nConnection: close\r\n\r\n".encode()


class HeldAnswer:
    """The reply of a receiver that answers once it is released."""

    def __init__(self) -> None:
        self.requested, self.released = threading.Event(), threading.Event()

    def __call__(self, sock: socket.socket) -> None:
        self.requested.set()
        self.released.wait(20)
        sock.sendall(OK)
