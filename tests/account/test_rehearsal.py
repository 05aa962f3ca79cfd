"""A plan applied to a copy of its account: what is told of it, and that only reads are sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from bulk.planning import held
from displayed import html_of
from documents import DOCUMENT
from internals import middleware_of

import chatkit
from chatkit.bulk.endpoints import ACCOUNT
from chatkit.bulk.plan import join_plans
from chatkit.bulk.stores import get_journal_folder
from chatkit.client import Client, get_plan_target

Account = tuple[chatkit.Sandbox, Client]


@pytest.fixture
def account() -> Iterator[Account]:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        client.templates.remember(["order_ready"])
        yield sandbox, client


def renamed(client: Client, rows: int = 20) -> Any:
    """A plan that renames so many contacts."""
    frame = client.contacts.frame().head(rows)
    return client.contacts.plan(frame.assign(name="Ana Cruz"))


def test_the_live_account_is_read_and_nothing_else() -> None:
    """Over real HTTP: the log of the service holds each call that reached it."""
    with (
        chatkit.Sandbox(seed="demo") as live,
        live.serve() as base_url,
        chatkit.Client(base_url, live.account_id, live.token) as client,
    ):
        client.templates.accept(codes=["order_ready"])
        content = client.templates("order_ready").frame(full=True).loc[["de"]]
        plans = [
            renamed(client),
            client.webhooks.plan([{"id": 41, "is_active": False}]),
            client.templates("order_ready").plan(content.assign(footer="Larkspur")),
        ]
        ledger, before = client.templates.ledger.read(), held(live)
        kept, known = records_of_runs(), len(middleware_of(live).log)
        for plan, personal in zip(plans, (True, False, False), strict=True):
            rehearsal = chatkit.rehearse(plan)
            assert rehearsal.ok
            assert ("contact" in rehearsal.differences.left.records) is personal
            sent = list(middleware_of(live).log)[known:]
            assert {call.method for call in sent} == {"GET"}
            assert any("/contacts" in call.path for call in sent) is personal
            known += len(sent)
        assert (held(live), client.templates.ledger.read()) == (before, ledger)
        assert len(chatkit.runs(client)) == 0 and records_of_runs() == kept
        assert not live.attempts


def test_what_differs_in_the_copy_is_shown_and_then_this_plan_alone_goes(account: Account) -> None:
    _, client = account
    row = {"name": "Survey", "template_name": "default", "flow_json": DOCUMENT}
    plan = client.flows.plan([row])
    rehearsal = chatkit.rehearse(plan)
    [made] = rehearsal.differences
    assert (made.resource, made.key, made.what) == ("flow", "Survey", "only right")
    assert "+ Survey" in repr(rehearsal) and "Survey" in html_of(rehearsal)
    assert len(client.flows.frame()) == 5
    with pytest.raises(chatkit.errors.PlanRefused, match="not rehearsed without errors"):
        renamed(client, 4).apply(rehearsed=True)
    assert set(plan.apply(rehearsed=True).state) == {"applied"}
    frame = client.contacts.frame().head(1).assign(number="?")
    with pytest.raises(chatkit.errors.PlanRefused, match="cannot be rehearsed"):
        chatkit.rehearse(client.contacts.plan(frame))


def records_of_runs() -> set[Any]:
    """The names of all runs, and the files of ledgers."""
    files = get_journal_folder(passing=True).parent.rglob("*.jsonl")
    return {*chatkit.runs().index, *files}


def test_a_record_that_somebody_has_changed_is_told(account: Account) -> None:
    _, client = account
    plan = renamed(client, 3)
    client.contacts.update(50002, name="Zoe Lund")
    rehearsal = chatkit.rehearse(plan)
    assert not rehearsal.ok
    assert rehearsal.result.state.tolist() == ["applied", "conflict", "applied"]
    assert "2 went as planned" in repr(rehearsal)
    assert "conflict" in rehearsal.problems[0]
    assert rehearsal.problems[0].partition("\n")[0][:20] in html_of(rehearsal)
    with pytest.raises(chatkit.errors.PlanRefused):
        plan.apply(rehearsed=True)


def test_a_copy_begins_as_the_account_and_is_gone_when_it_is_closed(account: Account) -> None:
    sandbox, client = account
    before = held(sandbox)
    with client.copy() as copy:
        assert not chatkit.compare(client, copy, contacts=True)
        copy.contacts.update(50002, name="Zoe Lund")
        [changed] = chatkit.compare(client, copy, contacts=True)
        ledger = copy.templates.ledger.path
    assert (changed.resource, changed.field, changed.right) == ("contact", "name", "Zoe Lund")
    assert held(sandbox) == before
    assert not ledger.exists()
    with client.copy(contacts=False) as copy:
        assert copy.contacts.frame().empty


def test_a_plan_for_the_account_is_rehearsed_as_one(account: Account) -> None:
    """Changes of all resources: each is found in the copy where it belongs."""
    _, client = account
    content = client.templates("order_ready").frame(full=True).loc[["de"]]
    plans = [
        client.flows.plan([{"name": "Survey", "template_name": "default", "flow_json": DOCUMENT}]),
        client.templates.plan(
            content.assign(footer="Larkspur", template_code="order_ready")
            .set_index("template_code", append=True)
            .swaplevel()
        ),
        client.webhooks.plan([{"id": 43, "is_active": True}]),
        renamed(client, 5),
    ]
    plan = join_plans(get_plan_target(client, ACCOUNT), plans)
    rehearsal = chatkit.rehearse(plan)
    assert rehearsal.problems == []
    assert rehearsal.differences.counts == {
        "flow": {"only right": 1},
        "content": {"changed": 1},
        "webhook": {"changed": 1},
        "contact": {"changed": 5},
    }
    assert list(rehearsal.frame().index.names) == ["resource", "record"]
    assert set(plan.apply(rehearsed=True).state) == {"applied"}


def test_a_rate_limit_is_reckoned_with_and_not_waited_for() -> None:
    """The copy takes as many calls as come; the report tells how long the account will take."""
    profile = chatkit.ServiceProfile(rate_limit=10)
    with (
        chatkit.Sandbox(seed="empty", profile=profile) as sandbox,
        chatkit.connect(sandbox) as client,
    ):
        rows = [{"number": f"21255501{n:02}", "country_code": "+1"} for n in range(100)]
        rehearsal = chatkit.rehearse(client.contacts.plan(rows))
        assert rehearsal.ok
        assert "it takes about 10 seconds: 100 calls" in repr(rehearsal)
        assert rehearsal.differences.counts == {"contact": {"only right": 100}}
