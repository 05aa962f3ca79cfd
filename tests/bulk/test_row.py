"""Row: the fold of a row's events; what is open is unknown, and only an outcome closes it."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.bulk.changes import Change
from chatkit.bulk.outcomes import Row, State
from chatkit.errors import JournalError

KINDS = ("create", "update", "delete")
#: Every event, as the engine writes it.
EVENTS: dict[str, dict[str, Any]] = {
    "intent": {"attempt": 1},
    "in doubt": {"reason": "the answer was lost"},
    "not sent": {"reason": "nobody listens"},
    "absent": {"reason": "it had not taken effect"},
    "answered": {"key": 17},
    "adopted": {"key": 17, "reason": "it is there"},
    "verified": {},
    "unchecked": {"reason": "the service does not show it"},
    "differs": {"reason": "it reads back otherwise", "live": {"name": "ANA"}},
    "unchanged": {"reason": "it is so already"},
    "conflict": {"reason": "somebody else changed it", "live": {"name": "Bo"}},
    "failed": {"reason": "422 bad number"},
}
#: Which of them say what became of a call that was sent.
CLOSING = {
    "not sent",
    "absent",
    "answered",
    "adopted",
    "differs",
    "unchanged",
    "conflict",
    "failed",
}


def row_of(*events: str, kind: str = "create") -> Row:
    row = Row(0, Change(1, kind, None if kind == "create" else 17, "Ana"))  # type: ignore[arg-type]
    for what in events:
        row.apply_event(what, EVENTS[what])
    return row


@pytest.mark.parametrize(
    ("events", "state", "evidence", "is_open", "done"),
    [
        (["intent"], "unknown", "", True, False),
        (["intent", "answered"], "applied", "answered", False, True),
        (["intent", "answered", "differs"], "differs", "answered", False, True),
        (["intent", "in doubt"], "unknown", "", True, False),
        (["intent", "in doubt", "in doubt"], "unknown", "", True, False),
        (["intent", "in doubt", "adopted"], "applied", "adopted", False, True),
        (["intent", "in doubt", "absent"], "not sent", "", False, False),
        (["intent", "in doubt", "absent", "intent"], "unknown", "", True, False),
        (["intent", "in doubt", "conflict"], "conflict", "", False, True),
        (["intent", "in doubt", "failed"], "failed", "", False, True),
        (["intent", "not sent"], "not sent", "", False, False),
        (["intent", "failed"], "failed", "", False, True),
        (["unchanged"], "unchanged", "", False, True),
        (["conflict"], "conflict", "", False, True),
    ],
)
def test_the_events_of_a_create_tell_its_state(events, state, evidence, is_open, done) -> None:
    row = row_of(*events)
    assert (row.state, row.evidence, row.open, row.done) == (state, evidence, is_open, done)


@pytest.mark.parametrize(
    ("last", "state", "evidence"),
    [
        ("verified", "applied", "read back"),
        ("unchecked", "applied", "answered"),
        ("differs", "differs", "answered"),
    ],
)
def test_an_update_that_was_answered_is_done_once_it_is_checked(last, state, evidence) -> None:
    row = row_of("intent", "answered", kind="update")
    assert (row.state, row.open, row.done) == ("applied", False, False)
    row.apply_event(last, EVENTS[last])
    assert (row.state, row.evidence, row.done) == (state, evidence, True)
    assert row_of("intent", "answered", kind="delete").done


def test_what_the_service_has_not_seen_is_no_attempt() -> None:
    row = row_of()
    for attempt in (1, 1, 1):
        row.apply_event("intent", {"attempt": attempt})
        assert row.attempts == 1
        row.apply_event("not sent", {"reason": "429"})
        assert row.attempts == 0
    row.apply_event("not sent", {"reason": "403 to a read"})  # no intent was open
    assert row.attempts == 0


def test_an_intent_keeps_what_an_undo_needs_until_another_says_more() -> None:
    row = row_of(kind="update")
    seen = "2026-11-20T10:00:00"
    for what, detail in (
        ("intent", {"attempt": 1, "live": {"name": "Ana"}}), ("not sent", {"reason": "429"}),
        ("intent", {"attempt": 1, "seen": seen}), ("in doubt", {"reason": "lost"}),
        ("adopted", {"reason": "it is there"}),
    ):  # fmt: skip
        row.apply_event(what, detail)
    assert (row.live, row.seen, row.key) == ({"name": "Ana"}, seen, 17)


def test_an_intent_that_a_dead_process_left_is_a_doubt_and_an_outcome_is_none() -> None:
    rows = [row_of(*events) for events in LEFT]
    for row in rows:
        row.mark_reopened()
    assert [row.was_unknown for row in rows] == list(LEFT.values())


#: What a process left, and whether that was ever in doubt.
LEFT = {
    (): False,
    ("intent",): True,
    ("intent", "answered"): False,
    ("intent", "not sent"): False,
    ("intent", "in doubt", "absent"): True,
}


def test_an_event_of_another_version_is_refused() -> None:
    with pytest.raises(JournalError, match="'blessed'"):
        row_of().apply_event("blessed", {})


events = st.lists(st.sampled_from(sorted(EVENTS)), max_size=12)


@given(st.sampled_from(KINDS), events)
def test_what_was_sent_is_open_until_an_event_says_what_became_of_it(kind, events) -> None:
    row, is_open, unverified = row_of(kind=kind), False, False
    for what in events:
        row.apply_event(what, EVENTS[what])
        is_open = what in ("intent", "in doubt") or (is_open and what not in CLOSING)
        unverified = unverified or what == "in doubt"
        assert (row.open, row.was_unknown) == (is_open, unverified)
        assert row.state in get_args(State)
        assert row.reason == EVENTS[what].get("reason", "") or what == "intent"


@given(st.sampled_from(KINDS), events)
def test_nothing_is_done_after_an_event_that_asks_for_more(kind, events) -> None:
    for more in ("intent", "in doubt", "not sent", "absent"):
        row = row_of(*events, more, kind=kind)
        assert not row.done
        assert row.state == ("unknown" if more in ("intent", "in doubt") else "not sent")
