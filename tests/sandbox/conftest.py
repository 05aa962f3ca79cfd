"""A served sandbox, and calls to it: correct ones, and raw bytes."""

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

import pytest

from chatkit import Sandbox

ROOT = "/api/business/public/channels/chat/accounts/1001"


class ServedSandbox(NamedTuple):
    """A served sandbox."""

    sandbox: Sandbox
    port: int
    root: str = ROOT

    def headers(self, **more: str) -> dict[str, str]:
        named = {name.replace("_", "-"): value for name, value in more.items()}
        return {"Authorization": f"Bearer {self.sandbox.token}", **named}

    def call(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, dict[str, Any]]:
        """Make one call as a correct client does."""
        sent = None if body is None else json.dumps(body).encode()
        if body is not None:
            headers.setdefault("Content_Type", "application/json")
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request(method, path, sent, self.headers(**headers))
            answer = connection.getresponse()
            read = answer.read()
        return answer.status, json.loads(read) if read else {}

    def raw(self, data: bytes, *, end: bool = False) -> bytes:
        """Send bytes, perhaps say that there will be no more, and read until the end."""
        with self.connect() as sock:
            sock.sendall(data)
            if end:
                sock.shutdown(socket.SHUT_WR)
            return self.read_to_end(sock)

    def head(self, method: str = "GET", path: str = f"{ROOT}/contacts", **headers: str) -> bytes:
        """A request without a body; the connection ends with it."""
        lines = {"Host": f"127.0.0.1:{self.port}", "Connection": "close"} | self.headers(**headers)
        fields = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"{method} {path} HTTP/1.1\r\n{fields}\r\n".encode("utf-8", "surrogateescape")

    def create_bytes(self, number: int, connection: str = "close", **contact: str) -> bytes:
        """Return the request that creates a contact with a number."""
        body = json.dumps({"number": f"555{number:05}", "country_code": "+1", **contact}).encode()
        sent = {"Content_Length": str(len(body)), "Content_Type": "application/json"}
        return self.head("POST", f"{self.root}/contacts", Connection=connection, **sent) + body

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def alive(self) -> bool:
        return self.call("GET", f"{ROOT}/contacts")[0] == 200

    @staticmethod
    def read_to_end(sock: socket.socket) -> bytes:
        parts = []
        try:
            while part := sock.recv(65536):
                parts.append(part)
        except ConnectionResetError:
            pass
        return b"".join(parts)

    @staticmethod
    def status(answer: bytes) -> int:
        """The status of a raw answer; 0 when the connection was closed without one."""
        return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


@pytest.fixture(scope="module")
def channel() -> Iterator[ServedSandbox]:
    with Sandbox(seed="demo") as sandbox, sandbox.serve() as base_url:
        yield ServedSandbox(sandbox, int(base_url.rpartition(":")[2]))


@pytest.fixture
def fresh() -> Iterator[ServedSandbox]:
    with Sandbox() as sandbox, sandbox.serve() as base_url:
        yield ServedSandbox(sandbox, int(base_url.rpartition(":")[2]))
