"""Reconcile: find out whether creates whose answers were lost took effect.

An update or a delete in doubt is read again by its key (outcomes.py). A create has no key yet:
its record is looked for by what names it, by a search or by reading the whole list.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from msgspec import Raw

from chatkit.api.answer import Envelope
from chatkit.api.call import Call
from chatkit.api.record import Record
from chatkit.api.retry import LIST_READS
from chatkit.api.throttle import Throttle
from chatkit.api.transport import Transport
from chatkit.bulk.endpoints import Endpoints
from chatkit.bulk.outcomes import (
    CAME_TWICE,
    CREATED_MEANWHILE,
    Row,
    pick_documented_fields,
    values_agree,
)
from chatkit.errors import BadAnswer, CallError, Fault, NotFound

#: Fewer records than these are read one by one: they may be on any page.
PAGES_FROM = 10

Keys = Collection[object]
#: Creates by their natural name.
Named = Mapping[str | None, list[Row]]
#: New records by their natural name, and then by their keys.
Matches = dict[str | None, dict[object, Record]]


class Verdict(NamedTuple):
    """The verdict on one unknown row: adopted, absent, conflict or unknown, and why.

    `proven` is false where absence is not certain: the list shows deleted records, and only
    sending again tells them from others.
    """

    what: str
    reason: str
    record: Record | None = None
    proven: bool = True


class Search:
    """Search for the records of creates in doubt, all of one resource.

    Args:
        reader: Sends the calls.
        endpoints: The endpoints of the resource.
    """

    def __init__(self, reader: ThrottledReader, endpoints: Endpoints[Any]) -> None:
        self._reader, self._endpoints = reader, endpoints

    def find_verdicts(
        self, rows: Sequence[Row], taken: Keys, *, thorough: bool
    ) -> dict[int, Verdict]:
        """Look for the records of creates; return a verdict by row number, none if stopped.

        Each row is compared only with the records found under its own name.

        Args:
            rows: The creates.
            taken: Keys of others: what was there at planning, and what other rows made.
            thorough: Read the whole list even where a search would do.
        """
        named: dict[str | None, list[Row]] = {}
        for row in rows:
            named.setdefault(self._endpoints.make_natural_name(row.change.after), []).append(row)
        records: Matches = {name: {} for name in named}
        verdicts: dict[int, Verdict] = {}
        try:
            sure = set() if thorough else self._search_names(named, records)
            # A search that finds nothing of what is there is no proof.
            sure -= {n for n, group in named.items() if not records[n] and _any_clashed(group)}
            unread: CallError | None = None
            for _ in range(LIST_READS):
                if len(sure) == len(named):
                    break
                unread = None
                try:
                    if self._scan_list(records):
                        sure = set(named)
                except BadAnswer as error:  # the next reading may go well
                    unread = error
                except CallError as error:
                    unread = error
                    break
            for name, group in named.items():
                new = [record for key, record in records[name].items() if key not in taken]
                try:
                    if unread and name not in sure and not (self._endpoints.unique and new):
                        raise unread
                    uncertain = "" if name in sure else "the list kept changing while it was read"
                    verdicts |= self._match(group, new, uncertain)
                except CallError as error:
                    reason = f"it cannot be looked for: {error.reason}"
                    verdicts |= {row.n: Verdict("unknown", reason) for row in group}
        except Stopped:
            return {}
        return verdicts

    def find_duplicates(self, rows: Sequence[Row], taken: Keys) -> dict[int, list[int]]:
        """Find duplicates of created records that appeared at the same time.

        Where nothing keeps a name single, a request that the network delivered twice makes two.
        The keys of a row begin with its own, unless no record of its name has that.

        Raises:
            CallError: The list cannot be read.
            Stopped: A person wants to stop.
        """
        named = {self._endpoints.make_natural_name(row.change.after): row for row in rows}
        records: Matches = {name: {} for name in named}
        any(self._scan_list(records) for _ in range(LIST_READS))  # until the list keeps still
        duplicates: dict[int, list[int]] = {}
        for name, row in named.items():
            of_name = records[name]
            new = [k for k in of_name if k not in taken and not self._differences(row, of_name[k])]
            if new:
                own = [row.key] if row.key in of_name else []
                duplicates[row.n] = [key for key in [*own, *new] if isinstance(key, int)]
        return duplicates

    def _match(self, rows: list[Row], new: list[Record], uncertain: str) -> dict[int, Verdict]:
        """Match creates of one name with the records found under it; return their verdicts.

        Args:
            rows: The creates.
            new: The records found that nobody else is known to have made.
            uncertain: Why there may be more such records; empty if there are none.
        """
        new, proven = self._drop_deleted(new, refused=_any_clashed(rows))
        new = [self._read_in_full(record, rows) for record in new]
        alike = [
            record for record in new if not all(self._differences(row, record) for row in rows)
        ]
        verdicts = {}
        left = []
        for row in rows:
            own = next((record for record in alike if not self._differences(row, record)), None)
            if own is None:
                left.append(row)
                continue
            alike.remove(own)
            new.remove(own)
            why = "the answer was lost, it is there"
            if not row.was_unknown:  # it was refused, and no answer to it was lost
                why = CAME_TWICE
            verdicts[row.n] = Verdict("adopted", why, own)
        for row in left:
            if new:  # nobody wants two of one name unawares
                why = f"{CREATED_MEANWHILE}: {self._differences(row, new[0])}"
                verdicts[row.n] = Verdict("conflict", why, new[0])
            elif uncertain:
                verdicts[row.n] = Verdict("unknown", uncertain)
            else:
                verdicts[row.n] = Verdict("absent", "", proven=proven)
        return verdicts

    def _drop_deleted(self, new: list[Record], *, refused: bool) -> tuple[list[Record], bool]:
        """Drop deleted records, where the list shows these too.

        Args:
            new: The records found.
            refused: Whether the service has refused to make another: then one is active.

        Returns:
            The active records, and whether it is sure that the others are deleted.
        """
        endpoints = self._endpoints
        if refused or not new or not endpoints.lists_deleted:
            return new, True
        if endpoints.reads_deleted:  # nothing tells: made again it comes back, or is refused
            return [], False
        active = []
        for record in new:
            key = getattr(record, endpoints.key)
            with suppress(NotFound):
                self._read_record(key)
                active.append(record)
        return active, True

    def _read_record(self, key: Any) -> Record:
        """Read one record; try again while the answer is about something else."""
        call = self._endpoints.get_call(key)
        for _ in range(self._reader.tries):
            envelope = self._reader.send(call)
            try:
                record: Record = self._endpoints.read(call, envelope, key)
            except BadAnswer as error:
                bad = error
            else:
                return record
        raise bad

    def _read_in_full(self, record: Record, rows: list[Row]) -> Record:
        """Read a listed record alone if the list does not show all fields that were sent."""
        endpoints = self._endpoints
        sent = {name for row in rows for name in row.change.after}
        if sent & endpoints.record.model_fields.keys() <= set(endpoints.record.listed):
            return record
        try:
            return self._read_record(getattr(record, endpoints.key))
        except NotFound:  # gone again
            return record

    def _differences(self, row: Row, record: Record) -> str:
        """Describe the fields of a record that differ from what a row has sent; empty if none."""
        endpoints = self._endpoints
        live = pick_documented_fields(endpoints, endpoints.dump_visible_fields(record))
        sent = pick_documented_fields(endpoints, row.change.after)
        if not row.was_unknown:  # it was refused as one that is there: perhaps somebody else's
            fields = endpoints.body.model_fields.items()  # what was not sent is what it begins as
            sent = {n: f.default for n, f in fields if not f.is_required()} | sent
        differing = [n for n in sent if n in live and not values_agree(live[n], sent[n])]
        return ", ".join(f"{name} is {live[name]!r:.60}" for name in differing)

    def _search_names(self, named: Named, matches: Matches) -> set[str | None]:
        """Search for each name; return the names of which every record was found.

        None of them is, where lists cannot be searched. A name of which the search cannot be
        read, or finds more than one page, is looked for in the whole list instead.
        """
        endpoints = self._endpoints
        if not endpoints.unique or endpoints.profile.search_param is None:
            return set()
        calls: dict[int, tuple[Call, str | None]] = {}
        for name, (row, *_) in named.items():
            search = endpoints.search(str(row.change.after[endpoints.list_name_fields()[-1]]))
            call = endpoints.list_call(filters=search)
            calls[id(call)] = call, name
        sure = set()
        for outcome in self._reader.send_all(call for call, _ in calls.values()):
            if isinstance(outcome, Fault):
                continue
            call, envelope = outcome
            with suppress(BadAnswer):
                records = endpoints.parse_records(call, envelope.data)
                self._collect_matches(records, matches)
                pagination = envelope.pagination
                whole = pagination is not None and pagination.total_count <= len(records)
                if whole or not (endpoints.paged and records):  # else other pages may have more
                    sure.add(calls[id(call)][1])
        return sure

    def _scan_list(self, matches: Matches) -> bool:
        """Collect the matches in the whole list; return whether all of it was surely seen."""
        endpoints = self._endpoints
        keys: set[object] = set()

        def add(data: Raw) -> int:
            records = endpoints.parse_records(endpoints.list_call(), data)
            self._collect_matches(records, matches)
            keys.update(getattr(record, endpoints.key) for record in records)
            return len(records)

        listing = endpoints.list_reader(add, sender=self._reader)
        for _ in listing.read():
            pass
        whole = not listing.moved and listing.total in (None, len(keys))
        return whole or not endpoints.paged

    def _collect_matches(self, records: Iterable[Record], matches: Matches) -> None:
        for record in records:
            name = self._endpoints.make_natural_name(vars(record))
            if name in matches:
                matches[name][getattr(record, self._endpoints.key)] = record


def _any_clashed(rows: Iterable[Row]) -> bool:
    """Return whether any row was refused because such a record exists."""
    return any(row.refusal is not None for row in rows)


def read_records_by_pages(
    reader: ThrottledReader, endpoints: Endpoints[Any], keys: Keys
) -> tuple[dict[object, Record], int]:
    """Read records by the pages of their list, as long as that takes fewer calls than one by one.

    Returns:
        The records that the list shows, by key, and how many pages it has. A record may be
        missing: the list has moved, or a page cannot be read.

    Raises:
        Stopped: A person wants to stop.
    """
    records: dict[object, Record] = {}

    def add(data: Raw) -> int:
        page = endpoints.parse_records(endpoints.list_call(), data)
        by_key = {getattr(record, endpoints.key): record for record in page}
        records.update({key: record for key, record in by_key.items() if key in keys})
        return len(page)

    listing = endpoints.list_reader(add, sender=reader)
    pages = listing.read()
    with suppress(CallError):
        next(pages)
        # Without a total nobody knows how many pages there are.
        if listing.total is not None and listing.calls[1] <= len(keys) - len(records):
            deque(pages, 0)
    return records, sum(listing.calls)


# --- reads of a run -------------------------------------------------------------------


class Stopped(Exception):
    """A person stopped the run: calls under way are abandoned."""


class ThrottledReader:
    """Sender of the reads of a run, as fast as its throttle lets them, until it is stopped.

    Args:
        transport: What sends them.
        throttle: Limits the calls at once and a second.
        stopped: Returns whether a person wants to stop; calls under way are then abandoned.
    """

    def __init__(
        self, transport: Transport, throttle: Throttle, stopped: Callable[[], bool]
    ) -> None:
        self._transport, self._throttle, self._stopped = transport, throttle, stopped
        self.tries = transport.retry.row_tries  #: how often a read whose answer is bad is sent

    def send(self, call: Call) -> Envelope:
        """Send a call and return its envelope; raise the error it means, or `Stopped`."""
        [outcome] = self.send_all([call])
        if isinstance(outcome, Fault):
            raise outcome.error
        return outcome[1]

    def send_all(
        self, calls: Iterable[Call], *, concurrency: int = 8
    ) -> Generator[tuple[Call, Envelope] | Fault, None, None]:
        """Send many calls; yield the outcome of each as it comes. Raises `Stopped`.

        A read whose answer says nothing is sent again: it changes nothing, and the next
        answer is most often a good one.
        """
        source = iter(calls)
        again: deque[Call] = deque()
        asked: Counter[str] = Counter()
        with self._transport.flight() as flight:
            while True:
                if self._stopped():
                    raise Stopped
                free = max(0, min(self._throttle.free(flight.out), concurrency - flight.out))
                batch = [again.popleft() for _ in range(min(free, len(again)))]
                batch += islice(source, free - len(batch))
                self._throttle.count_started(len(batch))
                flight.start(batch)
                if not flight.out:
                    if free:  # and nothing was left
                        return
                    time.sleep(min(self._throttle.seconds_until_free(), 0.1))
                    continue
                outcomes = flight.completed(0.1)
                self._throttle.completed(len(outcomes))
                for outcome in outcomes:
                    call = outcome.call if isinstance(outcome, Fault) else outcome[0]
                    asked[call.target] += 1
                    bad = isinstance(outcome, Fault) and isinstance(outcome.error, BadAnswer)
                    if bad and asked[call.target] < self.tries:
                        again.append(call)
                    else:
                        yield outcome
