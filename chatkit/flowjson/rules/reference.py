"""References to data and to what a person entered: ${data.x}, ${form.x}, ${screen.S.form.x}.

`references` finds them in a text, and `resolve` follows one to what the document declares. The
rules of those in components stand below: each leads somewhere, to a value of the right type, and
to each input leads one. What stands in backticks, and the condition of an If, belong to
`expression`; the payloads of actions to `action`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from chatkit.finding import Finding, Severity
from chatkit.flowjson.outline import ActionNode, Binding, ComponentNode, Outline, ScreenNode
from chatkit.flowjson.property import Property, Shape
from chatkit.util.json_pointer import PatchOperation, escape, unescape

_REFERENCE = re.compile(r"\$\{(?:screen\.([^.{}`']*)\.)?(data|form)\.([\w-]+(?:\.[\w-]+)*)\}")
_LIKE = re.compile(r"\$\{(?:screen\.[^.]*\.)?(?:data|form)\.(?:(?!\$\{).)*\}", re.DOTALL)
_UNKNOWN: frozenset[str] = frozenset()
_FORM_MAPS = ("init-values", "error-messages")
#: The names of inputs and screens that a reference can hold.
_INPUT_NAME = re.compile(r"[\w-]+")
_SCREEN_NAME = re.compile(r"[^.{}`']+")


class Reference(NamedTuple):
    """One reference in a text."""

    text: str
    screen: str | None  # the screen it names; None for its own
    store: str  # data or form
    path: tuple[str, ...]
    start: int  # where it stands in the text
    end: int


class Target(NamedTuple):
    """What a reference leads to; `problem` says why it leads nowhere."""

    types: frozenset[str] = _UNKNOWN  # JSON types, integer as number; empty: not known
    schema: dict[str, Any] | None = None  # as declared in a data model
    component: ComponentNode | None = None  # the input it reads
    problem: str = ""


def references(text: str) -> Iterator[Reference]:
    """Find the references in a text."""
    return map(_reference, _REFERENCE.finditer(text))


def whole(text: str) -> Reference | None:
    """Read a text that is one reference and nothing else."""
    return _whole(text) if text[:2] == "${" else None


@lru_cache(maxsize=2048)
def _whole(text: str) -> Reference | None:
    """Read it once: rules ask for the same reference many times."""
    found = _REFERENCE.fullmatch(text)
    return _reference(found) if found is not None else None


def _reference(found: re.Match[str]) -> Reference:
    screen, store, path = found.groups()
    return Reference(found[0], screen, store, tuple(path.split(".")), *found.span())


def misspelled(text: str) -> bool:
    """Tell whether a text would be one reference, were its names of letters, digits, _ and -."""
    return _LIKE.fullmatch(text) is not None and whole(text) is None


def unread(text: str) -> bool:
    """Tell whether a text holds a ${ that begins no reference."""
    return "${" in _REFERENCE.sub("", text)


def is_expression(text: str) -> bool:
    """Tell whether a text is an expression: all of it in backticks."""
    return len(text) > 1 and text[0] == text[-1] == "`"


def property_of(binding: Binding) -> Property | None:
    """Find what the table says of the property that a text belongs to."""
    shape = binding.owner.shape
    return shape.property(binding.property) if shape is not None else None


def stands_as_it_is(binding: Binding) -> bool:
    """Tell whether a property is never bound, so that ${…} and backticks in it are only text."""
    prop = property_of(binding)
    return not prop.binding if prop is not None else binding.property in ("type", "name")


def types_of(schema: object) -> frozenset[str]:
    """Tell which JSON types a schema of a data model allows; empty when it does not say."""
    stated = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(stated, list):
        names = {each for each in stated if isinstance(each, str)}
    else:
        names = {stated} if isinstance(stated, str) else set()
    return frozenset("number" if name == "integer" else name for name in names)


def value_types(component: ComponentNode) -> frozenset[str]:
    """Tell which JSON types the value of an input has; empty when it is not known."""
    value = component.value
    if component.type == "TextInput" and value.get("input-type") in ("number", "passcode"):
        return frozenset(("string", "number"))  # a string by the documents, a number when checked
    if component.type == "CalendarPicker" and value.get("mode") == "range":
        return frozenset(("object",))
    declared = component.shape
    return frozenset((declared.value,)) if declared is not None and declared.value else _UNKNOWN


def fits(found: frozenset[str], wanted: frozenset[str]) -> bool:
    """Tell whether two sets of types may meet; what is not known fits."""
    return not found or not wanted or not found.isdisjoint(wanted)


def named(types: frozenset[str]) -> str:
    """Write types for a message."""
    return " or ".join(sorted(types)) or "unknown"


def resolve(outline: Outline, screen: ScreenNode, reference: Reference) -> Target:
    """Follow a reference that stands on a screen."""
    home = screen if reference.screen is None else outline.by_id.get(reference.screen)
    if home is None:
        return Target(problem=f"there is no screen {reference.screen}")
    return (_data if reference.store == "data" else _form)(home, reference.path)


def _data(home: ScreenNode, path: tuple[str, ...]) -> Target:
    schema = home.data.get(path[0])
    if schema is None or (path[0] == "required" and isinstance(schema, list)):
        return Target(problem=f"{_of(home)} declares no data field {path[0]}")
    for done, step in enumerate(path[1:], 1):
        types = types_of(schema)
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if types == {"array"}:
            return Target(problem=f"{'.'.join(path[:done])} is an array: {step} is not reachable")
        if types and "object" not in types:
            return Target(problem=f"{'.'.join(path[:done])} is not an object: it has no {step}")
        if not isinstance(properties, dict):
            return Target()  # an object whose keys are not declared
        if step not in properties:
            return Target(problem=f"{'.'.join(path[:done])} declares no property {step}")
        schema = properties[step]
    return Target(types_of(schema), schema if isinstance(schema, dict) else None)


def _form(home: ScreenNode, path: tuple[str, ...]) -> Target:
    component = home.fields.get(path[0])
    if component is None:
        if path[0] in home.forms:
            return Target(problem=f"{path[0]} is a Form: name one of its inputs")
        return Target(problem=f"{_of(home)} has no input named {path[0]}")
    if len(path) == 1:
        return Target(value_types(component), component=component)
    if component.type == "CalendarPicker":
        return Target(frozenset(("string",)))  # start-date or end-date
    return Target(problem=f"{path[0]} is one value: it has no {path[1]}")


def _of(screen: ScreenNode) -> str:
    return f"screen {screen.id}" if screen.id else "the screen"


def check(outline: Outline) -> Iterator[Finding]:
    """Find references in components that lead nowhere, or to a value of the wrong type."""
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


def check_inputs(outline: Outline) -> Iterator[Finding]:
    """Find inputs whose answer nothing uses: the platform takes them without a word.

    That no navigate action fills a field of the data model is for `action` to say.
    """
    planned: set[str] = set()  # what patches of this check send already
    used: set[tuple[str | None, str]] = set()
    for binding in outline.bindings:
        for reference in references(binding.text):
            if reference.store == "form":
                home = reference.screen or binding.owner.screen.id
                used.add((home, reference.path[0]))
    for screen in outline.screens:
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
                patch=tuple(_sending(outline, component, planned)),
            )


def _sending(
    outline: Outline, component: ComponentNode, planned: set[str]
) -> Iterator[PatchOperation]:
    """Yield what sends the answer of an input: when its screen is left, or when the flow ends."""
    name, screen = component.name or "", component.screen
    if not _INPUT_NAME.fullmatch(name):
        return  # no reference can be written
    own = [each for each in _senders(outline) if each.screen is screen]
    if own and (outline.version >= (4, 0) or component.form is own[0].owner.form):
        text, ends = f"${{form.{name}}}", own
    elif not own and outline.version >= (4, 0) and _SCREEN_NAME.fullmatch(screen.id or ""):
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
