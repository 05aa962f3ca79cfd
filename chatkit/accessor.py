"""Accessor: `frame.chatkit`, there as soon as chatkit has made a frame."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pandas as pd

from chatkit.bulk import rendering
from chatkit.errors import HelpPage
from chatkit.tables import writing

if TYPE_CHECKING:
    from chatkit.tables.writing import Target


@cache
def register() -> None:
    """Give every frame its `.chatkit`."""
    pd.api.extensions.register_dataframe_accessor("chatkit")(Accessor)


class Accessor(metaclass=HelpPage):
    """`frame.chatkit`: what chatkit knows of a frame that it has made.

    >>> result = client.contacts.plan([{"id": 50006, "name": "Ana Cruz"}]).apply()
    >>> result.chatkit.summary()
    '1 change: 1 applied.'
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def summary(self) -> str:
        """Say the counts of a result in words, and why it stopped if it did.

        Raises:
            TypeError: The frame is no result of `plan.apply()`.
        """
        if "state" not in self._frame:
            raise TypeError("Only the result of plan.apply() has a summary.")
        return rendering.result_summary(self._frame)

    def to_csv(self, target: Target) -> None:
        """Write the frame as a CSV file that `chatkit.read_contacts` reads as it was.

        Where a text could become a formula in a spreadsheet there is an apostrophe before it,
        also before the + of a country code; reading takes it off. Give XLSX to people who
        open files in spreadsheet programs: these change the numbers in a CSV file.

        Args:
            target: A path, or a file that is open for bytes.

        Raises:
            InputError: A file cannot hold some of it.
        """
        writing.to_csv(self._frame, target)

    def to_xlsx(self, target: Target) -> None:
        """Write the frame as an XLSX file that `chatkit.read_contacts` reads as it was.

        Each cell is text, and so is what is typed into it: no number changes, nothing is a
        formula. Times are ISO 8601, nested values are JSON.

        Args:
            target: A path, or a file that is open for bytes.

        Raises:
            InputError: A sheet cannot hold some of it.
        """
        writing.to_xlsx(self._frame, target)
