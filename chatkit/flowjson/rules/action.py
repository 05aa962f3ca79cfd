"""Actions: what may happen where, what each needs to know, and what its payload hands over.

The payload of navigate is held against the data model of the screen it goes to, that of
update_data against the data model of its own screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from chatkit.finding import Finding, Severity
from chatkit.flowjson.components import ACTIONS, NEXT
from chatkit.flowjson.outline import DEPTH, ActionNode, ComponentNode, Outline, ScreenNode
from chatkit.flowjson.property import Shape
from chatkit.flowjson.rules.expression import result
from chatkit.flowjson.rules.model import TYPES, fields, json_types, mismatches
from chatkit.flowjson.rules.reference import (
    Reference,
    Target,
    fits,
    is_expression,
    misspelled,
    named,
    references,
    resolve,
    types_of,
    whole,
)
from chatkit.util.json_pointer import PatchOperation, escape, removing

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
_ENDS = ("complete", "data_exchange")
_KEYS = frozenset(prop.name for action in ACTIONS.values() for prop in action.properties)


def check(outline: Outline) -> Iterator[Finding]:
    """Check every action of a flow, with its payload."""
    asking: ActionNode | None = None
    for action in outline.actions:
        yield from _name(outline, action)
        yield from _keys(outline, action)
        if action.name == "navigate":
            yield from _target(outline, action)
        elif action.name == "open_url":
            yield from _url(action)
        elif action.name == "complete" and not action.screen.terminal and _fits(outline, action):
            said = "complete stands on a screen that is not terminal."
            hint = 'Set "terminal": true on the screen, or navigate to one that is.'
            end = PatchOperation("add", f"{action.screen.pointer}/terminal", True)
            at = f"{action.pointer}/name"
            yield Finding("INVALID_COMPLETE_ACTION", "error", at, said, hint, patch=(end,))
        elif action.name == "data_exchange":
            asking = asking or action
        yield from _payload(outline, action)
    if asking is not None and not outline.endpoint:
        said = f"data_exchange ({asking.pointer}) asks an endpoint: data_api_version is missing."
        hint = 'Add "data_api_version": "3.0" and a routing_model, or use navigate or complete.'
        yield Finding("MISSING_REQUIRED_PROPERTY", "error", "/data_api_version", said, hint)
    yield from _feet(outline)
    yield from _twice(outline)


def allowed(outline: Outline, action: ActionNode) -> tuple[str, ...] | None:
    """Tell which actions may stand at this place; None when nothing is known of it."""
    shape: Shape | None = action.owner.shape
    if shape is not None and action.item is not None:
        key = action.pointer[len(action.owner.pointer) + 1 :].partition("/")[0]
        items = shape.property(key)
        shape = items.item if items is not None else None
    prop = shape.property(action.key) if shape is not None else None
    if prop is None or not prop.known(outline.version):
        return None  # that the property is out of place is for `structure` to say
    return prop.allowed_actions(outline.version)


def _fits(outline: Outline, action: ActionNode) -> bool:
    names = allowed(outline, action)
    return names is None or action.name in names


def _name(outline: Outline, action: ActionNode) -> Iterator[Finding]:
    pointer = f"{action.pointer}/name"
    if "name" not in action.value:
        yield _missing(pointer, "The action has no name.", "For example navigate.")
    elif action.name is None:
        yield _type(pointer, "The name of an action", "string", action.value["name"])
    else:
        names = allowed(outline, action)
        if names is None:
            names = tuple(name for name, each in ACTIONS.items() if each.since <= outline.version)
        if action.name not in names:
            why, known = "", ACTIONS.get(action.name)
            if known is not None and known.since > outline.version:
                why = f": it is known from version {known.since}"
            yield Finding(
                "INVALID_ENUM_VALUE",
                "error",
                pointer,
                f"{action.name} cannot stand in {action.key} here{why}.",
                f"Use one of: {', '.join(names)}.",
            )


def _keys(outline: Outline, action: ActionNode) -> Iterator[Finding]:
    """Check which keys are there, as the action's own shape tells."""
    shape = ACTIONS.get(action.name or "")
    selecting = action.key != "on-click-action" and _fits(outline, action)
    for key in action.value:
        pointer = f"{action.pointer}/{escape(str(key))}"
        if key not in _KEYS or (key in ("next", "url") and selecting):
            yield _unknown(pointer, f"An action knows no {key}.")
        elif key == "url" and outline.version < (6, 0):
            yield _unknown(pointer, "url is known from version 6.0.")
        elif shape is not None and shape.property(str(key)) is None:
            said = f"{action.name} takes no {key}."
            code = "NOT_KEYWORD_SCHEMA_VALIDATION_FAILED"
            yield Finding(code, "error", pointer, said, "Remove it.", patch=removing(pointer))
    for prop in shape.properties if shape is not None else ():
        if prop.needed(outline.version) and prop.name not in action.value:
            yield _missing(
                f"{action.pointer}/{prop.name}", f"{action.name} has no {prop.name}.", prop.about
            )
    given = action.value.get("payload")
    if "payload" in action.value and not isinstance(given, dict):
        yield _type(f"{action.pointer}/payload", "The payload", "object", given)


def _target(outline: Outline, action: ActionNode) -> Iterator[Finding]:
    following = action.value.get("next")
    pointer = f"{action.pointer}/next"
    if following is None:
        if "next" in action.value:
            yield _type(pointer, "next", "object", following)
        return
    if not isinstance(following, dict):
        yield _type(pointer, "next", "object", following)
        return
    for key in following:
        if NEXT.property(str(key)) is None:
            yield _unknown(f"{pointer}/{escape(str(key))}", f"next knows no {key}.")
    for key in ("name", "type"):
        if key not in following:
            said = f"next has no {key}."
            yield _missing(f"{pointer}/{key}", said, 'Write {"type": "screen", "name": "SECOND"}.')
        elif not isinstance(following[key], str):
            yield _type(f"{pointer}/{key}", f"{key} of next", "string", following[key])
    kind = following.get("type")
    if isinstance(kind, str) and kind != "screen":
        said = f"next is of type {kind}."
        hint = 'Only "screen" is documented.'
        yield Finding("INVALID_PROPERTY_VALUE", "warning", f"{pointer}/type", said, hint)
    name = action.target
    if name is None or whole(name) is not None or is_expression(name):
        return
    if name not in outline.by_id:
        yield _next(pointer, f"There is no screen {name}.", "Correct the name, or add the screen.")
    elif name == action.screen.id:
        yield _next(pointer, f"{name} navigates to itself.", "Name another screen.")


def _next(pointer: str, message: str, hint: str) -> Finding:
    code = "INVALID_NAVIGATE_ACTION_NEXT_SCREEN_NAME"
    return Finding(code, "error", f"{pointer}/name", message, hint)


def _url(action: ActionNode) -> Iterator[Finding]:
    url = action.value.get("url")
    pointer = f"{action.pointer}/url"
    if "url" not in action.value:
        return
    if not isinstance(url, str):
        yield _type(pointer, "url", "string", url)
    elif whole(url) is None and not is_expression(url):
        if not _URL.fullmatch(url):
            said = "url is not a web address."
            hint = "Write it in full: https://…"
            yield Finding("INVALID_PROPERTY_VALUE_FORMAT", "error", pointer, said, hint)
        elif not url.lower().startswith("https://"):
            said = "url does not start with https://."
            hint = "Phones may refuse to open it."
            yield Finding("INVALID_PROPERTY_VALUE_FORMAT", "warning", pointer, said, hint)


def _feet(outline: Outline) -> Iterator[Finding]:
    """Check that the Footer of a terminal screen ends the flow."""
    for screen in outline.screens:
        if not screen.terminal:
            continue
        foot = next((each for each in screen.components if each.type == "Footer"), None)
        actions = (each for each in screen.actions if each.owner is foot)
        action = next((each for each in actions if each.key == "on-click-action"), None)
        if action is None or action.name is None or action.name in _ENDS:
            continue
        severity: Severity = "error" if outline.version >= (7, 3) else "warning"
        said = f"The Footer of a terminal screen cannot {action.name}: the flow would not end."
        hint = "Use complete, or data_exchange with an endpoint."
        yield Finding("INVALID_PROPERTY_VALUE", severity, f"{action.pointer}/name", said, hint)


def _twice(outline: Outline) -> Iterator[Finding]:
    """Find actions that stand both on a component and on its options."""
    told: set[tuple[str, str]] = set()
    for action in outline.actions:
        owner = action.owner
        place = (owner.pointer, action.key)
        if action.item is None or action.key == "on-click-action" or place in told:
            continue
        if action.key in owner.value:
            told.add(place)
            said = f"{action.key} stands on the {owner.type} and on its options."
            hint = "Keep one of both."
            yield Finding("INVALID_UPDATE_DATA_ACTION_PAYLOAD", "error", action.pointer, said, hint)


def _missing(pointer: str, message: str, hint: str) -> Finding:
    return Finding("MISSING_REQUIRED_PROPERTY", "error", pointer, message, hint)


def _unknown(pointer: str, message: str) -> Finding:
    code, hint = "INVALID_PROPERTY_KEY", "Remove it."
    return Finding(code, "error", pointer, message, hint, patch=removing(pointer))


def _type(pointer: str, what: str, wanted: str, found: object) -> Finding:
    message = f"{what} must be of type {wanted}, not {named(json_types(found))}."
    hint = f"Write a value of type {wanted}."
    return Finding("INVALID_PROPERTY_TYPE", "error", pointer, message, hint)


# --- what a payload hands over -------------------------------------------------------------

PICKERS = {"PhotoPicker": "max-uploaded-photos", "DocumentPicker": "max-uploaded-documents"}
FILES, FILE_KB, ALL_KB = 30, 25_600, 102_400  # of a picker, of a file, of an answer
MOST_FILES = 10


def _payload(outline: Outline, action: ActionNode) -> Iterator[Finding]:
    """Check the payload of one action."""
    if action.payload:
        held = [(below, text) for below, text in texts(action.payload) if "${" in text]
        yield from _references(outline, action, held)
        yield from _pickers(outline, action, held)
    if action.name == "navigate":
        yield from _navigate(outline, action)
    elif action.name == "update_data":
        yield from _update(outline, action)


def texts(payload: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """List the texts of a payload with their pointers below it."""
    waiting: list[tuple[str, object]] = [("", payload)]
    while waiting:
        pointer, value = waiting.pop()
        if isinstance(value, str):
            yield pointer, value
        elif pointer.count("/") >= DEPTH:
            continue
        elif isinstance(value, dict):
            waiting += [(f"{pointer}/{escape(str(key))}", value[key]) for key in reversed(value)]
        elif isinstance(value, list):
            waiting += [
                (f"{pointer}/{index}", value[index]) for index in reversed(range(len(value)))
            ]


def _references(
    outline: Outline, action: ActionNode, held: list[tuple[str, str]]
) -> Iterator[Finding]:
    """Follow the references of a payload, expressions aside."""
    for below, text in held:
        if is_expression(text):
            continue
        pointer = f"{action.pointer}/payload{below}"
        alone = whole(text) if below.count("/") == 1 else None
        severity: Severity = "error" if alone is not None else "warning"
        if below.count("/") == 1 and misspelled(text):
            yield _misused(pointer, f"{text} is not a reference.", "Write it as ${data.name}.")
        for reference in references(text):
            if reference.screen is not None and outline.version < (4, 0):
                problem = "other screens can be referred to from version 4.0"
            else:
                problem = resolve(outline, action.screen, reference).problem
            if problem:
                said = f"{reference.text} does not exist: {problem}."
                hint = "Correct the name."
                yield Finding("INVALID_ON_CLICK_ACTION_PAYLOAD", severity, pointer, said, hint)
            elif (
                outline.version < (4, 0)
                and (reference.store, action.owner.type) == ("form", "Footer")
                and action.owner.form is None
                and action.screen.forms
            ):
                yield Finding(
                    "INVALID_FOOTER_PAYLOAD_OUTSIDE_FORM",
                    "error",
                    pointer,
                    f"{reference.text}: before version 4.0 a Footer reads inputs only inside "
                    "their Form.",
                    "Move the Footer into the Form.",
                )


def _pickers(
    outline: Outline, action: ActionNode, held: list[tuple[str, str]]
) -> Iterator[Finding]:
    """Check where the files of a picker may go: not to a screen, and only on their own."""
    used: list[ComponentNode] = []
    for below, text in held:
        reference = whole(text)
        picker = resolve(outline, action.screen, reference).component if reference else None
        if picker is None or picker.type not in PICKERS:
            continue
        pointer = f"{action.pointer}/payload{below}"
        if action.name == "navigate":
            said = f"The files of a {picker.type} cannot be handed to a screen."
            yield _misused(pointer, said, "Refer to it where it is sent: ${screen.ID.form.name}.")
        elif below.count("/") > 1:
            said = f"The files of a {picker.type} stand alone: not inside a list or an object."
            yield _misused(pointer, said, "Give them a key of their own in the payload.")
        else:
            used.append(picker)
    if action.name == "complete" and used:
        yield from _files(outline, action, used)


def _files(outline: Outline, action: ActionNode, used: list[ComponentNode]) -> Iterator[Finding]:
    """Count the files an answer may hold."""
    pointer = f"{action.pointer}/payload"
    files = [_number(each, PICKERS[each.type or ""], FILES) for each in used]
    sizes = [_number(each, "max-file-size-kb", FILE_KB) for each in used]
    if outline.version < (5, 0):
        if sum(files) > 1:
            yield _misused(pointer, "An answer may hold one file.", "Allow one.", "warning")
        return
    if sum(files) > MOST_FILES:
        said = f"An answer holds at most {MOST_FILES} files; its pickers allow {sum(files):g}."
        hint = f"Lower {PICKERS[used[0].type or '']} ({FILES} when it is not set)."
        yield _misused(pointer, said, hint)
    size = sum(count * each for count, each in zip(files, sizes, strict=True))
    if size > ALL_KB:
        stated = all("max-file-size-kb" in each.value for each in used)
        said = f"An answer holds at most {ALL_KB} KB; its pickers allow {size:g}."
        hint = f"Lower max-file-size-kb ({FILE_KB} when it is not set)."
        yield _misused(pointer, said, hint, "error" if stated else "warning")


def _number(picker: ComponentNode, key: str, default: int) -> float:
    value = picker.value.get(key, default)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if number else default if key not in picker.value else 0


def _misused(pointer: str, message: str, hint: str, severity: Severity = "error") -> Finding:
    return Finding("INVALID_ON_CLICK_ACTION_PAYLOAD", severity, pointer, message, hint)


def _navigate(outline: Outline, action: ActionNode) -> Iterator[Finding]:
    """Hold a payload against the screen it goes to."""
    target = outline.by_id.get(action.target or "")
    wrong = "payload" in action.value and action.payload is None
    if target is None or target is action.screen or wrong:
        return
    code = "INVALID_NAVIGATE_ACTION_PAYLOAD"
    strict = not (6, 0) <= outline.version < (7, 3)
    severity: Severity = "error" if strict else "warning"
    wanted = {name: schema for name, _, schema in fields(target)}
    missing = [name for name in wanted if name not in (action.payload or {})]
    if missing and action.payload is None:
        said = f"{target.id} expects data, but navigate has no payload."
        hint = f"Add a payload with: {_some(missing)}."
        yield Finding("MISSING_NAVIGATION_ACTION_PAYLOAD", severity, action.pointer, said, hint)
    elif missing:
        said = f"{target.id} expects {_some(missing)}, which the payload does not hold."
        hint = "Add it, or take it out of the data model."
        yield Finding(code, severity, f"{action.pointer}/payload", said, hint)
    yield from _given(outline, action, target, wanted, code, severity)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def _update(outline: Outline, action: ActionNode) -> Iterator[Finding]:
    """Hold a payload against the data model of its own screen."""
    code = "INVALID_UPDATE_DATA_ACTION_PAYLOAD"
    wanted = {name: schema for name, _, schema in fields(action.screen)}
    yield from _given(outline, action, action.screen, wanted, code, "error")
    for key, value in (action.payload or {}).items():
        reference = whole(value) if isinstance(value, str) else None
        if reference is not None and reference.screen is None and reference.path[0] == key:
            at = f"{action.pointer}/payload/{escape(key)}"
            said = f"{key} is updated with its own value."
            hint = "Give another value, or leave it out."
            yield Finding(code, "error" if reference.store == "data" else "warning", at, said, hint)


def _given(
    outline: Outline,
    action: ActionNode,
    target: ScreenNode,
    wanted: dict[str, Any],
    code: str,
    severity: Severity,
) -> Iterator[Finding]:
    """Hold each value of a payload against the field it is for."""
    for key, value in (action.payload or {}).items():
        pointer = f"{action.pointer}/payload/{escape(str(key))}"
        reference = whole(value) if isinstance(value, str) else None
        if key not in wanted:
            # From 6.0 to 7.2 the platform looks at written-out values only.
            fixed = reference is None and "data" in target.value
            said = f"{target.id or 'The screen'} declares no data field {key}."
            hint = "Declare it there, or leave it out."
            yield Finding(code, "error" if fixed else severity, pointer, said, hint)
            continue
        schema = wanted[key]
        for where, problem in _differences(outline, action.screen, value, reference, schema):
            below = where and code == "INVALID_NAVIGATE_ACTION_PAYLOAD"
            told = "INVALID_NAVIGATE_ACTION_STATIC_DATA" if below else code
            said = f"{key} does not fit the data model of {target.id or 'the screen'}: {problem}."
            hint = "Change the value, or the type there."
            yield Finding(told, "error", f"{pointer}{where}", said, hint)


def _differences(
    outline: Outline, screen: ScreenNode, value: object, reference: Reference | None, schema: object
) -> Iterator[tuple[str, str]]:
    if reference is not None:
        found = resolve(outline, screen, reference)
        picker = found.component is not None and found.component.type in PICKERS
        problem = "" if found.problem or picker else _compared(outline, found, schema)
        if problem:
            yield "", problem
    elif isinstance(value, str) and is_expression(value):
        comes_to = result(outline, screen, value) if outline.version >= (6, 0) else frozenset()
        if not fits(comes_to, types_of(schema)):
            yield "", f"expected {named(types_of(schema))}, the expression is {named(comes_to)}"
    else:
        yield from mismatches(value, schema, bindings=True)


def _compared(outline: Outline, found: Target, wanted: object) -> str:
    """Compare two schemas once, however many actions hand the one over for the other."""
    if found.schema is None:
        return differs(found, wanted)
    pair = id(found.schema), id(wanted)
    if pair not in outline.compared:
        outline.compared[pair] = differs(found, wanted)
    return outline.compared[pair]


def differs(found: Target, wanted: object) -> str:
    """Say how what a reference leads to differs from a declared field; empty: it does not."""
    if not fits(found.types, types_of(wanted)):
        return f"expected {named(types_of(wanted))}, it is {named(found.types)}"
    given: object = found.schema
    if found.component is not None and found.types == {"array"}:
        given = {"type": "array", "items": {"type": "string"}}
    waiting: list[tuple[str, object, object, int]] = [("", given, wanted, 0)]
    while waiting:
        place, have, want, depth = waiting.pop()
        if not isinstance(have, dict) or not isinstance(want, dict) or depth > DEPTH:
            continue
        types, expected = types_of(have), types_of(want)
        if expected <= TYPES and not fits(types, expected):
            return f"expected {named(expected)} at {place or 'it'}, found {named(types)}"
        waiting.append((f"{place}[]", have.get("items"), want.get("items"), depth + 1))
        ours, theirs = have.get("properties"), want.get("properties")
        if isinstance(ours, dict) and isinstance(theirs, dict):
            odd = sorted(str(key) for key in ours.keys() ^ theirs.keys())
            if odd and "object" in expected:
                return f"only one of both declares {', '.join(odd)}"
            waiting += [(f"{place}.{key}", ours[key], theirs[key], depth + 1) for key in ours]
    return ""
