"""Deliveries: POST an event to a webhook, only where that was allowed, and say what came of it.

A sandbox that posts to any address a stranger registers is a hole in the machine it
runs on. So nothing is delivered until a receiver is named, and what is connected to is
always this machine. Redirects, proxies and the environment are not followed.

Deliveries that follow each other share a connection, as those of real senders do: making one
with TLS takes many times as long as a delivery.
"""

import http.client
import io
import json
import selectors
import socket
import ssl
import time
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from chatkit.inbox.signature import sign
from chatkit.profile import ServiceProfile
from chatkit.sandbox.receivers import PORTS, Address, BadReceiver, Found, Receivers, resolve
from chatkit.sandbox.webhooks import ActiveWebhook

MAX_ANSWER = 64 * 1024
Status = Literal["delivered", "failed", "refused", "waiting"]


class ConnectionLost(ConnectionError):
    """A kept connection ended before a byte of the answer: the receiver may have closed it."""


class Delivery(NamedTuple):
    """What came of one attempt.

    refused: nothing was connected to, no receiver allows it. waiting: it was not made yet.
    """

    webhook_id: int
    status: Status
    http_status: int | None
    error: str | None


def event_body(
    profile: ServiceProfile, kind: str, payload: object, message_id: str, stamp: str
) -> bytes:
    """The body of a delivery, in the profile's shape; the document shows none (section Events)."""
    body: dict[str, object] = {
        "id": message_id,
        "timestamp": stamp,
        profile.event_kind_field: kind,
        profile.event_data_field: payload,
    }
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


class KeptConnection:
    """The connection to a receiver, kept while one delivery follows another; for one thread.

    It is used again only for the same scheme, host, port and trust, so the address that was
    checked when it was made is the one that a delivery goes to.
    """

    def __init__(self) -> None:
        self._to: _To | None = None
        self._sock: socket.socket | None = None

    def take(self, to: "_To") -> socket.socket | None:
        """Hand it over when it leads there and is still open; any other is closed."""
        sock, self._sock = self._sock, None
        if sock is not None and (self._to != to or not _is_open(sock)):
            sock.close()
            return None
        return sock

    def keep(self, to: "_To", sock: socket.socket) -> None:
        """Keep a connection whose last answer was read to its end."""
        self.close()
        self._to, self._sock = to, sock

    def close(self) -> None:
        """Close what is kept."""
        if self._sock is not None:
            self._sock.close()
        self._to = self._sock = None


#: Where a connection leads: scheme, host and port, and whom it trusts.
_To = tuple[tuple[str, str, int], ssl.SSLContext | None]


def _is_open(sock: socket.socket) -> bool:
    """Whether an idle connection can be used: one that has something to read was closed."""
    with selectors.DefaultSelector() as watched:
        watched.register(sock, selectors.EVENT_READ)
        return not watched.select(0)


def attempt(
    webhook: ActiveWebhook,
    message_id: str,
    body: bytes,
    receivers: Receivers,
    profile: ServiceProfile,
    kept: KeptConnection,
) -> Delivery:
    """Send one body to one webhook, signed with its secret.

    Takes at most `profile.delivery_timeout` seconds once the receiver's name is resolved.
    Whatever else happens is told in the delivery.

    Raises:
        ConnectionLost: The receiver ended a kept connection instead of answering. It may
            have read the delivery: send it once more, on a connection of its own.
    """
    signed = sign(profile.signature_scheme, webhook.secret, message_id, int(time.time()), body)
    headers = {"Content-Type": "application/json", "User-Agent": "chatkit-sandbox", **signed}
    try:
        address, context = receivers.route(webhook.url)
        to = (address.origin, context)
        used = kept.take(to)
        found = [] if used else resolve(address)
    except BadReceiver as refusal:
        return Delivery(webhook.id, "refused", None, str(refusal))
    status = None
    deadline = time.monotonic() + profile.delivery_timeout
    sock = used
    try:
        sock = sock or _connect(address, found, deadline, context)
        answer = _post(sock, address, headers, body, deadline)
        status = answer.status
        answer.read(MAX_ANSWER)
        if answer.isclosed() and not answer.will_close:  # nothing of it is left to be read
            kept.keep(to, sock)
            sock = None
    except TimeoutError:
        reason = f"no full answer within {profile.delivery_timeout:g} s"
        return Delivery(webhook.id, "failed", status, reason)
    except (OSError, http.client.HTTPException, ValueError) as error:
        if used and status is None and isinstance(error, _LOST):
            raise ConnectionLost(_said(error)) from None
        return Delivery(webhook.id, "failed", status, _said(error))
    finally:
        if sock is not None:
            sock.close()
    if 200 <= status < 300:
        return Delivery(webhook.id, "delivered", status, None)
    moved = "; redirects are not followed" if 300 <= status < 400 else ""
    return Delivery(webhook.id, "failed", status, f"the receiver answered {status}{moved}")


#: How the end of a connection shows, of which nothing of an answer has come.
_LOST = (ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError)


def _said(error: Exception) -> str:
    return str(error)[:200] or type(error).__name__


def _post(
    sock: socket.socket,
    address: Address,
    headers: Mapping[str, str],
    body: bytes,
    deadline: float,
) -> http.client.HTTPResponse:
    """Send a request on a connection, and read the head of its answer."""
    connection = http.client.HTTPConnection(address.host, address.port)
    # The socket is ours, connected to the checked address; nothing else is opened.
    connection.auto_open = 0
    connection.default_port = PORTS[address.scheme]
    connection.sock = _Wire(sock, deadline)
    target = address.path + (f"?{address.query}" if address.query else "")
    connection.request("POST", target, body, headers)
    return connection.getresponse()


def _connect(
    address: Address,
    found: list[Found],
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
            # http.client writes head and body one after the other: with Nagle's algorithm
            # the body would wait until the receiver acknowledges the head, 40 ms later.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
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
