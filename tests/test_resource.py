"""What all rooms share: reading back, replacing updates, and tokens that may do little."""

import inspect

import pytest

import chatkit
from chatkit.client import Client
from chatkit.connection import Connection
from chatkit.transport import Transport

ANA = {"number": "2025550143", "country_code": "+1", "name": "Ana Cruz"}


@pytest.fixture
def sandbox():
    with chatkit.Sandbox(seed="empty") as sandbox:
        yield sandbox


def limited(sandbox, *permissions):
    """A client whose token has these permissions only."""
    connection = Connection(
        base_url="http://localhost",
        account_id=sandbox.account_id,
        token=sandbox.make_token(*permissions),
        profile=sandbox.profile,
    )
    return Client._made(connection, Transport(connection, door=sandbox.answer))


def test_a_token_that_may_only_add_still_learns_the_id(sandbox):
    client = limited(sandbox, "Chat Contacts, Add")
    with pytest.warns(UserWarning, match="is done, but cannot be read back"):
        contact = client.contacts.create(**ANA)
    assert contact.id and contact.number is None
    assert len(chatkit.connect(sandbox).contacts.frame()) == 1


def test_a_missing_permission_is_named_by_its_error(sandbox):
    client = limited(sandbox, "Chat Flows, View")
    assert client.flows.frame().empty
    with pytest.raises(chatkit.NotPermitted, match="GET contacts"):
        client.contacts.frame()
    with pytest.raises(chatkit.NotPermitted):
        client.flows.create(
            name="x", template_name="default", flow_json={"version": "7.3", "screens": []}
        )


def test_fields_the_document_does_not_know_survive_a_replacing_update():
    profile = chatkit.ServiceProfile(put="replace")
    with chatkit.Sandbox(seed="empty", profile=profile) as sandbox:
        sent = []

        def door(method, target, headers, body):
            if method == "PUT":
                sent.append(body)
            status, fields, answer = sandbox.answer(method, target, headers, body)
            if method == "GET" and b'"number"' in answer:
                answer = answer.replace(b'"number"', b'"loyalty":"gold","number"')
                fields = {**fields, "content-length": str(len(answer))}
            return status, fields, answer

        connection = Connection(
            base_url="http://localhost", account_id=sandbox.account_id, token=sandbox.token,
            profile=profile,
        )  # fmt: skip
        client = Client._made(connection, Transport(connection, door=door))
        ana = client.contacts.create(**ANA)
        assert ana.loyalty == "gold"
        assert "gold" in set(client.contacts.frame().loyalty)
        client.contacts.update(ana.id, number="2025550144")
        assert b'"loyalty":"gold"' in sent[-1] and b'"name":"Ana Cruz"' in sent[-1]


def test_create_and_update_have_the_fields_of_their_room_as_signature(sandbox):
    with chatkit.connect(sandbox) as client:
        create = inspect.signature(client.contacts.create).parameters
        update = inspect.signature(client.flows.update).parameters
        assert list(create) == ["number", "country_code", "name"]
        assert create["number"].default is inspect.Parameter.empty
        assert list(update) == ["key", "flow_json", "flow_json_raw"]
        assert "The country code with its +" in client.contacts.create.__doc__


def test_naughty_strings_come_back_equal_or_are_refused_with_a_reason(sandbox, shared):
    import json

    strings = json.loads((shared / "corpora/blns/blns.json").read_bytes())
    document = {"version": "7.3", "screens": []}
    refused = 0
    with chatkit.connect(sandbox) as client:
        contact = client.contacts.create(**ANA)
        content = client.templates("naughty").create(lang_code="en", text="Hello")
        assert content.text == "Hello"
        for text in strings:
            try:
                flow = client.flows.create(name=text, template_name="default", flow_json=document)
                assert flow.name == text
                assert client.templates("naughty").update("en", text=text).text == text
                name = client.contacts.update(contact.id, name=text).name
                assert (name or "").split() == text.split()
            except (chatkit.InputError, chatkit.Refused) as error:
                assert len(str(error)) > 20
                refused += 1
    assert refused < len(strings) / 10
