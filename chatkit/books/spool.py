"""Spool: reads a whole list into the parts of a book, however long it is, and goes on after a kill.

A part is written, made durable and then noted with the pages that it is from. Who goes on begins
with the last page of the last part: if its rows are known, the next ones follow. If records were
deleted meanwhile the rows have moved to earlier pages, and those are read back until known rows
are met; rows that are in the book already are left out.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Raw

from chatkit import frame as frames
from chatkit.books.book import Book
from chatkit.books.manifest import Began, BookPart, Ended, Manifest, alone, now, prepare, rises
from chatkit.connection import Connection, account_words
from chatkit.display import many
from chatkit.endpoints import Endpoints
from chatkit.errors import BadAnswer, InputError, NotFound, Refused, StoreError
from chatkit.listing import ListReader
from chatkit.progress import Forecast, Progress, Watch, say

#: Rows of a part: some seconds of reading are lost with a kill, and 10⁸ rows are 10⁴ files.
PART_ROWS = 10_000


def label_of(connection: Connection) -> str:
    """Tell what an account is called in a book: its connection, or else its id."""
    named = connection.name if connection.sandbox is None else None
    if not named or named == "environment":
        return connection.account_id
    return account_words(connection.account, named)


def spool(
    endpoints: Endpoints[Any],
    folder: str | os.PathLike[str],
    label: str | None = None,
    *,
    part_rows: int = PART_ROWS,
    watch: Watch | None = None,
) -> Book:
    """Read the whole list of a resource into a book, or go on where that was stopped.

    Args:
        endpoints: Of the resource.
        folder: The folder of the book.
        label: What the account is called in it; without it as `label_of` says.
        part_rows: Rows of a part, at least; a part ends with a page.
        watch: Told of progress in place of a bar.

    Raises:
        InputError: The folder holds something else, or another account.
        StoreError: It cannot be written, or is damaged.
        CallError: The list cannot be read. What was read stays.
    """
    folder = Path(folder).expanduser()
    place = prepare(folder, label or label_of(endpoints.transport.connection))
    with alone(place):
        found = Manifest.read(place, going_on=True)
        manifest = begin(endpoints, place) if found is None else found
        _refuse_other(endpoints, manifest)
        if manifest.ended:
            say(
                f"{place}: {many(manifest.rows, endpoints.noun)}, complete since "
                f"{manifest.ended.when[:10]}; nothing is read again. To read anew, spool into "
                "another folder."
            )
        else:
            _Spool(endpoints, manifest, part_rows, watch).read()
    return Book(folder)


def begin(endpoints: Endpoints[Any], place: Path) -> Manifest:
    """Begin the manifest of an account, without any part."""
    profile = endpoints.profile
    return Manifest.begin(
        place,
        Began(
            account=endpoints.transport.connection.account,
            noun=endpoints.noun,
            key=endpoints.key,
            page_size=profile.max_page_size,
            started=now(),
        ),
    )


def _refuse_other(endpoints: Endpoints[Any], manifest: Manifest) -> None:
    """Refuse to go on with the list of another account, or with a book that was edited."""
    began, ours = manifest.began, endpoints.transport.connection.account
    if began.base is not None:
        raise InputError(
            f"{manifest.place} holds edits of another book: spool into another folder."
        )
    if (began.account, began.noun) != (ours, endpoints.noun):
        theirs = account_words(began.account)
        if theirs == account_words(ours):
            theirs = "another sandbox"
        raise InputError(
            f"{manifest.place} holds {began.noun}s of {theirs}, not {endpoints.noun}s of "
            f"{account_words(ours)}: spool into another folder."
        )


def _when(endpoints: Endpoints[Any]) -> str:
    return endpoints.transport.service_time().isoformat(timespec="seconds")


class _MovedOn(Exception):
    """A page to go on from has no row that is known: the list has moved, or ends before it."""


class _Spool:
    """Reads the rest of a list into the parts of a manifest.

    Args:
        endpoints: Of the resource.
        manifest: What is there.
        part_rows: Rows of a part, at least.
        watch: Told of progress in place of a bar.
    """

    def __init__(
        self, endpoints: Endpoints[Any], manifest: Manifest, part_rows: int, watch: Watch | None
    ) -> None:
        self._endpoints = endpoints
        self._manifest = manifest
        self._part_rows = part_rows
        self._watch = watch
        self._first = endpoints.profile.page_base
        keyed = msgspec.defstruct("Keyed", [("id", Any, None)], rename={"id": endpoints.key})
        self._keyed: msgspec.json.Decoder[list[Any]] = msgspec.json.Decoder(list[keyed])  # type: ignore[valid-type]
        self._notes: list[str] = []
        self._doubles = 0
        self._begin_at(self._first)

    def _begin_at(self, page: int) -> None:
        """Make ready to read from a page on."""
        endpoints, parts = self._endpoints, self._manifest.parts
        self._columns = frames.Columns(frames.kinds(endpoints.record, endpoints.record.listed))
        self._start = self._due = page
        self._pages: tuple[int, int] | None = None  # that the rows which wait are from
        self._taken = self._waiting = 0  # rows that were written, rows of whole pages that were not
        self._overlaps = bool(parts)
        self._order = self._manifest.order
        self._recent: Any = None  # ids of the last part
        self._known: frozenset[int] = frozenset()  # ids of the last parts
        if parts:
            self._recent = self._manifest.table(parts[-1], [endpoints.key])[endpoints.key]
            last = [self._manifest.table(part, [endpoints.key]) for part in self._last_parts()]
            self._known = frozenset(key for ids in last for key in ids[endpoints.key].to_pylist())
        self._listing = ListReader(
            endpoints.transport,
            endpoints.list_call,
            self._add,
            first=self._first,
            start=page,
            rows=self._manifest.rows,
            refuses=endpoints.profile.page_past_end == "refuse",
        )

    # --- the whole ------------------------------------------------------------------

    def read(self) -> None:
        """Read the list to its end; what was read stays, however that ends."""
        try:
            with Progress(f"{self._endpoints.noun}s", watch=self._watch) as progress:
                if self._manifest.parts:
                    progress.add(self._manifest.rows)
                    self._go_on(progress)
                else:
                    self._read(progress)
        except BaseException:
            self._stop()
            raise
        self._end()

    def _go_on(self, progress: Progress) -> None:
        """Read from the last page of the last part; from earlier ones if its rows have moved."""
        last, least = self._last_page(), self._least_page()
        say(
            f"{self._manifest.place}: goes on after page {self._manifest.parts[-1].pages[1]:,}, "
            f"{many(self._manifest.rows, self._endpoints.noun)} were read before."
        )
        back = 0
        while True:
            page = max(last - back, least)
            self._begin_at(page)
            try:
                self._read(progress)
                return
            except (_MovedOn, Refused, NotFound) as error:
                asked = type(error) in (_MovedOn, Refused, NotFound) and self._due == page
                if not asked or page == self._first:
                    raise
            if page == least:
                self._begin_anew(least)
                self._read(progress)
                return
            back = max(2 * back, 1)

    def _last_page(self) -> int:
        """Tell which page ends with the last row; pages may have another size now."""
        last, now = self._manifest.parts[-1].pages[1], self._endpoints.profile.max_page_size
        rows = (last - self._first + 1) * self._manifest.began.page_size
        return last if now == self._manifest.began.page_size else self._first + (rows - 1) // now

    def _last_parts(self) -> list[BookPart]:
        """Return the last part, and as many before it as a page can hold rows of beside its own.

        Where ids are in order they tell which rows are known, and the last part is enough.
        """
        *earlier, last = self._manifest.parts
        found, rows = [last], 0
        size = max(self._manifest.began.page_size, self._endpoints.profile.max_page_size)
        while earlier and rows < size and not self._order:
            found.append(earlier.pop())
            rows += found[-1].rows
        return found

    def _least_page(self) -> int:
        """Tell how far back known rows can be met: ids in order tell them on every page."""
        resized = self._endpoints.profile.max_page_size != self._manifest.began.page_size
        if self._order or resized:
            return self._first
        return min(part.pages[0] for part in self._last_parts())

    def _begin_anew(self, page: int) -> None:
        """Give up what was read: what follows cannot be told from it any more."""
        note = (
            f"read anew from its beginning: when it was gone on with, nothing on page {page:,} "
            "and after it was known"
        )
        say(f"{self._manifest.place}: {note}.")
        self._manifest = begin(self._endpoints, self._manifest.place)
        self._notes.append(note)
        self._begin_at(self._first)

    def _read(self, progress: Progress) -> None:
        """Read pages to the end of the list, and write a part whenever there are enough rows."""
        listing, endpoints = self._listing, self._endpoints
        forecast = Forecast("The stop button ends it; called again, it goes on from there.")
        try:
            with closing(listing.read()) as pages:
                for rows in pages:
                    self._page_is_whole(rows)
                    progress.total = listing.total
                    to_come = (listing.total or listing.rows) - self._manifest.rows
                    endpoints.tell_time(forecast, to_come, *listing.calls)
                    progress.add(self._columns.rows - self._taken - self._waiting)
                    self._waiting = self._columns.rows - self._taken
                    if self._waiting >= self._part_rows:
                        self._write()
        except frames.WrongRows as error:
            reason = f"the list is not as documented: {error}"
            raise BadAnswer(endpoints.list_call(), reason) from None

    def _page_is_whole(self, rows: int) -> None:
        """Note the page that was just read."""
        page, self._due = self._due, self._due + 1
        if rows:
            self._pages = (self._pages[0] if self._pages else page, page)

    # --- pages ------------------------------------------------------------------------

    def _add(self, data: Raw) -> int:
        """Take the rows of a page; those that the book has are left out. Returns how many it has.

        Raises:
            _MovedOn: It is the first page, and has no row that the book has.
            WrongRows: It is not as documented.
        """
        if not self._overlaps:
            return self._columns.add(data)
        try:
            keys = [each.id for each in self._keyed.decode(data)]
            rows = msgspec.json.decode(data, type=list[Raw])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self._columns.add(data)  # says what is wrong
        new = [row for row, key in zip(rows, keys, strict=True) if not self._has(key)]
        seen = len(rows) - len(new)
        if not seen and self._start == self._due > self._first:
            raise _MovedOn
        self._overlaps = bool(seen) or not rows
        self._listing.rows -= seen  # the book has counted them
        self._columns.add(b"[" + b",".join(map(bytes, new)) + b"]")
        return len(rows)

    def _has(self, key: Any) -> bool:
        """Whether a row is in the book: ids in order tell it, or those of its last parts."""
        if isinstance(key, str) and key.isdecimal():
            key = int(key)
        if not isinstance(key, int):
            return False  # the columns refuse it
        if key in self._known or not self._order:
            return key in self._known
        last = self._manifest.parts[-1].last
        return last is not None and (key <= last if self._order == 1 else key >= last)

    # --- parts --------------------------------------------------------------------------

    def _write(self) -> None:
        """Write what waits as a part: all of it are whole pages."""
        table = self._columns.take(self._endpoints.key)
        self._taken, self._waiting = self._columns.rows, 0
        pages, self._pages = self._pages or (self._start, self._due - 1), None
        self._store(table, pages)

    def _store(self, table: pa.Table, pages: tuple[int, int]) -> None:
        """Write a table as a part, without rows that came twice."""
        key = self._endpoints.key
        parts, ids = self._manifest.parts, table[key]
        before = parts[-1] if parts else None
        if not rises(ids):
            kept = ~pd.Index(ids.to_numpy()).duplicated(keep="last")
            table = table.filter(pa.array(kept))
        if before is not None and self._recent is not None and not _apart(before, table[key]):
            table = table.filter(pc.invert(pc.is_in(table[key], value_set=self._recent)))
        self._doubles += len(ids) - len(table)
        self._manifest.write(self._endpoints.part(table), pages, _when(self._endpoints))
        self._recent = table[key].combine_chunks()

    def _stop(self) -> None:
        """Write what was read of whole pages, and say how to go on."""
        waiting = self._waiting
        if waiting and self._pages:
            with suppress(frames.WrongRows, StoreError):
                table = self._columns.take(self._endpoints.key)
                if len(table) >= waiting:  # otherwise it stopped while they were written
                    self._store(table.slice(0, waiting), self._pages)
        if parts := self._manifest.parts:
            say(
                f"{self._manifest.place}: stopped after page {parts[-1].pages[1]:,} with "
                f"{many(self._manifest.rows, self._endpoints.noun)}, which stay. The same call "
                "goes on from there."
            )

    def _end(self) -> None:
        """Write the last part, and note that there are no more."""
        resumed = bool(self._manifest.parts)
        if self._waiting or not resumed:
            self._write()
        odd = self._endpoints.moved(self._listing, self._doubles)
        if odd:
            self._notes.append(f"the list moved while it was read: {'; '.join(odd)}")
        self._manifest.add(Ended(_when(self._endpoints), self._manifest.rows, self._notes))
        if not resumed:
            self._endpoints.warn_if_missing(self._columns.missing)
        self._endpoints.warn_moved(odd)


def _apart(before: BookPart, ids: Any) -> bool:
    """Whether no id can be in a part as well: its ids are all less, or all greater."""
    if before.least is None or before.greatest is None or not len(ids):
        return True
    least, greatest = pc.min_max(ids).as_py().values()
    return bool(least > before.greatest or greatest < before.least)
