"""Headers: which column is the number, the country code and the name, by what it is called."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from chatkit.tables import TableRow


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
