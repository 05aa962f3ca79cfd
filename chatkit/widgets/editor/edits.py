"""Edits of a flow document as functions: each returns a changed copy, still wired together.

What can be added depends on the row of the tree. A new input is sent with the others; a new screen
takes over how the one before it went on, and that one leads to it. What is taken out goes with
what was sent of it. A new name is written wherever the document has the old one, and a copy gets
names of its own.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from chatkit.errors import InputError
from chatkit.flowjson.components import (
    COMPONENTS,
    RECOMMENDED,
    ComponentShape,
    Property,
    Shape,
    Version,
)
from chatkit.flowjson.lint import lint
from chatkit.flowjson.nodes import FlowNode, ScreenNode, parse_reference, read_nodes
from chatkit.flowjson.rules.action import PICKERS
from chatkit.flowjson.rules.reference import unsent_inputs
from chatkit.util.json import (
    PatchOperation,
    at,
    changed,
    child,
    escape,
    item,
    patched,
    removing,
    steps,
    with_value_at,
)
from chatkit.widgets.editor.tree import Branch

_SCREEN = "Screen"
ENDS = ("complete", "data_exchange")
_FLAGS = ("terminal", "success")  #: keys of a screen that ends the flow
_OWN = re.compile(r"\$\{(?=(?:data|form)\.)")  #: how a reference to the own screen begins
_NUMBERED = re.compile(r"_\d+$")
_MAPS = ("init-values", "error-messages")  #: keys of a Form that hold names of its inputs
_ELSE, _CASE = "Else", "Case"
#: What the platform says of a screen that has too many components, of one kind or in all.
_MOST = ("COMPONENT_TYPE_MAX_NUMBER_PER_SCREEN", "MAX_ALLOWED_COMPONENTS_PER_SCREEN")
_GROUPS = {
    "text": "Text",
    "input": "Inputs",
    "media input": "Inputs",
    "action": "Links and buttons",
    "media": "Pictures",
    "container": "Containers",
}
#: A group of offers: its name, and the names in it, each with a help.
Offer = tuple[str, list[tuple[str, str]]]


def additions_at(document: Any, row: Branch) -> list[Offer]:
    """List what can be added at a row."""
    if row.kind == "odd":
        return []
    offers: list[Offer] = []
    value = at(document, row.pointer)
    if row.kind == "item" and row.shape:
        return [("Here", [(row.shape.name.capitalize(), row.shape.about)])]
    if shape := _items(row):
        offers.append(("Inside", [(shape.name.capitalize(), shape.about)]))
    if row.name == "If" and row.kind == "component" and "else" not in value:
        offers.append(("Inside", [(_ELSE, "What stands here when the condition does not hold.")]))
    if row.name == "Switch" and row.kind == "component":
        offers.append(("Inside", [(_CASE, "What stands here for one more value.")]))
    if row.kind != "flow":
        version, around = _version(document), _around(document, row)
        known = [one for one in COMPONENTS.values() if one.is_known(version)]
        for label in dict.fromkeys(_GROUPS.values()):
            some = [
                (one.name, one.about)
                for one in known
                if _GROUPS[one.group] == label and (around is None or one.name in around.children)
            ]
            offers += [(label, some)] if some else []
    return [*offers, ("Flow", [(_SCREEN, "A new screen.")])]


def with_addition(document: Any, row: Branch, rows: list[Branch], what: str) -> tuple[Any, str]:
    """Return the document with something added at a row, and where that stands.

    Raises:
        InputError: It cannot stand there.
    """
    pointer, index, value = addition_for(document, row, rows, what)
    if index is None:
        return patched(document, [PatchOperation("add", pointer, value)]), pointer
    place = f"{pointer}/{index}"
    empty = [] if _list(document, pointer) else [PatchOperation("add", pointer, [])]
    made = patched(document, [*empty, PatchOperation("add", place, value)])
    if what == _SCREEN:
        return _led_to(made, index), place
    require_space(document, made, what)
    return _sent(made, f"{place}/name"), place


def require_space(document: Any, made: Any, what: str) -> None:
    """Refuse an addition by which a screen has more components than the platform takes.

    Raises:
        InputError: It has, and had not before.
    """
    before = {*_too_many(document)}
    for problem in _too_many(made):
        if problem not in before:
            raise InputError(f"{what} cannot be added here. {problem}")


def _too_many(document: Any) -> Iterator[str]:
    """Yield the components of which a screen has more than the platform takes, and what to do."""
    for finding in lint(document):
        if finding.severity == "error" and finding.code in _MOST:
            yield f"{finding.message} {finding.hint}"


def addition_for(
    document: Any, row: Branch, rows: list[Branch], what: str
) -> tuple[str, int | None, dict[str, Any] | list[Any]]:
    """Return where something goes, at which index of a list, and what it is at first.

    Raises:
        InputError: It cannot stand there.
    """
    offered = {name for _, some in additions_at(document, row) for name, _ in some}
    if what not in offered:
        raise InputError(f"{what} cannot be added here.")
    taken, version = names_in(document), _version(document)
    if what == _SCREEN:
        screens = document.get("screens")
        place = row.pointer.split("/")
        count = len(screens) if isinstance(screens, list) else 0
        return "/screens", int(place[2]) + 1 if len(place) > 2 else count, new_screen(taken)
    if what == _ELSE:
        return child(row.pointer, "else"), None, [new_component("TextBody")]
    if what == _CASE:
        cases = at(document, row.pointer).get("cases")
        name = unused("value", set(cases if isinstance(cases, dict) else ()))
        return child(child(row.pointer, "cases"), name), None, [new_component("TextBody")]
    if what not in COMPONENTS:
        shape = row.shape if row.kind == "item" else _items(row)
        around, _, index = row.pointer.rpartition("/")
        if row.kind == "item" and shape:
            return around, int(index) + 1, new_item(shape, taken, version)
        items = _list(document, row.into)
        return row.into, len(items), new_item(shape or Shape("", "", ()), taken, version)
    fields = _fields(document, row)
    others = (one for one in rows if one.kind == "screen" and one.pointer != row.pointer)
    target = next((one.name for one in others), "")
    made = new_component(what, taken, version, field=fields, target=target)
    if row.kind in ("screen", "slot") or row.name == "Form":
        items = _list(document, row.into)
        foot = bool(items) and isinstance(items[-1], dict) and items[-1].get("type") == "Footer"
        return row.into, len(items) - (foot and what != "Footer"), made
    around, _, index = row.pointer.rpartition("/")
    return around, int(index) + 1, made


def _version(document: Any) -> Version:
    stated = document.get("version") if isinstance(document, dict) else None
    return Version.parse(stated) or RECOMMENDED


def _items(row: Branch) -> Shape | None:
    """Return the shape of what a component lists."""
    prop = row.shape.property(row.into.rpartition("/")[2]) if row.shape and row.into else None
    return prop.item if prop and prop.kind == "items" and row.kind == "component" else None


def _list(document: Any, pointer: str) -> list[Any]:
    try:
        value = at(document, pointer)
    except LookupError:
        return []
    return value if isinstance(value, list) else []


def _around(document: Any, row: Branch) -> ComponentShape | None:
    """Return the container into which something would be added at a row, if there is one."""
    if row.kind == "screen":
        return None
    inside = row.kind == "slot" or row.name == "Form"
    place = row.pointer if inside else row.pointer.rpartition("/")[0]
    while place.count("/") > 4:
        value = at(document, place)
        kind = value.get("type") if isinstance(value, dict) else None
        if isinstance(kind, str) and (container := COMPONENTS.get(kind)) and container.children:
            return container
        place = place.rpartition("/")[0]
    return None


def _fields(document: Any, row: Branch) -> str:
    """Return a reference to an input of the screen, for an If or a Switch to ask."""
    for one in _objects_in(at(document, "/".join(row.pointer.split("/")[:3]))):
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
_WORDS = {
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


def new_component(
    kind: str,
    taken: Iterable[str] = (),
    version: Version = RECOMMENDED,
    *,
    field: str = "",
    target: str = "",
) -> dict[str, Any]:
    """Make a component with what it must have.

    Args:
        kind: Its type.
        taken: Names that it may not have.
        version: By whose rules.
        field: A reference for an If or a Switch to ask, like `${form.name}`.
        target: The screen to which it leads, if it leads to one.
    """
    shape = COMPONENTS[kind]
    made: dict[str, Any] = {"type": kind}
    for prop in shape.properties:
        if prop.name == "type" or not prop.is_required(version):
            continue
        if prop.name == "name":
            made["name"] = unused(_snake(kind), set(taken))
        else:
            made[prop.name] = _first(shape, prop, version, field or "${data.name}", target)
    if kind in PICKERS:
        made[PICKERS[kind]] = 1  # as many as may be by default are more than an answer may hold
    if kind == "NavigationList":
        made["on-click-action"] = new_action("navigate", _to(target))
    return made


def new_item(
    shape: Shape, taken: Iterable[str] = (), version: Version = RECOMMENDED
) -> dict[str, Any]:
    """Make an option, a target or a picture with what it must have."""
    known, made = set(taken), dict[str, Any]()
    for prop in shape.properties:
        if prop.is_required(version):
            made[prop.name] = (
                unused(shape.name.replace(" ", "_"), known)
                if prop.name == "id"
                else _first(shape, prop, version)
            )
    return made


def new_screen(taken: Iterable[str] = ()) -> dict[str, Any]:
    """Make a screen that ends the flow."""
    foot = {"type": "Footer", "label": "Done", "on-click-action": new_action("complete")}
    return {
        "id": unused("SCREEN", set(taken), letters=True),
        "title": "New screen",
        "terminal": True,
        "success": True,
        "layout": {"type": "SingleColumnLayout", "children": [foot]},
    }


def new_flow() -> dict[str, Any]:
    """Make a flow to begin with: one screen that says a word and ends."""
    first = new_screen() | {"id": "WELCOME", "title": "Welcome"}
    first["layout"]["children"].insert(0, new_component("TextHeading"))
    return {"version": str(RECOMMENDED), "screens": [first]}


def new_action(name: str, before: object = None) -> dict[str, Any]:
    """Make an action of this name; of the one before it keep what both have."""
    kept = before if isinstance(before, dict) else {}
    made: dict[str, Any] = {"name": name}
    if name == "navigate":
        made["next"] = kept.get("next", _to("")["next"])
    if name == "open_url":
        return made | {"url": kept.get("url", "https://example.com")}
    return made | {"payload": kept.get("payload", {})}


def _to(screen: str) -> dict[str, Any]:
    return {"next": {"type": "screen", "name": screen}}


def _first(
    shape: Shape, prop: Property, version: Version, field: str = "", target: str = ""
) -> Any:
    """Choose what a property holds at first."""
    match prop.kind:
        case "items" if prop.item is not None:
            most = 2 if shape.name == "ChipsSelector" else prop.least or 1
            made: list[dict[str, Any]] = []
            for number in range(1, most + 1):
                made.append(new_item(prop.item, [one.get("id", "") for one in made], version))
                if "title" in made[-1]:
                    made[-1]["title"] = f"Option {number}"
            return made
        case "object" if prop.item is not None:
            return new_item(prop.item, (), version)
        case "action":
            name = "complete" if shape.name == "Footer" else prop.allowed_actions(version)[-1]
            return new_action(name, _to(target))
        case "components":
            return [new_component("TextBody")] if prop.name == "then" else []
        case "cases":
            return {"yes": [new_component("TextBody")]}
        case "condition":
            return f"{field} != ''"
        case "reference":
            return field
        case "base64":
            return _PIXEL
        case _:
            return _WORDS.get(shape.name, "Choose" if shape.name in COMPONENTS else "New")


def _snake(kind: str) -> str:
    """Write TextInput as text_input."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).strip("_")


def _sent(document: Any, pointer: str | None = None) -> Any:
    """Send the answer of one input, or of all, where that is certain."""
    for component, patch in [*unsent_inputs(read_nodes(document))]:
        if pointer in (None, f"{component.pointer}/name"):
            document = patched(document, patch)
    return document


def _led_to(document: Any, index: int) -> Any:
    """Lead from the screen before a new one to it, and from there on as before."""
    now, new, end = read_nodes(document), document["screens"][index], f"/screens/{index}"
    before = next((each for each in now.screens if each.index == index - 1), None)
    feet = [each for each in before.actions if each.owner.type == "Footer"] if before else []
    if before is None or before.id is None or len(feet) != 1 or now.version < (4, 0):
        return document  # before 4.0 no screen can read what an earlier one asked
    here = f"${{screen.{before.id}."
    moved = _mapped(feet[0].value, lambda text: _OWN.sub(lambda _: here, text))
    to_new = new_action("navigate", _to(new["id"]))
    patch = [
        PatchOperation("add", f"{end}/layout/children/0/on-click-action", moved),
        PatchOperation("add", feet[0].pointer, to_new),
        PatchOperation("add", f"{feet[0].owner.pointer}/label", _WORDS["Footer"]),
    ]
    for flag in _FLAGS:
        patch.append(PatchOperation("remove", f"{end}/{flag}"))
        if flag in before.value:
            patch.append(PatchOperation("add", f"{end}/{flag}", before.value[flag]))
            patch.append(PatchOperation("remove", f"{before.pointer}/{flag}"))
    if now.routing is not None:
        ways = "/routing_model"
        onward = now.routing.get(before.id, [])
        patch.append(PatchOperation("add", f"{ways}/{escape(new['id'])}", onward))
        patch.append(PatchOperation("add", f"{ways}/{escape(before.id)}", [new["id"]]))
    return patched(document, patch)


def with_action(document: Any, pointer: str, name: str) -> Any:
    """Return the document with an action of this name at a place.

    It keeps what the one before had too. With the Footer that ends the flow goes that its
    screen is terminal; an end sends what was entered.
    """
    try:
        before = at(document, pointer)
    except LookupError:
        before = None
    made = patched(document, [PatchOperation("add", pointer, new_action(name, before))])
    feet = [each for each in read_nodes(made).actions if each.owner.type == "Footer"]
    action = next((each for each in feet if each.pointer == pointer), None)
    if action is None:
        return made
    screen = action.screen
    if name == "complete":
        made = patched(made, [PatchOperation("add", f"{screen.pointer}/terminal", True)])
    elif not any(each.screen is screen and each.name in ENDS for each in feet):
        flags = [f"{screen.pointer}/{key}" for key in _FLAGS if key in screen.value]
        made = patched(made, [PatchOperation("remove", flag) for flag in flags])
    return _sent(made) if name in ENDS else made


def without_part(document: Any, pointer: str) -> Any:
    """Return the document without a screen, component or option, and without what it was wired to.

    What was sent of its inputs is sent no more. The screen before one that goes on as that did.
    """
    before = read_nodes(document)
    screen = next((each for each in before.screens if each.pointer == pointer), None)
    made = document if screen is None else _bypassed(document, before, screen)
    made = patched(made, removing(pointer))
    after = read_nodes(made)
    gone = {(one.id, name) for one in before.screens for name in one.fields}
    gone -= {(one.id, name) for one in after.screens for name in one.fields}
    dangling: list[PatchOperation] = []
    for action in after.actions:
        for key, value in (action.payload or {}).items():
            reference = parse_reference(value) if isinstance(value, str) else None
            if reference and reference.store == "form":
                home = action.screen.id if reference.screen is None else reference.screen
                if (home, reference.path[0]) in gone:
                    dangling += removing(f"{action.pointer}/payload/{escape(key)}")
    return patched(made, dangling)


def _bypassed(document: Any, before: FlowNode, screen: ScreenNode) -> Any:
    """Lead from the one screen before another to what follows that other."""
    feet = [each for each in screen.actions if each.owner.type == "Footer"]
    to = [each for each in before.actions if each.name == "navigate" and each.target == screen.id]
    patch: list[PatchOperation] = []
    if len(to) == len(feet) == 1 and to[0].owner.type == "Footer" and to[0].screen is not screen:
        source = to[0].screen
        held = {
            key: value
            for key, value in (feet[0].payload or {}).items()
            if not (isinstance(value, str) and _OWN.search(value))  # what this screen asks
        }
        action = feet[0].value | ({"payload": held} if feet[0].payload else {})
        own = _mapped(action, lambda text: text.replace(f"${{screen.{source.id}.", "${"))
        patch.append(PatchOperation("add", to[0].pointer, own))
        patch += [
            PatchOperation("add", f"{source.pointer}/{flag}", screen.value[flag])
            for flag in _FLAGS
            if flag in screen.value
        ]
        if before.routing and source.id in before.routing:
            onward = before.routing.get(screen.id or "", [])
            patch.append(PatchOperation("add", f"/routing_model/{escape(source.id or '')}", onward))
    if before.routing and screen.id in before.routing:
        patch += removing(f"/routing_model/{escape(screen.id or '')}")
    return patched(document, patch)


def renamed(document: Any, pointer: str, name: str) -> Any:
    """Return the document with another name for what stands at a place.

    Raises:
        InputError: It has no name that could be changed, the name is empty, or another screen,
            an input of the same screen, or another case has it: references to that would be
            mixed up with those to this one.
    """
    if not name.strip():
        raise InputError("It needs a name.")
    way = steps(pointer)
    thing = at(document, pointer)
    if len(way) == 2 and way[0] == "screens" and isinstance(thing, dict):
        return _screen(document, int(way[1]), thing.get("id"), name)
    if len(way) > 4 and isinstance(thing, dict) and way[-1].isdecimal() and "type" in thing:
        return _field(document, int(way[1]), way, thing.get("name"), name)
    if len(way) > 1 and way[-2] == "cases":
        return _put(document, way[:-1], lambda cases: _key(cases, way[-1], name))
    raise InputError(f"What stands at {pointer or 'the top'} has no name to change.")


def _screen(document: Any, index: int, old: object, new: str) -> Any:
    """Rename a screen: in routes, targets and references, if no other has its name."""
    screens = document["screens"]
    ids = [one.get("id") for one in screens if isinstance(one, dict)]
    _require_free(new, ids, old)
    others = [one for one in ids if one == old]
    document = _put(document, ["screens", str(index), "id"], lambda _: new)
    if not isinstance(old, str) or not old or len(others) > 1:
        return document
    reference = re.compile(rf"(\$\{{screen\.){re.escape(old)}(?=[.}}])")

    def text(value: str) -> str:
        return reference.sub(lambda match: match[1] + new, value)

    def target(key: str, value: Any) -> Any:
        if key == "next" and isinstance(value, dict) and value.get("name") == old:
            return {**value, "name": new}
        return value

    made = _mapped(document, text, target)
    routes = made.get("routing_model")
    if isinstance(routes, dict) and (new not in routes or new == old):
        made["routing_model"] = {
            new if key == old else key: [new if one == old else one for one in some]
            if isinstance(some, list)
            else some
            for key, some in routes.items()
        }
    return made


def _field(document: Any, screen: int, way: list[str], old: object, new: str) -> Any:
    """Rename an input: in the references to it, from its own screen and from others."""
    inputs = [one.get("name") for one in _objects_in(document["screens"][screen]) if "type" in one]
    _require_free(new, inputs, old)
    document = _put(document, [*way, "name"], lambda _: new)
    if not isinstance(old, str) or not old:
        return document
    own = document["screens"][screen]
    if any(one.get("name") == old for one in _objects_in(own) if "type" in one):
        return document  # another input has it too: nobody knows which is meant
    here = re.compile(rf"(\$\{{form\.){re.escape(old)}(?=[.}}])")

    def local(value: str) -> str:
        return here.sub(lambda match: match[1] + new, value)

    def maps(key: str, value: Any) -> Any:
        if key in _MAPS and isinstance(value, dict):
            others = {each: inner for each, inner in value.items() if each != new or old == new}
            return {new if each == old else each: inner for each, inner in others.items()}
        if key == "sensitive" and isinstance(value, list):
            return [new if one == old else one for one in value]
        return value

    made = _put(document, ["screens", str(screen)], lambda one: _mapped(one, local, maps))
    if not isinstance(own.get("id"), str):
        return made
    elsewhere = re.compile(
        rf"(\$\{{screen\.{re.escape(own['id'])}\.form\.){re.escape(old)}(?=[.}}])"
    )
    return _mapped(made, lambda text: elsewhere.sub(lambda match: match[1] + new, text))


def _require_free(new: str, names: Iterable[object], old: object) -> None:
    if new != old and new in names:
        raise InputError(f"There is a {new} already: choose another name.")


def _key(value: Any, old: str, new: str) -> Any:
    """Write a key of an object otherwise, in its place."""
    _require_free(new, value, old)
    return {new if key == old else key: inner for key, inner in value.items()}


def _put(value: Any, way: list[str], change: Callable[[Any], Any]) -> Any:
    """Change what stands at the end of a way."""
    return changed(
        value,
        way[:-1],
        way[-1],
        lambda around, key: with_value_at(around, key, change(item(around, key, None))),
    )


def copied(value: Any, document: Any) -> Any:
    """Copy a screen, component or option so that no id and no name stands twice."""
    return _copied(value, set(names_in(document)))


def _copied(value: Any, taken: set[str]) -> Any:
    if not isinstance(value, dict):
        return value
    made = dict(value)
    if isinstance(made.get("id"), str):
        made["id"] = unused(made["id"], taken, letters="layout" in made)
    elif isinstance(made.get("name"), str) and isinstance(made.get("type"), str):
        made["name"] = unused(made["name"], taken)
    if "layout" not in made:  # on a screen of their own the names of components may stay
        for key in ("children", "then", "else"):
            if isinstance(made.get(key), list):
                made[key] = [_copied(one, taken) for one in made[key]]
    return made


def unused(name: str, taken: set[str], *, letters: bool = False) -> str:
    """Make a name that is not taken: with a number after it, or with letters alone."""
    stem, count = _NUMBERED.sub("", name) or name, 2
    made = name
    while made in taken:
        made = f"{stem}_{_letters(count) if letters else count}"
        count += 1
    taken.add(made)
    return made


def _letters(count: int) -> str:
    """Count in letters: B is the second, as ids of screens hold no digits."""
    text = ""
    while count:
        count, rest = divmod(count - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def names_in(value: Any) -> list[str]:
    """List all ids and names of a document, of any shape."""
    held = (one.get(key) for one in _objects_in(value) for key in ("id", "name"))
    return [name for name in held if isinstance(name, str)]


def _objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of a value, those outside before those within them."""
    waiting = deque([value])
    while waiting:
        one = waiting.popleft()
        if isinstance(one, dict):
            yield one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _mapped(
    value: Any,
    text: Callable[[str], str],
    item: Callable[[str, Any], Any] = lambda _, value: value,
) -> Any:
    """Copy a value with all its texts and all values of its keys changed."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return [_mapped(one, text, item) for one in value]
    if isinstance(value, dict):
        return {key: item(key, _mapped(inner, text, item)) for key, inner in value.items()}
    return value
