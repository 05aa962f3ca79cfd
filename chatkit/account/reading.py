"""Reading: what an account holds, by what names each record, wherever it is kept.

Flows go by name, contents by template code and language, contacts by country code and number,
webhooks by address: what has the same name in two accounts is the same. Ids belong to one
account, and are beside the records, never in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from chatkit.api.connection import Connection, account_words
from chatkit.api.record import Body
from chatkit.api.secret import SECRET
from chatkit.bulk.comparison import FrameDifferences, compare_frames, same_value
from chatkit.flows import FlowBody
from chatkit.frames.frame import records, sorted_rows
from chatkit.resource import endpoints_of
from chatkit.templates import ContentBody, bulk_templates
from chatkit.util.display import many, values
from chatkit.webhooks import WebhookBody

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.client import Client
    from chatkit.sandbox.seed import AccountRecords

#: The resources by what one record is called, in the order in which they are sent: a flow is
#: there before the content whose button opens it, and webhooks hear of nothing before them.
ROOMS = ("flow", "content", "webhook", "contact")

#: What names a record among all accounts: a name, a code and a language, an address.
Name: TypeAlias = "str | tuple[str, str]"
Fields: TypeAlias = Mapping[str, Any]

_BODIES: dict[str, type[Body]] = {
    "flow": FlowBody, "content": ContentBody, "webhook": WebhookBody,
}  # fmt: skip
#: What names a record, and a text that repeats the document.
_ASIDE = {"name", "lang_code", "url", "flow_json_raw"}
#: The fields of each kind of record that count, in the order of the API document.
FIELDS: dict[str, tuple[str, ...]] = {
    noun: tuple(name for name in body.model_fields if name not in _ASIDE)
    for noun, body in _BODIES.items()
}
#: The columns that name a contact, and the parts that the service keeps of its name.
CONTACT = ("country_code", "number")
NAME_PARTS = ("first_name", "middle_name", "last_name")
#: The columns of contacts: what can be sent, and those parts.
CONTACT_COLUMNS = (*CONTACT, "name", *NAME_PARTS)
#: Fields that are written although they are as the service would set them: the few of a webhook.
ALWAYS = frozenset({"template_name", "flow_json", "events", "is_active"})

EMPTY: tuple[Any, ...] = (None, "", [], {}, ())

NOT_CARRIED = (
    "Never in a state, a folder or a plan: tokens and signing secrets, ids, wa_status and "
    "wa_flow_id of flows, deliveries and their times, tags, meta_name and ai_mode of contacts."
)


@dataclass(frozen=True, repr=False, eq=False)
class AccountState:
    """What an account holds, by what names each record.

    A field that a record does not have is as `default_of` says: empty, or what the service sets
    when it is not told. So two states can be compared field by field, whatever each service
    shows of what is empty.

    Attributes:
        origin: Where it is from, for people: "account 700001 of production", "shop/".
        flows: By name: `template_name`, `categories`, `flow_json`, as far as they are shown.
        contents: By template code and language: what can be sent of each.
        webhooks: By address: `events` and `is_active`.
        contacts: A row each in the columns `CONTACT_COLUMNS`, sorted by country code and number,
            indexed by id where there are ids; None if they were not asked for.
        codes: The template codes that were read: the API has no list of them.
        ids: Of an account: noun to name to id, without contacts.
        not_carried: What is there and not in here, said once.
        unclear: By noun the names that several records have: none of these is in here.
        flows_only: Whether contents and webhooks were not read.
    """

    origin: str
    flows: Mapping[str, Fields]
    contents: Mapping[tuple[str, str], Fields]
    webhooks: Mapping[str, Fields]
    contacts: pd.DataFrame | None
    codes: tuple[str, ...]
    ids: Mapping[str, Mapping[Any, int | str]]
    not_carried: Sequence[str]
    unclear: Mapping[str, frozenset[str]] = field(default_factory=dict)
    flows_only: bool = False

    def __repr__(self) -> str:
        counts = [many(len(self.of(noun)), noun) for noun in ("flow", "content", "webhook")]
        if self.contacts is not None:
            counts.append(many(len(self.contacts), "contact"))
        return f"<{self.origin}: {', '.join(counts)}>"

    def of(self, noun: str) -> Mapping[Any, Fields]:
        """Return the records of one kind by name: flow, content or webhook."""
        if noun == "content":
            return self.contents
        return self.flows if noun == "flow" else self.webhooks

    def _seed_records(self) -> AccountRecords:
        """Tell what it holds as plain data, to make a sandbox of it."""
        contents: dict[str, list[Any]] = {code: [] for code in self.codes}
        for (code, lang), fields in self.contents.items():
            named = {**fields, "lang_code": lang, **self._id("content", (code, lang))}
            contents.setdefault(code, []).append(named)
        return {
            "flows": [{**f, "name": n, **self._id("flow", n)} for n, f in self.flows.items()],
            "contents": contents,
            "webhooks": [
                {**f, "url": n, **self._id("webhook", n)} for n, f in self.webhooks.items()
            ],
            "contacts": list(self._people()),
        }

    def _id(self, noun: str, name: Any) -> dict[str, int | str]:
        """Return the id of a record, where it has one."""
        found = self.ids.get(noun, {}).get(name)
        return {} if found is None else {"id": found}

    def _people(self) -> Iterator[dict[str, Any]]:
        frame = self.contacts
        if frame is None:
            return
        keys = frame.index.tolist() if frame.index.name == "id" else [None] * len(frame)
        for key, fields in zip(keys, records(frame, range(len(frame))), strict=True):
            said = {name: value for name, value in fields.items() if value is not None}
            yield said if key is None else {**said, "id": key}


def name_text(name: Any) -> str:
    """Write what names a record as one text: contents as code/language."""
    return "/".join(map(str, name)) if isinstance(name, tuple | list) else str(name)


def read_account(
    client: Client,
    codes: Iterable[str] | None = None,
    *,
    contacts: bool = False,
    flows_only: bool = False,
) -> AccountState:
    """Read what an account holds.

    Args:
        client: Of the account.
        codes: The template codes to read contents of; without it those that are remembered. One
            that the account does not know has no contents, and is told.
        contacts: Read contacts, too.
        flows_only: Read no contents and no webhooks.

    Raises:
        CallError: It cannot be read.
    """
    from chatkit.imports import accessor

    accessor.register()
    named = tuple(client.templates.codes if codes is None else codes)
    told: list[str] = []
    flows = endpoints_of(client.flows).frame(full=client.profile.flow_json_in_get)
    ids: dict[str, Mapping[Any, int | str]] = {}
    told += _unshown(flows)
    unclear: dict[str, frozenset[str]] = {}
    found_flows, ids["flow"] = _named("flow", _rows(flows, "name"), told, unclear)
    contents: Mapping[Any, Fields] = {}
    found_webhooks: Mapping[Any, Fields] = {}
    if not flows_only:
        contents, ids["content"] = _contents(client, named, told)
        webhooks = _rows(endpoints_of(client.webhooks).frame(), "url")
        found_webhooks, ids["webhook"] = _named("webhook", webhooks, told, unclear)
    if open_ := [url for url in found_webhooks if _holds_secret(url)]:
        told.append(
            f"{many(len(open_), 'webhook')} with what looks like a password in the address, which "
            f"is written as it is: {', '.join(urlsplit(url).hostname or '' for url in open_)}."
        )
    return AccountState(
        origin=origin_of(client.connection),
        flows=found_flows,
        contents=contents,
        webhooks=found_webhooks,
        contacts=_contacts(client, told) if contacts else None,
        codes=named,
        ids=ids,
        not_carried=[*told, NOT_CARRIED],
        unclear=unclear,
        flows_only=flows_only,
    )


def origin_of(connection: Connection) -> str:
    """Name an account for people."""
    words = account_words(connection.account, connection.name)
    return (
        words if connection.account_id in words else f"account {connection.account_id} of {words}"
    )


def default_of(noun: str, field: str) -> Any:
    """Return what a field of a record is that does not say it: None if it has no such value."""
    known = _BODIES[noun].model_fields[field]
    return None if known.is_required() else known.get_default(call_default_factory=True)


@cache
def _defaults(noun: str) -> Mapping[str, Any]:
    """Return what each field is that a record does not say, to be compared and not handed on."""
    return {name: default_of(noun, name) for name in FIELDS[noun]}


def canonical(noun: str, fields: Fields) -> dict[str, Any]:
    """Keep what counts of a record: known fields that are not as they are by themselves."""
    found = {}
    for name, default in _defaults(noun).items():
        value = fields.get(name)
        if value is None or (name not in ALWAYS and value == default):
            continue
        if value == "" and name != "template_name":  # what shows "" for null means null
            continue
        found[name] = _without_nulls(value) if isinstance(value, list) else value
    return found


def _without_nulls(items: list[Any]) -> list[Any]:
    """Leave out of headers and buttons what they have not: services show null for it."""
    return [
        {name: value for name, value in item.items() if value is not None}
        if isinstance(item, dict)
        else item
        for item in items
    ]


def same_field(noun: str, field: str, wanted: Any, live: Any) -> bool:
    """Tell whether a field of two records says the same; one that is not said has its default.

    Args:
        noun: flow, content, webhook or contact.
        field: Its name.
        wanted: What one record says, None if it does not say it.
        live: What the other one says.
    """
    if noun not in _BODIES:
        return bool((wanted or None) == (live or None))
    if noun == "flow" and field in ("flow_json", "template_name") and None in (wanted, live):
        return True  # every flow has them: one service or the other does not show it
    one, two = (default_of(noun, field) if v in EMPTY else v for v in (wanted, live))
    if one in EMPTY or two in EMPTY:
        return one in EMPTY and two in EMPTY
    if noun == "webhook" and field == "events":
        return set(one) == set(two)
    return same_value(two, one) or same_value(one, two)


# --- an account -------------------------------------------------------------------------


def _rows(frame: pd.DataFrame, name: str) -> Iterator[tuple[Any, Any, Fields]]:
    """Yield the name, the id and the fields of each record."""
    rows = records(frame, range(len(frame)))
    for key, fields in zip(frame.index.tolist(), rows, strict=True):
        yield fields.get(name), key, fields


def _named(
    noun: str,
    rows: Iterable[tuple[Any, Any, Fields]],
    told: list[str],
    unclear: dict[str, frozenset[str]],
) -> tuple[dict[Any, dict[str, Any]], dict[Any, int | str]]:
    """Take records by name; several of one name are told, and none of them is taken."""
    found = list(rows)
    count = Counter(name for name, _, _ in found)
    for name, times in count.items():
        if name and times > 1:
            keys = ", ".join(str(key) for other, key, _ in found if other == name)
            told.append(
                f"{many(times, noun)} are called {values(name)} (ids {keys}): which is meant "
                "cannot be told, so none of them is taken. Rename or delete all but one."
            )
        elif not name:
            told.append(f"{many(times, noun)} without a name {'is' if times == 1 else 'are'} left.")
    unclear[noun] = frozenset(name for name, times in count.items() if name and times > 1)
    taken = sorted((each for each in found if each[0] and count[each[0]] == 1), key=_by_name)
    return (
        {name: canonical(noun, fields) for name, _, fields in taken},
        {name: key for name, key, _ in taken},
    )


def _holds_secret(url: str) -> bool:
    """Whether an address seems to hold a password or a token of its receiver."""
    try:
        parts = urlsplit(url)
    except ValueError:  # half an IPv6 address
        return False
    return "@" in parts.netloc or any(SECRET.search(name) for name, _ in parse_qsl(parts.query))


def _by_name(row: tuple[Any, Any, Fields]) -> Any:
    return row[0]


def _unshown(flows: pd.DataFrame) -> list[str]:
    """Name the flows whose document the service does not show."""
    if not len(flows):
        return []
    shown = int(flows["flow_json"].notna().sum()) if "flow_json" in flows else 0
    hidden = len(flows) - shown
    if not hidden:
        return []
    return [f"The service does not show the document of {many(hidden, 'flow')}."]


def _contents(
    client: Client, codes: Sequence[str], told: list[str]
) -> tuple[dict[Any, dict[str, Any]], dict[Any, int | str]]:
    if not codes:
        told.append(
            "No contents were read: the API has no list of templates. Say their codes with "
            "codes=, or keep them with client.templates.remember(codes)."
        )
        return {}, {}
    reader = bulk_templates(client.templates).reader(codes)
    frame = reader.frame(full=True)
    if without := [*reader.absent, *reader.empty]:
        told.append(f"The account has no contents of these templates: {', '.join(without)}.")
    rows = [
        (key, fields.get("id"), fields)
        for key, fields in zip(frame.index.tolist(), records(frame, range(len(frame))), strict=True)
    ]
    rows.sort(key=_by_name)
    return (
        {tuple(key): canonical("content", fields) for key, _, fields in rows},
        {tuple(key): of for key, of, _ in rows if of is not None},
    )


def differing_people(left: pd.DataFrame, right: pd.DataFrame) -> FrameDifferences:
    """Find where contacts differ. A name that a person wrote tells no parts, so none differ."""
    found = compare_frames(left, right, CONTACT)
    if not found.changed.keys().isdisjoint(NAME_PARTS):
        untold = _without_parts(left), _without_parts(right)
        for name in found.changed.keys() & {*NAME_PARTS}:
            places, rows = found.changed[name]
            told = ~(untold[0][places] | untold[1][rows])
            found.changed[name] = places[told], rows[told]
            if not told.any():
                del found.changed[name]
    return found


def _without_parts(people: pd.DataFrame) -> Any:
    """Tell which contacts have a name of which no part is told."""
    cells = people.reindex(columns=["name", *NAME_PARTS])
    told = cells.notna() & (cells != "")
    return (told["name"] & ~told[[*NAME_PARTS]].any(axis=1)).to_numpy(bool)


def _contacts(client: Client, told: list[str]) -> pd.DataFrame:
    """Read the contacts, sorted by their numbers."""
    frame = endpoints_of(client.contacts).frame()
    named = frame["number"].notna() & frame["country_code"].notna()
    if lost := len(frame) - int(named.sum()):
        told.append(f"{many(lost, 'contact')} without a whole number cannot be named.")
        frame = frame[named]
    frame = sorted_rows(frame[list(CONTACT_COLUMNS)], ["country_code", "number"])
    twice = frame.duplicated(["country_code", "number"])
    if lost := int(twice.sum()):
        told.append(f"{many(lost, 'contact')} with the number of another one cannot be told apart.")
        frame = frame[~twice]
    return frame
