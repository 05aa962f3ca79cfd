"""Inputs of a form, one kind for each kind of value that a body declares."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic.fields import FieldInfo

from chatkit.display import visible
from chatkit.json_reader import JsonFault, read_json
from chatkit.record import Body
from chatkit.widgets.light import (
    LightBox,
    LightButton,
    LightCheckbox,
    LightDropdown,
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


# --- several rows, which can be added and removed ------------------------------------------

#: Makes the input of a field, by its name.
Make = Callable[[str, FieldInfo], Input]


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

    def __init__(self, name: str, body: type[Body], optional: bool, make: Make) -> None:
        super().__init__(name, body.__name__.lower())
        self._body, self._none, self._make = body, optional, make

    def inputs(self) -> list[Input]:
        """Make a row: one input for each field of the body."""
        return [self._make(n, f) for n, f in self._body.model_fields.items()]

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
