"""Outcomes: what an answer, or its absence, means for a row, and what is sent next for it.

A row is one change of a run: the fold of what its journal says of it. A step is a row with the
call that is sent for it next. The judge notes in the journal what the outcome of a step means.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cache
from itertools import chain
from typing import Any, Literal, NamedTuple, get_args, get_origin

from chatkit.api.answer import Envelope
from chatkit.api.call import Call
from chatkit.api.record import Body
from chatkit.api.secret import Secret
from chatkit.api.throttle import Throttle
from chatkit.bulk.changes import Change
from chatkit.bulk.journal import Journal
from chatkit.bulk.stores import kept_runs, known_stores
from chatkit.endpoints import ACCOUNT, Endpoints
from chatkit.errors import (
    BadAnswer,
    CallError,
    Conflict,
    Fault,
    JournalError,
    NotAuthenticated,
    NotFound,
    NotPermitted,
    RateLimited,
    Refused,
    Unreachable,
)
from chatkit.util.display import values

#: So many refusals one after the other stop a run.
REFUSALS = 10
#: So many doubts one after the other pause it, to look whether anything lands at all.
DOUBTS = 20
#: So often one row is sent, or read in vain (the retry policy in `chatkit.api.transport`).
ATTEMPTS = 5


# --- rows: what a journal says of each ------------------------------------------------

State = Literal[
    "applied", "differs", "unchanged", "skipped", "conflict", "failed", "unknown", "not sent"
]
#: Events after which nothing more is to be done for a row.
_LAST = frozenset(
    {"adopted", "verified", "unchecked", "doubled", "differs", "unchanged", "conflict", "failed"}
)


class Row:
    """One change of a run. The same fold serves a run that goes on and one that is read again.

    `open` says that something was sent whose outcome nobody knows: such a row is never sent
    again before somebody has looked. `doubted` says that this was ever so: a refusal may then
    be the answer to a duplicate of our own request, which has landed.
    """

    __slots__ = (
        *("after", "attempts", "change", "checked_ago", "done", "doubted", "evidence", "key"),
        *("live", "n", "open", "reason", "seen", "state", "twins"),
    )

    def __init__(self, n: int, change: Change) -> None:
        self.n = n
        self.change = change
        self.key = change.key
        self.attempts = 0
        self.state: State = "not sent"
        self.reason = ""
        #: How we know that it landed: answered, read back, adopted. "gone": it met a 404 to its
        #: delete, so somebody else deleted it, or the network delivered our request twice.
        self.evidence = ""
        self.checked_ago: float | None = None  #: how old its last look was at the write, seconds
        self.live: dict[str, Any] | None = None  #: what could be sent, as it was before the write
        self.after: dict[str, Any] | None = None  #: what read back, where that is not what was sent
        self.seen: str | None = None  #: its updated_at just before the write
        self.twins: list[int] = []  #: records just like it that appeared beside its own
        self.open = False
        self.doubted = False
        self.done = False
        if change.kind == "skip":  # decided when it was planned: nothing is ever sent for it
            self.done, self.state, self.reason = True, "skipped", why_kept(change)

    def feed(self, what: str, detail: dict[str, Any]) -> None:
        """Take in one event of the journal."""
        self.reason = detail.get("reason", "")
        self.done = what in _LAST or (what == "answered" and self.change.kind != "update")
        match what:
            case "intent":
                self.attempts = detail["attempt"]
                self.live = detail.get("live", self.live)
                self.seen = detail.get("seen")
                self.checked_ago = detail.get("checked_ago")
                self.open, self.state = True, "unknown"
                self.reason = "nobody has seen an answer"
            case "in doubt":
                self.open = self.doubted = True
                self.state = "unknown"
            case "clashed":  # refused as if it were there already: perhaps it came twice
                self.open, self.state = True, "unknown"
            case "not sent" | "absent":
                if what == "not sent" and self.open:  # the service has not seen it
                    self.attempts -= 1
                self.open, self.state = False, "not sent"
            case "answered" | "adopted":
                self.open, self.state = False, "applied"
                self.key = detail.get("key", self.key)
                self.evidence = what
            case "unchecked":
                pass
            case "doubled":
                self.twins = detail["also"]
            case "verified":
                self.state, self.evidence = "applied", "read back"
            case "differs" | "unchanged" | "conflict" | "failed":
                self.open, self.state = False, what
                self.after = detail.get("live")
                self.evidence = detail.get("evidence", self.evidence)
            case _:
                raise JournalError(
                    f"The journal has an event {what!r:.40}, which this version of chatkit does "
                    "not know: use the version that wrote it."
                )

    def reopened(self) -> None:
        """Take note that the process which sent it has ended: an intent alone is a doubt."""
        self.doubted = self.doubted or self.open


def why_kept(change: Change) -> str:
    """Say what a skipped row leaves as it is, with both values."""
    said = [
        f"{name} is {values(change.before[name]) if name in change.before else 'not shown'}, "
        f"the row says {values(value)}"
        for name, value in change.after.items()
    ]
    return f"it exists and is kept: {'; '.join(said)}"


def rows_of_journal(journal: Journal) -> list[Row]:
    """Return the rows of a journal in the state that its events tell."""
    rows = [Row(n, change) for n, change in enumerate(journal.changes())]
    for event in journal.events():
        if event.n is not None:
            rows[event.n].feed(event.what, event.detail)
        elif event.what == "resumed":
            for row in rows:
                row.reopened()
    return rows


class Landed(NamedTuple):
    """A change that landed: by which run, and when the last was heard of it."""

    run: str
    at: str  #: ISO 8601, UTC
    by: str  #: who began the run; empty where the journal does not tell
    change: Change


def landed_since(account: str, noun: str, since: datetime) -> tuple[list[Landed], set[str]]:
    """Read in the journals what was changed since a time, the earliest first.

    Journals are read in the data folder of this user and where CHATKIT_RUNS says. Runs that
    `apply(at=…)` keeps elsewhere are not seen, nor what others, or the service itself, changed.
    A journal that is damaged tells nothing here; `chatkit.runs()` lists it.

    Args:
        account: Which account, in the words of a journal's header.
        noun: What its records are.
        since: With an offset.

    Returns:
        The changes, and the names of all runs that the journals tell of, of those before, too.
    """
    found, runs = [], set()
    for run in chain.from_iterable(map(kept_runs, known_stores())):
        header, last = run.header, run.last
        if header is None or header.account != account or header.noun not in (noun, ACCOUNT):
            continue
        ended = last is not None and last.what in ("finished", "stopped") and last.at
        if ended and datetime.fromisoformat(ended) < since:
            runs.add(header.run)
            continue  # none of its rows came later: it need not be read
        try:
            with run.read() as kept:
                times = {event.n: event.at for event in kept.events()}
                rows = rows_of_journal(kept)
        except JournalError:
            continue
        runs.add(header.run)
        found += [
            Landed(header.run, times[row.n], header.by, row.change)
            for row in rows
            if row.change.noun in (None, noun)
            and row.state in ("applied", "differs")
            and datetime.fromisoformat(times[row.n]) >= since
        ]
    return sorted(found, key=lambda each: (each.at, each.run)), runs


def count_states(rows: Iterable[Row]) -> dict[str, int]:
    """Count the rows in each state."""
    return dict(Counter(row.state for row in rows))


# --- what is sent next for a row ------------------------------------------------------

#: A row is read, written, and checked if the answer proves nothing. A write that met a 404
#: looks again: some services say 404 for what a token may not do. So does a delete whose
#: record was read where the service shows deleted ones too.
Stage = Literal["read", "write", "check", "look"]


class RowStep(NamedTuple):
    """A row and what is sent for it next."""

    row: Row
    stage: Stage
    record: Any = None  #: what was read, for a write, or for a look before it


def first_step(row: Row) -> RowStep:
    """Tell where a row begins: a create is sent at once, unless its key can be read before."""
    if row.state == "applied":
        return RowStep(row, "check")
    new = row.change.kind == "create" and row.change.key is None
    return RowStep(row, "write" if new else "read")


def known_key(key: int | str | None) -> int | str:
    """Return a key that must be there: only a record that is still to be made has none."""
    if key is None:
        raise LookupError("a record that was never made cannot be read")
    return key


# --- what an answer means -------------------------------------------------------------


#: Keys of records by the noun of a change, which is None where the plan has one for all.
Taken = defaultdict[str | None, set[object]]


class Judge:
    """Notes in the journal what outcomes mean, and stops a run that should not go on.

    Args:
        journal: What is written on.
        of: Returns the endpoints of a row.
        throttle: What is slowed down when the service asks for it.
        taken: Keys of records that no create in doubt may adopt, by the noun of the change.
    """

    def __init__(
        self,
        journal: Journal,
        of: Callable[[Row], Endpoints[Any]],
        throttle: Throttle,
        taken: Taken,
    ) -> None:
        self.stopped = ""  #: why the run must stop
        self.secrets: dict[int | str, Secret] = {}
        self._taken = taken
        self.given_up: set[int] = set()  #: rows that could not be read, for this time
        self._journal, self._of, self._throttle = journal, of, throttle
        self._failed_reads: dict[int, int] = {}
        #: Refusals of rows that may have landed before.
        self._maybe_duplicates: dict[int, Refused] = {}
        self._sent_before: dict[int, int] = {}  # how often a row was sent by earlier processes
        self._refused = self._doubts = self._outages = self._unreached = 0
        self._last_doubt = ""

    @property
    def outage_suspected(self) -> bool:
        """Whether so many rows one after the other are in doubt that it may be an outage."""
        return self._doubts >= DOUBTS

    def check_outage(self) -> None:
        """After a suspected outage, go on only if anything has landed since the one before."""
        self._doubts = 0
        self._outages += 1
        if self._outages == 3:
            self.stopped = f"the service does not answer as it should: {self._last_doubt}"

    def held(self, row: Row, record: Any) -> dict[str, Any]:
        """Return what an intent keeps of a record: all that an undo needs."""
        return {"live": self._of(row).sendable(record), "seen": _stamp(record)}

    def note(self, row: Row, what: str, **detail: Any) -> None:
        """Feed a row and write it down. A journal that cannot be written stops the run."""
        row.feed(what, detail)
        try:
            self._journal.write(row.n, what, **detail)
        except JournalError as error:
            self.stopped = str(error)

    def adopt(self, row: Row, key: int | str | None, reason: str = "") -> None:
        """Note that a row whose answer was lost has landed."""
        self._take(row, key)
        lost = self._of(row).lost if row.change.kind == "create" else ""
        said = [reason or "the answer was lost, it has landed", *filter(None, [lost])]
        self.note(row, "adopted", key=key, reason="; ".join(said))
        self._went_well()

    def taken(self, row: Row) -> set[object]:
        """Return the keys that no create in doubt of the same resource may adopt."""
        return self._taken[row.change.noun]

    def _take(self, row: Row, key: int | str | None) -> None:
        """Note whose record it is that a create has made; those of others are known."""
        if row.change.kind == "create":
            self.taken(row).add(key)

    @property
    def clashed(self) -> frozenset[int]:
        """The rows that were refused because such a record is there, perhaps their own."""
        return frozenset(self._maybe_duplicates)

    def absent(self, row: Row, *, proven: bool = True) -> bool:
        """Note that a row in doubt has not landed; tell whether it may be sent again.

        Args:
            row: What was looked for.
            proven: Whether it is sure that it is not there. Where no read tells, sending again
                does; in the end it stays unknown.
        """
        before = self._sent_before.setdefault(row.n, row.attempts - 1)
        if row.n in self._maybe_duplicates and proven:  # no duplicate: refused for good
            self._refuse(row, self._maybe_duplicates[row.n])
        elif not proven and row.attempts - before >= ATTEMPTS:
            said = f"sent {row.attempts} times, and this service does not show whether it landed"
            self.unclear(row, "unknown", said)
            return False
        elif proven and row.attempts >= ATTEMPTS:
            self.note(row, "failed", reason=f"sent {row.attempts} times, and it never landed")
        else:
            self.note(row, "absent", reason="it had not landed")
        return not row.done

    # --- what came back -------------------------------------------------------------

    def landed(self, step: RowStep, outcome: tuple[Call, Envelope] | Fault) -> RowStep | None:
        """Note what an outcome means for its row; return what is to be sent next for it."""
        if isinstance(outcome, Fault):
            return self._fault(step, outcome.error)
        self._unreached = 0
        call, envelope = outcome
        try:
            match step.stage:
                case "read":
                    record = self._of(step.row).read(call, envelope, known_key(step.row.key))
                    return self.compare(step.row, record)
                case "write":
                    return self._answered(step.row, call, envelope)
                case "check":
                    self._check(step.row, call, envelope)
                case "look":
                    return self._there(step, call, envelope)
            return None
        except CallError as error:
            return self._fault(step, error)

    def compare(self, row: Row, record: Any) -> RowStep | None:
        """Hold what is there against what the plan saw and what it wants: three ways.

        Returns what is to be sent next for the row.
        """
        change, endpoints = row.change, self._of(row)
        live = documented(endpoints, endpoints.sendable(record))
        wanted = documented(endpoints, change.after)
        stamp = _stamp(record)
        shown = {n: value for n, value in wanted.items() if n in live}
        there = change.kind != "delete" and all(agrees(live[n], shown[n]) for n in shown)
        sent = row.doubted or row.open
        if there and row.doubted and len(shown) < len(wanted) and stamp != row.seen:
            said = "the answer was lost; updated_at has moved since, by this or by somebody else"
            self.adopt(row, row.key, said)
        elif there and len(shown) == len(wanted):
            if sent:
                said = "the service said that it is there already: ours, delivered twice"
                self.adopt(row, row.key, "" if row.doubted else said)
            else:
                self.note(row, "unchanged", reason="it is so already")
        elif change.kind == "create":
            self.note(row, "conflict", reason="somebody made it meanwhile", live=live)
        elif moved := self._moved(row, stamp, live):
            self.note(row, "conflict", reason=moved, live=live)
        elif change.kind == "delete" and endpoints.reads_deleted:  # which may be deleted already
            return RowStep(row, "look", record)
        elif not row.doubted or self.absent(row):
            return RowStep(row, "write", record)
        return None

    def _moved(self, row: Row, stamp: str | None, live: dict[str, Any]) -> str:
        """Say which of the fields at stake somebody else has changed since the plan."""
        change = row.change
        endpoints = self._of(row)
        held = documented(endpoints, row.live or {} if row.doubted else change.before)
        known = documented(endpoints, change.before)
        moved = [n for n in known if n in live and not agrees(live[n], held.get(n))]
        if moved:
            said = [f"{n} was {held.get(n)!r:.60} and is {live[n]!r:.60}" for n in moved]
            said[-1] += f"; you want {change.after[moved[-1]]!r:.60}" if change.after else ""
            return "somebody else changed it: " + ", ".join(said)
        hidden = any(n not in live for n in change.after)
        if hidden and not row.doubted and change.seen and stamp not in (None, change.seen):
            return f"somebody else changed it: updated_at was {change.seen} and is {stamp}"
        return ""

    def _answered(self, row: Row, call: Call, envelope: Envelope) -> RowStep | None:
        """A success: note the key, and whether the answer proves what was sent."""
        endpoints, change = self._of(row), row.change
        try:
            record = endpoints.one(call, envelope.data)
        except BadAnswer:  # nothing, or another shape
            record = None
        key = row.key
        if change.kind == "create":
            told = record is not None and not endpoints.chosen
            key = (
                getattr(record, endpoints.key)
                if told
                else endpoints.key_of(call, envelope, change.after)
            )
            if not endpoints.chosen and key in self.taken(row):
                raise BadAnswer(call, f"the answer is about a {endpoints.noun} that was there")
        if record is not None:
            endpoints.same_key(call, getattr(record, endpoints.key), known_key(key))
        self._take(row, key)
        self.note(row, "answered", key=key)
        self._keep_secret(row, record)
        self._went_well()
        if change.kind == "delete":
            return None
        only_key = record is None or record.model_fields_set <= {endpoints.key}
        there = {} if only_key else endpoints.shown(record)
        wanted = change.after
        was = change.before.get(endpoints.key)
        if change.kind == "create" and was not in (None, key):  # an undo brings back
            self.note(row, "differs", reason=f"it came back as {key}, not as {was}", live=there)
            return None
        if change.kind == "create" or all(n in there for n in wanted):
            self._hold_against(row, there, proves=change.kind == "update")
            return None
        return RowStep(row, "check")

    def _hold_against(self, row: Row, there: dict[str, Any], *, proves: bool) -> None:
        """Hold what was read, or answered, against what was sent."""
        endpoints = self._of(row)
        wanted = documented(endpoints, row.change.after)
        same = documented(endpoints, there)
        odd = [n for n in wanted if n in same and not agrees(same[n], wanted[n])]
        if odd:
            said = ", ".join(f"{n} is {there[n]!r:.60}, not {wanted[n]!r:.60}" for n in odd)
            live = {n: there[n] for n in wanted if n in there}
            self.note(row, "differs", reason=f"it reads back otherwise: {said}", live=live)
        elif proves and all(n in there for n in wanted):
            self.note(row, "verified")
        elif proves:
            hidden = ", ".join(n for n in wanted if n not in there)
            self.note(row, "unchecked", reason=f"the service does not show {hidden}")

    def proved(self, row: Row, record: Any) -> bool:
        """Note that a row has landed if a record, read from a list, shows all that was sent.

        One that shows less, or anything else, proves nothing: it is to be read alone.
        """
        endpoints = self._of(row)
        wanted = documented(endpoints, row.change.after)
        there = documented(endpoints, endpoints.sendable(record))
        if not all(n in there and agrees(there[n], wanted[n]) for n in wanted):
            return False
        self.note(row, "verified")
        return True

    def _keep_secret(self, row: Row, record: Any) -> None:
        """Keep a signing secret in memory, for the person: it is never shown again."""
        secret = getattr(record, "webhook_secret", None)
        if isinstance(secret, Secret) and row.change.kind == "create":
            self.secrets[known_key(row.key)] = secret

    def _check(self, row: Row, call: Call, envelope: Envelope) -> None:
        """Hold what reads back against what was sent."""
        endpoints = self._of(row)
        record = endpoints.read(call, envelope, known_key(row.key))
        self._hold_against(row, endpoints.sendable(record), proves=True)

    def _there(self, step: RowStep, call: Call, envelope: Envelope) -> RowStep | None:
        """Tell whether a record is there that met a 404, or that a service shows when deleted."""
        row, endpoints = step.row, self._of(step.row)
        held = endpoints.holds(call, envelope, known_key(row.key))
        if held is False:
            self._gone(row)
        elif step.record is not None:  # it is not sent yet, or in doubt
            if not row.doubted or self.absent(row, proven=held is True):
                return RowStep(row, "write", step.record)
        elif held is None and endpoints.profile.forbidden_status != 404:
            self._gone(row)  # nothing else is a 404
        elif held is None:
            said = "404: it is deleted, or the token may not do this; this service does not tell"
            self.unclear(row, "unknown", said)
        elif row.doubted:
            self._doubt(row, "404, although it is there")
        else:
            self._fail(row, "404, although it is there: may the token do this?")
        return None

    def _gone(self, row: Row) -> None:
        if row.change.kind != "delete":
            shown = self._of(row).lists_deleted and not row.open
            said = "it is deleted; this service lists deleted ones too"
            self.note(row, "conflict", reason=said if shown else "somebody deleted it meanwhile")
        elif row.doubted:
            self.adopt(row, row.key)
        elif row.open:  # it was read, and our request, which was answered, met a 404
            reason = (
                "it is gone already: it was there just before, and the delete was answered with "
                "404. Somebody else deleted it, unless the network delivered the request twice"
            )
            self.note(row, "unchanged", reason=reason, evidence="gone")
        else:
            self.note(row, "unchanged", reason="it was gone already")

    # --- what went wrong ------------------------------------------------------------

    def _fault(self, step: RowStep, error: CallError) -> RowStep | None:
        row, reason = step.row, error.reason
        writing = step.stage == "write"
        match error:
            case Unreachable() | RateLimited():
                if writing:
                    self.note(row, "not sent", reason=reason)
                self._hold(error)
                return first_step(row)
            case NotAuthenticated() | NotPermitted():
                if writing:
                    self.note(row, "not sent", reason=reason)
                self.stopped = f"{reason}. {error.advice}" if error.advice else reason
            case Refused() if step.stage in ("read", "look"):
                return self._unreadable(row, error)
            case NotFound() if writing and row.change.kind != "create":
                return RowStep(row, "look")
            case Refused() if writing and row.doubted:
                self._maybe_duplicates[row.n] = error
                self._doubt(row, f"refused, perhaps as a duplicate of our own request: {reason}")
            case Refused() if writing and self._clashes(row, error):
                self._maybe_duplicates[row.n] = error
                said = f"refused, perhaps because the network delivered it twice: {reason}"
                self.note(row, "clashed", reason=said)
            case Refused() if writing:
                self._refuse(row, error)
            case _ if writing:
                self._doubt(row, reason.split("\n")[0])
            case _:
                return self._read_again(step, reason)
        return None

    def _unreadable(self, row: Row, error: Refused) -> RowStep | None:
        """A record that cannot be read before it is written: most often it is not there."""
        if not isinstance(error, NotFound) and (row.doubted or row.open):
            self.unclear(row, "unknown", f"it could not be read: {error.reason}")
        elif not isinstance(error, NotFound):
            self.note(row, "failed", reason=f"it could not be read: {error.reason}")
        elif row.change.kind != "create":
            self._gone(row)
        elif not (row.doubted or row.open) or self.absent(row):
            return RowStep(row, "write")
        return None

    def _clashes(self, row: Row, error: Refused) -> bool:
        """Whether a refusal of a create says that such a record is there already."""
        endpoints = self._of(row)
        profile = endpoints.profile
        told = {409, profile.clash_status}
        if endpoints.chosen and profile.duplicate_content == "invalid":
            told.add(profile.validation_status)
        return row.change.kind == "create" and error.status in told

    def _refuse(self, row: Row, error: Refused) -> None:
        if isinstance(error, Conflict):
            self.note(row, "conflict", reason=error.reason)
        else:
            self._fail(row, error.reason)

    def _fail(self, row: Row, reason: str) -> None:
        self.note(row, "failed", reason=reason)
        self._refused += 1
        if self._refused == REFUSALS:
            self.stopped = f"{REFUSALS} rows in a row were refused, the last: {reason}"

    def _doubt(self, row: Row, reason: str) -> None:
        self.note(row, "in doubt", reason=reason)
        self._doubts += 1
        self._last_doubt = reason

    def unclear(self, row: Row, what: str, reason: str) -> None:
        """Note that looking did not help: it is another's, or nobody can tell."""
        if what == "conflict":
            refusal = (
                f"{self._maybe_duplicates[row.n].reason}; "
                if row.n in self._maybe_duplicates
                else ""
            )
            self.note(row, "conflict", reason=refusal + reason)
        else:
            self.given_up.add(row.n)
            self.note(row, "in doubt", reason=reason)

    def _went_well(self) -> None:
        self._refused = self._doubts = self._outages = 0

    def _read_again(self, step: RowStep, reason: str) -> RowStep | None:
        tries = self._failed_reads[step.row.n] = self._failed_reads.get(step.row.n, 0) + 1
        if tries < ATTEMPTS:
            return step
        if step.stage == "check":  # it has landed, which is what counts
            said = f"it could not be read back: {reason}"
            self.note(step.row, "unchecked", reason=said)
            return None
        self.given_up.add(step.row.n)
        step.row.reason = f"it could not be read: {reason}"
        return None

    def _hold(self, error: CallError) -> None:
        """Wait, or stop: the service cannot be reached, or asks for a pause."""
        if isinstance(error, RateLimited):
            wait = error.retry_after or 1.0
            if wait > self._throttle.patience:
                self.stopped = f"the service asks to wait {wait:.0f} s: resume the run then"
            self._throttle.hold(wait)
            return
        self._unreached += 1
        self._throttle.hold(0.5)
        if self._unreached > 2 * self._throttle.concurrency:
            self.stopped = f"the service cannot be reached: {error.reason}"


def _stamp(record: Any) -> str | None:
    moment = getattr(record, "updated_at", None)
    return None if moment is None else str(moment.isoformat())


# --- what was read, and what was meant ------------------------------------------------

_NOTHING: tuple[object, ...] = (None, "", [], {})


def agrees(live: object, wanted: object) -> bool:
    """Whether a value that was read is the one that was meant.

    Nothing is nothing, whether null, empty text or an empty list; an object may have more
    fields than were sent, as long as nothing is in them.
    """
    if isinstance(live, bool) or isinstance(wanted, bool):
        return live is wanted
    if not live and not wanted:
        return (live in _NOTHING and wanted in _NOTHING) or live == wanted
    if isinstance(live, Mapping) and isinstance(wanted, Mapping):
        return all(agrees(live.get(name), wanted.get(name)) for name in {*live, *wanted})
    if isinstance(live, list) and isinstance(wanted, list):
        return len(live) == len(wanted) and all(map(agrees, live, wanted))
    return live == wanted


def documented(endpoints: Endpoints[Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Keep of a record what the API document lists: only that is compared.

    All else that a service shows it may set and move as it likes, as a counter of its own.
    """
    parts = _parts(endpoints.body)
    return {
        name: [_only(item, parts[name]) for item in value]
        if parts[name] and isinstance(value, list)
        else value
        for name, value in fields.items()
        if name in parts
    }


@cache
def _parts(body: type[Body]) -> dict[str, frozenset[str]]:
    """Name for each field of a body the fields of its items; none where it holds no bodies."""
    found = {}
    for name, field in body.model_fields.items():
        kinds = (field.annotation, *get_args(field.annotation))
        items = [get_args(kind)[0] for kind in kinds if get_origin(kind) is list]
        bodies = [item for item in items if isinstance(item, type) and issubclass(item, Body)]
        found[name] = frozenset(bodies[0].model_fields) if bodies else frozenset()
    return found


def _only(item: Any, names: frozenset[str]) -> Any:
    return {n: v for n, v in item.items() if n in names} if isinstance(item, dict) else item
