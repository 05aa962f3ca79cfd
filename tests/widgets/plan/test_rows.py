from __future__ import annotations

from functools import partial

import pytest
from widgets.screen import find, html, is_seen, part, press, type_into

from chatkit.widgets.table import PAGE, Item, PagedRows, RowsTable, draw_row_button

COLUMNS = {"kind": 20, "name": 80}


def item(name: str, *kinds: str) -> Item:
    return Item(kinds, name, lambda: ("", [f"<td>{name}</td>"]))


def numbered(count: int) -> PagedRows:
    return PagedRows(
        COLUMNS, [item(f"row {n:03d}", "odd" if n % 2 else "even") for n in range(count)]
    )


def drawn(rows: PagedRows) -> list[str]:
    return [part.split("<")[0] for part in html(rows).split("<td>")[1:]]


def test_rows_are_filtered_by_kind_and_text_together() -> None:
    named = [item("ÅSA", "create"), item("åsa b", "delete", "late"), item("Bo", "delete")]
    rows = PagedRows(COLUMNS, named)
    assert find(rows, "Show").options == ["all 3", "create 1", "delete 2", "late 1"]
    type_into(rows, "that hold", " Åsa ")
    assert drawn(rows) == ["ÅSA", "åsa b"]
    type_into(rows, "Show", "delete 2")
    assert drawn(rows) == ["åsa b"]
    type_into(rows, "that hold", "nobody")
    assert "No row is like that." in html(rows)


@pytest.mark.parametrize("count", [0, 1, PAGE, PAGE + 1, 2 * PAGE + 3])
def test_turning_the_pages_to_both_ends_shows_each_row_once(count: int) -> None:
    rows = numbered(count)
    seen = drawn(rows)
    assert find(rows, "Previous").disabled
    while not find(rows, "Next").disabled:
        press(rows, "Next")
        seen += drawn(rows)
    assert seen == [f"row {n:03d}" for n in range(count)]
    press(rows, "Next")
    assert is_seen(rows.children[-1]) == (count > PAGE)
    assert count <= PAGE or f"{(count - 1) // PAGE * PAGE + 1} to {count} of {count}" in html(rows)


def test_only_the_rows_of_a_page_are_drawn() -> None:
    asked: list[int] = []

    def draw(n: int) -> tuple[str, list[str]]:
        asked.append(n)
        return "", ["<td></td>"]

    PagedRows(COLUMNS, [Item(("a",), str(n), partial(draw, n)) for n in range(10_000)])
    assert len(asked) <= 2 * PAGE


def test_other_rows_begin_with_the_first_page_and_the_same_ones_stay() -> None:
    rows = numbered(8 * PAGE)
    press(rows, "Next")
    type_into(rows, "Show", "odd 40")
    assert drawn(rows)[0] == "row 001"
    type_into(rows, "that hold", "row")
    press(rows, "Next")
    before = drawn(rows)
    rows.fill(COLUMNS, [*rows.items], stay=True)
    assert drawn(rows) == before
    rows.fill(COLUMNS, rows.items[:3], stay=True)
    assert drawn(rows) == ["row 001"]
    rows.fill({"state": 100}, [item("a", "applied"), item("b", "failed")])
    assert drawn(rows) == ["a", "b"] and find(rows, "that hold").value == ""
    assert "state" in html(rows) and "kind" not in html(rows)


def test_a_button_of_a_row_names_its_row() -> None:
    asked = []
    rows = PagedRows(COLUMNS, [item("a", "applied")], lambda act, row: asked.append((act, row)))
    table = part(rows, RowsTable)
    unusual = ({"act": "back"}, {"act": 1, "row": "7"}, {"act": "back", "row": ["7"]}, [], None)
    for message in ({"act": "back", "row": "7"}, *unusual):
        rows.enter_at(table.id, message)
    assert asked == [("back", "7")]
    html = draw_row_button("open", '"7"', "Open", "Open <b>\u202e")
    assert 'data-row="&quot;7&quot;"' in html and 'aria-label="Open &lt;b&gt;⟨U+202E⟩"' in html
