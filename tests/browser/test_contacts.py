"""The contacts notebook as a person goes through it: run, typed into, applied, taken back."""

from __future__ import annotations

from collections.abc import Callable

from browser import story
from browser.lab import OpenNotebook
from playwright.sync_api import expect


def test_its_widgets_do_what_the_story_says(
    open_notebook: Callable[[str], OpenNotebook],
) -> None:
    notebook = open_notebook("3_contacts.ipynb")
    page = notebook.page
    notebook.command("notebook:clear-all-cell-outputs")
    story.run(notebook, 0)
    for cell in (2, 3):
        result = story.run(notebook, cell)
    expect(result).to_contain_text("Peter Novak")
    result.scroll_into_view_if_needed()
    notebook.shot("contacts_check")
    notebook.theme("Dark")
    notebook.shot("contacts_check_dark")
    notebook.theme("Light")
    for cell in range(4, 9):
        story.run(notebook, cell)

    grid = story.run(notebook, 9).locator(".gd-grid")
    name = grid.locator('[data-row="2"][data-column="1"]')
    expect(name).to_have_text("ሰላም ታደሰ")
    name.click()
    page.keyboard.type("Selam Tadesse")
    page.keyboard.press("Enter")
    expect(name).to_have_text("Selam Tadesse")
    notebook.shot("contacts_grid")

    view = story.run(notebook, 10).locator(".chatkit-planview").first
    view.get_by_role("button", name="Apply 2 changes").click()
    expect(view).to_contain_text("All 2 changes applied.")
    notebook.shot("contacts_applied")

    form = story.run(notebook, 11)
    form.get_by_label("Phone number").press_sequentially("020")
    form.get_by_label("Country code").fill("44")
    expect(form.get_by_role("alert")).to_contain_text("must be a +")
    form.get_by_label("Phone number").fill("2065550187")
    form.get_by_label("Country code").fill("+1")
    form.get_by_role("button", name="Create").click()
    expect(form.get_by_role("status")).to_contain_text("Created contact")
    notebook.shot("contacts_form")
    assert "18 deletes" in story.run(notebook, 12).inner_text()
    assert "18 applied, 1 conflict" in story.run(notebook, 13).inner_text()


def test_all_of_it_runs(open_notebook: Callable[[str], OpenNotebook]) -> None:
    notebook = open_notebook("3_contacts.ipynb")
    notebook.run_all()
    expect(notebook.page.get_by_text("All 19 changes applied.").first).to_be_visible()
    notebook.shot("3_contacts", whole=True)
