"""Facts: what the API document states, how to see whether a service does it, and the report.

A fact is a function that looks at evidence of one kind, or a line in a table of fields: their
names, the kind of their values, the places that show them. It holds, or raises what was seen
instead; a value is never shown, only its kind: it may be a customer's, or a secret.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, Protocol, TypeVar

import msgspec

from chatkit.answer import printable
from chatkit.display import visible
from chatkit.record import moment
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


_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)", re.ASCII)
_NAMES: dict[type, str] = {
    msgspec.UnsetType: "missing",
    type(None): "null",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "an array",
    dict: "an object",
}


@dataclass(frozen=True, slots=True)
class ValueKind:
    """Kind of the values of a field: in words, and as a test."""

    words: str
    fits: Callable[[Any], bool]

    def or_null(self) -> ValueKind:
        """Return the kind that takes null as well."""
        return ValueKind(f"{self.words} or null", lambda value: value is None or self.fits(value))


def _is_time(value: Any) -> bool:
    """Whether a value is a moment that exists, written as the document says."""
    if type(value) is not str or not _UTC.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value[:19])
    except ValueError:
        return False
    return True


def _is_moment(value: Any) -> bool:
    """Whether a value is a moment in some form: ISO 8601, or a number since 1970."""
    try:
        return moment(value) is not None
    except (TypeError, ValueError, OverflowError):
        return False


def pattern(expression: str, words: str) -> ValueKind:
    """Text of which all is as a regular expression says."""
    compiled = re.compile(expression, re.ASCII)
    return ValueKind(words, lambda value: type(value) is str and bool(compiled.fullmatch(value)))


def array_of(kind: ValueKind, words: str) -> ValueKind:
    """An array with items of one kind."""
    return ValueKind(words, lambda value: type(value) is list and all(map(kind.fits, value)))


def object_of(fields: Mapping[str, ValueKind]) -> ValueKind:
    """An object that has these fields; it may have others."""
    return ValueKind(
        f"an object with {listing(fields)}",
        lambda value: (
            type(value) is dict
            and all(name in value and kind.fits(value[name]) for name, kind in fields.items())
        ),
    )


ANYTHING = ValueKind("anything", lambda value: True)
WHOLE = ValueKind("a whole number", lambda value: type(value) is int)
TEXT = ValueKind("text", lambda value: type(value) is str)
FLAG = ValueKind("true or false", lambda value: type(value) is bool)
TIME = ValueKind("an ISO 8601 time in UTC", _is_time)
MOMENT = ValueKind("a timestamp", _is_moment)
ARRAY = ValueKind("an array", lambda value: type(value) is list)


class Recorded(Protocol):
    """Evidence of a resource whose records are shown in several places."""

    def records(self, place: str) -> list[dict[str, Any]]:
        """The records seen in a place: list, get, create or update. Raises NotTold without one."""


S = TypeVar("S", bound=Recorded)
#: Number, names, kind, and the places that show the fields.
FieldRow = tuple[int, str, ValueKind, str]


def add_fields(facts: Facts[S], section: str, noun: str, rows: Iterable[FieldRow]) -> None:
    """Add a fact for each row: its fields are of its kind wherever they are shown."""
    for number, names, kind, places in rows:
        fields = names.split()
        facts.add(
            number,
            f"{noun}_{fields[0]}".replace(" ", "_"),
            section,
            f"{listing(fields)} of a {noun} {'is' if len(fields) == 1 else 'are'} {kind.words}.",
            _check(fields, kind, places.split()),
        )


def _check(fields: list[str], kind: ValueKind, places: list[str]) -> Callable[[Recorded], None]:
    def check(evidence: Recorded) -> None:
        seen = [(place, record) for place in places for record in _records(evidence, place)]
        if not seen:
            not_told("no record was seen")
        for place, record in seen:
            for field in fields:
                expect(field in record, f"{field} is missing in {place}")
                saw = f"{field} is {shape(record[field])} in {place}, not {kind.words}"
                expect(kind.fits(record[field]), saw)

    return check


def _records(evidence: Recorded, place: str) -> list[dict[str, Any]]:
    try:
        return evidence.records(place)
    except NotTold:
        return []  # the other places tell


def shape(value: Any) -> str:
    """Name the kind of a value without showing it: it may be a customer's, or a secret."""
    return _NAMES.get(type(value), "nothing JSON knows")


def listing(names: Iterable[str]) -> str:
    """Join names as a sentence does. Names that come from a service are shown if plain."""
    plain = [n if re.fullmatch(r"\w{1,40}", n, re.ASCII) else "(an odd name)" for n in names]
    return " and ".join([", ".join(plain[:-1]), plain[-1]]) if len(plain) > 1 else "".join(plain)


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
