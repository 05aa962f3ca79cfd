"""Grid: a frame as a table that is edited in the notebook.

A sheet holds what was entered, and which rows are shown. Here stands what the page says and is
told of it, what programs do with it, and what becomes of the edits: a plan, which is reviewed,
applied and taken back below the table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import traitlets

from chatkit.bulk.changes import RefusedCell
from chatkit.bulk.comparison import is_same_value
from chatkit.bulk.plan import get_refused_cells
from chatkit.bulk.rendering import make_tuple_frame
from chatkit.errors import ChatkitError, InputError, Problem, safe_repr, split_reason
from chatkit.frames.frame import records
from chatkit.resource import Resource, get_endpoints
from chatkit.util.display import cut, many
from chatkit.util.display import values as shortly
from chatkit.widgets.controls import (
    Model,
    draw_saved_table,
    join_styles,
    pack_module,
)
from chatkit.widgets.fields import FormButton, FormGroup, Panel, PanelPage
from chatkit.widgets.planview import TOOK_EFFECT, PlanView, ReviewedEdits
from chatkit.widgets.sheet import EditedCell, ReplacedText, RowFilter, Sheet, View, format_cell

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.endpoints import Existing
    from chatkit.bulk.plan import Plan


_PAGE_ROWS = 100  #: rows that are sent at once
_MAX_VALUES = 100  #: values of a column that are offered to be ticked
_PREVIEW_LINES = 8  #: lines of a preview
#: What the page asks of a cell by the number of its row, and of rows by where they are shown.
_OF_CELLS, _OF_PLACES = ("set", "dismiss", "whole", "decide"), ("clear", "paste", "delete")


class GridTable(Model):
    """The table of a grid in the page, which sends what a person does."""

    _esm = pack_module(["keys.js", "side.js", "gridpanels.js", "grid.js"])
    _css = join_styles("grid.css")

    columns: traitlets.List[Any] = traitlets.List().tag(sync=True)
    #: The columns that are shown, in their order: name, and width in pixels or 0.
    column_layout: traitlets.List[Any] = traitlets.List().tag(sync=True)
    state: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)
    height = traitlets.Int(420).tag(sync=True)
    noun = traitlets.Unicode().tag(sync=True)


class Grid(ReviewedEdits, Panel):
    """An editable table of the records of a resource: filter, sort, edit, paste, undo, plan.

    A cell that cannot be sent keeps what it held, and says why. Many cells are changed at once by
    `filter` and `replace`, or "Find and replace". Nothing is sent before a plan of the grid is
    applied: "Review changes" shows it below the table.

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

    def __init__(
        self, resource: Resource[Any], frame: pd.DataFrame | None = None, *, height: int = 420
    ) -> None:
        self._resource = resource
        endpoints = self._endpoints = get_endpoints(resource)
        self._sheet = Sheet(endpoints, endpoints.base(None).frame if frame is None else frame)
        known = None if frame is None else endpoints.snapshot(frame)
        #: whether it shows the whole list, and new records when the account is read again
        self._whole = frame is None or (known is not None and len(known.frame) == len(frame))
        self._view = View(self._sheet)
        self._shows = 0  #: how often the rows were found anew: answers to old questions are late
        self._arranged = 0  #: how often other rows were shown, or in another order
        self._renewed = 0  #: how often the account was read again: rows have other numbers then
        self._lock = RLock()  # a plan is applied in a thread of its own
        self._reviewed: dict[tuple[int, str], EditedCell] = {}  #: what was entered then
        self._labels: dict[Any, int] = {}  #: which row is meant by a label of that plan
        self._table = GridTable(
            self._receive,
            columns=describe_columns(self._sheet),
            column_layout=make_default_layout(self._sheet),
            state=self._state(),
            height=height,
            noun=endpoints.noun,
        )
        self._page = PanelPage()
        super().__init__([self._table, self._page], "chatkit-gridpanel")

    # --- what becomes of it -----------------------------------------------------------

    def frame(self) -> pd.DataFrame:
        """Return the edited frame, as `resource.plan` takes it.

        A cell that was refused holds what it held before. Rows to be deleted are True in a
        column `delete`; new rows have no key yet and labels like 'new 1'.
        """
        return self._sheet.frame()

    def visible(self) -> pd.DataFrame:
        """Return the shown rows of the edited frame, in their order."""
        added = {row: self._sheet.size + n for n, row in enumerate(self._sheet.rows())}
        return self.frame().iloc[[added.get(row, row) for row in self._view.rows.tolist()]]

    def plan(self, **options: Any) -> Plan:
        """Plan the edited frame; the arguments are those of `resource.plan`.

        Entries that were refused are not in it; a note says so.

        Raises:
            InputError: The frame as a whole cannot be planned.
        """
        plan = self._resource.plan(self.frame(), **options)
        if conflicts := len(self._sheet.conflicts()):
            plan.notes.append(
                f"{many(conflicts, 'cell')} that somebody else has changed meanwhile "
                f"{'is' if conflicts == 1 else 'are'} not in this plan: keep theirs or keep mine "
                "in each, or for all with grid.resolve."
            )
        if refused := len(self.refused) - conflicts:
            plan.notes.append(
                f"The grid refused what was entered in {many(refused, 'cell')}, so that is not in "
                "this plan: each cell says why, and grid.refused lists them."
            )
        return plan

    def review(self, *, existing: Existing = "fill", skip_invalid: bool = False) -> PlanView:
        """Plan the edited frame, and show the plan below the table.

        Afterwards the grid shows what the account then holds; what was not applied stays an edit.
        An edit after the review makes it out of date: it cannot be applied then, only made anew.

        Args:
            existing: What becomes of a record that a row without a key names, as in `plan`.
            skip_invalid: Leave out the rows that cannot be planned.

        Raises:
            InputError: The frame as a whole cannot be planned.
            PlanRefused: The plan that was reviewed before is being applied.
        """
        self._check_idle()
        plan = self.plan(existing=existing, skip_invalid=skip_invalid)
        again = partial(self.review, existing=existing, skip_invalid=skip_invalid)
        view = self._show_plan(plan, again, self._on_applied)
        sheet = self._sheet
        self._reviewed = dict(sheet.cells)
        rows = sheet.rows() if self._has_keys else [*range(sheet.size), *sheet.rows()]
        self._labels = {sheet.label(row): row for row in rows}
        buttons = []
        invalid = len({cell.row for cell in get_refused_cells(plan)})
        if invalid and not skip_invalid:
            words = f"Leave out {many(invalid, 'row')} that cannot be planned"
            buttons.append(self._review_button(words, existing=existing, skip_invalid=True))
        if unchanged := sum(change.kind == "skip" for change in plan.changes):
            words = f"Update {many(unchanged, self._endpoints.noun)} that would be kept"
            buttons.append(self._review_button(words, existing="update", skip_invalid=skip_invalid))
        self._page.status.write("")
        bar = FormGroup(buttons, css="chatkit-bar", row=True)
        self._page.show_in(self._page.below, view, bar)
        return view

    def _review_button(self, words: str, **options: Any) -> FormButton:
        return FormButton(words, partial(self._page.attempt, partial(self.review, **options)))

    def _edits(self) -> object:
        return self._sheet.edits()

    @property
    def refused(self) -> pd.DataFrame:
        """The refused entries: `row`, `column`, `value`, `reason` and `next_step`."""
        refused = []
        for row, name, cell in self._sheet.refused():
            reason, step = split_reason(cell.reason)
            if cell.conflict:
                step = 'grid.resolve("mine") enters it again, grid.resolve("theirs") drops it'
            step = step or (cell.waits and "change the other one, too") or "leave it as it was"
            refused.append(
                RefusedCell(self._sheet.label(row), name, shortly(cell.typed), reason, step)
            )
        return make_tuple_frame(RefusedCell, refused)

    # --- for programs, and what JavaScript calls ----------------------------------------

    def set(self, row: Any, column: str, value: Any) -> None:
        """Set one cell, by the label of its row.

        A text is read as if it were typed: 'true' in a column of flags is True, and '+49 30 123456'
        in the number goes into country code and number. What only other cells keep from being
        sent, as a number that another row has, waits for these in `grid.refused`, as a message
        says.

        Raises:
            InputError: There is no such cell, or it cannot hold that; it stays as it was.
        """
        sheet, number = self._sheet, self._sheet.row(row)
        self._check_columns(column)
        for name, entered in sheet.distribute([(number, column, value)]).items():
            cell = sheet.check(name, entered)[number]
            if cell and cell.reason:
                problem = Problem(name, shortly(value), cell.reason)
                raise InputError(f"This cell of row {row!r} cannot be set:", [problem])
        self._send_rows(sheet.write([(number, column, value)]))
        if reason := sheet.cell(number, column).reason:
            waits = f"{column} of row {row!r} waits: {reason}. grid.refused lists it."
            self._page.report(waits, wrong=True)

    def paste(self, row: Any, column: str, text: str) -> None:
        """Enter a copied block of cells to the right and down from one cell.

        Rows are those that are shown; rows beyond the last are added. Each cell is taken or
        refused for itself: `grid.refused` has those that were not. A block whose first line
        names columns goes into these.

        Raises:
            InputError: There is no such cell to begin with, or the block is too wide.
        """
        self._check_columns(column)
        names = self._visible_columns if column in self._visible_columns else [*self._sheet.columns]
        names = names[names.index(column) :]
        self._paste_cells(self._position(row), names, parse_clipboard(text))

    def replace(self, text: str, by: str, column: str | None = None, *, case: bool = True) -> int:
        """Replace a text in all shown rows, as one step.

        What a cell cannot hold stays as it is.

        Args:
            text: What to look for, to the letter.
            by: What to write in its place.
            column: The only column to look in; without it all those of texts that can be written.
            case: Whether capital letters must be capital.

        Returns:
            How many cells were changed.

        Raises:
            InputError: There is no such column.
        """
        self._check_columns(column)
        replacements = [
            one for one in self._find_replacements(text, by, column, case=case) if not one.reason
        ]
        self._send_rows(self._sheet.write((one.row, one.name, one.after) for one in replacements))
        return len(replacements)

    def resolve(self, keep: Literal["mine", "theirs"], labels: Any = None) -> int:
        """Resolve the conflicts in cells that somebody else has changed since the review.

        Args:
            keep: "theirs" leaves what is there now, "mine" makes it an edit again.
            labels: The rows; without them all that are in conflict.

        Returns:
            How many cells were decided about.

        Raises:
            InputError: There is no row of such a label.
        """
        rows = None if labels is None else set(self._find_rows(labels))
        cells = [at for at in self._sheet.conflicts() if rows is None or at[0] in rows]
        self._resolve_cells(cells, keep)
        return len(cells)

    def _resolve_cells(self, cells: Sequence[tuple[int, str]], keep: str) -> None:
        sheet = self._sheet
        with sheet.step():
            for row, name in cells:
                typed = sheet.cell(row, name).typed
                sheet.dismiss(row, name)
                if keep == "mine":
                    sheet.write([(row, name, typed)])
        self._send_rows({row for row, _ in cells})

    def add(self) -> Any:
        """Add an empty row at the end, and return its label."""
        (row,) = self._sheet.add()
        self._send_rows({row})
        return self._sheet.label(row)

    def delete(self, labels: Any) -> None:
        """Mark rows to be deleted; an added row is removed at once.

        Raises:
            InputError: There is no row of such a label; none is marked.
        """
        self._mark_rows(self._find_rows(labels), delete=True)

    def keep(self, labels: Any) -> None:
        """Remove the delete mark of rows. Raises `InputError` if there is no such row."""
        self._mark_rows(self._find_rows(labels), delete=False)

    def undo(self) -> bool:
        """Undo the last step: an entry, a pasted block, a mark. False if there is none."""
        return self._show_step(self._sheet.undo())

    def redo(self) -> bool:
        """Redo the last undone step. False if there is none."""
        return self._show_step(self._sheet.redo())

    def filter(
        self,
        text: str = "",
        *,
        changed: bool = False,
        contains: Mapping[str, str] = MappingProxyType({}),
        values: Mapping[str, Any] = MappingProxyType({}),
        empty: Mapping[str, bool] = MappingProxyType({}),
    ) -> int:
        """Show only rows that match; without arguments all.

        >>> grid = chatkit.Grid(client.contacts)
        >>> grid.filter(values={"country_code": "+33"}, contains={"name": "an"})
        6

        Args:
            text: What to look for.
            changed: Only rows that were edited, refused or marked.
            contains: By column, a text that its cell must hold, whatever its case.
            values: By column, the value that its cell must be, or several; None is an empty cell.
            empty: By column, whether its cell must be empty, or must not be.

        Returns:
            How many rows are shown.

        Raises:
            InputError: There is no such column.
        """
        chosen = RowFilter(
            text,
            changed,
            {name: format_cell(held) for name, held in contains.items() if held},
            {
                name: sorted({*map(format_cell, [held] if _is_single(held) else held)})
                for name, held in values.items()
            },
            dict(empty),
        )
        self._check_columns(*chosen.columns)
        self._view.filter = chosen
        self._refresh_rows()
        return len(self._view.rows)

    def sort(self, column: str | None, *, descending: bool = False) -> None:
        """Sort the rows by a column, empty cells last; None sorts as the frame.

        Raises:
            InputError: There is no such column.
        """
        self._check_columns(column)
        self._view.column, self._view.descending = column, descending
        self._refresh_rows()

    def columns(self, *names: str) -> list[str]:
        """Show these columns in this order, and return them; without names the first ones.

        Raises:
            InputError: There is no such column.
        """
        self._check_columns(*names)
        widths = dict(self._table.column_layout)
        self._set_layout([[name, widths.get(name, 0)] for name in dict.fromkeys(names)])
        return self._visible_columns

    # --- how ----------------------------------------------------------------------------

    @property
    def _has_keys(self) -> bool:
        """True if the index of the frame has the keys of the records."""
        return self._sheet.head == self._endpoints.key

    def _check_columns(self, *columns: str | None) -> None:
        for column in columns:
            if column is not None and column not in self._sheet.columns:
                names = ", ".join(self._sheet.columns)
                raise InputError(f"The grid has no column {column!r}: it has {names}.")

    def _position(self, label: Any) -> int:
        """Return the position at which the row of a label is shown."""
        places = (self._view.rows == self._sheet.row(label)).nonzero()[0]
        if not len(places):
            raise InputError(f"Row {label!r} is not shown now: grid.filter('') shows all rows.")
        return int(places[0])

    def _find_rows(self, labels: Any) -> list[int]:
        return [self._sheet.row(label) for label in ([labels] if _is_single(labels) else labels)]

    def _paste_cells(self, position: int, names: Sequence[str], cells: list[list[Any]]) -> None:
        """Enter a block from a shown position on, in these columns or those of its first line."""
        if len(cells) > 1 < len(cells[0]) and {*cells[0]} <= {*self._sheet.columns}:
            names, *cells = cells
        if (wide := max(map(len, cells))) > len(names):
            raise InputError(
                f"The block has {many(wide, 'column')}, and there are {len(names)} from "
                f"{names[0]} on."
            )
        sheet = self._sheet
        with sheet.step():
            rows = self._get_rows(position, len(cells))
            rows += sheet.add(len(cells) - len(rows))
            entered = [
                (row, name, value)
                for row, line in zip(rows, cells, strict=True)
                for name, value in zip(names, line, strict=False)
            ]
            touched = sheet.write(entered)
        self._send_rows(touched)
        if refused := sum(bool(sheet.cell(row, name).reason) for row, name, _ in entered):
            taken = f"{many(len(entered) - refused, 'cell')} taken"
            self._page.report(f"{taken}, {refused:,} refused: grid.refused.", wrong=True)

    def _find_replacements(
        self, text: str, by: str, column: str | None, *, case: bool
    ) -> list[ReplacedText]:
        if not text:
            return []
        pattern = re.compile(re.escape(text), re.NOFLAG if case else re.IGNORECASE)
        names = [c.name for c in self._sheet.columns.values() if c.kind == "text"]
        searched = names if column is None else [column]
        return list(self._sheet.replacements(self._view.rows.tolist(), searched, pattern, by))

    def _mark_rows(self, rows: list[int], *, delete: bool) -> None:
        self._sheet.mark(rows, delete=delete)
        self._send_rows(set(rows))

    def _show_step(self, rows: Collection[int] | None) -> bool:
        if rows is not None:
            self._send_rows(rows)
        return rows is not None

    def _set_layout(self, layout: Sequence[Sequence[Any]]) -> None:
        """Show columns in this order with their widths; the default ones if none is named."""
        known = [[n, max(0, int(wide))] for n, wide in layout if n in self._sheet.columns]
        self._table.column_layout = known or make_default_layout(self._sheet)

    @property
    def _visible_columns(self) -> list[str]:
        """The names of the shown columns, in their order."""
        return [name for name, _ in self._table.column_layout]

    # --- after a plan was applied -------------------------------------------------------

    def _on_applied(self, view: PlanView) -> None:
        """Reload the account after a plan was applied; called in the thread of the plan."""
        try:
            self._reload(view)
        except ChatkitError as error:
            words = "The table shows what was there before: the account could not be read again."
            self._page.report(f"{words}\n{error}", wrong=True)

    def _reload(self, view: PlanView) -> None:
        """Read the account again, and keep as edits what was not applied."""
        endpoints, old = self._endpoints, self._sheet
        full = any(
            name in endpoints.record.model_fields and name not in endpoints.record.listed
            for name in old.columns
        )
        read = endpoints.frame(full=full)
        with self._lock:
            done: dict[Any, Any] = {}  # labels and keys of rows with which nothing is left to do
            if (result := view.result) is not None:
                result = result[result["state"].isin(TOOK_EFFECT)]
                done = dict(zip(result.index.tolist(), result["key"].tolist(), strict=True))
            mine = view is self.plan_view
            rows = {label: self._find_reviewed_row(label) for label in (done if mine else ())}
            applied = {row for row in rows.values() if row is not None}
            reviewed = self._is_planned()
            keys = self._find_record_keys(read)
            keys |= {row: done[label] for label, row in rows.items() if row is not None}
            sheet = Sheet(endpoints, self._select_frame(read, keys, done.values()))
            index = sheet.base.index
            at = dict(zip(index.tolist(), range(len(index)), strict=True))
            places = {row: at.get(key, -1) for row, key in keys.items()}
            cells = {
                where
                for where, cell in old.cells.items()
                if where[0] in applied and self._reviewed.get(where) == cell and not cell.reason
            }
            now = sheet.carry_over(old, places, cells)
            if mine and view.result is not None:
                moved = view.result.index[view.result["state"] == "conflict"]
                self._mark_moved(map(self._find_reviewed_row, moved), sheet, now)
            self._reviewed = {
                (now[row], name): sheet.cell(now[row], name)
                for (row, name), cell in self._reviewed.items()
                if row in now and old.cells.get((row, name)) == cell
            }
            self._labels = {n: now.get(row, -1) for n, row in self._labels.items()}
            self._sheet, self._view = sheet, self._view.with_sheet(sheet)
            self._planned = sheet.edits() if reviewed else self._planned
            self._renewed += 1
            self._arranged += 1
            with self._table.hold_sync():
                self._table.columns = describe_columns(sheet)
                self._set_layout(self._table.column_layout)
                self._send_changes()

    def _mark_moved(self, rows: Iterable[int | None], sheet: Sheet, now: Mapping[int, int]) -> None:
        """Mark the conflicts: cells that somebody else has changed since the plan was made.

        A row that was to be deleted, and that somebody has changed, is kept.
        """
        old, kept = self._sheet, 0
        for row in rows:
            if row is None or row >= old.size or row not in now:
                continue
            if now[row] in sheet.deleted:
                sheet.deleted.discard(now[row])
                kept += 1
            for name in sheet.columns:
                before, live = old.original(name, [row])[0], sheet.original(name, [now[row]])[0]
                cell = sheet.cells.get((now[row], name))
                if cell and not cell.reason and not is_same_value(before, live):
                    sheet.mark_conflict(now[row], name)
        if kept:
            self._page.report(
                f"Not deleted, as somebody has changed it meanwhile: {many(kept, 'row')}. Mark "
                "again what is to be deleted all the same.",
                wrong=True,
            )

    def _find_reviewed_row(self, label: Any) -> int | None:
        """Return the row of a label in the reviewed plan; None if it is not there."""
        if label in self._labels:
            return self._labels[label] if self._labels[label] >= 0 else None
        try:
            return self._sheet.row(label)
        except InputError:
            return None

    def _find_record_keys(self, read: pd.DataFrame) -> dict[int, Any]:
        """Return the keys of the records by row, for rows that are records."""
        sheet, endpoints = self._sheet, self._endpoints
        rows = range(sheet.size)
        if endpoints.key in sheet.columns:
            keys = zip(rows, sheet.original(endpoints.key, rows), strict=True)
            return {row: key for row, key in keys if key is not None}
        names = [
            name for name in endpoints.list_name_fields() if name in read and name in sheet.columns
        ]
        texts = map(endpoints.make_natural_name, records(read[names], range(len(read))))
        known = dict(zip(texts, read.index.tolist(), strict=True))
        own = zip(*(sheet.values(name, rows) for name in names), strict=True)
        named = (
            endpoints.make_natural_name(dict(zip(names, values, strict=True))) for values in own
        )
        return {
            row: known[name]
            for row, name in zip(rows, named, strict=False)
            if name is not None and name in known
        }

    def _select_frame(
        self, read: pd.DataFrame, keys: Mapping[int, Any], more: Iterable[Any]
    ) -> pd.DataFrame:
        """Select the rows and columns of this grid from a frame of the account."""
        base, key = self._sheet.base, self._endpoints.key
        if self._whole and self._has_keys:
            frame = read
        else:
            keys_to_show = dict.fromkeys([*(keys[row] for row in sorted(keys)), *more])
            frame = read.loc[[one for one in keys_to_show if one in read.index]]
        frame, attrs = frame.copy(deep=False), frame.attrs
        row_of = {value: row for row, value in keys.items() if row < len(base)}
        for name in base.columns.difference([*frame.columns, key], sort=False):
            rows = [row_of.get(value, -1) for value in frame.index]
            frame[name] = base[name].reset_index(drop=True).reindex(rows).to_numpy()
        frame = frame[[name for name in base.columns if name != key]]
        frame.attrs = dict(attrs)
        return frame

    # --- what JavaScript is told --------------------------------------------------------

    def _state(self) -> dict[str, Any]:
        view = self._view
        undo, redo = self._sheet.steps
        return {
            "shows": self._shows,
            "arranged": self._arranged,
            "renewed": self._renewed,
            "rows": len(view.rows),
            "of": self._sheet.size + len(self._sheet.rows()),
            "edits": summarize_edits(self._sheet),
            "undo": undo > 0,
            "redo": redo > 0,
            "sort": [view.column, view.descending],
            "filter": view.filter._asdict(),
        }

    def _refresh_rows(self) -> None:
        self._arranged += 1
        self._view.update_rows()
        self._send_changes()

    def _send_changes(self) -> None:
        """Send the state, and have the page ask for all rows again."""
        self._shows += 1
        self._send_state()

    def _send_state(self) -> None:
        self._table.state = self._state()
        self._recheck_plan()

    def _send_rows(self, rows: Collection[int]) -> None:
        """Send edited rows to the page; what was reported about an earlier action goes."""
        if self._page.message:
            self._page.report("")
        others = self._view.update_added_rows()
        if others or len(rows) > _PAGE_ROWS:
            self._arranged += others
            return self._send_changes()
        self._table.send({"rows": describe_rows(self._sheet, sorted(rows))})
        self._send_state()

    # --- what the page asks for -----------------------------------------------------------

    def _receive(self, message: Mapping[str, Any]) -> None:
        """Handle a message of the page; a dict that an action returns is the answer."""
        with self._lock:
            action, state = message.get("do"), self._table.state
            answer: object = None
            current = {"renewed": action in _OF_CELLS, "arranged": action in _OF_PLACES}
            if any(must and message.get(n, state[n]) != state[n] for n, must in current.items()):
                answer = {"note": "The table has changed in the meantime: please do that once more"}
            elif (method := _ACTIONS.get(str(action))) is not None:
                arguments = {n: v for n, v in message.items() if n not in ("do", *current)}
                answer = method(self, **arguments)
            if isinstance(answer, dict):
                self._table.send(answer)

    def _send_page(self, page: int, shows: int) -> dict[str, Any] | None:
        rows = self._get_rows(page * _PAGE_ROWS, _PAGE_ROWS)
        if shows != self._shows:
            return None
        return {"page": page, "shows": shows, "rows": describe_rows(self._sheet, rows)}

    def _resolve_cell(self, row: int, column: str, keep: str) -> None:
        if self._sheet.cell(row, column).conflict:
            self._resolve_cells([(row, column)], keep)

    def _set_cell(self, row: int, column: str, value: Any) -> dict[str, Any] | None:
        self._send_rows(self._sheet.write([(row, column, value)]))
        reason = self._sheet.cell(row, column).reason
        return {"note": f"Refused: {reason}"} if reason else None

    def _send_whole(self, row: int, column: str) -> dict[str, Any]:
        text = format_cell(self._sheet.values(column, [row])[0])
        return {"whole": text, "row": row, "column": column}

    def _dismiss(self, row: int, column: str) -> None:
        self._sheet.dismiss(row, column)
        self._send_rows({row})

    def _clear(self, place: int, rows: int, columns: list[str]) -> None:
        self._send_rows(self._sheet.clear(self._get_rows(place, rows), columns))

    def _paste_block(
        self, place: int, columns: list[str], text: str, rows: int, wide: int
    ) -> dict[str, Any] | None:
        cells = parse_clipboard(text)
        if len(cells) == len(cells[0]) == 1:  # one text fills what is selected
            cells = [cells[0] * wide] * rows
        try:
            self._paste_cells(place, columns, cells)
        except InputError as error:
            return {"note": str(error)}
        return None

    def _delete_rows(self, place: int, rows: int, *, delete: bool) -> None:
        self._mark_rows(self._get_rows(place, rows), delete=delete)

    def _send_values(self, column: str) -> dict[str, Any]:
        values, others = self._view.count_values(column, _MAX_VALUES)
        return {"values": values, "others": others, "column": column}

    def _replace_all(self, text: str, by: str, column: str | None, *, case: bool) -> dict[str, Any]:
        count = self.replace(text, by, column, case=case)
        return {"note": f"Replaced in {many(count, 'cell')}: Ctrl+Z takes it back"}

    def _show_review(self) -> dict[str, Any]:
        self._page.attempt(self.review)
        return {"reviewed": True}

    def _get_rows(self, position: int, count: int) -> list[int]:
        rows: list[int] = self._view.rows[position : position + count].tolist()
        return rows

    def _preview(self, text: str, by: str, column: str | None, *, case: bool) -> dict[str, Any]:
        """Return a preview of a replacement: counts, and some cells that change or are refused."""
        replacements = self._find_replacements(text, by, column, case=case)
        lines = [
            [str(self._sheet.label(one.row)), one.name, one.before, one.after, one.reason]
            for one in sorted(replacements, key=lambda one: bool(one.reason))[:_PREVIEW_LINES]
        ]
        refused = sum(bool(one.reason) for one in replacements)
        return {"preview": lines, "count": len(replacements) - refused, "refused": refused}

    # --- where nothing is live ------------------------------------------------------------

    @safe_repr
    def __repr__(self) -> str:
        about = f"Grid of {many(self._sheet.size, self._endpoints.noun)}"
        summary = summarize_edits(self._sheet)
        return f"{about}: {summary}." if summary else f"{about}."

    def _make_saved_page(self) -> str:
        below = "" if self.plan_view is None else self.plan_view._make_saved_page()
        return draw_table(self._sheet, repr(self), self._visible_columns) + below


#: What the page asks for, by its name there.
_ACTIONS: Mapping[str, Callable[..., object]] = {
    "add": Grid.add,
    "clear": Grid._clear,
    "decide": Grid._resolve_cell,
    "delete": Grid._delete_rows,
    "dismiss": Grid._dismiss,
    "filter": Grid.filter,
    "layout": Grid._set_layout,
    "page": Grid._send_page,
    "paste": Grid._paste_block,
    "preview": Grid._preview,
    "redo": Grid.redo,
    "replace": Grid._replace_all,
    "review": Grid._show_review,
    "set": Grid._set_cell,
    "sort": Grid.sort,
    "undo": Grid.undo,
    "values": Grid._send_values,
    "whole": Grid._send_whole,
}


_MAX_CELL = 2000  #: characters of a cell that are sent; of a longer one all when it is edited
_STATIC_ROWS = 10  #: rows of the static form
_SAMPLE_ROWS = 200  #: rows that tell how wide a column is
_MAX_WIDTH = 36  #: characters of the widest column


def describe_columns(sheet: Sheet) -> list[dict[str, Any]]:
    """Describe the columns for the page: name, kind, reasons not to be written, width."""
    sample = range(min(sheet.size, _SAMPLE_ROWS))
    described = []
    for column in sheet.columns.values():
        texts = map(format_cell, sheet.original(column.name, sample))
        widths = sorted(min(len(text), _MAX_WIDTH) for text in texts) or [0]
        usual = widths[int(0.95 * (len(widths) - 1))]
        if not column.fixed:
            usual = min(usual * 3 // 2, _MAX_WIDTH)  # room to type
        wide = max(usual, len(column.name) + 3, 5)
        described.append({**column._asdict(), "head": column.name == sheet.head, "wide": wide})
    return described


def make_default_layout(sheet: Sheet) -> list[list[Any]]:
    """Return the columns that are shown at first, each with width 0, the usual one.

    The key is the first, then what can be written, then what cannot. What another column holds
    as well, like the parts of a name, is put away, and what cannot be written and is empty.
    """
    base, (head, *others) = sheet.base, sheet.columns.values()
    fixed = [c for c in others if c.fixed and c.closed]
    seen = [c for c in fixed if not c.part and (base[c.name].notna().any() or not sheet.size)]
    return [[c.name, 0] for c in [head, *(c for c in others if c not in fixed), *seen]]


def describe_rows(sheet: Sheet, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Describe rows for the page: number `n`, values `v`, and the marks of cells and row.

    `c` are changed cells, `e` refused ones with what was typed and why, `k` those of them that are
    in conflict, `l` those of which
    only the beginning is sent; `m` says of the whole row that it is new or to be deleted.
    """
    names = list(sheet.columns)
    values = zip(*(sheet.values(name, numbers) for name in names), strict=True)
    described = []
    for row, line in zip(numbers, values, strict=True):
        sent: dict[str, Any] = {"n": row, "v": [_convert_cell(value) for value in line]}
        if row >= sheet.size and line[0] is None:
            sent["v"][0] = str(sheet.label(row))
        cells = {n: cell for n, name in enumerate(names) if (cell := sheet.cells.get((row, name)))}
        marks = {
            "c": [n for n, cell in cells.items() if not cell.reason and row < sheet.size],
            "e": {n: [_cut_text(c.typed), c.reason] for n, c in cells.items() if c.reason},
            "k": [n for n, cell in cells.items() if cell.conflict],
            "l": [n for n, value in enumerate(line) if len(format_cell(value)) > _MAX_CELL],
            "m": "new" if row >= sheet.size else "delete" if row in sheet.deleted else "",
        }
        described.append(sent | {name: mark for name, mark in marks.items() if mark})
    return described


def summarize_edits(sheet: Sheet) -> str:
    """Return the counts of edits in a sheet as a text."""
    counts = {
        ("cell", "changed"): sum(row < sheet.size for row, _ in sheet.changed()),
        ("row", "added"): len(sheet.rows()),
        ("row", "to delete"): sum(row < sheet.size for row in sheet.deleted),
        ("cell", "refused"): sum(not cell.conflict for _, _, cell in sheet.refused()),
        ("cell", "in conflict"): len(sheet.conflicts()),
    }
    return ", ".join(f"{many(n, noun)} {done}" for (noun, done), n in counts.items() if n)


def draw_table(sheet: Sheet, title: str, names: Sequence[str] = ()) -> str:
    """Return the edited rows, or else the first ones, as an HTML table.

    Args:
        sheet: Whose rows they are.
        title: What stands above them.
        names: The columns that are shown; all if none is named.
    """
    known = list(sheet.columns)
    places = [known.index(name) for name in names or known]
    edited = {row for row, _ in sheet.cells} | sheet.deleted | {*sheet.rows()}
    numbers = sorted(row for row in edited if not sheet.is_removed(row)) or list(range(sheet.size))
    rows = describe_rows(sheet, numbers[:_STATIC_ROWS])
    table = draw_saved_table([*(names or known), ""], (_draw_cells(row, places) for row in rows))
    rest = len(numbers) - _STATIC_ROWS
    more = f"<p>… and {many(rest, 'more row')}.</p>" if rest > 0 else ""
    return f"<p>{escape(title)}</p>{table}{more}"


def _convert_cell(value: Any) -> str | bool | None:
    return value if value is None or isinstance(value, bool) else _cut_text(value)


def _cut_text(value: Any) -> str:
    """Return a value as a text, of a long one the beginning."""
    text = format_cell(value)
    return text if len(text) <= _MAX_CELL else text[:_MAX_CELL] + "…"


def _is_single(value: Any) -> bool:
    """Return whether a value stands for itself, and is no list of values."""
    return isinstance(value, str) or not isinstance(value, Iterable)


def _draw_cells(row: Mapping[str, Any], places: Sequence[int]) -> list[str]:
    """Return some cells of a row as escaped HTML, and the mark of the row."""
    cells = []
    for position in places:
        value = row["v"][position]
        text = "" if value is None else escape(cut(str(value), _MAX_WIDTH))
        text = f"<strong>{text}</strong>" if position in row.get("c", ()) else text
        if position in row.get("e", {}):
            typed, why = row["e"][position]
            text += f" <em>{escape(cut(typed, _MAX_WIDTH))} was refused: {escape(why)}</em>"
        cells.append(text)
    return [*cells, {"new": "added", "delete": "to delete"}.get(row.get("m", ""), "")]


# Spreadsheets put quotes around a text that holds a tab or a line break, and only then; a name
# in quotes stays a name in quotes. static/grid.js writes what this reads.

#: A cell and what ends it: a text in quotes that needs them, or any text.
_CELL = re.compile(
    r'(?:"(?=[^"\t\r\n]*(?:[\t\r\n]|""))((?:[^"]|"")*)"|([^\t\r\n]*))(\t|\r\n|\r|\n|\Z)'
)


def parse_clipboard(text: str) -> list[list[str]]:
    r"""Parse a copied block into rows of cells; a line break at its end ends the last row.

    >>> parse_clipboard('Ana\t+91\nBo\t"two\nlines"')
    [['Ana', '+91'], ['Bo', 'two\nlines']]
    """
    rows: list[list[str]] = [[]]
    for match in _CELL.finditer(text):
        quoted, plain, end = match.groups()
        rows[-1].append(plain if quoted is None else quoted.replace('""', '"'))
        if not end or (end != "\t" and match.end() == len(text)):
            break
        if end != "\t":
            rows.append([])
    return rows
