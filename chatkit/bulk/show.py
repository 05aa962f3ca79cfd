"""Show: a plan as text and as HTML, and the counts of a result in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from itertools import chain
from textwrap import wrap
from typing import TYPE_CHECKING, Any, get_args

from chatkit.bulk.change import Change
from chatkit.bulk.line import LABEL, Line, label, lines
from chatkit.bulk.row import State
from chatkit.display import (
    LONG,
    Shown,
    columns,
    cut,
    many,
    right_to_left,
    squeezed,
    values,
    visible,
)

if TYPE_CHECKING:
    from chatkit.bulk.plan import Plan, Refused

__all__ = ["counted", "html", "text", "values"]

FEW = 8  #: changes of each kind, and refused cells, that are shown at once
MANY = 200  #: lines of an HTML table, at most
WIDTH = 100  #: columns of the text
PATIENCE = 10.0  #: seconds from which on an estimate is worth a line

#: Why changes cannot be undone exactly: how and why, with a number and what is said of it.
Losses = Mapping[tuple[str, str], tuple[int, str]]

_SIGNS = {"create": "+", "update": "~", "delete": "-", "skip": "="}
#: What stands between the two sides of a change; of a skip the right one is not written.
_ARROW, _UNLIKE = "→", "≠"
_SPELLED = re.compile("(⟨U\\+[0-9A-F]{4,6}⟩|[␣↵])")


def counted(states: Iterable[str]) -> str:
    """Say the counts of a result in words."""
    count = Counter(map(str, states))
    total = many(count.total(), "change")
    if count["applied"] == count.total() > 1:
        return f"All {total} applied."
    order = [*get_args(State), *sorted(count.keys() - {*get_args(State)})]
    said = ", ".join([f"{count[state]:,} {visible(state)}" for state in order if count[state]])
    return f"{total}: {said}." if said else f"{total}."


# --- what is told ---------------------------------------------------------------------


def heading(plan: Plan) -> str:
    """Count the plan in words."""
    setting = plan.setting
    rows = len({repr(cell.row) for cell in plan.cells})
    if not plan.changes and not rows:
        if setting.undoes:
            return "Nothing to do: 0 changes are left to take back."
        said = f"{_met(setting.met, setting.noun)}."
        return f"Nothing to do: the frame says what the account already holds. 0 changes{said}"
    of = many(setting.total, setting.noun)
    about = f"Plan that takes back a run of {setting.noun}s" if setting.undoes else f"Plan for {of}"
    found = [many(count, kind) for kind, count in plan.counts.items() if count] or ["0 changes"]
    if skipped := len(plan.changes) - sum(plan.counts.values()):
        found.append(f"{skipped:,} skipped")
    met = _met(setting.met, setting.noun)
    refused = f"; {many(rows, 'row')} refused" if rows else ""
    return f"{about}: {', '.join(found)}{met}{refused}."


def _met(count: int, noun: str) -> str:
    """Say how many rows without a key met a record that exists."""
    meet = "meets" if count == 1 else "meet"
    return f"; {many(count, 'row')} {meet} an existing {noun}" if count else ""


def losses_of(plan: Plan) -> Losses:
    """Number the reasons why changes cannot be undone exactly, and say each with its count."""
    changes = chain.from_iterable(by_kind(plan))
    count = Counter((c.undo, c.loss) for c in changes if c.undo != "exactly")
    ends = {"never": "can never be undone", "with loss": "can be undone only with loss"}
    return {
        (undo, loss): (n, f"[{n}] {count[undo, loss]:,} {ends[undo]}: {visible(loss)}.")
        for n, (undo, loss) in enumerate(count, 1)
    }


def notes_of(plan: Plan) -> list[str]:
    """Say what else is to be known before it is applied."""
    losses = [said for _, said in losses_of(plan).values()]
    if len(losses) > FEW:
        rest = f"… and {many(len(losses) - FEW, 'more reason')}: plan.frame() has them all."
        losses[FEW:] = [rest]
    told = [*losses, *(visible(note) for note in plan.notes)]
    if plan.changes and (seconds := plan.seconds()) >= PATIENCE:
        told.append(f"It takes {_duration(seconds)} at 8 calls at once.")
    return told


def _duration(seconds: float) -> str:
    for size, noun in ((3600, "hour"), (60, "minute")):
        if seconds >= 1.5 * size:
            return f"about {many(round(seconds / size), noun)}"
    return f"about {many(10 * round(seconds / 10), 'second')}"


def by_kind(plan: Plan) -> list[list[Change]]:
    """Put the changes of each kind together."""
    kinds = [[change for change in plan.changes if change.kind == kind] for kind in _SIGNS]
    return [changes for changes in kinds if changes]


def row_label(row: Any) -> str:
    """Show what a frame calls a row."""
    return cut(" / ".join(map(str, row)) if isinstance(row, tuple) else str(row), LABEL)


# --- as text --------------------------------------------------------------------------


def text(plan: Plan) -> str:
    """Show a plan in a terminal, or to whoever compares outputs: the same plan, the same text."""
    told = [line for said in notes_of(plan) for line in wrapped("", said)]
    blocks = [[heading(plan)], _changes(plan), _cells(plan), told, _end(plan)]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _changes(plan: Plan) -> list[str]:
    losses, kinds = losses_of(plan), by_kind(plan)
    names = {id(c): label(c) + _footnote(c, losses) for kind in kinds for c in kind[:FEW]}
    width = max(map(columns, names.values()), default=0)
    said = []
    for changes in kinds:
        kind = changes[0].kind
        for change in changes[:FEW]:
            name = names[id(change)]
            head = f"  {_SIGNS[kind]} {name}{' ' * (width - columns(name))}  "
            body = _body(change, WIDTH - width - 6)
            said.append((head + "".join(body[:1])).rstrip())
            said += [" " * (width + 6) + part for part in body[1:]]
        if (more := len(changes) - FEW) > 0:
            rest = f"{more:,} more skipped" if kind == "skip" else many(more, f"more {kind}")
            said.append(f"    … and {rest}: plan.frame() has them all")
    return said


def _footnote(change: Change, losses: Losses) -> str:
    number, _ = losses.get((change.undo, change.loss), (0, ""))
    return f" [{number}]" if number else ""


def _body(change: Change, room: int) -> list[str]:
    """Write the fields of a change: each on a line of its own if it has two sides."""
    said: list[str] = []
    for field, before, after in lines(change):
        name = f"{squeezed(field, LABEL)}: " if field else ""
        one = f"{name}{before or after}"
        if before and after:
            arrow = _UNLIKE if change.kind == "skip" else _ARROW
            said += sides(name, before, after, room, arrow)
        elif said and change.kind in ("create", "delete") and columns(said[-1] + one) + 2 <= room:
            said[-1] += f", {one}"
        else:
            said.append(one)
    return said


def sides(name: str, before: Shown, after: Shown, room: int, arrow: str = _ARROW) -> list[str]:
    """Write both sides; below each other if they are long, or if → could be read backwards."""
    whole = f"{name}{before} {arrow} {after}"
    if columns(whole) <= room and not right_to_left(f"{before}{after}"):
        return [whole]
    return [f"{name}{before}", f"{f'{arrow} ':>{columns(name)}}{after}"]


def _cells(plan: Plan) -> list[str]:
    said = ["Refused:"] if plan.cells else []
    for row, column, value, reason, step in plan.cells[:FEW]:
        place = [f"row {row_label(row)}", *([cut(column, LABEL)] if column else [])]
        what = f"{', '.join(place)} = {cut(value, 2 * LONG)}" if value else ", ".join(place)
        said += wrapped("  ", f"{what}: {visible(reason)}")
        said += wrapped("    -> ", visible(step))
    if (more := len(plan.cells) - FEW) > 0:
        said.append(f"  … and {more:,} more: plan.refused has them all")
    return said


def _end(plan: Plan) -> list[str]:
    if objections := plan.objections():
        said = [line for one in objections for line in wrapped("  - ", visible(one))]
        return ["It refuses itself:", *said]
    return ["plan.apply() does it."] if any(plan.counts.values()) else []


def wrapped(lead: str, text: str) -> list[str]:
    """Break a sentence into lines that begin below each other."""
    width = WIDTH - len(lead)
    parts = wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return [(lead if n == 0 else " " * len(lead)) + part for n, part in enumerate(parts)]


# --- as HTML --------------------------------------------------------------------------

STYLE = """
.chatkit-plan.chatkit-plan { max-width: 72em; }
.chatkit-plan.chatkit-plan p { margin: 0.6em 0; }
.chatkit-plan.chatkit-plan table { border-collapse: collapse; margin: 0.6em 0; table-layout: fixed;
  width: 100%; }
.chatkit-plan.chatkit-plan tbody { border-top: 1px solid var(--jp-border-color2, #8886); }
.chatkit-plan.chatkit-plan tr:nth-child(n) { background: none; }
.chatkit-plan.chatkit-plan :is(td, th) { border: none; max-width: none; overflow: hidden;
  overflow-wrap: anywhere; padding: 0.3em 1em 0.3em 0; text-align: left; vertical-align: top;
  white-space: pre-wrap; }
.chatkit-plan.chatkit-plan tbody th { font-weight: 600; }
.chatkit-plan thead th, .chatkit-plan :is(i, sup) { color: var(--jp-ui-font-color2, #767676);
  font-weight: normal; }
.chatkit-plan :is(del, ins) { border-radius: 2px; margin: 0 -2px; padding: 0 2px; }
.chatkit-plan del { background: rgba(229, 57, 53, 0.18); }
.chatkit-plan ins { background: rgba(67, 160, 71, 0.22); }
.chatkit-plan mark { background: none; color: inherit; display: inline-block; font-size: 85%; }
.chatkit-plan sup { font-size: 85%; vertical-align: baseline; }
.chatkit-plan b { display: inline-block; width: 1em; }
.chatkit-plan .create { color: var(--jp-success-color1, #388e3c); }
.chatkit-plan .update { color: var(--jp-info-color1, #0288d1); }
.chatkit-plan .delete { color: var(--jp-error-color1, #d32f2f); }
.chatkit-plan summary { cursor: pointer; }
.chatkit-plan.chatkit-plan ul { list-style: none; margin: 0.6em 0; padding: 0; }
.chatkit-plan .objections { border-left: 3px solid var(--jp-warn-color1, #f57c00);
  padding-left: 1em; }
"""
_REFUSED = {"row": 10, "column": 13, "value": 23, "reason": 27, "next step": 27}


def html(plan: Plan) -> str:
    """Show a plan in JupyterLab, light and dark; it can be read without its style too."""
    losses, kinds = losses_of(plan), by_kind(plan)
    room = MANY // max(len(kinds), 1)  # a few deletes are not to hide behind many creates
    rows = [html_changes(changes, losses, room) for changes in kinds]
    first = [row for kind in rows for row in kind[:FEW]]
    more = [row for kind in rows for row in kind[FEW:]]
    cells = [_html_refused(cell) for cell in plan.cells[:MANY]]
    widths = {"change": 10, plan.setting.noun: 22, "field": 16, "before": 26, "after": 26}
    does = "<p><code>plan.apply()</code> does it.</p>" if any(plan.counts.values()) else ""
    objections = [visible(said) for said in plan.objections()]
    parts = [
        f"<style>{STYLE}</style><p><strong>{escaped(heading(plan))}</strong></p>",
        html_tables(widths, first, more, len(plan.changes), "plan.frame()"),
        "<p><strong>Refused</strong></p>" if cells else "",
        html_tables(_REFUSED, cells[:FEW], cells[FEW:], len(plan.cells), "plan.refused"),
        html_list("told", "", notes_of(plan)),
        html_list("objections", "It refuses itself:", objections) or does,
    ]
    # the class names keep JupyterLab from reading $…$ in a name as mathematics
    return f'<div class="chatkit-plan tex2jax_ignore mathjax_ignore">{"".join(parts)}</div>'


def escaped(text: str) -> str:
    """Escape a visible text; what is spelled out in it stands back, and a path may be broken."""
    return _SPELLED.sub(r"<mark>\1</mark>", escape(text).replace("/", "/<wbr>"))


def html_tables(
    widths: Mapping[str, int], first: list[str], more: list[str], total: int, where: str
) -> str:
    """Make a table of the first rows and a folded one, with the same columns, of more."""
    names = "".join(f'<th scope="col" style="width: {w}%">{n}</th>' for n, w in widths.items())
    head = f"<table><thead><tr>{names}</tr></thead>"
    table = f"{head}{''.join(first)}</table>" if first else ""
    if not more:
        return table
    unseen = total - len(first) - len(more)
    summary = f"{total - len(first):,} more" + (f", {len(more):,} of them here" if unseen else "")
    rest = f"<p>… and {unseen:,} more: <code>{where}</code> has them all.</p>" if unseen else ""
    folded = f"<summary>{summary}</summary>{head}{''.join(more)}</table>{rest}"
    return f"{table}<details>{folded}</details>"


def html_changes(changes: list[Change], losses: Losses, room: int) -> list[str]:
    """Make a table body of each change, as long as there is room for its lines."""
    bodies = []
    for change in changes:
        fields = lines(change) or [Line("", None, None)]
        room -= len(fields)
        if room < 0:
            break
        span = f' rowspan="{len(fields)}"'
        note = _footnote(change, losses)
        note = f"<sup>{note}</sup>" if note else ""
        kind = change.kind
        old, new = ("ins", "del") if kind == "skip" else ("del", "ins")  # what is, what is not
        head = (
            f'<td{span}><b class="{kind}">{_SIGNS[kind]}</b> {kind}</td>'
            f'<th{span} scope="rowgroup" dir="auto">{escaped(label(change))}{note}</th>'
        )
        rows = [
            f'<td dir="auto">{escaped(squeezed(line.field, LABEL))}</td>'
            f"{html_side(line.before, old)}{html_side(line.after, new)}"
            for line in fields
        ]
        bodies.append(f"<tbody><tr>{head}{'</tr><tr>'.join(rows)}</tr></tbody>")
    return bodies


def html_side(side: Shown | None, tag: str) -> str:
    """Make the cell of one side of a change; what differs stands in the tag."""
    if side is None:
        return "<td></td>"
    if side.kind == "words":
        return f"<td><i>{escaped(side.text)}</i></td>"
    text = f"<{tag}>{escaped(side.text)}</{tag}>" if side.text else ""
    return f'<td dir="auto">{escaped(side.head)}{text}{escaped(side.tail)}</td>'


def _html_refused(cell: Refused) -> str:
    texts = [
        row_label(cell.row),
        cut(cell[1], LABEL),
        cut(cell[2], 2 * LONG),
        *map(visible, cell[3:]),
    ]
    row = "".join([f'<td dir="auto">{escaped(part)}</td>' for part in texts])
    return f"<tbody><tr>{row}</tr></tbody>"


def html_list(name: str, heading: str, lines: list[str]) -> str:
    """Make a list of lines; nothing without any."""
    items = "".join([f"<li>{escaped(line)}</li>" for line in lines])
    title = f"<strong>{heading}</strong>" if heading else ""
    return f'<div class="{name}">{title}<ul>{items}</ul></div>' if items else ""
