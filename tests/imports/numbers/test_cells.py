"""Cells with country codes and numbers: how they are read, and that nothing is guessed."""

import csv
import json
import random
import tomllib
from pathlib import Path

import pandas as pd
import phonenumbers as library
import pytest
from bulk.planning import client, sandbox  # noqa: F401
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.imports.quality import NumberCheck, check_numbers
from chatkit.numbers import CERTAIN, find_region, parse_country, split

HERE = Path(__file__).parent
CASES = list(csv.DictReader((HERE / "cases/cells.csv").read_text("utf-8").splitlines()))
TEXTS = tomllib.loads((HERE / "cases/numbers.toml").read_text("utf-8"))
REGIONS = sorted(library.SUPPORTED_REGIONS)
HOMES = (
    *("AR", "AT", "AU", "BR", "CH", "DE", "DK", "ES", "FR", "GB", "ID", "IN", "IT", "KE", "MX"),
    *("NG", "NL", "PL", "PT", "RU", "SE", "SG", "TR", "US", "ZA"),
)
MOBILES = {
    region: sample
    for region in REGIONS
    if (sample := library.example_number_for_type(region, library.PhoneNumberType.MOBILE))
}
ON_THE_MOVE = (library.PhoneNumberType.MOBILE, library.PhoneNumberType.FIXED_LINE_OR_MOBILE)


def check(
    code: object, number: object, region: str | None = None, plus: object = None
) -> NumberCheck:
    [one] = check_numbers([code], [number], [find_region(region)], plus)
    return one


def valid(text: str, region: str | None = None) -> library.PhoneNumber | None:
    """Read a text with the library alone."""
    try:
        phone = library.parse(text, region)
    except library.NumberParseException:
        return None
    return phone if library.is_valid_number(phone) else None


def e164(phone: library.PhoneNumber) -> str:
    return library.format_number(phone, library.PhoneNumberFormat.E164)


def mobile(phone: library.PhoneNumber | None) -> bool:
    return phone is not None and library.number_type(phone) in ON_THE_MOVE


@pytest.mark.parametrize("case", CASES, ids=lambda case: "|".join([*case.values()][:4]))
def test_cells_are_read_as_the_table_says(case: dict[str, str]) -> None:
    one = check(
        case["country_code"] or None,
        case["number"],
        case["region"] or None,
        case["plus"] or None,
    )
    unusual = one.problem or one.note
    if unusual is None:
        assert (case["code"], " ".join(one.pair or ())) == ("", case["meant"])
        return
    assert (unusual.code, unusual.severity, unusual.suggestion or "") == (
        *(case["code"], case["severity"]),
        case["meant"],
    )
    assert unusual.message
    assert unusual.safe is (case["safe"] == "safe")
    if unusual.safe and not case["plus"]:
        again = check(*case["meant"].split(" ", 1))
        assert again.problem is None or again.problem.severity == "note"


@pytest.mark.parametrize("region", ["AT", "DE", "ID", "IT", "RU", "US", "BR", "DK"])
def test_no_mobile_of_another_country_that_lost_its_plus_is_swallowed(region: str) -> None:
    for sample in MOBILES.values():
        digits = e164(sample).removeprefix("+")
        number = split(digits, region)
        assert number.verdict not in CERTAIN or number.e164 == f"+{digits}"


@st.composite
def cells(draw: st.DrawFn) -> tuple[str, str]:
    """A region, and a number of it or of another that begins as real ones do, written somehow."""
    region = draw(st.sampled_from(HOMES))
    sample = MOBILES[draw(st.sampled_from([region, *HOMES]))]
    digits = library.national_significant_number(sample)
    kept = draw(st.integers(1, 4))
    chance = random.Random(draw(st.integers(0, 10**6)))
    digits = digits[:kept] + "".join(chance.choices("0123456789", k=len(digits) - kept))
    code = sample.country_code
    form = draw(st.sampled_from(["{n}", "0{n}", "{c}{n}", "00{c}{n}", "{c}{c}{n}", "+{c}{n}"]))
    return region, form.format(n=digits, c=code)


@given(cells(), st.booleans())
@example(("DE", "494915874254734"), True)  # three times
@settings(max_examples=volume(150, 3000))
def test_what_is_safe_has_no_other_plausible_reading(cell: tuple[str, str], sibling: bool) -> None:
    region, text = cell
    code = f"+{library.country_code_for_region(region)}" if sibling else None
    one = check(code, text, region)
    if one.problem is None or not one.problem.safe or one.pair is None:
        return
    meant = "".join(one.pair)
    chosen = valid(meant)
    assert chosen is not None or one.note is not None  # reserved for fiction
    if "+" not in text and not sibling:
        abroad = valid("+" + text.removeprefix("00"))
        assert not mobile(abroad) or e164(abroad) == meant
        home = valid(text, region)
        assert not mobile(home) or e164(home) == meant
    if one.pair[1].startswith(one.pair[0][1:]):
        twice = valid(one.pair[0] + one.pair[1][len(one.pair[0]) - 1 :])
        assert not mobile(twice)


@given(st.lists(cells(), min_size=1, max_size=4, unique_by=lambda cell: cell[1][-6:]))
@settings(
    max_examples=volume(10, 100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # nothing is written
)
def test_check_and_plan_agree(client, cells: list[tuple[str, str]]) -> None:
    """Of cells that can be sent both find the same; of what was fixed the plan finds nothing."""
    for region, text in cells:
        code = f"+{library.country_code_for_region(region)}"
        frame = pd.DataFrame({"country_code": [code], "number": [text], "name": ["Ana"]})
        checked = client.contacts.check(frame, region=region)
        result = {f.code for f in checked.findings if f.severity != "note" and f.field == "number"}
        plan = client.contacts.plan(frame, broken=True)
        noted = " ".join(plan.notes)
        if text.isdecimal():
            assert bool(result) == bool(plan.notes)
            assert not result or any(code in noted for code in result)  # the first is named
        if any(f.safe for f in checked.findings):
            fixed = client.contacts.check(checked.fix().frame)
            assert not [f for f in fixed.findings if f.severity == "error"]
            assert client.contacts.plan(checked.fix().frame).notes == []


@pytest.mark.parametrize("region", HOMES)
def test_ordinary_mobile_numbers_of_a_country_stay_certain(region: str) -> None:
    """Written as at home, hardly any is ambiguous."""
    sample = library.national_significant_number(MOBILES[region])
    code, chance, read, certain = library.country_code_for_region(region), random.Random(7), 0, 0
    while read < 60:
        digits = sample[0] + "".join(chance.choices("0123456789", k=len(sample) - 1))
        phone = valid(f"+{code}{digits}")
        if not mobile(phone):
            continue
        read += 1
        number = split(library.format_number(phone, library.PhoneNumberFormat.NATIONAL), region)
        certain += number.verdict in CERTAIN and number.e164 == e164(phone)
    assert certain >= 57


@pytest.mark.parametrize(("text", "code", "region"), TEXTS["countries"])
def test_a_country_is_read_however_it_is_written(text: str, code: str, region: str) -> None:
    country = parse_country(text)
    assert country is not None
    assert (country.code, country.region or "") == (code, region)
    assert [each for each in TEXTS["none"] if parse_country(each)] == []


def test_every_example_number_is_read_alike_however_it_is_written(shared: Path) -> None:
    text = (shared / "corpora/phone/example_numbers.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) > 600
    for row in rows:
        pair = row["country_code"], row["national"]
        assert check(*pair).pair == pair
        for form in ("e164", "international"):
            one = check(None, row[form])
            assert one.pair == pair or not one.problem.safe
        one = check(pair[0], row["national_format"])
        assert one.pair == pair or not (one.problem and one.problem.safe)


def test_what_people_write_is_read_without_a_crash(shared: Path) -> None:
    inputs = json.loads((shared / "corpora/phone/parse_inputs.json").read_text("utf-8"))
    strings = json.loads((shared / "corpora/blns/blns.json").read_text("utf-8"))
    texts = [each["input"] for each in inputs] + strings
    for code in (None, "+1", "DE"):
        assert all(one.problem or one.pair for one in check_numbers([code] * len(texts), texts))
    assert all(check_numbers(strings, ["2025550143"] * len(strings)))
