"""Everything can be done by keyboard alone: nothing here clicks, fills in or focuses anything.

The grid, plans, forms, the tail, the login and the player have such tests beside their others.
"""

from __future__ import annotations

import json

from browser import story
from browser.conftest import Opener
from browser.lab import Lab, OpenNotebook
from browser.story import Keyboard
from playwright.sync_api import Locator, expect

from chatkit.widgets.editor.edits import make_flow

CELLS = [
    """import chatkit
from chatkit.widgets import BoardGrid, Editor
client = chatkit.connect(chatkit.Sandbox(seed="demo"))
editor = Editor("keyboard.json", resource=client.flows)
editor""",
    """board = BoardGrid(client.templates, ["order_ready", "rental_reminder"])
board""",
    """print(list(client.flows.frame()["name"])[-1])
print(client.templates("order_ready").get("es").footer)""",
]


def output(notebook: OpenNotebook, n: int) -> Locator:
    """Return the output of a cell."""
    return notebook.page.locator(".jp-Notebook .jp-CodeCell").nth(n).locator(".jp-OutputArea").first


def test_a_flow_is_built_and_a_content_translated_by_keyboard_alone(
    lab: Lab, open_notebook: Opener
) -> None:
    document = make_flow()
    document["screens"][0].pop("terminal")
    document["screens"][0].pop("success")
    (lab.root / "keyboard.json").write_text(json.dumps(document))
    notebook = open_notebook(story.write(lab, "keyboard.ipynb", CELLS))
    notebook.run_all()
    keys = Keyboard(notebook.page)

    # a component is added where the tree is, and moved up
    editor = output(notebook, 0).locator(".chatkit-editor")
    tree = editor.get_by_role("tree")
    rows = tree.locator(".ct-component .ct-name")
    expect(rows).to_have_text(["TextHeading", "Footer"])
    heading = tree.get_by_role("treeitem").filter(has_text="TextHeading").last
    keys.reach(tree.locator("[tabindex='0']"))
    keys.reach(heading, "ArrowDown")
    add = editor.get_by_role("combobox", name="Add at the selected row")
    keys.reach(add)
    keys.type("TextInput")
    offers = editor.get_by_role("listbox", name="What can be added").get_by_role("option")
    expect(offers.filter(has_text="TextInput")).to_be_visible()
    keys.press("Enter")
    expect(rows).to_have_text(["TextHeading", "TextInput", "Footer"])
    added = tree.get_by_role("treeitem").filter(has_text="TextInput").last
    expect(added).to_have_attribute("aria-selected", "true")
    keys.reach(added, "Shift+Tab")
    keys.press("Alt+ArrowUp")
    expect(rows).to_have_text(["TextInput", "TextHeading", "Footer"])

    # its label is written, and a finding fixed
    keys.reach(editor.locator(".chatkit-inspector").get_by_role("textbox", name="Label").first)
    keys.press("Control+a")
    keys.type("Your bike")
    expect(editor.locator(".fp-body").get_by_text("Your bike")).to_be_visible()
    fix = editor.get_by_role("button", name="Fix: No screen is terminal")
    keys.reach(fix)
    keys.press("Enter")
    expect(fix).to_have_count(0)

    # it is saved
    keys.reach(editor.get_by_label("Name of the new flow"))
    keys.type("Keys")
    keys.reach(editor.get_by_role("button", name="Save as a new flow …"))
    keys.press("Enter")
    keys.reach(editor.get_by_role("button", name="Apply 1 change"))
    keys.press("Enter")
    expect(editor.locator(".ce-bar h3")).to_contain_text("Keys")

    # a cell of the board is opened, its form filled in, and saved
    board = output(notebook, 1)
    keys.reach(board.locator(".bd-cell[tabindex='0']"))
    keys.press("ArrowRight", "ArrowRight", "ArrowRight", "Enter")
    form = board.locator(".cf-content")
    expect(form.get_by_role("heading", name="Content · order_ready · Spanish")).to_be_visible()
    keys.reach(form.get_by_label("Footer"))
    keys.press("Control+a")
    keys.type("Responde BAJA")
    expect(form.locator(".cf-seen [lang]").first).to_contain_text("Responde BAJA")
    keys.reach(form.locator(".chatkit-fold summary"))
    keys.press("Enter")
    expect(form.get_by_label("Catalog", exact=True)).to_be_visible()
    keys.reach(form.get_by_role("button", name="Review the change"))
    keys.press("Enter")
    keys.reach(form.get_by_role("button", name="Apply 1 change"))
    keys.press("Enter")
    expect(form.get_by_role("status").filter(has_text="Saved order_ready")).to_be_visible()

    report = story.run(notebook, 2)
    expect(report).to_contain_text("Keys")
    expect(report).to_contain_text("Responde BAJA")
