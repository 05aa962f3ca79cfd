"""Scripts packed as one module: what a notebook keeps is small, and is what people read."""

from __future__ import annotations

import base64
import gzip
import re
from pathlib import Path

import pytest

from chatkit.widgets import controls
from chatkit.widgets.player import SCRIPTS


def test_a_module_holds_the_scripts_as_they_are_read():
    text = re.search(r'atob\("([A-Za-z0-9+/=]+)"\)', controls.pack_module(SCRIPTS))
    assert text
    assert gzip.decompress(base64.b64decode(text[1])).decode() == controls.join_module(SCRIPTS)


def test_the_same_scripts_make_the_same_module():
    assert controls.pack_module(SCRIPTS) == controls.pack_module(SCRIPTS)


def test_indents_and_comment_lines_are_left_out_and_no_line_of_code():
    text = controls.join_files(SCRIPTS)
    assert not re.search("^( |//|$)", text[:-1], re.MULTILINE)
    code = [
        line.strip()
        for name in SCRIPTS
        for line in (controls.STATIC / name).read_text().splitlines()
        if line.strip() and not line.strip().startswith("//")
    ]
    assert text.splitlines() == code


def test_what_each_player_puts_into_a_notebook_is_small():
    assert len(controls.pack_module(SCRIPTS)) < 30_000
    assert len(controls.join_files(["player/player.css"])) < 16_000


# --- one design ------------------------------------------------------------------------------

TOKENS = (controls.STATIC / "tokens.css").read_text("utf-8")
SHEETS = [one for one in sorted(controls.STATIC.rglob("*.css")) if one.name != "tokens.css"]
COLOUR = r"#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl)a?\(|--jp-(?!code-)|data-jp-theme"
SIZE = r"font(?:-size)?:[^;{}]*?(?<![\w./-])(?<!/ )\d+(?:\.\d+)?(?:px|rem)(?=[ /;}])"
RADIUS = r"border-(?:\w+-)*radius:[^;{}]*?\d(?:px|%|em)"
SPACE = r"(?:^|[ {;])(?:margin|padding|gap)[\w-]*:[^;{}]*?(?<![\w.-])(?:[2-9]|\d\d+)px"
OUTLINE = r"outline: \d+px solid(?! currentcolor)"


def test_the_tokens_are_few_and_each_colour_is_that_of_the_notebook() -> None:
    base = TOKENS[: TOKENS.index('[data-jp-theme-light="false"]')]
    declared = dict(re.findall(r"(--ck-[\w-]+): ([^;]+);", base))
    count = {
        kind: sum(re.fullmatch(f"--ck-{pattern}", name) is not None for name in declared)
        for kind, pattern in {
            "sizes": r"size-\d", "radii": "(radius-.|round)", "spaces": r"\d", "ring": "ring"
        }.items()
    }  # fmt: skip
    assert count == {"sizes": 5, "radii": 3, "spaces": 7, "ring": 1}
    others = r"--ck-(size-\d|radius-.|round|\d|ring|shadow|font|code)"
    colours = {name: value for name, value in declared.items() if not re.fullmatch(others, name)}
    assert len(colours) <= 16
    fixed = {
        name for name, value in colours.items() if not re.search(r"var\(--(jp-|ck-text)", value)
    }
    assert fixed == {"--ck-warn"}


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_a_sheet_has_no_colour_size_radius_distance_or_outline_of_its_own(sheet: Path) -> None:
    text = sheet.read_text("utf-8")
    for pattern in (COLOUR, SIZE, RADIUS, SPACE, OUTLINE):
        assert [match[0] for match in re.finditer(pattern, text, re.MULTILINE)] == []
    used = set(re.findall(r"var\((--ck-[\w-]+)", text))
    assert used <= set(re.findall(r"(--ck-[\w-]+):", TOKENS))
