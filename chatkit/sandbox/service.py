"""The service: the whole interface as a function from request to answer, without sockets."""

import json
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

from chatkit.profile import ServiceProfile
from chatkit.sandbox.access import AccessTokens
from chatkit.sandbox.clock import Clock
from chatkit.sandbox.contacts import ContactsHandler
from chatkit.sandbox.delivery import EventPublisher, Outbox, Receivers
from chatkit.sandbox.flows import FlowsHandler
from chatkit.sandbox.replies import RefusedRequest, Replies, ServiceAnswer
from chatkit.sandbox.request import OPERATIONS, Operation, Request, read_object, route
from chatkit.sandbox.resource import AllowedCall, ResourceHandler, Tools
from chatkit.sandbox.store import SandboxStore
from chatkit.sandbox.templates import TemplatesHandler
from chatkit.sandbox.webhooks import WebhooksHandler

__all__ = ["Request", "Service", "ServiceAnswer"]

# The points of a profile that are written into stored records and keys.
_STORED_POINTS = (
    "id_type",
    "timestamps",
    "contact_key",
    "tags",
)


class Service:
    """The core of the sandbox: four resources, and who may do what in them.

    `answer` may leave a write transaction open: `store.dirty` tells, and the answer must
    not be shown before `store.commit()`. Not for several threads at once.

    Raises:
        StoreError: The file was made with another profile.
    """

    def __init__(
        self, store: SandboxStore, profile: ServiceProfile, clock: Clock, account_id: str = "1001"
    ) -> None:
        self.store, self.profile, self.clock, self.account_id = store, profile, clock, account_id
        store.agree({name: getattr(profile, name) for name in _STORED_POINTS})
        self.access = AccessTokens(store, profile, clock)
        self.replies = Replies(profile)
        tools = Tools(store, profile, clock, self.replies)
        self.contacts, self.webhooks = ContactsHandler(tools), WebhooksHandler(tools)
        self.outbox, self.receivers = Outbox(store), Receivers()
        self.publisher = EventPublisher(profile, clock, self.webhooks, self.outbox, self.receivers)
        self.flows, self.templates = (
            FlowsHandler(tools, self.publisher),
            TemplatesHandler(tools, self.publisher),
        )
        self.resources: dict[str, ResourceHandler] = {
            "flows": self.flows,
            "templates": self.templates,
            "contacts": self.contacts,
            "webhooks": self.webhooks,
        }
        self._handlers: dict[Operation, Callable[..., ServiceAnswer]] = {
            operation: getattr(self.resources[operation.resource], operation.verb)
            for operation in OPERATIONS
        }

    def answer(self, request: Request) -> ServiceAnswer:
        """Do what a request asks for, or refuse it; never raises for what a request holds."""
        try:
            operation, account, values = route(request.method, request.path)
            grant = self.access.grant(request.headers.get("authorization"))
            self.access.count(grant)
            if account != grant.account:
                raise RefusedRequest("forbidden", "The access token is for another account")
            if operation.permission not in grant.permissions:
                raise RefusedRequest("forbidden", f"The access token lacks: {operation.permission}")
            body: dict[str, Any] = {}
            if operation.takes_body:
                body = read_object(request.headers, request.body, self.profile.max_body)
            return self._handlers[operation](AllowedCall(grant, values, request.query, body))
        except RefusedRequest as refusal:
            return self.replies.refuse(refusal)
        except sqlite3.Error as error:
            self.store.spoil()
            return self.replies.refuse(RefusedRequest("unavailable", f"The store failed: {error}"))

    def make_token(
        self, permissions: Iterable[str], account_id: str | None = None, actor: str | None = None
    ) -> str:
        """Make an access token with exactly these permissions, for the account or another.

        Raises:
            ValueError: A permission the API does not name.
        """
        return self.access.issue(
            permissions, account_id or self.account_id, actor or "Sandbox user"
        )

    def findings(self, resource: str, record_id: int) -> list[dict[str, Any]]:
        """What upstream would say of a flow or a template content that is stored.

        Raises:
            KeyError: There is no such resource or record.
        """
        table = {"flows": self.flows.table, "templates": self.templates.table}[resource]
        row = table.get(record_id)
        if row is None or not row.active:
            raise KeyError(record_id)
        found: list[dict[str, Any]] = json.loads(row.hidden)["findings"]
        return found

    def record_delivery(
        self, webhook_id: int, status: str, http_status: int | None, error: str | None
    ) -> None:
        """Write down the latest delivery attempt to a webhook; to be committed."""
        self.webhooks.record_delivery(self.account_id, webhook_id, status, http_status, error)
