"""The widgets in Voila, which shows a notebook without its code."""

from __future__ import annotations

import re
from pathlib import Path

from browser import kernels, story
from browser.lab import LATE, Lab, Window
from browser.served import served
from playwright.sync_api import expect

CELLS = [
    """import chatkit
from chatkit.widgets import BoardGrid, Form, Grid, Player, Preview, Tail
client = chatkit.connect(chatkit.Sandbox(seed="demo"))""",
    "Grid(client.contacts)",
    "Form(client.contacts)",
    "BoardGrid(client.templates, ['order_ready'])",
    "Preview(client.templates('order_ready').get('de'))",
    "Player(client.flows.get(301).flow_json)",
    "Tail(chatkit.Inbox())",
]
RENDERED = ("gd-grid", "chatkit-form", "bd-board", "pv-preview", "fp-player", "tl-tail")
#: What Voila 0.5 complains of with any notebook, on its own: it looks for icons at a content
#: network, and for an extension of Notebook that needs a newer Lab than it brings.
VOILAS_OWN = re.compile(r"ERR_NAME_NOT_RESOLVED|RUNTIME-012|voila/api/shutdown|api/shutdown")


def test_widgets_are_shown_by_voila_and_nothing_complains(
    lab: Lab, window: Window, tmp_path: Path
) -> None:
    name = story.write(lab, "voila.ipynb", CELLS)
    command = ["voila", str(lab.root / name), "--no-browser"]
    own = {"JUPYTER_DATA_DIR": str(tmp_path / "data"), "JUPYTER_PREFER_ENV_PATH": "0"}
    log = tmp_path / "voila.log"
    with kernels.forked(tmp_path), served(window, command, log, **own) as (page, errors):
        for css in RENDERED:
            expect(page.locator(f".{css}").first).to_be_visible(timeout=60_000)
        page.locator(".chatkit-form input").first.fill("555x")
        expect(page.locator(".chatkit-form").get_by_role("alert").first).to_be_visible()
    assert [one for one in errors if LATE not in one and not VOILAS_OWN.search(one)] == []
