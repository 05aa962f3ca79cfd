"""CSV in any encoding, with any delimiter; what is broken is named, and nothing is shifted."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from chatkit.errors import InputError
from chatkit.imports.columns import count_known_headings
from chatkit.imports.tables import RawTable, TableRow, guard_cell
from chatkit.imports.tables.delimited import decode_text, read_delimited

CONTACTS = "Name;Handy\nZoë Müller;0151\nŽofie;+420\n"


def table(text: str, delimiter: str | None = None) -> RawTable:
    return read_delimited(text, "UTF-8", delimiter, count_known_headings, [])


def cells(text: str, delimiter: str | None = None) -> list[list[str | None]]:
    return [list(row.cells) for row in table(text, delimiter).rows]


# --- encodings ------------------------------------------------------------------------------


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


# --- delimiters and rows ----------------------------------------------------------------------

#: Texts, what stands between their cells, and the rows with their numbers; what is broken, and why.
CASES = json.loads((Path(__file__).parent / "cases/delimited.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["kind"])
def test_a_text_is_read_row_for_row(case: dict[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(InputError) as caught:
            table(case["text"], case["delimiter"])
        assert str(caught.value) == case["error"]
        return
    result = table(case["text"], case.get("delimiter"))
    assert (result.kind, [[n, *cells] for n, cells in result.rows]) == (case["as"], case["rows"])
    assert list(map(list, result.broken)) == case.get("broken", [])


def test_a_cell_without_end_is_refused_before_it_fills_the_memory() -> None:
    result = table(f"a,b\n1,{'x' * 200_000}\n2,y\n")
    assert "longer than any name" in result.broken[0].reason
    assert result.rows[1:] == [TableRow(3, ["2", "y"])]


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
    writer.writerows([None if cell is None else guard_cell(cell) for cell in row] for row in rows)
    assert cells(text.getvalue(), delimiter)[1:] == rows
