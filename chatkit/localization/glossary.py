"""Glossary: required and forbidden terms, and the form of address.

A glossary is a table of yours: a .csv or .xlsx file, a DataFrame or rows. Its columns, of which
each but `term` and `language` may be left out:

- `term`: the word in the source language; empty where a row is about a language as a whole,
- `language`: a code like de or pt_BR, where pt is each kind of Portuguese; empty for all,
- `use`: how it is translated, `Rad|Fahrrad` where either will do,
- `never`: what must not stand in a translation, in the same form,
- `keep`: yes, where the term is not translated at all,
- `address`: formal (Sie, vous) or informal (du, tu), for a whole language.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from chatkit.errors import InputError, Problem
from chatkit.localization import language
from chatkit.localization.checks import Case, Flaw, flaw
from chatkit.localization.content import remove_slots
from chatkit.util.display import cut, values, visible

if TYPE_CHECKING:
    import pandas as pd

#: A glossary as it is passed: a file, a frame or rows.
GlossarySource: TypeAlias = (
    "Glossary | str | os.PathLike[str] | pd.DataFrame | Iterable[Mapping[str, Any]]"
)
COLUMNS = ("term", "language", "use", "never", "keep", "address")
Address = Literal["formal", "informal"]
_YES, _NO = ("yes", "true", "1", "x"), ("no", "false", "0", "")


class _GlossaryRow(NamedTuple):
    """One row of a glossary."""

    number: int
    term: str
    language: str
    use: tuple[str, ...]
    never: tuple[str, ...]
    keep: bool
    address: str


class Glossary:
    """The words of a glossary; `Glossary("terms.csv")` reads it.

    Args:
        source: A file (.csv, .xlsx), a DataFrame, or rows.

    Raises:
        InputError: A column is unknown, or rows say nothing or contradict each other: `problems`
            has all of them.
        OSError: The file cannot be opened.
    """

    def __init__(self, source: GlossarySource) -> None:
        self._rows = list(_read_rows(source))
        if problems := list(_find_problems(self._rows)):
            raise InputError("The glossary cannot be used:", problems)
        self._by_language: dict[str, tuple[list[_GlossaryRow], str]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        languages = len({row.language for row in self._rows if row.language})
        return f"<glossary: {len(self._rows):,} rows, {languages:,} languages>"

    def find_breaches(
        self, source: str, target: str, lang_code: str, source_code: str
    ) -> list[Flaw]:
        """Return the flaws of one translation against the glossary.

        Args:
            source: The text in the source language; empty where there is none.
            target: The translation of it.
            lang_code: The language of the translation.
            source_code: The source language.
        """
        rows, address = self._select_rows(lang_code)
        return [*_check_terms(rows, source, target, lang_code, source_code),
                *_check_address(address, target, lang_code)]  # fmt: skip

    def remove_kept_terms(self, text: str, lang_code: str, source_code: str) -> str:
        """Return a text without the terms that stay untranslated in a language."""
        for row in self._select_rows(lang_code)[0]:
            if row.keep:
                text = _make_word_pattern(row.term, source_code).sub(" ", text)
        return text

    def _select_rows(self, lang_code: str) -> tuple[list[_GlossaryRow], str]:
        """Return the rows for a language, and how it addresses people.

        Of several rows for a term the one that names the language most exactly counts.
        """
        form = language.normalize(lang_code)
        if form not in self._by_language:
            rows: dict[tuple[str, int], _GlossaryRow] = {}
            address = ""
            for own in ("", language.base(form), form):
                for row in self._rows:
                    if language.normalize(row.language) == own:
                        rows[row.term.casefold(), 0 if row.term else row.number] = row
                        address = row.address or address
            self._by_language[form] = sorted(rows.values(), key=lambda row: row.number), address
        return self._by_language[form]


# --- compare a translation ---------------------------------------------------------


def check_glossary(case: Case) -> Iterator[Flaw]:
    """Compare each text with the glossary, unless it is in the source language itself."""
    entry, original = case.entry, case.original
    if case.glossary is None or (
        original is None and language.is_same(entry.lang_code, case.source)
    ):
        return
    texts = {} if original is None else original.texts
    for field, name, text in entry.pieces:
        source = texts.get(field, "")
        for each in case.glossary.find_breaches(source, text, entry.lang_code, case.source):
            yield each._replace(field=field, message=f"{name}: {each.message}")


def _check_terms(
    rows: Sequence[_GlossaryRow], source: str, target: str, lang_code: str, source_code: str
) -> Iterator[Flaw]:
    original, mine = remove_slots(source), target.casefold()
    for row in rows:
        term = cut(row.term, 40)
        if row.term and row.keep:
            if (
                _make_word_pattern(row.term, source_code).search(original)
                and row.term not in target
            ):
                yield flaw("glossary/kept", "", term=term)
            continue
        named = row.term and _make_word_pattern(row.term, source_code, "any form").search(original)
        if named and row.use and not any(word.casefold() in mine for word in row.use):
            own = " or ".join(f"“{cut(word, 40)}”" for word in row.use)
            yield flaw("glossary/translated", "", term=term, own=own)
        if row.term and not named:
            continue
        for word in row.never:
            if match := _make_word_pattern(word, lang_code, "any case").search(target):
                instead = f"It says “{cut(row.use[0], 40)}”." if row.use else "Take it out."
                short = cut(match[0], 40)
                yield flaw("glossary/never", "", match.start(), part=short, instead=instead)


_Match = Literal["exact", "any case", "any form"]


def _make_word_pattern(word: str, lang_code: str, match: _Match = "exact") -> re.Pattern[str]:
    """Return the pattern of a word, which is a whole one in a script with spaces.

    Args:
        word: The word.
        lang_code: Its language.
        match: Whether capitals may differ, and whether the English plural counts, too.
    """
    ignore = 0 if match == "exact" else re.IGNORECASE
    if not language.has_spaces(lang_code):
        return re.compile(re.escape(word), ignore)
    plural = "(?:e?s)?" if match == "any form" and language.base(lang_code) == "en" else ""
    return re.compile(rf"(?<!\w){re.escape(word)}{plural}(?!\w)", ignore)


def _make_address_pattern(words: str) -> re.Pattern[str]:
    proper = "|".join(word.replace("*", r"\w*") for word in words.split() if word[0].isupper())
    others = "|".join(word.replace("*", r"\w*") for word in words.split() if word[0].islower())
    inside = rf"(?:(?<=[^\W\d_] )|(?<=, ))(?:{proper})\b" if proper else ""
    return re.compile("|".join(filter(None, (inside, others and rf"(?i:\b(?:{others})\b)"))))


#: What addresses people formally, and informally, by language.
_ADDRESSES = {
    code: (_make_address_pattern(formal), _make_address_pattern(other))
    for code, (formal, other) in language.DATA["address"].items()
}


def _check_address(address: str, target: str, lang_code: str) -> Iterator[Flaw]:
    patterns = language.choose(_ADDRESSES, lang_code) if address else None
    if patterns and (match := patterns[address == "formal"].search(remove_slots(target))):
        how = "informally" if address == "formal" else "formally"
        yield flaw("formality", "", part=match[0], how=how, address=address, lang=lang_code)


# --- from what is given -------------------------------------------------------------------


def _read_rows(source: Any) -> Iterator[_GlossaryRow]:
    if isinstance(source, Glossary):
        yield from source._rows
        return
    name, table = _read_table(source)
    if unknown := [key for key in dict.fromkeys(k for _, row in table for k in row)
                   if key not in COLUMNS]:  # fmt: skip
        names = ", ".join(visible(str(key))[:40] for key in unknown)
        raise InputError(
            f"{name} has columns that a glossary does not know: {names}. Name them "
            f"{', '.join(COLUMNS)}; leave out what you do not need."
        )
    for number, row in table:
        cells = {key: _read_cell(row.get(key)) for key in COLUMNS}
        if any(cells.values()):
            use, never = (
                tuple(filter(None, map(str.strip, cells[key].split("|"))))
                for key in ("use", "never")
            )
            keep = cells["keep"].casefold()
            if keep not in (*_YES, *_NO):
                reason = f"keep is yes or empty, not {values(cells['keep'])}"
                raise InputError(f"Row {number} of the glossary: {reason}.")
            address = cells["address"].casefold()
            yield _GlossaryRow(
                *(number, cells["term"], cells["language"], use, never, keep in _YES, address)
            )


def _read_table(source: Any) -> tuple[str, list[tuple[int, Mapping[str, Any]]]]:
    """Return the name of a glossary for messages, and its rows with their numbers."""
    if isinstance(source, str | os.PathLike):
        return _read_file(source)
    if hasattr(source, "to_dict") and hasattr(source, "columns"):
        rows = source.to_dict("records")
    elif isinstance(source, Iterable) and not isinstance(source, bytes | Mapping):
        rows = list(source)
        if not all(isinstance(row, Mapping) for row in rows):
            raise InputError("The rows of a glossary are dicts with the names of its columns.")
    else:
        raise InputError(
            "A glossary is a .csv or .xlsx file, a DataFrame or rows, not a "
            f"{type(source).__name__}."
        )
    return "The glossary", list(enumerate(rows, 1))


def _read_file(path: str | os.PathLike[str]) -> tuple[str, list[tuple[int, Mapping[str, Any]]]]:
    from chatkit.imports import read_table
    from chatkit.imports.tables import format_rows, read_source

    name, content = read_source(path)
    try:
        table = read_table(content, _count_known_columns)
    except InputError as error:
        raise InputError(f"{visible(name)}: {error}") from None
    if table.broken:
        rows = format_rows([row.number for row in table.broken])
        raise InputError(f"{visible(name)}: {rows}: {table.broken[0].reason}.")
    if not table.rows:
        raise InputError(f"{visible(name)} is empty: its first row names the columns.")
    names = [_read_cell(cell).casefold() for cell in table.rows[0].cells]
    return visible(name), [
        (row.number, {key: cell for key, cell in zip(names, row.cells, strict=False) if key})
        for row in table.rows[1:]
    ]


def _count_known_columns(row: Sequence[str]) -> int:
    return sum(cell.strip().casefold() in COLUMNS for cell in row)


def _read_cell(value: Any) -> str:
    text = getattr(value, "text", value)  # a cell that holds nothing usable, as it is seen
    return "" if text is None or text != text else str(text).strip()


def _find_problems(rows: Iterable[_GlossaryRow]) -> Iterator[Problem]:
    seen: dict[tuple[str, str], int] = {}
    for row in rows:
        where, base = f"row {row.number}", language.base(row.language)
        if row.language and not language.is_tag(row.language):
            yield Problem(where, values(row.language), "must be a language like de or pt_BR")
        if not row.term and (row.use or row.keep):
            yield Problem(where, "''", "must have a term: what is translated so, or kept")
        elif row.keep and row.use:
            yield Problem(where, values(row.term), "is kept and translated: choose one")
        elif not (row.use or row.never or row.keep or row.address):
            yield Problem(where, values(row.term), "has no rule: fill use, never, keep or address")
        if row.address not in ("", "formal", "informal"):
            yield Problem(where, values(row.address), "must be formal or informal")
        elif row.address and (row.term or base not in _ADDRESSES):
            known = ", ".join(code for code in _ADDRESSES if "_" not in code)
            reason = f"is for a language as a whole, one of {known}"
            yield Problem(where, values(row.address), reason)
        place = row.term.casefold(), language.normalize(row.language)
        if row.term and (first := seen.setdefault(place, row.number)) != row.number:
            yield Problem(where, values(row.term), f"is there already, in row {first}")
