"""Contacts: the facts about contacts, and what a trial does to see them."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import Any

from chatkit.conformance.claim import CODE, PATH, Claim, Claims, body, name_of
from chatkit.conformance.fact import Facts, NotTold, expect, not_told
from chatkit.conformance.field import ARRAY, TEXT, TIME, WHOLE, add_fields, listing, pattern
from chatkit.conformance.reply import Reply
from chatkit.conformance.trial import MARK, Trial


class Contacts:
    """What is done with contacts, each once."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.claims = Claims(trial)
        self.new_word = f"{trial.word}new"
        self.new_name = f"{MARK} {self.new_word}"
        self._call = trial.caller

    @cached_property
    def created(self) -> Claim:
        """A contact, created with number and country code."""
        return self.claims.new()

    @cached_property
    def formatted(self) -> Claim:
        """A contact whose number was sent as people write it."""
        return self.claims.new("({}) {}-{}")

    @cached_property
    def bare(self) -> Claim:
        """A contact whose country code was sent without its plus."""
        return self.claims.new(code=CODE.lstrip("+"))

    @cached_property
    def duplicate(self) -> Reply:
        """Creating the first contact again."""
        return self._call.create(PATH, body(self.created.sure().number))

    @cached_property
    def read(self) -> Reply:
        """The first contact; without writes, the first that is listed."""
        if not self.trial.allow_writes:
            rows = self.listed.rows() or not_told("there are no contacts")
            return self._call.get(*PATH, rows[0].get("id", "0"))
        return self._call.get(*PATH, self.created.sure().id)

    @cached_property
    def listed(self) -> Reply:
        """The first page of the list."""
        with suppress(NotTold):
            _ = self.created  # so that there is one
        return self._call.get(*PATH)

    @cached_property
    def updated(self) -> Reply:
        """An update of the second contact: name, number and country code."""
        changed = body(self._new_number, name=self.new_name)
        return self._call.change("PUT", (*PATH, self._second.id), changed)

    @cached_property
    def changed(self) -> dict[str, Any]:
        """The second contact after its update."""
        self.updated.expect_done()
        return self._call.get(*PATH, self._second.id).record()

    @property
    def renamed(self) -> dict[str, Any]:
        """The same; `NotTold` when its name is not the new one."""
        same = name_of(self.changed) == self.new_name
        return self.changed if same else not_told("the update did not set the name")

    @cached_property
    def deleted(self) -> Reply:
        """The delete of a third contact."""
        return self._call.delete(*PATH, self.third.id)

    @cached_property
    def restored(self) -> Reply:
        """Creating the third contact again, after its delete, now with a name."""
        self.deleted.expect_done()
        return self._call.create(PATH, body(self.third.number, name=self.new_name))

    @cached_property
    def back(self) -> Reply:
        """A get of the contact that creating the third again brought."""
        return self._call.get(*PATH, self.restored.record().get("id", "0"))

    @cached_property
    def _second(self) -> Claim:
        return self.claims.new().sure()

    @cached_property
    def _new_number(self) -> str:
        return self.claims.free_number()

    @cached_property
    def third(self) -> Claim:
        """A contact that is deleted and created again."""
        return self.claims.new().sure()

    def contact(self, claim: Claim) -> dict[str, Any]:
        """A contact that was created, as it is now."""
        return self._call.get(*PATH, claim.sure().id).record()

    def lacking(self, field: str) -> Reply:
        """A create without one field."""
        self.created.reply.expect_done()
        sent = body(self.claims.free_number())
        return self._call.create(PATH, {k: v for k, v in sent.items() if k != field})

    def found(self, term: str) -> list[str]:
        """The ids that a search brings, as text."""
        name = self.trial.profile.search_param or not_told("the profile has no search_param")
        reply = self._call.get(*PATH, **{name: term})
        reply.expect_success()
        return [str(row.get("id")) for row in reply.rows()]

    def records(self, place: str) -> list[dict[str, Any]]:
        """The records seen in the list, in a get or in the answer to a create."""
        if place == "list":
            return self.listed.rows()
        if place == "get":
            return [self.read.record()]
        return [self.created.sure().reply.record()] if self.trial.allow_writes else []


facts = Facts(Contacts)

add_fields(facts, "Contact", "contact", [
    (55, "id", WHOLE, "list get create"),
    (56, "first_name middle_name last_name meta_name", TEXT.or_null(), "list get"),
    (57, "number", pattern("[0-9]+", "text of digits only"), "list get"),
    (58, "country_code", pattern(r"\+[0-9]+", "text with the leading +"), "list get"),
    (59, "wa_phone_id", TEXT, "list get"),
    (60, "created_at updated_at", TIME, "list get"),
    (61, "created_by updated_by", TEXT, "list get"),
    (62, "ai_mode", TEXT, "list get"),
    (63, "tags", ARRAY, "list get"),
])  # fmt: skip


@facts(64, "Contact")
def ref_id_in_get_only(seen: Contacts) -> None:
    """ref_id is shown by get only, and may be null."""
    expect("ref_id" in seen.read.record(), "get does not show it")
    expect(not any("ref_id" in row for row in seen.listed.rows()), "the list shows it")


@facts(65, "Contacts")
def list_contacts(seen: Contacts) -> None:
    """GET contacts answers 200 with an array of contacts and the pagination."""
    seen.listed.expect_success(200)
    seen.listed.expect_list()
    seen.listed.expect_pagination(seen.trial.profile)


@facts(66, "Contacts")
def search_by_number(seen: Contacts) -> None:
    """The list can be searched by number."""
    claim = seen.created.sure()
    expect(str(claim.id) in seen.found(claim.number), "its number does not find a contact")
    expect(str(claim.id) not in seen.found(seen.new_word), "another text finds it, too")


@facts(67, "Contacts")
def search_by_name(seen: Contacts) -> None:
    """The list can be searched by name."""
    expect(str(seen.renamed.get("id")) in seen.found(seen.new_word), "its name does not find it")


@facts(68, "Contacts")
def get_contact(seen: Contacts) -> None:
    """GET contacts/:contactId answers 200 with the contact of that id."""
    seen.read.expect_success(200)
    contact = seen.read.expect_object()
    expect(str(contact.get("id")) == str(seen.read.call.segments[-1]), "its id is another")


@facts(69, "Contacts")
def create_contact(seen: Contacts) -> None:
    """POST contacts answers 201 with a message."""
    seen.created.reply.expect_success(201)
    seen.created.reply.expect_message()


@facts(70, "Contact")
def create_answers_only_the_id(seen: Contacts) -> None:
    """The data of the answer to a create holds only the id."""
    seen.created.reply.expect_done()
    shown = seen.created.reply.expect_object("id")
    expect(len(shown) == 1, f"data holds {listing(shown)}")


@facts(71, "Contacts")
def number_required(seen: Contacts) -> None:
    """A create needs a number."""
    seen.lacking("number").expect_refusal("a create without number")


@facts(72, "Contacts")
def country_code_required(seen: Contacts) -> None:
    """A create needs a country code."""
    seen.lacking("country_code").expect_refusal("a create without country_code")


@facts(73, "Contacts")
def name_optional(seen: Contacts) -> None:
    """A create may leave the name out or give one."""
    seen.created.reply.expect_done()
    seen.restored.expect_done()
    expect(name_of(seen.back.record()) == seen.new_name, "the name that was given is not shown")


@facts(74, "Contacts")
def update_contact(seen: Contacts) -> None:
    """PUT contacts/:contactId answers with data that holds the id."""
    seen.updated.expect_updated("id", seen.trial.profile)


@facts(75, "Contacts")
def update_changes(seen: Contacts) -> None:
    """An update changes name, number and country code."""
    sent = seen.updated.call.body or {}
    for field in ("number", "country_code"):
        expect(seen.changed.get(field) == sent[field], f"{field} is not what was sent")
    expect(name_of(seen.changed) == sent["name"], "the name is not what was sent")


@facts(76, "Contacts")
def delete_contact(seen: Contacts) -> None:
    """DELETE contacts/:contactId answers with success, a message and data null."""
    seen.deleted.expect_deleted(seen.trial.profile)


@facts(77, "Contacts, rule 1")
def number_is_digits(seen: Contacts) -> None:
    """A number is stored as its digits, however it was written."""
    expect(seen.read.record().get("number") == seen.created.sure().number,
           "the digits are not those that were sent")  # fmt: skip
    if seen.formatted.id is None:  # refusing it keeps the rule, too
        seen.formatted.reply.expect_refusal("a number with brackets")
    else:
        shown = seen.contact(seen.formatted).get("number")
        expect(shown == seen.formatted.number, "a number with brackets was stored otherwise")


@facts(78, "Contacts, rule 1")
def country_code_has_plus(seen: Contacts) -> None:
    """A country code is sent and stored with its leading plus."""
    expect(seen.contact(seen.created).get("country_code") == CODE, "it is not what was sent")
    if seen.bare.id is None:
        seen.bare.reply.expect_refusal("a country code without plus")
    else:
        shown = seen.contact(seen.bare).get("country_code")
        expect(shown == CODE, "one without plus was stored otherwise")


@facts(79, "Contacts, rule 2")
def name_is_split(seen: Contacts) -> None:
    """A name is split into first, middle and last name, as the profile says."""
    first, middle, last = seen.new_name.split()
    expected = {
        "first_middle_last": (first, middle, last),
        "first_last": (first, None, f"{middle} {last}"),
        "first_only": (seen.new_name, None, None),
    }[seen.trial.profile.name_split]
    shown = [seen.renamed.get(f) or None for f in ("first_name", "middle_name", "last_name")]
    expect(tuple(shown) == expected, "three words are split otherwise")


@facts(80, "Contacts, rule 3")
def duplicate_is_a_conflict(seen: Contacts) -> None:
    """Creating a contact whose number an active one has answers 409."""
    expect(seen.duplicate.status == 409, seen.duplicate.outcome)


@facts(81, "Contacts, rule 4")
def delete_keeps_it(seen: Contacts) -> None:
    """A delete makes a contact inactive and does not remove it: it can be brought back."""
    seen.restored.expect_done()
    same = seen.restored.record().get("id") == seen.third.id
    expect(same, "creating it again brought another id")


@facts(82, "States")
def create_restores(seen: Contacts) -> None:
    """Creating an inactive contact's number again makes the contact active."""
    seen.restored.expect_success()
    seen.back.expect_success()


@facts(83, "Authentication")
def actors_from_the_token(seen: Contacts) -> None:
    """created_by and updated_by are taken from the access token."""
    contact = seen.read.record() if seen.trial.allow_writes else not_told("needs writes")
    named = all(contact.get(f) for f in ("created_by", "updated_by"))
    expect(named, "they are empty, and nothing else names who made the contact")
