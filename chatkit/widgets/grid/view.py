"""View: which rows of a sheet are shown, in which order.

It stays as it is while cells are edited: no row jumps away from who writes in it. Added rows
stand at the end, whatever is looked for.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from chatkit.bulk.frame_checks import Mask
from chatkit.bulk.matching import Rows
from chatkit.display import cut, many
from chatkit.frame import listed
from chatkit.widgets.assets import START
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


_LONG = 2000  #: characters of a cell that are sent; a longer one is not edited here
_FEW = 10  #: rows of the static form
_SAMPLE = 200  #: rows that tell how wide a column is
_WIDE = 36  #: characters of the widest column


def described_columns(sheet: Sheet) -> list[dict[str, Any]]:
    """Describe the columns: name, kind, why they cannot be written, how wide they are."""
    sample = range(min(sheet.size, _SAMPLE))
    found = []
    for column in sheet.columns.values():
        texts = map(cell_text, sheet.original(column.name, sample))
        widths = sorted(min(len(text), _WIDE) for text in texts) or [0]
        usual = widths[int(0.95 * (len(widths) - 1))]
        if not column.fixed:
            usual = min(usual * 3 // 2, _WIDE)  # room to type
        wide = max(usual, len(column.name) + 3, 5)
        found.append({**column._asdict(), "head": column.name == sheet.head, "wide": wide})
    return found


def described_rows(sheet: Sheet, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Describe rows: the number `n`, values `v`, and the marks of the row and its cells.

    `c` are changed cells, `e` refused ones with what was typed and why, `l` those too long to be
    edited; `m` says of the whole row that it is new or to be deleted.
    """
    names = list(sheet.columns)
    values = zip(*(sheet.values(name, numbers) for name in names), strict=True)
    found = []
    for row, line in zip(numbers, values, strict=True):
        sent: dict[str, Any] = {"n": row, "v": [_sent(value) for value in line]}
        if row >= sheet.size and line[0] is None:
            sent["v"][0] = str(sheet.label(row))
        cells = {n: cell for n, name in enumerate(names) if (cell := sheet.cells.get((row, name)))}
        marks = {
            "c": [n for n, cell in cells.items() if not cell.reason and row < sheet.size],
            "e": {n: [_text(cell.typed), cell.reason] for n, cell in cells.items() if cell.reason},
            "l": [n for n, value in enumerate(line) if len(cell_text(value)) > _LONG],
            "m": "new" if row >= sheet.size else "delete" if row in sheet.deleted else "",
        }
        found.append(sent | {name: mark for name, mark in marks.items() if mark})
    return found


def edits_summary(sheet: Sheet) -> str:
    """Say what was done in a sheet so far."""
    counts = {
        ("cell", "changed"): sum(row < sheet.size for row, _ in sheet.changed()),
        ("row", "added"): len(sheet.rows()),
        ("row", "to delete"): sum(row < sheet.size for row in sheet.deleted),
        ("cell", "refused"): sum(1 for _ in sheet.refused()),
    }
    return ", ".join(f"{many(n, noun)} {done}" for (noun, done), n in counts.items() if n)


def table_html(sheet: Sheet, title: str) -> str:
    """Write the rows that were edited, or else the first ones, as a plain table."""
    edited = {row for row, _ in sheet.cells} | sheet.deleted | {*sheet.rows()}
    numbers = sorted(row for row in edited if not sheet.gone(row)) or list(range(sheet.size))
    heads = "".join(f"<th {START}>{escape(name)}</th>" for name in [*sheet.columns, ""])
    body = "".join(map(_line, described_rows(sheet, numbers[:_FEW])))
    more = f"<p>… and {many(len(numbers) - _FEW, 'more row')}.</p>" if len(numbers) > _FEW else ""
    return (
        f"<p>{escape(title)}</p><table><thead><tr>{heads}</tr></thead>"
        f"<tbody>{body}</tbody></table>{more}"
    )


def _sent(value: Any) -> str | bool | None:
    return value if value is None or isinstance(value, bool) else _text(value)


def _text(value: Any) -> str:
    """Return what is shown of a value; of a long one only how it begins."""
    text = cell_text(value)
    return text if len(text) <= _LONG else text[:_LONG] + "…"


def _line(row: Mapping[str, Any]) -> str:
    """Write one row as HTML: every text comes from a stranger."""
    cells = []
    for place, value in enumerate(row["v"]):
        text = "" if value is None else escape(cut(str(value), _WIDE))
        text = f"<strong>{text}</strong>" if place in row.get("c", ()) else text
        if place in row.get("e", {}):
            typed, why = row["e"][place]
            text += f" <em>{escape(cut(typed, _WIDE))} was refused: {escape(why)}</em>"
        cells.append(f'<td dir="auto" {START}>{text}</td>')
    mark = {"new": "added", "delete": "to delete"}.get(row.get("m", ""), "")
    return f"<tr>{''.join(cells)}<td>{mark}</td></tr>"
