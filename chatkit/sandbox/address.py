"""Addresses of receivers: written in one way only, and on this machine only.

The tricks that lead a sender astray live in spellings that two programs read in two ways
(127.1, 0x7f000001, user@host, a dot at the end), and in names that mean another address by
the time they are used. So an address is taken apart by one strict pattern, a name is
resolved once, and the very address that was checked is the one connected to.
"""

import ipaddress
import re
import socket
from typing import Any, NamedTuple
from urllib.parse import unquote

PORTS = {"http": 80, "https": 443}
#: What `socket.getaddrinfo` gives for one address of a name.
Found = tuple[Any, ...]

_VISIBLE = re.compile(r"[\x21-\x7e]{1,2048}")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_URL = re.compile(
    rf"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]+\]|{_LABEL}(?:\.{_LABEL})*)"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?(?P<path>/[^?#]*)?(?:\?(?P<query>[^#]*))?",
    re.IGNORECASE | re.ASCII,
)
_NUMBER_LIKE = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)", re.IGNORECASE)


class BadReceiver(ValueError):
    """An address that cannot be a receiver, or a delivery that no receiver allows."""


class Address(NamedTuple):
    """An http or https address, taken apart."""

    scheme: str
    host: str
    port: int
    path: str
    query: str

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port."""
        return self.scheme, self.host, self.port

    def holds(self, other: "Address") -> bool:
        """Whether this one is a prefix of the other, by whole path segments."""
        inside = other.path == self.path or other.path.startswith(self.path.rstrip("/") + "/")
        return self.origin == other.origin and inside


def read_address(url: str) -> Address:
    """Take an address apart; refuse what two programs could read in two ways.

    Raises:
        BadReceiver: It is not a plain http or https address; the text says what to write.
    """
    if not _VISIBLE.fullmatch(url) or "\\" in url:
        raise BadReceiver("the address must be visible ASCII characters without a backslash")
    if "#" in url or "@" in re.split(r"[/?]", url.partition("://")[2])[0]:
        raise BadReceiver("the address must be without user information and fragment")
    match = _URL.fullmatch(url)
    if match is None:
        raise BadReceiver(
            "the address must be https:// or http://, a plain host, and perhaps a port and a path"
        )
    scheme, host = match["scheme"].lower(), _host(match["host"].lower())
    port = int(match["port"] or PORTS[scheme])
    if port > 65535:
        raise BadReceiver("the port must be from 1 to 65535")
    path = match["path"] or "/"
    if {".", ".."} & {*unquote(path).replace("\\", "/").split("/")}:
        raise BadReceiver("the path must be without . and .. segments")
    return Address(scheme, host, port, path, match["query"] or "")


def resolve(address: Address) -> list[Found]:
    """Look the host up once; every one of its addresses must be loopback.

    Raises:
        BadReceiver: The host is not known, or is not this machine.
    """
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise BadReceiver(f"the host {address.host} is not known") from None
    for *_, place in found:
        if not is_loopback(str(place[0])):
            raise BadReceiver(
                f"{address.host} is {place[0]}; the sandbox connects to this machine only"
            )
    return list(found)


def is_loopback(text: str) -> bool:
    """Whether an address is 127.0.0.0/8 or ::1 itself, and no other spelling of them.

    An IPv4 address inside an IPv6 one, or one with a zone, is refused: what it reaches
    depends on the system.
    """
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        return found == ipaddress.IPv6Address("::1") and not found.scope_id
    return found.is_loopback


def _host(host: str) -> str:
    """A name, or an address in its usual spelling."""
    try:
        if host.startswith("["):
            return str(ipaddress.IPv6Address(host[1:-1]))
        if _NUMBER_LIKE.fullmatch(host):
            return str(ipaddress.IPv4Address(host))
    except ValueError:
        raise BadReceiver(
            "the host must be a name, four plain numbers, or an IPv6 address in brackets"
        ) from None
    if len(host) > 253:
        raise BadReceiver("the host has more than 253 characters")
    return host
