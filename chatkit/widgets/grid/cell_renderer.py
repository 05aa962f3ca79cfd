"""Render the rows of a sheet for the page, and as a plain table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from chatkit.display import cut, many
from chatkit.widgets.assets import START
from chatkit.widgets.grid.sheet import Sheet
from chatkit.widgets.grid.view import cell_text

_LONG = 2000  #: characters of a cell that are sent; a longer one is not edited here
_FEW = 10  #: rows of the static form
_SAMPLE = 200  #: rows that tell how wide a column is
_WIDE = 36  #: characters of the widest column


def columns(sheet: Sheet) -> list[dict[str, Any]]:
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


def rows(sheet: Sheet, numbers: Sequence[int]) -> list[dict[str, Any]]:
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


def said(sheet: Sheet) -> str:
    """Say what was done in a sheet so far."""
    counts = {
        ("cell", "changed"): sum(row < sheet.size for row, _ in sheet.changed()),
        ("row", "added"): len(sheet.rows()),
        ("row", "to delete"): sum(row < sheet.size for row in sheet.deleted),
        ("cell", "refused"): sum(1 for _ in sheet.refused()),
    }
    return ", ".join(f"{many(n, noun)} {done}" for (noun, done), n in counts.items() if n)


def html(sheet: Sheet, title: str) -> str:
    """Write the rows that were edited, or else the first ones, as a plain table."""
    edited = {row for row, _ in sheet.cells} | sheet.deleted | {*sheet.rows()}
    numbers = sorted(row for row in edited if not sheet.gone(row)) or list(range(sheet.size))
    heads = "".join(f"<th {START}>{escape(name)}</th>" for name in [*sheet.columns, ""])
    body = "".join(map(_line, rows(sheet, numbers[:_FEW])))
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
