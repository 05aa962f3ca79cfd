"""Tests of all resources: reading back, replacing updates, and tokens with few permissions."""

import inspect
import json
import warnings

import pytest
from caller import client_through
from documents import DOCUMENT

import chatkit

ANA = {"number": "2025550143", "country_code": "+1", "name": "Ana Cruz"}


@pytest.fixture
def sandbox():
    with chatkit.Sandbox(seed="empty") as sandbox:
        yield sandbox


def limited(sandbox, *permissions):
    """A client whose token has these permissions only."""
    return client_through(
        sandbox.answer,
        account_id=sandbox.account_id,
        token=sandbox.make_token(*permissions),
        profile=sandbox.profile,
    )


def test_a_missing_permission_is_named_and_who_may_only_add_still_learns_the_id(sandbox):
    client = limited(sandbox, "Chat Contacts, Add", "Chat Flows, View")
    with pytest.warns(UserWarning, match="is done, but cannot be read back"):
        contact = client.contacts.create(**ANA)
    assert contact.id and contact.number is None
    assert len(chatkit.connect(sandbox).contacts.frame()) == 1
    assert client.flows.frame().empty
    with pytest.raises(chatkit.errors.NotPermitted, match="GET contacts"):
        client.contacts.frame()
    with pytest.raises(chatkit.errors.NotPermitted):
        client.flows.create(name="x", template_name="default", flow_json=DOCUMENT)


def test_fields_the_document_does_not_know_survive_a_replacing_update():
    profile = chatkit.ServiceProfile(put="replace")
    with chatkit.Sandbox(seed="empty", profile=profile) as sandbox:
        sent = []

        def channel(method, target, headers, body):
            if method == "PUT":
                sent.append(body)
            status, fields, answer = sandbox.answer(method, target, headers, body)
            if method == "GET" and b'"number"' in answer:
                answer = answer.replace(b'"number"', b'"loyalty":"gold","number"')
                fields = {**fields, "content-length": str(len(answer))}
            return status, fields, answer

        client = client_through(
            channel, account_id=sandbox.account_id, token=sandbox.token, profile=profile
        )
        ana = client.contacts.create(**ANA)
        assert ana.loyalty == "gold"
        assert "gold" in set(client.contacts.frame().loyalty)
        client.contacts.update(ana.id, number="2025550144")
        assert b'"loyalty":"gold"' in sent[-1] and b'"name":"Ana Cruz"' in sent[-1]


def test_create_and_update_have_the_fields_of_their_resource_as_signature(sandbox):
    with chatkit.connect(sandbox) as client:
        create = inspect.signature(client.contacts.create).parameters
        update = inspect.signature(client.flows.update).parameters
        assert list(create) == ["number", "country_code", "name", "broken"]
        assert all(
            p.default is not inspect.Parameter.empty for n, p in update.items() if n != "key"
        )
        required = [n for n, p in create.items() if p.default is inspect.Parameter.empty]
        assert required == ["number", "country_code"]
        assert list(update) == ["key", "flow_json", "flow_json_raw", "broken"]
        assert "The country code with its +" in client.contacts.create.__doc__


def test_naughty_strings_come_back_equal_or_are_refused_with_a_reason(sandbox, shared):
    strings = json.loads((shared / "corpora/blns/blns.json").read_bytes())
    client = chatkit.connect(sandbox)
    contact = client.contacts.create(**ANA)
    contents = client.templates("naughty")
    contents.create(lang_code="en", text="Hello")
    sources = {
        "contact": lambda text: client.contacts.update(contact.id, name=text).name or "",
        "flow": lambda text: (
            client.flows.create(name=text, template_name="default", flow_json=DOCUMENT).name
        ),
        "content": lambda text: contents.update("en", text=text, broken=True).text,
    }
    refused = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of what is odd about them
        for text in strings:
            for source, round_trip in sources.items():
                try:
                    assert round_trip(text) == text, source
                except (chatkit.errors.InputError, chatkit.errors.Refused) as error:
                    refused.append((source, text, str(error)))
    assert len(refused) <= 3, refused
    assert all(len(reason) > 20 for _, _, reason in refused)
    named = client.contacts.frame().name.fillna("")
    assert named.loc[contact.id] == strings[-1]


def answering(sandbox, change):
    """A client of a sandbox whose answers `change(method, target, status, body)` may replace."""

    def channel(method, target, headers, body):
        status, _, answer = sandbox.answer(method, target, headers, body)
        status, answer = change(method, target, status, answer) or (status, answer)
        return status, {"content-type": "application/json"}, answer

    return client_through(channel, account_id=sandbox.account_id, token=sandbox.token, deadline=0.5)


@pytest.mark.parametrize("status", [503, 403, 404])
def test_a_create_that_took_effect_and_cannot_be_read_is_not_reported_as_failed(sandbox, status):
    def change(method, target, _, body):
        return (status, b"") if method == "GET" and target[-1].isdigit() else None

    client = answering(sandbox, change)
    with pytest.warns(UserWarning, match="POST contacts is done"):
        contact = client.contacts.create(**ANA)
    assert chatkit.connect(sandbox).contacts.get(contact.id).number == ANA["number"]


@pytest.mark.parametrize("data", [b"[1]", b'"x"', b"5", b"null", b'{"id":"abc"}'])
def test_an_odd_answer_to_an_update_that_took_effect_is_a_warning(sandbox, data):
    ana = chatkit.connect(sandbox).contacts.create(**ANA)

    def change(method, target, _, body):
        if method == "PUT":
            return 200, b'{"success":true,"data":%s}' % data
        return (403, b"") if method == "GET" else None

    with pytest.warns(UserWarning, match="is done"):
        assert answering(sandbox, change).contacts.update(ana.id, name="Bo").id == ana.id


def test_a_full_frame_never_loses_a_row_silently(sandbox):
    ids = [
        chatkit.connect(sandbox).contacts.create(**{**ANA, "number": f"20255501{n}"}).id
        for n in range(10, 20)
    ]

    def refuse(status):
        def change(method, target, _, body):
            return (status, b"") if target.endswith(f"contacts/{ids[3]}") else None

        return answering(sandbox, change)

    with pytest.warns(chatkit.errors.ListMoved, match="1 of 10 were gone"):
        assert len(refuse(404).contacts.frame(full=True)) == 9
    with pytest.raises(chatkit.errors.NotPermitted):
        refuse(403).contacts.frame(full=True)


def test_what_a_content_requires_is_the_profiles():
    profile = chatkit.ServiceProfile(content_requires=("is_draft",))
    with chatkit.Sandbox(seed="empty", profile=profile) as sandbox:
        contents = chatkit.connect(sandbox).templates("order_ready")
        with pytest.raises(chatkit.errors.InputError, match="is_draft: is required"):
            contents.create(lang_code="en", text="Hello")
        assert contents.create(lang_code="en", is_draft=True).text in (None, "")


def test_a_service_that_shows_the_whole_name_is_believed_and_a_lookup_is_checked(sandbox):
    ana = chatkit.connect(sandbox).contacts.create(**ANA)

    def change(method, target, status, body):
        if "lookups" in target:
            return 200, b'{"success":true,"data":[{}]}'
        return status, body.replace(b'"number":', b'"name":"Cruz, Ana","number":')

    client = answering(sandbox, change)
    assert client.contacts.get(ana.id).name == "Cruz, Ana"
    assert client.contacts.frame().name.to_list() == ["Cruz, Ana"]
    with pytest.raises(chatkit.errors.BadAnswer, match="lookup is not as documented"):
        client.templates("order_ready").languages()


BROKEN = {
    "a text that is no UTF-8": b'{"success":true,"data":{"id":1,"name":"\xff\xfe"}}',
    "an id of another kind": b'{"success":true,"data":{"id":[1],"number":7}}',
    "a depth without end": b'{"success":true,"data":' + b"[" * 5000 + b"]" * 5000 + b"}",
    "half an escape": b'{"success":true,"data":"\\ud800"}',
    "a bad escape": b'{"success":true,"data":"\\x"}',
    "a word": b'{"success":true,"data":"done"}',
    "a number beyond all": b'{"success":true,"data":{"id":1e999}}',
    "nothing": b"",
    "cut short": b'{"success":true,"da',
}


@pytest.mark.parametrize("answer", BROKEN)
@pytest.mark.parametrize("read", BROKEN)
def test_only_our_own_errors_leave_an_update_whose_answers_are_all_broken(sandbox, answer, read):
    """A record that was created and cannot be read back comes from the request, with a warning."""
    key = chatkit.connect(sandbox).contacts.create(**ANA).id

    def channel(method, target, headers, body):
        status, fields, _ = sandbox.answer(method, target, headers, body)
        return status, fields, BROKEN[answer if method == "PUT" else read]

    client = client_through(
        channel, account_id=sandbox.account_id, token=sandbox.token, profile=sandbox.profile
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            assert client.contacts.update(key, name="Bo").id == key
        except chatkit.ChatkitError:
            assert answer in ("nothing", "cut short", "a text that is no UTF-8", "a depth without "
                              "end", "half an escape", "a bad escape")  # fmt: skip
        for reading in (client.contacts.frame, lambda: client.contacts.get(key)):
            with pytest.raises(chatkit.ChatkitError):
                reading()
