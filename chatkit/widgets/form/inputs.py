"""Inputs of a form, one kind for each kind of value that a body declares."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import ipywidgets as w
from pydantic.fields import FieldInfo

from chatkit.json_reader import JsonFault, read_json
from chatkit.record import Body
from chatkit.widgets.controls import ActionButton


class Input(Protocol):
    """Something that a person types into, and that holds one value."""

    widget: w.Widget

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


class SingleInput:
    """An input that is a single widget."""

    widget: w.Widget

    def watch(self, changed: Callable[[], None]) -> None:
        """Call something whenever it changes."""
        self.widget.observe(lambda _: changed(), names="value")

    def lock(self, locked: bool) -> None:
        """Let nobody type, or let them again."""
        self.widget.disabled = locked


class TextLine(SingleInput):
    """A text. One that may be a number too stays a number if it was one."""

    def __init__(self, name: str, numbers: bool, none: bool, long: bool) -> None:
        kind = w.Textarea if long else w.Text
        self.widget = kind(description=name, rows=5) if long else kind(description=name)
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


class WholeNumber(SingleInput):
    """A whole number, or nothing."""

    def __init__(self, name: str, optional: bool) -> None:
        self.widget = w.Text(description=name)
        self._optional = optional

    def read(self) -> int | None:
        """Return the number."""
        text = self.widget.value.strip()
        if not text and self._optional:
            return None
        try:
            return int(text)
        except ValueError:
            raise ValueError("must be a whole number") from None

    def show(self, value: Any) -> None:
        """Show a number."""
        self.widget.value = "" if value is None else str(of_kind(value, int, "a whole number"))


class Checkbox(SingleInput):
    """Yes or no."""

    def __init__(self, name: str) -> None:
        self.widget = w.Checkbox(description=name, indent=False)

    def read(self) -> bool:
        """Return whether it is ticked."""
        return bool(self.widget.value)

    def show(self, value: Any) -> None:
        """Show yes or no; nothing is no."""
        self.widget.value = value is not None and of_kind(value, bool, "True or False")


class Choice(SingleInput):
    """One of some texts."""

    def __init__(self, name: str, texts: tuple[str, ...], optional: bool) -> None:
        nothing = "(none)" if optional else "choose one"
        options = [(nothing, None), *((text, text) for text in texts)]
        self.widget = w.Dropdown(description=name, options=options)

    def read(self) -> str | None:
        """Return what is chosen."""
        chosen: str | None = self.widget.value
        return chosen

    def show(self, value: Any) -> None:
        """Choose one. A text that is not offered was sent by the service, and is kept."""
        if value is not None and (value, value) not in self.widget.options:
            self.widget.options = [*self.widget.options, (of_kind(value, str, "text"), value)]
        self.widget.value = value


class TextLines(SingleInput):
    """A list of texts, each on a line of its own."""

    def __init__(self, name: str) -> None:
        self.widget = w.Textarea(description=name, rows=3, placeholder="one on each line")

    def read(self) -> list[str]:
        """Return the lines that are not empty."""
        return [text for line in self.widget.value.split("\n") if (text := line.strip())]

    def show(self, value: Any) -> None:
        """Show a list of texts."""
        texts = [of_kind(text, str, "text") for text in of_kind(value or [], list, "a list")]
        self.widget.value = "\n".join(texts)


class JsonText(SingleInput):
    """Anything, written as JSON."""

    def __init__(self, name: str, optional: bool) -> None:
        self.widget = w.Textarea(description=name, rows=1 if optional else 10, placeholder="JSON")
        self.widget.add_class("chatkit-json")
        self._optional = optional

    def read(self) -> Any:
        """Return what the JSON says. Raises `ValueError` with line and column."""
        text = self.widget.value
        if not text.strip():
            return None
        try:
            return read_json(text)
        except JsonFault as fault:
            said = "is not clear" if fault.kind == "duplicate" else "is not JSON"
            raise ValueError(f"{said}: {fault}{fault.where}") from None

    def show(self, value: Any) -> None:
        """Write a value as JSON."""
        text = "" if value is None else json.dumps(value, ensure_ascii=False, indent=2)
        self.widget.value = text


# --- several rows, which can be added and removed ------------------------------------------

#: Makes the input of a field, by its name.
Make = Callable[[str, FieldInfo], Input]


@dataclass(eq=False)
class _Row:
    """One row: its inputs, how it is laid out, and which of its fields were there before."""

    inputs: list[Input]
    widget: w.HBox
    known: frozenset[str] = frozenset()


class _Repeated(ABC):
    """Rows that can be added and removed."""

    def __init__(self, name: str, noun: str) -> None:
        self._noun = noun
        self._rows: list[_Row] = []
        self._changed: Callable[[], None] = lambda: None
        self._add = ActionButton(f"Add {noun}", self.add)
        self._box = w.VBox()
        title = w.HTML(f'<span class="chatkit-label">{name}</span>')
        self.widget = w.VBox([title, self._box, self._add])
        self.widget.add_class("chatkit-rows")

    @abstractmethod
    def inputs(self) -> list[Input]:
        """Make the inputs of a new row."""

    def add(self) -> _Row:
        """Add an empty row."""
        inputs = self.inputs()
        for one in inputs:
            one.watch(lambda: self._changed())
        row = _Row(inputs, w.HBox())
        row.widget.children = [
            *(one.widget for one in inputs),
            ActionButton("Remove", lambda: self._remove(row)),
        ]
        row.widget.add_class("chatkit-row")
        self._rows.append(row)
        self._laid_out()
        return row

    def _remove(self, row: _Row) -> None:
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
        self.clear()
        for item in of_kind(value or [], list, "a list"):
            row = self.add()
            row.known = frozenset(of_kind(item, Mapping, "a dict"))
            for name, one in zip(self._body.model_fields, row.inputs, strict=True):
                one.show(item.get(name))
