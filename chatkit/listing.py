"""Listing: reads every page of a list, and notices when the list moves meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import Protocol, cast

from msgspec import Raw

from chatkit.answer import Envelope, Pagination
from chatkit.call import Call
from chatkit.errors import Fault, NotFound, Refused

#: So many pages without anything new, one after the other, are the end. As many are in
#: flight anyway, so looking past a page that is empty costs nothing.
_PATIENCE = 8
#: How far pages may run ahead of one that is slow: they wait in memory until it is there.
_AHEAD = 100


class Sender(Protocol):
    """What sends the calls: a `Transport`, or what stands before one."""

    def send(self, call: Call) -> Envelope:
        """Send a call and return its envelope, or raise the error it means."""

    def send_all(
        self, calls: Iterable[Call], *, concurrency: int = ...
    ) -> Generator[tuple[Call, Envelope] | Fault, None, None]:
        """Send many calls at once; yield what came back of each."""


class Listing:
    """All pages of one list, taken in their order while several are in flight.

    Each page tells how many there are, and may be wrong or change its mind. Whichever of
    its figures promises more is followed, reading always ends, and `moved` tells what was
    odd.

    Args:
        transport: Sends the calls.
        call: Makes the call for a page number.
        add: Takes the data of a page and returns how many rows it has.
        first: The number of the first page.
    """

    def __init__(
        self,
        transport: Sender,
        call: Callable[[int], Call],
        add: Callable[[Raw], int],
        *,
        first: int,
    ) -> None:
        self.rows = 0
        self._transport = transport
        self._call = call
        self._add = add
        self._first = self._due = self._last = first
        self._announced = first - 1
        self._limit: int | None = None
        self._largest = 1
        self._idle = 0
        self._previous = b""
        self._totals: list[int] = []
        self._odd: Counter[str] = Counter()

    @property
    def total(self) -> int | None:
        """How many rows there are, as the service said last."""
        return self._totals[-1] if self._totals else None

    @property
    def moved(self) -> list[str]:
        """What was odd, each in a few words. A list that stays quiet has nothing odd."""
        odd = [what if n == 1 else f"{what} ({n} times)" for what, n in self._odd.items()]
        if len(set(self._totals)) > 1:
            odd.append(f"its total was between {min(self._totals)} and {max(self._totals)}")
        return odd

    def read(self) -> Iterator[int]:
        """Read all pages; yield how many rows each one had."""
        call = self._call(self._first)
        envelope = self._transport.send(call)
        rows = self._take(envelope)
        if envelope.pagination is None and rows and rows == call.query.get("pageSize"):
            self._odd["it does not tell how many pages it has: only the first was read"] += 1
        yield rows
        while self._due <= self._last:
            yield from self._rest()

    def _rest(self) -> Iterator[int]:
        waiting: dict[int, Envelope | Refused] = {}
        with closing(self._transport.send_all(self._calls())) as outcomes:
            for outcome in outcomes:
                call, answer = _apart(outcome)
                waiting[int(call.query["page"])] = answer
                while self._due in waiting and self._due <= self._last:
                    yield self._take(waiting.pop(self._due))
                if self._due > self._last:
                    return

    def _calls(self) -> Iterator[Call]:
        page = self._due
        while page <= self._last and page < self._due + _AHEAD:
            yield self._call(page)
            page += 1

    def _take(self, answer: Envelope | Refused) -> int:
        """Take the page that is due, or note why it has nothing new. Returns its rows."""
        page, rows, odd = self._due, 0, "a page that it announced was empty"
        self._due += 1
        if isinstance(answer, Refused):
            odd = f"a page that it announced was refused ({answer.reason})"
        elif self._previous == (data := bytes(answer.data)):
            odd = "a page came twice"
        else:
            rows = self._add(answer.data)
            self._previous = data if rows else self._previous
        if not rows and page <= self._announced:
            self._odd[odd] += 1
        self.rows += rows
        self._largest = max(self._largest, rows)
        if not isinstance(answer, Refused) and answer.pagination:
            self._follow(answer.pagination, page)
        self._idle = 0 if rows else self._idle + 1
        if self._idle == _PATIENCE:
            self._last = page
        return rows

    def _follow(self, said: Pagination, page: int) -> None:
        """Look how far the list goes: by its number of pages, and by the rows still to come."""
        self._totals.append(said.total_count)
        self._announced = max(self._announced, self._first + said.total_pages - 1)
        to_come = max(0, said.total_count - self.rows)
        last = max(self._last, self._announced, page + -(-to_come // self._largest))
        if self._limit is None:
            self._limit = last + (last - self._first) + _PATIENCE
        if last > self._limit:
            self._odd["it grew faster than it could be read"] = 1
        self._last = min(last, self._limit)


def _apart(outcome: tuple[Call, Envelope] | Fault) -> tuple[Call, Envelope | Refused]:
    """Tell a page from one that was refused, as a page past the end may be; raise the rest."""
    if not isinstance(outcome, Fault):
        return outcome
    if type(outcome.error) in (Refused, NotFound):
        return outcome.call, cast(Refused, outcome.error)
    raise outcome.error
