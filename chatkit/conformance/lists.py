"""Lists: the facts about the envelope and about pages, told by all rooms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from chatkit.conformance.contacts import Contacts
from chatkit.conformance.fact import Facts, expect, not_told
from chatkit.conformance.field import TEXT, WHOLE, shape
from chatkit.conformance.flows import Flows
from chatkit.conformance.reply import Reply
from chatkit.conformance.templates import Templates
from chatkit.conformance.trial import Trial
from chatkit.conformance.webhooks import Webhooks

_FIELDS = ("page", "pageSize", "totalCount", "totalPages")


class Lists:
    """Every answer of a trial so far, and some pages."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self._call = trial.caller

    @cached_property
    def paged(self) -> list[Reply]:
        """The lists that have pages."""
        return [self.trial.evidence(Flows).listed, self.trial.evidence(Contacts).listed]

    @cached_property
    def whole(self) -> list[Reply]:
        """The lists that have none."""
        contents = self.trial.evidence(Templates)
        return [self.trial.evidence(Webhooks).listed, contents.listed, contents.languages]

    @property
    def successes(self) -> list[Reply]:
        """The answers of successful calls, those without a body left out."""
        found = [reply for reply in self.trial.replies if reply.ok and reply.status != 204]
        return found or not_told("no call succeeded")

    def values(self, name: str) -> Iterator[tuple[Reply, Any]]:
        """The answers whose envelope has a field, with its value; at least one."""
        found = [r for r in self.successes if name in r.envelope]
        for reply in found or not_told("no answer has it"):
            yield reply, reply.envelope[name]

    def page(self, room: str, number: int, size: int) -> Reply:
        """A page of a room; the first is number 0."""
        base = self.trial.profile.page_base
        return self._call.get(room, page=base + number, pageSize=size)

    def rooms(self) -> Sequence[str]:
        """The rooms with pages that have two records or more."""
        pages = {room: self.page(room, 0, 2) for room in ("flows", "contacts")}
        found = [room for room, page in pages.items() if page.ok and len(page.rows()) > 1]
        return found or not_told("no list has two records")


def _has_pages(reply: Reply) -> bool:
    return reply.call.method == "GET" and reply.call.segments in (("flows",), ("contacts",))


facts = Facts(Lists)


@facts(1, "Conventions")
def paths(seen: Lists) -> None:
    """All paths begin with /api/business/public/channels/chat/accounts/ and the account."""
    lists = [*seen.paged, *seen.whole]
    if not any(reply.ok for reply in lists):
        lists[0].expect_success()


@facts(2, "Endpoints")
def json_bodies(seen: Lists) -> None:
    """The body of a success is JSON, in the envelope."""
    for reply in seen.successes:
        expect(reply.envelope, f"{reply.outcome} and something else")


@facts(3, "Response envelope")
def success_is_true(seen: Lists) -> None:
    """The field success is true on success."""
    for reply in seen.successes:
        if reply.envelope:
            expect(reply.envelope.get("success") is True, f"{reply.outcome} without it")


@facts(4, "Response envelope")
def status_code(seen: Lists) -> None:
    """The field statusCode, where there is one, is a whole number: 200 or 201."""
    for reply, value in seen.values("statusCode"):
        expect(type(value) is int and value in (200, 201), f"{reply.outcome} and another")


@facts(5, "Response envelope")
def message_is_text(seen: Lists) -> None:
    """The field message, where there is one, is text."""
    for reply, value in seen.values("message"):
        expect(TEXT.fits(value), f"{reply.outcome} and message is {shape(value)}")


@facts(6, "Response envelope")
def data_kinds(seen: Lists) -> None:
    """The field data is an object, an array or null."""
    for reply in seen.successes:
        if reply.envelope:
            fits = "data" in reply.envelope and type(reply.data) in (dict, list, type(None))
            expect(fits, f"{reply.outcome} and something else")


@facts(7, "Response envelope")
def pagination_on_pages_only(seen: Lists) -> None:
    """Only lists that have pages have pagination."""
    for reply in seen.successes:
        right = _has_pages(reply) or "pagination" not in reply.envelope
        expect(right, f"{reply.outcome} and pagination")


@facts(8, "Response envelope")
def pagination_fields(seen: Lists) -> None:
    """The pagination has page, pageSize, totalCount and totalPages, all whole numbers."""
    pages = [(reply, value) for reply, value in seen.values("pagination") if _has_pages(reply)]
    for _, value in pages or not_told("no list has it"):
        for name in _FIELDS:
            there = type(value) is dict and WHOLE.fits(value.get(name))
            expect(there, f"{name} is missing or no whole number")


@facts(9, "Limits")
def page_size(seen: Lists) -> None:
    """The parameters page and pageSize choose the page, and pagination tells of it."""
    base = seen.trial.profile.page_base
    for room in seen.rooms():
        for number, size in ((0, 1), (1, 1), (0, 2)):
            reply = seen.page(room, number, size)
            reply.expect_success()
            told = reply.envelope.get("pagination")
            if type(told) is not dict or not all(WHOLE.fits(told.get(name)) for name in _FIELDS):
                not_told("pagination cannot be read")
            asked = f"page {base + number} of {size} {room}"
            expect(len(reply.rows()) == size, f"{asked} has {len(reply.rows())} records")
            expect(told["page"] == base + number, f"{asked} says it is page {told['page']}")
            expect(told["pageSize"] == size, f"{asked} says its size is {told['pageSize']}")
            expect(told["totalPages"] == -(-told["totalCount"] // size),
                   f"{asked} says there are {told['totalPages']} pages for "
                   f"{told['totalCount']} records")  # fmt: skip


@facts(10, "Limits")
def pages_follow(seen: Lists) -> None:
    """A page goes on where the one before ended."""
    for room in seen.rooms():
        asked = ((0, 2), (0, 1), (1, 1), (0, 2))
        two, first, second, again = (
            [row.get("id") for row in seen.page(room, *page).rows()] for page in asked
        )
        if two != again:
            not_told("the list moved meanwhile")
        expect(first + second == two, f"two pages of one of the {room} are not one page of two")
