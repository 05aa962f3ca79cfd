"""Render plans as text and HTML; plans, results, journals and runs as DataFrames."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, get_args

import pandas as pd

from chatkit.api.secret import MASK, SECRET
from chatkit.bulk.changes import Change, by_resource, count_kinds, memory_needed
from chatkit.bulk.outcomes import Row, State
from chatkit.frames.snapshot import read_origin, write_origin
from chatkit.report import (
    ARROW,
    FEW,
    LABEL,
    MANY,
    WIDTH,
    FindingNote,
    ReportPart,
    both_values,
    html_heading,
    html_list,
    html_tables,
    html_value,
    marked,
    row_label,
    wrapped,
)
from chatkit.util.display import (
    LONG,
    RenderedValue,
    columns,
    cut,
    cut_middle,
    differences,
    duration,
    is_small,
    many,
    render_change,
    render_value,
    visible,
    words,
)

if TYPE_CHECKING:
    from chatkit.bulk.plan import Left, Plan, RefusedCell

PATIENCE = 10.0  #: seconds from which on an estimate is worth a line
FIELDS, DEPTH = 8, 3  #: lines of one change, and of one nested value in it
#: Why changes cannot be undone exactly: how and why, with a number and what is said of it.
Losses = Mapping[tuple[str, str], tuple[int, str]]
Names = Sequence[str | None]
_SIGNS = {"create": "+", "update": "~", "delete": "-", "skip": "="}
_FOR_ACCOUNT = "Plan for the account"
#: What stands between the two sides of a skip: the right one is not written.
_NOT_EQUAL = "≠"


# --- a plan in words ------------------------------------------------------------------


def heading(plan: Plan) -> str:
    """Count the plan in words."""
    setting = plan._setting
    rows = len({repr(cell.row) for cell in plan._cells})
    if not plan.changes and not rows:
        if setting.undoes:
            return "Nothing to do: 0 changes are left to take back."
        end = f"{_met(setting.met, setting.noun)}."
        if plan.notes:  # they tell what was not taken, and why
            return f"Nothing to do: 0 changes{end}"
        source = "what is planned" if setting.parts else "the frame"
        return f"Nothing to do: the account already matches {source}. 0 changes{end}"
    refused = f"; {many(rows, 'row')} refused" if rows else ""
    if setting.parts:
        counts = [many(len(part), noun) for noun, part in _by_resource(plan).items()] or [
            "0 changes"
        ]
        about = "Plan that takes back a run of the account" if setting.undoes else _FOR_ACCOUNT
        return f"{about}: {', '.join(counts)}{refused}."
    of = many(setting.total, setting.noun)
    about = f"Plan that takes back a run of {setting.noun}s" if setting.undoes else f"Plan for {of}"
    met = _met(setting.met, setting.noun)
    return f"{about}: {_kinds_counted(plan.changes)}{met}{refused}."


def _kinds_counted(changes: Sequence[Change]) -> str:
    """Count changes in words, kind by kind."""
    counts = [many(count, kind) for kind, count in count_kinds(changes).items() if count]
    skipped = sum(change.kind == "skip" for change in changes)
    return ", ".join((counts or ["0 changes"]) + ([f"{skipped:,} skipped"] if skipped else []))


def _by_resource(plan: Plan) -> dict[str, list[Change]]:
    return by_resource(plan.changes, plan._setting.noun)


def run_heading(plan: Plan) -> str:
    """Count what a run means to do in words."""
    setting = plan._setting
    counts = [many(count, kind) for kind, count in plan.counts.items() if count]
    about = "Run that takes back another, of" if setting.undoes else "Run of"
    of = [many(len(part), noun) for noun, part in _by_resource(plan).items()]
    return f"{about} {', '.join(of) or many(0, 'change')}: {', '.join(counts) or '0 changes'}."


def _met(count: int, noun: str) -> str:
    """Count the rows without a key that met a record that exists."""
    meet = "meets" if count == 1 else "meet"
    return f"; {many(count, 'row')} {meet} an existing {noun}" if count else ""


def losses_of(plan: Plan) -> Losses:
    """Return the reasons why changes cannot be undone exactly, numbered, each with its count."""
    count = Counter[tuple[str, str]](
        (change.undo, change.loss)
        for changes in by_kind(plan)
        for change in changes
        if change.undo != "exactly"
    )
    exact = "can never be undone", "cannot be restored exactly"
    return {
        (undo, loss): (
            n,
            f"[{n}] {count[undo, loss]:,} {exact[undo != 'never']}: {visible(loss)}.",
        )
        for n, (undo, loss) in enumerate(count, 1)
    }


def notes_of(plan: Plan) -> list[str]:
    """List what else is to be known before it is applied."""
    losses = [estimate for _, estimate in losses_of(plan).values()]
    if len(losses) > FEW:
        rest = f"… and {many(len(losses) - FEW, 'more reason')}: plan.frame() has them all."
        losses[FEW:] = [rest]
    notes = [*losses, *(visible(note) for note in plan.notes)]
    if plan.changes and (seconds := plan.seconds) >= PATIENCE:
        estimate = f"It takes {duration(seconds)} at {plan._target.transport.pace()}"
        if (quick := plan._target.transport.pace().seconds(plan.calls("page"))) < 0.8 * seconds:
            page = plan._target.transport.profile.max_page_size
            gap = quick * min(1.0, page / len(plan.changes))
            estimate += (
                f", {duration(quick)} with apply(gap='page'), which reads {page} records at a "
                f"time, up to {gap:.1f} s before it writes them"
            )
        memory = memory_needed(len(plan.changes))
        notes.append(f"{estimate}, and {memory}." if memory else f"{estimate}.")
    return notes


def row_notes(plan: Plan) -> set[str]:
    """Return the notes about findings in rows."""
    return {visible(note) for note in plan.notes if isinstance(note, FindingNote)}


def by_kind(plan: Plan) -> list[list[Change]]:
    """Put the changes of each kind together, of each resource where there are several."""
    kinds: dict[tuple[str | None, str], list[Change]] = {}
    for n in order_by_kind(plan):
        change = plan.changes[n]
        kinds.setdefault((change.noun, change.kind), []).append(change)
    return list(kinds.values())


def order_by_kind(plan: Plan) -> list[int]:
    """Return the numbers of the changes in the order in which `by_kind` shows them."""
    nouns, kinds = list(dict.fromkeys(each.noun for each in plan.changes)), list(_SIGNS)
    ranks = [(nouns.index(each.noun), kinds.index(each.kind)) for each in plan.changes]
    return sorted(range(len(ranks)), key=ranks.__getitem__)


def state_counts(states: Iterable[str]) -> str:
    """Return the counts of a result in words."""
    count = Counter(map(str, states))
    total = many(count.total(), "change")
    if count["applied"] == count.total() > 1:
        return f"All {total} applied."
    order = [*get_args(State), *sorted(count.keys() - {*get_args(State)})]
    counts = ", ".join([f"{count[state]:,} {visible(state)}" for state in order if count[state]])
    return f"{total}: {counts}." if counts else f"{total}."


# --- one change, field by field -------------------------------------------------------


class Line(NamedTuple):
    """One field of a change. A side that there is not is None."""

    field: str
    before: RenderedValue | None
    after: RenderedValue | None


def change_lines(change: Change, *, whole: bool = False) -> list[Line]:
    """Show the fields of a change; what its label says already is not said again.

    Args:
        change: What is changed.
        whole: Whether all fields and all places that differ are shown, with texts in full.
    """
    if change.kind in ("update", "skip"):
        lines = [line for name in change.after for line in _updated(change, name, whole)]
    else:
        new = change.kind == "create"
        seen = change.label if len(change.label) <= LABEL else ""
        in_label = (seen, *re.split("[ /]", seen), change.code)
        fields = {n: v for n, v in (change.after or change.before).items() if v not in in_label}
        values = [(n, v) for n, v in fields.items() if new or v not in (None, "", [], {})]
        texts = [(n, _with_whole(_one(n, v), v) if whole else _one(n, v)) for n, v in values]
        lines = [Line(n, None, text) if new else Line(n, text, None) for n, text in texts]
    return lines if whole else lines[:FIELDS] + _rest("", len(lines) - FIELDS, "more field")


def _updated(change: Change, name: str, whole: bool) -> list[Line]:
    """Show what becomes of one field: whole if it is small, else the places that differ."""
    before, after = change.before.get(name), change.after[name]
    if name not in change.before or _secret(name, before) or _secret(name, after):
        return [Line(name, words(MASK), _one(name, after))]
    places = [] if is_small(before) and is_small(after) else list(differences(name, before, after))
    first = (places if whole else places[:DEPTH]) or [(name, before, after)]
    lines = []
    for place, a, b in first:
        old, new = render_change(a, b)
        if whole:
            old, new = _with_whole(old, a), _with_whole(new, b)
        lines.append(Line(place, old, new))
    return lines + _rest(name, len(places) - len(first), "more difference")


def _with_whole(part: RenderedValue, value: Any) -> RenderedValue:
    if part.kind == "words":
        return part
    nested = isinstance(value, dict | list)
    text = json.dumps(value, ensure_ascii=False, indent=1, default=str) if nested else value
    return part._replace(whole=text) if isinstance(text, str) else part


def _rest(field: str, count: int, noun: str) -> list[Line]:
    return [Line(field, None, words(f"… and {many(count, noun)}"))] if count > 0 else []


def _one(name: str, value: Any) -> RenderedValue:
    return words(MASK) if _secret(name, value) else render_value(value)


def _secret(name: str, value: Any) -> bool:
    return isinstance(value, str) and SECRET.search(name) is not None


def change_label(change: Change) -> str:
    """Name the record of a change, with its template code if there is one."""
    label = change.label if (change.code or "") in change.label else f"{change.code} {change.label}"
    return cut_middle(label, LABEL)


# --- a plan as text -------------------------------------------------------------------


def plan_parts(plan: Plan) -> list[ReportPart]:
    """Return the parts of a plan as a report: the heading first, how to apply it last."""
    notes = [line for note in notes_of(plan) for line in wrapped("", note)]
    does = "<p><code>plan.apply()</code> does it.</p>" if any(plan.counts.values()) else ""
    objections = html_list("objections", "Blocked:", [visible(each) for each in plan.objections()])
    return [
        ReportPart([heading(plan)], html_heading(heading(plan))),
        *map(ReportPart, [*_changes(plan), _cells(plan), notes]),
        ReportPart(html=partial(_html_plan, plan)),
        ReportPart(_end(plan), objections or does),
    ]


def _changes(plan: Plan) -> list[list[str]]:
    """Write the changes: of a plan for the account a block for each resource, with its name."""
    losses, kinds = losses_of(plan), by_kind(plan)
    named = [[(c, change_label(c) + footnote(c, losses)) for c in kind[:FEW]] for kind in kinds]
    width = max((columns(name) for few in named for _, name in few), default=0)
    blocks: dict[str | None, list[str]] = {}
    for changes, few in zip(kinds, named, strict=True):
        kind, noun = few[0][0].kind, few[0][0].noun
        if noun not in blocks:
            blocks[noun] = [part_heading(plan, noun)] if noun else []
        block = blocks[noun]
        for change, name in few:
            head = f"  {_SIGNS[kind]} {name}{' ' * (width - columns(name))}  "
            body = _body(change, WIDTH - width - 6)
            block.append((head + "".join(body[:1])).rstrip())
            block += [" " * (width + 6) + part for part in body[1:]]
        if (more := len(changes) - FEW) > 0:
            rest = f"{more:,} more skipped" if kind == "skip" else many(more, f"more {kind}")
            block.append(f"    … and {rest}: plan.frame() has them all")
    return list(blocks.values())


def part_heading(plan: Plan, noun: str) -> str:
    """Name a resource in a plan for the account, and count what it changes there."""
    part = plan._setting.parts.get(noun)
    met = _met(part.met, noun) if part else ""
    return f"{noun.capitalize()}s: {_kinds_counted(_by_resource(plan)[noun])}{met}"


def footnote(change: Change, losses: Losses) -> str:
    """Return the mark that leads to why a change cannot be undone exactly; empty if it can."""
    number, _ = losses.get((change.undo, change.loss), (0, ""))
    return f" [{number}]" if number else ""


def _body(change: Change, width: int) -> list[str]:
    """Write the fields of a change: each on a line of its own if it has two sides."""
    lines: list[str] = []
    for field, before, after in change_lines(change):
        name = f"{cut_middle(field, LABEL)}: " if field else ""
        one = f"{name}{before or after}"
        if before and after:
            arrow = _NOT_EQUAL if change.kind == "skip" else ARROW
            lines += both_values(name, before, after, width, arrow)
        elif (
            lines and change.kind in ("create", "delete") and columns(lines[-1] + one) + 2 <= width
        ):
            lines[-1] += f", {one}"
        else:
            lines.append(one)
    return lines


def _cells(plan: Plan) -> list[str]:
    lines = ["Refused:"] if plan._cells else []
    for row, column, value, reason, step in plan._cells[:FEW]:
        place = [f"row {row_label(row)}", *([cut(column, LABEL)] if column else [])]
        what = f"{', '.join(place)} = {cut(value, 2 * LONG)}" if value else ", ".join(place)
        lines += wrapped("  ", f"{what}: {visible(reason)}")
        lines += wrapped("    -> ", visible(step))
    if (more := len(plan._cells) - FEW) > 0:
        lines.append(f"  … and {more:,} more: plan.refused has them all")
    return lines


def _end(plan: Plan) -> list[str]:
    if objections := plan.objections():
        lines = [line for one in objections for line in wrapped("  - ", visible(one))]
        return ["Blocked:", *lines]
    return ["plan.apply() does it."] if any(plan.counts.values()) else []


# --- a plan as HTML -------------------------------------------------------------------

_REFUSED = {"row": 10, "column": 13, "value": 23, "reason": 27, "next step": 27}


def _html_plan(plan: Plan) -> str:
    """Make the tables of the changes and of what is refused, and the notes."""
    losses, kinds = losses_of(plan), by_kind(plan)
    space = MANY // max(len(kinds), 1)  # a few deletes are not to hide behind many creates
    rows = [html_changes(changes, losses, space) for changes in kinds]
    if plan._setting.parts:
        _name_parts(plan, kinds, rows)
    first = [row for kind in rows for row in kind[:FEW]]
    more = [row for kind in rows for row in kind[FEW:]]
    cells = [_html_refused(cell) for cell in plan._cells[:MANY]]
    widths = {"change": 13, record_noun(plan): 22, "field": 15, "before": 25, "after": 25}
    changes = html_tables(widths, first, more, len(plan.changes), "plan.frame()")
    refused = html_tables(_REFUSED, cells[:FEW], cells[FEW:], len(plan._cells), "plan.refused")
    title = "<p><strong>Refused</strong></p>" if cells else ""
    return f"{changes}{title}{refused}{notes_html(plan)}"


_ROW = "align-items: flex-start; display: flex; flex-wrap: wrap; gap: 1em"
_FIGURE = "margin: 0.4em 0; max-width: 22em; min-width: 14em"


def notes_html(plan: Plan, *more: str, rows: bool = True) -> str:
    """List in HTML what else is to be known, each with its picture if it has one.

    Args:
        plan: The plan.
        more: What else.
        rows: Whether the findings in rows are among it.
    """
    drawn = {visible(note): picture for note, picture in plan._drawn.items()}
    of_rows = () if rows else row_notes(plan)
    notes = [note for note in notes_of(plan) if note not in drawn and note not in of_rows]
    figures = "".join(f'<figure style="{_FIGURE}">{each}</figure>' for each in drawn.values())
    row = f'<div style="{_ROW}">{figures}</div>' if figures else ""
    return html_list("told", "", [*notes, *more]) + row


def record_noun(plan: Plan) -> str:
    """Name what a row of a plan is about, as the heading of a column."""
    return "record" if plan._setting.parts else plan._setting.noun


def _name_parts(plan: Plan, kinds: Sequence[Sequence[Change]], rows: list[list[str]]) -> None:
    """Put the name of each resource before the first of its rows."""
    named = set()
    for changes, bodies in zip(kinds, rows, strict=True):
        noun = changes[0].noun
        if noun and noun not in named and bodies:
            named.add(noun)
            heading = marked(part_heading(plan, noun))
            bodies[0] = (
                f'<tbody><tr><th colspan="5" scope="colgroup">{heading}</th></tr></tbody>'
                + (bodies[0])
            )


def html_changes(changes: Sequence[Change], losses: Losses, space: int) -> list[str]:
    """Make a table body of each change, as long as there is room for its lines."""
    bodies = []
    for change in changes:
        lines = change_lines(change) or [Line("", None, None)]
        space -= len(lines)
        if space < 0:
            break
        span = f' rowspan="{len(lines)}"'
        head = f"<td{span}>{html_kind(change)}</td>{_html_name(change, losses, span)}"
        rows = list(map(partial(_html_line, change), lines))
        bodies.append(f"<tbody><tr>{head}{'</tr><tr>'.join(rows)}</tr></tbody>")
    return bodies


def html_kind(change: Change) -> str:
    """Write the kind of a change with its sign."""
    what = f"{change.kind} {change.noun or ''}".rstrip()
    return f'<b class="{change.kind}">{_SIGNS[change.kind]}</b> {what}'


def _html_name(change: Change, losses: Losses, span: str) -> str:
    note = footnote(change, losses)
    note = f"<sup>{note}</sup>" if note else ""
    name = marked(change_label(change))
    return f'<th{span} scope="rowgroup" dir="auto">{name}{note}</th>'


def _html_line(change: Change, line: Line) -> str:
    """Make the cells of a field; what was removed and put in is marked, or what is and is not."""
    old, new = ("ins", "del") if change.kind == "skip" else ("del", "ins")
    name = marked(cut_middle(line.field, LABEL))
    return f'<td dir="auto">{name}</td>{html_value(line.before, old)}{html_value(line.after, new)}'


def _html_refused(cell: RefusedCell) -> str:
    texts = [
        row_label(cell.row),
        cut(cell[1], LABEL),
        cut(cell[2], 2 * LONG),
        *map(visible, cell[3:]),
    ]
    row = "".join([f'<td dir="auto">{marked(part)}</td>' for part in texts])
    return f"<tbody><tr>{row}</tr></tbody>"


# --- as DataFrames --------------------------------------------------------------------


def changes_frame(rows: Sequence[Change], names: Names) -> pd.DataFrame:
    """Make the frame of a plan."""
    columns = ("kind", "key", "label", "before", "after", "undo", "loss")
    cells = {name: [getattr(row, name) for row in rows] for name in columns}
    frame = _table(cells, ("kind", "label", "undo", "loss"), [row.row for row in rows], names)
    return frame.rename(columns={"kind": "change", "loss": "undo_note"})


def refused_frame(cells: Iterable[RefusedCell]) -> pd.DataFrame:
    """Make the table of cells that cannot be planned."""
    return _listed(cells, ("row", "column", "value", "reason", "next_step"))


def left_frame(rows: Iterable[Left]) -> pd.DataFrame:
    """Make the table of rows of a run that an undo has nothing to take back of."""
    return _listed(rows, ("row", "change", "label", "state", "reason"))


def _listed(rows: Iterable[Sequence[Any]], names: Sequence[str]) -> pd.DataFrame:
    """Make a table of tuples: a label of any kind, then texts."""
    return _table(_columns(rows, names), names[1:]).infer_objects()


def _columns(rows: Iterable[Sequence[Any]], names: Sequence[str]) -> dict[str, Sequence[Any]]:
    """Turn rows into columns, also where there are none."""
    listed = list(rows)
    return {name: [row[n] for row in listed] for n, name in enumerate(names)}


_RESULT = ("change", "key", "label", "state", "reason", "evidence", "sent", "checked_ago")


def result_frame(
    rows: Iterable[Row], run: str, names: Names, stopped: str, home: str = ""
) -> pd.DataFrame:
    """Make the frame that says what truly happened, a row for each row of the plan.

    Args:
        rows: Those of the plan.
        run: The name of the run.
        names: Of the levels of the frame's index.
        stopped: Why the run stopped; empty if it did not.
        home: Where its journal lies, without a password; empty: where those of this user do.
    """
    rows = list(rows)
    cells = [
        (r.change.kind, r.key, r.change.label, r.state, r.reason, r.evidence, r.attempts,
         r.checked_ago)
        for r in rows
    ]  # fmt: skip
    texts = ("change", "label", "state", "reason", "evidence")
    columns = _columns(cells, _RESULT)
    frame = _table(columns, texts, [row.change.row for row in rows], names)
    frame["checked_ago"] = pd.to_timedelta(frame["checked_ago"].astype("float64"), unit="s")
    where = {"at": home} if home else {}
    write_origin(frame, run=run, rows=str(len(frame)), stopped=stopped, **where)
    return frame


def result_summary(result: pd.DataFrame) -> str:
    """Count the states of a result in words, with how it was checked and why it stopped."""
    summary = state_counts(result["state"])
    if result.attrs.get("gap") == "page" and result["checked_ago"].notna().any():
        oldest = result["checked_ago"].max().total_seconds()
        summary += (
            f" Records were read by pages, up to {oldest:,.1f} s before they were written: what "
            "somebody changed between the two was overwritten unseen."
        )
    stopped = read_origin(result).get("stopped")
    return f"{summary} It stopped: {stopped.rstrip('.')}." if stopped else summary


def stop_of(result: pd.DataFrame) -> str:
    """Return why the run of a result stopped; empty if it did not."""
    return read_origin(result).get("stopped", "")


def fleet_frame(
    frames: Mapping[str, pd.DataFrame], blank: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Put frames of several accounts together, indexed by account first.

    Args:
        frames: The frames, by what the accounts are called.
        blank: A frame without rows, which has the columns where there are no accounts.
    """
    frames = frames or {"": pd.DataFrame() if blank is None else blank}
    parts = [frame.set_axis(_under(label, frame.index)) for label, frame in frames.items()]
    if len({part.index.nlevels for part in parts}) > 1:
        parts = [part.set_axis(_flat(part.index)) for part in parts]
    frame = pd.concat([part for part in parts if len(part)] or parts[:1])
    frame.attrs = {}
    write_origin(frame)
    return frame


def _under(label: str, index: pd.Index[Any]) -> pd.MultiIndex:
    """Put the name of an account before each label of an index."""
    levels = [index.get_level_values(n) for n in range(index.nlevels)]
    return pd.MultiIndex.from_arrays(
        [[label] * len(index), *levels], names=["account", *index.names]
    )


def _flat(index: pd.Index[Any]) -> pd.MultiIndex:
    """Make labels of any number of levels below the account one label."""
    labels = [(account, rest[0] if len(rest) == 1 else rest) for account, *rest in index]
    return pd.MultiIndex.from_arrays(
        [[a for a, _ in labels], pd.Index([r for _, r in labels], tupleize_cols=False)],
        names=["account", None],
    )


def fleet_table(
    tables: Mapping[str, pd.DataFrame], blank: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Put tables of several accounts together, their first column the account.

    Args:
        tables: The tables, by what the accounts are called.
        blank: As for `fleet_frame`.
    """
    tables = tables or {"": pd.DataFrame() if blank is None else blank}
    parts = [table.assign(account=label) for label, table in tables.items() if len(table)]
    parts = parts or [table.assign(account="") for table in tables.values()][:1]
    whole = pd.concat(parts, ignore_index=True)
    whole.insert(0, "account", whole.pop("account"))
    whole.attrs = {}
    write_origin(whole)
    return whole.astype({"account": "str"})


def remember_fleet(
    result: pd.DataFrame, run: str, stops: Mapping[str, str], home: str = ""
) -> None:
    """Write into the result of a fleet which run it is of, and why which accounts stopped.

    Args:
        result: The result.
        run: The run of the fleet.
        stops: Why accounts stopped, by what they are called.
        home: Where its journals lie, as for `result_frame`.
    """
    reasons = [f"{label}: {reason.rstrip('.')}" for label, reason in stops.items()]
    where = {"at": home} if home else {}
    write_origin(result, run=run, rows=str(len(result)), stopped="; ".join(reasons), **where)
    result.attrs["stops"] = dict(stops)


def run_of(frame: pd.DataFrame) -> str | None:
    """Name the run that a result came from, None for any other frame."""
    return read_origin(frame).get("run")


def rows_of_run(frame: pd.DataFrame) -> int:
    """Count the rows that a result had when it was made; 0 where that is not known."""
    return int(read_origin(frame).get("rows", 0))


def home_of_result(frame: pd.DataFrame) -> str | None:
    """Return where the journal of a result lies, if that is not where those of this user do."""
    return read_origin(frame).get("at")


#: States of rows that are not applied, and can be planned again; and what may have landed.
NOT_APPLIED = ("failed", "conflict", "not sent")


def rest_frame(plan: Plan, result: pd.DataFrame) -> pd.DataFrame:
    """Make the frame of what was not applied and can be planned again, with the reasons.

    Of a plan for the account its first column is `resource`.
    """
    again, _ = _left_over(plan, result)
    several = bool(plan._setting.parts)
    frame = _rows_frame(
        [({"resource": n} if several else {}) | row for n, rows in again.items() for row in rows]
    )
    write_origin(frame, account=plan._setting.account, cells="edits")  # nothing else is in it
    return frame


def rest_sheets(plan: Plan, result: pd.DataFrame) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """Make frames of what was not applied, with the reasons.

    The first can be planned again: a sheet for each resource, by its title. The second is only
    to be read: what the plan refused, and rows of which nobody knows yet whether they landed.
    """
    again, read = _left_over(plan, result)
    return {rest_title(n): _rows_frame(rows) for n, rows in again.items()}, _rows_frame(read)


def _left_over(
    plan: Plan, result: pd.DataFrame
) -> tuple[dict[str, list[dict[str, Any]]], list[dict[str, Any]]]:
    """Collect what can be planned again, by resource, and what can only be read."""
    again_by_noun: dict[str, list[dict[str, Any]]] = {}
    read: list[dict[str, Any]] = []
    for change, state, reason in zip(plan.changes, result["state"], result["reason"], strict=True):
        noun = change.noun or plan._setting.noun
        again = again_by_noun.setdefault(noun, [])
        key: dict[str, Any] = {_KEYS.get(noun, "id"): change.key}
        if change.code is not None:
            key = {"template_code": change.code} | key
        outcome = {"state": state, "reason": reason}
        if state in NOT_APPLIED:
            fields = {n: v for n, v in change.after.items() if not _secret(n, v)}
            gone = {"delete": True} if change.kind == "delete" else {}
            again.append(key | fields | gone | outcome)
        elif state == "unknown":
            why = f"{reason}; it is not known yet whether it took effect: go on with the run first"
            read.append(key | outcome | {"reason": why})
    for row, column, value, reason, step in plan._cells:
        place = " = ".join(filter(None, [column, value]))
        where = f"row {row_label(row)}, {place}" if place else f"row {row_label(row)}"
        read.append({"state": "refused", "reason": f"{where}: {reason}. Next step: {step}"})
    return {noun: rows for noun, rows in again_by_noun.items() if rows}, read


def rest_title(noun: str) -> str:
    """Name the sheet of what can be planned again."""
    return f"{noun.capitalize()}s"


_KEYS = {"content": "lang_code"}


def _rows_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    last = ("delete", "state", "reason")
    columns = dict.fromkeys(name for row in rows for name in row)
    names = [
        *(name for name in columns if name not in last),
        *(n for n in last if n in columns),
    ]
    return _table({name: [row.get(name) for row in rows] for name in names})


def journal_frame(events: Iterable[Any], rows: Sequence[Row]) -> pd.DataFrame:
    """Make the frame of all that a run has noted, in its order."""
    kept = list(events)
    of = [None if event.n is None else rows[event.n].change for event in kept]
    texts = {
        "row": [None if c is None else c.row for c in of],
        "change": [None if c is None else c.kind for c in of],
        "label": [None if c is None else c.label for c in of],
        "event": [event.what for event in kept],
        "reason": [event.detail.get("reason", "") for event in kept],
        "detail": [{k: v for k, v in e.detail.items() if k != "reason"} for e in kept],
    }
    frame = _table(texts, ("change", "label", "event", "reason"))
    frame.insert(0, "at", _times([event.at for event in kept]))
    return frame


def runs_frame(runs: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Make the frame of runs, indexed by run, the latest first."""
    columns = (
        *("run", "started", "ended", "connection", "account", "noun", "changes", "applied"),
        *("unknown", "not_sent", "state", "undoes", "taken_back", "reason"),
    )
    times = ("started", "ended", "taken_back")
    frame = pd.DataFrame(
        {name: [run.get(name, None if name in times else 0) for run in runs] for name in columns}
    )
    for name in times:
        frame[name] = _times(frame[name])
    texts = ("run", "connection", "account", "noun", "state", "undoes", "reason")
    write_origin(frame)
    return frame.astype(dict.fromkeys(texts, "str")).set_index("run")


class ClickableFrame(pd.DataFrame):
    """A frame that a notebook shows as a widget; whatever is made of it is a frame as any other.

    `widget_of` makes the widget of it; None stands for the look of a frame.
    """

    _metadata: ClassVar[list[str]] = []
    _widget_of: Callable[[pd.DataFrame], Any] | None = None

    @classmethod
    def of(cls, frame: pd.DataFrame, widget_of: Callable[[pd.DataFrame], Any]) -> pd.DataFrame:
        """Make it of a frame."""
        made = cls(frame)
        made.attrs = frame.attrs
        object.__setattr__(made, "_widget_of", widget_of)
        return made

    def _repr_mimebundle_(self, **options: Any) -> Any:
        html = pd.get_option("display.notebook_repr_html")
        widget = self._widget_of(self) if self._widget_of and html else None
        return {} if widget is None else widget._repr_mimebundle_(**options)


def _times(texts: Iterable[Any]) -> pd.Series[Any]:
    # As the journal reads them: pandas refuses some times that are valid there.
    times = [datetime.fromisoformat(text) if isinstance(text, str) else text for text in texts]
    moments = pd.Series(pd.to_datetime(times, utc=True))
    return moments.astype("datetime64[us, UTC]")


def _table(
    columns: Mapping[str, Sequence[Any]],
    texts: Iterable[str] = (),
    labels: Sequence[Any] | None = None,
    names: Names = (),
) -> pd.DataFrame:
    """Make a frame of objects; `texts` are columns of text, `labels` its index if it has one."""
    frame = pd.DataFrame({n: pd.Series(list(v), dtype=object) for n, v in columns.items()})
    if labels is not None and len(names) > 1:
        frame.index = pd.MultiIndex.from_tuples(labels, names=list(names))
    elif labels is not None:
        frame.index = pd.Index(labels, name=names[0], tupleize_cols=False)
    frame = frame.astype(dict.fromkeys(texts, "str"))
    write_origin(frame)
    if "key" in frame and all(isinstance(key, int | None) for key in columns["key"]):
        frame["key"] = frame["key"].astype("Int64")
    return frame
