"""The ways in which an answer goes wrong, each with what becomes of the effect of the call."""

from __future__ import annotations

import random
import socket
import struct
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Literal, NamedTuple, Protocol


class Line(Protocol):
    """The service's end of one connection."""

    def send(self, data: bytes) -> None: ...
    def close(self) -> None: ...
    def reset(self) -> None: ...
    def drip(self, data: bytes) -> None: ...


#: A whole answer in bytes, whichever way it then goes.
Spoil = Callable[[Line, bytes, random.Random], None]


class Kind(NamedTuple):
    """One kind of fault: whether the call takes effect, what is answered, how often it is."""

    effect: Literal["never", "now", "later", "twice"]
    spoil: Spoil
    share: float
    read: bool = True  #: whether reads meet it too


def http(status: int, body: bytes, kind: str = "application/json", **fields: str) -> bytes:
    """Write one whole answer."""
    fields |= {"date": formatdate(usegmt=True), "content-length": str(len(body))}
    if status != 204:
        fields["content-type"] = kind
    head = [f"HTTP/1.1 {status} X"]
    head += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body


def _dropped(line: Line, whole: bytes, rng: random.Random) -> None:
    line.close()


def _whole(line: Line, whole: bytes, rng: random.Random) -> None:
    line.send(whole)


def _server_error(line: Line, whole: bytes, rng: random.Random) -> None:
    status = rng.choice((500, 500, 502, 503, 504))
    line.send(http(status, b'{"success":false,"message":"Something broke"}'))


def _gateway_timeout(line: Line, whole: bytes, rng: random.Random) -> None:
    line.send(http(504, b"<html><h1>504 Gateway Time-out</h1></html>", "text/html"))


def _html(line: Line, whole: bytes, rng: random.Random) -> None:
    line.send(http(200, b"<html><body>Please sign in</body></html>", "text/html"))


def _truncated(line: Line, whole: bytes, rng: random.Random) -> None:
    line.send(whole[: -rng.randint(1, 12)])
    line.close()


def _reset(line: Line, whole: bytes, rng: random.Random) -> None:
    line.send(whole[: -rng.randint(1, 12)])
    line.reset()


def _drip(line: Line, whole: bytes, rng: random.Random) -> None:
    line.drip(whole)


def _empty(line: Line, whole: bytes, rng: random.Random) -> None:
    line.send(http(200, b""))


def _throttled(line: Line, whole: bytes, rng: random.Random) -> None:
    line.send(http(429, b"Too many", "text/plain", **retry_after(rng)))


def retry_after(rng: random.Random) -> dict[str, str]:
    """Write Retry-After in one of the forms of services, broken ones included; at most 1 s."""
    now = time.time()
    return rng.choice(
        (
            {},
            {"retry_after": "0"},
            {"retry_after": "0.05"},
            {"retry_after": "-3"},
            {"retry_after": "soon"},
            {"retry_after": formatdate(now - 3600, usegmt=True)},
            {"retry_after": rng.choice(("1", formatdate(now + 1, usegmt=True)))},
            {"retry_after": "0.2", "x_ratelimit_reset": "junk"},
            {"x_ratelimit_reset": "0.1"},
            {"x_ratelimit_reset": str(int(now))},
        )
    )


KINDS = {
    "dropped before": Kind("never", _dropped, 1.5),
    "dropped after": Kind("now", _dropped, 2.5),
    "late, dropped": Kind("later", _dropped, 1, read=False),
    "late, 504": Kind("later", _gateway_timeout, 1, read=False),
    "429": Kind("never", _throttled, 2),
    "5xx before": Kind("never", _server_error, 1),
    "5xx after": Kind("now", _server_error, 1.5),
    "truncated": Kind("now", _truncated, 1),
    "HTML": Kind("now", _html, 1),
    "reset": Kind("now", _reset, 1),
    "empty": Kind("now", _empty, 0.35),
    "drip": Kind("now", _drip, 0.15),
    "twice": Kind("twice", _whole, 1, read=False),  # the answer is that to the second delivery
}


def rates(total: float = 0.14) -> dict[str, float]:
    """Return how often each kind is met so that all together are met this often."""
    whole = sum(kind.share for kind in KINDS.values())
    return {name: total * kind.share / whole for name, kind in KINDS.items()}


def set_to_reset(sock: socket.socket) -> None:
    """Have the closing of a socket reset its connection."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
