"""Answer: what came back for a call; unwrapped from its envelope, or the error it means."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from chatkit.call import Call
from chatkit.errors import (
    BadAnswer,
    CallError,
    Conflict,
    NotAuthenticated,
    NotFound,
    NotPermitted,
    RateLimited,
    Refused,
    ServerFault,
)
from chatkit.profile import ServiceProfile

_NULL = msgspec.Raw(b"null")


class Pagination(msgspec.Struct, rename="camel", frozen=True):
    """Where a page stands in its list (API document, Response envelope)."""

    page: int
    page_size: int
    total_count: int
    total_pages: int


class Envelope(msgspec.Struct, rename="camel", frozen=True):
    """The shell round every success; `data` is still JSON text."""

    success: bool
    status_code: int | None = None
    message: str | None = None
    data: msgspec.Raw = _NULL
    pagination: Pagination | None = None


_decode_envelope = msgspec.json.Decoder(Envelope).decode


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole HTTP answer: status, header fields with lower-case names, decoded body."""

    call: Call
    status: int
    headers: Mapping[str, str]
    body: bytes

    def unwrap(self, profile: ServiceProfile) -> Envelope:
        """Return the envelope of a success, or raise the `CallError` that this answer means."""
        if not 200 <= self.status < 300:
            raise self._failure(profile)
        if self.status == 204 and not self.body:
            return Envelope(success=True)
        if "json" not in (kind := self.headers.get("content-type", "no content type")):
            raise self._bad(f"the answer is {kind.split(';')[0]}, not JSON: {self._told()[0]}")
        try:
            envelope = _decode_envelope(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._bad(f"the answer is not the documented envelope ({error})") from None
        if not envelope.success:
            reason, fields = self._told()
            raise Refused(
                self.call,
                f"the service answered {self.status} but says success: false. {reason}",
                status=self.status,
                fields=fields,
            )
        return envelope

    def retry_after(self) -> float | None:
        """Seconds the service asks to wait: Retry-After as seconds or date, x-ratelimit-reset.

        Dates are compared with the service's own clock (its Date header): ours may be wrong.
        """
        value = self.headers.get("retry-after") or self.headers.get("x-ratelimit-reset")
        if not value:
            return None
        now = _date(self.headers.get("date"))
        if re.fullmatch(r"-?\d{1,15}(\.\d{1,9})?", value.strip(), re.ASCII):
            seconds = float(value)
            if seconds > 1e9:  # a moment, not a span
                return None if now is None else max(0.0, seconds - now)
            return max(0.0, seconds)
        then = _date(value)
        return None if then is None or now is None else max(0.0, then - now)

    def _failure(self, profile: ServiceProfile) -> CallError:
        reason, fields = self._told()
        text = f"{self.status} {reason}".strip()
        if self.status == 429:
            return RateLimited(self.call, text, status=self.status, retry_after=self.retry_after())
        if self.status >= 500 or self.status == 408:
            return ServerFault(self.call, text, status=self.status)
        if self.status < 400:
            return self._bad("the service redirects elsewhere; redirects are never followed")
        return self._kind(profile)(self.call, text, status=self.status, fields=fields)

    def _kind(self, profile: ServiceProfile) -> type[Refused]:
        """Choose the class of a refusal. One status may mean two things in a profile."""
        status = self.status
        if status == 409:
            return Conflict
        if status == profile.unauthenticated_status:
            return NotAuthenticated
        if status == profile.not_found_status and (status != profile.validation_status):
            return NotFound
        if status == profile.not_found_status and self.call.body is None:
            return NotFound  # nothing was sent that could be invalid
        if status in (profile.forbidden_status, 403):
            return NotPermitted
        return {401: NotAuthenticated, 404: NotFound, 410: NotFound}.get(status, Refused)

    def _bad(self, reason: str) -> BadAnswer:
        return BadAnswer(self.call, reason, status=self.status)

    def _told(self) -> tuple[str, list[tuple[str, str]]]:
        """Find the human text in an error body of any shape, and the fields it names."""
        try:
            told = msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return _plain(self.body.decode("utf-8", "replace")), []
        fields: list[tuple[str, str]] = []
        if isinstance(told, dict):
            fields = _fields(told.get("errors"))
            told = next(
                (told[k] for k in ("message", "error", "detail", "title") if told.get(k)), ""
            )
            if isinstance(told, dict):
                told = told.get("message") or told.get("code") or ""
        return "; ".join([_plain(str(told)), *(f"{f}: {m}" for f, m in fields)]), fields


def _fields(errors: Any) -> list[tuple[str, str]]:
    """Read `errors` as [{field, message}] or {field: message}; anything else is no list."""
    if isinstance(errors, dict):
        return [(str(k), _plain(str(v))) for k, v in errors.items()]
    if not isinstance(errors, list):
        return []
    return [
        (str(e.get("field", "")), _plain(str(e.get("message", ""))))
        for e in errors
        if isinstance(e, dict)
    ]


def _plain(text: str) -> str:
    """Make one short line without markup of a text that came from outside."""
    text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", text[:20_000], flags=re.S | re.I)
    text = " ".join(html.unescape(text).split())
    return text if len(text) <= 300 else text[:299] + "…"


def _date(value: str | None) -> float | None:
    try:
        return parsedate_to_datetime(value or "").timestamp()
    except (ValueError, OverflowError):
        return None
