"""Given: a frame that cannot be read as a whole is refused with the way out."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from chatkit.bulk.matching import check_frame, read_delete_marks
from chatkit.errors import InputError


def test_all_names_that_cannot_be_told_apart_are_named_at_once() -> None:
    frame = pd.DataFrame([[1, 2, 3, 4]], columns=pd.Index(["name", "name", 0, None], dtype=object))
    frame.index = pd.MultiIndex.from_tuples([(1, 2)], names=["id", "id"])
    with pytest.raises(InputError) as caught:
        check_frame(frame)
    assert [(p.field, p.value, p.reason) for p in caught.value.problems] == [
        ("column", "0", "must be text"),
        ("column", "None", "must be text"),
        ("column", "'name'", "appears twice"),
        ("level of the index", "'id'", "appears twice"),
    ]
    assert "rename" in str(caught.value) or "other names" in str(caught.value)


def test_columns_of_several_levels_are_refused_with_a_line_that_helps() -> None:
    columns = pd.MultiIndex.from_tuples([("name", "first"), ("name", "last")])
    frame = pd.DataFrame([["Ana", "Cruz"]], columns=columns)
    with pytest.raises(InputError, match="several levels") as caught:
        check_frame(frame)
    frame.columns = ["_".join(map(str, names)) for names in frame.columns]  # as it says
    assert "'_'.join(map(str, names))" in str(caught.value)
    assert check_frame(frame) is frame


@pytest.mark.parametrize(
    "cells",
    [
        pd.Series([True, False, False]),
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series([True, None, False], dtype="bool[pyarrow]"),
        pd.Series([True, None, False], dtype=object),
        pd.Series([True, np.nan, pd.NA], dtype=object),
        pd.Series([np.True_, pd.NaT, np.False_], dtype=object),
        pd.Series([True, None, False], dtype="category"),
        pd.Series(["True", "", "False"], dtype="str"),
        pd.Series(["True", None, "False"], dtype="string"),
    ],
)
def test_rows_to_delete_are_read_from_any_dtype(cells: "pd.Series[Any]") -> None:
    result, unusual = read_delete_marks(cells)
    assert result.tolist() == [True, False, False]
    assert unusual == {}


@pytest.mark.parametrize("value", [1, 0, 1.0, "TRUE", "yes", "x", " ", [True]])
def test_what_says_neither_yes_nor_no_deletes_nothing(value: Any) -> None:
    cells = pd.Series([None, True], dtype=object)
    cells.iloc[0] = value
    result, unusual = read_delete_marks(cells)
    assert result.tolist() == [False, True]
    assert unusual == {0: value}
