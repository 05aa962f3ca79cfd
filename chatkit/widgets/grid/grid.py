"""Grid: a frame as a table that is edited in the notebook."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from chatkit.bulk.plan import RefusedCell
from chatkit.display import many
from chatkit.display import values as shown
from chatkit.errors import InputError, Problem, steady
from chatkit.resource import Resource, endpoints_of
from chatkit.widgets.assets import joined_text
from chatkit.widgets.controls import Exported
from chatkit.widgets.grid.sheet import Sheet
from chatkit.widgets.grid.view import (
    View,
    described_columns,
    described_rows,
    edits_summary,
    table_html,
)

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan
    from chatkit.endpoints import Existing


_PAGE = 100  #: rows that are sent at once


class Grid(Exported, anywidget.AnyWidget):
    """An editable table of the records of a resource: filter, sort, edit, paste, undo, plan.

    A cell that cannot be sent keeps what it held, and says why. Nothing is sent before a plan
    of the grid is applied.

    Args:
        resource: A resource of a client, like `client.contacts`.
        frame: What `resource.frame()` gave, or a frame of your own; left out, it is read.
        height: How high the table may become, in pixels.

    Raises:
        InputError: The frame cannot be shown as a table.

    >>> grid = chatkit.Grid(client.contacts)
    >>> grid.set(50001, "name", "Oliver Jones")
    >>> grid
    Grid of 250 contacts: 1 cell changed.
    """

    _esm = joined_text(["keys.js", "grid.js"])
    _css = joined_text(["grid.css"])

    columns: traitlets.List[Any] = traitlets.List().tag(sync=True)
    state: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)
    height = traitlets.Int(420).tag(sync=True)
    noun = traitlets.Unicode().tag(sync=True)

    def __init__(
        self, resource: Resource[Any], frame: pd.DataFrame | None = None, *, height: int = 420
    ) -> None:
        self._resource = resource
        endpoints = self._endpoints = endpoints_of(resource)
        self._sheet = Sheet(endpoints, endpoints.base(None).frame if frame is None else frame)
        self._view = View(self._sheet)
        self._names = list(self._sheet.columns)
        self._shows = 0  #: how often the rows were found anew: answers to old questions are late
        self._told = self._view.rows  #: the rows that the page knows of
        super().__init__(
            columns=described_columns(self._sheet),
            state=self._state(),
            height=height,
            noun=endpoints.noun,
        )
        self.on_msg(self._heard)

    # --- what becomes of it -----------------------------------------------------------

    def frame(self) -> pd.DataFrame:
        """Return the edited frame, as `resource.plan` takes it.

        A cell that was refused holds what it held before. Rows to be deleted are True in a
        column `delete`; new rows have no key yet and labels like 'new 1'.
        """
        return self._sheet.frame()

    def plan(
        self,
        *,
        existing: Existing = "fill",
        skip_invalid: bool = False,
        other_account: bool = False,
        duplicates: bool = False,
    ) -> Plan:
        """Make the plan of the edited frame; the arguments are those of `resource.plan`.

        Entries that were refused are not in it; a note says so.

        Raises:
            InputError: The frame as a whole cannot be planned.
        """
        plan = self._resource.plan(
            self.frame(),
            existing=existing,
            skip_invalid=skip_invalid,
            other_account=other_account,
            duplicates=duplicates,
        )
        if refused := len(self.refused):
            plan.notes.append(
                f"The grid refused what was entered in {many(refused, 'cell')}, so that is not in "
                "this plan: grid.refused tells which and why."
            )
        return plan

    @property
    def refused(self) -> list[RefusedCell]:
        """The entries that were refused: row, column, value, reason and what to do."""
        fields = self._endpoints.body.model_fields
        return [
            RefusedCell(
                self._sheet.label(row),
                name,
                shown(cell.typed),
                cell.reason,
                (name in fields and fields[name].description) or "leave it as it was",
            )
            for row, name, cell in self._sheet.refused()
        ]

    # --- for programs, and what JavaScript calls ----------------------------------------

    def set(self, row: Any, column: str, value: Any) -> None:
        """Set one cell, by the label of its row.

        A text is read as if it were typed: 'true' in a column of flags is True.

        Raises:
            InputError: There is no such cell, or it cannot hold that; it stays as it was.
        """
        number = self._sheet.row(row)
        self._known(column)
        cell = self._sheet.check(column, {number: value})[number]
        if cell and cell.reason:
            problem = Problem(column, shown(value), cell.reason)
            raise InputError(f"This cell of row {row!r} cannot be set:", [problem])
        self._edited(self._sheet.write([(number, column, value)]))

    def paste(self, row: Any, column: str, text: str) -> None:
        """Enter a block of cells, as copied from a spreadsheet, to the right and down from one.

        Rows are those that are shown; rows beyond the last are added. Each cell is taken or
        refused for itself: `grid.refused` has those that were not.

        Raises:
            InputError: There is no such cell to begin with, or the block is too wide.
        """
        self._known(column)
        places = (self._view.rows == self._sheet.row(row)).nonzero()[0]
        if not len(places):
            raise InputError(f"Row {row!r} is not shown now: grid.filter('') shows all rows.")
        self._paste(int(places[0]), self._names.index(column), parse_clipboard(text))

    def add(self) -> Any:
        """Add an empty row at the end, and return its label."""
        (row,) = self._sheet.add()
        self._edited({row})
        return self._sheet.label(row)

    def delete(self, labels: Any) -> None:
        """Mark rows to be deleted. A row that was added is taken away at once.

        Raises:
            InputError: There is no row of such a label; none is marked.
        """
        self._mark(self._labelled(labels), True)

    def keep(self, labels: Any) -> None:
        """Take the delete mark of rows back. Raises `InputError` if there is no such row."""
        self._mark(self._labelled(labels), False)

    def undo(self) -> bool:
        """Take the last step back: an entry, a pasted block, a mark. False if there is none."""
        return self._stepped(self._sheet.undo())

    def redo(self) -> bool:
        """Do again what was undone last. False if there is nothing."""
        return self._stepped(self._sheet.redo())

    def filter(self, text: str = "", *, changed: bool = False) -> int:
        """Show only rows that hold a text in some cell, whatever its case; '' shows all.

        Args:
            text: What to look for.
            changed: Only rows that were edited, refused or marked.

        Returns:
            How many rows are shown.
        """
        self._view.text, self._view.changed = text, changed
        self._look()
        return len(self._view.rows)

    def sort(self, column: str | None, *, descending: bool = False) -> None:
        """Put the rows in the order of a column, empty cells last; None: as in the frame.

        Raises:
            InputError: There is no such column.
        """
        if column is not None:
            self._known(column)
        self._view.column, self._view.descending = column, descending
        self._look()

    # --- how ----------------------------------------------------------------------------

    def _known(self, column: str) -> None:
        if column not in self._names:
            raise InputError(f"The grid has no column {column!r}: it has {', '.join(self._names)}.")

    def _labelled(self, labels: Any) -> list[int]:
        one = isinstance(labels, str) or not isinstance(labels, Iterable)
        return [self._sheet.row(label) for label in ([labels] if one else labels)]

    def _paste(self, place: int, column: int, cells: Sequence[Sequence[Any]]) -> None:
        """Enter a block from a shown row and a column on."""
        names = self._names[column:]
        if (wide := max(map(len, cells))) > len(names):
            raise InputError(
                f"The block has {many(wide, 'column')}, and there are {len(names)} from "
                f"{names[0]} on."
            )
        sheet = self._sheet
        with sheet.step():
            missing = place + len(cells) - len(self._view.rows)
            if missing > 0:
                sheet.add(missing)
                self._view.lengthen()
            rows = self._shown(place, len(cells))
            touched = sheet.write(
                (row, name, value)
                for row, line in zip(rows, cells, strict=True)
                for name, value in zip(names, line, strict=False)
            )
        self._edited(touched)

    def _mark(self, rows: list[int], delete: bool) -> None:
        self._sheet.mark(rows, delete)
        self._edited(set(rows))

    def _stepped(self, rows: Collection[int] | None) -> bool:
        if rows is not None:
            self._edited(rows)
        return rows is not None

    # --- what JavaScript is told --------------------------------------------------------

    def _state(self) -> dict[str, Any]:
        view = self._view
        undo, redo = self._sheet.steps
        return {
            "shows": self._shows,
            "rows": len(view.rows),
            "of": self._sheet.size + len(self._sheet.rows()),
            "said": edits_summary(self._sheet),
            "undo": undo > 0,
            "redo": redo > 0,
            "text": view.text,
            "changed": view.changed,
            "sort": [view.column, view.descending],
        }

    def _look(self) -> None:
        self._view.look()
        self._changed()

    def _changed(self) -> None:
        """Tell that there are other rows than before, or many that were edited."""
        self._shows += 1
        self._told = self._view.rows
        self.state = self._state()

    def _edited(self, rows: Collection[int]) -> None:
        """Tell what rows have become."""
        self._view.lengthen()
        known = len(self._told) == len(self._view.rows) and (self._told == self._view.rows).all()
        if not known or len(rows) > _PAGE:
            return self._changed()
        self.send({"rows": described_rows(self._sheet, sorted(rows))})
        self.state = self._state()

    def _heard(self, _: Any, message: Mapping[str, Any], __: Any) -> None:
        """Do what a person did in the page."""
        match message:
            case {"do": "page", "page": page, "shows": shows}:
                rows = self._shown(page * _PAGE, _PAGE)
                if shows == self._shows:
                    self.send(
                        {
                            "page": page,
                            "shows": shows,
                            "rows": described_rows(self._sheet, rows),
                        }
                    )
            case {"do": "set", "row": row, "column": column, "value": value}:
                self._edited(self._sheet.write([(row, self._names[column], value)]))
                if why := self._sheet.cell(row, self._names[column]).reason:
                    self.send({"told": f"Refused: {why}"})
            case {"do": "dismiss", "row": row, "column": column}:
                self._sheet.dismiss(row, self._names[column])
                self._edited({row})
            case {"do": "clear", "place": place, "column": column, "rows": rows, "columns": wide}:
                names = self._names[column : column + wide]
                self._edited(self._sheet.clear(self._shown(place, rows), names))
            case {"do": "paste", "place": place, "column": column, "text": text}:
                cells = parse_clipboard(text)
                if len(cells) == len(cells[0]) == 1:  # one text fills what is selected
                    cells = [cells[0] * message["columns"]] * message["rows"]
                self._tried(place, column, cells)
            case {"do": "delete", "place": place, "rows": rows, "delete": delete}:
                self._mark(self._shown(place, rows), delete)
            case {"do": "filter", "text": text, "changed": changed}:
                self.filter(text, changed=changed)
            case {"do": "sort", "column": column, "descending": descending}:
                self.sort(column, descending=descending)
            case {"do": "add" | "undo" | "redo" as do}:
                getattr(self, do)()

    def _shown(self, place: int, count: int) -> list[int]:
        rows: list[int] = self._view.rows[place : place + count].tolist()
        return rows

    def _tried(self, place: int, column: int, cells: Sequence[Sequence[Any]]) -> None:
        try:
            self._paste(place, column, cells)
        except InputError as error:
            self.send({"told": str(error)})

    # --- where nothing is live ------------------------------------------------------------

    @steady
    def __repr__(self) -> str:
        about = f"Grid of {many(self._sheet.size, self._endpoints.noun)}"
        said = edits_summary(self._sheet)
        return f"{about}: {said}." if said else f"{about}."

    def _page(self) -> str:
        return table_html(self._sheet, repr(self))


# --- the clipboard -------------------------------------------------------------------------
# Spreadsheets put quotes around a text that holds a tab or a line break, and only then; a name
# in quotes stays a name in quotes. static/grid.js writes what this reads.

#: A text in quotes that needs them: up to a tab, a line break, or the end.
_QUOTED = re.compile(r'"((?:[^"]|"")*)"(?=[\t\r\n]|\Z)')
_END = re.compile("[\t\r\n]")
_NEEDED = re.compile('[\t\r\n]|""')


def parse_clipboard(text: str) -> list[list[str]]:
    r"""Read the rows of a block; one line break at its end ends the last row.

    >>> parse_clipboard('Ana\t+91\nBo\t"two\nlines"')
    [['Ana', '+91'], ['Bo', 'two\nlines']]
    """
    rows: list[list[str]] = [[]]
    place = 0
    while True:
        cell, place = _cell(text, place)
        rows[-1].append(cell)
        if place >= len(text):
            return rows
        line_ends = text[place] != "\t"
        place += 2 if text.startswith("\r\n", place) else 1
        if line_ends and place == len(text):
            return rows
        if line_ends:
            rows.append([])


def _cell(text: str, place: int) -> tuple[str, int]:
    """Read the cell that begins at a place, and where it ends."""
    quoted = _QUOTED.match(text, place)
    if quoted and _NEEDED.search(quoted[1]):
        return quoted[1].replace('""', '"'), quoted.end()
    end = _END.search(text, place)
    return (text[place:], len(text)) if end is None else (text[place : end.start()], end.start())
