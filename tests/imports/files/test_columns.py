"""Rows become a frame: nothing is shifted, nothing is lost, and what is odd is said."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from chatkit.errors import InputError
from chatkit.imports.columns import FileReading, find_columns
from chatkit.imports.tables import BadCell, BrokenRow, RawTable, TableRow


def table(*cells: list[Any], **more: Any) -> RawTable:
    return RawTable("a table", [TableRow(n, row) for n, row in enumerate(cells, 1)], **more)


def sorted_out(*cells: list[Any], **wanted: Any) -> FileReading:
    return find_columns(table(*cells), wanted)


def reasons(columns: FileReading) -> list[tuple[str, str]]:
    return [(problem.field, problem.value) for problem in columns.problems]


def test_columns_of_contacts_have_their_names_and_others_keep_theirs() -> None:
    found = sorted_out(
        ["Nachname", "Ort", "Handy", "Vorname"], ["Cruz", "Ulm", "0151", " Ana "], [None, *"xyz"]
    )
    assert found.frame.to_dict("list") == {
        "name": ["Ana Cruz", "z"],
        "Ort": ["Ulm", "x"],
        "number": ["0151", "y"],
    }
    assert found.columns == {"name": ("Vorname", "Nachname"), "Ort": ("Ort",), "number": ("Handy",)}
    assert set(map(str, found.frame.dtypes)) == {"str"}


def test_the_index_is_the_row_in_the_file() -> None:
    found = sorted_out(["Phone"], [None], ["1"], [None], ["2"])
    assert found.frame.index.tolist() == [3, 5] and found.frame.index.name == "row"


def test_a_name_of_which_nothing_is_there_is_nothing() -> None:
    found = sorted_out(["First name", "Last name", "Phone"], [None, "", "1"], ["A", None, "2"])
    assert found.frame["name"].isna().tolist() == [True, False]
    assert found.frame["name"].tolist()[1] == "A"


def test_all_bad_cells_are_named_by_row_and_column_and_take_only_their_rows_out() -> None:
    found = sorted_out(
        ["Handy", "Name", "Ort", "Extra"],
        ["9.2E+11", "Ana", None, "1.5"],
        ["0151", BadCell("#N/A", "is an error"), None, None],
        [919.5, True, None, None],
        ["0152", "NA", None, 1.5],
    )
    assert reasons(found) == [
        ("row 2, Handy", "'9.2E+11'"),
        ("row 3, Name", "'#N/A'"),
        ("row 4, Handy", "'919.5'"),
        ("row 4, Name", "'True'"),
    ]
    assert found.left_out == 3
    assert found.frame.to_dict("list") == {
        "number": ["0152"],
        "name": ["NA"],
        "Ort": [pytest.approx(float("nan"), nan_ok=True)],
        "Extra": ["1.5"],
    }


def test_long_cells_are_shown_short() -> None:
    found = sorted_out(["Phone"], ["#" + "x" * 100])
    assert len(found.problems[0].value) == 60 and found.problems[0].value.endswith("…")


# --- rows that are too long or too short ----------------------------------------------------


def test_empty_cells_beyond_the_names_shift_nothing() -> None:
    found = sorted_out(["number", "name"], ["1", "Ana", None, None], ["2", "Bob", None])
    assert found.frame["number"].tolist() == ["1", "2"] and not found.problems


def test_names_that_end_in_nothing_are_not_there() -> None:
    found = sorted_out(["number", "name", None], ["1", "Ana"], ["2", "Bob", None])
    assert found.frame.columns.tolist() == ["number", "name"] and len(found.frame) == 2


def test_cells_beyond_the_names_are_refused() -> None:
    found = sorted_out(["number", "name"], ["1", "Ana", None, "x"], ["2", "Bob"])
    assert reasons(found) == [("row 2, column D", "'x'")]
    assert found.frame["name"].tolist() == ["Bob"]


def test_a_table_whose_rows_are_all_longer_than_its_names_is_refused() -> None:
    with pytest.raises(InputError, match="All rows have more cells than the 2 columns"):
        sorted_out(["number", "name"], ["0", "1", "Ana"], ["1", "2", "Bob"])


def test_rows_that_lack_cells_are_refused() -> None:
    found = sorted_out(["number", "city", "name"], ["1", "Ana"], ["2", "Ulm", "Bob"])
    assert reasons(found) == [("row 2", "'1, Ana'")]
    assert "has 2 of 3 cells" in found.problems[0].reason
    assert found.frame["name"].tolist() == ["Bob"]


def test_rows_that_could_not_even_be_cut_into_cells_are_among_the_problems() -> None:
    broken = [BrokenRow(3, '2,"x" y', "quotes")]
    found = find_columns(table(["Phone"], ["1"], broken=broken), {})
    assert reasons(found) == [("row 3", "'2,\"x\" y'")] and found.left_out == 1


def test_problems_are_in_the_order_of_the_file() -> None:
    broken = [BrokenRow(3, "x", "quotes")]
    found = find_columns(table(["Phone", "Name"], ["nan", 1.5], broken=broken), {})
    assert [field for field, _ in reasons(found)] == ["row 2, Phone", "row 2, Name", "row 3"]


# --- names of columns -----------------------------------------------------------------------


def test_a_name_or_a_code_that_is_there_twice_is_refused_until_it_is_chosen() -> None:
    cells = ["Phone", "Name", "Note", "Name", "Note"], ["1", "a", "b", "c", "d"]
    with pytest.raises(InputError, match=r"'Name' and 'Name \(column D\)' are called alike: name="):
        sorted_out(*cells)
    with pytest.raises(
        InputError, match=r"'CC' and 'CC \(column B\)' are called alike: country_code="
    ):
        sorted_out(["CC", "CC", "Phone"], ["+1", "+44", "2"])
    found = sorted_out(*cells, name=["Name (column D)"])
    assert found.frame.to_dict("list") == {
        "number": ["1"],
        "Name": ["a"],
        "Note": ["b"],
        "name": ["c"],
        "Note (column E)": ["d"],
    }


def test_a_column_without_a_name_gets_one_if_there_is_something_in_it() -> None:
    found = sorted_out([None, "Phone", None, "Name"], [None, "1", "x", "Ana"])
    assert found.frame.columns.tolist() == ["number", "column C", "name"]
    assert found.notes == ["column C has no name"]


def test_no_table_and_no_number_are_refused() -> None:
    with pytest.raises(InputError, match="The file is empty"):
        sorted_out([None], [])
    with pytest.raises(InputError, match=r"Columns: 'a', 'b'.* number='…'"):
        sorted_out(["a", "b"], ["1", "2"])


def test_a_table_without_names_is_told_from_its_first_contact() -> None:
    with pytest.raises(InputError, match="Row 1 is a contact already"):
        sorted_out(["Ana", "+1 2025550187"], ["Bob", "+1 2025550188"])


def test_ids_are_enough() -> None:
    found = sorted_out(["id", "name"], ["50001", "Ana"])
    assert found.frame.to_dict("list") == {"id": ["50001"], "name": ["Ana"]}


def test_titles_are_left_out_and_said() -> None:
    found = sorted_out(["Our people"], ["Name", "Phone"], ["Ana", "1"])
    assert found.frame["name"].tolist() == ["Ana"]
    assert found.notes == ["row 1 above the names of the columns: left out"]


# --- what a person says ---------------------------------------------------------------------


def test_a_person_says_which_columns_are_meant() -> None:
    names = ["Phone", "Kunde", "Firma", "Zone"]
    found = sorted_out(
        names,
        *[["1", "Ana", "Co", "49"]],
        number=["Zone"],
        name=["Kunde", "Firma"],
        country_code=[],
    )
    assert found.frame.to_dict("list") == {"Phone": ["1"], "name": ["Ana Co"], "number": ["49"]}


def test_names_are_found_whatever_their_capitals_and_blanks() -> None:
    found = sorted_out([" HANDY nr ", "x"], ["1", "2"], number=["handy NR"])
    assert found.frame["number"].tolist() == ["1"]


def test_a_name_that_is_not_there_is_refused_with_one_that_is() -> None:
    with pytest.raises(InputError, match="No column is called 'Handi'; did you mean 'Handy'"):
        sorted_out(["Handy"], ["1"], number=["Handi"])


def test_one_column_is_not_two_things() -> None:
    with pytest.raises(InputError, match="only one of number, country code and name"):
        sorted_out(["x"], ["1"], number=["x"], name=["x"])


def test_what_a_person_says_wins_over_what_is_found() -> None:
    found = sorted_out(["Name", "Phone"], ["1", "2"], number=["Name"])
    assert found.frame.to_dict("list") == {"number": ["1"], "Phone": ["2"]}


def test_a_table_without_numbers_is_read_when_a_person_says_so() -> None:
    found = sorted_out(["a", "name"], ["1", "2"], number=[])
    assert found.frame.columns.tolist() == ["a", "name"]


def test_a_column_that_only_has_the_name_of_another_is_kept_beside_it() -> None:
    found = sorted_out(["number", "Mobile"], ["7", "0151"])
    assert found.frame.to_dict("list") == {"number (column A)": ["7"], "number": ["0151"]}


# --- notes ----------------------------------------------------------------------------------


def test_numbers_that_are_stored_as_numbers_are_told() -> None:
    found = sorted_out(["Mobile", "Age"], [491512345678, 7], ["0151", 8], name=[])
    assert found.frame["number"].tolist() == ["491512345678", "0151"]
    assert len(found.notes) == 1 and "row 2: a zero or + in front" in found.notes[0]


def test_characters_that_nobody_sees_are_told() -> None:
    found = sorted_out(
        ["Phone", "Name", "Address"],
        ["1", "A\0na", "Way 1\nTown"],
        ["2", "Bo\nb", "�x"],
    )
    assert found.frame["name"].tolist() == ["A\0na", "Bo\nb"]
    assert [note.partition(" in ")[0] + note[-6:] for note in found.notes] == [
        "name holds a NUL character row 2",
        "name holds a line break row 3",
        "Address holds �, where a letter was lost row 3",
    ]


def test_columns_that_we_have_named_ourselves_need_no_guess() -> None:
    found = find_columns(table(["number", "X-WHATSAPP"], ["1", "2"], ours=True, titled=False), {})
    assert found.frame.to_dict("list") == {"number": ["1"], "X-WHATSAPP": ["2"]}


def test_a_table_of_no_rows_is_a_frame_of_texts() -> None:
    found = sorted_out(["number", "name"])
    assert len(found.frame) == 0 and set(map(str, found.frame.dtypes)) == {"str"}
    assert isinstance(found.frame.index, pd.Index) and found.frame.index.name == "row"
