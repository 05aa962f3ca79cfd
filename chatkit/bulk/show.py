"""Show: a plan as text and as HTML, and the counts of a result in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from chatkit.bulk.change import Change
from chatkit.bulk.row import State
from chatkit.bulk.value import (
    LONG,
    Shown,
    columns,
    cut,
    differences,
    many,
    pair,
    right_to_left,
    shown,
    small,
    values,
    visible,
    words,
)
from chatkit.secret import MASK

if TYPE_CHECKING:
    from chatkit.bulk.plan import Plan, Refused

__all__ = ["counted", "html", "text", "values"]

FEW = 8  #: changes of each kind, and refused cells, that are shown at once
MANY = 200  #: lines of an HTML table, at most
FIELDS, DEPTH = 8, 3  #: lines of one change, and of one nested value in it
LABEL, WIDTH = 48, 100  #: columns of a label and of a line, as text
PATIENCE = 10.0  #: seconds from which on an estimate is worth a line

#: Why changes cannot be undone exactly: how and why, with a number and what is said of it.
Losses = Mapping[tuple[str, str], tuple[int, str]]

_SIGNS = {"create": "+", "update": "~", "delete": "-"}
_SECRET = re.compile("secret|token|password|authorization", re.IGNORECASE)
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


def _heading(plan: Plan) -> str:
    """Count the plan in words."""
    setting = plan.setting
    rows = len({repr(cell.row) for cell in plan.cells})
    if not plan.changes and not rows:
        if setting.undoes:
            return "Nothing to do: 0 changes are left to take back."
        return "Nothing to do: the frame says what the account already holds. 0 changes."
    of = many(setting.total, setting.noun)
    about = f"Plan that takes back a run of {setting.noun}s" if setting.undoes else f"Plan for {of}"
    found = [f"{count:,} {kind}" for kind, count in plan.counts.items() if count]
    refused = f"; {many(rows, 'row')} refused" if rows else ""
    return f"{about}: {', '.join(found) or '0 changes'}{refused}."


def _losses(plan: Plan) -> Losses:
    """Number the reasons why changes cannot be undone exactly, and say each with its count."""
    changes = chain.from_iterable(_kinds(plan))
    count = Counter((c.undo, c.loss) for c in changes if c.undo != "exactly")
    ends = {"never": "can never be undone", "with loss": "can be undone only with loss"}
    return {
        (undo, loss): (n, f"[{n}] {count[undo, loss]:,} {ends[undo]}: {visible(loss)}.")
        for n, (undo, loss) in enumerate(count, 1)
    }


def _told(plan: Plan) -> list[str]:
    """Say what else is to be known before it is applied."""
    losses = [said for _, said in _losses(plan).values()]
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


# --- what changes ---------------------------------------------------------------------


class Line(NamedTuple):
    """One field of a change. A side that there is not is None."""

    field: str
    before: Shown | None
    after: Shown | None


def _lines(change: Change) -> list[Line]:
    """Show the fields of a change; what its label says already is not said again."""
    if change.kind == "update":
        lines = [line for name in change.after for line in _updated(change, name)]
    else:
        new = change.kind == "create"
        told = (*change.label.split(), change.label, change.code)
        fields = {n: v for n, v in (change.after or change.before).items() if v not in told}
        sides = [(n, _one(n, v)) for n, v in fields.items() if new or v not in (None, "", [], {})]
        lines = [Line(n, None, side) if new else Line(n, side, None) for n, side in sides]
    return lines[:FIELDS] + _rest("", len(lines) - FIELDS, "more field")


def _updated(change: Change, name: str) -> list[Line]:
    """Show what becomes of one field: whole if it is small, else the places that differ."""
    after = change.after[name]
    if name not in change.before or _secret(name, after):
        return [Line(name, words(MASK), _one(name, after))]
    before = change.before[name]
    places = [] if small(before) and small(after) else list(differences(name, before, after))
    shown_first = places[:DEPTH] or [(name, before, after)]
    lines = [Line(place, *pair(a, b)) for place, a, b in shown_first]
    return lines + _rest(name, len(places) - DEPTH, "more difference")


def _rest(field: str, count: int, noun: str) -> list[Line]:
    return [Line(field, None, words(f"… and {many(count, noun)}"))] if count > 0 else []


def _one(name: str, value: Any) -> Shown:
    return words(MASK) if _secret(name, value) else shown(value)


def _secret(name: str, value: Any) -> bool:
    return isinstance(value, str) and _SECRET.search(name) is not None


def _label(change: Change) -> str:
    """Name the record of a change, with its template code if there is one."""
    code = change.code if change.code and change.code not in change.label.split() else ""
    return cut(f"{code} {change.label}".strip(), LABEL)


def _kinds(plan: Plan) -> list[list[Change]]:
    """Put the changes of each kind together."""
    kinds = [[change for change in plan.changes if change.kind == kind] for kind in _SIGNS]
    return [changes for changes in kinds if changes]


def _row(row: Any) -> str:
    return cut(" / ".join(map(str, row)) if isinstance(row, tuple) else str(row), LABEL)


# --- as text --------------------------------------------------------------------------


def text(plan: Plan) -> str:
    """Show a plan in a terminal, or to whoever compares outputs: the same plan, the same text."""
    blocks = [[_heading(plan)], _changes(plan), _cells(plan), _told(plan), _end(plan)]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _changes(plan: Plan) -> list[str]:
    losses = _losses(plan)
    kinds = _kinds(plan)
    labels = {id(c): _label(c) + _footnote(c, losses) for k in kinds for c in k[:FEW]}
    width = max(map(columns, labels.values()), default=0)
    lines = []
    for changes in kinds:
        sign = _SIGNS[changes[0].kind]
        for change in changes[:FEW]:
            label = labels[id(change)]
            heads = chain(
                [f"  {sign} {label}{' ' * (width - columns(label))}  "], repeat(" " * (width + 6))
            )
            said = [part for line in _lines(change) for part in _said(line, WIDTH - width - 6)]
            lines += [
                (head + part).rstrip() for head, part in zip(heads, said or [""], strict=False)
            ]
        if (more := len(changes) - FEW) > 0:
            kind = many(more, f"more {changes[0].kind}")
            lines.append(f"    … and {kind}: plan.frame() has them all")
    return lines


def _footnote(change: Change, losses: Losses) -> str:
    number, _ = losses.get((change.undo, change.loss), (0, ""))
    return f" [{number}]" if number else ""


def _said(line: Line, room: int) -> list[str]:
    """Write a line; in two where it is long, or where → could be read from right to left."""
    field, before, after = line
    name = f"{cut(field, LABEL)}: " if field else ""
    if before is None or after is None:
        return [f"{name}{before or after}"]
    whole = f"{name}{before} → {after}"
    if columns(whole) <= room and not right_to_left(f"{before}{after}"):
        return [whole]
    return [f"{name}{before}", f"{'→ ':>{columns(name)}}{after}"]


def _cells(plan: Plan) -> list[str]:
    lines = ["Refused:"] if plan.cells else []
    for row, column, value, reason, step in plan.cells[:FEW]:
        where = f"row {_row(row)}" + (f", {cut(column, LABEL)}" if column else "")
        lines.append(f"  {where} = {cut(value, LONG)}: {visible(reason)}")
        lines += [f"    -> {visible(step)}"] if step else []
    if (more := len(plan.cells) - FEW) > 0:
        lines.append(f"  … and {more:,} more: plan.refused has them all")
    return lines


def _end(plan: Plan) -> list[str]:
    if objections := plan.objections():
        return ["It refuses itself:", *(f"  - {visible(said)}" for said in objections)]
    return ["plan.apply() does it."] if plan.changes else []


# --- as HTML --------------------------------------------------------------------------

_STYLE = """
.chatkit-plan.chatkit-plan { max-width: 72em; }
.chatkit-plan.chatkit-plan p { margin: 0.6em 0; }
.chatkit-plan.chatkit-plan table { border-collapse: collapse; margin: 0.6em 0; table-layout: fixed;
  width: 100%; }
.chatkit-plan.chatkit-plan tbody { border-top: 1px solid var(--jp-border-color2, #8886); }
.chatkit-plan.chatkit-plan tr { background: none; }
.chatkit-plan.chatkit-plan :is(td, th) { border: none; max-width: none; overflow: hidden;
  overflow-wrap: anywhere; padding: 0.3em 1em 0.3em 0; text-align: left; vertical-align: top;
  white-space: pre-wrap; }
.chatkit-plan.chatkit-plan tbody th { font-weight: 600; }
.chatkit-plan thead th, .chatkit-plan :is(i, mark, sup) { color: var(--jp-ui-font-color2, #767676);
  font-weight: normal; }
.chatkit-plan :is(del, ins) { border-radius: 2px; margin: 0 -2px; padding: 0 2px; }
.chatkit-plan del { background: rgba(229, 57, 53, 0.18); }
.chatkit-plan ins { background: rgba(67, 160, 71, 0.22); }
.chatkit-plan mark { background: none; display: inline-block; font-size: 85%; }
.chatkit-plan summary { cursor: pointer; }
.chatkit-plan.chatkit-plan ul { list-style: none; margin: 0.6em 0; padding: 0; }
.chatkit-plan .objections { border-left: 3px solid var(--jp-warn-color1, #f57c00);
  padding-left: 1em; }
"""
_REFUSED = {"row": 10, "column": 13, "value": 23, "reason": 27, "next step": 27}


def html(plan: Plan) -> str:
    """Show a plan in JupyterLab, light and dark; it can be read without its style too."""
    losses, kinds = _losses(plan), _kinds(plan)
    room = MANY // max(len(kinds), 1)  # a few deletes are not to hide behind many creates
    rows = [_html_changes(changes, losses, room) for changes in kinds]
    first = [row for kind in rows for row in kind[:FEW]]
    more = [row for kind in rows for row in kind[FEW:]]
    cells = [_html_refused(cell) for cell in plan.cells[:MANY]]
    widths = {"change": 10, plan.setting.noun: 22, "field": 16, "before": 26, "after": 26}
    does = "<p><code>plan.apply()</code> does it.</p>" if plan.changes else ""
    objections = [visible(said) for said in plan.objections()]
    parts = [
        f"<style>{_STYLE}</style><p><strong>{_html(_heading(plan))}</strong></p>",
        _html_tables(widths, first, more, len(plan.changes), "plan.frame()"),
        "<p><strong>Refused</strong></p>" if cells else "",
        _html_tables(_REFUSED, cells[:FEW], cells[FEW:], len(plan.cells), "plan.refused"),
        _html_list("told", "", _told(plan)),
        _html_list("objections", "It refuses itself:", objections) or does,
    ]
    # the class names keep JupyterLab from reading $…$ in a name as mathematics
    return f'<div class="chatkit-plan tex2jax_ignore mathjax_ignore">{"".join(parts)}</div>'


def _html(text: str) -> str:
    """Escape a visible text; what is spelled out in it stands back a little."""
    return _SPELLED.sub(r"<mark>\1</mark>", escape(text))


def _html_tables(
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


def _html_changes(changes: list[Change], losses: Losses, room: int) -> list[str]:
    """Make a table body of each change, as long as there is room for its lines."""
    bodies = []
    for change in changes:
        lines = _lines(change) or [Line("", None, None)]
        room -= len(lines)
        if room < 0:
            break
        span = f' rowspan="{len(lines)}"'
        note = _footnote(change, losses)
        note = f"<sup>{note}</sup>" if note else ""
        head = (
            f"<td{span}>{_SIGNS[change.kind]} {change.kind}</td>"
            f'<th{span} scope="rowgroup" dir="auto">{_html(_label(change))}{note}</th>'
        )
        rows = [
            f'<td dir="auto">{_html(cut(line.field, LABEL)).replace("/", "/<wbr>")}</td>'
            f"{_html_side(line.before, 'del')}{_html_side(line.after, 'ins')}"
            for line in lines
        ]
        bodies.append(f"<tbody><tr>{head}{'</tr><tr>'.join(rows)}</tr></tbody>")
    return bodies


def _html_side(side: Shown | None, tag: str) -> str:
    if side is None:
        return "<td></td>"
    if side.kind == "words":
        return f"<td><i>{_html(side.text)}</i></td>"
    text = f"<{tag}>{_html(side.text)}</{tag}>" if side.text else ""
    return f'<td dir="auto">{_html(side.head)}{text}{_html(side.tail)}</td>'


def _html_refused(cell: Refused) -> str:
    texts = [_row(cell.row), *(cut(part, LONG) for part in cell[1:3]), *map(visible, cell[3:])]
    row = "".join([f'<td dir="auto">{_html(part)}</td>' for part in texts])
    return f"<tbody><tr>{row}</tr></tbody>"


def _html_list(name: str, heading: str, lines: list[str]) -> str:
    items = "".join([f"<li>{_html(line)}</li>" for line in lines])
    return f'<div class="{name}">{heading}<ul>{items}</ul></div>' if items else ""
