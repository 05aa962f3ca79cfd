"""The delivery worker: at least once, on schedule, each webhook alone, and a true log."""

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import processes
import pytest
from caller import Caller
from internals import middleware_of
from listening import OK, Listener, answering, listening

from chatkit import Sandbox
from chatkit.errors import StoreError
from chatkit.sandbox.delivery import DeliveryOutcome, PublishedEvent
from chatkit.sandbox.webhooks import ActiveWebhook
from chatkit.signature import verify

HOOK = "https://hooks.example/a"
QUICK = (0.01, 0.02, 0.03)


@contextmanager
def heard(
    reply: bytes | Callable[[socket.socket], None] = OK, retries: Sequence[float] = QUICK
) -> Iterator[tuple[Caller, Listener, dict[str, Any]]]:
    """A sandbox with one webhook that a listener hears."""
    with listening(reply) as listener, Sandbox(seed="empty") as sandbox:
        worker = middleware_of(sandbox).delivery_worker
        worker.timeout, worker.retries = 5.0, retries
        call = Caller(sandbox)
        sandbox.allow(HOOK, to=listener.url)
        yield call, listener, call.webhook(HOOK).data


def output(call: Caller) -> dict[str, Any]:
    (record,) = call("GET", "/webhooks").data
    result: dict[str, Any] = record
    return result


def test_a_delivery_that_fails_is_made_again_with_the_same_id_until_it_arrives() -> None:
    with heard(answering(503)) as (call, listener, _):
        (first,) = call.sandbox.deliver("any", {"n": 1})
        assert (first.status, first.http_status) == ("failed", 503)
        assert output(call)["last_delivery_status"] == "failed"
        listener.reply = OK
        assert call.sandbox.settle()
        record = output(call)
        attempts = call.sandbox.attempts
    assert record["last_delivery_status"] == "delivered"
    assert (record["last_delivery_http_status"], record["last_delivery_error"]) == (200, None)
    assert [a.attempt for a in attempts] == list(range(1, len(attempts) + 1))
    assert [a.again_in for a in attempts][:1] == [0.01]
    assert attempts[-1].again_in is None
    assert len(set(listener.bodies)) == 1
    assert len({a.message_id for a in attempts}) == 1


def test_each_attempt_is_signed_anew_for_its_own_time() -> None:
    with heard(answering(500)) as (call, listener, hook):
        call.sandbox.deliver("any", {})
        assert call.sandbox.settle()
    assert len(listener.requests) == 4
    for request in listener.requests:
        head, _, body = request.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")[1:]
        headers = dict(line.split(": ", 1) for line in lines)
        secret = hook["webhook_secret"]
        verify(body, headers, secret, now=int(time.time()))


@pytest.mark.parametrize("retries", [(), (0.01,), QUICK])
def test_it_is_given_up_after_the_last_attempt_of_the_schedule(
    retries: tuple[float, ...],
) -> None:
    with heard(answering(500), retries=retries) as (call, listener, _):
        call.sandbox.deliver("any", {})
        assert call.sandbox.settle()
        record = output(call)
        attempts = call.sandbox.attempts
    assert len(listener.requests) == len(attempts) == 1 + len(retries)
    assert [a.again_in for a in attempts] == [*retries, None]
    assert (record["last_delivery_status"], record["last_delivery_http_status"]) == ("failed", 500)
    assert "500" in record["last_delivery_error"]


def test_the_schedule_is_kept() -> None:
    with heard(answering(500), retries=(0.05, 0.2)) as (call, listener, _):
        times: list[float] = []

        def note(sock: socket.socket) -> None:
            times.append(time.monotonic())
            sock.sendall(answering(500))

        listener.reply = note
        call.sandbox.deliver("any", {})
        assert call.sandbox.settle()
    first, second, third = times
    assert second - first >= 0.05
    assert third - second >= 0.2


def test_a_receiver_that_is_gone_gets_no_other_attempt_and_stays_active() -> None:
    with heard(answering(410)) as (call, listener, _):
        call.sandbox.deliver("any", {})
        assert call.sandbox.settle()
        record = output(call)
        assert len(listener.requests) == 1
        assert record["is_active"] is True
        assert record["last_delivery_http_status"] == 410


def test_a_redirect_is_a_failure_that_is_tried_again_at_the_same_place() -> None:
    with listening() as other, heard(answering(302, f"Location: {other.url}")) as (call, first, _):
        call.sandbox.allow(other.url)
        call.sandbox.deliver("any", {})
        assert call.sandbox.settle()
        assert len(first.requests) == 4
        assert other.requests == []
        assert "not followed" in output(call)["last_delivery_error"]


def test_nothing_is_tried_again_where_nobody_may_be_delivered_to() -> None:
    with Sandbox(seed="empty") as sandbox:
        call = Caller(sandbox)
        call.webhook(HOOK)
        (came,) = sandbox.deliver("any", {})
        assert came.status == "refused"
        assert sandbox.settle()
        assert output(call)["last_delivery_status"] == "refused"
        assert output(call)["last_delivery_http_status"] is None


def test_a_slow_receiver_holds_up_nobody_else() -> None:
    entered, release = threading.Event(), threading.Event()

    def slow(sock: socket.socket) -> None:
        entered.set()
        release.wait(20)
        sock.sendall(OK)

    with heard(slow) as (call, _, hook), listening() as quick:
        other = "https://hooks.example/b"
        call.sandbox.allow(other, to=quick.url)
        second = call.webhook(other).data
        came: list[Any] = []
        thread = threading.Thread(target=lambda: came.append(call.sandbox.deliver("any", {"n": 1})))
        thread.start()
        assert entered.wait(20)
        for _ in range(100):  # the quick one has its delivery while the slow one waits
            if quick.requests:
                break
            time.sleep(0.05)
        assert len(quick.requests) == 1
        assert call("GET", "/webhooks").status == 200
        release.set()
        thread.join(20)
    assert {d.webhook_id: d.status for d in came[0]} == {
        hook["id"]: "delivered",
        second["id"]: "delivered",
    }


def test_who_waits_for_a_busy_receiver_is_told_so() -> None:
    release = threading.Event()

    def slow(sock: socket.socket) -> None:
        release.wait(20)
        sock.sendall(OK)

    with heard(slow) as (call, listener, hook):
        middleware = middleware_of(call.sandbox)
        first, second = middleware.deliver(
            [PublishedEvent("any", 1), PublishedEvent("any", 2)], wait=0.05
        )
        assert (first.webhook_id, first.status) == (hook["id"], "waiting")
        assert second.status == "waiting"
        release.set()
        assert call.sandbox.settle()
        assert [json.loads(body)["data"] for body in listener.bodies] == [1, 2]


def test_one_that_waits_for_its_next_attempt_does_not_hold_up_the_next_event() -> None:
    with heard(answering(500), retries=(30.0,)) as (call, listener, _):
        assert call.sandbox.deliver("any", 1)[0].status == "failed"
        listener.reply = OK
        assert call.sandbox.deliver("any", 2)[0].status == "delivered"
        assert [json.loads(body)["data"] for body in listener.bodies] == [1, 2]
        assert not call.sandbox.settle(0.01)


@pytest.mark.parametrize("how", ["deleted", "inactive"])
def test_what_waits_for_a_webhook_that_is_no_more_is_dropped(how: str) -> None:
    with heard(answering(500), retries=(0.2, 30.0)) as (call, listener, hook):
        call.sandbox.deliver("any", {})
        if how == "deleted":
            call("DELETE", f"/webhooks/{hook['id']}")
        else:
            call("PATCH", f"/webhooks/{hook['id']}", {"is_active": False})
        assert call.sandbox.settle()
        assert len(listener.requests) == 1


def test_another_attempt_goes_to_the_address_the_webhook_has_by_then() -> None:
    with heard(answering(500), retries=(0.2,)) as (call, first, hook), listening() as new:
        call.sandbox.allow("https://hooks.example/new", to=new.url)
        call.sandbox.deliver("any", {})
        call("PATCH", f"/webhooks/{hook['id']}", {"url": "https://hooks.example/new"})
        assert call.sandbox.settle()
    assert (len(first.requests), len(new.requests)) == (1, 1)


def test_a_reset_forgets_what_waits() -> None:
    with heard(answering(500), retries=(30.0,)) as (call, listener, _):
        call.sandbox.deliver("any", {})
        call.sandbox.reset()
        call.webhook(HOOK)
        listener.reply = OK
        assert call.sandbox.deliver("any", 2)[0].status == "delivered"
        assert call.sandbox.settle()
        assert len(listener.requests) == 2


def test_an_attempt_under_way_at_a_reset_is_nobodys_afterwards() -> None:
    entered, release = threading.Event(), threading.Event()

    def slow(sock: socket.socket) -> None:
        entered.set()
        release.wait(20)
        sock.sendall(OK)

    with heard(slow) as (call, _, hook):
        middleware_of(call.sandbox).deliver([PublishedEvent("any", 1)], wait=0)
        assert entered.wait(20)
        call.sandbox.reset()
        assert call.webhook(HOOK).data["id"] == hook["id"]
        release.set()
        assert call.sandbox.settle()
        assert output(call)["last_delivery_at"] is None
        assert call.sandbox.attempts == []


def test_many_events_arrive_once_each_and_in_order() -> None:
    with heard() as (call, listener, _):
        came = middleware_of(call.sandbox).deliver(
            [PublishedEvent("any", n) for n in range(150)], wait=20
        )
        assert {delivery.status for delivery in came} == {"delivered"}
    assert [json.loads(body)["data"] for body in listener.bodies] == list(range(150))


def test_what_a_process_left_is_delivered_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.db"
    monkeypatch.setattr("chatkit.sandbox.delivery.RETRIES", (0.01, 0.01, 30.0))
    with listening(answering(500)) as listener:
        with Sandbox(path) as sandbox:
            Caller(sandbox).webhook(HOOK)
            sandbox.allow(HOOK, to=listener.url)
            sandbox.deliver("any", {"n": 1})
        before = len(listener.requests)
        listener.reply = OK
        with Sandbox(path) as sandbox:
            assert middleware_of(sandbox).service.queue.count() == 1
            assert sandbox.settle(0)  # nobody works on it before its receiver is named
            with middleware_of(sandbox).transaction() as service:  # long enough has passed
                service.store.write("UPDATE outbox SET due = 0")
            sandbox.allow(HOOK, to=listener.url)
            assert sandbox.settle()
            assert middleware_of(sandbox).service.queue.count() == 0
    assert len(listener.requests) == before + 1
    assert len(set(listener.bodies)) == 1


def test_an_attempt_that_could_not_be_written_down_is_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chatkit.sandbox.delivery._PAUSE", 0.01)
    with heard() as (call, listener, _):
        middleware, failures = middleware_of(call.sandbox), [2]
        record = middleware.service.webhooks.record_delivery

        def failing(*args: Any) -> None:
            if failures[0]:
                failures[0] -= 1
                raise StoreError("the disk is full")
            record(*args)

        monkeypatch.setattr(middleware.service.webhooks, "record_delivery", failing)
        assert call.sandbox.deliver("any", {})[0].status == "delivered"
        assert call.sandbox.settle()
    assert len(listener.requests) == 3
    assert len(set(listener.bodies)) == 1


def test_a_bug_of_ours_is_a_failure_and_does_not_end_the_worker(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(webhook: ActiveWebhook, *_: Any) -> DeliveryOutcome:
        monkeypatch.undo()
        raise RuntimeError(webhook.secret)

    monkeypatch.setattr("chatkit.sandbox.delivery.attempt_delivery", broken)
    with heard() as (call, listener, hook):
        (came,) = call.sandbox.deliver("any", {})
        assert (came.status, came.error) == ("failed", "The sandbox has a bug")
        assert call.sandbox.settle()
        assert len(listener.requests) == 1
    assert "unexpected RuntimeError" in caplog.text
    assert hook["webhook_secret"] not in caplog.text


def test_a_sandbox_that_ends_does_not_wait_for_a_schedule() -> None:
    with heard(answering(500), retries=(3600.0,)) as (call, _, hook):
        call.sandbox.deliver("any", {})
    names = {thread.name for thread in threading.enumerate()}
    assert f"chatkit-delivery-{hook['id']}" not in names


# Accepts events without waiting for their delivery, says so, and never ends by itself.
CHILD = """
import sys
import time
from chatkit import Sandbox
from chatkit.errors import StoreError
from chatkit.sandbox import delivery
from chatkit.sandbox.delivery import PublishedEvent

path, url, first = sys.argv[1], sys.argv[2], int(sys.argv[3])
delivery.RETRIES = (0.01,) * 50
sandbox = Sandbox(path)
sandbox.allow("https://hooks.example/a", to=url)
for number in range(first, first + 100_000):
    sandbox._middleware.deliver([PublishedEvent("any", number)], wait=0)
    print(number, flush=True)
    time.sleep(0.002)
"""


def test_no_accepted_event_is_lost_when_its_process_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.db"
    monkeypatch.setattr("chatkit.sandbox.delivery.RETRIES", (0.01,) * 50)
    with Sandbox(path) as sandbox:
        Caller(sandbox).webhook(HOOK)
    turns = iter(range(10**9))

    def moody(sock: socket.socket) -> None:  # every third is not taken
        sock.sendall(OK if next(turns) % 3 else answering(500))

    accepted: list[int] = []
    with listening(moody) as listener:
        for kill in range(4):
            command = [sys.executable, "-c", CHILD, str(path), listener.url, str(kill * 1000)]
            with processes.Popen(command, stdout=subprocess.PIPE, text=True) as child:
                assert child.stdout is not None
                for _ in range(20 + 7 * kill):
                    accepted.append(int(child.stdout.readline()))
                child.kill()
                accepted += [int(line) for line in child.stdout if line.endswith("\n")]
        with Sandbox(path) as sandbox:
            sandbox.allow(HOOK, to=listener.url)
            assert sandbox.settle(30)
        arrived = {json.loads(body)["data"] for body in listener.bodies}
    assert len(accepted) >= 100
    assert set(accepted) <= arrived
