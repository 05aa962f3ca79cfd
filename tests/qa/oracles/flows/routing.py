"""Check how the screens lead to each other."""

from collections import defaultdict
from typing import Any

from oracles.finding import step
from oracles.flows.actions import target
from oracles.flows.components import BRANCHES_MOST
from oracles.flows.flow import Flow

_CODE, _AT = "INVALID_ROUTING_MODEL", "/routing_model"
_Routes = dict[str, dict[str, None]]  # ordered sets


def check_routing(model: Any, flow: Flow) -> None:
    """Check the routing model; without an endpoint it is what the navigate actions say."""
    navigates: _Routes = defaultdict(dict)
    for act in flow.actions:
        if end := target(act):
            navigates[act.screen.id or ""][end] = None
    if flow.endpoint and isinstance(model, dict):
        if not _well_formed(model, flow):
            return
        routes = {name: dict.fromkeys(ends) for name, ends in model.items()}
        for name in navigates.keys() & flow.by_id.keys():
            for end in navigates[name].keys() - routes.get(name, {}).keys():
                at = step(flow.by_id[name].pointer, "id")
                flow.findings.error(_CODE, at, f"the routing model has no way to {end}")
        _forward(routes, flow)
        _connected(routes, flow)
    elif not flow.endpoint:
        _forward(navigates, flow)
        _connected(navigates, flow)


def _well_formed(model: dict[str, Any], flow: Flow) -> bool:
    kept = len(flow.findings)
    for name, ends in model.items():
        at = step(_AT, name)
        if not isinstance(ends, list) or not all(isinstance(end, str) for end in ends):
            flow.findings.error("INVALID_PROPERTY_TYPE", at, "must be an array of screen ids")
            continue
        for unknown in [one for one in (name, *ends) if one not in flow.by_id]:
            flow.findings.error(_CODE, at, f"no screen {unknown!r}")
    return len(flow.findings) == kept


def _forward(routes: _Routes, flow: Flow) -> None:
    """Only forward, at most ten ways on from a screen, and a screen to enter by."""
    error, inbound = flow.findings.error, set[str]()
    for name, ends in routes.items():
        at = step(_AT, name) if flow.endpoint else "/screens"
        if len(ends) > BRANCHES_MOST:
            error(_CODE, at, f"{len(ends)} ways on, at most {BRANCHES_MOST}")
        for end in ends:
            if end != name:
                inbound.add(end)
                if name < end and name in routes.get(end, {}):
                    error(_CODE, at, f"{name} and {end} lead to each other")
            elif flow.by_id[name].raw.get("refresh_on_back") is not True:
                error(_CODE, at, f"{name} leads to itself")
    if flow.screens and all(screen.id in inbound for screen in flow.screens):
        error(_CODE, "/screens", "every screen is led to by another: there is none to enter by")


def _connected(routes: _Routes, flow: Flow) -> None:
    """All of one piece; an endpoint can send anyone to a terminal screen that is left out."""
    ways: dict[str | None, set[str]] = defaultdict(set)
    for name, ends in routes.items():
        for end in ends:
            ways[name].add(end)
            ways[end].add(name)
    needed = [screen for screen in flow.screens if screen.id]
    if flow.endpoint:
        needed = [screen for screen in needed if not screen.terminal or ways[screen.id]]
    waiting = [screen.id for screen in needed[:1]]
    reached = set(waiting)
    while waiting:
        near = ways[waiting.pop()] - reached
        reached |= near
        waiting.extend(near)
    for screen in needed:
        if screen.id not in reached:
            at = step(screen.pointer, "id")
            flow.findings.error(_CODE, at, f"{screen.id} is not connected with {needed[0].id}")
