"""What an edited cell means: what it changes, what it leaves alone, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from bulk.planning import (  # noqa: F401
    DOCUMENT,
    account,
    active,
    cells,
    client,
    content,
    edits,
    flow,
    log,
    number,
    people,
    sandbox,
    states,
    webhook,
)

import chatkit


def test_an_edited_cell_is_the_only_thing_that_is_sent(sandbox, client):
    ids = people(sandbox, 3)
    frame = client.contacts.frame()
    frame.loc[ids[1], "name"] = "Zoë Smith"
    [change] = client.contacts.plan(frame).changes
    assert (change.kind, change.key, change.row) == ("update", ids[1], ids[1])
    assert dict(change.before) == {"name": "Ana Cruz"}
    assert dict(change.after) == {"name": "Zoë Smith"}


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA, pd.NaT])
def test_an_empty_cell_leaves_what_is_there(sandbox, client, nothing):
    people(sandbox, 1)
    content(sandbox, validity_period_seconds=60)
    frame = client.contacts.frame().astype(object)
    frame["name"] = pd.Series([nothing], frame.index, dtype=object)
    assert len(client.contacts.plan(frame)) == 0
    contents = client.templates("order_ready")
    for full in (True, False):
        frame = contents.frame(full=full)
        for name in ("text", "footer", "headers", "is_draft", "validity_period_seconds"):
            frame[name] = pd.Series([nothing], frame.index, dtype=object)
        assert len(contents.plan(frame)) == 0


def test_an_empty_text_clears_a_text(sandbox, client):
    [contact] = people(sandbox, 1)
    content(sandbox)
    frame = client.contacts.frame()
    frame["name"] = ""
    plan = client.contacts.plan(frame)
    assert edits(plan) == {contact: {"name": ""}}
    assert states(plan.apply()) == ["applied"]
    assert active(sandbox, "contacts")[contact]["first_name"] is None
    contents = client.templates("order_ready")
    frame = contents.frame().assign(footer="")
    assert states(contents.plan(frame).apply()) == ["applied"]
    [stored] = active(sandbox, "contents").values()
    assert (stored["footer"], stored["text"]) == ("", "Hello {{1}}")


@pytest.mark.parametrize("full", [True, False])
def test_an_empty_text_clears_a_number_that_may_be_empty(sandbox, client, full):
    content(sandbox, validity_period_seconds=60, auth_delivery_method="copy_code")
    contents = client.templates("order_ready")
    frame = contents.frame(full=full)
    for name in ("validity_period_seconds", "auth_delivery_method"):
        frame[name] = pd.Series([""], frame.index, dtype=object)
    plan = contents.plan(frame)
    assert cells(plan) == []
    assert states(plan.apply()) == ["applied"]
    [stored] = active(sandbox, "contents").values()
    assert stored["validity_period_seconds"] is None and not stored["auth_delivery_method"]


def test_an_empty_text_where_nothing_was_is_no_change(sandbox, client):
    people(sandbox, 1, name=None)
    assert len(client.contacts.plan(client.contacts.frame().assign(name="", meta_name=""))) == 0


def test_an_empty_text_cannot_clear_a_number_of_a_contact(sandbox, client):
    [contact] = people(sandbox, 1)
    frame = client.contacts.frame().assign(number="")
    assert [cell[:2] for cell in cells(client.contacts.plan(frame))] == [(contact, "number")]


# --- what cannot be written -----------------------------------------------------------------

FIXED = {
    "first_name": ("Eve", "cannot be written", "edit name, the whole of it"),
    "last_name": ("Eve", "cannot be written", "edit name, the whole of it"),
    "meta_name": ("Eve", "is set by the service", "leave it as it was"),
    "wa_phone_id": ("1", "is set by the service", "leave it as it was"),
    "created_at": (pd.Timestamp("2020-01-01", tz="UTC"), "is set by the service", "leave it"),
    "updated_by": ("Eve", "is set by the service", "leave it as it was"),
    "tags": (["vip"], "is set by the service", "leave it as it was"),
}


@pytest.mark.parametrize("field", FIXED)
def test_a_contact_field_that_cannot_be_written_is_refused(sandbox, client, field):
    ids = people(sandbox, 2)
    value, reason, step = FIXED[field]
    frame = client.contacts.frame().astype({field: object})
    frame.at[ids[0], field] = value
    [refused] = client.contacts.plan(frame).cells
    assert (refused.row, refused.column, refused.reason) == (ids[0], field, reason)
    assert refused.next_step.startswith(step)


def test_fields_of_the_other_rooms_that_cannot_be_written_are_refused(sandbox, client):
    flow(sandbox), webhook(sandbox), content(sandbox)
    frame = client.flows.frame()
    frame["name"], frame["wa_status"], frame["wa_flow_id"] = "New", "PUBLISHED", "1"
    steps = {c.column: c.next_step for c in client.flows.plan(frame).cells}
    assert steps == {
        "name": "leave it as it was, or make a new one",
        "wa_status": "publish or deprecate it in the business application",
        "wa_flow_id": "leave it as it was",
    }
    frame = client.webhooks.frame().assign(has_signing_secret=False, last_delivery_error="no")
    columns = [c.column for c in client.webhooks.plan(frame).cells]
    assert sorted(columns) == ["has_signing_secret", "last_delivery_error"]
    frame = client.templates("order_ready").frame()
    frame["id"] = 9
    assert [c.column for c in client.templates("order_ready").plan(frame).cells] == ["id"]


def test_a_field_that_the_document_does_not_know_cannot_be_edited(sandbox, client):
    flow(sandbox)
    frame = client.flows.frame(full=True)
    assert "categories" in frame
    frame["categories"] = [["OTHER"]]
    [cell] = client.flows.plan(frame).cells
    assert (cell.column, cell.reason) == ("categories", "can only be set when it is created")


def test_a_column_that_is_no_field_is_not_looked_at_and_said_so(sandbox, client):
    people(sandbox, 1)
    plan = client.contacts.plan(client.contacts.frame().assign(nmae="Zoë", segment=7))
    assert (len(plan), cells(plan)) == (0, [])
    assert plan.notes == [
        "The column nmae is not looked at: it is no field; did you mean name?",
        "The column segment is not looked at: it is no field",
    ]


def test_first_name_alone_in_a_new_row_is_refused(client):
    new = pd.DataFrame({"number": ["2025550100"], "country_code": "+1", "first_name": "Zoë"})
    [cell] = client.contacts.plan(new).cells
    assert cell.column == "first_name" and "edit name" in cell.next_step
    assert client.contacts.plan(new.assign(name="Zoë")).counts["create"] == 1


# --- what cannot be sent --------------------------------------------------------------------


def test_numbers_that_became_floats_are_refused(sandbox, client):
    ids = people(sandbox, 3)
    frame = client.contacts.frame()
    for odd in (frame["number"].astype(float), frame["number"].astype("Int64")):
        plan = client.contacts.plan(frame.assign(number=odd))
        assert [(row, column) for row, column, _ in cells(plan)] == [(i, "number") for i in ids]
        assert "so that no digit, zero or + is lost" in plan.refused.reason[0]
        assert len(plan) == 0
    codes = frame["country_code"].astype(int)
    assert len(client.contacts.plan(frame.assign(country_code=codes)).refused) == 3


def test_whole_numbers_that_became_floats_are_numbers_still(sandbox, client):
    content(sandbox, validity_period_seconds=60)
    content(sandbox, lang_code="de")
    contents = client.templates("order_ready")
    frame = contents.frame(full=True)
    frame["validity_period_seconds"] = frame["validity_period_seconds"].astype(float)
    assert len(contents.plan(frame)) == 0
    frame.loc["de", "validity_period_seconds"] = 90.0
    assert edits(contents.plan(frame)) == {"de": {"validity_period_seconds": 90}}


def test_all_bad_cells_come_back_at_once(sandbox, client):
    ids = people(sandbox, 12)
    frame = client.contacts.frame()
    frame.loc[ids[0], ["number", "country_code"]] = ["202 555", "1"]
    frame.loc[ids[1], "first_name"] = "Eve"
    frame.loc[ids[2], "name"] = "Good"
    plan = client.contacts.plan(frame)
    found = {(row, column) for row, column, _ in cells(plan)}
    assert found == {(ids[0], "number"), (ids[0], "country_code"), (ids[1], "first_name")}
    assert edits(plan) == {ids[2]: {"name": "Good"}}
    assert plan.refused.value.tolist().count("'202 555'") == 1


def test_the_good_rows_alone_are_applied_with_skip_invalid(sandbox, client):
    ids = people(sandbox, 12)
    frame = client.contacts.frame()
    frame.loc[ids[0], "number"] = "202 555"
    frame.loc[ids[2], "name"] = "Good"
    with pytest.raises(chatkit.PlanRefused, match="skip_invalid=True"):
        client.contacts.plan(frame).apply()
    plan = client.contacts.plan(frame, skip_invalid=True)
    assert len(plan.refused) == 1
    result = plan.apply()
    assert (result.index.tolist(), states(result)) == ([ids[2]], ["applied"])


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("headers", [{"type": "sound"}], "headers.0.type"),
        ("buttons", [{"type": "custom", "label": 7}], "buttons.0.label"),
        ("variables", {"1": 7}, "variables.1"),
        ("is_draft", "yes", "is_draft"),
        ("validity_period_seconds", 1.5, "validity_period_seconds"),
    ],
)
@pytest.mark.parametrize("full", [True, False])
def test_a_nested_cell_is_refused_at_its_place(sandbox, client, field, value, place, full):
    content(sandbox)
    contents = client.templates("order_ready")
    frame = contents.frame(full=full)
    frame[field] = pd.Series([value], frame.index, dtype=object)
    assert [cell[:2] for cell in cells(contents.plan(frame))] == [("en", place)]


def test_half_a_character_is_refused_with_its_cell(sandbox, client):
    [contact] = people(sandbox, 1)
    frame = client.contacts.frame().astype({"name": object})
    frame.loc[contact, "name"] = "half \ud83d"
    plan = client.contacts.plan(frame)
    assert [cell[:2] for cell in cells(plan)] == [(contact, "name")]


# --- lists that show fewer fields -----------------------------------------------------------


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


FIELDS = {
    "footer": ("Thank you", "Danke"),
    "is_catalog": (False, True),
    "variables": ({"1": "Ana"}, {"1": "Zoë"}),
    "headers": ([{"type": "text", "text": "Ready"}], []),
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
        with pytest.raises(chatkit.PlanRefused, match=r"irreversible=True"):
            plan.apply()
        assert states(plan.apply(irreversible=True)) == ["applied"]
        assert active(sandbox, "flows")[key]["flow_json"]["version"] == "7.2"


def test_what_can_be_undone_only_with_loss_is_marked_before(sandbox, client):
    key = flow(sandbox)
    with sandbox.front.alone() as service:
        service.flows.move(key, sandbox.account_id, "PUBLISHED")
    frame = client.flows.frame()
    frame["flow_json"] = [{**DOCUMENT, "version": "7.2"}]
    [change] = client.flows.plan(frame).changes
    assert change.undo == "with loss" and "DRAFT" in change.loss


def test_a_name_that_would_be_split_otherwise_is_marked_before(tmp_path):
    people_of = {"name_split": "first_only"}
    path = tmp_path / "service.db"
    with chatkit.Sandbox(path, profile=chatkit.ServiceProfile(**people_of)) as sandbox:
        people(sandbox, 1, name="Mary Ann Lee")
    with chatkit.Sandbox(path) as sandbox, chatkit.connect(sandbox) as client:
        frame = client.contacts.frame()
        assert frame["first_name"].tolist() == ["Mary Ann Lee"]
        renamed = client.contacts.plan(frame.assign(name="Zoë"))
        moved = client.contacts.plan(frame.assign(number=number(9)))
        gone = client.contacts.plan(delete=frame)
        assert [p.changes[0].undo for p in (renamed, moved, gone)] == [
            "with loss",
            "exactly",
            "with loss",
        ]
        assert states(moved.apply()) == ["applied"]
        [after] = active(sandbox, "contacts").values()
        assert (after["first_name"], after["last_name"]) == ("Mary Ann Lee", None)
