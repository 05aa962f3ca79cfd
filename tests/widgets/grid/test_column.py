"""What columns hold, whether they can be written, and how what is typed is read."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from widgets.gridding import client, sandbox  # noqa: F401

from chatkit.resource import endpoints_of
from chatkit.widgets.sheet import column_of, parse_typed, replaced


def declared(resource, name, dtype, *, head):
    return column_of(endpoints_of(resource), name, dtype, head=head)


def test_a_writable_field_is_written_in_any_row(client):
    assert declared(client.contacts, "name", "O", head=False) == ("name", "text", "", "", False)
    assert declared(client.webhooks, "is_active", "b", head=False).kind == "flag"
    assert declared(client.webhooks, "events", "O", head=False).kind == "json"
    assert declared(client.templates("x"), "validity_period_seconds", "i", head=False) == (
        *("validity_period_seconds", "number"),
        *("", "", False),
    )


def test_what_stands_in_place_of_a_field_is_named(client):
    column = declared(client.contacts, "first_name", "O", head=False)
    assert "edit name, the whole of it" in column.fixed
    assert column.closed == column.fixed
    assert "business application" in declared(client.flows, "wa_status", "O", head=False).fixed


@pytest.mark.parametrize(
    ("name", "head", "why"),
    [
        ("id", True, "is set by the service"),
        ("created_at", False, "is set by the service"),
        ("", True, "only numbers the rows"),
        ("notes", False, "is not documented, so it is never sent"),
    ],
)
def test_what_cannot_be_written_says_why(client, name, head, why):
    column = declared(client.contacts, name, "O", head=head)
    assert (column.fixed, column.closed) == (why, why)


def test_what_is_set_once_is_written_in_new_rows_alone(client):
    column = declared(client.flows, "name", "O", head=False)
    assert (column.fixed, column.closed) == ("can only be set when it is created", "")
    language = declared(client.templates("x"), "lang_code", "O", head=True)
    assert language.closed == ""
    assert "which row" in language.fixed


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
    found = parse_typed(typed, kind)
    assert found == value
    assert type(found) is type(value)


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
    found = pd.Series(replaced(cells, {1: value}))
    assert cells.equals(before)
    assert str(found.dtype) == dtype
    assert found[0] == before[0]
    assert found[1] == value
    assert dtype != "object" or type(found[1]) is type(value)
