"""A delivery, before and after it is stored, and which ones are meant."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple


class Entry(NamedTuple):
    """A delivery that is about to be stored: what came, and what was found of it."""

    received: int
    identity: str
    kind: str | None
    verified: bool
    reason: str
    is_json: bool
    path: str
    headers: str
    body: bytes


class Delivery(NamedTuple):
    """A stored delivery: exactly what came, when, and whether its signature was right."""

    id: int
    received_at: datetime
    identity: str
    kind: str | None
    verified: bool
    reason: str
    is_json: bool
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    verified_at: datetime | None = None  # when it was verified, if later than it came

    def __repr__(self) -> str:
        verdict = "verified" if self.verified else f"not verified: {self.reason}"
        when = self.received_at.isoformat(sep=" ", timespec="seconds")
        size = f"{len(self.body):,} bytes"
        return f"<delivery {self.id}, {when}, {self.kind or 'no kind'}, {size}, {verdict}>"


class Verdict(NamedTuple):
    """What was found of a stored delivery when it was verified again."""

    id: int
    identity: str
    reason: str


class Which(NamedTuple):
    """Which deliveries are meant; the database chooses them.

    `since` and `until` are ids of deliveries (after it, up to it) or times (from it on,
    before it). `containing` is a piece of the body, byte by byte. `late` takes only what
    was verified after it had come.
    """

    since: int | datetime | None = None
    until: int | datetime | None = None
    kinds: Sequence[str] | None = None
    verified: bool | None = None
    containing: bytes | None = None
    repeats: bool = False
    late: bool = False
