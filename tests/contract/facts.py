"""Facts about all resources: answers, pages, access tokens and permissions."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from contract import contacts, flows, templates, webhooks
from contract.account import Account, Caller, Reply
from contract.fact import TEXT, WHOLE, Facts, Unknown, expect, object_of, shape, unknown
from contract.templates import TemplateCalls

RESOURCES = {
    "flows": flows.FlowCalls,
    "templates": TemplateCalls,
    "contacts": contacts.ContactCalls,
    "webhooks": webhooks.WebhookCalls,
}

# --- access tokens and permissions ------------------------------------------------------

#: Number, group of operations, its permission, its resource, the operations.
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


class AccessCalls:
    """Operations with the tokens of several callers, on records that were created here."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self._resources = {name: account.calls(kind) for name, kind in RESOURCES.items()}
        self._paths: dict[str, tuple[str, ...]] = {}

    def attempt(self, operation: str, resource: str, caller: Caller) -> Reply:
        calls, path = self._resources[resource], self._path(resource)
        match operation:
            case "create":
                return calls.create_as(caller)
            case "list":
                return caller.get(*path[:-1])
            case "languages":
                return caller.languages(path[1])
            case "get":
                return caller.get(*path)
            case "update":
                return caller.update(calls.method, path, calls.changes)
            case _:
                return caller.delete(*path)

    def _path(self, resource: str) -> tuple[str, ...]:
        """Return the path of a record, created once, that the operations are tried on."""
        if resource not in self._paths:
            calls = self._resources[resource]
            reply = calls.create_as(self.account.caller)
            self._paths[resource] = tuple(map(str, (*reply.call.segments, calls.key(reply))))
        return self._paths[resource]


access = Facts(AccessCalls)


@access(108, "Authentication")
def bearer_token(calls: AccessCalls) -> None:
    """Every request needs a bearer token: an invented one is refused."""
    caller = calls.account.caller_of(f"chatkit-contract-{secrets.token_hex(16)}")
    for resource in ("flows", "contacts", "webhooks"):
        reply = caller.get(resource)
        if reply.status is None:
            unknown(reply.outcome)
        expect(reply.refused, reply.outcome)


def _needs(permission: str, resource: str, operations: str) -> Callable[[AccessCalls], None]:
    def check(calls: AccessCalls) -> None:
        without = calls.account.caller_with(PERMISSIONS - {permission})
        alone = calls.account.caller_with({permission})
        for operation in operations.split():
            refused = calls.attempt(operation, resource, without)
            allowed = calls.attempt(operation, resource, alone)
            if None in (refused.status, allowed.status):
                unknown(f"{operation} brought no answer")
            expect(refused.refused, f"{operation} without it: {refused.outcome}")
            expect(allowed.ok, f"{operation} with it alone: {allowed.outcome}")

    return check


for _number, _group, _permission, _resource, _operations in _GROUPS:
    access.add(
        _number,
        f"needs_{_permission.lower().replace(', ', '_').replace(' ', '_')}",
        "Authentication",
        f"{_group} needs the permission {_permission}, and no other.",
        _needs(_permission, _resource, _operations),
    )


# --- envelope and pages ---

_PAGINATION = object_of(dict.fromkeys(("page", "pageSize", "totalCount", "totalPages"), WHOLE))


class AnswerCalls:
    """Every answer so far, and some pages."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self._resources = [account.calls(kind) for kind in RESOURCES.values()]
        self.lists = [calls.listed for calls in self._resources]
        self.lists.append(account.calls(TemplateCalls).languages)
        for calls in self._resources:
            with suppress(Unknown):
                _ = calls.created, calls.read

    @property
    def successes(self) -> list[Reply]:
        """The answers to successful calls that have a body."""
        replies = [reply for reply in self.account.replies if reply.ok and reply.status != 204]
        return replies or unknown("no call succeeded")

    def values(self, name: str) -> Iterator[tuple[Reply, Any]]:
        """Yield the answers whose envelope has a field, with its value; at least one."""
        replies = [reply for reply in self.successes if name in reply.envelope]
        for reply in replies or unknown("no answer has it"):
            yield reply, reply.envelope[name]

    def page(self, resource: str, number: int, size: int) -> Reply:
        """Read a page of a resource; the first is number 0."""
        page = self.account.profile.page_base + number
        return self.account.caller.get(resource, page=page, pageSize=size)

    def resources(self) -> list[str]:
        """Return the resources with pages that have two records or more."""
        pages = {resource: self.page(resource, 0, 2) for resource in ("flows", "contacts")}
        several = [name for name, page in pages.items() if len(page.rows_or_none()) > 1]
        return several or unknown("no list has two records")


def _has_pages(reply: Reply) -> bool:
    return reply.call.method == "GET" and reply.call.segments in (("flows",), ("contacts",))


answers = Facts(AnswerCalls)


@answers(1, "Conventions")
def paths(calls: AnswerCalls) -> None:
    """All paths begin with /api/business/public/channels/chat/accounts/ and the account."""
    if not any(reply.ok for reply in calls.lists):
        calls.lists[0].expect_success()


@answers(2, "Endpoints")
def json_bodies(calls: AnswerCalls) -> None:
    """The body of a success is JSON, in the envelope."""
    for reply in calls.successes:
        expect(reply.envelope, f"{reply.outcome} and no envelope")


@answers(3, "Response envelope")
def success_is_true(calls: AnswerCalls) -> None:
    """The field success is true on success."""
    for reply in calls.successes:
        success = not reply.envelope or reply.envelope.get("success") is True
        expect(success, f"{reply.outcome} without it")


@answers(4, "Response envelope")
def status_code(calls: AnswerCalls) -> None:
    """The field statusCode, where there is one, is a whole number: 200 or 201."""
    for reply, value in calls.values("statusCode"):
        expect(type(value) is int and value in (200, 201), f"{reply.outcome}, statusCode differs")


@answers(5, "Response envelope")
def message_is_text(calls: AnswerCalls) -> None:
    """The field message, where there is one, is text."""
    for reply, value in calls.values("message"):
        expect(TEXT.accepts(value), f"{reply.outcome} and message is {shape(value)}")


@answers(6, "Response envelope")
def data_kinds(calls: AnswerCalls) -> None:
    """The field data is an object, an array or null."""
    for reply in calls.successes:
        if reply.envelope:
            fits = type(reply.data) in (dict, list, type(None))
            expect(fits, f"{reply.outcome} and data is {shape(reply.data)}")


@answers(7, "Response envelope")
def pagination_on_pages_only(calls: AnswerCalls) -> None:
    """Only lists that have pages have pagination."""
    for reply in calls.successes:
        correct = _has_pages(reply) or "pagination" not in reply.envelope
        expect(correct, f"{reply.outcome} and pagination")


@answers(8, "Response envelope")
def pagination_fields(calls: AnswerCalls) -> None:
    """The pagination has page, pageSize, totalCount and totalPages, all whole numbers."""
    pages = [value for reply, value in calls.values("pagination") if _has_pages(reply)]
    for value in pages or unknown("no list has it"):
        expect(_PAGINATION.accepts(value), "a field is missing or no whole number")


@answers(9, "Limits")
def page_size(calls: AnswerCalls) -> None:
    """The parameters page and pageSize choose the page, and pagination repeats them."""
    base = calls.account.profile.page_base
    for resource in calls.resources():
        for number, size in ((0, 1), (1, 1), (0, 2)):
            reply = calls.page(resource, number, size)
            reply.expect_success()
            pagination = reply.envelope.get("pagination")
            if not _PAGINATION.accepts(pagination):
                unknown("pagination cannot be read")
            page = f"page {base + number} of {size} {resource}"
            expect(len(reply.rows()) == size, f"{page} has {len(reply.rows())} records")
            for name, value in (
                ("page", base + number),
                ("pageSize", size),
                ("totalPages", -(-pagination["totalCount"] // size)),
            ):
                actual = pagination[name]
                expect(actual == value, f"{page} has {name} {actual} and not {value}")


@answers(10, "Limits")
def pages_follow(calls: AnswerCalls) -> None:
    """A page goes on where the one before ended."""
    for resource in calls.resources():
        two, first, second, again = (
            [row.get("id") for row in calls.page(resource, *page).rows()]
            for page in ((0, 2), (0, 1), (1, 1), (0, 2))
        )
        if two != again:
            unknown("the list changed meanwhile")
        expect(first + second == two, f"two pages of one of the {resource} are not one of two")


#: Every fact; those about all answers come last, so that they see the answers of the others.
FACTS = [
    fact
    for part in (flows.facts, templates.facts, contacts.facts, webhooks.facts, access, answers)
    for fact in part.all
]
