"""Conversation: the messages with one contact, as both sides saw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from chatkit.errors import InputError, safe_repr
from chatkit.inbox import Inbox, frames
from chatkit.inbox.events import Event, parse_contact
from chatkit.util.display import cut, escaped, many, visible
from chatkit.widgets.controls import join_files, join_styles
from chatkit.widgets.fields import FormButton, FormGroup, FormModel, Html
from chatkit.widgets.following import Follower

_MAX_TEXT = 10_000  #: characters of a message
_MAX_QUOTE = 80
_PAGE_SIZE = 100  #: messages that are shown more when asked for
_LOG = 'tabindex="0" role="log" aria-label="Messages, oldest first"'
#: What stands beside a message of ours; the words are there for who does not know the sign.
_TICKS = {"sent": "✓", "delivered": "✓✓", "read": "✓✓", "played": "▶", "failed": "⚠"}


class Conversation(Follower, FormModel):
    """The messages with one contact as bubbles, each of ours with its status.

    Shown, it follows the inbox: what is said next is there by itself, until `stop()`, the
    end of the inbox, or until its output is cleared.

    Args:
        inbox: Where the deliveries lie.
        contact: A number in E.164 form, as contacts have it.
        last: How many messages are shown at first; a button shows older ones.
        verified: True leaves out what was not signed rightly, which anyone can send; None
            takes it too.

    Raises:
        InputError: The contact is no number.
        StoreError: The inbox cannot be read.

    >>> chatkit.widgets.Conversation(inbox, "+447700900000")
    Conversation with +447700900000: 0 messages, 0 of them ours.
    """

    _css = FormModel._css + join_files(["inbox/conversation.css"])

    def __init__(
        self, inbox: Inbox, contact: str, *, last: int = 100, verified: bool | None = True
    ) -> None:
        self.contact = parse_contact(contact)
        if not self.contact:
            raise InputError('A contact is a number like "+16505550101".')
        if last < 1:
            raise InputError("A conversation shows one message at least: last=100.")
        self._last, self._verified = last, verified
        self.thread: list[ThreadMessage] = []  #: the messages that were read, oldest first
        self._events: list[Event] = []
        self._state: tuple[int, int] | None = None  #: of the inbox when it was read
        self._title, self._badge, self._note, self._log = Html(), Html(), Html(), Html()
        self._log.css = "cv-log"
        self._older = FormButton("", self.older, "plain small")
        head = FormGroup([self._title, self._badge], css="cv-head", row=True)
        parts = [head, self.status, self._note, self._older, self._log]
        super().__init__(inbox, FormGroup(parts, css="chatkit-conversation"))
        self.observe(lambda _: self._show(), names="stopped")
        self._read()
        self._show()

    def look(self) -> int:
        """Read new events of this contact, and return their number.

        Raises:
            StoreError: The inbox cannot be read.
        """
        with self._looking:
            before = self._events
            self._read()
            if self._events != before:
                self._show()
            return max(len(self._events) - len(before), 0)

    def older(self) -> int:
        """Show a hundred older messages, and return the number of those shown."""
        with self._looking:
            self._last += _PAGE_SIZE
            self._show()
            return min(self._last, len(self.thread))

    def _read(self) -> None:
        """Read the events of the contact, if anything has come or was verified since."""
        state = (self._inbox.last, self._inbox._store.verified_later)
        if state != self._state:
            events = self._inbox._read_events(contact=self.contact, verified=self._verified)
            self._events, self._state = list(events), state
            self.thread = combine_events(self._events)

    @safe_repr
    def __repr__(self) -> str:
        outbound = sum(message.outbound for message in self.thread)
        count = many(len(self.thread), "message")
        return f"Conversation with {visible(self.contact)}: {count}, {outbound} of them ours."

    # --- the page -------------------------------------------------------------------

    def _show_problem(self, problem: str) -> None:
        self.report(problem, wrong=True)

    def _make_saved_page(self) -> str:
        log = f'<div class="cv-log">{self._log.value}</div>'
        html = f"{self._title.value}{self._note.value}{log}"
        look = join_styles("inbox/conversation.css")
        return f'<style>{look}</style><div class="chatkit-conversation">{html}</div>'

    def _show(self) -> None:
        """Show the last messages; each day begins with its date."""
        name = next((message.name for message in reversed(self.thread) if message.name), None)
        title = f"{cut(name, 60)} · {self.contact}" if name else self.contact
        self._title.value = f'<h3 dir="auto">{escaped(title)}</h3>'
        state = "stopped" if self.stopped else "live"
        self._badge.value = f'<span class="chatkit-state {state}" role="status">{state}</span>'
        older = len(self.thread) - self._last
        note = "" if self.thread else "No message of this contact has been delivered here."
        if older > 0:
            note = f"{many(older, 'older message')} not shown: last={self._last}."
        self._note.value = f"<p>{escaped(note)}</p>" if note else ""
        self._older.label, self._older.hidden = f"Show {min(older, _PAGE_SIZE)} older", older <= 0
        known = {message.id: message for message in self.thread}
        day: date | None = None
        items = []
        for message in self.thread[-self._last :]:
            if message.at is not None and message.at.date() != day:
                day = message.at.date()
                items.append(f'<li class="cv-day">{day:%Y-%m-%d}, UTC</li>')
            items.append(_draw_bubble(message, known))
        self._log.value = f"<div {_LOG}><ol>{''.join(items)}</ol></div>" if items else ""
        self.draw()


def _draw_bubble(message: ThreadMessage, known: dict[str, ThreadMessage]) -> str:
    parts = [f'<span class="cv-who">{"We" if message.outbound else "They"}: </span>']
    if message.reply_to:
        to = known.get(message.reply_to)
        quoted = (to and (to.text or to.type)) or "a message that is not here"
        parts.append(f'<blockquote dir="auto">{escaped(cut(quoted, _MAX_QUOTE))}</blockquote>')
    if not message.delivered:
        parts.append("<em>A message whose words were not delivered here.</em>")
    elif message.type != "text":
        parts.append(f"<em>[{escaped(cut(str(message.type), 40))}]</em> ")
    if message.text:
        parts.append(f'<div class="cv-text" dir="auto">{_draw_lines(message.text)}</div>')
    if message.reactions:
        marks = " ".join(escaped(cut(mark, 12)) for mark in message.reactions[:20])
        parts.append(f'<div class="cv-marks" role="note" aria-label="Reactions">{marks}</div>')
    at = f"{message.at:%H:%M}" if message.at else "no time"
    parts.append(f'<div class="cv-foot">{at}{_draw_status(message)}</div>')
    author = "ours" if message.outbound else "theirs"
    failed = " cv-failed" if message.status == "failed" else ""
    return f'<li class="{author}{failed}">{"".join(parts)}</li>'


def _draw_lines(text: str) -> str:
    more = "…" if len(text) > _MAX_TEXT else ""
    return "<br>".join(map(escaped, text[:_MAX_TEXT].split("\n"))) + more


def _draw_status(message: ThreadMessage) -> str:
    if not message.outbound or not message.status:
        return ""
    name = cut(message.status, 20)
    when = f" {message.reached_at:%H:%M}" if message.reached_at else ""
    error = message.error if message.status == "failed" else None
    why = f" · {escaped(cut(error, 200))}" if error else ""
    tick = _TICKS.get(message.status, "·")
    sort = message.status if message.status in _TICKS else "other"
    mark = f'<i aria-hidden="true">{tick}</i>'
    return f' <span class="cv-{sort}">{mark} {escaped(name)}{when}{why}</span>'


# --- the messages in order, with what became of each ---------------------------------------

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STEPS = ("sent", "delivered", "read", "played", "failed")


class ThreadMessage(NamedTuple):
    """One message and its status.

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
    def delivered(self) -> bool:
        """True if the message itself was delivered here, and not only its status."""
        return self.type is not None


def combine_events(events: Sequence[Event]) -> list[ThreadMessage]:
    """Combine the events of a contact into messages, oldest first.

    A message of which only the status came was sent elsewhere, by a program or a phone.
    """
    statuses = {row["message_id"]: row for row in frames.make_status_rows(events)}
    marks: dict[str, list[str]] = {}
    for row in frames.TABLES["reactions"].make_rows(events):
        if row["emoji"]:
            marks.setdefault(row["message_id"], []).append(row["emoji"])
    messages = []
    for row in frames.TABLES["messages"].make_rows(events):
        key, outbound = row["message_id"], bool(row["outbound"])
        words = (row["type"] or "unknown", row["text"], row["name"], row["reply_to"])
        # a customer's own message may be marked as read: that is no status of ours
        status = _read_status(statuses.get(key) if outbound else None)
        reactions = tuple(marks.get(key, ()))
        messages.append(ThreadMessage(key, row["at"], outbound, *words, *status, reactions))
    delivered = {message.id for message in messages}
    for key, row in statuses.items():
        if key in delivered:
            continue
        at = next((row[f"{step}_at"] for step in _STEPS if row[f"{step}_at"]), None)
        nothing = (None, None, None, None)
        reactions = tuple(marks.get(key, ()))
        messages.append(ThreadMessage(key, at, True, *nothing, *_read_status(row), reactions))
    return sorted(messages, key=lambda message: message.at or _EPOCH)


def _read_status(row: Mapping[str, Any] | None) -> tuple[str | None, datetime | None, str | None]:
    """Return the status of a message, its time, and its error."""
    if row is None:
        return None, None, None
    error = ": ".join(row[name] for name in ("error_code", "error") if row[name])
    return row["status"], row.get(f"{row['status']}_at"), error or None
