"""Transport: send Calls and bring back what came of them: pace, retries, deadline.

The loop only sends and receives. Calls are taken, written as JSON and unwrapped in the
thread of the caller: what a caller's iterator does there, it does in its own thread, and
no call is taken any more once the caller has been interrupted.
"""

from __future__ import annotations

import asyncio
import math
import queue
import random
import time
from collections import deque
from collections.abc import Generator, Iterable
from contextlib import closing
from datetime import UTC, datetime
from itertools import count, islice
from typing import Self

from chatkit import background
from chatkit.answer import Answer, Envelope, http_date
from chatkit.call import Call
from chatkit.connection import Connection
from chatkit.errors import (
    BadAnswer,
    CallError,
    DeadlinePassed,
    Fault,
    RateLimited,
    Unreachable,
)
from chatkit.secret import Secret
from chatkit.window import Window
from chatkit.wire import Door, Wire

Outcome = tuple[Call, Answer | CallError]
Landed = queue.SimpleQueue[Outcome | BaseException]

#: How often a call that is safe to repeat is sent at most; a 429 does not count.
TRIES = 4
#: Seconds that one answer can hold back all other calls, unless the deadline is later.
MAX_PAUSE = 60.0


class Transport:
    """Sends calls to one account of one service.

    Args:
        connection: Base address, account, token and profile.
        door: A service in this process that answers in place of the network.
        deadline: Seconds for a whole call: waiting, retries and the last byte included.

    Raises:
        SettingsError: The proxy of the environment cannot be used.
    """

    def __init__(
        self, connection: Connection, *, door: Door | None = None, deadline: float = 30.0
    ) -> None:
        if not deadline > 0:
            raise ValueError("a deadline is a number of seconds above 0")
        self.profile = connection.profile
        self.deadline = deadline
        self.latency = 0.0  #: seconds that an answer takes, about, as the latest ones have
        self.connection, self._door = connection, door
        self._date: str | None = None  # of the latest answer
        self._wire = Wire(connection, door)
        self._pace = _Pace(max(MAX_PAUSE, deadline))
        background.take_in(self)

    def answer(self, call: Call) -> Answer:
        """Send a call and return its answer whatever its status.

        Raises:
            InputError: The body cannot be written as JSON; nothing was sent.
            CallError: There is no answer.
        """
        [(_, outcome)] = self._outcomes([call], 1)
        if isinstance(outcome, CallError):
            raise outcome
        return outcome

    def send(self, call: Call) -> Envelope:
        """Send a call and return its unwrapped envelope, or raise the error it means."""
        return self.answer(call).unwrap(self.profile)

    def send_all(
        self, calls: Iterable[Call], *, concurrency: int = 8
    ) -> Generator[tuple[Call, Envelope] | Fault, None, None]:
        """Send many calls at once; yield each one's envelope or fault as it comes back.

        A call is taken when another has come back, so ten or ten million need the same
        memory, and none is taken while you do not ask for more. Closing the iterator, or
        an interrupt, cancels what is in flight: nothing is sent once that has returned.
        """
        if concurrency < 1:
            raise ValueError("At least one call must be under way at a time.")
        with closing(self._outcomes(calls, concurrency)) as outcomes:
            for call, outcome in outcomes:
                yield self.unwrapped(call, outcome)

    def with_token(self, token: Secret) -> Transport:
        """Return another transport to the same account, for another access token."""
        connection = self.connection.model_copy(update={"token": token})
        return Transport(connection, door=self._door, deadline=self.deadline)

    def service_time(self) -> datetime:
        """Return the time by the clock of the service, as its latest answer told it.

        What the service stamps is compared with this and not with the clock of this machine,
        which may be wrong. Without an answer that has a Date it is the time of this machine.
        """
        told = http_date(self._date)
        return datetime.now(UTC) if told is None else datetime.fromtimestamp(told, UTC)

    def close(self) -> None:
        """Close the connections. The transport opens new ones when it is used again."""
        self._wire.close()

    def forget(self) -> None:
        """Start anew in a forked process: what is open and under way is the parent's."""
        self._wire.forget()
        self._pace = _Pace(max(MAX_PAUSE, self.deadline))

    def flight(self) -> Flight:
        """Return a `Flight`: for who decides himself when which call goes out."""
        return Flight(self)

    def _outcomes(self, calls: Iterable[Call], concurrency: int) -> Generator[Outcome, None, None]:
        """Keep `concurrency` calls in flight; yield what came of each as it comes back."""
        source = iter(calls)
        with self.flight() as flight:
            while True:
                flight.start(islice(source, concurrency - flight.out))
                if not flight.out:
                    return
                yield from flight.outcomes()

    def unwrapped(self, call: Call, outcome: Answer | CallError) -> tuple[Call, Envelope] | Fault:
        """Unwrap the envelope of an answer; what is none, or no success, is a fault."""
        if isinstance(outcome, CallError):
            return Fault(call, outcome)
        try:
            return call, outcome.unwrap(self.profile)
        except CallError as error:
            return Fault(call, error)

    # --- on the loop ----------------------------------------------------------------

    async def fly(self, call: Call, content: bytes | None) -> Outcome:
        """Send a call until its outcome stands, or until the deadline."""
        end = time.monotonic() + self.deadline
        tries = count(1)
        while True:
            if pause := await self._pace.turn(end):
                reason = f"not sent: the service asked to wait, {pause:.0f} s more"
                return call, RateLimited(call, reason, status=429, retry_after=pause)
            left = end - time.monotonic()
            self._pace.out += 1
            began = time.monotonic()
            try:
                async with asyncio.timeout(left):
                    outcome = await self._wire.ask(call, content, left)
                self.latency += 0.1 * (time.monotonic() - began - self.latency)
                if isinstance(outcome, Answer):
                    self._date = outcome.headers.get("date")
            except TimeoutError:
                return call, DeadlinePassed(call, f"no whole answer in {self.deadline:g} s")
            finally:
                self._pace.out -= 1
            wait = self._wait(outcome, tries, began)
            if wait is None or time.monotonic() + wait >= end:
                return call, outcome
            if outcome.status != 429:  # which holds back all calls: the oldest goes first then
                await asyncio.sleep(wait)

    def _wait(self, outcome: Answer | CallError, tries: count[int], sent: float) -> float | None:
        """Seconds until a call may be sent again; None: its outcome stands.

        Sent again is what never left, what met a 429 (which changed nothing), and a read
        that was lost or met a passing failure. A write that may have landed never is.
        """
        told = 0.0
        if isinstance(outcome, Answer):
            if outcome.status == 429:
                return self._pace.slow(outcome.retry_after(), sent)
            self._pace.widen(sent)
            if outcome.call.writes or outcome.status not in (500, 502, 503, 504):
                return None
            told = outcome.retry_after() or 0.0
        elif isinstance(outcome, Unreachable):
            if not outcome.passing:
                return None
        elif outcome.call.writes or isinstance(outcome, BadAnswer):
            return None
        if (tried := next(tries)) == TRIES:
            return None
        return max(told, random.uniform(0, 0.5 * 2**tried))  # noqa: S311  (jitter)


class Flight:
    """Calls under way at once, and what came of each; a `with` block that ends cancels the rest.

    All of it happens in one thread, that of the caller; only sending is done on the loop.
    """

    def __init__(self, transport: Transport) -> None:
        self.out = 0  #: calls under way, or back and not yet taken
        self._transport = transport
        self._loop = background.loop()
        self._flying: set[asyncio.Task[Outcome]] = set()
        self._landed: Landed = queue.SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.out:
            background.wait_for(_cancel(self._flying))

    def start(self, calls: Iterable[Call]) -> None:
        """Send these calls.

        Raises:
            InputError: A body cannot be written as JSON; none of them was sent.
        """
        if batch := [(call, call.content()) for call in calls]:
            self.out += len(batch)
            self._loop.call_soon_threadsafe(self._start, batch)

    def landed(self, wait: float | None = None) -> list[tuple[Call, Envelope] | Fault]:
        """Wait for at least one outcome and take all that are there; none after `wait` seconds."""
        return [self._transport.unwrapped(*outcome) for outcome in self.outcomes(wait)]

    def outcomes(self, wait: float | None = None) -> list[Outcome]:
        """Do as `landed` does; answers are still in their envelopes."""
        back = []
        for outcome in _wait_for_some(self._landed, wait):
            if isinstance(outcome, BaseException):
                raise outcome
            back.append(outcome)
        self.out -= len(back)
        return back

    # --- on the loop ---

    def _start(self, batch: list[tuple[Call, bytes | None]]) -> None:
        for call, content in batch:
            task = self._loop.create_task(self._transport.fly(call, content))
            self._flying.add(task)
            task.add_done_callback(self._land)

    def _land(self, task: asyncio.Task[Outcome]) -> None:
        # Not the task itself: Python swallows an interrupt that comes while one is freed.
        self._flying.discard(task)
        if not task.cancelled():
            self._landed.put(task.exception() or task.result())


class _Pace:
    """How fast an account may be asked: a 429 to one call holds back all of them.

    After the time told the oldest call goes first, and each that is let through lets one
    more go beside it: the next 429 then meets few calls and not all. What the service took
    in the second before a 429 is taken for its limit, until a minute without one.
    """

    def __init__(self, longest: float) -> None:
        self.out = 0  # calls under way
        self._longest = longest
        self._width = math.inf
        self._resume_at = 0.0
        self._step = 0.25
        self._ends: list[float] = []  # of the calls that wait for their turn
        self._taken: deque[float] = deque()  # when the calls left that were answered lately
        self._limit: Window | None = None
        self._raised_at = 0.0

    async def turn(self, end: float) -> float:
        """Wait until one more call may go out; the seconds left to wait if that is too late."""
        if self.out + len(self._ends) < self._width and not self._pause():
            return 0.0
        self._ends.append(end)
        try:
            while True:
                older = sum(other < end for other in self._ends)
                pause = self._pause(take=self.out + older < self._width)
                if not pause and self.out + older < self._width:
                    return 0.0
                pause = max(pause, 0.01)
                if time.monotonic() + pause >= end:
                    return pause
                await asyncio.sleep(pause)
        finally:
            self._ends.remove(end)

    def _pause(self, *, take: bool = True) -> float:
        """Seconds until a call may go out; one that may now is counted."""
        now = time.monotonic()
        pause = max(0.0, self._resume_at - now)
        if self._limit is not None and not pause:
            pause = self._limit.wait(now)
            if take and not pause:
                self._limit.take(now)
        return pause

    def slow(self, told: float | None, sent: float) -> float:
        """Note a 429 to a call sent then; the seconds to wait: those told, or more each time."""
        now = time.monotonic()
        first = now >= self._resume_at  # since calls were let through
        if first:
            self._step = min(2 * self._step, 8.0)
        wait = told or random.uniform(self._step / 2, self._step)  # noqa: S311  (jitter)
        if first and wait >= 0.5:  # shorter ones cost less than a wrong guess
            self._learn(now, sent)
        self._width = 1
        self._resume_at = max(self._resume_at, now + min(wait, self._longest))
        return wait

    def _learn(self, now: float, sent: float) -> None:
        took = sum(sent - 1 < left <= sent for left in self._taken)
        if took >= 5:
            known = math.inf if self._limit is None else 0.9 * self._limit.rate
            self._limit = Window(max(5.0, min(took, known)))
            self._raised_at = now

    def widen(self, sent: float) -> None:
        """Note an answer that is no 429; one from before the pause says nothing."""
        now = time.monotonic()
        self._taken.append(sent)
        while self._taken and self._taken[0] < now - 2:
            self._taken.popleft()
        if now >= self._resume_at:
            self._width += 1
            self._step = 0.25
        if self._limit is not None and now - self._raised_at > 60:
            self._limit = Window(1.1 * self._limit.rate)
            self._raised_at = now


def _wait_for_some(landed: Landed, wait: float | None) -> list[Outcome | BaseException]:
    """Wait for one, then take what else has come."""
    end = math.inf if wait is None else time.monotonic() + wait
    while True:
        left = max(0.0, end - time.monotonic())
        try:
            back = [landed.get(timeout=min(left, 0.2))]  # on Windows an interrupt waits for this
        except queue.Empty:
            if time.monotonic() < end:
                continue
            return []
        while not landed.empty():
            back.append(landed.get())
        return back


async def _cancel(tasks: set[asyncio.Task[Outcome]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
