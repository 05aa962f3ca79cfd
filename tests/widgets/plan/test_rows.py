from __future__ import annotations

from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st
from widgets.screen import find, html, is_seen, part, press, send

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


def test_kinds_are_offered_with_their_counts() -> None:
    rows = PagedRows(
        COLUMNS, [item("a", "create"), item("b", "create", "late"), item("c", "delete")]
    )
    assert [label for label, _ in rows.kind.options] == ["all 3", "create 2", "late 1", "delete 1"]
    rows.kind.value = "late"
    assert drawn(rows) == ["b"]


def test_text_is_found_whatever_its_case_and_together_with_a_kind() -> None:
    rows = PagedRows(
        COLUMNS, [item("ÅSA", "create"), item("åsa b", "delete"), item("Bo", "delete")]
    )
    rows.search.value = " Åsa "
    assert drawn(rows) == ["ÅSA", "åsa b"]
    rows.kind.value = "delete"
    assert drawn(rows) == ["åsa b"]
    rows.search.value = "nobody"
    assert "No row is like that." in html(rows)


def test_pages_are_turned_to_both_ends_and_no_further() -> None:
    rows = numbered(2 * PAGE + 3)
    assert find(rows, "Previous").disabled and not find(rows, "Next").disabled
    assert "1 to 10 of 23" in html(rows)
    press(rows, "Next")
    press(rows, "Next")
    assert find(rows, "Next").disabled
    assert drawn(rows) == [f"row {n:03d}" for n in (20, 21, 22)]
    press(rows, "Next")
    assert "21 to 23 of 23" in html(rows)
    press(rows, "Previous")
    assert drawn(rows)[0] == "row 010"


def test_a_filter_begins_with_the_first_page() -> None:
    rows = numbered(4 * PAGE)
    press(rows, "Next")
    rows.kind.value = "odd"
    assert drawn(rows)[0] == "row 001"


@settings(max_examples=25)
@given(st.integers(0, 3 * PAGE + 1))
def test_turning_the_pages_shows_each_row_once(count: int) -> None:
    rows = numbered(count)
    seen = drawn(rows)
    while not find(rows, "Next").disabled:
        press(rows, "Next")
        seen += drawn(rows)
    assert seen == [f"row {n:03d}" for n in range(count)]
    assert is_seen(rows.children[-1]) == (count > PAGE)


def test_only_the_rows_of_a_page_are_drawn() -> None:
    asked: list[int] = []

    def draw(n: int) -> tuple[str, list[str]]:
        asked.append(n)
        return "", ["<td></td>"]

    PagedRows(COLUMNS, [Item(("a",), str(n), partial(draw, n)) for n in range(10_000)])
    assert len(asked) <= 2 * PAGE


def test_other_rows_begin_with_all_of_them() -> None:
    rows = numbered(3)
    rows.search.value, rows.kind.value = "row", "odd"
    rows.fill({"state": 100}, [item("a", "applied"), item("b", "failed")])
    assert drawn(rows) == ["a", "b"] and rows.search.value == ""
    assert "state" in html(rows) and "kind" not in html(rows)


def test_rows_that_are_drawn_otherwise_stay_where_they_were() -> None:
    rows = numbered(8 * PAGE)
    rows.kind.value, rows.search.value = "odd", "row"
    press(rows, "Next")
    before = drawn(rows)
    rows.fill(COLUMNS, [*rows.items], stay=True)
    assert drawn(rows) == before and (rows.kind.value, rows.search.value) == ("odd", "row")
    rows.fill(COLUMNS, rows.items[:3], stay=True)
    assert drawn(rows) == ["row 001"]


def test_a_button_of_a_row_tells_which_row_it_is_of() -> None:
    asked = []
    rows = PagedRows(COLUMNS, [item("a", "applied")], lambda act, row: asked.append((act, row)))
    table = part(rows, RowsTable)
    send(table, {"act": "back", "row": "7"})
    for unusual in (
        {"act": "back"},
        {"act": 1, "row": "7"},
        {"act": "back", "row": ["7"]},
        [],
        None,
    ):
        send(table, unusual)
    assert asked == [("back", "7")]


def test_a_button_has_a_name_that_is_escaped_once_and_seen_whole() -> None:
    html = draw_row_button("open", '"7"', "Open", "Open <b>\u202e")
    assert 'data-row="&quot;7&quot;"' in html and 'aria-label="Open &lt;b&gt;⟨U+202E⟩"' in html
