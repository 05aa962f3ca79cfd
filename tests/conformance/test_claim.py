"""Claims: a number that is somebody's is left to them."""

import itertools
import re
from contextlib import nullcontext
from itertools import islice

import pytest
from bent import Bent, Exchange, quiet

import chatkit
from chatkit.conformance import contacts, run
from chatkit.conformance.contacts import fiction_numbers, name_of

THEIRS = "2125550142"


@pytest.fixture
def first_is_theirs(monkeypatch):
    """Draw the number of somebody first, and new ones after it."""
    real = fiction_numbers()
    drawn = itertools.chain([THEIRS], real)
    monkeypatch.setattr(contacts, "fiction_numbers", lambda: drawn)


def test_numbers_are_reserved_for_fiction():
    for number in islice(fiction_numbers(), 500):
        assert re.fullmatch(r"[2-9]\d\d55501\d\d", number)


@pytest.mark.parametrize(
    "profile",
    [
        chatkit.ServiceProfile(),
        chatkit.ServiceProfile(search_param=None),
        chatkit.ServiceProfile(inactive_in_lists=True, inactive_readable=True),
        chatkit.ServiceProfile(contact_key="country_code_and_number"),
    ],
    ids=["search", "no-search", "inactive-listed", "two-keys"],
)
@pytest.mark.parametrize("deleted", [False, True], ids=["active", "inactive"])
def test_a_contact_of_somebody_stays_as_it_is(first_is_theirs, profile, deleted):
    with chatkit.Sandbox(profile=profile) as sandbox, chatkit.connect(sandbox) as client:
        theirs = client.contacts.create(number=THEIRS, country_code="+1", name="Ana de la Cruz")
        if deleted:
            client.contacts.delete(theirs.id)
        shown = client.contacts.frame(full=True)
        report = run(client, **quiet(sandbox))
        assert "differs" not in {outcome.state for outcome in report.outcomes}
        ours = set(client.contacts.frame().index) - set(shown.index)
        assert profile.inactive_in_lists or not ours
        if not deleted:
            assert client.contacts.get(theirs.id) == theirs
            return
        with pytest.raises(chatkit.NotFound) if not profile.inactive_readable else nullcontext():
            client.contacts.get(theirs.id)
        again = client.contacts.create(number=THEIRS, country_code="+1")
        assert (again.id, again.name) == (theirs.id, "Ana de la Cruz")


def test_restoring_somebody_is_said(first_is_theirs):
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        theirs = client.contacts.create(number=THEIRS, country_code="+1", name="Ana Cruz")
        client.contacts.delete(theirs.id)
        report = run(client, **quiet(sandbox))
        assert f"The inactive contact {theirs.id} of somebody else was restored" in repr(report)


def test_what_an_earlier_trial_left_is_used_again(monkeypatch):
    few = itertools.cycle(f"31255501{n:02}" for n in range(20))
    monkeypatch.setattr(contacts, "fiction_numbers", lambda: few)
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        for _ in range(3):
            report = run(client, **quiet(sandbox))
            assert "differs" not in {outcome.state for outcome in report.outcomes}
            assert not any("somebody else" in note for note in report.notes)
            assert not any("was free" in outcome.seen for outcome in report.outcomes)


def test_a_number_is_drawn_once_where_no_search_shows_that_it_is_taken(monkeypatch):
    real = fiction_numbers()
    again = (number for drawn in real for number in (drawn, drawn, drawn))
    monkeypatch.setattr(contacts, "fiction_numbers", lambda: again)
    profile = chatkit.ServiceProfile(search_param=None, clash_status=422)
    with (
        chatkit.Sandbox(seed="empty", profile=profile) as sandbox,
        chatkit.connect(sandbox) as client,
    ):
        report = run(client, **quiet(sandbox))
    assert "differs" not in {outcome.state for outcome in report.outcomes}


def test_without_a_free_number_nothing_is_told_of_contacts():
    def taken(x: Exchange) -> None:
        if x.of("contacts", "create"):
            x.status, x.envelope, x.body = 409, {}, b""

    with (
        chatkit.Sandbox(seed="empty") as sandbox,
        chatkit.connect(Bent(sandbox, after=taken)) as client,
    ):
        outcomes = {o.fact.name: o for o in run(client, allow_writes=True).outcomes}
    assert outcomes["create_contact"].seen == "no number reserved for fiction was free"
    assert outcomes["list_contacts"].state == "holds"


def test_the_parts_of_a_name_are_joined():
    assert name_of({"first_name": "Ana", "middle_name": None, "last_name": "Cruz"}) == "Ana Cruz"
    assert name_of({"first_name": None}) == ""
