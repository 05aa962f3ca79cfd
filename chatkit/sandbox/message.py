"""What goes in and out of the service: a request and an answer, without sockets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Request(NamedTuple):
    """One call as it arrived: raw percent-encoded path, query, lower-case header names, body."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class Answer:
    """What the service says to a request."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
