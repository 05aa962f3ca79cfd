"""Inputs: what a person types into, one kind for each kind of value that a body declares."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol

import ipywidgets as w


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


class _One:
    """An input that is a single widget."""

    widget: w.Widget

    def watch(self, changed: Callable[[], None]) -> None:
        """Call something whenever it changes."""
        self.widget.observe(lambda _: changed(), names="value")

    def lock(self, locked: bool) -> None:
        """Let nobody type, or let them again."""
        self.widget.disabled = locked


class Line(_One):
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


class Number(_One):
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


class Tick(_One):
    """Yes or no."""

    def __init__(self, name: str) -> None:
        self.widget = w.Checkbox(description=name, indent=False)

    def read(self) -> bool:
        """Return whether it is ticked."""
        return bool(self.widget.value)

    def show(self, value: Any) -> None:
        """Show yes or no; nothing is no."""
        self.widget.value = value is not None and of_kind(value, bool, "True or False")


class Choice(_One):
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


class Lines(_One):
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


class Json(_One):
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
            return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise ValueError(f"is not JSON: {error.msg} at {place}") from None
        except RecursionError:
            raise ValueError("is nested too deeply") from None

    def show(self, value: Any) -> None:
        """Write a value as JSON."""
        text = "" if value is None else json.dumps(value, ensure_ascii=False, indent=2)
        self.widget.value = text


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for n, (name, _) in enumerate(pairs) if name in dict(pairs[:n]))
        raise ValueError(f"is not clear: it has {twice!r} twice in one object")
    return found


def _constant(name: str) -> None:
    raise ValueError(f"is not JSON: there is no {name} in it")
