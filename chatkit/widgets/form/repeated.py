"""Repeated: an input of several rows that can be added and removed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ipywidgets as w
from pydantic.fields import FieldInfo

from chatkit.record import Body
from chatkit.widgets.button import Button
from chatkit.widgets.form.inputs import Input, Line, of_kind

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
        self._add = Button(f"Add {noun}", self.add)
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
            Button("Remove", lambda: self._remove(row)),
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
        return [Line(name, False, False, False) for name in ("name", "text")]

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
