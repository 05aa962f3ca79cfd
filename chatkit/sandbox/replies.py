"""Answers and refusals: the envelope, errors, and what a service may do otherwise."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from json import JSONEncoder
from typing import Literal, NamedTuple, get_args

from chatkit.profile import ServiceProfile

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

Reason = Literal[
    "malformed",
    "unauthenticated",
    "forbidden",
    "no_path",
    "not_found",
    "wrong_method",
    "conflict",
    "clash",
    "too_large",
    "media_type",
    "invalid",
    "too_many_calls",
    "unavailable",
]


class FieldProblem(NamedTuple):
    """A problem with one field of a body or one parameter of a query."""

    field: str
    message: str


class RefusedRequest(Exception):
    """A request that is refused: why, in words, and what is wrong with which field.

    The reason is turned into a status and a body by `Replies`, as the profile says.
    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        problems: Sequence[FieldProblem] = (),
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.reason: Reason = reason
        self.message = message
        self.problems = problems
        self.headers = headers or {}


def invalid(*problems: FieldProblem) -> RefusedRequest:
    """The refusal of a body or query whose fields break a rule."""
    text = "; ".join(f"{problem.field}: {problem.message}" for problem in problems[:3])
    return RefusedRequest("invalid", text, problems)


# --- answers --------------------------------------------------------------------------


@lru_cache
def _head(status: int, message: str | None) -> bytes:
    """Return the envelope of a success before its data."""
    fields: dict[str, object] = {"success": True, "statusCode": status}
    if message is not None:
        fields["message"] = message
    return dumps(fields)[:-1].encode()


class Replies:
    """Makes every answer of one service (section Response envelope, and the profile)."""

    def __init__(self, profile: ServiceProfile, quirks: frozenset[Quirk] = frozenset()) -> None:
        self.quirks = quirks
        self.statuses: Mapping[Reason, int] = {
            "malformed": 400,
            "unauthenticated": profile.unauthenticated_status,
            "forbidden": profile.forbidden_status,
            "no_path": 404,
            "not_found": profile.not_found_status,
            "wrong_method": 405,
            "conflict": 409,
            "clash": profile.clash_status,
            "too_large": 413,
            "media_type": 415,
            "invalid": profile.validation_status,
            "too_many_calls": 429,
            "unavailable": 503,
        }

    def data(self, payload: bytes, status: int = 200, message: str | None = None) -> ServiceAnswer:
        """A success whose `data` is this JSON text."""
        body = b'%b,"data":%b}' % (_head(status, message), payload)
        return ServiceAnswer(status, body, {"content-type": JSON_TYPE})

    def page(self, payload: bytes, page: int, size: int, total: int) -> ServiceAnswer:
        """One page of a list, with its `pagination`."""
        if "no_pagination" in self.quirks:
            return self.data(b"[%b]" % payload)
        pages = -(-total // size)
        return self.data(
            b'[%b],"pagination":{"page":%d,"pageSize":%d,"totalCount":%d,"totalPages":%d}'
            % (payload, page, size, total, pages)
        )

    def done(self, message: str, payload: bytes = b"null") -> ServiceAnswer:
        """An update or a deletion that was done."""
        if "no_body" in self.quirks:
            return ServiceAnswer(204, b"")
        return self.data(payload, message=message)

    def refuse(self, refusal: RefusedRequest) -> ServiceAnswer:
        """The answer to a refused request."""
        answer = self.error(self.statuses[refusal.reason], refusal.message, refusal.problems)
        answer.headers |= refusal.headers
        if answer.status == 401:
            answer.headers["www-authenticate"] = "Bearer"
        return answer

    def error(
        self, status: int, message: str, problems: Sequence[FieldProblem] = ()
    ) -> ServiceAnswer:
        """An error in the envelope (section Errors: not shown)."""
        if "html_errors" in self.quirks:
            page = f"<!doctype html><title>{status}</title><p>{html.escape(message)}</p>"
            return ServiceAnswer(status, page.encode(), {"content-type": HTML_TYPE})
        body: dict[str, object] = {"success": False, "statusCode": status, "message": message}
        if problems:
            body["errors"] = [problem._asdict() for problem in problems]
        return ServiceAnswer(status, dumps(body).encode(), {"content-type": JSON_TYPE})
