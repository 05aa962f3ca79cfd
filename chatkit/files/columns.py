"""Columns: the rows of a table as a frame, in which the columns of contacts have their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import NoneType
from typing import Any

import pandas as pd

from chatkit.display import shortened
from chatkit.errors import InputError, Problem
from chatkit.files import headers
from chatkit.tables import (
    ROW,
    RawTable,
    Reader,
    TableRow,
    as_text,
    column_letter,
    keep_cell,
    list_rows,
    quoted_name,
    read_digits,
    read_word,
)

#: What a frame of contacts has, and how its cells are read.
FIELDS: Mapping[str, Reader] = {
    "number": read_digits,
    "country_code": read_digits,
    "name": read_word,
}
#: What the file calls each of these; None to find out, nothing if it has none.
Wanted = Mapping[str, Sequence[str] | None]
#: So many rows are looked at to tell what a column holds.
_SAMPLE = 200
_NAMED = 12  #: columns that a message names
#: What is read, but should be seen; the line breaks only where a name or number stands.
_UNUSUAL = {"\0": "a NUL character", "\ufffd": "�, where a letter was lost", "\n": "a line break"}


@dataclass
class ContactColumns:
    """The frame of the rows that can be read, and what is to be said of the others."""

    frame: pd.DataFrame
    of: dict[str, tuple[str, ...]]  #: for each column those of the file that it was made of
    notes: list[str]
    problems: list[Problem]
    left_out: int


def find_columns(table: RawTable, wanted: Wanted) -> ContactColumns:
    """Find the names of the columns, and read the rows below them.

    Raises:
        InputError: The columns cannot be told apart, or none is the number.
    """
    rows = [row for row in table.rows if any(cell is not None for cell in row.cells)]
    if not rows:
        raise InputError(
            "The file is empty: export it again, with its column names in the first row."
        )
    said = [name for names in wanted.values() for name in names or ()]
    top = headers.row_of_names(rows, said) if table.titled else 0
    sorter = _Sorter(rows[top].cells, rows[top + 1 :], table.notes)
    if top:
        above = list_rows([row.number for row in rows[:top]])
        sorter.notes.append(f"{above} above the names of the columns: left out")
    for n, text, reason in table.broken:
        sorter.broken.append((n, 0, Problem(f"row {n}", shortened(repr(text)), reason)))
    sorter.even()
    sorter.name()
    if table.ours:
        wanted = {field: wanted.get(field) or [field] * (field in sorter.names) for field in FIELDS}
    meant = sorter.meant(wanted)
    if not meant.get("number") and wanted.get("number") is None and "id" not in sorter.names:
        raise _unmeant(rows[top], sorter.names)
    return sorter.columns(meant)


def _unmeant(first: TableRow, names: Iterable[str | None]) -> InputError:
    if headers.looks_like_data(first):
        return InputError(
            f"Row {first.number} is a contact already: put a row above it that says what each "
            "column is, like number, country_code, name."
        )
    there = ", ".join(repr(name) for name in names if name is not None)
    return InputError(
        f"No column has a name that says it holds the telephone numbers. Columns: {there}. "
        "Name it: read_contacts(path, number='…'), or number='' if there is none."
    )


class _Sorter:
    """Reads the rows below the names of columns."""

    def __init__(self, names: Sequence[Any], rows: list[TableRow], notes: Sequence[str]) -> None:
        self.names = [as_text(name) for name in names]
        self.notes = [*notes]
        self.broken: list[tuple[int, int, Problem]] = []  #: with row and place, to sort them
        self._rows = rows

    def even(self) -> None:
        """Leave out the rows that have more or fewer cells than there are columns."""
        while self.names and self.names[-1] is None and not self._any(len(self.names) - 1):
            self.names.pop()
        width, rows = len(self.names), self._rows
        if all(len(row.cells) == width for row in rows):
            return
        extra = [row for row in rows if any(c is not None for c in row.cells[width:])]
        if len(extra) == len(rows) > 1:
            raise InputError(
                f"All rows have more cells than the {width} columns that have a name, so it "
                "cannot be told which is which. Give each column a name, also the first."
            )
        self._rows = []
        for row in rows:
            count = len(row.cells)
            beyond = next((n for n in range(width, count) if row.cells[n] is not None), None)
            if beyond is not None:
                reason = f"is beyond the {width} columns that have a name, so some may be shifted"
                self._refuse(
                    row, beyond, f"column {column_letter(beyond)}", row.cells[beyond], reason
                )
            elif count < width:
                reason = f"has {count} of {width} cells, so some may be shifted"
                self._refuse(
                    row, 0, "", ", ".join(as_text(cell) or "" for cell in row.cells), reason
                )
            else:
                self._rows.append(row)

    def name(self) -> None:
        """Give a name to columns without one, and refuse names that are there twice."""
        for place, name in enumerate(self.names):
            if name is None and self._any(place):
                self.names[place] = f"column {column_letter(place)}"
                self.notes.append(f"column {column_letter(place)} has no name")
        twice = {name: self._places(name) for name in self.names if name is not None}
        if problems := [
            Problem(
                "columns " + " and ".join(map(column_letter, places)), repr(name), "is there twice"
            )
            for name, places in twice.items()
            if len(places) > 1
        ]:
            raise InputError("The columns need names of their own, or one is too many:", problems)

    def meant(self, wanted: Wanted) -> dict[str, tuple[int, ...]]:
        """Find the places of the columns that mean something."""
        told = {
            field: tuple(map(self._place, names))
            for field, names in wanted.items()
            if names is not None
        }
        taken = [place for places in told.values() for place in places]
        if len(taken) > len(set(taken)):
            raise InputError("A column can be only one of number, country code and name.")
        found = headers.match_names([name or "" for name in self.names], self._rows[:_SAMPLE])
        meant = {
            "number": () if found.number is None else (found.number,),
            "country_code": () if found.country_code is None else (found.country_code,),
            "name": found.name,
        }
        if found.others and "number" not in told:
            others = " or ".join(f"number={self.names[place]!r}" for place in found.others)
            self.notes.append(f"there are more columns of numbers: {others} takes another one")
        free = {
            field: tuple(p for p in places if p not in taken) for field, places in meant.items()
        }
        return free | told

    def columns(self, meant: Mapping[str, tuple[int, ...]]) -> ContactColumns:
        """Read all cells, and make the frame of the rows in which all can be read."""
        of = self._named(meant)
        read = {
            name: self._joined(places) if name == "name" and len(places) > 1
            else self._read(places[0], FIELDS[name] if places == meant.get(name) else keep_cell)
            for name, places in of.items()
        }  # fmt: skip
        bad = {number for number, _, _ in self.broken}
        good = [n for n, row in enumerate(self._rows) if row.number not in bad]
        if len(good) < len(self._rows):
            read = {name: [texts[n] for n in good] for name, texts in read.items()}
        index = pd.Index([self._rows[n].number for n in good], dtype="int64", name=ROW)
        frame = pd.DataFrame(
            {name: pd.Series(texts, index, dtype="str") for name, texts in read.items()}, index
        )
        self._tell(frame, meant)
        names = {name: tuple(self.names[place] or "" for place in of[name]) for name in of}
        self.broken.sort(key=lambda found: found[:2])
        problems = [problem for _, _, problem in self.broken]
        return ContactColumns(frame, names, self.notes, problems, len(bad))

    # --- helpers --------------------------------------------------------------------

    def _named(self, meant: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        """Name the columns of the frame in the order of the file."""
        taken = {place: field for field, places in meant.items() for place in places}
        of: dict[str, tuple[int, ...]] = {}
        for place, name in enumerate(self.names):
            if place in taken:
                of.setdefault(taken[place], meant[taken[place]])
            elif name is not None:
                clash = name in taken.values()  # it is called so, but another one is it
                of[f"{name} (column {column_letter(place)})" if clash else name] = (place,)
        return of

    def _read(self, place: int, reader: Reader) -> list[str | None]:
        """Read a column. A cell that cannot be read takes its row out."""
        values = [row.cells[place] for row in self._rows]
        if reader is not read_digits and {str, NoneType}.issuperset(map(type, values)):
            return values
        read = [reader(value) for value in values]
        for n, (_, reason) in enumerate(read):
            if reason:
                self._refuse(self._rows[n], place, self.names[place] or "", values[n], reason)
        return [text for text, _ in read]

    def _joined(self, places: Sequence[int]) -> list[str | None]:
        """Join the parts of a name by spaces."""
        parts = zip(*(self._read(place, read_word) for place in places), strict=True)
        return [" ".join(filter(None, (p and p.strip() for p in row))) or None for row in parts]

    def _tell(self, frame: pd.DataFrame, meant: Mapping[str, tuple[int, ...]]) -> None:
        """Note what is read, but should be seen."""
        for field in ("number", "country_code"):
            for place in meant.get(field, ()):
                stored = [row.number for row in self._rows if type(row.cells[place]) is int]
                if stored:
                    self.notes.append(
                        f"{field} is a number in the file, not text, in {list_rows(stored)}: "
                        "a zero or + in front, if there was one, is gone"
                    )
        for name in frame.columns:
            for character, said in _UNUSUAL.items():
                if character != "\n" or name in FIELDS:
                    where = frame.index[frame[name].str.contains(character, regex=False, na=False)]
                    if len(where):
                        self.notes.append(f"{name} holds {said} in {list_rows(where.tolist())}")

    def _refuse(self, row: TableRow, place: int, column: str, value: Any, reason: str) -> None:
        where = f"row {row.number}, {quoted_name(column)}" if column else f"row {row.number}"
        text, _ = keep_cell(value)
        self.broken.append((row.number, place, Problem(where, shortened(repr(text or "")), reason)))

    def _any(self, place: int) -> bool:
        return any(len(r.cells) > place and r.cells[place] is not None for r in self._rows)

    def _places(self, name: str) -> list[int]:
        return [place for place, other in enumerate(self.names) if other == name]

    def _place(self, name: str) -> int:
        """Find the column that a person names, who may not see its blanks and capitals."""
        for alike in (str, lambda text: text.strip().casefold()):
            if places := [n for n, m in enumerate(self.names) if m and alike(m) == alike(name)]:
                return places[0]
        near = get_close_matches(name, [m for m in self.names if m], 1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"No column is called {name!r}{hint or self._there()}")

    def _there(self) -> str:
        """Name the columns that there are, so far as a person would read."""
        names = [repr(name) for name in self.names if name]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return f". Columns: {', '.join(names[:_NAMED])}{more}."
