"""Planning of the changes that bring an account to a saved state.

Records are found again by what names them: flows by name, contents by template code and language,
webhooks by address, contacts by country code and number. Ids are never carried. What only the
account has stays, unless it is named to be deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias, cast

import pandas as pd

from chatkit.account import reading
from chatkit.account.reading import AccountState, Fields
from chatkit.bulk.changes import RefusedCell
from chatkit.bulk.endpoints import ACCOUNT, Endpoints
from chatkit.bulk.plan import Plan, get_setting, get_target, join_plans
from chatkit.client import Client, get_plan_target, get_resource
from chatkit.errors import InputError
from chatkit.frames.frame import records
from chatkit.frames.snapshot import inherit_origin
from chatkit.imports import accessor
from chatkit.localization.content import shorten_list
from chatkit.util.display import MISSING, many, values

#: What is to be deleted: the resource and what names the record, as a comparison shows them.
Named: TypeAlias = "tuple[str, Any] | str"

#: Where to change something: fields by resource and record; "" for a record that is missing.
Chosen: TypeAlias = Mapping[tuple[str, str], Collection[str]]

#: So many records are named in a note, the others counted.
_MAX_NAMED = 5
_LEFT = (
    "Changed in the account since the last pull, and left as it is (a pull brings it into the "
    "files, plan(…, restore=True) sets it back)"
)
_DECIDE = "pull with conflicts='files' to keep yours, or with 'account' to take theirs"


def require_client(client: object) -> None:
    """Raise an error unless this is the client of one account: a fleet has several.

    Raises:
        InputError: It is something else.
    """
    if not isinstance(client, Client):
        raise InputError(
            f"This is for one account, not for {type(client).__name__}. To review a plan for each "
            "of a fleet: {name: folder.plan(client) for name, client in fleet.items()}"
        )


def plan_state(
    state: AccountState,
    client: Client,
    *,
    base: Mapping[str, Mapping[Any, Fields]] = MappingProxyType({}),
    only: Chosen | None = None,
    delete: Iterable[Named] = (),
    broken: bool = False,
    skip_invalid: bool = False,
    folder: str = "",
) -> Plan:
    """Plan the changes that make an account equal to a state.

    What is missing is created, what differs is updated, in the order flows, contents, webhooks,
    contacts. What cannot be brought back as it was is in `plan.notes` and `plan.refused`.

    Args:
        state: What it is to hold: of an account, a folder or a revision of one.
        client: The account. It is read, as far as the state goes.
        base: The records from which the state was edited, by noun, if they are known. What only
            the account has changed since is left and noted; what both have changed is refused.
        only: Where to change something; None for everywhere.
        delete: What only the account has and is to be deleted, each by resource and name as a
            comparison shows them: `("flow", "Order survey")`, `("content", "order_ready/de")`,
            `("contact", "+1 2025550100")`, or as one text: `"flow Order survey"`.
        broken: Plan what has errors, too: documents and contents that will be refused.
        skip_invalid: Plan the good rows although others cannot be planned.
        folder: The account folder whose files the state is of, if it is.

    Raises:
        InputError: `delete` cannot be read.
        CallError: The account cannot be read.
    """
    accessor.register()
    deletions = _group_deletes(delete)
    planner = _StatePlanner(state, client, base, only)
    plans = [
        planner.plan_resource(noun, deletions[noun], broken=broken)
        for noun in reading.DECLARED
        if deletions[noun] or state.get(noun)
    ]
    target = get_plan_target(client, ACCOUNT)
    plan = join_plans(target, plans, cells=planner.cells, skip_invalid=skip_invalid, folder=folder)
    carried = state.not_carried if len(plan) or len(plan.refused) else ()
    plan.notes[:0] = [*planner.warnings, *planner.describe_plan(plan), *carried]
    return plan


# --- what is named ----------------------------------------------------------------------


def _group_deletes(delete: Iterable[Named]) -> dict[str, list[str]]:
    """Group the names in `delete=` by noun, each name as one text.

    Raises:
        InputError: One does not name a resource and a record.
    """
    if isinstance(delete, str | bytes) or not isinstance(delete, Iterable):
        raise InputError(f"delete= takes a list, like delete=[{str(delete)[:40]!r}].")
    names: dict[str, dict[str, None]] = {noun: {} for noun in reading.DECLARED}
    for reference in delete:
        match reference.partition(" ")[::2] if isinstance(reference, str) else reference:
            case (str(noun), name) if name and noun.removesuffix("s") in names:
                noun = noun.removesuffix("s")
                names[noun][reading.format_name(noun, name)] = None
            case _:
                raise InputError(
                    f"delete= names a resource ({', '.join(names)}) and a record of it, like "
                    f"('flow', 'Order survey') or 'content order_ready/de', not {reference!r:.60}."
                )
    return {noun: list(each) for noun, each in names.items()}


@dataclass
class _StatePlanner:
    """Planner of the changes to a state, which collects notes resource by resource."""

    state: AccountState
    client: Client
    base: Mapping[str, Mapping[Any, Fields]]
    only: Chosen | None
    stays: dict[str, list[str]] = field(default_factory=dict)  #: what only the account has
    kept: dict[str, list[str]] = field(default_factory=dict)  #: what differs and is left, by why

    warnings: list[str] = field(default_factory=list)  #: for an empty plan, too
    cells: list[RefusedCell] = field(default_factory=list)  #: what no planner has seen

    def describe_plan(self, plan: Plan) -> Iterator[str]:
        """Yield the notes on a plan: records created, left as they are and unknown to the state."""
        for noun, declared in reading.DECLARED.items():
            created = sum(each.kind == "create" and each.noun == noun for each in plan.changes)
            if created and (note := declared.make_created_note(created)):
                yield note
        for reason, names in self.kept.items():
            yield f"{reason}: {shorten_list(names, _MAX_NAMED)}."
        if remaining := {noun: names for noun, names in self.stays.items() if names}:
            counts = ", ".join(many(len(names), noun) for noun, names in remaining.items())
            verb = "it stays" if sum(map(len, remaining.values())) == 1 else "they stay"
            noun, names = next(iter(remaining.items()))
            yield (
                f"The account has {counts} that {self.state.origin} does not have: {verb}. delete= "
                f"names what is to be deleted, like {f'{noun} {names[0]}'!r}."
            )

    def plan_resource(self, noun: str, deletions: Sequence[str], *, broken: bool) -> Plan:
        """Plan one resource, whose records are matched by name."""
        declared, resource = reading.DECLARED[noun], get_resource(self.client, noun)
        codes = [*self.state.codes, *(text.rpartition("/")[0] for text in deletions if "/" in text)]
        if "template_code" in declared.account_key:
            codes += [code for code, _ in self.state.get(noun)]
        frame, _ = resource._target.read_with_notes(codes)
        endpoints = cast("Endpoints[Any]", resource._target)
        if declared.personal and endpoints.lists_deleted:
            self.warnings.append(
                f"This service lists deleted {noun}s, too, and nothing tells them from others: "
                "those that it lists are taken to be there."
            )
        groups = reading.group_records(noun, frame)
        groups.pop(None, None)
        live = {reading.format_name(noun, name): same for name, same in groups.items()}
        kept_names: set[str] = set()
        rows: dict[str, dict[str, Any]] = {}
        for name, fields in self.state.get(noun).items():
            text = reading.format_name(noun, name)
            kept_names.add(text)
            matches = live.get(text, [])
            chosen = reading.FIELDS[noun] if self.only is None else self.only.get((noun, text), ())
            if self.only is not None and not (chosen if matches else "" in chosen):
                continue
            if len(matches) > 1:
                self.cells.append(_refuse_ambiguous(declared, text, matches))
                continue
            changed: Mapping[str, Any] = {}
            base = self.base.get(noun)
            if not matches:
                if base is not None and name in base:
                    edited = bool(reading.find_changed_fields(noun, base[name], fields))
                    self._leave(noun, text, "", text, text, MISSING, edited=edited)
                    continue
                sent = {
                    each: fields[each]
                    for each in reading.FIELDS[noun]
                    if fields.get(each) is not None
                }
                rows[text] = reading.make_name_cells(declared, name) | sent
            elif changed := self._find_changed_fields(
                noun, text, fields, matches[0], base if base is None else base.get(name, {}), chosen
            ):
                rows[text] = _select_key_cells(frame, matches[0]) | changed
            same = matches[0] if matches and not changed else None
            if declared.personal and (unchanged := endpoints.explain_immutable(fields, same)):
                self.kept.setdefault(unchanged[0], []).append(unchanged[1])
        for text in deletions:
            matches = live.get(text, [])
            if text in kept_names or not matches:
                self.cells.append(self._refuse_delete(noun, text, live))
            elif len(matches) > 1:
                self.cells.append(_refuse_ambiguous(declared, text, matches))
            else:
                rows[text] = _select_key_cells(frame, matches[0]) | {"delete": True}
        if noun in self.state.records:
            self.stays[noun] = sorted(live.keys() - kept_names - rows.keys())
        return resource.plan(_make_plan_frame(rows, frame), existing="update", broken=broken)

    def _find_changed_fields(
        self,
        noun: str,
        text: str,
        record: Fields,
        live: Fields,
        pulled: Fields | None,
        chosen: Collection[str],
    ) -> dict[str, Any]:
        """Return the chosen fields of a live record to change; note those that stay."""
        current, changed = reading.canonicalize_fields(noun, live), dict[str, Any]()
        for name in reading.FIELDS[noun]:
            is_same, value = partial(reading.is_same_field, noun, name), record.get(name)
            if name not in chosen or is_same(value, current.get(name)):
                continue
            if name in reading.DECLARED[noun].body.create_only:
                reason = f"which can only be set when a {noun} is created, so it stays"
                reason = f"{noun.capitalize()}s with another {name}, {reason}"
                self.kept.setdefault(reason, []).append(text)
                continue
            if pulled is not None and not is_same(before := pulled.get(name), current.get(name)):
                edited = not is_same(before, value)
                self._leave(noun, text, name, before, value, current.get(name), edited=edited)
                continue
            default = "" if (known := reading.get_default(noun, name)) is None else known
            changed[name] = default if value is None else value  # a None would leave it as it is
        return changed

    def _leave(
        self, noun: str, text: str, name: str, pulled: Any, value: Any, live: Any, *, edited: bool
    ) -> None:
        """Note what the account has changed since the pull; refuse what the state has, too."""
        if edited:
            reason = f"it was {values(pulled)} at the last pull; the account has {values(live)} now"
            self.cells.append(RefusedCell((noun, text), name, values(value), reason, _DECIDE))
        else:
            self.kept.setdefault(_LEFT, []).append(f"{noun} {text} ({name or 'deleted'})")

    def _refuse_delete(self, noun: str, text: str, live: Collection[str]) -> RefusedCell:
        """Return the refusal of a deletion whose record is missing or is still wanted."""
        origin = self.state.origin
        if text in live:
            reason, step = f"{origin} holds it, so it is to be there", "leave it out of delete="
        else:
            reason = f"the account does not have a {noun} of this name"
            step = f"chatkit.compare shows what {origin} lacks"
            if similar := get_close_matches(text, live, 1):
                step = f"did you mean {values(similar[0])}?"
        return RefusedCell((noun, text), "delete", text, reason, step)


def _select_key_cells(frame: pd.DataFrame, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the key cells of a record of the account."""
    return {str(name): fields[str(name)] for name in frame.index.names}


def _refuse_ambiguous(
    declared: type[Endpoints[Any]], text: str, matches: Sequence[Mapping[str, Any]]
) -> RefusedCell:
    """Return the refusal of a name that several records of the account have."""
    noun = declared.noun
    records = [
        f"{row['id']} ({state})"
        if (state := " ".join(filter(None, map(row.get, declared.lossy_fields))))
        else str(row["id"])
        for row in matches
    ]
    step = f"rename or delete all but one, or plan the one that is meant by its id: client.{noun}s"
    return RefusedCell(
        (noun, text),
        declared.account_key[-1],
        values(text),
        f"{len(matches)} {noun}s of the account have it: {', '.join(records)}",
        f"{step}.plan([{{'id': {matches[0]['id']}, …}}])",
    )


def _make_plan_frame(rows: Mapping[str, Mapping[str, Any]], live: pd.DataFrame) -> pd.DataFrame:
    """Make a frame of the changed rows, as an edit of the frame that was read."""
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    cells = {
        name: pd.Series([row.get(name) for row in rows.values()], dtype=object) for name in names
    }
    frame = pd.DataFrame(cells).set_axis(pd.Index(list(rows), name="record", dtype=object))
    inherit_origin(frame, live)
    return frame


# --- a saved plan -----------------------------------------------------------------------


def describe_changed_records(plan: Plan) -> list[str]:
    """Describe the records that have changed since a saved plan was made.

    Each row is compared again when it is sent. Here all are compared before the first is sent, so
    that a reviewed plan is applied as it was reviewed, or not at all.
    """
    parts: dict[tuple[str, str | None], list[Any]] = {}
    for change in plan.changes:
        parts.setdefault((change.noun or get_setting(plan).noun, change.code), []).append(change)
    descriptions = []
    for (noun, code), changes in parts.items():
        endpoints = get_target(plan).of(code, noun)
        fields = {field for change in changes for field in change.before}
        frame = endpoints.frame(full=not fields <= {*endpoints.record.listed})
        rows = records(frame, range(len(frame)))
        live: dict[Any, Mapping[str, Any]] = dict(zip(frame.index.tolist(), rows, strict=True))
        natural = endpoints.natural_key
        names = {tuple(map(record.get, natural)) for record in live.values()}
        for change in changes:
            label, live_record, after = f"{noun} {change.label}", live.get(change.key), change.after
            if change.kind == "create":
                if live_record is not None or tuple(map(after.get, natural)) in names:
                    descriptions.append(f"{label} is there already")
            elif live_record is None:
                descriptions.append(f"{label} is gone")
            else:
                descriptions += [
                    f"{label}: {field} has changed"
                    for field, before in change.before.items()
                    if field in live_record
                    and not reading.is_same_field(noun, field, before, live_record[field])
                    and not reading.is_same_field(
                        noun, field, after.get(field, before), live_record[field]
                    )
                ]
    return descriptions
