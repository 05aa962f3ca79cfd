"""Transport: sends calls and returns their outcomes; rate limit, retries, timeout.

The loop only sends and receives. Calls are taken, serialized and unwrapped in the thread of the
caller: what a caller's iterator does there, it does in its own thread, and no call is taken any
more once the caller has been interrupted.

Which call is sent again, and when, is the retry policy: `chatkit.api.retry`.
"""

from __future__ import annotations

import asyncio
import math
import queue
import sys
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count, islice
from typing import TYPE_CHECKING, Literal, Self

from chatkit.api.answer import Answer, Envelope, parse_http_date
from chatkit.api.call import Call
from chatkit.api.connection import Connection
from chatkit.api.retry import DEFAULT, PATIENCE, RetryPolicy
from chatkit.api.secret import Secret
from chatkit.api.throttle import AdaptiveThrottle
from chatkit.errors import BadAnswer, CallError, DeadlinePassed, Fault, RateLimited, Unreachable
from chatkit.util import background
from chatkit.util.progress import Pace

if TYPE_CHECKING:
    from chatkit.api.wire import Handler, Wire

Outcome = tuple[Call, Answer | CallError]
Completed = queue.SimpleQueue[Outcome | BaseException]


class Transport:
    """Sender of calls to one account of one service.

    Args:
        connection: Base address, account, token and profile.
        handler: A service in this process that answers in place of the network.
        retry: What is sent again, and when; None: nothing is.
        deadline: Seconds for a whole call: waiting, retries and the last byte included; without
            it that of the policy.

    Raises:
        SettingsError: The proxy of the environment cannot be used.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        handler: Handler | None = None,
        retry: RetryPolicy | None = DEFAULT,
        deadline: float | None = None,
    ) -> None:
        policy = RetryPolicy.of(retry)
        self.retry = policy if deadline is None else replace(policy, deadline=deadline)
        self.profile = connection.profile
        self.latency = 0.0  #: seconds that an answer takes, about, as the latest ones have
        #: The outcome of the latest call; a sandbox in this process always answers.
        self.state: Literal["not asked yet", "open", "token refused", "no answer"]
        self.state = "open" if handler else "not asked yet"
        self.connection, self._handler = connection, handler
        self._date: str | None = None  # of the latest answer
        self._wire = None if handler else self._new_wire()
        self._throttle = AdaptiveThrottle(max(PATIENCE, self.retry.deadline))
        background.register_closable(self)

    def send_raw(self, call: Call) -> Answer:
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
        return self.send_raw(call).unwrap(self.profile)

    def send_all(
        self, calls: Iterable[Call], *, concurrency: int = 8
    ) -> Generator[tuple[Call, Envelope] | Fault, None, None]:
        """Send many calls at once; yield each one's envelope or fault as it comes back.

        A call is taken when another has come back, so ten or ten million need the same
        memory, and none is taken while you do not ask for more: as many as are in flight wait
        for their turn. Closing the iterator, or an interrupt, cancels what is in flight and
        drops what waits: nothing is sent once that has returned.
        """
        if concurrency < 1:
            raise ValueError(f"concurrency= must be 1 or more, not {concurrency!r:.40}")
        with closing(self._outcomes(calls, concurrency)) as outcomes:
            for call, outcome in outcomes:
                yield self.unwrap(call, outcome)

    def with_token(self, token: Secret) -> Transport:
        """Return another transport to the same account, for another access token."""
        connection = self.connection.model_copy(update={"token": token})
        return Transport(connection, handler=self._handler, retry=self.retry)

    def pace(self, concurrency: int = 8, rate: float | None = None) -> Pace:
        """Estimate the pace of calls to this account by those so far.

        Args:
            concurrency: Calls under way at once.
            rate: Calls a second at most, as a person says; the service may allow fewer.
        """
        learnt = self._throttle.rate
        return Pace(concurrency, self.latency, learnt if rate is None else min(rate, learnt))

    @contextmanager
    def limit_rate(self, rate: float | None) -> Iterator[None]:
        """Keep the learnt rate below the one that a user allows while the block lasts.

        Args:
            rate: Calls a second, which the caller keeps to; None: any.
        """
        self._throttle.max_rate = math.inf if rate is None else rate
        try:
            yield
        finally:
            self._throttle.max_rate = math.inf

    def get_service_time(self) -> datetime:
        """Return the time by the clock of the service: the Date of its latest answer.

        What the service stamps is compared with this and not with the clock of this machine,
        which may be wrong. Without an answer that has a Date it is the time of this machine.
        """
        time = parse_http_date(self._date)
        return datetime.now(UTC) if time is None else datetime.fromtimestamp(time, UTC)

    def _new_wire(self) -> Wire:
        """Create the wire; this imports the HTTP libraries, which takes a while."""
        from chatkit.api.wire import Wire

        return Wire(self.connection, self._handler)

    def close(self) -> None:
        """Close the connections. The transport opens new ones when it is used again."""
        if self._wire:
            self._wire.close()

    def forget(self) -> None:
        """Drop connections and limits in a forked process: they are its parent's."""
        if self._wire:
            self._wire.forget()
        self._throttle = AdaptiveThrottle(max(PATIENCE, self.retry.deadline))

    def flight(self, concurrency: int = sys.maxsize) -> Flight:
        """Return a `Flight`, to send calls as they come up and take their outcomes.

        Args:
            concurrency: How many of its calls are sent at once; the others wait for their turn.
        """
        self._wire = self._wire or self._new_wire()  # here, not on the loop: it imports
        return Flight(self, self._wire, concurrency)

    def _outcomes(self, calls: Iterable[Call], concurrency: int) -> Generator[Outcome, None, None]:
        """Keep `concurrency` calls in flight; yield each outcome as it comes back.

        As many more wait for their turn: the next call leaves as soon as one has come back,
        and not when this thread has had its turn, which takes a tenth of a slow line's time.
        """
        source = iter(calls)
        with self.flight(concurrency) as flight:
            while True:
                flight.start(islice(source, 2 * concurrency - flight.out))
                if not flight.out:
                    return
                yield from flight.take_outcomes()

    def unwrap(self, call: Call, outcome: Answer | CallError) -> tuple[Call, Envelope] | Fault:
        """Return the call with its envelope, or a fault if it did not succeed."""
        if isinstance(outcome, CallError):
            return Fault(call, outcome)
        try:
            return call, outcome.unwrap(self.profile)
        except CallError as error:
            return Fault(call, error)

    # --- on the loop ----------------------------------------------------------------

    async def send_with_retries(self, call: Call, content: bytes | None, wire: Wire) -> Outcome:
        """Send a call, and again as the retry policy says; return its outcome by the deadline."""
        end = time.monotonic() + self.retry.deadline
        tries = count(1)
        while True:
            if pause := await self._throttle.wait_for_turn(end):
                reason = f"not sent: the service asked to wait, {pause:.0f} s more"
                return call, RateLimited(call, reason, status=429, retry_after=pause)
            left = end - time.monotonic()
            self._throttle.out += 1
            began = time.monotonic()
            try:
                async with asyncio.timeout(left):
                    outcome = await wire.send_once(call, content, left)
                weight = 0.1 if self.latency else 1.0  # the first one is all that is known
                self.latency += weight * (time.monotonic() - began - self.latency)
                self.state = "no answer"
                if isinstance(outcome, Answer):
                    self._date = outcome.headers.get("date")
                    refusals = (401, self.profile.unauthenticated_status)
                    self.state = "token refused" if outcome.status in refusals else "open"
            except TimeoutError:
                self.state = "no answer"
                return call, DeadlinePassed(call, f"no whole answer in {self.retry.deadline:g} s")
            finally:
                self._throttle.out -= 1
                self._throttle.completed(1)
            wait = self._retry_wait(outcome, tries, began)
            if wait is None or time.monotonic() + wait >= end:
                return call, outcome
            if outcome.status != 429:  # which holds back all calls: the oldest goes first then
                await asyncio.sleep(wait)

    def _retry_wait(
        self, outcome: Answer | CallError, tries: count[int], sent: float
    ) -> float | None:
        """Return the seconds until a call is sent again; None if its outcome is final."""
        asked = 0.0
        if isinstance(outcome, Answer):
            if outcome.status == 429:
                wait = self._throttle.refused(outcome.parse_retry_after(), sent)
                return wait if self.retry.tries > 1 else None
            self._throttle.answered(sent)
            if outcome.call.writes or outcome.status not in self.retry.retry_on:
                return None
            asked = outcome.parse_retry_after() or 0.0
        elif isinstance(outcome, Unreachable):
            if not outcome.passing:
                return None
        elif outcome.call.writes or isinstance(outcome, BadAnswer):
            return None
        return self.retry.pause(next(tries), asked)


class Flight:
    """Calls in flight, and their outcomes; leaving its `with` block cancels the rest.

    All of it happens in one thread, that of the caller; only sending is done on the loop. Calls
    beyond its concurrency wait there, so that one leaves in the moment in which another is back.
    """

    def __init__(self, transport: Transport, wire: Wire, concurrency: int) -> None:
        self.out = 0  #: calls that wait or are under way, or are back and not yet taken
        self._transport, self._wire, self._concurrency = transport, wire, concurrency
        self._loop = background.get_loop()
        self._waiting: deque[tuple[Call, bytes | None]] = deque()
        self._tasks: set[asyncio.Task[Outcome]] = set()
        self._completed: Completed = queue.SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.clear()
        if self.out:
            background.run_and_wait(_cancel(self._tasks))

    def start(self, calls: Iterable[Call]) -> None:
        """Send these calls, those beyond the concurrency as soon as others are back.

        Raises:
            InputError: A body cannot be written as JSON; none of them was sent.
        """
        if batch := [(call, call.serialize_body()) for call in calls]:
            self.out += len(batch)
            self._waiting.extend(batch)
            self._loop.call_soon_threadsafe(self._start_waiting)

    def completed(self, wait: float | None = None) -> list[tuple[Call, Envelope] | Fault]:
        """Wait for an outcome and return all that are there, unwrapped; [] after `wait` seconds."""
        return [self._transport.unwrap(*outcome) for outcome in self.take_outcomes(wait)]

    def take_outcomes(self, wait: float | None = None) -> list[Outcome]:
        """Wait until one call is back and take all that are; [] if none is after `wait` seconds."""
        end = math.inf if wait is None else time.monotonic() + wait
        arrived: list[Outcome | BaseException] = []
        while not arrived:
            left = max(0.0, end - time.monotonic())
            with suppress(queue.Empty):  # on Windows an interrupt waits for this
                arrived.append(self._completed.get(timeout=min(left, 0.2)))
            if not left:
                break
        while not self._completed.empty():
            arrived.append(self._completed.get())
        back = []
        for outcome in arrived:
            if isinstance(outcome, BaseException):
                raise outcome
            back.append(outcome)
        self.out -= len(back)
        return back

    # --- on the loop ---

    def _start_waiting(self) -> None:
        """Send waiting calls until the concurrency is reached."""
        with suppress(IndexError):  # they are dropped in the other thread
            while len(self._tasks) < self._concurrency:
                call, content = self._waiting.popleft()
                sending = self._transport.send_with_retries(call, content, self._wire)
                task = self._loop.create_task(sending)
                self._tasks.add(task)
                task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[Outcome]) -> None:
        """Put the outcome of a call into the queue, and send the next one."""
        # Not the task itself: Python swallows an interrupt that comes while one is freed.
        self._tasks.discard(task)
        if not task.cancelled():
            self._completed.put(task.exception() or task.result())
        self._start_waiting()


async def _cancel(tasks: set[asyncio.Task[Outcome]]) -> None:
    """Cancel tasks, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
