"""Tests of results: each row is true, and so is one of a run that stops early."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from bulk.planning import (  # noqa: F401
    DOCUMENT,
    JSON,
    account,
    active,
    admin,
    answering,
    call,
    client,
    contacts,
    content,
    flow,
    log,
    number,
    sandbox,
    states,
    stored,
    through,
    webhook,
    writes,
)

import chatkit
from chatkit import RetryPolicy


def planned(client, contact, **fields):
    """The plan that gives one contact other fields."""
    frame = client.contacts.frame()
    for name, value in fields.items():
        frame.loc[contact, name] = value
    return client.contacts.plan(frame)


# --- the frame of a result ------------------------------------------------------------------


def test_a_result_has_the_rows_of_the_plan_in_its_order_with_its_index(sandbox, client):
    contacts(sandbox, 12)
    new = pd.DataFrame({"number": [number(n) for n in range(20, 26)], "country_code": "+1"})
    frame = pd.concat([new, client.contacts.frame()[["number", "country_code", "name"]].iloc[::-1]])
    frame["name"] = [None] * 6 + ["Zoë", "Ana Cruz"] * 6
    frame["line"] = range(100, 118)
    frame = frame.set_index("line").sample(frac=1, random_state=7)
    plan = client.contacts.plan(frame)
    result = plan.apply(many=True, concurrency=3)
    assert len(result) == 12 and result.index.name == "line"
    pd.testing.assert_index_equal(result.index, plan.frame().index)
    for name in ("change", "label"):
        pd.testing.assert_series_equal(result[name], plan.frame()[name])
    made = active(sandbox, "contacts")
    outcome = [made[key]["number"] for key in result["key"]]
    assert [label.split()[-1] for label in result["label"]] == outcome


# --- three ways -----------------------------------------------------------------------------


@pytest.mark.parametrize("put", ["merge", "replace"])
@pytest.mark.parametrize("requires", ["nothing", "create_fields"])
def test_what_others_changed_meanwhile_is_kept(put, requires):
    with account(put=put, put_requires=requires) as (sandbox, client):
        [contact] = contacts(sandbox, 1)
        plan = planned(client, contact, number="2025550177")
        call(
            sandbox, "PUT", f"contacts/{contact}",
            name="Zoë Smith", number=number(0), country_code="+1",
        )  # fmt: skip
        assert states(plan.apply()) == ["applied"]
        after = active(sandbox, "contacts")[contact]
        assert (after["first_name"], after["last_name"]) == ("Zoë", "Smith")
        assert after["number"] == "2025550177"


@pytest.mark.parametrize("put", ["merge", "replace"])
def test_what_others_changed_in_a_content_meanwhile_is_kept(put):
    with account(put=put) as (sandbox, client):
        content(sandbox)
        plan = client.templates("order_ready").plan(
            client.templates("order_ready").frame().assign(text="Hi {{1}}")
        )
        others = next(iter(active(sandbox, "contents").values()))
        others = {n: v for n, v in others.items() if n not in ("id", "scope", "active")}
        call(
            sandbox, "PUT", "templates/order_ready/contents/en",
            **others | {"footer": "Danke", "buttons": [{"type": "custom", "label": "Ja"}]},
        )  # fmt: skip
        assert states(plan.apply()) == ["applied"]
        [after] = active(sandbox, "contents").values()
        assert (after["text"], after["footer"]) == ("Hi {{1}}", "Danke")
        assert [button["label"] for button in after["buttons"]] == ["Ja"]
        assert after["variables"] == {"1": "Ana"} and after["is_draft"] is True


def test_unknown_fields_of_the_service_survive_a_replacing_update():
    with account(put="replace") as (sandbox, _):
        contacts(sandbox, 1)
        sent = []

        def channel(method, target, headers, body):
            if method == "PUT":
                sent.append(json.loads(body))
            status, _, answer = sandbox.answer(method, target, headers, body)
            return status, JSON, answer.replace(b'"number":"2', b'"loyalty":"gold","number":"2')

        client = through(sandbox, channel)
        frame = client.contacts.frame()
        assert frame["loyalty"].tolist() == ["gold"]
        frame["number"] = "2025550177"
        assert states(client.contacts.plan(frame).apply()) == ["applied"]
        assert sent == [
            {"number": "2025550177", "country_code": "+1", "name": "Ana Cruz", "loyalty": "gold"}
        ]


@pytest.mark.parametrize("moves", [True, False])
def test_each_row_is_compared_with_what_is_there_now(moves):
    with account(constant_updated_at=not moves) as (sandbox, client):
        ids = contacts(sandbox, 7)
        frame = client.contacts.frame()
        frame.loc[ids[:3], "name"] = "Zoë Mine"
        plan = client.contacts.plan(frame, delete=ids[3:6])
        contents = client.templates("order_ready").plan(
            [{"lang_code": code, "text": "Hallo"} for code in ("en", "de")]
        )
        for key, name in ((0, "Zoë Mine"), (1, "Theirs"), (3, "Keep me"), (4, "")):
            call(sandbox, "PUT", f"contacts/{ids[key]}", name=name)
        for key in (2, 5):
            call(sandbox, "DELETE", f"contacts/{ids[key]}")
        content(sandbox, text="Theirs"), content(sandbox, lang_code="de", text="Hallo")
        before = len(writes(sandbox))
        result = plan.apply(many=True)
        assert len(writes(sandbox)) == before
        assert dict(zip(result.state, result.reason, strict=True)).keys() == {
            "unchanged", "conflict"
        }  # fmt: skip
        kept = " and is {!r}"
        for reason, state, part in zip(
            result.reason,
            result.state,
            [
                ("unchanged", "it is so already"), ("conflict", "is 'Theirs'; you want 'Zoë Mine'"),
                ("conflict", "somebody else deleted it meanwhile"),
                ("conflict", kept.format("Keep me")), ("conflict", "name was 'Ana Cruz'"),
                ("unchanged", "it was gone already"),
            ],
            strict=True,
        ):  # fmt: skip
            assert state == part[0] and part[1] in reason
        assert states(contents.apply()) == ["conflict", "unchanged"]


def test_a_document_that_is_never_shown_is_guarded_by_its_time():
    with account(flow_json_in_get=False) as (sandbox, client):
        ids = [flow(sandbox, f"Flow {n}") for n in range(2)]
        other = {**DOCUMENT, "version": "7.2"}
        frame = client.flows.frame().assign(flow_json=[other, other])
        plan = client.flows.plan(frame)
        call(sandbox, "PUT", f"flows/{ids[0]}", flow_json={**DOCUMENT, "version": "6.0"})
        result = plan.apply(irreversible=True)
        assert states(result) == ["conflict", "applied"]
        assert "updated_at" in result["reason"].iloc[0]
        assert active(sandbox, "flows")[ids[0]]["flow_json"]["version"] == "6.0"


# --- what reads back otherwise --------------------------------------------------------------


def test_what_took_effect_but_cannot_be_read_back_is_applied_and_says_so(sandbox):
    [contact] = contacts(sandbox, 1)
    put = []

    def broken(method, target, status, body):
        put.extend([target] if method == "PUT" else [])
        return (503, b"") if put and method == "GET" else None

    client = answering(sandbox, broken)
    client.transport.retry = RetryPolicy(deadline=0.3)
    result = planned(client, contact, name="Zoë").apply()
    assert states(result) == ["applied"] and "could not be read back" in result["reason"].item()
    assert active(sandbox, "contacts")[contact]["first_name"] == "Zoë"


def test_a_number_that_an_update_makes_free_is_taken_by_a_create(sandbox, client):
    contacts(sandbox, 1)
    frame = client.contacts.frame().reset_index()
    frame.loc[0, "number"] = "2025550177"
    frame.loc[1, ["number", "country_code", "name"]] = [number(0), "+1", "New"]
    result = client.contacts.plan(frame).apply()
    assert states(result) == ["applied", "applied"]
    assert [c["number"] for c in active(sandbox, "contacts").values()] == ["2025550177", number(0)]
    back = chatkit.undo(result)
    assert states(back.apply()) == ["applied", "applied"]
    assert [c["number"] for c in active(sandbox, "contacts").values()] == [number(0)]


@pytest.mark.parametrize("key", ["number", "country_code_and_number"])
def test_a_chain_of_numbers_is_applied_from_its_free_end_and_taken_back(key):
    with account(contact_key=key) as (sandbox, client):
        ids = contacts(sandbox, 12)
        before = active(sandbox, "contacts")
        frame = client.contacts.frame()
        frame["number"] = [*frame["number"].iloc[1:], number(77)]  # each takes that of the next
        since = len(log(sandbox))
        result = client.contacts.plan(frame).apply(many=True, concurrency=8)
        assert set(states(result)) == {"applied"}
        puts = [path for method, path in log(sandbox)[since:] if method == "PUT"]
        assert puts == [f"contacts/{n}" for n in reversed(ids)]
        assert set(states(chatkit.undo(result).apply())) == {"applied"}
        assert active(sandbox, "contacts") == before


def test_numbers_in_a_cycle_are_refused_with_their_rows_and_the_rest_is_planned(sandbox, client):
    ids = contacts(sandbox, 6)
    frame = client.contacts.frame()
    n = frame["number"].tolist()
    # 0 and 1 swap, 2 to 4 go round, 5 takes the number that 2 would have given away
    frame["number"] = [n[1], n[0], n[3], n[4], n[2], n[2]]
    frame.loc[ids[5], "name"] = "Zoë"
    plan = client.contacts.plan(frame)
    assert len(plan) == 0
    message = dict(zip(plan.refused["row"], plan.refused["reason"], strict=True))
    assert f"rows {ids[0]}, {ids[1]} exchange their numbers" in message[ids[0]]
    assert message[ids[0]] == message[ids[1]] and "unique" in message[ids[1]]
    frame.loc[ids[5], "number"] = n[5]
    plan = client.contacts.plan(frame, skip_invalid=True)
    message = dict(zip(plan.refused["row"], plan.refused["reason"], strict=True))
    assert f"rows {ids[2]}, {ids[3]}, {ids[4]} exchange" in message[ids[3]]
    assert states(plan.apply(many=True)) == ["applied"]


def test_a_row_that_waits_for_a_refused_one_is_refused_too(sandbox, client):
    ids = contacts(sandbox, 3)
    frame = client.contacts.frame()
    frame["number"] = [number(1), number(2), "call him"]
    plan = client.contacts.plan(frame)
    assert len(plan) == 0
    message = dict(zip(plan.refused["row"], plan.refused["reason"], strict=True))
    assert message.keys() == set(ids)
    assert f"id {ids[1]} has it" in message[ids[0]] and f"id {ids[2]} has it" in message[ids[1]]


@pytest.mark.parametrize("gone", [0, 1], ids=["of the first record", "of a later one"])
def test_a_number_that_a_delete_frees_is_taken_by_an_update_and_all_is_taken_back(
    sandbox, client, gone
):
    ids = contacts(sandbox, 2)
    before = active(sandbox, "contacts")
    frame = client.contacts.frame()
    frame.loc[ids[1 - gone], "number"] = number(gone)
    for plan in (
        client.contacts.plan(frame, delete=[ids[gone]]),
        client.contacts.plan(frame.assign(delete=frame.index == ids[gone])),
    ):
        result = plan.apply()
        assert set(states(result)) == {"applied"}
        assert [c["number"] for c in active(sandbox, "contacts").values()] == [number(gone)]
        assert set(states(chatkit.undo(result).apply())) == {"applied"}
        assert active(sandbox, "contacts") == before


def test_a_contact_that_is_deleted_is_not_made_again_in_the_same_plan(sandbox, client):
    ids = contacts(sandbox, 1)
    new = pd.DataFrame({"number": [number(0)], "country_code": "+1", "name": "Zoë"})
    plan = client.contacts.plan(new, delete=ids)
    assert plan.counts == {"create": 0, "update": 0, "delete": 1}
    assert "bring that one back" in plan.refused["reason"].item()
