"""Contacts are checked before they are sent, one or many, as a file is."""

import pandas as pd
import pytest
from bulk.planning import client, sandbox  # noqa: F401

import chatkit
from chatkit.bulk.plan import get_refused_cells

NONE = [("+1", "1", "number"), ("+999", "123", "country_code")]


@pytest.mark.parametrize(("code", "number", "column"), NONE)
def test_what_no_country_can_have_is_sent_by_nobody_unless_one_says_so(
    client, code, number, column
):
    with pytest.raises(chatkit.errors.InputError, match="broken=True"):
        client.contacts.create(number=number, country_code=code)
    frame = pd.DataFrame({"number": [number, "2025550143"], "country_code": [code, "+1"]})
    plan = client.contacts.plan(frame)
    assert [(cell.row, cell.column) for cell in get_refused_cells(plan)] == [(0, column)]
    assert [change.after["number"] for change in plan.changes] == ["2025550143"]
    assert len(client.contacts.plan(frame, broken=True)) == 2
    with pytest.warns(UserWarning, match="has 1 error"):
        made = client.contacts.create(number=number, country_code=code, broken=True)
    assert made.number == number


def test_what_is_odd_is_told_and_sent(client):
    rows = {
        ("+91", "919876543210", "Ana"): "country code twice",
        ("+44", "07400123456", "Bo"): "not split",
        ("+1", "2025550143", "x" * 5000): "long",
        ("+1", "2025550144", "Ce\u200bm"): "invisible",
    }
    frame = pd.DataFrame([*rows], columns=["country_code", "number", "name"])
    plan = client.contacts.plan(frame)
    assert len(plan) == 4
    assert not get_refused_cells(plan)
    for (code, number, name), outcome in rows.items():
        [note] = [note for note in plan.notes if note.startswith(f"{code} {number} has ")]
        assert outcome in note
        with pytest.warns(UserWarning, match=outcome):
            client.contacts.create(number=number, country_code=code, name=name)


def test_fictional_and_ordinary_numbers_are_not_told(client):
    rows = [
        ("+44", "7700900123"),
        ("+1", "2025550143"),
        ("+353", "209101234"),
        ("+33", "639981234"),
    ]
    plan = client.contacts.plan(pd.DataFrame(rows, columns=["country_code", "number"]))
    assert (len(plan), plan.notes) == (4, [])
    for code, number in rows:
        client.contacts.create(country_code=code, number=number)


def test_only_cells_that_are_sent_are_checked(client):
    with pytest.warns(UserWarning):
        client.contacts.create(number="1", country_code="+1", name="A\u200bna", broken=True)
    frame = client.contacts.frame()
    frame["name"] = "Ana"
    plan = client.contacts.plan(frame)
    assert (len(plan), plan.notes, get_refused_cells(plan)) == (1, [], ())
    frame["number"] = "2"
    assert (
        len(get_refused_cells(client.contacts.plan(frame))) == 1
    )  # beside a country code that stays
    assert client.contacts.frame().name.tolist() == ["A\u200bna"]


def test_a_number_of_an_update_is_read_with_its_country_code(client):
    made = client.contacts.create(number="2025550143", country_code="+1")
    with pytest.raises(chatkit.errors.InputError, match="not a number"):
        client.contacts.update(made.id, number="1")
    with pytest.warns(UserWarning, match="it is dialled"):
        client.contacts.update(made.id, number="12025550144")
    assert client.contacts.update(made.id, number="2025550145").number == "2025550145"


def test_a_run_with_what_no_country_can_have_can_be_undone(client):
    frame = pd.DataFrame({"number": ["1"], "country_code": ["+1"]})
    result = client.contacts.plan(frame, broken=True).apply()
    assert result["state"].tolist() == ["applied"]
    assert chatkit.undo(result).apply()["state"].tolist() == ["applied"]
    assert client.contacts.frame().empty
