"""The rules of references in components: each leads somewhere, to a value of the right type.

What stands in backticks, and the condition of an If, belong to `expression`; the payloads of
actions to `payload`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chatkit.finding import Finding, Severity
from chatkit.flowjson.outline import Binding, Outline, ScreenNode
from chatkit.flowjson.pointer import unescape
from chatkit.flowjson.property import Property, Shape
from chatkit.flowjson.rules.target import (
    Reference,
    fits,
    is_expression,
    misspelled,
    named,
    property_of,
    references,
    resolve,
    stands_as_it_is,
    types_of,
    unread,
    whole,
)

_UNKNOWN: frozenset[str] = frozenset()
_FORM_MAPS = ("init-values", "error-messages")


def check(outline: Outline) -> Iterator[Finding]:
    """Find references in components that lead nowhere, or to a value of the wrong type.

    Payloads of actions are for `action`.
    """
    for binding in outline.bindings:
        owner = binding.owner
        if stands_as_it_is(binding) or (owner.type, binding.property) == ("If", "condition"):
            continue
        if binding.action is not None:
            later = is_expression(binding.text) and outline.version >= (6, 0)
            if not later and not binding.pointer.startswith(f"{binding.action.pointer}/payload"):
                yield from _bound(outline, binding, frozenset(("string",)))
            continue
        yield from _property(outline, binding)
    for screen in outline.screens:
        yield from _title(outline, screen)
    for component in outline.components:
        asked = component.value.get("value") if component.type == "Switch" else None
        if isinstance(asked, str) and "${" not in asked and "`" not in asked:
            yield _no_reference(f"{component.pointer}/value", "value")


def _title(outline: Outline, screen: ScreenNode) -> Iterator[Finding]:
    title = screen.value.get("title")
    for reference in references(title) if isinstance(title, str) else ():
        problem = resolve(outline, screen, reference).problem
        if problem:
            code = "INVALID_SCREEN_DYNAMIC_DATA"
            said = f"{reference.text} does not exist: {problem}."
            hint = "Declare it, or correct the name."
            yield Finding(code, "warning", f"{screen.pointer}/title", said, hint)


def _property(outline: Outline, binding: Binding) -> Iterator[Finding]:
    owner, text = binding.owner, binding.text
    if owner.type == "RichText" and binding.property == "text":
        yield from _rich_text(outline, binding)
        return
    expression = is_expression(text)
    if expression and outline.version >= (6, 0):
        return
    prop = property_of(binding)
    if not binding.direct or prop is None:
        yield from _bound(outline, binding, _first_value(outline, binding))
        return
    wanted = frozenset(prop.json_types(outline.version))
    # A written-out string is wrong here: only a whole reference may stand for the value.
    if (prop.kind == "reference" or "string" not in wanted) and whole(text) is None:
        # Before 6.0 the platform reads the start of it only.
        first = next(references(text), None)
        begun = first is not None and first.start == 0 and outline.version < (6, 0)
        severity: Severity = "warning" if begun and prop.kind != "reference" else "error"
        yield _no_reference(binding.pointer, binding.property, expression, severity)
        return
    if prop.kind == "reference":
        wanted = frozenset(("string", "number", "boolean"))
    yield from _bound(outline, binding, wanted, prop)


def _first_value(outline: Outline, binding: Binding) -> frozenset[str]:
    """Tell the types an input takes as its first value in a Form; empty for anything else."""
    steps = binding.pointer.removeprefix(f"{binding.owner.pointer}/").split("/")
    if binding.property != "init-values" or len(steps) != 2:
        return _UNKNOWN
    name = unescape(steps[1])
    component = binding.owner.screen.fields.get(name)
    declared = component.shape if component is not None else None
    prop = declared.property("init-value") if declared is not None else None
    return frozenset(prop.json_types(outline.version)) if prop is not None else _UNKNOWN


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
    outline: Outline, binding: Binding, wanted: frozenset[str], prop: Property | None = None
) -> Iterator[Finding]:
    """Follow every reference of a text; the one that is the whole text must have the type."""
    alone = whole(binding.text)
    screen = binding.owner.screen
    for reference in (alone,) if alone is not None else references(binding.text):
        code = "INVALID_SCREEN_DATA" if reference.screen else "INVALID_SCREEN_DYNAMIC_DATA"
        severity = _severity(outline, binding) if alone is not None else "warning"
        if reference.screen is not None and outline.version < (4, 0):
            yield too_early(reference, binding.pointer, severity)
            continue
        target = resolve(outline, screen, reference)
        if target.problem:
            said = f"{reference.text} does not exist: {target.problem}."
            yield Finding(code, severity, binding.pointer, said, "Declare it, or correct the name.")
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
            yield from _items(outline, binding, target.schema, prop.item)
        if reference.screen is not None and reference.screen == screen.id:
            said = f"{reference.text} names its own screen."
            hint = f"Write ${{{reference.store}.{'.'.join(reference.path)}}}."
            yield Finding("INVALID_SCREEN_DYNAMIC_DATA", "warning", binding.pointer, said, hint)
    if unread(binding.text):
        wrong = misspelled(binding.text)
        code = "INVALID_SCREEN_DYNAMIC_DATA"
        at = binding.pointer
        said = f"{binding.property} holds a ${{ that does not begin a reference."
        hint = "A reference reads ${data.name}, ${form.name} or ${screen.ID.form.name}."
        yield Finding(code, _severity(outline, binding) if wrong else "warning", at, said, hint)


def _severity(outline: Outline, binding: Binding) -> Severity:
    """Say what a wrong reference costs: below a list, and in early maps, nobody looks."""
    if binding.direct or binding.action is not None:
        return "error"
    since = (7, 0) if binding.property in _FORM_MAPS else (6, 0)
    below = binding.pointer.removeprefix(f"{binding.owner.pointer}/")
    shallow = below.count("/") == 1 and isinstance(binding.owner.value.get(binding.property), dict)
    return "error" if shallow and outline.version >= since else "warning"


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
    outline: Outline, binding: Binding, schema: dict[str, Any] | None, shape: Shape
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
            wanted = frozenset(prop.json_types(outline.version))
            if prop.name not in properties:
                if prop.needed(outline.version):
                    wrong.append(f"its items declare no {prop.name}")
            elif not fits(types_of(properties[prop.name]), wanted):
                wrong.append(f"{prop.name} of its items is not {named(wanted)}")
    for problem in wrong:
        said = f"{binding.text} does not fit {binding.property}: {problem}."
        hint = "Correct the items of that field in the data model."
        yield Finding("INVALID_SCREEN_DYNAMIC_DATA", "error", binding.pointer, said, hint)


def _rich_text(outline: Outline, binding: Binding) -> Iterator[Finding]:
    """Check a RichText: written out, or one reference to all of its text."""
    if not binding.direct:
        if next(references(binding.text), None) is not None:
            code = "INVALID_TEXT_DYNAMIC_DATA"
            said = "The lines of a RichText stand as they are: they hold no reference."
            hint = "Bind the whole text to one field of the data model."
            yield Finding(code, "error", f"{binding.owner.pointer}/text", said, hint)
    elif whole(binding.text) is not None:
        yield from _bound(outline, binding, frozenset(("string", "array")))
    elif next(references(binding.text), None) is not None:
        code = "INVALID_PROPERTY_VALUE"
        at = binding.pointer
        said = "A RichText is written out, or is one reference: it mixes both."
        hint = "Bind the whole text to one field of the data model."
        yield Finding(code, "error" if outline.version >= (6, 0) else "warning", at, said, hint)
