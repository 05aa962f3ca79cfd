"""An undo brings back what was promised, and what it cannot was said before."""

from __future__ import annotations

import pandas as pd
import pytest
from bulk.applying import settled
from bulk.planning import (  # noqa: F401
    DOCUMENT,
    account,
    active,
    admin,
    call,
    cells,
    client,
    contact,
    contacts,
    content,
    flow,
    number,
    sandbox,
    states,
    stored,
    untouched,
    webhook,
)
from internals import middleware_of

import chatkit
from chatkit.bulk.outcomes import read_rows
from chatkit.bulk.plan import get_setting
from chatkit.bulk.rendering import get_result_run
from chatkit.bulk.stores import find_run, list_runs
from chatkit.bulk.undo import find_undone_rows

OTHER = {**DOCUMENT, "version": "7.2"}


def undone(plan, **allowed):
    """Apply a plan, and then its undo; return both results."""
    result = plan.apply(**allowed)
    return result, chatkit.undo(result).apply()


# --- what comes back ------------------------------------------------------------------------


def test_what_a_restored_contact_loses_was_said_before():
    with account(restore_keeps="nothing") as (sandbox, client):
        ids = contacts(sandbox, 12)
        with middleware_of(sandbox).transaction() as service:
            service.contacts.set_readonly_fields(ids[0], sandbox.account_id, tags=["vip"])
        plan = client.contacts.plan(delete=ids[:1])
        assert plan.changes[0].undo == "not exactly" and "no tags" in plan.changes[0].loss
        undone(plan)
        after = active(sandbox, "contacts")[ids[0]]
        assert (after["tags"], after["first_name"], after["number"]) == ([], "Ana", number(0))


# --- undo of undo, and of rows that moved ---------------------------------------------------


def test_an_undo_can_be_undone(sandbox, client):
    ids = contacts(sandbox, 12)
    frame = client.contacts.frame()
    frame.loc[ids[0], "name"] = "Zoë Smith"
    first = client.contacts.plan(frame, delete=ids[1:2]).apply()
    between = active(sandbox, "contacts")
    second = chatkit.undo(first).apply()
    back = chatkit.undo(second)
    assert get_setting(back).undoes == second.attrs["chatkit"]["run"]
    assert states(back.apply()) == ["applied", "applied"]
    assert active(sandbox, "contacts") == between


def test_a_row_that_moved_since_is_a_conflict_and_stays(sandbox, client):
    ids = contacts(sandbox, 12)
    frame = client.contacts.frame()
    frame.loc[ids[:3], "name"] = "Zoë"
    result = client.contacts.plan(frame, delete=ids[3:4]).apply(many=True)
    call(sandbox, "PUT", f"contacts/{ids[0]}", name="Theirs")
    call(sandbox, "PUT", f"contacts/{ids[1]}", name="")
    call(sandbox, "PUT", f"contacts/{ids[2]}", number="2025550177")
    call(sandbox, "POST", "contacts", number=number(3), country_code="+1", name="Theirs")
    back = chatkit.undo(result).apply()
    assert back.index.tolist() == ids[3::-1]
    assert states(back) == ["conflict", "applied", "conflict", "conflict"]
    after = active(sandbox, "contacts")
    assert [after[i]["first_name"] for i in ids[:4]] == ["Theirs", None, "Ana", "Theirs"]
    assert after[ids[2]]["number"] == "2025550177"


def test_what_a_later_run_changed_is_a_conflict_that_names_the_run(sandbox, client):
    ids = contacts(sandbox, 2)
    first = client.contacts.plan([{"id": each, "name": "Zoë"} for each in ids]).apply(many=True)
    stale = client.contacts.plan([{"id": ids[1], "name": "Bo"}])
    later = client.contacts.plan([{"id": ids[0], "name": "Ana"}], delete=ids[1:]).apply(many=True)
    run = get_result_run(later)
    [reason] = chatkit.undo(first, rows=[1]).apply(many=True)["reason"]
    assert reason.startswith(f"the run {run} changed it: name was 'Zoë' and is 'Ana'")
    assert stale.apply(many=True)["reason"].tolist() == [f"the run {run} deleted it meanwhile"]


def test_the_notes_count_the_rows_that_come_back_with_loss_and_no_others(sandbox, client):
    contacts(sandbox, 1)
    new = pd.DataFrame({"number": [number(n) for n in (1, 2, 3)], "country_code": "+1"})
    plan = client.contacts.plan(new)
    call(sandbox, "POST", "contacts", number=number(2), country_code="+1", name="Theirs")
    result = plan.apply()
    assert states(result) == ["applied", "conflict", "applied"]
    lossy = [note for note in chatkit.undo(result).notes if "restored exactly" in note]
    assert [note.split()[0] for note in lossy] == ["2"]


def test_some_rows_of_a_run_are_taken_back_and_the_others_stay(sandbox, client):
    ids = contacts(sandbox, 4)
    before = active(sandbox, "contacts")
    result = client.contacts.plan(client.contacts.frame().assign(name="Zoë")).apply()
    back = chatkit.undo(result, rows=ids[1:3])
    assert [change.row for change in back.changes] == ids[2:0:-1]
    assert "2 of the 4 rows of the run: the others stay as they are" in repr(back)
    assert states(back.apply()) == ["applied", "applied"]
    after = active(sandbox, "contacts")
    assert [after[i] == before[i] for i in ids] == [False, True, True, False]
    assert chatkit.runs(client)["state"].tolist() == ["finished", "partly taken back"]


def test_a_part_of_a_result_does_not_take_the_whole_run_back(sandbox, client):
    contacts(sandbox, 3)
    result = client.contacts.plan(client.contacts.frame().assign(name="Zoë")).apply()
    for part in (result.head(1), result[result.state == "failed"], result.iloc[1:]):
        with pytest.raises(chatkit.errors.InputError, match=r"of 3 rows.*rows=part\.index"):
            chatkit.undo(part)
        assert len(chatkit.undo(part, rows=part.index)) == len(part)
    assert len(chatkit.undo(result.sort_values("label")[["state"]])) == 3
    resumed = chatkit.resume(result.head(1))
    assert len(resumed) == len(chatkit.undo(resumed)) == 3


def test_which_rows_were_taken_back_is_read_from_the_journals(sandbox, client):
    ids = contacts(sandbox, 4)
    result = client.contacts.plan(client.contacts.frame().assign(name="Zoë")).apply()
    name = result.attrs["chatkit"]["run"]

    def gone():
        with find_run(name).read() as kept:
            return sorted(find_undone_rows(name, read_rows(kept), [*list_runs()]))

    assert gone() == []
    first = chatkit.undo(result, rows=ids[:1]).apply()
    second = chatkit.undo(result, rows=ids[2:]).apply()
    assert gone() == [0, 2, 3]
    chatkit.undo(second, rows=ids[2:3]).apply()
    assert gone() == [0, 3]
    assert chatkit.runs(client)["state"].tolist() == [
        *("finished", "partly taken back", "finished", "partly taken back")
    ]
    chatkit.undo(first).apply()
    assert gone() == [3]


@pytest.mark.parametrize(
    ("rows", "output"),
    [
        ([7, 8], "The run has no row 7, 8: rows= takes labels of the index of its result"),
        (range(8), "has no row 0, 1, 2, 3, 4 and 3 more"),
        ("50001", r"rows= takes a list of labels, like rows=\['50001'\]"),
        (50001, r"rows= takes a list of labels, like rows=\[50001\]"),
    ],
)
def test_rows_that_a_run_has_not_are_named(sandbox, client, rows, output):
    contacts(sandbox, 1)
    result = client.contacts.plan(client.contacts.frame().assign(name="Zoë")).apply()
    with pytest.raises(chatkit.errors.InputError, match=output):
        chatkit.undo(result, rows=rows)


# --- which run ------------------------------------------------------------------------------


def test_a_run_is_undone_by_its_name_by_its_result_or_in_another_client(sandbox, client):
    ids = contacts(sandbox, 3)
    before = active(sandbox, "contacts")

    def rename(name):
        frame = client.contacts.frame()
        frame.loc[ids[0], "name"] = name
        return client.contacts.plan(frame)

    plan = rename("One")
    plan.apply()
    assert states(chatkit.undo(plan.id).apply()) == ["applied"]
    assert active(sandbox, "contacts") == before
    result = rename("Two").apply()
    assert states(chatkit.undo(result.copy()).apply()) == ["applied"]
    assert active(sandbox, "contacts") == before
    result = rename("Three").apply()
    with chatkit.connect(sandbox) as another:
        assert states(chatkit.undo(result, another).apply()) == ["applied"]
    assert active(sandbox, "contacts") == before


def test_an_undo_with_the_client_of_another_account_is_refused(sandbox, client):
    contacts(sandbox, 2)
    result = client.contacts.plan(client.contacts.frame().assign(name="Zoë")).apply()
    with account() as (_, other), pytest.raises(chatkit.ChatkitError, match="account"):
        chatkit.undo(result, other)


# --- what was found after a lost answer -----------------------------------------------------


def test_what_was_adopted_is_taken_back_only_if_you_say_so(sandbox, client):
    new = pd.DataFrame({"number": [number(n) for n in range(3)], "country_code": "+1"})
    plan = client.contacts.plan(new)
    admin(sandbox, "POST", "faults", **{"5xx": {"before": 0.0, "after": 0.9}, "seed": 3})
    result = settled(plan.apply, settle=0)
    admin(sandbox, "POST", "faults")
    result = settled(chatkit.resume, result, settle=0)
    assert states(result) == ["applied"] * 3
    adopted = (result["evidence"] == "adopted").tolist()
    assert any(adopted)
    back = chatkit.undo(result)
    assert len(back) == 3 - sum(adopted) and len(back.refused) == sum(adopted)
    assert set(back.refused["next_step"]) == {"undo(…, include_adopted=True)"}
    all_of_it = chatkit.undo(result, include_adopted=True)
    assert len(all_of_it) == 3 and cells(all_of_it) == []
    assert states(all_of_it.apply()) == ["applied"] * 3
    assert active(sandbox, "contacts") == {}


def test_rows_that_cannot_come_back_for_one_reason_are_one_line(sandbox, client):
    ids = [webhook(sandbox, n) for n in range(2)]
    back = chatkit.undo(client.webhooks.plan(delete=ids).apply(irreversible=True))
    assert len(back.refused) == 2
    rows = f"2 rows ({ids[1]}, {ids[0]})"
    assert f"  {rows}: if created again, it has another id and another signing secret" in str(back)
    assert f'<td dir="auto">{rows}</td>' in back._repr_html_()
