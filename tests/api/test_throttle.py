"""Throttle: no second has more calls than it should, none fewer than it could; noise is no limit.

Time is invented here: an event loop whose clock jumps to the next moment at which something
happens, so nothing waits and everything comes out the same each time.
"""

from __future__ import annotations

import asyncio
import math
import random
import selectors
from collections import deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import chain, cycle, pairwise, repeat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.api.throttle import AdaptiveThrottle, Throttle, Window

# --- a window ------------------------------------------------------------------------------


def sent(window: Window, asks: list[float]) -> list[float]:
    """Return the times of calls, if after each of these spans as many are sent as are allowed.

    Each is answered at once.
    """
    now, gone = 0.0, []
    for span in asks:
        now += span
        free = window.free(now)
        window.count_sent(now, free)
        window.completed(now, free)
        gone += [now] * free
    return gone


@given(
    st.floats(0.05, 200), st.lists(st.floats(0, 3, allow_subnormal=False), min_size=1, max_size=60)
)
def test_no_second_has_more_calls_than_the_rate(rate: float, asks: list[float]) -> None:
    gone = sent(Window(rate), asks)
    most = math.ceil(rate)
    for early, late in zip(gone, gone[most:], strict=False):  # one more than may share a second
        assert late - early >= most / rate


@given(
    st.floats(1, 100),
    st.floats(0.001, 0.9),  # a call that takes longer than a second counts from when it left
    st.lists(
        st.tuples(st.floats(0, 0.3), st.floats(0, 0.06), st.floats(0, 1)), min_size=2, max_size=80
    ),
)
def test_no_second_has_more_calls_than_the_rate_where_the_service_counts_them(
    rate: float, safe_repr: float, steps: list[tuple[float, float, float]]
) -> None:
    """The way there takes a while, and each is counted some time after that, before its answer."""
    window, now = Window(rate), 10.0
    under_way: list[float] = []  # when the answers come
    counted: list[float] = []
    window.count_sent(0.0)
    window.completed(safe_repr)  # one call that was as quick as can be
    for span, later, at in steps:
        now += span
        back = [answered for answered in under_way if answered <= now]
        under_way = [answered for answered in under_way if answered > now]
        window.completed(now, len(back))
        if window.free(now) > 0:
            window.count_sent(now)
            counted.append(now + safe_repr + at * later)
            under_way.append(now + safe_repr + later)
    counted.sort()
    most = math.ceil(rate)
    for early, late in zip(counted, counted[most:], strict=False):
        assert late - early >= most / rate


def seconds(latencies: Iterator[float], calls: int = 1000) -> float:
    """Return the seconds that a window for 100 calls a second takes for a number of calls."""
    window, now, out = Window(100), 0.0, list[float]()
    for _ in range(calls):
        while window.free(now) <= 0:
            now += 0.001
            while out and out[0] <= now:
                heappop(out)
                window.completed(now)
        window.count_sent(now)
        heappush(out, now + next(latencies))
    return now


@pytest.mark.parametrize("latency", [0.002, 0.05, 0.5, 0.999, 3.0])
def test_what_all_calls_take_alike_costs_no_pace(latency: float) -> None:
    assert 9.0 <= seconds(repeat(latency)) <= 9.25


@pytest.mark.parametrize(
    "latencies",
    [
        chain([0.002], repeat(0.5)),  # one quick answer, as a refusal can be
        cycle([0.05, 0.3]),  # reads and slower writes
        chain([1e9] * 20, repeat(0.01)),  # calls that are never answered
        repeat(math.inf),
    ],
    ids=["quick first", "reads and writes", "some hang", "all hang"],
)
def test_what_calls_differ_by_costs_little(latencies: Iterator[float]) -> None:
    assert 9.0 <= seconds(latencies) <= 9.0 * 1.075


@given(st.integers(1, 300))
def test_the_rate_is_nearly_reached(rate: int) -> None:
    gone = sent(Window(rate), [0.01] * 1000)
    assert len(gone) >= 0.9 * rate * 10


def test_a_window_tells_when_the_next_call_may_go_out() -> None:
    window = Window(2)
    assert window.seconds_until_free(5.0) == 0
    window.count_sent(5.0, 2)
    window.completed(5.0, 2)
    assert window.free(5.0) == 0
    instant = 5.0 + window.seconds_until_free(5.0)
    assert 6.0 <= instant < 6.1
    assert window.free(instant) == 2
    window = Window(0.1)  # fewer than one call a second is fine
    window.count_sent(1.0)
    window.completed(1.0)
    assert 10 <= window.seconds_until_free(1.0) < 11


def test_a_lower_rate_counts_what_has_gone_out_already() -> None:
    window = Window(4)
    for instant in (1.0, 1.2, 1.4, 1.6):
        window.count_sent(instant)
        window.completed(instant)
    window.set_rate(2)
    assert window.free(1.7) <= 0
    instant = 1.7 + window.seconds_until_free(1.7) + 1e-9
    assert 2.4 <= instant < 2.5, "when only one of the last second is left"
    assert window.free(instant) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        *((lambda rate=rate: Window(rate), "above 0") for rate in (0, -1, math.nan)),
        *((lambda rate=rate: Throttle(rate=rate), "above 0") for rate in (0, -1, math.nan)),
        *((lambda many=many: Throttle(many), "1 or more") for many in (0, -1)),
    ],
)
def test_rate_and_concurrency_are_above_zero(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


# --- what a person allows a run ------------------------------------------------------------


class Clock:
    """A clock that the test moves."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@given(st.integers(1, 100), st.integers(0, 200))
def test_so_many_may_start_as_there_are_free_slots(concurrency: int, out: int) -> None:
    assert Throttle(concurrency).free(out) == max(0, concurrency - out)


def test_none_starts_while_the_service_asks_to_wait() -> None:
    throttle = Throttle(4, clock=(clock := Clock()))
    assert throttle.seconds_until_free() == 0
    throttle.hold(2.0)
    throttle.hold(1.0)  # a shorter wait does not end a longer one
    for later, free, left in ((0.0, 0, 2.0), (1.5, 0, 0.5), (0.5, 4, 0.0)):
        clock.now += later
        assert (throttle.free(0), throttle.seconds_until_free()) == (free, left)


def test_a_call_counts_as_much_later_as_its_answer_was_late() -> None:
    throttle = Throttle(8, rate=5, clock=(clock := Clock()))
    throttle.count_started(5)
    for later, back in ((0.1, 3), (0.03, 1), (0.5, 1)):
        clock.now += later
        throttle.completed(back)
    for later, free in ((0.38, 3), (0.03, 4), (0.03, 5)):  # from 1.01 s after they left
        clock.now += later
        assert (throttle.free(0), throttle.seconds_until_free()) == (free, 0)


def test_slots_rate_and_what_must_be_waited_for_all_count() -> None:
    throttle = Throttle(8, rate=5, clock=(clock := Clock()))
    assert throttle.free(0) == 5
    throttle.count_started(5)
    assert throttle.free(5) == 0
    throttle.completed(5)
    throttle.hold(0.2)
    assert 1.0 <= throttle.seconds_until_free() <= 1.1
    clock.now += throttle.seconds_until_free()
    assert throttle.free(5) == 3  # slots that are left, though the rate would allow five
    throttle.hold(30.0)
    assert throttle.seconds_until_free() == 30.0


steps = st.lists(
    st.tuples(st.sampled_from(["pass", "land", "hold"]), st.floats(0, 2, allow_subnormal=False)),
    max_size=60,
)


@given(st.integers(1, 6), st.none() | st.floats(0.2, 20), steps)
def test_whatever_happens_all_limits_hold_and_waiting_helps(concurrency, rate, steps) -> None:
    throttle = Throttle(concurrency, rate, clock=(clock := Clock()))
    out, held = 0, 0.0
    gone: list[float] = []
    for what, value in steps:
        if what == "pass":
            clock.now += value
        elif what == "land":
            throttle.completed(out)
            out = 0
        else:
            throttle.hold(value)
            held = max(held, clock.now + value)
        free = throttle.free(out)
        assert free <= concurrency - out
        assert free == 0 or clock.now >= held
        if out < concurrency and not free:
            assert throttle.seconds_until_free() > 0
        throttle.count_started(free)
        out += free
        gone += [clock.now] * free
    if rate is not None:
        most = math.ceil(rate)
        late = gone[most:]
        assert all(b - a >= most / rate for a, b in zip(gone, late, strict=False))
    throttle.completed(out)
    clock.now += throttle.seconds_until_free() + 1e-6
    assert throttle.free(0) > 0


# --- what is learnt from the 429s of a service ----------------------------------------------


class _Jump(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    """Lets time jump instead of waiting for it."""

    now = 1000.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout:
            self.now += timeout
        return super().select(0)


class Invented(asyncio.SelectorEventLoop):
    """An event loop whose time is invented."""

    def __init__(self) -> None:
        self._jump = _Jump()
        super().__init__(self._jump)

    def time(self) -> float:
        return self._jump.now


class Service:
    """A service that takes `limit` calls in any second and refuses `stray` of them by chance.

    Args:
        limit: Calls a second; None: no limit.
        stray: The share that is refused for no reason.
        retry_after: The wait that a 429 names, from the seconds that are needed; None: none.
        latency: Seconds until an answer.
        jitter: Seconds that a call can take longer to arrive than another.
        chance: Which calls are refused by chance.
    """

    def __init__(
        self,
        loop: Invented,
        *,
        limit: int | None = None,
        stray: float = 0.0,
        retry_after: Callable[[float], float | None] = lambda need: None,
        latency: float = 0.01,
        jitter: float = 0.0,
        chance: int = 5,
    ) -> None:
        self.limit, self.stray, self.retry_after, self.latency = limit, stray, retry_after, latency
        self.jitter = jitter
        self.took: list[float] = []
        self.refused: list[tuple[float, float | None]] = []
        self.asked: list[float] = []
        self._loop, self._chance, self._last = loop, random.Random(chance), deque[float]()

    async def ask(self) -> tuple[bool, float | None]:
        """Answer a call: whether it was taken, else the wait of the 429."""
        await asyncio.sleep(self.latency / 2 + self.jitter * self._chance.random())
        now = self._loop.time()
        self.asked.append(now)
        while self._last and self._last[0] <= now - 1:
            self._last.popleft()
        need = 0.0
        if self._chance.random() < self.stray:
            need = 1.0
        elif self.limit is not None and len(self._last) >= self.limit:
            need = self._last[0] + 1 - now
        if need:
            retry_after = self.retry_after(need)
            self.refused.append((now, retry_after))
        else:
            self._last.append(now)
            self.took.append(now)
        await asyncio.sleep(self.latency / 2)
        return not need, self.retry_after(need) if need else None


async def send(throttle: AdaptiveThrottle, service: Service, count: int, workers: int = 8) -> None:
    """Have so many calls taken."""
    left = count

    async def work() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            taken = False
            while not taken:
                await throttle.wait_for_turn(math.inf)
                throttle.out += 1
                began = asyncio.get_running_loop().time()
                taken, retry_after = await service.ask()
                throttle.out -= 1
                throttle.completed(1)
                if taken:
                    throttle.answered(began)
                else:
                    throttle.refused(retry_after, began)

    await asyncio.gather(*(work() for _ in range(workers)))


@pytest.fixture
def loop() -> Iterator[Invented]:
    loop = Invented()
    state = random.getstate()
    random.seed(3)  # for the jitter
    yield loop
    random.setstate(state)
    loop.close()


@pytest.fixture
def throttle(loop: Invented) -> AdaptiveThrottle:
    return AdaptiveThrottle(60.0, clock=loop.time)


@pytest.fixture
def taken(loop: Invented, throttle: AdaptiveThrottle) -> Callable[..., Service]:
    """Have so many calls taken by a service, a new one with these options or a known one."""

    def take(
        count: int, service: Service | None = None, *, workers: int = 8, **options: Any
    ) -> Service:
        service = service or Service(loop, **options)
        loop.run_until_complete(send(throttle, service, count, workers))
        return service

    return take


TEXTS: dict[str, Callable[[float], float | None]] = {
    "nothing": lambda need: None,
    "whole seconds": lambda need: float(math.ceil(need)),
    "a date": lambda need: float(math.ceil(need)) + 1,  # at worst: dates have no fractions
    "milliseconds": lambda need: need,
}


Taken = Callable[..., Service]


@pytest.mark.parametrize("retry_after", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("limit", [5, 20, 50])
def test_a_true_limit_is_held(taken: Taken, limit: int, retry_after: Any) -> None:
    service = taken(120 * limit, limit=limit, retry_after=retry_after)
    assert service.took[-1] - service.took[0] <= 120 / 0.93
    assert len(service.refused) <= 30


def test_a_limit_is_held_though_calls_arrive_unevenly(taken: Taken) -> None:
    service = taken(120 * 20, limit=20, retry_after=lambda need: 1.0, jitter=0.03)
    assert service.took[-1] - service.took[0] <= 120 / 0.9
    assert len([at for at, _ in service.refused if at > service.took[-1] - 60]) <= 15


def test_a_limit_that_was_learnt_never_grows_beyond_what_a_person_allows(
    taken: Taken, loop: Invented, throttle: AdaptiveThrottle
) -> None:
    service = taken(400, limit=20, retry_after=lambda need: 1.0)
    learnt, throttle.max_rate = len(service.refused), 20.0
    loop.run_until_complete(asyncio.sleep(1))
    taken(240 * 20, service)
    assert learnt and len(service.refused) == learnt
    assert throttle.rate == 20.0
    throttle.max_rate = math.inf
    taken(400, service)
    assert len(service.refused) > learnt, "a limit that nobody set is probed"


@pytest.mark.parametrize("latency", [0.002, 0.05, 0.2])
@pytest.mark.parametrize("workers", [1, 8, 32])
def test_a_limit_makes_no_storm(taken: Taken, latency: float, workers: int) -> None:
    """While the service wants to be left alone it hears of nobody, but who was on his way."""
    service = taken(
        400, workers=workers, limit=20, retry_after=lambda need: max(1.0, need), latency=latency
    )
    for at, retry_after in service.refused:
        assert retry_after is not None
        late = [when for when in service.asked if at + latency < when < at + retry_after]
        assert len(late) <= 2


@pytest.mark.parametrize("retry_after", [None, 1.0, 2.0])
def test_stray_429s_cost_no_more_than_their_waits(
    taken: Taken, loop: Invented, retry_after: float | None
) -> None:
    began = loop.time()
    service = taken(1000, stray=0.03, retry_after=lambda need: retry_after)
    waits = len(service.refused) * (retry_after or 0.5)
    assert loop.time() - began <= 1.5 * (1000 * service.latency / 8 + waits)


def pace_after(service: Service) -> int:
    """The calls taken in the sixth second after the last 429."""
    end = service.refused[-1][0]
    return len([when for when in service.took if end + 5 <= when < end + 6])


@pytest.mark.parametrize("chance", [5, 16, 20, 23, 32, 35])
@pytest.mark.parametrize("retry_after", [None, 1.0, 2.0])
def test_five_seconds_after_the_last_429_the_pace_is_what_it_was(
    taken: Taken, retry_after: float | None, chance: int
) -> None:
    service = taken(500, retry_after=lambda need: retry_after, latency=0.05, chance=chance)
    before = 500 / (service.took[-1] - service.took[0])
    service.stray = 0.03
    taken(500, service)
    service.stray = 0
    taken(int(8 * before), service)
    assert pace_after(service) >= 0.9 * before


@pytest.mark.parametrize("lasts", [0.02, 0.5, 3.0])
def test_an_outage_of_429s_is_forgotten_within_five_seconds(
    taken: Taken, loop: Invented, lasts: float
) -> None:
    """All calls are refused for a while, as by a gateway that starts anew."""
    service = taken(40, retry_after=lambda need: 1.0)  # hardly begun: as if that were a limit
    service.stray = 1.0
    loop.call_later(lasts, setattr, service, "stray", 0.0)
    taken(6000, service)
    assert pace_after(service) >= 0.9 * 8 / service.latency


@pytest.mark.parametrize(
    ("holds", "rates"),
    [
        # Before each hold: calls taken, calls refused, calls sent after the first refused one
        # and taken. Then the rate that is learnt, as a share of the calls.
        ([(10, 3, 0)], [9.7]),
        ([(10, 3, 2)], [9.7]),
        ([(10, 3, 3)], [math.inf]),  # as many were taken as were refused
        ([(10, 2, 1)], [math.inf]),
        ([(5, 3, 0)], [4.85]),
        ([(4, 3, 0)], [math.inf]),  # too few to learn from
        ([(20, 1, 0), (21, 1, 0), (20, 1, 0)], [math.inf, math.inf, 19.4]),
        ([(20, 1, 1), (30, 1, 1), (20, 1, 1)], [math.inf] * 3),  # by chance
        ([(100, 1, 0), (10, 3, 0)], [math.inf, 97.0]),  # more was taken lately
        ([(100, 1, 0), (10, 3, 0), (10, 3, 0)], [math.inf, 97.0, 9.7]),
    ],
)
def test_a_limit_is_learnt_from_bursts_and_from_equal_counts(
    holds: list[tuple[int, int, int]], rates: list[float]
) -> None:
    throttle = AdaptiveThrottle(60, clock=(clock := Clock()))
    learnt = []
    for taken, refused, passed in holds:
        for _ in range(taken):
            throttle.answered(clock.now)
        clock.now += 0.5
        throttle.refused(2.0, clock.now)
        for _ in range(passed):
            throttle.answered(clock.now + 0.01)
        for _ in range(refused - 1):
            throttle.refused(2.0, clock.now + 0.02)
        learnt.append(throttle.rate)
        clock.now += 3
    assert learnt == pytest.approx(rates)


@pytest.mark.parametrize(
    ("holds", "seconds", "share"),
    [(1, 1.9, 1.95), (1, 2.5, math.inf), (2, 60.0, 1.015), (2, 240.0, math.inf)],
)
def test_a_confirmed_limit_is_probed_slowly_and_any_other_is_soon_given_up(
    holds: int, seconds: float, share: float
) -> None:
    throttle = AdaptiveThrottle(60, clock=(clock := Clock()))
    for _ in range(holds):
        for _ in range(20):
            throttle.answered(clock.now)
        clock.now += 0.5
        for later in range(3):
            throttle.refused(2.0, clock.now + later / 10)
        clock.now += 1.9
        throttle.seconds_until_free()
    clock.now += seconds - 1.9
    throttle.seconds_until_free()
    assert throttle.rate / 19.4 == pytest.approx(share, rel=0.03)


def test_few_calls_and_one_429_teach_nothing(
    taken: Taken, loop: Invented, throttle: AdaptiveThrottle
) -> None:
    service = taken(0, retry_after=lambda need: 1.0)
    for _ in range(6):
        taken(1, service)
        loop.run_until_complete(asyncio.sleep(0.15))
    service.stray = 1.0
    loop.call_later(0.02, setattr, service, "stray", 0.0)
    taken(1, service)
    assert throttle.rate == math.inf


def test_a_limit_that_is_lifted_is_left_behind(taken: Taken, throttle: AdaptiveThrottle) -> None:
    service = taken(20 * 20, limit=20, retry_after=lambda need: 1.0)
    assert throttle.rate < 25
    service.limit = None
    taken(20 * 80 + 5000, service)
    assert throttle.rate == math.inf
    assert len([when for when in service.took if when > service.took[-1] - 1]) > 700


@pytest.mark.parametrize("workers", [2, 8])
def test_a_limit_that_sinks_is_followed(
    taken: Taken, throttle: AdaptiveThrottle, workers: int
) -> None:
    service = taken(1000, workers=workers, limit=100, retry_after=lambda need: 1.0)
    service.limit = 10
    taken(300, service, workers=workers)
    assert throttle.rate < 12
    late = 4 if workers == 8 else 10
    refused = [at for at, _ in service.refused if at > service.took[1000] + late]
    assert len([b for a, b in pairwise([0.0, *refused]) if b - a > 0.5]) <= 1


def test_after_a_hold_one_call_goes_first_and_the_oldest_before_all(
    loop: Invented, throttle: AdaptiveThrottle
) -> None:
    throttle.refused(1.0, loop.time())
    came: list[float] = []

    async def wait_for_turn(end: float) -> None:
        assert not await throttle.wait_for_turn(end)
        throttle.out += 1
        came.append(end)

    async def story() -> None:
        ends = [loop.time() + 20, loop.time() + 10, loop.time() + 30]
        waiting = [loop.create_task(wait_for_turn(end)) for end in ends]
        await asyncio.sleep(0.9)
        assert came == []
        await asyncio.sleep(0.2)
        assert came == [ends[1]]
        throttle.out -= 1
        await asyncio.sleep(0.005)
        waiting.append(loop.create_task(wait_for_turn(later := loop.time() + 40)))
        await asyncio.sleep(0)
        assert came == [ends[1]], "who comes later does not go before one who waits"
        throttle.answered(loop.time())
        await asyncio.sleep(0.05)
        assert came == [ends[1], ends[0], ends[2]], "two at once now"
        throttle.out -= 1
        await asyncio.gather(*waiting)
        assert came[-1] == later

    loop.run_until_complete(story())


def test_a_wait_has_an_end_and_backoff_doubles_with_each_hold(
    loop: Invented, throttle: AdaptiveThrottle
) -> None:
    assert throttle.refused(3600.0, loop.time()) == 3600.0
    assert throttle.seconds_until_free() == 60.0, "one answer holds back for no longer"
    throttle = AdaptiveThrottle(60.0, clock=loop.time)
    throttle.refused(9.0, before := loop.time())
    for end in (5, 9):  # at his very end too
        assert loop.run_until_complete(throttle.wait_for_turn(before + end)) == 9.0
    assert loop.time() == before, "who would wait beyond his end learns it at once"
    assert throttle.concurrency == 1
    throttle = AdaptiveThrottle(60.0, clock=loop.time)
    for most in (0.5, 1, 2, 4, 8, 8):
        assert most / 2 <= throttle.refused(None, loop.time()) <= most
        throttle.refused(None, loop.time() - 0.1)  # it was under way: the same hold
        loop.run_until_complete(asyncio.sleep(throttle.seconds_until_free()))
    throttle.answered(loop.time())
    assert throttle.refused(None, loop.time()) <= 0.5
