"""Connection: one account of one service, and the rules for an address to send a token to."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from chatkit.api.secret import Secret, validate_access_token
from chatkit.errors import SettingsError
from chatkit.profile import ServiceProfile

API_PREFIX = "/api/business/public"

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_BASE_URL = re.compile(
    rf"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]+\]|{_LABEL}(?:\.{_LABEL})*)"
    r"(?P<port>:[0-9]{1,5})?(?P<path>(?:/[a-z0-9._~-]+)*)/?",
    re.IGNORECASE | re.ASCII,
)


def validate_base_address(text: object) -> str:
    """Return a base address that is safe to send a token to, without a slash at its end.

    It is https, or http on loopback; it has no user, query or fragment; it may have a path.

    Raises:
        SettingsError: What is wrong and what to write. The text is never repeated: a token
            may have been passed in its place.
    """
    if not isinstance(text, str):
        raise SettingsError(f"The base address must be text, not {type(text).__name__}.")
    if "://" not in text:
        raise SettingsError(
            "The base address must begin with https://, for instance https://api.example.com."
        )
    for sign, name in {"@": "a user or password", "?": "a query", "#": "a fragment"}.items():
        if sign in text:
            raise SettingsError(f"The base address has {name} ({sign}): leave it out.")
    match = _BASE_URL.fullmatch(text)
    if match is None:
        raise SettingsError(
            "The base address cannot be trusted: write https://host, https://host:port or "
            "https://host/path in plain ASCII, without spaces, escapes or line breaks."
        )
    host, path, port = match["host"].lower(), match["path"], match["port"] or ""
    if not _is_plain_host(host) or (port and not 0 < int(port[1:]) < 65536):
        raise SettingsError(
            "The base address has an odd host or port: write a name (api.example.com), four "
            "numbers (192.0.2.7) or an IPv6 address in brackets, and a port from 1 to 65535."
        )
    if {".", ".."} & set(path.split("/")):
        raise SettingsError("The base address has '.' or '..' in its path: leave it out.")
    if path.lower().endswith(API_PREFIX):
        raise SettingsError(f"The base address ends in {API_PREFIX}: leave that out.")
    if match["scheme"].lower() == "http" and not _is_loopback(host):
        raise SettingsError(
            "The base address is plain http, which would show the token to the network: "
            "write https://. Only loopback (127.0.0.1, [::1], localhost) may be http."
        )
    return f"{match['scheme'].lower()}://{host}{port}{path}"


def _parse_ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parse a host as an IP address; None if it is a name."""
    try:
        if host.startswith("["):
            return ipaddress.IPv6Address(host[1:-1])
        return ipaddress.IPv4Address(host)
    except ValueError:
        return None


def _is_plain_host(host: str) -> bool:
    """Check the length of a host, and that not only some read it as a number (127.1, 0x7f.1)."""
    if host.startswith("[") or re.search(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$", host):
        return _parse_ip_address(host) is not None
    return len(host) <= 253


def _is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    address = _parse_ip_address(host)
    return host == "localhost" if address is None else address.is_loopback


def validate_account_id(value: object) -> str:
    """Return an account id as the text that goes into a path: letters, digits and . _ ~ - only."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise SettingsError(
            f"The account id must be text or a whole number, not {type(value).__name__}."
        )
    text = str(value)
    if not re.fullmatch(r"[A-Za-z0-9._~-]{1,200}", text) or text in {".", ".."}:
        raise SettingsError(
            "The account id is empty or has characters that no id has: write only the id, "
            "such as 1001."
        )
    return text


def split_account(account: str) -> tuple[str, str]:
    """Split `Connection.account` into the address of the service and the account id."""
    where, _, account_id = account.rpartition(" account ")
    return where, account_id


def describe_account(account: str, name: str | None = None) -> str:
    """Return an account in words: the name of its connection, or its id and address.

    Args:
        account: What `Connection.account` says.
        name: The name of its connection, if it has one.
    """
    where, account_id = split_account(account)
    if where.startswith("sandbox "):
        return "the sandbox"
    if not name or name == "environment":
        return f"account {account_id} at {where}"
    return Path(name).name if "/" in name else name


def is_live(account: str) -> bool:
    """Return whether an account is of a service beyond this machine."""
    where, _ = split_account(account)
    return where.startswith("http") and not _is_loopback(_extract_host(where))


def _extract_host(base_url: str) -> str:
    """Return the host of a base address, without its port."""
    return re.sub(r":[0-9]+$", "", urlsplit(base_url).netloc)


BaseAddress = Annotated[str, BeforeValidator(validate_base_address)]
AccountId = Annotated[str, BeforeValidator(validate_account_id)]
AccessToken = Annotated[Secret, BeforeValidator(validate_access_token)]


class StoredConnection(BaseModel):
    """An account of a service, as the configuration file keeps it under a name."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    base_url: BaseAddress
    account_id: AccountId
    profile: ServiceProfile = Field(default_factory=ServiceProfile, repr=False)
    token_file: Path | None = Field(default=None, repr=False)
    """The file that holds the token, where there is no keyring."""
    templates: tuple[Annotated[str, Field(min_length=1)], ...] = Field(default=(), repr=False)
    """Template codes that a person has had remembered: the API has no list of them."""


class Connection(StoredConnection):
    """One account of one service, and the token that opens it.

    `name` is the connection's name, `"environment"` when the base address is that of
    CHATKIT_BASE_URL, and None for arguments.
    """

    token: AccessToken
    name: str | None = None
    sandbox: str | None = None  #: tells one sandbox in this process from another
    passing: bool = False  #: whether the account ends with this process

    @property
    def account(self) -> str:
        """The account and its service, in one line without a secret."""
        where = self.base_url if self.sandbox is None else f"sandbox {self.sandbox}"
        return f"{where} account {self.account_id}"

    @property
    def loopback(self) -> bool:
        """Return whether the service runs on this machine, so that nothing leaves it."""
        return _is_loopback(_extract_host(self.base_url))
