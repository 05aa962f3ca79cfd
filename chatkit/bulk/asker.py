"""Asker: sends the reads of a run as fast as its throttle lets them, until a person stops it."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable
from itertools import islice

from chatkit.answer import Envelope
from chatkit.call import Call
from chatkit.errors import BadAnswer, Fault
from chatkit.throttle import Throttle
from chatkit.transport import Transport

#: So often one read is sent whose answers say nothing: a page of HTML, a text cut short.
READS = 5


class Stopped(Exception):
    """Nobody wants to know any more."""


class Asker:
    """Sends reads as a `Transport` does.

    Args:
        transport: What sends them.
        throttle: How many at once, and how many a second.
        stopped: Tells whether a person wants to stop; what is under way is then let go.
    """

    def __init__(
        self, transport: Transport, throttle: Throttle, stopped: Callable[[], bool]
    ) -> None:
        self._transport, self._throttle, self._stopped = transport, throttle, stopped

    def send(self, call: Call) -> Envelope:
        """Send a call and return its envelope; raise the error it means, or `Stopped`."""
        [outcome] = self.send_all([call])
        if isinstance(outcome, Fault):
            raise outcome.error
        return outcome[1]

    def send_all(
        self, calls: Iterable[Call], *, concurrency: int = 8
    ) -> Generator[tuple[Call, Envelope] | Fault, None, None]:
        """Send many calls; yield what comes back of each. Raises `Stopped`.

        A read whose answer says nothing is sent again: it changes nothing, and the next
        answer is most often a good one.
        """
        source = iter(calls)
        again: deque[Call] = deque()
        asked: Counter[str] = Counter()
        more = True
        with self._transport.flight() as flight:
            while more or again or flight.out:
                if self._stopped():
                    raise Stopped
                free = max(0, min(self._throttle.free(flight.out), concurrency - flight.out))
                batch = [again.popleft() for _ in range(min(free, len(again)))]
                if more and (left := free - len(batch)):
                    fresh = list(islice(source, left))
                    more = bool(fresh)
                    batch += fresh
                self._throttle.took(len(batch))
                flight.start(batch)
                if not flight.out:
                    if more or again:
                        time.sleep(min(self._throttle.wait(), 0.1))
                    continue
                for outcome in flight.landed(0.1):
                    call = outcome.call if isinstance(outcome, Fault) else outcome[0]
                    asked[call.target] += 1
                    bad = isinstance(outcome, Fault) and isinstance(outcome.error, BadAnswer)
                    if bad and asked[call.target] < READS:
                        again.append(call)
                    else:
                        yield outcome
