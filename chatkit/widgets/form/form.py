"""Form to create or edit one record of any resource, with the Python that does the same."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from html import escape
from threading import RLock
from typing import Any

import ipywidgets as w

from chatkit.bulk.outcomes import agrees
from chatkit.display import escaped
from chatkit.display import values as shortly
from chatkit.endpoints import Key
from chatkit.errors import (
    CallError,
    ChatkitError,
    Conflict,
    InDoubt,
    InputError,
    Problem,
    Refused,
    steady,
)
from chatkit.record import Record
from chatkit.resource import Resource, endpoints_of
from chatkit.secret import Secret
from chatkit.widgets import assets
from chatkit.widgets.controls import ActionButton, Code, Panel, boxed, call_code
from chatkit.widgets.form.fields import Fieldset
from chatkit.widgets.form.inputs import Input
from chatkit.widgets.form.saving import UnknownOutcome


class Form(Panel):
    """A form for one record, made of what its resource declares.

    What is typed is checked at once, at its field. Beside the button stands the Python that
    does the same. A click sends once, even when it arrives twice; when an answer is lost,
    the next click looks what came of it and sends nothing.

    In a program, `set` fields, then `submit()`: it raises what the form would show.

    Args:
        resource: A resource of a client, like `client.contacts`.
        key: The record to edit; without it the form creates one.

    >>> form = chatkit.Form(client.contacts, 50001)
    >>> form.set("name", "Oliver Jones")
    >>> form.submit().name
    'Oliver Jones'
    """

    _style = assets.joined_text(["form.css"])
    _css_classes = ("chatkit-form",)

    def __init__(self, resource: Resource[Any], key: Key | None = None) -> None:
        self.resource = resource
        self._endpoints = endpoints_of(resource)
        self.key = key
        self.record: Record | None = None if key is None else resource.get(key)
        self._lock = RLock()
        self._unknown: UnknownOutcome | None = None
        self._ran = ""  #: the line that was last sent, until something else is edited
        self._fields = Fieldset(resource, self._known(), self._inputs())
        self._fields.watch(self._changed)
        self._title, self._code = w.HTML(), Code()
        self._button = ActionButton("", self._clicked, "primary")
        self._new = ActionButton(f"New {self._endpoints.noun}", self.new)
        actions = boxed(w.HBox, "chatkit-actions", [self._button, self._new, self._code])
        super().__init__([self._title, *self._fields.widgets, actions, self._message])
        self._paint()

    def _inputs(self) -> Mapping[str, Input]:
        """Make inputs in place of what suits the kind of a value."""
        return {}

    @steady
    def __repr__(self) -> str:
        if self.key is None:
            return f"<form: new {self._endpoints.noun}>"
        edited = ", ".join(self._fields.edited)
        return f"<form: {self._endpoints.noun} {self.key}{', edited: ' if edited else ''}{edited}>"

    def _page(self) -> str:
        code = f"<pre>{escape(self._code.text)}</pre>" if self._code.text else ""
        return f"{self._title.value}{self._fields.html()}{code}{self._message.value}"

    # --- what is typed --------------------------------------------------------------

    @property
    def values(self) -> dict[str, Any]:
        """The fields that would be sent: those filled in, or those edited.

        Raises:
            InputError: What is typed in a field is no value, like JSON that is none.
        """
        return self._fields.values

    def set(self, name: str, value: Any) -> None:
        """Fill in a field as if it had been typed.

        Raises:
            InputError: There is no such field, it is fixed, or it cannot hold such a value.
        """
        self._fields.set(name, value)

    @property
    def problems(self) -> dict[str, str]:
        """What the form says is wrong, by field."""
        return self._fields.wrong

    @property
    def line(self) -> str:
        """The Python that does what the button does; empty if nothing is edited."""
        values, _ = self._fields.read()
        code, noun = self._endpoints.code, self._endpoints.noun
        place = f"client.{call_code('templates', code) if code else f'{noun}s'}"
        if self.key is None:
            return call_code(f"{place}.create", **values)
        return call_code(f"{place}.update", self.key, **values) if values else ""

    def new(self) -> None:
        """Empty the form, to create another record. A lost answer is looked for first."""
        with self._lock:
            if self._unknown is None:
                self.key = self.record = None
                self._ran = ""
                self._message.say("")
                self._fields.fill(None)
                self._paint()

    # --- what is sent ---------------------------------------------------------------

    def submit(self) -> Record:
        """Create or update the record, and return it as the service now has it.

        After a lost answer it looks first: what has landed is returned, not sent again.

        Raises:
            InputError: A field is missing or wrong, or somebody has changed it meanwhile.
            Refused: The service said no.
            InDoubt: The answer was lost; submit again to look what came of it.
        """
        with self._lock:
            try:
                return (self._unknown and self._looked(self._unknown)) or self._sent()
            except Exception as error:
                self._show(error)
                raise

    def _clicked(self) -> None:
        """Do what the button says, and say what came of it; after a lost answer only look."""
        with self._lock, warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                self._looked(self._unknown) if self._unknown else self._sent()
            except Exception as error:
                self._show(error)
                if not isinstance(error, ChatkitError):
                    raise
        if heard:
            self._message.say(" ".join([self.message, *(str(one.message) for one in heard)]))
        self._fields.focus()

    def _sent(self) -> Record:
        values, body = self._fields.checked()
        line, key, taken = self.line, self.key, set[object]()
        try:
            if key is not None:
                self._unmoved(key, values)
                record: Record = self.resource.update(key, **values)
            else:
                if not self._endpoints.unique:  # a new one is known by that it was not there
                    taken = set(self._endpoints.base(None).frame.index)
                record = self.resource.create(**values)
        except InDoubt as error:
            if error.call.writes:
                self._unknown = UnknownOutcome(self.resource, key, body, taken, error)
                self._fields.lock(True)
            raise
        return self._done(record, body, line)

    def _unmoved(self, key: Key, values: Mapping[str, Any]) -> None:
        """Refuse to write over what somebody has changed since the form was opened."""
        live, old = self.resource.get(key), self._known() or {}
        now = self._endpoints.shown(live)
        moved = [n for n in values if n in now and now[n] not in (old.get(n), values[n])]
        self.record = self._with_secrets(live)
        if moved:
            reason = "somebody has changed this meanwhile, to {}; save again to write over it"
            said = [Problem(n, "", reason.format(shortly(now[n]))) for n in moved]
            raise InputError(f"This {self._endpoints.noun} has moved:", said)

    def _looked(self, outcome: UnknownOutcome) -> Record | None:
        """Look what came of a lost answer; if nothing did, it may be sent again."""
        settled = True
        try:
            record = outcome.look()
        except ChatkitError as error:
            settled = isinstance(error, Conflict)
            raise
        finally:
            if settled:
                self._unknown = None
                self._fields.lock(False)
                self._paint()
        if record is None:
            self._message.say("It has not landed, and will not any more: you can send it again.")
            return None
        return self._done(record, outcome.sent, self.line, looked=True)

    # --- what is shown --------------------------------------------------------------

    def _known(self) -> dict[str, Any] | None:
        """Return what the record holds, as it could be sent."""
        return None if self.record is None else self._endpoints.shown(self.record)

    def _changed(self) -> None:
        """Show the line that what is typed now would run."""
        self._ran = ""
        self._message.say("")
        self._paint()

    def _paint(self) -> None:
        """Show what the button would do."""
        noun, editing = self._endpoints.noun, self.key is not None
        about = self._endpoints.code or self._endpoints.label(self._known() or {}) or ""
        title = f"{noun.capitalize()} {self.key}" if editing else f"New {noun}"
        title += f" · {about}" if about else ""
        self._title.value = f'<h3 dir="auto">{escaped(title)}</h3>'
        label = f"Save {noun}" if editing else f"Create {noun}"
        self._button.label = label if self._unknown is None else "Look what came of it"
        self._button.disabled = editing and not self._fields.edited and self._unknown is None
        self._new.layout.display = None if editing and self._unknown is None else "none"
        self._code.text = self._ran or self.line

    def _done(
        self, record: Record, sent: Mapping[str, Any], line: str, *, looked: bool = False
    ) -> Record:
        """Say that it is done; the form goes on with the record that is there now.

        Args:
            record: What the service has now.
            sent: What was sent.
            line: The Python that does the same.
            looked: Whether its answer was lost, so that it was looked for.
        """
        made = self.key is None
        record = self._with_secrets(record)
        self.key, self.record, self._ran = getattr(record, self._endpoints.key), record, line
        there = self._known() or {}
        self._fields.fill(there)
        said = ["It has landed."] if looked else []
        said += [f"{'Created' if made else 'Saved'} {self._endpoints.noun} {self.key}."]
        for name, value in sent.items():
            if name in there and not agrees(there[name], value):
                said.append(f"But {name} reads back as {shortly(there[name])}.")
        if made and looked and self._endpoints.lost:
            said.append(f"But {self._endpoints.lost}.")
        elif made:
            said += self._secrets_told(record)
        self._message.say(" ".join(said))
        self._paint()
        return record

    def _secrets_told(self, record: Record) -> list[str]:
        """Say where the secrets are that only the answer to a create holds."""
        secrets = [name for name, value in record if isinstance(value, Secret)]
        return [f"Keep this now: form.record.{name}.reveal() shows it." for name in secrets]

    def _with_secrets(self, record: Record) -> Record:
        """Keep the secrets that only the answer to a create has held."""
        if self.key is None or self.record is None:
            return record
        secrets = {name: value for name, value in self.record if isinstance(value, Secret)}
        return record.model_copy(update=secrets) if secrets else record

    def _show(self, error: Exception) -> None:
        """Show an error at the fields that it concerns, and in words at the bottom."""
        problems: Sequence[Problem] = ()
        rest = str(error)
        if isinstance(error, InputError):
            problems, rest = error.problems, "Nothing was sent"
        elif isinstance(error, Refused):
            problems = [Problem(field, "", reason) for field, reason in error.fields]
            if isinstance(error, Conflict) and not problems:
                problems = [Problem(self._endpoints.natural_key[-1], "", error.reason)]
            rest = "The service refused it, and nothing has changed"
        if isinstance(error, CallError) and not problems:
            rest = f"{error.reason}\n{error.advice}".strip()
        left = self._fields.mark(problems)
        if problems:
            rest += ": see above." if len(left) < len(problems) else "."
        self._message.say("\n".join([rest, *left]), wrong=True)
        self._paint()
