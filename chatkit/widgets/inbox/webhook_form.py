"""Form for a new webhook, whose signing secret is shown once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from html import escape
from threading import RLock
from typing import Any

import anywidget
import ipywidgets as w
import traitlets

from chatkit.errors import CallError, ChatkitError, Conflict, InDoubt, InputError, steady
from chatkit.resource import endpoints_of
from chatkit.secret import Secret
from chatkit.webhooks import MAX_WEBHOOKS, Webhook, Webhooks
from chatkit.widgets.assets import joined_text
from chatkit.widgets.controls import Button, Code, Message, called
from chatkit.widgets.form.unknown_outcome import UnknownOutcome

_ALL = "*"


class WebhookForm(w.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A form for a new webhook: its address, what it asks for, and its secret, once.

    In a program: `url.value`, `choose(…)`, then `submit()`, which raises what the form would
    show. `handover` then has the signing secret until it is forgotten.

    Args:
        room: `client.webhooks`.
        created: What is called when a webhook was created.
    """

    def __init__(self, room: Webhooks, created: Callable[[], object] = lambda: None) -> None:
        self._room, self._created = room, created
        self._used = 0
        self._lock = RLock()
        self._unknown: UnknownOutcome | None = None
        self.url = w.Text(description="Address", placeholder="https://shop.example/hook")
        self.url.continuous_update = True
        self._boxes = {
            kind: w.Checkbox(value=False, indent=False, description=f"{kind}: {means}")
            for kind, means in room.event_kinds().items()
        }
        self.active = w.Checkbox(value=True, indent=False, description="Deliver from now on")
        self.handover = SecretShownOnce(room)
        self._room_left, self._message, self._code = w.HTML(), Message(), Code()
        self._button = Button("Create webhook", self._clicked, "primary")
        for box in (self.url, self.active, *self._boxes.values()):
            box.observe(lambda _: self._changed(), names="value")
        events = w.VBox([w.HTML("<strong>Events</strong>"), *self._boxes.values()])
        title = w.HTML("<h4>New webhook</h4>")
        actions = w.HBox([self._button, self._code])
        parts = [title, self._room_left, self.url, events, self.active, actions]
        super().__init__([*parts, self._message, self.handover])
        self.add_class("rg-form")
        self._paint()

    @steady
    def __repr__(self) -> str:
        return f"<form: new webhook, {self._used} of {MAX_WEBHOOKS} there>"

    @property
    def events(self) -> list[str]:
        """The kinds of events that are checked; all of them is `["*"]`."""
        if self._boxes[_ALL].value:
            return [_ALL]
        return [kind for kind, box in self._boxes.items() if box.value]

    def choose(self, *kinds: str) -> None:
        """Check these kinds of events, and no others.

        Raises:
            InputError: There is no such kind.
        """
        if unknown := [kind for kind in kinds if kind not in self._boxes]:
            raise InputError(f"{unknown[0]!r} is none of {', '.join(self._boxes)}.")
        for kind, box in self._boxes.items():
            box.value = kind in kinds

    @property
    def message(self) -> str:
        """What the form says below its button."""
        return self._message.text

    @property
    def line(self) -> str:
        """The Python that does what the button does."""
        fields = {"url": self.url.value.strip(), "events": self.events}
        if not self.active.value:
            fields["is_active"] = False
        return called("client.webhooks.create", **fields)

    def used(self, count: int) -> None:
        """Tell the form how many webhooks the account has."""
        self._used = count
        self._paint()

    def submit(self) -> Webhook:
        """Create the webhook, and have its signing secret ready to be handed over.

        After a lost answer it looks first: what has landed is returned, not sent again.

        Raises:
            InputError: The address or the events are wrong, or the account is full; nothing
                was sent.
            Refused: The service said no.
            InDoubt: The answer was lost, and the signing secret with it; submit again to look
                what came of it.
        """
        with self._lock:
            try:
                return (self._unknown and self._looked(self._unknown)) or self._sent()
            except ChatkitError as error:
                self._show(error)
                raise

    def _clicked(self) -> None:
        """Do what the button says, and say what came of it; after a lost answer only look."""
        with self._lock, suppress(ChatkitError):  # the form has said it
            if self._unknown is None:
                self.submit()
                return
            try:
                self._looked(self._unknown)
            except ChatkitError as error:
                self._show(error)
                raise

    def _sent(self) -> Webhook:
        room, taken = self._room, set[object]()
        fields = {
            "url": self.url.value.strip(),
            "events": self.events,
            "is_active": self.active.value,
        }
        try:
            if not endpoints_of(room).unique:  # the only mark of a new one is that it was not there
                taken = set(room.frame().index)
            webhook = room.create(**fields)
        except InDoubt as error:
            if error.call.writes:
                self._unknown = UnknownOutcome(room, None, fields, taken, error)
            raise
        said = f"Created webhook {webhook.id}."
        if webhook.webhook_secret is None:
            said += " The service gave no signing secret with it."
        else:
            self.handover.offer(webhook.id, webhook.webhook_secret)
        return self._done(webhook, said)

    def _looked(self, outcome: UnknownOutcome) -> Webhook | None:
        """Look what came of a lost answer; if nothing did, it may be sent again."""
        try:
            webhook = outcome.look()
        except Conflict:
            self._unknown = None
            raise
        self._unknown = None
        if isinstance(webhook, Webhook):
            said = f"It has landed: webhook {webhook.id}. But {endpoints_of(self._room).lost}."
            return self._done(webhook, said)
        self._message.say("It has not landed, and will not any more: you can send it again.")
        self._paint()
        return None

    def _done(self, webhook: Webhook, said: str) -> Webhook:
        self.url.value = ""
        self.choose()
        self._created()
        self._message.say(said)
        return webhook

    def _show(self, error: ChatkitError) -> None:
        text = str(error)
        if isinstance(error, InputError) and error.problems:
            lines = [f"{one.field}: {one.reason}" for one in error.problems]
            text = "\n".join(["Nothing was sent:", *lines])
        elif isinstance(error, CallError):
            text = f"{error.reason}\n{error.advice}".strip()
        self._message.say(text, wrong=True)
        self._paint()

    def _changed(self) -> None:
        self._message.say("")
        self._paint()

    def _paint(self) -> None:
        most = MAX_WEBHOOKS
        full = self._used >= most
        left = f"The account has {self._used} of {most} webhooks."
        more = " Delete one before you create another." if full else ""
        self._room_left.value = f"<p>{escape(left + more)}</p>"
        unknown = self._unknown is not None
        self.url.disabled = self.active.disabled = unknown
        for kind, box in self._boxes.items():
            box.disabled = unknown or (kind != _ALL and bool(self._boxes[_ALL].value))
        idle = full or not (self.url.value.strip() and self.events)
        self._button.label = "Look what came of it" if unknown else "Create webhook"
        self._button.disabled = idle and not unknown
        self._code.text = "" if idle else self.line


class SecretShownOnce(anywidget.AnyWidget):
    """Hands a signing secret to a person: shown, copied, or into the keyring of this machine.

    The secret goes to the page as a message when a button asks for it. It is no part of the
    widget's state, which a notebook may save, and it is forgotten when it is handed over.

    Args:
        room: `client.webhooks`.
    """

    _esm = joined_text(["inbox/handover.js"])
    _css = joined_text(["inbox/registrations.css"])

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
