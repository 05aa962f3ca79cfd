"""The records that a sandbox begins with: the demo, or a copy of another account.

The demo is Larkspur Cycles, a small workshop that repairs and rents bicycles. All of it is
invented. Its flows, templates and names are in the folder `demo`; some of them are broken on
purpose, so that there is something to find.

A copy is made of plain data, so the sandbox needs to know nothing of who has read it.
"""

import json
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, TypedDict

from chatkit.profile import ServiceProfile
from chatkit.sandbox.contacts import OWNER
from chatkit.sandbox.request import PERMISSIONS
from chatkit.sandbox.resource import AllowedCall, Grant
from chatkit.sandbox.service import Service
from chatkit.sandbox.templates import CONTENT_DEFAULTS

_DEMO = Path(__file__).with_name("demo")
_SHOP = "Front desk"
_TAGS = ("workshop", "rental", "club", "newsletter", "wholesale")
# Numbers that regulators keep free for fiction, by region.
_NUMBERS = json.loads((_DEMO / "numbers.json").read_bytes())


class AccountRecords(TypedDict, total=False):
    """The records of an account as plain data, with the fields that the service shows.

    A record without an id gets the next one; a field that is missing has its usual value.
    """

    account_id: str
    profile: ServiceProfile
    now: float  #: the clock of the service, in seconds since 1970
    flows: Iterable[Mapping[str, Any]]
    contents: Mapping[str, Iterable[Mapping[str, Any]]]  #: by template code
    contacts: Iterable[Mapping[str, Any]]
    webhooks: Iterable[Mapping[str, Any]]


class Seed(Protocol):
    """An account that a sandbox can be a copy of."""

    def _seed_records(self) -> AccountRecords: ...


def clone(service: Service, records: AccountRecords) -> None:
    """Fill an empty sandbox with the records of an account, under their ids.

    Signing secrets are new ones: no service shows those that exist. Nothing is delivered.

    Raises:
        ValueError: A record has no key, or two have one id; the text says which.
    """
    contents = [
        {**record, "template_code": code}
        for code, several in records.get("contents", {}).items()
        for record in several
    ]
    for noun, insert, several in (
        ("flow", service.flows.insert_copy, records.get("flows", ())),
        ("content", service.templates.insert_copy, contents),
        ("contact", service.contacts.insert_copy, records.get("contacts", ())),
        ("webhook", service.webhooks.insert_copy, records.get("webhooks", ())),
    ):
        # Those without an id get the next ones, after all others.
        for record in sorted(several, key=lambda each: int(each.get("id") or sys.maxsize)):
            try:
                insert(service.account_id, record)
            except KeyError as error:
                reason = f"has no {error.args[0]}"
            except sqlite3.IntegrityError:
                reason = "has the id of another one"
            else:
                continue
            raise ValueError(f"The {noun} {record.get('id')!r:.40} {reason}.")
    if (now := records.get("now")) is not None:
        service.clock.set(now)


def demo(service: Service) -> None:
    """Fill an empty sandbox with a small business, the same at every run.

    5 flows (one published, one broken), 6 templates in up to 8 languages, 256 contacts
    of which 6 are inactive, 3 webhooks.
    """
    owner = Grant(service.account_id, OWNER, PERMISSIONS)
    shop = Grant(service.account_id, _SHOP, PERMISSIONS)
    _fill_flows(service, owner)
    _fill_templates(service, owner)
    _fill_contacts(service, owner, shop)
    first = service.webhooks.table.next_id()
    for webhook in json.loads((_DEMO / "webhooks.json").read_bytes()):
        service.webhooks.create(AllowedCall(owner, (), "", webhook))
    service.webhooks.record_delivery(service.account_id, first, "delivered", 200, None)


def _fill_flows(service: Service, owner: Grant) -> None:
    for file in sorted(_DEMO.glob("flows/*.json")):
        flow = json.loads(file.read_bytes())
        published, flow_id = flow.pop("published", False), service.flows.table.next_id()
        service.flows.create(AllowedCall(owner, (), "", {"template_name": "default", **flow}))
        if published:
            service.flows.move(flow_id, owner.account, "PUBLISHED")


def _fill_templates(service: Service, owner: Grant) -> None:
    templates = json.loads((_DEMO / "templates.json").read_bytes())
    for code, template in templates.items():
        same = CONTENT_DEFAULTS | template["same"]
        for lang_code, content in template["contents"].items():
            body = {"lang_code": lang_code, **same, **content}
            header, labels = body.pop("header", None), body.pop("labels", [])
            if header is not None:
                sample = body["variables"]["1"] if "{{1}}" in header else None
                body["headers"] = [{"type": "text", "text": header, "text_variable": sample}]
            body["buttons"] = [
                {**button, "label": label}
                for button, label in zip(body["buttons"], labels, strict=False)
            ]
            service.templates.create(AllowedCall(owner, (code,), "", body))


def _fill_contacts(service: Service, owner: Grant, shop: Grant) -> None:
    customers = list(_customers())
    contacts, first = service.contacts, service.contacts.table.next_id()
    for at in range(len(customers)):
        # A stride mixes the groups of names; it has no factor in common with their number.
        name, number = customers[at * 101 % len(customers)]
        body = number if name is None else {"name": name, **number}
        contacts.create(AllowedCall(shop if at % 3 else owner, (), "", body))
        if at % 4 == 1:
            tags = [_TAGS[at % len(_TAGS)], *(_TAGS[:1] if at % 20 == 13 else [])]
            contacts.annotate(first + at, owner.account, tags=tags)
    for at in range(20, len(customers), 43):
        contacts.delete(AllowedCall(owner, (str(first + at),), "", {}))


def _customers() -> Iterator[tuple[str | None, dict[str, str]]]:
    """Every name with a number that is its own."""
    used = dict.fromkeys(_NUMBERS, 0)
    for group in json.loads((_DEMO / "people.json").read_bytes()):
        region = group["region"]
        for name in group.get("names") or _names(group):
            yield name, _number(region, used[region])
            used[region] += 1


def _names(group: dict[str, Any]) -> Iterator[str]:
    first, last = (group[part].split() for part in ("given", "family"))
    form = group.get("form", "{given} {family}")
    for at in range(group["count"]):
        turn = at // len(first) + at  # so that nobody's name comes twice
        name = form.format(given=first[at % len(first)], family=last[turn % len(last)])
        yield name.replace("~", " ")


def _number(region: str, nth: int) -> dict[str, str]:
    numbers = _NUMBERS[region]
    prefixes, suffixes = numbers["prefixes"], numbers.get("suffixes") or range(*numbers["range"])
    turn, prefix = divmod(nth, len(prefixes))
    suffix = suffixes[turn * 37 % len(suffixes)]
    return {
        "country_code": numbers["country_code"],
        "number": f"{prefixes[prefix]}{suffix:0{len(str(suffixes[-1]))}}",
    }
