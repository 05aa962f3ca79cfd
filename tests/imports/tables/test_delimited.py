"""CSV in any encoding, with any delimiter; what is broken is named, and nothing is shifted."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from chatkit.errors import InputError
from chatkit.imports.headings import count_column_names
from chatkit.imports.tables import RawTable, TableRow, guarded
from chatkit.imports.tables.delimited import decode_text, read_delimited

PEOPLE = "Name;Handy\nZoë Müller;0151\nŽofie;+420\n"


def table(text: str, delimiter: str | None = None) -> RawTable:
    return read_delimited(text, "UTF-8", delimiter, count_column_names, [])


def cells(text: str, delimiter: str | None = None) -> list[list[str | None]]:
    return [list(row.cells) for row in table(text, delimiter).rows]


# --- encodings ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", "UTF-8"),
        ("utf-8-sig", "UTF-8"),
        ("utf-16", "UTF-16-LE"),
        ("utf-16-le", "UTF-16-LE"),
        ("utf-16-be", "UTF-16-BE"),
        ("utf-32", "UTF-32-LE"),
    ],
)
def test_unicode_is_told_with_and_without_its_mark(encoding: str, said: str) -> None:
    assert decode_text(PEOPLE.encode(encoding)) == (PEOPLE, said, [])


def test_the_mark_of_utf_16_be_is_known() -> None:
    assert decode_text(b"\xfe\xff" + PEOPLE.encode("utf-16-be")) == (PEOPLE, "UTF-16-BE", [])


def test_utf_8_with_a_broken_letter_is_not_taken_for_something_else() -> None:
    data = "Name\nZoë\nMüller\nJosé\nŽofie".encode().replace(b"\xc3\xbc", b"\xc3")
    with pytest.raises(InputError, match="line 3 holds the byte 0xc3"):
        decode_text(data)


def test_who_knows_the_encoding_says_it() -> None:
    assert decode_text("Имя\nОльга".encode("cp1251"), "cp1251")[0] == "Имя\nОльга"
    with pytest.raises(InputError, match="not ascii text: line 1"):
        decode_text(b"\xff", "ascii")
    with pytest.raises(InputError, match="no encoding 'klingon'"):
        decode_text(b"x", "klingon")


def test_half_a_character_is_refused() -> None:
    with pytest.raises(InputError, match="Line 2 holds half a character"):
        decode_text("Name\n\ud83d")


@given(st.text(st.characters(codec="utf-8")), st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]))
def test_a_mark_is_enough(text: str, encoding: str) -> None:
    assume(not text.startswith(("\ufeff", "\0")))  # UTF-16 and a NUL are the mark of UTF-32
    assert decode_text(text.encode(encoding))[0] == text


# --- delimiters -----------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^", "~", "\x1f"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    rows = [["Name", "Phone", "Note"], ["Cruz, Ana; Dr.", "+1 202|5", "a\tb"], ["Bob", "1", ""]]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    assert cells(text.getvalue()) == [[cell or None for cell in row] for row in rows]


def test_decimal_commas_do_not_make_columns() -> None:
    assert cells("Name;Phone;Sum\nAna;1;2,50\nBob;2;3,75\n")[1] == ["Ana", "1", "2,50"]


def test_names_of_columns_weigh_more_than_even_rows() -> None:
    text = "Kundenliste\nName;Telefon\nCruz, Ana;1\nDiaz, Bo;2\nEde, Cy;3\n"
    assert cells(text)[1] == ["Name", "Telefon"]


@pytest.mark.parametrize("blank", [" ", "   "])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_quotes_behind_a_blank_hold_a_cell(delimiter: str, blank: str) -> None:
    between = delimiter + blank
    lines = [["Name", "Phone"], [f'"Cruz{delimiter} Ana"', "1"], ["2", '"Dr. ""Bo"" Ede"']]
    text = "".join(f"{between.join(line)}\n" for line in lines)
    assert cells(text) == [["Name", "Phone"], [f"Cruz{delimiter} Ana", "1"], ["2", 'Dr. "Bo" Ede']]
    assert cells(f'Phone{between}Name\n1{between}"Cruz{delimiter} Ana"\n')[1][1].endswith("Ana")


def test_blanks_stay_where_no_quotes_follow() -> None:
    assert cells('Phone, Name\n1, Ana\n2,say "x"\n')[:2] == [["Phone", " Name"], ["1", " Ana"]]


def test_a_blank_behind_quotes_is_named() -> None:
    found = table('Phone,Name\n1, "Cruz, Ana" ,x\n2, "Bo"\n')
    assert [row.number for row in found.broken] == [2]
    assert "not doubled" in found.broken[0].reason


def test_one_column_needs_no_delimiter() -> None:
    assert cells("Phone\n+1 202\n+1 203\n") == [["Phone"], ["+1 202"], ["+1 203"]]


def test_who_knows_the_delimiter_says_it() -> None:
    assert cells("a:b\n1:2\n", ":") == [["a", "b"], ["1", "2"]]
    with pytest.raises(InputError, match="A delimiter is one character, like ';', not '::'"):
        table("a::b", "::")


def test_the_line_that_names_the_delimiter_is_obeyed_and_counted() -> None:
    found = table("sep=;\r\na,b;c\r\n1;2\r\n")
    assert found.rows == [TableRow(2, ["a,b", "c"]), TableRow(3, ["1", "2"])]


# --- rows -----------------------------------------------------------------------------------


def test_empty_lines_are_left_out_and_still_counted() -> None:
    assert table("a,b\n\n1,2\n\n\n3,4").rows == [
        TableRow(1, ["a", "b"]),
        TableRow(3, ["1", "2"]),
        TableRow(6, ["3", "4"]),
    ]


def test_a_cell_with_lines_is_one_row() -> None:
    found = table('a,b\n"x\r\ny",1\nz,2\n').rows
    assert found == [TableRow(1, ["a", "b"]), TableRow(2, ["x\r\ny", "1"]), TableRow(3, ["z", "2"])]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_they_like(end: str) -> None:
    assert cells(end.join(["a,b", "1,2", ""])) == [["a", "b"], ["1", "2"]]


def test_an_empty_cell_is_nothing_quoted_or_not() -> None:
    assert cells('a,b,c\n1,,""\n')[1] == ["1", None, None]


def test_what_excel_forces_to_be_text_is_that_text() -> None:
    assert cells('a,b\n="0049","=""007"""\n=1+1,x\n')[1:] == [["0049", "007"], ["=1+1", "x"]]


@pytest.mark.parametrize(
    ("text", "broken", "good"),
    [
        (
            'a,b\n1,"Ana" Cruz\n2,Bob\n',
            (2, '1,"Ana" Cruz', "not doubled"),
            [TableRow(3, ["2", "Bob"])],
        ),
        (
            'a,b\n1,x\n2,"Bob\n3,y\n',
            (3, '2,"Bob\n3,y', "never ends, so 2"),
            [TableRow(2, ["1", "x"])],
        ),
        (
            'a,b\n1,"x\n2,"y",z\n3,w\n',
            (2, '1,"x\n2,"y",z', "so 2 lines"),
            [TableRow(4, ["3", "w"])],
        ),
    ],
)
def test_quotes_that_do_not_match_break_their_row_only(
    text: str, broken: tuple[int, str, str], good: list[TableRow]
) -> None:
    found = table(text, ",")
    ((number, line, reason),) = found.broken
    assert (number, line) == broken[:2] and broken[2] in reason
    assert found.rows[1:] == good


def test_a_cell_without_end_is_refused_before_it_fills_the_memory() -> None:
    found = table(f"a,b\n1,{'x' * 200_000}\n2,y\n")
    assert "longer than any name" in found.broken[0].reason
    assert found.rows[1:] == [TableRow(3, ["2", "y"])]


ROWS = st.lists(
    st.lists(st.text(st.characters(codec="utf-8")) | st.none(), min_size=2, max_size=2), max_size=5
)


@given(ROWS, st.sampled_from(",;\t|"), st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
@example([["\0", "\r"]], ",", csv.QUOTE_ALL)
def test_what_any_writer_has_written_is_read(
    rows: list[list[str | None]], delimiter: str, quoting: int
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting)  # type: ignore[arg-type]
    writer.writerow(["name", "number"])
    writer.writerows([None if cell is None else guarded(cell) for cell in row] for row in rows)
    assert cells(text.getvalue(), delimiter)[1:] == rows
