"""One telephone number: what is read, what is refused, and that nothing happens silently."""

from __future__ import annotations

import re

import phonenumbers as library
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.errors import InputError
from chatkit.numbers import CERTAIN, VERDICTS, split

REGIONS = sorted(library.SUPPORTED_REGIONS)
#: What can come with a country code and a number.
WITH_DIGITS = (*CERTAIN, "impossible", "too short", "too long", "wrong length", "no area code")
TEXTS = st.text("0123456789+-. ()/,;xe*|'＋٣") | st.text()


@pytest.mark.parametrize(
    ("text", "region", "code", "digits"),
    [
        ("+91 98765 43210", None, "+91", "9876543210"),
        ("98765-43210", "IN", "+91", "9876543210"),
        ("98765-43210", "in", "+91", "9876543210"),
        ("98765-43210", "+91", "+91", "9876543210"),
        ("(+1) 650.253.0000", None, "+1", "6502530000"),
        ("\u202a+1\u202f650\u00a0253\u20110000\u202c", None, "+1", "6502530000"),
        ("'+49 30/123456", None, "+49", "30123456"),
        ("Tel.: +64 3 331 6005", None, "+64", "33316005"),
        ("tel:+64-3-331-6005", None, "+64", "33316005"),
        ("+800 1234 5678", None, "+800", "12345678"),
    ],
)
def test_a_number_is_split_into_country_code_and_digits(text, region, code, digits):
    number = split(text, region)
    assert (number.country_code, number.number, number.verdict) == (code, digits, "valid")
    assert number.reason is None
    assert number.e164 == code + digits


def test_an_italian_zero_stays_and_a_zero_for_calls_inside_a_country_goes():
    assert split("+39 06 698 12345").number == "0669812345"
    assert split("06 698 12345", "IT").number == "0669812345"
    assert split("+44 (0)20 7946 0958").e164 == "+442079460958"
    assert split("011 15 8765-4321", "AR").e164 == "+5491187654321"
    for region in (None, "IN", "US"):  # 00 begins no number at home
        assert split("0049 30 123456", region).e164 == "+4930123456"


def test_without_plus_and_region_nothing_is_read_and_what_may_be_meant_is_suggested():
    number = split("919876543210")
    assert number.reason == VERDICTS["no country code"]
    assert (number.verdict, number.e164) == ("no country code", None)
    assert (number.suggestion, number.lost_plus) == ("+919876543210", True)
    assert split("9876543").suggestion is None


def test_a_country_code_without_plus_is_read_where_it_can_be_nothing_else():
    assert split("919876543210", "IN").e164 == "+919876543210"


@pytest.mark.parametrize(
    ("text", "region"),
    [("4915112345678", "DE"), ("62812345678", "ID"), ("468123456", "SE"), ("38343201234", "XK")],
)
def test_a_country_code_that_may_be_an_area_code_is_not_guessed_at(text, region):
    """The library takes them for numbers of the country that begin with its country code."""
    phone = library.parse(text, region)
    assert library.national_significant_number(phone) == text
    assert library.is_valid_number(phone)
    assert library.is_valid_number(library.parse("+" + text))
    number = split(text, region)
    assert (number.verdict, number.e164) == ("ambiguous", None)
    assert number.suggestion in (None, "+" + text)  # a mobile is likelier than a land line
    assert split("+" + text, region).verdict == "valid"


@pytest.mark.parametrize(
    "text",
    [
        *("919876543210.0", "919876543210.00", "9.19877E+11", "9,19877E+11", "9e11", "1.0"),
        *("919876543210,0", "91987654321.5", 919876543210.0, 9.2e25, 0.5),
    ],
)
def test_what_a_spreadsheet_made_a_decimal_of_is_never_expanded(text):
    for region in (None, "IN"):
        number = split(text, region)
        assert (number.verdict, number.e164, number.suggestion) == ("lost digits", None, None)


@pytest.mark.parametrize("text", ["650.253.0000", "6502.530000", "650.2530000"])
def test_a_number_with_points_is_no_decimal(text):
    assert split(text, "US").number == "6502530000"


def test_whole_numbers_and_what_is_missing_are_cells_too():
    assert split(919876543210, "IN").e164 == "+919876543210"
    assert split(b"+919876543210").e164 == "+919876543210"
    for nothing in (None, float("nan"), "", "  ", "\u200e", "'"):
        assert split(nothing).verdict == "empty"
    assert split(True).verdict == "not a number"


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("+64 3 331 6005 (work)", "+6433316005"),
        ("John: +64 3 331 6005", "+6433316005"),
        ("+1 800 FLOWERS", "+18003569377"),
        ("+64 3 331 6005 or 6006", None),
        ("+91 98765 4321O", "+919876543210"),
        ("+1 650 253 OOOO", None),  # zeros, or what the keys spell
        ("+91 98765|43210", None),  # a 1 or a separator
    ],
)
def test_letters_are_refused_and_their_reading_is_only_suggested(text, suggestion):
    number = split(text)
    assert (number.verdict, number.e164, number.suggestion) == ("letters", None, suggestion)


def test_an_extension_is_refused_and_the_number_without_it_suggested():
    for text in ("+1 650 253 0000 ext. 12", "+1 650 253 0000 x12", "tel:+16502530000;ext=12"):
        number = split(text)
        assert (number.verdict, number.e164) == ("extension", None)
        assert number.suggestion == "+16502530000"


@pytest.mark.parametrize("between", [" / ", ", ", "; ", "\n", " | ", " & ", "/", " "])
def test_two_numbers_in_a_cell_are_refused(between):
    number = split(f"+14155550100{between}+14155550101")
    assert (number.verdict, number.e164, number.suggestion) == ("several numbers", None, None)


@pytest.mark.parametrize(
    ("text", "region", "verdict"),
    [
        ("+91 98765", None, "too short"),
        ("+91 98765 43210 98765", None, "too long"),
        ("+91 " + "9" * 20, None, "too long"),
        ("9" * 300, "IN", "too long"),
        ("+354 98765432", None, "wrong length"),
        ("+1 253 0000", None, "no area code"),
        ("253-0000", "US", "no area code"),
        ("+1 123 456 7890", None, "impossible"),
        ("+999 123 4567", None, "unknown country code"),
        ("+0064 3 331", None, "unknown country code"),
        ("hello", "IN", "not a number"),
        ("§§§", "IN", "not a number"),
        ("-", "IN", "not a number"),
    ],
)
def test_each_number_that_is_wrong_has_a_verdict_and_a_reason(text, region, verdict):
    number = split(text, region)
    assert number.verdict == verdict
    assert number.reason
    assert "{" not in number.reason
    assert number.type is None


def test_a_region_that_does_not_exist_is_refused_with_what_would_do():
    for region in ("XX", "", "+999", "+800", "India"):
        with pytest.raises(InputError, match="two letters"):
            split("+91 98765 43210", region)


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
