"""Accessor: `frame.chatkit`, and the HTML of frames in a notebook.

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
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from chatkit.bulk import rendering
from chatkit.errors import HelpPage
from chatkit.frames.snapshot import has_origin
from chatkit.imports.tables import delimited
from chatkit.util.display import cut, many, visible

if TYPE_CHECKING:
    from chatkit.imports.tables import Target


@cache
def register() -> None:
    """Register `.chatkit` for every frame, and in a kernel the HTML of our frames."""
    pd.api.extensions.register_dataframe_accessor("chatkit")(Accessor)
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is not None:
        show_frames(shell.display_formatter.formatters["text/html"])


class Accessor(metaclass=HelpPage):
    """The attribute `chatkit` of a frame: its summary, and how it is written to a file.

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
        return rendering.summarize_result(self._frame)

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

_MAX_TEXT = 200  #: characters of a text that are shown, unless pandas is told of more
_STYLE = Path(__file__).with_suffix(".css").read_text("utf-8")


def show_frames(formatter: Any) -> None:
    """Register the HTML of our frames with a formatter of IPython; other frames look as before."""

    def html_of(frame: pd.DataFrame) -> str | None:
        enabled = pd.get_option("display.notebook_repr_html")
        if enabled and has_origin(frame) and frame.columns.nlevels == 1:
            return frame_html(frame)
        other: str | None = before(frame) if before else frame._repr_html_()  # type: ignore[operator]
        return other

    before = formatter.for_type(pd.DataFrame, html_of)


def frame_html(frame: pd.DataFrame) -> str:
    """Return a frame as an HTML table, as large as the options of pandas say."""
    option = pd.get_option
    rows = _positions(len(frame), option("display.max_rows"), option("display.min_rows"))
    width = option("display.max_columns")
    places = _positions(frame.shape[1], width, width)
    columns = [None if n is None else (n, _cell_attributes(frame.dtypes.iloc[n])) for n in places]
    heads = [_header_html("col", name) for name in frame.index.names]
    heads += [
        "<th>…</th>" if column is None else _header_html("col", frame.columns[column[0]], column[1])
        for column in columns
    ]
    body, above = "", None
    for row in rows:
        if row is None:
            hidden = many(len(frame) - len(rows) + 1, "more row")
            body += f'<tr><td colspan="{len(heads)}">… {hidden} …</td></tr>'
            above = None
            continue
        label = frame.index[row] if frame.index.nlevels > 1 else (frame.index[row],)
        body += "<tr>"
        for level, value in enumerate(label):  # those of outer levels once where they repeat
            outer = label[: level + 1] if level < len(label) - 1 else None
            same = above is not None and above[: level + 1] == outer
            body += _header_html("row", None if same else value)
        for column in columns:
            cell = column and f"<td{column[1]}>{_cell_html(frame.iat[row, column[0]])}</td>"
            body += cell or "<td>…</td>"
        body += "</tr>"
        above = label
    table = f"<table><thead><tr>{''.join(heads)}</tr></thead><tbody>{body}</tbody></table>"
    if None in rows or None in places:
        table += f"<p>{many(len(frame), 'row')} × {many(frame.shape[1], 'column')}</p>"
    # what is wider than the page is moved sideways by keys too
    start = 'class="chatkit-frame tex2jax_ignore mathjax_ignore" tabindex="0" role="group"'
    return f'<div {start} aria-label="Table"><style>{_STYLE}</style>{table}</div>'


def _cell_attributes(dtype: Any) -> str:
    """Return the HTML attributes of the cells of a column."""
    types = pd.api.types
    if types.is_bool_dtype(dtype) or types.is_datetime64_any_dtype(dtype):
        return ' class="short"'
    return ' class="number"' if types.is_numeric_dtype(dtype) else ' dir="auto"'


def _positions(count: int, most: int | None, kept: int | None) -> list[int | None]:
    """Return the positions to show of `count`, with None in place of those left out."""
    if not most or count <= most:
        return [*range(count)]
    kept = min(kept or most, most)
    return [*range(kept - kept // 2), None, *range(count - kept // 2, count)]


def _header_html(scope: Literal["col", "row"], name: Any, look: str = "") -> str:
    # what is empty is no header: a screen reader would announce it as one
    text = "" if name is None else _cell_html(name)
    numbers = look if "number" in look else ""
    return f'<th scope="{scope}"{numbers}>{text}</th>' if text else "<td></td>"


def _cell_html(value: Any) -> str:
    """Return one value as escaped HTML."""
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
    return escape(visible(text) if width is None else cut(text, max(width, _MAX_TEXT)))
