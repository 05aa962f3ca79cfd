"""Duplicates: numbers that several rows have, or the account already, however they are written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from chatkit.bulk.show import row_label
from chatkit.bulk.value import values
from chatkit.checks.findings import Oddity
from chatkit.checks.numbers import Pair, tell


class Holder(NamedTuple):
    """A contact of the account."""

    id: Any
    name: str | None
    written: Pair
    alike: bool  #: whether its number is kept as it would be sent

    @property
    def called(self) -> str:
        """Name it: contact 50001, "Ana"."""
        return f"contact {self.id}" + (f", {values(self.name)}," if self.name else "")


class Rows(NamedTuple):
    """The rows of the frame that is checked."""

    labels: Sequence[Any]
    ids: Sequence[Any]  #: None for a row that is not in the account yet
    names: Sequence[Any]
    pairs: Sequence[Pair | None]
    cells: Sequence[tuple[Any, Any]]  #: country code and number as they are written


def named(pair: Pair, by: Sequence[str]) -> str:
    """Return what tells contacts apart: the number, or both; `by` names it."""
    return " ".join(pair) if "country_code" in by else pair[1]


def inside(rows: Rows, by: Sequence[str]) -> Iterator[tuple[int, Oddity]]:
    """Find rows with the number of an earlier row."""
    first: dict[str, int] = {}
    for place, pair in enumerate(rows.pairs):
        if pair is None:
            continue
        earlier = first.setdefault(named(pair, by), place)
        if earlier == place:
            continue
        said = [f"row {row_label(rows.labels[earlier])} has the same number"]
        other = rows.pairs[earlier]
        if other is not None and other[0] != pair[0]:
            said.append(f"of {other[0]}, and the service looks at the number alone")
        elif rows.cells[earlier] != rows.cells[place]:
            said.append("written in another way")
        if isinstance(name := rows.names[earlier], str) and name != rows.names[place]:
            said.append(f"and the name {values(name)}")
        yield place, Oddity("duplicate", "error", ", ".join(said))


class Account:
    """The contacts of the account, found by their numbers.

    Args:
        ids: Their ids.
        names: Their names, None for none.
        cells: Their country codes and numbers.
        by: What tells contacts apart.
    """

    def __init__(
        self,
        ids: Sequence[Any],
        names: Sequence[Any],
        cells: Sequence[tuple[Any, Any]],
        by: Sequence[str],
    ) -> None:
        self._by = by
        self._found: dict[str, Holder] = {}
        told = tell([code for code, _ in cells], [number for _, number in cells], None)
        for id_, name, cell, each in zip(ids, names, cells, told, strict=True):
            if all(isinstance(part, str) and part for part in cell):
                self._found[named(cell, by)] = Holder(id_, name, cell, True)
            if each.pair is not None and each.pair != cell:
                self._found.setdefault(
                    named(each.pair, by), Holder(id_, name, (str(cell[0]), str(cell[1])), False)
                )

    def holder(self, pair: Pair) -> Holder | None:
        """Find who has this number."""
        return self._found.get(named(pair, self._by))

    def outside(
        self, rows: Rows, skipped: Collection[int], inactive: Collection[Any]
    ) -> Iterator[tuple[int, Oddity]]:
        """Find rows whose number a contact has that is not in the frame.

        Args:
            rows: The rows that are checked.
            skipped: The places of those that need no look.
            inactive: The ids of contacts that are known to be deleted.
        """
        there = {id_ for id_ in rows.ids if id_ is not None}
        for place, holder in self.matches(rows):
            if place not in skipped and holder.id not in there:
                yield place, _held(holder, rows, place, holder.id in inactive)

    def matches(self, rows: Rows) -> Iterator[tuple[int, Holder]]:
        """Find who else has the number of each row."""
        for place, pair in enumerate(rows.pairs):
            holder = self.holder(pair) if pair else None
            if holder and holder.id != rows.ids[place]:
                yield place, holder


def _held(holder: Holder, rows: Rows, place: int, inactive: bool) -> Oddity:
    name = rows.names[place]
    if rows.ids[place] is not None:
        return Oddity("number taken", "error", f"{holder.called} has this number")
    if inactive:
        reason = f"{holder.called} was deleted: client.contacts.create restores it, no plan does"
        return Oddity("restores", "warning", reason)
    if not holder.alike:
        kept = values(" ".join(holder.written))
        reason = f"{holder.called} has it as {kept}: this row would become a second contact"
        return Oddity("in account", "warning", reason)
    if isinstance(name, str) and name != (holder.name or ""):
        reason = f"{holder.called} has this number: this row would rename it"
        return Oddity("in account", "warning", reason)
    return Oddity("in account", "note", f"{holder.called} has this number already")
