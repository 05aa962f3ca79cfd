"""Form of whatever is selected in a flow: a field for each property of the component table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple, Protocol

import ipywidgets as w

from chatkit.errors import ChatkitError
from chatkit.flowjson.components import (
    ACTIONS,
    RECOMMENDED,
    RELEASED,
    ComponentShape,
    Property,
    Version,
    data_api_versions,
)
from chatkit.flowjson.nodes import read_nodes
from chatkit.report import Finding
from chatkit.util.display import cut, escaped, visible
from chatkit.util.json import at, child, steps
from chatkit.widgets.controls import Message
from chatkit.widgets.editor.edits import ENDS, new_item, unused
from chatkit.widgets.editor.state import DocumentState, same
from chatkit.widgets.editor.tree import Branch
from chatkit.widgets.fields import (
    Checkbox,
    Choice,
    Control,
    Fold,
    FormGroup,
    FormModel,
    FormRow,
    Html,
    Json,
    Lines,
    NumberText,
    Rows,
    Text,
    is_reference,
    of_kind,
)

#: Kinds that the tree shows.
_TREE = ("components", "cases")
#: What stands in a slot.
_SLOTS = {
    "then": "What stands here when the condition holds.",
    "else": "What stands here when the condition does not hold.",
}


class RefusedText(NamedTuple):
    """Input that was not taken: why, where it stands, and what the document has there."""

    reason: str
    control: Control
    held: Any


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
        self._refresh_after(pointer)

    def unset(self, pointer: str) -> None:
        """Take out what stands at a place, if anything does."""
        if self._state.has(pointer):
            self._state.unset(pointer)
            self._refresh_after(pointer)

    def rename(self, pointer: str, name: str) -> None:
        """Give a screen, an input or a case another name, wherever the document names it."""
        place = self._state.rename(pointer, name)
        moved = place != pointer  # a case is found by its name
        self._refresh(typed=not moved, focus=place if moved else "")

    def act(self, pointer: str, name: str) -> None:
        """Put an action of this name at a place; it keeps what the one before had too."""
        self._state.act(pointer, name)
        self._refresh(focus=pointer)

    def _refresh_after(self, pointer: str) -> None:
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
        self.fields: dict[str, Control] = {}  #: the inputs by the pointers of their properties
        self._refused: dict[str, RefusedText] = {}  #: by pointer, what is typed and was not taken
        self._findings: dict[str, list[Finding]] = {}
        self._branch = Branch("", 0, "flow", "", "")
        self._fold = Fold()
        self._form = FormModel(FormGroup())
        self._message = Message()
        self._screens: Sequence[str] = ()
        self._answers: dict[str, SendableAnswer] = {}
        self._version = RECOMMENDED
        self.document: Any = None  #: as it is now
        super().__init__([self._form, self._message])
        self.add_class("chatkit-form")
        self.add_class("chatkit-inspector")

    def __repr__(self) -> str:
        return f"<inspector: {', '.join(self.fields)}>"

    def show(self, branch: Branch, document: Any, screens: Sequence[str], locked: bool) -> None:
        """Make the form of a place of the document."""
        self._screens, self._answers = screens, answers_before(document, branch.pointer)
        stated = document.get("version") if isinstance(document, dict) else None
        self._version = Version.parse(stated) or RECOMMENDED
        self.document = document
        self._refused = {  # what is typed and not taken stays while the document stays there
            place: refused
            for place, refused in self._refused.items()
            if same(self._held(place), refused.held)
        }
        self.fields, self._findings, self._branch = {}, {}, branch
        value = at(document, branch.pointer) if branch.kind != "odd" or branch.pointer else document
        main: list[Control] = [Html(_title(branch))]
        folded: list[Control] = []
        if isinstance(value, dict) and branch.kind != "slot":
            for prop in self._properties(branch, value):
                control = self._part(prop, branch.pointer, value.get(prop.name, ABSENT))
                unfolded = prop.name in value or prop.needed(self._version)
                (main if unfolded else folded).append(control)
        elif "/cases/" in branch.pointer and branch.kind == "slot":
            main.append(self._case(branch))
        self._fold = Fold(folded, f"{len(folded)} more properties")
        self._message.show("")
        with self._form.held():
            self._form.root.children = [*main, *([self._fold] if folded else [])]
            for control in self.fields.values():
                control.lock(locked)

    def mark(self, findings: Sequence[Finding]) -> None:
        """Show findings at their fields."""
        self._findings = {}
        for each in findings:
            if place := self._around(each.pointer):
                self._findings.setdefault(place, []).append(each)
        with self._form.held():
            for place in self.fields:
                self._mark(place)

    def focus(self, pointer: str) -> None:
        """Put the cursor into the field of a place, or of what is around it."""
        if place := self._around(pointer):
            if self.fields[place] in self._fold.descendants():
                self._fold.value = True
            self.fields[place].focus()

    def _around(self, pointer: str) -> str:
        """Return the nearest place with a field, from a place outwards; empty if there is none."""
        while pointer and pointer not in self.fields:
            pointer = pointer.rpartition("/")[0]
        return pointer

    def _mark(self, place: str) -> None:
        refused = self._refused.get(place)
        problems = [("error", refused.reason)] if refused else []
        problems += [
            (each.severity, f"{each.message} {each.hint}") for each in self._findings.get(place, ())
        ]
        self.fields[place].mark(problems)

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

    def _part(self, prop: Property, pointer: str, value: Any) -> Control:
        """Make the field of a property, or the group of fields of an action or an object."""
        place = child(pointer, prop.name)
        nested = value is ABSENT or isinstance(value, dict)
        if prop.kind == "action" and nested:
            return self._action(prop, place, value)
        if prop.kind == "object" and prop.item and prop.name != "next" and nested:
            inside = value if isinstance(value, dict) else {}
            parts = [
                self._part(one, place, inside.get(one.name, ABSENT))
                for one in prop.item.properties
                if one.name in inside or one.known(self._version)
            ]
            group = FormGroup(parts, prop.name, "ce-group")
            group.help = prop.about
            return group
        refused = self._refused.get(place)
        control = property_input_for(prop, self._version, value, self._screens)
        return self._line(prop, pointer, refused.control if refused else control)

    def _line(self, prop: Property, pointer: str, control: Control) -> Control:
        """Make the field of a property of what stands at a place."""
        branch = self._branch
        named = prop.name in ("id", "name") and pointer == branch.pointer and branch.shape
        rename = bool(named) and branch.kind in ("screen", "component")
        place = child(pointer, prop.name)
        if place not in self._refused:
            control.watch(lambda: self._take(place, place, rename=rename))
        return self._field(place, prop, control)

    def _field(self, place: str, prop: Property, control: Control) -> Control:
        """Put a control into the form, as the field of a place."""
        control.help, control.required = help_text(prop), prop.needed(self._version)
        self.fields[place] = control
        return control

    def _action(self, prop: Property, place: str, value: Any) -> Control:
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
        pick.watch(lambda: self._act(place, pick.read()))
        parts = [self._field(place, choice, pick)]
        shape = ACTIONS.get(name) if isinstance(name, str) else None
        known = shape.by_name if shape else {}
        props = [one for key, one in known.items() if key != "name"]
        props += [
            Property(key, "map", "This action does not take it.")
            for key in inside
            if key != "name" and key not in known
        ]
        for one in props:
            held = inside.get(one.name, ABSENT)
            ticks = one.name == "payload" and name in ENDS and self._branch.name == "Footer"
            if ticks and self._answers and (held is ABSENT or isinstance(held, dict)):
                payload = PayloadInput(self._answers)
                payload.show(held)
                parts.append(self._line(one, place, payload))
            else:
                parts.append(self._part(one, place, held))
        return FormGroup(parts, prop.name, "ce-group")

    def _case(self, branch: Branch) -> Control:
        """Make the field of a case: the value for which it stands."""
        name = steps(branch.pointer)[-1]
        prop = Property("id", "name", "It is shown when the value of the Switch is this.")
        text = TextProperty(prop, self._version, name)
        text.show(name)
        text.label = "case"
        place = branch.pointer
        text.watch(lambda: self._take(place, child(place, "id"), rename=True))
        return self._field(place, prop, text)

    # --- what is typed ------------------------------------------------------------------

    def _take(self, field: str, place: str, *, rename: bool = False) -> None:
        """Take what was typed into the document; what cannot be taken is explained at the field."""
        control = self.fields[field]
        self._refused.pop(field, None)
        self._mark(field)
        try:
            value = control.read()
            if rename and isinstance(value, str):
                self._edits.rename(place.rpartition("/")[0], value)
            elif value is ABSENT:
                self._edits.unset(place)
            else:
                self._edits.set(place, value)
        except (ValueError, ChatkitError) as error:
            self._refused[field] = RefusedText(str(error), control, self._held(place))
            self._mark(field)

    def _held(self, place: str) -> Any:
        """Return what the document has at a place."""
        try:
            return at(self.document, place)
        except LookupError:
            return ABSENT

    def _act(self, place: str, value: Any) -> None:
        try:
            self._edits.unset(place) if value is ABSENT else self._edits.act(place, value)
        except ChatkitError as error:
            self._message.show(str(error), wrong=True)


def _title(branch: Branch) -> str:
    shape = branch.shape
    about = shape.about if shape else _SLOTS.get(branch.name, "")
    name = shape.name if isinstance(shape, ComponentShape) else branch.name
    if branch.kind == "screen":
        name, about = f"Screen {branch.name}", ""
    elif branch.kind == "item" and shape:
        name, about = f"{shape.name.capitalize()} {branch.name}", shape.about
    elif branch.kind == "odd":
        name, about = "No object", f"This is {branch.text}: correct or remove it in the source."
    elif branch.kind == "component" and shape is None:
        about = "The table of components does not know this type."
    rules = shape.rules if isinstance(shape, ComponentShape) else ()
    listed = "".join(f"<li>{escape(rule)}</li>" for rule in rules)
    listed = f"<ul>{listed}</ul>" if listed else ""
    paragraph = f"<p>{escaped(about)}</p>" if about else ""
    return f'<h3 dir="auto">{escape(cut(name, 60))}</h3>{paragraph}{listed}'


# --- a field for each property, which takes a value or a reference ------------------------

#: Stands for a property that is not there.
ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "(not set)"})()

#: Stands for a reference in place of a value that can be chosen.
_BOUND: Any = object()
_SUGGESTED = "${data.…}, ${form.…} or `an expression`"
_WIDE = 80  #: documented characters from which on a text gets several lines


def property_input_for(
    prop: Property, version: Version, value: Any, screens: Sequence[str] = ()
) -> Control:
    """Choose the input for a property; a value of another kind is shown as JSON."""
    name = prop.name

    def choice(values: Mapping[str, Any]) -> Control:
        return ReferenceChoice(prop, values) if prop.binding else PropertyChoice(prop, values)

    def number() -> Control:
        whole = prop.kind == "integer"
        return NumberText(name, ABSENT, whole=whole, digits=15, reference=prop.binding)

    def lines() -> Control:
        return Lines(name, ABSENT, reference=prop.binding)

    def as_json() -> Control:
        made = Json(name, 4, ABSENT)
        made.show(value)
        if value is not ABSENT:
            made.rows = min(max(made.value.count("\n") + 1, 2), 12)
        return made

    by_name: dict[str, Callable[[], Control]] = {
        "version": lambda: choice({str(one): str(one) for one in sorted(RELEASED, reverse=True)}),
        "data_api_version": lambda: choice({one: one for one in data_api_versions(version)}),
    }
    if prop.kind == "object":
        by_name["next"] = lambda: ScreenChoice(screens)
    by_kind: dict[str, Callable[[], Control]] = {
        "boolean": lambda: choice({"yes": True, "no": False}),
        "choice": lambda: choice({one: one for one in prop.enum}),
        **dict.fromkeys(("integer", "number"), number),
        **dict.fromkeys(("strings", "dates", "choices"), lines),
        "items": lambda: ItemsInput(prop, version),
        **dict.fromkeys(("map", "range", "action", "object", "components", "cases"), as_json),
    }
    make = by_name.get(name) or by_kind.get(prop.kind)
    made = make() if make else TextProperty(prop, version, value)
    try:
        made.show(value)
    except TypeError:
        made = as_json()
    return made


class TextProperty(Text):
    """A text, on one line or several; a list of texts is one text a line."""

    def __init__(self, prop: Property, version: Version, value: Any) -> None:
        several = "strings" in prop.kinds(version)
        long = several or (prop.length or 0) > _WIDE or "\n" in str(value)
        late = prop.name in ("id", "name")  # a name is changed once it is typed whole
        super().__init__(prop.name, rows=3 if long else 0, late=late)
        self._several, self._needed, self._listed = several, prop.needed(version), False

    def read(self) -> Any:
        """Return the text."""
        if self._listed:
            return self.value.split("\n")
        return self.value if self.value or self._needed else ABSENT

    def show(self, value: Any) -> None:
        """Show a text, or a list of texts without line breaks."""
        self._listed = self._several and isinstance(value, list)
        if self._listed and value and all(isinstance(v, str) and "\n" not in v for v in value):
            self.value = "\n".join(value)
        else:
            self.value = "" if value is ABSENT else of_kind(value, str, "text")


class ItemsInput(Rows):
    """Options or other small items, each with its texts, or a reference in their place.

    What an item holds beside its texts stays as it is; the tree shows it too.
    """

    def __init__(self, prop: Property, version: Version) -> None:
        self._texts = [
            one
            for one in (prop.item.properties if prop.item else ())
            if one.kind == "text" and one.known(version)
        ]
        self._item, self._version = prop.item, version
        self._reference = Text("or a reference in their place", _SUGGESTED)
        self._items: dict[FormRow, dict[str, Any]] = {}
        super().__init__(prop.name, prop.item.name if prop.item else "item")

    def inputs(self) -> dict[str, Control]:
        """Make a row: a text for each property that the platform asks for."""
        return {one.name: Text(one.name) for one in self._texts if one.needed(self._version)}

    def add(self) -> FormRow:
        """Add an item with what it must have."""
        taken = [one.inputs["id"].value for one in self._rows if "id" in one.inputs]
        item = new_item(self._item, taken, self._version) if self._item else {}
        return self._added(item)

    def _added(self, item: dict[str, Any]) -> FormRow:
        with self.as_one():
            row = super().add()
            self._items[row] = item
            for name, each in row.inputs.items():
                each.show(item.get(name, ""))
        return row

    def arrange(self) -> None:
        """Lay out the rows, and the reference below them."""
        super().arrange()
        self._add.hidden = bool(self._reference.value)
        self.children = [*self.children, self._reference]

    def read(self) -> Any:
        """Return the items, or the reference. Raises `ValueError` for words in its place."""
        text = self._reference.value.strip()
        if text and not is_reference(text):
            raise ValueError("must be a reference like ${data.options}")
        return text or [
            self._items[row] | {name: each.read() for name, each in row.inputs.items()}
            for row in self._rows
        ]

    def show(self, value: Any) -> None:
        """Show a list of items, or a reference."""
        items = of_kind([] if value is ABSENT else value, list | str, "a list")
        with self.as_one():
            self._rows = []
            self._reference.value = items if isinstance(items, str) else ""
            for item in () if isinstance(items, str) else items:
                texts = {one.name: "" for one in self._texts} | of_kind(item, dict, "an object")
                for one in self._texts:
                    of_kind(texts[one.name], str, "text")
                self._added(item)


class PropertyChoice(Choice):
    """One of the values that a property may have."""

    def __init__(self, prop: Property, values: Mapping[str, Any]) -> None:
        default = {True: "yes", False: "no"}.get(prop.default, prop.default)  # type: ignore[call-overload]
        unset = "not set" if default is None else f"not set: {default}"
        super().__init__(prop.name, values, ABSENT, unset)

    def words_for(self, value: Any) -> str:
        """Refuse a value that is not offered: it is shown as JSON."""
        raise TypeError("is not one of these")


class ReferenceChoice(FormGroup):
    """One of the values that a property may have, or a reference in their place."""

    def __init__(self, prop: Property, values: Mapping[str, Any]) -> None:
        self._choice = PropertyChoice(prop, {**values, "a reference …": _BOUND})
        self._text = Text(f"{prop.name} refers to", _SUGGESTED)
        self._text.css, self._text.hidden = "chatkit-reference", True
        super().__init__([self._choice, self._text])

    def read(self) -> Any:
        """Return what is chosen, or the reference. Raises `ValueError` while there is none."""
        if (value := self._choice.read()) is not _BOUND:
            return value
        if not is_reference(text := self._text.value.strip()):
            raise ValueError("needs a reference like ${data.name}, or an expression in backticks")
        return text

    def show(self, value: Any) -> None:
        """Choose a value, or show a reference."""
        with self.as_one():
            if is_reference(value):
                self._text.value = value
            self._choice.show(_BOUND if is_reference(value) else value)

    def changed(self) -> None:
        """Show the line for the reference if one is chosen, and report the change."""
        self._text.hidden = self._choice.read() is not _BOUND
        super().changed()

    def drawn(self) -> dict[str, Any]:
        """Return what the page draws: help and problems stand at the control that is used."""
        used = self._choice if self._text.hidden else self._text
        for control in (self._choice, self._text):
            mine = control is used
            control.help, control.problems = (self.help, self.problems) if mine else ("", [])
        self._choice.required = self.required
        drawn = super().drawn()
        return {name: drawn[name] for name in ("id", "kind", "children")}


class ScreenChoice(Choice):
    """The screen to which navigate goes."""

    def __init__(self, screens: Sequence[str]) -> None:
        ids = {visible(one): {"type": "screen", "name": one} for one in dict.fromkeys(screens)}
        super().__init__("next screen", ids, ABSENT, "not set")

    def words_for(self, value: Any) -> str:
        """Return the words for a screen that is not there. Raises `TypeError` for anything else."""
        name = value.get("name") if isinstance(value, dict) else None
        if not isinstance(name, str) or value != {"type": "screen", "name": name}:
            raise TypeError("is not a screen")
        return f"{visible(name)} (there is no such screen)" if name else "choose one"


class SendableAnswer(NamedTuple):
    """An answer that can be sent: the name of its input, and words for it."""

    name: str
    words: str


def answers_before(document: Any, pointer: str) -> dict[str, SendableAnswer]:
    """List what can be sent at a place, by reference: answers of its screen and of earlier ones."""
    whole = read_nodes(document)
    here = next((s for s in whole.screens if f"{pointer}/".startswith(f"{s.pointer}/")), None)
    if here is None:
        return {}
    answers: dict[str, SendableAnswer] = {}
    for screen in whole.screens[: whole.screens.index(here) + 1]:
        own = screen is here
        if not own and (whole.version < (4, 0) or screen.id is None):
            continue
        for name, component in screen.fields.items():
            shape, label = component.shape, component.value.get("label")
            if shape is not None and shape.value:
                words = cut(label, 40) if isinstance(label, str) and label else name
                where = "" if own else f", screen {cut(screen.id or '', 30)}"
                begun = "form" if own else f"screen.{screen.id}.form"
                answers[f"${{{begun}.{name}}}"] = SendableAnswer(
                    name, f"{words} ({cut(name, 30)}{where})"
                )
    return answers


class PayloadInput(FormGroup):
    """A payload: a tick box for each answer that can be sent, and the rest as JSON.

    Args:
        answers: What can be sent, by reference.
    """

    def __init__(self, answers: Mapping[str, SendableAnswer]) -> None:
        self._answers, self._value = answers, dict[str, Any]()
        self._boxes = {reference: Checkbox(answer.words) for reference, answer in answers.items()}
        self._more = Json("and also", 2, {})
        super().__init__([*self._boxes.values(), self._more], "what is sent", "ce-payload")

    def _offered(self, held: Any) -> bool:
        return isinstance(held, str) and held in self._answers

    def read(self) -> Any:
        """Return the payload. Raises `ValueError` if the rest is no JSON object."""
        more = self._more.read()
        if not isinstance(more, dict):
            raise ValueError("must be a JSON object")
        ticked = [reference for reference, box in self._boxes.items() if box.value]
        made = {
            key: more.get(key, held)
            for key, held in self._value.items()
            if key in more or (self._offered(held) and held in ticked)
        } | more
        for reference in ticked:
            if reference not in made.values():
                made[unused(self._answers[reference].name, set(made))] = reference
        self._value = made
        return made

    def show(self, value: Any) -> None:
        """Tick what a payload sends. Raises `TypeError` if it is none."""
        self._value = {} if value is ABSENT else of_kind(value, dict, "an object")
        more = {key: held for key, held in self._value.items() if not self._offered(held)}
        with self.as_one():
            for reference, box in self._boxes.items():
                box.value = reference in self._value.values()
            self._more.show(more or {})


def help_text(prop: Property) -> str:
    """Write what a property is for, and what it takes."""
    parts = [prop.about]
    if prop.length:
        parts.append(f"At most {prop.length:,} characters.")
    if prop.kind == "choices":
        parts.append(f"Of {', '.join(prop.enum[:8])}{' …' if len(prop.enum) > 8 else '.'}")
    if prop.kind in ("date", "dates"):
        parts.append("YYYY-MM-DD.")
    if prop.low is not None and prop.high is not None:
        parts.append(f"{prop.low:g} to {prop.high:g}.")
    elif prop.low is not None:
        parts.append(f"At least {prop.low:g}.")
    if prop.kilobytes:
        parts.append(f"At most {prop.kilobytes[-1][1]} KB.")
    if prop.default is not None and prop.kind not in ("boolean", "choice"):
        parts.append(f"Not set, it is {prop.default}.")
    return " ".join(filter(None, parts))
