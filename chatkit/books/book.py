"""Book: what was read of one account or several, to be read, edited and compared part by part.

How it lies on the disk is in `chatkit.books.manifest`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from chatkit import frame as frames
from chatkit.books.manifest import (
    ACCOUNT,
    BaseBook,
    Began,
    BookPart,
    Ended,
    Manifest,
    alone,
    least,
    most,
    now,
    prepare,
    read_part,
)
from chatkit.bulk import rendering
from chatkit.display import cut, many, visible
from chatkit.errors import InputError
from chatkit.progress import Forecast, Progress, say
from chatkit.report import Report, html_heading, html_list, html_tables, marked
from chatkit.snapshot import memory, remember

if TYPE_CHECKING:
    import dask.dataframe as dd


class Book(Report):
    """Contacts of one account or several in a folder of Parquet files, larger than memory.

    `client.contacts.spool(folder)` writes one. It is a dataset like any other: pandas and Dask
    open the folder, DuckDB `read_parquet('book/*/*.parquet')`, Polars
    `scan_parquet('book/*/*.parquet', hive_partitioning=True)`. Iterate over it for its parts, a
    DataFrame each.

    Args:
        path: The folder.

    Raises:
        InputError: There is no book.
        StoreError: It is damaged.

    >>> book = client.contacts.spool("book")
    >>> book.accounts, len(book.frame(columns=["name"]))
    (['1001'], 250)
    """

    _widths: ClassVar = {"account": 25, "contacts": 15, "parts": 10, "read": 50}

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser()
        places = sorted(self.path.glob(f"{ACCOUNT}*"))
        found = [manifest for place in places if (manifest := Manifest.read(place))]
        if not found:
            raise InputError(
                f"{self.path} holds no book: client.contacts.spool({str(self.path)!r}) writes one."
            )
        self._manifests = {manifest.label: manifest for manifest in found}

    # --- what it is -----------------------------------------------------------------

    @property
    def accounts(self) -> list[str]:
        """What its accounts are called."""
        return list(self._manifests)

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(manifest.rows for manifest in self._manifests.values())

    @property
    def complete(self) -> bool:
        """Whether each list was read to its end; otherwise spooling goes on where it was."""
        return all(manifest.ended for manifest in self._manifests.values())

    @property
    def base(self) -> Book | None:
        """The book that this one was edited from; None if it was read from an account.

        Raises:
            InputError: That is not there any more, or another one is in its place.
        """
        edited = [manifest for manifest in self._manifests.values() if manifest.began.base]
        if (found := base_of(edited[0]) if edited else None) is not None:
            for manifest in edited[1:]:
                _refuse_another(found, manifest)
        return found

    def manifest(self, account: str | None = None) -> Manifest:
        """Return what the folder of an account holds; it may be left out where there is one.

        Raises:
            InputError: The book has no such account.
        """
        if account is None and len(self._manifests) == 1:
            return next(iter(self._manifests.values()))
        if account not in self._manifests:
            there = ", ".join(map(repr, self._manifests))
            wrong = "name an account" if account is None else f"no account {account!r} is in it"
            raise InputError(f"{self.path}: {wrong}. It has {there}.")
        return self._manifests[account]

    # --- reading it -----------------------------------------------------------------

    def frame(
        self,
        columns: Sequence[str] | str | None = None,
        accounts: Sequence[str] | str | None = None,
    ) -> pd.DataFrame:
        """Read it into a DataFrame as `client.contacts.frame()` gives it, all in memory.

        Accounts that were not read to their end are named, also in `attrs["stops"]`.

        Args:
            columns: Only these.
            accounts: Only these. A book of several accounts is indexed by account and id.

        Raises:
            InputError: It has no such column or account, or nothing was read yet.
        """
        from chatkit import accessor

        accessor.register()
        labels = self.accounts if accounts is None else _listed(accounts)
        held, stops = self._held(labels)
        names = None if columns is None else _listed(columns)
        found = {manifest.label: self._frame_of(manifest, names) for manifest in held}
        if len(self._manifests) == 1:
            return found[labels[0]] if labels else self._frame_of(self.manifest(), names)[:0]
        together = rendering.fleet_frame(found)
        remember(together, fleet=json.dumps({label: memory(one) for label, one in found.items()}))
        together.attrs["stops"] = stops
        return together

    def _held(self, labels: Sequence[str]) -> tuple[list[Manifest], dict[str, str]]:
        """Take accounts of which something was read, and say of which something is missing.

        Returns:
            They, and what is missing, by account.

        Raises:
            InputError: There is no such account, or none of them has a part yet.
        """
        wanted = [self.manifest(label) for label in labels]
        held = [manifest for manifest in wanted if manifest.parts]
        if wanted and not held:
            again = "spool" if wanted[0].began.base is None else "edit"
            raise InputError(
                f"{self.path} holds nothing of {cut(', '.join(labels))} yet: {again} again to go "
                "on."
            )
        stops = {manifest.label: _state(manifest) for manifest in wanted if not manifest.ended}
        for label, why in stops.items():
            say(f"{visible(label)} is not complete, {why}.")
        return held, stops

    def _frame_of(self, manifest: Manifest, columns: Sequence[str] | None) -> pd.DataFrame:
        key = manifest.began.key
        names = None if columns is None else [key, *(n for n in columns if n != key)]
        tables = [manifest.table(part, names) for part in manifest.parts]
        if names is not None:
            self._refuse_unknown(
                names, {n for table in tables for n in table.column_names}, manifest
            )
        frame = self._joined(tables, key)
        if manifest.began.base is None:  # in an edited book a person has made them
            frame = frames.without_repeats(frame)
        if names is not None:
            frame = frame[names[1:]]
        remember(frame, account=manifest.began.account, noun=manifest.began.noun)
        return frame

    def _joined(self, tables: list[pa.Table], key: str) -> pd.DataFrame:
        """Put parts below each other; an edit may have given them different columns."""
        shapes = {
            tuple((f.name, str(f.type), f.name in json) for f in table.schema)
            for table in tables
            for json in [frames.json_columns(table.schema)]
        }
        if len(shapes) == 1:
            return frames.frame_of_table(pa.concat_tables(tables), key)
        return pd.concat([frames.frame_of_table(table, key) for table in tables])

    def _refuse_unknown(
        self, wanted: Iterable[str], there: Collection[str], manifest: Manifest
    ) -> None:
        """Refuse columns that are not there, and name those of an account."""
        if unknown := [str(name) for name in wanted if name not in there]:
            names = manifest.table(manifest.parts[0]).column_names
            raise InputError(
                f"{self.path} has no column {cut(', '.join(unknown))}: it has {', '.join(names)}."
            )

    def __iter__(self) -> Iterator[pd.DataFrame]:
        """Yield each part as a DataFrame; `attrs["account"]` says whose it is."""
        for manifest in self._manifests.values():
            for part in manifest.parts:
                yield self._frame_of_part(manifest, part)

    def _frame_of_part(self, manifest: Manifest, part: BookPart) -> pd.DataFrame:
        frame = frames.frame_of_table(manifest.table(part), manifest.began.key)
        remember(frame, account=manifest.began.account, noun=manifest.began.noun)
        frame.attrs["account"] = manifest.label
        return frame

    def tables(
        self, account: str | None = None, columns: Sequence[str] | str | None = None
    ) -> Iterator[pa.Table]:
        """Yield the rows of an account as Arrow tables, in the order of their ids.

        Where the list was not in that order, parts are put in order as they are read. That
        takes as much memory as there are parts whose ids overlap: of a list that is in the
        order of its ids, or the other way round, one or two. Of rows that share an id, because
        the list moved while it was read, the one that was read last stays; of those that an edit
        has made all do. Rows without an id come last.

        Args:
            account: Whose; it may be left out where there is one.
            columns: Only these, and the key.
        """
        manifest = self.manifest(account)
        key = manifest.began.key
        names = None if columns is None else [key, *(n for n in _listed(columns) if n != key)]
        if manifest.ascending:
            for part in manifest.parts:
                yield manifest.table(part, names)
        else:
            yield from _in_order(manifest, names)

    def dask(self, columns: Sequence[str] | str | None = None) -> dd.DataFrame:
        """Open it as a Dask DataFrame: read part by part, when and where it is computed.

        It is indexed by id, with a column `account` where there are several. Where the ids
        ascend, Dask knows which part holds which. Accounts that were not read to their end are
        named.

        Args:
            columns: Only these.

        Raises:
            InputError: Dask is not installed here, it has no such column, or nothing was read yet.
        """
        try:
            import dask.dataframe as dd
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith(("dask", "pyarrow")):
                raise
            raise InputError(
                'This needs Dask: pip install "chatkit[fleet]". book.frame() and iterating over '
                "the book need nothing more."
            ) from None
        several = len(self._manifests) > 1
        accounts, _ = self._held(self.accounts)
        held = [(m, p) for m in accounts for p in m.parts]
        files = [(m.label, str((m.place / p.file).absolute())) for m, p in held]
        options: Any = {"key": accounts[0].began.key, "several": several}
        names = None
        if columns is not None:
            there = {*frame_of_part(files[0], **options).columns}
            names = [name for name in _listed(columns) if name != options["key"]]
            self._refuse_unknown(names, there, accounts[0])
        opened: dd.DataFrame = dd.from_map(
            frame_of_part,
            files,
            columns=names,
            meta=frame_of_part(files[0], names, **options).iloc[:0],
            divisions=None if several else _divisions(held),
            enforce_metadata=False,
            **options,
        )
        return opened

    # --- editing it -----------------------------------------------------------------

    def edit(
        self,
        change: Callable[[pd.DataFrame], pd.DataFrame],
        to: str | os.PathLike[str],
        *,
        fresh: bool = False,
    ) -> Book:
        """Write another book, each part of it what a function makes of a part of this one.

        The function gets a DataFrame as `frame()` gives it, with the account in
        `attrs["account"]`, and returns it edited. Rows that it leaves out are gone, rows without
        an id are new. `client.contacts.plan(edited)` compares the two books.

        When it fails, the parts before stay: correct it and call this again to go on. How long
        many parts take is told once some are done. Accounts that were not read to their end are
        named, and cannot be planned before they are.

        Args:
            change: What is to be done with each part.
            to: The folder of the new book.
            fresh: Edit all parts anew, also those that an earlier call has left there.

        Raises:
            InputError: The function failed, or returned what is no frame of contacts; the text
                names the part. Or the folder holds something else.
            StoreError: It cannot be written.

        >>> book = client.contacts.spool("today")
        >>> edited = book.edit(lambda part: part[part.country_code == "+91"], to="edited")
        >>> edited.rows < book.rows
        True
        """
        target = Path(to).expanduser()
        if target.resolve() == self.path.resolve():
            raise InputError(
                f"{target} is the book itself: name another folder for the edited one."
            )
        self._held(self.accounts)  # says what is missing, or refuses where nothing is there
        with Progress(f"{self._noun}s", self.rows) as progress:
            for manifest in self._manifests.values():
                place = prepare(target, manifest.label)
                with alone(place):
                    self._edit_account(change, manifest, place, progress, fresh=fresh)
        return Book(target)

    def _edit_account(
        self,
        change: Callable[[pd.DataFrame], pd.DataFrame],
        manifest: Manifest,
        place: Path,
        progress: Progress,
        *,
        fresh: bool,
    ) -> None:
        """Edit the parts of one account that were not edited yet."""
        was = manifest.began
        found = None if fresh else Manifest.read(place, going_on=True)
        if found is not None and (found.began.base is None or found.began.base.book != was.book):
            raise InputError(
                f"{place} holds something else than edits of this book: name another folder, or "
                "pass fresh=True to write over it."
            )
        if found is None:
            path = os.path.relpath(self.path.resolve(), place.parent.resolve())
            base = BaseBook(Path(path).as_posix(), was.book)
            found = Manifest.begin(
                place, Began(was.account, was.noun, was.key, was.page_size, was.started, base)
            )
        elif found.parts:
            say(
                f"{place}: {many(len(found.parts), 'part')} of {len(manifest.parts)} edited before "
                "stay as they are. Pass fresh=True to edit all anew."
            )
        progress.add(sum(part.rows for part in manifest.parts[: len(found.parts)]))
        left = manifest.parts[len(found.parts) :]
        rows = many(sum(part.rows for part in left), self._noun)
        what = f"Editing {rows} of account {visible(manifest.label)}"
        forecast = Forecast("The stop button ends it; called again, it goes on from there.", "part")
        for done, part in enumerate(left, 1):
            found.write(self._edited(change, manifest, part), part.pages, now())
            progress.add(part.rows)
            forecast.tell(what, done, len(left) - done)
        if manifest.ended and not found.ended:
            found.add(Ended(now(), found.rows, manifest.ended.notes))

    def _edited(
        self,
        change: Callable[[pd.DataFrame], pd.DataFrame],
        manifest: Manifest,
        part: BookPart,
    ) -> pa.Table:
        """Make the table of an edited part; what is wrong says which part it is."""
        where = manifest.place / part.file
        before = manifest.table(part)
        frame = self._frame_of_part(manifest, part)
        try:
            edited = change(frame)
        except Exception as error:
            raise InputError(
                f"The edit of {where} failed: {type(error).__name__}: {visible(str(error))[:300]}. "
                "Parts before it are written: correct the function and call edit again."
            ) from error
        if not isinstance(edited, pd.DataFrame):
            found = "nothing" if edited is None else type(edited).__name__
            raise InputError(
                f"The edit of {where} returned {found}, not a DataFrame: end the function with a "
                "return of the part."
            )
        nested = frames.json_columns(before.schema)
        try:
            return frames.table_of_frame(edited, manifest.began.key, nested)
        except frames.WrongRows as error:
            raise InputError(f"The edit of {where} cannot be written: {error}.") from None

    # --- how it shows itself -----------------------------------------------------------

    @property
    def _noun(self) -> str:
        return next(iter(self._manifests.values())).began.noun

    def _heading(self) -> str:
        parts = sum(len(manifest.parts) for manifest in self._manifests.values())
        of = many(len(self._manifests), "account")
        state = "" if self.complete else ", not complete"
        return (
            f"{visible(self.path.name)}: {many(self.rows, self._noun)} of {of} in "
            f"{many(parts, 'part')}{state}"
        )

    def _lines(self) -> list[tuple[str, str, str, str]]:
        return [
            (visible(label), f"{m.rows:,}", f"{len(m.parts):,}", _state(m))
            for label, m in self._manifests.items()
        ]

    def _notes(self) -> list[str]:
        return [
            f"{visible(label)}: {note}"
            for label, manifest in self._manifests.items()
            for note in (manifest.ended.notes if manifest.ended else [])
        ]

    def _text(self) -> Iterable[Sequence[str]]:
        yield [self._heading()]
        rows = [tuple(self._widths), *self._lines()]
        wide = [max(len(row[n]) for row in rows) for n in range(3)]
        yield [f"{a:<{wide[0]}}  {b:>{wide[1]}}  {c:>{wide[2]}}  {d}" for a, b, c, d in rows]
        yield self._notes()

    def _html(self) -> Iterable[str]:
        yield html_heading(self._heading())
        rows = [
            f'<tr><th scope="row">{marked(a)}</th><td>{b}</td><td>{c}</td><td>{marked(d)}</td></tr>'
            for a, b, c, d in self._lines()
        ]
        yield html_tables(self._widths, rows[:50], rows[50:], len(rows), "book.accounts")
        yield html_list("notes", "", self._notes())


def base_of(manifest: Manifest) -> Book | None:
    """Open the book that an account was edited from; None if it was read from the service.

    Raises:
        InputError: That is not there any more, or another one is in its place.
    """
    if manifest.began.base is None:
        return None
    folder, path = manifest.place.parent, _path_of_base(manifest, manifest.began.base)
    try:
        found = Book(path)
    except InputError:
        raise InputError(
            f"{folder} was made of {path}, which holds no book any more: name where it is now, or "
            "another one to compare with, as base=, as in plan(book, base=…)."
        ) from None
    _refuse_another(found, manifest)
    return found


def _refuse_another(base: Book, manifest: Manifest) -> None:
    """Refuse a book that is in the place of the one that an account was edited from."""
    began, was = manifest.began, base._manifests.get(manifest.label)
    if began.base is not None and (was is None or was.began.book != began.base.book):
        raise InputError(
            f"{base.path} is not the book that {manifest.place.parent} was made of: the account "
            f"{manifest.label!r} was spooled or edited anew since. To compare with it all the "
            "same, or with another one, name that as base=, as in plan(book, base=…)."
        )


def _path_of_base(manifest: Manifest, base: BaseBook) -> Path:
    """Find the folder of the book that an account was edited from.

    It is relative where that of the edited book is, and both lie below the working directory.
    """
    folder = manifest.place.parent
    path = (folder.resolve() / base.path).resolve()
    if folder.is_absolute() or not path.is_relative_to(here := Path.cwd()):
        return path
    return path.relative_to(here)


def _listed(names: Sequence[str] | str) -> list[str]:
    """List names; one alone may be given as it is."""
    return [names] if isinstance(names, str) else list(names)


def frame_of_part(
    part: tuple[str, str], columns: Sequence[str] | None = None, *, key: str, several: bool
) -> pd.DataFrame:
    """Read a part as Dask asks for it; what is nested stays JSON text, as Dask has no objects.

    Args:
        part: The account, and the path of the file.
        columns: Only these.
        key: What names a row.
        several: Whether the account is a column.
    """
    label, path = part
    names = None if columns is None else [key, *(n for n in columns if n not in (key, "account"))]
    frame = frames.frame_of_table(read_part(path, names), key, texts=True)
    if several:
        frame.insert(0, "account", pd.Series(label, frame.index, dtype="str"))
    return frame if columns is None else frame[list(columns)]


def _state(manifest: Manifest) -> str:
    """Say whether all was read or edited, and when, or of which book."""
    base = manifest.began.base
    if manifest.ended:
        if base is None:
            return f"complete, read {_minute(manifest.ended.when)}"
        return f"complete, edited from {visible(str(_path_of_base(manifest, base)))}"
    again = "spool" if base is None else "edit"
    if not manifest.parts:
        return f"nothing yet: {again} again to go on"
    last = manifest.parts[-1]
    if base is not None:
        return f"edited as far as {last.file}: edit again to go on"
    return f"stopped after page {last.pages[1]:,}, {_minute(last.when)}: spool again to go on"


def _minute(when: str) -> str:
    return when[:16].replace("T", " ") + " UTC"


def _divisions(held: Sequence[tuple[Manifest, BookPart]]) -> tuple[int, ...] | None:
    """Tell Dask which ids each part begins with; None where they do not ascend."""
    parts = [part for _, part in held]
    if not held[0][0].ascending or not all(part.rows for part in parts):
        return None
    return (*(least(part) for part in parts), most(parts[-1]))


def _in_order(manifest: Manifest, names: Sequence[str] | None) -> Iterator[pa.Table]:
    """Yield the rows of parts by their ids: what is below the next part's least is settled."""
    key = manifest.began.key
    parts = sorted(enumerate(manifest.parts), key=lambda each: (least(each[1]), each[0]))
    waiting: pa.Table | None = None
    without: list[BookPart] = []
    for n, (number, part) in enumerate(parts):
        table = manifest.table(part, names)
        table = table.append_column(_NUMBER, pa.array([number] * len(table), pa.int64()))
        table = table.append_column(_ROW, pa.array(range(len(table)), pa.int64()))
        if table[key].null_count:
            without.append(part)
            table = table.filter(pc.is_valid(table[key]))
        together = table if waiting is None else _below(waiting, table)
        together = together.sort_by([(key, "ascending"), *_READ])
        if manifest.began.base is None:
            together = _latest(together, key)
        if n + 1 < len(parts):
            settled = pc.less(together[key], least(parts[n + 1][1]))
            waiting = together.filter(pc.invert(settled))
            together = together.filter(settled)
        if len(together):
            yield together.drop_columns([_NUMBER, _ROW])
    for part in without:
        table = manifest.table(part, names)
        yield table.filter(pc.is_null(table[key]))


#: Columns that tell of rows with one id which was read last.
_NUMBER, _ROW = "__part__", "__row__"
_READ = [(_NUMBER, "ascending"), (_ROW, "ascending")]


def _below(one: pa.Table, other: pa.Table) -> pa.Table:
    return pa.concat_tables([one, other], promote_options="permissive")


def _latest(table: pa.Table, key: str) -> pa.Table:
    """Keep of each id, in a sorted table, the row that was read last."""
    ids = table[key].to_numpy()
    last = ids[1:] != ids[:-1]
    return table if last.all() else table.filter(pa.array([*last.tolist(), True]))
