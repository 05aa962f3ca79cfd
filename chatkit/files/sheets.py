"""Sheets: a workbook of several sheets that all have the same columns, for people to fill in."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from io import BytesIO
from typing import Any

import openpyxl
from openpyxl.styles import Alignment, Font

from chatkit.errors import InputError, Problem
from chatkit.files import sheet
from chatkit.files.table import Table, letter

#: So wide is a column of sentences, and any other one at most.
_SENTENCES, _WORDS = 60, 30

Rows = Sequence[Sequence[str | None]]


def written(columns: Sequence[str], rows: Mapping[str, Rows], *, wide: Collection[str]) -> bytes:
    """Write a workbook in which each cell is text, also what is typed later.

    Args:
        columns: The names of the columns, the same in every sheet.
        rows: The rows of each sheet by its title.
        wide: Columns of sentences: their lines break.

    Raises:
        InputError: It is more than a spreadsheet can hold.
    """
    problems = [
        Problem(
            f"{title}, row {number}, {name}", f"{text[:40]!r}…", f"has {len(text):,} characters"
        )
        for title, group in rows.items()
        for number, row in enumerate(group, 2)
        for name, text in zip(columns, row, strict=True)
        if text is not None and sheet.units(sheet.escaped(text)) > sheet.LONGEST
    ]
    if problems:
        raise InputError(f"A cell holds at most {sheet.LONGEST:,} characters:", problems)
    if any(len(group) >= sheet.MOST_ROWS for group in rows.values()):
        raise InputError(f"A sheet has at most {sheet.MOST_ROWS - 1:,} rows below the names.")
    book = openpyxl.Workbook(write_only=True)
    for title, group in rows.items():
        _fill(book.create_sheet(title), columns, group, wide)
    target = BytesIO()
    book.save(target)
    return target.getvalue()


def _fill(made: Any, columns: Sequence[str], rows: Rows, wide: Collection[str]) -> None:
    made.freeze_panes = "A2"
    size = f"A1:{letter(len(columns) - 1)}{len(rows) + 1}"
    made.calculate_dimension = lambda: size
    for place, name in enumerate(columns):
        dimension = made.column_dimensions[letter(place)]
        dimension.number_format = "@"
        longest = max((len(row[place] or "") for row in rows), default=0)
        dimension.width = _SENTENCES if name in wide else min(max(len(name), longest) + 2, _WORDS)
    head = [sheet.text_cell(made, name) for name in columns]
    for cell in head:
        cell.font = Font(bold=True)
    made.append(head)
    broken = Alignment(wrap_text=True, vertical="top")
    for row in rows:
        cells = [sheet.text_cell(made, None if t is None else sheet.escaped(t)) for t in row]
        for cell in cells:
            if cell is not None:
                cell.alignment = broken
        made.append(cells)


def read(data: bytes) -> dict[str, Table]:
    """Read every sheet of a workbook that is not hidden, by its title.

    Raises:
        InputError: It is no workbook that can be read.
    """
    sheet.read(data, None)  # refuses what is none, in its own words
    with closing(openpyxl.load_workbook(BytesIO(data), read_only=True)) as book:
        names = [each.title for each in book.worksheets if each.sheet_state == "visible"]
    return {name: sheet.read(data, name) for name in names}
