"""Spreadsheets: any text comes back, no cell is a formula, lost columns are told."""

import csv
import datetime
import io

import openpyxl
import pytest
from hypothesis import given, settings
from localization.translator import PAIRS, report, unit, units_of

from chatkit.errors import InputError
from chatkit.localization.files import COLUMNS, encode_csv, encode_workbook, read_csv, read_workbook

RISKY = ["=1+1", "+49", "-1", "@SUM(A1)", "'=1", "\t=1", '=HYPERLINK("x")', "00491", "1E5", "TRUE"]


@settings(max_examples=25)
@given(pairs=PAIRS)
def test_any_text_comes_back_from_csv(pairs):
    sent = units_of(pairs)
    assert report(read_csv(encode_csv(sent))) == report(sent)


@settings(max_examples=25)
@given(pairs=PAIRS)
def test_any_text_comes_back_from_a_workbook(pairs):
    sent = units_of(pairs)
    assert report(read_workbook(encode_workbook(sent))) == report(sent)


def test_no_cell_of_a_csv_file_can_be_taken_for_a_formula():
    sent = units_of([(text, text) for text in RISKY])
    rows = list(csv.reader(io.StringIO(encode_csv(sent).decode("utf-8-sig"), newline="")))
    cells = [cell for row in rows for cell in row]
    assert not [cell for cell in cells if cell.strip()[:1] in ("=", "+", "-", "@")]
    assert report(read_csv(encode_csv(sent))) == report(sent)


def test_all_cells_of_a_workbook_are_text():
    sent = units_of([(text, text) for text in RISKY])
    data = encode_workbook(sent)
    workbook = openpyxl.load_workbook(io.BytesIO(data))
    cells = [cell for row in workbook.active.iter_rows() for cell in row if cell.value is not None]
    assert {(cell.data_type, cell.number_format) for cell in cells} == {("s", "@")}
    assert report(read_workbook(data)) == report(sent)


def test_the_note_and_the_limit_stand_beside_the_text():
    row = next(csv.DictReader(io.StringIO(encode_csv([unit()]).decode("utf-8-sig"))))
    assert (row["note"], row["at_most"]) == ("A note.", "60")
    assert tuple(row) == COLUMNS


def edited(data, **cells):
    workbook = openpyxl.load_workbook(io.BytesIO(data))
    for place, value in cells.items():
        workbook.active[place] = value
    target = io.BytesIO()
    workbook.save(target)
    return target.getvalue()


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("=1+1", "is a formula"),
        (2.5, "is a decimal"),
        (datetime.date(2026, 1, 2), "is a date"),
        (True, "is true or false"),
    ],
)
def test_what_a_spreadsheet_made_of_a_text_is_told(value, problem):
    result = read_workbook(edited(encode_workbook([unit()]), E2=value))
    assert problem in result[0].problem
    assert result[0].place == "sheet de, row 2"


def test_other_sheets_and_columns_are_left_alone():
    workbook = openpyxl.load_workbook(io.BytesIO(encode_workbook([unit(target="Hallo")])))
    workbook.create_sheet("my notes", 0).append(["call me"])
    workbook["de"].insert_cols(1)
    workbook["de"]["A1"] = "my remarks"
    target = io.BytesIO()
    workbook.save(target)
    assert [each.target for each in read_workbook(target.getvalue())] == ["Hallo"]


def test_a_column_that_was_taken_out_is_named():
    data = encode_csv([unit()]).replace(b'"stamp"', b'"stump"')
    with pytest.raises(InputError, match=r"row 1 lacks .* stamp; not known: 'stump' in L1"):
        read_csv(data)
    workbook = edited(encode_workbook([unit()]), D1="Quelle", E1="Übersetzung")
    message = r"sheet de, row 1 lacks .* source, translation; not known: 'Quelle' in D1, "
    with pytest.raises(InputError, match=message + "'Übersetzung' in E1"):
        read_workbook(workbook)


def test_a_row_that_is_broken_is_told_and_the_others_are_read():
    first, second = encode_csv([unit(target="Hallo"), unit(field="footer")]).splitlines()[1:]
    head = encode_csv([unit()]).splitlines()[0]
    result = read_csv(b"\n".join([head, first, b'"a"b,c', second]))
    assert [each.field for each in result if not each.problem] == ["text", "footer"]
    assert [each.place for each in result if each.problem] == ["row 3"]


def rewritten(data, change):
    workbook = openpyxl.load_workbook(io.BytesIO(data))
    change(workbook)
    target = io.BytesIO()
    workbook.save(target)
    return target.getvalue()


def rename_columns(workbook):
    for cell in workbook["fr"][1]:
        cell.value = f"nom {cell.column}"


@pytest.mark.parametrize("change", [lambda workbook: workbook["fr"].delete_rows(1), rename_columns])
def test_a_sheet_of_ours_that_lost_its_names_is_told(change):
    data = encode_workbook([unit(), unit(lang_code="fr"), unit(lang_code="fr")])
    with pytest.raises(InputError, match=r"sheet fr holds texts of export, like that in row \d, "):
        read_workbook(rewritten(data, change))


def test_a_sheet_that_cannot_be_read_is_named(capsys):
    def change(workbook):
        workbook.create_sheet("my notes").append(["call me"])
        workbook.create_sheet("empty")

    data = encode_workbook([unit(target="Hallo")])
    assert [each.target for each in read_workbook(rewritten(data, change))] == ["Hallo"]
    message = capsys.readouterr().out
    assert "Not read" in message and "sheet my notes." in message and "empty" not in message


def test_texts_that_were_sorted_above_the_names_are_read():
    data = encode_workbook([unit(target="Hallo"), unit(field="footer", target="Fuß")])

    def change(workbook):
        sheet = workbook.active
        sheet.insert_rows(1)
        for column in range(1, len(COLUMNS) + 1):
            sheet.cell(1, column).value = sheet.cell(3, column).value
        sheet.delete_rows(3)

    result = read_workbook(rewritten(data, change))
    assert [(each.place, each.target) for each in result] == [
        ("sheet de, row 1", "Hallo"),
        ("sheet de, row 3", "Fuß"),
    ]
