"""Progress: a bar for work that takes more than a second, and nothing for the rest."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Self

from chatkit.util.display import format_duration, many

#: Takes what is done, and how much there is if that is known.
Watch = Callable[[int, int | None], object]

#: Seconds of work before there is a bar.
PATIENCE = 1.0
#: Seconds between two states of a bar in a log, where each is a line and none is replaced.
_LOG_INTERVAL = 30.0
#: Seconds from which on work says beforehand how long it takes.
LONG = 60.0
#: So many calls show how fast a reading goes.
_MEASURED = 20
#: Seconds of this process that a call takes, however quick the service is and many at once.
_OWN_WORK = 0.0015
#: What was said is said anew when it takes so many times as long.
_FAR_OFF = 2.0

#: Whom the work of a thread is for, and who watches it in place of a bar.
_current_account: ContextVar[tuple[str, Watch | None]] = ContextVar("whose", default=("", None))


@contextmanager
def prefix_lines(name: str, watch: Watch | None = None) -> Iterator[None]:
    """Prefix the lines that this thread prints with an account name.

    Args:
        name: What the account is called.
        watch: Watches all of its work, in place of bars.
    """
    token = _current_account.set((name, watch))
    try:
        yield
    finally:
        _current_account.reset(token)


class Progress:
    """Counter of work done, with a bar once it lasts: live in JupyterLab, text in a terminal.

    Args:
        noun: What is counted, like "contacts".
        total: How many there are. It may be set and changed while the work goes on.
        watch: Called with what is done and the total, in place of a bar.
    """

    def __init__(self, noun: str, total: int | None = None, watch: Watch | None = None) -> None:
        self.total = total
        self.name = ""  #: stands before the bar, and may change too
        self._noun = noun
        self._watch = watch or _current_account.get()[1]
        self.done = 0
        self._began = time.monotonic()
        self._bar: Any = None
        self._output: Any = None  # of a notebook, where the bar is a widget

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is None:
            return
        line = str(self._bar)
        self._bar.close()
        if self._output is not None:
            self._output.update({"text/plain": line}, raw=True)

    def add(self, count: int) -> None:
        """Count work as done, and update the bar."""
        self.done += count
        if self._watch is not None:
            self._watch(self.done, self.total)
            return
        passed = time.monotonic() - self._began
        if self._bar is None and passed < PATIENCE:
            return
        is_new = self._bar is None
        if is_new:
            self._open_bar()
        is_reset = False
        if self.total not in (None, self._bar.total):
            is_reset = hasattr(self._bar, "container")  # a widget
            if is_reset:
                self._bar.reset(self.total)  # tells the widget too, and sets the count to 0
            self._bar.total = self.total
        if (is_new or is_reset) and not self._bar.disable:  # TQDM_DISABLE: it knows no time
            self._bar.start_t -= passed
        if self.name and not self._bar.disable:
            self._bar.set_description(self.name, refresh=False)
        self._bar.update(self.done - self._bar.n)

    def _open_bar(self) -> None:
        """Open the bar; in a notebook a line of text replaces it at the end, which is saved."""
        from tqdm.auto import tqdm  # slow to load, and rarely needed
        from tqdm.notebook import tqdm as live

        is_live = issubclass(tqdm, live)
        options: dict[str, Any] = {"display": False} if is_live else {}
        if not is_live and not sys.stderr.isatty():
            options = {"mininterval": _LOG_INTERVAL, "maxinterval": _LOG_INTERVAL}
        named = self.name or None
        self._bar = tqdm(total=self.total, desc=named, unit=f" {self._noun}", **options)
        if is_live and not self._bar.disable:
            from IPython.display import display

            self._output = display(self._bar.container, display_id=True)  # type: ignore[no-untyped-call]


class AccountBars:
    """One bar for the work on several accounts at once.

    Args:
        noun: What is counted.
        accounts: What they are called.
        totals: How many each has, where that is known before its work begins.
        watch: Called with what is done in all accounts and the total, in place of a bar.
    """

    def __init__(
        self,
        noun: str,
        accounts: Sequence[str],
        totals: Mapping[str, int] | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._noun, self._accounts = noun, list(accounts)
        self._totals, self._watch = totals or {}, watch
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.__exit__(*error)

    def show(self, done: Mapping[str, tuple[int, int | None]], ended: Collection[str] = ()) -> None:
        """Update the bar.

        Args:
            done: What is done of each account whose work has begun, and its total.
            ended: Accounts whose work has ended, whether all of it was done or not.
        """
        now = dict(done)  # other threads write it
        if not now:
            return  # the bar begins with the work: what is loaded first does not count
        self._bar = bar = self._bar or Progress(self._noun, watch=self._watch)
        over = {name for name, (count, total) in now.items() if count == total}.union(ended)
        totals = [now[n][1] if n in now else self._totals.get(n) for n in self._accounts]
        known = [total for total in totals if total is not None]
        bar.name = f"{len(over):,} of {many(len(self._accounts), 'account')}"
        bar.total = sum(known) if len(known) == len(totals) else None
        count = sum(count for count, _ in now.values())
        if count > bar.done or self._watch is None:
            bar.add(max(count - bar.done, 0))


class Forecast:
    """Printer of how long work takes, as soon as that can be estimated and when it changes.

    It can be estimated when the limit of the service is known, or after some calls: as fast as
    these went. Nothing is printed of what takes less than a minute.

    Args:
        after: What else to print: what a person can do who does not want to wait for it.
    """

    def __init__(self, after: str = "") -> None:
        self._after = after
        self._began = time.monotonic()
        self._printed = 0.0  #: seconds that all of it takes, as they were printed last

    def report(self, what: str, done: int, left: int, rate: float = math.inf) -> None:
        """Print how long the remaining calls take, if that is long and was not printed yet.

        Args:
            what: What is done, like "Reading 1,000,000 contacts".
            done: Calls that have come back.
            left: Calls still to come.
            rate: Calls a second that the service takes; infinite while that is not known.
        """
        passed = time.monotonic() - self._began
        if done >= _MEASURED and passed:
            rate = min(rate, done / passed)
        seconds = left / rate
        if seconds < LONG or passed + seconds < _FAR_OFF * self._printed:
            return
        self._printed = passed + seconds
        calls = f"{many(left, 'more call' if done else 'call')} at {format_rate(rate)}"
        print_line(
            f"{what} takes {format_duration(seconds)}: {calls}.{self._after and ' '}{self._after}"
        )


class Pace(NamedTuple):
    """The pace of calls: by their latency and concurrency, or by a limit."""

    concurrency: int  #: calls under way at once
    latency: float  #: seconds that a call takes, about; 0 while that is not known
    rate: float  #: calls a second at most; infinite where no limit is known

    def seconds(self, calls: int) -> float:
        """Estimate the seconds that so many calls take."""
        return calls * max(self.latency / self.concurrency, 1 / self.rate, _OWN_WORK)

    def __str__(self) -> str:
        if self.rate * self.latency > self.concurrency or self.rate == math.inf:
            return f"{self.concurrency} call{'s' * (self.concurrency != 1)} at once"
        return format_rate(self.rate)


def format_rate(rate: float) -> str:
    """Return a rate in words: "10 calls a second"."""
    number = f"{rate:,.0f}" if rate >= 9.95 else f"{rate:.2g}"
    return f"{number} call{'s' * (number != '1')} a second"


def print_line(line: str) -> None:
    """Print one line for a person."""
    name, _ = _current_account.get()
    sys.stdout.write(f"{name}: {line}\n" if name else f"{line}\n")
