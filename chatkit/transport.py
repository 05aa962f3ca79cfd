"""Transport: send Calls and bring back their answers; the only import of httpx.

One asyncio loop runs in a daemon thread behind synchronous methods, so that the same
code works in a notebook (whose own loop is running), in a script and in threads. Calls
go through httpx requests on an aiohttp connection pool: httpx's own pool looks at every
connection for every call and stands still at a hundred of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import ssl
import threading
import time
import urllib.request
import zlib
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar
from urllib.parse import urlsplit

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from chatkit.answer import Answer, Envelope
from chatkit.call import Call
from chatkit.connection import Connection
from chatkit.errors import (
    BadAnswer,
    CallError,
    DeadlinePassed,
    Fault,
    InDoubt,
    InputError,
    SettingsError,
    Unreachable,
)

T = TypeVar("T")

#: A service in this process: method, target, header fields, body -> status, fields, body.
Door = Callable[[str, str, Mapping[str, str], bytes], tuple[int, Mapping[str, str], bytes]]

#: How often a call that is safe to repeat is sent at most.
TRIES = 4
#: Bytes of a decoded answer; more is refused. An upstream flow document may have 10 MB.
MAX_ANSWER = 16 * 1024 * 1024


class Transport:
    """Sends calls to one account of one service.

    Args:
        connection: Base address, account, token and profile.
        door: A service in this process that answers in place of the network.
        deadline: Seconds for a whole call: waiting, retries and the last byte included.
    """

    def __init__(
        self, connection: Connection, *, door: Door | None = None, deadline: float = 30.0
    ) -> None:
        self.profile = connection.profile
        self.deadline = deadline
        self._token = connection.token
        self._door = door
        self._root = (
            f"{connection.base_url}/api/business/public/channels/chat/accounts/"
            f"{connection.account_id}/"
        )
        parts = urlsplit(connection.base_url)
        self._origin = (parts.scheme, parts.hostname or "")
        self._loopback = connection.loopback
        self._path = urlsplit(self._root).path.encode()
        self._pool: httpx.AsyncBaseTransport | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._resume_at = 0.0  # monotonic: one 429 slows every worker of this account

    def answer(self, call: Call) -> Answer:
        """Send a call and return its answer whatever its status. Raises only `CallError`."""
        return self._run(self._answer(call))

    def send(self, call: Call) -> Envelope:
        """Send a call and return its unwrapped envelope, or raise the error it means."""
        return self.answer(call).unwrap(self.profile)

    def send_all(
        self, calls: Iterable[Call], *, concurrency: int = 8
    ) -> Generator[tuple[Call, Envelope] | Fault, None, None]:
        """Send many calls at once; yield each one's envelope or fault as it comes back.

        The calls are taken one by one as workers become free, so ten or ten million need
        the same memory. Closing the iterator (or an interrupt) cancels what is in flight.
        """
        loop = self._ready()
        inbox: deque[tuple[Call, Envelope] | Fault | None] = deque()
        filled = threading.Event()
        room = asyncio.Event()
        room.set()
        limit = 4 * concurrency

        def put(outcome: tuple[Call, Envelope] | Fault | None) -> None:
            inbox.append(outcome)
            if len(inbox) >= limit:
                room.clear()
            filled.set()

        async def worker(source: Iterator[Call]) -> None:
            for call in source:
                try:
                    put((call, (await self._answer(call)).unwrap(self.profile)))
                except CallError as error:
                    put(Fault(call, error))
                await room.wait()

        async def run() -> None:
            source = iter(calls)
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(concurrency):
                        group.create_task(worker(source))
            finally:
                put(None)

        future = asyncio.run_coroutine_threadsafe(run(), loop)
        try:
            while True:
                filled.wait()
                filled.clear()
                while inbox:
                    if (outcome := inbox.popleft()) is None:
                        return _first_error(future)
                    yield outcome
                if not room.is_set():
                    loop.call_soon_threadsafe(room.set)
        finally:
            future.cancel()

    def close(self) -> None:
        """Close the connections. The transport opens new ones when it is used again."""
        if self._pool is not None and self._loop is _loop():
            self._run(self._pool.aclose())
        self._pool = None

    # --- on the loop ----------------------------------------------------------------

    async def _answer(self, call: Call) -> Answer:
        """Send with retries inside one deadline: only what is safe to repeat is repeated.

        Safe are reads, calls that never left, and calls refused with 429 (design: bulk
        edits, rule 4). A write without a trustworthy answer is `InDoubt`.
        """
        end = time.monotonic() + self.deadline
        attempt = 0
        while True:
            attempt += 1
            failure: CallError | None = None
            wait = random.uniform(0, min(8.0, 0.5 * 2**attempt))  # noqa: S311  (jitter)
            try:
                async with asyncio.timeout(end - time.monotonic()):
                    if (pause := self._resume_at - time.monotonic()) > 0:
                        await asyncio.sleep(pause)
                    answer = await self._exchange(call)
            except TimeoutError:
                raise DeadlinePassed(call, f"no whole answer in {self.deadline:g} s") from None
            except Unreachable as error:
                failure = error
            except InDoubt as error:
                if call.writes:
                    raise
                failure = error
            else:
                if answer.status == 429:
                    told = answer.retry_after()
                    wait = wait if told is None else told
                    if time.monotonic() + wait >= end:
                        return answer
                    self._resume_at = max(self._resume_at, time.monotonic() + wait)
                    continue
                if answer.status not in (500, 502, 503, 504) or call.writes or attempt >= TRIES:
                    return answer
            if time.monotonic() + wait >= end or (failure and attempt >= TRIES):
                if failure is None:
                    return answer
                raise failure
            await asyncio.sleep(wait)

    async def _exchange(self, call: Call) -> Answer:
        """Send once: one request out, one whole answer back."""
        request = self._request(call)
        assert self._pool is not None  # noqa: S101  (opened by _ready)
        try:
            response = await self._pool.handle_async_request(request)
            try:
                body = await _read(call, response)
            finally:
                await response.aclose()
        except (httpx.HTTPError, aiohttp.ClientError, OSError) as error:
            raise _failure(call, error) from None
        headers = {
            k.decode("latin-1").lower(): v.decode("latin-1") for k, v in response.headers.raw
        }
        return Answer(call, response.status_code, headers, body)

    def _request(self, call: Call) -> httpx.Request:
        headers = [
            (b"Authorization", b"Bearer " + self._token.reveal().encode("ascii")),
            (b"Accept", b"application/json"),
            (b"Accept-Encoding", b"gzip"),
            (b"User-Agent", b"chatkit"),
        ]
        content = None
        if call.body is not None:
            headers.append((b"Content-Type", b"application/json"))
            content = _encode(call)
        request = httpx.Request(
            call.method, self._root + call.target, headers=headers, content=content
        )
        url = request.url
        if (
            url.scheme,
            url.host,
        ) != self._origin or url.raw_path != self._path + call.target.encode():
            raise InputError(f"{call} would leave the account's address; it was not sent.")
        return request

    # --- between threads ------------------------------------------------------------

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._ready())
        try:
            return future.result()
        except BaseException:  # an interrupt above all: the call must not go on behind it
            future.cancel()
            raise

    def _ready(self) -> asyncio.AbstractEventLoop:
        """Return this process's loop, with a pool that belongs to it (a fork has neither)."""
        loop = _loop()
        if self._pool is None or self._loop is not loop:
            self._pool = (
                _InProcess(self._door)
                if self._door
                else _pool(*self._origin, loopback=self._loopback)
            )
            self._loop = loop
        return loop


class _InProcess(httpx.AsyncBaseTransport):
    """The door of a service in this process, in the form of an httpx transport."""

    def __init__(self, door: Door) -> None:
        self._door = door

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        target = request.url.raw_path.decode("ascii")
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in request.headers.raw}
        status, fields, body = self._door(request.method, target, headers, request.content)
        return httpx.Response(status, headers=list(fields.items()), content=body)


def _first_error(future: Future[None]) -> None:
    """Wait for the workers; when one was handed something that cannot be sent, raise that."""
    try:
        future.result()
    except ExceptionGroup as group:
        raise group.exceptions[0] from None


def _pool(scheme: str, host: str, *, loopback: bool) -> AiohttpTransport:
    """Open a connection pool: no cookies, no netrc, no redirects.

    A service on this machine is never asked through a proxy: the proxy would see the token.
    """
    secure = scheme == "https"
    context = httpx.create_ssl_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    proxy = None if loopback else _proxy(scheme, host)

    def session() -> aiohttp.ClientSession:
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=10, ssl=context),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding"),
        )
        # aiohttp would send a PUT or DELETE again when a kept connection breaks. That hides
        # the first one's fate: a delete that landed would come back as 404.
        session._retry_connection = False
        return session

    return AiohttpTransport(verify=context, client=session, proxy=proxy)


def _proxy(scheme: str, host: str) -> httpx.Proxy | None:
    """Find the proxy of the environment."""
    if urllib.request.proxy_bypass(host):
        return None
    url = urllib.request.getproxies().get(scheme)
    try:
        return httpx.Proxy(url) if url else None
    except ValueError as error:
        raise SettingsError(f"The proxy of the environment cannot be used: {error}") from None


def _encode(call: Call) -> bytes:
    # The standard library's writer refuses NaN and half characters; faster ones write null.
    try:
        text = json.dumps(call.body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{call}: the body cannot be written as JSON ({error})") from None


async def _read(call: Call, response: httpx.Response) -> bytes:
    """Read and decode a body, never holding more than the cap.

    Decoded here in bounded steps: 292 KB of gzip can hold 300 MB.
    """
    stream = response.stream
    coding = response.headers.get("content-encoding", "identity").lower()
    if coding not in ("identity", "gzip"):
        raise BadAnswer(call, f"the answer is encoded as {coding}, which was not asked for")
    unzip = zlib.decompressobj(wbits=31) if coding == "gzip" else None
    parts, size = [], 0
    try:
        async for chunk in stream:  # type: ignore[union-attr]
            part = unzip.decompress(chunk, MAX_ANSWER + 1 - size) if unzip else chunk
            parts.append(part)
            size += len(part)
            if size > MAX_ANSWER:
                raise BadAnswer(call, f"the answer is larger than {MAX_ANSWER // 2**20} MB")
    except zlib.error:
        raise BadAnswer(call, "the answer is broken gzip", status=response.status_code) from None
    if unzip and size and not unzip.eof:
        raise BadAnswer(call, "the answer ends too early", status=response.status_code)
    return b"".join(parts)


def _failure(call: Call, error: Exception) -> CallError:
    """Tell a call that never left from one whose answer is lost.

    httpx-aiohttp calls a connection lost after sending a ConnectTimeout, so the cause that
    aiohttp gave decides: only a connection that was never made means "never left".
    """
    cause = error.__cause__ or error
    never_left = (
        aiohttp.ClientConnectorError,
        aiohttp.ConnectionTimeoutError,
        aiohttp.ClientProxyConnectionError,
        aiohttp.ClientHttpProxyError,
        aiohttp.InvalidURL,
    )
    text = str(cause) or type(cause).__name__
    if isinstance(cause, never_left):
        return Unreachable(call, text)
    if isinstance(cause, aiohttp.ClientPayloadError):
        return BadAnswer(call, f"the answer ends too early ({text})")
    return InDoubt(call, f"the connection broke before the answer was there ({text})")


_lock = threading.Lock()
_running: asyncio.AbstractEventLoop | None = None


def _loop() -> asyncio.AbstractEventLoop:
    """Return the loop of this process, started when it is first needed.

    A daemon thread: one that must be joined would hang a script at its end.
    """
    global _running
    with _lock:
        if _running is None:
            _running = asyncio.new_event_loop()
            threading.Thread(target=_running.run_forever, name="chatkit-loop", daemon=True).start()
        return _running


def _forget_loop() -> None:
    """After a fork the thread is gone: start anew, with a lock that nobody holds."""
    global _running, _lock
    _running, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_loop)
