"""Accessor: `frame.chatkit`, and how frames look in a notebook, once chatkit has made a frame.

A notebook asks IPython for the HTML of a DataFrame. The frames that chatkit has made, and what
was selected from them, say so in `attrs`: their texts stand at the left and are cut at 200
characters, and what is empty is empty. All others look as pandas, or whoever was asked before,
shows them, and no option of pandas is changed.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from chatkit.bulk import rendering
from chatkit.errors import HelpPage
from chatkit.frames.snapshot import is_remembered
from chatkit.imports.tables import delimited
from chatkit.util.display import cut, many, visible

if TYPE_CHECKING:
    from chatkit.imports.tables import Target


@cache
def register() -> None:
    """Give every frame its `.chatkit`, and in a kernel ours their look."""
    pd.api.extensions.register_dataframe_accessor("chatkit")(Accessor)
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is not None:
        show_frames(shell.display_formatter.formatters["text/html"])


class Accessor(metaclass=HelpPage):
    """`frame.chatkit`: what chatkit knows of a frame that it has made.

    >>> result = client.contacts.plan([{"id": 50006, "name": "Ana Cruz"}]).apply()
    >>> result.chatkit.summary()
    '1 change: 1 applied.'
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def summary(self) -> str:
        """Return the counts of a result in words, and why it stopped if it did.

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
        delimited.to_csv(self._frame, target)

    def to_xlsx(self, target: Target) -> None:
        """Write the frame as an XLSX file that `chatkit.read_contacts` reads as it was.

        Each cell is text, and so is what is typed into it: no number changes, nothing is a
        formula. Times are ISO 8601, nested values are JSON.

        Args:
            target: A path, or a file that is open for bytes.

        Raises:
            InputError: A sheet cannot hold some of it.
        """
        from chatkit.imports.tables import workbook  # slow to load

        workbook.to_xlsx(self._frame, target)


# --- in a notebook ------------------------------------------------------------------------

_LONG = 200  #: characters of a text that are shown, unless pandas is told of more
_STYLE = """
.chatkit-frame { overflow-x: auto; }
.chatkit-frame:focus-visible { outline: 2px solid #1976d2; outline-offset: -2px; }
.chatkit-frame.chatkit-frame :is(td, th) { max-width: 36em; overflow-wrap: break-word;
  text-align: start; vertical-align: top; }
.chatkit-frame.chatkit-frame .number { text-align: end; }
.chatkit-frame.chatkit-frame :is(.number, .short, tbody th) { white-space: nowrap; }
"""


def show_frames(formatter: Any) -> None:
    """Register how our frames look with a formatter of IPython; others look as they did."""

    def shown(frame: pd.DataFrame) -> str | None:
        wanted = pd.get_option("display.notebook_repr_html")
        if wanted and is_remembered(frame) and frame.columns.nlevels == 1:
            return frame_html(frame)
        other: str | None = before(frame) if before else frame._repr_html_()  # type: ignore[operator]
        return other

    before = formatter.for_type(pd.DataFrame, shown)


def frame_html(frame: pd.DataFrame) -> str:
    """Write a frame as a table, of so many rows and columns as pandas is told to show."""
    size = pd.get_option("display.max_rows"), pd.get_option("display.min_rows")
    rows = _places(len(frame), *size)
    width = pd.get_option("display.max_columns")
    places = _places(frame.shape[1], width, width)
    columns = [None if place is None else _Column(frame, place) for place in places]
    levels = frame.index.nlevels
    heads = [_head(name) for name in frame.index.names]
    heads += ["<th>…</th>" if one is None else one.head for one in columns]
    body, above = "", None
    for row in rows:
        if row is None:
            gone = many(len(frame) - len(rows) + 1, "more row")
            body += f'<tr><td colspan="{levels + len(columns)}">… {gone} …</td></tr>'
            above = None
            continue
        label = frame.index[row]
        label = label if levels > 1 else (label,)
        body += f"<tr>{_labels(label, above)}"
        body += "".join("<td>…</td>" if one is None else one.cell(row) for one in columns)
        body += "</tr>"
        above = label
    table = f"<table><thead><tr>{''.join(heads)}</tr></thead><tbody>{body}</tbody></table>"
    if None in rows or None in places:
        table += f"<p>{many(len(frame), 'row')} × {many(frame.shape[1], 'column')}</p>"
    look = f"<style>{_STYLE}</style>"
    # what is wider than the page is moved sideways by keys too
    start = 'class="chatkit-frame tex2jax_ignore mathjax_ignore" tabindex="0" role="group"'
    return f'<div {start} aria-label="Table">{look}{table}</div>'


class _Column:
    """One column as it is shown."""

    def __init__(self, frame: pd.DataFrame, place: int) -> None:
        self._cells = frame.iloc[:, place]
        kind = self._cells.dtype
        number = pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
        short = pd.api.types.is_datetime64_any_dtype(kind) or pd.api.types.is_bool_dtype(kind)
        self._class = ' class="number"' if number else ' class="short"' if short else ' dir="auto"'
        self.head = _head(frame.columns[place], ' class="number"' if number else "")

    def cell(self, row: int) -> str:
        return f"<td{self._class}>{_text(self._cells.iloc[row])}</td>"


def _places(count: int, most: int | None, kept: int | None) -> list[int | None]:
    """Return which of so many are shown; None stands for those between."""
    if not most or count <= most:
        return [*range(count)]
    kept = min(kept or most, most)
    return [*range(kept - kept // 2), None, *range(count - kept // 2, count)]


def _head(name: Any, kind: str = "") -> str:
    return _header("col", "" if name is None else _text(name), kind)


def _header(scope: Literal["col", "row"], text: str, kind: str = "") -> str:
    # what is empty is no header: a screen reader would announce it as one
    return f'<th scope="{scope}"{kind}>{text}</th>' if text else "<td></td>"


def _labels(label: tuple[Any, ...], above: tuple[Any, ...] | None) -> str:
    """Write the labels of a row; those of outer levels once where they repeat."""
    same = above is not None
    parts = []
    for n, value in enumerate(label):
        same = same and above is not None and above[n] == value and n < len(label) - 1
        parts.append(_header("row", "" if same else _text(value)))
    return "".join(parts)


def _text(value: Any) -> str:
    """Write one value; strangers wrote it."""
    if type(value) in (list, dict):
        try:
            text = json.dumps(value, ensure_ascii=False, default=str)
        except (TypeError, ValueError, RecursionError):  # a key of an odd type, a loop
            text = str(value)
    elif pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    elif isinstance(value, float):
        text = f"{value:.6f}".rstrip("0").rstrip(".")
    else:
        text = str(value)
    width = pd.get_option("display.max_colwidth")
    return escape(visible(text) if width is None else cut(text, max(width, _LONG)))
