"""The widgets in Voila, which shows a notebook without its code."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

from browser import kernels, story
from browser.lab import LATE, Lab, Window
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
    log = tmp_path / "voila.log"
    errors: list[str] = []
    with socket.socket() as one:  # Voila cannot tell which port it has chosen itself
        one.bind(("127.0.0.1", 0))
        free = one.getsockname()[1]
    with kernels.forked(tmp_path), log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "voila", str(lab.root / name), "--no-browser", f"--port={free}"],
            env=os.environ
            | {"JUPYTER_DATA_DIR": str(tmp_path / "data"), "JUPYTER_PREFER_ENV_PATH": "0"},
            stdout=output,
            stderr=output,
        )
        try:
            page = window.new_page()
            page.on(
                "console",
                lambda message: (
                    message.type == "error"
                    and errors.append(f"{message.text} {message.location.get('url', '')}")
                ),
            )
            page.on("pageerror", lambda error: errors.append(str(error)))
            _wait(process, log)
            page.goto(f"http://127.0.0.1:{free}/", wait_until="commit")
            for css in RENDERED:
                expect(page.locator(f".{css}").first).to_be_visible(timeout=60_000)
            page.locator(".chatkit-form input").first.fill("555x")
            expect(page.locator(".chatkit-form").get_by_role("alert").first).to_be_visible()
            page.close()
        finally:
            process.terminate()
            process.wait()
    errors = [one for one in errors if LATE not in one and not VOILAS_OWN.search(one)]
    assert errors == []
    window.take_left_loopback()  # those icons


def _wait(process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until Voila says that it listens."""
    for _ in range(600):
        assert process.poll() is None, log.read_text()
        if "is running at" in log.read_text():
            return
        time.sleep(0.1)
    raise AssertionError(log.read_text())
