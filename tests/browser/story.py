"""A notebook of a few cells, written for one test, and run cell by cell as a person would."""

from __future__ import annotations

import json
import re

from browser.lab import Lab, OpenNotebook
from playwright.sync_api import Locator, expect


def write(lab: Lab, name: str, sources: list[str]) -> str:
    """Write a notebook of these code cells into the folder of the lab; return its file name."""
    empty = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**empty, "id": f"cell-{n}", "source": source} for n, source in enumerate(sources)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    about = {"metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (lab.root / name).write_text(json.dumps({"cells": cells, **about}))
    return name


def run(notebook: OpenNotebook, n: int) -> Locator:
    """Run one cell, wait until it has run, and return its outputs."""
    cell = notebook.page.locator(".jp-Notebook .jp-CodeCell").nth(n)
    begin(notebook, n)
    wait(notebook, n)
    assert not notebook.errors(), notebook.errors()
    outputs = cell.locator(".jp-OutputArea").first
    expect(outputs).to_be_visible()
    return outputs


def begin(notebook: OpenNotebook, n: int) -> None:
    """Start one cell."""
    cell = notebook.page.locator(".jp-Notebook .jp-CodeCell").nth(n)
    cell.locator(".cm-content").first.click()
    cell.locator(".jp-InputPrompt").evaluate("one => { one.textContent = ''; }")  # of a run before
    notebook.page.keyboard.press("Control+Enter")


def wait(notebook: OpenNotebook, n: int) -> None:
    """Wait until one cell has run."""
    prompt = notebook.page.locator(".jp-Notebook .jp-CodeCell").nth(n).locator(".jp-InputPrompt")
    expect(prompt).to_have_text(re.compile(r"\[[0-9]+\]"), timeout=60_000)
