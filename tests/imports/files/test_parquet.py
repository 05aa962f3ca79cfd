"""Parquet: whole numbers stay whole, lists become texts, the index of pandas is a column."""

from __future__ import annotations

import datetime as dt
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.parquet import write_table

from chatkit.errors import InputError
from chatkit.imports import read_parquet as read
from chatkit.imports.tables import TableRow, stringify


def parquet(frame: pd.DataFrame) -> bytes:
    target = io.BytesIO()
    frame.to_parquet(target)
    return target.getvalue()


def test_values_keep_their_types_and_nothing_is_nothing() -> None:
    instant = pd.Timestamp("2026-01-02T03:04:05Z")
    frame = pd.DataFrame(
        {
            "number": pd.array([919876543210, None], dtype="Int64"),
            "long": [2**53 + 1, 1],
            "name": ["NA", None],
            "score": [1.5, np.nan],
            "active": [True, False],
            "at": [instant, None],
            "tags": [["a"], None],
        }
    )
    names, first, second = read(parquet(frame)).rows
    assert names == TableRow(0, list(frame.columns))
    assert list(map(stringify, first.cells)) == [
        *("919876543210", "9007199254740993", "NA", "1.5", "True"),
        *("2026-01-02T03:04:05+00:00", '["a"]'),
    ]
    assert list(map(stringify, second.cells)) == [None, "1", None, None, "False", None, None]
    assert isinstance(first.cells[0], int) and isinstance(first.cells[3], float)
    assert isinstance(first.cells[5], dt.datetime)


def test_whole_numbers_of_other_programs_stay_whole_beside_nothing() -> None:
    target = io.BytesIO()
    write_table(pa.table({"number": [919876543210, None], "id": [2**53 + 1, None]}), target)
    _, first, _ = read(target.getvalue()).rows
    assert list(map(stringify, first.cells)) == ["919876543210", "9007199254740993"]
    assert all(isinstance(cell, int) for cell in first.cells)


def test_an_index_with_a_name_is_a_column() -> None:
    frame = pd.DataFrame({"name": ["Ana"]}, index=pd.Index([50001], name="id"))
    assert read(parquet(frame)).rows == [TableRow(0, ["id", "name"]), TableRow(1, (50001, "Ana"))]


def test_the_names_of_the_columns_are_those_of_the_file() -> None:
    assert not read(parquet(pd.DataFrame({"a": ["Phone"]}))).titled


@given(st.integers(0, 2000), st.binary(max_size=8))
def test_a_broken_file_is_refused(start: int, new: bytes) -> None:
    data = parquet(pd.DataFrame({"number": ["1", None]}))
    broken = data[:start] + new + data[start + len(new) :]
    try:
        result = read(broken)
    except InputError:
        return
    assert result.kind == "Parquet"


def test_what_is_no_parquet_is_refused() -> None:
    with pytest.raises(InputError, match="not a readable Parquet file"):
        read(b"PAR1 and no more")
