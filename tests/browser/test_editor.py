"""The editor as a person meets it: forms, tree, source, phone and saving, by mouse and keyboard."""

from __future__ import annotations

import json
import re

from browser import looks, story
from browser.conftest import Opener
from browser.lab import Lab, OpenNotebook
from browser.phone import Phone
from playwright.sync_api import Locator, expect
from widgets.showcase import DOCUMENT

CELLS = [
    """import chatkit, json
from chatkit.widgets.editor import Editor

client = chatkit.connect(chatkit.Sandbox(seed="demo"))
editor = Editor("trip.json", resource=client.flows)
editor""",
    """print(editor.state.broken, client.flows.frame()["name"].iloc[-1])""",
]


class Hand:
    """The steps of a person in one editor."""

    def __init__(self, root: Locator) -> None:
        self.root = root
        self.tree = root.get_by_role("tree")
        self.phone = Phone(root.locator(".fp-player"))
        self.source = root.get_by_role("textbox", name="Source of the flow")
        self.form = root.locator(".chatkit-inspector")
        self.findings = root.locator(".cl-findings")

    def row(self, name: str, text: str = "") -> Locator:
        return self.tree.get_by_role("treeitem").filter(has_text=name).filter(has_text=text).first

    def field(self, name: str) -> Locator:
        """The input of a property; what must be there says so after its name."""
        named = re.compile(rf"^{name}( · required)?$")
        return self.form.get_by_role("textbox", name=named)

    def button(self, name: str) -> Locator:
        return self.root.get_by_role("button", name=name, exact=True)

    def tab(self, name: str) -> None:
        self.root.get_by_role("tab", name=name).click()


def opened(notebook: OpenNotebook, n: int = 0) -> Hand:
    outputs = story.run(notebook, n)
    hand = Hand(outputs.locator(".chatkit-editor"))
    expect(hand.tree).to_be_visible()
    expect(hand.phone.title).not_to_be_empty()
    return hand


def test_a_flow_is_edited_checked_played_and_saved(lab: Lab, open_notebook: Opener) -> None:
    (lab.root / "trip.json").write_text(json.dumps(DOCUMENT, indent=2))
    notebook = open_notebook(story.write(lab, "editor.ipynb", CELLS))
    page, hand = notebook.page, opened(notebook)

    # a label is edited in the form and seen on the phone; what cannot be counts as no edit
    hand.row("TextInput", "Full name").click()
    label = hand.field("Label")
    label.fill("Your whole name")
    expect(hand.phone.body.get_by_text("Your whole name")).to_be_visible()
    expect(hand.row("TextInput", "Your whole name")).to_be_visible()
    least = hand.field("Min chars")
    least.fill("some")
    expect(hand.form.get_by_role("alert").first).to_contain_text("must be a number")
    least.fill("3")
    expect(hand.form.get_by_role("alert")).to_have_count(0)
    notebook.shot("editor", whole=True)

    # another screen is selected: the phone goes there
    hand.row("PHOTO").click()
    expect(hand.phone.title).to_have_text("Your photo")

    # the tree is traversed, and the flow rebuilt, with the keyboard alone
    page.keyboard.press("ArrowRight")
    expect(hand.row("PhotoPicker")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(hand.row("PHOTO")).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Alt+ArrowDown")
    expect(hand.tree.locator(".ct-screen .ct-name").nth(4)).to_have_text("PHOTO")
    expect(hand.row("PHOTO")).to_be_focused()
    page.keyboard.press("Control+d")
    expect(hand.row("PHOTO_B")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Delete")
    expect(hand.tree.get_by_text("PHOTO_B")).to_have_count(0)
    hand.button("Undo").click()
    expect(hand.tree.get_by_text("PHOTO_B")).to_have_count(1)
    for _ in range(2):
        hand.button("Undo").click()
    expect(hand.tree.locator(".ct-screen .ct-name").nth(3)).to_have_text("PHOTO")

    # a row is dragged before another one, and put back
    rows = hand.tree.locator(".ct-component")
    first, second = rows.all_inner_texts()[:2]
    rows.first.scroll_into_view_if_needed()
    rows.nth(1).drag_to(rows.first, target_position={"x": 60, "y": 2})
    expect(rows.first).to_have_text(second.replace("\n", ""))
    hand.button("Undo").click()
    expect(rows.first).to_have_text(first.replace("\n", ""))

    # a component is added where the list of what may stand there says
    hand.row("PHOTO").click()
    add = hand.root.get_by_role("combobox", name="Add at the selected row")
    add.click()
    offers = hand.root.get_by_role("listbox", name="What can be added").get_by_role("option")
    expect(offers.filter(has_text="TextInput")).to_be_visible()
    notebook.shot("editor-add")
    add.fill("smaller")
    expect(offers).to_have_count(1)
    page.keyboard.press("Enter")
    hand.field("Text").fill("Smile!")
    expect(hand.phone.body.get_by_text("Smile!")).to_be_visible()

    # the source is broken: told at its line; the phone keeps the last good document
    hand.tab("Source")
    hand.source.click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("End")
    page.keyboard.type(",,")
    output = hand.root.locator(".cs-line").first.locator(".cs-message")
    expect(output).to_contain_text("not valid JSON")
    expect(hand.findings).to_contain_text("line 1")
    expect(hand.phone.body.get_by_text("Smile!")).to_be_visible()
    notebook.shot("editor_broken")
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    expect(output).to_have_count(0)
    expect(hand.button("Save as a new flow …")).to_have_attribute("aria-disabled", "false")

    # a new line begins where the one before it began
    hand.source.click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.type('"x": 1,')
    lines = hand.source.input_value().split("\n")
    assert lines[2] == lines[1][: len(lines[1]) - len(lines[1].lstrip())] + '"x": 1,'
    expect(hand.findings).to_contain_text("document has no x")
    for key in ("Shift+Home", "Backspace", "Backspace"):
        page.keyboard.press(key)
    expect(hand.findings).not_to_contain_text("document has no x")

    # a finding leads to its line, and from the form to its field
    hand.findings.get_by_role("button").filter(has_text="title").first.click()
    marked = hand.root.locator(".cs-line[data-worst=error]").filter(has_text="no title")
    expect(marked).to_be_in_viewport()
    looks.settle(page)  # the line has flashed
    assert faint(hand) == []
    notebook.theme("Dark")
    looks.settle(page)
    notebook.shot("editor_dark")
    assert faint(hand) == []
    hand.tab("Form")
    hand.findings.get_by_role("button").filter(has_text="title").first.click()
    expect(hand.form.get_by_role("alert").first).to_contain_text("data.rooms")
    looks.settle(page)
    assert faint(hand) == []
    notebook.theme("Light")

    # it is saved as a plan, which is read and applied
    hand.button("Save as a new flow …").click()
    expect(hand.root.locator(".chatkit-message.wrong")).to_contain_text("needs a name")
    hand.root.get_by_label("Name of the new flow").fill("A trip")
    hand.root.get_by_label("Save it although it has errors").check()
    hand.button("Save as a new flow …").click()
    plan = hand.root.locator(".chatkit-planview")
    expect(plan).to_contain_text("1 create")
    notebook.shot("editor_plan", whole=True)
    plan.get_by_role("button", name="Apply").click()
    expect(plan.get_by_role("status")).to_contain_text("1 applied")
    expect(hand.root.locator(".ce-bar h3")).to_contain_text("A trip")
    expect(hand.button("Save …")).to_be_visible()
    assert "False A trip" in story.run(notebook, 1).inner_text()


def faint(hand: Hand) -> list[str]:
    """Texts of the editor that cannot be read well; the player has a test of its own."""
    return looks.faint(hand.root, ".fp-player *, textarea, option")


STALE = """from chatkit.widgets.editor import Editor
import chatkit

client = chatkit.connect(chatkit.Sandbox(seed="demo"))
document = client.flows.get(301).flow_json
document["screens"][0]["terminal"] = "maybe"
document["screens"][1]["layout"]["children"][0]["label"] = "x" * 300
editor = Editor(document, resource=client.flows, flow=301)
editor"""


def test_offers_shut_findings_keep_the_focus_and_a_review_goes_out_of_date(
    lab: Lab, open_notebook: Opener
) -> None:
    notebook = open_notebook(story.write(lab, "offers.ipynb", [STALE]))
    page, hand = notebook.page, opened(notebook)
    add = hand.root.get_by_role("combobox", name="Add at the selected row")
    offers = hand.root.get_by_role("listbox", name="What can be added")
    hand.row("Dropdown").click()
    add.click()
    add.press_sequentially("TextInput")
    add.press("Enter")
    expect(hand.field("Name")).to_have_value("text_input")
    hand.field("Label").click()
    for _ in range(3):
        page.keyboard.press("Control+z")
    expect(offers).to_be_hidden()
    add.click()
    expect(offers).to_be_visible()
    hand.root.locator(".ce-bar h3").click()
    expect(offers).to_be_hidden()
    add.click()
    hand.root.locator(".fp-player").get_by_role("combobox").first.focus()
    page.keyboard.press("Escape")
    expect(offers).to_be_hidden()

    # the source opens where the form was
    hand.row("CalendarPicker").click()
    hand.tab("Source")
    line = hand.root.locator(".cs-line").filter(has_text="CalendarPicker").first
    expect(line).to_be_in_viewport()
    hand.tab("Form")

    # what is worst comes first
    severities = hand.findings.locator("li b").all_inner_texts()
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    fixes = hand.findings.get_by_role("button", name="Fix: ")
    if count := fixes.count():
        fixes.first.press("Enter")
        expect(fixes).to_have_count(count - 1)
        expect(hand.findings.locator(":focus")).to_have_count(1)

    # a review is of what it shows
    hand.root.get_by_label("Save it although").check()
    hand.button("Save …").click()
    plan = hand.root.locator(".chatkit-planview")
    expect(plan.locator("p").filter(has_text="Plan for").first).to_be_focused()
    hand.row("SERVICE").click()
    hand.field("Title").fill("Which one?")
    expect(plan.get_by_text("Out of date")).to_be_visible()
    expect(plan.get_by_role("button", name="Apply 1 change")).to_be_hidden()
    plan.get_by_role("button", name="Review again").click()
    expect(plan.get_by_text("Out of date")).to_have_count(0)
    expect(plan.get_by_text("Which one?")).to_be_visible()
    notebook.shot("editor_review", whole=True)
