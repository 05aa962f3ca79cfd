"""Serving: starting, stopping, and many callers at once on real sockets."""

import json
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from ports import own_ports

from chatkit import Sandbox

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
            assert port_of(base_url) not in own_ports()
        assert state() == before


def port_of(base_url: str) -> int:
    return int(base_url.rpartition(":")[2])


def connect(base_url: str) -> socket.socket:
    host, _, port = base_url.removeprefix("http://").rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), timeout=20)


@linux
def test_only_loopback_is_listened_to_and_a_taken_port_is_an_error(fresh: Any) -> None:
    table = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    rows = [line.split() for line in table.splitlines() if line.split()[3] == "0A"]
    addresses = {row[1].split(":")[0] for row in rows if int(row[1][-4:], 16) == fresh.port}
    assert addresses == {"0100007F"}
    with Sandbox() as other, pytest.raises(OSError), other.serve(port=fresh.port):
        pytest.fail("two servers on one port")


def test_another_loopback_name_can_be_served_under_that_name() -> None:
    with Sandbox() as sandbox, sandbox.serve(host="::1") as base_url:
        assert base_url.startswith("http://[::1]:")
        with closing(connect(base_url)) as sock:
            host = base_url.removeprefix("http://")
            sock.sendall(f"GET /openapi.json HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            assert sock.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_a_block_that_fails_still_stops_the_server_and_only_this_machine_is_served() -> None:
    with Sandbox() as sandbox:
        with pytest.raises(LookupError), sandbox.serve() as base_url:
            assert port_of(base_url) in own_ports()
            raise LookupError
        assert port_of(base_url) not in own_ports()
        for host in ("0.0.0.0", "::", "192.0.2.1"):
            with pytest.raises(OSError, match="this machine only"), sandbox.serve(host):
                pass


# --- many at once ---------------------------------------------------------------------


def at_once(channel: Any, bodies: list[object], path: str) -> list[int]:
    """Create on as many connections at the same moment; the statuses."""
    barrier = threading.Barrier(len(bodies))

    def create(body: object) -> int:
        barrier.wait(20)
        return int(channel.call("POST", channel.root + path, body)[0])

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


def test_calls_in_process_and_over_http_can_be_made_at_once(fresh: Any) -> None:
    headers = {"authorization": f"Bearer {fresh.sandbox.token}", "content-type": "application/json"}

    def inside(number: int) -> int:
        body = json.dumps({"number": f"555{number:04}", "country_code": "+1"}).encode()
        return fresh.sandbox.answer("POST", f"{fresh.root}/contacts", headers, body)[0]

    def outside(number: int) -> int:
        body = {"number": f"555{number:04}", "country_code": "+1"}
        return int(fresh.call("POST", f"{fresh.root}/contacts", body)[0])

    with ThreadPoolExecutor(8) as pool:
        results = [
            pool.submit(channel, number) for number in range(200) for channel in (inside, outside)
        ]
        statuses = [result.result(60) for result in results]
    assert statuses.count(201) == 200
    assert statuses.count(409) == 200
