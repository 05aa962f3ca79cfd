"""Registrations: the webhooks of an account, their health, and a form for a new one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from html import escape
from typing import Any

import ipywidgets as w

from chatkit.display import cut, escaped, many
from chatkit.errors import CallError, ChatkitError, steady
from chatkit.frame import records
from chatkit.webhooks import MAX_WEBHOOKS, Webhooks
from chatkit.widgets.assets import joined_text
from chatkit.widgets.controls import Button, Message
from chatkit.widgets.inbox.webhook_form import WebhookForm

_STYLE = joined_text(["inbox/registrations.css"])


class Registrations(w.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """The webhooks of an account, those that need you first; switch them on and off, add one.

    Args:
        room: `client.webhooks`.
        quiet: Hours without a delivery that are normal for you, or a timedelta.

    Raises:
        InputError: `quiet` cannot be used.
        CallError: The list cannot be read.
    """

    def __init__(self, room: Webhooks, *, quiet: float | timedelta = 24) -> None:
        self._room, self._quiet = room, quiet
        self.rows: list[dict[str, Any]] = []  #: what the list shows, with health and reason
        self.form = WebhookForm(room, self._look)
        self._title, self._list, self._message = w.HTML(), w.VBox(), Message()
        self._again = Button("Look again", self._look)
        style = w.HTML(f"<style>{_STYLE}</style>")
        super().__init__([style, self._title, self._list, self._again, self._message, self.form])
        self.add_class("chatkit-registrations")
        self.refresh()

    def refresh(self) -> None:
        """Read the list again.

        Raises:
            CallError: It cannot be read.
        """
        frame = self._room.health(quiet=self._quiet)
        self.rows = [*records(frame.reset_index(), range(len(frame)))]
        self._title.value = f"<h3>{escape(self._said())}</h3>"
        self._list.children = [self._row(row) for row in self.rows]
        self.form.used(len(self.rows))

    def switch(self, webhook: int, *, on: bool) -> None:
        """Activate a webhook, or deactivate it.

        Raises:
            NotFound: There is none with that id.
            InDoubt: The answer was lost; the change may have landed.
        """
        (self._room.activate if on else self._room.deactivate)(webhook)
        self.refresh()

    @property
    def message(self) -> str:
        """What it says of the last click."""
        return self._message.text

    def _said(self) -> str:
        poor = sum(row["health"] == "failing" for row in self.rows)
        more = f", {poor} failing" if poor else ""
        return f"{many(len(self.rows), 'webhook')} of {MAX_WEBHOOKS}{more}"

    def _row(self, row: Mapping[str, Any]) -> w.HBox:
        active, webhook = bool(row["is_active"]), row["id"]
        label = f"{'Deactivate' if active else 'Activate'} {webhook}"
        button = Button(label, lambda: self._clicked(webhook, on=not active))
        line = w.HBox([w.HTML(_html(row)), button])
        line.add_class("rg-row")
        return line

    def _clicked(self, webhook: int, *, on: bool) -> None:
        try:
            self.switch(webhook, on=on)
            self._message.say(f"Webhook {webhook} is {'active' if on else 'inactive'}.")
        except ChatkitError as error:
            self._show(error)

    def _look(self) -> None:
        try:
            self.refresh()
        except ChatkitError as error:
            self._show(error)

    def _show(self, error: ChatkitError) -> None:
        text = str(error)
        if isinstance(error, CallError):
            text = f"{error.reason}\n{error.advice}".strip()
        self._message.say(text, wrong=True)

    @steady
    def __repr__(self) -> str:
        states = ", ".join(f"{row['id']} {row['health']}" for row in self.rows)
        return f"{self._said()}{': ' if states else '.'}{states}"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)
        rows = "".join(f"<li>{_html(row)}</li>" for row in self.rows)
        html = f"<p>{escape(self._said())}</p><ul>{rows}</ul>"
        return {**bundle, "text/plain": repr(self), "text/html": html}


def _html(row: Mapping[str, Any]) -> str:
    """One webhook in three lines; its address and its errors come from outside."""
    health = row["health"]
    events = ", ".join(cut(str(kind), 60) for kind in row["events"] or ())
    return (
        '<div class="tex2jax_ignore mathjax_ignore">'
        f'<span class="rg-url">{row["id"]} · {escaped(cut(str(row["url"]), 200))}</span><br>'
        f'<span class="rg-health rg-{health}">{health}</span>: {escaped(row["reason"])}<br>'
        f"asks for {escaped(events) or 'nothing'}</div>"
    )
