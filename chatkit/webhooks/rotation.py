"""Rotation: a webhook gets a new signing secret, without a delivery that nobody can verify.

The service makes a signing secret when it makes a webhook, and never again. So a new webhook
is created beside the old one, the receiver learns the new secret and takes both, and the old
webhook is deleted once a delivery has reached the new one.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from chatkit.errors import InputError, steady

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan
    from chatkit.secret import Secret
    from chatkit.webhooks import Webhook, Webhooks

_MARK = re.compile(r"(?:^|&)rotated=([0-9]{1,6})$")
_WARNINGS = (
    "The new signing secret is in the answer to this create and nowhere else. If that answer "
    "is lost, the secret is lost with it: the old webhook goes on, so delete the new one and "
    "rotate again.",
    "From then on every event is delivered to both. Teach your receiver the new secret beside "
    "the old one, then delete the old webhook with rotation.finish().",
)


class Rotation:
    """A webhook that is being replaced by one with a new signing secret.

    `apply()` creates the new one, `finish()` returns the plan that deletes the old one.
    `plan` is what `apply()` does; `new_id` and `secret` are there once it has.
    """

    def __init__(self, room: Webhooks, old: Webhook, plan: Plan) -> None:
        self.old_id = old.id
        self.plan = plan
        self.new_id: int | None = None
        self.secret: Secret | None = None
        self._room = room
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
            self._room.check_keyring()
        result = self.plan.apply(**how)
        for new_id, secret in self.plan.secrets.items():
            self.new_id, self.secret = int(new_id), secret
            if keyring:
                self._room.keep_secret(self.new_id, secret)
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
        if self.new_id is None or self.secret is None:
            raise InputError(
                "The new webhook is not there yet, or its signing secret was lost: look at "
                "rotation.apply() and client.webhooks.frame(). The old one must stay."
            )
        verdicts = self._room.health()
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
        return self._room.plan(delete=[self.old_id])

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


def beside(url: str, taken: set[str]) -> str:
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
