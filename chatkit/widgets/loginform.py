"""Login form: keep a connection from a notebook, which keeps nothing of the token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from chatkit import settings
from chatkit.checkup import keep_checked
from chatkit.connection import Connection
from chatkit.display import escaped
from chatkit.errors import ChatkitError, command, steady
from chatkit.secret import Secret, access_token
from chatkit.widgets.assets import joined_text
from chatkit.widgets.controls import Exported


def login(name: str) -> LoginForm:
    """Show a form that keeps a connection: base address, account and token, under a name.

    The token is typed into a password field. It goes to the keyring of the system, or, where
    there is none, into a file that only you can read; neither the notebook nor the state of its
    widgets ever has it. In a terminal, `chatkit login NAME` does the same.

    Args:
        name: How you will call it: `chatkit.connect(name)` opens it then.

    Raises:
        SettingsError: The name cannot be one, or the configuration file cannot be read.
    """
    return LoginForm(name)


class LoginForm(Exported, anywidget.AnyWidget):
    """A form for base address, account and token; `chatkit.login(name)` makes it.

    What is typed comes as a message and is never part of the widget's state, which a notebook
    may save.

    Args:
        name: The name to keep the connection under.
    """

    _esm = joined_text(["login.js"])
    _css = joined_text(["form.css"])

    title = traitlets.Unicode().tag(sync=True)
    base_url = traitlets.Unicode().tag(sync=True)
    account_id = traitlets.Unicode().tag(sync=True)
    #: Where the token will be kept, said before it is typed.
    place = traitlets.Unicode().tag(sync=True)
    said = traitlets.Unicode().tag(sync=True)
    #: Whether the connection has been kept by this form.
    kept = traitlets.Bool(False).tag(sync=True)

    def __init__(self, name: str) -> None:
        settings.checked_name(name)
        known = settings.stored(name) if name in settings.names() else None
        fault = settings.keyring_fault()
        file = (known and known.token_file) or settings.token_file(name)
        self._name, self._profile = name, None if known is None else known.profile
        self._file: Path | None = file if fault else None
        super().__init__(
            title=f"Keep the connection {name}",
            base_url=known.base_url if known else "",
            account_id=known.account_id if known else "",
            place=f"{fault} The token will be kept in {file}, which only you can read."
            if fault
            else "The token will be kept in the keyring of your system.",
        )
        self.on_msg(self._heard)

    def keep(self, base_url: str, account_id: str, token: str | Secret) -> None:
        """Ask the doctor, and keep the connection if there is no problem.

        Raises:
            ChatkitError: Something is missing or wrong; nothing was kept.
        """
        secret = access_token(token)
        del token  # a traceback that prints variables must not find it
        given = {"base_url": base_url.strip(), "account_id": account_id.strip(), "token": secret}
        if self._profile is not None:
            given["profile"] = self._profile
        keep_checked(self._name, Connection(**given), self._file or "keyring")
        self.kept = True
        self.said = f'Kept. In a cell: client = chatkit.connect("{self._name}")'

    def _heard(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"base_url": str(base_url), "account_id": str(account_id), "token": str(token)}:
                secret = Secret(token)
                del message, token, __
                self.said = "Asking the service …"
                try:
                    self.keep(base_url, account_id, secret)
                except ChatkitError as error:
                    self.said = str(error)

    @steady
    def __repr__(self) -> str:
        if self.kept:
            return f"The connection {self._name} is kept."
        return (
            f"A form to keep the connection {self._name}. "
            f"In a terminal: {command(f'login {self._name}')}"
        )

    def _page(self) -> str:
        return f"<p>{escaped(repr(self))}</p>"
