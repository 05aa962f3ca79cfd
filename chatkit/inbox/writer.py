"""Writer: many deliveries that arrive together become durable in one commit.

A commit waits for the disk, and costs the same for one delivery as for a hundred: while
one is under way the next ones gather. Who is told that a delivery was stored is told so
after the commit, never before.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future

from chatkit.errors import StoreError
from chatkit.inbox.delivery import Entry
from chatkit.inbox.store import Store

_GROUP = 500
_GROUP_BYTES = 16 * 1024 * 1024


class Writer:
    """A thread that stores deliveries, in groups.

    Args:
        store: Where to.
        most_bytes: How much may wait; what comes then is refused, and will be sent again.
    """

    def __init__(self, store: Store, most_bytes: int = 256 * 1024 * 1024) -> None:
        self._store = store
        self._most = most_bytes
        self._waiting: deque[tuple[Entry, Future[None]]] = deque()
        self._bytes = 0
        self._put = self._done = 0  # deliveries: how many were given, and are finished with
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="chatkit-inbox", daemon=True)
        self._thread.start()

    def put(self, entry: Entry) -> Future[None]:
        """Store a delivery: the future is done when it is durable, or fails when it is not.

        Raises:
            StoreError: Too many wait already, or the writer is closed.
        """
        done: Future[None] = Future()
        with self._changed:
            if self._closed:
                raise StoreError("the inbox is being closed")
            if self._bytes + len(entry.body) > self._most:
                raise StoreError("too many deliveries wait to be stored")
            self._waiting.append((entry, done))
            self._bytes += len(entry.body)
            self._put += 1
            self._changed.notify_all()
        return done

    def flush(self) -> None:
        """Wait until everything that was put is stored, or could not be."""
        with self._changed:
            given = self._put
            self._changed.wait_for(lambda: self._done >= given)

    def close(self) -> None:
        """Store what waits, and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while group := self._next():
            self._store_all(group)
            with self._changed:
                self._done += len(group)
                self._changed.notify_all()

    def _next(self) -> list[tuple[Entry, Future[None]]]:
        """Wait for deliveries; an empty list is the end."""
        group: list[tuple[Entry, Future[None]]] = []
        size = 0
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            while self._waiting and len(group) < _GROUP and size < _GROUP_BYTES:
                entry, done = self._waiting.popleft()
                size += len(entry.body)
                group.append((entry, done))
            self._bytes -= size
        return group

    def _store_all(self, group: Sequence[tuple[Entry, Future[None]]]) -> None:
        try:
            self._store.write([entry for entry, _ in group])
        except Exception as error:  # noqa: BLE001  whoever waits is told
            if len(group) > 1 and getattr(error, "of_one", False):
                for one in group:  # one that no database takes must not refuse the others
                    self._store_all([one])
                return
            for _, done in group:
                _tell(done, error)
        else:
            for _, done in group:
                _tell(done, None)


def _tell(done: Future[None], error: Exception | None) -> None:
    """Finish a future, unless who waited for it has gone: then it will be sent again."""
    if done.set_running_or_notify_cancel():
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)
