"""Reading: the records of an account by name, wherever they are kept.

Flows go by name, contents by template code and language, contacts by country code and number,
webhooks by address: what has the same name in two accounts is the same. Ids belong to one
account, and are beside the records, never in them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from chatkit.api.connection import describe_account
from chatkit.bulk.comparison import is_same_value
from chatkit.bulk.endpoints import Endpoints
from chatkit.client import RESOURCES, Client, get_resource
from chatkit.flows import FlowEndpoints
from chatkit.frames.frame import records
from chatkit.util.display import many, values

if TYPE_CHECKING:
    import pandas as pd

#: What names a record among all accounts: a name, a code and a language, an address, a number.
Name: TypeAlias = "str | tuple[str, str]"
Fields: TypeAlias = Mapping[str, Any]

#: The declaration of each resource, by what one record is called, in the order of sending.
DECLARED: Mapping[str, type[Endpoints[Any]]] = {
    noun: kind._declaration for noun, kind in RESOURCES.items()
}
#: The resources with a file for each record; contacts have one file for all of them.
NOUNS = tuple(noun for noun, declared in DECLARED.items() if not declared.personal)
[CONTACT] = DECLARED.keys() - {*NOUNS}
#: Those that a folder of flows only has.
FLOWS_ONLY = (FlowEndpoints.noun,)
#: The fields of each kind of record that count, in the order of the API document.
FIELDS: dict[str, tuple[str, ...]] = {
    noun: tuple(
        name
        for name in declared.body.model_fields
        if name not in (*declared.account_key, *declared.repeated)
    )
    for noun, declared in DECLARED.items()
}
#: The columns that name a contact, and the parts that the service keeps of its name.
CONTACT_KEY = DECLARED[CONTACT].account_key
NAME_PARTS = DECLARED[CONTACT].lossy_fields
#: The columns of contacts: what can be sent, and those parts.
CONTACT_COLUMNS = (*CONTACT_KEY, *FIELDS[CONTACT], *NAME_PARTS)

EMPTY: tuple[Any, ...] = (None, "", [], {}, ())

NOT_CARRIED = (
    "Left out: ids, secrets and what the service sets itself (wa_status, deliveries, tags, "
    "ai_mode …)."
)


@dataclass(frozen=True, repr=False, eq=False)
class AccountState:
    """The records of an account, by name.

    A field that a record does not have is as in `get_default`: empty, or the default of the
    service. So two states can be compared field by field, whatever each service shows of empty
    fields.

    Attributes:
        origin: The source of the state, for people: "account 700001 of production", "shop/".
        records: By noun and name, sorted: the fields of each record that can be sent, as far as
            they are shown; of contacts the parts of the name, too. A noun that was not read is
            missing.
        codes: The template codes that were read: the API has no list of them.
        ids: Of an account: noun to name to id.
        not_carried: Notes on what the account has and the state does not.
        unclear: By noun the names that several records have: none of these is in here.
    """

    origin: str
    records: Mapping[str, Mapping[Any, Fields]]
    codes: tuple[str, ...] = ()
    ids: Mapping[str, Mapping[Any, int | str]] = field(default_factory=dict)
    not_carried: Sequence[str] = ()
    unclear: Mapping[str, frozenset[Any]] = field(default_factory=dict)

    def __repr__(self) -> str:
        counts = [
            many(len(self.get(noun)), noun)
            for noun in DECLARED
            if noun in NOUNS or noun in self.records
        ]
        return f"<{self.origin}: {', '.join(counts)}>"

    @property
    def flows_only(self) -> bool:
        """True if flows were read, and neither contents nor webhooks."""
        return self.records.keys() & {*NOUNS} == {*FLOWS_ONLY}

    def get(self, noun: str) -> Mapping[Any, Fields]:
        """Return the records of a noun by name; none if they were not read."""
        return self.records.get(noun, {})


def format_name(noun: str, name: Any) -> str:
    """Format the name of a record as one text, like code/language of a content."""
    parts = name if isinstance(name, tuple | list) else (name,)
    return DECLARED[noun].separator.join(map(str, parts))


def make_name_cells(declared: type[Endpoints[Any]], name: Any) -> dict[str, Any]:
    """Return the name of a record as cells by column."""
    parts = name if isinstance(name, tuple) else (name,)
    return dict(zip(declared.account_key, parts, strict=True))


def read_account(
    client: Client,
    codes: Iterable[str] | None = None,
    nouns: Iterable[str] = NOUNS,
    *,
    contacts: bool = False,
) -> AccountState:
    """Read the state of an account.

    Args:
        client: The account.
        codes: The template codes to read contents of; without it those that are remembered. One
            that the account does not know has no contents, and gets a note.
        nouns: The resources to read.
        contacts: Read contacts, too.

    Raises:
        CallError: It cannot be read.
    """
    from chatkit.imports import accessor

    accessor.register()
    named = tuple(client.templates.codes if codes is None else codes)
    notes: list[str] = []
    by_noun: dict[str, dict[Any, dict[str, Any]]] = {}
    ids: dict[str, Mapping[Any, int | str]] = {}
    unclear: dict[str, frozenset[Any]] = {}
    for noun in (*nouns, *([CONTACT] * contacts)):
        frame, missing = get_resource(client, noun)._target.read_with_notes(named)
        if named or "template_code" not in DECLARED[noun].account_key:
            notes += missing
        by_noun[noun], ids[noun], unclear[noun] = _index_records_by_name(noun, frame, notes)
    account_id = client.connection.account_id
    origin = describe_account(client.connection.account, client.connection.name)
    return AccountState(
        origin=origin if account_id in origin else f"account {account_id} of {origin}",
        records=by_noun,
        codes=named,
        ids=ids,
        not_carried=[*notes, NOT_CARRIED],
        unclear=unclear,
    )


def get_default(noun: str, field: str) -> Any:
    """Return the default value of a field; None if it has no default."""
    return _get_defaults(noun).get(field)


_sorted_json = partial(json.dumps, sort_keys=True, default=repr)


@cache
def _get_defaults(noun: str) -> Mapping[str, Any]:
    """Return the default of each compared field by name; None where it has none."""
    fields = DECLARED[noun].body.model_fields
    names = (*FIELDS[noun], *(NAME_PARTS if noun == CONTACT else ()))
    known = {name: fields[name] for name in FIELDS[noun] if not fields[name].is_required()}
    defaults = {name: each.get_default(call_default_factory=True) for name, each in known.items()}
    return dict.fromkeys(names) | defaults


def canonicalize_fields(noun: str, fields: Fields) -> dict[str, Any]:
    """Return the known fields of a record that differ from their defaults."""
    canonical = {}
    always = DECLARED[noun].always
    for name, default in _get_defaults(noun).items():
        value = fields.get(name)
        # what shows "" for null means null
        if value is not None and (name in always or value not in (default, "")):
            canonical[name] = _remove_nulls(value) if isinstance(value, list) else value
    return canonical


def _remove_nulls(items: list[Any]) -> list[Any]:
    """Remove null fields from headers and buttons, which services show for absent ones."""
    return [
        {name: value for name, value in item.items() if value is not None}
        if isinstance(item, dict)
        else item
        for item in items
    ]


def is_same_field(noun: str, field: str, left: Any, right: Any) -> bool:
    """Check if a field has the same value in two records; a missing one has its default.

    Args:
        noun: The noun of the records.
        field: The name of the field.
        left: The value of one record, None if it has none.
        right: The value of the other one.
    """
    declared = DECLARED[noun]
    if field in declared.hidden and None in (left, right):
        return True  # every record has it: one service or the other does not show it
    first, second = (get_default(noun, field) if v in EMPTY else v for v in (left, right))
    if first in EMPTY or second in EMPTY:
        return first in EMPTY and second in EMPTY
    if field in declared.unordered:
        return set(first) == set(second)
    if isinstance(first, dict | list) and _sorted_json(first) == _sorted_json(second):
        return True  # a document is mostly as it was, so its values need not be compared
    return is_same_value(second, first) or is_same_value(first, second)


def find_changed_fields(noun: str, left: Fields, right: Fields) -> list[str]:
    """Return the names of the fields in which two records differ.

    The parts of a name are left out where the name differs, or where one side shows none.
    """
    changed = [
        name
        for name in dict.fromkeys((*left, *right))
        if not is_same_field(noun, name, left.get(name), right.get(name))
    ]
    parts = {*NAME_PARTS}
    if not parts.isdisjoint(changed) and (
        not {*FIELDS[CONTACT]}.isdisjoint(changed)
        or any(parts.isdisjoint(record) for record in (left, right))
    ):
        changed = [name for name in changed if name not in parts]
    return changed


# --- an account -------------------------------------------------------------------------


def group_records(noun: str, frame: pd.DataFrame) -> dict[Any, list[dict[str, Any]]]:
    """Group the records of a frame by name; the name is None where a part is missing."""
    declared = DECLARED[noun]
    named = {*frame.index.names} & {*declared.account_key, "id"}
    table = frame.reset_index(level=list(named)) if named else frame
    selected = {"id", *declared.account_key, *FIELDS[noun], *declared.lossy_fields}
    table = table[[name for name in table.columns if name in selected]]
    groups: dict[Any, list[dict[str, Any]]] = {}
    for fields in records(table, range(len(table))):
        parts = tuple(fields.get(name) for name in declared.account_key)
        name: Any = parts if len(parts) > 1 else parts[0]
        groups.setdefault(name if all(parts) else None, []).append(fields)
    return groups


def _index_records_by_name(
    noun: str, frame: pd.DataFrame, notes: list[str]
) -> tuple[dict[Any, dict[str, Any]], dict[Any, int | str], frozenset[Any]]:
    """Index records by name; leave out and note those that share a name.

    Returns:
        The records, their ids, and the names that several have.
    """
    rows = group_records(noun, frame)
    if nameless := len(rows.pop(None, ())):
        verb = "is" if nameless == 1 else "are"
        notes.append(f"{many(nameless, noun)} without a name {verb} left.")
    unclear = frozenset(name for name, same in rows.items() if len(same) > 1)
    for name in sorted(unclear):
        keys = ", ".join(str(fields["id"]) for fields in rows[name])
        notes.append(
            f"{many(len(rows[name]), noun)} are called "
            f"{values(format_name(noun, name))} (ids {keys}): which is meant cannot be told, so "
            "none of them is taken. Rename or delete all but one."
        )
    single = {name: same[0] for name, same in sorted(rows.items()) if name not in unclear}
    return (
        {name: canonicalize_fields(noun, fields) for name, fields in single.items()},
        {name: fields["id"] for name, fields in single.items() if fields.get("id") is not None},
        unclear,
    )
