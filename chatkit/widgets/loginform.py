"""Login form: store a connection without storing its token in the notebook."""

from __future__ import annotations

from chatkit import settings
from chatkit.account.doctor import save_if_healthy
from chatkit.api.connection import Connection, StoredConnection
from chatkit.api.secret import Secret, validate_access_token
from chatkit.errors import ChatkitError, format_command, safe_repr
from chatkit.profile import ServiceProfile
from chatkit.util.display import escaped
from chatkit.widgets.controls import Exported, draw_message, join_styles
from chatkit.widgets.fields import Choice, FormButton, FormGroup, FormModel, Html, SecretText, Text

_NOWHERE = "In a variable that I set in a terminal, before I start JupyterLab"


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

    _css = join_styles("fields.css", "form.css", "login.css")

    def __init__(self, name: str) -> None:
        self._name = settings.validate_name(name)
        known = settings.stored(name) if name in settings.names() else None
        self._profile = ServiceProfile() if known is None else known.profile
        self._file = (known and known.token_file) or settings.get_token_file(name)
        self.kept = False  #: whether the connection has been kept by this form
        self.message = ""  #: how the last attempt went
        self.fault = settings.find_keyring_fault()  #: why the keyring cannot keep the token
        self._base_url = Text("Base address", "https://api.example.com")
        self._account_id = Text("Account id", "1001")
        if known is not None:
            self._base_url.value, self._account_id.value = known.base_url, known.account_id
        how = "The token is not asked for here. In place of the dots, write it into this line:"
        line = f"<pre>{escaped(settings.make_token_line())}</pre>"
        in_file = "In a file that only you can read"
        self._details = {
            in_file: f"<small>{escaped(str(self._file))}</small>",
            _NOWHERE: f"<small>{how}</small>{line}",
        }
        self._place = Choice("Where the token will be", {p: p for p in self._details}, unset="")
        self._place.help, self._place.hidden = self.fault, not self.fault
        self._place.entered = self._update_controls
        self._token = SecretText("Access token")
        keyring = "" if self.fault else "It goes into the keyring of your system. "
        self._token.help = f"{keyring}This notebook keeps nothing of it."
        self._button = FormButton("Check and keep", self._submit, submit=True)
        controls = [self._base_url, self._account_id, self._place, self._token, self._button]
        self._fields, self._status = FormGroup(controls), Html()
        title = Html(f"<h3>{escaped(f'Keep the connection “{name}”')}</h3>")
        root = FormGroup([title, self._fields, self._status], css="chatkit-login chatkit-form")
        super().__init__(root)
        self._update_controls()

    def keep(self, base_url: str, account_id: str, token: str | Secret | None) -> None:
        """Ask the doctor, and keep the connection if there is no problem.

        Args:
            base_url: What stands before /api/business/public.
            account_id: The account.
            token: Its access token; None if CHATKIT_TOKEN will have it: nothing is asked then.

        Raises:
            ChatkitError: Something is missing or wrong; nothing was kept.
        """
        secret = None if token is None else validate_access_token(token)
        del token  # a traceback that prints variables must not find it
        where = StoredConnection(
            base_url=base_url.strip(), account_id=account_id.strip(), profile=self._profile
        )
        if secret is None:
            settings.save(self._name, where, "nowhere")
            self.message = (
                "Kept, without the token. Before you start JupyterLab, tell it in that terminal, "
                f"with the token in place of the dots: {settings.make_token_line()}\n"
                "Then, in a cell:"
            )
        else:
            place: settings.TokenPlace = self._file if self.fault else "keyring"
            save_if_healthy(self._name, Connection(**dict(where), token=secret), place)
            kept_in = (
                f"in {self._file}, which only you can read" if self.fault else "in the keyring"
            )
            self.message = f"Kept, the token {kept_in}. In the next cell:"
        self.kept = True
        self._update_controls()

    def _submit(self) -> None:
        """Save the connection, and show the result."""
        token = self._token.take() or Secret("")
        without_token = self._place.read() == _NOWHERE
        self._status.value = draw_message("Asking the service …")
        self.draw()
        try:
            secret = None if without_token else token
            self.keep(self._base_url.value, self._account_id.value, secret)
        except ChatkitError as error:
            self.message = str(error)
        self._update_controls()
        wrong = self._base_url if without_token else self._token
        self.focus_on(self._status if self.kept else wrong)

    def _update_controls(self) -> None:
        without_token = self._place.read() == _NOWHERE
        self._place.notes = self._details[self._place.read()]
        self._token.hidden = without_token
        self._button.label = "Keep address and account" if without_token else "Check and keep"
        self._fields.hidden = self.kept
        status = draw_message(self.message, wrong=not self.kept)
        if self.kept:
            line = escaped(f'client = chatkit.connect("{self._name}")')
            status += f'<pre tabindex="0">{line}</pre>'
        self._status.value = status
        self.draw()

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
