"""Scenarios, their scripts and their timelines; the same again for the same seed."""

import json
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
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
#: Scenarios and scripts that are refused, by the reason; lines, and what is read of them.
REFUSED = tomllib.loads(Path(__file__).with_name("scripts.toml").read_text("utf-8"))
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


def test_a_webhook_receives_only_the_kinds_of_its_events_with_the_name_of_the_contact(
    call: Caller,
) -> None:
    call.contact("2125550142", "+1", name="Ines Maria Okafor")
    with listening() as listener:
        call.sandbox.allow(HOOK, to=listener.url)
        call.webhook(HOOK, events=["chat.message.status"])
        played = call.sandbox.play("conversation", lines=LINES, contact="+12125550142")
    assert (len(played.events), len(played.deliveries)) == (8, 3)
    assert {body["event"] for body in delivered(listener)} == {"chat.message.status"}
    names = {value(body)["contacts"][0]["profile"]["name"] for body in delivered(listener)}
    assert names == {"Ines Maria Okafor"}


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


def test_the_seed_decides_which_messages_of_a_campaign_fail_and_some_readers_reply(
    call: Caller, listener: Listener
) -> None:
    numbers = [f"+120255501{at:02}" for at in range(20)]

    def failed(seed: int) -> set[str]:
        listener.requests.clear()
        options = {"failures": 0.5, "unread": 0, "replies": ["Yes", "No"]}
        call.sandbox.play("campaign", seed=seed, template="x", contacts=numbers, **options)
        report = [value(body) for body in delivered(listener) if "statuses" in value(body)]
        ends = [one["statuses"][0] for one in report]
        return {one["recipient_id"] for one in ends if one["status"] == "failed"}

    first, second = failed(1), failed(2)
    assert len(first) == len(second) == 10
    assert first != second
    assert first == failed(1)
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


@pytest.mark.parametrize("scenario", REFUSED["scenarios"])
def test_a_scenario_that_cannot_be_played_is_refused_and_nothing_is_delivered(
    call: Caller, listener: Listener, scenario: str
) -> None:
    call.contact()
    call.flow()
    assert call.sandbox.settle()
    listener.requests.clear()
    for reason, text in REFUSED["scenarios"][scenario].items():
        with pytest.raises(BadScenario, match=reason):
            call.sandbox.play(scenario, **json.loads(text))
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


@pytest.mark.parametrize(("line", "read"), REFUSED["lines"].items())
def test_a_line_is_read(line: str, read: list[Any]) -> None:
    assert parse_script([line]) == [ScriptLine(*read)]
    assert parse_script(f"\n  {line}\n\n  < Two\n")[1].text == "Two"


@pytest.mark.parametrize(("reason", "lines"), REFUSED["scripts"].items())
def test_a_script_that_cannot_be_read_is_refused_with_the_reason(reason: str, lines: Any) -> None:
    for script in lines:
        with pytest.raises(BadScenario, match=reason):
            parse_script(script)


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


def test_a_timeline_ends_now_and_in_a_seeded_sandbox_follows_the_one_before() -> None:
    before = int(time.time())
    last = int(change(play_timeline(Clock())[-1])["messages"][0]["timestamp"])
    assert before <= last <= time.time()
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
