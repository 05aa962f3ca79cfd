"""Signing secrets lie in the keyring, and nowhere else."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backends.fail import Keyring as Unavailable
from keyrings import FileKeyring, ForgetfulKeyring, LoudKeyring

import chatkit
from chatkit.api.secret import Secret
from chatkit.errors import SettingsError

TEXT = "0123456789abcdef" * 4


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "keyring.json"
    monkeypatch.setenv("KEYRING_FILE", str(path))
    monkeypatch.setenv("MARKER_TOKEN", TEXT)  # what the loud one says
    before = keyring.get_keyring()
    keyring.set_keyring(FileKeyring())
    yield path
    keyring.set_keyring(before)


def client(account: str) -> chatkit.Client:
    return chatkit.Client("https://api.example.com", account, "a-token-0123456789")


def test_a_secret_is_kept_by_account_and_webhook_when_asked_and_forgotten(file: Path) -> None:
    with chatkit.connect(chatkit.Sandbox(seed="empty")) as sandbox:
        sandbox.webhooks.create(url="https://shop.example/hook", events=["*"])
    assert not file.exists()
    with client("1001") as one, client("1002") as other:
        with pytest.raises(SettingsError, match=r"rotate\(41\)"):
            one.webhooks.secret(41)
        one.webhooks.keep_secret(41, Secret(TEXT))
        assert one.webhooks.secret(41) == Secret(TEXT)
        assert list(json.loads(file.read_text()).values()) == [TEXT]
        for webhooks, key in ((one.webhooks, 42), (other.webhooks, 41)):
            with pytest.raises(SettingsError, match="No signing secret"):
                webhooks.secret(key)
        for _ in range(2):
            one.webhooks.forget_secret(41)
        with pytest.raises(SettingsError, match="No signing secret"):
            one.webhooks.secret(41)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        *((each, r"webhook\.webhook_secret") for each in (Unavailable, ForgetfulKeyring)),
        (LoudKeyring, r"^The keyring failed \(ValueError\)\. The signing"),
    ],
)
def test_without_a_working_keyring_it_is_said_where_the_secret_is_and_it_is_not_let_through(
    broken: Any, message: str
) -> None:
    keyring.set_keyring(broken())
    with client("1001") as one, pytest.raises(SettingsError, match=message) as caught:
        one.webhooks.keep_secret(41, Secret(TEXT))
    error: BaseException | None = caught.value
    while error is not None:
        assert TEXT not in str(error)
        error = error.__cause__ or error.__context__
