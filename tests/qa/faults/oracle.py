"""The oracle: compares what a run reports with what the service knows to be true."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from faults.load import Load, Name, Row, of_change, of_effect

TOOK_EFFECT = ("applied", "differs", "unchanged")
NO_EFFECT = ("failed", "conflict", "not sent")
_MOVES = {"updated_at", "updated_by"}

Record = Mapping[str, Any]


@dataclass
class Verdict:
    """The faults of a run, row by row; all lists should be empty."""

    rows: int = 0
    states: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)  #: reported as present, but absent
    duplicated: list[str] = field(default_factory=list)  #: created more than once
    false: list[str] = field(default_factory=list)  #: reported as absent, but present; or the like
    stray: list[str] = field(default_factory=list)  #: changed without being planned
    overwritten: list[str] = field(default_factory=list)  #: another writer's value, seen and lost
    repeated: int = 0  #: updates and deletes that took effect twice, which harms nobody
    gaps: int = 0  #: another writer's values lost between the last read and the write

    @property
    def wrong(self) -> list[str]:
        """Everything that is wrong, one line each."""
        kinds = [f.name for f in fields(self) if isinstance(getattr(self, f.name), list)]
        return [f"{kind}: {line}" for kind in kinds for line in getattr(self, kind)]

    def __add__(self, other: Verdict) -> Verdict:
        values = [getattr(self, f.name) + getattr(other, f.name) for f in fields(self)]
        return Verdict(*values)


def evaluate(
    load: Load,
    changes: Sequence[Mapping[str, Any]],
    result: Sequence[Mapping[str, Any]],
    before: Mapping[str, list[Record]],
    truth: Mapping[str, Any],
    *,
    alone: bool = True,
) -> Verdict:
    """Compare the expected rows, the plan's changes, the result and the truth with each other.

    Args:
        load: The expected rows.
        changes: The changes of the plan, as JSON, in order.
        result: The rows of the result in order: `label`, `change`, `state`.
        before: The state of the account when the plan was made.
        truth: What the service knows now.
        alone: Nobody else wrote, so the account must hold what is reported.
    """
    verdict = Verdict(rows=len(result), states=Counter(row["state"] for row in result))
    expected = {row.name: row for row in load.rows}
    planned = [of_change(load.resource, change) for change in changes]
    if Counter(planned) != Counter([row.name for row in load.rows]):
        unusual = set(planned) ^ set(expected)
        verdict.false.append(f"the plan has other rows than expected: {sorted(unusual)[:5]}")
    if [(c["row"], c["kind"]) for c in changes] != [(r["label"], r["change"]) for r in result]:
        verdict.false.append("the result has other rows than the plan, or in another order")
    effects = _effects(truth, expected, verdict)
    now = _Records(truth["state"])
    others = _others(truth)
    for name, row in zip(planned, result, strict=False):
        if name in expected:
            _row(expected[name], row, effects[name], others[name], now, verdict, alone=alone)
    if alone:
        rows = zip(planned, result, strict=False)
        affected = {name for name, row in rows if row["state"] not in NO_EFFECT} | set(effects)
        _untouched(expected, affected, before, now, verdict)
    _overwritten(truth, verdict)
    return verdict


def _effects(
    truth: Mapping[str, Any], expected: Mapping[Name, Row], verdict: Verdict
) -> defaultdict[Name, list[Mapping[str, Any]]]:
    """Sort the client's writes that took effect by the row they belong to."""
    effects = defaultdict(list)
    for effect in truth["effects"]:
        if effect["who"] != "client" or not 200 <= effect["status"] < 300:
            continue
        name, sent = of_effect(effect), effect["body"] or {}
        row = expected.get(name)
        if row is None or not row.fields.items() <= sent.items():
            verdict.stray.append(f"{effect['method']} {effect['path']} {sent} was not planned so")
        effects[name].append(effect)
    for name, outcome in effects.items():
        if len(outcome) > 1 and name[1] != "create":
            verdict.repeated += 1
        if name[1] == "create" and len([e for e in outcome if not e.get("echo")]) > 1:
            verdict.duplicated.append(f"{name} took effect {len(outcome)} times")
    return effects


def _others(truth: Mapping[str, Any]) -> Mapping[Name, list[Mapping[str, Any]]]:
    """Return the other writer's writes since the plan, by the row whose record they touched."""
    outcome = defaultdict(list)
    for effect in truth["effects"]:
        if effect["who"] == "writer" and effect["n"] > truth["marks"].get("planned", 0):
            resource, _, place = of_effect(effect)
            for kind in ("create", "update", "delete"):
                outcome[resource, kind, place].append(effect)
    return outcome


def _row(
    expected: Row,
    reported: Mapping[str, Any],
    effects: Sequence[Mapping[str, Any]],
    others: Sequence[Mapping[str, Any]],
    now: _Records,
    verdict: Verdict,
    *,
    alone: bool,
) -> None:
    state = reported["state"]
    line = f"{expected.name} is {state} ({reported.get('reason')})"
    present = now.hold(expected)
    echoes = [effect["id"] for effect in effects if effect.get("echo")]
    if expected.kind == "create" and (many := now.count(expected)) > 1 + len(echoes):
        verdict.duplicated.append(f"{expected.name} is there {many} times")
    if expected.kind == "create" and len(effects) > 1 and state in TOOK_EFFECT:
        ids = [str(effect["id"]) for effect in effects]
        if not all(key in str(reported.get("reason")) for key in ids):
            verdict.false.append(f"{line}, and not that it is there twice: {ids}")
    if state in TOOK_EFFECT:
        if alone and not present:
            verdict.lost.append(f"{line}, but it is not there")
        elif state != "unchanged" and not effects:
            verdict.lost.append(f"{line}, but nothing of it took effect")
        elif state == "unchanged" and effects and reported.get("evidence") != "gone":
            verdict.false.append(f"{line}, but it was our doing")
        elif alone and present and state == "differs":
            verdict.false.append(f"{line}, but the record is as planned")
    elif state in NO_EFFECT:
        after = effects and any(other["n"] > effects[0]["n"] for other in others)
        if effects and not (state == "conflict" and after):
            verdict.false.append(f"{line}, but took effect")
        elif state == "conflict" and not others:
            verdict.false.append(f"{line}, but nobody else wrote")
    elif state != "unknown":
        verdict.false.append(f"{line}: there is no such state")


def _untouched(
    expected: Mapping[Name, Row],
    affected: set[Name],
    before: Mapping[str, list[Record]],
    now: _Records,
    verdict: Verdict,
) -> None:
    """Report changes of other records, and of other fields of the same records."""
    for resource, records in before.items():
        for record in records:
            planned = "templates" if resource == "contents" else resource
            place = _place(resource, record)
            rows = [
                row for kind in ("update", "delete")
                if (row := expected.get((planned, kind, place))) and row.name in affected
            ]  # fmt: skip
            free = set(_MOVES)
            for row in rows:
                free |= {"active"} if row.kind == "delete" else _parts(row.fields)
            if not record["active"]:  # it may be restored by a create
                free |= {"active", *_parts({"name": ""})}
            after = now.by_id[resource].get(record["id"], {})
            if changed := [f for f in record if f not in free and after.get(f) != record[f]]:
                verdict.stray.append(f"{resource} {place}: {', '.join(changed)} changed")


def _parts(sent: Iterable[str]) -> set[str]:
    names = {"first_name", "middle_name", "last_name"}
    return set(sent) | (names if "name" in set(sent) else set())


def _place(resource: str, record: Record) -> str:
    if resource == "contents":
        return f"{record['scope'].partition('/')[2]}/{record['lang_code']}"
    return str(record["id"])


class _Records:
    """The records of the account, found by id and by what a row names."""

    def __init__(self, state: Mapping[str, list[Record]]) -> None:
        self.by_id = {resource: {r["id"]: r for r in rows} for resource, rows in state.items()}
        self.active: dict[tuple[str, str], list[Record]] = defaultdict(list)
        for resource, records in state.items():
            for record in records:
                if record["active"]:
                    self.active[resource, self._natural(resource, record)].append(record)

    @staticmethod
    def _natural(resource: str, record: Record) -> str:
        fields = {"contacts": "number", "flows": "name", "webhooks": "url"}
        return _place(resource, record) if resource == "contents" else str(record[fields[resource]])

    def count(self, row: Row) -> int:
        """Count the active records that a create names."""
        return len(self._named(row))

    def hold(self, row: Row) -> bool:
        """Return whether the account is as the row requires."""
        if row.resource == "templates" or row.kind == "create":
            outcome = self._named(row)
        else:
            record = self.by_id[row.resource].get(int(row.key))
            outcome = [record] if record and record["active"] else []
        if row.kind == "delete":
            return not outcome
        return any(_equal(row.fields, record) for record in outcome)

    def _named(self, row: Row) -> list[Record]:
        resource = "contents" if row.resource == "templates" else row.resource
        return self.active.get((resource, row.name[2]), [])


def _equal(expected: Mapping[str, Any], record: Record) -> bool:
    names = ("first_name", "middle_name", "last_name")
    if "first_name" in record:  # a contact, whose name is kept in parts
        record = {**record, "name": " ".join(filter(None, (record[n] for n in names)))}
    return all(record.get(name) == value for name, value in expected.items())


def _overwritten(truth: Mapping[str, Any], verdict: Verdict) -> None:
    """Look for another writer's value that the client wrote over although it had seen it.

    Between the client's last read of a record and its write a value can be lost, which no
    client can prevent; from the first apply on it must have read, though.
    """
    marks = truth["marks"]
    written = defaultdict(list)  # by record, in order: since the plan, what took effect
    for effect in truth["effects"]:
        if effect["body"] and effect["status"] < 300 and effect["n"] > marks.get("planned", 0):
            written[effect["id"]].append(effect)
    read = defaultdict(list)
    for n, ids in truth["reads"]:
        for record_id in ids:
            read[record_id].append(n)
    for record_id, effects in written.items():
        for effect in (effect for effect in effects if effect["who"] == "client"):
            seen = [n for n in read[record_id] if marks["apply"] < n < effect["sent"]]
            last = max(seen, default=effect["n"])
            for name, value in effect["body"].items():
                before = [e for e in effects if e["n"] < last and name in e["body"]]
                between = [e for e in effects if last < e["n"] < effect["n"] and name in e["body"]]
                if before and before[-1]["who"] == "writer" and before[-1]["body"][name] != value:
                    line = f"{name} of {before[-1]['n']} by {effect['n']}"
                    verdict.overwritten.append(f"{effect['path']}: {line}")
                elif any(e["who"] == "writer" and e["body"][name] != value for e in between):
                    verdict.gaps += 1


def evaluate_undo(
    load: Load,
    planned: Mapping[str, Any],
    result: Sequence[Mapping[str, Any]],
    before: Mapping[str, list[Record]],
    truth: Mapping[str, Any],
) -> Verdict:
    """Compare the account after an undo with what it was before its run, record by record.

    Args:
        load: What the run did.
        planned: Of the undo: `rows` of its run, and those `taken` back, `refused` and `left`.
        result: The rows of its result.
        before: The state of the account before the run.
        truth: What the service knows now.
    """
    verdict = Verdict(rows=len(result), states=Counter(row["state"] for row in result))
    accounted = [*planned["taken"], *planned["refused"], *planned["left"]]
    if sorted(map(str, accounted)) != sorted(map(str, planned["rows"])):
        unusual = set(map(str, accounted)) ^ set(map(str, planned["rows"]))
        verdict.false.append(f"the undo does not account for each row once: {sorted(unusual)[:5]}")
    for row in result:
        if row["state"] not in ("applied", "unchanged", "unknown"):
            verdict.false.append(f"the undo of {row['label']} is {row['state']}: {row['reason']}")
    stays = set(map(str, planned["stays"]))
    for resource, records in before.items():
        then = {_path(resource, r): r for r in records if r["active"]}
        now = {_path(resource, r): r for r in truth["state"][resource] if r["active"]}
        free = _MOVES | ({"id"} if resource == "contents" else set())
        for position in then.keys() - now.keys() - stays:
            verdict.lost.append(
                f"{resource} {position} was there before the run, and is not after its undo"
            )
        for position in now.keys() - then.keys() - stays:
            verdict.stray.append(f"{resource} {position} is there after the undo")
        for position in then.keys() & now.keys():
            was, present = _joined(then[position]), _joined(now[position])
            if position not in stays and (
                unusual := [f for f in was if f not in free and was[f] != present[f]]
            ):
                verdict.stray.append(
                    f"{resource} {position}: {', '.join(unusual)} are not what they were"
                )
    return verdict


def _path(resource: str, record: Record) -> str:
    return _place(resource, record) if resource == "contents" else f"{resource}/{record['id']}"


def _joined(record: Record) -> dict[str, Any]:
    """Join the name of a contact: a restored name may be split otherwise."""
    names = ("first_name", "middle_name", "last_name")
    if "first_name" not in record:
        return dict(record)
    whole = " ".join(filter(None, (record[name] for name in names)))
    return {n: v for n, v in record.items() if n not in names} | {"name": whole}
