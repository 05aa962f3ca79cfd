"""Text: CSV and pasted tables in whatever encoding, with whatever delimiter, read; CSV written."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from chatkit.errors import InputError
from chatkit.imports.tables import (
    BrokenRow,
    RawTable,
    TableRow,
    Target,
    frame_texts,
    guarded,
    unguarded,
    write_file,
)

if TYPE_CHECKING:
    import pandas as pd

#: Marks at the beginning of a file; the longer first, for one begins like another.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: What may stand between cells, the most usual first.
_DELIMITERS = {
    ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", "^": "^", "~": "~", "\x1f": "0x1F",
}  # fmt: skip
#: What is wrong with quotes, by a word of the error of the reader.
_QUOTES = {
    "unexpected end": 'a " opens a cell that never ends{}: put another " after its text',
    "limit": 'a cell is longer than any name{}: put the " in that is missing',
    "": 'a " inside a cell is not doubled, or one is missing{}: write it twice there',
}
#: So many rows are looked at to find the delimiter.
_SAMPLE = 200
#: What Excel writes to make another Excel use a delimiter, and to keep digits as text.
_SEP = re.compile("sep=(.)\r?\n", re.IGNORECASE)
_FORCED = re.compile('="([^"]*)"')


def decode_text(
    data: bytes | str,
    encoding: str | None = None,
    known: Callable[[Sequence[str]], int] = lambda _: 0,
) -> tuple[str, str, list[str]]:
    """Decode a file. Return its text, a label of its encoding, and notes.

    Args:
        data: The file.
        encoding: Its encoding; None to detect it by a mark, as UTF-8, or by its letters.
        known: Counts the headings in a row that mean something, as the right encoding has them.

    Raises:
        InputError: It is text in no encoding that can be detected, or in several.
    """
    notes: list[str] = []
    if isinstance(data, str):
        text, label = data.removeprefix("\ufeff"), ""
    elif encoding is not None:
        text, label = _strictly(data, encoding), encoding
    else:
        text, label, notes = _detected(data, known)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise InputError(f"Line {line} holds half a character.") from None
    return text, label, notes


def _detected(data: bytes, known: Callable[[Sequence[str]], int]) -> tuple[str, str, list[str]]:
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _strictly(data[len(mark) :], name), name.upper(), []
    if b"\x1b$" in data and data.isascii():
        return _strictly(data, "iso2022-jp"), "ISO-2022-JP", []
    if wide := _without_mark(data):
        return _strictly(data, wide), wide.upper(), []
    try:
        return data.decode(), "UTF-8", []
    except UnicodeDecodeError:
        mended = data.decode(errors="replace")
    if sum(not c.isascii() for c in mended) > 2 * mended.count("\ufffd"):
        return _strictly(data, "UTF-8"), "UTF-8", []  # it is, but for a few bytes
    from chatkit.imports.tables.encodings import likely_readings  # babel is slow to load

    readings = likely_readings(data, known)
    if not readings:
        return _strictly(data, "UTF-8"), "UTF-8", []
    if len(readings) > 1:
        cells = zip(*(re.split(r"[,;\t|\r\n]", r.text) for r in readings), strict=False)
        differing = next(row for row in cells if len({*row}) > 1)
        samples = [
            f"{cell.strip()!r:.60} in {reading.encoding}"
            for cell, reading in zip(differing, readings, strict=True)
        ]
        raise InputError(
            "This is not UTF-8, and its letters make sense in several encodings: the first that "
            f"differ are {', '.join(samples[:4])}. Write which it is, as "
            f"encoding={readings[0].encoding!r}, or save the file as UTF-8."
        )
    text, encoding = readings[0].text, readings[0].encoding
    words = re.findall(r"(?:\w|[^\x00-\x7f])+", text)
    words = [word[:60] for word in words if not word.isascii()]
    sample = ", ".join(map(repr, dict.fromkeys(islice(words, 5))))
    note = f"read as {encoding} by its letters: if {sample} is wrong, write encoding='…'"
    return text, encoding, [note]


def _strictly(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise InputError(
            f"There is no encoding {encoding!r}: write it like 'utf-8' or 'cp1252', or leave "
            "encoding= out."
        ) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start : error.start + 1].hex()
        raise InputError(
            f"This is not {encoding} text: line {line} holds the byte 0x{byte}. "
            "Say which encoding it has, like encoding='cp1251', or save it as UTF-8."
        ) from None


def _without_mark(data: bytes) -> str:
    """Recognise UTF-16 without its mark by its digits, delimiters and ends of lines."""
    if len(data) % 2 or b"\0" not in data:
        return ""
    plain = {
        name: sum(c.isascii() for c in data[:4000].decode(name, "replace"))
        for name in ("utf-16-le", "utf-16-be")
    }
    name = max(plain, key=lambda each: plain[each])
    return name if plain[name] * 16 > len(data[:4000]) else ""


def read_delimited(
    text: str,
    encoding: str,
    delimiter: str | None,
    known: Callable[[Sequence[str]], int],
    notes: list[str],
) -> RawTable:
    """Read the rows of a text.

    Args:
        text: The whole of it.
        encoding: What it was, for people.
        delimiter: What stands between cells, None to find out.
        known: Counts the names of columns in a row that mean something.
        notes: What is to be said already.
    """
    first = 1
    if match := _SEP.match(text):  # a row to spreadsheet programs, so it counts
        text, first = text[match.end() :], 2
        delimiter = delimiter or match[1]
    if delimiter is None:
        delimiter = max(_DELIMITERS, key=lambda each: _fits(text, each, known))
    elif len(delimiter) != 1 or delimiter in '\r\n"':
        raise InputError(f"A delimiter is one character, like ';', not {delimiter!r}.")
    separated = _DELIMITERS.get(delimiter, repr(delimiter))
    kinds = filter(None, ("CSV" * bool(encoding), encoding, separated))
    table = RawTable(", ".join(kinds), [], notes)
    for record in _records(text, delimiter, first):
        if isinstance(record, BrokenRow):
            table.broken.append(record)
        elif record.cells:
            cells = [_cell(c) if "'" in c or "=" in c else c or None for c in record.cells]
            table.rows.append(TableRow(record.number, cells))
    return table


@lru_cache(4096)  # a country code stands in many rows
def _cell(raw: str) -> str | None:
    forced = _FORCED.fullmatch(raw)
    return forced[1] or None if forced else unguarded(raw)


def _records(text: str, delimiter: str, number: int) -> Iterator[TableRow | BrokenRow]:
    """Yield each record with its number, from `number` on; bad quotes break their record only.

    The next record begins with the next line. Each line of a broken one may have been a row.
    """
    lines: list[str] = []

    def kept() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            lines.append(line)
            yield line

    spaced = _has_spaced_quotes(text, delimiter)
    reader = csv.reader(kept(), delimiter=delimiter, strict=True, skipinitialspace=spaced)
    while True:
        lines.clear()
        try:
            record = TableRow(number, next(reader))
        except StopIteration:
            return
        except csv.Error as error:
            several = f", so {len(lines)} lines were taken for one" if len(lines) > 1 else ""
            reasons = (reason for word, reason in _QUOTES.items() if word in str(error))
            reason = next(reasons).format(several)
            yield BrokenRow(number, "".join(lines).rstrip("\r\n"), reason)
            number += len(lines)
        else:
            yield record
            number += 1


def _has_spaced_quotes(text: str, delimiter: str) -> bool:
    """Check if a cell is quoted behind a blank: 1, "Cruz, Ana"."""
    mark = re.escape(delimiter)
    cell = rf'(?:^|{mark}) +"(?:[^"]|"")*"(?={mark}|\r|\n|\Z)'
    return ' "' in text and re.search(cell, text, re.MULTILINE) is not None


def _fits(text: str, delimiter: str, known: Callable[[Sequence[str]], int]) -> tuple[int, float]:
    """Rank a delimiter by the names that mean something, and by rows of the same length."""
    spaced = _has_spaced_quotes(text, delimiter)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=spaced)
    try:
        rows = [row for row in islice(reader, _SAMPLE) if any(row)]
    except csv.Error:
        return -1, 0.0
    widths = Counter(map(len, rows))
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    named = max((known(row) for row in rows[:20]), default=0)
    return named, count / len(rows) if width > 1 else 0.0


def to_csv(frame: pd.DataFrame, target: Target) -> None:
    """Write a frame as CSV: UTF-8 with its mark, commas, all cells in quotes."""
    names, rows = frame_texts(frame)
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow(map(guarded, names))
    writer.writerows([None if cell is None else guarded(cell) for cell in row] for row in rows)
    write_file(target, text.getvalue().encode("utf-8-sig"))
