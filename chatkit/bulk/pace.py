"""Pace: how many changes are under way at once, and how many go out a second."""

from __future__ import annotations

import time


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
        if concurrency < 1 or (rate is not None and not rate > 0):
            raise ValueError("concurrency is at least 1, and a rate is above 0 calls a second")
        self.concurrency, self.rate, self.patience = concurrency, rate, patience
        self._due = time.monotonic()  # when the next call may go out
        self._held = 0.0

    def free(self, out: int) -> int:
        """Tell how many calls may start now, while `out` are under way."""
        slots = self.concurrency - out
        now = time.monotonic()
        if slots <= 0 or now < self._held:
            return 0
        if self.rate is None:
            return slots
        return min(slots, int((now - self._due) * self.rate) + 1) if now >= self._due else 0

    def took(self, count: int) -> None:
        """Note that so many have started."""
        if self.rate is not None:
            # What was not used is not saved up, but for a tenth of a second.
            self._due = max(self._due, time.monotonic() - 0.1) + count / self.rate

    def hold(self, seconds: float) -> None:
        """Start none for a while."""
        self._held = max(self._held, time.monotonic() + seconds)

    def wait(self) -> float:
        """Tell how many seconds it is until one may start, if there is a slot for it."""
        due = self._due if self.rate is not None else 0.0
        return max(0.0, max(due, self._held) - time.monotonic())
