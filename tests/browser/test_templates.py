"""The templates notebook as a person goes through it: the board, a message, a translation."""

from __future__ import annotations

from collections.abc import Callable

from browser.lab import OpenNotebook
from playwright.sync_api import expect


def test_all_of_it_runs_and_the_board_opens_a_content(
    open_notebook: Callable[[str], OpenNotebook],
) -> None:
    notebook = open_notebook("2_templates.ipynb")
    notebook.run_all()
    page = notebook.page
    page.get_by_role("heading", name="The board").scroll_into_view_if_needed()
    notebook.shot("templates_board")
    notebook.theme("Dark")
    notebook.shot("templates_board_dark")
    notebook.theme("Light")
    page.get_by_role("heading", name="As the customer sees it").scroll_into_view_if_needed()
    expect(page.get_by_text("La tua bici è pronta").first).to_be_visible()
    notebook.shot("templates_preview")
    board = page.locator(".bd-boardgrid")
    board.scroll_into_view_if_needed()
    board.get_by_role("gridcell").first.click()
    page.keyboard.press("Enter")
    expect(page.locator(".bd-boardgrid .cf-content")).to_be_visible()
    notebook.shot("templates_boardgrid")
    notebook.shot("2_templates", whole=True)
