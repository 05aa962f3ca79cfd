"""Findings: what is wrong, or odd, in one cell of a frame or in one text."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


class Oddity(NamedTuple):
    """One thing that is wrong, or odd, with a text."""

    code: str  #: a word or two, to choose by: "spaces"
    severity: Severity
    reason: str
    suggestion: str | None = None  #: the text as it may be meant
    safe: bool = False  #: whether the suggestion surely is what was meant


class Finding(NamedTuple):
    """One thing that is wrong, or odd, with one cell of a frame."""

    row: Any  #: what the frame calls the row
    column: str
    severity: Severity
    code: str
    reason: str
    value: Any  #: what is in the cell, None for nothing
    suggestion: str | None
    safe: bool
    place: int  #: which row it is; the first is 0

    @classmethod
    def of(cls, odd: Oddity, row: Any, column: str, value: Any, place: int) -> Finding:
        """Say where an oddity is."""
        return cls(
            *(row, column, odd.severity, odd.code, odd.reason),
            *(value, odd.suggestion, odd.safe, place),
        )
