"""One telephone number: what is read, what is refused, and that nothing happens silently."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import phonenumbers as library
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.errors import InputError
from chatkit.numbers import CERTAIN, VERDICTS, split

CASES = tomllib.loads((Path(__file__).parent / "cases/numbers.toml").read_text("utf-8"))
REGIONS = sorted(library.SUPPORTED_REGIONS)
#: What can come with a country code and a number.
WITH_DIGITS = (*CERTAIN, "impossible", "too short", "too long", "wrong length", "no area code")
TEXTS = st.text("0123456789+-. ()/,;xe*|'＋٣") | st.text()


@pytest.mark.parametrize(("text", "region", "verdict", "e164", "suggestion"), CASES["numbers"])
def test_a_number_is_read_or_refused_with_a_reason(
    text: str, region: str, verdict: str, e164: str, suggestion: str
) -> None:
    number = split(text, region or None)
    assert (number.verdict, number.e164 or "", number.suggestion or "") == (
        *(verdict, e164, suggestion),
    )
    assert (number.reason is None) == (verdict == "valid")
    assert "{" not in (number.reason or "")
    assert e164 in ("", f"{number.country_code}{number.number}")
    assert number.type is None or verdict == "valid"


def test_without_plus_and_region_nothing_is_read_and_what_may_be_meant_is_suggested():
    number = split("919876543210")
    assert number.reason == VERDICTS["no country code"]
    assert (number.verdict, number.e164) == ("no country code", None)
    assert (number.suggestion, number.lost_plus) == ("+919876543210", True)


def test_whole_numbers_and_what_is_missing_are_cells_too():
    assert split(919876543210, "IN").e164 == "+919876543210"
    assert split(b"+919876543210").e164 == "+919876543210"
    for decimal in (919876543210.0, 9.2e25, 0.5):
        assert split(decimal, "IN").verdict == "lost digits"
    for nothing in (None, float("nan"), "", "  ", "\u200e", "'"):
        assert split(nothing).verdict == "empty"
    assert split(True).verdict == "not a number"


def test_a_region_that_does_not_exist_is_refused_with_what_would_do():
    for region in ("XX", "", "+999", "+800", "SU", "Narnia"):
        with pytest.raises(InputError, match="two letters"):
            split("+91 98765 43210", region)


@pytest.mark.parametrize(
    ("text", "countries"),
    [
        ("9123456789", "+1 (US), +7 (RU), +63 (PH), +91 (IN), +98 (IR) or +234 (NG)"),
        ("15123456789", "+49 (DE) or +86 (CN)"),
        ("11987654321", "+55 (BR)"),
        ("612345678", ""),  # too many to choose from
        ("0151 23456789", ""),
    ],
)
def test_a_number_without_country_code_lists_the_few_it_may_be_of(text: str, countries: str):
    number = split(text)
    assert number.verdict == "no country code" and number.number is None
    assert number.reason is not None
    assert number.reason.partition(" It may be a mobile number of ")[2] == countries


@pytest.mark.parametrize("region", ["Germany", "deutschland", "DEU", " germany "])
def test_a_region_is_taken_by_the_name_of_its_country(region: str):
    assert split("0151 23456789", region).e164 == "+4915123456789"


def test_numbers_of_a_shared_country_code_tell_their_region():
    assert split("+1 204 234 5678").region == "CA"
    assert split("+44 1624 712345").region == "IM"
    assert split("+7 701 234 5678").region == "KZ"


@given(TEXTS, st.sampled_from([None, *REGIONS]))
def test_a_number_is_read_whole_or_not_at_all(text: str, region: str | None):
    number = split(text, region)
    assert (number.country_code is not None) == (number.number is not None)
    if number.verdict not in ("too short", "too long"):  # some are so for any country
        assert (number.country_code is not None) == (number.verdict in WITH_DIGITS)
    assert (number.reason is None) == (number.verdict == "valid")
    assert number.type is None or number.verdict in CERTAIN
    if number.e164:
        digits = library.normalize_digits_only(text)
        assert digits.endswith(number.number[-4:])
        assert re.fullmatch("[+][1-9][0-9]{0,2}", number.country_code)
        assert re.fullmatch("[0-9]{2,17}", number.number)
    if number.verdict in CERTAIN:
        assert split(number.e164)[:4] == number[:4]
