"""An edited document comes back to its account as a plan, and never over another's change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import chatkit
from chatkit.bulk.plan import Plan
from chatkit.client import Client
from chatkit.errors import InputError, NotFound
from chatkit.widgets.editor import FlowSave
from chatkit.widgets.editor.edits import new_flow
from chatkit.widgets.saving import Saving


@pytest.fixture
def client() -> Iterator[Client]:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        yield client


def titled(document: Any, title: str) -> dict[str, Any]:
    first, *rest = document["screens"]
    return {**document, "screens": [{**first, "title": title}, *rest]}


def saved_by(save: FlowSave, plan: Plan) -> None:
    view = Saving(plan, save.reopen)
    view.apply()
    assert view.took_effect


def test_an_update_is_planned_and_the_next_one_builds_on_it(client: Client) -> None:
    save = FlowSave(client.flows, 301)
    assert save.name == "Book a repair"
    assert repr(save) == "<flow 301: Book a repair>"
    plan = save.plan(titled(save.document, "Repairs"))
    assert plan.counts == {"create": 0, "update": 1, "delete": 0}
    saved_by(save, plan)
    assert save.document["screens"][0]["title"] == "Repairs"
    again = save.plan(titled(save.document, "Your bike"))
    saved_by(save, again)
    saved = client.flows.get(301).flow_json
    assert saved is not None
    assert saved["screens"][0]["title"] == "Your bike"


def test_nothing_is_planned_for_what_has_not_changed(client: Client) -> None:
    save = FlowSave(client.flows, 301)
    assert len(save.plan(save.document)) == 0


def test_a_change_by_somebody_else_is_not_written_over(client: Client) -> None:
    save = FlowSave(client.flows, 301)
    client.flows.update(301, flow_json=titled(save.document, "Theirs"))
    view = Saving(save.plan(titled(save.document, "Mine")), lambda _: None)
    assert list(view.apply()["state"]) == ["conflict"]
    assert view.conflict and not view.took_effect
    live = client.flows.get(301).flow_json
    assert live is not None
    assert live["screens"][0]["title"] == "Theirs"


def test_a_new_flow_needs_a_name_and_is_then_edited_on(client: Client) -> None:
    save = FlowSave(client.flows)
    assert repr(save) == "<new flow>"
    with pytest.raises(InputError, match="needs a name"):
        save.plan(new_flow(), "  ")
    plan = save.plan(new_flow(), "Hello")
    saved_by(save, plan)
    assert save.flow is not None
    assert client.flows.get(save.flow).name == "Hello"
    assert len(save.plan(new_flow() | {"version": "7.2"})) == 1


def test_errors_stop_it_unless_they_are_let_pass(client: Client) -> None:
    save = FlowSave(client.flows)
    broken = new_flow() | {"version": "9.9"}
    assert len(save.plan(broken, "Broken").refused) == 1
    assert len(save.plan(broken, "Broken", broken=True)) == 1
    with pytest.raises(InputError, match="is an object"):
        save.plan([], "List")


def test_a_flow_that_is_not_there_is_said(client: Client) -> None:
    with pytest.raises(NotFound):
        FlowSave(client.flows, 999)


def test_a_plan_tells_when_it_was_applied(client: Client) -> None:
    save = FlowSave(client.flows)
    heard: list[bool] = []
    plan = save.plan(new_flow(), "Hello")
    view = Saving(plan, lambda view: heard.append(view.took_effect))
    assert heard == []
    view.apply()
    assert heard == [True]
