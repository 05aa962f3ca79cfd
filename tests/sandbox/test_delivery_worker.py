"""The delivery worker: at least once, on schedule, each webhook alone, and a true log."""

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import processes
import pytest
from caller import Caller
from internals import middleware_of
from listening import OK, HeldAnswer, Listener, answering, listening

from chatkit import Sandbox
from chatkit.errors import StoreError
from chatkit.sandbox.delivery import DeliveryOutcome, PublishedEvent
from chatkit.sandbox.webhooks import ActiveWebhook
from chatkit.signature import verify

HOOK = "https://hooks.example/a"
QUICK = (0.01, 0.02, 0.03)


@contextmanager
def receiving(
    reply: bytes | Callable[[socket.socket], None] = OK, retries: Sequence[float] = QUICK
) -> Iterator[tuple[Caller, Listener, dict[str, Any]]]:
    """A sandbox with one webhook, and its receiver."""
    with listening(reply) as listener, Sandbox(seed="empty") as sandbox:
        worker = middleware_of(sandbox).delivery_worker
        worker.timeout, worker.retries = 5.0, retries
        call = Caller(sandbox)
        sandbox.allow(HOOK, to=listener.url)
        yield call, listener, call.webhook(HOOK).data


def last_delivery(call: Caller) -> dict[str, Any]:
    (record,) = call("GET", "/webhooks").data
    result: dict[str, Any] = record
    return result


def test_a_failed_delivery_is_attempted_again_with_the_same_id() -> None:
    with receiving(answering(503)) as (call, listener, hook):
        (first,) = call.sandbox.deliver("any", {"n": 1})
        assert (first.status, first.http_status) == ("failed", 503)
        assert last_delivery(call)["last_delivery_status"] == "failed"
        listener.reply = OK
        assert call.sandbox.settle()
        record = last_delivery(call)
        attempts = call.sandbox.attempts
    assert record["last_delivery_status"] == "delivered"
    assert (record["last_delivery_http_status"], record["last_delivery_error"]) == (200, None)
    assert {a.kind for a in attempts} == {"any"}
    assert hook["webhook_secret"] not in repr((attempts, first))
    assert [a.attempt for a in attempts] == list(range(1, len(attempts) + 1))
    assert [a.again_in for a in attempts][:1] == [0.01]
    assert attempts[-1].again_in is None
    assert len(set(listener.bodies)) == 1
    assert len({a.message_id for a in attempts}) == 1


@pytest.mark.parametrize("retries", [(), (0.01,), (0.05, 0.2)])
def test_a_delivery_has_the_attempts_of_the_schedule_each_signed_for_its_time(
    retries: tuple[float, ...],
) -> None:
    times: list[float] = []

    def fail(sock: socket.socket) -> None:
        times.append(time.monotonic())
        sock.sendall(answering(500))

    with receiving(fail, retries=retries) as (call, listener, hook):
        call.sandbox.deliver("any", {})
        assert call.sandbox.settle()
        record = last_delivery(call)
        attempts = call.sandbox.attempts
    for headers, body in listener.messages:
        verify(body, headers, hook["webhook_secret"], now=int(time.time()))
    assert [a.again_in for a in attempts] == [*retries, None]
    for (before, after), seconds in zip(pairwise(times), retries, strict=True):
        assert after - before >= seconds
    assert (record["last_delivery_status"], record["last_delivery_http_status"]) == ("failed", 500)
    assert "500" in record["last_delivery_error"]


def test_a_status_410_and_a_refusal_end_the_attempts_and_leave_the_webhook_active() -> None:
    with receiving(answering(410)) as (call, listener, hook):
        for allowed, http_status in ((True, 410), (False, None)):
            if not allowed:
                call("PATCH", f"/webhooks/{hook['id']}", {"url": "https://elsewhere.example/"})
            (outcome,) = call.sandbox.deliver("any", {})
            assert outcome.status == ("failed" if allowed else "refused")
            assert call.sandbox.settle()
            record = last_delivery(call)
            assert len(listener.requests) == 1
            assert record["is_active"] is True
            assert record["last_delivery_status"] == outcome.status
            assert record["last_delivery_http_status"] == http_status


def test_a_slow_receiver_delays_no_other() -> None:
    held = HeldAnswer()
    with receiving(held) as (call, _, hook), listening() as quick:
        call.sandbox.allow("https://hooks.example/b", to=quick.url)
        second = call.webhook("https://hooks.example/b").data
        with ThreadPoolExecutor(1) as pool:
            outcomes = pool.submit(call.sandbox.deliver, "any", {"n": 1})
            assert held.requested.wait(20)
            for _ in range(100):  # the quick one has its delivery while the slow one waits
                if quick.requests:
                    break
                time.sleep(0.05)
            assert len(quick.requests) == 1
            assert call("GET", "/webhooks").status == 200
            held.released.set()
    assert {outcome.webhook_id: outcome.status for outcome in outcomes.result()} == {
        hook["id"]: "delivered",
        second["id"]: "delivered",
    }


def test_a_delivery_to_a_busy_receiver_is_waiting() -> None:
    held = HeldAnswer()
    with receiving(held) as (call, listener, hook):
        events = [PublishedEvent("any", 1), PublishedEvent("any", 2)]
        first, second = middleware_of(call.sandbox).deliver(events, wait=0.05)
        assert (first.webhook_id, first.status) == (hook["id"], "waiting")
        assert second.status == "waiting"
        held.released.set()
        assert call.sandbox.settle()
        assert [json.loads(body)["data"] for body in listener.bodies] == [1, 2]


def test_a_delivery_that_waits_for_its_next_attempt_delays_no_event_and_asks_for_no_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with receiving(answering(500), retries=(30.0,)) as (call, listener, _):
        assert call.sandbox.deliver("any", 1)[0].status == "failed"
        listener.reply = OK
        assert call.sandbox.deliver("any", 2)[0].status == "delivered"
        assert [json.loads(body)["data"] for body in listener.bodies] == [1, 2]
        assert not call.sandbox.settle(0.01)
        queue, looks = middleware_of(call.sandbox).service.queue, list[int]()
        find = queue.find_next_due
        monkeypatch.setattr(queue, "find_next_due", lambda *key: looks.append(1) or find(*key))
        time.sleep(0.2)
        assert len(looks) <= 2


CHANGES: dict[str, Callable[[Caller, str], object]] = {
    "deleted": lambda call, path: call("DELETE", path),
    "inactive": lambda call, path: call("PATCH", path, {"is_active": False}),
    "moved": lambda call, path: call("PATCH", path, {"url": "https://hooks.example/new"}),
    "reset": lambda call, path: call.sandbox.reset(),
}


@pytest.mark.parametrize("how", CHANGES)
def test_a_further_attempt_goes_to_the_webhook_as_it_is_now(how: str) -> None:
    with receiving(answering(500), retries=(0.2,)) as (call, first, hook), listening() as new:
        call.sandbox.allow("https://hooks.example/new", to=new.url)
        call.sandbox.deliver("any", {})
        CHANGES[how](call, f"/webhooks/{hook['id']}")
        if how == "reset":
            call.webhook("https://hooks.example/new")
        assert call.sandbox.settle()
    assert (len(first.requests), len(new.requests)) == (1, 1 if how == "moved" else 0)


@pytest.mark.parametrize("how", ["reset", "deleted"])
def test_the_outcome_of_an_attempt_is_not_recorded_for_a_later_webhook(how: str) -> None:
    held = HeldAnswer()
    with receiving(held) as (call, _, hook):
        middleware_of(call.sandbox).deliver([PublishedEvent("any", 1)], wait=0)
        assert held.requested.wait(20)
        if how == "reset":
            call.sandbox.reset()
        else:
            call("DELETE", f"/webhooks/{hook['id']}")
        again = call.webhook(HOOK).data["id"]
        assert (again == hook["id"]) == (how == "reset")
        held.released.set()
        assert call.sandbox.settle()
        assert last_delivery(call)["last_delivery_at"] is None
        assert len(call.sandbox.attempts) == (0 if how == "reset" else 1)


def test_many_events_arrive_once_each_and_in_order() -> None:
    with receiving() as (call, listener, _):
        outcomes = middleware_of(call.sandbox).deliver(
            [PublishedEvent("any", n) for n in range(150)], wait=20
        )
        assert {delivery.status for delivery in outcomes} == {"delivered"}
    assert [json.loads(body)["data"] for body in listener.bodies] == list(range(150))


def test_waiting_deliveries_in_a_file_are_made_by_the_next_sandbox(
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


def test_an_attempt_whose_outcome_could_not_be_stored_is_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chatkit.sandbox.delivery._PAUSE", 0.01)
    with receiving() as (call, listener, _):
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


def test_an_unexpected_error_is_a_failed_attempt_and_does_not_end_the_worker(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(webhook: ActiveWebhook, *_: Any) -> DeliveryOutcome:
        monkeypatch.undo()
        raise RuntimeError(webhook.secret)

    monkeypatch.setattr("chatkit.sandbox.delivery.attempt_delivery", broken)
    with receiving() as (call, listener, hook):
        (outcome,) = call.sandbox.deliver("any", {})
        assert (outcome.status, outcome.error) == ("failed", "The sandbox has a bug")
        assert call.sandbox.settle()
        assert len(listener.requests) == 1
    assert "unexpected RuntimeError" in caplog.text
    assert hook["webhook_secret"] not in caplog.text


def test_closing_a_sandbox_waits_for_attempts_under_way_and_for_no_further_ones() -> None:
    begun = threading.Event()

    def late(sock: socket.socket) -> None:
        begun.set()
        time.sleep(0.3)
        sock.sendall(answering(500))

    with receiving(late, retries=(3600.0,)) as (call, _, hook):
        middleware_of(call.sandbox).deliver([PublishedEvent("any", {})], wait=0)
        assert begun.wait(20)
    assert [attempt.http_status for attempt in call.sandbox.attempts] == [500]
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
