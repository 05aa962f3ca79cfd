"""The plan that brings an account to what a state holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from bulk.planning import (
    account,
    call,
    contacts,
    content,
    flow,
    states,
    untouched,
    webhook,
    writes,
)  # fmt: skip

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
    content(sandbox, "ready", lang_code="fr")
    whole = {"number": "2025550177", "country_code": "+1", "name": "Ana Maria de la Cruz"}
    call(sandbox, "POST", "contacts", **whole)
    held, key = state(client), ("+1", "2025550177")
    flow(sandbox, "Survey")
    order = {**held.get("flow")["Order"], "template_name": "another", "categories": ["SIGN_UP"]}
    split = {**held.get("contact")[key], "first_name": "Ana Maria", "middle_name": "de la"}
    records = {
        **held.records,
        "flow": {**held.get("flow"), "Order": order},
        "content": {n: f for n, f in held.get("content").items() if n != ("ready", "fr")},
        "contact": {key: split},
    }
    plan = plan_state(replace(held, records=records), client, broken=True)
    assert len(plan) == 0
    notes = " ".join(plan.notes)
    for each in ("template_name", "categories"):
        assert f"Flows with another {each}, which can only be set when" in notes
    assert "1 flow, 1 content, 3 contacts" in notes and "they stay. delete=" in notes
    assert "no call can set these" in notes
    assert "already matches" not in repr(plan)


@pytest.mark.parametrize("wrong", ["flow", ["flow"], [("flows",)], [("room", "x")], [3]])
def test_deletions_that_name_no_record_are_refused_as_a_whole(
    empty: tuple[chatkit.Sandbox, chatkit.Client], wrong: Any
) -> None:
    with pytest.raises(chatkit.errors.InputError, match="delete="):
        plan_state(AccountState("shop/", {}), empty[1], delete=wrong)


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


# --- what is refused --------------------------------------------------------------------


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
