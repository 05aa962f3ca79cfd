"""Call: one request as a value, which is planned, shown, sent and journalled."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any
from urllib.parse import quote

from chatkit.errors import InputError, Problem
from chatkit.util.display import shorten

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})

#: What stands in a path or a query as it is (RFC 3986, unreserved).
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
#: What may stand unquoted besides, and does, so that nothing on the way spells it otherwise.
_SAFE_IN_PATH = "!$&'()*,:;=@"
_SAFE_IN_QUERY = "!$'()*,/:?@"


@dataclass(frozen=True, slots=True)
class Call:
    """One request: a method, path segments below the account, a query and a JSON body.

    >>> Call("GET", ("contacts", 17))
    GET contacts/17
    >>> Call("GET", ("flows",), {"page": 2}).target
    'flows?page=2'

    All of it is checked here, once, for every way a call is made. A segment that would
    change the path (`..`, an empty one), hide in it, or begin or end with a space is refused;
    the rest is quoted.

    Raises:
        InputError: A segment or a value of the query cannot be sent.
    """

    method: str
    segments: tuple[str | int, ...]
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    target: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the call and build `target`: its path below the account, with its query."""
        if self.method not in METHODS:
            reason = f"is not one of {', '.join(sorted(METHODS))}"
            raise _make_address_error("method", self.method, reason)
        target = "/".join([_quote_segment(s) for s in self.segments])
        if self.query:
            pairs = [f"{_quote_value(k, k)}={_quote_value(k, v)}" for k, v in self.query.items()]
            target += "?" + "&".join(pairs)
        object.__setattr__(self, "target", target)

    @property
    def writes(self) -> bool:
        """True unless the call only reads, so that it is idempotent and may be retried."""
        return self.method != "GET"

    def serialize_body(self) -> bytes | None:
        """Serialize the body as JSON in UTF-8; None without a body.

        Raises:
            InputError: It holds what JSON cannot (NaN, half a character, an object).
        """
        if self.body is None:
            return None
        # The standard library's writer refuses what JSON has not; faster ones write null.
        try:
            text = json.dumps(self.body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            return text.encode()
        except (TypeError, ValueError, RecursionError) as error:
            reason = f"{self}: the body cannot be written as JSON ({error})"
        raise InputError(reason)

    def __repr__(self) -> str:
        """Show method and path, without the body, which may hold personal data."""
        return f"{self.method} {self.target}"


def find_segment_fault(text: str) -> str:
    """Return the reason why a text cannot be one segment of a path; "" if it can.

    Quoting alone does not help against `.` and `..`: programs on the way resolve them.
    """
    if len(text) > 512:
        return "is longer than 512 characters"
    if not text:
        return "is empty"
    if not text.partition(";")[0].strip("."):  # some servers cut a segment at its ;
        return "would change the path"
    if _UNRESERVED.issuperset(text):
        return ""
    # Control, format (bidirectional, zero-width), surrogate, private, unassigned.
    if hidden := next((c for c in text if unicodedata.category(c)[0] == "C"), None):
        return f"holds the invisible character U+{ord(hidden):04X}"
    if text != text.strip():  # some servers strip it, and find another record
        return "begins or ends with a space" if text.strip() else "is only spaces"
    return ""


def _quote_segment(segment: object) -> str:
    """Quote one path segment; refuse one that would change the path."""
    text = _format_parameter("key", segment)
    if reason := find_segment_fault(text):
        raise _make_address_error("key", text, reason)
    return text if _UNRESERVED.issuperset(text) else quote(text, safe=_SAFE_IN_PATH)


def _quote_value(name: str, value: object) -> str:
    """Quote a name or a value of the query."""
    text = _format_parameter(name, value)
    if _UNRESERVED.issuperset(text):
        return text
    try:
        return quote(text, safe=_SAFE_IN_QUERY)
    except UnicodeEncodeError:
        raise _make_address_error(name, text, "holds half a character") from None


def _format_parameter(name: str, value: object) -> str:
    """Return a text or a whole number as text; refuse any other type."""
    if isinstance(value, str):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):  # those of numpy too
        number = int(value)
        if abs(number) < 10**100:
            return str(number)
        raise _make_address_error(
            name, f"about 2^{number.bit_length()}", "has more than 100 digits"
        )
    raise _make_address_error(name, value, "is not text or a whole number")


def _make_address_error(name: str, value: object, reason: str) -> InputError:
    """Return the error for a value that cannot be part of an address."""
    problem = Problem(name, shorten(repr(value)), reason)
    return InputError("This cannot be part of an address:", [problem])
