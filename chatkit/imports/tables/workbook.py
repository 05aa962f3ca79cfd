"""Workbook: reads and writes XLSX files; the only import of openpyxl.

What a person sees in a cell and what the file holds are two things: 00491 may be the number
491 with a format, and 9.2E+11 a number that has lost its digits. The first is read as it is
seen, the second is refused.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, time
from functools import lru_cache
from io import BytesIO
from itertools import islice
from typing import IO, TYPE_CHECKING, Any
from xml.parsers import expat

import openpyxl
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.styles import Alignment, Font

from chatkit.errors import InputError, Problem
from chatkit.frames.frame import pause_collector
from chatkit.imports import tables
from chatkit.imports.tables import BadCell, RawTable, TableRow, Target, name_column
from chatkit.util.display import many

if TYPE_CHECKING:
    import pandas as pd

#: What a spreadsheet program can hold.
MOST_ROWS, _MOST_COLUMNS, LONGEST = 2**20, 2**14, 32767
#: What is read at most: a file can be small, and unpacked larger than any memory. Each element is
#: in memory as a whole, but for the one that holds all rows.
_MOST_BYTES, _MOST_CELLS, _DEEPEST = 2**30, 2**25, 100
_MOST_IN = {"c": 2**20, "si": 2**20, "": 2**20, "row": 2**23}  #: bytes of an element; "": of a tag
_MOST_IN_OTHERS = 2**25
# XML cannot hold these; the format writes them as _x0001_, and a text that looks so as well.
_ESCAPE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ESCAPED = re.compile("_x((?![dD][89a-fA-F])[0-9A-Fa-f]{4})_")

# The parts of a number format: literals, brackets, space as wide as a character, the others.
_FORMAT = re.compile(r'"([^"]*)"|\\(.)|\[([^]]*)]|[_*].|,(?=[0#?])|(General|[eE][+-]|.)')
_DIGIT_PLACES = ("0", "#", "?")
_CONDITION = re.compile(r"([<>=]+)(-?\d+)")
_COLOUR_OR_LOCALE = re.compile(
    r"\$.*|black|blue|cyan|green|magenta|red|white|yellow|color ?\d+", re.I
)
#: So wide is a column of sentences, and any other one at most.
_SENTENCES, _WORDS = 60, 30

_SheetRows = Sequence[Sequence[str | None]]


def read_sheet(data: bytes, sheet: str | None, *, hidden: bool = True) -> RawTable:
    """Read one sheet of a workbook.

    Args:
        data: The file.
        sheet: Its name; None for the first one that is not hidden.
        hidden: Whether to read hidden rows and columns; a note names them either way.

    Raises:
        InputError: It is no workbook that can be read, or has no such sheet.
    """
    with _open_workbook(data) as workbook:
        if not workbook.visible:
            raise InputError("All sheets of this workbook are hidden: unhide one.")
        name = sheet or workbook.visible[0]
        table = workbook.table(name, hidden=hidden)
        unseen = [each for each in workbook.names if each not in workbook.visible]
        for kind, titles in {"sheets": workbook.visible, "hidden sheets": unseen}.items():
            if others := ", ".join(repr(each) for each in titles if each != name):
                table.notes.append(f"not read: the {kind} {others} (sheet=)")
        return table


def read_sheets(data: bytes) -> dict[str, RawTable]:
    """Read every sheet of a workbook, also those that are hidden, by its title.

    Raises:
        InputError: It is no workbook that can be read.
    """
    with _open_workbook(data) as workbook:
        sheets = {name: workbook.table(name) for name in workbook.names}
        for name, cell in workbook.find_struck_cells():
            sheets[name].struck.add(cell)
        return sheets


class _PartScan:
    """One pass over a part of a workbook, which checks sizes and finds what is hidden.

    Raises:
        InputError: An element is too large for the memory, or a row is beyond the last of a sheet.
    """

    def __init__(self, part: IO[bytes]) -> None:
        self.hidden_rows: set[int] = set()
        self.hidden_columns: set[int] = set()  #: from 0
        self.filtered = self.strikes = False
        self._elements: list[tuple[str, int]] = []  #: with the byte at which each begins
        self._row = self._cells = size = 0
        parser = self._parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = self._start_element
        parser.EndElementHandler = lambda _: self._elements.pop()
        with suppress(expat.ExpatError):  # a picture; what has to be XML is refused when it is read
            while chunk := part.read(2**16):
                parser.Parse(chunk)
                size += len(chunk)
                for name, start in [*self._elements[1:], ("", parser.CurrentByteIndex)]:
                    most = _MOST_IN.get(name, _MOST_IN_OTHERS)
                    if size - start > most and name != "sheetData":
                        where = f"row {self._row}" if self._row else part.name
                        raise InputError(
                            f"More than {most >> 20} MB are in one cell or element ({where})."
                        )

    def _start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        """Check the size and nesting of an element, and record hidden rows and columns."""
        name = name.rpartition(" ")[2]
        self._elements.append((name, self._parser.CurrentByteIndex))
        if len(self._elements) > _DEEPEST:
            raise InputError(f"More than {_DEEPEST} elements of it are inside each other.")
        sizes = attributes.get("ht"), attributes.get("width")
        hidden = attributes.get("hidden") in ("1", "true") or "0" in sizes
        if name == "c":
            self._cells += 1
            if self._cells > _MOST_COLUMNS:
                raise InputError(f"Row {self._row} has more than {_MOST_COLUMNS:,} cells.")
        elif name == "row":
            self._cells = 0
            self._row = int(attributes.get("r", self._row + 1))
            if self._row > MOST_ROWS:
                raise InputError(f"Row {self._row} is beyond the {MOST_ROWS:,} rows of a sheet.")
            self.hidden_rows |= {self._row} if hidden else set()
        elif name == "col" and hidden:
            last = min(int(attributes["max"]), _MOST_COLUMNS)
            self.hidden_columns.update(range(int(attributes["min"]) - 1, last))
        self.filtered |= name == "filterColumn"
        self.strikes |= name == "strike"


class _Workbook:
    """An open workbook; to open it costs as much as to read a small sheet."""

    def __init__(self, data: bytes) -> None:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            if sum(part.file_size for part in archive.infolist()) > _MOST_BYTES:
                raise InputError(f"Unpacked, this file is larger than {_MOST_BYTES >> 30} GB.")
            self._scans: dict[str, _PartScan] = {}
            for name in archive.namelist():
                with archive.open(name) as part:
                    self._scans[name] = _PartScan(part)
        self._data = data
        self._workbook: Any = openpyxl.load_workbook(BytesIO(data), read_only=True)
        sheets = self._workbook.worksheets
        self.names = [sheet.title for sheet in sheets]
        self.visible = [sheet.title for sheet in sheets if sheet.sheet_state == "visible"]

    def table(self, name: str, *, hidden: bool = True) -> RawTable:
        """Read a sheet, with or without its hidden rows and columns.

        Raises:
            InputError: There is none of that name, or it is too wide.
        """
        if name not in self.names:
            titles = ", ".join(map(repr, self.visible))
            raise InputError(f"There is no sheet {name!r}. The sheets are: {titles}.")
        scan = self._scans[self._workbook[name]._worksheet_path]
        rows: dict[int, list[Any]] = {}
        formats = defaultdict[str, list[int]](list)
        width = 0
        with pause_collector():
            for number, row in enumerate(self._iterate_rows(name), 1):
                cells = [_read_cell_value(cell) for cell in row]
                while cells and cells[-1] is None:
                    cells.pop()
                if cells:
                    rows[number] = cells
                    width = max(width, len(cells))
                if width * len(rows) > _MOST_CELLS:
                    last = name_column(width - 1)
                    raise InputError(f"It is too wide: clear what stands in column {last}.")
                for cell, value in zip(row, cells, strict=False):
                    sections = _parse_format(cell.number_format) if type(value) is int else ()
                    if not all(section.understood or section.unusual for section in sections):
                        formats[cell.number_format].append(number)
        filled = {n for cells in rows.values() for n, cell in enumerate(cells) if cell is not None}
        letters = [*map(name_column, sorted(filled & scan.hidden_columns))]
        numbers = sorted(rows.keys() & scan.hidden_rows)
        table = RawTable(f"XLSX, sheet {tables.quote_name(name)}", [])
        for number, cells in rows.items():
            if not hidden:
                cells = [None if n in scan.hidden_columns else c for n, c in enumerate(cells)]
            if hidden or number not in scan.hidden_rows:
                table.rows.append(TableRow(number, cells + [None] * (width - len(cells))))
        by_filter = " by a filter" if scan.filtered else ""
        for places, noun, why, names in (
            (numbers, "row", by_filter, tables.format_rows(numbers)),
            (letters, "column", "", ", ".join(letters)),
        ):
            them = "it" if len(places) == 1 else "them"
            read = f"read; leave {them} out with read_contacts(path, hidden=False)"
            note = f"{many(len(places), noun)} hidden{why} ({names}): "
            table.notes += [note + (read if hidden else "left out")] * bool(places)
        for form, numbers in formats.items():
            table.notes.append(
                f"the number format {form} in {tables.format_rows(numbers)} is not understood: the "
                "digits are read without it"
            )
        return table

    def find_struck_cells(self) -> Iterator[tuple[str, str]]:
        """Yield the sheet and the coordinate of each cell with words that are struck through."""
        if not any(scan.strikes for scan in self._scans.values()):
            return
        # Not streamed: then openpyxl drops the formats of single words.
        workbook = openpyxl.load_workbook(BytesIO(self._data), rich_text=True)
        for sheet in workbook.worksheets:
            for cell in (c for row in sheet.iter_rows() for c in row if c.value is not None):
                parts = cell.value if isinstance(cell.value, CellRichText) else []
                blocks = (part.font for part in parts if isinstance(part, TextBlock))
                if any(font and font.strike for font in (cell.font, *blocks)):
                    yield sheet.title, cell.coordinate

    def _iterate_rows(self, name: str) -> Iterator[Sequence[Any]]:
        """Yield the rows of a sheet, with the stored results in place of formulas."""
        results: Iterator[tuple[Any, ...]] | None = None
        row: Sequence[Any]
        for number, row in enumerate(_stream_rows(self._workbook[name])):
            if results is None and "f" in [cell.data_type for cell in row]:
                values = openpyxl.load_workbook(BytesIO(self._data), read_only=True, data_only=True)
                results = islice(_stream_rows(values[name]), number, None)
            if results is not None:
                row = [
                    result if cell.data_type == "f" and result.value is not None else cell
                    for cell, result in zip(row, next(results), strict=True)
                ]
            yield row


def _stream_rows(sheet: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a sheet as openpyxl streams them."""
    sheet.reset_dimensions()  # some programs write a size that is not true
    yield from sheet.iter_rows()


@contextmanager
def _open_workbook(data: bytes) -> Iterator[_Workbook]:
    """Open a workbook for a block; raise `InputError` if it is broken."""
    try:
        with warnings.catch_warnings():  # of styles and rules of input, which are not needed
            warnings.simplefilter("ignore")
            yield _Workbook(data)
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001  openpyxl raises anything over a broken file
        raise InputError(
            f"This is not a readable XLSX file ({type(error).__name__}): open it in a spreadsheet "
            "program, and save it as .xlsx."
        ) from None


def _read_cell_value(cell: Any) -> Any:
    """Return the value of a cell, texts and whole numbers as they are displayed."""
    value, kind = cell.value, cell.data_type
    if value is None or value == "":
        return None
    if kind == "f":
        return BadCell(str(value), "is a formula whose result is not in the file: open and save it")
    if kind == "e":
        return BadCell(str(value), "is an error in the spreadsheet")
    if isinstance(value, str):
        if "_x" in value:
            value = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), value)
        return tables.remove_guard(value)
    if type(value) is int:
        return _apply_format(value, cell.number_format)
    if isinstance(value, datetime) and value.time() == time() and "h" not in cell.number_format:
        return value.date()
    return value


@dataclass(slots=True)
class _Section:
    """One section of a number format."""

    condition: tuple[str, int] | None = None
    #: Places of digits, and after a backslash digits and a plus that stand for themselves.
    parts: list[str] = field(default_factory=list)
    decimals: bool = False
    understood: bool = True
    unusual: bool = False  #: it shows a percentage or an exponent

    def holds(self, value: int) -> bool:
        """Check if a value fulfils the condition of the section, if there is one."""
        sign, limit = self.condition or ("=", value)
        return ("<" if value < limit else ">" if value > limit else "=") in sign


@lru_cache(1024)
def _parse_format(number_format: str) -> list[_Section]:
    """Parse a number format (ECMA-376, 18.8.31)."""
    sections = [_Section()]
    for quoted, escape, bracket, code in _FORMAT.findall(number_format):
        section = sections[-1]
        if code == ";":
            sections.append(_Section())
        elif code in (*_DIGIT_PLACES, "General", "@"):
            place = code if code in _DIGIT_PLACES else "#"
            section.parts += [place] * (not section.decimals)
        elif code and code[0] in "eE%":
            section.unusual = True
        elif condition := _CONDITION.fullmatch(bracket):
            section.condition = condition[1], int(condition[2])
        elif bracket or code == ",":  # a comma after the last place divides by 1,000
            section.understood &= bool(_COLOUR_OR_LOCALE.fullmatch(bracket))
        else:
            section.decimals |= code == "."
            literal = quoted or escape or code
            dialled = re.sub("[^0-9+]", "", literal)
            section.parts += [f"\\{dialled}"] * bool(dialled)
            section.understood &= not (any(map(str.isalpha, literal)) and (code or dialled))
    return sections


def _apply_format(value: int, form: str) -> Any:
    """Format a whole number by its number format, with zeros, digits and a plus.

    It stays a number where the format adds none of these, or is not understood.
    """
    sections = _parse_format(form)
    index = 1 if value < 0 else 2 if value == 0 else 0
    section = sections[index if index < len(sections) else 0]
    if any(each.condition for each in sections):
        section = next((each for each in sections if each.holds(value)), sections[-1])
    if section.unusual:
        return BadCell(f"{value:.5E}", "is shown with an exponent, so its last digits may be lost")
    slots = sum(part in _DIGIT_PLACES for part in section.parts)
    if not slots or not section.understood:
        return value
    text, remaining = "", str(abs(value))
    for part in reversed(section.parts):
        if part in _DIGIT_PLACES:
            slots -= 1
            digits, remaining = (remaining[-1:], remaining[:-1]) if slots else (remaining, "")
            part = digits or "0" * (part == "0")
        text = part.removeprefix("\\") + text
    text = "-" * (value < 0) + text
    return value if text == str(value) else text


def write_xlsx(frame: pd.DataFrame, target: Target) -> None:
    """Write a frame as XLSX with one sheet of text cells."""
    with pause_collector():
        columns, rows = tables.stringify_frame(frame)
        data = build_workbook(columns, {"Contacts": rows})
    tables.write_file(target, data)


def build_workbook(
    columns: Sequence[str],
    sheets: Mapping[str, _SheetRows],
    *,
    wide: Collection[str] = (),
    hidden: Collection[str] = (),
) -> bytes:
    """Build a workbook in which all cells are text, also those typed later.

    Args:
        columns: The names of the columns, the same in every sheet.
        sheets: The rows of each sheet by its title.
        wide: Columns of sentences: their lines break.
        hidden: Columns that are not shown.

    Raises:
        InputError: It is more than a spreadsheet can hold.
    """
    for title, rows in sheets.items():
        if len(rows) >= MOST_ROWS or len(columns) > _MOST_COLUMNS:
            raise InputError(
                f"A sheet has at most {MOST_ROWS - 1:,} rows below the names and "
                f"{_MOST_COLUMNS:,} columns; {title} would have {len(rows):,} and "
                f"{len(columns):,}. A CSV file has no limit."
            )
    texts = {
        title: [[None if text is None else escape_cell(text) for text in row] for row in rows]
        for title, rows in sheets.items()
    }
    if too_long := [
        Problem(f"{title}, row {n}, {name}", f"{text[:40]!r}…", f"has {len(text):,} characters")
        for title, rows in texts.items()
        for n, row in enumerate(rows, 2)
        for name, text in zip(columns, row, strict=True)
        # as spreadsheet programs count characters
        if text is not None and len(text.encode("utf-16-le", "surrogatepass")) // 2 > LONGEST
    ]:
        raise InputError(f"A cell holds at most {LONGEST:,} characters:", too_long)
    workbook = openpyxl.Workbook(write_only=True)
    for title, rows in texts.items():
        sheet = workbook.create_sheet(title)
        for name in hidden:
            sheet.column_dimensions[name_column(columns.index(name))].hidden = True
        _write_rows(sheet, columns, rows, wide)
    target = BytesIO()
    workbook.save(target)
    return target.getvalue()


def escape_cell(text: str) -> str:
    """Escape the characters that XML cannot hold, as workbooks do."""
    return _ESCAPE.sub(lambda match: f"_x{ord(match[0]):04X}_", tables.guard_text_cell(text))


def _write_rows(
    sheet: Any, columns: Sequence[str], rows: _SheetRows, wide: Collection[str]
) -> None:
    """Write the names of the columns, and rows of escaped texts, into a sheet."""
    sheet.freeze_panes = "A2"
    size = f"A1:{name_column(len(columns) - 1)}{len(rows) + 1}"
    sheet.calculate_dimension = lambda: size  # at the top, or readers look for it in all rows
    for place, name in enumerate(columns):
        longest = max((len(row[place] or "") for row in rows), default=0)
        dimension = sheet.column_dimensions[name_column(place)]
        dimension.number_format = "@"
        dimension.width = _SENTENCES if name in wide else min(max(len(name), longest) + 2, _WORDS)
    # A row is written when it is appended: one cell a column serves all rows, for half of the
    # time would go into making equal styles equal.
    wrapping = {"alignment": Alignment(wrap_text=True, vertical="top")} if wide else {}
    header = [escape_cell(column) for column in columns]
    for lines, style in (([header], {"font": Font(bold=True)}), (rows, wrapping)):
        cells = [WriteOnlyCell(sheet) for _ in columns]
        for cell in cells:
            for name, value in {"number_format": "@", **style}.items():
                setattr(cell, name, value)
        for line in lines:
            for cell, text in zip(cells, line, strict=True):
                cell.value = text
                cell.data_type = "s"  # whatever it begins with, it is no formula and no error
            sheet.append([None if cell.value is None else cell for cell in cells])
