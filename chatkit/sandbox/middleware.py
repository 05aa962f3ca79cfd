"""Middleware: what a call passes on its way to the service, over HTTP or in process."""

import logging
import sqlite3
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import formatdate
from functools import cached_property, lru_cache
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from chatkit.errors import StoreError
from chatkit.sandbox.admin import ROOT, Admin
from chatkit.sandbox.delivery import DeliveryOutcome, DeliveryWorker, PublishedEvent
from chatkit.sandbox.faults import DrawnFault, Dropped, Faults
from chatkit.sandbox.replies import ServiceAnswer, dumps
from chatkit.sandbox.request import Request

if TYPE_CHECKING:
    from chatkit.sandbox.service import Service

API = "/api/"
LOG_LENGTH = 1000
_LONGEST = 500

logger = logging.getLogger("chatkit.sandbox")


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)


class LoggedCall(NamedTuple):
    """One call in the log; status None: the connection was closed without an answer."""

    method: str
    path: str
    status: int | None
    ms: float
    time: str


class Middleware:
    """One service behind a lock, with its faults and its log."""

    def __init__(self, service: "Service", admin_token: str, reset: Callable[[], None]) -> None:
        self.service, self.store = service, service.store
        self.delivery_worker = DeliveryWorker(self)
        self.lock = threading.RLock()
        self.faults = Faults()
        self.admin = Admin(self, admin_token, reset)
        self.log: deque[LoggedCall] = deque(maxlen=LOG_LENGTH)

    def date(self) -> str:
        """Return the `Date` of an answer made now, by the clock that stamps the records."""
        return _date(int(self.service.clock.now()))

    def answer(self, request: Request, started: float) -> ServiceAnswer:
        """Answer a call and log it; what it changed is saved when this returns.

        Args:
            request: The call.
            started: When it came, by `time.perf_counter`.

        Raises:
            Dropped: A fault closed the connection.
        """
        status = None
        try:
            answer = self._answer(request)
            status = answer.status
            return answer
        finally:
            self.note(request.method, request.path, status, started)

    def _answer(self, request: Request) -> ServiceAnswer:
        try:
            if request.path.startswith(API):
                return self._call(request)
            if request.path.startswith(ROOT):
                return self.admin.answer(request)
        except Dropped:
            raise
        except Exception as error:  # noqa: BLE001  a bug of ours must not end the sandbox
            self.report(error)
            return self.error(500, "The sandbox has a bug")
        if request.path != "/openapi.json":
            return self.error(404, "There is no such path")
        if request.method not in ("GET", "HEAD"):
            refused = self.error(405, "This path allows GET, HEAD")
            refused.headers["allow"] = "GET, HEAD"
            return refused
        return ServiceAnswer(200, self._document, {"content-type": "application/json"})

    def _call(self, request: Request) -> ServiceAnswer:
        """Answer a call of the API, or let it meet a fault."""
        fault = self.faults.draw()
        if fault and not fault.after:
            return self._faulty(fault)
        try:
            with self.alone() as service:
                answer = service.answer(request)
        except (StoreError, sqlite3.Error) as error:
            logger.error("nothing was saved: %s", error)
            answer = self.error(503, "The sandbox could not save this; nothing was changed")
        return self._faulty(fault, answer) if fault else answer

    def _faulty(self, fault: DrawnFault, answer: ServiceAnswer | None = None) -> ServiceAnswer:
        """Return the answer that a fault makes of this one.

        Raises:
            Dropped: The fault closes the connection.
        """
        if fault.kind in ("dropped", "truncated"):
            raise Dropped(answer if fault.kind == "truncated" else None)
        error = self.error(fault.status, "A fault of the sandbox, set on purpose")
        if fault.kind == "429":
            error.headers["retry-after"] = str(ceil(self.faults.retry_after))
        return error

    @contextmanager
    def alone(self) -> "Iterator[Service]":
        """Have the service to oneself; what the block wrote is saved after it, or undone.

        Raises:
            StoreError: What the block wrote could not be saved.
        """
        with self.lock:
            try:
                yield self.service
            except BaseException:
                self.store.rollback()
                raise
            self.store.commit()
            if self.service.outbox.fresh:
                self.delivery_worker.wake()

    def allow(self, url: str, to: str | None = None, authority: str | bytes | None = None) -> None:
        """Put an address on the list of receivers, and deliver what waited for it.

        Raises:
            BadReceiver: It cannot be one.
        """
        self.service.receivers.add(url, to, authority)
        with self.alone():
            self.delivery_worker.wake()

    def deliver(
        self, events: Sequence[PublishedEvent], wait: float | None = None
    ) -> list[DeliveryOutcome]:
        """Deliver events to the webhooks that ask for them; return the first attempts.

        Waits so many seconds at most, by default longer than any receiver may take; never
        holds up the API meanwhile.

        Raises:
            OutboxFull: Too many deliveries wait already; none of these was added.
            StoreError: They could not be saved.
        """
        deliveries: dict[int, int] = {}
        with self.alone() as service:
            for event in events:
                deliveries |= service.publisher.post(service.account_id, *event)
            self.delivery_worker.expect(deliveries)
        seconds = self.delivery_worker.timeout + 5 if wait is None else wait
        return self.delivery_worker.collect(deliveries, seconds)

    @cached_property
    def _document(self) -> bytes:
        from chatkit.sandbox.openapi import document

        made = document(self.service.resources, self.service.profile, self.service.replies)
        return dumps(made).encode()

    def error(self, status: int, message: str) -> ServiceAnswer:
        """An error that is not the service's own, in the same form."""
        return self.service.replies.error(status, message)

    def report(self, error: BaseException) -> None:
        """Log a bug of ours: where it is, and not its message, which may quote a token."""
        where = "".join(traceback.format_tb(error.__traceback__))
        logger.error("unexpected %s\n%s", type(error).__name__, where)

    def note(self, method: str, path: str, status: int | None, started: float) -> None:
        """Write a call into the log: never its headers, query or body, which hold secrets."""
        if path.startswith(API):
            ms = round((time.perf_counter() - started) * 1000, 3)
            now = datetime.now(UTC).isoformat()
            self.log.append(LoggedCall(method, path[:_LONGEST], status, ms, now))
