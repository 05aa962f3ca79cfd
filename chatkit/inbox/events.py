"""Events: what a delivery tells, taken apart. One body may hold a thousand of them.

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
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from chatkit.profile import ServiceProfile

if TYPE_CHECKING:
    from chatkit.inbox.delivery import Delivery

Family = Literal["message", "echo", "status", "call", "change", "other"]
Object = Mapping[str, Any]

#: The lists that are taken apart: what one of their elements is, or how its level is named.
_LISTS: Mapping[str, tuple[str, Family | None]] = {
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
_LONGEST_CONTACT = 200
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_SECOND = 253_402_300_799  # of the year 9999
#: The unit of a time after 2001 by how many digits it has; seconds have fewer.
_PER_SECOND = {13: 1_000, 16: 1_000_000, 19: 1_000_000_000}


class Event(NamedTuple):
    """One thing that happened: `content` as it came, and in `context` what stood around it.

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
        """The content, when it is an object."""
        return self.content if isinstance(self.content, dict) else {}

    @property
    def field(self) -> str | None:
        """The upstream platform's name for this sort of change, for instance `flows`."""
        return text(self.context.get("change", {}).get("field"))

    @property
    def type(self) -> str | None:
        """The type of a message, the name of a status, the event of another change."""
        name = "status" if self.family == "status" else "type"
        return text(self.fields.get(name) or self.fields.get("event"))

    @property
    def id(self) -> str | None:
        """The id of the message or call."""
        return text(self.fields.get("id"))

    @property
    def at(self) -> datetime | None:
        """The time of the event, as the platform says; else the time of its entry."""
        entry = self.context.get("entry", {})
        return time_of(self.fields.get("timestamp")) or time_of(entry.get("time"))

    @property
    def outbound(self) -> bool:
        """True if the business sent it."""
        if self.family == "message":  # the history holds messages of both sides
            ours = "".join(filter(str.isdigit, self.number or ""))
            return bool(ours) and text(self.fields.get("from")) == ours
        return self.family in ("echo", "status")

    @property
    def contact(self) -> str | None:
        """The number of the customer in E.164 form; without one, their user id."""
        number, *user_ids = _ids(self.fields, self._customer_fields)
        if number:
            return number
        listed, thread = self._listed, self.context.get("thread", {})
        number, *others = _ids(listed, _PERSON)
        ids = (number, *user_ids, *others, *_ids(thread, ("id", *_PERSON)))
        return next(filter(None, ids), None)

    @property
    def name(self) -> str | None:
        """The name that the customer has chosen; without one, their username."""
        sources = (self._listed, self.fields)
        profiles = [one for source in sources if isinstance(one := source.get("profile"), dict)]
        names = [text(profile.get("name")) for profile in profiles]
        names += [text(source.get("username")) for source in (*profiles, *sources)]
        return next(filter(None, names), None)

    @property
    def _customer_fields(self) -> tuple[str, ...]:
        """The fields of the content that name the customer: the number, then user ids."""
        if self.family == "status":
            return _PARTICIPANT if any(map(self.fields.get, _PARTICIPANT[:-1])) else _RECIPIENT
        return _RECEIVER if self.outbound else _SENDER

    @property
    def _listed(self) -> Object:
        """The entry of the customer in the list of contacts that came with the content."""
        if self.family in ("change", "other"):
            return {}
        around = [self.context.get("value", {})]
        if self.type != _CARDS:  # their list is what the customer sent
            around.append(self.fields)
        lists = [one for part in around if isinstance(one := part.get("contacts"), list)]
        entries = [person for one in lists for person in one if isinstance(person, dict)]
        ids = {*filter(None, _ids(self.fields, self._customer_fields))}
        matches = [person for person in entries if ids.intersection(_ids(person, _PERSON))]
        if not matches and len(entries) == 1:  # a number may be written in another form there
            user_ids = [field for field in self._customer_fields if field.endswith("user_id")]
            if not (entries[0].get("user_id") and any(map(self.fields.get, user_ids))):
                return entries[0]
        return matches[0] if matches else {}

    @property
    def number(self) -> str | None:
        """The number of the business, as it is displayed."""
        return text(self._metadata.get("display_phone_number"))

    @property
    def number_id(self) -> str | None:
        """The id of the number of the business."""
        return text(self._metadata.get("phone_number_id"))

    @property
    def _metadata(self) -> Object:
        metadata = self.context.get("value", {}).get("metadata")
        return metadata if isinstance(metadata, dict) else {}

    @property
    def media(self) -> tuple[str, Object] | None:
        """The kind of file that a message carries, and what is told of it."""
        for kind in _MEDIA:
            file = self.fields.get(kind)
            if isinstance(file, dict):
                return kind, file
        return None

    @property
    def reply_to(self) -> str | None:
        """The id of the message that a message answers."""
        context = self.fields.get("context")
        return text(context.get("id")) if isinstance(context, dict) else None

    @property
    def changes(self) -> str | None:
        """The id of the message that a message edits or takes back."""
        part = self.fields.get(self.type or "")
        return text(part.get("original_message_id")) if isinstance(part, dict) else None

    @property
    def reaction(self) -> tuple[str, str | None] | None:
        """The id of the message that is reacted to, and the emoji; None takes it back."""
        reaction = self.fields.get("reaction")
        if self.type != "reaction" or not isinstance(reaction, dict):
            return None
        to = text(reaction.get("message_id"))
        return (to, text(reaction.get("emoji")) or None) if to else None

    @property
    def error(self) -> tuple[str | None, str | None] | None:
        """The code and the words of why a message failed, as the platform says."""
        errors = self.fields.get("errors")
        first = errors[0] if isinstance(errors, list) and errors else None
        if not isinstance(first, dict):
            return None
        data = first.get("error_data")
        details = text(data.get("details")) if isinstance(data, dict) else None
        title = text(first.get("title")) or text(first.get("message"))
        message = ": ".join(dict.fromkeys(one for one in (title, details) if one))
        return text(first.get("code")), message or None

    @property
    def text(self) -> str | None:
        """The text that a person would read first: the words, the caption, the button pressed."""
        return words(self.fields)


def events(delivery: Delivery, profile: ServiceProfile) -> Iterator[Event]:
    """Take a delivery apart. A body that is no JSON is one event: its content is its text."""
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
    for place, (family, content, around) in enumerate(_apart(body, "body", None, context)):
        yield Event(delivery.id, place, *about, family, content, around)


def contact_in(body: Any) -> str:
    """Return the one contact that a decoded body is about; empty when it is none, or several.

    It is the same whichever field a profile calls that of the data: each is taken for it. So
    what a reader with any profile finds is of this contact, or it is empty.
    """
    one = ""
    try:
        values: list[Any] = [body]
        if isinstance(body, dict):
            values += [one for one in body.values() if isinstance(one, dict | list)]
        for value in values:
            for family, content, around in _apart(value, "body", None, {}):
                contact = Event(0, 0, _NO_TIME, False, None, family, content, around).contact
                if contact and contact != one:
                    if one:
                        return ""
                    one = contact
    except RecursionError:  # who reads it finds none either
        return ""
    plain = len(one) <= _LONGEST_CONTACT and one.isprintable()  # what any database takes
    return one if plain else ""


def _apart(
    value: Any, level: str, family: Family | None, context: Mapping[str, Object]
) -> Iterator[tuple[Family, Any, Mapping[str, Object]]]:
    """Take one level apart."""
    if family is not None:
        yield family if isinstance(value, dict) else "other", value, context
        return
    if level == "body" and isinstance(value, list) and value:
        for one in value:
            yield from _apart(one, level, None, context)
        return
    if isinstance(value, dict):
        lists = {n: v for n, v in value.items() if n in _LISTS and isinstance(v, list) and v}
        inner = value.get("value")
        if level in ("body", "change") and isinstance(inner, dict) and not lists:
            rest = {name: one for name, one in value.items() if name != "value"}
            yield from _apart(inner, "value", None, {**context, "change": rest})
            return
        if lists:
            rest = {name: one for name, one in value.items() if name not in lists}
            # A value that came without its change is a value all the same.
            own = "value" if level == "body" and "entry" not in lists else level
            around = {**context, own: rest}
            for name, elements in lists.items():
                below, kind = _LISTS[name]
                for one in elements:
                    yield from _apart(one, below, kind, around)
            return
    yield _alone(value, level), value, context


def _alone(value: Any, level: str) -> Family:
    """Return the family of a body without lists: a single message, a status, or something else."""
    if level == "body" and isinstance(value, dict) and isinstance(value.get("id"), str):
        status, kind = value.get("status"), value.get("type")
        listed = isinstance(value.get("contacts"), list)
        if isinstance(status, str) and (
            not value.keys().isdisjoint(_RECIPIENT) or (listed and status in _STATUSES)
        ):
            return "status"
        if isinstance(kind, str) and not value.keys().isdisjoint((*_SENDER, *_RECEIVER[1:])):
            # A business has no user id: whoever has one is the customer.
            to_user = not value.keys().isdisjoint(_RECEIVER[1:])
            by_user = not value.keys().isdisjoint(_SENDER[1:])
            return "echo" if to_user or ("to" in value and not by_user) else "message"
        if listed and isinstance(kind, str) and kind != _CARDS and kind in value:
            return "message"
    return "change" if level == "value" and isinstance(value, dict) else "other"


def words(content: Object) -> str | None:
    """Return the words in a message, whatever its type; None when there are none."""
    kind = content.get("type")
    part = content.get(kind) if isinstance(kind, str) else None
    if isinstance(part, list):
        names = [one.get("name") for one in part if isinstance(one, dict)]
        full = [name.get("formatted_name") for name in names if isinstance(name, dict)]
        return ", ".join(one for one in full if isinstance(one, str)) or None
    if not isinstance(part, dict):
        return None
    if kind == "interactive":
        reply = part.get(str(part.get("type")))
        part = reply if isinstance(reply, dict) else {}
    if kind == "edit" and isinstance(part.get("message"), dict):
        return words(part["message"])
    fields = ("body", "caption", "text", "title", "emoji", "name", "address", "filename")
    return next((one for one in map(part.get, fields) if isinstance(one, str) and one), None)


def answers(content: Object) -> tuple[dict[str, Any] | None, str | None]:
    """Return the answers that a customer gave in a flow, and its text when that cannot be read."""
    interactive = content.get("interactive")
    reply = interactive.get("nfm_reply") if isinstance(interactive, dict) else None
    if not isinstance(reply, dict):
        return None, None
    written = reply.get("response_json")
    if isinstance(written, dict):
        return written, None
    try:
        answer = msgspec.json.decode(written) if isinstance(written, str) else None
    except (msgspec.DecodeError, RecursionError):
        answer = None
    if isinstance(answer, dict):
        return answer, None
    return {}, written if isinstance(written, str) else json.dumps(written)


def _ids(fields: Object, names: Iterable[str]) -> list[str | None]:
    """Return what names a person: numbers in E.164 form, user ids as they are."""
    values = ((name, text(fields.get(name))) for name in names)
    return [value if name.endswith("user_id") else e164(value) for name, value in values]


def text(value: Any) -> str | None:
    """Return a text; a number as its digits. Anything else is none."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def time_of(value: Any) -> datetime | None:
    """Read a time since 1970, a number or its digits: seconds; 13 digits are milliseconds."""
    digits = text(value)
    if not digits or not digits.isascii() or not digits.isdigit() or len(digits) > 19:
        return None
    number, unit = int(digits), _PER_SECOND.get(len(digits), 1)
    if number > _LAST_SECOND * unit:
        return None
    return _NO_TIME + timedelta(microseconds=number * 1_000_000 // unit)


def contact_of(written: str) -> str:
    """Read a contact as people write it: a number in any notation, or another name."""
    contact = written.strip()
    digits = re.sub(r"[\s\u200b-\u200f\u202a-\u202e\u2060-\u2069().+/-]", "", contact)
    if not (digits.isascii() and digits.isdigit()):
        return contact
    if contact.startswith(("+", "00")):  # a (0) is for those who dial without the country code
        digits = re.sub(r"[^0-9]", "", contact.replace("(0)", ""))
    return e164(digits if contact.startswith("+") else digits.removeprefix("00")) or ""


def e164(number: str | None) -> str | None:
    """Return a number as contacts have it, country code and digits; anything else as it is."""
    if number and number.isascii() and number.isdigit() and 5 <= len(number) <= 15:
        return f"+{number}"
    return number
