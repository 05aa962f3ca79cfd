"""A plan as a person meets it: read, applied, stopped by the button, resumed, taken back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from browser.lab import Lab, OpenNotebook
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


@pytest.fixture
def story(lab: Lab) -> str:
    cells = [
        {"cell_type": "code", "id": f"cell-{n}", "source": source, "metadata": {}, "outputs": []}
        | {"execution_count": None}
        for n, source in enumerate(CELLS)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    about = {"metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    Path(lab.root / "bulk.ipynb").write_text(json.dumps({"cells": cells, **about}))
    return "bulk.ipynb"


def test_a_plan_is_read_applied_stopped_resumed_and_taken_back(
    story: str, open_notebook: Callable[[str], OpenNotebook]
) -> None:
    notebook = open_notebook(story)
    page = notebook.page
    outputs = page.locator(".jp-Notebook .jp-CodeCell")

    def run(cell: int) -> None:
        page.locator(".jp-CodeCell").nth(cell).locator(".cm-content").click()
        page.keyboard.press("Control+Enter")

    def wait(cell: int) -> str:
        page.wait_for_function(
            """n => {
                const cells = [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')];
                const prompt = cells[n].querySelector('.jp-InputPrompt').textContent;
                return /\\[[0-9]+\\]/.test(prompt);
            }""",
            arg=cell,
            timeout=30_000,
        )
        return outputs.nth(cell).inner_text()

    run(0)
    assert "1 delete" in wait(0)
    expect(outputs.nth(0).locator("img")).to_have_count(0)  # a name is never markup
    notebook.shot("bulk_plan")
    notebook.theme("Dark")
    notebook.shot("bulk_plan_dark")
    notebook.theme("Light")

    run(1)
    bar = outputs.nth(1).locator(".jp-OutputArea-output", has_text="changes/s")
    expect(bar.first).to_be_visible(timeout=10_000)
    notebook.shot("bulk_progress")
    notebook.command("notebook:interrupt-kernel")
    text = wait(1)
    assert "Stopping: waiting for the calls in progress." in text
    assert "you stopped it" in text
    notebook.shot("bulk_stopped")

    run(2)
    assert "not sent" in wait(2)
    run(3)
    assert "All 162 changes applied." in wait(3)
    run(4)
    assert "takes back" in wait(4)
    run(5)
    assert "All 162 changes applied." in wait(5)
    notebook.shot("bulk_undone", whole=True)
    assert notebook.errors() == []
