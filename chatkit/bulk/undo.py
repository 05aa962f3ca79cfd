"""Undo: the plan that takes a run back, made from its journal alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from msgspec.structs import replace

from chatkit.bulk.apply import PlanTarget
from chatkit.bulk.changes import Change, Kind, LeftOutRow, RefusedCell
from chatkit.bulk.endpoints import Endpoints
from chatkit.bulk.journal import Journal, KeptRun
from chatkit.bulk.outcomes import Row, read_rows
from chatkit.bulk.plan import Plan, Setting, parse_fleet_id
from chatkit.errors import JournalError
from chatkit.util.display import many

_NEXT_STEP = "leave it, or put it right by hand"


def make_undo_plan(
    journal: Journal,
    target: PlanTarget,
    *,
    include_adopted: bool,
    only: Collection[int] | None = None,
    later: Collection[KeptRun] = (),
) -> Plan:
    """Make the plan that takes back what a run has done, its last rows first.

    Every row of the run is accounted for: it is taken back by a change of the plan, or it is
    in `plan.refused` because it cannot be, or in `plan.left_out` because it changed nothing.
    What was gone already when its delete arrived is not brought back: somebody else deleted it.
    Rows that somebody has changed since become conflicts when the plan is applied.

    Args:
        journal: What was done.
        target: Where the records are.
        include_adopted: Take back also what was found after a lost answer: it looks like
            ours, but somebody else may have made it, or deleted it.
        only: The numbers of the rows to take back; the others are left as they are.
        later: All runs that have a journal: what they have taken back is left out.
    """
    changes: list[Change] = []
    refused: list[RefusedCell] = []
    header = journal.header
    all_rows = read_rows(journal)
    rows = all_rows if only is None else [row for row in all_rows if row.n in only]
    undone = find_undone_rows(header.run, all_rows, later)
    done, left_out = [], []
    for row in rows:
        if _may_have_taken_effect(row) and row.n not in undone:
            done.append(row)
        else:
            change, state = row.change, "taken back" if row.n in undone else row.state
            left = LeftOutRow(change.row, change.kind, change.label, state, row.reason)
            left_out.append(left)
    for row in reversed(done):
        change, endpoints = row.change, target.of(row.change.code, row.change.noun)
        if reason := _explain_refusal(row, endpoints, include_adopted=include_adopted):
            adopted = row.evidence in ("adopted", "gone")
            step = "undo(…, include_adopted=True)" if adopted else _NEXT_STEP
            if row.state == "unknown":
                step = f"chatkit.resume({parse_fleet_id(header.run) or header.run!r}) finds out"
            refused.append(RefusedCell(change.row, "", change.label, reason, step))
            continue
        reverse = _reverse_change(row, endpoints)
        changes.append(reverse)
        if include_adopted:
            changes += [replace(reverse, key=key) for key in row.duplicates]
    setting = Setting(
        account=target.transport.connection.account,  # the run may have been applied elsewhere
        noun=header.noun,
        names=header.names,
        parts=header.parts,
        undoes=header.run,
        rate=journal.read_last_rate(),
        folder=header.folder,
    )
    lossy = Counter(row.change.loss for row in done if row.change.undo not in ("exactly", "never"))
    notes = [
        f"{many(count, 'row')} cannot be restored exactly: {why}" for why, count in lossy.items()
    ]
    duplicates = sum(len(row.duplicates) for row in done)
    if duplicates and not include_adopted:
        notes.append(
            f"{many(duplicates, 'record')} just like one of this run appeared beside it and stay: "
            "undo(…, include_adopted=True) deletes them too"
        )
    if len(rows) < len(all_rows):
        notes.append(
            f"{len(rows):,} of the {many(len(all_rows), 'row')} of the run: the others stay as "
            "they are"
        )
    if left_out:
        states = Counter(row.state for row in left_out)
        counts = ", ".join(f"{count:,} {state}" for state, count in states.items())
        notes.append(
            f"{many(len(left_out), 'row')} of the run left nothing to take back ({counts}): "
            "plan.left_out shows them"
        )
    return Plan(target, setting, changes, refused, notes=notes, skip_invalid=True, left=left_out)


def find_undone_rows(run: str, rows: Collection[Row], kept: Collection[KeptRun]) -> set[int]:
    """Find the rows of a run that later runs have undone; return their numbers.

    A row whose undo was undone itself does not count.

    Args:
        run: The name of the run.
        rows: Its rows.
        kept: All runs that have a journal.
    """
    identities = set()
    for later in kept:
        if later.header is None or later.header.undoes != run or later.run <= run:
            continue
        try:
            with later.read() as journal:
                back = read_rows(journal)
        except JournalError:
            continue  # runs() lists it as damaged
        again = find_undone_rows(later.run, back, kept)
        effective = [row for row in back if row.state in ("applied", "differs")]
        identities |= {_make_row_identity(row) for row in effective if row.n not in again}
    return {row.n for row in rows if _make_row_identity(row) in identities} if identities else set()


def _make_row_identity(row: Row) -> tuple[str, str | None, str | None, str]:
    """Return what a row and the row that undoes it have in common."""
    return repr(row.change.row), row.change.noun, row.change.code, row.change.label


def _may_have_taken_effect(row: Row) -> bool:
    """Return whether a row has changed something, or may have: a conflict may hide that it did."""
    changed_since = row.state == "conflict" and row.was_unknown and row.change.kind != "create"
    effective = row.state in ("applied", "differs", "unknown")
    return effective or row.evidence == "gone" or changed_since


def _explain_refusal(row: Row, endpoints: Endpoints[Any], *, include_adopted: bool) -> str:
    """Return why a row cannot be undone; empty if it can."""
    after = row.change.after
    create = row.change.kind == "create"
    if row.state == "unknown":
        return "it is not known yet whether it took effect"
    if row.state == "conflict":
        return f"its answer was lost, so it may have taken effect before: {row.reason}"
    if row.change.undo == "never":
        return row.change.loss
    if row.evidence == "gone" and not include_adopted:
        return row.reason
    if row.evidence == "adopted" and create and not include_adopted:
        return f"{row.reason}: somebody else may have made it"
    if create and endpoints.make_natural_name(
        {**after, **(row.after or {})}
    ) != endpoints.make_natural_name(after):
        return "the service answered it with another record, which is not to be deleted"
    return ""


def _reverse_change(row: Row, endpoints: Endpoints[Any]) -> Change:
    """Make the change that undoes a row: from the values of now to those before it."""
    change = row.change
    now = dict(change.after)
    if row.after is not None:  # it read back otherwise
        now = {name: row.after.get(name) for name in now}
    before = {**change.before, **(row.live or {})}  # what the plan saw, and then what was read
    kind: Kind
    match change.kind:
        case "create":
            kind, key, after = "delete", row.key, {}
        case "update":
            kind, key = "update", row.key
            after = {
                name: _make_sendable(before[name], endpoints, name)
                for name in now
                if name in before
            }
            # a natural key of several fields changes as a whole: the order of rows depends on it
            now = {n: v for n, v in change.before.items() if n not in change.after} | now
        case "delete":
            kind, key = "create", row.key if endpoints.chosen else None
            # an empty name is sent: somebody may have created it again with another one
            emptied = {n: _make_sendable(value, endpoints, n) for n, value in before.items()}
            after = {name: value for name, value in emptied.items() if value is not None}
            now = {endpoints.key: row.key}
    undo, loss = endpoints.undo(kind, now, after)
    return replace(
        change, kind=kind, key=key, before=now, after=after, undo=undo, loss=loss, seen=None
    )


def _make_sendable(value: Any, endpoints: Endpoints[Any], name: str) -> Any:
    """Return a value as it can be sent: "" for None where the field takes no null."""
    field = endpoints.body.model_fields.get(name)
    return "" if value is None and field is not None and field.annotation is str else value
