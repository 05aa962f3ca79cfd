"""What a flow holds for nothing: answers that are thrown away, screens that nothing leads to.

The platform takes such a document without a word, so these are warnings of ours. That no
navigate action fills a field of the data model is for `action` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chatkit.finding import Finding, PatchOperation
from chatkit.flowjson.outline import ActionNode, ComponentNode, Outline, ScreenNode
from chatkit.flowjson.pointer import escape
from chatkit.flowjson.rules.routing import connected, routes
from chatkit.flowjson.rules.target import references

_NAME = re.compile(r"[\w-]+")
_SCREEN = re.compile(r"[^.{}`']+")


def check(outline: Outline) -> Iterator[Finding]:
    """Find inputs whose answer nothing uses, and screens that nothing leads to."""
    planned: set[str] = set()  # what patches of this check send already
    for component in _unused(outline):
        name = component.name or ""
        yield Finding(
            "UNUSED_INPUT",
            "warning",
            f"{component.pointer}/name",
            f"What people enter in {name} is thrown away: nothing sends or reads it.",
            f'Send it: "{name}": "${{form.{name}}}" in the payload of the action that leaves the '
            "screen. Or remove the input.",
            patch=tuple(_sending(outline, component, planned)),
        )
    for screen in _unreached(outline):
        yield Finding(
            "UNREACHED_SCREEN",
            "warning",
            f"{screen.pointer}/id",
            f"Nothing leads to {screen.id}.",
            "Let an action lead to it, or remove it. (A message can open a flow at any screen: "
            "if one of yours does, leave it.)",
        )


def _unused(outline: Outline) -> Iterator[ComponentNode]:
    """Yield the inputs to whose answer no payload, text or condition of the flow refers."""
    used: set[tuple[str | None, str]] = set()
    for binding in outline.bindings:
        for reference in references(binding.text):
            if reference.store == "form":
                home = reference.screen or binding.owner.screen.id
                used.add((home, reference.path[0]))
    for screen in outline.screens:
        for name, component in screen.fields.items():
            shape = component.shape
            if shape is not None and shape.value and (screen.id, name) not in used:
                yield component


def _sending(
    outline: Outline, component: ComponentNode, planned: set[str]
) -> Iterator[PatchOperation]:
    """Yield what sends the answer of an input: when its screen is left, or when the flow ends."""
    name, screen = component.name or "", component.screen
    if not _NAME.fullmatch(name):
        return  # no reference can be written
    own = [each for each in _senders(outline) if each.screen is screen]
    if own and (outline.version >= (4, 0) or component.form is own[0].owner.form):
        text, ends = f"${{form.{name}}}", own
    elif not own and outline.version >= (4, 0) and _SCREEN.fullmatch(screen.id or ""):
        text = f"${{screen.{screen.id}.form.{name}}}"
        ends = [each for each in _senders(outline) if each.screen.terminal]
    else:
        return
    for action in ends:
        key = name
        while key in (action.payload or {}) or f"{action.pointer}/{key}" in planned:
            key = f"{screen.id}_{key}".lower() if key == name else f"{key}_2"
        planned.add(f"{action.pointer}/{key}")
        yield PatchOperation("add", f"{action.pointer}/payload/{escape(key)}", text)


def _senders(outline: Outline) -> list[ActionNode]:
    """List the actions of Footers that hand answers to the business."""
    return [
        action
        for action in outline.actions
        if action.owner.type == "Footer"
        and action.name in ("complete", "data_exchange")
        and isinstance(action.value.get("payload", {}), dict)
    ]


def _unreached(outline: Outline) -> Iterator[ScreenNode]:
    """Yield the screens that no way from the first one leads to, though one joins them to it."""
    if outline.endpoint:  # it may open the flow at any screen
        return
    ways = routes(outline)
    entered = {target for source, targets in ways.items() for target in targets if target != source}
    first = next((name for name in outline.by_id if name not in entered), None)
    if first is None:  # said by `routing`, like those that nothing joins to the others
        return
    joined, reached, waiting = connected(outline, ways), {first}, [first]
    while waiting:
        for target in ways.get(waiting.pop(), ()):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    yield from (
        screen for name, screen in outline.by_id.items() if name not in reached and name in joined
    )
