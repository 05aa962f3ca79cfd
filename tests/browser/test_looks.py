"""A page that looks wrong is noticed: no rules for a widget, a button that no rule may hide."""

from __future__ import annotations

from pathlib import Path

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


def test_what_a_style_sheet_lacks_or_hides_is_told(browser: Browser) -> None:
    unstyled = ["no rules of a style sheet begin with .gd-grid"]
    hidden = ["a style sheet hides the button 'Save ()'"]
    flat = "border: 0; font-size: 0; height: 0; padding: 0;"
    page = browser.new_page()
    for style, report in {
        ".gd-grid { color: #222; }": [],
        ".gd-grid button { color: #222; }": [],
        "": unstyled,
        ".gd-grid { }": unstyled,
        ".gd-grid-more { color: red; }": unstyled,
        ".gd-grid button { display: none; }": hidden,
        ".gd-grid button { visibility: hidden; }": hidden,
        ".gd-grid button { opacity: 0; }": hidden,
        f".gd-grid button {{ {flat} }}": hidden,
    }.items():
        page.set_content(PAGE.replace("STYLE", style))
        assert faults(page, 0.1) == report, style
    page.close()
