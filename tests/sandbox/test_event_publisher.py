"""EventPublisher: what the account writes is told by upstream, to whoever asked and may hear it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from caller import Caller
from internals import middleware_of
from listening import Listener, listening

from chatkit import Sandbox
from chatkit.sandbox import delivery

HOOK = "https://hooks.example/a"


@pytest.fixture
def heard() -> Iterator[tuple[Caller, Listener]]:
    with Sandbox(seed="empty") as sandbox, listening() as listener:
        sandbox.allow(HOOK, to=listener.url)
        call = Caller(sandbox)
        call.webhook(HOOK)
        yield call, listener


def report(call: Caller, listener: Listener) -> list[dict[str, Any]]:
    """Return the events since the last call."""
    assert call.sandbox.settle()
    result = [json.loads(body) for body in listener.bodies]
    listener.requests.clear()
    return [
        {"kind": body["event"], **body["data"]["entry"][0]["changes"][0]["value"]}
        for body in result
    ]


def test_upstream_tells_the_states_of_a_flow(heard: tuple[Caller, Listener]) -> None:
    call, listener = heard
    flow = call.flow("Order")
    (made,) = report(call, listener)
    assert (made["kind"], made["event"]) == ("chat.raw", "FLOW_STATUS_CHANGE")
    assert made["new_status"] == "DRAFT"
    assert "old_status" not in made
    assert made["flow_id"] == call("GET", f"/flows/{flow}").data["wa_flow_id"]
    with middleware_of(call.sandbox).transaction() as service:
        service.flows.set_status(flow, "1001", "PUBLISHED")
    (published,) = report(call, listener)
    assert (published["old_status"], published["new_status"]) == ("DRAFT", "PUBLISHED")
    document = call("GET", f"/flows/{flow}").data["flow_json"]
    for _ in range(2):
        call("PUT", f"/flows/{flow}", {"flow_json": document})
    (edited,) = report(call, listener)  # the second edit moves nothing
    assert (edited["old_status"], edited["new_status"]) == ("PUBLISHED", "DRAFT")


def test_upstream_tells_what_it_decides_about_a_content(heard: tuple[Caller, Listener]) -> None:
    call, listener = heard
    content = {"variables": {}, "text": "Your bike is ready.", "is_draft": False}
    made = call.content("en", "ready", **content).data
    (approved,) = report(call, listener)
    assert approved["kind"] == "chat.template"
    assert (approved["event"], approved["reason"]) == ("APPROVED", "NONE")
    assert approved["message_template_name"] == "ready"
    assert approved["message_template_language"] == "en"
    assert str(approved["message_template_id"]).endswith(str(made["id"] * 7_919_393)[-6:])
    path = "/templates/ready/contents/en"
    call("PUT", path, {"text": "Hello {{1}}"})  # without a sample value
    edited, rejected = report(call, listener)
    assert edited["message_template_element"] == "Hello {{1}}"
    assert (rejected["event"], rejected["reason"]) == ("REJECTED", "INVALID_FORMAT")
    call("DELETE", path)
    (deleted,) = report(call, listener)
    assert deleted["event"] == "DELETED"
    call("DELETE", path)
    assert report(call, listener) == []


def test_a_draft_never_gets_upstream(heard: tuple[Caller, Listener]) -> None:
    call, listener = heard
    call.content("en", "ready", is_draft=True)
    assert report(call, listener) == []
    call("PUT", "/templates/ready/contents/en", {"is_draft": False})
    assert len(report(call, listener)) == 2


def test_what_is_refused_is_not_told(heard: tuple[Caller, Listener]) -> None:
    call, listener = heard
    assert call("POST", "/flows", {"name": "x"}).status == 422
    call.content("en", "ready")
    report(call, listener)
    assert call.content("en", "ready").status == 409
    assert report(call, listener) == []


def test_contacts_and_webhooks_cause_no_events(heard: tuple[Caller, Listener]) -> None:
    call, listener = heard
    contact = call.contact()
    call("PUT", f"/contacts/{contact}", {"name": "Ada"})
    call("DELETE", f"/contacts/{contact}")
    call.webhook("https://hooks.example/b")
    assert report(call, listener) == []


def test_where_nobody_may_hear_it_nothing_is_attempted_or_written_down() -> None:
    with Sandbox(seed="demo") as sandbox, Sandbox(seed="demo") as other:
        call = Caller(sandbox)
        before = call("GET", "/webhooks").data
        call.flow()
        call.content("en", "ready")
        assert sandbox.attempts == []
        assert call("GET", "/webhooks").data == before
        # and the seeded clock ticks as it always did
        Caller(other).flow()
        Caller(other).content("en", "ready")
        times = [Caller(one)("GET", "/flows").data[-1]["updated_at"] for one in (sandbox, other)]
        assert times[0] == times[1]


def test_another_account_hears_nothing_of_it(heard: tuple[Caller, Listener]) -> None:
    call, listener = heard
    token = call.sandbox.make_token("Chat Templates, Add", account_id="2002")
    body = {"lang_code": "en", "text": "Hello"}
    reply = call("POST", "/templates/x/contents", body, token=token, account="2002")
    assert reply.status == 201
    assert report(call, listener) == []


def test_a_write_never_fails_because_nobody_takes_its_event(
    heard: tuple[Caller, Listener], monkeypatch: pytest.MonkeyPatch
) -> None:
    call, listener = heard
    monkeypatch.setattr(delivery, "MOST_WAITING", 0)
    assert call.content("en", "ready").status == 201
    assert report(call, listener) == []
