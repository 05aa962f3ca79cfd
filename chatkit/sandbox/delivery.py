"""Deliveries: POST an event to a webhook, only where that was allowed, and say what came of it.

A sandbox that posts to any address a stranger registers is a hole in the machine it
runs on. So nothing is delivered until a receiver is named, and what is connected to is
always this machine. Redirects, proxies and the environment are not followed.
"""

import http.client
import io
import json
import socket
import ssl
import time
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from chatkit.inbox.signature import sign
from chatkit.profile import ServiceProfile
from chatkit.sandbox.address import PORTS, Address, BadReceiver, Found, resolve
from chatkit.sandbox.receivers import Receivers
from chatkit.sandbox.webhooks import ActiveWebhook

MAX_ANSWER = 64 * 1024
Status = Literal["delivered", "failed", "refused", "waiting"]


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


def attempt(
    webhook: ActiveWebhook,
    message_id: str,
    body: bytes,
    receivers: Receivers,
    profile: ServiceProfile,
) -> Delivery:
    """Send one body to one webhook, signed with its secret; never raises for what happens.

    Takes at most `profile.delivery_timeout` seconds once the receiver's name is resolved.
    """
    try:
        address, context = receivers.route(webhook.url)
        found = resolve(address)
    except BadReceiver as refusal:
        return Delivery(webhook.id, "refused", None, str(refusal))
    signed = sign(profile.signature_scheme, webhook.secret, message_id, int(time.time()), body)
    headers = {"Content-Type": "application/json", "User-Agent": "chatkit-sandbox", **signed}
    return _send(webhook.id, address, found, headers, body, profile.delivery_timeout, context)


def _send(
    webhook_id: int,
    address: Address,
    found: list[Found],
    headers: Mapping[str, str],
    body: bytes,
    timeout: float,
    context: ssl.SSLContext | None,
) -> Delivery:
    status = None
    deadline = time.monotonic() + timeout
    try:
        with _connect(address, found, deadline, context) as sock:
            connection = http.client.HTTPConnection(address.host, address.port)
            # The socket is ours, connected to the checked address; nothing else is opened.
            connection.auto_open = 0
            connection.default_port = PORTS[address.scheme]
            connection.sock = _Wire(sock, deadline)
            target = address.path + (f"?{address.query}" if address.query else "")
            connection.request("POST", target, body, {**headers, "Connection": "close"})
            answer = connection.getresponse()
            status = answer.status
            answer.read(MAX_ANSWER)
    except TimeoutError:
        return Delivery(webhook_id, "failed", status, f"no full answer within {timeout:g} s")
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = str(error)[:200] or type(error).__name__
        return Delivery(webhook_id, "failed", status, reason)
    if 200 <= status < 300:
        return Delivery(webhook_id, "delivered", status, None)
    moved = "; redirects are not followed" if 300 <= status < 400 else ""
    return Delivery(webhook_id, "failed", status, f"the receiver answered {status}{moved}")


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
