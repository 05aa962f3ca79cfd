"""Apply: send the changes of a run and report the true outcome of each.

Every row goes the same way: read, compare, record the intent, send, evaluate the outcome, verify
(`chatkit.bulk.outcomes`). Here its calls are scheduled: intents are durable before the first byte
of their calls is sent, and what is unknown is looked at before it is sent again.

Records are read one by one just before each is written. Many are read back by pages of the list:
there, time between the two harms nobody.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from types import FrameType
from typing import Any, Protocol, Self

from chatkit.api.call import Call
from chatkit.api.record import Record
from chatkit.api.throttle import Throttle
from chatkit.api.transport import Flight, Transport
from chatkit.bulk.changes import Change, Kind
from chatkit.bulk.endpoints import Endpoints
from chatkit.bulk.journal import Journal, get_planned_time
from chatkit.bulk.outcomes import RunRow, RunState, count_states, replay_journal
from chatkit.bulk.reconcile import (
    PAGES_FROM,
    Search,
    Stopped,
    ThrottledReader,
    read_records_by_pages,
)
from chatkit.bulk.stores import read_changes_since
from chatkit.errors import CallError, Fault, InputError, JournalError
from chatkit.util.progress import Progress, Watch, print_line

#: A plan of more rows begins with a few of them: what is wrong with all shows there.
CANARY_FROM, CANARY = 100, 5
_NOT_AS_PLANNED = ("failed", "differs", "unknown")
#: So many rows are written before they are read back, or twenty for each page of the list:
#: then reading back takes a twentieth of a call a row.
BATCH = 1000
STOPPING = "Stopping: waiting for the calls in progress. Interrupt again to stop at once."
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
        """Keep the texts of `Endpoints.make_texts_to_keep` locally, as the run begins."""


class Run:
    """One run: it schedules the rows of a journal.

    Args:
        journal: Holds the changes and their events; new events are written to it.
        target: Where the records are.
        interrupt: Counts the requests of a person to stop.
        concurrency: Calls under way at once.
        rate: Calls a second at most; None: as many as the run was applied with before.
        watch: Called with the rows that are done and all rows, in place of a progress bar.
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
    ) -> None:
        self.interrupt = interrupt
        self.rate = journal.read_last_rate() if rate is None else rate
        self._throttle = throttle = Throttle(concurrency, self.rate)
        self.state = RunState(journal, throttle, target.transport.retry, self._list_other_writes)
        self._journal, self._target = journal, target
        self._watch = watch
        past = [event.what for event in journal.events() if event.n is None]
        self._fresh, self.finished = not past, past[-1:] == ["finished"]
        self._reader = ThrottledReader(target.transport, throttle, self._must_stop)
        self._unproved: list[RunRow] = []  # those that were written, and are to be read back
        self._batch_size = BATCH  # the number of rows that are written before they are read back
        endpoints_of = cache(target.of)  # the same for all rows of one template code

        def row(n: int, change: Change) -> RunRow:
            endpoints = endpoints_of(change.code, change.noun)
            return RunRow(n, change, run=self.state, endpoints=endpoints)

        self.rows = replay_journal(journal, row)
        for each in self.rows:
            if each.key is not None:
                self.state.taken[each.endpoints.noun].add(each.key)

    def execute(self) -> None:
        """Send the rows that are not done, until all are or the run must stop."""
        left = sum(not row.done for row in self.rows)
        if not left and self.finished:
            return
        for row in self.rows:
            row.counted = row.done or row.state == "applied"
            if row.open and not row.done:
                row.mark_reopened()
        with Progress("changes", len(self.rows), self._watch) as self._progress:
            self._progress.add(sum(row.counted for row in self.rows))
            try:
                pace = {} if self.rate is None else {"rate": self.rate}
                self._journal.write(None, "started" if self._fresh else "resumed", **pace)
                for group in self._order_rows(left):
                    self._process_rows(group)
                    if self._must_stop():
                        break
                counted = sum(row.done or row.state == "applied" for row in self.rows)
                self._progress.add(counted - self._progress.done)  # in all, what is done
                done = self._note_duplicates() and all(row.done for row in self.rows)
                if not done and not self.state.stopped:
                    self.state.stopped = self._explain_unfinished()
                what, counts = "finished" if done else "stopped", count_states(self.rows)
                self._journal.write(None, what, reason=self.state.stopped, counts=counts)
                self._journal.commit()
            except JournalError as error:
                self.state.stopped = str(error)
            except Exception as error:  # what is known of the rows is worth more than a traceback
                logging.getLogger(__name__).exception("a run stopped")
                self.state.stopped = f"{type(error).__name__}: {error}"

    def _note_duplicates(self) -> bool:
        """Search for duplicates that creates made, where names are not unique.

        Returns:
            Whether all creates were searched for.
        """
        created: dict[str | None, list[RunRow]] = defaultdict(list)
        for row in self.rows:
            effective = row.change.kind == "create" and row.evidence in ("answered", "adopted")
            if effective and not row.duplicates and not row.endpoints.unique:
                created[row.change.noun].append(row)
        for rows in created.values():
            endpoints = rows[0].endpoints
            if self._must_stop():
                return False
            try:
                duplicates = Search(self._reader, endpoints).find_duplicates(rows, rows[0].taken)
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
                        f"it exists twice: {own} is this one; {', '.join(map(str, others))}, "
                        "with the same values, appeared at the same time (the network delivered "
                        "the request twice, or somebody else created it)"
                    )
                    row.write_event("doubled", also=others, reason=reason)
        return True

    def _explain_unfinished(self) -> str:
        """Return the reason for unfinished rows of a run that no error stopped."""
        if not self.interrupt.asked:
            return "some rows are not certain"
        if any(row.state in ("not sent", "unknown") for row in self.rows):
            return "you stopped it"
        return "you stopped it before what was written was read back"

    # --- the order of rows ----------------------------------------------------------

    def _order_rows(self, left: int) -> Iterator[list[RunRow]]:
        """Yield rows in the order to send them: deletes, updates, creates of each resource.

        An update that takes a number which another one gives away comes after that one: its
        group begins when all of the group before took effect. A long plan begins each kind with a
        few rows. Resources come one after the other, in the order of the plan's rows.
        """
        fresh = self._fresh and left > CANARY_FROM
        parts: dict[str | None, dict[Kind, list[RunRow]]] = {}
        for row in self.rows:
            if not row.done:
                parts.setdefault(row.change.noun, {}).setdefault(row.change.kind, []).append(row)
        for part in parts.values():
            for kind in KINDS:
                for group in _group_by_dependency(part[kind]) if kind in part else ():
                    if fresh and len(group) > CANARY:
                        yield group[:CANARY]
                        wrong = [r for r in group[:CANARY] if r.state in _NOT_AS_PLANNED]
                        if len(wrong) == CANARY or any(r.state == "differs" for r in wrong):
                            why = f"the first {CANARY} rows did not go as planned: "
                            self.state.stopped = self.state.stopped or why + wrong[0].reason
                    yield [row for row in group if not row.done]

    def _process_rows(self, rows: Iterable[RunRow]) -> None:
        """Send these rows and settle unknown outcomes, until nothing is left to do."""
        rows = list(rows)
        unknown = [row for row in rows if row.open]
        self._unproved += [row for row in rows if not row.open and row.state == "applied"]
        source = iter([row for row in rows if not row.open and row.state != "applied"])
        last = False
        while not last and not self._must_stop():
            ready = deque(islice(source, self._batch_size))
            last = not ready  # then what was written is read back, however little it is
            for row in ready:
                row.choose_stage()
            while (ready or unknown or (last and self._unproved)) and not self._must_stop():
                if last or len(self._unproved) >= self._batch_size:
                    self._read_back(ready)
                unknown += self._send_rows(ready)
                self.state.check_outage()
                if unknown and not self._must_stop():
                    unknown = self._resolve_unknown(unknown, ready)

    def _read_back(self, ready: deque[RunRow]) -> None:
        """Read back the written rows that no answer has proved, by pages where that saves calls.

        Rows that the list does not prove are added to `ready`, to be read alone.
        """
        parts = defaultdict[tuple[str | None, str | None], list[RunRow]](list)
        for row in self._unproved:
            parts[row.change.noun, row.change.code].append(row)
        self._unproved = []
        for part in parts.values():
            endpoints, records = part[0].endpoints, dict[object, Record]()
            if len(part) >= (PAGES_FROM if endpoints.paged else 2):
                with suppress(Stopped):
                    records, pages = read_records_by_pages(
                        self._reader, endpoints, {row.key for row in part}
                    )
                    self._batch_size = max(self._batch_size, 20 * pages)
            for row in part:
                if row.key not in records or not row.verify_listed(records[row.key]):
                    row.choose_stage()
                    ready.append(row)

    def _advance_progress(self, row: RunRow) -> None:
        """Advance the progress bar, once for each row that is done or only to be read back."""
        if not row.counted and (row.done or row.stage == "check"):
            row.counted = True
            self._progress.add(1)

    def _must_stop(self) -> bool:
        """Return whether no further call may be started."""
        return bool(self.state.stopped or self.interrupt.asked)

    # --- sending --------------------------------------------------------------------

    def _send_rows(self, ready: deque[RunRow]) -> list[RunRow]:
        """Send calls until no row is ready; return the rows of unknown outcome."""
        unknown: list[RunRow] = []
        in_flight: dict[int, RunRow] = {}
        warned = self.interrupt.quiet
        with self._target.transport.flight() as flight:
            while self.interrupt.asked < 2:
                if self.interrupt.asked and in_flight and not warned:
                    print_line(STOPPING)
                    warned = True
                self._dispatch(ready, flight, in_flight)
                if not in_flight:
                    if self._must_stop() or not ready or self.state.outage_suspected:
                        break
                    self.interrupt.sleep(self._throttle.seconds_until_free())
                    continue
                # not longer than until more may go out, or the run may have to stop
                wait = (
                    self._throttle.seconds_until_free() if ready and not self._must_stop() else 0.0
                )
                outcomes = flight.completed(min(wait, 0.2) or 0.2)
                self._throttle.completed(len(outcomes))
                for outcome in outcomes:
                    call = outcome.call if isinstance(outcome, Fault) else outcome[0]
                    row = in_flight.pop(id(call))
                    row.evaluate_outcome(outcome)
                    self._advance_progress(row)
                    if row.stage == "check":
                        self._unproved.append(row)
                    elif row.stage:
                        ready.appendleft(row)
                    elif row.open and not row.done and not row.abandoned:
                        row.since = time.monotonic()
                        unknown.append(row)
        for row in in_flight.values():
            if row.stage == "write":
                row.write_event("in doubt", reason="the run was stopped before its answer came")
        return unknown

    def _dispatch(self, ready: deque[RunRow], flight: Flight, in_flight: dict[int, RunRow]) -> None:
        """Send as many rows as the throttle allows: reads at once, writes after their intents."""
        if not ready or self._must_stop() or self.state.outage_suspected:
            return
        reads: list[tuple[RunRow, Call]] = []
        writes: list[tuple[RunRow, Call]] = []
        for _ in range(min(len(ready), self._throttle.free(flight.out))):
            row = ready.popleft()
            try:
                (writes if row.stage == "write" else reads).append((row, row.call()))
            except InputError as error:
                row.write_event("failed", reason=str(error))
                self._advance_progress(row)
        self._start_calls(reads, flight, in_flight)  # they wait for no disk
        for row, _ in writes:
            row.write_intent()
        if not writes or self.state.try_commit():
            self._start_calls(writes, flight, in_flight)
            return
        for row, _ in writes:
            row.apply_event("not sent", {"reason": self.state.stopped})

    def _start_calls(
        self, batch: list[tuple[RunRow, Call]], flight: Flight, in_flight: dict[int, RunRow]
    ) -> None:
        """Send the calls of rows, and note the row of each call in flight."""
        if batch:
            self._throttle.count_started(len(batch))
            in_flight.update((id(call), row) for row, call in batch)
            flight.start([call for _, call in batch])

    # --- what is unknown ------------------------------------------------------------

    def _resolve_unknown(self, unknown: list[RunRow], ready: deque[RunRow]) -> list[RunRow]:
        """Look at unknown rows: add those to send again to `ready`, return those that must wait."""
        if not self.state.try_commit():
            return unknown
        now = time.monotonic()
        for row in unknown:
            row.since = row.since or now
        new = [row for row in unknown if row.key is None]
        known = [row for row in unknown if row.key is not None]
        waiting = self._reconcile_creates(new, ready) if new else []
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

    def _reconcile_creates(self, new: list[RunRow], ready: deque[RunRow]) -> list[RunRow]:
        """Search for the records of unknown creates; return the rows that must still wait."""
        endpoints = new[0].endpoints
        resent = any(row.attempts > 1 for row in new)
        began = time.monotonic()
        waiting = []
        verdicts = Search(self._reader, endpoints).find_verdicts(new, new[0].taken, thorough=resent)
        creators: dict[str | None, str] = {}
        if endpoints.unique and any(each.what == "adopted" for each in verdicts.values()):
            creators = self._find_creators(endpoints)  # of two creates only one took effect
        for row in new:
            verdict = verdicts.get(row.n)
            if verdict is None:  # stopped
                continue
            name = endpoints.make_natural_name(row.change.after)
            if verdict.what == "adopted" and name in creators:
                key = getattr(verdict.record, endpoints.key)
                row.write_event("unchanged", reason=f"the run {creators[name]} made it", key=key)
            elif verdict.what == "adopted":
                row.adopt(getattr(verdict.record, endpoints.key), verdict.reason)
            elif verdict.what != "absent":
                row.mark_unclear(verdict.what, verdict.reason)
            elif began < row.due:
                waiting.append(row)
            elif row.mark_absent(proven=verdict.proven):
                row.choose_stage()
                ready.append(row)
            self._advance_progress(row)
        return waiting

    def _find_creators(self, endpoints: Endpoints[Any]) -> dict[str | None, str]:
        """Return by natural name which later run created a record, as far as journals tell."""
        planned = get_planned_time(self._journal.header)
        return {
            endpoints.make_natural_name(change.after): run
            for run, change in self._list_other_writes(endpoints.noun, planned)
            if change.kind == "create"
        }

    def _list_other_writes(self, noun: str, since: datetime) -> list[tuple[str, Change]]:
        """List what other runs have written since a time, oldest first, as far as journals tell."""
        header = self._journal.header
        changes, _ = read_changes_since(header.account, noun, since)
        return [(each.run, each.change) for each in changes if each.run != header.run]


def _group_by_dependency(rows: list[RunRow]) -> list[list[RunRow]]:
    """Group rows of a kind, so that a natural key is released before another row takes it."""
    released_by: dict[tuple[str | None, str], int] = {}
    requests: dict[int, tuple[str | None, str]] = {}
    endpoints = rows[0].endpoints
    names = (
        endpoints.list_name_fields() if rows[0].change.kind == "update" and endpoints.single else ()
    )
    for row in rows if names else ():
        change = row.change
        if change.after.keys().isdisjoint(names):
            continue
        old = endpoints.make_natural_name(change.before)
        new = endpoints.make_natural_name({**change.before, **change.after})
        if old is not None and new is not None and old != new:
            released_by[change.code, old] = row.n
            requests[row.n] = change.code, new
    waits = {n: [released_by[name]] for n, name in requests.items() if name in released_by}
    order = TopologicalSorter({row.n: waits.get(row.n, []) for row in rows})
    with suppress(CycleError):  # no plan has one: the rest goes last
        order.prepare()
    remaining = {row.n: row for row in rows}
    groups = []
    while ready := order.get_ready():
        order.done(*ready)
        groups.append([remaining.pop(n) for n in sorted(ready)])
    return [*groups, list(remaining.values())] if remaining else groups


# --- the stop button ------------------------------------------------------------------


class Interrupt:
    """Counter of the interrupts of a `with` block, in place of raising them.

    An exception could come between a change and its record. The first interrupt asks to stop,
    the second not to wait for answers either. Only the main thread hears them; from any other
    thread call `ask()`.

    Args:
        quiet: The caller explains what is waited for; nothing is printed here.
        within: An outer interrupt, whose requests to stop count here too.
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
            self._before = signal.signal(signal.SIGINT, self._handle_signal)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def ask(self) -> None:
        """Ask to stop, as the stop button does."""
        self._asked += 1

    def sleep(self, seconds: float) -> None:
        """Sleep until the time is over or an interrupt arrives."""
        end = time.monotonic() + seconds
        while not self.asked and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.1))

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        """Count a SIGINT as a request to stop."""
        self.ask()
