"""Outcomes: the state of a row after each answer, or none; never failed where it is unknown."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from bulk.applying import settled
from bulk.wayward import (
    DOCUMENT,
    JSON,
    answers,
    contact,
    deletion,
    dropped,
    first,
    flow,
    hiding,
    lost,
    number_of,
    patch_key,
    plan_of,
    right,
    wayward,
    webhook,
)
from msgspec.structs import replace

from chatkit.account import history
from chatkit.api import retry
from chatkit.bulk.changes import Change

# --- what may have taken effect is never called failed ----------------------------------------


def test_what_lands_after_the_last_attempt_was_given_up_is_not_reported_as_failed(
    monkeypatch,
) -> None:
    """A unique key lets it be sent again at once; that it had no effect is known later."""
    monkeypatch.setattr(retry, "SETTLE_DUPLICABLE", 0.5)
    with wayward() as service, service.client(deadline=0.5) as client:
        service.on("POST", "contacts", *[dropped] * 4, service.late(0.4))
        result = plan_of(client.contacts, [contact(1)]).apply()
        assert (result.state[1], result.sent[1]) == ("applied", 5), result.reason[1]
        service.quiet()
        assert service.numbers() == [number_of(1)]


@pytest.mark.parametrize("verb", ["update", "delete"])
@pytest.mark.parametrize("answer", [answers(422, b"{}"), answers(200, b'{"success":false}')])
def test_a_change_in_doubt_that_cannot_be_read_stays_unknown(verb, answer) -> None:
    with wayward() as service, service.client() as client:
        key = service.caller.contact(number_of(1), name="Ana Cruz")
        service.on("PUT", "contacts", lost)
        service.on("DELETE", "contacts", lost)
        service.on("GET", f"contacts/{key}", right, *[answer] * 9)
        change = patch_key(1, key) if verb == "update" else deletion(1, key)
        result = settled(plan_of(client.contacts, [change]).apply, settle=0)
        assert result.state[1] in ("unknown", "applied"), result.reason[1]
        service.on("GET", f"contacts/{key}")
        assert list(settled(history.resume, result, client, settle=0).state) == ["applied"]


@pytest.mark.parametrize("faults", [(lost,), (dropped, lost), (lost, lost)])
def test_a_deletion_in_doubt_is_adopted_where_the_deleted_can_be_read(faults) -> None:
    """Reading does not tell; the 404 to the next attempt does."""
    with wayward(inactive_readable=True) as service, service.client() as client:
        key = service.caller.contact(number_of(1), name="Ana Cruz")
        service.on("DELETE", "contacts", *faults)
        result = settled(plan_of(client.contacts, [deletion(1, key)]).apply, settle=0)
        assert service.numbers() == []
        assert result.state[1] == "applied", result.reason[1]


@pytest.mark.parametrize("raw", [False, True])
def test_our_own_landing_is_not_taken_for_somebody_elses_change(raw: bool) -> None:
    """Hidden fields cannot be compared, and updated_at changed through our own write."""
    with wayward(flow_json_in_get=raw) as service, service.client() as client:
        key = service.caller.flow("Order")
        seen = client.flows.get(key).updated_at.isoformat()
        after = {"flow_json": DOCUMENT | {"version": "7.2"}} | (
            {"flow_json_raw": "{}"} if raw else {}
        )
        change = Change(1, "update", key, "Order", {}, after, undo="never", seen=seen)
        service.on("PUT", "flows", lost)
        result = settled(plan_of(client.flows, [change]).apply, settle=0, irreversible=True)
        assert result.state[1] in ("applied", "unknown"), result.reason[1]


def test_what_is_hidden_does_not_hide_that_the_rest_is_somebody_elses() -> None:
    """Their edit has moved updated_at too; our flow_json, which is shown, is not there."""
    with wayward() as service, service.client() as client:
        key = service.caller.flow("Order", flow_json=DOCUMENT)
        seen = client.flows.get(key).updated_at.isoformat()
        other_records, ours = (DOCUMENT | {"version": version} for version in ("7.1", "7.2"))
        change = Change(
            1, "update", key, "Order", {"flow_json": DOCUMENT},
            {"flow_json": ours, "flow_json_raw": "{}"}, undo="not exactly", seen=seen,
        )  # fmt: skip
        meanwhile = first(
            lambda: service.caller("PUT", f"/flows/{key}", {"flow_json": other_records})
        )
        service.on("PUT", "flows", meanwhile)
        service.on("GET", f"flows/{key}", forever=hiding("flow_json_raw"))
        result = settled(plan_of(client.flows, [change]).apply, settle=0)
        assert service.caller("GET", f"/flows/{key}").data["flow_json"] == other_records
        assert result.state[1] == "conflict", result.reason[1]


def test_what_is_not_shown_is_not_said_to_have_been_read_back() -> None:
    with wayward(flow_json_in_get=False) as service, service.client() as client:
        key = service.caller.flow("Order")
        after = {"flow_json": DOCUMENT | {"version": "7.2"}}
        change = Change(1, "update", key, "Order", {}, after, undo="never")
        result = plan_of(client.flows, [change]).apply(irreversible=True)
        assert result.loc[1, ["state", "evidence"]].tolist() == ["applied", "answered"]


def test_somebody_elses_change_to_what_is_hidden_is_a_conflict() -> None:
    with wayward(flow_json_in_get=False) as service, service.client() as client:
        key = service.caller.flow("Order")
        seen = client.flows.get(key).updated_at.isoformat()
        service.caller("PUT", f"/flows/{key}", {"flow_json": DOCUMENT})
        after = {"flow_json": DOCUMENT | {"version": "7.2"}}
        change = Change(1, "update", key, "Order", {}, after, undo="never", seen=seen)
        result = plan_of(client.flows, [change]).apply(irreversible=True)
        assert result.state[1] == "conflict"
        assert service.writes() == []


# --- attempts ---------------------------------------------------------------------------------


def test_only_what_was_sent_counts_as_an_attempt() -> None:
    """A row that waited out five 429s is not given up because one answer is lost."""
    with wayward() as service, service.client(deadline=0.1) as client:
        wait = answers(429, b"{}", retry_after="0.15")
        service.on("POST", "contacts", *[wait] * 5, dropped)
        result = plan_of(client.contacts, [contact(1)]).apply()
        assert result.state[1] == "applied", result.reason[1]
        assert service.numbers() == [number_of(1)]


def test_what_never_lands_has_failed_after_it_was_sent_five_times() -> None:
    with wayward() as service, service.client() as client:
        service.on("POST", "contacts", forever=dropped)
        result = settled(plan_of(client.contacts, [contact(1)]).apply, settle=0)
        assert (result.state[1], result.sent[1]) == ("failed", 5)
        assert "sent 5 times, and it never took effect" in result.reason[1]
        assert len(service.writes()) == 5


def test_what_is_refused_after_a_doubt_was_settled_is_told_in_the_words_of_the_service() -> None:
    with wayward() as service, service.client() as client:
        refusal = json.dumps({"success": False, "message": "This number is barred"}).encode()
        service.on("POST", "contacts", dropped, forever=answers(422, refusal))
        result = plan_of(client.contacts, [contact(1)]).apply()
        assert result.state[1] == "failed"
        assert "This number is barred" in result.reason[1]


# --- what proves an update --------------------------------------------------------------------


def test_a_contact_that_somebody_named_meanwhile_is_not_taken_for_ours() -> None:
    """Ours, delivered twice, would have no name: none was sent."""
    made = contact(1)
    bare = replace(made, after={n: v for n, v in made.after.items() if n != "name"})
    with wayward() as service, service.client() as client:
        other_records = first(lambda: service.caller.contact(number_of(1), name="Zoë Li"), right)
        service.on("POST", "contacts", other_records)
        result = settled(plan_of(client.contacts, [bare]).apply, settle=0)
        assert result.state[1] == "conflict"
        assert "Zoë" in result.reason[1]
        assert not history.undo(result, client).changes
        assert service.numbers() == [number_of(1)]


@pytest.mark.parametrize("change", [contact(1), flow(1), webhook(1)], ids=lambda c: c.label)
def test_an_answer_about_another_record_never_leads_to_its_deletion(change: Change) -> None:
    """Under its key an undo of this run would delete what is somebody else's."""
    source = {"number": "contacts", "name": "flows", "url": "webhooks"}[next(iter(change.after))]
    others = change.after | {"number": number_of(2), "name": "Zoë", "url": "https://a.example"}
    with wayward() as service, service.client() as client:
        service.caller("POST", f"/{source}", {name: others[name] for name in change.after})
        [other_records] = service.all(source)

        def mixed_up(do):
            do()
            return 201, JSON, json.dumps({"success": True, "data": other_records}).encode()

        service.on("POST", source, mixed_up)
        plan = getattr(client, source).plan(pd.DataFrame([dict(change.after)]))
        result = settled(plan.apply, settle=0)
        [ours] = [
            record["id"] for record in service.all(source) if record["id"] != other_records["id"]
        ]
        assert result.key.tolist() == [ours] or result.state.tolist() == ["differs"]
        assert len(service.writes()) == 1
        back = history.undo(result, client, include_adopted=True)
        back.apply(irreversible=True)
        assert other_records["id"] in [record["id"] for record in service.all(source)]


@pytest.mark.parametrize("other_records", ["", "Somebody Else"])
def test_an_answer_about_another_record_proves_nothing(other_records: str) -> None:
    """The outcome is looked up: the write took effect, or somebody changed the record since."""
    with wayward() as service, service.client() as client:
        key = service.caller.contact(number_of(1), name="Ana Cruz")
        other = service.caller.contact(number_of(2), name="Zoë Li")

        def mixed_up(do):
            do()
            if other_records:
                service.caller("PUT", f"/contacts/{key}", {"name": other_records})
            return 200, JSON, service.caller("GET", f"/contacts/{other}").body

        service.on("PUT", f"contacts/{key}", mixed_up)
        result = settled(plan_of(client.contacts, [patch_key(1, key)]).apply, settle=0)
        outcome = result.loc[1, ["state", "evidence"]].tolist()
        assert outcome == (["conflict", ""] if other_records else ["applied", "adopted"])
        assert other_records in result.reason[1]
