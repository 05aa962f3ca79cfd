"""Talk: the messages with one contact, in order, with what became of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from chatkit.bulk.table import records

if TYPE_CHECKING:
    import pandas as pd

_FIRST = datetime(1970, 1, 1, tzinfo=UTC)
_STEPS = ("sent", "delivered", "read", "played")


class Said(NamedTuple):
    """One message: who said what, and how far it came.

    `text` is None where a message has no words, or where only its status was delivered.
    """

    id: str
    at: datetime | None
    outbound: bool
    type: str | None
    text: str | None
    name: str | None = None
    reply_to: str | None = None
    status: str | None = None
    reached_at: datetime | None = None
    error: str | None = None
    reactions: tuple[str, ...] = ()

    @property
    def heard(self) -> bool:
        """Whether the message itself was delivered here, and not only its status."""
        return self.type is not None


def talk(messages: pd.DataFrame, statuses: pd.DataFrame, reactions: pd.DataFrame) -> list[Said]:
    """Put three frames of an inbox together, in the order in which things were said."""
    courses = {str(row["message_id"]): row for row in _rows(statuses)}
    marks: dict[str, list[str]] = {}
    for row in _rows(reactions):
        if row["emoji"]:
            marks.setdefault(str(row["message_id"]), []).append(str(row["emoji"]))
    found = [_said(row, courses, marks) for row in _rows(messages)]
    heard = {said.id for said in found}
    found += [_silent(row, marks) for key, row in courses.items() if key not in heard]
    return sorted(found, key=lambda said: said.at or _FIRST)


def _said(
    row: Mapping[str, Any], courses: Mapping[str, Mapping[str, Any]], marks: Mapping[str, list[str]]
) -> Said:
    key = str(row["message_id"])
    # a customer's own message may be marked as read: that is no status of ours
    course = courses.get(key, {}) if row["outbound"] else {}
    return Said(
        key,
        row["at"],
        bool(row["outbound"]),
        row["type"] or "unknown",
        row["text"],
        row["name"],
        row["reply_to"],
        *_course(course),
        tuple(marks.get(key, ())),
    )


def _silent(row: Mapping[str, Any], marks: Mapping[str, list[str]]) -> Said:
    """A message of which only the status came: it was sent elsewhere, by a program or a phone."""
    at = next((row[f"{step}_at"] for step in (*_STEPS, "failed") if row[f"{step}_at"]), None)
    key = str(row["message_id"])
    course = _course(row)
    return Said(key, at, True, None, None, None, None, *course, tuple(marks.get(key, ())))


def _course(row: Mapping[str, Any]) -> tuple[str | None, datetime | None, str | None]:
    status = row.get("status")
    error = ": ".join(str(row[name]) for name in ("error_code", "error") if row.get(name))
    return status, row.get(f"{status}_at"), error or None


def _rows(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    return records(frame.reset_index(), range(len(frame)))
