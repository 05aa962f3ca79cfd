"""A notebook of a few cells, written for one test, and run cell by cell as a person would."""

from __future__ import annotations

import json
import re

from browser.lab import Lab, OpenNotebook
from playwright.sync_api import Locator, Page, expect


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


class Keyboard:
    """The keys of a page, and where they lead."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def reach(self, expected: Locator, key: str = "Tab", most: int = 60) -> None:
        """Go on with one key until something has the focus."""
        expect(expected).to_have_count(1)
        for _ in range(most):
            if expected.evaluate("one => one === document.activeElement"):
                return
            self.page.keyboard.press(key)
        at = self.page.evaluate("() => document.activeElement.outerHTML.slice(0, 200)")
        raise AssertionError(f"{key} does not lead to {expected}, but to {at}")
