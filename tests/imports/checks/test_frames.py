"""Frames of contacts are checked and fixed as `cases/frames.json` has it.

A case has the contacts of an account, a frame, and the options of `check`; then each finding (row,
column, severity, code, message, value, suggestion, and whether `fix()` takes it), the notes, each
cell that `fix()` changes, and the fixed frame where it is another one.
"""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from bulk.planning import account

CASES = json.loads((Path(__file__).parent / "cases/frames.json").read_text("utf-8"))


def list_rows(frame: pd.DataFrame) -> list[list[Any]]:
    return frame.astype(object).where(frame.notna(), None).to_numpy().tolist()


@pytest.mark.filterwarnings("ignore:.* has 1 warning")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["kind"])
def test_a_frame_is_checked_and_fixed(case: dict[str, Any]) -> None:
    with account(**case.get("service", {})) as (_, client):
        for code, number, name in case.get("account", []):
            client.contacts.create(country_code=code, number=number, name=name)
        frame = pd.DataFrame(case["frame"], case.get("index"), dtype=object)
        before = frame.copy()
        quality = client.contacts.check(frame, **case.get("options", {}))
        findings = list_rows(quality.frame())
        for finding in findings:  # which countries may be meant is for the library to know
            finding[4] = finding[4].partition(". It may be")[0]
        assert findings == case.get("findings", [])
        assert [*quality.notes] == case.get("notes", [])
        fixed = quality.fix(case.get("fix"))
        assert list_rows(fixed.done) == case.get("done", [])
        expected = pd.DataFrame(case.get("fixed", case["frame"]), frame.index, dtype=object)
        assert [*fixed.frame] == [*expected] and list_rows(fixed.frame) == list_rows(expected)
        assert frame.equals(before)


def test_a_frame_of_nullable_texts_is_fixed() -> None:
    rows = {"country_code": [None, "+49"], "number": ["+49 151 23456789", "(030) 901820"]}
    frame = pd.DataFrame(rows, dtype="string")
    with account() as (_, client):
        fixed = client.contacts.check(frame).fix()
    assert fixed.frame["country_code"].tolist() == ["+49", "+49"]
    assert fixed.frame["number"].tolist()[0] == "15123456789"
