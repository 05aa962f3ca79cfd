"""Every kind of file goes the same way, and what came of it is said in a few plain lines."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.errors import InputError
from chatkit.imports import FileReading, Source, read_contact_file
from chatkit.imports.tables.delimited import write_csv
from chatkit.imports.tables.workbook import write_xlsx


def read(source: Source, **named: Any) -> FileReading:
    return read_contact_file(source, named)


FRAME = pd.DataFrame(
    {"Vorname": ["Zoë", "NA"], "Handy": ["0151 2345", "+420 7"], "Ort": ["Ulm", None]}, dtype="str"
)


def parquet(frame: pd.DataFrame, target: io.BytesIO) -> None:
    frame.to_parquet(target)


@pytest.mark.parametrize(
    ("write", "kind"),
    [
        (write_csv, "CSV, UTF-8, commas"),
        (write_xlsx, "XLSX, sheet Contacts"),
        (parquet, "Parquet"),
    ],
)
def test_every_kind_of_file_gives_the_same_frame(
    write: Callable[[pd.DataFrame, io.BytesIO], None], kind: str
) -> None:
    target = io.BytesIO()
    write(FRAME, target)
    result = read(target.getvalue())
    assert result.frame.to_dict("list") == {
        "name": ["Zoë", "NA"],
        "number": ["0151 2345", "+420 7"],
        "Ort": ["Ulm", pytest.approx(float("nan"), nan_ok=True)],
    }
    assert result.report().splitlines() == [
        f"the data: 2 rows ({kind})",
        "  Vorname → name",
        "  Handy   → number",
        "  kept as they are: Ort",
    ]


@pytest.mark.parametrize(("count", "output"), [(20, 20), (21, 20), (1000, 20)])
def test_many_problems_are_counted(count: int, output: int) -> None:
    result = read("Phone\n" + "1.5\n" * count + "12\n")
    error = result.build_error()
    assert len(error.problems) == count
    assert str(error).count("\n  row ") == output
    assert ("The first 20:" in str(error)) is (count > 20)
    assert str(error).startswith(f"the pasted table: {count:,} of {count + 1:,} rows cannot be")
    assert result.report(skipped=True).count("is a decimal") == output
    assert (f"and {count - 20:,} more" in result.report(skipped=True)) is (count > 20)


#: Texts, in the encoding of a file or as bytes, with the columns that a person names; the report
#: and the rows by their numbers, or the error.
CASES = json.loads((Path(__file__).parent / "cases/reading.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["kind"])
def test_a_text_is_read_with_a_report_or_refused(case: dict[str, Any], tmp_path: Path) -> None:
    source, name = case.get("text"), "the pasted table"
    if "encoding" in case or "hex" in case:
        name = "people.xls"
        source = tmp_path / name
        source.write_bytes(
            bytes.fromhex(case["hex"]) if "hex" in case else case["text"].encode(case["encoding"])
        )
    try:
        result = read(source, **case.get("options", {}))
    except InputError as error:
        assert str(error) == case["error"].replace("the data", name)
        return
    report = [case["report"][0].replace("the data", name), *case["report"][1:]]
    assert result.report(skipped=True).split("\n") == report
    frame = result.frame.astype(object).where(result.frame.notna(), None)
    rows = zip(map(str, frame.index), frame.to_numpy().tolist(), strict=True)
    assert dict(rows) == case["rows"]


def test_a_folder_is_called_one(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder: name a file in it"):
        read(tmp_path)


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_whatever_is_passed_is_read_or_refused(data: bytes) -> None:
    try:
        result = read(data, number="")
    except InputError:
        return
    assert isinstance(result, FileReading) and result.report(skipped=True)
