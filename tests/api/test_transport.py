"""Transport: what is sent again and when, one deadline for all of it, many calls at once."""

from __future__ import annotations

import asyncio
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
from typing import Any

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


@pytest.fixture(autouse=True)
def spans(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """Shorten random waits to a hundredth, and return the spans from which they are drawn."""
    spans: list[tuple[float, float]] = []

    def uniform(low: float, high: float) -> float:
        spans.append((low, high))
        return high / 100

    monkeypatch.setattr("chatkit.api.retry.random", random)
    monkeypatch.setattr(random, "uniform", uniform)
    return spans


def failure(transport: Transport, call: Call) -> CallError:
    with pytest.raises(CallError) as caught:
        transport.send(call)
    assert str(caught.value).startswith(f"{call}: ")
    return caught.value


# --- what is sent again ---------------------------------------------------------------

#: What a call may meet, the error of it, and whether a read is sent again.
FAILING: dict[str, tuple[Script, type[CallError], bool]] = {
    "closed": (drop, UnknownOutcome, True),
    "reset": (reset, UnknownOutcome, True),
    "reset in the middle": (reset_in_the_middle, UnknownOutcome, True),
    **{str(s): (answers(s, b""), UnknownOutcome, True) for s in (500, 502, 503, 504)},
    **{
        str(status): (answers(status, b""), Refused, False)
        for status in (400, 401, 403, 404, 405, 409, 413, 415, 422)
    },
    "501": (answers(501, b""), ServerFault, False),
    "302": (answers(302, b"", "location: /x"), BadAnswer, False),
    "html": (answers(200, b"<p>hello", kind="text/html"), BadAnswer, False),
    "brotli": (answers(200, OK, "content-encoding: br"), BadAnswer, False),
    "success false": (answers(200, b'{"success":false}'), Refused, False),
}


@pytest.mark.parametrize(("script", "kind", "passing"), FAILING.values(), ids=FAILING)
def test_a_read_that_meets_a_passing_failure_is_sent_four_times_and_all_else_once(
    script: Script, kind: type[CallError], passing: bool
) -> None:
    with FaultServer(script) as server:
        transport = server.transport()
        for call in (GET, *WRITES):
            server.asked.clear()
            error = failure(transport, call)
            assert isinstance(error, kind)
            assert len(server.asked) == (4 if passing and not call.writes else 1)
            if isinstance(error.status, int):
                assert (transport.state == "token refused") is (error.status == 401)
            if passing:
                assert ("may or may not have taken effect" in str(error)) is call.writes


def test_a_read_that_succeeds_in_the_end_is_a_success(spans: list[tuple[float, float]]) -> None:
    with FaultServer(drop, reset_in_the_middle, answers(503, b""), ok) as server:
        assert server.transport().send(GET).success
    assert spans == [(0, 1.0), (0, 2.0), (0, 4.0)], "full jitter, doubling"


def test_a_backoff_is_what_was_drawn_or_what_the_service_asks_if_that_is_more(
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
        assert server.transport(deadline=60).send(GET).success
    assert [seconds for seconds in slept if seconds] == [0.5, 1.0, 9.0]


def test_whatever_never_left_is_sent_again(spans: list[tuple[float, float]]) -> None:
    with reserved() as port:
        transport = Transport(connection(f"http://127.0.0.1:{port}"))
        for call in (GET, *WRITES):
            spans.clear()
            assert type(failure(transport, call)) is Unreachable
            assert len(spans) == 3
    transport.close()


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
    call: Call,
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
        else:
            assert transport.send(call).success
        assert (len(effective), len(server.asked)) == (1, 1 if call.writes else 2)


# --- 429 ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "status", "fields"),
    [
        *((call, 429, ["retry-after: 0.2"]) for call in (GET, *WRITES)),
        (POST, 429, ["x-ratelimit-reset: 0.2"]),
        (POST, 429, ["retry-after: Thu, 01 Jan 2026 12:00:01 GMT",
                     "date: Thu, 01 Jan 2026 12:00:00 GMT"]),
        (GET, 503, ["retry-after: 0.2"]),
    ],
)  # fmt: skip
def test_a_wait_that_the_service_asks_for_is_kept_and_the_call_sent_again(
    call: Call, status: int, fields: list[str]
) -> None:
    with FaultServer(answers(status, b"", *fields), ok) as server:
        assert server.transport().send(call).success
        first, second = server.asked
        assert second.at - first.at >= 0.19
        assert (first.method, first.path, first.body) == (second.method, second.path, second.body)


@pytest.mark.parametrize("report", ["0", "-5", "soon", formatdate(0, usegmt=True), "", "9" * 40])
def test_a_429_that_does_not_say_when_is_tried_at_growing_intervals(
    report: str, spans: list[tuple[float, float]]
) -> None:
    refuses = answers(429, b"", f"retry-after: {report}")
    with FaultServer(*[refuses] * 7, ok) as server:
        assert server.transport().send(POST).success
        assert len(server.asked) == 8, "more than four times: a refused call changed nothing"
    assert spans == [(s / 2, s) for s in (0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0)]


@pytest.mark.parametrize("report", ["86400", "100000000000000", "2147483647"])
def test_a_wait_beyond_the_deadline_ends_at_once_and_nothing_else_is_sent(report: str) -> None:
    script = answers(429, b"", f"retry-after: {report}", f"date: {formatdate(usegmt=True)}")
    with FaultServer(script) as server:
        transport = server.transport()
        first, *others = (failure(transport, call) for call in (POST, GET, POST))
        assert type(first) is RateLimited and first.retry_after > 1000
        for error in others:
            assert "not sent: the service asked to wait, 60 s more" in str(error)
            assert 59 < error.retry_after <= 60, "and then it is asked again"
        assert len(server.asked) == 1


class Window:
    """A service that lets `width` calls through, then refuses all for `pause` seconds.

    After the first such pause it lets `then` calls through.
    """

    def __init__(self, width: int, pause: float, *, rounds: int, then: int) -> None:
        self.width, self.pause, self.rounds, self.then = width, pause, rounds, then
        self.lock = threading.Lock()
        self.let, self.until = 0, 0.0
        self.refused: list[list[float]] = []  # one list a window: when each call came

    def __call__(self, line: Line, asked: Asked) -> None:
        with self.lock:
            now = time.monotonic()
            if now < self.until:
                self.refused[-1].append(now - (self.until - self.pause))
            elif self.let == self.width and len(self.refused) < self.rounds:
                self.until, self.let, self.width = now + self.pause, 0, self.then
                self.refused.append([0.0])
            else:
                self.let += 1
            left = self.until - now
        if left > 0:
            line.send(http(429, b"", f"retry-after: {left:.3f}"))
        else:
            line.wait(0.005)
            line.send(http(200, OK))


def send_all(script: Script, sent: list[Call], concurrency: int, **options: Any) -> None:
    """Send calls to a server, and check that all succeed."""
    with FaultServer(script) as server:
        came = list(server.transport(**options).send_all(sent, concurrency=concurrency))
    assert len(came) == len(sent) and not [each for each in came if isinstance(each, Fault)]


def test_a_429_to_one_call_holds_back_all_of_them() -> None:
    window = Window(40, 0.4, rounds=1, then=40)
    send_all(window, [GET] * 200, 16)
    # Those under way when the first was refused could not know of it.
    assert len(window.refused[0]) <= 16
    assert len([at for at in window.refused[0] if at > 0.1]) <= 2


def test_after_a_429_one_call_goes_first() -> None:
    """Refused again and again, sixteen callers send two calls in a window and not sixteen."""
    window = Window(40, 0.15, rounds=6, then=0)  # the first call after a window opens the next
    send_all(window, [GET] * 100, 16)
    assert len(window.refused) == 6
    assert [len(calls) <= 2 for calls in window.refused[1:]] == [True] * 5


def test_after_a_429_more_and_more_go_at_once_again() -> None:
    lock, under_way, most = threading.Lock(), 0, 0

    def service(line: Line, asked: Asked) -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        line.wait(0.02)
        line.send(http(200, OK))
        with lock:
            under_way -= 1

    with FaultServer(answers(429, b"", "retry-after: 0.05"), service) as server:
        transport = server.transport()
        transport.send(GET)  # it is refused: one at a time from now on
        most = 0
        assert len(list(transport.send_all([GET] * 100, concurrency=8))) == 100
    assert most >= 4


def test_in_a_storm_of_429_every_call_gets_through() -> None:
    """Nine of ten are refused: the oldest call goes first, so none is refused till its end."""
    dice, lock = random.Random(7), threading.Lock()

    def storm(line: Line, asked: Asked) -> None:
        with lock:
            refused = dice.random() < 0.9
        line.send(http(429, b"", "retry-after: 0.01") if refused else http(200, OK))

    send_all(storm, list(calls(24)), 16, deadline=100)


def test_threads_share_one_throttle() -> None:
    with FaultServer(answers(429, b"", "retry-after: 0.5"), ok) as server:
        transport = server.transport()
        first = threading.Thread(target=transport.send, args=[GET])
        first.start()
        time.sleep(0.15)
        transport.send(GET)
        first.join()
        one, *others = server.asked
        assert len(others) == 2
        assert min(asked.at for asked in others) - one.at >= 0.49


# --- one deadline ---------------------------------------------------------------------


def early_hints(line: Line, asked: Asked) -> None:
    while not line.over.wait(0.05):
        line.send(b"HTTP/1.1 103 Early Hints\r\n\r\n")


@pytest.mark.parametrize("script", [silence, half_of_the_head, drip, early_hints])
def test_a_slow_answer_ends_at_the_deadline(script: Script) -> None:
    with FaultServer(script) as server:
        transport = server.transport(deadline=0.5)
        for count, call in enumerate((GET, POST), 1):
            error = failure(transport, call)
            assert type(error) is DeadlinePassed
            assert "no whole answer in 0.5 s" in str(error)
            assert len(server.asked) == count


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
        deadline = 1.0 if again is silence else 30.0
        assert type(failure(server.transport(deadline=deadline), GET)) is kind
        assert len(server.asked) == 2


def test_many_short_retries_end_with_the_deadline() -> None:
    """A 429 is no attempt: it is asked again and again, and not after the deadline."""
    with FaultServer(answers(429, b"", "retry-after: 0.05")) as server:
        error = failure(server.transport(deadline=0.6), GET)
        assert isinstance(error, (RateLimited, DeadlinePassed))
        nothing_more_is_sent(server)


# --- many calls -----------------------------------------------------------------------


def calls(count: int) -> Iterator[Call]:
    return (Call("GET", ("contacts", n)) for n in range(count))


def test_each_call_comes_back_once_in_any_order_and_a_lost_one_as_a_fault_of_its_own() -> None:
    results = {0: None, 1: UnknownOutcome, 2: Refused}

    def by_number(line: Line, asked: Asked) -> None:
        line.wait(random.random() / 100)
        kind = results[int(asked.target.rpartition("/")[2]) % 3]
        line.close() if kind is UnknownOutcome else line.send(http(400 if kind else 200, OK))

    writes = [Call("PUT", ("contacts", n), body={"name": "Ana"}) for n in range(99)]
    got: Counter[object] = Counter()
    with FaultServer(by_number) as server:
        for outcome in server.transport().send_all(writes, concurrency=16):
            call = outcome.call if isinstance(outcome, Fault) else outcome[0]
            kind = type(outcome.error) if isinstance(outcome, Fault) else None
            assert not isinstance(outcome, Fault) or outcome.error.call == call
            assert kind is results[int(call.segments[1]) % 3]
            got[call.segments[1]] += 1
    assert got == Counter(range(99))


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
        assert most == concurrency
        assert server.connections <= concurrency
        with pytest.raises(ValueError, match="1 or more"):
            next(transport.send_all(calls(1), concurrency=0))


def test_nothing_is_sent_before_it_is_asked_for_and_several_rows_go_at_once() -> None:
    with FaultServer(ok) as server:
        transport = server.transport()
        outcomes = transport.send_all(calls(10))
        time.sleep(0.1)
        outcomes.close()
        assert list(transport.send_all([])) == []
        assert server.asked == []
        rows = [transport.send_all(calls(30), concurrency=4) for _ in range(3)]
        assert len([outcome for row in zip(*rows, strict=True) for outcome in row]) == 90


def test_a_slow_reader_holds_back_the_calls_which_are_taken_in_its_thread() -> None:
    """A database handle, a progress bar or another call of ours may stand behind them."""
    taken, here = 0, threading.get_ident()

    def counted() -> Iterator[Call]:
        nonlocal taken
        for call in calls(100):
            taken += 1
            assert threading.get_ident() == here
            assert taken % 20 or transport.send(call).success
            yield call

    with FaultServer(ok) as server:
        transport = server.transport()
        for got, _ in enumerate(transport.send_all(counted(), concurrency=4), 1):
            if got == 1:
                assert taken == 8, "none waits for this thread to come round"
            if got % 20 == 0:
                time.sleep(0.05)
            assert taken <= got + 8, "four under way, and four that wait for their turn"
        assert (taken, len(server.asked)) == (100, 105)


def test_closing_early_cancels_what_is_under_way() -> None:
    gone = threading.Semaphore(0)

    def first_only(line: Line, asked: Asked) -> None:
        if asked.target == "contacts/0":
            ok(line, asked)
        while line.ask():
            continue
        gone.release()

    with FaultServer(first_only) as server:
        outcomes = server.transport(deadline=60).send_all(calls(1000), concurrency=8)
        next(outcomes)
        outcomes.close()
        assert all(gone.acquire(timeout=5) for _ in range(7)), "all connections are closed"
        assert len(server.asked) <= 9
        nothing_more_is_sent(server)


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


def test_a_call_that_cannot_be_written_is_refused_where_it_stands() -> None:
    unwritable = Call("POST", ("contacts",), body={"name": "\ud800"})

    def mixed() -> Iterator[Call]:
        yield from calls(20)
        yield unwritable
        yield from calls(20)

    with FaultServer(ok) as server:
        transport = server.transport()
        with transport.flight() as flight:
            with pytest.raises(InputError):
                flight.start([POST, unwritable])
            assert flight.out == 0, "none of the batch is started"
        with pytest.raises(InputError, match="POST contacts: the body cannot be written"):
            list(transport.send_all(mixed(), concurrency=4))
        assert {asked.method for asked in server.asked} == {"GET"}


HUNGRY = """
import sys
sys.path.insert(0, sys.argv[2])
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
send(500)
before = now()
send(2_000)
print(now() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="/proc tells of memory")
def test_two_thousand_calls_need_no_more_memory_than_five_hundred() -> None:
    with FaultServer(ok) as server:
        done = subprocess.run(
            [sys.executable, "-c", HUNGRY, server.base_url, str(Path(__file__).parents[1])],
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert done.stderr == ""
        assert len(server.asked) == 2_500
    assert int(done.stdout) < 2048, "KB"


# --- a service in this process --------------------------------------------------------


def handled(*script: tuple[int, bytes] | Exception) -> tuple[Transport, list[tuple[Any, ...]]]:
    """A transport to a service in this process; the last answer serves all that follow."""
    left, heard = list(script), list[tuple[Any, ...]]()

    def channel(*asked: Any) -> tuple[int, dict[str, str], bytes]:
        heard.append(asked)
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer[0], {"content-type": "application/json"}, answer[1]

    return Transport(connection("http://localhost"), handler=channel), heard


def test_a_handler_answers_in_place_of_the_network_by_the_same_rules() -> None:
    transport, heard = handled((200, OK))
    assert transport.send(Call("GET", ("contacts", "a b"), {"q": "ä"})).success
    assert len(list(transport.send_all([POST] * 5))) == 5
    method, target, headers, body = heard[0]
    prefix = "/api/business/public/channels/chat/accounts/1001/"
    assert (method, target, body) == ("GET", prefix + "contacts/a%20b?q=%C3%A4", b"")
    assert headers["authorization"] == f"Bearer {TOKEN}"
    assert heard[1][0] == "POST" and heard[1][3] == b'{"number":"919876543210"}'
    assert heard[1][2]["content-type"] == "application/json"
    transport, heard = handled((429, b""), (503, b""), ConnectionError(), (200, OK))
    assert transport.send(GET).success and len(heard) == 4
    assert type(failure(handled(ConnectionError())[0], POST)) is UnknownOutcome
    with pytest.raises(ZeroDivisionError):  # a bug of a handler is raised as itself
        handled(ZeroDivisionError())[0].send(POST)


# --- a flight ----------------------------------------------------------------------------


def test_calls_that_wait_are_sent_in_their_turn() -> None:
    held, asked_for = threading.Event(), threading.Semaphore(0)

    def hold(line: Line, asked: Asked) -> None:
        asked_for.release()
        held.wait(60)
        ok(line, asked)

    waiting = list(calls(7))
    with FaultServer(hold) as server, server.transport().flight(2) as flight:
        flight.start(waiting[:5])
        assert all(asked_for.acquire(timeout=60) for _ in range(2))
        assert flight.out == 5
        assert flight.completed(0.1) == [], "it waits no longer than it is asked to"
        flight.start(waiting[5:])
        held.set()
        came: list[Call] = []
        while flight.out:
            came += [call for call, _ in flight.completed()]  # type: ignore[misc]
        assert sorted(map(str, came)) == sorted(map(str, waiting))
        assert len(server.asked) == 7


def test_what_waits_or_is_out_is_dropped_with_the_flight() -> None:
    asked_for = threading.Semaphore(0)

    def hang(line: Line, asked: Asked) -> None:
        asked_for.release()
        assert line.ask() is None

    with FaultServer(hang) as server:
        with server.transport().flight(2) as flight:
            flight.start(calls(6))
            assert all(asked_for.acquire(timeout=60) for _ in range(2))
        nothing_more_is_sent(server)
        assert len(server.asked) == 2
        flight.start([])
        assert flight.completed(0.1) == []


def test_latency_and_time_of_a_service_are_those_of_its_latest_answers() -> None:
    dated = answers(200, OK, "Date: Thu, 01 Jan 2026 10:00:00 GMT")
    with FaultServer(after(0.05, dated)) as server:
        transport = server.transport()
        before = datetime.now(UTC)
        assert before <= transport.get_service_time() <= datetime.now(UTC)  # no answer yet
        assert transport.latency == 0
        for _ in range(10):
            transport.send(GET)
        assert transport.get_service_time().isoformat() == "2026-01-01T10:00:00+00:00"
        assert 0.03 < transport.latency < 0.5
