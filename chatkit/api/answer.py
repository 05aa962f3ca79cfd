"""Answer: the HTTP answer to a call, and the envelope or the error that it holds."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import msgspec

from chatkit.api.call import Call
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
from chatkit.util.display import shorten

_NULL = msgspec.Raw(b"null")
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,9})?")
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_TEXT_KEYS = ("message", "error", "detail", "title", "code")
# What is never closed ends with the text: a pattern that looked further would be slow.
_MARKUP = re.compile(r"<(script|style)\b.*?(</\1>|$)|<[^>]*(>|$)", re.DOTALL | re.IGNORECASE)


class Pagination(msgspec.Struct, rename="camel", frozen=True):
    """The position of a page in its list (API document, Response envelope)."""

    page: int
    page_size: int
    total_count: int
    total_pages: int


class Envelope(msgspec.Struct, rename="camel", frozen=True):
    """The envelope of a success; `data` is still JSON text."""

    success: bool
    status_code: int | None = None
    message: str | None = None
    data: msgspec.Raw = _NULL
    pagination: Pagination | None = None


_decode_envelope = msgspec.json.Decoder(Envelope).decode


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole HTTP answer: status, header fields (asked for in lower case), decoded body."""

    call: Call
    status: int
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        """Show call and status, without the body, which may hold personal data."""
        return f"<{self.status} to {self.call}, {len(self.body)} bytes>"

    def unwrap(self, profile: ServiceProfile) -> Envelope:
        """Return the envelope of a success, or raise the `CallError` that this answer means."""
        if not 200 <= self.status < 300:
            raise self._make_status_error(profile)
        if self.status == 204 and not self.body:
            return Envelope(success=True)
        if "json" not in (kind := self.headers.get("content-type", "").lower()):
            kind = _clean_line(kind.split(";")[0]) or "of no known type"
            raise self._make_bad_answer(
                f"the answer is {kind}, not JSON: {self._parse_error_body()[0] or '(empty)'}"
            )
        try:
            envelope = _decode_envelope(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._make_bad_answer(
                f"the answer is not the documented envelope ({error})"
            ) from None
        if not envelope.success:
            reason, fields = self._parse_error_body()
            raise Refused(
                self.call,
                f"the service answered {self.status} but says success: false. {reason}".strip(),
                status=self.status,
                fields=fields,
            )
        return envelope

    def parse_retry_after(self) -> float | None:
        """Return the seconds that Retry-After, or else x-ratelimit-reset, asks to wait.

        Moments are compared with the service's own clock (its Date): ours may be wrong.
        """
        value = self.headers.get("retry-after") or self.headers.get("x-ratelimit-reset")
        if not value:
            return None
        if _NUMBER.fullmatch(value.strip()):
            content = float(value)
            if content < 1e9:  # a span
                return max(0.0, content)
            # some count milliseconds
            then: float | None = content / 1000 if content > 1e11 else content
        else:
            then = parse_http_date(value)
        now = parse_http_date(self.headers.get("date"))
        return None if then is None or now is None else max(0.0, then - now)

    def _make_status_error(self, profile: ServiceProfile) -> CallError:
        """Make the error that a status outside 2xx means."""
        reason, fields = self._parse_error_body()
        text = f"{self.status} {reason or _PHRASES.get(self.status, '')}".strip()
        if self.status == 429:
            return RateLimited(
                self.call, text, status=self.status, retry_after=self.parse_retry_after()
            )
        if self.status >= 500 or self.status == 408:
            return ServerFault(self.call, text, status=self.status)
        if self.status < 400:
            return self._make_bad_answer(
                "the service redirects elsewhere; redirects are never followed"
            )
        return self._choose_refusal_class(profile)(
            self.call, text, status=self.status, fields=fields
        )

    def _choose_refusal_class(self, profile: ServiceProfile) -> type[Refused]:
        """Return the class of a refusal by its status, which may mean two things in a profile."""
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

    def _make_bad_answer(self, reason: str) -> BadAnswer:
        """Make the error for an answer that is not as documented."""
        return BadAnswer(self.call, reason, status=self.status)

    def _parse_error_body(self) -> tuple[str, list[tuple[str, str]]]:
        """Return the message of an error body of any shape, and the fields that it names."""
        try:
            content = msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            content = None
        whole = _clean_line(self.body[:20_000].decode("utf-8", "replace"))
        if not isinstance(content, dict):
            return (_extract_error_text(content) or whole), []
        fields = _parse_field_errors(content.get("errors"))
        text = next(
            (text for key in _TEXT_KEYS if (text := _extract_error_text(content.get(key)))), ""
        )
        details = [f"{field}: {message}" for field, message in fields]
        parts = [text, *(detail for detail in details if detail not in text)]
        return ("; ".join(filter(None, parts)) or whole), fields


def _extract_error_text(content: Any) -> str:
    """Return the text in a text, a list or an object; "" without one."""
    if isinstance(content, str):
        return _clean_line(content)
    if isinstance(content, list):
        return "; ".join([_clean_line(t) for t in content[:10] if isinstance(t, str)])
    if isinstance(content, dict):
        texts = (content.get(key) for key in _TEXT_KEYS)
        return next((_clean_line(t) for t in texts if isinstance(t, str)), "")
    return ""


def _parse_field_errors(errors: Any) -> list[tuple[str, str]]:
    """Read the fields and messages of [{field, message}] or {field: message}."""
    if isinstance(errors, dict):
        return [
            (_clean_line(field), _extract_error_text(message)) for field, message in errors.items()
        ]
    if not isinstance(errors, list):
        return []
    named = [e for e in errors if isinstance(e, dict) and e.get("field")]
    return [(_extract_error_text(e["field"]), _extract_error_text(e)) for e in named]


def _clean_line(text: str) -> str:
    """Return a text as one short line without markup and control characters."""
    text = _MARKUP.sub(" ", text[:20_000])
    text = "".join([c if c.isprintable() else " " for c in html.unescape(text)])
    return shorten(" ".join(text.split()), 300)


def parse_http_date(value: str | None) -> float | None:
    """Parse an HTTP date as seconds since 1970; None if it is none."""
    try:
        time = parsedate_to_datetime(value or "")
        return time.replace(tzinfo=time.tzinfo or UTC).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
