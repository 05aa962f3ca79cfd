"""Files: contacts out of spreadsheets, CSV, Parquet and address books, and frames into files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chatkit.files.reading import read_file
from chatkit.progress import say
from chatkit.snapshot import remember
from chatkit.tables.writing import to_csv, to_xlsx

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.tables import Source

__all__ = ["read_contacts", "to_csv", "to_xlsx"]


def read_contacts(
    source: Source,
    *,
    number: str | None = None,
    country_code: str | None = None,
    name: str | Sequence[str] | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    skip_invalid: bool = False,
) -> pd.DataFrame:
    r"""Read contacts from a file, or from a table pasted as text.

    CSV of any kind, XLSX, Parquet and vCard are told apart by their content. All cells are
    text as they are written: zeros, + and names like NA stay. An empty cell is NA. Number,
    country code and name are found by what their columns are called, in many languages, and
    it is printed which were taken. Numbers are not split or changed here.

    >>> frame = chatkit.read_contacts("Vorname\tNachname\tHandy\nZoë\tNA\t0151 23456789")
    the pasted table: 1 row (tabs)
      Vorname + Nachname → name
      Handy              → number
    >>> frame
           name         number
    row
    2    Zoë NA  0151 23456789

    Args:
        source: A path, an open file, bytes, or a text with several lines or tabs.
        number: What the file calls the column of numbers; `""` if it has none.
        country_code: What it calls the column of country codes; `""` if it has none.
        name: What it calls the name; several columns are joined.
        sheet: Which sheet of a workbook; without it the first that is not hidden.
        encoding: How the text is encoded, like "cp1251"; without it this is found out.
        delimiter: What stands between cells; without it this is found out.
        skip_invalid: Leave out the rows that cannot be read, and say which.

    Returns:
        A frame for `client.contacts.plan`. Its index says the row in the file.

    Raises:
        InputError: Some rows cannot be read: `problems` has all of them. Or the file cannot.
        OSError: There is no such file, or it cannot be opened.
    """
    from chatkit import accessor

    accessor.register()
    reading = read_file(
        source,
        number=number,
        country_code=country_code,
        name=name,
        sheet=sheet,
        encoding=encoding,
        delimiter=delimiter,
    )
    say(reading.report(skipped=skip_invalid))
    if reading.problems and not skip_invalid:
        raise reading.refusal()
    remember(reading.frame, read=reading.report(skipped=True))
    return reading.frame
