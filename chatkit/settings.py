"""Sources of base address, account and access token, and how they are kept.

A named connection of the user's configuration file; without a name the variables
CHATKIT_BASE_URL, CHATKIT_ACCOUNT_ID and CHATKIT_TOKEN. When nothing at all is configured there is
the sandbox.

The token of a named connection is that of CHATKIT_TOKEN, else the text of the file that
CHATKIT_TOKEN_FILE names, else that of the connection's own `token_file`, else it lies in the
keyring of the operating system. A file is read only if nobody but its owner can (chmod 600).
Of several connections that are opened together each has a token of its own: the variables are
of one.

A configuration file looks like this, and never holds a token:

```toml
[staging]
base_url = "https://staging.example.com"
account_id = "1001"
token_file = "/home/ana/.config/chatkit/staging.token"  # only where there is no keyring

templates = ["welcome"]  # what client.templates.remember(codes) keeps

[staging.profile]        # only what differs from the defaults of ServiceProfile
search_param = "q"
```
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import stat
import tomllib
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from chatkit.api.connection import (
    AccessToken,
    AccountId,
    BaseAddress,
    Connection,
    StoredConnection,
)
from chatkit.api.secret import Secret, validate_access_token
from chatkit.errors import InputError, SettingsError, format_command

if TYPE_CHECKING:
    from types import ModuleType

T = TypeVar("T")

#: The suffix of the file in which a served sandbox keeps its address and its token.
_ACCESS_SUFFIX = ".access"
_KEYRING_SERVICE, _TRIAL_NAME = "chatkit", "keyring-check"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,30}")
_PRINTED_NAME = 16  #: characters of an unknown name that is printed; few tokens are as short
_MAX_TOKEN_LENGTH = 65_536  #: characters
_NEEDED = {"base_url": "base address", "account_id": "account id", "token": "access token"}


class _Environment(BaseModel):
    """The CHATKIT_* variables. An empty one counts as not set."""

    model_config = ConfigDict(hide_input_in_errors=True)

    base_url: BaseAddress | None = None
    account_id: AccountId | None = None
    token: AccessToken | None = None
    token_file: Path | None = None
    connection: str | None = None
    config: Path | None = None


def _read_environment() -> _Environment:
    """Read and validate the CHATKIT_ variables."""
    names = {name: f"CHATKIT_{name.upper()}" for name in _Environment.model_fields}
    try:
        return _Environment.model_validate(
            {name: os.environ[known] for name, known in names.items() if os.environ.get(known)}
        )
    except SettingsError as error:
        raise SettingsError(f"In the CHATKIT_ variables: {error}") from None


def resolve(name: str | None = None, *, one_of_several: bool = False) -> Connection | None:
    """Return the connection of a name, or of the variables; None for the sandbox.

    A named connection wins over CHATKIT_BASE_URL and CHATKIT_ACCOUNT_ID; CHATKIT_CONNECTION is the
    name when none is passed. A token is never sent to an address it was not given with: when
    CHATKIT_BASE_URL is set and another address is chosen, CHATKIT_ACCOUNT_ID and
    CHATKIT_TOKEN are set aside, and so they are for `one_of_several` connections that are opened
    together: one token is of one account. Else CHATKIT_TOKEN comes first, then
    CHATKIT_TOKEN_FILE, then what was kept with the name: a token file, or the keyring.

    Raises:
        SettingsError: An incomplete configuration (it lists what is missing and where it may be
            given), an unknown name (it lists the known ones), a bad value.
    """
    if name is not None and name.endswith(_ACCESS_SUFFIX):
        return read_access_file(name)
    environment = _read_environment()
    name = environment.connection if name is None else name
    if name is None:
        values, file = _drop_none(base_url=environment.base_url), None
    else:
        values = dict(stored(name))
        file = values.pop("token_file")
    set_aside = environment.base_url not in (None, values.get("base_url"))
    if not set_aside and not one_of_several:
        values = _drop_none(account_id=environment.account_id, token=environment.token) | values
        file = environment.token_file or file
    if "token" not in values and (file or name is not None):
        values |= _drop_none(token=_kept_token(name, file, one_of_several=one_of_several))
    missing = [field for field in _NEEDED if field not in values]
    if missing == [*_NEEDED]:
        return None
    if missing:
        if one_of_several:
            absent = " and no ".join(_NEEDED[field] for field in missing)
            raise SettingsError(
                f"The connection is incomplete. It has no {absent}: "
                f"`{format_command(f'login {name}')}` keeps it, in a file with --token-file. "
                "(CHATKIT_TOKEN is not used where several accounts are opened.)"
            )
        raise SettingsError(_describe_missing(missing, name, set_aside=set_aside))
    return Connection(name="environment" if name is None else name, **values)


def kept_connection(name: str, *, one_of_several: bool = False) -> Connection:
    """Return the connection of a name; see `resolve`.

    Raises:
        SettingsError: The name is unknown, or its configuration is incomplete.
    """
    connection = resolve(name, one_of_several=one_of_several)
    assert connection is not None  # noqa: S101  (only without a name it is the sandbox)
    return connection


def read_access_file(path: str) -> Connection:
    """Read the connection to a served sandbox from its access file.

    Raises:
        SettingsError: There is no such file, or it is damaged.
    """
    file = Path(path).expanduser().resolve()
    try:
        return Connection(name=str(file), **json.loads(file.read_bytes()))
    except FileNotFoundError:
        serve = format_command("sandbox --db FILE")
        reason = f"there is no such file. `{serve}` serves a sandbox and keeps it"
    except OSError as error:
        reason = f"it cannot be read: {error.strerror}"
    except (ValueError, TypeError, RecursionError, SettingsError):  # its content may be the token
        reason = "it is damaged: serve the sandbox again"
    raise SettingsError(f"{file}: {reason}.")


def _drop_none(**values: Any) -> dict[str, Any]:
    """Return the values that are not None, by name."""
    return {key: value for key, value in values.items() if value is not None}


def _describe_missing(missing: list[str], name: str | None, *, set_aside: bool) -> str:
    """Describe which parts of a connection are missing, and where to set them."""
    login = format_command(f"login {name or 'NAME'}")
    lines = [
        f"  The {_NEEDED[field]} is missing: set CHATKIT_{field.upper()}, or keep a connection "
        f"with `{login}`."
        for field in missing
    ]
    if set_aside:
        lines.append(
            "  CHATKIT_ACCOUNT_ID and CHATKIT_TOKEN are not used: they belong to the address in "
            "CHATKIT_BASE_URL, which is another one."
        )
    if name is None:
        lines.append("For the sandbox, pass nothing and unset the CHATKIT_ variables.")
    return "\n".join(["The connection is incomplete.", *lines])


def get_config_file() -> Path:
    """Return the path of the configuration file: CHATKIT_CONFIG, or in the user's own folder."""
    from platformdirs import user_config_path

    config = _read_environment().config
    return config or user_config_path("chatkit", appauthor=False) / "connections.toml"


def names() -> list[str]:
    """Return the names of the connections that are kept."""
    return sorted(_read_tables())


def stored(name: str) -> StoredConnection:
    """Return the connection that the configuration file keeps under a name.

    Raises:
        SettingsError: The name is unknown, or its table is wrong.
    """
    table = _read_table(name)
    try:
        return StoredConnection.model_validate(table)
    except SettingsError as error:
        reason = str(error)
    except ValidationError as error:
        reason = explain_error(error)
    raise SettingsError(f"{get_config_file()}, [{name}]: {reason}")


def validate_name(name: str) -> str:
    """Return a name that a connection can have.

    Raises:
        SettingsError: It cannot; the text says what a name is made of.
    """
    if not _NAME.fullmatch(name):
        raise SettingsError("A connection's name is made of letters, digits, _ and -, at most 30.")
    return name


#: Where `save` puts a token: keyring, file, or nowhere (then CHATKIT_TOKEN has it).
TokenPlace = Literal["keyring", "nowhere"] | Path


def save(name: str, connection: StoredConnection, place: TokenPlace = "keyring") -> None:
    """Keep a connection under a name: its token in the keyring, the rest in the file.

    Comments in the file, and other connections, stay.

    Args:
        name: The name to keep it under.
        connection: Which account of which service, and the token.
        place: A path, to write the token into a file that only its owner can read, or
            "nowhere": it will come from CHATKIT_TOKEN, and need not be known here.

    Raises:
        SettingsError: The name is odd, the keyring is missing or fails, a file cannot be
            read or written.
    """
    import tomlkit

    validate_name(name)
    before = _read_tables().get(name, {})  # a file that cannot be read is refused before all else
    file = place.expanduser().absolute() if isinstance(place, Path) else None

    def change(document: tomlkit.TOMLDocument) -> None:
        if place != "nowhere":  # under the lock: address and token are those of one login
            if not isinstance(connection, Connection):
                raise TypeError("a token is kept of a Connection")
            _save_token(name, connection.token, file)
        table = document.setdefault(name, tomlkit.table())
        account = table.get("base_url"), str(table.get("account_id"))
        if account != (connection.base_url, connection.account_id):
            table.pop("templates", None)  # of another account
        table["base_url"], table["account_id"] = connection.base_url, connection.account_id
        table.pop("token_file", None)
        if file:
            table["token_file"] = str(file)
        changed = connection.profile.model_dump(mode="json", exclude_defaults=True)
        profile = table.setdefault("profile", tomlkit.table())
        for key in profile.keys() - changed.keys():
            del profile[key]
        profile.update({key: "" if value is None else value for key, value in changed.items()})
        if not profile:
            del table["profile"]

    _edit_file(change)
    if before.get("token_file") not in (None, str(file)):
        _remove_token_file(name, before)


def _save_token(name: str, token: Secret, file: Path | None) -> None:
    """Write a token into a file, or into the keyring."""
    if file is not None:
        from chatkit.util.files import make_folder, replace_file

        try:
            if not file.parent.exists():
                make_folder(file.parent)
            with replace_file(file) as opened:
                opened.write(token.reveal().encode() + b"\n")
        except OSError as error:
            raise SettingsError(f"{file} cannot be written: {error}") from None
    elif not _keyring_keeps(name, token):
        raise SettingsError("The keyring did not keep the token. Set CHATKIT_TOKEN instead.")


def _keyring_keeps(name: str, token: Secret) -> bool:
    """Store a token in the keyring; return whether it reads back the same."""

    def keep(keyring: ModuleType) -> bool:
        keyring.set_password(_KEYRING_SERVICE, name, token.reveal())
        return Secret(keyring.get_password(_KEYRING_SERVICE, name) or "") == token

    return use_keyring(keep)


def get_token_file(name: str) -> Path:
    """Return the file for the token of a connection where there is no keyring."""
    return get_config_file().with_name(f"{name}.token").absolute()


def find_keyring_fault() -> str:
    """Return why the keyring cannot store a token, by trying a dummy; empty if it can."""
    try:
        if not _keyring_keeps(_TRIAL_NAME, Secret("kept")):
            return "The keyring of this machine stores nothing."
        use_keyring(lambda keyring: keyring.delete_password(_KEYRING_SERVICE, _TRIAL_NAME))
    except _NoKeyring:
        return "This machine has no keyring."
    except SettingsError as error:
        return str(error).partition(". ")[0] + "."
    return ""


def make_token_line() -> str:
    """Return the line that sets the token in a shell, with `…` in its place."""
    return "export CHATKIT_TOKEN='…'" if os.name == "posix" else "$env:CHATKIT_TOKEN = '…'"


def save_templates(name: str, codes: Sequence[str]) -> None:
    """Keep template codes with a connection, in place of those before; none to forget them.

    Raises:
        SettingsError: The name is unknown, or the file cannot be read or written.
    """
    import tomlkit

    _read_table(name)

    def change(document: tomlkit.TOMLDocument) -> None:
        table: Any = document[name]
        table.pop("templates", None)
        if codes:
            kept = tomlkit.array()
            kept.extend(codes)
            table["templates"] = kept.multiline(len(codes) > 3)

    _edit_file(change)


def forget(name: str) -> None:
    """Remove a connection from the file, and its token from the keyring or from its file.

    A token file of yours, one that `save` was told to write elsewhere, stays.

    Raises:
        SettingsError: The name is unknown, or the keyring fails.
    """
    before = _read_table(name)
    _edit_file(lambda document: document.pop(name))

    def delete(keyring: ModuleType) -> None:
        if keyring.get_password(_KEYRING_SERVICE, name) is not None:
            keyring.delete_password(_KEYRING_SERVICE, name)

    with contextlib.suppress(_NoKeyring):
        use_keyring(delete)
    _remove_token_file(name, before)


def _remove_token_file(name: str, table: Mapping[str, Any]) -> None:
    """Delete the token file of a connection if it is the one that we made."""
    if table.get("token_file") == str(get_token_file(name)):
        get_token_file(name).unlink(missing_ok=True)


def _read_tables() -> dict[str, dict[str, Any]]:
    """Read all tables of the configuration file; refuse one that holds a token."""
    path, reason = get_config_file(), ""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except RecursionError:
        reason = "it is nested too deeply"
    except (OSError, ValueError) as error:
        reason = str(error)
    if reason:
        raise SettingsError(f"{path} cannot be read: {reason}. Correct it, or remove it.")
    for name, table in tables.items():
        keys = {*table} if isinstance(table, dict) else {name}
        path_of_token = table.get("token_file") if isinstance(table, dict) else None
        if isinstance(path_of_token, str) and Path(path_of_token).is_absolute():
            keys.remove("token_file")  # no token looks like such a path
        if any("token" in key.lower() for key in keys):
            del tables, table, keys, path_of_token  # a traceback must not print it
            raise SettingsError(
                f"{path} holds a token ({name}). Remove that line, make a new token, "
                f"and keep it in the keyring with `{format_command('login NAME')}`."
            )
        if not isinstance(table, dict):
            raise SettingsError(f"{path}: {name} stands outside a table. Write [NAME] above it.")
    return tables


def _read_table(name: str) -> dict[str, Any]:
    """Read the table of a connection from the configuration file."""
    tables = _read_tables()
    if name not in tables:
        plain = _NAME.fullmatch(name) and len(name) <= _PRINTED_NAME
        called = repr(name) if plain else "of that name"  # it may be a token
        like = next(iter(get_close_matches(name, tables, 1)), "")
        known = f"Did you mean {like!r}? " * bool(like)
        known += f"Known: {', '.join(sorted(tables)) or 'none yet'}."
        login = format_command(f"login {name if plain else 'NAME'}")
        raise SettingsError(f"There is no connection {called}. {known} Keep one with `{login}`.")
    return tables[name]


def explain_error(error: ValidationError) -> str:
    """Describe validation errors key by key, without the values."""
    words = {"extra_forbidden": "is not a known key", "missing": "is missing"}
    faults = []
    for detail in error.errors(include_url=False, include_input=False):
        key = ".".join(map(str, detail["loc"]))
        inner = detail.get("ctx", {}).get("error")
        if isinstance(inner, InputError):  # of a profile: the keys below it
            keys = {".".join(filter(None, (key, each.field))): each for each in inner.problems}
            faults += [f"{name}: {each.reason}" for name, each in keys.items()]
        else:
            faults.append(f"{key} {words.get(detail['type'], '- ' + detail['msg'])}")
    return "; ".join(faults)


def _edit_file(change: Callable[[Any], object]) -> None:
    """Change the configuration file under a lock, so that no other change is lost."""
    import tomlkit

    from chatkit.util.files import rewrite_file

    def changed(content: bytes) -> bytes:
        try:
            document = tomlkit.parse(content.decode())
        except (ValueError, RecursionError):
            raise SettingsError(
                f"{get_config_file()} cannot be read: correct it, or remove it."
            ) from None
        change(document)
        return tomlkit.dumps(document).encode()

    try:
        rewrite_file(get_config_file(), changed)
    except OSError as error:
        raise SettingsError(f"{get_config_file()} cannot be written: {error}") from None


class _NoKeyring(SettingsError):
    """This machine has no keyring, as in most containers."""


def use_keyring(question: Callable[[ModuleType], T]) -> T:
    """Ask the keyring of the system; replace its errors, which may contain a token.

    Backends are plug-ins: they raise any type of error, with any text, the token among it.
    The error is raised outside the handler, so that it has no context to print either.
    """
    import keyring
    from keyring.errors import NoKeyringError

    error: SettingsError
    try:
        return question(keyring)
    except NoKeyringError:
        error = _NoKeyring(
            "This machine has no keyring. Before you start Python or JupyterLab: "
            f"{make_token_line()} "
            "(CHATKIT_TOKEN is set aside while CHATKIT_BASE_URL names another address), or keep "
            "the token in a file that only you can read: "
            f"`{format_command('login NAME --token-file')}`."
        )
    except Exception as failure:  # noqa: BLE001
        kind = type(failure).__name__
        error = SettingsError(f"The keyring failed ({kind}). Unlock it, or set CHATKIT_TOKEN.")
    raise error


def _kept_token(name: str | None, file: Path | None, *, one_of_several: bool) -> Secret | None:
    """Return the token that a file holds, or that the keyring keeps for a connection.

    Raises:
        SettingsError: The file or the keyring cannot be read.
    """
    if file is not None:
        return _read_token_file(file.expanduser())

    def read(keyring: ModuleType) -> Secret | None:
        text = keyring.get_password(_KEYRING_SERVICE, name)
        return None if text is None else Secret(text)

    try:
        return use_keyring(read)
    except _NoKeyring:  # it says that CHATKIT_TOKEN does as well
        if not one_of_several:
            raise
    return None


def _read_token_file(path: Path) -> Secret:
    """Read a file that holds a token and nothing else.

    Raises:
        SettingsError: There is no such file, others can read it, or it holds no token. The
            text never has the content of the file.
    """
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            token = Secret(file.read(_MAX_TOKEN_LENGTH).decode("ascii", "replace"))
        if os.name != "posix" or not mode & 0o77:
            return validate_access_token(token)
        reason = (
            f"can be read by others (mode {mode:o}), so it is not used. "
            f"Run `chmod 600 {shlex.quote(str(path))}`; if others work on this machine, make a "
            "new token."
        )
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except SettingsError as error:
        reason = f"holds no token. {error}"
    raise SettingsError(f"The token file {path} {reason}")
