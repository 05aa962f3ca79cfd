"""Bodies as a service sends them: the envelope of the profile around an upstream change."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from chatkit.inbox.delivery import Delivery, ReceivedDelivery, find_contact_of_body
from chatkit.inbox.events import Event, parse_events
from chatkit.inbox.store import InboxStore
from chatkit.profile import ServiceProfile

ANA, BEN = "16505550101", "447700900123"  # numbers that are kept for fiction
START = 1_750_000_000
MARCH = datetime(2026, 3, 1, 12, tzinfo=UTC)


def change(field: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "object": "whatsapp_business_account",
        "entry": [{"id": "1001", "changes": [{"field": field, "value": value}]}],
    }


def value(**lists: Sequence[Any]) -> dict[str, Any]:
    return {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "15550100", "phone_number_id": "77"},
        "contacts": [
            {"profile": {"name": "Ana"}, "wa_id": ANA},
            {"profile": {"name": "Ben"}, "wa_id": BEN},
        ],
        **lists,
    }


def enveloped(payload: Any, kind: str = "chat.message.status") -> bytes:
    return json.dumps({"id": "msg_1", "event": kind, "data": payload}).encode()


def message(number: int, kind: str = "text", who: str = ANA, **parts: Any) -> dict[str, Any]:
    parts = parts or {"text": {"body": f"words {number}"}}
    return {
        "from": who, "id": f"m{number}", "timestamp": str(START + number), "type": kind, **parts,
    }  # fmt: skip


def status(of: str, name: str, after: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "id": of, "status": name, "timestamp": str(START + after), "recipient_id": ANA, **more,
    }  # fmt: skip


def written(*contents: dict[str, Any], named: bool = True) -> bytes:
    """A delivery of messages; `named`: with a list of people, who need not have written."""
    persons = value() if named else {}
    return enveloped(change("messages", {**persons, "messages": [*contents]}))


def moved(*statuses: dict[str, Any]) -> bytes:
    """A delivery of statuses."""
    return enveloped(change("messages", value(statuses=[*statuses])))


def delivery(body: bytes, number: int = 1, **changed: Any) -> Delivery:
    at = datetime.fromtimestamp(START, UTC)
    whole = Delivery(number, at, f"id:{number}", None, True, "", True, "/", (), body)
    return whole._replace(**changed)


def taken(payload: Any, number: int = 1, profile: ServiceProfile | None = None) -> list[Event]:
    """The events of one delivery."""
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return [*parse_events(delivery(body, number), profile or ServiceProfile())]


def keep(store: InboxStore, *bodies: bytes, **changed: Any) -> None:
    """Store bodies as verified deliveries, each of its own."""
    begin = store.read_last_id()
    store.write_deliveries(
        [
            ReceivedDelivery(
                received=(START + begin + n) * 1_000_000, identity=f"id:{begin + n}",
                kind="chat.message.status", verified=True, reason="", is_json=True, path="/",
                headers="[]", body=body,
                contact=find_contact_of_body(body),
            )._replace(**changed)
            for n, body in enumerate(bodies)
        ]
    )  # fmt: skip


def entry(number: int = 0, **changed: object) -> ReceivedDelivery:
    """The delivery of one number, a second after the one before."""
    whole = ReceivedDelivery(
        received=int((MARCH + timedelta(seconds=number)).timestamp()) * 1_000_000,
        identity=f"id:{number}",
        kind="chat.message.status",
        verified=True,
        reason="",
        is_json=True,
        path="/",
        headers="[]",
        body=b'{"n":%d}' % number,
        contact="",
    )
    return whole._replace(**changed)
