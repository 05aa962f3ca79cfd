"""Middleware: what a call passes on its way to the service, over HTTP or in process."""

import logging
import sqlite3
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from email.utils import formatdate
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from chatkit.errors import StoreError
from chatkit.sandbox.admin import ROOT, Admin
from chatkit.sandbox.delivery import DeliveryOutcome, DeliveryWorker, PublishedEvent
from chatkit.sandbox.faults import DrawnFault, Dropped, Faults
from chatkit.sandbox.replies import ServiceAnswer, dumps
from chatkit.sandbox.request import Request
from chatkit.sandbox.store import SandboxStore

if TYPE_CHECKING:
    from chatkit.sandbox.service import Service

API = "/api/"
LOG_LENGTH = 1000
_LONGEST = 500

logger = logging.getLogger("chatkit.sandbox")


class LoggedCall(NamedTuple):
    """One call in the log; status None: the connection was closed without an answer."""

    method: str
    path: str
    status: int | None
    milliseconds: float
    time: float


class Batch:
    """The writes that one commit makes durable together."""

    __slots__ = ("saved",)

    def __init__(self) -> None:
        self.saved: bool | None = None  # None: neither committed nor lost yet


class Middleware:
    """One service behind a lock, with its faults and its log.

    Calls over HTTP are committed once for all of a loop turn, calls in process at once.
    Whoever commits, commits for all: a call that waits holds the batch it belongs to, and
    reads there what became of it.
    """

    def __init__(
        self, service: "Service", store: SandboxStore, admin_token: str, reset: Callable[[], None]
    ) -> None:
        self.service, self.store = service, store
        self.delivery_worker = DeliveryWorker(self)
        self.lock = threading.RLock()
        self.faults = Faults()
        self.admin = Admin(self, admin_token, reset)
        self.log: deque[LoggedCall] = deque(maxlen=LOG_LENGTH)
        self._replies = service.replies
        self._batch = Batch()
        self._second, self._date = -1, ""

    def date(self) -> str:
        """The `Date` of an answer made now, by the clock that stamps the records."""
        if (second := int(self.service.clock.now())) != self._second:
            self._second, self._date = second, formatdate(second, usegmt=True)
        return self._date

    def answer(self, request: Request) -> ServiceAnswer:
        """Answer a call of this process; what it changed is saved when this returns.

        Raises:
            Dropped: A fault closed the connection.
        """
        started = time.perf_counter()
        status = None
        try:
            answer = self._answer(request)
            status = answer.status
        finally:
            self.note(request.method, request.path, status, started)
        return answer

    def _answer(self, request: Request) -> ServiceAnswer:
        if not request.path.startswith(API):
            return self.aside(request)
        fault = None
        if self.faults.active:
            fault = self.faults.draw()
            time.sleep(self.faults.latency)
            if fault and not fault.after:
                return self.spoilt(fault)
        with self.lock:
            answer, batch = self.take(request)
            if batch is not None:
                self.save()
                if not batch.saved:
                    answer = self.unsaved()
        return self.spoilt(fault, answer) if fault else answer

    def take(self, request: Request) -> tuple[ServiceAnswer, Batch | None]:
        """Answer a call; with a batch, the answer must be held until that is saved.

        A read after an uncommitted write waits too: it may tell of what is rolled back.
        """
        with self.lock:
            try:
                answer = self.service.answer(request)
            except Exception as error:  # noqa: BLE001  a bug of ours must not end the sandbox
                self.report(error)
                # Half of a change may have been written, among the changes of others.
                self.store.spoil()
                self.save()
                return self.error(500, "The sandbox has a bug"), None
            return answer, self._batch if self.store.dirty else None

    def save(self) -> None:
        """Commit what was written; the batch then knows whether it is saved."""
        with self.lock:
            batch, self._batch = self._batch, Batch()
            try:
                self._commit()
                batch.saved = True
            except (StoreError, sqlite3.Error) as error:
                logger.error("nothing was saved: %s", error)
                batch.saved = False

    @contextmanager
    def alone(self) -> "Iterator[Service]":
        """The service to oneself: what others wrote is saved before, what the block writes after.

        Raises:
            StoreError: What the block wrote could not be saved, and is undone.
        """
        with self.lock:
            self.save()
            try:
                yield self.service
            except BaseException:
                if self.store.dirty:
                    self.store.rollback()
                raise
            self._commit()

    def _commit(self) -> None:
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

    def aside(self, request: Request) -> ServiceAnswer:
        """Answer what is not a call of the API: the admin API and the OpenAPI document."""
        if request.path.startswith(ROOT):
            try:
                return self.admin.answer(request)
            except Exception as error:  # noqa: BLE001  as in `take`
                self.report(error)
                return self.error(500, "The sandbox has a bug")
        if request.path != "/openapi.json":
            return self.error(404, "There is no such path")
        if request.method not in ("GET", "HEAD"):
            refused = self.error(405, "This path allows GET, HEAD")
            refused.headers["allow"] = "GET, HEAD"
            return refused
        return ServiceAnswer(200, self._document, {"content-type": "application/json"})

    @cached_property
    def _document(self) -> bytes:
        from chatkit.sandbox.openapi import document

        made = document(self.service.resources, self.service.profile, self.service.replies)
        return dumps(made).encode()

    def unsaved(self) -> ServiceAnswer:
        """The answer to a call whose commit failed: the disk is full, or gone."""
        return self.error(503, "The sandbox could not save this; nothing was changed")

    def spoilt(self, fault: DrawnFault, answer: ServiceAnswer | None = None) -> ServiceAnswer:
        """The answer that a fault makes of this one.

        Raises:
            Dropped: The fault closes the connection.
        """
        if fault.kind == "dropped":
            raise Dropped
        if fault.kind == "truncated":
            raise Dropped(answer)
        made = self.error(fault.status, "A fault of the sandbox, set on purpose")
        if fault.kind == "429":
            made.headers.update({"retry-after": str(ceil(self.faults.retry_after))})
        return made

    def error(self, status: int, message: str) -> ServiceAnswer:
        """An error that is not the service's own, in the same form."""
        return self._replies.error(status, message)

    def report(self, error: BaseException) -> None:
        """Log a bug of ours: where it is, and not its message, which may quote a token."""
        where = "".join(traceback.format_tb(error.__traceback__))
        logger.error("unexpected %s\n%s", type(error).__name__, where)

    def note(self, method: str, path: str, status: int | None, started: float) -> None:
        """Write a call into the log: never its headers, query or body, which hold secrets."""
        if path.startswith(API):
            milliseconds = (time.perf_counter() - started) * 1000
            self.log.append(LoggedCall(method, path[:_LONGEST], status, milliseconds, time.time()))
