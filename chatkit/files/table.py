"""Table: what all kinds of files are read into before anyone asks what their columns mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One row: its number in the file, as a spreadsheet program shows it, and its cells."""

    number: int
    cells: Sequence[Any]


class Odd(NamedTuple):
    """A cell that holds nothing usable: what a person sees there, and what is wrong with it."""

    text: str
    reason: str


class Broken(NamedTuple):
    """A row that could not be read into cells, and why."""

    number: int
    text: str  #: as it stands in the file
    reason: str


@dataclass
class Table:
    """The rows of a file from top to bottom; one of the first holds the names of the columns.

    A cell is text where the file has text, None where there is nothing, and else what the file
    holds: a number, a time, `Odd`.
    """

    kind: str  #: what was read, in words: "CSV (UTF-8, commas)"
    rows: list[Row]
    notes: list[str] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    titled: bool = True  #: whether a title may stand above the names of the columns
    ours: bool = False  #: whether we have named the columns ourselves


def letter(column: int) -> str:
    """Name a column as a spreadsheet program does: A is 0, AA is 26."""
    name = ""
    while column >= 0:
        column, rest = divmod(column, 26)
        name = chr(ord("A") + rest) + name
        column -= 1
    return name


def listed(numbers: Sequence[int], most: int = 5) -> str:
    """Say which rows, the first of them if there are many."""
    shown = ", ".join(map(str, numbers[:most]))
    rest = len(numbers) - most
    return f"row{'s' * (len(numbers) > 1)} {shown}" + (f" and {rest} more" if rest > 0 else "")


def shown(name: str) -> str:
    """Show a name that a stranger chose: in quotes if something of it would not be seen."""
    return name if name.isprintable() and name.strip() == name != "" else repr(name)
