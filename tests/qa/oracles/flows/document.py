"""Check a whole flow document: version, screens, forms, terminal screens, data models."""

import re
from typing import Any

from oracles.finding import DOCUMENTED_LIMIT, Finding, Findings, step
from oracles.flows import components as table
from oracles.flows.actions import check_actions
from oracles.flows.flow import Flow, Node, Screen
from oracles.flows.properties import Properties, is_date
from oracles.flows.references import declared_type, json_type, references
from oracles.flows.routing import check_routing

_DATA_TYPES = ("string", "number", "boolean", "object", "array", "null")
_PATTERN_INPUTS = ("text", "number", "password", "passcode")
_TOO_MANY = "COMPONENT_TYPE_MAX_NUMBER_PER_SCREEN"  # the documentation has one code for each type


def check_flow(document: object) -> list[Finding]:
    """Return the platform's findings for a flow document, as far as they are known.

    Errors keep a flow from being published, warnings do not. Takes any JSON value, never
    raises, and costs time linear in the size of the document.
    """
    findings = Findings()
    if not isinstance(document, dict):
        findings.error("INVALID_FLOW_JSON", "", "a flow document is an object")
        return findings
    version = document.get("version")
    if not isinstance(version, str) or version not in table.VERSIONS:
        _version(document, findings)
        return findings
    if version in table.FROZEN:
        text = f"{version} can no longer be published"
        findings.warning("UNSUPPORTED_FLOW_JSON_VERSION", "/version", text)
    flow = Flow(version, "data_api_version" in document, findings)
    screens = document.get("screens")
    flow.read(screens if isinstance(screens, list) else [])
    Properties(flow, Screen(document, "")).check(document, "DOCUMENT", "")
    _data_api(document, flow)
    if screens == []:
        findings.error("MIN_ITEMS_REQUIRED", "/screens", "a flow needs a screen")
    if len(flow.screens) > table.SCREENS_MOST:
        findings.error("MAX_SCREENS_NUMBER", "/screens", f"at most {table.SCREENS_MOST} screens")
    for screen in flow.screens:
        _screen(screen, flow)
    carousels = sum(screen.counts["ImageCarousel"] for screen in flow.screens)
    if carousels > table.CAROUSELS_MOST:
        findings.error(_TOO_MANY, "/screens", f"{carousels} carousels in all")
    _terminals(flow)
    if check_actions(flow):
        check_routing(document.get("routing_model"), flow)
    return findings


def _version(document: dict[str, Any], findings: Findings) -> None:
    version = document.get("version")
    if "version" not in document:
        code, text = "MISSING_FLOW_JSON_VERSION", "the version of the format is missing"
    elif not isinstance(version, str):
        code, text = "INVALID_PROPERTY_TYPE", "the version is a text"
    elif version in table.WITHHELD:
        code, text = "UNAVAILABLE_FLOW_JSON_VERSION", "not open to the public"
    else:
        code, text = "INVALID_FLOW_JSON_VERSION", "no such version"
    findings.error(code, "/version", text)


def _data_api(document: dict[str, Any], flow: Flow) -> None:
    api, error, at = document.get("data_api_version"), flow.findings.error, "/data_api_version"
    if isinstance(api, str) and api not in ("3.0", "4.0"):
        error("INVALID_DATA_API_VERSION", at, "no such data API version")
    elif api == "4.0" and flow.version < "7.3":
        error("NO_SUPPORTED_DATA_API_VERSION", at, "data API 4.0 needs version 7.3")
    if flow.endpoint and "routing_model" not in document:
        error("MISSING_REQUIRED_PROPERTY", "/routing_model", "an endpoint needs a routing model")


def _screen(screen: Screen, flow: Flow) -> None:
    """One screen with its components, once all screens are known."""
    raw, error, at = screen.raw, flow.findings.error, screen.pointer
    Properties(flow, screen).check(raw, "SCREEN", at)
    letters = r"[A-Za-z_]+" if flow.version >= "7.0" else r"[A-Za-z_,]+"
    if screen.id == "":
        error("MIN_CHARS_REQUIRED", step(at, "id"), "a screen id has at least one letter")
    elif screen.id in table.RESERVED_SCREEN_IDS:
        error("SCREEN_ID_IS_RESERVED_KEYWORD", step(at, "id"), f"{screen.id} is reserved")
    elif screen.id is not None and not re.fullmatch(letters, screen.id):
        error("PATTERN_MISMATCH", step(at, "id"), "a screen id is letters and underscores")
    layout = raw.get("layout")
    if (
        isinstance(layout, dict)
        and layout.get("type", "SingleColumnLayout") != "SingleColumnLayout"
    ):
        error("INVALID_PROPERTY_VALUE", step(at, "layout", "type"), "only SingleColumnLayout")
    if "success" in raw and not screen.terminal:
        code = "NOT_KEYWORD_SCHEMA_VALIDATION_FAILED"
        error(code, step(at, "success"), "only a terminal screen can succeed")
    if raw.get("refresh_on_back") is True and not flow.endpoint:
        error("INVALID_PROPERTY_VALUE", step(at, "refresh_on_back"), "needs an endpoint")
    for name, schema in screen.data.items():
        if problem := _data_problem(schema):
            error("INVALID_SCREEN_DATA", step(at, "data", name), problem)
    sensitive = raw.get("sensitive")
    for index, name in enumerate(sensitive if isinstance(sensitive, list) else []):
        if not isinstance(name, str) or name not in screen.inputs:
            error("INVALID_SENSITIVE_FIELD", step(at, "sensitive", index), "no such field here")
    for node in screen.nodes:
        Properties(flow, screen, node).check(node.component, node.type, node.pointer)
        _component(node, flow)
    _counts(screen, flow.findings)
    _placement(screen, flow)
    _forms(screen, flow)


def _data_problem(schema: Any) -> str | None:
    """Return the findings of one field of a data model."""
    declared = declared_type(schema)
    if declared is None:
        return "a field is an object with a type"
    if declared not in _DATA_TYPES:
        return "no such type"
    if "__example__" not in schema:
        return "a field needs an __example__"
    if problem := _schema_problem(schema):
        return problem
    if not _matches(schema["__example__"], schema):
        return "the __example__ is not of the declared type"
    waiting = [schema.get("properties"), schema.get("items")]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, dict):
            if "__example__" in inner:
                return "__example__ only stands at the top of a field"
            waiting.extend(inner.values())
    return None


def _schema_problem(schema: Any) -> str | None:
    """An array says what its items are; a type that is stated is one of JSON."""
    waiting = [schema]
    while waiting:
        inner = waiting.pop()
        kind = declared_type(inner)
        if isinstance(inner, dict) and "type" in inner and not _known_type(inner["type"]):
            return "no such type"
        if kind == "array":
            items = inner.get("items")
            typed = isinstance(items, bool) or isinstance(declared_type(items), str)
            if not typed:
                return "an array needs items of a type"
            waiting.append(items)
        properties = inner.get("properties") if isinstance(inner, dict) else None
        waiting.extend(properties.values() if isinstance(properties, dict) else ())
    return None


def _known_type(kind: Any) -> bool:
    names = kind if isinstance(kind, list) and kind else [kind]
    return all(isinstance(name, str) and name in (*_DATA_TYPES, "integer") for name in names)


def _matches(value: Any, schema: Any) -> bool:
    """Return whether a value has the type that a schema declares, in all of its parts."""
    waiting = [(value, schema)]
    while waiting:
        passed, declared = waiting.pop()
        kind = declared_type(declared)
        if kind is not None and json_type(passed) != kind:
            return False
        properties = declared.get("properties") if isinstance(declared, dict) else None
        if isinstance(passed, dict) and isinstance(properties, dict):
            waiting += [(passed[key], properties[key]) for key in passed.keys() & properties.keys()]
        if isinstance(passed, list) and isinstance(declared, dict):
            waiting += [(item, declared.get("items")) for item in passed]
    return True


def _component(node: Node, flow: Flow) -> None:
    """Return the findings of a component beyond its single properties."""
    raw, error, at = node.component, flow.findings.error, node.pointer
    for low, high in table.ORDERED.items():
        if json_type(raw.get(low)) == json_type(raw.get(high)) == "number" and raw[low] > raw[high]:
            code = "INVALID_MIN_MAX_DAYS" if low == "min-days" else "MIN_VALUE_GREATER_THAN_MAX"
            error(code, at, f"{low} is above {high}")
    for key in raw.keys() & table.NEEDS.keys():
        if table.NEEDS[key] not in raw:
            error("INVALID_DEPENDENCIES", at, f"{key} needs {table.NEEDS[key]}")
    for key in raw.keys() & table.EXCLUDES.keys():
        if raw.keys() & table.EXCLUDES[key]:
            code = "NOT_KEYWORD_SCHEMA_VALIDATION_FAILED"
            error(code, at, f"{key} excludes {' and '.join(sorted(table.EXCLUDES[key]))}")
    if "pattern" in raw and raw.get("input-type", "text") not in _PATTERN_INPUTS:
        code = "INVALID_PROPERTY_NAME_FOR_CONDITION"
        error(code, step(at, "pattern"), "this input-type takes no pattern")
    if node.type in ("DatePicker", "CalendarPicker") and _date_outside(raw):
        error("INVALID_DATE_RANGE", at, "a date is outside min-date and max-date")
    for key in ("then", "cases"):
        if key in raw and raw[key] in ([], {}) and node.type in ("If", "Switch"):
            error("INVALID_PROPERTY_VALUE", step(at, key), f"{key} must not be empty")
    cases = raw.get("cases")
    for key in cases if node.type == "Switch" and isinstance(cases, dict) else ():
        if not isinstance(cases[key], list):
            error("INVALID_PROPERTY_TYPE", step(at, "cases", key), "a case is a list of components")
        if not table.CASE.fullmatch(key):
            text = "a case is a letter, then letters, digits, - and _"
            error("PROPERTY_NAME_MISMATCH", step(at, "cases", key), text)
    _items(node, flow.findings)


def _date_outside(raw: dict[str, Any]) -> bool:
    first = raw["min-date"] if is_date(raw.get("min-date")) else "0000"
    last = raw["max-date"] if is_date(raw.get("max-date")) else "9999-99"
    days, start = raw.get("unavailable-dates"), raw.get("init-value")
    inside = [*(days if isinstance(days, list) else []), start]
    inside += start.values() if isinstance(start, dict) else []
    return first > last or any(is_date(day) and not first <= day <= last for day in inside)


def _items(node: Node, findings: Findings) -> None:
    """Return the conflicts of a list and its items, and of the properties of an item."""
    raw, error, at = node.component, findings.error, node.pointer
    listed = raw.get("list-items" if node.type == "NavigationList" else "data-source")
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    events = ("on-select-action", "on-unselect-action")
    if _updates(raw, events) and any(_updates(item, events) for item in items):
        text = "update_data stands on the component or on its items"
        error("DUPLICATE_PROPETY_FOR_CONDITION", at, text)
    if node.type != "NavigationList":
        return
    with_action = sum("on-click-action" in item for item in items)
    if "on-click-action" in raw and with_action:
        text = "on-click-action stands on the list or on every item"
        error("DUPLICATE_PROPETY_FOR_CONDITION", at, text)
    elif "on-click-action" not in raw and with_action < len(items):
        text = "needed on the list or on every item"
        error("MISSING_REQUIRED_PROPERTY", step(at, "on-click-action"), text)
    if sum("badge" in item for item in items) > 1:
        error("MAX_ITEMS_REQUIRED", step(at, "list-items"), "at most one badge")
    if raw.get("media-size") == "large" and any("end" in item for item in items):
        text = "large excludes end"
        error("INVALID_PROPERTY_VALUE_FOR_CONDITION", step(at, "media-size"), text)


def _updates(raw: dict[str, Any], events: tuple[str, ...]) -> bool:
    actions = [raw.get(event) for event in events]
    return any(isinstance(one, dict) and one.get("name") == "update_data" for one in actions)


def _counts(screen: Screen, findings: Findings) -> None:
    """Count the components of the screen, all or of one type."""
    counts, at = screen.counts, screen.pointer
    for kind, count in counts.items():
        most = table.COMPONENTS[kind].per_screen
        if most is not None and count > most:
            branched = kind == "Footer" and any(node.in_branch for node in screen.of(kind))
            code = "MORE_THAN_ONE_FOOTER" if branched else _TOO_MANY
            findings.error(code, at, f"{count} {kind}, at most {most}")
    if counts["PhotoPicker"] and counts["DocumentPicker"]:
        findings.error(_TOO_MANY, at, "PhotoPicker and DocumentPicker exclude each other")
    total = len(screen.nodes) - sum(1 for _ in screen.of("Form"))
    if total > table.COMPONENTS_MOST:
        text = f"{total} components, at most {table.COMPONENTS_MOST}"
        findings.error("MAX_ALLOWED_COMPONENTS_PER_SCREEN", at, text)
    elif total > table.COMPONENTS_DOCUMENTED:
        text = f"{total} components of {table.COMPONENTS_DOCUMENTED}"
        findings.warning(DOCUMENTED_LIMIT, at, text)


def _placement(screen: Screen, flow: Flow) -> None:
    """RichText and NavigationList want their screen for themselves."""
    counts, error = screen.counts, flow.findings.error
    others = counts.keys() - {"RichText", "Footer" if flow.version >= "6.3" else ""}
    if counts["RichText"] and (counts["RichText"] > 1 or others):
        code = "COMPONENT" if flow.version >= "6.0" else "RICHTEXT"
        text = "RichText stands alone, from 6.3 with a Footer"
        error(f"INVALID_{code}_PLACEMENT", screen.pointer, text)
    if counts["NavigationList"] and counts.keys() - {"NavigationList", "Form"}:
        error("INVALID_COMPONENT_PLACEMENT", screen.pointer, "NavigationList stands alone")
    if counts["NavigationList"] and screen.terminal:
        text = "a terminal screen has no NavigationList"
        error("INVALID_PROPERTY_KEY", step(screen.pointer, "terminal"), text)


def _forms(screen: Screen, flow: Flow) -> None:
    """Inputs and their Form: where they stand and what it says about them."""
    error, forms = flow.findings.error, list(screen.of("Form"))
    if len(forms) > 1 and flow.version >= "7.0":
        error(_TOO_MANY, screen.pointer, f"{len(forms)} Form, at most 1")
    for node in screen.inputs.values():
        if flow.version < "4.0" and not node.in_form:
            error("KEYWORD_ONE_OF", node.pointer, "before 4.0 an input stands inside a Form")
        elif forms and not node.in_form:
            text = "an input cannot stand outside the Form of its screen"
            error("COMPONENTS_OUTSIDE_FORM", node.pointer, text)
    for form in forms:
        values, at = form.component.get("init-values"), step(form.pointer, "init-values")
        for name, value in values.items() if isinstance(values, dict) else ():
            node = screen.inputs.get(name, form)
            if node.media:
                code = "NATIVE_COMPONENT_IN_FORM_INIT_VALUES"
                error(code, step(at, name), "a picker cannot start with a value")
            elif flow.version >= "7.0" and (node is form or not node.takes(value)):
                error("INVALID_PROPERTY_TYPE", step(at, name), "fits no input of the Form")
            elif flow.version >= "7.0" and isinstance(value, str):
                for reference in references(value):
                    Properties(flow, screen).resolve(
                        reference, step(at, name), "INVALID_SCREEN_DYNAMIC_DATA"
                    )


def _terminals(flow: Flow) -> None:
    """A flow must be able to end, and to end well."""
    terminals, error = [screen for screen in flow.screens if screen.terminal], flow.findings.error
    if flow.screens and not terminals:
        error("MISSING_TERMINAL_SCREEN", "/screens", "at least one screen must be terminal")
    if terminals and all(screen.raw.get("success") is False for screen in terminals):
        at = step(terminals[0].pointer, "success")
        error("INVALID_PROPERTY_VALUE", at, "at least one terminal screen must succeed")
    for screen in terminals:
        if not screen.counts["Footer"]:
            text = "a terminal screen needs a Footer"
            error("MISSING_FOOTER_ON_TERMINAL_SCREEN", screen.pointer, text)
        for footer in screen.of("Footer"):
            action = footer.component.get("on-click-action")
            name = action.get("name") if isinstance(action, dict) else None
            if name == "navigate" or (name == "data_exchange" and not flow.endpoint):
                at = step(footer.pointer, "on-click-action", "name")
                error("INVALID_PROPERTY_VALUE", at, "a terminal screen ends the flow")
