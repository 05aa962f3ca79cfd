"""Loads: what one plan is to do to an account, row by row, made from a seed.

A row is named by what it does: ("contacts", "create", "5550100001"). The same name is found
in a change of a plan, in a line of the service's log and in the account's records, so that
all four can be compared without trusting one of them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from documents import document
from faults.account import Account

#: Resource, kind, and what names the record: a number, a name, an address; or its id.
Name = tuple[str, str, str]

_WORDS = ("Ana", "Bo", "Cruz", "Díaz", "Eun", "Fay", "Gil", "Hana", "Ivo", "Jun", "Kai", "Mai")
_LANGUAGES = ("en", "de", "fr", "es", "it", "ja", "pt_BR", "hi", "nl", "pl")


@dataclass
class Row:
    """One change to make. `key` names a record that exists, `fields` what to send."""

    resource: str
    kind: str
    key: Any
    fields: dict[str, Any] = field(default_factory=dict)
    code: str | None = None

    @property
    def name(self) -> Name:
        return named(self.resource, self.kind, self.key, self.fields, self.code)


def named(resource: str, kind: str, key: Any, fields: Mapping[str, Any], code: str | None) -> Name:
    """Return the name of a change: creates by their natural key, others by their id."""
    if resource == "templates":
        return resource, kind, f"{code}/{fields.get('lang_code', key) if key is None else key}"
    natural = {"contacts": "number", "flows": "name", "webhooks": "url"}[resource]
    return resource, kind, str(fields[natural] if kind == "create" else key)


_KINDS = {"POST": "create", "PUT": "update", "PATCH": "update", "DELETE": "delete"}


def of_change(resource: str, change: Mapping[str, Any]) -> Name:
    """Return the name of a change of a plan, as JSON; one for the account has its resource."""
    resource = NOUNS.get(change.get("noun"), resource)
    return named(resource, change["kind"], change["key"], change["after"], change.get("code"))


def of_effect(effect: Mapping[str, Any]) -> Name:
    """Return the name of the change that a write of the log made."""
    kind = _KINDS[effect["method"]]
    resource, *rest = effect["path"].split("/")
    if resource == "templates":  # templates/CODE/contents[/LANG]
        key = rest[2] if len(rest) > 2 else None
        return named(resource, kind, key, effect["body"] or {}, rest[0])
    return named(resource, kind, rest[0] if rest else None, effect["body"] or {}, None)


@dataclass
class Load:
    """The rows of one resource in a plan."""

    resource: str
    rows: list[Row]

    def of(self, kind: str) -> list[Row]:
        """Return the rows of one kind."""
        return [row for row in self.rows if row.kind == kind]


def _flow(name: str) -> dict[str, Any]:
    return {"name": name, "template_name": "default", "flow_json": document(name)}


def _webhook(url: str) -> dict[str, Any]:
    return {"url": f"https://hooks.example/{url}", "events": ["*"], "is_active": True}


def _person(rng: random.Random) -> str:
    return " ".join(rng.sample(_WORDS, rng.randint(1, 4)))


@dataclass
class Sizes:
    """Return the number of rows of each kind in a load."""

    creates: int
    updates: int
    deletes: int


def _contacts(account: Account, rng: random.Random, size: Sizes) -> Iterator[Row]:
    """Creates (one in ten restores), names changed and sometimes numbers, deletes."""
    tag = rng.randint(1000, 8999)

    def contact(block: int, n: int) -> dict[str, Any]:
        return {"number": f"{block}{tag}{n:05d}", "country_code": "+1", "name": _person(rng)}

    old = [contact(2, n) for n in range(size.updates + size.deletes)]
    inactive = [contact(3, n) for n in range(size.creates // 10)]
    made = account.calls([("POST", "contacts", body) for body in old + inactive])
    ids = [data["id"] for data in made]
    account.calls([("DELETE", f"contacts/{key}", None) for key in ids[len(old) :]])
    for n in range(size.creates):
        yield Row("contacts", "create", None, contact(3, n))
    for n in range(size.updates):
        number = {"number": f"4{tag}{n:05d}"} if rng.random() < 0.2 else {}
        yield Row("contacts", "update", ids[n], {"name": f"{old[n]['name']} Neu"} | number)
    for key in ids[size.updates : len(old)]:
        yield Row("contacts", "delete", key)


def _flows(account: Account, rng: random.Random, size: Sizes) -> Iterator[Row]:
    """The resource without a unique key."""
    tag = f"{rng.randrange(16**6):06x}"
    old = [_flow(f"Old {tag} {n}") for n in range(size.updates + size.deletes)]
    ids = [data["id"] for data in account.calls([("POST", "flows", body) for body in old])]
    for n in range(size.creates):
        yield Row("flows", "create", None, _flow(f"New {tag} {n}"))
    for n in range(size.updates):
        yield Row("flows", "update", ids[n], {"flow_json": document(f"Changed {tag} {n}")})
    for key in ids[size.updates :]:
        yield Row("flows", "delete", key)


def _contents(account: Account, rng: random.Random, size: Sizes) -> Iterator[Row]:
    """Contents of many templates, ten languages each."""
    tag = f"{rng.randrange(16**6):06x}"
    places = [
        (f"code_{tag}_{n // len(_LANGUAGES)}", _LANGUAGES[n % len(_LANGUAGES)])
        for n in range(size.creates + size.updates + size.deletes)
    ]
    account.calls(
        [
            ("POST", f"templates/{code}/contents", {"lang_code": lang, "text": f"Old {lang}"})
            for code, lang in places[size.creates :]
        ]
    )
    for n, (code, lang) in enumerate(places):
        if n < size.creates:
            yield Row("templates", "create", None, {"lang_code": lang, "text": f"New {n}"}, code)
        elif n < size.creates + size.updates:
            yield Row("templates", "update", lang, {"text": f"Changed {n}"}, code)
        else:
            yield Row("templates", "delete", lang, {}, code)


def _webhooks(account: Account, rng: random.Random, size: Sizes) -> Iterator[Row]:
    """Ten at most, so a few of each; those of an earlier load are removed first."""
    tag = f"{rng.randrange(16**6):06x}"
    present = account.call("GET", "webhooks")
    account.calls([("DELETE", f"webhooks/{webhook['id']}", None) for webhook in present])
    old = [_webhook(f"{tag}/old/{n}") for n in range(size.updates + size.deletes)]
    ids = [data["id"] for data in account.calls([("POST", "webhooks", body) for body in old])]
    for n in range(size.creates):
        yield Row("webhooks", "create", None, _webhook(f"{tag}/new/{n}"))
    for key in ids[: size.updates]:
        yield Row("webhooks", "update", key, {"is_active": False})
    for key in ids[size.updates :]:
        yield Row("webhooks", "delete", key)


def _account(account: Account, rng: random.Random, size: Sizes) -> Iterator[Row]:
    """All four resources in one plan, as the state of an account requires it.

    It goes by numbers, so no contact gets another one. Thirds are rounded up: a plan of the account
    needs the code of one template at least.
    """
    yield from _webhooks(account, rng, Sizes(3, 3, 2))
    third = Sizes(-(-size.creates // 3), -(-size.updates // 3), -(-size.deletes // 3))
    for rows in (_flows, _contents, _contacts):
        for row in rows(account, rng, third):
            if row.kind == "update":
                row.fields.pop("number", None)
            yield row


_RESOURCES = {
    "account": _account,
    "contacts": _contacts,
    "flows": _flows,
    "templates": _contents,
    "webhooks": _webhooks,
}
#: The resources by what one of their records is called.
NOUNS = {"contact": "contacts", "flow": "flows", "content": "templates", "webhook": "webhooks"}


def load(account: Account, resource: str, seed: int, *counts: int) -> Load:
    """Prepare the account for a load, past all faults, and make it."""
    rng = random.Random(f"{seed} {resource} {counts}")
    return Load(resource, list(_RESOURCES[resource](account, rng, Sizes(*counts))))


def edits(load: Load) -> list[list[Any]]:
    """Edits that somebody else may make to the records of a load's updates.

    Half of them are to the fields that the load changes, half to another. `{n}` is a number.
    """
    made: list[list[Any]] = []
    for row in load.of("update"):
        if row.resource == "contacts":
            bodies = [{"name": "Else {n}"}, {"country_code": "+4{n}"}]
        elif row.resource == "flows":
            bodies = [{"flow_json": document("Else {n}")}, {"flow_json_raw": "{n}"}]
        elif row.resource == "templates":
            bodies = [{"text": "Else {n}"}, {"footer": "Else {n}"}]
        else:
            bodies = [{"events": ["chat.message.status", "{n}"]}]
        method = "PATCH" if row.resource == "webhooks" else "PUT"
        code = f"templates/{row.code}/contents" if row.code else row.resource
        made += [[method, f"{code}/{row.key}", body] for body in bodies]
    return made
