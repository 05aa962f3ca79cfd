"""Numbers: reads telephone numbers as country code and digits; the only phonenumbers import.

`list_readings` lists the numbers that a text can be: as it is dialled at home, with the + that a
spreadsheet took, without a country code that is there twice, and so on. `read_number` decides over
that list: a number is certain only if no other reading is plausible.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import phonenumbers as library
from phonenumbers import COUNTRY_CODE_TO_REGION_CODE as REGIONS
from phonenumbers import NumberParseException as Unreadable
from phonenumbers import PhoneNumber
from phonenumbers import PhoneNumberFormat as Format
from phonenumbers import PhoneNumberType as Type

from chatkit.errors import InputError

__all__ = ["VERDICTS", "Country", "Number", "Plus", "parse_country", "read_number", "split"]

library.enable_pattern_cache()  # or it compiles them again for each number of a mixed column

#: What is known of all numbers without a + in a column: "lost", they are international and the +
#: was lost; "unused", they are as people dial them at home, though the first 0 may be lost.
Plus: TypeAlias = Literal["lost", "unused"]

#: Texts and patterns that no library has.
_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
#: Each verdict and its reason.
VERDICTS: Mapping[str, str] = _DATA["verdicts"]
CERTAIN = ("valid", "reserved", "country code twice")
#: Verdicts on texts that are no number when their spaces and signs are left out.
NO_NUMBERS = ("not a number", "extension", "letters", "several numbers", "lost digits")
_TYPES = {n: Type.to_string(n).lower().replace("_", " ") for n in range(Type.VOICEMAIL + 1)}
_TYPES[Type.UAN] = "company"
_MOBILE = ("mobile", "fixed line or mobile")
#: More countries that a number without a country code may be of are not listed.
_MAX_REGIONS = 6
#: Countries where people write words for digits.
_VANITY = "1|61|64"


class Country(NamedTuple):
    """The country of a number, as a cell or an argument names it."""

    code: str  #: '+44'
    region: str | None = None  #: 'GB'; None for codes of no country, like +800
    area: str = ""  #: digits that belong before the number: 868 of '+1868'
    named: bool = False  #: by its name or letters: the number may begin with its country code
    of_row: bool = False  #: in the row of the number, which cannot be of another country


class Candidate(NamedTuple):
    """One number that a text can be."""

    country_code: str
    number: str
    region: str | None
    type: str | None  #: "mobile", as the library calls it; None if the number is not valid
    verdict: str  #: "valid", or what is wrong with the digits
    why: str  #: "dialled in DE", "with the + that it lost"
    phone: PhoneNumber
    written: bool = True  #: whether people of the country write it so, with the 0 they dial

    @property
    def good(self) -> bool:
        """True if there can be such a number."""
        return self.verdict in ("valid", "reserved")

    @property
    def mobile(self) -> bool:
        """True if people may have a chat on the number."""
        return _can_chat(self)

    @property
    def pair(self) -> tuple[str, str]:
        """Country code and number."""
        return self.country_code, self.number

    def __str__(self) -> str:
        place = f" of {self.region}" if self.region else ""
        return f"{self.country_code} {self.number}, {self.type or 'number'}{place}, {self.why}"


class Number(NamedTuple):
    """The number in a text, or why there is none."""

    #: With its +, as the API wants it: '+91'. None where the text is refused.
    country_code: str | None = None
    #: The digits after it: an Italian zero stays, a zero for calls inside a country goes.
    number: str | None = None
    #: The region of a valid number, like 'CA' for some of +1; '001' for codes of no country.
    region: str | None = None
    #: "mobile", "fixed line" and so on, for a valid number.
    type: str | None = None
    #: One of `VERDICTS`.
    verdict: str = "valid"
    #: Why it is not valid.
    reason: str | None = None
    #: Country code and digits that may be meant, where a person must decide.
    suggested: tuple[str, str] | None = None
    #: Whether it is a mobile number of another country, if it has lost its +.
    lost_plus: bool = False

    @property
    def mobile(self) -> bool:
        """True if people may have a chat on the number."""
        return _can_chat(self)

    @property
    def e164(self) -> str | None:
        """The country code and the number, like '+919876543210'."""
        return self.country_code and f"{self.country_code}{self.number}"

    @property
    def suggestion(self) -> str | None:
        """The number that may be meant, like '+919876543210'."""
        return "".join(self.suggested) if self.suggested else None

    @property
    def likely(self) -> str | None:
        """The number, or else the one that may be meant."""
        return self.e164 or self.suggestion


def _can_chat(one: Candidate | Number) -> bool:
    """Return whether people may have a chat on a number."""
    return one.type in _MOBILE or one.verdict == "reserved"


def split(text: object, region: str | None = None) -> Number:
    """Split a telephone number, as someone wrote it, into country code and digits.

    Args:
        text: Any cell of a table. A float is refused: it may have lost digits.
        region: Where a number without + is dialled: 'IN', or its country code '+91'.

    Raises:
        InputError: There is no such region.
    """
    return read_number(get_cell_text(text), find_region(region))


#: Verdicts in the order of the library's kinds of error, and of its results for a length.
_ERRORS = ("unknown country code", "not a number", "too short", "too short", "too long")
_SIZES = (*("impossible", "", "too short", "too long"), "no area code", "wrong length")
_INVISIBLE = re.compile("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_LABEL = re.compile(r"^(?:tel(?:ephone)?|phone|mobile|mob|cell|whatsapp)\b[ .:]*", re.IGNORECASE)
#: What is surely one number, if any.
_PLAIN_NUMBER = re.compile(r"\+?\d+|\+[\d ()-]+")
_LETTER = re.compile(r"[^\W\d_]")
#: One number with words before or after it.
_AMONG_WORDS = re.compile(r"[^\d+＋]*([+＋]?(?:[^\w+＋]*\d)+)\D*")
#: Letters that touch digits, and are too few for a word.
_INSTEAD_OF_DIGITS = re.compile(r"\d[^\W\d_](?![^\W\d_])|(?<![^\W\d_])[^\W\d_]{1,2}\d")
_BETWEEN_NUMBERS = re.compile(
    r":::|[|&\n/]|;(?![a-z])|(?<!,),(?!,)|(?<=\d)\s+(?=[+＋])"
    r"|(?<![^\W\d_])(?:or|and|oder|und|ou|et|o|y|e|of|en)(?![^\W\d_])",
    re.IGNORECASE,
)
_DECIMAL = re.compile(
    r"[-+]?\d+[.,]?\d*[eE][-+]?\d+"  # 9.19877E+11
    r"|[-+]?(?:\d+[.,]0|\d{4,}[.,]0+|\d{7,}[.,]\d\d?)"  # 919876543210.0
)
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[ap]\.?m\.?)?"
_ZONE = r"(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?"
_DAY, _MONTH, _CENTURY = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:1[89]|2[01])"
_DAYS = rf"(?:{_DAY}[-./ ] ?{_MONTH}|{_MONTH}[-./]{_DAY})(?:[-./] ?{_CENTURY}?| {_CENTURY})\d\d"
DATE = rf"(?:{_CENTURY}\d\d[-./ ]{_MONTH}[-./ ]{_DAY}|{_DAYS})"
_SERIAL = r"[34]\d{4}[.,]\d{2,}"  # days since 1900, as spreadsheets count them
_MONEY = r"(?:R\$|[€$£¥₹₽₺₩]|\b(?:eur|usd|gbp|chf|inr|brl|sek|nok|dkk|pln|rs|kr|zł)\b)"
GROUP = r"(?:[., '’]\d{3})"  # of three digits, as in 1,234,567
_SUM = rf"[-+]?(?:\d{{1,3}}{GROUP}+|\d+)(?:[.,]\d{{1,2}})?"
#: Other things that are found in a column of numbers.
_OTHER_VALUES: Mapping[str, re.Pattern[str]] = {
    "a date": re.compile(
        rf"{DATE}\.?(?:[T ,]+{_CLOCK}{_ZONE})?|{_SERIAL}"
        rf"|{_CENTURY}\d\d[-./]{_MONTH}|{_MONTH}[-./]{_CENTURY}\d\d",
        re.IGNORECASE,
    ),
    "a time": re.compile(rf"{_CLOCK}{_ZONE}|\d+:\d\d:\d\d", re.IGNORECASE),
    "a percentage": re.compile(rf"{_SUM} ?%"),
    "an amount": re.compile(
        rf"{_MONEY}\.? ?{_SUM}(?:,?-)?|{_SUM}(?:,?-)? ?{_MONEY}"
        r"|[-+]?\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|[-+]?\d{1,3}(?:[.'’ ]\d{3})+,\d{1,2}"
        r"|[-+]?\d{1,3}(?:'\d{3})+(?:\.\d{1,2})?|[-+]?\d{1,6}[.,]\d{1,2}",
        re.IGNORECASE,
    ),
    "an account number": re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8}(?: ?[A-Z0-9]{1,3})?"),
}
#: Eight digits that are also a day, the year first or last.
_YEAR, _MM, _DD = r"(?:19[3-9]|20[0-4])\d", r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_DAY_OF_DIGITS = re.compile(f"{_YEAR}{_MM}{_DD}|(?:{_DD}{_MM}|{_MM}{_DD}){_YEAR}")
_LOOK_ALIKES = str.maketrans("OoIl|SsBZzQ", "00111558220")
#: Look-alikes beside digits, or words of letters that are hardly anything else.
_LOOKS = re.compile(
    r"(?:[\W\d]|[OoIlSsBZzQ|](?=[OoIlSsBZzQ|]*\d)|(?<=[\dOoIl|])[OoIlSsBZzQ|]|[OoIl|])+"
)


@cache
def find_region(region: str | None) -> Country | None:
    """Return the country of a `region=` argument.

    Raises:
        InputError: There is no such region.
    """
    if region is None:
        return None
    name = re.sub("^UK$", "GB", region.strip().upper())  # as people say it
    if name.startswith("+") and name[1:].isdecimal():
        name = REGIONS.get(int(name), ("",))[0]
    if name not in library.SUPPORTED_REGIONS:
        if len(name) > 2 and (country := _country_by_name(name)):
            return country
        raise InputError(
            f"There is no region {region!r}: write two letters, like 'IN', or '+91'; in check also "
            "the name of a column."
        )
    return Country(f"+{library.country_code_for_region(name)}", name, named=True)


@cache
def parse_country(text: str) -> Country | None:
    """Return the country in a cell: '+44', '0044', '44.0', 'UK (+44)', 'GB', 'GBR', 'India'."""
    text = " ".join(_INVISIBLE.sub("", text).replace("＋", "+").split()).strip("'\" ")
    words = " ".join(re.findall(r"[^\W\d_][^\d()]*", text)).strip(" -+.,")
    digits = re.sub(r"\D", "", re.sub(r"\.0+$", "", text)).removeprefix("00")
    named, called = _country_by_name(words) if words else None, _country_by_code(digits)
    if (words and not named) or (digits and not called):
        return None
    if named and called and named.code != called.code:
        return None
    country = called._replace(region=named.region) if named and called else called or named
    return country and country._replace(of_row=True)


def _country_by_code(digits: str) -> Country | None:
    """Return the country of a calling code; some of +1 have an area code."""
    if re.fullmatch("1[2-9][0-9]{2}", digits):
        return Country("+1", "US", digits[1:])
    if not re.fullmatch("[1-9][0-9]{0,2}", digits) or int(digits) not in REGIONS:
        return None
    region = REGIONS[int(digits)][0]
    return Country(f"+{digits}", region if region in library.SUPPORTED_REGIONS else None)


@cache
def _country_by_name(name: str) -> Country | None:
    """Return the country of a name in a usual language, or of its two or three letters."""
    from babel import Locale  # only for cells with letters: it takes long to import
    from babel.core import get_global

    letters = name.replace(".", "").upper()
    alias = next((code for code, names in _DATA["aliases"].items() if letters in names), "")
    alias = alias or get_global("territory_aliases").get(letters, [letters])[0]
    if alias in library.SUPPORTED_REGIONS:
        return find_region(alias)
    for language in _DATA["languages"]["usual"].split():
        for code, each in Locale(language).territories.items():
            if _normalize_name(each) == _normalize_name(name) and code in library.SUPPORTED_REGIONS:
                return find_region(code)
    return None


def _normalize_name(name: str) -> str:
    """Return a country name without case, spaces, signs and "the"."""
    return re.sub(r"\W|\bthe\b", "", name.casefold())


def get_cell_text(cell: object) -> str | None:
    """Return the text of a cell; a float in the form of one, since digits may be lost."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType") or cell != cell:
        return None
    if isinstance(cell, float):
        return f"{cell:e}"
    text = cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)
    return text.encode("utf-8", "replace").decode()  # half a character is no digit


# --- one text ---------------------------------------------------------------------------


def read_number(text: str | None, country: Country | None, plus: Plus | None = None) -> Number:
    """Read the number in a text; refuse one that has a second plausible reading.

    Args:
        text: What somebody wrote.
        country: Where it is dialled, or what the cell with its country code says.
        plus: What is known of all numbers without a +.
    """
    raw = _INVISIBLE.sub("", text or "")
    tidy = _LABEL.sub("", " ".join(raw.split()).strip("'\" "))
    if not tidy:
        return _refuse("empty")
    refused = None if _PLAIN_NUMBER.fullmatch(tidy) else _find_refusal(raw, tidy, country, plus)
    return refused or _choose_reading(tidy, country, plus)


def _find_refusal(raw: str, tidy: str, country: Country | None, plus: Plus | None) -> Number | None:
    """Return the refusal of a text that is not plainly one number; None if it may be one."""
    if _DECIMAL.fullmatch(tidy):
        return _refuse("lost digits")
    if kind := next((kind for kind, each in _OTHER_VALUES.items() if each.fullmatch(tidy)), None):
        return _refuse("not a number", reason=f"it is {kind}, not a telephone number")
    parts = [part for part in _BETWEEN_NUMBERS.split(raw) if len(re.findall(r"\d", part)) >= 7]
    if len(parts) > 1 or re.fullmatch(r"(?:\D*\d){8,} ?/ ?\d{1,4}", tidy):
        likely = (read_number(part, country, plus).likely for part in parts)
        numbers = [n or " ".join(part.split()) for n, part in zip(likely, parts, strict=True)]
        reason = f"{VERDICTS['several numbers']}: {' and '.join(numbers)}"
        return _refuse("several numbers", reason=reason)
    phone, error = _parse_phone(tidy, country)
    if phone and phone.extension:
        return _refuse("extension", [_make_candidate(phone, "without its extension")])
    if _LETTER.search(tidy) or "|" in tidy:
        return _read_with_letters(tidy, country, plus)
    return _refuse(error) if error == "not a number" else None


def _read_with_letters(text: str, country: Country | None, plus: Plus | None) -> Number:
    """Refuse a text with letters, and suggest the number that may be meant."""
    if not re.search(r"\d", text):
        return _refuse("not a number")
    texts = {}
    alone = None if _INSTEAD_OF_DIGITS.search(text) else _AMONG_WORDS.fullmatch(text)
    if alone and alone[1] != text:
        texts[alone[1]] = "without the words"
    if _LOOKS.fullmatch(text):
        texts.setdefault(text.translate(_LOOK_ALIKES), "with digits for letters like them")
    words = re.findall(r"[^\W_]+", text)
    whole = all(word.isdecimal() or re.fullmatch("[A-Za-z]+", word) for word in words)
    if whole and any(len(word) > 2 for word in words if word.isalpha()):
        texts.setdefault(library.convert_alpha_characters_in_number(text), _SPELT)
    candidates: list[Candidate] = []
    for each, why in texts.items():
        likely = read_number(each, country, plus).likely
        if likely and (why != _SPELT or re.match(_VANITY, likely[1:])):
            candidates += _parse_candidate(likely, why)
    return _refuse("letters", candidates)


def _choose_reading(text: str, country: Country | None, plus: Plus | None) -> Number:
    """Return the only plausible reading of digits, or refuse them."""
    candidates = list_readings(text, country, plus)
    good = [each for each in candidates if each.good]
    digits = library.normalize_digits_only(text)
    bare = not re.search("[+＋]", text)
    marked = plus == "lost" or digits.startswith("00")
    if country is None and bare and not marked:
        patterns = _load_mobile_patterns().items()
        countries = [c for c, pattern in patterns if pattern.fullmatch(digits)]
        listed = " or ".join(filter(None, [", ".join(countries[:-1]), *countries[-1:]]))
        reason = f"{VERDICTS['no country code']}. It may be a mobile number of {listed}"
        few = 0 < len(countries) <= _MAX_REGIONS
        return _refuse("no country code", good, reason=reason if few else "")
    if not candidates:
        return _refuse(_parse_phone(text, country)[1] or "not a number")
    if not good:
        return _to_number(candidates[0])
    rivals = _plausible_readings(good, re.findall(r"\d+", text))
    best = rivals[0]
    refusals = {
        "wrong country": country and country.of_row and best.country_code != country.code,
        "ambiguous": len(rivals) > 1,
        "lost plus": best.why == _LOST and not marked,
        "outdated": best.why == _TODAY and len(best.number) > len(candidates[0].number),
        "no trunk prefix": not (best.written or best.mobile or plus),
    }
    if verdict := next((verdict for verdict, applies in refusals.items() if applies), None):
        return _refuse(verdict, rivals if verdict == "ambiguous" else [best], country)
    if country and country.named and len(digits) == 8 and bare and _DAY_OF_DIGITS.fullmatch(digits):
        return _refuse("ambiguous", [best], reason=f"it may be a date, or {best}")
    return _to_number(best)


_LOST, _TWICE = "with the + that it lost", "without the country code that is there twice"
_TODAY, _SPELT = "as it is written today", "as the letters of a telephone spell it"


def list_readings(text: str, country: Country | None, plus: Plus | None = None) -> list[Candidate]:
    """Return the numbers that digits can be, the most literal first; the first may be invalid.

    Args:
        text: Digits and punctuation, perhaps after a +.
        country: Where it is dialled, or what the cell with its country code says.
        plus: What is known of all numbers without a +.
    """
    digits = library.normalize_digits_only(text)
    abroad = "+" + digits.removeprefix("00")
    if re.search("[+＋]", text) or (plus == "lost" and not digits.startswith("0")):
        literal = _parse_candidate("+" + digits, "as it is written")
    elif country is None:
        literal = _parse_candidate(abroad, _LOST)
    elif country.named:
        literal = _parse_candidate(digits, f"dialled in {country.region}", country)
        if literal and literal[0].good and literal[0].pair == (country.code, digits):
            literal = [literal[0]._replace(written=_is_written_bare(literal[0]))]
        if plus is None and abroad[1:2] != "0":  # no country code begins with it
            literal += _parse_candidate(abroad, _LOST)
    else:
        literal = _readings_after_code(digits, country)
    more = [other for one in literal for other in _other_readings(one, plus)]
    if country and not country.named and not any(one.good for one in (*literal, *more)):
        literal += [one for one in _parse_candidate(abroad, _LOST) if one.good]
    different: dict[tuple[str, str], Candidate] = {}
    for one in (*literal[:1], *more, *literal[1:]):
        different.setdefault(one.pair, one)
    return list(different.values())


def _readings_after_code(digits: str, country: Country) -> list[Candidate]:
    """Return the readings of digits after the country code of another cell."""
    area = "" if digits.startswith(country.area) and len(digits) > 9 else country.area
    joined = _parse_candidate(f"{country.code}{area}{digits}", "as it is written")
    if not joined or joined[0].country_code != country.code:  # as of +4 before 9151…
        return []
    if not joined[0].good and country.region:
        home = _parse_candidate(digits, f"dialled in {country.region}", country)
        joined += [r for r in home if r.good and "".join(r.pair) != f"+{digits}"]
    return joined


def _other_readings(one: Candidate, plus: Plus | None) -> Iterator[Candidate]:
    """Yield other readings: the country code twice, a + that is lost, an outdated number."""
    code, number = one.pair
    if number.startswith(code[1:]):
        for twice in _parse_candidate(code + number[len(code) - 1 :], _TWICE):
            yield from [twice, *_other_readings(twice, plus)] if twice.good else ()
    if one.good and not one.mobile and len(number) > 10 and plus is None:
        yield from (r for r in _parse_candidate("+" + number, _LOST) if r.mobile)
    old, new = _DATA["modern"].get(code, ("$^", ""))
    if not one.good and re.fullmatch(old, number):
        yield from (r for r in _parse_candidate(code + re.sub(old, new, number), _TODAY) if r.good)


def _plausible_readings(good: list[Candidate], groups: list[str]) -> list[Candidate]:
    """Return the plausible readings, the most plausible first.

    A mobile number at home that is written in the groups of digits that people use there, and
    not in those of the other country, is certain.
    """
    first, *others = good
    home = first.mobile and first.written
    plausible = [one for one in others if one.mobile or not home]
    if home and plausible and len(groups) > 1 and _digit_groups(first, Format.NATIONAL) == groups:
        plausible = [o for o in plausible if _digit_groups(o, Format.INTERNATIONAL) == groups]
    if home and first.why == "as it is written":
        plausible = [one for one in plausible if one.why == _TWICE]
    return [first, *plausible]


def _digit_groups(one: Candidate, form: int) -> list[str]:
    """Return the groups of digits in which a number is usually written."""
    return re.findall(r"\d+", library.format_number(one.phone, form))


def _is_written_bare(one: Candidate) -> bool:
    """Check if a number is written without the trunk prefix in its country."""
    if "".join(_digit_groups(one, Format.NATIONAL)) == one.number:
        return True
    data = library.PhoneMetadata.metadata_for_region(one.region or "")
    rules = data.number_format if data else ()
    return one.mobile and any(rule.national_prefix_optional_when_formatting for rule in rules)


# --- what the library knows --------------------------------------------------------------


def _parse_phone(text: str, country: Country | None = None) -> tuple[PhoneNumber | None, str]:
    """Parse a text with the library; return the number, or the verdict on its error."""
    try:
        return library.parse(text, country.region if country else None), ""
    except Unreadable as error:
        return None, _ERRORS[error.error_type]


def _parse_candidate(text: str, why: str, country: Country | None = None) -> list[Candidate]:
    """Parse a text with the library; return a list of one candidate or none."""
    phone, _ = _parse_phone(text, country)
    return [_make_candidate(phone, why)] if phone else []


def _make_candidate(phone: PhoneNumber, why: str) -> Candidate:
    """Make a candidate of a parsed number, with its type and its verdict."""
    code, digits = phone.country_code or 0, library.national_significant_number(phone)
    region = library.region_code_for_number(phone)
    kind = _TYPES.get(library.number_type(phone)) if region else None
    verdict = "valid" if kind else _SIZES[library.is_possible_number_with_reason(phone)]
    if verdict == "impossible" and _is_fictional(code, digits):
        verdict = "reserved"
    return Candidate(f"+{code}", digits, region, kind, verdict, why, phone)


@cache
def _load_mobile_patterns() -> dict[str, re.Pattern[str]]:
    """Load the pattern of mobile numbers of each country, like "+91 (IN)"."""
    patterns = {}
    for code, (region, *_) in REGIONS.items():
        data = library.PhoneMetadata.metadata_for_region(region)
        if data and data.mobile and data.general_desc:
            sizes = data.mobile.possible_length or data.general_desc.possible_length
            length = "|".join(f".{{{size}}}" for size in sizes)
            if pattern := data.mobile.national_number_pattern:
                patterns[f"+{code} ({region})"] = re.compile(f"(?=(?:{length})$)(?:{pattern})")
    return patterns


def _length_verdict(code: int, digits: str) -> str:
    """Return the verdict on a number that is invalid though its length is possible."""
    data = library.PhoneMetadata.metadata_for_region_or_calling_code(code, REGIONS[code][0])
    sizes = tuple(data.general_desc.possible_length) if data and data.general_desc else ()
    missing = [n for n in range(1, 5) if len(digits) + n in sizes]
    if any(_is_possible(code, digits + fill * n) for n in missing for fill in "0123456789"):
        return "too short"
    if any(_is_possible(code, digits[:size]) for size in sizes if size < len(digits)):
        return "too long"
    return "impossible"


def _is_possible(code: int, digits: str) -> bool:
    """Return whether a country can have a number with these digits."""
    phone, _ = _parse_phone(f"+{code}{digits}")
    return _is_fictional(code, digits) or bool(phone and library.is_valid_number(phone))


def _is_fictional(code: int, digits: str) -> bool:
    """Return whether a number is reserved for fiction."""
    return re.fullmatch(_DATA["fiction"].get(str(code), "$^"), digits) is not None


def _refuse(
    verdict: str,
    candidates: Sequence[Candidate] = (),
    country: Country | None = None,
    reason: str = "",
) -> Number:
    """Return a refused number: its verdict, the reason and a suggestion."""
    good = {each.pair: each for each in reversed(candidates) if each.good}
    if len(good) > 1 and not reason:
        listed = ", or ".join(str(each) for each in candidates if each.good)
        reason = f"it may be {listed}: write it with + and its country code"
    mobile = [each for each in good.values() if each.mobile] or [*good.values()]
    meant = mobile[0] if len(mobile) == 1 else None
    code = candidates[0].country_code if candidates else "any country"
    reason = reason or VERDICTS[verdict].format(code=code, home=country.code if country else "")
    lost_plus = bool(meant and meant.mobile and meant.why == _LOST)
    return Number(None, None, None, None, verdict, reason, meant and meant.pair, lost_plus)


def _to_number(one: Candidate) -> Number:
    """Convert a candidate to a number, with its verdict."""
    verdict = one.verdict
    if verdict == "impossible":
        verdict = _length_verdict(int(one.country_code), one.number)
    elif one.why == _TWICE:
        verdict = "country code twice"
    reason = VERDICTS[verdict].format(code=one.country_code) or None
    return Number(one.country_code, one.number, one.region, one.type, verdict, reason)


def make_person_key(country_code: str, number: str) -> str:
    """Return a key that spellings of one number share, without trunk zeros and mobile marks."""
    digits = number.lstrip("0")
    if digits.startswith(country_code[1:]) and len(digits) > 10:
        digits = digits[len(country_code) - 1 :].lstrip("0")
    return f"{country_code} {re.sub(_DATA['optional'].get(country_code, '$^'), '', digits)}"
