"""Signing secrets of webhooks, kept in the keyring of the operating system on request.

The service shows a signing secret once, when the webhook is created. Whoever asks for it
has it kept here, under the account and the id of the webhook; it is never in a file of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TypeVar

from chatkit.errors import SettingsError
from chatkit.secret import Secret
from chatkit.settings import ask_keyring

T = TypeVar("T")
_SERVICE = "chatkit webhooks"
_INSTEAD = (
    "A signing secret cannot be kept there: without keyring=True it is in "
    "webhook.webhook_secret, once, to be handed to your receiver from there."
)


def keep(account: str, webhook_id: int, secret: Secret) -> None:
    """Keep the signing secret of a webhook, and make sure that it is kept.

    Raises:
        SettingsError: The keyring is missing, fails, or did not keep it.
    """

    def question(keyring: ModuleType) -> str | None:
        name = _name(account, webhook_id)
        keyring.set_password(_SERVICE, name, secret.reveal())
        kept: str | None = keyring.get_password(_SERVICE, name)
        return kept

    if Secret(_asked(question) or "") != secret:
        raise SettingsError(f"The keyring did not keep what it was given. {_INSTEAD}")


def kept(account: str, webhook_id: int) -> Secret | None:
    """Read the signing secret of a webhook; None: it is not kept.

    Raises:
        SettingsError: The keyring is missing or fails.
    """

    def question(keyring: ModuleType) -> Secret | None:
        text = keyring.get_password(_SERVICE, _name(account, webhook_id))
        return None if text is None else Secret(text)

    return _asked(question)


def forget(account: str, webhook_id: int) -> None:
    """Remove the signing secret of a webhook; silent when it is not kept.

    Raises:
        SettingsError: The keyring is missing or fails.
    """

    def question(keyring: ModuleType) -> None:
        name = _name(account, webhook_id)
        if keyring.get_password(_SERVICE, name) is not None:
            keyring.delete_password(_SERVICE, name)

    _asked(question)


def check(account: str) -> None:
    """Make sure that the keyring keeps what it is given, before a secret depends on it.

    Raises:
        SettingsError: It is missing, fails, or keeps nothing.
    """
    keep(account, 0, Secret("a trial, no secret"))
    forget(account, 0)


def _asked(question: Callable[[ModuleType], T]) -> T:
    """Ask the keyring; its failure is told in words about signing secrets."""
    try:
        return ask_keyring(question)
    except SettingsError as error:
        reason = "This machine has no keyring" if "no keyring" in str(error) else str(error)
    first = reason.partition(".")[0]
    raise SettingsError(f"{first}. {_INSTEAD}")


def _name(account: str, webhook_id: int) -> str:
    return f"{account} webhook {webhook_id}"
