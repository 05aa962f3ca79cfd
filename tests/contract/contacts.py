"""Facts about contacts. They are created under free numbers that are reserved for fiction."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from contract.account import MARK, Account, Caller, Reply, ResourceCalls
from contract.fact import (
    ARRAY,
    TEXT,
    TIME,
    WHOLE,
    Facts,
    expect,
    listing,
    pattern,
    unknown,
)

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
    """Yield numbers that are reserved for fiction, in random order."""
    chance = random.SystemRandom()
    while True:
        yield f"{chance.choice(_AREAS)}55501{chance.randrange(100):02}"


def contact_body(number: str, code: str = CODE, **more: str) -> dict[str, Any]:
    return {"number": number, "country_code": code, **more}


def name_of(contact: dict[str, Any]) -> str:
    """Join the parts of a contact's name."""
    parts = [contact.get(f) for f in ("first_name", "middle_name", "last_name")]
    return " ".join([part for part in parts if type(part) is str and part])


class NewContact(NamedTuple):
    """A contact that was created here. Its id is None if the create brought none."""

    reply: Reply
    number: str
    id: Any

    def required(self) -> NewContact:
        """Return the contact itself; raise `Unknown` without an id."""
        return self if self.id is not None else unknown(self.reply.outcome)


def _seconds(text: Any) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (TypeError, ValueError):
        return 0.0


class ContactCalls(ResourceCalls):
    path = PATH

    def __init__(self, account: Account) -> None:
        super().__init__(account)
        self.new_word = f"{account.word}new"
        self.new_name = f"{MARK} {self.new_word}"
        self._drawn: set[str] = set()

    def create_as(self, caller: Caller) -> Reply:
        """Create one more contact with the token of a caller."""
        return self.new(caller=caller).reply

    @cached_property
    def first_contact(self) -> NewContact:
        """A contact, created with number and country code."""
        return self.new()

    @cached_property
    def second_contact(self) -> NewContact:
        """A contact that is updated."""
        return self.new().required()

    @cached_property
    def third_contact(self) -> NewContact:
        """A contact that is deleted and created again."""
        return self.new().required()

    @cached_property
    def formatted_contact(self) -> NewContact:
        """A contact whose number was sent as people write it."""
        return self.new("({}) {}-{}")

    @cached_property
    def contact_without_plus(self) -> NewContact:
        """A contact whose country code was sent without its plus."""
        return self.new(code=CODE.lstrip("+"))

    @property
    def created(self) -> Reply:
        """The create of the first contact."""
        return self.first_contact.reply

    @property
    def removable(self) -> Reply:
        """The create of the third contact."""
        return self.third_contact.reply

    @property
    def edited(self) -> Any:
        """The id of the second contact."""
        return self.second_contact.id

    @property
    def changes(self) -> dict[str, Any]:
        """The body of an update: name, a number that is free, and country code."""
        return contact_body(self.free_number(), name=self.new_name)

    @cached_property
    def duplicate(self) -> Reply:
        """Creating the first contact again."""
        return self.caller.create(PATH, contact_body(self.first_contact.required().number))

    @property
    def renamed(self) -> dict[str, Any]:
        """The second contact after its update; `Unknown` when its name is not the new one."""
        same = name_of(self.changed) == self.new_name
        return self.changed if same else unknown("the update did not set the name")

    @cached_property
    def restored(self) -> Reply:
        """Creating the third contact again, after its delete, now with a name."""
        self.deleted.require_done()
        return self.caller.create(PATH, contact_body(self.third_contact.number, name=self.new_name))

    @cached_property
    def after_restore(self) -> Reply:
        """A get of the contact that creating the third again brought."""
        return self.caller.get(*PATH, self.key(self.restored))

    def current(self, contact: NewContact) -> dict[str, Any]:
        """Read a contact that was created."""
        return self.caller.get(*PATH, contact.required().id).record()

    def create_without(self, field: str) -> Reply:
        self.created.require_done()
        sent = contact_body(self.free_number())
        return self.caller.create(PATH, {k: v for k, v in sent.items() if k != field})

    def search(self, term: str) -> list[str]:
        """Return the ids that a search finds, as text."""
        return [str(row.get("id")) for row in self.filtered("search_param", term)]

    def new(
        self, style: str = "{}{}{}", code: str = CODE, caller: Caller | None = None
    ) -> NewContact:
        """Create a contact under a number that no other has.

        It gets its name by an update: a create restores an inactive contact of the number, and
        a name would change that. If it is somebody else's, it is made inactive again at once.
        """
        for _ in range(_TRIES):
            number = self.free_number()
            sent = style.format(number[:3], number[3:6], number[6:])
            reply = (caller or self.caller).create(PATH, contact_body(sent, code))
            if reply.status == 409:
                continue  # somebody else has it, and the search did not show that
            new = NewContact(reply, number, reply.data.get("id") if reply.has_object else None)
            if new.id is None:
                return new
            if self._is_own(new):
                named = contact_body(sent, code, name=self.account.marker)
                self.caller.update("PUT", (*PATH, new.id), named)
                return new
            self.caller.delete(*PATH, new.id)
            self.account.contacts.discard(new.id)
            self.account.notes.append(
                f"The inactive contact {new.id} of somebody else was restored by a create with "
                "its number, and was made inactive again at once."
            )
        unknown("no number reserved for fiction was free")

    def free_number(self) -> str:
        """Draw a number that was not drawn before and that no active contact has."""
        whole = self.account.profile.number_form == "international"
        digits = CODE.removeprefix("+") if whole else ""
        for _, free in zip(range(_TRIES), fiction_numbers(), strict=False):
            number = digits + free
            if number in self._drawn:
                continue
            self._drawn.add(number)
            parameter = self.account.profile.search_param
            if not parameter or not self.caller.get(*PATH, **{parameter: number}).data:
                return number
        unknown("no number reserved for fiction was free")

    def _is_own(self, contact: NewContact) -> bool:
        """Return whether a contact is new, or was left inactive by an earlier run."""
        reply = self.caller.get(*PATH, contact.id)
        if not reply.has_object:
            return True
        name = name_of(reply.data)
        created, updated = (_seconds(reply.data.get(f)) for f in ("created_at", "updated_at"))
        return name.startswith(MARK) or (not name and abs(updated - created) <= 2)


facts = Facts(ContactCalls)

facts.fields("Contact", "contact", [
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
def ref_id_in_get_only(calls: ContactCalls) -> None:
    """ref_id is shown by get only, and may be null."""
    expect("ref_id" in calls.read.record(), "get does not show it")
    expect(not any("ref_id" in row for row in calls.listed.rows()), "the list shows it")


@facts(65, "Contacts")
def list_contacts(calls: ContactCalls) -> None:
    """GET contacts answers 200 with an array of contacts and the pagination."""
    calls.listed.expect_success(200)
    calls.listed.expect_list()
    calls.listed.expect_pagination()


@facts(66, "Contacts")
def search_by_number(calls: ContactCalls) -> None:
    """The list can be searched by number."""
    contact = calls.first_contact.required()
    expect(str(contact.id) in calls.search(contact.number), "its number does not find a contact")
    expect(str(contact.id) not in calls.search(calls.new_word), "another text finds it, too")


@facts(67, "Contacts")
def search_by_name(calls: ContactCalls) -> None:
    """The list can be searched by name."""
    expect(
        str(calls.renamed.get("id")) in calls.search(calls.new_word), "its name does not find it"
    )


@facts(68, "Contacts")
def get_contact(calls: ContactCalls) -> None:
    """GET contacts/:contactId answers 200 with the contact of that id."""
    calls.read.expect_success(200)
    contact = calls.read.expect_object()
    expect(str(contact.get("id")) == str(calls.read.call.segments[-1]), "its id is a different one")


@facts(69, "Contacts")
def create_contact(calls: ContactCalls) -> None:
    """POST contacts answers 201 with a message."""
    calls.created.expect_success(201)
    calls.created.expect_message()


@facts(70, "Contact")
def create_answers_only_the_id(calls: ContactCalls) -> None:
    """The data of the answer to a create holds only the id."""
    calls.created.require_done()
    output = calls.created.expect_object("id")
    expect(len(output) == 1, f"data holds {listing(output)}")


@facts(71, "Contacts")
def number_required(calls: ContactCalls) -> None:
    """A create needs a number."""
    calls.create_without("number").expect_refusal("a create without number")


@facts(72, "Contacts")
def country_code_required(calls: ContactCalls) -> None:
    """A create needs a country code."""
    calls.create_without("country_code").expect_refusal("a create without country_code")


@facts(73, "Contacts")
def name_optional(calls: ContactCalls) -> None:
    """A create may leave the name out or give one."""
    calls.created.require_done()
    calls.restored.require_done()
    expect(
        name_of(calls.after_restore.record()) == calls.new_name,
        "the name that was given is not shown",
    )


@facts(74, "Contacts")
def update_contact(calls: ContactCalls) -> None:
    """PUT contacts/:contactId answers with data that holds the id."""
    calls.updated.expect_updated("id")


@facts(75, "Contacts")
def update_changes(calls: ContactCalls) -> None:
    """An update changes name, number and country code."""
    sent = calls.updated.call.body or {}
    for field in ("number", "country_code"):
        expect(calls.changed.get(field) == sent[field], f"{field} is not what was sent")
    expect(name_of(calls.changed) == sent["name"], "the name is not what was sent")


@facts(76, "Contacts")
def delete_contact(calls: ContactCalls) -> None:
    """DELETE contacts/:contactId answers with success, a message and data null."""
    calls.deleted.expect_deleted()


@facts(77, "Contacts, rule 1")
def number_is_digits(calls: ContactCalls) -> None:
    """A number is stored as its digits, however it was written."""
    expect(calls.read.record().get("number") == calls.first_contact.required().number,
           "the digits are not those that were sent")  # fmt: skip
    if calls.formatted_contact.id is None:  # refusing it keeps the rule, too
        calls.formatted_contact.reply.expect_refusal("a number with brackets")
    else:
        output = calls.current(calls.formatted_contact).get("number")
        expect(
            output == calls.formatted_contact.number, "a number with brackets was stored otherwise"
        )


@facts(78, "Contacts, rule 1")
def country_code_has_plus(calls: ContactCalls) -> None:
    """A country code is sent and stored with its leading plus."""
    expect(
        calls.current(calls.first_contact).get("country_code") == CODE, "it is not what was sent"
    )
    if calls.contact_without_plus.id is None:
        calls.contact_without_plus.reply.expect_refusal("a country code without plus")
    else:
        stored = calls.current(calls.contact_without_plus).get("country_code")
        expect(stored == CODE, "one without plus was stored otherwise")


@facts(79, "Contacts, rule 2")
def name_is_split(calls: ContactCalls) -> None:
    """A name is split into first, middle and last name, as the profile says."""
    first, middle, last = calls.new_name.split()
    expected = {
        "first_middle_last": (first, middle, last),
        "first_last": (first, None, f"{middle} {last}"),
        "first_only": (calls.new_name, None, None),
    }[calls.account.profile.name_split]
    output = [calls.renamed.get(f) or None for f in ("first_name", "middle_name", "last_name")]
    expect(tuple(output) == expected, "three words are split otherwise")


@facts(80, "Contacts, rule 3")
def duplicate_is_a_conflict(calls: ContactCalls) -> None:
    """Creating a contact whose number an active one has answers 409."""
    expect(calls.duplicate.status == 409, calls.duplicate.outcome)


@facts(81, "Contacts, rule 4")
def delete_keeps_it(calls: ContactCalls) -> None:
    """A delete makes a contact inactive and does not remove it: it can be brought back."""
    calls.restored.require_done()
    same = calls.restored.record().get("id") == calls.third_contact.id
    expect(same, "creating it again brought another id")


@facts(82, "States")
def create_restores(calls: ContactCalls) -> None:
    """Creating an inactive contact's number again makes the contact active."""
    calls.restored.expect_success()
    calls.after_restore.expect_success()


@facts(83, "Authentication")
def actors_from_the_token(calls: ContactCalls) -> None:
    """created_by and updated_by are taken from the access token."""
    contact = calls.read.record() if calls.account.writes else unknown("needs writes")
    named = all(contact.get(f) for f in ("created_by", "updated_by"))
    expect(named, "they are empty, and nothing else names who made the contact")
