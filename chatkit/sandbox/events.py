"""Events: their families, and the payloads of the upstream messaging platform.

The API document says that such changes are forwarded and shows none of them. These have
the shape that the upstream platform documents: an object of entries of changes, each a
field and its value.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from chatkit.profile import ServiceProfile
from chatkit.sandbox.resource import make_upstream_id

Json = dict[str, Any]
Direction = Literal["inbound", "outbound"]
ALL = "*"
STATUS = "chat.message.status"
#: How far a message comes.
STATUSES = ("sent", "delivered", "read")
#: Errors that upstream gives for a message that fails: what it is, and for which template.
ERRORS: Mapping[int, str] = {
    130472: "User's number is part of an experiment",
    131026: "Message undeliverable",
    131047: "Re-engagement message",
    131049: "This message was not delivered to maintain healthy ecosystem engagement.",
    131051: "Unsupported message type",
    131053: "Media upload error",
}
_MIME = {
    "image": "image/jpeg",
    "video": "video/mp4",
    "audio": "audio/mpeg",
    "voice": "audio/ogg; codecs=opus",
    "document": "application/pdf",
    "sticker": "image/webp",
}
MEDIA = tuple(_MIME)
#: The number the account sends from: one that is kept free for fiction.
BUSINESS = "12125550100"


class FamilyKinds(NamedTuple):
    """The kind of each family of events that rule 2 of section Events lists."""

    status: str
    inbound: str
    outbound: str
    reaction: str
    media: str
    template: str
    raw: str

    @classmethod
    def from_profile(cls, profile: ServiceProfile) -> FamilyKinds:
        """Return the kinds of a profile; the kind of statuses is in the API document."""
        return cls(STATUS, *(getattr(profile, f"event_kind_{name}") for name in cls._fields[1:]))


def encode_event(
    profile: ServiceProfile, kind: str, payload: object, message_id: str, stamp: str
) -> bytes:
    """Encode an event as the body of a delivery, in the shape of the profile."""
    body: dict[str, object] = {
        "id": message_id,
        "timestamp": stamp,
        profile.event_kind_field: kind,
        profile.event_data_field: payload,
    }
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


class Person(NamedTuple):
    """A customer: a whole number in digits, and the name they gave themselves."""

    number: str
    name: str


def wrap_change(field: str, value: Json, timestamp: int | None = None) -> Json:
    """Wrap a change as upstream does; one without messages has a time of its own."""
    entry: Json = {"id": make_upstream_id(1, "102"), "changes": [{"value": value, "field": field}]}
    if timestamp is not None:
        entry["time"] = timestamp
    return {"object": "whatsapp_business_account", "entry": [entry]}


# --- messages and their statuses ------------------------------------------------------


def make_inbound(person: Person, message: Json) -> Json:
    """Make the change for a message of a customer."""
    received = {"from": person.number, **message}
    return wrap_change("messages", _make_change_value(person, messages=[received]))


def make_outbound(person: Person, message: Json) -> Json:
    """Make the change for a message that the account sent."""
    sent = {"from": BUSINESS, "to": person.number, **message}
    return wrap_change("smb_message_echoes", _make_change_value(person, message_echoes=[sent]))


def make_status_change(
    person: Person, message_id: str, name: str, timestamp: int, error: int | None, category: str
) -> Json:
    """Make the change for the status of a message of the account."""
    report: Json = {
        "id": message_id,
        "status": name,
        "timestamp": str(timestamp),
        "recipient_id": person.number,
    }
    if error is not None:
        title = ERRORS[error]
        report["errors"] = [
            {"code": error, "title": title, "message": title, "error_data": {"details": title}}
        ]
    else:
        digest = hashlib.sha256(f"{person.number} {category}".encode()).hexdigest()
        report["conversation"] = {"id": digest[:32], "origin": {"type": category}}
        report["pricing"] = {
            "billable": category != "service",
            "pricing_model": "PMP",
            "category": category,
        }
    return wrap_change("messages", _make_change_value(person, statuses=[report]))


def make_message(
    kind: str, message_id: str, timestamp: int, content: Json, reply_to: str | None = None
) -> Json:
    """Make a message; `make_inbound` and `make_outbound` add sender and recipient."""
    made: Json = {"id": message_id, "timestamp": str(timestamp), "type": kind, kind: content}
    return made | ({"context": {"from": BUSINESS, "id": reply_to}} if reply_to else {})


def make_text(body: str) -> Json:
    """Make the content of a text message."""
    return {"body": body}


def make_media(kind: str, media_id: str, caption: str | None) -> Json:
    """Make the content of a message with a file, which upstream keeps under its id."""
    content: Json = {
        "mime_type": _MIME[kind],
        "sha256": b64encode(hashlib.sha256(media_id.encode()).digest()).decode(),
        "id": media_id,
    }
    if kind == "document":
        content["filename"] = "document.pdf"
    if kind == "sticker":
        content["animated"] = False
    if kind == "voice":
        content["voice"] = True
    if caption and kind in ("image", "video", "document"):
        content["caption"] = caption
    return content


def make_reaction(message_id: str, emoji: str) -> Json:
    """Make the content of a reaction; an empty emoji removes the earlier one."""
    return {"message_id": message_id, "emoji": emoji}


def make_flow_answer(answer: Mapping[str, Any], flow_token: str) -> Json:
    """Make the content of an answered flow, with its answer as JSON text."""
    text = json.dumps({**answer, "flow_token": flow_token}, ensure_ascii=False)
    reply = {"name": "flow", "body": "Sent", "response_json": text}
    return {"type": "nfm_reply", "nfm_reply": reply}


def _make_change_value(person: Person, **content: list[Json]) -> Json:
    """Make the value of a change about a customer, with the business number."""
    metadata = {"display_phone_number": BUSINESS, "phone_number_id": make_upstream_id(1, "106")}
    contact = {"profile": {"name": person.name}, "wa_id": person.number}
    return {"messaging_product": "whatsapp", "metadata": metadata, "contacts": [contact], **content}


# --- templates and flows --------------------------------------------------------------


def make_template_status(
    content_id: int, name: str, lang_code: str, event: str, reason: str, at: int
) -> Json:
    """Make the change for a decision of upstream about a template content."""
    value = _make_template_fields(content_id, name, lang_code) | {"event": event, "reason": reason}
    return wrap_change("message_template_status_update", value, at)


def make_template_edit(content_id: int, name: str, lang_code: str, content: Json, at: int) -> Json:
    """Make the change for an edited template content."""
    value = _make_template_fields(content_id, name, lang_code)
    value["message_template_element"] = content["text"]
    if content.get("footer"):
        value["message_template_footer"] = content["footer"]
    return wrap_change("message_template_components_update", value, at)


def make_flow_status(wa_flow_id: str, name: str, old: str | None, new: str, at: int) -> Json:
    """Make the change for a flow that was created or changed its state."""
    value: Json = {"event": "FLOW_STATUS_CHANGE", "flow_id": wa_flow_id}
    if old is None:
        value["message"] = f"Flow {name} has been created with {new} status"
    else:
        value |= {"message": f"Flow {name} changed status from {old} to {new}", "old_status": old}
    return wrap_change("flows", value | {"new_status": new}, at)


def _make_template_fields(content_id: int, name: str, lang_code: str) -> Json:
    """Make the fields that name a template content in a change."""
    return {
        "message_template_id": int(make_upstream_id(content_id, "15")),
        "message_template_name": name,
        "message_template_language": lang_code,
    }
