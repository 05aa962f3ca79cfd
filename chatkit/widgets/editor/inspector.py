"""Form of the selected part of a flow: a field for each property of the component table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from chatkit.errors import ChatkitError
from chatkit.flowjson.components import (
    ACTIONS,
    RECOMMENDED,
    RELEASED,
    ComponentShape,
    Property,
    Shape,
    Version,
    data_api_versions,
)
from chatkit.flowjson.nodes import read_nodes
from chatkit.report import Finding
from chatkit.util.display import cut, escaped, format_label, visible
from chatkit.util.json import append_to_pointer, get_value, split_pointer
from chatkit.widgets.editor.edits import make_item
from chatkit.widgets.editor.state import DocumentState, is_identical
from chatkit.widgets.editor.tree import TreeRow, find_nearest_pointer
from chatkit.widgets.fields import (
    ABSENT,
    Choice,
    Control,
    Fold,
    FormGroup,
    FormModel,
    Html,
    Json,
    Lines,
    NumberText,
    Rows,
    Status,
    Text,
    is_reference,
    require_type,
)

#: Kinds that the tree shows.
_TREE_KINDS = ("components", "cases")
#: The help of each slot.
_SLOT_HELP = {
    "then": "What stands here when the condition holds.",
    "else": "What stands here when the condition does not hold.",
}


class Inspector(FormModel):
    """The properties of a flow, screen, component or option, with labels and help.

    What is typed is set in the document. The form is only made again where an edit changes its
    fields.

    Args:
        state: The document.
        refresh: Called after each edit, with `typed=True` if the form holds it already, and with
            the pointer of the field to focus as `focus`.
    """

    def __init__(self, state: DocumentState, refresh: Callable[..., None]) -> None:
        self._document, self._refresh = state, refresh
        self.fields: dict[str, Control] = {}  #: the inputs by the pointers of their properties
        #: Refused entries by pointer: the reason, the input, and the value in the document.
        self._refused: dict[str, tuple[str, Control, Any]] = {}
        self._findings: dict[str, list[Finding]] = {}
        self._row = TreeRow("", 0, "flow", "", "")
        self._status = Status()
        self._screens: list[str] = []
        self._version = RECOMMENDED
        super().__init__(FormGroup(css="chatkit-form chatkit-inspector"))

    def show(self, row: TreeRow) -> None:
        """Make the form of a row of the tree."""
        document = self._document.value
        flow = read_nodes(document)
        self._screens = [one.id for one in flow.screens if one.id is not None]
        self._version = flow.version
        self._refused = {  # refused entries stay while the value in the document does
            place: (reason, control, held)
            for place, (reason, control, held) in self._refused.items()
            if is_identical(self._read_current_value(place), held)
        }
        self.fields, self._findings, self._row = {}, {}, row
        value = get_value(document, row.pointer) if row.kind != "odd" or row.pointer else document
        main: list[Control] = [Html(_draw_heading(row))]
        folded: list[Control] = []
        if isinstance(value, dict) and row.kind != "slot":
            for prop in self._properties(row, value):
                control = self._make_field(prop, row.pointer, value.get(prop.name, ABSENT))
                unfolded = prop.name in value or prop.is_required(self._version)
                (main if unfolded else folded).append(control)
        elif "/cases/" in row.pointer and row.kind == "slot":
            main.append(self._make_case_field(row))
        fold = [Fold(folded, f"{len(folded)} more properties")] if folded else []
        self._status.write("")
        self.root.children = [*main, *fold, self._status]
        for control in self.fields.values():
            control.lock(locked=self._document.broken)
        self.draw()

    def mark(self, findings: Sequence[Finding]) -> None:
        """Show findings at their fields."""
        self._findings = {}
        for each in findings:
            if place := find_nearest_pointer(each.pointer, self.fields):
                self._findings.setdefault(place, []).append(each)
        for place in self.fields:
            self._mark_field(place)
        self.draw()

    def focus(self, pointer: str) -> None:
        """Put the cursor into the field nearest to a pointer."""
        if place := find_nearest_pointer(pointer, self.fields):
            self.focus_on(self.fields[place])

    def _mark_field(self, place: str) -> None:
        refused = self._refused.get(place)
        problems = [("error", refused[0])] if refused else []
        problems += [
            (each.severity, f"{each.message} {each.hint}") for each in self._findings.get(place, ())
        ]
        self.fields[place].mark(problems)

    # --- fields -----------------------------------------------------------------------

    def _properties(self, row: TreeRow, value: dict[str, Any]) -> Iterator[Property]:
        """Yield the properties of a row: those that the version knows, and others it has."""
        known = row.shape.properties if row.shape else ()
        for prop in known:
            typed = prop.name == "type" and isinstance(row.shape, ComponentShape)
            if typed or prop.kind in _TREE_KINDS or prop.name in ("layout", "screens"):
                continue
            ranged = prop.place == "range mode" and value.get("mode") != "range"
            inside = prop.place == "outside Form" and row.in_form
            if prop.name in value or (prop.is_known(self._version) and not ranged and not inside):
                yield prop
        skipped = {"children", "then", "else", "cases"}
        names = {prop.name for prop in known}
        for key in value:
            if key not in names and key not in skipped:
                about = "The table of components does not know it."
                kind = "text" if isinstance(value[key], str) else "map"
                yield Property(key, kind, about)  # type: ignore[arg-type]

    def _make_field(self, prop: Property, pointer: str, value: Any) -> Control:
        """Make the field of a property, or the group of fields of an action or an object."""
        place = append_to_pointer(pointer, prop.name)
        nested = value is ABSENT or isinstance(value, dict)
        if prop.kind == "action" and nested:
            return self._make_action_fields(prop, place, value)
        if prop.kind == "object" and prop.item and prop.name != "next" and nested:
            inside = value if isinstance(value, dict) else {}
            parts = [
                self._make_field(one, place, inside.get(one.name, ABSENT))
                for one in prop.item.properties
                if one.name in inside or one.is_known(self._version)
            ]
            group = FormGroup(parts, format_label(prop.name), "ce-group")
            group.name, group.help = prop.name, prop.about
            return group
        control = make_property_input(prop, self._version, value, self._screens)
        names = prop.name in ("id", "name") and pointer == self._row.pointer
        rename = names and bool(self._row.shape) and self._row.kind in ("screen", "component")
        return self._add_field(place, prop, control, rename=rename)

    def _add_field(
        self, place: str, prop: Property, control: Control, *, rename: bool = False
    ) -> Control:
        """Add the field of a property, which sets it when somebody types; or a refused one."""
        if place in self._refused:
            control = self._refused[place][1]
        else:
            control.entered = lambda: self._take_input(place, rename=rename)
        control.help, control.required = make_help_text(prop), prop.is_required(self._version)
        control.name = prop.name
        self.fields[place] = control
        return control

    def _make_action_fields(self, prop: Property, place: str, value: Any) -> Control:
        """Make the fields of an action: its name and its properties."""
        inside = value if isinstance(value, dict) else {}
        name = inside.get("name", ABSENT)
        allowed = {one: one for one in prop.allowed_actions(self._version)}
        if isinstance(name, str):
            allowed.setdefault(name, name)
        choice = Property("action", "choice", prop.about, required=prop.required, binding=False)
        pick = make_property_choice(choice, allowed)
        if isinstance(name, str):
            pick.show(name)
        parts = [self._add_field(place, choice, pick)]
        pick.entered = lambda: self._change_action(place, pick.read())
        shape = ACTIONS.get(name) if isinstance(name, str) else None
        known = shape.by_name if shape else {}
        props = [one for key, one in known.items() if key != "name"]
        props += [
            Property(key, "map", "This action does not take it.")
            for key in inside
            if key != "name" and key not in known
        ]
        for one in props:
            parts.append(self._make_field(one, place, inside.get(one.name, ABSENT)))
        group = FormGroup(parts, format_label(prop.name), "ce-group")
        group.name = prop.name
        return group

    def _make_case_field(self, row: TreeRow) -> Control:
        """Make the field of the value of a case."""
        name = split_pointer(row.pointer)[-1]
        prop = Property("id", "name", "It is shown when the value of the Switch is this.")
        text = TextProperty(prop, self._version, name)
        text.show(name)
        text.label = "Case"
        return self._add_field(row.pointer, prop, text, rename=True)

    # --- edits --------------------------------------------------------------------------

    def _take_input(self, place: str, *, rename: bool = False) -> None:
        """Set what was typed in the document; show the reason at the field if that fails."""
        control = self.fields[place]
        self._refused.pop(place, None)
        self._mark_field(place)
        try:
            value = control.read()
            if rename and isinstance(value, str):
                pointer = self._row.pointer
                renamed = self._document.rename(pointer, value)
                moved = renamed != pointer  # a case is found by its name
                self._refresh(typed=not moved, focus=renamed if moved else "")
            else:
                self._set_property(place, value)
        except (ValueError, ChatkitError) as error:
            self._refused[place] = str(error), control, self._read_current_value(place)
            self._mark_field(place)

    def _set_property(self, place: str, value: Any) -> None:
        """Set a property, or remove it with the value ABSENT."""
        if value is not ABSENT:
            self._document.set(place, value)
        elif self._document.has(place):
            self._document.unset(place)
        else:
            return
        # with another mode or version, or without an action, fields come and go
        again = place == "/version" or place.endswith(("/mode", "-action"))
        self._refresh(typed=not again, focus=place if again else "")

    def _read_current_value(self, place: str) -> Any:
        """Return the value at a pointer in the document, or ABSENT."""
        return self._document.find(place) if self._document.has(place) else ABSENT

    def _change_action(self, place: str, value: Any) -> None:
        """Set the action at a pointer to one of another name, or remove it."""
        try:
            if value is ABSENT:
                self._set_property(place, ABSENT)
            else:
                self._document.act(place, value)
                self._refresh(focus=place)
        except ChatkitError as error:
            self._status.write(str(error), wrong=True)


def _draw_heading(row: TreeRow) -> str:
    shape = row.shape
    about = shape.about if shape else _SLOT_HELP.get(row.name, "")
    name = shape.name if isinstance(shape, ComponentShape) else row.name
    if row.kind == "screen":
        name, about = f"Screen {row.name}", ""
    elif row.kind == "item" and shape:
        name, about = f"{shape.name.capitalize()} {row.name}", shape.about
    elif row.kind == "odd":
        name, about = "No object", f"This is {row.text}: correct or remove it in the source."
    elif row.kind == "component" and shape is None:
        about = "The table of components does not know this type."
    rules = shape.rules if isinstance(shape, ComponentShape) else ()
    listed = "".join(f"<li>{escape(rule)}</li>" for rule in rules)
    listed = f"<ul>{listed}</ul>" if listed else ""
    paragraph = f"<p>{escaped(about)}</p>" if about else ""
    return f'<h3 dir="auto">{escape(cut(name, 60))}</h3>{paragraph}{listed}'


# --- inputs of properties, which take a value or a reference ------------------------------

_REFERENCE_HINT = "${data.…}, ${form.…} or `an expression`"
_LONG_TEXT = 80  #: documented characters from which on a text gets several lines


def make_property_input(
    prop: Property, version: Version, value: Any, screens: Sequence[str] = ()
) -> Control:
    """Make the input for a property; a value of another kind is shown as JSON."""
    made: Control
    label = format_label(prop.name)
    match prop:
        case Property(name="version"):
            released = (str(one) for one in sorted(RELEASED, reverse=True))
            made = make_property_choice(prop, {one: one for one in released})
        case Property(name="data_api_version"):
            made = make_property_choice(prop, {one: one for one in data_api_versions(version)})
        case Property(name="next", kind="object"):
            made = make_screen_choice(screens, value)
        case Property(kind="boolean"):
            made = make_property_choice(prop, {"yes": True, "no": False})
        case Property(kind="choice"):
            made = make_property_choice(prop, {one: one for one in prop.enum})
        case Property(kind="integer" | "number"):
            fraction = prop.kind == "number"
            made = NumberText(label, fraction=fraction, nothing=ABSENT, reference=prop.binding)
        case Property(kind="strings" | "dates" | "choices"):
            made = Lines(label, nothing=ABSENT, reference=prop.binding)
        case Property(kind="items"):
            made = ItemsInput(prop, version)
        case Property(kind="map" | "range" | "action" | "object" | "components" | "cases"):
            made = make_json_input(prop, value)
        case _:
            made = TextProperty(prop, version, value)
    try:
        made.show(value)
    except TypeError:
        made = make_json_input(prop, value)
    return made


def make_json_input(prop: Property, value: Any) -> Json:
    """Make an input of JSON, with as many lines as the value needs."""
    made = Json(format_label(prop.name), 4, ABSENT)
    made.show(value)
    if value is not ABSENT:
        made.rows = min(max(made.value.count("\n") + 1, 2), 12)
    return made


def make_property_choice(prop: Property, values: Mapping[str, Any]) -> Choice:
    """Make a choice of the values of a property; showing another raises `TypeError`."""
    default = {True: "yes", False: "no"}.get(prop.default, prop.default)  # type: ignore[call-overload]
    unset = "not set" if default is None else f"not set: {default}"
    reference = _REFERENCE_HINT if prop.binding else ""
    return Choice(format_label(prop.name), values, ABSENT, unset, others=False, reference=reference)


def make_screen_choice(screens: Sequence[str], value: Any) -> Choice:
    """Make a choice of the screens to navigate to; it keeps a target that does not exist."""
    targets = {visible(one): {"type": "screen", "name": one} for one in dict.fromkeys(screens)}
    name = value.get("name") if isinstance(value, dict) else None
    if value == {"type": "screen", "name": name} and name not in screens:
        words = f"{visible(name)} (there is no such screen)" if name else "choose one"
        targets[words] = value
    return Choice("Next screen", targets, ABSENT, "not set", others=False)


class TextProperty(Text):
    """A text on one line or several; of a list each text is a line."""

    def __init__(self, prop: Property, version: Version, value: Any) -> None:
        self._takes_list = "strings" in prop.kinds(version)
        long = self._takes_list or (prop.length or 0) > _LONG_TEXT or "\n" in str(value)
        super().__init__(format_label(prop.name), rows=3 if long else 0, nothing=ABSENT)
        self._is_required = prop.is_required(version)
        self.late = prop.name in ("id", "name")  # a name is changed once it is typed whole

    def _parse(self, text: str) -> Any:
        if isinstance(self._unedited[1], list):
            return text.split("\n")
        return text if text or self._is_required else ABSENT

    def _write(self, value: Any) -> str:
        listed = self._takes_list and isinstance(value, list) and value
        if listed and all(isinstance(one, str) and "\n" not in one for one in value):
            return "\n".join(value)
        return super()._write(value)


class ItemsInput(Rows):
    """Options or other small items, each with its texts, or a reference in their place.

    What an item holds beside its texts stays as it is; the tree shows it too.
    """

    def __init__(self, prop: Property, version: Version) -> None:
        self._item, self._version = prop.item or Shape("item", "", ()), version
        self._texts = [
            one for one in self._item.properties if one.kind == "text" and one.is_known(version)
        ]
        self._reference = Text("Or a reference in their place", _REFERENCE_HINT)
        super().__init__(format_label(prop.name), self._item.name)

    def inputs(self) -> dict[str, Control]:
        """Make a row: a text for each property that the platform asks for."""
        return {
            one.name: Text(format_label(one.name))
            for one in self._texts
            if one.is_required(self._version)
        }

    def first(self) -> dict[str, Any]:
        """Return a new item with its required properties."""
        taken = [row.inputs["id"].value for row in self.rows if "id" in row.inputs]
        return make_item(self._item, taken, self._version)

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
            {**row.before, **{name: each.read() for name, each in row.inputs.items()}}
            for row in self.rows
        ]

    def show(self, value: Any) -> None:
        """Show a list of items, or a reference."""
        items = require_type([] if value is ABSENT else value, list | str, "a list")
        self._reference.value = items if isinstance(items, str) else ""
        listed = [] if isinstance(items, str) else items
        for item in listed:
            texts = {one.name: "" for one in self._texts} | require_type(item, dict, "an object")
            for one in self._texts:
                require_type(texts[one.name], str, "text")
        self.fill(listed)


def make_help_text(prop: Property) -> str:
    """Return the help of a property: its purpose, its limits and its default."""
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
