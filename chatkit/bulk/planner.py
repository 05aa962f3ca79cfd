"""Planner: an edited frame becomes a plan.

The frame is checked, its rows are matched with the records that were read, its cells are compared
with theirs, and the changes are validated: what is refused, what is to be allowed by name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any, Unpack

import msgspec
import numpy as np
import pandas as pd

from chatkit.api.record import KEEP_DIGITS
from chatkit.bulk.changes import Change, Kind, RefusedCell
from chatkit.bulk.comparison import Rows, is_same_value, looks_unedited
from chatkit.bulk.endpoints import Endpoints
from chatkit.bulk.journal import PlanPart
from chatkit.bulk.matching import Edits, Mask, PlannedCell, join_columns
from chatkit.bulk.plan import Plan, Setting
from chatkit.bulk.plan_input import PlanInput, PlanOptions, PlanSource, read_plan_input
from chatkit.errors import Problem, split_reason
from chatkit.frames.frame import cell_to_python, get_column_or_level, records
from chatkit.frames.snapshot import read_origin
from chatkit.report import (
    Finding,
    FindingCounts,
    format_finding_with_hint,
    make_cell_problem,
    make_document_problem,
    select_errors,
    select_errors_and_warnings,
)
from chatkit.util.display import MISSING, many
from chatkit.util.display import values as in_words

Cells = list[PlannedCell]
#: Rows that pass their numbers round, and repeated rows, are named in part where there are more.
_NAMED_ROWS = 4
#: What to say to a plan for the other values, where rows met existing records.
_UPDATE_HINT = 'plan(…, existing="update") writes the value of the frame'


def make_plan(
    source: PlanSource,
    endpoints: Endpoints[Any],
    frame: pd.DataFrame | Iterable[Mapping[str, Any]] | None,
    delete: Iterable[Any] | None = None,
    **options: Unpack[PlanOptions],
) -> Plan:
    """Make the plan of a frame; see `Resource.plan` for the other arguments.

    `source` reads and writes the records, `endpoints` are those of the resource: for a frame of
    many templates the contents of any of them.
    """
    basis = read_plan_input(source, endpoints, frame, delete, options)
    planner = _Planner(source, endpoints, basis, options)
    changes = planner.plan()
    # Who has a unique name needs no list of those who were there before.
    known = () if endpoints.unique else tuple(int(key) for key in basis.base.index)
    setting = Setting(
        account=source.transport.connection.account,
        noun=endpoints.noun,
        names=tuple(name if name is None else str(name) for name in basis.frame.index.names),
        parts={endpoints.noun: PlanPart(len(basis.base), known, int(planner.matched.sum()))},
    )
    writes = [change for change in changes if change.kind != "skip"]
    return Plan(
        source,
        setting,
        changes,
        planner.refusals.cells,
        notes=planner.notes(),
        skip_invalid=options.get("skip_invalid", False),
        written=endpoints.make_texts_to_keep(writes, basis.base, source.full),
    )


@dataclass(slots=True, eq=False)
class PlannedRow:
    """A row of the frame on its way from its edited cells to a change.

    Only rows that are edited, new, deleted or skipped become one.
    """

    after: dict[str, Any] = field(default_factory=dict)  #: its cells that count
    before: dict[str, Any] = field(default_factory=dict)  #: what its record has, as far as shown
    warnings: list[Finding] | None = None  #: in its documents, and in the record it makes
    change: Change = field(init=False)
    #: Its natural key before and after, where it changes.
    names: tuple[str | None, str | None] = (None, None)


class _Planner:
    """Planner of changes, column by column, then row by row; it refuses what cannot be sent.

    Rows are numbers of rows of the frame; `matched` marks those that matched an existing record
    without naming its key.
    """

    def __init__(
        self,
        source: PlanSource,
        endpoints: Endpoints[Any],
        basis: PlanInput,
        options: PlanOptions,
    ) -> None:
        self._source, self._endpoints, self._basis = source, endpoints, basis
        self._base, self._broken = basis.base, options.get("broken")
        self._existing = existing = options.get("existing") or endpoints.existing
        self._edits = edits = Edits(
            basis.frame,
            basis.base,
            endpoints,
            duplicates=options.get("duplicates", False),
            gone=basis.deletes,
            unknown_account=basis.unknown_account,
        )
        self.refusals = edits.refusals
        self.refusals.cells += basis.refused
        edits.deleted = edits.deleted | np.isin(edits.positions, basis.deletes)
        # A row with a key is an edit of that record. Where people choose the key, as for contents,
        # it names the record too, unless `existing` says otherwise and the frame is not known to
        # be what was read, edited.
        named = edits.has_key
        if endpoints.chosen:
            named = np.full(len(named), existing == "update" or not basis.no_snapshot)
        self.matched: Mask = (edits.positions >= 0) & ~edits.deleted & ~named
        self._unsure, self._older = self._find_unsure_rows()
        self._rows = defaultdict[int, PlannedRow](PlannedRow)  # what is sent
        self._skips = defaultdict[int, PlannedRow](PlannedRow)  # what is not, as `existing` asks
        self._hides_fields = False  # whether a record does not show a field that its row says
        self._stopped = False  # whether errors in a document have kept a row from being planned
        # For the notes:
        self._ignored: dict[str, None] = {}  # fields that the service sets
        self._unsent: set[str] = set()  # fields that new rows say, and the service sets
        self._rewritten: dict[str, None] = {}  # fields of the service only written otherwise
        self._unsure_labels: set[Any] = set()  # rows that may be older than somebody else's edit

    def _find_unsure_rows(self) -> tuple[Mask, Mask]:
        """Find rows whose differences may be edits or outdated values.

        It is not known what they were when they were read. A record that still has the version
        of its row has not changed since.

        Returns:
            These rows; and those of another version than the record they are compared with, so
            that all that the service sets may differ.
        """
        edits, version = self._edits, self._endpoints.version
        older: Mask = (edits.positions >= 0) & edits.has_key & ~edits.deleted & ~self.matched
        dated = np.append(self._basis.dated, True)  # -1, of a new row, counts as dated
        no_snapshot = ~dated[edits.positions]
        if not self._basis.named:
            older &= no_snapshot
        rows = np.flatnonzero(older)
        if len(rows) and version in edits.columns:
            pairs = zip(
                edits.get_base_values(version, rows), edits.values(version, rows), strict=True
            )
            older[rows] = [
                None in (live, read) or not is_same_value(live, read) for live, read in pairs
            ]
        return older & no_snapshot, older

    def plan(self) -> list[Change]:
        """Plan all rows; return their changes in the order of the rows."""
        edits = self._edits
        changed = edits.changed()
        for name, cells in changed.items():
            certain = self._refuse_uncertain(name, cells)
            self._add_column(name, self._drop_service_fields(name, certain, changed))
        self._add_unlisted_fields()
        self._plan_updates()
        self._plan_skips()
        self._plan_deletes()
        self._plan_creates()
        self._check_records()
        self._refuse_over_limit()
        self._refuse_taken_names()
        for row in self._rows.values():
            if row.warnings:
                texts = [(each.severity, format_finding_with_hint(each)) for each in row.warnings]
                row.change = msgspec.structs.replace(row.change, findings=texts)
        kinds = self._rows, self._skips  # a row may fill one field and skip another
        rows_of_both = sorted({**self._rows, **self._skips})
        return [kind[row].change for row in rows_of_both for kind in kinds if row in kind]

    # --- compare cells ------------------------------------------------------------

    def _drop_service_fields(self, name: str, cells: Cells, changed: Mapping[str, Cells]) -> Cells:
        """Drop cells of a column that the service sets, unless they edit what was read."""
        body, endpoints = self._endpoints.body, self._endpoints
        if name in body.model_fields:
            return cells
        ignored = {c.row for c in cells if self._basis.other_account or self.matched[c.row]}
        if name in endpoints.instead and (
            parts := [n for n in body.list_updatable_fields() if n in name]
        ):
            # who has edited first_name and nothing else must hear that name is the way
            if self._basis.other_account:
                rows = np.array([cell.row for cell in cells], np.int64)
                known = {*parts} & {*self._edits.columns, *self._edits.unknown}
                changed = self._edits.filled(rows, known)
            ignored &= {cell.row for cell in changed.get(parts[0], ())}
        if ignored:
            self._ignored[name] = None
        return [cell for cell in cells if cell.row not in ignored]

    def _refuse_uncertain(self, name: str, cells: Cells) -> Cells:
        """Refuse cells that may be older than somebody else's edit; return the others.

        Cells of a read-only column that only look edited are dropped.
        """
        if name not in self._endpoints.body.list_updatable_fields():
            edited = [cell for cell in cells if not self._older[cell.row]]
            if self._basis.no_snapshot or self._basis.named:
                edited = [cell for cell in edited if not looks_unedited(cell.live, cell.value)]
            if len(edited) < len(cells):
                self._rewritten[name] = None
            return edited
        if not self._unsure.any():
            return cells
        step = f"name the frame that it was made from: {self._source.place}.plan(frame, base=…)"
        for row, value, live in cells:
            if self._unsure[row]:
                has = "does not show it" if live is MISSING else f"has {in_words(live)} now"
                reason = f"may be your edit, or older than somebody else's: the account {has}"
                self.refusals.add(row, name, value, reason, step)
                self._unsure_labels.add(self.refusals.label(row))
        return [cell for cell in cells if not self._unsure[cell.row]]

    def _add_column(self, name: str, cells: Cells) -> None:
        """Add edited cells of a column to what is sent, or to what is kept as `existing` asks."""
        body = self._endpoints.body
        updatable = name in body.list_updatable_fields()
        if self._existing != "update" and name in body.model_fields and self.matched.any():
            fills = self._existing == "fill" and updatable
            kept = [
                cell
                for cell in cells
                if self.matched[cell.row] and not (fills and cell.live in (None, "", [], {}))
            ]
            self._add_cells(self._skips, name, kept)
            rows = {cell.row for cell in kept}
            cells = [cell for cell in cells if cell.row not in rows]
        if updatable:
            self._add_cells(self._rows, name, cells)
        else:
            self._refuse_read_only(name, cells)

    def _add_cells(self, planned: dict[int, PlannedRow], name: str, cells: Cells) -> None:
        """Add cells of one column to rows, each with the value that it replaces."""
        sent = planned is self._rows
        for number, value, live in self._select_sendable(name, cells, sent=sent):
            row = planned[number]
            row.after[name] = value
            if live is not MISSING:
                row.before[name] = live
            elif sent:
                self._hides_fields = True

    def _add_unlisted_fields(self) -> None:
        """Compare fields that lists do not show, with records that are read in full."""
        edits, body = self._edits, self._endpoints.body
        fields = [name for name in edits.unknown if name in body.list_updatable_fields()]
        matched = np.flatnonzero((edits.positions >= 0) & ~edits.deleted)
        filled = edits.filled(matched, fields) if fields else {}
        if not filled:
            return
        rows = sorted({cell.row for cells in filled.values() for cell in cells})
        full = self._source.full(self._record_keys(rows))
        for name, cells in filled.items():
            column = full[name] if name in full.columns else pd.Series(dtype=object)
            keys = self._record_keys([cell.row for cell in cells])
            cells = [
                cell._replace(live=cell_to_python(column.loc[key])) if key in column.index else cell
                for cell, key in zip(cells, keys, strict=True)
            ]
            differing = [
                cell
                for cell in cells
                if cell.live is MISSING or not is_same_value(cell.live, cell.value)
            ]
            self._add_column(name, self._refuse_uncertain(name, differing))

    def _record_keys(self, rows: Rows | list[int]) -> list[Any]:
        """Return the keys of rows that are records of the base."""
        keys: list[Any] = self._base.index.take(self._edits.positions[rows]).tolist()
        return keys

    def _select_sendable(
        self, name: str, cells: Cells, *, sent: bool = True
    ) -> Iterator[tuple[int, Any, Any]]:
        """Yield the cells that can be sent, each with its value as it is sent; refuse the others.

        Without `sent` documents are not checked: they are only shown.
        """
        if not cells:
            return
        endpoints, values = self._endpoints, [cell.value for cell in cells]
        if not endpoints.body.accepts_text(name):  # empty text clears what cannot hold it, too
            values = [None if value == "" else value for value in values]
        good, wrong = endpoints.body.column(name, values)
        for place, problems in wrong.items():
            self._refuse_cells(cells[place].row, problems)
        document = sent and name in endpoints.documents
        for place, value in good.items():
            row, _, live = cells[place]
            if document and (findings := endpoints.findings(name, value)):
                place_of = partial(make_document_problem, name, value)
                if not self._accept(row, findings, place_of, "correct the document"):
                    continue
            yield row, value, live

    # --- one change a row ---------------------------------------------------------

    def _select_good(self, planned: Mapping[int, PlannedRow]) -> tuple[Rows, Any]:
        """Select the rows without a refused cell; return their numbers in order, and them."""
        numbers = sorted(planned.keys() - self.refusals.rows)
        good = defaultdict[int, PlannedRow](PlannedRow, {n: planned[n] for n in numbers})
        return np.array(numbers, np.int64), good

    def _plan_updates(self) -> None:
        """Plan the updates, each with how well it can be undone."""
        edits, endpoints = self._edits, self._endpoints
        numbers, self._rows = self._select_good(self._rows)
        lossy_fields = [*endpoints.lossy_fields, *endpoints.natural_key]
        if self._hides_fields:  # where a field is not shown, the version shows others' edits
            lossy_fields.append(endpoints.version)
        names = [name for name in dict.fromkeys(lossy_fields) if name in self._base.columns]
        columns = [edits.get_base_values(name, numbers) for name in names]
        labels = edits.labels.take(numbers).tolist()
        name_fields = endpoints.list_name_fields()
        for n, (number, label, key) in enumerate(
            zip(numbers.tolist(), labels, self._record_keys(numbers), strict=True)
        ):
            row = self._rows[number]
            known = {name: cells[n] for name, cells in zip(names, columns, strict=True)}
            known |= row.before
            if not row.after.keys().isdisjoint(name_fields):  # it changes as a whole
                row.before |= {n: known[n] for n in name_fields if n in known}
            self._set_change(row, "update", label, key, known)

    def _plan_skips(self) -> None:
        """Plan a skip for each row whose record is kept; or refuse them, as `existing` asks."""
        numbers, self._skips = self._select_good(self._skips)
        known = records(self._base, self._edits.positions[numbers].tolist())
        for number, key, record in zip(
            numbers.tolist(), self._record_keys(numbers), known, strict=True
        ):
            code, key = self._split_key(key)
            label, row = self._record_label(code, key, record), self._skips[number]
            if self._existing == "refuse":
                del self._skips[number]
                for name, value in row.after.items():
                    has = "a value that is not shown"
                    has = in_words(row.before[name]) if name in row.before else has
                    reason = f"{label} exists, and has {has}"
                    self.refusals.add(number, name, value, reason, _UPDATE_HINT)
                continue
            row.change = Change(
                row=self.refusals.label(number),
                kind="skip",
                key=key,
                label=label,
                before=row.before,
                after=row.after,
                code=code,
            )

    def _plan_deletes(self) -> None:
        """Plan the deletes that the column `delete` marks, and those that `delete=` names.

        Each has the fields that could be sent again. Records in the frame keep their row.
        """
        edits, base, named = self._edits, self._base, self._basis.deletes
        marked = np.flatnonzero(edits.deleted & (edits.positions >= 0))
        extra = named[~np.isin(named, edits.positions)]
        positions = np.concatenate([edits.positions[marked], extra]).tolist()
        keys = base.index[positions].tolist()
        fill = (None,) * (edits.labels.nlevels - 1)
        labels = [self.refusals.label(number) for number in marked.tolist()]
        labels += [(key, *fill) if fill else key for key in keys[len(labels) :]]
        count = len(edits.labels)
        numbers = [*marked.tolist(), *range(count, count + len(extra))]
        sendable = self._endpoints.body.list_updatable_fields()
        for number, label, key, known in zip(
            numbers, labels, keys, records(base, positions), strict=True
        ):
            before = {name: value for name, value in known.items() if name in sendable}
            row = self._rows[number] = PlannedRow(before=before)
            self._set_change(row, "delete", label, key, known)

    def _plan_creates(self) -> None:
        """Plan the creates: the rows that match no record."""
        edits, endpoints = self._edits, self._endpoints
        new = {number: self._rows[number] for number in edits.new.tolist()}
        left: dict[str, Cells] = {}
        for name, cells in edits.filled(edits.new, [*edits.columns, *edits.unknown]).items():
            if name in endpoints.body.model_fields:
                for number, value, _ in self._select_sendable(name, cells):
                    new[number].after[name] = value
            elif name in endpoints.record.model_fields:
                left[name] = cells
        for name, cells in left.items():
            way = any(other in name for other in endpoints.body.list_updatable_fields())
            if name in endpoints.instead and (way or not self._basis.other_account):
                # unless the right way was taken as well
                unsaid = [
                    cell
                    for cell in cells
                    if not any(v for other, v in new[cell.row].after.items() if other in name)
                ]
                self._refuse_read_only(name, unsaid)
        if self._basis.other_account:
            self._ignored |= dict.fromkeys(left)
        else:
            self._unsent.update(left)
        labels = edits.labels.take(edits.new).tolist()
        for (number, row), label in zip(new.items(), labels, strict=True):
            key = edits.key(number) if endpoints.chosen else None
            if endpoints.chosen and key is None:
                for name in map(str, self._base.index.names):
                    column = get_column_or_level(self._basis.frame, name)
                    if column is None or pd.isna(column[number]) or column[number] == "":
                        step = f"fill in the {name} of each row"
                        self.refusals.add(number, name, None, "is required", step)
            elif endpoints.chosen:
                row.after[endpoints.key] = self._split_key(key)[1]
            if number not in self.refusals.rows and (
                missing := [n for n in endpoints.required() if n not in row.after]
            ):
                self._refuse_cells(number, [Problem(n, "", "is required") for n in missing])
            if number in self.refusals.rows:
                del self._rows[number]
            else:
                self._set_change(row, "create", label, key, {})

    def _set_change(
        self, row: PlannedRow, kind: Kind, label: Any, key: Any, known: Mapping[str, Any]
    ) -> None:
        """Set the change of a row, with its label and how well it can be undone."""
        endpoints, after, before = self._endpoints, row.after, row.before
        code, key = self._split_key(key)
        undo, loss = endpoints.undo(kind, known, after)
        seen = known.get(endpoints.version) if after.keys() - before.keys() else None
        then = known
        if not after.keys().isdisjoint(endpoints.natural_key):
            then = {**known, **after}
            if not after.keys().isdisjoint(endpoints.list_name_fields()):
                row.names = endpoints.make_natural_name(known), endpoints.make_natural_name(then)
        row.change = Change(
            row=label,
            kind=kind,
            key=key,
            label=self._record_label(code, key, then),
            before=before,
            after=after,
            code=code,
            undo=undo,
            loss=loss,
            seen=None if seen is None else seen.isoformat(),
        )

    def _split_key(self, key: Any) -> tuple[str | None, Any]:
        """Split the key of a content into template code, if it has one, and language code."""
        code, key = key if isinstance(key, tuple) else (None, key)
        return code or self._endpoints.code, key

    def _record_label(self, code: str | None, key: Any, fields: Mapping[str, Any]) -> str:
        """Return the label of a record for people, with its template code if it has one."""
        endpoints = self._endpoints
        return f"{code}/{key}" if endpoints.chosen else endpoints.label(fields) or str(key)

    # --- refuse what cannot be sent, alone or together -------------------------------

    def _accept(
        self,
        number: int,
        findings: Sequence[Finding],
        problem_of: Callable[[Finding], Problem],
        next_step: str,
    ) -> bool:
        """Return whether a row can be sent with its findings; refuse errors, keep warnings.

        Args:
            number: The number of the row.
            findings: The findings in one of its documents, or in the record.
            problem_of: Makes the problem of an error, with its place.
            next_step: The advice for an error without a hint.
        """
        wrong = [] if self._broken else select_errors(findings)
        for finding in wrong:
            self._stopped = True
            self.refusals.add_text(number, *problem_of(finding)[:3], finding.hint or next_step)
        if not wrong and (warnings := select_errors_and_warnings(findings)):
            row = self._rows[number]
            row.warnings = [*(row.warnings or ()), *warnings]
        return not wrong

    def _refuse_read_only(self, name: str, cells: Cells) -> None:
        """Refuse edits to a read-only field, with the field to edit instead."""
        reason, step = explain_read_only(self._endpoints, name)
        for row, value, _ in cells:
            self.refusals.add(row, name, value, reason, step)

    def _refuse_cells(self, number: int, problems: Sequence[Problem]) -> None:
        """Refuse cells of a row that have problems."""
        for problem in problems:
            field = self._endpoints.body.model_fields.get(problem.field.partition(".")[0])
            reason, step = split_reason(problem.reason)
            if reason.endswith(KEEP_DIGITS) and "." not in problem.field:
                step = self._endpoints.as_text_advice
            step = step or (field and field.description) or "leave it out"
            self.refusals.add_text(number, problem.field, problem.value, reason, step)

    def _check_records(self) -> None:
        """Check each record as it would be after its change; drop the changes that fail."""
        numbers = list(self._rows)
        changes = [row.change for row in self._rows.values()]
        findings = self._endpoints.check_changes(changes, self._base, self._source.full)
        for place, each in findings.items():
            place_of = partial(make_cell_problem, changes[place].after)
            if not self._accept(numbers[place], each, place_of, "correct it"):
                del self._rows[numbers[place]]

    def _refuse_over_limit(self) -> None:
        """Refuse creates beyond what an account may hold."""
        most, total = self._endpoints.most, len(self._base)
        if most is None:
            return
        creates = [n for n in sorted(self._rows) if self._rows[n].change.kind == "create"]
        over = max(0, self._total_after() - most)
        for number in creates[: -over - 1 : -1]:
            change = self._rows.pop(number).change
            reason = f"an account has at most {most} {self._endpoints.noun}s, and has {total}"
            step = "delete one first, in this plan or before it"
            self.refusals.cells.append(RefusedCell(change.row, "", change.label, reason, step))

    def _total_after(self) -> int:
        """Count the records that the account holds once the plan is applied."""
        kinds = [row.change.kind for row in self._rows.values()]
        return len(self._base) + kinds.count("create") - kinds.count("delete")

    def _refuse_taken_names(self) -> None:
        """Refuse rows whose natural key another record keeps, or that swap theirs in a cycle.

        A natural key that a delete or an update of the plan releases may be taken: `Run` sends
        the rows in that order. In a cycle no row can be first.
        """
        if not self._endpoints.single or self._endpoints.chosen:
            return
        names = {number: row.names for number, row in self._rows.items()}
        requests = {n: new for n, (old, new) in names.items() if new not in (None, old)}
        if not requests:
            return
        fields = self._endpoints.list_name_fields()
        known = join_columns(self._base.reindex(columns=list(fields)))
        holding = known[known.isin(set(requests.values()))]
        holders: dict[str, list[Any]] = {}
        for key, text in zip(holding.index.tolist(), holding.tolist(), strict=True):
            holders.setdefault(text, []).append(key)
        while blocked := self._find_blocked_rows(requests, holders):
            for number, (reason, step) in blocked.items():
                del self._rows[number]
                self.refusals.add(number, fields[-1], requests[number], reason, step)

    def _find_blocked_rows(
        self, requests: Mapping[int, str | None], holders: Mapping[Any, Sequence[Any]]
    ) -> dict[int, tuple[str, str]]:
        """Find rows that block each other in any order; return reason and next step of each."""
        changes = {n: row.change for n, row in self._rows.items()}
        updates = {n for n in requests if n in changes and changes[n].kind == "update"}
        releasing = {c.key: n for n, c in changes.items() if c.kind == "delete" or n in updates}
        noun, key = self._endpoints.noun, self._endpoints.key
        blocked = {}
        waits: dict[int, int] = {}  # an update, and the update that must be sent before it
        for row, text in requests.items():
            if row not in changes:
                continue
            for holder in holders.get(text, ()):
                if holder == changes[row].key:
                    continue
                if holder not in releasing:
                    reason = f"the {noun} with the {key} {holder} has it, and keeps it in this plan"
                    blocked[row] = (reason, "plan that one first, or keep one of them")
                elif row in updates and releasing[holder] in updates:
                    waits[row] = releasing[holder]
        try:
            TopologicalSorter({row: [before] for row, before in waits.items()}).prepare()
        except CycleError as error:  # another one, if there is, is found without this one
            cycle = sorted({*error.args[1]})
            rows = _name_few([str(self.refusals.label(row)) for row in cycle])
            named = self._endpoints.list_name_fields()[-1]
            reason = (
                f"rows {rows} exchange their {named}s, and the service keeps each {named} "
                "unique: none of them can be sent first"
            )
            step = f"give one of these rows a free {named} in a plan of its own, then plan again"
            blocked |= dict.fromkeys(cycle, (reason, step))
        return blocked

    # --- what else is to be known -------------------------------------------------------

    def notes(self) -> list[str]:
        """Return the notes of the plan: what was ignored, merged or skipped, and findings."""
        noun, edits, place = self._endpoints.noun, self._edits, self._source.place
        notes = self._note_unknown_columns()
        if deleted := self._basis.deleted:
            verb = "is" if deleted == 1 else "are"
            notes.append(
                f"{many(deleted, noun)} that the list shows {verb} deleted: created again "
                "under the old id."
            )
        if emptied := edits.count_emptied(self._endpoints.body.list_updatable_fields(), self._rows):
            cells = many(emptied, "emptied cell")
            notes.append(f'{cells} left untouched: None and NA change nothing, "" clears.')
        if self._unsent:
            names = ", ".join(sorted(self._unsent))
            notes.append(f"New rows are sent without {names}: the service sets them.")
        if self._unsure_labels:
            plan = f"{place}.plan(frame, base="
            again = f"{place}.frame({'codes' * place.endswith('templates')})"
            rows = many(len(self._unsure_labels), "row")
            notes.append(
                f"{rows} may be edited, or older than what somebody else has written: the frame "
                "does not hold the values that were read, which merge, join and files lose. "
                "Pass the frame that it was made from: "
                f"{plan}{noun}s). If all that differs is your edit: {plan}{again})."
            )
        if self._rewritten:
            names = ", ".join(self._rewritten)
            notes.append(f"Ignored, as the service sets them: {names}.")
        label = self.refusals.label
        if united := {label(row): label(first) for row, first in edits.merged.items()}:
            each = "" if self._endpoints.single else "; duplicates=True takes each on its own"
            pairs = _name_few([f"{row!r} ({first!r})" for row, first in united.items()])
            notes.append(f"Rows merged into an earlier row of the same {noun}: {pairs}{each}.")
        counts = FindingCounts(noun)
        for row in self._rows.values():
            if row.warnings:
                counts.add(row.change.label, row.warnings)
        notes += counts.notes()
        if self._stopped:
            notes.append(f"{self._endpoints.refuses} plan(…, broken=True) plans it anyway.")
        names = ", ".join(self._ignored)
        if self._basis.other_account:
            what = f": what the service sets is ignored ({names})" if names else ""
            notes.append(f"The frame is of another account{what}.")
        elif names:
            notes.append(f"What the service sets is ignored in rows without a key: {names}.")
        if not (self._rows or self._skips or self.refusals.cells or self._basis.other_account):
            missing = len(self._base) - len(np.unique(edits.positions[edits.positions >= 0]))
            if missing and len(edits.labels) and "account" in read_origin(self._basis.frame):
                notes.append(
                    f"{many(missing, noun)} that the frame does not have stay: plan(…, delete=[…]) "
                    "deletes what it names."
                )
        if self._skips:
            notes.append(
                "Skipped rows (=) change nothing: the account has the left value, the frame "
                f"the right one. {_UPDATE_HINT}."
            )
        most, after = self._endpoints.most, self._total_after()
        creates = any(row.change.kind == "create" for row in self._rows.values())
        if most is not None and creates and after >= most:
            notes.append(
                f"The account then has {after} of {most} {noun}s: no other can be "
                "created before one is deleted."
            )
        return notes

    def _note_unknown_columns(self) -> list[str]:
        """Note the columns that are ignored, each with a similar field."""
        endpoints = self._endpoints
        known = {*endpoints.record.model_fields, *endpoints.body.model_fields}
        notes = []
        for name in self._edits.unknown:
            if name not in known:
                like = get_close_matches(name, endpoints.body.model_fields, 1)
                hint = f"; did you mean {like[0]}?" if like else ""
                notes.append(f"Ignored column: {name} (no such field{hint})")
        return notes


def _name_few(names: Sequence[str]) -> str:
    """Join names; of many only the first, and the number of the others."""
    more = f" and {len(names) - _NAMED_ROWS} more" if len(names) > _NAMED_ROWS else ""
    return f"{', '.join(names[:_NAMED_ROWS])}{more}"


def explain_read_only(endpoints: Endpoints[Any], name: str) -> tuple[str, str]:
    """Return why a field of a record cannot be written, and what to do about it."""
    if name in endpoints.instead:
        return "cannot be written", endpoints.instead[name]
    if name in endpoints.body.create_only:
        return "can only be set when it is created", "leave it as it was, or make a new one"
    step = f"leave it as it was, or take the column out: frame.drop(columns={name!r})"
    if name in endpoints.record.model_fields:
        return "is set by the service", step
    return "is not documented, so it is never sent", step
