"""Files: units into files of any format, and back; the content of a file decides how it is read.

In spreadsheets, CSV or workbooks, units are rows. PO, the files of gettext, is written and read by
Babel: the context of a message, which every program keeps, says where its text stands and has the
stamp: `order_ready/buttons.0.label 1f2e3d4c5b.…`. XLIFF has a module of its own.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import PoFileError, normalize, read_po, write_po

from chatkit.errors import InputError
from chatkit.imports.tables import (
    BadCell,
    RawTable,
    as_text,
    column_letter,
    file_kind,
    quoted_name,
    read_source,
    read_word,
    workbook,
)
from chatkit.imports.tables.delimited import decode_text, read_delimited, to_csv
from chatkit.localization import language
from chatkit.localization.content import text_label
from chatkit.localization.table import text_frame
from chatkit.localization.translation import xliff
from chatkit.localization.translation.units import (
    Unit,
    escape_controls,
    parse_stamp,
    unescape_controls,
)
from chatkit.util.display import many, visible
from chatkit.util.progress import print_line

FileFormat = Literal["xlsx", "csv", "po", "xliff"]
#: A file, or several; a folder stands for the files in it.
Paths: TypeAlias = "str | os.PathLike[str] | bytes | Iterable[str | os.PathLike[str] | bytes]"

#: The format of a file by the end of its name.
_ENDINGS: Mapping[str, FileFormat] = {
    ".xlsx": "xlsx",
    ".csv": "csv",
    ".po": "po",
    ".xlf": "xliff",
    ".xliff": "xliff",
}
#: The files that are read of a folder: also workbooks with macros, which are not run.
_READABLE_ENDINGS = (*_ENDINGS, ".xlsm")


def file_format(path: Path) -> FileFormat:
    """Return the format of a file by the end of its name.

    Raises:
        InputError: The end is of no known format.
    """
    form = _ENDINGS.get(path.suffix.lower())
    if form is None:
        raise InputError(
            f"The format of {path.name!r} is unknown: its name must end in {', '.join(_ENDINGS)}."
        )
    return form


def encode_units(
    units: Sequence[Unit], path: Path, form: FileFormat, source: str
) -> dict[Path, tuple[list[Unit], bytes]]:
    """Encode units as files: the units in each and its content, by its path.

    PO and XLIFF have a file for each language, whose code stands in the name: `texts.de.po`.

    Raises:
        InputError: A file cannot hold them.
    """
    if form in ("xlsx", "csv"):
        return {path: (list(units), (encode_workbook if form == "xlsx" else encode_csv)(units))}
    languages: dict[str, list[Unit]] = {}
    for unit in units:
        languages.setdefault(unit.lang_code, []).append(unit)
    encode = encode_po if form == "po" else xliff.encode_xliff
    return {
        path.with_name(f"{path.stem}.{code}{path.suffix}"): (members, encode(members, source))
        for code, members in languages.items()
    }


def read_units(paths: Paths, encoding: str | None = None) -> list[Unit]:
    """Read the units of files, each with its place in its file.

    Args:
        paths: The files, or a folder of them.
        encoding: That of CSV files; None to detect it.

    Raises:
        InputError: One of them is no file of translations.
        OSError: There is none, or it cannot be opened.
    """
    return [unit for path in _iter_files(paths) for unit in _read_file(path, encoding)]


def _iter_files(paths: Paths) -> Iterator[Any]:
    """Yield the files that are meant, for a folder those in it."""
    if isinstance(paths, str | os.PathLike):
        path = Path(paths).expanduser()
        if not path.is_dir():
            yield path
            return
        inside = sorted(each for each in path.iterdir() if each.suffix.lower() in _READABLE_ENDINGS)
        if not inside:
            raise InputError(
                f"{path.name} has no file that ends in {', '.join(_READABLE_ENDINGS)}."
            )
        yield from inside
    elif isinstance(paths, bytes):
        yield paths
    elif isinstance(paths, Iterable):
        for each in paths:
            yield from _iter_files(each)
    else:
        raise InputError(f"Pass a path, or several, not a {type(paths).__name__}.")


def _read_file(path: Path | bytes, encoding: str | None) -> list[Unit]:
    name, content = read_source(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        reader = _choose_reader(data, name)
        units = read_csv(data, encoding) if reader is read_csv else reader(data)
        if units and not any(parse_stamp(unit.stamp) for unit in units):
            raise InputError(
                f"None of its {many(len(units), 'text')} has a stamp of export: it is a file of "
                "something else, or a program took the stamps out. Pass a file that export wrote."
            )
    except InputError as error:
        error.args = (f"{name}: {error}",)
        raise
    return [unit._replace(place=", ".join(filter(None, (name, unit.place)))) for unit in units]


def _choose_reader(data: bytes, name: str) -> Callable[[bytes], list[Unit]]:
    """Choose the reader of a file by how it begins, or by its name if that does not decide."""
    if file_kind(data) == "xlsx":
        _check_archive(data, name)
        return read_workbook
    begin = data[:4000].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    if begin.startswith(b"<"):
        return xliff.read_xliff
    message = any(line.startswith((b"msgid", b"msgctxt")) for line in begin.splitlines())
    return read_po_units if message or name.lower().endswith(".po") else read_csv


#: Archives that are no workbooks, by the beginning of the name of a part.
_ARCHIVES = {
    "word/": "a text document",
    "ppt/": "a presentation",
    "mimetype": "an OpenDocument file",
    "": "a packed folder",
}


def _check_archive(data: bytes, name: str) -> None:
    """Refuse an archive that is no workbook, and report macros.

    Raises:
        InputError: It is something else.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.namelist()
    except zipfile.BadZipFile:
        return  # its reader refuses it
    if "xl/vbaProject.bin" in parts:
        print_line(f"{visible(name)} has macros: they are not run.")
    elif not any(part.startswith("xl/") for part in parts):
        matches = (
            kind
            for begin, kind in _ARCHIVES.items()
            if not begin or any(part.startswith(begin) for part in parts)
        )
        raise InputError(f"This file is {next(matches)}, not a workbook: save the table as .xlsx.")


#: The columns that a spreadsheet must have, and those that are read.
_REQUIRED = ("template_code", "lang_code", "field", "source", "translation", "stamp")
_READ_COLUMNS = (*_REQUIRED, "comment", "state")
_WIDE_COLUMNS = ("source", "translation", "comment", "source_before", "note")
_HEADER_SEARCH_ROWS = 20  #: so many rows are looked through for the names of the columns
_MIN_KNOWN_NAMES = 3  #: with so many of the names, a row is one of ours that was changed


#: The columns, and what they hold of a unit. A translator fills in `translation`, and may write a
#: `comment`; a label is the field as a person calls it.
_COLUMNS: Mapping[str, Callable[[Unit], str]] = {
    "template_code": lambda unit: unit.template_code,
    "lang_code": lambda unit: unit.lang_code,
    "label": lambda unit: text_label(unit.field),
    "source": lambda unit: escape_controls(unit.source),
    "translation": lambda unit: escape_controls(unit.target),
    "comment": lambda unit: escape_controls(unit.comment),
    "state": lambda unit: unit.state,
    "source_before": lambda unit: escape_controls(unit.source_before),
    "note": lambda unit: visible(unit.note),
    "at_most": lambda unit: str(unit.limit or ""),
    "field": lambda unit: unit.field,
    "stamp": lambda unit: unit.stamp,
}
COLUMNS = tuple(_COLUMNS)


def _row_cells(unit: Unit) -> list[str | None]:
    return [cell(unit) or None for cell in _COLUMNS.values()]


def encode_csv(units: Sequence[Unit]) -> bytes:
    """Encode units of any languages as CSV."""
    to_csv(text_frame(list(map(_row_cells, units)), COLUMNS), target := io.BytesIO())
    return target.getvalue()


def encode_workbook(units: Sequence[Unit]) -> bytes:
    """Encode units as a workbook, one sheet a language.

    Raises:
        InputError: They are more than a spreadsheet can hold.
    """
    rows: dict[str, list[list[str | None]]] = {}
    for unit in units:
        rows.setdefault(unit.lang_code, []).append(_row_cells(unit))
    return workbook.build_workbook(COLUMNS, rows, wide=_WIDE_COLUMNS, hidden=("field",))


def read_csv(data: bytes, encoding: str | None = None) -> list[Unit]:
    """Read units from CSV.

    Raises:
        InputError: It is no CSV, or lacks a column.
    """
    content, label, notes = decode_text(data, encoding, count_headings=_count_known_columns)
    table = read_delimited(content, label, None, _count_known_columns, notes)
    return list(_read_table(table, "", _find_header(table)))


def read_workbook(data: bytes) -> list[Unit]:
    """Read units from all sheets of a workbook that hold translations; report other sheets.

    Raises:
        InputError: It is no workbook, no sheet has units, or one has lost a column or its names.
    """
    units: list[Unit] = []
    others: list[str] = []
    has_translations = False
    for name, table in workbook.read_sheets(data).items():
        sheet, head = f"sheet {quoted_name(name)}", _find_header(table)
        if head is None:
            continue
        exported = (row.number for row in table.rows if _has_stamp(row.cells))
        if head.is_exported:
            has_translations = True
            units += [
                unit._replace(struck=unit.cells.get("translation") in table.struck)
                for unit in _read_table(table, f"{sheet}, ", head)
            ]
        elif row := next(exported, None):
            raise InputError(
                f"{sheet} holds texts of export, like that in row {row}, and no row names their "
                f"columns: {', '.join(_REQUIRED)}. Put the names back above them, as export wrote "
                "them, or take the sheet out."
            )
        else:
            others.append(sheet)
    if not has_translations:
        raise InputError(_NOT_TRANSLATIONS)
    if others:
        one = len(others) == 1
        print_line(
            f"Not read, as no row names the columns of translations: {', '.join(others)}. If "
            f"translations stand on {'it' if one else 'them'}, put back the names of the columns."
        )
    return units


def _has_stamp(cells: Sequence[Any]) -> bool:
    return any(isinstance(cell, str) and parse_stamp(cell) for cell in cells)


def _count_known_columns(row: Sequence[str]) -> int:
    return sum(_column_name(name) in COLUMNS for name in row)


def _column_name(cell: object) -> str:
    """Return the name in a cell of the header, without spaces around it and in lower case."""
    return cell.strip().casefold() if isinstance(cell, str) else ""


_NOT_TRANSLATIONS = (
    "It does not hold translations: no row names the columns "
    f"{', '.join(_REQUIRED[:-1])} and {_REQUIRED[-1]}. Pass a file that export wrote."
)


class _HeaderRow(NamedTuple):
    """The row that names the columns, with the number of each."""

    position: int  #: among the rows of the table
    columns: dict[str, int]  #: the known columns
    others: dict[str, int]  #: the unknown ones, as they are written
    repeated: dict[str, int]  #: the known ones that stand there a second time

    @property
    def is_exported(self) -> bool:
        """Return whether it is of an exported file, even if it was changed."""
        return len(self.columns) >= _MIN_KNOWN_NAMES


def _find_header(table: RawTable) -> _HeaderRow | None:
    """Find the row that names the most of the exported columns; None if the table is empty."""
    best: _HeaderRow | None = None
    for position, row in enumerate(table.rows[:_HEADER_SEARCH_ROWS]):
        head = _HeaderRow(position, {}, {}, {})
        for number, cell in enumerate(row.cells):
            if (name := _column_name(cell)) in COLUMNS:
                (head.repeated if name in head.columns else head.columns).setdefault(name, number)
            elif cell is not None:
                head.others[str(as_text(cell))] = number
        if best is None or len(head.columns) > len(best.columns):
            best = head
    return best


def _read_table(table: RawTable, where: str, head: _HeaderRow | None) -> Iterator[Unit]:
    if head is None or not head.is_exported:
        raise InputError(_NOT_TRANSLATIONS)
    row = table.rows[head.position].number
    if missing := [name for name in _REQUIRED if name not in head.columns]:
        unknown = [
            f"{visible(name)[:40]!r} in {column_letter(number)}{row}"
            for name, number in list(head.others.items())[:5]
        ]
        instead = f"; not known: {', '.join(unknown)}" if unknown else ""
        raise InputError(
            f"{where}row {row} lacks the names of columns: {', '.join(missing)}{instead}. "
            "Put back the names that export wrote."
        )
    for name, number in head.repeated.items():
        if name in _READ_COLUMNS:
            both = f"{column_letter(head.columns[name])}{row} and {column_letter(number)}{row}"
            raise InputError(f"{where}the column {name} is there twice: {both}. Keep one.")
    letters = {name: column_letter(number) for name, number in head.columns.items()}
    for position, (number, cells) in enumerate(table.rows):
        filled = position > head.position and any(cell not in (None, " ") for cell in cells)
        # above the names stands a title, or texts that were sorted with them
        if filled or (position < head.position and _has_stamp(cells)):
            names = {name: f"{letter}{number}" for name, letter in letters.items()}
            yield _read_row(cells, head.columns, names, f"{where}row {number}")
    for number, _, reason in table.broken:
        yield Unit("", "", "", "", "", place=f"{where}row {number}", problem=reason)


def _read_row(
    cells: Sequence[Any],
    columns: Mapping[str, int],
    names: Mapping[str, str],
    place: str,
) -> Unit:
    problem, texts = "", dict[str, Any]()
    for name in _READ_COLUMNS:
        number = columns.get(name, len(cells))
        value = cells[number] if number < len(cells) else None
        text, reason = read_word(value)
        if reason:
            if name in _REQUIRED:
                problem = f"the {name} ({names[name]}) {reason}"
            text = value.text if isinstance(value, BadCell) else as_text(value)
        texts[name] = unescape_controls(text or "")
    target = texts.pop("translation")
    return Unit(**texts, target=target, place=place, problem=problem, cells=names)


#: The line that has the language as the API writes it. Programs keep what they do not know.
_LANG_CODE = "# lang_code: "
#: The flags that Babel sets because it takes {{1}} for a format of Python.
_PYTHON_FLAGS = ("python-format", "python-brace-format")


def encode_po(units: Sequence[Unit], source: str) -> bytes:
    """Encode units of one language as a PO file.

    Args:
        units: In the order of their templates.
        source: The language they are translated from.
    """
    code = units[0].lang_code
    comment = (
        f"# {language.name(code)}, translated from {language.name(source)}.\n{_LANG_CODE}{code}"
    )
    catalog = Catalog(
        language.gettext_locale(code),
        project="chatkit",
        version="1",
        header_comment=comment,
        charset="utf-8",
        fuzzy=False,
    )
    for unit in units:
        state = [f"State: {unit.state}."] if unit.state else []
        message = catalog.add(
            escape_controls(unit.source),
            escape_controls(unit.target),
            auto_comments=[visible(unit.note), *state],
            user_comments=escape_controls(unit.comment).splitlines(),
            context=_message_context(unit),
        )
        message.flags.difference_update(_PYTHON_FLAGS)
        if unit.state == "stale":  # programs ask for these to be looked at, and then take it off
            message.flags.add("fuzzy")
        if unit.limit:
            message.flags.add(f"max-length:{unit.limit}")
    target = io.BytesIO()
    write_po(target, catalog, width=0)
    return _add_previous_sources(target.getvalue().decode(), units).encode()


def _message_context(unit: Unit) -> str:
    return f"{unit.template_code}/{unit.field} {unit.stamp}"


def _add_previous_sources(data: str, units: Iterable[Unit]) -> str:
    """Add to a PO file the sources that stale texts were made from.

    Babel could write them, but breaks the lines of long ones.
    """
    before = {
        f"msgctxt {normalize(_message_context(unit), width=0)}": normalize(
            escape_controls(unit.source_before), prefix="#| ", width=0
        )
        for unit in units
        if unit.source_before
    }
    if not before:
        return data
    lines = data.split("\n")
    return "\n".join(
        f"#| msgid {before[line]}\n{line}" if line in before else line for line in lines
    )


def read_po_units(data: bytes) -> list[Unit]:
    """Read the units of a PO file.

    Raises:
        InputError: It is no PO file.
    """
    try:
        catalog = read_po(io.BytesIO(data), ignore_obsolete=True, abort_invalid=True)
    except (PoFileError, ValueError, LookupError, AttributeError, IndexError) as error:
        raise InputError(f"It is not a readable PO file: {error}.") from None
    lines = [line for line in catalog.header_comment.splitlines() if line.startswith(_LANG_CODE)]
    code = lines[0].removeprefix(_LANG_CODE) if lines else str(catalog.locale_identifier or "")
    return [_read_message(message, code) for message in catalog if message.id]


#: What to write where for the code, the language and the field of a text.
_CONTEXT_HINT = "'{0}/{2}' into its msgctxt, before the stamp,"
_REPAIR_HINTS = {
    "template_code": _CONTEXT_HINT,
    "field": _CONTEXT_HINT,
    "lang_code": f"'{_LANG_CODE}{{1}}' into the head of the file",
}


def _read_message(message: Message, lang_code: str) -> Unit:
    where, _, stamp = (message.context or "").rpartition(" ")
    code, _, field = where.rpartition("/")
    source, target = (
        unescape_controls(text if isinstance(text, str) else "")
        for text in (message.id, message.string)
    )
    lines = [line for line in message.user_comments if not line.startswith("|")]  # a source before
    return Unit(
        *(code, lang_code, field, source, target, stamp),
        comment=unescape_controls("\n".join(lines)),
        unfinished="fuzzy" if message.fuzzy else "",
        repair_hints=_REPAIR_HINTS,
        place=f"line {message.lineno}",
    )
