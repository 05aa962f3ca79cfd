"""Every value has a text that can be read again; a number that lost digits is none any more."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.imports.tables import (
    BadCell,
    read_any_cell,
    read_code_cell,
    read_number_cell,
    read_text_cell,
    stringify,
    stringify_column,
)

UTC = dt.UTC
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("007", "007"),
        ("", ""),
        ("NA", "NA"),
        (7, "7"),
        (np.int64(7), "7"),
        (2**60 + 1, str(2**60 + 1)),
        (7.0, "7"),
        (7.25, "7.25"),
        (1e20, "1e+20"),
        (True, "True"),
        (np.bool_(False), "False"),
        (None, None),
        (float("nan"), None),
        (pd.NA, None),
        (pd.NaT, None),
        (dt.datetime(2026, 1, 2, 3, 4, tzinfo=UTC), "2026-01-02T03:04:00+00:00"),
        (pd.Timestamp("2026-01-02 03:04:05.25", tz="UTC"), "2026-01-02T03:04:05.250000+00:00"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (dt.time(3, 4), "03:04:00"),
        (["vip", "é"], '["vip", "é"]'),
        ({"a": [1, None]}, '{"a": [1, null]}'),
        (np.array(["a", "b"], dtype=object), '["a", "b"]'),
        ({"when": dt.date(2026, 1, 2), "n": np.int64(3)}, '{"when": "2026-01-02", "n": 3}'),
    ],
)
def test_every_value_has_a_text(value: object, text: str | None) -> None:
    assert stringify(value) == text


@given(st.lists(JSON) | st.dictionaries(st.text(), JSON))
def test_nested_values_are_json(value: object) -> None:
    text = stringify(value)
    assert text is not None and json.loads(text) == value


@given(st.datetimes(timezones=st.just(UTC)))
def test_times_are_iso_8601_and_exact(time: dt.datetime) -> None:
    text = stringify(time)
    assert text is not None and dt.datetime.fromisoformat(text) == time


def test_columns_of_any_dtype_become_texts() -> None:
    frame = pd.DataFrame(
        {
            "Int64": pd.array([2**53 + 1, None], dtype="Int64"),
            "merged": [7.0, np.nan],
            "boolean": pd.array([True, None], dtype="boolean"),
            "time": pd.to_datetime(["2026-01-02T03:04:05Z", None]),
            "category": pd.Categorical(["a", None]),
        }
    )
    assert {name: stringify_column(frame[name])[0] for name in frame} == {
        "Int64": "9007199254740993",
        "merged": "7",
        "boolean": "True",
        "time": "2026-01-02T03:04:05+00:00",
        "category": "a",
    }
    assert {stringify_column(frame[name])[1] for name in frame} == {None}


@pytest.mark.parametrize(
    "text",
    [
        *("9.19877E+11", "9,19877E+11", "9.2e11", "1E5", "919876543210.0", "919876543210,00"),
        *("919876543210.", "12.5", "-3.0", "919,876,543,210.00", "919.876.543,21", " 12.0 "),
        *("nan", "NaN", "None", "null", "NA", "N/A", "<NA>", "inf", "#N/A", "#####", "#REF!"),
    ],
)
def test_a_number_that_was_a_decimal_or_is_none_is_refused(text: str) -> None:
    value, reason = read_number_cell(text)
    assert value is None and reason


@pytest.mark.parametrize(
    "text",
    [
        *("00919876543210", "+919876543210", "0171 2345678", "06.12.34.56.78", "(030) 123-456"),
        *("030.1234567", "555.123.4567", "919.876.543.210", "12", "call Ana", "1-800-FLOWERS"),
        *("", " ", "٠١٢٣", "0049 (0) 171/123", "+1 202 555 0187 ext. 5", "tel:+1-202", "-", "'1"),
    ],
)
def test_any_other_number_is_left_as_it_is_written(text: str) -> None:
    assert read_number_cell(text) == (text, "")


@pytest.mark.parametrize(
    ("text", "code"), [("44.0", "44"), ("+44.0", "+44"), ("44.00", "44"), ("0044", "0044")]
)
def test_a_country_code_that_became_a_decimal_has_lost_nothing(text: str, code: str) -> None:
    assert read_code_cell(text) == (code, "")
    assert read_code_cell("4.5")[0] is None and read_code_cell(44.5)[0] is None


@given(st.floats(allow_nan=False))
def test_a_float_is_never_a_number_or_a_name(value: float) -> None:
    assert read_number_cell(value)[0] is None and read_number_cell(value)[1]
    assert read_text_cell(value)[0] is None and read_text_cell(value)[1]


@pytest.mark.parametrize("value", [True, dt.date(2026, 5, 1), dt.time(1), dt.datetime.now(), ["a"]])
def test_what_a_spreadsheet_made_of_a_name_is_no_name(value: object) -> None:
    text, reason = read_text_cell(value)
    assert text is None and "not text" in reason


@given(st.text() | st.sampled_from(["NA", "None", "null", "nan", "1.5", "TRUE", "#N/A"]))
def test_any_text_is_a_name(text: str) -> None:
    assert read_text_cell(text) == (text, "")


def test_what_is_odd_is_refused_where_it_matters_and_shown_elsewhere() -> None:
    unusual = BadCell("#N/A", "is an error")
    assert read_number_cell(unusual) == read_text_cell(unusual) == (None, "is an error")
    assert read_any_cell(unusual) == ("#N/A", "")
