"""Interface: parses requests, and makes answers and refusals.

Each resource declares its operations; here is what every request and answer has in common
(sections Response envelope, Endpoints, Errors, Limits).
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from json import JSONEncoder
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args
from urllib.parse import parse_qsl, unquote

from chatkit.profile import ServiceProfile
from chatkit.util.json import JsonFault, read_json

Decoded = TypeVar("Decoded")

JSON_TYPE = "application/json"
HTML_TYPE = "text/html; charset=utf-8"
dumps = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


#: What a service may do otherwise, to try a client: `Sandbox` explains each.
Quirk = Literal[
    "no_body",
    "no_pagination",
    "html_errors",
    "text_ids",
    "text_flow_json",
    "raw_flow_json",
    "constant_updated_at",
    "repeated_deletes",
    "secret_in_update",
    "unknown_template_404",
]
QUIRKS: frozenset[str] = frozenset(get_args(Quirk))


@dataclass(slots=True)
class ServiceAnswer:
    """The answer of the service to a request."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


# --- refusals -------------------------------------------------------------------------

#: Reasons of refusals: the status, or the field of the profile that has it, and the meaning.
REFUSALS: Mapping[str, tuple[int | str, str]] = {
    "malformed": (400, "The address or the body cannot be read."),
    "unauthenticated": ("unauthenticated_status", "The access token is missing or unknown."),
    "forbidden": (
        "forbidden_status",
        "The access token is for another account or lacks the permission.",
    ),
    "no_path": (404, "There is no such path."),
    "not_found": ("not_found_status", "There is no such record."),
    "wrong_method": (405, "The path allows other methods."),
    "conflict": (409, "A record with that key exists."),
    "clash": ("clash_status", "The record conflicts with another one, or with its own state."),
    "too_large": (413, "The body is too large."),
    "media_type": (415, "The body is not JSON by its content type."),
    "invalid": ("validation_status", "A field or a parameter breaks a rule."),
    "too_many_calls": (429, "The token made too many calls in a second."),
    "unavailable": (503, "The sandbox could not save the change."),
}


class FieldProblem(NamedTuple):
    """A problem with one field of a body or one parameter of a query."""

    field: str
    message: str


class RefusedRequest(Exception):
    """A request that is refused: why, in words, and what is wrong with which field.

    The reason is turned into a status and a body by `ResponseBuilder`, as the profile says.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        problems: Sequence[FieldProblem] = (),
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.problems = problems
        self.headers = headers or {}


def make_invalid_refusal(*problems: FieldProblem) -> RefusedRequest:
    """Make the refusal of a body or query whose fields break a rule."""
    text = "; ".join(f"{problem.field}: {problem.message}" for problem in problems[:3])
    return RefusedRequest("invalid", text, problems)


# --- answers --------------------------------------------------------------------------


@lru_cache
def _encode_envelope_start(status: int, message: str | None) -> bytes:
    """Encode the envelope of a success up to its data."""
    fields: dict[str, object] = {"success": True, "statusCode": status}
    if message is not None:
        fields["message"] = message
    return dumps(fields)[:-1].encode()


class ResponseBuilder:
    """Builder of the answers of one service, as its profile and quirks say."""

    def __init__(self, profile: ServiceProfile, quirks: frozenset[Quirk] = frozenset()) -> None:
        self.quirks = quirks
        self.statuses = {
            reason: status if isinstance(status, int) else int(getattr(profile, status))
            for reason, (status, _) in REFUSALS.items()
        }

    def build_success(
        self, payload: bytes, status: int = 200, message: str | None = None
    ) -> ServiceAnswer:
        """Build a success with `payload`, a JSON text, as its `data`."""
        body = b'%b,"data":%b}' % (_encode_envelope_start(status, message), payload)
        return ServiceAnswer(status, body, {"content-type": JSON_TYPE})

    def build_page(self, payload: bytes, page: int, size: int, total: int) -> ServiceAnswer:
        """Build a page of a list with its `pagination`."""
        if "no_pagination" in self.quirks:
            return self.build_success(b"[%b]" % payload)
        pages = -(-total // size)
        return self.build_success(
            b'[%b],"pagination":{"page":%d,"pageSize":%d,"totalCount":%d,"totalPages":%d}'
            % (payload, page, size, total, pages)
        )

    def build_confirmation(self, message: str, payload: bytes = b"null") -> ServiceAnswer:
        """Build the answer to an update or a deletion."""
        if "no_body" in self.quirks:
            return ServiceAnswer(204, b"")
        return self.build_success(payload, message=message)

    def build_refusal(self, refusal: RefusedRequest) -> ServiceAnswer:
        """Build the answer to a refused request."""
        answer = self.build_error(self.statuses[refusal.reason], refusal.message, refusal.problems)
        answer.headers |= refusal.headers
        if answer.status == 401:
            answer.headers["www-authenticate"] = "Bearer"
        return answer

    def build_error(
        self, status: int, message: str, problems: Sequence[FieldProblem] = ()
    ) -> ServiceAnswer:
        """Build an error in an envelope (section Errors: not shown)."""
        if "html_errors" in self.quirks:
            page = f"<!doctype html><title>{status}</title><p>{html.escape(message)}</p>"
            return ServiceAnswer(status, page.encode(), {"content-type": HTML_TYPE})
        body: dict[str, object] = {"success": False, "statusCode": status, "message": message}
        if problems:
            body["errors"] = [problem._asdict() for problem in problems]
        return ServiceAnswer(status, dumps(body).encode(), {"content-type": JSON_TYPE})


# --- the operations ---------------------------------------------------------------------

PREFIX = "/api/business/public/channels/chat/accounts/"
Verb = Literal["list", "get", "create", "update", "delete", "languages"]


class Operation(NamedTuple):
    """One call of the interface: its verb, method and path, and the permission that it needs."""

    verb: Verb
    method: str
    path: str
    permission: str

    @property
    def takes_body(self) -> bool:
        """True if the call carries a JSON object."""
        return self.verb in ("create", "update")


def make_operations(path: str, key: str, permissions: str) -> tuple[Operation, ...]:
    """Make the five operations on the records under a path (section Endpoints)."""
    record = f"{path}/:{key}"
    return (
        Operation("list", "GET", path, f"{permissions}, View"),
        Operation("get", "GET", record, f"{permissions}, View"),
        Operation("create", "POST", path, f"{permissions}, Add"),
        Operation("update", "PUT", record, f"{permissions}, Edit"),
        Operation("delete", "DELETE", record, f"{permissions}, Delete"),
    )


class Request(NamedTuple):
    """One call as it arrived: raw percent-encoded path, query, lower-case header names, body."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


# --- the path -------------------------------------------------------------------------

# Empty, this folder, the folder above: what a path is normalised by cannot be a value in it.
_NO_VALUES = frozenset({"", ".", ".."})
_SLASH = "\udcff"  # an encoded slash, while a path is matched: no text has this
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
#: The pattern of each path, and its operations by their methods.
Paths: TypeAlias = list[tuple[re.Pattern[str], dict[str, Operation]]]


def group_by_path(operations: Iterable[Operation]) -> Paths:
    """Group operations by their paths and methods."""
    paths: dict[str, dict[str, Operation]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method] = operation
    return [
        (re.compile(re.sub(r":\w+", "([^/]*)", f"{PREFIX}:accountId{path}")), methods)
        for path, methods in paths.items()
    ]


def find_operation(paths: Paths, method: str, path: str) -> tuple[Operation, str, Sequence[str]]:
    """Find the operation of a method and a raw path; return it with the path's values.

    Raises:
        RefusedRequest: There is no such path, it allows other methods only, or it is no text.
    """
    if "%" in path or not path.isascii():
        decoded = (_percent_decode(unquote, segment) for segment in path.split("/"))
        path = "/".join(segment.replace("/", _SLASH) for segment in decoded)
    for pattern, operations in paths:
        if match := pattern.fullmatch(path):
            account, *values = (value.replace(_SLASH, "/") for value in match.groups())
            if not _NO_VALUES.isdisjoint((account, *values)):
                continue
            if method in operations:
                return operations[method], account, values
            allow = ", ".join(sorted(operations))
            raise RefusedRequest(
                "wrong_method", f"This path allows {allow}", headers={"allow": allow}
            )
    raise RefusedRequest("no_path", "There is no such path")


def _percent_decode(read: Callable[..., Decoded], text: str, **options: bool) -> Decoded:
    """Decode percent-escapes, strictly.

    Raises:
        RefusedRequest: An escape is broken, or the bytes are not UTF-8.
    """
    if _BROKEN_ESCAPE.search(text) or not text.isascii():
        raise RefusedRequest("malformed", "The address has a broken percent-escape")
    try:
        return read(text, errors="strict", **options)
    except UnicodeDecodeError:
        raise RefusedRequest("malformed", "The address is not UTF-8") from None


# --- the query ------------------------------------------------------------------------

DEFAULT_PAGE_SIZE = 10  # of the examples in section Limits
# Digits beyond these cannot be a page of anything.
_LONGEST = 15


class Page(NamedTuple):
    """A page that is asked for."""

    number: int
    size: int
    first: int  # of its records, counted from 0


def parse_query(query: str) -> dict[str, str]:
    """Parse a raw query into parameters by name.

    Raises:
        RefusedRequest: A name is given twice, or the query is not percent-encoded UTF-8.
    """
    values: dict[str, str] = {}
    for name, value in _percent_decode(parse_qsl, query, keep_blank_values=True) if query else ():
        if name in values:
            raise make_invalid_refusal(FieldProblem(name, "is given twice"))
        values[name] = value
    return values


def parse_page(query: dict[str, str], profile: ServiceProfile) -> Page:
    """Parse the parameters of a page (section Limits, and the profile).

    Raises:
        RefusedRequest: `page` or `pageSize` is no number, or below the first.
    """
    base = profile.page_base
    number = _parse_integer(query.get("page"), "page", base, base)
    size = _parse_integer(query.get("pageSize"), "pageSize", 1, DEFAULT_PAGE_SIZE)
    size = min(size, profile.max_page_size)
    return Page(number, size, (number - base) * size)


def _parse_integer(text: str | None, name: str, least: int, default: int) -> int:
    """Parse an integer parameter; refuse one below the least."""
    if text is None:
        return default
    if text.isascii() and text.isdigit():
        number = int(text) if len(text) <= _LONGEST else 10**_LONGEST
        if number >= least:
            return number
    raise make_invalid_refusal(FieldProblem(name, f"must be an integer, at least {least}"))


# --- the body -------------------------------------------------------------------------

MAX_DEPTH = 64
#: Bytes: a flow document of the upstream platform may have 10 MB.
MAX_BODY = 11 * 1024 * 1024


def read_object(headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """Parse a body as a JSON object.

    Raises:
        RefusedRequest: It is no JSON by its content type, too large, or not one object of
            plain JSON: UTF-8, no duplicate keys, no NaN, no lone surrogates, at most
            64 levels deep.
    """
    kind, *parameters = headers.get("content-type", "").lower().split(";")
    charsets = {"charset=utf-8", 'charset="utf-8"', ""}
    if kind.strip() != "application/json" or not charsets.issuperset(map(str.strip, parameters)):
        raise RefusedRequest("media_type", "The content type of a body must be application/json")
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise RefusedRequest("media_type", "The body must not be compressed")
    if len(body) > MAX_BODY:
        raise RefusedRequest("too_large", f"The body has more than {MAX_BODY} bytes")
    try:
        value = read_json(body, deepest=MAX_DEPTH)
    except JsonFault as fault:
        message = f"The body is not a JSON object: {fault}{fault.where}"
        raise RefusedRequest("malformed", message) from None
    if not isinstance(value, dict):
        raise RefusedRequest("malformed", "The body is not a JSON object: it must be an object")
    return value
