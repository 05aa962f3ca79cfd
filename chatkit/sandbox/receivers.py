"""Receivers: the addresses that events may be delivered to; none at first, on this machine only."""

import ssl
from typing import NamedTuple

from chatkit.webhook_sender import Address, BadReceiver, read_address


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
