"""Headings: the meaning of the words that name the columns of a table.

The words of `headings.toml`, in many languages, have roles: mobile, work, fax, first, country and
so on. A heading means what its words mean together: Emergency contact mobile is a mobile, but of
another person, and Mobile app version no number at all.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from chatkit.imports.tables import TableRow, as_text, list_rows

_KINDS = ("whatsapp", "mobile", "phone")  #: of numbers, the best first
_LEAST_KIND = len(_KINDS)  #: the kind of a column that is called just `Number`
#: What else may stand in the heading of a column of numbers, or of names.
_NEUTRAL = {"contact", "filler", "value", "person", "address"}
_PHONE_ROLES = {*_KINDS, *_NEUTRAL, "number", "landline", "home", "work", "secondary", "company"}
_NAME_PARTS = {"name", "first", "middle", "last"}
_ALONE = {"first_alone": "first", "middle_alone": "middle", "last_alone": "last"}
_NAME_ROLES = {*_NAME_PARTS, *_ALONE, *_NEUTRAL}
OTHERS = {"person", "company"}  #: roles of what belongs to somebody else
_OWNERS = OTHERS | {"address"}
#: A text that is more likely a telephone number than a heading.
_LIKE_A_NUMBER = re.compile(r"\s*'?[+(]?\d[\d\s()./-]{5,}")
_BOUNDARY = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"
)
_PLAIN_LETTERS = str.maketrans("ıđøł", "idol")  #: letters whose marks are part of them
_MAX_TITLE_ROWS = 20  #: The heading row stands within so many rows, below titles.


class Heading(NamedTuple):
    """The meaning of a heading."""

    roles: frozenset[str]  #: tables of `headings.toml` that its words are in
    extra: frozenset[str] = frozenset()  #: words that are unknown, or that say whose it is
    unknown: bool = False  #: whether some word is in no table
    contact: frozenset[str] = frozenset()  #: words for the contact, like buyer and attendee

    def number_rank(self) -> tuple[int, ...] | None:
        """Return the rank of a column of telephone numbers, the best lowest; None for others."""
        if self.roles == {"number"} and not self.extra:
            return _LEAST_KIND, 0, 0
        kinds = [rank for rank, role in enumerate(_KINDS) if role in self.roles]
        landline = "landline" in self.roles
        if not (kinds or landline) or not self.roles <= _PHONE_ROLES:
            return None
        places = "company" in self.roles, "work" in self.roles, "home" in self.roles or landline
        place = next((3 - n for n, applies in enumerate(places) if applies), 0)
        return min(kinds, default=2), place, int("secondary" in self.roles)

    def is_phone(self) -> bool:
        """Check if the heading is one of telephone numbers, and not only Number."""
        return (self.number_rank() or (_LEAST_KIND,)) < (_LEAST_KIND,)

    def label_rank(self) -> tuple[int, ...] | None:
        """Return the rank of a number with this label; None if it takes no messages."""
        if self.roles & {"person", "unreachable"}:
            return None
        return Heading(self.roles & _PHONE_ROLES | {"phone"}).number_rank()

    def name_part(self) -> str | None:
        """Return the part of a name: "name" (the whole), "first", "middle" or "last"; or None."""
        parts = {_ALONE.get(role, role) for role in self.roles & (_NAME_PARTS | {*_ALONE})}
        alone = not self.roles & _NAME_PARTS
        if not parts or self.unknown or not self.roles <= _NAME_ROLES or (alone and self.extra):
            return None
        if len(parts) > 1 and self.roles & {*_ALONE}:
            parts.discard("name")  # Name (first)
        return parts.pop() if len(parts) == 1 else "name"

    def is_code(self) -> bool:
        """Check if the heading is one of country codes."""
        others = _PHONE_ROLES | {"code", "country"}
        return "code" in self.roles and self.roles <= others and not self.unknown

    def is_country(self) -> bool:
        """Check if the heading is one of names of countries."""
        others = {*_KINDS, "home", "work", "filler", "address", "country"}
        return "country" in self.roles and self.roles <= others and not self.unknown

    def is_label(self) -> bool:
        """Check if the heading is one of the kinds of numbers, like `Phone 1 - Type`."""
        return "label" in self.roles and not self.roles.isdisjoint(_KINDS)

    def is_known(self) -> bool:
        """Check if the heading is one of a contact's number, country code or name."""
        return bool(self.number_rank() or self.name_part() or self.is_code())

    def combine_with(self, upper: Heading) -> Heading:
        """Return the meaning of this heading below another one."""
        clear = self.is_known() and self.roles != {"number"}
        kept = _OWNERS | {"unreachable"} if clear else upper.roles
        extra = upper.extra if upper.roles & _OWNERS else frozenset[str]()
        roles = self.roles | (upper.roles & kept)
        return Heading(roles, self.extra | extra, self.unknown, self.contact | upper.contact)


def heading_words(text: str) -> list[str]:
    """Split a heading into words of small letters without accents: PhoneNo_1 is phone, no, 1."""
    apart = _BOUNDARY.sub(" ", text)
    plain = unicodedata.normalize("NFKD", apart.casefold().translate(_PLAIN_LETTERS))
    kinds = ((c, unicodedata.category(c)) for c in plain)
    return "".join(c if kind[0] in "LNM" else " " for c, kind in kinds if kind != "Mn").split()


def heading_phrases() -> Iterator[tuple[str, str]]:
    """Yield the phrases of `headings.toml`, without blanks, with their roles."""
    tables = tomllib.loads(Path(__file__).with_name("headings.toml").read_text("utf-8"))
    for role, languages in tables.items():
        for phrase in ",".join(languages.values()).split(","):
            yield "".join(heading_words(phrase)), role


@cache
def _roles() -> dict[str, str]:
    return dict(heading_phrases())


#: Characters of a compound at most: no word of a heading is longer, in any language.
_COMPOUND = 60


@lru_cache(4096)
def parse_heading(text: str) -> Heading:
    """Find the known phrases in a heading, the longest first."""
    words, phrases, start = heading_words(text), dict[str, set[str]](), 0
    while start < len(words):
        sizes = range(min(5, len(words) - start), 0, -1)
        known = (size for size in sizes if "".join(words[start : start + size]) in _roles())
        end = start + next(known, 1)
        phrase, start = "".join(words[start:end]), end
        phrases[phrase] = _compound_roles(phrase)
    return Heading(
        frozenset[str]().union(*phrases.values()),
        frozenset(phrase for phrase, roles in phrases.items() if not roles or roles & _OWNERS),
        not all(phrases.values()),
        frozenset(phrase for phrase, roles in phrases.items() if "contact" in roles),
    )


def _compound_roles(text: str) -> set[str]:
    """Return the roles of a word, or of the parts of a compound like handynummer."""
    if text in _roles():
        return {_roles()[text]}
    if text.isdigit():
        return {"filler" if int(text) < 2 else "secondary"} if len(text) < 3 else set()
    if len(text) > _COMPOUND:
        return set()
    for end in range(len(text) - 1, 0, -1):
        role, rest = _roles().get(text[:end]), text[end:]
        short = text.isascii() and (end < 3 or (len(rest) < 3 and _roles().get(rest) != "number"))
        if role and not short and (others := _compound_roles(rest)):
            return {role} | others
    return set()


def label_stem(name: str) -> tuple[str, ...]:
    """Return the words that headings of a number and of its label have in common: phone, 1."""
    words = heading_words(name)
    return tuple(word for word in words if _roles().get(word) not in {"label", "value", "number"})


def count_column_names(names: Iterable[Any]) -> int:
    """Count the texts that are known headings; among data there are few."""
    texts = (name for name in names if isinstance(name, str) and len(name) < 60)
    return sum(parse_heading(text).is_known() for text in texts)


def find_heading_row(rows: Sequence[TableRow], names: Sequence[str]) -> int:
    """Return the position of the heading row: the first one below titles.

    Args:
        rows: The rows from the top.
        names: Headings that the person has named.
    """
    likely = 0
    for place, row in enumerate(rows[:_MAX_TITLE_ROWS]):
        if names and set(names) <= set(row.cells):
            return place
        if looks_like_data(row):
            break
        known = count_column_names(row.cells)
        if sum(map(bool, row.cells)) > 1 and known:
            likely = place
            break
        if known and not count_column_names(rows[likely].cells):
            likely = place
    above = [cell for cell in rows[likely - 1].cells if cell] if likely and not names else []
    groups = len(above) > 1 and not any(parse_heading(as_text(c) or "").unknown for c in above)
    return likely - groups  # Customer | | Billing |


def looks_like_data(row: TableRow) -> bool:
    """Check if a row has a telephone number, or a cell that is no text."""
    return any(
        _LIKE_A_NUMBER.fullmatch(cell) if isinstance(cell, str) else cell is not None
        for cell in row.cells
    )


def join_headings(upper: Sequence[Any], lower: Sequence[Any]) -> list[tuple[str | None, Heading]]:
    """Join two heading rows; merged cells of the upper one stand over several columns.

    Returns:
        For each column its name, that of the lower row if there is one, and its meaning.
    """
    pairs = list(zip_longest(map(as_text, upper), map(as_text, lower)))
    joined, over = [], None
    for own, low in pairs:
        over = own or over
        name, meaning = low or own, parse_heading(low or own or "")
        if low and over:
            name = f"{over} {low}" if lower.count(low) > 1 else low
            meaning = meaning.combine_with(parse_heading(over))
        joined.append((name, meaning))
    return joined


def read_headings(
    rows: list[TableRow], top: int, notes: list[str], *, titled: bool
) -> tuple[list[tuple[str | None, Heading]], list[TableRow]]:
    """Return the name and the meaning of each column, and the rows below them."""
    first, below = rows[top], rows[top + 1 :]
    headings = [(as_text(cell), parse_heading(as_text(cell) or "")) for cell in first.cells]
    if top:
        above = list_rows([row.number for row in rows[:top]])
        notes.append(f"{above} above the names of the columns: left out")
    while headings[-1][0] is None and all(
        row.cells[len(headings) - 1 :][:1] in ([], [None]) for row in below
    ):
        headings.pop()
    if titled and below and not looks_like_data(below[0]):
        second = below[0]
        texts = [cell for cell in second.cells if cell]
        unknown = sum(not _is_heading_text(text) for text in texts)
        joined = join_headings(first.cells, second.cells)
        known, before = (sum(h.is_known() for _, h in each) for each in (joined, headings))
        more = known > before
        if len(texts) > 1 and (unknown * 2 < len(texts) if more else not unknown):
            action = f"read as one heading with row {first.number}" if more else "left out"
            notes.append(f"row {second.number} is not a contact, by its words: {action}")
            return (joined if more else headings), below[1:]
    return headings, below


def _is_heading_text(text: str) -> bool:
    """Check if a text consists of known words of headings, or is in brackets."""
    letters = sum(map(str.isalpha, text))
    return text[0] in "([<" or (
        (letters > 2 or not text.isascii()) and not parse_heading(text).unknown
    )
