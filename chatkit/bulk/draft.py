"""Draft: make a plan of an edited frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, Protocol

import numpy as np
import pandas as pd

from chatkit.bulk.apply import Desk
from chatkit.bulk.cells import Cells
from chatkit.bulk.change import Change, Kind
from chatkit.bulk.edits import Edits, compare
from chatkit.bulk.keys import Identity, Natural, Rows
from chatkit.bulk.plan import Plan, Refused, Setting
from chatkit.bulk.same import same
from chatkit.bulk.table import joined, none, records
from chatkit.bulk.value import values as shown
from chatkit.endpoints import Endpoints
from chatkit.errors import InputError, Problem
from chatkit.frame import collector_paused, column_or_level
from chatkit.snapshot import Snapshot, memory

#: The field that tells when a record was last changed.
SEEN = "updated_at"


class Source(Desk, Protocol):
    """A desk whose records can also be read as frames."""

    def base(self, frame: pd.DataFrame | None, *, now: bool = False) -> Snapshot:
        """Return what a frame was when it was read, or else what is there now."""

    def full(self, keys: Sequence[Any]) -> pd.DataFrame:
        """Read records in full, into a frame indexed by key."""


def draft(
    source: Source,
    room: Endpoints[Any],
    frame: pd.DataFrame | None,
    delete: Iterable[Any] | None = None,
    *,
    skip_invalid: bool = False,
    other_account: bool = False,
    duplicates: bool = False,
    broken: bool = False,
) -> Plan:
    """Make the plan of a frame; `Resource.plan` tells what the other arguments mean.

    `source` is where the records are read and written, `room` what they are: for a frame of
    many templates the contents of any of them.
    """
    account = source.transport.connection.account
    theirs = None if frame is None else memory(frame).get("account")
    foreign = theirs not in (None, account)
    if foreign and not other_account:
        raise InputError(
            f"This frame is of {theirs}, and the plan would be for {account}. "
            "plan(frame, other_account=True) takes it all the same; records are then found by "
            f"{' and '.join(room.named_by())}, not by their ids."
        )
    snapshot = source.base(frame, now=foreign)
    base = snapshot.frame
    if not snapshot.whole:  # of a search: the others count too, for names and for shares
        whole = source.base(None).frame
        base = pd.concat([base, whole[~whole.index.isin(base.index)]])
    if frame is None:
        frame = base.iloc[:0]
    elif foreign and not room.chosen:
        frame = frame.reset_index(drop=room.key in frame.index.names).drop(
            columns=room.key, errors="ignore"
        )
    key = tuple(map(str, base.index.names))
    identity = Identity(room.noun, key, Natural(room.named_by(), joined), chosen=room.chosen)
    edits = compare(frame, base, identity, duplicates=duplicates)
    drafted = _Draft(source, room, base, frame, Cells(room, edits, broken=broken), edits)
    with collector_paused():
        drafted.mark(_keys(delete, room), identity)
        drafted.rows()
    if snapshot.now and frame is not None and any(c.before for c in drafted.changes.values()):
        drafted.notes.append(
            "The frame does not tell when it was read, so it was compared with what is there "
            "now: what others changed meanwhile looks like your edit."
        )
    drafted.notes += drafted.cells.told({n: c.label for n, c in drafted.changes.items()})
    drafted.limit(len(base))
    setting = Setting(
        account=account,
        noun=room.noun,
        names=tuple(name if name is None else str(name) for name in frame.index.names),
        total=len(base),
        # Who has a unique name needs no list of those who were there before.
        known=() if room.unique else tuple(int(key) for key in base.index),
    )
    return Plan(
        source,
        setting,
        [drafted.changes[row] for row in sorted(drafted.changes)],
        drafted.cells.refused,
        notes=drafted.notes,
        skip_invalid=skip_invalid,
    )


def _keys(delete: Iterable[Any] | None, room: Endpoints[Any]) -> list[Any]:
    """Return the keys that are to be deleted, whatever they came in."""
    if delete is None:
        return []
    if isinstance(delete, pd.DataFrame):
        named = column_or_level(delete, room.key)
        if named is None:
            raise InputError(f"The frame in delete= has no {room.key}, in a column or the index.")
        return named.tolist()
    if isinstance(delete, str | bytes) or not isinstance(delete, Iterable):
        raise InputError(f"delete= takes a list of keys, like delete=[{delete!r}].")
    return list(dict.fromkeys(delete))


class _Draft:
    """Collects the changes of a plan by the numbers of their rows."""

    def __init__(
        self,
        source: Source,
        room: Endpoints[Any],
        base: pd.DataFrame,
        frame: pd.DataFrame,
        cells: Cells,
        edits: Edits,
    ) -> None:
        self.changes: dict[int, Change] = {}
        self.cells = cells
        self.notes = cells.foreign()
        self._source, self._room, self._edits = source, room, edits
        self._base, self._frame = base, frame

    def mark(self, keys: Sequence[Any], identity: Identity) -> None:
        """Mark the records of these keys as deleted; those in the frame keep their row."""
        named = pd.DataFrame({identity.key[-1]: pd.Series(keys, dtype=object)})
        found = compare(named, self._base, identity._replace(natural=None))
        wrong = {row: (reason, "read the frame again") for row, _, _, reason, _ in found.refused}
        reason = f"no {self._room.noun} has it in what was read"
        wrong |= dict.fromkeys(found.new.tolist(), (reason, "read the frame again"))
        for row in sorted(wrong):
            self.cells.refused.append(Refused(keys[row], "delete", shown(keys[row]), *wrong[row]))
        places = found.positions[found.positions >= 0]
        self._edits.deleted = self._edits.deleted | np.isin(self._edits.positions, places)
        extra = places[~np.isin(places, self._edits.positions)]
        fill = (None,) * (self._edits.labels.nlevels - 1)
        known = records(self._base, extra.tolist())
        end = len(self._edits.labels)
        for n, (key, fields) in enumerate(
            zip(self._base.index[extra].tolist(), known, strict=True)
        ):
            self._add_delete(end + n, (key, *fill) if fill else key, key, fields)

    def rows(self) -> None:
        """Plan all rows of the frame."""
        after: dict[int, dict[str, Any]] = {}
        before: dict[int, dict[str, Any]] = {}
        edits = self._edits
        for name, rows in edits.changed().items():
            rows = rows[~edits.deleted[rows]]
            held = dict(zip(rows.tolist(), edits.base_values(name, rows), strict=True))
            self._take(name, rows, held, after, before)
        self._unread(after, before)
        self._update(after, before)
        self._delete()
        self._create()

    # --- updates --------------------------------------------------------------------

    def _take(
        self,
        name: str,
        rows: Rows,
        held: Mapping[int, Any],
        after: dict[int, dict[str, Any]],
        before: dict[int, dict[str, Any]],
    ) -> None:
        """Take the edited cells of one column; `held` is what was there, as far as shown."""
        if name not in self._room.body.updatable():
            self.cells.refuse_fixed(name, rows)
            return
        for row, value in self.cells.writable(name, rows):
            after.setdefault(row, {})[name] = value
            if row in held:
                before.setdefault(row, {})[name] = held[row]

    def _unread(self, after: dict[int, dict[str, Any]], before: dict[int, dict[str, Any]]) -> None:
        """Compare fields that lists do not show: the records are read in full for it."""
        edits, body = self._edits, self._room.body
        fields = [name for name in edits.unknown if name in body.updatable()]
        there = np.flatnonzero((edits.positions >= 0) & ~edits.deleted)
        filled = edits.filled(there) if fields else {}
        wanted = {name: filled[name] for name in fields if name in filled}
        if not wanted:
            return
        places = np.unique(np.concatenate(list(wanted.values())))
        full = self._source.full(self._keys(places))
        for name, rows in wanted.items():
            shown = full[name] if name in full.columns else full.iloc[:, :0]
            held = {
                row: none(shown.loc[key])
                for row, key in zip(rows.tolist(), self._keys(rows), strict=True)
                if name in full.columns and key in full.index
            }
            values = edits.values(name, rows)
            differs = [
                row not in held or not same(held[row], value)
                for row, value in zip(rows.tolist(), values, strict=True)
            ]
            self._take(name, rows[differs], held, after, before)

    def _keys(self, rows: Rows) -> list[Any]:
        """Return the keys of rows that are records of the base."""
        keys: list[Any] = self._base.index.take(self._edits.positions[rows]).tolist()
        return keys

    def _update(
        self,
        after: Mapping[int, Mapping[str, Any]],
        before: Mapping[int, Mapping[str, Any]],
    ) -> None:
        """Plan the updates, with what tells how well each can be undone."""
        edits, room = self._edits, self._room
        rows = np.array(sorted(after.keys() - self.cells.bad), np.int64)
        weighed = [*room.weighed, *room.natural_key]
        if any(len(before.get(row, ())) < len(after[row]) for row in rows.tolist()):
            weighed.append(SEEN)  # where a field is not shown, it tells of others' edits
        names = [name for name in dict.fromkeys(weighed) if name in self._base.columns]
        columns = [edits.base_values(name, rows) for name in names]
        facts = zip(*columns, strict=True) if names else repeat(())
        labels = edits.labels.take(rows).tolist()
        for row, label, key, fact in zip(
            rows.tolist(), labels, self._keys(rows), facts, strict=False
        ):
            held = before.get(row, {})
            known = {**dict(zip(names, fact, strict=True)), **held}
            self._add(row, "update", label, key, known, after[row], held)

    # --- deletes and creates --------------------------------------------------------

    def _delete(self) -> None:
        edits = self._edits
        rows = np.flatnonzero(edits.deleted & (edits.positions >= 0))
        known = records(self._base, edits.positions[rows].tolist())
        for row, key, fields in zip(rows.tolist(), self._keys(rows), known, strict=True):
            self._add_delete(row, self.cells.label(row), key, fields)

    def _add_delete(self, row: int, label: Any, key: Any, known: Mapping[str, Any]) -> None:
        sendable = {n: v for n, v in known.items() if n in self._room.body.updatable()}
        self._add(row, "delete", label, key, known, {}, sendable)

    def _create(self) -> None:
        """Plan the rows that are not there yet."""
        edits, room, cells = self._edits, self._room, self.cells
        fields: dict[int, dict[str, Any]] = {row: {} for row in edits.new.tolist()}
        left: dict[str, Rows] = {}
        for name, rows in edits.filled(edits.new).items():
            if name in room.body.model_fields:
                for row, value in cells.writable(name, rows):
                    fields[row][name] = value
            elif name in room.record.model_fields:
                left[name] = rows
        for name, rows in left.items():
            if name in room.instead:  # unless the right way was taken as well
                unsaid = [not _said(name, fields[row]) for row in rows.tolist()]
                cells.refuse_fixed(name, rows[unsaid])
        if left:
            names = ", ".join(sorted(left))
            self.notes.append(f"New rows are sent without {names}: the service sets them.")
        for row, after in fields.items():
            key = edits.key(row) if room.chosen else None
            if room.chosen and key is None:
                self._refuse_keyless(row)
            elif room.chosen:
                after[room.key] = _parts(key)[1]
            missing = [Problem(n, "", "is required") for n in room.required() if n not in after]
            if missing and row not in cells.bad:
                cells.problems(row, missing)
            if row not in cells.bad:
                self._add(row, "create", cells.label(row), key, {}, after, {})

    def _refuse_keyless(self, row: int) -> None:
        """Refuse a new row that does not say the key it wants."""
        for name in map(str, self._base.index.names):
            cells = column_or_level(self._frame, name)
            if cells is None or pd.isna(cells[row]) or cells[row] == "":
                self.cells.refuse(row, name, None, "is required", f"say the {name} of each row")

    # --- all of them ----------------------------------------------------------------

    def _add(
        self,
        row: int,
        kind: Kind,
        label: Any,
        key: Any,
        known: Mapping[str, Any],
        after: Mapping[str, Any],
        before: Mapping[str, Any],
    ) -> None:
        room = self._room
        code, key = _parts(key)
        code = code or room.code
        undo, loss = room.undo(kind, known, after)
        seen = known.get(SEEN) if len(before) < len(after) else None
        self.changes[row] = Change(
            row=label,
            kind=kind,
            key=key,
            label=f"{code}/{key}" if room.chosen else room.label({**known, **after}) or str(key),
            before=before,
            after=after,
            code=code,
            undo=undo,
            loss=loss,
            seen=None if seen is None else seen.isoformat(),
        )

    def limit(self, total: int) -> None:
        """Refuse creates beyond what an account may hold."""
        most = self._room.most
        kinds = [change.kind for change in self.changes.values()]
        over = 0 if most is None else total + kinds.count("create") - kinds.count("delete") - most
        for row in sorted(self.changes, reverse=True):
            if over > 0 and self.changes[row].kind == "create":
                over -= 1
                change = self.changes.pop(row)
                reason = f"an account has at most {most} {self._room.noun}s, and has {total}"
                step = "delete one first, in this plan or before it"
                self.cells.refused.append(Refused(change.row, "", change.label, reason, step))


def _parts(key: Any) -> tuple[str | None, Any]:
    """Part the key of a content among many templates into template code and language code."""
    return key if isinstance(key, tuple) else (None, key)


def _said(name: str, fields: Mapping[str, Any]) -> bool:
    """Whether a field is sent that says what this one would: name for first_name."""
    return any(fields[other] for other in fields if other in name)
