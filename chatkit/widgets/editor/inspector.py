"""Form of whatever is selected in a flow: a field for each property of the component table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any, NamedTuple, Protocol

import ipywidgets as w

from chatkit.errors import ChatkitError
from chatkit.finding import Finding
from chatkit.flowjson.components import ACTIONS
from chatkit.flowjson.nodes import read_nodes
from chatkit.flowjson.property import ComponentShape, Property, Shape
from chatkit.flowjson.version import RECOMMENDED, RELEASED, Version, data_api_versions
from chatkit.util.display import cut, escaped, visible
from chatkit.util.json_pointer import at, child, steps
from chatkit.widgets.controls import Message
from chatkit.widgets.editor.edits import ENDS, unused
from chatkit.widgets.editor.state import DocumentState
from chatkit.widgets.editor.tree import Branch
from chatkit.widgets.fields import (
    Choice,
    Input,
    JsonText,
    LabelledInput,
    NumberLine,
    SingleInput,
    TextLines,
    is_reference,
    of_kind,
)
from chatkit.widgets.light import (
    LightBox,
    LightCheckbox,
    LightFold,
    LightForm,
    LightHTML,
    LightText,
    LightWidget,
)

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
        self._state.act(pointer, name)
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
        self._more: LightFold | None = None  #: what is folded away, if anything is
        self._box = LightBox()
        self._form = LightForm(self._box)
        self._message = Message()
        self._screens: Sequence[str] = ()
        self._answers: dict[str, SendableAnswer] = {}
        self._version = RECOMMENDED
        super().__init__([self._form, self._message])
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
        self._screens, self._answers = screens, answers_before(document, branch.pointer)
        stated = document.get("version") if isinstance(document, dict) else None
        self._version = Version.parse(stated) or RECOMMENDED
        self._lines, self._folded, self._branch = {}, set(), branch
        value = at(document, branch.pointer) if branch.kind != "odd" or branch.pointer else document
        title = LightHTML(_title(branch))
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
        self._more = LightFold(f"{len(more)} more properties", more) if more else None
        self._message.say("")
        for line in self._lines.values():
            line.lock(locked)
        self._box.children = [title, *main, *([self._more] if self._more else [])]

    def mark(self, findings: Sequence[Finding]) -> None:
        """Show findings at their fields."""
        said: dict[str, list[Finding]] = {pointer: [] for pointer in self._lines}
        for each in findings:
            place = each.pointer
            while place and place not in said:
                place = place.rpartition("/")[0]
            if place in said:
                said[place].append(each)
        with self._form.held():
            for pointer, some in said.items():
                self._lines[pointer].say(some)

    def focus(self, pointer: str) -> None:
        """Put the cursor into the field of a place, or of what is around it."""
        while pointer and pointer not in self._lines:
            pointer = pointer.rpartition("/")[0]
        if pointer in self._lines:
            if self._more is not None and pointer in self._folded:
                self._more.value = True
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

    def _part(self, prop: Property, pointer: str, value: Any) -> LightWidget:
        """Make the field of a property, or the group of fields of an action or an object."""
        place = child(pointer, prop.name)
        nested = value is ABSENT or isinstance(value, dict)
        if prop.kind == "action" and nested:
            return self._action(prop, place, value)
        if prop.kind == "object" and prop.item and prop.name != "next" and nested:
            return self._group(prop, prop.item, place, value)
        return self._line(
            prop, pointer, property_input_for(prop, self._version, value, self._screens)
        )

    def _line(self, prop: Property, pointer: str, made: Input) -> LightWidget:
        """Make the field of a property of what stands at a place, around what is typed into."""
        place, branch = child(pointer, prop.name), self._branch
        line = PropertyField(prop, self._version, made)
        named = prop.name in ("id", "name") and pointer == branch.pointer and branch.shape
        rename = bool(named) and branch.kind in ("screen", "component")
        made.watch(lambda: self._typed(place, line, rename=rename))
        self._lines[place] = line
        return line.widget

    def _group(self, prop: Property, shape: Shape, place: str, value: Any) -> LightWidget:
        """Make the fields of an object within."""
        inside = value if isinstance(value, dict) else {}
        parts = [
            self._part(one, place, inside.get(one.name, ABSENT))
            for one in shape.properties
            if one.name in inside or one.known(self._version)
        ]
        return _boxed(prop.name, prop.about, parts)

    def _action(self, prop: Property, place: str, value: Any) -> LightWidget:
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
        parts = []
        for one in props:
            held = inside.get(one.name, ABSENT)
            ticks = one.name == "payload" and name in ENDS and self._branch.name == "Footer"
            if ticks and self._answers and (held is ABSENT or isinstance(held, dict)):
                made = PayloadInput(self._answers)
                made.show(held)
                parts.append(self._line(one, place, made))
            else:
                parts.append(self._part(one, place, held))
        return _boxed(prop.name, "", [line.widget, *parts])

    def _case(self, branch: Branch) -> LightWidget:
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
        name, about = "No object", f"This is {branch.text}: correct or remove it in the source."
    elif branch.kind == "component" and shape is None:
        about = "The table of components does not know this type."
    rules = shape.rules if isinstance(shape, ComponentShape) else ()
    listed = "".join(f"<li>{escape(rule)}</li>" for rule in rules)
    said = f"<p>{escaped(about)}</p>" if about else ""
    return (
        f'<h3 dir="auto">{escape(cut(name, 60))}</h3>{said}{f"<ul>{listed}</ul>" if listed else ""}'
    )


def _boxed(name: str, about: str, parts: Sequence[Any]) -> LightWidget:
    label = f'<span class="chatkit-label">{escape(name)}</span>'
    title = LightHTML(f"{label} <small>{escape(about)}</small>")
    return LightBox([title, *parts], "chatkit-group")


# --- a field for each property, which takes a value or a reference ------------------------

#: Stands for a property that is not there.
ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "(not set)"})()

_WIDE = 80  #: documented characters from which on a text gets several lines
_LISTS = ("strings", "dates", "choices")


def property_input_for(
    prop: Property, version: Version, value: Any, screens: Sequence[str] = ()
) -> Input:
    """Choose the input for a property; a value of another kind is shown as JSON."""
    for make in _makers(prop, version, value, screens):
        made = make()
        try:
            made.show(value)
        except TypeError:
            continue
        return made
    return _json(prop, value)


def _makers(
    prop: Property, version: Version, value: Any, screens: Sequence[str]
) -> list[Callable[[], Input]]:
    kind, name = prop.kind, prop.name
    if kind == "object" and name == "next":
        return [lambda: ScreenChoice(screens)]
    by_kind: dict[str, dict[str, Any]] = {
        "boolean": {"yes": True, "no": False},
        "choice": {one: one for one in prop.enum},
    }
    choices = by_kind.get(kind)
    if name == "version":
        choices = {str(one): str(one) for one in sorted(RELEASED, reverse=True)}
    elif name == "data_api_version":
        choices = {one: one for one in data_api_versions(version)}
    if choices is not None:
        return [partial(PropertyChoice, prop, choices)]
    if kind in ("integer", "number"):
        whole = kind == "integer"
        return [lambda: NumberLine(name, ABSENT, whole=whole, digits=15, reference=prop.binding)]
    if kind in _LISTS:
        return [lambda: TextLines(name, ABSENT, reference=prop.binding)]
    if kind == "items":
        return [lambda: RowsReference(prop)]
    if kind in ("map", "range", "action", "object", "components", "cases"):
        return []
    return [lambda: TextProperty(prop, version, value)]


def _json(prop: Property, value: Any) -> Input:
    made = JsonText(prop.name, 4, ABSENT)
    made.show(value)
    if value is not ABSENT:
        made.widget.rows = min(max(made.widget.value.count("\n") + 1, 2), 12)
    return made


class TextProperty(SingleInput):
    """A text, on one line or several; a list of texts is one text a line."""

    def __init__(self, prop: Property, version: Version, value: Any) -> None:
        several = "strings" in prop.kinds(version)
        long = several or (prop.length or 0) > _WIDE or "\n" in str(value)
        later = prop.name in ("id", "name")  # a name is changed once it is typed whole
        self.widget = LightText(prop.name, rows=3 if long else 0, late=later)
        self._several, self._needed, self._listed = several, prop.needed(version), False

    def read(self) -> Any:
        """Return the text."""
        text = self.widget.value
        if self._listed:
            return text.split("\n")
        return text if text or self._needed else ABSENT

    def show(self, value: Any) -> None:
        """Show a text, or a list of texts without line breaks."""
        self._listed = self._several and isinstance(value, list)
        if self._listed and value and all(isinstance(v, str) and "\n" not in v for v in value):
            self.widget.value = "\n".join(value)
            return
        if value is not ABSENT and not isinstance(value, str):
            raise TypeError("must be text")
        self.widget.value = "" if value is ABSENT else value


class RowsReference(SingleInput):
    """A reference in place of rows that stand in the tree."""

    def __init__(self, prop: Property) -> None:
        self._rows: Any = ABSENT
        self.widget = LightText(prop.name, "in the tree; or here ${data.…} in their place")

    def read(self) -> Any:
        """Return the reference, or the rows that were there. Raises `ValueError` for words."""
        text = self.widget.value.strip()
        if text and not is_reference(text):
            raise ValueError("must be a reference like ${data.options}")
        if text:
            return text
        return [] if self._rows is ABSENT else self._rows

    def show(self, value: Any) -> None:
        """Show a reference; rows are shown by the tree."""
        if value is not ABSENT and not isinstance(value, list | str):
            raise TypeError("must be a list")
        self._rows = value if isinstance(value, list) else ABSENT
        self.widget.value = value if isinstance(value, str) else ""


class PropertyChoice(Choice):
    """One of the values that a property may have, or a reference."""

    def __init__(self, prop: Property, values: Mapping[str, Any]) -> None:
        default = {True: "yes", False: "no"}.get(prop.default, prop.default)  # type: ignore[call-overload]
        unset = "not set" if default is None else f"not set: {default}"
        super().__init__(prop.name, values, ABSENT, unset, reference=prop.binding)

    def _kept(self, value: Any) -> str:
        raise TypeError("is not one of these")  # it is shown as JSON


class ScreenChoice(Choice):
    """The screen to which navigate goes."""

    def __init__(self, screens: Sequence[str]) -> None:
        ids = {visible(one): {"type": "screen", "name": one} for one in dict.fromkeys(screens)}
        super().__init__("next screen", ids, ABSENT, "not set")

    def _kept(self, value: Any) -> str:
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
    found: dict[str, SendableAnswer] = {}
    for screen in whole.screens[: whole.screens.index(here) + 1]:
        own = screen is here
        if not own and (whole.version < (4, 0) or screen.id is None):
            continue
        for name, component in screen.fields.items():
            shape, label = component.shape, component.value.get("label")
            if shape is not None and shape.value:
                said = cut(label, 40) if isinstance(label, str) and label else name
                where = "" if own else f", screen {cut(screen.id or '', 30)}"
                begun = "form" if own else f"screen.{screen.id}.form"
                found[f"${{{begun}.{name}}}"] = SendableAnswer(
                    name, f"{said} ({cut(name, 30)}{where})"
                )
    return found


class PayloadInput:
    """What is sent: a tick box for each answer that can be, and the rest as JSON.

    Args:
        answers: What can be sent, by reference.
    """

    def __init__(self, answers: Mapping[str, SendableAnswer]) -> None:
        self._answers, self._value = answers, dict[str, Any]()
        self._boxes = {
            reference: LightCheckbox(answer.words) for reference, answer in answers.items()
        }
        self._more = JsonText("and also", 2, {})
        title = LightHTML('<span class="chatkit-label">what is sent</span>')
        self.widget = LightBox([title, *self._boxes.values(), self._more.widget], "ce-payload")

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
        for reference, box in self._boxes.items():
            box.value = reference in self._value.values()
        more = {key: held for key, held in self._value.items() if not self._offered(held)}
        self._more.show(more or {})

    def watch(self, changed: Callable[[], None]) -> None:
        """Call something whenever it changes."""
        for one in (*self._boxes.values(), self._more.widget):
            one.observe(lambda _: changed(), names="value")

    def lock(self, locked: bool) -> None:
        """Let nobody tick, or let them again."""
        for one in (*self._boxes.values(), self._more.widget):
            one.disabled = locked


class PropertyField(LabelledInput):
    """One property of what is edited.

    Args:
        prop: What the table says of it.
        version: The version of the document.
        made: What it is typed into.
    """

    def __init__(self, prop: Property, version: Version, made: Input) -> None:
        super().__init__(made)
        self._wrong = ""
        self._found: tuple[Finding, ...] = ()
        self.explain(help_text(prop), required=prop.needed(version))

    @property
    def problem(self) -> str:
        """What is said to be wrong with it; empty if nothing is."""
        return " ".join([self._wrong, *(each.message for each in self._found)]).strip()

    def say(self, findings: Sequence[Finding]) -> None:
        """Say what the lint finds at it."""
        if tuple(findings) != self._found:
            self._found = tuple(findings)
            self._paint()

    def wrong(self, why: str) -> None:
        """Say that what is typed is no value; an empty text takes that back."""
        if why != self._wrong:
            self._wrong = why
            self._paint()

    def lock(self, locked: bool) -> None:
        """Let nobody type, or let them again."""
        self.input.lock(locked)

    def _paint(self) -> None:
        said = [("error", self._wrong)] if self._wrong else []
        said += [(each.severity, f"{each.message} {each.hint}") for each in self._found]
        self._show_problems(said)


def help_text(prop: Property) -> str:
    """Say what a property is for, and what it takes."""
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
