"""References to data and to what a person entered: ${data.x}, ${form.x}, ${screen.S.form.x}.

`references` finds them in a text, `resolve` follows one to what the document declares; the
rules about them are in `reference` and `payload`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from chatkit.flowjson.outline import Binding, ComponentNode, Outline, ScreenNode
from chatkit.flowjson.property import Property

_REFERENCE = re.compile(r"\$\{(?:screen\.([^.{}`']*)\.)?(data|form)\.([\w-]+(?:\.[\w-]+)*)\}")
_LIKE = re.compile(r"\$\{(?:screen\.[^.]*\.)?(?:data|form)\.(?:(?!\$\{).)*\}", re.DOTALL)
_UNKNOWN: frozenset[str] = frozenset()


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
