"""Actions: what may happen where, what each needs to know, and what its payload hands over.

The payload of navigate is held against the data model of the screen it goes to, that of
update_data against the data model of its own screen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from chatkit.flowjson.components import ACTIONS, NEXT, RECOMMENDED, Shape
from chatkit.flowjson.nodes import (
    DEPTH,
    ActionNode,
    Binding,
    ComponentNode,
    FlowNode,
    Reference,
    ScreenNode,
    Target,
    fits,
    is_expression,
    is_misspelled,
    meant,
    named,
    resolve,
    types_of,
    value_types,
    whole,
)
from chatkit.flowjson.rules import error, rule, warning
from chatkit.flowjson.rules.expression import result
from chatkit.flowjson.rules.reference import (
    MOST_FILES,
    TYPES,
    faulty,
    json_types,
    mismatches,
    unquoted,
)
from chatkit.flowjson.rules.shape import close, renamed, respelt
from chatkit.report import Finding, Severity
from chatkit.util.json import PatchOperation, child, escape, removing

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
_ENDS = ("complete", "data_exchange")
_KEYS = frozenset(prop.name for action in ACTIONS.values() for prop in action.properties)


@rule("action")
def check_action(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
    """Check one action, with its payload."""
    yield from _name(flow, action)
    yield from _keys(flow, action)
    if action.name == "navigate":
        yield from _target(flow, action)
        yield from _navigate(flow, action)
    elif action.name == "open_url":
        yield from _url(action)
    elif action.name == "update_data":
        yield from _update(flow, action)
    elif (
        action.name == "complete"
        and not action.screen.terminal
        and _fits(flow, action)
        and any(screen.terminal for screen in flow.screens)  # else reported of the flow
    ):
        message = "complete stands on a screen that is not terminal."
        hint = 'Set "terminal": true on the screen, or navigate to one that is.'
        end = PatchOperation("add", f"{action.screen.pointer}/terminal", True)
        yield error("INVALID_COMPLETE_ACTION", f"{action.pointer}/name", message, hint, (end,))
    yield from _references(flow, action)
    yield from _pickers(flow, action)


@rule("flow")
def check_endpoint(flow: FlowNode, _: FlowNode) -> Iterator[Finding]:
    """Check that there is an endpoint if an action asks one."""
    if flow.endpoint:
        return
    for action in flow.actions:
        if action.name == "data_exchange":
            message = (
                f"data_exchange ({action.pointer}) asks an endpoint: data_api_version is missing."
            )
            hint = 'Add "data_api_version": "3.0" and a routing_model, or use navigate or complete.'
            yield error("MISSING_REQUIRED_PROPERTY", "/data_api_version", message, hint)
            return


def allowed(flow: FlowNode, action: ActionNode) -> tuple[str, ...] | None:
    """Return the actions that may stand at this place; None when nothing is known of it."""
    shape: Shape | None = action.owner.shape
    if shape is not None and action.item is not None:
        key = action.pointer[len(action.owner.pointer) + 1 :].partition("/")[0]
        items = shape.by_name.get(key)
        shape = items.item if items is not None else None
    prop = shape.by_name.get(action.key) if shape is not None else None
    if prop is None or not prop.known(flow.version):
        return None  # that the property is out of place is for `structure` to say
    return prop.allowed_actions(flow.version)


def _fits(flow: FlowNode, action: ActionNode) -> bool:
    names = allowed(flow, action)
    return names is None or action.name in names


def _name(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
    pointer = f"{action.pointer}/name"
    if "name" not in action.value:
        yield _missing(pointer, "The action has no name.", "For example navigate.")
    elif action.name is None:
        yield _type(pointer, "The name of an action", "string", action.value["name"])
    else:
        names = allowed(flow, action)
        if names is None:
            names = tuple(name for name, each in ACTIONS.items() if each.since <= flow.version)
        if action.name not in names:
            why, known = "", ACTIONS.get(action.name)
            if known is not None and known.since > flow.version:
                why = f": it is known from version {known.since}"
            message = f"{action.name} cannot stand in {action.key} here{why}."
            like = action.name not in ACTIONS and meant(action.name, names)
            hint = f"Did you mean {like}?" if like else f"Use one of: {', '.join(names)}."
            patch = respelt(pointer, action.name, names) if like else ()
            yield error("INVALID_ENUM_VALUE", pointer, message, hint, patch)


def _keys(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
    """Check which keys are there, as the action's own shape tells."""
    shape = ACTIONS.get(action.name or "")
    selecting = action.key != "on-click-action" and _fits(flow, action)
    for key in action.value:
        if key not in _KEYS or (key in ("next", "url") and selecting):
            at, known = f"{action.pointer}/{escape(key)}", shape.by_name if shape else _KEYS
            yield _unknown(at, f"An action knows no {key}.", action.value, known)
        elif key == "url" and flow.version < (6, 0):
            message, hint = "url is known from version 6.0.", f'Write "version": "{RECOMMENDED}".'
            yield error("INVALID_PROPERTY_KEY", f"{action.pointer}/url", message, hint)
        elif shape is not None and key not in shape.by_name:
            at = f"{action.pointer}/{key}"
            code = "NOT_KEYWORD_SCHEMA_VALIDATION_FAILED"
            yield error(code, at, f"{action.name} takes no {key}.", "Remove it.", removing(at))
    for prop in shape.properties if shape is not None else ():
        if prop.name not in action.value and prop.needed(flow.version):
            yield _missing(
                f"{action.pointer}/{prop.name}", f"{action.name} has no {prop.name}.", prop.about
            )
    payload = action.value.get("payload")
    if "payload" in action.value and not isinstance(payload, dict):
        yield _type(f"{action.pointer}/payload", "The payload", "object", payload)


def _target(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
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
        if str(key) not in NEXT.by_name:
            message = f"next knows no {key}."
            yield _unknown(f"{pointer}/{escape(str(key))}", message, following, NEXT.by_name)
    for key in ("name", "type"):
        if key not in following:
            message = f"next has no {key}."
            yield _missing(
                f"{pointer}/{key}", message, 'Write {"type": "screen", "name": "SECOND"}.'
            )
        elif not isinstance(following[key], str):
            yield _type(f"{pointer}/{key}", f"{key} of next", "string", following[key])
    kind = following.get("type")
    if isinstance(kind, str) and kind != "screen":
        hint = 'Only "screen" is documented.'
        yield warning("INVALID_PROPERTY_VALUE", f"{pointer}/type", f"next is of type {kind}.", hint)
    name = action.target
    if name is None or whole(name) is not None or is_expression(name):
        return
    if name not in flow.by_id:
        ids = [each for each in flow.by_id if each != action.screen.id]
        patch = respelt(f"{pointer}/name", name, ids)
        hint = close(name, ids) if patch else "Correct the name, or add the screen."
        yield error(_NO_SCREEN, f"{pointer}/name", f"There is no screen {name}.", hint, patch)
    elif name == action.screen.id:
        message = f"{name} navigates to itself."
        yield error(_NO_SCREEN, f"{pointer}/name", message, "Name another screen.")


_NO_SCREEN = "INVALID_NAVIGATE_ACTION_NEXT_SCREEN_NAME"


def _url(action: ActionNode) -> Iterator[Finding]:
    url = action.value.get("url")
    pointer = f"{action.pointer}/url"
    if "url" not in action.value:
        return
    if not isinstance(url, str):
        yield _type(pointer, "url", "string", url)
    elif whole(url) is None and not is_expression(url):
        if not _URL.fullmatch(url):
            hint = "Write it in full: https://…"
            yield error("INVALID_PROPERTY_VALUE_FORMAT", pointer, "url is not a web address.", hint)
        elif not url.lower().startswith("https://"):
            message = "url does not start with https://."
            hint = "Phones may refuse to open it."
            yield warning("INVALID_PROPERTY_VALUE_FORMAT", pointer, message, hint)


@rule("screen")
def check_end(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Check that the Footer of a terminal screen ends the flow."""
    if not screen.terminal:
        return
    footer = next((each for each in screen.components if each.type == "Footer"), None)
    for action in screen.actions:
        if action.owner is footer and action.key == "on-click-action":
            if action.name is not None and action.name not in _ENDS:
                severity: Severity = "error" if flow.version >= (7, 3) else "warning"
                message = (
                    f"The Footer of a terminal screen cannot {action.name}: the flow would not end."
                )
                hint = "Use complete, or data_exchange with an endpoint."
                at = f"{action.pointer}/name"
                yield Finding("INVALID_PROPERTY_VALUE", severity, at, message, hint)
            return


@rule("screen")
def check_repeated(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Find actions that stand both on a component and on its options."""
    repeated = {
        (action.owner.pointer, action.key): action
        for action in reversed(screen.actions)
        if action.item is not None and action.key != "on-click-action"
        if action.key in action.owner.value
    }
    for action in repeated.values():
        message = f"{action.key} stands on the {action.owner.type} and on its options."
        hint = "Keep one of both."
        yield error("INVALID_UPDATE_DATA_ACTION_PAYLOAD", action.pointer, message, hint)


def _missing(pointer: str, message: str, hint: str) -> Finding:
    return error("MISSING_REQUIRED_PROPERTY", pointer, message, hint)


def _unknown(
    pointer: str, message: str, value: Mapping[str, Any], known: Collection[str]
) -> Finding:
    patch, hint = renamed(pointer, value, known), close(pointer.rpartition("/")[2], known)
    if not patch:
        patch, hint = removing(pointer), "Remove it."
    return error("INVALID_PROPERTY_KEY", pointer, message, hint, patch)


def _type(pointer: str, what: str, expected: str, value: object) -> Finding:
    message = f"{what} must be of type {expected}, not {named(json_types(value))}."
    return error("INVALID_PROPERTY_TYPE", pointer, message, f"Write a value of type {expected}.")


# --- what a payload hands over -------------------------------------------------------------

PICKERS = {"PhotoPicker": "max-uploaded-photos", "DocumentPicker": "max-uploaded-documents"}
FILES, FILE_KB, ALL_KB = 30, 25_600, 102_400  # of a picker, of a file, of an answer


def _references(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
    """Follow the references of a payload, expressions aside."""
    for binding in action.bound:
        text, pointer = binding.text, binding.pointer
        if binding.is_expression:
            continue
        code = "INVALID_ON_CLICK_ACTION_PAYLOAD"
        is_looked_at = binding.whole is not None or is_misspelled(text)
        severity: Severity = "error" if is_looked_at and _is_direct(action, binding) else "warning"
        yield from faulty(flow, action.screen, text, pointer, code, severity)
        yield from unquoted(flow, binding, "sent")
        if flow.version >= (4, 0) or action.owner.type != "Footer" or action.owner.form is not None:
            continue
        for reference, target in zip(binding.references, binding.targets, strict=True):
            if not target.problem and reference.store == "form" and action.screen.forms:
                yield error(
                    "INVALID_FOOTER_PAYLOAD_OUTSIDE_FORM",
                    pointer,
                    f"{reference.text}: before version 4.0 a Footer reads inputs only inside "
                    "their Form.",
                    "Move the Footer into the Form.",
                )


def _is_direct(action: ActionNode, binding: Binding) -> bool:
    """Return whether a text is the whole value of a key of the payload."""
    return binding.pointer.count("/") == action.pointer.count("/") + 2


def _pickers(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
    """Check where the files of a picker may go: not to a screen, and only on their own."""
    used: list[ComponentNode] = []
    for binding in action.bound:
        picker = binding.targets[0].component if binding.whole else None
        if picker is None or picker.type not in PICKERS:
            continue
        if action.name == "navigate":
            message = f"The files of a {picker.type} cannot be handed to a screen."
            yield _misused(
                binding.pointer, message, "Refer to it where it is sent: ${screen.ID.form.name}."
            )
        elif not _is_direct(action, binding):
            message = f"The files of a {picker.type} stand alone: not inside a list or an object."
            yield _misused(binding.pointer, message, "Give them a key of their own in the payload.")
        else:
            used.append(picker)
    if action.name == "complete" and used:
        yield from _files(flow, action, used)


def _files(flow: FlowNode, action: ActionNode, used: list[ComponentNode]) -> Iterator[Finding]:
    """Count the files an answer may hold."""
    pointer = f"{action.pointer}/payload"
    files = [_number(each, PICKERS[each.type or ""], FILES) for each in used]
    sizes = [_number(each, "max-file-size-kb", FILE_KB) for each in used]
    if flow.version < (5, 0):
        if sum(files) > 1:
            yield _misused(pointer, "An answer may hold one file.", "Allow one.", "warning")
        return
    if sum(files) > MOST_FILES:
        message = f"An answer holds at most {MOST_FILES} files; its pickers allow {sum(files):g}."
        hint = f"Lower {PICKERS[used[0].type or '']} ({FILES} when it is not set)."
        yield _misused(pointer, message, hint)
    size = sum(count * each for count, each in zip(files, sizes, strict=True))
    if size > ALL_KB:
        stated = all("max-file-size-kb" in each.value for each in used)
        message = f"An answer holds at most {ALL_KB} KB; its pickers allow {size:g}."
        hint = f"Lower max-file-size-kb ({FILE_KB} when it is not set)."
        yield _misused(pointer, message, hint, "error" if stated else "warning")


def _number(picker: ComponentNode, key: str, default: int) -> float:
    value = picker.value.get(key, default)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if number else default if key not in picker.value else 0


def _misused(pointer: str, message: str, hint: str, severity: Severity = "error") -> Finding:
    return Finding("INVALID_ON_CLICK_ACTION_PAYLOAD", severity, pointer, message, hint)


def _navigate(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
    """Check a payload against the data model of the screen it goes to."""
    target = flow.by_id.get(action.target or "")
    wrong = "payload" in action.value and action.payload is None
    if target is None or target is action.screen or wrong:
        return
    code = "INVALID_NAVIGATE_ACTION_PAYLOAD"
    strict = not (6, 0) <= flow.version < (7, 3)
    severity: Severity = "error" if strict else "warning"
    missing = [name for name in target.data if name not in (action.payload or {})]
    if missing and action.payload is None:
        message = f"{target.id} expects data, but navigate has no payload."
        hint = f"Add a payload with: {_some(missing)}."
        yield Finding("MISSING_NAVIGATION_ACTION_PAYLOAD", severity, action.pointer, message, hint)
    elif missing:
        message = f"{target.id} expects {_some(missing)}, which the payload does not hold."
        hint = "Add it, or take it out of the data model."
        yield Finding(code, severity, f"{action.pointer}/payload", message, hint)
    yield from _values(flow, action, target, code, severity)
    for key, value in (action.payload or {}).items():
        reference = whole(value) if isinstance(value, str) else None
        origin = _number_input(flow, action.screen, reference)
        if reference is not None and reference.store == "data" and origin:
            message = (
                f"{key} was entered as a number on {origin.screen.id}, and is handed on a second "
                "time: phones make a text of it there, and the flow stops."
            )
            hint = f"Read it where it is needed: ${{screen.{origin.screen.id}.form.{origin.name}}}."
            if flow.version < (4, 0):
                hint = "Let people enter it as text."
            at = f"{action.pointer}/payload/{escape(key)}"
            yield warning("INVALID_NAVIGATE_ACTION_PAYLOAD", at, message, hint)


def _number_input(
    flow: FlowNode, screen: ScreenNode, reference: Reference | None, depth: int = 8
) -> ComponentNode | None:
    """Return the input whose number a reference hands on, over whatever screens; or None."""
    home = flow.screen_of(screen, reference) if reference else None
    if reference is None or home is None or len(reference.path) > 1 or not depth:
        return None
    name = reference.path[0]
    if reference.store == "form":
        component = home.fields.get(name)
        return component if component and "number" in value_types(component) else None
    if (key := (id(home), name, depth)) not in flow.numbers:
        is_number = "number" in types_of(home.data.get(name))
        origins = (
            _number_input(flow, action.screen, whole(value), depth - 1)
            for action in (flow.actions if is_number else ())
            if action.name == "navigate" and action.target == home.id
            if isinstance(value := (action.payload or {}).get(name), str)
        )
        flow.numbers[key] = next(filter(None, origins), None)
    return flow.numbers[key]


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def _update(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
    """Check a payload against the data model of its own screen."""
    code = "INVALID_UPDATE_DATA_ACTION_PAYLOAD"
    yield from _values(flow, action, action.screen, code, "error")
    for key, value in (action.payload or {}).items():
        reference = whole(value.strip("`")) if isinstance(value, str) else None
        if reference is None or (reference.store, *reference.path) != ("data", key):
            continue
        if reference.screen in (None, action.screen.id):
            at = f"{action.pointer}/payload/{escape(key)}"
            message = f"{key} is updated with its own value."
            yield error(code, at, message, "Give another value, or leave it out.")


def _values(
    flow: FlowNode,
    action: ActionNode,
    target: ScreenNode,
    code: str,
    severity: Severity,
) -> Iterator[Finding]:
    """Check each value of a payload against the field it is for."""
    for key, value in (action.payload or {}).items():
        reference = whole(value) if isinstance(value, str) else None
        if key not in target.data:
            at = child(f"{action.pointer}/payload", key)
            # From 6.0 to 7.2 the platform looks at written-out values only.
            fixed = reference is None and "data" in target.value
            message = f"{target.id or 'The screen'} declares no data field {key}."
            left = [name for name in target.data if name not in (action.payload or {})]
            patch = renamed(at, {}, left)
            hint = close(str(key), left) if patch else "Declare it there, or leave it out."
            level: Severity = "error" if fixed else severity
            yield Finding(code, level, at, message, hint, patch=patch)
            continue
        schema = target.data[key]
        for where, problem in _differences(flow, action.screen, value, reference, schema):
            at = child(f"{action.pointer}/payload", key) + where
            below = where and code == "INVALID_NAVIGATE_ACTION_PAYLOAD"
            code_below = "INVALID_NAVIGATE_ACTION_STATIC_DATA" if below else code
            message = (
                f"{key} does not fit the data model of {target.id or 'the screen'}: {problem}."
            )
            yield error(code_below, at, message, "Change the value, or the type there.")


def _differences(
    flow: FlowNode,
    screen: ScreenNode,
    value: object,
    reference: Reference | None,
    schema: object,
) -> Iterator[tuple[str, str]]:
    if reference is not None:
        target = resolve(flow, screen, reference)
        picker = target.component is not None and target.component.type in PICKERS
        problem = "" if target.problem or picker else _compared(flow, target, schema)
        if problem:
            yield "", problem
    elif isinstance(value, str) and is_expression(value):
        comes_to = result(flow, screen, value) if flow.version >= (6, 0) else frozenset()
        if not fits(comes_to, types_of(schema)):
            yield "", f"expected {named(types_of(schema))}, the expression is {named(comes_to)}"
    else:
        yield from mismatches(value, schema, bindings=True)


def _compared(flow: FlowNode, target: Target, declared: object) -> str:
    """Compare two schemas once, however many actions hand the one over for the other."""
    if target.schema is None:
        return differs(target, declared)
    pair = id(target.schema), id(declared)
    if pair not in flow.compared:
        flow.compared[pair] = differs(target, declared)
    return flow.compared[pair]


def differs(target: Target, declared: object) -> str:
    """Return how the target of a reference differs from a declared field; empty if it does not."""
    if not fits(target.types, types_of(declared)):
        return f"expected {named(types_of(declared))}, it is {named(target.types)}"
    schema: object = target.schema
    if target.component is not None and target.types == {"array"}:
        schema = {"type": "array", "items": {"type": "string"}}
    waiting: list[tuple[str, object, object, int]] = [("", schema, declared, 0)]
    while waiting:
        place, have, want, depth = waiting.pop()
        if not isinstance(have, dict) or not isinstance(want, dict) or depth > DEPTH:
            continue
        types, expected = types_of(have), types_of(want)
        if expected <= TYPES and not fits(types, expected):
            return f"expected {named(expected)} at {place or 'it'}, found {named(types)}"
        waiting.append((f"{place}[]", have.get("items"), want.get("items"), depth + 1))
        properties, expected_properties = have.get("properties"), want.get("properties")
        if isinstance(properties, dict) and isinstance(expected_properties, dict):
            different = sorted(str(key) for key in properties.keys() ^ expected_properties.keys())
            if different and "object" in expected:
                return f"only one of both declares {', '.join(different)}"
            waiting += [
                (f"{place}.{key}", properties[key], expected_properties[key], depth + 1)
                for key in properties
            ]
    return ""
