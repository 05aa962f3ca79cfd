"""Resources: what their records and bodies are made of, and what all their handlers do.

Each resource declares its fields once: the same declarations check bodies and are printed as JSON
Schema in the OpenAPI document. A kind says what is wrong with a value; lengths are never wrong
(section Limits: not shown). The handler of a resource then has what is its own; to find, get and
delete one record, and to cut a list into pages, is the same for all.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol

from chatkit.profile import ServiceProfile
from chatkit.sandbox.clock import Clock
from chatkit.sandbox.replies import (
    FieldProblem,
    RefusedRequest,
    Replies,
    ServiceAnswer,
    invalid,
)
from chatkit.sandbox.request import Verb, page
from chatkit.sandbox.store import ResourceTable, SandboxStore, StoredRecord

# SQLite's ids end at 2**63; none of ours comes near.
ID_DIGITS = 18

Schema = dict[str, Any]


class FieldKind(Protocol):
    """What values a field can have."""

    def problems(self, value: Any, where: str) -> Iterable[FieldProblem]:
        """What is wrong with a value; nothing when it fits."""

    def schema(self) -> Schema:
        """The kind as JSON Schema."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # In JSON Schema $ is the end; in Python it may stand before a last line break.
    return re.compile(pattern.replace("$", r"\Z"))


def _fits(pattern: str, value: str) -> bool:
    return _compiled(pattern).search(value) is not None


@dataclass(frozen=True, slots=True)
class String:
    """A string; with choices or a pattern, one of them or one that fits, as `says` tells."""

    choices: Sequence[str] = ()
    pattern: str = ""
    says: str = ""
    format: str = ""

    def problems(self, value: Any, where: str) -> Iterable[FieldProblem]:
        """A value that is no string, not among the choices or not of the pattern."""
        if not isinstance(value, str):
            return (FieldProblem(where, "must be a string"),)
        if self.choices and value not in self.choices:
            return (FieldProblem(where, self.says or f"must be one of {', '.join(self.choices)}"),)
        if self.pattern and not _fits(self.pattern, value):
            return (FieldProblem(where, self.says),)
        return ()

    def schema(self) -> Schema:
        """A string, with what is asked of it."""
        schema: Schema = {"type": "string"}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.pattern:
            schema["pattern"] = self.pattern
        if self.format:
            schema["format"] = self.format
        return schema


@dataclass(frozen=True, slots=True)
class Plain:
    """A value of one or several JSON types: boolean, integer, string, number."""

    types: tuple[str, ...]

    def problems(self, value: Any, where: str) -> Iterable[FieldProblem]:
        """A value of another type; true and false are no numbers."""
        if type(value) in _PYTHON_TYPES and _PYTHON_TYPES[type(value)] & set(self.types):
            return ()
        return (
            FieldProblem(where, f"must be {' or '.join(_ARTICLES[name] for name in self.types)}"),
        )

    def schema(self) -> Schema:
        """The type, or the list of types."""
        return {"type": self.types[0] if len(self.types) == 1 else list(self.types)}


_PYTHON_TYPES: dict[type, set[str]] = {
    bool: {"boolean"},
    int: {"integer", "number"},
    float: {"number"},
    str: {"string"},
}
_ARTICLES = {
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
}

TEXT = String()
TIME = String(format="date-time")
FLAG = Plain(("boolean",))
WHOLE = Plain(("integer",))


@dataclass(frozen=True, slots=True)
class Anything:
    """Any JSON value: the document does not say which (section Resources)."""

    def problems(self, value: Any, where: str) -> Iterable[FieldProblem]:
        """Nothing is wrong with any value."""
        return ()

    def schema(self) -> Schema:
        """The schema that everything fits."""
        return {}


@dataclass(frozen=True, slots=True)
class ListOf:
    """An array of values of one kind."""

    kind: FieldKind

    def problems(self, value: Any, where: str) -> Iterator[FieldProblem]:
        """A value that is no array, and what is wrong with its items."""
        if not isinstance(value, list):
            yield FieldProblem(where, "must be an array")
            return
        for at, item in enumerate(value):
            yield from self.kind.problems(item, f"{where}[{at}]")

    def schema(self) -> Schema:
        """An array of the kind."""
        return {"type": "array", "items": self.kind.schema()}


@dataclass(frozen=True, slots=True)
class TextMap:
    """An object from keys of a pattern to strings."""

    key_pattern: str
    says: str

    def problems(self, value: Any, where: str) -> Iterator[FieldProblem]:
        """A value that is no object, keys that do not fit, values that are no strings."""
        if not isinstance(value, dict):
            yield FieldProblem(where, "must be an object")
            return
        for key, text in value.items():
            if not _fits(self.key_pattern, key):
                yield FieldProblem(where, self.says)
            yield from TEXT.problems(text, f"{where}.{key}")

    def schema(self) -> Schema:
        """An object of strings with named keys."""
        return {
            "type": "object",
            "propertyNames": {"pattern": self.key_pattern},
            "additionalProperties": {"type": "string"},
        }


@dataclass(frozen=True, slots=True)
class Field:
    """One named field of a record or a body; `note` is its description."""

    name: str
    kind: FieldKind
    nullable: bool = False
    note: str = ""

    def problems(self, value: Any, where: str) -> Iterable[FieldProblem]:
        """What is wrong with a value of this field."""
        if value is None and self.nullable:
            return ()
        return self.kind.problems(value, where)

    def schema(self) -> Schema:
        """The kind as JSON Schema, with null if that is allowed, and the note."""
        schema = self.kind.schema()
        if self.nullable and schema:
            schema = _or_null(schema)
        return schema | {"description": self.note} if self.note else schema


def _or_null(schema: Schema) -> Schema:
    if "enum" in schema or not isinstance(schema["type"], str | list):
        return {"anyOf": [schema, {"type": "null"}]}
    types = schema["type"]
    return schema | {"type": [*([types] if isinstance(types, str) else types), "null"]}


@dataclass(frozen=True, slots=True)
class Fields:
    """An object with declared fields, some of them required.

    Undeclared fields are refused when it is `closed`, else nobody looks at them.
    """

    fields: tuple[Field, ...]
    required: frozenset[str] = frozenset()
    closed: bool = False

    @classmethod
    def all_of(cls, fields: Iterable[Field]) -> "Fields":
        """An object that has every one of these fields: what the service answers with."""
        fields = tuple(fields)
        return cls(fields, frozenset(field.name for field in fields))

    def problems(self, value: Any, where: str = "") -> Iterator[FieldProblem]:
        """A value that is no object, fields that are missing or unknown, and theirs."""
        if not isinstance(value, dict):
            yield FieldProblem(where, "must be an object")
            return
        inside = f"{where}." if where else ""
        known = 0
        for field in self.fields:
            name = field.name
            if name in value:
                known += 1
                yield from field.problems(value[name], inside + name)
            elif name in self.required:
                yield FieldProblem(inside + name, "is required")
        if self.closed and known != len(value):
            names = {field.name for field in self.fields}
            for name in value:
                if name not in names:
                    yield FieldProblem(inside + name, "is not a field of this body")

    def read(self, body: dict[str, Any]) -> dict[str, Any]:
        """The declared fields of a body.

        Raises:
            Refusal: Something is wrong with it; every problem is listed.
        """
        problems = list(self.problems(body))
        if problems:
            raise invalid(*problems)
        return {field.name: body[field.name] for field in self.fields if field.name in body}

    def schema(self) -> Schema:
        """An object with these properties."""
        schema: Schema = {
            "type": "object",
            "properties": {field.name: field.schema() for field in self.fields},
        }
        if self.required:
            schema["required"] = [f.name for f in self.fields if f.name in self.required]
        if self.closed:
            schema["additionalProperties"] = False
        return schema


class Tools(NamedTuple):
    """What every resource works with."""

    store: SandboxStore
    profile: ServiceProfile
    clock: Clock
    replies: Replies


class Grant:
    """What one access token allows: an account, an actor, permissions."""

    __slots__ = ("account", "actor", "calls", "permissions")

    def __init__(self, account: str, actor: str, permissions: Iterable[str]) -> None:
        self.account, self.actor, self.permissions = account, actor, frozenset(permissions)
        self.calls: deque[float] = deque()


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
        self.quirks = self.replies.quirks

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
        if row is None or (row.active is None and "repeated_deletes" not in self.quirks):
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
        return str(record_id) if "text_ids" in self.quirks else record_id

    def _id_field(self) -> Field:
        return Field("id", String(pattern="^[0-9]+$") if "text_ids" in self.quirks else WHOLE)


def read_id(text: str) -> int | None:
    """The id a path segment names; None when it can name none."""
    if text.isascii() and text.isdigit() and len(text) <= ID_DIGITS and text[0] != "0":
        return int(text)
    return None


def upstream_id(record_id: int, prefix: str) -> str:
    """An identifier as the upstream platform gives them: digits, another for each record."""
    # 7919393 has no factor with 10**12 in common, so no two ids give the same digits.
    return f"{prefix}{record_id * 7_919_393 % 10**12:012d}"
