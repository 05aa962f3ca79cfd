"""The widgets in marimo, where nothing but anywidget is known: opened and used."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

from browser.lab import Window
from playwright.sync_api import expect

START = """import chatkit
from chatkit.widgets import BoardGrid, Form, Grid, PlanView, Player
client = chatkit.connect(chatkit.Sandbox(seed="demo"))
frame = client.contacts.frame().head(6)
frame["name"] = frame.name.str.upper()"""
CELLS = [
    "Form(client.contacts)",
    "Player(client.flows.get(301).flow_json)",
    "Grid(client.contacts)",
    "PlanView(client.contacts.plan(frame))",
    "BoardGrid(client.templates, ['order_ready'])",
]
NAMES = "BoardGrid, Form, Grid, PlanView, Player, client, frame"


def write_app(path: Path) -> None:
    """Write the cells as a notebook of marimo, which is a Python file."""
    start = START.replace("\n", "\n    ")
    cells = "".join(f"@app.cell\ndef _({NAMES}):\n    {cell}\n    return\n\n" for cell in CELLS)
    path.write_text(
        "import marimo\n\napp = marimo.App()\n\n"
        f"@app.cell\ndef _():\n    {start}\n    return {NAMES}\n\n{cells}"
    )


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a server listens on a port."""
    for _ in range(600):
        assert process.poll() is None, log.read_text()
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def test_widgets_are_used_in_marimo_and_nothing_complains(window: Window, tmp_path: Path) -> None:
    write_app(tmp_path / "app.py")
    log = tmp_path / "marimo.log"
    errors: list[str] = []
    with socket.socket() as one:  # marimo does not write which port it has chosen itself
        one.bind(("127.0.0.1", 0))
        free = one.getsockname()[1]
    command = [sys.executable, "-m", "marimo", "run", str(tmp_path / "app.py"), "--headless"]
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, "--no-token", "--host=127.0.0.1", f"--port={free}"],
            env=os.environ | {"XDG_CONFIG_HOME": str(tmp_path)},
            stdout=output,
            stderr=output,
        )
        try:
            page = window.new_page()
            page.on("pageerror", lambda error: errors.append(str(error)))
            wait_for(free, process, log)
            page.goto(f"http://127.0.0.1:{free}/", wait_until="commit")

            form = page.locator(".chatkit-form")
            form.get_by_label("Phone number").first.fill("2025550187", timeout=60_000)
            form.get_by_label("Country code").fill("+1")
            form.get_by_role("button", name="Create contact").click()
            expect(form.get_by_role("status").first).to_contain_text("Created")

            player = page.locator(".fp-player")
            player.get_by_text("Puncture").click()
            expect(player).to_contain_text(re.compile('"service": "puncture"'))

            grid = page.locator(".chatkit-gridpanel")
            grid.locator('[data-row="0"][data-column="1"]').dblclick()
            page.keyboard.type("Ana Cruz")
            page.keyboard.press("Enter")
            expect(grid).to_contain_text("1 cell changed")
            grid.get_by_role("button", name="Review changes").click()
            grid.get_by_role("button", name=re.compile("Apply 1")).click()
            expect(grid).to_contain_text("1 change: 1 applied.")

            plan = page.locator(".chatkit-planview").filter(has_text="3 updates")
            plan.get_by_role("button", name=re.compile("Apply 3")).click()
            expect(plan).to_contain_text("applied")

            board = page.locator(".bd-boardgrid")
            board.get_by_role("gridcell").filter(has_text="unknown").first.dblclick()
            expect(board.get_by_role("textbox").first).to_be_visible()
            page.close()
        finally:
            process.terminate()
            process.wait()
    assert errors == []
    window.take_left_loopback()
