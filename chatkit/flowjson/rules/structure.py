"""Rules of the document, its screens and components: their keys, places, numbers and routes.

A flow with an endpoint states its routes in `routing_model`; in a flow without one they follow
from its navigate actions. `check_routes` finds what the platform refuses, `check_reachable`
screens to which no route leads, which it accepts.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from chatkit.flowjson.components import (
    ADVISED_COMPONENTS,
    COMPONENTS,
    DOCUMENT,
    FROZEN,
    INTERNAL,
    LAYOUT,
    MOST_COMPONENTS,
    MOST_NESTED,
    RECOMMENDED,
    RELEASED,
    RETIRED,
    SCREEN,
    STRICT,
    UNANNOUNCED,
    Version,
    data_api_versions,
)
from chatkit.flowjson.nodes import ComponentNode, FlowNode, ScreenNode, group_by_slot
from chatkit.flowjson.rules import Patch, error, rule, warning
from chatkit.flowjson.rules.shape import (
    Context,
    check_shape,
    describe_type,
    is_in_range_mode,
    patch_key,
    patch_spelling,
    suggest_word,
)
from chatkit.report import Finding, Severity
from chatkit.util.json import PatchOperation, escape_key, make_removal_patch

_LAYOUT_HINT = 'Write "layout": {"type": "SingleColumnLayout", "children": […]}.'
_RESERVED_IDS = ("success", "SUCCESS")


# --- the document -----------------------------------------------------------------------


@rule("flow")
def check_document(flow: FlowNode, _: FlowNode) -> Iterator[Finding]:
    """Check the document itself, and that each of its screens is an object."""
    if not isinstance(flow.value, dict):
        message = f"A flow document is an object, not {describe_type(flow.value)}."
        yield error("INVALID_FLOW_JSON", "", message)
        return
    yield from _check_version(flow.value)
    yield from _check_document_keys(flow.value, flow.version)
    screens = flow.value.get("screens")
    for index, each in enumerate(screens if isinstance(screens, list) else ()):
        if not isinstance(each, dict):
            message = f"Here stands a screen, an object, not {describe_type(each)}."
            yield error("INVALID_PROPERTY_TYPE", f"/screens/{index}", message)
    yield from _check_terminals(flow)


def _check_version(value: dict[str, Any]) -> Iterator[Finding]:
    """Check that the version is present, exists, and can be sent and published."""
    pointer, hint = "/version", f'Write "version": "{RECOMMENDED}".'
    if "version" not in value:
        newest = (PatchOperation("add", pointer, str(RECOMMENDED)),)
        yield error(
            "MISSING_FLOW_JSON_VERSION", pointer, "The document names no version.", hint, newest
        )
        return
    text = value["version"]
    version, name = Version.parse(text), f"Version {str(text)[:40]}"
    if version in RETIRED:
        yield error(
            "UNSUPPORTED_FLOW_JSON_VERSION", pointer, f"{name} is no longer supported.", hint
        )
    elif version in INTERNAL:
        yield error(
            "UNAVAILABLE_FLOW_JSON_VERSION", pointer, f"{name} is not open to accounts.", hint
        )
    elif version in UNANNOUNCED:
        message = f"{name} was never announced; your account may not have it."
        yield warning("UNAVAILABLE_FLOW_JSON_VERSION", pointer, message, hint)
    elif version is None or version not in RELEASED or str(version) != text:
        yield error("INVALID_FLOW_JSON_VERSION", pointer, f"{name} does not exist.", hint)
    elif version in FROZEN:
        message = f"{name} can be sent, but not published since {FROZEN[version]}."
        yield warning("INVALID_FLOW_JSON_VERSION_STATE", pointer, message, hint)


def _check_document_keys(value: dict[str, Any], version: Version) -> Iterator[Finding]:
    context = Context(version)
    for finding in check_shape(DOCUMENT, value, "", context):
        if finding.pointer == "/version":
            continue  # reported by `_check_version`
        if finding.code == "MAX_ITEMS_REQUIRED":
            code, hint = "MAX_SCREENS_NUMBER", "Split the flow."
            finding = error(code, finding.pointer, finding.message, hint)
        yield finding
    api = value.get("data_api_version")
    known = data_api_versions(version)
    if isinstance(api, str) and api not in known:
        message = f"data_api_version {api[:40]!r} does not fit version {version}."
        hint = f'Write "data_api_version": "{known[0]}".'
        if api in data_api_versions(RECOMMENDED):
            hint = f'Write "version": "{RECOMMENDED}", or "data_api_version": "{known[0]}".'
        yield error("INVALID_DATA_API_VERSION", "/data_api_version", message, hint)


# --- screens ----------------------------------------------------------------------------


@rule("screen")
def check_screen(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Check the keys of a screen and its layout."""
    value, at, version = screen.value, screen.pointer, flow.version
    for pointer in screen.strays:
        message = "Here stands a component, an object with a type."
        yield error("INVALID_PROPERTY_TYPE", pointer, message)
    for finding in check_shape(SCREEN, value, at, Context(version)):
        if not f"{finding.pointer}/".startswith(f"{at}/layout/"):  # reported by `_check_layout`
            yield finding
    yield from _check_layout(value, at, version)
    if "success" in value and value.get("terminal") is not True:
        message = "success stands only on a terminal screen."
        hint = 'Add "terminal": true, or remove success.'
        yield error("NOT_KEYWORD_SCHEMA_VALIDATION_FAILED", at, message, hint)
    if value.get("refresh_on_back") is True and not flow.endpoint:
        message = "refresh_on_back asks an endpoint, and this flow has none."
        hint = "Remove it, or set data_api_version."
        yield error("INVALID_PROPERTY_VALUE", f"{at}/refresh_on_back", message, hint)
    sensitive = value.get("sensitive")
    names = {component.name for component in screen.components}
    for index, name in enumerate(sensitive if isinstance(sensitive, list) else ()):
        if isinstance(name, str) and name not in names:
            message = f"The screen has no field {name[:60]!r}."
            place = f"{at}/sensitive/{index}"
            hint, patch = (
                suggest_word(name, screen.fields),
                patch_spelling(place, name, screen.fields),
            )
            yield error("INVALID_SENSITIVE_FIELD", place, message, hint, patch)


def _check_layout(
    value: dict[str, Any], screen_pointer: str, version: Version
) -> Iterator[Finding]:
    pointer = f"{screen_pointer}/layout"
    if "layout" not in value:
        message = "The screen needs a layout."
        needed = SCREEN.by_name["layout"].is_required(version)
        severity: Severity = "error" if needed else "warning"
        yield Finding("MISSING_REQUIRED_PROPERTY", severity, pointer, message, _LAYOUT_HINT)
        return
    layout = value["layout"]
    if not isinstance(layout, dict):
        code = "INVALID_PROPERTY_VALUE" if isinstance(layout, str) else "INVALID_PROPERTY_TYPE"
        yield error(
            code, pointer, f"layout takes an object, not {describe_type(layout)}.", _LAYOUT_HINT
        )
        return
    yield from check_shape(LAYOUT, layout, pointer, Context(version))
    if "type" not in layout:
        message = "The layout needs its type, SingleColumnLayout."
        only = (PatchOperation("add", f"{pointer}/type", "SingleColumnLayout"),)
        yield error("MISSING_REQUIRED_TYPE_PROPERTY", f"{pointer}/type", message, patch=only)
    elif layout["type"] != "SingleColumnLayout":
        message = "The only layout is SingleColumnLayout."
        patch = patch_spelling(f"{pointer}/type", str(layout["type"]), ["SingleColumnLayout"])
        yield error("INVALID_PROPERTY_VALUE", f"{pointer}/type", message, patch=patch)


@rule("screen")
def check_screen_id(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Check the id of a screen."""
    pointer, id = f"{screen.pointer}/id", screen.id
    if id is None:
        return
    if not id:
        yield error("MIN_CHARS_REQUIRED", pointer, "The id is empty.", "Write letters.")
        return
    if not re.fullmatch(r"[A-Za-z_,]+", id):
        message = f"The id {id[:60]!r} holds more than letters and underscores."
        hint = f"Write {re.sub(r'[^A-Za-z_]+', '_', id).strip('_')[:60] or 'START'}."
        yield error("PATTERN_MISMATCH", pointer, message, hint)
    elif flow.version >= (7, 0) and ("," in id or not id.strip("_")):
        message = f"From 7.0 the id {id[:60]!r} may be refused: use letters and underscores."
        yield warning("PATTERN_MISMATCH", pointer, message)
    if id in _RESERVED_IDS:
        message = f"{id} is what an endpoint answers to end the flow; no screen may be called so."
        yield error("SCREEN_ID_IS_RESERVED_KEYWORD", pointer, message, "Choose another id.")
    count = sum(each.id == id for each in flow.screens)
    if count > 1:
        message = f"{count} screens have the id {id[:60]!r}."
        yield error("DUPLICATE_SCREEN_IDS", pointer, message, "Choose another id.")


def _has_layout(screen: ScreenNode, version: Version) -> bool:
    """Return whether a screen has a layout with a list of components, or needs none."""
    if "layout" not in screen.value:
        return not SCREEN.by_name["layout"].is_required(version)
    layout = screen.value["layout"]
    return isinstance(layout, dict) and isinstance(layout.get("children"), list)


def _check_terminals(flow: FlowNode) -> Iterator[Finding]:
    terminals = [screen for screen in flow.screens if screen.terminal]
    if flow.screens and not terminals:
        message = "No screen is terminal: the flow never ends."
        hint = 'Add "terminal": true to the last screen.'
        ends = {
            f"{action.screen.pointer}/terminal": None
            for action in flow.actions
            if action.name == "complete" and action.owner.type == "Footer"
        }
        patch = tuple(PatchOperation("add", end, True) for end in ends)
        yield error("MISSING_TERMINAL_SCREEN", "/screens", message, hint, patch)
    if all(screen.value.get("success") is False for screen in terminals):
        for screen in terminals:
            message = "Every end of this flow is a failure; one must be a success."
            pointer = f"{screen.pointer}/success"
            yield error("INVALID_PROPERTY_VALUE", pointer, message, "Remove success.")
    for screen in terminals:
        unknown = any(component.shape is None for component in screen.components)
        if unknown or not _has_layout(screen, flow.version):
            continue  # reported at the component, or at its layout
        if not any(component.type == "Footer" for component in screen.components):
            message = "A terminal screen needs a Footer: nothing else ends the flow."
            pointer = screen.pointer
            yield error("MISSING_FOOTER_ON_TERMINAL_SCREEN", pointer, message, "Add a Footer.")


# --- components -------------------------------------------------------------------------


@rule("component")
def check_component(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check the type of a component, and its keys."""
    value, pointer, version = component.value, component.pointer, flow.version
    type_pointer = f"{pointer}/type"
    if "type" not in value:
        yield error("MISSING_REQUIRED_TYPE_PROPERTY", type_pointer, "A component needs its type.")
        return
    if component.type is None:
        message = f"type takes the name of a component, not {describe_type(value['type'])}."
        yield error("INVALID_PROPERTY_TYPE", type_pointer, message)
        return
    shape = component.shape
    if shape is None:
        message = f"There is no component {component.type[:60]!r}."
        known = tuple(COMPONENTS)
        hint, patch = (
            suggest_word(component.type, known),
            patch_spelling(type_pointer, component.type, known),
        )
        yield error("INVALID_PROPERTY_VALUE", type_pointer, message, hint, patch)
        return
    if version < shape.since:
        since = shape.announced or shape.since
        message = f"{shape.name} is known from version {since}; this is {version}."
        hint = f'Write "version": "{max(since, RECOMMENDED)}".'
        yield error("INVALID_PROPERTY_VALUE", type_pointer, message, hint)
        return
    if shape.announced is not None and version < shape.announced:
        message = f"{shape.name} is documented from version {shape.announced}; this is {version}."
        yield warning("UNAVAILABLE_FLOW_JSON_VERSION", type_pointer, message)
    context = Context(version, component.form is not None, is_in_range_mode(component))
    yield from check_shape(shape, value, pointer, context)


_FREE_INPUTS_SINCE = Version(4, 0)  # before, every input stands in a Form
_RICH_FOOTER_SINCE = Version(6, 3)  # from here a Footer may stand beside RichText
#: Inputs that the platform accepts outside a Form, against its documentation.
_ACCEPTED_OUTSIDE_FORM = ("CalendarPicker", "ChipsSelector")
_PICKERS = ("PhotoPicker", "DocumentPicker")


# --- containers -------------------------------------------------------------------------


@rule("component")
def check_parent(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that a component may stand in its parent."""
    shape, version = component.shape, flow.version
    if component.parent is None or shape is None or version < shape.since:
        return
    parent = component.parent.shape
    if parent is None or not parent.children:
        return
    since = parent.children.get(shape.name)
    pointer = f"{component.pointer}/type"
    if since is None or since > version:
        message = f"{shape.name} may not stand in {parent.name}"
        message += f" before version {since}; this is {version}." if since else "."
        yield error("INVALID_PROPERTY_VALUE", pointer, message, "Move it out.")
    elif shape.name == "Footer" and _count_branches(component) > 1:
        message = "A Footer stands in an If or Switch of the first level only."
        yield error("INVALID_PROPERTY_VALUE", pointer, message, "Move it out.")


@rule("screen")
def check_nesting(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Find each If with too many levels of If in it, and values nested too deeply."""
    for pointer in screen.too_deep:
        yield error("NESTED_TOO_DEEPLY", pointer, "This is nested more deeply than a flow can be.")
    outermost: dict[str, ComponentNode] = {}
    for component in screen.components:
        if component.type != "If" or component.if_depth < MOST_NESTED:
            continue
        outer = component
        for _ in range(MOST_NESTED):
            parent = outer.parent
            while parent is not None and parent.type != "If":
                parent = parent.parent
            outer = parent or outer
        outermost[outer.pointer] = outer
    for at in outermost:
        message = f"More than {MOST_NESTED} If stand in each other."
        yield error("MAXIMUM_IF_NESTING", at, message, "Join conditions with &&, or use a Switch.")


def _count_branches(component: ComponentNode) -> int:
    """Count the If and Switch around a component."""
    count, around = 0, component.branch
    while around is not None:
        count, around = count + 1, around.branch
    return count


@rule("screen")
def check_outside_form(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Find inputs outside a Form that need one."""
    version = flow.version
    if not screen.forms and version >= _FREE_INPUTS_SINCE:
        return
    for component in screen.components:
        shape = component.shape
        if shape is None or not shape.is_input or component.form is not None:
            continue
        if version < _FREE_INPUTS_SINCE:
            message = f"Before 4.0 {shape.name} stands in a Form only."
            yield error("KEYWORD_ONE_OF", component.pointer, message, "Move it in.")
        else:
            message = f"{shape.name} stands outside the Form of its screen."
            hint = "Move it into the Form, or do without a Form."
            severity: Severity = "warning" if shape.name in _ACCEPTED_OUTSIDE_FORM else "error"
            yield Finding("COMPONENTS_OUTSIDE_FORM", severity, component.pointer, message, hint)


@rule("screen")
def check_unique_names(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Find names that several components of a screen have."""
    named: dict[str, list[ComponentNode]] = {}
    for component in screen.components:
        shape = component.shape
        if component.name is None or shape is None:
            continue
        if "name" in shape.by_name and shape.name != "Form":
            named.setdefault(component.name, []).append(component)
    for name, components in named.items():
        for component in components if len(components) > 1 else ():
            message = f"{len(components)} components of the screen have the name {name[:60]!r}."
            pointer = f"{component.pointer}/name"
            hint = "Names are unique on a screen, in all branches."
            yield error("DUPLICATE_FORM_COMPONENT_NAMES", pointer, message, hint)


# --- counts -----------------------------------------------------------------------------


def _count_visible(components: list[ComponentNode]) -> Counter[str]:
    """Count the components visible at once, by type; of branches only the largest counts."""
    total: Counter[str] = Counter()
    for component in components:
        total[component.type or ""] += 1
        if component.type in ("If", "Switch"):
            most: Counter[str] = Counter()
            for branch in group_by_slot(component.children).values():
                most |= _count_visible(branch)
            total += most
        elif component.children:
            total += _count_visible(component.children)
    return total


@rule("screen")
def check_screen_counts(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Find more components on a screen than may be visible at once."""
    counts = _count_visible(screen.top_components)
    code, pointer = "COMPONENT_TYPE_MAX_NUMBER_PER_SCREEN", screen.pointer
    for name, count in counts.items():
        shape = COMPONENTS.get(name)
        if shape is None or shape.per_screen is None or flow.version < shape.per_screen_since:
            continue
        if count > shape.per_screen:
            message = f"The screen has {count} {name}; {shape.per_screen} is the most."
            yield error(code, pointer, message, "Remove one, or use another screen.")
    if all(counts[name] for name in _PICKERS):
        message = "PhotoPicker and DocumentPicker exclude each other on a screen."
        yield error(code, pointer, message, "Move one of them to another screen.")
    total = sum(component.type != "Form" for component in screen.components)
    code = "MAX_ALLOWED_COMPONENTS_PER_SCREEN"
    if total > MOST_COMPONENTS:
        message = f"The screen has {total} components; {MOST_COMPONENTS} are the most."
        yield error(code, pointer, message, "Split the screen.")
    elif total > ADVISED_COMPONENTS:
        message = f"The screen has {total} components; {ADVISED_COMPONENTS} are documented."
        yield warning(code, pointer, message, "Split the screen.")


@rule("flow")
def check_flow_counts(flow: FlowNode, _: FlowNode) -> Iterator[Finding]:
    """Find more components of a type than a flow may hold."""
    so_far: Counter[str] = Counter()
    for component in flow.components:
        shape = component.shape
        if shape is None or shape.per_flow is None:
            continue
        so_far[shape.name] += 1
        if so_far[shape.name] == shape.per_flow + 1:
            message = f"The flow has more than {shape.per_flow} {shape.name}."
            code = "COMPONENT_TYPE_MAX_NUMBER_PER_SCREEN"
            yield error(code, component.screen.pointer, message, "Remove one.")
            pointer = component.pointer  # the platform's checker gives it this code
            yield error("INVALID_PROPERTY_VALUE", pointer, message, "Remove one.")


# --- Footers in branches, and those that stand alone --------------------------------------


@rule("screen")
def check_branch_footers(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Find branches without a Footer beside others with one."""
    branching = []
    for component in screen.components:
        if component.type not in ("If", "Switch"):
            continue
        with_footer = {child.slot for child in component.children if child.type == "Footer"}
        if not with_footer:
            continue
        branching.append(component)
        pointer = component.pointer.rpartition("/")[0]
        if component.type == "If":
            if with_footer != {"/then", "/else"}:
                missing = "else" if "/then" in with_footer else "then"
                message = f"One branch of the If has a Footer, {missing} has none."
                code = "MISSING_FOOTER_IN_IF_ELSE_BRANCHES"
                yield error(code, pointer, message, f"Add a Footer to {missing}.")
        else:
            cases = component.value.get("cases")
            names = [str(case) for case in cases] if isinstance(cases, dict) else []
            without = [case for case in names if f"/cases/{escape_key(case)}" not in with_footer]
            if without:
                message = f"Some cases of the Switch have a Footer, {without[0][:60]!r} has none."
                code = "MISSING_FOOTER_IN_SWITCH_BRANCHES"
                yield error(code, pointer, message, "Add a Footer to each case.")
    outside = [c for c in screen.components if c.type == "Footer" and c.branch is None]
    if branching and (outside or len(branching) > 1):
        message = "A Footer stands in branches, and another outside of them."
        pointer = branching[0].pointer.rpartition("/")[0]
        yield error("MORE_THAN_ONE_FOOTER", pointer, message, "Keep those in the branches.")


@rule("screen")
def check_exclusive_components(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Check components that stand alone on their screen."""
    types = {component.type for component in screen.components if component.type in COMPONENTS}
    pointer = screen.pointer
    if "RichText" in types:
        companions = {"Footer"} if flow.version >= _RICH_FOOTER_SINCE else set()
        rich = sum(component.type == "RichText" for component in screen.components)
        if types - {"RichText"} - companions or rich > 1:
            message = "RichText stands alone on its screen"
            message += ", at most beside a Footer." if companions else "."
            code = "INVALID_COMPONENT_PLACEMENT"
            if flow.version < STRICT:
                code = "INVALID_RICHTEXT_PLACEMENT"
            yield error(code, pointer, message, "Move the others to another screen.")
    if "NavigationList" in types:
        if types - {"NavigationList", "Form"}:
            message = "NavigationList stands alone on its screen."
            hint = "Move the others to another screen."
            yield error("INVALID_COMPONENT_PLACEMENT", pointer, message, hint)
        if screen.terminal:
            message = "A screen with a NavigationList cannot be terminal."
            yield error("INVALID_PROPERTY_KEY", f"{pointer}/terminal", message, "Remove terminal.")


# --- routes -------------------------------------------------------------------------------

_MOST_TARGETS = 10
_ROUTING = "/routing_model"


def read_stated_routes(flow: FlowNode) -> dict[str, list[str]]:
    """Return the routing model without what is not a list of texts."""
    model = flow.routing or {}
    return {
        str(source): [each for each in targets if isinstance(each, str)]
        for source, targets in model.items()
        if isinstance(targets, list)
    }


def _find_navigate_targets(flow: FlowNode) -> dict[str, list[str]]:
    """Return the targets of the navigate actions of each screen."""
    targets_of: dict[str, dict[str, None]] = {
        screen.id: {} for screen in flow.screens if screen.id is not None
    }
    for action in flow.actions:
        if action.name == "navigate" and action.target is not None and action.screen.id is not None:
            targets_of[action.screen.id][action.target] = None
    return {source: list(targets) for source, targets in targets_of.items()}


@rule("flow")
def check_routes(flow: FlowNode, _: FlowNode) -> Iterator[Finding]:
    """Check the routes between the screens."""
    document = flow.value if isinstance(flow.value, Mapping) else {}
    if flow.endpoint and document.get("routing_model") is None:
        message = "A flow with data_api_version needs a routing_model."
        hint = 'Write one line for each screen: {"FIRST": ["SECOND"], "SECOND": []}.'
        made = PatchOperation("add", _ROUTING, _find_navigate_targets(flow))
        yield error("MISSING_REQUIRED_PROPERTY", _ROUTING, message, hint, (made,))
    if not flow.by_id:
        return
    if flow.routing is not None:
        yield from _check_stated_routes(flow)
    elif not flow.endpoint:
        yield from _check_navigate_targets(flow)


def _report_type(pointer: str, message: str) -> Finding:
    return error("INVALID_PROPERTY_TYPE", pointer, message, 'For example ["SECOND"].')


def _check_stated_routes(flow: FlowNode) -> Iterator[Finding]:
    """Check a routing model, and that it has a route for every navigate action."""
    model = flow.routing or {}
    stated = read_stated_routes(flow)
    navigated = _find_navigate_targets(flow)
    for source, targets in model.items():
        yield from _check_route(flow, str(source), targets)
    yield from _check_backward_routes(stated)
    unstated = _find_unstated_targets(flow, stated, navigated)
    reached = {target for targets in stated.values() for target in targets}
    for screen in flow.by_id.values():
        if screen.id not in model and screen.id not in reached and not screen.terminal:
            message = f"{screen.id} is missing in the routing model."
            targets = unstated.pop(screen.id or "", [])  # they follow from the missing line
            hint = f'Add a line "{screen.id}": {json.dumps(targets, ensure_ascii=False)}.'
            line = f"{_ROUTING}/{escape_key(screen.id or '')}"
            patch = (PatchOperation("add", line, targets),)
            yield _report_routing(f"{screen.pointer}/id", message, hint, patch=patch)
    entered = set(reached)
    if flow.version >= (7, 3):
        entered.update(target for targets in navigated.values() for target in targets)
    if entered.issuperset(flow.by_id):
        message = "No screen can be the first: each of them is the target of a route."
        hint = "Remove the routes back to the first screen; going back needs no route."
        yield _report_routing(_ROUTING, message, hint)
    yield from _check_connected(flow, stated)
    for source, targets in unstated.items():
        line = f"{_ROUTING}/{escape_key(source)}"
        for names in [[target] for target in targets] if source in stated else [targets]:
            listed = " and ".join(names)
            message = f"{source} navigates to {listed} without a route."
            hint = f"Add {listed} to its line in routing_model."
            to, value = (f"{line}/-", names[0]) if source in stated else (line, names)
            patch = (PatchOperation("add", to, value),)
            yield _report_routing(f"{flow.by_id[source].pointer}/id", message, hint, patch=patch)


def _check_route(flow: FlowNode, source: str, targets: object) -> Iterator[Finding]:
    """Check one screen of a routing model: that its targets exist, and are not too many."""
    pointer = f"{_ROUTING}/{escape_key(source)}"
    if source not in flow.by_id:
        remaining = [each for each in flow.by_id if each not in (flow.routing or {})]
        patch = patch_key(pointer, {}, remaining)
        hint = suggest_word(source, remaining) if patch else "Correct or remove it."
        yield _report_routing(pointer, f"{source} is not a screen of this flow.", hint, patch=patch)
    if not isinstance(targets, list):
        yield _report_type(pointer, f"The routes of {source} must be a list of screen ids.")
        return
    if len(targets) > _MOST_TARGETS:
        yield _report_too_many_targets(pointer, source, len(targets))
    if source in targets:
        itself = make_removal_patch(f"{pointer}/{targets.index(source)}")
        yield _report_routing(
            pointer, f"{source} leads to itself.", "Remove that route.", patch=itself
        )
    for index, target in enumerate(targets):
        if not isinstance(target, str):
            message = f"Route {index + 1} of {source} must be text."
            yield _report_type(f"{pointer}/{index}", message)
        elif target not in flow.by_id:
            message = f"{source} leads to {target}, which is not a screen of this flow."
            remaining = [each for each in flow.by_id if each not in (source, *targets)]
            patch = patch_spelling(f"{pointer}/{index}", target, remaining)
            hint = suggest_word(target, remaining) if patch else "Correct or remove it."
            yield _report_routing(f"{pointer}/{index}", message, hint, patch=patch)


def _check_backward_routes(routes: dict[str, list[str]]) -> Iterator[Finding]:
    """Find routes back, and longer cycles."""
    order = {source: index for index, source in enumerate(routes)}
    sets = {source: set(targets) for source, targets in routes.items()}
    backward_routes: set[tuple[str, str]] = set()
    for source, targets in routes.items():
        for index, target in enumerate(targets):
            is_backward = source in sets.get(target, ())
            if is_backward and source != target and order[target] < order[source]:
                backward_routes.add((source, target))
                message = f"{source} leads back to {target}, which leads to it."
                hint = "State forward routes only; going back needs none."
                pointer = f"{_ROUTING}/{escape_key(source)}/{index}"
                yield _report_routing(pointer, message, hint, patch=make_removal_patch(pointer))
    forward = {
        source: [target for target in targets if (source, target) not in backward_routes]
        for source, targets in routes.items()
    }
    start = _find_cycle(forward)
    if start is not None:
        message = f"The routes of {start} lead back to it over other screens."
        hint = "State forward routes only; going back needs none."
        yield _report_routing(f"{_ROUTING}/{escape_key(start)}", message, hint, "warning")


def _find_cycle(routes: dict[str, list[str]]) -> str | None:
    """Return a screen of a cycle of two or more; None without a cycle."""
    before: dict[str, list[str]] = {source: [] for source in routes}
    for source, targets in routes.items():
        for target in targets:
            if target in before and target != source:
                before[target].append(source)
    try:
        TopologicalSorter(before).prepare()
    except CycleError as cycle:
        return str(cycle.args[1][0])
    return None


def _check_navigate_targets(flow: FlowNode) -> Iterator[Finding]:
    """Check the navigate actions of a flow without endpoint, which are its only routes."""
    navigated = _find_navigate_targets(flow)
    for screen in flow.by_id.values():
        targets = navigated.get(screen.id or "", [])
        if len(targets) > _MOST_TARGETS:
            yield _report_too_many_targets(screen.pointer, str(screen.id), len(targets))
    listed = any(component.type == "NavigationList" for component in flow.components)
    entered = {
        target for source, targets in navigated.items() for target in targets if target != source
    }
    if not listed and entered.issuperset(flow.by_id):
        message = "No screen can be the first: a navigate action leads to every one of them."
        hint = "Remove the navigation back to the first screen; going back needs none."
        yield _report_routing("/screens", message, hint)
    if not listed and len(flow.by_id) > 1:
        yield from _check_connected(flow, navigated)


def _find_connected_screens(flow: FlowNode, routes: Mapping[str, list[str]]) -> set[str]:
    """Return the screens connected with the first one, by routes in either direction."""
    neighbours: dict[str, set[str]] = {}
    for source, targets in routes.items():
        for target in targets:
            neighbours.setdefault(source, set()).add(target)
            neighbours.setdefault(target, set()).add(source)
    return _find_reachable_screens(next(iter(flow.by_id)), neighbours)


def _find_reachable_screens(first: str, routes: Mapping[str, Iterable[str]]) -> set[str]:
    """Return a screen and all that routes reach from it."""
    reached, waiting = {first}, [first]
    while waiting:
        for each in routes.get(waiting.pop(), ()):
            if each not in reached:
                reached.add(each)
                waiting.append(each)
    return reached


def _check_connected(flow: FlowNode, routes: dict[str, list[str]]) -> Iterator[Finding]:
    """Find screens not connected with the first one, if every route leads to a known screen."""
    joined = (
        _find_connected_screens(flow, routes)
        if _has_known_targets(flow, routes)
        else set(flow.by_id)
    )
    for name, screen in flow.by_id.items():
        if name not in joined:
            message = f"{name} is not connected with the other screens."
            hint = "Add a route to it." if flow.endpoint else "Let an action navigate to it."
            # an endpoint may end a flow on a terminal screen that no route names
            severity: Severity = "warning" if flow.endpoint and screen.terminal else "error"
            yield _report_routing(f"{screen.pointer}/id", message, hint, severity)


def _has_known_targets(flow: FlowNode, routes: Mapping[str, list[str]]) -> bool:
    """Return whether every route leads to a screen of the flow; others are reported themselves."""
    return all(target in flow.by_id for targets in routes.values() for target in targets)


def _find_unstated_targets(
    flow: FlowNode, routes: dict[str, list[str]], navigated: dict[str, list[str]]
) -> dict[str, list[str]]:
    """Return the targets of navigate actions without a route in either direction, by screen."""
    joined = {(source, target) for source, targets in routes.items() for target in targets}
    lists: set[str | None] = set()  # the platform does not look at the routes of such a screen
    if flow.version >= (6, 2):
        lists = {each.screen.id for each in flow.components if each.type == "NavigationList"}
    unstated: dict[str, list[str]] = {}
    for source, targets in navigated.items():
        for target in targets if source not in lists else ():
            known = target in flow.by_id and target != source  # else `action` reports it
            if known and joined.isdisjoint(((source, target), (target, source))):
                unstated.setdefault(source, []).append(target)
    return unstated


def _report_too_many_targets(pointer: str, name: str, count: int) -> Finding:
    message = f"{name} leads to {count} screens; {_MOST_TARGETS} are allowed."
    return _report_routing(pointer, message, "Let some of them follow another screen.")


def _report_routing(
    pointer: str,
    message: str,
    hint: str,
    severity: Severity = "error",
    patch: Patch = (),
) -> Finding:
    """Make a finding of the code that all rules of routing share."""
    return Finding("INVALID_ROUTING_MODEL", severity, pointer, message, hint, patch=patch)


@rule("flow")
def check_reachable(flow: FlowNode, _: FlowNode) -> Iterator[Finding]:
    """Find screens that no route reaches, which the platform accepts."""
    if flow.endpoint:  # it may open the flow at any screen
        return
    routes = _find_navigate_targets(flow) if flow.routing is None else read_stated_routes(flow)
    if not _has_known_targets(flow, routes):
        return
    entered = {
        target for source, targets in routes.items() for target in targets if target != source
    }
    first = next((name for name in flow.by_id if name not in entered), None)
    if first is None:  # reported by `check_routes`, like those that nothing joins to the others
        return
    joined, reached = _find_connected_screens(flow, routes), _find_reachable_screens(first, routes)
    for name, screen in flow.by_id.items():
        if name not in reached and name in joined:
            hint = "Let an action lead to it, or remove it. (A message can open a flow at any "
            hint += "screen: if one of yours does, leave it.)"
            pointer = f"{screen.pointer}/id"
            yield warning("UNREACHED_SCREEN", pointer, f"Nothing leads to {name}.", hint)
