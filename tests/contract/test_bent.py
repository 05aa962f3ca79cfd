"""Sandboxes that break facts on purpose: each fact that one breaks differs, and no other.

Each service below breaks several facts that do not meet; together they break every fact.
"""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from bent import (
    ALL_TOKEN,
    Bend,
    Bent,
    Exchange,
    bare,
    drop,
    envelope,
    put,
    record,
    sent,
    status,
    unlocked,
)
from contract import webhooks
from contract.facts import FACTS
from contract.targets import whole

import chatkit

FULL = "get create update"
ANY = "list get create update languages"
SECRET = "5ec7e7" * 10 + "abcd"


class Deviation(NamedTuple):
    """The facts that a service breaks by changing calls before, or answers after."""

    facts: str
    after: Bend | None = None
    before: Bend | None = None


Service = Callable[[], list[Deviation]]


def outcomes(deviations: list[Deviation]) -> dict[str, tuple[str, str]]:
    """Check all facts against a sandbox with these deviations."""

    def before(x: Exchange) -> None:
        for deviation in deviations:
            if deviation.before:
                deviation.before(x)

    def after(x: Exchange) -> None:
        for deviation in deviations:
            if deviation.after:
                deviation.after(x)

    with (
        chatkit.Sandbox(seed="empty") as sandbox,
        chatkit.connect(Bent(sandbox, before, after)) as client,
        whole(client, sandbox) as account,
    ):
        return {fact.name: fact.outcome(account) for fact in FACTS}


def differing(deviations: list[Deviation]) -> set[str]:
    return {name for name, (state, _) in outcomes(deviations).items() if state == "differs"}


ROWS = tomllib.loads(Path(__file__).with_name("cases").joinpath("deviations.toml").read_text())
AFTER: dict[str, Callable[[str, str, Any], Bend]] = {
    "put": lambda resource, verbs, fields: put(resource, verbs, **fields),
    "drop": drop,
    "set": lambda resource, verbs, fields: envelope(resource, verbs, **fields),
    "leave": bare,
    "status": status,
}
BEFORE: dict[str, Callable[[str, str, Any], Bend]] = {
    "send": lambda resource, verbs, fields: sent(resource, verbs, lambda b: b.update(fields)),
    "default": lambda resource, verbs, fields: sent(
        resource, verbs, lambda body: body.update(fields | body)
    ),
    "unlock": lambda resource, verbs, _: unlocked(resource, verbs),
    "omit": lambda resource, verbs, field: sent(resource, verbs, lambda b: b.pop(field, None)),
}


def table(service: str) -> list[Deviation]:
    """Return the deviations of a service that are rows of the table."""
    deviations = []
    for facts, text in ROWS[service].items():
        how, resource, verbs, change = text.split(" ", 3)
        bends = AFTER if how in AFTER else BEFORE
        bend = bends[how](resource, verbs.replace(",", " "), json.loads(change))
        deviations.append(
            Deviation(facts, bend) if bends is AFTER else Deviation(facts, before=bend)
        )
    return deviations


def wrong_fields() -> list[Deviation]:
    """Fields that are missing, or of another kind, in one of the answers that show them."""

    def text_id(item: dict[str, Any]) -> None:
        item.update(id=str(item["id"]))

    return [
        *table("wrong_fields"),
        Deviation("contact_id", record("contacts", "create", text_id)),
        Deviation("webhook_id", record("webhooks", "update", text_id)),
    ]


def wrong_answers() -> list[Deviation]:
    """Other statuses, and envelopes with something else in them."""

    def plain_text(x: Exchange) -> None:
        if x.of("contacts", "update") and x.envelope:
            x.envelope, x.body = {}, b"done"

    return [
        *table("wrong_answers"),
        Deviation("get_flow", record("flows", "get", lambda f: f.update(id=f["id"] + 1))),
        Deviation(
            "language_codes",
            record("templates", "create", lambda c: c.update(lang_code=c["lang_code"].lower())),
        ),
        Deviation("json_bodies update_contact", plain_text),
    ]


def rules_of_flows_and_templates() -> list[Deviation]:
    def unfiltered(x: Exchange) -> None:
        if x.of("flows", "list") and x.query.get("status") == "PUBLISHED":
            del x.query["status"]

    def add_version(body: dict[str, Any]) -> None:
        if isinstance(body.get("flow_json"), dict):
            body["flow_json"] = {"version": "7.1", **body["flow_json"]}

    def unsearched(x: Exchange) -> None:
        if x.of("templates", "list"):
            x.query.clear()

    def duplicated(x: Exchange) -> None:
        if x.of("templates", "list") and "twice" in x.segments[1] and x.records:
            x.envelope["data"] *= 2

    def known_headers(body: dict[str, Any]) -> None:
        for header in body["headers"]:
            header["type"] = header["type"].replace("contract", "text")

    deleted: dict[str, bytes] = {}

    def readable(x: Exchange) -> None:
        """Show flows that were deleted."""
        for flow in x.records if x.of("flows", "create") else ():
            deleted[str(flow["id"])] = x.body
        if x.of("flows", "get") and x.status == 404:
            x.status, x.body = 200, deleted[x.segments[-1]]

    return [
        *table("rules_of_flows_and_templates"),
        Deviation("status_filter", before=unfiltered),
        Deviation("flow_json_is_an_object", before=sent("flows", "create", add_version)),
        Deviation("deleted_flow_is_gone", readable),
        Deviation("search_contents", before=unsearched),
        Deviation("one_content_per_language", duplicated),
        Deviation("header_types", before=sent("templates", "create", known_headers)),
    ]


def rules_of_contacts() -> list[Deviation]:
    written: dict[str, str] = {}

    def as_written(x: Exchange) -> None:
        """Show a number as it was written."""
        if x.of("contacts", "create") and "(" in x.sent.get("number", "") and x.records:
            written[str(x.records[0]["id"])] = x.sent["number"]
        if x.of("contacts", "get") and x.segments[-1] in written:
            x.records[0]["number"] = written[x.segments[-1]]

    def other_country(x: Exchange) -> None:
        if x.of("contacts", "create") and x.sent.get("country_code") == "1":
            x.sent["country_code"] = "+2"

    def whole_name(contact: dict[str, Any]) -> None:
        parts = [contact[f"{part}_name"] for part in ("first", "middle", "last")]
        if all(parts):
            contact.update(first_name=" ".join(parts), middle_name=None, last_name=None)

    def unsearched(x: Exchange) -> None:
        if x.of("contacts", "list") and not x.query.get("search", "1").isdigit():
            x.query["search"] = "nobody"

    return [
        *table("rules_of_contacts"),
        Deviation("search_by_name", before=unsearched),
        Deviation("number_is_digits", as_written),
        Deviation("country_code_has_plus", before=other_country),
        Deviation("name_is_split", record("contacts", "get", whole_name)),
    ]


def contacts_created_anew() -> list[Deviation]:
    """Contacts are created with a number that another has, or had; a search matches all."""
    active: dict[str, str] = {}
    deleted: set[str] = set()
    free = (f"20255502{n:02}" for n in itertools.count())

    def before(x: Exchange) -> None:
        number = x.sent.get("number") if x.of("contacts", "create") else None
        if number in active.values() or number in deleted:
            x.sent["number"] = next(free)

    def after(x: Exchange) -> None:
        if x.of("contacts", "create") and x.records:
            active[str(x.records[0]["id"])] = x.sent["number"]
        if x.of("contacts", "delete") and x.envelope:
            deleted.add(active.pop(x.segments[-1]))

    def matches_all(x: Exchange) -> None:
        if x.of("contacts", "list") and not x.query.get("search", "1").isdigit():
            del x.query["search"]

    return [
        Deviation("duplicate_is_a_conflict delete_keeps_it", after, before),
        Deviation("search_by_number", before=matches_all),
    ]


def rules_of_webhooks_and_buttons() -> list[Deviation]:
    def known_buttons(body: dict[str, Any]) -> None:
        for button in body["buttons"]:
            button["type"] = button["type"].replace("contract", "custom")

    def one_event(x: Exchange) -> None:
        if x.of("webhooks", "create") and x.sent.get("events") == ["*"]:
            x.sent["events"] = ["chat.message.status"]

    def https(x: Exchange) -> None:
        if "url" in x.sent:
            x.sent["url"] = x.sent["url"].replace("http:", "https:")

    def cleared(x: Exchange) -> None:
        if x.of("webhooks", "update"):
            x.sent = {"events": [], **x.sent, "is_active": True}

    return [
        *table("rules_of_webhooks_and_buttons"),
        Deviation("button_types", before=sent("templates", "create", known_buttons)),
        Deviation("events_are_kept", before=one_event),
        Deviation("update_is_partial update_sets_is_active", before=cleared),
        Deviation("https_only", before=https),
    ]


def webhooks_without_limit() -> list[Deviation]:
    """An eleventh webhook is taken, deleted ones stay listed, and all are active."""
    listed: dict[str, dict[str, Any]] = {}
    deleted: list[dict[str, Any]] = []

    def always_active(x: Exchange) -> None:
        if x.of("webhooks", "create"):
            x.sent["is_active"] = True

    def after(x: Exchange) -> None:
        if x.of("webhooks", "create") and x.records:
            listed[str(x.records[0]["id"])] = dict(x.records[0])
            listed[str(x.records[0]["id"])].pop("webhook_secret")
        elif x.of("webhooks", "create") and x.status == 422 and "https:" in x.sent["url"]:
            x.status, x.envelope = 201, {"success": True, "message": "", "data": {"id": 9}}
        if x.of("webhooks", "delete") and x.envelope and not deleted:
            deleted.append(listed[x.segments[-1]])
        if x.of("webhooks", "list") and x.envelope:
            x.envelope["data"] += deleted

    return [
        Deviation("ten_at_most deleted_webhook_is_gone", after),
        Deviation("inactive_when_asked deliveries_to_active", before=always_active),
    ]


def wrong_pages() -> list[Deviation]:
    """The first page comes twice, and the pagination has another size."""
    second = False

    def before(x: Exchange) -> None:
        nonlocal second
        second = x.query.get("page") == "2"
        if second:
            x.query["page"] = "1"

    def after(x: Exchange) -> None:
        if "pagination" in x.envelope:
            x.envelope["pagination"]["pageSize"] = 10

    return [Deviation("pages_follow page_size", after, before)]


def text_totals() -> list[Deviation]:
    def after(x: Exchange) -> None:
        if "pagination" in x.envelope:
            x.envelope["pagination"]["totalCount"] = "12"

    return [Deviation("pagination_fields", after)]


def refused_creates() -> list[Deviation]:
    """Creates need more than the document states, or lose the record."""
    deleted: set[str] = set()

    def in_the_way(x: Exchange) -> None:
        if x.of("contacts", "delete"):
            deleted.add(x.segments[-1])
        if x.of("contacts", "get") and x.segments[-1] in deleted:
            x.status, x.envelope, x.body = 404, {}, b""

    kept: dict[tuple[str, str], bytes] = {}

    def readable(x: Exchange) -> None:
        """Show contents that were deleted."""
        if x.of("templates", "get") and x.envelope:
            kept[x.segments[1], x.segments[-1]] = x.body
        if x.of("templates", "get") and x.status == 404:
            x.status, x.body = 200, next(iter(kept.values()), b"{}")

    return [
        *table("refused_creates"),
        Deviation("create_restores", in_the_way),
        Deviation("deleted_content_is_gone", readable),
    ]


def no_contents() -> list[Deviation]:
    return table("no_contents")


def forgotten_permissions() -> list[Deviation]:
    def any_token(x: Exchange) -> None:
        if "chatkit-contract" in x.headers["authorization"]:
            x.headers["authorization"] = ALL_TOKEN

    return [*table("forgotten_permissions"), Deviation("bearer_token", before=any_token)]


def more_permissions() -> list[Deviation]:
    """A create is refused to a token with the one permission that it needs."""
    refused: set[str] = set()

    def after(x: Exchange) -> None:
        token = x.headers["authorization"]
        if x.of("flows", "create") and x.status == 403:
            refused.add(token)
        elif x.of("flows", "create") and refused and token not in refused and x.envelope:
            x.status, x.envelope, x.body = 403, {}, b""

    return [Deviation("needs_chat_flows_add", after)]


def no_service() -> list[Deviation]:
    def after(x: Exchange) -> None:
        x.status, x.envelope, x.body = 404, {}, b""

    return [Deviation("paths", after)]


SERVICES: list[Service] = [
    wrong_fields,
    wrong_answers,
    rules_of_flows_and_templates,
    rules_of_contacts,
    contacts_created_anew,
    rules_of_webhooks_and_buttons,
    webhooks_without_limit,
    wrong_pages,
    text_totals,
    refused_creates,
    no_contents,
    forgotten_permissions,
    more_permissions,
]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "DELIVERY_SECONDS", 0.2)


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.__name__)
def test_the_facts_that_a_service_breaks_differ_and_no_others(service: Service) -> None:
    deviations = service()
    broken = {fact for deviation in deviations for fact in deviation.facts.split()}
    assert differing(deviations) == broken


def test_without_any_list_the_paths_differ() -> None:
    assert "paths" in differing(no_service())


def test_each_fact_is_broken_by_some_service() -> None:
    broken = {
        fact
        for service in [*SERVICES, no_service]
        for deviation in service()
        for fact in deviation.facts.split()
    }
    assert broken == {fact.name for fact in FACTS}


def test_a_token_without_permissions_shows_nothing() -> None:
    def forbidden(x: Exchange) -> None:
        x.status, x.envelope, x.body = 403, {}, b""

    assert differing([Deviation("", forbidden)]) == set()


def test_a_reason_never_holds_a_value_of_a_record() -> None:
    output = put("contacts", "list get", number="a secret", first_name=["a secret"])
    leaked = put("webhooks", "list", webhook_secret=SECRET, **{SECRET: SECRET})
    reasons = outcomes([Deviation("", output), Deviation("", leaked)]).values()
    text = " ".join(reason for _, reason in reasons)
    assert "number is text in list" in text
    assert "a secret" not in text
    assert SECRET not in text
