"""Marked records: one whose create got no answer is found by what it was created with."""

import pytest
from bent import Bent, Exchange
from documents import DOCUMENT

import chatkit
from chatkit.answer import Answer
from chatkit.call import Call
from chatkit.conformance.contacts import ContactEvidence
from chatkit.conformance.flows import FlowEvidence
from chatkit.conformance.templates import TemplateEvidence
from chatkit.conformance.trial import Made, Trial, TrialReply
from chatkit.conformance.webhooks import WebhookEvidence

CALL = Call("POST", ("flows",))


def lost(room: str):
    """Do what a create asks for, and lose the answer."""

    def after(x: Exchange) -> None:
        if x.of(room, "create"):
            raise OSError

    return after


MAKE = {
    "flows": lambda trial: FlowEvidence(trial).created,
    "contacts": lambda trial: ContactEvidence(trial).new(),
    "webhooks": lambda trial: WebhookEvidence(trial).created,
    "templates": lambda trial: TemplateEvidence(trial).created,
}


@pytest.mark.parametrize("room", MAKE)
def test_a_create_without_an_answer_is_found_and_removed(room):
    with (
        chatkit.Sandbox(seed="empty") as sandbox,
        chatkit.connect(Bent(sandbox, after=lost(room))) as client,
        chatkit.connect(sandbox) as other,
    ):
        for n in range(30):
            other.flows.create(name=f"{n}", template_name="default", flow_json=DOCUMENT)
        with Trial(client, allow_writes=True) as trial:
            MAKE[room](trial)
            path = trial.made[0].path
            assert sandbox_rows(sandbox, path)
        assert trial.left == {}
        assert sandbox_rows(sandbox, path) == (30 if room == "flows" else 0)


def sandbox_rows(sandbox, path):
    with chatkit.connect(sandbox) as client:
        if path[0] == "templates":
            return len(client.templates(path[1]).frame())
        return len(getattr(client, path[0]).frame())


def test_a_lost_contact_without_a_search_is_somebodys_perhaps_and_stays():
    profile = chatkit.ServiceProfile(search_param=None)
    with (
        chatkit.Sandbox(seed="empty", profile=profile) as sandbox,
        chatkit.connect(Bent(sandbox, after=lost("contacts"))) as client,
    ):
        with Trial(client, allow_writes=True) as trial:
            ContactEvidence(trial).new()
        [line] = trial.left.values()
        assert line == "contacts/?: its create got no answer, and it cannot be looked for"
        assert sandbox_rows(sandbox, ("contacts",)) == 1


@pytest.mark.parametrize("room", ["flows", "contacts", "webhooks"])
def test_a_create_that_never_arrived_is_noted(room):
    def before(x: Exchange) -> None:
        if x.of(room, "create"):
            raise OSError

    with (
        chatkit.Sandbox(seed="empty") as sandbox,
        chatkit.connect(Bent(sandbox, before=before)) as client,
    ):
        with Trial(client, allow_writes=True) as trial:
            MAKE[room](trial)
        assert trial.left == {}
        assert trial.notes == [f"{room}/?: a create got no answer, and nothing of it is listed."]


@pytest.mark.parametrize("told", [b"", b'{"data": {"id": null}}', b'{"data": {"id": "../1"}}'])
def test_a_key_that_is_no_id_is_not_taken(told):
    made = Made(("flows",), {"name": "chatkit conformance"})
    made.landed(TrialReply(CALL, Answer(CALL, 201, {}, told)))
    assert made.key is None
    assert str(made) == "flows/?"


def test_the_marks_by_which_records_are_found():
    number = Made(("contacts",), {"number": "(202) 555-0143"})
    assert number.mark == ("number", "2025550143")
    assert Made(("webhooks",), {"url": "https://x.example/"}).mark == ("url", "https://x.example/")
    assert Made(("templates", "x", "contents"), {"lang_code": "en_US"}).key == "en_US"
