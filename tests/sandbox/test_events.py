"""Events: of the shapes that the upstream platform documents, and published by writes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from caller import Caller
from internals import middleware_of
from listening import Listener, listening

from chatkit import Sandbox
from chatkit.sandbox import events
from chatkit.sandbox.events import MEDIA, STATUSES, Person

HOOK = "https://hooks.example/a"
ADA = Person("12125550142", "Zoë <b>Park</b>")


def output(kind: str, content: dict[str, Any], reply_to: str | None = None) -> dict[str, Any]:
    made = events.make_message(kind, "wamid.1", 1767600000, content, reply_to)
    return events.make_inbound(ADA, made)


MADE = {
    "text": output("text", events.make_text("Hello")),
    "reply": output("text", events.make_text("Hello"), "wamid.0"),
    "reaction": output("reaction", events.make_reaction("wamid.0", "👍")),
    "reaction taken back": output("reaction", events.make_reaction("wamid.0", "")),
    "flow answer": output("interactive", events.make_flow_answer({"day": "1"}, "t"), "wamid.0"),
    **{
        kind: output("audio" if kind == "voice" else kind, events.make_media(kind, "77", "Look"))
        for kind in MEDIA
    },
    **{
        name: events.make_status_change(ADA, "wamid.1", name, 1, None, "service")
        for name in STATUSES
    },
    "failed": events.make_status_change(ADA, "wamid.1", "failed", 1, 131026, "marketing"),
    "outbound": events.make_outbound(
        ADA, events.make_message("text", "wamid.1", 1, events.make_text("Hi"))
    ),
    "template approved": events.make_template_status(7001, "hello", "en", "APPROVED", "NONE", 1),
    "template edited": events.make_template_edit(
        7001, "hello", "en", {"text": "Hello", "footer": "Bye"}, 1
    ),
    "flow made": events.make_flow_status("8140", "Order", None, "DRAFT", 1),
    "flow published": events.make_flow_status("8140", "Order", "DRAFT", "PUBLISHED", 1),
}


def places(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Every place of a body with the type of what is there; items of lists share one."""
    yield (
        place,
        {bool: "flag", int: "number", float: "number"}.get(type(value), type(value).__name__),
    )
    inner: Any = {}
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = (("*", item) for item in value)
    for name, item in inner:
        yield from places(item, f"{place}/{name}")


def about(body: dict[str, Any]) -> str:
    """Return the field of a body, in which its places are compared."""
    return str(body["entry"][0]["changes"][0]["field"])


@pytest.fixture(scope="module")
def documented(shared: Path) -> dict[str, set[tuple[str, str]]]:
    result: dict[str, set[tuple[str, str]]] = {}
    for path in sorted(shared.glob("samples/webhooks/*.json")):
        body = json.loads(path.read_bytes())
        for entry in body.get("entry", ()):
            for change in entry["changes"]:
                one = {**body, "entry": [{**entry, "changes": [change]}]}
                result.setdefault(str(change.get("field")), set()).update(places(one, ""))
    return result


@pytest.mark.parametrize("name", MADE, ids=str)
def test_a_change_has_only_places_that_upstream_documents_with_their_types(
    name: str, documented: dict[str, set[tuple[str, str]]]
) -> None:
    body = MADE[name]
    undocumented = set(places(body, "")) - documented[about(body)]
    assert not undocumented
    assert json.loads(json.dumps(body, allow_nan=False)) == body


def test_what_is_made_has_the_details_that_upstream_documents() -> None:
    contact = MADE["text"]["entry"][0]["changes"][0]["value"]["contacts"][0]
    assert contact == {"profile": {"name": "Zoë <b>Park</b>"}, "wa_id": "12125550142"}
    content = events.make_flow_answer({"name": "Zoë", "n": 2}, "token-1")
    answer = json.loads(content["nfm_reply"]["response_json"])
    assert answer == {"name": "Zoë", "n": 2, "flow_token": "token-1"}
    (report,) = MADE["failed"]["entry"][0]["changes"][0]["value"]["statuses"]
    assert report["errors"][0]["code"] == 131026
    assert "pricing" not in report
    captions = {kind: "caption" in events.make_media(kind, "1", "Look") for kind in MEDIA}
    assert [kind for kind, has in captions.items() if has] == ["image", "video", "document"]
    assert "caption" not in events.make_media("image", "1", None)
    assert events.make_media("document", "1", None)["filename"] == "document.pdf"


# --- what the account writes is published ---------------------------------------------


@pytest.fixture
def received() -> Iterator[tuple[Caller, Listener]]:
    with Sandbox(seed="empty") as sandbox, listening() as listener:
        sandbox.allow(HOOK, to=listener.url)
        call = Caller(sandbox)
        call.webhook(HOOK)
        yield call, listener


def new_events(call: Caller, listener: Listener) -> list[dict[str, Any]]:
    """Return the events since the last call."""
    assert call.sandbox.settle()
    result = [json.loads(body) for body in listener.bodies]
    listener.requests.clear()
    return [
        {"kind": body["event"], **body["data"]["entry"][0]["changes"][0]["value"]}
        for body in result
    ]


def test_the_states_of_a_flow_are_published(received: tuple[Caller, Listener]) -> None:
    call, listener = received
    flow = call.flow("Order")
    (made,) = new_events(call, listener)
    assert (made["kind"], made["event"]) == ("chat.raw", "FLOW_STATUS_CHANGE")
    assert made["new_status"] == "DRAFT"
    assert "old_status" not in made
    assert made["flow_id"] == call("GET", f"/flows/{flow}").data["wa_flow_id"]
    with middleware_of(call.sandbox).transaction() as service:
        service.flows.set_status(flow, "1001", "PUBLISHED")
        with pytest.raises(KeyError):
            service.flows.set_status(flow + 1, "1001", "PUBLISHED")
    (published,) = new_events(call, listener)
    assert (published["old_status"], published["new_status"]) == ("DRAFT", "PUBLISHED")
    document = call("GET", f"/flows/{flow}").data["flow_json"]
    for _ in range(2):
        call("PUT", f"/flows/{flow}", {"flow_json": document})
    (edited,) = new_events(call, listener)  # the second edit moves nothing
    assert (edited["old_status"], edited["new_status"]) == ("PUBLISHED", "DRAFT")


def test_decisions_about_a_content_are_published(received: tuple[Caller, Listener]) -> None:
    call, listener = received
    content = {"variables": {}, "text": "Your bike is ready.", "is_draft": False}
    made = call.content("en", "ready", **content).data
    (approved,) = new_events(call, listener)
    assert approved["kind"] == "chat.template"
    assert (approved["event"], approved["reason"]) == ("APPROVED", "NONE")
    assert approved["message_template_name"] == "ready"
    assert approved["message_template_language"] == "en"
    assert str(approved["message_template_id"]).endswith(str(made["id"] * 7_919_393)[-6:])
    path = "/templates/ready/contents/en"
    call("PUT", path, {"text": "Hello {{1}}"})  # without a sample value
    edited, rejected = new_events(call, listener)
    assert edited["message_template_element"] == "Hello {{1}}"
    assert (rejected["event"], rejected["reason"]) == ("REJECTED", "INVALID_FORMAT")
    call("DELETE", path)
    (deleted,) = new_events(call, listener)
    assert deleted["event"] == "DELETED"
    call("DELETE", path)
    assert new_events(call, listener) == []


def test_drafts_and_other_writes_are_not_published(
    received: tuple[Caller, Listener], monkeypatch: pytest.MonkeyPatch
) -> None:
    call, listener = received
    call.content("en", "ready", is_draft=True)
    assert new_events(call, listener) == []
    call("PUT", "/templates/ready/contents/en", {"is_draft": False})
    assert len(new_events(call, listener)) == 2
    assert call("POST", "/flows", {"name": "x"}).status == 422
    assert call.content("en", "ready").status == 409
    contact = call.contact()
    call("PUT", f"/contacts/{contact}", {"name": "Ada"})
    call("DELETE", f"/contacts/{contact}")
    call.webhook("https://hooks.example/b")
    token = call.sandbox.make_token("Chat Templates, Add", account_id="2002")
    body = {"lang_code": "en", "text": "Hello"}
    reply = call("POST", "/templates/x/contents", body, token=token, account="2002")
    assert reply.status == 201
    assert new_events(call, listener) == []
    monkeypatch.setattr("chatkit.sandbox.delivery.MOST_WAITING", 0)
    assert call.content("de", "ready").status == 201, "a write succeeds when the queue is full"
    assert new_events(call, listener) == []


def test_without_a_receiver_nothing_is_attempted_or_recorded() -> None:
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
