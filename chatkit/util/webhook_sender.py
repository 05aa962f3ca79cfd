"""Webhook sender: POST a delivery to a receiver on this machine.

The sandbox delivers with it. A program that posts
to whatever address it is given is a hole in the machine it runs on. The tricks that lead a
sender astray live in spellings that two programs read in two ways (127.1, 0x7f000001,
user@host, a dot at the end), and in names that mean another address by the time they are used.
So an address is taken apart by one strict pattern, a name is resolved once, and the very
address that was checked is the one connected to. Redirects, proxies and the environment are not
followed.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import re
import socket
import ssl
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import unquote

from chatkit.util.background import get_loop

MAX_ANSWER = 64 * 1024

# --- addresses ------------------------------------------------------------------------

_PORTS = {"http": 80, "https": 443}
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


class Address(NamedTuple):
    """The parts of an http or https address."""

    scheme: str
    host: str
    port: int
    path: str
    query: str

    def contains(self, other: Address) -> bool:
        """Return whether another address is below this one, by whole path segments."""
        inside = other.path == self.path or other.path.startswith(self.path.rstrip("/") + "/")
        return self[:3] == other[:3] and inside


def parse_address(url: str) -> Address:
    """Parse an address, and refuse one that programs could read in two ways.

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
    scheme, host = match["scheme"].lower(), _normalize_host(match["host"].lower())
    port = int(match["port"] or _PORTS[scheme])
    if port > 65535:
        raise BadReceiver("the port must be from 1 to 65535")
    path = match["path"] or "/"
    if {".", ".."} & {*unquote(path).replace("\\", "/").split("/")}:
        raise BadReceiver("the path must be without . and .. segments")
    return Address(scheme, host, port, path, match["query"] or "")


def _normalize_host(host: str) -> str:
    """Return a host name, or an IP address in its usual spelling."""
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


def resolve_address(address: Address) -> list[tuple[Any, ...]]:
    """Resolve the host of an address, as `socket.getaddrinfo` does; it must be this machine.

    Raises:
        BadReceiver: The host is not known, or is another machine.
    """
    try:
        entries = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise BadReceiver(f"the host {address.host} is not known") from None
    for *_, (ip, *_port) in entries:
        if not is_loopback(str(ip)):
            raise BadReceiver(f"{address.host} is {ip}, which is not this machine")
    return list(entries)


def is_loopback(text: str) -> bool:
    """Return whether an address is in 127.0.0.0/8, or is ::1.

    An IPv4 address inside an IPv6 one, or one with a zone, is refused: what it reaches
    depends on the system.
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return address.is_loopback if address.version == 4 else address == ipaddress.ip_address("::1")


# --- posting --------------------------------------------------------------------------


class PostAnswer(NamedTuple):
    """The answer of a receiver; `error` says why there is none, or only a part of one."""

    status: int | None
    text: str
    error: str | None


class _CheckedAddresses:
    """A resolver of aiohttp that returns addresses that were checked, without a lookup."""

    def __init__(self, entries: list[tuple[Any, ...]]) -> None:
        self._entries = entries

    async def resolve(self, host: str, port: int, family: int) -> list[dict[str, Any]]:
        names = ("family", "hostname", "host", "port", "proto", "flags")
        return [
            dict(zip(names, (family, host, ip, port, 0, 0), strict=True))
            for family, *_, (ip, *_rest) in self._entries
        ]


def post_body(
    address: Address,
    headers: Iterable[tuple[str, str]],
    body: bytes,
    *,
    seconds: float,
) -> PostAnswer:
    """Post one body over a new connection, and return the answer.

    Args:
        address: Where to.
        headers: All but `Host` and `Content-Length`.
        body: Its bytes.
        seconds: For connecting, sending and the whole answer, once the host is resolved.

    Raises:
        BadReceiver: Nothing may be posted there; nothing was connected to.
    """
    import aiohttp
    from yarl import URL

    checked: Any = _CheckedAddresses(resolve_address(address))
    scheme, host, port, path, query = address
    url = URL.build(
        scheme=scheme, host=host, port=port, path=path, query_string=query, encoded=True
    )

    async def send() -> PostAnswer:
        status, text, error = None, b"", None
        try:
            async with (
                asyncio.timeout(seconds),
                aiohttp.ClientSession(
                    connector=aiohttp.TCPConnector(resolver=checked, ssl=True),
                    auto_decompress=False,
                    skip_auto_headers=("Accept", "Accept-Encoding", "User-Agent", "Content-Type"),
                ) as session,
                session.post(url, data=body, headers=[*headers], allow_redirects=False) as answer,
            ):
                status = answer.status
                while len(text) < MAX_ANSWER and (part := await answer.content.read(MAX_ANSWER)):
                    text += part
        except TimeoutError:
            error = f"no full answer within {seconds:g} s"
        except (OSError, aiohttp.ClientError, ValueError) as failed:
            reason = getattr(failed, "os_error", failed)
            number = None if isinstance(reason, ssl.SSLError) else getattr(reason, "errno", None)
            error = (os.strerror(number) if number else str(reason)[:200]) or type(reason).__name__
        return PostAnswer(status, text[:MAX_ANSWER].decode("utf-8", "replace").strip(), error)

    return asyncio.run_coroutine_threadsafe(send(), get_loop()).result()
