"""Access: the facts about access tokens and permissions, operation by operation."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from chatkit.conformance import claim, flows
from chatkit.conformance.contacts import Contacts
from chatkit.conformance.fact import Facts, expect, not_told
from chatkit.conformance.flows import Flows
from chatkit.conformance.reply import Reply
from chatkit.conformance.templates import LANGUAGES, Templates, content
from chatkit.conformance.trial import Caller, Trial
from chatkit.conformance.webhooks import Webhooks

#: Number, group of operations, its permission, its room, the operations.
_GROUPS = (
    (109, "Listing and getting flows", "Chat Flows, View", "flows", "list get"),
    (110, "Creating a flow", "Chat Flows, Add", "flows", "create"),
    (111, "Updating a flow", "Chat Flows, Edit", "flows", "update"),
    (112, "Deleting a flow", "Chat Flows, Delete", "flows", "delete"),
    (113, "Looking up languages, listing and getting template contents",
     "Chat Templates, View", "templates", "languages list get"),
    (114, "Creating a template content", "Chat Templates, Add", "templates", "create"),
    (115, "Updating a template content", "Chat Templates, Edit", "templates", "update"),
    (116, "Deleting a template content", "Chat Templates, Delete", "templates", "delete"),
    (117, "Listing and getting contacts", "Chat Contacts, View", "contacts", "list get"),
    (118, "Creating a contact", "Chat Contacts, Add", "contacts", "create"),
    (119, "Updating a contact", "Chat Contacts, Edit", "contacts", "update"),
    (120, "Deleting a contact", "Chat Contacts, Delete", "contacts", "delete"),
    (121, "Listing webhooks", "Chat Detail, View", "webhooks", "list"),
    (122, "Creating and updating a webhook", "Chat Detail, Edit", "webhooks", "create update"),
    (123, "Deleting a webhook", "Chat Detail, Delete", "webhooks", "delete"),
)  # fmt: skip
PERMISSIONS = frozenset(permission for _, _, permission, _, _ in _GROUPS)


class Access:
    """Tries operations as one caller or another; writes touch records of the trial only."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self._flows = trial.evidence(Flows)
        self._contacts = trial.evidence(Contacts)
        self._webhooks = trial.evidence(Webhooks)
        self._targets: dict[str, tuple[str, ...]] = {}

    def attempt(self, operation: str, room: str, by: Caller) -> Reply:
        """Try one operation of a room on a record that the trial made for this."""
        at = self._target(room)
        match operation:
            case "create":
                return self._create(room, by)
            case "list":
                return by.get(*at[:-1])
            case "languages":
                return by.get(*at[:-1], "lookups", "languages")
            case "get":
                return by.get(*at)
            case "update":
                return by.change("PATCH" if room == "webhooks" else "PUT", at, self._changes(room))
            case _:
                return by.delete(*at)

    def _create(self, room: str, by: Caller) -> Reply:
        match room:
            case "flows":
                return self._flows.new(by)
            case "templates":
                return Templates(self.trial, secrets.token_hex(2)).new(LANGUAGES[0], by)
            case "contacts":
                return self._contacts.claims.new(by=by).reply
            case _:
                return self._webhooks.new(by)

    def _target(self, room: str) -> tuple[str, ...]:
        """The path of a record to try things on, made once."""
        if room not in self._targets:
            reply = self._create(room, self.trial.caller)
            last = LANGUAGES[0] if room == "templates" else str(reply.record().get("id", "0"))
            reply.expect_done()
            self._targets[room] = tuple(map(str, (*reply.call.segments, last)))
        return self._targets[room]

    def _changes(self, room: str) -> dict[str, Any]:
        match room:
            case "flows":
                return flows.changes()
            case "templates":
                return content(LANGUAGES[0], "Hello {{1}}, once more {{2}}.")
            case "contacts":
                return claim.body(self._contacts.claims.free_number(), name=self.trial.marker)
            case _:
                return {"is_active": False}


facts = Facts(Access)


@facts(108, "Authentication")
def bearer_token(seen: Access) -> None:
    """Every request needs a bearer token: one that nobody made is refused."""
    stranger = seen.trial.stranger(f"chatkit-conformance-{secrets.token_hex(16)}")
    for room in ("flows", "contacts", "webhooks"):
        reply = stranger.get(room)
        expect(reply.refused, reply.outcome) if reply.status else not_told(reply.outcome)


def _needs(permission: str, room: str, operations: str) -> Callable[[Access], None]:
    def check(seen: Access) -> None:
        others, alone = seen.trial.user(PERMISSIONS - {permission}), seen.trial.user({permission})
        for operation in operations.split():
            refused = seen.attempt(operation, room, others)
            allowed = seen.attempt(operation, room, alone)
            if None in (refused.status, allowed.status):
                not_told(f"{operation} brought no answer")
            expect(refused.refused, f"{operation} without it: {refused.outcome}")
            expect(allowed.ok, f"{operation} with it alone: {allowed.outcome}")

    return check


for _number, _group, _permission, _room, _operations in _GROUPS:
    facts.add(
        _number,
        f"needs_{_permission.lower().replace(', ', '_').replace(' ', '_')}",
        "Authentication",
        f"{_group} needs the permission {_permission}, and no other.",
        _needs(_permission, _room, _operations),
    )
