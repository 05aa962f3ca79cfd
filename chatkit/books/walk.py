"""Walk: what differs between two books, found by reading both once, side by side.

Both are sorted by id, so a merge walk needs a batch of each in memory and no more: rows with ids
up to the smaller of the two last ones are matched, and their columns compared as Arrow has them.
Nothing is decided here but which rows differ: the planner is given those, and compares them cell
by cell as it does the rows of a frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chatkit.bulk.frame_checks import DELETE
from chatkit.errors import InputError

#: Rows that differ are handed over so many at a time, about.
WINDOW = 20_000

_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


class Unlike(NamedTuple):
    """Rows in which two books differ: some of them, in the order of their ids."""

    base: pa.Table  #: records as they were, those of the rows in `edited`
    edited: pa.Table  #: their rows that say something else; two rows of one id are both here
    new: pa.Table  #: rows without an id, or with one that the base has not
    gone: pa.Table  #: records that the edited book does not have

    @property
    def rows(self) -> int:
        """How many rows differ."""
        return len(self.edited) + len(self.new) + len(self.gone)


def walk(
    base: Iterable[pa.Table],
    edited: Iterable[pa.Table],
    key: str = "id",
    *,
    deleted: Sequence[int] = (),
    beside: Sequence[str] = (),
    window: int = WINDOW,
) -> Iterator[Unlike]:
    """Compare two books, in as little memory however long they are.

    A cell differs when it says something else than the base: an empty one leaves what is there,
    as in a frame, and an empty text is the same as none. The last of what is yielded may be
    empty: it has the columns all the same.

    Args:
        base: Tables of the records as they were read, their ids in order, each of them once.
        edited: Tables of the rows as they are now, in the order of their ids; rows without an id
            stand anywhere.
        key: The column of ids.
        deleted: Ids that count as different, because they are to be deleted.
        beside: Columns that the base may not have, and that count where they say something.
        window: So many rows at a time, about.

    Raises:
        InputError: The ids of one are not in order.
    """
    one, two = _Side(base, key, "base"), _Side(edited, key, "edited book", again=True)
    named = np.sort(np.asarray(deleted, np.int64))
    found = _Gathered()
    while one.fill() | two.fill() or one.loose or two.loose:
        ends = [int(side.rows.ids[-1]) for side in (one, two) if side.rows]
        left = one.upto(min(ends)) if ends else one.nothing
        right = two.upto(min(ends)) if ends else two.nothing
        if left is not None and right is not None:
            found.add(_matched(left, right, named, (DELETE, *beside)), two.loosened())
        if found.rows >= window:
            yield from found.take()
    yield from found.take()


class _Rows(NamedTuple):
    """Some rows of one side, and their ids."""

    table: pa.Table
    ids: Any


class _Side:
    """One of the two books on the walk: the rows of it that are due.

    Args:
        tables: All of it.
        key: The column of ids.
        name: What it is called where it cannot be walked.
        again: Whether an id may come twice.
    """

    def __init__(
        self, tables: Iterable[pa.Table], key: str, name: str, *, again: bool = False
    ) -> None:
        self.rows: _Rows | None = None
        self.nothing: _Rows | None = None
        self.loose: list[pa.Table] = []  # rows without an id
        self._tables = iter(tables)
        self._key, self._name, self._again = key, name, again
        self._least: int | None = None  # the id that the next one must not be below
        self._ahead: _Rows | None = None

    def fill(self) -> bool:
        """Take the next table where none is due; tell whether some rows are."""
        if self.rows is None:
            self.rows = self._ahead or self._next()
            self._ahead = None
            while self.rows and self._again:  # rows of one id stay together
                self._ahead = self._next()
                if self._ahead is None or self._ahead.ids[0] != self.rows.ids[-1]:
                    break
                self.rows = _joined(self.rows, self._ahead)
        return self.rows is not None

    def _next(self) -> _Rows | None:
        for table in self._tables:
            if self._key not in table.column_names:
                raise InputError(f"The {self._name} has no column {self._key}.")
            ids = table[self._key]
            if not pa.types.is_int64(ids.type):
                ids = _whole_numbers(ids, self._name, self._key)
                place = table.schema.get_field_index(self._key)
                table = table.set_column(place, self._key, ids)
            if ids.null_count:
                self.loose.append(table.filter(pc.is_null(ids)))
                table = table.filter(pc.is_valid(ids))
                ids = table[self._key]
            if self.nothing is None:
                self.nothing = _Rows(table.slice(0, 0), np.zeros(0, np.int64))
            if len(table):
                rows = _Rows(table, ids.to_numpy())
                self._in_order(rows.ids)
                return rows
        return None

    def _in_order(self, ids: Any) -> None:
        """Refuse rows that are below what was read before: the walk would miss their records.

        Raises:
            InputError: They are.
        """
        before = ids[:-1] if self._least is None else np.concatenate([[self._least], ids[:-1]])
        after = ids[1:] if self._least is None else ids
        wrong = np.flatnonzero(after < before if self._again else after <= before)
        if len(wrong):
            one, two = int(before[wrong[0]]), int(after[wrong[0]])
            said = f"{two} comes after {one}" if two != one else f"{one} is there twice"
            raise InputError(
                f"The ids of the {self._name} are not in order: {said}. Sort its rows by "
                f"{self._key}, as book.edit leaves them, and write it again."
            )
        self._least = int(ids[-1])

    def upto(self, end: int) -> _Rows | None:
        """Take the rows that are due with ids up to this one."""
        if self.rows is None:
            return self.nothing
        table, ids = self.rows
        count = int(np.searchsorted(ids, end, "right"))
        self.rows = None if count == len(ids) else _Rows(table.slice(count), ids[count:])
        return _Rows(table.slice(0, count), ids[:count])

    def loosened(self) -> list[pa.Table]:
        """Take the rows without an id that have come."""
        found, self.loose = self.loose, []
        return found


def _joined(one: _Rows, two: _Rows) -> _Rows:
    return _Rows(_together([one.table, two.table]), np.concatenate([one.ids, two.ids]))


def _together(tables: Sequence[pa.Table]) -> pa.Table:
    """Put tables below each other; an edit may have given each its own columns and types."""
    return pa.concat_tables(tables, promote_options="permissive")


def _whole_numbers(ids: Any, name: str, key: str) -> Any:
    """Read ids that became floats beside empty ones, or texts."""
    try:
        return pc.cast(ids, pa.int64())
    except pa.ArrowException as error:
        raise InputError(f"The {key} of the {name} is not a whole number: {error!s:.100}") from None


class _Gathered:
    """Collects rows that differ, until there are enough of them."""

    def __init__(self) -> None:
        self.rows = 0
        self._parts: list[Unlike] = []
        self._nothing: Unlike | None = None

    def add(self, found: Unlike, loose: Sequence[pa.Table]) -> None:
        """Add what was found, and rows without an id beside it."""
        if loose:
            found = found._replace(new=_together([found.new, *loose]))
        if self._nothing is None:
            self._nothing = Unlike(*(table.slice(0, 0) for table in found))
        if found.rows:
            self.rows += found.rows
            self._parts.append(found)

    def take(self) -> Iterator[Unlike]:
        """Hand over what there is, if anything was there at all."""
        parts = self._parts or ([self._nothing] if self._nothing else [])
        self._parts, self.rows = [], 0
        if parts:
            yield Unlike(*(_together(tables) for tables in zip(*parts, strict=True)))


def _matched(left: _Rows, right: _Rows, deleted: Any, beside: Sequence[str]) -> Unlike:
    """Match the rows of a stretch of ids by id, and find those that differ."""
    (base, known), (edited, ids) = left, right
    if np.array_equal(known, ids):
        gone, new = base.slice(0, 0), edited.slice(0, 0)
    else:
        near = np.searchsorted(known, ids)
        there = near < len(known)
        there[there] = known[near[there]] == ids[there]
        new = edited.filter(pa.array(~there))
        met = np.zeros(len(known), bool)
        met[near[there]] = True
        gone = base.filter(pa.array(~met))
        if len(new):
            edited, ids = edited.filter(pa.array(there)), ids[there]
        if len(ids) == np.count_nonzero(met):  # copies whole stretches
            base = base.filter(pa.array(met))
        else:
            base = base.take(pa.array(near[there]))
    differs = _differing(base, edited, beside)
    if len(deleted):
        differs |= np.isin(ids, deleted)
    if len(ids) > 1:
        again = ids[1:] == ids[:-1]
        differs[1:] |= again
        differs[:-1] |= again
    mask = pa.array(differs)
    rows = base.filter(mask), edited.filter(mask)
    return Unlike(*rows, new, gone)


def _differing(base: pa.Table, edited: pa.Table, beside: Sequence[str]) -> Any:
    """Tell which rows of `edited` say something else than those of `base` at the same places."""
    found = np.zeros(len(edited), bool)
    for name in edited.column_names:
        cells = edited[name]
        if name in base.column_names:
            mask = _unlike(base[name], cells)
        elif name in beside:
            mask = _marked(cells)
        else:
            continue
        if mask is not None:
            found |= pc.fill_null(mask, False).to_numpy()
    return found


def _unlike(base: Any, edited: Any) -> Any:
    """Tell which cells of a column say something else; None if none does."""
    if edited.null_count == len(edited) or base.equals(edited):
        return None
    if any(map(pa.types.is_dictionary, (base.type, edited.type))):
        base, edited = (_plain(cells) for cells in (base, edited))
    if base.type != edited.type:
        one, two = base.type, edited.type
        if any(is_text(one) for is_text in _TEXTS) and any(is_text(two) for is_text in _TEXTS):
            base, edited = base.cast(pa.large_string()), edited.cast(pa.large_string())
        elif pa.types.is_timestamp(one) and pa.types.is_timestamp(two):
            base, edited = (_moments(cells) for cells in (base, edited))
        elif pa.types.is_null(one) or not _comparable(one, two):
            return pc.is_valid(edited)  # the planner compares them one by one
    if any(is_text(base.type) for is_text in _TEXTS):
        return pc.not_equal(pc.fill_null(base, ""), edited)
    unlike = pc.not_equal(base, edited)
    if base.null_count:
        unlike = pc.if_else(pc.is_null(base), pc.is_valid(edited), unlike)
    return unlike


def _comparable(one: Any, two: Any) -> bool:
    numbers = all(pa.types.is_integer(each) or pa.types.is_floating(each) for each in (one, two))
    return bool(one == two or numbers)


def _plain(cells: Any) -> Any:
    return cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells


def _moments(cells: Any) -> Any:
    """Take times in microseconds; without a zone they are UTC."""
    return pc.cast(cells, pa.timestamp("us", "UTC"), safe=False)


def _marked(cells: Any) -> Any:
    """Tell which cells of a column say something: a flag that is False says nothing."""
    return cells if pa.types.is_boolean(cells.type) else pc.is_valid(cells)
