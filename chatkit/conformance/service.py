"""The service: facts that hold for all resources, about its answers, its pages and its tokens."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from chatkit.conformance.contacts import ContactEvidence
from chatkit.conformance.fact import TEXT, WHOLE, Facts, expect, not_told, shape
from chatkit.conformance.flows import FlowEvidence
from chatkit.conformance.templates import TemplateEvidence
from chatkit.conformance.trial import Caller, ResourceEvidence, Trial, TrialReply
from chatkit.conformance.webhooks import WebhookEvidence

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


class AccessEvidence:
    """Tries operations as one caller or another; writes touch records of the trial only."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self._resources: dict[str, ResourceEvidence] = {
            "flows": trial.evidence(FlowEvidence),
            "templates": trial.evidence(TemplateEvidence),
            "contacts": trial.evidence(ContactEvidence),
            "webhooks": trial.evidence(WebhookEvidence),
        }
        self._targets: dict[str, tuple[str, ...]] = {}

    def attempt(self, operation: str, resource: str, by: Caller) -> TrialReply:
        """Try one operation of a resource on a record that the trial made for this."""
        evidence, at = self._resources[resource], self._target(resource)
        match operation:
            case "create":
                return evidence.another(by)
            case "list":
                return by.get(*at[:-1])
            case "languages":
                return by.languages(at[1])
            case "get":
                return by.get(*at)
            case "update":
                return by.change(evidence.method, at, evidence.changes)
            case _:
                return by.delete(*at)

    def _target(self, resource: str) -> tuple[str, ...]:
        """The path of a record to try things on, made once."""
        if resource not in self._targets:
            evidence = self._resources[resource]
            reply = evidence.another(self.trial.caller)
            key = evidence.key(reply)
            reply.expect_done()
            self._targets[resource] = tuple(map(str, (*reply.call.segments, key)))
        return self._targets[resource]


access = Facts(AccessEvidence)


@access(108, "Authentication")
def bearer_token(seen: AccessEvidence) -> None:
    """Every request needs a bearer token: one that nobody made is refused."""
    stranger = seen.trial.caller_of(f"chatkit-conformance-{secrets.token_hex(16)}")
    for resource in ("flows", "contacts", "webhooks"):
        reply = stranger.get(resource)
        expect(reply.refused, reply.outcome) if reply.status else not_told(reply.outcome)


def _needs(permission: str, resource: str, operations: str) -> Callable[[AccessEvidence], None]:
    def check(seen: AccessEvidence) -> None:
        others, alone = (
            seen.trial.caller_with(PERMISSIONS - {permission}),
            seen.trial.caller_with({permission}),
        )
        for operation in operations.split():
            refused = seen.attempt(operation, resource, others)
            allowed = seen.attempt(operation, resource, alone)
            if None in (refused.status, allowed.status):
                not_told(f"{operation} brought no answer")
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


# --- envelope and pages: what all answers tell ------------------------------------------

_FIELDS = ("page", "pageSize", "totalCount", "totalPages")


class AnswerEvidence:
    """Every answer of a trial so far, and some pages."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self._call = trial.caller

    @cached_property
    def paged(self) -> list[TrialReply]:
        """The lists that have pages."""
        return [
            self.trial.evidence(FlowEvidence).listed,
            self.trial.evidence(ContactEvidence).listed,
        ]

    @cached_property
    def whole(self) -> list[TrialReply]:
        """The lists that have none."""
        contents = self.trial.evidence(TemplateEvidence)
        return [self.trial.evidence(WebhookEvidence).listed, contents.listed, contents.languages]

    @property
    def successes(self) -> list[TrialReply]:
        """The answers of successful calls, those without a body left out."""
        found = [reply for reply in self.trial.replies if reply.ok and reply.status != 204]
        return found or not_told("no call succeeded")

    def values(self, name: str) -> Iterator[tuple[TrialReply, Any]]:
        """The answers whose envelope has a field, with its value; at least one."""
        found = [r for r in self.successes if name in r.envelope]
        for reply in found or not_told("no answer has it"):
            yield reply, reply.envelope[name]

    def page(self, resource: str, number: int, size: int) -> TrialReply:
        """A page of a resource; the first is number 0."""
        base = self.trial.profile.page_base
        return self._call.page(resource, base + number, size)

    def resources(self) -> Sequence[str]:
        """The resources with pages that have two records or more."""
        pages = {resource: self.page(resource, 0, 2) for resource in ("flows", "contacts")}
        found = [resource for resource, page in pages.items() if page.ok and len(page.rows()) > 1]
        return found or not_told("no list has two records")


def _has_pages(reply: TrialReply) -> bool:
    return reply.call.method == "GET" and reply.call.segments in (("flows",), ("contacts",))


answers = Facts(AnswerEvidence)


@answers(1, "Conventions")
def paths(seen: AnswerEvidence) -> None:
    """All paths begin with /api/business/public/channels/chat/accounts/ and the account."""
    lists = [*seen.paged, *seen.whole]
    if not any(reply.ok for reply in lists):
        lists[0].expect_success()


@answers(2, "Endpoints")
def json_bodies(seen: AnswerEvidence) -> None:
    """The body of a success is JSON, in the envelope."""
    for reply in seen.successes:
        expect(reply.envelope, f"{reply.outcome} and something else")


@answers(3, "Response envelope")
def success_is_true(seen: AnswerEvidence) -> None:
    """The field success is true on success."""
    for reply in seen.successes:
        if reply.envelope:
            expect(reply.envelope.get("success") is True, f"{reply.outcome} without it")


@answers(4, "Response envelope")
def status_code(seen: AnswerEvidence) -> None:
    """The field statusCode, where there is one, is a whole number: 200 or 201."""
    for reply, value in seen.values("statusCode"):
        expect(type(value) is int and value in (200, 201), f"{reply.outcome} and another")


@answers(5, "Response envelope")
def message_is_text(seen: AnswerEvidence) -> None:
    """The field message, where there is one, is text."""
    for reply, value in seen.values("message"):
        expect(TEXT.fits(value), f"{reply.outcome} and message is {shape(value)}")


@answers(6, "Response envelope")
def data_kinds(seen: AnswerEvidence) -> None:
    """The field data is an object, an array or null."""
    for reply in seen.successes:
        if reply.envelope:
            fits = "data" in reply.envelope and type(reply.data) in (dict, list, type(None))
            expect(fits, f"{reply.outcome} and something else")


@answers(7, "Response envelope")
def pagination_on_pages_only(seen: AnswerEvidence) -> None:
    """Only lists that have pages have pagination."""
    for reply in seen.successes:
        right = _has_pages(reply) or "pagination" not in reply.envelope
        expect(right, f"{reply.outcome} and pagination")


@answers(8, "Response envelope")
def pagination_fields(seen: AnswerEvidence) -> None:
    """The pagination has page, pageSize, totalCount and totalPages, all whole numbers."""
    pages = [(reply, value) for reply, value in seen.values("pagination") if _has_pages(reply)]
    for _, value in pages or not_told("no list has it"):
        for name in _FIELDS:
            there = type(value) is dict and WHOLE.fits(value.get(name))
            expect(there, f"{name} is missing or no whole number")


@answers(9, "Limits")
def page_size(seen: AnswerEvidence) -> None:
    """The parameters page and pageSize choose the page, and pagination tells of it."""
    base = seen.trial.profile.page_base
    for resource in seen.resources():
        for number, size in ((0, 1), (1, 1), (0, 2)):
            reply = seen.page(resource, number, size)
            reply.expect_success()
            told = reply.envelope.get("pagination")
            if type(told) is not dict or not all(WHOLE.fits(told.get(name)) for name in _FIELDS):
                not_told("pagination cannot be read")
            asked = f"page {base + number} of {size} {resource}"
            expect(len(reply.rows()) == size, f"{asked} has {len(reply.rows())} records")
            expect(told["page"] == base + number, f"{asked} says it is page {told['page']}")
            expect(told["pageSize"] == size, f"{asked} says its size is {told['pageSize']}")
            expect(told["totalPages"] == -(-told["totalCount"] // size),
                   f"{asked} says there are {told['totalPages']} pages for "
                   f"{told['totalCount']} records")  # fmt: skip


@answers(10, "Limits")
def pages_follow(seen: AnswerEvidence) -> None:
    """A page goes on where the one before ended."""
    for resource in seen.resources():
        asked = ((0, 2), (0, 1), (1, 1), (0, 2))
        two, first, second, again = (
            [row.get("id") for row in seen.page(resource, *page).rows()] for page in asked
        )
        if two != again:
            not_told("the list moved meanwhile")
        expect(first + second == two, f"two pages of one of the {resource} are not one page of two")
