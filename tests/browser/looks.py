"""Checks of every page at its end: style sheets of widgets, and buttons that are in sight."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import axe_playwright_python
from browser.scripts import call
from playwright.sync_api import Locator, Page

#: The class of the element that each style sheet of chatkit/widgets/static is for.
SHEETS = {
    "board/board.css": "bd-board",
    "button.css": "chatkit-button",
    "code.css": "chatkit-code",
    "content/content.css": "cf-content",
    "content/queue.css": "qu-queue",
    "editor/editor.css": "chatkit-editor",
    "editor/findings.css": "cl-findings",
    "editor/source.css": "cs-source",
    "editor/tree.css": "ct-tree",
    "form.css": "chatkit-form",
    "grid.css": "gd-grid",
    "inbox/conversation.css": "chatkit-conversation",
    "inbox/tail.css": "tl-tail",
    "fields.css": "chatkit-fields",
    "login.css": "chatkit-login",
    "panel.css": "chatkit-panel",
    "planview.css": "chatkit-planview",
    "player/player.css": "fp-player",
}


# Hidden on purpose is what an attribute, an inline style, a tab or a closed fold hides; a style
# sheet that takes a button away does so for good.


def faults(page: Page, seconds: float = 5) -> list[str]:
    """Return the widgets of this page without a style sheet, and the buttons that never appear.

    What is being drawn at this moment is looked at again, until the seconds are over.
    """
    for _ in range(int(seconds * 10)):
        if not (result := _faults(page)):
            return []
        page.wait_for_timeout(100)
    return result


def _faults(page: Page) -> list[str]:
    unstyled = call(page, "unstyled", sorted(SHEETS.values()))
    missing = call(page, "missing")
    return [
        *(f"no rules of a style sheet begin with .{root}" for root in unstyled),
        *(f"a style sheet hides the button {name!r}" for name in missing),
    ]


def settle(page: Page) -> None:
    """Wait until nothing fades or moves any more; what turns without end does not count."""
    call(page, "settle")


# --- what keeps people from using it ---------------------------------------------------------

_AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
#: The rules that depend on a theme.
COLOURS = ["color-contrast", "link-in-text-block"]


def violations(page: Page, parts: str, rules: Sequence[str] = ()) -> list[tuple[int, str]]:
    """Return the findings of axe-core in the parts of a page, each with the number of its part.

    Args:
        page: The page.
        parts: A selector.
        rules: The only rules that are tried; all of them without any.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_AXE.read_text("utf-8"))
    return [(number, message) for number, message in call(page, "violations", [parts, [*rules]])]


def faint(root: Locator, apart: str) -> list[str]:
    """Return the texts whose contrast to everything behind them is below 4.5 to 1.

    Args:
        root: They are below this.
        apart: A selector of those that are not looked at.
    """
    result: list[str] = call(root, "faint", apart)
    return result
