"""Step: what is sent first for a row; what is open is looked at, what is new is sent."""

from __future__ import annotations

import pytest
from bulk.operations import OPERATIONS, Operation
from bulk.wayward import contact, content, wayward

from chatkit.bulk.outcomes import Row, first_step, known_key


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_all_is_read_before_it_is_written_but_what_has_no_key_yet(operation: Operation) -> None:
    """A content is called by its language, so it can be read before it is made."""
    with wayward() as service:
        step = first_step(Row(0, operation.begin(service)))
    new = operation.verb == "create" and operation.noun != "content"
    assert (step.stage, step.record) == ("write" if new else "read", None)


def test_what_was_answered_but_not_checked_is_checked_and_not_sent_again() -> None:
    with wayward() as service:
        row = Row(0, next(o for o in OPERATIONS if o.verb == "update").begin(service))
    row.feed("intent", {"attempt": 1})
    row.feed("answered", {"key": row.key})
    assert first_step(row).stage == "check"


@pytest.mark.parametrize(("change", "stage"), [(contact(1), "write"), (content(1), "read")])
def test_what_was_found_to_be_absent_begins_anew(change, stage) -> None:
    row = Row(0, change)
    for what, detail in (("intent", {"attempt": 1}), ("in doubt", {}), ("absent", {})):
        row.feed(what, detail)
    assert first_step(row).stage == stage


@pytest.mark.parametrize("key", [0, 17, "en", ""])
def test_a_key_that_is_there_is_known(key) -> None:
    assert known_key(key) == key


def test_what_was_never_made_cannot_be_read() -> None:
    with pytest.raises(LookupError, match="never made"):
        known_key(None)
