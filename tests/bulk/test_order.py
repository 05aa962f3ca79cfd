"""In which order the rows of a run are sent, after a stop too, and seen while they are."""

from __future__ import annotations

from collections import Counter

import pandas as pd
from bulk.planning import (  # noqa: F401
    active,
    client,
    contacts,
    number,
    sandbox,
    states,
    writes,
)

import chatkit


def edited(sandbox, client, count=60):
    """A plan of deletes, updates in a chain of numbers, and creates, in no order of kinds."""
    ids = contacts(sandbox, count)
    frame = client.contacts.frame().reset_index()
    frame = frame[~frame.id.isin(ids[40:])]
    frame["number"] = [*frame.number[1:], number(900)]  # each takes the number of the next
    new = pd.DataFrame({"number": [number(n) for n in range(500, 520)], "country_code": "+1"})
    mixed = pd.concat([frame, new]).sample(frac=1, random_state=3)
    return client.contacts.plan(mixed, delete=ids[40:])


def test_deletes_go_before_updates_before_creates_and_numbers_are_given_before_they_are_taken(
    sandbox, client
):
    plan = edited(sandbox, client)
    before = len(writes(sandbox))
    result = plan.apply(many=True)
    assert Counter(states(result)) == {"applied": 80}
    assert list(result.index) == list(plan.frame().index)
    methods = [method for method, _ in writes(sandbox)[before:]]
    assert methods == sorted(methods, key=["DELETE", "PUT", "POST"].index)
    numbers = {record["number"] for record in active(sandbox, "contacts").values()}
    assert numbers == {number(n) for n in (*range(1, 40), 900, *range(500, 520))}
    assert set(plan.apply(many=True).state) == {"applied"}
    assert len(writes(sandbox)) == before + 80, "applied again, it sends nothing"
    back = chatkit.undo(result, client).apply()
    assert Counter(states(back)) == {"applied": 80}
