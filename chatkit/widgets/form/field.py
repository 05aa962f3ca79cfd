"""Field: one field of a form: an input with its name, its help, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import ipywidgets as w
from pydantic.fields import FieldInfo

from chatkit.display import escaped
from chatkit.errors import InputError, Problem
from chatkit.record import Body
from chatkit.widgets.form.inputs import Choice, Input, Json, Line, Lines, Number, Tick
from chatkit.widgets.form.repeated import Bodies, Pairs

#: Texts that have several lines.
LONG = frozenset({"text", "flow_json_raw"})


def input_for(name: str, field: FieldInfo, *, nested: bool = False) -> Input:
    """Choose the input for a field of a body, and show the value it has at first."""
    union = get_origin(field.annotation) in (Union, UnionType)
    sides = get_args(field.annotation) if union else (field.annotation,)
    kinds = [side for side in sides if side is not NoneType]
    optional = NoneType in sides
    kind = kinds[0] if len(kinds) == 1 else field.annotation
    origin, inner = get_origin(kind), get_args(kind)
    made: Input
    if kind is bool:
        made = Tick(name)
    elif origin is Literal:
        made = Choice(name, inner, optional)
    elif origin is list and inner[0] is str:
        made = Lines(name)
    elif origin is list and isinstance(inner[0], type) and issubclass(inner[0], Body):
        made = Bodies(name, inner[0], optional, partial(input_for, nested=True))
    elif origin is dict and inner == (str, str):
        made = Pairs(name)
    elif kind is int:
        made = Number(name, optional)
    elif str in kinds:
        made = Line(name, int in kinds, field.default is None, name in LONG and not nested)
    else:
        made = Json(name, optional or kind is Any)
    if not field.is_required():
        made.show(field.get_default(call_default_factory=True))
    return made


class Field:
    """One field of a form.

    Args:
        name: Its name in the API.
        declared: How the body declares it.
    """

    def __init__(self, name: str, declared: FieldInfo) -> None:
        self.name = name
        self.required = self.fixed = False
        self.help = self._said = ""
        self.input = input_for(name, declared)
        self._declared = declared
        self._first = self._peek()
        self._help, self._problem = w.HTML(), w.HTML()
        self.widget = w.VBox([self.input.widget, self._help, self._problem])
        self.widget.add_class("chatkit-field")

    def begin(
        self,
        value: Any = None,
        *,
        required: bool = False,
        fixed: bool = False,
        hidden: bool = False,
    ) -> None:
        """Show what a record holds: from now on, only something else counts as edited.

        Args:
            value: What it holds; None for what the field is without being touched.
            required: Whether a create must send it.
            fixed: Whether it cannot be changed any more.
            hidden: Whether the service does not show what it holds.
        """
        self.required, self.fixed = required, fixed
        first = (
            None
            if self._declared.is_required()
            else self._declared.get_default(call_default_factory=True)
        )
        self.input.show(first if value is None else value)
        self.input.lock(fixed)
        self._first = self._peek()
        told = [
            self._declared.description or "",
            "Fixed once it exists." if fixed else "",
            "The service does not show what it holds now." if hidden else "",
        ]
        self.help = " ".join(filter(None, told))
        self._help.value = f"<small>{escape(self.help)}</small>"
        mark = self.widget.add_class if required else self.widget.remove_class
        mark("chatkit-required")
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
            self.input.show(value)
        except TypeError as error:
            problem = Problem(self.name, repr(value), str(error))
            raise InputError("This field cannot be set:", [problem]) from None

    def watch(self, changed: Callable[[Field], None]) -> None:
        """Call something whenever its input changes."""
        self.input.watch(lambda: changed(self))

    @property
    def edited(self) -> bool:
        """Whether it holds something else than at first."""
        return not self.fixed and self._peek() != self._first

    @property
    def counts(self) -> bool:
        """Whether its value is sent: what is edited, and what must be there."""
        return self.edited or (self.required and not self._declared.is_required())

    def read(self) -> Any:
        """Return its value. Raises `ValueError` if what is typed is none."""
        return self.input.read()

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
        text = f'<span class="chatkit-problem" role="alert">{escaped(problem)}</span>'
        self._problem.value = text if problem else ""
        mark = self.widget.add_class if problem else self.widget.remove_class
        mark("chatkit-wrong")

    def focus(self) -> None:
        """Put the cursor into it."""
        if isinstance(self.input.widget, w.DOMWidget):
            self.input.widget.focus()
