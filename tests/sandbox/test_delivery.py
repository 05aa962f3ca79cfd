"""Deliveries: to nothing but what was named, on this machine, and the truth about each."""

import json
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
import trustme
from listening import OK, answering, listening

from chatkit.profile import ServiceProfile
from chatkit.sandbox.delivery import DeliveryOutcome, Receivers, attempt_delivery
from chatkit.sandbox.events import event_body
from chatkit.sandbox.webhooks import ActiveWebhook
from chatkit.signature import verify

SECRET = "0123456789abcdef" * 4
STAMP = "2026-01-05T08:00:01Z"


def send(
    url: str,
    receivers: Receivers,
    *,
    profile: ServiceProfile = ServiceProfile(),  # noqa: B008  it cannot be changed
    seconds: float = 1,
    body: bytes = b"{}",
) -> DeliveryOutcome:
    webhook = ActiveWebhook(7, url, SECRET)
    return attempt_delivery(webhook, "msg_1", body, receivers, profile, seconds)


def allowing(url: str, to: str | None = None) -> Receivers:
    receivers = Receivers()
    receivers.add(url, to)
    return receivers


@pytest.mark.parametrize("scheme", ["standard_webhooks", "sha256_hex"])
def test_an_event_arrives_signed_over_its_very_bytes(scheme: str) -> None:
    profile = ServiceProfile(signature_scheme=scheme, event_kind_field="type")
    body = event_body(profile, "chat.message.status", {"name": "Zoë"}, "msg_1", STAMP)
    with listening() as listener:
        url = f"http://127.0.0.1:{listener.port}/in"
        came = send(url + "?a=b", allowing(url), profile=profile, body=body)
    assert came == DeliveryOutcome(7, "delivered", 200, None)
    head, _, got = listener.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /in?a=b HTTP/1.1"
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
    assert headers["host"] == f"127.0.0.1:{listener.port}"
    verify(got, headers, SECRET, scheme=scheme, now=int(time.time()))
    sent = json.loads(got)
    assert sent == {
        "id": "msg_1",
        "timestamp": STAMP,
        "type": "chat.message.status",
        "data": {"name": "Zoë"},
    }
    assert SECRET not in listener.requests[0].decode()


def test_nobody_is_delivered_to_who_was_not_named() -> None:
    with listening() as listener:
        came = send(f"http://127.0.0.1:{listener.port}/", Receivers())
    assert (came.status, came.http_status, listener.requests) == ("refused", None, [])
    assert came.error is not None
    assert "not in allow=: Sandbox(allow=[" in came.error


@pytest.mark.parametrize(
    "answers",
    [
        ["93.184.216.34"],
        ["127.0.0.1", "93.184.216.34"],
        ["10.0.0.1"],
        ["100.64.0.1"],
        ["169.254.169.254"],
        ["0.0.0.0"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["fe80::1"],
    ],
)
def test_a_name_that_is_not_only_this_machine_is_refused(
    answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        families = [socket.AF_INET6 if ":" in answer else socket.AF_INET for answer in answers]
        return [
            (family, socket.SOCK_STREAM, 6, "", (answer, port))
            for family, answer in zip(families, answers, strict=True)
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    came = send("http://hooks.example/", allowing("http://hooks.example/"))
    assert came.status == "refused"
    assert came.error is not None
    assert "not this machine" in came.error


def test_the_address_that_was_checked_is_the_one_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def rebinding(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        asked.append(host)
        answer = "127.0.0.1" if len(asked) == 1 else "93.184.216.34"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answer, port))]

    with listening() as listener:
        url = f"http://hooks.example:{listener.port}/"
        monkeypatch.setattr(socket, "getaddrinfo", rebinding)
        assert send(url, allowing(url)).status == "delivered"
    assert asked == ["hooks.example"]
    assert f"Host: hooks.example:{listener.port}".encode() in listener.requests[0]


def test_the_second_address_of_a_name_is_tried() -> None:
    with listening() as listener:  # localhost is often ::1 first, where nobody listens
        url = f"http://localhost:{listener.port}/"
        assert send(url, allowing(url)).status == "delivered"


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 404, 410, 429, 500, 503])
def test_every_status_but_2xx_is_a_failure_and_redirects_are_not_followed(status: int) -> None:
    with listening() as elsewhere:
        location = f"http://127.0.0.1:{elsewhere.port}/"
        with listening(answering(status, f"Location: {location}")) as listener:
            url = f"http://127.0.0.1:{listener.port}/"
            receivers = allowing(url)
            receivers.add(location)
            came = send(url, receivers)
    assert (came.status, came.http_status) == ("failed", status)
    assert came.error is not None
    assert str(status) in came.error
    assert elsewhere.requests == []


def drip(sock: socket.socket) -> None:
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(300):
        sock.sendall(b".")
        time.sleep(0.05)


def silence(sock: socket.socket) -> None:
    while sock.recv(1024):
        continue


def endless(sock: socket.socket) -> None:
    sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        sock.sendall(b"x" * 65536)


@pytest.mark.parametrize(
    ("reply", "status", "http_status"),
    [
        (silence, "failed", None),
        (drip, "failed", 200),
        (endless, "delivered", 200),
        (b"", "failed", None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "failed", 200),
        (b"SSH-2.0-OpenSSH\r\n", "failed", None),
        (b"HTTP/1.1 99999999999999 X\r\n\r\n", "failed", None),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000 + b"\r\n", "failed", None),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "delivered", 204),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "failed", None),
    ],
)
def test_whatever_a_receiver_does_the_attempt_ends_and_tells(
    reply: bytes | Callable[[socket.socket], None], status: str, http_status: int | None
) -> None:
    with listening(reply) as listener:
        url = f"http://127.0.0.1:{listener.port}/"
        came = send(url, allowing(url))
    assert (came.status, came.http_status) == (status, http_status)
    assert (came.error is None) == (status == "delivered")


def test_a_closed_port_is_a_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    came = send(f"http://127.0.0.1:{port}/", allowing(f"http://127.0.0.1:{port}/"))
    assert (came.status, came.http_status) == ("failed", None)


def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening() as proxy, listening() as listener:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        url = f"http://127.0.0.1:{listener.port}/"
        assert send(url, allowing(url)).status == "delivered"
    assert proxy.requests == []


def test_a_certificate_of_an_authority_that_nobody_trusts_is_refused() -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("localhost").configure_cert(server)
    with listening(context=server) as listener:
        url = f"https://localhost:{listener.port}/"
        came = send(url, allowing(url))
    assert (came.status, came.http_status, listener.requests) == ("failed", None, [])
    assert came.error is not None
    assert "certificate" in came.error.lower()


def test_the_secret_is_in_no_request() -> None:
    with listening() as listener:
        send(listener.url, allowing(listener.url))
    assert SECRET.encode() not in listener.requests[0]


# --- each delivery has a connection of its own -------------------------------------------


@pytest.mark.parametrize("reply", [silence, drip])
def test_a_late_answer_is_never_taken_for_that_of_the_next_delivery(
    reply: Callable[[socket.socket], None],
) -> None:
    with listening(reply) as listener:
        receivers = allowing(listener.url)
        assert send(listener.url, receivers, seconds=0.2).status == "failed"
        listener.reply = OK
        assert send(listener.url, receivers).status == "delivered"
    assert listener.connections == 2


FORKED = """
import os
from chatkit.util.webhook_sender import post_body, parse_address

address = parse_address("http://127.0.0.1:9/")
post_body(address, [], b"", seconds=5)
if child := os.fork():
    os.waitpid(child, 0)
else:
    print(post_body(address, [], b"", seconds=5).error, flush=True)
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_posts_too() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "Connection refused\n", done.stderr
