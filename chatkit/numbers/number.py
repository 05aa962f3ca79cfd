"""One telephone number: what someone wrote, as country code and digits.

A text that has lost digits, or that can be read in two ways, gets a verdict and a reason. It is
never guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
import phonenumbers as library
from phonenumbers import COUNTRY_CODE_TO_REGION_CODE as REGIONS
from phonenumbers import CountryCodeSource, PhoneNumber
from phonenumbers import NumberParseException as Unreadable
from phonenumbers import PhoneNumberType as Type
from phonenumbers import ValidationResult as Size

from chatkit.errors import InputError

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
FICTION: Mapping[int, str] = {
    33: "63998[0-9]{4}",
    44: "7700900[0-9]{3}|1632960[0-9]{3}",
    353: "2091[0-9]{5}",
}
#: What is tried at the end of a number that may be too short: so many digits at most.
MISSING, FILLS = 4, "0123456789"
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

    It may be too short or too long for what it begins with. `column` does the same.
    """
    if _fictional(code, digits):
        return "reserved"
    sizes = sizes_of(code)
    missing = [n for n in range(1, MISSING + 1) if len(digits) + n in sizes]
    if any(_there_is(code, digits + fill * n) for n in missing for fill in FILLS):
        return "too short"
    if any(_there_is(code, digits[:size]) for size in sizes if size < len(digits)):
        return "too long"
    return "impossible"


def _there_is(code: int, digits: str) -> bool:
    return _fictional(code, digits) or library.is_valid_number(_phone(code, digits))


@cache
def sizes_of(code: int) -> tuple[int, ...]:
    """Return how many digits the numbers of a country code may have."""
    data = library.PhoneMetadata.metadata_for_region_or_calling_code(code, REGIONS[code][0])
    return tuple(data.general_desc.possible_length) if data and data.general_desc else ()


def _fictional(code: int, digits: str) -> bool:
    return code in FICTION and re.fullmatch(FICTION[code], digits) is not None


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
