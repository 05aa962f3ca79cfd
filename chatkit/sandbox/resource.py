"""The base of the handlers of all resources: find, get, delete, page."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from chatkit.profile import ServiceProfile
from chatkit.sandbox.access import Grant
from chatkit.sandbox.clock import Clock
from chatkit.sandbox.fields import WHOLE, Field, Fields, String
from chatkit.sandbox.replies import FieldProblem, RefusedRequest, Replies, ServiceAnswer, invalid
from chatkit.sandbox.request import Verb, page
from chatkit.sandbox.store import ResourceTable, SandboxStore, StoredRecord

# SQLite's ids end at 2**63; none of ours comes near.
ID_DIGITS = 18


class Tools(NamedTuple):
    """What every resource works with."""

    store: SandboxStore
    profile: ServiceProfile
    clock: Clock
    replies: Replies


class AllowedCall(NamedTuple):
    """A call that is let in: who makes it, the values in its path, its raw query, its body."""

    grant: Grant
    values: Sequence[str]
    query: str
    body: dict[str, Any]


class ResourceHandler:
    """One resource of an account: its table and the operations on it.

    An operation takes who calls, the values in the path, the raw query and the body,
    and gives an answer or raises a Refusal.
    """

    noun: str
    table: ResourceTable
    # Bodies, and what lists, gets, creates and updates show: checked by and documented from.
    create_body: Fields
    update_body: Fields
    item: Fields
    record: Fields
    created: Fields
    updated: Fields
    # The field of a record that its path names it by.
    key_field = "id"
    # The verbs that another record, or the record's own state, can be in the way of.
    conflicts: tuple[Verb, ...] = ()
    clashes: tuple[Verb, ...] = ()
    # How its list can be cut: into pages, and by the parameter of that name.
    paged = True
    filter_param: str | None = None

    def __init__(self, tools: Tools) -> None:
        self.store, self.profile, self.clock, self.replies = tools

    def find(self, call: AllowedCall) -> StoredRecord:
        """The active record that the path names.

        Raises:
            Refusal: There is none in the token's account.
        """
        row = self._stored(call)
        if row is None or row.active is None:
            raise self._unknown()
        return row

    def get(self, call: AllowedCall) -> ServiceAnswer:
        """Answer with one record in full."""
        return self.replies.data(self.find(call).shown.encode())

    def delete(self, call: AllowedCall) -> ServiceAnswer:
        """Make one record inactive."""
        row = self._stored(call)
        if row is None or (row.active is None and self.profile.second_delete == "not_found"):
            raise self._unknown()
        if row.active:
            self._may_delete(row)
            self.clock.stamp()
            self.table.retire(row)
        return self.replies.deleted(f"{self.noun} deleted")

    def _copied_id(self, record: Mapping[str, Any]) -> int:
        """The id of a record of another account: its own; the next one when it has none."""
        given = record.get("id")
        return self.table.next_id() if given is None else int(given)

    def _stored(self, call: AllowedCall) -> StoredRecord | None:
        record_id = read_id(call.values[0])
        return None if record_id is None else self.table.get(record_id, call.grant.account)

    def _may_delete(self, row: StoredRecord) -> None:
        """Raise a Refusal if the record must stay."""

    def _unknown(self) -> RefusedRequest:
        return RefusedRequest("not_found", f"{self.noun} not found")

    def _page(self, ids: Sequence[int], given: dict[str, str]) -> ServiceAnswer:
        """One page of these ids as list items."""
        asked, total = page(given, self.profile), len(ids)
        if asked.first >= total and asked.first and self.profile.page_past_end == "refuse":
            raise invalid(FieldProblem("page", "is after the last page"))
        part = ids[asked.first : asked.first + asked.size]
        return self.replies.page(self.table.items(part), asked.number, asked.size, total)

    def _filter(self, given: dict[str, str]) -> str:
        """What the list is asked to be cut by; empty when by nothing."""
        return given.get(self.filter_param, "") if self.filter_param else ""

    def _required_again(self, needed: frozenset[str]) -> frozenset[str]:
        """What an update requires of the fields that a create needs."""
        return needed if self.profile.put_requires == "create_fields" else frozenset()

    def _shown_id(self, record_id: int) -> int | str:
        return record_id if self.profile.id_type == "integer" else str(record_id)

    def _id_field(self) -> Field:
        if self.profile.id_type == "integer":
            return Field("id", WHOLE)
        return Field("id", String(pattern="^[0-9]+$"))


def read_id(text: str) -> int | None:
    """The id a path segment names; None when it can name none."""
    if text.isascii() and text.isdigit() and len(text) <= ID_DIGITS and text[0] != "0":
        return int(text)
    return None


def upstream_id(record_id: int, prefix: str) -> str:
    """An identifier as the upstream platform gives them: digits, another for each record."""
    # 7919393 has no factor with 10**12 in common, so no two ids give the same digits.
    return f"{prefix}{record_id * 7_919_393 % 10**12:012d}"
