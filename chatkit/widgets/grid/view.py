"""View: which rows of a sheet are shown, in which order.

It stays as it is while cells are edited: no row jumps away from who writes in it. Added rows
stand at the end, whatever is looked for.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from chatkit.bulk.matching import Mask, Rows
from chatkit.display import cut, many
from chatkit.frame import listed
from chatkit.widgets.assets import START
from chatkit.widgets.grid.sheet import Sheet

if TYPE_CHECKING:
    import pandas as pd


#: Writes a value of a cell as a text.
Write: TypeAlias = "Callable[[Any], str]"

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


class ColumnFilter(NamedTuple):
    """What the cells of a column must be for their rows to be shown."""

    contains: str = ""
    values: frozenset[str] | None = None  #: the texts of which a cell must be one
    empty: bool | None = None

    @classmethod
    def made(
        cls, contains: str = "", values: Iterable[Any] | None = None, empty: bool | None = None
    ) -> ColumnFilter:
        """Make one of what people and programs write: values of any type, None for nothing."""
        texts = None if values is None else frozenset(map(cell_text, values))
        return cls(cell_text(contains), texts, empty)


class View:
    """The rows of a sheet that are shown, in their order: `rows`."""

    def __init__(self, sheet: Sheet) -> None:
        self.text = ""
        self.changed = False
        self.filters: dict[str, ColumnFilter] = {}
        self.column: str | None = None
        self.descending = False
        self._sheet = sheet
        self._texts: dict[tuple[str, Write], pd.Series[Any]] = {}
        self._found: Rows = np.arange(sheet.size)
        self.rows: Rows = self._found

    def of(self, sheet: Sheet) -> View:
        """Look at another sheet in the same way, as far as it has the columns."""
        view = View(sheet)
        view.text, view.changed, view.descending = self.text, self.changed, self.descending
        view.column = self.column if self.column in sheet.columns else None
        view.filters = {name: f for name, f in self.filters.items() if name in sheet.columns}
        view.look()
        return view

    def look(self) -> None:
        """Find the rows anew, and put them in order."""
        sheet = self._sheet
        mask = self._matching(self.text) if self.text else np.ones(sheet.size, bool)
        for name, wanted in self.filters.items():
            mask &= self._passing(name, wanted)
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

    def values(self, name: str, most: int) -> tuple[list[tuple[str, int]], int]:
        """Count the values of a column as texts: the most frequent, and how many others."""
        counts = Counter(self._now(name, cell_text)).most_common()
        return counts[:most], max(len(counts) - most, 0)

    def _edited(self) -> set[int]:
        return {row for row, _ in self._sheet.cells} | self._sheet.deleted

    def _matching(self, text: str) -> Mask:
        """Tell in which rows of the frame a text is found, in any cell."""
        sheet, text = self._sheet, folded_text(text)
        entered = {name for _, name in sheet.cells}
        mask = np.zeros(sheet.size, bool)
        for name, column in sheet.columns.items():
            if name in entered or {*text} <= {*_LETTERS.get(column.kind, text)}:
                mask |= _contain(self._now(name, folded_text, typed=True), text)
        return mask

    def _passing(self, name: str, wanted: ColumnFilter) -> Mask:
        """Tell in which rows of the frame the cell of a column is as it is wanted."""
        mask = np.ones(self._sheet.size, bool)
        if wanted.contains:
            texts = self._now(name, folded_text, typed=True)
            mask &= _contain(texts, folded_text(wanted.contains))
        if wanted.values is not None:
            mask &= self._now(name, cell_text).isin(wanted.values).to_numpy(bool)
        if wanted.empty is not None:
            mask &= (self._now(name, cell_text) == "").to_numpy(bool) == wanted.empty
        return mask

    def _now(self, name: str, write: Write, *, typed: bool = False) -> pd.Series[Any]:
        """Return a column as texts; what was entered counts, and on demand what was refused."""
        texts, sheet = self._column(name, write), self._sheet
        rows = [row for row, column in sheet.cells if column == name and row < sheet.size]
        if rows:
            texts = texts.copy()
            values = map(write, sheet.values(name, rows))
            cells = (sheet.cell(row, name) for row in rows)
            texts.iloc[rows] = [
                f"{text}\n{write(cell.typed)}" if typed and cell.reason else text
                for text, cell in zip(values, cells, strict=True)
            ]
        return texts

    def _column(self, name: str, write: Write) -> pd.Series[Any]:
        """Return a column of the frame as texts; they are made once."""
        if (name, write) not in self._texts:
            sheet = self._sheet
            cells = sheet.base.index.to_series() if name == sheet.head else sheet.base[name]
            texts = [write(value) for value in listed(cells)]
            self._texts[name, write] = type(cells)(texts, dtype="str")
        return self._texts[name, write]

    def _order(self, name: str) -> Rows:
        """Put all rows of the frame in the order of a column; empty cells are the last."""
        sheet = self._sheet
        keys: Any
        if sheet.columns[name].kind in ("number", "time", "flag"):
            keys = np.array([_number(v) for v in sheet.values(name, range(sheet.size))], float)
            empty = np.isnan(keys)
        else:
            keys = self._now(name, folded_text).to_numpy(object)
            empty = np.equal(keys, "")
        order = np.argsort(keys, kind="stable")
        if self.descending:  # rows that are alike stay in their order
            order = (sheet.size - 1 - np.argsort(keys[::-1], kind="stable"))[::-1]
        rows: Rows = order[np.argsort(empty[order], kind="stable")]
        return rows


def _contain(texts: pd.Series[Any], text: str) -> Mask:
    found: Mask = texts.str.contains(text, regex=False).to_numpy(bool)
    return found


def _number(value: Any) -> float:
    if isinstance(value, datetime):
        return value.timestamp()
    return float(value) if isinstance(value, int | float) else nan


_LONG = 2000  #: characters of a cell that are sent; of a longer one all when it is edited
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


def usual_layout(sheet: Sheet) -> list[list[Any]]:
    """Name the columns that are shown at first, each with its width, 0 for the usual one.

    The key is the first, then what can be written, then what cannot. What another column holds
    as well, like the parts of a name, is put away, and what cannot be written and is empty.
    """
    base, (head, *others) = sheet.base, sheet.columns.values()
    fixed = [c for c in others if c.fixed and c.closed]
    seen = [c for c in fixed if not c.part and (base[c.name].notna().any() or not sheet.size)]
    return [[c.name, 0] for c in [head, *(c for c in others if c not in fixed), *seen]]


def described_rows(sheet: Sheet, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Describe rows: the number `n`, values `v`, and the marks of the row and its cells.

    `c` are changed cells, `e` refused ones with what was typed and why, `l` those of which
    only the beginning is sent; `m` says of the whole row that it is new or to be deleted.
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


def table_html(sheet: Sheet, title: str, names: Sequence[str] = ()) -> str:
    """Write the rows that were edited, or else the first ones, as a plain table.

    Args:
        sheet: Whose rows they are.
        title: What stands above them.
        names: The columns that are shown; all if none is named.
    """
    known = list(sheet.columns)
    shown = [known.index(name) for name in names or known]
    edited = {row for row, _ in sheet.cells} | sheet.deleted | {*sheet.rows()}
    numbers = sorted(row for row in edited if not sheet.gone(row)) or list(range(sheet.size))
    heads = "".join(f"<th {START}>{escape(name)}</th>" for name in [*(names or known), ""])
    body = "".join(_line(row, shown) for row in described_rows(sheet, numbers[:_FEW]))
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


def _line(row: Mapping[str, Any], places: Sequence[int]) -> str:
    """Write some cells of a row as HTML: every text comes from a stranger."""
    cells = []
    for place in places:
        value = row["v"][place]
        text = "" if value is None else escape(cut(str(value), _WIDE))
        text = f"<strong>{text}</strong>" if place in row.get("c", ()) else text
        if place in row.get("e", {}):
            typed, why = row["e"][place]
            text += f" <em>{escape(cut(typed, _WIDE))} was refused: {escape(why)}</em>"
        cells.append(f'<td dir="auto" {START}>{text}</td>')
    mark = {"new": "added", "delete": "to delete"}.get(row.get("m", ""), "")
    return f"<tr>{''.join(cells)}<td>{mark}</td></tr>"
