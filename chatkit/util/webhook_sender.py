"""Webhook sender: POST a delivery to a receiver, on this machine unless its host is named.

The sandbox delivers with it, and the inbox sends stored deliveries again. A program that posts
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
import threading
from collections.abc import Collection, Iterable
from functools import cache
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


class PostAnswer(NamedTuple):
    """What a receiver answered; `error` says why there is no answer, or only a part of one."""

    status: int | None
    text: str
    error: str | None


def post(
    address: Address,
    headers: Iterable[tuple[str, str]],
    body: bytes,
    *,
    seconds: float,
    tls: ssl.SSLContext | None = None,
    outside: Collection[str] = (),
) -> PostAnswer:
    """Post one body on a connection of its own.

    Args:
        address: Where to.
        headers: All but `Host` and `Content-Length`.
        body: Its bytes.
        seconds: For connecting, sending and the whole answer, once the host is resolved.
        tls: Whom an https address is trusted by; the authorities of the system without it.
        outside: Hosts that may be another machine.

    Raises:
        BadReceiver: Nothing may be posted there; nothing was connected to.
    """
    found = resolve(address, outside)
    posting = _post(address, found, headers, body, seconds, tls)
    return asyncio.run_coroutine_threadsafe(posting, _loop()).result()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Start the event loop of all posts: the caller may have one, as in a notebook."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="chatkit-sender", daemon=True).start()
    return loop


async def _post(
    address: Address,
    found: list[_Found],
    headers: Iterable[tuple[str, str]],
    body: bytes,
    seconds: float,
    tls: ssl.SSLContext | None,
) -> PostAnswer:
    import aiohttp
    from multidict import CIMultiDict
    from yarl import URL

    class Resolver(aiohttp.abc.AbstractResolver):
        """Answers with the addresses that were checked: no name is looked up twice."""

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[aiohttp.abc.ResolveResult]:
            return [
                aiohttp.abc.ResolveResult(
                    hostname=host, host=place[0], port=port, family=kind, proto=0, flags=0
                )
                for kind, *_, place in found
            ]

        async def close(self) -> None:
            """Close nothing."""

    status, text = None, bytearray()
    connector = aiohttp.TCPConnector(
        resolver=Resolver(), use_dns_cache=False, force_close=True, ssl=tls or True
    )
    url = URL.build(
        scheme=address.scheme, host=address.host, port=address.port, path=address.path,
        query_string=address.query, encoded=True,
    )  # fmt: skip
    named = CIMultiDict(headers)  # some of them more than once
    skipped = ("Accept", "Accept-Encoding", "User-Agent", "Content-Type")
    try:
        async with (
            asyncio.timeout(seconds),
            aiohttp.ClientSession(
                connector=connector, auto_decompress=False, skip_auto_headers=skipped
            ) as session,
            session.post(url, data=body, headers=named, allow_redirects=False) as answer,
        ):
            status = answer.status
            while len(text) < MAX_ANSWER and (part := await answer.content.read(MAX_ANSWER)):
                text += part
        error = None
    except TimeoutError:
        error = f"no full answer within {seconds:g} s"
    except (OSError, aiohttp.ClientError, ValueError) as failed:
        reason = getattr(failed, "os_error", failed)
        number = None if isinstance(reason, ssl.SSLError) else getattr(reason, "errno", None)
        error = (os.strerror(number) if number else str(reason)[:200]) or type(reason).__name__
    return PostAnswer(status, text[:MAX_ANSWER].decode("utf-8", "replace").strip(), error)
