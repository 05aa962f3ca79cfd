"""Matching: an edited frame is checked as a whole, and its rows are matched with those of a base.

Which columns there are and which rows are to be deleted is read first; then, by key or natural
key, which row of the base each row means.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from chatkit.api.call import find_segment_fault
from chatkit.api.record import INEXACT, Body, is_whole_float
from chatkit.api.secret import MASK, SECRET
from chatkit.bulk.changes import RefusedCell
from chatkit.bulk.comparison import Rows, find_differing_rows
from chatkit.bulk.endpoints import Endpoints, parse_id
from chatkit.errors import InputError, Problem
from chatkit.frames.frame import get_column_or_level, to_python, to_python_list
from chatkit.util.display import MISSING
from chatkit.util.display import values as in_words

Cells: TypeAlias = "pd.Series[Any] | pd.Index[Any]"
Mask = NDArray[np.bool_]  #: one for each row

DELETE = "delete"  #: the column that says of a row that its record is to be deleted
NO_FLAG = "is neither True nor False"  #: why a cell of it is refused

#: What a file makes of True, False and nothing.
_FLAG_TEXTS = {"True": True, "False": False, "": False}


class PlannedCell(NamedTuple):
    """A cell of an edited frame: its row, its value, and the value of the record."""

    row: int
    value: Any
    live: Any = MISSING  #: `MISSING` where the record does not show it, or there is none


class Refusals:
    """The refused cells of a frame, and the numbers of the rows that have some.

    Args:
        labels: The labels of the rows.
    """

    def __init__(self, labels: pd.Index[Any]) -> None:
        self.cells: list[RefusedCell] = []
        self.rows: set[int] = set()
        self._labels = labels

    def label(self, row: int) -> Any:
        """Return the label of a row in the frame, as a Python value."""
        label = self._labels[row]
        return label.item() if isinstance(label, np.generic) else label

    def add(self, row: int, column: str, value: Any, reason: str, next_step: str) -> None:
        """Refuse one cell of a row."""
        text = MASK if SECRET.search(column) else in_words(value)
        self.add_text(row, column, text, reason, next_step)

    def add_text(self, row: int, column: str, text: str, reason: str, next_step: str) -> None:
        """Refuse one cell of a row, whose value is text already."""
        self.rows.add(row)
        self.cells.append(RefusedCell(self.label(row), column, text, reason, next_step))


def check_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame, if each of its columns has one name of its own.

    Raises:
        InputError: Some have none, or share it.
    """
    if frame.columns.nlevels > 1:
        raise InputError(
            "The columns of this frame have several levels: give each one name, "
            "like frame.columns = ['_'.join(map(str, names)) for names in frame.columns]."
        )
    levels = [name for name in frame.index.names if name is not None]
    problems = [
        Problem("column", repr(name), "must be text")
        for name in frame.columns
        if not isinstance(name, str)
    ]
    for kind, names in (("column", [*frame.columns]), ("level of the index", levels)):
        repeated = dict.fromkeys(name for name in names if names.count(name) > 1)
        problems += [Problem(kind, repr(name), "appears twice") for name in repeated]
    if problems:
        raise InputError("The columns of this frame need other names:", problems)
    return frame


def move_levels_to_columns(
    frame: pd.DataFrame, base: pd.DataFrame, key: Sequence[str]
) -> pd.DataFrame:
    """Make columns of the index levels that are columns of the base: set_index moved them."""
    columns = {*base.columns} - {*frame.columns, *key}
    names = [name for name in frame.index.names if isinstance(name, str) and name in columns]
    return frame.assign(**{name: frame.index.get_level_values(name) for name in names})


def read_delete_marks(cells: pd.Series[Any]) -> tuple[Mask, dict[int, Any]]:
    """Read the column `delete`; return its marks, and by row the cells that are no flag."""
    marks, unreadable = np.zeros(len(cells), bool), {}
    for row, value in enumerate(to_python_list(cells)):
        if isinstance(value, bool):
            marks[row] = value
        elif isinstance(value, str) and value in _FLAG_TEXTS:
            marks[row] = _FLAG_TEXTS[value]
        elif value is not None:
            unreadable[row] = value
    return marks, unreadable


_LENGTH = 80  #: characters of a record's name in a reason


def join_columns(rows: pd.DataFrame) -> pd.Series[Any]:
    """Join the columns of a frame to one text a row; NA where a part is missing or no text."""
    parts = []
    for name in rows.columns:
        part = rows[name]
        if not isinstance(part.dtype, pd.StringDtype):
            part = pd.Series([v if isinstance(v, str) else None for v in part], part.index, "str")
        parts.append(part.where(part != ""))
    first, *rest = parts
    for part in rest:
        first = first.str.cat(part, sep=" ")
    return first


def _drop_invalid(body: type[Body], cells: pd.DataFrame) -> pd.DataFrame:
    """Replace cells that cannot be sent by NA: "call him" is nobody's number."""
    kept = {}
    for name in cells.columns:
        texts = [value if isinstance(value, str) else None for value in cells[name].astype(object)]
        _, wrong = body.column(name, texts) if any(texts) else ({}, {})
        kept[name] = [None if n in wrong else text for n, text in enumerate(texts)]
    return pd.DataFrame(kept, index=cells.index, dtype="str")


class Edits:
    """The edits of a frame. NA in a cell leaves what is there; `""` clears it.

    Each row is matched with the row of the base that it means, then cells are compared. Rows are
    numbers of rows of the edited frame.

    Args:
        frame: The edited frame: in any order, with any rows and columns, of any dtypes.
        base: What was read, indexed by key; its columns are as `chatkit.frames.frame` makes them.
        endpoints: What the records are: their key, and their natural key, which names a record
            that has no key yet. Rows of the same natural key are the same record; a cell that is
            missing or cannot be sent names none.
        duplicates: Take rows that share their natural key, unless the service does not.
        gone: Rows of the base that are deleted beside those that the frame marks.
        unknown_account: Whether nobody knows in which account the keys of the frame were read: in
            another one they are those of other records.

    Raises:
        InputError: The frame as a whole cannot be read, or its index has lost its name.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        base: pd.DataFrame,
        endpoints: Endpoints[Any],
        *,
        duplicates: bool = False,
        gone: Sequence[int] | Rows = (),
        unknown_account: bool = False,
    ) -> None:
        key = tuple(map(str, base.index.names))
        frame = move_levels_to_columns(check_frame(frame), base, key).copy(deep=False)
        frame.attrs = {}  # pandas copies them with each column that is taken out
        self._frame, self._base, self._endpoints, self._key = frame, base, endpoints, key
        self._noun, self._key_name = endpoints.noun, " and ".join(key)
        self._name_fields = [*endpoints.list_name_fields()]
        self._name_column = self._name_fields[0]  # names the natural key in messages
        #: Columns by which both sides of a conflict are named.
        self._label_fields = [*dict.fromkeys((*endpoints.natural_key, "name"))]
        self.labels: pd.Index[Any] = frame.index  #: the frame's own names of its rows
        excluded = {*key} | ({DELETE} - {*base.columns})
        names = [name for name in frame.columns if name not in excluded]
        self.columns = [name for name in names if name in base.columns]
        self.unknown = [name for name in names if name not in base.columns]
        #: For each row the row of the base that it means; -1 if it is new or refused.
        self.positions: Rows = np.full(len(frame), -1)
        self.has_key: Mask = np.zeros(len(frame), bool)  #: which rows have a key of their own
        self.deleted: Mask = np.zeros(len(frame), bool)  #: where the column `delete` says True
        self.refusals = Refusals(frame.index)  #: the cells that cannot be taken
        self.merged: dict[int, int] = {}  #: the rows that repeat an earlier one, each with that
        self._accepted: Mask = np.ones(len(frame), bool)  # which rows are not refused
        self._has_numeric_key = base.index.nlevels == 1 and base.index.dtype.kind == "i"
        self._keys: Any = ()  # of each row; only where one has a key
        self._row_keys: dict[int, str | None] = {}  # natural keys of the rows without a key
        self._base_keys: pd.Series[Any] | None = None  # natural keys
        self._differing: dict[str, Rows] = {}
        self._match_by_key()
        if DELETE in frame.columns and DELETE not in base.columns:
            self.deleted, unreadable = read_delete_marks(frame[DELETE])
            for row, value in unreadable.items():
                step = "write True or False, or leave it empty"
                self._refuse(row, DELETE, value, NO_FLAG, step)
        self._match_by_natural_key()
        several = duplicates and not endpoints.single
        self._merge_repeated_rows(duplicates=several)
        self._compared = self.positions.copy()
        if unknown_account:
            self._refuse_other_account()
        marked = self.positions[self.deleted & (self.positions >= 0)]
        deleted = {*marked.tolist(), *map(int, gone)}  # rows of the base
        renames = self._find_renames()
        moved = [row for row, (old, new) in renames.items() if new not in (None, old)]
        freed: set[int] = {*self.positions[moved].tolist()}  # rows of the base
        self._detach_freed_keys(freed, deleted)
        self._refuse_disagreeing()
        if several:
            self._take_as_new()
        else:
            self._refuse_shared_keys(renames, freed | deleted)
        for row in np.flatnonzero(self.deleted & self._accepted & (self.positions < 0)).tolist():
            reason, step = f"no {self._noun} is found by this row", f"say its {self._key_name}"
            self._refuse(row, DELETE, True, reason, step)

    @property
    def new(self) -> Rows:
        """The rows that are no record of the base yet."""
        return np.flatnonzero((self.positions < 0) & self._accepted)

    def changed(self) -> dict[str, list[PlannedCell]]:
        """Return the cells that differ from the base, by column, without rows that are deleted."""
        changed = {}
        for name in self.columns:
            rows = self._differing_rows(name)
            rows = rows[(self.positions[rows] >= 0) & ~self.deleted[rows]]
            if len(rows):
                cells = rows.tolist(), self.values(name, rows), self.get_base_values(name, rows)
                changed[name] = list(map(PlannedCell, *cells))
        return changed

    def _differing_rows(self, name: str) -> Rows:
        """Return the rows whose cell in a column differs from the base."""
        if name not in self._differing:
            rows = np.flatnonzero(self._compared >= 0)
            base, edited = self._base[name].iloc[self._compared[rows]], self._frame[name].iloc[rows]
            if edited.dtype == base.dtype != object:  # most cells are as they were read
                differs = pd.Series(base.array != edited.array).fillna(True)
                other = np.flatnonzero(differs & ~edited.array.isna())
                rows, base, edited = rows[other], base.iloc[other], edited.iloc[other]
            if len(rows):
                rows = rows[find_differing_rows(to_python_list(base), to_python_list(edited))]
            self._differing[name] = rows
        return self._differing[name]

    def count_emptied(self, names: Collection[str], changed: Collection[int]) -> int:
        """Count the NA cells in these columns that have a value in the base, in unchanged rows."""
        known = self.has_key & ~self.deleted & (self._compared >= 0)
        known[[row for row in changed if row < len(known)]] = False
        count = 0
        for name in {*names} & {*self.columns}:
            empty = known & self._frame[name].isna().to_numpy(bool)
            count += int(self._base[name].iloc[self._compared[empty]].notna().sum())
        return count

    def key(self, row: int) -> Any:
        """Return the key of a row, a tuple for two levels; None for a record without one yet."""
        if (position := int(self.positions[row])) >= 0:
            return to_python(self._base.index[position])
        return to_python(self._keys[row]) if self.has_key[row] else None

    def filled(self, rows: Rows, names: Iterable[str]) -> dict[str, list[PlannedCell]]:
        """Return, by column, the cells of rows that have a value."""
        filled = {}
        for name in names if len(rows) else ():
            with_value = rows[self._frame[name].iloc[rows].notna().to_numpy(bool)]
            if len(with_value):
                values = self.values(name, with_value)
                filled[name] = list(map(PlannedCell, with_value.tolist(), values))
        return filled

    def values(self, column: str, rows: Rows) -> list[Any]:
        """Return the cells of some rows as Python values, None for NA."""
        cells = self._frame[column].iloc[rows]
        values = to_python_list(cells)
        text = column in self._base.columns and isinstance(self._base[column].dtype, pd.StringDtype)
        if cells.dtype.kind == "f" and not text:  # whole numbers with gaps become floats
            return [int(v) if is_whole_float(v) else v for v in values]
        return values

    def get_base_values(self, column: str, rows: Rows) -> list[Any]:
        """Return the cells of the base for some rows that are not new."""
        return to_python_list(self._base[column].iloc[self.positions[rows]])

    def _refuse(self, row: int, column: str, value: Any, reason: str, next_step: str) -> None:
        """Refuse a row, so that it is no record of the base."""
        self.refusals.add(row, column, value, reason, next_step)
        self._accepted[row] = False
        self.positions[row] = -1

    # --- by key ---

    def _match_by_key(self) -> None:
        """Match the rows that have a key: in columns, else in levels of the index."""
        endpoints = self._endpoints
        cells = [get_column_or_level(self._frame, name) for name in self._key]
        parts = [part for part in cells if part is not None]
        if not parts:
            self._refuse_lost_keys()
        if len(parts) < len(cells):
            return
        self._keys, self.has_key, self.positions = find_keys(self._base, parts)
        why = explain_bad_id if self._has_numeric_key else explain_bad_text_key
        step = f"leave the {self._key_name} empty for a new {self._noun}, or read the frame again"
        if endpoints.chosen:
            step = f"write the {self._key_name} as text, as the frame that was read has it"
        for name, part in zip(self._key, parts, strict=True):  # what is there, but is no key
            for row in np.flatnonzero(~self.has_key & ~np.asarray(part.isna())).tolist():
                if reason := why(value := to_python(part.array[row])):
                    self._refuse(row, name, value, reason, step)
        unknown = self.has_key & (self.positions < 0) & self._accepted
        for row in [] if endpoints.chosen else np.flatnonzero(unknown).tolist():
            reason = f"no {self._noun} of the account has it"
            self._refuse(row, self._key_name, to_python(self._keys[row]), reason, step)

    def _refuse_lost_keys(self) -> None:
        """Refuse a frame whose index holds keys under no name."""
        index, key = self._frame.index, self._key
        numbers_of_rows = hasattr(index, "step")  # only a RangeIndex has one
        if list(index.names) != [None] * len(key) or numbers_of_rows:
            return
        levels = [index.get_level_values(level).to_series() for level in range(index.nlevels)]
        _, _, positions = find_keys(self._base, levels)
        rows = np.flatnonzero(positions >= 0)
        if self._has_numeric_key and len(rows):  # any number may happen to be an id
            mine = self._natural_keys(self._frame, rows)
            live = self._natural_keys(self._base, positions[rows], written=False)
            rows = rows[[a is not None and a == b for a, b in zip(mine, live, strict=True)]]
        if len(rows):
            name = f"name = {key[0]!r}" if len(key) == 1 else f"names = {[*key]}"
            new = "" if self._endpoints.chosen else f", where new rows have no {self._key_name}"
            raise InputError(
                f"The index of this frame holds the {self._key_name} of each row, but has lost its "
                f"name (pd.concat does that): set frame.index.{name}, or make the frame with "
                f"pd.concat([{self._noun}s.reset_index(), new]){new}."
            )

    # --- by natural key ---

    def _match_by_natural_key(self) -> None:
        """Match the rows without a key by their natural key; those not found are new."""
        rows = np.flatnonzero(~self.has_key & self._accepted)
        texts = self._natural_keys(self._frame, rows)
        self._row_keys = dict(zip(rows.tolist(), texts, strict=True))
        matches = self._find_by_natural_key(texts)
        for row, text in self._row_keys.items():
            candidates = matches.get(text, [])
            if len(candidates) == 1:
                self.positions[row] = candidates[0]
            elif candidates:
                reason = f"{len(candidates)} {self._noun}s have it"
                step = f"add the {self._key_name} of the one that is meant"
                self._refuse(row, self._name_column, text, reason, step)

    # --- one record in several rows ---

    def _merge_repeated_rows(self, *, duplicates: bool) -> None:
        """Merge the rows of one record into the first of them.

        Cells that only a later row fills are copied into the first. A later row with other
        values is refused, so that leaving out what is refused keeps one row of each record.

        Args:
            duplicates: Whether rows without a key may share their natural key.
        """
        fields, labels = self._endpoints.body.model_fields, self._frame.index
        names = [n for n in self._frame.columns if n in fields and n not in self._key]
        filled: dict[str, dict[int, Any]] = defaultdict(dict)
        repeats = self._find_repeats(duplicates=duplicates)
        cells_of = self._read_filled_cells([row for rows in repeats for row in rows], names)
        for first, *later in repeats:
            known = cells_of[first]
            for row in later:
                cells = cells_of[row]
                differing = [
                    n for n in cells if n in known and not _is_same_text(known[n], cells[n])
                ]
                if differing or self.deleted[row] != self.deleted[first]:
                    name = differing[0] if differing else DELETE
                    earlier, drops = "an earlier row", ""
                    if labels.is_unique:
                        one, two = to_python(labels[first]), to_python(labels[row])
                        earlier = f"row {one!r}"
                        second = f"frame.drop({one!r}) this one"
                        drops = f": frame.drop({two!r}) keeps the first, {second}"
                    reason = (
                        f"{earlier} is the same {self._noun} with another {name}: "
                        f"{known.get(name)!r:.60} there, {cells.get(name)!r:.60} here"
                    )
                    step = f"keep one of them{drops}; skip_invalid=True takes the first"
                    self._refuse(row, name, cells.get(name), reason, step)
                    continue
                self.merged[row] = first
                for name in cells.keys() - known.keys():
                    filled[name][first] = known[name] = cells[name]
        self._accepted[[*self.merged]] = False
        self.positions[[*self.merged]] = -1
        columns = {}
        for name, values in filled.items():
            column = columns[name] = self._frame[name].astype(object)
            column.array[[*values]] = np.fromiter(values.values(), object, len(values))
        self._frame = self._frame.assign(**columns) if columns else self._frame

    def _find_repeats(self, *, duplicates: bool) -> list[list[int]]:
        """Group the rows that share a key, or have none and share their natural key."""
        groups: dict[Any, list[int]] = defaultdict(list)
        rows = np.flatnonzero(self.has_key & self._accepted)
        keys = pd.Index(self._keys).take(rows)
        for row in rows[keys.duplicated(keep=False)].tolist():
            groups[self._keys[row], True].append(row)
        for row, text in {} if duplicates else self._row_keys.items():
            if text is not None and self._accepted[row]:
                groups[text, False].append(row)
        return [group for group in groups.values() if len(group) > 1]

    def _read_filled_cells(
        self, rows: list[int], names: Iterable[str]
    ) -> dict[int, dict[str, Any]]:
        """Return the filled cells of rows by name; `""` counts where it clears a field."""
        cells: dict[int, dict[str, Any]] = {row: {} for row in rows}
        for name in names if rows else ():
            for row, value in zip(rows, to_python_list(self._frame[name].iloc[rows]), strict=True):
                if value is not None and (value != "" or self.has_key[row]):
                    cells[row][name] = value
        return cells

    def _find_renames(self) -> dict[int, tuple[str | None, str | None]]:
        """Find the rows with a key that may change its natural key; return it before and after."""
        moved, columns = np.zeros(len(self._frame), bool), self._name_fields
        both = {*self._frame.columns} & {*self._base.columns} - {*self._key}
        for name in both.intersection(columns):
            moved[self._differing_rows(name)] = True
        rows = np.flatnonzero(moved & self.has_key & self._accepted & ~self.deleted)
        places = self.positions[rows]
        cells = self._frame.reindex(columns=columns).iloc[rows].astype(object)
        before = self._base.reindex(columns=columns).iloc[places].astype(object)
        filled = cells.where(cells.notna(), before.set_axis(cells.index))
        old = self._natural_keys(self._base, places, written=False)
        new = self._natural_keys(filled, np.arange(len(rows)))
        return dict(zip(rows.tolist(), zip(old, new, strict=True), strict=True))

    def _refuse_other_account(self) -> None:
        """Refuse rows that have the key of one record, and the natural key of another.

        A row that keeps a label is an edit.
        """
        both = {*self._frame.columns} & {*self._base.columns}
        others = both.difference(self._name_fields, self._endpoints.natural_key)
        labels = [name for name in self._label_fields if name in others]
        deleted = np.flatnonzero(self.deleted & self.has_key & self._accepted)
        renamed = np.array([*self._find_renames()] if labels else [], np.int64)
        rows = np.concatenate([renamed, deleted])
        mine = self._natural_keys(self._frame, rows)
        live = self._natural_keys(self._base, self.positions[rows], written=False)
        moved = [a is not None and a != b for a, b in zip(mine, live, strict=True)]
        for row in rows[np.array(moved, bool)].tolist():
            place = int(self.positions[row])
            cells = [(self._frame[n].iloc[row], self._base[n].iloc[place]) for n in labels]
            differ = all(isinstance(own, str) and own and own != other for own, other in cells)
            if self.deleted[row] or differ:
                reason = self._describe_conflict(row, place, "is")
                step = (
                    f"write the row without the {self._key_name} if it was read in another "
                    "account, or read the frame again and edit that"
                )
                self._refuse(row, self._key_name, self.key(row), reason, step)

    def _detach_freed_keys(self, freed: set[int], deleted: set[int]) -> None:
        """Treat rows as new records if another row gives up their natural key.

        Args:
            freed: The rows of the base whose natural key changes.
            deleted: Those that are deleted.
        """
        for row in self._row_keys if freed or deleted else ():
            place = int(self.positions[row])
            if place < 0 or self.deleted[row]:
                continue
            if place in freed or (place in deleted and not self._endpoints.restores):
                self.positions[row] = -1
            elif place in deleted:
                reason = (
                    f"{self._describe_record(place)} has it, and is deleted in this plan: creating "
                    "it again would bring that one back"
                )
                step = "leave the deletion out to change that one, or leave this row out"
                self._refuse(row, self._name_column, self._row_keys[row], reason, step)

    def _refuse_disagreeing(self) -> None:
        """Refuse rows that match by natural key, but differ in a column that must agree.

        A number with another country code is another person's.
        """
        rows = [row for row in self._row_keys if self.positions[row] >= 0]
        places, endpoints = self.positions[rows].tolist(), self._endpoints
        for name in endpoints.natural_key if rows else ():
            both = name in self._frame.columns and name in self._base.columns
            if name in self._name_fields or not both:
                continue
            edited = _drop_invalid(endpoints.body, self._frame[[name]].iloc[rows])[name]
            before = self._base[name].iloc[places]
            texts = zip(rows, places, to_python_list(edited), to_python_list(before), strict=True)
            for row, place, own, live in texts:
                if own and live and own != live:
                    has = f"has this {self._name_column} and is"
                    reason = self._describe_conflict(row, place, has)
                    meant = f"add the {self._key_name} if that {self._noun} is meant"
                    step = f"correct the {name}, or {meant}"
                    self._refuse(row, name, own, reason, step)

    def _describe_conflict(self, row: int, position: int, verb: str) -> str:
        """Describe a row and the record of the base that it conflicts with by their labels."""
        texts = []
        for frame, place in ((self._base, position), (self._frame, row)):
            cells = [frame[n].iloc[place] for n in self._label_fields if n in frame.columns]
            label = " ".join(str(cell) for cell in cells if isinstance(cell, str) and cell)
            texts.append(label[:_LENGTH])
        record = self._describe_record(position)
        return f"conflict: {record} {verb} {texts[0]}; the row says {texts[1]}"

    def _refuse_shared_keys(
        self, renames: Mapping[int, tuple[str | None, str | None]], freed: set[int]
    ) -> None:
        """Refuse rows that would share a natural key, with each other or with a record.

        Args:
            renames: What `_find_renames` has found.
            freed: The rows of the base whose natural key another record may take.
        """
        keyless = {row: text for row, text in self._row_keys.items() if self._accepted[row]}
        renamed = {row: new for row, (_, new) in renames.items()}
        matches = self._find_by_natural_key(renamed.values())
        held = np.bincount(self.positions[self.positions >= 0]) if keyless else np.zeros(0, int)
        count = Counter((keyless | renamed).values())
        step = "keep one of them, or change the other in a plan of its own"
        if not self._endpoints.single:
            step += ", or say duplicates=True"
        for row, text in (keyless | renamed).items():
            at_row, matched = int(self.positions[row]), matches.get(text, [])
            others = [] if at_row in matched else [n for n in matched if n not in freed]
            if text is None:
                continue
            if count[text] > 1:
                reason = f"{count[text]} rows have it"
            elif row in renamed and others:
                reason = f"{self._describe_record(others[0])} has it"
            elif row in keyless and at_row >= 0 and held[at_row] > 1:
                reason = f"{self._describe_record(at_row)} has it, and is in another row"
            else:
                continue
            self._refuse(row, self._name_column, text, reason, step)

    def _take_as_new(self) -> None:
        """Treat rows as new records if another row already matched theirs."""
        taken = np.zeros(len(self._base), bool)
        taken[self.positions[self.has_key & (self.positions >= 0)]] = True
        for row in self._row_keys:
            if (place := int(self.positions[row])) >= 0:
                if taken[place]:
                    self.positions[row] = -1
                taken[place] = True

    def _describe_record(self, position: int) -> str:
        """Name a record of the base by its noun and its key."""
        key = to_python(self._base.index[position])
        return f"the {self._noun} with the {self._key_name} {key!r:.60}"

    def _natural_keys(
        self, frame: pd.DataFrame, rows: Rows, *, written: bool = True
    ) -> list[str | None]:
        """Return the natural keys of rows; with `written`, a person wrote them, perhaps wrongly."""
        if not len(rows):
            return []
        cells = frame.reindex(columns=self._name_fields).iloc[rows]
        if written:
            cells = _drop_invalid(self._endpoints.body, cells)
        return to_python_list(join_columns(cells))

    def _find_by_natural_key(self, texts: Iterable[str | None]) -> dict[str | None, list[int]]:
        """Find the rows of the base with these natural keys; return them by natural key."""
        names = {text for text in texts if text is not None}
        matches: dict[str | None, list[int]] = defaultdict(list)
        if names:
            if self._base_keys is None:
                self._base_keys = join_columns(self._base.reindex(columns=self._name_fields))
            rows = np.flatnonzero(self._base_keys.isin(names).to_numpy(bool))
            for position, text in zip(
                rows.tolist(), to_python_list(self._base_keys.iloc[rows]), strict=True
            ):
                matches[text].append(position)
        return matches


def _is_same_text(one: Any, two: Any) -> bool:
    """Return whether two cells are equal but for spaces and the encoding of accents."""
    if isinstance(one, str) and isinstance(two, str):
        one, two = (" ".join(unicodedata.normalize("NFC", text).split()) for text in (one, two))
    return bool(one == two)


def parse_text_keys(cells: Cells) -> list[str | None]:
    """Parse keys that are texts and can stand in an address; None for all others."""
    return [
        value if isinstance(value, str) and not find_segment_fault(value) else None
        for value in cells.astype(object)
    ]


def explain_bad_text_key(value: Any) -> str:
    """Return why a cell cannot be a text key; empty if it can, or is empty."""
    if not isinstance(value, str):
        return "must be text"
    return find_segment_fault(value) if value else ""


def parse_ids(cells: Cells) -> tuple[Rows, Mask]:
    """Parse ids, whatever pandas made of them; return them, and which rows have one."""
    if isinstance(cells.dtype, np.dtype) and cells.dtype.kind == "i":  # as in what was read
        return cells.to_numpy(np.int64), np.ones(len(cells), bool)
    numbers = [parse_id(value) for value in to_python_list(cells)]
    has_key = np.fromiter((number is not None for number in numbers), bool, len(numbers))
    return np.fromiter((number or 0 for number in numbers), np.int64, len(numbers)), has_key


def explain_bad_id(value: Any) -> str:
    """Return why a cell cannot be an id; empty for an empty text."""
    if isinstance(value, float) and abs(value) >= INEXACT:
        return "has lost digits: a float cannot hold so long a number"
    return "" if isinstance(value, str) and not value else "must be a whole number"


def find_keys(base: pd.DataFrame, parts: Sequence[Cells]) -> tuple[Any, Mask, Rows]:
    """Find the rows of a base by the parts of their keys, whatever pandas made of these.

    Returns:
        The keys; which rows have one; their rows of the base, -1 where there is none.
    """
    if base.index.nlevels == 1 and base.index.dtype.kind == "i":
        ids, has_key = parse_ids(parts[0])
        index: Any = base.index
        return ids, has_key, np.where(has_key, index.get_indexer(ids), -1)
    texts = [parse_text_keys(part) for part in parts]
    keys: Any = texts[0] if len(texts) == 1 else list(zip(*texts, strict=True))
    has_key = np.logical_and.reduce([[t is not None for t in text] for text in texts])
    place = {key: position for position, key in enumerate(base.index)}
    positions = np.array([place.get(key, -1) for key in keys], np.int64)
    return keys, has_key, np.where(has_key, positions, -1)
