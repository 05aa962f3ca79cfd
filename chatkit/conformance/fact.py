"""Facts: what the API document states, how to see whether a service does it, and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeVar

import msgspec

from chatkit.answer import printable
from chatkit.display import visible
from chatkit.report import Report, html_heading, html_list, html_tables, marked

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.conformance.trial import Trial

State = Literal["holds", "differs", "not told"]
E = TypeVar("E")


class Differs(Exception):
    """The service does something else than the document states; the text says what was seen."""


class NotTold(Exception):
    """A fact cannot be told here; the text says why."""


def expect(holds: object, seen: str) -> None:
    """Raise `Differs` with what was seen unless something holds."""
    if not holds:
        raise Differs(seen)


def not_told(why: str) -> NoReturn:
    """Raise `NotTold` with the reason."""
    raise NotTold(why)


@dataclass(frozen=True, slots=True)
class Fact:
    """One numbered fact: the section that states it, a statement in our words, and its check.

    The check returns when the fact holds, and raises `Differs` or `NotTold` when not.
    """

    number: int
    name: str
    section: str
    statement: str
    check: Callable[[Trial], None]

    def outcome(self, trial: Trial) -> Outcome:
        """Check the fact in a trial."""
        try:
            self.check(trial)
        except Differs as seen:
            return Outcome(self, "differs", str(seen))
        except NotTold as why:
            return Outcome(self, "not told", str(why))
        return Outcome(self, "holds", "")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of one fact: `seen` says what differs, or why it is not told."""

    fact: Fact
    state: State
    seen: str


class Facts(Generic[E]):
    """A part of the list of facts: those that one kind of evidence tells.

    Evidence is a class that is made with the trial and does each call once, when a fact
    first asks for it. A function below `@facts(number, section)` is a fact: its name is the
    short name, its docstring the statement.
    """

    def __init__(self, evidence: Callable[[Trial], E]) -> None:
        self.all: list[Fact] = []
        self._evidence = evidence

    def __call__(
        self, number: int, section: str
    ) -> Callable[[Callable[[E], None]], Callable[[E], None]]:
        """Make a function the check of a fact."""

        def stated(check: Callable[[E], None]) -> Callable[[E], None]:
            statement = " ".join((check.__doc__ or "").split())
            self.add(number, check.__name__, section, statement, check)
            return check

        return stated

    def add(
        self, number: int, name: str, section: str, statement: str, check: Callable[[E], Any]
    ) -> None:
        """Add a fact that a table states."""
        fact = Fact(
            number, name, section, statement, lambda trial: check(trial.evidence(self._evidence))
        )
        self.all.append(fact)


# --- the report -------------------------------------------------------------------------


#: The columns of the table, with their share of its width.
_WIDTHS = {"number": 7, "fact": 18, "section": 13, "outcome": 9, "statement": 30, "seen": 23}


class ConformanceReport(Report):
    """Report of a trial: facts that hold, differ or could not be told; `.frame()` is a table.

    `status` is 1 when anything differs or was left behind, and else 0. `left` names the
    records that could not be removed; `notes` says what else the account will remember.
    """

    def __init__(
        self,
        subject: str,
        outcomes: tuple[Outcome, ...],
        *,
        left: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
        interrupted: bool = False,
    ) -> None:
        self.subject = subject
        self.outcomes = outcomes
        self.left = left
        self.notes = notes
        self.interrupted = interrupted

    @property
    def status(self) -> int:
        """The exit status: 130 when it was interrupted, 1 when something is wrong, else 0."""
        if self.interrupted:
            return 130
        return int(bool(self.left) or any(o.state == "differs" for o in self.outcomes))

    @property
    def counts(self) -> str:
        """Count of the facts that hold, differ and are not told, in words."""
        count = Counter(outcome.state for outcome in self.outcomes)
        hold, differ, untold = count["holds"], count["differs"], count["not told"]
        return (
            f"{hold} {'fact holds' if hold == 1 else 'facts hold'}, "
            f"{differ or 'none'} {'differs' if differ < 2 else 'differ'}, "
            f"{untold or 'none'} could not be told."
        )

    def frame(self) -> pd.DataFrame:
        """The outcomes as a DataFrame, one row a fact, indexed by its number."""
        from chatkit.frame import Columns, Kind

        kinds: dict[str, Kind] = dict.fromkeys(_WIDTHS, "text")
        columns = Columns({**kinds, "number": "number"})
        rows = [dict(zip(_WIDTHS, _row(outcome), strict=True)) for outcome in self.outcomes]
        columns.add(msgspec.json.encode(rows))
        return columns.frame("number")

    def _text(self) -> list[list[str]]:
        width = max((len(outcome.fact.section) for outcome in self.outcomes), default=0)
        lines = [f"Conformance of {self.subject}"]
        for outcome in self.outcomes:
            fact = outcome.fact
            lines.append(
                f"{fact.number:>5}  {outcome.state:<8}  {fact.section:<{width}}  {fact.statement}"
            )
            if outcome.seen:
                lines.append(f"{'':<17}{'':<{width}}  -> {outcome.seen}")
        return [[printable(line) for line in block] for block in (lines, self._end())]

    def _html(self) -> list[str]:
        cells = [[marked(visible(str(v))) for v in _row(outcome)] for outcome in self.outcomes]
        rows = [f"<tbody><tr><td>{'</td><td>'.join(row)}</td></tr></tbody>" for row in cells]
        return [
            html_heading(f"Conformance of {self.subject}"),
            html_tables(_WIDTHS, rows, [], len(rows), ".frame()"),
            html_list("told", "", self._end()),
        ]

    def _end(self) -> list[str]:
        stopped = ["It was interrupted: the facts after that were not tried."]
        return [
            self.counts,
            *(stopped if self.interrupted else ()),
            *self.notes,
            *(f"Left behind, remove it yourself: {line}" for line in self.left),
        ]


def _row(outcome: Outcome) -> tuple[int | str, ...]:
    fact = outcome.fact
    return (fact.number, fact.name, fact.section, outcome.state, fact.statement, outcome.seen)
