"""A model of an account: what must be there, and whether what runs say of their rows is true.

The model is plain dicts. Whatever somebody else does to the account it takes over. What a run
does it takes only as planned: of the record that a row names, the fields that the row sends.
So the account and the model part as soon as a run does anything else.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from chatkit.bulk.change import Change
from chatkit.sandbox import Sandbox

#: A room, and an id; or of a content its template code and language.
Place = tuple[str, Any]
Record = dict[str, Any]
Records = dict[Place, Record]

ROOMS = {"contact": "contacts", "flow": "flows", "content": "contents", "webhook": "webhooks"}
NATURAL = {"contacts": "number", "flows": "name", "contents": "lang_code", "webhooks": "url"}
PARTS = ("first_name", "middle_name", "last_name")
LANDED = ("applied", "differs")
STAYED_AWAY = ("failed", "conflict", "not sent", "unchanged")
_STAMPS = {"updated_at", "updated_by", "created_at", "created_by"}
_KINDS = {"POST": "create", "PUT": "update", "PATCH": "update", "DELETE": "delete"}


def held(sandbox: Sandbox) -> Records:
    """What a sandbox holds, without the stamps of writes; only contacts stay when deleted."""
    found: Records = {}
    for room in ROOMS.values():
        rows = sandbox.store.run(f"SELECT id, scope, active, item, more FROM {room} ORDER BY id")
        for key, scope, active, item, more in rows.fetchall():
            record = {**json.loads(item), **json.loads(more), "active": bool(active)}
            if room == "contents":
                key = (scope.partition("/")[2], record["lang_code"])
                del record["id"]
            if room == "contacts":
                record["name"] = " ".join(filter(None, (record[part] for part in PARTS)))
            if active or room == "contacts":
                found[room, key] = {n: v for n, v in record.items() if n not in _STAMPS}
    return found


def same(one: Any, two: Any) -> bool:
    """Whether two values say the same; nothing is nothing."""
    return one == two or (one in (None, "", [], {}) and two in (None, "", [], {}))


class Write(NamedTuple):
    """One write as it arrived: what it does, to which place (None: a new one), and its body."""

    kind: str
    room: str
    key: Any
    body: Record

    @classmethod
    def of(cls, method: str, path: str, body: bytes) -> Write:
        room, *rest = path.partition("?")[0].split("/")
        fields = json.loads(body) if body else {}
        if room == "templates":  # templates/CODE/contents[/LANG]
            lang = rest[2] if len(rest) > 2 else fields["lang_code"]
            return cls(_KINDS[method], "contents", (rest[0], lang), fields)
        return cls(_KINDS[method], room, int(rest[0]) if rest else None, fields)


class Effect(NamedTuple):
    """One write that took effect: whose, on which record, what that was and is then."""

    at: int  #: how many there were before
    run: str | None  #: None: somebody else's
    name: str  #: of the row that it belongs to, if it is a run's
    place: Place
    before: Record | None
    after: Record | None
    fresh: bool = True  #: whether it was still as the run had read it

    @property
    def marks(self) -> set[Any]:
        """What else might have met it: its place, and what names the record."""
        room = self.place[0]
        names = {r[NATURAL[room]] for r in (self.before, self.after) if r is not None}
        return {self.place, *((room, name) for name in names)}


@dataclass
class Known:
    """A plan, and what truly came of it."""

    plan: Any
    since: int  #: how many effects there had been when what it compares with was read
    family: frozenset[str] = frozenset()  #: whose effects are not somebody else's, beside its own
    effects: defaultdict[str, list[Effect]] = field(default_factory=lambda: defaultdict(list))
    so: set[int] = field(default_factory=set)  #: rows that were as wanted while it was at work
    was: set[str] = field(default_factory=set)  #: the names of rows that were so when it began
    result: pd.DataFrame | None = None
    started: bool = False
    undoes: Undone | None = None

    @property
    def id(self) -> str:
        return str(self.plan.id)

    @property
    def room(self) -> str:
        return ROOMS[self.plan.setting.noun]

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(self.plan.changes)

    @property
    def states(self) -> list[str]:
        return [] if self.result is None else self.result["state"].tolist()

    @property
    def stopped(self) -> str:
        """Why it stopped, as its result says."""
        assert self.result is not None
        return str(self.result.chatkit.summary().partition("It stopped: ")[2])

    @property
    def done(self) -> bool:
        return self.result is not None and not self.stopped

    def name(self, change: Change) -> str:
        """Name a row by what it sends: two creates that send the same are one and the same."""
        if change.kind == "create":
            return f"create {change.code} {json.dumps(change.after, sort_keys=True)}"
        return f"{change.kind} {self.place(change)}"

    def place(self, change: Change) -> Place:
        key = change.key if change.code is None else (change.code, change.key)
        return self.room, key

    def named(self, write: Write) -> str:
        """Name the row that a write belongs to."""
        if write.kind == "create":
            code = write.key[0] if write.room == "contents" else None
            return f"create {code} {json.dumps(write.body, sort_keys=True)}"
        return f"{write.kind} {(write.room, write.key)}"

    def row(self, name: str) -> Change | None:
        return next((change for change in self.changes if self.name(change) == name), None)

    def fits(self, change: Change, records: Mapping[Place, Record]) -> bool:
        """Whether the records are as a row wants them."""
        if change.kind == "create" and change.code is None:
            return any(
                r["active"] and place[0] == self.room and _has(r, change.after)
                for place, r in records.items()
            )
        record = records.get(self.place(change))
        there = record is not None and record["active"]
        if change.kind == "delete":
            return not there
        return there and record is not None and _has(record, change.after)

    def begin(self, records: Mapping[Place, Record]) -> None:
        """Note which rows are as wanted before it has done anything."""
        self.look(records)
        if not self.started:
            self.was = {self.name(self.changes[n]) for n in self.so}
        self.started = True

    def look(self, records: Mapping[Place, Record]) -> None:
        """Note which rows are as wanted just now."""
        self.so |= {n for n, change in enumerate(self.changes) if self.fits(change, records)}


def _has(record: Record, fields: Mapping[str, Any]) -> bool:
    return all(same(record.get(name), value) for name, value in fields.items())


class Undone(NamedTuple):
    """What an undo has promised: the run, and its rows that had landed when it was planned."""

    run: Known
    rows: list[Change]


class Model:
    """What must be there, and all that took effect, in order."""

    def __init__(self, records: Records, *, replaces: bool) -> None:
        self.records = records
        self.log: list[Effect] = []
        self.wrong: list[str] = []  #: what a run did although it was not planned so
        self.replaces = replaces  #: whether an update clears what it does not send
        self.seen: Records = {}  #: the records as the run at work has read them last
        self.sure = True  #: whether it is known what a run knew of a record when it wrote

    def theirs(self, now: Records) -> None:
        """Take over what somebody else has done."""
        for place in {*self.records, *now}:
            before, after = self.records.get(place), now.get(place)
            if before != after:
                self.log.append(Effect(len(self.log), None, "", place, before, after))
        self.records = now

    def ours(self, known: Known, write: Write, now: Records) -> None:
        """Take what a write of a run was planned to do, no more; note what else it did."""
        name = known.named(write)
        change = known.row(name)
        moved = [p for p in {*self.records, *now} if self.records.get(p) != now.get(p)]
        if write.kind != "create":
            moved = [(write.room, write.key)]
        if change is None or len(moved) != 1:
            self.wrong.append(f"{write} was not planned, or touched {moved}")
            return
        [place] = moved
        before, after = self.records.get(place), now.get(place)
        if write.kind == "delete" and not (before and before["active"]):
            return  # a service may say of what is gone that it is deleted
        fresh = change.kind == "create" or before == self.seen.get(place)
        self.log.append(Effect(len(self.log), known.id, name, place, before, after, fresh))
        known.effects[name].append(self.log[-1])
        wanted = self._planned(change, write, place, after)
        self.records = {p: r for p, r in self.records.items() if p != place}
        if wanted is not None:
            self.records[place] = wanted
        if self.records != now:
            found = differences(self.records, now)
            self.wrong.append(f"{change.kind} of {change.label} did something else: {found}")

    def _planned(
        self, change: Change, write: Write, place: Place, after: Record | None
    ) -> Record | None:
        """What the record must be now."""
        if change.kind == "create":  # with what the service fills in
            return {**(after or {}), **_as_held(change.after, after), "active": True}
        self._knew(change, place)
        if change.kind == "delete":
            gone = self.records[place] | {"active": False}
            return gone if place[0] == "contacts" else None
        # A service whose PUT replaces is sent what was read, which may have changed since.
        carried = {
            name: value
            for name, value in self.seen.get(place, {}).items()
            if same(value, write.body.get(name)) and (name in write.body or self.replaces)
        }
        record = self.records[place]
        return {**record, **_as_held(carried | dict(change.after), after)}

    def _knew(self, change: Change, place: Place) -> None:
        """Make sure that nobody's value was written over that the run had seen."""
        if not self.sure and place[0] == "webhooks":
            return
        seen = self.seen.get(place)
        if seen is None:
            self.wrong.append(f"{change.kind} of {change.label} without having read it")
            return
        for name, value in change.before.items():
            if not same(seen.get(name), value) and not same(seen.get(name), change.after.get(name)):
                self.wrong.append(
                    f"{change.kind} of {change.label}: its {name} was {value!r} at planning, "
                    f"{seen.get(name)!r} when it was read, and was written over"
                )

    # --- what a result says ---------------------------------------------------------

    def lies(self, known: Known, result: pd.DataFrame) -> list[str]:
        """Find what a result says that is not so."""
        changes = known.changes
        told = list(zip(result.index, result["change"], result["label"], strict=True))
        if told != [(change.row, change.kind, change.label) for change in changes]:
            return ["the result has other rows than the plan, or in another order"]
        states: defaultdict[str, list[str]] = defaultdict(list)
        found = []
        for n, (change, state) in enumerate(zip(changes, result["state"], strict=True)):
            states[known.name(change)].append(state)
            line = f"{change.kind} of {change.label} is {state} ({result['reason'].iloc[n]})"
            if state in (*LANDED, "unchanged") and n not in known.so:
                found.append(f"{line}, and it never was so")
            # What was there long ago is in the way, where the service keeps names single.
            clash = (known.room != "flows" or "(4" in line) and self._taken(known.room, change)
            if state == "conflict" and not (clash or self.others(known, change)):
                found.append(f"{line}, and nobody else was there")
            if state == "differs" and not self.others(known, change):
                found.append(f"{line}, and it is as sent")
        for name, several in states.items():
            found += self._miscounted(known, name, Counter(several), len(several))
        return found

    def _miscounted(
        self, known: Known, name: str, states: Counter[str], rows: int
    ) -> Iterable[str]:
        """Compare how many of some equal rows are said to have landed with how many have."""
        effects = known.effects[name]
        change = known.row(name)
        assert change is not None
        landed = sum(states[state] for state in LANDED)
        # an update or a delete that landed twice has landed once
        took = len(effects) if change.kind == "create" else min(1, len(effects))
        if took > rows:
            yield f"{name} took effect {took} times for {rows} rows"
        if took > landed + states["unknown"]:
            later = self.others(known, change, effects[-1].at + 1)
            if not (later and states["conflict"]):
                yield f"{name} took effect, and its rows are {dict(states)}"
        # What was there before is as good as what was made, if the answer to that was lost.
        if landed > took and name not in known.was and not self.others(known, change):
            yield f"{name} is said to have landed, and has not"

    def others(self, known: Known, change: Change, since: int | None = None) -> bool:
        """Whether anything else has met a row since its plan: somebody, a run, another row."""
        place = known.place(change)
        room = known.room
        names = {fields.get(NATURAL[room]) for fields in (change.before, change.after)}
        names |= {r[NATURAL[room]] for r in [self.records.get(place)] if r}
        marks = {place, *((room, name) for name in names if name is not None)}
        own = known.name(change)
        return any(
            marks & effect.marks
            for effect in self.log[known.since if since is None else since :]
            if effect.run not in known.family and (effect.run, effect.name) != (known.id, own)
        )

    # --- what an undo has promised --------------------------------------------------

    def broken(self, known: Known) -> list[str]:
        """Find what an undo has not brought back, although its run had promised it."""
        undone, found = known.undoes, []
        assert undone is not None and known.result is not None
        refused = {cell.row for cell in known.plan.cells}
        told = dict(zip(known.result.index, known.result["state"], strict=True))
        for change in undone.rows:
            effects = undone.run.effects[undone.run.name(change)]
            if change.undo != "exactly" or change.row in refused or len(effects) != 1:
                continue
            [effect] = effects
            later = (e for e in self.log[effect.at + 1 :] if e.run != known.id)
            if not effect.fresh or any(e.place == effect.place for e in later):
                continue
            now = self.records.get(effect.place)
            back = now == effect.before or (effect.before is None and not (now or {}).get("active"))
            taken = told[change.row] == "conflict" and self._given_away(known, change)
            if not back and not taken:
                found.append(
                    f"{change.kind} of {change.label} could be undone exactly, is "
                    f"{told[change.row]} now, and is {now} and not {effect.before}"
                )
        return found

    def _given_away(self, known: Known, change: Change) -> bool:
        """Whether somebody else has met what an undo would have to give back."""
        own = {known.id, known.undoes.run.id if known.undoes else None}
        mark = known.room, change.before.get(NATURAL[known.room])
        return any(mark in effect.marks for effect in self.log if effect.run not in own)

    def _taken(self, room: str, change: Change) -> bool:
        """Whether another record has the name that a row wants to give to its own."""
        name = change.after.get(NATURAL[room])
        return any(
            record["active"] and record[NATURAL[room]] == name and place != (room, change.key)
            for place, record in self.records.items()
            if place[0] == room
        )


def _as_held(fields: Mapping[str, Any], after: Record | None) -> Record:
    """How a record holds what was sent: nothing in the service's way, a name in its parts."""
    after = after or {}
    held = {n: after[n] if n in after and same(after[n], v) else v for n, v in fields.items()}
    if "name" in held and "first_name" in after:
        held |= {part: after[part] for part in PARTS}
    return held


def differences(wanted: Records, found: Records) -> list[str]:
    """Where two states of an account differ."""
    lines = []
    for place in sorted({*wanted, *found}, key=str):
        one, two = wanted.get(place), found.get(place)
        if one is None or two is None:
            lines += [f"{place} is {two} and not {one}"] if one != two else []
        else:
            names = [n for n in {*one, *two} if one.get(n) != two.get(n)]
            lines += [f"{place}: {n} is {two.get(n)!r} and not {one.get(n)!r}" for n in names]
    return lines
