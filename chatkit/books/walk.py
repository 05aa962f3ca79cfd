"""Walk: what differs between two books, found by reading both once, side by side, and its plan.

Both are sorted by id, so a merge walk needs a batch of each in memory and no more: rows with ids
up to the smaller of the two last ones are matched, and their columns compared as Arrow has them.
Nothing is decided by that but which rows differ: the planner is given those, and compares them
cell by cell as it does the rows of a frame.

A row that only edits its own record needs nothing else to be planned. A new row, or one that
changes what names its record, has to do with whoever has that name: such rows are kept until the
end, and planned with those records, which a second reading finds. What is kept of them is all
that grows in memory.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, Unpack
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from chatkit import frame as frames
from chatkit import temporary
from chatkit.books.book import Book, base_of
from chatkit.books.manifest import ACCOUNT, MANIFEST, Manifest
from chatkit.books.spool import spool
from chatkit.bulk.matching import DELETE, number_keys
from chatkit.bulk.planner import PlanOptions, PlanWindow, keys_to_delete, plan_windows
from chatkit.connection import account_words
from chatkit.display import many
from chatkit.endpoints import Endpoints
from chatkit.errors import InputError, StoreError
from chatkit.progress import Progress

if TYPE_CHECKING:
    from chatkit.bulk.plan import Plan

#: Rows that differ are handed over so many at a time, about.
WINDOW = 20_000

_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


class Unlike(NamedTuple):
    """Rows in which two books differ: some of them, in the order of their ids."""

    base: pa.Table  #: records as they were, those of the rows in `edited`
    edited: pa.Table  #: their rows that say something else; two rows of one id are both here
    new: pa.Table  #: rows without an id, or with one that the base has not
    gone: pa.Table  #: records that the edited book does not have

    @property
    def rows(self) -> int:
        """How many rows differ."""
        return len(self.edited) + len(self.new) + len(self.gone)


def walk(
    base: Iterable[pa.Table],
    edited: Iterable[pa.Table],
    key: str = "id",
    *,
    deleted: Sequence[int] = (),
    beside: Sequence[str] = (),
    window: int = WINDOW,
) -> Iterator[Unlike]:
    """Compare two books, in as little memory however long they are.

    A cell differs when it says something else than the base: an empty one leaves what is there,
    as in a frame, and an empty text is the same as none. The last of what is yielded may be
    empty: it has the columns all the same.

    Args:
        base: Tables of the records as they were read, their ids in order, each of them once.
        edited: Tables of the rows as they are now, in the order of their ids; rows without an id
            stand anywhere.
        key: The column of ids.
        deleted: Ids that count as different, because they are to be deleted.
        beside: Columns that the base may not have, and that count where they say something.
        window: So many rows at a time, about.

    Raises:
        InputError: The ids of one are not in order, or a record of the base has none.
    """
    one, two = _Side(base, key, "base"), _Side(edited, key, "edited book", again=True)
    named = np.sort(np.asarray(deleted, np.int64))
    found = _Gathered()
    while one.fill() | two.fill() or two.unnamed:
        ends = [int(side.rows.ids[-1]) for side in (one, two) if side.rows]
        left = one.upto(min(ends)) if ends else one.nothing
        right = two.upto(min(ends)) if ends else two.nothing
        if left is not None and right is not None:
            found.add(_matched(left, right, named, (DELETE, *beside)), two.take_unnamed())
        if found.rows >= window:
            yield from found.take()
    yield from found.take()


class _Rows(NamedTuple):
    """Some rows of one side, and their ids."""

    table: pa.Table
    ids: Any


class _Side:
    """One of the two books on the walk: the rows of it that are due.

    Args:
        tables: All of it.
        key: The column of ids.
        name: What it is called where it cannot be walked.
        again: Whether an id may come twice, and rows may have none.
    """

    def __init__(
        self, tables: Iterable[pa.Table], key: str, name: str, *, again: bool = False
    ) -> None:
        self.rows: _Rows | None = None
        self.nothing: _Rows | None = None
        self.unnamed: list[pa.Table] = []  # rows without an id
        self._tables = iter(tables)
        self._key, self._name, self._again = key, name, again
        self._least: int | None = None  # the id that the next one must not be below
        self._ahead: _Rows | None = None

    def fill(self) -> bool:
        """Take the next table where none is due; tell whether some rows are."""
        if self.rows is None:
            self.rows = self._ahead or self._next()
            self._ahead = None
            while self.rows and self._again:  # rows of one id stay together
                self._ahead = self._next()
                if self._ahead is None or self._ahead.ids[0] != self.rows.ids[-1]:
                    break
                self.rows = _joined(self.rows, self._ahead)
        return self.rows is not None

    def _next(self) -> _Rows | None:
        for table in self._tables:
            if self._key not in table.column_names:
                raise InputError(f"The {self._name} has no column {self._key}.")
            ids = table[self._key]
            if not pa.types.is_int64(ids.type):
                ids = _whole_numbers(ids, self._name, self._key)
                place = table.schema.get_field_index(self._key)
                table = table.set_column(place, self._key, ids)
            if ids.null_count:
                if not self._again:
                    raise InputError(
                        f"The {self._name} has rows without an {self._key}, as new ones of an "
                        "edited book are. Name as base= a book that spool has written."
                    )
                self.unnamed.append(table.filter(pc.is_null(ids)))
                table = table.filter(pc.is_valid(ids))
                ids = table[self._key]
            if self.nothing is None:
                self.nothing = _Rows(table.slice(0, 0), np.zeros(0, np.int64))
            if len(table):
                rows = _Rows(table, ids.to_numpy())
                self._in_order(rows.ids)
                return rows
        return None

    def _in_order(self, ids: Any) -> None:
        """Refuse rows that are below what was read before: the walk would miss their records.

        Raises:
            InputError: They are.
        """
        before = ids[:-1] if self._least is None else np.concatenate([[self._least], ids[:-1]])
        after = ids[1:] if self._least is None else ids
        wrong = np.flatnonzero(after < before if self._again else after <= before)
        if len(wrong):
            one, two = int(before[wrong[0]]), int(after[wrong[0]])
            said = f"{two} comes after {one}" if two != one else f"{one} is there twice"
            raise InputError(
                f"The ids of the {self._name} are not in order: {said}. Sort its rows by "
                f"{self._key}, as book.edit leaves them, and write it again."
            )
        self._least = int(ids[-1])

    def upto(self, end: int) -> _Rows | None:
        """Take the rows that are due with ids up to this one."""
        if self.rows is None:
            return self.nothing
        table, ids = self.rows
        count = int(np.searchsorted(ids, end, "right"))
        self.rows = None if count == len(ids) else _Rows(table.slice(count), ids[count:])
        return _Rows(table.slice(0, count), ids[:count])

    def take_unnamed(self) -> list[pa.Table]:
        """Take the rows without an id that have come."""
        found, self.unnamed = self.unnamed, []
        return found


def _joined(one: _Rows, two: _Rows) -> _Rows:
    return _Rows(_together([one.table, two.table]), np.concatenate([one.ids, two.ids]))


def _together(tables: Sequence[pa.Table]) -> pa.Table:
    """Put tables below each other; an edit may have given each its own columns and types."""
    return pa.concat_tables(tables, promote_options="permissive")


def _whole_numbers(ids: Any, name: str, key: str) -> Any:
    """Read ids that became floats beside empty ones, or texts."""
    try:
        return pc.cast(ids, pa.int64())
    except pa.ArrowException as error:
        raise InputError(f"The {key} of the {name} is not a whole number: {error!s:.100}") from None


class _Gathered:
    """Collects rows that differ, until there are enough of them."""

    def __init__(self) -> None:
        self.rows = 0
        self._parts: list[Unlike] = []
        self._nothing: Unlike | None = None

    def add(self, found: Unlike, unnamed: Sequence[pa.Table]) -> None:
        """Add what was found, and rows without an id beside it."""
        if unnamed:
            found = found._replace(new=_together([found.new, *unnamed]))
        if self._nothing is None:
            self._nothing = Unlike(*(table.slice(0, 0) for table in found))
        if found.rows:
            self.rows += found.rows
            self._parts.append(found)

    def take(self) -> Iterator[Unlike]:
        """Hand over what there is, if anything was there at all."""
        parts = self._parts or ([self._nothing] if self._nothing else [])
        self._parts, self.rows = [], 0
        if parts:
            yield Unlike(*(_together(tables) for tables in zip(*parts, strict=True)))


def _matched(left: _Rows, right: _Rows, deleted: Any, beside: Sequence[str]) -> Unlike:
    """Match the rows of a stretch of ids by id, and find those that differ."""
    (base, known), (edited, ids) = left, right
    if np.array_equal(known, ids):
        gone, new = base.slice(0, 0), edited.slice(0, 0)
    else:
        near = np.searchsorted(known, ids)
        there = near < len(known)
        there[there] = known[near[there]] == ids[there]
        new = edited.filter(pa.array(~there))
        met = np.zeros(len(known), bool)
        met[near[there]] = True
        gone = base.filter(pa.array(~met))
        if len(new):
            edited, ids = edited.filter(pa.array(there)), ids[there]
        if len(ids) == np.count_nonzero(met):  # copies whole stretches
            base = base.filter(pa.array(met))
        else:
            base = base.take(pa.array(near[there]))
    differs = _differing(base, edited, beside)
    if len(deleted):
        differs |= np.isin(ids, deleted)
    if len(ids) > 1:
        again = ids[1:] == ids[:-1]
        differs[1:] |= again
        differs[:-1] |= again
    mask = pa.array(differs)
    rows = base.filter(mask), edited.filter(mask)
    return Unlike(*rows, new, gone)


def _differing(base: pa.Table, edited: pa.Table, beside: Sequence[str]) -> Any:
    """Tell which rows of `edited` say something else than those of `base` at the same places."""
    found = np.zeros(len(edited), bool)
    for name in edited.column_names:
        cells = edited[name]
        if name in base.column_names:
            mask = _unlike(base[name], cells)
        elif name in beside:
            mask = _marked(cells)
        else:
            continue
        if mask is not None:
            found |= pc.fill_null(mask, False).to_numpy()
    return found


def _unlike(base: Any, edited: Any) -> Any:
    """Tell which cells of a column say something else; None if none does."""
    if edited.null_count == len(edited) or base.equals(edited):
        return None
    if any(map(pa.types.is_dictionary, (base.type, edited.type))):
        base, edited = (_plain(cells) for cells in (base, edited))
    if base.type != edited.type:
        one, two = base.type, edited.type
        if any(is_text(one) for is_text in _TEXTS) and any(is_text(two) for is_text in _TEXTS):
            base, edited = base.cast(pa.large_string()), edited.cast(pa.large_string())
        elif pa.types.is_timestamp(one) and pa.types.is_timestamp(two):
            base, edited = (_moments(cells) for cells in (base, edited))
        elif pa.types.is_null(one) or not _comparable(one, two):
            return pc.is_valid(edited)  # the planner compares them one by one
    if any(is_text(base.type) for is_text in _TEXTS):
        return pc.not_equal(pc.fill_null(base, ""), edited)
    unlike = pc.not_equal(base, edited)
    if base.null_count:
        unlike = pc.if_else(pc.is_null(base), pc.is_valid(edited), unlike)
    return unlike


def _comparable(one: Any, two: Any) -> bool:
    numbers = all(pa.types.is_integer(each) or pa.types.is_floating(each) for each in (one, two))
    return bool(one == two or numbers)


def _plain(cells: Any) -> Any:
    return cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells


def _moments(cells: Any) -> Any:
    """Take times in microseconds; without a zone they are UTC."""
    return pc.cast(cells, pa.timestamp("us", "UTC"), safe=False)


def _marked(cells: Any) -> Any:
    """Tell which cells of a column say something: a flag that is False says nothing."""
    return cells if pa.types.is_boolean(cells.type) else pc.is_valid(cells)


# --- the plan of a book ---------------------------------------------------------------------

#: Rows that have to do with the names of others are planned so many at a time, about.
_TOGETHER = 100_000
#: Rows of a file that is not a part of a book are read so many at a time.
_BATCH = 50_000


class AccountOfBook(NamedTuple):
    """One account of a book that has several."""

    book: Book
    label: str  #: what the account is called in it

    def manifest(self) -> Manifest:
        """Return what its folder holds."""
        return self.book.manifest(self.label)


#: What can be planned, and compared with: a book, one account of it, a folder or a file.
AnyBook: TypeAlias = "Book | AccountOfBook | str | os.PathLike[str]"


def by_account(given: AnyBook, accounts: Mapping[str, str]) -> dict[str, AnyBook]:
    """Part a book of several accounts for a fleet.

    Args:
        given: The book, or its folder, or a folder that has one for each account.
        accounts: What each account is called in the fleet, and which of which service it is.

    Returns:
        For each account, as the fleet calls it, what is to be planned; an account of the book
        that the fleet does not have keeps its name.
    """
    names = {account: label for label, account in accounts.items()}
    if not isinstance(given, Book | AccountOfBook):
        path = Path(given).expanduser()
        if not _holds_book(path):
            places = {
                unquote(each.name.removeprefix(ACCOUNT)): each for each in path.glob(f"{ACCOUNT}*")
            }
            if not path.is_dir():
                raise InputError(
                    f"{path} is not a folder: a plan for a fleet takes a frame that names the "
                    "account of each row, an edited book, or its folder."
                )
            if not places:
                raise InputError(
                    f"{path} does not say of which account its rows are: let each account have a "
                    f"folder of its own in it, {ACCOUNT}NAME."
                )
            return dict(places)
        given = Book(path)
    if isinstance(given, AccountOfBook):
        return {given.label: given}
    found: dict[str, AnyBook] = {}
    for label in given.accounts:
        name = label if label in accounts else names.get(given.manifest(label).began.account, label)
        found[name] = AccountOfBook(given, label)
    return found


def plan_book(
    endpoints: Endpoints[Any],
    edited: AnyBook,
    delete: Iterable[Any] | None = None,
    *,
    base: AnyBook | None = None,
    **options: Unpack[PlanOptions],
) -> Plan:
    """Make the plan of an edited book, as `Resource.plan` makes one of a frame.

    Args:
        endpoints: Where the records are read and written.
        edited: The book, or a folder or file of Parquet that another program has written.
        delete: Keys of records to delete, or a frame that holds them.
        base: What it is compared with; without it the book that was read and edited into it,
            in however many steps, or else what is there now, which is spooled first.
        options: As for `Resource.plan`.

    Raises:
        InputError: The books cannot be compared; the text says why.
        StoreError: One is damaged.
    """
    key, ours = endpoints.key, endpoints.transport.connection.account
    rows = _opened(edited, ours, key)
    foreign = rows.account not in (None, ours)
    if foreign and not options.get("other_account"):
        raise InputError(
            f"{rows.name} is of {account_words(rows.account or '')}, and the plan would be for "
            f"{account_words(ours)}. plan(book, other_account=True) takes it all the same; records "
            f"are then found by {' and '.join(endpoints.named_by())}, not by their ids."
        )
    with ExitStack() as stack:
        was = rows.origin() if base is None and not foreign else base
        undated = was is None
        if was is None:
            folder = Path(tempfile.mkdtemp(prefix="book-", dir=temporary.folder()))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            was = spool(endpoints, folder / "now")
        there = _opened(was, ours, key)
        if there.account not in (None, ours):
            raise InputError(
                f"{there.name} is of {account_words(there.account or '')}: compare with a book of "
                f"{account_words(ours)}."
            )
        planned = _Windows(endpoints, there, rows, delete, foreign=foreign)
        chosen: dict[str, Any] = {**options}
        chosen.pop("other_account", None)
        return plan_windows(
            endpoints,
            endpoints,
            planned.windows(),
            there.rows,
            foreign=foreign,
            undated=undated,
            doubted=rows.account is None,
            notes=planned.notes,
            **chosen,
        )


class _Opened(Protocol):
    """The rows of an account, wherever they are, in the order of their ids."""

    name: str  #: for messages
    rows: int
    account: str | None  #: which account of which service; None where nobody knows

    def origin(self) -> AccountOfBook | None:
        """Find what was read from the account, and then edited; None where nothing tells.

        Raises:
            InputError: It is not there any more, or another one is in its place.
        """

    def tables(self) -> Iterator[pa.Table]:
        """Yield them as Arrow tables."""


def _opened(given: AnyBook, account: str, key: str) -> _Opened:
    if isinstance(given, AccountOfBook):
        return _OfBook(given.book, given.label)
    if not isinstance(given, Book):
        path = Path(given).expanduser()
        if not _holds_book(path):
            return _OfFiles(path, key)
        given = Book(path)
    of = [each for each in given.accounts if given.manifest(each).began.account == account]
    return _OfBook(given, of[0] if of else None)


def _holds_book(path: Path) -> bool:
    return any(path.glob(f"{ACCOUNT}*/{MANIFEST}"))


class _OfBook:
    """An account in a book; without a label the only one."""

    def __init__(self, book: Book, label: str | None) -> None:
        self._book, self._label = book, label
        manifest = book.manifest(label)
        if manifest.ended is None:
            raise InputError(
                f"{manifest.place} was not finished: call "
                f"{'book.edit' if manifest.began.base else 'spool'} again to go on, then plan."
            )
        self.name = str(book.path)
        self.rows = manifest.rows
        self.account: str | None = manifest.began.account

    def origin(self) -> AccountOfBook | None:
        """Follow the edits back to the book that no other one was edited into."""
        found, manifest = None, self._book.manifest(self._label)
        while (base := base_of(manifest)) is not None:
            found = AccountOfBook(base, manifest.label)
            manifest = found.manifest()
        return found

    def tables(self) -> Iterator[pa.Table]:
        return self._book.tables(self._label)


class _OfFiles:
    """Parquet files that another program has written, each sorted or small enough to sort."""

    account: str | None = None

    def __init__(self, path: Path, key: str) -> None:
        self.name, self._key = str(path), key
        paths = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
        paths = [each for each in paths if not each.name.startswith(("_", "."))]
        if not paths:
            raise InputError(f"{path} holds no Parquet files: client.contacts.spool writes a book.")
        if path.is_dir() and len({each.parent for each in paths}) > 1:
            raise InputError(
                f"{path} holds several folders of Parquet files: name one of them, that of the "
                "account."
            )
        self._files = sorted((_file(each, key) for each in paths), key=lambda file: file.least)
        self.rows = sum(file.rows for file in self._files)
        held = [file for file in self._files if file.least <= file.most]
        for one, two in pairwise(held):
            if two.least < one.most:
                raise InputError(
                    f"The ids of {one.path} and {two.path} overlap: sort all rows by {key}, and "
                    "write the files again."
                )

    def origin(self) -> None:
        return None

    def tables(self) -> Iterator[pa.Table]:
        for file in self._files:
            with _reading(file.path) as source:
                if not file.ascending:
                    yield source.read().sort_by(self._key)
                    continue
                for batch in source.iter_batches(_BATCH):
                    yield pa.Table.from_batches([batch])


class _Sorted(NamedTuple):
    """A file of Parquet: its rows, and the ids of them."""

    path: Path
    rows: int
    least: int
    most: int
    ascending: bool


def _file(path: Path, key: str) -> _Sorted:
    """Look at the ids of a file."""
    with _reading(path) as source:
        if key not in source.schema_arrow.names:
            raise InputError(f"{path} has no column {key}: write it with the ids of its rows.")
        ids = source.read(columns=[key])[key]
    numbers = _whole_numbers(ids, str(path), key).drop_null().to_numpy()
    ascending = bool((numbers[1:] >= numbers[:-1]).all())
    least, most = (int(numbers.min()), int(numbers.max())) if len(numbers) else (2**62, -1)
    return _Sorted(path, len(ids), least, most, ascending)


def _reading(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"{path} cannot be read as Parquet ({error!s:.200}).") from error


class _Windows:
    """Makes windows for the planner of two books.

    Args:
        endpoints: What their records are.
        base: The records.
        edited: The rows.
        delete: Keys of records to delete, or a frame that holds them.
        foreign: Whether the rows are of another account, so that their ids mean nothing here.
    """

    def __init__(
        self,
        endpoints: Endpoints[Any],
        base: _Opened,
        edited: _Opened,
        delete: Iterable[Any] | None,
        *,
        foreign: bool,
    ) -> None:
        self._endpoints, self._base, self._edited = endpoints, base, edited
        self._key, self._foreign = endpoints.key, foreign
        asked = keys_to_delete(delete, endpoints)
        ids, given = number_keys(pd.Series(asked, dtype=object))
        self._deleted = np.unique(ids[given])
        self._strange = [key for key, there in zip(asked, given.tolist(), strict=True) if not there]
        self._there = np.zeros(len(self._deleted), bool)  # which of them are in the base
        self._gone = 0
        columns = frames.Columns(frames.kinds(endpoints.record, endpoints.record.listed))
        self._record: pa.Table = endpoints.part(columns.take(endpoints.key))  # the columns of one
        self._row: pa.Table = self._record.select([endpoints.key])
        self._moved: list[tuple[pa.Table, pa.Table]] = []  # records whose name changes, their rows
        self._new: list[pa.Table] = []

    def notes(self) -> list[str]:
        """Say what else is to be known of the plan."""
        if not self._gone or self._foreign:
            return []
        verb, they = ("is", "it is") if self._gone == 1 else ("are", "they are")
        return [
            f"{many(self._gone, self._endpoints.noun)} of {self._base.name} {verb} not in "
            f"{self._edited.name}, and {verb} left as {they}: a column delete, or their ids in "
            "delete=, would delete them."
        ]

    def windows(self) -> Iterator[PlanWindow]:
        """Yield all rows that differ, each of them once, with the records they have to do with."""
        with Progress(f"{self._endpoints.noun}s", self._edited.rows) as progress:
            found = walk(
                _not_none(self._base.tables(), self._record),
                _not_none(self._rows(progress), self._row),
                self._key,
                deleted=self._deleted.tolist(),
                beside=self._endpoints.body.updatable(),
            )
            for unlike in found:
                self._record, self._row = unlike.base.slice(0, 0), unlike.edited.slice(0, 0)
                yield self._simple(unlike)
        if missing := [*self._deleted[~self._there].tolist(), *self._strange]:
            yield PlanWindow(self._frame(self._row), self._frame(self._record), missing)
        if self._moved or any(map(len, self._new)):
            yield from self._named()

    def _rows(self, progress: Progress) -> Iterator[pa.Table]:
        for table in self._edited.tables():
            progress.add(len(table))
            if self._foreign and self._key in table.column_names:
                place = table.schema.get_field_index(self._key)
                table = table.set_column(place, self._key, pa.nulls(len(table), pa.int64()))
            yield table

    def _frame(self, *tables: pa.Table) -> pd.DataFrame:
        return frames.frame_of_table(_together(tables), self._key)

    def _ids(self, table: pa.Table) -> Any:
        return table[self._key].to_numpy()

    # --- rows that have to do with their own record only ---

    def _simple(self, unlike: Unlike) -> PlanWindow:
        """Make a window of rows that leave the name of their record as it is; keep the others."""
        base, edited, new, gone = unlike
        for table in (base, gone):
            self._there |= np.isin(self._deleted, self._ids(table))
        asked = np.isin(self._ids(gone), self._deleted)
        self._gone += len(gone) - int(asked.sum())
        columns = [name for name in self._endpoints.named_by() if name in edited.column_names]
        moved = _differing(base, edited.select(columns), columns)
        if moved.any():
            ids = self._ids(edited)
            moved = np.isin(ids, ids[moved])  # rows of one id are refused together
            mask, rest = pa.array(moved), pa.array(~moved)
            self._moved.append((base.filter(mask), edited.filter(mask)))
            base, edited = base.filter(rest), edited.filter(rest)
        if len(new):
            unknown = pc.is_valid(new[self._key])
            self._new.append(new.filter(pc.invert(unknown)))
            edited = _together([edited, new.filter(unknown)])  # the planner refuses them
        return self._window(edited, [base, gone.filter(pa.array(asked))])

    def _window(
        self,
        rows: pa.Table,
        records: Sequence[pa.Table],
        labels: Sequence[Any] | None = None,
        beside: Iterable[int] = (),
    ) -> PlanWindow:
        """Make a window of rows and records, of which some may be there twice.

        Args:
            rows: The rows.
            records: The records they have to do with.
            labels: What the rows are called; without them by their ids.
            beside: Ids of records that are planned in another window.
        """
        frame = self._frame(rows)
        if labels is not None:
            frame = frame.reset_index().set_axis(pd.Index(labels, dtype=object))
        base = frames.without_repeats(self._frame(*records))
        delete = np.intersect1d(base.index.to_numpy(), self._deleted).tolist()
        return PlanWindow(frame, base, delete, frozenset(beside))

    # --- rows that have to do with the names of others ---

    def _named(self) -> Iterator[PlanWindow]:
        """Make windows of new rows, and of those that change the name of their record."""
        new = _together([self._row, *self._new])
        before = _together([self._record, *(pair[0] for pair in self._moved)])
        moved = _together([self._row, *(pair[1] for pair in self._moved)])
        texts, old, after = self._texts(new), self._texts(before), self._texts(moved, before)
        wanted = pa.concat_arrays([texts, after])
        holders = _together([self._record, *_only(self._base.tables(), self._texts, wanted)])
        held, ids = self._texts(holders), np.setdiff1d(self._ids(holders), self._ids(moved))
        mine = iter(()) if self._foreign else self._edited.tables()
        own = _together([self._row, *_only(mine, self._keys, pa.array(ids))])
        shared = pc.is_in(texts, value_set=pa.concat_arrays([old, after])).to_numpy(False)
        for number, rows in enumerate(_parted(texts, shared, len(moved))):
            whole = number == 0  # all rows that change a name are planned in the first window
            names = pa.concat_arrays([texts.take(pa.array(rows)), *([after] if whole else [])])
            some = holders.filter(pc.is_in(held, value_set=names))
            beside = own.filter(pa.array(np.isin(self._ids(own), self._ids(some))))
            changed, records = (moved, before) if whole else (self._row, self._record)
            labels = [f"new {row + 1}" for row in rows.tolist()]
            labels += [*self._ids(changed).tolist(), *self._ids(beside).tolist()]
            yield self._window(
                _together([new.take(pa.array(rows)), changed, beside]),
                [records, some],
                labels,
                np.setdiff1d(self._ids(some), self._ids(changed)).tolist(),
            )

    def _keys(self, table: pa.Table) -> Any:
        return _chunk(table[self._key])

    def _texts(self, table: pa.Table, before: pa.Table | None = None) -> Any:
        """Make the text that names each row: that of its record where it says nothing."""
        parts = []
        for name in self._endpoints.named_by():
            cells = _texts_of(table, name)
            if before is not None:
                cells = pc.coalesce(cells, _texts_of(before, name))
            parts.append(pc.if_else(pc.equal(cells, ""), None, cells))
        return _chunk(pc.binary_join_element_wise(*parts, pa.scalar(" ", pa.large_string())))


def _chunk(cells: Any) -> Any:
    return cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells


def _texts_of(table: pa.Table, name: str) -> Any:
    """Take a column of texts; what is none names nobody."""
    if name in table.column_names:
        cells = _plain(table[name])
        if any(is_text(cells.type) for is_text in _TEXTS):
            return _chunk(cells.cast(pa.large_string()))
    return pa.nulls(len(table), pa.large_string())


def _only(
    tables: Iterable[pa.Table], of: Callable[[pa.Table], Any], wanted: Any
) -> Iterator[pa.Table]:
    """Read those rows of which something is wanted."""
    if len(wanted := wanted.drop_null().unique()):
        for table in tables:
            yield table.filter(pc.is_in(of(table), value_set=wanted))


def _not_none(tables: Iterable[pa.Table], nothing: pa.Table) -> Iterator[pa.Table]:
    """Yield tables, or else one without rows: an account may have no records."""
    found = False
    for table in tables:
        found = True
        yield table
    if not found:
        yield nothing


def _parted(texts: Any, shared: Any, moved: int) -> Iterator[Any]:
    """Part new rows into windows, so that those of one name are in the same one.

    The first window is there whenever any record changes its name, and takes all of these.

    Args:
        texts: What names each row.
        shared: Which of them are named as a record is or was whose name changes: these are in
            the first window.
        moved: How many such records there are.
    """
    if moved + len(texts) <= _TOGETHER:
        yield np.arange(len(texts))
        return
    if moved:
        yield np.flatnonzero(shared)
    rest = np.flatnonzero(~shared)
    order = rest[pc.sort_indices(texts.take(pa.array(rest))).to_numpy()]
    while len(order):
        end = min(_TOGETHER, len(order))
        while end < len(order) and texts[int(order[end])].equals(texts[int(order[end - 1])]):
            end += 1
        yield order[:end]
        order = order[end:]
