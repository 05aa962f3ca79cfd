"""Blocks of cells as Excel, LibreOffice and Google Sheets put them on the clipboard."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.widgets.grid import parse_clipboard


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("Ana", [["Ana"]]),
        ("", [[""]]),
        ("Ana\t+91\r\nBo\t+44\r\n", [["Ana", "+91"], ["Bo", "+44"]]),
        ("a\nb", [["a"], ["b"]]),
        ("a\rb\r", [["a"], ["b"]]),
        ("\t\n\t", [["", ""], ["", ""]]),
        ("a\n\nb", [["a"], [""], ["b"]]),
        ('"two\nlines"\tx', [["two\nlines", "x"]]),
        ('"a\tb"', [["a\tb"]]),
        ('"say ""hi""\n"\r\n', [['say "hi"\n']]),
        # a name in quotes, or with an inch sign, is no quoting
        ('"Ana"', [['"Ana"']]),
        ('"Ana" B\tx', [['"Ana" B', "x"]]),
        ('5" pipe\tx\n"open', [['5" pipe', "x"], ['"open']]),
        ("  Ana \t", [["  Ana ", ""]]),
        ("0049\t=1+1\tNA\tnull", [["0049", "=1+1", "NA", "null"]]),
    ],
)
def test_what_spreadsheets_copy_is_read_as_they_meant_it(text, cells):
    assert parse_clipboard(text) == cells


def quoted(text: str) -> str:
    """The rule of grid.js."""
    needs = any(c in text for c in "\t\r\n") or text.startswith('"')
    return '"' + text.replace('"', '""') + '"' if needs else text


cell = st.text(alphabet=st.one_of(st.sampled_from('\t\r\n" a'), st.characters()), max_size=8)


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(cell, min_size=n, max_size=n), min_size=1)
    )
)
def test_what_the_grid_copies_it_pastes_unchanged(cells):
    lines = ["\t".join(map(quoted, line)) for line in cells]
    text = "\n".join(lines) + ("\n" if len(lines) > 1 else "")
    assert parse_clipboard(text) == cells


@given(st.text(alphabet='"\t\n\ra'))
def test_no_character_is_invented_and_none_but_marks_is_lost(text):
    result = "".join("".join(line) for line in parse_clipboard(text))
    assert result.count("a") == text.count("a")
