"""Scenarios: what customers do, delivered; the same again for the same seed."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from caller import Caller
from internals import middleware_of
from listening import Listener, answering, listening

from chatkit import Sandbox
from chatkit.sandbox.scenario import BadScenario

HOOK = "https://hooks.example/a"
LINES = ["> Is my bike ready?", "< Yes, since noon.", "> [image] This one", "> +👍", "> -"]


@pytest.fixture
def call() -> Iterator[Caller]:
    with Sandbox(seed="empty") as sandbox:
        middleware_of(sandbox).delivery_worker.retries = ()
        yield Caller(sandbox)


@pytest.fixture
def listener(call: Caller) -> Iterator[Listener]:
    with listening() as listener:
        call.sandbox.allow(HOOK, to=listener.url)
        call.webhook(HOOK)
        yield listener


def came(listener: Listener) -> list[Any]:
    return [json.loads(body) for body in listener.bodies]


def value(body: Any) -> dict[str, Any]:
    result: dict[str, Any] = body["data"]["entry"][0]["changes"][0]["value"]
    return result


def statuses(listener: Listener) -> Counter[str]:
    result = [body for body in came(listener) if body["event"] == "chat.message.status"]
    return Counter(value(body)["statuses"][0]["status"] for body in result)


def test_a_conversation_is_delivered_line_by_line(call: Caller, listener: Listener) -> None:
    played = call.sandbox.play("conversation", lines=LINES, contact="+1 212 5550142", name="Ada")
    assert repr(played) == "<conversation of 8 events, to 1 webhook: 8 delivered>"
    bodies = came(listener)
    kinds = [body["event"].removeprefix("chat.message.") for body in bodies]
    expected = ["inbound", "outbound", *["status"] * 3, "media", "reaction", "reaction"]
    assert kinds == expected
    assert {value(body)["contacts"][0]["wa_id"] for body in bodies} == {"12125550142"}
    assert {value(body)["contacts"][0]["profile"]["name"] for body in bodies} == {"Ada"}
    assert value(bodies[0])["messages"][0]["text"] == {"body": "Is my bike ready?"}
    assert len({body["id"] for body in bodies}) == 8
    assert [body["timestamp"] for body in bodies] == sorted(body["timestamp"] for body in bodies)


def test_a_known_number_has_the_name_of_its_contact(call: Caller, listener: Listener) -> None:
    call.contact("2125550142", "+1", name="Ines Maria Okafor")
    call.sandbox.play("conversation", lines="> Hello", contact="+12125550142")
    (body,) = came(listener)
    assert value(body)["contacts"][0]["profile"]["name"] == "Ines Maria Okafor"


def test_a_webhook_hears_only_the_kinds_it_asks_for(call: Caller) -> None:
    with listening() as listener:
        call.sandbox.allow(HOOK, to=listener.url)
        call.webhook(HOOK, events=["chat.message.status"])
        played = call.sandbox.play("conversation", lines=LINES)
    assert (len(played.events), len(played.deliveries)) == (8, 3)
    assert {body["event"] for body in came(listener)} == {"chat.message.status"}


@pytest.mark.parametrize(("failures", "unread"), [(0, 0), (0.25, 0.5), (1, 0.3), (0.05, 1)])
def test_a_campaign_has_exactly_the_shares_it_was_asked_for(
    call: Caller, listener: Listener, failures: float, unread: float
) -> None:
    for at in range(20):
        call.contact(f"20255501{at:02}")
    call.sandbox.play(
        "campaign", template="order_ready", contacts=20, failures=failures, unread=unread
    )
    result = statuses(listener)
    failed = round(failures * 20)
    silent = round(unread * (20 - failed))
    expected = {"failed": failed, "sent": 20 - failed, "delivered": 20 - failed}
    expected["read"] = 20 - failed - silent
    assert result == Counter({name: count for name, count in expected.items() if count})
    sent = [body for body in came(listener) if body["event"] == "chat.message.outbound"]
    assert {value(body)["message_echoes"][0]["template"]["name"] for body in sent} == {
        "order_ready"
    }


def test_chance_decides_who_of_a_campaign_never_gets_it(call: Caller, listener: Listener) -> None:
    numbers = [f"+120255501{at:02}" for at in range(20)]

    def failed(seed: int) -> set[str]:
        listener.requests.clear()
        call.sandbox.play("campaign", seed=seed, template="x", contacts=numbers, failures=0.5)
        report = [value(body) for body in came(listener) if "statuses" in value(body)]
        ends = [one["statuses"][0] for one in report]
        return {one["recipient_id"] for one in ends if one["status"] == "failed"}

    first, second = failed(1), failed(2)
    assert len(first) == len(second) == 10
    assert first != second
    assert first == failed(1)


def test_some_who_read_a_campaign_answer(call: Caller, listener: Listener) -> None:
    numbers = [f"+1202555010{n}" for n in range(5)]
    call.sandbox.play("campaign", template="x", contacts=numbers, unread=0, replies=["Yes", "No"])
    output = [body for body in came(listener) if body["event"] == "chat.message.inbound"]
    assert {value(body)["messages"][0]["text"]["body"] for body in output} == {"Yes", "No"}
    assert all("context" in value(body)["messages"][0] for body in output)


def test_the_same_seed_plays_the_same_campaign() -> None:
    def play(seed: int) -> list[Any]:
        with Sandbox(seed="demo") as sandbox:
            played = sandbox.play("campaign", template="x", contacts=30, failures=0.2, seed=seed)
            return list(played.events)

    assert play(7) == play(7)
    assert play(7) != play(8)


def test_a_flow_is_answered_by_as_many_people_as_there_are_answers(
    call: Caller, listener: Listener
) -> None:
    flow = call.flow("Booking")
    assert call.sandbox.settle()
    listener.requests.clear()
    call.contact("2125550142", name="Ada")
    call.contact("2125550143", name="Ben")
    answers = [{"day": "Monday"}, {"day": "Zürich"}]
    call.sandbox.play("flow", flow=flow, answers=answers)
    output = [
        value(b)["messages"][0] for b in came(listener) if b["event"] == "chat.message.inbound"
    ]
    read = [json.loads(one["interactive"]["nfm_reply"]["response_json"]) for one in output]
    assert [one.pop("flow_token")[:5] for one in read] == ["flow-", "flow-"]
    assert sorted(read, key=str) == answers
    assert {one["from"] for one in output} == {"12125550142", "12125550143"}


@pytest.mark.parametrize(
    ("scenario", "options", "reports"),
    [
        ("concert", {}, "there are: conversation"),
        (
            "conversation",
            {},
            "lines: Missing required argument; its options: lines, contact, name",
        ),
        ("conversation", {"lines": "> a", "color": 1}, "color: Unexpected"),
        ("conversation", {"lines": "a"}, "line 1"),
        ("conversation", {"lines": "> +👍"}, "no message of the account"),
        ("conversation", {"lines": "> a", "contact": "Ada"}, "is not a number"),
        ("conversation", {"lines": "> a", "name": 7}, "name: Input should be a valid string"),
        ("conversation", {"lines": "> \ud800"}, "cannot be written as JSON"),
        ("campaign", {"template": "x", "contacts": 1000}, "as many as the account has"),
        ("campaign", {"template": "x", "contacts": 0}, "contacts must be"),
        ("campaign", {"template": "x", "contacts": True}, "contacts: Input should be"),
        ("campaign", {"template": "x", "contacts": []}, "contacts must be"),
        ("campaign", {"template": "", "contacts": 1}, "template: String should have at least 1"),
        (
            "campaign",
            {"template": "x", "contacts": 1, "failures": 2},
            "failures: Input",
        ),
        (
            "campaign",
            {"template": "x", "contacts": 1, "unread": "all"},
            "unread: Input",
        ),
        (
            "campaign",
            {"template": "x", "contacts": 1, "replies": "Yes"},
            "replies: .str",
        ),
        ("flow", {"flow": 1, "answers": [{}]}, "no flow 1"),
        ("flow", {"flow": 301, "answers": []}, "answers: Value should have at least 1"),
        ("flow", {"flow": 301, "answers": {"a": 1}}, "answers: Input should be"),
        ("flow", {"flow": 301, "answers": [{}, {}], "contacts": 1}, "need 2 contacts"),
        ("flow", {"flow": 301, "answers": [{"n": float("nan")}]}, "cannot be written as JSON"),
    ],
)
def test_a_scenario_that_cannot_be_played_is_refused_and_nothing_is_delivered(
    call: Caller, listener: Listener, scenario: str, options: dict[str, Any], reports: str
) -> None:
    call.contact()
    call.flow()
    assert call.sandbox.settle()
    listener.requests.clear()
    with pytest.raises(BadScenario, match=reports):
        call.sandbox.play(scenario, **options)
    assert listener.requests == []


def test_who_plays_sees_what_failed_and_why(call: Caller) -> None:
    assert repr(call.sandbox.play("conversation", lines="> a")) == (
        "<conversation of 1 event, nobody asked for it>"
    )
    number = call.webhook("https://elsewhere.example/in").data["id"]
    assert repr(call.sandbox.play("conversation", lines=["> a", "> b"])) == (
        "<conversation of 2 events, to 1 webhook: 2 refused\n"
        f"  webhook {number}, 2 refused: the address is not in allow=: Sandbox(allow=[…]), or "
        "sandbox.allow(address, to=…)>"
    )
    call("DELETE", f"/webhooks/{number}")
    with listening(answering(500)) as listener:
        call.sandbox.allow(HOOK, to=listener.url)
        call.webhook(HOOK)
        assert call.sandbox.play("conversation", lines="> a").counts == {"failed": 1}
