"""An edited document comes back to its account as a plan, and never over another's change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from widgets.screen import part

import chatkit
from chatkit.client import Client
from chatkit.errors import InputError, NotFound
from chatkit.widgets.editor import Editor
from chatkit.widgets.planview import PlanView


@pytest.fixture
def client() -> Iterator[Client]:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        yield client


def titled(document: Any, title: str) -> dict[str, Any]:
    first, *rest = document["screens"]
    return {**document, "screens": [{**first, "title": title}, *rest]}


def test_an_update_is_planned_and_the_next_one_builds_on_it(client: Client) -> None:
    editor = Editor(resource=client.flows, flow=301)
    assert len(editor.plan()) == 0
    for title in ("Repairs", "Your bike"):
        editor.set("/screens/0/title", title)
        assert editor.plan().counts == {"create": 0, "update": 1, "delete": 0}
        part(editor, PlanView).apply()
        saved = client.flows.get(301).flow_json
        assert saved is not None and saved["screens"][0]["title"] == title


def test_a_change_by_somebody_else_is_not_written_over(client: Client) -> None:
    editor = Editor(resource=client.flows, flow=301)
    client.flows.update(301, flow_json=titled(editor.document, "Theirs"))
    editor.set("/screens/0/title", "Mine")
    editor.plan()
    view = part(editor, PlanView)
    assert list(view.apply()["state"]) == ["conflict"]
    assert view.states == {"conflict"}
    live = client.flows.get(301).flow_json
    assert live is not None and live["screens"][0]["title"] == "Theirs"


def test_a_new_flow_needs_a_name_and_is_then_edited_on(client: Client) -> None:
    editor = Editor(resource=client.flows)
    with pytest.raises(InputError, match="needs a name"):
        editor.plan("  ")
    editor.plan("Hello")
    part(editor, PlanView).apply()
    assert "Hello" in set(client.flows.frame()["name"])
    editor.set("/version", "7.2")
    assert editor.plan().counts == {"create": 0, "update": 1, "delete": 0}


def test_what_is_no_object_is_not_planned_and_a_flow_must_be_there(client: Client) -> None:
    with pytest.raises(InputError, match="is an object"):
        Editor("[]", resource=client.flows).plan("List")
    with pytest.raises(NotFound):
        Editor(resource=client.flows, flow=999)
