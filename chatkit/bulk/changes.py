"""Changes: what each row of a plan does to one record, as JSON, and however many there are.

A plan of some thousand rows holds its changes in memory. One of millions does not fit there: its
changes are written to a file of this process as they are made, one after the other, and read
from it in windows. What is counted of them again and again, for a review, is counted once, while
they are written.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from math import isfinite, isnan
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, overload

import msgspec

from chatkit import temporary
from chatkit.display import shortened
from chatkit.errors import ChatkitError, InputError, Problem

Kind = Literal["create", "update", "delete", "skip"]
Undo = Literal["exactly", "not exactly", "never"]


class Change(msgspec.Struct, frozen=True):
    """What one row of a frame does to one record. A plan makes one for each of its rows.

    `before` holds what the plan knows of the record: for an update the fields that change,
    for a delete all that could be sent. A field that the service does not show is not in it.
    `after` holds the fields to send; it is empty for a delete. A skip sends nothing: it tells
    of a row that met an existing record what that keeps, and what the row says instead.
    """

    row: Any  #: the label of the row in the frame's index
    kind: Kind
    key: int | str | None  #: id or language code; None: the service gives it
    label: str  #: which record, in words people know: a number, a name, a code, an address
    before: Mapping[str, Any] = msgspec.field(default_factory=dict)
    after: Mapping[str, Any] = msgspec.field(default_factory=dict)
    code: str | None = None  #: the template code, for contents
    undo: Undo = "exactly"
    loss: str = ""  #: why it cannot be undone exactly
    seen: str | None = None  #: its updated_at when the plan was made
    noun: str | None = None  #: contact, flow, content or webhook; None: the plan's, which has one

    def as_json(self) -> dict[str, Any]:
        """Return what can be written as JSON, for a journal or a file.

        A noun that is the plan's is left out, so that the hash of such a plan is what it was
        before changes could have one of their own.
        """
        fields = msgspec.structs.asdict(self)
        fields |= {
            "row": label_as_json(self.row),
            "before": dict(self.before),
            "after": dict(self.after),
        }
        if self.noun is None:
            del fields["noun"]
        return fields

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Change:
        """Read what `as_json` returned.

        Raises:
            ValueError, LookupError: It is no change.
        """
        return msgspec.convert({**fields, "row": label_from_json(fields["row"])}, cls)


def label_as_json(row: Any) -> Any:
    """Make a row's label fit for JSON: labels of several levels are lists, odd ones are text."""
    if isinstance(row, tuple):
        return [label_as_json(part) for part in row]
    if hasattr(row, "item"):  # a number of numpy
        row = row.item()
    if isinstance(row, str | int | None):
        return row
    if isinstance(row, float):
        return row if isfinite(row) else None if isnan(row) else str(row)
    return str(row)


def label_from_json(row: Any) -> Any:
    """Read what `label_as_json` returned."""
    return tuple(map(label_from_json, row)) if isinstance(row, list) else row


#: What writers of JSON raise where it cannot hold something; half a character is a ValueError.
NOT_JSON = (TypeError, ValueError, RecursionError)
#: As for a call: the standard library's writer refuses what JSON has not, others write null.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
#: More problems than this are only counted.
_TOLD = 20


def change_texts(changes: Iterable[Change]) -> Iterator[tuple[Change, str]]:
    """Serialize changes as JSON one by one, or refuse all that cannot be at the end of them.

    Raises:
        InputError: JSON cannot hold one of their labels or values.
    """
    problems, count = [], 0
    for change in changes:
        try:
            text = _encode(change.as_json())
            text.encode()
        except NOT_JSON as error:
            count += 1
            if count <= _TOLD:
                problems.append(_unwritable(change, error))
        else:
            yield change, text
    if problems:
        these = f"the first {_TOLD} of {count}" if count > _TOLD else "these"
        heading = f"JSON cannot hold some of the rows, so nothing was sent; {these}:"
        raise InputError(heading, problems)


def _unwritable(change: Change, error: Exception) -> Problem:
    """Say which part of a change JSON cannot hold, and why."""
    fields = change.as_json()
    label, before, after = (fields.pop(name) for name in ("row", "before", "after"))
    place, value = "", None
    for name, part in chain([("its label", label)], *(d.items() for d in (before, after, fields))):
        try:
            _encode({name: part}).encode()
        except NOT_JSON as found:
            place, value, error = f", {name}", part, found
            break
    reason = "holds half a character" if isinstance(error, UnicodeEncodeError) else str(error)
    return Problem(f"row {change.row!r}{place}", shortened(repr(value)), reason)


#: Changes beyond so many lie in a file; a run has so many rows in memory at a time.
WINDOW = 100_000
#: So many are read from the file at once.
_READ = 2000


class ChangeGroup(NamedTuple):
    """What changes of one kind to one resource have in common."""

    noun: str | None  #: contact, flow, content or webhook; None: the plan's, which has one
    kind: Kind


class ChangeReason(NamedTuple):
    """What changes are counted by."""

    noun: str | None
    kind: Kind
    undo: Undo
    loss: str


_COUNTED = attrgetter(*ChangeReason._fields)


class StoredChanges(Sequence[Change]):
    """Changes in a temporary file of this process: a sequence that memory need not hold.

    The file is for its owner alone, and goes with the last reference to the sequence, or with
    the process. A slice is a list of changes: ask for windows, not for all.

    Args:
        changes: They are taken one by one, so that any number of them takes the same memory.

    Raises:
        InputError: JSON cannot hold one of the labels or values.
        ChatkitError: The disk of the temporary folder is full or fails.
    """

    def __init__(self, changes: Iterable[Change]) -> None:
        self._file = _File(changes)
        self._only: tuple[int, ...] | None = None  # the parts of it; None: all of them
        self._length = sum(self._file.tally.values())

    @property
    def tally(self) -> Counter[ChangeReason]:
        """How many there are of each kind, and of each reason why they cannot be undone."""
        if self._only is None:
            return self._file.tally
        parts = [list(self._file.parts)[n] for n in self._only]
        counts = self._file.tally.items()
        return Counter(
            {each: n for each, n in counts if ChangeGroup(each.noun, each.kind) in parts}
        )

    def parts(self) -> dict[ChangeGroup, Self]:
        """Part them by resource and kind, as sequences of the same file, in the order they came."""
        numbers = range(len(self._file.parts)) if self._only is None else self._only
        named = list(self._file.parts)
        return {named[number]: self._of((number,)) for number in numbers}

    def of_nouns(self) -> dict[str | None, Self]:
        """Part them by resource, as sequences of the same file, in the order they came."""
        found: dict[str | None, list[int]] = {}
        for part in self.parts():
            found.setdefault(part.noun, []).append(self._file.parts[part])
        return {noun: self._of(tuple(numbers)) for noun, numbers in found.items()}

    def first_of(self, undo: Undo) -> Change | None:
        """Return the first that can be undone so, None if there is none."""
        return self._file.first.get(undo)

    def texts(self, start: int = 0, stop: int | None = None) -> Iterator[str]:
        """Read them as JSON, one by one.

        Args:
            start: The number of the first.
            stop: The number of the one after the last; None for all.
        """
        stop = self._length if stop is None else min(stop, self._length)
        left = max(0, stop - start)
        last = self._place(start) - 1 if left and start < self._length else 0
        while left > 0:
            rows = self._file.read(self._only, last, min(left, _READ))
            yield from (body for _, body in rows)
            if not rows:
                return
            last, left = rows[-1][0], left - len(rows)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Change]:
        return map(_change, self.texts())

    @overload
    def __getitem__(self, n: int) -> Change: ...
    @overload
    def __getitem__(self, n: slice) -> list[Change]: ...
    def __getitem__(self, n: int | slice) -> Change | list[Change]:
        if isinstance(n, slice):
            start, stop, step = n.indices(self._length)
            if step == 1:
                return [_change(text) for text in self.texts(start, stop)]
            return [self[each] for each in range(start, stop, step)]
        number = n + self._length if n < 0 else n
        if not 0 <= number < self._length:
            raise IndexError(f"there are {self._length:,} changes, and no number {n}")
        return next(map(_change, self.texts(number, number + 1)))

    def __repr__(self) -> str:
        return f"<{self._length:,} changes in a temporary file>"

    def _of(self, parts: tuple[int, ...]) -> Self:
        """Make a sequence of some parts of the same file."""
        if self._only is None and len(parts) == len(self._file.parts):
            return self
        some = object.__new__(type(self))
        some._file, some._only = self._file, parts
        some._length = sum(some.tally.values())
        return some

    def _place(self, number: int) -> int:
        """Tell where in the file the change of a number is."""
        return number if self._only is None else self._file.place(self._only, number)


def kept_changes(changes: Iterable[Change], most: int | None = None) -> Sequence[Change]:
    """Keep changes as they come: in memory, or in a temporary file if they are many.

    Args:
        changes: They are taken one by one.
        most: How many are kept in memory; `WINDOW` if nothing is said.

    Raises:
        InputError: JSON cannot hold one of the labels or values of many.
        ChatkitError: The disk of the temporary folder is full or fails.
    """
    source, most = iter(changes), WINDOW if most is None else most
    first = tuple(islice(source, most + 1))
    return first if len(first) <= most else StoredChanges(chain(first, source))


def tally_of(changes: Sequence[Change]) -> Counter[ChangeReason]:
    """Count changes by kind, and by why they cannot be undone, in the order they came."""
    if isinstance(changes, StoredChanges):
        return changes.tally
    counts = Counter(map(_COUNTED, changes))
    return Counter({ChangeReason(*each): count for each, count in counts.items()})


def _change(text: str) -> Change:
    return Change.from_json(msgspec.json.decode(text))


class _File:
    """The file of stored changes, which several sequences may read; any thread may."""

    def __init__(self, changes: Iterable[Change]) -> None:
        self.tally: Counter[ChangeReason] = Counter()
        self.parts: dict[ChangeGroup, int] = {}
        self.first: dict[Undo, Change] = {}
        folder = temporary.folder()
        handle, name = tempfile.mkstemp(".changes", dir=folder)  # 0600
        with open(handle, "rb"):
            self._db = sqlite3.connect(name, isolation_level=None, check_same_thread=False)
        self._close = weakref.finalize(self, _remove, self._db, Path(name))
        self._close.atexit = False  # its folder goes with the process, and not with a fork of it
        try:
            self._fill(changes)
        except sqlite3.Error as error:
            self._close()
            raise ChatkitError(
                f"The changes of a plan cannot be kept in {folder}: {error}. Free some space "
                "there, or set TMPDIR to a folder on another disk. Nothing was sent."
            ) from error
        except BaseException:
            self._close()
            raise

    def _fill(self, changes: Iterable[Change]) -> None:
        run = self._db.execute
        run("PRAGMA journal_mode = OFF")  # what is half written goes with its process
        run("PRAGMA synchronous = OFF")
        run("CREATE TABLE change (n INTEGER PRIMARY KEY, part INTEGER NOT NULL, body TEXT)")
        run("BEGIN")
        rows = enumerate(map(self._counted, change_texts(changes)))
        self._db.executemany("INSERT INTO change VALUES (?, ?, ?)", ((n, *row) for n, row in rows))
        if len(self.parts) > 1:
            run("CREATE INDEX change_of_part ON change (part)")
        run("COMMIT")

    def _counted(self, one: tuple[Change, str]) -> tuple[int, str]:
        change, text = one
        self.tally[ChangeReason(change.noun, change.kind, change.undo, change.loss)] += 1
        self.first.setdefault(change.undo, change)
        part = self.parts.setdefault(ChangeGroup(change.noun, change.kind), len(self.parts))
        return part, text

    def read(self, parts: tuple[int, ...] | None, after: int, count: int) -> list[tuple[int, str]]:
        """Read so many changes of some parts whose place is after another's."""
        where = _where(parts)
        query = f"SELECT n, body FROM change WHERE {where} n > ? ORDER BY n LIMIT ?"  # noqa: S608
        return self._db.execute(query, (*(parts or ()), after, count)).fetchall()

    def place(self, parts: tuple[int, ...], number: int) -> int:
        """Tell where the change of a number among those of some parts is."""
        query = f"SELECT n FROM change WHERE {_where(parts)} 1 ORDER BY n LIMIT 1 OFFSET ?"  # noqa: S608
        (place,) = self._db.execute(query, (*parts, number)).fetchone()
        return int(place)


def _where(parts: tuple[int, ...] | None) -> str:
    """Write the condition of some parts: of one by the index, of several in their order."""
    if parts is None:
        return ""
    if len(parts) == 1:
        return "part = ? AND"
    return f"+part IN ({', '.join('?' * len(parts))}) AND"


def _remove(connection: sqlite3.Connection, path: Path) -> None:
    connection.close()
    with suppress(OSError):  # its folder goes with the process
        path.unlink(missing_ok=True)
