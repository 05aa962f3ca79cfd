"""Fields: the controls of forms.

A control has a label, a value as it was typed, help, and what is wrong with it. It reads the value
that is meant, and shows one; groups hold other controls. The tree of them is sent to the page as
JSON, by one `FormModel` for all: a widget for each would be hundreds of models, which the kernel
announces one by one.
"""

from __future__ import annotations

import json
import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from itertools import count
from threading import Lock, RLock
from types import NoneType
from typing import Any

import traitlets

from chatkit.api.secret import Secret
from chatkit.errors import CallError, ChatkitError
from chatkit.report import STYLE
from chatkit.util.display import visible
from chatkit.util.json import JsonFault, read_json
from chatkit.widgets.controls import (
    Exported,
    Model,
    Stack,
    draw_message,
    handles_message,
    join_styles,
    pack_module,
)

_control_ids = count(1)


class FormModel(Model):
    """The model of a form: sends its controls to the page, and receives what is entered.

    It can stand in a group of another form too, which is its `host` then and draws it.

    Args:
        root: The group of all of them.
    """

    _esm = pack_module(["keys.js", "side.js", "elements.js", "codeview.js", "fields.js"])
    _css = STYLE + join_styles(
        "fields.css",
        "form.css",
        "code.css",
        "planview.css",
        "login.css",
        "content/content.css",
        "content/queue.css",
    )

    host: FormModel | None = None

    #: The control that the page puts the cursor into, once.
    focused = traitlets.Int(0).tag(sync=True)
    #: What is drawn: each control with its label, value, help and problems, as JSON.
    tree = traitlets.Dict().tag(sync=True)

    def __init__(self, root: FormGroup) -> None:
        self.root, self._drawing = root, RLock()
        # What a click makes needs no script; marimo takes none outside of a cell.
        script: dict[str, Any] = {"_esm": ""} if handles_message.get() else {}
        super().__init__(tree=root.drawn(), **script)

    def ensure_script(self) -> None:
        """Bring the script: one that a click has made has none while another form draws it."""
        self._esm = FormModel._esm

    def _repr_mimebundle_(self, **options: Any) -> Any:
        self.ensure_script()
        return super()._repr_mimebundle_(**options)

    @property
    def children(self) -> Sequence[Control]:
        """The group of all controls, alone."""
        return (self.root,)

    @cached_property
    def status(self) -> Status:
        """The place of the message about the last action."""
        return Status()

    @property
    def message(self) -> str:
        """The message about the last action."""
        return self.status.text

    def report(self, text: str, *, wrong: bool = False) -> None:
        """Show a message about the last action; `wrong` if somebody should do something."""
        self.status.write(text, wrong=wrong)
        self.draw()

    def attempt(self, act: Callable[..., object], *arguments: Any) -> None:
        """Call an action, and show its error as the message."""
        try:
            act(*arguments)
        except ChatkitError as error:
            text = str(error)
            if isinstance(error, CallError):
                text = f"{error.reason}\n{error.advice}".strip()
            self.report(text, wrong=True)

    def drawn(self) -> dict[str, Any]:
        """Return its controls as data for the page."""
        return self.root.drawn()

    def enter_at(self, number: int, value: Any) -> bool:
        """Enter a value in the control of a number; return if it changed."""
        return self.root.enter_at(number, value)

    def draw(self) -> None:
        """Send changed controls to the page."""
        with self._drawing:
            self.tree = self.drawn()
        if self.host is not None:
            self.host.draw()

    def focus_on(self, control: Control) -> None:
        """Put the cursor into a control, or into the first one in it."""
        if self.host is not None:
            return self.host.focus_on(control)
        self.draw()
        self.focused = 0
        self.focused = control.id

    def show_in(self, group: FormGroup, *views: Control | FormModel) -> None:
        """Show other forms or controls in a group of this one."""
        for view in views:
            if isinstance(view, FormModel):
                view.host = self
        group.children = views
        self.draw()

    def _receive(self, message: Any) -> None:
        match message:
            case {"id": int(number), "entered": entered}:
                try:
                    self.enter_at(number, entered)
                finally:
                    self.draw()


class Control:
    """A part of a form.

    Args:
        label: What it is called.
        value: The text, tick or choice, as the page has it.
        css: Classes that it has in the page.
    """

    kind = ""
    accepts: type = str  #: what the page may enter
    #: The attributes that the page gets, unless they are empty.
    drawing: tuple[str, ...] = (
        *("id", "kind", "label", "name", "value", "written", "css", "help", "problems", "notes"),
        *("required", "hidden", "disabled"),
    )
    children: Sequence[Any] = ()  #: controls, and forms that are drawn in this one
    name = ""  #: what it is called in code, shown as a hint

    def __init__(self, label: str = "", value: Any = None, css: str = "") -> None:
        self.id = next(_control_ids)
        self.label, self.css, self.help = label, css, ""
        self.problems: list[tuple[str, str]] = []  #: what is wrong: how severe, and why
        self.notes = ""  #: HTML that stands below it
        self.required = self.hidden = self.disabled = False
        self.written = 0  #: how often Python has set the value: the page then takes it over
        #: What is called when something was entered in it, or in what stands in it.
        self.entered: Callable[[], object] = lambda: None
        self._value = value

    @property
    def value(self) -> Any:
        """The text, tick or choice, as the page has it."""
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self.written += value != self._value
        self._value = value

    def enter(self, value: Any) -> bool:
        """Set the value that was entered in the page; return whether it has changed."""
        taken = isinstance(value, self.accepts) and not self.disabled and value != self._value
        if taken:
            self._value = value
        return taken

    def enter_at(self, number: int, value: Any) -> bool:
        """Enter a value in the control of a number, this or one inside; return if it changed."""
        inside = any(child.enter_at(number, value) for child in self.children)
        changed = inside or (self.id == number and self.enter(value))
        if changed:
            self.arrange()
            self.entered()
        return changed

    def arrange(self) -> None:
        """Update the controls inside after a change."""

    def read(self) -> Any:
        """Return the value that was entered. Raises `ValueError` if it is none."""
        return self.value

    def show(self, value: Any) -> None:
        """Show a value. Raises `TypeError` if it is of another kind."""
        self.value = value

    @property
    def problem(self) -> str:
        """The problems as a text; "" if there are none."""
        return " ".join(text for _, text in self.problems)

    def mark(self, problems: Sequence[tuple[str, str]]) -> None:
        """Show problems, each with its severity."""
        self.problems = [(severity, visible(text.strip())) for severity, text in problems if text]

    def lock(self, *, locked: bool) -> None:
        """Lock or unlock the input."""
        self.disabled = locked
        for child in self.children:
            child.lock(locked=locked)
        self.arrange()

    def drawn(self) -> dict[str, Any]:
        """Return the control as data for the page."""
        return {name: value for name in self.drawing if (value := getattr(self, name))}


class Html(Control):
    """Some HTML, in which every text is escaped."""

    kind, accepts = "html", NoneType

    def __init__(self, value: str = "") -> None:
        super().__init__("", value)


class Status(Html):
    """A message about the last action, read aloud by screen readers too."""

    text = ""  #: what is shown

    def __init__(self) -> None:
        super().__init__()
        self.css = "chatkit-messages"

    def write(self, text: str, *, wrong: bool = False) -> None:
        """Show a text; an empty one shows nothing.

        Args:
            text: One line or several.
            wrong: Whether somebody should do something about it.
        """
        self.text, self.value = text, draw_message(text, wrong=wrong)


class CodeText(Control):
    """Some Python, which can be copied."""

    kind, accepts = "code", NoneType


class FormButton(Control):
    """A button that acts once, even when its click arrives twice.

    Each click carries the token that was in the page when it was made. The first one uses the
    token up before anything else happens; when the action has ended there is a new one. So a
    click that was waiting behind the first does nothing, and the button keeps the focus.

    Args:
        label: What it does, in words.
        act: What a click calls.
        css: How it looks: `primary` does what the widget is for, `danger` cannot be taken back.
        submit: Whether it is what the form is for: Enter in a line of text presses it, and what
            was typed as a secret is sent before the click.
        keys: The keys that press it from everywhere in the form, like "Control+Enter".
    """

    kind = "button"
    drawing = (*Control.drawing, "token", "submit", "keys")

    def __init__(
        self,
        label: str,
        act: Callable[[], object],
        css: str = "plain",
        *,
        submit: bool = False,
        keys: str = "",
    ) -> None:
        super().__init__(label, css="primary" if submit else css)
        self._act, self._clicking = act, Lock()
        self.token, self.submit, self.keys = secrets.token_hex(4), submit, keys

    def enter(self, value: Any) -> bool:
        """Act if the token of a click is the one that the button has now."""
        with self._clicking:
            if self.disabled or not self.token or value != self.token:
                return False
            self.token = ""
        try:
            self._act()
        finally:
            self.token = secrets.token_hex(4)
        return True

    def click(self) -> None:
        """Do what a click does; errors of the action are raised."""
        self.enter(self.token)


class RepeatButton(FormButton):
    """A button of which each of several clicks counts, like Undo."""

    def enter(self, value: Any) -> bool:
        """Act for every click."""
        return super().enter(self.token)


class FormGroup(Control):
    """Several controls, one below the other or in a row.

    Args:
        children: The controls.
        label: What they are; empty where they only stand together.
        css: Classes that the group has in the page.
        row: Whether they stand in a row.
    """

    kind = "group"
    drawing = (*Control.drawing, "row")

    def __init__(
        self, children: Sequence[Any] = (), label: str = "", css: str = "", *, row: bool = False
    ) -> None:
        super().__init__(label, css=css)
        self.row, self.children = row, children

    def drawn(self) -> dict[str, Any]:
        """Return the group as data for the page."""
        return {**super().drawn(), "children": [child.drawn() for child in self.children]}


class Fold(FormGroup):
    """Controls that are folded away until somebody unfolds them, or one of them is wrong."""

    kind = "fold"


class PanelPage(FormModel):
    """A form with a message, and with what stands below it.

    Args:
        controls: What stands above the message.
    """

    def __init__(self, controls: Sequence[Control] = ()) -> None:
        self.below = FormGroup()
        super().__init__(FormGroup([*controls, self.status, self.below], css="chatkit-page"))


class Panel(Exported, Stack):
    """Models one below the other; one of them is a form with the message and what stands below."""

    @cached_property
    def _page(self) -> PanelPage:
        return PanelPage()

    @cached_property
    def _bar(self) -> PanelPage:
        return self._page

    @property
    def message(self) -> str:
        """The message about the last action."""
        return self._bar.message


# --- inputs ---------------------------------------------------------------------------------


def require_type(value: Any, kind: Any, name: str) -> Any:
    """Return a value if it is of a type. Raises `TypeError` otherwise."""
    if not isinstance(value, kind):
        raise TypeError(f"must be {name}")
    return value


#: Stands for a property that is not there.
ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "(not set)"})()
_REFERENCE = re.compile(r"\$\{|`")


def is_reference(value: Any) -> bool:
    """Return whether a value of a flow is a reference or an expression, not the value itself."""
    return isinstance(value, str) and _REFERENCE.search(value) is not None


class Text(Control):
    """A text, on one line or on several; subclasses write other values as texts.

    What was shown is read as it was while nobody edits it.

    Args:
        label: What it is called.
        placeholder: What an empty one shows.
        rows: The lines it is high, if they are several.
        nothing: The value of an empty one.
        reference: Whether a reference can take the place of a value.
    """

    late = False  #: whether it counts when it is typed whole, not at each letter
    lang = ""  #: the language in which it is spelled
    kind = "text"
    drawing = (*Control.drawing, "placeholder", "rows", "late", "lang")

    def __init__(
        self,
        label: str,
        placeholder: str = "",
        *,
        rows: int = 0,
        nothing: Any = "",
        reference: bool = False,
    ) -> None:
        super().__init__(label, "")
        self.placeholder, self.rows = placeholder, rows
        self._nothing, self._reference = nothing, reference
        self._unedited: tuple[str, Any] = ("", nothing)  #: the text that was shown, and its value

    def read(self) -> Any:
        """Return the value, or the reference. Raises `ValueError` if the text is neither."""
        text, value = self._unedited
        if self.value == text:
            return _copy(value)
        typed = self.value.strip()
        if self._reference and is_reference(typed) and "\n" not in typed:
            return typed
        return self._parse(self.value)

    def show(self, value: Any) -> None:
        """Show a value or a reference. Raises `TypeError` if it is of another kind."""
        if value is ABSENT or (value is None and self._nothing is not ABSENT):
            value = self._nothing
        if value is self._nothing:
            text = ""
        elif self._reference and is_reference(value):
            text = value
        else:
            text = self._write(value)
        self.value, self._unedited = text, (text, _copy(value))

    def _parse(self, text: str) -> Any:
        """Return the value of a typed text. Raises `ValueError` if it has none."""
        return text or self._nothing

    def _write(self, value: Any) -> str:
        """Return a value as a text. Raises `TypeError` if it is of another kind."""
        return str(require_type(value, str, "text"))


def _copy(value: Any) -> Any:
    """Return a value that nobody else can change."""
    return deepcopy(value) if isinstance(value, list | dict) else value


class LooseText(Text):
    """A text that may hold what is no text: that is written as JSON."""

    def _write(self, value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class NumberText(Text):
    """A number, nothing where it may be, or a reference to one.

    Args:
        label: What it is called.
        fraction: Whether it may have a fraction.
        options: Those of `Text`.
    """

    def __init__(self, label: str, *, fraction: bool = False, **options: Any) -> None:
        super().__init__(label, **options)
        self._noun = "number" if fraction else "whole number"
        self._pattern = re.compile(f"-?[0-9]{{1,15}}{'([.][0-9]{1,15})?' if fraction else ''}")

    def _parse(self, text: str) -> Any:
        text = text.strip()
        if not text:
            return self._nothing
        if self._pattern.fullmatch(text):
            return float(text) if "." in text else int(text)
        raise ValueError(f"must be a {self._noun}{' or ${…}' if self._reference else ''}")

    def _write(self, value: Any) -> str:
        number = None if isinstance(value, bool) else value
        return str(require_type(number, int | float, f"a {self._noun}"))


class Lines(Text):
    """A list of texts, each on a line of its own, or a reference to one.

    Args:
        label: What it is called.
        nothing: What an empty input holds, in place of an empty list.
        reference: Whether a reference can take its place.
    """

    def __init__(self, label: str, *, nothing: Any = (), reference: bool = False) -> None:
        hint = f"one on each line{', or ${data.…}' if reference else ''}"
        nothing = nothing or []
        super().__init__(label, hint, rows=3, nothing=nothing, reference=reference)

    def _parse(self, text: str) -> Any:
        return [line.strip() for line in text.split("\n") if line.strip()] or self._nothing

    def _write(self, value: Any) -> str:
        listed = require_type(value, list, "a list")
        text = "\n".join(require_type(one, str, "text") for one in listed)
        if self._reference and listed and (is_reference(text) or self._parse(text) != listed):
            raise TypeError("must be texts that are a line each")
        return text


class Json(Text):
    """A text area for any JSON value.

    Args:
        label: What it is called.
        rows: How many lines it has.
        nothing: What an empty input holds.
    """

    def __init__(self, label: str, rows: int, nothing: Any = None) -> None:
        super().__init__(label, "JSON", rows=rows, nothing=nothing)
        self.css = "chatkit-json"

    def _parse(self, text: str) -> Any:
        if not text.strip():
            return self._nothing
        try:
            return read_json(text)
        except JsonFault as fault:
            reason = "is not clear" if fault.kind == "duplicate" else "is not JSON"
            raise ValueError(f"{reason}: {fault}{fault.where}") from None

    def _write(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, indent=2)


class Checkbox(Control):
    """A checkbox."""

    kind, accepts = "checkbox", bool

    def __init__(self, label: str) -> None:
        super().__init__(label, False)

    def show(self, value: Any) -> None:
        """Show True or False; None is False."""
        self.value = value is not None and require_type(value, bool, "True or False")


class Choice(Control):
    """A choice of one value, or a reference.

    Args:
        label: What it is called.
        values: The values, by the words for them.
        nothing: What it holds while nothing is chosen.
        unset: The words for that; without them the first value is chosen.
        others: Whether a text that is not offered is kept; else showing it raises `TypeError`.
        reference: What is suggested as a reference in place of a value; empty if none can be.
    """

    kind = "choice"
    drawing = (*Control.drawing, "options", "reference", "refers")

    def __init__(
        self,
        label: str,
        values: Mapping[str, Any],
        nothing: Any = None,
        unset: str = "(none)",
        *,
        others: bool = True,
        reference: str = "",
    ) -> None:
        super().__init__(label, 0)
        self._others, self.reference = others, reference
        self.offer({unset: nothing, **values} if unset else values)

    def offer(self, values: Mapping[str, Any]) -> None:
        """Offer these values, by the words for them."""
        self.options, self._values = [*values], [*values.values()]

    @property
    def refers(self) -> bool:
        """True while it holds a reference, or is to hold one."""
        return isinstance(self.value, str)

    def enter(self, value: Any) -> bool:
        """Enter the number of an option, or the text of a reference."""
        self.accepts = str if self.reference and isinstance(value, str) else int
        return (self.accepts is str or value in range(len(self.options))) and super().enter(value)

    def read(self) -> Any:
        """Return the chosen value or the reference. Raises `ValueError` for any other text."""
        if not self.refers:
            return self._values[self.value]
        if not is_reference(self.value):
            raise ValueError("needs a reference like ${data.name}, or an expression in backticks")
        return self.value.strip()

    def show(self, value: Any) -> None:
        """Choose a value, or show a reference."""
        if self.reference and is_reference(value):
            self.value = value
            return
        for number, offered in enumerate(self._values):
            if type(offered) is type(value) and offered == value:
                self.value = number
                return
        text = require_type(value, str if self._others else (), "one of these")
        self.options = [*self.options, text]
        self._values.append(value)
        self.value = len(self._values) - 1


class SecretText(Control):
    """A secret text: never part of the state, but sent by the page with the click that uses it."""

    kind = "secret"
    drawing = tuple(name for name in Control.drawing if name not in ("value", "written"))

    def enter(self, value: Any) -> bool:
        """Keep the typed secret until `take`."""
        self._value = Secret(value) if isinstance(value, str) else None
        return False

    def take(self) -> Secret | None:
        """Return the typed secret, and forget it."""
        secret: Secret | None = self._value
        self._value = None
        return secret


#: The value that stands for all others (API document, Events).
_ALL = "*"


class Ticks(FormGroup):
    """A group of checkboxes, one of which selects all.

    Args:
        label: What they are.
        meanings: What each value means.
    """

    def __init__(self, label: str, meanings: Mapping[str, str]) -> None:
        super().__init__((), label, "chatkit-ticks")
        self._boxes = {
            value: Checkbox(f"{visible(meaning)} ({visible(value)})")
            for value, meaning in meanings.items()
        }
        self.children = [*self._boxes.values()]

    def read(self) -> list[str]:
        """Return the ticked values; only that for all if it is ticked."""
        ticked = [value for value, box in self._boxes.items() if box.value]
        return [_ALL] if _ALL in ticked else ticked

    def show(self, value: Any) -> None:
        """Tick these values and no others; an unknown one gets a new box."""
        listed = require_type(value or [], list, "a list")
        chosen = [require_type(one, str, "text") for one in listed]
        unknown = "not one of the values that the profile names"
        for one in chosen:
            self._boxes.setdefault(one, Checkbox(f"{unknown} ({visible(one)})"))
        self.children = [*self._boxes.values()]
        for one, box in self._boxes.items():
            box.value = one in chosen
        self.arrange()

    def arrange(self) -> None:
        """Disable the other boxes while that for all is ticked."""
        for value, box in self._boxes.items():
            box.disabled = self.disabled or (value != _ALL and self.read() == [_ALL])


class FormRow(FormGroup):
    """A row: its inputs by name, its value before, and its buttons."""

    def __init__(self, inputs: Mapping[str, Control], tools: Sequence[FormButton]) -> None:
        self.inputs, self.tools = inputs, tools
        self.before: Mapping[str, Any] = {}
        box = FormGroup(tools, css="chatkit-tools", row=True)
        super().__init__([*inputs.values(), box], css="chatkit-row", row=True)

    def show(self, value: Mapping[str, Any]) -> None:
        """Show the values of the inputs. Raises `TypeError` if one cannot hold its value."""
        self.before = value
        for name, each in self.inputs.items():
            each.show(value.get(name))


class Rows(FormGroup, ABC):
    """Rows that can be added, removed and, where their order counts, moved.

    Args:
        label: What they are.
        noun: What one of them is.
        most: So many can be added.
        ordered: Whether their order counts.
    """

    def __init__(self, label: str, noun: str, most: int = 100, *, ordered: bool = False) -> None:
        super().__init__((), label, "chatkit-rows")
        self._noun, self._most, self._ordered = noun, most, ordered
        self.rows: list[FormRow] = []
        self._add = FormButton(f"Add {noun}", lambda: self.add(self.first()))
        self.arrange()

    @abstractmethod
    def inputs(self) -> dict[str, Control]:
        """Make the inputs of a new row, by name."""

    def first(self) -> Mapping[str, Any]:
        """Return the value of a new row."""
        return {}

    def add(self, value: Mapping[str, Any]) -> None:
        """Add a row with a value."""
        moves = [
            FormButton("Move up", lambda: self._swap(row, -1)),
            FormButton("Move down", lambda: self._swap(row, +1)),
        ]
        remove = FormButton(f"Remove {self._noun}", lambda: self.rows.remove(row))
        row = FormRow(self.inputs(), [*(moves if self._ordered else ()), remove])
        row.show(value)
        self.rows.append(row)
        self.arrange()

    def fill(self, values: Sequence[Mapping[str, Any]]) -> None:
        """Show rows with these values, and reuse the rows that are there."""
        del self.rows[len(values) :]
        for row, value in zip(self.rows, values, strict=False):
            row.show(value)
        for value in values[len(self.rows) :]:
            self.add(value)
        self.arrange()

    def arrange(self) -> None:
        """Update the list of rows and their buttons."""
        for number, row in enumerate(self.rows, 1):
            *moves, remove = row.tools
            remove.label = f"Remove {self._noun} {number}"
            for move, end in zip(moves, (number == 1, number == len(self.rows)), strict=False):
                move.disabled, move.hidden = self.disabled or end, len(self.rows) < 2
        self._add.hidden = len(self.rows) >= self._most
        self.children = [*self.rows, self._add]

    def _swap(self, row: FormRow, step: int) -> None:
        """Exchange the inputs of a row and its neighbour: the cursor stays on the button."""
        other = self.rows[self.rows.index(row) + step]
        row.inputs, other.inputs = other.inputs, row.inputs
        row.before, other.before = other.before, row.before
        for one in (row, other):
            one.children = [*one.inputs.values(), one.children[-1]]
