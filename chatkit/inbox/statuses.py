"""The status of each message: where it has got to, and how long each step took.

Deliveries come in any order and more than once. So a status only moves up, from sent over
delivered and read to played; failed is the end whenever it comes. What is found is the
same for every order of the same deliveries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from chatkit.inbox.events import Event, text

if TYPE_CHECKING:
    from chatkit.frame import Kind

_RANKS = {"sent": 1, "delivered": 2, "read": 3, "played": 4, "failed": 5}
_STEPS = tuple(_RANKS)

COLUMNS: dict[str, Kind] = {
    "message_id": "text",
    "contact": "text",
    "status": "text",
    **{f"{step}_at": "time" for step in _STEPS},
    "error_code": "text",
    "error": "text",
    "category": "text",
    "number_id": "text",
    "delivery": "number",
}


class Course:
    """What is known of one message's way."""

    __slots__ = ("category", "contact", "delivery", "error", "number_id", "status", "times")

    def __init__(self) -> None:
        self.status: tuple[int, datetime | None, str] | None = None
        self.times: dict[str, datetime] = {}
        self.contact: str | None = None
        self.number_id: str | None = None
        self.category: str | None = None
        self.error: tuple[str | None, str | None] | None = None
        self.delivery = 0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Course:
        """What an earlier frame knows of a message."""
        course = cls()
        course.times = {step: row[f"{step}_at"] for step in _STEPS if row[f"{step}_at"]}
        if row["status"]:
            name = row["status"]
            course.status = (_RANKS.get(name, 0), course.times.get(name), name)
        course.contact, course.number_id = row["contact"], row["number_id"]
        course.category, course.delivery = row["category"], row["delivery"]
        if row["error_code"] or row["error"]:
            course.error = (row["error_code"], row["error"])
        return course

    def add(self, event: Event) -> None:
        """Take one status in."""
        name, at = event.type or "", event.at
        self.delivery = max(self.delivery, event.delivery)
        # The earliest and the smallest: the same whichever came first.
        if at is not None and name in _RANKS:
            self.times[name] = min(at, self.times.get(name, at))
        reached = (_RANKS.get(name, 0), at, name)
        if self.status is None or _order(reached) > _order(self.status):
            self.status = reached
        self.contact = _least(self.contact, event.contact)
        self.number_id = _least(self.number_id, event.number_id)
        pricing = event.fields.get("pricing")
        if isinstance(pricing, dict):
            self.category = _least(self.category, text(pricing.get("category")))
        error = _error(event.fields.get("errors"))
        if error is not None and (self.error is None or _known(error) < _known(self.error)):
            self.error = error

    def row(self, message_id: str) -> dict[str, Any]:
        """The row of a frame."""
        code, error = self.error or (None, None)
        return {
            "message_id": message_id,
            "contact": self.contact,
            "status": self.status[2] if self.status else None,
            **{f"{step}_at": self.times.get(step) for step in _STEPS},
            "error_code": code,
            "error": error,
            "category": self.category,
            "number_id": self.number_id,
            "delivery": self.delivery,
        }


def courses(
    events: Iterable[Event], known: Mapping[str, Course] | None = None
) -> dict[str, Course]:
    """Follow each message through these events. In memory are the messages, not the events."""
    found = dict(known or {})
    for event in events:
        # Calls have statuses of another kind under the same name.
        if event.family == "status" and event.id and event.fields.get("type", "message") != "call":
            found.setdefault(event.id, Course()).add(event)
    return found


def rows(found: dict[str, Course]) -> Iterator[dict[str, Any]]:
    """The rows of a frame, in the order of the messages."""
    return (course.row(message_id) for message_id, course in found.items())


def _order(reached: tuple[int, datetime | None, str]) -> tuple[int, float, str]:
    rank, at, name = reached
    return rank, at.timestamp() if at else 0.0, name


def _least(known: str | None, new: str | None) -> str | None:
    return min((one for one in (known, new) if one), default=None)


def _known(error: tuple[str | None, str | None]) -> tuple[str, str]:
    return error[0] or "", error[1] or ""


def _error(errors: Any) -> tuple[str | None, str | None] | None:
    """The code and the words of the first error."""
    first = errors[0] if isinstance(errors, list) and errors else None
    if not isinstance(first, dict):
        return None
    data = first.get("error_data")
    details = text(data.get("details")) if isinstance(data, dict) else None
    title = text(first.get("title")) or text(first.get("message"))
    said = ": ".join(dict.fromkeys(one for one in (title, details) if one))
    return text(first.get("code")), said or None
