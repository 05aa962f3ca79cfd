"""Background: one asyncio loop in a daemon thread, imports in another, forks and signals.

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
from contextlib import contextmanager, suppress
from importlib import import_module
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
_imported = threading.Event()
_imported.set()


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


def preload_modules(*modules: str) -> None:
    """Import modules in a thread ahead of their use; a missing one is ignored until then.

    A process that forks waits for it: the child would find the imports locked for ever. While
    one thread imports, no second one begins: what else is asked for is imported when needed.
    """

    def import_all() -> None:
        try:
            for name in modules:
                with suppress(Exception):  # who needs it imports it again, and is told then
                    import_module(name)
        finally:  # else every fork would wait for ever
            _imported.set()

    # Its hooks of a fork must not be registered while our own, which waits, is running.
    import_module("concurrent.futures.thread")
    with _lock:
        if not _imported.is_set():
            return
        _imported.clear()
    try:
        threading.Thread(target=import_all, name="chatkit-imports", daemon=True).start()
    except RuntimeError:  # there can be no more threads
        _imported.set()


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
    os.register_at_fork(before=_imported.wait, after_in_child=_reset_after_fork)
