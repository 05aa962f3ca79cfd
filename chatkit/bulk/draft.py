"""Draft: make a plan of an edited frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Protocol

import numpy as np
import pandas as pd

from chatkit.bulk.apply import Desk
from chatkit.bulk.change import Change, Kind
from chatkit.bulk.edits import Edits, compare
from chatkit.bulk.keys import Identity, Natural
from chatkit.bulk.plan import Plan, Refused, Setting
from chatkit.bulk.reconcile import same
from chatkit.bulk.table import joined, none, records
from chatkit.bulk.value import values as shown
from chatkit.endpoints import Endpoints
from chatkit.errors import InputError
from chatkit.record import SECRET
from chatkit.snapshot import Snapshot, memory


class Source(Desk, Protocol):
    """A desk whose records can also be read as frames."""

    def base(self, frame: pd.DataFrame | None) -> Snapshot:
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
    snapshot = source.base(None if foreign else frame)
    base = snapshot.frame
    if frame is None:
        frame = base.iloc[:0]
    elif foreign and not room.chosen:
        frame = frame.reset_index(drop=room.key in frame.index.names).drop(
            columns=room.key, errors="ignore"
        )
    columns = room.named_by()
    identity = Identity(
        room.noun, tuple(map(str, base.index.names)), Natural(columns, joined), chosen=room.chosen
    )
    edits = compare(frame, base, identity, duplicates=duplicates)
    drafted = _Draft(source, room, base, edits)
    drafted.rows()
    drafted.also_delete(delete)
    whole = snapshot if snapshot.whole else source.base(None)
    setting = Setting(
        account=account,
        noun=room.noun,
        names=tuple(name if name is None else str(name) for name in frame.index.names),
        total=len(whole.frame),
        # Who has a unique name needs no list of those who were there before.
        known=() if room.unique else tuple(int(key) for key in whole.frame.index),
    )
    drafted.limit(setting.total)
    return Plan(
        source,
        setting,
        [drafted.changes[row] for row in sorted(drafted.changes)],
        drafted.refused,
        notes=drafted.notes,
        skip_invalid=skip_invalid,
    )


class _Draft:
    """Collects changes, and cells that cannot be planned, by the numbers of their rows."""

    def __init__(
        self, source: Source, room: Endpoints[Any], base: pd.DataFrame, edits: Edits
    ) -> None:
        self.changes: dict[int, Change] = {}
        self.refused: list[Refused] = []
        self.notes: list[str] = []
        self._source, self._room, self._base, self._edits = source, room, base, edits
        self._bad: set[int] = set()
        for refusal in edits.refused:
            self._refuse(*refusal)

    def rows(self) -> None:
        """Plan all rows of the frame."""
        edits = self._edits
        gone = set(edits.deleted.nonzero()[0].tolist())
        edited: dict[int, dict[str, Any]] = {}
        for name, rows in edits.changed().items():
            values = edits.values(name, rows)
            for row, value in zip(rows.tolist(), values, strict=True):
                if row not in gone:
                    edited.setdefault(row, {})[name] = value
        before = self._before(edited)
        self._unread(edited, before)
        for row in sorted(edited):
            self._update(row, edited[row], before.get(row, {}))
        self._delete(sorted(gone))
        self._create()

    # --- updates --------------------------------------------------------------------

    def _before(self, edited: Mapping[int, Mapping[str, Any]]) -> dict[int, dict[str, Any]]:
        """Read from the base what the edited cells held, and what tells how to undo them."""
        found: dict[int, dict[str, Any]] = {row: {} for row in edited}
        rows_of: dict[str, list[int]] = {}
        for row, fields in edited.items():
            for name in (*fields, *self._room.weighed, *self._room.natural_key, *_SEEN):
                rows_of.setdefault(name, []).append(row)
        for name, rows in rows_of.items():
            if name in self._base.columns:
                values = self._edits.base_values(name, np.array(rows))
                for row, value in zip(rows, values, strict=True):
                    found[row][name] = value
        return found

    def _unread(
        self,
        edited: dict[int, dict[str, Any]],
        before: dict[int, dict[str, Any]],
    ) -> None:
        """Compare fields that lists do not show: the records are read in full for it."""
        edits, room = self._edits, self._room
        fields = [name for name in edits.unknown if name in room.body.updatable()]
        foreign = [name for name in edits.unknown if name not in room.record.model_fields]
        self._note_foreign([name for name in foreign if name not in room.body.model_fields])
        cells: dict[int, dict[str, Any]] = {}
        there = np.flatnonzero((edits.positions >= 0) & ~edits.deleted)
        filled = edits.filled(there) if fields else {}
        for name in fields:
            rows = filled.get(name, there[:0])
            for row, value in zip(rows.tolist(), edits.values(name, rows), strict=True):
                cells.setdefault(row, {})[name] = value
        if not cells:
            return
        keys = {row: edits.key(row) for row in cells}
        full = self._source.full(list(keys.values()))
        for row, values in cells.items():
            live = full.loc[keys[row]] if keys[row] in full.index else {}
            for name, value in values.items():
                if name not in live:
                    edited.setdefault(row, {})[name] = value
                elif not same(none(live[name]), value):
                    edited.setdefault(row, {})[name] = value
                    before.setdefault(row, {})[name] = none(live[name])
        for row in cells:
            if row in edited:
                before[row] = {**self._before({row: edited[row]})[row], **before.get(row, {})}

    def _update(self, row: int, fields: Mapping[str, Any], known: Mapping[str, Any]) -> None:
        room = self._room
        for name in fields:
            if name not in room.body.updatable():
                self._refuse(row, name, fields[name], *self._why_fixed(name))
        if row in self._bad:
            return
        try:
            after = room.body.part(fields, f"This {room.noun}")
        except InputError as error:
            self._problems(row, error)
            return
        self._add(row, "update", known, after, {n: known[n] for n in after if n in known})

    def _why_fixed(self, name: str) -> tuple[str, str]:
        room = self._room
        if name in room.instead:
            return "cannot be written", room.instead[name]
        if name in room.body.create_only:
            return "can only be set when it is created", "leave it as it was, or make a new one"
        if name in room.record.model_fields:
            return "is set by the service", "leave it as it was"
        return "is not documented, so it is never sent", "leave it as it was"

    # --- creates and deletes --------------------------------------------------------

    def _create(self) -> None:
        """Plan the rows that are not there yet."""
        edits, room = self._edits, self._room
        fields: dict[int, dict[str, Any]] = {row: {} for row in edits.new.tolist()}
        left = set()
        for name, rows in edits.filled(edits.new).items():
            if name in room.body.model_fields:
                for row, value in zip(rows.tolist(), edits.values(name, rows), strict=True):
                    fields[row][name] = value
            elif name in room.record.model_fields:
                left.add(name)
                self._instead(name, rows.tolist(), fields)
        if left:
            names = ", ".join(sorted(left))
            self.notes.append(f"New rows are sent without {names}: the service sets them.")
        for row in fields:
            if room.chosen:
                fields[row][room.key] = _parts(edits.key(row))[1]
            if row in self._bad:
                continue
            try:
                after = room.body.whole(fields[row], f"This {room.noun}", room.required())
            except InputError as error:
                self._problems(row, error)
                continue
            self._add(row, "create", {}, after, {})

    def _instead(
        self, name: str, rows: Iterable[int], fields: Mapping[int, Mapping[str, Any]]
    ) -> None:
        """Refuse in new rows what must be said in another way, unless it is."""
        if name not in self._room.instead:
            return
        for row in rows:
            if not any(fields[row].get(n) for n in self._room.body.model_fields if n in name):
                [value] = self._edits.values(name, np.array([row]))
                self._refuse(row, name, value, "cannot be written", self._room.instead[name])

    def _delete(self, rows: Sequence[int]) -> None:
        rows = [row for row in rows if self._edits.positions[row] >= 0]
        places = [int(self._edits.positions[row]) for row in rows]
        for row, known in zip(rows, records(self._base, places), strict=True):
            self._add_delete(row, self._label(row), self._edits.key(row), known)

    def also_delete(self, keys: Iterable[Any] | None) -> None:
        """Plan to delete the records of these keys; those in the frame keep their row."""
        if keys is None:
            return
        index = pd.Index(keys.index if isinstance(keys, pd.DataFrame) else list(keys))
        places: Any = self._base.index.get_indexer_for(index)
        wanted = index.tolist()  # of Python, not of numpy
        at = {int(p): r for r, p in enumerate(self._edits.positions.tolist()) if p >= 0}
        end = len(self._edits.labels)
        for n, (key, place) in enumerate(zip(wanted, places, strict=True)):
            if place < 0:
                reason = f"no {self._room.noun} has it in what was read"
                self.refused.append(
                    Refused(key, "delete", shown(key), reason, "read the frame again")
                )
                continue
            row = at.setdefault(int(place), end + n)
            label = self._label(row) if row < end else key
            [known] = records(self._base, [int(place)])
            self._add_delete(row, label, key, known)

    def _add_delete(self, row: int, label: Any, key: Any, known: Mapping[str, Any]) -> None:
        sendable = {n: v for n, v in known.items() if n in self._room.body.updatable()}
        self._add(row, "delete", known, {}, sendable, label=label, key=key)

    # --- all of them ----------------------------------------------------------------

    def _add(
        self,
        row: int,
        kind: Kind,
        known: Mapping[str, Any],
        after: Mapping[str, Any],
        before: Mapping[str, Any],
        *,
        label: Any = None,
        key: Any = None,
    ) -> None:
        room = self._room
        if label is None:
            label = self._label(row)
        code, key = _parts(self._edits.key(row) if key is None else key)
        code = code or room.code
        named = room.label({**known, **after}) or str(key)
        undo, loss = room.undo(kind, known, after)
        moment = known.get(_SEEN[0])
        self.changes[row] = Change(
            row=label,
            kind=kind,
            key=key if kind != "create" or room.chosen else None,
            label=f"{code}/{key}" if room.chosen else named,
            before=before,
            after=after,
            code=code,
            undo=undo,
            loss=loss,
            seen=None if moment is None else moment.isoformat(),
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
                self.refused.append(Refused(change.row, "", change.label, reason, step))

    def _label(self, row: int) -> Any:
        """Return what the frame calls a row, as Python has it."""
        label = self._edits.labels[row]
        return label.item() if isinstance(label, np.generic) else label

    def _refuse(self, row: int, column: str, value: Any, reason: str, next_step: str) -> None:
        self._bad.add(row)
        text = "(not shown)" if SECRET.search(column) else shown(value)
        self.refused.append(Refused(self._label(row), column, text, reason, next_step))

    def _problems(self, row: int, error: InputError) -> None:
        for problem in error.problems:
            field = self._room.body.model_fields.get(problem.field.partition(".")[0])
            step = (field and field.description) or "leave it out"
            self._bad.add(row)
            label = self._label(row)
            self.refused.append(Refused(label, problem.field, problem.value, problem.reason, step))

    def _note_foreign(self, names: Sequence[str]) -> None:
        for name in names:
            like = get_close_matches(name, self._room.body.model_fields, 1)
            hint = f"; did you mean {like[0]}?" if like else ""
            self.notes.append(f"The column {name} is not looked at: it is no field{hint}")


_SEEN = ("updated_at",)


def _parts(key: Any) -> tuple[str | None, Any]:
    """Part the key of a content among many templates into template code and language code."""
    return key if isinstance(key, tuple) else (None, key)
