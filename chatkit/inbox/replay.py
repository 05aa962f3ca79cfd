"""Replay: a stored delivery sent again, to a program that you are working on.

What customers wrote must not leave this machine by a slip: the address is resolved once,
every address of the host must be loopback unless the host was named, and the very address
that was checked is connected to. Redirects, proxies and the environment are not followed.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from chatkit.errors import InputError
from chatkit.inbox.delivery import Delivery
from chatkit.inbox.signature import named, sign
from chatkit.profile import ServiceProfile
from chatkit.secret import MASK, Secret

_SECONDS = 10.0
_MAX_ANSWER = 64 * 1024
#: Headers that belong to the connection on which the delivery came.
_HOP = {
    *("connection", "content-length", "expect", "forwarded", "host", "keep-alive", "te"),
    *("proxy-connection", "trailer", "transfer-encoding", "upgrade", "via"),
}


class Replayed(NamedTuple):
    """What a receiver answered: its status, or None and why there was no answer."""

    status: int | None
    answer: str

    def __repr__(self) -> str:
        return f"<{self.status or 'no answer'}: {self.answer[:80]!r}>"


def replay(
    delivery: Delivery,
    url: str,
    profile: ServiceProfile,
    secret: Secret | None = None,
    allow: Sequence[str] = (),
    trusting: ssl.SSLContext | None = None,
) -> Replayed:
    """Send a delivery again: `Inbox.replay` tells the rest.

    Raises:
        InputError: The address is none, or not allowed.
        BadSignature: The secret cannot be used.
    """
    scheme, host, port, target = _parts(url)
    places = _places(host, port, allow)
    headers = _headers(delivery, profile, secret)
    connection: http.client.HTTPConnection
    if scheme == "https":
        connection = http.client.HTTPSConnection(host, port, timeout=_SECONDS, context=trusting)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=_SECONDS)
    # http.client would resolve the name again, to another address perhaps.
    connection._create_connection = (  # type: ignore[attr-defined]
        lambda address, timeout, source: _connect(places, timeout)
    )
    try:
        connection.putrequest("POST", target, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value.encode("latin-1"))
        connection.putheader("Content-Length", str(len(delivery.body)))
        connection.endheaders(delivery.body)
        answer = connection.getresponse()
        text = answer.read(_MAX_ANSWER).decode("utf-8", "replace").strip()
        return Replayed(answer.status, text)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return Replayed(None, str(error)[:200] or type(error).__name__)
    finally:
        connection.close()


def _parts(url: str) -> tuple[str, str, int, str]:
    """A plain http or https address, taken apart."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InputError("The address is not a URL.") from None
    plain = url.isascii() and url.isprintable() and not {" ", "\\", "@", "#"} & {*url}
    if not plain or parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError("Write http://127.0.0.1:8000/path, without a user and a fragment.")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return parts.scheme, parts.hostname, port or {"http": 80, "https": 443}[parts.scheme], target


def _places(host: str, port: int, allow: Sequence[str]) -> list[tuple[str, int]]:
    """The addresses to connect to: loopback, unless the host was named."""
    try:
        found: list[Any] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise InputError(f"The host {host} is not known.") from None
    places = [(str(place[0]), port) for *_, place in found]
    if host not in {name.lower() for name in allow}:
        for address, _ in places:
            if not ipaddress.ip_address(address).is_loopback:
                raise InputError(
                    f"{host} is {address}, which is not this machine. A delivery holds what "
                    f"customers wrote: to send it there, pass allow=[{host!r}]."
                )
    return places


def _connect(places: Sequence[tuple[str, int]], timeout: float) -> socket.socket:
    """Connect to the first address that answers."""
    error = OSError("the host has no address")
    for place in places:
        try:
            return socket.create_connection(place, timeout)
        except OSError as failed:
            error = failed
    raise error


def _headers(
    delivery: Delivery, profile: ServiceProfile, secret: Secret | None
) -> list[tuple[str, str]]:
    """The headers that came with it; with a secret, those of the signature are new."""
    kept = [
        (name, value)
        for name, value in delivery.headers
        if name.lower() not in _HOP and value != MASK
    ]
    if secret is None:
        return kept
    scheme = named(profile.signature_scheme)
    given = {name.lower(): value for name, value in kept}
    message_id = given.get((scheme.id_header or "").lower()) or f"replay_{delivery.id}"
    signed = sign(scheme, secret, message_id, int(time.time()), delivery.body)
    new = {name.lower() for name in signed}
    return [pair for pair in kept if pair[0].lower() not in new] + [*signed.items()]
