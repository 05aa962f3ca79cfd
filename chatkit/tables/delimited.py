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
from chatkit.tables import (
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
#: So many rows are looked at to find the delimiter.
_SAMPLE = 200
#: What Excel writes to make another Excel use a delimiter, and to keep digits as text.
_SEP = re.compile("sep=(.)\r?\n", re.IGNORECASE)
_FORCED = re.compile('="([^"]*)"')


def decode_text(data: bytes | str, encoding: str | None = None) -> tuple[str, str, list[str]]:
    """Decode a file. Returns its text, what is said of its encoding, and what of doubts.

    Raises:
        InputError: It is text in none of the encodings that can be told.
    """
    notes: list[str] = []
    if isinstance(data, str):
        text, said = data.removeprefix("\ufeff"), ""
    elif encoding is not None:
        text, said = _strictly(data, encoding), encoding
    else:
        text, said, notes = _guessed(data)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise InputError(f"Line {line} holds half a character.") from None
    return text, said, notes


def _guessed(data: bytes) -> tuple[str, str, list[str]]:
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _strictly(data[len(mark) :], name), name.upper(), []
    if wide := _without_mark(data):
        return _strictly(data, wide), wide.upper(), []
    try:
        return data.decode(), "UTF-8", []
    except UnicodeDecodeError:
        mended = data.decode(errors="replace")
    if sum(not c.isascii() for c in mended) > 2 * mended.count("\ufffd"):
        return _strictly(data, "UTF-8"), "UTF-8", []  # it is, but for a few bytes
    text = _strictly(data, "cp1252")
    words = dict.fromkeys(re.findall(r"\w*[^\x00-\x7f]+\w*", text))
    seen = ", ".join(repr(word) for word in islice(words, 5))
    return text, "cp1252", [f"the encoding is a guess: if {seen} is wrong, say encoding='cp1250'"]


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
        found = data[error.start : error.start + 1].hex()
        raise InputError(
            f"This is not {encoding} text: line {line} holds the byte 0x{found}. "
            "Say which encoding it has, like encoding='cp1251', or save it as UTF-8."
        ) from None


def _without_mark(data: bytes) -> str:
    """Tell UTF-16 without its mark by the zero bytes that most of its characters have."""
    even, odd = data[:4000:2], data[1:4000:2]
    if len(data) % 2 == 0 and data:
        for name, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
            if zeros.count(0) > len(zeros) / 3 and not others.count(0):
                return name
    return ""


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
    if found := _SEP.match(text):  # a row to spreadsheet programs, so it counts
        text, first = text[found.end() :], 2
        delimiter = delimiter or found[1]
    if delimiter is None:
        delimiter = max(_DELIMITERS, key=lambda each: _fits(text, each, known))
    elif len(delimiter) != 1 or delimiter in '\r\n"':
        raise InputError(f"A delimiter is one character, like ';', not {delimiter!r}.")
    said = _DELIMITERS.get(delimiter, repr(delimiter))
    table = RawTable(", ".join(filter(None, ("CSV" * bool(encoding), encoding, said))), [], notes)
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
            yield BrokenRow(number, "".join(lines).rstrip("\r\n"), _why(str(error), several))
            number += len(lines)
        else:
            yield record
            number += 1


def _has_spaced_quotes(text: str, delimiter: str) -> bool:
    """Check if a cell is quoted behind a blank: 1, "Cruz, Ana"."""
    mark = re.escape(delimiter)
    cell = rf'(?:^|{mark}) +"(?:[^"]|"")*"(?={mark}|\r|\n|\Z)'
    return re.search(cell, text, re.MULTILINE) is not None


def _why(error: str, several: str) -> str:
    if "unexpected end" in error:
        return f'a " opens a cell that never ends{several}: put another " after its text'
    if "limit" in error:
        return f'a cell is longer than any name{several}: put the " in that is missing'
    return f'a " inside a cell is not doubled, or one is missing{several}: write it twice there'


def _fits(text: str, delimiter: str, known: Callable[[Sequence[str]], int]) -> tuple[int, float]:
    """Weigh a delimiter: does it show names that mean something, and rows of the same length."""
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
