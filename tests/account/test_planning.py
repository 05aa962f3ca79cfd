"""The plan that brings an account to what a state holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from bulk.applying import settled
from bulk.planning import account, call, contacts, content, flow, states, untouched, webhook, writes

import chatkit
from chatkit.account.comparison import compare
from chatkit.account.folder import read_state
from chatkit.account.planning import plan_state
from chatkit.account.reading import AccountState

CODES = ["ready", "late"]


@pytest.fixture
def demo() -> Iterator[tuple[chatkit.Sandbox, chatkit.Client]]:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        yield sandbox, client


@pytest.fixture
def empty() -> Iterator[tuple[chatkit.Sandbox, chatkit.Client]]:
    with account() as outcome:
        yield outcome


def prepared(sandbox: chatkit.Sandbox) -> None:
    """An account with some records of each resource."""
    flow(sandbox, "Order")
    flow(sandbox, "Return")
    content(sandbox, "ready", lang_code="en")
    content(sandbox, "late", lang_code="de", buttons=[{"type": "custom", "label": "Ok"}])
    webhook(sandbox, 0)
    webhook(sandbox, 1, is_active=False, events=["chat.message.status"])
    contacts(sandbox, 3)


def state(client: chatkit.Client, **more: Any) -> AccountState:
    return read_state(client, contacts=True, codes=CODES, **more)


def restored(held: AccountState, client: chatkit.Client, **options: Any) -> Any:
    plan = plan_state(held, client, broken=True, **options)
    return settled(plan.apply, many=True, irreversible=True, settle=0)


# --- nothing to do ----------------------------------------------------------------------


def test_an_account_that_holds_the_state_gets_an_empty_plan(
    demo: tuple[chatkit.Sandbox, chatkit.Client],
) -> None:
    sandbox, client = demo
    held = read_state(sandbox, contacts=True)
    plan = plan_state(held, client)
    assert (len(plan), len(plan.refused)) == (0, 0)
    assert repr(plan) == ("Nothing to do: the account already matches what is planned. 0 changes.")
    with untouched(sandbox):
        assert len(plan.apply()) == 0


def test_an_empty_plan_tells_what_it_leaves_otherwise_than_the_state_says(
    empty: tuple[chatkit.Sandbox, chatkit.Client],
) -> None:
    sandbox, client = empty
    prepared(sandbox)
    held = state(client)
    flow(sandbox, "Survey")
    plan = plan_state(held, client, broken=True)
    assert len(plan) == 0
    assert "The account has 1 flow that" in repr(plan) and "it stays. delete=" in repr(plan)
    other = {"Order": {**held.get("flow")["Order"], "template_name": "another"}}
    plan = plan_state(
        replace(held, records={**held.records, "flow": {**held.get("flow"), **other}}),
        client,
        broken=True,
    )
    assert len(plan) == 0
    assert "Flows with another template_name, which can only be set when" in " ".join(plan.notes)
    assert "already matches" not in repr(plan)


# --- restore ----------------------------------------------------------------------------


def test_an_empty_account_becomes_what_the_state_holds(
    demo: tuple[chatkit.Sandbox, chatkit.Client], empty: tuple[chatkit.Sandbox, chatkit.Client]
) -> None:
    held = read_state(demo[0], contacts=True)
    sandbox, client = empty
    plan = plan_state(held, client, broken=True)
    text = repr(plan)
    assert text.startswith("Plan for the account: 5 flows, 30 contents, 3 webhooks, 250 contacts.")
    assert "They get new ids and new wa_flow_ids, and are DRAFT" in text.replace("\n", " ")
    assert "plan.secrets holds it" in text.replace("\n", " ")
    assert plan.objections() == []
    result = plan.apply()
    assert set(states(result)) == {"applied"}
    sent = [path.split("/")[0] for _, path in writes(sandbox)]
    assert list(dict.fromkeys(sent)) == ["flows", "templates", "webhooks", "contacts"]
    assert len(plan.secrets) == 3
    now = read_state(client, contacts=True, codes=held.codes)
    left = compare(held, now).frame()
    split = [c for c in left.itertuples() if c.resource == "contact"]
    assert len(left) == len(split)
    assert len(plan_state(held, client)) == 0
    report = [note for note in plan.notes if note.startswith("Names that the service splits")]
    assert bool(report) == bool(split)


def test_a_damaged_account_gets_back_what_was_lost_and_changed_and_nothing_else(
    empty: tuple[chatkit.Sandbox, chatkit.Client],
) -> None:
    sandbox, client = empty
    prepared(sandbox)
    held = state(client)
    document = client.flows.get(client.flows.frame().index[0]).flow_json
    client.flows.update(client.flows.frame().index[0], flow_json=document | {"version": "7.2"},
                        broken=True)  # fmt: skip
    client.flows.delete(client.flows.frame().index[1])
    client.templates("late").delete("de")
    worse = {"footer": "Gone", "variables": {}, "headers": []}
    call(sandbox, "PUT", "templates/ready/contents/en", **worse)
    hooks = client.webhooks.frame()
    client.webhooks.update(hooks.index[1], events=["*"], is_active=True)
    client.webhooks.delete(hooks.index[0])
    numbers = client.contacts.frame()
    client.contacts.delete(numbers.index[0])
    client.contacts.update(numbers.index[1], name="Zoe Lim")
    plan = plan_state(held, client, broken=True)
    assert [(c.noun, c.kind) for c in plan.changes] == [
        *(("flow", "update"), ("flow", "create"), ("content", "create"), ("content", "update")),
        *(("webhook", "create"), ("webhook", "update"), ("contact", "create")),
        ("contact", "update"),
    ]
    assert set(states(plan.apply(many=True))) == {"applied"}
    assert not compare(held, state(client))
    assert len(plan_state(held, client)) == 0


def test_ids_are_never_carried(empty: tuple[chatkit.Sandbox, chatkit.Client]) -> None:
    sandbox, client = empty
    prepared(sandbox)
    held = state(client)
    with account() as (other, present):
        flow(other, "Other")
        webhook(other, 9)
        plan = plan_state(replace(held, ids={"flow": {"Order": 1}}), present, broken=True)
        assert all(c.key is None or c.noun == "content" for c in plan.changes)
        for change in plan.changes:
            assert "id" not in change.after
        restored(held, present)
        assert {*held.get("flow"), "Other"} == {*state(present).get("flow")}
        assert call(other, "GET", "webhooks")


# --- what stays, what goes --------------------------------------------------------------


def test_what_only_the_account_has_stays_and_is_told(
    empty: tuple[chatkit.Sandbox, chatkit.Client],
) -> None:
    sandbox, client = empty
    prepared(sandbox)
    held = state(client)
    flow(sandbox, "More")
    content(sandbox, "ready", lang_code="fr")
    contacts(sandbox, 0)
    call(sandbox, "POST", "contacts", number="2025550177", country_code="+1", name="Mai Fay")
    less = replace(
        held,
        records={
            **held.records,
            "flow": {n: f for n, f in held.get("flow").items() if n != "Return"},
        },
    )
    client.webhooks.delete(client.webhooks.frame().index[0])
    plan = plan_state(less, client, broken=True)
    assert [c.kind for c in plan.changes] == ["create"]
    assert any("2 flows, 1 content, 1 contact that account" in note for note in plan.notes)


def test_what_is_named_is_deleted_in_each_resource(
    empty: tuple[chatkit.Sandbox, chatkit.Client],
) -> None:
    sandbox, client = empty
    prepared(sandbox)
    held = state(client)
    flow(sandbox, "More")
    content(sandbox, "ready", lang_code="fr")
    content(sandbox, "other", lang_code="en")
    webhook(sandbox, 5)
    call(sandbox, "POST", "contacts", number="2025550177", country_code="+1", name="Mai Fay")
    gone = [
        *(("flow", "More"), ("content", ("ready", "fr")), "content other/en"),
        *("webhooks https://shop.example/hook/5", ("contact", "+1 2025550177")),
    ]
    plan = plan_state(held, client, delete=gone)
    assert plan.counts == {"create": 0, "update": 0, "delete": 5}
    assert not any("stay" in note for note in plan.notes)
    assert plan.frame().index.tolist()[:2] == [("flow", "More"), ("content", "ready/fr")]
    assert set(states(plan.apply(many=True, irreversible=True))) == {"applied"}
    assert not compare(held, state(client))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (("flow", "Ordr"), "the account does not have a flow of this name"),
        (("flow", "Order"), "holds it, so it is to be there"),
        (("contact", "+1 999"), "the account does not have a contact of this name"),
        (("content", "ready/xx"), "the account does not have a content of this name"),
    ],
)
def test_a_name_that_cannot_be_deleted_is_refused(
    empty: tuple[chatkit.Sandbox, chatkit.Client], name: tuple[str, str], reason: str
) -> None:
    sandbox, client = empty
    prepared(sandbox)
    plan = plan_state(state(client), client, delete=[name])
    (cell,) = plan.refused.itertuples()
    assert cell.row == name
    assert reason in cell.reason
    if name[1] == "Ordr":
        assert cell.next_step == 'did you mean "Order"?'
    with pytest.raises(chatkit.errors.PlanRefused), untouched(sandbox):
        plan.apply()


@pytest.mark.parametrize("wrong", ["flow", ["flow"], [("flows",)], [("room", "x")], [3]])
def test_deletions_that_name_no_record_are_refused_as_a_whole(
    empty: tuple[chatkit.Sandbox, chatkit.Client], wrong: Any
) -> None:
    nothing = AccountState("shop/", {})
    with pytest.raises(chatkit.errors.InputError, match="delete="):
        plan_state(nothing, empty[1], delete=wrong)


# --- what cannot be brought back is told before -----------------------------------------


def test_two_flows_of_one_name_are_refused_with_the_choice(
    empty: tuple[chatkit.Sandbox, chatkit.Client],
) -> None:
    sandbox, client = empty
    prepared(sandbox)
    held = state(client)
    again = flow(sandbox, "Order")
    client.templates("late").delete("de")
    plan = plan_state(held, client, broken=True)
    (cell,) = plan.refused.itertuples()
    assert cell.row == ("flow", "Order")
    assert "2 flows of the account have it" in cell.reason and f"{again} (DRAFT)" in cell.reason
    assert "client.flows.plan([{'id':" in cell.next_step
    assert [c.noun for c in plan.changes] == ["content"]
    with pytest.raises(chatkit.errors.PlanRefused, match="skip_invalid=True"), untouched(sandbox):
        plan.apply()
    others = plan_state(held, client, broken=True, skip_invalid=True)
    assert states(others.apply()) == ["applied"]


def test_names_that_the_service_splits_otherwise_are_told_before(
    empty: tuple[chatkit.Sandbox, chatkit.Client],
) -> None:
    sandbox, client = empty
    contacts(sandbox, 1, name="Ana Maria de la Cruz")
    held = state(client)
    parts = {"first_name": "Ana Maria", "middle_name": "de la"}
    persons = {name: {**fields, **parts} for name, fields in held.get("contact").items()}
    unusual = replace(held, records={**held.records, "contact": persons})
    with account() as (_, present):
        plan = plan_state(unusual, present)
        assert [c.kind for c in plan.changes] == ["create"]
        assert any(
            note.startswith("Names that the service splits into other parts than they have: Ana")
            for note in plan.notes
        )
    same = plan_state(
        replace(unusual, records={**unusual.records, "flow": {"New": next(iter_flow())}}),
        client,
        broken=True,
    )
    assert [c.noun for c in same.changes] == ["flow"]
    assert any("no call can set these" in note for note in same.notes)


def iter_flow() -> Iterator[dict[str, Any]]:
    from documents import DOCUMENT

    yield {"template_name": "default", "flow_json": json.loads(json.dumps(DOCUMENT))}


def test_what_is_fixed_once_a_flow_exists_is_told_and_left(
    empty: tuple[chatkit.Sandbox, chatkit.Client],
) -> None:
    sandbox, client = empty
    flow(sandbox, "Order", categories=["SURVEY"])
    held = state(client)
    other = {"Order": {**held.get("flow")["Order"], "categories": ["SIGN_UP"]}}
    with account() as (present, one):
        flow(present, "Order", categories=["SURVEY"])
        expected = replace(
            held, records={**held.records, "flow": {**other, "New": held.get("flow")["Order"]}}
        )
        plan = plan_state(expected, one, broken=True)
        assert [c.kind for c in plan.changes] == ["create"]
        assert any("Flows with another categories, which" in note for note in plan.notes)
