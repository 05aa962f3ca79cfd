"""Table of many rows in pages, with filters: plans, results, runs and accounts are shown in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import ipywidgets as w
import traitlets

from chatkit.report import MANY, html_tables, marked
from chatkit.util.display import compare_words, escaped, visible
from chatkit.widgets.controls import ActionButton, Model, join_module, make_box

PAGE = 10  #: rows that are shown at once
_FOLD_AFTER = 600  #: characters of a text that are seen before somebody asks for all of it
_AROUND = 60  #: characters that are seen on both sides of what is the same in a long text
_COMPARED = 20_000  #: characters of two texts that are compared word by word
_SIGNS = {"error": "✗", "warning": "!", "note": "i"}


def draw_changed_words(before: str, after: str) -> tuple[str, str]:
    """Write two texts as HTML; the words that the other does not have are marked in each.

    Long parts are folded: what has the class `ck-far` is seen only within the class `whole`.
    """
    parts = compare_words(before, after) if len(before) + len(after) <= _COMPARED else []
    if not any(kind == "same" and text.strip() for kind, text in parts):
        parts = [("out", before), ("in", after)]
    cells = []
    for mine, tag in (("out", "del"), ("in", "ins")):
        texts = [
            f"<{tag}>{draw_text(text, blank=True)}</{tag}>" if kind == mine else _draw_same(text)
            for kind, text in parts
            if kind in ("same", mine) and text
        ]
        cells.append("".join(texts))
    return cells[0], cells[1]


def draw_text(text: str, *, blank: bool = False) -> str:
    """Return a text as HTML with line breaks, and with the end of a long one folded.

    Args:
        text: The text.
        blank: Whether spaces are seen where there is nothing else.
    """
    spelled = text.replace(" ", "␣") if blank and text.isspace() else text
    html = _draw_lines(spelled[:_FOLD_AFTER])
    return html if len(spelled) <= _FOLD_AFTER else f"{html}{_draw_folded(spelled[_FOLD_AFTER:])}"


def _draw_same(text: str) -> str:
    if len(text) <= 3 * _AROUND:
        return _draw_lines(text)
    middle = _draw_folded(text[_AROUND:-_AROUND])
    return f"{_draw_lines(text[:_AROUND])}{middle}{_draw_lines(text[-_AROUND:])}"


def _draw_folded(text: str) -> str:
    return f'<span class="ck-gap">…</span><span class="ck-far">{_draw_lines(text)}</span>'


def _draw_lines(text: str) -> str:
    return marked(visible(text)).replace("<mark>↵</mark>", "<mark>↵</mark><br>")


def draw_finding_list(findings: Iterable[tuple[str, ...]]) -> str:
    """Return findings as an HTML list with icons and severities; "" without any.

    Args:
        findings: Of each how severe it is and the message; then what to do, and another word for
            how severe it is.
    """
    items = []
    for each in findings:
        severity, message, hint, word = (*each, "", "")[:4]
        text = marked(visible(message))
        text += f" <span>{marked(visible(hint))}</span>" if hint else ""
        items.append(
            f'<li class="{severity}"><b aria-hidden="true">{_SIGNS[severity]}</b>'
            f'<div dir="auto"><em>{word or severity}:</em> {text}</div></li>'
        )
    if not items:
        return ""
    return f'<ul class="chatkit-findings tex2jax_ignore mathjax_ignore">{"".join(items)}</ul>'


class Item(NamedTuple):
    """One row: its kinds, the text that is searched, and how it is drawn.

    `draw` returns the class of its look, and its lines: each the cells as escaped HTML.
    """

    kinds: tuple[str, ...]
    text: str
    draw: Callable[[], tuple[str, Sequence[str]]]
    account: str = ""  #: in a column of its own, where there are several

    @property
    def filters(self) -> tuple[str, ...]:
        """The filters that show the row: its kinds and its account."""
        return (*self.kinds, self.account) if self.account else self.kinds

    def html(self) -> str:
        """Return the row as a table body."""
        looks, lines = self.draw()
        if self.account:
            names = [escaped(self.account), *[""] * (len(lines) - 1)]
            lines = [f'<td dir="auto">{n}</td>{line}' for n, line in zip(names, lines, strict=True)]
        return f'<tbody class="{looks}"><tr>{"</tr><tr>".join(lines)}</tr></tbody>'


def draw_row_button(act: str, row: str, label: str, name: str) -> str:
    """Return the HTML of a button in a row.

    Args:
        act: What it does.
        row: Of which row, for whoever is asked to do it.
        label: What is seen of it, as HTML.
        name: Its accessible name, which names the row too.
    """
    return (
        f'<button type="button" class="chatkit-button small" data-act="{act}" '
        f'data-row="{escape(row)}" aria-label="{escaped(name)}">{label}</button>'
    )


def _with_account_column(columns: Mapping[str, int], items: Sequence[Item]) -> Mapping[str, int]:
    """Add a column of accounts if rows are of several accounts."""
    if not any(item.account for item in items):
        return columns
    return {"account": 12} | {name: round(width * 0.88) for name, width in columns.items()}


def draw_saved_rows(columns: Mapping[str, int], items: Sequence[Item], where: str) -> str:
    """Return rows as HTML for a saved page, most of them folded.

    Args:
        columns: Their names, each with its width in percent.
        items: The rows.
        where: The expression that has all of them.
    """
    rows = [item.html() for item in items[:MANY]]
    widths = _with_account_column(columns, items)
    return html_tables(widths, rows[:PAGE], rows[PAGE:], len(items), where)


class RowsTable(Model):
    """A table of escaped HTML with buttons in its rows.

    Args:
        label: The accessible name of a table that is wider than its place.
        act: What a click calls, with what its button does and of which row.
    """

    _esm = join_module(["keys.js", "side.js", "elements.js", "planview.js"])

    html = traitlets.Unicode().tag(sync=True)
    label = traitlets.Unicode().tag(sync=True)
    #: Whether a click has opened it: the page goes there once.
    opened = traitlets.Bool(False).tag(sync=True)

    def __init__(self, label: str, act: Callable[[str, str], object] | None) -> None:
        self._act = act
        super().__init__(label=label)

    def _receive(self, message: Any) -> None:
        match message:
            case {"act": str(act), "row": str(row)} if self._act is not None:
                self._act(act, row)


class PagedRows(w.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A table of many rows in pages, with filters by kind or account, and by text.

    Args:
        columns: Their names, each with its width in percent.
        items: The rows.
        act: What a button in a row calls, with what it does and of which row.
        label: Its accessible name.
    """

    def __init__(
        self,
        columns: Mapping[str, int],
        items: Sequence[Item],
        act: Callable[[str, str], object] | None = None,
        *,
        label: str = "Rows",
    ) -> None:
        self._make_saved_page, self._filling = 0, False
        self.kind = w.Dropdown(description="Show")
        self.search = w.Text(description="that hold", placeholder="any text")
        self._table, self._place = RowsTable(label, act), w.HTML()
        self._back = ActionButton("Previous", lambda: self._turn(-1))
        self._on = ActionButton("Next", lambda: self._turn(1))
        controls = [self.kind, self.search]
        for control in controls:
            control.observe(lambda _: self._turn(0), names="value")
        self._filters = make_box(w.HBox, "chatkit-bar", controls)
        self._pager = make_box(w.HBox, "chatkit-bar", [self._back, self._on, self._place])
        super().__init__([self._filters, self._table, self._pager])
        self.add_class("chatkit-plan")
        self.fill(columns, items)

    def fill(
        self, columns: Mapping[str, int], items: Sequence[Item], *, stay: bool = False
    ) -> None:
        """Show other rows.

        Args:
            columns: Their columns.
            items: The rows.
            stay: They are the same as before, drawn otherwise: what is looked for and the page
                stay as they are.
        """
        self._head = "".join(
            f'<th scope="col" style="width: {width}%">{escape(name)}</th>'
            for name, width in _with_account_column(columns, items).items()
        )
        counts = Counter(kind for item in items for kind in item.kinds)
        counts += Counter(item.account for item in items if item.account)
        options = [(f"{name} {number:,}", name) for name, number in counts.items()]
        chosen = self.kind.value
        self._filling = True
        self.kind.options = [(f"all {len(items):,}", ""), *options]
        self.kind.value = chosen if stay and chosen in counts else ""
        if not stay:
            self.search.value, self._make_saved_page = "", 0
        self._filling = False
        self._filters.layout.display = None if len(items) > PAGE else "none"
        self.items = list(items)
        self._texts = [f"{item.account} {item.text}".casefold() for item in self.items]
        self.redraw()

    def choose(self, kind: str) -> None:
        """Show the rows of one kind, if there are any of it."""
        if any(kind in item.filters for item in self.items):
            self.kind.value = kind

    def reveal(self) -> None:
        """Scroll the table into view once it is drawn, and focus it."""
        self._table.opened = True

    def __repr__(self) -> str:
        return f"<{len(self.matching()):,} of {len(self.items):,} rows>"

    def matching(self) -> list[Item]:
        """Return the rows of the chosen kind that hold the text, on all pages."""
        text, kind = self.search.value.casefold().strip(), self.kind.value
        return [
            item
            for item, searched in zip(self.items, self._texts, strict=True)
            if text in searched and (not kind or kind in item.filters)
        ]

    def _turn(self, pages: int) -> None:
        """Turn so many pages; 0 goes to the first."""
        if not self._filling:
            self._make_saved_page = max(self._make_saved_page + pages, 0) if pages else 0
            self.redraw()

    def redraw(self) -> None:
        """Draw the rows of this page as they are now."""
        matching = self.matching()
        last = max(len(matching) - 1, 0) // PAGE
        self._make_saved_page = min(self._make_saved_page, last)
        first = self._make_saved_page * PAGE
        page = matching[first : first + PAGE]
        body = "".join(item.html() for item in page)
        nothing = "<p>No row is like that.</p>" if self.items else ""
        # the class names keep JupyterLab from reading $…$ in a name as mathematics
        head = f'<table class="tex2jax_ignore mathjax_ignore"><thead><tr>{self._head}</tr></thead>'
        self._table.html = f"{head}{body}</table>" if page else nothing
        self._back.disabled, self._on.disabled = (
            self._make_saved_page == 0,
            self._make_saved_page == last,
        )
        place = f"{first + 1:,} to {first + len(page):,} of {len(matching):,}"
        self._place.value = f'<span role="status">{place}</span>' if page else ""
        self._pager.layout.display = None if last else "none"
