"""Manifest: the parts of a book on the disk, and what is in them.

    book/.gitignore
    book/account=de/_manifest.jsonl
    book/account=de/part-000000.parquet

The folder is a dataset like any other, with the account as a column: for Dask and pandas names
that begin with `_` or `.` are no data; DuckDB and Polars are told which files they are, as
`chatkit.Book` says. The manifest says, a line each, what was read, what each part holds, and
whether that is all. A part is in the manifest only when it is on the disk: what is not in there is
left from a process that was killed.

Columns and types are those of `frame()`. Nested values are JSON text; their fields say so in the
schema. Files are for their owner alone: they hold names and numbers of people.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote, unquote

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from chatkit import frame as frames
from chatkit.display import cut
from chatkit.errors import InputError, StoreError
from chatkit.lock import make_folder, replacing, sync_folder, writing

#: What the manifest of an account is called, and the version of its lines.
MANIFEST = "_manifest.jsonl"
FORMAT = 1
#: Seconds to wait for who writes the same account: what was stopped has just to write its last.
PATIENCE = 5.0
#: The name of an account's folder, and of its parts.
ACCOUNT = "account="
_PART = "part-{:06d}.parquet"

# --- the manifest ---------------------------------------------------------------------------


class BaseBook(NamedTuple):
    """The book that another one was made of: where it is from there, and what tells it."""

    path: str
    book: str


class Began(msgspec.Struct, tag="began", tag_field="line", frozen=True, omit_defaults=True):
    """The first line of a manifest: what was read, and how."""

    account: str  #: which account of which service, as `Connection.account` says
    noun: str  #: contact
    key: str  #: what names a row: id
    page_size: int
    started: str  #: ISO 8601, by the clock of this machine
    base: BaseBook | None = None  #: of a book that was edited
    book: str = msgspec.field(default_factory=lambda: secrets.token_hex(8))  #: tells it from others
    version: str = msgspec.field(default_factory=lambda: metadata.version("chatkit"))
    format: int = FORMAT


class BookPart(msgspec.Struct, tag="part", tag_field="line", frozen=True, omit_defaults=True):
    """A line for each part: its file, and which rows are in it."""

    file: str
    rows: int
    first: int | None  #: the ids of its first and last row
    last: int | None
    least: int | None
    greatest: int | None
    ascending: bool  #: whether its ids ascend, each of them once, and each row has one
    pages: tuple[int, int]  #: of the list, the first and the last that it is from
    bytes: int
    when: str


class Ended(msgspec.Struct, tag="ended", tag_field="line", frozen=True, omit_defaults=True):
    """The last line: that it is all, and what was odd."""

    when: str
    rows: int
    notes: list[str] = []


Line: TypeAlias = Began | BookPart | Ended
_read_line: Callable[[bytes], Line] = msgspec.json.Decoder(Began | BookPart | Ended).decode


class Manifest:
    """What the folder of one account holds.

    Args:
        place: That folder.
        began: The first line.
    """

    def __init__(self, place: Path, began: Began) -> None:
        self.place = place
        self.began = began
        self.parts: list[BookPart] = []
        self.ended: Ended | None = None

    @property
    def label(self) -> str:
        """What the account is called in the book."""
        return unquote(self.place.name.removeprefix(ACCOUNT))

    @property
    def rows(self) -> int:
        """How many rows its parts hold."""
        return sum(part.rows for part in self.parts)

    @property
    def order(self) -> int:
        """1 if the ids of all rows ascend, -1 if they descend from part to part, else 0."""
        held = [part for part in self.parts if part.rows]
        pairs = list(pairwise(held))
        if all(p.ascending for p in held) and all(most(a) < least(b) for a, b in pairs):
            return 1
        down = all(least(a) > most(b) for a, b in pairs)
        return -1 if down and all(_falls(p) for p in held) else 0

    @property
    def ascending(self) -> bool:
        """Whether its rows are in the order of their ids, each id once."""
        return self.order == 1

    @classmethod
    def read(cls, place: Path, *, going_on: bool = False) -> Manifest | None:
        """Read the manifest of a folder; None if it has none.

        Args:
            place: The folder.
            going_on: Whether it will be written: what a killed process left is removed.

        Raises:
            StoreError: It is damaged, or a part is missing or not as it was written.
        """
        path = place / MANIFEST
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"{path} cannot be read ({error}).") from error
        whole, _, torn = text.rpartition(b"\n")  # a line without an end was never finished
        lines = whole.split(b"\n") if whole else []
        if not lines:
            return None
        manifest = cls(place, cls._began(path, lines[0]))
        for number, line in enumerate(lines[1:], 2):
            manifest._take(_line_of(path, number, line))
        manifest._check()
        if going_on:
            if torn:
                os.truncate(path, len(text) - len(torn))
            manifest._sweep()
        return manifest

    @staticmethod
    def _began(path: Path, text: bytes) -> Began:
        line = _line_of(path, 1, text)
        if not isinstance(line, Began) or line.format > FORMAT:
            raise StoreError(
                f"{path} does not begin as a manifest that this chatkit knows: a later one may "
                "have written it. Update chatkit, or spool into another folder."
            )
        return line

    @classmethod
    def begin(cls, place: Path, began: Began) -> Manifest:
        """Make the folder and the manifest of an account; parts that no manifest names go."""
        manifest = cls(place, began)
        with telling(place):
            make_folder(place)
            (place / MANIFEST).unlink(missing_ok=True)
            manifest._sweep()
        manifest._append(began)
        return manifest

    def add(self, line: BookPart | Ended) -> None:
        """Note a part that is on the disk, or that there are no more.

        Raises:
            StoreError: It cannot be written.
        """
        self._append(line)
        self._take(line)

    def _take(self, line: Line) -> None:
        if isinstance(line, BookPart):
            self.parts.append(line)
        elif isinstance(line, Ended):
            self.ended = line

    def _append(self, line: Line) -> None:
        path = self.place / MANIFEST
        with telling(path):
            file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
            try:
                _add_whole(file, msgspec.json.encode(line) + b"\n")
            finally:
                os.close(file)
            if isinstance(line, Began):
                sync_folder(self.place)

    def _check(self) -> None:
        """Look whether all parts are there, as large as they were written."""
        for part in self.parts:
            path = self.place / part.file
            size = path.stat().st_size if path.is_file() else None
            if size != part.bytes:
                said = "is missing" if size is None else "was changed by another program"
                raise StoreError(
                    f"{path} {said}: the book cannot be trusted. Spool into another folder, or "
                    f"delete {self.place} and spool again."
                )

    def _sweep(self) -> None:
        """Remove parts that the manifest does not name."""
        named = {part.file for part in self.parts}
        for path in [*self.place.glob("part-*.parquet"), *self.place.glob(".part-*")]:
            if path.name not in named:
                path.unlink()

    def write(self, table: pa.Table, pages: tuple[int, int], when: str) -> BookPart:
        """Write a table as the next part: durable, then renamed, then noted.

        Raises:
            StoreError: It cannot be written.
        """
        file = _PART.format(len(self.parts))
        key = self.began.key
        buffer = pa.BufferOutputStream()
        pq.write_table(
            table.replace_schema_metadata(_for_pandas(table, key)),
            buffer,
            compression="zstd",
            row_group_size=max(len(table), 1),
            write_page_checksum=True,
        )
        data = buffer.getvalue()
        path = self.place / file
        beside = self.place / f".{file}"  # what a killed process left is written over
        with telling(path), replacing(path, beside=beside) as out:
            out.write(data)
        ids = table[key]
        least, greatest = (pc.min_max(ids)[end].as_py() for end in ("min", "max"))
        first, last = (ids[0].as_py(), ids[-1].as_py()) if len(table) else (None, None)
        part = BookPart(
            file=file,
            rows=len(table),
            first=first,
            last=last,
            least=least,
            greatest=greatest,
            ascending=rises(ids),
            pages=pages,
            bytes=len(data),
            when=when,
        )
        self.add(part)
        return part

    def table(self, part: BookPart, columns: Sequence[str] | None = None) -> pa.Table:
        """Read a part, or some of its columns.

        Raises:
            StoreError: It is damaged.
        """
        return read_part(str(self.place / part.file), columns)


def _add_whole(file: int, text: bytes) -> None:
    """Add a text to a file, durably: all of it, or nothing that another line would follow."""
    before, rest = os.fstat(file).st_size, memoryview(text)
    try:
        while rest:  # a disk that is nearly full takes less than it was given
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
    except BaseException:
        os.ftruncate(file, before)
        raise


def _line_of(path: Path, number: int, text: bytes) -> Line:
    try:
        return _read_line(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StoreError(
            f"{path}, line {number}: {error}. The book cannot be trusted: spool "
            "into another folder."
        ) from None


def rises(ids: Any) -> bool:
    """Whether ids ascend, each of them once, and none is missing."""
    if ids.null_count:
        return False
    values = ids.to_numpy()
    return bool((values[1:] > values[:-1]).all())


def _falls(part: BookPart) -> bool:
    return part.first == part.greatest and part.last == part.least


def least(part: BookPart) -> int:
    """Return the least id of a part, to sort it by; -1 if it has none."""
    return -1 if part.least is None else part.least


def most(part: BookPart) -> int:
    """Return the greatest id of a part; -1 if it has none."""
    return -1 if part.greatest is None else part.greatest


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Say of what the disk refuses which file it is."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror or error}). What was written before stays: "
            "call it again to go on."
        ) from error


def _for_pandas(table: pa.Table, key: str) -> dict[bytes, bytes]:
    """Tell pandas which types the columns have in a frame, and which one is the index."""
    shown = frames.frame_of_table(table.slice(0, 0), key)
    told: bytes = pa.Schema.from_pandas(shown).metadata[b"pandas"]
    return {b"pandas": told}


def read_part(path: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read the file of a part, or some of its columns.

    Raises:
        StoreError: It is damaged.
    """
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            return file.read(columns=None if columns is None else list(columns))
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"{path} cannot be read ({error}).") from error


# --- the folder ---------------------------------------------------------------------------


def place_of(folder: Path, label: str) -> Path:
    """Return the folder of an account in a book."""
    return folder / f"{ACCOUNT}{quote(label, safe='')}"


def prepare(folder: Path, label: str) -> Path:
    """Make the folder of an account in a book, for its owner alone and never in git.

    Raises:
        InputError: The folder holds something else.
        StoreError: It cannot be made.
    """
    if folder.exists():
        if not folder.is_dir():
            raise InputError(f"{folder} is a file: name a folder for the book.")
        strange = [
            path.name for path in folder.iterdir() if not path.name.startswith((ACCOUNT, ".", "_"))
        ]
        if strange:
            raise InputError(
                f"{folder} holds other files ({cut(', '.join(sorted(strange)))}): name a new "
                "folder for the book."
            )
    place = place_of(folder, label)
    with telling(folder):
        make_folder(folder)
        ignored = folder / ".gitignore"
        if not ignored.exists():
            ignored.write_text("# Names and numbers of people\n*\n", encoding="utf-8")
            ignored.chmod(0o600)
        make_folder(place)
    return place


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """Let one process at a time write the parts of an account.

    Raises:
        StoreError: Another one does.
    """
    held = writing(place / MANIFEST, patience=PATIENCE)
    try:
        held.__enter__()
    except OSError as error:
        raise StoreError(
            f"{place} cannot be written now: {error}. Wait until it has ended, or stop it there."
        ) from error
    try:
        yield
    finally:
        held.__exit__(None, None, None)


def now() -> str:
    """Return the time by the clock of this machine."""
    return datetime.now(UTC).isoformat(timespec="seconds")
