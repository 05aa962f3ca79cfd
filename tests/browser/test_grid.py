"""The grid as a person meets it: read, typed into, pasted, sorted, filtered, taken back."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from browser import looks
from browser.conftest import Opener
from browser.lab import Lab, OpenNotebook
from browser.scripts import call
from browser.story import run, write
from playwright.sync_api import Browser, Locator, expect
from widgets.gridding import client, sandbox  # noqa: F401
from widgets.screen import parts

from chatkit.client import Client
from chatkit.widgets import Grid
from chatkit.widgets.grid import GridTable

EVIL = "<img src=x onerror=alert(1)>"
OPEN = f"""import chatkit
from chatkit.widgets import Grid

client = chatkit.connect(chatkit.Sandbox(seed="demo"))
contacts = client.contacts.frame()
contacts.loc[50002, "name"] = "{EVIL}"
grid = Grid(client.contacts, contacts)
grid"""
LOOK = "print(grid)\nprint(grid.frame().name.head(8).tolist())"
MANY = """import pandas as pd

many = pd.concat([contacts] * 400).set_axis(pd.RangeIndex(1, 100_001, name="id"))
Grid(client.contacts, many)"""
FLAGS = """for n in range(3):
    client.webhooks.create(url=f"https://example.com/{n}", events=["*"], is_active=n != 1)
hooks = Grid(client.webhooks)
hooks"""

TRAITS = ("columns", "column_layout", "state", "height", "noun")
WRONG = """grid.set(50001, "name", "Ana Cruz")
grid.set(grid.add(), "name", "A number of this one is missing")
print("set")"""
FEW = 'grid.columns("id", "name", "number")'
TAKEN = 'client.contacts.update(50001, name="Somebody Else").name'


class GridPage:
    """A notebook with cells, and the grid that one of them shows."""

    def __init__(self, notebook: OpenNotebook) -> None:
        self.notebook, self.page = notebook, notebook.page
        self.grid = self.page.locator(".gd-grid")

    def show(self, cell: int, first: str | re.Pattern[str] = "50001") -> None:
        """Run a cell that shows a grid, and work with that one."""
        output = run(self.notebook, cell)
        self.grid, self.plan = output.locator(".gd-grid"), output.locator(".chatkit-planview").first
        expect(self.cell(0, 0)).to_have_text(first)

    def column(self, name: str) -> int:
        heads = self.grid.get_by_role("columnheader")
        expect(heads.filter(has_text=name).first).to_be_attached()  # it may be drawn just now
        texts = [re.sub(r"\s*[▾▴]$", "", text) for text in heads.all_inner_texts()]
        return texts.index(name)

    def cell(self, row: int, column: str | int) -> Locator:
        n = column if isinstance(column, int) else self.column(column)
        return self.grid.locator(f'[data-row="{row}"][data-column="{n}"]')

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def paste(self, text: str) -> None:
        self.page.evaluate("text => navigator.clipboard.writeText(text)", text)
        self.press("Control+v")

    def expect_status(self, text: str | re.Pattern[str]) -> None:
        expect(self.grid.locator(".gd-foot [role=status]")).to_have_text(text)

    def accessible(self, shot: str) -> None:
        """Keep a picture of what is open over the table; it must be usable by everybody."""
        self.notebook.shot(shot)
        assert looks.violations(self.page, ".chatkit-gridpanel") == []

    def button(self, name: str) -> Locator:
        return self.grid.get_by_role("button", name=name)


@pytest.fixture(scope="module")
def page(lab: Lab, open_once: Opener) -> GridPage:
    cells = [OPEN, LOOK, MANY, FLAGS, FEW, WRONG, TAKEN]
    return GridPage(open_once(write(lab, "grid.ipynb", cells)))


@pytest.fixture
def opened(page: GridPage) -> GridPage:
    """Show a new grid of all contacts, of a new account."""
    page.page.set_viewport_size({"width": 1400, "height": 1000})
    page.show(0)
    return page


def test_cells_are_typed_refused_pasted_and_taken_back(opened: GridPage) -> None:
    page = opened
    expect(page.grid.locator("img")).to_have_count(0)  # a name is never markup
    expect(page.cell(1, "Name")).to_have_text(EVIL)
    page.expect_status("250 rows")

    page.cell(0, "Name").click()
    page.type("Ana Lúcia")
    page.press("Enter")  # goes down
    expect(page.cell(0, "Name")).to_have_class(re.compile("gd-changed"))
    expect(page.cell(1, "Name")).to_be_focused()
    page.press("F2", "End")
    page.type("x")
    page.press("Escape")  # leaves it as it was
    expect(page.cell(1, "Name")).to_have_text(EVIL)
    page.expect_status("250 rows · 1 cell changed")

    page.cell(2, "Phone number").dblclick()
    page.press("Control+a")
    page.type("12 34")
    page.press("Tab")  # goes right
    expect(page.cell(2, "Country code")).to_be_focused()
    expect(page.grid).to_contain_text("Refused: must be digits only")  # although one is elsewhere
    refused = page.cell(2, "Phone number")
    expect(refused).to_have_attribute("aria-invalid", "true")

    page.button("Columns (").click()
    page.accessible("grid_columns")
    page.grid.get_by_label("First name").check()  # the parts of a name are put away at first
    page.press("Escape")
    expect(page.button("Columns (")).to_be_focused()
    page.cell(3, "First name").click()
    page.type("x")  # cannot be written: the way to go is told
    expect(page.grid).to_contain_text("edit name, the whole of it")
    expect(page.cell(3, "First name")).to_have_attribute("aria-readonly", "true")

    page.cell(5, "Name").click()
    page.paste('Ångström\r\n"two\nlines"\r\nعائشة المنصوري\r\n')
    expect(page.cell(7, "Name")).to_have_text("عائشة المنصوري")
    expect(page.cell(6, "Name")).to_have_text("two ↵ lines")
    page.expect_status("250 rows · 4 cells changed, 1 cell refused")
    assert page.cell(7, "Name").evaluate("cell => getComputedStyle(cell).direction") == "rtl"

    page.cell(9, "Name").click()
    page.press("Shift+ArrowDown")
    page.button("Delete row").click()
    page.expect_status("250 rows · 4 cells changed, 2 rows to delete, 1 cell refused")
    page.notebook.shot("grid")
    out = run(page.notebook, 1)
    expect(out).to_contain_text("Grid of 250 contacts: 4 cells changed, 2 rows to delete, 1 cell")
    expect(out).to_contain_text(r"'Ångström', 'two\nlines', 'عائشة المنصوري'")

    refused.click()
    page.press("Escape")  # the cell shows again what it holds
    expect(refused).not_to_have_attribute("aria-invalid", "true")
    for _ in range(5):
        page.press("Control+z")
    page.expect_status("250 rows")
    expect(page.cell(0, "Name")).to_have_text("Oliver Smith")
    page.press("Control+y")
    page.expect_status("250 rows · 1 cell changed")


def test_what_is_copied_is_pasted_unchanged_and_texts_are_replaced(opened: GridPage) -> None:
    page = opened
    page.cell(20, "Name").click()
    page.paste('"tab\there"\n"two\n""lines"""\n"Ana"\n5" x\n')
    names = ["tab\there", "two ↵ " + '"lines"', '"Ana"', '5" x']
    for n, name in enumerate(names):
        expect(page.cell(20 + n, "Name")).to_have_text(name)
    page.cell(20, "Name").click()
    page.press(*["Shift+ArrowDown"] * 3)
    page.press("Control+c")
    expect(page.grid).to_contain_text("Copied 4 cells")
    page.cell(25, "Name").click()
    page.press("Control+v")
    for n, name in enumerate(names):
        expect(page.cell(25 + n, "Name")).to_have_text(name)
    page.cell(10, "Country code").click()
    page.press("Shift+ArrowDown", "Shift+ArrowDown")
    page.paste("+49")  # one text fills what is selected
    for row in (10, 11, 12):
        expect(page.cell(row, "Country code")).to_have_text("+49")

    page.cell(2, "Name").click()
    page.type("a text that has more letters than there are in its cell, so it gets a box")
    box = page.grid.get_by_role("textbox", name="Name")
    expect(page.grid.locator(".gd-long")).to_be_visible()
    page.press("Alt+Enter")
    page.type("and a second line")
    page.accessible("grid_long")
    assert (box.bounding_box() or {})["height"] > 60
    page.press("Enter")
    expect(page.cell(2, "Name")).to_contain_text("a box ↵ and a second line")

    page.button("More").click()
    page.accessible("grid_more")
    page.button("Find and replace").click()
    panel = page.grid.get_by_role("dialog", name="Find and replace")
    panel.get_by_label("Find").fill("Smith")
    panel.get_by_label("Replace with").fill("Smythe")
    expect(panel.get_by_role("status")).to_contain_text("50001 Name Oliver Smith → Oliver Smythe")
    page.accessible("grid_replace")
    expect(page.cell(0, "Name")).to_have_text("Oliver Smith")  # nothing yet
    panel.get_by_role("button", name="Replace", exact=True).press("Enter")
    expect(page.cell(0, "Name")).to_have_text("Oliver Smythe")
    page.cell(0, "Name").click()
    page.press("Shift+ArrowRight")
    page.button("More").click()
    page.button("Copy with headings").click()
    expect(page.grid).to_contain_text("Copied 2 cells with headings")
    page.button("Add row").click()
    expect(page.grid.locator(".gd-new .gd-cell:focus")).to_have_count(1)
    page.press("Control+v")  # a block with headings goes where they say
    expect(page.grid.locator(".gd-new")).to_contain_text("Oliver Smythe")
    page.page.set_viewport_size({"width": 900, "height": 1000})
    expect(page.grid).to_contain_text("more at the side →")
    bar = page.grid.locator(".gd-bar").bounding_box()
    assert bar and bar["height"] < 70  # two lines of buttons
    page.button("Review changes").click()
    expect(page.plan).to_be_visible()
    page.accessible("grid_900")


def test_rows_are_sorted_filtered_and_added_by_keyboard_alone(opened: GridPage) -> None:
    page = opened
    page.grid.get_by_role("searchbox").focus()
    tabs = page.grid.locator(".gd-table [tabindex='0']")
    expect(tabs).to_have_count(1)  # one tab stop
    page.press(*["Tab"] * 7)  # buttons that can be pressed, and then the table
    expect(page.cell(0, 0)).to_be_focused()
    page.press("ArrowUp", "ArrowRight", "Enter")
    head = page.grid.get_by_role("columnheader", name="Name", exact=True).first
    expect(head).to_have_attribute("aria-sort", "ascending")
    page.press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(head).to_be_focused()
    expect(page.cell(0, "Name")).not_to_have_text("Oliver Smith")
    page.press("Enter", "ArrowDown")
    expect(page.cell(0, "Name")).to_have_text("Oliver Smith")
    expect(page.cell(0, "Name")).to_be_focused()

    page.press("Control+End")
    expect(page.cell(249, "Tags")).to_be_focused()
    expect(tabs).to_have_count(1)
    table = page.grid.get_by_role("grid")
    assert table.evaluate("table => table.scrollLeft") > 0
    page.press("Control+Home")
    expect(page.cell(0, 0)).to_be_focused()
    assert table.evaluate("table => [table.scrollLeft, table.scrollTop]") == [0, 0]

    page.grid.get_by_role("searchbox").fill("garcia")
    page.expect_status(re.compile(" of 250 rows"))
    expect(page.cell(0, "Name")).to_contain_text("García")
    page.button("Add row").press("Enter")
    expect(page.grid.locator(".gd-new .gd-cell:focus")).to_have_count(1)
    page.type("Neu")
    page.press("Enter")
    expect(page.grid.locator(".gd-new")).to_contain_text("Neu")
    page.grid.get_by_role("searchbox").fill("")
    page.expect_status("251 rows · 1 row added")
    page.button("Edited only").press("Enter")
    page.expect_status("1 of 251 rows · 1 row added")
    page.cell(0, "Name").click()
    page.press("Control+z", "Control+z")
    page.expect_status("0 of 250 rows")


def test_columns_are_filtered_moved_widened_and_hidden_by_keyboard(opened: GridPage) -> None:
    page = opened
    heads = page.grid.get_by_role("columnheader")
    page.cell(0, "Name").click()
    page.press("ArrowUp", "Space")
    panel = page.grid.get_by_role("dialog", name="Column Name")
    expect(panel.get_by_label("Contains")).to_be_focused()
    page.type("garcia")
    page.expect_status(re.compile(" of 250 rows"))
    expect(page.cell(0, "Name")).to_contain_text("García")
    panel.get_by_role("button", name="Move right").press("Enter")
    expect(heads.nth(1)).to_have_text("Phone number")
    wide = heads.nth(2).evaluate("one => one.offsetWidth")
    panel.get_by_role("button", name="Wider").press("Enter")
    expect(heads.nth(2)).to_have_js_property("offsetWidth", wide + 40)
    page.press("Escape")
    expect(heads.nth(2)).to_be_focused()
    expect(heads.nth(2)).to_have_attribute("aria-description", "filtered")

    page.press("ArrowRight", "Space")
    panel = page.grid.get_by_role("dialog", name="Column Country code")
    few = page.grid.locator(".gd-foot [role=status]").inner_text()
    panel.get_by_role("checkbox").first.check()
    expect(page.grid.locator(".gd-foot [role=status]")).not_to_have_text(few)
    panel.get_by_role("button", name="Hide").press("Enter")
    expect(heads.filter(has_text="Country code")).to_have_count(0)
    page.button("Show all rows").press("Enter")
    page.expect_status("250 rows")
    expect(page.button("Show all rows")).to_be_hidden()

    # a selection that is drawn beyond the lower edge scrolls
    start = page.cell(1, 1).bounding_box()
    assert start
    page.page.mouse.move(start["x"] + 5, start["y"] + 5)
    page.page.mouse.down()
    page.page.mouse.move(start["x"] + 5, start["y"] + 900, steps=5)
    expect(page.cell(30, 1)).to_be_visible()
    page.page.mouse.up()
    page.cell(30, 1).press("Control+ArrowUp")
    heads.nth(2).drag_to(heads.nth(1))
    expect(heads.nth(1)).to_have_text("Name")
    expect(heads.nth(1)).to_have_attribute("aria-sort", "none")  # no click

    run(page.notebook, 4)
    expect(heads).to_have_text(["ID", "Name", "Phone number"])
    width = page.grid.get_by_role("grid").evaluate("table => table.clientWidth")
    ends = "row => row.lastChild.offsetLeft + row.lastChild.offsetWidth"
    assert width - 4 <= page.grid.locator(".gd-head").evaluate(ends) <= width  # it is all used


def test_changes_are_reviewed_applied_and_taken_back_below_the_table(opened: GridPage) -> None:
    page, plan = opened, opened.plan
    page.cell(0, "Name").click()
    page.type("Ana Cruz")
    page.press("Enter")
    page.button("Add row").click()
    expect(page.grid.locator(".gd-new .gd-cell:focus")).to_have_count(1)
    page.type("Bo")
    page.press("Tab")  # goes to the next cell that can be written
    expect(page.cell(250, "Phone number")).to_be_focused()
    page.type("2025550143")
    page.press("Tab", "Shift+Tab", "Tab")  # without an entry too, in a row that is new
    expect(page.cell(250, "Country code")).to_be_focused()
    page.type("+1")
    page.press("Enter")
    page.expect_status("251 rows · 1 cell changed, 1 row added")
    page.press("Tab", "Shift+Tab", "Tab")  # after the last one it leaves the table
    expect(page.cell(250, "Country code")).not_to_be_focused()

    page.button("Review changes").focus()
    page.press("Enter")
    expect(plan).to_be_in_viewport()
    expect(page.grid).to_contain_text("The changes stand below the table")
    plan.get_by_role("button", name="Apply 3 changes").press("Enter")
    expect(plan.get_by_role("status").filter(has_text="All 3 changes applied.")).to_be_visible()
    page.expect_status("251 rows")  # nothing is an edit any more
    page.cell(249, "Name").click()
    page.press("Control+Home")
    expect(page.cell(0, "Name")).to_have_text("Ana Cruz")
    expect(page.button("Undo")).to_be_disabled()
    page.press("Control+End")
    expect(page.cell(250, 0)).to_have_text("50257")
    page.press("Control+Home")
    plan.get_by_role("button", name="Take it back").press("Enter")
    back = plan.locator(".chatkit-planview")
    back.get_by_role("button", name="Take back 3 changes").press("Enter")
    expect(page.cell(0, "Name")).to_have_text("Oliver Smith")

    # another plan comes in place of the one below: the focus goes on with it
    page.press("Control+Home")
    run(page.notebook, 5)
    page.button("Review changes").focus()
    page.press("Enter")
    page.page.get_by_role("button", name="Leave out 1 row").focus()
    page.press("Enter")
    expect(plan.locator("p[tabindex]").first).to_be_focused()

    # somebody else was quicker: nothing is written, and both names are shown
    run(page.notebook, 6)
    plan.get_by_role("button", name="Apply 1 change").press("Enter")
    expect(plan.locator("tbody").first).to_contain_text("Somebody Else")
    expect(plan.get_by_role("status").or_(plan.get_by_role("alert")).first).to_contain_text(
        "1 conflict"
    )


#: Any script of a widget is late, as in a browser that is busy.
LATE = """() => {
    const before = AbortSignal.timeout;
    AbortSignal.timeout = (ms) => {
        if (ms !== 2000) return before.call(AbortSignal, ms);
        const late = new AbortController();
        Promise.resolve().then(() => late.abort());
        return late.signal;
    };
    window.inTime = () => { AbortSignal.timeout = before; };
}"""


def test_a_widget_whose_script_was_late_hears_of_python_all_the_same(page: GridPage) -> None:
    late: list[str] = []
    page.page.once("pageerror", lambda error: late.append(str(error)))
    page.page.evaluate(LATE)
    page.show(0)
    page.cell(0, "Name").click()
    page.type("Ana Cruz")
    page.press("Enter")
    page.expect_status("250 rows · 1 cell changed")
    assert run(page.notebook, 1).inner_text().startswith("Grid of 250 contacts: 1 cell changed.")
    page.button("Review changes").click()
    page.plan.get_by_role("button", name="Apply 2 changes").click()
    expect(page.page.get_by_text("All 2 changes applied.")).to_be_visible()
    assert "Failed to initialize" in late[0]
    page.page.evaluate("inTime()")


def test_a_hundred_thousand_rows_scroll(opened: GridPage) -> None:
    page = opened
    page.show(2, "1")
    page.expect_status("100,000 rows")
    page.cell(0, 0).click()
    page.press("Control+ArrowDown")
    expect(page.cell(99_999, 0)).to_have_text("100000")
    body = page.grid.locator(".gd-body > .gd-row")
    assert body.count() < 60  # only what is in view is drawn
    for place in (20_000, 70_000, 45_000):
        page.grid.locator(".gd-table").evaluate(f"table => table.scrollTop = {place} * 28")
        expect(page.cell(place + 2, 0)).to_have_text(f"{place + 3}")
    assert body.count() < 60


def test_flags_are_switched_and_nested_values_shown(opened: GridPage) -> None:
    page = opened
    page.show(3, re.compile(r"\d+"))
    expect(page.cell(0, "Active")).to_contain_text("true")
    page.cell(0, "Active").click()
    page.press("Space")
    expect(page.cell(0, "Active")).to_have_text("✗ false")
    page.press("ArrowRight", "Enter", "Control+a")
    page.type('["message.received"')
    page.press("Enter")
    expect(page.grid).to_contain_text("1 cell changed, 1 cell refused")


def test_pages_are_asked_for_in_time_and_a_column_keeps_its_width_while_it_is_drawn(
    browser: Browser, client: Client
) -> None:
    many = pd.concat([client.contacts.frame()] * 4).set_axis(pd.RangeIndex(1000, name="id"))
    table = next(one for one in parts(Grid(client.contacts, many)) if isinstance(one, GridTable))
    page = browser.new_page()
    page.set_content("<!doctype html><body></body>")
    page.add_style_tag(content=table._css)
    call(page, "show", [table._esm, {name: getattr(table, name) for name in TRAITS}])
    asked = "() => player.sent.filter(one => one.do === 'page').map(one => one.page)"
    page.wait_for_function(f"() => ({asked})().length === 2")
    assert page.evaluate(asked) == [0, 1]  # two dozen rows are in view
    page.locator(".gd-table").evaluate("table => { table.scrollTop = 150 * 28; }")
    page.wait_for_function(f"() => ({asked})().includes(2)")
    assert page.evaluate(asked) == [0, 1, 2]

    heads = page.get_by_role("columnheader")
    edge = heads.first.locator(".gd-edge").bounding_box()
    assert edge
    wide = heads.first.evaluate("one => one.offsetWidth")
    page.mouse.move(edge["x"] + 2, edge["y"] + 8)
    page.mouse.down()
    page.mouse.move(edge["x"] + 62, edge["y"] + 8, steps=3)
    page.evaluate("player.hear({ note: 'Rows came' })")
    page.get_by_text("Rows came").wait_for()  # all is drawn anew
    page.evaluate("player.change({ column_layout: player.state.column_layout })")
    page.mouse.up()
    expect(heads.first).to_have_js_property("offsetWidth", wide + 60)
    report = page.evaluate("player.sent.findLast(one => one.do === 'layout').layout")
    assert report[0] == ["id", wide + 60]
    heads.first.evaluate("one => { window.kept = one; }")
    page.evaluate("layout => player.change({ column_layout: layout })", report)
    assert page.evaluate("kept.isConnected")  # or what is dragged by it would be dropped
    page.close()
