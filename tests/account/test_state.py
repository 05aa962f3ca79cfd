"""Tests of account states: records by their natural keys."""

from __future__ import annotations

import pytest

import chatkit
from chatkit.account.folder import read_state
from chatkit.account.reading import NOUNS, get_default


@pytest.fixture
def sandbox() -> chatkit.Sandbox:
    return chatkit.Sandbox(seed="demo")


def test_a_state_goes_by_names_and_has_no_ids_in_its_records(sandbox: chatkit.Sandbox) -> None:
    state = read_state(sandbox, contacts=True)
    assert repr(state) == (
        "<account 1001 of the sandbox: 5 flows, 30 contents, 3 webhooks, 250 contacts>"
    )
    assert set(state.get("flow")["Book a repair"]) == {"template_name", "categories", "flow_json"}
    assert state.ids["flow"]["Book a repair"] > 0
    assert ("order_ready", "pt_BR") in state.get("content")
    held = [fields for noun in NOUNS for fields in state.get(noun).values()]
    assert not {"id", "wa_status", "wa_flow_id", "webhook_secret"} & {n for f in held for n in f}
    assert list(state.get("contact")) == sorted(state.get("contact"))
    assert "contact" not in read_state(sandbox).records
    content = state.get("content")["order_ready", "en"]
    assert not {"is_catalog", "is_draft"} & {*content}
    assert get_default("content", "is_draft") is False
    assert all(None not in button.values() for button in content["buttons"])
    assert read_state(state) is state
    with pytest.raises(chatkit.errors.InputError, match="not dict"):
        read_state({})  # type: ignore[arg-type]


def test_two_flows_of_one_name_are_told_and_not_guessed(sandbox: chatkit.Sandbox) -> None:
    with chatkit.connect(sandbox) as client:
        document = client.flows.get(client.flows.frame().index[0]).flow_json
        twice = {"name": "Twice", "template_name": "default", "flow_json": document}
        client.flows.create(**twice)
        with pytest.warns(UserWarning, match="has this name, too"):
            client.flows.create(**twice)
        state = read_state(client)
    assert "Twice" not in state.get("flow")
    assert any("2 flows are called" in line and "Twice" in line for line in state.not_carried)


def test_a_client_without_codes_says_why_it_has_no_contents(sandbox: chatkit.Sandbox) -> None:
    with chatkit.connect(sandbox) as client:
        state = read_state(client)
        assert not state.get("content")
        assert "Not compared: contents (codes=…)" in repr(chatkit.compare(client, state))
        named = read_state(client, codes=["order_ready", "not_there"])
    assert {code for code, _ in named.get("content")} == {"order_ready"}
    assert any("not_there" in line for line in named.not_carried)
