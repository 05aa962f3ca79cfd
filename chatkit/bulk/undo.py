"""Undo: the plan that takes a run back, made from its journal alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from msgspec.structs import replace

from chatkit.bulk.apply import PlanTarget
from chatkit.bulk.changes import Change, Kind
from chatkit.bulk.journal import Journal, KeptRun
from chatkit.bulk.outcomes import Row, rows_of_journal
from chatkit.bulk.plan import Left, Plan, PlanPart, RefusedCell, Setting
from chatkit.endpoints import Endpoints
from chatkit.errors import JournalError
from chatkit.util.display import many

_NEXT = "leave it, or put it right by hand"


def undo_plan(
    journal: Journal,
    target: PlanTarget,
    *,
    include_adopted: bool,
    only: Collection[int] | None = None,
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
    """
    changes: list[Change] = []
    refused: list[RefusedCell] = []
    header = journal.header
    whole = rows_of_journal(journal)
    rows = whole if only is None else [row for row in whole if row.n in only]
    landed = ("applied", "differs", "unknown")
    done = [row for row in rows if row.state in landed or row.evidence == "gone" or _doubtful(row)]
    at_stake = {row.n for row in done}
    left = [_left(row) for row in rows if row.n not in at_stake]
    twins = 0
    for row in reversed(done):
        reason = ""
        if row.state == "unknown":
            reason = "nobody knows yet whether it landed: chatkit.resume finds out"
        elif row.state == "conflict":
            reason = f"its answer was lost, so it may have landed before: {row.reason}"
        elif row.change.undo == "never":
            reason = row.change.loss
        elif row.evidence == "gone" and not include_adopted:
            reason = row.reason
        elif row.evidence == "adopted" and row.change.kind == "create" and not include_adopted:
            reason = "its answer was lost; it was found, but somebody else may have made it"
        elif _of_another(row, target.of(row.change.code, row.change.noun)):
            reason = "the service answered it with another record, which is not to be deleted"
        if reason:
            adopted = row.evidence in ("adopted", "gone")
            step = "undo(…, include_adopted=True)" if adopted else _NEXT
            refused.append(RefusedCell(row.change.row, "", row.change.label, reason, step))
        else:
            back = _back(row, target.of(row.change.code, row.change.noun))
            changes.append(back)
            if include_adopted:
                changes += [replace(back, key=key) for key in row.duplicates]
            else:
                twins += len(row.duplicates)
    setting = Setting(
        account=target.transport.connection.account,  # the run may have been applied elsewhere
        noun=header.noun,
        names=header.names,
        total=len(changes),
        known=header.known,
        undoes=header.run,
        parts={
            noun: PlanPart(sum(change.noun == noun for change in changes), known)
            for noun, known in header.known_by.items()
        },
    )
    lossy = Counter(row.change.loss for row in done if row.change.undo not in ("exactly", "never"))
    notes = [f"{count:,} rows cannot be restored exactly: {why}" for why, count in lossy.items()]
    if twins:
        notes.append(
            f"{many(twins, 'record')} just like one of this run appeared beside it and stay: "
            "undo(…, include_adopted=True) deletes them too"
        )
    if len(rows) < len(whole):
        notes.append(
            f"{len(rows):,} of the {many(len(whole), 'row')} of the run: the others stay as they "
            "are"
        )
    if left:
        said = Counter(row.state for row in left)
        counts = ", ".join(f"{count:,} {state}" for state, count in said.items())
        notes.append(
            f"{many(len(left), 'row')} of the run changed nothing ({counts}): plan.left_out "
            "shows them"
        )
    return Plan(target, setting, changes, refused, notes=notes, skip_invalid=True, left=left)


def taken_back(run: str, rows: Collection[Row], kept: Collection[KeptRun]) -> set[int]:
    """Find which rows of a run other runs have taken back, by their numbers.

    A row whose undo was taken back itself is there again.

    Args:
        run: The name of the run.
        rows: Its rows.
        kept: The runs there are.
    """
    found = set()
    for later in kept:
        if later.header is None or later.header.undoes != run or later.run <= run:
            continue
        try:
            with later.read() as journal:
                back = rows_of_journal(journal)
        except JournalError:
            continue  # runs() lists it as damaged
        again = taken_back(later.run, back, kept)
        landed = [row for row in back if row.state in ("applied", "differs")]
        found |= {_identity(row) for row in landed if row.n not in again}
    return {row.n for row in rows if _identity(row) in found} if found else set()


def _identity(row: Row) -> tuple[str, str | None, str | None, str]:
    """Name what a row and the row that takes it back have in common."""
    return repr(row.change.row), row.change.noun, row.change.code, row.change.label


def _doubtful(row: Row) -> bool:
    """Whether a conflict may hide that the row itself has landed: somebody changed it since."""
    return row.state == "conflict" and row.was_unknown and row.change.kind != "create"


def _left(row: Row) -> Left:
    change = row.change
    return Left(change.row, change.kind, change.label, row.state, row.reason)


def _of_another(row: Row, endpoints: Endpoints[Any]) -> bool:
    """Whether a create was answered with a record of another name: its key is not ours."""
    wanted = row.change.after
    named = endpoints.natural({**wanted, **(row.after or {})})
    return row.change.kind == "create" and named != endpoints.natural(wanted)


def _back(row: Row, endpoints: Endpoints[Any]) -> Change:
    """Turn one change round: from what is there now to what was there before."""
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
            after = {name: _empty(before[name], endpoints, name) for name in now if name in before}
            # a natural key of several fields changes as a whole: the order of rows depends on it
            now = {n: v for n, v in change.before.items() if n not in change.after} | now
        case "delete":
            kind, key = "create", row.key if endpoints.chosen else None
            after = {name: value for name, value in before.items() if value is not None}
            now = {endpoints.key: row.key}
    undo, loss = endpoints.undo(kind, now, after)
    return replace(
        change, kind=kind, key=key, before=now, after=after, undo=undo, loss=loss, seen=None
    )


def _empty(value: Any, endpoints: Endpoints[Any], name: str) -> Any:
    """Write nothing as the service takes it: a text that cannot be null is emptied."""
    field = endpoints.body.model_fields.get(name)
    return "" if value is None and field is not None and field.annotation is str else value
