"""Tables: the rows and cells of files, and frames written into files.

A file is opened, its kind is recognised by its content, and it is read into a `RawTable` of cells.
Cells stay as they are written; `read_text_cell` and `read_number_cell` find those that cannot be a
name or a number any more. A frame is written as texts that can be read back as they were, guarded
so that none becomes a formula when a spreadsheet program opens the file. `delimited` reads and
writes CSV, `workbook` XLSX; this module holds what both share.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

import pandas as pd

from chatkit.errors import InputError, Problem, read_file_bytes
from chatkit.util.display import has_half_character
from chatkit.util.files import replace_file

#: The index of a frame that was read from a file: the number of each row in the file.
ROW = "row"


class TableRow(NamedTuple):
    """One row: its number in the file, as a spreadsheet program shows it, and its cells."""

    number: int
    cells: Sequence[Any]


class BadCell(NamedTuple):
    """A cell that holds nothing usable: what a person sees there, and what is wrong with it."""

    text: str
    reason: str


class BrokenRow(NamedTuple):
    """A row that could not be read into cells, and why."""

    number: int
    text: str  #: as it stands in the file
    reason: str


@dataclass
class RawTable:
    """The rows of a file from top to bottom; one of the first holds the names of the columns.

    A cell is text where the file has text, None where there is nothing, and else what the file
    holds: a number, a time, `BadCell`.
    """

    kind: str  #: what was read, in words: "CSV (UTF-8, commas)"
    rows: list[TableRow]
    notes: list[str] = field(default_factory=list)
    broken: list[BrokenRow] = field(default_factory=list)
    titled: bool = True  #: whether a title may stand above the names of the columns
    ours: bool = False  #: whether we have named the columns ourselves
    struck: set[str] = field(default_factory=set)  #: cells with words that are struck through


def name_column(column: int) -> str:
    """Format the number of a column as a spreadsheet does: A for 0, AA for 26."""
    first, last = divmod(column, 26)
    return (name_column(first - 1) if first else "") + chr(ord("A") + last)


def format_rows(numbers: Sequence[int], most: int = 5) -> str:
    """Format the first row numbers as a text: "rows 1, 2 and 3 more"."""
    first = ", ".join(map(str, numbers[:most]))
    hidden = len(numbers) - most
    return f"row{'s' * (len(numbers) > 1)} {first}" + (f" and {hidden} more" if hidden > 0 else "")


def quote_name(name: str) -> str:
    """Return a printable name as it is, and any other one in quotes."""
    return name if name.isprintable() and name.strip() == name != "" else repr(name)


Source: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | IO[Any]"

#: How files begin that are no text, and what to do with those we do not read.
_KIND_OF_MARK = {b"PAR1": "parquet", b"PK\x03\x04": "xlsx"}
_UNREAD_KINDS = {
    (b"\x89PNG", b"\xff\xd8\xff", b"GIF8"): "a picture: get the table as .xlsx or .csv",
    (b"SQLite format 3",): "a database: write the table to .csv or .xlsx",
    (b"\xd0\xcf\x11\xe0",): "an old Excel file, or one with a password: save it as .xlsx",
    (b"%PDF",): "a PDF: get the table as .xlsx or .csv",
    (b"\x1f\x8b",): "compressed: unpack it first",
    (b"{\\rtf",): "a document: save the table as .xlsx or .csv",
    (b"MZ\x90\0", b"\x7fELF"): "a program: pass .xlsx, .csv or .parquet",
}
_VCARD = re.compile(rb"(?:\xef\xbb\xbf)?\s*BEGIN\s*:\s*VCARD\s", re.IGNORECASE)


def read_source(source: Source) -> tuple[str, bytes | str]:
    """Read a source; return its name and its content.

    Raises:
        InputError: It is nothing that can be read.
        OSError: There is no such file, or it cannot be opened.
    """
    if isinstance(source, str) and re.search(r"[\t\r\n]", source):
        return "the pasted table", source
    if isinstance(source, str | os.PathLike):
        path = Path(source).expanduser()
        return path.name, read_file_bytes(path)
    if isinstance(source, bytes | bytearray):
        return "the data", bytes(source)
    if not hasattr(source, "read"):
        raise InputError(
            "read_contacts takes a path, an open file, bytes or a pasted table, "
            f"not {type(source).__name__}."
        )
    name = getattr(source, "name", None)
    return os.path.basename(name) if isinstance(name, str) else "the data", source.read()


def detect_file_kind(content: bytes | str) -> str:
    """Detect the kind of a file by its content: parquet, xlsx, vcard or text.

    Raises:
        InputError: It is of a kind that is not read.
    """
    start = content[:200]
    if _VCARD.match(start if isinstance(start, bytes) else start.encode("ascii", "replace")):
        return "vcard"
    if isinstance(content, str):
        return "text"
    for marks, reason in _UNREAD_KINDS.items():
        if content.startswith(marks):
            raise InputError(f"This file is {reason}.")
    return _KIND_OF_MARK.get(content[:4], "text")


_NESTED = (list, tuple, dict)

# A number that went through a spreadsheet or a DataFrame as a decimal: 9.19877E+11, 919876.0,
# 919,876,543.00. A telephone number written with dots, 06.12.34.56.78, is none of these.
_DECIMAL = re.compile(
    r"\s*[+-]?(?:"
    r"\d+(?:[.,]\d*)?[eE][+-]?\d+"
    r"|\d+[.,]\d{0,2}"
    r"|\d{1,3}(?:(?:,\d{3})+[.]|(?:[.]\d{3})+,|(?:[ '’\u00a0\u202f]\d{3})+[.,])\d{1,2}"
    r")\s*"
)
_NOTHING = re.compile(r"\s*(?:nan|none|null|nil|n/?a|nat|inf|<na>|#.*)\s*", re.IGNORECASE)


def stringify(value: Any) -> str | None:
    """Convert a value to text: times to ISO 8601, nested values to JSON, NA to None."""
    if isinstance(value, str):
        return value
    if isinstance(value, _NESTED):
        return json.dumps(
            value,
            ensure_ascii=False,
            default=lambda each: each.tolist() if hasattr(each, "tolist") else stringify(each),
        )
    if hasattr(value, "tolist"):  # of numpy: Parquet files bring arrays for lists
        return stringify(value.tolist())
    if value is None or pd.isna(value):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))  # what pandas makes of whole numbers beside an empty cell
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)


def stringify_column(cells: pd.Series[Any]) -> list[str | None]:
    """Convert the cells of a column to texts."""
    if isinstance(cells.dtype, pd.StringDtype):
        return cells.astype(object).where(cells.notna(), None).tolist()
    return [stringify(value) for value in cells.astype(object)]


Reader = Callable[[Any], tuple[str | None, str]]


def read_any_cell(value: Any) -> tuple[str | None, str]:
    """Read a cell of any kind as text, without a reason to refuse it."""
    return (value.text if isinstance(value, BadCell) else stringify(value)), ""


def read_text_cell(value: Any) -> tuple[str | None, str]:
    """Read a cell of text; return the text, or None and the reason why it is not text."""
    if isinstance(value, BadCell):
        return None, value.reason
    if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
        return stringify(value), ""
    kinds = {bool: "true or false", float: "a decimal", date: "a date", time: "a time"}
    kind = next((kind for type_, kind in kinds.items() if isinstance(value, type_)), "a list")
    return None, f"is {kind}, not text: a spreadsheet may have changed what was typed"


def read_number_cell(value: Any) -> tuple[str | None, str]:
    """Read a cell of a telephone number; return its text, or None and why it is none."""
    text, reason = read_text_cell(value)
    if reason or text is None:
        return text, reason
    if _DECIMAL.fullmatch(text):
        return None, "is a decimal: digits, zeros or a + may be lost, so write it again as text"
    if _NOTHING.fullmatch(text):
        return None, "is not a number: write one, or leave the cell empty"
    return text, ""


def read_code_cell(value: Any) -> tuple[str | None, str]:
    """Read a cell of a country code; return its text, or None and why it is none."""
    decimal = isinstance(value, str) and re.fullmatch(r"\+?[1-9]\d{0,2}\.0+", value.strip())
    return read_number_cell(value.strip().split(".")[0] if decimal else value)


def has_number(text: str) -> bool:
    """Check if a text has digits other than zeros and a country code."""
    digits = "".join(filter(str.isdigit, text))
    return bool(digits.strip("0")) and not ("+" in text and len(digits) < 4)


# The formula guard. Texts come from strangers, and `=HYPERLINK(…)` in a name would run on the
# machine of whoever opens the file. Such a text gets an apostrophe in front; reading takes exactly
# that one off, so what comes back in is what went out. `+91` is such a text, too: it would become
# the number 91.

# What a program takes for a formula, whatever blanks, quotes or apostrophes stand before it.
_FORMULA = r"(?=['\"\s\x00-\x1f]*[=+\-@＝＋－＠])"
# A control character in front may be dropped by a program, and an empty text is not seen at all.
_UNSEEN = r"\A(?='*(?:[\x00-\x1f]|\Z))"
# A program that splits cells at other characters than we do begins a cell after these.
_START = r"(?:\A|(?<=[;|\t\r\n]))"

_RISKY = re.compile(f"{_UNSEEN}|{_START}{_FORMULA}")
_GUARDED = re.compile(rf"\A'(?='*(?:[\x00-\x1f]|\Z))|{_START}'{_FORMULA}")
_LOOKS_GUARDED = re.compile(rf"\A(?='(?:'*[\x00-\x1f]|'*\Z))|\A\Z|{_START}(?='){_FORMULA}")


def guard_cell(text: str) -> str:
    """Put an apostrophe before each place at which a CSV cell could become a formula."""
    return _RISKY.sub("'", text)


def guard_text_cell(text: str) -> str:
    """Put apostrophes where `remove_guard` would take one off, in a cell stored as text."""
    return _LOOKS_GUARDED.sub("'", text)


def remove_guard(text: str) -> str:
    """Remove the apostrophes that `guard_cell` or `guard_text_cell` has put."""
    return _GUARDED.sub("", text) if "'" in text else text


#: What is wrong with a text that is not in any encoding.
_HALF = "holds half a character"

Target: TypeAlias = "str | os.PathLike[str] | IO[bytes]"


def stringify_frame(frame: pd.DataFrame) -> tuple[list[str], Sequence[tuple[str | None, ...]]]:
    """Convert a frame to texts: the names of columns and named levels, and the rows.

    Raises:
        InputError: A file could not tell its columns apart, or cannot hold a cell.
    """
    named = [level for level in frame.index.names if level not in (None, ROW)]
    if duplicates := {*named} & {*frame.columns}:
        raise InputError(f"{', '.join(map(repr, duplicates))} is in the index and in the columns.")
    flat = frame.reset_index(named) if named else frame
    names = [str(name) for name in flat.columns]
    if not names:
        raise InputError("The frame has no columns, so no file was written.")
    if flat.columns.nlevels > 1 or len(set(names)) < len(names):
        raise InputError("Each column needs one name of its own before it can be written.")
    columns = [stringify_column(flat.iloc[:, position]) for position in range(len(names))]
    problems = [Problem("column", ascii(name), _HALF) for name in names if has_half_character(name)]
    problems += [
        Problem(f"row {row!r}, {name}", ascii(cell), _HALF)
        for name, cells in zip(names, columns, strict=True)
        for row, cell in zip(flat.index, cells, strict=True)
        if cell is not None and has_half_character(cell)
    ]
    if problems:
        raise InputError("A file cannot hold all of this:", problems)
    return names, list(zip(*columns, strict=True))


def write_file(target: Target, data: bytes) -> None:
    """Write a file atomically; a new one is readable for its owner alone.

    Raises:
        InputError: It cannot be written; one that was there is as it was.
    """
    if not isinstance(target, str | os.PathLike):
        target.write(data)
        return
    path = Path(target).expanduser()
    try:
        if path.exists() and not path.is_file():  # a device or a pipe is written into
            path.write_bytes(data)
        else:
            with replace_file(path.resolve(), None) as file:
                file.write(data)
    except FileNotFoundError as error:
        raise InputError(
            f"There is no folder {str(path.parent)!r} to write {path.name} into: make it, or "
            "name another path."
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{path} cannot be written: {reason}. Name another path.") from error
