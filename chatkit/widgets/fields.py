"""Fields of a form: each an input with its name, its help, and what is wrong with it.

What is typed into is an input: one kind for each kind of value that a body declares, and rows
that can be added and removed for a list. A field puts its name and help around it, and knows what
it held at first. A fieldset has those of a whole body, and makes of them what would be sent.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from html import escape
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Protocol, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from chatkit.api.record import Body
from chatkit.errors import InputError, Problem
from chatkit.resource import Resource, endpoints_of
from chatkit.util.display import escaped, visible
from chatkit.util.display import values as shortly
from chatkit.util.json_reader import JsonFault, read_json
from chatkit.widgets.controls import START
from chatkit.widgets.light import (
    LightBox,
    LightButton,
    LightCheckbox,
    LightDropdown,
    LightFold,
    LightForm,
    LightHTML,
    LightText,
    LightWidget,
)


class Input(Protocol):
    """Something that a person types into, and that holds one value."""

    widget: Any  #: a control of a form, or a widget of its own

    def read(self) -> Any:
        """Return the value. Raises `ValueError` if what is typed is none."""

    def show(self, value: Any) -> None:
        """Show a value. Raises `TypeError` if it is of another kind."""

    def watch(self, changed: Callable[[], None]) -> None:
        """Call something whenever it changes."""

    def lock(self, locked: bool) -> None:
        """Let nobody type, or let them again."""


def of_kind(value: Any, kind: Any, name: str) -> Any:
    """Return a value of this kind. Raises `TypeError` for any other."""
    if not isinstance(value, kind):
        raise TypeError(f"must be {name}")
    return value


#: Stands for a value that must be there.
NEEDED: Any = object()
_REFERENCE = re.compile(r"\$\{|`")
_SUGGESTED = "${data.…}, ${form.…} or `an expression`"


def is_reference(value: Any) -> bool:
    """Tell whether a value of a flow is a reference or an expression, not the value itself."""
    return isinstance(value, str) and _REFERENCE.search(value) is not None


class SingleInput:
    """An input that is a single widget."""

    widget: Any

    def watch(self, changed: Callable[[], None]) -> None:
        """Call something whenever it changes."""
        self.widget.observe(lambda _: changed(), names="value")

    def lock(self, locked: bool) -> None:
        """Let nobody type, or let them again."""
        self.widget.disabled = locked


class TextLine(SingleInput):
    """A text. One that may be a number too stays a number if it was one."""

    def __init__(self, name: str, numbers: bool, none: bool, long: bool) -> None:
        self.widget = LightText(name, rows=5 if long else 0)
        self._long, self._numbers, self._none, self._number = long, numbers, none, False

    def read(self) -> str | int | None:
        """Return the text; nothing is None where the field is None at first."""
        text: str = self.widget.value
        if self._number and text.isascii() and text.isdigit():
            return int(text)
        return None if self._none and not text else text

    def show(self, value: Any) -> None:
        """Show a text."""
        self._number = self._numbers and isinstance(value, int)
        self.widget.value = "" if value is None else str(of_kind(value, str | int, "text"))


class NumberLine(SingleInput):
    """A number, nothing where it may be, or a reference to one.

    Args:
        name: What stands beside it.
        nothing: What an empty input holds; without it a number must be there.
        whole: Whether it has no fraction.
        digits: The most digits of it.
        reference: Whether a reference can take its place.
    """

    def __init__(
        self,
        name: str,
        nothing: Any = NEEDED,
        *,
        whole: bool = True,
        digits: int = 4000,
        reference: bool = False,
    ) -> None:
        self.widget = LightText(name)
        self._nothing, self._reference, self._whole = nothing, reference, whole
        fraction = "" if whole else r"(\.[0-9]{1,15})?"
        self._pattern = re.compile(f"-?[0-9]{{1,{digits}}}{fraction}")

    def read(self) -> Any:
        """Return the number, or the reference. Raises `ValueError` for anything else."""
        text = self.widget.value.strip()
        if not text and self._nothing is not NEEDED:
            return self._nothing
        if self._reference and is_reference(text):
            return text
        if self._pattern.fullmatch(text):
            return float(text) if "." in text else int(text)
        more = " or ${…}" if self._reference else ""
        raise ValueError(f"must be a {'whole ' if self._whole else ''}number{more}")

    def show(self, value: Any) -> None:
        """Show a number or a reference."""
        if value is (None if self._nothing is NEEDED else self._nothing):
            self.widget.value = ""
            return
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number or (self._reference and is_reference(value))):
            raise TypeError(f"must be a {'whole ' if self._whole else ''}number")
        self.widget.value = str(value)


class Checkbox(SingleInput):
    """Yes or no."""

    def __init__(self, name: str) -> None:
        self.widget = LightCheckbox(name)

    def read(self) -> bool:
        """Return whether it is ticked."""
        return bool(self.widget.value)

    def show(self, value: Any) -> None:
        """Show yes or no; nothing is no."""
        self.widget.value = value is not None and of_kind(value, bool, "True or False")


class Choice:
    """One of some values, or a reference in their place.

    Args:
        name: What stands beside it.
        values: The values, by the words for them.
        nothing: What it holds while nothing is chosen.
        unset: The words for that.
        reference: Whether a reference can take the place of a value.
    """

    def __init__(
        self,
        name: str,
        values: Mapping[str, Any],
        nothing: Any = None,
        unset: str = "(none)",
        *,
        reference: bool = False,
    ) -> None:
        self._values: list[Any] = [nothing, *values.values()]
        self._bound = len(self._values) if reference else -1
        options = [(text, n) for n, text in enumerate([unset, *values])]
        more = [("a reference …", self._bound)] if reference else []
        self._pick = LightDropdown(name, [*options, *more])
        self._controls: list[Any] = [self._pick]
        self.widget: LightWidget = self._pick
        if reference:
            self._text = LightText(f"{name} refers to", _SUGGESTED)
            self._text.add_class("chatkit-reference")
            self._controls.append(self._text)
            self.widget = LightBox(self._controls)
            self._pick.observe(lambda _: self._paint(), names="value")
            self._paint()

    def read(self) -> Any:
        """Return what is chosen, or the reference. Raises `ValueError` while there is none."""
        if self._pick.value != self._bound:
            return self._values[self._pick.value]
        text = self._text.value.strip()
        if not is_reference(text):
            raise ValueError("needs a reference like ${data.name}, or an expression in backticks")
        return text

    def show(self, value: Any) -> None:
        """Choose a value, or show a reference; one that is not offered is kept as it is."""
        if self._bound >= 0 and is_reference(value):
            self._text.value, self._pick.value = value, self._bound
            return
        alike = [type(one) is type(value) and one == value for one in self._values]
        if True in alike:
            self._pick.value = alike.index(True)
            return
        words = self._kept(value)
        self._values.append(value)
        self._pick.options = [*self._pick.options, (words, len(self._values) - 1)]
        self._pick.value = len(self._values) - 1

    def _kept(self, value: Any) -> str:
        """Name a value that is not offered. Raises `TypeError` if it cannot be kept."""
        text: str = of_kind(value, str, "text")
        return text

    def watch(self, changed: Callable[[], None]) -> None:
        """Call something whenever it changes."""
        for one in self._controls:
            one.observe(lambda _: changed(), names="value")

    def lock(self, locked: bool) -> None:
        """Let nobody choose, or let them again."""
        for one in self._controls:
            one.disabled = locked

    def _paint(self) -> None:
        self._text.hidden = self._pick.value != self._bound


class TextLines(SingleInput):
    """A list of texts, each on a line of its own, or a reference to one.

    Args:
        name: What stands beside it.
        nothing: What an empty input holds, in place of an empty list.
        reference: Whether a reference can take its place.
    """

    def __init__(self, name: str, nothing: Any = None, *, reference: bool = False) -> None:
        more = ", or ${data.…}" if reference else ""
        self.widget = LightText(name, f"one on each line{more}", rows=3)
        self._nothing, self._reference = nothing, reference

    def read(self) -> Any:
        """Return the lines that are not empty, or the reference."""
        lines = [text for line in self.widget.value.split("\n") if (text := line.strip())]
        if self._reference and len(lines) == 1 and is_reference(lines[0]):
            return lines[0]
        return lines or ([] if self._nothing is None else self._nothing)

    def show(self, value: Any) -> None:
        """Show a list of texts, or a reference."""
        if self._reference and is_reference(value):
            self.widget.value = value
            return
        listed = [] if value is self._nothing else of_kind(value, list, "a list")
        self.widget.value = "\n".join(of_kind(text, str, "text") for text in listed)
        if self._reference and listed and self.read() != listed:
            raise TypeError("must be texts that are a line each")


class JsonText(SingleInput):
    """Anything, written as JSON.

    Args:
        name: What stands beside it.
        rows: How many lines it has.
        nothing: What an empty input holds.
    """

    def __init__(self, name: str, rows: int, nothing: Any = None) -> None:
        self.widget = LightText(name, "JSON", rows=rows)
        self.widget.add_class("chatkit-json")
        self._nothing = nothing

    def read(self) -> Any:
        """Return what the JSON says. Raises `ValueError` with line and column."""
        text = self.widget.value
        if not text.strip():
            return self._nothing
        try:
            return read_json(text)
        except JsonFault as fault:
            said = "is not clear" if fault.kind == "duplicate" else "is not JSON"
            raise ValueError(f"{said}: {fault}{fault.where}") from None

    def show(self, value: Any) -> None:
        """Write a value as JSON."""
        empty = value is self._nothing
        self.widget.value = "" if empty else json.dumps(value, ensure_ascii=False, indent=2)


#: The value that stands for all others (API document, Events).
_ALL = "*"


class TickBoxes:
    """Some of several values, each with what it means; the box for all stands for the others.

    Args:
        name: What stands above them.
        meanings: What each value means.
    """

    def __init__(self, name: str, meanings: Mapping[str, str]) -> None:
        self._boxes: dict[str, LightCheckbox] = {}
        self._changed: Callable[[], None] = lambda: None
        self._locked = False
        self._title = LightHTML(f'<span class="chatkit-label">{name}</span>')
        self.widget = LightBox([self._title], "chatkit-rows chatkit-ticks")
        for value, means in meanings.items():
            self._offer(value, means)

    def read(self) -> list[str]:
        """Return the values that are ticked; that for all is the only one then."""
        ticked = [value for value, box in self._boxes.items() if box.value]
        return [_ALL] if _ALL in ticked else ticked

    def show(self, value: Any) -> None:
        """Tick these values, and no others; one that was not offered gets a box of its own."""
        chosen = [of_kind(one, str, "text") for one in of_kind(value or [], list, "a list")]
        for one in chosen:
            if one not in self._boxes:
                self._offer(one, "not one of the values that the profile names")
        for one, box in self._boxes.items():
            box.value = one in chosen

    def watch(self, changed: Callable[[], None]) -> None:
        """Call something whenever it changes."""
        self._changed = changed

    def lock(self, locked: bool) -> None:
        """Let nobody tick them, or let them again."""
        self._locked = locked
        for value, box in self._boxes.items():
            box.disabled = locked or (value != _ALL and self.read() == [_ALL])

    def _offer(self, value: str, means: str) -> None:
        words = f"{visible(means)} ({visible(value)})"
        box = LightCheckbox(words)
        box.observe(self._ticked, names="value")
        self._boxes[value] = box
        self.widget.children = [self._title, *self._boxes.values()]

    def _ticked(self, _: Any) -> None:
        self.lock(self._locked)
        self._changed()


@dataclass(eq=False)
class _InputRow:
    """One row: its inputs, how it is laid out, and which of its fields were there before."""

    inputs: list[Input]
    widget: LightBox
    known: frozenset[str] = frozenset()


class _Repeated(ABC):
    """Rows that can be added and removed."""

    def __init__(self, name: str, noun: str) -> None:
        self._noun = noun
        self._rows: list[_InputRow] = []
        self._changed: Callable[[], None] = lambda: None
        self._add = LightButton(f"Add {noun}", self.add)
        self._box = LightBox()
        title = LightHTML(f'<span class="chatkit-label">{name}</span>')
        self.widget = LightBox([title, self._box, self._add], "chatkit-rows")

    @abstractmethod
    def inputs(self) -> list[Input]:
        """Make the inputs of a new row."""

    def add(self) -> _InputRow:
        """Add an empty row."""
        inputs = self.inputs()
        for one in inputs:
            one.watch(lambda: self._changed())
        row = _InputRow(inputs, LightBox(css="chatkit-row", row=True))
        row.widget.children = [
            *(one.widget for one in inputs),
            LightButton("Remove", lambda: self._remove(row)),
        ]
        self._rows.append(row)
        self._laid_out()
        return row

    def _remove(self, row: _InputRow) -> None:
        self._rows.remove(row)
        self._laid_out()

    def clear(self) -> None:
        """Remove all rows."""
        self._rows = []
        self._laid_out()

    def _laid_out(self) -> None:
        for n, row in enumerate(self._rows, 1):
            row.widget.children[-1].label = f"Remove {self._noun} {n}"
        self._box.children = [row.widget for row in self._rows]
        self._changed()

    def watch(self, changed: Callable[[], None]) -> None:
        """Call something whenever it changes."""
        self._changed = changed

    def lock(self, locked: bool) -> None:
        """Let nobody type, or let them again."""
        self._add.disabled = locked
        for row in self._rows:
            row.widget.children[-1].disabled = locked
            for one in row.inputs:
                one.lock(locked)


class Pairs(_Repeated):
    """Texts by names, like the sample texts of placeholders."""

    def __init__(self, name: str) -> None:
        super().__init__(name, name.removesuffix("s"))

    def inputs(self) -> list[Input]:
        """Make a row: the name and its text."""
        return [TextLine(name, False, False, False) for name in ("name", "text")]

    def read(self) -> dict[str, str]:
        """Return the texts by their names. Raises `ValueError` for a name that is there twice."""
        found: dict[str, str] = {}
        for row in self._rows:
            name, text = row.inputs
            key = name.read()
            if key in found:
                raise ValueError(f"has {key!r} twice")
            if key or text.read():
                found[key] = text.read()
        return found

    def show(self, value: Any) -> None:
        """Show texts by their names."""
        self.clear()
        for key, text in of_kind(value or {}, dict, "a dict").items():
            name, side = self.add().inputs
            name.show(of_kind(key, str, "text"))
            side.show(of_kind(text, str, "text"))


class Bodies(_Repeated):
    """A list of small bodies, like buttons, each with a few fields."""

    def __init__(self, name: str, body: type[Body], optional: bool) -> None:
        super().__init__(name, body.__name__.lower())
        self._body, self._none = body, optional

    def inputs(self) -> list[Input]:
        """Make a row: one input for each field of the body."""
        return [self._input(n, f) for n, f in self._body.model_fields.items()]

    def _input(self, name: str, field: FieldInfo) -> Input:
        return input_for(name, field, nested=True)

    def read(self) -> list[dict[str, Any]] | None:
        """Return each row as a dict of the fields that are filled in, or that were there before."""
        found = []
        for n, row in enumerate(self._rows, 1):
            item = {}
            for name, one in zip(self._body.model_fields, row.inputs, strict=True):
                try:
                    value = one.read()
                except ValueError as error:
                    raise ValueError(f"in {self._noun} {n}, {name} {error}") from None
                if value is not None or name in row.known:
                    item[name] = value
            found.append(item)
        return found or (None if self._none else [])

    def show(self, value: Any) -> None:
        """Show a list of dicts. What the body does not declare cannot be sent, and is left out."""
        items = [of_kind(item, Mapping, "a dict") for item in of_kind(value or [], list, "a list")]
        if len(items) < len(self._rows):
            del self._rows[len(items) :]
            self._laid_out()
        for n, item in enumerate(items):
            row = self._rows[n] if n < len(self._rows) else self.add()  # making one is slow
            row.known = frozenset(item)
            for name, one in zip(self._body.model_fields, row.inputs, strict=True):
                one.show(item.get(name))


#: Texts that have several lines.
_LONG = frozenset({"text", "flow_json_raw"})


def input_for(name: str, field: FieldInfo, *, nested: bool = False) -> Input:
    """Choose the input for a field of a body, and show the value it has at first."""
    union = get_origin(field.annotation) in (Union, UnionType)
    sides = get_args(field.annotation) if union else (field.annotation,)
    kinds = [side for side in sides if side is not NoneType]
    optional = NoneType in sides
    kind = kinds[0] if len(kinds) == 1 else field.annotation
    origin, inner = get_origin(kind), get_args(kind)
    made: Input
    nothing = "(none)" if optional else "choose one"
    if kind is bool:
        made = Checkbox(name)
    elif origin is Literal:
        made = Choice(name, {text: text for text in inner}, unset=nothing)
    elif origin is list and inner[0] is str:
        made = TextLines(name)
    elif origin is list and isinstance(inner[0], type) and issubclass(inner[0], Body):
        made = Bodies(name, inner[0], optional)
    elif origin is dict and inner == (str, str):
        made = Pairs(name)
    elif kind is int:
        made = NumberLine(name, None) if optional else NumberLine(name)
    elif str in kinds:
        made = TextLine(name, int in kinds, field.default is None, name in _LONG and not nested)
    else:
        made = JsonText(name, 1 if optional or kind is Any else 10)
    if not field.is_required():
        made.show(field.get_default(call_default_factory=True))
    return made


class LabelledInput:
    """An input with its help, and what is wrong with it below.

    Args:
        made: What is typed into.
    """

    def __init__(self, made: Input) -> None:
        self.input = made
        self.help = ""
        self._help, self._problem = LightHTML(), LightHTML()
        self.widget = LightBox([made.widget, self._help, self._problem], "chatkit-field")
        self._show_problems([])

    def explain(self, text: str, *, required: bool) -> None:
        """Show its help, and whether it must be filled in."""
        self.help = text
        self._help.value = f"<small>{escape(text)}</small>"
        (self.widget.add_class if required else self.widget.remove_class)("chatkit-required")

    def _show_problems(self, problems: Sequence[tuple[str, str]]) -> None:
        """Show what is wrong with it, each with how grave it is."""
        self._problem.value = "".join(
            f'<span class="chatkit-problem {severity}" role="alert" dir="auto">'
            f"{escaped(text.strip())}</span>"
            for severity, text in problems
        )
        self._problem.hidden = not problems

    def focus(self) -> None:
        """Put the cursor into it."""
        self.widget.focus()


class FormField(LabelledInput):
    """One field of a form.

    Args:
        name: Its name in the API.
        declared: How the body declares it.
        made: What it is typed into; None for what suits the kind of its value.
    """

    def __init__(self, name: str, declared: FieldInfo, made: Input | None = None) -> None:
        self.name = name
        self.required = self.fixed = False
        self._said = ""
        self._default: Any = None
        super().__init__(made or input_for(name, declared))
        self._declared = declared
        self._first = self._peek()

    def begin(
        self,
        value: Any = None,
        *,
        required: bool = False,
        fixed: bool = False,
        hidden: bool = False,
        default: Any = None,
    ) -> None:
        """Show what a record holds: from now on, only something else counts as edited.

        Args:
            value: What it holds; None for what the field is without being touched.
            required: Whether a create must send it.
            fixed: Whether it cannot be changed any more.
            hidden: Whether the service does not show what it holds.
            default: What a required field begins with, and sends unless somebody changes it.
        """
        self.required, self.fixed, self._default = required, fixed, default
        first = default
        if not self._declared.is_required():
            first = self._declared.get_default(call_default_factory=True)
        self.input.show(first if value is None else value)
        self.input.lock(fixed)
        self._first = self._peek()
        told = [
            self._declared.description or "",
            "Fixed once it exists." if fixed else "",
            "The service does not show what it holds now." if hidden else "",
        ]
        self.explain(" ".join(filter(None, told)), required=required)
        self.say("")

    def set(self, value: Any) -> None:
        """Show a value as if it had been typed.

        Raises:
            InputError: It is of a kind that the field cannot hold.
        """
        if self.fixed:
            problem = Problem(self.name, repr(value), "can only be set when it is created")
            raise InputError("This field cannot be set:", [problem])
        try:
            with self.widget.held():
                self.input.show(value)
        except TypeError as error:
            problem = Problem(self.name, repr(value), str(error))
            raise InputError("This field cannot be set:", [problem]) from None

    def watch(self, changed: Callable[[FormField], None]) -> None:
        """Call something whenever its input changes."""
        self.input.watch(lambda: changed(self))

    @property
    def edited(self) -> bool:
        """Whether it holds something else than at first."""
        return not self.fixed and self._peek() != self._first

    @property
    def counts(self) -> bool:
        """Whether its value is sent: what is edited, and what must be there."""
        has = not self._declared.is_required() or self._default is not None
        return self.edited or (self.required and has)

    def read(self) -> Any:
        """Return its value. Raises `ValueError` if what is typed is none."""
        return self.input.read()

    @property
    def text(self) -> str:
        """What is typed into a single line or area; empty for other inputs."""
        value = getattr(self.input.widget, "value", "")
        return value if isinstance(value, str) else ""

    @property
    def empty(self) -> bool:
        """Whether it must hold something, and what it began with was taken out."""
        return self._default is not None and self.required and self._peek()[1] in ("", None, [])

    def _peek(self) -> tuple[str, Any]:
        """Return the value, or what is wrong with it, in a form that can be compared."""
        try:
            return "value", self.input.read()
        except ValueError as error:
            return "problem", str(error)

    @property
    def problem(self) -> str:
        """What is said to be wrong with it; empty if nothing is."""
        return self._said

    def say(self, problem: str) -> None:
        """Say what is wrong with it, at the field; an empty text takes that back."""
        self._said = problem
        self._show_problems([("error", problem)] if problem else [])
        mark = self.widget.add_class if problem else self.widget.remove_class
        mark("chatkit-wrong")


#: Where there are more fields, those that are off or empty unless somebody wants them are folded.
_MANY = 8
#: Who types sends a letter or two at a time: so many at once were pasted.
_PASTED = 4


class Fieldset:
    """The fields of a resource's body.

    Args:
        resource: Whose records these are.
        known: What a record holds, to be edited; None for a new one.
        inputs: What some fields are typed into, in place of what suits their kind.
    """

    def __init__(
        self,
        resource: Resource[Any],
        known: Mapping[str, Any] | None,
        inputs: Mapping[str, Input] = MappingProxyType({}),
    ) -> None:
        endpoints = self._endpoints = endpoints_of(resource)
        self._editing = False
        self._filling = False
        declared = endpoints.body.model_fields
        ticks = {name: TickBoxes(name, means) for name, means in endpoints.choices().items()}
        given = {**ticks, **inputs}
        self.fields = {
            name: FormField(name, field, given.get(name)) for name, field in declared.items()
        }
        self._before: dict[str, str] = {}
        self._folded = [
            name
            for name, field in declared.items()
            if len(declared) > _MANY
            and field.default in (None, False)
            and name not in endpoints.required()
            and not (known or {}).get(name)
        ]
        self._more: LightFold | None = None
        self.fill(known)

    @cached_property
    def widget(self) -> LightForm:
        """All of them as one widget; what nobody needs to fill in is folded."""
        shown = [field.widget for name, field in self.fields.items() if name not in self._folded]
        if self._folded:
            folded = [self.fields[name].widget for name in self._folded]
            self._more = LightFold(f"{len(self._folded)} more fields", folded)
        return LightForm(LightBox([*shown, *([self._more] if self._more else [])]))

    def fill(self, known: Mapping[str, Any] | None) -> None:
        """Show what a record holds, to be edited; None for a new one."""
        endpoints, self._editing = self._endpoints, known is not None
        chosen = {endpoints.key} if endpoints.chosen else set()
        fixed = {*endpoints.body.create_only, *chosen} if self._editing else set()
        self._filling = True
        with self._held():
            for name, field in self.fields.items():
                field.begin(
                    (known or {}).get(name),
                    required=not self._editing and name in endpoints.required(),
                    fixed=name in fixed,
                    hidden=known is not None and name not in known,
                    default=None if self._editing else endpoints.defaults.get(name),
                )
        self._before = {name: field.text for name, field in self.fields.items()}
        self._filling = False

    def watch(self, changed: Callable[[], None]) -> None:
        """Call something whenever a person has changed a field; the field is checked before."""

        def check(field: FormField) -> None:
            if not self._filling:
                text, before = field.text, self._before.get(field.name, "")
                self._before[field.name] = text
                if len(text) - len(before) < _PASTED or not self._rearranged(field):
                    field.say(self._wrong(field))
                changed()

        for field in self.fields.values():
            field.watch(check)

    def lock(self, locked: bool) -> None:
        """Let nobody type, or let them again."""
        with self._held():
            for field in self.fields.values():
                field.input.lock(locked or field.fixed)

    def _held(self) -> AbstractContextManager[None]:
        """Send what changes in several fields to the page at once."""
        return next(iter(self.fields.values())).widget.held()

    def rearrange(self) -> None:
        """Put what was typed into one field, and belongs into several, where it belongs."""
        for field in self.fields.values():
            self._rearranged(field)

    def _rearranged(self, field: FormField) -> bool:
        found = {} if field.fixed else self._endpoints.rearranged(field.name, field.text)
        others = [self.fields[name] for name in found]
        if not found or any(one.fixed for one in others):
            return False
        self._filling = True
        for one in others:
            one.set(found[one.name])
            self._before[one.name] = one.text
        self._filling = False
        for one in others:
            one.say(self._wrong(one))
        return True

    @property
    def edited(self) -> list[str]:
        """The names of the fields that hold something else than at first."""
        return [name for name, field in self.fields.items() if field.edited]

    @property
    def wrong(self) -> dict[str, str]:
        """What is said to be wrong, by field."""
        return {name: field.problem for name, field in self.fields.items() if field.problem}

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
            fixed: A field that cannot be filled in here.

        Raises:
            InputError: There is no such field, it is fixed, or it cannot hold such a value.
        """
        others = [one for one in self.fields if one != fixed]
        if name not in others:
            problem = Problem(name, "", f"is not one of {', '.join(others)}")
            raise InputError("There is no such field:", [problem])
        self.fields[name].set(value)

    def read(self) -> tuple[dict[str, Any], list[Problem]]:
        """Return what would be sent, and what is typed that is no value."""
        values, problems = {}, []
        for name, field in self.fields.items():
            if field.counts and not field.empty:
                try:
                    values[name] = field.read()
                except ValueError as error:
                    problems.append(Problem(name, "", str(error)))
        return values, problems

    def checked(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what would be sent, as it was typed and as the body of a call.

        Raises:
            InputError: Something is wrong with it, all of which is told at once.
        """
        values, problems = self.read()
        endpoints, what = self._endpoints, f"This {self._endpoints.noun}"
        unread = {problem.field for problem in problems}
        body: dict[str, Any] = {}
        try:
            if not self._editing:
                body = endpoints.body.whole(values, what, set(endpoints.required()) - unread)
            elif values or not unread:
                body = endpoints.body.part(values, what)
        except InputError as error:
            problems += error.problems
        if problems:
            raise InputError(f"{what} cannot be sent:", problems)
        return values, body

    def mark(self, problems: Sequence[Problem]) -> list[str]:
        """Show problems at their fields and nowhere else; return those that have no field."""
        said: dict[str, list[str]] = {name: [] for name in self.fields}
        left = []
        for problem in problems:
            name = problem.field.split(".")[0]
            if name in said:
                said[name].append(_placed(problem))
            else:
                left.append(f"{problem.field}: {problem.reason}")
        with self._held():
            for name, field in self.fields.items():
                field.say("; ".join(said[name]))
        if self._more is not None and any(said[name] for name in self._folded):
            self._more.value = True
        return left

    def focus(self) -> None:
        """Put the cursor into the first field that is wrong."""
        for name in list(self.wrong)[:1]:
            self.fields[name].focus()

    def html(self) -> str:
        """Show the fields where no widget can be: in an exported page, on GitHub."""
        rows = []
        for name, field in self.fields.items():
            try:
                value = shortly(field.read())
            except ValueError as error:
                value = visible(str(error))
            cells = "".join(
                f'<td dir="auto" {START}>{escape(part)}</td>' for part in (value, field.help)
            )
            rows.append(f'<tr><th scope="row" {START}>{name}</th>{cells}</tr>')
        return f"<table>{''.join(rows)}</table>"

    def _wrong(self, field: FormField) -> str:
        """Check one field that was edited."""
        if not field.edited:
            return ""
        try:
            self._endpoints.body.whole({field.name: field.read()}, "", ())
        except InputError as error:
            return "; ".join(_placed(problem) for problem in error.problems)
        except ValueError as error:
            return str(error)
        return ""


def _placed(problem: Problem) -> str:
    """Say what is wrong within a field, and where: the parts of a list are counted from 1."""
    name, *steps = problem.field.split(".")
    place = [f"{name.removesuffix('s')} {int(p) + 1}" if p.isdigit() else p for p in steps]
    return f"{', '.join(place)}: {problem.reason}" if place else problem.reason
