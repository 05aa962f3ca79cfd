"""Requests: the operations of the interface, which one a path names, what query and body say.

The table of operations is the whole public interface (sections Endpoints, Authentication).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import parse_qsl, unquote

from chatkit.profile import ServiceProfile
from chatkit.sandbox.replies import FieldProblem, RefusedRequest, invalid
from chatkit.util.json import JsonFault, read_json

Decoded = TypeVar("Decoded")

# --- the operations ---------------------------------------------------------------------

PREFIX = "/api/business/public/channels/chat/accounts/"
Verb = Literal["list", "get", "create", "update", "delete", "languages"]


class Operation(NamedTuple):
    """One call of the interface: its resource and verb, method and path, and who may call it."""

    resource: str
    verb: Verb
    method: str
    path: str
    permission: str

    @property
    def takes_body(self) -> bool:
        """Return whether the call carries a JSON object."""
        return self.verb in ("create", "update")


_CONTENTS = "/templates/:templateCode/contents"

OPERATIONS = (
    Operation("flows", "list", "GET", "/flows", "Chat Flows, View"),
    Operation("flows", "get", "GET", "/flows/:id", "Chat Flows, View"),
    Operation("flows", "create", "POST", "/flows", "Chat Flows, Add"),
    Operation("flows", "update", "PUT", "/flows/:id", "Chat Flows, Edit"),
    Operation("flows", "delete", "DELETE", "/flows/:id", "Chat Flows, Delete"),
    Operation(
        "templates", "languages", "GET", f"{_CONTENTS}/lookups/languages", "Chat Templates, View"
    ),
    Operation("templates", "list", "GET", _CONTENTS, "Chat Templates, View"),
    Operation("templates", "get", "GET", f"{_CONTENTS}/:langCode", "Chat Templates, View"),
    Operation("templates", "create", "POST", _CONTENTS, "Chat Templates, Add"),
    Operation("templates", "update", "PUT", f"{_CONTENTS}/:langCode", "Chat Templates, Edit"),
    Operation("templates", "delete", "DELETE", f"{_CONTENTS}/:langCode", "Chat Templates, Delete"),
    Operation("contacts", "list", "GET", "/contacts", "Chat Contacts, View"),
    Operation("contacts", "get", "GET", "/contacts/:contactId", "Chat Contacts, View"),
    Operation("contacts", "create", "POST", "/contacts", "Chat Contacts, Add"),
    Operation("contacts", "update", "PUT", "/contacts/:contactId", "Chat Contacts, Edit"),
    Operation("contacts", "delete", "DELETE", "/contacts/:contactId", "Chat Contacts, Delete"),
    Operation("webhooks", "list", "GET", "/webhooks", "Chat Detail, View"),
    Operation("webhooks", "create", "POST", "/webhooks", "Chat Detail, Edit"),
    Operation("webhooks", "update", "PATCH", "/webhooks/:webhookId", "Chat Detail, Edit"),
    Operation("webhooks", "delete", "DELETE", "/webhooks/:webhookId", "Chat Detail, Delete"),
)

# Every permission there is, in the order of the table.
PERMISSIONS = tuple(dict.fromkeys(operation.permission for operation in OPERATIONS))


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
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
#: The operations by the segments of their path, and by their method.
_PATHS: dict[tuple[str, ...], dict[str, Operation]] = {}
for _operation in OPERATIONS:
    _segments = f"{PREFIX}:accountId{_operation.path}".split("/")
    _PATHS.setdefault(tuple(_segments), {})[_operation.method] = _operation


def route(method: str, path: str) -> tuple[Operation, str, Sequence[str]]:
    """Return the operation that a raw path and a method name, the account, and the path's values.

    Raises:
        RefusedRequest: There is no such path, it allows other methods only, or it is no text.
    """
    segments = path.split("/")
    if "%" in path or not path.isascii():
        segments = [_decode(unquote, segment) for segment in segments]
    for names, operations in _PATHS.items():
        if len(names) != len(segments):
            continue
        values = []
        for name, segment in zip(names, segments, strict=True):
            if name.startswith(":") and segment not in _NO_VALUES:
                values.append(segment)
            elif name != segment:
                break
        else:
            operation = operations.get(method)
            if operation is None:
                allow = ", ".join(sorted(operations))
                raise RefusedRequest(
                    "wrong_method", f"This path allows {allow}", headers={"allow": allow}
                )
            return operation, values[0], values[1:]
    raise RefusedRequest("no_path", "There is no such path")


def _decode(read: Callable[..., Decoded], text: str, **options: bool) -> Decoded:
    """Undo percent-encoding, strictly.

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
    """A page that was asked for, by the number it was asked by."""

    number: int
    size: int
    first: int  # of its records, counted from 0


def parameters(query: str) -> dict[str, str]:
    """Return the parameters of a raw query by name.

    Raises:
        RefusedRequest: A name is given twice, or the query is not percent-encoded UTF-8.
    """
    values: dict[str, str] = {}
    for name, value in _decode(parse_qsl, query, keep_blank_values=True) if query else ():
        if name in values:
            raise invalid(FieldProblem(name, "is given twice"))
        values[name] = value
    return values


def page(query: dict[str, str], profile: ServiceProfile) -> Page:
    """The page that parameters ask for (section Limits, and the profile).

    Raises:
        RefusedRequest: `page` or `pageSize` is no number, or below the first.
    """
    base = profile.page_base
    number = _whole(query.get("page"), "page", base, base)
    size = min(
        _whole(query.get("pageSize"), "pageSize", 1, DEFAULT_PAGE_SIZE), profile.max_page_size
    )
    return Page(number, size, (number - base) * size)


def _whole(text: str | None, name: str, least: int, default: int) -> int:
    if text is None:
        return default
    if text.isascii() and text.isdigit():
        number = int(text) if len(text) <= _LONGEST else 10**_LONGEST
        if number >= least:
            return number
    raise invalid(FieldProblem(name, f"must be an integer, at least {least}"))


# --- the body -------------------------------------------------------------------------

MAX_DEPTH = 64
#: Bytes: a flow document of the upstream platform may have 10 MB.
MAX_BODY = 11 * 1024 * 1024


def read_object(headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """The JSON object in a body.

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
