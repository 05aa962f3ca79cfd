"""Throttle: how many calls may go out now, and what a 429 changes about that.

Two of them stand one behind the other. A run has a `Throttle` with what a person allows it:
so many calls at once, so many a second. A transport has one `AdaptiveThrottle` for its account:
it begins without a rate limit and learns one from the 429s of the service. Which calls are sent
again after which outcome is the retry policy, in `chatkit.transport`.
"""

from __future__ import annotations

import asyncio
import math
import random
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import NamedTuple

Clock = Callable[[], float]  #: seconds since some moment, never going back

#: The clock of a service may go slower than this one: the share of a second to leave more.
_DRIFT = 0.001
#: How much later than it left a call counts at most, as a share of a second.
_LATEST = 0.06
#: A service that takes fewer calls a second is held by its 429s alone: counts of two or three
#: calls say too little.
_FEWEST = 5
#: The first probe of a limit that was supposed, and those of one that was met again, as K of
#: CUBIC: seconds at the limit itself.
_SUPPOSED, _CONFIRMED = 1.5, 45.0
#: How CUBIC grows after that, and where the limit is given up, as shares of it.
_GROWTH, _GIVEN_UP = 0.1, 1.25
#: Seconds for which calls that were let through stand against a lower limit.
_REMEMBERED = 60


class Pace(NamedTuple):
    """How fast calls go: by what they take and how many go at once, or by a limit."""

    concurrency: int  #: calls under way at once
    latency: float  #: seconds that a call takes, about; 0 while that is not known
    rate: float  #: calls a second at most; infinite where no limit is known

    def seconds(self, calls: int) -> float:
        """Estimate how long so many calls take."""
        return calls * max(self.latency / self.concurrency, 1 / self.rate)

    def __str__(self) -> str:
        if self.rate * self.latency > self.concurrency or self.rate == math.inf:
            return f"{self.concurrency} call{'s' * (self.concurrency != 1)} at once"
        return rate_words(self.rate)


def rate_words(rate: float, noun: str = "call") -> str:
    """Say how many calls go out a second, or how much else is done: "10 calls a second"."""
    said = f"{rate:,.0f}" if rate >= 9.95 else f"{rate:.2g}"
    return f"{said} {noun}{'s' * (said != '1')} a second"


class Window:
    """Tells when the next call may go out so that no second has more than `rate` of them.

    Services count calls a second in a sliding window, so this does too: what a token bucket
    lets through after an idle second (its bucket and its rate) is more than they take.

    Calls that leave a second apart may arrive closer together, when the earlier one was slow.
    So each counts as much later than it left as its answer took longer than the quickest, and
    0.06 s later at most: what all calls take alike costs no pace, and what they differ by costs
    little. Answers are taken for those of the oldest calls, whichever they are.

    Args:
        rate: Calls a second; fewer than one is fine. It can be set anew at any time.
    """

    def __init__(self, rate: float) -> None:
        self._sent: deque[float] = deque()  # when those left that are under way
        self._late: deque[float] = deque()  # those of them that count already
        self._counting: deque[tuple[float, float]] = deque()  # when each left, and was answered
        self._quickest = math.inf  # answer, in seconds
        self.rate = rate

    @property
    def rate(self) -> float:
        """Calls a second."""
        return self._rate

    @rate.setter
    def rate(self, rate: float) -> None:
        if not 0 < rate < math.inf:
            raise ValueError("a rate is a number of calls a second, above 0")
        self._rate = rate
        self._most = max(1, int(rate))
        self._span = (1 + _DRIFT) * self._most / rate
        self._latest = _LATEST * self._most / rate

    def free(self, now: float) -> int:
        """Tell how many may go out at this moment."""
        while self._sent and self._counts(self._sent[0], now) == self._sent[0] + self._latest:
            self._late.append(sent := self._sent.popleft())
            self._counting.append((sent, math.inf))
        while self._sent and self._sent[0] + self._span <= now:  # all answers take longer
            self._late.append(sent := self._sent.popleft())
            self._counting.append((sent, sent))
        while self._counting and self._counts(*self._counting[0]) + self._span <= now:
            self._counting.popleft()
        return self._most - len(self._counting) - len(self._sent)

    def wait(self, now: float) -> float:
        """Tell how many seconds it is until one more may go out, at the soonest."""
        nth = -self.free(now)
        if nth < 0:
            return 0.0
        under_way = nth - len(self._counting)
        call = (self._sent[under_way], now) if under_way >= 0 else self._counting[nth]
        return max(self._counts(*call) + self._span - now, 0.001)

    def _counts(self, sent: float, answered: float) -> float:
        """Tell from when on a call counts."""
        quickest = 0.0 if self._quickest == math.inf else self._quickest
        return min(max(sent, answered - quickest), sent + self._latest)

    def take(self, now: float, count: int = 1) -> None:
        """Note that so many have gone out."""
        self._sent.extend([now] * count)

    def landed(self, now: float, count: int = 1) -> None:
        """Note that so many are answered, or given up."""
        for _ in range(min(count, len(self._late) + len(self._sent))):
            oldest = (self._late or self._sent)[0]
            if oldest < now:
                self._quickest = min(self._quickest, now - oldest)
            self.free(now)
            if self._late:
                self._late.popleft()
            else:
                self._counting.append((self._sent.popleft(), now))


class Throttle:
    """So many calls at once, so many a second, and none while the service asks to wait.

    Args:
        concurrency: Calls under way at once.
        rate: Calls a second at most; None: as fast as the service takes them.
        patience: Seconds a service may ask a run to wait; more than that ends it for now.
        clock: Seconds since some moment.
    """

    def __init__(
        self,
        concurrency: int = 8,
        rate: float | None = None,
        patience: float = 60.0,
        *,
        clock: Clock = time.monotonic,
    ) -> None:
        if concurrency < 1:
            raise ValueError(f"concurrency= must be 1 or more, not {concurrency!r:.40}")
        self.concurrency, self.patience = concurrency, patience
        self._window = None if rate is None else Window(rate)
        self._clock = clock
        self._held_until = 0.0

    def free(self, out: int) -> int:
        """Tell how many calls may start now, while `out` are under way."""
        now = self._clock()
        if now < self._held_until:
            return 0
        slots = self.concurrency - out
        return max(0, slots if self._window is None else min(slots, self._window.free(now)))

    def took(self, count: int) -> None:
        """Note that so many have started."""
        if self._window is not None:
            self._window.take(self._clock(), count)

    def landed(self, count: int) -> None:
        """Note that so many have come back, with an answer or without."""
        if self._window is not None:
            self._window.landed(self._clock(), count)

    def hold(self, seconds: float) -> None:
        """Start none for a while."""
        self._held_until = max(self._held_until, self._clock() + seconds)

    def wait(self) -> float:
        """Tell how many seconds it is until one may start, if there is a slot for it."""
        now = self._clock()
        window = 0.0 if self._window is None else self._window.wait(now)
        return max(0.0, window, self._held_until - now)


class AdaptiveThrottle(Throttle):
    """How fast one account may be asked, learnt from the 429s of its service.

    Three parts, each as published:

    *Hold.* A 429 to one call holds back all of them for the time that it tells
    (RFC 9110, Retry-After), else with exponential backoff and equal jitter: 0.25 to 0.5 s, at
    most 4 to 8 s.

    *Slow start* (RFC 5681). After a hold one call goes first, the one that waits longest; each
    that is let through lets one more go beside it. The next 429 then meets few calls, not all.

    *CUBIC on a rate* (RFC 9438; the adaptive retry mode of the AWS SDKs does the same). The
    maximum is what the service took in the second before the 429: the decrease goes there, and
    not to a share of the rate that was tried. The rate stays there for K seconds, then grows to
    1 + 0.1 ((t - K) / K)^3 times it, and the limit is given up at 1.25 times: 2.4 K after it was
    learnt.

    *A limit is told from noise* before that: a lone 429 holds the calls and lowers nothing. A
    limit is supposed when most of the calls sent after the refused one (three at least) were
    refused too, or when three 429s in a row came after the same count of calls, by 5 %. K is
    1.5 s for a supposed limit: what was chance is forgotten within 5 s of the 429. It is 45 s
    once the same count was refused again. Stray 429s come after ever different counts, but
    now and then three of many agree: so no limit is below what was let through. If more than
    1.25 times as many calls were taken in one second of the last minute, a new limit is
    supposed only when most calls were refused twice in a row, or five 429s came after that
    count and the last let none through beside it.

    *A rate that a person told* is not exceeded to probe: while `max_rate` holds it, a learnt limit
    neither grows beyond it nor is given up. The calls that the limit holds back would leave at
    once then, and the run, which has its own count, let them go earlier.

    Args:
        longest: Seconds that one answer can hold back all other calls.
        clock: Seconds since some moment.
    """

    def __init__(self, longest: float, *, clock: Clock = time.monotonic) -> None:
        super().__init__(sys.maxsize, clock=clock)
        self.out = 0  #: calls under way
        self.max_rate = math.inf  #: calls a second of what runs now, as a person says
        self._longest = longest
        self._backoff = 0.25
        self._ends: list[float] = []  # deadlines of the calls that wait for their turn
        self._taken: deque[float] = deque()  # when the calls left that were answered lately
        self._since_hold = 0  # calls that left after the latest hold and were not refused
        # The latest 429: when its call left, and what came of the calls round it.
        self._refused_at = -math.inf
        self._before = self._after = self._refused = 0
        self._undecided = False
        # The limit: supposed or confirmed, and what the 429s before it came after.
        self._counts: deque[int] = deque(maxlen=5)
        self._bursts = 0  # 429s in a row with which most calls were refused
        self._through = Counter[int]()  # calls let through, by the second in which they left
        self._limit = 0
        self._flat = _SUPPOSED
        self._learnt_at = 0.0

    @property
    def rate(self) -> float:
        """Calls a second that may go out; infinite while no limit is known."""
        window = self._window  # the loop may give it up just now
        return math.inf if window is None else window.rate

    async def turn(self, end: float) -> float:
        """Wait until one more call may go out; the seconds left to wait if that is too late."""
        if self.out + len(self._ends) < self.concurrency and not self.wait():
            self.took(1)
            return 0.0
        self._ends.append(end)
        try:
            while True:
                older = sum(other < end for other in self._ends)
                pause = self.wait()
                if not pause and self.out + older < self.concurrency:
                    self.took(1)
                    return 0.0
                pause = max(pause, 0.01)
                if self._clock() + pause >= end:
                    return pause
                await asyncio.sleep(pause)
        finally:
            self._ends.remove(end)

    def wait(self) -> float:
        """Tell how many seconds it is until one may start, if there is a slot for it."""
        now = self._clock()
        if now < self._held_until:
            return self._held_until - now
        if self._undecided and not self.out:  # those under way then have come back
            self._decide()
        if self._window is None:
            return 0.0
        self._grow(self._window, now)
        return super().wait()

    def refused(self, told: float | None, sent: float) -> float:
        """Note a 429 to a call sent then; the seconds to wait: those told, or more each time."""
        if first := sent >= self._held_until:  # since calls were let through
            self._backoff = min(2 * self._backoff, 8.0)
            if self._undecided:
                self._decide()
        wait = told or random.uniform(self._backoff / 2, self._backoff)  # noqa: S311  (jitter)
        if first:
            self._undecided = self._since_hold > 0  # else nothing new is known
            self._refused_at, self._refused, self._after = sent, 0, 0
            self._before = sum(sent - 1 < left <= sent for left in self._taken)
            self._since_hold = 0
        self._refused += sent >= self._refused_at
        self.concurrency = 1
        self.hold(min(wait, self._longest))
        return wait

    def answered(self, sent: float) -> None:
        """Note an answer that is no 429 to a call sent then."""
        self._taken.append(sent)
        while self._taken[0] < sent - 2:
            self._taken.popleft()
        self._through[int(sent)] += 1
        if len(self._through) > _REMEMBERED:
            del self._through[next(iter(self._through))]
        if sent >= self._held_until:  # one from before the hold says nothing of what is now
            self.concurrency += 1
            self._since_hold += 1
            self._backoff = 0.25
        elif self._undecided:
            if sent > self._refused_at:
                self._after += 1
            elif sent > self._refused_at - 1:
                self._before += 1

    def _decide(self) -> None:
        """Decide whether a 429 showed a limit, once the calls beside it have come back too."""
        self._undecided = False
        count = self._before
        self._counts.append(count)
        if count < _FEWEST:
            return
        burst = self._refused >= 3 and self._refused > self._after
        self._bursts = self._bursts + 1 if burst else 0
        if self._bursts > 1 or (not self._after and self._agreed(5)):
            self._through.clear()
        elif self._let_through() > _GIVEN_UP * count:
            return
        again = _agree(count, self._limit)
        if not (burst or again or self._agreed(3)):
            return
        probed = self._refused_at > self._learnt_at + self._flat
        self._flat, self._learnt_at = _SUPPOSED, self._clock()
        if self._window is None:
            self._window = Window(count)
            for left in sorted(self._taken):
                self._window.take(left)
                self._window.landed(left)
        elif again:
            self._flat = _CONFIRMED
            # Counts are off by one or so when calls arrive in another order than they left.
            if probed:
                count = max(count, self._limit)
        self._limit = count
        self._window.rate = count

    def _agreed(self, events: int) -> bool:
        latest = [*self._counts][-events:]
        return len(latest) == events and _agree(*latest)

    def _let_through(self) -> int:
        """Count the calls that were taken in one second, the most of the last minute."""
        start = self._clock() - _REMEMBERED
        return max((calls for second, calls in self._through.items() if second > start), default=0)

    def _grow(self, window: Window, now: float) -> None:
        """Let more through as time goes by: the service may take more now, or it was chance."""
        late = max(0.0, now - self._learnt_at - self._flat) / self._flat
        share = 1 + _GROWTH * late**3
        rate = share * self._limit
        if share < _GIVEN_UP or self.max_rate < rate:
            window.rate = min(rate, self.max_rate)
        else:
            self._window = None


def _agree(*counts: int) -> bool:
    return max(counts) - min(counts) <= max(1, max(counts) // 20)
