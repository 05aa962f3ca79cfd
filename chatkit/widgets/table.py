"""Table of many rows in pages, with filters: plans, results, runs and accounts are shown in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from chatkit.report import MANY, SEVERITIES, STYLE, html_heading, html_tables, marked
from chatkit.util.display import compare_words, escaped, visible
from chatkit.widgets.controls import join_styles
from chatkit.widgets.fields import Choice, Control, FormGroup, Html, RepeatButton, Text

PAGE = 10  #: rows that are shown at once
_FOLD_AFTER = 600  #: characters of a text that are seen before somebody asks for all of it
_AROUND = 60  #: characters that are seen on both sides of what is the same in a long text
_COMPARED = 20_000  #: characters of two texts that are compared word by word
_LOOK = STYLE + join_styles("planview.css")  #: of a saved page
_SIGNS = {"error": "✗", "warning": "!", "note": "i"}


def draw_changed_words(before: str, after: str) -> tuple[str, str]:
    """Write two texts as HTML; the words that the other does not have are marked in each.

    Long parts are folded: what has the class `ck-far` is seen once the row is unfolded.
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
    """Return findings as an HTML list with icons and severities, the worst first; "" without any.

    Args:
        findings: Of each how severe it is and the message; then what to do, and another word for
            how severe it is.
    """
    items = []
    for each in sorted(findings, key=lambda one: SEVERITIES.index(one[0])):
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
        account = f' data-account="{escaped(self.account)}"' if self.account else ""
        return f'<tbody class="{looks}"{account}><tr>{"</tr><tr>".join(lines)}</tr></tbody>'


_LINES = 8  #: lines of a row that are shown before somebody asks for all


def fold_lines(lines: Sequence[str], name: str) -> tuple[list[str], str]:
    """Fold the lines of a row after the first ones; return them, and what unfolds the row.

    The style does that, so it works without a kernel too.

    Args:
        lines: The lines, each as cells of HTML.
        name: The name of the row.
    """
    folded = [line.replace("<td", "<td data-far", 1) for line in lines[_LINES:]]
    lines = [*lines[:_LINES], *folded]
    if not any("ck-far" in line or "data-far" in line for line in lines):
        return lines, ""
    words = f'class="chatkit-button small" aria-label="Show all of {escape(name)}"'
    return lines, f"<details><summary {words}>Show all</summary></details>"


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


def draw_saved_view(heading: str, *parts: str) -> str:
    """Return a saved page of a view with rows: its headline, and parts of HTML."""
    html = "".join([html_heading(heading), *parts])
    return f'<style>{_LOOK}</style><div class="chatkit-plan chatkit-planview">{html}</div>'


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


class RowsTable(Control):
    """A table of escaped HTML with buttons in its rows.

    Args:
        label: The accessible name of a table that is wider than its place.
        act: What a click calls, with what its button does and of which row.
    """

    kind = "table"

    def __init__(self, label: str, act: Callable[[str, str], object] | None = None) -> None:
        super().__init__(label, "")
        self._act = act

    def enter(self, value: Any) -> bool:
        """Do what a button in a row is for."""
        match value:
            case {"act": str(act), "row": str(row)} if self._act is not None:
                self._act(act, row)
        return False


class PagedRows(FormGroup):
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
        self._filter, self._search = Choice("Show", {"": ""}), Text("that hold", "any text")
        self._filter.entered = self._search.entered = lambda: self._turn_to(0)
        self._table, self._place = RowsTable(label, act), Html()
        self._back = RepeatButton("Previous", lambda: self._turn_to(self._page - 1))
        self._on = RepeatButton("Next", lambda: self._turn_to(self._page + 1))
        self._filters = FormGroup([self._filter, self._search], css="chatkit-bar", row=True)
        pager = [self._back, self._on, self._place]
        self._pager = FormGroup(pager, css="chatkit-bar", row=True)
        super().__init__([self._filters, self._table, self._pager], css="chatkit-plan")
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
        chosen = self._filter.read() if stay else ""
        named = {f"{name} {number:,}": name for name, number in counts.items()}
        self._filter.offer({f"all {len(items):,}": "", **named})
        self._filter.show(chosen if chosen in counts else "")
        if not stay:
            self._search.value = ""
        self._filters.hidden = len(items) <= PAGE
        self.items = list(items)
        self._texts = [f"{item.account} {item.text}".casefold() for item in self.items]
        self._turn_to(self._page if stay else 0)

    def choose(self, kind: str) -> None:
        """Show the rows of one kind, if there are any of it."""
        if any(kind in item.filters for item in self.items):
            self._filter.show(kind)
            self._turn_to(0)

    def __repr__(self) -> str:
        return f"<{len(self.matching()):,} of {len(self.items):,} rows>"

    def matching(self) -> list[Item]:
        """Return the rows of the chosen kind that hold the text, on all pages."""
        text, kind = self._search.value.casefold().strip(), self._filter.read()
        return [
            item
            for item, searched in zip(self.items, self._texts, strict=True)
            if text in searched and (not kind or kind in item.filters)
        ]

    def _turn_to(self, number: int) -> None:
        """Draw a page of the rows as they are now, or the nearest one that there is."""
        matching = self.matching()
        last = max(len(matching) - 1, 0) // PAGE
        self._page = min(max(number, 0), last)
        first = self._page * PAGE
        page = matching[first : first + PAGE]
        body = "".join(item.html() for item in page)
        nothing = "<p>No row is like that.</p>" if self.items else ""
        # the class names keep JupyterLab from reading $…$ in a name as mathematics
        head = f'<table class="tex2jax_ignore mathjax_ignore"><thead><tr>{self._head}</tr></thead>'
        self._table.value = f"{head}{body}</table>" if page else nothing
        self._back.disabled, self._on.disabled = self._page == 0, self._page == last
        place = f"{first + 1:,} to {first + len(page):,} of {len(matching):,}"
        self._place.value = f'<span role="status">{place}</span>' if page else ""
        self._pager.hidden = not last
