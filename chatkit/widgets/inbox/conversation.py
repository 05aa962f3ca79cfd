"""Conversation: the messages with one contact, as both sides saw them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import ipywidgets as w

from chatkit.display import cut, escaped, many, visible
from chatkit.errors import InputError, steady
from chatkit.frame import records
from chatkit.inbox.inbox import Inbox
from chatkit.widgets.assets import joined_text
from chatkit.widgets.controls import ActionButton, Panel
from chatkit.widgets.inbox.delivery_view import contact_of

if TYPE_CHECKING:
    import pandas as pd


_LONG = 4000  #: characters of a message
_QUOTED = 80
#: What stands beside a message of ours; the words are there for who does not know the sign.
_TICKS = {"sent": "✓", "delivered": "✓✓", "read": "✓✓", "played": "▶", "failed": "⚠"}


class Conversation(Panel):
    """The messages with one contact as bubbles, each of ours with its status.

    Args:
        inbox: Where the deliveries lie.
        contact: A number in E.164 form, as contacts have it.
        last: How many messages are shown; the older ones are counted.
        verified: True leaves out what was not signed rightly, which anyone can send; None
            takes it too.

    Raises:
        InputError: The contact is no number.
        StoreError: The inbox cannot be read.

    >>> chatkit.Conversation(inbox, "+447700900000")
    Conversation with +447700900000: 0 messages, 0 of them ours.
    """

    _style = joined_text(["inbox/conversation.css"])
    _css_classes = ("chatkit-conversation",)

    def __init__(
        self, inbox: Inbox, contact: str, *, last: int = 100, verified: bool | None = True
    ) -> None:
        self.contact = contact_of(contact)
        if not self.contact:
            raise InputError('A contact is a number like "+16505550101".')
        if last < 1:
            raise InputError("A conversation shows one message at least: last=100.")
        self._inbox, self._last, self._verified = inbox, last, verified
        self.thread: list[ThreadMessage] = []  #: all messages, oldest first
        self._bubbles = w.HTML()
        super().__init__([self._bubbles, ActionButton("Look again", self.refresh)])
        self.refresh()

    def refresh(self) -> None:
        """Read the inbox again.

        Raises:
            StoreError: It cannot be read.
        """
        choice: dict[str, Any] = {"contact": self.contact, "verified": self._verified}
        inbox = self._inbox
        self.thread = thread(
            inbox.messages(**choice), inbox.statuses(**choice), inbox.reactions(**choice)
        )
        self._bubbles.value = self._html()

    @steady
    def __repr__(self) -> str:
        ours = sum(said.outbound for said in self.thread)
        return (
            f"Conversation with {visible(self.contact)}: {many(len(self.thread), 'message')}, "
            f"{ours} of them ours."
        )

    def _page(self) -> str:
        html = f"<style>{self._style}</style>{self._html()}"
        return f'<div class="chatkit-conversation">{html}</div>'

    def _html(self) -> str:
        name = next((said.name for said in reversed(self.thread) if said.name), None)
        title = f"{cut(name, 60)} · {self.contact}" if name else self.contact
        parts = [f'<h3 dir="auto">{escaped(title)}</h3>']
        older = len(self.thread) - self._last
        if older > 0:
            parts.append(f"<p>{many(older, 'older message')} not shown: last={self._last}.</p>")
        if not self.thread:
            parts.append("<p>No message of this contact has been delivered here.</p>")
        known = {said.id: said for said in self.thread}
        day: date | None = None
        bubbles = []
        for said in self.thread[-self._last :]:
            if said.at is not None and said.at.date() != day:
                day = said.at.date()
                bubbles.append(f'<li class="cv-day">{day:%Y-%m-%d}, UTC</li>')
            bubbles.append(_bubble(said, known))
        box = (
            f'<ol tabindex="0" aria-label="Messages, oldest first">{"".join(bubbles)}</ol>'
            if bubbles
            else ""
        )
        return f'<div class="tex2jax_ignore mathjax_ignore">{"".join(parts)}{box}</div>'


def _bubble(said: ThreadMessage, known: dict[str, ThreadMessage]) -> str:
    parts = [f'<span class="cv-who">{"We" if said.outbound else "They"}: </span>']
    if said.reply_to:
        to = known.get(said.reply_to)
        quoted = (to and (to.text or to.type)) or "a message that is not here"
        parts.append(f'<blockquote dir="auto">{escaped(cut(quoted, _QUOTED))}</blockquote>')
    if not said.heard:
        parts.append("<em>A message whose words were not delivered here.</em>")
    elif said.type != "text":
        parts.append(f"<em>[{escaped(cut(str(said.type), 40))}]</em> ")
    if said.text:
        lines = "<br>".join(map(escaped, said.text[:_LONG].split("\n")))
        more = "…" if len(said.text) > _LONG else ""
        parts.append(f'<div class="cv-text" dir="auto">{lines}{more}</div>')
    if said.reactions:
        marks = " ".join(escaped(cut(mark, 12)) for mark in said.reactions[:20])
        parts.append(f'<div class="cv-marks" role="note" aria-label="Reactions">{marks}</div>')
    at = f"{said.at:%H:%M}" if said.at else "no time"
    parts.append(f'<div class="cv-foot">{at}{_status(said)}</div>')
    side = "ours" if said.outbound else "theirs"
    failed = " cv-failed" if said.status == "failed" else ""
    return f'<li class="{side}{failed}">{"".join(parts)}</li>'


def _status(said: ThreadMessage) -> str:
    if not said.outbound or not said.status:
        return ""
    name = cut(said.status, 20)
    when = f" {said.reached_at:%H:%M}" if said.reached_at else ""
    why = f" · {escaped(cut(said.error, 200))}" if said.error and said.status == "failed" else ""
    tick = _TICKS.get(said.status, "·")
    sort = said.status if said.status in _TICKS else "other"
    mark = f'<i aria-hidden="true">{tick}</i>'
    return f' <span class="cv-{sort}">{mark} {escaped(name)}{when}{why}</span>'


# --- the messages in order, with what became of each ---------------------------------------

_FIRST = datetime(1970, 1, 1, tzinfo=UTC)
_STEPS = ("sent", "delivered", "read", "played")


class ThreadMessage(NamedTuple):
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


def thread(
    messages: pd.DataFrame, statuses: pd.DataFrame, reactions: pd.DataFrame
) -> list[ThreadMessage]:
    """Put three frames of an inbox together, in the order in which things were said."""
    courses = {str(row["message_id"]): row for row in _rows(statuses)}
    marks: dict[str, list[str]] = {}
    for row in _rows(reactions):
        if row["emoji"]:
            marks.setdefault(str(row["message_id"]), []).append(str(row["emoji"]))
    found = [_message(row, courses, marks) for row in _rows(messages)]
    heard = {said.id for said in found}
    found += [_silent(row, marks) for key, row in courses.items() if key not in heard]
    return sorted(found, key=lambda said: said.at or _FIRST)


def _message(
    row: Mapping[str, Any], courses: Mapping[str, Mapping[str, Any]], marks: Mapping[str, list[str]]
) -> ThreadMessage:
    key = str(row["message_id"])
    # a customer's own message may be marked as read: that is no status of ours
    course = courses.get(key, {}) if row["outbound"] else {}
    return ThreadMessage(
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


def _silent(row: Mapping[str, Any], marks: Mapping[str, list[str]]) -> ThreadMessage:
    """A message of which only the status came: it was sent elsewhere, by a program or a phone."""
    at = next((row[f"{step}_at"] for step in (*_STEPS, "failed") if row[f"{step}_at"]), None)
    key = str(row["message_id"])
    course = _course(row)
    return ThreadMessage(key, at, True, None, None, None, None, *course, tuple(marks.get(key, ())))


def _course(row: Mapping[str, Any]) -> tuple[str | None, datetime | None, str | None]:
    status = row.get("status")
    error = ": ".join(str(row[name]) for name in ("error_code", "error") if row.get(name))
    return status, row.get(f"{status}_at"), error or None


def _rows(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    return records(frame.reset_index(), range(len(frame)))
