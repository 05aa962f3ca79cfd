"""Service: the interface as a function from request to answer, without sockets.

A request names an operation. Its token says for which account, whether that is permitted, and
whether it is one call too many. Then the handler of the resource answers it.
"""

import json
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from math import ceil
from typing import Any

from chatkit.profile import ServiceProfile
from chatkit.sandbox.contacts import ContactsHandler
from chatkit.sandbox.delivery import DeliveryQueue, EventPublisher, Receivers
from chatkit.sandbox.flows import FlowsHandler
from chatkit.sandbox.interface import (
    Operation,
    Quirk,
    RefusedRequest,
    Request,
    ResponseBuilder,
    ServiceAnswer,
    find_operation,
    group_by_path,
    read_object,
)
from chatkit.sandbox.resource import AllowedCall, Grant, ResourceHandler
from chatkit.sandbox.store import Clock, SandboxStore
from chatkit.sandbox.templates import TemplatesHandler
from chatkit.sandbox.webhooks import WebhooksHandler

#: The resources there are: a further one is a module of its own, and a line here.
RESOURCES: tuple[type[ResourceHandler], ...] = (
    FlowsHandler,
    TemplatesHandler,
    ContactsHandler,
    WebhooksHandler,
)
OPERATIONS = tuple(operation for kind in RESOURCES for operation in kind.operations)
PATHS = group_by_path(OPERATIONS)
#: Every permission there is, in the order of the document.
PERMISSIONS = tuple(dict.fromkeys(operation.permission for operation in OPERATIONS))
# The quirks that are written into stored records.
_STORED_QUIRKS: frozenset[Quirk] = frozenset({"text_ids", "raw_flow_json"})


class Service:
    """The core of the sandbox: four resources, and the rights of access tokens.

    `answer` may leave a write transaction open: the answer must not be shown before
    `store.commit()`. Not for several threads at once.

    Raises:
        StoreError: The file was made with another profile or other quirks.
    """

    def __init__(
        self,
        store: SandboxStore,
        profile: ServiceProfile,
        clock: Clock,
        account_id: str = "1001",
        quirks: frozenset[Quirk] = frozenset(),
    ) -> None:
        self.store, self.profile, self.clock, self.account_id = store, profile, clock, account_id
        stored = ",".join(sorted(quirks & _STORED_QUIRKS))
        store.check_facts({"contact_key": profile.contact_key, "quirks": stored})
        self.access = AccessTokens(store, profile, clock)
        self.replies = ResponseBuilder(profile, quirks)
        self.queue, self.receivers = DeliveryQueue(store), Receivers()
        self.publisher = EventPublisher(profile, clock, self.queue, self.receivers)
        self.resources: dict[str, Any] = {kind.name: kind(self) for kind in RESOURCES}
        self.flows: FlowsHandler = self.resources["flows"]
        self.templates: TemplatesHandler = self.resources["templates"]
        self.contacts: ContactsHandler = self.resources["contacts"]
        self.webhooks: WebhooksHandler = self.resources["webhooks"]
        self.publisher.webhooks = self.webhooks
        self._handlers: dict[Operation, Callable[..., ServiceAnswer]] = {
            operation: getattr(resource, operation.verb)
            for resource in self.resources.values()
            for operation in resource.operations
        }

    def answer(self, request: Request) -> ServiceAnswer:
        """Answer a request, or refuse it; no request makes it raise."""
        try:
            operation, account, values = find_operation(PATHS, request.method, request.path)
            grant = self.access.find_grant(request.headers.get("authorization"))
            self.access.count_call(grant)
            if account != grant.account:
                raise RefusedRequest("forbidden", "The access token is for another account")
            if operation.permission not in grant.permissions:
                raise RefusedRequest("forbidden", f"The access token lacks: {operation.permission}")
            body: dict[str, Any] = {}
            if operation.takes_body:
                body = read_object(request.headers, request.body)
            return self._handlers[operation](AllowedCall(grant, values, request.query, body))
        except RefusedRequest as refusal:
            return self.replies.build_refusal(refusal)

    def make_token(
        self, permissions: Iterable[str], account_id: str | None = None, actor: str | None = None
    ) -> str:
        """Make an access token with exactly these permissions, for the account or another.

        Raises:
            UnknownPermission: The API does not name one of them.
        """
        return self.access.issue_token(
            permissions, account_id or self.account_id, actor or "Sandbox user"
        )


class UnknownPermission(ValueError):
    """A permission that the API does not name."""


class AccessTokens:
    """The tokens of a store; it keeps their hashes only (section Authentication)."""

    def __init__(
        self,
        store: SandboxStore,
        profile: ServiceProfile,
        clock: Clock,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._profile, self._clock, self._now = store, profile, clock, now
        store.run(
            "CREATE TABLE IF NOT EXISTS tokens (hash BLOB PRIMARY KEY, account TEXT NOT NULL,"
            " actor TEXT NOT NULL, permissions TEXT NOT NULL)"
        )
        self._grants = {
            hashed: Grant(account, actor, json.loads(permissions))
            for hashed, account, actor, permissions in store.run(
                "SELECT hash, account, actor, permissions FROM tokens"
            ).fetchall()
        }

    def issue_token(self, permissions: Iterable[str], account: str, actor: str) -> str:
        """Make a token that has exactly these permissions.

        Raises:
            UnknownPermission: The API does not name one of them.
            StoreError: It could not be stored.
        """
        grant = Grant(account, actor, permissions)
        if unknown := grant.permissions.difference(PERMISSIONS):
            raise UnknownPermission(
                f"no such permission: {', '.join(sorted(unknown))}; there are: "
                + " · ".join(PERMISSIONS)
            )
        token = self._clock.make_token()
        hashed = sha256(token.encode()).digest()
        self._store.write(
            "INSERT INTO tokens VALUES (?, ?, ?, ?)",
            (hashed, account, actor, json.dumps(sorted(grant.permissions))),
        )
        self._store.commit()
        self._grants[hashed] = grant
        return token

    def find_grant(self, authorization: str | None) -> Grant:
        """Return the rights of the token in an `Authorization` header.

        Raises:
            RefusedRequest: There is no header, it is not a bearer token, or nobody knows it.
        """
        if authorization is None:
            raise RefusedRequest("unauthenticated", "An access token is required")
        if authorization[:7].lower() != "bearer ":
            raise RefusedRequest(
                "unauthenticated", "The Authorization header must be: Bearer <token>"
            )
        # Only hashes are compared, so the time it takes tells nothing of a token.
        grant = self._grants.get(sha256(authorization[7:].encode(errors="replace")).digest())
        if grant is None:
            raise RefusedRequest("unauthenticated", "The access token is not known")
        return grant

    def is_token_of(self, token: str, account: str) -> bool:
        """Check if a token has all permissions for an account."""
        grant = self._grants.get(sha256(token.encode(errors="replace")).digest())
        return (
            grant is not None
            and grant.account == account
            and grant.permissions.issuperset(PERMISSIONS)
        )

    def count_call(self, grant: Grant) -> None:
        """Count one call of a token.

        Raises:
            RefusedRequest: The token made as many calls as it may in the last second.
        """
        limit = self._profile.rate_limit
        if limit is None:
            return
        now, calls = self._now(), grant.calls
        while calls and now - calls[0] >= 1:
            calls.popleft()
        if len(calls) >= limit:
            wait = 1 - (now - calls[0]) if calls else 1.0
            raise RefusedRequest(
                "too_many_calls",
                f"At most {limit} calls a second",
                headers={"retry-after": str(ceil(wait))},
            )
        calls.append(now)
