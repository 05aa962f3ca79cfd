"""Retry policy: which calls are sent again, how often and when.

This is the whole of it: every number is in this module, and what sends something again reads it
here. A read is idempotent: it may be repeated whenever no answer to it can be trusted. A write is
not, not even a PUT or a DELETE: what it meets the second time may be the work of somebody else.

======================================== ============== ==============
what came of one call                    a read         a write
======================================== ============== ==============
429 (it changed nothing)                 when told      when told
it never left (no connection)            backoff        backoff
500, 502, 503, 504                       backoff        no: it may have landed
lost on the way, no whole answer         backoff        no: it may have landed
an answer that is none, any other        no             no
======================================== ============== ==============

One call. It is sent 4 times at most. Backoff is exponential with full jitter, so that many
clients do not come back together: up to 1, 2, 4 s, or what a Retry-After tells, if that is more.
A 429 does not count: the call waits as told until its timeout, and holds back all calls of the
account (`AdaptiveThrottle`). The timeout of a call, its deadline, covers waiting, every retry and
the last byte: nothing is sent after it.

A run (`chatkit.bulk`). A write that may have taken effect is an unknown outcome. After a settle
window it is read by its key, or looked for by its natural key (`bulk.reconcile`), and sent again
only when it did not take effect. The window is 2 s for an update or a delete; none for a create of
what the service refuses a second record of; for any other create, and before the last try of one,
the deadline and 30 s more, when no service is still at it. What an answer does not prove is read
back by pages of the list where that is fewer calls; a row that no page proves is read alone. One
row is sent, or read in vain, 5 times; a page, or a search, whose answer is none, 5 times, for the
next answer to a read is most often a good one. 401 and 403 stop the run; 409, 404 and any other
refusal are looked into, never retried. 10 refused rows in a row stop the run, and so does an
outage: 3 times 20 unknown outcomes between which nothing has landed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Self

#: Seconds until it is believed that a lost update or delete will not take effect any more. What
#: the service itself keeps unique may be sent again at once: the later of two is refused.
SETTLE = 2.0
#: What nothing keeps unique is sent again only when no service would still be at it: the deadline
#: of the call and this.
SETTLE_DUPLICABLE = 30.0
#: Consecutive refusals that stop a run.
REFUSALS = 10
#: Consecutive unknown outcomes that are a suspected outage, and how many of these stop a run.
UNKNOWN_OUTCOMES, OUTAGES = 20, 3
#: A list that moves while it is read may miss a record: so often it is read.
LIST_READS = 3
#: Seconds that a service may ask to wait: more than that ends a run for now.
PATIENCE = 60.0


@dataclass(frozen=True)
class RetryPolicy:
    """Policy of retries: how often a call, or a row of a run, is sent, and after which pauses.

    Raises:
        ValueError: A number cannot be used.

    >>> import chatkit
    >>> patient = chatkit.RetryPolicy(tries=8, deadline=120)
    >>> with chatkit.connect(chatkit.Sandbox(seed="demo"), retry=patient) as client:
    ...     len(client.flows.frame())
    Connected to the sandbox: the whole service, in this process. Nothing leaves it.
    5
    """

    tries: int = 4  #: how often one call is sent at most
    base: float = 1.0  #: seconds of the first pause at most; each later one may be twice as long
    cap: float = 60.0  #: seconds of any pause at most
    #: The statuses after which a read is sent again.
    retry_on: frozenset[int] = frozenset({500, 502, 503, 504})
    deadline: float = 30.0  #: seconds for a whole call: waiting, retries and the last byte
    row_tries: int = 5  #: how often one row of a run is sent, or read in vain, at most
    #: Seconds until it is believed that a lost write will not take effect any more. Without it as
    #: long as the kind of write needs.
    settle: float | None = None

    def __post_init__(self) -> None:
        for name, least in (
            ("tries", 1), ("row_tries", 1), ("base", 0), ("cap", 0), ("settle", 0)
        ):  # fmt: skip
            if (value := getattr(self, name)) is not None and value < least:
                raise ValueError(f"{name}= must be a number of {least} or more, not {value!r:.40}")
        if not self.deadline > 0:
            raise ValueError(
                f"deadline= must be a number of seconds above 0, not {self.deadline!r:.40}"
            )

    @classmethod
    def of(cls, retry: Self | None) -> Self:
        """Return the policy of a `retry=` argument; None sends everything once.

        Raises:
            TypeError: It is neither a policy nor None.
        """
        if retry is None:
            return cls(tries=1, row_tries=1)
        if not isinstance(retry, cls):
            kind = type(retry).__name__
            raise TypeError(f"retry= takes a chatkit.RetryPolicy, or None for none, not {kind}.")
        return retry

    def pause(self, tried: int, asked: float = 0.0) -> float | None:
        """Return the seconds until the next try; None if there is none.

        Args:
            tried: How often it was sent.
            asked: Seconds that the service asks to wait.
        """
        if tried >= self.tries:
            return None
        longest = min(self.base * 2 ** (tried - 1), self.cap)
        return max(asked, random.uniform(0, longest))  # noqa: S311  (jitter)

    def settle_window(self, *, unique: bool | None) -> float:
        """Return the seconds after which a lost write is expected not to take effect any more.

        Args:
            unique: Whether the service refuses a second such record; None for no create.
        """
        if self.settle is not None:
            return self.settle
        if unique is None:
            return SETTLE
        return 0.0 if unique else self.deadline + SETTLE_DUPLICABLE


#: The policy of a client that names none.
DEFAULT = RetryPolicy()
#: How long calls are held back after a 429 that does not say how long: half of this at least.
RATE_LIMITED = RetryPolicy(base=0.25, cap=8.0)
#: How often a worker of a cluster tries to reach the journals, or finds its run at work elsewhere.
WORKER = RetryPolicy(tries=6, base=0.5, cap=8.0)
#: How often a cluster begins a task whose worker failed.
TASK = RetryPolicy(tries=3)
