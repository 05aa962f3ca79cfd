"""Rules of actions: their places, their properties, and the values in their payloads.

The payload of navigate is checked against the data model of the screen it goes to, that of
update_data against the data model of its own screen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from chatkit.flowjson.components import ACTIONS, NEXT, RECOMMENDED, Shape
from chatkit.flowjson.nodes import (
    MAX_DEPTH,
    ActionNode,
    Binding,
    ComponentNode,
    FlowNode,
    Reference,
    ScreenNode,
    Target,
    find_closest_name,
    get_input_types,
    is_compatible,
    is_expression,
    is_misspelled_reference,
    join_type_names,
    parse_reference,
    read_schema_types,
    resolve_reference,
)
from chatkit.flowjson.rules import error, rule, warning
from chatkit.flowjson.rules.expression import infer_expression_types
from chatkit.flowjson.rules.reference import (
    MOST_FILES,
    SCHEMA_TYPES,
    find_json_types,
    find_schema_mismatches,
    report_comparison,
    report_faults,
)
from chatkit.flowjson.rules.shape import mend_word, patch_key, patch_spelling, suggest_word
from chatkit.report import Finding, Severity
from chatkit.util.display import values
from chatkit.util.json import PatchOperation, append_to_pointer, escape_key, make_removal_patch

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
_ENDING_ACTIONS = ("complete", "data_exchange")
_KNOWN_KEYS = frozenset(prop.name for action in ACTIONS.values() for prop in action.properties)


@rule("action")
def check_action(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
    """Check an action and its payload."""
    yield from _check_name(flow, action)
    yield from _check_keys(flow, action)
    if action.name == "navigate":
        yield from _check_next(flow, action)
        yield from _check_navigate_payload(flow, action)
    elif action.name == "open_url":
        yield from _check_url(action)
    elif action.name == "update_data":
        yield from _check_update_payload(flow, action)
    elif (
        action.name == "complete"
        and not action.screen.terminal
        and _is_allowed(flow, action)
        and any(screen.terminal for screen in flow.screens)  # else reported of the flow
    ):
        message = "complete stands on a screen that is not terminal."
        hint = 'Set "terminal": true on the screen, or navigate to one that is.'
        end = PatchOperation("add", f"{action.screen.pointer}/terminal", True)
        yield error("INVALID_COMPLETE_ACTION", f"{action.pointer}/name", message, hint, (end,))
    yield from _check_references(flow, action)
    yield from _check_picker_files(flow, action)


@rule("flow")
def check_endpoint(flow: FlowNode, _: FlowNode) -> Iterator[Finding]:
    """Check that there is an endpoint if an action asks one."""
    asking = next((each for each in flow.actions if each.name == "data_exchange"), None)
    if asking is not None and not flow.endpoint:
        message = f"data_exchange ({asking.pointer}) asks an endpoint: data_api_version is missing."
        hint = 'Add "data_api_version": "3.0" and a routing_model, or use navigate or complete.'
        yield _report_missing_property("/data_api_version", message, hint)


def find_allowed_actions(flow: FlowNode, action: ActionNode) -> tuple[str, ...] | None:
    """Return the names of actions allowed at the place of an action; None if not known."""
    shape: Shape | None = action.owner.shape
    if shape is not None and action.item is not None:
        key = action.pointer[len(action.owner.pointer) + 1 :].partition("/")[0]
        items = shape.by_name.get(key)
        shape = items.item if items is not None else None
    prop = shape.by_name.get(action.key) if shape is not None else None
    if prop is None or not prop.is_known(flow.version):
        return None  # that the property is out of place is for `structure` to say
    return prop.allowed_actions(flow.version)


def _is_allowed(flow: FlowNode, action: ActionNode) -> bool:
    names = find_allowed_actions(flow, action)
    return names is None or action.name in names


def _check_name(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
    pointer = f"{action.pointer}/name"
    if "name" not in action.value:
        yield _report_missing_property(pointer, "The action has no name.", "For example navigate.")
    elif action.name is None:
        yield _report_wrong_type(pointer, "The name of an action", "string", action.value["name"])
    else:
        names = find_allowed_actions(flow, action)
        if names is None:
            names = tuple(name for name, each in ACTIONS.items() if each.since <= flow.version)
        if action.name not in names:
            reason, known = "", ACTIONS.get(action.name)
            if known is not None and known.since > flow.version:
                reason = f": it is known from version {known.since}"
            message = f"{action.name} cannot stand in {action.key} here{reason}."
            like = action.name not in ACTIONS and find_closest_name(action.name, names)
            hint = f"Did you mean {like}?" if like else f"Use one of: {', '.join(names)}."
            patch = patch_spelling(pointer, action.name, names) if like else ()
            yield error("INVALID_ENUM_VALUE", pointer, message, hint, patch)


def _check_keys(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
    """Check the keys of an action against its shape."""
    shape = ACTIONS.get(action.name or "")
    selecting = action.key != "on-click-action" and _is_allowed(flow, action)
    for key in action.value:
        if key not in _KNOWN_KEYS or (key in ("next", "url") and selecting):
            pointer = f"{action.pointer}/{escape_key(key)}"
            known = shape.by_name if shape else _KNOWN_KEYS
            yield _report_unknown_key(pointer, f"An action knows no {key}.", action.value, known)
        elif key == "url" and flow.version < (6, 0):
            message, hint = "url is known from version 6.0.", f'Write "version": "{RECOMMENDED}".'
            yield error("INVALID_PROPERTY_KEY", f"{action.pointer}/url", message, hint)
        elif shape is not None and key not in shape.by_name:
            pointer, code = f"{action.pointer}/{key}", "NOT_KEYWORD_SCHEMA_VALIDATION_FAILED"
            message, patch = f"{action.name} takes no {key}.", make_removal_patch(pointer)
            yield error(code, pointer, message, "Remove it.", patch)
    for prop in shape.properties if shape is not None else ():
        if prop.name not in action.value and prop.is_required(flow.version):
            message = f"{action.name} has no {prop.name}."
            hint = _write_next(flow, action) if prop.name == "next" else prop.about
            yield _report_missing_property(f"{action.pointer}/{prop.name}", message, hint)
    payload = action.value.get("payload")
    if "payload" in action.value and not isinstance(payload, dict):
        yield _report_wrong_type(f"{action.pointer}/payload", "The payload", "object", payload)


def _check_next(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
    following = action.value.get("next")
    pointer = f"{action.pointer}/next"
    if not isinstance(following, dict):
        if "next" in action.value:
            yield _report_wrong_type(pointer, "next", "object", following)
        return
    for key in following:
        if str(key) not in NEXT.by_name:
            place, message = f"{pointer}/{escape_key(str(key))}", f"next knows no {key}."
            yield _report_unknown_key(place, message, following, NEXT.by_name)
    for key in ("name", "type"):
        if key not in following:
            message = f"next has no {key}."
            yield _report_missing_property(f"{pointer}/{key}", message, _write_next(flow, action))
        elif not isinstance(following[key], str):
            yield _report_wrong_type(f"{pointer}/{key}", f"{key} of next", "string", following[key])
    kind = following.get("type")
    if isinstance(kind, str) and kind != "screen":
        hint = 'Only "screen" is documented.'
        yield warning("INVALID_PROPERTY_VALUE", f"{pointer}/type", f"next is of type {kind}.", hint)
    name = action.target
    if name is None or parse_reference(name) is not None or is_expression(name):
        return
    if name not in flow.by_id:
        ids = [each for each in flow.by_id if each != action.screen.id]
        place, otherwise = f"{pointer}/name", "Correct the name, or add the screen."
        mend = mend_word(place, name, ids, otherwise)
        yield error(_NO_SCREEN, place, f"There is no screen {name}.", *mend)
    elif name == action.screen.id:
        message = f"{name} navigates to itself."
        yield error(_NO_SCREEN, f"{pointer}/name", message, "Name another screen.")


def _write_next(flow: FlowNode, action: ActionNode) -> str:
    """Return how next is written, with its own screen or another one of the document."""
    others = (each for each in flow.by_id if each != action.screen.id)
    form = {"type": "screen", "name": action.target or next(others, "SECOND")}
    return f'Write "next": {values(form)}.'


_NO_SCREEN = "INVALID_NAVIGATE_ACTION_NEXT_SCREEN_NAME"


def _check_url(action: ActionNode) -> Iterator[Finding]:
    url = action.value.get("url")
    pointer = f"{action.pointer}/url"
    if "url" not in action.value:
        return
    if not isinstance(url, str):
        yield _report_wrong_type(pointer, "url", "string", url)
    elif parse_reference(url) is None and not is_expression(url):
        if not _URL.fullmatch(url):
            hint = "Write it in full: https://…"
            yield error("INVALID_PROPERTY_VALUE_FORMAT", pointer, "url is not a web address.", hint)
        elif not url.lower().startswith("https://"):
            message = "url does not start with https://."
            hint = "Phones may refuse to open it."
            yield warning("INVALID_PROPERTY_VALUE_FORMAT", pointer, message, hint)


@rule("screen")
def check_ending_footer(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Check that the Footer of a terminal screen ends the flow."""
    footer = next((each for each in screen.components if each.type == "Footer"), None)
    clicks = (each for each in screen.actions if each.owner is footer)
    action = next((each for each in clicks if each.key == "on-click-action"), None)
    if screen.terminal and action is not None and action.name not in (None, *_ENDING_ACTIONS):
        severity: Severity = "error" if flow.version >= (7, 3) else "warning"
        message = f"The Footer of a terminal screen cannot {action.name}: the flow would not end."
        hint = "Use complete, or data_exchange with an endpoint."
        pointer = f"{action.pointer}/name"
        yield Finding("INVALID_PROPERTY_VALUE", severity, pointer, message, hint)


@rule("screen")
def check_repeated_actions(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Find actions that stand on a component and on its options too."""
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


def _report_missing_property(pointer: str, message: str, hint: str) -> Finding:
    return error("MISSING_REQUIRED_PROPERTY", pointer, message, hint)


def _report_unknown_key(
    pointer: str, message: str, value: Mapping[str, Any], known: Collection[str]
) -> Finding:
    patch, hint = patch_key(pointer, value, known), suggest_word(pointer.rpartition("/")[2], known)
    if not patch:
        patch, hint = make_removal_patch(pointer), "Remove it."
    return error("INVALID_PROPERTY_KEY", pointer, message, hint, patch)


def _report_wrong_type(pointer: str, subject: str, expected: str, value: object) -> Finding:
    types = join_type_names(find_json_types(value))
    message = f"{subject} must be of type {expected}, not {types}."
    return error("INVALID_PROPERTY_TYPE", pointer, message, f"Write a value of type {expected}.")


# --- payloads ------------------------------------------------------------------------------

PICKERS = {"PhotoPicker": "max-uploaded-photos", "DocumentPicker": "max-uploaded-documents"}
#: Files of a picker and KB of a file that state no number, and most KB of an answer.
DEFAULT_FILES, DEFAULT_FILE_KB, MOST_ANSWER_KB = 30, 25_600, 102_400


def _check_references(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
    """Check the references in a payload, except in expressions."""
    for binding in action.bound:
        text, pointer = binding.text, binding.pointer
        if binding.is_expression:
            continue
        code = "INVALID_ON_CLICK_ACTION_PAYLOAD"
        is_reference = binding.sole_reference is not None or is_misspelled_reference(text)
        is_checked = is_reference and _is_payload_value(action, binding)
        severity: Severity = "error" if is_checked else "warning"
        yield from report_faults(flow, action.screen, text, pointer, code, severity)
        yield from report_comparison(flow, binding, "sent")
        if flow.version >= (4, 0) or action.owner.type != "Footer" or action.owner.form is not None:
            continue
        for reference, target in zip(binding.references, binding.targets, strict=True):
            if not target.problem and reference.store == "form" and action.screen.forms:
                message = f"{reference.text}: before version 4.0 a Footer reads inputs only inside "
                message += "their Form."
                hint, code = "Move the Footer into the Form.", "INVALID_FOOTER_PAYLOAD_OUTSIDE_FORM"
                yield error(code, pointer, message, hint)


def _is_payload_value(action: ActionNode, binding: Binding) -> bool:
    """Return whether a text is the whole value of a key of the payload."""
    return binding.pointer.count("/") == action.pointer.count("/") + 2


def _check_picker_files(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
    """Check that the files of a picker are sent, and not inside a list or an object."""
    used: list[ComponentNode] = []
    for binding in action.bound:
        picker = binding.targets[0].component if binding.sole_reference else None
        if picker is None or picker.type not in PICKERS:
            continue
        if action.name == "navigate":
            message = f"The files of a {picker.type} cannot be handed to a screen."
            hint = "Refer to it where it is sent: ${screen.ID.form.name}."
            yield _report_payload(binding.pointer, message, hint)
        elif not _is_payload_value(action, binding):
            message = f"The files of a {picker.type} stand alone: not inside a list or an object."
            hint = "Give them a key of their own in the payload."
            yield _report_payload(binding.pointer, message, hint)
        else:
            used.append(picker)
    if action.name == "complete" and used:
        yield from _check_files(flow, action, used)


def _check_files(
    flow: FlowNode, action: ActionNode, pickers: list[ComponentNode]
) -> Iterator[Finding]:
    """Check the number and the size of the files in an answer."""
    pointer = f"{action.pointer}/payload"
    files = [_read_picker_limit(each, PICKERS[each.type or ""], DEFAULT_FILES) for each in pickers]
    sizes = [_read_picker_limit(each, "max-file-size-kb", DEFAULT_FILE_KB) for each in pickers]
    if flow.version < (5, 0):
        if sum(files) > 1:
            yield _report_payload(pointer, "An answer may hold one file.", "Allow one.", "warning")
        return
    if sum(files) > MOST_FILES:
        message = f"An answer holds at most {MOST_FILES} files; its pickers allow {sum(files):g}."
        hint = f"Lower {PICKERS[pickers[0].type or '']} ({DEFAULT_FILES} when it is not set)."
        yield _report_payload(pointer, message, hint)
    size = sum(count * each for count, each in zip(files, sizes, strict=True))
    if size > MOST_ANSWER_KB:
        stated = all("max-file-size-kb" in each.value for each in pickers)
        message = f"An answer holds at most {MOST_ANSWER_KB} KB; its pickers allow {size:g}."
        hint = f"Lower max-file-size-kb ({DEFAULT_FILE_KB} when it is not set)."
        yield _report_payload(pointer, message, hint, "error" if stated else "warning")


def _read_picker_limit(picker: ComponentNode, key: str, default: int) -> float:
    value = picker.value.get(key, default)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def _report_payload(pointer: str, message: str, hint: str, severity: Severity = "error") -> Finding:
    return Finding("INVALID_ON_CLICK_ACTION_PAYLOAD", severity, pointer, message, hint)


def _check_navigate_payload(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
    """Check the payload of navigate against the data model of its target."""
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
        hint = f"Add a payload with: {_join_names(missing)}."
        yield Finding("MISSING_NAVIGATION_ACTION_PAYLOAD", severity, action.pointer, message, hint)
    elif missing:
        message = f"{target.id} expects {_join_names(missing)}, which the payload does not hold."
        hint = "Add it, or take it out of the data model."
        yield Finding(code, severity, f"{action.pointer}/payload", message, hint)
    yield from _check_payload_values(flow, action, target, code, severity)
    for key, value in (action.payload or {}).items():
        reference = parse_reference(value) if isinstance(value, str) else None
        origin = _find_number_input(flow, action.screen, reference)
        if reference is not None and reference.store == "data" and origin:
            message = f"{key} was entered as a number on {origin.screen.id}, and is handed on a "
            message += "second time: phones make a text of it there, and the flow stops."
            hint = f"Read it where it is needed: ${{screen.{origin.screen.id}.form.{origin.name}}}."
            if flow.version < (4, 0):
                hint = "Let people enter it as text."
            pointer = f"{action.pointer}/payload/{escape_key(key)}"
            yield warning("INVALID_NAVIGATE_ACTION_PAYLOAD", pointer, message, hint)


def _find_number_input(
    flow: FlowNode, screen: ScreenNode, reference: Reference | None, depth: int = 8
) -> ComponentNode | None:
    """Return the input whose number a reference reads, over any number of screens, or None."""
    source = flow.find_screen(screen, reference) if reference else None
    if reference is None or source is None or len(reference.path) > 1 or not depth:
        return None
    name = reference.path[0]
    if reference.store == "form":
        component = source.fields.get(name)
        return component if component and "number" in get_input_types(component) else None
    if (key := (id(source), name, depth)) not in flow.number_inputs:
        is_number = "number" in read_schema_types(source.data.get(name))
        origins = (
            _find_number_input(flow, action.screen, parse_reference(value), depth - 1)
            for action in (flow.actions if is_number else ())
            if action.name == "navigate" and action.target == source.id
            if isinstance(value := (action.payload or {}).get(name), str)
        )
        flow.number_inputs[key] = next(filter(None, origins), None)
    return flow.number_inputs[key]


def _join_names(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def _check_update_payload(flow: FlowNode, action: ActionNode) -> Iterator[Finding]:
    """Check the payload of update_data against the data model of its screen."""
    code = "INVALID_UPDATE_DATA_ACTION_PAYLOAD"
    yield from _check_payload_values(flow, action, action.screen, code, "error")
    for key, value in (action.payload or {}).items():
        reference = parse_reference(value.strip("`")) if isinstance(value, str) else None
        if reference is None or (reference.store, *reference.path) != ("data", key):
            continue
        if reference.screen in (None, action.screen.id):
            pointer = f"{action.pointer}/payload/{escape_key(key)}"
            message = f"{key} is updated with its own value."
            yield error(code, pointer, message, "Give another value, or leave it out.")


def _check_payload_values(
    flow: FlowNode,
    action: ActionNode,
    target: ScreenNode,
    code: str,
    severity: Severity,
) -> Iterator[Finding]:
    """Check each value of a payload against the data field of its name."""
    for key, value in (action.payload or {}).items():
        reference = parse_reference(value) if isinstance(value, str) else None
        if key not in target.data:
            pointer = append_to_pointer(f"{action.pointer}/payload", key)
            # From 6.0 to 7.2 the platform looks at written-out values only.
            fixed = reference is None and "data" in target.value
            message = f"{target.id or 'The screen'} declares no data field {key}."
            remaining = [name for name in target.data if name not in (action.payload or {})]
            patch, hint = patch_key(pointer, {}, remaining), "Declare it there, or leave it out."
            hint = suggest_word(str(key), remaining) if patch else hint
            level: Severity = "error" if fixed else severity
            yield Finding(code, level, pointer, message, hint, patch=patch)
            continue
        schema = target.data[key]
        for inner_pointer, problem in _find_value_problems(
            flow, action.screen, value, reference, schema
        ):
            pointer = append_to_pointer(f"{action.pointer}/payload", key) + inner_pointer
            below = inner_pointer and code == "INVALID_NAVIGATE_ACTION_PAYLOAD"
            code_below = "INVALID_NAVIGATE_ACTION_STATIC_DATA" if below else code
            screen = target.id or "the screen"
            message = f"{key} does not fit the data model of {screen}: {problem}."
            yield error(code_below, pointer, message, "Change the value, or the type there.")


def _find_value_problems(
    flow: FlowNode,
    screen: ScreenNode,
    value: object,
    reference: Reference | None,
    schema: object,
) -> Iterator[tuple[str, str]]:
    if reference is not None:
        target = resolve_reference(flow, screen, reference)
        picker = target.component is not None and target.component.type in PICKERS
        problem = "" if target.problem or picker else describe_difference(target, schema)
        if problem:
            yield "", problem
    elif isinstance(value, str) and is_expression(value):
        types = infer_expression_types(flow, screen, value)
        expected = read_schema_types(schema)
        if flow.version >= (6, 0) and not is_compatible(types, expected):
            names = join_type_names(types)
            yield "", f"expected {join_type_names(expected)}, the expression is {names}"
    else:
        yield from find_schema_mismatches(value, schema, bindings=True)


def describe_difference(target: Target, declared: object) -> str:
    """Describe how the target of a reference differs from a declared field; empty if not."""
    types, expected = target.types, read_schema_types(declared)
    if not is_compatible(types, expected):
        return f"expected {join_type_names(expected)}, it is {join_type_names(types)}"
    schema: object = target.schema
    if target.component is not None and target.types == {"array"}:
        schema = {"type": "array", "items": {"type": "string"}}
    waiting: list[tuple[str, object, object, int]] = [("", schema, declared, 0)]
    while waiting:
        path, have, want, depth = waiting.pop()
        if not isinstance(have, dict) or not isinstance(want, dict) or depth > MAX_DEPTH:
            continue
        types, expected = read_schema_types(have), read_schema_types(want)
        if expected <= SCHEMA_TYPES and not is_compatible(types, expected):
            words = f"expected {join_type_names(expected)} at {path or 'it'}"
            return f"{words}, found {join_type_names(types)}"
        waiting.append((f"{path}[]", have.get("items"), want.get("items"), depth + 1))
        properties, expected_properties = have.get("properties"), want.get("properties")
        if isinstance(properties, dict) and isinstance(expected_properties, dict):
            different = sorted(str(key) for key in properties.keys() ^ expected_properties.keys())
            if different and "object" in expected:
                return f"only one of both declares {', '.join(different)}"
            waiting += [
                (f"{path}.{key}", properties[key], expected_properties[key], depth + 1)
                for key in properties
            ]
    return ""
