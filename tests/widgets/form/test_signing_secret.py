"""A signing secret is handed over once, and no state of a widget has it."""

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyrings import FileKeyring

import chatkit
from chatkit.api.secret import Secret
from chatkit.client import Client
from chatkit.widgets.form import SecretHandover

TEXT = "5ec2e7" * 10


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setenv("KEYRING_FILE", str(tmp_path / "keyring.json"))
    before = keyring.get_keyring()
    keyring.set_keyring(FileKeyring())
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        yield client
    keyring.set_keyring(before)


def offered(client: Client) -> tuple[SecretHandover, list[dict]]:
    heard: list[dict] = []
    once = SecretHandover(client.webhooks, heard.append)
    once.offer(7, Secret(TEXT))
    return once, heard


def test_the_page_gets_it_when_it_asks_and_never_as_state(client: Client) -> None:
    once, heard = offered(client)
    assert TEXT not in f"{once.drawn()}{once!r}"
    assert not heard and once.webhook == 7 and "shown this once" in once.value
    for ask in ("show", "copy"):
        once.enter(ask)
    assert heard == [{"id": once.id, "secret": TEXT}] * 2


def test_forgotten_it_is_gone(client: Client) -> None:
    once, heard = offered(client)
    for ask in ("forget", "show", "keyring"):
        once.enter(ask)
    assert heard == [{"id": once.id, "message": ""}] and once.secret is None and not once.waits
    assert "is not kept here" in once.value and "client.webhooks.rotate(7)" in once.value


def test_the_keyring_keeps_it_for_the_client(client: Client) -> None:
    once, heard = offered(client)
    once.enter("keyring")
    assert heard == [{"id": once.id, "message": "Kept."}] and once.kept
    once.enter("copy")  # the receiver needs it too
    once.enter("forget")
    assert "is kept in the keyring of this machine: client.webhooks.secret(7)" in once.value
    assert client.webhooks.secret(7).reveal() == TEXT


def test_a_keyring_that_is_missing_is_told_and_the_secret_still_waits(client: Client) -> None:
    import keyring.backends.fail

    keyring.set_keyring(keyring.backends.fail.Keyring())
    once, heard = offered(client)
    once.enter("keyring")
    assert "has no keyring" in heard[0]["message"] and TEXT not in heard[0]["message"]
    assert once.secret is not None
