"""Tests of columns: their values, whether they can be written, and typed input."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from widgets.gridding import client, sandbox  # noqa: F401

from chatkit.resource import get_endpoints
from chatkit.widgets.sheet import describe_column, parse_typed, with_values

BY_SERVICE, ONCE = "is set by the service", "can only be set when it is created"
APPLICATION = "business application"


@pytest.mark.parametrize(
    ("resource", "name", "kind", "fixed", "closed"),
    [
        ("contacts", "name", "text", "", ""),
        ("webhooks", "is_active", "flag", "", ""),
        ("webhooks", "events", "json", "", ""),
        ("templates", "validity_period_seconds", "number", "", ""),
        # what stands in place of a field is named
        ("contacts", "first_name", "text", "edit name, the whole", "edit name, the whole"),
        ("flows", "wa_status", "text", APPLICATION, APPLICATION),
        # what cannot be written says why; what is set once is written in new rows alone
        ("contacts", "id", "number", BY_SERVICE, BY_SERVICE),
        ("contacts", "created_at", "time", BY_SERVICE, BY_SERVICE),
        ("contacts", "", "text", "only numbers the rows", "only numbers the rows"),
        ("contacts", "notes", "text", "never sent", "never sent"),
        ("flows", "name", "text", ONCE, ""),
        ("templates", "lang_code", "text", "which row", ""),
    ],
)
def test_a_column_knows_what_it_holds_and_why_it_cannot_be_written(
    client, resource, name, kind, fixed, closed
):
    of = client.templates("x") if resource == "templates" else getattr(client, resource)
    column = describe_column(get_endpoints(of), name, "O", head=name in ("id", "", "lang_code"))
    assert (column.name, column.kind) == (name, kind)
    assert bool(column.fixed) == bool(fixed) and fixed in column.fixed
    assert bool(column.closed) == bool(closed) and closed in column.closed
    assert column.part == (name in ("first_name", "wa_status"))


@pytest.mark.parametrize(
    ("typed", "kind", "value"),
    [
        ("TRUE", "flag", True),
        (" false ", "flag", False),
        ("no", "flag", False),
        ("1", "flag", "1"),
        ("007", "number", 7),
        ("-5", "number", -5),
        ("1.0", "number", "1.0"),
        ("1e3", "number", "1e3"),
        ("007", "text", "007"),
        ("true", "text", "true"),
        ('["*"]', "json", ["*"]),
        ("[", "json", "["),
        ("", "json", ""),
        ("", "flag", ""),
        (None, "text", None),
        (pd.NA, "text", None),
        (float("nan"), "number", None),
        (np.int64(5), "number", 5),
        (["a"], "json", ["a"]),
    ],
)
def test_what_is_typed_is_read_as_the_column_holds_it(typed, kind, value):
    result = parse_typed(typed, kind)
    assert result == value
    assert type(result) is type(value)


@given(st.text())
def test_a_text_is_never_another(text):
    assert parse_typed(text, "text") == text


@pytest.mark.parametrize(
    ("cells", "value", "dtype"),
    [
        (pd.Series(["a", None], dtype="str"), "b", "str"),
        (pd.Series([True, None], dtype="boolean"), False, "boolean"),
        (pd.Series([True, False]), True, "bool"),
        (pd.Series([1, None], dtype="Int64"), 5, "Int64"),
        # what a column cannot hold makes it one of objects; True is never taken for 1
        (pd.Series([1, None], dtype="Int64"), True, "object"),
        (pd.Series([1, None], dtype="Int64"), "", "object"),
        (pd.Series([True, None], dtype="boolean"), "", "object"),
        (pd.Series([["*"], None], dtype=object), ["a", "b"], "object"),
        (pd.Series([1.5, 2.5]), "01", "object"),
    ],
)
def test_a_cell_is_replaced_in_a_copy_of_the_column(cells, value, dtype):
    before = cells.copy()
    result = pd.Series(with_values(cells, {1: value}))
    assert cells.equals(before)
    assert str(result.dtype) == dtype
    assert result[0] == before[0]
    assert result[1] == value
    assert dtype != "object" or type(result[1]) is type(value)
