"""Grid: units as the rows of a spreadsheet, in a CSV file or a workbook."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from chatkit.display import visible
from chatkit.errors import InputError
from chatkit.localization.table import frame_of
from chatkit.localization.translation.units import (
    Unit,
    escape_controls,
    stamp_of,
    unescape_controls,
)
from chatkit.progress import say
from chatkit.tables import (
    OddCell,
    RawTable,
    as_text,
    column_letter,
    quoted_name,
    read_word,
    workbook,
)
from chatkit.tables.delimited import decode_text, read_delimited, to_csv

_NEEDED = ("template_code", "lang_code", "field", "source", "translation", "stamp")
_READ = (*_NEEDED, "comment", "state")
_WIDE = ("source", "translation", "comment", "source_before", "note")
_HEADS = 20  #: so many rows are looked through for the names of the columns
_ALIKE = 3  #: with so many of the names, a row is one of ours that was changed


class _Cells(NamedTuple):
    """One unit as cells; a translator fills in `translation`, and may write a `comment`."""

    template_code: str
    lang_code: str
    field: str
    source: str
    translation: str | None
    comment: str | None
    state: str | None
    source_before: str | None
    note: str
    at_most: str | None
    stamp: str


COLUMNS = _Cells._fields


def _line(unit: Unit) -> _Cells:
    return _Cells(
        *unit.spot,
        escape_controls(unit.source),
        escape_controls(unit.target) or None,
        escape_controls(unit.comment) or None,
        unit.state or None,
        escape_controls(unit.source_before) or None,
        visible(unit.note),
        str(unit.limit or "") or None,
        unit.stamp,
    )


def csv_of(units: Sequence[Unit]) -> bytes:
    """Write units of any languages as CSV."""
    target = io.BytesIO()
    to_csv(frame_of(map(_line, units), COLUMNS), target)
    return target.getvalue()


def workbook_of(units: Sequence[Unit], *, one_sheet: bool) -> bytes:
    """Write units as a workbook: one sheet a language, or one for all.

    Raises:
        InputError: It is more than a spreadsheet can hold.
    """
    rows: dict[str, list[_Cells]] = {}
    for unit in units:
        rows.setdefault("translations" if one_sheet else unit.lang_code, []).append(_line(unit))
    return workbook.workbook_of(COLUMNS, rows, wide=_WIDE)


# --- reading ----------------------------------------------------------------------------


def read_csv(data: bytes) -> list[Unit]:
    """Read units from CSV.

    Raises:
        InputError: It is none, or lacks a column.
    """
    content, said, notes = decode_text(data)
    table = read_delimited(content, said, None, _known, notes)
    return list(_units(table, "", _head(table)))


def read_workbook(data: bytes) -> list[Unit]:
    """Read units from all sheets of a workbook that have them; a sheet of other things is told.

    Raises:
        InputError: It is none, no sheet has them, or one has lost a column or its names.
    """
    units: list[Unit] = []
    others: list[str] = []
    ours = 0
    for name, table in workbook.read_sheets(data).items():
        sheet, head = f"sheet {quoted_name(name)}", _head(table)
        if head is None:
            continue
        if head.known:
            ours += 1
            units += _units(table, f"{sheet}, ", head)
        elif row := _first_exported(table):
            raise InputError(
                f"{sheet} holds texts of export, like that in row {row}, and no row names their "
                f"columns: {', '.join(_NEEDED)}. Put the names back above them, as export wrote "
                "them, or take the sheet out."
            )
        else:
            others.append(sheet)
    if not ours:
        raise InputError(_FOREIGN)
    if others:
        one = len(others) == 1
        say(
            f"Not read, as no row names the columns of translations: {', '.join(others)}. If "
            f"translations stand on {'it' if one else 'them'}, put back the names of the columns."
        )
    return units


def _first_exported(table: RawTable) -> int | None:
    """Find the first row that export wrote, by its stamp; it is told by its number."""
    return next((row.number for row in table.rows if _has_stamp(row.cells)), None)


def _has_stamp(cells: Sequence[Any]) -> bool:
    return any(isinstance(cell, str) and stamp_of(cell) for cell in cells)


def _known(row: Sequence[str]) -> int:
    return sum(_name(name) in COLUMNS for name in row)


def _name(cell: object) -> str:
    """Read the name of a column, however it is written."""
    return cell.strip().casefold() if isinstance(cell, str) else ""


_FOREIGN = (
    "It does not hold translations: no row names the columns "
    f"{', '.join(_NEEDED[:-1])} and {_NEEDED[-1]}. Pass a file that export wrote."
)


class _Head(NamedTuple):
    """The row that names the columns."""

    place: int  #: among the rows of the table
    columns: dict[str, int]  #: those that are ours
    others: dict[str, int]  #: those that are not, as they are written
    twice: dict[str, int]  #: those of ours that stand there again

    @property
    def known(self) -> bool:
        """Whether it is of a file of ours, even if it was changed."""
        return len(self.columns) >= _ALIKE


def _head(table: RawTable) -> _Head | None:
    """Find the row that names the most of our columns; None if the table is empty."""
    best: _Head | None = None
    for place, row in enumerate(table.rows[:_HEADS]):
        head = _Head(place, {}, {}, {})
        for number, cell in enumerate(row.cells):
            if (name := _name(cell)) in COLUMNS:
                (head.twice if name in head.columns else head.columns).setdefault(name, number)
            elif cell is not None:
                head.others[str(as_text(cell))] = number
        if best is None or len(head.columns) > len(best.columns):
            best = head
    return best


def _units(table: RawTable, where: str, head: _Head | None) -> Iterator[Unit]:
    if head is None or not head.known:
        raise InputError(_FOREIGN)
    row = table.rows[head.place].number
    if missing := [name for name in _NEEDED if name not in head.columns]:
        strange = [
            f"{visible(name)[:40]!r} in {column_letter(number)}{row}"
            for name, number in list(head.others.items())[:5]
        ]
        instead = f"; not known: {', '.join(strange)}" if strange else ""
        raise InputError(
            f"{where}row {row} lacks the names of columns: {', '.join(missing)}{instead}. "
            "Put back the names that export wrote."
        )
    for name, number in head.twice.items():
        if name in _READ:
            both = f"{column_letter(head.columns[name])}{row} and {column_letter(number)}{row}"
            raise InputError(f"{where}the column {name} is there twice: {both}. Keep one.")
    letters = {name: column_letter(number) for name, number in head.columns.items()}
    places = [(name, head.columns[name]) for name in _READ if name in head.columns]
    for place, (number, cells) in enumerate(table.rows):
        if place < head.place:  # a title stands there, or texts that were sorted with the names
            ours = _has_stamp(cells)
        else:
            ours = place > head.place and any(cell not in (None, " ") for cell in cells)
        if ours:
            yield _unit(cells, places, letters, f"{where}row {number}", number)
    for number, _, reason in table.broken:
        yield Unit("", "", "", "", "", place=f"{where}row {number}", trouble=reason)


def _unit(
    cells: Sequence[Any],
    places: Sequence[tuple[str, int]],
    letters: Mapping[str, str],
    place: str,
    row: int,
) -> Unit:
    trouble = ""
    said: dict[str, str] = {}
    for name, number in places:
        value = cells[number] if number < len(cells) else None
        if isinstance(value, str):  # most are
            said[name] = unescape_controls(value) if "⟨" in value else value
            continue
        found, reason = read_word(value)
        if reason:
            if name in _NEEDED:
                trouble = f"the {name} ({letters[name]}{row}) {reason}"
            found = value.text if isinstance(value, OddCell) else as_text(value)
        said[name] = unescape_controls(found or "")
    return Unit(
        said["template_code"],
        said["lang_code"],
        said["field"],
        said["source"],
        said["translation"],
        said["stamp"],
        comment=said.get("comment", ""),
        state=said.get("state", ""),
        place=place,
        trouble=trouble,
        row=row,
        letters=letters,
    )
