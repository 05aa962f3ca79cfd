"""Tests of snapshots: edits are compared with the frame as it was read."""

from __future__ import annotations

import gc
import json
import pickle
import weakref

import numpy as np
import pandas as pd
import pytest
from bulk.planning import (  # noqa: F401
    account,
    active,
    call,
    cells,
    client,
    contact,
    contacts,
    content,
    edits,
    flow,
    log,
    number,
    sandbox,
    states,
    webhook,
)

import chatkit
from chatkit.bulk.plan import get_setting
from chatkit.frames.snapshot import get_snapshot, keep_snapshot, read_origin, write_origin

# --- the memory of a frame ------------------------------------------------------------------


def test_a_frame_remembers_where_it_came_from_in_plain_texts():
    frame = pd.DataFrame({"a": [1]})
    assert read_origin(frame) == {}
    write_origin(frame, account="1001", noun="contact")
    assert read_origin(frame) == read_origin(frame.copy()) == {"account": "1001", "noun": "contact"}
    frame.attrs["chatkit"] = "something else"
    assert read_origin(frame) == {}


ORIGIN = {"account": "1001", "noun": "contact"}


def test_what_was_kept_is_what_was_read_though_the_frame_is_edited():
    frame = keep_snapshot(pd.DataFrame({"a": [1, 2]}), ORIGIN, whole=True)
    frame.loc[0, "a"] = 9
    kept = get_snapshot(frame, ORIGIN)
    assert kept.whole and kept.frame["a"].tolist() == [1, 2] and kept.frame.attrs == {}
    assert get_snapshot(pd.DataFrame({"a": [1, 2]}), ORIGIN) is None
    assert get_snapshot(frame, {**ORIGIN, "noun": "flow"}) is None


def test_a_snapshot_lives_as_long_as_a_frame_and_no_longer():
    frame = keep_snapshot(pd.DataFrame({"a": [1, 2]}), ORIGIN, whole=True)
    kept = weakref.ref(get_snapshot(frame, ORIGIN).frame)
    part = frame[["a"]].head(1)
    del frame
    gc.collect()
    assert kept() is not None and get_snapshot(part, ORIGIN).frame is kept()
    del part
    gc.collect()
    assert kept() is None


def test_a_snapshot_shares_the_memory_of_what_nobody_edited():
    frame = keep_snapshot(pd.DataFrame({"a": [1, 2], "b": [3, 4]}), ORIGIN, whole=True)
    frame.loc[0, "a"] = 9
    kept = get_snapshot(frame, ORIGIN).frame
    assert np.shares_memory(kept["b"].to_numpy(), frame["b"].to_numpy())
    assert not np.shares_memory(kept["a"].to_numpy(), frame["a"].to_numpy())


@pytest.mark.parametrize("load", ["pickle", "parquet", "feather", "json of attrs"])
def test_files_hold_where_a_frame_comes_from_and_no_snapshot(tmp_path, load):
    frame = keep_snapshot(pd.DataFrame({"a": [1, 2]}), ORIGIN, whole=True)
    path = tmp_path / "frame"
    if load == "pickle":
        again = pickle.loads(pickle.dumps(frame))
    elif load == "parquet":
        frame.to_parquet(path)
        again = pd.read_parquet(path)
    elif load == "feather":
        frame.to_feather(path)
        again = pd.read_feather(path)
        again.attrs = again.attrs or {"chatkit": ORIGIN}  # pyarrow may leave attrs out
    else:
        again = pd.DataFrame()
        again.attrs = json.loads(json.dumps(frame.attrs))
    assert type(read_origin(again)) is dict and read_origin(again) == ORIGIN
    assert get_snapshot(again, ORIGIN) is None
    assert repr(frame.attrs) == repr(again.attrs) == repr({"chatkit": ORIGIN})


# --- what others changed since the frame was read -------------------------------------------


def test_what_others_changed_since_does_not_look_like_my_edit(sandbox, client):
    ids, flow_id, hook = contacts(sandbox, 3), flow(sandbox), webhook(sandbox)
    content(sandbox), content(sandbox, "welcome")
    contents = client.templates("order_ready")
    frames = {
        client.contacts.plan: client.contacts.frame(),
        client.flows.plan: client.flows.frame(full=True),
        contents.plan: contents.frame(full=True),
        client.templates.plan: client.templates.frame(["order_ready", "welcome"]),
        client.webhooks.plan: client.webhooks.frame(),
    }
    call(sandbox, "PUT", f"contacts/{ids[0]}", name="Theirs", number="2025550177")
    call(sandbox, "DELETE", f"contacts/{ids[1]}")
    contact(sandbox, 9)
    call(sandbox, "PUT", f"flows/{flow_id}", flow_json={"version": "6.0", "screens": []})
    for code in ("order_ready", "welcome"):
        call(sandbox, "PUT", f"templates/{code}/contents/en", text="Theirs", footer="Theirs")
    call(sandbox, "PATCH", f"webhooks/{hook}", is_active=False)
    for plan, frame in frames.items():
        assert (len(plan(frame)), cells(plan(frame))) == (0, [])


def test_my_edits_of_other_fields_land_beside_theirs(sandbox, client):
    ids = contacts(sandbox, 2)
    frame = client.contacts.frame()
    call(sandbox, "PUT", f"contacts/{ids[0]}", number="2025550177")
    frame.loc[ids[0], "name"] = "Zoë"
    plan = client.contacts.plan(frame)
    assert edits(plan) == {ids[0]: {"name": "Zoë"}}
    assert states(plan.apply()) == ["applied"]
    after = active(sandbox, "contacts")[ids[0]]
    assert (after["first_name"], after["number"]) == ("Zoë", "2025550177")


def test_my_edit_of_a_field_that_they_changed_is_a_conflict_when_it_is_applied(sandbox, client):
    ids = contacts(sandbox, 2)
    frame = client.contacts.frame()
    call(sandbox, "PUT", f"contacts/{ids[0]}", name="Theirs")
    call(sandbox, "DELETE", f"contacts/{ids[1]}")
    frame["name"] = "Mine"
    plan = client.contacts.plan(frame)
    assert [change.before for change in plan.changes] == [{"name": "Ana Cruz"}] * 2
    assert states(plan.apply()) == ["conflict", "conflict"]


def test_a_remembered_frame_costs_no_call_to_plan(sandbox, client):
    contacts(sandbox, 3), flow(sandbox), content(sandbox), webhook(sandbox)
    reads = [
        (client.contacts.frame, client.contacts.plan),
        (lambda: client.contacts.frame(full=True), client.contacts.plan),
        (client.flows.frame, client.flows.plan),
        (lambda: client.flows.frame(full=True), client.flows.plan),
        (client.templates("order_ready").frame, client.templates("order_ready").plan),
        (lambda: client.templates.frame(["order_ready"]), client.templates.plan),
        (client.webhooks.frame, client.webhooks.plan),
    ]
    for read, plan in reads:
        frame = read()
        since = len(log(sandbox))
        plan(frame)
        assert log(sandbox)[since:] == []


def test_a_frame_of_another_client_of_the_account_is_of_the_account(sandbox, client):
    ids = contacts(sandbox, 2)
    with chatkit.connect(sandbox) as another:
        frame = another.contacts.frame()
        frame.loc[ids[0], "name"] = "Zoë"
        assert edits(client.contacts.plan(frame)) == {ids[0]: {"name": "Zoë"}}


def test_a_frame_of_another_resource_finds_no_record_there(sandbox, client):
    contacts(sandbox, 2), flow(sandbox)
    plan = client.flows.plan(client.contacts.frame())
    assert len(plan) == 0 and len(plan.refused) == 2


def test_a_filtered_frame_is_held_against_what_it_showed(sandbox, client):
    ids = contacts(sandbox, 12)
    frame = client.contacts.frame(search=number(3))
    assert frame.index.tolist() == [ids[3]]
    call(sandbox, "PUT", f"contacts/{ids[3]}", name="Theirs")
    assert len(client.contacts.plan(frame)) == 0
    frame["name"] = "Mine"
    plan = client.contacts.plan(frame)
    assert get_setting(plan).parts["contact"].total == 12 and states(plan.apply()) == ["conflict"]


def test_a_list_edited_in_place_is_an_edit(sandbox, client):
    call(sandbox, "POST", "webhooks", url="https://hooks.example/a", events=["*"])
    frame = client.webhooks.frame()
    frame.events.iloc[0].append("chat.message.status")
    [change] = client.webhooks.plan(frame).changes
    assert change.before == {"events": ["*"]}
    assert change.after == {"events": ["*", "chat.message.status"]}
