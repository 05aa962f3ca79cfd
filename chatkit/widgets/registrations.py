"""Registrations: the webhooks of an account, their health, and a form for each."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from html import escape
from typing import Any

import ipywidgets as w

from chatkit.errors import steady
from chatkit.frames.frame import records
from chatkit.util.display import cut, escaped, many
from chatkit.webhooks import MAX_WEBHOOKS, Webhooks
from chatkit.widgets.controls import ActionButton, Panel, boxed, joined_text
from chatkit.widgets.form import Form


class Registrations(Panel):
    """The webhooks of an account, those that need you first: switched, edited, created.

    What is edited or created is so in `form`, a `Form` of webhooks.

    Args:
        resource: `client.webhooks`.
        quiet: Hours without a delivery that are normal for you, or a timedelta.

    Raises:
        InputError: `quiet` cannot be used.
        CallError: The list cannot be read.

    >>> chatkit.Registrations(client.webhooks)
    3 webhooks of 10: ...
    """

    _style = joined_text(["inbox/registrations.css"])
    _css_classes = ("chatkit-registrations",)

    def __init__(self, resource: Webhooks, *, quiet: float | timedelta = 24) -> None:
        self._resource, self._quiet = resource, quiet
        self.rows: list[dict[str, Any]] = []  #: what the list shows, with health and reason
        self.form = Form(resource)
        self.form.saved = self._look
        self._boxes: dict[int, w.HBox] = {}  #: of each webhook: a button keeps the focus
        self._title, self._list = w.HTML(), w.VBox()
        again = ActionButton("Look again", self._look)
        super().__init__([self._title, self._list, again, self._message, self.form])
        self.refresh()

    def refresh(self) -> None:
        """Read the list again.

        Raises:
            CallError: It cannot be read.
        """
        frame = self._resource.health(quiet=self._quiet)
        self.rows = [*records(frame.reset_index(), range(len(frame)))]
        full = "" if len(self.rows) < MAX_WEBHOOKS else ": delete one before you create another"
        self._title.value = f"<h3>{escape(self._summary())}{full}</h3>"
        self._list.children = [self._row(row) for row in self.rows]

    def switch(self, webhook: int, *, on: bool) -> None:
        """Activate a webhook, or deactivate it.

        Raises:
            NotFound: There is none with that id.
            InDoubt: The answer was lost; the change may have landed.
        """
        (self._resource.activate if on else self._resource.deactivate)(webhook)
        self.refresh()

    def _summary(self) -> str:
        poor = sum(row["health"] == "failing" for row in self.rows)
        more = f", {poor} failing" if poor else ""
        return f"{many(len(self.rows), 'webhook')} of {MAX_WEBHOOKS}{more}"

    def _row(self, row: Mapping[str, Any]) -> w.HBox:
        webhook = row["id"]
        if webhook not in self._boxes:
            edit = ActionButton(f"Edit {webhook}", lambda: self._attempt(self.form.edit, webhook))
            switch = ActionButton("", lambda: self._attempt(self._clicked, webhook))
            self._boxes[webhook] = boxed(w.HBox, "rg-row", [w.HTML(), edit, switch])
        text, _, switch = self._boxes[webhook].children
        text.value = _html(row)
        switch.label = f"{'Deactivate' if row['is_active'] else 'Activate'} {webhook}"
        return self._boxes[webhook]

    def _clicked(self, webhook: int) -> None:
        on = next(not row["is_active"] for row in self.rows if row["id"] == webhook)
        self.switch(webhook, on=on)
        self._message.show(f"Webhook {webhook} is {'active' if on else 'inactive'}.")

    def _look(self) -> None:
        self._attempt(self.refresh)

    @steady
    def __repr__(self) -> str:
        states = ", ".join(f"{row['id']} {row['health']}" for row in self.rows)
        return f"{self._summary()}{': ' if states else '.'}{states}"

    def _page(self) -> str:
        rows = "".join(f"<li>{_html(row)}</li>" for row in self.rows)
        return f"<p>{escape(self._summary())}</p><ul>{rows}</ul>"


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
