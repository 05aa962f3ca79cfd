"""The phone of a player: how a test fills it in, and a page that shows one without a notebook."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from browser import looks
from browser.lab import PHOTOGRAPHED
from browser.scripts import call
from playwright.sync_api import Browser, Locator, Page, expect

from chatkit.widgets import controls
from chatkit.widgets.player import SCRIPTS, Player

STATE = ("source", "problem")
#: What a text is filled with, by a word of its label, else by the keyboard it brings up.
TEXTS = {
    "National ID": "63-123456 A 12",
    "Regex Input": "1993-08-04",
    "Regex Passcode": "10079",
    "Booking code": "AB123",
}
KEYBOARDS = {"email": "ana@example.com", "decimal": "42", "tel": "+12025550143", "numeric": "1234"}

INPUTS = "input, select, textarea, .fp-date"


class Phone:
    """One phone: its elements, and the actions of a person."""

    def __init__(self, root: Locator) -> None:
        self.root = root
        self.title = root.locator(".fp-top h3")
        self.body = root.locator(".fp-body")
        self.send = root.locator(".fp-send")
        self.back = root.get_by_role("button", name="Back", exact=True)
        self.sent = root.locator(".fp-panel")

    def field(self, label: str) -> Locator:
        """Return the input of a label; that of an optional one ends with a note."""
        return self.body.get_by_label(re.compile(rf"^{re.escape(label)}\b"))

    def press(self) -> None:
        """Press the footer, also while a field is missing: a message names it."""
        self.send.click(force=True)

    def complete(self, look: Callable[[], object] = lambda: None) -> list[str]:
        """Fill in every screen until the end, and return the titles of the screens.

        `look` is called at each: before, with the messages of missing fields, and filled in.
        """
        titles: list[str] = []
        done = self.body.locator(".fp-done")
        while not done.count():
            assert len(titles) < 12, titles
            titles.append(self.title.inner_text())
            look()
            if self.send.is_visible() and self.send.get_attribute("aria-disabled") == "true":
                self.press()
                look()
            self._fill()
            look()
            entry = self.body.locator("button.fp-option").first
            if self.send.is_visible():
                expect(self.send).to_have_attribute("aria-disabled", "false")
                self.send.click()
            else:
                entry.click()
            expect(self.body.locator(".fp-bad")).to_have_count(0)
        return titles

    def _fill(self) -> None:
        """Enter something everywhere; what is entered may show more to fill in."""
        number = 0
        while about := call(self.body, "describeInput", [INPUTS, number]):
            if about["open"]:
                self._enter(self.body.locator(INPUTS).nth(number), about)
            number += 1

    def _enter(self, one: Locator, about: dict[str, Any]) -> None:
        kind = about["kind"]
        if kind in ("radio", "checkbox"):
            if about["first"]:
                one.check(force=True)
        elif kind == "select-one":
            one.select_option(index=1)
        elif kind == "date":
            one.fill(about["max"] or about["min"] or "2030-01-15")
        elif kind == "file":
            one.locator("xpath=following-sibling::button[2]").click()
        elif kind == "button":
            one.click()
            days = self.body.locator(".fp-day:not([aria-disabled])")
            days.nth(1).click()
            if days.first.is_visible():
                days.nth(4).click()
        elif not about["value"]:
            one.fill(TEXTS.get(about["label"]) or KEYBOARDS.get(about["keys"], "Ana"))


class Bare:
    """A page without a notebook and a kernel, on which players are shown one after the other."""

    def __init__(self, browser: Browser) -> None:
        self.context = browser.new_context(viewport={"width": 900, "height": 780})
        self.errors: list[str] = []
        self.asked: list[str] = []
        page = self.page = self.context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: line.type == "error" and self.errors.append(line.text))
        page.on("request", lambda request: self.asked.append(request.url))
        self.phone = Phone(page.locator(".fp-player"))

    def show(self, document: object, *, dark: bool = False) -> Phone:
        """Show a document in a new player."""
        player = Player(document)
        self.page.set_content(
            f"<!doctype html><body data-jp-theme-light={'false' if dark else 'true'}"
            ' style="background: var(--ck-page)"></body>'
        )
        self.page.add_style_tag(content=player._css)
        state: dict[str, Any] = {name: getattr(player, name) for name in STATE}
        call(self.page, "show", [controls.pack_module(SCRIPTS), state])
        return self.phone

    def change(self, source: str) -> None:
        """Put another document into the player that is shown."""
        self.page.evaluate("source => player.change({ source })", source)

    def state(self, name: str) -> Any:
        """Return what the page sent to Python."""
        return json.loads(self.page.evaluate(f"() => JSON.stringify(player.state.{name} ?? null)"))

    def close(self) -> None:
        """Close the page; it may not have complained, nor asked for anything from elsewhere."""
        assert not self.errors, self.errors
        outside = [url for url in self.asked if not url.startswith(("blob:", "data:", "about:"))]
        assert not outside, outside
        self.context.close()


def shot(page: Page, path: Any) -> None:
    """Leave a screenshot once nothing moves any more."""
    if PHOTOGRAPHED:
        looks.settle(page)
        page.screenshot(path=path)
