"""The twelve writes of the API: each with a change to make, and the expected records after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bulk.wayward import (
    DOCUMENT,
    Service,
    contact,
    content,
    deletion,
    flow,
    number_of,
    patch_key,
    webhook,
)

from chatkit.bulk.changes import Change
from chatkit.client import Client

RESOURCES = {"contact": "contacts", "flow": "flows", "content": "templates", "webhook": "webhooks"}
NEWER = DOCUMENT | {"version": "7.2"}
THIRD = DOCUMENT | {"version": "7.1"}
URL = "https://hooks.example/1"


@dataclass(frozen=True)
class Operation:
    """One way to change one record of one resource."""

    noun: str
    verb: str
    begin: Callable[[Service], Change]  #: makes what it needs, and plans it
    expected: list[Any]  #: what the resource holds afterwards
    concurrent_call: Callable[[Service], object] | None  #: another change of the same record

    def __str__(self) -> str:
        return f"{self.verb} {self.noun}"

    @property
    def method(self) -> str:
        changes = "PATCH" if self.noun == "webhook" else "PUT"
        return {"create": "POST", "update": changes, "delete": "DELETE"}[self.verb]

    @property
    def resource(self) -> str:
        return RESOURCES[self.noun]

    def endpoints(self, client: Client) -> Any:
        return getattr(client, self.resource)

    def records(self, service: Service) -> list[Any]:
        """Summarize the records of the resource."""
        match self.noun:
            case "contact":
                return [(c["number"], c["first_name"]) for c in service.all("contacts")]
            case "content":
                return [
                    (c["lang_code"], c["text"]) for c in service.all("templates/greeting/contents")
                ]
            case "webhook":
                return [(w["url"], w["is_active"]) for w in service.all("webhooks")]
        flows = [service.caller("GET", f"/flows/{f['id']}").data for f in service.all("flows")]
        return [(f["name"], f["flow_json"]["version"]) for f in flows]


def _contact(service: Service) -> int:
    return service.caller.contact(number_of(1), name="Ana Cruz")


def _flow(service: Service) -> int:
    return service.caller.flow("Order", flow_json=DOCUMENT)


def _webhook(service: Service) -> int:
    return int(service.caller.webhook(URL).data["id"])


def _update_flow(service: Service) -> Change:
    before, after = {"flow_json": DOCUMENT}, {"flow_json": NEWER}
    return Change(1, "update", _flow(service), "Order", before, after)


def _update_webhook(service: Service) -> Change:
    before, after = {"is_active": True}, {"is_active": False}
    return Change(1, "update", _webhook(service), URL, before, after)


def _update_content(service: Service) -> Change:
    service.caller.content()
    before, after = {"text": "Hello"}, {"text": "Bye"}
    return Change(1, "update", "en", "greeting/en", before, after, "greeting")


def _delete_content(service: Service) -> Change:
    service.caller.content()
    return Change(1, "delete", "en", "greeting/en", {"text": "Hello"}, {}, "greeting")


def _concurrent_call(method: str, path: str, **body: Any) -> Callable[[Service], object]:
    """Return a call of another client; `{id}` is the one record of the resource."""

    def act(service: Service) -> object:
        resource = path.split("/")[1]
        result = service.all(resource)[0]["id"] if "{id}" in path else ""
        return service.caller(method, path.format(id=result), body)

    return act


_CONTACT = {"number": number_of(1), "country_code": "+1", "name": "Bo"}
_CONTENT = "/templates/greeting/contents"

OPERATIONS = [
    Operation(
        "contact", "create", lambda s: contact(1), [(number_of(1), "Ana")],
        _concurrent_call("POST", "/contacts", **_CONTACT),
    ),
    Operation(
        "contact", "update", lambda s: patch_key(1, _contact(s)), [(number_of(1), "Zoë")],
        _concurrent_call("PUT", "/contacts/{id}", **_CONTACT),
    ),
    Operation(
        "contact", "delete", lambda s: deletion(1, _contact(s)), [],
        _concurrent_call("PUT", "/contacts/{id}", **_CONTACT),
    ),
    Operation(
        "flow", "create", lambda s: flow(1, "Order"), [("Order", "7.3")],
        _concurrent_call("POST", "/flows", name="Order", template_name="other", flow_json=THIRD),
    ),
    Operation(
        "flow", "update", _update_flow, [("Order", "7.2")],
        _concurrent_call("PUT", "/flows/{id}", flow_json=THIRD),
    ),
    Operation(
        "flow", "delete", lambda s: Change(1, "delete", _flow(s), "Order", {}, {}), [], None
    ),
    Operation(
        "content", "create", lambda s: content(1), [("en", "Hello")],
        _concurrent_call("POST", _CONTENT, lang_code="en", text="Hi"),
    ),
    Operation(
        "content", "update", _update_content, [("en", "Bye")],
        _concurrent_call("PUT", f"{_CONTENT}/en", text="Hi"),
    ),
    Operation(
        "content", "delete", _delete_content, [],
        _concurrent_call("PUT", f"{_CONTENT}/en", text="Hi"),
    ),
    Operation(
        "webhook", "create", lambda s: webhook(1), [(URL, True)],
        _concurrent_call("POST", "/webhooks", url=URL, events=["chat.message.status"]),
    ),
    Operation(
        "webhook", "update", _update_webhook, [(URL, False)], None
    ),
    Operation(
        "webhook", "delete",
        lambda s: Change(1, "delete", _webhook(s), URL, {"url": URL, "is_active": True}, {}), [],
        _concurrent_call("PATCH", "/webhooks/{id}", is_active=False),
    ),
]  # fmt: skip
