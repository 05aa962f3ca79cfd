"""Columns: makes a frame of the rows of a table, and finds its columns of contacts.

The columns of the number, the country code and the name are chosen by what all headings mean, and
by what the cells below them hold. A row of which a cell cannot be read is left out, and the reason
is kept.

The words of `headings.toml`, in many languages, have roles: mobile, work, fax, first, country and
so on. A heading means what its words mean together: Emergency contact mobile is a mobile, but of
another person, and Mobile app version no number at all.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property, lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

from chatkit.errors import InputError, Problem, format_problem
from chatkit.imports import tables
from chatkit.imports.tables import RawTable, Reader, TableRow, format_rows, quote_name, stringify
from chatkit.numbers import DATE, GROUP
from chatkit.util.display import many, shorten

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

    def rank_number(self) -> tuple[int, ...] | None:
        """Return the rank as a column of telephone numbers, lowest first; None if it is none."""
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
        """Check if the heading names telephone numbers, and not only Number."""
        return (self.rank_number() or (_LEAST_KIND,)) < (_LEAST_KIND,)

    def rank_label(self) -> tuple[int, ...] | None:
        """Return the rank of a number under this label; None if it takes no messages."""
        if self.roles & {"person", "unreachable"}:
            return None
        return Heading(self.roles & _PHONE_ROLES | {"phone"}).rank_number()

    def find_name_part(self) -> str | None:
        """Return the part of a name it names: "name" (all), "first", "middle", "last"; or None."""
        parts = {_ALONE.get(role, role) for role in self.roles & (_NAME_PARTS | {*_ALONE})}
        alone = not self.roles & _NAME_PARTS
        if not parts or self.unknown or not self.roles <= _NAME_ROLES or (alone and self.extra):
            return None
        if len(parts) > 1 and self.roles & {*_ALONE}:
            parts.discard("name")  # Name (first)
        return parts.pop() if len(parts) == 1 else "name"

    def is_code(self) -> bool:
        """Check if the heading names country codes."""
        others = _PHONE_ROLES | {"code", "country"}
        return "code" in self.roles and self.roles <= others and not self.unknown

    def is_country(self) -> bool:
        """Check if the heading names countries."""
        others = {*_KINDS, "home", "work", "filler", "address", "country"}
        return "country" in self.roles and self.roles <= others and not self.unknown

    def is_label(self) -> bool:
        """Check if the heading names kinds of numbers, like `Phone 1 - Type`."""
        return "label" in self.roles and not self.roles.isdisjoint(_KINDS)

    def is_known(self) -> bool:
        """Check if the heading names a contact's number, country code or name."""
        return bool(self.rank_number() or self.find_name_part() or self.is_code())

    def combine_with(self, upper: Heading) -> Heading:
        """Return the meaning of this heading below an upper one."""
        clear = self.is_known() and self.roles != {"number"}
        kept = _OWNERS | {"unreachable"} if clear else upper.roles
        extra = upper.extra if upper.roles & _OWNERS else frozenset[str]()
        roles = self.roles | (upper.roles & kept)
        return Heading(roles, self.extra | extra, self.unknown, self.contact | upper.contact)


def split_heading(text: str) -> list[str]:
    """Split a heading into lower-case words without accents: PhoneNo_1 is phone, no, 1."""
    apart = _BOUNDARY.sub(" ", text)
    plain = unicodedata.normalize("NFKD", apart.casefold().translate(_PLAIN_LETTERS))
    kinds = ((c, unicodedata.category(c)) for c in plain)
    return "".join(c if kind[0] in "LNM" else " " for c, kind in kinds if kind != "Mn").split()


def read_heading_phrases() -> Iterator[tuple[str, str]]:
    """Yield each phrase in `headings.toml`, without blanks, with its role."""
    tables = tomllib.loads(Path(__file__).with_name("headings.toml").read_text("utf-8"))
    for role, languages in tables.items():
        for phrase in ",".join(languages.values()).split(","):
            yield "".join(split_heading(phrase)), role


@cache
def _load_roles() -> dict[str, str]:
    """Return the role of each known phrase."""
    return dict(read_heading_phrases())


#: Characters of a compound at most: no word of a heading is longer, in any language.
_COMPOUND = 60


@lru_cache(4096)
def parse_heading(text: str) -> Heading:
    """Parse a heading by its known phrases, the longest first."""
    words, phrases, start = split_heading(text), dict[str, set[str]](), 0
    while start < len(words):
        sizes = range(min(5, len(words) - start), 0, -1)
        known = (size for size in sizes if "".join(words[start : start + size]) in _load_roles())
        end = start + next(known, 1)
        phrase, start = "".join(words[start:end]), end
        phrases[phrase] = _find_compound_roles(phrase)
    return Heading(
        frozenset[str]().union(*phrases.values()),
        frozenset(phrase for phrase, roles in phrases.items() if not roles or roles & _OWNERS),
        not all(phrases.values()),
        frozenset(phrase for phrase, roles in phrases.items() if "contact" in roles),
    )


def _find_compound_roles(text: str) -> set[str]:
    """Return the roles of a word, or of the parts of a compound like handynummer."""
    if text in _load_roles():
        return {_load_roles()[text]}
    if text.isdigit():
        return {"filler" if int(text) < 2 else "secondary"} if len(text) < 3 else set()
    if len(text) > _COMPOUND:
        return set()
    for end in range(len(text) - 1, 0, -1):
        role, remaining = _load_roles().get(text[:end]), text[end:]
        abbreviated = len(remaining) < 3 and _load_roles().get(remaining) != "number"
        short = text.isascii() and (end < 3 or abbreviated)
        if role and not short and (remaining_roles := _find_compound_roles(remaining)):
            return {role} | remaining_roles
    return set()


def find_label_stem(name: str) -> tuple[str, ...]:
    """Return the words that a number's heading shares with its label's heading: phone, 1."""
    words = split_heading(name)
    return tuple(w for w in words if _load_roles().get(w) not in {"label", "value", "number"})


def count_known_headings(names: Iterable[Any]) -> int:
    """Count the texts that are known headings; few texts of data are."""
    texts = (name for name in names if isinstance(name, str) and len(name) < 60)
    return sum(parse_heading(text).is_known() for text in texts)


def find_heading_row(rows: Sequence[TableRow], names: Sequence[str]) -> int:
    """Return the position of the heading row: the first one below titles.

    Args:
        rows: The rows from the top.
        names: Headings that the person has named.
    """
    likely = 0
    for position, row in enumerate(rows[:_MAX_TITLE_ROWS]):
        if names and set(names) <= set(row.cells):
            return position
        if is_data_row(row):
            break
        known = count_known_headings(row.cells)
        if sum(map(bool, row.cells)) > 1 and known:
            likely = position
            break
        if known and not count_known_headings(rows[likely].cells):
            likely = position
    above = [cell for cell in rows[likely - 1].cells if cell] if likely and not names else []
    groups = len(above) > 1 and not any(parse_heading(stringify(c) or "").unknown for c in above)
    return likely - groups  # Customer | | Billing |


def is_data_row(row: TableRow) -> bool:
    """Check if a row has a telephone number, or a cell that is not text."""
    return any(
        _LIKE_A_NUMBER.fullmatch(cell) if isinstance(cell, str) else cell is not None
        for cell in row.cells
    )


def join_headings(upper: Sequence[Any], lower: Sequence[Any]) -> list[tuple[str | None, Heading]]:
    """Join two heading rows; a merged cell of the upper row covers several columns.

    Returns:
        For each column its name, that of the lower row if there is one, and its meaning.
    """
    pairs = list(zip_longest(map(stringify, upper), map(stringify, lower)))
    joined, covering = [], None
    for upper_text, lower_text in pairs:
        covering = upper_text or covering
        name, meaning = lower_text or upper_text, parse_heading(lower_text or upper_text or "")
        if lower_text and covering:
            name = f"{covering} {lower_text}" if lower.count(lower_text) > 1 else lower_text
            meaning = meaning.combine_with(parse_heading(covering))
        joined.append((name, meaning))
    return joined


def read_headings(
    rows: list[TableRow], top: int, notes: list[str], *, titled: bool
) -> tuple[list[tuple[str | None, Heading]], list[TableRow]]:
    """Return the name and the meaning of each column, and the rows below the headings."""
    first, below = rows[top], rows[top + 1 :]
    headings = [(stringify(cell), parse_heading(stringify(cell) or "")) for cell in first.cells]
    if top:
        above = format_rows([row.number for row in rows[:top]])
        notes.append(f"{above} above the names of the columns: left out")
    while headings[-1][0] is None and all(
        row.cells[len(headings) - 1 :][:1] in ([], [None]) for row in below
    ):
        headings.pop()
    if titled and below and not is_data_row(below[0]):
        second = below[0]
        texts = [cell for cell in second.cells if cell]
        unknown = sum(not _is_heading_text(text) for text in texts)
        joined = join_headings(first.cells, second.cells)
        known, before = (sum(h.is_known() for _, h in each) for each in (joined, headings))
        more = known > before
        if len(texts) > 1 and (unknown * 2 < len(texts) if more else not unknown):
            action = f"read as one heading with row {first.number}" if more else "left out"
            notes.append(f"row {second.number} is not a contact, by its words: {action}")
            headings, below = (joined if more else headings), below[1:]
    is_named = any(heading.is_known() for _, heading in headings)
    if is_named and (again := [row.number for row in below if row.cells == first.cells]):
        notes.append(f"{format_rows(again)} with the names of the columns again: left out")
        below = [row for row in below if row.cells != first.cells]
    return headings, below


def _is_heading_text(text: str) -> bool:
    """Check if a text consists of known words of headings, or is in brackets."""
    letters = sum(map(str.isalpha, text))
    return text[0] in "([<" or (
        (letters > 2 or not text.isascii()) and not parse_heading(text).unknown
    )


# --- columns ------------------------------------------------------------------------------

#: Also amounts in any currency, with words beside them; a longer one has lost its digits.
_DATE_OR_AMOUNT = re.compile(
    rf"\s*(?:{DATE}|0+([-./])0+(?:\1)0+)(?:[ T].*)?"
    rf"|[^\d+]*(?:\d{{1,3}}{GROUP}{{1,2}}|\d{{1,7}})[.,]\d{{1,2}}\D*"
)
_LETTER = re.compile(r"[^\W\d_]")
_PLUS_CODE = re.compile(r".*\+\s?(?:1[ -]?)?\d{1,3}\)?")
_CODE = re.compile(rf"\(?(?:00)?[1-9]\d{{0,3}}(?:\.0)?\)?|{_PLUS_CODE.pattern}")
_SAMPLE_ROWS = 200  #: So many rows show what a column holds.
_MAX_LISTED = 12  #: columns that a message names


@dataclass(eq=False)
class FileColumn:
    """A column of the table that has a heading or any cell."""

    place: int
    name: str  #: as written; the later of those called alike with its letter
    heading: Heading
    cells: list[Any]
    alike: str = ""  #: the names of all that are called alike

    @cached_property
    def sample(self) -> list[str]:
        """The texts of the first cells that are not empty."""
        return [*filter(None, map(_read_cell_text, self.cells[:_SAMPLE_ROWS]))]

    def measure_share(self, fits: Callable[[str], Any]) -> float:
        """Return the share of the sample that matches."""
        return sum(map(bool, map(fits, self.sample))) / max(len(self.sample), 1)

    def is_mostly_other(self, fits: Callable[[str], Any]) -> bool:
        """Check if the sample has any text, and most of it does not match."""
        return bool(self.sample) and self.measure_share(fits) < 0.5


def _read_cell_text(cell: Any) -> str:
    """Return a cell as text without blanks around it; empty for an empty cell."""
    return (tables.read_any_cell(cell)[0] or "").strip()


#: More problems than this are only counted in a message.
_MAX_PROBLEMS = 20


@dataclass
class FileReading:
    """Result of reading a file: the rows as a frame, and the problems of those left out."""

    kind: str  #: the kind of file, in words
    notes: list[str]
    source: str = ""  #: the name of the file
    #: What cannot be read, with row and place, to sort it.
    broken: list[tuple[int, int, Problem]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)  #: the numbers of the rows that are read
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)
    #: For each column of the frame those of the file that it was made of.
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def refuse(self, row: int, place: int, column: str, value: Any, reason: str) -> None:
        """Leave out a row, and keep the problem of its cell."""
        where = f"row {row}, {quote_name(column)}" if column else f"row {row}"
        text = tables.read_any_cell(value)[0] or ""
        self.broken.append((row, place, Problem(where, shorten(repr(text)), reason)))

    @property
    def problems(self) -> list[Problem]:
        """The cells and rows that cannot be read, from the top of the file."""
        return [each for _, _, each in sorted(self.broken, key=lambda broken: broken[:2])]

    @property
    def left_out(self) -> set[int]:
        """The numbers of the rows that are left out."""
        return {row for row, _, _ in self.broken}

    def report(self, *, skipped: bool = False) -> str:
        """Return a summary: the columns that were chosen, the notes and the rows left out.

        Args:
            skipped: List the rows that are left out, too.
        """
        sources = {
            name: (" or " if name == "number" else " + ").join(map(quote_name, columns))
            for name, columns in self.columns.items()
            if name in FIELDS
        }
        width = max(map(len, sources.values()), default=0)
        lines = [f"{self.source}: {many(len(self.frame), 'row')} ({self.kind})"]
        lines += [f"  {columns:<{width}} → {name}" for name, columns in sources.items()]
        if others := [quote_name(name) for name in self.columns if name not in sources]:
            lines.append(f"  kept as they are: {', '.join(others)}")
        lines += [f"  note: {note}" for note in self.notes]
        if skipped and self.broken:
            lines.append(f"  left out: {many(len(self.left_out), 'row')}")
            lines += [f"  {format_problem(each)}" for each in self.problems[:_MAX_PROBLEMS]]
            if (hidden := len(self.broken) - _MAX_PROBLEMS) > 0:
                lines.append(f"    and {hidden:,} more")
        return "\n".join(lines)

    def build_error(self) -> InputError:
        """Build the error that lists the cells that cannot be read."""
        count = len(self.left_out)
        total = many(len(self.frame) + count, "row")
        them = "it" if count == 1 else "them"
        first = f" The first {_MAX_PROBLEMS}:" if len(self.broken) > _MAX_PROBLEMS else ""
        error = InputError(
            f"{self.source}: {count:,} of {total} cannot be read. Correct {them}, "
            f"or pass skip_invalid=True to read the others; error.frame() lists {them}.{first}",
            self.problems[:_MAX_PROBLEMS],
        )
        error.next_step = "correct the cell, or pass skip_invalid=True to leave the row out"
        error.problems = tuple(self.problems)  # who asks gets them all
        return error


def drop_uneven_rows(rows: list[TableRow], width: int, reading: FileReading) -> list[TableRow]:
    """Return the rows that have a cell for each column, and refuse the others."""
    extra = [row for row in rows if any(c is not None for c in row.cells[width:])]
    if len(extra) == len(rows) > 1:
        raise InputError(
            f"All rows have more cells than the {width} columns that have a name, so it "
            "cannot be told which is which. Give each column a name, also the first."
        )
    even = []
    for number, cells in rows:
        beyond = next((n for n in range(width, len(cells)) if cells[n] is not None), None)
        if beyond is not None:
            reason = f"is beyond the {width} columns that have a name, so some may be shifted"
            reading.refuse(
                number, beyond, f"column {tables.name_column(beyond)}", cells[beyond], reason
            )
        elif len(cells) < width:
            reason = f"has {len(cells)} of {width} cells, so some may be shifted"
            reading.refuse(number, 0, "", ", ".join(stringify(c) or "" for c in cells), reason)
        else:
            even.append(TableRow(number, cells))
    return even


def make_columns(
    headings: Sequence[tuple[str | None, Heading]], rows: Sequence[TableRow], reading: FileReading
) -> list[FileColumn]:
    """Make the columns of a table, each with a unique name."""
    columns = []
    reading.rows = [row.number for row in rows]
    places = defaultdict[str, list[FileColumn]](list)
    for place, (name, heading) in enumerate(headings):
        cells = [row.cells[place] for row in rows]
        if name is not None:
            columns.append(FileColumn(place, name, heading, cells))
            places[name].append(columns[-1])
        elif any(cell is not None for cell in cells):
            columns.append(FileColumn(place, f"column {tables.name_column(place)}", heading, cells))
            reading.notes.append(f"{columns[-1].name} has no name")
    for name, alike in places.items():
        for column in alike[1:]:
            column.name = f"{name} (column {tables.name_column(column.place)})"
        if len(alike) > 1:
            names = " and ".join(repr(column.name) for column in alike)
            reading.notes.append(f"{len(alike)} columns are called {name!r}: they are {names} here")
            for column in alike:
                column.alike = names
    return columns


#: The columns of each field, the best first.
Chosen: TypeAlias = dict[str, list[FileColumn]]


def choose_phone_columns(columns: Sequence[FileColumn], chosen: Chosen) -> list[FileColumn]:
    """Choose the column of telephone numbers, and others to read where it is empty.

    The heading decides, then the content, then the place. A column that is of somebody else, or
    that holds something else, is not chosen.
    """
    ours = {column.name: column for column in columns}
    if {"number", "country_code"} <= {*ours}:  # a frame of contacts, written to a file
        return [ours["number"]]
    ranked = []
    for place, column in enumerate(columns):
        heading = column.heading
        if "code" in heading.roles and column.measure_share(is_like_a_number) >= 0.5:
            words = heading.extra | {"code"}  # Phone (country code + number)
            roles = heading.roles - {"code"} | {"phone"}
            column.heading = heading._replace(roles=roles, extra=words)
        if rank := column.heading.rank_number():
            other = not column.heading.roles.isdisjoint(OTHERS)
            weak = column.measure_share(is_like_a_number) < 0.5
            ranked.append(((other, weak, len(column.heading.extra), *rank, place), column))
    if not ranked:
        return []
    (is_other, is_weak, extra, *_), best = min(ranked)
    of_names = {column.heading.extra for column in columns if column.heading.find_name_part()}
    stranger = is_other and (best.heading.extra not in of_names or frozenset() in of_names)
    doubtful = extra or (not best.heading.is_phone() and best.name != "number")
    if stranger or (is_weak and best.cells and doubtful):
        return []
    others = [
        column
        for (_, unfit, *_), column in sorted(ranked)[1:]
        if not unfit and column.heading.is_phone() and column.heading[1:] == best.heading[1:]
    ]
    return [best, *others]


def is_like_a_number(text: str) -> bool:
    """Check if a text could be a telephone number, and not a date, an amount or a word."""
    digits, letters = sum(map(str.isdigit, text)), sum(map(str.isalpha, text))
    lost = re.fullmatch(r"\d[.,\d]*[eE]\+?\d+", text)  # 4.9E+11
    return bool(lost) or (digits > max(4, letters) and not _DATE_OR_AMOUNT.fullmatch(text))


def pick_phone_columns(
    columns: Sequence[FileColumn], numbers: Sequence[FileColumn], reading: FileReading
) -> tuple[list[FileColumn | None], bool]:
    """Pick the column of the best number of each row; return whether labels decide.

    A label like Mobile in `Phone 1 - Type` ranks the number beside it. Without labels, the first
    number that is not empty is the best.
    """
    labels = {find_label_stem(c.name): c.cells for c in columns if c.heading.is_label()}
    labels_of = [labels.get(find_label_stem(column.name)) for column in numbers]
    if len(numbers) < 2 and not any(labels_of):
        return [*numbers] * len(reading.rows), False
    picks: list[FileColumn | None] = []
    rows_of = defaultdict[FileColumn | None, list[int]](list)
    for n, row in enumerate(reading.rows):
        options = []
        has_number_cell = False
        for position, (column, label_cells) in enumerate(zip(numbers, labels_of, strict=True)):
            if not _read_cell_text(column.cells[n]):
                continue
            has_number_cell, label = True, _read_cell_text(label_cells[n]) if label_cells else ""
            rank = parse_heading(label).rank_label() if label else column.heading.rank_number()
            if rank:
                options.append(
                    (not tables.has_number(_read_cell_text(column.cells[n])), rank, position)
                )
        picks.append(numbers[min(options)[-1]] if options else None)
        if has_number_cell:
            rows_of[picks[-1]].append(row)
    for column in numbers[1:]:
        if row_numbers := rows_of[column]:
            reason = "by its label" if any(labels_of) else f"{numbers[0].name!r} has none there"
            text = f"{column.name!r} is the number in {many(len(row_numbers), 'row')}, {reason}"
            reading.notes.append(f"{text}: {format_rows(row_numbers)}")
    if row_numbers := rows_of[None]:
        reading.notes.append(f"only a fax or the like, so no number: {format_rows(row_numbers)}")
    return picks, any(labels_of)


def choose_code_column(columns: Sequence[FileColumn], chosen: Chosen) -> list[FileColumn]:
    """Choose the column of country codes like +49; it is no column of DE or Germany.

    Where there are several, each may belong to another number, so only the best number is read.
    """
    words = {word for number in chosen["number"][:1] for word in split_heading(number.name)}
    codes = [
        column
        for column in columns
        if (column.heading.is_code() and not column.is_mostly_other(_CODE.fullmatch))
        or (column.heading.is_country() and column.measure_share(_PLUS_CODE.fullmatch) > 0.5)
    ]
    if len(codes) > 1:
        del chosen["number"][1:]
    best = sorted(
        codes, key=lambda c: (c.name != "country_code", -len(words & {*split_heading(c.name)}))
    )
    return best[:1]


def choose_name_columns(columns: Sequence[FileColumn], chosen: Chosen) -> list[FileColumn]:
    """Choose the column of the name, or those of its parts in order, of one person.

    `Name` beside `Vorname` is the last name, if it lacks the first. Beside `Apellidos`, `Nombre`
    is the first name, by the same rule.
    """
    number = chosen["number"][0].heading if chosen["number"] else Heading(frozenset())
    columns = [column for column in columns if column.heading.find_name_part()]
    contacts = {column.heading.contact for column in columns} - {frozenset()}
    if len(contacts) > 1:  # Buyer Name, Attendee Name
        contact = number.contact if number.contact in contacts else frozenset()
        columns = [column for column in columns if column.heading.contact == contact]
    groups = defaultdict[tuple[bool, int, bool, frozenset[str]], list[FileColumn]](list)
    for column in columns:
        heading = column.heading
        if heading.extra == number.extra or "person" not in heading.roles:
            weak = column.is_mostly_other(_LETTER.search)
            other = heading.extra != number.extra
            groups[weak, len(heading.extra), other, heading.extra].append(column)
    if not groups:
        return []
    parts = defaultdict[str | None, list[FileColumn]](list)
    for column in groups[min(groups, key=lambda key: key[:3])]:
        parts[column.heading.find_name_part()].append(column)
    full = sorted(parts["name"], key=lambda column: column.name != "name")[:1]
    first, middle, last = parts["first"][:1], parts["middle"], parts["last"]
    if not full or (first and last) or not (first or last):
        return full or first + middle + last
    repeats = [
        str(part) in str(name)
        for column in first + last
        for name, part in zip(full[0].cells[:_SAMPLE_ROWS], column.cells, strict=False)
        if name and part
    ]
    own = {"name", "first_name", "last_name"} >= {column.name for column in full + first + last}
    if own or sum(repeats) * 2 > len(repeats):
        return full
    return first + middle + full if first else full + middle + last


#: The columns of contacts, and how their cells are read.
FIELDS: Mapping[str, Reader] = {
    "number": tables.read_number_cell,
    "country_code": tables.read_code_cell,
    "name": tables.read_text_cell,
}
#: How the columns of a field are chosen, those of the number first.
_CHOICES: Mapping[str, Callable[[Sequence[FileColumn], Chosen], list[FileColumn]]] = {
    "number": choose_phone_columns,
    "country_code": choose_code_column,
    "name": choose_name_columns,
}
#: What the file calls each of these; None to find out, nothing if it has none.
Named = Mapping[str, Sequence[str] | None]


def read_contact_table(table: RawTable, named_columns: Named) -> FileReading:
    """Find the columns of contacts in a table, and read its rows.

    Raises:
        InputError: It cannot be decided which columns are meant, or none is the number.
    """
    rows = [row for row in table.rows if any(cell is not None for cell in row.cells)]
    if not rows:
        raise InputError(
            "The file is empty: export it again, with its column names in the first row."
        )
    reading = FileReading(table.kind, table.notes)
    for n, text, reason in table.broken:
        reading.broken.append((n, 0, Problem(f"row {n}", shorten(repr(text)), reason)))
    named = {field: names for field, names in named_columns.items() if names is not None}
    asked = [name for names in named.values() for name in names]
    top = find_heading_row(rows, asked) if table.titled else 0
    headings, below = read_headings(rows, top, reading.notes, titled=table.titled)
    columns = make_columns(headings, drop_uneven_rows(below, len(headings), reading), reading)
    names = {column.name for column in columns}
    if table.ours:
        named = {field: [field] * (field in names) for field in FIELDS} | named
    chosen = {field: [find_column(columns, each) for each in of] for field, of in named.items()}
    taken = [column for of in chosen.values() for column in of]
    if len(taken) > len({*taken}):
        raise InputError("A column can be only one of number, country code and name.")
    free = [column for column in columns if column not in taken]
    for name, choose in _CHOICES.items():
        if name not in named:
            chosen[name] = choose(free, chosen)
            if name == "number" and not chosen[name] and "id" not in names:
                raise _make_number_error(rows[top], columns)
            if name != "number" and (alike := [c.alike for c in chosen[name] if c.alike]):
                raise InputError(f"{alike[0]} have the same heading: {name}='…' chooses one.")
    read_cells(columns, chosen, named, reading)
    return reading


def find_column(columns: Sequence[FileColumn], name: str) -> FileColumn:
    """Return the column of this name, ignoring case and surrounding blanks.

    Raises:
        InputError: There is none.
    """
    for normalize in (str, lambda text: text.strip().casefold()):
        if matches := [column for column in columns if normalize(column.name) == normalize(name)]:
            return matches[0]
    close = get_close_matches(name, [column.name for column in columns], 1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    raise InputError(f"No column is called {name!r}{hint} Columns: {_list_columns(columns)}.")


def _list_columns(columns: Sequence[FileColumn]) -> str:
    """Format the names of columns as a text, the first ones of many."""
    more = f" and {len(columns) - _MAX_LISTED} more" if len(columns) > _MAX_LISTED else ""
    return ", ".join(repr(column.name) for column in columns[:_MAX_LISTED]) + more


def _make_number_error(first: TableRow, columns: Sequence[FileColumn]) -> InputError:
    """Make the error for a file without a column of telephone numbers."""
    if is_data_row(first):
        return InputError(
            f"Row {first.number} is a contact already: add a header row above it, like number, "
            "country_code, name."
        )
    possible = [column for column in columns if column.heading.is_phone()]
    reason = f"{_list_columns(possible)} may hold the number of somebody else, or no number."
    if not possible:
        reason = "No column is recognised as the telephone numbers. "
        plain = [column for column in columns if not column.heading.roles]
        possible = [column for column in plain if column.measure_share(is_like_a_number) > 0.5]
        holding = f"{_list_columns(possible)} may hold them." if possible else ""
        reason += holding or f"Columns: {_list_columns(columns)}."
    name = repr(possible[0].name) if possible else "'…'"
    return InputError(
        f"{reason} Name it: read_contacts(path, number={name}), or number='' if there is none."
    )


def read_cells(
    columns: Sequence[FileColumn],
    chosen: Mapping[str, Sequence[FileColumn]],
    named: Collection[str],
    reading: FileReading,
) -> None:
    """Read the cells of all columns into the frame of `reading`; refuse unreadable rows.

    The columns keep the order of the file. The best column of numbers becomes `number`; the
    others stay beside it, and all of them stay where labels decide between them.
    """
    numbers, count = chosen["number"], len(reading.rows)
    picks, labelled = pick_phone_columns([] if "number" in named else columns, numbers, reading)
    used = [column for column in numbers if column in picks] or numbers[:1]
    fields = {**chosen, "number": numbers[:1]}
    starts = {min(of, key=lambda column: column.place): name for name, of in fields.items() if of}
    consumed = [c for name, of in fields.items() if name != "number" or not labelled for c in of]
    texts: dict[str, list[str | None]] = {}
    for column in columns:
        if name := starts.get(column):
            picked = [picks] if name == "number" else [[c] * count for c in fields[name]]
            parts = [_read_texts(each, FIELDS[name], reading) for each in picked]
            rows = zip(*parts, strict=True)
            joined = (" ".join(filter(None, (p and p.strip() for p in row))) for row in rows)
            texts[name] = parts[0] if len(parts) == 1 else [text or None for text in joined]
            sources = used if name == "number" else fields[name]
            reading.columns[name] = tuple(column.name for column in sources)
        if column not in consumed:
            name = column.name
            if name in starts.values():  # it is called so, but another one is it
                name = f"{name} (column {tables.name_column(column.place)})"
            texts[name] = _read_texts([column] * count, tables.read_any_cell, reading)
            reading.columns[name] = (column.name,)
    index = pd.Index(reading.rows, dtype="int64", name=tables.ROW)
    series = {name: pd.Series(cells, index, dtype="str") for name, cells in texts.items()}
    frame = pd.DataFrame(series, index)
    reading.frame = frame[~index.isin(reading.left_out)] if reading.broken else frame
    of_fields: Mapping[str, Sequence[FileColumn | None]]
    of_fields = {"number": picks, "country_code": [*fields["country_code"]] * count}
    for name, of in of_fields.items():
        cells = zip(reading.rows, enumerate(of), strict=False)
        if stored := [row for row, (n, column) in cells if column and type(column.cells[n]) is int]:
            reading.notes.append(
                f"{name} is a number in the file, not text, in {format_rows(stored)}: "
                "a zero or + in front, if there was one, is gone"
            )
    _note_unread_columns(columns, chosen, named, used, reading.notes)


def _read_texts(
    picks: Sequence[FileColumn | None], reader: Reader, reading: FileReading
) -> list[str | None]:
    """Read one cell of each row; refuse the rows in which it cannot be read."""
    texts: list[str | None] = []
    for n, (row, column) in enumerate(zip(reading.rows, picks, strict=True)):
        value = None if column is None else column.cells[n]
        text, reason = reader(value)
        texts.append(text)
        if reason and column:
            reading.refuse(row, column.place, column.name, value, reason)
    return texts


def _note_unread_columns(
    columns: Sequence[FileColumn],
    chosen: Mapping[str, Sequence[FileColumn]],
    named: Collection[str],
    used: Sequence[FileColumn],
    notes: list[str],
) -> None:
    """Note the columns of numbers that are not read, and a missing column of names."""
    names = {column.name for column in columns}
    phones = [column for column in columns if column.heading.is_phone() and column not in used]
    passed = [c for c in columns if c in phones or "unreachable" in c.heading.roles]
    if passed and used and "number" not in named and "number" not in names:
        phones.sort(key=lambda column: not column.heading.roles.isdisjoint(OTHERS))
        another = f"; number={phones[0].name!r} takes that one" if phones else ""
        notes.append(f"not read as the number: {_list_columns(passed)}{another}")
    if not chosen["name"] and "name" not in named and "id" not in names:
        notes.append("no column of names was recognised: name='…' names it")
