"""Handover: a signing secret that is shown this once, and that no notebook keeps."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from chatkit.errors import ChatkitError, steady
from chatkit.secret import Secret
from chatkit.webhooks import Webhooks
from chatkit.widgets.packed import joined


class Handover(anywidget.AnyWidget):
    """Hands a signing secret to a person: shown, copied, or into the keyring of this machine.

    The secret goes to the page as a message when a button asks for it. It is no part of the
    widget's state, which a notebook may save, and it is forgotten when it is handed over.

    Args:
        room: `client.webhooks`.
    """

    _esm = joined(["inbox/handover.js"])
    _css = joined(["inbox/registrations.css"])

    #: The id of the webhook that it belongs to; 0 while there is none to hand over.
    webhook = traitlets.Int(0).tag(sync=True)
    told = traitlets.Unicode().tag(sync=True)

    def __init__(self, room: Webhooks) -> None:
        self._room = room
        self.secret: Secret | None = None  #: what is handed over, until it is forgotten
        super().__init__()
        self.on_msg(self._heard)

    def offer(self, webhook: int, secret: Secret) -> None:
        """Have a secret ready for a person; one that waited before is forgotten."""
        self.secret = secret
        self.told = (
            f"The signing secret of webhook {webhook} is shown this once. Your receiver needs "
            "it; nobody can ask for it again."
        )
        self.webhook = webhook

    def forget(self) -> None:
        """Forget the secret."""
        self.secret, self.webhook = None, 0

    def keep(self) -> None:
        """Put the secret into the keyring of this machine, where `room.secret(id)` finds it.

        Raises:
            SettingsError: The keyring is missing or fails; the secret still waits.
        """
        if self.secret is not None:
            self._room.keep_secret(self.webhook, self.secret)

    @steady
    def __repr__(self) -> str:
        waits = f"of webhook {self.webhook}, not shown" if self.secret else "none waits"
        return f"<signing secret: {waits}>"

    def _heard(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"ask": "show" | "copy"} if self.secret is not None:
                self.send({"secret": self.secret.reveal()})
            case {"ask": "keyring"} if self.secret is not None:
                said = f"In the keyring: client.webhooks.secret({self.webhook}) finds it."
                try:
                    self.keep()
                except ChatkitError as error:
                    said = str(error)
                self.send({"said": said})
            case {"ask": "forget"}:
                self.forget()
                self.send({"said": ""})
