"""Columns that the service sets: what files make of them is no edit, what a person wrote is one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bulk.planning import (  # noqa: F401
    client,
    contacts,
    content,
    edits,
    flow,
    sandbox,
    webhook,
)

from chatkit.bulk.comparison import looks_unedited
from chatkit.bulk.plan import get_refused_cells
from chatkit.frames.frame import to_python

NOON = datetime(2026, 3, 1, 11, 50, 7, 123456, tzinfo=UTC)
LONG = "104396123456789"
LOOKS = [
    # a text of digits
    *((LONG, each) for each in (int(LONG), float(LONG), np.int64(LONG), f"{LONG}.0", f"'{LONG}")),
    *((LONG, each) for each in ("1.04396E+14", "1,04396E+14", "1.04396e+14", 1.04396e14)),
    *((LONG, each) for each in (" 104396123456789 ", "104396123456789\n")),
    ("104396123456789012", 104396123456789000),  # a spreadsheet keeps 15 digits
    ("104396123456789012", "1.04396123456789E+17"),
    ("0044", 44), ("0044", "44"), ("7", 7.0), ("7", "7.0"), ("-5", -5),
    (7, "7"), (7, "7.0"), (7, 7.0), (7, "7,0"),
    # a time, in any form
    (NOON, NOON.replace(tzinfo=None)), (NOON, "01.03.2026 11:50"), (NOON, "3/1/2026"),
    (NOON, NOON.timestamp()), (NOON, 46082.493055555555), (NOON, "########"), (NOON, ""),
    # true and false, nothing, lists
    *((True, each) for each in ("True", "TRUE", "true", "1", 1, 1.0, np.True_)),
    *((False, each) for each in ("False", "FALSE", "0", 0)),
    *((None, each) for each in ("", "nan", "NaN", "None", "NaT", "<NA>", "#N/A", "null")),
    ("x", ""), (LONG, "########"), (["*"], ""), ("x", None),
    (["a", "b"], "['a', 'b']"), (["a", "b"], '["a", "b"]'), ([], "[]"), (None, "[]"),
    ({"a": 1}, "{'a': 1}"), ({"a": 1}, '{"a": 1}'), (["a"], np.array(["a"], dtype=object)),
    # texts
    ("Ann  Quist", "Ann Quist"), ("Ann\r\nQuist", "Ann\nQuist"), ("Ann", " Ann "), ("x", "X"),
]  # fmt: skip
EDITS = [
    (LONG, "1.04397E+14"), (LONG, "2E+14"), (LONG, "call him"), ("12345", "1E+04"),
    ("12345", 12000), ("7", 8), (7, "8"), (7, True), ("7", "seven"), ("x", "y"), (None, "x"),
    (None, 0), (True, "False"), (True, False), (True, "yes"), (False, 1),
    (["a"], ["b"]), (["a"], "['b']"), (["a"], "a"), ({"a": 1}, "{'a': 2}"), (["a"], 5),
]  # fmt: skip


@pytest.mark.parametrize(("before", "value"), LOOKS, ids=repr)
def test_what_only_looks_different_is_no_edit(before: Any, value: Any) -> None:
    assert looks_unedited(before, to_python(value))


@pytest.mark.parametrize(("before", "value"), EDITS, ids=repr)
def test_what_a_person_wrote_is_an_edit(before: Any, value: Any) -> None:
    assert not looks_unedited(before, to_python(value))


def damaged(frame: pd.DataFrame, writable: set[str]) -> pd.DataFrame:
    """Change the read-only columns as a spreadsheet does; no file keeps `attrs`."""
    frame = frame.copy()
    frame.attrs = {}
    for name in {*frame.columns} - writable:
        column = frame[name]
        if column.dtype.kind == "M":
            frame[name] = column.dt.tz_convert("Asia/Kolkata").dt.strftime("%d/%m/%Y %H:%M")
        elif column.dtype.kind == "b":
            frame[name] = column.astype(str).str.upper()
        else:
            numbers = pd.to_numeric(column.astype("str"), errors="coerce")
            frame[name] = column.astype(object).where(numbers.isna(), numbers)
    return frame


@pytest.mark.parametrize("resource", ["contacts", "flows", "webhooks", "templates"])
def test_damaged_columns_of_the_service_are_named_once_and_refuse_nothing(
    sandbox, client, resource
):
    contacts(sandbox, 3), flow(sandbox), webhook(sandbox), content(sandbox)
    source = client.templates("order_ready") if resource == "templates" else None
    source = source or getattr(client, resource)
    frame = damaged(source.frame(), {*source._endpoints.body.list_updatable_fields(), "name", "id"})
    plan = source.plan(frame)
    assert len(plan) == 0 and plan.refused.empty
    notes = [note for note in plan.notes if note.startswith("Ignored, as the service sets them")]
    assert len(plan.notes) == len(notes) == (resource != "templates")
    assert resource == "templates" or "updated_at" in notes[0]


@pytest.mark.parametrize("resource", ["contacts", "flows", "webhooks"])
def test_an_edited_column_of_the_service_is_refused_with_the_line_that_drops_it(
    sandbox, client, resource
):
    contacts(sandbox, 3), flow(sandbox), flow(sandbox, "B"), webhook(sandbox), webhook(sandbox, 1)
    source = getattr(client, resource)
    frame = source.frame()
    frame["updated_at"] = pd.Timestamp("2020-01-01", tz="UTC")
    plan = source.plan(frame)
    assert list(plan.refused["row"]) == list(frame.index)
    cell = get_refused_cells(plan)[0]
    assert (cell.column, cell.reason) == ("updated_at", "is set by the service")
    step = cell.next_step.partition("take the column out: ")[2]
    assert source.plan(eval(step, {"frame": frame})).refused.empty
