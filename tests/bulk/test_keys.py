"""Keys: ids are read from every dtype of pandas, and never guessed."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.bulk import matching

ids = st.integers(-(2**63), 2**63 - 1)


def read(cells: "pd.Series[Any]") -> list[int | None]:
    """Return the ids of some cells, None for an empty cell."""
    numbers, has_key = matching.parse_ids(cells)
    assert numbers.dtype == np.int64
    assert has_key.dtype == bool
    return [int(n) if present else None for n, present in zip(numbers, has_key, strict=True)]


@pytest.mark.parametrize(
    "dtype", ["int64", "Int64", "int64[pyarrow]", "object", "category", "Float64", "float64",
              "string", "str", "uint32"]
)  # fmt: skip
def test_ids_are_read_from_any_dtype(dtype: str) -> None:
    cells = pd.Series([7, 0, 100_001]).astype(dtype)
    assert read(cells) == [7, 0, 100_001]
    assert read(cells.iloc[:0]) == []


@pytest.mark.parametrize(
    "cells",
    [
        pd.Series([7, None], dtype="Int64"),
        pd.Series([7, None], dtype="int64[pyarrow]"),
        pd.Series([7, None], dtype="float64"),
        pd.Series([7, None], dtype="Float64"),
        pd.Series([7, None], dtype="category"),
        pd.Series(["7", None], dtype="str"),
        pd.Series(["7", None], dtype="string"),
        pd.Series(["7", ""], dtype="str"),
        pd.Series([7, ""], dtype=object),
        *(pd.Series([7, nothing], dtype=object) for nothing in (None, np.nan, pd.NA, pd.NaT)),
        pd.Series([np.int32(7), None], dtype=object),
        pd.Series([np.float32(7), None], dtype=object),
    ],
)
def test_a_gap_is_a_row_without_an_id(cells: "pd.Series[Any]") -> None:
    assert read(cells) == [7, None]


@given(st.lists(ids, max_size=5))
def test_no_digit_is_lost(numbers: list[int]) -> None:
    gaps: list[Any] = [*numbers, None]
    assert read(pd.Series(gaps, dtype="Int64")) == gaps
    assert read(pd.Series(gaps, dtype=object)) == gaps
    assert read(pd.Series(numbers, dtype="int64").astype("category")) == numbers


@pytest.mark.parametrize(
    "value",
    [True, False, 1.5, "1.0", "new", "007", "+7", " 7", "７", "1e3", "-7", float("inf"), 2.0**53,
     float(2**53 + 2), 2**63, 10**30, "9" * 19, [7], {"id": 7}, pd.Timestamp(7), b"7", "1_0"],
)  # fmt: skip
def test_what_is_no_id_is_not_read_as_one(value: Any) -> None:
    cells = pd.Series([None, 7], dtype=object)
    cells.iloc[0] = value
    assert read(cells) == [None, 7]
    assert matching.explain_bad_id(value)


@pytest.mark.parametrize(
    ("cells", "result"),
    [
        (pd.Series([1.5, 2.0**53, np.inf, -np.inf, np.nan, 7.0]), [None] * 5 + [7]),
        (pd.Series([True, False]), [None, None]),
        (pd.Series([True, None], dtype="boolean"), [None, None]),
        (pd.Series(pd.to_datetime(["2026-01-01"])), [None]),
        (pd.Series([2**63], dtype="uint64"), [None]),
    ],
)
def test_what_is_no_id_is_not_read_from_typed_columns(
    cells: "pd.Series[Any]", result: list[Any]
) -> None:
    assert read(cells) == result


def test_the_reason_names_what_was_lost() -> None:
    assert matching.explain_bad_id(2.0**53) == (
        "has lost digits: a float cannot hold so long a number"
    )
    assert matching.explain_bad_id("new") == "must be a whole number"
    assert matching.explain_bad_id("") == ""


@pytest.mark.parametrize("dtype", ["str", "string", "object", "category", "string[python]"])
def test_texts_are_read_from_any_dtype(dtype: str) -> None:
    assert matching.parse_text_keys(pd.Series(["en", "en_US", None, ""]).astype(dtype)) == [
        *("en", "en_US", None, None)
    ]


def test_a_number_is_no_text() -> None:
    assert matching.parse_text_keys(pd.Series([5, 1.5, True, ["en"], "en"], dtype=object)) == [
        None
    ] * 4 + ["en"]
    assert matching.explain_bad_text_key(5) == "must be text"
    assert matching.explain_bad_text_key("") == ""
