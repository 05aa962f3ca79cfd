"""Signing secrets lie in the keyring, and nowhere else."""

import json
from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backends.fail
import pytest
from keyrings import FileKeyring, ForgetfulKeyring, LoudKeyring

from chatkit.api.secret import Secret
from chatkit.errors import SettingsError
from chatkit.webhooks import SigningSecrets

TEXT = "0123456789abcdef" * 4
SECRETS = SigningSecrets("https://api.example.com account 1001")


@pytest.fixture(autouse=True)
def own_keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("KEYRING_FILE", str(tmp_path / "keyring.json"))
    monkeypatch.setenv("MARKER_TOKEN", TEXT)  # what the loud one says
    before = keyring.get_keyring()
    keyring.set_keyring(FileKeyring())
    yield
    keyring.set_keyring(before)


def test_a_secret_is_kept_by_account_and_webhook_and_forgotten() -> None:
    SECRETS.keep(41, Secret(TEXT))
    assert SECRETS.find(41) == Secret(TEXT)
    assert SECRETS.find(42) is None
    assert SigningSecrets("another account 1001").find(41) is None
    for _ in range(2):
        SECRETS.forget(41)
    assert SECRETS.find(41) is None


def test_the_trial_leaves_nothing_behind(tmp_path: Path) -> None:
    SECRETS.check()
    assert json.loads((tmp_path / "keyring.json").read_text()) == {}


def test_without_a_keyring_it_is_said_what_to_do_instead() -> None:
    keyring.set_keyring(keyring.backends.fail.Keyring())
    for ask in (
        SECRETS.check,
        lambda: SECRETS.find(41),
    ):
        with pytest.raises(
            SettingsError,
            match=r"^This machine has no keyring\. A signing secret cannot be kept.*keyring=True",
        ) as caught:
            ask()
        assert "TOKEN" not in str(caught.value)


def test_a_keyring_that_keeps_nothing_is_found_out_before_a_secret_depends_on_it() -> None:
    keyring.set_keyring(ForgetfulKeyring())
    with pytest.raises(SettingsError, match="did not keep"):
        SECRETS.check()


def test_a_broken_keyring_never_lets_the_secret_through() -> None:
    keyring.set_keyring(LoudKeyring())
    with pytest.raises(SettingsError, match=r"^The keyring failed \(ValueError\)\. A") as caught:
        SECRETS.keep(41, Secret(TEXT))
    error: BaseException | None = caught.value
    while error is not None:
        assert TEXT not in str(error)
        error = error.__cause__ or error.__context__
