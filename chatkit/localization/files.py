"""Files: units into files for translators, and back; the content of a file decides how it is read.

In spreadsheets, CSV or workbooks, units are rows. PO, the files of gettext, is written and read by
Babel: the context of a message, which every program keeps, says where its text stands and has the
stamp: `order_ready/buttons.0.label 1f2e3d4c5b.…`.

XLIFF 1.2 is what programs for translators exchange. Placeholders, and characters that XML cannot
hold, are elements of their own (`ph`): a program shows them as one block that can be moved and not
be changed. This is the only import of an XML parser. That of Python, expat, is fast, loads nothing
from elsewhere, and limits how much entities unfold. The files of translators need no document type
at all, so one that has it is refused, and with it every entity.
"""

from __future__ import annotations

import io
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser
from xml.sax.saxutils import escape, quoteattr

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import PoFileError, read_po, write_po

from chatkit.errors import InputError
from chatkit.imports import read_table
from chatkit.imports.tables import (
    BadCell,
    RawTable,
    detect_file_kind,
    name_column,
    quote_name,
    read_source,
    read_text_cell,
    stringify,
    workbook,
    write_file,
)
from chatkit.imports.tables.delimited import format_csv
from chatkit.localization import language
from chatkit.localization.content import count_words, shorten_list, text_label
from chatkit.localization.ledger import Ledger
from chatkit.localization.table import make_frame
from chatkit.localization.units import (
    Only,
    Unit,
    collect_units,
    escape_controls,
    parse_stamp,
    select_states,
    unescape_controls,
)
from chatkit.util.display import has_half_character, many, visible
from chatkit.util.progress import print_line

if TYPE_CHECKING:
    import pandas as pd

#: A file, or several; a folder stands for the files in it.
Paths: TypeAlias = "str | os.PathLike[str] | bytes | Iterable[str | os.PathLike[str] | bytes]"


def encode_units(
    units: Sequence[Unit], path: Path, source: str
) -> dict[Path, tuple[list[Unit], bytes]]:
    """Encode units as files: the units in each and its content, by its path.

    PO and XLIFF have a file for each language, whose code stands in the name: `texts.de.po`.

    Raises:
        InputError: A file cannot hold them, or the end of its name is of no known format.
    """
    encode, is_of_one_language = _FORMATS.get(path.suffix.lower(), (None, False))
    if encode is None:
        raise InputError(
            f"The format of {path.name!r} is unknown: its name must end in {', '.join(_FORMATS)}."
        )
    if broken := [unit for unit in units if has_half_character(unit.source + unit.target)]:
        names = [f"{unit.template_code}/{unit.lang_code} {unit.field}" for unit in broken]
        raise InputError(
            f"Half a character, which no file can hold, is in {shorten_list(names, 5)}. Write the "
            "texts again, and export them then."
        )
    files: dict[Path, list[Unit]] = {}
    for unit in units:
        suffix = f".{unit.lang_code}{path.suffix}" if is_of_one_language else path.suffix
        files.setdefault(path.with_name(path.stem + suffix), []).append(unit)
    return {
        each: (members, encode([*map(_escape_texts, members)], source))
        for each, members in files.items()
    }


def _escape_texts(unit: Unit, escape: Callable[[str], str] = escape_controls) -> Unit:
    """Return a unit with its texts escaped; with `unescape_controls` as they were."""
    return unit._replace(
        source=escape(unit.source),
        target=escape(unit.target),
        comment=escape(unit.comment),
        source_before=escape(unit.source_before),
        note=visible(unit.note),
    )


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
        read = _choose_reader(data, name, encoding)
        units = [_escape_texts(unit, unescape_controls) for unit in read(data)]
        if units and not any(parse_stamp(unit.stamp) for unit in units):
            raise InputError(
                f"None of its {many(len(units), 'text')} has a stamp of export: it is a file of "
                "something else, or a program took the stamps out. Pass a file that export wrote."
            )
    except InputError as error:
        error.args = (f"{name}: {error}",)
        raise
    return [unit._replace(place=", ".join(filter(None, (name, unit.place)))) for unit in units]


def _choose_reader(data: bytes, name: str, encoding: str | None) -> Callable[[bytes], list[Unit]]:
    """Choose the reader of a file by how it begins, or by its name if that does not decide."""
    if detect_file_kind(data) == "xlsx":
        return _read_workbook
    begin = data[:4000].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    if begin.startswith(b"<"):
        return _read_xliff
    message = any(line.startswith((b"msgid", b"msgctxt")) for line in begin.splitlines())
    is_po = message or name.lower().endswith(".po")
    return _read_po if is_po else partial(_read_csv, encoding=encoding)


#: The columns that a spreadsheet must have, and those that are read.
_REQUIRED = ("template_code", "lang_code", "field", "source", "translation", "stamp")
_READ_COLUMNS = (*_REQUIRED, "comment", "state")
_WIDE_COLUMNS = ("source", "translation", "comment", "source_before", "note")
_HEADER_SEARCH_ROWS = 20  #: so many rows are looked through for the names of the columns
_MIN_KNOWN_NAMES = 3  #: with so many of the names, a row is one of ours that was changed


#: The columns. A translator fills in `translation`, and may write a `comment`; a label is the field
#: as a person calls it.
COLUMNS = (
    *("template_code", "lang_code", "label", "source", "translation", "comment", "state"),
    *("source_before", "note", "at_most", "field", "stamp"),
)


def _format_row(unit: Unit) -> list[str | None]:
    cells = {"label": text_label(unit.field), "translation": unit.target, "at_most": unit.limit}
    texts: dict[str, Any] = unit._asdict() | cells
    return [str(texts[name]) if texts[name] else None for name in COLUMNS]


def _encode_csv(units: Sequence[Unit], _source: str) -> bytes:
    return format_csv(COLUMNS, map(_format_row, units))


def _encode_workbook(units: Sequence[Unit], _source: str) -> bytes:
    """Encode units as a workbook, one sheet a language.

    Raises:
        InputError: They are more than a spreadsheet can hold.
    """
    rows: dict[str, list[list[str | None]]] = {}
    for unit in units:
        rows.setdefault(unit.lang_code, []).append(_format_row(unit))
    return workbook.build_workbook(COLUMNS, rows, wide=_WIDE_COLUMNS, hidden=("field",))


def _read_csv(data: bytes, encoding: str | None) -> list[Unit]:
    table = read_table(data, _count_known_columns, encoding=encoding)
    return list(_read_table(table, "", _find_header(table)))


def _read_workbook(data: bytes) -> list[Unit]:
    """Read units from all sheets of a workbook that hold translations; report other sheets.

    Raises:
        InputError: It is no workbook, no sheet has units, or one has lost a column or its names.
    """
    units: list[Unit] = []
    others: list[str] = []
    has_translations = False
    for name, table in workbook.read_sheets(data).items():
        sheet, head = f"sheet {quote_name(name)}", _find_header(table)
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
    return sum(_read_column_name(name) in COLUMNS for name in row)


def _read_column_name(cell: object) -> str:
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
            if (name := _read_column_name(cell)) in COLUMNS:
                (head.repeated if name in head.columns else head.columns).setdefault(name, number)
            elif cell is not None:
                head.others[str(stringify(cell))] = number
        if best is None or len(head.columns) > len(best.columns):
            best = head
    return best


def _read_table(table: RawTable, where: str, head: _HeaderRow | None) -> Iterator[Unit]:
    if head is None or not head.is_exported:
        raise InputError(_NOT_TRANSLATIONS)
    row = table.rows[head.position].number
    if missing := [name for name in _REQUIRED if name not in head.columns]:
        unknown = [
            f"{visible(name)[:40]!r} in {name_column(number)}{row}"
            for name, number in list(head.others.items())[:5]
        ]
        instead = f"; not known: {', '.join(unknown)}" if unknown else ""
        raise InputError(
            f"{where}row {row} lacks the names of columns: {', '.join(missing)}{instead}. "
            "Put back the names that export wrote."
        )
    for name, number in head.repeated.items():
        if name in _READ_COLUMNS:
            twice = (f"{name_column(n)}{row}" for n in (head.columns[name], number))
            raise InputError(
                f"{where}the column {name} is there twice: {' and '.join(twice)}. Keep one."
            )
    letters = {name: name_column(number) for name, number in head.columns.items()}
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
        text, reason = read_text_cell(value)
        if reason:
            if name in _REQUIRED:
                problem = f"the {name} ({names[name]}) {reason}"
            text = value.text if isinstance(value, BadCell) else stringify(value)
        texts[name] = text or ""
    target = texts.pop("translation")
    return Unit(**texts, target=target, place=place, problem=problem, cells=names)


#: The line that has the language as the API writes it. Programs keep what they do not know.
_LANG_CODE = "# lang_code: "
#: The flags that Babel sets because it takes {{1}} for a format of Python.
_PYTHON_FLAGS = ("python-format", "python-brace-format")
_NO_WRAPPING = 1 << 20  #: characters of a line; without a width Babel breaks comments


def _encode_po(units: Sequence[Unit], source: str) -> bytes:
    code = units[0].lang_code
    comment = (
        f"# {language.name(code)}, translated from {language.name(source)}.\n{_LANG_CODE}{code}"
    )
    catalog = Catalog(
        language.normalize(code),
        project="chatkit",
        version="1",
        header_comment=comment,
        charset="utf-8",
        fuzzy=False,
    )
    for unit in units:
        state = [f"State: {unit.state}."] if unit.state else []
        message = catalog.add(
            unit.source,
            unit.target,
            auto_comments=[unit.note, *state],
            user_comments=unit.comment.splitlines(),
            previous_id=unit.source_before or (),
            context=f"{unit.template_code}/{unit.field} {unit.stamp}",
        )
        message.flags.difference_update(_PYTHON_FLAGS)
        if unit.state == "stale":  # programs ask for these to be looked at, and then take it off
            message.flags.add("fuzzy")
        if unit.limit:
            message.flags.add(f"max-length:{unit.limit}")
    target = io.BytesIO()
    write_po(target, catalog, width=_NO_WRAPPING, include_previous=True)
    return target.getvalue()


def _read_po(data: bytes) -> list[Unit]:
    try:
        catalog = read_po(io.BytesIO(data), ignore_obsolete=True, abort_invalid=True)
    except (PoFileError, ValueError, LookupError, AttributeError, IndexError) as error:
        raise InputError(f"It is not a readable PO file: {error}.") from None
    lines = [line for line in catalog.header_comment.splitlines() if line.startswith(_LANG_CODE)]
    code = lines[0].removeprefix(_LANG_CODE) if lines else str(catalog.locale_identifier or "")
    return [_read_message(message, code) for message in catalog if message.id]


def _read_message(message: Message, lang_code: str) -> Unit:
    where, _, stamp = (message.context or "").rpartition(" ")
    code, _, field = where.rpartition("/")
    source, target = (
        text if isinstance(text, str) else "" for text in (message.id, message.string)
    )
    lines = [line for line in message.user_comments if not line.startswith("|")]  # a source before
    return Unit(
        *(code, lang_code, field, source, target, stamp),
        comment="\n".join(lines),
        unfinished="fuzzy" if message.fuzzy else "",
        place=f"line {message.lineno}",
    )


# --- export -------------------------------------------------------------------------------


def export(
    frame: pd.DataFrame,
    target: str | os.PathLike[str],
    *,
    source: str = "en",
    languages: Iterable[str] | None = None,
    only: Only | Collection[Only] = "missing",
    replace: bool = False,
    ledger: Ledger | None = None,
) -> pd.DataFrame:
    """Write texts into files for translators; `read_units` reads them back.

    What the name ends in says the format: .xlsx, .csv, .po, .xlf or .xliff. PO and XLIFF have a
    file for each language: `texts.po` becomes `texts.de.po` and so on.

    Args:
        frame: As `client.templates.frame(codes, full=True)` gives it.
        target: The path of the file.
        source: The language to translate from.
        languages: The languages to translate into, also those that no content has yet; without
            it all that the frame has.
        only: Texts in these states, one or several: "missing" without a translation, "stale"
            made from another source text, "unknown", "draft", "live"; or "all".
        replace: Write over files that are there; they may hold the work of a translator.
        ledger: What is recorded of sources, and what people say of texts.

    Returns:
        A row for each language in each file that was written.

    Raises:
        InputError: There is nothing to translate, a file cannot hold it, or is there already.
        OSError: A file cannot be written.
    """
    path = Path(target).expanduser()
    states = select_states(only)
    every, unplaced = collect_units(frame, source, languages, ledger)
    units = [unit for unit in every if unit.state in states]
    encoded = encode_units(units, path, source)
    if existing := [each.name for each in encoded if each.exists() and not replace]:
        raise InputError(
            f"{', '.join(existing)} is there already, and may hold the work of a translator. Take "
            "another name, or pass replace=True."
        )
    lines = []
    for each, (members, data) in encoded.items():
        write_file(each, data)
        for code in dict.fromkeys(unit.lang_code for unit in members):
            mine = [unit for unit in members if unit.lang_code == code]
            templates = len({unit.template_code for unit in mine})
            count = sum(count_words(unit.source) for unit in mine)
            lines.append((str(each), code, templates, len(mine), count))
    across = many(len({unit.lang_code for unit in units}), "language")
    names = shorten_list([visible(each.name) for each in encoded], 3)
    texts = f"{many(len(units), 'text')} in {across} → {names}"
    if not units:
        texts = "Nothing to translate: no file was written."
    drafts = [unit for unit in every if unit.state == "draft"]
    if drafts and drafts[0] not in units:
        verb = "is a draft" if len(drafts) == 1 else "are drafts"
        texts += f" {many(len(drafts), 'text')} {verb}, and left out: only='draft' exports them."
    print_line(texts)
    if unplaced:
        some = shorten_list(list(map(visible, unplaced)), 3)
        print_line(f"  left out, for another kind of header or button stands there: {some}")
    return make_frame(lines, ("path", "lang_code", "templates", "texts", "words"))


# --- XLIFF --------------------------------------------------------------------------------

#: The attributes of a target by the state of its text.
_STATES = {
    "stale": 'state="needs-review-translation"',
    "unknown": 'state="translated" state-qualifier="x-unknown"',
    "draft": 'state="translated"',
    "live": 'state="final"',
}
#: The authors of notes that are no comments of people.
_OWN_AUTHORS = ("", "developer")
#: How the state of a translation begins that a program has marked as not finished.
_UNFINISHED_STATES = ("new", "needs-")


# --- writing ----------------------------------------------------------------------------


def _encode_xliff(units: Sequence[Unit], source: str) -> bytes:
    target = units[0].lang_code
    source_tag, target_tag = map(language.bcp47_tag, (source, target))
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">',
    ]
    for code, group in groupby(units, key=lambda unit: unit.template_code):
        tags = f'source-language="{source_tag}" target-language="{target_tag}"'
        head = f'original={quoteattr(f"{target}/{code}")} {tags} datatype="plaintext"'
        lines += [f"  <file {head}>", "    <body>"]
        for unit in group:
            lines += _write_trans_unit(unit)
        lines += ["    </body>", "  </file>"]
    return "\n".join([*lines, "</xliff>", ""]).encode()


def _write_trans_unit(unit: Unit) -> Iterator[str]:
    most = f' maxwidth="{unit.limit}" size-unit="char"' if unit.limit else ""
    head = f"id={quoteattr(unit.stamp)} resname={quoteattr(unit.field)}{most}"
    yield f'      <trans-unit {head} xml:space="preserve">'
    ids: dict[str, int] = {}
    yield f"        <source>{_encode_inline(unit.source, ids)}</source>"
    if unit.target:
        state = f" {_STATES[unit.state]}" if unit.state in _STATES else ""
        yield f"        <target{state}>{_encode_inline(unit.target, ids)}</target>"
    yield f'        <note from="developer">{escape(unit.note)}</note>'
    if unit.comment:
        yield f'        <note from="translator">{escape(unit.comment)}</note>'
    if unit.source_before:
        yield '        <alt-trans alttranstype="previous-version">'
        yield f"          <source>{_encode_inline(unit.source_before, ids)}</source>"
        yield f"          <target>{_encode_inline(unit.target, ids)}</target>"
        yield "        </alt-trans>"
    yield "      </trans-unit>"


_INLINE_CODE = re.compile(r"(\{\{[^{}\t\n]*\}\}|⟨U\+[0-9A-F]{4}⟩)")


def _encode_inline(text: str, ids: dict[str, int]) -> str:
    """Encode a text with a `ph` element for each placeholder and each escaped character.

    Equal placeholders have the same number as their id: 2, and 2.3 for the third time.

    Args:
        text: A source or a target.
        ids: The numbers, the same for a source and its target; new ones are added.
    """
    counts: Counter[str] = Counter()
    parts = list(map(escape, _INLINE_CODE.split(text)))
    for place in range(1, len(parts), 2):
        part = parts[place]
        counts[part] += 1
        suffix = f".{counts[part]}" if counts[part] > 1 else ""
        parts[place] = f'<ph id="{ids.setdefault(part, len(ids) + 1)}{suffix}">{part}</ph>'
    return "".join(parts)


# --- reading ----------------------------------------------------------------------------


def _read_xliff(data: bytes) -> list[Unit]:
    root = parse_xml(data)
    version = root.get("version", "")
    if _get_local_name(root) != "xliff" or not version.startswith("1."):
        kind = f"{_get_local_name(root)} {version}".strip()
        raise InputError(f"It must be XLIFF of version 1.2, and is {kind}: save it as that.")
    files = root.iterfind(".//{*}file")
    units = (unit for file in files for unit in _read_trans_units(file))
    return [unit._replace(place=f"unit {number}") for number, unit in enumerate(units, 1)]


def _read_trans_units(file: Element) -> Iterator[Unit]:
    lang_code, _, code = file.get("original", "").partition("/")
    for element in file.iterfind(".//{*}trans-unit"):
        source, target = (element.find(f"{{*}}{name}") for name in ("source", "target"))
        codes = {} if source is None else _read_codes(source)
        texts = ["" if e is None else "".join(_iter_texts(e, codes)) for e in (source, target)]
        state = "" if target is None else target.get("state", "")
        unfinished = state if state.startswith(_UNFINISHED_STATES) else ""
        versions = {each.get("alttranstype") for each in element.iterfind("{*}alt-trans")}
        if unfinished == "needs-review-translation" and "previous-version" in versions:
            unfinished = ""  # it was exported so, and not every program takes the state off
        yield Unit(
            *(code, lang_code, element.get("resname", ""), texts[0], texts[1]),
            stamp=element.get("id", ""),
            comment=_join_comments(element.iterfind("{*}note")),
            unfinished=unfinished,
        )


def _join_comments(notes: Iterable[Element]) -> str:
    """Join the comments of people on a text, one line each."""
    comments = (each for each in notes if each.get("from", "") not in _OWN_AUTHORS)
    return "\n".join(filter(str.strip, ("".join(each.itertext()) for each in comments)))


class _Builder(TreeBuilder):
    """A builder of XML elements that refuses document types, and so all entities."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise InputError("It has a document type (DOCTYPE), which no file of translators needs.")


def parse_xml(data: bytes) -> Element:
    """Parse an XML file that must not have a document type.

    Raises:
        InputError: It is no XML, or has a document type.
    """
    parser = XMLParser(target=_Builder())  # noqa: S314  no document type gets past `_Builder`
    try:
        parser.feed(data)
        root = parser.close()
    except InputError:
        raise
    except (ParseError, ValueError, LookupError) as error:  # an unknown encoding is a LookupError
        raise InputError(f"It is not readable as XML: {error}.") from None
    return root


def _get_local_name(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


#: The inline elements that replace a part of the text, and hold it or refer to it.
_CODE_ELEMENTS = ("ph", "x", "it", "bpt", "ept", "bx", "ex")


def _iter_texts(element: Element, codes: Mapping[str, str]) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if _get_local_name(child) in _CODE_ELEMENTS:
            yield _read_code_text(child, codes)
        else:  # what a program put around words to mark them
            yield from _iter_texts(child, codes)
        yield child.tail or ""


def _read_code_text(element: Element, codes: Mapping[str, str]) -> str:
    text = "".join(element.itertext()) or codes.get(element.get("id", ""), "")
    return text or element.get("equiv-text", "")


def _read_codes(element: Element) -> dict[str, str]:
    """Return the texts of the inline elements of a source, by their id."""
    elements = [each for each in element.iter() if _get_local_name(each) in _CODE_ELEMENTS]
    return {each.get("id", ""): _read_code_text(each, {}) for each in elements}


#: The encoder of a file by the end of its name, and whether it takes units of one language only.
_FORMATS: Mapping[str, tuple[Callable[[Sequence[Unit], str], bytes], bool]] = {
    ".xlsx": (_encode_workbook, False),
    ".csv": (_encode_csv, False),
    ".po": (_encode_po, True),
    ".xlf": (_encode_xliff, True),
    ".xliff": (_encode_xliff, True),
}
#: The files that are read of a folder: also workbooks with macros, which are not run.
_READABLE_ENDINGS = (*_FORMATS, ".xlsm")
