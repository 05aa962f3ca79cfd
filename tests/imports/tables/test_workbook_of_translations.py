"""A workbook of several sheets: every cell is text, every sheet is read back as it was."""

import io

import openpyxl
from hypothesis import given, settings
from hypothesis import strategies as st

from chatkit.imports.tables import workbook

TEXTS = st.none() | st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
ROWS = st.lists(st.tuples(TEXTS, TEXTS), max_size=4)


def cells(table):
    return [tuple(row.cells) for row in table.rows]


@settings(max_examples=30)
@given(first=ROWS, second=ROWS)
def test_what_was_written_is_read_from_every_sheet(first, second):
    data = workbook.build_workbook(["a", "b"], {"de": first, "pt_BR": second}, wide=["b"])
    result = workbook.read_sheets(data)
    assert list(result) == ["de", "pt_BR"]
    for name, rows in (("de", first), ("pt_BR", second)):
        assert cells(result[name]) == [("a", "b"), *(row for row in rows if any(row))]


def test_a_person_sees_lines_that_break_and_a_head_that_stays():
    spreadsheet = openpyxl.load_workbook(
        io.BytesIO(workbook.build_workbook(["key", "text"], {"de": [("k", "=1+1")]}, wide=["text"]))
    )
    page = spreadsheet["de"]
    assert page.freeze_panes == "A2"
    assert page["A1"].font.bold
    assert page["B2"].alignment.wrap_text
    assert (page["B2"].data_type, page["B2"].number_format) == ("s", "@")
    assert page.column_dimensions["B"].width > page.column_dimensions["A"].width


def test_sheets_that_a_translator_has_hidden_are_read_too():
    spreadsheet = openpyxl.load_workbook(
        io.BytesIO(workbook.build_workbook(["a"], {"x": [], "y": []}, wide=[]))
    )
    spreadsheet["x"].sheet_state = "hidden"
    target = io.BytesIO()
    spreadsheet.save(target)
    assert list(workbook.read_sheets(target.getvalue())) == ["x", "y"]
