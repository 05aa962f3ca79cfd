"""A stored delivery is sent again, and only to where it may go."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from inbox.bodies import keep
from inbox.senders import SECRET
from internals import inbox_store

from chatkit.api.secret import MASK
from chatkit.errors import InputError
from chatkit.inbox import Inbox, Replayed
from chatkit.signature import BadSignature, verify

BODY = b"\x00\xff body"
HEADERS = [
    ("Host", "elsewhere.example"), ("Content-Length", "999"), ("Content-Type", "a/b"),
    ("Authorization", MASK), ("webhook-id", "msg_1"), ("webhook-timestamp", "1"),
    ("webhook-signature", "v1,old"),
]  # fmt: skip


def replay(address: str, **options: Any) -> Replayed:
    """Send a stored delivery again."""
    with TemporaryDirectory() as folder, Inbox(Path(folder) / "inbox.sqlite") as inbox:
        keep(inbox_store(inbox), BODY, headers=json.dumps(HEADERS))
        return inbox.replay(1, address, **options)


class Listener(HTTPServer):
    """A program that somebody is working on."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.heard: list[tuple[str, dict[str, str], bytes]] = []
        self.answer = (200, b"fine", {})


class Handler(BaseHTTPRequestHandler):
    server: Listener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        heard = {name.lower(): value for name, value in self.headers.items()}
        self.server.heard.append((self.path, heard, body))
        status, answer, headers = self.server.answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def url(listener: Listener, path: str = "/hook?a=1") -> str:
    return f"http://127.0.0.1:{listener.server_port}{path}"


def test_the_same_bytes_arrive_with_the_headers_that_belong_to_them(listener: Listener) -> None:
    done = replay(url(listener))
    assert (done.status, done.answer) == (200, "fine")
    ((path, heard, body),) = listener.heard
    assert (path, body) == ("/hook?a=1", BODY)
    assert heard["content-type"] == "a/b" and heard["webhook-signature"] == "v1,old"
    assert heard["host"] == f"127.0.0.1:{listener.server_port}"
    assert heard["content-length"] == str(len(BODY))
    assert "authorization" not in heard


def test_with_a_secret_it_is_signed_as_of_now_under_its_own_id(listener: Listener) -> None:
    replay(url(listener), secret=SECRET)
    ((_, heard, body),) = listener.heard
    assert heard["webhook-id"] == "msg_1"
    instant = int(heard["webhook-timestamp"])
    assert instant > 1
    verify(body, heard, SECRET, now=instant)
    with pytest.raises(BadSignature):
        replay(url(listener), secret="Ü")


def test_a_redirect_is_shown_and_not_followed(listener: Listener) -> None:
    listener.answer = (302, b"", {"Location": url(listener, "/other")})
    assert replay(url(listener)).status == 302
    assert len(listener.heard) == 1


def test_nobody_there_is_an_answer_too() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        done = replay(f"http://127.0.0.1:{taken.getsockname()[1]}/")
    assert done.status is None and "refused" in done.answer
    assert repr(done).startswith("<no answer")


@pytest.mark.parametrize(
    "address",
    [
        "http://192.0.2.1/", "http://10.0.0.1/", "http://169.254.169.254/latest",
        "http://0.0.0.0/", "http://[::]/", "http://[2001:db8::1]/", "http://[64:ff9b::7f00:1]/",
        "http://100.64.0.1/",
    ],
)  # fmt: skip
def test_another_machine_is_refused_before_anything_is_sent(address: str) -> None:
    with pytest.raises(InputError, match="not this machine"):
        replay(address)


def test_another_machine_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(host: str, port: int, **more: object) -> list:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", port))]

    def connect(sock: socket.socket, place: tuple[str, int]) -> None:
        raise OSError(f"connected to {place}")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket.socket, "connect", connect)
    with pytest.raises(InputError, match=r"allow=\['staging.example'\]"):
        replay("http://staging.example/")
    done = replay("http://staging.example/", allow=["Staging.example"])
    assert done.answer == "connected to ('192.0.2.1', 80)"


def test_the_address_that_was_checked_is_the_one_that_is_connected_to(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that resolves to loopback first and to another machine then gains nothing."""
    real, asked = socket.getaddrinfo, []

    def resolve(host: str, port: int, *more: object, **named: object) -> list:
        if host == "127.0.0.1":
            return real(host, port, *more, **named)
        asked.append(host)
        present = "127.0.0.1" if len(asked) == 1 else "192.0.2.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (present, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    done = replay(f"http://turns.example:{listener.server_port}/")
    assert (done.status, asked) == (200, ["turns.example"])


@pytest.mark.parametrize(
    "address",
    [
        "", "ftp://127.0.0.1/", "127.0.0.1:80", "http://", "http://a@127.0.0.1/",
        "http://127.0.0.1:x/", "http://127.0.0.1/#a", "http://127.0.0.1/\r\nX: 1",
        "http://127。0。0。1/", "http://127.0.0.1\\@192.0.2.1/", "http://3232235777/",
    ],
)  # fmt: skip
def test_an_odd_address_is_refused(address: str) -> None:
    with pytest.raises(InputError):
        replay(address)
