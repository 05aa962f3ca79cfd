"""Rules of the document and its screens, and of the keys of every component."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from chatkit.finding import Finding, Severity
from chatkit.flowjson.components import COMPONENTS, DOCUMENT, LAYOUT, SCREEN
from chatkit.flowjson.nodes import ComponentNode, FlowNode, ScreenNode
from chatkit.flowjson.rules.shape import Around, check_shape, close, is_binding, named, respelt
from chatkit.flowjson.version import (
    FROZEN,
    INTERNAL,
    RECOMMENDED,
    RELEASED,
    RETIRED,
    UNANNOUNCED,
    Version,
    data_api_versions,
)
from chatkit.flowjson.visitor import rule
from chatkit.util.json_pointer import PatchOperation

_LAYOUT = 'Write "layout": {"type": "SingleColumnLayout", "children": […]}.'
_RESERVED = ("success", "SUCCESS")


# --- the document -----------------------------------------------------------------------


@rule("flow")
def check_document(flow: FlowNode, _: FlowNode) -> Iterator[Finding]:
    """Check the document itself, and that each of its screens is an object."""
    if not isinstance(flow.value, dict):
        said = f"A flow document is an object, not {named(flow.value)}."
        yield Finding("INVALID_FLOW_JSON", "error", "", said)
        return
    yield from _version(flow.value)
    yield from _document(flow.value, flow.version)
    screens = flow.value.get("screens")
    for index, each in enumerate(screens if isinstance(screens, list) else ()):
        if not isinstance(each, dict):
            said = f"Here stands a screen, an object, not {named(each)}."
            yield Finding("INVALID_PROPERTY_TYPE", "error", f"/screens/{index}", said)
    yield from _terminals(flow)


def _version(value: dict[str, Any]) -> Iterator[Finding]:
    at, hint = "/version", f'Write "version": "{RECOMMENDED}".'
    if "version" not in value:
        said = "The document names no version."
        newest = (PatchOperation("add", at, str(RECOMMENDED)),)
        yield Finding("MISSING_FLOW_JSON_VERSION", "error", at, said, hint, patch=newest)
        return
    text = value["version"]
    version = Version.parse(text)
    said = f"Version {str(text)[:40]} "
    if version in RETIRED:
        said += "is no longer supported."
        yield Finding("UNSUPPORTED_FLOW_JSON_VERSION", "error", at, said, hint)
    elif version in INTERNAL:
        said += "is not open to accounts."
        yield Finding("UNAVAILABLE_FLOW_JSON_VERSION", "error", at, said, hint)
    elif version in UNANNOUNCED:
        said += "was never announced; your account may not have it."
        yield Finding("UNAVAILABLE_FLOW_JSON_VERSION", "warning", at, said, hint)
    elif version is None or version not in RELEASED or str(version) != text:
        said += "does not exist."
        yield Finding("INVALID_FLOW_JSON_VERSION", "error", at, said, hint)
    elif version in FROZEN:
        said += f"can be sent, but not published since {FROZEN[version]}."
        yield Finding("INVALID_FLOW_JSON_VERSION_STATE", "warning", at, said, hint)


def _document(value: dict[str, Any], version: Version) -> Iterator[Finding]:
    around = Around(version)
    for found in check_shape(DOCUMENT, value, "", around):
        if found.pointer == "/version":
            continue  # told above
        if found.code == "MAX_ITEMS_REQUIRED":
            code, hint = "MAX_SCREENS_NUMBER", "Split the flow."
            found = Finding(code, "error", found.pointer, found.message, hint)
        yield found
    api = value.get("data_api_version")
    known = data_api_versions(version)
    if isinstance(api, str) and api not in known:
        said = f"data_api_version {api[:40]!r} does not fit version {version}."
        hint = f'Write "data_api_version": "{known[0]}".'
        if api in data_api_versions(RECOMMENDED):
            hint = f'Write "version": "{RECOMMENDED}", or "data_api_version": "{known[0]}".'
        yield Finding("INVALID_DATA_API_VERSION", "error", "/data_api_version", said, hint)


# --- screens ----------------------------------------------------------------------------


@rule("screen")
def check_screen(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Check the keys of a screen and its layout."""
    value, at, version = screen.value, screen.pointer, flow.version
    for pointer in screen.strays:
        said = "Here stands a component, an object with a type."
        yield Finding("INVALID_PROPERTY_TYPE", "error", pointer, said)
    for found in check_shape(SCREEN, value, at, Around(version)):
        if not f"{found.pointer}/".startswith(f"{at}/layout/"):  # that is for `_layout`
            yield found
    yield from _layout(value, at, version)
    if "success" in value and value.get("terminal") is not True:
        said = "success stands only on a terminal screen."
        hint = 'Add "terminal": true, or remove success.'
        yield Finding("NOT_KEYWORD_SCHEMA_VALIDATION_FAILED", "error", at, said, hint)
    if value.get("refresh_on_back") is True and not flow.endpoint:
        said = "refresh_on_back asks an endpoint, and this flow has none."
        hint = "Remove it, or set data_api_version."
        yield Finding("INVALID_PROPERTY_VALUE", "error", f"{at}/refresh_on_back", said, hint)
    sensitive = value.get("sensitive")
    names = {component.name for component in screen.components}
    for index, name in enumerate(sensitive if isinstance(sensitive, list) else ()):
        if isinstance(name, str) and name not in names:
            said = f"The screen has no field {name[:60]!r}."
            place = f"{at}/sensitive/{index}"
            hint = close(name, tuple(screen.fields))
            yield Finding("INVALID_SENSITIVE_FIELD", "error", place, said, hint)


def _layout(value: dict[str, Any], at: str, version: Version) -> Iterator[Finding]:
    place = f"{at}/layout"
    if "layout" not in value:
        said = "The screen needs a layout."
        needed = SCREEN.by_name["layout"].needed(version)
        severity: Severity = "error" if needed else "warning"
        yield Finding("MISSING_REQUIRED_PROPERTY", severity, place, said, _LAYOUT)
        return
    layout = value["layout"]
    if not isinstance(layout, dict):
        code = "INVALID_PROPERTY_VALUE" if isinstance(layout, str) else "INVALID_PROPERTY_TYPE"
        said = f"layout takes an object, not {named(layout)}."
        yield Finding(code, "error", place, said, _LAYOUT)
        return
    yield from check_shape(LAYOUT, layout, place, Around(version))
    if "type" not in layout:
        said = "The layout needs its type, SingleColumnLayout."
        only = (PatchOperation("add", f"{place}/type", "SingleColumnLayout"),)
        code = "MISSING_REQUIRED_TYPE_PROPERTY"
        yield Finding(code, "error", f"{place}/type", said, patch=only)
    elif layout["type"] != "SingleColumnLayout":
        said = "The only layout is SingleColumnLayout."
        yield Finding("INVALID_PROPERTY_VALUE", "error", f"{place}/type", said)


@rule("screen")
def check_id(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Check the id of a screen."""
    at, found = f"{screen.pointer}/id", screen.id
    if found is None:
        return
    if not found:
        yield Finding("MIN_CHARS_REQUIRED", "error", at, "The id is empty.", "Write letters.")
        return
    if not re.fullmatch(r"[A-Za-z_,]+", found):
        said = f"The id {found[:60]!r} holds more than letters and underscores."
        hint = f"Write {re.sub(r'[^A-Za-z_]+', '_', found).strip('_')[:60] or 'START'}."
        yield Finding("PATTERN_MISMATCH", "error", at, said, hint)
    elif flow.version >= (7, 0) and ("," in found or not found.strip("_")):
        said = f"From 7.0 the id {found[:60]!r} may be refused: use letters and underscores."
        yield Finding("PATTERN_MISMATCH", "warning", at, said)
    if found in _RESERVED:
        said = f"{found} is what an endpoint answers to end the flow; no screen may be called so."
        yield Finding("SCREEN_ID_IS_RESERVED_KEYWORD", "error", at, said, "Choose another id.")
    count = sum(each.id == found for each in flow.screens)
    if count > 1:
        said = f"{count} screens have the id {found[:60]!r}."
        yield Finding("DUPLICATE_SCREEN_IDS", "error", at, said, "Choose another id.")


def _laid_out(screen: ScreenNode, version: Version) -> bool:
    """Whether nothing is told at the layout that would explain a missing Footer."""
    if "layout" not in screen.value:
        return not SCREEN.by_name["layout"].needed(version)
    layout = screen.value["layout"]
    return isinstance(layout, dict) and isinstance(layout.get("children"), list)


def _terminals(flow: FlowNode) -> Iterator[Finding]:
    terminals = [screen for screen in flow.screens if screen.terminal]
    if not terminals:
        if flow.screens:
            said = "No screen is terminal: the flow never ends."
            hint = 'Add "terminal": true to the last screen.'
            yield Finding("MISSING_TERMINAL_SCREEN", "error", "/screens", said, hint)
        return
    if all(screen.value.get("success") is False for screen in terminals):
        for screen in terminals:
            said = "Every end of this flow is a failure; one must be a success."
            at = f"{screen.pointer}/success"
            yield Finding("INVALID_PROPERTY_VALUE", "error", at, said, "Remove success.")
    for screen in terminals:
        if not _laid_out(screen, flow.version):
            continue  # told at its layout
        if not any(component.type == "Footer" for component in screen.components):
            said = "A terminal screen needs a Footer: nothing else ends the flow."
            at = screen.pointer
            yield Finding("MISSING_FOOTER_ON_TERMINAL_SCREEN", "error", at, said, "Add a Footer.")


# --- components -------------------------------------------------------------------------


@rule("component")
def check_component(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check the type of a component, and its keys."""
    value, at, version = component.value, component.pointer, flow.version
    place = f"{at}/type"
    if "type" not in value:
        said = "A component needs its type."
        yield Finding("MISSING_REQUIRED_TYPE_PROPERTY", "error", place, said)
        return
    if component.type is None:
        said = f"type takes the name of a component, not {named(value['type'])}."
        yield Finding("INVALID_PROPERTY_TYPE", "error", place, said)
        return
    shape = component.shape
    if shape is None:
        said = f"There is no component {component.type[:60]!r}."
        known = tuple(COMPONENTS)
        hint, patch = close(component.type, known), respelt(place, component.type, known)
        yield Finding("INVALID_PROPERTY_VALUE", "error", place, said, hint, patch=patch)
        return
    if version < shape.since:
        since = shape.announced or shape.since
        said = f"{shape.name} is known from version {since}; this is {version}."
        hint = f'Write "version": "{max(since, RECOMMENDED)}".'
        yield Finding("INVALID_PROPERTY_VALUE", "error", place, said, hint)
        return
    if shape.announced is not None and version < shape.announced:
        said = f"{shape.name} is documented from version {shape.announced}; this is {version}."
        yield Finding("UNAVAILABLE_FLOW_JSON_VERSION", "warning", place, said)
    mode = value.get("mode")
    ranged = None if mode and is_binding(mode) else mode == "range"
    yield from check_shape(shape, value, at, Around(version, component.form is not None, ranged))
