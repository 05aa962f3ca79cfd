"""Reconcile: find out whether a create whose answer was lost has landed.

An update or a delete in doubt is read again by its key (apply.py). A create has no key yet:
its record is looked for by what names it, by a search or by reading the whole list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from chatkit.bulk.row import Row
from chatkit.endpoints import Endpoints
from chatkit.errors import CallError, Fault
from chatkit.listing import Listing
from chatkit.record import Record
from chatkit.transport import Transport

#: A list that moves while it is read may miss a record: so often it is read again.
_PASSES = 3


class Verdict(NamedTuple):
    """What was found of one row in doubt: adopted, absent, conflict or unknown, and why."""

    what: str
    reason: str
    record: Record | None = None


def same(live: object, wanted: object) -> bool:
    """Whether a value that was read is the one that was meant.

    Nothing is nothing, whether null, empty text or an empty list; an object may have more
    fields than were sent, as long as nothing is in them.
    """
    if isinstance(live, bool) or isinstance(wanted, bool):
        return live is wanted
    if not live and not wanted:
        return (live in _NOTHING and wanted in _NOTHING) or live == wanted
    if isinstance(live, Mapping) and isinstance(wanted, Mapping):
        return all(same(live.get(name), wanted.get(name)) for name in {*live, *wanted})
    if isinstance(live, list) and isinstance(wanted, list):
        return len(live) == len(wanted) and all(map(same, live, wanted))
    return live == wanted


_NOTHING: tuple[object, ...] = (None, "", [], {})


def look(
    transport: Transport,
    endpoints: Endpoints[Any],
    rows: list[Row],
    taken: Collection[object],
    *,
    thorough: bool,
) -> dict[int, Verdict]:
    """Look for the records of creates in doubt; a verdict for each row, by its number.

    Args:
        transport: Sends the calls.
        endpoints: The room of all these rows.
        rows: The creates.
        taken: Keys that belong to others: what was there at planning, and what other rows made.
        thorough: Read the whole list even where a search would do.
    """
    wanted = {endpoints.natural(row.change.after): row for row in rows}
    found: dict[str | None, dict[object, Record]] = {name: {} for name in wanted}
    searches = endpoints.unique and endpoints.profile.search_param is not None and not thorough
    try:
        whole = _search(transport, endpoints, rows, found) if searches else False
        for _ in range(0 if searches else _PASSES):
            whole = _scan(transport, endpoints, found)
            if whole:
                break
    except CallError as error:
        return {row.n: Verdict("unknown", f"cannot be looked for: {error.reason}") for row in rows}
    return {
        row.n: _verdict(endpoints, row, found[endpoints.natural(row.change.after)], taken, whole)
        for row in rows
    }


def _verdict(
    endpoints: Endpoints[Any],
    row: Row,
    candidates: Mapping[object, Record],
    taken: Collection[object],
    whole: bool,
) -> Verdict:
    new = {key: record for key, record in candidates.items() if key not in taken}
    if not new:
        return (
            Verdict("absent", "") if whole else Verdict("unknown", "the list does not keep still")
        )
    if len(new) > 1:
        return Verdict("unknown", f"there are {len(new)} new ones of that name: look at them")
    [(_, record)] = new.items()
    there = endpoints.sendable(record)
    odd = [n for n, value in row.change.after.items() if n in there and not same(there[n], value)]
    if odd:
        shown = ", ".join(f"{name} is {there[name]!r:.60}" for name in odd)
        return Verdict("conflict", f"somebody else made it meanwhile: {shown}", record)
    return Verdict("adopted", "the answer was lost, it is there", record)


def _search(
    transport: Transport,
    endpoints: Endpoints[Any],
    rows: Iterable[Row],
    found: dict[str | None, dict[object, Record]],
) -> bool:
    """Search for each; a search may find more than was meant, and more than one page."""
    calls = [
        endpoints.list_call(filters=endpoints.search(endpoints.searched(row.change.after)))
        for row in rows
    ]
    whole = True
    for outcome in transport.send_all(calls):
        if isinstance(outcome, Fault):
            raise outcome.error
        call, envelope = outcome
        _sort(endpoints, endpoints.many(call, envelope.data), found)
        pages = envelope.pagination.total_pages if envelope.pagination else 1
        whole = whole and pages <= 1
    return whole


def _scan(
    transport: Transport,
    endpoints: Endpoints[Any],
    found: dict[str | None, dict[object, Record]],
) -> bool:
    """Read the whole list once; True if it kept still, so that what is not there is absent."""
    if not endpoints.paged:
        call = endpoints.list_call()
        _sort(endpoints, endpoints.many(call, transport.send(call).data), found)
        return True
    keys: set[object] = set()

    def add(data: Any) -> int:
        records = endpoints.many(endpoints.list_call(), data)
        _sort(endpoints, records, found)
        keys.update(getattr(record, endpoints.key) for record in records)
        return len(records)

    listing = Listing(transport, endpoints.list_call, add, first=endpoints.profile.page_base)
    for _ in listing.read():
        pass
    return not listing.moved and listing.total in (None, len(keys))


def _sort(
    endpoints: Endpoints[Any],
    records: Iterable[Record],
    found: dict[str | None, dict[object, Record]],
) -> None:
    for record in records:
        name = endpoints.natural(endpoints.sendable(record))
        if name in found:
            found[name][getattr(record, endpoints.key)] = record


def waves(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Part creates in doubt so that no two in one look have the same name."""
    waiting = list(rows)
    while waiting:
        names: set[object] = set()
        wave: list[Row] = []
        rest: list[Row] = []
        for row in waiting:
            (rest if row.change.label in names else wave).append(row)
            names.add(row.change.label)
        yield wave
        waiting = rest
