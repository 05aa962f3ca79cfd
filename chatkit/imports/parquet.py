"""Parquet: exports a list into a folder of files; streamed, and resumable.

    contacts/_complete.json          what was read; written last
    contacts/part-000000.parquet     10,000 rows or more

The metadata of a part names its account. Nothing else lists the parts, so nothing can point to a
file outside the folder. Until all of them are there their names begin with a dot:
pandas and Dask see the whole list or nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Raw

from chatkit.api.connection import describe_account
from chatkit.api.listing import ListReader
from chatkit.bulk.endpoints import Endpoints
from chatkit.errors import BadAnswer, ChatkitError, InputError, NotFound, Refused, StoreError
from chatkit.frames import frame as frames
from chatkit.util.display import cut, many
from chatkit.util.files import lock_file, make_folder, replace_file, sync_folder
from chatkit.util.progress import Forecast, Progress, print_line

#: Rows of a part, at least: so many are read again after a kill, and 10⁸ rows are 10⁴ files.
PART_ROWS = 10_000
#: Seconds to wait for another process that writes into the folder.
PATIENCE = 5.0

_COMPLETE = "_complete.json"
_PART_NAME = re.compile(r"\.?part-([0-9]{6,})\.parquet")
_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class PartOrigin(msgspec.Struct, frozen=True):
    """Origin of the rows of a part; every part holds this in its metadata."""

    account: str  #: account and service, as `Connection.account` names them
    noun: str
    position: int  #: rows of the list up to the end of this part


class ExportTotals(msgspec.Struct, frozen=True):
    """The totals of a read that has ended."""

    parts: int
    rows: int
    when: str
    notes: list[str]


class ExportedPart(NamedTuple):
    """A part on the disk that has been verified."""

    path: Path
    rows: int
    columns: list[str]
    origin: PartOrigin


def write_parquet(endpoints: Endpoints[Any], folder: str | os.PathLike[str]) -> int:
    """Export the whole list of a resource into a folder, or resume an earlier export.

    Returns:
        The number of rows.

    Raises:
        InputError: The folder holds other files or another account, or the list has changed so
            that rows would be missing or doubled.
        StoreError: A part is missing or damaged, or cannot be written.
        CallError: The list cannot be read. The rows read so far stay.
    """
    folder = Path(folder).expanduser()
    _check_folder(folder)
    try:
        make_folder(folder)
        if not (folder / ".gitignore").exists():
            with replace_file(folder / ".gitignore") as file:
                file.write(b"# Names and numbers of people\n*\n")
        with lock_file(folder / _COMPLETE, patience=PATIENCE):
            return _Export(endpoints, folder).run()
    except OSError as error:
        raise StoreError(
            f"{error.filename or folder} cannot be written ({error.strerror or error}). The parts "
            "that are complete stay: call it again to go on."
        ) from error


class _Export:
    """One export of a list into a folder.

    Args:
        endpoints: The resource.
        folder: It exists, and holds nothing else.
    """

    def __init__(self, endpoints: Endpoints[Any], folder: Path) -> None:
        self.endpoints, self.folder, self.key = endpoints, folder, endpoints.key
        self.parts = self._read_parts()
        self.resumed = bool(self.parts)
        self.kinds = frames.choose_column_kinds(endpoints.record, endpoints.record.listed)
        self.columns = frames.Columns(self.kinds)
        self.pages_end = self.written = 0  # rows of `columns` in whole pages, and in parts
        self.position = self.parts[-1].origin.position if self.parts else 0
        self.expected: list[Any] = []  # ids that the next page has to begin with
        self.previous: set[Any] = {*self._read_part_ids(self.parts[-1])} if self.parts else set()
        self.duplicates = 0
        self.listing: ListReader

    @property
    def rows(self) -> int:
        """The number of rows in all parts."""
        return sum(part.rows for part in self.parts)

    def run(self) -> int:
        """Read and write what is missing; return the number of rows."""
        if (rows := self.read_complete_count()) is not None:
            return rows
        try:
            with Progress(f"{self.endpoints.noun}s") as progress:
                self.read_pages(progress)
        except BaseException:
            with suppress(frames.WrongRows, OSError):
                self.write_part()
            raise
        return self.finish()

    # --- parts on the disk --------------------------------------------------------------

    def _read_parts(self) -> list[ExportedPart]:
        """Verify the parts in the folder, and return them in order.

        Raises:
            StoreError: One is missing, or cannot be read.
            InputError: They are of another account.
        """
        names = map(_PART_NAME.fullmatch, sorted(os.listdir(self.folder)))
        paths = {int(name[1]): self.folder / name[0] for name in names if name}
        parts = [self._verify_part(path) for _, path in sorted(paths.items())]
        if missing := {*range(len(paths))} - {*paths}:
            raise self._build_error(f"Part {min(missing)} of {self.folder} is missing")
        return parts

    def _verify_part(self, path: Path) -> ExportedPart:
        """Read the origin of a part; refuse one that is damaged or of another account."""
        if path.is_symlink() or not path.is_file():
            raise self._build_error(f"{path} is a link or a folder, not a part")
        try:
            with pq.ParquetFile(path) as file:
                schema, rows = file.schema_arrow, file.metadata.num_rows
            origin = msgspec.json.decode((schema.metadata or {})[b"chatkit"], type=PartOrigin)
        except (OSError, pa.ArrowException, KeyError, *_NOT_JSON) as error:
            raise self._build_error(f"{path} cannot be read ({error!s:.200})") from error
        account, noun = self.endpoints.transport.connection.account, self.endpoints.noun
        if (origin.account, origin.noun) != (account, noun):
            own, other = describe_account(account), describe_account(origin.account)
            raise InputError(
                f"{self.folder} holds {origin.noun}s of "
                f"{'another sandbox' if other == own else other}, not {noun}s of {own}: name "
                "another folder."
            )
        return ExportedPart(path, rows, schema.names, origin)

    def _build_error(self, reason: str, kind: type[ChatkitError] = StoreError) -> ChatkitError:
        """Make an error that advises to delete the folder or to name another one."""
        noun, folder = self.endpoints.noun, self.folder
        return kind(f"{reason}. Delete {folder}, or name another folder, to read all {noun}s.")

    def read_complete_count(self) -> int | None:
        """Return the number of rows of a complete export; None if it is not complete.

        Raises:
            StoreError: The parts do not hold so many rows.
        """
        path = self.folder / _COMPLETE
        if not path.exists():
            return None
        try:
            complete = msgspec.json.decode(path.read_bytes(), type=ExportTotals)
        except (OSError, *_NOT_JSON) as error:
            raise self._build_error(f"{path} cannot be read ({error!s:.200})") from error
        if (len(self.parts), self.rows) != (complete.parts, complete.rows):
            raise self._build_error(
                f"{self.folder} holds {self.rows:,} rows in {many(len(self.parts), 'part')}, and "
                f"{complete.rows:,} rows in {many(complete.parts, 'part')} were written"
            )
        notes = f" {'; '.join(complete.notes)}." if complete.notes else ""
        print_line(
            f"{self.folder}: {many(complete.rows, self.endpoints.noun)}, complete since "
            f"{complete.when[:10]}; nothing was read again.{notes} To read anew, delete the folder "
            "or name another one."
        )
        return complete.rows

    def _read_part_ids(self, part: ExportedPart) -> list[Any]:
        """Read the ids of the rows in a part."""
        return pq.read_table(part.path, columns=[self.key])[self.key].to_pylist()  # type: ignore[no-any-return]

    # --- pages --------------------------------------------------------------------------

    def read_pages(self, progress: Progress) -> None:
        """Read the pages that are not in a part yet, and write them into parts.

        Raises:
            InputError: The list has changed so that rows would be missing or doubled.
        """
        endpoints, profile = self.endpoints, self.endpoints.profile
        size, first = profile.max_page_size, profile.page_base
        pages_before = max(self.position - 1, 0) // size  # pages before that of the last row
        self.listing = listing = ListReader(
            *(endpoints.transport, endpoints.list_call, self._add_page),
            first=first,
            start=first + pages_before,
            rows=pages_before * size,
            refuses=profile.page_past_end == "refuse",
        )
        forecast = Forecast("The stop button ends it; called again, it goes on from there.")
        try:
            if self.resumed:
                count = many(self.rows, endpoints.noun)
                print_line(f"{self.folder}: goes on after {count} that were read before.")
                answer = endpoints.transport.send(endpoints.list_call(first))
                self._count_known_rows(
                    self._parse_page_ids(answer.data), self._read_part_ids(self.parts[0])[:size]
                )
                for part in reversed(self.parts):
                    if len(self.expected) < self.position - pages_before * size:
                        self.expected = self._read_part_ids(part) + self.expected
                self.expected = self.expected[pages_before * size - self.position :]
                progress.add(self.rows)
            with closing(listing.read()) as pages:
                for _ in pages:
                    progress.total = listing.total
                    progress.add(self.columns.rows - self.pages_end)
                    self.pages_end, self.position = self.columns.rows, listing.rows
                    remaining = (listing.total or listing.rows) - self.rows
                    endpoints.print_time(forecast, remaining, *listing.calls)
                    if self.pages_end - self.written >= PART_ROWS:
                        self.write_part()
        except (frames.WrongRows, *_NOT_JSON) as error:
            reason = f"the list is not as documented: {error}"
            raise BadAnswer(endpoints.list_call(), reason) from None
        except Refused as error:
            if self.expected and type(error) in (Refused, NotFound):  # past the end
                self._count_known_rows([], self.expected)
            raise

    def _add_page(self, data: Raw) -> int:
        """Add the rows of a page that are in no part yet; return the number of all its rows."""
        if not self.expected:
            return self.columns.add(data)
        rows = msgspec.json.decode(data, type=list[Raw])
        known = self._count_known_rows(self._parse_page_ids(data), self.expected)
        self.expected = []
        self.columns.add(b"[" + b",".join(map(bytes, rows[known:])) + b"]")
        return len(rows)

    def _parse_page_ids(self, data: Raw) -> list[Any]:
        """Parse the ids of the rows on a page."""
        rows = msgspec.json.decode(data, type=list[dict[str, Any]])
        keys = [row.get(self.key) for row in rows]
        return [int(key) if isinstance(key, str) and key.isdecimal() else key for key in keys]

    def _count_known_rows(self, keys: Sequence[Any], expected: Sequence[Any]) -> int:
        """Return how many of the first rows of a page were read before, in the same order.

        Rows that were deleted meanwhile move the others to the front, which does no harm while
        a page still has some of its rows. New rows before them, or none of them, do.

        Raises:
            InputError: Rows would be missing or doubled.
        """
        known = [key for key in expected if key in keys]
        if expected and (not known or [*keys[: len(known)]] != known):
            rows = many(self.rows, self.endpoints.noun)
            raise self._build_error(
                f"{self.folder}: the list of {self.endpoints.noun}s has changed since {rows} of "
                "it were read, so that others would be missing or doubled",
                InputError,
            )
        return len(known)

    # --- parts --------------------------------------------------------------------------

    def write_part(self) -> None:
        """Write the rows of whole pages as a part; of several rows with one id the last."""
        rows, number = self.pages_end - self.written, len(self.parts)
        frame = self.columns.frame(self.key)
        if len(frame) < rows or (not rows and self.parts):  # interrupted while a page was added
            return
        index = frame.index[:rows]
        new = frame.iloc[:rows][~index.duplicated(keep="last") & ~index.isin(self.previous)]
        table = frames.make_table(self.endpoints.format_frame(new.copy()), self.kinds)
        self.written, self.previous = self.pages_end, {*index}
        self.duplicates += rows - len(new)
        connection = self.endpoints.transport.connection
        origin = PartOrigin(connection.account, self.endpoints.noun, self.position)
        self.parts.append(self._save_part(number, table, origin))

    def _save_part(self, number: int, table: pa.Table, origin: PartOrigin) -> ExportedPart:
        """Save a table as a hidden part that holds its origin in the metadata."""
        table = table.replace_schema_metadata()
        empty = table.slice(0, 0).to_pandas().set_index(self.key)
        metadata = {
            b"pandas": pa.Schema.from_pandas(empty, preserve_index=True).metadata[b"pandas"],
            b"chatkit": msgspec.json.encode(origin),
        }
        table = table.replace_schema_metadata(metadata)
        path = self.folder / f".part-{number:06}.parquet"
        with replace_file(path, first=self.folder / ".writing") as file:
            pq.write_table(table, file, compression="zstd", row_group_size=max(len(table), 1))
        return ExportedPart(path, len(table), table.column_names, origin)

    def finish(self) -> int:
        """Write the last part and the totals, rename the parts, and return the number of rows."""
        self.write_part()
        names = list(dict.fromkeys(name for part in self.parts for name in part.columns))
        for number, part in enumerate(self.parts):
            path = part.path
            if part.columns != names:  # the service began to send a field in another part
                table = pq.read_table(path)
                for name in (name for name in names if name not in part.columns):
                    table = table.append_column(name, pa.nulls(len(table), pa.large_string()))
                path = self._save_part(number, table.select(names), part.origin).path
            visible = path.rename(self.folder / path.name.removeprefix("."))
            self.parts[number] = part._replace(path=visible)
        sync_folder(self.folder)
        endpoints, rows = self.endpoints, self.rows
        ids = np.concatenate([np.array(self._read_part_ids(part), np.int64) for part in self.parts])
        repeated = len(ids) - len(np.unique(ids))  # by a part after the next
        self.listing.rows = rows + self.duplicates
        signs = endpoints.find_list_change_signs(self.listing, self.duplicates + repeated)
        when = endpoints.transport.get_service_time().isoformat(timespec="seconds")
        notes = [f"The list changed while it was read: {'; '.join(signs)}"] if signs else []
        with replace_file(self.folder / _COMPLETE) as file:
            file.write(msgspec.json.encode(ExportTotals(len(self.parts), rows, when, notes)))
        if not self.resumed:
            endpoints.warn_if_missing(self.columns.missing)
        endpoints.warn_of_list_changes(signs)
        return rows


# --- the folder ---------------------------------------------------------------------------


def _check_folder(folder: Path) -> None:
    """Check that an export may write into a folder: that it is new, or holds an export.

    Raises:
        InputError: It is a file, or holds other files.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: name a folder.")
    names = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    others = [n for n in names if not n.startswith((".", "_")) and not _PART_NAME.fullmatch(n)]
    if others:
        raise InputError(
            f"{folder} holds other files ({cut(', '.join(others))}): name a new folder."
        )
