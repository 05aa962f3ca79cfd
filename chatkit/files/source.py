"""Source: what was passed to be read: a path, an open file, bytes, or a pasted table."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Protocol, TypeAlias

from chatkit.errors import InputError


class Readable(Protocol):
    """An open file, or anything else that can be read at once."""

    def read(self) -> bytes | str:
        """Return all of it."""


Source: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | Readable"

#: How files begin that are no text, and what to do with those we do not read.
_PARQUET, _ZIP = b"PAR1", b"PK\x03\x04"
_OTHERS = {
    b"\xd0\xcf\x11\xe0": "an old Excel file, or one with a password: save it as .xlsx",
    b"%PDF": "a PDF: get the table as .xlsx or .csv",
    b"\x1f\x8b": "compressed: unpack it first",
    b"{\\rtf": "a document: save the table as .xlsx or .csv",
}
_VCARD = re.compile(r"\s*BEGIN\s*:\s*VCARD\s", re.IGNORECASE)


def opened(source: Source) -> tuple[str, bytes | str]:
    """Return the name and the content of what was passed.

    Raises:
        InputError: It is nothing that can be read.
        OSError: There is no such file, or it cannot be opened.
    """
    if isinstance(source, str) and re.search(r"[\t\r\n]", source):
        return "the pasted table", source
    if isinstance(source, str | os.PathLike):
        path = Path(source).expanduser()
        return path.name, path.read_bytes()
    if isinstance(source, bytes | bytearray):
        return "the data", bytes(source)
    if not hasattr(source, "read"):
        raise InputError(
            "read_contacts takes a path, an open file, bytes or a pasted table, "
            f"not {type(source).__name__}."
        )
    name = getattr(source, "name", None)
    return os.path.basename(name) if isinstance(name, str) else "the data", source.read()


def kind(content: bytes | str) -> str:
    """Tell what kind of file it is by its content: parquet, xlsx, vcard or text.

    Raises:
        InputError: It is of a kind that is not read.
    """
    if isinstance(content, str):
        return "vcard" if _VCARD.match(content) else "text"
    for beginning, reason in _OTHERS.items():
        if content.startswith(beginning):
            raise InputError(f"This file is {reason}.")
    if content.startswith(_PARQUET):
        return "parquet"
    return "xlsx" if content.startswith(_ZIP) else "text"
