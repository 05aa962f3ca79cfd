"""The notebooks in Lab: each runs whole, and its page shows what it is about.

What their cells print is compared by `pytest --nbval`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from browser.conftest import Opener
from browser.phone import Phone
from playwright.sync_api import Page, expect


def look_at_start(page: Page) -> None:
    frames = page.locator(".jp-OutputArea-output .chatkit-frame table")
    expect(frames.first).to_be_visible()
    assert all(frame.locator("tbody tr").count() for frame in frames.all())


def look_at_flows(page: Page) -> None:
    expect(page.locator("svg.chatkit-flow").first).to_be_visible()
    phone = Phone(page.locator(".fp-player").first)
    phone.body.get_by_label("Cargo bike").check(force=True)
    phone.send.click()
    expect(phone.title).to_have_text("When?")
    expect(page.locator(".chatkit-editor").first.get_by_role("treeitem").first).to_be_visible()


def look_at_templates(page: Page) -> None:
    expect(page.get_by_text("La tua bici è pronta").first).to_be_visible()
    board = page.locator(".bd-boardgrid")
    board.get_by_role("gridcell").first.click()
    page.keyboard.press("Enter")
    expect(board.locator(".cf-content")).to_be_visible()


def look_at_contacts(page: Page) -> None:
    expect(page.get_by_text("All 19 changes applied.").first).to_be_visible()


def look_at_webhooks(page: Page) -> None:
    expect(page.get_by_text("Yes, come by!").first).to_be_visible()
    expect(page.locator(".tl-tail .chatkit-state")).to_have_text("live")  # after the last cell too


@pytest.mark.parametrize(
    ("name", "look"),
    [
        ("0_start", look_at_start),
        ("1_flows", look_at_flows),
        ("2_templates", look_at_templates),
        ("3_contacts", look_at_contacts),
        ("4_webhooks", look_at_webhooks),
    ],
)
def test_a_notebook_runs_whole_and_is_used(
    open_notebook: Opener, name: str, look: Callable[[Page], None]
) -> None:
    notebook = open_notebook(f"{name}.ipynb")
    notebook.run_all()
    look(notebook.page)
    notebook.shot(name, whole=True)
