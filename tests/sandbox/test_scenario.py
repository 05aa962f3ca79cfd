"""Scenarios, their scripts and their timelines; the same again for the same seed."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from caller import Caller
from hypothesis import given
from hypothesis import strategies as st
from internals import middleware_of
from listening import Listener, answering, listening

from chatkit import Sandbox, ServiceProfile
from chatkit.sandbox import events
from chatkit.sandbox.events import Person
from chatkit.sandbox.scenario import BadScenario, ScriptLine, Timeline, parse_script
from chatkit.sandbox.store import Clock, SeededClock

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


def delivered(listener: Listener) -> list[Any]:
    return [json.loads(body) for body in listener.bodies]


def value(body: Any) -> dict[str, Any]:
    result: dict[str, Any] = body["data"]["entry"][0]["changes"][0]["value"]
    return result


def statuses(listener: Listener) -> Counter[str]:
    result = [body for body in delivered(listener) if body["event"] == "chat.message.status"]
    return Counter(value(body)["statuses"][0]["status"] for body in result)


def test_a_conversation_is_delivered_line_by_line(call: Caller, listener: Listener) -> None:
    played = call.sandbox.play("conversation", lines=LINES, contact="+1 212 5550142", name="Ada")
    assert repr(played) == "<conversation of 8 events, to 1 webhook: 8 delivered>"
    bodies = delivered(listener)
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
    (body,) = delivered(listener)
    assert value(body)["contacts"][0]["profile"]["name"] == "Ines Maria Okafor"


def test_a_webhook_receives_only_the_kinds_of_its_events(call: Caller) -> None:
    with listening() as listener:
        call.sandbox.allow(HOOK, to=listener.url)
        call.webhook(HOOK, events=["chat.message.status"])
        played = call.sandbox.play("conversation", lines=LINES)
    assert (len(played.events), len(played.deliveries)) == (8, 3)
    assert {body["event"] for body in delivered(listener)} == {"chat.message.status"}


@pytest.mark.parametrize(("failures", "unread"), [(0, 0), (0.25, 0.5), (1, 0.3), (0.05, 1)])
def test_a_campaign_has_exactly_the_given_shares(
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
    sent = [body for body in delivered(listener) if body["event"] == "chat.message.outbound"]
    assert {value(body)["message_echoes"][0]["template"]["name"] for body in sent} == {
        "order_ready"
    }


def test_the_seed_decides_which_messages_of_a_campaign_fail(
    call: Caller, listener: Listener
) -> None:
    numbers = [f"+120255501{at:02}" for at in range(20)]

    def failed(seed: int) -> set[str]:
        listener.requests.clear()
        call.sandbox.play("campaign", seed=seed, template="x", contacts=numbers, failures=0.5)
        report = [value(body) for body in delivered(listener) if "statuses" in value(body)]
        ends = [one["statuses"][0] for one in report]
        return {one["recipient_id"] for one in ends if one["status"] == "failed"}

    first, second = failed(1), failed(2)
    assert len(first) == len(second) == 10
    assert first != second
    assert first == failed(1)


def test_some_readers_of_a_campaign_reply(call: Caller, listener: Listener) -> None:
    numbers = [f"+1202555010{n}" for n in range(5)]
    call.sandbox.play("campaign", template="x", contacts=numbers, unread=0, replies=["Yes", "No"])
    output = [body for body in delivered(listener) if body["event"] == "chat.message.inbound"]
    assert {value(body)["messages"][0]["text"]["body"] for body in output} == {"Yes", "No"}
    assert all("context" in value(body)["messages"][0] for body in output)


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
        value(b)["messages"][0] for b in delivered(listener) if b["event"] == "chat.message.inbound"
    ]
    read = [json.loads(one["interactive"]["nfm_reply"]["response_json"]) for one in output]
    assert [one.pop("flow_token")[:5] for one in read] == ["flow-", "flow-"]
    assert sorted(read, key=str) == answers
    assert {one["from"] for one in output} == {"12125550142", "12125550143"}


@pytest.mark.parametrize(
    ("scenario", "options", "reason"),
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
    call: Caller, listener: Listener, scenario: str, options: dict[str, Any], reason: str
) -> None:
    call.contact()
    call.flow()
    assert call.sandbox.settle()
    listener.requests.clear()
    with pytest.raises(BadScenario, match=reason):
        call.sandbox.play(scenario, **options)
    assert listener.requests == []


def test_the_result_of_a_scenario_shows_failures_with_the_reason(call: Caller) -> None:
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


# --- scripts --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("> Is it ready?", ScriptLine(False, "text", "Is it ready?")),
        (">no space", ScriptLine(False, "text", "no space")),
        ("> 1 + 1 = 2", ScriptLine(False, "text", "1 + 1 = 2")),
        ("> +12125550142", ScriptLine(False, "text", "+12125550142")),
        ("> - no", ScriptLine(False, "text", "- no")),
        ("> 5 < 6", ScriptLine(False, "text", "5 < 6")),
        ("> [image] The scratch", ScriptLine(False, "image", "The scratch")),
        ("> [voice]", ScriptLine(False, "voice", "")),
        ("> +👍", ScriptLine(False, "reaction", "👍")),
        ("> -", ScriptLine(False, "reaction", "")),
        ("< Yes.", ScriptLine(True, "text", "Yes.")),
        ("< Wow!", ScriptLine(True, "text", "Wow!")),
        ("< Call 5550142", ScriptLine(True, "text", "Call 5550142")),
    ],
)
def test_a_line_is_read(line: str, read: ScriptLine) -> None:
    assert parse_script([line]) == [read]


def test_a_text_of_many_lines_is_read_line_by_line() -> None:
    assert [line.text for line in parse_script("\n  > One\n\n  < Two\n")] == ["One", "Two"]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("Hello", "begin with >"),
        (">", "nothing is said"),
        ("> [gif] x", "image, video"),
        ("", "a line at least"),
        ([7], "line 1 must be text"),
        ([], "a line at least"),
        ("> a\n< b\nc", "line 3"),
    ],
)
def test_a_script_that_cannot_be_read_is_refused_with_the_reason(
    lines: object, reason: str
) -> None:
    with pytest.raises(BadScenario, match=reason):
        parse_script(lines)  # type: ignore[arg-type]


@given(st.text())
def test_any_script_is_read_or_refused(text: str) -> None:
    try:
        assert parse_script(text)
    except BadScenario as error:
        assert str(error)


# --- timelines ------------------------------------------------------------------------

ADA = Person("12125550142", "Ada")


def change(event: Any) -> dict[str, Any]:
    result: dict[str, Any] = event.payload["entry"][0]["changes"][0]["value"]
    return result


def play_timeline(clock: Any, seed: int = 0) -> list[Any]:
    timeline = Timeline(ServiceProfile(), clock, seed)
    sent, done = timeline.add_outbound(ADA, 10, "text", events.make_text("Hi"))
    timeline.add_inbound(ADA, done + 5, "reaction", events.make_reaction(sent, "👍"))
    timeline.add_inbound(ADA, 0, "voice", events.make_media("voice", timeline.make_id(), None))
    return timeline.make_events()


def test_events_are_in_order_of_time_and_of_their_families() -> None:
    played = play_timeline(SeededClock("empty"))
    kinds = [event.kind.removeprefix("chat.message.") for event in played]
    assert kinds == ["media", "outbound", "status", "status", "status", "reaction"]
    assert [event.stamp for event in played] == sorted(event.stamp for event in played)
    assert change(played[0])["messages"][0]["type"] == "audio"
    sent = change(played[1])["message_echoes"][0]["id"]
    statuses = [change(event)["statuses"][0] for event in played[2:5]]
    assert [status["status"] for status in statuses] == ["sent", "delivered", "read"]
    assert {status["id"] for status in statuses} == {sent}
    assert change(played[5])["messages"][0]["reaction"]["message_id"] == sent
    times = [int(status["timestamp"]) for status in statuses]
    assert all(before < after for before, after in pairwise(times))


@pytest.mark.parametrize(
    ("until", "error", "last"),
    [("sent", None, "sent"), ("delivered", None, "delivered"), ("failed", 131026, "failed")],
)
def test_a_message_has_the_states_up_to_a_given_one(
    until: str, error: int | None, last: str
) -> None:
    timeline = Timeline(ServiceProfile(), SeededClock("empty"), 0)
    timeline.add_outbound(ADA, 0, "text", events.make_text("Hi"), until=until, error=error)
    status = change(timeline.make_events()[-1])["statuses"][0]
    assert status["status"] == last
    assert ("errors" in status) == (error is not None)


def test_a_timeline_ends_now() -> None:
    before = int(time.time())
    played = play_timeline(Clock())
    last = int(change(played[-1])["messages"][0]["timestamp"])
    assert before <= last <= time.time()


def test_a_second_timeline_in_a_seeded_sandbox_follows_the_first() -> None:
    clock = SeededClock("empty")
    first, second = play_timeline(clock), play_timeline(clock)
    assert first[-1].stamp < second[0].stamp
    assert second[-1].stamp < clock.stamp()


def test_a_timeline_is_repeated_by_its_seed_and_has_new_ids_a_second_time() -> None:
    one, two = SeededClock("empty"), SeededClock("empty")
    assert play_timeline(one, 3) == play_timeline(two, 3)
    again = play_timeline(one, 3)
    ids = [change(event)["messages"][0]["id"] for event in (play_timeline(two, 4)[0], again[0])]
    assert len(set(ids)) == 1  # the ids are the sandbox's, what happens is the seed's
    before = play_timeline(SeededClock("empty"), 3)[0]
    assert change(before)["messages"][0]["id"] != ids[0]
