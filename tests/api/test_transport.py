"""Transport: what is sent again and when, one deadline for all of it, many calls at once."""

from __future__ import annotations

import asyncio
import itertools
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path

import pytest
from faultserver import (
    OK,
    TOKEN,
    Asked,
    FaultServer,
    Line,
    Script,
    after,
    answers,
    connection,
    drip,
    drop,
    half_of_the_head,
    http,
    ok,
    reset,
    reset_in_the_middle,
    silence,
)
from ports import reserved

from chatkit.api.answer import Envelope
from chatkit.api.call import Call
from chatkit.api.transport import Transport
from chatkit.errors import (
    BadAnswer,
    CallError,
    DeadlinePassed,
    Fault,
    InputError,
    RateLimited,
    Refused,
    ServerFault,
    UnknownOutcome,
    Unreachable,
)

GET = Call("GET", ("contacts", 17))
WRITES = [
    Call("POST", ("contacts",), body={"number": "919876543210"}),
    Call("PUT", ("contacts", 17), body={"name": "Zoë"}),
    Call("PATCH", ("webhooks", 3), body={"is_active": False}),
    Call("DELETE", ("contacts", 17)),
]
POST = WRITES[0]
#: Seconds allowed beyond a deadline. Some hundredths are usual; a busy machine takes longer.


@pytest.fixture(autouse=True)
def real_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw each backoff as it is drawn for users, not short as for all other tests."""
    monkeypatch.setattr("chatkit.api.retry.random", random)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """Shorten the random waits to a hundredth, and tell from which spans they were drawn."""
    spans: list[tuple[float, float]] = []

    def uniform(low: float, high: float) -> float:
        spans.append((low, high))
        return high / 100

    monkeypatch.setattr(random, "uniform", uniform)
    return spans


def failure(transport: Transport, call: Call) -> CallError:
    with pytest.raises(CallError) as caught:
        transport.send(call)
    assert str(caught.value).startswith(f"{call}: ")
    transport.close()
    return caught.value


# --- what is sent again ---------------------------------------------------------------

PASSING: dict[str, Script] = {
    "closed": drop,
    "reset": reset,
    "reset in the middle": reset_in_the_middle,
    **{str(status): answers(status, b"") for status in (500, 502, 503, 504)},
}


@pytest.mark.parametrize("script", PASSING.values(), ids=PASSING)
def test_a_read_that_met_a_passing_failure_is_sent_again(
    script: Script, quick: list[tuple[float, float]]
) -> None:
    with FaultServer(script, script, script, ok) as server:
        transport = server.transport()
        assert transport.send(GET).success
        transport.close()
        assert len(server.asked) == 4
    assert quick == [(0, 1.0), (0, 2.0), (0, 4.0)], "full jitter, doubling"


def test_a_backoff_is_what_was_drawn_or_what_the_service_tells_if_that_is_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept, real = [], asyncio.sleep

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await real(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    monkeypatch.setattr(random, "uniform", lambda low, high: high / 2)
    scripts = [
        answers(503, b"", *report) for report in ([], ["retry-after: 0.5"], ["retry-after: 9"])
    ]
    with FaultServer(*scripts, ok) as server:
        transport = server.transport(deadline=60)
        assert transport.send(GET).success
        transport.close()
    assert [seconds for seconds in slept if seconds] == [0.5, 1.0, 9.0]


@pytest.mark.parametrize("script", PASSING.values(), ids=PASSING)
def test_a_read_is_given_up_after_four_times(
    script: Script, quick: list[tuple[float, float]]
) -> None:
    with FaultServer(script) as server:
        error = failure(server.transport(), GET)
        assert isinstance(error, UnknownOutcome)
        assert len(server.asked) == 4


@pytest.mark.parametrize("call", WRITES, ids=str)
@pytest.mark.parametrize("script", PASSING.values(), ids=PASSING)
def test_a_write_that_may_have_taken_effect_is_never_sent_again(script: Script, call: Call) -> None:
    with FaultServer(script, ok) as server:
        error = failure(server.transport(), call)
        assert isinstance(error, UnknownOutcome)
        assert "may or may not have taken effect" in str(error)
        assert len(server.asked) == 1


FINAL: dict[str, tuple[Script, type[CallError]]] = {
    **{str(s): (answers(s, b""), Refused) for s in (400, 401, 403, 404, 405, 409, 413, 415, 422)},
    "501": (answers(501, b""), ServerFault),
    "302": (answers(302, b"", "location: /x"), BadAnswer),
    "html": (answers(200, b"<p>hello", kind="text/html"), BadAnswer),
    "brotli": (answers(200, OK, "content-encoding: br"), BadAnswer),
    "success false": (answers(200, b'{"success":false}'), Refused),
}


@pytest.mark.parametrize("call", [GET, POST], ids=str)
@pytest.mark.parametrize(("script", "kind"), FINAL.values(), ids=FINAL)
def test_an_answer_that_stands_is_not_asked_for_again(
    script: Script, kind: type[CallError], call: Call
) -> None:
    with FaultServer(script) as server:
        assert isinstance(failure(server.transport(), call), kind)
        assert len(server.asked) == 1


@pytest.mark.parametrize("call", [GET, *WRITES], ids=str)
def test_whatever_never_left_is_sent_again(call: Call, quick: list[tuple[float, float]]) -> None:
    with reserved() as port:
        transport = Transport(connection(f"http://127.0.0.1:{port}"))
        assert type(failure(transport, call)) is Unreachable
    assert len(quick) == 3


def test_a_write_arrives_once_the_service_is_there() -> None:
    server = None

    def appear() -> None:
        nonlocal server
        time.sleep(0.05)
        server = FaultServer(ok, port=port)
        server.__enter__()

    with reserved() as port:
        transport = Transport(connection(f"http://127.0.0.1:{port}"), deadline=10)
        thread = threading.Thread(target=appear)
        thread.start()
        try:
            assert transport.send(POST).success
        finally:
            thread.join()
            transport.close()
            assert server is not None
            server.__exit__()
    assert len(server.asked) == 1


@pytest.mark.parametrize("call", [GET, *WRITES], ids=str)
def test_a_connection_lost_while_idle_costs_a_read_nothing_and_a_write_its_certainty(
    call: Call, quick: list[tuple[float, float]]
) -> None:
    effective: list[Asked] = []

    def once(line: Line, asked: Asked) -> None:
        ok(line, asked)
        if again := line.ask():  # it has read the second request, and closes all the same
            effective.append(again)
        line.reset()

    with FaultServer(once, ok) as server:
        transport = server.transport()
        transport.send(GET)
        if call.writes:
            assert type(failure(transport, call)) is UnknownOutcome
            assert (len(effective), len(server.asked)) == (1, 1)
        else:
            assert transport.send(call).success
            assert (len(effective), len(server.asked)) == (1, 2)
        transport.close()


# --- 429 ------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [GET, *WRITES], ids=str)
def test_a_429_is_waited_for_and_sent_again_whatever_the_call(call: Call) -> None:
    with FaultServer(answers(429, b"", "retry-after: 0.2"), ok) as server:
        transport = server.transport()
        assert transport.send(call).success
        transport.close()
        first, second = server.asked
        assert second.at - first.at >= 0.19
        assert (first.method, first.path, first.body) == (second.method, second.path, second.body)


@pytest.mark.parametrize(
    "fields",
    [
        ("x-ratelimit-reset: 0.2",),
        ("retry-after: Thu, 01 Jan 2026 12:00:01 GMT", "date: Thu, 01 Jan 2026 12:00:00 GMT"),
    ],
    ids=["reset", "date"],
)
def test_the_wait_is_understood_in_other_forms_too(fields: tuple[str, ...]) -> None:
    with FaultServer(answers(429, b"", *fields), ok) as server:
        transport = server.transport()
        assert transport.send(POST).success
        transport.close()
        assert server.asked[1].at - server.asked[0].at >= 0.19


@pytest.mark.parametrize("report", ["0", "-5", "soon", formatdate(0, usegmt=True), "", "9" * 40])
def test_a_429_that_does_not_say_when_is_tried_at_growing_intervals(
    report: str, quick: list[tuple[float, float]]
) -> None:
    refuses = answers(429, b"", f"retry-after: {report}")
    with FaultServer(*[refuses] * 7, ok) as server:
        transport = server.transport()
        assert transport.send(POST).success
        transport.close()
        assert len(server.asked) == 8, "more than four times: a refused call changed nothing"
    assert quick == [(s / 2, s) for s in (0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0)]


@pytest.mark.parametrize("report", ["86400", "100000000000000", "2147483647"])
def test_a_wait_beyond_the_deadline_ends_at_once(report: str) -> None:
    script = answers(429, b"", f"retry-after: {report}", f"date: {formatdate(usegmt=True)}")
    with FaultServer(script) as server:
        error = failure(server.transport(deadline=0.2), POST)
        assert type(error) is RateLimited
        assert error.retry_after is not None
        assert error.retry_after > 1000


def test_while_the_service_wants_to_be_left_alone_nothing_is_sent() -> None:
    with FaultServer(answers(429, b"", "retry-after: 3600")) as server:
        transport = server.transport()
        with pytest.raises(RateLimited) as first:
            transport.send(POST)
        with pytest.raises(RateLimited, match="not sent: the service asked to wait, 60 s") as next:
            transport.send(GET)
        transport.close()
        assert first.value.retry_after == 3600
        assert next.value.retry_after is not None
        assert 59 < next.value.retry_after <= 60, "and then it is asked again"
        assert len(server.asked) == 1


class Window:
    """A service that lets `width` calls through, then refuses all for `pause` seconds."""

    def __init__(self, width: int, pause: float, *, rounds: int) -> None:
        self.width, self.pause, self.rounds = width, pause, rounds
        self.lock = threading.Lock()
        self.let, self.until = 0, 0.0
        self.refused: list[list[float]] = []  # one list a window: when each call came

    def __call__(self, line: Line, asked: Asked) -> None:
        with self.lock:
            now = time.monotonic()
            if now < self.until:
                self.refused[-1].append(now - (self.until - self.pause))
            elif self.let == self.width and len(self.refused) < self.rounds:
                self.until, self.let = now + self.pause, 0
                self.refused.append([0.0])
            else:
                self.let += 1
            left = self.until - now
        if left > 0:
            line.send(http(429, b"", f"retry-after: {left:.3f}"))
        else:
            line.wait(0.005)
            line.send(http(200, OK))


def test_a_429_to_one_call_holds_back_all_of_them() -> None:
    window = Window(40, 0.4, rounds=1)
    with FaultServer(window) as server:
        transport = server.transport()
        came = list(transport.send_all([GET] * 200, concurrency=16))
        transport.close()
    assert not [c for c in came if isinstance(c, Fault)]
    # Those under way when the first was refused could not know of it.
    assert len(window.refused[0]) <= 16
    assert len([at for at in window.refused[0] if at > 0.1]) <= 2


def test_after_a_429_one_call_goes_first() -> None:
    """Refused again and again, sixteen callers send two calls in a window and not sixteen."""
    window = Window(40, 0.15, rounds=6)

    class Again(Window):
        def __call__(self, line: Line, asked: Asked) -> None:
            if self.refused:
                self.width = 0  # the first call after each window opens the next one
            super().__call__(line, asked)

    window = Again(40, 0.15, rounds=6)
    with FaultServer(window) as server:
        transport = server.transport()
        came = list(transport.send_all([GET] * 100, concurrency=16))
        transport.close()
    assert not [c for c in came if isinstance(c, Fault)]
    assert len(window.refused) == 6
    assert [len(calls) <= 2 for calls in window.refused[1:]] == [True] * 5


def test_after_a_429_more_and_more_go_at_once_again() -> None:
    lock, under_way, most, asked_for = threading.Lock(), 0, 0, 0

    def service(line: Line, asked: Asked) -> None:
        nonlocal under_way, most, asked_for
        with lock:
            asked_for += 1
            first = asked_for == 1
            under_way += 1
            most = max(most, under_way * (not first))
        line.wait(0.02)
        line.send(http(429, b"", "retry-after: 0.05") if first else http(200, OK))
        with lock:
            under_way -= 1

    with FaultServer(service) as server:
        transport = server.transport()
        next(iter(transport.send_all([GET])))  # it is refused: one at a time from now on
        most = 0
        came = list(transport.send_all([GET] * 100, concurrency=8))
        transport.close()
    assert len(came) == 100 and most >= 4


def test_in_a_storm_of_429_every_call_gets_through() -> None:
    """Nine of ten are refused: the oldest call goes first, so none is refused till its end."""
    dice, lock = random.Random(7), threading.Lock()

    def storm(line: Line, asked: Asked) -> None:
        with lock:
            refused = dice.random() < 0.9
        line.send(http(429, b"", "retry-after: 0.01") if refused else http(200, OK))

    with FaultServer(storm) as server:
        transport = server.transport(deadline=100)
        came = list(transport.send_all(calls(24), concurrency=16))
        transport.close()
    assert len(came) == 24
    assert not [c for c in came if isinstance(c, Fault)]


def test_threads_share_one_throttle() -> None:
    with FaultServer(answers(429, b"", "retry-after: 0.5"), ok) as server:
        transport = server.transport()
        first = threading.Thread(target=transport.send, args=[GET])
        first.start()
        time.sleep(0.15)
        transport.send(GET)
        first.join()
        transport.close()
        one, *others = server.asked
        assert len(others) == 2
        assert min(asked.at for asked in others) - one.at >= 0.49


def test_a_passing_failure_may_say_when_to_come_back() -> None:
    with FaultServer(answers(503, b"", "retry-after: 0.4"), ok) as server:
        transport = server.transport()
        assert transport.send(GET).success
        transport.close()
        assert server.asked[1].at - server.asked[0].at >= 0.39


# --- one deadline ---------------------------------------------------------------------

SLOW: dict[str, Script] = {
    "silence": silence,
    "half of the head": half_of_the_head,
    "one byte every 0.2 s": drip,
    "an endless row of early hints": lambda line, asked: early_hints(line),
}


def early_hints(line: Line) -> None:
    while not line.over.wait(0.05):
        line.send(b"HTTP/1.1 103 Early Hints\r\n\r\n")


@pytest.mark.parametrize("script", SLOW.values(), ids=SLOW)
@pytest.mark.parametrize("call", [GET, POST], ids=str)
def test_a_slow_answer_ends_at_the_deadline(script: Script, call: Call) -> None:
    with FaultServer(script) as server:
        error = failure(server.transport(deadline=0.6), call)
        assert type(error) is DeadlinePassed
        assert "no whole answer in 0.6 s" in str(error)
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("again", "kind"),
    [
        (answers(503, b"", "retry-after: 40"), ServerFault),
        (answers(429, b"", "retry-after: 40"), RateLimited),
        (silence, DeadlinePassed),
    ],
    ids=["503", "429", "silence"],
)
def test_retries_and_waiting_are_within_the_deadline(again: Script, kind: type[CallError]) -> None:
    """The first wait fits; a wait of 40 s does not, and a retry has what is left of the time."""
    with FaultServer(answers(503, b"", "retry-after: 0.1"), again) as server:
        deadline = 2.0 if again is silence else 30.0
        assert type(failure(server.transport(deadline=deadline), GET)) is kind
        assert len(server.asked) == 2


def test_many_short_retries_end_with_the_deadline() -> None:
    """A 429 is no attempt: it is asked again and again, and not after the deadline."""
    with FaultServer(answers(429, b"", "retry-after: 0.05")) as server:
        error = failure(server.transport(deadline=1.0), GET)
        assert isinstance(error, (RateLimited, DeadlinePassed))
        nothing_more_is_sent(server)


def test_a_wait_for_others_within_the_deadline_says_that_nothing_was_sent() -> None:
    with FaultServer(answers(429, b"", "retry-after: 0.5")) as server:
        transport = server.transport(deadline=0.3)
        for call in (GET, POST, POST):
            with pytest.raises(RateLimited):
                transport.send(call)
        transport.close()
        assert len(server.asked) == 1


# --- many calls -----------------------------------------------------------------------


def calls(count: int) -> Iterator[Call]:
    return (Call("GET", ("contacts", n)) for n in range(count))


def test_each_call_comes_back_once_in_any_order() -> None:
    def by_number(line: Line, asked: Asked) -> None:
        line.wait(random.random() / 100)
        number = int(asked.target.rpartition("/")[2])
        ok(line, asked) if number % 3 else line.send(http(404, b""))

    with FaultServer(by_number) as server:
        transport = server.transport()
        came = list(transport.send_all(calls(100), concurrency=16))
        transport.close()
    got: Counter[int] = Counter()
    for outcome in came:
        if isinstance(outcome, Fault):
            call, status = outcome.call, outcome.error.status
        else:
            call, envelope = outcome
            assert isinstance(envelope, Envelope)
            status = 200
        number = int(call.segments[1])
        got[number] += 1
        assert status == (200 if number % 3 else 404)
    assert got == Counter(range(100))


def test_of_many_writes_those_whose_answer_is_lost_come_back_as_faults_of_their_own() -> None:
    def lost(line: Line, asked: Asked) -> None:
        (ok if int(asked.target.rpartition("/")[2]) % 2 else drop)(line, asked)

    writes = [Call("PUT", ("contacts", n), body={"name": "Ana"}) for n in range(8)]
    with FaultServer(lost) as server:
        transport = server.transport()
        came = list(transport.send_all(writes, concurrency=4))
        transport.close()
    faults = [outcome for outcome in came if isinstance(outcome, Fault)]
    assert sorted(fault.call.segments[1] for fault in faults) == [0, 2, 4, 6]
    assert {type(fault.error) for fault in faults} == {UnknownOutcome}
    assert all(fault.error.call == fault.call for fault in faults)
    assert len(came) == len(writes)


@pytest.mark.parametrize("concurrency", [1, 3, 16])
def test_no_more_calls_are_under_way_than_wanted(concurrency: int) -> None:
    under_way, most, changed = 0, 0, threading.Condition()

    def count(line: Line, asked: Asked) -> None:
        nonlocal under_way, most
        with changed:
            under_way += 1
            most = max(most, under_way)
            changed.notify_all()
            changed.wait_for(lambda: most >= concurrency, timeout=60)  # the first ones are held
        time.sleep(0.005)  # so that one too many would be under way together with them
        with changed:
            under_way -= 1
        ok(line, asked)

    with FaultServer(count) as server:
        transport = server.transport()
        assert len(list(transport.send_all(calls(100), concurrency=concurrency))) == 100
        transport.close()
        assert most == concurrency
        assert server.connections <= concurrency


def test_no_call_under_way_would_be_no_call_at_all() -> None:
    with FaultServer(ok) as server, pytest.raises(ValueError, match="1 or more"):
        next(server.transport().send_all(calls(1), concurrency=0))


def test_nothing_is_sent_before_it_is_asked_for() -> None:
    with FaultServer(ok) as server:
        transport = server.transport()
        outcomes = transport.send_all(calls(10))
        time.sleep(0.1)
        outcomes.close()
        assert list(transport.send_all([])) == []
        assert server.asked == []


def test_a_slow_reader_holds_back_the_calls() -> None:
    taken = 0

    def counted() -> Iterator[Call]:
        nonlocal taken
        for call in calls(200):
            taken += 1
            yield call

    with FaultServer(ok) as server:
        transport = server.transport()
        for got, _ in enumerate(transport.send_all(counted(), concurrency=4), 1):
            if got == 1:
                assert taken == 8, "none waits for this thread to come round"
            if got % 20 == 0:
                time.sleep(0.05)
            assert taken <= got + 8, "four under way, and four that wait for their turn"
        transport.close()
        assert taken == len(server.asked) == 200


def test_calls_that_wait_are_sent_in_their_turn() -> None:
    held, asked_for = threading.Event(), threading.Semaphore(0)

    def hold(line: Line, asked: Asked) -> None:
        asked_for.release()
        held.wait(60)
        ok(line, asked)

    waiting = list(calls(9))
    with FaultServer(hold) as server:
        transport = server.transport()
        with transport.flight(2) as flight:
            flight.start(waiting[:5])
            assert all(asked_for.acquire(timeout=60) for _ in range(2))
            assert flight.out == 5
            flight.start(waiting[5:7])
            held.set()
            came = []
            while flight.out:
                came += [call for call, _ in flight.take_outcomes()]
        transport.close()
        assert sorted(map(str, came)) == sorted(map(str, waiting[:7]))
        assert len(server.asked) == 7


def test_what_waits_for_its_turn_is_dropped_with_the_flight() -> None:
    asked_for = threading.Semaphore(0)

    def hang(line: Line, asked: Asked) -> None:
        asked_for.release()
        assert line.ask() is None

    with FaultServer(hang) as server:
        transport = server.transport()
        with transport.flight(2) as flight:
            flight.start(calls(6))
            assert all(asked_for.acquire(timeout=60) for _ in range(2))
        nothing_more_is_sent(server)
        assert len(server.asked) == 2
        transport.close()


def test_calls_are_taken_in_the_thread_of_the_reader() -> None:
    """A database handle, a progress bar or another call of ours may stand behind them."""

    def nested() -> Iterator[Call]:
        assert threading.get_ident() == here
        for call in calls(5):
            assert transport.send(call).success
            yield call

    here = threading.get_ident()
    with FaultServer(ok) as server:
        transport = server.transport()
        assert len(list(transport.send_all(nested(), concurrency=2))) == 5
        transport.close()


def test_closing_early_cancels_what_is_under_way() -> None:
    gone = threading.Semaphore(0)

    def first_only(line: Line, asked: Asked) -> None:
        if asked.target == "contacts/0":
            ok(line, asked)
        while line.ask():
            continue
        gone.release()

    with FaultServer(first_only) as server:
        transport = server.transport(deadline=60)
        outcomes = transport.send_all(calls(1000), concurrency=8)
        next(outcomes)
        outcomes.close()
        assert all(gone.acquire(timeout=5) for _ in range(7)), "all connections are closed"
        assert len(server.asked) <= 9
        nothing_more_is_sent(server)
        transport.close()


def nothing_more_is_sent(server: FaultServer) -> None:
    time.sleep(0.3)  # what was on its way arrives
    count = len(server.asked)
    time.sleep(0.3)
    assert len(server.asked) == count


class Unusual(Exception):
    pass


@pytest.mark.parametrize("kind", [Unusual, InputError, KeyboardInterrupt, SystemExit])
def test_what_the_calls_raise_is_raised_as_itself(kind: type[BaseException]) -> None:
    def broken() -> Iterator[Call]:
        yield from calls(20)
        raise kind("mine")

    with FaultServer(ok) as server:
        transport = server.transport()
        with pytest.raises(kind, match="mine"):
            list(transport.send_all(broken()))
        nothing_more_is_sent(server)
        assert transport.send(GET).success, "and the transport goes on"
        transport.close()


def test_a_call_that_cannot_be_written_is_refused_where_it_stands() -> None:
    def mixed() -> Iterator[Call]:
        yield from calls(20)
        yield Call("POST", ("contacts",), body={"name": "\ud800"})
        yield from calls(20)

    with FaultServer(ok) as server:
        transport = server.transport()
        with pytest.raises(InputError, match="POST contacts: the body cannot be written"):
            list(transport.send_all(mixed(), concurrency=4))
        assert {asked.method for asked in server.asked} == {"GET"}
        transport.close()


def test_several_rows_of_calls_at_once() -> None:
    with FaultServer(ok) as server:
        transport = server.transport()
        rows = [transport.send_all(calls(30), concurrency=4) for _ in range(3)]
        pairs = [outcome for row in zip(*rows, strict=True) for outcome in row]
        assert len(pairs) == 90
        transport.close()


HUNGRY = """
import itertools, sys
sys.path.insert(0, sys.argv[2])
from ports import reserved
from faultserver import connection
from chatkit.api.transport import Transport
from chatkit.api.call import Call

def now():
    return int(open("/proc/self/statm").read().split()[1]) * 4

transport = Transport(connection(sys.argv[1]))
def send(count):
    for _ in transport.send_all(
        (Call("POST", ("contacts",), body={"number": str(n)}) for n in range(count)), concurrency=32
    ):
        pass
send(1_000)
before = now()
send(4_000)
print(now() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="/proc tells of memory")
def test_four_thousand_calls_need_no_more_memory_than_a_thousand() -> None:
    with FaultServer(ok) as server:
        done = subprocess.run(
            [sys.executable, "-c", HUNGRY, server.base_url, str(Path(__file__).parents[1])],
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert done.stderr == ""
        assert len(server.asked) == 5_000
    assert int(done.stdout) < 4096, "KB"


# --- a service in this process --------------------------------------------------------


def test_a_handler_answers_in_place_of_the_network() -> None:
    heard: list[tuple[str, str, dict[str, str], bytes]] = []

    def channel(
        method: str, target: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        heard.append((method, target, dict(headers), body))
        return 200, {"content-type": "application/json"}, OK

    transport = Transport(connection("http://localhost"), handler=channel)
    assert transport.send(Call("GET", ("contacts", "a b"), {"q": "ä"})).success
    assert len(list(transport.send_all([POST] * 5))) == 5
    transport.close()
    method, target, headers, body = heard[0]
    prefix = "/api/business/public/channels/chat/accounts/1001/"
    assert (method, target, body) == ("GET", prefix + "contacts/a%20b?q=%C3%A4", b"")
    assert headers["authorization"] == f"Bearer {TOKEN}"
    assert heard[1][0] == "POST"
    assert heard[1][3] == b'{"number":"919876543210"}'
    assert heard[1][2]["content-type"] == "application/json"


def test_a_handler_has_the_same_rules(quick: list[tuple[float, float]]) -> None:
    script = iter([(429, b""), (503, b""), ConnectionError(), (200, OK)])
    seen = itertools.count()

    def channel(*asked: object) -> tuple[int, dict[str, str], bytes]:
        next(seen)
        answer = next(script)
        if isinstance(answer, Exception):
            raise answer
        return answer[0], {"content-type": "application/json"}, answer[1]

    transport = Transport(connection("http://localhost"), handler=channel)
    assert transport.send(GET).success
    assert next(seen) == 4


def test_a_handler_that_breaks_leaves_a_write_in_doubt() -> None:
    def channel(*asked: object) -> tuple[int, dict[str, str], bytes]:
        raise ConnectionError

    assert (
        type(failure(Transport(connection("http://localhost"), handler=channel), POST))
        is UnknownOutcome
    )


def test_a_bug_of_a_handler_is_raised_as_itself() -> None:
    def channel(*asked: object) -> tuple[int, dict[str, str], bytes]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Transport(connection("http://localhost"), handler=channel).send(POST)


# --- a flight ----------------------------------------------------------------------------


def test_a_flight_brings_back_what_was_started() -> None:
    with FaultServer(ok) as server:
        transport = server.transport()
        with transport.flight() as flight:
            flight.start(WRITES)
            assert flight.out == len(WRITES)
            came: list[Call] = []
            while flight.out:
                came += [outcome[0] for outcome in flight.completed() if isinstance(outcome, tuple)]
        transport.close()
    assert sorted(map(repr, came)) == sorted(map(repr, WRITES))


def test_a_flight_waits_no_longer_than_it_is_told() -> None:
    with FaultServer(silence) as server:
        transport = server.transport()
        with transport.flight() as flight:
            flight.start([GET])
            assert flight.completed(0.1) == []
            assert flight.out == 1
        transport.close()


def test_a_flight_that_ends_cancels_what_is_out() -> None:
    with FaultServer(after(0.5, ok)) as server:
        transport = server.transport()
        with transport.flight() as flight:
            flight.start([GET])
            while not server.asked:
                time.sleep(0.01)
        flight.start([])
        assert flight.completed(0.8) == []
        transport.close()


def test_a_body_that_is_no_json_starts_none_of_the_batch() -> None:
    with FaultServer(ok) as server:
        transport = server.transport()
        with transport.flight() as flight:
            with pytest.raises(InputError):
                flight.start([GET, Call("POST", ("contacts",), body={"name": float("nan")})])
            assert flight.out == 0
        transport.close()
        assert not server.asked


def test_the_latency_of_a_service_is_known_after_some_answers() -> None:
    with FaultServer(after(0.05, ok)) as server:
        transport = server.transport()
        assert transport.latency == 0
        for _ in range(20):
            transport.send(GET)
        transport.close()
    assert 0.03 < transport.latency < 0.5


def test_the_time_of_the_service_is_what_its_latest_answer_told() -> None:
    def dated(line: Line, asked: Asked) -> None:
        line.send(http(200, OK, "Date: Thu, 01 Jan 2026 10:00:00 GMT"))

    with FaultServer(dated) as server:
        transport = server.transport()
        before = datetime.now(UTC)
        assert before <= transport.get_service_time() <= datetime.now(UTC)  # nothing was told yet
        transport.send(Call("GET", ("contacts",)))
        assert transport.get_service_time().isoformat() == "2026-01-01T10:00:00+00:00"
        transport.close()
