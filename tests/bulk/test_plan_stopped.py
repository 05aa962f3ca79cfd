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
from internals import middleware_of

import chatkit
from chatkit.bulk.apply import Interrupt


def newcomers(count):
    return pd.DataFrame({"number": [number(n) for n in range(count)], "country_code": "+1"})


def refusing(sandbox, after=0):
    """A client of a service that refuses every write, or all after the first few."""
    seen = []

    def refuse(method, target, headers, body):
        if method != "GET":
            seen.append(target)
            if len(seen) > after:
                return 422, JSON, b'{"message": "not today"}'
        return sandbox.answer(method, target, headers, body)

    return through(sandbox, refuse), seen


# --- the canary -----------------------------------------------------------------------------


def test_a_service_that_refuses_everything_gets_five_rows_of_many(sandbox):
    client, seen = refusing(sandbox)
    result = client.contacts.plan(newcomers(101)).apply(concurrency=32)
    assert len(seen) == 5
    assert result["state"].value_counts().to_dict() == {"not sent": 96, "failed": 5}
    summary = result.chatkit.summary()
    assert "96 not sent" in summary and "It stopped: the first 5 rows" in summary
    assert "not today" in summary


def test_a_plan_of_100_rows_has_no_canary_but_the_breaker(sandbox):
    client, seen = refusing(sandbox)
    result = client.contacts.plan(newcomers(100)).apply(concurrency=1)
    assert len(seen) == 10
    assert result["state"].value_counts().to_dict() == {"not sent": 90, "failed": 10}
    assert "10 rows in a row were refused" in result.chatkit.summary()


def test_each_kind_of_change_begins_with_five_rows(sandbox):
    ids = contacts(sandbox, 150)
    seen = []

    def no_creates(method, target, headers, body):
        if method == "POST":
            seen.append(target)
            return 422, JSON, b'{"message": "not today"}'
        return sandbox.answer(method, target, headers, body)

    client = through(sandbox, no_creates)
    frame = client.contacts.frame()
    frame.iloc[:60, frame.columns.get_loc("name")] = "Zoë"
    new = pd.DataFrame({"number": [number(n) for n in range(200, 260)], "country_code": "+1"})
    frame = pd.concat([frame.reset_index(), new], ignore_index=True)
    result = client.contacts.plan(frame, delete=ids[-60:]).apply(many=True)
    outcome = result.groupby("change")["state"].value_counts().to_dict()
    assert outcome == {
        ("update", "applied"): 60,
        ("delete", "applied"): 60,
        ("create", "failed"): 5,
        ("create", "not sent"): 55,
    }
    assert len(seen) == 5


def test_one_row_that_is_refused_does_not_stop_the_others_of_another_kind():
    with account(clash_status=422) as (sandbox, client):
        published = flow(sandbox, "Published")
        with middleware_of(sandbox).transaction() as service:
            service.flows.move(published, sandbox.account_id, "PUBLISHED")
        new = pd.DataFrame({"name": [f"Flow {n}" for n in range(120)], "template_name": "default"})
        new["flow_json"] = [DOCUMENT] * 120
        result = client.flows.plan(new, delete=[published]).apply(irreversible=True)
        assert result["state"].value_counts().to_dict() == {"applied": 120, "failed": 1}


def test_after_a_good_canary_all_rows_are_sent(sandbox, client):
    result = client.contacts.plan(newcomers(120)).apply()
    assert states(result) == ["applied"] * 120
    assert len(active(sandbox, "contacts")) == 120


@pytest.mark.parametrize("status", [403, 404, 401])
def test_creates_that_the_token_may_not_make_never_come_to_many(status):
    with account(forbidden_status=status) as (sandbox, _):
        client = limited(sandbox, "Chat Contacts, View")
        result = client.contacts.plan(newcomers(150)).apply(concurrency=4)
        assert len(writes(sandbox)) <= 5
        assert set(states(result)) <= {"failed", "not sent"}
        assert result.chatkit.summary().count("It stopped") == 1


# --- the breaker ----------------------------------------------------------------------------


def test_ten_refusals_in_a_row_stop_a_run(sandbox):
    client, seen = refusing(sandbox, after=20)
    result = client.contacts.plan(newcomers(90)).apply(concurrency=1)
    assert len(seen) == 30
    assert states(result) == ["applied"] * 20 + ["failed"] * 10 + ["not sent"] * 60
    assert len(active(sandbox, "contacts")) == 20


def test_refusals_between_rows_that_land_do_not_stop_a_run(sandbox, client):
    frame = pd.DataFrame({"lang_code": ["xx", "en", "xy", "de", "xz", "fr"] * 7, "text": "Hi"})
    frame["template_code"] = [f"code_{n // 6}" for n in range(42)]
    result = client.templates.plan(frame, broken=True).apply(concurrency=1)
    assert result["state"].value_counts().to_dict() == {"failed": 21, "applied": 21}
    assert "stopped" not in result.chatkit.summary()


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
