"""One person in several rows of a file: alike they are one, else both are shown and one stays."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from bulk.planning import client, contacts, edits, number, sandbox, states  # noqa: F401

A, B = number(70), number(71)
#: Names of rows of one number, in their order: what is created, which rows are refused.
TABLE: list[tuple[list[Any], Any, list[int]]] = [
    (["Ann", "Ann"], "Ann", []),
    (["Ann", "Ann", "Ann"], "Ann", []),
    (["Ann Quist", " Ann  Quist"], "Ann Quist", []),
    (["Zoë", "Zoe\u0308"], "Zoë", []),
    ([None, "Bob"], "Bob", []),
    (["Bob", None], "Bob", []),
    (["", "Bob"], "Bob", []),
    (["Bob", ""], "Bob", []),
    ([None, None, "Bob"], "Bob", []),
    ([None, "Bob", "Bob"], "Bob", []),
    ([None, None], None, []),
    (["Ann", "Anna"], "Ann", [1]),
    (["Ann", "ann"], "Ann", [1]),
    (["Ann", "Anna", "Ann"], "Ann", [1]),
    (["Ann", "Anna", "Eve"], "Ann", [1, 2]),
    ([None, "Ann", "Anna"], "Ann", [2]),
]


def rows(names: list[Any], **more: Any) -> pd.DataFrame:
    number_of = [A] * len(names)
    return pd.DataFrame({"number": number_of, "country_code": "+1", "name": names, **more})


@pytest.mark.parametrize(("names", "made", "refused"), TABLE)
def test_of_a_number_in_several_rows_one_contact_is_made(client, names, made, refused):
    plan = client.contacts.plan(rows(names), skip_invalid=True)
    assert plan.refused.row.tolist() == refused
    assert plan.changes[0].after.get("name") == made
    assert states(plan.apply()) == ["applied"]
    assert client.contacts.plan(rows(names)).objections() == [] or refused
    united = len(names) - 1 - len(refused)
    assert any("merged into" in note for note in plan.notes) is bool(united)


def test_rows_that_differ_are_shown_side_by_side_with_a_choice(client):
    frame = rows(["Ann", "Anna"]).set_axis(pd.Index([2, 5], name="row"))
    plan = client.contacts.plan(frame)
    [reason], [step] = plan.refused.reason, plan.refused.next_step
    assert reason == "row 2 is the same contact with another name: 'Ann' there, 'Anna' here"
    first, second = step.split(";")[0].removeprefix("keep one of them: ").split(", ")
    for line, name in ((first, "Ann"), (second, "Anna")):
        kept = eval(line.split(" keeps")[0].split(" this")[0], {"frame": frame})
        assert client.contacts.plan(kept).changes[0].after["name"] == name
    assert "skip_invalid=True takes the first" in step and plan.objections()


def test_any_columns_that_are_not_sent_do_not_count(client):
    plan = client.contacts.plan(rows(["Ann", "Ann"], note=["a", "b"], tags=[["x"], ["y"]]))
    assert len(plan) == 1 and plan.refused.empty


def test_a_row_that_deletes_is_not_the_same_as_one_that_does_not(sandbox, client):
    [ann] = contacts(sandbox, 1)
    frame = client.contacts.frame()
    both = pd.concat([frame, frame]).assign(delete=[False, True])
    plan = client.contacts.plan(both)
    assert len(plan) == 0 and plan.refused.column.tolist() == ["delete"]
    assert client.contacts.plan(both.assign(delete=True)).counts["delete"] == 1
    assert ann in frame.index


def test_a_row_twice_by_its_id_is_one_edit(sandbox, client):
    ids = contacts(sandbox, 3)
    frame = client.contacts.frame().assign(name="Ann")
    again = frame.loc[[*ids, ids[0]]]
    assert edits(client.contacts.plan(again)) == {key: {"name": "Ann"} for key in ids}
    again["name"] = ["Ann", "Bea", "Cy", ""]
    plan = client.contacts.plan(again)
    assert [ids[0]] == plan.refused.row.tolist()  # "" clears, which is not the same


def test_many_rows_are_named_in_part(client):
    plan = client.contacts.plan(rows(["Ann"] * 9))
    assert "1 (0), 2 (0), 3 (0), 4 (0) and 4 more." in plan.notes[-1]
