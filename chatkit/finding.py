"""One finding: what is wrong, or odd, at one place of what was checked; and several of them.

Flow documents, contents and contacts are all told of in this way, and a plan takes findings of
any kind. What one kind knows besides (template and language, the row of a frame) is in a class
derived from `Finding`, in the package that makes it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, Self, TypeAlias, TypeVar, overload

from chatkit.display import visible

Severity: TypeAlias = Literal["error", "warning", "note"]
#: The gravest first.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


class PatchOperation(NamedTuple):
    """One operation of a JSON Patch (RFC 6902); `add` to a key that is there replaces it."""

    op: Literal["add", "remove"]
    path: str
    value: Any = None


def removing(pointer: str) -> tuple[PatchOperation, ...]:
    """Return the patch that takes out what stands at a place."""
    return (PatchOperation("remove", pointer),)


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

    def __init__(self, found: Iterable[AnyFinding]) -> None:
        self._found = tuple(found)

    @abstractmethod
    def _with(self, found: Iterable[AnyFinding]) -> Self:
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
        """Whether there is no error."""
        return not any(each.severity == "error" for each in self._found)

    @property
    def errors(self) -> Self:
        """What must be fixed."""
        return self._only("error")

    @property
    def warnings(self) -> Self:
        """What is likely a mistake."""
        return self._only("warning")

    @property
    def notes(self) -> Self:
        """What is good to know."""
        return self._only("note")

    def counts(self) -> dict[str, int]:
        """Count the findings by code, the most frequent first."""
        return dict(Counter(each.code for each in self._found).most_common())

    def _only(self, severity: Severity) -> Self:
        return self._with(each for each in self._found if each.severity == severity)
