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
    stamp_of,
    unescape_controls,
)
from chatkit.util.display import many, visible
from chatkit.util.progress import print_line

Form = Literal["xlsx", "csv", "po", "xliff"]
#: A file, or several; a folder stands for the files in it.
Paths: TypeAlias = "str | os.PathLike[str] | bytes | Iterable[str | os.PathLike[str] | bytes]"

#: What a name ends in says what a file is to be.
_ENDINGS: Mapping[str, Form] = {
    ".xlsx": "xlsx",
    ".csv": "csv",
    ".po": "po",
    ".xlf": "xliff",
    ".xliff": "xliff",
}
#: What is read of a folder besides: a workbook with macros, which are not run.
_READ = (*_ENDINGS, ".xlsm")


def form_of(path: Path) -> Form:
    """Return the format of a file, which the end of its name says.

    Raises:
        InputError: It says none.
    """
    form = _ENDINGS.get(path.suffix.lower())
    if form is None:
        raise InputError(
            f"The format of {path.name!r} is unknown: its name must end in {', '.join(_ENDINGS)}."
        )
    return form


def written_units(
    units: Sequence[Unit], path: Path, form: Form, source: str
) -> dict[Path, tuple[list[Unit], bytes]]:
    """Make the files of these units: by their paths, which units they hold, and their content.

    PO and XLIFF have a file for each language, whose code stands in the name: `texts.de.po`.

    Raises:
        InputError: A file cannot hold it.
    """
    if form in ("xlsx", "csv"):
        return {path: (list(units), (workbook_of if form == "xlsx" else csv_of)(units))}
    languages: dict[str, list[Unit]] = {}
    for unit in units:
        languages.setdefault(unit.lang_code, []).append(unit)
    write = po_of if form == "po" else xliff.xliff_of
    return {
        path.with_name(f"{path.stem}.{code}{path.suffix}"): (part, write(part, source))
        for code, part in languages.items()
    }


def read_units(paths: Paths, encoding: str | None = None) -> list[Unit]:
    """Read the units of files, each with the place where it stands.

    Args:
        paths: The files, or a folder of them.
        encoding: That of CSV files; None to detect it.

    Raises:
        InputError: One of them is no file of translations.
        OSError: There is none, or it cannot be opened.
    """
    return [unit for path in _each(paths) for unit in _read(path, encoding)]


def _each(paths: Paths) -> Iterator[Any]:
    if isinstance(paths, str | os.PathLike):
        path = Path(paths).expanduser()
        if not path.is_dir():
            yield path
            return
        inside = sorted(each for each in path.iterdir() if each.suffix.lower() in _READ)
        if not inside:
            raise InputError(f"{path.name} has no file that ends in {', '.join(_READ)}.")
        yield from inside
    elif isinstance(paths, bytes):
        yield paths
    elif isinstance(paths, Iterable):
        for each in paths:
            yield from _each(each)
    else:
        raise InputError(f"Pass a path, or several, not a {type(paths).__name__}.")


def _read(path: Path | bytes, encoding: str | None) -> list[Unit]:
    name, content = read_source(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        reader = _reader(data, name)
        units = read_csv(data, encoding) if reader is read_csv else reader(data)
        if units and not any(stamp_of(unit.stamp) for unit in units):
            raise InputError(
                f"None of its {many(len(units), 'text')} has a stamp of export: it is a file of "
                "something else, or a program took the stamps out. Pass a file that export wrote."
            )
    except InputError as error:
        error.args = (f"{name}: {error}",)
        raise
    return [unit._replace(place=", ".join(filter(None, (name, unit.place)))) for unit in units]


def _reader(data: bytes, name: str) -> Callable[[bytes], list[Unit]]:
    """Choose the reader of a file by how it begins; by its name only where that says nothing."""
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
        kinds = (
            kind
            for begin, kind in _ARCHIVES.items()
            if not begin or any(part.startswith(begin) for part in parts)
        )
        raise InputError(f"This file is {next(kinds)}, not a workbook: save the table as .xlsx.")


#: The columns that a spreadsheet must have, and those that are read.
_NEEDED = ("template_code", "lang_code", "field", "source", "translation", "stamp")
_TAKEN = (*_NEEDED, "comment", "state")
_WIDE = ("source", "translation", "comment", "source_before", "note")
_HEADS = 20  #: so many rows are looked through for the names of the columns
_ALIKE = 3  #: with so many of the names, a row is one of ours that was changed


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


def _cells(unit: Unit) -> list[str | None]:
    return [cell(unit) or None for cell in _COLUMNS.values()]


def csv_of(units: Sequence[Unit]) -> bytes:
    """Write units of any languages as CSV."""
    to_csv(text_frame(list(map(_cells, units)), COLUMNS), target := io.BytesIO())
    return target.getvalue()


def workbook_of(units: Sequence[Unit]) -> bytes:
    """Write units as a workbook, one sheet a language.

    Raises:
        InputError: It is more than a spreadsheet can hold.
    """
    rows: dict[str, list[list[str | None]]] = {}
    for unit in units:
        rows.setdefault(unit.lang_code, []).append(_cells(unit))
    return workbook.build_workbook(COLUMNS, rows, wide=_WIDE, hidden=("field",))


def read_csv(data: bytes, encoding: str | None = None) -> list[Unit]:
    """Read units from CSV.

    Raises:
        InputError: It is none, or lacks a column.
    """
    content, label, notes = decode_text(data, encoding, count_headings=_known_columns)
    table = read_delimited(content, label, None, _known_columns, notes)
    return list(_units_of_table(table, "", _head_of(table)))


def read_workbook(data: bytes) -> list[Unit]:
    """Read units from all sheets of a workbook that have them, and report other sheets.

    Raises:
        InputError: It is none, no sheet has them, or one has lost a column or its names.
    """
    units: list[Unit] = []
    others: list[str] = []
    ours = False
    for name, table in workbook.read_sheets(data).items():
        sheet, head = f"sheet {quoted_name(name)}", _head_of(table)
        if head is None:
            continue
        exported = (row.number for row in table.rows if _has_stamp(row.cells))
        if head.known:
            ours = True
            units += [
                unit._replace(struck=unit.cells.get("translation") in table.struck)
                for unit in _units_of_table(table, f"{sheet}, ", head)
            ]
        elif row := next(exported, None):
            raise InputError(
                f"{sheet} holds texts of export, like that in row {row}, and no row names their "
                f"columns: {', '.join(_NEEDED)}. Put the names back above them, as export wrote "
                "them, or take the sheet out."
            )
        else:
            others.append(sheet)
    if not ours:
        raise InputError(_OTHER)
    if others:
        one = len(others) == 1
        print_line(
            f"Not read, as no row names the columns of translations: {', '.join(others)}. If "
            f"translations stand on {'it' if one else 'them'}, put back the names of the columns."
        )
    return units


def _has_stamp(cells: Sequence[Any]) -> bool:
    return any(isinstance(cell, str) and stamp_of(cell) for cell in cells)


def _known_columns(row: Sequence[str]) -> int:
    return sum(_column_name(name) in COLUMNS for name in row)


def _column_name(cell: object) -> str:
    """Read the name of a column, however it is written."""
    return cell.strip().casefold() if isinstance(cell, str) else ""


_OTHER = (
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
        """Return whether it is of a file of ours, even if it was changed."""
        return len(self.columns) >= _ALIKE


def _head_of(table: RawTable) -> _Head | None:
    """Find the row that names the most of our columns; None if the table is empty."""
    best: _Head | None = None
    for place, row in enumerate(table.rows[:_HEADS]):
        head = _Head(place, {}, {}, {})
        for number, cell in enumerate(row.cells):
            if (name := _column_name(cell)) in COLUMNS:
                (head.twice if name in head.columns else head.columns).setdefault(name, number)
            elif cell is not None:
                head.others[str(as_text(cell))] = number
        if best is None or len(head.columns) > len(best.columns):
            best = head
    return best


def _units_of_table(table: RawTable, where: str, head: _Head | None) -> Iterator[Unit]:
    if head is None or not head.known:
        raise InputError(_OTHER)
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
        if name in _TAKEN:
            both = f"{column_letter(head.columns[name])}{row} and {column_letter(number)}{row}"
            raise InputError(f"{where}the column {name} is there twice: {both}. Keep one.")
    letters = {name: column_letter(number) for name, number in head.columns.items()}
    for place, (number, cells) in enumerate(table.rows):
        filled = place > head.place and any(cell not in (None, " ") for cell in cells)
        # above them stands a title, or texts that were sorted with the names
        if filled or (place < head.place and _has_stamp(cells)):
            names = {name: f"{letter}{number}" for name, letter in letters.items()}
            yield _unit_of_row(cells, head.columns, names, f"{where}row {number}")
    for number, _, reason in table.broken:
        yield Unit("", "", "", "", "", place=f"{where}row {number}", trouble=reason)


def _unit_of_row(
    cells: Sequence[Any],
    columns: Mapping[str, int],
    names: Mapping[str, str],
    place: str,
) -> Unit:
    trouble, texts = "", dict[str, Any]()
    for name in _TAKEN:
        number = columns.get(name, len(cells))
        value = cells[number] if number < len(cells) else None
        text, reason = read_word(value)
        if reason:
            if name in _NEEDED:
                trouble = f"the {name} ({names[name]}) {reason}"
            text = value.text if isinstance(value, BadCell) else as_text(value)
        texts[name] = unescape_controls(text or "")
    target = texts.pop("translation")
    return Unit(**texts, target=target, place=place, trouble=trouble, cells=names)


#: Where the language stands as the API writes it. Programs keep what they do not know.
_CODE = "# lang_code: "
#: Babel takes {{1}} for a format of Python, which it is not.
_FORMATS = ("python-format", "python-brace-format")


def po_of(units: Sequence[Unit], source: str) -> bytes:
    """Write units, all of one language, as PO.

    Args:
        units: In the order of their templates.
        source: The language they are translated from.
    """
    code = units[0].lang_code
    comment = f"# {language.name(code)}, translated from {language.name(source)}.\n{_CODE}{code}"
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
            context=_context(unit),
        )
        message.flags.difference_update(_FORMATS)
        if unit.state == "stale":  # programs ask for these to be looked at, and then take it off
            message.flags.add("fuzzy")
        if unit.limit:
            message.flags.add(f"max-length:{unit.limit}")
    target = io.BytesIO()
    write_po(target, catalog, width=0)
    return _with_sources_before(target.getvalue().decode(), units).encode()


def _context(unit: Unit) -> str:
    return f"{unit.template_code}/{unit.field} {unit.stamp}"


def _with_sources_before(data: str, units: Iterable[Unit]) -> str:
    """Add the sources that stale texts were made from; Babel breaks the lines of long ones."""
    before = {
        f"msgctxt {normalize(_context(unit), width=0)}": normalize(
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
        InputError: It is no such file.
    """
    try:
        catalog = read_po(io.BytesIO(data), ignore_obsolete=True, abort_invalid=True)
    except (PoFileError, ValueError, LookupError, AttributeError, IndexError) as error:
        raise InputError(f"It is not a readable PO file: {error}.") from None
    lines = [line for line in catalog.header_comment.splitlines() if line.startswith(_CODE)]
    code = lines[0].removeprefix(_CODE) if lines else str(catalog.locale_identifier or "")
    return [_po_unit(message, code) for message in catalog if message.id]


#: What stands where for the code, the language and the field of a text.
_CONTEXT = "'{0}/{2}' into its msgctxt, before the stamp,"
_PARTS = {
    "template_code": _CONTEXT,
    "field": _CONTEXT,
    "lang_code": f"'{_CODE}{{1}}' into the head of the file",
}


def _po_unit(message: Message, lang_code: str) -> Unit:
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
        parts=_PARTS,
        place=f"line {message.lineno}",
    )
