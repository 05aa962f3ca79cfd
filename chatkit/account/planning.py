"""Planning: the plan that brings an account to what a state holds, over all of its resources.

Records are found again by what names them: flows by name, contents by template code and language,
webhooks by address, contacts by country code and number. Ids are never carried. What only the
account has stays, unless it is named to be deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import pandas as pd

from chatkit.account.reading import (
    CONTACT,
    CONTACT_COLUMNS,
    NAME_PARTS,
    ROOMS,
    AccountState,
    canonical,
    default_of,
    differing_people,
    name_text,
    same_field,
)
from chatkit.bulk.plan import Plan, RefusedCell, join_plans
from chatkit.bulk.planner import make_plan
from chatkit.client import Client, source_of
from chatkit.endpoints import ACCOUNT
from chatkit.errors import InputError
from chatkit.frames.frame import records
from chatkit.frames.snapshot import inherit_origin
from chatkit.imports import accessor
from chatkit.resource import endpoints_of
from chatkit.templates import bulk_templates
from chatkit.util.display import many, values

if TYPE_CHECKING:
    from chatkit.contacts import ContactEndpoints
    from chatkit.resource import Resource

#: What becomes of a record that the account has otherwise.
Differing = Literal["update", "skip"]
#: What is to be deleted: the resource and what names the record, as a comparison shows them.
Named: TypeAlias = "tuple[str, Any] | str"

#: The column that names a record of each resource.
_NAMES = {"flow": "name", "webhook": "url"}
#: So many records are named in a note, the others counted.
_TOLD = 5


def plan_state(
    state: AccountState,
    client: Client,
    *,
    delete: Iterable[Named] = (),
    existing: Differing = "update",
    broken: bool = False,
    skip_invalid: bool = False,
) -> Plan:
    """Plan to bring an account to what a state holds. Nothing is sent before `plan.apply()`.

    What is missing is created, what differs is updated, in the order flows, contents, webhooks,
    contacts. What cannot be brought back as it was is in `plan.notes` and `plan.refused`.

    Args:
        state: What it is to hold: of an account, a folder or a revision of one.
        client: The account. It is read, as far as the state goes.
        delete: What only the account has and is to be deleted, each by resource and name as a
            comparison shows them: `("flow", "Order survey")`, `("content", "order_ready/de")`,
            `("contact", "+1 2025550100")`, or as one text: `"flow Order survey"`.
        existing: What becomes of records that differ: "update" writes what the state says,
            "skip" leaves them and only makes what is missing.
        broken: Plan what has errors, too: documents and contents that will be refused.
        skip_invalid: Plan the good rows although others cannot be planned.

    Raises:
        InputError: `delete` or `existing` cannot be read.
        CallError: The account cannot be read.
    """
    accessor.register()
    if existing not in get_args(Differing):
        choice = ", ".join(map(repr, get_args(Differing)))
        raise InputError(f"existing= is one of {choice}, not {existing!r:.60}.")
    gone = _to_delete(delete)
    told = _Told(state.origin)
    plans = []
    for noun in ROOMS:
        asked = gone[noun]
        if noun == "contact":
            if state.contacts is not None or asked:
                plans.append(_plan_contacts(state, client, asked, existing, told, broken=broken))
        elif state.of(noun) or asked:
            plans.append(_plan_named(noun, state, client, asked, existing, told, broken=broken))
    plan = join_plans(
        source_of(client, ACCOUNT), plans, cells=told.cells, skip_invalid=skip_invalid
    )
    carried = state.not_carried if len(plan) or len(plan.refused) else ()
    plan.notes[:0] = [*told.notes(plan), *carried]
    plan.notes[:0] = told.doubts
    return plan


# --- what is named ----------------------------------------------------------------------


def _to_delete(delete: Iterable[Named]) -> dict[str, list[str]]:
    """Part what is to be deleted by resource; each is named by one text.

    Raises:
        InputError: One does not say a resource and a name.
    """
    if isinstance(delete, str | bytes) or not isinstance(delete, Iterable):
        raise InputError(f"delete= takes a list, like delete=[{str(delete)[:40]!r}].")
    found: dict[str, dict[str, None]] = {noun: {} for noun in ROOMS}
    for one in delete:
        noun, name = one.partition(" ")[::2] if isinstance(one, str) else _pair(one)
        noun = noun.removesuffix("s")
        if noun not in found or not name:
            raise InputError(
                f"delete= names a resource ({', '.join(ROOMS)}) and a record of it, like "
                f"('flow', 'Order survey') or 'content order_ready/de', not {one!r:.60}."
            )
        found[noun][name_text(name)] = None
    return {noun: list(names) for noun, names in found.items()}


def _pair(one: Any) -> tuple[str, Any]:
    """Take a resource and a name, the latter a text or a tuple of texts."""
    if isinstance(one, tuple | list) and len(one) == 2 and isinstance(one[0], str):
        return one[0], one[1]
    return "", None


@dataclass
class _Told:
    """What is to be said of a plan for the account, collected resource by resource."""

    origin: str
    stays: dict[str, int] = field(default_factory=dict)  #: how many only the account has
    kept: dict[str, list[str]] = field(default_factory=dict)  #: what differs and is left, by why

    doubts: list[str] = field(default_factory=list)  #: what is said of an empty plan, too
    cells: list[RefusedCell] = field(default_factory=list)  #: what no planner has seen

    def refuse(self, noun: str, text: str, *said: str) -> None:
        """Refuse what is named: column, value, why, and what to do instead."""
        self.cells.append(RefusedCell((noun, text), *said))

    def keep(self, why: str, name: str) -> None:
        """Note a record that is not brought to what the state says, and why."""
        self.kept.setdefault(why, []).append(name)

    def notes(self, plan: Plan) -> Iterator[str]:
        """Say what else is to be known before the plan is applied."""
        made = dict.fromkeys(ROOMS, 0)
        for change in plan.changes:
            made[str(change.noun)] += change.kind == "create"
        if flows := made["flow"]:
            each = "It gets a new id and a new wa_flow_id, and is a DRAFT"
            if flows > 1:
                each = "They get new ids and new wa_flow_ids, and are DRAFT"
            yield f"{many(flows, 'flow')} created. {each}: publish in the business application."
        if hooks := made["webhook"]:
            yield (
                f"{many(hooks, 'webhook')} created, with a new signing secret: plan.secrets holds "
                "it once the plan is applied, and the service never shows it again."
            )
        for why, names in self.kept.items():
            more = f" and {len(names) - _TOLD:,} more" if len(names) > _TOLD else ""
            yield f"{why}: {', '.join(names[:_TOLD])}{more}."
        if stay := [many(count, noun) for noun, count in self.stays.items() if count]:
            verb = "it stays" if sum(self.stays.values()) == 1 else "they stay"
            yield (
                f"The account has {', '.join(stay)} that {self.origin} does not have: {verb}. "
                "delete= names what is to be deleted."
            )


# --- flows, contents and webhooks -------------------------------------------------------


class _Live:
    """The records of a resource as the account holds them now, by what names them.

    Args:
        noun: flow, content or webhook.
        frame: What was read; it is remembered, so that a plan is compared with it.
    """

    def __init__(self, noun: str, frame: pd.DataFrame) -> None:
        self.noun, self.frame = noun, frame
        self.found: dict[str, list[tuple[Any, Mapping[str, Any]]]] = {}
        for key, row in zip(frame.index, records(frame, range(len(frame))), strict=True):
            name = name_text(key) if noun == "content" else row.get(_NAMES[noun])
            if name:
                self.found.setdefault(str(name), []).append((key, row))

    def key(self, key: Any) -> dict[str, Any]:
        """Return the cells that say which record is meant."""
        if self.noun == "content":
            return dict(zip(("template_code", "lang_code"), key, strict=True))
        return {"id": key}


def _read(noun: str, state: AccountState, client: Client, asked: Sequence[str]) -> _Live:
    """Read what the account holds of a resource; of contents those of the codes at stake."""
    if noun == "flow":
        frame = endpoints_of(client.flows).frame(full=client.profile.flow_json_in_get)
    elif noun == "webhook":
        frame = endpoints_of(client.webhooks).frame()
    else:
        codes = [*state.codes, *(code for code, _ in state.contents)]
        codes += [name.rpartition("/")[0] for name in asked if "/" in name]
        bulk = bulk_templates(client.templates)
        frame = bulk.kept(bulk.reader(dict.fromkeys(codes)).frame(full=True))
    return _Live(noun, frame)


def _plan_named(
    noun: str,
    state: AccountState,
    client: Client,
    asked: Sequence[str],
    existing: Differing,
    told: _Told,
    *,
    broken: bool,
) -> Plan:
    """Plan one of the resources whose records have names."""
    live = _read(noun, state, client, asked)
    wanted = {name_text(name): (name, fields) for name, fields in state.of(noun).items()}
    rows: dict[str, dict[str, Any]] = {}
    for text, (name, fields) in wanted.items():
        there = live.found.get(text, [])
        if len(there) > 1:
            told.refuse(noun, text, *_several(live, text))
        elif not there:
            rows[text] = _named_cells(noun, name) | _whole(fields)
        elif changed := _changed(noun, text, fields, there[0][1], told):
            if existing == "skip":
                told.keep(f"{noun.capitalize()}s that differ stay (existing='skip')", text)
            else:
                rows[text] = live.key(there[0][0]) | changed
    for text in asked:
        there = live.found.get(text, [])
        if refused := _undeletable(noun, text, live.found, wanted, told.origin):
            told.refuse(noun, text, *refused)
        elif len(there) > 1:
            told.refuse(noun, text, *_several(live, text))
        else:
            rows[text] = live.key(there[0][0]) | {"delete": True}
    told.stays[noun] = len(live.found.keys() - wanted.keys() - rows.keys())
    frame = _frame(rows, live.frame)
    if noun == "content":
        return bulk_templates(client.templates).planned(frame, broken=broken, existing="update")
    resource: Resource[Any] = client.flows if noun == "flow" else client.webhooks
    endpoints = endpoints_of(resource)
    return make_plan(endpoints, endpoints, frame, existing="update", broken=broken)


def _named_cells(noun: str, name: Any) -> dict[str, Any]:
    """Return the cells that name a new record."""
    if noun == "content":
        return dict(zip(("template_code", "lang_code"), name, strict=True))
    return {_NAMES[noun]: name}


def _whole(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a new record: what is not said is as the service sets it."""
    return {name: value for name, value in fields.items() if value is not None}


def _changed(
    noun: str, text: str, wanted: Mapping[str, Any], live: Mapping[str, Any], told: _Told
) -> dict[str, Any]:
    """Return the fields of a record that a plan can write to make it what is wanted."""
    held, fixed = canonical(noun, live), ("template_name", "categories")
    found = {}
    for name in dict.fromkeys([*held, *wanted]):
        if same_field(noun, name, wanted.get(name), held.get(name)):
            continue
        if noun == "flow" and name in fixed:
            why = "which can only be set when a flow is created, so it stays"
            told.keep(f"Flows with another {name}, {why}", text)
            continue
        value = wanted.get(name)
        found[name] = default_of(noun, name) if value is None else value
        if found[name] is None:  # an empty cell would leave it as it is
            found[name] = ""
    return found


def _several(live: _Live, text: str) -> tuple[str, ...]:
    """Say that several records of the account have a name: which is meant is not guessed."""
    noun, there = live.noun, live.found[text]
    states = [f"{key} ({row['wa_status']})" if row.get("wa_status") else key for key, row in there]
    step = f"rename or delete all but one, or plan the one that is meant by its id: client.{noun}s"
    return (
        _NAMES[noun],
        values(text),
        f"{len(there)} {noun}s of the account have it: {', '.join(map(str, states))}",
        f"{step}.plan([{{'id': {there[0][0]}, …}}])",
    )


def _undeletable(
    noun: str, text: str, there: Collection[str], wanted: Collection[str], origin: str
) -> tuple[str, ...] | None:
    """Say why a record cannot be deleted: it is not there, or the state holds it as well."""
    if text in wanted:
        return "delete", text, f"{origin} holds it, so it is to be there", "leave it out of delete="
    if text in there:
        return None
    like = get_close_matches(text, there, 1)
    step = (
        f"did you mean {values(like[0])}?" if like else f"chatkit.compare shows what {origin} lacks"
    )
    return "delete", text, f"the account does not have a {noun} of this name", step


# --- contacts ---------------------------------------------------------------------------


def _plan_contacts(
    state: AccountState,
    client: Client,
    asked: Sequence[str],
    existing: Differing,
    told: _Told,
    *,
    broken: bool,
) -> Plan:
    """Plan the contacts: they are compared column by column, however many there are."""
    endpoints: ContactEndpoints = endpoints_of(client.contacts)  # type: ignore[assignment]
    live = endpoints.frame()
    if endpoints.lists_deleted:
        told.doubts.append(
            "This service lists deleted contacts, too, and nothing tells them from others: those "
            "that it lists are taken to be there."
        )
    columns = list(CONTACT_COLUMNS)
    wanted = live.iloc[:0][columns] if state.contacts is None else state.contacts
    wanted = wanted[[name for name in columns if name in wanted]]
    found = differing_people(wanted, live[list(wanted.columns)])
    places, rows = found.changed.get("name", (found.left[:0], found.right[:0]))
    if existing == "skip":
        for text in numbers_of(live, rows):
            told.keep("Contacts that differ stay (existing='skip')", text)
        places, rows = places[:0], rows[:0]
    names = wanted["name"].iloc[places].fillna("")
    edited = pd.DataFrame({"id": live.index[rows], "name": names.to_numpy()})
    new = wanted.iloc[found.left][[*CONTACT, "name"]]
    edited.index, new.index = numbers_of(live, rows), numbers_of(wanted, found.left)
    there = set(numbers_of(wanted, range(len(wanted)))) if asked else set()
    gone = _contacts_gone(live, asked, there, told)
    parts = [part for part in (edited, new, gone) if len(part)]
    frame = pd.concat(parts) if parts else edited
    _tell_of_names(endpoints, wanted, [*found.left.tolist(), *places.tolist()], found, told)
    told.stays["contact"] = len(found.right) - len(gone)
    if state.contacts is None:
        del told.stays["contact"]
    inherit_origin(frame, live)
    frame.index.name = "record"
    return make_plan(endpoints, endpoints, frame, existing="update", broken=broken)


def numbers_of(frame: pd.DataFrame, rows: Any) -> pd.Index[Any]:
    """Write the numbers of contacts as one text each, with their country codes."""
    code, number = (frame[name].iloc[rows].astype("str").fillna("") for name in CONTACT)
    found: pd.Index[Any] = pd.Index((code + " " + number).str.strip())
    return found


def _contacts_gone(
    live: pd.DataFrame, asked: Sequence[str], wanted: Collection[str], told: _Told
) -> pd.DataFrame:
    """Make the rows of contacts that are to be deleted, by their numbers."""
    places: dict[str, int] = {}
    if asked:
        places |= {text: place for place, text in enumerate(numbers_of(live, range(len(live))))}
    found = []
    for text in asked:
        if refused := _undeletable("contact", text, places.keys(), wanted, told.origin):
            told.refuse("contact", text, *refused)
        else:
            found.append(text)
    keys = live.index[[places[text] for text in found]]
    return pd.DataFrame({"id": keys, "delete": True}, index=pd.Index(found, dtype=object))


def _tell_of_names(
    endpoints: ContactEndpoints, wanted: pd.DataFrame, sent: list[int], found: Any, told: _Told
) -> None:
    """Name the contacts whose names come out in other parts than the state has."""
    if not {*NAME_PARTS} <= {*wanted.columns}:
        return
    for parts in records(wanted, sent):
        if (then := endpoints.resplit(parts)) and parts.get("name"):
            text = f"{parts['name']} ({' | '.join(filter(None, then))})"
            told.keep("Names that the service splits into other parts than they have", text)
    same = found.changed.get("name", ((), ()))[1]
    places = {
        int(place)
        for name in NAME_PARTS
        for place, row in zip(*found.changed.get(name, ((), ())), strict=True)
        if row not in set(same)
    }
    for parts in records(wanted, sorted(places)):
        why = "Names that the account has in other parts; no call can set these, so they stay"
        told.keep(why, str(parts.get("name")))


# --- rows of a plan ---------------------------------------------------------------------


def _frame(rows: Mapping[str, Mapping[str, Any]], live: pd.DataFrame) -> pd.DataFrame:
    """Make the frame of rows that a plan is made of: an edit of what was just read."""
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    cells = {
        name: pd.Series([row.get(name) for row in rows.values()], dtype=object) for name in names
    }
    frame = pd.DataFrame(cells).set_axis(pd.Index(list(rows), name="record", dtype=object))
    inherit_origin(frame, live)
    return frame
