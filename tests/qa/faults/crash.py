"""Named crash points: a process ends by SIGKILL before or after the so-manieth call of a function.

`chatkit.bulk.journal:Journal.commit:before:3` wraps that function in this process only, so the
package needs no hooks for it.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import signal
from collections.abc import Callable
from itertools import count
from typing import Any


def install(point: str, last_words: Callable[[str], object]) -> None:
    """Make this process crash at a point; it says which just before.

    Raises:
        AttributeError: There is no such function: the point was not moved with the code.
    """
    module, name, when, number = point.split(":")
    *owners, last = name.split(".")
    owner: Any = importlib.import_module(module)
    for part in owners:
        owner = getattr(owner, part)
    raw = inspect.getattr_static(owner, last)
    wrapped = _wrapped(getattr(owner, last), when, int(number), lambda: last_words(point))
    setattr(owner, last, staticmethod(wrapped) if isinstance(raw, staticmethod) else wrapped)


def _wrapped(
    function: Callable[..., Any], when: str, number: int, last_words: Callable[[], object]
) -> Callable[..., Any]:
    called = count(1)

    def due() -> bool:
        return next(called) == number

    def die() -> None:
        """End this process as a power switch would: nothing is flushed."""
        last_words()
        os.kill(os.getpid(), signal.SIGKILL)

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def crash(*args: Any, **kwargs: Any) -> Any:
            now = due()
            if now and when == "before":
                die()
            value = await function(*args, **kwargs)
            if now:
                die()
            return value

    else:

        @functools.wraps(function)
        def crash(*args: Any, **kwargs: Any) -> Any:
            now = due()
            if now and when == "before":
                die()
            value = function(*args, **kwargs)
            if now:
                die()
            return value

    return crash
