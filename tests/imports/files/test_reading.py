"""Every kind of file goes the same way, and what came of it is said in a few plain lines."""

from __future__ import annotations

import io
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


def test_cards_in_any_encoding() -> None:
    card = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Zoë\r\nTEL:1\r\nEND:VCARD\r\n"
    for data, kind in ((card, "vCard"), (card.encode("utf-16"), "vCard, UTF-16-LE")):
        result = read(data)
        assert result.frame.to_dict("list") == {"number": ["1"], "name": ["Zoë"]}
        assert result.report().splitlines()[0].endswith(f": 1 row ({kind})")


def test_a_pasted_table_with_all_that_a_spreadsheet_puts_in_it() -> None:
    result = read('\nName\tPhone\tNote\nAna\t"+1\n202"\t\n\nBob\t0151\t"a ""b"""\n')
    assert result.frame["number"].tolist() == ["+1\n202", "0151"]
    assert result.frame["Note"].tolist()[1] == 'a "b"'
    assert result.frame.index.tolist() == [3, 5]


def test_all_that_is_odd_is_in_the_report(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("Liste\nName;Handy;Tel\nZoë;0151;1\nAna;1,5;2\n".encode("cp1252"))
    assert read(path).report(skipped=True).splitlines() == [
        "people.csv: 1 row (CSV, cp1252, semicolons)",
        "  Name  → name",
        "  Handy → number",
        "  kept as they are: Tel",
        "  note: read as cp1252 by its letters: if 'Zoë' is wrong, write encoding='…'",
        "  note: row 1 above the names of the columns: left out",
        "  note: not read as the number: 'Tel'; number='Tel' takes that one",
        "  left out: 1 row",
        "    row 4, Handy = '1,5': is a decimal: digits, zeros or a + may be lost, so write it "
        "again as text",
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


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("Phone,Name,Name\n1,2,3\n")
    with pytest.raises(InputError, match=r"^twice\.csv: 'Name' and 'Name \(column C\)' have"):
        read(path)


def test_one_column_or_several_may_be_named() -> None:
    text = "a,b,c\n1,2,3\n"
    assert read(text, number="a", name=["c", "b"]).frame.to_dict("list") == {
        "number": ["1"],
        "name": ["3 2"],
    }
    result = read("Phone,Name\n1,2\n", number="", name="", country_code="")
    assert result.frame.columns.tolist() == ["Phone", "Name"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<html><body><table><tr><td>Name</td></tr></table></body></html>", "HTML or XML"),
        ('<?xml version="1.0"?>\n<Workbook><Worksheet/></Workbook>', "HTML or XML"),
        ('[{"name": "Ana", "number": "2025550100"}]', "JSON"),
        ('{"contacts": [\n{"name": "Ana"}]}', "JSON"),
        ("[]", "JSON"),
    ],
)
def test_what_is_no_table_is_called_what_it_is(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "people.xls"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"^people\.xls: This file is {message}"):
        read(path)


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
