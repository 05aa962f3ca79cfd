"""Columns: the rows of a table as a frame, in which the columns of contacts have their names.

The row that names the columns is found below titles, then which of them is the number, the country
code and the name, by what people call these in many languages. The rows below are read by that;
a row of which a cell cannot be read is left out, and it is said why.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import NoneType
from typing import Any, NamedTuple

import pandas as pd

from chatkit.display import shortened
from chatkit.errors import InputError, Problem
from chatkit.tables import (
    ROW,
    RawTable,
    Reader,
    TableRow,
    as_text,
    column_letter,
    keep_cell,
    list_rows,
    quoted_name,
    read_digits,
    read_word,
)


def _words(name: str) -> list[str]:
    """Split the name of a column into small letters without accents: PhoneNo_1 is phone, no, 1."""
    apart = re.sub("(?<=[a-z])(?=[A-Z])", " ", name)
    kinds = ((c, unicodedata.category(c)) for c in unicodedata.normalize("NFKD", apart.casefold()))
    return "".join(c if kind[0] in "LNM" else " " for c, kind in kinds if kind != "Mn").split()


def _all(names: str) -> frozenset[str]:
    return frozenset("".join(_words(name)) for name in names.split())


_WHATSAPP = _all("whatsapp whatsappno whatsappnumber wa")
_MOBILE = _all(
    "mobile mobileno mobilenumber mob mobil móvil cell cellphone cellular cellno handy "
    "handynummer mobilnummer mobiltelefon gsm celular portable portabile cellulare mobiel natel "
    "ponsel komórka komórkowy cep мобильный мобилен сотовый κινητό 手机 手机号 手机号码 手機 "
    "携帯 携帯電話 携帯番号 휴대폰 휴대전화 핸드폰 휴대폰번호 جوال الجوال موبايل محمول נייד "
    "मोबाइल มือถือ เบอร์มือถือ"
)
_PHONE = _all(
    "phone phones phoneno phonenumber ph telephone tel telno telefon telefonnummer teléfono "
    "telefone telefoon telefoonnummer telefonnr rufnummer fon fone telp telepon puhelin "
    "puhelinnumero telefonszám sími thoại τηλέφωνο телефон тел телефона 电话 电话号码 联系电话 "
    "電話 電話番号 電話號碼 전화 전화번호 연락처 هاتف الهاتف טלפון फ़ोन फोन โทรศัพท์ contactno "
    "contactnumber เบอร์โทร เบอร์โทรศัพท์"
)
#: Any number may be called so: only without a column that says more.
_NUMBER = _all("number nummer número numer numéro numara číslo szám номер 号码 番号 번호 رقم")
#: A column with one of these words is about a number, and is none itself.
_ABOUT = _all(
    "fax telefax type typ label id code ext extension verified carrier country area kind status "
    "provider optin consent date time note notes model os brand name last first"
)
_COUNTRY_CODE = _all(
    "countrycode cc dialcode dialingcode diallingcode callingcode countrycallingcode phonecode "
    "countrydialcode isd isdcode phonecountrycode mobilecountrycode internationalcode landcode "
    "landesvorwahl ländervorwahl laendervorwahl ländercode laendercode landeskennzahl "
    "códigopaís códigodepaís códigodelpaís códigodopaís prefijopaís prefijointernacional "
    "indicatif indicatifpays codepays prefissointernazionale codicepaese ddi landnummer "
    "landsnummer landskod landekode maakoodi maatunnus kodkraju kodenegara ülkekodu mãquốcgia "
    "кодстраны 国家代码 国家区号 国番号 국가번호 국가코드 رمزالدولة देशकोड"
)
_NAME = _all(
    "name fullname contactname customername clientname displayname personname nombre "
    "nombrecompleto nombreyapellido nombreyapellidos nom nomcomplet nometprénom nome "
    "nomecompleto naam volledigenaam namn navn nimi nama namalengkap kontaktname "
    "vollständigername imięinazwisko adsoyad họvàtên имя фио 姓名 名前 氏名 お名前 이름 성명 "
    "الاسم اسم שם नाम ชื่อ"
)
_FIRST = _all(
    "firstname givenname forename fname vorname prénom nombres primeironome primernombre "
    "voornaam förnamn fornavn etunimi imię prenume jméno keresztnév ad 名 الاسمالأول שםפרטי"
)
_MIDDLE = _all(
    "middlename additionalname segundonombre deuxièmeprénom zweitername zweitervorname "
    "mellannamn mellomnavn mellemnavn tussenvoegsel отчество"
)
_LAST = _all(
    "lastname surname familyname lname nachname familienname zuname nomdefamille apellido "
    "apellidos primerapellido segundoapellido apellidopaterno apellidomaterno cognome sobrenome "
    "apelido apelidos achternaam efternamn etternavn efternavn sukunimi nazwisko příjmení "
    "vezetéknév soyad soyadı фамилия 姓 성 اسمالعائلة שםמשפחה"
)
_MEANT = _COUNTRY_CODE | _NAME | _FIRST | _MIDDLE | _LAST
#: How well a word tells the number; the first is for a column that has our own name.
_OURS, _RANKS, _LEAST = 0, (_WHATSAPP, _MOBILE, _PHONE), 9
#: Text that is more likely a telephone number than the name of a column.
_LIKE_A_NUMBER = re.compile(r"\s*'?[+(]?\d[\d\s()./-]{5,}")
#: The names of columns stand within so many rows, below titles.
_TITLES = 20


class FoundColumns(NamedTuple):
    """The places of the columns that mean something."""

    number: int | None
    country_code: int | None
    name: tuple[int, ...]  #: joined in this order
    others: tuple[int, ...]  #: could be the number as well


def count_column_names(names: Iterable[Any]) -> int:
    """Count the texts that would be good names of columns. Among data there are few."""
    texts = (_words(name) for name in names if isinstance(name, str) and len(name) < 60)
    return sum(_rank(words) is not None or "".join(words) in _MEANT for words in texts)


def row_of_names(rows: Sequence[TableRow], wanted: Sequence[str]) -> int:
    """Find the row that names the columns: the first, but for titles above it.

    Args:
        rows: The rows from the top.
        wanted: Names that the person says it has.
    """
    likely = 0
    for place, row in enumerate(rows[:_TITLES]):
        if wanted and set(wanted) <= set(row.cells):
            return place
        if looks_like_data(row):
            break
        if sum(map(bool, row.cells)) > 1 and count_column_names(row.cells):
            return place
        if not count_column_names(rows[likely].cells) and count_column_names(row.cells):
            likely = place
    return likely


def looks_like_data(row: TableRow) -> bool:
    """Whether there is a telephone number in a row, or anything that is no text."""
    return any(
        _LIKE_A_NUMBER.fullmatch(cell) if isinstance(cell, str) else cell is not None
        for cell in row.cells
    )


def match_names(names: Sequence[str], rows: Sequence[TableRow]) -> FoundColumns:
    """Find the columns by their names, and by some rows where a name may mean two things."""
    ranks = {place: rank for place, n in enumerate(names) if (rank := _rank(_words(n))) is not None}
    if {"number", "country_code"} <= set(names):  # a frame of contacts, written to a file
        ranks[names.index("number")] = _OURS
    numbers = sorted(ranks, key=lambda place: (ranks[place], place))
    codes = [place for place in _places(names, _COUNTRY_CODE) if _are_codes(rows, place)]
    codes.sort(key=lambda place: names[place] != "country_code")
    return FoundColumns(
        number=numbers[0] if numbers else None,
        country_code=codes[0] if codes else None,
        name=_name(names, rows),
        others=tuple(place for place in numbers[1:] if ranks[place] < _LEAST),
    )


def _rank(words: Sequence[str]) -> int | None:
    joined, some = "".join(words), {*words, "".join(words)}
    if joined in _NUMBER:
        return _LEAST
    if joined in _COUNTRY_CODE or some & _ABOUT:
        return None
    return next((rank for rank, names in enumerate(_RANKS, 1) if some & names), None)


def _places(names: Sequence[str], meant: frozenset[str]) -> list[int]:
    return [place for place, name in enumerate(names) if "".join(_words(name)) in meant]


def _are_codes(rows: Sequence[TableRow], place: int) -> bool:
    """Whether a column holds codes like +49, and not mostly DE or Germany."""
    texts = [str(row.cells[place] or "") for row in rows]
    lettered = sum(any(map(str.isalpha, text)) for text in texts)
    return lettered * 2 <= sum(map(bool, texts))


def _name(names: Sequence[str], rows: Sequence[TableRow]) -> tuple[int, ...]:
    """Find the name, or its parts. `Name` beside `Vorname` is the last name, if it lacks the first.

    Beside `Apellidos`, `Nombre` is the first name, by the same rule.
    """
    whole = _places(names, _NAME)
    whole.sort(key=lambda place: names[place] != "name")
    first, middle, last = (_places(names, part) for part in (_FIRST, _MIDDLE, _LAST))
    if not whole or (first and last) or not (first or last):
        return tuple(whole[:1] or first + middle + last)
    ours = {"name", "first_name", "middle_name", "last_name"}
    parts = first + last
    if {names[place] for place in [whole[0], *parts]} <= ours:
        return (whole[0],)
    if _holds(rows, whole[0], parts):
        return (whole[0],)
    return tuple(first + middle + whole[:1] if first else whole[:1] + middle + last)


def _holds(rows: Sequence[TableRow], whole: int, parts: Sequence[int]) -> bool:
    """Whether a column mostly repeats what the others hold."""
    pairs = [
        (str(row.cells[whole]), str(row.cells[part]))
        for row in rows
        for part in parts
        if row.cells[whole] and row.cells[part]
    ]
    return sum(part in name for name, part in pairs) * 2 > len(pairs)


#: What a frame of contacts has, and how its cells are read.
FIELDS: Mapping[str, Reader] = {
    "number": read_digits,
    "country_code": read_digits,
    "name": read_word,
}
#: What the file calls each of these; None to find out, nothing if it has none.
Wanted = Mapping[str, Sequence[str] | None]
#: So many rows are looked at to tell what a column holds.
_SAMPLE = 200
_SHOWN = 12  #: columns that a message names
#: What is read, but should be seen; the line breaks only where a name or number stands.
_UNUSUAL = {"\0": "a NUL character", "\ufffd": "�, where a letter was lost", "\n": "a line break"}


@dataclass
class ContactColumns:
    """The frame of the rows that can be read, and what is to be said of the others."""

    frame: pd.DataFrame
    of: dict[str, tuple[str, ...]]  #: for each column those of the file that it was made of
    notes: list[str]
    problems: list[Problem]
    left_out: int


def find_columns(table: RawTable, wanted: Wanted) -> ContactColumns:
    """Find the names of the columns, and read the rows below them.

    Raises:
        InputError: The columns cannot be told apart, or none is the number.
    """
    rows = [row for row in table.rows if any(cell is not None for cell in row.cells)]
    if not rows:
        raise InputError(
            "The file is empty: export it again, with its column names in the first row."
        )
    said = [name for names in wanted.values() for name in names or ()]
    top = row_of_names(rows, said) if table.titled else 0
    sorter = _Sorter(rows[top].cells, rows[top + 1 :], table.notes)
    if top:
        above = list_rows([row.number for row in rows[:top]])
        sorter.notes.append(f"{above} above the names of the columns: left out")
    for n, text, reason in table.broken:
        sorter.broken.append((n, 0, Problem(f"row {n}", shortened(repr(text)), reason)))
    sorter.even()
    sorter.name()
    if table.ours:
        wanted = {field: wanted.get(field) or [field] * (field in sorter.names) for field in FIELDS}
    meant = sorter.meant(wanted)
    if not meant.get("number") and wanted.get("number") is None and "id" not in sorter.names:
        raise _unmeant(rows[top], sorter.names)
    return sorter.columns(meant)


def _unmeant(first: TableRow, names: Iterable[str | None]) -> InputError:
    if looks_like_data(first):
        return InputError(
            f"Row {first.number} is a contact already: put a row above it that says what each "
            "column is, like number, country_code, name."
        )
    there = ", ".join(repr(name) for name in names if name is not None)
    return InputError(
        f"No column has a name that says it holds the telephone numbers. Columns: {there}. "
        "Name it: read_contacts(path, number='…'), or number='' if there is none."
    )


class _Sorter:
    """Reads the rows below the names of columns."""

    def __init__(self, names: Sequence[Any], rows: list[TableRow], notes: Sequence[str]) -> None:
        self.names = [as_text(name) for name in names]
        self.notes = [*notes]
        self.broken: list[tuple[int, int, Problem]] = []  #: with row and place, to sort them
        self._rows = rows

    def even(self) -> None:
        """Leave out the rows that have more or fewer cells than there are columns."""
        while self.names and self.names[-1] is None and not self._any(len(self.names) - 1):
            self.names.pop()
        width, rows = len(self.names), self._rows
        if all(len(row.cells) == width for row in rows):
            return
        extra = [row for row in rows if any(c is not None for c in row.cells[width:])]
        if len(extra) == len(rows) > 1:
            raise InputError(
                f"All rows have more cells than the {width} columns that have a name, so it "
                "cannot be told which is which. Give each column a name, also the first."
            )
        self._rows = []
        for row in rows:
            count = len(row.cells)
            beyond = next((n for n in range(width, count) if row.cells[n] is not None), None)
            if beyond is not None:
                reason = f"is beyond the {width} columns that have a name, so some may be shifted"
                self._refuse(
                    row, beyond, f"column {column_letter(beyond)}", row.cells[beyond], reason
                )
            elif count < width:
                reason = f"has {count} of {width} cells, so some may be shifted"
                self._refuse(
                    row, 0, "", ", ".join(as_text(cell) or "" for cell in row.cells), reason
                )
            else:
                self._rows.append(row)

    def name(self) -> None:
        """Give a name to columns without one, and refuse names that are there twice."""
        for place, name in enumerate(self.names):
            if name is None and self._any(place):
                self.names[place] = f"column {column_letter(place)}"
                self.notes.append(f"column {column_letter(place)} has no name")
        twice = {name: self._places(name) for name in self.names if name is not None}
        if problems := [
            Problem(
                "columns " + " and ".join(map(column_letter, places)), repr(name), "is there twice"
            )
            for name, places in twice.items()
            if len(places) > 1
        ]:
            raise InputError("The columns need names of their own, or one is too many:", problems)

    def meant(self, wanted: Wanted) -> dict[str, tuple[int, ...]]:
        """Find the places of the columns that mean something."""
        told = {
            field: tuple(map(self._place, names))
            for field, names in wanted.items()
            if names is not None
        }
        taken = [place for places in told.values() for place in places]
        if len(taken) > len(set(taken)):
            raise InputError("A column can be only one of number, country code and name.")
        found = match_names([name or "" for name in self.names], self._rows[:_SAMPLE])
        meant = {
            "number": () if found.number is None else (found.number,),
            "country_code": () if found.country_code is None else (found.country_code,),
            "name": found.name,
        }
        if found.others and "number" not in told:
            others = " or ".join(f"number={self.names[place]!r}" for place in found.others)
            self.notes.append(f"there are more columns of numbers: {others} takes another one")
        free = {
            field: tuple(p for p in places if p not in taken) for field, places in meant.items()
        }
        return free | told

    def columns(self, meant: Mapping[str, tuple[int, ...]]) -> ContactColumns:
        """Read all cells, and make the frame of the rows in which all can be read."""
        of = self._named(meant)
        read = {
            name: self._joined(places) if name == "name" and len(places) > 1
            else self._read(places[0], FIELDS[name] if places == meant.get(name) else keep_cell)
            for name, places in of.items()
        }  # fmt: skip
        bad = {number for number, _, _ in self.broken}
        good = [n for n, row in enumerate(self._rows) if row.number not in bad]
        if len(good) < len(self._rows):
            read = {name: [texts[n] for n in good] for name, texts in read.items()}
        index = pd.Index([self._rows[n].number for n in good], dtype="int64", name=ROW)
        frame = pd.DataFrame(
            {name: pd.Series(texts, index, dtype="str") for name, texts in read.items()}, index
        )
        self._tell(frame, meant)
        names = {name: tuple(self.names[place] or "" for place in of[name]) for name in of}
        self.broken.sort(key=lambda found: found[:2])
        problems = [problem for _, _, problem in self.broken]
        return ContactColumns(frame, names, self.notes, problems, len(bad))

    def _named(self, meant: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        """Name the columns of the frame in the order of the file."""
        taken = {place: field for field, places in meant.items() for place in places}
        of: dict[str, tuple[int, ...]] = {}
        for place, name in enumerate(self.names):
            if place in taken:
                of.setdefault(taken[place], meant[taken[place]])
            elif name is not None:
                clash = name in taken.values()  # it is called so, but another one is it
                of[f"{name} (column {column_letter(place)})" if clash else name] = (place,)
        return of

    def _read(self, place: int, reader: Reader) -> list[str | None]:
        """Read a column. A cell that cannot be read takes its row out."""
        values = [row.cells[place] for row in self._rows]
        if reader is not read_digits and {str, NoneType}.issuperset(map(type, values)):
            return values
        read = [reader(value) for value in values]
        for n, (_, reason) in enumerate(read):
            if reason:
                self._refuse(self._rows[n], place, self.names[place] or "", values[n], reason)
        return [text for text, _ in read]

    def _joined(self, places: Sequence[int]) -> list[str | None]:
        """Join the parts of a name by spaces."""
        parts = zip(*(self._read(place, read_word) for place in places), strict=True)
        return [" ".join(filter(None, (p and p.strip() for p in row))) or None for row in parts]

    def _tell(self, frame: pd.DataFrame, meant: Mapping[str, tuple[int, ...]]) -> None:
        """Note what is read, but should be seen."""
        for field in ("number", "country_code"):
            for place in meant.get(field, ()):
                stored = [row.number for row in self._rows if type(row.cells[place]) is int]
                if stored:
                    self.notes.append(
                        f"{field} is a number in the file, not text, in {list_rows(stored)}: "
                        "a zero or + in front, if there was one, is gone"
                    )
        for name in frame.columns:
            for character, said in _UNUSUAL.items():
                if character != "\n" or name in FIELDS:
                    where = frame.index[frame[name].str.contains(character, regex=False, na=False)]
                    if len(where):
                        self.notes.append(f"{name} holds {said} in {list_rows(where.tolist())}")

    def _refuse(self, row: TableRow, place: int, column: str, value: Any, reason: str) -> None:
        where = f"row {row.number}, {quoted_name(column)}" if column else f"row {row.number}"
        text, _ = keep_cell(value)
        self.broken.append((row.number, place, Problem(where, shortened(repr(text or "")), reason)))

    def _any(self, place: int) -> bool:
        return any(len(r.cells) > place and r.cells[place] is not None for r in self._rows)

    def _places(self, name: str) -> list[int]:
        return [place for place, other in enumerate(self.names) if other == name]

    def _place(self, name: str) -> int:
        """Find the column that a person names, who may not see its blanks and capitals."""
        for alike in (str, lambda text: text.strip().casefold()):
            if places := [n for n, m in enumerate(self.names) if m and alike(m) == alike(name)]:
                return places[0]
        near = get_close_matches(name, [m for m in self.names if m], 1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"No column is called {name!r}{hint or self._there()}")

    def _there(self) -> str:
        """Name the columns that there are, so far as a person would read."""
        names = [repr(name) for name in self.names if name]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        return f". Columns: {', '.join(names[:_SHOWN])}{more}."
