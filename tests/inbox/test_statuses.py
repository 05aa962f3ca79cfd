"""A status only moves up, whatever the order of the deliveries."""

import json
import random
from collections.abc import Iterable
from datetime import datetime
from itertools import permutations
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inbox.bodies import change, status, taken, value

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


def report(statuses: list[dict[str, Any]], numbers: Iterable[int]) -> list[dict[str, Any]]:
    """The rows that come of these statuses, each in the delivery of its number."""
    bodies = [(n, change("messages", value(statuses=[statuses[n]]))) for n in numbers]
    rows = make_status_rows(event for n, body in bodies for event in taken(body, n + 1))
    return sorted(rows, key=itemgetter("message_id"))


#: Statuses, one a delivery, and the rows of their messages; a field that is not there is empty.
CASES = json.loads((Path(__file__).parent / "cases/statuses.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["kind"])
def test_statuses_in_any_order_make_these_rows(case: dict[str, Any]) -> None:
    for order in permutations(range(len(case["statuses"]))):
        rows = json.loads(json.dumps(report(case["statuses"], order), default=datetime.isoformat))
        assert all([*row] == [*STATUS_COLUMNS] for row in rows)
        rows = [{name: cell for name, cell in row.items() if cell is not None} for row in rows]
        assert rows == case["rows"]


@given(some, st.randoms())
def test_repeats_and_any_order_change_nothing(result: list[dict], rng: random.Random) -> None:
    numbers = [*range(len(result))]
    again = numbers + [n for n in numbers if rng.random() < 0.5]
    rng.shuffle(again)
    assert report(result, again) == report(result, numbers)
