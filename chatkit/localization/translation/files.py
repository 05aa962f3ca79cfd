"""Files: units into files of any format, and back; what a file is, its content tells.

PO, the files of gettext, is here too: it is written and read by Babel. The context of a message,
which every program keeps, says where its text stands and has the stamp:
`order_ready/buttons.0.label 1f2e3d4c5b.…`.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import PoFileError, normalize, read_po, write_po

from chatkit.display import many, visible
from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.translation import grid, xliff
from chatkit.localization.translation.units import (
    Unit,
    escape_controls,
    stamp_of,
    unescape_controls,
)
from chatkit.progress import say
from chatkit.tables import file_kind, open_source

Form = Literal["xlsx", "csv", "po", "xliff-1.2", "xliff-2.0"]
FORMS: tuple[Form, ...] = get_args(Form)
#: A file, or several; a folder stands for the files in it.
Paths: TypeAlias = "str | os.PathLike[str] | bytes | Iterable[str | os.PathLike[str] | bytes]"

#: What a name ends in says what a file is to be; of XLIFF every program reads 1.2.
_ENDINGS: Mapping[str, Form] = {
    ".xlsx": "xlsx",
    ".csv": "csv",
    ".po": "po",
    ".xlf": "xliff-1.2",
    ".xliff": "xliff-1.2",
}
#: What is read of a folder besides: a workbook with macros, which are not run.
_READ = (*_ENDINGS, ".xlsm")
#: These tell only of one language each.
_EACH: tuple[Form, ...] = ("po", "xliff-1.2", "xliff-2.0")


def form_of(path: Path, asked: Form | None) -> Form:
    """Tell what a file is to be.

    Raises:
        InputError: Neither its name says it, nor does `asked`.
    """
    if asked is not None and asked not in FORMS:
        raise InputError(f"form= takes one of {', '.join(FORMS)}, not {asked!r}.")
    form = asked or _ENDINGS.get(path.suffix.lower())
    if form is None:
        raise InputError(
            f"The format of {path.name!r} is unknown: its name must end in "
            f"{', '.join(_ENDINGS)}, or say form=."
        )
    return form


def written_units(
    units: Sequence[Unit], path: Path, form: Form, source: str, *, one_sheet: bool
) -> dict[Path, tuple[list[Unit], bytes]]:
    """Make the files of these units: by their paths, which units they hold, and their content.

    PO and XLIFF have a file for each language, whose code stands in the name: `texts.de.po`.

    Raises:
        InputError: A file cannot hold it.
    """
    if form in _EACH:
        parts: dict[str, list[Unit]] = {}
        for unit in units:
            parts.setdefault(unit.lang_code, []).append(unit)
        return {
            path.with_name(f"{path.stem}.{code}{path.suffix}"): (part, _one(part, form, source))
            for code, part in parts.items()
        }
    whole = list(units)
    if form == "xlsx":
        return {path: (whole, grid.workbook_of(whole, one_sheet=one_sheet))}
    return {path: (whole, grid.csv_of(whole))}


def _one(units: Sequence[Unit], form: Form, source: str) -> bytes:
    if form == "po":
        return po_of(units, source)
    return xliff.xliff_of(units, source, "1.2" if form == "xliff-1.2" else "2.0")


def read_units(paths: Paths) -> list[Unit]:
    """Read the units of files, each with the place where it stands.

    Raises:
        InputError: One of them is no file of translations.
        OSError: There is none, or it cannot be opened.
    """
    return [unit for path in _each(paths) for unit in _read(path)]


def _each(paths: Paths) -> Iterator[Any]:
    if isinstance(paths, str | os.PathLike):
        path = Path(paths).expanduser()
        if not path.is_dir():
            yield path
            return
        found = sorted(each for each in path.iterdir() if each.suffix.lower() in _READ)
        if not found:
            raise InputError(f"{path.name} has no file that ends in {', '.join(_READ)}.")
        yield from found
    elif isinstance(paths, bytes):
        yield paths
    elif isinstance(paths, Iterable):
        for each in paths:
            yield from _each(each)
    else:
        raise InputError(f"Pass a path, or several, not a {type(paths).__name__}.")


def _read(path: Path | bytes) -> list[Unit]:
    name, content = open_source(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        units = _reader(data, name)(data)
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
    """Tell by its beginning what a file is; by its name only where that says nothing."""
    if file_kind(data) == "xlsx":
        _look_inside(data, name)
        return grid.read_workbook
    begin = data[:4000].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    if begin.startswith(b"<"):
        return xliff.read_xliff
    lines = begin.splitlines()
    message = any(line.startswith((b"msgid", b"msgctxt")) for line in lines)
    return read_po_units if message or name.lower().endswith(".po") else grid.read_csv


def _look_inside(data: bytes, name: str) -> None:
    """Tell a workbook from what else is packed as it is, and tell of its macros.

    Raises:
        InputError: It is something else.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            parts = packed.namelist()
    except zipfile.BadZipFile:
        return  # whoever reads it says so
    if "xl/vbaProject.bin" in parts:
        say(f"{visible(name)} has macros: they are not run.")
    elif not any(part.startswith("xl/") for part in parts):
        kinds = {
            "word/": "a text document",
            "ppt/": "a presentation",
            "mimetype": "an OpenDocument file",
        }
        kind = next(
            (said for begin, said in kinds.items() if any(p.startswith(begin) for p in parts)),
            "a packed folder",
        )
        raise InputError(f"This file is {kind}, not a workbook: save the table as .xlsx.")


# --- PO: one file a language --------------------------------------------------------------

#: Where the language stands as the API writes it. Programs keep what they do not know.
_CODE = "# lang_code: "
#: Babel takes {{1}} for a format of Python, which it is not.
_FORMATS = ("python-format", "python-brace-format")


def po_of(units: Sequence[Unit], source: str) -> bytes:
    """Write units, all of one language.

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
    """Read the units of a file.

    Raises:
        InputError: It is no such file.
    """
    try:
        catalog = read_po(io.BytesIO(data), ignore_obsolete=True, abort_invalid=True)
    except (PoFileError, ValueError, LookupError, AttributeError, IndexError) as error:
        raise InputError(f"It is not a readable PO file: {error}.") from None
    said = [line for line in catalog.header_comment.splitlines() if line.startswith(_CODE)]
    code = said[0].removeprefix(_CODE) if said else str(catalog.locale_identifier or "")
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
    said = [line for line in message.user_comments if not line.startswith("|")]  # a source before
    return Unit(
        *(code, lang_code, field, source, target, stamp),
        comment=unescape_controls("\n".join(said)),
        unfinished="fuzzy" if message.fuzzy else "",
        parts=_PARTS,
        place=f"line {message.lineno}",
    )
