"""Listing: read every page of a list, and detect changes during the read.

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
_EMPTY_PAGES_AT_END = 8
#: A list without pagination that has not ended after so many pages never will.
_MOST_PAGES = 100_000
#: How far pages may run ahead of one that is slow: they wait in memory until it is there.
_READ_AHEAD = 100
#: Single records that are read as one page.
_JOINED_ROWS = 200


class Sender(Protocol):
    """An object that sends calls: a `Transport`, or a wrapper of one."""

    def send(self, call: Call) -> Envelope:
        """Send a call and return its envelope, or raise the error it means."""

    def send_all(
        self, calls: Iterable[Call], *, concurrency: int = ...
    ) -> Generator[tuple[Call, Envelope] | Fault, None, None]:
        """Send many calls at once; yield the envelope or fault of each."""


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
        self._previous_rows = 0  # rows of the page before
        self._empty_pages = 0
        self._previous_data = b""
        self._totals: list[int] = []  # the latest, and the least and the most
        self._signs: Counter[str] = Counter()

    @property
    def total(self) -> int | None:
        """The number of rows, by the latest answer of the service."""
        return self._totals[0] if self._totals else None

    @property
    def calls(self) -> tuple[int, int]:
        """The number of pages that were read, and of those known to come."""
        return self._due - self._start, max(0, self._last + 1 - self._due)

    @property
    def moved(self) -> list[str]:
        """The indications that the list changed while it was read; empty if none."""
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
        yield self._process_page(envelope)
        if "page" not in call.query:
            check_list_is_complete(call, envelope, self.rows)
            return
        while self._due <= self._last:
            kept = (Refused, NotFound)  # a page past the end may be refused
            for answer in send_in_order(self._transport, self._calls_ahead(), kept=kept):
                yield self._process_page(answer)
                if self._due > self._last:
                    break

    def _calls_ahead(self) -> Iterator[Call]:
        """Yield the calls for the pages that are known to come."""
        page = self._due
        while page <= self._last and page < self._due + _READ_AHEAD:
            yield self._call(page)
            page += 1

    def _process_page(self, answer: Envelope | Refused) -> int:
        """Add the page that is due, or note why it has nothing new; return its number of rows."""
        page, rows, sign = self._due, 0, "a page that it announced was empty"
        self._due += 1
        if isinstance(answer, Refused):
            sign = f"a page that it announced was refused ({answer.reason})"
        elif self._previous_data == (data := bytes(answer.data)):
            sign = "a page came twice"
        else:
            rows = self._add(answer.data)
            self._previous_data = data if rows else self._previous_data
        if not rows and page <= self._announced:
            self._signs[sign] += 1
        self.rows += rows
        self._largest = max(self._largest, rows)
        if not isinstance(answer, Refused) and answer.pagination:
            self._update_last_page(answer.pagination, page)
        if self.rows > max([0, *self._totals]) and page >= self._last:  # nothing says how far
            if rows:
                self._last = page + 1
            elif not self._totals:
                self._check_end_without_pagination(answer, page)
        if self._last - self._start > _MOST_PAGES and not self._totals:
            reason = f"the list has no pagination, and had not ended after {_MOST_PAGES:,} pages"
            raise BadAnswer(self._call(page), reason)
        self._previous_rows = rows
        self._empty_pages = 0 if rows else self._empty_pages + 1
        if self._empty_pages == _EMPTY_PAGES_AT_END:
            self._last = page
        return rows

    def _check_end_without_pagination(self, answer: Envelope | Refused, page: int) -> None:
        """Check that a page without anything new is the end of a list that has no pagination.

        Raises:
            BadAnswer: The page before was full, and what came may be a page in its middle.
        """
        call = self._call(page)
        size, second = int(call.query["pageSize"]), page == self._start + 1
        if self._previous_rows < self._largest or (second and self._previous_rows < size):
            return
        if isinstance(answer, Refused) and not self._refuses and type(answer) is not NotFound:
            raise BadAnswer(
                call,
                f"the list has no pagination, and after {self.rows} rows its next page was refused "
                f"({answer.reason}): that may be its end or not. If this service refuses a page "
                "after the last, set page_past_end='refuse' in the profile",
            )
        if second and not isinstance(answer, Refused) and self._previous_data == bytes(answer.data):
            raise BadAnswer(
                call,
                f"the list has no pagination, and its second page of {size} rows is the first one "
                f"again: what follows these {size} cannot be read",
            )

    def _update_last_page(self, pagination: Pagination, page: int) -> None:
        """Estimate the last page by the number of pages, and by the rows still to come."""
        total = pagination.total_count  # of these only three are kept: there may be a million
        self._totals = [total, min([total, *self._totals]), max([total, *self._totals])]
        self._announced = max(self._announced, self._first + pagination.total_pages - 1)
        to_come = max(0, total - self.rows)
        last = max(self._last, self._announced, page + -(-to_come // self._largest))
        if self._limit is None:
            self._limit = last + (last - self._first) + _EMPTY_PAGES_AT_END
        if last > self._limit:
            self._signs["it grew faster than it could be read"] = 1
        self._last = min(last, self._limit)


def check_list_is_complete(call: Call, envelope: Envelope, rows: int) -> None:
    """Check that a list documented without pagination was returned in full.

    Raises:
        BadAnswer: Its pagination says that there are more rows than came.
    """
    if envelope.pagination and envelope.pagination.total_count > rows:
        raise BadAnswer(
            call,
            f"only {rows} of {envelope.pagination.total_count} rows came: the service cuts this "
            "list into pages, which the API document does not know",
        )


def send_in_order(
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


def join_into_pages(rows: Iterable[bytes | Raw]) -> Iterator[bytes]:
    """Join single records into JSON arrays, which decode twice as fast."""
    source = iter(rows)
    while page := list(islice(source, _JOINED_ROWS)):
        yield b"[" + b",".join(map(bytes, page)) + b"]"
