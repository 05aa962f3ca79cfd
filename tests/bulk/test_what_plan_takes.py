"""Tests of the arguments of plan, and of the hint for anything else."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from bulk.planning import client, contacts, content, edits, flow, sandbox, webhook  # noqa: F401

import chatkit


def checked(client: Any) -> Any:
    frame = pd.DataFrame({"number": ["+1 202-555-0170"], "name": ["Ann  Quist"]})
    return client.contacts.check(frame)


def test_what_fix_returns_is_planned_as_its_frame(client):
    fixed = checked(client).fix()
    for each in (fixed, fixed.frame):
        [change] = client.contacts.plan(each).changes
        assert change.after == {"number": "2025550170", "country_code": "+1", "name": "Ann Quist"}


def test_the_result_of_check_is_refused_with_the_next_call(client):
    with pytest.raises(
        chatkit.errors.InputError, match=r"call \.fix\(\), as client\.contacts\.plan\("
    ):
        client.contacts.plan(checked(client))
    with pytest.raises(chatkit.errors.InputError, match=r"call \.fix\(\)"):
        client.contacts.plan(delete=checked(client))


class Polars:
    """As much of a frame of another library as tells what it is."""

    columns = ("id",)

    def to_pandas(self) -> pd.DataFrame:
        raise AssertionError


class Lazy:
    columns = ("id",)

    def collect(self) -> Polars:
        raise AssertionError


@pytest.mark.parametrize("where", ["frame", "delete"])
@pytest.mark.parametrize(
    ("values", "line"),
    [
        (pa.table({"id": [1]}), "client.contacts.plan(frame.to_pandas())"),
        (Polars(), "client.contacts.plan(frame.to_pandas())"),
        (Lazy(), "client.contacts.plan(frame.collect().to_pandas())"),
    ],
    ids=["pyarrow", "polars", "lazy"],
)
def test_frames_of_other_libraries_are_refused_with_the_line(client, values, line, where):
    with pytest.raises(chatkit.errors.InputError, match=re.escape(line)):
        client.contacts.plan(**{where: values})


DELETES = {
    "records": lambda f: f.reset_index().to_dict("records"),
    "dicts": lambda f: [{"id": key} for key in f.index],
    "ids": lambda f: f.index.tolist(),
    "index": lambda f: f.index,
    "series": lambda f: f.reset_index().id,
    "frame": lambda f: f,
    "columns": lambda f: f.reset_index(),
    "texts": lambda f: [str(key) for key in f.index],
    "generator": lambda f: (key for key in f.index),
    "set": lambda f: {*f.index},
    "array": lambda f: f.index.to_numpy(),
    "tuple": lambda f: tuple(f.index),
    "whole floats": lambda f: f.index.astype(float),
    "twice": lambda f: [*f.index, *f.index],
}


@pytest.mark.parametrize("form", DELETES)
@pytest.mark.parametrize("resource", ["contacts", "flows", "webhooks"])
def test_what_is_to_be_deleted_may_be_named_in_any_form(sandbox, client, resource, form):
    contacts(sandbox, 1), flow(sandbox), webhook(sandbox)
    source = getattr(client, resource)
    frame = source.frame()
    plan = source.plan(delete=DELETES[form](frame))
    assert plan.counts["delete"] == 1 and plan.refused.empty
    assert [type(change.key) for change in plan.changes] == [int]


@pytest.mark.parametrize(
    ("delete", "text"),
    [
        ([{"name": "Ann"}], "has no id"),
        ([{"id": 50001}, 50002], "dict"),
        ({"id": 50001}, r"delete=\[\{'id': 50001\}\]"),
        ("50001", "list of keys"),
        (50001, "list of keys"),
        ([True, False], "mask"),
        (pd.Series([True]), r"delete=frame\[mask\]"),
        (np.array([True]), "mask"),
        (b"50001", "list of keys"),
        ([[50001]], r"rows of client\.contacts\.frame\(\)"),
        ([pd.Series([50001])], r"rows of client\.contacts\.frame\(\)"),
        ([None], "must be a whole number|no contact"),
    ],
    ids=repr,
)
def test_what_names_no_records_is_refused_with_the_way(sandbox, client, delete, text):
    contacts(sandbox, 1)
    try:
        plan = client.contacts.plan(delete=delete)
    except chatkit.errors.InputError as error:
        assert re.search(text, str(error))
    else:
        assert plan.counts["delete"] == 0 and re.search(text, "".join(plan.refused.reason))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("NAME", "name"), ("Name", "name"), (" name ", "name"), ("Country Code", "country_code"),
        ("country-code", "country_code"), ("Delete", "delete"), ("DELETE", "delete"),
        ("ID", "id"), ("Id ", "id"), ("Number", "number"),
    ],
)  # fmt: skip
def test_columns_that_are_nearly_called_so_are_refused_with_the_line(client, wrong, right):
    row = {"number": "2025550170", "country_code": "+1", "name": "Ann", "delete": None, "id": None}
    frame = pd.DataFrame([{wrong if name == right else name: v for name, v in row.items()}])
    with pytest.raises(chatkit.errors.InputError) as error:
        client.contacts.plan(frame)
    line = str(error.value).partition("Rename them: ")[2].removeprefix("frame = ")
    assert client.contacts.plan(eval(line, {"frame": frame})).counts["create"] == 1


def test_a_column_beside_the_right_one_is_a_column_of_ones_own(client):
    frame = pd.DataFrame({"number": ["2025550170"], "country_code": "+1", "Number": "x"})
    assert client.contacts.plan(frame).counts["create"] == 1
