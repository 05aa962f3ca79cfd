"""Cells: what an edited cell means: what it changes, what it leaves alone, what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from bulk.planning import (  # noqa: F401
    DOCUMENT,
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

from chatkit.bulk.matching import Edits
from chatkit.bulk.plan import get_refused_cells
from chatkit.bulk.planner import Cells
from chatkit.resource import get_endpoints


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA, pd.NaT])
def test_an_empty_cell_leaves_what_is_there(sandbox, client, nothing):
    contacts(sandbox, 1)
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


def test_an_emptied_cell_is_left_and_the_plan_says_so(sandbox, client):
    contacts(sandbox, 2)
    frame = client.contacts.frame()
    frame.loc[frame.index[0], "name"] = None
    plan = client.contacts.plan(frame)
    assert str(plan).startswith("Nothing to do: 0 changes.")
    assert plan.notes == ['1 emptied cell left untouched: None and NA change nothing, "" clears.']


def test_the_step_for_a_refused_number_is_the_number_to_write(client):
    rows = [{"number": "+49 30 123456", "country_code": "+49"}]
    [cell] = get_refused_cells(client.contacts.plan(rows))
    assert cell.reason == "must be digits only (Contacts, rule 1)"
    assert cell.next_step == "write country_code='+49', number='30123456'"


def test_an_empty_text_clears_a_text(sandbox, client):
    [contact] = contacts(sandbox, 1)
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
    assert (stored["footer"], stored["text"]) == ("", "Hello {{1}}!")


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


def test_an_empty_text_cannot_clear_a_number_of_a_contact(sandbox, client):
    [contact] = contacts(sandbox, 1)
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
    ids = contacts(sandbox, 2)
    value, reason, step = FIXED[field]
    frame = client.contacts.frame().astype({field: object})
    frame.at[ids[0], field] = value
    [refused] = get_refused_cells(client.contacts.plan(frame))
    assert (refused.row, refused.column, refused.reason) == (ids[0], field, reason)
    assert refused.next_step.startswith(step)


def test_fields_of_the_other_resources_that_cannot_be_written_are_refused(sandbox, client):
    flow(sandbox), webhook(sandbox), content(sandbox)
    frame = client.flows.frame()
    frame["name"], frame["wa_status"], frame["wa_flow_id"] = "New", "PUBLISHED", "1"
    steps = {c.column: c.next_step for c in get_refused_cells(client.flows.plan(frame))}
    assert steps == {
        "name": "leave it as it was, or make a new one",
        "wa_status": "publish or deprecate it in the business application",
        "wa_flow_id": "leave it as it was, or take the column out: "
        "frame.drop(columns='wa_flow_id')",
    }
    frame = client.webhooks.frame().assign(has_signing_secret=False, last_delivery_error="no")
    columns = [c.column for c in get_refused_cells(client.webhooks.plan(frame))]
    assert sorted(columns) == ["has_signing_secret", "last_delivery_error"]
    frame = client.templates("order_ready").frame()
    frame["id"] = 9
    assert [c.column for c in get_refused_cells(client.templates("order_ready").plan(frame))] == [
        "id"
    ]


def test_a_field_that_the_document_does_not_know_cannot_be_edited(sandbox, client):
    flow(sandbox)
    frame = client.flows.frame(full=True)
    assert "categories" in frame
    frame["categories"] = [["OTHER"]]
    [cell] = get_refused_cells(client.flows.plan(frame))
    assert (cell.column, cell.reason) == ("categories", "can only be set when it is created")


def test_a_column_that_is_no_field_is_not_looked_at_and_said_so(sandbox, client):
    contacts(sandbox, 1)
    plan = client.contacts.plan(client.contacts.frame().assign(nmae="Zoë", segment=7))
    assert (len(plan), cells(plan)) == (0, [])
    assert plan.notes == [
        "Ignored column: nmae (no such field; did you mean name?)",
        "Ignored column: segment (no such field)",
    ]


def test_first_name_alone_in_a_new_row_is_refused(client):
    new = pd.DataFrame({"number": ["2025550100"], "country_code": "+1", "first_name": "Zoë"})
    [cell] = get_refused_cells(client.contacts.plan(new))
    assert cell.column == "first_name" and "edit name" in cell.next_step
    assert client.contacts.plan(new.assign(name="Zoë")).counts["create"] == 1


# --- what cannot be sent --------------------------------------------------------------------


def test_numbers_that_became_floats_are_refused(sandbox, client):
    ids = contacts(sandbox, 3)
    frame = client.contacts.frame()
    for unusual in (frame["number"].astype(float), frame["number"].astype("Int64")):
        plan = client.contacts.plan(frame.assign(number=unusual))
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
    ids = contacts(sandbox, 12)
    frame = client.contacts.frame()
    frame.loc[ids[0], ["number", "country_code"]] = ["202 555", "1"]
    frame.loc[ids[1], "first_name"] = "Eve"
    frame.loc[ids[2], "name"] = "Good"
    plan = client.contacts.plan(frame)
    outcome = {(row, column) for row, column, _ in cells(plan)}
    assert outcome == {(ids[0], "number"), (ids[0], "country_code"), (ids[1], "first_name")}
    assert edits(plan) == {ids[2]: {"name": "Good"}}
    assert plan.refused.value.tolist().count("'202 555'") == 1


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


# --- the table of what is refused -----------------------------------------------------------


@pytest.mark.parametrize("column", ["webhook_secret", "Authorization", "access_token"])
def test_what_may_be_a_secret_is_refused_without_being_shown(sandbox, client, column):
    key = webhook(sandbox)
    source = client.webhooks
    outcome = cells_of(source, source.frame().assign(**{column: "s3cret-Marker"}))
    outcome.refuse_read_only(column, np.array([0]))
    [cell] = outcome.refused
    assert (cell.row, cell.column, cell.value) == (key, column, "(not shown)")
    assert "s3cret-Marker" not in repr(outcome.refused)


@pytest.mark.parametrize("index", [np.array([7]), ["a"], pd.MultiIndex.from_tuples([(1, "a")])])
def test_rows_are_called_as_the_frame_calls_them_in_words_of_python(sandbox, client, index):
    frame = pd.DataFrame({"number": ["202 555"], "country_code": ["+1"]}, index=index)
    [cell] = get_refused_cells(client.contacts.plan(frame))
    assert cell.row == frame.index[0]
    assert type(cell.row) in (int, str, tuple)


def cells_of(source, frame):
    """The cells of an edited frame, as a draft has them."""
    source = get_endpoints(source)
    return Cells(source, Edits(frame, source.base(frame).frame, source))
