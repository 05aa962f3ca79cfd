"""Frames become files with nothing lost, nothing run, and nothing half written."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from chatkit.errors import InputError
from chatkit.imports import read_contacts as read
from chatkit.imports.tables import Target
from chatkit.imports.tables.delimited import write_csv
from chatkit.imports.tables.workbook import write_xlsx

Write = Callable[[pd.DataFrame, Target], None]
BOTH = pytest.mark.parametrize("write", [write_csv, write_xlsx])


def bytes_of(write: Write, frame: pd.DataFrame) -> bytes:
    target = io.BytesIO()
    write(frame, target)
    return target.getvalue()


def test_csv_is_what_every_program_understands() -> None:
    frame = pd.DataFrame({"country_code": ["+49"], "name": ['Zoë "Z"'], "note": [None]})
    assert bytes_of(write_csv, frame) == (
        b'\xef\xbb\xbf"country_code","name","note"\r\n"\'+49","Zo\xc3\xab ""Z""",""\r\n'
    )


def test_the_names_of_columns_are_shielded_as_well() -> None:
    frame = pd.DataFrame({"=1+1": ["x"]})
    assert b'"\'=1+1"' in bytes_of(write_csv, frame)
    assert read(bytes_of(write_csv, frame), number="").columns.tolist() == ["=1+1"]


@BOTH
def test_the_index_is_written_if_it_has_a_name_but_not_the_rows_of_a_file(write: Write) -> None:
    frame = pd.DataFrame({"name": ["Ana", "Bob"]}, index=pd.Index([7, 8], name="id"))
    result = read(bytes_of(write, frame))
    assert result.to_dict("list") == {"id": ["7", "8"], "name": ["Ana", "Bob"]}
    again = read(bytes_of(write, result))
    assert again.columns.tolist() == ["id", "name"]
    assert read(bytes_of(write, frame.reset_index(drop=True)), number="").shape == (2, 1)


@BOTH
@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (pd.DataFrame({"id": [1]}, index=pd.Index([1], name="id")), "'id' is in the index and in"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "one name of its own"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "one name of its own"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "one name of its"),
        (pd.DataFrame(index=[1, 2]), "no columns"),
    ],
)
def test_what_could_not_be_read_again_is_refused(
    write: Write, frame: pd.DataFrame, reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        bytes_of(write, frame)


@BOTH
def test_a_refused_frame_leaves_the_file_that_was_there(write: Write, tmp_path: Path) -> None:
    path = tmp_path / "people"
    path.write_bytes(b"precious")
    frame = pd.DataFrame({"name": ["Ana", "\ud83d", "Bob", "x\udc00"]}, list("abcd"), dtype=object)
    with pytest.raises(InputError) as caught:
        write(frame, path)
    assert [problem.field for problem in caught.value.problems] == [
        "row 'b', name",
        "row 'd', name",
    ]
    with pytest.raises(InputError, match="half a character"):
        write(pd.DataFrame([["x"]], columns=pd.Index(["\ud83d"], dtype=object)), path)
    assert path.read_bytes() == b"precious"


@BOTH
def test_files_are_written_to_paths_of_any_kind(write: Write, tmp_path: Path) -> None:
    frame = pd.DataFrame({"number": ["1"]})
    write(frame, tmp_path / "a")
    write(frame, str(tmp_path / "b"))
    with (tmp_path / "c").open("wb") as file:
        write(frame, file)
    for name in "abc":
        assert read(tmp_path / name)["number"].tolist() == ["1"]


@BOTH
def test_a_frame_without_rows_keeps_its_columns(write: Write) -> None:
    result = read(bytes_of(write, pd.DataFrame({"number": [], "name": []}, dtype="str")))
    assert result.columns.tolist() == ["number", "name"] and len(result) == 0


def test_a_spreadsheet_program_of_another_country_finds_no_formula() -> None:
    frame = pd.DataFrame({"name": ["Ana;=1+1", 'x\n"=2"', "=3", "a\t-b"], "number": list("1234")})
    text = bytes_of(write_csv, frame).decode("utf-8-sig")
    for delimiter in ",;\t":
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            assert not [cell for cell in row if cell.lstrip(' "\t\n')[:1] in [*"=+-@"]]
