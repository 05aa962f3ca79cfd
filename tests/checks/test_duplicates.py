"""Numbers that are there twice, however they are written."""

from typing import Any

import pytest

from chatkit.checks.numbers import (
    AccountContacts,
    CheckedRows,
    Pair,
    duplicates_inside,
    natural_key,
)

BOTH, ALONE = ("country_code", "number"), ("number",)
ANA, BO = ("+1", "2025550143"), ("+1", "2025550144")


def rows(
    *pairs: Pair | None, names: list[Any] | None = None, ids: list[Any] | None = None
) -> CheckedRows:
    count = len(pairs)
    labels = [f"r{n}" for n in range(count)]
    cells = [pair or (None, None) for pair in pairs]
    return CheckedRows(labels, ids or [None] * count, names or [None] * count, pairs, cells)


def test_later_rows_are_told_which_row_has_their_number() -> None:
    found = dict(duplicates_inside(rows(ANA, BO, ANA, None, ANA, None), BOTH))
    assert list(found) == [2, 4]
    assert {odd.message for odd in found.values()} == {"row r0 has the same number"}
    assert {(odd.code, odd.severity, odd.safe) for odd in found.values()} == {
        ("duplicate", "error", False)
    }


def test_another_way_of_writing_and_another_name_are_told() -> None:
    two = rows(ANA, ANA, names=["Ana", "Zoë\u202e"])._replace(cells=[ANA, ("+1", "(202) 555-0143")])
    [(_, odd)] = duplicates_inside(two, BOTH)
    assert odd.message == ('row r0 has the same number, written in another way, and the name "Ana"')


def test_the_country_code_counts_where_the_service_looks_at_it() -> None:
    two = rows(ANA, ("+44", ANA[1]))
    assert list(duplicates_inside(two, BOTH)) == []
    [(place, odd)] = duplicates_inside(two, ALONE)
    assert place == 1
    assert "of +1, and the service looks at the number alone" in odd.message
    assert [natural_key(ANA, by) for by in (BOTH, ALONE)] == ["+1 2025550143", "2025550143"]


def account(*cells: tuple[Any, Any], name: str | None = "Ana") -> AccountContacts:
    return AccountContacts([50001 + n for n in range(len(cells))], [name] * len(cells), cells, BOTH)


@pytest.mark.parametrize(
    ("name", "severity", "reason"),
    [
        ("Ana", "note", 'contact 50001, "Ana", has this number already'),
        (None, "note", 'contact 50001, "Ana", has this number already'),
        ("Zoë", "warning", 'contact 50001, "Ana", has this number: this row would rename it'),
    ],
)
def test_a_new_row_is_told_who_has_its_number(name: Any, severity: str, reason: str) -> None:
    [(place, odd)] = account(ANA).outside(rows(BO, ANA, names=[None, name]), (), ())
    assert (place, odd.code, odd.severity, odd.message) == (1, "in account", severity, reason)


def test_a_number_kept_in_another_form_would_be_there_twice() -> None:
    [(_, odd)] = account(("+49", "015123456789")).outside(rows(("+49", "15123456789")), (), ())
    assert odd.severity == "warning"
    assert '"+49 015123456789"' in odd.message and "second contact" in odd.message
    assert account((None, None)).holder(ANA) is None


def test_a_row_of_the_account_cannot_take_the_number_of_another() -> None:
    there = account(ANA, BO)
    [(_, odd)] = there.outside(rows(ANA, ids=[50002]), (), ())
    assert (odd.code, odd.severity) == ("number taken", "error")
    assert list(there.outside(rows(ANA, ids=[50001]), (), ())) == []
    # whose row is in the frame too is told there
    assert list(there.outside(rows(ANA, BO, ids=[50002, 50001]), (), ())) == []


def test_what_is_told_already_is_not_told_again() -> None:
    assert list(account(ANA).outside(rows(ANA), {0}, ())) == []


def test_a_deleted_contact_would_be_restored() -> None:
    [(_, odd)] = account(ANA).outside(rows(ANA), (), {50001})
    assert (odd.code, odd.severity) == ("restores", "warning")
    assert "50001" in odd.message
