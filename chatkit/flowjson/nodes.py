"""One walk through a flow document of any shape: what stands in it, and where.

Every rule reads this outline instead of the document, so that a wrong shape is met in one
place only. Whatever is not of the expected shape is left out of the outline; that it is
wrong is for `structure` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chatkit.flowjson.components import COMPONENTS
from chatkit.flowjson.property import ComponentShape
from chatkit.flowjson.version import RECOMMENDED, Version
from chatkit.util.json_pointer import escape

ACTION_KEYS = ("on-click-action", "on-select-action", "on-unselect-action")
CHILD_KEYS = ("children", "then", "else", "cases")
DEPTH = 64  # deeper is never a flow, and the bound keeps the walk linear

_BOUND = re.compile(r"\$\{|`")


@dataclass(eq=False, slots=True)
class ComponentNode:
    """One component of a screen, with the place it stands in."""

    pointer: str
    value: dict[str, Any]
    type: str | None
    name: str | None
    screen: ScreenNode
    parent: ComponentNode | None
    form: ComponentNode | None  # the nearest Form around it
    if_depth: int  # how many If stand around it
    branch: ComponentNode | None  # the nearest If or Switch around it
    children: list[ComponentNode] = field(default_factory=list)

    @property
    def shape(self) -> ComponentShape | None:
        """What the table says of its type; None of one that is unknown."""
        return COMPONENTS.get(self.type or "")

    @property
    def slot(self) -> str:
        """In which list of its parent it stands, as a JSON pointer from the parent."""
        base = self.parent.pointer if self.parent else f"{self.screen.pointer}/layout"
        return self.pointer[len(base) :].rpartition("/")[0]


@dataclass(eq=False, slots=True)
class ActionNode:
    """What happens on a click or a choice."""

    pointer: str
    key: str  # on-click-action, on-select-action or on-unselect-action
    value: dict[str, Any]
    name: str | None
    owner: ComponentNode
    item: int | None  # the position in data-source or list-items, when it belongs to one
    target: str | None  # the screen it navigates to
    payload: dict[str, Any] | None  # only a payload that is an object

    @property
    def screen(self) -> ScreenNode:
        """The screen the action stands on."""
        return self.owner.screen


@dataclass(eq=False, slots=True)
class Binding:
    """A text that holds a reference `${…}` or a backtick."""

    pointer: str
    text: str
    owner: ComponentNode
    property: str  # the owner's property it belongs to
    action: ActionNode | None  # the action whose payload, url or target it is part of
    direct: bool  # it is the whole value of the property, not inside a list or an object


@dataclass(eq=False, slots=True)
class ScreenNode:
    """One screen: its data model, components, actions and bindings in document order."""

    pointer: str
    index: int
    value: dict[str, Any]
    id: str | None
    terminal: bool
    data: dict[str, Any]  # the declared fields, {} when there is no object
    components: list[ComponentNode] = field(default_factory=list)
    actions: list[ActionNode] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    fields: dict[str, ComponentNode] = field(default_factory=dict)  # by name, no Form
    forms: dict[str | None, ComponentNode] = field(default_factory=dict)  # by name
    strays: list[str] = field(default_factory=list)  # children that are no object
    too_deep: list[str] = field(default_factory=list)  # where the walk stopped

    @property
    def top(self) -> list[ComponentNode]:
        """The components that stand in the layout itself."""
        return [component for component in self.components if component.parent is None]


@dataclass(eq=False, slots=True)
class Outline:
    """A whole document."""

    document: Any
    version: Version  # RECOMMENDED when absent or unreadable
    endpoint: bool  # data_api_version is set
    screens: list[ScreenNode] = field(default_factory=list)
    by_id: dict[str, ScreenNode] = field(default_factory=dict)  # the first one wins
    routing: dict[str, Any] | None = None  # only a routing_model that is an object
    compared: dict[tuple[int, int], str] = field(default_factory=dict)  # pairs of schemas

    @property
    def components(self) -> Iterator[ComponentNode]:
        """All components of all screens."""
        return (component for screen in self.screens for component in screen.components)

    @property
    def actions(self) -> Iterator[ActionNode]:
        """All actions of all screens."""
        return (action for screen in self.screens for action in screen.actions)

    @property
    def bindings(self) -> Iterator[Binding]:
        """All texts with a reference or a backtick."""
        return (binding for screen in self.screens for binding in screen.bindings)


def outline(document: object, version: str | Version | None = None) -> Outline:
    """Walk a document once; `version` replaces the document's own."""
    whole = document if isinstance(document, dict) else {}
    wanted = version if isinstance(version, Version) else Version.parse(version)
    stated = wanted or Version.parse(whole.get("version")) or RECOMMENDED
    routing = whole.get("routing_model")
    result = Outline(
        document=document,
        version=stated,
        endpoint="data_api_version" in whole,
        routing=routing if isinstance(routing, dict) else None,
    )
    screens = whole.get("screens")
    for index, value in enumerate(screens if isinstance(screens, list) else ()):
        if isinstance(value, dict):
            screen = _screen(index, value)
            result.screens.append(screen)
            if screen.id is not None:
                result.by_id.setdefault(screen.id, screen)
    return result


def _screen(index: int, value: dict[str, Any]) -> ScreenNode:
    data = value.get("data")
    screen = ScreenNode(
        pointer=f"/screens/{index}",
        index=index,
        value=value,
        id=_text(value.get("id")),
        terminal=value.get("terminal") is True,
        data=data if isinstance(data, dict) else {},
    )
    layout = value.get("layout")
    children = layout.get("children") if isinstance(layout, dict) else None
    waiting = _children(screen, None, f"{screen.pointer}/layout/children", children)
    waiting.reverse()
    while waiting:  # a stack and no recursion: depth is the stranger's choice
        component = waiting.pop()
        screen.components.append(component)
        if component.parent is not None:
            component.parent.children.append(component)
        if component.type == "Form":
            screen.forms.setdefault(component.name, component)
        elif component.name is not None:
            screen.fields.setdefault(component.name, component)
        found: list[ComponentNode] = []
        for key, inner in component.value.items():
            if key in CHILD_KEYS and isinstance(inner, list | dict):
                found += _slots(component, key, inner)
            else:
                _property(component, key, inner)
        waiting.extend(reversed(found))
    return screen


def _slots(parent: ComponentNode, key: str, inner: object) -> list[ComponentNode]:
    """Make the components one property of a container holds."""
    pointer = f"{parent.pointer}/{key}"
    if pointer.count("/") > DEPTH:
        parent.screen.too_deep.append(pointer)
        return []
    if not isinstance(inner, Mapping):
        return _children(parent.screen, parent, pointer, inner)
    found: list[ComponentNode] = []
    for case, children in inner.items() if key == "cases" else ():
        found += _children(parent.screen, parent, f"{pointer}/{escape(str(case))}", children)
    return found


def _children(
    screen: ScreenNode, parent: ComponentNode | None, pointer: str, values: object
) -> list[ComponentNode]:
    found: list[ComponentNode] = []
    form, branch, if_depth = None, None, 0
    if parent is not None:
        form = parent if parent.type == "Form" else parent.form
        branch = parent if parent.type in ("If", "Switch") else parent.branch
        if_depth = parent.if_depth + (parent.type == "If")
    for index, value in enumerate(values if isinstance(values, list) else ()):
        if not isinstance(value, dict):
            screen.strays.append(f"{pointer}/{index}")
            continue
        found.append(
            ComponentNode(
                pointer=f"{pointer}/{index}",
                value=value,
                type=_text(value.get("type")),
                name=_text(value.get("name")),
                screen=screen,
                parent=parent,
                form=form,
                if_depth=if_depth,
                branch=branch,
            )
        )
    return found


def by_slot(components: Iterable[ComponentNode]) -> dict[str, list[ComponentNode]]:
    """Sort components by the list that they stand in."""
    found: dict[str, list[ComponentNode]] = {}
    for component in components:
        found.setdefault(component.slot, []).append(component)
    return found


def _property(owner: ComponentNode, key: str, value: object) -> None:
    """Collect the actions and bindings below one property."""
    top = f"{owner.pointer}/{escape(str(key))}"
    waiting: list[tuple[str, str, object, ActionNode | None, int | None]] = [
        (top, key, value, None, None)
    ]
    while waiting:
        pointer, step, inner, action, item = waiting.pop()
        if isinstance(inner, str):
            if _BOUND.search(inner):
                direct = pointer == top
                owner.screen.bindings.append(Binding(pointer, inner, owner, key, action, direct))
        elif isinstance(inner, dict):
            if action is None and step in ACTION_KEYS:
                action = _action(owner, pointer, step, inner, item)
            if pointer.count("/") > DEPTH:
                owner.screen.too_deep.append(pointer)
                continue
            waiting += [
                (f"{pointer}/{escape(str(name))}", str(name), below, action, item)
                for name, below in reversed(inner.items())
                if isinstance(below, str | dict | list)
            ]
        elif isinstance(inner, list):
            if pointer.count("/") > DEPTH:
                owner.screen.too_deep.append(pointer)
                continue
            waiting += [
                (f"{pointer}/{index}", "", inner[index], action, index if item is None else item)
                for index in reversed(range(len(inner)))
                if isinstance(inner[index], str | dict | list)
            ]


def _action(
    owner: ComponentNode, pointer: str, key: str, value: dict[str, Any], item: int | None
) -> ActionNode:
    following = value.get("next")
    payload = value.get("payload")
    action = ActionNode(
        pointer=pointer,
        key=key,
        value=value,
        name=_text(value.get("name")),
        owner=owner,
        item=item,
        target=_text(following.get("name")) if isinstance(following, dict) else None,
        payload=payload if isinstance(payload, dict) else None,
    )
    owner.screen.actions.append(action)
    return action


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
