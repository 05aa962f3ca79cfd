"""Fields: the controls of forms, and the fields of a body.

A control has a label, a value as it was typed, help, and what is wrong with it. It reads the value
that is meant, and shows one; groups hold other controls. The tree of them is sent to the page as
JSON, by one `FormModel` for all: a widget for each would be hundreds of models, which the kernel
announces one by one. A `Fieldset` has a control for each field of a body, and makes of what was
typed what would be sent.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from html import escape
from itertools import count
from threading import RLock
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import traitlets
from pydantic.fields import FieldInfo

from chatkit.api.record import Body
from chatkit.api.secret import Secret
from chatkit.errors import InputError, Problem
from chatkit.localization.content import part, slots
from chatkit.resource import Resource, get_endpoints
from chatkit.util.display import cut, visible
from chatkit.util.display import values as shortly
from chatkit.util.json import JsonFault, read_json
from chatkit.widgets.controls import (
    ActsOnce,
    Model,
    message_html,
    packed_module,
    saved_table,
    style_sheet,
)

_control_ids = count(1)


class FormModel(Model):
    """The model of a form: sends its controls to the page, and receives what is entered.

    Args:
        root: The group of all of them.
    """

    _esm = packed_module(["keys.js", "elements.js", "codeview.js", "fields.js"])
    _css = style_sheet("fields.css", "form.css", "code.css")

    #: The control that the page puts the cursor into, once.
    focused = traitlets.Int(0).tag(sync=True)
    #: What is drawn: each control with its label, value, help and problems, as JSON.
    tree = traitlets.Dict().tag(sync=True)

    def __init__(self, root: FormGroup) -> None:
        self.root, self._drawing = root, RLock()
        super().__init__(tree=root.drawn())

    @property
    def children(self) -> Sequence[Control]:
        """The group of all controls, alone."""
        return (self.root,)

    def draw(self) -> None:
        """Send changed controls to the page."""
        with self._drawing:
            self.tree = self.root.drawn()

    def focus_on(self, control: Control) -> None:
        """Put the cursor into a control, or into the first one in it."""
        self.draw()
        self.focused = 0
        self.focused = control.id

    def _receive(self, message: Any) -> None:
        match message:
            case {"id": int(number), "entered": entered}:
                try:
                    self.root.enter_at(number, entered)
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
        *("id", "kind", "label", "value", "written", "css", "help", "problems", "notes"),
        *("required", "hidden", "disabled"),
    )
    children: Sequence[Control] = ()

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
        self.text, self.value = text, message_html(text, wrong=wrong)


class CodeText(Control):
    """Some Python, which can be copied."""

    kind, accepts = "code", NoneType


class FormButton(ActsOnce, Control):
    """A button that acts once, even when its click arrives twice, as an `ActionButton` does.

    Args:
        label: What it does, in words.
        act: What a click calls.
        submit: Whether it is what the form is for: Enter in a line of text presses it, and what
            was typed as a secret is sent before the click.
    """

    kind = "button"
    drawing = (*Control.drawing, "token", "submit")

    def __init__(self, label: str, act: Callable[[], object], *, submit: bool = False) -> None:
        super().__init__(label, css="primary" if submit else "plain")
        self.token, self.submit = self._bind(act), submit

    def enter(self, value: Any) -> bool:
        """Act if the token of a click is the one that the button has now."""
        return self._act_once(value)


class RepeatButton(FormButton):
    """A button of which each of several clicks counts, like Undo."""

    def enter(self, value: Any) -> bool:
        """Act for every click."""
        return self._act_once(self.token)


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
        self, children: Sequence[Control] = (), label: str = "", css: str = "", *, row: bool = False
    ) -> None:
        super().__init__(label, css=css)
        self.row, self.children = row, children

    def drawn(self) -> dict[str, Any]:
        """Return the group as data for the page."""
        return {**super().drawn(), "children": [child.drawn() for child in self.children]}


class Fold(FormGroup):
    """Controls that are folded away until somebody unfolds them, or one of them is wrong."""

    kind = "fold"


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
    kind = "text"
    drawing = (*Control.drawing, "placeholder", "rows", "late")

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
        first = {unset: nothing} if unset else {}
        self.options, self._values = [*first, *values], [*first.values(), *values.values()]
        self._others, self.reference = others, reference

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


class Samples(FormGroup):
    """The inputs of samples: a line for each placeholder of the text."""

    def __init__(self, label: str) -> None:
        super().__init__((), label, "chatkit-rows cf-samples")
        self._lines: dict[str, Text] = {}
        self._values: dict[str, str] = {}

    def read(self) -> dict[str, str]:
        """Return the texts by placeholder, without the empty ones."""
        return {name: line.value for name, line in self._lines.items() if line.value}

    def show(self, value: Any) -> None:
        """Show texts by placeholder."""
        self._values = {
            require_type(name, str, "text"): require_type(text, str, "text")
            for name, text in require_type(value or {}, dict, "a dict").items()
        }
        self._lines = {}
        self.show_lines(())

    def show_lines(self, names: Iterable[str]) -> None:
        """Show a line for each of these placeholders, and for those that are filled in."""
        before, needed = self._lines, {*names, *self.read(), *self._values}
        self._lines = {}
        for name in sorted(needed, key=lambda name: (not name.isdecimal(), len(name), name)):
            line = before.get(name) or Text("{{" + cut(name, 20) + "}}")
            if name not in before:
                line.show(self._values.get(name, ""))
            self._lines[name] = line
        self.children = [*self._lines.values()]


#: The fields of a header or a button that its type uses.
_FIELDS_OF_TYPE = {
    "text": ("text",),
    "image": ("link",),
    "video": ("link",),
    "document": ("link", "file_name"),
    "custom": ("label",),
    "visit_website": ("label", "value", "url_type"),
    "call_phone": ("label", "value", "country_code"),
    "copy_offer_code": ("label", "value"),
    "view_catalog": ("label",),
}
#: What holds a sample, and the field whose placeholder it is for.
_SAMPLES = {"text_variable": "text", "dynamic_url": "value"}


class Bodies(Rows):
    """A list of small bodies, like buttons, each with a few fields.

    Of one that has a type only the fields that this uses are shown, and those that hold something
    all the same.

    Args:
        label: What they are.
        body: What each of them is.
        none: Whether it is None without rows.
        most: So many can be added.
    """

    def __init__(
        self, label: str, body: type[Body], *, none: bool = False, most: int = 100
    ) -> None:
        self._body, self._none = body, none
        super().__init__(label, body.__name__.lower(), most, ordered=True)

    def inputs(self) -> dict[str, Control]:
        """Make a row: one input for each field of the body."""
        made = {
            name: input_for(name, field, nested=True)
            for name, field in self._body.model_fields.items()
        }
        if "type" in made:
            made["type"].css = "chatkit-type"
        return made

    def first(self) -> Mapping[str, Any]:
        """Return the value of a new row: the first type."""
        field = self._body.model_fields.get("type")
        return {} if field is None else {"type": get_args(field.annotation)[0]}

    def read(self) -> list[dict[str, Any]] | None:
        """Return each row as a dict of the fields that are filled in, or were there before."""
        items: list[dict[str, Any]] = []
        for row in self.rows:
            values = {name: each.read() for name, each in row.inputs.items()}
            items.append({n: v for n, v in values.items() if v is not None or n in row.before})
        return items or (None if self._none else [])

    def show(self, value: Any) -> None:
        """Show a list of dicts; keys that the body does not declare are left out."""
        items = require_type(value or [], list, "a list")
        self.fill([require_type(item, Mapping, "a dict") for item in items])

    def arrange(self) -> None:
        """Update the rows: each shows the fields of its type, and those filled in."""
        super().arrange()
        for row in self.rows:
            if "type" in row.inputs:
                values = {name: each.read() for name, each in row.inputs.items()}
                used = {"type", *_FIELDS_OF_TYPE.get(str(values["type"]), ())}
                used |= {n for n, of in _SAMPLES.items() if of in used and slots(part(values, of))}
                for name, each in row.inputs.items():
                    each.hidden = name not in used and values[name] in (None, "")


#: Texts that have several lines.
_MULTILINE = frozenset({"text", "flow_json_raw"})


def input_for(name: str, field: FieldInfo, *, nested: bool = False) -> Control:
    """Make the input for a field of a body, with its default value."""
    union = get_origin(field.annotation) in (Union, UnionType)
    members = get_args(field.annotation) if union else (field.annotation,)
    none = NoneType in members
    kinds = [one for one in members if one is not NoneType]
    kind = kinds[0] if len(kinds) == 1 else str if str in kinds else Any
    origin, inner = get_origin(kind), (*get_args(kind), None)
    made: Control
    if kind is bool:
        made = Checkbox(name)
    elif kind is int:
        made = NumberText(name, nothing=None)
    elif kind is str or (kind is Any and nested):
        rows = 5 if name in _MULTILINE and not nested else 0
        text_input = LooseText if len(kinds) > 1 or kind is Any else Text
        made = text_input(name, rows=rows, nothing=None if field.default is None else "")
    elif origin is Literal:
        unset = "(none)" if none else "choose one"
        made = Choice(name, {text: text for text in get_args(kind)}, unset=unset)
    elif origin is list and inner[0] is str:
        made = Lines(name)
    elif origin is list and isinstance(inner[0], type) and issubclass(inner[0], Body):
        made = Bodies(name, inner[0], none=none)
    elif origin is dict and inner[1] is str:
        made = Samples(name)
    else:
        made = Json(name, 1 if none or kind is Any else 10)
    if not field.is_required():
        made.show(field.get_default(call_default_factory=True))
    return made


# --- the fields of a body -------------------------------------------------------------------


#: Where there are more fields, those that are off or empty unless somebody fills them are folded.
_FOLD_FROM = 8
#: Who types sends a letter or two at a time: so many at once were pasted.
_MIN_PASTED = 4


class Fieldset:
    """The fields of a resource's body.

    Args:
        resource: Whose records these are.
        known: What a record holds, to be edited; None for a new one.
        changed: What is called whenever a field was changed; the field is checked before.
        inputs: The inputs of some fields, in place of what suits their kind.
        unfolded: The fields that are not folded; without it those that hold something, and all
            where there are few.
    """

    def __init__(
        self,
        resource: Resource[Any],
        known: Mapping[str, Any] | None,
        changed: Callable[[], object] = lambda: None,
        *,
        inputs: Mapping[str, Control] = MappingProxyType({}),
        unfolded: Collection[str] = (),
    ) -> None:
        endpoints = self._endpoints = get_endpoints(resource)
        self._editing, self._changed = False, changed
        declared = endpoints.body.model_fields
        ticks = {name: Ticks(name, means) for name, means in endpoints.choices().items()}
        own = {**ticks, **inputs}
        self.fields = {
            name: own.get(name) or input_for(name, field) for name, field in declared.items()
        }
        for name, each in self.fields.items():
            each.entered = partial(self._on_entry, name)
        unfolded = unfolded or [
            name
            for name, field in declared.items()
            if len(declared) <= _FOLD_FROM
            or field.default not in (None, False)
            or name in endpoints.required()
            or (known or {}).get(name)
        ]
        folded = [each for name, each in self.fields.items() if name not in unfolded]
        self.more = Fold(folded, f"{len(folded)} more fields")
        self.more.hidden = not folded
        self.controls = [each for name, each in self.fields.items() if name in unfolded]
        self.controls.append(self.more)
        self.fixed: set[str] = set()  #: the fields that cannot be changed any more
        self._defaults: Mapping[str, Any] = {}  #: what required fields begin with
        self._first: dict[str, Any] = {}  #: what each field held at first
        self._before: dict[str, str] = {}  #: the texts as they were last seen
        self.fill(known)

    def fill(self, known: Mapping[str, Any] | None) -> None:
        """Show the fields of a record, which then count as unedited.

        Args:
            known: The record, to be edited; None for a new one.
        """
        endpoints, self._editing = self._endpoints, known is not None
        chosen = {endpoints.key} if endpoints.chosen else set()
        self.fixed = {*endpoints.body.create_only, *chosen} if self._editing else set()
        self._defaults = {} if self._editing else endpoints.defaults
        for name, each in self.fields.items():
            declared = endpoints.body.model_fields[name]
            first = self._defaults.get(name)
            if not declared.is_required():
                first = declared.get_default(call_default_factory=True)
            value = (known or {}).get(name)
            each.show(first if value is None else value)
            each.lock(locked=name in self.fixed)
            each.required = not self._editing and name in endpoints.required()
            hidden = known is not None and name not in known
            help_texts = [
                declared.description or "",
                "Fixed once it exists." if name in self.fixed else "",
                "The service does not show what it holds now." if hidden else "",
            ]
            each.help = " ".join(filter(None, help_texts))
            each.mark([])
            self._first[name] = _comparable_value(each)
            self._before[name] = _typed_text(each)
        self.show_samples()

    def show_samples(self) -> None:
        """Show a line for the sample of each placeholder of the text."""
        for each in self.fields.values():
            if isinstance(each, Samples):
                each.show_lines(slot.name for slot in slots(self.fields["text"].value))

    def lock(self, *, locked: bool) -> None:
        """Lock or unlock the input."""
        for name, each in self.fields.items():
            each.lock(locked=locked or name in self.fixed)

    def _on_entry(self, name: str) -> None:
        """Check a field that has changed, and distribute what was pasted into it."""
        text = _typed_text(self.fields[name])
        pasted = len(text) - len(self._before[name]) >= _MIN_PASTED
        self._before[name] = text
        if not (pasted and self.redirect(name)):
            self._check_field(name)
        self.show_samples()
        self._changed()

    def redirect(self, name: str) -> bool:
        """Distribute text that was typed into one field, but belongs into several, if it does."""
        fixed = name in self.fixed
        parts = {} if fixed else self._endpoints.redirect_text(name, _typed_text(self.fields[name]))
        if not parts or self.fixed.intersection(parts):
            return False
        for other, value in parts.items():
            self.fields[other].show(value)
            self._before[other] = _typed_text(self.fields[other])
            self._check_field(other)
        return True

    @property
    def edited(self) -> list[str]:
        """The names of the fields that were edited."""
        return [
            name
            for name, each in self.fields.items()
            if name not in self.fixed and _comparable_value(each) != self._first[name]
        ]

    @property
    def wrong(self) -> dict[str, str]:
        """The problems, by field."""
        problems = {name: each.problem for name, each in self.fields.items()}
        return {name: problem for name, problem in problems.items() if problem}

    @property
    def values(self) -> dict[str, Any]:
        """The fields that would be sent.

        Raises:
            InputError: What is typed in a field is no value, like JSON that is none.
        """
        values, problems = self.read()
        if problems:
            raise InputError("Some fields cannot be read:", problems)
        return values

    def set(self, name: str, value: Any, *, fixed: str = "") -> None:
        """Fill in a field as if it had been typed.

        Args:
            name: The field.
            value: What it is to hold.
            fixed: The key field, which no caller may fill in.

        Raises:
            InputError: There is no such field, it is set at creation only, or refuses the value.
        """
        names = [one for one in self.fields if one != fixed]
        if name not in names:
            problem = Problem(name, "", f"is not one of {', '.join(names)}")
            raise InputError("There is no such field:", [problem])
        reason = "can only be set when it is created" if name in self.fixed else ""
        try:
            if not reason:
                self.fields[name].show(value)
        except TypeError as error:
            reason = str(error)
        if reason:
            raise InputError("This field cannot be set:", [Problem(name, repr(value), reason)])
        self._on_entry(name)

    def read(self) -> tuple[dict[str, Any], list[Problem]]:
        """Return the values that would be sent, and problems of those that cannot be read."""
        values, problems, edited = {}, [], self.edited
        for name, each in self.fields.items():
            declared = self._endpoints.body.model_fields[name]
            has_first = not declared.is_required() or name in self._defaults
            if name in edited or (each.required and has_first):
                try:
                    values[name] = each.read()
                except ValueError as error:
                    problems.append(Problem(name, "", str(error)))
        for name in self._defaults:
            if name in values and values[name] in ("", None, []):
                del values[name]  # what it began with was taken out, and it must hold something
        return values, problems

    def checked(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Validate the fields; return their values, and the body of a call.

        Raises:
            InputError: Something is wrong with it, all of which is told at once.
        """
        values, problems = self.read()
        endpoints, what = self._endpoints, f"This {self._endpoints.noun}"
        unread = {problem.field for problem in problems}
        body: dict[str, Any] = {}
        try:
            if not self._editing:
                required = set(endpoints.required()) - unread
                body = endpoints.body.validate_create(values, what, required)
            elif values or not unread:
                body = endpoints.body.validate_update(values, what)
        except InputError as error:
            problems += error.problems
        if problems:
            raise InputError(f"{what} cannot be sent:", problems)
        return values, body

    def mark(self, problems: Sequence[Problem]) -> list[str]:
        """Show problems at their fields, and return those that have no field."""
        reasons: dict[str, list[str]] = {name: [] for name in self.fields}
        elsewhere = []
        for problem in problems:
            name = problem.field.split(".")[0]
            if name in reasons:
                reasons[name].append(_problem_text(problem))
            else:
                elsewhere.append(f"{problem.field}: {problem.reason}")
        for name, each in self.fields.items():
            each.mark([("error", "; ".join(reasons[name]))])
        return elsewhere

    @property
    def first(self) -> Control:
        """The first control that is wrong, or else the first one."""
        wrong = (self.fields[name] for name in self.wrong)
        return next(wrong, self.controls[0])

    def html(self) -> str:
        """Return the fields as an HTML table for a saved page."""
        rows = []
        for name, each in self.fields.items():
            kind, value = _comparable_value(each)
            text = shortly(value) if kind == "value" else visible(value)
            rows.append([f"<strong>{name}</strong>", escape(text), escape(each.help)])
        return saved_table(["field", "value", ""], rows)

    def _check_field(self, name: str) -> None:
        """Validate an edited field, and show its problem."""
        problem = ""
        try:
            if name in self.edited:
                self._endpoints.body.validate_create({name: self.fields[name].read()}, "", ())
        except InputError as error:
            problem = "; ".join(map(_problem_text, error.problems))
        except ValueError as error:
            problem = str(error)
        self.fields[name].mark([("error", problem)])


def _comparable_value(control: Control) -> tuple[str, Any]:
    """Return "value" and the value of a control, or "problem" and why it has none."""
    try:
        return "value", control.read()
    except ValueError as error:
        return "problem", str(error)


def _typed_text(control: Control) -> str:
    """Return the text of a control; "" for controls without text."""
    return control.value if isinstance(control.value, str) else ""


def _problem_text(problem: Problem) -> str:
    """Return a problem with its place within the field; items are counted from 1."""
    name, *steps = problem.field.split(".")
    place = [f"{name.removesuffix('s')} {int(p) + 1}" if p.isdigit() else p for p in steps]
    return f"{', '.join(place)}: {problem.reason}" if place else problem.reason
