"""Progress: a bar for work that takes more than a second, and nothing for the rest."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

from chatkit.display import duration, many
from chatkit.throttle import rate_words

#: Takes what is done, and how much there is if that is known.
Watch = Callable[[int, int | None], object]

#: Seconds of work before there is a bar.
PATIENCE = 1.0
#: Seconds from which on work says beforehand how long it takes.
LONG = 60.0
#: So many calls show how fast a reading goes.
_MEASURED = 20
#: What was said is said anew when it takes so many times as long.
_FAR_OFF = 2.0

#: Whom the work of a thread is for, and who watches it in place of a bar.
_whose: ContextVar[tuple[str, Watch | None]] = ContextVar("whose", default=("", None))


@contextmanager
def working_for(name: str, watch: Watch | None = None) -> Iterator[None]:
    """Let this thread work for one account of several: each line that it says names the account.

    Args:
        name: What the account is called.
        watch: Watches all of its work, in place of bars.
    """
    token = _whose.set((name, watch))
    try:
        yield
    finally:
        _whose.reset(token)


class Progress:
    """Counts work done; shows a bar once it lasts, live in JupyterLab, text in a terminal.

    Args:
        noun: What is counted, like "contacts".
        total: How many there are. It may be set and changed while the work goes on.
        watch: Called with what is done and the total, in place of a bar.
        name: Stands before the bar, where there are several.
    """

    def __init__(
        self, noun: str, total: int | None = None, watch: Watch | None = None, name: str = ""
    ) -> None:
        self.total = total
        self._noun = noun
        self._watch = watch or _whose.get()[1]
        self._name = name
        self._done = 0
        self._began = time.monotonic()
        self._bar: Any = None
        self._output: Any = None  # of a notebook, where the bar is a widget

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            line = str(self._bar)
            self._bar.close()
            if self._output is not None:
                self._output.update({"text/plain": line}, raw=True)

    def add(self, count: int) -> None:
        """Say that `count` more are done."""
        self._done += count
        if self._watch is not None:
            self._watch(self._done, self.total)
            return
        passed = time.monotonic() - self._began
        if self._bar is None and passed < PATIENCE:
            return
        if self._bar is None:
            self._show()
            self._began_before(passed)
        if self.total not in (None, self._bar.total):
            self._bar.reset(self.total)  # tells the widget too, and sets the count to 0
            self._began_before(passed)
        self._bar.update(self._done - self._bar.n)

    def _show(self) -> None:
        """Show the bar. In a notebook a line of text takes its place at the end: that is saved."""
        from tqdm.auto import tqdm  # slow to load, and rarely needed
        from tqdm.notebook import tqdm as live

        options = {"display": False} if issubclass(tqdm, live) else {}
        named = self._name or None
        self._bar = tqdm(total=self.total, desc=named, unit=f" {self._noun}", **options)
        if options and not self._bar.disable:
            from IPython.display import display

            self._output = display(  # type: ignore[no-untyped-call]
                self._bar.container, display_id=True
            )

    def _began_before(self, seconds: float) -> None:
        if not self._bar.disable:  # TQDM_DISABLE: a bar that knows no time
            self._bar.start_t -= seconds


class Forecast:
    """Says how long a long reading takes, once that can be told, and again where it was far off.

    It can be told when the limit of the service is known, or after some calls: as fast as
    these went. Nothing is said of what takes less than a minute.

    Args:
        after: What else to say: what a person can do who does not want to wait for it.
        clock: Seconds since some moment.
    """

    def __init__(self, after: str = "", *, clock: Callable[[], float] = time.monotonic) -> None:
        self._after = after
        self._clock = clock
        self._began = clock()
        self._told = 0.0  # how long all of it takes, as it was said last

    def tell(self, what: str, done: int, left: int, rate: float) -> None:
        """Say how long the calls that are left take, if that is long and was not said yet.

        Args:
            what: What is read, like "Reading 1,000,000 contacts".
            done: Calls that have come back.
            left: Calls still to come.
            rate: Calls a second that the service takes; infinite while that is not known.
        """
        passed = self._clock() - self._began
        if done >= _MEASURED and passed:
            rate = min(rate, done / passed)
        seconds = left / rate
        if seconds < LONG or passed + seconds < _FAR_OFF * self._told:
            return
        self._told = passed + seconds
        calls = f"{many(left, 'more call' if done else 'call')} at {rate_words(rate)}"
        say(f"{what} takes {duration(seconds)}: {calls}.{self._after and ' '}{self._after}")


def say(line: str) -> None:
    """Print one line that a person must see."""
    name, _ = _whose.get()
    sys.stdout.write(f"{name}: {line}\n" if name else f"{line}\n")
