"""Rows become a frame: nothing is shifted, nothing is lost, and what is odd is said.

`cases/columns.json` has tables: their rows, what a person names, and what is made of them: the
frame with its index, which columns of the file each of its columns is of, what cannot be read,
and the notes; or the error.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from chatkit.errors import InputError
from chatkit.imports.columns import read_contact_table
from chatkit.imports.tables import BadCell, BrokenRow, RawTable, TableRow

CASES = json.loads((Path(__file__).parent / "cases/columns.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["kind"])
def test_rows_become_a_frame_or_are_refused(case: dict[str, Any]) -> None:
    rows = [
        TableRow(n, [BadCell(*c["bad"]) if isinstance(c, dict) else c for c in cells])
        for n, cells in enumerate(case["rows"], 1)
    ]
    broken = [BrokenRow(*each) for each in case.get("broken", [])]
    options = {"titled": case.get("titled", True), "ours": case.get("ours", False)}
    table = RawTable("a table", rows, broken=broken, **options)
    if "error" in case:
        with pytest.raises(InputError) as caught:
            read_contact_table(table, case.get("named", {}))
        assert str(caught.value) == case["error"]
        return
    result = read_contact_table(table, case.get("named", {}))
    frame = result.frame.astype(object).where(result.frame.notna(), None)
    problems = [[each.field, each.value, each.reason] for each in result.problems]
    assert (frame.to_dict("list"), frame.index.tolist()) == (case["frame"], case["index"])
    assert {name: [*of] for name, of in result.columns.items()} == case["columns"]
    assert (problems, result.notes) == (case["problems"], case["notes"])
    assert len(result.left_out) == len({place.split(",")[0] for place, *_ in problems})
    assert set(map(str, result.frame.dtypes)) == {"str"}
    assert isinstance(result.frame.index, pd.Index) and result.frame.index.name == "row"
