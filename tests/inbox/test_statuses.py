"""A status only moves up, whatever the order of the deliveries."""

import random
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inbox.bodies import ANA, START, change, status, taken, value

from chatkit.inbox.frames import STATUS_COLUMNS, make_status_rows

STEPS = ("sent", "delivered", "read", "played", "failed", "warning")

some = st.lists(
    st.builds(
        status,
        st.sampled_from(["a", "b"]),
        st.sampled_from(STEPS),
        st.integers(0, 50),
        errors=st.sampled_from([None, [], [{"code": 1, "title": "x"}], [{"code": 2}], "odd"]),
        pricing=st.sampled_from([None, {"category": "utility"}, {"category": "marketing"}]),
    ),
    max_size=8,
)


def report(*statuses: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The rows that come of these statuses, each in a delivery of its own."""
    result = [e for one in statuses for e in taken(change("messages", value(statuses=[one])))]
    return {row["message_id"]: row for row in make_status_rows(result)}


def test_every_order_of_the_same_statuses_ends_the_same() -> None:
    steps = [status("m", name, n) for n, name in enumerate(STEPS[:4])]
    ends = [report(*order)["m"] for order in permutations(steps)]
    assert all(end == ends[0] for end in ends)
    assert ends[0]["status"] == "played"
    times = [ends[0][f"{name}_at"] for name in STEPS[:4]]
    assert times == [datetime.fromtimestamp(START + n, UTC) for n in range(4)]


@given(some, st.randoms())
def test_repeats_and_any_order_change_nothing(result: list[dict], rng: random.Random) -> None:
    again = result + [one for one in result if rng.random() < 0.5]
    rng.shuffle(again)
    assert report(*again) == report(*result)


@pytest.mark.parametrize("later", STEPS)
def test_failed_is_the_end(later: str) -> None:
    error = [{"code": 131026, "title": "Undeliverable", "error_data": {"details": "No such"}}]
    row = report(status("m", "failed", errors=error), status("m", later, 9))["m"]
    assert (row["status"], row["error_code"]) == ("failed", "131026")
    assert row["error"] == "Undeliverable: No such"


def test_ids_that_differ_by_case_are_two_messages() -> None:
    """The platform's ids are base64: their letters are told apart by case alone."""
    result = report(status("wamid.Qa", "read"), status("wamid.qA", "failed"))
    assert {name: row["status"] for name, row in result.items()} == {
        "wamid.Qa": "read",
        "wamid.qA": "failed",
    }


def test_the_earliest_time_of_a_step_counts() -> None:
    row = report(status("m", "read", 9), status("m", "read", 3), status("m", "read", 5))["m"]
    assert row["read_at"] == datetime.fromtimestamp(START + 3, UTC)


def test_a_status_nobody_knows_is_shown_until_a_known_one_comes() -> None:
    assert report(status("m", "queued", 5), status("m", "warming", 2))["m"]["status"] == "queued"
    assert report(status("m", "queued", 5), status("m", "sent", 1))["m"]["status"] == "sent"


def test_calls_have_statuses_of_their_own() -> None:
    assert not report(status("c", "RINGING", type="call"))


def test_a_row_has_the_columns_of_the_frame() -> None:
    row = report(status("m", "sent", pricing={"category": "utility"}))["m"]
    assert [*row] == [*STATUS_COLUMNS]
    assert (row["contact"], row["category"], row["number_id"]) == (f"+{ANA}", "utility", "77")


def test_a_row_names_the_last_delivery_that_told_of_it_in_any_order() -> None:
    ends = [
        event
        for number, name in ((2, "delivered"), (3, "read"), (1, "sent"))
        for event in taken(change("messages", value(statuses=[status("m", name)])), number)
    ]
    for order in permutations(ends):
        (row,) = make_status_rows(order)
        assert row["delivery"] == 3


@pytest.mark.parametrize(
    ("errors", "code", "words"),
    [
        ([{"code": 131000}], "131000", None),
        ([{"title": "Gone"}], None, "Gone"),
        (
            [{"code": 1, "title": "Gone", "error_data": {"details": "for good"}}],
            "1",
            "Gone: for good",
        ),
        ([{"code": 1, "title": "Gone", "error_data": {"details": "Gone"}}], "1", "Gone"),
        ([{"code": 1, "message": "Gone", "error_data": 5}], "1", "Gone"),
        ([{"code": 1, "title": "A"}, {"code": 2, "title": "B"}], "1", "A"),
        (["x"], None, None),
        ([], None, None),
        ("x", None, None),
    ],
)
def test_the_first_error_has_a_code_and_words(
    errors: Any, code: str | None, words: str | None
) -> None:
    row = report(status("m", "failed", errors=errors))["m"]
    assert (row["error_code"], row["error"]) == (code, words)
