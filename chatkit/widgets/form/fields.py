"""Fields of a form: each an input with its name, its help, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, partial
from html import escape
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from chatkit.display import escaped, visible
from chatkit.display import values as shortly
from chatkit.errors import InputError, Problem
from chatkit.record import Body
from chatkit.resource import Resource, endpoints_of
from chatkit.widgets.assets import START
from chatkit.widgets.form.inputs import (
    Bodies,
    Checkbox,
    Choice,
    Input,
    JsonText,
    NumberLine,
    Pairs,
    TextLine,
    TextLines,
    TickBoxes,
)
from chatkit.widgets.light import LightBox, LightFold, LightForm, LightHTML

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
    nothing = "(none)" if optional else "choose one"
    if kind is bool:
        made = Checkbox(name)
    elif origin is Literal:
        made = Choice(name, {text: text for text in inner}, unset=nothing)
    elif origin is list and inner[0] is str:
        made = TextLines(name)
    elif origin is list and isinstance(inner[0], type) and issubclass(inner[0], Body):
        made = Bodies(name, inner[0], optional, partial(input_for, nested=True))
    elif origin is dict and inner == (str, str):
        made = Pairs(name)
    elif kind is int:
        made = NumberLine(name, None) if optional else NumberLine(name)
    elif str in kinds:
        made = TextLine(name, int in kinds, field.default is None, name in LONG and not nested)
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


# --- all fields of a resource --------------------------------------------------------------

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
