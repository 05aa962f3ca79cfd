"""Conversation: the messages with one contact, as both sides saw them."""

from __future__ import annotations

from datetime import date
from typing import Any

import ipywidgets as w

from chatkit.display import cut, escaped, many, visible
from chatkit.errors import InputError, steady
from chatkit.inbox.inbox import Inbox
from chatkit.widgets.button import Button
from chatkit.widgets.inbox.line import contact_of
from chatkit.widgets.inbox.talk import Said, talk
from chatkit.widgets.packed import joined

_STYLE = joined(["inbox/conversation.css"])
_LONG = 4000  #: characters of a message
_QUOTED = 80
#: What stands beside a message of ours; the words are there for who does not know the sign.
_TICKS = {"sent": "✓", "delivered": "✓✓", "read": "✓✓", "played": "▶", "failed": "⚠"}


class Conversation(w.VBox):  # type: ignore[misc]  # ipywidgets has no types
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
    """

    def __init__(
        self, inbox: Inbox, contact: str, *, last: int = 100, verified: bool | None = True
    ) -> None:
        self.contact = contact_of(contact)
        if not self.contact:
            raise InputError('A contact is a number like "+16505550101".')
        if last < 1:
            raise InputError("A conversation shows one message at least: last=100.")
        self._inbox, self._last, self._verified = inbox, last, verified
        self.talk: list[Said] = []  #: all messages, oldest first
        self._page = w.HTML()
        self._again = Button("Look again", self.refresh)
        super().__init__([w.HTML(f"<style>{_STYLE}</style>"), self._page, self._again])
        self.add_class("chatkit-conversation")
        self.refresh()

    def refresh(self) -> None:
        """Read the inbox again.

        Raises:
            StoreError: It cannot be read.
        """
        choice: dict[str, Any] = {"contact": self.contact, "verified": self._verified}
        inbox = self._inbox
        self.talk = talk(
            inbox.messages(**choice), inbox.statuses(**choice), inbox.reactions(**choice)
        )
        self._page.value = self._html()

    @steady
    def __repr__(self) -> str:
        ours = sum(said.outbound for said in self.talk)
        return (
            f"Conversation with {visible(self.contact)}: {many(len(self.talk), 'message')}, "
            f"{ours} of them ours."
        )

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)
        html = f"<style>{_STYLE}</style>{self._html()}"
        return {
            **bundle,
            "text/plain": repr(self),
            "text/html": f'<div class="chatkit-conversation">{html}</div>',
        }

    def _html(self) -> str:
        name = next((said.name for said in reversed(self.talk) if said.name), None)
        title = f"{cut(name, 60)} · {self.contact}" if name else self.contact
        parts = [f'<h4 dir="auto">{escaped(title)}</h4>']
        older = len(self.talk) - self._last
        if older > 0:
            parts.append(f"<p>{many(older, 'older message')} not shown: last={self._last}.</p>")
        if not self.talk:
            parts.append("<p>No message of this contact has been delivered here.</p>")
        known = {said.id: said for said in self.talk}
        day: date | None = None
        bubbles = []
        for said in self.talk[-self._last :]:
            if said.at is not None and said.at.date() != day:
                day = said.at.date()
                bubbles.append(f'<li class="cv-day">{day:%Y-%m-%d}, UTC</li>')
            bubbles.append(_bubble(said, known))
        box = f'<ol aria-label="Messages, oldest first">{"".join(bubbles)}</ol>' if bubbles else ""
        return f'<div class="tex2jax_ignore mathjax_ignore">{"".join(parts)}{box}</div>'


def _bubble(said: Said, known: dict[str, Said]) -> str:
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


def _status(said: Said) -> str:
    if not said.outbound or not said.status:
        return ""
    name = cut(said.status, 20)
    when = f" {said.reached_at:%H:%M}" if said.reached_at else ""
    why = f" · {escaped(cut(said.error, 200))}" if said.error and said.status == "failed" else ""
    tick = _TICKS.get(said.status, "·")
    sort = said.status if said.status in _TICKS else "other"
    mark = f'<i aria-hidden="true">{tick}</i>'
    return f' <span class="cv-{sort}">{mark} {escaped(name)}{when}{why}</span>'
