"""Listing: reads every page of a list, and notices when the list moves meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import msgspec

from chatkit.answer import Envelope
from chatkit.call import Call
from chatkit.errors import Fault, NotFound, Refused
from chatkit.transport import Transport


class Listing:
    """All pages of one list, in order, several in flight.

    The first page says how many there are. A service may say other things later, repeat
    a page or stop early: reading always ends, and `moved` tells what was odd.

    Args:
        transport: Sends the calls.
        call: Makes the call for a page number; None: the list has no pages.
        first: The number of the first page.
    """

    def __init__(self, transport: Transport, call: Callable[[int], Call], *, first: int) -> None:
        self.total: int | None = None
        self.moved: list[str] = []
        self._transport = transport
        self._call = call
        self._first = first
        self._last = first
        self._due = first
        self._limit: int | None = None
        self._ended = False
        self._seen: set[int] = set()

    def __iter__(self) -> Iterator[msgspec.Raw]:
        """Yield the `data` of each page."""
        envelope = self._transport.send(self._call(self._first))
        self._take(envelope)
        yield envelope.data
        while self._due <= self._last and not self._ended:
            yield from self._rest()

    def _rest(self) -> Iterator[msgspec.Raw]:
        waiting: dict[int, Envelope | None] = {}
        with closing(self._transport.send_all(self._calls())) as outcomes:
            for outcome in outcomes:
                page = int(
                    (outcome.call if isinstance(outcome, Fault) else outcome[0]).query["page"]
                )
                if not isinstance(outcome, Fault):
                    waiting[page] = outcome[1]
                elif type(outcome.error) in (Refused, NotFound):
                    waiting[page] = None  # past the end: the list became shorter
                else:
                    raise outcome.error
                while self._due in waiting and not self._ended:
                    envelope = waiting.pop(self._due)
                    if self._take(envelope) and envelope is not None:
                        yield envelope.data

    def _calls(self) -> Iterator[Call]:
        page = self._due
        while page <= self._last and not self._ended:
            yield self._call(page)
            page += 1

    def _take(self, envelope: Envelope | None) -> bool:
        """Note what one more page tells of the list. False: it adds nothing and ends it."""
        self._due += 1
        if envelope is None:
            return self._end("a page that was announced is gone")
        if (said := envelope.pagination) is None:
            self._ended = True
            return True
        if self.total is None:
            self._limit = self._first + 2 * said.total_pages + 8
        elif self.total != said.total_count:
            self.moved.append(f"its total went from {self.total} to {said.total_count}")
        self.total = said.total_count
        self._last = min(self._first + said.total_pages - 1, self._limit or self._last)
        if bytes(envelope.data).strip() == b"[]":
            # The one page of an empty list is no surprise.
            return self.total == 0 or self._end("a page that was announced is empty")
        fingerprint = hash(bytes(envelope.data))
        if fingerprint in self._seen:
            return self._end("a page came twice")
        self._seen.add(fingerprint)
        return True

    def _end(self, why: str) -> bool:
        self._ended = True
        self.moved.append(why)
        return False
