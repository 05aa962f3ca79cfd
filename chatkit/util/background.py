"""Background: one asyncio loop in a daemon thread, forks and signals.

The same code then works in a notebook (whose own loop is running), in a script, in
threads and after a fork. A daemon thread, because one that must be joined would hang a
script at its end.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import threading
import weakref
from collections.abc import Coroutine, Iterator
from concurrent import futures
from contextlib import contextmanager
from typing import Any, Protocol


class Closable(Protocol):
    """An object that keeps connections open on the loop."""

    def close(self) -> None:
        """Close them."""

    def forget(self) -> None:
        """Drop them without touching them: this process is a fork, they are another's."""


_closables: weakref.WeakSet[Any] = weakref.WeakSet()
_lock = threading.Lock()
_running: asyncio.AbstractEventLoop | None = None


def get_loop() -> asyncio.AbstractEventLoop:
    """Return the loop of this process, started when it is first needed."""
    global _running
    with _lock:
        if _running is None:
            _running = asyncio.new_event_loop()
            threading.Thread(target=_running.run_forever, name="chatkit-loop", daemon=True).start()
        return _running


def register_closable(resident: Closable) -> None:
    """Register an object to be closed when the process ends, and to forget when it forks."""
    _closables.add(resident)


def run_and_wait(work: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine on the loop, and wait for it 0.4 s at most: somebody waits for us."""
    futures.wait([asyncio.run_coroutine_threadsafe(work, get_loop())], timeout=0.4)


@contextmanager
def catch_stop_signals() -> Iterator[threading.Event]:
    """Set an event at SIGTERM and SIGINT while the block lasts; only for the main thread."""
    stop = threading.Event()
    handled = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in handled}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@atexit.register
def _close_registered() -> None:
    """Close all registered objects as the process ends."""
    for resident in list(_closables):
        resident.close()


def _reset_after_fork() -> None:
    """Reset a forked child: the thread is gone, and the lock may be held for ever."""
    global _running, _lock
    _running, _lock = None, threading.Lock()
    for resident in list(_closables):
        resident.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
