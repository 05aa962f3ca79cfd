"""Telephone numbers as people write them, and what the library alone says of each."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import phonenumbers as library
from phonenumbers import NumberParseException as Unreadable
from phonenumbers import PhoneNumberType as Type
from phonenumbers import ValidationResult as Size

REGIONS = sorted(library.SUPPORTED_REGIONS)
SEPARATORS = ("", " ", "-", " - ", ") ", "\u2011")
#: c: country code, n: its digits, s: the same with separators, t: the 0 for calls inside.
FORMS = (
    *("+{c}{n}", "+{c} {s}", "(+{c}) {s}", "+{c} (0){s}", "+{c} {t}{s}"),
    *("{n}", "{s}", "{t}{n}", "{t}{s}", "({t}{s}", "{c}{n}", "{c} {s}"),
    *("00{c}{n}", "00 {c} {s}", "011{c}{n}", "{n}{n}"),
)
VERDICTS = {
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
TYPES = {
    Type.FIXED_LINE: "fixed line",
    Type.MOBILE: "mobile",
    Type.FIXED_LINE_OR_MOBILE: "fixed line or mobile",
    Type.TOLL_FREE: "toll free",
    Type.PREMIUM_RATE: "premium rate",
    Type.SHARED_COST: "shared cost",
    Type.VOIP: "voip",
    Type.PERSONAL_NUMBER: "personal",
    Type.PAGER: "pager",
    Type.UAN: "company",
    Type.VOICEMAIL: "voicemail",
}


class Said(NamedTuple):
    """What is said of one text."""

    country_code: str | None
    number: str | None
    region: str | None
    type: str | None
    verdict: str


def by_library(text: str, region: str | None) -> Said:
    """Ask the library, one call after the other, as its documentation shows it.

    What begins with the region's own country code is ambiguous if it is a number after a + and
    not the one that the library makes of it.
    """
    try:
        phone = library.parse(text, region)
    except Unreadable as error:
        unknown = "default region" in str(error)
        verdict = "ambiguous" if unknown else VERDICTS[error.error_type]
        return Said(None, None, None, None, verdict)
    if region and "+" not in text and phone != after_plus(text, region, phone):
        return Said(None, None, None, None, "ambiguous")
    valid = library.is_valid_number(phone)
    return Said(
        country_code=f"+{phone.country_code}",
        number=library.national_significant_number(phone),
        region=library.region_code_for_number(phone),
        type=TYPES.get(library.number_type(phone)),
        verdict="valid" if valid else SIZES[library.is_possible_number_with_reason(phone)],
    )


def agrees(ours: Sequence[str | None], said: Said) -> bool:
    """Whether ours is what the library says, or tells more of what it finds impossible."""
    closer = ("impossible", "reserved", "too short", "too long")
    told = ours[4] in closer if said.verdict == "impossible" else ours[4] == said.verdict
    return tuple(ours[:4]) == said[:4] and told


def after_plus(text: str, region: str, phone: library.PhoneNumber) -> library.PhoneNumber:
    """The valid number that a text with the region's own country code is after a +, or `phone`."""
    digits = library.normalize_digits_only(text)
    if not digits.startswith(str(library.country_code_for_region(region))):
        return phone
    try:
        other = library.parse("+" + digits)
    except Unreadable:
        return phone
    return other if library.is_valid_number(other) else phone


def written(chance: random.Random, region: str, count: int) -> list[str]:
    """Numbers of a region, right and wrong, of every type and in many forms."""
    found = (library.example_number_for_type(region, type_) for type_ in TYPES)
    examples = [library.national_significant_number(number) for number in found if number]
    code = str(library.country_code_for_region(region))
    trunk = library.ndd_prefix_for_region(region, True) or ""
    return [one(chance, code, trunk, chance.choice(examples)) for _ in range(count)]


def one(chance: random.Random, code: str, trunk: str, example: str) -> str:
    """One number that begins as the example does, in one of the forms."""
    kept = chance.randrange(len(example) + 1)
    digits = example[:kept] + "".join(chance.choices("0123456789", k=len(example) - kept))
    match chance.randrange(10):
        case 0:
            digits = digits[: chance.randrange(1, len(digits))]
        case 1:
            digits += "".join(chance.choices("0123456789", k=chance.randrange(1, 4)))
    cut = chance.randrange(1, 5)
    spaced = digits[:cut] + chance.choice(SEPARATORS) + digits[cut:]
    return chance.choice(FORMS).format(c=code, n=digits, s=spaced, t=trunk)


def columns(count: int, seed: int) -> Iterator[tuple[str | None, list[str]]]:
    """Columns of some `count` numbers in all, each with the region it is read in.

    A third are read in their own region, a third in another one, and a third in none.
    """
    chance = random.Random(seed)
    each = -(-count // (3 * len(REGIONS)))
    abroad = []
    for region in REGIONS:
        yield region, written(chance, region, each)
        yield chance.choice(REGIONS), written(chance, region, each)
        abroad += written(chance, region, each)
    chance.shuffle(abroad)
    yield None, abroad
