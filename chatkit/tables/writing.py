"""Writing: a frame as a CSV or XLSX file that can be read back as it was."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pandas as pd

from chatkit.errors import InputError, Problem
from chatkit.frame import collector_paused
from chatkit.tables import ROW, column_texts, guarded, has_half_character


class Writable(Protocol):
    """A file that is open for bytes."""

    def write(self, data: bytes, /) -> Any:
        """Take all of it."""


#: What is wrong with a text that is not in any encoding.
_HALF = "holds half a character"

Target: TypeAlias = "str | os.PathLike[str] | Writable"


def to_csv(frame: pd.DataFrame, target: Target) -> None:
    """Write a frame as CSV: UTF-8 with its mark, commas, all cells in quotes."""
    names, rows = _frame_texts(frame)
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow(map(guarded, names))
    writer.writerows([None if cell is None else guarded(cell) for cell in row] for row in rows)
    _write(target, text.getvalue().encode("utf-8-sig"))


def to_xlsx(frame: pd.DataFrame, target: Target) -> None:
    """Write a frame as XLSX with one sheet, in which each cell is text."""
    _write(target, xlsx_bytes({"Contacts": frame}))


def xlsx_bytes(sheets: Mapping[str, pd.DataFrame], wide: Collection[str] = ()) -> bytes:
    """Write frames as the sheets of a workbook, with the columns of all; each cell is text.

    Args:
        sheets: The frames by the titles of their sheets.
        wide: Columns of sentences: their lines break.
    """
    from chatkit.tables import workbook  # slow to load

    with collector_paused():
        if len(sheets) > 1:
            columns = list(dict.fromkeys(name for frame in sheets.values() for name in frame))
            sheets = {title: frame.reindex(columns=columns) for title, frame in sheets.items()}
        texts = {title: _frame_texts(frame) for title, frame in sheets.items()}
        names = next(iter(texts.values()))[0]
        rows = {title: cells for title, (_, cells) in texts.items()}
        return workbook.workbook_of(names, rows, wide=wide)


def _frame_texts(frame: pd.DataFrame) -> tuple[list[str], Sequence[tuple[str | None, ...]]]:
    """Return the names and the rows of a frame as texts, with the levels of the index it names.

    Raises:
        InputError: A file could not tell its columns apart, or cannot hold a cell.
    """
    named = [level for level in frame.index.names if level not in (None, ROW)]
    if twice := {*named} & {*frame.columns}:
        raise InputError(f"{', '.join(map(repr, twice))} is in the index and in the columns.")
    whole = frame.reset_index(named) if named else frame
    names = [str(name) for name in whole.columns]
    if not names:
        raise InputError("A frame without columns makes no file.")
    if whole.columns.nlevels > 1 or len(set(names)) < len(names):
        raise InputError("Each column needs one name of its own before it can be written.")
    columns = [column_texts(whole.iloc[:, place]) for place in range(len(names))]
    problems = [Problem("column", ascii(name), _HALF) for name in names if has_half_character(name)]
    for name, cells in zip(names, columns, strict=True):
        places = [
            n for n, cell in enumerate(cells) if cell is not None and has_half_character(cell)
        ]
        problems += [
            Problem(f"row {whole.index[n]!r}, {name}", ascii(cells[n]), _HALF) for n in places
        ]
    if problems:
        raise InputError("A file cannot hold all of this:", problems)
    return names, list(zip(*columns, strict=True))


def _write(target: Target, data: bytes) -> None:
    """Write the bytes of a file. Raises `InputError` where there is no such folder."""
    if not isinstance(target, str | os.PathLike):
        target.write(data)
        return
    path = Path(target).expanduser()
    try:
        path.write_bytes(data)
    except FileNotFoundError as error:
        raise InputError(
            f"There is no folder {str(path.parent)!r} to write {path.name} into: make it, or "
            "name another path."
        ) from error
