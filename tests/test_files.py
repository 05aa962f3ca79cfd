"""A messy spreadsheet comes in whole: no digit, no name and no row is changed in silence."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from volume import volume

import chatkit
from chatkit import imports as files
from chatkit.client import Client
from chatkit.errors import InputError
from chatkit.imports.tables.delimited import write_csv
from chatkit.imports.tables.workbook import write_xlsx

BOTH = pytest.mark.parametrize("write", [write_csv, write_xlsx])
TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
NAUGHTY = [
    *("=1+1", "+91", "-1", "@x", "\tx", "\r", "\0", "", "'", "NA", "None", "null", "nan", "1E5")
]
CELL = TEXT | st.sampled_from(NAUGHTY) | st.none()


def round_trip(write: Any, frame: pd.DataFrame, **how: Any) -> pd.DataFrame:
    target = io.BytesIO()
    write(frame, target)
    return chatkit.read_contacts(target.getvalue(), **how).reset_index(drop=True)


def texts(**columns: list[str | None]) -> pd.DataFrame:
    return pd.DataFrame(columns, dtype="str")


# --- round trips ----------------------------------------------------------------------------


@BOTH
@given(st.data())
@settings(max_examples=volume(24, 600), deadline=None)
def test_what_went_out_comes_back_in(write: Any, data: st.DataObject) -> None:
    size = data.draw(st.integers(0, 4))
    row = [
        data.draw(st.lists(cells, min_size=size, max_size=size))
        for cells in (st.from_regex(r"[+]?[0-9]{1,15}", fullmatch=True), CELL, CELL, CELL)
    ]
    frame = texts(number=row[0], name=row[1], country_code=[None] * size, note=row[2], tags=row[3])
    pd.testing.assert_frame_equal(round_trip(write, frame), frame)


@BOTH
@given(names=st.lists(TEXT | st.sampled_from(NAUGHTY), min_size=1, max_size=4, unique=True))
@example(names=["", "\0"])
@example(names=["=1", "'=1", "''=1"])
@settings(max_examples=volume(16, 400), deadline=None)
def test_columns_of_any_name_come_back(write: Any, names: list[str]) -> None:
    frame = pd.DataFrame([["x"] * len(names)], columns=names, dtype="str")
    result = round_trip(write, frame, number="", country_code="", name="")
    assert result.columns.tolist() == names


@BOTH
def test_naughty_strings_come_back(write: Any, shared: Path) -> None:
    strings = json.loads((shared / "corpora/blns/blns.json").read_text(encoding="utf-8"))
    assert len(strings) > 500
    frame = texts(number=["1"] * len(strings), name=strings, note=strings[::-1])
    pd.testing.assert_frame_equal(round_trip(write, frame), frame)


@BOTH
def test_telephone_numbers_come_back_digit_for_digit(write: Any, shared: Path) -> None:
    numbers = pd.read_csv(
        shared / "corpora/phone/example_numbers.csv", dtype="str", keep_default_na=False
    )
    for form in ("national", "e164", "international", "national_format"):
        frame = texts(number=numbers[form].tolist(), country_code=numbers["country_code"].tolist())
        pd.testing.assert_frame_equal(round_trip(write, frame), frame)


@BOTH
def test_what_people_type_as_numbers_is_left_or_refused_never_changed(
    write: Any, shared: Path
) -> None:
    inputs = json.loads((shared / "corpora/phone/parse_inputs.json").read_text(encoding="utf-8"))
    numbers = [str(each["input"]) for each in inputs]
    result = round_trip(
        write,
        texts(number=numbers, place=list(map(str, range(len(numbers))))),
        skip_invalid=True,
    )
    kept = {
        numbers[int(place)] == number
        for place, number in zip(result["place"], result["number"], strict=True)
    }
    assert kept == {True} and len(result) > 0.95 * len(numbers)


# --- whole suites ---------------------------------------------------------------------------


def test_csv_spectrum(shared: Path) -> None:
    folder = shared / "corpora/csv-spectrum"
    files = sorted((folder / "csvs").glob("*.csv"))
    assert len(files) == 12
    for file in files:
        expected = json.loads((folder / "json" / f"{file.stem}.json").read_text(encoding="utf-8"))
        if file.stem == "location_coordinates":  # its JSON is of another number
            expected = [expected | {"Contact Phone Number": "2095257564"}]
        text = file.read_bytes().decode()
        result, *others = [
            chatkit.read_contacts(source, number="", name="", country_code="")
            for source in (file, text.encode("utf-8-sig"), text.encode("utf-16"), text)
        ]
        for other in others:
            pd.testing.assert_frame_equal(other, result)
        rows = result.astype(object).where(result.notna(), "").to_dict("records")
        desired = [
            {name: value.replace("\r\n", "\n") for name, value in row.items()} for row in expected
        ]
        assert [{n: v.replace("\r\n", "\n") for n, v in row.items()} for row in rows] == desired, (
            file
        )


# --- the traps of spreadsheets (what pandas makes of them by itself) ---------------------------


def test_numbers_that_pandas_has_made_floats(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pd.DataFrame({"number": [919876543210, None], "name": ["Ana", "Bob"]}).to_parquet(path)
    with pytest.raises(InputError, match="row 1, number = '919876543210': is a decimal"):
        chatkit.read_contacts(path)


@given(st.lists(st.lists(st.sampled_from(["x", "", "9", "a b"]), max_size=4), max_size=6))
def test_each_row_is_read_cell_for_cell_or_refused(lines: list[list[str]]) -> None:
    text = "number,name,city\n" + "\n".join(",".join(["1", *line]) for line in lines)
    rows = {number: ["1", *line] for number, line in enumerate(lines, 2)}
    unusual = [n for n, cells in rows.items() if len(cells) < 3 or any(cells[3:])]
    if len(lines) > 1 and all(any(cells[3:]) for cells in rows.values()):
        with pytest.raises(InputError, match="All rows have more cells"):
            chatkit.read_contacts(text)
        return
    result = chatkit.read_contacts(text, skip_invalid=True)
    read = {number: list(row) for number, row in result.fillna("").iterrows()}
    assert read == {number: cells[:3] for number, cells in rows.items() if number not in unusual}
    if unusual:
        with pytest.raises(InputError) as caught:
            chatkit.read_contacts(text)
        assert [int(p.field.split()[1].rstrip(",")) for p in caught.value.problems] == unusual


@given(st.lists(st.text(alphabet='"a\n', max_size=5), min_size=2, max_size=4))
@example(['"', '"'])
@example(['"a', 'a"'])
def test_wherever_quotes_are_missing_each_contact_is_read_or_refused(names: list[str]) -> None:
    numbers = [f"55501{n}" for n in range(len(names))]
    lines = [f"{number},{name},x" for number, name in zip(numbers, names, strict=True)]
    text = "\n".join(["number,name,city", *lines])
    result = files.read_contact_file(text, {}, delimiter=",")
    problems = " ".join(problem.value for problem in result.problems)
    cells = " ".join(result.frame.fillna("").to_numpy().ravel())
    assert not [number for number in numbers if number not in problems + cells]


# --- what a person sees ---------------------------------------------------------------------


def test_it_is_shown_what_became_of_the_columns(capsys: pytest.CaptureFixture[str]) -> None:
    result = chatkit.read_contacts("Vorname;Name;Handy;Ort\nAna;Cruz;0151;Ulm\n")
    output = capsys.readouterr().out
    assert output.splitlines() == [
        "the pasted table: 1 row (semicolons)",
        "  Vorname + Name → name",
        "  Handy          → number",
        "  kept as they are: Ort",
    ]
    assert result.attrs["chatkit"]["read"] == output.rstrip("\n")


def test_rows_that_are_refused_or_left_out_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="skip_invalid=True"):
        chatkit.read_contacts("Handy\n1.5\n2\n")
    assert "Handy → number" in capsys.readouterr().out
    result = chatkit.read_contacts("Handy\n1.5\n2\n", skip_invalid=True)
    assert result["number"].to_dict() == {3: "2"}
    assert "left out: 1 row\n    row 2, Handy = '1.5'" in capsys.readouterr().out


# --- with an account ------------------------------------------------------------------------


@pytest.fixture
def client() -> Any:
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        yield client


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_an_exported_frame_plans_nothing_when_it_comes_back(
    client: Client, tmp_path: Path, ending: str
) -> None:
    contacts = client.contacts.frame()
    path = tmp_path / f"contacts.{ending}"
    getattr(contacts.chatkit, f"to_{ending}")(path)
    result = chatkit.read_contacts(path)
    assert result.columns.tolist() == ["id", *contacts.columns]
    plan = client.contacts.plan(result)
    assert plan.counts == {"create": 0, "update": 0, "delete": 0}
    assert not len(client.contacts.plan(result.drop(columns="tags")).refused)


def test_an_edit_in_a_spreadsheet_is_a_plan(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "contacts.xlsx"
    contacts = client.contacts.frame()
    contacts.chatkit.to_xlsx(path)
    workbook = openpyxl.load_workbook(path)
    names = [cell.value for cell in workbook.active[1]]
    workbook.active.cell(3, names.index("name") + 1).value = "Žofie Nová"
    workbook.active.append([None, "New", *[None] * 4, "2025550187", "+1"])
    workbook.save(path)
    plan = client.contacts.plan(chatkit.read_contacts(path).drop(columns="tags"))
    assert [(change.kind, change.row) for change in plan.changes] == [
        ("update", 3),
        ("create", 252),
    ]
    assert plan.changes[0].after == {"name": "Žofie Nová"}
    assert plan.changes[1].after == {"number": "2025550187", "country_code": "+1", "name": "New"}
    assert not len(plan.refused)


def test_rows_of_a_plan_are_rows_of_the_file(client: Client) -> None:
    plan = client.contacts.plan(
        chatkit.read_contacts("Vorname\tHandy\tCC\nAna\t2025550187\t+1\nBob\t0151 2\t+49\n")
    )
    assert plan.refused["row"].tolist() == [3] and [c.row for c in plan.changes] == [2]
