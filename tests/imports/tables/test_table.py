"""Columns and rows are called as a spreadsheet program calls them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.utils import get_column_letter

from chatkit.imports.tables import format_rows, name_column, quote_name


@given(st.integers(0, 18277))  # the most that the oracle knows: ZZZ
def test_a_column_is_called_as_in_a_spreadsheet(place: int) -> None:
    assert name_column(place) == get_column_letter(place + 1)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([4], "row 4"),
        ([2, 3], "rows 2, 3"),
        (list(range(2, 7)), "rows 2, 3, 4, 5, 6"),
        (list(range(2, 1002)), "rows 2, 3, 4, 5, 6 and 995 more"),
    ],
)
def test_many_rows_are_counted(numbers: list[int], text: str) -> None:
    assert format_rows(numbers) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Handy", "Handy"),
        ("", "''"),
        (" x", "' x'"),
        ("a\u202eb", r"'a\u202eb'"),
        ("\x1b[2J", r"'\x1b[2J'"),
    ],
)
def test_names_that_hide_something_are_shown_in_quotes(name: str, text: str) -> None:
    assert quote_name(name) == text
