"""What a country code and a number say together."""

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

import chatkit
from chatkit.checks.numbers import Told, doubted, pair_of, pair_text, tell_numbers


def told(code: object, number: object, region: str | None = None) -> Told:
    [one] = tell_numbers([code], [number], region)
    return one


@pytest.mark.parametrize(
    ("code", "number"), [("+1", "2025550143"), ("+39", "0612345678"), ("+91", "9876543210")]
)
def test_what_is_as_it_is_sent_needs_nothing(code: str, number: str) -> None:
    assert told(code, number) == Told((code, number))


@pytest.mark.parametrize(
    ("code", "number", "meant"),
    [
        (None, "+91 98765 43210", "+91 9876543210"),
        ("", "+919876543210", "+91 9876543210"),
        ("+91", "98765-43210", "+91 9876543210"),
        ("+91", " 9876543210", "+91 9876543210"),
        ("+91", "+91 98765 43210", "+91 9876543210"),
        ("+91", "0091 9876543210", "+91 9876543210"),
        ("+91", "09876543210", "+91 9876543210"),
        ("+49", "(0151) 234 567 89", "+49 15123456789"),
        ("+44", "(0)20 7946 0958", "+44 2079460958"),
        ("+39", "06 1234 5678", "+39 0612345678"),  # an Italian zero stays
        ("+7", "8 (912) 345-67-89", "+7 9123456789"),
        ("91", "9876543210", "+91 9876543210"),
        ("0091", "9876543210", "+91 9876543210"),
        (" +91 ", "9876543210", "+91 9876543210"),
        ("in", "09876543210", "+91 9876543210"),
        ("IN", "+919876543210", "+91 9876543210"),
        ("+1", "٢٠٢٥٥٥٠١٤٣", "+1 2025550143"),
    ],
)
def test_what_can_be_read_is_split_safely(code: str | None, number: str, meant: str) -> None:
    one = told(code, number)
    assert one.odd is not None
    assert (one.odd.code, one.odd.severity) == ("not split", "error")
    assert (one.odd.suggestion, one.odd.safe) == (meant, True)
    assert one.pair == pair_of(meant)
    assert told(*pair_of(meant)) == Told(pair_of(meant))


def test_a_country_code_before_the_number_is_taken_off() -> None:
    one = told("+91", "919876543210")
    assert one.odd is not None
    assert (one.odd.code, one.odd.suggestion, one.odd.safe) == (
        *("country code twice", "+91 9876543210"),
        True,
    )


@pytest.mark.parametrize(
    ("code", "number", "found", "meant"),
    [
        (None, "9876543210", "no country code", None),
        (None, "919876543210", "no country code", "+91 9876543210"),
        ("+44", "+919876543210", "wrong country", "+91 9876543210"),
        ("DE", "+919876543210", "wrong country", "+91 9876543210"),
        ("India", "9876543210", "country code", None),
        ("+", "9876543210", "country code", None),
        ("+4", "915123456789", "country code", None),
        ("ZZ", "9876543210", "country code", None),
        ("+999", "12345678", "unknown country code", None),
        ("+1", "123", "too short", None),
        ("+91", "98765432109", "too long", None),
        ("+44", "7700900", "too short", None),
        ("+1", "1234567890", "impossible", None),
        ("+1", "202555014399", "too long", None),
        ("+1", "2025550143 ext 5", "extension", "+1 2025550143"),
        ("+1", "call 2025550143", "letters", "+1 2025550143"),
        ("+1", "9.19877E+11", "lost digits", None),
        ("+1", 2025550143.0, "lost digits", None),
        ("+1", 2025550143, "not text", "+1 2025550143"),
        (91, "9876543210", "not text", "+91 9876543210"),
        ("+91", "9876543210/9876543211", "several numbers", None),
        ("+91", "abc", "not a number", None),
        ("+91", None, "empty", None),
        (None, "  ", "empty", None),
    ],
)
def test_what_a_person_must_decide_is_told_and_never_safe(
    code: object, number: object, found: str, meant: str | None
) -> None:
    one = told(code, number)
    assert one.odd is not None
    assert (one.odd.code, one.odd.suggestion, one.odd.safe) == (found, meant, False)
    assert one.odd.message


def test_what_the_library_does_not_know_yet_is_a_warning_and_nothing_of_it_is_safe() -> None:
    doubted = told("+1", "1234567890").odd
    assert doubted is not None
    assert doubted.severity == "warning"
    one = told("+1", "(123) 456-7890")
    assert one.odd is not None
    assert (one.odd.suggestion, one.odd.safe) == ("+1 1234567890", False)
    assert one.doubt == doubted


def test_too_short_is_never_safe_and_not_called_a_wrong_beginning() -> None:
    for code, number in (("+44", "+44 7700 900"), (None, "+44 7700 900"), ("+44", "07400 123")):
        one = told(code, number)
        assert one.odd is not None
        assert (one.odd.code, one.odd.safe) == ("too short", False)


@pytest.mark.parametrize("number", ["004915112345678", "4915112345678"])
def test_a_number_of_elsewhere_is_suggested_with_and_without_a_region(number: str) -> None:
    for region in (None, "US"):  # where 00 does not begin a call abroad
        odd = told(None, number, region).odd
        assert odd is not None
        assert (odd.suggestion, odd.safe) == ("+49 15112345678", False)


def test_uk_is_what_people_call_gb() -> None:
    assert told("UK", "7400 123456").pair == ("+44", "7400123456")
    assert told(None, "07400 123456", "UK").pair == ("+44", "7400123456")


@pytest.mark.parametrize(
    ("code", "number", "severities"),
    [
        ("+1", "1", ["error"]),
        ("+999", "123", ["error"]),
        ("+49", "1234567890123456", ["error"]),
        ("+91", "919876543210", ["warning"]),
        ("+44", "07400123456", ["warning"]),
        ("+1", "12345", ["warning"]),
        ("+44", "7400123456", []),
        ("+44", "7700900123", []),  # for fiction
    ],
)
def test_only_what_no_country_can_have_is_an_error_of_a_number_to_send(
    code: str, number: str, severities: list[str]
) -> None:
    found = doubted([code, "+1"], [number, "2025550143"])
    assert [odd.severity for odd in found.get(0, [])] == severities
    assert 1 not in found


def test_a_number_for_fiction_is_a_note() -> None:
    doubted = told("+44", "7700900123").odd
    assert doubted is not None
    assert (doubted.code, doubted.severity) == ("reserved", "note")
    for code, number in (("+44", "07700 900123"), (None, "+44 7700 900123"), ("GB", "7700900123")):
        one = told(code, number)
        assert one.odd is not None
        assert (one.odd.suggestion, one.odd.safe) == ("+44 7700900123", True)
        assert one.doubt == doubted  # to be looked at all the same


def test_a_number_that_seldom_has_a_chat_is_a_note() -> None:
    odd = told("+1", "8005551234").odd
    assert odd is not None
    assert (odd.code, odd.severity) == ("unusual number", "note")


@pytest.mark.parametrize("region", ["IN", "in", "+91"])
def test_a_region_reads_numbers_without_a_country_code(region: str) -> None:
    one = told(None, "098765 43210", region)
    assert one.pair == ("+91", "9876543210")
    assert one.odd is not None
    assert one.odd.safe
    assert told(None, "+1 202 555 0143", region).pair == ("+1", "2025550143")
    assert told("+1", "2025550143", region) == Told(("+1", "2025550143"))


def test_there_must_be_such_a_region() -> None:
    with pytest.raises(chatkit.InputError, match="'XX'"):
        tell_numbers([], [], "XX")


def test_the_column_is_that_of_the_fault() -> None:
    assert told("91", "9876543210").column == "country_code"
    assert told("India", "9876543210").column == "country_code"
    assert told("+91", "98765 43210").column == "number"


codes = st.sampled_from([None, "", "+1", "+91", "91", "+39", "+7", "+800", "IN", "India", "+0"])
numbers = st.one_of(
    st.none(),
    st.text("0123456789+ ()-/.٣x;e", max_size=16),
    st.from_regex(r"\+?[0-9]{5,15}", fullmatch=True),
)


@given(st.lists(st.tuples(codes, numbers), max_size=6), st.sampled_from([None, "IN", "IT"]))
@settings(max_examples=volume(40, 1000))
def test_a_safe_suggestion_needs_no_other_and_keeps_its_digits(
    cells: list[tuple[str | None, str | None]], region: str | None
) -> None:
    found = tell_numbers([code for code, _ in cells], [number for _, number in cells], region)
    assert found == [told(*cell, region) for cell in cells]
    for (_, number), one in zip(cells, found, strict=True):
        if one.odd and one.odd.safe and one.pair:
            assert one.odd.suggestion == pair_text(one.pair)
            again = told(*one.pair)
            assert again.pair == one.pair
            assert again.odd is None or not again.odd.safe
            digits = "".join(str(int(c)) for c in number or "" if c.isdecimal())
            assert digits.endswith(one.pair[1][-4:])


def test_every_example_number_is_told_alike_however_it_is_written(shared: Path) -> None:
    """The numbers of all regions: split, with +, and as they are dialled in their country."""
    text = (shared / "corpora/phone/example_numbers.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) > 600
    codes = [row["country_code"] for row in rows]
    wanted = [(row["country_code"], row["national"]) for row in rows]
    assert [
        one.pair for one in tell_numbers(codes, [row["national"] for row in rows], None)
    ] == wanted
    for column in ("e164", "international"):
        found = tell_numbers([None] * len(rows), [row[column] for row in rows], None)
        assert [one.pair for one in found] == wanted
        assert all(one.odd and one.odd.safe for one in found)
    for pair, one in zip(
        wanted, tell_numbers(codes, [row["national_format"] for row in rows], None), strict=True
    ):
        safe = one.odd is None or one.odd.safe
        assert one.pair == pair or not safe


def test_what_people_write_is_told_without_a_crash(shared: Path) -> None:
    inputs = json.loads((shared / "corpora/phone/parse_inputs.json").read_text("utf-8"))
    strings = json.loads((shared / "corpora/blns/blns.json").read_text("utf-8"))
    texts = [each["input"] for each in inputs] + strings
    for code in (None, "+1", "+49"):
        for one in tell_numbers([code] * len(texts), texts, None):
            assert one.odd or one.pair
    assert tell_numbers(strings, ["2025550143"] * len(strings), None)
