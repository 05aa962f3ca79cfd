"""One finding: what is wrong, or odd, at one place of what was checked; several; and in words.

Flow documents, contents and contacts are all told of in this way, and a plan takes findings of
any kind. What one kind knows besides (template and language, the row of a frame) is in a class
derived from `Finding`, in the package that makes it. The words are those of plans and errors: one
finding in a line or as what is wrong with a field, many of them counted.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar, overload

from chatkit.errors import Problem
from chatkit.util.display import many, values, visible
from chatkit.util.json_pointer import PatchOperation, value_at

Severity: TypeAlias = Literal["error", "warning", "note"]
#: The gravest first.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to fix, or to know, at one place."""

    code: str  #: what it is, in a word or two to choose by
    severity: Severity
    pointer: str  #: JSON pointer to the place in what was checked
    message: str  #: what is wrong
    hint: str = ""  #: what to do
    line: int | None = None  #: in the text of a document, where there is one; the first is 1
    column: int | None = None
    #: What fixes it, where that is certain; empty where a person has to decide.
    patch: tuple[PatchOperation, ...] = field(default=(), compare=False, repr=False)

    @property
    def where(self) -> str:
        """The place in words: line and column when there is a text, and the pointer."""
        pointer = self.pointer or "(document)"
        return f"{self.line}:{self.column} {pointer}" if self.line else pointer

    def __str__(self) -> str:
        hint = f" {self.hint}" if self.hint else ""
        return visible(f"{self.severity} {self.code} at {self.where}: {self.message}{hint}")


AnyFinding = TypeVar("AnyFinding", bound=Finding)


class FindingSequence(Sequence[AnyFinding], Generic[AnyFinding]):
    """All that a check found, in the order of what was checked. Empty is good."""

    def __init__(self, findings: Iterable[AnyFinding]) -> None:
        self._found = tuple(findings)

    @abstractmethod
    def _with(self, findings: Iterable[AnyFinding]) -> Self:
        """Return the same with only these findings."""

    @overload
    def __getitem__(self, index: int) -> AnyFinding: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> AnyFinding | Self:
        return self._with(self._found[index]) if isinstance(index, slice) else self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[AnyFinding]:
        return iter(self._found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._found == other._found

    def __hash__(self) -> int:
        return hash(self._found)

    @property
    def ok(self) -> bool:
        """True where there is no error."""
        return not any(each.severity == "error" for each in self._found)

    @property
    def errors(self) -> Self:
        """The findings that must be fixed."""
        return self._only("error")

    @property
    def warnings(self) -> Self:
        """The findings that are likely mistakes."""
        return self._only("warning")

    @property
    def notes(self) -> Self:
        """The findings that are good to know."""
        return self._only("note")

    def counts(self) -> dict[str, int]:
        """Count the findings by code, the most frequent first."""
        return dict(Counter(each.code for each in self._found).most_common())

    def _only(self, severity: Severity) -> Self:
        return self._with(each for each in self._found if each.severity == severity)


def errors(findings: Iterable[Finding]) -> list[Finding]:
    """Pick those that the platform refuses."""
    return [finding for finding in findings if finding.severity == "error"]


def doubts(findings: Iterable[Finding]) -> list[Finding]:
    """Pick what a person is to know of what is sent all the same: all but mere notes."""
    return [finding for finding in findings if finding.severity != "note"]


def finding_line(finding: Finding) -> str:
    """Write one in a line: its code, its place, what is wrong."""
    place = f" at {finding.pointer}" if finding.pointer else ""
    if not place and finding.message.startswith(finding.code):
        return finding.message  # "too short for +44" needs no "too short" before it
    return f"{finding.code}{place}: {finding.message}"


def document_problem(field: str, document: object, finding: Finding) -> Problem:
    """Return one as what is wrong with a field; the value is what stands at its place."""
    value = values(value_at(document, finding.pointer))
    return Problem(field, value, finding_line(finding), finding.hint)


def cell_problem(fields: Mapping[str, Any], finding: Finding) -> Problem:
    """Return one, whose pointer leads into a record, as what is wrong with a field of it."""
    name, slash, rest = finding.pointer.removeprefix("/").partition("/")
    inner = replace(finding, pointer=slash + rest)
    if name in fields:
        return document_problem(name, fields[name], inner)
    return Problem(name, "", finding_line(inner), finding.hint)


def summary(findings: Sequence[Finding]) -> str:
    """Count errors and warnings, and tell the first of the worst."""
    if not findings:
        return ""
    wrong = errors(findings)
    counts = [many(len(wrong), "error")] if wrong else []
    if rest := len(findings) - len(wrong):
        counts.append(many(rest, "warning"))
    first = (wrong or findings)[0]
    place = ", first " if len(findings) > 1 else ": "
    line = finding_line(first)
    step = f"{'' if line.endswith('.') else '.'} {first.hint}" if first.hint else ""
    return f"{' and '.join(counts)}{place}{line}{step}"


FEW = 8  #: different findings that are told
_NAMED = 3  #: records that are named where the same is to be said of many


class FindingCounts:
    """Counts what is to be known of records that are sent all the same, for any number of them.

    Records of which the same is to be said are told together.

    Args:
        noun: One record: "contact".
    """

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._alike: dict[str, tuple[int, list[str]]] = {}  # how many, and the first of them
        self._others = 0  # of whom something else is to be said than of the first few kinds

    def add(self, label: str, findings: Sequence[Finding]) -> None:
        """Count the findings in one record.

        Args:
            label: What people call it.
            findings: What is to be known of it.
        """
        text = summary(findings)
        if text not in self._alike and len(self._alike) >= FEW:
            self._others += 1
            return
        count, labels = self._alike.get(text, (0, []))
        self._alike[text] = count + 1, [*labels, label][: _NAMED + 1]

    def notes(self) -> list[str]:
        """Return a line for each kind of finding: the labels of the records come first."""
        lines = [f"{_named(self._noun, *who)} {text}" for text, who in self._alike.items()]
        if self._others:
            more = many(self._others, f"more {self._noun}")
            lines.append(f"… and {more} with errors or warnings.")
        return lines


def _named(noun: str, count: int, labels: Sequence[str]) -> str:
    """Name some records, the first of them if they are many, and the verb that follows."""
    if count == 1:
        return f"{labels[0]} has"
    if count <= _NAMED + 1:
        return f"{', '.join(labels[:-1])} and {labels[-1]} have each"
    rest = many(count - _NAMED, f"more {noun}")
    return f"{', '.join(labels[:_NAMED])} and {rest} have each"
