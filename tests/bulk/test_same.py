"""Same: what pandas does to a value is no edit; what a person does to it is one."""

import copy
import json
import math
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatkit.api.record import is_whole_float
from chatkit.bulk.comparison import is_same_value
from chatkit.frames.frame import to_python, to_python_list

NOON = datetime(2026, 1, 2, 12, 0, 0, 678_000, tzinfo=UTC)
INDIA = timezone(timedelta(hours=5, minutes=30))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("before", "edited"),
    [
        (5, 5.0),
        (5, np.int64(5)),
        (5, np.float64(5)),
        (5, "5"),
        (-5, "-5"),
        (2**53 + 1, float(2**53)),  # all that a float can hold of it
        (2**53 + 1, 2**53 + 1),
        (0.5, np.float32(0.5)),
        (True, np.True_),
        (True, 1),
        (False, 0.0),
        (True, "True"),
        (None, ""),
        ("", ""),
        ("é", "é"),
        (NOON, pd.Timestamp(NOON)),
        (NOON, NOON.astimezone(INDIA)),
        (NOON, NOON.replace(tzinfo=None)),
        (NOON, "2026-01-02T12:00:00.678Z"),
        (NOON, "2026-01-02 12:00:00.678000+00:00"),
        (NOON, "2026-01-02T17:30:00.678+05:30"),
        (NOON, str(pd.Timestamp(NOON))),
        (["vip"], np.array(["vip"], object)),
        (["vip"], ("vip",)),
        (["vip"], "['vip']"),
        (["vip", "Zoë"], '["vip", "Zoë"]'),
        ([{"id": 7, "name": "vip"}], '[{"name":"vip","id":7}]'),
        ({"1": None}, '{"1": null}'),
        ([], "[]"),
        ([{"type": "text", "link": None}], [{"type": "text"}]),  # a header
        ([{"type": "text"}], [{"type": "text", "link": None}]),
        ([{"type": "custom", "value": None}], '[{"type": "custom"}]'),  # a button from a file
        ([1, None], np.array([1, np.nan])),
        ([[1], [2]], [np.array([1]), np.array([2])]),
        ({"a": [1]}, {"a": np.array([1.0])}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ([], np.array([])),
        (float("nan"), float("nan")),
        (10**30, 10**30),
    ],
)
def test_what_pandas_and_files_make_of_a_value_is_the_same(before: Any, edited: Any) -> None:
    assert is_same_value(to_python(before), to_python(edited))


@pytest.mark.parametrize(
    ("before", "edited"),
    [
        ("5", 5),
        ("919876543210", 919876543210.0),  # a text that became a number may have lost zeros
        ("True", True),
        ("", 0),
        ("", False),
        ("a", "A"),
        ("a", "a "),
        ("\u00e9", "e\u0301"),  # the service tells them apart
        (None, " "),
        (None, []),
        (None, 0),
        (None, False),
        (5, 6),
        (5, 5.5),
        (5, "5.5"),
        (5, "05"),
        (5, "five"),
        (5, float("inf")),
        (10**400, float("inf")),
        (1, True),  # in JSON these are two things
        (0, False),
        (True, False),
        (True, 2),
        (True, "false"),
        ([1], [True]),
        ([[0]], [[False]]),
        ({"a": 1}, {"a": True}),
        (NOON, NOON + timedelta(microseconds=1)),
        (NOON, NOON.date()),
        (NOON, "2026-01-02"),
        (NOON, "noon"),
        (NOON, ""),
        (NOON, 1767355200),
        (["vip"], []),
        (["vip"], ["VIP"]),
        (["vip"], ["vip", None]),
        (["vip"], "vip"),
        (["vip"], '["VIP"]'),
        (["vip"], '["vip"'),
        (["vip"], '"vip"'),
        ([1], "[true]"),
        ([], "[" * 100_000),
        (["a", "b"], ["b", "a"]),
        (["vip"], {"vip"}),
        (["vip"], np.array([["vip"]], object)),
        ({"a": 1}, {"a": 1, "b": None}),
        ({"a": [{"b": None}]}, {"a": [{}]}),  # a document is what is written
        ([{"value": "x"}], [{}]),
        ([{"value": "x"}], [{"value": None}]),
        ([{}], [{"value": ""}]),
        ({"a": 1}, [("a", 1)]),
        ([None], [0]),
        ([""], [None]),
        ([float("nan")], [0.0]),
        (5, pd.Timestamp(5)),
        (5, object()),
        (5, Decimal("5.1")),
    ],
)
def test_what_a_person_wrote_is_not_the_same(before: Any, edited: Any) -> None:
    assert not is_same_value(to_python(before), to_python(edited))


@given(json_values)
def test_a_copy_of_a_value_is_the_same(value: Any) -> None:
    assert is_same_value([value], copy.deepcopy([value]))
    assert is_same_value(value, value) or value is None


@given(json_values, json_values)
@example([1], [True])
@example({"a": 0}, {"a": False})
@example(1, 1.0)
@example({}, {"": None})
def test_two_values_are_the_same_if_their_json_is(one: Any, two: Any) -> None:
    def written(value: Any) -> str:
        def numbers_alike(inner: Any) -> Any:
            if isinstance(inner, float) and math.isfinite(inner) and inner.is_integer():
                return int(inner)
            if isinstance(inner, list):
                return [numbers_alike(each) for each in inner]
            if isinstance(inner, dict):
                # in the items of a list a key that is null is as one that is not there
                output = {name: each for name, each in inner.items() if each is not None}
                return {name: numbers_alike(each) for name, each in output.items()}
            return inner

        return json.dumps(numbers_alike(value), sort_keys=True)

    assert is_same_value([one], [two]) == (written(one) == written(two))


def test_very_deep_values_are_compared() -> None:
    def nest(core: Any) -> Any:
        for _ in range(50_000):
            core = [core]
        return core

    assert is_same_value(nest(1), nest(1))
    assert not is_same_value(nest(1), nest(2))


def test_what_answers_oddly_when_asked_is_not_the_same() -> None:
    class Unusual:
        __hash__ = None

        def __eq__(self, other: object) -> Any:
            return np.array([True, False])

    assert not is_same_value(5, Unusual())
    assert not is_same_value([5], [Unusual()])
    assert not is_same_value([5], [pd.NA])
    assert is_same_value([pd.NA], [pd.NA])


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (pd.Series([1, None], dtype="Int64"), [1, None]),
        (pd.Series([True, None], dtype="boolean"), [True, None]),
        (pd.Series(["a", None], dtype="str"), ["a", None]),
        (pd.Series(["a", None], dtype="category"), ["a", None]),
        (pd.Series([1.5, np.nan]), [1.5, None]),
        (pd.Series([[1], None, np.nan, pd.NA, pd.NaT, np.int64(3)], dtype=object),
         [[1], None, None, None, None, 3]),
        (pd.Series([np.array([1, 2]), {"a": 1}], dtype=object), [[1, 2], {"a": 1}]),
        (pd.Series([pd.Timestamp(NOON), pd.NaT]), [NOON, None]),
        (pd.Series([], dtype=object), []),
    ],
)  # fmt: skip
def test_cells_become_python_values(cells: "pd.Series[Any]", values: list[Any]) -> None:
    result = to_python_list(cells)
    assert result == values
    assert [isinstance(value, np.generic | np.ndarray) for value in result] == [False] * len(result)


def test_plain_values_are_left_as_they_are() -> None:
    for value in (5, "5", [np.int64(5)], None, NOON):
        assert to_python(value) is value


@pytest.mark.parametrize(
    ("value", "answer"),
    [(5.0, True), (0.0, True), (-7.0, True), (2.0**53 - 1, True), (2.0**53, False), (5.5, False),
     (float("nan"), False), (float("inf"), False), (5, False), ("5.0", False), (True, False)],
)  # fmt: skip
def test_whole_floats_are_those_that_lost_nothing(value: Any, answer: bool) -> None:
    assert is_whole_float(value) is answer
