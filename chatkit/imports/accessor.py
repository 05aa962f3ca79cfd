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
    """Register `frame.chatkit`, and in a kernel the HTML of frames."""
    pd.api.extensions.register_dataframe_accessor("chatkit")(Accessor)
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is not None:
        register_frame_formatter(shell.display_formatter.formatters["text/html"])


class Accessor(metaclass=HelpPage):
    """The attribute `chatkit` of a frame: its summary, and how it is written to a file.

    >>> result = client.contacts.plan([{"id": 50006, "name": "Ana Cruz"}]).apply()
    >>> result.chatkit.summary()
    '1 change: 1 applied.'
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def summary(self) -> str:
        """Return the counts of a result in words, and the reason if it stopped.

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
        delimited.write_csv(self._frame, target)

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

        workbook.write_xlsx(self._frame, target)


# --- in a notebook ------------------------------------------------------------------------

_MAX_TEXT = 200  #: characters of a text that are shown, unless pandas is told of more
_STYLE = Path(__file__).with_suffix(".css").read_text("utf-8")


def register_frame_formatter(formatter: Any) -> None:
    """Register the HTML of chatkit's frames with a formatter of IPython."""

    def format_frame(frame: pd.DataFrame) -> str | None:
        """Render chatkit's frames, and all others as before."""
        enabled = pd.get_option("display.notebook_repr_html")
        if enabled and has_origin(frame) and frame.columns.nlevels == 1:
            return render_frame(frame)
        fallback: str | None = previous(frame) if previous else frame._repr_html_()  # type: ignore[operator]
        return fallback

    previous = formatter.for_type(pd.DataFrame, format_frame)


def render_frame(frame: pd.DataFrame) -> str:
    """Render a frame as an HTML table, within the limits in the options of pandas."""
    option = pd.get_option
    rows = _choose_positions(len(frame), option("display.max_rows"), option("display.min_rows"))
    width = option("display.max_columns")
    positions = _choose_positions(frame.shape[1], width, width)
    styles = {n: _style_cells(frame.dtypes.iloc[n]) for n in positions if n is not None}
    heads = [_render_header("col", name) for name in frame.index.names]
    heads += [
        "<th>…</th>" if n is None else _render_header("col", frame.columns[n], styles[n])
        for n in positions
    ]
    body, previous = "", None
    for row in rows:
        if row is None:
            hidden = many(len(frame) - len(rows) + 1, "more row")
            body += f'<tr><td colspan="{len(heads)}">… {hidden} …</td></tr>'
            previous = None
            continue
        label = frame.index[row] if frame.index.nlevels > 1 else (frame.index[row],)
        body += "<tr>"
        for level, value in enumerate(label):  # those of outer levels once where they repeat
            outer = label[: level + 1] if level < len(label) - 1 else None
            same = previous is not None and previous[: level + 1] == outer
            body += _render_header("row", None if same else value)
        for n in positions:
            cell = "<td>…" if n is None else f"<td{styles[n]}>{_render_cell(frame.iat[row, n])}"
            body += f"{cell}</td>"
        body += "</tr>"
        previous = label
    table = f"<table><thead><tr>{''.join(heads)}</tr></thead><tbody>{body}</tbody></table>"
    if None in rows or None in positions:
        table += f"<p>{many(len(frame), 'row')} × {many(frame.shape[1], 'column')}</p>"
    # what is wider than the page is moved sideways by keys too
    start = 'class="chatkit-frame tex2jax_ignore mathjax_ignore" tabindex="0" role="group"'
    return f'<div {start} aria-label="Table"><style>{_STYLE}</style>{table}</div>'


def _style_cells(dtype: Any) -> str:
    """Return the HTML attributes of the cells of a column."""
    types = pd.api.types
    if types.is_bool_dtype(dtype) or types.is_datetime64_any_dtype(dtype):
        return ' class="short"'
    return ' class="number"' if types.is_numeric_dtype(dtype) else ' dir="auto"'


def _choose_positions(count: int, most: int | None, visible_count: int | None) -> list[int | None]:
    """Choose the positions to show of `count`; None stands for those left out."""
    if not most or count <= most:
        return [*range(count)]
    visible_count = min(visible_count or most, most)
    last = visible_count // 2
    return [*range(visible_count - last), None, *range(count - last, count)]


def _render_header(scope: Literal["col", "row"], name: Any, look: str = "") -> str:
    """Render a name or label as a header cell; an empty one as a plain cell."""
    # what is empty is no header: a screen reader would announce it as one
    text = "" if name is None else _render_cell(name)
    numbers = look if "number" in look else ""
    return f'<th scope="{scope}"{numbers}>{text}</th>' if text else "<td></td>"


def _render_cell(value: Any) -> str:
    """Render a value as escaped HTML, cut to the width of a column."""
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
