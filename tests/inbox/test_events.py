"""Whatever a delivery holds is taken apart, and nothing of it gets lost."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inbox.bodies import ANA, change, delivery, enveloped, message, taken, value

from chatkit.inbox.events import (
    find_contact,
    format_e164,
    parse_events,
    parse_timestamp,
    read_flow_answers,
)
from chatkit.profile import ServiceProfile

anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["entry", "changes", "value", "field", "messages", "statuses", "history", "threads",
             "id", "type", "status", "from", "timestamp", "contacts", "metadata",
             "from_user_id", "recipient_user_id", "to_parent_user_id", "user_id", "wa_id", "x"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


def leaves(tree: Any) -> Iterator[str]:
    """Everything in a body that is no container, and each empty one."""
    if isinstance(tree, dict) and tree:
        for name, inner in tree.items():
            yield from (f"{name}:{leaf}" for leaf in leaves(inner))
    elif isinstance(tree, list) and tree:
        for inner in tree:
            yield from leaves(inner)
    else:
        yield json.dumps(tree)


def last(leaf: str) -> str:
    """A leaf without the names of the levels that were taken apart."""
    levels = ("entry", "changes", "change", "value", "history", "threads", "thread", "body",
              "messages", "message_echoes", "statuses", "calls", "envelope", "data")  # fmt: skip
    while leaf.partition(":")[0] in levels and ":" in leaf:
        leaf = leaf.partition(":")[2]
    return leaf


def lost(body: Any, profile: ServiceProfile | None = None) -> Counter[str]:
    """Return the parts of a body that are in none of its events."""
    result: set[str] = set()
    for event in taken(body, profile=profile):
        result |= {last(leaf) for part in (event.content, event.context) for leaf in leaves(part)}
    return Counter(leaf for leaf in map(last, leaves(body)) if leaf not in result)


def samples(shared: Path) -> list[Path]:
    result = sorted((shared / "samples" / "webhooks").glob("*.json"))
    return [path for path in result if path.name != "MANIFEST.json"]


def test_nothing_of_the_158_samples_gets_lost_and_each_is_understood(shared: Path) -> None:
    families: Counter[str] = Counter()
    paths = samples(shared)
    assert len(paths) == 158
    for path in paths:
        body = json.loads(path.read_bytes())
        assert not lost(body), path.name
        assert not lost({"id": "1", "event": "a", "data": body}), path.name
        families.update(event.family for event in taken(body))
    assert families == {"change": 76, "message": 65, "status": 13, "echo": 4, "call": 3}


def test_a_sample_in_an_envelope_is_the_same_events(shared: Path) -> None:
    for path in samples(shared):
        bare = taken(path.read_bytes())
        body = json.loads(path.read_bytes())
        inside = taken({"id": "1", "event": "a", "data": body})
        assert [(e.family, e.content, e.id, e.at, e.contact) for e in bare] == [
            (e.family, e.content, e.id, e.at, e.contact) for e in inside
        ], path.name


@given(anything)
def test_any_json_is_at_least_one_event_and_nothing_gets_lost(body: Any) -> None:
    result = taken(body)
    assert result and not lost(body)
    for event in result:  # whatever stands there, every property has an answer
        for name in ("field", "type", "id", "at", "contact", "name", "number", "number_id",
                     "outbound", "media", "text"):  # fmt: skip
            getattr(event, name)
        assert read_flow_answers(event.fields) is not None


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"<a/>", b"[" * 100_000])
def test_what_is_no_json_is_an_event_with_its_text(body: bytes) -> None:
    (event,) = taken(body)
    assert (event.family, event.content) == ("other", body.decode("utf-8", "replace"))


#: Bodies with their contact, and of each of their events what follows.
CASES = json.loads((Path(__file__).parent / "cases/events.json").read_text("utf-8"))
PROPERTIES = ("family", "type", "id", "contact", "name", "at", "outbound", "text")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["kind"])
def test_a_body_is_taken_apart_whether_it_is_in_an_envelope_or_not(case: dict[str, Any]) -> None:
    bodies = [case["body"]]
    if isinstance(case["body"], dict | list) and "event" not in case["body"]:
        bodies.append(json.loads(enveloped(case["body"])))
    for body in bodies:
        result = [[getattr(event, name) for name in PROPERTIES] for event in taken(body)]
        for event in result:
            event[5] = event[5] and event[5].isoformat()
        assert result == case["events"]
        assert find_contact(body) == case["contact"]


def test_the_envelope_has_the_names_of_the_profile_and_no_others() -> None:
    profile = ServiceProfile(event_kind_field="type", event_data_field="payload")
    body = json.dumps({"id": "msg_1", "type": "a.kind", "payload": message(1)}).encode()
    (event,) = taken(body, profile=profile)
    assert (event.family, event.context["envelope"]) == (
        "message",
        {"id": "msg_1", "type": "a.kind"},
    )
    (event,) = taken(body)  # under the default names it is something else, and kept
    assert event.family == "other" and event.fields["payload"]["id"] == "m1"


def test_a_body_that_names_a_kind_and_holds_no_data_is_kept_whole() -> None:
    (event,) = taken(b'{"event": "a.kind", "more": 1}')
    assert (event.family, event.fields) == ("other", {"event": "a.kind", "more": 1})
    assert "envelope" not in event.context


def test_a_thousand_events_of_one_body_have_each_their_place() -> None:
    result = taken(change("messages", value(messages=[message(n) for n in range(1000)])))
    assert [event.place for event in result] == [*range(1000)]
    assert [event.id for event in result] == [f"m{n}" for n in range(1000)]


@pytest.mark.parametrize(
    ("written", "answers", "unread"),
    [
        ('{"a":"1","b":[2]}', {"a": "1", "b": [2]}, None),
        ({"a": 1}, {"a": 1}, None),
        ("{broken", {}, "{broken"),
        ("[1]", {}, "[1]"),
        (None, {}, "null"),
        ("[" * 100_000, {}, "[" * 100_000),
    ],
)
def test_flow_answers_are_read_or_kept_as_they_are(
    written: Any, answers: dict[str, Any], unread: str | None
) -> None:
    content = {"interactive": {"type": "nfm_reply", "nfm_reply": {"response_json": written}}}
    assert read_flow_answers(content) == (answers, unread)
    assert read_flow_answers({"interactive": {"type": "list_reply"}}) == (None, None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1750000000", datetime(2025, 6, 15, 15, 6, 40, tzinfo=UTC)),
        (1750000000, datetime(2025, 6, 15, 15, 6, 40, tzinfo=UTC)),
        ("253402300799", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("253402300800", None),
        *[
            (unusual, None)
            for unusual in ("", "<TIME>", "-1", "1e9", "٣٤", "9" * 12, 10**30, None, True)
        ],
    ],
)
def test_times_are_seconds_and_nothing_else(value: Any, expected: datetime | None) -> None:
    assert parse_timestamp(value) == expected


def test_numbers_are_joined_with_contacts_by_their_e164_form() -> None:
    assert format_e164(ANA) == f"+{ANA}"
    for unusual in (None, "", "US.13491208655302741918", "1234", "+16505550101", "٣" * 8):
        assert format_e164(unusual) == unusual


def test_the_verdict_and_the_delivery_stay_with_each_event() -> None:
    whole = delivery(enveloped(message(1)), 12, verified=False, kind="k")
    (event,) = parse_events(whole, ServiceProfile())
    assert (event.delivery, event.verified, event.kind) == (12, False, "k")
    assert event.received_at == whole.received_at


def test_a_body_that_nothing_can_take_apart_is_of_none() -> None:
    body: Any = message(1)
    for _ in range(5_000):
        body = [body]
    assert find_contact(body) == ""


@given(
    anything | st.dictionaries(st.sampled_from(["event", "data", "x", "messages"]), anything),
    st.sampled_from(["event", "id", "x"]),
    st.sampled_from(["data", "x", "messages", "entry"]),
)
def test_any_profile_finds_this_contact_or_none(body: Any, kind: str, data: str) -> None:
    if contact := find_contact(body):
        profile = ServiceProfile(event_kind_field=kind, event_data_field=data)
        assert {one.contact for one in taken(body, profile=profile)} <= {contact, None, ""}
