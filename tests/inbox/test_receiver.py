"""A receiver says 200 of what is stored, and nothing that means it of anything else."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from inbox.senders import OTHER, SECRET, post, signed

from chatkit.api.secret import Secret
from chatkit.errors import StoreError
from chatkit.inbox import receiver as module
from chatkit.inbox.delivery import DeliveryInspector, ReceivedDelivery, Selection
from chatkit.inbox.receiver import Receiver
from chatkit.inbox.store import InboxStore
from chatkit.profile import ServiceProfile
from chatkit.signature import BadSignature

BODY = b'{"event":"chat.message.status","data":{"n":1}}'


@pytest.fixture
def store(tmp_path) -> Iterator[InboxStore]:
    store = InboxStore(tmp_path / "inbox.sqlite")
    yield store
    store.close()


def receiver(store: InboxStore, *secrets: str, **options: object) -> Receiver:
    inspector = DeliveryInspector(
        ServiceProfile(), [Secret(secret) for secret in secrets or (SECRET,)]
    )
    chosen = {"host": "127.0.0.1", "port": 0, "unverified": "keep", **options}
    return Receiver(store, inspector, **chosen)


def answer(at: Receiver, head: str) -> bytes:
    """Send the head of a request, and perhaps more; all of the answer."""
    port = int(at.url.rsplit(":", 1)[1].strip("/"))
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.sendall(f"{head}\r\n".encode())
        sock.settimeout(5)
        parts = []
        with contextlib.suppress(TimeoutError, ConnectionResetError):
            while part := sock.recv(4096):
                parts.append(part)
    return b"".join(parts)


def test_a_delivery_is_verified_and_stored_before_it_is_acknowledged(url: str) -> None:
    store = InboxStore(url)
    with receiver(store) as at:
        assert at.url.startswith("http://localhost:")
        assert post(at.url + "hooks/a", BODY, signed(BODY)) == 200
        (delivery,) = store.select(Selection())
    assert (delivery.body, delivery.path, delivery.verified) == (BODY, "/hooks/a", True)
    assert dict(delivery.headers)["webhook-id"] == "msg_1"
    store.close()


def test_what_is_not_verified_is_kept_with_the_reason(store: InboxStore) -> None:
    with receiver(store) as at:
        assert post(at.url, BODY) == 200
        assert post(at.url, BODY, signed(BODY, secret=OTHER)) == 200
        assert post(at.url, b"<xml/>", signed(b"<xml/>")) == 200
    assert [(one.verified, one.reason) for one in store.select(Selection(repeats=True))] == [
        (False, "the header webhook-signature is missing"),
        (False, "no signature in webhook-signature fits this body and secret"),
        (True, "the body is not JSON: JSON is malformed: invalid character (byte 0)"),
    ]


def test_or_it_is_refused_and_not_stored(store: InboxStore) -> None:
    with receiver(store, unverified="refuse") as at:
        assert post(at.url, BODY, signed(BODY, age=400)) == 401
        assert post(at.url, BODY) == 401
        assert "refused (2 times, the last: the header webhook-signature is missing)" in repr(at)
        assert post(at.url, BODY, signed(BODY)) == 200
    assert len([*store.select(Selection(repeats=True))]) == 1


def test_a_secret_is_changed_without_losing_a_delivery(store: InboxStore) -> None:
    with receiver(store, unverified="refuse") as at:
        at.accept(SECRET, OTHER)
        assert post(at.url, BODY, signed(BODY, "a", SECRET)) == 200
        assert post(at.url, BODY, signed(BODY, "b", OTHER)) == 200
        at.accept(Secret(OTHER))
        assert post(at.url, BODY, signed(BODY, "c", SECRET)) == 401
        with pytest.raises(BadSignature):
            at.accept("")
        assert post(at.url, BODY, signed(BODY, "d", OTHER)) == 200


def test_what_cannot_be_stored_is_answered_503(store: InboxStore, monkeypatch) -> None:
    def fail(entries: list[ReceivedDelivery]) -> None:
        raise StoreError("the disk is full of secrets")

    with receiver(store) as at:
        monkeypatch.setattr(store, "write_deliveries", fail)
        assert post(at.url, BODY, signed(BODY)) == 503
        monkeypatch.undo()
        assert post(at.url, BODY, signed(BODY)) == 200
    assert store.read_last_id() == 1


def test_a_full_disk_is_answered_503_and_when_there_is_space_all_goes_on(store: InboxStore) -> None:
    large = b"x" * 300_000

    def most(pages: int) -> None:
        with store.engine.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    with receiver(store) as at:
        most(40)
        assert post(at.url, large, signed(large)) == 503
        assert post(at.url, BODY, signed(BODY)) == 200, "what fits is still taken"
        most(10_000)
        assert post(at.url, large, signed(large)) == 200
    assert len([*store.select(Selection(repeats=True))]) == 2


def test_a_store_that_hangs_is_answered_503_in_time(store: InboxStore, monkeypatch) -> None:
    monkeypatch.setattr(module, "STORE_SECONDS", 0.2)
    release = threading.Event()
    with receiver(store) as at:
        monkeypatch.setattr(store, "write_deliveries", lambda entries: release.wait())
        assert post(at.url, BODY, signed(BODY)) == 503
        release.set()


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large_is_refused(store: InboxStore, monkeypatch, chunked: bool) -> None:
    monkeypatch.setattr(module, "MAX_BODY", 10_000)
    with receiver(store) as at:
        fits = b"x" * 10_000
        assert post(at.url, fits, signed(fits)) == 200
        large = iter([b"x" * 6000] * 2) if chunked else b"x" * 10_001
        assert post(at.url, large) == 413
    assert store.read_last_id() == 1


#: The method and a header of requests that are no deliveries, the status, and what follows.
REFUSED = [
    ("POST", "Content-Length: 4194305", 413, b"connection: close"),
    ("POST", "Content-Length: 4194305", 413, b"a body may have 4,194,304 bytes"),
    *(("POST", f"Content-Length: {n}", 4, b"") for n in ("", "-1", "abc", "1_0", "9" * 18)),
    *((method, "Connection: close", 405, b"allow: POST") for method in ("GET", "PUT", "DELETE")),
]


@pytest.mark.parametrize(("method", "header", "status", "words"), REFUSED)
def test_what_is_no_delivery_is_refused(
    store: InboxStore, method: str, header: str, status: int, words: bytes
) -> None:
    with receiver(store) as at:
        text = answer(at, f"{method} / HTTP/1.1\r\nHost: a\r\n{header}\r\n")
    assert text.startswith(b"HTTP/1.1 %d" % status) and words in text
    assert store.read_last_id() == 0


@pytest.mark.parametrize("drips", [4, 0])
def test_half_a_body_is_not_a_delivery(store: InboxStore, monkeypatch, drips: int) -> None:
    monkeypatch.setattr(module, "BODY_SECONDS", 0.3)
    with receiver(store) as at:
        port = int(at.url.rsplit(":", 1)[1].strip("/"))
        with socket.create_connection(("127.0.0.1", port)) as sock:
            sock.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf")
            for _ in range(drips):
                sock.sendall(b"x")
                time.sleep(0.1)
            sock.settimeout(5)
            text = sock.recv(4096) if drips else b"HTTP/1.1 408\r\nconnection: close\r\n"
        assert text.startswith(b"HTTP/1.1 408") and b"\r\nconnection: close\r\n" in text
        assert post(at.url, BODY, signed(BODY)) == 200
    assert len([*store.select(Selection(repeats=True))]) == 1


def test_many_at_once_are_all_stored(url: str) -> None:
    store = InboxStore(url)
    bodies = [json.dumps({"event": "a", "n": n}).encode() for n in range(200)]
    with receiver(store) as at, ThreadPoolExecutor(8) as pool:

        def send(number: int) -> int:
            return post(at.url, bodies[number], signed(bodies[number], f"msg_{number}"))

        assert {*pool.map(send, range(200))} == {200}
        assert sorted(one.body for one in store.select(Selection(verified=True))) == sorted(bodies)
    store.close()


@pytest.mark.parametrize(
    ("host", "output"),
    [("127.0.0.1", "localhost"), ("127.0.0.2", "127.0.0.2"), ("0::1", "[0::1]")],
)
def test_its_address_names_the_host_that_it_listens_on(
    store: InboxStore, host: str, output: str
) -> None:
    try:
        with receiver(store, host=host) as at:
            assert at.url.startswith(f"http://{output}:")
            assert post(at.url, BODY, signed(BODY)) == 200
    except OSError as error:
        pytest.skip(f"this machine does not listen on {host}: {error}")


def test_a_traceback_of_secrets_that_cannot_be_used_holds_none(store: InboxStore) -> None:
    with receiver(store) as at, pytest.raises(BadSignature) as caught:
        at.accept(SECRET, "")
    ours = [one.frame.f_locals for one in caught.traceback[1:]]
    assert ours and not any(SECRET in repr(known) for known in ours)


def test_it_shows_what_it_does_and_never_a_secret(store: InboxStore) -> None:
    with receiver(store, SECRET, OTHER, unverified="refuse") as at:
        output = repr(at)
        assert "2 signing secrets; what is not verified is refused" in output
        assert SECRET not in output and OTHER not in output
        at.wait(0.01)


# --- verified later than it came --------------------------------------------------------


def test_a_delivery_that_is_being_stored_when_a_secret_is_told_is_verified_too(
    store: InboxStore, monkeypatch
) -> None:
    """A delivery verified by the old secrets is not stored yet, and will not come again."""
    storing, go_on = threading.Event(), threading.Event()
    write = store.write_deliveries

    def slow(entries: list[ReceivedDelivery]) -> None:
        storing.set()
        assert go_on.wait(20)
        write(entries)

    monkeypatch.setattr(store, "write_deliveries", slow)
    with receiver(store, OTHER) as at, ThreadPoolExecutor(2) as pool:
        posted = pool.submit(post, at.url, BODY, signed(BODY))
        assert storing.wait(20)
        accepted = pool.submit(at.accept, SECRET)
        go_on.set()
        assert posted.result(20) == 200
        accepted.result(20)
        assert store.read_delivery(1).verified


def test_whenever_a_secret_is_told_what_comes_meanwhile_is_verified(url: str) -> None:
    store = InboxStore(url)
    bodies = [json.dumps({"event": "a", "n": n}).encode() for n in range(120)]
    begun = threading.Event()
    with receiver(store, OTHER) as at, ThreadPoolExecutor(4) as pool:

        def send(number: int) -> int:
            if number == 20:
                begun.set()
            return post(at.url, bodies[number], signed(bodies[number], f"msg_{number}"))

        sent = [pool.submit(send, number) for number in range(len(bodies))]
        assert begun.wait(20)
        at.accept(SECRET)
        assert {one.result(20) for one in sent} == {200}
        assert len([*store.select(Selection(verified=True))]) == len(bodies)
        assert store.verified_later > 0
    store.close()


def test_a_delivery_is_verified_by_the_time_it_came(store: InboxStore, monkeypatch) -> None:
    with receiver(store, OTHER) as at:
        post(at.url, BODY, signed(BODY, "late", age=400))
        post(at.url, BODY, signed(BODY, "fresh"))
        came = store.read_delivery(2).received_at
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() + 10_000)
        at.accept(SECRET)
    late, fresh = store.select(Selection(repeats=True))
    assert (late.verified, fresh.verified) == (False, True), "400 s old when it came, and 1 s"
    assert (fresh.received_at, fresh.identity) == (came, "id:fresh")
    assert fresh.verified_at is not None and late.verified_at is None


def test_a_secret_that_is_accepted_no_more_verifies_nothing_that_came_since(
    store: InboxStore,
) -> None:
    """A secret is changed because somebody may know it: its signatures are worth nothing then."""
    with receiver(store, SECRET) as at:
        at.accept(OTHER)
        post(at.url, BODY, signed(BODY, "forged", SECRET))
        at.accept(OTHER)
        assert not store.read_delivery(1).verified


def test_what_came_before_the_receiver_is_left_to_the_inbox(store: InboxStore) -> None:
    with receiver(store, OTHER) as at:
        post(at.url, BODY, signed(BODY))
    with receiver(store, OTHER) as at:
        at.accept(SECRET)
    assert not store.read_delivery(1).verified
