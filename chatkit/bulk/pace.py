"""Pace: how many changes are under way at once, and how many go out a second."""

from __future__ import annotations

import time

from chatkit.window import Window


class Pace:
    """Says how many calls may start now.

    Args:
        concurrency: Calls under way at once.
        rate: Calls a second at most; None: as fast as the service takes them.
        patience: Seconds a service may ask us to wait; more than that ends a run for now.
    """

    def __init__(
        self, concurrency: int = 8, rate: float | None = None, patience: float = 60.0
    ) -> None:
        if concurrency < 1:
            raise ValueError("at least one call must be under way at a time")
        self.concurrency, self.patience = concurrency, patience
        self._window = None if rate is None else Window(rate)
        self._held = 0.0

    def free(self, out: int) -> int:
        """Tell how many calls may start now, while `out` are under way."""
        now = time.monotonic()
        if now < self._held:
            return 0
        slots = self.concurrency - out
        return max(0, slots if self._window is None else min(slots, self._window.free(now)))

    def took(self, count: int) -> None:
        """Note that so many have started."""
        if self._window is not None:
            self._window.take(time.monotonic(), count)

    def hold(self, seconds: float) -> None:
        """Start none for a while."""
        self._held = max(self._held, time.monotonic() + seconds)

    def wait(self) -> float:
        """Tell how many seconds it is until one may start, if there is a slot for it."""
        now = time.monotonic()
        window = 0.0 if self._window is None else self._window.wait(now)
        return max(0.0, window, self._held - now)
