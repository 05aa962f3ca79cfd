"""Resources: the fields of bodies and records, and the base of all handlers.

Each resource declares its fields once, as pydantic models: they validate bodies and are printed as
JSON Schema in the OpenAPI document. Lengths are never wrong (section Limits: not shown). The
handler of a resource then has what is its own; to find, get and delete one record, and to cut a
list into pages, is the same for all.
"""

import json
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails

from chatkit.sandbox.interface import (
    FieldProblem,
    Operation,
    RefusedRequest,
    ServiceAnswer,
    Verb,
    dumps,
    make_invalid_refusal,
    parse_page,
)
from chatkit.sandbox.store import ResourceTable, StoredRecord

if TYPE_CHECKING:
    from chatkit.sandbox.service import Service

# SQLite's ids end at 2**63; none of ours comes near.
ID_DIGITS = 18

Schema = dict[str, Any]
Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]

# By the types of pydantic's errors; of others the description of the field is the message.
_MESSAGES = {
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "int_type": "must be an integer",
    "list_type": "must be an array",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "missing": "is required",
    "extra_forbidden": "is not a field of this body",
}


class Fields(BaseModel):
    """An object with declared fields, each of its JSON type and of no other.

    In a body a default is the value of a field that was not sent.
    """

    model_config = ConfigDict(strict=True, extra="forbid")


class RequestBody(NamedTuple):
    """The body of a call: its fields, and which of them are required.

    Undeclared fields are refused when it is `closed`, else they are ignored.
    """

    fields: type[Fields]
    required: frozenset[str]
    closed: bool

    def validate(self, body: dict[str, Any]) -> dict[str, Any]:
        """Validate a body, and return its declared fields as they were sent.

        Raises:
            RefusedRequest: Something is wrong with it; every problem is listed.
        """
        names = self.fields.model_fields
        problems = [
            FieldProblem(name, "is required")
            for name in names
            if name in self.required and name not in body
        ]
        try:
            self.fields.model_validate(body)
        except ValidationError as error:
            problems += [
                self._make_field_problem(detail)
                for detail in error.errors(include_url=False, include_input=False)
                if self.closed or detail["type"] != "extra_forbidden"
            ]
        if problems:
            raise make_invalid_refusal(*problems)
        return {name: body[name] for name in names if name in body}

    def _make_field_problem(self, detail: ErrorDetails) -> FieldProblem:
        """Make the problem of a field from an error of pydantic."""
        name, *inside = detail["loc"]
        if inside[-1:] == ["[key]"]:
            inside = []
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in inside)
        if detail["type"] == "literal_error":
            choices = detail["ctx"]["expected"].replace("'", "").replace(" or ", ", ")
            return FieldProblem(f"{name}{path}", f"must be one of {choices}")
        message = _MESSAGES.get(detail["type"])
        field = self.fields.model_fields.get(str(name))
        return FieldProblem(f"{name}{path}", message or (field and field.description) or "")


class Grant:
    """The rights of one access token: an account, an actor, permissions."""

    __slots__ = ("account", "actor", "calls", "permissions")

    def __init__(self, account: str, actor: str, permissions: Iterable[str]) -> None:
        self.account, self.actor, self.permissions = account, actor, frozenset(permissions)
        self.calls: deque[float] = deque()


class AllowedCall(NamedTuple):
    """An authorised call: its rights, the values in its path, its raw query and its body."""

    grant: Grant
    values: Sequence[str]
    query: str
    body: dict[str, Any]


class ResourceHandler:
    """One resource of an account: its table and the operations on it.

    An operation takes who calls, the values in the path, the raw query and the body,
    and gives an answer or raises `RefusedRequest`.
    """

    name: str
    noun: str
    operations: Sequence[Operation]
    table: ResourceTable
    # The table of its records: its name where it is another, the first id, what is searched by.
    table_name = ""
    first_id = 1
    columns: Sequence[str] = ()
    # Deleted records stay in lists, where the profile says so.
    listed_when_deleted = False
    # What a create takes and needs, and an update where that is something else.
    fields: type[Fields]
    required: Collection[str]
    changed_fields: type[Fields] | None = None
    required_in_update: Collection[str] | None = None
    # What lists, gets, creates and updates show.
    item: type[Fields]
    record: type[Fields]
    # All fields that are stored, if get shows fewer; the defaults are those of a new record.
    stored: type[Fields] | None = None
    created: type[Fields]
    updated: type[Fields]
    # The field of a record that its path names it by, and that no two active ones share.
    key_field = "id"
    natural_key: str
    # The fields that only a get shows, and that only a create shows.
    details: Collection[str] = ()
    secrets: Collection[str] = ()
    # The verbs that another record, or the record's own state, can be in the way of.
    conflicts: tuple[Verb, ...] = ()
    clashes: tuple[Verb, ...] = ()
    # How its list can be cut: into pages, and by the parameter of that name.
    paged = True
    filter_point = ""  # the point of the profile that names the parameter

    def __init__(self, service: "Service") -> None:
        self.profile, self.clock = service.profile, service.clock
        self.replies, self.publisher = service.replies, service.publisher
        self.quirks = self.replies.quirks
        self.table = ResourceTable(
            service.store,
            self.table_name or self.name,
            first_id=self.first_id,
            extra=self.columns,
            lists_deleted=self.listed_when_deleted and self.profile.inactive_in_lists,
        )
        self.filter_param: str | None = getattr(self.profile, self.filter_point or "-", None)
        closed = self.profile.unknown_fields == "refuse"
        self.create_body = RequestBody(self.fields, frozenset(self.required), closed)
        needed = self.required if self.required_in_update is None else self.required_in_update
        needed = needed if self.profile.put_requires == "create_fields" else ()
        changed = self.changed_fields or self.fields
        self.update_body = RequestBody(changed, frozenset(needed), closed)

        fields = (self.stored or self.record).model_fields
        self._blank = {name: field.get_default() for name, field in fields.items()}

    def find_active_record(self, call: AllowedCall) -> StoredRecord:
        """Return the active record that the path of a call names.

        Raises:
            RefusedRequest: There is none in the token's account.
        """
        row = self._find_stored(call)
        if row is None or row.active is None:
            raise self._make_missing_refusal()
        return row

    def get(self, call: AllowedCall) -> ServiceAnswer:
        """Answer with one record in full."""
        return self.replies.build_success(self.find_active_record(call).full_text.encode())

    def delete(self, call: AllowedCall) -> ServiceAnswer:
        """Make one record inactive."""
        row = self._find_stored(call)
        if row is None or (row.active is None and "repeated_deletes" not in self.quirks):
            raise self._make_missing_refusal()
        if row.active:
            self._check_deletable(row)
            self.clock.stamp()
            self.table.deactivate(row)
        return self.replies.build_confirmation(f"{self.noun} deleted")

    def _choose_copied_id(self, record: Mapping[str, Any]) -> int:
        """Return the id of a copied record; the next id if it has none."""
        record_id = record.get("id")
        return self.table.next_id() if record_id is None else int(record_id)

    def _find_stored(self, call: AllowedCall) -> StoredRecord | None:
        """Return the record that the path of a call names, also an inactive one."""
        record_id = parse_id(call.values[0])
        return None if record_id is None else self.table.find_record(record_id, call.grant.account)

    def _make_natural_key(self, record: Mapping[str, Any]) -> str:
        """Return the natural key of a record, which is unique among active records."""
        return str(record[self.natural_key])

    def _collect_extra_values(self, record: Mapping[str, Any]) -> Sequence[str]:
        """Return the values of the extra columns of the table."""
        return [str(record[name]) for name in self.table.extra]

    def _collect_column_values(self, record: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the values of the columns in which a record is stored."""
        item: dict[str, Any] = {}
        more: dict[str, Any] = {}
        hidden: dict[str, Any] = {}
        for name, value in record.items():
            part = more if name in self.details else hidden if name in self.secrets else item
            part[name] = value
        parts = [dumps(part) if part else "{}" for part in (item, more, hidden)]
        return self._make_natural_key(record), *parts, *self._collect_extra_values(record)

    def _make_record(self, record_id: int, **fields: Any) -> dict[str, Any]:
        """Make a new record with all fields; those that are not passed have their defaults."""
        return {**self._blank, "id": self._format_id(record_id), **fields}

    def _insert(self, scope: str, record_id: int, record: Mapping[str, Any]) -> None:
        """Store a new record of a scope."""
        self.table.insert(record_id, scope, *self._collect_column_values(record))

    def _rewrite(self, row: StoredRecord, record: Mapping[str, Any]) -> None:
        """Replace a stored record."""
        self.table.rewrite(row, *self._collect_column_values(record))

    def _load_record(self, row: StoredRecord) -> dict[str, Any]:
        """Return a stored record with all its fields."""
        record: dict[str, Any] = json.loads(row.full_text) | json.loads(row.hidden)
        return record

    def _check_deletable(self, row: StoredRecord) -> None:
        """Raise `RefusedRequest` if the record must stay."""

    def _make_missing_refusal(self) -> RefusedRequest:
        """Make the refusal of a call for a missing record."""
        return RefusedRequest("not_found", f"{self.noun} not found")

    def _check_free(
        self, scope: str, key: str, message: str, own: StoredRecord | None = None
    ) -> None:
        """Raise a clash if another active record has this natural key."""
        other = self.table.find_by_key(scope, key)
        if other is not None and other.active and (own is None or other.id != own.id):
            raise RefusedRequest("clash", message)

    def _set_update_time(self, record: dict[str, Any]) -> None:
        """Set `updated_at` of a changed record to now."""
        now = self.clock.stamp()
        if "constant_updated_at" not in self.quirks:
            record["updated_at"] = now

    def _build_page(self, ids: Sequence[int], query: dict[str, str]) -> ServiceAnswer:
        """Build the page of a list that a query asks for, from all ids of the list."""
        asked, total = parse_page(query, self.profile), len(ids)
        if asked.first >= total and asked.first and self.profile.page_past_end == "refuse":
            raise make_invalid_refusal(FieldProblem("page", "is after the last page"))
        part = ids[asked.first : asked.first + asked.size]
        return self.replies.build_page(self.table.join_items(part), asked.number, asked.size, total)

    def _read_filter_value(self, query: dict[str, str]) -> str:
        """Return the value that filters the list; "" without one."""
        return query.get(self.filter_param, "") if self.filter_param else ""

    def _format_id(self, record_id: int) -> int | str:
        """Return an id as the API shows it."""
        return str(record_id) if "text_ids" in self.quirks else record_id


def parse_id(text: str) -> int | None:
    """Parse the id in a path segment; None if it is none."""
    if text.isascii() and text.isdigit() and len(text) <= ID_DIGITS and text[0] != "0":
        return int(text)
    return None


def make_upstream_id(record_id: int, prefix: str) -> str:
    """Make an id in the form of the upstream platform, with other digits for each record."""
    # 7919393 has no factor with 10**12 in common, so no two ids give the same digits.
    return f"{prefix}{record_id * 7_919_393 % 10**12:012d}"
