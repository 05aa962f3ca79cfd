"""Telephone numbers: what people write, as country code and digits; the only phonenumbers import.

`split` reads one. A text that has lost digits, or that can be read in two ways, gets a verdict and
a reason; it is never guessed at.

`split_all` reads a whole column to the same result, some 30 times as fast. Texts of digits and the
usual punctuation are read as the library reads them, by columns: its patterns, used as it uses
them, but by the RE2 of Arrow, which is some fifty times as fast as a loop. Everything else goes to
the library, each different text once; so do numbers of a region with a pattern that RE2 does not
understand (`Foreign`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import phonenumbers as library
import pyarrow as pa
import pyarrow.compute as pc
from phonenumbers import COUNTRY_CODE_TO_REGION_CODE as REGIONS
from phonenumbers import CountryCodeSource, PhoneMetadata, PhoneNumber, PhoneNumberDesc
from phonenumbers import NumberParseException as Unreadable
from phonenumbers import PhoneNumberType as Type
from phonenumbers import ValidationResult as Size

from chatkit.errors import InputError

__all__ = ["TYPES", "VERDICTS", "Number", "split", "split_all"]

library.enable_pattern_cache()  # or it compiles them again for each number of a mixed column

#: Each verdict and its reason. Only the first seven can come with a country code and a number.
VERDICTS: Mapping[str, str] = {
    "valid": "",
    "impossible": "no number of {code} begins like this",
    "reserved": "it is reserved for fiction, so nobody has it",
    "too short": "too short for {code}",
    "too long": "too long for {code}",
    "wrong length": "{code} has shorter and longer numbers, but none of this length",
    "no area code": "it cannot be reached from elsewhere without its area code",
    "unknown country code": "no country has this code",
    "ambiguous": "it can be read in more than one way: write it with + and its country code",
    "extension": "an extension cannot be kept with a number",
    "letters": "there are letters in it",
    "several numbers": "there are several numbers in it",
    "lost digits": "a spreadsheet made a decimal of it, and digits may be lost: type it as text",
    "not a number": "it is not a telephone number",
    "empty": "there is nothing in it",
}
#: Numbers that are kept for films and books, where the library knows of none, by country code.
_FICTION: Mapping[int, str] = {
    33: "63998[0-9]{4}",
    44: "7700900[0-9]{3}|1632960[0-9]{3}",
    353: "2091[0-9]{5}",
}
#: What is tried at the end of a number that may be too short: so many digits at most.
_MISSING, _FILLS = 4, "0123456789"
#: The library's types of numbers in its own order: the first that fits is the type.
TYPES: Mapping[int, str] = {
    Type.PREMIUM_RATE: "premium rate",
    Type.TOLL_FREE: "toll free",
    Type.SHARED_COST: "shared cost",
    Type.VOIP: "voip",
    Type.PERSONAL_NUMBER: "personal",
    Type.PAGER: "pager",
    Type.UAN: "company",
    Type.VOICEMAIL: "voicemail",
    Type.FIXED_LINE_OR_MOBILE: "fixed line or mobile",
    Type.FIXED_LINE: "fixed line",
    Type.MOBILE: "mobile",
}


class Number(NamedTuple):
    """Parts of the number in a text. Its fields are the columns of `split_all`: texts, or null."""

    #: With its +, as the API wants it: '+91'. None where the text is refused.
    country_code: str | None = None
    #: The digits after it: an Italian zero stays, a zero for calls inside a country goes.
    number: str | None = None
    #: The region of a valid number, like 'CA' for some of +1; '001' for codes of no country.
    region: str | None = None
    #: One of `TYPES`, for a valid number.
    type: str | None = None
    #: One of `VERDICTS`.
    verdict: str = "valid"
    #: Why it is not valid.
    reason: str | None = None
    #: What was written and how it is read, where that is more than leaving out punctuation.
    note: str | None = None
    #: What may be meant, where a person must decide: '+919876543210'.
    suggestion: str | None = None

    @property
    def e164(self) -> str | None:
        """The country code and the number in one, like '+919876543210'."""
        return self.country_code and f"{self.country_code}{self.number}"


def split(text: object, region: str | None = None) -> Number:
    """Split what someone wrote as a telephone number.

    Args:
        text: Any cell of a table. A float is refused: it may have lost digits.
        region: Where a number without + is dialled: 'IN', or its country code '+91'.

    Raises:
        InputError: There is no such region.
    """
    return read_number(text_of(text), known_region(region))


_ERRORS = {
    Unreadable.INVALID_COUNTRY_CODE: "unknown country code",
    Unreadable.NOT_A_NUMBER: "not a number",
    Unreadable.TOO_SHORT_AFTER_IDD: "too short",
    Unreadable.TOO_SHORT_NSN: "too short",
    Unreadable.TOO_LONG: "too long",
}
SIZES = {
    Size.IS_POSSIBLE: "impossible",
    Size.TOO_SHORT: "too short",
    Size.TOO_LONG: "too long",
    Size.INVALID_LENGTH: "wrong length",
    Size.IS_POSSIBLE_LOCAL_ONLY: "no area code",
}
_INVISIBLE = re.compile("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_LABEL = re.compile(r"^(?:tel(?:ephone)?|phone|mobile|mob|cell|whatsapp)\b[ .:]*", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[-‐-―−ー－ .()\[\]/~（）／．]")
_LETTER = re.compile(r"[^\W\d_]")
_PLUS = re.compile("[+＋]")
#: One number with words before or after it.
_AMONG_WORDS = re.compile(r"[^\d+＋]*([+＋]?(?:[^\w+＋]*\d)+)\D*")
_BETWEEN_NUMBERS = re.compile(r"[|&\n/]|;(?![a-z])|(?<!,),(?!,)|(?<=\d)\s+(?=[+＋])")
_DECIMAL = re.compile(
    r"[-+]?\d+[.,]?\d*[eE][-+]?\d+"  # 9.19877E+11
    r"|[-+]?(?:\d+[.,]0|\d{4,}[.,]0+|\d{7,}[.,]\d\d?)"  # 919876543210.0
)


def known_region(region: str | None) -> str | None:
    """The region as the library writes it."""
    if region is None:
        return None
    name = region.strip().upper()
    name = "GB" if name == "UK" else name  # as people say it, and as addresses end
    if name.startswith("+") and name[1:].isdecimal():
        name = REGIONS.get(int(name), ("",))[0]
    if name not in library.SUPPORTED_REGIONS:
        raise InputError(f"There is no region {region!r}: give two letters, like 'IN', or '+91'.")
    return name


def text_of(cell: object) -> str | None:
    """The text of a cell; a float keeps the look of one, whatever its digits."""
    match cell:
        case None:
            return None
        case str():
            return cell.encode("utf-8", "replace").decode()  # half a character is no digit
        case bytes():
            return cell.decode("utf-8", "replace")
        case float() | np.floating():
            return None if np.isnan(cell) else f"{cell:e}"
        case _:
            return None if type(cell).__name__ in ("NAType", "NaTType") else str(cell)


def read_number(text: str | None, region: str | None) -> Number:
    """Read one text with the library, and refuse what it would read by leaving something out."""
    raw = _INVISIBLE.sub("", text or "")
    tidy = _LABEL.sub("", " ".join(raw.split()).strip("'\" "))
    if not tidy:
        return _refused("empty")
    if _DECIMAL.fullmatch(tidy):
        return _refused("lost digits")
    if sum(len(re.findall(r"\d", part)) >= 7 for part in _BETWEEN_NUMBERS.split(raw)) > 1:
        return _refused("several numbers")
    phone, error = _parsed(tidy, region)
    abroad = None if _PLUS.search(tidy) else "+" + _PUNCTUATION.sub("", tidy).removeprefix("00")
    if phone and phone.extension:
        return _refused("extension", _if_valid(phone))
    if _LETTER.search(tidy.partition(";")[0]):
        return _with_letters(tidy, region)
    written = _PUNCTUATION.sub("", tidy)
    if not phone:
        if abroad is None or (region and not _meant(abroad)):
            return _refused(error)
        if not region and error != "unknown country code":
            return _refused(error)
        return _refused(error if region else "ambiguous", _meant(abroad))
    number = _found(phone, written)
    if region and phone.country_code_source == CountryCodeSource.FROM_DEFAULT_COUNTRY:
        digits = library.normalize_digits_only(written)
        other = digits.startswith(str(phone.country_code)) and _meant(f"+{digits}")
        if other and other != number.e164:
            return _refused("ambiguous", other)
    if abroad and number.verdict not in ("valid", "reserved"):
        return number._replace(suggestion=_meant(abroad))
    return number


def _parsed(text: str, region: str | None) -> tuple[PhoneNumber | None, str]:
    try:
        return library.parse(text, region, keep_raw_input=True), ""
    except Unreadable as error:
        return None, _ERRORS[error.error_type]


def _meant(text: str, region: str | None = None) -> str | None:
    phone, _ = _parsed(text, region)
    return _if_valid(phone) if phone else None


def _if_valid(phone: PhoneNumber) -> str | None:
    return _found(phone, "").e164 if library.is_valid_number(phone) else None


def _with_letters(text: str, region: str | None) -> Number:
    """Words beside a number, or letters that stand for digits: a person must decide."""
    if not re.search(r"\d", text):
        return _refused("not a number")
    alone = _AMONG_WORDS.fullmatch(text)
    return _refused("letters", (alone and _meant(alone[1], region)) or _meant(text, region))


def _closer(code: int, digits: str) -> str:
    """Tell what is wrong with a number whose length some numbers of its country have.

    It may be too short or too long for what it begins with. `_look_closer` does the same.
    """
    if _is_fictional(code, digits):
        return "reserved"
    sizes = _sizes_of(code)
    missing = [n for n in range(1, _MISSING + 1) if len(digits) + n in sizes]
    if any(_there_is(code, digits + fill * n) for n in missing for fill in _FILLS):
        return "too short"
    if any(_there_is(code, digits[:size]) for size in sizes if size < len(digits)):
        return "too long"
    return "impossible"


def _there_is(code: int, digits: str) -> bool:
    return _is_fictional(code, digits) or library.is_valid_number(_phone(code, digits))


@cache
def _sizes_of(code: int) -> tuple[int, ...]:
    """Return how many digits the numbers of a country code may have."""
    data = library.PhoneMetadata.metadata_for_region_or_calling_code(code, REGIONS[code][0])
    return tuple(data.general_desc.possible_length) if data and data.general_desc else ()


def _is_fictional(code: int, digits: str) -> bool:
    return code in _FICTION and re.fullmatch(_FICTION[code], digits) is not None


def _phone(code: int, digits: str) -> PhoneNumber:
    zeros = min(len(digits) - len(digits.lstrip("0")), len(digits) - 1)
    return PhoneNumber(
        country_code=code,
        national_number=int(digits),
        italian_leading_zero=zeros > 0 or None,
        number_of_leading_zeros=zeros if zeros > 1 else None,
    )


def _refused(verdict: str, suggestion: str | None = None) -> Number:
    reason = VERDICTS[verdict].format(code="any country")
    return Number(verdict=verdict, reason=reason, suggestion=suggestion)


def _found(phone: PhoneNumber, written: str) -> Number:
    """Return what the library knows of a number that it could read."""
    code, digits = f"+{phone.country_code}", library.national_significant_number(phone)
    kind = TYPES.get(library.number_type(phone))
    verdict = "valid" if kind else SIZES[library.is_possible_number_with_reason(phone)]
    if verdict == "impossible":
        verdict = _closer(phone.country_code or 0, digits)
    plain = code + digits if written.startswith("+") else digits
    return Number(
        country_code=code,
        number=digits,
        region=library.region_code_for_number(phone),
        type=kind,
        verdict=verdict,
        reason=VERDICTS[verdict].format(code=code) or None,
        note=None if written == plain else f"{written} is read as {code}{digits}",
    )


Ints = np.ndarray[Any, np.dtype[np.integer[Any]]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

#: The type of every column of texts here.
TEXT = pa.large_string()

#: A column that begins with so many different texts is taken to have only different ones.
_SAMPLE = 2000

#: The share of rows from which all are held against a pattern, whatever their length.
_MOST_FIT = 0.75

#: Fewer rows than this of one country are sooner read than its patterns are compiled.
FEW = 40

_SCHEMA = pa.schema([(name, TEXT) for name in Number._fields])
_LEFT_OUT = b" -.()/"
#: What has fewer or more digits is no number in any country.
_FEWEST, _MOST = 5, 17
#: A longer text is no number, however much of it is punctuation.
_LONGEST_TEXT = 100
#: Perhaps a decimal, or two numbers with a / between them: for `read_number` to decide.
_DOTTED, _TWO_NUMBERS = r"^ *[-+]?[0-9]+\.[0-9]+ *$", 14

_VERDICTS, _TYPES = list(VERDICTS), list(TYPES.values())
_REGIONS = sorted({region for regions in REGIONS.values() for region in regions})
_VALID, _IMPOSSIBLE, _RESERVED, _SHORT, _LONG, _AMBIGUOUS, _UNKNOWN = map(
    _VERDICTS.index,
    (
        *("valid", "impossible", "reserved", "too short", "too long", "ambiguous"),
        "unknown country code",
    ),
)
_TOLD = _VERDICTS.index("no area code")  # the last that comes with a country code and a number
#: No column of digits has longer ones, not even with a prefix put before them.
_LONGEST = 30

_LINES = [_TYPES.index(name) for name in ("fixed line", "mobile", "fixed line or mobile")]
#: The library leaves nothing out of a number when what is left would be one of these.
_UNFIT = [_VERDICTS.index(name) for name in ("too short", "no area code", "wrong length")]


def split_all(texts: Iterable[object], region: str | None = None) -> Any:
    """Split a whole column.

    Args:
        texts: A pandas Series, an Arrow array or any other iterable of cells.
        region: Where numbers without + are dialled: 'IN', or its country code '+91'.

    Returns:
        A `pyarrow.Table` with a row for each text, in order, and the fields of `Number` as
        columns of large_string; `.to_pandas()` makes a frame of `str` columns of it.

    Raises:
        InputError: There is no such region.
    """
    region = known_region(region)
    column = _column(texts)
    if len(column.slice(0, _SAMPLE).unique()) == len(column.slice(0, _SAMPLE)) == _SAMPLE:
        return _ColumnSplitter(column, region).table()  # to look for others takes longer
    column = column.dictionary_encode("encode")
    table = _ColumnSplitter(column.dictionary, region).table()
    return table if len(table) == len(column) else table.take(column.indices)


def _column(cells: Iterable[object]) -> Any:
    """The texts of all cells; only those that are text already are taken as they are."""
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    if isinstance(cells, pa.Array):
        cells = cells if cells.type in (TEXT, pa.string()) else cells.to_pylist()
    elif not hasattr(cells, "__len__"):
        cells = list(cells)
    try:
        column = pa.array(cells, TEXT, from_pandas=True)
    except (TypeError, ValueError):  # numbers among them, or half characters
        column = pa.array([text_of(cell) for cell in cells], TEXT)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


class _Part(NamedTuple):
    """Some rows of one country code as they were read."""

    code: int  # 0 for none
    places: Ints
    #: A number that is not told, as its verdict forbids it, is the one to suggest.
    numbers: Any
    verdicts: Ints
    regions: Ints  # -1 for none
    types: Ints  # -1 for none


class _ColumnSplitter:
    """Reads the different texts of a column; what falls through is for the library."""

    def __init__(self, texts: Any, region: str | None) -> None:
        self._texts, self._region = texts, region
        filled = pc.fill_null(texts, "")
        self._written = without(_LEFT_OUT, filled)
        plain = _digits_alone(self._written)
        if self._written is not filled:
            plain &= self._undoubted(filled)
        places, digits = np.flatnonzero(plain), where(self._written, plain)
        plus = starts(digits, "+")
        abroad = _international(places[plus], pc.utf8_ltrim(where(digits, plus), "+"), region)
        at_home = _national(places[~plus], where(digits, ~plus), region)
        self._parts = [part for part in (*abroad, *at_home) if len(part.places)]

    def _undoubted(self, texts: Any) -> Mask:
        """Whether there is at most one number in each text, with all its digits."""
        fine: Mask = lengths(texts) <= _LONGEST_TEXT
        fine &= ~(holds(texts, "/") & (lengths(self._written) >= _TWO_NUMBERS))
        dotted = np.flatnonzero(holds(texts, "."))
        fine[dotted] &= ~matches(texts.take(pa.array(dotted)), _DOTTED)
        return fine

    def table(self) -> Any:
        """Every text, in order, with what it says."""
        left = np.ones(len(self._texts), bool)
        for part in self._parts:
            left[part.places] = False
        settled = self._settled(left)
        if not left.any():
            return settled
        texts = where(self._texts, left).to_pylist()
        rows = [read_number(text, self._region)._asdict() for text in texts]
        table = pa.concat_tables([settled, pa.Table.from_pylist(rows, _SCHEMA)]).combine_chunks()
        order = _order([np.flatnonzero(~left), np.flatnonzero(left)], len(left))
        return table.take(pa.array(order))

    def _settled(self, left: Mask) -> Any:
        """The rows of all parts, in order."""
        parts = self._parts
        if not parts:
            return _SCHEMA.empty_table()
        order = _order([part.places for part in parts], len(left))[~left]
        numbers = pa.concat_arrays([part.numbers for part in parts]).take(pa.array(order))
        verdicts, regions, types = (
            np.concatenate(every)[order]
            for every in zip(*((p.verdicts, p.regions, p.types) for p in parts), strict=True)
        )
        place = np.repeat(np.arange(len(parts)), [len(part.places) for part in parts])[order]
        codes = [f"+{part.code}" if part.code else None for part in parts]
        reasons = [
            reason.format(code=code or "any country") or None
            for code in codes
            for reason in VERDICTS.values()
        ]
        told, code, written = verdicts <= _TOLD, named(codes, place), where(self._written, ~left)
        whole = joined(code, numbers)
        plain = pc.if_else(pc.starts_with(written, "+"), whole, numbers)
        changed = told & differs(written, plain)
        note = joined(written, " is read as ", whole) if changed.any() else whole
        columns = Number(
            country_code=only(told, code),
            number=only(told, numbers),
            region=named(_REGIONS, np.where(told, regions, -1)),
            type=named(_TYPES, np.where(told, types, -1)),
            verdict=named(_VERDICTS, verdicts),
            reason=named(reasons, place * len(VERDICTS) + verdicts),
            note=only(changed, note),
            suggestion=only(~told, whole),
        )
        return pa.table(list(columns), schema=_SCHEMA)


def _order(places: Sequence[Ints], count: int) -> Ints:
    """Where, in all these places one after the other, each row is: quicker than sorting."""
    every = np.concatenate(places)
    order = np.zeros(count, np.int64)
    order[every] = np.arange(len(every))
    return order


def _national(places: Ints, digits: Any, region: str | None) -> Iterator[_Part]:
    """Read digits without +."""
    if region is None:
        yield from _of_no_country(places, digits)
        return
    for part in _dialled_in(places, digits, region):
        right = np.isin(part.verdicts, (_VALID, _RESERVED, _AMBIGUOUS))
        rows = np.flatnonzero(~right)
        if len(rows):  # what would be right after a +: for the library, which suggests that
            written = digits.take(pa.array(np.searchsorted(places, part.places[rows])))
            right[rows] = _wrong_abroad(written)
        yield _Part(
            part.code,
            *(
                column.filter(pa.array(right)) if isinstance(column, pa.Array) else column[right]
                for column in part[1:]
            ),
        )


def _wrong_abroad(digits: Any) -> Mask:
    """Tell which digits are surely no number after a + either."""
    wrong = np.zeros(len(digits), bool)
    for part in _international(np.arange(len(digits)), replaced(digits, "^00", ""), None):
        wrong[part.places] = part.types < 0
    return wrong


def _dialled_in(places: Ints, digits: Any, region: str) -> Iterator[_Part]:
    """Read digits as they are dialled in a region."""
    here = region_of(library.country_code_for_region(region), region)
    try:
        abroad, after = _dialled_abroad(digits, here)
        yield from _international(places[abroad], where(after, abroad), region)
        places, digits = places[~abroad], where(digits, ~abroad)
        own = begins(digits, str(here.code))
        yield from _judged(places[~own], where(digits, ~own), here)
        yield from _own_code(places[own], where(digits, own), here)
    except Foreign:
        return


def _of_no_country(places: Ints, digits: Any) -> Iterator[_Part]:
    """Refuse digits without + where no region is given; suggest what they are after a +."""
    for part in _international(places, replaced(digits, "^00", ""), None):
        meant = only(part.types >= 0, part.numbers)
        yield part._replace(numbers=meant, verdicts=np.full(len(part.places), _AMBIGUOUS))


def _dialled_abroad(digits: Any, here: Region) -> tuple[Mask, Any]:
    """Tell which begin as calls abroad do, like 00 or 011, and what comes after that."""
    prefix = here.data.international_prefix
    if not prefix or not (found := begins(digits, prefix)).any():
        return np.zeros(len(digits), bool), digits
    return found, replaced(digits, f"^(?:{prefix})", "")


def _own_code(places: Ints, digits: Any, here: Region) -> Iterator[_Part]:
    """Read digits that begin with the country code of their region, or only look like it."""
    main = region_of(here.code, REGIONS[here.code][0])
    after = pc.utf8_slice_codeunits(digits, len(str(here.code)))
    cut = here.cut(after)
    own = (~here.viable(digits) & here.viable(cut)) | (here.sizes[lengths(digits)] == _LONG)
    yield from _judged(places[own], where(cut, own), main)
    places, digits, after = places[~own], where(digits, ~own), where(after, ~own)
    for part in _judged(places, digits, here):
        for other in _judged(places, after, main):
            either = (other.types >= 0) & differs(part.numbers, other.numbers)
            yield part._replace(
                numbers=pc.if_else(pa.array(either), other.numbers, part.numbers),
                verdicts=np.where(either, _AMBIGUOUS, part.verdicts),
            )


def _international(places: Ints, digits: Any, region: str | None) -> Iterator[_Part]:
    """Read digits that begin with a country code."""
    whole = lengths(digits) >= _FEWEST  # perhaps not after a prefix
    places, digits = places[whole], where(digits, whole)
    codes = _codes(digits)
    order = np.argsort(codes, kind="stable")
    places, codes, digits = places[order], codes[order], digits.take(pa.array(order))
    first = np.flatnonzero(np.diff(codes, prepend=-1)).tolist()
    for start, end in pairwise([*first, len(codes)]):
        code, here, group = int(codes[start]), places[start:end], digits[start:end]
        if code:
            main = region_of(code, REGIONS[code][0])
            yield from _judged(here, pc.utf8_slice_codeunits(group, len(str(code))), main)
        elif region is None:  # with a region the library may still find a way to read it
            none, unknown = np.full((2, len(here)), [[-1], [_UNKNOWN]], np.int16)
            yield _Part(0, here, pa.nulls(len(here), TEXT), unknown, none, none)


def _codes(digits: Any) -> Ints:
    """The country code that each begins with, or 0."""
    ends, letters = letters_of(digits)
    first, second, third = (letters[ends[:-1] + place].astype(np.int16) for place in range(3))
    codes: Ints = _CODES[100 * first + 10 * second + third - 111 * ord("0")]
    return codes


def _code(digits: str) -> int:
    starts = (int(digits[:end]) for end in range(1, len(digits) + 1) if digits[0] != "0")
    return next((code for code in starts if code in REGIONS), 0)


#: The country code of every three digits.
_CODES: Ints = np.array([_code(f"{start:03}") for start in range(1000)], np.int16)


def _judged(places: Ints, digits: Any, region: Region) -> Iterator[_Part]:
    """Read digits as they are dialled in a region, without a country code."""
    if len(places) < FEW:
        return
    try:
        numbers = region.significant(digits)
        regions, types = _classified(region.code, numbers)
    except Foreign:
        return
    sizes = region_of(region.code, REGIONS[region.code][0]).sizes[lengths(numbers)]
    verdicts = np.where(types < 0, sizes, _VALID)
    _look_closer(region.code, numbers, verdicts)
    yield _Part(region.code, places, numbers, verdicts, regions, types)


def _look_closer(code: int, numbers: Any, verdicts: Ints) -> None:
    """Tell what is wrong with numbers whose length some of their country have: as `_closer`."""
    rows = np.flatnonzero(verdicts == _IMPOSSIBLE)
    if not len(rows):
        return
    size, sizes = lengths(numbers), _sizes_of(code)
    fiction = _are_fictional(code, numbers.take(pa.array(rows)))
    verdicts[rows[fiction]] = _RESERVED
    for missing in range(1, _MISSING + 1):
        rows = rows[verdicts[rows] == _IMPOSSIBLE]
        fits = rows[np.isin(size[rows] + missing, sizes)]
        if len(fits):  # all at once: to compile the patterns costs as much as a thousand rows
            short = numbers.take(pa.array(fits))
            longer = pa.concat_arrays([joined(short, fill * missing) for fill in _FILLS])
            found = _there_are(code, longer).reshape(len(_FILLS), len(fits)).any(axis=0)
            verdicts[fits[found]] = _SHORT
    for most in sizes:
        rows = rows[verdicts[rows] == _IMPOSSIBLE]
        long = rows[size[rows] > most]
        if len(long):
            shorter = pc.utf8_slice_codeunits(numbers.take(pa.array(long)), 0, most)
            verdicts[long[_there_are(code, shorter)]] = _LONG


def _there_are(code: int, numbers: Any) -> Mask:
    first, *others = REGIONS[code]
    if others:
        return _are_fictional(code, numbers) | (_classified(code, numbers)[1] >= 0)
    return _are_fictional(code, numbers) | region_of(code, first).has(numbers)


def _are_fictional(code: int, numbers: Any) -> Mask:
    pattern = _FICTION.get(code)
    return np.zeros(len(numbers), bool) if pattern is None else matches(numbers, f"^(?:{pattern})$")


def _classified(code: int, numbers: Any) -> tuple[Ints, Ints]:
    """Find the region and the type of each number, among the regions that share a code."""
    names = REGIONS[code]
    if len(names) == 1:
        types = region_of(code, names[0]).types(numbers)
        return np.full(len(numbers), _REGIONS.index(names[0]), np.int16), types
    regions, types = np.full((2, len(numbers)), -1, np.int16)
    open_ = np.arange(len(numbers))
    for name in names:
        if not len(open_):
            break
        region, rest = region_of(code, name), numbers.take(pa.array(open_))
        if (here := region.leads(rest)) is None:
            found = region.types(rest)
            here = found >= 0
            found = found[here]
        else:
            found = region.types(where(rest, here))
        regions[open_[here]], types[open_[here]] = _REGIONS.index(name), found
        open_ = open_[~here]
    return regions, types


class Region:
    """The numbers of one region that has a country code, perhaps among others."""

    def __init__(self, code: int, name: str) -> None:
        data = PhoneMetadata.metadata_for_region_or_calling_code(code, name)
        if not data or not data.general_desc:
            raise LookupError(f"the library knows nothing of {name} (+{code})")
        self.code, self.data, self._general = code, data, data.general_desc
        self.sizes: Ints = np.array(
            [_VERDICTS.index(self._size(n)) for n in range(_LONGEST)], np.int16
        )

    def _size(self, length: int) -> str:
        """Return what the library says of a number of this length that is not valid."""
        known = self._general.possible_length
        if length in self._general.possible_length_local_only:
            return SIZES[Size.IS_POSSIBLE_LOCAL_ONLY]
        if length in known:
            return SIZES[Size.IS_POSSIBLE]
        if length < known[0]:
            return SIZES[Size.TOO_SHORT]
        return SIZES[Size.TOO_LONG if length > known[-1] else Size.INVALID_LENGTH]

    def viable(self, digits: Any) -> Mask:
        """Tell which look like a number of this region."""
        return _like(digits, self._general)

    def cut(self, digits: Any) -> Any:
        """Leave out, or change, what is dialled inside the country: a 0, a carrier's code."""
        prefix = self.data.national_prefix_for_parsing
        rule = self.data.national_prefix_transform_rule
        if not prefix or not (found := begins(digits, prefix)).any():
            return digits
        whole = digits.filter(pa.array(found))
        rest = replaced(whole, f"^(?:{prefix})", "")
        if rule:
            last = replaced(whole, f"^(?:{prefix}).*$", rf"\{re.compile(prefix).groups}")
            by_rule = replaced(whole, f"^(?:{prefix})", rule)
            rest = pc.if_else(pc.equal(last, ""), rest, by_rule)
        if (spoilt := self.viable(whole)).any():
            spoilt[spoilt] = ~self.viable(where(rest, spoilt))
            rest = pc.if_else(pa.array(spoilt), whole, rest)
        return pc.replace_with_mask(digits, pa.array(found), rest)

    def significant(self, digits: Any) -> Any:
        """Cut the digits, unless too few would be left."""
        cut = self.cut(digits)
        if cut is digits:
            return digits
        unfit = np.isin(self.sizes[lengths(cut)], _UNFIT)
        return pc.if_else(pa.array(unfit), digits, cut)

    def leads(self, numbers: Any) -> Mask | None:
        """Tell which begin as only numbers of this region do; None where nothing tells that."""
        leading = self.data.leading_digits
        return None if leading is None else begins(numbers, leading)

    def types(self, numbers: Any) -> Ints:
        """The place in `TYPES` of the type of each number; -1 for one that is not valid."""
        found: Ints = np.full(len(numbers), -1, np.int16)
        if not len(numbers):
            return found
        size = lengths(numbers)
        fits = _fits(numbers, size, self._general)
        fixed = mobile = fits & _fits(numbers, size, self.data.fixed_line)
        if not self.data.same_mobile_and_fixed_line_pattern:
            mobile = fits & _fits(numbers, size, self.data.mobile)
        for type_, here in zip(_LINES, (fixed, mobile, fixed & mobile), strict=True):
            found[here] = type_
        if self._rare:
            one_of = "|".join(str(desc.national_number_pattern) for desc in self._rare.values())
            rare = np.flatnonzero(fits & matches(numbers, f"^(?:{one_of})$"))
            few = numbers.take(pa.array(rare))
            for type_, desc in reversed(self._rare.items()):  # so that the first has the last word
                found[rare[_fits(few, size[rare], desc)]] = type_
        return found

    def has(self, numbers: Any) -> Mask:
        """Tell which are valid, for rows of which few are: one pattern leaves out the others."""
        descs = (self.data.fixed_line, self.data.mobile, *self._rare.values())
        patterns = [desc.national_number_pattern for desc in descs if desc is not None]
        found = matches(numbers, f"^(?:{'|'.join(filter(None, patterns))})$")
        found[found] = self.types(where(numbers, found)) >= 0
        return found

    @cached_property
    def _rare(self) -> dict[int, PhoneNumberDesc]:
        """The types that few numbers have, in the order of `TYPES`."""
        data = self.data
        descs = {
            Type.PREMIUM_RATE: data.premium_rate,
            Type.TOLL_FREE: data.toll_free,
            Type.SHARED_COST: data.shared_cost,
            Type.VOIP: data.voip,
            Type.PERSONAL_NUMBER: data.personal_number,
            Type.PAGER: data.pager,
            Type.UAN: data.uan,
            Type.VOICEMAIL: data.voicemail,
        }
        known = {type_: desc for type_, desc in descs.items() if desc is not None}
        return {
            _TYPES.index(TYPES[type_]): desc
            for type_, desc in known.items()
            if desc.national_number_pattern
        }


@cache
def region_of(code: int, name: str) -> Region:
    """The region, made once."""
    return Region(code, name)


def _fits(numbers: Any, size: Ints, desc: PhoneNumberDesc | None) -> Mask:
    if not desc or not desc.possible_length:
        return _like(numbers, desc)
    known = np.zeros(_LONGEST, bool)
    known[list(desc.possible_length)] = True
    fits: Mask = known[size]
    if np.count_nonzero(fits) > _MOST_FIT * len(fits):  # to leave out so few takes longer
        return fits & _like(numbers, desc)
    fits[fits] = _like(where(numbers, fits), desc)
    return fits


def _like(numbers: Any, desc: PhoneNumberDesc | None) -> Mask:
    if not desc or not desc.national_number_pattern:
        return np.zeros(len(numbers), bool)
    return matches(numbers, f"^(?:{desc.national_number_pattern})$")


class Foreign(Exception):
    """A pattern that RE2 does not understand, with look-around or back references."""


def matches(column: Any, pattern: str) -> Mask:
    """Tell which texts have the pattern somewhere."""
    try:
        return _mask(pc.match_substring_regex(column, pattern))
    except pa.ArrowInvalid as error:
        raise Foreign(pattern) from error


def begins(column: Any, pattern: str) -> Mask:
    """Tell which texts begin with the pattern; most are plain digits, which need no RE2."""
    plain = pattern.isdecimal()
    return starts(column, pattern) if plain else matches(column, f"^(?:{pattern})")


def starts(column: Any, text: str) -> Mask:
    """Tell which texts begin with another."""
    return _mask(pc.starts_with(column, text))


def holds(column: Any, text: str) -> Mask:
    """Tell which texts have another in them."""
    return _mask(pc.match_substring(column, text))


def differs(column: Any, other: Any) -> Mask:
    """Tell which texts are not those of another column; null is like all of them."""
    return _mask(pc.fill_null(pc.not_equal(column, other), False))


def lengths(column: Any) -> Ints:
    """Count the bytes of each text."""
    found: Ints = pc.binary_length(column).to_numpy(zero_copy_only=False)
    return found


def letters_of(column: Any) -> tuple[Ints, np.ndarray[Any, np.dtype[np.uint8]]]:
    """Return where each text of a column without nulls begins, and all of their bytes."""
    _, ends, letters = column.buffers()
    ends = np.frombuffer(ends, np.int64)[column.offset :][: len(column) + 1]
    return ends, np.frombuffer(letters or b"", np.uint8)


def _mask(column: Any) -> Mask:
    mask: Mask = column.to_numpy(zero_copy_only=False)
    return mask


def where(column: Any, mask: Mask) -> Any:
    """Only the rows where the mask holds."""
    return column if mask.all() else column.filter(pa.array(mask))


def only(mask: Mask, column: Any) -> Any:
    """All rows, but null where the mask does not hold."""
    if mask.all():
        return column
    return pc.if_else(pa.array(mask), column, None) if mask.any() else pa.nulls(len(mask), TEXT)


def replaced(column: Any, pattern: str, by: str) -> Any:
    """Put a text in the place of the pattern, wherever it is."""
    try:
        return pc.replace_substring_regex(column, pattern, by)
    except pa.ArrowInvalid as error:
        raise Foreign(pattern) from error


def without(characters: bytes, column: Any) -> Any:
    """Take characters of ASCII out of a column, all at once: Arrow does it match by match."""
    ends, letters = letters_of(column)
    keeps = np.take(~np.isin(np.arange(256), list(characters)), letters)
    if keeps.all():
        return column
    kept = np.concatenate(([0], np.cumsum(keeps)))
    rest = letters.tobytes().translate(None, characters)
    return pa.LargeStringArray.from_buffers(
        len(column), pa.py_buffer(kept[ends]), pa.py_buffer(rest)
    )


def _digits_alone(column: Any) -> Mask:
    """Tell which are as many digits as a number has, perhaps after a +; quicker than by RE2."""
    ends, letters = letters_of(column)
    plus = starts(column, "+")
    count = np.diff(ends) - plus
    others = np.flatnonzero((letters - np.uint8(ord("0"))) > 9)
    rows = np.searchsorted(ends, others[(others >= ends[0]) & (others < ends[-1])], "right") - 1
    fine: Mask = np.bincount(rows, minlength=len(column)) == plus
    fine &= (count >= _FEWEST) & (count <= _MOST)
    return fine


def joined(*texts: Any) -> Any:
    """Texts and columns of texts in one, row by row; null where one of them is."""
    large = [pa.scalar(text, TEXT) if isinstance(text, str) else text for text in (*texts, "")]
    return pc.binary_join_element_wise(*large)


def named(names: Sequence[str | None], places: Ints) -> Any:
    """The name at each place; null at -1."""
    return pc.take(pa.array(names, TEXT), pa.array(places, mask=places < 0))
