"""Form of whatever is selected in a flow, made of the table of components."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, Protocol

import ipywidgets as w

from chatkit.display import cut, escaped
from chatkit.errors import ChatkitError
from chatkit.finding import Finding
from chatkit.flowjson.components import ACTIONS
from chatkit.flowjson.pointer import at, steps
from chatkit.flowjson.property import ComponentShape, Property, Shape
from chatkit.flowjson.version import RECOMMENDED, Version
from chatkit.widgets.controls import Message, boxed
from chatkit.widgets.editor.additions import new_action
from chatkit.widgets.editor.edits import child
from chatkit.widgets.editor.property_input import (
    ABSENT,
    PropertyChoice,
    PropertyField,
    TextProperty,
    forget,
    input_for,
)
from chatkit.widgets.editor.state import DocumentState
from chatkit.widgets.editor.tree import Branch

#: Kinds that the tree shows.
_TREE = ("components", "cases")
#: What stands in a slot.
_SLOTS = {
    "then": "What stands here when the condition holds.",
    "else": "What stands here when the condition does not hold.",
}


class Refresh(Protocol):
    """Shows the document as it is now."""

    def __call__(self, *, typed: bool = False, focus: str = "") -> None:
        """Show it; `typed`: the form holds it already; `focus`: where somebody types."""


class FormEdits:
    """Takes what is typed into a state. The form stays as it is, unless it has other fields now.

    Args:
        state: The document.
        refresh: What shows it after each edit.
    """

    def __init__(self, state: DocumentState, refresh: Refresh) -> None:
        self._state, self._refresh = state, refresh

    def set(self, pointer: str, value: Any) -> None:
        """Set what stands at a place."""
        self._state.set(pointer, value)
        self._shown(pointer)

    def unset(self, pointer: str) -> None:
        """Take out what stands at a place, if anything does."""
        if self._state.has(pointer):
            self._state.unset(pointer)
            self._shown(pointer)

    def rename(self, pointer: str, name: str) -> None:
        """Give a screen, an input or a case another name, wherever the document names it."""
        place = self._state.rename(pointer, name)
        moved = place != pointer  # a case is found by its name
        self._refresh(typed=not moved, focus=place if moved else "")

    def act(self, pointer: str, name: str) -> None:
        """Put an action of this name at a place; it keeps what the one before had too."""
        before = self._state.find(pointer) if self._state.has(pointer) else None
        self._state.set(pointer, new_action(name, before))
        self._refresh(focus=pointer)

    def _shown(self, pointer: str) -> None:
        """Show the edit: with another mode or version, or without an action, fields come and go."""
        again = pointer == "/version" or pointer.endswith(("/mode", "-action"))
        self._refresh(typed=not again, focus=pointer if again else "")


class Inspector(w.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """The properties of a flow, screen, component or option, with labels and help.

    Args:
        edits: What is called with each change.
    """

    def __init__(self, edits: FormEdits) -> None:
        self._edits = edits
        self._lines: dict[str, PropertyField] = {}
        self._folded: set[str] = set()
        self._branch = Branch("", 0, "flow", "", "")
        self._more: Any = None  #: what is folded away, if anything is
        self._message = Message()
        self._screens: Sequence[str] = ()
        self._version = RECOMMENDED
        super().__init__([])
        self.add_class("chatkit-form")
        self.add_class("chatkit-inspector")

    def __repr__(self) -> str:
        return f"<inspector: {', '.join(self.fields)}>"

    @property
    def fields(self) -> dict[str, PropertyField]:
        """The fields by the pointers of their properties."""
        return self._lines

    def show(self, branch: Branch, document: Any, screens: Sequence[str], locked: bool) -> None:
        """Make the form of a place of the document."""
        old = list[Any](getattr(self, "children", ()))
        self._screens = screens
        stated = document.get("version") if isinstance(document, dict) else None
        self._version = Version.parse(stated) or RECOMMENDED
        self._lines, self._folded, self._branch = {}, set(), branch
        value = at(document, branch.pointer) if branch.kind != "odd" or branch.pointer else document
        title = w.HTML(_title(branch))
        main: list[Any] = []
        more: list[Any] = []
        if isinstance(value, dict) and branch.kind != "slot":
            for prop in self._properties(branch, value):
                before = set(self._lines)
                part = self._part(prop, branch.pointer, value.get(prop.name, ABSENT))
                fold = prop.name not in value and not prop.needed(self._version)
                if fold:
                    self._folded |= self._lines.keys() - before
                (more if fold else main).append(part)
        elif "/cases/" in branch.pointer and branch.kind == "slot":
            main.append(self._case(branch))
        folded: list[Any] = []
        if more:
            folded = [w.Accordion([w.VBox(more)], titles=[f"{len(more)} more properties"])]
        self._more = folded[0] if folded else None
        self.children = [title, *main, *folded, self._message]
        self._message.say("")
        for line in self._lines.values():
            line.lock(locked)
        for one in old:
            if one is not self._message:
                forget(one)

    def mark(self, findings: Sequence[Finding]) -> None:
        """Show findings at their fields."""
        said: dict[str, list[Finding]] = {pointer: [] for pointer in self._lines}
        for each in findings:
            place = each.pointer
            while place and place not in said:
                place = place.rpartition("/")[0]
            if place in said:
                said[place].append(each)
        for pointer, some in said.items():
            self._lines[pointer].say(some)

    def focus(self, pointer: str) -> None:
        """Put the cursor into the field of a place, or of what is around it."""
        while pointer and pointer not in self._lines:
            pointer = pointer.rpartition("/")[0]
        if pointer in self._lines:
            if pointer in self._folded:
                self._more.selected_index = 0
            self._lines[pointer].focus()

    # --- what it is made of -----------------------------------------------------------

    def _properties(self, branch: Branch, value: dict[str, Any]) -> Iterator[Property]:
        """List what can be set: what the version knows, and what is there all the same."""
        known = branch.shape.properties if branch.shape else ()
        for prop in known:
            typed = prop.name == "type" and isinstance(branch.shape, ComponentShape)
            if typed or prop.kind in _TREE or prop.name in ("layout", "screens"):
                continue
            ranged = prop.place == "range mode" and value.get("mode") != "range"
            inside = prop.place == "outside Form" and branch.in_form
            if prop.name in value or (prop.known(self._version) and not ranged and not inside):
                yield prop
        skipped = {"children", "then", "else", "cases"}
        names = {prop.name for prop in known}
        for key in value:
            if key not in names and key not in skipped:
                about = "The table of components does not know it."
                kind = "text" if isinstance(value[key], str) else "map"
                yield Property(key, kind, about)  # type: ignore[arg-type]

    def _part(self, prop: Property, pointer: str, value: Any) -> w.Widget:
        """Make the field of a property, or the group of fields of an action or an object."""
        place = child(pointer, prop.name)
        nested = value is ABSENT or isinstance(value, dict)
        if prop.kind == "action" and nested:
            return self._action(prop, place, value)
        if prop.kind == "object" and prop.item and prop.name != "next" and nested:
            return self._group(prop, prop.item, place, value)
        made = input_for(prop, self._version, value, self._screens)
        line = PropertyField(prop, self._version, made)
        branch = self._branch
        named = prop.name in ("id", "name") and pointer == branch.pointer and branch.shape
        rename = bool(named) and branch.kind in ("screen", "component")
        made.watch(lambda: self._typed(place, line, rename=rename))
        self._lines[place] = line
        return line.widget

    def _group(self, prop: Property, shape: Shape, place: str, value: Any) -> w.Widget:
        """Make the fields of an object within."""
        inside = value if isinstance(value, dict) else {}
        parts = [
            self._part(one, place, inside.get(one.name, ABSENT))
            for one in shape.properties
            if one.name in inside or one.known(self._version)
        ]
        return _boxed(prop.name, prop.about, parts)

    def _action(self, prop: Property, place: str, value: Any) -> w.Widget:
        """Make the fields of an action: which one, and what that one takes."""
        inside = value if isinstance(value, dict) else {}
        name = inside.get("name", ABSENT)
        allowed = {one: one for one in prop.allowed_actions(self._version)}
        if isinstance(name, str):
            allowed.setdefault(name, name)
        choice = Property("action", "choice", prop.about, required=prop.required, binding=False)
        pick = PropertyChoice(choice, allowed)
        if isinstance(name, str):
            pick.show(name)
        line = PropertyField(choice, self._version, pick)
        pick.watch(lambda: self._acts(place, pick))
        self._lines[place] = line
        shape = ACTIONS.get(name) if isinstance(name, str) else None
        known = shape.by_name if shape else {}
        props = [one for key, one in known.items() if key != "name"]
        props += [
            Property(key, "map", "This action does not take it.")
            for key in inside
            if key != "name" and key not in known
        ]
        parts = [self._part(one, place, inside.get(one.name, ABSENT)) for one in props]
        return _boxed(prop.name, "", [line.widget, *parts])

    def _case(self, branch: Branch) -> w.Widget:
        """Make the field of a case: the value for which it stands."""
        name = steps(branch.pointer)[-1]
        prop = Property("id", "name", "It is shown when the value of the Switch is this.")
        made = TextProperty(prop, self._version, name)
        made.show(name)
        made.widget.description = "case"
        line = PropertyField(prop, self._version, made)
        made.watch(lambda: self._typed(child(branch.pointer, "id"), line, rename=True))
        self._lines[branch.pointer] = line
        return line.widget

    # --- what is typed ------------------------------------------------------------------

    def _typed(self, place: str, line: PropertyField, *, rename: bool = False) -> None:
        """Take what was typed into the document; what is no value is only told."""
        try:
            value = line.input.read()
        except ValueError as error:
            line.wrong(str(error))
            return
        line.wrong("")
        try:
            if rename and isinstance(value, str):
                self._edits.rename(place.rpartition("/")[0], value)
            elif value is ABSENT:
                self._edits.unset(place)
            else:
                self._edits.set(place, value)
        except ChatkitError as error:
            line.wrong(str(error))

    def _acts(self, place: str, pick: PropertyChoice) -> None:
        value = pick.read()
        try:
            self._edits.unset(place) if value is ABSENT else self._edits.act(place, value)
        except ChatkitError as error:
            self._message.say(str(error), wrong=True)


def _title(branch: Branch) -> str:
    shape = branch.shape
    about = shape.about if shape else _SLOTS.get(branch.name, "")
    name = shape.name if isinstance(shape, ComponentShape) else branch.name
    if branch.kind == "screen":
        name, about = f"Screen {branch.name}", ""
    elif branch.kind == "item" and shape:
        name, about = f"{shape.name.capitalize()} {branch.name}", shape.about
    elif branch.kind == "odd":
        name, about = "No object", f"This is {branch.text}: mend or remove it in the source."
    elif branch.kind == "component" and shape is None:
        about = "The table of components does not know this type."
    rules = shape.rules if isinstance(shape, ComponentShape) else ()
    listed = "".join(f"<li>{escape(rule)}</li>" for rule in rules)
    said = f"<p>{escaped(about)}</p>" if about else ""
    return (
        f'<h3 dir="auto">{escape(cut(name, 60))}</h3>{said}{f"<ul>{listed}</ul>" if listed else ""}'
    )


def _boxed(name: str, about: str, parts: Sequence[Any]) -> w.Widget:
    label = f'<span class="chatkit-label">{escape(name)}</span>'
    title = w.HTML(f"{label} <small>{escape(about)}</small>")
    return boxed(w.VBox, "chatkit-group", [title, *parts])
