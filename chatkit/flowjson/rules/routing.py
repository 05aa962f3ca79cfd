"""Ways through a flow: the routing model, and what the navigate actions make of it.

A flow with an endpoint states its routes in `routing_model`. In a flow without one they are
what its navigate actions say. `check` tells what the platform refuses of them, `check_reached`
what it takes without a word: screens to which no way leads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from chatkit.flowjson.nodes import FlowNode
from chatkit.flowjson.rules import error, rule, warning
from chatkit.flowjson.rules.shape import close, renamed, respelt
from chatkit.report import Finding, Severity
from chatkit.util.json import PatchOperation, escape, removing

_BRANCHES = 10
_ROUTING = "/routing_model"


def routes(flow: FlowNode) -> dict[str, list[str]]:
    """Return which screens follow each screen, as stated or as its navigate actions make it."""
    return _navigations(flow) if flow.routing is None else stated(flow)


def stated(flow: FlowNode) -> dict[str, list[str]]:
    """Read the routing model: what is no list of texts counts for nothing."""
    model = flow.routing or {}
    return {
        str(source): [each for each in targets if isinstance(each, str)]
        for source, targets in model.items()
        if isinstance(targets, list)
    }


def _navigations(flow: FlowNode) -> dict[str, list[str]]:
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
    """Check the ways between the screens."""
    whole = flow.value if isinstance(flow.value, Mapping) else {}
    if flow.endpoint and whole.get("routing_model") is None:
        message = "A flow with data_api_version needs a routing_model."
        hint = 'Write one line for each screen: {"FIRST": ["SECOND"], "SECOND": []}.'
        made = PatchOperation("add", _ROUTING, _navigations(flow))
        yield error("MISSING_REQUIRED_PROPERTY", _ROUTING, message, hint, (made,))
    if not flow.by_id:
        return
    if flow.routing is not None:
        yield from _shape(flow)
        yield from _stated(flow)
    elif not flow.endpoint:
        yield from _navigated(flow)


def _shape(flow: FlowNode) -> Iterator[Finding]:
    for source, targets in (flow.routing or {}).items():
        pointer = f"{_ROUTING}/{escape(str(source))}"
        if not isinstance(targets, list):
            yield _type(pointer, f"The routes of {source} must be a list of screen ids.")
            continue
        for index, target in enumerate(targets):
            if not isinstance(target, str):
                yield _type(f"{pointer}/{index}", f"Route {index + 1} of {source} must be text.")


def _type(pointer: str, message: str) -> Finding:
    return error("INVALID_PROPERTY_TYPE", pointer, message, 'For example ["SECOND"].')


def _stated(flow: FlowNode) -> Iterator[Finding]:
    """Check a routing model, and that it knows every navigate action."""
    model = flow.routing or {}
    ways = stated(flow)
    moves = _navigations(flow)
    for source, targets in model.items():
        yield from _line(flow, str(source), targets)
    yield from _backward(ways)
    unstated = _unstated(flow, ways, moves)
    reached = {target for targets in ways.values() for target in targets}
    for screen in flow.by_id.values():
        if screen.id not in model and screen.id not in reached and not screen.terminal:
            message = f"{screen.id} is missing in the routing model."
            hint, line = f'Add a line "{screen.id}": [].', f"{_ROUTING}/{escape(screen.id or '')}"
            patch = (PatchOperation("add", line, unstated.get(screen.id or "", [])),)
            yield _wrong(f"{screen.pointer}/id", message, hint, patch=patch)
    entered = set(reached)
    if flow.version >= (7, 3):
        entered.update(target for targets in moves.values() for target in targets)
    if entered.issuperset(flow.by_id):
        message = "No screen can be the first: each of them is the target of a route."
        hint = "Remove the routes back to the first screen; going back needs no route."
        yield _wrong(_ROUTING, message, hint)
    yield from _unconnected(flow, ways)
    for source, targets in unstated.items():
        line = f"{_ROUTING}/{escape(source)}"
        for target in targets:
            message = f"{source} navigates to {target} without a route."
            hint = f"Add {target} to its line in routing_model."
            # a line that is missing is added with all its targets, whichever finding is fixed last
            to, value = (f"{line}/-", target) if source in ways else (line, targets)
            patch = (PatchOperation("add", to, value),)
            yield _wrong(f"{flow.by_id[source].pointer}/id", message, hint, patch=patch)


def _line(flow: FlowNode, source: str, targets: object) -> Iterator[Finding]:
    """Check one line of a routing model: that its screens exist, and are not too many."""
    pointer = f"{_ROUTING}/{escape(source)}"
    if source not in flow.by_id:
        left = [each for each in flow.by_id if each not in (flow.routing or {})]
        patch = renamed(pointer, {}, left)
        hint = close(source, left) if patch else "Correct or remove it."
        yield _wrong(pointer, f"{source} is not a screen of this flow.", hint, patch=patch)
    if not isinstance(targets, list):
        return
    if len(targets) > _BRANCHES:
        yield _branches(pointer, source, len(targets))
    if source in targets:
        itself = removing(f"{pointer}/{targets.index(source)}")
        yield _wrong(pointer, f"{source} leads to itself.", "Remove that route.", patch=itself)
    for index, target in enumerate(targets):
        if isinstance(target, str) and target not in flow.by_id:
            message = f"{source} leads to {target}, which is not a screen of this flow."
            left = [each for each in flow.by_id if each not in (source, *targets)]
            patch = respelt(f"{pointer}/{index}", target, left)
            hint = close(target, left) if patch else "Correct or remove it."
            yield _wrong(f"{pointer}/{index}", message, hint, patch=patch)


def _backward(ways: dict[str, list[str]]) -> Iterator[Finding]:
    """Find routes back, and longer rings."""
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
                yield _wrong(at, message, hint, patch=removing(at))
    forward = {
        source: [target for target in targets if (source, target) not in back_ways]
        for source, targets in ways.items()
    }
    start = _cycle(forward)
    if start is not None:
        message = f"The routes of {start} lead back to it over other screens."
        hint = "State forward routes only; going back needs none."
        yield _wrong(f"{_ROUTING}/{escape(start)}", message, hint, "warning")


def _cycle(ways: dict[str, list[str]]) -> str | None:
    """Find a screen that is reached again from itself over others."""
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


def _navigated(flow: FlowNode) -> Iterator[Finding]:
    """Check the ways of a flow without endpoint: only navigate leads from screen to screen."""
    moves = _navigations(flow)
    for screen in flow.by_id.values():
        targets = moves.get(screen.id or "", [])
        if len(targets) > _BRANCHES:
            yield _branches(screen.pointer, str(screen.id), len(targets))
    listed = any(component.type == "NavigationList" for component in flow.components)
    entered = {
        target for source, targets in moves.items() for target in targets if target != source
    }
    if not listed and entered.issuperset(flow.by_id):
        message = "No screen can be the first: a navigate action leads to every one of them."
        hint = "Remove the navigation back to the first screen; going back needs none."
        yield _wrong("/screens", message, hint)
    if not listed and len(flow.by_id) > 1:
        yield from _unconnected(flow, moves)


def _connected(flow: FlowNode, ways: Mapping[str, list[str]]) -> set[str]:
    """Name the screens that a way joins with the first one, whichever way it runs."""
    neighbours: dict[str, set[str]] = {}
    for source, targets in ways.items():
        for target in targets:
            neighbours.setdefault(source, set()).add(target)
            neighbours.setdefault(target, set()).add(source)
    return _reached(next(iter(flow.by_id)), neighbours)


def _reached(first: str, ways: Mapping[str, Iterable[str]]) -> set[str]:
    """Name the screens to which ways lead from one, and that one."""
    seen, waiting = {first}, [first]
    while waiting:
        for each in ways.get(waiting.pop(), ()):
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return seen


def _unconnected(flow: FlowNode, ways: dict[str, list[str]]) -> Iterator[Finding]:
    """Find screens that no way joins with the first one, unless a way that is lost may do so."""
    joined = _connected(flow, ways) if _is_whole(flow, ways) else set(flow.by_id)
    for name, screen in flow.by_id.items():
        if name not in joined:
            yield _wrong(
                f"{screen.pointer}/id",
                f"{name} is not connected with the other screens.",
                "Add a route to it." if flow.endpoint else "Let an action navigate to it.",
                # an endpoint may end a flow on a terminal screen that no route names
                "warning" if flow.endpoint and screen.terminal else "error",
            )


def _is_whole(flow: FlowNode, ways: Mapping[str, list[str]]) -> bool:
    """Return whether every way leads to a screen of the flow: others are reported themselves."""
    return all(target in flow.by_id for targets in ways.values() for target in targets)


def _unstated(
    flow: FlowNode, ways: dict[str, list[str]], moves: dict[str, list[str]]
) -> dict[str, list[str]]:
    """Return the targets of navigate actions that have no route in either direction."""
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


def _branches(pointer: str, name: str, count: int) -> Finding:
    return _wrong(
        pointer,
        f"{name} leads to {count} screens; {_BRANCHES} are allowed.",
        "Let some of them follow another screen.",
    )


def _wrong(
    pointer: str,
    message: str,
    hint: str,
    severity: Severity = "error",
    patch: tuple[PatchOperation, ...] = (),
) -> Finding:
    """Make the one code all rules of routing share."""
    return Finding("INVALID_ROUTING_MODEL", severity, pointer, message, hint, patch=patch)


@rule("flow")
def check_reached(flow: FlowNode, _: FlowNode) -> Iterator[Finding]:
    """Find screens that nothing leads to: the platform takes them without a word."""
    if flow.endpoint:  # it may open the flow at any screen
        return
    ways = routes(flow)
    if not _is_whole(flow, ways):
        return
    entered = {target for source, targets in ways.items() for target in targets if target != source}
    first = next((name for name in flow.by_id if name not in entered), None)
    if first is None:  # reported by `check_routes`, like those that nothing joins to the others
        return
    joined, reached = _connected(flow, ways), _reached(first, ways)
    for name, screen in flow.by_id.items():
        if name not in reached and name in joined:
            yield warning(
                "UNREACHED_SCREEN",
                f"{screen.pointer}/id",
                f"Nothing leads to {name}.",
                "Let an action lead to it, or remove it. (A message can open a flow at any "
                "screen: if one of yours does, leave it.)",
            )
