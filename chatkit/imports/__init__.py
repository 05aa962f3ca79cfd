"""Files: reads contacts from spreadsheets, CSV, Parquet and address books.

`read_contacts` opens a source and recognises its kind by the content. Each kind is read into rows
of cells, a `RawTable`; `columns` makes a frame of them, and a `FileReading` holds that frame and
what there is to know about it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import pandas as pd

from chatkit.errors import InputError
from chatkit.frames.frame import pause_collector
from chatkit.frames.snapshot import write_origin
from chatkit.imports.columns import FileReading, count_known_headings, read_contact_table
from chatkit.imports.tables import RawTable, Source, TableRow, detect_file_kind, read_source, vcards
from chatkit.imports.tables.delimited import HeadingCounter, decode_text, read_delimited
from chatkit.util.progress import print_line


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
    country code and name are chosen by their headings, in many languages, and checked by their
    cells; where a number is empty, the next column of numbers is read, and a fax never is. What
    was chosen and what was passed over is printed. Numbers are not split or changed here.

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
    named = {"number": number, "country_code": country_code, "name": name}
    options = {"sheet": sheet, "encoding": encoding, "delimiter": delimiter, "hidden": hidden}
    reading = read_contact_file(source, named, **options)
    print_line(reading.report(skipped=skip_invalid))
    if reading.broken and not skip_invalid:
        raise reading.build_error()
    write_origin(reading.frame, read=reading.report(skipped=True))
    return reading.frame


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


def read_contact_file(
    source: Source, named: Mapping[str, str | Sequence[str] | None], **options: Any
) -> FileReading:
    """Read a file of contacts into a frame with notes and problems; print nothing.

    Args:
        source: A path, an open file, bytes or a text.
        named: What the file calls the number, the country code and the name, where it is known.
        **options: `sheet`, `encoding`, `delimiter` and `hidden`, as `read_contacts` takes them.

    Raises:
        InputError: The file as a whole cannot be read.
        OSError: There is no such file, or it cannot be opened.
    """
    label, content = read_source(source)
    columns = {
        field: [name] if isinstance(name, str) and name else name for field, name in named.items()
    }
    notes: list[str] = []
    try:
        with pause_collector():
            table = read_table(content, **options)
            notes = table.notes
            reading = read_contact_table(table, columns)
    except InputError as error:
        error.args = ("\n".join([f"{label}: {error}", *(f"  note: {each}" for each in notes)]),)
        raise
    reading.source = label
    return reading


def read_table(
    content: bytes | str,
    count_headings: HeadingCounter = count_known_headings,
    *,
    sheet: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    hidden: bool = True,
) -> RawTable:
    """Recognise the kind of a file by its content, and read its rows.

    Raises:
        InputError: The file as a whole cannot be read.
    """
    kind = detect_file_kind(content)
    if sheet is not None and kind != "xlsx":
        raise InputError("sheet= names a sheet of an .xlsx file, which this is not: leave it out.")
    if isinstance(content, bytes) and kind == "parquet":
        return read_parquet(content)
    if isinstance(content, bytes) and kind == "xlsx":
        from chatkit.imports.tables import workbook  # slow to load

        return workbook.read_sheet(content, sheet, hidden=hidden)
    if kind == "vcard":
        return vcards.read_vcards(content, encoding)
    text, label, notes = decode_text(content, encoding, count_headings)
    for pattern, reason in _NO_TABLE.items():
        if pattern.match(text):
            raise InputError(f"This file is {reason}.")
    if detect_file_kind(text) == "vcard":  # in an encoding of two bytes a character
        return vcards.read_vcards(text, label)
    return read_delimited(text, label, delimiter, count_headings, notes)


def read_parquet(data: bytes) -> RawTable:
    """Read a Parquet file as rows of cells, which are numbered from 1.

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
