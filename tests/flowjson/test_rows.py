from __future__ import annotations

from types import SimpleNamespace

import pandas as pd

from chatkit.report import make_object_frame as frame
from chatkit.util.display import MISSING


def test_texts_are_texts_and_values_stay_what_they_are() -> None:
    rows = [
        SimpleNamespace(kind="x", place=None, value=MISSING),
        SimpleNamespace(kind="y", place="/a", value={"a": 1}),
        SimpleNamespace(kind="z", place="/b", value=0),
    ]
    made = frame(rows, ("kind", "place", "value"), texts=("kind", "place"))
    assert [str(dtype) for dtype in made.dtypes] == ["str", "str", "object"]
    assert made.place.isna().tolist() == [True, False, False]
    assert made.value.tolist() == [None, {"a": 1}, 0]


def test_no_rows_have_the_columns_all_the_same() -> None:
    assert list(frame([], ("a", "b"), texts=("a",)).columns) == ["a", "b"]


def test_half_a_character_is_kept() -> None:
    made = frame([SimpleNamespace(a="\ud800")], ("a",), texts=("a",))
    pd.testing.assert_series_equal(made.a, pd.Series(["\ud800"], dtype=object, name="a"))
