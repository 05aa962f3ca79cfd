"""Window: at most so many calls in any second, as services count them."""

from __future__ import annotations

from collections import deque
from math import inf

#: Calls may reach the service a little closer together than they have left.
_MARGIN = 1.02


class Window:
    """Tells when the next call may go out so that no second has more than `rate` of them.

    Args:
        rate: Calls a second; fewer than one is fine.
    """

    def __init__(self, rate: float) -> None:
        if not 0 < rate < inf:
            raise ValueError("a rate is a number of calls a second, above 0")
        self.rate = rate
        self._most = max(1, int(rate))
        self._span = _MARGIN * self._most / rate
        self._taken: deque[float] = deque()

    def free(self, now: float) -> int:
        """Tell how many may go out at this moment."""
        while self._taken and self._taken[0] <= now - self._span:
            self._taken.popleft()
        return self._most - len(self._taken)

    def wait(self, now: float) -> float:
        """Tell how many seconds it is until one more may go out."""
        return 0.0 if self.free(now) > 0 else self._taken[0] + self._span - now

    def take(self, now: float, count: int = 1) -> None:
        """Note that so many have gone out."""
        self._taken.extend([now] * count)
