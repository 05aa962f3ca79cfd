"""Comparison: what a person changed in a frame, found by comparing it with what was read.

Columns are compared one by one, as Arrow or numpy has them; no Python object is made of a
cell that nobody edited.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from chatkit.api.record import as_time
from chatkit.bulk.matching import (
    DELETE,
    Identity,
    Mask,
    Match,
    Refusal,
    Rows,
    check_frame,
    delete_marks,
    levels_as_columns,
)
from chatkit.errors import InputError
from chatkit.frames.frame import INEXACT, listed, plain, whole

Cells: TypeAlias = "pd.Series[Any]"
#: Objects compared at a time: enough to be quick, few enough to be forgotten soon.
_BLOCK = 50_000
_ROWS = (list, tuple)
_NESTED = (*_ROWS, dict)
#: What pandas and spreadsheets write for nothing.
_NO_VALUE = frozenset({"nan", "none", "nat", "<na>", "null", "#n/a", "[]", "{}"})
_ROUNDED = 12  #: a spreadsheet rounds what it shows of a number of so many digits
_SPREADSHEET_DAYS = 150_000  #: the year 2310, counted in days since 1900
_QUARTER = timedelta(minutes=15)


def compare(
    frame: pd.DataFrame,
    base: pd.DataFrame,
    who: Identity,
    *,
    duplicates: bool = False,
    gone: Rows | None = None,
) -> Edits:
    """Find what was edited in a frame.

    Args:
        frame: The edited frame: in any order, with any rows and columns, of any dtypes.
        base: What was read, indexed by key; its columns are as `chatkit.frames.frame` makes them.
        who: How the records are told apart.
        duplicates: Allow rows that share their natural key, unless the service does not.
        gone: Rows of the base that are deleted beside those that the frame marks.

    Raises:
        InputError: The frame as a whole cannot be read.
    """
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"A plan is made from a DataFrame, not from {type(frame).__name__}.")
    frame = levels_as_columns(check_frame(frame), base, who.key).copy(deep=False)
    frame.attrs = {}  # pandas copies them with each column that is taken out
    marked = DELETE in frame.columns and DELETE not in base.columns
    deleted, refused = np.zeros(len(frame), bool), list[Refusal]()
    if marked:
        deleted, refused = delete_marks(frame[DELETE])
    match = Match(
        frame,
        base,
        who,
        _FrameCells,
        deleted=deleted,
        refused=refused,
        gone=np.zeros(0, np.int64) if gone is None else gone,
        duplicates=duplicates,
    )
    return Edits(match, who, deleted)


class _FrameCells:
    """The cells of an edited frame beside those of its base, compared a column at a time.

    Args:
        frame: The edited frame.
        base: What was read.
        positions: For each row of the frame the row of the base that it means, -1 for none.
    """

    def __init__(self, frame: pd.DataFrame, base: pd.DataFrame, positions: Rows) -> None:
        self.frame, self.base = frame, base
        matched = np.flatnonzero(positions >= 0)
        self._places = _Pick(positions[matched], len(base))
        self._rows = _Pick(matched, len(frame))
        self._differing: dict[str, Rows] = {}

    def differing(self, name: str) -> Rows:
        """Return the rows of the frame that say something else than the base in a column."""
        if name not in self._differing:
            base, edited = self.base[name], self.frame[name]
            rows = _differing(base, edited, self._places, self._rows)
            self._differing[name] = self._rows.rows[rows]
        return self._differing[name]


class Edits:
    """The edits of a frame. NA in a cell leaves what is there; `""` clears it.

    Rows are numbers of rows of the edited frame. Make it with `compare`.
    """

    def __init__(self, match: Match, who: Identity, deleted: Mask) -> None:
        self._cells = match.cells
        self._frame, self._base, self._match = self._cells.frame, self._cells.base, match
        self.labels: pd.Index[Any] = self._frame.index  #: the frame's own names of its rows
        self.deleted = deleted  #: for which rows the column `delete` says True
        #: For each row the row of the base that it means; -1 if it is new or refused.
        self.positions = match.positions
        self.has_key = match.has_key  #: which rows have a key of their own
        self.refused = match.refused  #: the rows that cannot be taken, each maybe more than once
        self.united = match.united  #: the rows that repeat an earlier row, each with that row
        apart = {*who.key} | ({DELETE} - {*self._base.columns})
        names = [name for name in self._frame.columns if name not in apart]
        self.columns = [name for name in names if name in self._base.columns]
        self.unknown = [name for name in names if name not in self._base.columns]

    @property
    def new(self) -> Rows:
        """The rows that are no record of the base yet."""
        return np.flatnonzero((self.positions < 0) & self._match.sound)

    def key(self, row: int) -> Any:
        """Return the key of a row, a tuple for two levels; None for a record without one yet."""
        return self._match.key(row)

    def changed(self) -> dict[str, Rows]:
        """Find the rows in which a cell is not what the base has, for each such column."""
        changed = {}
        for name in self.columns:
            rows = self._cells.differing(name)
            rows = rows[self.positions[rows] >= 0]
            if len(rows):
                changed[name] = rows
        return changed

    def filled(self, rows: Rows) -> dict[str, Rows]:
        """Find which of these rows have a value, for each column in which some do.

        The columns that the base has not are among them.
        """
        filled = {}
        for name in [*self.columns, *self.unknown] if len(rows) else ():
            with_value = rows[self._frame[name].iloc[rows].notna().to_numpy(bool)]
            if len(with_value):
                filled[name] = with_value
        return filled

    def values(self, column: str, rows: Rows) -> list[Any]:
        """Return the cells of some rows as Python values, None for NA."""
        cells = self._frame[column].iloc[rows]
        values = listed(cells)
        text = column in self._base.columns and isinstance(self._base[column].dtype, pd.StringDtype)
        if cells.dtype.kind == "f" and not text:  # whole numbers with gaps become floats
            return [int(v) if whole(v) else v for v in values]
        return values

    def base_values(self, column: str, rows: Rows) -> list[Any]:
        """Return what the base has in the cells of some rows that are not new."""
        return listed(self._base[column].iloc[self.positions[rows]])


# --- two sides ------------------------------------------------------------------------


class FrameDifferences(NamedTuple):
    """The differences of two frames, as numbers of their rows."""

    left: Rows  #: of the left frame, those that the right one does not have
    right: Rows  #: of the right frame, those that the left one does not have
    #: For each column that both have, or one has, where cells differ: rows of the left frame,
    #: and those of the right one that they belong to.
    changed: dict[str, tuple[Rows, Rows]]


def compare_frames(left: pd.DataFrame, right: pd.DataFrame, key: Sequence[str]) -> FrameDifferences:
    """Find what differs between two frames in which the same records are called the same.

    An edited frame leaves alone what it does not say; here both sides say all they have, and a
    cell that is empty on one side differs. An empty text is the same as none.

    Args:
        left: A frame, in any order.
        right: Another one.
        key: The columns of texts that name a record; of two of one name the first counts.
    """
    one, two = _joined(left, key), _joined(right, key)
    if one.equals(two):
        places = rows = np.arange(len(left))
        alone = np.zeros(len(left), bool), np.zeros(len(right), bool)
    else:
        index = pc.index_in(two, value_set=one.combine_chunks()).combine_chunks()
        matched = index.is_valid().to_numpy(zero_copy_only=False)
        places = index.filter(index.is_valid()).to_numpy().astype(np.int64)
        rows = np.flatnonzero(matched)
        alone = np.ones(len(left), bool), ~matched
        alone[0][places] = False
    pick, other = _Pick(places, len(left)), _Pick(rows, len(right))
    changed = {}
    for name in dict.fromkeys([*left.columns, *right.columns]):
        if name not in key and len(rows):
            cells = left[name] if name in left else _nothing_of(right[name], left)
            other_cells = right[name] if name in right else _nothing_of(left[name], right)
            if len(differs := _differing_either(cells, other_cells, pick, other)):
                changed[name] = (places[differs], rows[differs])
    return FrameDifferences(np.flatnonzero(alone[0]), np.flatnonzero(alone[1]), changed)


def _joined(frame: pd.DataFrame, key: Sequence[str]) -> Any:
    """Join the cells that name each record."""
    cells = [pc.fill_null(_texts(frame[name].astype("str")), "") for name in key]
    return (
        cells[0]
        if len(cells) == 1
        else pc.binary_join_element_wise(*cells, pa.scalar("\x1f", pa.large_string()))
    )


def _nothing_of(cells: Cells, frame: pd.DataFrame) -> Cells:
    """Make an empty column of the kind of another one, for a frame that has none."""
    return pd.Series(None, index=frame.index, dtype=cells.dtype)


def _differing_either(left: Cells, right: Cells, places: _Pick, rows: _Pick) -> Rows:
    """Find where two columns differ, an empty cell of the right one among them."""
    empty = right.isna()
    if not empty.any():
        return _differing(left, right, places, rows)
    if isinstance(right.dtype, pd.StringDtype) and isinstance(left.dtype, pd.StringDtype):
        return _differing(left, right.fillna(""), places, rows)
    gone = places.numpy(left.notna().to_numpy(bool)) & rows.numpy(empty.to_numpy(bool))
    return np.union1d(_differing(left, right, places, rows), np.flatnonzero(gone))


# --- columns --------------------------------------------------------------------------


class _Pick:
    """Takes the same rows out of many columns, without a copy where they are all in order."""

    def __init__(self, rows: Rows, size: int) -> None:
        self.rows = rows
        self.all = np.array_equal(rows, np.arange(size))

    def numpy(self, column: Any) -> Any:
        """Take the rows out of an array of numpy."""
        return column if self.all else column[self.rows]

    def arrow(self, column: Any) -> Any:
        """Take the rows out of a column of Arrow."""
        return column if self.all else column.combine_chunks().take(pa.array(self.rows))


def _differing(base: Cells, edited: Cells, places: _Pick, rows: _Pick) -> Rows:
    """Find which of `rows` say something else than the base at the same one of `places`."""
    if base.dtype.kind == "M":
        edited = _times(edited)
    kinds = base.dtype.kind + edited.dtype.kind
    if isinstance(base.dtype, pd.StringDtype):
        texts = _texts(edited)
        if texts is not None:
            return _other_texts(_texts(base), texts, places, rows)
    elif kinds == "MM" and not isinstance(edited.dtype, pd.ArrowDtype):
        return _other_times(base, edited, places, rows)
    elif kinds in ("ii", "if", "bb"):
        return _other_numbers(base, edited, places, rows)
    return _other_objects(base, edited, places, rows)


def _texts(cells: Cells) -> Any:
    """Read a column of texts as Arrow's, or None where some of it is no text."""
    try:
        if isinstance(cells.dtype, pd.StringDtype):  # as it is: shared columns are one object
            array: Any = cells.array
            column = array.__arrow_array__()
            column = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
        else:
            column = pa.chunked_array(cells)
    except (pa.ArrowException, UnicodeError, OverflowError):
        return None
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.type == pa.large_string():
        return column
    texts = pa.types.is_string(column.type) or pa.types.is_null(column.type)
    return column.cast(pa.large_string()) if texts else None


def _other_texts(base: Any, edited: Any, places: _Pick, rows: _Pick) -> Rows:
    if base is edited and places.all and rows.all:
        return np.zeros(0, np.int64)  # copied by pandas, but never written: it has no copy
    base, edited = pc.fill_null(places.arrow(base), ""), rows.arrow(edited)
    other: Rows = pc.indices_nonzero(pc.not_equal(edited, base)).to_numpy().astype(np.int64)
    return other


def _times(cells: Cells) -> Cells:
    """Read a column of Python's times as pandas's, if it can hold them all."""
    if cells.dtype == object and pd.api.types.infer_dtype(cells, skipna=True) == "datetime":
        with suppress(ValueError, OverflowError):
            return pd.to_datetime(cells, utc=True)
    return cells


def _other_times(base: Cells, edited: Cells, places: _Pick, rows: _Pick) -> Rows:
    """Compare times, in the coarser of two resolutions; without a zone they are UTC."""
    if base.dtype != edited.dtype:
        unit = max(base.dt.unit, edited.dt.unit, key=("ns", "us", "ms", "s").index)
        base, edited = (
            (cells.dt.tz_convert("UTC") if cells.dt.tz else cells.dt.tz_localize("UTC")).dt.as_unit(
                unit
            )
            for cells in (base, edited)
        )
    one, two = places.numpy(base.array.view("i8")), rows.numpy(edited.array.view("i8"))
    return np.flatnonzero((one != two) & (two != np.iinfo(np.int64).min))


def _other_numbers(base: Cells, edited: Cells, places: _Pick, rows: _Pick) -> Rows:
    """Compare numbers, or flags, as floats if one column of them has become floats."""
    one, two = places.numpy(_numbers(base)), rows.numpy(_numbers(edited))
    new = places.numpy(base.isna().to_numpy(bool))
    return np.flatnonzero((new | (one != two)) & rows.numpy(edited.notna().to_numpy(bool)))


def _numbers(cells: Cells) -> Any:
    plain: dict[str, type] = {"i": int, "f": float, "b": bool}
    python = plain[cells.dtype.kind]
    dtype = np.dtype(np.int64 if python is int else python)
    return cells.to_numpy(dtype, na_value=python()) if cells.hasnans else cells.to_numpy(dtype)


def _other_objects(base: Cells, edited: Cells, places: _Pick, rows: _Pick) -> Rows:
    """Compare what is left one by one, but no object with itself."""
    if base.dtype == object and edited.dtype == object:
        one, two = places.numpy(_addresses(base)), rows.numpy(_addresses(edited))
        maybe = np.flatnonzero(one != two)
    else:
        maybe = np.arange(len(rows.rows))
    differing = [np.zeros(0, np.int64)]
    for start in range(0, len(maybe), _BLOCK):
        part = maybe[start : start + _BLOCK]
        part = part[edited.iloc[rows.rows[part]].notna().to_numpy(bool)]
        pairs = zip(
            listed(base.iloc[places.rows[part]]), listed(edited.iloc[rows.rows[part]]), strict=True
        )
        differs = (not same_value(before, now) for before, now in pairs)
        differing.append(part[np.fromiter(differs, bool, len(part))])
    return np.concatenate(differing)


def _addresses(cells: Cells) -> Any:
    """Return where in the memory the objects of a column are, which numpy has as its cells."""
    objects = np.ascontiguousarray(cells.to_numpy())
    return np.frombuffer(objects, np.intp) if len(objects) else np.zeros(0, np.intp)


# --- single cells ---------------------------------------------------------------------


def same_value(before: Any, edited: Any) -> bool:
    """Return whether a cell that holds `edited` means the same as `before`.

    A number that has become a float, a time in another zone or as text, and the text that
    pandas or a CSV file makes of a value are the same; a text that has become a number is
    not, for it may have lost zeros or a plus. An empty text is the same as nothing. In the
    items of a list, such as headers and buttons, an absent key is the same as null; a
    document (an object, such as `flow_json`) is compared as it is written.

    Args:
        before: The value of the base; None for NA.
        edited: The value of the edited frame, which is not NA.
    """
    before, edited = plain(before), plain(edited)
    if isinstance(edited, _NESTED):
        return _equal(before, edited)
    if isinstance(edited, str):
        return not edited if before is None else _text_of_value(before, edited)
    if isinstance(before, datetime):
        return isinstance(edited, datetime) and _as_utc(before) == _as_utc(edited)
    if isinstance(before, bool):
        return isinstance(edited, (int, float)) and before == edited
    if isinstance(before, int) and isinstance(edited, float) and abs(edited) >= INEXACT:
        return abs(before) < 2**64 and float(before) == edited
    return _equal(before, edited)


def _text_of_value(before: Any, text: str) -> bool:
    """Return whether a text is what a value looks like as text."""
    if isinstance(before, str):
        return before == text
    if isinstance(before, bool):  # spreadsheets write TRUE
        return str(before).casefold() == text.casefold()
    if isinstance(before, datetime):
        try:
            return _as_utc(datetime.fromisoformat(text)) == _as_utc(before)
        except ValueError:
            return False
    if isinstance(before, _NESTED):  # files hold them as JSON, pandas writes them as Python does
        with suppress(ValueError, RecursionError):
            return _equal(before, json.loads(text))
    return str(before) == text


def same_look(before: Any, edited: Any) -> bool:
    """Return whether a cell only looks different from what the service has set.

    It is for columns that cannot be written: what files and spreadsheets make of a value is no
    edit. Beside what `same_value` takes these are a text that became a number, rounded as it was
    shown (`1.04396E+14`); a time that lost its zone, its seconds or all but its day, or that is
    counted since 1970 or 1900; spaces; an empty cell, and the ######## of a narrow column.
    """
    before, edited = plain(before), plain(edited)
    if edited is None or same_value(before, edited):
        return True
    if isinstance(edited, str):
        edited = edited.strip().removeprefix("'")
        if not edited.strip("#") or (before is None and edited.casefold() in _NO_VALUE):
            return True
    if isinstance(before, datetime):
        return any(_same_time(_as_utc(before), time) for time in _read_times(edited))
    if isinstance(before, bool):
        return str(edited).casefold() in (str(before).casefold(), str(int(before)))
    if isinstance(before, str | int | float) and not isinstance(edited, bool | datetime):
        if str(before).split() == str(edited).split():
            return True
        return _same_number(str(before), str(edited))
    return isinstance(before, _NESTED) and str(before) == str(edited)


def _same_number(before: str, edited: str) -> bool:
    """Compare numbers; one of 12 digits and more as precisely as a spreadsheet has shown it."""
    try:
        one, two = Decimal(before), Decimal(edited.replace(",", "."))
        if not (one.is_finite() and two.is_finite()):
            return False
        digits = len(two.normalize().as_tuple().digits)
        rounded = "e" in edited.lower() or digits <= 6 or digits == 15  # as spreadsheets do
        return one == two or (
            rounded
            and len(before) >= _ROUNDED
            and any(Context(digits, mode).plus(one) == two for mode in (ROUND_HALF_UP, ROUND_DOWN))
        )
    except (InvalidOperation, ValueError):
        return False


def _read_times(edited: Any) -> Iterator[datetime]:
    """Read a time in each way in which it may have been written."""
    if isinstance(edited, datetime):
        yield edited
    elif isinstance(edited, int | float):
        with suppress(ValueError, OverflowError):
            if 0 < edited < _SPREADSHEET_DAYS:
                yield datetime(1899, 12, 30) + timedelta(seconds=round(edited * 86400))
            elif time := as_time(edited):
                yield time
    elif isinstance(edited, str):
        with suppress(ValueError):
            yield from _read_times(float(edited.replace(",", ".")))
        for first in (True, False):
            with suppress(ValueError, OverflowError):
                with warnings.catch_warnings(action="ignore"):  # 2026-02-27 has no day first
                    read = pd.to_datetime(edited, dayfirst=first)
                yield read.to_pydatetime(warn=False)


def _same_time(before: datetime, edited: datetime) -> bool:
    """Compare times as precisely as the edited one is; without a zone it may be of any place."""
    zoned = edited.tzinfo is not None
    gap = before - (edited if zoned else edited.replace(tzinfo=UTC))
    if not zoned:  # zones are whole quarters of an hour from UTC, up to 14 hours
        quarters = round(gap / _QUARTER)
        gap -= _QUARTER * (quarters if abs(quarters) <= 14 * 4 else 0)
    if edited.microsecond:
        unit = 1000 if edited.microsecond % 1000 == 0 else 1
    else:
        unit = 1_000_000 if edited.second else 60_000_000
    if not zoned and edited == datetime.combine(edited, time.min):
        unit = 86_400_000_000  # a date alone
    return abs(gap) < timedelta(microseconds=unit)


def _as_utc(time: datetime) -> datetime:
    """Return a time as UTC: one without an offset is UTC, as in all that the service sends."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _equal(before: Any, edited: Any) -> bool:
    """Compare what JSON can hold, to any depth. True and 1 are not the same there."""
    items = isinstance(before, _ROWS)  # of a list: services show null for what was not sent
    pairs = [(before, edited)]
    while pairs:
        one, two = pairs.pop()
        if one is two:
            continue
        one, two = plain(one), plain(two)
        if isinstance(one, dict):
            if not isinstance(two, dict) or (not items and one.keys() != two.keys()):
                return False
            pairs += ((one.get(name), two.get(name)) for name in {**one, **two})
        elif isinstance(one, _ROWS):
            if not isinstance(two, _ROWS) or len(one) != len(two):
                return False
            pairs += zip(one, two, strict=True)
        elif _nothing(one) or _nothing(two):
            if not (_nothing(one) and _nothing(two)):
                return False
        elif isinstance(one, bool) != isinstance(two, bool) or (one == two) is not True:
            return False
    return True


def _nothing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)
