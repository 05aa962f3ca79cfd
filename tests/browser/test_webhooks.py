"""The webhooks notebook as a person goes through it: heard, looked at, closed."""

from __future__ import annotations

from collections.abc import Callable

from browser.lab import OpenNotebook
from playwright.sync_api import expect


def test_all_of_it_runs_and_the_tail_opens_a_delivery(
    open_notebook: Callable[[str], OpenNotebook],
) -> None:
    notebook = open_notebook("4_webhooks.ipynb")
    notebook.run_all()
    page = notebook.page
    expect(page.get_by_text("Yes, come by!").first).to_be_visible()
    expect(page.locator(".tl-state")).to_have_text("live")  # after the last cell too
    page.get_by_role("heading", name="A campaign").scroll_into_view_if_needed()
    notebook.shot("webhooks_campaign")
    page.get_by_role("heading", name="Watch").scroll_into_view_if_needed()
    notebook.shot("webhooks_watch")
    page.get_by_role("heading", name="Are they well?").scroll_into_view_if_needed()
    notebook.shot("webhooks_health")
    notebook.shot("4_webhooks", whole=True)
