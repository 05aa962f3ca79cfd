"""Fact: one thing the API document states, and how to see whether a service does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeVar

if TYPE_CHECKING:
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
    """What came of one fact: `seen` says what differs, or why it is not told."""

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
