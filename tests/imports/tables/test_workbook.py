"""XLSX is read as a person sees it, and written so that no cell is a formula."""

from __future__ import annotations

import datetime as dt
import io
import re
import tomllib
import tracemalloc
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.errors import InputError
from chatkit.imports.tables import BadCell, RawTable, TableRow, workbook
from chatkit.imports.tables.workbook import build_workbook
from chatkit.imports.tables.workbook import read_sheet as read

FORMATS = tomllib.loads((Path(__file__).parent / "cases/number_formats.toml").read_text("utf-8"))
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)


def xlsx(*rows: Sequence[Any], **formats: str) -> bytes:
    """Make a workbook as Excel would; `B2="0000"` gives a cell a format."""
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    for place, form in formats.items():
        made.active[place].number_format = form
    return saved(made)


def contacts_xlsx(columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> bytes:
    """Write a workbook of one sheet, as contacts are written."""
    return build_workbook(columns, {"Contacts": rows})


def saved(made: Any) -> bytes:
    target = io.BytesIO()
    made.save(target)
    return target.getvalue()


def cells(data: bytes) -> list[Any]:
    """Read the cells of the first column."""
    return [row.cells[0] for row in read(data, None).rows]


def edited(data: bytes, part: str, old: str, new: str) -> bytes:
    """Change a part of a workbook, which openpyxl would not write so."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(target, "w") as after:
        for name in before.namelist():
            # openpyxl writes it with lxml where that is installed
            text = before.read(name).decode().replace("<v></v>", "<v />").replace("<v/>", "<v />")
            assert name != part or old in text
            after.writestr(name, text.replace(old, new) if name == part else text)
    return target.getvalue()


# --- reading --------------------------------------------------------------------------------


DAY, INSTANT = dt.date(2026, 5, 1), dt.datetime(2026, 5, 1, 3, 4)
TEXTS_AS_THEY_ARE = ["+91", "0091", "NA", "None", " x ", "1E5", "a\nb", "'t Hart", "é" * 32767]
#: Cells as a file holds them, and as they are read.
READ = [
    *((text, text) for text in TEXTS_AS_THEY_ARE),
    *((value, value) for value in (True, 1.5, DAY, INSTANT)),
    *((error, BadCell(error, "is an error in the spreadsheet")) for error in ("#N/A", "#REF!")),
    *(("a_x000D_b", "a\rb"), ("_x0041_", "A"), ("_xD83D_", "_xD83D_"), ("_x00GG_", "_x00GG_")),
    ("'+91", "+91"),  # what a CSV file brought
]


def test_cells_are_read_as_a_person_sees_them() -> None:
    result = cells(xlsx(*[[written] for written, _ in READ]))
    assert [(type(cell), cell) for cell in result] == [(type(cell), cell) for _, cell in READ]
    made = openpyxl.load_workbook(io.BytesIO(xlsx(["a", None, "", "b"], [], [None, "c"])))
    made.active["XFD1"].number_format = "@"  # a style beyond the table
    assert read(saved(made), None).rows == [
        TableRow(1, ["a", None, None, "b"]),
        TableRow(3, [None, "c", None, None]),
    ]


@pytest.mark.parametrize(("value", "form", "output"), FORMATS["shown"])
def test_a_whole_number_is_read_as_its_format_shows_it(value: int, form: str, output: Any) -> None:
    table = read(xlsx([value], A1=form), None)
    assert (table.rows[0].cells, table.notes) == ([output], [])


@pytest.mark.parametrize(("value", "form"), FORMATS["unknown"])
def test_a_format_that_is_not_understood_is_noted(value: int, form: str) -> None:
    table = read(xlsx(["x"], [value], A2=form), None)
    assert table.rows[1].cells == [value]
    assert table.notes == [
        f"the number format {form} in row 2 is not understood: the digits are read without it"
    ]


@pytest.mark.parametrize(("value", "form"), FORMATS["refused"])
def test_digits_that_a_format_hides_are_refused(value: int, form: str) -> None:
    (cell,) = cells(xlsx([value], A1=form))
    assert isinstance(cell, BadCell) and "with an exponent" in cell.reason


def test_a_number_with_an_exponent_in_the_file_is_a_float() -> None:
    data = xlsx([919876543210])
    exponent = edited(data, "xl/worksheets/sheet1.xml", "919876543210", "9.1987654321E11")
    assert cells(exponent) == [919876543210.0] and isinstance(cells(exponent)[0], float)


def test_formulas_are_their_results_and_odd_without_them() -> None:
    data = xlsx(["=1+1"], ['="Ana"'], ["text"])
    part = "xl/worksheets/sheet1.xml"
    known = edited(data, part, "<f>1+1</f><v />", "<f>1+1</f><v>2</v>")
    first, second, third = cells(known)
    assert first == 2 and third == "text"
    assert second == BadCell('="Ana"', second.reason) and "whose result is not in the file" in (
        second.reason
    )


def test_a_size_that_is_not_true_is_not_believed() -> None:
    data = xlsx(["Name"], ["Ana"], ["Bob"])
    wrong = edited(data, "xl/worksheets/sheet1.xml", 'ref="A1:A3"', 'ref="A1"')
    assert cells(wrong) == ["Name", "Ana", "Bob"]


def test_the_first_sheet_that_is_not_hidden_is_read_and_the_others_are_told() -> None:
    made = openpyxl.Workbook()
    made.active.sheet_state = "hidden"
    made.create_sheet("People").append(["x"])
    made.create_sheet("Old").append(["y"])
    data = saved(made)
    outcome = read(data, None)
    assert outcome.kind == "XLSX, sheet People" and outcome.rows == [TableRow(1, ["x"])]
    assert outcome.notes == [
        "not read: the sheets 'Old' (sheet=)",
        "not read: the hidden sheets 'Sheet' (sheet=)",
    ]
    assert read(data, "Old").rows == [TableRow(1, ["y"])] and not read(data, "Sheet").rows
    with pytest.raises(InputError, match=r"no sheet 'Odl'\. The sheets are: 'People', 'Old'"):
        read(data, "Odl")


def test_a_sheet_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "_MOST_CELLS", 100)
    made = openpyxl.Workbook()
    made.active["A3"] = made.active["CV1"] = "x"
    with pytest.raises(InputError, match="too wide: clear what stands in column CV"):
        read(saved(made), None)
    monkeypatch.setattr(workbook, "_MOST_BYTES", 100)
    with pytest.raises(InputError, match="Unpacked"):
        read(saved(made), None)


def with_part(name: str, content: Iterable[bytes], data: bytes | None = None) -> bytes:
    """Put a part into a workbook, in place of the one that has its name."""
    target = io.BytesIO()
    before = zipfile.ZipFile(io.BytesIO(data or xlsx(["Name"])))
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as after:
        for part in before.namelist():
            if part != name:
                after.writestr(part, before.read(part))
        with after.open(name, "w") as file:
            for chunk in content:
                file.write(chunk)
    return target.getvalue()


SHEET = "xl/worksheets/sheet1.xml"
MAIN = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
MEGABYTE = b"x" * 2**20


def sheet_of(*chunks: bytes, count: int = 1) -> Iterator[bytes]:
    """Make a sheet of one row; the second of three parts of it stands there many times."""
    before, repeated, after = chunks
    yield b"<worksheet %s><sheetData><row>" % MAIN + before
    for _ in range(count):
        yield repeated
    yield after + b"</row></sheetData></worksheet>"


INLINE = b'<c r="A1" t="inlineStr"><is><t>'
SHARED = "xl/sharedStrings.xml"
BOMBS = {
    "a long shared text": [b"<sst %s><si><t>" % MAIN, *[MEGABYTE] * 40, b"</t></si></sst>"],
    "a long text": sheet_of(INLINE, MEGABYTE, b"</t></is></c>", count=40),
    "many runs in one cell": sheet_of(
        b'<c r="A1" t="inlineStr"><is>', b"<r><t>abc</t></r>" * 4000, b"</is></c>", count=80
    ),
    "a long attribute": sheet_of(b'<c r="', MEGABYTE, b'"/>', count=40),
    "a long comment": sheet_of(b"<!-- ", b"<" * 2**20, b" --><c/>", count=40),
    "a row of many cells": sheet_of(b"", b"<c><v>%s</v></c>" % (b"1" * 999) * 100, b"", count=200),
    "an element in an element": sheet_of(b"", b"<c>" * 4000, b"", count=100),
    "a row of more cells than columns": sheet_of(b"", b"<c/>" * 4000, b"", count=5),
    "a row far away": [b'<worksheet %s><sheetData><row r="99999999999"/>' % MAIN],
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_refused_before_it_takes_memory(kind: str) -> None:
    data = with_part(SHARED if "shared" in kind else SHEET, BOMBS[kind])
    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            read(data, None)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**24


def test_hidden_rows_and_columns_are_named_and_can_be_left_out() -> None:
    made = openpyxl.Workbook()
    for row in (["Name", "Mobile", "Note"], *([f"Ann {n}", f"+4479{n}", "x"] for n in range(8))):
        made.active.append(row)
    for number in (3, 4, 9, 20):
        made.active.row_dimensions[number].hidden = True
    made.active.column_dimensions["C"].hidden = True
    table, visible = read(saved(made), None), read(saved(made), None, hidden=False)
    assert [row.number for row in table.rows] == [*range(1, 10)]
    assert table.notes == [
        "3 rows hidden (rows 3, 4, 9): read; leave them out with read_contacts(path, hidden=False)",
        "1 column hidden (C): read; leave it out with read_contacts(path, hidden=False)",
    ]
    assert [row.number for row in visible.rows] == [1, 2, 5, 6, 7, 8]
    assert {tuple(row.cells[2:]) for row in visible.rows} == {(None,)}
    assert visible.notes == [
        "3 rows hidden (rows 3, 4, 9): left out",
        "1 column hidden (C): left out",
    ]
    flat = edited(saved(made), "xl/worksheets/sheet1.xml", '<row r="2"', '<row r="2" ht="0"')
    assert read(flat, None).notes[0].startswith("4 rows hidden (rows 2, 3, 4, 9)")
    made.active.auto_filter.ref = "A1:C9"
    made.active.auto_filter.add_filter_column(1, ["x"])
    assert read(saved(made), None).notes[0].startswith("3 rows hidden by a filter (rows 3, 4, 9)")


@given(st.data())
@settings(max_examples=volume(20, 500))
def test_a_broken_file_is_refused_and_nothing_else(data: st.DataObject) -> None:
    good = contacts_xlsx(["number", "name"], [("1", "=x"), (None, "\0")])
    with zipfile.ZipFile(io.BytesIO(good)) as parts:
        names = parts.namelist()
    part = data.draw(st.sampled_from(names))
    with zipfile.ZipFile(io.BytesIO(good)) as parts:
        size = len(parts.read(part))
    start = data.draw(st.integers(0, size))
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good)) as before, zipfile.ZipFile(target, "w") as after:
        for name in names:
            content = before.read(name)
            new = data.draw(st.binary(max_size=4))
            cut = content[:start] + new + content[start + data.draw(st.integers(0, 9)) :]
            after.writestr(name, cut if name == part else content)
    try:
        outcome = read(target.getvalue(), None)
    except InputError:
        return
    assert isinstance(outcome, RawTable)


def test_no_workbook_at_all_is_refused() -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as parts:
        parts.writestr("content.xml", "<office/>")
    for data in (target.getvalue(), b"PK\x03\x04 and no more", b""):
        with pytest.raises(InputError, match="not a readable XLSX file"):
            read(data, None)


# --- writing --------------------------------------------------------------------------------


def rows(data: bytes) -> list[list[Any]]:
    return [list(row.cells) for row in read(data, None).rows]


@given(st.lists(st.tuples(TEXTS | st.none(), TEXTS | st.none()), max_size=4))
@example([("_x000D_", "_x005F_x000D_"), ("\ufffe\uffff", "\r\n\0\x1f"), ("", "'"), (" a ", "'=")])
@example([("=1+1", "{=1+1}"), ("#N/A", "TRUE"), ("+91", "\t"), ("1E5", "http://example.org")])
@settings(max_examples=volume(24, 600), deadline=None)
def test_what_was_written_is_read(table: list[tuple[str | None, str | None]]) -> None:
    outcome = rows(contacts_xlsx(["a", "b"], table))
    assert outcome[0] == ["a", "b"]
    expected = [list(row) for row in table]
    assert [row for row in outcome[1:] if any(c is not None for c in row)] == [
        row for row in expected if any(c is not None for c in row)
    ]


@pytest.mark.parametrize(
    "text", ["=1+1", "+91", "-1", "@x", "\t=1", "\r=1", "\0=1", "{=1}", "=cmd|'/c calc'!A0", "#N/A"]
)
def test_every_cell_is_text_and_none_is_a_formula(text: str) -> None:
    data = contacts_xlsx(["name", "=header"], [(text, "x")])
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        xml = parts.read("xl/worksheets/sheet1.xml").decode()
    assert not re.search(r"<f[ >/]", xml) and set(re.findall(r' t="(\w+)"', xml)) == {"inlineStr"}
    for row in openpyxl.load_workbook(io.BytesIO(data)).active.iter_rows():
        assert [(cell.data_type, cell.number_format) for cell in row] == [("s", "@")] * 2


def test_cells_that_are_too_long_are_refused_before_a_program_cuts_them() -> None:
    fits = contacts_xlsx(["a"], [("x" * 32767,)])
    assert len(rows(fits)[1][0]) == 32767
    with pytest.raises(InputError) as caught:
        contacts_xlsx(["a", "b"], [("x" * 32768, "ok"), ("ok", "😀" * 16384), ("\r" * 5000, "")])
    assert [problem.field for problem in caught.value.problems] == [
        "Contacts, row 2, a",
        "Contacts, row 3, b",
        "Contacts, row 4, a",
    ]


def test_more_rows_or_columns_than_a_sheet_has_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workbook, "MOST_ROWS", 3)
    assert len(rows(contacts_xlsx(["a"], [("1",), ("2",)]))) == 3
    with pytest.raises(InputError, match="at most 2 rows below the names"):
        contacts_xlsx(["a"], [("1",), ("2",), ("3",)])
    with pytest.raises(InputError, match="16,384 columns"):
        contacts_xlsx(["a"] * 16385, [])
