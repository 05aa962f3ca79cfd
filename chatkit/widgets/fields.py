"""Form engine: labelled controls that one model draws in the page, and the fields of a body.

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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from html import escape
from itertools import count
from threading import RLock
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import anywidget
import traitlets
from pydantic.fields import FieldInfo

from chatkit.api.record import Body
from chatkit.api.secret import Secret
from chatkit.bulk.endpoints import Key
from chatkit.errors import InputError, Problem
from chatkit.resource import Resource, endpoints_of
from chatkit.util.display import values as shortly
from chatkit.util.display import visible
from chatkit.util.json import JsonFault, read_json
from chatkit.widgets.controls import START, ActsOnce, call_code, joined_module, style_sheet

_ids = count(1)


class FormModel(anywidget.AnyWidget):
    """The model that draws the controls of a form, and takes what is entered in them.

    Args:
        root: The group of all of them.
    """

    _esm = joined_module(["keys.js", "elements.js", "fields.js"])
    _css = style_sheet("fields.css")

    #: The control that the page puts the cursor into, once.
    focused = traitlets.Int(0).tag(sync=True)
    #: What is drawn: each control with its label, value, help and problems, as JSON.
    tree = traitlets.Dict().tag(sync=True)

    def __init__(self, root: FormGroup) -> None:
        self.root, self._lock, self._holds = root, RLock(), 0
        root.parent = self
        super().__init__(tree=root.drawn())
        self.on_msg(self._receive)

    def __repr__(self) -> str:
        return f"<form of {sum(1 for _ in self.root.descendants())} controls>"

    @property
    def children(self) -> Sequence[Control]:
        """The root, as boxes of ipywidgets have their children."""
        return (self.root,)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Send all changes of the block to the page together, at its end."""
        with self._lock:
            self._holds += 1
            try:
                yield
            finally:
                self._holds -= 1
                if not self._holds:
                    self.draw()

    def draw(self) -> None:
        """Send what has changed to the page at once."""
        self.tree = self.root.drawn()

    def _receive(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"id": int(number), "entered": entered}:
                for control in self.root.descendants():
                    if control.id == number:
                        with self.held():
                            control.enter(entered)
                        return


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

    def __init__(self, label: str = "", value: Any = None, css: str = "") -> None:
        self.id = next(_ids)
        self.label, self.css, self.help = label, css, ""
        self.problems: list[tuple[str, str]] = []  #: what is wrong: how severe, and why
        self.notes = ""  #: HTML that stands below it
        self.required = self.hidden = self.disabled = False
        self.written = 0  #: how often Python has set the value: the page then takes it over
        self.parent: Control | FormModel | None = None
        self._value = value
        self._watchers: list[Callable[[], object]] = []
        self._muted = False

    @property
    def value(self) -> Any:
        """The text, tick or choice, as the page has it."""
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        if value != self._value:
            self._value = value
            self.written += 1
            self.changed()

    def enter(self, value: Any) -> None:
        """Take what was entered in the page; what the control cannot hold is ignored."""
        if isinstance(value, self.accepts) and not self.disabled and value != self._value:
            self._value = value
            self.changed()

    def read(self) -> Any:
        """Return the value that is meant. Raises `ValueError` if what is typed is none."""
        return self.value

    def show(self, value: Any) -> None:
        """Show a value. Raises `TypeError` if it is of another kind."""
        self.value = value

    def watch(self, changed: Callable[[], object]) -> None:
        """Call something whenever the value changes."""
        self._watchers.append(changed)

    def changed(self) -> None:
        """Report a change of the value to what watches it, and to what it stands in."""
        if not self._muted:
            with self.held():
                for watcher in self._watchers:
                    watcher()
                if isinstance(self.parent, Control):
                    self.parent.changed()

    @contextmanager
    def as_one(self) -> Iterator[None]:
        """Report all changes of the block as one, at its end."""
        self._muted, before = True, self._muted
        try:
            yield
        finally:
            self._muted = before
        self.changed()

    @property
    def problem(self) -> str:
        """The problems in words; empty if there is none."""
        return " ".join(text for _, text in self.problems)

    def mark(self, problems: Sequence[tuple[str, str]]) -> None:
        """Show what is wrong with it, each with how severe it is."""
        self.problems = [(severity, visible(text.strip())) for severity, text in problems]
        self.redraw()

    def lock(self, locked: bool) -> None:
        """Refuse what is typed, or take it again."""
        self.disabled = locked
        self.redraw()

    def focus(self) -> None:
        """Put the cursor into it, or into the first control in it."""
        if (form := self._form()) is not None:
            form.focused = 0
            form.focused = self.id

    def held(self) -> AbstractContextManager[None]:
        """Send all changes of the block to the page together, at its end."""
        return nullcontext() if (form := self._form()) is None else form.held()

    def redraw(self) -> None:
        """Send what has changed to the page."""
        with self.held():
            pass

    def drawn(self) -> dict[str, Any]:
        """Return what the page draws."""
        return {name: value for name in self.drawing if (value := getattr(self, name))}

    def descendants(self) -> Iterator[Control]:
        """Yield the control and all that stand in it."""
        yield self

    def _form(self) -> FormModel | None:
        parent = self.parent
        while isinstance(parent, Control):
            parent = parent.parent
        return parent


class Html(Control):
    """Some HTML, in which every text is escaped."""

    kind, accepts = "html", NoneType

    def __init__(self, value: str = "") -> None:
        super().__init__("", value)


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
        look = "primary" if submit else "plain"
        super().__init__(label, css=look)
        self.token, self.submit = self._will(act), submit

    def enter(self, value: Any) -> None:
        """Act, if the click has seen the token that the button has now."""
        self._clicked(value)

    def _clicked(self, token: object) -> None:
        with self.held():
            super()._clicked(token)


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
        self.row = row
        self.children = children

    @property
    def children(self) -> Sequence[Control]:
        """The controls in it."""
        return self._children

    @children.setter
    def children(self, children: Sequence[Control]) -> None:
        self._children = list(children)
        for child in children:
            child.parent = self

    def lock(self, locked: bool) -> None:
        """Refuse what is typed, or take it again."""
        with self.held():
            super().lock(locked)
            for child in self.children:
                child.lock(locked)

    def drawn(self) -> dict[str, Any]:
        """Return what the page draws."""
        return {**super().drawn(), "children": [child.drawn() for child in self.children]}

    def descendants(self) -> Iterator[Control]:
        """Yield the group and all controls that stand in it."""
        yield self
        for child in self.children:
            yield from child.descendants()


class Fold(FormGroup):
    """Controls that are folded away; the value is whether they are unfolded."""

    kind, accepts = "fold", bool


# --- inputs ---------------------------------------------------------------------------------


def of_kind(value: Any, kind: Any, name: str) -> Any:
    """Return a value of this kind. Raises `TypeError` for any other."""
    if not isinstance(value, kind):
        raise TypeError(f"must be {name}")
    return value


#: Stands for a value that must be there.
NEEDED: Any = object()
_REFERENCE = re.compile(r"\$\{|`")


def is_reference(value: Any) -> bool:
    """Return whether a value of a flow is a reference or an expression, not the value itself."""
    return isinstance(value, str) and _REFERENCE.search(value) is not None


class Text(Control):
    """A text, on one line or on several. One that may be a number too stays one if it was one.

    Args:
        label: What it is called.
        placeholder: What an empty one shows.
        rows: The lines it is high, if they are several.
        late: Whether it counts when it is typed whole, not at each letter.
        numbers: Whether it may be a number.
        none: Whether an empty one is None.
    """

    kind = "text"
    drawing = (*Control.drawing, "placeholder", "rows", "late")

    def __init__(
        self,
        label: str,
        placeholder: str = "",
        *,
        rows: int = 0,
        late: bool = False,
        numbers: bool = False,
        none: bool = False,
    ) -> None:
        super().__init__(label, "")
        self.placeholder, self.rows, self.late = placeholder, rows, late
        self._numbers, self._none, self._number = numbers, none, False

    def read(self) -> Any:
        """Return the text."""
        text: str = self.value
        if self._number and text.isascii() and text.isdigit():
            return int(text)
        return None if self._none and not text else text

    def show(self, value: Any) -> None:
        """Show a text."""
        self._number = self._numbers and isinstance(value, int)
        self.value = "" if value is None else str(of_kind(value, str | int, "text"))


class NumberText(Text):
    """A number, nothing where it may be, or a reference to one.

    Args:
        label: What it is called.
        nothing: What an empty input holds; without it a number must be there.
        whole: Whether it has no fraction.
        digits: The most digits of it.
        reference: Whether a reference can take its place.
    """

    def __init__(
        self,
        label: str,
        nothing: Any = NEEDED,
        *,
        whole: bool = True,
        digits: int = 4000,
        reference: bool = False,
    ) -> None:
        super().__init__(label)
        self._nothing, self._reference = nothing, reference
        self._noun = "whole number" if whole else "number"
        self._pattern = re.compile(f"-?[0-9]{{1,{digits}}}{'' if whole else '([.][0-9]{1,15})?'}")

    def read(self) -> Any:
        """Return the number, or the reference. Raises `ValueError` for anything else."""
        text = self.value.strip()
        if not text and self._nothing is not NEEDED:
            return self._nothing
        if self._reference and is_reference(text):
            return text
        if self._pattern.fullmatch(text):
            return float(text) if "." in text else int(text)
        raise ValueError(f"must be a {self._noun}{' or ${…}' if self._reference else ''}")

    def show(self, value: Any) -> None:
        """Show a number or a reference."""
        if value is (None if self._nothing is NEEDED else self._nothing):
            value = ""
        elif not (self._reference and is_reference(value)):
            of_kind(None if isinstance(value, bool) else value, int | float, f"a {self._noun}")
        self.value = str(value)


class Lines(Text):
    """A list of texts, each on a line of its own, or a reference to one.

    Args:
        label: What it is called.
        nothing: What an empty input holds, in place of an empty list.
        reference: Whether a reference can take its place.
    """

    def __init__(self, label: str, nothing: Any = None, *, reference: bool = False) -> None:
        super().__init__(label, f"one on each line{', or ${data.…}' if reference else ''}", rows=3)
        self._nothing, self._reference = nothing, reference

    def read(self) -> Any:
        """Return the lines that are not empty, or the reference."""
        lines = [text for line in self.value.split("\n") if (text := line.strip())]
        if self._reference and len(lines) == 1 and is_reference(lines[0]):
            return lines[0]
        return lines or ([] if self._nothing is None else self._nothing)

    def show(self, value: Any) -> None:
        """Show a list of texts, or a reference."""
        if self._reference and is_reference(value):
            self.value = value
            return
        listed = [] if value is self._nothing else of_kind(value, list, "a list")
        self.value = "\n".join(of_kind(text, str, "text") for text in listed)
        if self._reference and listed and self.read() != listed:
            raise TypeError("must be texts that are a line each")


class Json(Text):
    """Anything, written as JSON.

    Args:
        label: What it is called.
        rows: How many lines it has.
        nothing: What an empty input holds.
    """

    def __init__(self, label: str, rows: int, nothing: Any = None) -> None:
        super().__init__(label, "JSON", rows=rows)
        self.css, self._nothing = "chatkit-json", nothing

    def read(self) -> Any:
        """Return what the JSON says. Raises `ValueError` with line and column."""
        if not self.value.strip():
            return self._nothing
        try:
            return read_json(self.value)
        except JsonFault as fault:
            reason = "is not clear" if fault.kind == "duplicate" else "is not JSON"
            raise ValueError(f"{reason}: {fault}{fault.where}") from None

    def show(self, value: Any) -> None:
        """Write a value as JSON."""
        empty = value is self._nothing
        self.value = "" if empty else json.dumps(value, ensure_ascii=False, indent=2)


class Checkbox(Control):
    """Yes or no."""

    kind, accepts = "checkbox", bool

    def __init__(self, label: str) -> None:
        super().__init__(label, False)

    def show(self, value: Any) -> None:
        """Show yes or no; nothing is no."""
        self.value = value is not None and of_kind(value, bool, "True or False")


class Choice(Control):
    """One of some values; its own value is the number of the option.

    Args:
        label: What it is called.
        values: The values, by the words for them.
        nothing: What it holds while nothing is chosen.
        unset: The words for that.
    """

    kind, accepts = "choice", int
    drawing = (*Control.drawing, "options")

    def __init__(
        self, label: str, values: Mapping[str, Any], nothing: Any = None, unset: str = "(none)"
    ) -> None:
        super().__init__(label, 0)
        self.options = [unset, *values]
        self._values: list[Any] = [nothing, *values.values()]

    def enter(self, value: Any) -> None:
        """Take the number of an option."""
        if value in range(len(self.options)):
            super().enter(value)

    def read(self) -> Any:
        """Return what is chosen."""
        return self._values[self.value]

    def show(self, value: Any) -> None:
        """Choose a value; one that is not offered is kept as it is."""
        for number, offered in enumerate(self._values):
            if type(offered) is type(value) and offered == value:
                self.value = number
                return
        self.options = [*self.options, self.words_for(value)]
        self._values.append(value)
        self.value = len(self._values) - 1

    def words_for(self, value: Any) -> str:
        """Return the words for a value that is not offered. Raises `TypeError` to refuse it."""
        words: str = of_kind(value, str, "text")
        return words


class Radio(Choice):
    """One of some values, each with details in HTML that stand below it.

    Args:
        label: What they are.
        details: The details by the values, which are the words for them too; the first is chosen.
    """

    kind = "radio"
    drawing = (*Choice.drawing, "details")

    def __init__(self, label: str, details: Mapping[str, str]) -> None:
        first, *others = details
        super().__init__(label, {other: other for other in others}, first, first)
        self.details = list(details.values())


class SecretText(Control):
    """A text that is never part of the state: the page sends it with the click that uses it."""

    kind = "secret"
    drawing = tuple(name for name in Control.drawing if name not in ("value", "written"))

    def enter(self, value: Any) -> None:
        """Keep what was typed, until it is taken."""
        self._value = Secret(value) if isinstance(value, str) else None

    def take(self) -> Secret | None:
        """Return what was typed, and forget it."""
        secret: Secret | None = self._value
        self._value = None
        return secret


#: The value that stands for all others (API document, Events).
_ALL = "*"


class Ticks(FormGroup):
    """Some of several values, each with what it means; the box for all stands for the others.

    Args:
        label: What they are.
        meanings: What each value means.
    """

    def __init__(self, label: str, meanings: Mapping[str, str]) -> None:
        self._boxes: dict[str, Checkbox] = {}
        super().__init__((), label, "chatkit-ticks")
        for value, meaning in meanings.items():
            self._offer(value, meaning)

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
        with self.as_one():
            for one, box in self._boxes.items():
                box.value = one in chosen

    def lock(self, locked: bool) -> None:
        """Refuse ticks, or take them again."""
        super().lock(locked)
        self._cover()

    def changed(self) -> None:
        """Disable what the box for all stands for, and report the change."""
        self._cover()
        super().changed()

    def _offer(self, value: str, meaning: str) -> None:
        self._boxes[value] = Checkbox(f"{visible(meaning)} ({visible(value)})")
        self.children = [*self._boxes.values()]

    def _cover(self) -> None:
        for value, box in self._boxes.items():
            box.disabled = self.disabled or (value != _ALL and self.read() == [_ALL])
        self.redraw()


class FormRow(FormGroup):
    """One row: its inputs by name, and which of its fields were there before."""

    def __init__(self, inputs: Mapping[str, Control]) -> None:
        super().__init__(css="chatkit-row", row=True)
        self.inputs = inputs
        self.known: frozenset[str] = frozenset()


class Rows(FormGroup, ABC):
    """Rows that can be added and removed.

    Args:
        label: What they are.
        noun: What one of them is.
    """

    def __init__(self, label: str, noun: str) -> None:
        super().__init__((), label, "chatkit-rows")
        self._noun = noun
        self._rows: list[FormRow] = []
        self._add = FormButton(f"Add {noun}", self.add)
        self.arrange()

    @abstractmethod
    def inputs(self) -> dict[str, Control]:
        """Make the inputs of a new row, by name."""

    def tools(self, row: FormRow) -> list[Control]:
        """Make the buttons of a new row; the one that removes it is the last."""
        return [FormButton("", lambda: self._keep([one for one in self._rows if one is not row]))]

    def add(self) -> FormRow:
        """Add an empty row."""
        row = FormRow(self.inputs())
        row.children = [*row.inputs.values(), *self.tools(row)]
        self._keep([*self._rows, row])
        return row

    def changed(self) -> None:
        """Arrange the rows anew, and report the change."""
        self.arrange()
        super().changed()

    def arrange(self) -> None:
        """Lay out the rows, and name the buttons that remove them."""
        for number, row in enumerate(self._rows, 1):
            [*_, remove] = row.descendants()
            remove.label = f"Remove {self._noun} {number}"
        self.children = [*self._rows, self._add]

    def _keep(self, rows: list[FormRow]) -> None:
        self._rows = rows
        self.changed()


class Pairs(Rows):
    """Texts by names, like the sample texts of placeholders."""

    def __init__(self, label: str) -> None:
        super().__init__(label, label.removesuffix("s"))

    def inputs(self) -> dict[str, Control]:
        """Make a row: the name and its text."""
        return {name: Text(name) for name in ("name", "text")}

    def read(self) -> dict[str, str]:
        """Return the texts by their names. Raises `ValueError` for a name that is there twice."""
        texts: dict[str, str] = {}
        for row in self._rows:
            name, text = (each.read() for each in row.inputs.values())
            if name in texts:
                raise ValueError(f"has {name!r} twice")
            if name or text:
                texts[name] = text
        return texts

    def show(self, value: Any) -> None:
        """Show texts by their names."""
        with self.as_one():
            self._keep([])
            for pair in of_kind(value or {}, dict, "a dict").items():
                for each, text in zip(self.add().inputs.values(), pair, strict=True):
                    each.show(of_kind(text, str, "text"))


class Bodies(Rows):
    """A list of small bodies, like buttons, each with a few fields.

    Args:
        label: What they are.
        body: What each of them is.
        none: Whether it is None without rows.
    """

    def __init__(self, label: str, body: type[Body], *, none: bool = False) -> None:
        self._body, self._none = body, none
        super().__init__(label, body.__name__.lower())

    def inputs(self) -> dict[str, Control]:
        """Make a row: one input for each field of the body."""
        return {
            name: input_for(name, field, nested=True)
            for name, field in self._body.model_fields.items()
        }

    def read(self) -> list[dict[str, Any]] | None:
        """Return each row as a dict of the fields that are filled in, or that were there before."""
        items: list[dict[str, Any]] = []
        for number, row in enumerate(self._rows, 1):
            items.append({})
            for name, each in row.inputs.items():
                try:
                    value = each.read()
                except ValueError as error:
                    raise ValueError(f"in {self._noun} {number}, {name} {error}") from None
                if value is not None or name in row.known:
                    items[-1][name] = value
        return items or (None if self._none else [])

    def show(self, value: Any) -> None:
        """Show a list of dicts. What the body does not declare cannot be sent, and is left out."""
        items = [of_kind(item, Mapping, "a dict") for item in of_kind(value or [], list, "a list")]
        with self.as_one():
            del self._rows[len(items) :]
            for number, item in enumerate(items):
                row = self._rows[number] if number < len(self._rows) else self.add()
                row.known = frozenset(item)
                for name, each in row.inputs.items():
                    each.show(item.get(name))


#: Texts that have several lines.
_LONG = frozenset({"text", "flow_json_raw"})


def input_for(name: str, field: FieldInfo, *, nested: bool = False) -> Control:
    """Choose the input for a field of a body, and show the value it has at first."""
    union = get_origin(field.annotation) in (Union, UnionType)
    kinds_of_field = get_args(field.annotation) if union else (field.annotation,)
    none = NoneType in kinds_of_field
    kinds = [one for one in kinds_of_field if one is not NoneType]
    kind = kinds[0] if len(kinds) == 1 else str if str in kinds else Any
    inner: Any = (*get_args(kind), None)[0]
    unset = "(none)" if none else "choose one"
    rows = 5 if name in _LONG and not nested else 0
    numbers, empty_is_none = int in kinds, field.default is None
    inputs: dict[Any, Callable[[], Control]] = {
        bool: lambda: Checkbox(name),
        Literal: lambda: Choice(name, {text: text for text in get_args(kind)}, unset=unset),
        (list, str): lambda: Lines(name),
        (list, Body): lambda: Bodies(name, inner, none=none),
        (dict, str): lambda: Pairs(name),
        int: lambda: NumberText(name, None if none else NEEDED),
        str: lambda: Text(name, rows=rows, numbers=numbers, none=empty_is_none),
    }
    origin = get_origin(kind)
    if origin in (list, dict):
        of = Body if isinstance(inner, type) and issubclass(inner, Body) else get_args(kind)[-1]
        origin = (origin, of)
    made = inputs.get(origin or kind, lambda: Json(name, 1 if none or kind is Any else 10))()
    if not field.is_required():
        made.show(field.get_default(call_default_factory=True))
    return made


# --- the fields of a body -------------------------------------------------------------------


class FormField:
    """One field of a form.

    Args:
        name: Its name in the API.
        declared: How the body declares it.
        made: Its input; None for what suits the kind of its value.
    """

    def __init__(self, name: str, declared: FieldInfo, made: Control | None = None) -> None:
        self.name, self.fixed, self._declared = name, False, declared
        self.input = made or input_for(name, declared)
        self._default: Any = None
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
        self.fixed, self._default = fixed, default
        first = default
        if not self._declared.is_required():
            first = self._declared.get_default(call_default_factory=True)
        self.input.show(first if value is None else value)
        self.input.lock(fixed)
        self._first = self._peek()
        self.input.required = required
        help_texts = [
            self._declared.description or "",
            "Fixed once it exists." if fixed else "",
            "The service does not show what it holds now." if hidden else "",
        ]
        self.input.help = " ".join(filter(None, help_texts))
        self.input.mark([])

    def set(self, value: Any) -> None:
        """Show a value as if it had been typed.

        Raises:
            InputError: It is of a kind that the field cannot hold.
        """
        reason = "can only be set when it is created" if self.fixed else ""
        try:
            if not self.fixed:
                self.input.show(value)
        except TypeError as error:
            reason = str(error)
        if reason:
            raise InputError("This field cannot be set:", [Problem(self.name, repr(value), reason)])

    @property
    def edited(self) -> bool:
        """True if it holds something else than at first."""
        return not self.fixed and self._peek() != self._first

    @property
    def counts(self) -> bool:
        """True if its value is sent: it is edited, or must be there."""
        if self._default is not None and self.input.required and self._peek()[1] in ("", None, []):
            return False  # what it began with was taken out, and it must hold something
        has = not self._declared.is_required() or self._default is not None
        return self.edited or (self.input.required and has)

    def read(self) -> Any:
        """Return its value. Raises `ValueError` if what is typed is none."""
        return self.input.read()

    @property
    def text(self) -> str:
        """The text of a single line or area; empty for other inputs."""
        return self.input.value if isinstance(self.input.value, str) else ""

    def _peek(self) -> tuple[str, Any]:
        """Return the value, or what is wrong with it, in a form that can be compared."""
        try:
            return "value", self.input.read()
        except ValueError as error:
            return "problem", str(error)

    def mark(self, problem: str) -> None:
        """Show what is wrong with it at the field; an empty text takes that back."""
        self.input.mark([("error", problem)] if problem else [])


#: Where there are more fields, those that are off or empty unless somebody fills them are folded.
_MANY = 8
#: Who types sends a letter or two at a time: so many at once were pasted.
_PASTED = 4


class Fieldset:
    """The fields of a resource's body.

    Args:
        resource: Whose records these are.
        known: What a record holds, to be edited; None for a new one.
        inputs: The inputs of some fields, in place of what suits their kind.
        unfolded: The fields that are not folded; without it those that hold something, and all
            where there are few.
    """

    def __init__(
        self,
        resource: Resource[Any],
        known: Mapping[str, Any] | None,
        inputs: Mapping[str, Control] = MappingProxyType({}),
        unfolded: Collection[str] = (),
    ) -> None:
        endpoints = self._endpoints = endpoints_of(resource)
        self._editing = False
        self._filling = False
        declared = endpoints.body.model_fields
        ticks = {name: Ticks(name, means) for name, means in endpoints.choices().items()}
        own = {**ticks, **inputs}
        self.fields = {
            name: FormField(name, field, own.get(name)) for name, field in declared.items()
        }
        self._before: dict[str, str] = {}
        unfolded = unfolded or [
            name
            for name, field in declared.items()
            if len(declared) <= _MANY
            or field.default not in (None, False)
            or name in endpoints.required()
            or (known or {}).get(name)
        ]
        self._folded = [name for name in declared if name not in unfolded]
        folded = [self.fields[name].input for name in self._folded]
        self.more = Fold(folded, f"{len(folded)} more fields")
        self.more.hidden = not folded
        self.controls = [self.fields[name].input for name in declared if name in unfolded]
        self.controls.append(self.more)
        self.fill(known)

    def fill(self, known: Mapping[str, Any] | None) -> None:
        """Show what a record holds, to be edited; None for a new one."""
        endpoints, self._editing = self._endpoints, known is not None
        chosen = {endpoints.key} if endpoints.chosen else set()
        fixed = {*endpoints.body.create_only, *chosen} if self._editing else set()
        self._filling = True
        with self.more.held():
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
                    field.mark(self._wrong(field))
                changed()

        for field in self.fields.values():
            field.input.watch(partial(check, field))

    def lock(self, locked: bool) -> None:
        """Refuse what is typed, or take it again."""
        with self.more.held():
            for field in self.fields.values():
                field.input.lock(locked or field.fixed)

    def rearrange(self) -> None:
        """Put what was typed into one field, and belongs into several, where it belongs."""
        for field in self.fields.values():
            self._rearranged(field)

    def _rearranged(self, field: FormField) -> bool:
        parts = {} if field.fixed else self._endpoints.rearranged(field.name, field.text)
        others = [self.fields[name] for name in parts]
        if not parts or any(other.fixed for other in others):
            return False
        self._filling = True
        for other in others:
            other.set(parts[other.name])
            self._before[other.name] = other.text
        self._filling = False
        for other in others:
            other.mark(self._wrong(other))
        return True

    @property
    def edited(self) -> list[str]:
        """The names of the fields that hold something else than at first."""
        return [name for name, field in self.fields.items() if field.edited]

    @property
    def wrong(self) -> dict[str, str]:
        """The problems, by field."""
        return {
            name: field.input.problem for name, field in self.fields.items() if field.input.problem
        }

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

    def line(self, key: Key | None) -> str:
        """Return the Python that sends the same; empty if it changes nothing.

        Args:
            key: The record to update; None creates one.
        """
        values, _ = self.read()
        code, place = self._endpoints.code, self._endpoints.place
        place = f"client.{call_code('templates', code)}" if code else place
        if key is None:
            return call_code(f"{place}.create", **values)
        return call_code(f"{place}.update", key, **values) if values else ""

    def set(self, name: str, value: Any, *, fixed: str = "") -> None:
        """Fill in a field as if it had been typed.

        Args:
            name: The field.
            value: What it is to hold.
            fixed: A field that cannot be filled in here.

        Raises:
            InputError: There is no such field, it is fixed, or it cannot hold such a value.
        """
        names = [one for one in self.fields if one != fixed]
        if name not in names:
            problem = Problem(name, "", f"is not one of {', '.join(names)}")
            raise InputError("There is no such field:", [problem])
        self.fields[name].set(value)

    def read(self) -> tuple[dict[str, Any], list[Problem]]:
        """Return what would be sent, and what is typed that is no value."""
        values, problems = {}, []
        for name, field in self.fields.items():
            if field.counts:
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
        reasons: dict[str, list[str]] = {name: [] for name in self.fields}
        elsewhere = []
        for problem in problems:
            name = problem.field.split(".")[0]
            if name in reasons:
                reasons[name].append(_placed(problem))
            else:
                elsewhere.append(f"{problem.field}: {problem.reason}")
        with self.more.held():
            for name, field in self.fields.items():
                field.mark("; ".join(reasons[name]))
            if any(reasons[name] for name in self._folded):
                self.more.value = True
        return elsewhere

    def focus(self) -> None:
        """Put the cursor into the first field that is wrong."""
        for name in list(self.wrong)[:1]:
            self.fields[name].input.focus()

    def html(self) -> str:
        """Show the fields where no widget can be: in an exported page, on GitHub."""
        rows = []
        for name, field in self.fields.items():
            try:
                value = shortly(field.read())
            except ValueError as error:
                value = visible(str(error))
            cells = "".join(
                f'<td dir="auto" {START}>{escape(part)}</td>' for part in (value, field.input.help)
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
    """Write what is wrong within a field, and where: the parts of a list are counted from 1."""
    name, *steps = problem.field.split(".")
    place = [f"{name.removesuffix('s')} {int(p) + 1}" if p.isdigit() else p for p in steps]
    return f"{', '.join(place)}: {problem.reason}" if place else problem.reason
