"""A flow document taken apart: screens, their components in order, their inputs by name."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from oracles.finding import Findings, step
from oracles.flows import components as table
from oracles.flows.references import Reference, declared_type, json_type

RANGE = ("start-date", "end-date")


@dataclass(slots=True)
class Node:
    """One component where it stands."""

    type: str
    component: dict[str, Any]
    pointer: str
    in_form: bool = False
    in_branch: bool = False

    @property
    def media(self) -> bool:
        """Return whether the component picks files."""
        return table.COMPONENTS[self.type].media

    def answers(self) -> str | None:
        """The JSON type of what an input answers; None where its settings decide."""
        if self.component.get("input-type") == "number" or self.component.get("mode") == "range":
            return None
        return table.COMPONENTS[self.type].value

    def takes(self, value: Any) -> bool:
        """Return whether an input can have an initial value; expressions are not evaluated."""
        if isinstance(value, str) and ("${" in value or value.startswith("`")):
            return True
        if self.component.get("input-type") == "number":
            digits = value.strip().removeprefix("-") if isinstance(value, str) else ""
            return json_type(value) == "number" or digits.replace(".", "", 1).isdecimal()
        return self.answers() in (None, json_type(value))


@dataclass(slots=True)
class Screen:
    """One screen of the document."""

    raw: dict[str, Any]
    pointer: str
    data: dict[str, Any] = field(default_factory=dict)  # its data model, field by field
    nodes: list[Node] = field(default_factory=list)
    inputs: dict[str, Node] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)  # of types; one branch of each If

    @property
    def id(self) -> str | None:
        """Its id, when that is a text."""
        name = self.raw.get("id")
        return name if isinstance(name, str) else None

    @property
    def terminal(self) -> bool:
        """Return whether the flow can end here."""
        return self.raw.get("terminal") is True

    def of(self, kind: str) -> Iterator[Node]:
        """The components of one type."""
        return (node for node in self.nodes if node.type == kind)


@dataclass(slots=True)
class Action:
    """An action and its place; checked after all components."""

    screen: Screen
    node: Node
    raw: dict[str, Any]
    pointer: str

    @property
    def payload(self) -> dict[str, Any]:
        """Its payload, empty when there is none."""
        payload = self.raw.get("payload")
        return payload if isinstance(payload, dict) else {}


@dataclass(slots=True)
class Flow:
    """The document and what was found about it."""

    version: str
    endpoint: bool
    findings: Findings
    screens: list[Screen] = field(default_factory=list)
    by_id: dict[str, Screen] = field(default_factory=dict)
    actions: list[Action] = field(default_factory=list)

    def find(self, screen: Screen, reference: Reference) -> dict[str, Any] | None:
        """The schema of what a reference points to, {} when it tells nothing, None: not there."""
        present = screen if reference.screen is None else self.by_id.get(reference.screen)
        first, *rest = reference.path
        if present is None:
            return None
        if reference.scope == "form":
            node = present.inputs.get(first)
            if node is None or (rest and rest[0] not in RANGE):
                return None
            return {"type": "string" if rest else node.answers()}
        schema: dict[str, Any] = {"properties": present.data}
        for name in reference.path:
            properties = schema.get("properties")
            if properties is None and declared_type(schema) in (None, "object"):
                return {}
            inner = properties.get(name) if isinstance(properties, dict) else None
            if not isinstance(inner, dict):
                return None
            schema = inner
        return schema

    def read(self, raw: list[Any]) -> None:
        """Take the screens apart; what cannot be is found on the way."""
        for index, one in enumerate(raw):
            pointer = step("/screens", index)
            if not isinstance(one, dict):
                self.findings.error("INVALID_PROPERTY_TYPE", pointer, "a screen is an object")
                continue
            screen = Screen(one, pointer)
            layout, model = one.get("layout"), one.get("data")
            if isinstance(model, dict):  # an old form lists the required fields among them
                screen.data = dict(model)
                if isinstance(model.get("required"), list):
                    del screen.data["required"]
            if isinstance(layout, dict):
                at = step(pointer, "layout", "children")
                screen.counts = self._children(layout.get("children"), at, (), screen)
            self.screens.append(screen)
            if screen.id is None:
                continue
            first = self.by_id.setdefault(screen.id, screen)
            if first is not screen:
                text = f"{screen.id!r} is also the id of {pointer}"
                self.findings.error("DUPLICATE_SCREEN_IDS", step(first.pointer, "id"), text)

    def _children(
        self, raw: Any, pointer: str, around: tuple[str, ...], screen: Screen
    ) -> Counter[str]:
        """The types below, counted; of the branches of an If or Switch the fullest counts."""
        counts: Counter[str] = Counter()
        for index, one in enumerate(raw if isinstance(raw, list) else []):
            at = step(pointer, index)
            if isinstance(one, dict):
                counts.update(self._component(one, at, around, screen))
            else:
                self.findings.error("INVALID_PROPERTY_TYPE", at, "a component is an object")
        return counts

    def _component(
        self, raw: dict[str, Any], pointer: str, around: tuple[str, ...], screen: Screen
    ) -> Counter[str]:
        kind, at, error = raw.get("type"), step(pointer, "type"), self.findings.error
        if kind is None:
            error("MISSING_REQUIRED_TYPE_PROPERTY", at, "a component needs a type")
            return Counter()
        if not isinstance(kind, str) or kind not in table.COMPONENTS:
            error("INVALID_PROPERTY_VALUE", at, "no such component")
            return Counter()
        since = table.COMPONENTS[kind].since
        if kind == "ChipsSelector" and {"If", "Switch"}.intersection(around):
            since = table.CHIPS_IN_BRANCHES
        if self.version < since:
            error("INVALID_PROPERTY_VALUE", at, f"{kind} exists here since {since}")
        if around and kind in table.NOT_INSIDE[around[-1]]:
            error("INVALID_PROPERTY_VALUE", at, f"{kind} cannot stand inside {around[-1]}")
            return Counter([kind])
        if kind == "If" and around.count("If") == table.IF_DEPTH_MOST:
            error("MAXIMUM_IF_NESTING", pointer, f"at most {table.IF_DEPTH_MOST} in each other")
            return Counter([kind])
        branches = len(around) - around.count("Form")
        if kind == "Footer" and branches > 1:
            error("INVALID_PROPERTY_VALUE", at, "a Footer stands in the first level of branches")
        node = Node(kind, raw, pointer, "Form" in around, branches > 0)
        screen.nodes.append(node)
        name: Any = raw.get("name")
        is_input = table.COMPONENTS[kind].value is not None and isinstance(name, str)
        if is_input and screen.inputs.setdefault(name, node) is not node:
            text = f"{name!r} names two components of this screen"
            error("DUPLICATE_FORM_COMPONENT_NAMES", step(pointer, "name"), text)
        return Counter([kind]) + self._below(node, (*around, kind), screen)

    def _below(self, node: Node, around: tuple[str, ...], screen: Screen) -> Counter[str]:
        raw, pointer, branches = node.component, node.pointer, {}
        if node.type == "Form":
            return self._children(raw.get("children"), step(pointer, "children"), around, screen)
        if node.type == "If":
            branches = {key: raw.get(key) for key in ("then", "else")}
        elif node.type == "Switch" and isinstance(raw.get("cases"), dict):
            branches, pointer = raw["cases"], step(pointer, "cases")
        widest: Counter[str] = Counter()
        with_footer = 0
        for key, branch in branches.items():
            counts = self._children(branch, step(pointer, key), around, screen)
            widest |= counts
            with_footer += counts["Footer"] > 0
        if 0 < with_footer < len(branches):
            code = f"MISSING_FOOTER_IN_{'IF_ELSE' if node.type == 'If' else 'SWITCH'}_BRANCHES"
            self.findings.error(code, node.pointer, "a Footer in one branch needs one in each")
        return widest
