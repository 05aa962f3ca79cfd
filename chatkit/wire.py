"""Wire: send a Call once over HTTP and bring back its whole answer; the only import of aiohttp.

Failures come back as values: the traceback of an error that is raised elsewhere never
passes a frame that knows the token.
"""

from __future__ import annotations

import asyncio
import math
import ssl
import urllib.request
import weakref
import zlib
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import truststore
from yarl import URL

from chatkit import background
from chatkit.answer import Answer
from chatkit.call import Call
from chatkit.connection import API_PREFIX, Connection
from chatkit.errors import BadAnswer, CallError, InDoubt, SettingsError, Unreachable
from chatkit.secret import MASK

#: Bytes of a decoded answer; more is refused. An upstream flow document may have 10 MB.
MAX_ANSWER = 16 * 1024 * 1024
#: Seconds that making a connection may take.
MAX_CONNECT = 10.0

_JSON = {"Content-Type": "application/json"}


class Wire:
    """The connections to one account of one service.

    Raises:
        SettingsError: The proxy of the environment cannot be used.
    """

    def __init__(self, connection: Connection) -> None:
        self._token = connection.token
        self._secure = connection.base_url.startswith("https:")
        self._root = (
            f"{connection.base_url}{API_PREFIX}/channels/chat/accounts/{connection.account_id}/"
        )
        # A service on this machine is never asked through a proxy: it would see the token.
        self._proxy = None if connection.loopback else proxy_for(connection.base_url)
        self._session: aiohttp.ClientSession | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None

    async def ask(self, call: Call, content: bytes | None, left: float) -> Answer | CallError:
        """Send a call once; `left` is how many seconds there are until its deadline.

        Returns:
            The answer whatever its status; `Unreachable` when the call cannot have left;
            `InDoubt` when the answer was lost; `BadAnswer` when it is of no use.
        """
        # Connecting ends before the deadline: "it never left" can only be told then.
        connect = min(MAX_CONNECT, 0.8 * left)
        try:
            async with self._open().request(
                call.method,
                URL(self._root + call.target, encoded=True),
                data=content,
                headers=None if content is None else _JSON,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(connect=connect, ceil_threshold=math.inf),
            ) as response:
                body = await _read(response)
        except (aiohttp.ClientError, OSError) as error:
            return _failure(call, error)
        if isinstance(body, str):
            return BadAnswer(call, f"the answer {body}", status=response.status)
        if response.status >= 400:  # a refusal is shown to people, and may repeat the token
            body = body.replace(self._token.reveal().encode(), MASK.encode())
        return Answer(call, response.status, response.headers, body)

    def close(self) -> None:
        """Close the connections; asking opens new ones."""
        if self._session is not None and not self._session.closed:
            background.wait_for(self._session.close())

    def forget(self) -> None:
        """Let go of the connections without touching them: they are those of another process."""
        if self._session is not None:
            self._session.detach()

    def _open(self) -> aiohttp.ClientSession:
        """Return the pool of connections. It keeps no cookies and reads no netrc."""
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(
                connector=_Connector(limit=0, keepalive_timeout=10, ssl=_tls(self._secure)),
                headers={
                    "Authorization": f"Bearer {self._token.reveal()}",
                    "Accept": "application/json",
                    "Accept-Encoding": "gzip",
                    "User-Agent": "chatkit",
                },
                skip_auto_headers=("Content-Type",),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                middlewares=(_only_once,),
                proxy=self._proxy,
            )
            if self._finalizer:
                self._finalizer.detach()
            self._finalizer = weakref.finalize(self, _close_abandoned, self._session)
            self._finalizer.atexit = False
        return self._session


class _Connector(aiohttp.TCPConnector):
    def __del__(self, _: object = None) -> None:
        """Leave the connections alone: in a forked child they are those of the parent."""


def _close_abandoned(session: aiohttp.ClientSession) -> None:
    """Close what a forgotten Wire left open, in whatever thread the collector runs."""
    if not session.closed:
        asyncio.run_coroutine_threadsafe(session.close(), background.loop())


async def _only_once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Keep aiohttp from sending by itself again when a kept connection breaks.

    It would do so with PUT and DELETE: a delete that landed would come back as 404.
    """
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise aiohttp.ClientConnectionError from error


async def _read(response: aiohttp.ClientResponse) -> bytes | str:
    """Read and decode a body, never holding more than the cap; a text says what is wrong with it.

    Decoded here in bounded steps: 292 KB of gzip can hold 300 MB.
    """
    coding = response.headers.get("Content-Encoding", "").lower() or "identity"
    if coding not in ("identity", "gzip", "x-gzip"):
        return f"is encoded as {coding[:40]!a}, which was not asked for"
    unzip = None if coding == "identity" else zlib.decompressobj(wbits=31)
    parts, size = [], 0
    try:
        while part := await response.content.readany():
            if unzip:
                part = unzip.decompress(part, MAX_ANSWER + 1 - size)
            parts.append(part)
            size += len(part)
            if size > MAX_ANSWER:
                return f"is larger than {MAX_ANSWER // 2**20} MB"
            if unzip and unzip.unused_data:
                return "goes on after its end"
    except zlib.error:
        return "is broken gzip"
    if unzip and parts and not unzip.eof:
        return "ends too early"
    return b"".join(parts)


def _failure(call: Call, error: Exception) -> CallError:
    """Tell a call that never left from one whose answer is lost."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            return Unreachable(call, f"no address is known for {error.host} ({error.strerror})")
        case aiohttp.ClientProxyConnectionError():
            return Unreachable(call, f"the proxy {error.host}:{error.port} cannot be reached")
        case aiohttp.ClientHttpProxyError():
            return Unreachable(call, f"the proxy refuses to connect ({error.status})")
        case aiohttp.ClientConnectorCertificateError():
            why = getattr(error.certificate_error, "verify_message", "")
            return Unreachable(call, f"the certificate of {error.host} is not trusted ({why})")
        case aiohttp.ClientConnectorSSLError():
            return Unreachable(call, f"TLS with {error.host} failed ({error.strerror})")
        case aiohttp.ClientConnectorError():
            where = f"{error.host}:{error.port}"
            return Unreachable(call, f"nobody answers at {where} ({error.strerror})")
        case aiohttp.ConnectionTimeoutError():
            return Unreachable(call, "no connection could be made in time")
        case aiohttp.ClientResponseError():
            return BadAnswer(call, "what came back is not HTTP")
        case aiohttp.ClientPayloadError():
            return InDoubt(call, "the connection broke in the middle of the answer")
        case _:
            return InDoubt(call, "the connection broke before there was an answer")


def _tls(secure: bool) -> ssl.SSLContext | bool:
    """Trust whom this machine trusts: companies put their own authorities there."""
    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if secure else True


def proxy_for(base_url: str) -> str | None:
    """Find the proxy that the environment sets for an address.

    Raises:
        SettingsError: It is not an address. The text is not repeated: it may hold a password.
    """
    parts = urlsplit(base_url)
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or urllib.request.proxy_bypass(parts.netloc):
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    try:
        url = URL(proxy)
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise SettingsError("The proxy of the environment is not of the form http://host:port.")
    return proxy
