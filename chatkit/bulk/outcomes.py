"""Outcomes: one row of a run, from the read before its write to the proof that it took effect.

A row is one change of a run: the fold of what its journal says of it. While a run is at work each
is a `RunRow`: it reads its record, compares it with what was planned, records its intent, is sent,
evaluates the outcome, and is verified where the answer proves nothing. What the rows share, and
what stops a run, is its `RunState`.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

from chatkit.api.answer import Envelope
from chatkit.api.call import Call
from chatkit.api.record import Body
from chatkit.api.retry import OUTAGES, PATIENCE, REFUSALS, UNKNOWN_OUTCOMES, RetryPolicy
from chatkit.api.secret import Secret
from chatkit.api.throttle import Throttle
from chatkit.bulk.changes import Change
from chatkit.bulk.endpoints import Endpoints
from chatkit.bulk.journal import Journal, get_planned_time
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

# --- rows: what a journal says of each ------------------------------------------------

State = Literal[
    "applied", "differs", "unchanged", "skipped", "conflict", "failed", "unknown", "not sent"
]
CAME_TWICE = "it exists with these values, probably because the network delivered the request twice"
CREATED_MEANWHILE = "somebody else created it after the plan was made"
#: How long before its plan a frame may have been read: earlier writes are in it.
_FRAME_AGE = timedelta(days=1)
#: Events after which nothing more is to be done for a row.
_LAST = frozenset(
    {"adopted", "verified", "unchecked", "doubled", "differs", "unchanged", "conflict", "failed"}
)


@dataclass(slots=True, eq=False)
class Row:
    """One change of a run, in the state that the events of the journal have left it in.

    `open` means that something was sent whose outcome is unknown: such a row is never sent
    again before its record was looked for. `was_unknown` means that this was ever so: a refusal
    may then answer a duplicate of our own request, which took effect.
    """

    n: int
    change: Change
    state: State = "not sent"
    reason: str = ""
    #: How we know that it took effect: answered, read back, adopted. "gone": it met a 404 to its
    #: delete, so somebody else deleted it, or the network delivered our request twice.
    evidence: str = ""
    attempts: int = 0
    checked_ago: float | None = None  #: how old its last look was at the write, seconds
    live: dict[str, Any] | None = None  #: what could be sent, as it was before the write
    after: dict[str, Any] | None = None  #: what read back, where that is not what was sent
    seen: str | None = None  #: its updated_at just before the write
    answered_at: str | None = None  #: when its write was answered, by the clock of the service
    duplicates: list[int] = field(default_factory=list)  #: records like it that appeared with it
    open: bool = False
    was_unknown: bool = False
    done: bool = False
    key: int | str | None = None
    #: A refusal that may answer a duplicate of its own request; no journal has it.
    refusal: Refused | None = None

    def __post_init__(self) -> None:
        self.key, before = self.change.key, self.change.before
        if self.change.kind == "skip":  # decided when it was planned: nothing is sent for it
            fields = [
                f"{name} is {values(before[name]) if name in before else 'not shown'}, "
                f"the row says {values(value)}"
                for name, value in self.change.after.items()
            ]
            self.done, self.state = True, "skipped"
            self.reason = f"it exists and is kept: {'; '.join(fields)}"

    def apply_event(self, what: str, detail: dict[str, Any]) -> None:
        """Update the state by one event of the journal."""
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
                self.open = self.was_unknown = True
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
                self.answered_at = detail.get("at")
                self.evidence = what
            case "unchecked":
                pass
            case "doubled":
                self.duplicates = detail["also"]
            case "verified":
                self.state, self.evidence = "applied", "read back"
            case "differs" | "unchanged" | "conflict" | "failed":
                self.open, self.state = False, what
                self.after = detail.get("live")
                self.key = detail.get("key", self.key)
                self.evidence = detail.get("evidence", self.evidence)
            case _:
                raise JournalError(
                    f"The journal has an event {what!r:.40}, which this version of chatkit does "
                    "not know: use the version that wrote it."
                )

    def mark_reopened(self) -> None:
        """Mark an open row as unknown: the process that sent it has ended."""
        self.was_unknown = self.was_unknown or self.open


AnyRow = TypeVar("AnyRow", bound=Row)


def read_rows(journal: Journal) -> list[Row]:
    """Return the rows of a journal in their latest state."""
    return replay_journal(journal, Row)


def replay_journal(journal: Journal, make: Callable[[int, Change], AnyRow]) -> list[AnyRow]:
    """Make the rows of a journal, and apply its events to them.

    Args:
        journal: Holds the changes and the events.
        make: Makes a row from its number and its change.
    """
    rows = [make(n, change) for n, change in enumerate(journal.changes())]
    for event in journal.events():
        if event.n is not None:
            rows[event.n].apply_event(event.what, event.detail)
        elif event.what == "resumed":
            for row in rows:
                row.mark_reopened()
    return rows


def count_states(rows: Iterable[Row]) -> dict[str, int]:
    """Count the rows in each state."""
    return dict(Counter(row.state for row in rows))


# --- what the rows of a run share ------------------------------------------------------

#: A row is read, written, and checked if the answer proves nothing. A write that met a 404
#: looks again: some services say 404 for what a token may not do. So does a delete whose
#: record was read where the service shows deleted ones too.
Stage = Literal["read", "write", "check", "look"]


class RunState:
    """The state that the rows of a run share: its journal, the keys taken, and what stops it.

    Args:
        journal: What is written on.
        throttle: What is slowed down when the service asks for it.
        retry: How often one row is sent, or read in vain, and when a lost write is believed lost.
        list_other_writes: Lists what other runs have written to a resource since a time.
    """

    def __init__(
        self,
        journal: Journal,
        throttle: Throttle,
        retry: RetryPolicy,
        list_other_writes: Callable[[str, datetime], list[tuple[str, Change]]],
    ) -> None:
        self.journal, self.throttle, self.retry = journal, throttle, retry
        self._list_other_writes = list_other_writes
        #: By noun what other runs have written, by the code and key of each record.
        self._other_writes: dict[str, dict[object, list[tuple[str, Change]]]] = {}
        self.stopped = ""  #: why the run must stop; empty if it need not
        self.secrets: dict[int | str, Secret] = {}  #: of the webhooks that it has created, by id
        #: Keys of records that no create of unknown outcome may adopt, by noun.
        self.taken = defaultdict[str, set[object]](set)
        for noun, part in journal.header.parts.items():
            self.taken[noun] |= {*part.known}
        #: How many calls in a row were refused, of unknown outcome, or did not reach the service.
        self.refused = self.unknown = self.unreached = 0
        self.last_unknown = ""  #: why the outcome of the last of them is unknown
        self._outages = 0

    def reset_failures(self) -> None:
        """Reset the counts of failures: a row took effect, so that this is no outage."""
        self.refused = self.unknown = self._outages = 0

    @property
    def outage_suspected(self) -> bool:
        """True if so many rows in a row are unknown that an outage is likely."""
        return self.unknown >= UNKNOWN_OUTCOMES

    def check_outage(self) -> None:
        """Continue after a suspected outage only if a row succeeded since the previous one."""
        if not self.outage_suspected:
            return
        self.unknown = 0
        self._outages += 1
        if self._outages == OUTAGES:
            self.stopped = f"the service does not answer as it should: {self.last_unknown}"

    def pause_or_stop(self, error: CallError) -> None:
        """Pause the throttle after an error of the connection or a 429, or stop the run."""
        if isinstance(error, RateLimited):
            wait = error.retry_after or 1.0
            if wait > PATIENCE:
                self.stopped = f"the service asks to wait {wait:.0f} s: resume the run then"
            self.throttle.hold(wait)
            return
        self.unreached += 1
        self.throttle.hold(0.5)
        if self.unreached > 2 * self.throttle.concurrency:
            self.stopped = f"the service cannot be reached: {error.reason}"

    def name_author(self, change: Change, noun: str, live: Mapping[str, Any] | None) -> str:
        """Name the other run that gave a record its values, or deleted it; else somebody else.

        Args:
            change: The change that conflicts with it.
            noun: The noun of its resource.
            live: The fields that differ, as they are now; None: it is deleted.
        """
        if noun not in self._other_writes:
            header = self.journal.header
            writes = defaultdict[object, list[tuple[str, Change]]](list)
            first = get_planned_time(replace(header, run=header.undoes or header.run))
            with suppress(JournalError):  # a home of journals that cannot be reached tells nothing
                for run, other in self._list_other_writes(noun, first - _FRAME_AGE):
                    writes[other.code, other.key].append((run, other))
            self._other_writes[noun] = writes
        for run, other in reversed(self._other_writes[noun].get((change.code, change.key), [])):
            wrote = other.kind == "delete"
            if live is not None:
                wrote = all(
                    n in other.after and values_agree(value, other.after[n])
                    for n, value in live.items()
                )
            if wrote:
                return f"the run {run}"
        return "somebody else"

    def try_commit(self) -> bool:
        """Make the events durable; return false if that fails or the run must stop."""
        try:
            self.journal.commit()
        except JournalError as error:
            self.stopped = str(error)
        return not self.stopped


# --- one row of a run at work ----------------------------------------------------------


@dataclass(slots=True, eq=False, kw_only=True)
class RunRow(Row):
    """One row of a run at work: read, compare, record the intent, send, evaluate, verify.

    `stage` is what is sent for it next, None where nothing is.
    """

    run: RunState
    endpoints: Endpoints[Any]
    stage: Stage | None = None
    record: Any = None  #: what was read, for a write, or for a look before it
    fields: dict[str, Any] = field(default_factory=dict)  #: what of it could be sent
    read_at: float | None = None  #: when its record was read
    since: float = 0.0  #: when its outcome became unknown; 0: not in this process
    abandoned: bool = False  #: whether it could not be read, for this time
    counted: bool = False  #: whether the progress bar shows it
    failed_reads: int = 0
    sent_before: int | None = None  #: how often it was sent by earlier processes

    def choose_stage(self) -> Stage:
        """Set and return the first stage: a create whose key is unknown is written at once."""
        self.record = None
        new = self.change.kind == "create" and self.change.key is None
        self.stage = "check" if self.state == "applied" else "write" if new else "read"
        return self.stage

    @property
    def known_key(self) -> int | str:
        """Its key, for a record that exists.

        Raises:
            LookupError: The record is still to be created.
        """
        if self.key is None:
            raise LookupError("a record that was never made cannot be read")
        return self.key

    @property
    def taken(self) -> set[object]:
        """The keys that no create of the same resource may adopt."""
        return self.run.taken[self.endpoints.noun]

    @property
    def due(self) -> float:
        """The time after which a lost write is believed not to take effect any more."""
        create, run = self.change.kind == "create", self.run
        if create and not self.was_unknown:  # it was refused: what was answered is not late
            return self.since
        last = self.attempts >= run.retry.row_tries  # after it, nobody looks again
        unique = self.endpoints.unique and not last
        return self.since + run.retry.settle_window(unique=unique if create else None)

    def call(self) -> Call:
        """Build the call of the current stage.

        Raises:
            InputError: Its key or its fields cannot be sent.
        """
        endpoints, after = self.endpoints, self.change.after
        match self.stage, self.change.kind:
            case "write", "create":
                return endpoints.create_call(after)
            case "write", "delete":
                return endpoints.delete_call(self.known_key)
            case "write", _:
                carried = (
                    endpoints.select_fields_to_repeat(self.record) if endpoints.repeats else {}
                )
                return endpoints.update_call(self.known_key, {**carried, **after})
            case "look", _:
                live = self.live if self.record is None else self.fields
                return endpoints.make_existence_call(self.known_key, live or {})
        return endpoints.get_call(self.known_key)

    def write_event(self, what: str, **detail: Any) -> None:
        """Apply an event and write it to the journal; an error of the journal stops the run."""
        self.apply_event(what, detail)
        try:
            self.run.journal.write(self.n, what, **detail)
        except JournalError as error:
            self.run.stopped = str(error)

    def write_intent(self) -> None:
        """Write the event that precedes sending, with all that an undo needs."""
        detail: dict[str, Any] = {"attempt": self.attempts + 1}
        if self.record is not None:
            detail |= {"live": self.fields, "seen": _format_updated_at(self.record)}
        if self.read_at is not None:
            detail["checked_ago"] = round(time.monotonic() - self.read_at, 3)
        self.write_event("intent", **detail)

    def adopt(self, key: int | str | None, reason: str = "") -> None:
        """Record that a row whose answer was lost took effect."""
        lost = ""
        if self.change.kind == "create":
            self.taken.add(key)
            lost = self.endpoints.lost
        reasons = [reason or "the answer was lost; it took effect", *filter(None, [lost])]
        self.write_event("adopted", key=key, reason="; ".join(reasons))
        self.run.reset_failures()

    def mark_absent(self, *, proven: bool = True) -> bool:
        """Record that an unknown row did not take effect; return whether to send it again.

        Args:
            proven: Whether it is certain that it did not. Where no read proves it, sending
                again does; in the end the row stays unknown.
        """
        if self.sent_before is None:
            self.sent_before = self.attempts - 1
        sent = "sent once" if self.attempts == 1 else f"sent {self.attempts} times"
        tries = self.run.retry.row_tries
        if self.refusal is not None and proven:  # no duplicate: refused for good
            self._record_refusal(self.refusal)
        elif not proven and self.attempts - self.sent_before >= tries:
            reason = f"{sent}, and this service does not show whether it took effect"
            self.mark_unclear("unknown", reason)
            return False
        elif proven and self.attempts >= tries:
            self.write_event("failed", reason=f"{sent}, and it never took effect")
        else:
            self.write_event("absent", reason="it had not taken effect")
        return not self.done

    def mark_unclear(self, what: str, reason: str) -> None:
        """Record that a search for its record left it a conflict, or unknown."""
        if what == "conflict":
            refusal = f"{self.refusal.reason}; " if self.refusal is not None else ""
            self.write_event("conflict", reason=refusal + reason)
        else:
            self.abandoned = True
            self.write_event("in doubt", reason=reason)

    # --- what came back -------------------------------------------------------------

    def evaluate_outcome(self, outcome: tuple[Call, Envelope] | Fault) -> None:
        """Update the row by the outcome of its call, and set its next stage."""
        if self.stage == "read":
            self.read_at = time.monotonic()
        try:
            if isinstance(outcome, Fault):
                raise outcome.error
            self.run.unreached = 0
            call, envelope = outcome
            match self.stage:
                case "read":
                    record = self.endpoints.read(call, envelope, self.known_key)
                    self.fields = self.endpoints.sendable(record)
                    self.stage = self._compare_three_ways(record)
                    self.record = record if self.stage else None
                case "write":
                    self.stage = self._record_success(call, envelope)
                case "check":
                    record = self.endpoints.read(call, envelope, self.known_key)
                    self.stage = None
                    self._verify_fields(self.endpoints.sendable(record), proves=True, read=record)
                case "look":
                    held = self.endpoints.record_exists(call, envelope, self.known_key)
                    self.stage = self._evaluate_look(held=held)
        except CallError as error:
            self.stage = self._evaluate_error(error)
        if self.stage in (None, "check"):  # they are needed no more, and rows are many
            self.record, self.fields = None, {}

    def _compare_three_ways(self, record: Any) -> Stage | None:
        """Compare the live record with plan and snapshot; return the next stage, if any."""
        change, endpoints = self.change, self.endpoints
        live = pick_documented_fields(endpoints, self.fields)
        planned = pick_documented_fields(endpoints, change.after)
        stamp = _format_updated_at(record)
        comparable = {n: value for n, value in planned.items() if n in live}
        same = change.kind != "delete" and all(
            values_agree(live[n], comparable[n]) for n in comparable
        )
        if same and self.was_unknown and len(comparable) < len(planned) and stamp != self.seen:
            reason = "the answer was lost; updated_at has moved since, by this or by somebody else"
            self.adopt(self.key, reason)
        elif same and len(comparable) == len(planned):
            if self.was_unknown or self.open:
                self.adopt(self.key, "" if self.was_unknown else CAME_TWICE)
            else:
                self.write_event("unchanged", reason="it is so already")
        elif change.kind == "create":
            self.write_event("conflict", reason=CREATED_MEANWHILE, live=live)
        elif moved := self._describe_conflict(stamp, live):
            self.write_event("conflict", reason=moved, live=live)
        elif change.kind == "delete" and endpoints.reads_deleted:  # it may be deleted already
            return "look"
        elif not self.was_unknown or self.mark_absent():
            return "write"
        return None

    def _describe_conflict(self, stamp: str | None, live: dict[str, Any]) -> str:
        """Describe what somebody else changed since the plan, if it conflicts; else empty."""
        change, endpoints = self.change, self.endpoints
        known = pick_documented_fields(endpoints, change.before)
        held = pick_documented_fields(endpoints, self.live or {}) if self.was_unknown else known
        moved = [n for n in known if n in live and not values_agree(live[n], held.get(n))]
        if moved:
            each = [f"{n} was {held.get(n)!r:.60} and is {live[n]!r:.60}" for n in moved]
            each[-1] += f"; you want {change.after[moved[-1]]!r:.60}" if change.after else ""
            author = self.run.name_author(change, endpoints.noun, {n: live[n] for n in moved})
            return f"{author} changed it: {', '.join(each)}"
        hidden = any(n not in live for n in change.after)
        if hidden and not self.was_unknown and change.seen and stamp not in (None, change.seen):
            return f"somebody else changed it: updated_at was {change.seen} and is {stamp}"
        return ""

    def _record_success(self, call: Call, envelope: Envelope) -> Stage | None:
        """Record a success: the key, and whether the answer proves what was sent."""
        endpoints, change = self.endpoints, self.change
        create, key = change.kind == "create", cast("int | str", self.key)
        try:
            record = endpoints.parse_record(call, envelope.data)
        except BadAnswer:  # nothing, or another shape
            record = None
        if create:
            if record is None or endpoints.chosen:
                key = endpoints.key_of(call, envelope, change.after)
            else:
                key = getattr(record, endpoints.key)
            if not endpoints.chosen and key in self.taken:
                raise BadAnswer(call, f"the answer is about a {endpoints.noun} that was there")
        if record is not None:
            endpoints.check_same_key(call, getattr(record, endpoints.key), key)
        if create:
            self.taken.add(key)
        self.write_event("answered", key=key, at=endpoints.transport.get_service_time().isoformat())
        secret = getattr(record, "webhook_secret", None)
        if create and isinstance(secret, Secret):  # for the person: it is never shown again
            self.run.secrets[key] = secret
        self.run.reset_failures()
        if change.kind == "delete":
            return None
        only_key = record is None or record.model_fields_set <= {endpoints.key}
        live = {} if only_key else endpoints.dump_visible_fields(record)
        was = change.before.get(endpoints.key)
        if create and was not in (None, key):  # an undo brings back
            self.write_event("differs", reason=f"it came back as {key}, not as {was}", live=live)
        elif create or all(n in live for n in change.after):
            self._verify_fields(live, proves=not create)
        else:
            return "check"
        return None

    def _is_own_version(self, record: Any) -> bool:
        """Return whether a record was surely not saved again after its write was answered."""
        updated_at = getattr(record, "updated_at", None)
        if updated_at is None or self.answered_at is None:
            return False
        second = updated_at.replace(microsecond=0)  # an answer has its time in whole seconds
        return bool(second <= datetime.fromisoformat(self.answered_at))

    def _verify_fields(self, live: dict[str, Any], *, proves: bool, read: Any = None) -> None:
        """Compare fields that were read, or answered, with those sent; record what that shows.

        Args:
            live: The fields.
            proves: Whether they show that the write took effect as it was sent.
            read: The record that was read after the write; None where its answer has the fields.
                Where somebody may have saved it since, an undo must not take what differs for
                what this run wrote.
        """
        sent, differing, hidden = self._compare_sent(live)
        if differing:
            each = ", ".join(f"{n} is {live[n]!r:.60}, not {sent[n]!r:.60}" for n in differing)
            if read is None or self._is_own_version(read):
                saved = {n: live[n] for n in sent if n in live}
                reason = f"it was saved with other values: {each}"
                self.write_event("differs", reason=reason, live=saved)
            else:
                reason = f"somebody changed it since, or it was saved with other values: {each}"
                self.write_event("differs", reason=reason)
        elif proves and hidden:
            self.write_event("unchecked", reason=f"the service does not show {', '.join(hidden)}")
        elif proves:
            self.write_event("verified")

    def _compare_sent(self, live: dict[str, Any]) -> tuple[dict[str, Any], list[str], list[str]]:
        """Compare what was sent with the fields of a record.

        Returns:
            What was sent, and of that the names that differ, and those that are not shown.
        """
        sent = pick_documented_fields(self.endpoints, self.change.after)
        same = pick_documented_fields(self.endpoints, live)
        differing = [n for n in sent if n in same and not values_agree(same[n], sent[n])]
        return sent, differing, [n for n in sent if n not in live]

    def verify_listed(self, record: Any) -> bool:
        """Record that it took effect if the listed record shows all that was sent.

        Returns:
            False if it shows less, or anything else: it must be read alone.
        """
        _, differing, hidden = self._compare_sent(self.endpoints.sendable(record))
        if differing or hidden:
            return False
        self.write_event("verified")
        return True

    def _evaluate_look(self, *, held: bool | None) -> Stage | None:
        """Evaluate the read-back after a 404, or after a delete that lists may still show.

        Args:
            held: Whether the record exists; None if the answer leaves it open.
        """
        if held is False:
            self._record_missing()
        elif self.record is not None:  # it is not sent yet, or of unknown outcome
            if not self.was_unknown or self.mark_absent(proven=held is True):
                return "write"
        elif held is None and self.endpoints.profile.forbidden_status != 404:
            self._record_missing()  # nothing else is a 404
        elif held is None:
            reason = "the service answered 404: it is deleted, or the token lacks the permission"
            self.mark_unclear("unknown", reason)
        elif self.was_unknown:
            self._record_unknown("the service answered 404, but the record exists")
        else:
            self._record_failure(
                "the service answered 404, but the record exists: has the token the permission?"
            )
        return None

    def _record_missing(self) -> None:
        """Record the outcome of a row whose record does not exist any more."""
        if self.change.kind != "delete":
            reason = "it is deleted; this service lists deleted ones too"
            if self.open or not self.endpoints.lists_deleted:
                author = self.run.name_author(self.change, self.endpoints.noun, None)
                reason = f"{author} deleted it meanwhile"
            self.write_event("conflict", reason=reason)
        elif self.was_unknown:
            self.adopt(self.key)
        elif self.open:  # it was read, and our request, which was answered, met a 404
            reason = (
                "it is gone already: it was there just before, and the delete was answered with "
                "404. Somebody else deleted it, unless the network delivered the request twice"
            )
            self.write_event("unchanged", reason=reason, evidence="gone")
        else:
            self.write_event("unchanged", reason="it was gone already")

    # --- what went wrong ------------------------------------------------------------

    def _evaluate_error(self, error: CallError) -> Stage | None:
        """Record the outcome of a call that failed; return the next stage, if there is one."""
        reason, writing = error.reason, self.stage == "write"
        match error:
            case Unreachable() | RateLimited():
                if writing:
                    self.write_event("not sent", reason=reason)
                self.run.pause_or_stop(error)
                return self.choose_stage()
            case NotAuthenticated() | NotPermitted():
                if writing:
                    self.write_event("not sent", reason=reason)
                self.run.stopped = f"{reason}. {error.advice}" if error.advice else reason
            case Refused() if self.stage in ("read", "look"):
                return self._record_unreadable(error)
            case NotFound() if writing and self.change.kind != "create":
                self.record = None
                return "look"
            case Refused() if writing and self.was_unknown:
                self.refusal = error
                reason = f"refused, perhaps as a duplicate of our own request: {reason}"
                self._record_unknown(reason)
            case Refused() if writing and self._is_clash(error):
                self.refusal = error
                reason = f"refused, perhaps because the network delivered it twice: {reason}"
                self.write_event("clashed", reason=reason)
            case Refused() if writing:
                self._record_refusal(error)
            case _ if writing:
                self._record_unknown(reason.split("\n")[0])
            case _:
                return self._retry_read(reason)
        return None

    def _record_unreadable(self, error: Refused) -> Stage | None:
        """Evaluate a refused read before the write: most often the record does not exist."""
        uncertain = self.was_unknown or self.open
        if not isinstance(error, NotFound) and uncertain:
            self.mark_unclear("unknown", f"it could not be read: {error.reason}")
        elif not isinstance(error, NotFound):
            self.write_event("failed", reason=f"it could not be read: {error.reason}")
        elif self.change.kind != "create":
            self._record_missing()
        elif not uncertain or self.mark_absent():
            self.record = None
            return "write"
        return None

    def _is_clash(self, error: Refused) -> bool:
        """Return whether an error means that the record to create exists already."""
        profile = self.endpoints.profile
        clashes = {409, profile.clash_status}
        if self.endpoints.chosen and profile.duplicate_content == "invalid":
            clashes.add(profile.validation_status)
        return self.change.kind == "create" and error.status in clashes

    def _record_refusal(self, error: Refused) -> None:
        """Record that the service refused the write: a conflict, or a failure."""
        if isinstance(error, Conflict):
            self.write_event("conflict", reason=error.reason)
        else:
            self._record_failure(error.reason)

    def _record_failure(self, reason: str) -> None:
        """Record that a row failed, and count it towards the refusals that stop a run."""
        self.write_event("failed", reason=reason)
        self.run.refused += 1
        if self.run.refused == REFUSALS:
            self.run.stopped = f"{REFUSALS} rows in a row were refused, the last: {reason}"

    def _record_unknown(self, reason: str) -> None:
        """Record that the outcome is unknown, and count it towards a suspected outage."""
        self.write_event("in doubt", reason=reason)
        self.run.unknown += 1
        self.run.last_unknown = reason

    def _retry_read(self, reason: str) -> Stage | None:
        """Read again after a bad answer; after the last try leave the row as it is."""
        self.failed_reads += 1
        if self.failed_reads < self.run.retry.row_tries:
            return self.stage
        if self.stage == "check":  # it took effect, which is what counts
            self.write_event("unchecked", reason=f"it could not be read back: {reason}")
        else:
            self.abandoned = True
            self.reason = f"it could not be read: {reason}"
        return None


def _format_updated_at(record: Any) -> str | None:
    """Return the updated_at of a record in ISO 8601; None without one."""
    updated_at = getattr(record, "updated_at", None)
    return None if updated_at is None else str(updated_at.isoformat())


# --- what was read, and what was meant ------------------------------------------------

_NOTHING: tuple[object, ...] = (None, "", [], {})


def values_agree(live: object, meant: object) -> bool:
    """Return whether a value that was read equals the one that was sent.

    None, "", [] and {} are equal; an object may have more fields than were sent, as long as
    they are empty.
    """
    if isinstance(live, bool) or isinstance(meant, bool):
        return live is meant
    if not live and not meant:
        return (live in _NOTHING and meant in _NOTHING) or live == meant
    if isinstance(live, Mapping) and isinstance(meant, Mapping):
        return all(values_agree(live.get(name), meant.get(name)) for name in {*live, *meant})
    if isinstance(live, list) and isinstance(meant, list):
        return len(live) == len(meant) and all(map(values_agree, live, meant))
    return live == meant


def pick_documented_fields(endpoints: Endpoints[Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Pick the fields of a record that the API document lists: only these are compared.

    A service may change the others as it likes, as a counter of its own.
    """
    parts = _list_item_fields(endpoints.body)
    return {
        name: [_pick_fields(item, parts[name]) for item in value]
        if parts[name] and isinstance(value, list)
        else value
        for name, value in fields.items()
        if name in parts
    }


@cache
def _list_item_fields(body: type[Body]) -> dict[str, frozenset[str]]:
    """Return the fields of a body, each with the field names of its items if it lists bodies."""
    parts = {}
    for name, info in body.model_fields.items():
        kinds = (info.annotation, *get_args(info.annotation))
        items = [get_args(kind)[0] for kind in kinds if get_origin(kind) is list]
        bodies = [item for item in items if isinstance(item, type) and issubclass(item, Body)]
        parts[name] = frozenset(bodies[0].model_fields) if bodies else frozenset()
    return parts


def _pick_fields(item: Any, names: frozenset[str]) -> Any:
    """Pick the named fields of a list item; return what is no object as it is."""
    return {n: v for n, v in item.items() if n in names} if isinstance(item, dict) else item
