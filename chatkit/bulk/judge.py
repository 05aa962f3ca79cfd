"""Judge: what an answer, or its absence, says of a row, and what is to be sent next for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chatkit.answer import Envelope
from chatkit.bulk.journal import Journal
from chatkit.bulk.reconcile import agrees
from chatkit.bulk.row import Row
from chatkit.bulk.step import Step, first_step, known
from chatkit.call import Call
from chatkit.endpoints import Endpoints
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
from chatkit.secret import Secret
from chatkit.throttle import Throttle

#: So many refusals one after the other stop a run.
REFUSALS = 10
#: So many doubts one after the other pause it, to look whether anything lands at all.
DOUBTS = 20
#: So often one row is sent, or read in vain, before it is given up.
ATTEMPTS = 5


def _stamp(record: Any) -> str | None:
    moment = getattr(record, "updated_at", None)
    return None if moment is None else str(moment.isoformat())


class Judge:
    """Notes in the journal what outcomes mean, and stops a run that should not go on.

    Args:
        journal: What is written on.
        of: Returns the room of a row.
        throttle: What is slowed down when the service asks for it.
        taken: Keys of records that no create in doubt may adopt.
    """

    def __init__(
        self,
        journal: Journal,
        of: Callable[[Row], Endpoints[Any]],
        throttle: Throttle,
        taken: set[object],
    ) -> None:
        self.stopped = ""  #: why the run must stop
        self.secrets: dict[int | str, Secret] = {}
        self.taken = taken
        self.given_up: set[int] = set()  #: rows that could not be read, for this time
        self._journal, self._of, self._throttle = journal, of, throttle
        self._failed_reads: dict[int, int] = {}
        self._echoes: dict[int, Refused] = {}  # refusals of rows that may have landed before
        self._refused = self._doubts = self._storms = self._unreached = 0
        self._last_doubt = ""

    @property
    def storm(self) -> bool:
        """Whether so many rows in a row are in doubt that it is time to look."""
        return self._doubts >= DOUBTS

    def weather(self) -> None:
        """After a storm, go on only if anything has landed since the one before."""
        self._doubts = 0
        self._storms += 1
        if self._storms == 3:
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
        self.taken.add(key)
        lost = self._of(row).lost if row.change.kind == "create" else ""
        said = [reason or "the answer was lost, it has landed", *filter(None, [lost])]
        self.note(row, "adopted", key=key, reason="; ".join(said))
        self._went_well()

    def absent(self, row: Row) -> bool:
        """Note that a row in doubt has not landed; tell whether it may be sent again."""
        if row.n in self._echoes:  # no echo: it was refused for good
            self._refuse(row, self._echoes[row.n])
        elif row.attempts >= ATTEMPTS:
            self.note(row, "failed", reason=f"sent {row.attempts} times, and it never landed")
        else:
            self.note(row, "absent", reason="it had not landed")
        return not row.done

    # --- what came back -------------------------------------------------------------

    def landed(self, step: Step, outcome: tuple[Call, Envelope] | Fault) -> Step | None:
        """Note what an outcome means for its row; return what is to be sent next for it."""
        if isinstance(outcome, Fault):
            return self._fault(step, outcome.error)
        self._unreached = 0
        call, envelope = outcome
        try:
            match step.stage:
                case "read":
                    return self._compare(step.row, call, envelope)
                case "write":
                    return self._answered(step.row, call, envelope)
                case "check":
                    self._check(step.row, call, envelope)
                case "look":
                    self._there(step.row, call, envelope)
            return None
        except CallError as error:
            return self._fault(step, error)

    def _compare(self, row: Row, call: Call, envelope: Envelope) -> Step | None:
        """Hold what is there against what the plan saw and what it wants: three ways."""
        change, endpoints = row.change, self._of(row)
        record = endpoints.read(call, envelope, known(row.key))
        live = endpoints.sendable(record)
        wanted = change.after
        stamp = _stamp(record)
        shown = {n: value for n, value in wanted.items() if n in live}
        there = change.kind != "delete" and all(agrees(live[n], shown[n]) for n in shown)
        if there and row.doubted and len(shown) < len(wanted) and stamp != row.seen:
            said = "the answer was lost; updated_at has moved since, by this or by somebody else"
            self.adopt(row, row.key, said)
        elif there and len(shown) == len(wanted):
            if row.doubted:
                self.adopt(row, row.key)
            else:
                self.note(row, "unchanged", reason="it is so already")
        elif change.kind == "create":
            self.note(row, "conflict", reason="somebody made it meanwhile", live=live)
        elif moved := self._moved(row, stamp, live):
            self.note(row, "conflict", reason=moved, live=live)
        elif not row.doubted or self.absent(row):
            return Step(row, "write", record)
        return None

    def _moved(self, row: Row, stamp: str | None, live: dict[str, Any]) -> str:
        """Say which of the fields at stake somebody else has changed since the plan."""
        change = row.change
        held = row.live or {} if row.doubted else change.before
        moved = [n for n in change.before if n in live and not agrees(live[n], held.get(n))]
        if moved:
            said = [f"{n} was {held.get(n)!r:.60} and is {live[n]!r:.60}" for n in moved]
            said[-1] += f"; you want {change.after[moved[-1]]!r:.60}" if change.after else ""
            return "somebody else changed it: " + ", ".join(said)
        hidden = any(n not in live for n in change.after)
        if hidden and not row.doubted and change.seen and stamp not in (None, change.seen):
            return f"somebody else changed it: updated_at was {change.seen} and is {stamp}"
        return ""

    def _answered(self, row: Row, call: Call, envelope: Envelope) -> Step | None:
        """A success: note the key, and whether the answer proves what was sent."""
        endpoints, change = self._of(row), row.change
        try:
            record = endpoints.one(call, envelope.data)
        except BadAnswer:  # nothing, or another shape
            record = None
        key = row.key
        if change.kind == "create":
            key = endpoints.key_of(call, envelope, change.after)
            if not endpoints.chosen and key in self.taken:
                raise BadAnswer(call, f"the answer is about a {endpoints.noun} that was there")
        elif record is not None and getattr(record, endpoints.key) != key:
            raise BadAnswer(call, f"the answer is about another {endpoints.noun}")
        self.taken.add(key)
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
        return Step(row, "check")

    def _hold_against(self, row: Row, there: dict[str, Any], *, proves: bool) -> None:
        """Hold what was read, or answered, against what was sent."""
        wanted = row.change.after
        odd = [n for n in wanted if n in there and not agrees(there[n], wanted[n])]
        if odd:
            said = ", ".join(f"{n} is {there[n]!r:.60}, not {wanted[n]!r:.60}" for n in odd)
            live = {n: there[n] for n in wanted if n in there}
            self.note(row, "differs", reason=f"it reads back otherwise: {said}", live=live)
        elif proves and all(n in there for n in wanted):
            self.note(row, "verified")
        elif proves:
            hidden = ", ".join(n for n in wanted if n not in there)
            self.note(row, "unchecked", reason=f"the service does not show {hidden}")

    def _keep_secret(self, row: Row, record: Any) -> None:
        """Keep a signing secret in memory, for the person: it is never shown again."""
        secret = getattr(record, "webhook_secret", None)
        if isinstance(secret, Secret) and row.change.kind == "create":
            self.secrets[known(row.key)] = secret

    def _check(self, row: Row, call: Call, envelope: Envelope) -> None:
        """Hold what reads back against what was sent."""
        endpoints = self._of(row)
        record = endpoints.read(call, envelope, known(row.key))
        self._hold_against(row, endpoints.sendable(record), proves=True)

    def _there(self, row: Row, call: Call, envelope: Envelope) -> None:
        """Tell whether a record that met a 404 is there: then the 404 was a refusal."""
        if not self._of(row).holds(call, envelope, known(row.key)):
            self._gone(row)
        elif row.doubted:
            self._doubt(row, "404, although it is there")
        else:
            self._fail(row, "404, although it is there: may the token do this?")

    def _gone(self, row: Row) -> None:
        if row.change.kind != "delete":
            self.note(row, "conflict", reason="somebody deleted it meanwhile")
        elif row.doubted:
            self.adopt(row, row.key)
        else:
            self.note(row, "unchanged", reason="it was gone already")

    # --- what went wrong ------------------------------------------------------------

    def _fault(self, step: Step, error: CallError) -> Step | None:
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
                return Step(row, "look")
            case Refused() if writing and row.doubted:
                self._echoes[row.n] = error
                self._doubt(row, f"refused, perhaps as its own echo: {reason}")
            case Refused() if writing:
                self._refuse(row, error)
            case _ if writing:
                self._doubt(row, reason.split("\n")[0])
            case _ if step.stage == "check":  # it has landed, which is what counts
                self.note(row, "unchecked", reason=f"it could not be read back: {reason}")
            case _:
                return self._read_again(step, reason)
        return None

    def _unreadable(self, row: Row, error: Refused) -> Step | None:
        """A record that cannot be read before it is written: most often it is not there."""
        if not isinstance(error, NotFound) and row.doubted:
            self.unclear(row, "unknown", f"it could not be read: {error.reason}")
        elif not isinstance(error, NotFound):
            self.note(row, "failed", reason=f"it could not be read: {error.reason}")
        elif row.change.kind != "create":
            self._gone(row)
        elif not row.doubted or self.absent(row):
            return Step(row, "write")
        return None

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
            self.note(row, "conflict", reason=reason)
        else:
            self.given_up.add(row.n)
            self.note(row, "in doubt", reason=reason)

    def _went_well(self) -> None:
        self._refused = self._doubts = self._storms = 0

    def _read_again(self, step: Step, reason: str) -> Step | None:
        tries = self._failed_reads[step.row.n] = self._failed_reads.get(step.row.n, 0) + 1
        if tries < ATTEMPTS:
            return step
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
