"""Clock: where the service's times, ids and secrets come from, the machine or a seed."""

import base64
import hashlib
import secrets
import time
from collections import Counter
from datetime import UTC, datetime

# The first tick of a seeded sandbox: a Monday morning.
_SEEDED_START = int(datetime(2026, 1, 5, 8, 0, tzinfo=UTC).timestamp())


class Clock:
    """Gives a write its time, a webhook its secret, an access token its text: the machine's."""

    def __init__(self) -> None:
        self._ahead = 0.0  # seconds of the machine's clock

    def now(self) -> float:
        """Return the service's time, in seconds since 1970; looking at it changes nothing."""
        return time.time() + self._ahead

    def set(self, now: float) -> None:
        """Set the service's clock to another time, and go on from there."""
        self._ahead = now - time.time()

    def stamp(self) -> str:
        """Return the time of a write, ISO 8601 UTC."""
        now = datetime.fromtimestamp(self.now(), UTC)
        return f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z"

    def begin(self, seconds: int) -> int:
        """Return when events of so many seconds begin that end now, in seconds since 1970."""
        return int(self.now()) - seconds

    def restart(self) -> None:
        """Begin again, for a store that was cleared: go on with the machine's time."""
        self._ahead = 0.0

    def secret(self) -> str:
        """Make a signing secret: 64 lower-case hexadecimal digits."""
        return self._bytes("secret").hex()

    def token(self) -> str:
        """Make the text of an access token: 43 URL-safe characters."""
        return base64.urlsafe_b64encode(self._bytes("token")).rstrip(b"=").decode()

    def message_id(self) -> str:
        """Make the id of an event, the same at every attempt to deliver it."""
        return f"msg_{self._bytes('message')[:12].hex()}"

    def _bytes(self, purpose: str) -> bytes:
        return secrets.token_bytes(32)


class SeededClock(Clock):
    """The same times and secrets at every run: the clock ticks one second with each write.

    For examples and tests on this machine only: whoever knows the seed knows the tokens.
    """

    def __init__(self, seed: str) -> None:
        super().__init__()
        self._seed, self._ticks = seed, 0
        self._made: Counter[str] = Counter()

    def now(self) -> float:
        """Return the latest tick."""
        return float(_SEEDED_START + self._ticks)

    def set(self, now: float) -> None:
        """Tick on from there."""
        self._ticks = int(now) - _SEEDED_START

    def stamp(self) -> str:
        """Return the next tick."""
        self._ticks += 1
        return super().stamp()

    def begin(self, seconds: int) -> int:
        """Return the next tick; the clock then goes on by that length."""
        self._ticks += 1 + seconds
        return super().begin(seconds)

    def restart(self) -> None:
        """Begin again with the first time and signing secret; tokens go on, the old ones count."""
        self._ticks, self._made = 0, Counter(token=self._made["token"])

    def _bytes(self, purpose: str) -> bytes:
        self._made[purpose] += 1
        text = f"chatkit sandbox {self._seed} {purpose} {self._made[purpose]}"
        return hashlib.sha256(text.encode()).digest()
