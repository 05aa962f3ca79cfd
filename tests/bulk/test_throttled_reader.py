"""ThrottledReader: reads go out as fast as the throttle of a run lets them, until it is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

import pytest
from bulk.wayward import Held, Service, number_of, slow, wayward

from chatkit.api.call import Call
from chatkit.api.throttle import Throttle
from chatkit.bulk.reconcile import Stopped, ThrottledReader


@contextmanager
def asking(
    throttle: Throttle | None = None, **how
) -> Iterator[tuple[Service, ThrottledReader, threading.Event]]:
    """A service with five contacts, who asks it, and what says that he must stop."""
    stop = threading.Event()
    with wayward() as service, service.client(**how) as client:
        for n in range(5):
            service.caller.contact(number_of(n))
        yield service, ThrottledReader(client.transport, throttle or Throttle(), stop.is_set), stop


PAGE = Call("GET", ("contacts",), {"page": 1, "pageSize": 3})


@contextmanager
def pressed(stop: threading.Event) -> Iterator[None]:
    """Have somebody stop it in a moment, and take that back after the block."""
    press = threading.Timer(0.2, stop.set)
    press.start()
    yield
    press.join()
    stop.clear()


def pages(count: int) -> list[Call]:
    return [Call("GET", ("contacts",), {"page": n + 1, "pageSize": 1}) for n in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 30])
@pytest.mark.parametrize("concurrency", [1, 3, 50])
def test_of_many_calls_each_comes_back_once(count: int, concurrency: int) -> None:
    """The slow ones too, after there are no more to send."""
    with asking(Throttle(4)) as (service, reader, _):
        for page, seconds in ((1, 0.05), (30, 0.02), (29, 0.1)):
            service.on("GET", f"page={page}&", slow(seconds))
        calls = pages(count)
        back = [call for call, _ in reader.send_all(iter(calls), concurrency=concurrency)]
        assert sorted(call.target for call in back) == sorted(call.target for call in calls)
        assert len(service.sent) == count


@pytest.mark.parametrize(("slots", "concurrency"), [(2, 8), (8, 2)])
def test_never_more_are_under_way_than_the_run_or_the_caller_allows(slots, concurrency) -> None:
    with asking(Throttle(slots)) as (service, reader, _):
        inside, most, lock = [0], [0], threading.Lock()

        def counted(do):
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            time.sleep(0.02)
            answer = do()
            with lock:
                inside[0] -= 1
            return answer

        service.on("GET", "contacts", forever=counted)
        assert len(list(reader.send_all(pages(12), concurrency=concurrency))) == 12
        assert most == [2]


def test_the_rate_of_the_run_holds_for_reads_too() -> None:
    now = [0.0]
    with asking(Throttle(8, rate=4, clock=lambda: now[0])) as (service, reader, stop):
        outcomes = reader.send_all(pages(6))
        assert len(list(islice(outcomes, 4))) == 4
        with pressed(stop), pytest.raises(Stopped):
            next(outcomes)
        assert len(service.sent) == 4, "four a second, and this one has not passed"
        now[0] += 2.0
        assert len(list(reader.send_all(pages(2)))) == 2


def test_reads_wait_while_the_service_asks_to_wait() -> None:
    now = [0.0]
    throttle = Throttle(clock=lambda: now[0])
    with asking(throttle) as (service, reader, stop):
        throttle.hold(3600)
        with pressed(stop), pytest.raises(Stopped):
            reader.send(PAGE)
        assert service.sent == []
        now[0] += 3600
        assert reader.send(PAGE).success


# --- the stop button --------------------------------------------------------------------------


def test_what_is_under_way_is_let_go() -> None:
    with asking() as (service, reader, stop):
        held = Held()
        service.on("GET", "contacts", forever=held)
        service.arrival = lambda sent: stop.set()
        with held, pytest.raises(Stopped):
            list(reader.send_all(pages(9)))
        assert held.answered_before_release == 0


def test_who_asks_for_no_more_has_nothing_sent() -> None:
    """A generator that is closed lets go of what is under way."""
    with asking(Throttle(2)) as (service, reader, _):
        outcomes = reader.send_all(pages(30))
        assert len(list(islice(outcomes, 3))) == 3
        outcomes.close()
        sent = len(service.sent)
        assert sent <= 6
        time.sleep(0.1)
        assert len(service.sent) == sent
