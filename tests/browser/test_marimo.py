"""The widgets in marimo, where nothing but anywidget is known: opened and used."""

from __future__ import annotations

import re
from pathlib import Path

from browser.lab import Window
from browser.served import CONSOLE, served
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


def test_widgets_are_used_in_marimo_and_nothing_complains(window: Window, tmp_path: Path) -> None:
    write_app(tmp_path / "app.py")
    command = ["marimo", "run", str(tmp_path / "app.py"), "--headless", "--no-token"]
    command += ["--host=127.0.0.1"]
    own = {"XDG_CONFIG_HOME": str(tmp_path)}
    with served(window, command, tmp_path / "marimo.log", **own) as (page, errors):
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
    # marimo has lines of its own in the console
    assert [one for one in errors if not one.startswith(CONSOLE)] == []
