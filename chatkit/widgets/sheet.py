"""Sheet: the edits of a frame, and the view of its rows.

A sheet has what was entered in which cell, and each step back. Rows are numbers: those of the
frame first, those that were added after them.

A view stays as it is while cells are edited: no row jumps away from who writes in it. Added rows
stand at the end, whatever is looked for.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, get_origin

import numpy as np
import pandas as pd

from chatkit.bulk.comparison import Rows, is_same_value
from chatkit.bulk.endpoints import Endpoints
from chatkit.bulk.matching import DELETE, NO_FLAG, Mask, check_frame, read_delete_marks
from chatkit.bulk.planner import explain_read_only
from chatkit.errors import InputError, Problem
from chatkit.frames.frame import Kind, choose_column_kinds, to_python, to_python_list
from chatkit.report import format_finding_with_hint, select_errors
from chatkit.util.display import values as shortly

_CHECKED_ROWS = 500  #: rows that are checked as a whole when they are edited at once
#: Stands in a cell for: what the frame has.
AS_IT_WAS: Any = object()


class EditedCell(NamedTuple):
    """An entry in a cell; `typed` is what was refused, and `reason` why.

    What `waits` is kept from being sent by other cells alone, and taken once these are edited.
    Somebody else has changed a cell in `conflict`: what was typed is not sent before a person has
    chosen it.
    """

    value: Any = AS_IT_WAS
    typed: Any = None
    reason: str = ""
    waits: bool = False
    conflict: bool = False


class ReplacedText(NamedTuple):
    """A replacement in a text; `reason` is why it would be refused."""

    row: int
    name: str
    before: str
    after: str
    reason: str


class _Step(NamedTuple):
    """The state before a step: cells, delete marks, and the number of added rows."""

    cells: dict[tuple[int, str], EditedCell | None]
    marks: dict[int, bool]
    added: int


class Sheet:
    """The edits of a frame of a resource; the frame itself stays as it is.

    Args:
        endpoints: Say what can be written, and check it.
        frame: What `resource.frame()` gave, or a frame of your own.

    Raises:
        InputError: The frame cannot be shown as a table.
    """

    def __init__(self, endpoints: Endpoints[Any], frame: pd.DataFrame) -> None:
        if not isinstance(frame, pd.DataFrame):
            raise InputError(f"A grid shows a DataFrame, not {type(frame).__name__}.")
        if frame.index.nlevels > 1:
            raise InputError("A grid shows one level of index: pass frame.reset_index().")
        self._attrs = dict(frame.attrs)
        self.deleted: set[int] = set()
        if DELETE in check_frame(frame) and DELETE not in endpoints.record.model_fields:
            marked, unreadable = read_delete_marks(frame[DELETE])
            if unreadable:
                problems = [Problem(DELETE, repr(v), NO_FLAG) for v in unreadable.values()]
                raise InputError("The column delete of this frame cannot be read:", problems)
            self.deleted = set(marked.nonzero()[0].tolist())
            frame = frame.drop(columns=DELETE)
        self.base = frame.copy(deep=False)
        self.size = len(frame)
        self.added = 0
        self.cells: dict[tuple[int, str], EditedCell] = {}
        self._endpoints = endpoints
        self.head = "" if frame.index.name is None else str(frame.index.name)
        if self.head in frame.columns:
            raise InputError(f"The index and a column are both called {self.head!r}: drop one.")
        cells = {self.head: frame.index} | {name: frame[name] for name in frame.columns}
        self.columns = {
            name: describe_column(endpoints, name, values.dtype.kind, head=name == self.head)
            for name, values in cells.items()
        }
        self._first = 1  # a frame of a grid may have new rows already
        if frame.index.dtype.kind not in "iuf":
            numbers = (re.fullmatch("new ([1-9][0-9]*)", str(label)) for label in frame.index)
            self._first += max((int(number[1]) for number in numbers if number), default=0)
        #: Rows by their natural keys and the other way round, and those whose key may be another
        #: now; None until somebody asks for an owner.
        self._owners: dict[str | None, set[int]] = {}
        self._keys: dict[int, str | None] = {}
        self._stale: set[int] | None = None
        self._past: list[_Step] = []
        self._undone: list[_Step] = []
        self._step: _Step | None = None

    # --- rows -----------------------------------------------------------------------

    def rows(self) -> list[int]:
        """Return the added rows that are still there."""
        return [n for n in range(self.size, self.size + self.added) if n not in self.deleted]

    def label(self, row: int) -> Any:
        """Return the label of a row: that of the frame's index, or 'new 1'."""
        if row < self.size:
            return to_python(self.base.index[row])
        return row if self._has_counting_index else f"new {row - self.size + self._first}"

    @property
    def _has_counting_index(self) -> bool:
        """True if the index only counts the rows."""
        index = self.base.index
        plain = pd.RangeIndex(len(index))
        return not self.head and isinstance(index, pd.RangeIndex) and index.equals(plain)

    def row(self, label: Any) -> int:
        """Return the row of a label. Raises `InputError` if there is none, or more than one."""
        for row in self.rows():
            if self.label(row) == label:
                return row
        try:
            place = self.base.index.get_loc(label)
        except (KeyError, TypeError, pd.errors.InvalidIndexError):
            raise InputError(f"There is no row {label!r}: grid.frame().index lists them.") from None
        if not isinstance(place, int):
            raise InputError(f"There are several rows {label!r}.")
        return place

    # --- values ---------------------------------------------------------------------

    def original(self, name: str, rows: Sequence[int]) -> list[Any]:
        """Return the values of the frame in a column for some rows; None for added rows."""
        known = [row for row in rows if row < self.size]
        column = self.base.index.to_series() if name == self.head else self.base[name]
        values = iter(to_python_list(column.iloc[known]))
        return [next(values) if row < self.size else None for row in rows]

    def cell(self, row: int, name: str) -> EditedCell:
        """Return the entry of a cell."""
        return self.cells.get((row, name), EditedCell())

    def values(self, name: str, rows: Sequence[int]) -> list[Any]:
        """Return the current values of a column for some rows."""
        cells = (self.cell(row, name) for row in rows)
        return [
            was if cell.value is AS_IT_WAS else cell.value
            for cell, was in zip(cells, self.original(name, rows), strict=True)
        ]

    def changed(self) -> Iterator[tuple[int, str]]:
        """Yield the cells that differ from the frame, those of new rows too."""
        for (row, name), cell in self.cells.items():
            if cell.value is not AS_IT_WAS and not self.is_removed(row):
                yield row, name

    def refused(self) -> Iterator[tuple[int, str, EditedCell]]:
        """Yield the cells whose last entry was refused."""
        for (row, name), cell in self.cells.items():
            if cell.reason and not self.is_removed(row):
                yield row, name, cell

    def is_removed(self, row: int) -> bool:
        """Return whether an added row was removed."""
        return row >= self.size + self.added or (row >= self.size and row in self.deleted)

    # --- edits ----------------------------------------------------------------------

    def edits(self) -> tuple[dict[tuple[int, str], EditedCell], set[int], int]:
        """Return a copy of all edits, to be compared later."""
        return dict(self.cells), set(self.deleted), self.added

    @contextmanager
    def step(self) -> Iterator[None]:
        """Combine all edits of a block into one step to undo."""
        if self._step is not None:
            yield
            return
        self._step = _Step({}, {}, self.added)
        try:
            yield
        finally:
            step, self._step = self._step, None
            if step.cells or step.marks or step.added != self.added:
                self._past.append(step)
                self._undone.clear()

    def check(self, name: str, entered: dict[int, Any]) -> dict[int, EditedCell | None]:
        """Return the cells that entries in a column would make; nothing is changed.

        Args:
            name: The column.
            entered: What is entered in which row: a value, or what a person types for it.
        """
        column, cells = self.columns[name], dict[int, EditedCell | None]()
        values: dict[int, Any] = {}
        for (row, typed), was in zip(entered.items(), self.original(name, [*entered]), strict=True):
            value = parse_typed(typed, column.kind)
            new = row >= self.size
            if value is None or is_same_value(was, value):
                cells[row] = None
            elif reason := column.closed if new else column.fixed:
                cells[row] = self._refused_cell(row, name, typed, reason)
            else:
                values[row] = value
        clears = [None if v == "" and column.kind != "text" else v for v in values.values()]
        good, wrong = self._endpoints.body.column(name, clears) if values else ({}, {})
        for place, row in enumerate(values):
            if place in good:
                cells[row] = EditedCell("" if good[place] is None else good[place])
            else:
                label_of = self._endpoints.format_label
                whys = (
                    p.reason if p.field == name else f"{label_of(p.field)}: {p.reason}"
                    for p in wrong[place]
                )
                cells[row] = self._refused_cell(row, name, entered[row], "; ".join(whys))
        return cells

    def _refused_cell(self, row: int, name: str, typed: Any, reason: str) -> EditedCell:
        return EditedCell(self.cell(row, name).value, typed, reason)

    def distribute(self, entered: Iterable[tuple[int, str, Any]]) -> dict[str, dict[int, Any]]:
        """Group entries by column; a text that belongs into several, as a whole number, is split.

        Args:
            entered: Row, column and value of each.
        """
        columns: dict[str, dict[int, Any]] = {}
        for row, name, value in entered:
            columns.setdefault(name, {})[row] = value
        for name, values in [*columns.items()]:
            for row, value in [*values.items()]:
                parts = self._endpoints.redirect_text(name, str(value))
                others = parts.keys() - {name}
                if others <= self.columns.keys() and not any(
                    row in columns.get(other, ())
                    for other in others  # what is entered there counts
                ):
                    for other, part in parts.items():
                        columns.setdefault(other, {})[row] = part
        return columns

    def write(
        self, entered: Iterable[tuple[int, str, Any]], *, whole_rows: bool = True
    ) -> set[int]:
        """Enter values in cells, each taken or refused with a reason; return the rows.

        Args:
            entered: Row, column and value of each.
            whole_rows: Whether rows are checked as a whole too, as far as they are few.
        """
        columns = self.distribute(entered)
        with self.step():
            for name, values in columns.items():
                for row, cell in self.check(name, values).items():
                    self._set_cell(row, name, cell)
            rows = {row for values in columns.values() for row in values}
            if whole_rows and len(rows) <= _CHECKED_ROWS:
                waiting = {row for (row, _), cell in self.cells.items() if cell.waits}
                for row in sorted(rows | waiting):
                    self._check_row(row, columns)
        return rows

    def _check_row(self, row: int, edited: Collection[str]) -> None:
        """Check a row as a whole, and refuse the edited cells that the plan would refuse."""
        endpoints, writable = self._endpoints, self._endpoints.body.model_fields
        cells = {name: cell for name in self.columns if (cell := self.cells.get((row, name)))}
        if any(cell.reason and not cell.waits and not cell.conflict for cell in cells.values()):
            return  # what is typed there decides too
        entered = {
            name: cell.typed if cell.reason else cell.value
            for name, cell in cells.items()
            if name in writable and not cell.conflict
        }
        fields = {
            name: None if value == "" and self.columns[name].kind != "text" else value
            for name, value in entered.items()
            if value is not AS_IT_WAS
        }
        names = [name for name in self.columns if name in writable]
        live = {name: self.original(name, [row])[0] for name in names if row < self.size}
        known = None if endpoints.detailed else live
        findings = list(endpoints.check_record(fields, known)) if fields else []
        for name in endpoints.documents & fields.keys():
            inner = endpoints.findings(name, fields[name])
            findings += [replace(each, pointer=f"/{name}{each.pointer}") for each in inner]
        problems = [
            (each.pointer.split("/")[1], format_finding_with_hint(each))
            for each in select_errors(findings)
        ]
        if (
            endpoints.single
            and not endpoints.chosen
            and {*fields} & {*endpoints.list_name_fields()}
        ):
            owner = self._find_owner(row, {**live, **fields})
            if owner is not None:
                place = next(
                    name for name in reversed(endpoints.list_name_fields()) if name in fields
                )
                problems.append((place, f"row {self.label(owner)} has it"))
        reasons: dict[str, list[str]] = {}
        for name, reason in problems:
            if name in fields or row < self.size:  # a new row is not typed whole yet
                for place in [name] if name in fields else [n for n in fields if n in edited]:
                    reasons.setdefault(place, []).append(reason)
        for name in fields:
            cell, value = cells[name], entered[name]
            if name in reasons:
                held = cell.value if cell.reason else AS_IT_WAS
                refused = EditedCell(held, value, "; ".join(reasons[name]), waits=True)
                self._set_cell(row, name, refused)
            elif cell.reason:
                self._set_cell(row, name, EditedCell(value))

    def _find_owner(self, row: int, fields: Mapping[str, Any]) -> int | None:
        """Return another row that has the natural key of a record."""
        names = self._endpoints.list_name_fields()
        if (key := self._endpoints.make_natural_name(fields)) is None or not {*names} <= {
            *self.columns
        }:
            return None
        if self._stale is None:
            self._stale = {*range(self.size), *(n for n, name in self.cells if name in names)}
        rows, self._stale = [*self._stale], set()
        columns = [self.values(name, rows) for name in names]
        for n, values in zip(rows, zip(*columns, strict=True), strict=True):
            self._owners.get(self._keys.get(n), set()).discard(n)
            self._keys[n] = self._endpoints.make_natural_name(dict(zip(names, values, strict=True)))
            self._owners.setdefault(self._keys[n], set()).add(n)
        others = self._owners.get(key, set()) - {row} - self.deleted
        return min((n for n in others if not self.is_removed(n)), default=None)

    def clear(self, rows: Iterable[int], names: Sequence[str]) -> set[int]:
        """Empty the cells that can be written; return the rows."""
        cells = ((row, name) for row in rows for name in names if self.is_writable(row, name))
        return self.write((*cell, "") for cell in cells)

    def is_writable(self, row: int, name: str) -> bool:
        """Return whether a cell can be written."""
        column = self.columns[name]
        return not (column.fixed if row < self.size else column.closed)

    def replacements(
        self, rows: Sequence[int], names: Iterable[str], pattern: re.Pattern[str], by: str
    ) -> Iterator[ReplacedText]:
        """Yield the replacements in texts that match a pattern; nothing is changed."""
        for name in names:
            pieces = {}
            for row, value in zip(rows, self.values(name, rows), strict=True):
                if isinstance(value, str) and self.is_writable(row, name) and pattern.search(value):
                    pieces[row] = value, pattern.sub(lambda _: by, value)
            checked = self.check(name, {row: after for row, (_, after) in pieces.items()})
            for row, (before, after) in pieces.items():
                cell = checked[row]
                yield ReplacedText(row, name, before, after, cell.reason if cell else "")

    def conflicts(self) -> list[tuple[int, str]]:
        """Return the cells with an unresolved conflict."""
        return [where for where, cell in self.cells.items() if cell.conflict]

    def mark_conflict(self, row: int, name: str) -> None:
        """Mark an entry as in conflict with the value of the frame."""
        live, cell = self.original(name, [row])[0], self.cells[row, name]
        entered = cell.typed if cell.conflict else cell.value
        reason = f"somebody has changed this to {shortly(live)} meanwhile, and nothing was sent"
        self._store_cell((row, name), EditedCell(AS_IT_WAS, entered, reason, conflict=True))

    def dismiss(self, row: int, name: str) -> None:
        """Discard a refused entry."""
        held = self.cell(row, name).value
        with self.step():
            self._set_cell(row, name, None if held is AS_IT_WAS else EditedCell(held))

    def _set_cell(self, row: int, name: str, cell: EditedCell | None) -> None:
        before = self.cells.get((row, name))
        if self._step is not None and before != cell:
            self._step.cells.setdefault((row, name), before)
            self._store_cell((row, name), cell)

    def _store_cell(self, where: tuple[int, str], cell: EditedCell | None) -> None:
        if self._stale is not None:
            self._stale.add(where[0])
        if cell is None:
            self.cells.pop(where, None)
        else:
            self.cells[where] = cell

    def add(self, count: int = 1) -> list[int]:
        """Add empty rows, and return them."""
        with self.step():
            first = self.size + self.added
            self.added += count
        return list(range(first, first + count))

    def mark(self, rows: Iterable[int], *, delete: bool) -> None:
        """Mark rows to be deleted, or remove the mark; an added row is removed."""
        with self.step():
            for row in rows:
                if self._step is not None and (row in self.deleted) != delete:
                    self._step.marks.setdefault(row, not delete)
                    self._set_mark(row, delete=delete)

    def _set_mark(self, row: int, *, delete: bool) -> None:
        (self.deleted.add if delete else self.deleted.discard)(row)

    def undo(self) -> set[int] | None:
        """Undo the last step, and return its rows; None if there is none."""
        return self._apply_step(self._past, self._undone)

    def redo(self) -> set[int] | None:
        """Redo the last undone step, and return its rows; None if there is none."""
        return self._apply_step(self._undone, self._past)

    def _apply_step(self, steps: list[_Step], other: list[_Step]) -> set[int] | None:
        if not steps:
            return None
        step = steps.pop()
        marks = {row: row in self.deleted for row in step.marks}
        other.append(_Step({at: self.cells.get(at) for at in step.cells}, marks, self.added))
        for where, cell in step.cells.items():
            self._store_cell(where, cell)
        for row, marked in step.marks.items():
            self._set_mark(row, delete=marked)
        self.added = step.added
        return {row for row, _ in step.cells} | set(step.marks)

    @property
    def steps(self) -> tuple[int, int]:
        """The numbers of steps that can be undone and redone."""
        return len(self._past), len(self._undone)

    def carry_over(
        self, old: Sheet, places: dict[int, int], done: Collection[tuple[int, str]]
    ) -> dict[int, int]:
        """Carry over the edits of an older sheet that are still to be done.

        Args:
            old: The sheet that this one follows.
            places: Which row of this one a row of the old one is; -1 for those that are gone.
            done: The cells of the old one whose values are in the account now.

        Returns:
            Which row is which, those too that were not in `places`: they are added.
        """
        places = dict(places)
        for row in [*range(old.size), *old.rows()]:
            if row not in places:
                (places[row],) = self.add()
        places = {row: place for row, place in places.items() if place >= 0}
        added_whole = [row for row in places if row < old.size and places[row] >= self.size]
        for name in set(old.columns) & set(self.columns):
            entered = dict(zip(added_whole, old.values(name, added_whole), strict=True))
            self.write(
                (places[row], name, value)
                for row, value in entered.items()
                if value is not None and self.is_writable(places[row], name)
            )
        for (row, name), cell in old.cells.items():
            if row in places and (row, name) not in done and name in self.columns:
                place = places[row], name
                for value in (cell.value, cell.typed if cell.reason else AS_IT_WAS):
                    if value is not AS_IT_WAS:
                        self.write([(*place, value)], whole_rows=False)
                if place in self.cells and (cell.conflict or cell.waits):
                    self._store_cell(place, cell)
                if cell.conflict and place in self.cells:
                    self.mark_conflict(*place)
        self.mark(
            (places[row] for row in old.deleted if row in places and row < old.size), delete=True
        )
        self._past.clear()
        return places

    # --- the frame ------------------------------------------------------------------

    def frame(self) -> pd.DataFrame:
        """Return the edited frame, as `plan` takes it."""
        frame, new = self.base.copy(deep=False), self.rows()
        marked = [row for row in self.deleted if row < self.size]
        if new:
            frame = self._add_empty_rows(frame, new)
        place = {row: self.size + n for n, row in enumerate(new)}
        columns: dict[str, dict[int, Any]] = {}
        for row, name in self.changed():
            columns.setdefault(name, {})[place.get(row, row)] = self.cells[row, name].value
        for name, values in columns.items():
            frame[name] = replace_values(frame[name], values)
        if marked:
            flags = pd.Series(False, index=range(len(frame)))
            flags.iloc[marked] = True
            frame[DELETE] = flags.to_numpy()
        frame.attrs = dict(self._attrs)
        return frame

    def _add_empty_rows(self, frame: pd.DataFrame, new: list[int]) -> pd.DataFrame:
        """Add empty rows to a frame; keys become a column, for new rows have none."""
        labels = [*frame.index.tolist(), *map(self.label, new)]
        if self.head:
            keys = frame.index.to_series()
            frame = frame.assign(**{self.head: keys})[[self.head, *frame.columns]]
        frame = frame.reset_index(drop=True).astype(
            {name: "Int64" for name in frame if frame[name].dtype.kind in "iu"}
            | {name: "boolean" for name in frame if frame[name].dtype.kind == "b"}
        )
        frame = frame.reindex(range(len(labels)))
        return frame if self._has_counting_index else frame.set_axis(pd.Index(labels, dtype=object))


#: What people and spreadsheets write for True and False.
_FLAGS = {"true": True, "yes": True, "false": False, "no": False}
#: What pandas calls the types of columns that are no field of a record.
_KIND_OF_DTYPE: dict[str, Kind] = {**dict.fromkeys("iuf", "number"), "b": "flag", "M": "time"}


class Column(NamedTuple):
    """A column: its kind, what people call it, and why it cannot be written, "" if it can.

    `fixed` is why it cannot be written in a row that exists, `closed` in a new one; `part` tells
    that another column is written in its place.
    """

    name: str
    label: str
    kind: Kind
    fixed: str
    closed: str
    part: bool = False


def describe_column(endpoints: Endpoints[Any], name: str, dtype: str, *, head: bool) -> Column:
    """Describe a column by its resource.

    Args:
        endpoints: Whose records these are.
        name: The name of the column.
        dtype: The kind of its values in the frame, as pandas calls it.
        head: Whether it is the index.
    """
    body, record = endpoints.body.model_fields, endpoints.record.model_fields
    label = endpoints.format_label(name) if name in {*body, *record} else name or "row"
    if name in body:
        kind = choose_column_kinds(endpoints.body, [name])[name]
        nested = get_origin(body[name].annotation) in (list, dict)
        if kind == "json" and not nested and endpoints.body.accepts_text(name):
            kind = "text"
        fixed = explain_read_only(endpoints, name)[0] if name in endpoints.body.create_only else ""
        if name == endpoints.key:
            fixed = "tells which row this is: add a row for another"
        return Column(name, label, kind, fixed, "")
    reason, step = explain_read_only(endpoints, name)
    if name in endpoints.instead:
        reason = f"{reason}: {step}"
    elif head and not name:
        reason = "only numbers the rows"
    kind = _KIND_OF_DTYPE.get(dtype, "text")
    if name in record:
        kind = choose_column_kinds(endpoints.record, [name])[name]
    return Column(name, label, kind, reason, reason, name in endpoints.instead)


def parse_typed(typed: Any, kind: Kind) -> Any:
    """Convert typed text to a kind of value; return it as it is if that fails."""
    if not isinstance(typed, str):
        return None if pd.api.types.is_scalar(typed) and pd.isna(typed) else to_python(typed)
    if kind == "flag":
        return _FLAGS.get(typed.strip().casefold(), typed)
    if kind == "number" and re.fullmatch("-?[0-9]{1,18}", typed.strip()):
        return int(typed)
    if kind == "json" and typed.strip():
        with suppress(ValueError, RecursionError):
            return json.loads(typed)
    return typed


def replace_values(cells: pd.Series[Any], values: dict[int, Any]) -> Any:
    """Return a column with other values, of another type if it cannot hold them."""
    rows, kinds = list(values), set(map(type, values.values()))
    holds: dict[str, set[type]] = {
        "string": {str},
        "boolean": {bool},
        "bool": {bool},
        "Int64": {int},
    }
    name = "string" if isinstance(cells.dtype, pd.StringDtype) else str(cells.dtype)
    if kinds <= holds.get(name, set()):
        array = cells.array.copy()
        array[rows] = list(values.values())
        return array
    objects = cells.astype(object).to_numpy(copy=True)
    for row, value in values.items():
        objects[row] = value
    return objects


#: Writes a value of a cell as a text.
Write: TypeAlias = Callable[[Any], str]

#: All that columns of these kinds are written with: no other text needs to be looked for there.
_CHARACTERS = {"number": "0123456789-+.e", "time": "0123456789-:+. "}


def format_cell(value: Any) -> str:
    """Return a value as a person types it."""
    if isinstance(value, str):
        text = value
    elif value is None:
        text = ""
    elif isinstance(value, list | dict | tuple):
        try:
            text = json.dumps(value, ensure_ascii=False, default=str)
        except (TypeError, ValueError, RecursionError):  # a key of an unreadable type, or a ring
            text = str(value)
    else:
        text = str(value)
    return text.encode("utf-8", "replace").decode()  # half a character cannot be sent


def fold_text(value: Any) -> str:
    """Return a value as a text without case and accents: Garcia finds GARCÍA."""
    text = format_cell(value)
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in parts if not unicodedata.combining(c))


class RowFilter(NamedTuple):
    """A filter of rows: a text in any cell, edited ones alone, and three filters by column."""

    text: str
    changed: bool
    contains: dict[str, str]  #: a text that the cell must hold
    values: dict[str, list[str]]  #: the texts of which it must be one
    empty: dict[str, bool]  #: whether it must be empty

    @property
    def columns(self) -> set[str]:
        """The columns that it filters by."""
        return {*self.contains, *self.values, *self.empty}


_ALL_ROWS = RowFilter("", False, {}, {}, {})


class View:
    """The shown rows of a sheet, in their order."""

    def __init__(self, sheet: Sheet) -> None:
        self.filter = _ALL_ROWS
        self.column: str | None = None
        self.descending = False
        self._sheet = sheet
        #: The columns of the frame as texts.
        self._texts: dict[tuple[str, Write], pd.Series[Any]] = {}
        self._ordered: Rows = np.arange(sheet.size)
        self.rows: Rows = self._ordered

    def with_sheet(self, sheet: Sheet) -> View:
        """Return a view of another sheet, with the same filter and order if it has the columns."""
        view = View(sheet)
        view.filter = self.filter if self.filter.columns <= {*sheet.columns} else _ALL_ROWS
        view.column = self.column if self.column in sheet.columns else None
        view.descending = self.descending
        view.update_rows()
        return view

    def update_rows(self) -> None:
        """Filter and sort the rows again."""
        sheet, chosen = self._sheet, self.filter
        mask = self._rows_with_text(chosen.text) if chosen.text else np.ones(sheet.size, bool)
        for name, text in chosen.contains.items():
            mask &= _match_text(self._current_texts(name, fold_text, typed=True), fold_text(text))
        for name, texts in chosen.values.items():
            mask &= self._current_texts(name, format_cell).isin(texts).to_numpy(bool)
        for name, empty in chosen.empty.items():
            mask &= (self._current_texts(name, format_cell) == "").to_numpy(bool) == empty
        if chosen.changed:
            edited = {row for row, _ in sheet.cells} | sheet.deleted
            mask &= np.isin(np.arange(sheet.size), list(edited))
        rows = np.flatnonzero(mask) if self.column is None else self._sorted_rows(self.column)
        self._ordered = rows[mask[rows]]
        self.update_added_rows()

    def update_added_rows(self) -> bool:
        """Update the added rows; return whether they have changed."""
        added = np.array(self._sheet.rows(), np.int64)
        before, self.rows = self.rows, np.concatenate([self._ordered, added])
        return not np.array_equal(before, self.rows)

    def count_values(self, name: str, most: int) -> tuple[list[tuple[str, int]], int]:
        """Count the values of a column; return the most frequent, and the number of others."""
        counts = Counter(self._current_texts(name, format_cell)).most_common()
        return counts[:most], max(len(counts) - most, 0)

    def _rows_with_text(self, text: str) -> Mask:
        """Return a mask of the rows that have a text in any cell."""
        sheet, text = self._sheet, fold_text(text)
        entered = {name for _, name in sheet.cells}
        mask = np.zeros(sheet.size, bool)
        for name, column in sheet.columns.items():
            if name in entered or {*text} <= {*_CHARACTERS.get(column.kind, text)}:
                mask |= _match_text(self._current_texts(name, fold_text, typed=True), text)
        return mask

    def _current_texts(self, name: str, write: Write, *, typed: bool = False) -> pd.Series[Any]:
        """Return the current values of a column as texts, also refused ones if `typed`."""
        sheet = self._sheet
        if (name, write) not in self._texts:
            cells = sheet.base.index.to_series() if name == sheet.head else sheet.base[name]
            written = [write(value) for value in to_python_list(cells)]
            self._texts[name, write] = type(cells)(written, dtype="str")
        texts = self._texts[name, write]
        rows = [row for row, column in sheet.cells if column == name and row < sheet.size]
        if rows:
            texts = texts.copy()
            values = map(write, sheet.values(name, rows))
            sheet_cells = (sheet.cell(row, name) for row in rows)
            texts.iloc[rows] = [
                f"{text}\n{write(cell.typed)}" if typed and cell.reason else text
                for text, cell in zip(values, sheet_cells, strict=True)
            ]
        return texts

    def _sorted_rows(self, name: str) -> Rows:
        """Return all rows of the frame sorted by a column, empty cells last."""
        keys = self._current_texts(name, fold_text)
        if (sheet := self._sheet).columns[name].kind in ("number", "time", "flag"):
            keys = pd.Series(sheet.values(name, range(sheet.size)), dtype=object)
        keys = keys.reset_index(drop=True)
        keys = keys.mask(keys == "").sort_values(ascending=not self.descending, kind="stable")
        rows: Rows = keys.index.to_numpy()
        return rows


def _match_text(texts: pd.Series[Any], text: str) -> Mask:
    mask: Mask = texts.str.contains(text, regex=False).to_numpy(bool)
    return mask
