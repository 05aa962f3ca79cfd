"""Clock: where the service's times, ids and secrets come from, the machine or a seed."""

import base64
import hashlib
import secrets
import time
from datetime import UTC, datetime

# The first tick of a seeded sandbox: a Monday morning.
_SEEDED_START = int(datetime(2026, 1, 5, 8, 0, tzinfo=UTC).timestamp())


class Clock:
    """Gives a write its time, a webhook its secret, an access token its text: the machine's."""

    def __init__(self) -> None:
        self._ahead = 0  # nanoseconds of the machine's clock

    def now(self) -> float:
        """The service's clock, in seconds since 1970; looking at it changes nothing."""
        return (time.time_ns() + self._ahead) / 10**9

    def set(self, now: float) -> None:
        """Let the service's clock show another time, and go on from there."""
        self._ahead = int(now * 10**9) - time.time_ns()

    def stamp(self) -> str:
        """The time of a write, ISO 8601 UTC."""
        return _stamp(time.time_ns() + self._ahead)

    def secret(self) -> str:
        """A signing secret: 64 lower-case hexadecimal digits."""
        return secrets.token_hex(32)

    def token(self) -> str:
        """The text of an access token: 43 URL-safe characters."""
        return secrets.token_urlsafe(32)

    def message_id(self) -> str:
        """The id of an event, the same at every attempt to deliver it."""
        return f"msg_{secrets.token_hex(12)}"

    def begin(self, seconds: int) -> int:
        """When events of so many seconds begin that end now, in seconds since 1970."""
        return int(self.now()) - seconds

    def restart(self) -> None:
        """Begin again, for a store that was cleared: go on with the machine's time."""
        self._ahead = 0


class SeededClock(Clock):
    """The same times and secrets at every run: the clock ticks one second with each write.

    For examples and tests on this machine only: whoever knows the seed knows the tokens.
    """

    def __init__(self, seed: str) -> None:
        super().__init__()
        self._seed = seed
        self._ticks = self._secrets = self._tokens = self._messages = 0

    def now(self) -> float:
        """The latest tick."""
        return float(_SEEDED_START + self._ticks)

    def set(self, now: float) -> None:
        """Tick on from there."""
        self._ticks = int(now) - _SEEDED_START

    def stamp(self) -> str:
        """The next tick."""
        self._ticks += 1
        return _stamp((_SEEDED_START + self._ticks) * 10**9)

    def secret(self) -> str:
        """The next secret."""
        self._secrets += 1
        return self._digest("secret", self._secrets).hex()

    def token(self) -> str:
        """The next token."""
        self._tokens += 1
        digest = self._digest("token", self._tokens)
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    def message_id(self) -> str:
        """The next id."""
        self._messages += 1
        return f"msg_{self._digest('message', self._messages)[:12].hex()}"

    def begin(self, seconds: int) -> int:
        """The next tick; the clock then goes on by that length."""
        self._ticks += 1 + seconds
        return _SEEDED_START + self._ticks - seconds

    def restart(self) -> None:
        """Begin again with the first time and signing secret; tokens go on, the old ones count."""
        self._ticks = self._secrets = self._messages = 0

    def _digest(self, purpose: str, number: int) -> bytes:
        return hashlib.sha256(f"chatkit sandbox {self._seed} {purpose} {number}".encode()).digest()


def _stamp(nanoseconds: int) -> str:
    second, rest = divmod(nanoseconds, 10**9)
    text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
    return f"{text}.{rest // 10**6:03d}Z"
