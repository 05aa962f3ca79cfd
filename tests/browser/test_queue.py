"""Texts are reviewed one after the other, by keyboard alone, until one plan takes all answers."""

from __future__ import annotations

import re

import pytest
from browser import story
from browser.conftest import Opener
from browser.lab import Lab, OpenNotebook
from playwright.sync_api import expect

QUEUE = """import chatkit

client = chatkit.connect(chatkit.Sandbox(seed="demo"))
codes = ["order_ready", "rental_reminder"]
client.templates.accept("de", codes)
text = "Hi {{1}}, <img src=x onerror=alert(1)> your rental of {{2}} is over on {{3}}, sadly."
client.templates("rental_reminder").update("en", text=text)
client.templates.glossary = [{"language": "fr", "address": "formal"}]
queue = client.templates.queue(["de", "fr"], codes, only=["stale", "unknown"])
view = chatkit.widgets.QueueView(queue)
view"""
MADE = """view.plan_view.wait()
print(client.templates("order_ready").get("fr").headers[0]["text"])"""


@pytest.fixture(scope="module")
def notebook(lab: Lab, open_once: Opener) -> OpenNotebook:
    return open_once(story.write(lab, "queue.ipynb", [QUEUE, MADE, SUGGESTED, TAKEN]))


def test_a_queue_is_answered_by_keyboard_and_ends_in_one_plan(notebook: OpenNotebook) -> None:
    keys = notebook.page.keyboard
    queue = story.run(notebook, 0)
    card = queue.locator(".qu-queue")
    text, place = card.get_by_label("Translation"), card.locator(".qu-place")
    expect(place).to_have_text("rental_reminder · German (de) · Text stale")
    expect(card.locator("ins").last).to_be_visible()
    expect(card.locator("img")).to_have_count(0)
    notebook.shot("queue-stale")

    # what is typed is checked, counted, and seen as a customer will see it; Escape takes it back
    text.focus()
    before = text.input_value()
    keys.type("{{9}} ")
    expect(card.locator(".chatkit-notes:not(:empty)")).to_contain_text("{{9}} is not in en")
    expect(queue.locator(".cf-seen")).to_contain_text("{{9}}")
    keys.press("Escape")
    expect(text).to_have_value(before)
    expect(card.locator(".chatkit-findings li")).to_have_count(0)

    # right as it is, and on to the next; a text that is edited stays edited on the way back
    keys.press("Control+Enter")
    expect(place).to_have_text("order_ready · French (fr) · Header 1, text unknown")
    expect(text).to_be_focused()
    keys.press("Control+a")
    keys.type("Ton vélo est prêt")
    expect(card.locator(".chatkit-notes:not(:empty)")).to_contain_text(
        "“Ton” addresses the reader informally"
    )
    keys.press("Alt+ArrowDown")
    expect(place).to_contain_text("Text unknown")
    keys.press("Alt+ArrowUp")
    expect(place).to_contain_text("Header 1, text edited")
    expect(text).to_have_value("Ton vélo est prêt")
    keys.press("Alt+s")
    expect(place).to_contain_text("order_ready · French (fr) · Text")
    keys.press("Alt+ArrowUp")
    expect(place).to_contain_text("skipped")
    keys.press("Control+a")
    keys.type("Votre bicyclette est prête")
    keys.press("Control+Enter")  # at once: what was typed goes before it
    expect(queue.locator(".qu-count")).to_contain_text("2 of")

    # all answers in one plan, below
    queue.get_by_role("button", name="Review changes").press("Enter")
    apply = queue.get_by_role("button", name="Apply")
    expect(queue.get_by_text("1 text is recorded as right, as they are.")).to_be_visible()
    notebook.shot("queue-plan")
    apply.focus()
    keys.press("Alt+s")  # is no key of the plan
    expect(queue.get_by_text("Out of date")).to_have_count(0)
    expect(queue.locator(".qu-count")).to_contain_text("2 of")
    apply.press("Enter")
    made = story.run(notebook, 1)
    expect(made).to_contain_text("Votre bicyclette est prête")


SUGGESTED = """import chatkit

client = chatkit.connect(chatkit.Sandbox(seed="demo"))
ready, waits = client.templates("order_ready").get("en"), client.templates("order_waits")
text = ready.text.replace("ready", "waiting <i>now</i>")
waits.create(lang_code="en", text=text, variables=ready.variables)
view = chatkit.widgets.QueueView(client.templates.queue(["de"], ["order_waits"], only="missing"))
view"""
TAKEN = """view.plan_view.wait()
print(waits.get("de").is_draft, waits.get("de").text)"""


def test_a_suggestion_says_where_it_comes_from_and_is_taken_by_keyboard(
    notebook: OpenNotebook,
) -> None:
    keys = notebook.page.keyboard
    queue = story.run(notebook, 2)
    card, german = queue.locator(".qu-queue"), "Hallo {{1}}, dein {{2}} ist repariert"
    text, near = card.get_by_label("Translation"), card.get_by_role("group", name="Suggestions")
    expect(card.locator(".qu-place")).to_have_text("order_waits · German (de) · Text missing")
    expect(text).to_have_value("")
    expect(near.get_by_role("button")).to_have_count(1)  # what order_ready has, and no other text
    expect(near).to_contain_text(german)
    expect(near).to_contain_text("order_ready")
    expect(near.locator("del")).to_have_text("ready")  # what is other in the source it is of
    expect(near.locator("ins")).to_have_text("waiting <i>now</i>")
    notebook.shot("queue-suggestion")

    text.focus()
    # taken by its number, it is text like any other: checked, seen on the phone, and answered
    keys.press("Alt+1")
    expect(text).to_have_value(re.compile(f"^{re.escape(german)}"))
    expect(text).to_be_focused()
    expect(queue.locator(".cf-seen")).to_contain_text("dein touring bike ist repariert")
    keys.press("Control+Enter")
    expect(queue.locator(".qu-count")).to_contain_text("1 of")
    queue.get_by_role("button", name="Review changes").press("Enter")
    queue.get_by_role("button", name="Apply").press("Enter")
    expect(story.run(notebook, 3)).to_contain_text(f"True {german}")
