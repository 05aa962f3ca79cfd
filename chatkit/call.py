"""Call: one request as a value; planned, shown, sent, journalled."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from chatkit.errors import InputError, Problem

#: Bytes that stay as they are in a path segment (RFC 3986, unreserved).
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


@dataclass(frozen=True, slots=True)
class Call:
    """One request: a method, path segments below the account, a query and a JSON body.

    >>> Call("GET", ("contacts", 17))
    GET contacts/17
    >>> Call("GET", ("flows",), {"page": 2}).target
    'flows?page=2'

    Segments are checked here, once, for every way a call is made: a segment that would
    change the path (`..`, an empty one) is refused with `InputError`, the rest is quoted.
    """

    method: str
    segments: tuple[str | int, ...]
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    target: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Build the path with its query: what follows the account in the address."""
        target = "/".join([_segment(s) for s in self.segments])
        if self.query:
            target += "?" + urlencode(self.query, quote_via=quote)
        object.__setattr__(self, "target", target)

    @property
    def writes(self) -> bool:
        """Whether the call changes anything."""
        return self.method != "GET"

    def __repr__(self) -> str:
        """Show method and path; the body may hold names and numbers and stays out."""
        return f"{self.method} {self.target}"


def _segment(segment: str | int) -> str:
    """Quote one path segment, or refuse what would lead elsewhere.

    Quoting alone does not help against `.` and `..`: every HTTP client resolves them.
    """
    if isinstance(segment, int) and not isinstance(segment, bool):
        return str(segment)
    if isinstance(segment, str) and segment and _UNRESERVED.issuperset(segment):
        if segment.strip("."):
            return segment
        raise _refused(segment, "would change the path")
    if not isinstance(segment, str):
        raise _refused(segment, "is not text or a whole number")
    if not segment:
        raise _refused(segment, "is empty")
    if len(segment) > 512:
        raise _refused(segment[:40] + "…", "is longer than 512 characters")
    # Control, format (bidirectional, zero-width), surrogate, private, unassigned.
    if odd := next((c for c in segment if unicodedata.category(c)[0] == "C"), None):
        raise _refused(segment, f"holds the invisible character U+{ord(odd):04X}")
    return quote(segment, safe="")


def _refused(segment: object, reason: str) -> InputError:
    return InputError("This cannot be part of an address:", [Problem("key", repr(segment), reason)])
