"""The service: the whole interface as a function from request to answer, without sockets."""

import json
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

from chatkit.profile import ServiceProfile
from chatkit.sandbox.access import Access
from chatkit.sandbox.body import read_object
from chatkit.sandbox.contacts import Contacts
from chatkit.sandbox.flows import Flows
from chatkit.sandbox.message import Answer, Request
from chatkit.sandbox.news import News
from chatkit.sandbox.operations import OPERATIONS, Operation
from chatkit.sandbox.outbox import Outbox
from chatkit.sandbox.receivers import Receivers
from chatkit.sandbox.refusal import Refusal
from chatkit.sandbox.replies import Replies
from chatkit.sandbox.room import Room, Tools
from chatkit.sandbox.routes import route
from chatkit.sandbox.source import Source
from chatkit.sandbox.store import Store
from chatkit.sandbox.templates import Templates
from chatkit.sandbox.webhooks import Webhooks

__all__ = ["Answer", "Request", "Service"]

# The points of a profile that are written into stored records and keys.
_STORED_POINTS = (
    "id_type",
    "timestamps",
    "contact_key",
    "tags",
)


class Service:
    """The core of the sandbox: four rooms, and who may do what in them.

    `answer` may leave a write transaction open: `store.dirty` tells, and the answer must
    not be shown before `store.commit()`. Not for several threads at once.

    Raises:
        StoreError: The file was made with another profile.
    """

    def __init__(
        self, store: Store, profile: ServiceProfile, source: Source, account_id: str = "1001"
    ) -> None:
        self.store, self.profile, self.source, self.account_id = store, profile, source, account_id
        store.agree({name: getattr(profile, name) for name in _STORED_POINTS})
        self.access = Access(store, profile, source)
        self.replies = Replies(profile)
        tools = Tools(store, profile, source, self.replies)
        self.contacts, self.webhooks = Contacts(tools), Webhooks(tools)
        self.outbox, self.receivers = Outbox(store), Receivers()
        self.news = News(profile, source, self.webhooks, self.outbox, self.receivers)
        self.flows, self.templates = Flows(tools, self.news), Templates(tools, self.news)
        self.rooms: dict[str, Room] = {
            "flows": self.flows,
            "templates": self.templates,
            "contacts": self.contacts,
            "webhooks": self.webhooks,
        }
        self._handlers: dict[Operation, Callable[..., Answer]] = {
            operation: getattr(self.rooms[operation.room], operation.verb)
            for operation in OPERATIONS
        }

    def answer(self, request: Request) -> Answer:
        """Do what a request asks for, or refuse it; never raises for what a request holds."""
        try:
            operation, account, values = route(request.method, request.path)
            grant = self.access.grant(request.headers.get("authorization"))
            self.access.count(grant)
            if account != grant.account:
                raise Refusal("forbidden", "The access token is for another account")
            if operation.permission not in grant.permissions:
                raise Refusal("forbidden", f"The access token lacks: {operation.permission}")
            body: dict[str, Any] = {}
            if operation.takes_body:
                body = read_object(request.headers, request.body, self.profile.max_body)
            return self._handlers[operation](grant, values, request.query, body)
        except Refusal as refusal:
            return self.replies.refuse(refusal)
        except sqlite3.Error as error:
            self.store.spoil()
            return self.replies.refuse(Refusal("unavailable", f"The store failed: {error}"))

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

    def findings(self, room: str, record_id: int) -> list[dict[str, Any]]:
        """What upstream would say of a flow or a template content that is stored.

        Raises:
            KeyError: There is no such room or record.
        """
        table = {"flows": self.flows.table, "templates": self.templates.table}[room]
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
