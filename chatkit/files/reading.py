"""Reading: any file of contacts as a frame, and all there is to say about it."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

import pandas as pd

from chatkit.display import many
from chatkit.errors import InputError
from chatkit.files import headers, text
from chatkit.files.columns import FIELDS, Columns, sort
from chatkit.files.source import Source, kind, opened
from chatkit.files.table import Row, Table, shown
from chatkit.frame import collector_paused

if TYPE_CHECKING:
    import pandas as pd


#: More problems than this are only counted in a message.
_SHOWN = 20


class Reading:
    """What came of reading a file.

    Args:
        source: What was read.
        kind: What kind of file it is, in words.
        columns: What is in it.
    """

    def __init__(self, source: str, kind: str, columns: Columns) -> None:
        self.frame: pd.DataFrame = columns.frame  #: the rows that can be read
        self.columns = columns.of  #: for each column those of the file that it was made of
        self.notes = columns.notes
        self.problems = columns.problems  #: what cannot be read, with row and column
        self.left_out = columns.left_out  #: how many rows cannot
        self._source, self._kind = source, kind

    def report(self, *, skipped: bool = False) -> str:
        """Say which column became what, and what a person should know.

        Args:
            skipped: Say which rows are left out, too.
        """
        meant = {name: of for name, of in self.columns.items() if name in FIELDS}
        sources = [" + ".join(map(shown, of)) for of in meant.values()]
        width = max(map(len, sources), default=0)
        lines = [f"{self._source}: {many(len(self.frame), 'row')} ({self._kind})"]
        lines += [f"  {of:<{width}} → {name}" for of, name in zip(sources, meant, strict=True)]
        if others := [shown(name) for name in self.columns if name not in meant]:
            lines.append(f"  kept as they are: {', '.join(others)}")
        lines += [f"  note: {note}" for note in self.notes]
        if skipped and self.problems:
            lines.append(f"  left out: {many(self.left_out, 'row')}")
            lines += [f"    {p.field} = {p.value}: {p.reason}" for p in self.problems[:_SHOWN]]
            if (rest := len(self.problems) - _SHOWN) > 0:
                lines.append(f"    and {rest:,} more")
        return "\n".join(lines)

    def refusal(self) -> InputError:
        """Make the error that names all that cannot be read."""
        whole = many(len(self.frame) + self.left_out, "row")
        first = f" The first {_SHOWN}:" if len(self.problems) > _SHOWN else ""
        error = InputError(
            f"{self._source}: {self.left_out:,} of {whole} cannot be read. Correct them, "
            f"or say skip_invalid=True to read the others.{first}",
            self.problems[:_SHOWN],
        )
        error.problems = tuple(self.problems)  # who asks gets them all
        return error


def read(
    source: Source,
    *,
    number: str | None = None,
    country_code: str | None = None,
    name: str | Sequence[str] | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Reading:
    """Read contacts as `chatkit.read_contacts` does, but neither print nor refuse rows.

    Raises:
        InputError: The file as a whole cannot be read.
        OSError: There is no such file, or it cannot be opened.
    """
    label, content = opened(source)
    wanted = {"number": number, "country_code": country_code, "name": name}
    try:
        with collector_paused():
            table = _table(content, sheet, encoding, delimiter)
            columns = sort(table, {field: _several(said) for field, said in wanted.items()})
    except InputError as error:
        error.args = (f"{label}: {error}",)
        raise
    return Reading(label, table.kind, columns)


def _several(said: str | Sequence[str] | None) -> Sequence[str] | None:
    """Take one name as a list of one; the empty name says that there is none."""
    return [said] if isinstance(said, str) and said else said


def _table(
    content: bytes | str, name: str | None, encoding: str | None, delimiter: str | None
) -> Table:
    form = kind(content)
    if form == "parquet" and isinstance(content, bytes):
        return read_parquet(content)
    if form == "xlsx" and isinstance(content, bytes):
        from chatkit.files import sheet  # slow to load

        return sheet.read(content, name)
    content, said, notes = text.decoded(content, encoding)
    if kind(content) == "vcard":
        from chatkit.files import vcard

        return vcard.read(content, said, notes)
    return text.read(content, said, delimiter, headers.known, notes)


def read_parquet(data: bytes) -> Table:
    """Read a file. Its rows count from 1.

    Raises:
        InputError: It is broken.
    """
    try:  # the types of Arrow: whole numbers stay whole numbers beside an empty cell
        frame = pd.read_parquet(BytesIO(data), dtype_backend="pyarrow")
    except Exception as error:  # noqa: BLE001  pyarrow raises anything over a broken file
        raise InputError(f"This is no Parquet file that can be read ({error!r:.100}).") from None
    named = [name for name in frame.index.names if name is not None]
    frame = frame.reset_index(named) if named else frame
    columns = [frame.iloc[:, place].astype(object) for place in range(frame.shape[1])]
    cells = [column.where(column.notna(), None).tolist() for column in columns]
    rows = [Row(number, row) for number, row in enumerate(zip(*cells, strict=True), 1)]
    return Table("Parquet", [Row(0, list(map(str, frame.columns))), *rows], titled=False)
