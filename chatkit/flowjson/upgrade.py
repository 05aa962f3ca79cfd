"""Upgrade a flow document to a later version of its rules, and list each change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from chatkit.errors import InputError
from chatkit.flowjson.components import (
    COMPONENTS,
    DOCUMENT,
    FROZEN,
    LAYOUT,
    RECOMMENDED,
    RELEASED,
    SCREEN,
    Property,
    Shape,
    Version,
)
from chatkit.flowjson.diff import text_cell
from chatkit.flowjson.document import read_document
from chatkit.flowjson.nodes import ActionNode, ComponentNode, FlowNode, ScreenNode, read_nodes
from chatkit.report import (
    Report,
    ReportPart,
    html_heading,
    html_list,
    html_tables,
    make_object_frame,
)
from chatkit.util.display import MISSING, format_short_json, many
from chatkit.util.json import escape_key

if TYPE_CHECKING:
    import pandas as pd


V5, V6, V7, V7_3 = Version(5, 0), Version(6, 0), Version(7, 0), Version(7, 3)

_MILLISECONDS = re.compile(r"-?[0-9]{9,14}")
_DATA = re.compile(r"\$\{data\.([\w-]+)\}")
_DAY = 86_400_000


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """One change: its pointer in the document before, and the reason."""

    pointer: str
    before: Any
    after: Any
    reason: str


@dataclass(frozen=True, slots=True)
class Todo:
    """One task for a person: a value to decide on or to look at."""

    pointer: str
    what: str


class Rewrite:
    """Upgrades a document in place, from one version to a later one."""

    def __init__(self, document: dict[str, Any], source: Version, target: Version) -> None:
        self.document = document
        self.source, self.target = source, target
        self.changes: list[DocumentChange] = []
        self.todo: list[Todo] = []
        self._nodes: FlowNode = read_nodes(document)

    def run(self) -> None:
        """Make all changes that the later version demands."""
        for pointer, owner, shape in list(_shaped_objects(self._nodes)):
            for prop in shape.properties:
                self._upgrade_property(pointer, owner, prop)
        if self._crosses(V5):
            self._upgrade_dates()
        if self._crosses(V6):
            self._report_backticks()
        if self._crosses(V7):
            self._upgrade_init_values()
            for screen in self._nodes.screens:  # 7.0 takes one Form on a screen
                for form in [each for each in screen.components if each.type == "Form"][1:]:
                    what = "Put these inputs into one Form: 7.0 takes one on a screen."
                    self._add_todo(form.pointer, what)
        if self._crosses(V7_3):
            for action in self._nodes.actions:
                self._add_payload(action)

    def _add_todo(self, pointer: str, what: str) -> None:
        """Add a task for a person."""
        self.todo.append(Todo(pointer, what))

    def _crosses(self, version: Version | None) -> bool:
        return version is not None and self.source < version <= self.target

    def _change(self, pointer: str, holder: Any, key: Any, after: Any, reason: str) -> None:
        """Change one value and note the change; MISSING removes it."""
        before = holder[key] if isinstance(holder, list) or key in holder else MISSING
        if after is MISSING:
            del holder[key]
        else:
            holder[key] = after
        self.changes.append(DocumentChange(pointer, before, after, reason))

    # --- changes by the table of properties ------------------------------------------

    def _upgrade_property(self, pointer: str, owner: dict[str, Any], prop: Property) -> None:
        here = f"{pointer}/{escape_key(prop.name)}"
        value = owner.get(prop.name, MISSING)
        if value is not MISSING and self._crosses(prop.until):
            self._change(here, owner, prop.name, MISSING, f"{prop.until} took it out.")
            if prop.name == "data_channel_uri":
                endpoint = format_short_json(value)
                what = f"Set the endpoint of the flow to {endpoint}: it left the document."
                self._add_todo(here, what)
        elif value is MISSING and self._crosses(prop.required) and prop.since <= self.target:
            self._add_property(here, owner, prop, f"{prop.required} demands it.")
        elif isinstance(value, str) and not value.strip() and self._crosses(prop.not_blank):
            reason = f"{prop.not_blank} refuses blank texts."
            if prop.is_required(self.target):
                self._add_property(here, owner, prop, reason)
            else:
                self._change(here, owner, prop.name, MISSING, reason)
        elif isinstance(value, str) and prop.kind == "base64":
            self._check_image_size(here, value, prop)

    def _add_property(self, here: str, owner: dict[str, Any], prop: Property, reason: str) -> None:
        """Add a required property with a value guessed from its object, or ask for one."""
        guess: Any = ""
        if prop.name == "layout":
            guess = {"type": "SingleColumnLayout", "children": []}
        elif prop.name in ("label", "title"):
            is_footer = owner.get("type") == "Footer"
            name = "Continue" if is_footer else owner.get("name") or owner.get("id")
            words = re.sub(r"[\W_]+", " ", name).strip() if isinstance(name, str) else ""
            guess = words[:1].upper() + words[1:]
        if guess:
            self._change(here, owner, prop.name, guess, reason)
            what = f"Look at the {prop.name}, which was guessed: {format_short_json(guess)}"
        self._add_todo(here, what if guess else f"Put in a {prop.name}. {reason}")

    def _check_image_size(self, here: str, image: str, prop: Property) -> None:
        limits = [limit for since, limit in prop.kilobytes if self._crosses(since)]
        size = len(image.rpartition(",")[2]) * 3 / 4 / 1024
        if limits and size > limits[-1]:
            what = f"Make the picture smaller: {size:.0f} KB, {limits[-1]} KB are allowed now."
            self._add_todo(here, what)

    # --- 5.0: dates -----------------------------------------------------------------

    def _upgrade_dates(self) -> None:
        """Change dates from milliseconds to YYYY-MM-DD."""
        for component in self._nodes.components:
            for prop in component.shape.properties if component.shape else ():
                if {"date", "dates"}.intersection(prop.kinds(self.source)):
                    here = f"{component.pointer}/{escape_key(prop.name)}"
                    self._upgrade_date(here, component.value, prop.name)
                    self._upgrade_example(component.screen, component.value.get(prop.name), here)
            if component.type == "DatePicker":
                pointer, values = _form_init_values(component)
                self._upgrade_date(pointer, values, component.name)
                what = "What is picked arrives as YYYY-MM-DD, no longer in milliseconds: "
                self._add_todo(component.pointer, f"{what}change what reads it.")

    def _upgrade_date(self, pointer: str, holder: Any, key: Any) -> None:
        value = holder[key] if isinstance(holder, list) else holder.get(key)
        if isinstance(value, list):
            for n in range(len(value)):
                self._upgrade_date(f"{pointer}/{n}", value, n)
            return
        text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
        if not _MILLISECONDS.fullmatch(text):
            return
        instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(text))
        day = instant.date().isoformat()
        self._change(pointer, holder, key, day, "5.0 writes dates YYYY-MM-DD.")
        if int(text) % _DAY:
            self._add_todo(pointer, f"Look at the day: {text} is {instant:%Y-%m-%d %H:%M} in UTC.")

    def _upgrade_example(self, screen: ScreenNode, text: Any, here: str) -> None:
        """Change the example of a date that comes from data, and ask to change the endpoint."""
        match = _DATA.fullmatch(text) if isinstance(text, str) else None
        field = screen.data.get(match[1]) if match else None
        if match and isinstance(field, dict):
            pointer = f"{screen.pointer}/data/{match[1]}/__example__"
            self._upgrade_date(pointer, field, "__example__")
            self._add_todo(here, f"Send {text} as YYYY-MM-DD, no longer in milliseconds.")

    # --- 6.0: backticks -------------------------------------------------------------

    def _report_backticks(self) -> None:
        for binding in self._nodes.bindings:
            text = binding.text.strip()
            if len(text) > 1 and text[0] == text[-1] == "`":
                what = "6.0 takes a text in backticks as an expression: was it meant as a text?"
                self._add_todo(binding.pointer, what)

    # --- 7.0: forms -----------------------------------------------------------------

    def _upgrade_init_values(self) -> None:
        """Convert init-values to the types of their fields, and list those that no longer act."""
        for component in self._nodes.components:
            form, shape = component.form, component.shape
            here, values = _form_init_values(component)
            has_value = "init-value" in component.value or component.name in values
            is_bound = form is not None and isinstance(form.value.get("init-values"), str)
            if shape and component.name in values:
                value = values[component.name]
                typed = _converted_value(value, shape.value)
                if typed is not MISSING and not isinstance(typed, type(value)):
                    reason = f"7.0 checks the type: a {component.type} holds a {shape.value}."
                    self._change(here, values, component.name, typed, reason)
            if (has_value or is_bound) and "on-select-action" in component.value:
                what = "7.0 no longer runs this when the screen is shown, only on a choice."
                self._add_todo(f"{component.pointer}/on-select-action", what)

    # --- 7.3: data models -----------------------------------------------------------

    def _add_payload(self, action: ActionNode) -> None:
        """Add the payload that the next screen needs to a navigate action without one."""
        following = self._nodes.by_id.get(action.target or "")
        if action.name != "navigate" or following is None or "payload" in action.value:
            return
        source, payload, examples = action.screen, {}, []
        for name, field in following.data.items():
            if not isinstance(field, dict) or "__example__" not in field:
                continue
            kind, mine, entry = field.get("type"), source.data.get(name), source.fields.get(name)
            shape = COMPONENTS.get(entry.type or "") if entry else None
            if isinstance(mine, dict) and mine.get("type") == kind:
                payload[name] = f"${{data.{name}}}"
            elif shape and shape.value == kind:
                payload[name] = f"${{form.{name}}}"
            else:
                payload[name] = field["__example__"]
                examples.append(name)
        if not payload:
            return
        here = f"{action.pointer}/payload"
        reason = f"7.3 demands a payload: {following.id} asks for data."
        self._change(here, action.value, "payload", payload, reason)
        if examples:
            what = f"Say where {', '.join(examples)} come from: they hold the examples for now."
            self._add_todo(here, what)


def _form_init_values(component: ComponentNode) -> tuple[str, dict[str | None, Any]]:
    """Return the pointer to the init-value of a component, and all init-values of its Form."""
    form = component.form
    values = form.value.get("init-values") if form else None
    pointer = f"{form.pointer if form else ''}/init-values/{escape_key(component.name or '')}"
    return pointer, values if isinstance(values, dict) else {}


def _converted_value(value: Any, kind: str) -> Any:
    """Convert an init-value to the type of its field; MISSING if that is not possible."""
    if isinstance(value, str) and "${" in value:
        return MISSING
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if kind == "array" and isinstance(value, str):
        return [value] if value else []
    if kind == "boolean" and isinstance(value, str):
        return {"true": True, "false": False}.get(value, MISSING)
    return MISSING


ShapedObject = tuple[str, dict[str, Any], Shape]


def _shaped_objects(flow: FlowNode) -> Iterator[ShapedObject]:
    """Yield the pointer, value and shape of each object that the table describes."""
    if isinstance(flow.value, dict):
        yield "", flow.value, DOCUMENT
    for screen in flow.screens:
        yield screen.pointer, screen.value, SCREEN
        if isinstance(layout := screen.value.get("layout"), dict):
            yield f"{screen.pointer}/layout", layout, LAYOUT
        for component in screen.components:
            if shape := component.shape:
                yield from _objects_within(component.pointer, component.value, shape)


def _objects_within(pointer: str, value: dict[str, Any], shape: Shape) -> Iterator[ShapedObject]:
    yield pointer, value, shape
    for prop in shape.properties:
        inner = value.get(prop.name)
        here = f"{pointer}/{escape_key(prop.name)}"
        if prop.item and prop.kind == "object" and isinstance(inner, dict):
            yield from _objects_within(here, inner, prop.item)
        elif prop.item and prop.kind == "items" and isinstance(inner, list):
            for n, item in enumerate(inner):
                if isinstance(item, dict):
                    yield from _objects_within(f"{here}/{n}", item, prop.item)


_WIDTHS = {"where": 30, "before": 20, "after": 20, "reason": 30}


@dataclass(frozen=True, repr=False)
class Upgrade(Report):
    """An upgraded document, with its changes and the tasks left to a person.

    Pointers of changes are those of the document before.
    """

    document: dict[str, Any]
    source: str
    target: str
    changes: tuple[DocumentChange, ...]
    todo: tuple[Todo, ...]

    def frame(self) -> pd.DataFrame:
        """Return a row for each change."""
        columns = ("pointer", "before", "after", "reason")
        return make_object_frame(self.changes, columns, texts=("pointer", "reason"))

    def _parts(self) -> list[ReportPart]:
        lines = [self._heading()]
        for one in self.changes:
            lines.append(
                f"  ~ {one.pointer}: {format_short_json(one.before)} → "
                f"{format_short_json(one.after)}"
            )
            lines.append(f"      {one.reason}")
        if self.todo:
            lines.append("For a person to do:")
            lines += [f"  ! {one.pointer}: {one.what}" for one in self.todo]
        return [ReportPart(lines, self._html)]

    def _html(self) -> str:
        rows = []
        for one in self.changes:
            before, after = (
                "" if value is MISSING else format_short_json(value)
                for value in (one.before, one.after)
            )
            texts = zip(
                (one.pointer, before, after, one.reason),
                ("code", "del", "ins", "span"),
                strict=True,
            )
            rows.append(f"<tbody><tr>{''.join(text_cell(*each) for each in texts)}</tr></tbody>")
        table = html_tables(_WIDTHS, rows, [], len(rows), ".frame()")
        todo = [f"{one.pointer}: {one.what}" for one in self.todo]
        tasks = html_list("objections", "For a person to do", todo)
        return html_heading(self._heading()) + table + tasks

    def _heading(self) -> str:
        if self.source == self.target:
            return f"The flow document is of version {self.target} already: 0 changes."
        left = f"; {many(len(self.todo), 'thing')} for a person to do" if self.todo else ""
        changes = many(len(self.changes), "change")
        return f"From version {self.source} to {self.target}: {changes}{left}."


def upgrade(document: object, to: str = str(RECOMMENDED)) -> Upgrade:
    """Bring a flow document to a later version of its rules.

    Only what the later version refuses or reads otherwise is changed; what only a person can
    decide is in `todo`.

    Args:
        document: A dict, JSON text, a file, or a built Flow. It stays as it is.
        to: The version.

    Raises:
        InputError: It is no flow document, or of a later version already.
    """
    value = read_document(document)
    if not isinstance(value, dict):
        raise InputError("A flow document must be a JSON object.")
    source, target = _require_version(value.get("version")), _require_version(to)
    if target < source:
        raise InputError(
            f"The flow document is of version {source}: what later versions brought would be "
            f"lost in {target}. A document cannot be downgraded: build a new one."
        )
    if source == target:
        return Upgrade(value, str(source), str(target), (), ())
    before = read_document(value)
    change = DocumentChange("/version", str(source), str(target), _upgrade_reason(source, target))
    value["version"] = str(target)
    rewrite = Rewrite(value, source, target)
    rewrite.run()
    todo = [*rewrite.todo, *_new_errors(before, value, {one.pointer for one in rewrite.todo})]
    if target in FROZEN:
        what = f"{target} cannot be published since {FROZEN[target]}: upgrade to {RECOMMENDED}."
        todo.append(Todo("/version", what))
    return Upgrade(value, str(source), str(target), (change, *rewrite.changes), tuple(todo))


def _require_version(text: object) -> Version:
    version = Version.parse(text)
    if version not in RELEASED:
        known = ", ".join(map(str, RELEASED))
        raise InputError(
            f"{format_short_json(text)} is not a version of flow documents. Known: {known}."
        )
    return version


def _upgrade_reason(source: Version, target: Version) -> str:
    if source in FROZEN:
        return f"{source} cannot be published since {FROZEN[source]}."
    return f"{target} is recommended." if target == RECOMMENDED else "You asked for it."


def _new_errors(before: Any, after: Any, known: set[str]) -> list[Todo]:
    """Return a task for each error of the new document that the old one did not have."""
    from chatkit.flowjson.lint import lint

    old = {(one.code, one.pointer) for one in lint(before).errors}
    return [
        Todo(one.pointer, f"{one.message} {one.hint}".strip())
        for one in lint(after).errors
        if (one.code, one.pointer) not in old and one.pointer not in known
    ]
