"""Apply: send the changes of a run so that what is reported of each is true.

Every row walks the same way: read what is there, compare, record the intent, send, record
what came of it, read it back where the answer does not prove it. Intents are durable before
the first byte of their calls is sent. What is in doubt is looked at before it is sent again.

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
from itertools import islice
from types import FrameType
from typing import Any, Literal, Protocol, Self

from chatkit.api.call import Call
from chatkit.api.record import Record
from chatkit.api.secret import Secret
from chatkit.api.throttle import Throttle
from chatkit.api.transport import Flight, Transport
from chatkit.bulk.changes import Kind
from chatkit.bulk.journal import Journal
from chatkit.bulk.outcomes import (
    ATTEMPTS,
    Judge,
    Row,
    RowStep,
    Taken,
    count_states,
    first_step,
    known_key,
    rows_of_journal,
)
from chatkit.bulk.reconcile import Pages, Search, Stopped, ThrottledReader
from chatkit.endpoints import Endpoints
from chatkit.errors import CallError, Fault, InputError, JournalError
from chatkit.util.progress import Progress, Watch, say

#: A plan of more rows begins with a few of them: what is wrong with all shows there.
CANARY_FROM, CANARY = 100, 5
#: The settle window (the retry policy in `chatkit.api.transport`): seconds until it is believed
#: that a lost change will not land any more. What the service itself keeps single may be sent
#: again at once: the later of two is refused.
SETTLE = 2.0
#: What nothing keeps single is sent again only when no service would still be at it: the
#: deadline of the call and this.
SETTLE_DUPLICABLE = 30.0


#: So many rows are written before they are read back, or twenty for each page of the list:
#: then reading back takes a twentieth of a call a row.
STRETCH = 1000
#: How records are read before they are written.
Gap = Literal["row", "page"]
#: What is sent first of a resource, and then.
KINDS: tuple[Kind, ...] = ("delete", "update", "create")
#: What has a list of its own: a resource, and of contents each template.
Listed = tuple[str, str | None]


class Desk(Protocol):
    """Where the records of a plan are: one resource, many templates, or a whole account."""

    @property
    def transport(self) -> Transport:
        """What sends the calls."""

    def of(self, code: str | None, noun: str | None = None) -> Endpoints[Any]:
        """Return the endpoints of a template code; those without codes return themselves.

        Args:
            code: The template code of a content.
            noun: Which resource, where the plan is for several.
        """

    def keep(self, written: Sequence[Sequence[str]], run: str) -> None:
        """Keep what the plan of a run has told of what it writes."""


class Run:
    """One run: the rows of a journal, on their way.

    Args:
        journal: Holds the changes, and what is known of them; it is written on.
        desk: Where the records are.
        throttle: How many at once, and how many a second.
        interrupt: Hears when a person wants to stop.
        watch: Called with the rows that are done and all rows, in place of a progress bar.
        settle: Seconds until it is believed that a lost change will not land any more.
        gap: How records are read before they are written: each "row" alone, or by "page".
    """

    def __init__(
        self,
        journal: Journal,
        desk: Desk,
        throttle: Throttle,
        interrupt: Interrupt,
        *,
        watch: Watch | None = None,
        settle: float | None = None,
        gap: Gap = "row",
    ) -> None:
        self.rows = rows_of_journal(journal)
        self._by_page = gap == "page"
        self._pages: dict[Listed, Pages] = {}
        self._read_at: dict[int, float] = {}  # when the record of a row was read
        self._counted = bytearray(len(self.rows))  # rows that the progress bar shows
        self._unproved: list[Row] = []  # those that were written, and are to be read back
        self.interrupt = interrupt
        self._watch = watch
        self._fresh = next(journal.events(), None) is None
        self._journal, self._desk, self._throttle, self._settle = journal, desk, throttle, settle
        header = journal.header
        taken: Taken = defaultdict(set, {noun: set(ids) for noun, ids in header.known_by.items()})
        taken[None].update(header.known)
        for row in self.rows:
            if row.key is not None:
                taken[row.change.noun].add(row.key)
        self._judge = Judge(journal, self._of, throttle, taken)
        self._since: dict[int, float] = {}  # when a row came into doubt

    @property
    def stopped(self) -> str:
        """Why the run stopped before all was done; empty if it did not."""
        return self._judge.stopped

    @property
    def secrets(self) -> dict[int | str, Secret]:
        """The signing secrets of the webhooks that this run has created, by id."""
        return self._judge.secrets

    def go(self) -> None:
        """Send what is to be sent, until all is done or the run must stop."""
        left = sum(not row.done for row in self.rows)
        if not left:
            return
        for row in self.rows:
            if not row.done:
                row.reopened()
        with Progress("changes", len(self.rows), self._watch) as self._progress:
            self._progress.add(len(self.rows) - left)
            try:
                self._journal.write(None, "started" if self._fresh else "resumed")
                for group in self._groups(left):
                    self._work(group)
                    if self._ended():
                        break
                self._tell_doubles()
                self._close()
            except JournalError as error:
                self._judge.stopped = str(error)
            except Exception as error:  # what is known of the rows is worth more than a traceback
                logging.getLogger(__name__).exception("a run stopped")
                self._judge.stopped = f"{type(error).__name__}: {error}"

    def _tell_doubles(self) -> None:
        """Tell which creates are there twice: nothing keeps their names single but the network."""
        created: dict[str | None, list[Row]] = defaultdict(list)
        for row in self.rows:
            sent = row.change.kind == "create" and row.done and row.evidence == "answered"
            if sent and not row.twins:
                created[row.change.noun].append(row)
        for rows in created.values():
            if not self._ended() and not self._of(rows[0]).unique:
                self._tell_doubles_of(rows)

    def _tell_doubles_of(self, made: list[Row]) -> None:
        """Tell which creates of one resource are there twice."""
        endpoints, judge = self._of(made[0]), self._judge
        try:
            twins = self._search(endpoints).doubles(made, judge.taken(made[0]))
        except CallError as error:
            say(f"Whether a {endpoints.noun} is there twice could not be read: {error.reason}.")
            return
        except Stopped:
            return
        for row in made:
            if row.n not in twins:
                continue
            own, *also = twins[row.n]
            if own != row.key:
                judge.adopt(row, own, f"it is {own}; its answer named another record, {row.key}")
            if also:
                said = (
                    f"it is there twice: {own} is this one; {', '.join(map(str, also))}, just "
                    "like it, appeared at the same time (the network delivered the request "
                    "twice, or somebody else made it)"
                )
                judge.note(row, "doubled", also=also, reason=said)

    def _close(self) -> None:
        done = all(row.done for row in self.rows)
        if not done and not self.stopped:
            self._judge.stopped = self._why_not_done()
        what = "finished" if done else "stopped"
        self._journal.write(None, what, reason=self.stopped, counts=count_states(self.rows))
        self._journal.commit()

    def _why_not_done(self) -> str:
        """Say why rows are left although nothing has stopped the run but a person, if at all."""
        if not self.interrupt.asked:
            return "some rows are not certain"
        if any(row.state in ("not sent", "unknown") for row in self.rows):
            return "you stopped it"
        return "you stopped it before what was written was read back"

    # --- the order of rows ----------------------------------------------------------

    def _groups(self, left: int) -> Iterator[list[Row]]:
        """Yield what deletes, what changes, what is new; in a long plan a few of each first.

        An update that takes a number which another one gives away comes after that one: its
        group begins when all of the group before have landed. The resources of a plan for an
        account come one after the other, in the order of its rows.
        """
        fresh = self._fresh and left > CANARY_FROM
        parts: dict[str | None, dict[Kind, list[Row]]] = {}
        for row in self.rows:
            if not row.done:
                parts.setdefault(row.change.noun, {}).setdefault(row.change.kind, []).append(row)
        for part in parts.values():
            for kind in KINDS:
                for group in self._in_order(part.get(kind, []), kind):
                    if fresh and len(group) > CANARY:
                        yield group[:CANARY]
                        self._check_canary(group[:CANARY])
                    yield [row for row in group if not row.done]

    def _in_order(self, rows: list[Row], kind: Kind) -> list[list[Row]]:
        """Part rows into groups, so that a natural key is given away before it is taken."""
        if kind != "update":
            return [rows] if rows else []
        gives: dict[tuple[str | None, str], int] = {}
        takes: dict[int, tuple[str | None, str]] = {}
        for row in rows:
            change, endpoints = row.change, self._of(row)
            if not endpoints.single or change.after.keys().isdisjoint(endpoints.named_by()):
                continue
            old, new = (
                endpoints.natural(f) for f in (change.before, {**change.before, **change.after})
            )
            if old is not None and new is not None and old != new:
                gives[change.code, old] = row.n
                takes[row.n] = change.code, new
        waits = {n: gives[name] for n, name in takes.items() if name in gives}
        depth: dict[int, int] = {}
        for start in waits:
            way: list[int] = []
            n = start
            while n in waits and n not in depth and n not in way:
                way.append(n)
                n = waits[n]
            for n in reversed(way):  # a ring, which no plan has, would begin anywhere
                depth[n] = 1 + depth.get(waits[n], 0)
        groups: list[list[Row]] = [[] for _ in range(1 + max(depth.values(), default=0))]
        for row in rows:
            groups[depth.get(row.n, 0)].append(row)
        return [group for group in groups if group]

    def _check_canary(self, first: list[Row]) -> None:
        """Stop if the canary, the first rows of a kind, did not go as planned."""
        odd = [row for row in first if row.state in ("failed", "differs", "unknown")]
        if len(odd) == len(first) or any(row.state == "differs" for row in odd):
            said = f"the first {len(first)} rows did not go as planned: {odd[0].reason}"
            self._judge.stopped = self._judge.stopped or said

    def _work(self, rows: Iterable[Row]) -> None:
        """Send these rows, and settle what is in doubt, until nothing is left to do."""
        doubtful = [row for row in rows if row.open]
        for ready in self._stretches([row for row in rows if not row.open]):
            last = not ready
            while (ready or doubtful or (last and self._unproved)) and not self._ended():
                if last or len(self._unproved) >= self._stretch:
                    self._read_back(ready)
                doubtful += self._send(ready)
                if self._judge.outage_suspected:
                    self._judge.check_outage()
                if doubtful and not self._ended():
                    doubtful = self._settled(doubtful, ready)
            if self._ended():
                break

    def _stretches(self, rows: list[Row]) -> Iterator[deque[RowStep]]:
        """Yield the first steps of rows, some at a time; at last none.

        Then, or when there are enough of them, those that were written are read back.
        """
        self._unproved += [row for row in rows if row.state == "applied"]
        left = [row for row in rows if row.state != "applied"]
        if self._by_page:
            for part in _by_list(left):
                yield from self._page_by_page(part)
            left = [row for row in left if not row.done and row.n not in self._read_at]
        steps = map(first_step, left)
        while ready := deque(islice(steps, self._stretch)):
            yield ready
        yield ready

    @property
    def _stretch(self) -> int:
        """How many rows are written before they are read back."""
        return max([STRETCH, *(20 * (pages.count or 0) for pages in self._pages.values())])

    def _page_by_page(self, rows: list[Row]) -> Iterator[deque[RowStep]]:
        """Yield steps for the rows whose records a list shows in full, a page at a time."""
        endpoints = self._of(rows[0])
        if endpoints.lists_deleted or (endpoints.repeats and endpoints.profile.put == "replace"):
            return  # there a list does not tell what a write does
        there: dict[object, Row] = {row.key: row for row in rows if row.change.kind != "create"}
        deleting = rows[0].change.kind == "delete"
        try:
            for found in self._pages_of(endpoints).just_before(there, deleting=deleting):
                now, steps = time.monotonic(), deque[RowStep]()
                whole = {key: each for key, each in found.items() if endpoints.whole(each)}
                if not whole:
                    return
                for key, record in whole.items():
                    row = there[key]
                    self._read_at[row.n] = now
                    if step := self._judge.compare(row, record):
                        steps.append(step)
                    elif row.done:
                        self._count(row)
                if steps:
                    yield steps
        except Stopped:
            return

    def _read_back(self, ready: deque[RowStep]) -> None:
        """Read what no answer has proved: by pages where that is fewer calls, else alone."""
        rows, self._unproved = self._unproved, []
        for part in _by_list(rows):
            pages = self._pages_of(self._of(part[0]))
            found: dict[object, Record] = {}
            if pages.fewer(len(part)):
                with suppress(Stopped):
                    found = pages.read({row.key for row in part})
            for row in part:
                if row.key not in found or not self._judge.proved(row, found[row.key]):
                    ready.append(RowStep(row, "check"))

    def _count(self, row: Row) -> None:
        """Let a row be seen in the progress bar, once."""
        if not self._counted[row.n]:
            self._counted[row.n] = True
            self._progress.add(1)

    def _pages_of(self, endpoints: Endpoints[Any]) -> Pages:
        of = endpoints.noun, endpoints.code
        if of not in self._pages:
            self._pages[of] = Pages(self._reader(), endpoints)
        return self._pages[of]

    def _ended(self) -> bool:
        return bool(self.stopped or self.interrupt.asked)

    def _of(self, row: Row) -> Endpoints[Any]:
        return self._desk.of(row.change.code, row.change.noun)

    # --- sending --------------------------------------------------------------------

    def _send(self, ready: deque[RowStep]) -> list[Row]:
        """Keep calls in flight until nothing is ready; return the rows that are in doubt."""
        doubtful: list[Row] = []
        in_flight: dict[int, tuple[RowStep, Call]] = {}
        told = self.interrupt.quiet
        with self._desk.transport.flight() as flight:
            while self.interrupt.asked < 2:
                if self.interrupt.asked and in_flight and not told:
                    say("Stopping: waiting for what is under way. Interrupt again to not wait.")
                    told = True
                self._dispatch(ready, flight, in_flight)
                if not in_flight:
                    if self._ended() or not ready or self._judge.outage_suspected:
                        break
                    self.interrupt.sleep(self._throttle.wait())
                    continue
                # not longer than until more may go out, or the run may have to stop
                wait = self._throttle.wait() if ready and not self._ended() else 0.0
                landed = flight.landed(min(wait, 0.2) or 0.2)
                self._throttle.landed(len(landed))
                for outcome in landed:
                    call = outcome.call if isinstance(outcome, Fault) else outcome[0]
                    step, _ = in_flight.pop(id(call))
                    doubtful += self._landed(step, outcome, ready)
        for step, _ in in_flight.values():
            if step.stage == "write":
                self._judge.note(step.row, "in doubt", reason="its answer was not waited for")
        return doubtful

    def _landed(self, step: RowStep, outcome: Any, ready: deque[RowStep]) -> list[Row]:
        """Have an outcome judged; return its row if that is in doubt now."""
        row = step.row
        following = self._judge.landed(step, outcome)
        if step.stage == "read":
            self._read_at[row.n] = time.monotonic()
        if following and following.stage == "check":
            self._unproved.append(row)
            self._count(row)
        elif following:
            ready.appendleft(following)
        elif row.done:
            self._count(row)
        elif row.open and row.n not in self._judge.given_up:
            self._since[row.n] = time.monotonic()
            return [row]
        return []

    def _dispatch(
        self, ready: deque[RowStep], flight: Flight, in_flight: dict[int, tuple[RowStep, Call]]
    ) -> None:
        """Dispatch as many rows as may go out now: reads at once, writes after their intents."""
        if not ready or self._ended() or self._judge.outage_suspected:
            return
        reads: list[tuple[RowStep, Call]] = []
        writes: list[tuple[RowStep, Call]] = []
        for _ in range(min(len(ready), self._throttle.free(flight.out))):
            step = ready.popleft()
            try:
                call = self._call(step)
                call.content()
                (writes if step.stage == "write" else reads).append((step, call))
            except InputError as error:
                self._judge.note(step.row, "failed", reason=str(error))
                self._count(step.row)
        self._start(reads, flight, in_flight)  # they wait for no disk
        now = time.monotonic()
        for (row, _, record), _ in writes:
            held = {} if record is None else self._judge.held(row, record)
            if row.n in self._read_at:
                held["checked_ago"] = round(now - self._read_at[row.n], 3)
            self._judge.note(row, "intent", attempt=row.attempts + 1, **held)
        if writes and not self._committed():
            for (row, _, _), _ in writes:
                row.feed("not sent", {"reason": self.stopped})
            return
        self._start(writes, flight, in_flight)

    def _start(
        self,
        batch: list[tuple[RowStep, Call]],
        flight: Flight,
        in_flight: dict[int, tuple[RowStep, Call]],
    ) -> None:
        self._throttle.took(len(batch))
        in_flight.update((id(call), (step, call)) for step, call in batch)
        flight.start(call for _, call in batch)

    def _committed(self) -> bool:
        """Make what was noted durable. If that fails, nothing more is sent."""
        try:
            self._journal.commit()
        except JournalError as error:
            self._judge.stopped = str(error)
        return not self.stopped

    def _call(self, step: RowStep) -> Call:
        row, endpoints = step.row, self._of(step.row)
        if step.stage == "write" and row.change.kind == "create":
            return endpoints.create_call(row.change.after)
        key = known_key(row.key)
        if step.stage == "look":
            live = row.live if step.record is None else endpoints.sendable(step.record)
            return endpoints.look_call(key, live or {})
        if step.stage != "write":
            return endpoints.get_call(key)
        if row.change.kind == "delete":
            return endpoints.delete_call(key)
        return endpoints.update_call(key, {**endpoints.carried(step.record), **row.change.after})

    # --- what is in doubt -----------------------------------------------------------

    def _settled(self, doubtful: list[Row], ready: deque[RowStep]) -> list[Row]:
        """Look at what is in doubt: it is done, or ready once more, or must still settle."""
        if not self._committed():
            return doubtful
        now = time.monotonic()
        for row in doubtful:
            self._since.setdefault(row.n, now)
        due = {row.n: self._since[row.n] + self._settling(row) for row in doubtful}
        new = [row for row in doubtful if row.key is None]
        known_ones = [row for row in doubtful if row.key is not None]
        waiting = self._look_for(new, ready, due) if new else []
        for row in known_ones:
            if now < due[row.n]:
                waiting.append(row)
            else:
                ready.appendleft(RowStep(row, "read"))
        if waiting and not ready:
            self._wait_until(min(due[row.n] for row in waiting), len(waiting))
        return waiting

    def _wait_until(self, moment: float, rows: int) -> None:
        seconds = moment - time.monotonic()
        if seconds > 5:
            say(f"Waiting {seconds:.0f} s: {rows} lost changes may still land until then.")
        self.interrupt.sleep(seconds)

    def _look_for(self, new: list[Row], ready: deque[RowStep], due: dict[int, float]) -> list[Row]:
        """Look for the records of creates; return the rows that must still settle."""
        endpoints, judge = self._of(new[0]), self._judge
        again = any(row.attempts > 1 for row in new)
        began = time.monotonic()
        waiting = []
        search = self._search(endpoints)
        verdicts = search.look(new, judge.taken(new[0]), thorough=again, clashed=judge.clashed)
        for row in new:
            verdict = verdicts.get(row.n)
            if verdict is None:  # stopped
                continue
            if verdict.what == "adopted":
                judge.adopt(row, getattr(verdict.record, endpoints.key), verdict.reason)
            elif verdict.what != "absent":
                judge.unclear(row, verdict.what, verdict.reason)
            elif began < due[row.n]:
                waiting.append(row)
            elif judge.absent(row, proven=verdict.proven):
                ready.append(first_step(row))
            if row.done:
                self._count(row)
        return waiting

    def _search(self, endpoints: Endpoints[Any]) -> Search:
        return Search(self._reader(), endpoints)

    def _reader(self) -> ThrottledReader:
        return ThrottledReader(self._desk.transport, self._throttle, self._ended)

    def _settling(self, row: Row) -> float:
        """Seconds until a row that is not there is believed not to land any more."""
        if self._settle is not None:
            return self._settle
        if row.change.kind != "create":
            return SETTLE
        if not row.doubted:  # it was refused as one that is there: what was answered is not late
            return 0.0
        last = row.attempts >= ATTEMPTS  # after it, nobody looks again
        unique = self._of(row).unique and not last
        return 0.0 if unique else self._desk.transport.deadline + SETTLE_DUPLICABLE


def _by_list(rows: Iterable[Row]) -> list[list[Row]]:
    """Part rows by the list that their records are in."""
    parts: dict[tuple[str | None, str | None], list[Row]] = {}
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
        """How often it was asked to stop."""
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
