"""Where base address, account and access token come from, and how they are kept.

In this order: arguments; the variables CHATKIT_BASE_URL, CHATKIT_ACCOUNT_ID and
CHATKIT_TOKEN; a named connection of the user's configuration file, whose token lies in
the keyring of the operating system. When nothing at all is configured there is the sandbox.

A configuration file looks like this, and never holds a token:

```toml
[staging]
base_url = "https://staging.example.com"
account_id = "1001"

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
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from chatkit.connection import (
    AccessToken,
    AccountId,
    BaseAddress,
    Connection,
    StoredConnection,
    base_address,
)
from chatkit.errors import SettingsError
from chatkit.profile import ServiceProfile
from chatkit.secret import Secret, access_token

if TYPE_CHECKING:
    from types import ModuleType

T = TypeVar("T")

#: How the file ends in which a served sandbox keeps its address and its token.
_ACCESS = ".access"
_KEYRING_SERVICE = "chatkit"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,30}")
_NEEDED = {"base_url": "base address", "account_id": "account id", "token": "access token"}


class _Environment(BaseModel):
    """The CHATKIT_* variables. An empty one counts as not set."""

    model_config = ConfigDict(hide_input_in_errors=True)

    base_url: BaseAddress | None = None
    account_id: AccountId | None = None
    token: AccessToken | None = None
    connection: str | None = None
    config: Path | None = None


def _environment() -> _Environment:
    names = {name: f"CHATKIT_{name.upper()}" for name in _Environment.model_fields}
    try:
        return _Environment.model_validate(
            {name: os.environ[known] for name, known in names.items() if os.environ.get(known)}
        )
    except SettingsError as error:
        raise SettingsError(f"In the CHATKIT_ variables: {error}") from None


def resolve(
    name: str | None = None,
    *,
    base_url: str | None = None,
    account_id: str | int | None = None,
    token: str | Secret | None = None,
    profile: ServiceProfile | None = None,
) -> Connection | None:
    """The connection that is meant, or None when nothing is configured (then: the sandbox).

    A name is an argument, so a named connection wins over CHATKIT_BASE_URL and
    CHATKIT_ACCOUNT_ID; CHATKIT_CONNECTION is the name when neither a name nor a base
    address is passed. A token is never sent to an address it was not given with: when
    CHATKIT_BASE_URL is set and another address is chosen, CHATKIT_ACCOUNT_ID and
    CHATKIT_TOKEN are set aside. Else CHATKIT_TOKEN comes before the keyring.

    Raises:
        SettingsError: Half a configuration (it lists what is missing and where it may be
            given), an unknown name (it lists the known ones), a bad value.
    """
    if name is not None and name.endswith(_ACCESS):
        if base_url is not None:
            raise SettingsError("A sandbox's access file tells its address: leave out base_url=.")
        return served(name)
    token = None if token is None else access_token(token)
    arguments = _present(base_url=base_url, account_id=account_id, token=token, profile=profile)
    whole = arguments.keys() >= _NEEDED.keys()  # then the variables do not even have to be right
    environment = _Environment.model_construct() if whole else _environment()
    if base_url is not None:
        if name is not None:
            raise SettingsError(
                f"The connection {name!r} has a base address of its own: "
                "pass a name or base_url=, not both."
            )
        arguments["base_url"] = base_address(base_url)
    elif name is None:
        name = environment.connection
    if name is None:
        values = _present(base_url=environment.base_url) | arguments
    else:
        values = dict(stored(name)) | arguments
    aside = environment.base_url not in (None, values.get("base_url"))
    if not aside:
        values = _present(account_id=environment.account_id, token=environment.token) | values
    if name is not None and "token" not in values:
        values |= _present(token=_stored_token(name))
    if not values.keys() & _NEEDED.keys():
        return None
    missing = [field for field in _NEEDED if field not in values]
    if missing:
        raise SettingsError(_half(missing, name, aside))
    if name is None and base_url is None:
        name = "environment"
    return Connection(name=name, **values)


def served(path: str) -> Connection:
    """The connection to a served sandbox, as the access file that it keeps tells.

    Raises:
        SettingsError: There is no such file, or it is damaged.
    """
    file = Path(path).expanduser().resolve()
    try:
        return Connection(name=str(file), **json.loads(file.read_bytes()))
    except FileNotFoundError:
        reason = "there is no such file. `chatkit sandbox --db FILE` serves a sandbox and keeps it"
    except OSError as error:
        reason = f"it cannot be read: {error.strerror}"
    except (ValueError, TypeError, SettingsError):  # its content may be the token
        reason = "it is damaged: serve the sandbox again"
    raise SettingsError(f"{file}: {reason}.")


def _present(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _half(missing: list[str], name: str | None, aside: bool) -> str:
    lines = ["Half a configuration."]
    for field in missing:
        lines.append(
            f"  The {_NEEDED[field]} is missing: pass {field}=, set CHATKIT_{field.upper()}, "
            f"or keep a connection with `chatkit login {name or 'NAME'}`."
        )
    if aside:
        lines.append(
            "  CHATKIT_ACCOUNT_ID and CHATKIT_TOKEN are set aside: they belong to the address in "
            "CHATKIT_BASE_URL, which is another one."
        )
    if name is None:
        lines.append("For the sandbox, pass nothing and unset the CHATKIT_ variables.")
    return "\n".join(lines)


def config_file() -> Path:
    """Where the named connections are kept: CHATKIT_CONFIG, or the user's own folder."""
    from platformdirs import user_config_path

    config = _environment().config
    return config or user_config_path("chatkit", appauthor=False) / "connections.toml"


def names() -> list[str]:
    """The names of the connections that are kept."""
    return sorted(_tables())


def stored(name: str) -> StoredConnection:
    """What the configuration file keeps under a name.

    Raises:
        SettingsError: The name is unknown, or its table is wrong.
    """
    table = _table(name)
    try:
        return StoredConnection.model_validate(table)
    except SettingsError as error:
        reason = str(error)
    except ValidationError as error:
        reason = explain(error)
    raise SettingsError(f"{config_file()}, [{name}]: {reason}")


def save(name: str, connection: Connection) -> None:
    """Keep a connection under a name: its token in the keyring, the rest in the file.

    Comments in the file, and other connections, stay.

    Raises:
        SettingsError: The name is odd, the keyring is missing or fails, the file cannot be
            read or written.
    """
    import tomlkit

    if not _NAME.fullmatch(name):
        raise SettingsError("A connection's name is made of letters, digits, _ and -, at most 30.")
    _tables()  # a file that cannot be read is refused before anything is kept

    def keep(keyring: ModuleType) -> str | None:
        keyring.set_password(_KEYRING_SERVICE, name, connection.token.reveal())
        kept: str | None = keyring.get_password(_KEYRING_SERVICE, name)
        return kept

    if Secret(ask_keyring(keep) or "") != connection.token:
        raise SettingsError("The keyring did not keep the token. Set CHATKIT_TOKEN instead.")

    def change(document: tomlkit.TOMLDocument) -> None:
        table = document.setdefault(name, tomlkit.table())
        there = table.get("base_url"), str(table.get("account_id"))
        if there != (connection.base_url, connection.account_id):
            table.pop("templates", None)  # of another account
        table["base_url"] = connection.base_url
        table["account_id"] = connection.account_id
        changed = connection.profile.model_dump(mode="json", exclude_defaults=True)
        profile = table.setdefault("profile", tomlkit.table())
        for key in profile.keys() - changed.keys():
            del profile[key]
        profile.update({key: "" if value is None else value for key, value in changed.items()})
        if not profile:
            del table["profile"]

    _edit(change)


def keep_templates(name: str, codes: Sequence[str]) -> None:
    """Keep template codes with a connection, in place of those before; none to forget them.

    Raises:
        SettingsError: The name is unknown, or the file cannot be read or written.
    """
    import tomlkit

    _table(name)

    def change(document: tomlkit.TOMLDocument) -> None:
        table: Any = document[name]
        table.pop("templates", None)
        if codes:
            kept = tomlkit.array()
            kept.extend(codes)
            table["templates"] = kept.multiline(len(codes) > 3)

    _edit(change)


def forget(name: str) -> None:
    """Remove a connection from the file and its token from the keyring.

    Raises:
        SettingsError: The name is unknown, or the keyring fails.
    """
    _table(name)
    _edit(lambda document: document.pop(name))

    def delete(keyring: ModuleType) -> None:
        if keyring.get_password(_KEYRING_SERVICE, name) is not None:
            keyring.delete_password(_KEYRING_SERVICE, name)

    with contextlib.suppress(_NoKeyring):
        ask_keyring(delete)


def _tables() -> dict[str, dict[str, Any]]:
    """Every table of the configuration file, refused when one holds a token."""
    path = config_file()
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
    for name, table in tables.items():
        keys = table if isinstance(table, dict) else {name}
        if any("token" in key.lower() for key in keys):
            del tables, table, keys  # a traceback that prints variables must not find it
            raise SettingsError(
                f"{path} holds a token ({name}). Remove that line, make a new token, "
                "and keep it in the keyring with `chatkit login NAME`."
            )
        if not isinstance(table, dict):
            raise SettingsError(f"{path}: {name} stands outside a table. Write [NAME] above it.")
    return tables


def _table(name: str) -> dict[str, Any]:
    tables = _tables()
    if name not in tables:
        shown = repr(name) if _NAME.fullmatch(name) else "of that name"  # it may be a token
        known = ", ".join(sorted(tables)) or "none yet"
        raise SettingsError(
            f"There is no connection {shown}. Known: {known}. Keep one with `chatkit login NAME`."
        )
    return tables[name]


def explain(error: ValidationError) -> str:
    """What is wrong in a file, key by key, without the values."""
    words = {"extra_forbidden": "is no known key", "missing": "is missing"}
    return "; ".join(
        ".".join(map(str, detail["loc"])) + " " + words.get(detail["type"], f"- {detail['msg']}")
        for detail in error.errors(include_url=False, include_input=False)
    )


def _edit(change: Callable[[Any], object]) -> None:
    """Change the configuration file in one step: a reader sees the old file or the new one."""
    import tomlkit

    path = config_file().resolve()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        document = tomlkit.parse(path.read_text(encoding="utf-8") if path.exists() else "")
        change(document)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # 0600
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(tomlkit.dumps(document))
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error}") from None


class _NoKeyring(SettingsError):
    """This machine has no keyring, as in most containers."""


def ask_keyring(question: Callable[[ModuleType], T]) -> T:
    """Ask the keyring of the system, and let nothing of what it says through.

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
            "This machine has no keyring. Set CHATKIT_TOKEN instead (it is set aside while "
            "CHATKIT_BASE_URL names another address)."
        )
    except Exception as failure:  # noqa: BLE001
        kind = type(failure).__name__
        error = SettingsError(f"The keyring failed ({kind}). Unlock it, or set CHATKIT_TOKEN.")
    raise error


def _stored_token(name: str) -> Secret | None:
    def read(keyring: ModuleType) -> Secret | None:
        text = keyring.get_password(_KEYRING_SERVICE, name)
        return None if text is None else Secret(text)

    return ask_keyring(read)
