"""Rules of the routing model, and of the navigate actions between screens.

A flow with an endpoint states its routes in `routing_model`; in a flow without one they follow
from its navigate actions. `check_routes` finds what the platform refuses, `check_reachable`
screens to which no route leads, which it accepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from chatkit.flowjson.nodes import FlowNode
from chatkit.flowjson.rules import Patch, error, rule, warning
from chatkit.flowjson.rules.shape import renaming, respelling, suggest
from chatkit.report import Finding, Severity
from chatkit.util.json import PatchOperation, escape, removing

_MOST_TARGETS = 10
_ROUTING = "/routing_model"


def routes(flow: FlowNode) -> dict[str, list[str]]:
    """Return the screens that follow each screen, by the routing model or the navigate actions."""
    return _navigate_targets(flow) if flow.routing is None else stated_routes(flow)


def stated_routes(flow: FlowNode) -> dict[str, list[str]]:
    """Return the routing model without what is not a list of texts."""
    model = flow.routing or {}
    return {
        str(source): [each for each in targets if isinstance(each, str)]
        for source, targets in model.items()
        if isinstance(targets, list)
    }


def _navigate_targets(flow: FlowNode) -> dict[str, list[str]]:
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
        made = PatchOperation("add", _ROUTING, _navigate_targets(flow))
        yield error("MISSING_REQUIRED_PROPERTY", _ROUTING, message, hint, (made,))
    if not flow.by_id:
        return
    if flow.routing is not None:
        yield from _check_shape(flow)
        yield from _check_stated_routes(flow)
    elif not flow.endpoint:
        yield from _check_navigate_targets(flow)


def _check_shape(flow: FlowNode) -> Iterator[Finding]:
    for source, targets in (flow.routing or {}).items():
        pointer = f"{_ROUTING}/{escape(str(source))}"
        if not isinstance(targets, list):
            yield _type_error(pointer, f"The routes of {source} must be a list of screen ids.")
            continue
        for index, target in enumerate(targets):
            if not isinstance(target, str):
                message = f"Route {index + 1} of {source} must be text."
                yield _type_error(f"{pointer}/{index}", message)


def _type_error(pointer: str, message: str) -> Finding:
    return error("INVALID_PROPERTY_TYPE", pointer, message, 'For example ["SECOND"].')


def _check_stated_routes(flow: FlowNode) -> Iterator[Finding]:
    """Check a routing model, and that it has a route for every navigate action."""
    model = flow.routing or {}
    stated = stated_routes(flow)
    navigated = _navigate_targets(flow)
    for source, targets in model.items():
        yield from _check_route(flow, str(source), targets)
    yield from _check_backward_routes(stated)
    unstated = _unstated_targets(flow, stated, navigated)
    reached = {target for targets in stated.values() for target in targets}
    for screen in flow.by_id.values():
        if screen.id not in model and screen.id not in reached and not screen.terminal:
            message = f"{screen.id} is missing in the routing model."
            hint, line = f'Add a line "{screen.id}": [].', f"{_ROUTING}/{escape(screen.id or '')}"
            patch = (PatchOperation("add", line, unstated.get(screen.id or "", [])),)
            yield _finding(f"{screen.pointer}/id", message, hint, patch=patch)
    entered = set(reached)
    if flow.version >= (7, 3):
        entered.update(target for targets in navigated.values() for target in targets)
    if entered.issuperset(flow.by_id):
        message = "No screen can be the first: each of them is the target of a route."
        hint = "Remove the routes back to the first screen; going back needs no route."
        yield _finding(_ROUTING, message, hint)
    yield from _check_connected(flow, stated)
    for source, targets in unstated.items():
        line = f"{_ROUTING}/{escape(source)}"
        for target in targets:
            message = f"{source} navigates to {target} without a route."
            hint = f"Add {target} to its line in routing_model."
            # a line that is missing is added with all its targets, whichever finding is fixed last
            to, value = (f"{line}/-", target) if source in stated else (line, targets)
            patch = (PatchOperation("add", to, value),)
            yield _finding(f"{flow.by_id[source].pointer}/id", message, hint, patch=patch)


def _check_route(flow: FlowNode, source: str, targets: object) -> Iterator[Finding]:
    """Check one screen of a routing model: that its targets exist, and are not too many."""
    pointer = f"{_ROUTING}/{escape(source)}"
    if source not in flow.by_id:
        left = [each for each in flow.by_id if each not in (flow.routing or {})]
        patch = renaming(pointer, {}, left)
        hint = suggest(source, left) if patch else "Correct or remove it."
        yield _finding(pointer, f"{source} is not a screen of this flow.", hint, patch=patch)
    if not isinstance(targets, list):
        return
    if len(targets) > _MOST_TARGETS:
        yield _too_many_targets(pointer, source, len(targets))
    if source in targets:
        itself = removing(f"{pointer}/{targets.index(source)}")
        yield _finding(pointer, f"{source} leads to itself.", "Remove that route.", patch=itself)
    for index, target in enumerate(targets):
        if isinstance(target, str) and target not in flow.by_id:
            message = f"{source} leads to {target}, which is not a screen of this flow."
            left = [each for each in flow.by_id if each not in (source, *targets)]
            patch = respelling(f"{pointer}/{index}", target, left)
            hint = suggest(target, left) if patch else "Correct or remove it."
            yield _finding(f"{pointer}/{index}", message, hint, patch=patch)


def _check_backward_routes(ways: dict[str, list[str]]) -> Iterator[Finding]:
    """Find routes back, and longer cycles."""
    order = {source: index for index, source in enumerate(ways)}
    sets = {source: set(targets) for source, targets in ways.items()}
    back_ways: set[tuple[str, str]] = set()
    for source, targets in ways.items():
        for index, target in enumerate(targets):
            back = source in sets.get(target, ())
            if back and source != target and order[target] < order[source]:
                back_ways.add((source, target))
                message = f"{source} leads back to {target}, which leads to it."
                hint = "State forward routes only; going back needs none."
                at = f"{_ROUTING}/{escape(source)}/{index}"
                yield _finding(at, message, hint, patch=removing(at))
    forward = {
        source: [target for target in targets if (source, target) not in back_ways]
        for source, targets in ways.items()
    }
    start = _find_cycle(forward)
    if start is not None:
        message = f"The routes of {start} lead back to it over other screens."
        hint = "State forward routes only; going back needs none."
        yield _finding(f"{_ROUTING}/{escape(start)}", message, hint, "warning")


def _find_cycle(ways: dict[str, list[str]]) -> str | None:
    """Return a screen of a cycle of two or more; None without a cycle."""
    before: dict[str, list[str]] = {source: [] for source in ways}
    for source, targets in ways.items():
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
    moves = _navigate_targets(flow)
    for screen in flow.by_id.values():
        targets = moves.get(screen.id or "", [])
        if len(targets) > _MOST_TARGETS:
            yield _too_many_targets(screen.pointer, str(screen.id), len(targets))
    listed = any(component.type == "NavigationList" for component in flow.components)
    entered = {
        target for source, targets in moves.items() for target in targets if target != source
    }
    if not listed and entered.issuperset(flow.by_id):
        message = "No screen can be the first: a navigate action leads to every one of them."
        hint = "Remove the navigation back to the first screen; going back needs none."
        yield _finding("/screens", message, hint)
    if not listed and len(flow.by_id) > 1:
        yield from _check_connected(flow, moves)


def _connected_screens(flow: FlowNode, ways: Mapping[str, list[str]]) -> set[str]:
    """Return the screens connected with the first one, by routes in either direction."""
    neighbours: dict[str, set[str]] = {}
    for source, targets in ways.items():
        for target in targets:
            neighbours.setdefault(source, set()).add(target)
            neighbours.setdefault(target, set()).add(source)
    return _reachable_screens(next(iter(flow.by_id)), neighbours)


def _reachable_screens(first: str, ways: Mapping[str, Iterable[str]]) -> set[str]:
    """Return a screen and all that routes reach from it."""
    seen, waiting = {first}, [first]
    while waiting:
        for each in ways.get(waiting.pop(), ()):
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return seen


def _check_connected(flow: FlowNode, ways: dict[str, list[str]]) -> Iterator[Finding]:
    """Find screens not connected with the first one, if every route leads to a known screen."""
    joined = _connected_screens(flow, ways) if _has_known_targets(flow, ways) else set(flow.by_id)
    for name, screen in flow.by_id.items():
        if name not in joined:
            message = f"{name} is not connected with the other screens."
            hint = "Add a route to it." if flow.endpoint else "Let an action navigate to it."
            # an endpoint may end a flow on a terminal screen that no route names
            severity: Severity = "warning" if flow.endpoint and screen.terminal else "error"
            yield _finding(f"{screen.pointer}/id", message, hint, severity)


def _has_known_targets(flow: FlowNode, ways: Mapping[str, list[str]]) -> bool:
    """Return whether every route leads to a screen of the flow; others are reported themselves."""
    return all(target in flow.by_id for targets in ways.values() for target in targets)


def _unstated_targets(
    flow: FlowNode, ways: dict[str, list[str]], moves: dict[str, list[str]]
) -> dict[str, list[str]]:
    """Return the targets of navigate actions without a route in either direction, by screen."""
    joined = {(source, target) for source, targets in ways.items() for target in targets}
    lists: set[str | None] = set()  # the platform does not look at the routes of such a screen
    if flow.version >= (6, 2):
        lists = {each.screen.id for each in flow.components if each.type == "NavigationList"}
    unstated: dict[str, list[str]] = {}
    for source, targets in moves.items():
        for target in targets if source not in lists else ():
            known = target in flow.by_id and target != source  # else `action` reports it
            if known and joined.isdisjoint(((source, target), (target, source))):
                unstated.setdefault(source, []).append(target)
    return unstated


def _too_many_targets(pointer: str, name: str, count: int) -> Finding:
    message = f"{name} leads to {count} screens; {_MOST_TARGETS} are allowed."
    return _finding(pointer, message, "Let some of them follow another screen.")


def _finding(
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
    ways = routes(flow)
    if not _has_known_targets(flow, ways):
        return
    entered = {target for source, targets in ways.items() for target in targets if target != source}
    first = next((name for name in flow.by_id if name not in entered), None)
    if first is None:  # reported by `check_routes`, like those that nothing joins to the others
        return
    joined, reached = _connected_screens(flow, ways), _reachable_screens(first, ways)
    for name, screen in flow.by_id.items():
        if name not in reached and name in joined:
            hint = "Let an action lead to it, or remove it. (A message can open a flow at any "
            hint += "screen: if one of yours does, leave it.)"
            at = f"{screen.pointer}/id"
            yield warning("UNREACHED_SCREEN", at, f"Nothing leads to {name}.", hint)
