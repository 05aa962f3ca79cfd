"""Apply: send the changes of a run so that what is reported of each is true.

Every row goes the same way: read, compare, record the intent, send, evaluate the outcome, verify
(`chatkit.bulk.outcomes`). Here its calls are scheduled: intents are durable before the first byte
of their calls is sent, and what is unknown is looked at before it is sent again.

Records are read one by one just before each is written, or a page of the list at a time
(`gap="page"`). Many are always read back by pages: there, time between the two harms nobody.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from types import FrameType
from typing import Any, Literal, Protocol, Self

from chatkit.api.call import Call
from chatkit.api.record import Record
from chatkit.api.throttle import Throttle
from chatkit.api.transport import Flight, Transport
from chatkit.bulk.changes import Change, Kind
from chatkit.bulk.endpoints import Endpoints
from chatkit.bulk.journal import Journal
from chatkit.bulk.outcomes import RunRow, RunState, count_states, replayed
from chatkit.bulk.reconcile import Pages, Search, Stopped, ThrottledReader
from chatkit.errors import CallError, Fault, InputError, JournalError
from chatkit.util.progress import Progress, Watch, print_line

#: A plan of more rows begins with a few of them: what is wrong with all shows there.
CANARY_FROM, CANARY = 100, 5
#: So many rows are written before they are read back, or twenty for each page of the list:
#: then reading back takes a twentieth of a call a row.
BATCH = 1000
#: How records are read before they are written.
Gap = Literal["row", "page"]
#: What is sent first of a resource, and then.
KINDS: tuple[Kind, ...] = ("delete", "update", "create")


class PlanTarget(Protocol):
    """The records of a plan: one resource, many templates, or a whole account."""

    @property
    def transport(self) -> Transport:
        """The transport that sends the calls."""

    def of(self, code: str | None, noun: str | None = None) -> Endpoints[Any]:
        """Return the endpoints of a template code; those without codes return themselves.

        Args:
            code: The template code of a content.
            noun: Which resource, where the plan is for several.
        """

    def keep(self, written: Sequence[Sequence[str]], run: str) -> None:
        """Keep what the plan of a run has noted of what it writes."""


class Run:
    """One run: it schedules the rows of a journal.

    Args:
        journal: Holds the changes, and what is known of them; it is written on.
        target: Where the records are.
        interrupt: Hears when a person wants to stop.
        concurrency: Calls under way at once.
        rate: Calls a second at most; None: as many as the run was applied with before.
        watch: Called with the rows that are done and all rows, in place of a progress bar.
        gap: How records are read before they are written: each "row" alone, or by "page".
    """

    def __init__(
        self,
        journal: Journal,
        target: PlanTarget,
        interrupt: Interrupt,
        *,
        concurrency: int = 8,
        rate: float | None = None,
        watch: Watch | None = None,
        gap: Gap = "row",
    ) -> None:
        self.interrupt = interrupt
        self.rate = journal.last_rate() if rate is None else rate
        self._throttle = throttle = Throttle(concurrency, self.rate)
        self.state = RunState(journal, throttle, target.transport.retry)
        self._journal, self._target = journal, target
        self._watch, self._by_page = watch, gap == "page"
        past = [event.what for event in journal.events() if event.n is None]
        self._fresh, self._finished = not past, past[-1:] == ["finished"]
        self._reader = ThrottledReader(target.transport, throttle, self._ended)
        self._pages: dict[tuple[str, str | None], Pages] = {}
        self._unproved: list[RunRow] = []  # those that were written, and are to be read back
        of = cache(target.of)  # the same for all rows of one template code

        def row(n: int, change: Change) -> RunRow:
            return RunRow(n, change, run=self.state, endpoints=of(change.code, change.noun))

        self.rows = replayed(journal, row)
        for each in self.rows:
            if each.key is not None:
                self.state.taken[each.change.noun].add(each.key)

    def go(self) -> None:
        """Send what is to be sent, until all is done or the run must stop."""
        left = sum(not row.done for row in self.rows)
        if not left and self._finished:
            return
        for row in self.rows:
            if row.open and not row.done:
                row.reopened()
        with Progress("changes", len(self.rows), self._watch) as self._progress:
            self._progress.add(len(self.rows) - left)
            try:
                how = {} if self.rate is None else {"rate": self.rate}
                self._journal.write(None, "started" if self._fresh else "resumed", **how)
                for group in self._groups(left):
                    self._work(group)
                    if self._ended():
                        break
                counted = sum(row.done or row.state == "applied" for row in self.rows)
                self._progress.add(counted - self._progress.done)  # in all, what is done
                self._close(done=self._note_duplicates() and all(row.done for row in self.rows))
            except JournalError as error:
                self.state.stopped = str(error)
            except Exception as error:  # what is known of the rows is worth more than a traceback
                logging.getLogger(__name__).exception("a run stopped")
                self.state.stopped = f"{type(error).__name__}: {error}"

    def _note_duplicates(self) -> bool:
        """Note creates that are there twice, where nothing keeps a name unique.

        Returns:
            Whether all of them were looked for.
        """
        created: dict[str | None, list[RunRow]] = defaultdict(list)
        for row in self.rows:
            effective = row.change.kind == "create" and row.evidence in ("answered", "adopted")
            if effective and not row.duplicates and not row.endpoints.unique:
                created[row.change.noun].append(row)
        for rows in created.values():
            endpoints = rows[0].endpoints
            if self._ended():
                return False
            try:
                duplicates = Search(self._reader, endpoints).duplicates(rows, rows[0].taken)
            except CallError as error:
                self.state.stopped = (
                    f"whether a {endpoints.noun} is there twice could not be read: {error.reason}"
                )
                return False
            except Stopped:
                return False
            for row in rows:
                own, *others = duplicates.get(row.n, [row.key])
                if own != row.key:
                    row.adopt(own, f"it is {own}; its answer named another record, {row.key}")
                if others:
                    reason = (
                        f"it is there twice: {own} is this one; {', '.join(map(str, others))}, "
                        "just like it, appeared at the same time (the network delivered the "
                        "request twice, or somebody else made it)"
                    )
                    row.note("doubled", also=others, reason=reason)
        return True

    def _close(self, *, done: bool) -> None:
        if not done and not self.state.stopped:
            self.state.stopped = self._why_not_done()
        what, counts = "finished" if done else "stopped", count_states(self.rows)
        self._journal.write(None, what, reason=self.state.stopped, counts=counts)
        self._journal.commit()

    def _why_not_done(self) -> str:
        """Return why rows are left although at most a person has stopped the run."""
        if not self.interrupt.asked:
            return "some rows are not certain"
        if any(row.state in ("not sent", "unknown") for row in self.rows):
            return "you stopped it"
        return "you stopped it before what was written was read back"

    # --- the order of rows ----------------------------------------------------------

    def _groups(self, left: int) -> Iterator[list[RunRow]]:
        """Yield what deletes, what changes, what is new; in a long plan a few of each first.

        An update that takes a number which another one gives away comes after that one: its
        group begins when all of the group before took effect. The resources of a plan for an
        account come one after the other, in the order of its rows.
        """
        fresh = self._fresh and left > CANARY_FROM
        parts: dict[str | None, dict[Kind, list[RunRow]]] = {}
        for row in self.rows:
            if not row.done:
                parts.setdefault(row.change.noun, {}).setdefault(row.change.kind, []).append(row)
        for part in parts.values():
            for kind in KINDS:
                for group in _in_order(part[kind]) if kind in part else ():
                    if fresh and len(group) > CANARY:
                        yield group[:CANARY]
                        self._check_canary(group[:CANARY])
                    yield [row for row in group if not row.done]

    def _check_canary(self, first: list[RunRow]) -> None:
        """Stop if the canary, the first rows of a kind, did not go as planned."""
        wrong = [row for row in first if row.state in ("failed", "differs", "unknown")]
        if len(wrong) == len(first) or any(row.state == "differs" for row in wrong):
            reason = f"the first {len(first)} rows did not go as planned: {wrong[0].reason}"
            self.state.stopped = self.state.stopped or reason

    def _work(self, rows: Iterable[RunRow]) -> None:
        """Send these rows, and settle what is unknown, until nothing is left to do."""
        rows = list(rows)
        unknown = [row for row in rows if row.open]
        for ready in self._batches([row for row in rows if not row.open]):
            last = not ready
            while (ready or unknown or (last and self._unproved)) and not self._ended():
                if last or len(self._unproved) >= self._batch:
                    self._read_back(ready)
                unknown += self._send(ready)
                self.state.check_outage()
                if unknown and not self._ended():
                    unknown = self._settled(unknown, ready)
            if self._ended():
                break

    def _batches(self, rows: list[RunRow]) -> Iterator[deque[RunRow]]:
        """Yield rows that begin, some at a time; at last none.

        Then, or when there are enough of them, those that were written are read back.
        """
        self._unproved += [row for row in rows if row.state == "applied"]
        left = [row for row in rows if row.state != "applied"]
        if self._by_page:
            for part in _by_list(left):
                yield from self._compare_with_lists(part)
            left = [row for row in left if not row.done and row.read_at is None]
        source = iter(left)
        while ready := deque(islice(source, self._batch)):
            for row in ready:
                row.begin()
            yield ready
        yield ready

    @property
    def _batch(self) -> int:
        """The number of rows that are written before they are read back."""
        return max([BATCH, *(20 * (pages.count or 0) for pages in self._pages.values())])

    def _compare_with_lists(self, rows: list[RunRow]) -> Iterator[deque[RunRow]]:
        """Compare rows with pages of the list; yield those still to write or to read back."""
        endpoints = rows[0].endpoints
        if endpoints.lists_deleted or (endpoints.repeats and endpoints.profile.put == "replace"):
            return  # a write may do more than a record of the list shows: deleted ones, or repeats
        row_of: dict[object, RunRow] = {r.key: r for r in rows if r.change.kind != "create"}
        deleting = rows[0].change.kind == "delete"
        with suppress(Stopped):
            for page in self._pages_of(endpoints).just_before(row_of, deleting=deleting):
                now = time.monotonic()
                whole = [
                    (row_of[key], record) for key, record in page.items() if endpoints.whole(record)
                ]
                for row, record in whole:
                    row.read_at = now
                    row.compare(record)
                    self._count(row)
                if ready := deque(row for row, _ in whole if row.stage):
                    yield ready
                if not whole:
                    return

    def _read_back(self, ready: deque[RunRow]) -> None:
        """Read what no answer has proved: by pages where that is fewer calls, else alone."""
        rows, self._unproved = self._unproved, []
        for part in _by_list(rows):
            pages = self._pages_of(part[0].endpoints)
            records: dict[object, Record] = {}
            if pages.fewer(len(part)):
                with suppress(Stopped):
                    records = pages.read({row.key for row in part})
            for row in part:
                if row.key not in records or not row.proved_by(records[row.key]):
                    row.begin()
                    ready.append(row)

    def _count(self, row: RunRow) -> None:
        """Advance the progress bar once for a row that is done, or only to be read back."""
        if not row.counted and (row.done or row.stage == "check"):
            row.counted = True
            self._progress.add(1)

    def _pages_of(self, endpoints: Endpoints[Any]) -> Pages:
        of = endpoints.noun, endpoints.code
        if of not in self._pages:
            self._pages[of] = Pages(self._reader, endpoints)
        return self._pages[of]

    def _ended(self) -> bool:
        return bool(self.state.stopped or self.interrupt.asked)

    # --- sending --------------------------------------------------------------------

    def _send(self, ready: deque[RunRow]) -> list[RunRow]:
        """Keep calls in flight until nothing is ready; return the rows of unknown outcome."""
        unknown: list[RunRow] = []
        in_flight: dict[int, RunRow] = {}
        warned = self.interrupt.quiet
        with self._target.transport.flight() as flight:
            while self.interrupt.asked < 2:
                if self.interrupt.asked and in_flight and not warned:
                    print_line(
                        "Stopping: waiting for what is under way. Interrupt again to not wait."
                    )
                    warned = True
                self._dispatch(ready, flight, in_flight)
                if not in_flight:
                    if self._ended() or not ready or self.state.outage_suspected:
                        break
                    self.interrupt.sleep(self._throttle.wait())
                    continue
                # not longer than until more may go out, or the run may have to stop
                wait = self._throttle.wait() if ready and not self._ended() else 0.0
                outcomes = flight.completed(min(wait, 0.2) or 0.2)
                self._throttle.completed(len(outcomes))
                for outcome in outcomes:
                    call = outcome.call if isinstance(outcome, Fault) else outcome[0]
                    unknown += self._returned(in_flight.pop(id(call)), outcome, ready)
        for row in in_flight.values():
            if row.stage == "write":
                row.note("in doubt", reason="its answer was not waited for")
        return unknown

    def _returned(self, row: RunRow, outcome: Any, ready: deque[RunRow]) -> list[RunRow]:
        """Have an outcome evaluated; return its row if that is unknown now."""
        row.evaluate(outcome)
        self._count(row)
        if row.stage == "check":
            self._unproved.append(row)
        elif row.stage:
            ready.appendleft(row)
        elif row.open and not row.done and not row.abandoned:
            row.since = time.monotonic()
            return [row]
        return []

    def _dispatch(self, ready: deque[RunRow], flight: Flight, in_flight: dict[int, RunRow]) -> None:
        """Dispatch as many rows as may go out now: reads at once, writes after their intents."""
        if not ready or self._ended() or self.state.outage_suspected:
            return
        reads: list[tuple[RunRow, Call]] = []
        writes: list[tuple[RunRow, Call]] = []
        for _ in range(min(len(ready), self._throttle.free(flight.out))):
            row = ready.popleft()
            try:
                (writes if row.stage == "write" else reads).append((row, row.call()))
            except InputError as error:
                row.note("failed", reason=str(error))
                self._count(row)
        self._start(reads, flight, in_flight)  # they wait for no disk
        for row, _ in writes:
            row.intend()
        if not writes or self.state.committed():
            self._start(writes, flight, in_flight)
            return
        for row, _ in writes:
            row.feed("not sent", {"reason": self.state.stopped})

    def _start(
        self, batch: list[tuple[RunRow, Call]], flight: Flight, in_flight: dict[int, RunRow]
    ) -> None:
        if batch:
            self._throttle.count_started(len(batch))
            in_flight.update((id(call), row) for row, call in batch)
            flight.start([call for _, call in batch])

    # --- what is unknown ------------------------------------------------------------

    def _settled(self, unknown: list[RunRow], ready: deque[RunRow]) -> list[RunRow]:
        """Look at what is unknown: it is done, or ready once more, or must still settle."""
        if not self.state.committed():
            return unknown
        now = time.monotonic()
        for row in unknown:
            row.since = row.since or now
        new = [row for row in unknown if row.key is None]
        known = [row for row in unknown if row.key is not None]
        waiting = self._look_for(new, ready) if new else []
        for row in known:
            if now < row.due:
                waiting.append(row)
            else:
                row.stage = "read"
                ready.appendleft(row)
        if waiting and not ready:
            seconds = min(row.due for row in waiting) - time.monotonic()
            if seconds > 5:
                lost = f"{len(waiting)} lost changes"
                print_line(f"Waiting {seconds:.0f} s: {lost} may still take effect until then.")
            self.interrupt.sleep(seconds)
        return waiting

    def _look_for(self, new: list[RunRow], ready: deque[RunRow]) -> list[RunRow]:
        """Look for the records of creates; return the rows that must still settle."""
        endpoints = new[0].endpoints
        again = any(row.attempts > 1 for row in new)
        began = time.monotonic()
        waiting = []
        verdicts = Search(self._reader, endpoints).look(new, new[0].taken, thorough=again)
        for row in new:
            verdict = verdicts.get(row.n)
            if verdict is None:  # stopped
                continue
            if verdict.what == "adopted":
                row.adopt(getattr(verdict.record, endpoints.key), verdict.reason)
            elif verdict.what != "absent":
                row.unclear(verdict.what, verdict.reason)
            elif began < row.due:
                waiting.append(row)
            elif row.absent(proven=verdict.proven):
                row.begin()
                ready.append(row)
            self._count(row)
        return waiting


def _in_order(rows: list[RunRow]) -> list[list[RunRow]]:
    """Part rows of a kind into groups, so that a natural key is given away before it is taken."""
    gives: dict[tuple[str | None, str], int] = {}
    takes: dict[int, tuple[str | None, str]] = {}
    endpoints = rows[0].endpoints
    names = endpoints.named_by() if rows[0].change.kind == "update" and endpoints.single else ()
    for row in rows if names else ():
        change = row.change
        if change.after.keys().isdisjoint(names):
            continue
        old = endpoints.natural(change.before)
        new = endpoints.natural({**change.before, **change.after})
        if old is not None and new is not None and old != new:
            gives[change.code, old] = row.n
            takes[row.n] = change.code, new
    waits = {n: [gives[name]] for n, name in takes.items() if name in gives}
    order = TopologicalSorter({row.n: waits.get(row.n, []) for row in rows})
    with suppress(CycleError):  # no plan has one: the rest goes last
        order.prepare()
    of = {row.n: row for row in rows}
    groups = []
    while ready := order.get_ready():
        order.done(*ready)
        groups.append([of.pop(n) for n in sorted(ready)])
    return [*groups, list(of.values())] if of else groups


def _by_list(rows: Iterable[RunRow]) -> list[list[RunRow]]:
    """Part rows by the list that their records are in."""
    parts: dict[tuple[str | None, str | None], list[RunRow]] = {}
    for row in rows:
        parts.setdefault((row.change.noun, row.change.code), []).append(row)
    return list(parts.values())


# --- the stop button ------------------------------------------------------------------


class Interrupt:
    """Counts the interrupts of a `with` block in place of raising them.

    An exception could come between a change and its record. The first interrupt asks to stop,
    the second not to wait for answers either. Only the main thread hears them; from any other
    thread call `ask()`.

    Args:
        quiet: Whoever asks it says what is waited for.
        within: What asks that one to stop asks this one too, at that moment.
    """

    def __init__(self, *, quiet: bool = False, within: Interrupt | None = None) -> None:
        self.quiet = quiet
        self._within = within
        self._asked = 0
        self._before: Any = None

    @property
    def asked(self) -> int:
        """The number of requests to stop."""
        return self._asked + (0 if self._within is None else self._within.asked)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def ask(self) -> None:
        """Ask to stop, as the stop button does."""
        self._asked += 1

    def sleep(self, seconds: float) -> None:
        """Sleep, but not on after an interrupt."""
        end = time.monotonic() + seconds
        while not self.asked and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.1))

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self.ask()
