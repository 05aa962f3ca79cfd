"""The flows notebook as a person goes through it: looked at, filled in, edited."""

from __future__ import annotations

from collections.abc import Callable

from browser.lab import OpenNotebook
from browser.phone import Phone
from playwright.sync_api import expect


def test_all_of_it_runs_and_the_form_can_be_completed(
    open_notebook: Callable[[str], OpenNotebook],
) -> None:
    notebook = open_notebook("1_flows.ipynb")
    notebook.run_all()
    page = notebook.page
    expect(page.locator("svg.chatkit-flow").first).to_be_visible()

    phone = Phone(page.locator(".fp-player").first)
    phone.root.scroll_into_view_if_needed()
    expect(phone.title).to_have_text("Test ride")
    phone.body.get_by_label("Cargo bike").check(force=True)
    notebook.shot("flows_player")
    phone.send.click()
    expect(phone.title).to_have_text("When?")
    notebook.theme("Dark")
    notebook.shot("flows_player_dark")
    notebook.theme("Light")
    editor = page.locator(".chatkit-editor").first
    editor.scroll_into_view_if_needed()
    expect(editor.get_by_role("treeitem").first).to_be_visible()
    notebook.shot("flows_editor")
    notebook.shot("1_flows", whole=True)
