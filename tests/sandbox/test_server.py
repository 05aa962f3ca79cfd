"""The HTTP door on real sockets: its bounds on time, size and number; starting and stopping."""

import contextlib
import json
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chatkit import Sandbox
from chatkit.sandbox import connection

ROOT = "/api/business/public/channels/chat/accounts/1001"


def test_a_body_over_the_cap_is_refused_before_it_is_sent(door: Any) -> None:
    head = door.head("POST", Content_Length=str(10**12), Content_Type="application/json")
    with door.connect() as sock:
        sock.sendall(head)
        assert door.status(sock.recv(65536)) == 413


def test_a_body_over_the_cap_that_is_sent_all_the_same_is_refused(door: Any) -> None:
    size = door.sandbox.profile.max_body + 1
    head = door.head("POST", Content_Length=str(size), Content_Type="application/json")
    assert door.status(door.raw(head + b" " * size)) == 413
    assert door.alive()


def test_a_body_at_the_cap_is_read(door: Any) -> None:
    size = door.sandbox.profile.max_body
    head = door.head("POST", Content_Length=str(size), Content_Type="application/json")
    assert door.status(door.raw(head + b"{}" + b" " * (size - 2))) == 422


def test_a_chunked_body_that_never_ends_is_refused_early(door: Any) -> None:
    head = door.head("POST", Transfer_Encoding="chunked", Content_Type="application/json")
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    with door.connect() as sock:
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
    assert door.status(answer) == 413
    assert sent < 4 * door.sandbox.profile.max_body
    assert door.alive()


def test_a_chunked_body_is_read(fresh: Any) -> None:
    head = fresh.head("POST", Transfer_Encoding="chunked", Content_Type="application/json")
    body = b'{"number": "5550100", "country_code": "+1"}'
    chunks = b"".join(b"1;x=y\r\n%c\r\n" % byte for byte in body)
    assert fresh.status(fresh.raw(head + chunks + b"0\r\nHost: evil.example\r\n\r\n")) in (201, 400)
    assert fresh.status(fresh.raw(head + chunks + b"0\r\n\r\n")) in (201, 409)


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
def test_a_head_without_an_end_is_cut(door: Any, flood: bytes) -> None:
    with door.connect() as sock:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            sock.sendall(flood * 3)
        assert door.status(door.read_to_end(sock)) in (0, 400, 421, 431)
    assert door.alive()


def test_half_a_request_is_cut_off_and_others_are_served_meanwhile(
    fresh: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "REQUEST_DEADLINE", 0.5)
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
    monkeypatch.setattr(connection, "REQUEST_DEADLINE", 0.5)
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


def test_a_connection_over_the_limit_is_told_and_closed(
    fresh: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "MAX_CONNECTIONS", 3)
    held = [fresh.connect() for _ in range(3)]
    try:
        for sock in held:
            sock.sendall(fresh.head(Connection="keep-alive"))
            assert fresh.status(sock.recv(65536)) == 200
        with fresh.connect() as one_more:
            assert fresh.status(fresh.read_to_end(one_more)) == 503
    finally:
        for sock in held:
            sock.close()
    for _ in range(100):  # the server learns of the closing in its own time
        if fresh.status(fresh.raw(fresh.head())) == 200:
            break
    else:
        pytest.fail("the connections were not given back")


def test_pipelined_calls_are_answered_in_order(fresh: Any) -> None:
    calls = []
    for number in range(40):
        body = b'{"number": "555%04d", "country_code": "+1"}' % (number // 2)
        calls.append(
            fresh.head(
                "POST",
                Connection="keep-alive",
                Content_Length=str(len(body)),
                Content_Type="application/json",
            )
            + body
        )
    answers = fresh.raw(b"".join(calls) + fresh.head())
    statuses = [int(part[:3]) for part in answers.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [201, 409] * 20 + [200]


def test_garbage_behind_a_call_is_not_taken_for_its_answer(fresh: Any) -> None:
    body = b'{"number": "5550100", "country_code": "+1"}'
    call = fresh.head("POST", Content_Length=str(len(body)), Content_Type="application/json")
    answer = fresh.raw(call.replace(b"close", b"keep-alive") + body + b"GARBAGE\r\n\r\n")
    assert fresh.status(answer) in (0, 201)


# --- starting and stopping ------------------------------------------------------------


linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@linux
def test_starting_and_stopping_leaves_no_thread_and_no_descriptor() -> None:
    def state() -> tuple[set[threading.Thread], int]:
        return set(threading.enumerate()), len(list(Path("/proc/self/fd").iterdir()))

    with Sandbox(seed="empty") as sandbox:
        with sandbox.serve():
            pass
        before = state()
        ports = set()
        for _ in range(20):
            with sandbox.serve() as base_url, closing(connect(base_url)) as sock:
                ports.add(base_url)
                sock.sendall(b"GET / HTTP/1.1\r\nHost: ")  # half a request must not hold it up
            with pytest.raises(ConnectionRefusedError):
                connect(base_url)
        assert state() == before


def connect(base_url: str) -> socket.socket:
    host, _, port = base_url.removeprefix("http://").rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), timeout=20)


def test_a_taken_port_is_an_error_where_it_was_asked_for(fresh: Any) -> None:
    with Sandbox() as other, pytest.raises(OSError), other.serve(port=fresh.port):
        pytest.fail("two servers on one port")


def test_a_host_that_is_not_of_this_machine_is_an_error() -> None:
    with Sandbox() as other, pytest.raises(OSError), other.serve(host="192.0.2.1"):
        pytest.fail("served on a foreign address")


@linux
def test_only_loopback_is_listened_to(fresh: Any) -> None:
    listening = fresh.port
    table = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    rows = [line.split() for line in table.splitlines() if line.split()[3] == "0A"]
    addresses = {row[1].split(":")[0] for row in rows if int(row[1].split(":")[1], 16) == listening}
    assert addresses == {"0100007F"}


def test_another_loopback_name_can_be_served_under_that_name() -> None:
    with Sandbox() as sandbox, sandbox.serve(host="::1") as base_url:
        assert base_url.startswith("http://[::1]:")
        with closing(connect(base_url)) as sock:
            host = base_url.removeprefix("http://")
            sock.sendall(f"GET /openapi.json HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            assert sock.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_a_block_that_fails_still_stops_the_server() -> None:
    with Sandbox() as sandbox:
        with pytest.raises(LookupError), sandbox.serve() as base_url:
            raise LookupError
        with pytest.raises(ConnectionRefusedError):
            connect(base_url)


# --- many at once ---------------------------------------------------------------------


def at_once(door: Any, bodies: list[object], path: str) -> list[int]:
    """Create on as many connections at the same moment; the statuses."""
    barrier = threading.Barrier(len(bodies))

    def create(body: object) -> int:
        barrier.wait(20)
        return int(door.call("POST", door.root + path, body)[0])

    with ThreadPoolExecutor(len(bodies)) as pool:
        return list(pool.map(create, bodies))


def test_concurrent_creates_of_one_number_give_one_contact(fresh: Any) -> None:
    for number in range(10):
        body: object = {"number": f"555{number:04}", "country_code": "+1"}
        statuses = at_once(fresh, [body] * 16, "/contacts")
        assert sorted(statuses) == [201] + [409] * 15
    listed = fresh.call("GET", f"{fresh.root}/contacts")[1]
    assert listed["pagination"]["totalCount"] == 10


def test_the_tenth_webhook_is_registered_once(fresh: Any) -> None:
    bodies: list[object] = [
        {"url": f"https://hooks.example/{number}", "events": ["*"]} for number in range(25)
    ]
    assert sorted(at_once(fresh, bodies[:9], "/webhooks")) == [201] * 9
    statuses = at_once(fresh, bodies[9:], "/webhooks")
    assert sorted(statuses) == [201] + [422] * 15
    assert len(fresh.call("GET", f"{fresh.root}/webhooks")[1]["data"]) == 10


def test_both_doors_can_be_used_at_once(fresh: Any) -> None:
    headers = {"authorization": f"Bearer {fresh.sandbox.token}", "content-type": "application/json"}

    def inside(number: int) -> int:
        body = json.dumps({"number": f"555{number:04}", "country_code": "+1"}).encode()
        return fresh.sandbox.answer("POST", f"{fresh.root}/contacts", headers, body)[0]

    def outside(number: int) -> int:
        body = {"number": f"555{number:04}", "country_code": "+1"}
        return int(fresh.call("POST", f"{fresh.root}/contacts", body)[0])

    with ThreadPoolExecutor(8) as pool:
        results = [pool.submit(door, number) for number in range(200) for door in (inside, outside)]
        statuses = [result.result(60) for result in results]
    assert statuses.count(201) == 200
    assert statuses.count(409) == 200
