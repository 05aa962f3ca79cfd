"""Fields of a body: an input for each of its fields, whose values are checked and sent.

A `Fieldset` makes of what was typed what would be sent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from chatkit.api.record import Body
from chatkit.errors import InputError, Problem
from chatkit.localization.content import find_slots, read_text
from chatkit.resource import Resource, get_endpoints
from chatkit.util.display import cut, visible
from chatkit.util.display import values as shortly
from chatkit.widgets.controls import draw_saved_table
from chatkit.widgets.fields import (
    Checkbox,
    Choice,
    Control,
    Fold,
    FormGroup,
    Json,
    Lines,
    LooseText,
    NumberText,
    Rows,
    Text,
    Ticks,
    require_type,
)


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
        name_field: Returns the label of a field.
        none: Whether it is None without rows.
    """

    def __init__(
        self, label: str, body: type[Body], name_field: Callable[[str], str], *, none: bool = False
    ) -> None:
        self._body, self._none, self._name_field = body, none, name_field
        noun = body.__name__.lower()
        super().__init__(label, noun, _MOST.get(noun, 100), ordered=True)

    def inputs(self) -> dict[str, Control]:
        """Make a row: one input for each field of the body."""
        made = {
            name: make_input(name, field, self._name_field, nested=True)
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
                used |= {
                    n
                    for n, of in _SAMPLES.items()
                    if of in used and find_slots(read_text(values, of))
                }
                for name, each in row.inputs.items():
                    each.hidden = name not in used and values[name] in (None, "")


#: So many can be added to a content.
_MOST = {"header": 1, "button": 10}
#: Texts that have several lines.
_MULTILINE = frozenset({"text", "flow_json_raw"})


def make_input(
    name: str, field: FieldInfo, name_field: Callable[[str], str], *, nested: bool = False
) -> Control:
    """Make the input for a field of a body, with its default value.

    Args:
        name: The name of the field.
        field: Its declaration.
        name_field: Returns the label of a field.
        nested: Whether it is a field of a body in a field.
    """
    label = name_field(name)
    union = get_origin(field.annotation) in (Union, UnionType)
    members = get_args(field.annotation) if union else (field.annotation,)
    none = NoneType in members
    kinds = [one for one in members if one is not NoneType]
    kind = kinds[0] if len(kinds) == 1 else str if str in kinds else Any
    origin, inner = get_origin(kind), (*get_args(kind), None)
    made: Control
    if kind is bool:
        made = Checkbox(label)
    elif kind is int:
        made = NumberText(label, nothing=None)
    elif kind is str or (kind is Any and nested):
        rows = 5 if name in _MULTILINE and not nested else 0
        text_input = LooseText if len(kinds) > 1 or kind is Any else Text
        made = text_input(label, rows=rows, nothing=None if field.default is None else "")
    elif origin is Literal:
        unset = "(none)" if none else "choose one"
        made = Choice(label, {text: text for text in get_args(kind)}, unset=unset)
    elif origin is list and inner[0] is str:
        made = Lines(label)
    elif origin is list and isinstance(inner[0], type) and issubclass(inner[0], Body):
        made = Bodies(label, inner[0], name_field, none=none)
    elif origin is dict and inner[1] is str:
        made = Samples(label)
    else:
        made = Json(label, 1 if none or kind is Any else 10)
    if not field.is_required():
        made.show(field.get_default(call_default_factory=True))
    made.name = name
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
        unfolded: The fields that are not folded; without it those that hold something, and all
            where there are few.
    """

    def __init__(
        self,
        resource: Resource[Any],
        known: Mapping[str, Any] | None,
        changed: Callable[[], object] = lambda: None,
        *,
        unfolded: Collection[str] = (),
    ) -> None:
        endpoints = self._endpoints = get_endpoints(resource)
        self._editing, self._changed = False, changed
        declared = endpoints.body.model_fields
        name_field, choices = endpoints.format_label, endpoints.choices()
        self.fields: dict[str, Control] = {
            name: Ticks(name_field(name), choices[name])
            if name in choices
            else make_input(name, field, name_field)
            for name, field in declared.items()
        }
        for name, each in self.fields.items():
            each.name = name
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
            self._first[name] = _read_comparable(each)
            self._before[name] = _get_typed_text(each)
        self.show_samples()

    def show_samples(self) -> None:
        """Show a line for the sample of each placeholder of the text."""
        for each in self.fields.values():
            if isinstance(each, Samples):
                each.show_lines(slot.name for slot in find_slots(self.fields["text"].value))

    def lock(self, *, locked: bool) -> None:
        """Lock or unlock the input."""
        for name, each in self.fields.items():
            each.lock(locked=locked or name in self.fixed)

    def _on_entry(self, name: str) -> None:
        """Check a field that has changed, and distribute what was pasted into it."""
        text = _get_typed_text(self.fields[name])
        pasted = len(text) - len(self._before[name]) >= _MIN_PASTED
        self._before[name] = text
        if not (pasted and self.redirect(name)):
            self._check_field(name)
        self.show_samples()
        self._changed()

    def redirect(self, name: str) -> bool:
        """Distribute text that was typed into one field, but belongs into several, if it does."""
        fixed = name in self.fixed
        parts = (
            {} if fixed else self._endpoints.redirect_text(name, _get_typed_text(self.fields[name]))
        )
        if not parts or self.fixed.intersection(parts):
            return False
        for other, value in parts.items():
            self.fields[other].show(value)
            self._before[other] = _get_typed_text(self.fields[other])
            self._check_field(other)
        return True

    @property
    def edited(self) -> list[str]:
        """The names of the fields that were edited."""
        return [
            name
            for name, each in self.fields.items()
            if name not in self.fixed and _read_comparable(each) != self._first[name]
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
                reasons[name].append(self._format_problem(problem))
            else:
                elsewhere.append(f"{self._endpoints.format_label(problem.field)}: {problem.reason}")
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
            kind, value = _read_comparable(each)
            text = shortly(value) if kind == "value" else visible(value)
            head = f'<strong title="{escape(name)}">{escape(each.label)}</strong>'
            rows.append([head, escape(text), escape(each.help)])
        return draw_saved_table(["field", "value", ""], rows)

    def _check_field(self, name: str) -> None:
        """Validate an edited field, and show its problem."""
        problem = ""
        try:
            if name in self.edited:
                self._endpoints.body.validate_create({name: self.fields[name].read()}, "", ())
        except InputError as error:
            problem = "; ".join(map(self._format_problem, error.problems))
        except ValueError as error:
            problem = str(error)
        self.fields[name].mark([("error", problem)])

    def _format_problem(self, problem: Problem) -> str:
        """Return a problem with its place within the field; items are counted from 1."""
        where = self._endpoints.format_label(problem.field) if "." in problem.field else ""
        return f"{where}: {problem.reason}" if where else problem.reason


def _read_comparable(control: Control) -> tuple[str, Any]:
    """Return "value" and the value of a control, or "problem" and why it has none."""
    try:
        return "value", control.read()
    except ValueError as error:
        return "problem", str(error)


def _get_typed_text(control: Control) -> str:
    """Return the text of a control; "" for controls without text."""
    return control.value if isinstance(control.value, str) else ""
