"""Matching: an edited frame is checked as a whole, and its rows are matched with those of a base.

Which columns there are and which rows are to be deleted is read first; then, by key or natural
key, which row of the base each row means.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from chatkit.api.call import segment_problem
from chatkit.bulk.comparison import Rows, differing
from chatkit.errors import InputError, Problem
from chatkit.frames.frame import (
    INEXACT,
    column_or_level,
    is_whole_float,
    python_value,
    python_values,
)

Cells: TypeAlias = "pd.Series[Any] | pd.Index[Any]"
Mask = NDArray[np.bool_]  #: one for each row

DELETE = "delete"  #: the column that says of a row that its record is to be deleted

#: What a file makes of True, False and nothing.
_FLAGS = {"True": True, "False": False, "": False}


class Refusal(NamedTuple):
    """A reason not to take a row: its number, the cell, and what to do about it."""

    row: int
    column: str
    value: Any
    reason: str
    next_step: str


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
        *(
            Problem("column", repr(name), "must be text")
            for name in frame.columns
            if not isinstance(name, str)
        ),
        *(Problem("column", repr(name), "appears twice") for name in _repeated(frame.columns)),
        *(Problem("level of the index", repr(name), "appears twice") for name in _repeated(levels)),
    ]
    if problems:
        raise InputError("The columns of this frame need other names:", problems)
    return frame


def _repeated(names: Any) -> list[Any]:
    seen = list(names)
    return list(dict.fromkeys(name for name in seen if seen.count(name) > 1))


def levels_as_columns(frame: pd.DataFrame, base: pd.DataFrame, key: Sequence[str]) -> pd.DataFrame:
    """Read levels of the index that are columns of the base as columns: set_index moved them."""
    columns = {*base.columns} - {*frame.columns, *key}
    names = [name for name in frame.index.names if isinstance(name, str) and name in columns]
    return frame.assign(**{name: frame.index.get_level_values(name) for name in names})


def delete_marks(cells: pd.Series[Any]) -> tuple[Mask, list[Refusal]]:
    """Read which rows are to be deleted, and refuse what says neither yes nor no. NA is no."""
    marks, refused = np.zeros(len(cells), bool), []
    for row, value in enumerate(python_values(cells)):
        if isinstance(value, bool):
            marks[row] = value
        elif isinstance(value, str) and value in _FLAGS:
            marks[row] = _FLAGS[value]
        elif value is not None:
            step = "write True or False, or leave it empty"
            refused.append(Refusal(row, DELETE, value, "is neither True nor False", step))
    return marks, refused


_NAMED = 80  #: characters of a record's name in a reason
#: Digits that surely are an id: 007 would not be the same text as 7.
_DIGITS = re.compile("0|[1-9][0-9]{0,17}")


class Identity(NamedTuple):
    """The key and the natural key of the records of one resource.

    The natural key is made of the `columns` that name a record which has no key yet, like the
    number of a contact; a resource without one has none. `of` takes a frame of these columns, in
    which any cell may be NA, and returns a text for each of its rows. Rows with the same text are
    the same record; NA says nothing.
    """

    noun: str  #: one record, for messages: "contact"
    key: tuple[str, ...]  #: the names of the levels of the base's index
    columns: tuple[str, ...] = ()  #: the first of them names the natural key in messages
    of: Callable[[pd.DataFrame], pd.Series[Any]] | None = None
    #: Replaces cells of a person's frame that cannot be sent by NA: "call him" names nobody.
    valid: Callable[[pd.DataFrame], pd.DataFrame] = lambda cells: cells
    #: Columns that must agree as well where a row is found by its natural key. A number with
    #: another country code is another person's.
    agree: tuple[str, ...] = ()
    #: Columns by which both sides of a conflict are named.
    labels: tuple[str, ...] = ()
    single: bool = False  #: whether the service refuses a second record of one natural key
    #: Whether creating the natural key of a deleted record brings that record back.
    restores: bool = False
    #: Whether who creates a record chooses its key, as a language code: one that is not in
    #: the base is new then. A key that the service gives must be there.
    chosen: bool = False
    #: Whether nobody knows in which account the keys of a frame were read: in another one they
    #: are those of other records.
    unknown_account: bool = False
    fields: Collection[str] | None = None  #: the columns that may be sent; None: any may

    @property
    def named(self) -> str:
        """The key in words: "id", or "template_code and lang_code"."""
        return " and ".join(self.key)


class Edits:
    """The edits of a frame. NA in a cell leaves what is there; `""` clears it.

    Each row is matched with the row of the base that it means, then cells are compared. Rows are
    numbers of rows of the edited frame.

    Args:
        frame: The edited frame: in any order, with any rows and columns, of any dtypes.
        base: What was read, indexed by key; its columns are as `chatkit.frames.frame` makes them.
        who: How the records are told apart.
        duplicates: Take rows that share their natural key, unless the service does not.
        gone: Rows of the base that are deleted beside those that the frame marks.

    Raises:
        InputError: The frame as a whole cannot be read, or its index has lost its name.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        base: pd.DataFrame,
        who: Identity,
        *,
        duplicates: bool = False,
        gone: Sequence[int] | Rows = (),
    ) -> None:
        frame = levels_as_columns(check_frame(frame), base, who.key).copy(deep=False)
        frame.attrs = {}  # pandas copies them with each column that is taken out
        self._frame, self._base, self._who = frame, base, who
        self.labels: pd.Index[Any] = frame.index  #: the frame's own names of its rows
        apart = {*who.key} | ({DELETE} - {*base.columns})
        names = [name for name in frame.columns if name not in apart]
        self.columns = [name for name in names if name in base.columns]
        self.unknown = [name for name in names if name not in base.columns]
        #: For each row the row of the base that it means; -1 if it is new or refused.
        self.positions: Rows = np.full(len(frame), -1)
        self.has_key: Mask = np.zeros(len(frame), bool)  #: which rows have a key of their own
        self.deleted: Mask = np.zeros(len(frame), bool)  #: where the column `delete` says True
        self.refused: list[Refusal] = []  #: the rows that cannot be taken, each maybe repeatedly
        self.united: dict[int, int] = {}  #: the rows that repeat an earlier one, each with that
        self._sound: Mask = np.ones(len(frame), bool)  # which rows are not refused
        self._whole = base.index.nlevels == 1 and base.index.dtype.kind == "i"
        self._keys: Any = ()  # of each row; only where one has a key
        self._names: dict[int, str | None] = {}  # natural keys of the rows without a key
        self._known: pd.Series[Any] | None = None
        self._differing: dict[str, Rows] = {}
        self._match_by_key()
        if DELETE in frame.columns and DELETE not in base.columns:
            self.deleted, refused = delete_marks(frame[DELETE])
            self._refuse(refused)
        self._match_by_natural_key()
        several = duplicates and not who.single
        self._unite(duplicates=several)
        self._compared = self.positions
        self._refuse_other_account()
        marked = self.positions[self.deleted & (self.positions >= 0)]
        self._gone = {*marked.tolist(), *map(int, gone)}  # rows of the base that are deleted
        self._release()
        self._refuse_disagreeing()
        if several:
            self._take_as_new()
        else:
            self._refuse_shared_names()
        step = f"say its {who.named}"
        self._refuse(
            Refusal(row, DELETE, True, f"no {who.noun} is found by this row", step)
            for row in np.flatnonzero(self.deleted & self._sound & (self.positions < 0)).tolist()
        )

    @property
    def new(self) -> Rows:
        """The rows that are no record of the base yet."""
        return np.flatnonzero((self.positions < 0) & self._sound)

    def changed(self) -> dict[str, Rows]:
        """Find the rows in which a cell is not what the base has, for each such column."""
        changed = {}
        for name in self.columns:
            rows = self._differing_rows(name)
            rows = rows[self.positions[rows] >= 0]
            if len(rows):
                changed[name] = rows
        return changed

    def _differing_rows(self, name: str) -> Rows:
        """Return the rows that say something else than the base in a column."""
        if name not in self._differing:
            rows = np.flatnonzero(self._compared >= 0)
            base = self._base[name].iloc[self._compared[rows]]
            self._differing[name] = rows[differing(base, self._frame[name].iloc[rows])]
        return self._differing[name]

    def key(self, row: int) -> Any:
        """Return the key of a row, a tuple for two levels; None for a record without one yet."""
        if (position := int(self.positions[row])) >= 0:
            return python_value(self._base.index[position])
        return python_value(self._keys[row]) if self.has_key[row] else None

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
        values = python_values(cells)
        text = column in self._base.columns and isinstance(self._base[column].dtype, pd.StringDtype)
        if cells.dtype.kind == "f" and not text:  # whole numbers with gaps become floats
            return [int(v) if is_whole_float(v) else v for v in values]
        return values

    def base_values(self, column: str, rows: Rows) -> list[Any]:
        """Return what the base has in the cells of some rows that are not new."""
        return python_values(self._base[column].iloc[self.positions[rows]])

    def _refuse(self, refusals: Iterable[Refusal]) -> None:
        """Take these rows out."""
        new = list(refusals)
        rows = [refusal.row for refusal in new]
        self.refused += new
        self._sound[rows] = False
        self._let_go(rows)

    def _let_go(self, rows: list[int]) -> None:
        """Detach rows from the base, in a copy: comparisons by position hold the old one."""
        if rows:
            self.positions = self.positions.copy()
            self.positions[rows] = -1

    # --- by key ---

    def _match_by_key(self) -> None:
        """Match the rows that have a key: in columns, else in levels of the index."""
        who = self._who
        cells = [column_or_level(self._frame, name) for name in who.key]
        parts = [part for part in cells if part is not None]
        if not parts:
            self._refuse_lost_names()
        if len(parts) < len(cells):
            return
        self._keys, self.has_key, self.positions = find_keys(self._base, parts)
        why = why_no_number if self._whole else why_no_text
        self._refuse(  # what is there, but is no key
            Refusal(row, name, value, reason, self._next_step)
            for name, part in zip(who.key, parts, strict=True)
            for row in np.flatnonzero(~self.has_key & ~np.asarray(part.isna())).tolist()
            if (reason := why(value := python_value(part.array[row])))
        )
        if not who.chosen:
            reason = f"no {who.noun} of the account has it"
            self._refuse(
                Refusal(row, who.named, python_value(self._keys[row]), reason, self._next_step)
                for row in np.flatnonzero(self.has_key & (self.positions < 0)).tolist()
                if self._sound[row]
            )

    @property
    def _next_step(self) -> str:
        named = self._who.named
        if self._who.chosen:
            return f"write the {named} as text, as the frame that was read has it"
        return f"leave the {named} empty for a new {self._who.noun}, or read the frame again"

    def _refuse_lost_names(self) -> None:
        """Refuse a frame whose index holds keys without saying so."""
        who, index = self._who, self._frame.index
        numbers_of_rows = hasattr(index, "step")  # only a RangeIndex has one
        if list(index.names) != [None] * len(who.key) or numbers_of_rows:
            return
        levels = [index.get_level_values(level).to_series() for level in range(index.nlevels)]
        _, _, positions = find_keys(self._base, levels)
        rows = np.flatnonzero(positions >= 0)
        if self._whole and len(rows):  # any number may happen to be an id
            mine = self._naturals(self._frame, rows)
            live = self._naturals(self._base, positions[rows], written=False)
            rows = rows[[a is not None and a == b for a, b in zip(mine, live, strict=True)]]
        if len(rows):
            name = f"name = {who.key[0]!r}" if len(who.key) == 1 else f"names = {[*who.key]}"
            new = "" if who.chosen else f", where new rows have no {who.named}"
            raise InputError(
                f"The index of this frame holds the {who.named} of each row, but has lost its "
                f"name (pd.concat does that): say frame.index.{name}, or make the frame with "
                f"pd.concat([{who.noun}s.reset_index(), new]){new}."
            )

    # --- by natural key ---

    def _match_by_natural_key(self) -> None:
        """Match the rows without a key by their natural key. One that is not found is new."""
        rows = np.flatnonzero(~self.has_key & self._sound)
        texts = self._naturals(self._frame, rows)
        self._names = dict(zip(rows.tolist(), texts, strict=True))
        matches = self._with_names(texts)
        refused = []
        for row, text in self._names.items():
            places = matches.get(text, [])
            if len(places) == 1:
                self.positions[row] = places[0]
            elif places:
                reason = f"{len(places)} {self._who.noun}s have it"
                step = f"say by its {self._who.named} which of them it is"
                refused.append(Refusal(row, self._who.columns[0], text, reason, step))
        self._refuse(refused)

    # --- one record in several rows ---

    def _unite(self, *, duplicates: bool) -> None:
        """Unite the rows of one record that say the same.

        What a later row says beside the first is written into the first. Later rows that say
        something else are refused, so that leaving out what is refused keeps one of each.

        Args:
            duplicates: Whether rows without a key may share their natural key.
        """
        key, fields, labels = {*self._who.key}, self._who.fields, self._frame.index
        names = [n for n in self._frame.columns if n not in key and (fields is None or n in fields)]
        deleted = self.deleted
        filled: dict[str, dict[int, Any]] = defaultdict(dict)
        united: dict[int, int] = {}
        refused = []
        repeats = self._repeats(duplicates=duplicates)
        cells_of = self._filled([row for rows in repeats for row in rows], names)
        for first, *later in repeats:
            known = cells_of[first]
            for row in later:
                cells = cells_of[row]
                differing = [n for n in cells if n in known and not _alike(known[n], cells[n])]
                if differing or deleted[row] != deleted[first]:
                    name = differing[0] if differing else DELETE
                    earlier, drops = "an earlier row", ""
                    if labels.is_unique:
                        one, two = python_value(labels[first]), python_value(labels[row])
                        earlier = f"row {one!r}"
                        drops = (
                            f": frame.drop({two!r}) keeps the first, frame.drop({one!r}) this one"
                        )
                    reason = (
                        f"{earlier} is the same {self._who.noun} with another {name}: "
                        f"{known.get(name)!r:.60} there, {cells.get(name)!r:.60} here"
                    )
                    step = f"keep one of them{drops}; skip_invalid=True takes the first"
                    refused.append(Refusal(row, name, cells.get(name), reason, step))
                    continue
                united[row] = first
                for name in cells.keys() - known.keys():
                    filled[name][first] = known[name] = cells[name]
        self._refuse(refused)
        self.united = united
        self._sound[[*united]] = False
        self._let_go([*united])
        columns = {}
        for name, values in filled.items():
            column = columns[name] = self._frame[name].astype(object)
            column.array[[*values]] = np.fromiter(values.values(), object, len(values))
        self._frame = self._frame.assign(**columns) if columns else self._frame

    def _repeats(self, *, duplicates: bool) -> list[list[int]]:
        """Return the numbers of the rows that share a key, or have none and share their name."""
        groups: dict[Any, list[int]] = defaultdict(list)
        rows = np.flatnonzero(self.has_key & self._sound)
        for row in rows.tolist():
            groups[self._keys[row], True].append(row)
        for row, text in {} if duplicates else self._names.items():
            if text is not None and self._sound[row]:
                groups[text, False].append(row)
        return [group for group in groups.values() if len(group) > 1]

    def _filled(self, rows: list[int], names: Iterable[str]) -> dict[int, dict[str, Any]]:
        """Return the cells of rows without empty ones; `""` clears a field of a known record."""
        cells: dict[int, dict[str, Any]] = {row: {} for row in rows}
        for name in names if rows else ():
            for row, value in zip(rows, python_values(self._frame[name].iloc[rows]), strict=True):
                if value is not None and (value != "" or self.has_key[row]):
                    cells[row][name] = value
        return cells

    def _moved(self) -> Rows:
        """Find the rows with a key whose natural key may be another than in the base."""
        moved = np.zeros(len(self._frame), bool)
        both = {*self._frame.columns} & {*self._base.columns} - {*self._who.key}
        for name in self._who.columns:
            if name in both:
                moved[self._differing_rows(name)] = True
        return np.flatnonzero(moved & self.has_key & self._sound & ~self.deleted)

    def _refuse_other_account(self) -> None:
        """Refuse rows that have the key of one record, and the natural key of another.

        It is done where nobody knows in which account the keys were read. A row that keeps a name
        is an edit of it.
        """
        who = self._who
        if not who.unknown_account or not who.columns:
            return
        known = {*self._frame.columns} & {*self._base.columns} - {*who.columns, *who.agree}
        others = [name for name in who.labels if name in known]
        deleted = np.flatnonzero(self.deleted & self.has_key & self._sound)
        rows = np.concatenate([self._moved() if others else deleted[:0], deleted])
        mine = self._naturals(self._frame, rows)
        live = self._naturals(self._base, self.positions[rows], written=False)
        moved = [a is not None and a != b for a, b in zip(mine, live, strict=True)]
        refused = []
        for row in rows[np.array(moved, bool)].tolist():
            place = int(self.positions[row])
            cells = [(self._frame[n].iloc[row], self._base[n].iloc[place]) for n in others]
            differ = all(isinstance(own, str) and own and own != other for own, other in cells)
            if self.deleted[row] or differ:
                reason = (
                    f"conflict: {self._record(place)} is {self._named(self._base, place)}; the row "
                    f"says {self._named(self._frame, row)}"
                )
                step = (
                    f"write the row without the {who.named} if it was read in another account, or "
                    "read the frame again and edit that"
                )
                refused.append(Refusal(row, who.named, self.key(row), reason, step))
        self._refuse(refused)

    def _release(self) -> None:
        """Take rows for new ones whose natural key is freed by another row of the same frame."""
        edited = self._moved()
        if not (len(edited) or self._gone):
            return
        left, restores = self._left(edited), self._who.restores
        new, refused = [], []
        for row in self._names:
            place = int(self.positions[row])
            if place < 0 or self.deleted[row]:
                continue
            if place in left or (place in self._gone and not restores):
                new.append(row)
            elif place in self._gone:
                reason = (
                    f"{self._record(place)} has it, and is deleted in this plan: creating it "
                    "again would bring that one back"
                )
                step = "leave the deletion out to change that one, or leave this row out"
                refused.append(Refusal(row, self._who.columns[0], self._names[row], reason, step))
        self._let_go(new)
        self._refuse(refused)

    def _left(self, edited: Rows) -> set[int]:
        """Return the rows of the base whose natural key these rows change to another."""
        places = self.positions[edited]
        before = self._naturals(self._base, places, written=False)
        after = self._naturals_after(edited)
        moved = zip(places.tolist(), before, after, strict=True)
        return {place for place, old, new in moved if new is not None and new != old}

    def _refuse_disagreeing(self) -> None:
        """Refuse rows that are found by their natural key, but say that it is somebody else's."""
        rows = [row for row in self._names if self.positions[row] >= 0]
        who, refused = self._who, list[Refusal]()
        for name in who.agree if rows else ():
            if name not in self._frame.columns or name not in self._base.columns:
                continue
            edited = who.valid(self._frame[[name]].iloc[rows])[name]
            before = self._base[name].iloc[self.positions[rows]]
            for row, own, live in zip(rows, _texts_of(edited), _texts_of(before), strict=True):
                if own and live and own != live:
                    place = int(self.positions[row])
                    reason = (
                        f"conflict: {self._record(place)} has this {self._who.columns[0]} and is "
                        f"{self._named(self._base, place)}; the row says "
                        f"{self._named(self._frame, row)}"
                    )
                    step = f"correct the {name}, or say the {who.named} if that {who.noun} is meant"
                    refused.append(Refusal(row, name, own, reason, step))
        self._refuse(refused)

    def _named(self, frame: pd.DataFrame, row: int) -> str:
        """Name the record of a row in words."""
        cells = [frame[name].iloc[row] for name in self._who.labels if name in frame.columns]
        return " ".join(str(cell) for cell in cells if isinstance(cell, str) and cell)[:_NAMED]

    def _refuse_shared_names(self) -> None:
        """Refuse the rows that would be one record by their natural keys."""
        edited = self._moved()
        mine = {row: text for row, text in self._names.items() if self._sound[row]}
        moved = dict(zip(edited.tolist(), self._naturals_after(edited), strict=True))
        matches = self._with_names(moved.values())
        left = self._left(edited) | self._gone if len(edited) else self._gone
        held = np.bincount(self.positions[self.positions >= 0]) if mine else np.zeros(0, int)
        count = Counter((mine | moved).values())
        step = "keep one of them, or change the other in a plan of its own"
        if not self._who.single:
            step += ", or say duplicates=True"
        refused = []
        for row, text in (mine | moved).items():
            here, places = int(self.positions[row]), matches.get(text, [])
            others = [place for place in places if place not in left and here not in places]
            if text is None:
                continue
            if count[text] > 1:
                reason = f"{count[text]} rows have it"
            elif row in moved and others:
                reason = f"{self._record(others[0])} has it"
            elif row in mine and here >= 0 and held[here] > 1:
                reason = f"{self._record(here)} has it, and is in another row"
            else:
                continue
            refused.append(Refusal(row, self._who.columns[0], text, reason, step))
        self._refuse(refused)

    def _take_as_new(self) -> None:
        """Take rows without a key, whose record another row has, for new records."""
        taken = np.zeros(len(self._base), bool)
        taken[self.positions[self.has_key & (self.positions >= 0)]] = True
        second = []
        for row in self._names:
            if (place := int(self.positions[row])) >= 0:
                if taken[place]:
                    second.append(row)
                taken[place] = True
        self._let_go(second)

    def _record(self, position: int) -> str:
        noun, named = self._who.noun, self._who.named
        return f"the {noun} with the {named} {python_value(self._base.index[position])!r:.60}"

    def _naturals(
        self, frame: pd.DataFrame, rows: Rows, *, written: bool = True
    ) -> list[str | None]:
        """Make the natural keys of these rows; `written`: a person wrote them."""
        if self._who.of is None or not len(rows):
            return [None] * len(rows)
        cells = frame.reindex(columns=self._who.columns).iloc[rows]
        return _texts_of(self._who.of(self._who.valid(cells) if written else cells))

    def _naturals_after(self, edited: Rows) -> list[str | None]:
        """Make the natural keys that these rows will have: NA leaves a cell as it is."""
        columns = self._who.columns
        cells = self._frame.reindex(columns=columns).iloc[edited].astype(object)
        before = self._base.reindex(columns=columns).iloc[self.positions[edited]].astype(object)
        filled = cells.where(cells.notna(), before.set_axis(cells.index))
        return self._naturals(filled, np.arange(len(edited)))

    def _with_names(self, texts: Iterable[str | None]) -> dict[str | None, list[int]]:
        """Find the rows of the base that have these natural keys."""
        names = {text for text in texts if text is not None}
        matches: dict[str | None, list[int]] = defaultdict(list)
        if names and self._who.of is not None:
            if self._known is None:
                self._known = self._who.of(self._base.reindex(columns=self._who.columns))
            rows = np.flatnonzero(self._known.isin(names).to_numpy(bool))
            for position, text in zip(
                rows.tolist(), _texts_of(self._known.iloc[rows]), strict=True
            ):
                matches[text].append(position)
        return matches


def _alike(one: Any, two: Any) -> bool:
    """Compare two cells of a person's file; spaces and how accents are encoded do not count."""
    if isinstance(one, str) and isinstance(two, str):
        one, two = (" ".join(unicodedata.normalize("NFC", text).split()) for text in (one, two))
    return bool(one == two)


def _texts_of(texts: pd.Series[Any]) -> list[str | None]:
    return [text if isinstance(text, str) else None for text in texts.tolist()]


def text_keys(cells: Cells) -> list[str | None]:
    """Read keys that are texts and can stand in an address; None where there is none."""
    return [
        value if isinstance(value, str) and not segment_problem(value) else None
        for value in cells.astype(object)
    ]


def why_no_text(value: Any) -> str:
    """Return why a cell is no key; empty for a text, of which an empty one means none."""
    if not isinstance(value, str):
        return "must be text"
    return segment_problem(value) if value else ""


def number_keys(cells: Cells) -> tuple[Rows, Mask]:
    """Read ids, whatever pandas made of them, and tell in which rows there is one."""
    numbers = [_number(value) for value in python_values(cells)]
    has_key = np.fromiter((number is not None for number in numbers), bool, len(numbers))
    return np.fromiter((number or 0 for number in numbers), np.int64, len(numbers)), has_key


def _number(value: Any) -> int | None:
    if isinstance(value, str):
        return int(value) if _DIGITS.fullmatch(value) else None
    if isinstance(value, float):
        return int(value) if is_whole_float(value) else None
    number = isinstance(value, int) and not isinstance(value, bool)
    return value if number and -(2**63) <= value < 2**63 else None


def why_no_number(value: Any) -> str:
    """Return why a cell is no id; empty for an empty text, which means none."""
    if isinstance(value, float) and abs(value) >= INEXACT:
        return "has lost digits: a float cannot hold so long a number"
    return "" if isinstance(value, str) and not value else "must be a whole number"


def find_keys(base: pd.DataFrame, parts: Sequence[Cells]) -> tuple[Any, Mask, Rows]:
    """Find the rows of a base by the parts of their keys, whatever pandas made of these.

    Returns:
        The keys; in which rows there is one; the rows of the base, -1 where it has none.
    """
    if base.index.nlevels == 1 and base.index.dtype.kind == "i":
        ids, has_key = number_keys(parts[0])
        index: Any = base.index
        return ids, has_key, np.where(has_key, index.get_indexer(ids), -1)
    texts = [text_keys(part) for part in parts]
    keys: Any = texts[0] if len(texts) == 1 else list(zip(*texts, strict=True))
    has_key = np.logical_and.reduce([[t is not None for t in text] for text in texts])
    place = {key: position for position, key in enumerate(base.index)}
    positions = np.array([place.get(key, -1) for key in keys], np.int64)
    return keys, has_key, np.where(has_key, positions, -1)
