"""Fieldset: all fields of one room's body, what they hold, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import ipywidgets as w

from chatkit.display import values as shortly
from chatkit.display import visible
from chatkit.errors import InputError, Problem
from chatkit.resource import Resource
from chatkit.widgets.form.field import Field
from chatkit.widgets.grid.face import START

#: Where there are more fields, those that are off or empty unless somebody wants them are folded.
_MANY = 8


class Fieldset:
    """The fields of a room's body.

    Args:
        room: The room.
        known: What a record holds, to be edited; None for a new one.
    """

    def __init__(self, room: Resource[Any], known: Mapping[str, Any] | None) -> None:
        self._room = room
        self._editing = False
        self._filling = False
        declared = room.body.model_fields
        self.fields = {name: Field(name, field) for name, field in declared.items()}
        self._folded = [
            name
            for name, field in declared.items()
            if len(declared) > _MANY
            and field.default in (None, False)
            and name not in room.required()
            and not (known or {}).get(name)
        ]
        folded = w.VBox([self.fields[name].widget for name in self._folded])
        self._more = w.Accordion([folded], titles=[f"{len(self._folded)} more fields"])
        main = [field.widget for name, field in self.fields.items() if name not in self._folded]
        self.widgets = [*main, *([self._more] if self._folded else [])]
        self.fill(known)

    def fill(self, known: Mapping[str, Any] | None) -> None:
        """Show what a record holds, to be edited; None for a new one."""
        room, self._editing = self._room, known is not None
        chosen = {room.key} if room.chosen else set()
        fixed = {*room.body.create_only, *chosen} if self._editing else set()
        self._filling = True
        for name, field in self.fields.items():
            field.begin(
                (known or {}).get(name),
                required=not self._editing and name in room.required(),
                fixed=name in fixed,
                hidden=known is not None and name not in known,
            )
        self._filling = False

    def watch(self, changed: Callable[[], None]) -> None:
        """Call something whenever a person has changed a field; the field is checked before."""

        def check(field: Field) -> None:
            if not self._filling:
                field.say(self._wrong(field))
                changed()

        for field in self.fields.values():
            field.watch(check)

    def lock(self, locked: bool) -> None:
        """Let nobody type, or let them again."""
        for field in self.fields.values():
            field.input.lock(locked or field.fixed)

    @property
    def edited(self) -> list[str]:
        """The names of the fields that hold something else than at first."""
        return [name for name, field in self.fields.items() if field.edited]

    @property
    def wrong(self) -> dict[str, str]:
        """What is said to be wrong, by field."""
        return {name: field.problem for name, field in self.fields.items() if field.problem}

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
        room, what = self._room, f"This {self._room.noun}"
        unread = {problem.field for problem in problems}
        body: dict[str, Any] = {}
        try:
            if not self._editing:
                body = room.body.whole(values, what, set(room.required()) - unread)
            elif values or not unread:
                body = room.body.part(values, what)
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
        for name, field in self.fields.items():
            field.say("; ".join(said[name]))
        if any(said[name] for name in self._folded):
            self._more.selected_index = 0
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

    def _wrong(self, field: Field) -> str:
        """Check one field that was edited."""
        if not field.edited:
            return ""
        try:
            self._room.body.whole({field.name: field.read()}, "", ())
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
