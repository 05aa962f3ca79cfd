"""Files: contacts out of spreadsheets, CSV, Parquet and address books.

`read_contacts` opens what it is given and tells its kind by its content. Each kind is read into
rows of cells, a `RawTable`; `columns` makes a frame of them, and a `FileReading` holds that frame
and all there is to say about it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

import pandas as pd

from chatkit.errors import InputError, problem_line
from chatkit.frames.frame import collector_paused
from chatkit.frames.snapshot import remember
from chatkit.imports.columns import FIELDS, ContactColumns, find_columns
from chatkit.imports.headings import count_column_names
from chatkit.imports.tables import (
    RawTable,
    Source,
    TableRow,
    file_kind,
    open_source,
    quoted_name,
    vcards,
)
from chatkit.imports.tables.delimited import decode_text, read_delimited
from chatkit.util.display import many
from chatkit.util.progress import say


def read_contacts(
    source: Source,
    *,
    number: str | None = None,
    country_code: str | None = None,
    name: str | Sequence[str] | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    hidden: bool = True,
    skip_invalid: bool = False,
) -> pd.DataFrame:
    r"""Read contacts from a file, or from a table pasted as text.

    CSV of any kind, XLSX, Parquet and vCard are told apart by their content. All cells are
    text as they are written: zeros, + and names like NA stay. An empty cell is NA. Number,
    country code and name are found by all headings, in many languages, and by the cells; where
    a number is empty, the next column of numbers is read, and a fax never is. What was chosen
    and what was passed over is printed. Numbers are not split or changed here.

    >>> frame = chatkit.read_contacts("Vorname\tNachname\tHandy\nZoë\tNA\t0151 23456789")
    the pasted table: 1 row (tabs)
      Vorname + Nachname → name
      Handy              → number
    >>> frame
           name         number
    row
    2    Zoë NA  0151 23456789

    Args:
        source: A path, an open file, bytes, or a text with several lines or tabs.
        number: What the file calls the column of numbers; `""` if it has none.
        country_code: What it calls the column of country codes; `""` if it has none.
        name: What it calls the name; several columns are joined.
        sheet: Which sheet of a workbook; without it the first that is not hidden.
        encoding: How the text is encoded, like "cp1251"; without it this is found out.
        delimiter: What stands between cells; without it this is found out.
        hidden: Whether to read rows and columns that are hidden in a workbook, as by a filter.
        skip_invalid: Leave out the rows that cannot be read, and say which.

    Returns:
        A frame for `client.contacts.plan`. Its index says the row in the file.

    Raises:
        InputError: Some rows cannot be read: `problems` has all of them. Or the file cannot.
        OSError: There is no such file, or it cannot be opened.
    """
    from chatkit.imports import accessor

    accessor.register()
    reading = read_file(
        source,
        number=number,
        country_code=country_code,
        name=name,
        sheet=sheet,
        encoding=encoding,
        delimiter=delimiter,
        hidden=hidden,
    )
    say(reading.report(skipped=skip_invalid))
    if reading.problems and not skip_invalid:
        raise reading.refusal()
    remember(reading.frame, read=reading.report(skipped=True))
    return reading.frame


def read_file(
    source: Source,
    *,
    number: str | None = None,
    country_code: str | None = None,
    name: str | Sequence[str] | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    hidden: bool = True,
) -> FileReading:
    """Read contacts as `chatkit.read_contacts` does, but neither print nor refuse rows.

    Raises:
        InputError: The file as a whole cannot be read.
        OSError: There is no such file, or it cannot be opened.
    """
    label, content = open_source(source)
    wanted = {"number": number, "country_code": country_code, "name": name}
    try:
        with collector_paused():
            table = _table(content, sheet, encoding, delimiter, hidden)
            columns = find_columns(table, {field: _several(said) for field, said in wanted.items()})
    except InputError as error:
        error.args = (f"{label}: {error}",)
        raise
    return FileReading(**vars(columns), source=label, kind=table.kind)


#: How texts begin that are no tables, and what to do with them.
_NO_TABLE = {
    re.compile(r"\s*<(?:!doctype|html|table|body|\?xml|!--)", re.IGNORECASE): (
        "HTML or XML, as some programs export it under the name .xls: open it in a spreadsheet "
        "program, and save it as .xlsx"
    ),
    re.compile(r"\s*(?:\[\s*\{\s*\"|\{\s*\"|\[\s*\])"): (
        "JSON: json.load reads it, and plan takes a list of dicts, plan([{…}, {…}])"
    ),
}


def _several(said: str | Sequence[str] | None) -> Sequence[str] | None:
    """Take one name as a list of one; the empty name says that there is none."""
    return [said] if isinstance(said, str) and said else said


def _table(
    content: bytes | str,
    name: str | None,
    encoding: str | None,
    delimiter: str | None,
    hidden: bool,
) -> RawTable:
    form = file_kind(content)
    if name is not None and form != "xlsx":
        raise InputError("sheet= names a sheet of an .xlsx file, which this is not: leave it out.")
    if form == "parquet" and isinstance(content, bytes):
        return read_parquet(content)
    if form == "xlsx" and isinstance(content, bytes):
        from chatkit.imports.tables import workbook  # slow to load

        return workbook.read_sheet(content, name, hidden=hidden)
    if form == "vcard":
        return vcards.read_vcards(content, encoding)
    content, said, notes = decode_text(content, encoding, count_column_names)
    for marks, reason in _NO_TABLE.items():
        if marks.match(content):
            raise InputError(f"This file is {reason}.")
    if file_kind(content) == "vcard":  # in an encoding of two bytes a character
        return vcards.read_vcards(content, said)
    return read_delimited(content, said, delimiter, count_column_names, notes)


def read_parquet(data: bytes) -> RawTable:
    """Read a Parquet file. Its rows count from 1.

    Raises:
        InputError: It is broken.
    """
    try:  # the types of Arrow: whole numbers stay whole numbers beside an empty cell
        frame = pd.read_parquet(BytesIO(data), dtype_backend="pyarrow")
    except Exception as error:  # noqa: BLE001  pyarrow raises anything over a broken file
        raise InputError(
            f"This is not a readable Parquet file ({type(error).__name__}): write it again."
        ) from None
    named = [name for name in frame.index.names if name is not None]
    frame = frame.reset_index(named) if named else frame
    columns = [frame.iloc[:, place].astype(object) for place in range(frame.shape[1])]
    cells = [column.where(column.notna(), None).tolist() for column in columns]
    rows = [TableRow(number, row) for number, row in enumerate(zip(*cells, strict=True), 1)]
    return RawTable("Parquet", [TableRow(0, list(map(str, frame.columns))), *rows], titled=False)


#: More problems than this are only counted in a message.
_SHOWN = 20


@dataclass
class FileReading(ContactColumns):
    """Result of reading a file: the rows as a frame, and what there is to know of the others."""

    source: str  #: the name of the file
    kind: str  #: what kind of file it is, in words

    def report(self, *, skipped: bool = False) -> str:
        """Say which column became what, and what a person should know.

        Args:
            skipped: Say which rows are left out, too.
        """
        meant = {name: of for name, of in self.columns.items() if name in FIELDS}
        sources = [
            (" or " if name == "number" else " + ").join(map(quoted_name, of))
            for name, of in meant.items()
        ]
        width = max(map(len, sources), default=0)
        lines = [f"{self.source}: {many(len(self.frame), 'row')} ({self.kind})"]
        lines += [f"  {of:<{width}} → {name}" for of, name in zip(sources, meant, strict=True)]
        if others := [quoted_name(name) for name in self.columns if name not in meant]:
            lines.append(f"  kept as they are: {', '.join(others)}")
        lines += [f"  note: {note}" for note in self.notes]
        if skipped and self.problems:
            lines.append(f"  left out: {many(self.left_out, 'row')}")
            lines += [f"  {problem_line(p)}" for p in self.problems[:_SHOWN]]
            if (rest := len(self.problems) - _SHOWN) > 0:
                lines.append(f"    and {rest:,} more")
        return "\n".join(lines)

    def refusal(self) -> InputError:
        """Make the error that names all that cannot be read."""
        whole = many(len(self.frame) + self.left_out, "row")
        them = "it" if self.left_out == 1 else "them"
        first = f" The first {_SHOWN}:" if len(self.problems) > _SHOWN else ""
        error = InputError(
            f"{self.source}: {self.left_out:,} of {whole} cannot be read. Correct {them}, "
            f"or say skip_invalid=True to read the others; error.frame() lists {them}.{first}",
            self.problems[:_SHOWN],
        )
        error.next_step = "correct the cell, or say skip_invalid=True to leave the row out"
        error.problems = tuple(self.problems)  # who asks gets them all
        return error
