"""Kinds of fields: what fits, what does not, and that values are never shown."""

import pytest
from contract.fact import (
    FLAG,
    TEXT,
    TIME,
    WHOLE,
    Differs,
    Unknown,
    array_of,
    check_fields,
    listing,
    object_of,
    pattern,
    shape,
    unknown,
)
from hypothesis import given
from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (WHOLE, [0, -1, 2**70], [True, 1.0, "1", None]),
        (TEXT, ["", "x"], [None, 1, ["x"]]),
        (FLAG, [True, False], [0, 1, "true", None]),
        (TEXT.or_null(), ["", None], [0, False]),
        (TIME, ["2026-01-05T08:00:00Z", "2026-01-05T08:00:00.123456Z", "2024-02-29T23:59:59+00:00"],
         ["2026-01-05", "2026-01-05T08:00:00", "2026-13-05T08:00:00Z", "2026-01-05T08:00:00+01:00",
          "2026-01-05T08:00:00Z\n", "٢٠٢٦-01-05T08:00:00Z", 1767600000, None]),
        (pattern("[0-9]+", ""), ["007"], ["", "7 ", "٧", 7]),
        (array_of(TEXT, ""), [[], ["*"]], [["*", 1], "*", {}, None]),
        (object_of({"a": TEXT}), [{"a": "x", "b": 1}], [{}, {"a": 1}, [], "a"]),
    ],
)  # fmt: skip
def test_a_kind_accepts_its_values_and_no_others(kind, right, wrong):
    assert [value for value in right if not kind.accepts(value)] == []
    assert [value for value in wrong if kind.accepts(value)] == []


@given(JSON)
def test_any_value_is_named_by_its_kind_alone(value):
    assert shape(value) in {
        "null", "true or false", "a whole number", "a number", "text", "an array", "an object",
    }  # fmt: skip


@given(st.lists(st.text()))
def test_names_that_are_not_plain_are_not_repeated(names):
    plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ,()"
    assert set(listing(names)) <= set(plain)


class Calls:
    """Records in some answers, and none in the others."""

    def __init__(self, **records):
        self._records = records

    def records(self, place):
        return self._records.get(place) or unknown("no record")


@pytest.mark.parametrize(
    ("records", "error", "reason"),
    [
        ({}, Unknown, "there is no record"),
        ({"list": [{"id": 1}]}, Differs, "other is missing in list"),
        ({"get": [{"id": 1, "other": "a secret"}]}, Differs,
         "other is text in get, not a whole number"),
        ({"list": [{"id": 1, "other": 2}], "get": [{"id": None, "other": 2}]}, Differs,
         "id is null in get, not a whole number"),
    ],
)  # fmt: skip
def test_a_field_differs_where_one_record_does(records, error, reason):
    with pytest.raises(error, match=reason):
        check_fields(["id", "other"], WHOLE, ["list", "get"], Calls(**records))


def test_a_field_holds_where_every_record_has_it():
    check_fields(["id", "other"], WHOLE, ["list"], Calls(list=[{"id": 1, "other": 2}]))
