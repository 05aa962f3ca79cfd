"""Tests of fields that lists leave out: read in full for comparison and for the undo."""

from __future__ import annotations

import pandas as pd
import pytest
from bulk.planning import (  # noqa: F401
    DOCUMENT,
    account,
    active,
    client,
    contacts,
    content,
    flow,
    log,
    number,
    sandbox,
    states,
)
from internals import middleware_of

import chatkit


def test_fields_that_lists_do_not_show_are_compared_with_the_whole_record(sandbox, client):
    ids = [flow(sandbox, f"Flow {n}") for n in range(3)]
    other = {**DOCUMENT, "version": "7.2"}
    frame = client.flows.frame()
    frame["flow_json"] = [DOCUMENT, other, None]
    before = len(log(sandbox))
    plan = client.flows.plan(frame)
    assert sorted(log(sandbox)[before:]) == [("GET", f"flows/{i}") for i in ids[:2]]
    [change] = plan.changes
    assert (change.key, change.before, change.after) == (
        ids[1],
        {"flow_json": DOCUMENT},
        {"flow_json": other},
    )
    assert change.undo == "exactly"


HEADER = dict.fromkeys(("text_variable", "parameter", "link", "file_name"))
FIELDS = {
    "footer": ("Thank you", "Danke"),
    "is_catalog": (False, True),
    "variables": ({"1": "Ana"}, {"1": "Zoë"}),
    "headers": ([{"type": "text", "text": "Ready", **HEADER}], []),
    "validity_period_seconds": (60, 90),
}


@pytest.mark.parametrize("field", FIELDS)
def test_content_fields_beyond_the_list_are_read_in_full(sandbox, client, field):
    content(sandbox, validity_period_seconds=60)
    content(sandbox, lang_code="de", validity_period_seconds=60)
    before, after = FIELDS[field]
    frame = client.templates.frame(["order_ready"])
    frame[field] = pd.Series([before, after], frame.index, dtype=object)
    plan = client.templates.plan(frame)
    [change] = plan.changes
    assert (change.code, change.key) == ("order_ready", frame.index[1][1])
    assert (dict(change.before), dict(change.after)) == ({field: before}, {field: after})
    assert states(plan.apply(many=True)) == ["applied"]
    [stored] = [c for c in active(sandbox, "contents").values() if c["lang_code"] == change.key]
    assert stored[field] == after


def test_a_document_that_the_service_never_shows_is_sent_and_can_never_be_undone():
    with account(flow_json_in_get=False) as (sandbox, client):
        key = flow(sandbox)
        frame = client.flows.frame()
        frame["flow_json"] = [{**DOCUMENT, "version": "7.2"}]
        plan = client.flows.plan(frame)
        [change] = plan.changes
        assert (change.before, change.undo) == ({}, "never")
        with pytest.raises(chatkit.errors.PlanRefused, match=r"irreversible=True"):
            plan.apply()
        assert states(plan.apply(irreversible=True)) == ["applied"]
        assert active(sandbox, "flows")[key]["flow_json"]["version"] == "7.2"


def test_what_can_be_undone_only_with_loss_is_marked_before(sandbox, client):
    key = flow(sandbox)
    with middleware_of(sandbox).transaction() as service:
        service.flows.set_status(key, sandbox.account_id, "PUBLISHED")
    frame = client.flows.frame()
    frame["flow_json"] = [{**DOCUMENT, "version": "7.2"}]
    [change] = client.flows.plan(frame).changes
    assert change.undo == "not exactly" and "DRAFT" in change.loss


def test_a_name_that_would_be_split_otherwise_is_marked_before(tmp_path):
    points = {"name_split": "first_only"}
    path = tmp_path / "service.db"
    with chatkit.Sandbox(path, profile=chatkit.ServiceProfile(**points)) as sandbox:
        contacts(sandbox, 1, name="Mary Ann Lee")
    with chatkit.Sandbox(path) as sandbox, chatkit.connect(sandbox) as client:
        frame = client.contacts.frame()
        assert frame["first_name"].tolist() == ["Mary Ann Lee"]
        renamed = client.contacts.plan(frame.assign(name="Zoë"))
        moved = client.contacts.plan(frame.assign(number=number(9)))
        gone = client.contacts.plan(delete=frame)
        assert [p.changes[0].undo for p in (renamed, moved, gone)] == [
            "not exactly",
            "exactly",
            "not exactly",
        ]
        assert states(moved.apply()) == ["applied"]
        [after] = active(sandbox, "contacts").values()
        assert (after["first_name"], after["last_name"]) == ("Mary Ann Lee", None)


def test_a_key_of_a_button_that_is_absent_is_no_edit_of_one_that_is_null(sandbox, client):
    """A frame from a file, or from elsewhere, need not repeat what the service shows as null."""
    button = {"type": "custom", "label": "Yes"}
    content(sandbox, buttons=[button], headers=[{"type": "text", "text": "Ready"}])
    frame = client.templates.frame(["order_ready"], full=True)
    assert frame["buttons"].iloc[0][0].keys() > button.keys()
    frame["buttons"] = [[button]]
    frame["headers"] = ['[{"type": "text", "text": "Ready"}]']
    assert len(client.templates.plan(frame)) == 0
    frame["buttons"] = [[{**button, "label": "No"}]]
    [change] = client.templates.plan(frame).changes
    assert list(change.after) == ["buttons"]
