"""One connection on raw sockets: its bounds on time, size and number, and its order."""

import contextlib
import socket
import time
from typing import Any

import pytest

from chatkit.sandbox import middleware
from chatkit.sandbox.interface import MAX_BODY
from chatkit.util import asgi_server

ROOT = "/api/business/public/channels/chat/accounts/1001"


def test_a_body_over_the_cap_is_refused_before_it_is_sent(channel: Any) -> None:
    head = channel.head("POST", Content_Length=str(10**12), Content_Type="application/json")
    with channel.connect() as sock:
        sock.sendall(head)
        assert channel.status(sock.recv(65536)) == 413


@pytest.mark.parametrize(("size", "status"), [(MAX_BODY, 422), (MAX_BODY + 1, 413)])
def test_a_body_is_read_up_to_the_cap(channel: Any, size: int, status: int) -> None:
    head = channel.head("POST", Content_Length=str(size), Content_Type="application/json")
    assert channel.status(channel.raw(head + b"{}" + b" " * (size - 2))) == status
    assert channel.alive()


def test_a_chunked_body_that_never_ends_is_refused_early(channel: Any) -> None:
    head = channel.head("POST", Transfer_Encoding="chunked", Content_Type="application/json")
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    with channel.connect() as sock:
        sock.sendall(head)
        sock.settimeout(0)
        answer, sent = b"", 0
        while not answer and sent < 100 * 1024 * 1024:
            try:
                sent += sock.send(chunk[sent % len(chunk) :])
            except BlockingIOError:
                time.sleep(0.001)
            try:
                answer = sock.recv(65536)
            except BlockingIOError:
                continue
    assert channel.status(answer) == 413
    assert sent < 4 * MAX_BODY
    assert channel.alive()


def test_a_chunked_body_is_read(fresh: Any) -> None:
    head = fresh.head("POST", Transfer_Encoding="chunked", Content_Type="application/json")
    body = b'{"number": "5550100", "country_code": "+1"}'
    chunks = b"".join(b"1;x=y\r\n%c\r\n" % byte for byte in body)
    assert fresh.status(fresh.raw(head + chunks + b"0\r\nHost: evil.example\r\n\r\n")) in (201, 400)
    assert fresh.status(fresh.raw(head + chunks + b"0\r\n\r\n")) in (201, 409)


@pytest.mark.parametrize(("size", "status"), [(60_000, 200), (70_000, 431)])
def test_a_head_has_a_bound_also_when_it_comes_in_one_piece(
    channel: Any, size: int, status: int
) -> None:
    assert channel.status(channel.raw(channel.head("GET", X="a" * size))) == status


@pytest.mark.parametrize(
    "flood",
    [
        b"GET /" + b"a" * 400_000,
        b"GET / HTTP/1.1\r\nX: " + b"a" * 400_000,
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 100_000,
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: y\r\n" * 100_000,
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"x" * 400_000,
    ],
    ids=["url", "header", "headers", "trailers", "chunk-extension"],
)
def test_a_head_without_an_end_is_cut(channel: Any, flood: bytes) -> None:
    with channel.connect() as sock:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            sock.sendall(flood * 3)
        assert channel.status(channel.read_to_end(sock)) in (0, 400, 421, 431)
    assert channel.alive()


def test_half_a_request_is_cut_off_and_others_are_served_meanwhile(
    fresh: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asgi_server, "_HEAD_SECONDS", 0.5)
    monkeypatch.setattr(middleware, "BODY_SECONDS", 0.5)
    whole = fresh.head("POST", Content_Length="100", Content_Type="application/json")
    starts = [b"", b"G", whole[:30], whole[:-2], whole, whole + b'{"num', whole[:-2] + b"X: "]
    halves = [fresh.connect() for _ in range(70)]
    try:
        for number, sock in enumerate(halves):
            sock.sendall(starts[number % len(starts)])
        assert fresh.alive()
        for sock in halves:
            assert fresh.read_to_end(sock) == b""
    finally:
        for sock in halves:
            sock.close()
    assert fresh.alive()


def test_one_byte_now_and_then_does_not_keep_a_request_open(
    fresh: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asgi_server, "_HEAD_SECONDS", 0.5)
    monkeypatch.setattr(middleware, "BODY_SECONDS", 0.5)
    with socket.create_connection(("127.0.0.1", fresh.port), timeout=0.05) as sock:
        for byte in fresh.head(X="y" * 500):
            try:
                sock.sendall(bytes([byte]))
                assert sock.recv(1) == b""
                break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        else:
            pytest.fail("the whole head was taken, byte by byte")


def test_a_connection_over_the_limit_is_refused_and_closed(
    fresh: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(asgi_server.SETTINGS, "limit_concurrency", 4)
    with fresh.sandbox.serve() as base_url:
        limited = fresh._replace(port=int(base_url.rpartition(":")[2]))
        held = [limited.connect() for _ in range(3)]
        try:
            for sock in held:
                sock.sendall(limited.head(Connection="keep-alive"))
                assert limited.status(sock.recv(65536)) == 200
            assert limited.status(limited.raw(limited.head(Connection="keep-alive"))) == 503
        finally:
            for sock in held:
                sock.close()
        for _ in range(100):  # the server learns of the closing in its own time
            if limited.status(limited.raw(limited.head())) == 200:
                break
        else:
            pytest.fail("the connections were not given back")


def test_pipelined_calls_are_answered_in_order_with_and_without_latency(fresh: Any) -> None:
    fresh.sandbox.faults(latency=0.01)
    calls = [fresh.create_bytes(number // 2, "keep-alive") for number in range(40)]
    calls.append(fresh.head(path="/", Connection="keep-alive"))  # without a latency
    answers = fresh.raw(b"".join(calls) + fresh.head())
    statuses = [int(part[:3]) for part in answers.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [201, 409] * 20 + [404, 200]


def test_one_answer_is_given_whatever_follows_a_call(fresh: Any) -> None:
    answer = fresh.raw(fresh.create_bytes(1, "keep-alive") + b"GARBAGE\r\n\r\n")
    assert fresh.status(answer) in (0, 201)
    head = fresh.head(Connection="keep-alive")
    assert fresh.raw(head * 3, end=True).count(b"HTTP/1.1 200 ") == 3, "a caller that ends"
    document = fresh.head(path="/openapi.json", Connection="keep-alive")
    assert fresh.status(fresh.raw(document, end=True)) == 200
    answer = fresh.raw(head.replace(b"HTTP/1.1", b"HTTP/1.0"))
    assert fresh.status(answer) == 200
    assert b"\r\nconnection: close\r\n" in answer.lower()
    answer = fresh.raw(fresh.head("HEAD", "/openapi.json"))
    assert fresh.status(answer) == 200
    assert answer.endswith(b"\r\n\r\n"), "without a body"


def test_a_call_that_expects_100_continue_is_answered_before_its_body(fresh: Any) -> None:
    for size, expected in ((2, b"HTTP/1.1 100 Continue\r\n\r\n"), (10**9, b"HTTP/1.1 413 ")):
        sent = {"Content_Length": str(size), "Content_Type": "application/json"}
        with fresh.connect() as sock:
            sock.sendall(fresh.head("POST", f"{ROOT}/contacts", Expect="100-continue", **sent))
            assert sock.recv(65536).startswith(expected)
            if size == 2:
                sock.sendall(b"{}")
                assert fresh.status(fresh.read_to_end(sock)) == 422


def test_an_idle_connection_is_closed(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "KEEP_ALIVE_SECONDS", 0.3)
    with fresh.sandbox.serve() as base_url:
        idle = fresh._replace(port=int(base_url.rpartition(":")[2]))
        with idle.connect() as sock:
            sock.sendall(idle.head(Connection="keep-alive"))
            assert idle.status(idle.read_to_end(sock)) == 200


def test_a_caller_that_does_not_read_delays_no_other(fresh: Any) -> None:
    call = fresh.head(path="/openapi.json", X="x" * 50_000, Connection="keep-alive")
    with fresh.connect() as sock:
        sock.settimeout(0.5)
        sent, stuck = 0, False
        calls = call * 2
        while not stuck and sent < 200 * 1024 * 1024:
            try:
                sent += sock.send(calls[sent % len(call) :])
            except TimeoutError:
                stuck = True
        assert stuck
        assert fresh.alive()
        sock.settimeout(20)
        sock.shutdown(socket.SHUT_WR)
        answers = fresh.read_to_end(sock)
    assert answers.count(b"HTTP/1.1 200 ") == sent // len(call)
