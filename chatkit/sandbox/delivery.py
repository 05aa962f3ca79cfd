"""Deliveries: POST an event to a webhook, only where that was allowed, and say what came of it.

A sandbox that posts to any address a stranger registers is a hole in the machine it
runs on. So nothing is delivered until a receiver is named, the name is resolved once
and the very address that was checked is connected to, and that is always loopback.
Redirects, proxies and the environment are not followed.
"""

import http.client
import io
import ipaddress
import json
import re
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from chatkit.inbox.signature import sign
from chatkit.profile import ServiceProfile
from chatkit.sandbox.webhooks import ActiveWebhook

MAX_ANSWER = 64 * 1024
_PORTS = {"http": 80, "https": 443}
_VISIBLE = re.compile(r"[\x21-\x7e]{1,2048}")


class BadReceiver(ValueError):
    """An address that cannot be a receiver, or a delivery that no receiver allows."""


class Delivery(NamedTuple):
    """What came of one attempt: refused means that nothing was connected to."""

    webhook_id: int
    status: Literal["delivered", "failed", "refused"]
    http_status: int | None
    error: str | None


class _Address(NamedTuple):
    scheme: str
    host: str
    port: int
    path: str
    query: str

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    def holds(self, other: "_Address") -> bool:
        """Whether this one is a prefix of the other, by whole path segments."""
        inside = other.path == self.path or other.path.startswith(self.path.rstrip("/") + "/")
        return self.origin == other.origin and inside


class Receivers:
    """The allow-list: who may be delivered to; nobody at first.

    An entry is an address (scheme, host, port, path) and allows itself and all paths
    below it. With `to`, what is addressed there is sent to that local address instead:
    a webhook of `https://hooks.example/chat` can be heard by `http://127.0.0.1:8000/`.
    """

    def __init__(self) -> None:
        self._entries: dict[_Address, tuple[str, str | None, _Address]] = {}

    def add(self, url: str, to: str | None = None) -> None:
        """Allow deliveries to an address; naming it again changes its `to`.

        Raises:
            BadReceiver: One of them is not a plain http or https address.
        """
        prefix, target = _address(url), _address(to or url)
        if prefix.query or target.query:
            raise BadReceiver("a receiver is an address without a query")
        self._entries[prefix] = (url, to, target)

    def shown(self) -> list[dict[str, str | None]]:
        """The entries, as they were added."""
        return [{"url": url, "to": to} for url, to, _ in self._entries.values()]

    def clear(self) -> None:
        """Forget all entries."""
        self._entries.clear()

    def route(self, url: str) -> _Address:
        """Where a delivery to this URL goes.

        Raises:
            BadReceiver: No entry allows it.
        """
        wanted = _address(url)
        allowing = [prefix for prefix in self._entries if prefix.holds(wanted)]
        if not allowing:
            raise BadReceiver("the address is not on the sandbox's list of receivers")
        prefix = max(allowing, key=lambda entry: len(entry.path))
        target = self._entries[prefix][2]
        rest = wanted.path[len(prefix.path.rstrip("/")) :]
        path = target.path.rstrip("/") + rest if rest else target.path
        return target._replace(path=path or "/", query=wanted.query)


def event_body(profile: ServiceProfile, kind: str, payload: object, message_id: str) -> bytes:
    """The body of a delivery, in the profile's shape; the document shows none (section Events)."""
    body: dict[str, object] = {
        "id": message_id,
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        profile.event_kind_field: kind,
        profile.event_data_field: payload,
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def deliver(
    webhooks: Sequence[ActiveWebhook],
    message_id: str,
    body: bytes,
    receivers: Receivers,
    profile: ServiceProfile,
    context: ssl.SSLContext | None = None,
) -> list[Delivery]:
    """Send one body to these webhooks side by side, each signed with its own secret.

    Waits for all of them, at most `profile.delivery_timeout` seconds, and answers in
    their order. Never raises for what a receiver does.
    """

    def attempt(webhook: ActiveWebhook) -> Delivery:
        signed = sign(profile.signature_scheme, webhook.secret, message_id, int(time.time()), body)
        return _attempt(webhook, signed, body, receivers, profile.delivery_timeout, context)

    if not webhooks:
        return []
    with ThreadPoolExecutor(len(webhooks), thread_name_prefix="chatkit-delivery") as pool:
        return list(pool.map(attempt, webhooks))


def _attempt(
    webhook: ActiveWebhook,
    signed: Mapping[str, str],
    body: bytes,
    receivers: Receivers,
    timeout: float,
    context: ssl.SSLContext | None,
) -> Delivery:
    try:
        address = receivers.route(webhook.url)
        found = _resolve(address)
    except BadReceiver as refusal:
        return Delivery(webhook.id, "refused", None, str(refusal))
    headers = {"Content-Type": "application/json", "User-Agent": "chatkit-sandbox", **signed}
    status = None
    deadline = time.monotonic() + timeout
    try:
        with _connect(address, found, deadline, context) as sock:
            connection = http.client.HTTPConnection(address.host, address.port)
            # The socket is ours, connected to the checked address; nothing else is opened.
            connection.auto_open = 0
            connection.default_port = _PORTS[address.scheme]
            connection.sock = _Wire(sock, deadline)
            target = address.path + (f"?{address.query}" if address.query else "")
            connection.request("POST", target, body, {**headers, "Connection": "close"})
            answer = connection.getresponse()
            status = answer.status
            answer.read(MAX_ANSWER)
    except TimeoutError:
        return Delivery(webhook.id, "failed", status, f"no full answer within {timeout:g} s")
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = str(error)[:200] or type(error).__name__
        return Delivery(webhook.id, "failed", status, reason)
    if 200 <= status < 300:
        return Delivery(webhook.id, "delivered", status, None)
    moved = "; redirects are not followed" if 300 <= status < 400 else ""
    return Delivery(webhook.id, "failed", status, f"the receiver answered {status}{moved}")


def _address(url: str) -> _Address:
    """An http(s) address, taken apart; refuses what two programs could read in two ways."""
    if not _VISIBLE.fullmatch(url) or "\\" in url:
        raise BadReceiver("the address must be visible ASCII characters without a backslash")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadReceiver("the address is not a URL") from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise BadReceiver("the address must begin with https:// or http:// and a host")
    if "@" in parts.netloc or "#" in url:
        raise BadReceiver("the address must be without user information and fragment")
    if {".", ".."} & {*unquote(parts.path).replace("\\", "/").split("/")}:
        raise BadReceiver("the path must be without . and .. segments")
    port = _PORTS[parts.scheme] if port is None else port
    return _Address(parts.scheme, parts.hostname, port, parts.path or "/", parts.query)


def _resolve(address: _Address) -> list[tuple[Any, ...]]:
    """Look the host up once; refuse it unless every one of its addresses is loopback."""
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise BadReceiver(f"the host {address.host} is not known") from None
    for *_, place in found:
        if not ipaddress.ip_address(place[0]).is_loopback:
            raise BadReceiver(
                f"{address.host} is {place[0]}; the sandbox connects to this machine only"
            )
    return found


def _connect(
    address: _Address,
    found: list[tuple[Any, ...]],
    deadline: float,
    context: ssl.SSLContext | None,
) -> socket.socket:
    """Connect to the first address that answers; with TLS, verified for the host's name."""
    error: OSError | None = None
    for family, kind, protocol, _, place in found:
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(_left(deadline))
            sock.connect(place)
            if address.scheme == "https":
                context = context or ssl.create_default_context()
                sock = context.wrap_socket(sock, server_hostname=address.host)
        except OSError as failed:
            sock.close()
            error = failed
        else:
            return sock
    raise error or OSError("the host has no address")


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Wire(io.RawIOBase):
    """A socket with one deadline for everything: a time-out for each read never ends a drip."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock, self._deadline = sock, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(_left(self._deadline))
        return self._sock.recv_into(buffer)

    def sendall(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            self._sock.settimeout(_left(self._deadline))
            view = view[self._sock.send(view) :]

    def makefile(self, mode: str) -> io.BufferedReader:
        # http.client closes the connection as soon as it has read "Connection: close" and
        # goes on reading from this file, so the file must not be closed with it.
        return io.BufferedReader(_Wire(self._sock, self._deadline))
