"""Template codes: read from arguments and files, as the API has no list of templates."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from chatkit import settings
from chatkit.api.call import segment_problem
from chatkit.api.connection import Connection
from chatkit.errors import InputError, Problem, command, file_bytes
from chatkit.util.display import many, values, visible

if TYPE_CHECKING:
    from chatkit.imports.tables import RawTable
    from chatkit.localization.units import Unit

#: Codes as they are passed: some of them, one of them, or a file that has them.
Codes: TypeAlias = "str | os.PathLike[str] | Iterable[str]"

NO_CODES = (
    "Which templates? The API has no list of them, so name their codes in one of three ways:\n"
    '  pass them: client.templates.frame(["order_ready", "welcome"]);\n'
    "  pass a file of them: a .txt with one a line, or a .csv or .xlsx with a column "
    "template_code;\n"
    "  keep them once: client.templates.remember(codes), which every method then takes."
)
_FILE_ENDINGS = (".txt", ".csv", ".tsv", ".xlsx")
#: The names that a column of codes may have, the surest first.
_HEADINGS = ("templatecode", "templatecodes", "template", "templates", "code", "codes")
_HEADING_ROWS = 10  #: rows that are searched for the names of the columns


def template_codes(codes: Codes) -> list[str]:
    """Return the codes of an argument or a file, each once, in their order.

    Raises:
        InputError: There are none, or some are no codes: `problems` has all of them.
        OSError: There is no such file, or it cannot be opened.
    """
    if isinstance(codes, os.PathLike) or _is_file(codes):
        named = _read_file(Path(codes).expanduser())  # type: ignore[arg-type]
    elif isinstance(codes, str):
        named = [codes]
    elif isinstance(codes, Iterable) and not isinstance(codes, bytes):
        named = list(codes)
    else:
        raise InputError(f"Template codes are texts, not {type(codes).__name__}.\n{NO_CODES}")
    if not named:
        raise InputError(NO_CODES)
    if problems := list(_invalid_codes(named)):
        raise InputError("These cannot be template codes:", problems)
    return list(dict.fromkeys(named))


def unit_codes(units: Iterable[Unit]) -> list[str]:
    """Return the template codes of returned units, without those that can be no code."""
    named = dict.fromkeys(unit.template_code for unit in units)
    return [code for code in named if not any(_invalid_codes([code]))]


def _is_file(codes: object) -> bool:
    return isinstance(codes, str) and codes.lower().endswith(_FILE_ENDINGS)


def _invalid_codes(codes: Sequence[object]) -> Iterator[Problem]:
    """Yield a problem for each code that cannot be a part of an address."""
    for code in codes:
        if not isinstance(code, str):
            yield Problem("template_code", values(code), "must be text")
        elif reason := segment_problem(code):
            yield Problem("template_code", values(code), reason)


# --- files ------------------------------------------------------------------------------


def _read_file(path: Path) -> list[str]:
    """Read the codes in a text file, a CSV file or a workbook."""
    from chatkit.imports.tables import file_kind  # slow to load, as pandas is
    from chatkit.imports.tables.delimited import decode_text
    from chatkit.localization.glossary import read_small_table

    content = file_bytes(path)
    try:
        if path.suffix.lower() in (".csv", ".tsv") or file_kind(content) == "xlsx":
            return _read_code_column(read_small_table(content, _count_headings))
        lines = map(str.strip, decode_text(content, count_headings=_count_headings)[0].splitlines())
        return [line for line in lines if line and not line.startswith("#")]
    except InputError as error:
        raise InputError(f"{visible(path.name)}: {error}") from None


def _read_code_column(table: RawTable) -> list[str]:
    """Return the codes in the column of a table that is named so, or in its only column."""
    rows = [row for row in table.rows if any(cell is not None for cell in row.cells)]
    for place, row in enumerate(rows[:_HEADING_ROWS]):
        headings = [_normalize_heading(cell) for cell in row.cells]
        if names := [name for name in _HEADINGS if name in headings]:
            column = headings.index(names[0])
            cells = [other.cells[column : column + 1] for other in rows[place + 1 :]]
            return [_cell_text(cell[0]) for cell in cells if cell and cell[0] is not None]
    filled = [[cell for cell in row.cells if cell is not None] for row in rows]
    if all(len(cells) == 1 for cells in filled):
        return [_cell_text(cells[0]) for cells in filled]
    columns = ", ".join(str(cell) for cell in filled[0]) if filled else "none"
    raise InputError(f"no column is called template_code. Columns: {visible(columns):.200}.")


def _count_headings(row: Sequence[str]) -> int:
    return sum(_normalize_heading(cell) in _HEADINGS for cell in row)


def _normalize_heading(cell: object) -> str:
    return re.sub("[^a-z]", "", cell.casefold()) if isinstance(cell, str) else ""


def _cell_text(cell: object) -> str:
    text = getattr(cell, "text", None)  # a cell that holds nothing usable, as it is seen
    return str(cell if text is None else text).strip()


# --- remembered -------------------------------------------------------------------------


class RememberedCodes:
    """The remembered codes of an account, in its named connection, or else in the client.

    Args:
        connection: Which account.
    """

    def __init__(self, connection: Connection) -> None:
        self.codes: tuple[str, ...] = connection.templates
        self._connection = connection

    def keep(self, codes: Sequence[str]) -> str:
        """Keep these codes in place of those before; return a message with the place.

        Raises:
            SettingsError: The configuration file cannot be written.
        """
        name = self._stored_name()
        if name is not None:
            settings.save_templates(name, codes)
        self.codes = tuple(codes)
        count = many(len(codes), "template code")
        if name is not None:
            return f"The connection {name} remembers {count}, for every client of it."
        why = (
            "the sandbox keeps no settings"
            if self._connection.sandbox is not None
            else f"its connection has no name (`{command('login NAME')}` gives it one)"
        )
        return f"This client remembers {count} until the kernel ends: {why}."

    def _stored_name(self) -> str | None:
        """Return the name of this connection in the configuration file, if it is there."""
        connection, name = self._connection, self._connection.name
        if connection.sandbox is not None or name is None or name not in settings.names():
            return None
        kept = settings.stored(name)
        same = kept.base_url == connection.base_url and kept.account_id == connection.account_id
        return name if same else None
