"""A text from a stranger never becomes a formula, and comes back as it was."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatkit.imports.tables import guard_cell, guard_text_cell, remove_guard

NASTY = st.text(alphabet="'\"=+-@＝ \t\r\n\0\x01;|,aé", max_size=12) | st.text()


def is_formula(cell: str) -> bool:
    """Return whether a spreadsheet takes the text for a formula."""
    return cell.lstrip(" \t\r\n\0\x01\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0")[:1] in [*"=+-@＝＋－＠"]


@given(NASTY)
@example("'=1+1")
@example("a;'=1")
@example("")
@example("'")
def test_what_is_shielded_comes_back_exactly(text: str) -> None:
    assert remove_guard(guard_cell(text)) == text
    assert remove_guard(guard_text_cell(text)) == text


@given(NASTY)
@example("a;=1")
@example('a\n"=1')
def test_no_cell_is_a_formula_whichever_delimiter_a_program_expects(text: str) -> None:
    line = io.StringIO(newline="")
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(["2025550187", guard_cell(text), "x"])
    for delimiter in ",;\t|":
        for row in csv.reader(io.StringIO(line.getvalue(), newline=""), delimiter=delimiter):
            assert not [cell for cell in row if is_formula(cell)]
    for cell in re.split(r"[;|\t\r\n]", guard_cell(text)):  # who knows of no quotes at all
        assert not is_formula(cell)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+91", "'+91"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("\0x", "'\0x"),
        (" =1", "' =1"),
        ("＝1", "'＝1"),
        ("Ana;=1", "Ana;'=1"),
        ("", "'"),
    ],
)
def test_what_could_run_gets_one_apostrophe(text: str, written: str) -> None:
    assert guard_cell(text) == written


@pytest.mark.parametrize(
    "name", ["'t Hart", "O'Neil", "Ana-Maria", "a=b", "D' Angelo", "''x''", "a@b.org", "1 - 2"]
)
def test_names_with_apostrophes_and_signs_are_left_alone(name: str) -> None:
    assert guard_cell(name) == guard_text_cell(name) == remove_guard(name) == name


def test_a_cell_that_is_known_to_be_text_needs_no_apostrophe() -> None:
    assert guard_text_cell("=1+1") == "=1+1" and guard_text_cell("+91") == "+91"
