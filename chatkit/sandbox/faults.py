"""Faults: what goes wrong with API calls on purpose, by rate, the same way at every run."""

import random
from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from chatkit.sandbox.replies import ServiceAnswer

FaultKind = Literal["429", "5xx", "dropped", "truncated"]
KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
_TIMED: tuple[FaultKind, ...] = ("5xx", "dropped")
_SETTINGS = ("latency", "retry_after", "seed")
_STATUSES = (500, 502, 503, 504)


class BadFaults(ValueError):
    """The faults asked for cannot be set."""


class Dropped(ConnectionError):
    """A fault closed the connection: without an answer, or in the middle of this one."""

    def __init__(self, answer: ServiceAnswer | None = None) -> None:
        super().__init__("the sandbox closed the connection, as its faults ask for")
        self.answer = answer


class DrawnFault(NamedTuple):
    """A fault of one call, before or after its effect."""

    kind: FaultKind
    after: bool
    status: int


class Faults:
    """The faults in force; none at first.

    `set` takes a mapping with any of these keys and forgets what was set before:

    - `latency`: seconds that each call waits before anything is done with it.
    - `429`: rate of refusals, which never have an effect.
    - `retry_after`: seconds that such a 429 asks to wait; 1 when left out.
    - `5xx`: rate of server errors, as `{"before": rate, "after": rate}` the effect.
    - `dropped`: rate of connections closed without an answer, as for `5xx`.
    - `truncated`: rate of answers that end early; the effect has happened.
    - `seed`: an integer; the same seed and calls meet the same faults. 0 when left out.

    A rate is a number from 0 to 1. For `5xx` and `dropped` one number stands for half
    of it before and half after the effect. All rates together are at most 1.
    """

    def __init__(self) -> None:
        self.set({})

    def set(self, settings: Mapping[str, object]) -> None:
        """Put these faults in force and end all others; `{}` ends all.

        Raises:
            BadFaults: A key, a rate or the sum of the rates is wrong; nothing was changed.
        """
        unknown = set(settings) - {*KINDS, *_SETTINGS}
        if unknown:
            known = ", ".join((*KINDS, *_SETTINGS))
            raise BadFaults(f"no such fault: {', '.join(sorted(unknown))}; there are: {known}")
        seed = settings.get("seed", 0)
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise BadFaults("seed must be an integer")
        latency = _number("latency", settings.get("latency", 0), most=60)
        retry_after = _number("retry_after", settings.get("retry_after", 1), most=3600)
        edges: list[tuple[float, FaultKind, bool]] = []
        edge = 0.0
        for kind in KINDS:
            for after, rate in _rates(kind, settings.get(kind, 0)):
                edge += rate
                if rate:
                    edges.append((edge, kind, after))
        if edge > 1 + 1e-9:
            raise BadFaults(f"the rates together are {edge:g}, at most 1 is possible")
        self._settings = dict(settings)
        self._edges = edges
        self._random = random.Random(seed)  # noqa: S311  repeatable, not secret
        self.latency, self.retry_after = latency, retry_after

    def shown(self) -> dict[str, object]:
        """The faults in force, as they were set."""
        return dict(self._settings)

    def draw(self) -> DrawnFault | None:
        """Return the fault that the next call meets; None: no fault."""
        drawn = self._random.random()
        for edge, kind, after in self._edges:
            if drawn < edge:
                status = 429 if kind == "429" else self._random.choice(_STATUSES)
                return DrawnFault(kind, after, status)
        return None


def _rates(kind: FaultKind, value: object) -> list[tuple[bool, float]]:
    """A rate as pairs of (after the effect, rate)."""
    if kind not in _TIMED:
        return [(kind == "truncated", _number(kind, value))]
    if not isinstance(value, Mapping):
        rate = _number(kind, value)
        return [(False, rate / 2), (True, rate / 2)]
    if set(value) - {"before", "after"}:
        raise BadFaults(f"{kind} must be a rate, or have the keys before and after")
    moments = ((False, "before"), (True, "after"))
    return [(after, _number(f"{kind} {name}", value.get(name, 0))) for after, name in moments]


def _number(name: str, value: object, most: float = 1) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise BadFaults(f"{name} must be a number from 0 to {most:g}")
    return value
