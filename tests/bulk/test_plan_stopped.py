"""Tests of runs that stop by themselves: canary, breaker, missing permission, busy account."""

from __future__ import annotations

import threading

import pandas as pd
import pytest
from bulk.applying import stop_by
from bulk.planning import (  # noqa: F401
    DOCUMENT,
    JSON,
    account,
    active,
    admin,
    call,
    client,
    contacts,
    flow,
    limited,
    number,
    sandbox,
    states,
    through,
    untouched,
    writes,
)

import chatkit
from chatkit.bulk.apply import Interrupt


def newcomers(count):
    return pd.DataFrame({"number": [number(n) for n in range(count)], "country_code": "+1"})


# --- the canary -----------------------------------------------------------------------------


@pytest.mark.parametrize("status", [403, 404, 401])
def test_creates_that_the_token_may_not_make_never_come_to_many(status):
    with account(forbidden_status=status) as (sandbox, _):
        client = limited(sandbox, "Chat Contacts, View")
        result = client.contacts.plan(newcomers(150)).apply(concurrency=4)
        assert len(writes(sandbox)) <= 5
        assert set(states(result)) <= {"failed", "not sent"}
        assert result.chatkit.summary().count("It stopped") == 1


# --- the breaker ----------------------------------------------------------------------------


def test_updates_that_a_404_service_forbids_stop_after_ten(sandbox):
    with account(forbidden_status=404) as (sandbox, _):
        contacts(sandbox, 40)
        client = limited(sandbox, "Chat Contacts, View")
        frame = client.contacts.frame().assign(name="Zoë")
        since = len(writes(sandbox))
        result = client.contacts.plan(frame).apply(many=True, concurrency=1)
        assert len(writes(sandbox)) - since == 10
        assert states(result) == ["failed"] * 10 + ["not sent"] * 30


# --- permissions ----------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403])
def test_a_token_that_may_not_stops_the_run_and_a_better_one_goes_on(status):
    with account(forbidden_status=status) as (sandbox, whole):
        contacts(sandbox, 12)
        client = limited(sandbox, "Chat Contacts, View", "Chat Contacts, Add")
        frame = client.contacts.frame()
        frame.iloc[:3, frame.columns.get_loc("name")] = "Zoë"
        result = client.contacts.plan(frame).apply(concurrency=2)
        assert set(states(result)) == {"not sent"}
        assert "Chat Contacts, Edit" in result.chatkit.summary()
        assert [c["first_name"] for c in active(sandbox, "contacts").values()] == ["Ana"] * 12
        assert chatkit.runs(client)["state"].tolist() == ["open"]
        again = chatkit.resume(result, whole)
        assert states(again) == ["applied"] * 3
        assert chatkit.runs(client)["state"].tolist() == ["finished"]


@pytest.mark.parametrize("readable", [True, False])
@pytest.mark.parametrize("kind", ["update", "delete"])
def test_a_404_that_hides_a_refusal_is_never_taken_for_gone(kind, readable):
    with account(forbidden_status=404, inactive_readable=readable) as (sandbox, _):
        [contact] = contacts(sandbox, 1)
        client = limited(sandbox, "Chat Contacts, View")
        if kind == "delete":
            plan = client.contacts.plan(delete=[contact])
        else:
            plan = client.contacts.plan(client.contacts.frame().assign(name="Zoë"))
        result = plan.apply()
        assert states(result) == ["failed"], result["reason"].item()
        assert active(sandbox, "contacts")[contact]["first_name"] == "Ana"


@pytest.mark.parametrize("forbidden", [403, 404])
@pytest.mark.parametrize("second", [False, True])
def test_an_inactive_contact_that_can_be_read_is_not_taken_for_there(forbidden, second):
    points = {"forbidden_status": forbidden, "repeated_deletes": second, "inactive_readable": True}
    with account(**points) as (sandbox, client):
        ids = contacts(sandbox, 2)
        frame = client.contacts.frame()
        frame.loc[ids[0], "name"] = "Zoë"
        plan = client.contacts.plan(frame, delete=ids[1:])
        for contact in ids:
            call(sandbox, "DELETE", f"contacts/{contact}")
        result = plan.apply()
        assert states(result)[0] == "conflict"
        assert states(result)[1] == "unchanged"  # it is looked at before: nothing is sent for it
        assert active(sandbox, "contacts") == {}


def test_a_stop_after_the_last_answer_says_what_is_left_to_do(sandbox, client, capsys):
    contacts(sandbox, 4)
    plan, interrupt = client.contacts.plan(client.contacts.frame().assign(name="Zoë")), Interrupt()

    def stop_at_the_end(done, total):
        if done == total:
            interrupt.ask()

    result = stop_by(plan, interrupt).apply(many=True, watch=stop_at_the_end)
    assert states(result) == ["applied"] * 4
    assert result.chatkit.summary() == (
        "All 4 changes applied. It stopped: you stopped it before what was written was read back."
    )
    with untouched(sandbox):
        assert chatkit.resume(result).evidence.tolist() == ["read back"] * 4


# --- a busy account -------------------------------------------------------------------------


def test_a_second_apply_on_the_account_is_refused_at_once(sandbox, client):
    contacts(sandbox, 30)
    first = client.contacts.plan(client.contacts.frame().assign(name="Zoë"))
    second = client.contacts.plan(newcomers(40).iloc[30:])
    admin(sandbox, "POST", "faults", latency=0.05)
    results = []
    thread = threading.Thread(
        target=lambda: results.append(first.apply(many=True, concurrency=2)), daemon=True
    )
    thread.start()
    while not any(method == "PUT" for method, _ in writes(sandbox)):
        thread.join(0.01)
    with pytest.raises(chatkit.errors.AccountBusy, match=f"run {first.id}"):
        second.apply()
    with pytest.raises(chatkit.errors.AccountBusy):
        first.apply(many=True)
    thread.join()
    assert states(results[0]) == ["applied"] * 30
    assert len(active(sandbox, "contacts")) == 30
    assert states(second.apply()) == ["applied"] * 10


def test_another_account_is_not_busy(sandbox, client):
    from chatkit.bulk.stores import get_journal_folder
    from chatkit.util.files import hold_account_lock

    with (
        hold_account_lock(get_journal_folder(passing=True), client.connection.account),
        account() as (_, other),
    ):
        assert states(other.contacts.plan(newcomers(1)).apply()) == ["applied"]
        with pytest.raises(chatkit.errors.AccountBusy, match="Nothing was sent"):
            client.contacts.plan(newcomers(1)).apply()
