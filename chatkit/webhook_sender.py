"""Webhook sender: POST a delivery to a receiver, on this machine unless its host is named.

The sandbox delivers with it, and the inbox sends stored deliveries again. A program that posts
to whatever address it is given is a hole in the machine it runs on. The tricks that lead a
sender astray live in spellings that two programs read in two ways (127.1, 0x7f000001,
user@host, a dot at the end), and in names that mean another address by the time they are used.
So an address is taken apart by one strict pattern, a name is resolved once, and the very
address that was checked is the one connected to. Redirects, proxies and the environment are not
followed.

Posts that follow each other share a connection, as those of real senders do: making one with
TLS takes many times as long as a delivery.
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import re
import selectors
import socket
import ssl
import time
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple
from urllib.parse import unquote

MAX_ANSWER = 64 * 1024

# --- addresses ------------------------------------------------------------------------

_PORTS = {"http": 80, "https": 443}
#: What `socket.getaddrinfo` gives for one address of a name.
_Found = tuple[Any, ...]
_VISIBLE = re.compile(r"[\x21-\x7e]{1,2048}")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_URL = re.compile(
    rf"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]+\]|{_LABEL}(?:\.{_LABEL})*)"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?(?P<path>/[^?#]*)?(?:\?(?P<query>[^#]*))?",
    re.IGNORECASE | re.ASCII,
)
_NUMBER_LIKE = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)", re.IGNORECASE)


class BadReceiver(ValueError):
    """An address that nothing may be posted to."""


class NotThisMachine(BadReceiver):
    """A host that is another machine, and was not named as one that may be posted to."""

    def __init__(self, host: str, found: str) -> None:
        super().__init__(f"{host} is {found}, which is not this machine")
        self.host = host


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

    def holds(self, other: Address) -> bool:
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
    port = int(match["port"] or _PORTS[scheme])
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


def resolve(address: Address, outside: Collection[str] = ()) -> list[_Found]:
    """Look the host up once; every one of its addresses must be loopback.

    Args:
        address: Whose host.
        outside: Hosts that may be another machine.

    Raises:
        BadReceiver: The host is not known.
        NotThisMachine: It is another machine.
    """
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise BadReceiver(f"the host {address.host} is not known") from None
    if address.host not in {name.lower() for name in outside}:
        for *_, place in found:
            if not is_loopback(str(place[0])):
                raise NotThisMachine(address.host, str(place[0]))
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


# --- posting --------------------------------------------------------------------------


class ConnectionLost(ConnectionError):
    """A kept connection ended before a byte of the answer: the receiver may have closed it."""


class PostAnswer(NamedTuple):
    """What a receiver answered; `error` says why there is no answer, or only a part of one."""

    status: int | None
    text: str
    error: str | None


#: How the end of a connection shows, of which nothing of an answer has come.
_LOST = (ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError)


class WebhookSender:
    """Posts to receivers, and keeps the connection while one post follows another.

    It is used again only for the same scheme, host, port and trust, so the address that was
    checked when it was made is the one that is posted to. For one thread.
    """

    def __init__(self, outside: Collection[str] = ()) -> None:
        """Begin without a connection; `outside` are hosts that may be another machine."""
        self._outside = outside
        self._to: object = None
        self._sock: socket.socket | None = None

    def close(self) -> None:
        """Close the connection that is kept."""
        if self._sock is not None:
            self._sock.close()
        self._to = self._sock = None

    def post(
        self,
        address: Address,
        headers: Iterable[tuple[str, str]],
        body: bytes,
        *,
        seconds: float,
        tls: ssl.SSLContext | None = None,
    ) -> PostAnswer:
        """Post one body, within so many seconds once the name of the host is resolved.

        Args:
            address: Where to.
            headers: All but `Host` and `Content-Length`.
            body: Its bytes.
            seconds: For connecting, sending and the whole answer.
            tls: Whom an https address is trusted by; the authorities of the system without it.

        Raises:
            BadReceiver: Nothing may be posted there; nothing was connected to.
            ConnectionLost: The receiver ended a kept connection instead of answering. It may
                have read the body: post it once more, on a connection of its own.
        """
        to = (address.origin, tls)
        kept = self._take(to)
        found = [] if kept else resolve(address, self._outside)
        deadline = time.monotonic() + seconds
        sock, status, text = kept, None, ""
        try:
            sock = sock or _connect(address, found, deadline, tls)
            answer = _request(sock, address, headers, body, deadline)
            status = answer.status
            text = answer.read(MAX_ANSWER).decode("utf-8", "replace").strip()
            if answer.isclosed() and not answer.will_close:  # nothing of it is left to be read
                self._to, self._sock, sock = to, sock, None
        except TimeoutError:
            return PostAnswer(status, text, f"no full answer within {seconds:g} s")
        except (OSError, http.client.HTTPException, ValueError) as error:
            said = str(error)[:200] or type(error).__name__
            if kept and status is None and isinstance(error, _LOST):
                raise ConnectionLost(said) from None
            return PostAnswer(status, text, said)
        finally:
            if sock is not None:
                sock.close()
        return PostAnswer(status, text, None)

    def _take(self, to: object) -> socket.socket | None:
        """Return the connection when it leads there and is still open; any other is closed."""
        if self._sock is None or self._to != to or not _is_open(self._sock):
            self.close()
        sock, self._sock = self._sock, None
        return sock


def _is_open(sock: socket.socket) -> bool:
    """Whether an idle connection can be used: one that has something to read was closed."""
    with selectors.DefaultSelector() as watched:
        watched.register(sock, selectors.EVENT_READ)
        return not watched.select(0)


def _request(
    sock: socket.socket,
    address: Address,
    headers: Iterable[tuple[str, str]],
    body: bytes,
    deadline: float,
) -> http.client.HTTPResponse:
    """Send a request on a connection, and read the head of its answer."""
    connection = http.client.HTTPConnection(address.host, address.port)
    # The socket is ours, connected to the checked address; nothing else is opened.
    connection.auto_open = 0
    connection.default_port = _PORTS[address.scheme]
    connection.sock = _Wire(sock, deadline)
    target = address.path + (f"?{address.query}" if address.query else "")
    connection.putrequest("POST", target, skip_accept_encoding=True)
    for name, value in headers:
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    return connection.getresponse()


def _connect(
    address: Address, found: list[_Found], deadline: float, tls: ssl.SSLContext | None
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
                tls = tls or ssl.create_default_context()
                sock = tls.wrap_socket(sock, server_hostname=address.host)
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
