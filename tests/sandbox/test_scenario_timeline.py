"""Timeline: things happen one after the other, and end now."""

import time
from itertools import pairwise
from typing import Any

import pytest

from chatkit import ServiceProfile
from chatkit.sandbox import events
from chatkit.sandbox.events import Person
from chatkit.sandbox.scenario import Timeline
from chatkit.sandbox.store import Clock, SeededClock

ADA = Person("12125550142", "Ada")


def value(event: Any) -> dict[str, Any]:
    result: dict[str, Any] = event.payload["entry"][0]["changes"][0]["value"]
    return result


def report(clock: Any, seed: int = 0) -> list[Any]:
    timeline = Timeline(ServiceProfile(), clock, seed)
    sent, done = timeline.add_outbound(ADA, 10, "text", events.make_text("Hi"))
    timeline.add_inbound(ADA, done + 5, "reaction", events.make_reaction(sent, "👍"))
    timeline.add_inbound(ADA, 0, "voice", events.make_media("voice", timeline.make_id(), None))
    return timeline.make_events()


def test_events_are_in_the_order_they_happen_and_of_their_families() -> None:
    events = report(SeededClock("empty"))
    kinds = [event.kind.removeprefix("chat.message.") for event in events]
    assert kinds == ["media", "outbound", "status", "status", "status", "reaction"]
    assert [event.stamp for event in events] == sorted(event.stamp for event in events)
    assert value(events[0])["messages"][0]["type"] == "audio"
    sent = value(events[1])["message_echoes"][0]["id"]
    statuses = [value(event)["statuses"][0] for event in events[2:5]]
    assert [status["status"] for status in statuses] == ["sent", "delivered", "read"]
    assert {status["id"] for status in statuses} == {sent}
    assert value(events[5])["messages"][0]["reaction"]["message_id"] == sent
    times = [int(status["timestamp"]) for status in statuses]
    assert all(before < after for before, after in pairwise(times))


@pytest.mark.parametrize(
    ("until", "error", "last"),
    [("sent", None, "sent"), ("delivered", None, "delivered"), ("failed", 131026, "failed")],
)
def test_a_message_comes_as_far_as_it_is_told(until: str, error: int | None, last: str) -> None:
    timeline = Timeline(ServiceProfile(), SeededClock("empty"), 0)
    timeline.add_outbound(ADA, 0, "text", events.make_text("Hi"), until=until, error=error)
    status = value(timeline.make_events()[-1])["statuses"][0]
    assert status["status"] == last
    assert ("errors" in status) == (error is not None)


def test_a_story_ends_now() -> None:
    before = int(time.time())
    events = report(Clock())
    last = int(value(events[-1])["messages"][0]["timestamp"])
    assert before <= last <= time.time()


def test_a_second_story_in_a_seeded_sandbox_comes_after_the_first() -> None:
    clock = SeededClock("empty")
    first, second = report(clock), report(clock)
    assert first[-1].stamp < second[0].stamp
    assert second[-1].stamp < clock.stamp()


def test_the_same_seed_tells_the_same_and_a_second_time_other_ids() -> None:
    one, two = SeededClock("empty"), SeededClock("empty")
    assert report(one, 3) == report(two, 3)
    again = report(one, 3)
    ids = [value(event)["messages"][0]["id"] for event in (report(two, 4)[0], again[0])]
    assert len(set(ids)) == 1  # the ids are the sandbox's, what happens is the seed's
    before = report(SeededClock("empty"), 3)[0]
    assert value(before)["messages"][0]["id"] != ids[0]
