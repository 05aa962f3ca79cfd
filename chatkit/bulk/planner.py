"""Planner: an edited frame becomes a plan.

The frame is checked, its rows are matched with the records that were read, its cells are compared
with theirs, and the changes are validated: what is refused, what is to be allowed by name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypedDict, get_args

import msgspec
import numpy as np
import pandas as pd

from chatkit.api.record import KEEP_DIGITS
from chatkit.api.secret import MASK, SECRET
from chatkit.bulk.changes import Change, Kind
from chatkit.bulk.comparison import Rows, is_same_value, looks_unedited
from chatkit.bulk.endpoints import Endpoints, Existing
from chatkit.bulk.journal import PlanPart
from chatkit.bulk.matching import Edits, Mask, join_columns
from chatkit.bulk.plan import Plan, RefusedCell, Setting
from chatkit.bulk.plan_input import (
    PlanInput,
    PlanSource,
    has_service_fields,
    make_input_frame,
    read_plan_input,
    refuse_misspelt_columns,
    unwrap_frame,
)
from chatkit.errors import InputError, Problem, split_reason
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
from chatkit.util.display import many
from chatkit.util.display import values as in_words


class PlanOptions(TypedDict, total=False):
    """The arguments of `Resource.plan` beside a frame, where they are only passed on."""

    existing: Existing | None
    skip_invalid: bool
    other_account: bool
    duplicates: bool
    broken: bool


#: Rows that pass their numbers round, and repeated rows, are named in part where there are more.
_NAMED_ROWS = 4
#: What to say to a plan for the other values, where rows met existing records.
_UPDATE_HINT = 'plan(…, existing="update") writes the value of the frame'


def make_plan(
    source: PlanSource,
    endpoints: Endpoints[Any],
    frame: pd.DataFrame | Iterable[Mapping[str, Any]] | None,
    delete: Iterable[Any] | None = None,
    *,
    base: pd.DataFrame | None = None,
    existing: Existing | None = None,
    skip_invalid: bool = False,
    other_account: bool = False,
    duplicates: bool = False,
    broken: bool = False,
) -> Plan:
    """Make the plan of a frame; see `Resource.plan` for the other arguments.

    The frame is checked and read with what it is compared with, its rows are matched with
    records, its cells are compared with theirs, and the changes that this makes are validated.

    `source` reads and writes the records, `endpoints` are those of the resource: for a frame of
    many templates the contents of any of them.
    """
    if existing not in (None, *get_args(Existing)):
        choice = ", ".join(map(repr, get_args(Existing)))
        raise InputError(f"existing= is one of {choice}, not {existing!r:.60}.")
    if frame is None and delete is None:
        raise InputError(
            "plan takes a frame, or keys in delete=, and got None. (With inplace=True pandas "
            "edits a frame and returns None: pass the frame itself.)"
        )
    rows = unwrap_frame(frame, "plan", endpoints)
    frame = None if rows is None else make_input_frame(rows, endpoints.file_call)
    # who writes rows of what can be sent says what is to be; other rows may be an older copy
    states = frame is not rows and frame is not None and not has_service_fields(endpoints, frame)
    states |= endpoints.chosen and existing is not None
    if frame is not None:
        refuse_misspelt_columns(frame, endpoints)
    basis = read_plan_input(
        source,
        endpoints,
        frame,
        delete,
        base,
        other_account=other_account,
        duplicates=duplicates,
        states=states,
    )
    existing = existing or endpoints.existing
    planner = _Planner(source, endpoints, basis, existing, duplicates=duplicates, broken=broken)
    changes = planner.plan()
    # Who has a unique name needs no list of those who were there before.
    known = () if endpoints.unique else tuple(int(key) for key in basis.base.index)
    setting = Setting(
        account=source.transport.connection.account,
        noun=endpoints.noun,
        names=tuple(name if name is None else str(name) for name in basis.frame.index.names),
        parts={endpoints.noun: PlanPart(len(basis.base), known, int(planner.matched.sum()))},
    )
    return Plan(
        source,
        setting,
        changes,
        planner.cells.refused,
        notes=planner.notes(),
        skip_invalid=skip_invalid,
        written=endpoints.make_texts_to_keep(
            list(planner.changes.values()), basis.base, source.full
        ),
    )


# --- compare cells, and validate what changes --------------------------------------------


class _RowFields:
    """Fields by row: the values of the frame, and those of the records, as far as shown."""

    def __init__(self) -> None:
        self.after = defaultdict[int, dict[str, Any]](dict)
        self.before = defaultdict[int, dict[str, Any]](dict)
        self.hidden = False  #: whether a record does not show a field that its row says

    def add(self, name: str, cells: Iterable[tuple[int, Any]], live: Mapping[int, Any]) -> None:
        """Add cells of one column, and the values in `live` that they replace."""
        for row, value in cells:
            self.after[row][name] = value
            if row in live:
                self.before[row][name] = live[row]
            else:
                self.hidden = True

    def rows(self, bad: Collection[int]) -> Rows:
        """Return the rows that have fields, in order, without bad ones."""
        return np.array(sorted(self.after.keys() - bad), np.int64)


class _Planner:
    """Planner of changes, cell by cell, which then refuses those that cannot be sent.

    `changes` and `skips` are by row number, `matched` marks the rows that matched an existing
    record without naming its key.
    """

    def __init__(
        self,
        source: PlanSource,
        endpoints: Endpoints[Any],
        basis: PlanInput,
        existing: Existing,
        *,
        duplicates: bool,
        broken: bool,
    ) -> None:
        edits = Edits(
            basis.frame,
            basis.base,
            endpoints,
            duplicates=duplicates,
            gone=basis.deletes,
            unknown_account=basis.unknown_account,
        )
        self.cells = Cells(endpoints, edits, broken=broken)
        self.changes: dict[int, Change] = {}
        self.skips: dict[int, Change] = {}
        self.cells.refused += basis.refused
        edits.deleted = edits.deleted | np.isin(edits.positions, basis.deletes)
        self._source, self._endpoints, self._basis, self._edits = source, endpoints, basis, edits
        self._base, self._other_account, self._existing = basis.base, basis.other_account, existing
        # A row with a key is an edit of that record. Where people choose the key, as for contents,
        # it names the record too, unless `existing` says otherwise and the frame is not known to
        # be what was read, edited.
        named = edits.has_key
        if endpoints.chosen:
            named = np.full(len(named), existing == "update" or not basis.no_snapshot)
        self.matched: Mask = (edits.positions >= 0) & ~edits.deleted & ~named
        self._unsure, self._older = self._find_unsure_rows()
        self._sent, self._kept = _RowFields(), _RowFields()
        #: Natural keys where they are new: old, new.
        self._names: dict[int, tuple[str | None, str | None]] = {}
        self._named_by = endpoints.list_name_fields()
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
        for name, rows in changed.items():
            rows = rows[~edits.deleted[rows]]
            live = dict(zip(rows.tolist(), edits.get_base_values(name, rows), strict=True))
            rows = self._refuse_uncertain(name, rows, live)
            self._add_column(name, self._drop_service_fields(name, rows, changed), live)
        self._add_unlisted_fields()
        self._plan_updates()
        self._plan_skips()
        self._plan_deletes()
        self._plan_creates()
        self._check_records()
        self._refuse_over_limit()
        self._refuse_taken_names()
        for row, findings in self.cells.warnings.items():
            if row in self.changes:
                texts = [(each.severity, format_finding_with_hint(each)) for each in findings]
                self.changes[row] = msgspec.structs.replace(self.changes[row], findings=texts)
        kinds = self.changes, self.skips  # a row may fill one field and skip another
        rows_of_both = sorted({**self.changes, **self.skips})
        return [kind[row] for row in rows_of_both for kind in kinds if row in kind]

    # --- compare cells ------------------------------------------------------------

    def _drop_service_fields(self, name: str, rows: Rows, changed: Mapping[str, Rows]) -> Rows:
        """Drop rows of a column that the service sets, unless they edit what was read."""
        body, endpoints = self._endpoints.body, self._endpoints
        if name in body.model_fields:
            return rows
        ignored = self.matched[rows] | self._other_account
        if name in endpoints.instead and (
            parts := [n for n in body.list_updatable_fields() if n in name]
        ):
            # who has edited first_name and nothing else must hear that name is the way
            cells = self._edits.filled(rows) if self._other_account else changed
            ignored &= np.isin(rows, cells.get(parts[0], rows[:0]))
        if ignored.any():
            self._ignored[name] = None
        edited: Rows = rows[~ignored]
        return edited

    def _refuse_uncertain(self, name: str, rows: Rows, held: Mapping[int, Any]) -> Rows:
        """Refuse cells that may be older than somebody else's edit; return the other rows.

        Cells of a read-only column that only look edited are dropped.
        """
        edits, unsure = self._edits, self._unsure[rows]
        place = self._source.place
        name_base = f"name the frame that it was made from: {place}.plan(frame, base=…)"
        if name not in self._endpoints.body.list_updatable_fields():
            known = rows[~self._older[rows]]
            pairs = list(zip(known.tolist(), edits.values(name, known), strict=True))
            if self._basis.no_snapshot or self._basis.named:
                pairs = [(n, value) for n, value in pairs if not looks_unedited(held.get(n), value)]
            edited = [row for row, _ in pairs]
            if len(edited) < len(rows):
                self._rewritten[name] = None
            return np.array(edited, np.int64)
        for row, value in zip(rows[unsure].tolist(), edits.values(name, rows[unsure]), strict=True):
            has = f"has {in_words(held[row])} now" if row in held else "does not show it"
            reason = f"may be your edit, or older than somebody else's: the account {has}"
            self.cells.refuse(row, name, value, reason, name_base)
            self._unsure_labels.add(self.cells.label(row))
        return rows[~unsure]

    def _add_column(self, name: str, rows: Rows, live: Mapping[int, Any]) -> None:
        """Add edited cells of a column to what is sent, or to what is kept as `existing` asks.

        Args:
            name: The column.
            rows: The rows in which it was edited.
            live: The values of their records, as far as shown.
        """
        body = self._endpoints.body
        if self._existing != "update" and name in body.model_fields:
            stays: Mask = self.matched[rows]
            if self._existing == "fill" and name in body.list_updatable_fields():
                matched = rows[stays].tolist()
                stays[stays] = [
                    row not in live or live[row] not in (None, "", [], {}) for row in matched
                ]
            self._kept.add(name, self.cells.sendable(name, rows[stays], sent=False), live)
            rows = rows[~stays]
        if name in body.list_updatable_fields():
            self._sent.add(name, self.cells.sendable(name, rows), live)
        else:
            self.cells.refuse_read_only(name, rows)

    def _add_unlisted_fields(self) -> None:
        """Compare fields that lists do not show, with records that are read in full."""
        edits, body = self._edits, self._endpoints.body
        fields = [name for name in edits.unknown if name in body.list_updatable_fields()]
        matched = np.flatnonzero((edits.positions >= 0) & ~edits.deleted)
        filled = edits.filled(matched) if fields else {}
        filled = {name: filled[name] for name in fields if name in filled}
        if not filled:
            return
        rows_read = np.unique(np.concatenate(list(filled.values())))
        full = self._source.full(self._record_keys(rows_read))
        for name, rows in filled.items():
            cells = full[name] if name in full.columns else pd.Series(dtype=object)
            keys = zip(rows.tolist(), self._record_keys(rows), strict=True)
            live = {row: cell_to_python(cells.loc[key]) for row, key in keys if key in cells.index}
            values = zip(rows.tolist(), edits.values(name, rows), strict=True)
            differs = [row not in live or not is_same_value(live[row], v) for row, v in values]
            self._add_column(name, self._refuse_uncertain(name, rows[differs], live), live)

    def _record_keys(self, rows: Rows) -> list[Any]:
        """Return the keys of rows that are records of the base."""
        keys: list[Any] = self._base.index.take(self._edits.positions[rows]).tolist()
        return keys

    # --- one change a row ---------------------------------------------------------

    def _plan_updates(self) -> None:
        """Plan the updates, each with how well it can be undone."""
        edits, endpoints, sent = self._edits, self._endpoints, self._sent
        rows = sent.rows(self.cells.bad)
        lossy_fields = [*endpoints.lossy_fields, *endpoints.natural_key]
        if sent.hidden:  # where a field is not shown, the version shows others' edits
            lossy_fields.append(endpoints.version)
        names = [name for name in dict.fromkeys(lossy_fields) if name in self._base.columns]
        columns = [edits.get_base_values(name, rows) for name in names]
        labels = edits.labels.take(rows).tolist()
        for n, (row, label, key) in enumerate(
            zip(rows.tolist(), labels, self._record_keys(rows), strict=True)
        ):
            after, held = sent.after[row], sent.before[row]
            known = {name: cells[n] for name, cells in zip(names, columns, strict=True)} | held
            if not after.keys().isdisjoint(self._named_by):  # it changes as a whole
                held |= {n: known[n] for n in self._named_by if n in known}
            self._add_change(row, "update", label, key, known, after, held)

    def _plan_skips(self) -> None:
        """Plan a skip for each row whose record is kept; or refuse them, as `existing` asks."""
        kept = self._kept
        rows = kept.rows(self.cells.bad)
        known = records(self._base, self._edits.positions[rows].tolist())
        for row, key, record in zip(rows.tolist(), self._record_keys(rows), known, strict=True):
            held = kept.before[row]
            code, key = _split_content_key(key)
            label = self._record_label(code or self._endpoints.code, key, record)
            if self._existing == "refuse":
                for name, value in kept.after[row].items():
                    has = in_words(held[name]) if name in held else "a value that is not shown"
                    reason = f"{label} exists, and has {has}"
                    self.cells.refuse(row, name, value, reason, _UPDATE_HINT)
                continue
            self.skips[row] = Change(
                row=self.cells.label(row),
                kind="skip",
                key=key,
                label=label,
                before=held,
                after=kept.after[row],
                code=code or self._endpoints.code,
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
        labels = [self.cells.label(row) for row in marked.tolist()]
        labels += [(key, *fill) if fill else key for key in keys[len(labels) :]]
        rows = [*marked.tolist(), *range(len(edits.labels), len(edits.labels) + len(extra))]
        sendable = self._endpoints.body.list_updatable_fields()
        for row, label, key, known in zip(
            rows, labels, keys, records(base, positions), strict=True
        ):
            before = {name: value for name, value in known.items() if name in sendable}
            self._add_change(row, "delete", label, key, known, {}, before)

    def _plan_creates(self) -> None:
        """Plan the creates: the rows that match no record."""
        edits, endpoints, cells = self._edits, self._endpoints, self.cells
        fields: dict[int, dict[str, Any]] = {row: {} for row in edits.new.tolist()}
        left: dict[str, Rows] = {}
        for name, rows in edits.filled(edits.new).items():
            if name in endpoints.body.model_fields:
                for row, value in cells.sendable(name, rows):
                    fields[row][name] = value
            elif name in endpoints.record.model_fields:
                left[name] = rows
        for name, rows in left.items():
            way = any(other in name for other in endpoints.body.list_updatable_fields())
            if name in endpoints.instead and (way or not self._other_account):
                # unless the right way was taken as well
                unsaid = [
                    not any(value for other, value in fields[row].items() if other in name)
                    for row in rows.tolist()
                ]
                cells.refuse_read_only(name, rows[unsaid])
        if self._other_account:
            self._ignored |= dict.fromkeys(left)
        else:
            self._unsent.update(left)
        labels = edits.labels.take(edits.new).tolist()
        for (row, after), label in zip(fields.items(), labels, strict=True):
            key = edits.key(row) if endpoints.chosen else None
            if endpoints.chosen and key is None:
                for name in map(str, self._base.index.names):
                    column = get_column_or_level(self._basis.frame, name)
                    if column is None or pd.isna(column[row]) or column[row] == "":
                        cells.refuse(
                            row, name, None, "is required", f"fill in the {name} of each row"
                        )
            elif endpoints.chosen:
                after[endpoints.key] = _split_content_key(key)[1]
            missing = [
                Problem(n, "", "is required") for n in endpoints.required() if n not in after
            ]
            if missing and row not in cells.bad:
                cells.refuse_cells(row, missing)
            if row not in cells.bad:
                self._add_change(row, "create", label, key, {}, after, {})

    def _add_change(
        self,
        row: int,
        kind: Kind,
        label: Any,
        key: Any,
        known: Mapping[str, Any],
        after: Mapping[str, Any],
        before: Mapping[str, Any],
    ) -> None:
        """Add the change of a row, with its label and how well it can be undone."""
        endpoints = self._endpoints
        code, key = _split_content_key(key)
        code = code or endpoints.code
        undo, loss = endpoints.undo(kind, known, after)
        seen = known.get(endpoints.version) if after.keys() - before.keys() else None
        then = known
        if not after.keys().isdisjoint(endpoints.natural_key):
            then = {**known, **after}
            if not after.keys().isdisjoint(self._named_by):
                self._names[row] = (
                    endpoints.make_natural_name(known),
                    endpoints.make_natural_name(then),
                )
        self.changes[row] = Change(
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

    def _record_label(self, code: str | None, key: Any, fields: Mapping[str, Any]) -> str:
        """Return the label of a record for people, with its template code if it has one."""
        endpoints = self._endpoints
        return f"{code}/{key}" if endpoints.chosen else endpoints.label(fields) or str(key)

    # --- refuse what cannot be sent, alone or together -------------------------------

    def _check_records(self) -> None:
        """Check each record as it would be after its change; drop the changes that fail."""
        rows = list(self.changes)
        changes = list(self.changes.values())
        findings = self._endpoints.check_changes(changes, self._base, self._source.full)
        for place, each in findings.items():
            row = rows[place]
            place_of = partial(make_cell_problem, self.changes[row].after)
            if not self.cells.accept_findings(row, each, place_of, "correct it"):
                del self.changes[row]

    def _refuse_over_limit(self) -> None:
        """Refuse creates beyond what an account may hold."""
        most, total = self._endpoints.most, len(self._base)
        if most is None:
            return
        over = self._total_after() - most
        for row in sorted(self.changes, reverse=True):
            if over > 0 and self.changes[row].kind == "create":
                over -= 1
                change = self.changes.pop(row)
                reason = f"an account has at most {most} {self._endpoints.noun}s, and has {total}"
                step = "delete one first, in this plan or before it"
                self.cells.refused.append(RefusedCell(change.row, "", change.label, reason, step))

    def _total_after(self) -> int:
        """Count the records that the account holds once the plan is applied."""
        kinds = [change.kind for change in self.changes.values()]
        return len(self._base) + kinds.count("create") - kinds.count("delete")

    def _refuse_taken_names(self) -> None:
        """Refuse rows whose natural key another record keeps, or that swap theirs in a cycle.

        A natural key that a delete or an update of the plan releases may be taken: `Run` sends
        the rows in that order. In a cycle no row can be first.
        """
        if not self._endpoints.single or self._endpoints.chosen:
            return
        requests = {n: new for n, (old, new) in self._names.items() if new not in (None, old)}
        if not requests:
            return
        names = self._endpoints.list_name_fields()
        known = join_columns(self._base.reindex(columns=list(names)))
        holding = known[known.isin(set(requests.values()))]
        holders: dict[str, list[Any]] = {}
        for key, text in zip(holding.index.tolist(), holding.tolist(), strict=True):
            holders.setdefault(text, []).append(key)
        while blocked := self._find_blocked_rows(requests, holders):
            for row, (reason, step) in blocked.items():
                self.changes.pop(row)
                self.cells.refuse(row, names[-1], requests[row], reason, step)

    def _find_blocked_rows(
        self, requests: Mapping[int, str | None], holders: Mapping[Any, Sequence[Any]]
    ) -> dict[int, tuple[str, str]]:
        """Find rows that block each other in any order; return reason and next step of each."""
        releasing = {c.key: row for row, c in self.changes.items() if c.kind == "delete"}
        releasing |= {self.changes[row].key: row for row in requests if self._is_update(row)}
        noun, key = self._endpoints.noun, self._endpoints.key
        blocked = {}
        waits: dict[int, int] = {}  # an update, and the update that must be sent before it
        for row, text in requests.items():
            if row not in self.changes:
                continue
            for holder in holders.get(text, ()):
                if holder == self.changes[row].key:
                    continue
                if holder not in releasing:
                    reason = f"the {noun} with the {key} {holder} has it, and keeps it in this plan"
                    blocked[row] = (reason, "plan that one first, or keep one of them")
                elif self._is_update(row) and self._is_update(releasing[holder]):
                    waits[row] = releasing[holder]
        try:
            TopologicalSorter({row: [before] for row, before in waits.items()}).prepare()
        except CycleError as error:  # another one, if there is, is found without this one
            cycle = sorted({*error.args[1]})
            rows = _name_few([str(self.cells.label(row)) for row in cycle])
            named = self._endpoints.list_name_fields()[-1]
            reason = (
                f"rows {rows} exchange their {named}s, and the service keeps each {named} "
                "unique: none of them can be sent first"
            )
            step = f"give one of these rows a free {named} in a plan of its own, then plan again"
            blocked |= dict.fromkeys(cycle, (reason, step))
        return blocked

    def _is_update(self, row: int) -> bool:
        """Return whether a row is planned as an update."""
        return row in self.changes and self.changes[row].kind == "update"

    # --- what else is to be known -------------------------------------------------------

    def notes(self) -> list[str]:
        """Return the notes of the plan: what was ignored, merged or skipped, and findings."""
        noun, edits, place = self._endpoints.noun, self._edits, self._source.place
        notes = self.cells.note_unknown_columns()
        if deleted := self._basis.deleted:
            verb = "is" if deleted == 1 else "are"
            notes.append(
                f"{many(deleted, noun)} that the list shows {verb} deleted: created again "
                "under the old id."
            )
        if emptied := edits.count_emptied(
            self._endpoints.body.list_updatable_fields(), self.changes
        ):
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
        label = self.cells.label
        if united := {label(row): label(first) for row, first in edits.merged.items()}:
            each = "" if self._endpoints.single else "; duplicates=True takes each on its own"
            pairs = _name_few([f"{row!r} ({first!r})" for row, first in united.items()])
            notes.append(f"Rows merged into an earlier row of the same {noun}: {pairs}{each}.")
        counts = FindingCounts(noun)
        for row, findings in self.cells.warnings.items():
            if row in self.changes:
                counts.add(self.changes[row].label, findings)
        notes += counts.notes()
        if self.cells.stopped:
            notes.append(f"{self._endpoints.refuses} plan(…, broken=True) plans it anyway.")
        names = ", ".join(self._ignored)
        if self._other_account:
            what = f": what the service sets is ignored ({names})" if names else ""
            notes.append(f"The frame is of another account{what}.")
        elif names:
            notes.append(f"What the service sets is ignored in rows without a key: {names}.")
        if not (self.changes or self.skips or self.cells.refused or self._other_account):
            missing = len(self._base) - len(np.unique(edits.positions[edits.positions >= 0]))
            if missing and len(edits.labels) and "account" in read_origin(self._basis.frame):
                notes.append(
                    f"{many(missing, noun)} that the frame does not have stay: plan(…, delete=[…]) "
                    "deletes what it names."
                )
        if self.skips:
            notes.append(
                "Skipped rows (=) change nothing: the account has the left value, the frame "
                f"the right one. {_UPDATE_HINT}."
            )
        most, after = self._endpoints.most, self._total_after()
        creates = any(change.kind == "create" for change in self.changes.values())
        if most is not None and creates and after >= most:
            notes.append(
                f"The account then has {after} of {most} {noun}s: no other can be "
                "created before one is deleted."
            )
        return notes


def _name_few(names: Sequence[str]) -> str:
    """Join names; of many only the first, and the number of the others."""
    more = f" and {len(names) - _NAMED_ROWS} more" if len(names) > _NAMED_ROWS else ""
    return f"{', '.join(names[:_NAMED_ROWS])}{more}"


def _split_content_key(key: Any) -> tuple[str | None, Any]:
    """Split the key of a content into template code, if it has one, and language code."""
    return key if isinstance(key, tuple) else (None, key)


# --- single cells ---------------------------------------------------------------------


class Cells:
    """The cells of an edited frame, column by column.

    `refused` are those that cannot be planned, `bad` the numbers of their rows, `warnings` the
    findings in documents of the others. `stopped` is true if errors in a document have kept a
    row from being planned.

    Args:
        endpoints: The endpoints of the resource.
        edits: The edited frame.
        broken: Take documents although the platform will refuse them.
    """

    def __init__(self, endpoints: Endpoints[Any], edits: Edits, *, broken: bool = False) -> None:
        self.refused: list[RefusedCell] = []
        self.bad: set[int] = set()
        self.warnings: dict[int, list[Finding]] = {}
        self._endpoints, self._edits, self._broken = endpoints, edits, broken
        self.stopped = False
        for refusal in edits.refused:
            self.refuse(*refusal)

    def sendable(self, name: str, rows: Rows, *, sent: bool = True) -> Iterator[tuple[int, Any]]:
        """Yield the rows whose cell can be sent, each with its value; refuse the others.

        Without `sent` documents are not checked: they are only shown.
        """
        if not len(rows):
            return
        body = self._endpoints.body
        values = self._edits.values(name, rows)
        if not body.accepts_text(name):  # empty text clears what cannot hold it, too
            values = [None if value == "" else value for value in values]
        good, wrong = body.column(name, values)
        numbers = rows.tolist()
        for place, problems in wrong.items():
            self.refuse_cells(numbers[place], problems)
        document = sent and name in self._endpoints.documents
        for place, value in good.items():
            place_of = partial(make_document_problem, name, value)
            findings = self._endpoints.findings(name, value) if document else ()
            if self.accept_findings(numbers[place], findings, place_of, "correct the document"):
                yield numbers[place], value

    def accept_findings(
        self,
        row: int,
        findings: Sequence[Finding],
        problem_of: Callable[[Finding], Problem],
        next_step: str,
    ) -> bool:
        """Return whether a row can be sent with its findings; refuse errors, keep warnings.

        Args:
            row: The number of the row.
            findings: The findings in one of its documents, or in the record.
            problem_of: Makes the problem of an error, with its place.
            next_step: The advice for an error without a hint.
        """
        if not findings:
            return True
        wrong = [] if self._broken else select_errors(findings)
        for finding in wrong:
            self.stopped = True
            self._refuse(row, *problem_of(finding)[:3], finding.hint or next_step)
        if not wrong and (warnings := select_errors_and_warnings(findings)):
            self.warnings.setdefault(row, []).extend(warnings)
        return not wrong

    def refuse_read_only(self, name: str, rows: Rows) -> None:
        """Refuse edits to a read-only field, with the field to edit instead."""
        reason, step = explain_read_only(self._endpoints, name)
        for row, value in zip(rows.tolist(), self._edits.values(name, rows), strict=True):
            self.refuse(row, name, value, reason, step)

    def refuse_cells(self, row: int, problems: Sequence[Problem]) -> None:
        """Refuse cells of a row that have problems."""
        for problem in problems:
            field = self._endpoints.body.model_fields.get(problem.field.partition(".")[0])
            reason, step = split_reason(problem.reason)
            if reason.endswith(KEEP_DIGITS) and "." not in problem.field:
                step = self._endpoints.as_text_advice
            step = step or (field and field.description) or "leave it out"
            self._refuse(row, problem.field, problem.value, reason, step)

    def refuse(self, row: int, column: str, value: Any, reason: str, next_step: str) -> None:
        """Refuse one cell of a row."""
        text = MASK if SECRET.search(column) else in_words(value)
        self._refuse(row, column, text, reason, next_step)

    def _refuse(self, row: int, column: str, text: str, reason: str, next_step: str) -> None:
        """Refuse one cell of a row, whose value is text already."""
        self.bad.add(row)
        self.refused.append(RefusedCell(self.label(row), column, text, reason, next_step))

    def label(self, row: int) -> Any:
        """Return the label of a row in the frame, as a Python value."""
        label = self._edits.labels[row]
        return label.item() if isinstance(label, np.generic) else label

    def note_unknown_columns(self) -> list[str]:
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
