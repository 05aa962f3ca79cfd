"""Receivers: the addresses that events may be delivered to; none at first, on this machine only.

The tricks that lead a sender astray live in spellings that two programs read in two ways
(127.1, 0x7f000001, user@host, a dot at the end), and in names that mean another address by
the time they are used. So an address is taken apart by one strict pattern, a name is
resolved once, and the very address that was checked is the one connected to.
"""

import ipaddress
import re
import socket
import ssl
from typing import Any, NamedTuple
from urllib.parse import unquote

# --- addresses ------------------------------------------------------------------------

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


# --- the allow-list -------------------------------------------------------------------


class Route(NamedTuple):
    """Where a delivery goes, and what its certificate is checked against."""

    address: Address
    context: ssl.SSLContext | None


class _Entry(NamedTuple):
    url: str
    to: str | None
    target: Address
    context: ssl.SSLContext | None


class Receivers:
    """The allow-list of a sandbox.

    An entry is an address (scheme, host, port, path) and allows itself and all paths
    below it. With `to`, what is addressed there is sent to that local address instead:
    a webhook of `https://hooks.example/chat` can be heard by `http://127.0.0.1:8000/`.
    """

    def __init__(self) -> None:
        # Replaced as a whole, never changed: deliveries read it from other threads.
        self._entries: dict[Address, _Entry] = {}

    def add(self, url: str, to: str | None = None, authority: str | bytes | None = None) -> None:
        """Allow deliveries to an address; naming it again changes its other arguments.

        Args:
            url: The address that a webhook has, or what it begins with.
            to: Where to send instead.
            authority: The certificate (PEM) that the receiver's own was signed with; without
                it those of the system count.

        Raises:
            BadReceiver: One of them is not a plain http or https address, or no certificate.
        """
        prefix, target = read_address(url), read_address(to or url)
        if prefix.query or target.query:
            raise BadReceiver("a receiver is an address without a query")
        entry = _Entry(url, to, target, _context(authority))
        self._entries = {**self._entries, prefix: entry}

    def shown(self) -> list[dict[str, str | None]]:
        """The entries, as they were added."""
        return [{"url": entry.url, "to": entry.to} for entry in self._entries.values()]

    def clear(self) -> None:
        """Forget all entries."""
        self._entries = {}

    def allows(self, url: str) -> bool:
        """Whether an entry allows this address."""
        if not self._entries:
            return False
        try:
            self.route(url)
        except BadReceiver:
            return False
        return True

    def route(self, url: str) -> Route:
        """Where a delivery to this address goes.

        Raises:
            BadReceiver: No entry allows it.
        """
        wanted, entries = read_address(url), self._entries
        allowing = [prefix for prefix in entries if prefix.holds(wanted)]
        if not allowing:
            raise BadReceiver("the address is not on the sandbox's list of receivers")
        prefix = max(allowing, key=lambda entry: len(entry.path))
        _, _, target, context = entries[prefix]
        rest = wanted.path[len(prefix.path.rstrip("/")) :]
        path = target.path.rstrip("/") + rest if rest else target.path
        return Route(target._replace(path=path or "/", query=wanted.query), context)


def _context(authority: str | bytes | None) -> ssl.SSLContext | None:
    if authority is None:
        return None
    try:
        if not authority:  # ssl would take those of the system instead
            raise ValueError
        pem = authority if isinstance(authority, str) else authority.decode("ascii")
        return ssl.create_default_context(cadata=pem)
    except (ssl.SSLError, TypeError, ValueError):
        raise BadReceiver("authority must be a certificate in PEM form") from None
