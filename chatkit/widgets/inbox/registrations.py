"""Registrations: the webhooks of an account, their health, and a form for a new one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from html import escape
from typing import Any

import anywidget
import ipywidgets as w
import traitlets

from chatkit.display import cut, escaped, many
from chatkit.errors import ChatkitError, steady
from chatkit.frame import records
from chatkit.record import Record
from chatkit.secret import Secret
from chatkit.webhooks import MAX_WEBHOOKS, Webhook, Webhooks
from chatkit.widgets.assets import joined_text
from chatkit.widgets.controls import ActionButton, Panel, boxed
from chatkit.widgets.form.form import Form
from chatkit.widgets.form.inputs import Input, of_kind


class Registrations(Panel):
    """The webhooks of an account, those that need you first; switch them on and off, add one.

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
        self.form = WebhookForm(resource, self._look)
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
        self._title.value = f"<h3>{escape(self._said())}</h3>"
        self._list.children = [self._row(row) for row in self.rows]
        self.form.used(len(self.rows))

    def switch(self, webhook: int, *, on: bool) -> None:
        """Activate a webhook, or deactivate it.

        Raises:
            NotFound: There is none with that id.
            InDoubt: The answer was lost; the change may have landed.
        """
        (self._resource.activate if on else self._resource.deactivate)(webhook)
        self.refresh()

    def _said(self) -> str:
        poor = sum(row["health"] == "failing" for row in self.rows)
        more = f", {poor} failing" if poor else ""
        return f"{many(len(self.rows), 'webhook')} of {MAX_WEBHOOKS}{more}"

    def _row(self, row: Mapping[str, Any]) -> w.HBox:
        active, webhook = bool(row["is_active"]), row["id"]
        label = f"{'Deactivate' if active else 'Activate'} {webhook}"
        button = ActionButton(label, lambda: self._attempt(self._clicked, webhook, not active))
        return boxed(w.HBox, "rg-row", [w.HTML(_html(row)), button])

    def _clicked(self, webhook: int, on: bool) -> None:
        self.switch(webhook, on=on)
        self._message.say(f"Webhook {webhook} is {'active' if on else 'inactive'}.")

    def _look(self) -> None:
        self._attempt(self.refresh)

    @steady
    def __repr__(self) -> str:
        states = ", ".join(f"{row['id']} {row['health']}" for row in self.rows)
        return f"{self._said()}{': ' if states else '.'}{states}"

    def _page(self) -> str:
        rows = "".join(f"<li>{_html(row)}</li>" for row in self.rows)
        return f"<p>{escape(self._said())}</p><ul>{rows}</ul>"


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


# --- a new webhook -------------------------------------------------------------------------

_ALL = "*"


class EventBoxes:
    """A box for each kind of event; the one for all kinds stands for the others."""

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self._boxes = {
            kind: w.Checkbox(value=False, indent=False, description=f"{kind}: {means}")
            for kind, means in kinds.items()
        }
        title = w.HTML('<span class="chatkit-label">events</span>')
        self.widget = boxed(w.VBox, "chatkit-rows", [title, *self._boxes.values()])
        self.lock(False)
        self.watch(lambda: self.lock(False))

    def read(self) -> list[str]:
        """Return the kinds that are checked; all of them is `["*"]`."""
        checked = [kind for kind, box in self._boxes.items() if box.value]
        return [_ALL] if _ALL in checked else checked

    def show(self, value: Any) -> None:
        """Check these kinds, and no others."""
        kinds = of_kind(value or [], list, "a list")
        if unknown := [kind for kind in kinds if kind not in self._boxes]:
            raise TypeError(f"{unknown[0]!r} is not one of {', '.join(self._boxes)}")
        for kind, box in self._boxes.items():
            box.value = kind in kinds

    def watch(self, changed: Callable[[], None]) -> None:
        """Call something whenever it changes."""
        for box in self._boxes.values():
            box.observe(lambda _: changed(), names="value")

    def lock(self, locked: bool) -> None:
        """Let nobody check them, or let them again."""
        for kind, box in self._boxes.items():
            box.disabled = locked or (kind != _ALL and bool(self._boxes[_ALL].value))


class WebhookForm(Form):
    """A form for one new webhook after the other, each with its signing secret, once.

    Args:
        resource: `client.webhooks`.
        created: What is called when a webhook was created.
    """

    def __init__(self, resource: Webhooks, created: Callable[[], object] = lambda: None) -> None:
        self._webhooks, self._created = resource, created
        self._used = 0
        self._left = w.HTML()
        #: Has the signing secret of what was created last, until it is forgotten.
        self.secret_once = SecretShownOnce(resource)
        super().__init__(resource)
        self.children = [self.children[0], self._left, *self.children[1:], self.secret_once]

    def _inputs(self) -> Mapping[str, Input]:
        return {"events": EventBoxes(self._webhooks.event_kinds())}

    @steady
    def __repr__(self) -> str:
        return f"<form: new webhook, {self._used} of {MAX_WEBHOOKS} there>"

    def used(self, count: int) -> None:
        """Tell the form how many webhooks the account has."""
        self._used = count
        self._paint()

    def _paint(self) -> None:
        super()._paint()
        full = self._used >= MAX_WEBHOOKS
        more = " Delete one before you create another." if full else ""
        said = f"The account has {self._used} of {MAX_WEBHOOKS} webhooks.{more}"
        self._left.value = f"<p>{escape(said)}</p>"
        filled = {"url", "events"} <= set(self._fields.edited)
        if self._unknown is None and (full or not filled):
            self._button.disabled, self._code.text = True, ""

    def _secrets_told(self, record: Record) -> list[str]:
        if not isinstance(record, Webhook) or record.webhook_secret is None:
            return ["The service gave no signing secret with it."]
        self.secret_once.offer(record.id, record.webhook_secret)
        return []

    def _done(
        self, record: Record, sent: Mapping[str, Any], line: str, *, looked: bool = False
    ) -> Record:
        record = super()._done(record, sent, line, looked=looked)
        said = self.message
        self.new()
        self._created()
        self._message.say(said)
        return record


class SecretShownOnce(anywidget.AnyWidget):
    """Hands a signing secret to a person: shown, copied, or into the keyring of this machine.

    The secret goes to the page as a message when a button asks for it. It is no part of the
    widget's state, which a notebook may save, and it is forgotten when it is handed over.

    Args:
        room: `client.webhooks`.
    """

    _esm = joined_text(["keys.js", "inbox/secret.js"])
    _css = joined_text(["inbox/secret.css"])

    #: The id of the webhook that it belongs to; 0 while there is none to hand over.
    webhook = traitlets.Int(0).tag(sync=True)
    told = traitlets.Unicode().tag(sync=True)

    def __init__(self, room: Webhooks) -> None:
        self._room = room
        self.secret: Secret | None = None  #: what is handed over, until it is forgotten
        super().__init__()
        self.on_msg(self._heard)

    def offer(self, webhook: int, secret: Secret) -> None:
        """Have a secret ready for a person; one that waited before is forgotten."""
        self.secret = secret
        self.told = (
            f"The signing secret of webhook {webhook} is shown this once. Your receiver needs "
            "it; nobody can ask for it again."
        )
        self.webhook = webhook

    def forget(self) -> None:
        """Forget the secret."""
        self.secret, self.webhook = None, 0

    def keep(self) -> None:
        """Put the secret into the keyring of this machine, where `room.secret(id)` finds it.

        Raises:
            SettingsError: The keyring is missing or fails; the secret still waits.
        """
        if self.secret is not None:
            self._room.keep_secret(self.webhook, self.secret)

    @steady
    def __repr__(self) -> str:
        waits = f"of webhook {self.webhook}, not shown" if self.secret else "none waits"
        return f"<signing secret: {waits}>"

    def _heard(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"ask": "show" | "copy"} if self.secret is not None:
                self.send({"secret": self.secret.reveal()})
            case {"ask": "keyring"} if self.secret is not None:
                said = f"In the keyring: client.webhooks.secret({self.webhook}) finds it."
                try:
                    self.keep()
                except ChatkitError as error:
                    said = str(error)
                self.send({"said": said})
            case {"ask": "forget"}:
                self.forget()
                self.send({"said": ""})
