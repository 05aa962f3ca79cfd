"""The columns that mean something are chosen by all headings, in many languages, and by content.

`cases/headings.csv` has a table in each line: its headings and rows (`//` between rows, `|` between
cells, `#` for a telephone number), the columns that became number, country code and name, the
place of the column that the number of the last row is from (`-` for none), and the notes. A line
without a number is refused, with the note as the message.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from pathlib import Path

import pytest

from chatkit.errors import InputError
from chatkit.imports import columns, read_contact_file
from chatkit.imports.columns import (
    FIELDS,
    count_known_headings,
    is_data_row,
    parse_heading,
)
from chatkit.imports.tables import TableRow

with (Path(__file__).parent / "cases/headings.csv").open(encoding="utf-8", newline="") as file:
    CASES = list(csv.DictReader(file, delimiter=";"))

NO_NAME = "no column of names was recognised: name='…' names it"


def rows_of(case: dict[str, str]) -> list[list[str]]:
    rows = [row.strip().split("|") for row in case["rows"].split("//")]
    numbers = [f"+44 7911 12345{place}" for place in range(10)]
    return [
        [cell if cell == "#1001" else cell.replace("#", numbers[n]) for n, cell in enumerate(row)]
        for row in rows
    ]


@pytest.mark.parametrize("case", CASES, ids=[case["headings"] for case in CASES])
def test_the_columns_that_mean_something_are_chosen(case: dict[str, str]) -> None:
    rows = [case["headings"].split("|"), *rows_of(case)]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";").writerows(rows)
    if not case["number"]:
        with pytest.raises(InputError) as caught:
            read_contact_file(text.getvalue(), {}, delimiter=";")
        assert case["note"] in str(caught.value)
        return
    reading = read_contact_file(text.getvalue(), {}, delimiter=";")
    chosen = {field: " + ".join(of) for field, of in reading.columns.items()}
    assert {field: chosen.get(field, "") for field in FIELDS} == {
        field: case[field] for field in FIELDS
    }
    taken = [] if case["taken"] == "-" else [rows[-1][int(case["taken"]) - 1]]
    assert reading.frame["number"].iloc[-1:].dropna().tolist() == taken
    assert (NO_NAME in reading.notes) is not bool(case["name"])
    assert " / ".join(note for note in reading.notes if note != NO_NAME) == case["note"]


def test_each_phrase_has_one_role() -> None:
    roles = defaultdict(set)
    for phrase, role in columns.read_heading_phrases():
        roles[phrase].add(role)
    assert "" not in roles
    assert not {phrase: of for phrase, of in roles.items() if len(of) > 1}


@pytest.mark.parametrize("word", ["fax", "telefax", "pager", "传真", "팩스", "факс", "فاكس"])
def test_what_takes_no_messages_is_never_the_number(word: str) -> None:
    for other in ("", "phone", "mobile", "whatsapp", "number", "home", "work"):
        for heading in (f"{word} {other}", f"{other} {word}", f"{word}{other}"):
            assert parse_heading(heading).rank_number() is None


@pytest.mark.parametrize(
    "name",
    [
        *("wa_phone_id", "Telephone status", "Street", "E-mail", "Area code", "", "numbers"),
        *("Kundennummer", "Order number", "Telex", "Cellar", "Saphone", "Ext. number", "Hotel"),
        *("Casino", "Telefonvorwahl", "meta_name", "Steuernummer", "Hausnummer"),
    ],
)
def test_what_is_no_telephone_number_is_not_taken_for_one(name: str) -> None:
    assert parse_heading(name).rank_number() is None


# --- which row names the columns ------------------------------------------------------------


def test_what_looks_like_data() -> None:
    assert is_data_row(TableRow(1, ["Ana", "+49 (171) 234-567"]))
    assert is_data_row(TableRow(1, ["Ana", 491712345678]))
    assert not is_data_row(TableRow(1, ["Name", "Phone 1 - Value", None, "2026"]))


def test_data_has_few_words_that_name_columns() -> None:
    assert count_known_headings(["Name", "Handy", "Notiz", None, 3]) == 2
    assert count_known_headings(["Ana", "+49 171", "NA", "x" * 100]) == 0


@pytest.mark.parametrize("text", ["handy" * 50_000, "x" * 300_000, "a " * 150_000])
def test_a_heading_of_any_length_is_read(text):
    assert "mobile" not in columns.parse_heading(text).roles
