"""Tests of cells, live and saved."""

from __future__ import annotations

import pytest
from widgets.gridding import client, sandbox  # noqa: F401

from chatkit.resource import get_endpoints
from chatkit.widgets.grid import describe_rows, draw_table
from chatkit.widgets.sheet import Sheet

EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture
def sheet(client):
    return Sheet(get_endpoints(client.contacts), client.contacts.frame())


def test_a_row_is_its_values_as_text_and_the_marks_that_it_has(sheet):
    (row,) = describe_rows(sheet, [0])
    assert set(row) == {"n", "v"}
    assert row["v"][:3] == ["50001", "Oliver Smith", "Oliver"]
    assert row["v"][3] is None
    names = list(sheet.columns)
    sheet.write([(0, "name", "Ana"), (0, "number", "x y")])
    sheet.mark([0], delete=True)
    (row,) = describe_rows(sheet, [0])
    assert row["c"] == [names.index("name")]
    assert row["m"] == "delete"
    typed, why = row["e"][names.index("number")]
    assert typed == "x y"
    assert "digits only" in why
    assert row["v"][names.index("number")] == "7700900000"


def test_a_new_row_shows_its_label_until_it_has_a_key(sheet):
    (row,) = describe_rows(sheet, sheet.add())
    assert (row["m"], row["v"][0], row["v"][1]) == ("new", "new 1", None)


def test_flags_stay_flags(client):
    client.webhooks.create(url="https://example.com/a", events=["*"])
    sheet = Sheet(get_endpoints(client.webhooks), client.webhooks.frame())
    (row,) = describe_rows(sheet, [0])
    assert row["v"][list(sheet.columns).index("is_active")] is True


def test_a_long_text_is_cut_and_marked(sheet):
    sheet.write([(0, "name", "x" * 5000)])
    (row,) = describe_rows(sheet, [0])
    place = list(sheet.columns).index("name")
    assert row["l"] == [place]
    assert len(row["v"][place]) == 2001
    assert sheet.frame().name.iloc[0] == "x" * 5000


def test_the_static_form_shows_edited_rows_and_never_markup(sheet):
    sheet.write([(7, "name", EVIL), (8, "number", EVIL)])
    sheet.mark([9], delete=True)
    html = draw_table(sheet, f"Grid {EVIL}")
    assert "<img" not in html
    assert html.count("&lt;img") == 3
    assert html.count("<tr>") == 4
    assert "<strong>" in html
    assert "was refused: must be digits only" in html
    assert ">to delete</td>" in html
    assert "Oliver Smith" not in html


def test_without_edits_the_static_form_shows_the_first_rows(sheet):
    html = draw_table(sheet, "Grid")
    assert html.count("<tr>") == 11
    assert "Oliver Smith" in html
    assert "… and 240 more rows." in html
