"""A plan view as a person meets it: filtered, confirmed, stopped, gone on with, taken back."""

from __future__ import annotations

import re

import pytest
from browser import story
from browser.conftest import Opener
from browser.lab import Lab, OpenNotebook
from playwright.sync_api import expect

CELLS = [
    """import chatkit
from chatkit.widgets.planview import PlanView

sandbox = chatkit.Sandbox(seed="demo")
client = chatkit.connect(sandbox)
contacts = client.contacts.frame()
contacts["name"] = contacts.name.str.upper()
contacts.loc[50001, "name"] = "<img src=x onerror=alert(1)> $x^2$"
contacts.loc[50003, "number"] = "12 34"
view = PlanView(client.contacts.plan(contacts, delete=[50250], skip_invalid=True))
sandbox.faults(latency=0.2)
view""",
    """view.wait()
writes = [entry for entry in sandbox._middleware.log if entry.method != "GET"]
print(len(writes), client.contacts.get(50001).first_name[:4])
sandbox.faults()""",
    """view.back.wait()
print(client.contacts.get(50002).name)""",
    """sandbox.faults(latency=0.1)
again = client.contacts.plan(contacts.head(30), skip_invalid=True)
stopped = PlanView(again)
stopped.start(stopped.phrase)
stopped.stop()
stopped.wait()
sandbox.faults()
chatkit.runs(client)""",
]


@pytest.fixture(scope="module")
def notebook(lab: Lab, open_once: Opener) -> OpenNotebook:
    return open_once(story.write(lab, "planview.ipynb", CELLS))


def test_a_plan_is_confirmed_applied_stopped_and_taken_back(notebook: OpenNotebook) -> None:
    view = story.run(notebook, 0).locator(".chatkit-planview").first
    apply = view.get_by_role("button", name="Apply 162 changes")
    expect(apply).to_have_attribute("aria-disabled", "true")
    expect(view.locator("img, .MathJax")).to_have_count(0)
    notebook.shot("planview")

    view.get_by_label("Show").select_option(label="refused 1")
    expect(view.locator("tbody")).to_have_count(1)
    expect(view.locator("tbody")).to_contain_text("12 34")
    view.get_by_label("Show").select_option(label="all 163")
    view.get_by_label("that hold").fill("onerror")
    expect(view.locator("tbody")).to_have_count(1)
    view.get_by_label("that hold").fill("")
    view.get_by_role("button", name="Next").click()
    expect(view.get_by_text("11 to 20 of 163")).to_be_visible()

    confirm = view.get_by_label("Type CHANGE 162 to allow it")
    confirm.fill("CHANGE 16")
    expect(apply).to_have_attribute("aria-disabled", "true")
    confirm.fill("CHANGE 162")
    expect(apply).to_have_attribute("aria-disabled", "false")
    apply.dblclick()
    stop = view.get_by_role("button", name="Stop")
    expect(stop).to_be_focused()
    expect(view.get_by_role("progressbar")).to_have_attribute(
        "aria-valuenow", re.compile("[1-9][0-9]")
    )
    notebook.shot("planview_running")
    stop.press("Enter")
    expect(view.get_by_role("alert")).to_contain_text("not sent")
    go_on = view.get_by_role("button", name="Resume")
    expect(go_on).to_be_focused()
    notebook.shot("planview_stopped")
    first = view.locator("tbody").first
    expect(first).to_contain_text("not sent")
    expect(first.locator("del, ins")).to_have_count(2)  # what it was and what it would become
    story.run(notebook, 1)

    go_on.press("Enter")
    expect(view.get_by_role("status").filter(has_text="All 162 changes applied.")).to_be_visible()
    whole = view.get_by_role("button", name="Take it back").first
    expect(whole).to_be_focused()
    row = view.locator("tbody").nth(2)
    one = row.get_by_role("button", name="Take back")
    one.press("Enter")
    back = view.locator(".chatkit-planview")
    expect(back).to_contain_text("1 of the 162 rows of the run")
    heading = back.locator("p").filter(has_text="Plan that takes back a run of contacts: 1 update.")
    expect(heading).to_be_focused()
    back.get_by_role("button", name="Take back 1 change").press("Enter")
    expect(row).to_contain_text("taken back")
    expect(back.get_by_role("status").filter(has_text="1 change: 1 applied.")).to_be_visible()
    whole.click()
    expect(back).to_contain_text("takes back a run of contacts")
    notebook.shot("planview_back", whole=True)
    back.get_by_role("button", name="Take back 161 changes").click()
    expect(back.get_by_role("status").filter(has_text="All 161 changes applied.")).to_be_visible()
    story.run(notebook, 2)


def test_runs_are_a_table_to_click(notebook: OpenNotebook) -> None:
    story.run(notebook, 0)  # a new account
    runs = story.run(notebook, 3).locator(".chatkit-runs").first
    expect(runs.locator("tbody")).to_have_count(1)
    resume = runs.get_by_role("button", name="Resume")
    resume.press("Enter")
    view = runs.locator(".chatkit-planview").first
    expect(view.locator("p").filter(has_text="Run of").first).to_be_focused()
    expect(view.locator("tbody").first).to_contain_text("not sent")
    notebook.shot("runs_resume")
    view.get_by_role("button", name="Resume").press("Enter")
    expect(view.get_by_role("status").filter(has_text="changes applied.")).to_be_visible()
    expect(runs.locator("tbody").first).to_contain_text("finished")

    view.locator("tbody").nth(1).get_by_role("button", name="Take back").press("Enter")
    view.locator(".chatkit-planview").get_by_role("button", name="Take back 1 change").press(
        "Enter"
    )
    expect(runs.locator("tbody").first).to_contain_text("takes back the run of")
    expect(runs.locator("tbody").nth(1)).to_contain_text("partly taken back")
    expect(view.locator("tbody").nth(1)).to_contain_text("taken back")
    notebook.shot("runs")
    runs.get_by_role("button", name="Close this run").press("Enter")
    expect(view).to_have_count(0)
    expect(runs.get_by_role("button", name="Refresh")).to_be_focused()
