"""Template codes: read from arguments and files, as the API has no list of templates."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from chatkit import settings
from chatkit.api.call import find_segment_fault
from chatkit.api.connection import Connection
from chatkit.errors import InputError, Problem, format_command, read_file_bytes
from chatkit.util.display import many, values, visible

if TYPE_CHECKING:
    from chatkit.localization.units import Unit

#: Template codes as an argument: one, several, or the path of a file with one a line.
Codes: TypeAlias = "str | os.PathLike[str] | Iterable[str]"

NO_CODES = (
    "Which templates? The API has no list of them, so name their codes in one of three ways:\n"
    '  pass them: client.templates.frame(["order_ready", "welcome"]);\n'
    "  pass a file of them: a .txt with one a line;\n"
    "  keep them once: client.templates.remember(codes), which every method then takes."
)
#: The ending of a file of codes, and those of tables, which are refused.
_FILE_ENDINGS = (".txt", ".csv", ".tsv", ".xlsx")


def template_codes(codes: Codes) -> list[str]:
    """Read template codes from an argument or a file, each once, in their order.

    Args:
        codes: One code, several, or the path of a .txt file with one a line.

    Raises:
        InputError: There are none, or some cannot be codes: `problems` has all of them.
        OSError: There is no such file, or it cannot be opened.
    """
    if isinstance(codes, os.PathLike) or (
        isinstance(codes, str) and codes.lower().endswith(_FILE_ENDINGS)
    ):
        items = _read_file(Path(codes).expanduser())
    elif isinstance(codes, str):
        items = [codes]
    elif isinstance(codes, Iterable) and not isinstance(codes, bytes):
        items = list(codes)
    else:
        raise InputError(f"Template codes are texts, not {type(codes).__name__}.\n{NO_CODES}")
    if not items:
        raise InputError(NO_CODES)
    if problems := list(_find_invalid_codes(items)):
        raise InputError("These cannot be template codes:", problems)
    return list(dict.fromkeys(items))


def list_unit_codes(units: Iterable[Unit]) -> list[str]:
    """Return the template codes of returned texts, without those that cannot be codes."""
    codes = dict.fromkeys(unit.template_code for unit in units)
    return [code for code in codes if not any(_find_invalid_codes([code]))]


def _find_invalid_codes(codes: Sequence[object]) -> Iterator[Problem]:
    """Yield a problem for each code that cannot be part of a request path."""
    for code in codes:
        if not isinstance(code, str):
            yield Problem("template_code", values(code), "must be text")
        elif reason := find_segment_fault(code):
            yield Problem("template_code", values(code), reason)


# --- files ------------------------------------------------------------------------------


def _read_file(path: Path) -> list[str]:
    """Read the codes in a text file, one a line; lines that begin with # are comments.

    Raises:
        InputError: It is a table, or no text.
        OSError: It cannot be opened.
    """
    if path.suffix.lower() in _FILE_ENDINGS[1:]:
        raise InputError(
            f"{visible(path.name)} is a table: put its codes into a .txt file, one a line, or pass "
            'the column, like pandas.read_csv(path)["template_code"].'
        )
    from chatkit.imports.tables.delimited import decode_text  # slow to load, as pandas is

    try:
        lines = map(str.strip, decode_text(read_file_bytes(path))[0].splitlines())
        return [line for line in lines if line and not line.startswith("#")]
    except InputError as error:
        raise InputError(f"{visible(path.name)}: {error}") from None


# --- remembered -------------------------------------------------------------------------


class RememberedCodes:
    """The remembered codes of an account: in its named connection, else in the client.

    Args:
        connection: The connection of the account.
    """

    def __init__(self, connection: Connection) -> None:
        self.codes: tuple[str, ...] = connection.templates
        self._connection = connection

    def save_codes(self, codes: Sequence[str]) -> str:
        """Remember these codes in place of those before; return a message that names the store.

        Raises:
            SettingsError: The configuration file cannot be written.
        """
        name = self._find_stored_name()
        if name is not None:
            settings.save_templates(name, codes)
        self.codes = tuple(codes)
        count = many(len(codes), "template code")
        if name is not None:
            return f"The connection {name} remembers {count}, for every client of it."
        reason = (
            "the sandbox keeps no settings"
            if self._connection.sandbox is not None
            else f"its connection has no name (`{format_command('login NAME')}` gives it one)"
        )
        return f"This client remembers {count} until the kernel ends: {reason}."

    def _find_stored_name(self) -> str | None:
        """Return the name of this connection in the configuration file; None if it has none."""
        connection, name = self._connection, self._connection.name
        if connection.sandbox is not None or name is None or name not in settings.names():
            return None
        stored = settings.stored(name)
        same = stored.base_url == connection.base_url and stored.account_id == connection.account_id
        return name if same else None
