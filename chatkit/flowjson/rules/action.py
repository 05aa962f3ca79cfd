"""Actions: what may happen where, and what each needs to know.

Their payloads are in `payload`, which this module calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chatkit.finding import Finding, Severity
from chatkit.flowjson.components import ACTIONS, COMPONENTS, NEXT
from chatkit.flowjson.outline import Action, Outline
from chatkit.flowjson.pointer import escape
from chatkit.flowjson.property import Shape
from chatkit.flowjson.rules import payload
from chatkit.flowjson.rules.model import json_types
from chatkit.flowjson.rules.target import is_expression, named, whole

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
_ENDS = ("complete", "data_exchange")
_KEYS = frozenset(prop.name for action in ACTIONS.values() for prop in action.properties)


def check(outline: Outline) -> Iterator[Finding]:
    """Check every action of a flow, with its payload."""
    asking: Action | None = None
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
            yield Finding("INVALID_COMPLETE_ACTION", "error", f"{action.pointer}/name", said, hint)
        elif action.name == "data_exchange":
            asking = asking or action
        yield from payload.check(outline, action)
    if asking is not None and not outline.endpoint:
        said = f"data_exchange ({asking.pointer}) asks an endpoint: data_api_version is missing."
        hint = 'Add "data_api_version": "3.0" and a routing_model, or use navigate or complete.'
        yield Finding("MISSING_REQUIRED_PROPERTY", "error", "/data_api_version", said, hint)
    yield from _feet(outline)
    yield from _twice(outline)


def allowed(outline: Outline, action: Action) -> tuple[str, ...] | None:
    """Tell which actions may stand at this place; None when nothing is known of it."""
    shape: Shape | None = COMPONENTS.get(action.owner.type or "")
    if shape is not None and action.item is not None:
        key = action.pointer[len(action.owner.pointer) + 1 :].split("/", 1)[0]
        items = shape.property(key)
        shape = items.item if items is not None else None
    prop = shape.property(action.key) if shape is not None else None
    if prop is None or not prop.known(outline.version):
        return None  # that the property is out of place is for `structure` to say
    return prop.allowed_actions(outline.version)


def _fits(outline: Outline, action: Action) -> bool:
    names = allowed(outline, action)
    return names is None or action.name in names


def _name(outline: Outline, action: Action) -> Iterator[Finding]:
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
            known = ACTIONS.get(action.name)
            later = known is not None and known.since > outline.version
            why = f": it is known from version {known.since}" if known and later else ""
            yield Finding(
                "INVALID_ENUM_VALUE",
                "error",
                pointer,
                f"{action.name} cannot stand in {action.key} here{why}.",
                f"Use one of: {', '.join(names)}." if names else "Remove the action.",
            )


def _keys(outline: Outline, action: Action) -> Iterator[Finding]:
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
            hint = "Remove it."
            yield Finding("NOT_KEYWORD_SCHEMA_VALIDATION_FAILED", "error", pointer, said, hint)
    for prop in shape.properties if shape is not None else ():
        if prop.name != "name" and prop.needed(outline.version) and prop.name not in action.value:
            yield _missing(
                f"{action.pointer}/{prop.name}", f"{action.name} has no {prop.name}.", prop.about
            )
    given = action.value.get("payload")
    if "payload" in action.value and not isinstance(given, dict):
        yield _type(f"{action.pointer}/payload", "The payload", "object", given)


def _target(outline: Outline, action: Action) -> Iterator[Finding]:
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


def _url(action: Action) -> Iterator[Finding]:
    url = action.value.get("url")
    pointer = f"{action.pointer}/url"
    if "url" not in action.value:
        return
    if not isinstance(url, str):
        yield _type(pointer, "url", "string", url)
    elif whole(url) is None and not is_expression(url):
        if not _URL.fullmatch(url):
            said = "url is no web address."
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
    return Finding("INVALID_PROPERTY_KEY", "error", pointer, message, "Remove it.")


def _type(pointer: str, what: str, wanted: str, found: object) -> Finding:
    message = f"{what} must be of type {wanted}, not {named(json_types(found))}."
    hint = f"Write a value of type {wanted}."
    return Finding("INVALID_PROPERTY_TYPE", "error", pointer, message, hint)
