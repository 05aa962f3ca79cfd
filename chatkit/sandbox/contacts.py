"""Contacts: telephone numbers with names (sections Contact, Contacts, States)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from chatkit.sandbox.interface import (
    RefusedRequest,
    ServiceAnswer,
    dumps,
    make_operations,
    parse_query,
)
from chatkit.sandbox.resource import AllowedCall, Fields, ResourceHandler, Time, make_upstream_id

_NOT_DIGITS = re.compile("[^0-9]+")
Names = tuple[str | None, str | None, str | None]

_NAME_PARTS = ("first_name", "middle_name", "last_name")
#: Who has made the records of a demo, and of a copy that does not say it.
OWNER = "Ines Okafor"


class ContactFields(Fields):
    """The fields that a contact is created with."""

    number: str = Field("", pattern="[0-9]", description="must have a digit")
    country_code: str = Field("", pattern=r"^\+[0-9]+$", description="must be + and digits")
    name: str = Field("", description="Split into first, middle and last name.")


class ContactId(Fields):
    """The answer to a create or an update."""

    id: int


class ContactItem(ContactId):
    """A contact in lists."""

    first_name: str | None
    middle_name: str | None
    last_name: str | None
    meta_name: str | None = None
    number: str = Field(pattern="^[0-9]+$")
    country_code: str = Field(pattern=r"^\+[0-9]+$")
    wa_phone_id: str
    created_at: Time
    updated_at: Time
    created_by: str
    updated_by: str
    ai_mode: str = "ai_paused"
    tags: list[Any] = Field([])


class ContactRecord(ContactItem):
    """A contact as get shows it."""

    ref_id: Any = None


class ContactsHandler(ResourceHandler):
    """The contacts of an account; deleted ones stay stored and come back when created again."""

    name = "contacts"
    noun = "Contact"
    operations = make_operations("/contacts", "contactId", "Chat Contacts")
    first_id = 50001
    columns = ("name", "phone")
    listed_when_deleted = True
    filter_point = "search_param"
    fields, required = ContactFields, ("number", "country_code")
    item, record = ContactItem, ContactRecord
    created = updated = ContactId
    details = ("ref_id",)
    conflicts = ("create",)
    clashes = ("update",)

    def list(self, call: AllowedCall) -> ServiceAnswer:
        """Answer with a page of contacts, all or those that hold the search term."""
        query = parse_query(call.query)
        term = self._read_filter_value(query)
        if not term:
            return self._build_page(self.table.list_ids(call.grant.account), query)
        # Every contact is looked at: 25 ms among 100,000, where an index took 2 s to make.
        holds, folded = "(instr(name, ?) OR instr(phone, ?))", term.casefold()
        ids = self.table.select_ids(call.grant.account, holds, (folded, folded))
        return self._build_page(ids, query)

    def create(self, call: AllowedCall) -> ServiceAnswer:
        """Make a contact, or make the inactive one of the same number active again."""
        fields = self.create_body.validate(call.body)
        scope, actor, code = call.grant.account, call.grant.actor, fields["country_code"]
        number = self._normalize_number(fields["number"], code)
        key = self._make_natural_key({"number": number, "country_code": code})
        row = self.table.find_by_key(scope, key)
        if row is not None and row.active:
            raise RefusedRequest("conflict", "An active contact has this number")
        record_id = self.table.next_id() if row is None else row.id
        if row is None or self.profile.restore_keeps == "nothing":
            names = self._split_name(fields.get("name"))
            record = self._new_record(record_id, names, number, code, actor)
        else:
            record = self._load_record(row) | {"country_code": code, "updated_by": actor}
            if "name" in fields:
                record |= zip(_NAME_PARTS, self._split_name(fields["name"]), strict=True)
            self._set_update_time(record)
        if row is None:
            self._insert(scope, record_id, record)
        else:
            self._rewrite(row, record)
        return self.replies.build_success(self._encode_id(record_id), 201, "Contact created")

    def get(self, call: AllowedCall) -> ServiceAnswer:
        """Answer with one contact; also with a deleted one if the profile says so."""
        row = self._find_stored(call)
        if row is None or not (row.active or self.profile.inactive_readable):
            raise self._make_missing_refusal()
        return self.replies.build_success(row.full_text.encode())

    def update(self, call: AllowedCall) -> ServiceAnswer:
        """Change a contact's name or number."""
        row = self.find_active_record(call)
        fields = self.update_body.validate(call.body)
        record = self._load_record(row)
        if "name" in fields or self.profile.put == "replace":
            record |= zip(_NAME_PARTS, self._split_name(fields.get("name")), strict=True)
        # A contact cannot be without number and country code: replacing keeps them too.
        before = record["country_code"]
        record["country_code"] = fields.get("country_code", before)
        if "number" in fields:
            record["number"] = self._normalize_number(fields["number"], record["country_code"])
        elif before != record["country_code"] and self.profile.number_form == "international":
            number = record["number"].removeprefix(before[1:])
            record["number"] = record["country_code"][1:] + number
        if (key := self._make_natural_key(record)) != row.key:
            self._check_free(call.grant.account, key, "An active contact has this number")
        record["updated_by"] = call.grant.actor
        self._set_update_time(record)
        self._rewrite(row, record)
        return self.replies.build_confirmation("Contact updated", self._encode_id(row.id))

    def set_readonly_fields(self, contact_id: int, account: str, **fields: Any) -> None:
        """Set fields that the API shows and cannot change, like `tags` and `ai_mode`.

        In the service this is done in its business application.

        Raises:
            KeyError: There is no such contact, or no such field.
        """
        row = self.table.find_active(contact_id, account)
        if row is None:
            raise KeyError(contact_id)
        if unknown := fields.keys() - {"tags", "ai_mode", "meta_name", "ref_id"}:
            raise KeyError(*unknown)
        self._rewrite(row, self._load_record(row) | fields)

    def insert_copy(self, account: str, record: Mapping[str, Any]) -> None:
        """Store a contact of another account under its id; call it in the order of ids."""
        contact_id = self._choose_copied_id(record)
        copied = {field: value for field, value in record.items() if field not in ("id", "name")}
        name = record.get("name") if copied.keys().isdisjoint(_NAME_PARTS) else None
        number, code = copied["number"], copied["country_code"]
        new = self._new_record(contact_id, self._split_name(name), number, code, OWNER)
        self._insert(account, contact_id, new | copied)

    def _new_record(
        self, record_id: int, names: Names, number: str, code: str, actor: str
    ) -> dict[str, Any]:
        """Make a new contact with all fields, stamped now."""
        now = self.clock.stamp()
        return self._make_record(
            record_id,
            **dict(zip(_NAME_PARTS, names, strict=True)),
            number=number,
            country_code=code,
            wa_phone_id=make_upstream_id(record_id, "104"),
            **dict.fromkeys(("created_at", "updated_at"), now),
            **dict.fromkeys(("created_by", "updated_by"), actor),
        )

    def _normalize_number(self, number: str, code: str) -> str:
        """Return a number in its stored form: digits, by the profile with the country code."""
        digits = number if number.isascii() and number.isdigit() else _NOT_DIGITS.sub("", number)
        if self.profile.number_form == "national" or digits.startswith(code[1:]):
            return digits
        return code[1:] + digits

    def _make_natural_key(self, record: Mapping[str, Any]) -> str:
        """Make the natural key of a contact: its number, with the country code by the profile."""
        number: str = record["number"]
        by_number = self.profile.contact_key == "number"
        return number if by_number else f"{record['country_code']} {number}"

    def _collect_extra_values(self, record: Mapping[str, Any]) -> Sequence[str]:
        """Return the searched columns of a contact: its folded name and whole number."""
        names = " ".join([record[part] for part in _NAME_PARTS if record[part] is not None])
        return names.casefold(), record["country_code"] + record["number"]

    def _encode_id(self, record_id: int) -> bytes:
        """Encode the id of a contact as the JSON of an answer."""
        return dumps({"id": self._format_id(record_id)}).encode()

    def _split_name(self, name: str | None) -> Names:
        """Split a name by the rule of the profile; three times None for no name."""
        return split_name(name, self.profile.name_split) if name else (None, None, None)


def split_name(name: str, rule: str) -> Names:
    """Split a name into first, middle and last (section Contacts, rule 2, and the profile).

    Words stand between spaces. A space too many stays with its part, so the parts joined
    by spaces are the name as it was sent.
    """
    parts = name.split(" ")
    words = [position for position, part in enumerate(parts) if part]
    if rule == "first_only" or len(words) < 2:
        return name, None, None
    first = " ".join(parts[: words[0] + 1])
    if rule == "first_last" or len(words) == 2:
        return first, None, " ".join(parts[words[0] + 1 :])
    return first, " ".join(parts[words[0] + 1 : words[-1]]), " ".join(parts[words[-1] :])
