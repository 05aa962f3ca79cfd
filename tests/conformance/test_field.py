"""Kinds of fields: what fits, what does not, and that values are never shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.conformance.fact import (
    FLAG,
    TEXT,
    TIME,
    WHOLE,
    Differs,
    Facts,
    NotTold,
    add_fields,
    array_of,
    listing,
    object_of,
    pattern,
    shape,
)

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
def test_kinds(kind, right, wrong):
    assert [value for value in right if not kind.fits(value)] == []
    assert [value for value in wrong if kind.fits(value)] == []


@given(JSON)
def test_any_value_is_told_by_its_shape_alone(value):
    assert shape(value) in {
        "null", "true or false", "a whole number", "a number", "text", "an array", "an object",
    }  # fmt: skip


@given(st.lists(st.text()))
def test_odd_names_are_never_repeated(names):
    told = listing(names)
    assert set(told) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ,()")


class Evidence:
    def __init__(self, trial):
        self.shown = trial.shown

    def records(self, place):
        if place not in self.shown:
            raise NotTold("not seen")
        return self.shown[place]


class Shown:
    def __init__(self, **shown):
        self.shown = shown

    def evidence(self, kind):
        return kind(self)


FACTS = Facts(Evidence)
add_fields(FACTS, "Contact", "contact", [(7, "id other", WHOLE, "list get")])
[FACT] = FACTS.all


def test_a_row_of_a_table_is_a_fact():
    assert (FACT.number, FACT.name, FACT.section) == (7, "contact_id", "Contact")
    assert FACT.statement == "id and other of a contact are a whole number."


@pytest.mark.parametrize(
    ("shown", "error", "text"),
    [
        ({}, NotTold, "no record was seen"),
        ({"list": []}, NotTold, "no record was seen"),
        ({"list": [{"id": 1}]}, Differs, "other is missing in list"),
        ({"get": [{"id": 1, "other": "a secret"}]}, Differs,
         "other is text in get, not a whole number"),
        ({"list": [{"id": 1, "other": 2}], "get": [{"id": None, "other": 2}]}, Differs,
         "id is null in get, not a whole number"),
    ],
)  # fmt: skip
def test_it_differs_where_one_record_does(shown, error, text):
    with pytest.raises(error) as caught:
        FACT.check(Shown(**shown))
    assert str(caught.value) == text


def test_it_holds_where_it_was_seen():
    FACT.check(Shown(list=[{"id": 1, "other": 2}]))
