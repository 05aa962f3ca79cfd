"""A page that looks wrong is noticed: no rules for a widget, a button that no rule may hide."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser.looks import SHEETS, faults
from playwright.sync_api import Browser

STATIC = Path(__file__).parents[2] / "chatkit/widgets/static"
PAGE = """<!doctype html><style>.lm-mod-hidden { display: none; } STYLE</style>
<div class="jp-OutputArea-output">
<div class="gd-grid"><button>Save</button><div class="fold" hidden><button>Later</button></div>
<div style="display: none"><button>No</button></div>
<p class="lm-mod-hidden"><button>Tab</button></p>
<details><summary>More</summary><button>Other</button></details></div></div>"""


def test_every_style_sheet_is_looked_for() -> None:
    present = {file.relative_to(STATIC).as_posix() for file in STATIC.rglob("*.css")}
    assert present == {*SHEETS, "tokens.css"}
    for name, root in SHEETS.items():
        assert f".{root}" in (STATIC / name).read_text("utf-8"), name


@pytest.mark.parametrize(
    ("style", "report"),
    [
        (".gd-grid { color: #222; }", []),
        (".gd-grid button { color: #222; }", []),
        ("", ["no rules of a style sheet begin with .gd-grid"]),
        (".gd-grid { }", ["no rules of a style sheet begin with .gd-grid"]),
        (".gd-grid-more { color: red; }", ["no rules of a style sheet begin with .gd-grid"]),
        (".gd-grid button { display: none; }", ["a style sheet hides the button 'Save ()'"]),
        (".gd-grid button { visibility: hidden; }", ["a style sheet hides the button 'Save ()'"]),
        (".gd-grid button { opacity: 0; }", ["a style sheet hides the button 'Save ()'"]),
        (
            ".gd-grid button { border: 0; font-size: 0; height: 0; padding: 0; }",
            ["a style sheet hides the button 'Save ()'"],
        ),
    ],
)
def test_what_a_style_sheet_lacks_or_hides_is_told(
    browser: Browser, style: str, report: list[str]
) -> None:
    page = browser.new_page()
    page.set_content(PAGE.replace("STYLE", style))
    assert faults(page, 0.1) == report
    page.close()
