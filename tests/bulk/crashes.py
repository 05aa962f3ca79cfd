"""Faults of a sandbox in this process: calls and answers get lost, the process crashes."""

from __future__ import annotations

import functools
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import strategies as st

from chatkit.api.transport import Flight
from chatkit.bulk.journal import Journal
from chatkit.bulk.outcomes import RunRow
from chatkit.sandbox import Sandbox


class Crash(BaseException):
    """The process ends here, as far as the engine can see."""


class LossyChannel:
    """The calls into a sandbox: some of the writes, or of their answers, get lost."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.answer = sandbox.answer
        self.rng, self.rate = random.Random(0), 0.0
        self._inside = threading.Semaphore(100)

    def __call__(self, method: str, *rest: Any) -> Any:
        with self._inside:
            chance = self.rng.random() if method != "GET" else 1.0
            if chance < self.rate / 2:
                raise ConnectionResetError
            answered = self.answer(method, *rest)
            if chance < self.rate:
                raise ConnectionResetError
            return answered

    def wait(self) -> None:
        """Wait until nobody is inside: a call that was given up may still take effect."""
        for _ in range(100):
            self._inside.acquire()
        self._inside.release(100)


@contextmanager
def crashing(where: tuple[type, str] | None, call: int, *, after: bool) -> Iterator[None]:
    """End one call of a method, by its number, in a crash."""
    with pytest.MonkeyPatch.context() as patch:
        if where is not None:
            left = [call]
            method: Callable[..., Any] = getattr(*where)

            @functools.wraps(method)
            def crash(*args: Any, **kwargs: Any) -> Any:
                left[0] -= 1
                if not left[0] and not after:
                    raise Crash
                value = method(*args, **kwargs)
                if not left[0]:
                    raise Crash
                return value

            patch.setattr(*where, crash)
        yield


#: How often calls get lost, and where the process crashes, if it does.
faults = st.fixed_dictionaries(
    {
        "rate": st.sampled_from((0.0, 0.0, 0.3, 0.9)),
        "seed": st.integers(0, 99),
        "where": st.sampled_from(
            (
                None,
                None,
                (Journal, "commit"),
                (Journal, "write"),
                (Flight, "start"),
                (Flight, "completed"),
                (RunRow, "evaluate_outcome"),
                (RunRow, "write_event"),
            )
        ),
        "call": st.integers(1, 6),
        "after": st.booleans(),
    }
)
