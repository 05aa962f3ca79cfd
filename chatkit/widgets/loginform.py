"""Login form: keep a connection from a notebook, which keeps nothing of the token."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from chatkit import settings
from chatkit.account.doctor import keep_checked
from chatkit.api.connection import Connection, StoredConnection
from chatkit.api.secret import Secret, access_token
from chatkit.errors import ChatkitError, command, steady
from chatkit.profile import ServiceProfile
from chatkit.util.display import escaped
from chatkit.widgets.controls import Exported, joined_module, joined_text


def login(name: str) -> LoginForm:
    """Show a form that keeps a connection: base address, account and token, under a name.

    The token is typed into a password field. It goes to the keyring of the system, or, where
    there is none, into a file that only you can read; neither the notebook nor the state of its
    widgets ever has it. In a terminal, `chatkit login NAME` does the same.

    Args:
        name: How you will call it: `chatkit.connect(name)` opens it then.

    Raises:
        SettingsError: The name cannot be one, or the configuration file cannot be read.

    >>> chatkit.login("production")
    A form to keep the connection production. In a terminal: ...
    """
    return LoginForm(name)


class LoginForm(Exported, anywidget.AnyWidget):
    """A form for base address, account and token; `chatkit.login(name)` makes it.

    What is typed comes as a message and is never part of the widget's state, which a notebook
    may save.

    Args:
        name: The name to keep the connection under.
    """

    _esm = joined_module(["keys.js", "login.js"])
    _css = joined_text(["button.css", "login.css"])

    title = traitlets.Unicode().tag(sync=True)
    base_url = traitlets.Unicode().tag(sync=True)
    account_id = traitlets.Unicode().tag(sync=True)
    #: Why the keyring cannot keep the token, said before it is typed; empty if it can.
    fault = traitlets.Unicode().tag(sync=True)
    #: The file that keeps the token where there is no keyring.
    file = traitlets.Unicode().tag(sync=True)
    #: How a shell is told the token, where no file is wanted either.
    line = traitlets.Unicode().tag(sync=True)
    #: Whether the service is being asked.
    busy = traitlets.Bool(False).tag(sync=True)
    said = traitlets.Unicode().tag(sync=True)
    #: Whether the connection has been kept by this form.
    kept = traitlets.Bool(False).tag(sync=True)
    #: What to write into the next cell.
    next_line = traitlets.Unicode().tag(sync=True)

    def __init__(self, name: str) -> None:
        self._name = settings.checked_name(name)
        known = settings.stored(name) if name in settings.names() else None
        self._profile = ServiceProfile() if known is None else known.profile
        self._file = (known and known.token_file) or settings.token_file(name)
        super().__init__(
            title=f"Keep the connection “{name}”",
            base_url=known.base_url if known else "",
            account_id=known.account_id if known else "",
            fault=settings.keyring_fault(),
            file=str(self._file),
            line=settings.token_line(),
            next_line=f'client = chatkit.connect("{name}")',
        )
        self.on_msg(self._heard)

    def keep(self, base_url: str, account_id: str, token: str | Secret | None) -> None:
        """Ask the doctor, and keep the connection if there is no problem.

        Args:
            base_url: What stands before /api/business/public.
            account_id: The account.
            token: Its access token; None if CHATKIT_TOKEN will have it: nothing is asked then.

        Raises:
            ChatkitError: Something is missing or wrong; nothing was kept.
        """
        secret = None if token is None else access_token(token)
        del token  # a traceback that prints variables must not find it
        where = StoredConnection(
            base_url=base_url.strip(), account_id=account_id.strip(), profile=self._profile
        )
        if secret is None:
            settings.save(self._name, where, "nowhere")
            self.said = (
                "Kept, without the token. Before you start JupyterLab, tell it in that terminal, "
                f"with the token in place of the dots: {self.line}\nThen, in a cell:"
            )
        else:
            place: settings.TokenPlace = self._file if self.fault else "keyring"
            keep_checked(self._name, Connection(**dict(where), token=secret), place)
            there = f"in {self._file}, which only you can read" if self.fault else "in the keyring"
            self.said = f"Kept, the token {there}. In the next cell:"
        self.kept = True

    def _heard(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"base_url": str(base_url), "account_id": str(account_id), "token": str(token)}:
                secret = None if message.get("place") == "nowhere" else Secret(token)
                del message, token, __
                self.busy = True
                self.said = ""
                try:
                    self.keep(base_url, account_id, secret)
                except ChatkitError as error:
                    self.said = str(error)
                finally:
                    self.busy = False

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
