"""Listing: reads every page of a list, and notices when the list moves meanwhile.

How far a list goes is told by its pagination. Where that is missing, or its figures are
smaller than what has come already, pages are read one by one until one has nothing new. What
cannot be read to its end is an error: part of a list is never taken for the whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import Protocol, cast

from msgspec import Raw

from chatkit.api.answer import Envelope, Pagination
from chatkit.api.call import Call
from chatkit.errors import BadAnswer, CallError, Fault, NotFound, Refused

#: So many pages without anything new, one after the other, are the end. As many are in
#: flight anyway, so looking past a page that is empty costs nothing.
_PATIENCE = 8
#: A list without pagination that has not ended after so many pages never will.
_MOST_PAGES = 100_000
#: How far pages may run ahead of one that is slow: they wait in memory until it is there.
_AHEAD = 100
#: Single records that are read as one page.
_PAGE = 200


class Sender(Protocol):
    """The sender of the calls: a `Transport`, or what stands before one."""

    def send(self, call: Call) -> Envelope:
        """Send a call and return its envelope, or raise the error it means."""

    def send_all(
        self, calls: Iterable[Call], *, concurrency: int = ...
    ) -> Generator[tuple[Call, Envelope] | Fault, None, None]:
        """Send many calls at once; yield what came back of each."""


class ListReader:
    """All pages of one list, taken in their order while several are in flight.

    Each page tells how many there are, and may be wrong or change its mind. Whichever of
    its figures promises more is followed, reading always ends, and `moved` tells what was
    odd. A page that tells nothing is followed by the next one, until one has nothing new.

    Args:
        transport: Sends the calls.
        call: Makes the call for a page number.
        add: Takes the data of a page and returns how many rows it has.
        first: The number of the first page.
        refuses: Whether the service refuses a page after the last, as its profile says.
        start: The page to go on from, where earlier ones were read before.
        rows: How many rows there were before that page.
    """

    def __init__(
        self,
        transport: Sender,
        call: Callable[[int], Call],
        add: Callable[[Raw], int],
        *,
        first: int,
        refuses: bool = False,
        start: int | None = None,
        rows: int = 0,
    ) -> None:
        self.rows = rows
        self._refuses = refuses
        self._transport = transport
        self._call = call
        self._add = add
        self._first = first
        self._start = self._due = self._last = first if start is None else start
        self._announced = first - 1
        self._limit: int | None = None
        self._largest = 1
        self._latest = 0  # rows of the page before
        self._idle = 0
        self._previous = b""
        self._totals: list[int] = []  # the latest, and the least and the most
        self._signs: Counter[str] = Counter()

    @property
    def total(self) -> int | None:
        """The number of rows, by the latest answer of the service."""
        return self._totals[0] if self._totals else None

    @property
    def calls(self) -> tuple[int, int]:
        """The number of pages that were read here, and of those to come as far as is known."""
        return self._due - self._start, max(0, self._last + 1 - self._due)

    @property
    def moved(self) -> list[str]:
        """The signs that the list moved, each in a few words; none if it stayed quiet."""
        signs = [what if n == 1 else f"{what} ({n} times)" for what, n in self._signs.items()]
        if len({*self._totals}) > 1:
            signs.append(f"its total was between {min(self._totals)} and {max(self._totals)}")
        return signs

    def read(self) -> Generator[int, None, None]:
        """Read all pages; yield how many rows each one had.

        Raises:
            BadAnswer: The list goes on, and there is no way to read on; or it never ends.
        """
        call = self._call(self._start)
        envelope = self._transport.send(call)
        yield self._take(envelope)
        if "page" not in call.query:
            refuse_part(call, envelope, self.rows)
            return
        while self._due <= self._last:
            kept = (Refused, NotFound)  # a page past the end may be refused
            for answer in answers_in_order(self._transport, self._calls(), kept=kept):
                yield self._take(answer)
                if self._due > self._last:
                    break

    def _calls(self) -> Iterator[Call]:
        page = self._due
        while page <= self._last and page < self._due + _AHEAD:
            yield self._call(page)
            page += 1

    def _take(self, answer: Envelope | Refused) -> int:
        """Take the page that is due, or note why it has nothing new. Returns its rows."""
        page, rows, sign = self._due, 0, "a page that it announced was empty"
        self._due += 1
        if isinstance(answer, Refused):
            sign = f"a page that it announced was refused ({answer.reason})"
        elif self._previous == (data := bytes(answer.data)):
            sign = "a page came twice"
        else:
            rows = self._add(answer.data)
            self._previous = data if rows else self._previous
        if not rows and page <= self._announced:
            self._signs[sign] += 1
        self.rows += rows
        self._largest = max(self._largest, rows)
        if not isinstance(answer, Refused) and answer.pagination:
            self._follow(answer.pagination, page)
        if self.rows > max([0, *self._totals]) and page >= self._last:  # nothing says how far
            if rows:
                self._last = page + 1
            elif not self._totals:
                self._refuse_break(answer, page)
        if self._last - self._start > _MOST_PAGES and not self._totals:
            reason = f"the list has no pagination, and had not ended after {_MOST_PAGES:,} pages"
            raise BadAnswer(self._call(page), reason)
        self._latest = rows
        self._idle = 0 if rows else self._idle + 1
        if self._idle == _PATIENCE:
            self._last = page
        return rows

    def _refuse_break(self, answer: Envelope | Refused, page: int) -> None:
        """Take a page without anything new for the end of a list that has no pagination.

        Raises:
            BadAnswer: The page before was full, and what came may be a page in its middle.
        """
        call = self._call(page)
        size, second = int(call.query["pageSize"]), page == self._start + 1
        if self._latest < self._largest or (second and self._latest < size):
            return
        if isinstance(answer, Refused) and not self._refuses and type(answer) is not NotFound:
            raise BadAnswer(
                call,
                f"the list has no pagination, and after {self.rows} rows its next page was refused "
                f"({answer.reason}): that may be its end or not. If this service refuses a page "
                "after the last, set page_past_end='refuse' in the profile",
            )
        if second and not isinstance(answer, Refused) and self._previous == bytes(answer.data):
            raise BadAnswer(
                call,
                f"the list has no pagination, and its second page of {size} rows is the first one "
                f"again: what follows these {size} cannot be read",
            )

    def _follow(self, pagination: Pagination, page: int) -> None:
        """Look how far the list goes: by its number of pages, and by the rows still to come."""
        self._note_total(pagination)
        self._announced = max(self._announced, self._first + pagination.total_pages - 1)
        to_come = max(0, pagination.total_count - self.rows)
        last = max(self._last, self._announced, page + -(-to_come // self._largest))
        if self._limit is None:
            self._limit = last + (last - self._first) + _PATIENCE
        if last > self._limit:
            self._signs["it grew faster than it could be read"] = 1
        self._last = min(last, self._limit)

    def _note_total(self, pagination: Pagination) -> None:
        """Keep what a page tells of all rows: a list may have a million pages."""
        total = pagination.total_count
        self._totals = [total, min([total, *self._totals]), max([total, *self._totals])]


def refuse_part(call: Call, envelope: Envelope, rows: int) -> None:
    """Refuse a part of a list that has no pages in the API document.

    Raises:
        BadAnswer: Its pagination says that there are more rows than came.
    """
    if envelope.pagination and envelope.pagination.total_count > rows:
        raise BadAnswer(
            call,
            f"only {rows} of {envelope.pagination.total_count} rows came: the service cuts this "
            "list into pages, which the API document does not know",
        )


def answers_in_order(
    sender: Sender, calls: Iterable[Call], *, kept: Collection[type[CallError]]
) -> Iterator[Envelope | Refused]:
    """Send many calls at once; yield their answers in the order of the calls.

    Args:
        sender: Sends them.
        calls: Taken one by one, as earlier ones come back.
        kept: Refusals that are yielded in place of an answer. Any other error is raised as
            soon as it is there.
    """
    place: dict[int, int] = {}  # of the calls under way
    waiting: dict[int, Envelope | Refused] = {}
    due = 0

    def numbered() -> Iterator[Call]:
        for number, call in enumerate(calls):
            place[id(call)] = number
            yield call

    with closing(sender.send_all(numbered())) as outcomes:
        for outcome in outcomes:
            if not isinstance(outcome, Fault):
                call, answer = outcome
                waiting[place.pop(id(call))] = answer
            elif type(outcome.error) in kept:
                waiting[place.pop(id(outcome.call))] = cast(Refused, outcome.error)
            else:
                raise outcome.error
            while due in waiting:
                yield waiting.pop(due)
                due += 1


def pages_of(rows: Iterable[bytes | Raw]) -> Iterator[bytes]:
    """Join single records to JSON arrays of a good size: one by one they take twice the time."""
    source = iter(rows)
    while page := list(islice(source, _PAGE)):
        yield b"[" + b",".join(map(bytes, page)) + b"]"
