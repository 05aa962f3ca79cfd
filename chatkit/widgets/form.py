"""Form for one record of any resource, with the Python that does the same; webhooks with a form."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from threading import RLock
from typing import TYPE_CHECKING, Any

from chatkit.api.record import Record
from chatkit.api.secret import Secret
from chatkit.api.throttle import Throttle
from chatkit.bulk.changes import Change
from chatkit.bulk.endpoints import Key
from chatkit.bulk.outcomes import Row, values_agree
from chatkit.bulk.reconcile import Search, ThrottledReader
from chatkit.errors import (
    CallError,
    ChatkitError,
    Conflict,
    InputError,
    Problem,
    Refused,
    UnknownOutcome,
    safe_repr,
)
from chatkit.frames.frame import records
from chatkit.resource import Resource, get_endpoints
from chatkit.util.display import cut, escaped, many
from chatkit.util.display import values as shortly
from chatkit.webhooks import MAX_WEBHOOKS, Webhooks
from chatkit.widgets.controls import Exported, write_call
from chatkit.widgets.fields import CodeText, Control, FormButton, FormGroup, FormModel, Html
from chatkit.widgets.fieldset import Fieldset
from chatkit.widgets.table import (
    Item,
    PagedRows,
    draw_row_button,
    draw_saved_rows,
    draw_saved_view,
)

if TYPE_CHECKING:
    from chatkit.bulk.plan import Plan


class Form(Exported, FormModel):
    """A form for one record, made of what its resource declares.

    What is typed is checked at once, at its field. Beside the button stands the Python that
    does the same. A click sends once, even when it arrives twice; when an answer is lost,
    the next click looks what came of it and sends nothing. Enter in a line of text is a click.

    In a program, `set` fields, then `submit()`: it raises what the form would show.

    A form of webhooks hands over the signing secret of what it has created: `secret_once`.

    Args:
        resource: A resource of a client, like `client.contacts`.
        key: The record to edit; without it the form creates one.

    >>> form = chatkit.Form(client.contacts, 50001)
    >>> form.set("name", "Oliver Jones")
    >>> form.submit().name
    'Oliver Jones'
    """

    def __init__(self, resource: Resource[Any], key: Key | None = None) -> None:
        self.resource = resource
        self._endpoints = get_endpoints(resource)
        self.key = key
        self.record: Record | None = None if key is None else resource.get(key)
        self._lock = RLock()
        self._unknown: UnconfirmedWrite | None = None
        self._ran = ""  #: the line that was last sent, until something else is edited
        #: What is called when a record was created or saved here.
        self.saved: Callable[[], object] = lambda: None
        self._fields = Fieldset(resource, self._record_fields(), self._on_change)
        self._title, self._code = Html(), CodeText()
        self._button = FormButton("", self._submit_and_report, submit=True)
        self._new = FormButton("", self.new)
        bar = FormGroup([self._button, self._new], css="chatkit-actions chatkit-sticky", row=True)
        controls = [self._title, *self._fields.controls, bar, self.status, self._code]
        self.secret_once: SecretHandover | None = None
        if isinstance(resource, Webhooks):
            self.secret_once = SecretHandover(resource, self._send_secret, self._forget_secret)
            controls.append(self.secret_once)
        super().__init__(FormGroup(controls, css="chatkit-form"))
        self._update_controls()

    @safe_repr
    def __repr__(self) -> str:
        if self.key is None:
            return f"<form: new {self._endpoints.noun}>"
        edited = ", ".join(self._fields.edited)
        return f"<form: {self._endpoints.noun} {self.key}{', edited: ' if edited else ''}{edited}>"

    def _make_saved_page(self) -> str:
        code = f"<pre>{escape(self._code.value)}</pre>" if self._code.value else ""
        secret = f"<p>{escape(self.secret_once.value)}</p>" if self.secret_once else ""
        return f"{self._title.value}{self._fields.html()}{code}{self.status.value}{secret}"

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
        """The problems that the form shows, by field."""
        return self._fields.wrong

    def focus(self) -> None:
        """Put the cursor into the first field, or the first that is wrong."""
        self.focus_on(self._fields.first)

    @property
    def line(self) -> str:
        """The Python code that does what the button does; "" if nothing is edited."""
        values, _ = self._fields.read()
        code, place = self._endpoints.code, self._endpoints.place
        place = f"client.{write_call('templates', code)}" if code else place
        if self.key is None:
            return write_call(f"{place}.create", **values)
        return write_call(f"{place}.update", self.key, **values) if values else ""

    def new(self) -> None:
        """Empty the form for another new record, unless an answer was lost."""
        with self._lock:
            if self._unknown is None:
                self._open_record(None, None)

    def edit(self, key: Key) -> None:
        """Open another record.

        Args:
            key: The record to edit.

        Raises:
            InputError: The form holds edits that were not saved, or a lost answer.
            NotFound: There is no such record.
        """
        with self._lock:
            if self._unknown is not None:
                raise InputError("An answer was lost: check first whether it was saved.")
            if edited := self._fields.edited:
                labels = ", ".join(map(self._endpoints.format_label, edited))
                raise InputError(
                    f"The form holds what was not saved ({labels}): save it, or press "
                    f"“{self._new.label}”."
                )
            self._open_record(key, self.resource.get(key))

    def _open_record(self, key: Key | None, record: Record | None) -> None:
        self.key, self.record, self._ran = key, record, ""
        self.status.write("")
        self._fields.fill(self._record_fields())
        self._update_controls()

    # --- what is sent ---------------------------------------------------------------

    def submit(self) -> Record:
        """Create or update the record, and return it as the service now has it.

        After a lost answer it looks first: what has landed is returned, not sent again.

        Raises:
            InputError: A field is missing or wrong, or somebody has changed it meanwhile.
            Refused: The service said no.
            UnknownOutcome: The answer was lost; submit again to look what came of it.
        """
        with self._lock:
            try:
                return (self._unknown and self._look_up(self._unknown)) or self._save_record()
            except Exception as error:
                self._show_error(error)
                raise

    def _submit_and_report(self) -> None:
        """Save the record and show the result; after a lost answer only look it up."""
        self.draw()  # the button is busy
        with self._lock, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                self._look_up(self._unknown) if self._unknown else self._save_record()
            except Exception as error:
                self._show_error(error)
                if not isinstance(error, ChatkitError):
                    raise
        if caught:
            self.status.write(" ".join([self.message, *(str(one.message) for one in caught)]))
        if self.problems:
            self.focus()

    def _save_record(self) -> Record:
        for name in self._fields.fields:
            self._fields.redirect(name)
        if self.key is not None and not self._fields.edited:
            raise InputError("No field was edited: change one first.")
        values, body = self._fields.checked()
        line, key, taken = self.line, self.key, set[object]()
        try:
            if key is not None:
                self._check_unchanged(key, values)
                record: Record = self.resource.update(key, **values)
            else:
                if not self._endpoints.unique:  # a new one is known by that it was not there
                    taken = set(self._endpoints.base(None).frame.index)
                record = self.resource.create(**values)
        except UnknownOutcome as error:
            if error.call.writes:
                self._unknown = UnconfirmedWrite(self.resource, key, body, taken, error)
                self._fields.lock(locked=True)
            raise
        return self._report_success(record, body, line)

    def _check_unchanged(self, key: Key, values: Mapping[str, Any]) -> None:
        """Check that nobody has changed these fields since the form was opened."""
        live, old = self.resource.get(key), self._record_fields() or {}
        now = self._endpoints.dump_visible_fields(live)
        changed = [n for n in values if n in now and now[n] not in (old.get(n), values[n])]
        self.record = self._with_secrets(live)
        if changed:
            reason = "somebody has changed this meanwhile, to {}; save again to write over it"
            problems = [Problem(n, "", reason.format(shortly(now[n]))) for n in changed]
            raise InputError(f"Somebody has changed this {self._endpoints.noun}:", problems)

    def _look_up(self, outcome: UnconfirmedWrite) -> Record | None:
        """Look up the record after a lost answer; None if it can be sent again."""
        settled = True
        try:
            record = outcome.confirm()
        except ChatkitError as error:
            settled = isinstance(error, Conflict)
            raise
        finally:
            if settled:
                self._unknown = None
                self._fields.lock(locked=False)
                self._update_controls()
        if record is None:
            self.status.write(
                "It did not take effect, and will not any more: you can send it again."
            )
            return None
        return self._report_success(record, outcome.sent, self.line, searched=True)

    # --- what is shown --------------------------------------------------------------

    def _record_fields(self) -> dict[str, Any] | None:
        """Return the fields of the record as they could be sent; None without a record."""
        return None if self.record is None else self._endpoints.dump_visible_fields(self.record)

    def _on_change(self) -> None:
        """Clear the last result, and update the controls."""
        self._ran = ""
        self.status.write("")
        self._update_controls()

    def _update_controls(self) -> None:
        """Update title, buttons and code to what the button would do."""
        noun, editing = self._endpoints.noun, self.key is not None
        about = self._endpoints.code or self._endpoints.label(self._record_fields() or {}) or ""
        title = f"{noun.capitalize()} {self.key}" if editing else f"New {noun}"
        title += f" · {about}" if about else ""
        self._title.value = f'<h3 dir="auto">{escaped(title)}</h3>'
        label = f"Save {noun}" if editing else f"Create {noun}"
        self._button.label = label if self._unknown is None else "Look what came of it"
        self._button.disabled = editing and not self._fields.edited and self._unknown is None
        is_edited = bool(self._fields.edited)
        self._new.label = f"New {noun}" if editing else "Empty the form"
        self._new.hidden = not (editing or is_edited) or self._unknown is not None
        self._code.value = self._ran or self.line
        self.draw()

    def _report_success(
        self, record: Record, sent: Mapping[str, Any], line: str, *, searched: bool = False
    ) -> Record:
        """Show the saved record and a message of success.

        Args:
            record: What the service has now.
            sent: What was sent.
            line: The Python that does the same.
            searched: Whether its answer was lost, so that it was looked for.
        """
        made = self.key is None
        record = self._with_secrets(record)
        self.key, self.record, self._ran = getattr(record, self._endpoints.key), record, line
        known = self._record_fields() or {}
        self._fields.fill(known)
        sentences = ["It took effect."] if searched else []
        sentences += [f"{'Created' if made else 'Saved'} {self._endpoints.noun} {self.key}."]
        for name, value in sent.items():
            if name in known and not values_agree(known[name], value):
                label = self._endpoints.format_label(name)
                sentences.append(f"But {label} reads back as {shortly(known[name])}.")
        if made and searched and self._endpoints.lost:
            sentences.append(f"But {self._endpoints.lost}.")
        elif made and self.secret_once:
            secret = getattr(record, "webhook_secret", None)
            self.secret_once.offer(self.key, secret)
            sentences += [] if secret else ["The service gave no signing secret with it."]
        self.status.write(" ".join(sentences))
        self._update_controls()
        self.saved()
        return record

    def _send_secret(self, message: Any) -> None:
        for model in {self, self.host or self}:  # it may be shown alone as well
            model.send(message)

    def _forget_secret(self) -> None:
        """Remove the signing secret from the record once a person has it."""
        if self.record is not None and self.secret_once and not self.secret_once.waits:
            self.record = self.record.model_copy(update={"webhook_secret": None})
        self.draw()

    def _with_secrets(self, record: Record) -> Record:
        """Return a record with the secrets of the one before: only a create shows them."""
        if self.key is None or self.record is None:
            return record
        secrets = {name: value for name, value in self.record if isinstance(value, Secret)}
        return record.model_copy(update=secrets) if secrets else record

    def _show_error(self, error: Exception) -> None:
        """Show an error at its fields, and as a message."""
        problems: Sequence[Problem] = ()
        summary = str(error)
        if isinstance(error, InputError):
            problems = error.problems
            summary = "Nothing was sent" if problems else f"Nothing was sent: {summary}"
        elif isinstance(error, Refused):
            problems = [Problem(field, "", reason) for field, reason in error.fields]
            if isinstance(error, Conflict) and not problems:
                problems = [Problem(self._endpoints.natural_key[-1], "", error.reason)]
            summary = "The service refused it, and nothing has changed"
        if isinstance(error, CallError) and not problems:
            summary = f"{error.reason}\n{error.advice}".strip()
        unplaced = self._fields.mark(problems)
        if problems:
            summary += ": see above." if len(unplaced) < len(problems) else "."
        self.status.write("\n".join([summary, *unplaced]), wrong=True)
        self._update_controls()


class UnconfirmedWrite:
    """One create or update that may have taken effect.

    Args:
        resource: The resource of its record.
        key: The key of the updated record; None for a create.
        sent: The fields that were sent.
        taken: The keys that existed before.
        error: The error that lost the answer.
    """

    def __init__(
        self,
        resource: Resource[Any],
        key: Key | None,
        sent: Mapping[str, Any],
        taken: Collection[object],
        error: UnknownOutcome,
    ) -> None:
        self.sent, self.error = sent, error
        self._resource, self._key, self._taken = resource, key, taken
        endpoints = self._endpoints = get_endpoints(resource)
        retry = endpoints.transport.retry
        settle = retry.settle_window(unique=endpoints.unique if key is None else None)
        self._until = time.monotonic() + settle

    def confirm(self) -> Record | None:
        """Read whether it took effect: return the record if it did, None if it never will.

        Raises:
            UnknownOutcome: Nobody can tell yet.
            Conflict: Somebody else has made such a record meanwhile.
            CallError: It cannot be looked for now.
        """
        began = time.monotonic()
        record = self._find_created() if self._key is None else self._find_updated(self._key)
        if record is None and began < self._until:
            seconds = self._until - began
            reason = f"it is not there; it may still take effect for {seconds:.0f} s"
            raise UnknownOutcome(self.error.call, reason)
        return record

    def _find_updated(self, key: Key) -> Record | None:
        record: Record = self._resource.get(key)
        fields = self._endpoints.dump_visible_fields(record)
        took_effect = all(
            values_agree(fields[name], value) for name, value in self.sent.items() if name in fields
        )
        return record if took_effect and fields.keys() & self.sent.keys() else None

    def _find_created(self) -> Record | None:
        endpoints = self._endpoints
        key = self.sent[endpoints.key] if endpoints.chosen else None
        row = Row(0, Change(0, "create", key, "", {}, self.sent, endpoints.code))
        reader = ThrottledReader(endpoints.transport, Throttle(8, None), lambda: False)
        search = Search(reader, endpoints)
        outcome = search.find_verdicts([row], self._taken, thorough=not endpoints.unique)[0]
        if outcome.what == "conflict":
            raise Conflict(self.error.call, outcome.reason)
        if outcome.what == "unknown":
            raise UnknownOutcome(self.error.call, outcome.reason)
        if outcome.record is None:
            return None
        record: Record = self._resource.get(getattr(outcome.record, endpoints.key))
        return record


class OpenedRecord:
    """A record as it was when it was opened, to be saved as a plan; or one that a plan makes.

    Args:
        resource: Where it is, like `client.flows`.
        key: Its key; None while there is no such record.
        hidden: Fields that a service may not show: they count as empty then.
    """

    def __init__(
        self, resource: Resource[Any], key: Key | None, hidden: Iterable[str] = ()
    ) -> None:
        self._resource, self._endpoints = resource, get_endpoints(resource)
        self._key = key
        self._frame = self._endpoints.full([] if key is None else [key])
        for name in hidden:
            if name not in self._frame:
                self._frame[name] = None

    def plan(self, fields: Mapping[str, Any], **options: Any) -> Plan:
        """Plan to write these fields. Nothing is sent before `apply()`.

        Args:
            fields: The fields; None and "" clear one.
            options: What else `plan` of the resource takes.
        """
        if self._key is None:
            return self._resource.plan([fields], **options)
        frame = self._endpoints.with_snapshot(self._frame.copy(), whole=False)
        for name, value in fields.items():
            frame[name] = ["" if value is None else value]
        return self._resource.plan(frame, **options)


class SecretHandover(Control):
    """Hands a signing secret to a person: shown, copied, or into the keyring of this machine.

    The secret goes to the page as a message when a button asks for it. It is no part of the
    form's state, which a notebook may save, nor of the page of HTML that a notebook keeps;
    and it is forgotten when it is handed over. Its value is what is written of it.

    Args:
        resource: `client.webhooks`.
        answer: What sends a message to the page.
        changed: What is called when it was kept or handed over: then nothing may hold it any more.
    """

    kind = "handover"
    drawing = (*Control.drawing, "waits", "kept")

    def __init__(
        self,
        resource: Webhooks,
        answer: Callable[[Any], object],
        changed: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(value="")
        self._resource, self._answer, self._changed = resource, answer, changed
        self.secret: Secret | None = None  #: what is handed over, until it is forgotten
        self.webhook = 0  #: the id of the webhook that it belongs to
        self.kept = False  #: whether the keyring of this machine has it

    @property
    def waits(self) -> bool:
        """True while it waits to be handed over."""
        return self.secret is not None

    def offer(self, webhook: Any, secret: Secret | None) -> None:
        """Offer a secret; one that was offered before is forgotten."""
        self.webhook, self.secret = webhook, secret
        self.value, self.kept = "", False
        if secret is not None:
            self.value = (
                f"The signing secret of webhook {webhook} is shown this once, and gone when the "
                "kernel ends. Your receiver needs it to verify deliveries; nobody can ask for it "
                "again."
            )

    def forget(self) -> None:
        """Forget the secret, and show where it is kept."""
        if self.secret is None:
            return
        self.secret = None
        if not self.kept:
            self.value = (
                f"The signing secret of webhook {self.webhook} was handed over, and is not kept "
                f"here. If it is lost, client.webhooks.rotate({self.webhook}) makes a new one."
            )
        self._changed()

    def keep(self) -> None:
        """Put the secret into the keyring of this machine, where `webhooks.secret(id)` finds it.

        Raises:
            SettingsError: The keyring is missing or fails; the secret still waits.
        """
        if self.secret is not None:
            self._resource.keep_secret(self.webhook, self.secret)
            self.kept = True
            self.value = (
                f"The signing secret of webhook {self.webhook} is kept in the keyring of this "
                f"machine: client.webhooks.secret({self.webhook}) finds it."
            )
            self._changed()

    def enter(self, value: Any) -> bool:
        """Handle a button of the page, and answer it."""
        if self.secret is None:
            return False
        answer: dict[str, Any] = {"id": self.id}
        match value:
            case "show" | "copy":
                answer["secret"] = self.secret.reveal()
            case "keyring":
                answer["message"] = "Kept."
                try:
                    self.keep()
                except ChatkitError as error:
                    answer["message"] = str(error)
            case "forget":
                self.forget()
                answer["message"] = ""
        self._answer(answer)
        return True


class Registrations(Exported, FormModel):
    """A list of the webhooks of an account, to activate, edit and create them.

    What is edited or created is so in `form`, a `Form` of webhooks.

    Args:
        resource: `client.webhooks`.
        quiet: Hours without a delivery that are normal for you.

    Raises:
        InputError: `quiet` cannot be used.
        CallError: The list cannot be read.

    >>> chatkit.widgets.Registrations(client.webhooks)
    3 webhooks of 10: ...
    """

    def __init__(self, resource: Webhooks, *, quiet: float = 24) -> None:
        self._resource, self._quiet = resource, quiet
        self.rows: list[dict[str, Any]] = []  #: what the list shows, with health and reason
        self.form = Form(resource)
        self.form.saved = self._refresh_list
        self._title, self._list = Html(), PagedRows(_COLUMNS, [], self._handle_action)
        again = FormButton("Refresh", self._refresh_list)
        bar = FormGroup([self._title, again], css="chatkit-bar chatkit-sticky", row=True)
        below = FormGroup()
        parts = [bar, self.status, self._list, below]
        super().__init__(FormGroup(parts, css="chatkit-planview chatkit-registrations"))
        self.show_in(below, self.form)
        self.refresh()

    def refresh(self) -> None:
        """Read the list again.

        Raises:
            CallError: It cannot be read.
        """
        frame = self._resource.health(quiet=self._quiet)
        self.rows = [*records(frame.reset_index(), range(len(frame)))]
        full = "" if len(self.rows) < MAX_WEBHOOKS else ": delete one before you create another"
        self._title.value = f"<strong>{escape(self._summary())}{full}</strong>"
        self._list.fill(_COLUMNS, self._items())
        self.draw()

    def switch(self, webhook: int, *, on: bool) -> None:
        """Activate a webhook, or deactivate it, and read the list again.

        Raises:
            NotFound: There is none with that id.
            UnknownOutcome: The answer was lost; the change may have landed.
        """
        (self._resource.activate if on else self._resource.deactivate)(webhook)
        self.refresh()

    def _summary(self) -> str:
        poor = sum(row["health"] == "failing" for row in self.rows)
        more = f", {poor} failing" if poor else ""
        return f"{many(len(self.rows), 'webhook')} of {MAX_WEBHOOKS}{more}"

    def _items(self, *, acts: bool = True) -> list[Item]:
        return [
            Item((row["health"],), row["url"], partial(_draw_registration, row, acts=acts))
            for row in self.rows
        ]

    def _handle_action(self, act: str, row: str) -> None:
        known = {str(one["id"]): one for one in self.rows}
        if row in known:
            self.attempt(self._edit if act == "edit" else self._toggle, known[row])

    def _edit(self, row: Mapping[str, Any]) -> None:
        self.form.edit(row["id"])
        self.report("")
        self.form.focus()

    def _toggle(self, row: Mapping[str, Any]) -> None:
        self.switch(row["id"], on=not row["is_active"])
        self.report(f"Webhook {row['id']} is {'inactive' if row['is_active'] else 'active'}.")

    def _refresh_list(self) -> None:
        self.attempt(self.refresh)

    @safe_repr
    def __repr__(self) -> str:
        states = ", ".join(f"{row['id']} {row['health']}" for row in self.rows)
        return f"{self._summary()}{': ' if states else '.'}{states}"

    def _make_saved_page(self) -> str:
        columns = {name: width for name, width in _COLUMNS.items() if name != "to do"}
        rows = draw_saved_rows(columns, self._items(acts=False), "client.webhooks.health()")
        return draw_saved_view(self._summary(), rows)


_COLUMNS = {"webhook": 34, "health": 24, "events": 22, "to do": 20}
_LOOKS = {"healthy": "fine", "failing": "bad", "silent": "open"}


def _draw_registration(row: Mapping[str, Any], *, acts: bool) -> tuple[str, list[str]]:
    """Draw the row of a webhook, with buttons to edit and to switch it."""
    number, health = str(row["id"]), row["health"]
    events = ", ".join(cut(str(kind), 60) for kind in row["events"] or ())
    line = (
        f'<th scope="rowgroup" dir="auto">{number} · {escaped(cut(str(row["url"]), 200))}</th>'
        f'<td class="dot">{health}<div>{escaped(row["reason"])}</div></td>'
        f"<td>{escaped(events) or 'none'}</td>"
    )
    if acts:
        switch = "Deactivate" if row["is_active"] else "Activate"
        buttons = [
            draw_row_button(act, number, label, f"{label} {number}")
            for act, label in (("edit", "Edit"), ("switch", switch))
        ]
        line += f"<td>{' '.join(buttons)}</td>"
    return _LOOKS.get(health, "back"), [line]
