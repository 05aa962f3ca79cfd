"""Deleting is asked for by name: keys, a frame that holds them, or a column `delete`."""

from __future__ import annotations

import pandas as pd
import pytest
from bulk.planning import (  # noqa: F401
    active,
    cells,
    client,
    contacts,
    content,
    edits,
    flow,
    sandbox,
    states,
    webhook,
)

import chatkit


def deleted(plan):
    return [change.key for change in plan.changes if change.kind == "delete"]


@pytest.fixture
def ids(sandbox):
    return contacts(sandbox, 12)


@pytest.fixture
def frame(client, ids):
    return client.contacts.frame()


KEYS = {
    "a list": lambda frame: frame.index[1:3].tolist(),
    "a tuple": lambda frame: tuple(frame.index[1:3]),
    "an index": lambda frame: frame.index[1:3],
    "a frame": lambda frame: frame.iloc[1:3],
    "a frame with the id as a column": lambda frame: frame.reset_index().iloc[1:3],
    "a series": lambda frame: frame.reset_index()["id"].iloc[1:3],
    "an array": lambda frame: frame.index[1:3].to_numpy(),
    "a generator": lambda frame: (key for key in frame.index[1:3]),
    "whole floats": lambda frame: frame.index[1:3].astype(float),
    "texts": lambda frame: frame.index[1:3].astype(str).tolist(),
    "twice the same": lambda frame: frame.index[1:3].tolist() * 2,
}


@pytest.mark.parametrize("keys", KEYS)
def test_keys_may_come_as(sandbox, client, ids, frame, keys):
    plan = client.contacts.plan(delete=KEYS[keys](frame))
    assert (deleted(plan), cells(plan)) == (ids[1:3], [])
    assert all(type(change.key) is int for change in plan.changes)
    result = plan.apply()
    assert states(result) == ["applied", "applied"] and result.index.tolist() == ids[1:3]
    assert [*active(sandbox, "contacts")] == [ids[0], *ids[3:]]


def test_a_delete_shows_what_it_takes_away(client, ids, frame):
    [change] = client.contacts.plan(delete=ids[:1]).changes
    assert dict(change.before) == {
        "name": "Ana Cruz",
        "number": "2025550100",
        "country_code": "+1",
    }
    assert (dict(change.after), change.row) == ({}, ids[0])


@pytest.mark.parametrize("dtype", ["boolean", bool, object])
def test_a_column_delete_names_rows(client, ids, frame, dtype):
    frame["delete"] = pd.Series([key in ids[1:3] for key in ids], frame.index).astype(dtype)
    frame.loc[ids[1], "name"] = "edited and deleted"
    plan = client.contacts.plan(frame)
    assert deleted(plan) == ids[1:3] and edits(plan) == {}
    assert plan.frame().index.tolist() == ids[1:3]


def test_a_deleted_row_is_not_refused_for_its_cells(client, ids, frame):
    frame.loc[ids[0], "number"] = "?"
    for plan in (
        client.contacts.plan(frame, delete=ids[:1]),
        client.contacts.plan(frame.assign(delete=frame.index == ids[0])),
    ):
        assert (deleted(plan), cells(plan), len(plan)) == (ids[:1], [], 1)


def test_keys_that_are_not_there_are_refused(client, ids, frame):
    plan = client.contacts.plan(delete=[404404, "en", ids[0]])
    assert deleted(plan) == ids[:1]
    assert [cell[:2] for cell in cells(plan)] == [(404404, "delete"), ("en", "delete")]
    assert set(plan.refused["next_step"]) == {
        "delete= takes the id of each, as the frame that was read shows it"
    }


def test_a_row_that_is_no_record_cannot_be_deleted(client, ids):
    own = pd.DataFrame({"number": ["2025550177"], "country_code": "+1", "delete": True})
    assert [cell[:2] for cell in cells(client.contacts.plan(own))] == [(0, "delete")]


def test_rows_found_by_their_natural_key_can_be_deleted(client, ids):
    own = pd.DataFrame({"number": ["2025550100"], "country_code": "+1", "delete": True})
    assert deleted(client.contacts.plan(own)) == ids[:1]


@pytest.mark.parametrize("one", ["en", b"en", 50001])
def test_one_key_that_is_no_list_is_refused_with_the_way(sandbox, client, one):
    content(sandbox)
    with pytest.raises(chatkit.errors.InputError, match="list"):
        client.templates("order_ready").plan(delete=one)


def test_a_plan_of_nothing_at_all_is_refused(sandbox, client, ids):
    """As from `frame = frame.sort_values("name", inplace=True)`: the edits would be lost."""
    for resource in (client.contacts, client.flows, client.webhooks, client.templates("welcome")):
        for values in ((), (None,), (None, None)):
            with pytest.raises(chatkit.errors.InputError, match="plan takes a frame") as caught:
                resource.plan(*values)
            assert "delete=" in str(caught.value)
    assert repr(client.contacts.plan(delete=[])).startswith("Nothing to do")


def test_what_is_no_key_says_what_to_pass(client, frame, ids):
    for value in ([ids], [client.contacts.get(ids[0])], [frame.iloc[0]], [*frame.itertuples()]):
        with pytest.raises(chatkit.errors.InputError, match=r"rows of client\.contacts\.frame\(\)"):
            client.contacts.plan(delete=value)


def test_a_mask_in_place_of_rows_to_delete_says_what_to_pass(client, frame):
    mask = frame.number.str.endswith("3")
    for values in (mask, mask.tolist(), mask.to_numpy()):
        with pytest.raises(chatkit.errors.InputError, match=r"delete=frame\[mask\]"):
            client.contacts.plan(delete=values)
    assert client.contacts.plan(delete=frame[mask]).counts["delete"] == 1
