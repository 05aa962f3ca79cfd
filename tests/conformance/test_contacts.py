"""Facts about contacts: a service that breaks one is found out, and no other fact differs."""

import itertools

import pytest
from bent import (
    Exchange,
    bare,
    broken,
    differing,
    drop,
    envelope,
    put,
    record,
    report_of,
    sent,
    status,
)
from displayed import html_of

ALL = "list get"


class Registry:
    """Follow which numbers contacts have, to lead a create elsewhere."""

    def __init__(self, *when: str) -> None:
        self.when = when
        self.active: dict[str, str] = {}
        self.deleted: set[str] = set()
        self.others = (f"20255502{n:02}" for n in itertools.count())

    def before(self, x: Exchange) -> None:
        number = x.sent.get("number", "") if x.of("contacts", "create") else ""
        if ("active" in self.when and number in self.active.values()) or (
            "deleted" in self.when and number in self.deleted
        ):
            x.sent["number"] = next(self.others)

    def after(self, x: Exchange) -> None:
        if x.of("contacts", "create") and x.records:
            self.active[str(x.records[0]["id"])] = x.sent["number"]
        if x.of("contacts", "delete") and x.envelope:
            self.deleted.add(self.active.pop(x.segments[-1]))


def registered(how: str, facts: str, *when: str):
    registry = Registry(*when)
    return broken(how, facts, before=registry.before, after=registry.after)


def refuse_deleted() -> dict:
    """Answer 409 also when the contact with the number is inactive."""
    registry = Registry()

    def after(x: Exchange) -> None:
        again = x.of("contacts", "create") and x.sent.get("number") in registry.deleted
        registry.after(x)
        if again:
            x.status = 409

    return {"after": after}


def as_sent(x: Exchange) -> None:
    """Show a number as it was written."""
    if x.of("contacts", "get") and x.segments[-1] in as_sent.numbers:
        x.records[0]["number"] = as_sent.numbers[x.segments[-1]]
    if x.of("contacts", "create") and "(" in x.sent.get("number", "") and x.records:
        as_sent.numbers[str(x.records[0]["id"])] = x.sent["number"]


as_sent.numbers = {}


def without_plus(x: Exchange) -> None:
    if x.of("contacts", "create") and x.sent.get("country_code") == "1":
        x.sent["country_code"] = "+2"


def whole_name(contact: dict) -> None:
    """Keep the name in one part."""
    parts = [contact[f"{part}_name"] for part in ("first", "middle", "last")]
    if all(parts):
        contact.update(first_name=" ".join(parts), middle_name=None, last_name=None)


def unsearched(x: Exchange) -> None:
    if x.of("contacts", "list") and "search" in x.query and not x.query["search"].isdigit():
        x.query["search"] = "nobody"


def found_by_all(x: Exchange) -> None:
    if x.of("contacts", "list") and "search" in x.query and not x.query["search"].isdigit():
        del x.query["search"]


def leave_out(field):
    """Take a create without a field, by putting one in."""
    values = {"number": "2025550299", "country_code": "+1"}
    return sent("contacts", "create", lambda b: b.setdefault(field, values[field]))


@pytest.mark.one_of(3)
@pytest.mark.parametrize(
    ("facts", "before", "after"),
    [
        broken("ids are text in creates", "contact_id", after=record(
            "contacts", "create", lambda c: c.update(id=str(c["id"])))),
        broken("a name is left out of lists", "contact_first_name",
               after=drop("contacts", "list", "middle_name")),
        broken("meta_name is an object", "contact_first_name",
               after=put("contacts", "get", meta_name={})),
        broken("numbers are numbers", "contact_number", after=record(
            "contacts", "list", lambda c: c.update(number=int(c["number"])))),
        broken("numbers have a plus", "contact_number", after=record(
            "contacts", "list", lambda c: c.update(number="+" + c["number"]))),
        broken("country codes have no plus", "contact_country_code",
               after=put("contacts", "list", country_code="1")),
        broken("wa_phone_id is null", "contact_wa_phone_id",
               after=put("contacts", ALL, wa_phone_id=None)),
        broken("times are numbers", "contact_created_at",
               after=put("contacts", "list", updated_at=1767600000)),
        broken("actors are objects", "contact_created_by",
               after=put("contacts", "list", updated_by={"name": "Ada"})),
        broken("ai_mode is missing", "contact_ai_mode", after=drop("contacts", "get", "ai_mode")),
        broken("tags are null", "contact_tags", after=put("contacts", ALL, tags=None)),
        broken("lists show ref_id", "ref_id_in_get_only",
               after=put("contacts", "list", ref_id=None)),
        broken("get hides ref_id", "ref_id_in_get_only", after=drop("contacts", "get", "ref_id")),
        broken("lists have no pagination", "list_contacts",
               after=bare("contacts", "list", "pagination")),
        broken("lists answer 206", "list_contacts", after=status("contacts", "list", 206)),
        broken("names cannot be searched", "search_by_name", before=unsearched),
        broken("a search finds everybody", "search_by_number", before=found_by_all),
        broken("get answers 203", "get_contact", after=status("contacts", "get", 203)),
        broken("get shows an array", "get_contact", after=envelope("contacts", "get", data=[])),
        broken("create answers 200", "create_contact", after=status("contacts", "create", 200)),
        broken("create answers 202", "create_contact", after=status("contacts", "create", 202)),
        broken("create says nothing", "create_contact",
               after=bare("contacts", "create", "message")),
        broken("create shows the number", "create_answers_only_the_id",
               after=put("contacts", "create", number="2025550143")),
        broken("no number is needed", "number_required", before=leave_out("number")),
        broken("no country code is needed", "country_code_required",
               before=leave_out("country_code")),
        broken("names of creates are lost", "name_optional",
               before=sent("contacts", "create", lambda b: b.pop("name", None))),
        broken("update answers with null", "update_contact",
               after=envelope("contacts", "update", data=None)),
        broken("update keeps the name", "update_changes",
               before=sent("contacts", "update", lambda b: b.pop("name"))),
        broken("update keeps the number", "update_changes",
               before=sent("contacts", "update", lambda b: b.pop("number"))),
        broken("delete answers with the id", "delete_contact",
               after=envelope("contacts", "delete", data={"id": 50001})),
        broken("numbers are stored as sent", "number_is_digits", after=as_sent),
        broken("a country code is guessed", "country_code_has_plus", before=without_plus),
        broken("names stay whole", "name_is_split", after=record("contacts", "get", whole_name)),
        registered("duplicates are forgotten", "duplicate_is_a_conflict", "active"),
        broken("duplicates answer 422", "duplicate_is_a_conflict", after=lambda x: setattr(
            x, "status", 422 if x.status == 409 else x.status)),
        registered("delete removes", "delete_keeps_it", "deleted"),
        broken("inactive contacts are in the way", "create_restores", **refuse_deleted()),
        broken("actors are empty", "actors_from_the_token",
               after=put("contacts", "get", created_by="", updated_by="")),
    ],
)  # fmt: skip
def test_a_broken_fact_is_found(facts, before, after):
    assert differing(before, after) == facts


def test_a_report_never_shows_what_a_record_holds():
    report = report_of(after=put("contacts", ALL, number="a secret <b>", first_name=["a secret"]))
    assert report.status == 1
    for text in (repr(report), html_of(report), report.frame().to_string()):
        assert "a secret" not in text
