"""Deliveries: attempts, the list of receivers, and the queue."""

import json
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme
from listening import OK, answering, listening

from chatkit.profile import ServiceProfile
from chatkit.sandbox.delivery import (
    DeliveryOutcome,
    DeliveryQueue,
    QueuedDelivery,
    QueueFull,
    Receivers,
    attempt_delivery,
)
from chatkit.sandbox.events import encode_event
from chatkit.sandbox.store import SandboxStore
from chatkit.sandbox.webhooks import ActiveWebhook
from chatkit.signature import verify
from chatkit.util.webhook_sender import BadReceiver

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
    body = encode_event(profile, "chat.message.status", {"name": "Zoë"}, "msg_1", STAMP)
    with listening() as listener:
        url = f"http://127.0.0.1:{listener.port}/in"
        outcome = send(url + "?a=b", allowing(url), profile=profile, body=body)
    assert outcome == DeliveryOutcome(7, "delivered", 200, None)
    [(headers, got)] = listener.messages
    assert listener.requests[0].startswith(b"POST /in?a=b HTTP/1.1\r\n")
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
    assert SECRET not in repr(ActiveWebhook(7, url, SECRET))


def test_the_address_that_was_checked_is_the_one_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def rebinding(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        asked.append(host)
        answer = "127.0.0.1" if len(asked) == 1 else "93.184.216.34"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answer, port))]

    with listening() as proxy, listening() as listener:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):  # which are not used
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        # localhost is often ::1 first, where nobody listens: the second address is tried.
        for host in ("127.0.0.1", "localhost", "hooks.example"):
            url = f"http://{host}:{listener.port}/"
            if host == "hooks.example":
                monkeypatch.setattr(socket, "getaddrinfo", rebinding)
            assert send(url, allowing(url)).status == "delivered"
    assert asked == ["hooks.example"]
    assert f"Host: hooks.example:{listener.port}".encode() in listener.requests[2]
    assert proxy.requests == []


def test_every_status_but_2xx_is_a_failure_and_redirects_are_not_followed() -> None:
    with listening() as elsewhere, listening() as listener:
        receivers = allowing(listener.url)
        receivers.add(elsewhere.url)
        for status in (300, 307, 404, 500):
            listener.reply = answering(status, f"Location: {elsewhere.url}")
            outcome = send(listener.url, receivers)
            assert (outcome.status, outcome.http_status) == ("failed", status)
            assert str(status) in str(outcome.error)
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
def test_an_attempt_ends_with_an_outcome_whatever_the_receiver_answers(
    reply: bytes | Callable[[socket.socket], None], status: str, http_status: int | None
) -> None:
    with listening(reply) as listener:
        url = f"http://127.0.0.1:{listener.port}/"
        outcome = send(url, allowing(url))
    assert (outcome.status, outcome.http_status) == (status, http_status)
    assert (outcome.error is None) == (status == "delivered")


def test_a_closed_port_is_a_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
    outcome = send(url, allowing(url))
    assert (outcome.status, outcome.http_status) == ("failed", None)


def test_a_certificate_of_an_authority_that_nobody_trusts_is_refused() -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("localhost").configure_cert(server)
    with listening(context=server) as listener:
        url = f"https://localhost:{listener.port}/"
        outcome = send(url, allowing(url))
    assert (outcome.status, outcome.http_status, listener.requests) == ("failed", None, [])
    assert outcome.error is not None
    assert "certificate" in outcome.error.lower()


# --- each delivery has a connection of its own -------------------------------------------


@pytest.mark.parametrize("reply", [silence, drip])
def test_a_late_answer_is_not_that_of_the_next_delivery(
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


# --- receivers ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://localhost:8000/in/a/b?c", (8000, "/in/a/b", "c")),
        ("http://localhost:8000/in", None),
        ("http://localhost:8000/inside", None),
        ("http://localhost:8000/", None),
        ("http://h.example/in", (80, "/in", "")),
        ("https://hooks.example/chat/a?b=c", (8000, "/inbox/a", "b=c")),
        ("https://hooks.example/chat", (8000, "/inbox", "")),
        ("https://hooks.example/chat/quiet/1", (9000, "/1", "")),
        ("https://hooks.example/chatter", None),
        ("not an address", None),
    ],
)
def test_an_address_is_allowed_at_and_below_an_entry_and_goes_to_its_target(
    url: str, target: tuple[int, str, str] | None
) -> None:
    receivers = Receivers()
    assert not receivers.allows(url)
    receivers.add("http://LOCALHOST:8000/in/")
    receivers.add("http://h.example/in")
    receivers.add("https://hooks.example/chat", to="http://127.0.0.1:8000/inbox")
    receivers.add("https://hooks.example/chat/quiet", to="http://127.0.0.1:9000/")
    assert receivers.allows(url) == (target is not None)
    if target:
        assert receivers.find_target(url)[2:] == target
    else:
        with pytest.raises(BadReceiver):
            receivers.find_target(url)


def test_an_address_that_is_added_again_has_the_new_target_and_none_has_a_query() -> None:
    receivers = Receivers()
    receivers.add("https://hooks.example/")
    receivers.add("https://hooks.example/", to="http://127.0.0.1:8000/")
    output = [{"url": "https://hooks.example/", "to": "http://127.0.0.1:8000/"}]
    assert receivers.list_entries() == output
    receivers.clear()
    with pytest.raises(BadReceiver):
        receivers.add("http://h/?a=b")
    assert receivers.list_entries() == []


# --- the queue ------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SandboxStore]:
    store = SandboxStore(tmp_path / "a.db")
    yield store
    store.close()


@pytest.fixture
def queue(store: SandboxStore) -> DeliveryQueue:
    return DeliveryQueue(store)


def next_due(queue: DeliveryQueue) -> QueuedDelivery:
    """The delivery to webhook 41 that is due next."""
    due = queue.find_next_due("1001", 41)
    assert due is not None
    return due


def test_an_event_waits_for_each_webhook_in_the_order_it_is_due(queue: DeliveryQueue) -> None:
    first = queue.add("1001", [41, 42], "msg_1", "any", b"1", due=5.0)
    second = queue.add("1001", [41], "msg_2", "any", b"2", due=3.0)
    assert queue.count() == 3
    assert sorted(queue.list_webhooks()) == [("1001", 41), ("1001", 42)]
    assert queue.fresh == {("1001", 41), ("1001", 42)}
    due = next_due(queue)
    assert (due.id, due.message_id, due.body, due.attempts) == (*second, "msg_2", b"2", 0)
    queue.schedule_retry(due, 9.0)
    later = next_due(queue)
    assert first == {later.id: 41, later.id + 1: 42}
    queue.remove(later)
    last = next_due(queue)
    assert (last.id, last.attempts, last.due) == (*second, 1, 9.0)
    assert not queue.contains(later)
    assert queue.find_next_due("2002", 41) is None


def test_a_rollback_or_a_reset_empties_the_queue_and_no_id_is_given_twice(
    store: SandboxStore, queue: DeliveryQueue
) -> None:
    queue.add("1001", [41], "msg_1", "any", b"1", due=5.0)
    store.rollback()
    assert (queue.count(), queue.fresh) == (0, set())
    (before,) = queue.add("1001", [41], "msg_1", "any", b"1", due=5.0)
    old = next_due(queue)
    store.commit()
    store.clear()
    store.commit()
    assert queue.count() == 0
    (after,) = queue.add("1001", [41], "msg_1", "any", b"1", due=5.0)
    assert after > before
    queue.remove(old)
    assert queue.count() == 1


def test_a_full_queue_refuses_until_it_is_below_its_bound(
    queue: DeliveryQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatkit.sandbox.delivery.MOST_WAITING", 3)
    ids = [*queue.add("1001", [41, 42], "msg_1", "any", b"1", due=5.0)][:1]
    ids += [*queue.add("1001", [41, 42], "msg_2", "any", b"1", due=5.0)][:1]
    with pytest.raises(QueueFull, match="3 deliveries wait"):
        queue.add("1001", [41], "msg_3", "any", b"1", due=5.0)
    assert queue.count() == 4
    assert queue.remove_webhook("1001", 41) == ids
    assert queue.list_webhooks() == [("1001", 42)]
    assert len(queue.add("1001", [41], "msg_3", "any", b"1", due=5.0)) == 1
