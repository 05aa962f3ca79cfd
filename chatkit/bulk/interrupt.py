"""Interrupt: the stop button while changes are being applied."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType
from typing import Any, Self


class Interrupt:
    """Counts the interrupts of a `with` block in place of raising them.

    An exception could come between a change and its record. The first interrupt asks to stop,
    the second not to wait for answers either. Only the main thread hears them; from any other
    thread call `ask()`.
    """

    def __init__(self) -> None:
        self.asked = 0
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def ask(self) -> None:
        """Ask to stop, as the stop button does."""
        self.asked += 1

    def sleep(self, seconds: float) -> None:
        """Sleep, but not on after an interrupt."""
        end = time.monotonic() + seconds
        while not self.asked and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.1))

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self.ask()
