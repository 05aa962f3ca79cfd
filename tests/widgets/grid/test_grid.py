"""The grid: its methods for programs, and the same by what its page tells it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from volume import volume
from widgets.gridding import Page, client, page, sandbox  # noqa: F401
from widgets.screen import page_of, sources, static

import chatkit
from chatkit.errors import InputError
from chatkit.widgets import Grid
from chatkit.widgets.grid import GridTable
from chatkit.widgets.sheet import fold_text


@pytest.fixture
def contacts(client):
    return client.contacts.frame()


@pytest.fixture
def grid(client, contacts):
    return Grid(client.contacts, contacts)


# --- for programs ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "column", "value", "why"),
    [
        (50001, "number", "12 34", "digits only"),
        (50001, "number", 1234, "no digit, zero or \\+ is lost"),
        (50001, "first_name", "Ana", "edit name, the whole of it"),
        (50001, "id", 7, "is set by the service"),
        (50001, "nmae", "Ana", "has no column 'nmae'"),
        (1, "name", "Ana", "no row 1"),
    ],
)
def test_what_cannot_be_set_is_raised_and_leaves_the_grid_as_it_was(grid, row, column, value, why):
    with pytest.raises(InputError, match=why):
        grid.set(row, column, value)
    assert repr(grid) == "Grid of 250 contacts."
    assert not grid.undo()


def test_a_number_that_another_contact_has_waits_and_the_message_says_so(grid, contacts):
    grid.set(50001, "country_code", contacts.country_code[50002])
    grid.set(50001, "number", contacts.number[50002])
    assert (
        grid.message == "Phone number of row 50001 waits: row 50002 has it. grid.refused lists it."
    )
    grid.set(50002, "number", "2025550143")
    assert grid.message == "" and grid.refused.empty


def test_a_whole_number_goes_into_country_code_and_number_as_in_a_form(grid):
    grid.set(50001, "number", "+49 30 123456")
    assert grid.frame().loc[50001, ["country_code", "number"]].tolist() == ["+49", "30123456"]
    grid.undo()
    assert repr(grid) == "Grid of 250 contacts."


def test_a_block_is_pasted_in_the_order_shown_and_each_cell_checked_alone(grid):
    grid.sort("name", descending=True)
    grid.paste(
        50001,
        "number",
        "2025550143\t+1\n12 34\t+2\n",
    )
    frame = grid.frame()
    assert frame.number[50001] == "2025550143"
    (refused,) = grid.refused.itertuples()
    assert (refused.column, refused.value) == ("number", '"12 34"')
    assert frame.country_code[refused.row] == "+2"
    assert "leave out spaces" in refused.next_step
    assert grid.message == "3 cells taken, 1 refused: grid.refused."
    grid.paste(50001, "number", "2025550144")
    assert grid.message == ""


def test_a_block_longer_than_the_table_adds_rows(grid):
    grid.paste(50256, "name", "Ana\nBo\nCy\n")
    assert repr(grid) == "Grid of 250 contacts: 1 cell changed, 2 rows added."
    assert grid.frame().name.tolist()[-3:] == ["Ana", "Bo", "Cy"]
    grid.undo()
    assert repr(grid) == "Grid of 250 contacts."


def test_a_block_that_cannot_be_placed_is_refused_whole(grid):
    with pytest.raises(InputError, match="has 9 columns"):
        grid.paste(50001, "tags", "\t" * 8)
    grid.filter("zzz")
    with pytest.raises(InputError, match="not shown now"):
        grid.paste(50001, "name", "Ana")
    assert repr(grid) == "Grid of 250 contacts."


def test_rows_are_added_deleted_and_kept(grid, client):
    label = grid.add()
    grid.set(label, "name", "Ana")
    grid.set(label, "country_code", "+1")
    grid.set(label, "number", "2025550143")
    grid.delete([50001, 50002, 50003])
    grid.keep(50002)
    assert repr(grid) == "Grid of 250 contacts: 1 row added, 2 rows to delete."
    assert grid.plan().counts == {"create": 1, "update": 0, "delete": 2}
    grid.delete(label)
    assert repr(grid) == "Grid of 250 contacts: 2 rows to delete."
    with pytest.raises(InputError, match="no row 7"):
        grid.delete([50004, 7])
    assert repr(grid) == "Grid of 250 contacts: 2 rows to delete."


def test_columns_are_filtered_by_values_by_a_text_and_by_emptiness(grid, contacts):
    names, codes = contacts.name.astype(object), contacts.country_code
    assert grid.filter(contains={"name": "GARCIA"}) == names.str.contains("García").sum()
    expected = codes.isin(["+44", "+49"])
    assert grid.filter(values={"country_code": ["+44", "+49"]}) == expected.sum() > 0
    assert grid.filter("", values={"country_code": ["+44"]}, contains={"name": "zzz"}) == 0
    grid.set(50001, "name", "")
    assert grid.filter(empty={"name": True}) == names.isna().sum() + 1
    assert grid.filter(empty={"name": False}) == names.notna().sum() - 1
    assert grid.filter(values={"country_code": "+44"}) == codes.eq("+44").sum()
    assert grid.filter(values={"id": 50001}) == 1
    assert grid.filter(values={"name": [None]}) == names.isna().sum() + 1
    grid.set(50001, "name", "Zed")  # it stays where it is until somebody looks anew
    assert 50001 in grid.visible().index
    assert grid.filter() == 250
    assert grid.filter(values={"id": [50001, 50003]}) == 2
    with pytest.raises(InputError, match="no column 'nmae'"):
        grid.filter(empty={"nmae": True})


def test_a_text_is_replaced_in_the_rows_that_are_shown_as_one_step(grid, contacts):
    output = grid.filter("garcía")
    assert grid.replace("García", "Garcia", "name") == output
    assert not grid.frame().name.str.contains("García").any()
    grid.undo()
    assert grid.frame().equals(contacts)
    assert grid.replace("GARCÍA", "X") == 0
    assert grid.replace("GARCÍA", r"\1", case=False) == output
    assert grid.frame().name.str.contains(r"\1", regex=False).sum() == output
    assert grid.replace("", "x") == 0
    grid.filter()
    digits = contacts.number.str.contains("77").sum()
    assert grid.replace("77", "7 7", "number") == 0  # what a number cannot be stays as it is
    assert grid.replace("77", "70", "number") == digits > 0


def test_a_block_with_headings_goes_into_the_columns_that_it_names(grid):
    grid.paste(50256, "tags", "country_code\tname\n+1\tAna\n+49\tBo\n")
    frame = grid.frame()
    assert frame.name.tolist()[-2:] == ["Ana", "Bo"]
    assert frame.country_code.tolist()[-2:] == ["+1", "+49"]
    assert repr(grid) == "Grid of 250 contacts: 1 cell changed, 1 row added."


def test_at_first_what_can_be_written_stands_before_what_cannot(grid, client):
    output = grid.columns()
    assert output[:4] == ["id", "name", "number", "country_code"]
    assert not {"first_name", "middle_name", "last_name"} & set(output)
    assert "updated_at" in output
    assert grid.columns("first_name", "id") == ["first_name", "id"]
    grid.paste(50001, "name", "Ana\t2025550143")  # a column that is hidden: as in the frame
    assert grid.refused.column[0] == "first_name"
    with pytest.raises(InputError, match="no column 'nmae'"):
        grid.columns("nmae")


def test_the_plan_is_that_of_the_frame_at_any_time(grid, client):
    assert not grid.plan().changes
    grid.set(50001, "name", "Ana")
    plan = grid.plan()
    assert [(c.key, dict(c.after)) for c in plan.changes] == [(50001, {"name": "Ana"})]
    assert plan.apply().state.tolist() == ["applied"]
    assert client.contacts.get(50001).name == "Ana"


def test_a_plan_says_what_the_grid_refused(grid):
    grid.set(50001, "name", "Ana")
    grid.paste(50001, "number", "x")
    plan = grid.plan()
    assert plan.counts["update"] == 1
    assert "refused what was entered in 1 cell" in str(plan)
    assert not any("refused" in note for note in grid.plan(skip_invalid=True).notes[1:])


@pytest.mark.parametrize("source", ["contacts", "flows", "webhooks"])
def test_each_resource_has_a_grid(client, source):
    client.webhooks.create(url="https://example.com/a", events=["*"])
    grid = Grid(getattr(client, source))
    assert not grid.plan().changes
    assert len(page_of(grid)) > 100


def test_it_has_one_line_of_text_and_a_static_table(grid):
    grid.set(50001, "name", "<b>Ana</b>")
    data = static(grid)
    assert data["text/plain"] == "Grid of 250 contacts: 1 cell changed."
    assert "&lt;b&gt;Ana&lt;/b&gt;" in data["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in data


def test_whatever_is_typed_is_kept_to_the_letter_or_refused(page: Page, shared):
    naughty = json.loads((shared / "corpora/blns/blns.json").read_text())
    naughty = [text for text in naughty if text][: volume(60, 250)]
    place = page.column("name")
    for row, text in enumerate(naughty):
        output = page.type(row, "name", text)
        assert output["v"][place] == text
        assert "e" not in output
    assert page.grid.frame().name.tolist()[: len(naughty)] == naughty
    for row, text in enumerate(naughty):
        output = page.type(row, "number", text)
        assert "e" in output or re.fullmatch("[0-9]+", text)
    assert "<script" not in page_of(page.grid).lower()
    after = {change.key: change.after for change in page.grid.plan(skip_invalid=True).changes}
    keys = page.grid.frame().index[: len(naughty)]
    assert [after[key]["name"] for key in keys if key in after] == [
        text for key, text in zip(keys, naughty, strict=True) if key in after
    ]
    assert len(after) > 0.8 * len(naughty)


# --- by its page ----------------------------------------------------------------------------


def test_rows_are_sent_page_by_page(page: Page):
    assert [len(page.rows(n)) for n in range(4)] == [100, 100, 50, 0]
    assert page.rows(1)[0]["v"][0] == str(page.grid.frame().index[100])
    assert page.state["rows"] == page.state["of"] == 250
    assert page.send("page", page=0, shows=page.state["shows"] - 1) == []  # asked too long ago


def test_a_typed_entry_is_taken_or_refused_with_its_reason(page: Page):
    row = page.type(0, "name", "Ana")
    name, number = page.column("name"), page.column("number")
    assert (row["v"][name], row["c"]) == ("Ana", [name])
    row = page.type(0, "number", "x")
    assert page.heard[1]["note"].startswith("Refused: must be digits only")  # wherever one is now
    assert row["e"][str(number)][0] == "x"
    assert "digits only" in row["e"][str(number)][1]
    assert page.state["edits"] == "1 cell changed, 1 cell refused"
    (answer,) = page.send("dismiss", row=0, column="number")
    assert "e" not in answer["rows"][0]
    assert page.state["edits"] == "1 cell changed"


def test_a_block_is_pasted_where_the_page_says(page: Page):
    text, columns = "2025550143\t+1\r\nx\t+1\r\n", ["number", "country_code"]
    (answer,) = page.send("paste", place=1, columns=columns, text=text, rows=1, wide=1)
    assert [row["n"] for row in answer["rows"]] == [1, 2]
    assert "e" in answer["rows"][1]
    page.send("undo")
    assert page.state["edits"] == ""
    assert page.state["redo"]
    page.send("redo")
    assert page.state["undo"]
    page.send("paste", place=0, columns=["country_code"], text="+49", rows=3, wide=1)
    assert page.grid.frame().country_code.head(3).tolist() == ["+49"] * 3  # all that is selected
    (answer,) = page.send("paste", place=0, columns=["tags"], text="a\tb", rows=1, wide=1)
    assert "has 2 columns" in answer["note"]


def test_a_selection_is_cleared_deleted_and_kept(page: Page):
    page.send("clear", place=0, rows=2, columns=["id", "name", "first_name"])
    assert page.state["edits"] == "2 cells changed"
    page.send("delete", place=1, rows=2, delete=True)
    assert page.grid.frame().delete.head(4).tolist() == [False, True, True, False]
    page.send("delete", place=0, rows=250, delete=False)
    assert "delete" not in page.grid.frame()


def test_a_row_is_added_filtered_and_taken_away(page: Page):
    before = page.state["shows"]
    page.send("filter", text="zzz", changed=False)
    page.send("add")
    assert page.state["shows"] > before
    assert (page.state["rows"], page.state["of"], page.state["filter"]["text"]) == (1, 251, "zzz")
    assert page.rows()[0]["m"] == "new"
    shows = page.state["shows"]
    assert page.type(250, "name", "Ana")["m"] == "new"
    assert page.state["shows"] == shows  # one row is told, not all asked for again
    page.send("undo")
    page.send("delete", place=0, rows=1, delete=True)
    assert page.state["rows"] == 0
    page.send("undo")
    assert page.state["rows"] == 1


def test_a_click_on_a_heading_sorts(page: Page):
    page.send("sort", column="name", descending=True)
    assert page.state["sort"] == ["name", True]
    names = [row["v"][page.column("name")] for row in page.rows()]
    assert names == sorted(names, key=fold_text, reverse=True)
    page.send("sort", column=None, descending=False)
    assert page.rows()[0]["v"][0] == "50001"


def test_what_touches_many_rows_makes_the_page_ask_again(page: Page):
    before = page.state["shows"]
    answers = page.send("clear", place=0, columns=["name"], rows=250)
    assert answers == []
    assert page.state["shows"] == before + 1


def test_rows_are_pasted_into_a_table_without_any(client, monkeypatch):
    page = Page(Grid(client.contacts, client.contacts.frame().head(0)), monkeypatch)
    text = "Ana\t2025550143\t+1\r\nBo\t2025550144\t+1\r\n"
    columns = ["name", "number", "country_code", "tags"]
    page.send("paste", place=0, columns=columns, text=text, rows=1, wide=1)
    assert page.state["edits"] == "2 rows added"
    assert page.grid.plan().counts["create"] == 2


def test_columns_are_filtered_by_the_page(page: Page):
    (answer,) = page.send("values", column="country_code")
    assert sum(n for _, n in answer["values"]) == 250
    assert answer["others"] == 0
    (value, times), *_ = answer["values"]
    expected = page.state["filter"] | {"values": {"country_code": [value]}}
    page.send("filter", **expected)
    assert page.state["rows"] == times
    assert page.state["filter"] == expected
    page.send("filter", **expected | {"text": "zzz"})  # a text is looked for among those
    assert page.state["rows"] == 0
    page.send("filter")
    assert page.state["rows"] == 250 and not any(page.state["filter"].values())
    (answer,) = page.send("values", column="id")
    assert (len(answer["values"]), answer["others"]) == (100, 150)


def test_what_would_be_replaced_is_shown_before_it_is(page: Page):
    asked = {"text": "7", "by": "x", "column": None, "case": True}
    (answer,) = page.send("preview", **asked)
    assert page.state["edits"] == ""
    assert (answer["count"], answer["refused"]) == (0, len([*_numbers(page, "7")]))
    asked = {"text": "Oliver Smith", "by": "Ollie Smith", "column": "name", "case": True}
    (answer,) = page.send("preview", **asked)
    assert answer["preview"][0] == ["50001", "Name", "Oliver Smith", "Ollie Smith", ""]
    page.send("replace", **asked)
    assert page.heard[-1]["note"].startswith(f"Replaced in {answer['count']} cell")
    assert page.grid.frame().name[50001] == "Ollie Smith"


def _numbers(page: Page, digit: str):
    frame = page.grid.frame()
    cells = [*frame.number.dropna(), *frame.country_code.dropna(), *frame.name.dropna()]
    return [text for text in cells if digit in text]


def test_columns_are_laid_out_by_the_page(page: Page):
    page.send("layout", layout=[["name", 300.4], ["gone", 1], ["id", 0]])
    assert page.table.column_layout == [["name", 300], ["id", 0]]
    page.send("layout", layout=[])
    assert page.grid.columns()[:2] == ["id", "name"]


def test_a_long_text_is_sent_whole_when_it_is_edited(page: Page):
    text = "x" * 5000
    page.type(0, "name", text)
    assert len(page.rows()[0]["v"][page.column("name")]) == 2001
    (answer,) = page.send("whole", row=0, column="name")
    assert answer == {"whole": text, "row": 0, "column": "name"}


def test_what_was_meant_for_rows_that_moved_changes_nothing(page: Page):
    at, renewed = page.state["arranged"], page.state["renewed"]
    page.send("sort", column="name", descending=True)
    (answer,) = page.send("delete", place=0, rows=1, delete=True, arranged=at, renewed=renewed)
    assert "once more" in answer["note"]
    assert page.state["edits"] == ""
    page.send("set", row=0, column="name", value="Ana", arranged=at, renewed=renewed)
    assert page.state["edits"] == "1 cell changed"  # a row is known by its number
    page.grid.plan().apply()
    page.send("review")
    assert page.heard[-1] == {"reviewed": True}
    page.grid.plan_view.back = None
    page.grid._on_applied(page.grid.plan_view)
    page.send("set", row=1, column="name", value="Bo", arranged=at, renewed=renewed)
    assert "once more" in page.heard[-1]["note"]


def test_a_large_frame_is_quick(client, contacts, monkeypatch):
    many = pd.concat([contacts] * 400).set_axis(pd.RangeIndex(1, 100_001, name="id"))
    large = Page(Grid(client.contacts, many), monkeypatch)
    assert [row["v"][0] for row in large.rows(999)] == [str(n) for n in range(99_901, 100_001)]
    assert len(json.dumps(large.rows(500))) < 40_000
    large.type(70_000, "name", "Ana Unique")
    assert large.grid.filter("ana unique") == 1
    assert large.rows()[0]["n"] == 70_000
    assert large.grid.frame().name.iloc[70_000] == "Ana Unique"


def test_what_each_notebook_keeps_of_the_script_is_small():
    script, style = sources(GridTable)
    assert len(script) + len(style) < 27_000
    static = Path(chatkit.__file__).parent / "widgets" / "static"
    assert "export default" in script
    assert len(script) < len((static / "grid.js").read_text("utf-8"))
