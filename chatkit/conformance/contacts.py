"""Contacts: facts about contacts, and the calls that tell them.

A trial creates its contacts under numbers reserved for fiction, and only where they are free.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from chatkit.conformance.fact import (
    ARRAY,
    TEXT,
    TIME,
    WHOLE,
    Facts,
    add_fields,
    expect,
    listing,
    not_told,
    pattern,
)
from chatkit.conformance.trial import MARK, Caller, ResourceEvidence, Trial, TrialReply

PATH = ("contacts",)
CODE = "+1"
# Within each of these area codes, 555-0100 to 555-0199 belong to nobody.
_AREAS = (
    201, 202, 206, 212, 213, 215, 303, 305, 312, 313, 314, 404, 410, 412, 415, 416, 503, 504, 512,
    513, 514, 602, 604, 612, 613, 614, 615, 617, 619, 702, 703, 713, 718, 786, 801, 802, 804, 808,
    816, 818, 901, 902, 904, 907, 916, 917, 919, 971, 972, 985,
)  # fmt: skip
_TRIES = 8


def fiction_numbers() -> Iterator[str]:
    """Numbers reserved for fiction, in an order by chance."""
    chance = random.SystemRandom()
    while True:
        yield f"{chance.choice(_AREAS)}55501{chance.randrange(100):02}"


def contact_body(number: str, code: str = CODE, **more: str) -> dict[str, Any]:
    """The body of a create or an update."""
    return {"number": number, "country_code": code, **more}


def name_of(contact: dict[str, Any]) -> str:
    """The parts of a contact's name, joined."""
    parts = [contact.get(f) for f in ("first_name", "middle_name", "last_name")]
    return " ".join([part for part in parts if type(part) is str and part])


class Claim(NamedTuple):
    """A contact that a trial created, and so may change. No id: the create brought none."""

    reply: TrialReply
    number: str
    id: Any

    def sure(self) -> Claim:
        """The claim itself; `NotTold` when there is no contact."""
        return self if self.id is not None else not_told(self.reply.outcome)


def _seconds(text: Any) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (TypeError, ValueError):
        return 0.0


class ContactEvidence(ResourceEvidence):
    """Evidence about contacts: each call is made once."""

    path = PATH

    def __init__(self, trial: Trial) -> None:
        super().__init__(trial)
        self.new_word = f"{trial.word}new"
        self.new_name = f"{MARK} {self.new_word}"
        self._drawn: set[str] = set()

    def another(self, by: Caller) -> TrialReply:
        """Create one more contact, as some caller."""
        return self.new(by=by).reply

    @cached_property
    def claim(self) -> Claim:
        """A contact, created with number and country code."""
        return self.new()

    @cached_property
    def second(self) -> Claim:
        """A contact that is updated."""
        return self.new().sure()

    @cached_property
    def third(self) -> Claim:
        """A contact that is deleted and created again."""
        return self.new().sure()

    @cached_property
    def formatted(self) -> Claim:
        """A contact whose number was sent as people write it."""
        return self.new("({}) {}-{}")

    @cached_property
    def bare(self) -> Claim:
        """A contact whose country code was sent without its plus."""
        return self.new(code=CODE.lstrip("+"))

    @property
    def created(self) -> TrialReply:
        """The create of the first contact."""
        return self.claim.reply

    @property
    def doomed(self) -> TrialReply:
        """The create of the third contact."""
        return self.third.reply

    @property
    def edited(self) -> Any:
        """The id of the second contact."""
        return self.second.id

    @property
    def changes(self) -> dict[str, Any]:
        """The body of an update: name, a number that is free, and country code."""
        return contact_body(self.free_number(), name=self.new_name)

    @cached_property
    def duplicate(self) -> TrialReply:
        """Creating the first contact again."""
        return self._call.create(PATH, contact_body(self.claim.sure().number))

    @property
    def renamed(self) -> dict[str, Any]:
        """The second contact after its update; `NotTold` when its name is not the new one."""
        same = name_of(self.changed) == self.new_name
        return self.changed if same else not_told("the update did not set the name")

    @cached_property
    def restored(self) -> TrialReply:
        """Creating the third contact again, after its delete, now with a name."""
        self.deleted.expect_done()
        return self._call.create(PATH, contact_body(self.third.number, name=self.new_name))

    @cached_property
    def back(self) -> TrialReply:
        """A get of the contact that creating the third again brought."""
        return self._call.get(*PATH, self.key(self.restored))

    def contact(self, claim: Claim) -> dict[str, Any]:
        """A contact that was created, as it is now."""
        return self._call.get(*PATH, claim.sure().id).record()

    def lacking(self, field: str) -> TrialReply:
        """A create without one field."""
        self.created.expect_done()
        sent = contact_body(self.free_number())
        return self._call.create(PATH, {k: v for k, v in sent.items() if k != field})

    def found(self, term: str) -> list[str]:
        """The ids that a search brings, as text."""
        return [str(row.get("id")) for row in self.filtered("search_param", term)]

    def new(self, style: str = "{}{}{}", code: str = CODE, by: Caller | None = None) -> Claim:
        """Create a contact under a number that nobody had.

        It is named only when it is there: a create restores an inactive contact of the number,
        and a name would change it. One of somebody else is made inactive again at once.
        """
        for _ in range(_TRIES):
            number = self.free_number()
            sent = style.format(number[:3], number[3:6], number[6:])
            reply = (by or self._call).create(PATH, contact_body(sent, code))
            if reply.status == 409:
                continue  # somebody's, and the search did not show it
            claim = Claim(reply, number, reply.data.get("id") if reply.has_object else None)
            if claim.id is None:
                return claim
            if self._is_own(claim):
                named = contact_body(sent, code, name=self.trial.marker)
                self._call.change("PUT", (*PATH, claim.id), named)
                return claim
            self._call.delete(*PATH, claim.id)
            self.trial.contacts.discard(claim.id)
            self.trial.notes.append(
                f"The inactive contact {claim.id} of somebody else was restored by a create with "
                "its number, and was made inactive again at once."
            )
        not_told("no number reserved for fiction was free")

    def free_number(self) -> str:
        """A number that was not drawn before and that a search finds no active contact of."""
        whole = self.trial.profile.number_form == "international"
        digits = CODE.removeprefix("+") if whole else ""
        for _, free in zip(range(_TRIES), fiction_numbers(), strict=False):
            number = digits + free
            if number in self._drawn:
                continue
            self._drawn.add(number)
            by = self.trial.profile.search_param
            if not by or not self._call.filtered(*PATH, by=by, text=number).data:
                return number
        not_told("no number reserved for fiction was free")

    def _is_own(self, claim: Claim) -> bool:
        """Whether a contact is new, or was left inactive by an earlier trial."""
        reply = self._call.get(*PATH, claim.id)
        if not reply.has_object:
            return True
        name = name_of(reply.data)
        born, touched = (_seconds(reply.data.get(f)) for f in ("created_at", "updated_at"))
        return name.startswith(MARK) or (not name and abs(touched - born) <= 2)


facts = Facts(ContactEvidence)

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
def ref_id_in_get_only(seen: ContactEvidence) -> None:
    """ref_id is shown by get only, and may be null."""
    expect("ref_id" in seen.read.record(), "get does not show it")
    expect(not any("ref_id" in row for row in seen.listed.rows()), "the list shows it")


@facts(65, "Contacts")
def list_contacts(seen: ContactEvidence) -> None:
    """GET contacts answers 200 with an array of contacts and the pagination."""
    seen.listed.expect_success(200)
    seen.listed.expect_list()
    seen.listed.expect_pagination(seen.trial.profile)


@facts(66, "Contacts")
def search_by_number(seen: ContactEvidence) -> None:
    """The list can be searched by number."""
    claim = seen.claim.sure()
    expect(str(claim.id) in seen.found(claim.number), "its number does not find a contact")
    expect(str(claim.id) not in seen.found(seen.new_word), "another text finds it, too")


@facts(67, "Contacts")
def search_by_name(seen: ContactEvidence) -> None:
    """The list can be searched by name."""
    expect(str(seen.renamed.get("id")) in seen.found(seen.new_word), "its name does not find it")


@facts(68, "Contacts")
def get_contact(seen: ContactEvidence) -> None:
    """GET contacts/:contactId answers 200 with the contact of that id."""
    seen.read.expect_success(200)
    contact = seen.read.expect_object()
    expect(str(contact.get("id")) == str(seen.read.call.segments[-1]), "its id is another")


@facts(69, "Contacts")
def create_contact(seen: ContactEvidence) -> None:
    """POST contacts answers 201 with a message."""
    seen.created.expect_success(201)
    seen.created.expect_message()


@facts(70, "Contact")
def create_answers_only_the_id(seen: ContactEvidence) -> None:
    """The data of the answer to a create holds only the id."""
    seen.created.expect_done()
    shown = seen.created.expect_object("id")
    expect(len(shown) == 1, f"data holds {listing(shown)}")


@facts(71, "Contacts")
def number_required(seen: ContactEvidence) -> None:
    """A create needs a number."""
    seen.lacking("number").expect_refusal("a create without number")


@facts(72, "Contacts")
def country_code_required(seen: ContactEvidence) -> None:
    """A create needs a country code."""
    seen.lacking("country_code").expect_refusal("a create without country_code")


@facts(73, "Contacts")
def name_optional(seen: ContactEvidence) -> None:
    """A create may leave the name out or give one."""
    seen.created.expect_done()
    seen.restored.expect_done()
    expect(name_of(seen.back.record()) == seen.new_name, "the name that was given is not shown")


@facts(74, "Contacts")
def update_contact(seen: ContactEvidence) -> None:
    """PUT contacts/:contactId answers with data that holds the id."""
    seen.updated.expect_updated("id", seen.trial.profile)


@facts(75, "Contacts")
def update_changes(seen: ContactEvidence) -> None:
    """An update changes name, number and country code."""
    sent = seen.updated.call.body or {}
    for field in ("number", "country_code"):
        expect(seen.changed.get(field) == sent[field], f"{field} is not what was sent")
    expect(name_of(seen.changed) == sent["name"], "the name is not what was sent")


@facts(76, "Contacts")
def delete_contact(seen: ContactEvidence) -> None:
    """DELETE contacts/:contactId answers with success, a message and data null."""
    seen.deleted.expect_deleted(seen.trial.profile)


@facts(77, "Contacts, rule 1")
def number_is_digits(seen: ContactEvidence) -> None:
    """A number is stored as its digits, however it was written."""
    expect(seen.read.record().get("number") == seen.claim.sure().number,
           "the digits are not those that were sent")  # fmt: skip
    if seen.formatted.id is None:  # refusing it keeps the rule, too
        seen.formatted.reply.expect_refusal("a number with brackets")
    else:
        shown = seen.contact(seen.formatted).get("number")
        expect(shown == seen.formatted.number, "a number with brackets was stored otherwise")


@facts(78, "Contacts, rule 1")
def country_code_has_plus(seen: ContactEvidence) -> None:
    """A country code is sent and stored with its leading plus."""
    expect(seen.contact(seen.claim).get("country_code") == CODE, "it is not what was sent")
    if seen.bare.id is None:
        seen.bare.reply.expect_refusal("a country code without plus")
    else:
        shown = seen.contact(seen.bare).get("country_code")
        expect(shown == CODE, "one without plus was stored otherwise")


@facts(79, "Contacts, rule 2")
def name_is_split(seen: ContactEvidence) -> None:
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
def duplicate_is_a_conflict(seen: ContactEvidence) -> None:
    """Creating a contact whose number an active one has answers 409."""
    expect(seen.duplicate.status == 409, seen.duplicate.outcome)


@facts(81, "Contacts, rule 4")
def delete_keeps_it(seen: ContactEvidence) -> None:
    """A delete makes a contact inactive and does not remove it: it can be brought back."""
    seen.restored.expect_done()
    same = seen.restored.record().get("id") == seen.third.id
    expect(same, "creating it again brought another id")


@facts(82, "States")
def create_restores(seen: ContactEvidence) -> None:
    """Creating an inactive contact's number again makes the contact active."""
    seen.restored.expect_success()
    seen.back.expect_success()


@facts(83, "Authentication")
def actors_from_the_token(seen: ContactEvidence) -> None:
    """created_by and updated_by are taken from the access token."""
    contact = seen.read.record() if seen.trial.allow_writes else not_told("needs writes")
    named = all(contact.get(f) for f in ("created_by", "updated_by"))
    expect(named, "they are empty, and nothing else names who made the contact")
