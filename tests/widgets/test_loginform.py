"""`chatkit.widgets.login(name)`: a form whose token reaches the keyring, and no notebook."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path

import keyring
import keyring.backends.fail
import pytest
from keyrings import FileKeyring
from widgets.screen import find, heard, html, kind, parts, send, static, type_into

import chatkit
from chatkit.api.secret import Secret
from chatkit.errors import ChatkitError, SettingsError
from chatkit.widgets.loginform import LoginForm


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CHATKIT_CONFIG", str(tmp_path / "connections.toml"))
    monkeypatch.setenv("KEYRING_FILE", str(tmp_path / "keyring.json"))
    before = keyring.get_keyring()
    keyring.set_keyring(FileKeyring())
    yield
    keyring.set_keyring(before)


def everything(form: object) -> str:
    """Return all output of a widget that a notebook could save."""
    return f"{form.get_state()}{form!r}{static(form)}{vars(form)}"


def submit(form: LoginForm, base_url: str, token: str = "") -> None:
    """Type into the form and press its button, as the page does."""
    type_into(form, "Base address", base_url)
    type_into(form, "Account id", "1001")
    button = next(one for one in parts(form) if getattr(one, "submit", False))
    (secret,) = [one for one in parts(form) if kind(one) == "secret"]
    send(form, {"id": secret.id, "entered": token})
    send(form, {"id": button.id, "entered": button.token})


@pytest.mark.parametrize("has_keyring", [True, False])
def test_what_is_typed_is_kept_and_leaves_nothing_in_the_notebook(
    has_keyring: bool, tmp_path: Path
) -> None:
    if not has_keyring:
        keyring.set_keyring(keyring.backends.fail.Keyring())
    with chatkit.Sandbox(seed="empty") as sandbox, sandbox.serve() as base_url:
        form = chatkit.widgets.login("shop")
        assert bool(form.fault) is not has_keyring
        assert has_keyring or str(tmp_path / "shop.token") in html(form)
        submit(form, base_url, f" {sandbox.token}\n")
        assert form.kept and form.message.startswith("Kept, the token in")
        assert escape('client = chatkit.connect("shop")') in html(form)
        assert sandbox.token not in everything(form)
        with chatkit.connect("shop") as client:
            assert len(client.contacts.frame()) == 0
        if has_keyring:
            kept = json.loads((tmp_path / "keyring.json").read_text())
            assert kept == {"chatkit/shop": sandbox.token}
        else:
            assert (tmp_path / "shop.token").stat().st_mode & 0o777 == 0o600
        again = chatkit.widgets.login("shop")
        typed = [find(again, name).value for name in ("Base address", "Account id")]
        assert typed == [base_url, "1001"]


def test_a_wrong_token_is_told_and_nothing_is_kept(tmp_path: Path) -> None:
    with chatkit.Sandbox(seed="empty") as sandbox, sandbox.serve() as base_url:
        form = chatkit.widgets.login("shop")
        for token, output in (("wr0ng" * 4, "Access token: refused (401)"), ("", "is empty")):
            submit(form, base_url, token)
            assert output in form.message and not form.kept
            assert "wr0ng" not in everything(form)
        with pytest.raises(ChatkitError, match="Nothing was kept"):
            form.keep(base_url, "1001", Secret("wr0ng"))
    assert not (tmp_path / "connections.toml").exists()


def test_an_odd_name_is_refused_before_anything_is_typed() -> None:
    with pytest.raises(SettingsError, match="name is made of"):
        chatkit.widgets.login("my shop")


def test_it_gives_what_is_to_be_saved_when_the_page_asks_and_only_then() -> None:
    form = LoginForm("shop")
    sent = heard(form)
    send(form, {"chatkit": "save"})
    send(form, {"chatkit": "other"})
    kept = static(form)
    texts = {kind: kept[kind] for kind in ("text/plain", "text/html")}
    assert sent == [{"chatkit_saved": texts}]
    assert "run the cell to use it again" in texts["text/html"]
    assert kept["application/vnd.chatkit.saved+json"] == {}
    assert kept["application/vnd.jupyter.widget-view+json"]["model_id"] == form.model_id
