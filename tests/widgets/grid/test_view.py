"""Tests of the visible rows and their order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from widgets.gridding import client, sandbox  # noqa: F401

from chatkit.resource import get_endpoints
from chatkit.widgets.sheet import Sheet, View, fold_text, format_cell


@pytest.fixture
def contacts(client):
    return client.contacts.frame()


@pytest.fixture
def sheet(client, contacts):
    return Sheet(get_endpoints(client.contacts), contacts)


@pytest.fixture
def view(sheet):
    return View(sheet)


def looked(view: View, text: str = "", *, changed: bool = False) -> list[int]:
    view.filter = view.filter._replace(text=text, changed=changed)
    view.update_rows()
    return view.rows.tolist()


def ordered(view: View, column: str | None, *, descending: bool = False) -> list[int]:
    view.column, view.descending = column, descending
    view.update_rows()
    return view.rows.tolist()


def test_a_text_is_found_in_any_column_whatever_its_case(view, contacts):
    expected = np.flatnonzero(contacts.name.str.contains("garcía", case=False)).tolist()
    assert expected
    assert looked(view, "GARCÍA") == expected
    assert looked(view, "50003") == [2]
    assert looked(view, "2026-01-05 08:04:51") == [249]
    assert looked(view, "zzz") == []


def test_accents_make_no_difference(view, sheet):
    sheet.write([(0, "name", "Zoë Ångström"), (1, "name", "Anja"), (2, "name", "Ázar")])
    assert looked(view, "zoe angs") == [0]
    assert looked(view, "ZOË ANGS") == [0]
    assert looked(view) == list(range(sheet.size))
    rows = [row for row in ordered(view, "name") if row < 3]
    assert rows == [1, 2, 0]


def test_signs_of_patterns_are_plain_text(view, sheet):
    sheet.write([(0, "name", "a.*b("), (1, "name", "axxb")])
    assert looked(view, ".*B(") == [0]
    assert len(looked(view, "+44")) > 5


def test_edited_cells_are_found_by_what_they_say_now(view, sheet, contacts):
    sheet.write([(0, "name", "Zoë Umlaut"), (1, "number", "x9x9")])
    assert looked(view, "zoë u") == [0]
    assert looked(view, "x9X9") == [1]
    assert 0 not in looked(view, str(contacts.name.iloc[0]))


def test_only_edited_rows_are_those_changed_refused_or_marked(view, sheet):
    sheet.write([(3, "name", "Ana"), (5, "number", "x")])
    sheet.mark([8], delete=True)
    assert looked(view, changed=True) == [3, 5, 8]
    assert looked(view, "Ana", changed=True) == [3]


def test_rows_that_were_added_stand_at_the_end_always(view, sheet):
    (new,) = sheet.add()
    assert looked(view, "zzz") == [new]
    assert ordered(view, "name", descending=True)[-1] == new
    sheet.mark([new], delete=True)
    assert looked(view, "zzz") == []


def test_texts_are_in_order_whatever_their_case_and_empty_ones_are_the_last(view, sheet):
    sheet.write([(0, "name", "zzz"), (1, "name", "AAA"), (2, "name", "")])
    rows = ordered(view, "name")
    assert rows[0] == 1
    names = [fold_text(v) for v in sheet.values("name", rows)]
    empty = names.count("")
    assert 2 in rows[-empty:]
    assert names == [*sorted(filter(None, names)), *[""] * empty]
    backwards = ordered(view, "name", descending=True)
    assert backwards[-empty:] == rows[-empty:]
    assert sheet.values("name", backwards[:1])[0].casefold() == names[-empty - 1]
    assert ordered(view, None) == list(range(sheet.size))


def test_numbers_times_and_flags_are_in_their_own_order(client):
    for n, active in enumerate((True, False, True)):
        client.webhooks.create(url=f"https://example.com/{n}", events=["*"], is_active=active)
    sheet = Sheet(get_endpoints(client.webhooks), client.webhooks.frame())
    view = View(sheet)
    flags = sheet.values("is_active", ordered(view, "is_active"))
    assert flags == sorted(flags)
    assert set(flags) == {False, True}
    ids = sheet.values("id", ordered(view, "id", descending=True))
    assert ids == sorted(ids, reverse=True)
    times = sheet.values("created_at", ordered(view, "created_at"))
    assert times == sorted(times)
    own = pd.DataFrame({"size": [10, 9, None, 100]})
    assert ordered(View(Sheet(get_endpoints(client.webhooks), own)), "size") == [1, 0, 3, 2]


def test_rows_that_are_alike_stay_in_their_order_both_ways(view, sheet):
    for descending in (False, True):
        rows = ordered(view, "country_code", descending=descending)
        codes = sheet.values("country_code", rows)
        for code in set(codes):
            same = [row for row, c in zip(rows, codes, strict=True) if c == code]
            assert same == sorted(same)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\nb", "a\nb"),
        (None, ""),
        (5, "5"),
        (["*"], '["*"]'),
        ({"name": "Ä"}, '{"name": "Ä"}'),
        ("half \ud83d", "half ?"),
        ({(1, 2): 3}, "{(1, 2): 3}"),
    ],
)
def test_values_are_written_as_a_person_types_them(value, text):
    assert format_cell(value) == text
