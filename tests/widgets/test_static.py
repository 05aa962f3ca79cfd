"""Scripts packed as one module: what a notebook keeps is small, and is what people read."""

from __future__ import annotations

import base64
import gzip
import re

from chatkit.widgets import controls
from chatkit.widgets.player import SCRIPTS


def test_a_module_holds_the_scripts_as_they_are_read():
    text = re.search(r'atob\("([A-Za-z0-9+/=]+)"\)', controls.packed_module(SCRIPTS))
    assert text
    assert gzip.decompress(base64.b64decode(text[1])).decode() == controls.joined_module(SCRIPTS)


def test_the_same_scripts_make_the_same_module():
    assert controls.packed_module(SCRIPTS) == controls.packed_module(SCRIPTS)


def test_indents_and_comment_lines_are_left_out_and_no_line_of_code():
    text = controls.joined_text(SCRIPTS)
    assert not re.search("^( |//|$)", text[:-1], re.MULTILINE)
    code = [
        line.strip()
        for name in SCRIPTS
        for line in (controls.STATIC / name).read_text().splitlines()
        if line.strip() and not line.strip().startswith("//")
    ]
    assert text.splitlines() == code


def test_what_each_player_puts_into_a_notebook_is_small():
    assert len(controls.packed_module(SCRIPTS)) < 30_000
    assert len(controls.joined_text(["player/player.css"])) < 16_000
