"""The login form as a person meets it: by keyboard alone, against a service on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import story
from browser.conftest import Opener
from browser.lab import Lab, OpenNotebook
from browser.story import Keyboard
from playwright.sync_api import Page, expect

import chatkit

SET_UP = """import os, sys, keyring
sys.path.append({tests!r})
from keyrings import FileKeyring
os.environ |= {{"CHATKIT_CONFIG": {folder!r} + "/connections.toml",
               "KEYRING_FILE": {folder!r} + "/keyring.json"}}
keyring.set_keyring(FileKeyring())
print("set up")"""
LOGIN = 'import chatkit\n\nchatkit.widgets.login("production")'
NEXT = 'client = chatkit.connect("production")\nprint(len(client.contacts.frame()))'


@pytest.fixture
def service() -> Iterator[tuple[str, str]]:
    """A sandbox on loopback: its address and its token."""
    with chatkit.Sandbox(seed="demo") as sandbox, sandbox.serve() as base_url:
        yield base_url, sandbox.token


def type_into(page: Page, *texts: str) -> None:
    """Type into one field after the other, from where the keyboard is."""
    for n, text in enumerate(texts):
        if n:
            page.keyboard.press("Tab")
        page.keyboard.type(text)


def keeps_nothing(lab: Lab, notebook: OpenNotebook, *texts: str) -> None:
    """Save with the state of the widgets, and look into everything that Jupyter has kept."""
    assert not [text for text in texts if text in notebook.page.content()]
    fields = notebook.page.locator("input[type=password]").evaluate_all(
        "all => all.map(f => f.value)"
    )
    assert not any(fields)
    notebook.command("@jupyter-widgets/jupyterlab-manager:saveWidgetState")
    notebook.command("docmanager:save")
    saved = json.loads((lab.root / notebook.name).read_text(encoding="utf-8"))
    state = saved["metadata"]["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    assert "Keep the connection “production”" in json.dumps(state, ensure_ascii=False)
    for place in (lab.root, lab.home):
        for file in place.rglob("*"):
            if file.is_file():
                content = file.read_bytes()
                assert not [text for text in texts if text.encode() in content], file
    notebook.command("@jupyter-widgets/jupyterlab-manager:saveWidgetState")  # off again


def test_a_connection_is_kept_by_keyboard_alone_and_the_notebook_has_nothing_of_the_token(
    lab: Lab, open_notebook: Opener, service: tuple[str, str], tmp_path: Path
) -> None:
    set_up = SET_UP.format(tests=str(Path(__file__).parents[1]), folder=str(tmp_path))
    notebook = open_notebook(story.write(lab, "login.ipynb", [set_up, LOGIN, NEXT]))
    story.run(notebook, 0)
    form = story.run(notebook, 1).locator(".chatkit-login")
    (url, token), page, wrong = service, notebook.page, "mistyped" * 3
    field = form.get_by_label("Access token")
    expect(field).to_have_attribute("type", "password")
    expect(form).to_contain_text("It goes into the keyring of your system.")

    Keyboard(page).reach(form.get_by_label("Base address"))
    type_into(page, url, "1001", wrong)
    page.keyboard.press("Enter")
    expect(form.get_by_role("alert")).to_contain_text("Access token: refused (401)")
    expect(field).to_be_focused()
    expect(field).to_have_value("")
    notebook.shot("login_wrong")

    page.keyboard.type(token)
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # the button
    expect(form.get_by_role("status")).to_contain_text("Kept, the token in the keyring.")
    expect(form.locator("pre:visible")).to_have_text('client = chatkit.connect("production")')
    expect(form.get_by_role("button")).to_have_count(0)
    notebook.shot("login_kept")

    assert json.loads((tmp_path / "keyring.json").read_text()) == {"chatkit/production": token}
    expect(story.run(notebook, 2)).to_contain_text("Opened account 1001")
    keeps_nothing(lab, notebook, token, wrong)
