"""Text: reads CSV and pasted tables in any encoding, with any delimiter; writes CSV.

Text that is not Unicode is detected by letters and headings that make sense: the same bytes are
letters of several alphabets. Each encoding that can decode them is scored as a model of text: how
usual its letters are side by side in the languages that are written in it, as the names of
countries, languages and months in babel (CLDR) show, and which headings it makes. Detectors for
web pages were wrong about half of such short files.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from chatkit.errors import InputError
from chatkit.imports import tables
from chatkit.imports.tables import BrokenRow, RawTable, TableRow, Target

if TYPE_CHECKING:
    import pandas as pd

#: Marks at the beginning of a file; the longer first, for one begins like another.
_BYTE_ORDER_MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
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
_SAMPLE_ROWS = 200
#: What Excel writes to make another Excel use a delimiter, and to keep digits as text.
_SEP = re.compile("sep=(.)\r?\n", re.IGNORECASE)
_FORCED = re.compile('="([^"]*)"')

#: Counts the known headings in a row.
HeadingCounter = Callable[[Sequence[str]], int]


def decode_text(
    data: bytes | str, encoding: str | None = None, count_headings: HeadingCounter = lambda _: 0
) -> tuple[str, str, list[str]]:
    """Decode a file; return its text, a label of its encoding, and notes.

    Args:
        data: The file.
        encoding: Its encoding; None to detect it by a mark, as UTF-8, or by its letters.
        count_headings: Counts the known headings in a row; the right encoding has most.

    Raises:
        InputError: It is text in no encoding that can be detected, or in several.
    """
    notes: list[str] = []
    if isinstance(data, str):
        text, label = data.removeprefix("\ufeff"), ""
    elif encoding is not None:
        text, label = _decode_bytes(data, encoding), encoding
    else:
        text, label, notes = _detect_encoding(data, count_headings)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise InputError(f"Line {line} holds half a character.") from None
    return text, label, notes


def _detect_encoding(data: bytes, count_headings: HeadingCounter) -> tuple[str, str, list[str]]:
    """Detect the encoding of a file; return its text, a label and notes."""
    for name, mark in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return _decode_bytes(data[len(mark) :], name), name.upper(), []
    if b"\x1b$" in data and data.isascii():
        return _decode_bytes(data, "iso2022-jp"), "ISO-2022-JP", []
    if utf16 := _detect_utf16(data):
        return _decode_bytes(data, utf16), utf16.upper(), []
    with suppress(UnicodeDecodeError):
        return data.decode(), "UTF-8", []
    replaced = data.decode(errors="replace")
    # but for a few bytes, it is UTF-8
    mostly = sum(not c.isascii() for c in replaced) > 2 * replaced.count("\ufffd")
    readings = [] if mostly else find_likely_decodings(data, count_headings)
    if not readings:
        return _decode_bytes(data, "UTF-8"), "UTF-8", []
    if len(readings) > 1:
        _refuse_mixed_encodings(data)
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


def _refuse_mixed_encodings(data: bytes) -> None:
    """Refuse a file in which some lines are UTF-8 and others are not.

    Raises:
        InputError: It is one; the text names lines of both kinds.
    """
    kinds: dict[bool, list[str]] = {True: [], False: []}
    for n, line in enumerate(data.splitlines(), 1):
        if not line.isascii():
            kinds["\ufffd" not in line.decode(errors="replace")].append(str(n))
    if kinds[True] and kinds[False]:
        lines, others = (", ".join(numbers[:4]) for numbers in (kinds[True], kinds[False]))
        raise InputError(
            f"Lines {lines} are UTF-8, and lines {others} are not. Save the file anew as UTF-8, or "
            "read it with encoding='cp1252' and let check(…).fix() repair the letters."
        )


def _decode_bytes(data: bytes, encoding: str) -> str:
    """Decode bytes; refuse an unknown encoding, or bytes that it does not have."""
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
            "Save it as UTF-8, or pass its encoding, like encoding='cp1252': check(…).fix() then "
            "repairs the lines that are UTF-8."
        ) from None


def _detect_utf16(data: bytes) -> str:
    """Return the name of UTF-16 for a file in it without a mark; empty for others."""
    if len(data) % 2 or b"\0" not in data:
        return ""
    ascii_counts = {
        name: sum(c.isascii() for c in data[:4000].decode(name, "replace"))
        for name in ("utf-16-le", "utf-16-be")
    }
    name = max(ascii_counts, key=lambda each: ascii_counts[each])
    return name if ascii_counts[name] * 16 > len(data[:4000]) else ""


def read_delimited(
    text: str,
    encoding: str,
    delimiter: str | None,
    count_headings: HeadingCounter,
    notes: list[str],
) -> RawTable:
    """Read the rows of a text with delimiters.

    Args:
        text: The whole of it.
        encoding: What it was, for people.
        delimiter: What stands between cells, None to find out.
        count_headings: Counts the headings in a row that mean something.
        notes: What is to be said already.
    """
    first = 1
    if match := _SEP.match(text):  # a row to spreadsheet programs, so it counts
        text, first = text[match.end() :], 2
        delimiter = delimiter or match[1]
    if delimiter is None:
        delimiter = max(_DELIMITERS, key=lambda each: _rank_delimiter(text, each, count_headings))
    elif len(delimiter) != 1 or delimiter in '\r\n"':
        raise InputError(f"A delimiter is one character, like ';', not {delimiter!r}.")
    separated = _DELIMITERS.get(delimiter, repr(delimiter))
    kinds = filter(None, ("CSV" * bool(encoding), encoding, separated))
    table = RawTable(", ".join(kinds), [], notes)
    for record in _read_records(text, delimiter, first):
        if isinstance(record, BrokenRow):
            table.broken.append(record)
        elif record.cells:
            cells = [_unescape_cell(c) if "'" in c or "=" in c else c or None for c in record.cells]
            table.rows.append(TableRow(record.number, cells))
    return table


@lru_cache(4096)  # a country code stands in many rows
def _unescape_cell(raw: str) -> str | None:
    """Return a cell without its formula guard or ="…"; None for an empty one."""
    forced = _FORCED.fullmatch(raw)
    return forced[1] or None if forced else tables.remove_guard(raw)


def _read_records(text: str, delimiter: str, number: int) -> Iterator[TableRow | BrokenRow]:
    """Yield the records with their numbers, counted from `number`; bad quotes break one record.

    The next record begins with the next line. Each line of a broken one may have been a row.
    """
    text_lines = [*io.StringIO(text, newline="")]
    spaced = _has_spaced_quotes(text, delimiter)
    reader = csv.reader(iter(text_lines), delimiter=delimiter, strict=True, skipinitialspace=spaced)
    while True:
        first = reader.line_num
        try:
            record = next(reader, None)
            if record is None:
                return
            yield TableRow(number, record)
            number += 1
        except csv.Error as error:
            lines = text_lines[first : reader.line_num]
            several = f", so {len(lines)} lines were taken for one" if len(lines) > 1 else ""
            reasons = (reason for word, reason in _QUOTES.items() if word in str(error))
            reason = next(reasons).format(several)
            yield BrokenRow(number, "".join(lines).rstrip("\r\n"), reason)
            number += len(lines)


def _has_spaced_quotes(text: str, delimiter: str) -> bool:
    """Check if some cell is quoted behind a blank: 1, "Cruz, Ana"."""
    mark = re.escape(delimiter)
    cell = rf'(?:^|{mark}) +"(?:[^"]|"")*"(?={mark}|\r|\n|\Z)'
    return ' "' in text and re.search(cell, text, re.MULTILINE) is not None


def _rank_delimiter(text: str, delimiter: str, count_headings: HeadingCounter) -> tuple[int, float]:
    """Rank a delimiter by the known headings and the rows of equal length that it makes."""
    spaced = _has_spaced_quotes(text, delimiter)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=spaced)
    try:
        rows = [row for row in islice(reader, _SAMPLE_ROWS) if any(row)]
    except csv.Error:
        return -1, 0.0
    widths = Counter(map(len, rows))
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    named = max((count_headings(row) for row in rows[:20]), default=0)
    return named, count / len(rows) if width > 1 else 0.0


def write_csv(frame: pd.DataFrame, target: Target) -> None:
    """Write a frame as CSV: UTF-8 with a mark, commas, all cells in quotes."""
    tables.write_file(target, format_csv(*tables.stringify_frame(frame)))


def format_csv(names: Iterable[str], rows: Iterable[Sequence[str | None]]) -> bytes:
    """Format rows of texts as CSV."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow(map(tables.guard_cell, names))
    writer.writerows(
        [None if cell is None else tables.guard_cell(cell) for cell in row] for row in rows
    )
    return text.getvalue().encode("utf-8-sig")


# --- encodings ------------------------------------------------------------------------------

_DATA = tomllib.loads(Path(__file__).with_name("encodings.toml").read_text("utf-8"))
_TYPOGRAPHIC = "’‘“”–—…«»°€ªº·´\u00a0"
_WORD = re.compile(r"[^\s,;|\"0-9@./()+:<>=_&#!?*^~\x1f-]+")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1e\x7f-\x84\x86-\x9f]")
#: Logarithms: how much likelier the best reading is than any other one, how likely a byte is on
#: average, what a known heading counts, and how usual cp1252 is. Measured over 171 files of one
#: to three names in 28 languages (those of the tests): 0 are read wrongly, 27 are asked about.
_MARGIN, _LEAST, _HEADING, _PRIOR = 10.0, -7.0, 25.0, 4.0
_MOST_LINES, _LONGEST_WORD = 1000, 100
#: The languages of each encoding, and how much more evidence it needs than a usual one.
_ENCODINGS = {
    encoding: (codes, evidence)
    for group, evidence in {"usual": 0.0, "rare": 2.0, "rarest": 8.0}.items()
    for encoding, codes in _DATA[group].items()
}


class DecodedText(NamedTuple):
    """A text as decoded in one encoding, and how likely that is."""

    score: float
    encoding: str
    text: str


class _Language:
    """Frequencies of letters in a language, alone and after one another."""

    def __init__(self, code: str) -> None:
        from babel import Locale  # only for text that is not Unicode: it takes long to import

        locale = Locale.parse(code)
        calendar = [locale.months["format"]["wide"], locale.days["format"]["wide"]]
        texts = [locale.territories, locale.languages, locale.currencies, *calendar]
        sample = " ".join(str(name) for names in texts for name in names.values()).lower()
        if code == "ro":  # the encodings of its time have ş and ţ with a cedilla only
            sample = sample.translate({ord("ș"): "ş", ord("ț"): "ţ"})
        words = [f" {word} " for word in _WORD.findall(sample)]
        self._pairs = Counter(word[n : n + 2] for word in words for n in range(len(word) - 1))
        self._letters = Counter("".join(words))
        self._script: dict[str, Any] = _DATA["ideographic"].get(code, {})
        self._letters.update(dict.fromkeys(self._script.get("names", ""), 50))
        self._total = self._letters.total()

    @lru_cache(4096)  # noqa: B019  languages live as long as the process
    def compute_log_likelihood(self, word: str) -> float:
        """Compute the logarithm of the likelihood of a word by its pairs of letters."""
        padded = f" {unicodedata.normalize('NFC', word.lower())} "
        chances = []
        for before, letter in pairwise(padded):
            count = self._letters[letter]
            alone = max(count / self._total, 1e-3) if count else self._estimate_unseen(letter)
            pair = self._pairs[before + letter] / max(self._letters[before], 1)
            chances.append(0.7 * pair + 0.3 * alone)
        swaps = sum(a.islower() and b.isupper() for a, b in pairwise(word))
        mixed = re.search("[a-zA-Z]", word) and re.search("[\u0370-\U0003ffff]", word)
        return sum(map(math.log, chances)) - 5 * swaps - 10 * bool(mixed)

    def _estimate_unseen(self, letter: str) -> float:
        """Estimate the likelihood of a letter that the samples of the language lack."""
        if letter in _TYPOGRAPHIC:
            return 1e-4
        if not self._script or not (lead := letter.encode(self._script["charset"], "ignore")):
            return 1e-7
        return 1e-4 if self._script["first"] <= lead[0] <= self._script["last"] else 2e-6


_language = cache(_Language)


def find_likely_decodings(data: bytes, count_headings: HeadingCounter) -> list[DecodedText]:
    """Return the likely texts of bytes in unknown encoding, the likeliest first.

    Args:
        data: A text in no encoding of Unicode.
        count_headings: Counts the headings in a row that mean something.
    """
    lines = dict.fromkeys(line for line in data.splitlines() if not line.isascii())
    sample = b"\n".join(list(lines)[:_MOST_LINES])
    readings = []
    for encoding, (codes, evidence) in _ENCODINGS.items():
        try:
            text, letters = data.decode(encoding), sample.decode(encoding)
        except UnicodeDecodeError:
            continue
        words = [word[:_LONGEST_WORD] for word in _WORD.findall(letters) if not word.isascii()]
        words = [*dict.fromkeys(words)]
        if _CONTROL.search(letters) or not words:
            continue
        score = _PRIOR * (encoding == "cp1252") - evidence
        languages = [*map(_language, codes.split())]
        for word in words:
            logs = [language.compute_log_likelihood(word) for language in languages]
            best = max(logs)
            score += best + math.log(sum(math.exp(log - best) for log in logs) / len(logs))
        if score / sum(len(word.encode(encoding)) for word in words) < _LEAST:
            continue
        rows = [re.split(r"[,;\t|]", line) for line in text[:4000].splitlines()[:5]]
        headings = [[cell.strip(' "') for cell in row if not cell.isascii()] for row in rows]
        score += _HEADING * max(map(count_headings, headings))
        cells = {cell.strip(' "').casefold() for row in rows for cell in row}
        named = {cell.partition("_")[0] for cell in cells if "lang_code" in cells}
        score += _MARGIN * any(
            code in named or cells & {*_DATA["headings"].get(code, "").split()}
            for code in codes.split()
        )
        readings.append(DecodedText(score, encoding, text))
    readings.sort(key=lambda reading: -reading.score)
    likely = [reading for reading in readings if reading.score > readings[0].score - _MARGIN]
    return [*{reading.text: reading for reading in reversed(likely)}.values()][::-1]
