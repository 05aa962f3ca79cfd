"""Numbers that are there twice, however they are written."""

import warnings
from typing import Any

import pandas as pd
import pytest
from bulk.planning import client, sandbox  # noqa: F401

from chatkit.imports.quality import (
    AccountContacts,
    CheckedContact,
    Pair,
    find_duplicate_rows,
    make_natural_key,
)

BOTH, ALONE = ("country_code", "number"), ("number",)
ANA, BO = ("+1", "2025550143"), ("+1", "2025550144")


def rows(
    *pairs: Pair | None, names: list[Any] | None = None, ids: list[Any] | None = None
) -> list[CheckedContact]:
    nothing = [None] * len(pairs)
    cells = zip(ids or nothing, names or nothing, pairs, strict=True)
    return [CheckedContact(f"r{n}", *each) for n, each in enumerate(cells)]


@pytest.mark.parametrize(
    ("names", "severity", "message"),
    [
        (["Ana", "Ana"], "note", "it equals row r0: it is sent once"),
        ([None, "Ana"], "note", "it equals row r0: it is sent once"),
        (["Ana", "Zoë"], "error", 'row r0 has the same number: "Ana" there, "Zoë" here'),
    ],
)
def test_a_later_row_with_a_number_is_shown_beside_the_first(names, severity, message) -> None:
    three = rows(ANA, BO, ANA, None, names=[names[0], "Bo", names[1], None])
    [(place, unusual)] = find_duplicate_rows(three, BOTH)
    assert (place, unusual.code, unusual.severity, unusual.message) == (
        2,
        "duplicate",
        severity,
        message,
    )
    assert not unusual.safe


def test_the_first_row_without_a_name_has_that_of_the_second() -> None:
    three = rows(ANA, ANA, ANA, names=[None, "Ana", "Bo"])
    [(_, note), (_, error)] = find_duplicate_rows(three, BOTH)
    assert (note.severity, error.severity) == ("note", "error")
    assert error.message == 'row r0 has the same number: "Ana" there, "Bo" here'


def test_rows_of_the_account_with_one_number_are_an_error() -> None:
    [(_, unusual)] = find_duplicate_rows(rows(ANA, ANA, ids=[50001, 50002]), BOTH)
    assert unusual.severity == "error"


SPELLINGS = [
    (("+52", "15512345678"), ("+52", "5512345678")),
    (("+55", "1187654321"), ("+55", "11987654321")),
    (("+54", "1187654321"), ("+54", "91187654321")),
    (("+49", "015123456789"), ("+49", "15123456789")),
    (("+49", "4915123456789"), ("+49", "15123456789")),
    (("+44", "07400123456"), ("+44", "7400123456")),
]


@pytest.mark.parametrize(("old", "new"), SPELLINGS)
def test_two_spellings_may_be_one_contact_in_check_and_in_plan(client, old, new) -> None:
    """In the account and in the frame; neither is an error."""
    [(place, unusual)] = find_duplicate_rows(rows(old, new), BOTH)
    assert (place, unusual.code, unusual.severity) == (1, "same contact", "warning")
    one = account(old, pairs=[new]).find_same_contact(rows(new)[0])
    assert one is not None
    assert "may be the same contact as contact 50001" in one.message
    with warnings.catch_warnings(action="ignore"):  # of numbers with trunk zeros
        client.contacts.create(country_code=old[0], number=old[1], name="Ana")
    frame = pd.DataFrame({"country_code": [new[0]], "number": [new[1]], "name": ["Ana"]})
    assert "same contact" in {f.code for f in client.contacts.check(frame).findings}
    assert "same contact" in " ".join(client.contacts.plan(frame).notes)


def test_the_country_code_counts_where_the_service_looks_at_it() -> None:
    two = rows(ANA, ("+44", ANA[1]))
    assert list(find_duplicate_rows(two, BOTH)) == []
    [(place, unusual)] = find_duplicate_rows(two, ALONE)
    assert place == 1
    assert unusual.message.endswith("same number of +1, and the service compares numbers alone")
    assert [make_natural_key(ANA, by) for by in (BOTH, ALONE)] == ["+1 2025550143", "2025550143"]


def account(*cells: tuple[Any, Any], pairs: Any = (ANA, BO)) -> AccountContacts:
    base = pd.DataFrame(cells, columns=[*BOTH], dtype=object).assign(name="Ana")
    return AccountContacts(base.set_axis(base.index + 50001), pairs, BOTH)
