"""One HTTP connection of the sandbox: reads calls, has them answered, writes the answers.

httptools reads and the middleware answers, without ASGI between them: of the CPU time of a
create, uvicorn and ASGI took 28 microseconds and this takes 12. Heads, bodies,
connections and waiting have bounds.
"""

import asyncio
import time
from collections import deque
from typing import cast

import httptools

from chatkit.sandbox.door import Call, Door, Refused
from chatkit.sandbox.faults import Dropped, Fault
from chatkit.sandbox.replies import Answer
from chatkit.sandbox.request import Request

MAX_CONNECTIONS = 512
MAX_HEAD = 64 * 1024
REQUEST_DEADLINE = 10.0
KEEP_ALIVE = 75.0
# Sent twice, one of these could mean one thing to a browser and another to us.
_ONCE = frozenset(("host", "origin", "authorization", "content-type", "content-length"))
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Connection(asyncio.Protocol):
    """One connection: its calls are answered one after the other, in their order."""

    _transport: asyncio.Transport

    def __init__(self, door: Door) -> None:
        self._door = door
        self._parser = httptools.HttpRequestParser(self)
        # As everywhere, what follows a last call is not looked at.
        self._parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self._calls: deque[Call] = deque()
        self._answering = self._turning = False
        self._over = False  # no further call will be read
        self._paused = False  # we do not read, as calls wait
        self._stalled = False  # the other side does not read
        self._idle_since = time.monotonic()
        self._reading_since: float | None = self._idle_since
        self._unread = 0  # bytes that came since the parser made something of them
        self._begin()

    # --- called by the event loop -----------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet a new connection, or send it away."""
        self._transport = cast(asyncio.Transport, transport)
        self._door.connections.add(self)
        if len(self._door.connections) > MAX_CONNECTIONS:
            self._break(Refused(503, "Too many connections"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection; a call that is being answered still takes effect."""
        self._door.connections.discard(self)
        self._calls.clear()
        self._over = True

    def data_received(self, data: bytes) -> None:
        """Read on."""
        if self._over and self._reading_since is None:
            return
        self._unread += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            return  # An offer that is not taken up; the call was the last.
        except httptools.HttpParserCallbackError as error:
            self._door.middleware.report(error.__context__ or error)
            self.abort()
        except httptools.HttpParserError:
            self._break(Refused(400, "This is not HTTP/1.1"))
        else:
            if self._unread > MAX_HEAD:
                self._break(Refused(431, f"The head has more than {MAX_HEAD} bytes"))

    def eof_received(self) -> bool:
        """Stay open for as long as there is something to answer."""
        self._over, self._reading_since = True, None
        return self._answering or bool(self._calls)

    def pause_writing(self) -> None:
        """Answer no further calls: the other side does not read."""
        self._stalled = True

    def resume_writing(self) -> None:
        """Go on answering."""
        self._stalled = False
        self._next()

    # --- called by the parser ---------------------------------------------------------

    def on_message_begin(self) -> None:
        """Begin with a message."""
        self._begin()
        if self._over:
            self._queued = True
        else:
            self._reading_since = time.monotonic()

    def on_url(self, url: bytes) -> None:
        """Take a part of the target."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those that trail a body are of no use."""
        if self._headed:
            return
        key = name.lower().decode("latin-1")
        if key in self._headers and key in _ONCE:
            self._twice = True
        self._headers[key] = value.decode("latin-1")
        self._head_size += len(name) + len(value)

    def on_headers_complete(self) -> None:
        """Refuse what may not come in, without waiting for its body."""
        self._headed, self._unread = True, 0
        if self._queued:
            return
        try:
            if self._head_size > MAX_HEAD:
                raise Refused(431, f"The head has more than {MAX_HEAD} bytes")
            if self._twice:
                raise Refused(400, "A header that may be sent once was sent twice")
            if not self._url.startswith(b"/"):
                raise Refused(400, "Only a path can be asked for")
            self._door.check(self._headers)
        except Refused as refused:
            self._queue(self._is_last(), refused)
            return
        if "expect" in self._headers and not self._answering:
            self._transport.write(_CONTINUE)

    def on_body(self, part: bytes) -> None:
        """Take a part of the body."""
        self._unread = 0
        if self._queued:
            return
        self._parts.append(part)
        self._size += len(part)
        try:
            self._door.check_size(self._size)
        except Refused as refused:
            self._parts.clear()
            self._queue(self._is_last(), refused)

    def on_message_complete(self) -> None:
        """Have the call answered."""
        self._reading_since, self._unread = None, 0
        if not self._queued:
            self._queue(self._is_last())
        self._queued = False
        self._end()

    # --- calls and answers ------------------------------------------------------------

    def _begin(self) -> None:
        self._url, self._parts, self._size = b"", list[bytes](), 0
        self._headers: dict[str, str] = {}
        self._twice = self._headed = False
        self._head_size = 0
        self._queued = False  # the call of this message has been queued

    def _is_last(self) -> bool:
        parser = self._parser
        again = parser.should_keep_alive() and parser.get_http_version() == "1.1"
        return not again or parser.should_upgrade()

    def _break(self, refused: Refused) -> None:
        """Give up reading; what was read before is answered first."""
        self._reading_since = None
        if self._over or self._queued:
            self._over = True
            self._end()
        else:
            self._queue(True, refused)

    def _queue(self, last: bool, refused: Refused | None = None) -> None:
        path, _, query = self._url.decode("latin-1").partition("?")
        method = self._parser.get_method().decode("latin-1") if self._headed else ""
        body = b"".join(self._parts)
        request = Request(method, path, query, self._headers, body)
        self._calls.append(Call(request, refused, last, time.perf_counter()))
        self._over, self._queued = self._over or last, True
        self._next()

    def _next(self) -> None:
        """Have the calls answered that wait, until one takes its time."""
        if self._turning:
            return
        self._turning = True
        while self._calls and not self._answering and not self._stalled:
            self._answering = True
            self._door.take(self, self._calls.popleft())
        self._turning = False
        if bool(self._calls) != self._paused and not self._transport.is_closing():
            self._paused = not self._paused
            if self._paused:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()
                if self._reading_since is not None:
                    self._reading_since = time.monotonic()

    def reply(self, call: Call, answer: Answer | None, fault: Fault | None = None) -> None:
        """Write the answer to a call, spoilt by its fault; None: it had no effect."""
        middleware, status, cut = self._door.middleware, None, False
        try:
            answer = middleware.spoilt(fault, answer) if fault else answer
            status = answer.status if answer else None
        except Dropped as dropped:
            answer, cut = dropped.answer, True
        middleware.note(call.request.method, call.request.path, status, call.started)
        self._answering, self._idle_since = False, time.monotonic()
        if self._transport.is_closing():
            return
        body = answer.body if answer and call.request.method != "HEAD" else b""
        if answer and (body or not cut):
            head = self._door.head(answer, last=call.last)
            self._transport.writelines((head, body[: len(body) // 2] if cut else body))
        if cut:
            self._over = True
            self._calls.clear()
            self._transport.close()
            return
        self._next()
        self._end()

    def _end(self) -> None:
        """Close once all is answered, and read: to close on unread bytes loses the answer."""
        if self._over and self._reading_since is None and not self._answering and not self._calls:
            self._transport.close()

    # --- called by the server ---------------------------------------------------------

    def sweep(self, now: float) -> None:
        """Close if a message has been coming in for too long, or nothing for very long."""
        if self._reading_since is not None:
            if not self._paused and now - self._reading_since > REQUEST_DEADLINE:
                self.abort()
        elif not self._answering and now - self._idle_since > KEEP_ALIVE:
            self.abort()

    def finish(self) -> None:
        """Answer the call that is out, and close."""
        self._over, self._reading_since = True, None
        self._calls.clear()
        self._end()

    def abort(self) -> None:
        """Close at once."""
        self._transport.abort()
