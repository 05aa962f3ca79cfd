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

from chatkit.api.connection import describe_account
from chatkit.api.secret import MASK, SECRET
from chatkit.bulk.changes import (
    Change,
    RefusedCell,
    count_kinds,
    describe_memory,
    group_by_resource,
)
from chatkit.bulk.journal import PlanPart
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
    ReportRow,
    both_values,
    bullets,
    format_row_label,
    html_heading,
    html_list,
    html_tables,
    html_value,
    make_object_frame,
    marked,
    rows_table,
    wrapped,
)
from chatkit.util.display import (
    LONG,
    MISSING,
    RenderedValue,
    columns,
    cut,
    cut_middle,
    find_differences,
    format_duration,
    is_small,
    many,
    render_change,
    render_value,
    visible,
    words,
)

if TYPE_CHECKING:
    from chatkit.bulk.plan import Plan

PATIENCE = 10.0  #: seconds from which on an estimate is worth a line
FIELDS, DEPTH = 8, 3  #: lines of one change, and of one nested value in it
#: How and why changes cannot be undone exactly, each with its number and its note.
UndoLosses = Mapping[tuple[str, str], tuple[int, str]]
Names = Sequence[str | None]
_SIGNS = {"create": "+", "update": "~", "delete": "-", "skip": "="}
#: What stands between the two sides of a skip: the right one is not written.
_NOT_EQUAL = "≠"


# --- a plan in words ------------------------------------------------------------------


def make_plan_heading(plan: Plan) -> str:
    """Return the headline of a plan: what it is for, and the counts of its changes."""
    setting = plan._setting
    part = setting.parts.get(setting.noun, PlanPart(0))
    matches = _format_matches(part.matched, setting.noun)
    rows = len({repr(cell.row) for cell in plan._cells})
    if not plan.changes and not rows:
        if setting.undoes:
            return "Nothing to do: 0 changes are left to take back."
        if plan.notes:  # they tell what was not taken, and why
            return f"Nothing to do: 0 changes{matches}."
        source = "what is planned" if setting.several else "the frame"
        return f"Nothing to do: the account already matches {source}. 0 changes{matches}."
    refused = f"; {many(rows, 'row')} refused" if rows else ""
    about = "Plan that takes back a run of" if setting.undoes else "Plan for"
    name = _name_account(plan)
    if setting.several:
        counts = [many(len(part), noun) for noun, part in _group_changes(plan).items()]
        return f"{about} {name or 'the account'}: {', '.join(counts) or '0 changes'}{refused}."
    subject = f"{setting.noun}s" if setting.undoes else many(part.total, setting.noun)
    subject += f" of {name}" if name else ""
    return f"{about} {subject}: {_format_counts(plan.changes)}{matches}{refused}."


def _name_account(plan: Plan) -> str:
    """Return the connection and the account id of a plan; empty if the connection has no name."""
    connection = plan._target.transport.connection
    if connection.sandbox or connection.name in (None, "environment"):
        return ""
    name = describe_account(connection.account, connection.name)
    return f"{name}, account {connection.account_id}"


def _format_counts(changes: Sequence[Change]) -> str:
    """Return the counts of changes of each kind in words."""
    counts = [many(count, kind) for kind, count in count_kinds(changes).items() if count]
    skipped = sum(change.kind == "skip" for change in changes)
    return ", ".join((counts or ["0 changes"]) + ([f"{skipped:,} skipped"] if skipped else []))


def _group_changes(plan: Plan) -> dict[str, list[Change]]:
    """Group the changes of a plan by resource."""
    return group_by_resource(plan.changes, plan._setting.noun)


def make_run_heading(plan: Plan) -> str:
    """Return the headline of a run: the counts of its changes."""
    setting = plan._setting
    counts = [many(count, kind) for kind, count in plan.counts.items() if count]
    about = "Run that takes back another, of" if setting.undoes else "Run of"
    parts = [many(len(part), noun) for noun, part in _group_changes(plan).items()]
    return f"{about} {', '.join(parts) or many(0, 'change')}: {', '.join(counts) or '0 changes'}."


def _format_matches(count: int, noun: str) -> str:
    """Return in words how many rows match an existing record; empty if none do."""
    match = "matches" if count == 1 else "match"
    return f"; {many(count, 'row')} {match} an existing {noun}" if count else ""


def number_undo_losses(plan: Plan) -> UndoLosses:
    """Return the reasons why changes cannot be undone exactly, each with number and count."""
    count = Counter[tuple[str, str]](
        (change.undo, change.loss)
        for changes in group_by_kind(plan)
        for change in changes
        if change.undo != "exactly"
    )
    exact = "can never be undone", "cannot be restored exactly"
    return {
        (undo, loss): (n, f"[{n}] {total:,} {exact[undo != 'never']}: {visible(loss)}.")
        for n, ((undo, loss), total) in enumerate(count.items(), 1)
    }


def list_plan_notes(plan: Plan) -> list[str]:
    """Return the notes of a plan: what cannot be undone, its own notes, and how long it takes."""
    losses = [estimate for _, estimate in number_undo_losses(plan).values()]
    if len(losses) > FEW:
        rest = f"… and {many(len(losses) - FEW, 'more reason')}: plan.frame() has them all."
        losses[FEW:] = [rest]
    notes = [*losses, *(visible(note) for note in plan.notes)]
    if plan.changes and (seconds := plan.seconds) >= PATIENCE:
        estimate = f"It takes {format_duration(seconds)} at {plan._target.transport.pace()}"
        memory = describe_memory(len(plan.changes))
        notes.append(f"{estimate}, and {memory}." if memory else f"{estimate}.")
    return notes


def list_row_notes(plan: Plan) -> set[str]:
    """Return the notes about findings in rows."""
    return {visible(note) for note in plan.notes if isinstance(note, FindingNote)}


def group_by_kind(plan: Plan) -> list[list[Change]]:
    """Group the changes of a plan by resource and kind, in the order to show them."""
    kinds: dict[tuple[str | None, str], list[Change]] = {}
    for n in order_by_kind(plan):
        change = plan.changes[n]
        kinds.setdefault((change.noun, change.kind), []).append(change)
    return list(kinds.values())


def order_by_kind(plan: Plan) -> list[int]:
    """Return the numbers of the changes, sorted by resource and kind."""
    nouns, kinds = list(dict.fromkeys(each.noun for each in plan.changes)), list(_SIGNS)
    ranks = [(nouns.index(each.noun), kinds.index(each.kind)) for each in plan.changes]
    return sorted(range(len(ranks)), key=ranks.__getitem__)


def format_state_counts(states: Iterable[str]) -> str:
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
    """One field of a change, with its values before and after; None where there is none."""

    field: str
    before: RenderedValue | None
    after: RenderedValue | None


def make_change_lines(change: Change, *, whole: bool = False) -> list[Line]:
    """Return the lines of a change: its fields, without those that its label contains.

    Args:
        change: The change.
        whole: Show all fields and all places that differ, with texts in full.
    """
    if change.kind in ("update", "skip"):
        lines = [
            line for name in change.after for line in _make_update_lines(change, name, whole=whole)
        ]
    else:
        new = change.kind == "create"
        seen = change.label if len(change.label) <= LABEL else ""
        in_label = (seen, *re.split("[ /]", seen), change.code)
        fields = {n: v for n, v in (change.after or change.before).items() if v not in in_label}
        values = [(n, v) for n, v in fields.items() if new or v not in (None, "", [], {})]
        texts = [(n, _render_value(n, v, whole=whole)) for n, v in values]
        lines = [Line(n, None, text) if new else Line(n, text, None) for n, text in texts]
    return (
        lines if whole else lines[:FIELDS] + _make_rest_line("", len(lines) - FIELDS, "more field")
    )


def _make_update_lines(change: Change, name: str, *, whole: bool) -> list[Line]:
    """Return the lines of an updated field: both values if small, else the differences."""
    before, after = change.before.get(name), change.after[name]
    if name not in change.before or _is_secret(name, before) or _is_secret(name, after):
        return [Line(name, words(MASK), _render_value(name, after))]
    places = (
        [] if is_small(before) and is_small(after) else list(find_differences(name, before, after))
    )
    # a null where nothing was, or the other way round, is of interest only where nothing else is
    places = [each for each in places if _is_filled(each[1]) or _is_filled(each[2])] or places
    first = (places if whole else places[:DEPTH]) or [(name, before, after)]
    lines = []
    for place, old, new in first:
        a, b = render_change(old, new)
        if whole:
            a, b = _add_full_text(a, old), _add_full_text(b, new)
        lines.append(Line(place, a, b))
    return lines + _make_rest_line(name, len(places) - len(first), "more difference")


def _is_filled(value: Any) -> bool:
    return value is not None and value is not MISSING


def _add_full_text(part: RenderedValue, value: Any) -> RenderedValue:
    """Add the whole text of a value to its rendered form."""
    if part.kind == "words":
        return part
    nested = isinstance(value, dict | list)
    text = json.dumps(value, ensure_ascii=False, indent=1, default=str) if nested else value
    return part._replace(whole=text) if isinstance(text, str) else part


def _make_rest_line(field: str, count: int, noun: str) -> list[Line]:
    """Return a line with the number of lines left out; none for 0."""
    return [Line(field, None, words(f"… and {many(count, noun)}"))] if count > 0 else []


def _render_value(name: str, value: Any, *, whole: bool = False) -> RenderedValue:
    """Render the value of a field; a secret is masked."""
    part = words(MASK) if _is_secret(name, value) else render_value(value)
    return _add_full_text(part, value) if whole else part


def _is_secret(name: str, value: Any) -> bool:
    """Return whether a value is a secret by the name of its field."""
    return isinstance(value, str) and SECRET.search(name) is not None


def make_change_label(change: Change) -> str:
    """Name the record of a change, with its template code if there is one."""
    label = change.label if (change.code or "") in change.label else f"{change.code} {change.label}"
    return cut_middle(label, LABEL)


# --- a plan as text -------------------------------------------------------------------


def make_plan_parts(plan: Plan) -> list[ReportPart]:
    """Return the parts of a plan as a report: the heading first, how to apply it last."""
    notes = [line for note in list_plan_notes(plan) for line in wrapped("", note)]
    end = bullets("Blocked:", map(visible, plan.objections()), "objections", "  - ")
    if not end.lines and any(plan.counts.values()):
        end = ReportPart(["plan.apply() does it."], "<p><code>plan.apply()</code> does it.</p>")
    return [
        ReportPart([make_plan_heading(plan)], html_heading(make_plan_heading(plan))),
        *map(ReportPart, _write_change_blocks(plan)),
        ReportPart(html=partial(_make_plan_html, plan)),
        _make_refused_part(plan),
        ReportPart(notes, partial(make_notes_html, plan)),
        end,
    ]


def _write_change_blocks(plan: Plan) -> list[list[str]]:
    """Write the changes as blocks of lines, one for each resource of the account."""
    losses, kinds = number_undo_losses(plan), group_by_kind(plan)
    named = [
        [(c, make_change_label(c) + make_footnote(c, losses)) for c in kind[:FEW]] for kind in kinds
    ]
    width = max((columns(name) for few in named for _, name in few), default=0)
    blocks: dict[str | None, list[str]] = {}
    for changes, few in zip(kinds, named, strict=True):
        kind, noun = few[0][0].kind, few[0][0].noun
        if noun not in blocks:
            blocks[noun] = [make_part_heading(plan, noun)] if noun else []
        block = blocks[noun]
        for change, name in few:
            head = f"  {_SIGNS[kind]} {name}{' ' * (width - columns(name))}  "
            body = _write_field_lines(change, WIDTH - width - 6)
            block.append((head + "".join(body[:1])).rstrip())
            block += [" " * (width + 6) + part for part in body[1:]]
        if (more := len(changes) - FEW) > 0:
            rest = f"{more:,} more skipped" if kind == "skip" else many(more, f"more {kind}")
            block.append(f"    … and {rest}: plan.frame() has them all")
    return list(blocks.values())


def make_part_heading(plan: Plan, noun: str) -> str:
    """Return the heading of a resource in a plan for the account, with its counts."""
    part = plan._setting.parts.get(noun)
    matches = _format_matches(part.matched, noun) if part else ""
    return f"{noun.capitalize()}s: {_format_counts(_group_changes(plan)[noun])}{matches}"


def make_footnote(change: Change, losses: UndoLosses) -> str:
    """Return the footnote number of a change that cannot be undone exactly, else empty."""
    number, _ = losses.get((change.undo, change.loss), (0, ""))
    return f" [{number}]" if number else ""


def _write_field_lines(change: Change, width: int) -> list[str]:
    """Write the fields of a change as lines, short ones of new records on one line."""
    lines: list[str] = []
    for field, before, after in make_change_lines(change):
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


def _group_refusals(plan: Plan) -> list[tuple[str, RefusedCell]]:
    """Return the refused cells with their rows; of an undo equal refusals as one, counted."""
    groups: dict[tuple[Any, ...], list[RefusedCell]] = {}
    for n, cell in enumerate(plan._cells):
        equal = (cell.reason, cell.next_step) if plan._setting.undoes else (n,)
        groups.setdefault(equal, []).append(cell)
    refusals = []
    for cells in groups.values():
        rows = ", ".join(format_row_label(cell.row) for cell in cells[:FEW])
        rest = ", …" if len(cells) > FEW else ""
        one = len(cells) == 1
        label = f"row {rows}" if one else f"{many(len(cells), 'row')} ({rows}{rest})"
        refusals.append((label, cells[0] if one else cells[0]._replace(value="")))
    return refusals


def _make_refused_part(plan: Plan) -> ReportPart:
    """Make the part of the refused cells of a plan: place, value, reason and next step."""
    rows, refusals = [], _group_refusals(plan)
    for label, (_, column, value, reason, step) in refusals[:MANY]:
        column, value = cut(column, LABEL), cut(value, 2 * LONG)
        place = f"{label}, {column}" if column else label
        what = f"{place} = {value}" if value else place
        lines = wrapped("  ", f"{what}: {visible(reason)}") + wrapped("    -> ", visible(step))
        texts = label.removeprefix("row "), column, value, visible(reason), visible(step)
        rows.append(ReportRow(lines, texts))
    if not rows:
        return ReportPart()
    part = rows_table(_REFUSED, rows, len(refusals), "plan.refused", "Refused:")
    return part._replace(html=f"<p><strong>Refused</strong></p>{part}")


# --- a plan as HTML -------------------------------------------------------------------

_REFUSED = {"row": 10, "column": 13, "value": 23, "reason": 27, "next step": 27}


def _make_plan_html(plan: Plan) -> str:
    """Make the HTML of the changes of a plan."""
    losses, kinds = number_undo_losses(plan), group_by_kind(plan)
    space = MANY // max(len(kinds), 1)  # a few deletes are not to hide behind many creates
    first, more, nouns = list[str](), list[str](), set[str]()
    for kind in kinds:
        rows, noun = _make_changes_html(kind, losses, space), kind[0].noun
        if noun and noun not in nouns and rows:
            nouns.add(noun)
            counts = marked(make_part_heading(plan, noun))
            head = f'<tr><th colspan="5" scope="colgroup">{counts}</th></tr>'
            rows[0] = f"<tbody>{head}</tbody>{rows[0]}"
        first += rows[:FEW]
        more += rows[FEW:]
    widths = {"change": 13, get_record_noun(plan): 22, "field": 15, "before": 25, "after": 25}
    return html_tables(widths, first, more, len(plan.changes), "plan.frame()")


_ROW = "align-items: flex-start; display: flex; flex-wrap: wrap; gap: 1em"
_FIGURE = "margin: 0.4em 0; max-width: 22em; min-width: 14em"


def make_notes_html(plan: Plan, *more: str, rows: bool = True) -> str:
    """Make the list of the notes of a plan, and the figures of those that are drawn.

    Args:
        plan: The plan.
        more: Other notes.
        rows: Whether the findings in rows are in the list.
    """
    drawn = {visible(note): picture for note, picture in plan._drawn.items()}
    of_rows = () if rows else list_row_notes(plan)
    notes = [note for note in list_plan_notes(plan) if note not in drawn and note not in of_rows]
    figures = "".join(f'<figure style="{_FIGURE}">{each}</figure>' for each in drawn.values())
    row = f'<div style="{_ROW}">{figures}</div>' if figures else ""
    return html_list("notes", "", [*notes, *more]) + row


def get_record_noun(plan: Plan) -> str:
    """Return the noun of the rows of a plan, as the heading of a column."""
    return "record" if plan._setting.several else plan._setting.noun


def _make_changes_html(changes: Sequence[Change], losses: UndoLosses, space: int) -> list[str]:
    """Make a table body of each change, until `space` lines are used; differences are marked."""
    bodies = []
    for change in changes:
        lines = make_change_lines(change) or [Line("", None, None)]
        space -= len(lines)
        if space < 0:
            break
        span, note = f' rowspan="{len(lines)}"', make_footnote(change, losses)
        name = marked(make_change_label(change)) + (f"<sup>{note}</sup>" if note else "")
        head = f"<td{span}>{make_kind_html(change)}</td>"
        head += f'<th{span} scope="rowgroup" dir="auto">{name}</th>'
        old, new = ("ins", "del") if change.kind == "skip" else ("del", "ins")
        rows = [
            f'<td dir="auto">{marked(cut_middle(line.field, LABEL))}</td>'
            f"{html_value(line.before, old)}{html_value(line.after, new)}"
            for line in lines
        ]
        bodies.append(f"<tbody><tr>{head}{'</tr><tr>'.join(rows)}</tr></tbody>")
    return bodies


def make_kind_html(change: Change) -> str:
    """Write the kind of a change with its sign."""
    what = f"{change.kind} {change.noun or ''}".rstrip()
    return f'<b class="{change.kind}">{_SIGNS[change.kind]}</b> {what}'


# --- as DataFrames --------------------------------------------------------------------


def make_changes_frame(rows: Sequence[Change], names: Names) -> pd.DataFrame:
    """Make the frame of a plan."""
    columns = ("kind", "key", "label", "before", "after", "undo", "loss")
    cells = {name: [getattr(row, name) for row in rows] for name in columns}
    texts = ("kind", "label", "undo", "loss")
    frame = _make_object_frame(cells, texts, [row.row for row in rows], names)
    return frame.rename(columns={"kind": "change", "loss": "undo_note"})


def make_tuple_frame(kind: type[tuple[Any, ...]], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Make the table of refused cells, or of rows that an undo leaves out."""
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]  # a label, then texts
    frame = make_object_frame(list(rows), names, names[1:]).infer_objects()
    write_origin(frame)
    return frame


def make_result_frame(
    rows: Iterable[Row], run: str, names: Names, stopped: str, home: str = ""
) -> pd.DataFrame:
    """Make the result of a run, a row for each row of its plan.

    Args:
        rows: The rows of the run.
        run: The name of the run.
        names: The names of the index levels.
        stopped: Why the run stopped; empty if it did not.
        home: Where its journal lies, without a password; empty: where those of this user do.
    """
    rows = list(rows)
    columns: dict[str, Sequence[Any]] = {  # pandas prints the first and last ones, if not all
        "state": [row.state for row in rows],
        "label": [row.change.label for row in rows],
        "change": [row.change.kind for row in rows],
        "key": [row.key for row in rows],
        "evidence": [row.evidence for row in rows],
        "sent": [row.attempts for row in rows],
        "checked_ago": [row.checked_ago for row in rows],
        "reason": [row.reason for row in rows],
    }
    texts = ("change", "label", "state", "reason", "evidence")
    frame = _make_object_frame(columns, texts, [row.change.row for row in rows], names)
    frame["checked_ago"] = pd.to_timedelta(frame["checked_ago"].astype("float64"), unit="s")
    where = {"at": home} if home else {}
    write_origin(frame, run=run, rows=str(len(frame)), stopped=stopped, **where)
    return frame


def summarize_result(result: pd.DataFrame) -> str:
    """Return the counts of a result in words, and why it stopped."""
    summary = format_state_counts(result["state"])
    if stopped := read_origin(result).get("stopped"):
        return f"{summary} It stopped: {stopped.rstrip('.')}."
    good = result["state"].isin(["applied", "unchanged", "skipped"]).all()
    return summary if good else f"{summary} The column 'reason' says why."


def get_stop_reason(result: pd.DataFrame) -> str:
    """Return why the run of a result stopped; empty if it did not."""
    return read_origin(result).get("stopped", "")


def join_account_frames(
    frames: Mapping[str, pd.DataFrame], blank: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Concatenate frames of several accounts, with the account as first index level.

    Args:
        frames: The frames, by the name of the account.
        blank: A frame without rows, which has the columns where there are no accounts.
    """
    parts = dict(frames) or {"": pd.DataFrame() if blank is None else blank}
    if len({part.index.nlevels for part in parts.values()}) > 1:  # each label becomes one level
        for name, part in parts.items():
            parts[name] = part.set_axis(pd.Index([*part.index], name=None, tupleize_cols=False))
    filled = {name: part for name, part in parts.items() if len(part)}
    frame = pd.concat(filled or dict([*parts.items()][:1]), names=["account"])
    frame.attrs = {}
    write_origin(frame)
    return frame


def join_account_tables(
    tables: Mapping[str, pd.DataFrame], blank: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Concatenate tables of several accounts, with the account as first column.

    Args:
        tables: The tables, by the name of the account.
        blank: As for `join_account_frames`.
    """
    whole = join_account_frames(tables, blank).reset_index(level="account").reset_index(drop=True)
    return whole.astype({"account": "str"})


def write_fleet_origin(
    result: pd.DataFrame, run: str, stops: Mapping[str, str], home: str = ""
) -> None:
    """Store in the result of a fleet its run, and why accounts stopped.

    Args:
        result: The result.
        run: The run of the fleet.
        stops: The reasons, by the name of the account.
        home: Where its journals lie, as for `make_result_frame`.
    """
    reasons = [f"{label}: {reason.rstrip('.')}" for label, reason in stops.items()]
    where = {"at": home} if home else {}
    write_origin(result, run=run, rows=str(len(result)), stopped="; ".join(reasons), **where)
    result.attrs["stops"] = dict(stops)


def get_result_run(frame: pd.DataFrame) -> str | None:
    """Return the run that a result came from; None for any other frame."""
    return read_origin(frame).get("run")


def get_result_row_count(frame: pd.DataFrame) -> int:
    """Return how many rows a result had when it was made; 0 if that is unknown."""
    return int(read_origin(frame).get("rows", 0))


def get_result_store(frame: pd.DataFrame) -> str | None:
    """Return where the journal of a result is kept; None if in the default store."""
    return read_origin(frame).get("at")


def make_journal_frame(events: Iterable[Any], rows: Sequence[Row]) -> pd.DataFrame:
    """Make the frame of the events of a run, in order."""
    kept = list(events)
    changes = [None if event.n is None else rows[event.n].change for event in kept]
    texts = {
        "row": [None if c is None else c.row for c in changes],
        "change": [None if c is None else c.kind for c in changes],
        "label": [None if c is None else c.label for c in changes],
        "event": [event.what for event in kept],
        "reason": [event.detail.get("reason", "") for event in kept],
        "detail": [{k: v for k, v in e.detail.items() if k != "reason"} for e in kept],
    }
    frame = _make_object_frame(texts, ("change", "label", "event", "reason"))
    frame.insert(0, "at", _parse_times([event.at for event in kept]))
    return frame


def make_runs_frame(runs: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
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
        frame[name] = _parse_times(frame[name])
    texts = ("run", "connection", "account", "noun", "state", "undoes", "reason")
    write_origin(frame)
    return frame.astype(dict.fromkeys(texts, "str")).set_index("run")


class ClickableFrame(pd.DataFrame):
    """A frame that a notebook shows as a widget; frames derived from it are plain ones.

    `widget_of` makes its widget, or None to show it as a frame.
    """

    _metadata: ClassVar[list[str]] = []
    _widget_of: Callable[[pd.DataFrame], Any] | None = None

    @classmethod
    def of(cls, frame: pd.DataFrame, widget_of: Callable[[pd.DataFrame], Any]) -> pd.DataFrame:
        """Wrap a frame."""
        made = cls(frame)
        made.attrs = frame.attrs
        object.__setattr__(made, "_widget_of", widget_of)
        return made

    def _repr_mimebundle_(self, **options: Any) -> Any:
        html = pd.get_option("display.notebook_repr_html")
        widget = self._widget_of(self) if self._widget_of and html else None
        return {} if widget is None else widget._repr_mimebundle_(**options)


def _parse_times(texts: Iterable[Any]) -> pd.Series[Any]:
    """Parse ISO 8601 texts into a column of UTC times."""
    # As the journal reads them: pandas refuses some times that are valid there.
    times = [datetime.fromisoformat(text) if isinstance(text, str) else text for text in texts]
    moments = pd.Series(pd.to_datetime(times, utc=True))
    return moments.astype("datetime64[us, UTC]")


def _make_object_frame(
    columns: Mapping[str, Sequence[Any]],
    texts: Iterable[str] = (),
    labels: Sequence[Any] | None = None,
    names: Names = (),
) -> pd.DataFrame:
    """Make a frame of object columns; those in `texts` are text, `labels` are its index."""
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
