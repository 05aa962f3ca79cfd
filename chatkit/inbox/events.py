"""Events: splits the body of a delivery into events, of which it may hold a thousand.

The API document shows no body (section Events). So of the envelope only the two fields
that the profile names are assumed, and inside it the shapes of the upstream platform are
looked for: entries with changes, a change, its value, a single message or status, in any
of these depths. What has none of these shapes is an event too, of the family `other`.
Nothing gets lost: what stands around an event is its `context`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from chatkit.profile import ServiceProfile
from chatkit.util.json import find_value

if TYPE_CHECKING:
    from chatkit.inbox.delivery import Delivery

Family = Literal["message", "echo", "status", "call", "change", "other"]
Object = Mapping[str, Any]

#: The lists that are taken apart: what one of their elements is, or how its level is named.
_NESTED_LISTS: Mapping[str, tuple[str, Family | None]] = {
    "entry": ("entry", None),
    "changes": ("change", None),
    "history": ("history", None),
    "threads": ("thread", None),
    "messages": ("message", "message"),
    "message_echoes": ("echo", "echo"),
    "statuses": ("status", "status"),
    "calls": ("call", "call"),
}
_MEDIA = ("image", "video", "audio", "document", "sticker")
_CARDS = "contacts"  # the type of a message of address cards
#: The fields that name a customer, the number first: it is missing for who has a username.
_PERSON = ("wa_id", "user_id", "parent_user_id")
_SENDER = ("from", "from_user_id", "from_parent_user_id")
_RECEIVER = ("to", "to_user_id", "to_parent_user_id")
_RECIPIENT = ("recipient_id", "recipient_user_id", "recipient_parent_user_id")
#: Of a message to a group, whose own id is that of the recipient.
_PARTICIPANT = (
    *("recipient_participant_id", "recipient_participant_user_id"),
    *("recipient_participant_parent_user_id", "recipient_id"),
)
_STATUSES = {"sent", "delivered", "read", "played", "failed"}
_MAX_CONTACT = 200
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_SECOND = 253_402_300_799  # of the year 9999
#: The unit of a time after 2001 by how many digits it has; seconds have fewer.
_PER_SECOND = {13: 1_000, 16: 1_000_000, 19: 1_000_000_000}


class Event(NamedTuple):
    """One event: `content` as it came, and in `context` the levels around it.

    `context` has a key for each level: `envelope`, `body`, `entry`, `change`, `value` …
    """

    delivery: int
    place: int
    received_at: datetime
    verified: bool
    kind: str | None
    family: Family
    content: Any
    context: Mapping[str, Object]

    @property
    def fields(self) -> Object:
        """The content if it is an object, else {}."""
        return self.content if isinstance(self.content, dict) else {}

    @property
    def field(self) -> str | None:
        """The upstream platform's name for this sort of change, for instance `flows`."""
        return convert_to_text(self.context.get("change", {}).get("field"))

    @property
    def type(self) -> str | None:
        """The type of a message, the name of a status, the event of another change."""
        name = "status" if self.family == "status" else "type"
        return convert_to_text(self.fields.get(name) or self.fields.get("event"))

    @property
    def id(self) -> str | None:
        """The id of the message or call."""
        return convert_to_text(self.fields.get("id"))

    @property
    def at(self) -> datetime | None:
        """The time of the event, as the platform says; else the time of its entry."""
        entry = self.context.get("entry", {})
        return parse_timestamp(self.fields.get("timestamp")) or parse_timestamp(entry.get("time"))

    @property
    def outbound(self) -> bool:
        """True if the business sent it."""
        if self.family == "message":  # the history holds messages of both sides
            ours = "".join(filter(str.isdigit, self.number or ""))
            return bool(ours) and convert_to_text(self.fields.get("from")) == ours
        return self.family in ("echo", "status")

    @property
    def contact(self) -> str | None:
        """The number of the customer in E.164 form, or else their user id."""
        number, *user_ids = _read_ids(self.fields, self._customer_fields)
        if number:
            return number
        entry, thread = self._contact_entry, self.context.get("thread", {})
        number, *others = _read_ids(entry, _PERSON)
        ids = (number, *user_ids, *others, *_read_ids(thread, ("id", *_PERSON)))
        return next(filter(None, ids), None)

    @property
    def name(self) -> str | None:
        """The name that the customer has chosen, or else their username."""
        sources = (self._contact_entry, self.fields)
        profiles = [one for source in sources if isinstance(one := source.get("profile"), dict)]
        names = [convert_to_text(profile.get("name")) for profile in profiles]
        names += [convert_to_text(source.get("username")) for source in (*profiles, *sources)]
        return next(filter(None, names), None)

    @property
    def _customer_fields(self) -> tuple[str, ...]:
        """The fields of the content that name the customer: the number, then user ids."""
        if self.family == "status":
            return _PARTICIPANT if any(map(self.fields.get, _PARTICIPANT[:-1])) else _RECIPIENT
        return _RECEIVER if self.outbound else _SENDER

    @property
    def _contact_entry(self) -> Object:
        """The entry of the customer in the list of contacts that came with the content."""
        if self.family in ("change", "other"):
            return {}
        around = [self.context.get("value", {})]
        if self.type != _CARDS:  # their list is what the customer sent
            around.append(self.fields)
        lists = [one for part in around if isinstance(one := part.get("contacts"), list)]
        entries = [person for one in lists for person in one if isinstance(person, dict)]
        ids = {*filter(None, _read_ids(self.fields, self._customer_fields))}
        matches = [person for person in entries if ids.intersection(_read_ids(person, _PERSON))]
        if not matches and len(entries) == 1:  # a number may be written in another form there
            user_ids = [field for field in self._customer_fields if field.endswith("user_id")]
            if not (entries[0].get("user_id") and any(map(self.fields.get, user_ids))):
                return entries[0]
        return matches[0] if matches else {}

    @property
    def number(self) -> str | None:
        """The number of the business, as it is displayed."""
        return convert_to_text(find_value(self.context, "/value/metadata/display_phone_number"))

    @property
    def number_id(self) -> str | None:
        """The id of the number of the business."""
        return convert_to_text(find_value(self.context, "/value/metadata/phone_number_id"))

    @property
    def media(self) -> tuple[str, Object] | None:
        """The kind of the file in a message, and its fields."""
        files = ((kind, self.fields.get(kind)) for kind in _MEDIA)
        return next(((kind, file) for kind, file in files if isinstance(file, dict)), None)

    @property
    def reply_to(self) -> str | None:
        """The id of the message that a message answers."""
        return convert_to_text(find_value(self.fields, "/context/id"))

    @property
    def changes(self) -> str | None:
        """The id of the message that a message edits or takes back."""
        part = self.fields.get(self.type or "")
        return convert_to_text(find_value(part, "/original_message_id"))

    @property
    def reaction(self) -> tuple[str, str | None] | None:
        """The id of the message reacted to, and the emoji: None where it is taken back."""
        to = convert_to_text(find_value(self.fields, "/reaction/message_id"))
        if self.type != "reaction" or not to:
            return None
        return to, convert_to_text(find_value(self.fields, "/reaction/emoji")) or None

    @property
    def error(self) -> tuple[str | None, str | None] | None:
        """The code and the text of the error of a failed message."""
        errors = self.fields.get("errors")
        first = errors[0] if isinstance(errors, list) and errors else None
        if not isinstance(first, dict):
            return None
        pointers = ("/code", "/title", "/message", "/error_data/details")
        code, title, text, details = (convert_to_text(find_value(first, p)) for p in pointers)
        return code, ": ".join(dict.fromkeys(filter(None, (title or text, details)))) or None

    @property
    def text(self) -> str | None:
        """The text of a message: its body, caption, or the button pressed."""
        return read_message_text(self.fields)


def parse_events(delivery: Delivery, profile: ServiceProfile) -> Iterator[Event]:
    """Yield the events of a delivery; a body that is no JSON is one event."""
    try:
        body = msgspec.json.decode(delivery.content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        body = delivery.content.decode("utf-8", "replace")
    context: dict[str, Object] = {}
    kind, data = profile.event_kind_field, profile.event_data_field
    if isinstance(body, dict) and isinstance(body.get(kind), str) and data in body:
        context["envelope"] = {name: value for name, value in body.items() if name != data}
        body = body[data]
    about = (delivery.received_at, delivery.verified, delivery.kind)
    for place, (family, content, around) in enumerate(_split_level(body, "body", None, context)):
        yield Event(delivery.id, place, *about, family, content, around)


def find_contact(body: Any) -> str:
    """Return the only contact that a decoded body is about; empty for none or several.

    It is the same whichever field a profile calls that of the data: each is taken for it. So
    what a reader with any profile finds is of this contact, or it is empty.
    """
    only = ""
    try:
        values: list[Any] = [body]
        if isinstance(body, dict):
            values += [value for value in body.values() if isinstance(value, dict | list)]
        for value in values:
            for family, content, around in _split_level(value, "body", None, {}):
                contact = Event(0, 0, _NO_TIME, False, None, family, content, around).contact
                if contact and contact != only:
                    if only:
                        return ""
                    only = contact
    except RecursionError:  # who reads it finds none either
        return ""
    storable = len(only) <= _MAX_CONTACT and only.isprintable()  # what any database takes
    return only if storable else ""


def _split_level(
    value: Any, level: str, family: Family | None, context: Mapping[str, Object]
) -> Iterator[tuple[Family, Any, Mapping[str, Object]]]:
    """Yield the family, content and context of each event in one level of a body."""
    if family is not None:
        yield family if isinstance(value, dict) else "other", value, context
        return
    if level == "body" and isinstance(value, list) and value:
        for element in value:
            yield from _split_level(element, level, None, context)
        return
    if isinstance(value, dict):
        lists = {n: v for n, v in value.items() if n in _NESTED_LISTS and isinstance(v, list) and v}
        inner = value.get("value")
        if level in ("body", "change") and isinstance(inner, dict) and not lists:
            remaining = {name: element for name, element in value.items() if name != "value"}
            yield from _split_level(inner, "value", None, {**context, "change": remaining})
            return
        if lists:
            remaining = {name: element for name, element in value.items() if name not in lists}
            # A value that came without its change is a value all the same.
            own_level = "value" if level == "body" and "entry" not in lists else level
            inner_context = {**context, own_level: remaining}
            for name, elements in lists.items():
                below, kind = _NESTED_LISTS[name]
                for element in elements:
                    yield from _split_level(element, below, kind, inner_context)
            return
    yield _classify_event(value, level), value, context


def _classify_event(value: Any, level: str) -> Family:
    """Return the family of content that stands in no list which names it."""
    if level == "body" and isinstance(value, dict) and isinstance(value.get("id"), str):
        status, kind = value.get("status"), value.get("type")
        has_contacts = isinstance(value.get("contacts"), list)
        if isinstance(status, str) and (
            not value.keys().isdisjoint(_RECIPIENT) or (has_contacts and status in _STATUSES)
        ):
            return "status"
        if isinstance(kind, str) and not value.keys().isdisjoint((*_SENDER, *_RECEIVER[1:])):
            # A business has no user id: whoever has one is the customer.
            to_user = not value.keys().isdisjoint(_RECEIVER[1:])
            by_user = not value.keys().isdisjoint(_SENDER[1:])
            return "echo" if to_user or ("to" in value and not by_user) else "message"
        if has_contacts and isinstance(kind, str) and kind != _CARDS and kind in value:
            return "message"
    return "change" if level == "value" and isinstance(value, dict) else "other"


def read_message_text(content: Object) -> str | None:
    """Return the text of a message of any type; None without one."""
    kind = content.get("type")
    part = content.get(kind) if isinstance(kind, str) else None
    if isinstance(part, list):
        names = (find_value(one, "/name/formatted_name") for one in part)
        return ", ".join(name for name in names if isinstance(name, str)) or None
    if kind == "interactive" and isinstance(part, dict):
        part = part.get(str(part.get("type")))
    if not isinstance(part, dict):
        return None
    if kind == "edit" and isinstance(part.get("message"), dict):
        return read_message_text(part["message"])
    fields = ("body", "caption", "text", "title", "emoji", "name", "address", "filename")
    return next((one for one in map(part.get, fields) if isinstance(one, str) and one), None)


def read_flow_answers(content: Object) -> tuple[dict[str, Any] | None, str | None]:
    """Return the answers to a flow in a message, or their text if it cannot be parsed."""
    reply = find_value(content, "/interactive/nfm_reply")
    if not isinstance(reply, dict):
        return None, None
    written = answer = reply.get("response_json")
    if isinstance(written, str):
        with suppress(msgspec.DecodeError, RecursionError):
            answer = msgspec.json.decode(written)
    if isinstance(answer, dict):
        return answer, None
    return {}, written if isinstance(written, str) else json.dumps(written)


def _read_ids(fields: Object, names: Iterable[str]) -> list[str | None]:
    """Return the fields that name a person: numbers in E.164 form, user ids as they are."""
    values = ((name, convert_to_text(fields.get(name))) for name in names)
    return [value if name.endswith("user_id") else format_e164(value) for name, value in values]


def convert_to_text(value: Any) -> str | None:
    """Return a text or a whole number as text; None for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def parse_timestamp(value: Any) -> datetime | None:
    """Parse a number since 1970: seconds, or by its digits milliseconds and finer units."""
    digits = convert_to_text(value)
    if not digits or not digits.isascii() or not digits.isdigit() or len(digits) > 19:
        return None
    number, unit = int(digits), _PER_SECOND.get(len(digits), 1)
    if number > _LAST_SECOND * unit:
        return None
    return _NO_TIME + timedelta(microseconds=number * 1_000_000 // unit)


def parse_contact(written: str) -> str:
    """Parse a contact: a number in any notation, or another name as it is."""
    contact = written.strip()
    digits = re.sub(r"[\s\u200b-\u200f\u202a-\u202e\u2060-\u2069().+/-]", "", contact)
    if not (digits.isascii() and digits.isdigit()):
        return contact
    if contact.startswith(("+", "00")):  # a (0) is for those who dial without the country code
        digits = re.sub(r"[^0-9]", "", contact.replace("(0)", ""))
    return format_e164(digits if contact.startswith("+") else digits.removeprefix("00")) or ""


def format_e164(number: str | None) -> str | None:
    """Put a + before digits with a country code; return anything else as it is."""
    if number and number.isascii() and number.isdigit() and 5 <= len(number) <= 15:
        return f"+{number}"
    return number
