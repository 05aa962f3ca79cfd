"""A notebook of a few cells, written for one test, and run cell by cell as a person would."""

from __future__ import annotations

import json

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
    cell.locator(".cm-content").first.click()
    notebook.page.keyboard.press("Control+Enter")
    notebook.page.wait_for_function(
        """n => {
            const cells = [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')];
            const prompt = cells[n].querySelector('.jp-InputPrompt').textContent;
            return /\\[[0-9]+\\]/.test(prompt);
        }""",
        arg=n,
        timeout=30_000,
    )
    assert not notebook.errors(), notebook.errors()
    outputs = cell.locator(".jp-OutputArea").first
    expect(outputs).to_be_visible()
    return outputs
