"""References in components: each leads to a value of the right type, and to each input leads one.

What stands in backticks, and the condition of an If, belong to `expression`; the payloads of
actions to `action`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from chatkit.flowjson.nodes import (
    ActionNode,
    Binding,
    ComponentNode,
    FlowNode,
    Reference,
    ScreenNode,
    fits,
    is_expression,
    misspelled,
    named,
    references,
    resolve,
    types_of,
    unread,
)
from chatkit.flowjson.property import Property, Shape
from chatkit.flowjson.visitor import rule
from chatkit.report import Finding, Severity
from chatkit.util.json import PatchOperation, escape, unescape

_FORM_MAPS = ("init-values", "error-messages")
#: The names of inputs and screens that a reference can hold.
_INPUT_NAME = re.compile(r"[\w-]+")
_SCREEN_NAME = re.compile(r"[^.{}`']+")


@rule("binding")
def check_binding(flow: FlowNode, binding: Binding) -> Iterator[Finding]:
    """Find references in components that lead nowhere, or to a value of the wrong type."""
    if binding.is_fixed or (binding.owner.type, binding.property) == ("If", "condition"):
        return
    action = binding.action
    if action is None:
        yield from _property(flow, binding)
    elif binding.pointer.startswith(f"{action.pointer}/payload"):
        return  # for the rules of `action`
    elif flow.version < (6, 0) or not binding.is_expression:
        yield from _bound(flow, binding, frozenset(("string",)))


@rule("Switch", "early Switch")
def check_switch(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that a Switch depends on a reference."""
    asked = component.value.get("value")
    if isinstance(asked, str) and "${" not in asked and "`" not in asked:
        yield _no_reference(f"{component.pointer}/value", "value")


@rule("screen")
def check_title(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Find references in the title of a screen that lead nowhere."""
    title = screen.value.get("title")
    for reference in references(title) if isinstance(title, str) else ():
        problem = resolve(flow, screen, reference).problem
        if problem:
            code = "INVALID_SCREEN_DYNAMIC_DATA"
            message = f"{reference.text} does not exist: {problem}."
            hint = "Declare it, or correct the name."
            yield Finding(code, "warning", f"{screen.pointer}/title", message, hint)


def _property(flow: FlowNode, binding: Binding) -> Iterator[Finding]:
    owner, text = binding.owner, binding.text
    if owner.type == "RichText" and binding.property == "text":
        yield from _rich_text(flow, binding)
        return
    expression = is_expression(text)
    if expression and flow.version >= (6, 0):
        return
    prop = binding.about
    if not binding.is_direct or prop is None:
        yield from _bound(flow, binding, _first_value(flow, binding))
        return
    wanted = frozenset(prop.json_types(flow.version))
    # A written-out string is wrong here: only a whole reference may stand for the value.
    if (prop.kind == "reference" or "string" not in wanted) and binding.whole is None:
        # Before 6.0 the platform reads the start of it only.
        begun = (
            binding.references[:1] and binding.references[0].start == 0 and flow.version < (6, 0)
        )
        severity: Severity = "warning" if begun and prop.kind != "reference" else "error"
        yield _no_reference(binding.pointer, binding.property, expression, severity)
        return
    if prop.kind == "reference":
        wanted = frozenset(("string", "number", "boolean"))
    yield from _bound(flow, binding, wanted, prop)


def _first_value(flow: FlowNode, binding: Binding) -> frozenset[str]:
    """Return the types an input takes as its first value in a Form; empty for anything else."""
    steps = binding.pointer.removeprefix(f"{binding.owner.pointer}/").split("/")
    if binding.property != "init-values" or len(steps) != 2:
        return frozenset()
    name = unescape(steps[1])
    component = binding.owner.screen.fields.get(name)
    declared = component.shape if component is not None else None
    prop = declared.property("init-value") if declared is not None else None
    return frozenset(prop.json_types(flow.version)) if prop is not None else frozenset()


def _no_reference(
    pointer: str, name: str, expression: bool = False, severity: Severity = "error"
) -> Finding:
    later = " Backticks are known from version 6.0." if expression else ""
    return Finding(
        "PATTERN_MISMATCH",
        severity,
        pointer,
        f"{name} takes one reference and nothing around it.",
        f"Write it as ${{data.name}} or ${{form.name}}.{later}",
    )


def _bound(
    flow: FlowNode, binding: Binding, wanted: frozenset[str], prop: Property | None = None
) -> Iterator[Finding]:
    """Follow every reference of a text; the one that is the whole text must have the type."""
    alone = binding.whole
    screen = binding.owner.screen
    for reference, target in zip(binding.references, binding.targets, strict=True):
        code = "INVALID_SCREEN_DATA" if reference.screen else "INVALID_SCREEN_DYNAMIC_DATA"
        severity = _severity(flow, binding) if alone is not None else "warning"
        if reference.screen is not None and flow.version < (4, 0):
            yield too_early(reference, binding.pointer, severity)
            continue
        if target.problem:
            message = f"{reference.text} does not exist: {target.problem}."
            yield Finding(
                code, severity, binding.pointer, message, "Declare it, or correct the name."
            )
        elif alone is not None and not fits(target.types, wanted):
            yield Finding(
                "INVALID_SCREEN_DYNAMIC_DATA",
                severity,
                binding.pointer,
                f"{reference.text} is of type {named(target.types)}, "
                f"{binding.property} takes {named(wanted)}.",
                "Bind a value of the right type, or change the type in the data model.",
            )
        elif alone is not None and prop is not None and prop.item is not None:
            yield from _items(flow, binding, target.schema, prop.item)
        if reference.screen is not None and reference.screen == screen.id:
            message = f"{reference.text} names its own screen."
            hint = f"Write ${{{reference.store}.{'.'.join(reference.path)}}}."
            yield Finding("INVALID_SCREEN_DYNAMIC_DATA", "warning", binding.pointer, message, hint)
    if unread(binding.text):
        wrong = misspelled(binding.text)
        code = "INVALID_SCREEN_DYNAMIC_DATA"
        at = binding.pointer
        message = f"{binding.property} holds a ${{ that does not begin a reference."
        hint = "A reference reads ${data.name}, ${form.name} or ${screen.ID.form.name}."
        yield Finding(code, _severity(flow, binding) if wrong else "warning", at, message, hint)


def _severity(flow: FlowNode, binding: Binding) -> Severity:
    """Return the severity of a wrong reference: below a list, and in early maps, nobody looks."""
    if binding.is_direct or binding.action is not None:
        return "error"
    since = (7, 0) if binding.property in _FORM_MAPS else (6, 0)
    below = binding.pointer.removeprefix(f"{binding.owner.pointer}/")
    shallow = below.count("/") == 1 and isinstance(binding.owner.value.get(binding.property), dict)
    return "error" if shallow and flow.version >= since else "warning"


def too_early(reference: Reference, pointer: str, severity: Severity) -> Finding:
    """Refuse a reference to another screen in a version that does not know them."""
    return Finding(
        "INVALID_SCREEN_DYNAMIC_DATA",
        severity,
        pointer,
        f"{reference.text}: references to other screens are known from version 4.0.",
        "Raise the version, or hand the value over in the payload of navigate.",
    )


def _items(
    flow: FlowNode, binding: Binding, schema: dict[str, Any] | None, shape: Shape
) -> Iterator[Finding]:
    """Compare the declared items of an array with what the component takes."""
    items = schema.get("items") if schema is not None else None
    if not isinstance(items, dict):
        return
    properties = items.get("properties")
    types = types_of(items)
    wrong: list[str] = []
    if types and "object" not in types:
        wrong.append(f"its items are of type {named(types)}, not object")
    elif isinstance(properties, dict):
        for prop in shape.properties:
            wanted = frozenset(prop.json_types(flow.version))
            if prop.name not in properties:
                if prop.needed(flow.version):
                    wrong.append(f"its items declare no {prop.name}")
            elif not fits(types_of(properties[prop.name]), wanted):
                wrong.append(f"{prop.name} of its items is not {named(wanted)}")
    for problem in wrong:
        message = f"{binding.text} does not fit {binding.property}: {problem}."
        hint = "Correct the items of that field in the data model."
        yield Finding("INVALID_SCREEN_DYNAMIC_DATA", "error", binding.pointer, message, hint)


def _rich_text(flow: FlowNode, binding: Binding) -> Iterator[Finding]:
    """Check a RichText: written out, or one reference to all of its text."""
    if not binding.is_direct:
        if binding.references:
            code = "INVALID_TEXT_DYNAMIC_DATA"
            message = "The lines of a RichText stand as they are: they hold no reference."
            hint = "Bind the whole text to one field of the data model."
            yield Finding(code, "error", f"{binding.owner.pointer}/text", message, hint)
    elif binding.whole is not None:
        yield from _bound(flow, binding, frozenset(("string", "array")))
    elif binding.references:
        code = "INVALID_PROPERTY_VALUE"
        at = binding.pointer
        message = "A RichText is written out, or is one reference: it mixes both."
        hint = "Bind the whole text to one field of the data model."
        yield Finding(code, "error" if flow.version >= (6, 0) else "warning", at, message, hint)


@rule("flow")
def check_inputs(flow: FlowNode, _: FlowNode) -> Iterator[Finding]:
    """Find inputs whose answer nothing uses: the platform takes them without a word.

    That no navigate action fills a field of the data model is for `action` to say.
    """
    planned: set[str] = set()  # what patches of this check send already
    used: set[tuple[str | None, str]] = set()
    for binding in flow.bindings:
        for reference in binding.references:
            if reference.store == "form":
                home = reference.screen or binding.owner.screen.id
                used.add((home, reference.path[0]))
    for screen in flow.screens:
        for name, component in screen.fields.items():
            shape = component.shape
            if shape is None or not shape.value or (screen.id, name) in used:
                continue
            yield Finding(
                "UNUSED_INPUT",
                "warning",
                f"{component.pointer}/name",
                f"What people enter in {name} is thrown away: nothing sends or reads it.",
                f'Send it: "{name}": "${{form.{name}}}" in the payload of the action that leaves '
                "the screen. Or remove the input.",
                patch=tuple(_sending(flow, component, planned)),
            )


def _sending(
    flow: FlowNode, component: ComponentNode, planned: set[str]
) -> Iterator[PatchOperation]:
    """Yield what sends the answer of an input: when its screen is left, or when the flow ends."""
    name, screen = component.name or "", component.screen
    if not _INPUT_NAME.fullmatch(name):
        return  # no reference can be written
    own = [each for each in _senders(flow) if each.screen is screen]
    if own and (flow.version >= (4, 0) or component.form is own[0].owner.form):
        text, ends = f"${{form.{name}}}", own
    elif not own and flow.version >= (4, 0) and _SCREEN_NAME.fullmatch(screen.id or ""):
        text = f"${{screen.{screen.id}.form.{name}}}"
        ends = [each for each in _senders(flow) if each.screen.terminal]
    else:
        return
    for action in ends:
        key = name
        while key in (action.payload or {}) or f"{action.pointer}/{key}" in planned:
            key = f"{screen.id}_{key}".lower() if key == name else f"{key}_2"
        planned.add(f"{action.pointer}/{key}")
        yield PatchOperation("add", f"{action.pointer}/payload/{escape(key)}", text)


def _senders(flow: FlowNode) -> list[ActionNode]:
    """List the actions of Footers that hand answers to the business."""
    return [
        action
        for action in flow.actions
        if action.owner.type == "Footer"
        and action.name in ("complete", "data_exchange")
        and isinstance(action.value.get("payload", {}), dict)
    ]
