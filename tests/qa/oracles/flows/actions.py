"""Check the actions: their targets, and their payloads against the data models of these."""

from collections.abc import Iterator
from typing import Any

from oracles.finding import step
from oracles.flows.flow import Action, Flow, Node, Screen
from oracles.flows.properties import Properties
from oracles.flows.references import (
    declared_type,
    is_expression,
    json_type,
    references,
    whole,
)

_LAST_COMPLETE_RULE = "7.1"  # from 7.2 complete may stand on any screen
_EXPRESSIONS_CHECKED = "7.2"


def check_actions(flow: Flow) -> bool:
    """Check every action of the document; true when each navigate leads to another screen."""
    leads_on = True
    for act in flow.actions:
        name = act.raw["name"]
        if name == "navigate":
            leads_on = _navigate(act, flow) and leads_on
        elif name == "complete" and not act.screen.terminal:
            if flow.version <= _LAST_COMPLETE_RULE:
                text = "complete stands on a terminal screen"
                flow.findings.error("INVALID_COMPLETE_ACTION", act.pointer, text)
        elif name == "update_data":
            _update_data(act, flow)
        _references(act, flow)
    if not flow.endpoint and any(act.raw["name"] == "data_exchange" for act in flow.actions):
        text = "data_exchange needs data_api_version"
        flow.findings.error("MISSING_REQUIRED_PROPERTY", "/data_api_version", text)
    return leads_on


def target(act: Action) -> str | None:
    """Return the name of the screen to which an action leads."""
    following = act.raw.get("next")
    name = following.get("name") if isinstance(following, dict) else None
    return name if isinstance(name, str) else None


def _navigate(act: Action, flow: Flow) -> bool:
    name = target(act)
    if name is None:
        return False
    screen = flow.by_id.get(name)
    if screen is None or screen.id == act.screen.id:
        text = "no such screen" if screen is None else "a screen cannot lead to itself"
        at = step(act.pointer, "next", "name")
        flow.findings.error("INVALID_NAVIGATE_ACTION_NEXT_SCREEN_NAME", at, text)
        return False
    _hand_over(act, screen, flow)
    return True


def _hand_over(act: Action, screen: Screen, flow: Flow) -> None:
    """Compare the payload of a navigate with the data model of its target."""
    # An endpoint can supply what a payload leaves out: with one, a gap is only worth a warning.
    gap = flow.findings.warning if flow.endpoint else flow.findings.error
    at, code, asked = step(act.pointer, "payload"), "INVALID_NAVIGATE_ACTION_PAYLOAD", screen.data
    if "payload" not in act.raw:
        if asked:
            gap("MISSING_NAVIGATION_ACTION_PAYLOAD", at, f"{screen.id} waits for data")
        return
    for key in asked:
        if key not in act.payload:
            gap(code, at, f"{screen.id} waits for {key}")
    for key, value in act.payload.items():
        if key in asked:
            _same_type(code, act, key, value, asked[key], flow)
        else:
            gap(code, step(at, key), f"the data model of {screen.id} has no {key}")


def _same_type(code: str, act: Action, key: str, value: Any, schema: Any, flow: Flow) -> None:
    passed: str | None = json_type(value)
    if isinstance(value, str) and whole(value):
        passed = Properties(flow, act.screen).type_of(value)
    elif isinstance(value, str) and is_expression(value, flow.version):
        passed = None
    asked = declared_type(schema)
    if passed is not None and asked is not None and passed != asked:
        at = step(act.pointer, "payload", key)
        flow.findings.error(code, at, f"is {passed}, but the data model says {asked}")


def _update_data(act: Action, flow: Flow) -> None:
    code, asked = "INVALID_UPDATE_DATA_ACTION_PAYLOAD", act.screen.data
    for key, value in act.payload.items():
        at = step(act.pointer, "payload", key)
        if key not in asked:
            flow.findings.error(code, at, f"the data model of this screen has no {key}")
        elif value == f"${{data.{key}}}":
            flow.findings.error(code, at, "a field cannot be updated with its own value")
        else:
            _same_type(code, act, key, value, asked[key], flow)


def _references(act: Action, flow: Flow) -> None:
    """Every reference of a payload exists; pickers, and Forms before 4.0, keep to their rules."""
    name, error, properties = act.raw["name"], flow.findings.error, Properties(flow, act.screen)
    missing = "UPDATE_DATA" if name == "update_data" else "ON_CLICK"
    missing = f"INVALID_{missing}_ACTION_PAYLOAD"
    outside = act.node.type == "Footer" and not act.node.in_form and act.screen.counts["Form"]
    for key, value in act.payload.items():
        at = step(act.pointer, "payload", key)
        for text in _texts(value):
            code = missing
            if is_expression(text, flow.version):
                if flow.version < _EXPRESSIONS_CHECKED:
                    continue
                code = "INVALID_ACTION_PAYLOAD_PROPERTY"
            for reference in references(text):
                properties.resolve(reference, at, code)
                if reference.scope != "form":
                    continue
                if outside and flow.version < "4.0":
                    problem = "a Footer outside the Form cannot use its values"
                    error("INVALID_FOOTER_PAYLOAD_OUTSIDE_FORM", at, problem)
                screen = flow.by_id.get(reference.screen or "", act.screen)
                node = screen.inputs.get(reference.path[0])
                if node is not None and node.media and name == "navigate":
                    error(missing, at, f"{node.type} cannot travel with navigate")
                elif node is not None and node.media and not (text is value and whole(text)):
                    error(missing, at, f"{node.type} must be a value of its own")
                elif node is not None and node.media and name == "complete" and _several(node):
                    # the page on errors refuses this, the page on media takes ten files
                    problem = f"complete may take only one file of {node.type}"
                    flow.findings.warning(missing, at, problem)


def _several(picker: Node) -> bool:
    most = [value for key, value in picker.component.items() if key.startswith("max-uploaded-")]
    return most[:1] != [1]


def _texts(value: Any) -> Iterator[str]:
    """Every text inside a payload value, however deep."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict | list):
            waiting.extend(item.values() if isinstance(item, dict) else item)
