"""Checks of every page at its end: style sheets of widgets, and buttons that are in sight."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import axe_playwright_python
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

_UNSTYLED = """roots => {
    const rules = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]);
    const begins = root => {
        const first = new RegExp(`^\\\\.${root}(?![\\\\w-])`);
        return rules.filter(rule => first.test(rule.selectorText ?? "") && rule.style.length);
    };
    return roots.filter(root => document.querySelector(`.${root}`) && !begins(root).length);
}"""

# Hidden on purpose is what an attribute, an inline style, a tab or a closed fold hides; a style
# sheet that takes a button away does so for good.
_MISSING = """() => {
    const folded = element => element.parentElement?.matches("details:not([open])")
        && element.tagName !== "SUMMARY";
    const hides = element => element.hidden || folded(element)
        || element.matches(".lm-mod-hidden, [style*='display: none'], [style*='visibility: hid']");
    const meant = element => {
        for (let at = element; at && !at.matches(".jp-OutputArea"); at = at.parentElement)
            if (hides(at)) return true;
        return false;
    };
    const clear = { visibilityProperty: true, opacityProperty: true };
    const seen = button => button.checkVisibility(clear)
        && button.getBoundingClientRect().width > 1 && button.getBoundingClientRect().height > 1;
    return [...document.querySelectorAll(".jp-OutputArea-output :is(button, [role='button'])")]
        .filter(button => !meant(button) && !seen(button))
        .map(button => `${button.getAttribute("aria-label") || button.textContent} `
            + `(${button.className})`);
}"""


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
    unstyled = page.evaluate(_UNSTYLED, sorted(SHEETS.values()))
    missing = page.evaluate(_MISSING)
    return [
        *(f"no rules of a style sheet begin with .{root}" for root in unstyled),
        *(f"a style sheet hides the button {name!r}" for name in missing),
    ]


def settle(page: Page) -> None:
    """Wait until nothing fades or moves any more; what turns without end does not count."""
    page.evaluate(_SETTLE)


_SETTLE = """() => Promise.allSettled(document.getAnimations().filter((one) =>
    one.effect.getComputedTiming().endTime !== Infinity).map((one) => one.finished))"""


# --- what keeps people from using it ---------------------------------------------------------

_AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
#: The rules that depend on a theme.
COLOURS = ["color-contrast", "link-in-text-block"]
_VIOLATIONS = """async ([parts, rules]) => {
    const include = [...document.querySelectorAll(parts)];
    const options = { resultTypes: ["violations"], elementRef: true, preload: false };
    if (rules.length) options.runOnly = rules;
    const { violations } = await axe.run({ include }, options);
    return violations.flatMap(({ id, help, nodes }) => nodes.map(({ element, html }) => [
        include.findIndex((one) => one.contains(element)), `${id}: ${help}: ${html.slice(0, 200)}`,
    ]));
}"""


def violations(page: Page, parts: str, rules: Sequence[str] = ()) -> list[tuple[int, str]]:
    """Return the findings of axe-core in the parts of a page, each with the number of its part.

    Args:
        page: The page.
        parts: A selector.
        rules: The only rules that are tried; all of them without any.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_AXE.read_text("utf-8"))
    return [(number, message) for number, message in page.evaluate(_VIOLATIONS, [parts, [*rules]])]


_FAINT = """(root, apart) => {
    const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const laid = (colours) => {  // one over the other, in any notation of CSS
        for (const colour of colours) {
            pen.fillStyle = colour;
            pen.fillRect(0, 0, 1, 1);
        }
        return [...pen.getImageData(0, 0, 1, 1).data];
    };
    const part = (n) => n <= 0.03928 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) =>
        0.2126 * part(r / 255) + 0.7152 * part(g / 255) + 0.0722 * part(b / 255);
    const behind = (one) => one
        ? [...behind(one.parentElement), getComputedStyle(one).backgroundColor]
        : ["#fff"];
    const all = [...root.querySelectorAll("*")].filter((one) =>
        one.checkVisibility() && !one.matches(`:disabled, [aria-disabled=true], ${apart}`)
        && [...one.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()));
    return all.filter((one) => {
        const below = behind(one);
        const b = light(laid(below));
        const a = light(laid([...below, getComputedStyle(one).color]));
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
    }).map((one) => `${one.className}: ${one.textContent.slice(0, 40)}`);
}"""


def faint(root: Locator, apart: str) -> list[str]:
    """Return the texts whose contrast to everything behind them is below 4.5 to 1.

    Args:
        root: They are below this.
        apart: A selector of those that are not looked at.
    """
    result: list[str] = root.evaluate(_FAINT, apart)
    return result
