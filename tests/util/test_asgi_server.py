"""A server in a thread: it starts, it stops, and nobody can hold it up with half a request."""

import asyncio
import socket
import threading
import time

import pytest
from inbox.senders import post
from ports import own_ports

from chatkit.util import asgi_server as module
from chatkit.util.asgi_server import Server, open_socket


async def hello(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["path"].encode()})


@pytest.fixture
def server():
    server = Server(hello, open_socket("127.0.0.1", 0))
    yield server
    server.stop()


def test_it_serves_from_the_moment_it_was_made_until_it_is_stopped() -> None:
    server = Server(hello, open_socket("127.0.0.1", 0))
    assert post(f"http://127.0.0.1:{server.port}/", b"") == 200
    assert server.port in own_ports()
    with pytest.raises(OSError, match="in use"):
        open_socket("127.0.0.1", server.port)
    server.stop()
    server.stop()
    assert server.port not in own_ports()


def ended(sock: socket.socket, within: float) -> bool:
    """Return whether the other side closes in time."""
    sock.settimeout(within)
    try:
        while sock.recv(65536):
            continue
    except ConnectionError:
        return True
    return True


@pytest.mark.parametrize(
    "begun",
    [b"", b"POST / HTTP/1.1\r\nHost: a\r\n", b"GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST /"],
    ids=["nothing", "half a head", "half a second head"],
)
def test_who_does_not_finish_a_head_is_let_go(
    begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_HEAD_SECONDS", 0.3)
    server = Server(hello, open_socket("127.0.0.1", 0))
    start = time.monotonic()
    with socket.create_connection(("127.0.0.1", server.port)) as sock:
        sock.sendall(begun)
        assert ended(sock, 60)
        assert time.monotonic() - start >= 0.25
    server.stop()


def test_an_endless_head_is_cut_off(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nHost: a\r\n")
        with pytest.raises(ConnectionError):
            for number in range(2000):
                sock.sendall(b"x-%d: %b\r\n" % (number, b"a" * 1000))
                time.sleep(0.0002)


def test_a_connection_that_is_used_well_stays(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as sock:
        for _ in range(5):
            sock.sendall(b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
            answer = b""
            while not answer.endswith(b"0\r\n\r\n"):
                answer += sock.recv(65536)
            assert answer.startswith(b"HTTP/1.1 200")


def test_a_server_that_is_stopped_says_nothing_of_the_calls_that_it_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    begun = threading.Event()

    async def slow(scope, receive, send) -> None:
        begun.set()
        await asyncio.sleep(3600)

    async def broken(scope, receive, send) -> None:
        raise ZeroDivisionError

    server = Server(slow, open_socket("127.0.0.1", 0), timeout_graceful_shutdown=0)
    with socket.create_connection(("127.0.0.1", server.port)) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert begun.wait(10)
        server.stop()
    assert caplog.text == ""
    server = Server(broken, open_socket("127.0.0.1", 0))
    post(f"http://127.0.0.1:{server.port}/", b"")
    server.stop()
    assert "ZeroDivisionError" in caplog.text
