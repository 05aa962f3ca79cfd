"""Apply rules to the nodes of a flow document.

A rule is a function of a module in `rules`, registered for the kinds of nodes that it reads:
"flow", "screen", "component", "action", "binding", or a type of components, such as "Footer", or
"early Footer" where the version of the document does not know that type yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from chatkit.flowjson.nodes import FlowNode
from chatkit.report import Finding
from chatkit.util.json import PatchOperation

#: The operations that correct a document.
Patch = tuple[PatchOperation, ...]
Rule = Callable[[FlowNode, Any], Iterator[Finding]]
R = TypeVar("R", bound=Callable[..., Iterator[Finding]])
#: The rules of each kind of node.
RULES: dict[str, list[Rule]] = {}


def error(code: str, pointer: str, message: str, hint: str = "", patch: Patch = ()) -> Finding:
    """Make a finding that the platform refuses."""
    return Finding(code, "error", pointer, message, hint, patch=patch)


def warning(code: str, pointer: str, message: str, hint: str = "", patch: Patch = ()) -> Finding:
    """Make a finding that is likely a mistake."""
    return Finding(code, "warning", pointer, message, hint, patch=patch)


def rule(*kinds: str) -> Callable[[R], R]:
    """Register a function that yields the findings of a node, given the flow and the node."""

    def register(function: R) -> R:
        for kind in kinds:
            RULES.setdefault(kind, []).append(function)
        return function

    return register


def run_rules(flow: FlowNode, rules: dict[str, list[Rule]] = RULES) -> Iterator[Finding]:
    """Yield the findings of all rules, node by node."""
    for kind, node in _nodes_with_kinds(flow):
        for check in rules.get(kind, ()):
            yield from check(flow, node)


def _nodes_with_kinds(flow: FlowNode) -> Iterator[tuple[str, Any]]:
    """Yield every node with its kind; a component a second time, with its type."""
    yield "flow", flow
    for screen in flow.screens:
        yield "screen", screen
        for component in screen.components:
            yield "component", component
            if (shape := component.shape) is not None:
                early = "" if shape.since <= flow.version else "early "
                yield early + shape.name, component
        yield from (("action", action) for action in screen.actions)
        yield from (("binding", binding) for binding in screen.bindings)
