"""Throttle: limits the rate and the concurrency of calls, and learns from 429s.

Two of them stand one behind the other. A run has a `Throttle` with what its user allows: so many
calls at once, so many a second. A transport has one `AdaptiveThrottle` for its account: it begins
without a rate limit and learns one from the 429s of the service. Which calls are sent again after
which outcome is the retry policy, in `chatkit.api.retry`.
"""

from __future__ import annotations

import asyncio
import math
import random
import sys
import time
from collections import deque
from collections.abc import Callable

from chatkit.api.retry import RATE_LIMITED

Clock = Callable[[], float]  #: seconds since some moment, never going back

#: The clock of a service may go slower than this one: the share of a second to leave more.
_DRIFT = 0.001
#: How much later than it left a call counts at most, as a share of a second.
_MAX_LATENESS = 0.06
#: A service that takes fewer calls a second is held by its 429s alone: counts of two or three
#: calls say too little.
_MIN_LEARNT_RATE = 5
#: A 429 lowers the rate to this share of it.
_DECREASE = 0.97
#: The share by which the rate grows each second: beyond a confirmed limit, and otherwise.
_PROBE, _RECOVER = 0.03 / 120, 0.5
#: Seconds after which a confirmed limit that was not met again is one no more.
_CONFIRMED_SECONDS = 180


class Window:
    """A sliding window that limits the calls in any second.

    Services count calls a second in a sliding window, so this does too: what a token bucket
    lets through after an idle second (its bucket and its rate) is more than they take. A rate of
    19.4 is 20 calls in 1.03 seconds, and not 19 in less than one.

    Calls that leave a second apart may arrive closer together, when the earlier one was slow.
    So each counts as much later than it left as its answer took longer than the quickest, and
    0.06 s later at most: what all calls take alike costs no pace, and what they differ by costs
    little. Answers are taken for those of the oldest calls, whichever they are.

    Args:
        rate: Calls a second; fewer than one is fine, infinite is no limit. It can be set anew at
            any time: `set_rate`.
    """

    def __init__(self, rate: float) -> None:
        self._unanswered: deque[float] = deque()  # when each left; the oldest may count already
        self._counting: deque[float] = deque()  # from when on each counts
        self._early = 0  # calls that count though they are not answered
        self._quickest = math.inf  # answer, in seconds
        self.set_rate(rate)

    def set_rate(self, rate: float) -> None:
        """Change the rate, in calls a second."""
        if not rate > 0:
            raise ValueError("a rate is a number of calls a second, above 0")
        self.rate = rate
        self._most = math.ceil(rate) if rate < math.inf else sys.maxsize
        span = self._most / rate
        self._span, self._latest = (1 + _DRIFT) * span, _MAX_LATENESS * span

    def free(self, now: float) -> int:
        """Return the number of calls that may be sent now."""
        latest = min(self._latest + self._quickest, self._span)
        while self._unanswered and self._unanswered[0] + latest <= now:
            self._count_oldest(now)
            self._early += 1
        while self._counting and self._counting[0] + self._span <= now:
            self._counting.popleft()
        return self._most - len(self._counting) - len(self._unanswered)

    def seconds_until_free(self, now: float) -> float:
        """Return the seconds until one more call may be sent, at the soonest."""
        place = -self.free(now)  # of the call that must leave the window first
        if place < 0:
            return 0.0
        calls = [*self._counting, *self._unanswered]
        return max(calls[place] + self._span - now, 0.001)

    def count_sent(self, now: float, count: int = 1) -> None:
        """Count calls that were sent."""
        self._unanswered.extend([now] * count)

    def completed(self, now: float, count: int = 1) -> None:
        """Count calls that are answered, or given up."""
        for _ in range(count):
            if self._early:
                self._early -= 1
            elif self._unanswered:
                self._quickest = min(self._quickest, now - self._unanswered[0] or math.inf)
                self._count_oldest(now)

    def _count_oldest(self, answered: float) -> None:
        """Take the oldest unanswered call as answered: it counts from when it arrived."""
        sent = self._unanswered.popleft()
        self._counting.append(min(max(sent, answered - self._quickest), sent + self._latest))


class Throttle:
    """Limit of calls at once and of calls a second; none starts while the service asks to wait.

    Args:
        concurrency: Calls under way at once.
        rate: Calls a second at most; None: as fast as the service takes them.
        clock: Seconds since some moment.
    """

    def __init__(
        self, concurrency: int = 8, rate: float | None = None, *, clock: Clock = time.monotonic
    ) -> None:
        if concurrency < 1:
            raise ValueError(f"concurrency= must be 1 or more, not {concurrency!r:.40}")
        self.concurrency = concurrency
        self._window = Window(math.inf if rate is None else rate)
        self._clock = clock
        self._held_until = 0.0

    def free(self, out: int) -> int:
        """Return the number of calls that may start now, while `out` are under way."""
        if (now := self._clock()) < self._held_until:
            return 0
        return max(0, min(self.concurrency - out, self._window.free(now)))

    def count_started(self, count: int) -> None:
        """Count calls that have started."""
        self._window.count_sent(self._clock(), count)

    def completed(self, count: int) -> None:
        """Count calls that have ended, with an answer or without."""
        self._window.completed(self._clock(), count)

    def hold(self, seconds: float) -> None:
        """Start no call for so many seconds."""
        self._held_until = max(self._held_until, self._clock() + seconds)

    def seconds_until_free(self) -> float:
        """Return the seconds until a call may start, if there is a slot for it."""
        now = self._clock()
        return max(self._window.seconds_until_free(now), self._held_until - now)


class AdaptiveThrottle(Throttle):
    """Throttle of one account that learns its rate from the 429s of the service.

    *Hold.* A 429 holds back all calls for the time that it names (RFC 9110, Retry-After), else
    with exponential backoff and equal jitter: 0.25 to 0.5 s, at most 4 to 8 s. Then one call goes
    first, the one with the nearest deadline, and each answer lets one more go beside it.

    *Additive increase, multiplicative decrease* (Chiu and Jain, 1989). A limit is supposed where
    most calls sent after the refused one are refused too (three at least), or where three 429s in
    a row came after the same count of calls, by 5 %. The rate is then 0.97 of what the service
    took in one second, the most before the latest five 429s, and grows by half of that each
    second; it is unlimited again once it has doubled. Calls that are refused by chance come
    after ever different counts, and cost little more than the wait.

    *A confirmed limit*, met after the same count three times, is probed slowly: its rate grows by
    3 % in two minutes, and faster only when it was not met again for three.

    *The rate that a user allows* is not exceeded to probe: while `max_rate` holds it, a learnt
    limit neither grows beyond it nor is given up. The calls that the limit holds back would leave
    at once then, and the run, which has its own count, let them go earlier.

    Args:
        longest: Seconds that one answer can hold back all other calls.
        clock: Seconds since some moment.
    """

    def __init__(self, longest: float, *, clock: Clock = time.monotonic) -> None:
        super().__init__(sys.maxsize, clock=clock)
        self.out = 0  #: calls under way
        self.max_rate = math.inf  #: calls a second that the user of what runs now allows
        self._longest, self._backoff = longest, RATE_LIMITED.base
        self._deadlines: list[float] = []  # of the calls that wait for their turn
        self._answered_calls: deque[float] = deque()  # when those of one second were sent
        self._peak_rate = 0  # the most of these since the latest hold
        self._peak_rates: deque[int] = deque(maxlen=5)  # that before each 429
        self._refused_at, self._tried = -math.inf, math.inf  # when a hold began, and the rate then
        self._refused = self._passed = 0  # of the calls that left after that
        self._learnt, self._learnt_at, self._confirmed = math.inf, 0.0, False

    @property
    def rate(self) -> float:
        """Calls a second that may go out; infinite while no limit is known."""
        return self._window.rate

    async def wait_for_turn(self, end: float) -> float:
        """Wait until one more call may be sent; return the wait if `end` comes first, else 0."""
        self._deadlines.append(end)
        try:
            while True:
                pause = self.seconds_until_free()
                earlier = sum(other < end for other in self._deadlines)
                if not pause and self.out + earlier < self.concurrency:
                    self.count_started(1)
                    return 0.0
                if self._clock() + (pause := max(pause, 0.01)) >= end:
                    return pause
                await asyncio.sleep(pause)
        finally:
            self._deadlines.remove(end)

    def seconds_until_free(self) -> float:
        """Return the seconds until a call may start, if there is a slot for it."""
        if self._learnt < math.inf:
            since = self._clock() - self._learnt_at
            slow = self._confirmed and since < _CONFIRMED_SECONDS
            share = 1 + since * (_PROBE if slow else _RECOVER)
            if share > 2 and self.max_rate == math.inf:
                self._learnt = math.inf
            self._window.set_rate(min(share * self._learnt, self.max_rate))
        return super().seconds_until_free()

    def refused(self, retry_after: float | None, sent: float) -> float:
        """Pause all calls after a 429 to a call sent at `sent`; return the pause in seconds."""
        if sent >= self._held_until:  # the first since calls were let through
            self._backoff = min(2 * self._backoff, RATE_LIMITED.cap)
            self._refused_at, self._refused, self._passed, self._tried = sent, 0, 0, self.rate
            if self._peak_rate:  # else nothing new is known
                self._peak_rates.append(self._peak_rate)
                self._peak_rate = 0
                self._lower_rate(sure=self._tried < math.inf)
        self._refused += sent >= self._refused_at
        if self._refused == 3 and self._passed < 3 and self._peak_rates:  # most of them: no chance
            self._peak_rates.append(self._peak_rates[-1])
            self._lower_rate(sure=True)
        wait = retry_after or random.uniform(self._backoff / 2, self._backoff)  # noqa: S311 (jitter)
        self.concurrency = 1
        self.hold(min(wait, self._longest))
        return wait

    def answered(self, sent: float) -> None:
        """Raise the rate after an answer other than 429 to a call sent at `sent`."""
        self._answered_calls.append(sent)
        while self._answered_calls[0] <= sent - 1:
            self._answered_calls.popleft()
        self._peak_rate = max(self._peak_rate, len(self._answered_calls))
        if sent >= self._held_until:
            self.concurrency += 1
            self._backoff = RATE_LIMITED.base
        self._passed += sent > self._refused_at

    def _lower_rate(self, *, sure: bool) -> None:
        """Lower the rate if the latest 429 met a limit: surely, or by the last counts."""
        latest = [*self._peak_rates][-3:]
        agree = len(latest) == 3 and max(latest) - min(latest) <= max(1, max(latest) // 20)
        peak = min(latest[-1], self._tried) if agree else max(self._peak_rates)
        if (sure or agree) and peak >= _MIN_LEARNT_RATE:
            self._learnt, self._learnt_at, self._confirmed = _DECREASE * peak, self._clock(), agree
            self._window.set_rate(self._learnt)
