"""The functions of page.js, called in a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

_SCRIPT = Path(__file__).with_name("page.js").read_text("utf-8")


def call(place: Page | Locator, name: str, argument: Any = None) -> Any:
    """Call a function in a page; that of a locator gets its element first."""
    passed = "argument" if isinstance(place, Page) else "one, argument"
    return place.evaluate(f"({passed}) => ({_SCRIPT}).{name}({passed})", argument)
