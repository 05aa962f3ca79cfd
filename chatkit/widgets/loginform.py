"""Login form: store a connection without storing its token in the notebook."""

from __future__ import annotations

from chatkit import settings
from chatkit.account.doctor import save_if_healthy
from chatkit.api.connection import Connection, StoredConnection
from chatkit.api.secret import Secret, validate_access_token
from chatkit.errors import format_command, safe_repr
from chatkit.profile import ServiceProfile
from chatkit.util.display import escaped
from chatkit.widgets.controls import Exported
from chatkit.widgets.fields import FormButton, FormGroup, FormModel, Html, SecretText, Text


def login(name: str) -> LoginForm:
    """Show a form that keeps a connection: base address, account and token, under a name.

    The token is typed into a password field. It goes to the keyring of the system, or, where
    there is none, into a file that only you can read; neither the notebook nor the state of its
    widgets ever has it. In a terminal, `chatkit login NAME` does the same.

    Args:
        name: How you will call it: `chatkit.connect(name)` opens it then.

    Raises:
        SettingsError: The name cannot be one, or the configuration file cannot be read.

    >>> chatkit.widgets.login("production")
    A form to keep the connection production. In a terminal: ...
    """
    return LoginForm(name)


class LoginForm(Exported, FormModel):
    """A form for base address, account and token; `chatkit.widgets.login(name)` makes it.

    The token comes as a message and is never part of the widget's state, which a notebook may
    save.

    Args:
        name: The name to keep the connection under.
    """

    def __init__(self, name: str) -> None:
        self._name = settings.validate_name(name)
        known = settings.stored(name) if name in settings.names() else None
        self._profile = ServiceProfile() if known is None else known.profile
        self._file = (known and known.token_file) or settings.get_token_file(name)
        self.kept = False  #: whether the connection has been kept by this form
        self.fault = settings.find_keyring_fault()  #: why the keyring cannot keep the token
        self._base_url = Text("Base address", "https://api.example.com")
        self._account_id = Text("Account id", "1001")
        if known is not None:
            self._base_url.value, self._account_id.value = known.base_url, known.account_id
        self._token = SecretText("Access token")
        kept_in = f"{self.fault} It is kept in {self._file}, which only you can read."
        place = kept_in if self.fault else "It goes into the keyring of your system."
        self._token.help = f"{place} This notebook keeps nothing of it."
        self._button = FormButton("Check and keep", self._submit, submit=True)
        self._fields = FormGroup([self._base_url, self._account_id, self._token, self._button])
        self._line = Html()
        title = Html(f"<h3>{escaped(f'Keep the connection “{name}”')}</h3>")
        controls = [title, self._fields, self.status, self._line]
        root = FormGroup(controls, css="chatkit-login chatkit-form")
        super().__init__(root)

    def keep(self, base_url: str, account_id: str, token: str | Secret) -> None:
        """Ask the doctor, and keep the connection if there is no problem.

        Args:
            base_url: What stands before /api/business/public.
            account_id: The account.
            token: Its access token.

        Raises:
            ChatkitError: Something is missing or wrong; nothing was kept.
        """
        secret = validate_access_token(token)
        del token  # a traceback that prints variables must not find it
        where = StoredConnection(
            base_url=base_url.strip(), account_id=account_id.strip(), profile=self._profile
        )
        place: settings.TokenPlace = self._file if self.fault else "keyring"
        save_if_healthy(self._name, Connection(**dict(where), token=secret), place)
        kept_in = f"in {self._file}, which only you can read" if self.fault else "in the keyring"
        line = escaped(f'client = chatkit.connect("{self._name}")')
        self._line.value = f'<pre tabindex="0">{line}</pre>'
        self.kept = self._fields.hidden = True
        self.report(f"Kept, the token {kept_in}. In the next cell:")

    def _submit(self) -> None:
        """Save the connection, and show the result."""
        token = self._token.take() or Secret("")
        self.report("Asking the service …")
        self.attempt(self.keep, self._base_url.value, self._account_id.value, token)
        self.focus_on(self._line if self.kept else self._token)

    @safe_repr
    def __repr__(self) -> str:
        if self.kept:
            return f"The connection {self._name} is kept."
        return (
            f"A form to keep the connection {self._name}. "
            f"In a terminal: {format_command(f'login {self._name}')}"
        )

    def _make_saved_page(self) -> str:
        return f"<p>{escaped(repr(self))}</p>"
