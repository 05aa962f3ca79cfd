"""Reconcile: find out whether creates whose answers were lost have landed.

An update or a delete in doubt is read again by its key (judge.py). A create has no key yet:
its record is looked for by what names it, by a search or by reading the whole list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from chatkit.bulk.asker import Asker, Stopped
from chatkit.bulk.row import Row
from chatkit.endpoints import Endpoints
from chatkit.errors import CallError, Fault, NotFound
from chatkit.listing import Listing
from chatkit.record import Record

#: A list that moves while it is read may miss a record: so often it is read again.
_PASSES = 3
_NOTHING: tuple[object, ...] = (None, "", [], {})

#: New records by what names them, and then by their keys.
Found = dict[str | None, dict[object, Record]]


class Verdict(NamedTuple):
    """What was found of one row in doubt: adopted, absent, conflict or unknown, and why."""

    what: str
    reason: str
    record: Record | None = None


def agrees(live: object, wanted: object) -> bool:
    """Whether a value that was read is the one that was meant.

    Nothing is nothing, whether null, empty text or an empty list; an object may have more
    fields than were sent, as long as nothing is in them.
    """
    if isinstance(live, bool) or isinstance(wanted, bool):
        return live is wanted
    if not live and not wanted:
        return (live in _NOTHING and wanted in _NOTHING) or live == wanted
    if isinstance(live, Mapping) and isinstance(wanted, Mapping):
        return all(agrees(live.get(name), wanted.get(name)) for name in {*live, *wanted})
    if isinstance(live, list) and isinstance(wanted, list):
        return len(live) == len(wanted) and all(map(agrees, live, wanted))
    return live == wanted


class Search:
    """Looks for the records of creates in doubt, all of one room.

    Args:
        asker: Sends the calls.
        endpoints: The room.
    """

    def __init__(self, asker: Asker, endpoints: Endpoints[Any]) -> None:
        self._asker, self._endpoints = asker, endpoints

    def look(
        self, rows: Sequence[Row], taken: Collection[object], *, thorough: bool
    ) -> dict[int, Verdict]:
        """Return a verdict for each row, by its number; none if it was stopped.

        Args:
            rows: The creates.
            taken: Keys of others: what was there at planning, and what other rows made.
            thorough: Read the whole list even where a search would do.
        """
        named: dict[str | None, list[Row]] = {}
        for row in rows:
            named.setdefault(self._endpoints.natural(row.change.after), []).append(row)
        found: Found = {name: {} for name in named}
        verdicts: dict[int, Verdict] = {}
        try:
            whole = not thorough and self._search(rows, found)
            for _ in range(_PASSES):
                whole = whole or self._scan(found)
            for name, group in named.items():
                new = [record for key, record in found[name].items() if key not in taken]
                verdicts |= self._assigned(group, new, whole)
        except CallError as error:
            reason = f"cannot be looked for: {error.reason}"
            return {row.n: Verdict("unknown", reason) for row in rows}
        except Stopped:
            return {}
        return verdicts

    def _assigned(self, rows: list[Row], new: list[Record], whole: bool) -> dict[int, Verdict]:
        """Give each of some rows of one name the record that it has made."""
        new = [self._in_full(record, rows) for record in new]
        alike = [record for record in new if not all(self._odd(row, record) for row in rows)]
        if len(alike) > len(rows):
            reason = f"there are {len(alike)} new ones just like it: look at them"
            return {row.n: Verdict("unknown", reason) for row in rows}
        verdicts = {}
        left = []
        for row in rows:
            mine = next((record for record in alike if not self._odd(row, record)), None)
            if mine is None:
                left.append(row)
                continue
            alike.remove(mine)
            new.remove(mine)
            verdicts[row.n] = Verdict("adopted", "the answer was lost, it is there", mine)
        for row in left:
            if new:  # nobody wants two of one name unawares
                said = "somebody else made it meanwhile: " + self._odd(row, new[0])
                verdicts[row.n] = Verdict("conflict", said, new[0])
            elif whole:
                verdicts[row.n] = Verdict("absent", "")
            else:
                verdicts[row.n] = Verdict("unknown", "the list does not keep still")
        return verdicts

    def _in_full(self, record: Record, rows: list[Row]) -> Record:
        """Read a candidate on its own where a list shows less than was sent."""
        endpoints = self._endpoints
        sent = {name for row in rows for name in row.change.after}
        if sent & endpoints.record.model_fields.keys() <= set(endpoints.record.listed):
            return record
        key = getattr(record, endpoints.key)
        call = endpoints.get_call(key)
        try:
            full: Record = endpoints.read(call, self._asker.send(call), key)
        except NotFound:  # gone again
            return record
        return full

    def _odd(self, row: Row, record: Record) -> str:
        """Say what of a record is not what the row has sent."""
        there = self._endpoints.shown(record)
        wanted = row.change.after
        odd = [n for n in wanted if n in there and not agrees(there[n], wanted[n])]
        return ", ".join(f"{name} is {there[name]!r:.60}" for name in odd)

    def _search(self, rows: Iterable[Row], found: Found) -> bool:
        """Search for each; False if that cannot be done, or finds more than one page."""
        endpoints = self._endpoints
        if not endpoints.unique or endpoints.profile.search_param is None:
            return False
        filters = (endpoints.search(endpoints.searched(row.change.after)) for row in rows)
        for outcome in self._asker.send_all(endpoints.list_call(filters=one) for one in filters):
            if isinstance(outcome, Fault):
                raise outcome.error
            call, envelope = outcome
            self._sort(endpoints.many(call, envelope.data), found)
            if envelope.pagination and envelope.pagination.total_pages > 1:
                return False
        return True

    def _scan(self, found: Found) -> bool:
        """Read the whole list once; True if it kept still, so that what is not there is absent."""
        endpoints = self._endpoints
        if not endpoints.paged:
            call = endpoints.list_call()
            self._sort(endpoints.many(call, self._asker.send(call).data), found)
            return True
        keys: set[object] = set()

        def add(data: Any) -> int:
            records = endpoints.many(endpoints.list_call(), data)
            self._sort(records, found)
            keys.update(getattr(record, endpoints.key) for record in records)
            return len(records)

        listing = Listing(self._asker, endpoints.list_call, add, first=endpoints.profile.page_base)
        for _ in listing.read():
            pass
        return not listing.moved and listing.total in (None, len(keys))

    def _sort(self, records: Iterable[Record], found: Found) -> None:
        for record in records:
            name = self._endpoints.named(record)
            if name in found:
                found[name][getattr(record, self._endpoints.key)] = record
