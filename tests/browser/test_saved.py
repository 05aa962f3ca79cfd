"""Tests of saved widgets whose kernel has ended: in Lab, Notebook, Voila, and exported."""

from __future__ import annotations

import json
import os
import re
import signal

import nbformat
import pytest
from browser import story
from browser.conftest import Opener
from browser.lab import Lab, OpenNotebook
from browser.phone import Phone
from nbconvert import HTMLExporter
from playwright.sync_api import Locator, expect
from widgets.showcase import footer, screen

START = """import chatkit
from chatkit.widgets import *
client = chatkit.connect(chatkit.Sandbox(seed="demo"))
inbox = chatkit.Inbox()
order = client.templates("order_ready")
contacts = client.contacts.frame()
contacts.loc[50001, "name"] = "<img src=x onerror=alert(1)>"
contacts.loc[50003, "name"] = "Ines " + "Maria " * 200
"""
#: Each widget, and words of what is to be read when its kernel has ended.
WIDGETS = {
    "Grid(client.contacts)": "Karl-Heinz",
    "PlanView(client.contacts.plan(contacts))": "All 2 changes applied",
    "chatkit.runs(client)": "No runs yet",
    "Form(client.contacts)": "555 0100",
    "Preview(order.get('de'))": "Dein Rad ist fertig",
    "ContentForm(order, 'ar')": "order_ready",
    "BoardGrid(client.templates, ['order_ready'])": "order_ready",
    "FolderView(client)": "of the sandbox: 8 files",
    "Editor(resource=client.flows, flow=301)": "Book a repair",
    "Player(client.flows.get(301).flow_json)": "Book a repair",
    "Tail(inbox)": "Tail of the inbox",
    "Conversation(inbox, '+12125550142')": "No message",
    "Registrations(client.webhooks)": "webhook",
    "login('shop')": "A form to keep the connection shop",
}
FLOW = {
    "version": "7.3",
    "screens": [
        screen("A", "One", footer("Next", "navigate", {}, "B")),
        screen("B", "Two", footer("Send", "complete", {"x": "1"}), terminal=True),
    ],
}
#: What the extension does a second after a change is done at once.
AT_ONCE = """() => {
    const later = window.setTimeout;
    window.setTimeout = (act, ms, ...more) => later(act, ms === 1000 ? 0 : ms, ...more);
}"""
pytestmark = pytest.mark.timeout(300)  # Lab is started, and two kernels one after the other
LINE = "This is what was saved: run the cell to use it again."
BROKEN = re.compile("Error displaying widget|Loading widget|Error creating widget")


def outputs(notebook: OpenNotebook) -> list[Locator]:
    """The output of each widget."""
    cells = notebook.page.locator(".jp-Notebook .jp-CodeCell")
    return [cells.nth(n + 1).locator(".jp-OutputArea-output") for n in range(len(WIDGETS))]


def read_as_saved(notebook: OpenNotebook) -> None:
    for output, words in zip(outputs(notebook), WIDGETS.values(), strict=True):
        expect(output.get_by_text(LINE)).to_have_count(1)
        expect(output).to_contain_text(words)
        expect(output.locator("img[src=x], button:visible")).to_have_count(0)
    expect(notebook.page.get_by_text(BROKEN)).to_have_count(0)
    expect(notebook.page.locator("mjx-container, .MathJax")).to_have_count(0)


def test_what_was_last_seen_of_each_widget_is_there_when_its_kernel_has_ended(
    lab: Lab, open_notebook: Opener
) -> None:
    name = story.write(lab, "saved.ipynb", [START, *WIDGETS])
    notebook = open_notebook(name)
    notebook.run_all()
    expect(notebook.page.get_by_text(LINE)).to_have_count(0)
    expect(notebook.page.locator(".chatkit-planview")).to_have_count(4)  # all with rows
    notebook.page.get_by_role("button", name="Apply 2 changes").click()
    notebook.page.locator(".chatkit-form input").first.fill("555 0100")

    notebook.wait_for_output("All 2 changes applied")
    notebook.wait_for_output("555 0100")
    notebook.command("docmanager:save")
    notebook.end_kernels()
    read_as_saved(notebook)
    notebook.page.close()

    assert (lab.root / name).stat().st_size < 300_000
    in_notebook = open_notebook(name, "notebooks")
    read_as_saved(in_notebook)
    in_notebook.page.close()
    notebook = open_notebook(name)
    read_as_saved(notebook)
    rest = outputs(notebook)[1].locator(".ck-far")
    expect(rest).to_be_hidden()
    outputs(notebook)[1].get_by_text("Show all").click()  # without a kernel
    expect(rest).to_be_visible()
    notebook.shot("saved", whole=True)

    page, _ = HTMLExporter().from_notebook_node(nbformat.read(lab.root / name, 4))
    assert page.count(LINE) == len(WIDGETS)
    assert all(words in page for words in WIDGETS.values())
    assert "<img src=x" not in page

    # The cell is run again: it is live, and what was saved is gone.
    story.run(notebook, 0)
    expect(story.run(notebook, 1).get_by_role("grid")).to_be_visible()
    expect(notebook.page.get_by_text(LINE)).to_have_count(len(WIDGETS) - 1)


def test_what_is_kept_of_a_widget_waits_until_the_kernel_has_heard_all(
    lab: Lab, open_notebook: Opener
) -> None:
    (lab.root / "heard.json").write_text(json.dumps(FLOW))
    cells = [
        "import os\nprint(os.getpid())",
        'from chatkit.widgets import Player\nPlayer("heard.json")',
    ]
    notebook = open_notebook(story.write(lab, "heard.ipynb", cells), "notebooks")
    notebook.page.evaluate(AT_ONCE)
    kernel = int(story.run(notebook, 0).inner_text())
    phone = Phone(story.run(notebook, 1).locator(".fp-player"))
    expect(phone.title).to_have_text("One")
    os.kill(kernel, signal.SIGSTOP)  # a kernel that is busy hears nothing
    try:
        phone.send.click()
        expect(phone.title).to_have_text("Two")
        phone.send.click()
        expect(phone.title).to_have_text("Sent")
        notebook.page.evaluate("() => new Promise(done => setTimeout(done, 1000))")  # at once too
    finally:
        os.kill(kernel, signal.SIGCONT)
    notebook.wait_for_output("1 answer sent")
