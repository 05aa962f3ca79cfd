"""View: which rows of a sheet are shown, in which order.

It stays as it is while cells are edited: no row jumps away from who writes in it. Added rows
stand at the end, whatever is looked for.
"""

from __future__ import annotations

import json
import unicodedata
from datetime import datetime
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from chatkit.bulk.frame_checks import Mask
from chatkit.bulk.matching import Rows
from chatkit.frame import listed
from chatkit.widgets.grid.sheet import Sheet

if TYPE_CHECKING:
    import pandas as pd

#: All that columns of these kinds are written with: no other text needs to be looked for there.
_LETTERS = {"number": "0123456789-+.e", "time": "0123456789-:+. "}


def cell_text(value: Any) -> str:
    """Write a value as a person types it."""
    if isinstance(value, str):
        text = value
    elif value is None:
        text = ""
    elif isinstance(value, list | dict | tuple):
        try:
            text = json.dumps(value, ensure_ascii=False, default=str)
        except (TypeError, ValueError, RecursionError):  # a key of an odd type, or a ring
            text = str(value)
    else:
        text = str(value)
    return text.encode("utf-8", "replace").decode()  # half a character cannot be sent


def folded_text(value: Any) -> str:
    """Write a value so that case and accents make no difference: Garcia finds GARCÍA."""
    text = cell_text(value)
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in parts if not unicodedata.combining(c))


class View:
    """The rows of a sheet that are shown, in their order: `rows`."""

    def __init__(self, sheet: Sheet) -> None:
        self.text = ""
        self.changed = False
        self.column: str | None = None
        self.descending = False
        self._sheet = sheet
        self._texts: dict[str, pd.Series[Any]] = {}
        self._found: Rows = np.arange(sheet.size)
        self.rows: Rows = self._found

    def look(self) -> None:
        """Find the rows anew, and put them in order."""
        sheet = self._sheet
        mask = self._matching(self.text) if self.text else np.ones(sheet.size, bool)
        if self.changed:
            touched = np.zeros(sheet.size, bool)
            touched[[row for row in self._edited() if row < sheet.size]] = True
            mask &= touched
        found = np.flatnonzero(mask) if self.column is None else self._order(self.column)
        self._found = found[mask[found]]
        self.lengthen()

    def lengthen(self) -> None:
        """Show the added rows that there are now."""
        added = np.array(self._sheet.rows(), np.int64)
        self.rows = np.concatenate([self._found, added])

    def _edited(self) -> set[int]:
        return {row for row, _ in self._sheet.cells} | self._sheet.deleted

    def _matching(self, text: str) -> Mask:
        """Tell in which rows of the frame a text is found, in any cell."""
        sheet, text = self._sheet, folded_text(text)
        mask = np.zeros(sheet.size, bool)
        for name, column in sheet.columns.items():
            if not {*text} <= {*_LETTERS.get(column.kind, text)}:
                continue
            mask |= self._column(name).str.contains(text, regex=False).to_numpy(bool)
        edited = sorted({row for row, _ in sheet.cells if row < sheet.size})
        mask[edited] = False
        for name in sheet.columns:
            for row, value in zip(edited, sheet.values(name, edited), strict=True):
                cell = sheet.cells.get((row, name))
                mask[row] |= text in folded_text(value) or bool(
                    cell and text in folded_text(cell.typed)
                )
        return mask

    def _column(self, name: str) -> pd.Series[Any]:
        """Return a column of the frame as texts to look in; they are made once."""
        if name not in self._texts:
            sheet = self._sheet
            cells = sheet.base.index.to_series() if name == sheet.head else sheet.base[name]
            texts = [folded_text(value) for value in listed(cells)]
            self._texts[name] = type(cells)(texts, dtype="str")
        return self._texts[name]

    def _order(self, name: str) -> Rows:
        """Put all rows of the frame in the order of a column; empty cells are the last."""
        sheet = self._sheet
        keys: Any
        if sheet.columns[name].kind in ("number", "time", "flag"):
            keys = np.array([_number(v) for v in sheet.values(name, range(sheet.size))], float)
            empty = np.isnan(keys)
        else:
            keys = self._column(name).to_numpy(object)
            for row, column in sheet.changed():
                if column == name and row < sheet.size:
                    keys[row] = folded_text(sheet.cells[row, name].value)
            empty = np.equal(keys, "")
        order = np.argsort(keys, kind="stable")
        if self.descending:  # rows that are alike stay in their order
            order = (sheet.size - 1 - np.argsort(keys[::-1], kind="stable"))[::-1]
        rows: Rows = order[np.argsort(empty[order], kind="stable")]
        return rows


def _number(value: Any) -> float:
    if isinstance(value, datetime):
        return value.timestamp()
    return float(value) if isinstance(value, int | float) else nan
