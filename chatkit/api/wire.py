"""Wire: sends a call once over HTTP and returns its whole answer; the only import of httpx.

A call becomes an httpx request. What carries it is an httpx transport: aiohttp's
connection pool for the network (httpx's own looks at every connection for every call, and
stands still at a hundred of them), or the handler of a service in this process. Both raise what
aiohttp raises: httpx has no error that tells whether a request has left.

The library httpx-aiohttp would do the same. Measured in November 2026 it took 2.3 times the CPU of
a call (289 and 125 µs), and reached 0.80 of the ideal pace over 128 connections at 50 ms, where
this reaches 0.88; it also hides from its caller whether a request has left.

Failures come back as values: the traceback of an error that is raised elsewhere never
passes a frame that knows the token.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import urllib.request
import weakref
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx
import truststore

from chatkit.api.answer import Answer
from chatkit.api.call import Call
from chatkit.api.connection import API_PREFIX, Connection
from chatkit.api.secret import LEAST, MASK
from chatkit.errors import BadAnswer, CallError, SettingsError, UnknownOutcome, Unreachable
from chatkit.util import background

#: A service in this process: method, target, header fields, body -> status, fields, body.
Handler = Callable[[str, str, Mapping[str, str], bytes], tuple[int, Mapping[str, str], bytes]]

#: Bytes of a decoded answer; more is refused. An upstream flow document may have 10 MB.
MAX_ANSWER = 16 * 1024 * 1024
#: Seconds that making a connection may take.
MAX_CONNECT = 10.0


#: Reading an address takes half the time of making a request; creates all go to one.
_address = lru_cache(maxsize=1024)(httpx.URL)


class Wire:
    """Sender of single requests to one account of one service.

    Raises:
        SettingsError: The proxy of the environment cannot be used.
    """

    def __init__(self, connection: Connection, handler: Handler | None = None) -> None:
        self._token = connection.token
        self._plain = self._build_headers({})
        self._json = self._build_headers({"Content-Type": "application/json"})
        account = f"channels/chat/accounts/{connection.account_id}/"
        self._root = f"{connection.base_url}{API_PREFIX}/{account}"
        # A service on this machine is never asked through a proxy: it would see the token.
        self._proxy = None if connection.loopback else proxy_for(connection.base_url)
        self._carrier: httpx.AsyncBaseTransport | None = _InProcess(handler) if handler else None
        self._session: aiohttp.ClientSession | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None

    async def send_once(self, call: Call, content: bytes | None, left: float) -> Answer | CallError:
        """Send a call once, within `left` seconds.

        Returns:
            The answer whatever its status; `Unreachable` when the call cannot have left;
            `UnknownOutcome` when the answer was lost; `BadAnswer` when it is of no use.
        """
        # Connecting ends before the deadline: "it never left" can only be told then.
        connect = min(MAX_CONNECT, 0.8 * left)
        try:
            response = await self._open_carrier().handle_async_request(
                _Request(
                    call.method,
                    _address(self._root + call.target),
                    self._plain if content is None else self._json,
                    content,
                    connect,
                )
            )
            try:
                body = await _read_body(response)
            finally:
                await response.aclose()
        except (aiohttp.ClientError, OSError) as error:
            return _to_call_error(call, error)
        if isinstance(body, str):
            return BadAnswer(call, f"the answer {body}", status=response.status_code)
        headers, body = self._mask_token(_decode_headers(response.headers), body)
        return Answer(call, response.status_code, headers, body)

    def _mask_token(self, fields: dict[str, str], body: bytes) -> tuple[dict[str, str], bytes]:
        """Mask the token in an answer, which may repeat it and is shown to people."""
        token = self._token.reveal()
        if len(token) < LEAST:
            return fields, body
        quoted = token.replace("\\", "\\\\").replace('"', '\\"')
        for spelling in {token, quoted, quoted.replace("/", "\\/")}:  # as JSON may write it
            body = body.replace(spelling.encode(), MASK.encode())
        token = token.lower()  # header values are compared in lower case
        if token in "\n".join(fields.values()).lower():
            fields = {n: MASK if token in v.lower() else v for n, v in fields.items()}
        return fields, body

    def _build_headers(self, more: Mapping[str, str]) -> _Fields:
        """Build the header fields that all calls of one kind share."""
        return _Fields(
            {
                "Authorization": f"Bearer {self._token.reveal()}",
                "Accept": "application/json",
                "Accept-Encoding": "gzip",
                "User-Agent": "chatkit",
                **more,
            }
        )

    def close(self) -> None:
        """Close the connections; asking opens new ones."""
        if self._session is not None and not self._session.closed:
            background.run_and_wait(self._session.close())

    def forget(self) -> None:
        """Drop the connections without touching them: they are those of another process."""
        if self._session is not None:
            self._session.detach()

    def _open_carrier(self) -> httpx.AsyncBaseTransport:
        """Return the httpx transport; open a pool if there is none, or it was closed."""
        if self._carrier and not (self._session and self._session.closed):
            return self._carrier
        tls = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # whom this machine trusts
        self._session = aiohttp.ClientSession(
            connector=_Connector(limit=0, keepalive_timeout=10, ssl=tls),
            skip_auto_headers=("Content-Type",),
            cookie_jar=aiohttp.DummyCookieJar(),
            middlewares=(_prevent_resending,),
            proxy=self._proxy,
        )
        if self._finalizer:
            self._finalizer.detach()
        self._finalizer = weakref.finalize(self, _close_abandoned, self._session)
        self._finalizer.atexit = False
        self._carrier = _Pool(self._session)
        return self._carrier


class _Fields(httpx.Headers):
    """Header fields that many requests share, and once for all as aiohttp sends them."""

    sent: Mapping[str, str] | None = None


class _Request(httpx.Request):
    """A request that shares its address and header fields with others.

    httpx reads the fields anew for each, which takes longer than all the rest of making it.
    What is of one request alone, its length and host, aiohttp writes.
    """

    def __init__(
        self, method: str, url: httpx.URL, headers: _Fields, content: bytes | None, connect: float
    ) -> None:
        self.method, self.url, self.headers = method, url, headers
        self.stream = httpx.ByteStream(content or b"")
        self.extensions = {"timeout": {"pool": connect}}


def _request_body(request: httpx.Request) -> bytes:
    assert isinstance(request.stream, httpx.ByteStream)  # noqa: S101  (as _Request makes it)
    return b"".join(request.stream)


class _Pool(httpx.AsyncBaseTransport):
    """Transport over the kept connections of an aiohttp session."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and return its response as soon as the headers are there."""
        fields = request.headers
        assert isinstance(fields, _Fields)  # noqa: S101  (as Wire makes them)
        if fields.sent is None:
            fields.sent = sent = self._session.headers.copy()
            sent.update(fields)
        response = await self._session.request(
            request.method,
            str(request.url),
            headers=fields.sent,
            data=_request_body(request) or None,
            allow_redirects=False,
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(connect=request.extensions["timeout"]["pool"]),
        )
        return httpx.Response(response.status, headers=response.raw_headers, stream=_Body(response))


class _Body(httpx.AsyncByteStream):
    """Stream of the body of a response, in the parts in which it comes."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._response.content.iter_any():
            yield part

    async def aclose(self) -> None:
        """Give the connection back, or close it when the body was not read to its end."""
        self._response.release()
        await self._response.wait_for_close()


class _InProcess(httpx.AsyncBaseTransport):
    """Transport to a service in this process, through its handler."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Call the handler in a thread: the loop is shared, and must not wait."""
        fields = {name.lower(): value for name, value in request.headers.items()}
        target = request.url.raw_path.decode("ascii")
        status, headers, body = await asyncio.to_thread(
            self._handler, request.method, target, fields, _request_body(request)
        )
        return httpx.Response(status, headers=dict(headers), content=body)


class _Connector(aiohttp.TCPConnector):
    def __del__(self, _: object = None) -> None:
        """Leave the connections open: in a forked child they are those of the parent."""


def _close_abandoned(session: aiohttp.ClientSession) -> None:
    """Close the session of a collected Wire, from whatever thread the collector runs in."""
    if not session.closed:
        asyncio.run_coroutine_threadsafe(session.close(), background.get_loop())


async def _prevent_resending(
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


def _decode_headers(fields: httpx.Headers) -> dict[str, str]:
    """Decode all header fields, by their names in lower case."""
    texts: dict[str, str] = {}
    for name, value in fields.raw:
        key, text = name.decode("latin-1").lower(), _decode_header_value(value)
        texts[key] = f"{texts[key]}, {text}" if key in texts else text
    return texts


def _decode_header_value(value: bytes) -> str:
    """Decode a header value as UTF-8, else as Latin-1."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


async def _read_body(response: httpx.Response) -> bytes | str:
    """Read and decode a body of at most `MAX_ANSWER` bytes; return the reason as text on failure.

    Decoded here in bounded steps: 292 KB of gzip can hold 300 MB.
    """
    coding = response.headers.get("content-encoding", "").lower() or "identity"
    if coding not in ("identity", "gzip", "x-gzip"):
        return f"is encoded as {coding[:40]!a}, which was not asked for"
    unzip = None if coding == "identity" else zlib.decompressobj(wbits=31)
    parts, size = [], 0
    assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101  (both carriers')
    try:
        async for part in response.stream:
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


def _to_call_error(call: Call, error: BaseException) -> CallError:
    """Convert an aiohttp exception to the error of the call."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            reason = f"the host {error.host} cannot be resolved ({error.strerror})"
            return Unreachable(call, reason, passing=error.os_error.errno == socket.EAI_AGAIN)
        case aiohttp.ClientProxyConnectionError():
            return Unreachable(call, f"the proxy {error.host}:{error.port} cannot be reached")
        case aiohttp.ClientHttpProxyError():
            return Unreachable(call, f"the proxy refuses to connect ({error.status})")
        case aiohttp.ClientConnectorCertificateError():
            why = getattr(error.certificate_error, "verify_message", "")
            reason = f"the certificate of {error.host} is not trusted ({why})"
            return Unreachable(call, reason, passing=False)
        case aiohttp.ClientConnectorSSLError():
            return Unreachable(call, f"TLS with {error.host} failed ({error.strerror})")
        case aiohttp.ClientConnectorError():
            where = f"{error.host}:{error.port}"
            return Unreachable(call, f"{where} cannot be reached ({error.strerror})")
        case aiohttp.ConnectionTimeoutError():
            return Unreachable(call, "no connection could be made in time")
        case aiohttp.ClientResponseError():
            return BadAnswer(call, "what came back is not HTTP")
        case aiohttp.ClientPayloadError():
            return UnknownOutcome(call, "the connection broke in the middle of the answer")
        case _:
            return UnknownOutcome(call, "the connection broke before there was an answer")


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
        url = urlsplit(proxy)
    except ValueError:
        url = urlsplit("")
    if url.scheme not in ("http", "https") or not url.hostname:
        raise SettingsError("The proxy of the environment is not of the form http://host:port.")
    return proxy
