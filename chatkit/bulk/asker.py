"""Asker: sends the reads of a run as fast as its throttle lets them, until a person stops it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from itertools import islice

from chatkit.answer import Envelope
from chatkit.call import Call
from chatkit.errors import Fault
from chatkit.throttle import Throttle
from chatkit.transport import Transport


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
        """Send many calls; yield what comes back of each. Raises `Stopped`."""
        source = iter(calls)
        more = True
        with self._transport.flight() as flight:
            while more or flight.out:
                if self._stopped():
                    raise Stopped
                free = min(self._throttle.free(flight.out), concurrency - flight.out)
                batch = list(islice(source, free))
                more = more and (free <= 0 or bool(batch))
                self._throttle.took(len(batch))
                flight.start(batch)
                if flight.out:
                    yield from flight.landed(0.1)
                elif more:
                    time.sleep(min(self._throttle.wait(), 0.1))
