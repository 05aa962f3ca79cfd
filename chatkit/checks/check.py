"""Check: look at every row of a frame of contacts before it becomes a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import pandas as pd

from chatkit.bulk.keys import numbers
from chatkit.bulk.same import listed
from chatkit.bulk.value import many
from chatkit.checks.characters import mended
from chatkit.checks.duplicates import Account, Rows, inside
from chatkit.checks.findings import SEVERITIES, Finding, Oddity
from chatkit.checks.names import NAME, of_name
from chatkit.checks.numbers import Told, tell
from chatkit.checks.quality import Quality
from chatkit.errors import InputError
from chatkit.frame import collector_paused, column_or_level
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
        self.findings: list[Finding] = []
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
        ids, given = numbers(cells)
        return [id_ if there else None for id_, there in zip(ids.tolist(), given, strict=True)]

    def _cells(self, column: str) -> list[Any]:
        if column not in self._frame.columns:
            return [None] * len(self._frame)
        return listed(self._frame[column])

    def _add(self, place: int, column: str, value: Any, odd: Oddity) -> None:
        self.findings.append(Finding.of(odd, self._labels[place], column, value, place))

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
