"""Rows of a plan, before and after it was applied, in pages with filters."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import ipywidgets as w

from chatkit.bulk import rendering
from chatkit.bulk.journal import Change
from chatkit.bulk.plan import refused_cells, setting_of
from chatkit.display import visible
from chatkit.widgets.controls import Button

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan, Refused

PAGE = 10  #: rows that are shown at once


class Item(NamedTuple):
    """One row: of which kinds it is, what is searched, and how it is drawn."""

    kinds: tuple[str, ...]
    text: str
    html: Callable[[], str]


class PagedRows(w.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A table of many rows, of which a person sees those of one kind that hold a text.

    Args:
        columns: Their names, each with its width in percent.
        items: The rows; each draws itself as escaped HTML, a table body of its own.
    """

    def __init__(self, columns: Mapping[str, int], items: Sequence[Item]) -> None:
        self.items: list[Item] = []
        self._texts: list[str] = []
        self._head = ""
        self._page = 0
        self.kind = w.Dropdown(description="Show")
        self.search = w.Text(description="that hold", placeholder="any text")
        self._table, self._place = w.HTML(), w.HTML()
        self._back = Button("Previous", lambda: self._turn(-1))
        self._on = Button("Next", lambda: self._turn(1))
        for control in (self.kind, self.search):
            control.observe(lambda _: self._turn(0), names="value")
        self._filters = w.HBox([self.kind, self.search])
        self._pager = w.HBox([self._back, self._on, self._place])
        for bar in (self._filters, self._pager):
            bar.add_class("chatkit-bar")
        super().__init__([self._filters, self._table, self._pager])
        self.add_class("chatkit-plan")
        self.fill(columns, items)

    def fill(self, columns: Mapping[str, int], items: Sequence[Item], kind: str = "") -> None:
        """Show other rows, at first those of a kind if there are any of it."""
        self.items = list(items)
        self._texts = [item.text.casefold() for item in self.items]
        self._head = "".join(
            f'<th scope="col" style="width: {width}%">{escape(name)}</th>'
            for name, width in columns.items()
        )
        count = Counter(kind for item in self.items for kind in item.kinds)
        options = [(f"all {len(self.items):,}", "")]
        options += [(f"{kind} {number:,}", kind) for kind, number in count.items()]
        self.kind.options = options
        self.kind.value = kind if kind in count else ""
        self.search.value = ""
        self._filters.layout.display = None if len(self.items) > 1 else "none"
        self._turn(0)

    def __repr__(self) -> str:
        return f"<{len(self.found()):,} of {len(self.items):,} rows>"

    def found(self) -> list[Item]:
        """Return the rows of the chosen kind that hold the text, on all pages."""
        wanted, kind = self.search.value.casefold().strip(), self.kind.value
        return [
            item
            for item, text in zip(self.items, self._texts, strict=True)
            if wanted in text and (not kind or kind in item.kinds)
        ]

    def _turn(self, pages: int) -> None:
        """Turn so many pages; a new filter begins with the first."""
        found = self.found()
        last = max(len(found) - 1, 0) // PAGE
        self._page = min(max(self._page + pages, 0), last) if pages else 0
        first = self._page * PAGE
        part = found[first : first + PAGE]
        body = "".join(item.html() for item in part)
        head = f"<thead><tr>{self._head}</tr></thead>"
        nothing = "<p>No row is like that.</p>" if self.items else ""
        self._table.value = (
            # the class names keep JupyterLab from reading $…$ in a name as mathematics
            f'<table class="tex2jax_ignore mathjax_ignore">{head}{body}</table>'
            if part
            else nothing
        )
        self._back.disabled, self._on.disabled = self._page == 0, self._page == last
        place = f"{first + 1:,} to {first + len(part):,} of {len(found):,}"
        self._place.value = f'<span role="status">{place}</span>' if part else ""
        self._pager.layout.display = None if last else "none"


# --- the rows of a plan, and of its result -------------------------------------------------

LANDED = ("applied", "differs", "unchanged")  #: states of rows with which nothing is wrong
OPEN = ("not sent", "unknown")  #: states of rows with which a run can go on

#: What a person looks for among the changes that cannot be undone exactly.
_UNDO = {"with loss": "not restored exactly", "never": "never undone"}


def planned(plan: Plan) -> tuple[Mapping[str, int], Sequence[Item]]:
    """Make the rows of a plan, and of what it refuses."""
    losses = rendering.losses_of(plan)
    noun = setting_of(plan).noun

    def drawn(change: Change) -> str:
        return rendering.html_changes([change], losses, rendering.MANY)[0]

    items = [
        Item(
            (change.kind, *([] if change.undo == "exactly" else [_UNDO[change.undo]])),
            _searched(change),
            partial(drawn, change),
        )
        for kind in rendering.by_kind(plan)
        for change in kind
    ]
    items += [
        Item(("refused",), " ".join(map(str, cell)), partial(_refused, cell))
        for cell in refused_cells(plan)
    ]
    return {"change": 10, noun: 22, "field": 16, "before": 26, "after": 26}, items


def _searched(change: Change) -> str:
    values = json.dumps([dict(change.before), dict(change.after)], ensure_ascii=False, default=str)
    return f"{change.row} {change.key} {change.code or ''} {change.label} {values}"


def _refused(cell: Refused) -> str:
    """Draw a cell that cannot be planned below the columns of a change."""
    row, column, value, *said = (visible(str(part)) for part in cell)
    where = f'<td>refused</td><th scope="rowgroup" dir="auto">row {escape(row)}</th>'
    what = f'<td dir="auto">{escape(column)}</td><td dir="auto">{escape(value)}</td>'
    return f'<tbody><tr>{where}{what}<td dir="auto">{escape(": ".join(said))}</td></tr></tbody>'


def happened(plan: Plan, result: pd.DataFrame) -> tuple[Mapping[str, int], Sequence[Item]]:
    """Make the rows of a result."""
    columns = {"state": 12, "change": 10, setting_of(plan).noun: 32, "reason": 46}
    items = []
    fields = zip(result["state"], result["change"], result["label"], result["reason"], strict=True)
    for state, change, label, reason in fields:
        kinds = (state,) if state in (*LANDED, "skipped") else ("not applied", state)
        parts = [visible(str(part)) for part in (state, change, label, reason)]
        fine = state in (*LANDED, "skipped")
        kind = "fine" if fine else "open" if state in OPEN else "bad"
        cells = "".join(f'<td dir="auto">{escape(part)}</td>' for part in parts)
        body = f'<tbody class="{kind}"><tr>{cells}</tr></tbody>'
        items.append(Item(kinds, " ".join(parts), partial(str, body)))
    return columns, items
