"""Check: look at every row of a frame of contacts before it becomes a plan."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import pandas as pd

from chatkit.bulk.matching import number_keys
from chatkit.checks.characters import NAME, Oddity, mended, of_name
from chatkit.checks.numbers import Pair, Told, doubted, tell
from chatkit.checks.quality import CellFinding, Quality, hint_of
from chatkit.display import many, values
from chatkit.errors import InputError
from chatkit.finding import SEVERITIES, Finding
from chatkit.frame import collector_paused, column_or_level, listed
from chatkit.report import row_label
from chatkit.snapshot import Snapshot, memory

if TYPE_CHECKING:
    from chatkit.profile import ServiceProfile
    from chatkit.transport import Transport


#: The parts of a name, as the service keeps it.
PARTS = ("first_name", "middle_name", "last_name")


class Room(Protocol):
    """The room of contacts, as far as it is asked."""

    key: ClassVar[str]
    profile: ServiceProfile
    transport: Transport

    def named_by(self) -> Sequence[str]:
        """Name the fields that tell one contact from another."""

    def base(self, frame: pd.DataFrame | None) -> Snapshot:
        """Return what a frame was when it was read, or else what is there now."""

    def full(self, keys: Sequence[Any]) -> pd.DataFrame:
        """Read these contacts in full, as far as they are there."""

    def resplit(self, parts: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Return the parts that a name would have if it was sent again; None for the same."""


def check(room: Room, frame: pd.DataFrame, region: str | None) -> Quality:
    """Check a frame, as `Contacts.check` tells.

    Raises:
        InputError: It is no frame of contacts, or there is no such region.
    """
    if not isinstance(frame, pd.DataFrame):
        raise InputError("check takes a frame: of read_contacts(…), or client.contacts.frame().")
    if not frame.columns.is_unique:
        raise InputError("Each column of the frame needs one name of its own.")
    if not {"number", "name"} & {*frame.columns}:
        raise InputError("There is no column number and none that is called name to be checked.")
    with collector_paused():
        checking = _Checking(room, frame, region)
        checking.names()
        checking.parts()
        if "number" in frame.columns:
            checking.numbers()
            checking.duplicates()
        order = {severity: n for n, severity in enumerate(SEVERITIES)}
        checking.findings.sort(key=lambda found: (order[found.severity], found.place))
        return Quality(frame, checking.findings, checking.notes)


class _Checking:
    """Collects what is found."""

    def __init__(self, room: Room, frame: pd.DataFrame, region: str | None) -> None:
        self.findings: list[CellFinding] = []
        self.notes: list[str] = []
        self._room, self._frame, self._region = room, frame, region
        self._labels = frame.index.tolist()
        self._ids = self._keys()
        self._names = self._cells("name")
        self._odd: dict[str, list[Oddity]] = {}
        self._told: list[Told] = []

    def _keys(self) -> list[int | None]:
        """Return the ids of the rows that are contacts of this account."""
        cells = column_or_level(self._frame, self._room.key)
        theirs = memory(self._frame).get("account")
        foreign = theirs not in (None, self._room.transport.connection.account)
        if cells is None or foreign:
            return [None] * len(self._frame)
        ids, given = number_keys(cells)
        return [id_ if there else None for id_, there in zip(ids.tolist(), given, strict=True)]

    def _cells(self, column: str) -> list[Any]:
        if column not in self._frame.columns:
            return [None] * len(self._frame)
        return listed(self._frame[column])

    def _add(self, place: int, column: str, value: Any, odd: Oddity) -> None:
        self.findings.append(CellFinding.of(odd, self._labels[place], column, value, place))

    # --- names ---

    def names(self) -> None:
        """Look at the characters of each name; the same name is looked at once."""
        known = self._odd
        for place, name in enumerate(self._names):
            if isinstance(name, str):
                if name not in known:
                    known[name] = of_name(name)
                for odd in known[name]:
                    self._add(place, "name", name, odd)
            elif name is not None:
                odd = Oddity("not text", "error", "a name is text: nothing else can be sent")
                self._add(place, "name", name, odd)

    def parts(self) -> None:
        """Find names that would be split in another way, if they were sent again."""
        if not {"name", *PARTS} <= {*self._frame.columns}:
            return
        columns = [self._cells(part) for part in PARTS]
        known: dict[tuple[Any, ...], tuple[str, ...] | None] = {}
        for place, parts in enumerate(zip(*columns, strict=True)):
            name = self._names[place]
            if name != " ".join(filter(None, parts)):  # edited: it is split anew anyhow
                continue
            if parts not in known:
                known[parts] = self._room.resplit(dict(zip(PARTS, parts, strict=True)))
            if split := known[parts]:
                now, then = _joined(parts), _joined(split)
                reason = f"its parts are {now}; if it is sent again they become {then}"
                self._add(place, "name", name, Oddity("parts", "note", reason))

    # --- numbers ---

    def numbers(self) -> None:
        """Look at each number, together with its country code."""
        codes, cells = self._cells("country_code"), self._cells("number")
        self._told = tell(codes, cells, self._region)
        for place, told in enumerate(self._told):
            if self._ids[place] is not None and _untouched(codes[place], cells[place]):
                self._told[place] = Told()
                continue
            if told.odd:
                value = cells[place] if told.column == "number" else codes[place]
                self._add(place, told.column, value, self._weighed(place, told.odd))
            if told.doubt:
                self._add(place, "number", cells[place], self._weighed(place, told.doubt))
        lacking = sum(found.code == "no country code" for found in self.findings)
        if lacking:
            self.notes.append(
                f"{many(lacking, 'row')} without a country code: check(frame, region='IN') reads "
                "such numbers as they are dialled in India."
            )

    def _weighed(self, place: int, odd: Oddity) -> Oddity:
        """Take it as a note that a number is doubted which the account has already."""
        doubted = self._ids[place] is not None and odd.severity == "warning"
        return odd._replace(severity="note") if doubted else odd

    # --- duplicates ---

    def duplicates(self) -> None:
        """Look for numbers that are there twice, in the frame or in the account."""
        cells = list(zip(self._cells("country_code"), self._cells("number"), strict=True))
        pairs = [told.pair for told in self._told]
        names = [
            mended(name, NAME, _ALWAYS) if isinstance(name, str) and self._odd[name] else name
            for name in self._names
        ]
        rows = Rows(self._labels, self._ids, names, pairs, cells)
        by = self._room.named_by()
        found = dict(inside(rows, by))
        self._tell(found.items(), cells)
        if not any(pairs):
            return
        account = self._account(by)
        inactive = self._inactive(account, rows)
        self._tell(account.outside(rows, found, inactive), cells)

    def _tell(self, found: Iterable[tuple[int, Oddity]], cells: Sequence[tuple[Any, Any]]) -> None:
        for place, odd in found:
            self._add(place, "number", cells[place][1], odd)

    def _account(self, by: Sequence[str]) -> Account:
        snapshot = self._room.base(self._frame)
        base = snapshot.frame if snapshot.whole else self._room.base(None).frame
        cells = zip(listed(base["country_code"]), listed(base["number"]), strict=True)
        return Account(base.index.tolist(), listed(base["name"]), list(cells), by)

    def _inactive(self, account: Account, rows: Rows) -> set[Any]:
        """Tell which contacts of the account are deleted, as far as the service shows that."""
        profile = self._room.profile
        held = {
            place: holder.id for place, holder in account.matches(rows) if rows.ids[place] is None
        }
        new = sum(
            pair is not None and id_ is None for pair, id_ in zip(rows.pairs, rows.ids, strict=True)
        )
        if new == len(held) and not profile.inactive_in_lists:
            return set()  # all of them are listed, so they are active
        if not profile.inactive_in_lists:
            self.notes.append(
                "Deleted contacts are not listed, so they cannot be told here: creating the "
                "number of one restores it, with its old id."
            )
            return set()
        if held and profile.inactive_readable:
            self.notes.append(
                "Deleted contacts are listed like all others: a row with the number of one is a "
                "conflict when it is applied, and client.contacts.create restores it."
            )
            return set()
        ids = {*held.values()}
        return ids - {*self._room.full(sorted(ids)).index} if ids else set()


#: What a name is mended by before it is compared with another.
_ALWAYS = ("garbled", "control characters", "direction marks", "invisible", "decomposed", "spaces")


def _untouched(code: Any, number: Any) -> bool:
    """Whether a row of the account says nothing of its number, or only the digits of it."""
    return number is None or (code is None and isinstance(number, str) and number.isdigit())


def _joined(parts: Sequence[str | None]) -> str:
    return " | ".join(part or "–" for part in parts)


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


def odd(names: Mapping[int, Any], numbers: Mapping[int, Pair]) -> dict[int, list[Finding]]:
    """Find what is odd about names and numbers that are sent; mere notes are left out.

    Errors are numbers that no country can have.

    Args:
        names: Names by the places of their contacts.
        numbers: Country codes and numbers by the places of their contacts.

    Returns:
        What was found by place. Pointers lead into the contact.
    """
    found: dict[int, list[Finding]] = {}
    places = list(numbers)
    codes, digits = ([pair[side] for pair in numbers.values()] for side in range(2))
    for n, oddities in (doubted(codes, digits) if places else {}).items():
        found[places[n]] = [_finding(each, "number") for each in oddities]
    known: dict[str, Sequence[Finding]] = {}
    for place, name in names.items():
        if not isinstance(name, str):
            continue
        if name not in known:
            oddities = [each for each in of_name(name) if each.severity != "note"]
            known[name] = [_finding(each._replace(severity="warning"), "name") for each in oddities]
        if known[name]:
            found.setdefault(place, []).extend(known[name])
    return found


def _finding(odd: Oddity, field: str) -> Finding:
    return Finding(odd.code, odd.severity, f"/{field}", odd.message, hint_of(odd))
