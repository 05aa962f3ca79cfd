"""A whole frame is checked, against an account that is read once at most."""

import pandas as pd
import pytest
from bulk.planning import (  # noqa: F401
    account,
    client,
    contact,
    contacts,
    log,
    sandbox,
    states,
    untouched,
)

import chatkit
from chatkit.imports.quality import check_contacts
from chatkit.resource import get_endpoints


def reads(sandbox):
    return len([path for method, path in log(sandbox) if method == "GET"])


def result(quality):
    return [(f.row, f.field, f.severity, f.code) for f in quality.findings]


def test_findings_come_in_the_order_of_their_severity_and_rows(sandbox, client):
    frame = pd.DataFrame(
        {
            "name": ["Жana", "Ana\u200b", "Bo", "Zoë"],
            "number": ["2025550100", "2025550101", "202-555-0102", None],
            "country_code": "+1",
        },
        index=["a", "b", "c", "d"],
    )
    assert result(client.contacts.check(frame)) == [
        ("c", "number", "error", "not split"),
        ("d", "number", "error", "empty"),
        ("b", "name", "warning", "invisible"),
        ("a", "name", "note", "mixed scripts"),
    ]


def test_a_frame_that_was_read_needs_no_other_read(sandbox, client):
    contacts(sandbox, 3)
    frame = client.contacts.frame()
    before = reads(sandbox)
    with untouched(sandbox):
        assert result(client.contacts.check(frame)) == []
    assert reads(sandbox) == before


def test_a_frame_of_a_file_reads_the_account_once(sandbox, client):
    contacts(sandbox, 3)
    new = pd.DataFrame({"number": ["2025550100", "2025550177"], "country_code": "+1"})
    before = reads(sandbox)
    assert result(client.contacts.check(new)) == [(0, "number", "note", "in account")]
    assert reads(sandbox) == before + 1


def test_a_frame_of_a_search_is_checked_against_all(sandbox, client):
    ids = [contact(sandbox, 0, "Ana"), contact(sandbox, 1, "Bo")]
    frame = client.contacts.frame(search="Ana")
    frame.loc[ids[0], "number"] = "2025550101"
    assert result(client.contacts.check(frame)) == [(ids[0], "number", "error", "number taken")]


def test_two_rows_that_exchange_their_numbers_are_told_by_no_one(sandbox, client):
    ids = contacts(sandbox, 2)
    frame = client.contacts.frame()
    frame["number"] = frame["number"].tolist()[::-1]
    assert result(client.contacts.check(frame)) == []
    frame["number"] = "2025550100"
    assert result(client.contacts.check(frame)) == [(ids[1], "number", "error", "duplicate")]


def test_rows_of_the_account_need_not_say_their_number(sandbox, client):
    ids = contacts(sandbox, 2)
    for frame in (
        pd.DataFrame({"id": ids, "name": "Zoë"}),
        pd.DataFrame({"id": map(str, ids), "name": "Zoë", "number": ["2025550100", None]}),
        client.contacts.frame().assign(number=None),
    ):
        assert result(client.contacts.check(frame)) == []
    unusual = pd.DataFrame({"id": ids, "number": ["", "202 555"]})
    assert [f.code for f in client.contacts.check(unusual).findings] == ["empty", "no country code"]


def test_ids_of_a_file_are_ids_even_as_text(sandbox, client):
    ids = contacts(sandbox, 2)
    numbers = ["2025550100", "2025550101"]
    frame = pd.DataFrame({"id": map(str, ids), "number": numbers, "country_code": "+1"})
    assert result(client.contacts.check(frame)) == []


def test_ids_of_another_account_are_none_of_ours(sandbox, client):
    with account() as (other, other_records):
        contacts(other, 1)
        frame = other_records.contacts.frame()
        contacts(sandbox, 1)
        assert [f.code for f in client.contacts.check(frame).findings] == ["in account"]


def test_a_doubted_number_of_the_account_is_only_a_note(sandbox, client):
    made = client.contacts.create(number="7700900123", country_code="+44", name="Ana")
    assert result(client.contacts.check(client.contacts.frame())) == [
        (made.id, "number", "note", "reserved")
    ]


def test_a_region_is_asked_for_where_it_helps(sandbox, client):
    frame = pd.DataFrame({"number": ["98765 43210", "98765 43211"]})
    quality = client.contacts.check(frame)
    assert {f.code for f in quality.findings} == {"no country code"}
    assert "2 rows without a country code: check(frame, region='IN')" in quality.notes[0]
    for column, expected in ("Land", "Land"), ("note", "+44"):
        more = frame.reindex(range(3)).fillna("+44 7911 123456").assign(**{column: "+91"})
        more.loc[0, "note"] = "vip"
        assert f"region={expected!r})" in client.contacts.check(more).notes[0]
    assert {f.suggestion for f in client.contacts.check(frame, region="IN").findings} == {
        "+91 9876543210",
        "+91 9876543211",
    }


DELETED = {
    (False, False): "not listed",
    (False, True): "not listed",
    (True, True): "listed like all others",
}


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("readable", [False, True])
def test_deleted_contacts_are_told_as_far_as_the_service_shows_them(listed, readable):
    with account(inactive_in_lists=listed, inactive_readable=readable) as (sandbox, client):
        gone, _ = contacts(sandbox, 2)
        client.contacts.delete(gone)
        new = pd.DataFrame({"number": ["2025550100", "2025550101"], "country_code": "+1"})
        quality = client.contacts.check(new)
        codes = {f.place: f.code for f in quality.findings}
        assert codes[1] == "in account"
        if listed and not readable:
            assert codes[0] == "restores"
            assert str(gone) in quality.findings[0].message
            assert quality.notes == ()
        else:
            assert codes.get(0) == ("in account" if listed else None)
            assert DELETED[listed, readable] in quality.notes[0]
        if listed:  # what is said of plans is so
            plan = client.contacts.plan(new.iloc[:1].assign(name="Zoë"), existing="update")
            # where its record can be read, nothing tells that it was deleted before it is written
            assert states(plan.apply()) == ["conflict" if readable else "applied"]
        if listed and not readable:
            assert client.contacts.get(gone).name == "Zoë"
        else:
            assert client.contacts.create(number="2025550100", country_code="+1").id == gone


def test_nothing_is_said_of_deleted_contacts_where_nothing_is_new(sandbox, client):
    contacts(sandbox, 1)
    new = pd.DataFrame({"number": ["2025550100"], "country_code": "+1"})
    assert client.contacts.check(new).notes == ()
    assert client.contacts.check(client.contacts.frame()).notes == ()


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [{"number": "1"}],
        pd.DataFrame({"text": ["a"]}),
        pd.DataFrame([["1", "2"]], columns=["number", "number"]),
    ],
)
def test_what_is_no_frame_of_contacts_is_refused(client, wrong):
    with pytest.raises(chatkit.errors.InputError):
        check_contacts(get_endpoints(client.contacts), wrong, None)


@pytest.mark.parametrize("rows", [0, 1])
def test_small_and_empty_frames_are_checked(client, rows):
    frame = pd.DataFrame({"number": [None] * rows, "name": [None] * rows})
    assert len(client.contacts.check(frame)) == rows
    assert len(client.contacts.check(client.contacts.frame())) == 0


def test_names_that_are_no_text_are_told(client):
    frame = pd.DataFrame({"name": pd.Series([7, True, ["Ana"], "Ana"], dtype=object)})
    assert [f.code for f in client.contacts.check(frame).findings] == ["not text"] * 3


def test_rows_are_called_as_the_frame_calls_them(client):
    index = pd.MultiIndex.from_tuples([("A", 1), ("B", 2)])
    frame = pd.DataFrame({"name": ["Ana ", "Bo "]}, index=index)
    assert [f.row for f in client.contacts.check(frame).findings] == [("A", 1), ("B", 2)]
    frame.index = pd.Index(["same", "same"])
    assert [f.place for f in client.contacts.check(frame).findings] == [0, 1]


LOST = [447400123456, 33612345678, 34612345678, 48512345678, 41781234567, 918123456789]


def test_a_column_that_lost_its_plus_is_one_note_and_one_argument(sandbox, client):
    frame = pd.DataFrame({"name": "Ana", "number": [*map(str, LOST), "0151 23456789"]})
    for region in (None, "DE"):
        checked = client.contacts.check(frame, region=region)
        [note] = [note for note in checked.notes if 'plus="lost"' in note]
        assert note.startswith("6 numbers without + would be mobile numbers of other countries")
        fixed = client.contacts.check(frame, region=region, plus="lost").fix().frame
        numbers = fixed["country_code"].str.removeprefix("+") + fixed["number"]
        assert numbers.tolist()[:6] == [*map(str, LOST)]
    assert fixed.loc[6, ["country_code", "number"]].tolist() == ["+49", "15123456789"]
    with pytest.raises(chatkit.errors.InputError, match='"lost" or "unused"'):
        client.contacts.check(frame, plus="gone")


def test_a_column_of_countries_is_offered_and_read(sandbox, client):
    countries = ["UK", "Deutschland", "IND", "+1", "Narnia"]
    numbers = ["07400 123456", "0151 23456789", "98123 45678", "2025550143", "0664 123456"]
    frame = pd.DataFrame({"number": numbers, "Country": countries, "name": "Ana"})
    checked = client.contacts.check(frame)
    assert "or the name of a column of countries" in " ".join(checked.notes)
    by_row = client.contacts.check(frame, region="Country")
    assert [f.suggestion for f in by_row.findings if f.safe] == [
        *("+44 7400123456", "+49 15123456789", "+91 9812345678", "+1 2025550143")
    ]
    assert "'Narnia', which names no country" in by_row.notes[0]


def test_a_row_whose_country_is_empty_says_what_to_fill_in(sandbox, client):
    numbers = ["0151 23456789", "0151 23456780", "+49 151 23456781"]
    frame = pd.DataFrame({"number": numbers, "Country": ["DE", None, None], "name": "Ana"})
    checked = client.contacts.check(frame, region="Country")
    [finding] = [f for f in checked.findings if f.code == "no country code"]
    assert finding.row == 1
    assert finding.message == (
        "it has no country code, and Country names no country in this row: fill that in, or write "
        "the number with + and its country code"
    )
    assert not any("region='IN'" in note for note in checked.notes)
