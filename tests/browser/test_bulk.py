"""A plan as a person meets it: read, applied, stopped by the button, resumed, taken back."""

from __future__ import annotations

from browser import story
from browser.conftest import Opener
from browser.lab import Lab
from playwright.sync_api import expect

CELLS = [
    """import chatkit

sandbox = chatkit.Sandbox(seed="demo")
client = chatkit.connect(sandbox)
contacts = client.contacts.frame()
contacts["name"] = contacts.name.str.upper()
contacts.loc[50001, "name"] = "<img src=x onerror=alert(1)> $x^2$"
contacts.loc[50003, "number"] = "12 34"
plan = client.contacts.plan(contacts, delete=[50250], skip_invalid=True)
plan""",
    """sandbox.faults(latency=0.05)
result = plan.apply(many=True)
result.head()""",
    """print(result.chatkit.summary().split(" It stopped")[0])
chatkit.runs(client)[["noun", "changes", "state"]]""",
    """sandbox.faults()
result = chatkit.resume(result)
print(result.chatkit.summary())""",
    "back = chatkit.undo(result)\nback",
    "print(back.apply().chatkit.summary())",
]


def test_a_plan_is_read_applied_stopped_resumed_and_taken_back(
    lab: Lab, open_notebook: Opener
) -> None:
    notebook = open_notebook(story.write(lab, "bulk.ipynb", CELLS))
    plan = story.run(notebook, 0)
    expect(plan).to_contain_text("1 delete")
    expect(plan.locator("img")).to_have_count(0)  # a name is never markup
    notebook.shot("bulk_plan")

    story.begin(notebook, 1)
    cell = notebook.page.locator(".jp-Notebook .jp-CodeCell").nth(1)
    expect(cell.locator(".jp-OutputArea-output", has_text="changes/s").first).to_be_visible()
    notebook.command("notebook:interrupt-kernel")
    story.wait(notebook, 1)
    expect(cell).to_contain_text("Stopping: waiting for the calls in progress.")
    expect(cell).to_contain_text("you stopped it")

    words = ("not sent", "All 162 changes applied.", "takes back", "All 162 changes applied.")
    for n, text in enumerate(words, 2):
        expect(story.run(notebook, n)).to_contain_text(text)
    notebook.shot("bulk_undone", whole=True)
