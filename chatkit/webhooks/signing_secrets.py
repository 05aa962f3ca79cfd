"""Signing secrets of webhooks: replaced by rotation, kept in the keyring of the machine.

The service makes a signing secret when it makes a webhook, shows it once, and never makes another.
So a rotation creates a new webhook beside the old one, the receiver learns the new secret and
takes both, and the old webhook is deleted once a delivery has reached the new one.

Whoever asks for it has a secret kept in the keyring of the operating system, under the account
and the id of the webhook; it is never in a file of ours.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

from chatkit.errors import InputError, SettingsError, steady
from chatkit.resource import endpoints_of
from chatkit.secret import Secret
from chatkit.settings import ask_keyring

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan
    from chatkit.secret import Secret
    from chatkit.webhooks import Webhook, Webhooks


_MARK = re.compile(r"(?:^|&)rotated=([0-9]{1,6})$")
_WARNINGS = (
    "Only the answer to this create holds the new signing secret. If that answer is lost, so is "
    "the secret: the old webhook goes on, so delete the new one and rotate again.",
    "From then on every event is delivered to both. Teach your receiver the new secret beside "
    "the old one, then delete the old webhook with rotation.finish().",
)


class Rotation:
    """A webhook that is being replaced by one with a new signing secret.

    `apply()` creates the new one, `finish()` returns the plan that deletes the old one.
    `plan` is what `apply()` does; `new_id` and `secret` are there once it has.
    """

    def __init__(self, webhooks: Webhooks, old: Webhook, plan: Plan) -> None:
        self.old_id = old.id
        self.plan = plan
        self.new_id: int | None = None
        self.secret: Secret | None = None
        self._webhooks = webhooks
        plan.notes += _WARNINGS

    @property
    def url(self) -> str:
        """The address of the new webhook."""
        return str(self.plan.changes[0].after["url"])

    def apply(self, *, keyring: bool = False, **how: Any) -> pd.DataFrame:
        """Create the new webhook; what truly happened, as of any plan.

        Args:
            keyring: Keep the new signing secret in the keyring of this machine.
            how: What `Plan.apply` takes.

        Raises:
            SettingsError: The keyring is missing or fails; nothing was sent.
        """
        if keyring:
            check_keyring(endpoints_of(self._webhooks).transport.connection.account)
        result = self.plan.apply(**how)
        for new_id, secret in self.plan.secrets.items():
            self.new_id, self.secret = int(new_id), secret
            if keyring:
                self._webhooks.keep_secret(self.new_id, secret)
        return result

    def finish(self, *, unheard: bool = False) -> Plan:
        """Plan to delete the old webhook, once a delivery has reached the new one.

        The plan can never be undone, so it is applied with `apply(irreversible=True)`.

        Args:
            unheard: Go on although nothing has been delivered to the new one yet.

        Raises:
            InputError: The new webhook is not there, its secret is not, or nothing has
                reached it; the text says what to do.
        """
        if self.new_id is None:
            raise InputError(
                "The new webhook is not there yet, or its signing secret was lost: look at "
                "rotation.apply() and client.webhooks.frame(). The old one must stay."
            )
        verdicts = self._webhooks.health()
        if self.new_id not in verdicts.index:
            raise InputError(
                f"The new webhook {self.new_id} is gone. The old one must stay: rotate again."
            )
        health, reason = verdicts.loc[self.new_id, ["health", "reason"]]
        if health not in ("healthy", "silent") and not unheard:  # a delivery has reached it
            raise InputError(
                f"The new webhook {self.new_id} is {health} ({reason}): the old one must stay "
                "until a delivery has reached the new one. finish(unheard=True) goes on all the "
                "same."
            )
        return self._webhooks.plan(delete=[self.old_id])

    def _steps(self) -> list[str]:
        made = f"created as {self.new_id}" if self.new_id else "rotation.apply() creates it"
        return [
            f"1. A new webhook to {self.url}: {made}.",
            "2. Your receiver learns the new signing secret, and takes both for a while.",
            f"3. rotation.finish() plans to delete webhook {self.old_id}.",
        ]

    @steady
    def __repr__(self) -> str:
        return "\n".join([f"Rotation of webhook {self.old_id}", *self._steps(), *_WARNINGS])

    def _repr_html_(self) -> str:
        steps = "".join(f"<li>{html.escape(step[3:])}</li>" for step in self._steps())
        told = "".join(f"<p>{html.escape(warning)}</p>" for warning in _WARNINGS)
        return f"<div><b>Rotation of webhook {self.old_id}</b><ol>{steps}</ol>{told}</div>"


def address_beside(url: str, taken: set[str]) -> str:
    """Return an address that the same receiver hears, and that no webhook has yet.

    Its query ends in `rotated=1`, or in the next number that is free.
    """
    parts = urlsplit(url)
    rest = _MARK.sub("", parts.query)
    number = 1
    while True:
        query = f"{rest}&rotated={number}" if rest else f"rotated={number}"
        found = urlunsplit(parts._replace(path=parts.path or "/", query=query))
        if found not in taken:
            return found
        number += 1


# --- the keyring ---------------------------------------------------------------------------

T = TypeVar("T")
_SERVICE = "chatkit webhooks"
_INSTEAD = (
    "A signing secret cannot be kept there: without keyring=True it is in "
    "webhook.webhook_secret, once, to be handed to your receiver from there."
)


def keep_in_keyring(account: str, webhook_id: int, secret: Secret) -> None:
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


def find_in_keyring(account: str, webhook_id: int) -> Secret | None:
    """Read the signing secret of a webhook; None: it is not kept.

    Raises:
        SettingsError: The keyring is missing or fails.
    """

    def question(keyring: ModuleType) -> Secret | None:
        text = keyring.get_password(_SERVICE, _name(account, webhook_id))
        return None if text is None else Secret(text)

    return _asked(question)


def forget_in_keyring(account: str, webhook_id: int) -> None:
    """Remove the signing secret of a webhook; silent when it is not kept.

    Raises:
        SettingsError: The keyring is missing or fails.
    """

    def question(keyring: ModuleType) -> None:
        name = _name(account, webhook_id)
        if keyring.get_password(_SERVICE, name) is not None:
            keyring.delete_password(_SERVICE, name)

    _asked(question)


def check_keyring(account: str) -> None:
    """Make sure that the keyring keeps what it is given, before a secret depends on it.

    Raises:
        SettingsError: It is missing, fails, or keeps nothing.
    """
    keep_in_keyring(account, 0, Secret("a trial, no secret"))
    forget_in_keyring(account, 0)


def _asked(question: Callable[[ModuleType], T]) -> T:
    """Ask the keyring; its failure is told in words about signing secrets."""
    try:
        return ask_keyring(question)
    except SettingsError as error:
        first = str(error).partition(".")[0]
    raise SettingsError(f"{first}. {_INSTEAD}")


def _name(account: str, webhook_id: int) -> str:
    return f"{account} webhook {webhook_id}"
