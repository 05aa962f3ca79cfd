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


def test_ids_of_another_account_are_none_of_ours(sandbox, client):
    with account() as (other, other_records):
        contacts(other, 1)
        frame = other_records.contacts.frame()
        contacts(sandbox, 1)
        assert [f.code for f in client.contacts.check(frame).findings] == ["in account"]


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
    with pytest.raises(chatkit.errors.InputError, match='"lost" or "unused"'):
        client.contacts.check(pd.DataFrame({"number": ["1"]}), plus="gone")


def test_a_row_of_several_levels_is_named_by_all_of_them(client):
    index = pd.MultiIndex.from_tuples([("A", 1), ("B", 2)])
    findings = client.contacts.check(pd.DataFrame({"name": ["Ana ", "Bo "]}, index=index)).findings
    assert [f.row for f in findings] == [("A", 1), ("B", 2)]


SPELLINGS = [
    (("+52", "15512345678"), ("+52", "5512345678")),
    (("+55", "1187654321"), ("+55", "11987654321")),
    (("+49", "4915123456789"), ("+49", "15123456789")),
]


@pytest.mark.parametrize(("old", "new"), SPELLINGS)
@pytest.mark.filterwarnings("ignore:.* has 1 warning")
def test_two_spellings_may_be_one_contact_in_a_plan(client, old, new):
    """In the account and in the frame; neither is an error."""
    client.contacts.create(country_code=old[0], number=old[1], name="Ana")
    frame = pd.DataFrame([(*new, "Ana"), ("+1", "2025550100", "Bo")])
    plan = client.contacts.plan(frame.set_axis(["country_code", "number", "name"], axis=1))
    assert "same contact" in " ".join(plan.notes)
