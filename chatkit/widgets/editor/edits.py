"""Edits of a flow document: each function returns a changed copy whose parts still fit together.

A new input is sent with the others. A new screen takes the action of the one before it, which
navigates to it. The values of a removed part are removed from payloads. A new name is written
wherever the document has the old one, and a copy gets names of its own.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from chatkit.errors import InputError
from chatkit.flowjson.components import (
    COMPONENTS,
    RECOMMENDED,
    ComponentShape,
    Property,
    Shape,
    Version,
)
from chatkit.flowjson.nodes import parse_reference, read_nodes
from chatkit.flowjson.rules.action import PICKERS
from chatkit.flowjson.rules.reference import find_unsent_inputs
from chatkit.util.json import (
    PatchOperation,
    append_to_pointer,
    apply_patch,
    change_at_path,
    escape_key,
    get_item,
    get_value,
    make_removal_patch,
    set_item,
    split_pointer,
)
from chatkit.widgets.editor.tree import TreeRow

_SCREEN = "Screen"
ENDING_ACTIONS = ("complete", "data_exchange")
_END_FLAGS = ("terminal", "success")  #: keys of a screen that ends the flow
_OWN_REFERENCE = re.compile(r"\$\{(?=(?:data|form)\.)")  #: how a reference to the own screen begins
_NUMBERED = re.compile(r"_\d+$")
_FORM_MAPS = ("init-values", "error-messages")  #: keys of a Form that hold names of its inputs
_ELSE, _CASE = "Else", "Case"
_GROUPS = {
    "text": "Text",
    "input": "Inputs",
    "media input": "Inputs",
    "action": "Links and buttons",
    "media": "Pictures",
    "container": "Containers",
}
#: The groups in the order in which they are offered.
_GROUP_ORDER = ("Here", "Inside", *dict.fromkeys(_GROUPS.values()), "Flow")


class Addition(NamedTuple):
    """Something that can be added: its group, name and help, its place, and what makes it.

    `at` is the index in the list at `pointer`; None if it is added at the pointer itself.
    """

    group: str
    name: str
    about: str
    pointer: str
    at: int | None
    make: Callable[[], Any]


def list_additions(document: Any, row: TreeRow) -> list[Addition]:
    """Return what can be added at a row of the tree, in the order of the groups."""
    if row.kind == "odd":
        return []
    taken, version = list_names(document), _read_version(document)
    around, _, last = row.pointer.rpartition("/")
    if row.kind == "item" and row.shape:
        make = partial(make_item, row.shape, taken, version)
        name, about = row.shape.name.capitalize(), row.shape.about
        return [Addition("Here", name, about, around, int(last) + 1, make)]
    additions: list[Addition] = []
    value, is_component = get_value(document, row.pointer), row.kind == "component"
    if shape := _find_item_shape(row):
        make, index = partial(make_item, shape, taken, version), len(_read_list(document, row.into))
        name, about = shape.name.capitalize(), shape.about
        additions.append(Addition("Inside", name, about, row.into, index, make))
    if is_component and row.name == "If" and "else" not in value:
        about, place = "What stands here when the condition does not hold.", f"{row.pointer}/else"
        additions.append(Addition("Inside", _ELSE, about, place, None, _make_branch))
    if is_component and row.name == "Switch":
        about, cases = "What stands here for one more value.", value.get("cases")
        name = make_unused_name("value", set(cases if isinstance(cases, dict) else ()))
        place = append_to_pointer(f"{row.pointer}/cases", name)
        additions.append(Addition("Inside", _CASE, about, place, None, _make_branch))
    if row.kind != "flow":
        additions += _list_components(document, row, taken, version)
    path = row.pointer.split("/")
    index = int(path[2]) + 1 if len(path) > 2 else len(_read_list(document, "/screens"))
    make = partial(make_screen, taken)
    additions.append(Addition("Flow", _SCREEN, "A new screen.", "/screens", index, make))
    return sorted(additions, key=lambda one: _GROUP_ORDER.index(one.group))


def _list_components(
    document: Any, row: TreeRow, taken: list[str], version: Version
) -> Iterator[Addition]:
    """Yield the components that can be added in a container, or else after a component."""
    container, field = _find_container(document, row), _find_input_reference(document, row)
    screens = _read_list(document, "/screens")
    ids = [one.get("id") for one in screens if isinstance(one, dict)]
    target = next((one for one in ids if isinstance(one, str) and one != row.name), "")
    pointer, _, last = row.pointer.rpartition("/")
    index, end = int(last) + 1 if last.isdecimal() else 0, 0
    if row.kind in ("screen", "slot") or row.name == "Form":
        items, pointer = _read_list(document, row.into), row.into
        end = bool(items) and isinstance(items[-1], dict) and items[-1].get("type") == "Footer"
        index = len(items) - end
    for one in COMPONENTS.values():
        if one.is_known(version) and (container is None or one.name in container.children):
            make = partial(make_component, one.name, taken, version, field=field, target=target)
            at = index + (end if one.name == "Footer" else 0)
            yield Addition(_GROUPS[one.group], one.name, one.about, pointer, at, make)


def with_addition(document: Any, row: TreeRow, what: str) -> tuple[Any, str]:
    """Return the document with something added at a row, and the pointer to it.

    Raises:
        InputError: It cannot stand there.
    """
    addition = next((one for one in list_additions(document, row) if one.name == what), None)
    if addition is None:
        raise InputError(f"{what} cannot be added here.")
    pointer, index, value = addition.pointer, addition.at, addition.make()
    if index is None:
        return apply_patch(document, [PatchOperation("add", pointer, value)]), pointer
    place = f"{pointer}/{index}"
    new_list = [] if _read_list(document, pointer) else [PatchOperation("add", pointer, [])]
    edited = apply_patch(document, [*new_list, PatchOperation("add", place, value)])
    if what == _SCREEN:
        return _link_screen(edited, index), place
    return _with_answers_sent(edited, f"{place}/name"), place


def _make_branch() -> list[Any]:
    return [make_component("TextBody")]


def _read_version(document: Any) -> Version:
    stated = document.get("version") if isinstance(document, dict) else None
    return Version.parse(stated) or RECOMMENDED


def _find_item_shape(row: TreeRow) -> Shape | None:
    """Return the shape of the items that a component lists, or None."""
    prop = row.shape.property(row.into.rpartition("/")[2]) if row.shape and row.into else None
    return prop.item if prop and prop.kind == "items" and row.kind == "component" else None


def _read_list(document: Any, pointer: str) -> list[Any]:
    try:
        value = get_value(document, pointer)
    except LookupError:
        return []
    return value if isinstance(value, list) else []


def _find_container(document: Any, row: TreeRow) -> ComponentShape | None:
    """Return the shape of the container into which a component is added at a row, or None."""
    if row.kind == "screen":
        return None
    inside = row.kind == "slot" or row.name == "Form"
    place = row.pointer if inside else row.pointer.rpartition("/")[0]
    while place.count("/") > 4:
        value = get_value(document, place)
        kind = value.get("type") if isinstance(value, dict) else None
        if isinstance(kind, str) and (container := COMPONENTS.get(kind)) and container.children:
            return container
        place = place.rpartition("/")[0]
    return None


def _find_input_reference(document: Any, row: TreeRow) -> str:
    """Return a reference to the first text input of a screen, for an If or a Switch."""
    for one in _iterate_objects(get_value(document, "/".join(row.pointer.split("/")[:3]))):
        kind, name = one.get("type"), one.get("name")
        shape = COMPONENTS.get(kind) if isinstance(kind, str) else None
        if shape and shape.value == "string" and isinstance(name, str):
            return f"${{form.{name}}}"
    return ""


#: A picture of one pixel, which stands where the real one will.
_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkqPnfDwAD9QHcHx0Q2wAAAABJRU5E"
    "rkJggg=="
)
_SAMPLE_TEXTS = {
    "TextHeading": "A heading",
    "TextSubheading": "A smaller heading",
    "TextBody": "Some text.",
    "TextCaption": "Small print.",
    "RichText": "# A title\n\nSome text.",
    "EmbeddedLink": "Read more",
    "TextInput": "Your answer",
    "TextArea": "Tell us more",
    "OptIn": "I agree",
    "Footer": "Continue",
}


def make_component(
    kind: str,
    taken: Iterable[str] = (),
    version: Version = RECOMMENDED,
    *,
    field: str = "",
    target: str = "",
) -> dict[str, Any]:
    """Make a component with its required properties.

    Args:
        kind: Its type.
        taken: Names that it may not have.
        version: The version of the document.
        field: A reference for an If or a Switch, like `${form.name}`.
        target: The screen to which it navigates, if it does.
    """
    shape = COMPONENTS[kind]
    made: dict[str, Any] = {"type": kind}
    for prop in shape.properties:
        if prop.name == "type" or not prop.is_required(version):
            continue
        if prop.name == "name":
            made["name"] = make_unused_name(_to_snake_case(kind), set(taken))
        else:
            made[prop.name] = _make_initial_value(
                shape, prop, version, field or "${data.name}", target
            )
    if kind in PICKERS:
        made[PICKERS[kind]] = 1  # as many as may be by default are more than an answer may hold
    if kind == "NavigationList":
        made["on-click-action"] = make_action("navigate", _make_next(target))
    return made


def make_item(
    shape: Shape, taken: Iterable[str] = (), version: Version = RECOMMENDED
) -> dict[str, Any]:
    """Make an option, a target or a picture with its required properties."""
    known, made = set(taken), dict[str, Any]()
    for prop in shape.properties:
        if prop.is_required(version):
            made[prop.name] = _make_initial_value(shape, prop, version)
            if prop.name == "id":
                made["id"] = make_unused_name(shape.name.replace(" ", "_"), known)
    return made


def make_screen(taken: Iterable[str] = ()) -> dict[str, Any]:
    """Make a screen that ends the flow."""
    foot = {"type": "Footer", "label": "Done", "on-click-action": make_action("complete")}
    return {
        "id": make_unused_name("SCREEN", set(taken), letters=True),
        "title": "New screen",
        "terminal": True,
        "success": True,
        "layout": {"type": "SingleColumnLayout", "children": [foot]},
    }


def make_flow() -> dict[str, Any]:
    """Make a flow to begin with: one screen with a heading and a Footer."""
    first = make_screen() | {"id": "WELCOME", "title": "Welcome"}
    first["layout"]["children"].insert(0, make_component("TextHeading"))
    return {"version": str(RECOMMENDED), "screens": [first]}


def make_action(name: str, before: object = None) -> dict[str, Any]:
    """Make an action of this name that keeps the properties it shares with the one before."""
    kept = before if isinstance(before, dict) else {}
    made: dict[str, Any] = {"name": name}
    if name == "navigate":
        made["next"] = kept.get("next", _make_next("")["next"])
    if name == "open_url":
        return made | {"url": kept.get("url", "https://example.com")}
    return made | {"payload": kept.get("payload", {})}


def _make_next(screen: str) -> dict[str, Any]:
    """Return the property of an action that navigates to a screen."""
    return {"next": {"type": "screen", "name": screen}}


def _make_initial_value(
    shape: Shape, prop: Property, version: Version, field: str = "", target: str = ""
) -> Any:
    """Return the first value of a required property."""
    match prop.kind:
        case "items" if prop.item is not None:
            most = 2 if shape.name == "ChipsSelector" else prop.least or 1
            made: list[dict[str, Any]] = []
            for number in range(1, most + 1):
                made.append(make_item(prop.item, [one.get("id", "") for one in made], version))
                if "title" in made[-1]:
                    made[-1]["title"] = f"Option {number}"
            return made
        case "object" if prop.item is not None:
            return make_item(prop.item, (), version)
        case "action":
            name = "complete" if shape.name == "Footer" else prop.allowed_actions(version)[-1]
            return make_action(name, _make_next(target))
        case "components":
            return [make_component("TextBody")] if prop.name == "then" else []
        case "cases":
            return {"yes": [make_component("TextBody")]}
        case "condition":
            return f"{field} != ''"
        case "reference":
            return field
        case "base64":
            return _PIXEL
        case _:
            return _SAMPLE_TEXTS.get(shape.name, "Choose" if shape.name in COMPONENTS else "New")


def _to_snake_case(kind: str) -> str:
    """Convert TextInput to text_input."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).strip("_")


def _with_answers_sent(document: Any, pointer: str | None = None) -> Any:
    """Return the document with the input of a name's pointer sent, or all inputs that are not."""
    for component, patch in [*find_unsent_inputs(read_nodes(document))]:
        if pointer in (None, f"{component.pointer}/name"):
            document = apply_patch(document, patch)
    return document


def _link_screen(document: Any, index: int) -> Any:
    """Return the document with a new screen linked between the one before it and its target."""
    flow, new, new_pointer = read_nodes(document), document["screens"][index], f"/screens/{index}"
    before = next((each for each in flow.screens if each.index == index - 1), None)
    footers = [each for each in before.actions if each.owner.type == "Footer"] if before else []
    if before is None or before.id is None or len(footers) != 1 or flow.version < (4, 0):
        return document  # before 4.0 no screen can read what an earlier one asked
    prefix = f"${{screen.{before.id}."
    action = _map_values(footers[0].value, lambda text: _OWN_REFERENCE.sub(lambda _: prefix, text))
    to_new_screen = make_action("navigate", _make_next(new["id"]))
    patch = [
        PatchOperation("add", f"{new_pointer}/layout/children/0/on-click-action", action),
        PatchOperation("add", footers[0].pointer, to_new_screen),
        PatchOperation("add", f"{footers[0].owner.pointer}/label", _SAMPLE_TEXTS["Footer"]),
    ]
    for flag in _END_FLAGS:
        patch.append(PatchOperation("remove", f"{new_pointer}/{flag}"))
        if flag in before.value:
            patch.append(PatchOperation("add", f"{new_pointer}/{flag}", before.value[flag]))
            patch.append(PatchOperation("remove", f"{before.pointer}/{flag}"))
    if flow.routing is not None:
        targets = flow.routing.get(before.id, [])
        patch.append(PatchOperation("add", f"/routing_model/{escape_key(new['id'])}", targets))
        patch.append(PatchOperation("add", f"/routing_model/{escape_key(before.id)}", [new["id"]]))
    return apply_patch(document, patch)


def with_action(document: Any, pointer: str, name: str) -> Any:
    """Return the document with an action of this name at a pointer.

    It keeps the properties it shares with the action before. The screen of a Footer becomes
    terminal if the action ends the flow, which then sends all inputs, or else is no longer so.
    """
    try:
        before = get_value(document, pointer)
    except LookupError:
        before = None
    edited = apply_patch(document, [PatchOperation("add", pointer, make_action(name, before))])
    footers = [each for each in read_nodes(edited).actions if each.owner.type == "Footer"]
    action = next((each for each in footers if each.pointer == pointer), None)
    if action is None:
        return edited
    screen = action.screen
    if name == "complete":
        edited = apply_patch(edited, [PatchOperation("add", f"{screen.pointer}/terminal", True)])
    elif not any(each.screen is screen and each.name in ENDING_ACTIONS for each in footers):
        flags = [f"{screen.pointer}/{key}" for key in _END_FLAGS if key in screen.value]
        edited = apply_patch(edited, [PatchOperation("remove", flag) for flag in flags])
    return _with_answers_sent(edited) if name in ENDING_ACTIONS else edited


def without_part(document: Any, pointer: str) -> Any:
    """Return the document without a screen, component or option.

    The values of its inputs are removed from payloads.
    """
    before = read_nodes(document)
    edited = apply_patch(document, make_removal_patch(pointer))
    after = read_nodes(edited)
    removed = {(one.id, name) for one in before.screens for name in one.fields}
    removed -= {(one.id, name) for one in after.screens for name in one.fields}
    dangling: list[PatchOperation] = []
    for action in after.actions:
        for key, value in (action.payload or {}).items():
            reference = parse_reference(value) if isinstance(value, str) else None
            if reference and reference.store == "form":
                home = action.screen.id if reference.screen is None else reference.screen
                if (home, reference.path[0]) in removed:
                    dangling += make_removal_patch(f"{action.pointer}/payload/{escape_key(key)}")
    return apply_patch(edited, dangling)


def with_name(document: Any, pointer: str, name: str) -> Any:
    """Return the document with a screen, an input or a case renamed.

    Raises:
        InputError: It has no name that could be changed, the name is empty, or another screen,
            an input of the same screen, or another case has it: references to that would be
            mixed up with those to this one.
    """
    if not name.strip():
        raise InputError("It needs a name.")
    path = split_pointer(pointer)
    part = get_value(document, pointer)
    if len(path) == 2 and path[0] == "screens" and isinstance(part, dict):
        return _rename_screen(document, int(path[1]), part.get("id"), name)
    if len(path) > 4 and isinstance(part, dict) and path[-1].isdecimal() and "type" in part:
        return _rename_input(document, int(path[1]), path, part.get("name"), name)
    if len(path) > 1 and path[-2] == "cases":
        return _change_at(document, path[:-1], lambda cases: _rename_key(cases, path[-1], name))
    raise InputError(f"What stands at {pointer or 'the top'} has no name to change.")


def _rename_screen(document: Any, index: int, old: object, new: str) -> Any:
    """Rename a screen, also in routes, targets and references unless another has its id."""
    screens = document["screens"]
    ids = [one.get("id") for one in screens if isinstance(one, dict)]
    _require_free(new, ids, old)
    document = _change_at(document, ["screens", str(index), "id"], lambda _: new)
    if not isinstance(old, str) or not old or ids.count(old) > 1:
        return document

    def rename_target(key: str, value: Any) -> Any:
        if key == "next" and isinstance(value, dict) and value.get("name") == old:
            return {**value, "name": new}
        return value

    made = _map_values(document, _make_reference_renamer("${screen.", old, new), rename_target)
    routes = made.get("routing_model")
    if isinstance(routes, dict) and (new not in routes or new == old):
        made["routing_model"] = {
            new if key == old else key: [new if one == old else one for one in some]
            if isinstance(some, list)
            else some
            for key, some in routes.items()
        }
    return made


def _rename_input(document: Any, screen: int, path: list[str], old: object, new: str) -> Any:
    """Rename an input, also in the references to it unless another of the screen has its name."""
    inputs = [
        one.get("name") for one in _iterate_objects(document["screens"][screen]) if "type" in one
    ]
    _require_free(new, inputs, old)
    document = _change_at(document, [*path, "name"], lambda _: new)
    if not isinstance(old, str) or not old:
        return document
    own = document["screens"][screen]
    if any(one.get("name") == old for one in _iterate_objects(own) if "type" in one):
        return document  # another input has it too: references may be to that one

    def rename_in(key: str, value: Any) -> Any:
        if key in _FORM_MAPS and isinstance(value, dict):
            others = {each: inner for each, inner in value.items() if each != new or old == new}
            return {new if each == old else each: inner for each, inner in others.items()}
        if key == "sensitive" and isinstance(value, list):
            return [new if one == old else one for one in value]
        return value

    renamer = _make_reference_renamer("${form.", old, new)
    made = _change_at(document, path[:2], lambda one: _map_values(one, renamer, rename_in))
    if not isinstance(own.get("id"), str):
        return made
    return _map_values(made, _make_reference_renamer(f"${{screen.{own['id']}.form.", old, new))


def _make_reference_renamer(prefix: str, old: str, new: str) -> Callable[[str], str]:
    """Return a function that renames, in a text, the references that begin with a prefix."""
    pattern = re.compile(rf"({re.escape(prefix)}){re.escape(old)}(?=[.}}])")
    return lambda text: pattern.sub(lambda match: match[1] + new, text)


def _require_free(new: str, names: Iterable[object], old: object) -> None:
    if new != old and new in names:
        raise InputError(f"There is a {new} already: choose another name.")


def _rename_key(value: Any, old: str, new: str) -> Any:
    """Return an object with a key renamed, in its position."""
    _require_free(new, value, old)
    return {new if key == old else key: inner for key, inner in value.items()}


def _change_at(value: Any, path: list[str], change: Callable[[Any], Any]) -> Any:
    """Return a document with the value at a path changed by a function."""
    return change_at_path(
        value,
        path[:-1],
        path[-1],
        lambda around, key: set_item(around, key, change(get_item(around, key, None))),
    )


def copy_with_new_names(value: Any, document: Any) -> Any:
    """Return a copy of a screen, component or option with ids and names of its own."""
    return _copy_renamed(value, set(list_names(document)))


def _copy_renamed(value: Any, taken: set[str]) -> Any:
    if not isinstance(value, dict):
        return value
    made = dict(value)
    if isinstance(made.get("id"), str):
        made["id"] = make_unused_name(made["id"], taken, letters="layout" in made)
    elif isinstance(made.get("name"), str) and isinstance(made.get("type"), str):
        made["name"] = make_unused_name(made["name"], taken)
    if "layout" not in made:  # on a screen of their own the names of components may stay
        for key in ("children", "then", "else"):
            if isinstance(made.get(key), list):
                made[key] = [_copy_renamed(one, taken) for one in made[key]]
    return made


def make_unused_name(name: str, taken: set[str], *, letters: bool = False) -> str:
    """Return a name that is not taken, with a number or `letters` appended, and take it."""
    stem, count = _NUMBERED.sub("", name) or name, 2
    made = name
    while made in taken:
        made = f"{stem}_{_make_letter_suffix(count) if letters else count}"
        count += 1
    taken.add(made)
    return made


def _make_letter_suffix(count: int) -> str:
    """Convert a number to letters, B for 2, since ids of screens hold no digits."""
    text = ""
    while count:
        count, rest = divmod(count - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def list_names(value: Any) -> list[str]:
    """Return all ids and names of a document of any shape."""
    held = (one.get(key) for one in _iterate_objects(value) for key in ("id", "name"))
    return [name for name in held if isinstance(name, str)]


def _iterate_objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects in a value, outer ones first."""
    waiting = deque([value])
    while waiting:
        one = waiting.popleft()
        if isinstance(one, dict):
            yield one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _map_values(
    value: Any,
    map_text: Callable[[str], str],
    map_item: Callable[[str, Any], Any] = lambda _, value: value,
) -> Any:
    """Return a copy of a value with all texts and all properties changed by functions."""
    if isinstance(value, str):
        return map_text(value)
    if isinstance(value, list):
        return [_map_values(one, map_text, map_item) for one in value]
    if isinstance(value, dict):
        mapped = {key: _map_values(inner, map_text, map_item) for key, inner in value.items()}
        return {key: map_item(key, inner) for key, inner in mapped.items()}
    return value
