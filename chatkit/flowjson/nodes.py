"""Read the nodes of a flow document: screens, components, actions, and bound texts.

`read_nodes` goes through a document once. Each node carries its JSON pointer and what is around
it, each bound text the references in it, and `resolve_reference` follows one to what the document
declares. What is not of the expected shape is no node; the rules of `structure` report it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher, get_close_matches
from itertools import islice
from typing import Any, NamedTuple

from chatkit.flowjson.components import COMPONENTS, RECOMMENDED, ComponentShape, Property, Version
from chatkit.util.display import cut
from chatkit.util.json import escape_key

ACTION_KEYS = ("on-click-action", "on-select-action", "on-unselect-action")
CHILD_KEYS = ("children", "then", "else", "cases")
MAX_DEPTH = 64  # deeper is never a flow, and the bound keeps the work linear

_REFERENCE = re.compile(r"\$\{(?:screen\.([^.{}`']*)\.)?(data|form)\.([\w-]+(?:\.[\w-]+)*)\}")
_MISSPELLED = re.compile(r"\$\{(?:screen\.[^.]*\.)?(?:data|form)\.(?:(?!\$\{).)*\}", re.DOTALL)
#: Texts that authors write for a reference: other forms of ${form.x}, {{x}}, $form.x, form.x …
_LOOKALIKE = re.compile(
    rf"""(?P<reference>{_REFERENCE.pattern})
      | (?P<certain> [$＄][{{｛]{{1,2}} [^{{}}｛｝$＄]* [}}｝]{{1,2}} | [$＄][{{｛] [\w.\-\[\]'"]*
          | \{{\{{ [^{{}}$]{{1,80}} \}}\}} | [#%@&$]? \s? \{{\s* STORE [^{{}}$]* \}}
          | [$] \s? STORE [\w.\-\[\]'"]+ )
      | (?P<loose> [$]? \{{ \s* [\w-]+ \s* \}} | [$] [A-Za-z_][\w-]*
          | (?<![\w.@/\\-]) (?i:screens?\.[\w-]+\.)? (?i:forms?|data)
            (?: \.[\w-]+ | \[\s*['"]?[\w-]+['"]?\s*\] )+ (?![\w@/(-]) )
    """.replace("STORE", r"(?i:screens?|forms?|from|data)\s*[.\[]"),
    re.VERBOSE,
)
#: A text in which a reference, or what looks like one, may stand.
_BOUND = re.compile(r"[$＄{`]|(?i:form|data|screen)s?[.\[]")
#: JSON types, integer as number; empty: not known.
Types = frozenset[str]
_UNKNOWN_TYPES = Types()


# --- references ---------------------------------------------------------------------------


class Reference(NamedTuple):
    """One reference in a text: ${data.x}, ${form.x} or ${screen.S.form.x}."""

    text: str
    screen: str | None  # the screen it names; None for its own
    store: str  # data or form
    path: tuple[str, ...]
    start: int  # where it stands in the text
    end: int


def find_references(text: str) -> tuple[Reference, ...]:
    """Return the references in a text."""
    return tuple(map(_make_reference, _REFERENCE.finditer(text)))


def _make_reference(match: re.Match[str]) -> Reference:
    screen, store, path = match.groups()
    return Reference(match[0], screen, store, tuple(path.split(".")), *match.span())


def parse_reference(text: str) -> Reference | None:
    """Parse a text that is one reference and nothing else; None for any other text."""
    match = _REFERENCE.fullmatch(text)
    return _make_reference(match) if match is not None else None


def is_misspelled_reference(text: str) -> bool:
    """Return whether a text is one reference whose names hold invalid characters."""
    return _MISSPELLED.fullmatch(text) is not None and parse_reference(text) is None


def is_expression(text: str) -> bool:
    """Return whether a text is an expression: all of it in backticks."""
    return len(text) > 1 and text[0] == text[-1] == "`"


# --- nodes --------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class ComponentNode:
    """One component of a screen."""

    pointer: str
    value: dict[str, Any]
    type: str | None
    name: str | None
    shape: ComponentShape | None  # None of an unknown type
    screen: ScreenNode
    parent: ComponentNode | None
    children: list[ComponentNode] = field(default_factory=list)

    @property
    def slot(self) -> str:
        """The JSON pointer from its parent to the list in which it stands."""
        base = self.parent.pointer if self.parent else f"{self.screen.pointer}/layout"
        return self.pointer[len(base) :].rpartition("/")[0]

    def find_around(self, *types: str) -> list[ComponentNode]:
        """Find the components of these types around it, the nearest first."""
        around, parent = [], self.parent
        while parent is not None:
            around += [parent] if parent.type in types else []
            parent = parent.parent
        return around

    @property
    def form(self) -> ComponentNode | None:
        """The nearest Form around it."""
        return next(iter(self.find_around("Form")), None)


@dataclass(eq=False, slots=True)
class ActionNode:
    """An action on a click or a choice."""

    pointer: str
    key: str  # on-click-action, on-select-action or on-unselect-action
    value: dict[str, Any]
    name: str | None
    owner: ComponentNode
    screen: ScreenNode
    item: int | None  # the position in data-source or list-items, when it belongs to one
    target: str | None  # the screen it navigates to
    payload: dict[str, Any] | None  # only a payload that is an object
    bound: list[Binding] = field(default_factory=list)  # the bound texts of the payload


@dataclass(eq=False, slots=True)
class Binding:
    """A text that holds a reference `${…}`, a backtick, or what looks like a reference."""

    pointer: str
    text: str
    references: tuple[Reference, ...]
    sole_reference: Reference | None  # the reference that is the whole text
    targets: tuple[Target, ...]  # what each reference leads to
    owner: ComponentNode
    property: str  # the owner's property it belongs to
    about: Property | None  # the entry of that property in the table
    action: ActionNode | None  # the action whose payload, url or target it is part of
    is_direct: bool  # it is the whole value of the property, not inside a list or an object
    is_expression: bool  # all of it stands in backticks
    is_fixed: bool  # its property is never bound: ${…} and backticks in it are only text


@dataclass(eq=False, slots=True)
class ScreenNode:
    """One screen: its data model, components, actions and bound texts in document order."""

    pointer: str
    index: int
    value: dict[str, Any]
    id: str | None
    terminal: bool
    data: dict[str, Any]  # the declared fields and their schemas, {} when there is no object
    components: list[ComponentNode] = field(default_factory=list)
    actions: list[ActionNode] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    fields: dict[str, ComponentNode] = field(default_factory=dict)  # by name, no Form
    forms: dict[str | None, ComponentNode] = field(default_factory=dict)  # by name
    strays: list[str] = field(default_factory=list)  # children that are no object
    too_deep: list[str] = field(default_factory=list)  # where reading stopped

    @property
    def top_components(self) -> list[ComponentNode]:
        """The components that stand in the layout itself."""
        return [component for component in self.components if component.parent is None]


@dataclass(eq=False, slots=True)
class FlowNode:
    """A whole document."""

    value: Any
    version: Version  # RECOMMENDED when absent or unreadable
    endpoint: bool  # data_api_version is set
    routing: dict[str, Any] | None  # only a routing_model that is an object
    screens: list[ScreenNode] = field(default_factory=list)
    by_id: dict[str, ScreenNode] = field(default_factory=dict)  # the first one wins
    #: Results of `find_possible_values` for data fields: by screen, name and remaining depth.
    passed_values: dict[tuple[int, str, int], dict[str, str]] = field(default_factory=dict)
    number_inputs: dict[tuple[int, str, int], ComponentNode | None] = field(default_factory=dict)
    lookups: int = 0  # of similar names
    components: list[ComponentNode] = field(default_factory=list)  # of all screens
    actions: list[ActionNode] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)

    def find_screen(self, screen: ScreenNode, reference: Reference) -> ScreenNode | None:
        """Return the screen whose value a reference reads; None if it does not exist."""
        return screen if reference.screen is None else self.by_id.get(reference.screen)


def read_nodes(document: object, version: str | Version | None = None) -> FlowNode:
    """Read the nodes of a document; `version` replaces the document's own."""
    content = document if isinstance(document, dict) else {}
    requested = version if isinstance(version, Version) else Version.parse(version)
    routing = content.get("routing_model")
    node = FlowNode(
        value=document,
        version=requested or Version.parse(content.get("version")) or RECOMMENDED,
        endpoint="data_api_version" in content,
        routing=routing if isinstance(routing, dict) else None,
    )
    screens = content.get("screens")
    for index, value in enumerate(screens if isinstance(screens, list) else ()):
        if isinstance(value, dict):
            screen = _read_screen(index, value)
            node.screens.append(screen)
            if screen.id is not None:
                node.by_id.setdefault(screen.id, screen)
            node.components += screen.components
            node.actions += screen.actions
            node.bindings += screen.bindings
    for binding in node.bindings:
        screen = binding.owner.screen
        binding.targets = tuple(
            resolve_reference(node, screen, each) for each in binding.references
        )
    return node


def _read_screen(index: int, value: dict[str, Any]) -> ScreenNode:
    data = value.get("data")
    screen = ScreenNode(
        pointer=f"/screens/{index}",
        index=index,
        value=value,
        id=_str_or_none(value.get("id")),
        terminal=value.get("terminal") is True,
        data={
            name: schema
            for name, schema in (data.items() if isinstance(data, dict) else ())
            if not (name == "required" and isinstance(schema, list))  # it is no field
        },
    )
    layout = value.get("layout")
    children = layout.get("children") if isinstance(layout, dict) else None
    waiting = _read_children(screen, None, f"{screen.pointer}/layout/children", children)
    waiting.reverse()
    while waiting:  # a stack and no recursion: a document may be nested at any depth
        component = waiting.pop()
        screen.components.append(component)
        if component.parent is not None:
            component.parent.children.append(component)
        if component.type == "Form":
            screen.forms.setdefault(component.name, component)
        elif component.name is not None:
            screen.fields.setdefault(component.name, component)
        for key, inner in _select_bound_items(component.value):
            if key not in CHILD_KEYS or isinstance(inner, str):
                _read_property(component, key, inner)
        inside: list[ComponentNode] = []
        for slot, values in find_child_lists(component.value):
            pointer = component.pointer + slot
            if pointer.count("/") > MAX_DEPTH:
                screen.too_deep.append(pointer)
            else:
                inside += _read_children(screen, component, pointer, values)
        waiting.extend(reversed(inside))
    return screen


def find_child_lists(value: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yield each list of components in a container, with the pointer from the container."""
    for key, inner in value.items():
        if key == "cases" and isinstance(inner, dict):
            cases = ((f"/cases/{escape_key(case)}", children) for case, children in inner.items())
            yield from ((at, children) for at, children in cases if isinstance(children, list))
        elif key in CHILD_KEYS and key != "cases" and isinstance(inner, list):
            yield f"/{key}", inner


def _read_children(
    screen: ScreenNode, parent: ComponentNode | None, pointer: str, values: object
) -> list[ComponentNode]:
    nodes: list[ComponentNode] = []
    for index, value in enumerate(values if isinstance(values, list) else ()):
        if not isinstance(value, dict):
            screen.strays.append(f"{pointer}/{index}")
            continue
        kind = _str_or_none(value.get("type"))
        nodes.append(
            ComponentNode(
                pointer=f"{pointer}/{index}",
                value=value,
                type=kind,
                name=_str_or_none(value.get("name")),
                shape=COMPONENTS.get(kind or ""),
                screen=screen,
                parent=parent,
            )
        )
    return nodes


def group_by_slot(components: Iterable[ComponentNode]) -> dict[str, list[ComponentNode]]:
    """Group components by the list in which they stand."""
    slots: dict[str, list[ComponentNode]] = {}
    for component in components:
        slots.setdefault(component.slot, []).append(component)
    return slots


def _read_property(owner: ComponentNode, key: str, value: object) -> None:
    """Collect the actions and bound texts in one property."""
    screen = owner.screen
    about = owner.shape.by_name.get(key) if owner.shape else None
    is_fixed = not about.binding if about else key in ("type", "name")
    top = f"{owner.pointer}/{key if about else escape_key(key)}"
    waiting: list[tuple[str, str, object, ActionNode | None, int | None]] = [
        (top, key, value, None, None)
    ]
    while waiting:
        pointer, step, inner, action, item = waiting.pop()
        if isinstance(inner, str):
            binding = Binding(
                pointer=pointer,
                text=inner,
                references=find_references(inner),
                sole_reference=parse_reference(inner),
                targets=(),  # once all screens are read
                owner=owner,
                property=key,
                about=about,
                action=action,
                is_direct=pointer == top,
                is_expression=is_expression(inner),
                is_fixed=is_fixed,
            )
            screen.bindings.append(binding)
            if action and action.payload and pointer.startswith(f"{action.pointer}/payload/"):
                action.bound.append(binding)
            continue
        if isinstance(inner, dict) and action is None and step in ACTION_KEYS:
            action = _read_action(owner, pointer, step, inner, item)
            screen.actions.append(action)
        if pointer.count("/") > MAX_DEPTH:
            screen.too_deep.append(pointer)
            continue
        for name, part in reversed(list(_select_bound_items(inner))):
            index = name if isinstance(inner, list) and item is None else item
            waiting.append((f"{pointer}/{escape_key(name)}", str(name), part, action, index))


def _select_bound_items(value: object) -> Iterator[tuple[Any, object]]:
    """Yield the items of an object or a list that may hold references, by key or index."""
    items: Iterable[tuple[Any, object]] = ()
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in items:
        if isinstance(part, dict | list) or (isinstance(part, str) and _BOUND.search(part)):
            yield key, part


def _read_action(
    owner: ComponentNode, pointer: str, key: str, value: dict[str, Any], item: int | None
) -> ActionNode:
    following, payload = value.get("next"), value.get("payload")
    return ActionNode(
        pointer=pointer,
        key=key,
        value=value,
        name=_str_or_none(value.get("name")),
        owner=owner,
        screen=owner.screen,
        item=item,
        target=_str_or_none(following.get("name")) if isinstance(following, dict) else None,
        payload=payload if isinstance(payload, dict) else None,
    )


def _str_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


# --- the targets of references ------------------------------------------------------------


class Target(NamedTuple):
    """The target of a reference; `problem` is the reason why there is none."""

    types: Types = _UNKNOWN_TYPES
    schema: dict[str, Any] | None = None  # as declared in a data model
    component: ComponentNode | None = None  # the input it reads
    problem: str = ""


def read_schema_types(schema: object) -> Types:
    """Return the JSON types a schema of a data model allows; empty when they are not known."""
    stated = schema.get("type") if isinstance(schema, dict) else None
    names = stated if isinstance(stated, list) else [stated]
    return frozenset(
        "number" if name == "integer" else name for name in names if isinstance(name, str)
    )


def get_input_types(component: ComponentNode) -> Types:
    """Return the JSON types the value of an input has; empty when they are not known."""
    if component.type == "TextInput" and component.value.get("input-type") in (
        "number",
        "passcode",
    ):
        return frozenset(("string", "number"))  # a string by the documents, a number when checked
    if component.type == "CalendarPicker" and component.value.get("mode") == "range":
        return frozenset(("object",))
    shape = component.shape
    return frozenset((shape.value,)) if shape is not None and shape.value else _UNKNOWN_TYPES


def is_compatible(types: Types, expected: Types) -> bool:
    """Return whether two sets of types have one in common; unknown types always do."""
    return not types or not expected or not types.isdisjoint(expected)


def join_type_names(types: Types) -> str:
    """Join the names of types for a message."""
    return " or ".join(sorted(types)) or "unknown"


#: The first version in which other screens can be referred to.
OTHER_SCREENS = Version(4, 0)
_TOO_EARLY = f"other screens can be referred to from version {OTHER_SCREENS}"


def resolve_reference(flow: FlowNode, screen: ScreenNode, reference: Reference) -> Target:
    """Find the target of a reference on a screen."""
    source = flow.find_screen(screen, reference)
    if reference.screen is not None and flow.version < OTHER_SCREENS:
        return Target(problem=_TOO_EARLY)
    if source is None:
        return Target(problem=f"there is no screen {reference.screen}")
    owner = f"screen {source.id}" if source.id else "the screen"
    return (_find_data if reference.store == "data" else _find_input)(source, owner, reference.path)


def _find_data(source: ScreenNode, owner: str, path: tuple[str, ...]) -> Target:
    schema = source.data.get(path[0])
    if schema is None:
        return Target(problem=f"{owner} declares no data field {path[0]}")
    for done, step in enumerate(path[1:], 1):
        types, above = read_schema_types(schema), ".".join(path[:done])
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if types == {"array"}:
            return Target(problem=f"{above} is an array: {step} is not reachable")
        if types and "object" not in types:
            return Target(problem=f"{above} is not an object: it has no {step}")
        if not isinstance(properties, dict):
            return Target()  # an object whose keys are not declared
        if step not in properties:
            return Target(problem=f"{above} declares no property {step}")
        schema = properties[step]
    return Target(read_schema_types(schema), schema if isinstance(schema, dict) else None)


def _find_input(source: ScreenNode, owner: str, path: tuple[str, ...]) -> Target:
    component = source.fields.get(path[0])
    if component is None:
        if path[0] in source.forms:
            return Target(problem=f"{path[0]} is a Form: name one of its inputs")
        return Target(problem=f"{owner} has no input named {path[0]}")
    if len(path) == 1:
        return Target(get_input_types(component), component=component)
    if component.type == "CalendarPicker":
        return Target(frozenset(("string",)))  # start-date or end-date
    return Target(problem=f"{path[0]} is one value: it has no {path[1]}")


# --- corrections of names that lead nowhere -----------------------------------------------


def find_closest_name(word: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """Return the known name most similar to a word, ignoring case; empty if none is similar."""
    if len(word) > _LONGEST_NAME:
        return ""
    names = {name.casefold(): name for name in islice(known, MOST_NAMES)}
    word = word.casefold()
    swapped = {word[:n] + word[n + 1] + word[n] + word[n + 2 :] for n in range(len(word) - 1)}
    matches = [name for name in names if name in swapped and len(name) > 2]
    if not matches:
        matches = get_close_matches(word, names, 3, likeness)
        if likeness >= ALIKE:
            matches = [name for name in matches if _is_misspelt(word, name)]
    return names[matches[0]] if matches else ""


def _is_misspelt(word: str, name: str) -> bool:
    """Return whether two names have equally many parts, each similar to its counterpart."""
    parts, others = _NAME_PART.findall(word), _NAME_PART.findall(name)
    return len(parts) != len(others) or all(
        SequenceMatcher(None, part, other).ratio() >= ALIKE
        for part, other in zip(parts, others, strict=True)
    )


_NAME_PART = re.compile(r"[^\W\d_]+|\d+")
#: Letters of a word that may be a misspelt name: swapping two of n takes n² of memory.
_LONGEST_NAME = 500
#: Names that a word is compared with: a screen has fewer.
MOST_NAMES = 200
#: References of a document that are looked up for a similar one, at 2 ms each.
MOST_LOOKUPS = 500
#: The similarity of a name that `fix` puts in place of another.
ALIKE = 0.7


class ReferenceFault(NamedTuple):
    """A reference without a target, or text that looks like one, with its correction."""

    text: str
    message: str
    hint: str
    correction: str  # empty where no reference is like it
    start: int
    end: int


def find_reference_faults(flow: FlowNode, screen: ScreenNode, text: str) -> list[ReferenceFault]:
    """Find the faulty references in a text of a screen."""
    faults = []
    for match in _LOOKALIKE.finditer(text):
        written = match[0]
        if reference := parse_reference(written):
            problem = resolve_reference(flow, screen, reference).problem
            if not problem:
                continue
            message = f"{written} does not exist: {problem}."
            hint = "Declare it, or correct the name."
            if problem == _TOO_EARLY:
                hint = "Raise the version, or hand the value over in the payload of navigate."
        else:
            message = f"{cut(written, 60)} is not a reference: it stays as it is written."
            hint = "A reference reads ${data.name}, ${form.name} or ${screen.ID.form.name}."
        better = _find_closest_reference(flow, screen, written)
        if match["loose"] and not (written == text.strip() and "." in written):
            exact = re.findall(_WORD, better)[-1:] == re.findall(_WORD, written)[-1:]
            better = better if exact else ""
        if better or not match["loose"]:
            hint = f"Did you mean {better}?" if better else hint
            faults.append(ReferenceFault(written, message, hint, better, *match.span()))
    return faults


def correct_references(text: str, faults: Iterable[ReferenceFault]) -> str:
    """Return a text with its faulty references corrected."""
    for fault in reversed([*faults]):
        if fault.correction:
            text = text[: fault.start] + fault.correction + text[fault.end :]
    return text


_WORD = r"[\w-]+"
_OPERATOR_SIGN = re.compile(r"[=!<>|&?+*/%]")  # more than a name: its value is not that of the name
_STORES = {"from": "form", "field": "form", "fields": "form", "input": "form", "inputs": "form"}


def _find_closest_reference(flow: FlowNode, screen: ScreenNode, written: str) -> str:
    """Return the existing reference most similar to a text; empty if none is similar."""
    flow.lookups += 1
    if flow.lookups > MOST_LOOKUPS or _OPERATOR_SIGN.search(written):
        return ""
    source, store, words = _interpret_words(flow, screen, re.findall(_WORD, written))
    stores = ("data", "form") if store == "data" else ("form", "data")
    for each in stores:
        if path := _find_path(source, each, words, exact=True):
            return _format_reference(flow, screen, source, each, path)
    later = _list_next_screens(screen)  # what they hold is not there yet
    elsewhere = [
        _format_reference(flow, screen, other, each, path)
        for other in flow.by_id.values()
        if other.id not in later or screen.id in _list_next_screens(other)
        for each in (stores if source is screen and other is not screen else ())
        if (path := _find_path(other, each, words, exact=True))
    ]
    if elsewhere:
        return elsewhere[0] if len(elsewhere) == 1 else ""
    for each in stores:
        if path := _find_path(source, each, words, exact=False):
            return _format_reference(flow, screen, source, each, path)
    return ""


def _list_next_screens(screen: ScreenNode) -> set[Any]:
    """Return the ids of the screens that the actions of a screen navigate to."""
    targets = (each.value.get("next") for each in screen.actions if each.name == "navigate")
    return {
        each["name"]
        for each in targets
        if isinstance(each, dict) and isinstance(each.get("name"), str)
    }


def _interpret_words(
    flow: FlowNode, screen: ScreenNode, words: list[str]
) -> tuple[ScreenNode, str, list[str]]:
    """Return the screen, the store and the path that the words of a reference stand for."""
    is_named = len(words) > 1 and words[0].casefold() in ("screen", "screens")
    words = words[is_named:]
    store = _find_closest_store(words)
    if (
        len(words) > 1
        and (is_named or not store)
        and (name := find_closest_name(words[0], flow.by_id, ALIKE))
    ):
        screen, words = flow.by_id[name], words[1:]
        store = _find_closest_store(words)
    return screen, store, words[1:] if store or len(words) > 1 else words


def _find_closest_store(words: list[str]) -> str:
    """Return the store most similar to the first of several words; empty if none is."""
    if len(words) < 2:
        return ""
    first = words[0].casefold()
    return _STORES.get(first) or find_closest_name(first, ("form", "data"), ALIKE)


def _format_reference(
    flow: FlowNode, screen: ScreenNode, source: ScreenNode, store: str, path: str
) -> str:
    """Write a reference from one screen to another; empty if the version has no such reference."""
    if source is screen:
        return f"${{{store}.{path}}}"
    text = f"${{screen.{source.id}.{store}.{path}}}"
    return text if flow.version >= OTHER_SCREENS and parse_reference(text) else ""


def _find_path(source: ScreenNode, store: str, words: list[str], *, exact: bool) -> str:
    """Return the declared path to a field: exactly these words, or the most similar names."""
    inputs = {
        name: None for name, each in source.fields.items() if each.shape and each.shape.is_input
    }
    known: Mapping[str, Any] = source.data if store == "data" else inputs
    path: list[str] = []
    for word in words[:1] if store == "form" else words:
        name = word if word in known else "" if exact else find_closest_name(word, known, ALIKE)
        if not name:
            return ""
        properties = known[name].get("properties") if isinstance(known[name], dict) else None
        known = properties if isinstance(properties, dict) else {}
        path.append(name)
    return ".".join(path)


# --- the values that an answer can have ---------------------------------------------------


def read_option_titles(component: ComponentNode) -> dict[str, str]:
    """Return the titles of the options of a list by their ids; empty if one of them is unknown."""
    source = component.value.get("data-source")
    titles: dict[str, str] = {}
    for each in source if isinstance(source, list) else ():
        if not isinstance(each, dict) or not isinstance(id := each.get("id"), str):
            return {}
        if _BOUND.search(id):
            return {}
        titles[id] = str(each.get("title", ""))
    return titles


def find_possible_values(
    flow: FlowNode, screen: ScreenNode, reference: Reference, depth: int = 8
) -> dict[str, str]:
    """Return all values that a reference can have, ids with titles; empty if unknown.

    A data field has those that actions pass to it, unless an endpoint may send others.
    """
    source = flow.find_screen(screen, reference)
    if source is None or len(reference.path) > 1 or depth == 0:
        return {}
    name = reference.path[0]
    if reference.store == "form":
        component = source.fields.get(name)
        return read_option_titles(component) if component and component.shape else {}
    if (key := (id(source), name, depth)) not in flow.passed_values:
        flow.passed_values[key] = _find_passed_values(flow, source, name, depth)
    return flow.passed_values[key]


def _find_passed_values(
    flow: FlowNode, source: ScreenNode, name: str, depth: int
) -> dict[str, str]:
    """Return all values that actions pass to a data field; empty if one is unknown."""
    values: dict[str, str] = {}
    moves = [each for each in flow.actions if each.name == "navigate" and each.target == source.id]
    updates = [each for each in source.actions if each.name == "update_data"]
    filling = moves + [each for each in updates if name in (each.payload or {})] if moves else []
    for action in [] if flow.endpoint else filling:
        value = (action.payload or {}).get(name)
        inner = parse_reference(value) if isinstance(value, str) else None
        handed: dict[str, str] = {}
        if inner is not None:
            handed = find_possible_values(flow, action.screen, inner, depth - 1)
        elif isinstance(value, str) and not _BOUND.search(value):
            handed = {value: ""}
        if not handed:
            return {}
        values |= handed
    return values


def suggest_id(value: str, ids: Mapping[str, str]) -> str:
    """Return a hint with the id that belongs to a title or is similar, else the known ids."""
    titles = {title: id for id, title in ids.items()}
    id = (
        titles.get(value)
        or find_closest_name(value, ids)
        or titles.get(find_closest_name(value, titles), "")
    )
    return f"Did you mean the id {id!r}?" if id else f"The ids are {', '.join([*ids][:5])}."
