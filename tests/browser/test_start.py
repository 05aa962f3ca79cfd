"""The first notebook as a person meets it."""

from __future__ import annotations

from collections.abc import Callable

from browser.lab import OpenNotebook
from playwright.sync_api import expect


def test_the_start_notebook_runs_and_shows_frames(
    open_notebook: Callable[[str], OpenNotebook],
) -> None:
    notebook = open_notebook("0_start.ipynb")
    notebook.run_all()
    frames = notebook.page.locator(".jp-OutputArea-output .chatkit-frame table")
    expect(frames.first).to_be_visible()
    assert all(frame.locator("tbody tr").count() for frame in frames.all())
    notebook.shot("0_start", whole=True)
