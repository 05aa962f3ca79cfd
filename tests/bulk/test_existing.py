"""Rows that meet a record nobody named by its key: kept, filled, updated or refused, never lost."""

from __future__ import annotations

import pandas as pd
import pytest
from bulk.planning import (  # noqa: F401
    DOCUMENT,
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
    stored,
    untouched,
    webhook,
)
from internals import middleware_of

import chatkit
from chatkit.widgets import PlanView

OTHER = {**DOCUMENT, "version": "7.2"}


def guests(*names, codes="+1"):
    """A table from a fair: numbers from 2025550100 on, without ids."""
    return pd.DataFrame(
        {
            "number": [number(n) for n in range(len(names))],
            "country_code": codes,
            "name": pd.Series(names, dtype="str"),
        }
    )


def test_by_default_only_what_is_empty_is_filled_and_the_rest_is_shown_with_both_values(
    sandbox, client
):
    kept, empty, same = (
        contacts(sandbox, 1, "Ana Cruz")[0],
        contact(sandbox, 1),
        contact(sandbox, 2, "Bo Lee"),
    )
    plan = client.contacts.plan(guests("null Ng", "Zoë Quinn", "Bo Lee", "New One"))
    assert [(c.kind, c.key) for c in plan.changes] == [
        ("skip", kept),
        ("update", empty),
        ("create", None),
    ]
    assert edits(plan) == {empty: {"name": "Zoë Quinn"}}
    skip = plan.frame().iloc[0]
    assert (skip.change, skip.before, skip.after) == (
        "skip",
        {"name": "Ana Cruz"},
        {"name": "null Ng"},
    )
    head, *lines = repr(plan).splitlines()
    assert head == (
        "Plan for 3 contacts: 1 create, 1 update, 1 skipped; 3 rows match an existing contact."
    )
    assert any('"Ana Cruz" ≠ "null Ng"' in line for line in lines)
    assert 'existing="update"' in repr(plan)
    result = plan.apply(many=True)
    assert states(result) == ["skipped", "applied", "applied"]
    assert '"Ana Cruz"' in result.reason.iloc[0] and '"null Ng"' in result.reason.iloc[0]
    assert (result.sent.iloc[0], result.key.iloc[0]) == (0, kept)
    assert result.chatkit.summary() == "3 changes: 2 applied, 1 skipped."
    outcome = active(sandbox, "contacts")
    assert [outcome[key]["first_name"] for key in (kept, empty, same)] == ["Ana", "Zoë", "Bo"]


def test_skipped_rows_are_in_the_saved_plan_the_resumed_run_and_its_undo(sandbox, client, tmp_path):
    contacts(sandbox, 1)
    plan = client.contacts.plan(guests("Zoë", "New"))
    again = client.load_plan(plan.save(tmp_path / "plan.json"))
    assert (again.hash, repr(again)) == (plan.hash, repr(plan))
    result = again.apply()
    assert states(result) == states(chatkit.resume(result)) == ["skipped", "applied"]
    assert chatkit.runs(client).state.tolist() == ["finished"]
    back = chatkit.undo(result)
    assert back.counts == {"create": 0, "update": 0, "delete": 1}
    assert states(back.apply())[0] == "applied"


def test_a_plan_that_skips_all_sends_nothing(sandbox, client):
    contacts(sandbox, 2)
    plan = client.contacts.plan(guests("Zoë", "Bo"))
    assert "plan.apply()" not in repr(plan)
    with untouched(sandbox):
        assert states(plan.apply()) == ["skipped", "skipped"]
    view = PlanView(plan)
    assert "2 skipped" in repr(view)
    with pytest.raises(chatkit.errors.PlanRefused, match="there is nothing to do"):
        view.start()


def test_what_was_read_stays_an_edit_and_a_new_row_in_it_does_not(sandbox, client):
    ids = contacts(sandbox, 2)
    frame = client.contacts.frame()
    frame["name"] = "Zoë"
    memory = frame.reset_index()
    without = pd.DataFrame(memory.to_dict("series"))  # as from a file that was written before
    assert edits(client.contacts.plan(without)) == {key: {"name": "Zoë"} for key in ids}
    memory["id"] = memory["id"].astype("Int64")
    memory.loc[1, "id"] = pd.NA
    plan = client.contacts.plan(memory)
    assert [(c.kind, c.key) for c in plan.changes] == [("update", ids[0]), ("skip", ids[1])]


def test_cells_that_are_no_number_are_said_to_be_none_not_to_be_doubles(sandbox, client):
    contacts(sandbox, 1)
    frame = pd.DataFrame({"number": ["call him"] * 5, "country_code": "+1", "name": "Zoë"})
    plan = client.contacts.plan(frame)
    assert plan.refused.reason.tolist() == ["must be digits only: not a telephone number"] * 5
    twice = pd.DataFrame({"number": [number(7)] * 2, "country_code": "+1"})
    for duplicates in (False, True):
        plan = client.contacts.plan(twice, duplicates=duplicates)
        assert len(plan) == 1 and plan.refused.empty
        assert not any("duplicates" in note for note in plan.notes)


# --- another account ------------------------------------------------------------------------


@pytest.fixture
def others():
    """Another account with some records of each kind, of which one is special."""
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        contacts(sandbox, 4)
        contact(sandbox, 9)
        flow(sandbox, "One"), flow(sandbox, "Two")
        with middleware_of(sandbox).transaction() as service:
            service.flows.set_status(flow(sandbox, "Three"), sandbox.account_id, "PUBLISHED")
        content(sandbox), content(sandbox, lang_code="de", text="Hallo", variables={})
        webhook(sandbox, 0), webhook(sandbox, 1, is_active=False)
        yield client


@pytest.mark.parametrize("source", ["contacts", "flows", "templates", "one template", "webhooks"])
def test_a_frame_of_another_account_is_copied_once(sandbox, client, others, source):
    contact(sandbox, 90, "Somebody here")  # so that the ids of the two accounts are not the same
    webhook(sandbox, 9), flow(sandbox, "Mine"), content(sandbox, "other")

    def of(client):
        one = source == "one template"
        return client.templates("order_ready") if one else getattr(client, source)

    mine = of(client)
    match source:
        case "templates":
            frame = others.templates.frame(["order_ready"], full=True)
        case "webhooks":
            frame = others.webhooks.frame()
        case _:
            frame = of(others).frame(full=True)
    plan = mine.plan(frame, other_account=True)
    assert cells(plan) == []
    assert plan.counts == {"create": len(frame), "update": 0, "delete": 0}
    [note] = [note for note in plan.notes if "another account" in note]
    assert "what the service sets is ignored" in note or source in ("templates", "one template")
    assert set(states(plan.apply(many=True))) == {"applied"}
    again = mine.plan(frame, other_account=True)
    assert (len(again), cells(again)) == (0, [])
    assert repr(again).startswith("Nothing to do")


def test_the_split_of_a_name_is_not_what_a_frame_of_another_account_edits(client, others):
    frame = others.contacts.frame()
    client.contacts.plan(frame, other_account=True).apply()
    frame["first_name"] = "Changed"
    assert len(client.contacts.plan(frame, other_account=True)) == 0
    [*wrong] = cells(client.contacts.plan(frame.drop(columns="name"), other_account=True))
    assert {column for _, column, _ in wrong} == {"first_name"}


# --- ids that may be those of another account -----------------------------------------------


def unread(frame):
    """The frame as a file gives it back: nothing tells of which account it is."""
    plain = pd.DataFrame(frame.reset_index())
    plain.attrs = {}
    return plain[["id", "name", "number", "country_code"]]


@pytest.fixture
def alike(sandbox, client):
    """Another account with the same ids for other people."""
    for n in range(3):
        contact(sandbox, 50 + n, f"Berta {n}")
    with chatkit.Sandbox(seed="empty") as other, chatkit.connect(other) as others:
        contacts(other, 3, "Ana Cruz")
        assert list(others.contacts.frame().index) == list(client.contacts.frame().index)
        yield others


@pytest.mark.parametrize("existing", ["fill", "update"])
def test_a_row_that_nobody_read_here_does_not_make_somebody_else_of_a_contact(
    sandbox, client, alike, existing
):
    frame = unread(alike.contacts.frame())
    first = frame.id[0]
    for each in (frame, frame.set_index("id"), frame.assign(id=frame.id.astype("str"))):
        with untouched(sandbox):
            plan = client.contacts.plan(each, existing=existing)
        assert len(plan) == 0
        _, column, reason = cells(plan)[0]
        assert (len(plan.refused), column) == (3, "id") and reason.startswith("conflict")
        assert f"the contact with the id {first} is +1 {number(50)} Berta 0" in reason
        assert f"the row says +1 {number(0)} Ana Cruz" in reason
        assert "without the id" in plan.refused.next_step.iloc[0]


def test_a_number_or_a_name_alone_may_be_changed_in_a_file_with_ids(client, alike):
    frame = unread(client.contacts.frame())
    frame.loc[0, "number"], frame.loc[1, "name"] = number(70), "Zoë"
    frame.loc[2, ["name", "number"]] = pd.NA, number(71)
    ids = frame.id.tolist()
    assert edits(client.contacts.plan(frame, base=client.contacts.frame())) == {
        ids[0]: {"number": number(70)},
        ids[1]: {"name": "Zoë"},
        ids[2]: {"number": number(71)},
    }
    read = client.contacts.frame()  # this one is known to be of the account
    read.loc[ids[0], ["name", "number"]] = "Zoë", number(70)
    assert edits(client.contacts.plan(read)) == {ids[0]: {"name": "Zoë", "number": number(70)}}


def test_a_row_that_nobody_read_here_deletes_nobody_else(sandbox, client, alike):
    frame = unread(alike.contacts.frame())
    for plan in (
        lambda: client.contacts.plan(frame.assign(delete=True)),
        lambda: client.contacts.plan(delete=frame),
        lambda: client.contacts.plan(delete=frame.set_index("id")),
    ):
        made = plan()
        assert len(made) == 0 and len(made.refused) == 3
        assert "Berta 0" in made.refused.reason.iloc[0]
    own = unread(client.contacts.frame())
    assert client.contacts.plan(delete=own.head(1)).counts["delete"] == 1
    assert client.contacts.plan(own.head(1).assign(delete=True)).counts["delete"] == 1


def test_what_is_to_be_deleted_is_not_a_frame_of_another_account(sandbox, client, alike):
    frame = alike.contacts.frame().head(2)
    for options in ({}, {"other_account": True}):
        with pytest.raises(chatkit.errors.InputError, match="delete= is of") as caught:
            client.contacts.plan(delete=frame, **options)
        assert "frame.assign(delete=True), other_account=True" in str(caught.value)
    plan = client.contacts.plan(frame.assign(delete=True), other_account=True)
    assert len(plan) == 0  # their numbers are not here
    contact(sandbox, 0, "Ana Cruz")
    plan = client.contacts.plan(frame.assign(delete=True), other_account=True, skip_invalid=True)
    assert [change.label for change in plan.changes] == [f"+1 {number(0)}"]
