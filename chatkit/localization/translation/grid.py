"""Grid: units as the rows of a spreadsheet, in a CSV file or a workbook."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from chatkit.display import visible
from chatkit.errors import InputError
from chatkit.localization.table import frame_of
from chatkit.localization.translation.units import Unit, escape_controls, unescape_controls
from chatkit.tables import OddCell, RawTable, as_text, read_word, workbook
from chatkit.tables.delimited import decode_text, read_delimited
from chatkit.tables.writing import to_csv

_NEEDED = ("template_code", "lang_code", "field", "source", "translation", "stamp")
_WIDE = ("source", "translation", "note")


class _Cells(NamedTuple):
    """One unit as cells; a translator fills in `translation`."""

    template_code: str
    lang_code: str
    field: str
    source: str
    translation: str | None
    note: str
    at_most: str | None
    stamp: str


COLUMNS = _Cells._fields


def _line(unit: Unit) -> _Cells:
    return _Cells(
        *unit.spot,
        escape_controls(unit.source),
        escape_controls(unit.target) or None,
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
    return list(_units(table, ""))


def read_workbook(data: bytes) -> list[Unit]:
    """Read units from all sheets of a workbook that have them.

    Raises:
        InputError: It is none, or no sheet has them.
    """
    tables = workbook.read_sheets(data)
    ours = {name: table for name, table in tables.items() if _titles(table) is not None}
    if not ours:
        return list(_units(next(iter(tables.values())), ""))  # says what is missing
    return [unit for name, table in ours.items() for unit in _units(table, f"sheet {name}, ")]


def _known(row: Sequence[str]) -> int:
    return sum(name in COLUMNS for name in row)


def _titles(table: RawTable) -> dict[str, int] | None:
    """Find the places of the columns; None if they are not there."""
    for row in table.rows[:1]:
        names = {as_text(cell): place for place, cell in enumerate(row.cells) if cell is not None}
        if all(name in names for name in _NEEDED):
            return {name: names[name] for name in _NEEDED}
    return None


def _units(table: RawTable, where: str) -> Iterator[Unit]:
    places = _titles(table)
    if places is None:
        raise InputError(
            f"The first row must have the names of the columns: {', '.join(_NEEDED)}. "
            "Put back those that are missing."
        )
    for row in table.rows[1:]:
        if any(cell is not None for cell in row.cells):
            yield _unit(row.cells, places, f"{where}row {row.number}")
    for number, _, reason in table.broken:
        yield Unit("", "", "", "", "", place=f"{where}row {number}", trouble=reason)


def _unit(cells: Sequence[Any], places: dict[str, int], place: str) -> Unit:
    trouble = ""
    said: dict[str, str] = {}
    for name, number in places.items():
        value = cells[number] if number < len(cells) else None
        found, reason = read_word(value)
        if reason:
            trouble = f"the {name} {reason}"
            found = value.text if isinstance(value, OddCell) else as_text(value)
        said[name] = unescape_controls(found or "")
    return Unit(
        said["template_code"],
        said["lang_code"],
        said["field"],
        said["source"],
        said["translation"],
        said["stamp"],
        place=place,
        trouble=trouble,
    )
